/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi_group: the MPI totals of a profile summed by routine and one thing more: call path, call
 * site, communicator, size or object. Memory grows with the groups, not with ranks.
 */
#ifndef SC_CLI_MPI_GROUP_H
#define SC_CLI_MPI_GROUP_H

#include "profile.h"

enum mpi_by {
    MPI_BY_ROUTINE, /* and nothing more: the key is 0 */
    MPI_BY_PATH,
    MPI_BY_SITE,
    MPI_BY_COMMUNICATOR,
    MPI_BY_SIZE,
    MPI_BY_OBJECT,
    MPI_BY_COUNT
};

struct mpi_group {
    int64_t key; /* row of the thing's table or size class; -1 none */
    uint32_t region;
    uint64_t calls, bytes_sent, bytes_received;
    int64_t total, call_min, call_max;
    int64_t await, in_flight; /* summed over the requests started */
};

struct mpi_groups {
    struct mpi_group *list; /* by key, then region */
    size_t count;
    int64_t total; /* ns */
};

/* Of the ranks asked for. Dies when the file cannot be read. */
void mpi_groups_read(const struct profile *p, enum mpi_by by, struct mpi_groups *out);
void mpi_groups_free(struct mpi_groups *groups);

/* Adds one to another that stands for more. */
void mpi_group_add(struct mpi_group *to, const struct mpi_group *more);

#endif
