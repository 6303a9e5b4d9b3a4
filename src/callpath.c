/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "callpath.h"

#include <stdlib.h>

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

/* Open addressing over indexes: entry + 1, 0 free. */
struct index {
    uint32_t *slots;
    size_t count; /* a power of two */
};

struct sc_callpath {
    struct sc_path *paths;
    size_t path_count, path_capacity;
    struct index by_path;
    struct sc_total *totals;
    size_t total_count, total_capacity;
    struct index by_total;
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
    free(cp->totals);
    free(cp->by_total.slots);
    free(cp->stack);
    free(cp);
}

/* ---- the two tables ---- */

static uint64_t mix(uint64_t x)
{
    x *= 0x9E3779B97F4A7C15u;
    return x ^ (x >> 32);
}

static uint64_t path_hash(int32_t parent, uint32_t region)
{
    return mix((uint64_t)(uint32_t)parent << 32 | region);
}

static uint64_t total_hash(uint32_t path, int32_t comm, uint32_t size_class)
{
    return mix(((uint64_t)path << 32 | (uint32_t)comm) ^ (uint64_t)size_class << 56);
}

/* Empties the index with room for twice what it has to hold; true when it did. */
static int index_grow(struct index *ix, size_t entries)
{
    size_t wanted = ix->count == 0 ? 64 : ix->count;
    uint32_t *slots;

    while (wanted < entries * 4)
        wanted *= 2;
    slots = calloc(wanted, sizeof *slots);
    if (slots == NULL)
        return SC_ENOMEM;
    free(ix->slots);
    ix->slots = slots;
    ix->count = wanted;
    return 0;
}

static uint32_t *path_slot(const struct sc_callpath *cp, int32_t parent, uint32_t region)
{
    size_t i = path_hash(parent, region) & (cp->by_path.count - 1);

    for (; cp->by_path.slots[i] != 0; i = (i + 1) & (cp->by_path.count - 1)) {
        const struct sc_path *p = &cp->paths[cp->by_path.slots[i] - 1];
        if (p->parent == parent && p->region == region)
            break;
    }
    return &cp->by_path.slots[i];
}

static uint32_t *total_slot(const struct sc_callpath *cp, uint32_t path, int32_t comm,
                            uint32_t size_class)
{
    size_t i = total_hash(path, comm, size_class) & (cp->by_total.count - 1);

    for (; cp->by_total.slots[i] != 0; i = (i + 1) & (cp->by_total.count - 1)) {
        const struct sc_total *t = &cp->totals[cp->by_total.slots[i] - 1];
        if (t->path == path && t->comm == comm && t->size_class == size_class)
            break;
    }
    return &cp->by_total.slots[i];
}

/* The path of region under parent, made at need; negative status. */
static int64_t path_of(struct sc_callpath *cp, int32_t parent, uint32_t region)
{
    uint32_t *slot;

    if (cp->path_count * 2 >= cp->by_path.count) {
        if (index_grow(&cp->by_path, cp->path_count + 1) != 0)
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

static struct sc_total *total_of(struct sc_callpath *cp, uint32_t path, int32_t comm,
                                 uint32_t size_class)
{
    uint32_t *slot;

    if (cp->total_count * 2 >= cp->by_total.count) {
        if (index_grow(&cp->by_total, cp->total_count + 1) != 0)
            return NULL;
        for (uint32_t i = 0; i < cp->total_count; i++)
            *total_slot(cp, cp->totals[i].path, cp->totals[i].comm, cp->totals[i].size_class) =
                i + 1;
    }
    slot = total_slot(cp, path, comm, size_class);
    if (*slot == 0) {
        if (sc_array_reserve(&cp->totals, &cp->total_capacity, cp->total_count + 1,
                             sizeof *cp->totals) != 0)
            return NULL;
        cp->totals[cp->total_count] = (struct sc_total){
            .path = path, .comm = comm, .size_class = size_class, .minimum = INT64_MAX};
        *slot = (uint32_t)++cp->total_count;
    }
    return &cp->totals[*slot - 1];
}

/* ---- replay ---- */

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

static int take_op(struct sc_callpath *cp, const struct sc_op *op)
{
    int64_t start = sc_clock_ns(op->start), end = sc_clock_ns(op->end);
    int64_t time = end > start ? end - start : 0;
    uint64_t bytes = op->sent > op->received ? op->sent : op->received;
    struct sc_total *total;
    int rc = enter(cp, op->region, start, NULL, end);

    if (rc != 0)
        return rc;
    total = total_of(cp, cp->stack[cp->depth - 1].path, op->comm, sc_size_class(bytes));
    if (total == NULL)
        return SC_ENOMEM;
    total->calls++;
    total->sent += op->sent;
    total->received += op->received;
    total->total += time;
    if (time < total->minimum)
        total->minimum = time;
    if (time > total->maximum)
        total->maximum = time;
    return 0;
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
        rc = take_op(cp, cp->op);
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
    if (last != 0)
        leave_until(cp, INT64_MAX - 1, last);
    return rc;
}

void sc_callpath_forget_ops(struct sc_callpath *cp)
{
    cp->ops = (struct sc_cursor){0};
}

/* ---- results ---- */

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
    for (size_t i = 0; rc == 0 && i < src->total_count; i++) {
        const struct sc_total *from = &src->totals[i];
        struct sc_total *to = total_of(dst, map[from->path], from->comm, from->size_class);
        if (to == NULL) {
            rc = SC_ENOMEM;
            break;
        }
        to->calls += from->calls;
        to->sent += from->sent;
        to->received += from->received;
        to->total += from->total;
        if (from->minimum < to->minimum)
            to->minimum = from->minimum;
        if (from->maximum > to->maximum)
            to->maximum = from->maximum;
    }
    free(map);
    return rc;
}

const struct sc_path *sc_callpath_paths(const struct sc_callpath *cp, size_t *count)
{
    *count = cp->path_count;
    return cp->paths;
}

const struct sc_total *sc_callpath_totals(const struct sc_callpath *cp, size_t *count)
{
    *count = cp->total_count;
    return cp->totals;
}

uint32_t sc_size_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(bytes);
}
