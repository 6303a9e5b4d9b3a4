/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * request: what a request stands for, from the call that started it to the one that completes it.
 * Live requests are found by handle; what one turns out to have moved, when it was done and how
 * long the program waited for it goes into the part (buffer.h) of the operation that started it. A
 * handle value may stand for several requests at once (MPI has one for all that are complete from
 * the start); they are told apart by age. Also: matched messages, found the same way. Any thread.
 */
#ifndef SC_REQUEST_H
#define SC_REQUEST_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "list.h"

struct sc_call;

enum sc_request_kind {
    SC_REQUEST_SEND,
    SC_REQUEST_RECV, /* bytes, source and tag from the status */
    SC_REQUEST_COLLECTIVE,
    SC_REQUEST_READ, /* bytes from the status */
    SC_REQUEST_WRITE,
    SC_REQUEST_RMA,
    SC_REQUEST_GENERALIZED
};

#define SC_OP_NONE                                                  \
    {                                                               \
        .site = -1, .comm = -1, .object = -1, .peer = -1, .tag = -1 \
    }

/* Once, before requests are followed: whether several threads may be in MPI at once. */
void sc_request_open(bool is_threaded);

/* After a recorded call whose operation is filled: it started the request. */
void sc_request_started(struct sc_call *call, enum sc_request_kind kind, MPI_Request request);

/* After a call, recorded or not, that made a persistent request. each: what one start of it moves.
 */
void sc_request_persistent(enum sc_request_kind kind, const struct sc_op *each,
                           MPI_Request request);

/* The operation of a call that made a persistent request: nothing has moved yet. */
void sc_request_rests(struct sc_op *op);

/* After a recorded call that started persistent requests. */
void sc_requests_started(struct sc_call *call, int count, struct sc_list requests);

/* After a call, recorded or not, that may have matched a message. */
void sc_request_message(MPI_Comm comm, const MPI_Message *message);

/* Before the calls that use one up: `before NAME` of mpi.table. */
void sc_before_message(struct sc_call *call, const MPI_Message *message);
void sc_before_request_free(struct sc_call *call, const MPI_Request *request);
void sc_before_cancel(struct sc_call *call, const MPI_Request *request);

/* ---- the wait and the test family ---- */

enum { SC_WAIT_INLINE = 16 };

struct sc_wait {
    int count;         /* requests; 0: none, or no memory to remember them */
    bool is_fortran;   /* of the statuses; indices begin at 1 */
    uint64_t *handles; /* as they were before the call */
    void *statuses;    /* as given to MPI */
    uint64_t few_handles[SC_WAIT_INLINE];
    MPI_Status few_statuses[SC_WAIT_INLINE];
    void *memory;
};

/* Before the call. Remembers the handles, which MPI overwrites. Gives the statuses to hand to MPI:
 * the caller's, or room of the library's own for as many where the caller ignores them. */
MPI_Status *sc_wait_begin(struct sc_wait *w, int count, struct sc_list requests, int statuses,
                          MPI_Status *given);
MPI_Fint *sc_wait_begin_fortran(struct sc_wait *w, int count, struct sc_list requests, int statuses,
                                MPI_Fint *given, bool is_ignored);

/*
 * After the call, recorded (call, and when it ended) or not (NULL, 0): completes what MPI says is
 * complete. flag, index, outcount: as MPI set them; flag NULL: a wait. True: the call completed
 * something or failed; false: it was a poll that did not. Ends the life of w.
 */
bool sc_wait_one(struct sc_wait *w, int rc, struct sc_call *call, uint64_t end, const int *flag);
bool sc_wait_all(struct sc_wait *w, int rc, struct sc_call *call, uint64_t end, const int *flag);
bool sc_wait_any(struct sc_wait *w, int rc, struct sc_call *call, uint64_t end, const int *index,
                 const int *flag);
bool sc_wait_some(struct sc_wait *w, int rc, struct sc_call *call, uint64_t end,
                  const int *outcount, const int *indices);

#endif
