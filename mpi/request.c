/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Live requests lie in shards by handle, each a table of queues: a request enters at the tail and
 * the oldest of its handle leaves, so many with one handle cost no more than one. A spin lock per
 * shard, taken only when several threads may be in MPI at once, is never held across a call of MPI.
 */
#include "request.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "bytes.h"
#include "clock.h"
#include "comm.h"
#include "hooks.h"

enum { SHARDS = 64, FIRST_QUEUES = 64, SC_MESSAGE = SC_REQUEST_GENERALIZED + 1 };

/* No handle is that large: keeps messages apart from requests. */
static const uint64_t message_bit = UINT64_C(1) << 63;

struct live {
    struct live *next;
    uint64_t handle;
    const struct sc_comm *comm; /* whose ranks a status names */
    struct sc_part *part;       /* NULL: inactive, or started while nothing was recorded */
    struct sc_thread *thread;   /* that the part belongs to, and in which recording */
    unsigned generation;
    uint8_t kind;
    bool is_persistent, is_cancelled;
    struct sc_op each; /* what a start of a persistent request moves */
};

struct queue {
    struct live *head, **tail;
};

struct shard {
    char lock;
    struct queue *queues;
    size_t count, mask; /* live ones; queues less one */
    struct live *idle;
} __attribute__((aligned(64)));

static struct shard shards[SHARDS];
static bool is_threaded;
static int64_t next_id;

void sc_request_open(bool threaded)
{
    is_threaded = threaded;
}

/* ---- the table ---- */

static void lock(struct shard *s)
{
    if (!is_threaded)
        return;
    for (unsigned spins = 0; __atomic_test_and_set(&s->lock, __ATOMIC_ACQUIRE); spins++)
        if (spins > 100)
            sched_yield();
}

static void unlock(struct shard *s)
{
    if (is_threaded)
        __atomic_clear(&s->lock, __ATOMIC_RELEASE);
}

static uint64_t hash_of(uint64_t handle)
{
    return (handle ^ handle >> 32) * UINT64_C(0x9e3779b97f4a7c15);
}

static struct shard *shard_of(uint64_t handle)
{
    return &shards[hash_of(handle) >> 58];
}

static struct queue *queue_of(const struct shard *s, uint64_t handle)
{
    return &s->queues[hash_of(handle) >> 20 & s->mask];
}

static void append(const struct shard *s, struct live *l)
{
    struct queue *q = queue_of(s, l->handle);

    l->next = NULL;
    *q->tail = l;
    q->tail = &l->next;
}

/* Under the lock. Keeps the order within each queue. False: no memory and no queue at all. */
static bool grow(struct shard *s)
{
    size_t old = s->queues == NULL ? 0 : s->mask + 1, count = old == 0 ? FIRST_QUEUES : 2 * old;
    struct queue *queues = calloc(count, sizeof *queues), *before = s->queues;

    if (queues == NULL)
        return before != NULL;
    for (size_t i = 0; i < count; i++)
        queues[i].tail = &queues[i].head;
    s->queues = queues;
    s->mask = count - 1;
    for (size_t i = 0; i < old; i++) {
        for (struct live *next, *l = before[i].head; l != NULL; l = next) {
            next = l->next;
            append(s, l);
        }
    }
    free(before);
    return true;
}

/* Enters a copy. */
static void insert(const struct live *what)
{
    struct shard *s = shard_of(what->handle);
    struct live *l;

    lock(s);
    if (s->queues == NULL || s->count > s->mask)
        if (!grow(s))
            goto out;
    l = s->idle;
    if (l != NULL)
        s->idle = l->next;
    else
        l = malloc(sizeof *l);
    if (l == NULL)
        goto out;
    *l = *what;
    append(s, l);
    s->count++;
out:
    unlock(s);
}

/* The oldest one with that handle, as a copy; false: none. A persistent one stays, and is inactive
 * from here on. */
static bool take(uint64_t handle, bool even_persistent, struct live *out)
{
    struct shard *s = shard_of(handle);
    struct queue *q;
    struct live *l = NULL, **link;

    lock(s);
    if (s->queues == NULL)
        goto out;
    q = queue_of(s, handle);
    for (link = &q->head; (l = *link) != NULL && l->handle != handle; link = &l->next)
        continue;
    if (l == NULL)
        goto out;
    *out = *l;
    if (l->is_persistent && !even_persistent) {
        l->part = NULL;
        l->is_cancelled = false;
        goto out;
    }
    *link = l->next;
    if (q->tail == &l->next)
        q->tail = link;
    l->next = s->idle;
    s->idle = l;
    s->count--;
out:
    unlock(s);
    return l != NULL;
}

