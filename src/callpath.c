/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "callpath.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "base.h"
#include "buffer.h"
#include "clock.h"
#include "region.h"

/* An event or operation that the replay is inside of. */
struct frame {
    uint32_t path;
    int64_t start, end;           /* ns; end is INT64_MAX while open */
    struct scope_event_1_ *event; /* NULL for an operation */
    int64_t in_children;          /* ns */
};

struct sc_callpath {
    struct sc_path *paths;
    size_t path_count, path_capacity;
    struct sc_index by_path;
    struct sc_totals totals;
    struct frame *stack;
    size_t depth, stack_capacity;
    struct sc_cursor events, ops;
    struct scope_event_1_ *event; /* next of each, NULL: none now */
    struct sc_op *op;
};

struct sc_callpath *sc_callpath_create(void)
{
    return calloc(1, sizeof(struct sc_callpath));
}

void sc_callpath_free(struct sc_callpath *cp)
{
    if (cp == NULL)
        return;
    free(cp->paths);
    free(cp->by_path.slots);
    sc_totals_free(&cp->totals);
    free(cp->stack);
    free(cp);
}

/* ---- paths ---- */

static uint32_t *path_slot(const struct sc_callpath *cp, int32_t parent, uint32_t region)
{
    size_t i = sc_index_next(&cp->by_path, sc_index_mix((uint64_t)(uint32_t)parent << 32 | region));

    for (; cp->by_path.slots[i] != 0; i = sc_index_next(&cp->by_path, i + 1)) {
        const struct sc_path *p = &cp->paths[cp->by_path.slots[i] - 1];
        if (p->parent == parent && p->region == region)
            break;
    }
    return &cp->by_path.slots[i];
}

/* The path of region under parent, made at need; negative status. */
static int64_t path_of(struct sc_callpath *cp, int32_t parent, uint32_t region)
{
    uint32_t *slot;

    if (sc_index_is_full(&cp->by_path, cp->path_count)) {
        if (sc_index_grow(&cp->by_path, cp->path_count) != 0)
            return SC_ENOMEM;
        for (uint32_t i = 0; i < cp->path_count; i++)
            *path_slot(cp, cp->paths[i].parent, cp->paths[i].region) = i + 1;
    }
    slot = path_slot(cp, parent, region);
    if (*slot == 0) {
        if (sc_array_reserve(&cp->paths, &cp->path_capacity, cp->path_count + 1,
                             sizeof *cp->paths) != 0)
            return SC_ENOMEM;
        cp->paths[cp->path_count] =
            (struct sc_path){.parent = parent, .region = region, .minimum = INT64_MAX};
        *slot = (uint32_t)++cp->path_count;
    }
    return *slot - 1;
}

/* ---- replay ---- */

static int64_t length(uint64_t ticks)
{
    return (int64_t)sc_clock_length((double)ticks);
}

static int64_t frame_end(const struct frame *f, uint64_t last)
{
    uint64_t end;

    if (f->event == NULL || f->end != INT64_MAX)
        return f->end;
    end = sc_event_end(f->event, last);
    return end == 0 ? INT64_MAX : sc_clock_ns(end);
}

/* Accounts the innermost frame and leaves it. */
static void pop(struct sc_callpath *cp)
{
    struct frame *f = &cp->stack[--cp->depth];
    struct sc_path *p = &cp->paths[f->path];
    int64_t time = f->end > f->start ? f->end - f->start : 0;

    p->calls++;
    p->total += time;
    p->exclusive += time - f->in_children;
    if (time < p->minimum)
        p->minimum = time;
    if (time > p->maximum)
        p->maximum = time;
    if (cp->depth > 0) {
        struct frame *up = &cp->stack[cp->depth - 1];
        int64_t shared = (f->end < up->end ? f->end : up->end) - f->start;
        if (shared > 0)
            up->in_children += shared;
    }
}

/* Leaves what had ended by then. */
static void leave_until(struct sc_callpath *cp, int64_t now, uint64_t last)
{
    while (cp->depth > 0) {
        struct frame *f = &cp->stack[cp->depth - 1];
        f->end = frame_end(f, last);
        if (f->end > now)
            return;
        /* Which part of a crossing event lies in its parent is known only with the parent's end. */
        if (cp->depth > 1)
            cp->stack[cp->depth - 2].end = frame_end(f - 1, last);
        pop(cp);
    }
}

static int enter(struct sc_callpath *cp, uint32_t region, int64_t start,
                 struct scope_event_1_ *event, int64_t end)
{
    int32_t parent = cp->depth == 0 ? -1 : (int32_t)cp->stack[cp->depth - 1].path;
    int64_t path = path_of(cp, parent, region);

    if (path < 0 ||
        sc_array_reserve(&cp->stack, &cp->stack_capacity, cp->depth + 1, sizeof *cp->stack) != 0)
        return SC_ENOMEM;
    cp->stack[cp->depth++] = (struct frame){.path = (uint32_t)path,
                                            .start = start,
                                            .end = event == NULL ? end : INT64_MAX,
                                            .event = event};
    return 0;
}

