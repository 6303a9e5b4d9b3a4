/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * list: an array argument of an MPI call, whatever its element: counts of 32 or 64 bits, handles of
 * C or of Fortran. Lent for the time of the call. Any thread.
 */
#ifndef SC_LIST_H
#define SC_LIST_H

#include <mpi.h>

enum sc_list_kind {
    SC_LIST_INTS,   /* int, INTEGER */
    SC_LIST_COUNTS, /* MPI_Count */
    SC_LIST_C,      /* handles */
    SC_LIST_FORTRAN /* the same as INTEGER */
};

struct sc_list {
    const void *at; /* NULL: it has no elements */
    enum sc_list_kind kind;
};

static inline MPI_Count sc_list_count(struct sc_list l, int i)
{
    return l.kind == SC_LIST_COUNTS ? ((const MPI_Count *)l.at)[i] : ((const int *)l.at)[i];
}

static inline MPI_Datatype sc_list_type(struct sc_list l, int i)
{
    return l.kind == SC_LIST_FORTRAN ? PMPI_Type_f2c(((const MPI_Fint *)l.at)[i])
                                     : ((const MPI_Datatype *)l.at)[i];
}

static inline MPI_Request sc_list_request(struct sc_list l, int i)
{
    return l.kind == SC_LIST_FORTRAN ? PMPI_Request_f2c(((const MPI_Fint *)l.at)[i])
                                     : ((const MPI_Request *)l.at)[i];
}

#endif
