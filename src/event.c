/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * event: the slow paths of scope_begin() and scope_end(): a block is full, recording is paused, the
 * clock cannot be read inline, memory is short, or ends do not match begins. Any thread; errno is
 * kept.
 *
 * The open events of a thread form a chain through their end words, innermost first. A call begun
 * while paused takes part in it as a void event, so that its end never closes another; one that
 * found no memory hides the chain until it has ended.
 */
#include "buffer.h"
#include "clock.h"

#define LINK_MASK (~(SCOPE_OPEN_ | SCOPE_CROSSED_))

static struct scope_event_1_ *enclosing(const struct scope_event_1_ *e)
{
    return (struct scope_event_1_ *)(uintptr_t)(e->end & LINK_MASK);
}

static void link_above(struct sc_thread *t, struct scope_event_1_ *above, struct scope_event_1_ *e)
{
    if (above == NULL)
        t->hot.open = e;
    else
        __atomic_store_n(&above->end, (above->end & ~LINK_MASK) | (uintptr_t)e, __ATOMIC_RELAXED);
}

/* A new open event, its start not set; NULL: no memory. */
static struct scope_event_1_ *reserve(struct sc_thread *t, uint16_t region)
{
    struct scope_event_1_ *e;

    if (t->hot.next >= __atomic_load_n(&t->hot.limit, __ATOMIC_RELAXED) &&
        !sc_buffer_grow_events(t))
        return NULL;
    e = t->hot.next;
    __atomic_store_n(scope_event_region_(e), region, __ATOMIC_RELAXED);
    __atomic_store_n(&e->end, SCOPE_OPEN_ | (uintptr_t)t->hot.open, __ATOMIC_RELAXED);
    t->hot.open = e;
    __atomic_store_n(&t->hot.next, e + 1, __ATOMIC_RELEASE);
    return e;
}

static void hide_open(struct sc_thread *t)
{
    if (t->lost_depth++ == 0) {
        t->hidden = t->hot.open;
        t->hot.open = NULL;
    }
    sc_count(&t->counts.lost, 1);
}

void scope_begin_1_(int region)
{
    struct sc_thread *t = (unsigned)region >= SCOPE_REGIONS_ ? NULL : sc_buffer_thread();
    bool paused = __atomic_load_n(&scope_mode_1_, __ATOMIC_RELAXED) == SC_MODE_PAUSED;
    struct scope_event_1_ *e;

    if (t == NULL)
        return;
    e = t->lost_depth > 0 ? NULL : reserve(t, paused ? SC_REGION_VOID : (uint16_t)region);
    if (paused)
        sc_count(&t->counts.paused, 1);
    if (e == NULL)
        hide_open(t);
    else
        __atomic_store_n(&e->start, paused ? (uint64_t)region + 1 : sc_clock_ticks(),
                         __ATOMIC_RELAXED);
}

static bool is_call_of(struct scope_event_1_ *e, int region)
{
    uint32_t stored = sc_event_region(e);

    return stored == (uint32_t)region ||
           (stored == SC_REGION_VOID && e->start == (uint64_t)region + 1);
}

/* e is no longer in the chain. The place of a void event is taken back if nothing came after it. */
static void close_event(struct sc_thread *t, struct scope_event_1_ *e, uint64_t ticks)
{
    __atomic_store_n(&e->end, ticks, __ATOMIC_RELAXED);
    if (sc_event_region(e) == SC_REGION_VOID && e + 1 == t->hot.next) {
        __atomic_store_n(&e->start, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&t->hot.next, e, __ATOMIC_RELEASE);
    }
}

/*
 * The region ends while others begun inside it are open. They may be about to end (A{ B{ A} B}) or
 * never will (longjmp). An event stays open over the first such end and is closed at the second.
 */
static void end_below(struct sc_thread *t, struct scope_event_1_ *target, uint64_t ticks)
{
    struct scope_event_1_ *above = NULL;

    sc_count(&t->counts.crossed, 1);
    for (struct scope_event_1_ *e = t->hot.open, *next; e != target; e = next) {
        next = enclosing(e);
        if ((e->end & SCOPE_CROSSED_) != 0) {
            link_above(t, above, next);
            close_event(t, e, ticks);
            sc_count(&t->counts.unfinished, 1);
        } else {
            __atomic_store_n(&e->end, e->end | SCOPE_CROSSED_, __ATOMIC_RELAXED);
            above = e;
        }
    }
    link_above(t, above, enclosing(target));
    close_event(t, target, ticks);
}

void scope_end_1_(int region, uint64_t ticks)
{
    struct sc_thread *t = (unsigned)region >= SCOPE_REGIONS_ ? NULL : sc_buffer_thread();
    struct scope_event_1_ *e;

    if (ticks == 0)
        ticks = sc_clock_ticks();
    if (t == NULL)
        return;
    if (t->lost_depth > 0 && t->hot.open == NULL) {
        if (--t->lost_depth == 0)
            t->hot.open = t->hidden;
        return;
    }
    e = t->hot.open;
    if (e != NULL && is_call_of(e, region)) {
        t->hot.open = enclosing(e);
        close_event(t, e, ticks);
        return;
    }
    while (e != NULL && !is_call_of(e, region))
        e = enclosing(e);
    if (e == NULL)
        sc_count(&t->counts.unmatched, 1);
    else
        end_below(t, e, ticks);
}
