/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A block is 1 MiB of address space at a multiple of 1 MiB. It is faulted in piece by piece,
 * doubling from the first piece on, so that a thread with ten events costs some pages and one with
 * millions a system call per MiB.
 */
#include "buffer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base.h"
#include "callpath.h"
#include "clock.h"
#include "image.h"

enum {
    BLOCK = 1 << 20,
    EVENTS_AT = BLOCK / 8, /* see scope.h: regions lie below, at an eighth of the offset */
    FIRST_OPS = 256,
    FORGOTTEN_OPS = 4096, /* at once, of a recording that does not keep them */
    FIRST_PARTS = 32,
    MANY_PLACES = 8, /* in which an operation with SC_OP_MANY may be kept */
    CACHE_LINE = 64,
};

struct sc_block {
    struct sc_block *next; /* stored with release */
    char *base;
    size_t used;   /* end of the part that may be used, as offset */
    bool in_image; /* a window, or sealed */
};

static struct sc_thread
    no_thread; /* what scope_thread_1_ points to before a thread's first event */

__thread struct scope_thread_1_ *scope_thread_1_ __attribute__((tls_model("initial-exec"))) =
    &no_thread.hot;

static struct {
    pthread_mutex_t lock;
    pthread_once_t once;
    pthread_key_t key; /* its destructor tells that a thread ends */
    unsigned generation;
    size_t first_events;
    bool forget_ops;
    struct sc_thread *threads; /* stored with release */
    struct sc_thread *idle;
    uint32_t count; /* of threads */
} buffers = {.lock = PTHREAD_MUTEX_INITIALIZER, .once = PTHREAD_ONCE_INIT, .first_events = 1024};

_Static_assert(sizeof(struct sc_op) == 64, "a call is one cache line");
_Static_assert(BLOCK % sizeof(struct sc_part) == 0, "parts fill a block");

/* ---- blocks ---- */

/* Before them, or in event blocks before the regions, is the head of an extent. */
size_t sc_buffer_data_at(enum sc_extent_kind kind)
{
    return kind == SC_EXTENT_EVENTS ? EVENTS_AT
           : kind == SC_EXTENT_OPS  ? sizeof(struct sc_op)
                                    : sizeof(struct sc_part);
}

/* Owner thread. Appends a block at that address, NULL: none; NULL: no memory. */
static struct sc_block *append_block(struct sc_lane *lane, char *base, bool in_image, size_t used)
{
    struct sc_block *block = base == NULL ? NULL : calloc(1, sizeof *block);

    if (block == NULL)
        return NULL;
    block->base = base;
    block->in_image = in_image;
    block->used = used;
    lane->blocks++;
    /* Pairs with the acquire in first_block() and next_block(). */
    if (lane->last == NULL)
        __atomic_store_n(&lane->first, block, __ATOMIC_RELEASE);
    else
        __atomic_store_n(&lane->last->next, block, __ATOMIC_RELEASE);
    lane->before_last = lane->last;
    lane->last = block;
    return block;
}

/* What of a new block is taken at once. All of one for parts, since others than its owner write to
 * it, so that it could not be moved to memory later. */
static size_t taken_at_once(enum sc_extent_kind kind)
{
    return kind == SC_EXTENT_PARTS    ? BLOCK
           : kind == SC_EXTENT_EVENTS ? EVENTS_AT / 8
                                      : sizeof(struct sc_extent);
}

/* Owner thread. A block in the image, or else in memory. */
static struct sc_block *new_block(struct sc_thread *t, struct sc_lane *lane,
                                  enum sc_extent_kind kind)
{
    char *base = sc_image_window(kind, t->number, lane->blocks, taken_at_once(kind));

    if (base != NULL)
        return append_block(lane, base, true, sc_buffer_data_at(kind));
    return append_block(lane, sc_image_map_anonymous(), false, sc_buffer_data_at(kind));
}

/* Owner thread. The image has no more room: what the block holds goes to memory, which takes its
 * address. False: there is none of that either. */
