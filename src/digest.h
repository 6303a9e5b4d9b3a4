/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * digest: the numbers of the summary, from the tables that the file gets. Ranks are added one by
 * one; sums, minima and maxima of parts that different processes made can be put together.
 */
#ifndef SC_DIGEST_H
#define SC_DIGEST_H

#include "numbering.h"
#include "recording.h"
#include "summary.h"

enum sc_digest_sum {
    SC_SUM_RECORDED,
    SC_SUM_THREADS,
    SC_SUM_MPI,
    SC_SUM_USEFUL,
    SC_SUM_EVENTS,
    SC_SUM_MPI_EVENTS,
    SC_SUM_MPI_CALLS,
    SC_SUM_LOST,
    SC_SUM_PAUSED,
    SC_SUM_UNMATCHED,
    SC_SUM_UNFINISHED,
    SC_SUM_CROSSED,
    SC_SUM_OWN,
    SC_DIGEST_SUMS
};
enum { SC_MOST_USEFUL, SC_MOST_END, SC_MOST_START /* negated */, SC_DIGEST_MOSTS };

struct sc_digest {
    int64_t sum[SC_DIGEST_SUMS], most[SC_DIGEST_MOSTS];
    size_t paths;
    /* Per path: calls, and of the time that a rank spent in it the sum, the least and the most; the
     * lowest rank that has the most (as MPI_LONG_INT). */
    uint64_t *calls;
    int64_t *time, *minimum;
    struct sc_digest_at {
        long value;
        int rank;
    } * maximum;
    int64_t *scratch;
};

/* Of no ranks yet. 0 or SC_ENOMEM; to be freed whatever is returned. */
int sc_digest_create(struct sc_digest *d, size_t paths);
void sc_digest_free(struct sc_digest *d);

/* Ranks are added in their order. recording NULL: it recorded nothing. */
void sc_digest_add(struct sc_digest *d, int rank, const struct sc_row_rank *row,
                   const struct sc_recording *recording, const struct sc_maps *maps);

/* What all ranks add up to; its paths (to be freed) and their names live no longer than numbering,
 * which is filled. 0 or SC_ENOMEM. */
int sc_digest_summary(const struct sc_digest *d, const struct sc_numbering *numbering, int ranks,
                      struct sc_summary *out);

#endif
