/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * buffer: where threads put what they record. Every thread has two lanes of its own, one of region
 * events (the layout of scope.h) and one of operations (what a communication layer adds: one cache
 * line per call). A lane is a chain of 1 MiB blocks that grows without moving anything; only its
 * owner writes to it, and a drain may read at the same time. Threads that have ended leave their
 * lanes to the next new thread.
 */
#ifndef SC_BUFFER_H
#define SC_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCOPE_NO_INLINE
#include "scope.h"
#undef SCOPE_NO_INLINE

/* Values of scope_mode_1_; scope.h says what the inline path does with them. */
enum { SC_MODE_OFF, SC_MODE_INLINE, SC_MODE_CALL, SC_MODE_PAUSED };

/* An operation: an event with attributes. end == 0 while it is under way. */
struct sc_op {
    uint64_t start; /* ticks */
    uint64_t end;
    uint64_t sent;     /* bytes this rank sent to others */
    uint64_t received; /* bytes this rank received from others */
    int64_t request;   /* id of the request it started, -1 none */
    uint32_t region;
    int32_t comm;  /* the layer's own communicator number, -1 none */
    int32_t root;  /* world rank, -1 none */
    int32_t error; /* the layer's return code */
    int32_t reserved[2];
};

struct sc_block; /* one 1 MiB block of a lane */

struct sc_lane {
    struct sc_block *first;
    struct sc_block *last;
};

/* What the slow paths counted for one thread; the names are those of struct sc_row_rank. Written by
 * the owner with sc_count(), read by a drain. */
struct sc_counts {
    uint64_t lost, paused, unmatched, unfinished, crossed;
    uint64_t memory_bytes;
    uint64_t own_memory_ns;
    uint64_t threads; /* that recorded into these lanes, one after the other */
};

/* Owner thread. */
static inline void sc_count(uint64_t *counter, uint64_t more)
{
    __atomic_store_n(counter, *counter + more, __ATOMIC_RELAXED);
}

struct sc_thread {
    struct scope_thread_1_ hot; /* first: scope_thread_1_ points here */
    struct sc_op *op_next;      /* next free operation, stored with release */
    struct sc_op *op_limit;
    /* The frame of the recorded call that the thread is in: calls made by deeper frames are part of
     * it. One that was left by longjmp() or an exception is not undone, but no frame above it is
     * deeper. */
    void *inside;
    unsigned generation;           /* of the recording its lanes belong to */
    struct scope_event_1_ *hidden; /* open events while lost_depth > 0 */
    uint64_t lost_depth;           /* open calls that found no memory */
    struct sc_lane events;
    struct sc_lane ops;
    struct sc_block *retired; /* op blocks given up while a drain may look at them */
    struct sc_counts counts;
    struct sc_callpath *callpath;  /* replay of this thread so far; callpath.h */
    struct sc_thread *next_thread; /* registry of all, never shortened */
    struct sc_thread *next_idle;
};

/* Starts a recording: every thread that records from here on begins with empty lanes. The caller
 * makes sure that no other recording runs. */
void sc_buffer_start(void);

/* Ends it: what later arrives from threads that did not notice is thrown away; memory goes back. */
void sc_buffer_stop(void);

/* Any thread. The calling thread's state in the present recording, made at need; NULL: no memory.
 */
struct sc_thread *sc_buffer_thread(void);

/* Any thread. Iterates the threads that took part in the present recording: NULL gives the first.
 */
struct sc_thread *sc_buffer_next_thread(struct sc_thread *after);

/* first_events: what the first block of a lane offers before it grows, for lanes that begin after
 * the call. keep_ops: false: operations are replayed into totals and forgotten whenever their room
 * is used up. */
void sc_buffer_policy(size_t first_events, bool keep_ops);
bool sc_buffer_keeps_ops(void);

/* Owner thread. Room for one more event or operation behind t->hot.next or t->op_next; false: no
 * memory. Not while an operation of the thread is under way. */
bool sc_buffer_grow_events(struct sc_thread *t);
bool sc_buffer_grow_ops(struct sc_thread *t);

/* Marks what is no event: a call begun while paused; its start is region + 1. Never stored in a
 * file. */
#define SC_REGION_VOID UINT16_MAX

/*
 * Any thread, while lanes grow. A cursor gives what a lane held when sc_cursor_renew() last looked,
 * without what is no event (void, not begun yet) or no complete operation, and goes on where it was
 * after another renewal. All zeros is one at the lane's beginning.
 */
struct sc_cursor {
    struct sc_block *block;
    char *at;  /* next record; NULL at the lane's beginning */
    char *end; /* of the lane, as last seen */
};
void sc_cursor_renew_events(struct sc_cursor *c, struct sc_thread *t);
void sc_cursor_renew_ops(struct sc_cursor *c, struct sc_thread *t);
struct scope_event_1_ *sc_cursor_event(struct sc_cursor *c); /* the next one, NULL: no more now */
struct sc_op *sc_cursor_op(struct sc_cursor *c);

static inline uint32_t sc_event_region(struct scope_event_1_ *e)
{
    return __atomic_load_n(scope_event_region_(e), __ATOMIC_RELAXED);
}

static inline uint64_t sc_event_start(const struct scope_event_1_ *e)
{
    return __atomic_load_n(&e->start, __ATOMIC_RELAXED);
}

/* The end of an event in ticks: its own, or `open` while it has none. */
static inline uint64_t sc_event_end(const struct scope_event_1_ *e, uint64_t open)
{
    uint64_t end = __atomic_load_n(&e->end, __ATOMIC_RELAXED);
    return (end & SCOPE_OPEN_) != 0 ? open : end;
}

#endif
