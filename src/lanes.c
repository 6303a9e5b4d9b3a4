/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "lanes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "base.h"
#include "callpath.h"
#include "region.h"

/* What is checked against, and what was seen. */
struct check {
    const struct sc_image_head *head;
    const struct sc_notes *notes;
    uint64_t earliest, latest; /* ticks that can be */
    uint64_t last;             /* that was */
    uint64_t before;           /* start of the record before in the lane */
    struct block {
        struct sc_found found;
        char *base;
        uint64_t claimed[SC_EXTENT / sizeof(struct sc_part) / 64]; /* parts that an operation has */
    } * block;
    size_t blocks;
    struct block **parts; /* those blocks of parts, by address */
    size_t part_blocks;
    bool is_alive;
    bool renumber; /* regions have other ids here */
};

static bool can_be(const struct check *c, uint64_t ticks)
{
    return ticks >= c->earliest && ticks <= c->latest;
}

static void note_last(struct check *c, uint64_t ticks)
{
    if (ticks > c->last)
        c->last = ticks;
}

/* Records of a lane begin in order. next: start of the sound one behind it, UINT64_MAX none: one
 * start that is too late is not to cost all that follow. */
static bool is_in_order(struct check *c, uint64_t start, uint64_t next)
{
    if (start < c->before || (start > next && next >= c->before))
        return false;
    c->before = start;
    return true;
}

/* ---- events ---- */

/* A region is one of events or one of operations; of one whose note is lost it is not known. */
static bool is_of_kind(const struct check *c, uint32_t region, enum sc_region_kind kind)
{
    return region < c->notes->regions && sc_region_get(c->notes->region[region])->kind == kind;
}

static bool is_event(const struct check *c, const struct scope_event_1_ *e, uint32_t region)
{
    return is_of_kind(c, region, SC_REGION_USER) && can_be(c, e->start) &&
           ((e->end & SCOPE_OPEN_) != 0 || (e->end >= e->start && can_be(c, e->end)));
}

/* The start of the event behind e, if that makes sense. */
static uint64_t next_event(const struct check *c, struct scope_event_1_ *e, const char *end)
{
    e++;
    return (char *)e < end && is_event(c, e, *scope_event_region_(e)) ? e->start : UINT64_MAX;
}

static void check_events(struct check *c, char *base)
{
    struct scope_event_1_ *e = (void *)(base + sc_buffer_data_at(SC_EXTENT_EVENTS));

    for (; (char *)e < base + SC_EXTENT; e++) {
        uint16_t *region = scope_event_region_(e);

        if (e->start == 0)
            continue; /* not begun */
        if (*region == SC_REGION_VOID || !is_event(c, e, *region) ||
            !is_in_order(c, e->start, next_event(c, e, base + SC_EXTENT))) {
            e->start = 0;
            continue;
        }
        note_last(c, (e->end & SCOPE_OPEN_) != 0 ? e->start : e->end);
        if (c->renumber)
            *region = (uint16_t)c->notes->region[*region];
    }
}

/* ---- operations and their parts ---- */

static int32_t below(int32_t number, size_t count)
{
    return number >= 0 && (size_t)number < count ? number : -1;
}

static int32_t rank_of(const struct check *c, int32_t peer)
{
    return below(peer, (size_t)c->notes->ranks);
}

static int compare_addresses(const void *a, const void *b)
{
    uint64_t x = (*(struct block *const *)a)->found.head.address;
    uint64_t y = (*(struct block *const *)b)->found.head.address;

    return (x > y) - (x < y);
}

static int compare_address(const void *key, const void *member)
{
    uint64_t x = *(const uint64_t *)key;
    uint64_t y = (*(struct block *const *)member)->found.head.address;

    return (x > y) - (x < y);
}

/* NULL: no memory. */
static struct block **sort_parts(struct check *c)
{
    c->parts = calloc(c->blocks + 1, sizeof(struct block *));
    for (size_t i = 0; c->parts != NULL && i < c->blocks; i++)
        if (c->block[i].found.head.kind == SC_EXTENT_PARTS)
            c->parts[c->part_blocks++] = &c->block[i];
    if (c->part_blocks > 1)
        qsort(c->parts, c->part_blocks, sizeof(struct block *), compare_addresses);
    return c->parts;
}

