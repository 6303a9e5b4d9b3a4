/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi_pair: the communication matrix, sparse: what went from one rank to another as both ends
 * counted it. Memory grows with the pairs that exchanged something.
 */
#ifndef SC_CLI_MPI_PAIR_H
#define SC_CLI_MPI_PAIR_H

#include "profile.h"

struct mpi_pair {
    int64_t source, destination;                /* -1: a rank of another world */
    uint64_t sent_messages, sent_bytes;         /* as the source counted */
    uint64_t received_messages, received_bytes; /* as the destination counted */
    uint64_t operations, put, got; /* one-sided ones of the source on memory of the destination */
};

struct mpi_pairs {
    struct mpi_pair *list; /* by source, then destination */
    size_t count;
};

/* Those with one of the ranks asked for at an end. Dies when the file cannot be read. */
void mpi_pairs_read(const struct profile *p, struct mpi_pairs *out);
void mpi_pairs_free(struct mpi_pairs *pairs);

/* Puts those with most bytes first. */
void mpi_pairs_sort(struct mpi_pairs *pairs);

/* Both ends are known and do not agree. */
bool mpi_pair_differs(const struct mpi_pair *pair);
/* Bytes of its messages, as the end that saw more counted, and of one-sided operations. */
uint64_t mpi_pair_bytes(const struct mpi_pair *pair);

#endif
