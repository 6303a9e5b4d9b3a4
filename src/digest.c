/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "digest.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"

int sc_digest_create(struct sc_digest *d, size_t paths)
{
    *d = (struct sc_digest){.paths = paths, .most = {INT64_MIN, INT64_MIN, INT64_MIN}};
    d->calls = calloc(paths + 1, sizeof *d->calls);
    d->time = calloc(paths + 1, sizeof *d->time);
    d->minimum = calloc(paths + 1, sizeof *d->minimum);
    d->maximum = calloc(paths + 1, sizeof *d->maximum);
    d->scratch = calloc(paths + 1, sizeof *d->scratch);
    if (!d->calls || !d->time || !d->minimum || !d->maximum || !d->scratch)
        return sc_fail(SC_ENOMEM, "no memory for the summary");
    for (size_t i = 0; i < paths; i++) {
        d->minimum[i] = INT64_MAX;
        d->maximum[i].value = LONG_MIN;
    }
    return 0;
}

void sc_digest_free(struct sc_digest *d)
{
    free(d->calls);
    free(d->time);
    free(d->minimum);
    free(d->maximum);
    free(d->scratch);
    *d = (struct sc_digest){0};
}

static void add_paths(struct sc_digest *d, int rank, const struct sc_recording *recording,
                      const struct sc_maps *maps)
{
    const struct sc_path *path = NULL;
    size_t count = 0;

    memset(d->scratch, 0, d->paths * sizeof *d->scratch);
    if (recording != NULL)
        path = sc_callpath_paths(recording->paths, &count);
    for (size_t i = 0; i < count; i++) {
        d->calls[maps->path[i]] += path[i].calls;
        d->scratch[maps->path[i]] = path[i].total;
    }
    for (size_t i = 0; i < d->paths; i++) {
        const int64_t time = d->scratch[i];

        d->time[i] += time;
        if (time < d->minimum[i])
            d->minimum[i] = time;
        if (time > d->maximum[i].value)
            d->maximum[i] = (struct sc_digest_at){(long)time, rank};
    }
}

void sc_digest_add(struct sc_digest *d, int rank, const struct sc_row_rank *row,
                   const struct sc_recording *recording, const struct sc_maps *maps)
{
    const int64_t time = row->end_ns - row->start_ns;
    const int64_t useful = time > row->mpi_main_ns ? time - row->mpi_main_ns : 0;
    const int64_t most[SC_DIGEST_MOSTS] = {
        [SC_MOST_USEFUL] = useful,
        [SC_MOST_END] = row->end_ns,
        [SC_MOST_START] = recording == NULL ? INT64_MIN : -row->start_ns,
    };
    const int64_t sum[SC_DIGEST_SUMS] = {
        [SC_SUM_RECORDED] = recording != NULL,
        [SC_SUM_THREADS] = row->threads,
        [SC_SUM_MPI] = row->mpi_main_ns,
        [SC_SUM_USEFUL] = useful,
        [SC_SUM_EVENTS] = (int64_t)row->events,
        [SC_SUM_MPI_EVENTS] = (int64_t)row->mpi_events,
        [SC_SUM_MPI_CALLS] = (int64_t)row->mpi_calls,
        [SC_SUM_LOST] = (int64_t)row->lost,
        [SC_SUM_PAUSED] = (int64_t)row->paused,
        [SC_SUM_UNMATCHED] = (int64_t)row->unmatched,
        [SC_SUM_UNFINISHED] = (int64_t)row->unfinished,
        [SC_SUM_CROSSED] = (int64_t)row->crossed,
        [SC_SUM_OWN] = row->own_event_ns + row->own_mpi_ns + row->own_memory_ns,
    };

    for (size_t i = 0; i < SC_DIGEST_SUMS; i++)
        d->sum[i] += sum[i];
    for (size_t i = 0; i < SC_DIGEST_MOSTS; i++)
        if (most[i] > d->most[i])
            d->most[i] = most[i];
    add_paths(d, rank, recording, maps);
}

static void set_numbers(const struct sc_digest *d, int ranks, struct sc_summary *out)
{
    const int64_t *sum = d->sum, useful = d->most[SC_MOST_USEFUL];
    const double size = ranks;
    double duration;

    out->duration_ns = d->most[SC_MOST_END] + d->most[SC_MOST_START];
    duration = (double)out->duration_ns;
    out->ranks = ranks;
    out->recorded_ranks = (int)sum[SC_SUM_RECORDED];
    out->threads = (int)sum[SC_SUM_THREADS];
    out->mpi_share = duration > 0 ? (double)sum[SC_SUM_MPI] / (size * duration) : 0;
    out->load_balance = useful > 0 ? (double)sum[SC_SUM_USEFUL] / size / (double)useful : 1;
    out->communication = duration > 0 ? (double)useful / duration : 1;
    out->events = (uint64_t)sum[SC_SUM_EVENTS];
    out->mpi_events = (uint64_t)sum[SC_SUM_MPI_EVENTS];
    out->mpi_calls = (uint64_t)sum[SC_SUM_MPI_CALLS];
    out->lost = (uint64_t)sum[SC_SUM_LOST];
    out->paused = (uint64_t)sum[SC_SUM_PAUSED];
    out->unmatched = (uint64_t)sum[SC_SUM_UNMATCHED];
    out->unfinished = (uint64_t)sum[SC_SUM_UNFINISHED];
    out->crossed = (uint64_t)sum[SC_SUM_CROSSED];
    out->own_ns = sum[SC_SUM_OWN];
}

int sc_digest_summary(const struct sc_digest *d, const struct sc_numbering *numbering, int ranks,
                      struct sc_summary *out)
{
    struct sc_summary_path *paths = calloc(d->paths + 1, sizeof *paths);

    if (paths == NULL)
        return sc_fail(SC_ENOMEM, "no memory for the summary");
    set_numbers(d, ranks, out);
    for (size_t i = 0; i < d->paths; i++) {
        const struct sc_row_path *row = &numbering->paths[i];

        paths[i] = (struct sc_summary_path){.parent = row->parent,
                                            .name = numbering->region_names[row->region].data,
                                            .is_mpi = numbering->region_is_mpi[row->region],
                                            .calls = d->calls[i],
                                            .minimum = d->minimum[i],
                                            .average = d->time[i] / ranks,
                                            .maximum = d->maximum[i].value,
                                            .max_rank = d->maximum[i].rank};
    }
    out->paths = paths;
    out->path_count = d->paths;
    return 0;
}
