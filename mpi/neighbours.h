/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * neighbours: with whom a rank exchanges data in the neighbourhood collectives. Any thread; calls
 * PMPI_ only.
 */
#ifndef SC_NEIGHBOURS_H
#define SC_NEIGHBOURS_H

#include <mpi.h>

/* In the order of the neighbourhood collectives, as ranks of the communicator. */
struct sc_neighbours {
    int in, out;   /* how many */
    int others_in; /* those that are another process: neither MPI_PROC_NULL nor this rank */
    int others_out;
    int *sources;      /* [in] */
    int *destinations; /* [out] */
};

/* Of a valid communicator, in which this process has that rank. One allocation, to be freed; NULL:
 * it has no topology, or no memory. */
struct sc_neighbours *sc_neighbours_create(MPI_Comm comm, int rank);

#endif