/* Calls that are counted together belong to the innermost frame, but do not fill their span. */
static int take_many(struct sc_callpath *cp, const struct sc_op *op)
{
    int32_t parent = cp->depth == 0 ? -1 : (int32_t)cp->stack[cp->depth - 1].path;
    int64_t found = path_of(cp, parent, op->region);
    struct sc_path *p;
    struct sc_total all;

    if (found < 0)
        return SC_ENOMEM;
    /* A thread that did not notice the end may still add to it. */
    all = (struct sc_total){.path = (uint32_t)found,
                            .comm = -1,
                            .object = -1,
                            .site = op->site,
                            .calls = __atomic_load_n(&op->calls, __ATOMIC_RELAXED),
                            .total = length(__atomic_load_n(&op->ticks, __ATOMIC_RELAXED)),
                            .minimum = length(__atomic_load_n(&op->shortest, __ATOMIC_RELAXED)),
                            .maximum = length(__atomic_load_n(&op->longest, __ATOMIC_RELAXED))};
    p = &cp->paths[found];
    p->calls += all.calls;
    p->total += all.total;
    p->exclusive += all.total;
    if (all.minimum < p->minimum)
        p->minimum = all.minimum;
    if (all.maximum > p->maximum)
        p->maximum = all.maximum;
    if (cp->depth > 0)
        cp->stack[cp->depth - 1].in_children += all.total;
    return sc_totals_add(&cp->totals, &all);
}

static int take_op(struct sc_callpath *cp, const struct sc_op *op, uint64_t last)
{
    int rc;

    if (last != 0 && sc_op_is_late(op, last))
        return 0;
    if ((op->flags & SC_OP_MANY) != 0)
        return take_many(cp, op);
    rc = enter(cp, op->region, sc_clock_ns(op->start), NULL, sc_clock_ns(op->end));
    if (rc != 0)
        return rc;
    return sc_account_op(&cp->totals, cp->stack[cp->depth - 1].path, op, last != 0);
}

/* Takes the earlier of the two that come next; both are there or NULL. */
static int take_next(struct sc_callpath *cp, uint64_t last)
{
    uint64_t event_start = cp->event == NULL ? UINT64_MAX : sc_event_start(cp->event);
    uint64_t op_start = cp->op == NULL ? UINT64_MAX : cp->op->start;
    int64_t start = sc_clock_ns(op_start < event_start ? op_start : event_start);
    int rc;

    leave_until(cp, start, last);
    if (op_start < event_start) {
        rc = take_op(cp, cp->op, last);
        cp->op = NULL;
    } else {
        /* No part of the recording: what a thread that did not notice the end begins after it, and
         * a region by a handle that was never given out. */
        rc = (last != 0 && event_start > last) || sc_event_region(cp->event) >= sc_region_count()
                 ? 0
                 : enter(cp, sc_event_region(cp->event), start, cp->event, 0);
        cp->event = NULL;
    }
    return rc;
}

int sc_callpath_replay(struct sc_callpath *cp, struct sc_thread *t, uint64_t last)
{
    int rc = 0;

    sc_cursor_renew_events(&cp->events, t);
    sc_cursor_renew_ops(&cp->ops, t);
    for (;;) {
        int failed;

        if (cp->event == NULL)
            cp->event = sc_cursor_event(&cp->events);
        if (cp->op == NULL)
            cp->op = sc_cursor_op(&cp->ops);
        if (cp->event == NULL && cp->op == NULL)
            break;
        failed = take_next(cp, last);
        if (failed != 0)
            rc = failed;
    }
    if (last != 0) {
        leave_until(cp, INT64_MAX - 1, last);
        if (sc_account_orphans(&cp->totals, t) != 0)
            rc = SC_ENOMEM;
    }
    if (sc_account_late(&cp->totals, t, last != 0) != 0)
        rc = SC_ENOMEM;
    return rc;
}

void sc_callpath_forget_ops(struct sc_callpath *cp)
{
    const struct frame *last = cp->depth > 0 ? &cp->stack[cp->depth - 1] : NULL;

    /* An operation has ended, whatever comes next, and is to be in what is saved now. */
    if (last != NULL && last->event == NULL)
        leave_until(cp, last->end, 0);
    cp->ops = (struct sc_cursor){0};
}

/* ---- totals that outlive the process ---- */

static void add_path(struct sc_path *to, const struct sc_path *from)
{
    to->calls += from->calls;
    to->total += from->total;
    to->exclusive += from->exclusive;
    if (from->minimum < to->minimum)
        to->minimum = from->minimum;
    if (from->maximum > to->maximum)
        to->maximum = from->maximum;
}

struct saved {
    uint64_t paths, totals, peers;
};

int sc_callpath_save(const struct sc_callpath *cp, struct sc_thread *t, struct sc_string *out)
{
    struct saved head = {cp->path_count, cp->totals.count, cp->totals.peer_count};
    int rc = sc_string_append(out, &head, sizeof head);

    if (rc == 0)
        rc = sc_string_append(out, cp->paths, cp->path_count * sizeof *cp->paths);
    if (rc == 0)
        rc = sc_string_append(out, cp->totals.peer, head.peers * sizeof *cp->totals.peer);
    if (rc == 0)
        rc = sc_string_append(out, cp->totals.total, head.totals * sizeof *cp->totals.total);
    return rc == 0 ? sc_account_save(t, out) : rc;
}