static bool move_to_memory(struct sc_block *b, enum sc_extent_kind kind)
{
    const size_t from = sc_buffer_data_at(kind), length = b->used - from;
    char *copy = sc_image_map_anonymous();

    if (copy == NULL)
        return false;
    memcpy(copy + from, b->base + from, length);
    if (kind == SC_EXTENT_EVENTS)
        memcpy(copy + from / 8, b->base + from / 8, length / 8);
    if (!sc_image_move(copy, b->base)) {
        munmap(copy, BLOCK);
        return false;
    }
    b->in_image = false;
    return true;
}

/* Owner thread. Makes [from, to) of a block usable. False: no memory. */
static bool make_usable(struct sc_block *b, enum sc_extent_kind kind, size_t from, size_t to)
{
    if (b->in_image && sc_image_reserve(b->base + from, b->base + to))
        return true;
    if (b->in_image && !move_to_memory(b, kind))
        return false;
    sc_image_populate(b->base + from, b->base + to);
    return true;
}

static void free_blocks(struct sc_block *b)
{
    for (struct sc_block *next; b != NULL; b = next) {
        next = b->next;
        munmap(b->base, BLOCK);
        free(b);
    }
}

static void free_lane(struct sc_lane *lane)
{
    free_blocks(lane->first);
    *lane = (struct sc_lane){0};
}

/* Any thread. The memory goes back, the addresses stay: a late writer does no harm. */
static void discard_block(struct sc_block *b)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;

    if (!b->in_image)
        madvise(b->base, BLOCK, MADV_DONTNEED);
    else if (mmap(b->base, BLOCK, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED)
        b->in_image = false;
}

static void discard_lane(struct sc_lane *lane)
{
    for (struct sc_block *b = __atomic_load_n(&lane->first, __ATOMIC_ACQUIRE); b != NULL;
         b = __atomic_load_n(&b->next, __ATOMIC_ACQUIRE))
        discard_block(b);
}

/* Whether nobody will write to a block of parts any more. */
static bool is_settled(const struct sc_block *b)
{
    const struct sc_part *part = (const void *)(b->base + sc_buffer_data_at(SC_EXTENT_PARTS));

    for (; (const char *)part < b->base + BLOCK; part++)
        if (__atomic_load_n(&part->state, __ATOMIC_ACQUIRE) != SC_PART_DONE)
            return false;
    return true;
}

/* Owner thread. The block of a full lane whose memory is not needed any more, NULL: none. Requests
 * of the last block of parts are likely to be under way. */
static struct sc_block *to_be_sealed(const struct sc_lane *lane, enum sc_extent_kind kind)
{
    struct sc_block *b = kind == SC_EXTENT_PARTS ? lane->before_last : lane->last;

    if (b == NULL || !b->in_image || (kind == SC_EXTENT_PARTS && !is_settled(b)))
        return NULL;
    return b;
}

/* Owner thread. Another block for a lane whose last one is full: memory of one that goes to the
 * file, or a new one. */
static struct sc_block *next_block(struct sc_thread *t, struct sc_lane *lane,
                                   enum sc_extent_kind kind)
{
    struct sc_block *full = to_be_sealed(lane, kind);
    char *base = full == NULL ? NULL : sc_image_seal(full->base, lane->blocks);

    if (base == NULL)
        return new_block(t, lane, kind);
    return append_block(lane, base, true, BLOCK);
}

/* Owner thread. Makes more of the lane usable; gives the block that now has room, NULL: no memory.
 */
static struct sc_block *extend(struct sc_thread *t, struct sc_lane *lane, enum sc_extent_kind kind,
                               size_t first_bytes)
{
    const size_t data = sc_buffer_data_at(kind);
    struct sc_block *b = lane->last;
    size_t from, to;

    if (b == NULL || b->used == BLOCK)
        b = next_block(t, lane, kind);
    if (b == NULL || b->used == BLOCK)
        return b;
    from = b->used;
    to = b != lane->first ? BLOCK : from == data ? data + first_bytes : data + 2 * (from - data);
    if (to > BLOCK || to < from)
        to = BLOCK;
    if (!make_usable(b, kind, from, to))
        return NULL;
    sc_count(&t->counts.memory_bytes, to - from);
    if (kind == SC_EXTENT_EVENTS) {
        if (!make_usable(b, kind, from / 8, to / 8))
            return NULL;
        sc_count(&t->counts.memory_bytes, (to - from) / 8);
    }
    b->used = to;
    return b;
}

