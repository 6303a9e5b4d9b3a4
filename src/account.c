/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "account.h"

#include <stdlib.h>

#include "base.h"
#include "clock.h"

static int64_t length(uint64_t ticks)
{
    return (int64_t)sc_clock_length((double)ticks);
}

/* ---- peers ---- */

static int add_op_peer(struct sc_totals *t, const struct sc_op *op)
{
    struct sc_peer p = {.peer = op->peer};

    if ((op->flags & SC_OP_SENDS) != 0) {
        p.sent_messages = 1;
        p.sent_bytes = op->sent;
    }
    if ((op->flags & SC_OP_RECEIVES) != 0) {
        p.received_messages = 1;
        p.received_bytes = op->received;
    }
    if ((op->flags & SC_OP_RMA) != 0) {
        p.rma_operations = 1;
        p.rma_sent = op->sent;
        p.rma_received = op->received;
    }
    return p.sent_messages + p.received_messages + p.rma_operations > 0 ? sc_totals_add_peer(t, &p)
                                                                        : 0;
}

static int add_part_peer(struct sc_totals *t, const struct sc_part *part)
{
    struct sc_peer p = {.peer = part->peer};

    if ((part->flags & SC_PART_CANCELLED) != 0)
        return 0;
    if ((part->flags & SC_PART_SENDS) != 0) {
        p.sent_messages = 1;
        p.sent_bytes = part->sent;
    }
    if ((part->flags & SC_PART_RECEIVES) != 0 && part->done != 0) {
        p.received_messages = 1;
        p.received_bytes = part->received;
    }
    return p.sent_messages + p.received_messages > 0 ? sc_totals_add_peer(t, &p) : 0;
}

/* ---- entries ---- */

/* The communicator of the call: its own, else that of the first part that has one. */
static int32_t comm_of(const struct sc_op *op)
{
    int32_t comm = op->comm;

    for (const struct sc_part *part = op->parts; op->comm < 0 && part != NULL; part = part->next)
        comm = part->comm >= 0 ? part->comm : comm; /* the first one comes last */
    return comm;
}

/* The entry of a call, less what its parts add. */
static struct sc_total entry_of(uint32_t path, const struct sc_op *op)
{
    int64_t start = sc_clock_ns(op->start), end = sc_clock_ns(op->end);
    int64_t time = end > start ? end - start : 0;

    return (struct sc_total){.path = path,
                             .comm = comm_of(op),
                             .object = op->object,
                             .site = op->site,
                             .calls = 1,
                             .sent = op->sent,
                             .received = op->received,
                             .total = time,
                             .minimum = time,
                             .maximum = time};
}

static int32_t comm_of_part(const struct sc_part *part, int32_t comm_of_call)
{
    return part->comm >= 0 ? part->comm : comm_of_call;
}

/* Adds a part to the entry and to its peer; posted: when its call ended. */
static int add_part(struct sc_totals *t, struct sc_total *e, const struct sc_part *part,
                    int64_t posted)
{
    int64_t done = part->done == 0 ? 0 : sc_clock_ns(part->done);

    e->sent += part->sent;
    e->received += part->received;
    e->await += length(part->await);
    if ((part->flags & SC_PART_REQUEST) != 0 && done > posted)
        e->in_flight += done - posted;
    return add_part_peer(t, part);
}

static int add_entry(struct sc_totals *t, struct sc_total *e)
{
    e->size_class = sc_size_class(e->sent > e->received ? e->sent : e->received);
    return sc_totals_add(t, e);
}

/* ---- parts that outlive their operation ---- */

/* An entry that is complete when its parts are. */
struct sc_waiting {
    struct sc_total entry;
    size_t parts; /* that have not come back yet */
    size_t seen;  /* of them, by a walk over all parts */
};

static bool is_done(const struct sc_part *part)
{
    /* Pairs with the release in sc_part_done(): the part's fields are final. */
    return __atomic_load_n(&part->state, __ATOMIC_ACQUIRE) == SC_PART_DONE;
}

/* The entry is to wait for the part. False: no memory. */
static bool wait_for(struct sc_part *part, struct sc_waiting **w, int64_t posted)
{
    if (*w == NULL)
        *w = calloc(1, sizeof **w);
    if (*w == NULL)
        return false;
    (*w)->parts++;
    part->waiting = *w;
    part->posted = posted;
    return true;
}

/* The part that was waited for is complete, or never will be. */
static int come_back(struct sc_totals *t, struct sc_part *part)
{
    struct sc_waiting *w = part->waiting;
    int rc = add_part(t, &w->entry, part, part->posted);

    part->waiting = NULL;
    if (--w->parts > 0)
        return rc;
    if (add_entry(t, &w->entry) != 0)
        rc = SC_ENOMEM;
    free(w);
    return rc;
}