/* The part that was at that address, claimed for its operation; NULL: none, or another's. */
static struct sc_part *claim(struct check *c, uint64_t address)
{
    const uint64_t within = address & (SC_EXTENT - 1), at = address - within;
    const size_t n = within / sizeof(struct sc_part);
    struct block **found;

    if (address == 0 || within < sc_buffer_data_at(SC_EXTENT_PARTS) ||
        within % sizeof(struct sc_part) != 0)
        return NULL;
    found = bsearch(&at, c->parts, c->part_blocks, sizeof(struct block *), compare_address);
    if (found == NULL || ((*found)->claimed[n / 64] >> n % 64 & 1) != 0)
        return NULL;
    (*found)->claimed[n / 64] |= (uint64_t)1 << n % 64;
    return (struct sc_part *)(void *)((*found)->base + within);
}

static void check_part(struct check *c, struct sc_part *part, struct sc_thread *t)
{
    part->thread = t;
    part->comm = below(part->comm, c->notes->own.comms.count);
    part->peer = rank_of(c, part->peer);
    part->waiting = NULL;
    part->posted = 0;
    if (part->state != SC_PART_DONE || (part->done != 0 && !can_be(c, part->done)) ||
        part->await > part->done) {
        part->state = SC_PART_PENDING;
        part->done = part->await = 0;
    }
    note_last(c, part->done);
}

static struct sc_part *check_parts(struct check *c, uint64_t address, struct sc_thread *t)
{
    struct sc_part *first = NULL, **link = &first;

    for (struct sc_part *part; (part = claim(c, address)) != NULL; link = &part->next) {
        address = (uint64_t)(uintptr_t)part->next;
        check_part(c, part, t);
        part->next = NULL;
        *link = part;
    }
    return first;
}

static bool is_op(const struct check *c, const struct sc_op *op)
{
    if (!is_of_kind(c, op->region, SC_REGION_MPI) || !can_be(c, op->start) || !can_be(c, op->end) ||
        op->end < op->start)
        return false;
    return (op->flags & SC_OP_MANY) == 0 ||
           (op->ticks <= c->latest - c->earliest && op->longest <= op->ticks &&
            op->shortest <= op->longest);
}

static void check_op(struct check *c, struct sc_op *op, struct sc_thread *t)
{
    note_last(c, op->end);
    if (c->renumber)
        op->region = (uint16_t)c->notes->region[op->region];
    if (below(op->site, c->notes->own.site_count) != op->site)
        op->site = -1;
    if ((op->flags & SC_OP_MANY) != 0)
        return;
    if (op->parts != NULL)
        op->parts = check_parts(c, (uint64_t)(uintptr_t)op->parts, t);
    if (below(op->comm, c->notes->own.comms.count) != op->comm)
        op->comm = -1;
    if (below(op->object, c->notes->own.object_count) != op->object)
        op->object = -1;
    if (rank_of(c, op->peer) != op->peer)
        op->peer = -1;
}

/* The start of the operation behind op, if that makes sense. */
static uint64_t next_op(const struct check *c, const struct sc_op *op, const char *end)
{
    op++;
    return (const char *)op < end && op->end != 0 && is_op(c, op) ? op->start : UINT64_MAX;
}

/* A call that is under way has no end, and is none that was completed. */
static void check_ops(struct check *c, char *base, struct sc_thread *t)
{
    struct sc_op *op = (void *)(base + sc_buffer_data_at(SC_EXTENT_OPS));

    for (; (char *)op < base + SC_EXTENT; op++) {
        if (op->end == 0)
            continue;
        if (is_op(c, op) && is_in_order(c, op->start, next_op(c, op, base + SC_EXTENT)))
            check_op(c, op, t);
        else
            op->end = 0;
    }
}

/* ---- blocks ---- */

/* Memory with what the file has of the extent, zeros behind it; NULL: none. A process that lives
 * could change what is mapped after it was checked. */