/* ---- threads ---- */

/* Owner thread. Lanes of an earlier recording are thrown away. */
static void begin_generation(struct sc_thread *t, unsigned generation)
{
    free_lane(&t->events);
    free_lane(&t->ops);
    free_blocks(t->retired);
    free_blocks(t->stale);
    t->retired = NULL;
    t->stale = t->parts.first;
    t->parts = (struct sc_lane){0};
    t->part_limit = t->part_free = NULL;
    __atomic_store_n(&t->part_next, NULL, __ATOMIC_RELAXED);
    __atomic_store_n(&t->late, NULL, __ATOMIC_RELAXED);
    memset(t->many, 0, sizeof t->many);
    t->inside = NULL;
    for (int i = 0; i < 2; i++)
        free(t->totals[i].at);
    memset(t->totals, 0, sizeof t->totals);
    t->totals_number = 0;
    sc_callpath_free(t->callpath);
    t->callpath = NULL;
    memset(&t->counts, 0, sizeof t->counts);
    t->hot.open = t->hidden = NULL;
    t->lost_depth = 0;
    __atomic_store_n(&t->hot.next, NULL, __ATOMIC_RELEASE);
    __atomic_store_n(&t->op_next, NULL, __ATOMIC_RELEASE);
    /* Pairs with the acquire in sc_buffer_next_thread(). */
    __atomic_store_n(&t->generation, generation, __ATOMIC_RELEASE);
}

/* What is open when a thread ends can never be ended. */
static void close_open_events(struct sc_thread *t)
{
    uint64_t now = sc_clock_ticks();
    struct scope_event_1_ *e = t->lost_depth > 0 ? t->hidden : t->hot.open;

    while (e != NULL) {
        uint64_t link = e->end & ~(SCOPE_OPEN_ | SCOPE_CROSSED_);
        __atomic_store_n(&e->end, now, __ATOMIC_RELAXED);
        sc_count(&t->counts.unfinished, 1);
        e = (struct scope_event_1_ *)(uintptr_t)link;
    }
    t->hot.open = t->hidden = NULL;
    t->lost_depth = 0;
    t->inside = NULL;
}

static void thread_ends(void *thread)
{
    struct sc_thread *t = thread;

    scope_thread_1_ = &no_thread.hot;
    pthread_mutex_lock(&buffers.lock);
    if (t->generation == buffers.generation)
        close_open_events(t);
    t->next_idle = buffers.idle;
    buffers.idle = t;
    pthread_mutex_unlock(&buffers.lock);
}

static void make_key(void)
{
    pthread_key_create(&buffers.key, thread_ends);
}

/* Under the lock. A thread that has ended leaves its lanes to the next one. */
static struct sc_thread *take_thread(void)
{
    struct sc_thread *t = buffers.idle;

