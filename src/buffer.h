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

#include "image.h"

#define SCOPE_NO_INLINE
#include "scope.h"
#undef SCOPE_NO_INLINE

/* Values of scope_mode_1_; scope.h says what the inline path does with them. */
enum { SC_MODE_OFF, SC_MODE_INLINE, SC_MODE_CALL, SC_MODE_PAUSED };

/*
 * An operation: an event with attributes. end == 0 while it is under way. 64 bytes, one cache line.
 * Calls that are counted but are no events of their own (polls that complete nothing, cheap
 * queries) share one with SC_OP_MANY: all of one routine and site within one instance of the
 * innermost open region, from the first call's start to the last one's end.
 */
enum sc_op_flag {
    SC_OP_FAILED = 1, /* tag is the layer's return code; no other attribute is known */
    SC_OP_MANY = 2,
    SC_OP_SENDS = 4,    /* sent is a point-to-point message to peer */
    SC_OP_RECEIVES = 8, /* received is a point-to-point message from peer */
    SC_OP_RMA = 16      /* sent and received are one-sided transfers to and from peer */
};

struct sc_op {
    uint64_t start; /* ticks */
    uint64_t end;
    union {
        struct {
            uint64_t sent;     /* bytes this rank sent to others; for a file: written */
            uint64_t received; /* bytes this rank received from others; for a file: read */
        };
        struct { /* SC_OP_MANY */
            uint64_t calls;
            uint64_t ticks; /* their sum */
        };
    };
    union {
        struct sc_part *parts; /* what it started, or did beside what the fields below say */
        uint64_t longest;      /* SC_OP_MANY: ticks */
    };
    uint16_t region;
    uint16_t flags; /* enum sc_op_flag */
    int32_t site;   /* where it was called from, site.h; -1 none */
    union {
        struct {
            int32_t comm;   /* the layer's own communicator number, -1 none */
            int32_t object; /* the layer's own number of a file or window, -1 none */
            int32_t peer;   /* world rank of the root, of the other end or of the target, -1 none */
            int32_t tag;    /* -1 none */
        };
        uint64_t shortest; /* SC_OP_MANY: ticks */
    };
};

/*
 * A part of an operation that has a life or a peer of its own: what a non-blocking, persistent or
 * partitioned call started, the receiving half of a send-receive. Bytes and messages of an
 * operation are its own and those of its parts together. Written by whoever completes it, after
 * which state becomes SC_PART_DONE with release; an owner that forgets the operation before that
 * makes it SC_PART_ORPHAN, and then the completion hands the part to its thread (sc_part_done()).
 */
enum sc_part_state { SC_PART_PENDING, SC_PART_ORPHAN, SC_PART_DONE };

enum sc_part_flag {
    SC_PART_SENDS = 1, /* sent is a point-to-point message to peer; the operation has none then */
    SC_PART_RECEIVES = 2, /* received is one from peer, once done */
    SC_PART_CANCELLED = 4,
    SC_PART_REQUEST = 8 /* has an id, a time of completion and a time waited for */
};

struct sc_waiting; /* account.c */
struct sc_part {
    struct sc_part *next; /* of the same operation; later of its thread's late or free ones */
    struct sc_thread *thread;
    int64_t id;    /* of the request, -1 none */
    uint64_t sent; /* bytes beside the operation's */
    uint64_t received;
    uint64_t done;  /* ticks at completion, 0 never */
    uint64_t await; /* ticks the program was in the call that completed it */
    int32_t comm;   /* as in the operation; may differ from it */
    int32_t peer;
    int32_t tag;
    uint16_t flags; /* enum sc_part_flag */
    uint16_t state; /* enum sc_part_state, atomic */
    /* An orphan's: what of the totals waits for it, and when its call ended, ns. */
    struct sc_waiting *waiting;
    int64_t posted;
    uint64_t spare[5];
};

struct sc_block; /* one 1 MiB block of a lane */