static void use_again(struct sc_part *part)
{
    part->next = part->thread->part_free;
    part->thread->part_free = part;
}

/* Owner thread. The operation's room is needed, and its parts know what waits for them. */
static int let_go(struct sc_totals *t, const struct sc_op *op)
{
    int rc = 0;

    for (struct sc_part *next, *part = op->parts; part != NULL; part = next) {
        uint16_t pending = SC_PART_PENDING;

        next = part->next; /* an orphan's is its thread's business */
        if (part->waiting != NULL) {
            if (__atomic_compare_exchange_n(&part->state, &pending, SC_PART_ORPHAN, false,
                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
                continue;
            if (come_back(t, part) != 0)
                rc = SC_ENOMEM;
        }
        if (is_done(part))
            use_again(part);
    }
    return rc;
}

/* ---- operations ---- */

/* Adds to the entry, which has a communicator, the parts on that; is_last: as they are. */
static int add_group(struct sc_totals *t, const struct sc_op *op, struct sc_total *e,
                     int32_t comm_of_call, bool is_last)
{
    int64_t posted = sc_clock_ns(op->end);
    struct sc_waiting *w = NULL;
    int rc = 0;

    for (struct sc_part *part = op->parts; part != NULL; part = part->next)
        if (comm_of_part(part, comm_of_call) == e->comm &&
            (is_last || is_done(part) || !wait_for(part, &w, posted)) &&
            add_part(t, e, part, posted) != 0)
            rc = SC_ENOMEM;
    if (w != NULL)
        w->entry = *e;
    else if (add_entry(t, e) != 0)
        rc = SC_ENOMEM;
    return rc;
}

/* Whether a part with the communicator stands before that one in the chain. */
static bool is_repeated(const struct sc_op *op, const struct sc_part *that)
{
    const struct sc_part *part = op->parts;

    while (part->comm != that->comm)
        part = part->next;
    return part != that;
}

int sc_account_op(struct sc_totals *t, uint32_t path, const struct sc_op *op, bool is_last)
{
    struct sc_total call = entry_of(path, op);
    int rc = add_op_peer(t, op);

    if (add_group(t, op, &call, call.comm, is_last) != 0)
        rc = SC_ENOMEM;
    for (const struct sc_part *part = op->parts; part != NULL; part = part->next) {
        struct sc_total other = {
            .path = path, .comm = part->comm, .object = op->object, .site = op->site};
        if (comm_of_part(part, call.comm) != call.comm && !is_repeated(op, part) &&
            add_group(t, op, &other, call.comm, is_last) != 0)
            rc = SC_ENOMEM;
    }
    if (!is_last && let_go(t, op) != 0)
        rc = SC_ENOMEM;
    return rc;
}

int sc_account_late(struct sc_totals *t, struct sc_thread *thread, bool is_last)
{
    struct sc_part *part = __atomic_exchange_n(&thread->late, NULL, __ATOMIC_ACQUIRE);
    int rc = 0;

    for (struct sc_part *next; part != NULL; part = next) {
        next = part->next;
        if (come_back(t, part) != 0)
            rc = SC_ENOMEM;
        if (!is_last)
            use_again(part);
    }
    return rc;
}

int sc_account_save(struct sc_thread *thread, struct sc_string *out)
{
    struct sc_cursor c = {0};
    struct sc_part *part;
    int rc = 0;

    sc_cursor_renew_parts(&c, thread);
    while (rc == 0 && (part = sc_cursor_part(&c)) != NULL) {
        struct sc_waiting *w = part->waiting;

        if (w == NULL || ++w->seen < w->parts)
            continue;
        w->seen = 0; /* the last of its parts that are out */
        w->entry.size_class =
            sc_size_class(w->entry.sent > w->entry.received ? w->entry.sent : w->entry.received);
        rc = sc_string_append(out, &w->entry, sizeof w->entry);
    }
    return rc;
}

int sc_account_orphans(struct sc_totals *t, struct sc_thread *thread)
{
    struct sc_cursor c = {0};
    struct sc_part *part;
    int rc = 0;

    sc_cursor_renew_parts(&c, thread);
    while ((part = sc_cursor_part(&c)) != NULL) {
        uint16_t orphan = SC_PART_ORPHAN;
        if (__atomic_compare_exchange_n(&part->state, &orphan, SC_PART_DONE, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE) &&
            come_back(t, part) != 0)
            rc = SC_ENOMEM;
    }
    return rc;
}