    if (t != NULL) {
        buffers.idle = t->next_idle;
        return t;
    }
    t = aligned_alloc(CACHE_LINE, (sizeof *t + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
    if (t == NULL)
        return NULL;
    memset(t, 0, sizeof *t);
    t->number = buffers.count++;
    t->next_thread = buffers.threads;
    /* Pairs with the acquire in sc_buffer_next_thread(). */
    __atomic_store_n(&buffers.threads, t, __ATOMIC_RELEASE);
    return t;
}

struct sc_thread *sc_buffer_thread(void)
{
    struct sc_thread *t = (struct sc_thread *)(void *)scope_thread_1_;
    unsigned now = __atomic_load_n(&buffers.generation, __ATOMIC_ACQUIRE);

    if (t != &no_thread && t->generation == now)
        return t;
    pthread_once(&buffers.once, make_key);
    pthread_mutex_lock(&buffers.lock);
    if (t == &no_thread)
        t = take_thread();
    if (t != NULL && t->generation != buffers.generation)
        begin_generation(t, buffers.generation);
    pthread_mutex_unlock(&buffers.lock);
    if (t == NULL)
        return NULL;
    sc_count(&t->counts.threads, 1);
    pthread_setspecific(buffers.key, t);
    scope_thread_1_ = &t->hot;
    return t;
}

struct sc_thread *sc_buffer_next_thread(struct sc_thread *after)
{
    struct sc_thread *t =
        after == NULL ? __atomic_load_n(&buffers.threads, __ATOMIC_ACQUIRE) : after->next_thread;

    while (t != NULL && __atomic_load_n(&t->generation, __ATOMIC_ACQUIRE) != buffers.generation)
        t = t->next_thread;
    return t;
}

/* ---- growing ---- */

/* Stores the new room unless the recording it belongs to has ended meanwhile. */
static void offer(struct sc_thread *t, void *limit, bool is_op)
{
    pthread_mutex_lock(&buffers.lock);
    if (t->generation != buffers.generation)
        limit = NULL;
    if (is_op)
        __atomic_store_n(&t->op_limit, limit, __ATOMIC_RELAXED);
    else
        __atomic_store_n(&t->hot.limit, limit, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&buffers.lock);
}

bool sc_buffer_grow_events(struct sc_thread *t)
{
    int64_t before = sc_clock_cpu();
    int saved = errno;
    size_t first = __atomic_load_n(&buffers.first_events, __ATOMIC_RELAXED);
    struct sc_block *last = t->events.last;
    struct sc_block *b =
        extend(t, &t->events, SC_EXTENT_EVENTS, first * sizeof(struct scope_event_1_));

    errno = saved;
    if (b == NULL)
        return false;
    if (b != last)
        __atomic_store_n(&t->hot.next, (void *)(b->base + EVENTS_AT), __ATOMIC_RELEASE);
    offer(t, b->base + b->used, false);
    sc_count(&t->counts.own_memory_ns, (uint64_t)(sc_clock_cpu() - before));
    return true;
}

/* The lane is its last block alone; the others wait for the end of the recording, without memory.
 */
static void retire_blocks(struct sc_thread *t)
{
    struct sc_block *b = t->ops.first, *next;

    __atomic_store_n(&t->ops.first, t->ops.last, __ATOMIC_RELEASE);
    for (; b != t->ops.last; b = next) {
        next = b->next;
        discard_block(b);
        __atomic_store_n(&b->next, t->retired, __ATOMIC_RELEASE);
        t->retired = b;
    }
}

/* ---- parts ---- */

/* Owner thread. A part to be used again, or the one at part_next; NULL: no memory. */
static struct sc_part *take_part(struct sc_thread *t)
{
    struct sc_part *part = t->part_free;
    struct sc_block *last = t->parts.last, *b;
    int64_t before;
    int saved = errno;

    if (part != NULL) {
        t->part_free = part->next;
        return part;
    }
    if (t->part_next == t->part_limit) {
        before = sc_clock_cpu();
        b = extend(t, &t->parts, SC_EXTENT_PARTS, FIRST_PARTS * sizeof *part);
        errno = saved;
        if (b == NULL)
            return NULL;
        if (b != last)
            __atomic_store_n(&t->part_next, (void *)(b->base + sc_buffer_data_at(SC_EXTENT_PARTS)),
                             __ATOMIC_RELEASE);
        t->part_limit = (void *)(b->base + b->used);
        sc_count(&t->counts.own_memory_ns, (uint64_t)(sc_clock_cpu() - before));
    }
    return t->part_next;
}

struct sc_part *sc_part_add(struct sc_thread *t, struct sc_op *op)
{
    struct sc_part *part = take_part(t);

    if (part == NULL) {
        sc_count(&t->counts.lost, 1);
        return NULL;
    }
    part->next = op->parts;
    part->thread = t;
    part->id = -1;
    part->sent = part->received = 0;
    part->done = part->await = 0;
    part->comm = part->peer = part->tag = -1;
    part->flags = 0;
    part->waiting = NULL;
    __atomic_store_n(&part->state, SC_PART_PENDING, __ATOMIC_RELAXED);
    if (part == t->part_next)
        __atomic_store_n(&t->part_next, part + 1, __ATOMIC_RELEASE);
    op->parts = part;
    return part;
}

void sc_part_done(struct sc_part *part)
{
    struct sc_thread *t = part->thread;

    /* Pairs with the acquire of whoever reads the state. */
    if (__atomic_exchange_n(&part->state, SC_PART_DONE, __ATOMIC_ACQ_REL) != SC_PART_ORPHAN)
        return;
    part->next = __atomic_load_n(&t->late, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&t->late, &part->next, part, true, __ATOMIC_RELEASE,
                                        __ATOMIC_RELAXED))
        continue;
}

/* ---- operations that are forgotten or only counted ---- */

/* The totals of all operations so far go to the image. */
static void store_totals(struct sc_thread *t, struct sc_block *b)
{
    struct sc_extent *head = (struct sc_extent *)(void *)b->base;
    struct sc_string bytes = {0};
    uint64_t number = t->totals_number + 1;

    if (sc_callpath_save(t->callpath, t, &bytes) == 0 &&
        sc_image_store(&t->totals[number % 2], t->number, number, bytes.data, bytes.length)) {
        t->totals_number = number;
        /* From here on these totals count, and until they are gone the operations do not. */
        __atomic_store_n(&head->totals, number | SC_FORGETTING, __ATOMIC_RELEASE);
    }
    sc_string_free(&bytes);
}

/* Makes totals of the operations so far; their room is free again. */
static void forget_ops(struct sc_thread *t)
{
    struct sc_block *b = t->ops.last;
    struct sc_extent *head = (struct sc_extent *)(void *)b->base;

    sc_clock_calibrate();
    if (t->callpath == NULL)
        t->callpath = sc_callpath_create();
    if (t->callpath == NULL || sc_callpath_replay(t->callpath, t, 0) != 0)
        sc_count(&t->counts.lost, 1);
    else
        sc_callpath_forget_ops(t->callpath);
    if (b->in_image && t->callpath != NULL)
        store_totals(t, b);
    memset(t->many, 0, sizeof t->many);
    retire_blocks(t);
    memset(b->base + sc_buffer_data_at(SC_EXTENT_OPS), 0,
           b->used - sc_buffer_data_at(SC_EXTENT_OPS));
    if (b->in_image)
        __atomic_store_n(&head->totals, t->totals_number, __ATOMIC_RELEASE);
    __atomic_store_n(&t->op_next, (void *)(b->base + sc_buffer_data_at(SC_EXTENT_OPS)),
                     __ATOMIC_RELEASE);
}

bool sc_buffer_grow_ops(struct sc_thread *t)
{
    int64_t before = sc_clock_cpu();
    int saved = errno;
    struct sc_block *last = t->ops.last;
    struct sc_block *b = last;

    if (last != NULL && !sc_buffer_keeps_ops() &&
        last->used >= FORGOTTEN_OPS * sizeof(struct sc_op))
        forget_ops(t);
    else
        b = extend(t, &t->ops, SC_EXTENT_OPS, FIRST_OPS * sizeof(struct sc_op));
    errno = saved;
    if (b == NULL)
        return false;
    if (b != last)
        __atomic_store_n(&t->op_next, (void *)(b->base + sc_buffer_data_at(SC_EXTENT_OPS)),
                         __ATOMIC_RELEASE);
    offer(t, b->base + b->used, true);
    sc_count(&t->counts.own_memory_ns, (uint64_t)(sc_clock_cpu() - before));
    return true;
}

static const struct scope_event_1_ *innermost(const struct sc_thread *t)
{
    return t->lost_depth > 0 ? t->hidden : t->hot.open;
}

/* A new operation for calls of one routine and site; NULL: no memory. */
static struct sc_op *begin_many(struct sc_thread *t, uint32_t region, int32_t site, uint64_t start)
{
    struct sc_op *op;