/* Changes the oldest one with that handle; a copy of it before that. False: none. */
static bool update(uint64_t handle, const struct sc_call *call, struct sc_part *part, bool cancel,
                   struct live *out)
{
    struct shard *s = shard_of(handle);
    struct live *l = NULL;

    lock(s);
    if (s->queues != NULL)
        l = queue_of(s, handle)->head;
    while (l != NULL && l->handle != handle)
        l = l->next;
    if (l != NULL) {
        *out = *l;
        if (cancel)
            l->is_cancelled = true;
        if (part != NULL) {
            l->part = part;
            l->thread = call->thread;
            l->generation = call->generation;
        }
    }
    unlock(s);
    return l != NULL;
}

/* ---- handles ---- */

static uint64_t handle_of(MPI_Request request)
{
    uint64_t handle = 0;

    memcpy(&handle, &request, sizeof request);
    return handle;
}

static uint64_t handle_of_message(MPI_Message message)
{
    uint64_t handle = 0;

    memcpy(&handle, &message, sizeof message);
    return handle | message_bit;
}

/* ---- starting ---- */

static struct sc_part *add_part(struct sc_call *call, enum sc_request_kind kind,
                                const struct sc_op *from)
{
    struct sc_part *part = sc_part_add(call->thread, call->op);

    if (part == NULL)
        return NULL;
    part->id = __atomic_fetch_add(&next_id, 1, __ATOMIC_RELAXED);
    part->flags = SC_PART_REQUEST;
    if (kind == SC_REQUEST_SEND && (from->flags & SC_OP_SENDS) != 0)
        part->flags |= SC_PART_SENDS;
    part->comm = from->comm;
    part->peer = from->peer;
    part->tag = from->tag;
    return part;
}

/* The status of a receive from nobody says nothing, in MPICH not even that. */
static enum sc_request_kind kind_of(enum sc_request_kind kind, uint16_t flags, bool is_matched)
{
    bool is_from_nobody = kind == SC_REQUEST_RECV && (flags & SC_OP_RECEIVES) == 0 && !is_matched;

    return is_from_nobody ? SC_REQUEST_COLLECTIVE : kind;
}

void sc_request_started(struct sc_call *call, enum sc_request_kind kind, MPI_Request request)
{
    struct sc_op *op = call->op;
    struct sc_part *part = add_part(call, kind, op);

    kind = kind_of(kind, op->flags, call->comm != NULL);
    if (kind == SC_REQUEST_RECV) /* the part is the message, once it is there */
        op->flags &= (uint16_t)~SC_OP_RECEIVES;
    if (part == NULL)
        return;
    if ((part->flags & SC_PART_SENDS) != 0) { /* a cancelled one takes it back */
        part->sent = op->sent;
        op->sent = 0;
        op->flags &= (uint16_t)~SC_OP_SENDS;
    }
    insert(&(struct live){.handle = handle_of(request),
                          .comm = call->comm != NULL ? call->comm : sc_comm_get(op->comm),
                          .part = part,
                          .thread = call->thread,
                          .generation = call->generation,
                          .kind = (uint8_t)kind});
}

void sc_request_persistent(enum sc_request_kind kind, const struct sc_op *each, MPI_Request request)
{
    insert(&(struct live){.handle = handle_of(request),
                          .comm = sc_comm_get(each->comm),
                          .kind = (uint8_t)kind_of(kind, each->flags, false),
                          .is_persistent = true,
                          .each = *each});
}

void sc_request_rests(struct sc_op *op)
{
    op->sent = op->received = 0;
    op->flags &= (uint16_t) ~(SC_OP_SENDS | SC_OP_RECEIVES);
}

static void start_one(struct sc_call *call, MPI_Request request)
{
    uint64_t handle = handle_of(request);
    struct sc_part *part;
    struct live l;

    if (!update(handle, NULL, NULL, false, &l) || !l.is_persistent)
        return;
    part = add_part(call, (enum sc_request_kind)l.kind, &l.each);
    if (part == NULL)
        return;
    part->sent = l.each.sent;
    part->received = l.each.received;
    update(handle, call, part, false, &l);
}

