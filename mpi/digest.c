/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "digest.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "world.h"

/* This rank's part of each path, then that of all. */
struct columns {
    uint64_t *calls;
    int64_t *total, *minimum, *sum;
    struct at { /* MPI_LONG_INT */
        long value;
        int rank;
    } * maximum;
};

static int columns_create(struct columns *c, size_t paths)
{
    c->calls = calloc(paths + 1, sizeof *c->calls);
    c->total = calloc(paths + 1, sizeof *c->total);
    c->minimum = calloc(paths + 1, sizeof *c->minimum);
    c->sum = calloc(paths + 1, sizeof *c->sum);
    c->maximum = calloc(paths + 1, sizeof *c->maximum);
    return c->calls && c->total && c->minimum && c->sum && c->maximum ? 0 : SC_ENOMEM;
}

static void columns_free(struct columns *c)
{
    free(c->calls);
    free(c->total);
    free(c->minimum);
    free(c->sum);
    free(c->maximum);
}

static void fill_columns(struct columns *c, const struct sc_recording *recording,
                         const struct sc_numbering *n)
{
    const struct sc_path *path;
    size_t count = 0;

    path = recording == NULL ? NULL : sc_callpath_paths(recording->paths, &count);
    for (size_t i = 0; i < count; i++) {
        c->calls[n->path[i]] = path[i].calls;
        c->total[n->path[i]] = path[i].total;
    }
    for (size_t i = 0; i < n->path_count; i++) {
        c->minimum[i] = c->sum[i] = c->total[i];
        c->maximum[i] = (struct at){(long)c->total[i], sc_world_rank()};
    }
}

/* Collective. Rank 0 gets what all have. */
static void reduce(void *data, size_t count, MPI_Datatype type, MPI_Op op)
{
    void *from = sc_world_rank() == 0 ? MPI_IN_PLACE : data;

    PMPI_Reduce(from, data, (int)count, type, op, 0, sc_world_comm());
}

static int digest_paths(const struct sc_recording *recording, const struct sc_numbering *n,
                        struct sc_summary *out)
{
    struct columns c = {0};
    struct sc_summary_path *paths = calloc(n->path_count + 1, sizeof *paths);
    int rc = columns_create(&c, n->path_count);

    if (rc == 0 && paths == NULL)
        rc = SC_ENOMEM;
    rc = sc_agree(rc);
    if (rc != 0)
        goto out;
    fill_columns(&c, recording, n);
    if (sc_world_is_open()) {
        reduce(c.calls, n->path_count, MPI_UINT64_T, MPI_SUM);
        reduce(c.minimum, n->path_count, MPI_INT64_T, MPI_MIN);
        reduce(c.sum, n->path_count, MPI_INT64_T, MPI_SUM);
        reduce(c.maximum, n->path_count, MPI_LONG_INT, MPI_MAXLOC);
    }
    for (size_t i = 0; i < n->path_count; i++)
        paths[i] = (struct sc_summary_path){.parent = n->paths[i].parent,
                                            .name = n->region_names[n->paths[i].region].data,
                                            .is_mpi = n->region_is_mpi[n->paths[i].region],
                                            .calls = c.calls[i],
                                            .minimum = c.minimum[i],
                                            .average = c.sum[i] / sc_world_size(),
                                            .maximum = c.maximum[i].value,
                                            .max_rank = c.maximum[i].rank};
    out->paths = paths;
    out->path_count = n->path_count;
    paths = NULL;
out:
    free(paths);
    columns_free(&c);
    return rc;
}

enum sums {
    SUM_RECORDED,
    SUM_THREADS,
    SUM_MPI,
    SUM_USEFUL,
    SUM_EVENTS,
    SUM_MPI_EVENTS,
    SUM_MPI_CALLS,
    SUM_LOST,
    SUM_PAUSED,
    SUM_UNMATCHED,
    SUM_UNFINISHED,
    SUM_CROSSED,
    SUM_OWN,
    SUMS
};

static void digest_ranks(const struct sc_recording *recording, const struct sc_row_rank *rank,
                         struct sc_summary *out)
{
    int64_t time = rank->end_ns - rank->start_ns;
    int64_t useful = time > rank->mpi_main_ns ? time - rank->mpi_main_ns : 0;
    int64_t greatest[3] = {useful, rank->end_ns, recording == NULL ? INT64_MIN : -rank->start_ns};
    int64_t sum[SUMS] = {
        [SUM_RECORDED] = recording != NULL,
        [SUM_THREADS] = rank->threads,
        [SUM_MPI] = rank->mpi_main_ns,
        [SUM_USEFUL] = useful,
        [SUM_EVENTS] = (int64_t)rank->events,
        [SUM_MPI_EVENTS] = (int64_t)rank->mpi_events,
        [SUM_MPI_CALLS] = (int64_t)rank->mpi_calls,
        [SUM_LOST] = (int64_t)rank->lost,
        [SUM_PAUSED] = (int64_t)rank->paused,
        [SUM_UNMATCHED] = (int64_t)rank->unmatched,
        [SUM_UNFINISHED] = (int64_t)rank->unfinished,
        [SUM_CROSSED] = (int64_t)rank->crossed,
        [SUM_OWN] = rank->own_event_ns + rank->own_mpi_ns + rank->own_memory_ns,
    };
    double ranks, duration;

    if (sc_world_is_open()) {
        reduce(greatest, 3, MPI_INT64_T, MPI_MAX);
        reduce(sum, SUMS, MPI_INT64_T, MPI_SUM);
    }
    ranks = sc_world_size();
    out->duration_ns = greatest[1] + greatest[2];
    duration = (double)out->duration_ns;
    out->ranks = sc_world_size();
    out->has_mpi = sc_world_is_open();
    out->recorded_ranks = (int)sum[SUM_RECORDED];
    out->threads = (int)sum[SUM_THREADS];
    out->mpi_share = duration > 0 ? (double)sum[SUM_MPI] / (ranks * duration) : 0;
    out->load_balance = greatest[0] > 0 ? (double)sum[SUM_USEFUL] / ranks / (double)greatest[0] : 1;
    out->communication = duration > 0 ? (double)greatest[0] / duration : 1;
    out->events = (uint64_t)sum[SUM_EVENTS];
    out->mpi_events = (uint64_t)sum[SUM_MPI_EVENTS];
    out->mpi_calls = (uint64_t)sum[SUM_MPI_CALLS];
    out->lost = (uint64_t)sum[SUM_LOST];
    out->paused = (uint64_t)sum[SUM_PAUSED];
    out->unmatched = (uint64_t)sum[SUM_UNMATCHED];
    out->unfinished = (uint64_t)sum[SUM_UNFINISHED];
    out->crossed = (uint64_t)sum[SUM_CROSSED];
    out->own_ns = sum[SUM_OWN];
}

int sc_digest_create(const struct sc_recording *recording, const struct sc_numbering *numbering,
                     const struct sc_row_rank *rank, struct sc_summary *out)
{
    *out = (struct sc_summary){0};
    digest_ranks(recording, rank, out);
    return digest_paths(recording, numbering, out);
}

void sc_digest_free(struct sc_summary *s)
{
    free((void *)s->paths);
    s->paths = NULL;
    s->path_count = 0;
}