    if (t->op_next >= __atomic_load_n(&t->op_limit, __ATOMIC_RELAXED) && !sc_buffer_grow_ops(t))
        return NULL;
    op = t->op_next;
    *op = (struct sc_op){
        .region = (uint16_t)region, .flags = SC_OP_MANY, .site = site, .shortest = UINT64_MAX};
    __atomic_store_n(&op->start, start, __ATOMIC_RELAXED);
    return op;
}

/* Where the operation for such calls is kept; one that has to be begun: where it is to be. */
static struct sc_many *find_many(struct sc_thread *t, const struct scope_event_1_ *within,
                                 uint32_t region, int32_t site, bool *is_new)
{
    uint32_t at = region ^ (uint32_t)site;
    struct sc_many *vacant = NULL;

    *is_new = false;
    for (uint32_t i = 0; i < MANY_PLACES; i++) {
        struct sc_many *many = &t->many[(at + i) % SC_MANY];
        if (many->op == NULL || many->within != within)
            vacant = vacant == NULL ? many : vacant;
        else if (many->op->region == region && many->op->site == site)
            return many;
    }
    *is_new = true;
    return vacant == NULL ? &t->many[at % SC_MANY] : vacant;
}

void sc_buffer_count_call(struct sc_thread *t, uint32_t region, int32_t site, uint64_t start,
                          uint64_t end)
{
    const struct scope_event_1_ *within = innermost(t);
    uint64_t ticks = end - start;
    bool is_new;
    struct sc_many *many = find_many(t, within, region, site, &is_new);
    struct sc_op *op = is_new ? begin_many(t, region, site, start) : many->op;

    if (op == NULL) {
        sc_count(&t->counts.lost, 1);
        return;
    }
    sc_count(&op->calls, 1);
    sc_count(&op->ticks, ticks);
    if (ticks < op->shortest)
        __atomic_store_n(&op->shortest, ticks, __ATOMIC_RELAXED);
    if (ticks > op->longest)
        __atomic_store_n(&op->longest, ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&op->end, end, __ATOMIC_RELEASE);
    if (is_new) {
        *many = (struct sc_many){op, within};
        __atomic_store_n(&t->op_next, op + 1, __ATOMIC_RELEASE);
    }
}

/* ---- life ---- */

void sc_buffer_policy(size_t first_events, bool keep_ops)
{
    __atomic_store_n(&buffers.first_events, first_events, __ATOMIC_RELAXED);
    __atomic_store_n(&buffers.forget_ops, !keep_ops, __ATOMIC_RELAXED);
}

bool sc_buffer_keeps_ops(void)
{
    return !__atomic_load_n(&buffers.forget_ops, __ATOMIC_RELAXED);
}

/* Under the lock. From here on every thread's next event takes the slow path. */
static void withdraw_limits(void)
{
    for (struct sc_thread *t = buffers.threads; t != NULL; t = t->next_thread) {
        __atomic_store_n(&t->hot.limit, NULL, __ATOMIC_RELAXED);
        __atomic_store_n(&t->op_limit, NULL, __ATOMIC_RELAXED);
    }
}

void sc_buffer_start(void)
{
    pthread_mutex_lock(&buffers.lock);
    __atomic_add_fetch(&buffers.generation, 1, __ATOMIC_RELEASE);
    withdraw_limits();
    pthread_mutex_unlock(&buffers.lock);
}

void sc_buffer_stop(void)
{
    pthread_mutex_lock(&buffers.lock);
    __atomic_add_fetch(&buffers.generation, 1, __ATOMIC_RELEASE);
    withdraw_limits();
    for (struct sc_thread *t = buffers.threads; t != NULL; t = t->next_thread) {
        discard_lane(&t->events);
        discard_lane(&t->ops);
        discard_lane(&t->parts);
    }
    pthread_mutex_unlock(&buffers.lock);
}

void sc_buffer_forked(void)
{
    pthread_mutex_init(&buffers.lock, NULL);
    buffers.generation++;
    withdraw_limits();
}

/* ---- lanes of another process ---- */

void sc_buffer_restore(void)
{
    sc_buffer_start();
    buffers.idle = NULL;
    for (struct sc_thread *t = buffers.threads; t != NULL; t = t->next_thread) {
        begin_generation(t, 0);
        t->next_idle = buffers.idle; /* made first, taken first: in the same order each time */
        buffers.idle = t;
    }
}

struct sc_thread *sc_buffer_restore_thread(void)
{
    struct sc_thread *t = take_thread();

