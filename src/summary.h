/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * summary: the 25 lines at the end of a run, from numbers already reduced over the ranks. Rank 0
 * only. Any value is fine: what makes no sense is left out or shown as "-".
 */
#ifndef SC_SUMMARY_H
#define SC_SUMMARY_H

#include <stddef.h>
#include <stdint.h>

#include "base.h"

struct sc_summary_path {
    int32_t parent; /* index of a lower one, -1 */
    const char *name;
    int is_mpi;
    uint64_t calls;                    /* all ranks */
    int64_t minimum, average, maximum; /* ns: inclusive total per rank, over all ranks of the run */
    int max_rank;
};

struct sc_summary {
    const char *command, *label, *path; /* label may be "" */
    int64_t start_realtime_ns;
    int64_t duration_ns;
    int ranks, nodes, threads; /* threads that recorded, of all ranks */
    int recorded_ranks;
    int has_mpi;
    double mpi_share;     /* MPI time / (ranks x duration) */
    double load_balance;  /* average / maximum over ranks of time outside MPI */
    double communication; /* maximum over ranks of time outside MPI / duration */
    uint64_t events, mpi_events, mpi_calls;
    uint64_t lost, paused, unmatched, unfinished, crossed;
    int64_t own_ns;    /* sum over ranks of the library's own cost while recording */
    int64_t finish_ns; /* longest time spent in publication */
    uint64_t file_bytes;
    const struct sc_summary_path *paths;
    size_t path_count;
    const char *problem;    /* NULL, or why there is no file */
    const char *left;       /* then: the folder that it can be made of, NULL none */
    const char *incomplete; /* NULL, or what is missing of a recovered run */
};

/* Appends the summary, 25 lines at most; without memory some of them are missing. */
void sc_summary_text(const struct sc_summary *s, struct sc_string *out);

/* The same to standard error, in one write. */
void sc_summary_print(const struct sc_summary *s);

#endif