static char *map_extent(int fd, const struct sc_found *found, bool is_alive)
{
    char *base = sc_image_map_anonymous();
    const int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;

    if (base != NULL && is_alive) {
        if (pread(fd, base, found->room, (off_t)found->head.at) < 0)
            memset(base, 0, SC_EXTENT);
    } else if (base != NULL && mmap(base, found->room, PROT_READ | PROT_WRITE, flags, fd,
                                    (off_t)found->head.at) == MAP_FAILED) {
        munmap(base, SC_EXTENT);
        base = NULL;
    }
    return base;
}

static bool map_blocks(struct check *c, int fd, const struct sc_found *found, size_t count)
{
    c->block = calloc(count + 1, sizeof *c->block);
    for (size_t i = 0; c->block != NULL && i < count; i++) {
        struct block *b = &c->block[c->blocks];

        if (found[i].head.kind >= SC_EXTENT_NOTES)
            continue; /* not of a lane */
        b->found = found[i];
        b->base = map_extent(fd, &found[i], c->is_alive);
        if (b->base == NULL)
            return false;
        c->blocks++;
    }
    return c->block != NULL;
}

/* The thread with that number in the image, made at need; NULL: no memory. */
static struct sc_thread *thread_of(struct sc_thread **threads, uint32_t number)
{
    if (threads[number] == NULL)
        threads[number] = sc_buffer_restore_thread();
    return threads[number];
}

/* Parts that no operation has are nobody's: what waited for them is in the totals. */
static void check_unclaimed(const struct block *b)
{
    struct sc_part *part = (void *)b->base;

    for (size_t i = sc_buffer_data_at(SC_EXTENT_PARTS) / sizeof *part; i < SC_EXTENT / sizeof *part;
         i++)
        if ((b->claimed[i / 64] >> i % 64 & 1) == 0 && part[i].state == SC_PART_ORPHAN) {
            part[i].state = SC_PART_PENDING;
            part[i].waiting = NULL;
        }
}

/* All pieces of the thread's totals of that number, behind each other. */
static int read_totals(int fd, const struct sc_found *found, size_t count, uint32_t thread,
                       uint64_t number, struct sc_string *out)
{
    uint64_t length = 0;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct sc_extent *head = &found[i].head;
        char piece[1 << 12];

        if (head->kind != SC_EXTENT_TOTALS || head->thread != thread || head->totals != number)
            continue;
        length = head->length;
        for (uint64_t at = sizeof *head; rc == 0 && at < found[i].room && out->length < length;) {
            uint64_t left = found[i].room - at < sizeof piece ? found[i].room - at : sizeof piece;
            ssize_t got;

            if (left > length - out->length)
                left = length - out->length;
            got = pread(fd, piece, left, (off_t)(head->at + at));
            if (got <= 0)
                return SC_EFORMAT;
            rc = sc_string_append(out, piece, (size_t)got);
            at += (uint64_t)got;
        }
    }
    return rc == 0 && (length == 0 || out->length != length) ? SC_EFORMAT : rc;
}

/* What operations added up to that were forgotten; ones that cannot be read are lost. */
static int restore_totals(const struct check *c, int fd, const struct sc_found *found, size_t count,
                          const struct sc_extent *ops, struct sc_thread *t)
{
    const struct sc_saved_limits limits = {c->notes->region,          c->notes->regions,
                                           c->notes->own.comms.count, c->notes->own.object_count,
                                           c->notes->own.site_count,  c->notes->ranks};
    struct sc_string bytes = {0};
    int rc = read_totals(fd, found, count, ops->thread, ops->totals & ~SC_FORGETTING, &bytes);

    if (rc == 0 && t->callpath == NULL)
        t->callpath = sc_callpath_create();
    if (rc == 0)
        rc = t->callpath == NULL
                 ? SC_ENOMEM
                 : sc_callpath_restore(t->callpath, bytes.data, bytes.length, &limits);
    if (rc == SC_EFORMAT)
        sc_count(&t->counts.lost, 1);
    sc_string_free(&bytes);
    return rc == SC_EFORMAT ? 0 : rc;
}