    if (t != NULL) {
        begin_generation(t, buffers.generation);
        sc_count(&t->counts.threads, 1);
    }
    return t;
}

bool sc_buffer_restore_block(struct sc_thread *t, enum sc_extent_kind kind, char *base)
{
    struct sc_lane *lane = kind == SC_EXTENT_EVENTS ? &t->events
                           : kind == SC_EXTENT_OPS  ? &t->ops
                                                    : &t->parts;

    if (append_block(lane, base, false, BLOCK) == NULL)
        return false;
    if (kind == SC_EXTENT_EVENTS)
        t->hot.next = (void *)(base + BLOCK);
    else if (kind == SC_EXTENT_OPS)
        t->op_next = (void *)(base + BLOCK);
    else
        t->part_next = (void *)(base + BLOCK);
    return true;
}

/* ---- reading ---- */

/* Moves to the lane's first block, or on from a block that is read to its end. */
static bool enter_block(struct sc_cursor *c, enum sc_extent_kind kind)
{
    struct sc_block *next;

    if (c->block == NULL || c->at != c->block->base + BLOCK)
        return c->block != NULL;
    next = __atomic_load_n(&c->block->next, __ATOMIC_ACQUIRE);
    if (next == NULL)
        return false;
    c->block = next;
    c->at = next->base + sc_buffer_data_at(kind);
    return true;
}

static void renew(struct sc_cursor *c, struct sc_lane *lane, enum sc_extent_kind kind, char *end)
{
    c->end = end;
    if (c->block != NULL || end == NULL)
        return;
    c->block = __atomic_load_n(&lane->first, __ATOMIC_ACQUIRE);
    c->at = c->block->base + sc_buffer_data_at(kind);
}

void sc_cursor_renew_events(struct sc_cursor *c, struct sc_thread *t)
{
    renew(c, &t->events, SC_EXTENT_EVENTS, (char *)__atomic_load_n(&t->hot.next, __ATOMIC_ACQUIRE));
}

void sc_cursor_renew_ops(struct sc_cursor *c, struct sc_thread *t)
{
    renew(c, &t->ops, SC_EXTENT_OPS, (char *)__atomic_load_n(&t->op_next, __ATOMIC_ACQUIRE));
}

struct scope_event_1_ *sc_cursor_event(struct sc_cursor *c)
{
    while (c->at != c->end && enter_block(c, SC_EXTENT_EVENTS) && c->at != c->end) {
        struct scope_event_1_ *e = (struct scope_event_1_ *)(void *)c->at;
        c->at += sizeof *e;
        if (sc_event_start(e) != 0 && sc_event_region(e) != SC_REGION_VOID)
            return e;
    }
    return NULL;
}

struct sc_op *sc_cursor_op(struct sc_cursor *c)
{
    while (c->at != c->end && enter_block(c, SC_EXTENT_OPS) && c->at != c->end) {
        struct sc_op *op = (struct sc_op *)(void *)c->at;
        c->at += sizeof *op;
        /* Pairs with the release that ends an operation: its other fields are there. */
        if (__atomic_load_n(&op->end, __ATOMIC_ACQUIRE) != 0)
            return op;
    }
    return NULL;
}

void sc_cursor_renew_parts(struct sc_cursor *c, struct sc_thread *t)
{
    renew(c, &t->parts, SC_EXTENT_PARTS, (char *)__atomic_load_n(&t->part_next, __ATOMIC_ACQUIRE));
}

struct sc_part *sc_cursor_part(struct sc_cursor *c)
{
    struct sc_part *part;

    if (c->at == c->end || !enter_block(c, SC_EXTENT_PARTS) || c->at == c->end)
        return NULL;
    part = (struct sc_part *)(void *)c->at;
    c->at += sizeof *part;
    return part;
}
