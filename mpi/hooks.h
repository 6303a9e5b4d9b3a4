/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * hooks: what a wrapper does around a call of MPI: reserve an operation, stamp, stamp, fill in,
 * publish. Included by the generated wrappers and by hand.c; any thread. Nothing in here takes a
 * lock, allocates or calls MPI once a thread has room for operations.
 */
#ifndef SC_HOOKS_H
#define SC_HOOKS_H

#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "bytes.h"
#include "clock.h"
#include "comm.h"
#include "list.h"
#include "object.h"
#include "request.h"
#include "runtime.h"
#include "site.h"

/* Wrappers must be seen however this file and MPI's header are compiled. */
#define SC_EXPORT __attribute__((visibility("default")))
#define SC_APART __attribute__((noinline))

struct sc_routine {
    const char *name;
    const char *tags; /* JSON list */
    int32_t region;   /* -1 until sc_hooks_prepare() */
};

/* Every wrapped routine of this MPI; generated. */
extern struct sc_routine sc_routines[];
extern const int sc_routine_count;

struct sc_call {
    struct sc_thread *thread;
    struct sc_op *op;
    unsigned generation; /* of the recording that op belongs to */
    int saved_errno;
    /* Found before the call, since it may be gone after it; NULL, -1: nothing. */
    const struct sc_comm *comm;
    int32_t object;
};

/* Any thread. Registers the routines and begins to follow communicators (once). False: this process
 * does not run MPI, or another one than the library was built for. */
bool sc_hooks_prepare(void);

/* The thread's first operation, or its room is used up, or recording is paused; as sc_enter() or,
 * with kept, sc_enter_kept(). */
bool sc_enter_slowly(struct sc_call *call, struct sc_op *kept, struct sc_routine *routine,
                     const void *site, int mode);

/* Publishes a kept operation, or adds it to those that are only counted. */
void sc_leave_kept(struct sc_call *call, uint64_t end, int rc, bool is_row);

/* Around the calls that begin and end MPI, of any language: recording begins before MPI does, so
 * that its start is seen, and what is recorded is published before MPI ends. */
uint64_t sc_init_begins(void); /* ticks */
void sc_init_ended(struct sc_routine *routine, const void *site, uint64_t start, int rc);
void sc_finalize_begins(const void *site);

/* The library's own cost of a recorded call, measured when MPI started; ns. 0: not measured. */
double sc_hooks_cost(void);

/* Hot path. True: a wrapper has nothing to do (sleeps: not even to follow communicators) but to
 * forward its arguments. It does so before anything else, from a function of its own, so that they
 * stay in the registers they came in: they may be handles of another MPI, wider than this one's. */
static inline bool sc_is_off(void)
{
    return __atomic_load_n(&sc_runtime_ops_mode, __ATOMIC_RELAXED) == SC_OPS_OFF;
}

static inline bool sc_sleeps(void)
{
    return sc_is_off() && __atomic_load_n(&sc_comm_is_followed, __ATOMIC_RELAXED) == 0;
}

/* MPICH's Fortran entries come by the C wrappers: where they were called from themselves, while the
 * thread is in one; else the C call's own site. */
#if defined(MPICH_VERSION)
extern __thread const void *sc_fortran_site __attribute__((tls_model("initial-exec")));

static inline const void *sc_site_above(const void *site)
{
    return sc_fortran_site != NULL ? sc_fortran_site : site;
}
#else
static inline const void *sc_site_above(const void *site)
{
    return site;
}
#endif

/* Hot path. The call's operation, as empty as it is when it fails. */
static inline void sc_prepare(struct sc_call *call, struct sc_thread *t, struct sc_op *op,
                              uint16_t region, const void *site)
{
    call->thread = t;
    call->op = op;
    call->generation = t->generation;
    op->sent = op->received = 0;
    op->parts = NULL;
    op->region = region;
    op->flags = 0;
    op->site = sc_site_of(sc_site_above(site));
    op->comm = op->object = op->peer = op->tag = -1;
    t->inside = call;
}