/* Operations are checked when all parts are mapped. What was handed over is the buffer's. */
static int hand_over(struct check *c, int fd, const struct sc_found *found, size_t count,
                     struct sc_thread **threads)
{
    for (size_t i = 0; i < c->blocks; i++) {
        const struct sc_extent *head = &c->block[i].found.head;
        struct sc_thread *t = thread_of(threads, head->thread);

        if (t == NULL)
            return SC_ENOMEM;
        if (i == 0 || c->block[i - 1].found.head.thread != head->thread ||
            c->block[i - 1].found.head.kind != head->kind)
            c->before = 0; /* another lane */
        if (head->kind == SC_EXTENT_EVENTS)
            check_events(c, c->block[i].base);
        else if (head->kind == SC_EXTENT_OPS && (head->totals & SC_FORGETTING) != 0)
            memset(c->block[i].base, 0, SC_EXTENT);
        else if (head->kind == SC_EXTENT_OPS)
            check_ops(c, c->block[i].base, t);
        if (head->kind == SC_EXTENT_OPS && head->totals != 0 &&
            restore_totals(c, fd, found, count, head, t) != 0)
            return SC_ENOMEM;
    }
    for (size_t i = 0; i < c->part_blocks; i++)
        check_unclaimed(c->parts[i]);
    for (size_t i = 0; i < c->blocks; i++) {
        const struct sc_extent *head = &c->block[i].found.head;

        if (!sc_buffer_restore_block(threads[head->thread], (enum sc_extent_kind)head->kind,
                                     c->block[i].base))
            return SC_ENOMEM;
        c->block[i].base = NULL;
    }
    return 0;
}

static size_t count_threads(const struct check *c)
{
    size_t most = c->head->main_thread;

    for (size_t i = 0; i < c->blocks; i++)
        if (c->block[i].found.head.thread > most)
            most = c->block[i].found.head.thread;
    return most + 1;
}

static int load(struct check *c, int fd, const char *path, const struct sc_thread **main_thread)
{
    struct sc_found *found = NULL;
    struct sc_thread **threads = NULL;
    size_t count = 0;
    int rc = sc_found_list(path, fd, &found, &count);

    if (rc == 0 && map_blocks(c, fd, found, count) && sort_parts(c) != NULL)
        threads = calloc(count_threads(c), sizeof(struct sc_thread *));
    if (rc == 0)
        rc = threads == NULL ? SC_ENOMEM : hand_over(c, fd, found, count, threads);
    if (rc == SC_ENOMEM)
        sc_fail(rc, "no memory to read %s", path);
    if (rc == 0)
        *main_thread = threads[c->head->main_thread];
    for (size_t i = 0; c->block != NULL && i < c->blocks; i++)
        if (c->block[i].base != NULL)
            munmap(c->block[i].base, SC_EXTENT);
    free(c->parts);
    free(c->block);
    free(threads);
    free(found);
    return rc;
}

/* No recording is longer than from its beginning to now; clocks of other hosts may be a day off. */
static uint64_t most_ticks(const struct sc_image_head *head)
{
    const int64_t day = INT64_C(86400000000000), years = 1000 * day;
    struct timespec now;
    int64_t most;
    double ticks;

    clock_gettime(CLOCK_REALTIME, &now);
    most = (int64_t)now.tv_sec * 1000000000 - head->begin_realtime + day;
    if (most < day || most > years)
        most = years;
    ticks = (double)most / sc_clock_length(1);
    return ticks < 1e18 ? (uint64_t)ticks : (uint64_t)1e18;
}

int sc_lanes_load(const char *path, bool is_alive, const struct sc_image_head *head,
                  const struct sc_notes *notes, uint64_t *last,
                  const struct sc_thread **main_thread)
{
    struct check c = {.head = head,
                      .is_alive = is_alive,
                      .notes = notes,
                      .earliest = head->begin_ticks,
                      .latest = head->begin_ticks + most_ticks(head)};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int rc;

    if (fd < 0)
        return sc_fail(SC_EIO, "%s: %s", path, strerror(errno));
    c.last = can_be(&c, *last) ? *last : head->begin_ticks;
    for (size_t i = 0; i < notes->regions; i++)
        c.renumber = c.renumber || notes->region[i] != i;
    sc_buffer_restore();
    rc = load(&c, fd, path, main_thread);
    close(fd);
    *last = c.last + 1; /* what began last is inside of what is open */
    return rc;
}