struct sc_lane {
    struct sc_block *first;
    struct sc_block *last;
    struct sc_block *before_last;
    uint64_t blocks; /* that it ever had */
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

enum { SC_MANY = 32 };

struct sc_thread {
    struct scope_thread_1_ hot; /* first: scope_thread_1_ points here */
    struct sc_op *op_next;      /* next free operation, stored with release */
    struct sc_op *op_limit;
    struct sc_part *part_next; /* next free part behind all others, stored with release */
    struct sc_part *part_limit;
    struct sc_part *part_free; /* parts of forgotten operations, to be used again */
    struct sc_part *late;      /* orphans that were completed; any thread pushes, owner takes all */
    /* Operations with SC_OP_MANY that may still grow, near the place of their routine and site. */
    struct sc_many {
        struct sc_op *op;
        const struct scope_event_1_ *within; /* innermost open region */
    } many[SC_MANY];
    /* The frame of the recorded call that the thread is in: calls made by deeper frames are part of
     * it. One that was left by longjmp() or an exception is not undone, but no frame above it is
     * deeper. */
    void *inside;
    unsigned generation;           /* of the recording its lanes belong to */
    uint32_t number;               /* 0, 1, ... in order of making */
    struct scope_event_1_ *hidden; /* open events while lost_depth > 0 */
    uint64_t lost_depth;           /* open calls that found no memory */
    struct sc_lane events;
    struct sc_lane ops;
    struct sc_lane parts;
    struct sc_block *retired; /* op blocks given up while a drain may look at them */
    struct sc_block *stale;   /* parts of the recording before, which a late completion may touch */
    struct sc_counts counts;
    struct sc_image_place totals[2]; /* of operations that were forgotten, in turn */
    uint64_t totals_number;
    struct sc_callpath *callpath;  /* replay of this thread so far; callpath.h */
    struct sc_thread *next_thread; /* registry of all, never shortened */
    struct sc_thread *next_idle;
};

/* Starts a recording: every thread that records from here on begins with empty lanes. The caller
 * makes sure that no other recording runs. */
void sc_buffer_start(void);

/* In a child after fork(): what was recorded is the parent's, its memory in part as well. */
void sc_buffer_forked(void);

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

/* For a process that records nothing: its lanes become those that another one left. Makes what is
 * there the past, then makes a thread, NULL: no memory, then appends blocks to its lanes in order,
 * of which nothing but zeros is behind the last record. False: no memory. */
void sc_buffer_restore(void);
struct sc_thread *sc_buffer_restore_thread(void);
bool sc_buffer_restore_block(struct sc_thread *t, enum sc_extent_kind kind, char *base);

/* Where the records of a lane begin in each of its blocks. */
size_t sc_buffer_data_at(enum sc_extent_kind kind);

/* Owner thread. Room for one more event or operation behind t->hot.next or t->op_next; false: no
 * memory. Not while an operation of the thread is under way. */
bool sc_buffer_grow_events(struct sc_thread *t);
bool sc_buffer_grow_ops(struct sc_thread *t);

/* Owner thread. A part with no attributes for an operation that is under way, linked to it; NULL:
 * no memory, counted as lost. */
struct sc_part *sc_part_add(struct sc_thread *t, struct sc_op *op);

/* Any thread. The part's fields are final. */
void sc_part_done(struct sc_part *part);

/* Owner thread. Adds a call to the operation with SC_OP_MANY that it belongs to, or makes one. Not
 * while an operation of the thread is under way. */
void sc_buffer_count_call(struct sc_thread *t, uint32_t region, int32_t site, uint64_t start,
                          uint64_t end);

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

/* The same for the parts: all that were ever taken, whatever their state. */
void sc_cursor_renew_parts(struct sc_cursor *c, struct sc_thread *t);
struct sc_part *sc_cursor_part(struct sc_cursor *c);

/* What a thread that did not notice the end of the recording, at that tick, begins or ends after it
 * is no part of the recording. */
static inline bool sc_op_is_late(const struct sc_op *op, uint64_t last)
{
    return ((op->flags & SC_OP_MANY) != 0 ? op->start : op->end) > last;
}

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