/* Hot path. Takes the next operation of the thread, which has room. */
static inline void sc_reserve(struct sc_call *call, struct sc_thread *t, uint16_t region,
                              const void *site)
{
    struct sc_op *op = t->op_next;

    __atomic_store_n(&op->start, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&op->end, 0, __ATOMIC_RELAXED);
    sc_prepare(call, t, op, region, site);
    /* Pairs with the acquire in sc_cursor_renew_ops(): the operation is under way, not garbage. */
    __atomic_store_n(&t->op_next, op + 1, __ATOMIC_RELEASE);
}

/* Hot path. True: the call is recorded, and sc_start(), sc_stop() and sc_leave() must follow. */
static inline bool sc_enter(struct sc_call *call, struct sc_routine *routine, const void *site)
{
    int mode = __atomic_load_n(&sc_runtime_ops_mode, __ATOMIC_RELAXED);
    struct sc_thread *t;
    int32_t region;

    if (mode == SC_OPS_OFF)
        return false;
    t = (struct sc_thread *)(void *)scope_thread_1_;
    region = __atomic_load_n(&routine->region, __ATOMIC_RELAXED);
    if (__builtin_expect(t->inside != NULL, 0) && (void *)call < t->inside)
        return false; /* made inside a recorded call, whose frame lies above */
    if (__builtin_expect(mode != SC_OPS_RECORD || region < 0 ||
                             t->op_next >= __atomic_load_n(&t->op_limit, __ATOMIC_RELAXED),
                         0))
        return sc_enter_slowly(call, NULL, routine, site, mode);
    sc_reserve(call, t, (uint16_t)region, site);
    return true;
}

/* Hot path. The same for a call that may turn out to be no row: its operation is kept by the caller
 * and sc_leave_kept() decides. */
static inline bool sc_enter_kept(struct sc_call *call, struct sc_op *kept,
                                 struct sc_routine *routine, const void *site)
{
    int mode = __atomic_load_n(&sc_runtime_ops_mode, __ATOMIC_RELAXED);
    struct sc_thread *t = (struct sc_thread *)(void *)scope_thread_1_;
    int32_t region = __atomic_load_n(&routine->region, __ATOMIC_RELAXED);

    if (mode == SC_OPS_OFF || (t->inside != NULL && (void *)call < t->inside))
        return false;
    if (__builtin_expect(mode != SC_OPS_RECORD || region < 0 ||
                             t->op_next >= __atomic_load_n(&t->op_limit, __ATOMIC_RELAXED),
                         0))
        return sc_enter_slowly(call, kept, routine, site, mode);
    sc_prepare(call, t, kept, (uint16_t)region, site);
    return true;
}

/* The two stamps; the call to MPI stands alone between them. */
static inline void sc_start(struct sc_call *call)
{
    __atomic_store_n(&call->op->start, sc_clock_ticks(), __ATOMIC_RELAXED);
}

static inline uint64_t sc_stop(struct sc_call *call)
{
    uint64_t ticks = sc_clock_ticks();

    call->saved_errno = errno;
    return ticks;
}

/* What `before` lines of mpi.table look for, and where it goes once the call succeeded. */
static inline void sc_finds(struct sc_call *call)
{
    call->comm = NULL;
    call->object = -1;
}

void sc_found(const struct sc_call *call);
void sc_before_file(struct sc_call *call, const MPI_File *file);
void sc_before_abort(struct sc_call *call, int code);
void sc_before_window(struct sc_call *call, const MPI_Win *win);

/* True when the operation's attributes are wanted and known: MPI said yes, and nothing that ran
 * inside the call has ended the recording it belongs to. */
static inline bool sc_filled(const struct sc_call *call, int rc)
{
    return rc == MPI_SUCCESS && call->thread->generation == call->generation;
}

static inline void sc_note_failure(struct sc_op *op, int rc)
{
    op->flags |= SC_OP_FAILED;
    op->tag = rc;
}

/* Hot path. Publishes the operation. */
static inline void sc_leave(struct sc_call *call, uint64_t end, int rc)
{
    if (call->thread->generation == call->generation) {
        call->thread->inside = NULL;
        if (__builtin_expect(rc != MPI_SUCCESS, 0))
            sc_note_failure(call->op, rc);
        /* Pairs with the acquire in sc_cursor_op(): all other fields are there. */
        __atomic_store_n(&call->op->end, end, __ATOMIC_RELEASE);
    }
    errno = call->saved_errno;
}

#endif
