/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * world: the library's own view of MPI_COMM_WORLD: its one hidden communicator, the thread that
 * initialized MPI, and how ranks agree. Everything here calls PMPI_ only.
 */
#ifndef SC_WORLD_H
#define SC_WORLD_H

#include <mpi.h>
#include <stdbool.h>

/* Any thread, at any time. True when the program runs the MPI that the library was built for; if it
 * is another one, that is said once. Touches no handle. */
bool sc_world_is_ours(void);

/* Any thread. True between MPI's initialization and its end; usable: when it is ours, too. */
bool sc_world_is_running(void);
bool sc_world_is_usable(void);

/* Collective over MPI_COMM_WORLD. Makes the hidden communicator (once; called by the Init wrappers,
 * or by publication in a program whose MPI_Init was not seen). 0, SC_ESTATE (MPI is not usable) or
 * SC_EMPI. */
int sc_world_open(void);
void sc_world_close(void); /* Collective. Frees it; before PMPI_Finalize. */

/* True between sc_world_open() and sc_world_close(). */
bool sc_world_is_open(void);
MPI_Comm sc_world_comm(void); /* MPI_COMM_NULL when not open */
int sc_world_rank(void);      /* 0 without MPI */
int sc_world_size(void);      /* 1 without MPI */

/* Collective. Returns when all ranks have called it; at once without MPI. */
void sc_world_barrier(void);

/* Collective. The worst (lowest) status of all ranks, on all ranks; without MPI the argument. On
 * failure the message of the lowest failing rank becomes sc_last_error() everywhere. */
int sc_agree(int status);

/* Thread level MPI provided, -1 without MPI; whether the caller is the thread that initialized it.
 */
int sc_world_thread_level(void);
bool sc_world_is_main_thread(void);

#endif