void sc_requests_started(struct sc_call *call, int count, struct sc_list requests)
{
    for (int i = 0; i < count; i++)
        start_one(call, sc_list_request(requests, i));
}

/* ---- matched messages ---- */

void sc_request_message(MPI_Comm comm, const MPI_Message *message)
{
    if (*message == MPI_MESSAGE_NULL || *message == MPI_MESSAGE_NO_PROC)
        return;
    insert(&(struct live){
        .handle = handle_of_message(*message), .comm = sc_comm_find(comm), .kind = SC_MESSAGE});
}

void sc_before_message(struct sc_call *call, const MPI_Message *message)
{
    struct live l;

    if (take(handle_of_message(*message), false, &l))
        call->comm = l.comm;
}

/* ---- completing ---- */

static bool is_of_this_recording(const struct live *l)
{
    return l->part != NULL &&
           __atomic_load_n(&l->thread->generation, __ATOMIC_RELAXED) == l->generation;
}

static void received(const struct live *l, const MPI_Status *status)
{
    struct sc_part *part = l->part;

    if (status->MPI_SOURCE == MPI_PROC_NULL)
        return;
    part->flags |= SC_PART_RECEIVES;
    part->received += sc_bytes_of_status(status);
    if (l->comm != NULL)
        part->peer = sc_comm_peer(l->comm, status->MPI_SOURCE);
    part->tag = status->MPI_TAG;
}

static bool was_cancelled(const struct live *l, const MPI_Status *status)
{
    int flag = 0;

    return l->is_cancelled && PMPI_Test_cancelled(status, &flag) == MPI_SUCCESS && flag;
}

/* What the part of a taken request has to say. status NULL: it failed, or nobody knows. */
static void complete(const struct live *l, const MPI_Status *status, uint64_t done, uint64_t await)
{
    struct sc_part *part = l->part;

    if (!is_of_this_recording(l))
        return;
    part->done = done;
    part->await = await;
    if (status != NULL && was_cancelled(l, status)) {
        part->flags |= SC_PART_CANCELLED;
        part->sent = part->received = 0;
    } else if (status != NULL && l->kind == SC_REQUEST_RECV) {
        received(l, status);
    } else if (status != NULL && l->kind == SC_REQUEST_READ) {
        part->received += sc_bytes_of_status(status);
    } else if (status != NULL && l->kind == SC_REQUEST_WRITE) {
        part->sent += sc_bytes_of_status(status);
    }
    sc_part_done(part);
}

/* The program lets go of it: MPI completes it some time, and what a receive got is never told. */
void sc_before_request_free(struct sc_call *call, const MPI_Request *request)
{
    struct live l;

    (void)call;
    if (request != NULL && take(handle_of(*request), true, &l))
        complete(&l, NULL, 0, 0);
}

void sc_before_cancel(struct sc_call *call, const MPI_Request *request)
{
    struct live l;

    (void)call;
    if (request != NULL)
        update(handle_of(*request), NULL, NULL, true, &l);
}

/* ---- waits and tests ---- */

/* Room for the handles and, where the caller ignores them, the statuses. False: no memory. */
static bool make_room(struct sc_wait *w, int count, int statuses)
{
    size_t handles = (size_t)count * sizeof *w->handles;

    w->memory = NULL;
    w->handles = w->few_handles;
    if (w->statuses == NULL)
        w->statuses = w->few_statuses;
    if (count <= SC_WAIT_INLINE)
        return true;
    w->memory = malloc(handles + (size_t)statuses * sizeof(MPI_Status));
    if (w->memory == NULL)
        return false;
    w->handles = w->memory;
    if (w->statuses == w->few_statuses && statuses > SC_WAIT_INLINE)
        w->statuses = (char *)w->memory + handles;
    return true;
}

static void *begin(struct sc_wait *w, int count, struct sc_list requests, int statuses, void *given,
                   bool is_ignored)
{
    int saved = errno;
    bool has_room;

    w->count = 0;
    w->statuses = is_ignored ? NULL : given;
    has_room = count > 0 && requests.at != NULL && make_room(w, count, statuses);
    errno = saved;
    if (!has_room) {
        w->memory = NULL;
        return given;
    }
    for (int i = 0; i < count; i++)
        w->handles[i] = handle_of(sc_list_request(requests, i));
    w->count = count;
    return w->statuses;
}

