/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * profile: a profile's tables reduced over its ranks, or some of them: what every printing verb
 * starts from. Tables are read in blocks; memory grows with regions and call paths, never with
 * ranks or events. Dies when the file cannot be read.
 */
#ifndef SC_CLI_PROFILE_H
#define SC_CLI_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"

#define PROFILE_NO_RANK UINT64_MAX

/* A region or a call path over the ranks asked for. Times per rank are inclusive totals; a rank
 * without it counts as 0. All in ns. */
struct profile_stat {
    uint64_t calls;
    int64_t total;
    int64_t exclusive; /* -1: not computed on every rank */
    uint64_t ranks;    /* that have it */
    int64_t rank_min, rank_max;
    uint64_t min_rank, max_rank; /* lowest of those that have it; PROFILE_NO_RANK: not known */
    int64_t call_min, call_max;
    uint64_t next_rank; /* while reading: ranks below it have it, as long as rows come in order */
};

/* Sums over the rank table. */
struct profile_totals {
    uint64_t recorded;            /* ranks with a recording */
    int64_t start_ns, end_ns;     /* earliest, latest */
    int64_t duration_ns, rank_ns; /* rank_ns: duration times ranks, which percentages refer to */
    int64_t mpi_ns;           /* of the threads that initialized MPI, so never more than rank_ns */
    int64_t mpi_min, mpi_max; /* of one rank */
    uint64_t mpi_min_rank, mpi_max_rank;
    uint32_t threads_min, threads_max;
    int32_t thread_level;
    uint64_t events, mpi_events, mpi_calls;
    uint64_t lost, paused, unmatched, unfinished, crossed;
    uint64_t memory_max, memory_max_rank;
    int64_t own_ns; /* the library's own cost */
};

struct profile {
    const char *path;
    scope_reader *reader;
    scope_read_size size;
    const struct cli_ranks *ranks; /* those asked for */
    uint64_t rank_count;           /* how many of the run they are */
    struct profile_totals totals;
    scope_path_row *paths;
    struct profile_stat *path_stats; /* [size.paths] */
    struct profile_stat *regions;    /* [size.regions], every call counted */
    uint64_t *region_rows;           /* [size.regions] first row of the index, UINT64_MAX none */
};

/* ranks is lent to the profile. */
void profile_open(struct profile *p, const char *path, const struct cli_ranks *ranks);
void profile_close(struct profile *p);

/* The first of the names that the metadata has as text, or "". NULL ends the list. */
scope_text profile_fact(const struct profile *p, const char *const *names);

#endif