/* Paths of operations have their numbers; those of events are counted from the events. */
static int restore_path(struct sc_callpath *cp, const struct sc_path *saved, uint32_t *map,
                        size_t i, const struct sc_saved_limits *limits)
{
    int32_t parent = saved->parent < 0 ? -1 : (int32_t)map[saved->parent];
    uint32_t region = limits->region[saved->region];
    int64_t to = path_of(cp, parent, region);

    if (to < 0)
        return SC_ENOMEM;
    map[i] = (uint32_t)to;
    if (sc_region_get(region)->kind != SC_REGION_MPI)
        return 0;
    add_path(&cp->paths[to], saved);
    if (parent >= 0)
        cp->paths[parent].exclusive -= saved->total;
    return 0;
}

static int32_t limited(int32_t number, size_t count)
{
    return number >= 0 && (size_t)number < count ? number : -1;
}

static int restore_total(struct sc_callpath *cp, struct sc_total total, const uint32_t *map,
                         const struct sc_saved_limits *limits)
{
    if (total.total < 0 || total.await < 0 || total.in_flight < 0 || total.maximum < 0 ||
        (total.calls > 0 && (total.minimum < 0 || total.minimum > total.maximum)))
        return 0;
    total.path = map[total.path];
    if (total.size_class > 64)
        return 0;
    total.comm = limited(total.comm, limits->comms);
    total.object = limited(total.object, limits->objects);
    total.site = limited(total.site, limits->sites);
    return sc_totals_add(&cp->totals, &total);
}

int sc_callpath_restore(struct sc_callpath *cp, const char *bytes, size_t length,
                        const struct sc_saved_limits *limits)
{
    struct saved head;
    struct sc_path path;
    struct sc_peer peer;
    struct sc_total total;
    uint32_t *map;
    const char *at = bytes + sizeof head;
    int rc = 0;

    if (length < sizeof head)
        return SC_EFORMAT;
    memcpy(&head, bytes, sizeof head);
    length -= sizeof head;
    if (head.paths > length / sizeof path || head.peers > length / sizeof peer ||
        head.paths * sizeof path + head.peers * sizeof peer > length)
        return SC_EFORMAT;
    map = malloc((head.paths + 1) * sizeof *map);
    if (map == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; rc == 0 && i < head.paths; i++, at += sizeof path) {
        memcpy(&path, at, sizeof path);
        rc = path.region >= limits->regions || path.parent < -1 || path.parent >= (int64_t)i ||
                     path.total < 0 || path.maximum < 0 ||
                     (path.calls > 0 && (path.minimum < 0 || path.minimum > path.maximum))
                 ? SC_EFORMAT
                 : restore_path(cp, &path, map, i, limits);
    }
    for (size_t i = 0; rc == 0 && i < head.peers; i++, at += sizeof peer) {
        memcpy(&peer, at, sizeof peer);
        if (peer.peer < 0 || (limits->ranks >= 0 && peer.peer >= limits->ranks))
            peer.peer = -1;
        rc = sc_totals_add_peer(&cp->totals, &peer);
    }
    for (; rc == 0 && (size_t)(bytes + sizeof head + length - at) >= sizeof total;
         at += sizeof total) {
        memcpy(&total, at, sizeof total);
        rc = total.path >= head.paths ? SC_EFORMAT : restore_total(cp, total, map, limits);
    }
    free(map);
    return rc;
}

/* ---- results ---- */

int sc_callpath_merge(struct sc_callpath *dst, const struct sc_callpath *src)
{
    uint32_t *map = malloc((src->path_count + 1) * sizeof *map);
    int rc = map == NULL ? SC_ENOMEM : 0;

    for (size_t i = 0; rc == 0 && i < src->path_count; i++) {
        const struct sc_path *p = &src->paths[i];
        int64_t to = path_of(dst, p->parent < 0 ? -1 : (int32_t)map[p->parent], p->region);
        if (to < 0) {
            rc = SC_ENOMEM;
        } else {
            map[i] = (uint32_t)to;
            add_path(&dst->paths[to], p);
        }
    }
    for (size_t i = 0; rc == 0 && i < src->totals.count; i++) {
        struct sc_total more = src->totals.total[i];
        more.path = map[more.path];
        rc = sc_totals_add(&dst->totals, &more);
    }
    for (size_t i = 0; rc == 0 && i < src->totals.peer_count; i++)
        rc = sc_totals_add_peer(&dst->totals, &src->totals.peer[i]);
    free(map);
    return rc;
}

const struct sc_path *sc_callpath_paths(const struct sc_callpath *cp, size_t *count)
{
    *count = cp->path_count;
    return cp->paths;
}

const struct sc_totals *sc_callpath_totals(const struct sc_callpath *cp)
{
    return &cp->totals;
}