MPI_Status *sc_wait_begin(struct sc_wait *w, int count, struct sc_list requests, int statuses,
                          MPI_Status *given)
{
    w->is_fortran = false;
    return begin(w, count, requests, statuses, given,
                 given == MPI_STATUS_IGNORE || given == MPI_STATUSES_IGNORE);
}

MPI_Fint *sc_wait_begin_fortran(struct sc_wait *w, int count, struct sc_list requests, int statuses,
                                MPI_Fint *given, bool is_ignored)
{
    w->is_fortran = true;
    return begin(w, count, requests, statuses, given, is_ignored);
}

/* The i-th status as MPI set it; room is for one of Fortran's. */
static const MPI_Status *status_at(const struct sc_wait *w, int i, MPI_Status *room)
{
    const size_t words = sizeof(MPI_Status) / sizeof(MPI_Fint);

    if (!w->is_fortran)
        return (const MPI_Status *)w->statuses + i;
    PMPI_Status_f2c((const MPI_Fint *)w->statuses + (size_t)i * words, room);
    return room;
}

/* When it was, and how long the program was in the call. */
struct moment {
    uint64_t end, waited;
};

static struct moment moment_of(const struct sc_call *call, uint64_t end)
{
    if (call == NULL)
        return (struct moment){sc_clock_ticks(), 0};
    return (struct moment){end, end - call->op->start};
}

static void completed(const struct sc_wait *w, int i, int status, bool is_fine, struct moment at)
{
    MPI_Status room;
    struct live l;

    if (i < 0 || i >= w->count || !take(w->handles[i], false, &l))
        return;
    complete(&l, is_fine && l.part != NULL ? status_at(w, status, &room) : NULL, at.end, at.waited);
}

static bool finish(struct sc_wait *w, bool did)
{
    int saved = errno;

    free(w->memory);
    errno = saved;
    return did;
}

bool sc_wait_one(struct sc_wait *w, int rc, struct sc_call *call, uint64_t end, const int *flag)
{
    if (rc == MPI_SUCCESS && ((flag != NULL && !*flag) ||
                              (w->count > 0 && w->handles[0] == handle_of(MPI_REQUEST_NULL))))
        return finish(w, false);
    completed(w, 0, 0, rc == MPI_SUCCESS, moment_of(call, end));
    return finish(w, true);
}

bool sc_wait_all(struct sc_wait *w, int rc, struct sc_call *call, uint64_t end, const int *flag)
{
    struct moment at = moment_of(call, end);

    if (rc == MPI_SUCCESS && flag != NULL && !*flag)
        return finish(w, false);
    for (int i = 0; i < w->count; i++) {
        MPI_Status room;
        int error = rc == MPI_ERR_IN_STATUS ? status_at(w, i, &room)->MPI_ERROR : rc;
        if (error != MPI_ERR_PENDING)
            completed(w, i, i, error == MPI_SUCCESS, at);
    }
    return finish(w, true);
}

bool sc_wait_any(struct sc_wait *w, int rc, struct sc_call *call, uint64_t end, const int *index,
                 const int *flag)
{
    bool is_done = flag == NULL || *flag;

    if (rc == MPI_SUCCESS && (!is_done || *index == MPI_UNDEFINED))
        return finish(w, false);
    completed(w, w->is_fortran ? *index - 1 : *index, 0, rc == MPI_SUCCESS, moment_of(call, end));
    return finish(w, true);
}

bool sc_wait_some(struct sc_wait *w, int rc, struct sc_call *call, uint64_t end,
                  const int *outcount, const int *indices)
{
    struct moment at = moment_of(call, end);

    if ((rc != MPI_SUCCESS && rc != MPI_ERR_IN_STATUS) || *outcount == MPI_UNDEFINED)
        return finish(w, rc != MPI_SUCCESS);
    for (int i = 0; i < *outcount; i++) {
        MPI_Status room;
        bool is_fine = rc == MPI_SUCCESS || status_at(w, i, &room)->MPI_ERROR == MPI_SUCCESS;
        completed(w, w->is_fortran ? indices[i] - 1 : indices[i], i, is_fine, at);
    }
    return finish(w, *outcount > 0 || rc != MPI_SUCCESS);
}
