/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "rows.h"

#include <mpi.h>
#include <string.h>

#include "base.h"
#include "region.h"
#include "world.h"

enum { WINDOW_LEAST = 1 << 16, WINDOW_PARTS = 8 };

static const char *const rank_datasets[] = {SC_D_RANKS};
static const char *const index_datasets[] = {
    SC_D_INDEX_REGION_IDS,   SC_D_INDEX_RANKS,        SC_D_INDEX_EVENT_OFFSETS,
    SC_D_INDEX_EVENT_COUNTS, SC_D_INDEX_SOURCE_LINES, SC_D_INDEX_EXCLUSIVE,
    SC_D_INDEX_SUMMARY,      SC_D_MPI_OFFSETS, /* last: only in a run with MPI */
};
static const char *const event_datasets[] = {SC_D_EVENT_STARTS, SC_D_EVENT_DURATIONS};
static const char *const path_stats_datasets[] = {SC_D_PATH_STATS};
static const char *const total_datasets[] = {SC_D_MPI_TOTALS};
static const char *const mpi_datasets[] = {
    SC_D_MPI_COMMS,    SC_D_MPI_ROOTS,    SC_D_MPI_SENT,
    SC_D_MPI_RECEIVED, SC_D_MPI_REQUESTS, /* last: only when some rank has one */
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

/* ---- producers ---- */

static void fill_rank(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct sc_rows *rows = context;

    if (row == 0 && n == 1)
        memcpy(out[0], &rows->rank, sizeof rows->rank);
}

static void shift_times(struct sc_row_summary *s, int64_t offset_ns)
{
    s->start_minimum += offset_ns;
    s->end_maximum += offset_ns;
}

static void fill_index(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct sc_rows *rows = context;
    uint64_t first_event = rows->table[SC_ROWS_EVENTS].first;
    uint64_t first_op = rows->tables > SC_ROWS_MPI ? rows->table[SC_ROWS_MPI].first : 0;

    for (size_t i = 0; i < n; i++) {
        const struct sc_slice *s = &rows->recording->slices[row + i];
        uint32_t region = rows->numbering->region[s->region];
        struct sc_row_summary *summary = (struct sc_row_summary *)out[6] + i;

        ((uint32_t *)out[0])[i] = region;
        ((uint32_t *)out[1])[i] = (uint32_t)sc_world_rank();
        ((uint64_t *)out[2])[i] = first_event + s->first_row;
        ((uint64_t *)out[3])[i] = s->rows;
        ((int64_t *)out[4])[i] = sc_region_get(s->region)->line;
        ((int64_t *)out[5])[i] = s->exclusive;
        *summary = s->summary;
        shift_times(summary, rows->offset_ns);
        if (rows->table[SC_ROWS_INDEX].columns == COUNT(index_datasets))
            ((uint64_t *)out[7])[i] = s->ops > 0 ? first_op + s->first_op : SC_NO_OFFSET;
    }
}

static void fill_events(void *context, uint64_t row, size_t n, void *const *out)
{
    struct sc_rows *rows = context;
    int rc = sc_recording_event_rows(rows->recording, row, n, rows->offset_ns, out[0], out[1]);

    if (rc != 0)
        rows->status = rc;
}

static void fill_path_stats(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct sc_rows *rows = context;
    size_t count;
    const struct sc_path *path = sc_callpath_paths(rows->recording->paths, &count) + row;
    struct sc_row_path_stats *to = out[0];

    for (size_t i = 0; i < n; i++)
        to[i] = (struct sc_row_path_stats){.rank = (uint32_t)sc_world_rank(),
                                           .path = rows->numbering->path[row + i],
                                           .calls = path[i].calls,
                                           .total = path[i].total,
                                           .exclusive = path[i].exclusive,
                                           .minimum = path[i].minimum,
                                           .maximum = path[i].maximum};
}

static void fill_totals(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct sc_rows *rows = context;
    size_t count;
    const struct sc_total *total = sc_callpath_totals(rows->recording->paths, &count) + row;
    struct sc_row_mpi_total *to = out[0];

    for (size_t i = 0; i < n; i++)
        to[i] = (struct sc_row_mpi_total){
            .rank = (uint32_t)sc_world_rank(),
            .path = rows->numbering->path[total[i].path],
            .communicator = total[i].comm < 0 ? -1 : rows->numbering->comm[total[i].comm],
            .size_class = total[i].size_class,
            .calls = total[i].calls,
            .bytes_sent = total[i].sent,
            .bytes_received = total[i].received,
            .total = total[i].total,
            .minimum = total[i].minimum,
            .maximum = total[i].maximum};
}

static void fill_mpi(void *context, uint64_t row, size_t n, void *const *out)
{
    struct sc_rows *rows = context;
    struct sc_op_columns columns = {out[0], out[1], out[2], out[3],
                                    rows->has_requests ? out[4] : NULL};
    int rc = sc_recording_op_rows(rows->recording, row, n, rows->numbering->comm, &columns);

    if (rc != 0)
        rows->status = rc;
}

/* ---- the tables ---- */

/* Windows bound the memory of publishing to a small part of what the recording itself takes. */
static size_t window(uint64_t rows)
{
    return rows / WINDOW_PARTS > WINDOW_LEAST ? (size_t)(rows / WINDOW_PARTS) + 1 : WINDOW_LEAST;
}

static void set_table(struct sc_rows *rows, enum sc_rows_table which, const char *const *datasets,
                      size_t columns, uint64_t count,
                      void (*fill)(void *, uint64_t, size_t, void *const *))
{
    rows->table[which] = (struct sc_h5_table){.datasets = datasets,
                                              .columns = columns,
                                              .count = count,
                                              .fill = fill,
                                              .context = rows,
                                              .window = window(count)};
}

static void set_tables(struct sc_rows *rows, int mpi)
{
    const struct sc_recording *r = rows->recording;
    size_t paths = 0, totals = 0;

    if (r != NULL) {
        (void)sc_callpath_paths(r->paths, &paths);
        (void)sc_callpath_totals(r->paths, &totals);
    }
    set_table(rows, SC_ROWS_RANKS, rank_datasets, 1, 1, fill_rank);
    set_table(rows, SC_ROWS_INDEX, index_datasets, COUNT(index_datasets) - !mpi,
              r == NULL ? 0 : r->slice_count, fill_index);
    set_table(rows, SC_ROWS_EVENTS, event_datasets, COUNT(event_datasets), r == NULL ? 0 : r->rows,
              fill_events);
    set_table(rows, SC_ROWS_PATH_STATS, path_stats_datasets, 1, paths, fill_path_stats);
    set_table(rows, SC_ROWS_MPI_TOTALS, total_datasets, 1, totals, fill_totals);
    set_table(rows, SC_ROWS_MPI, mpi_datasets, COUNT(mpi_datasets) - !rows->has_requests,
              r == NULL ? 0 : r->ops, fill_mpi);
    rows->tables = mpi ? SC_ROWS_TABLES : SC_ROWS_MPI_TOTALS;
}

int sc_rows_create(struct sc_recording *recording, const struct sc_numbering *numbering,
                   const struct sc_row_rank *rank, struct sc_rows *out)
{
    int has_requests = recording != NULL && recording->has_requests;
    uint64_t count[SC_ROWS_TABLES], before[SC_ROWS_TABLES] = {0};

    if (recording != NULL)
        sc_recording_order(recording, numbering->region);
    if (sc_world_is_open() && PMPI_Allreduce(MPI_IN_PLACE, &has_requests, 1, MPI_INT, MPI_MAX,
                                             sc_world_comm()) != MPI_SUCCESS)
        return sc_fail(SC_EMPI, "MPI_Allreduce failed while publishing");
    *out = (struct sc_rows){.recording = recording,
                            .numbering = numbering,
                            .rank = *rank,
                            .offset_ns = rank->clock_offset_ns,
                            .has_requests = has_requests};
    set_tables(out, sc_world_is_open());
    for (size_t i = 0; i < SC_ROWS_TABLES; i++)
        out->total[i] = count[i] = out->table[i].count;
    if (!sc_world_is_open())
        return 0;
    if (PMPI_Exscan(count, before, SC_ROWS_TABLES, MPI_UINT64_T, MPI_SUM, sc_world_comm()) !=
            MPI_SUCCESS ||
        PMPI_Allreduce(count, out->total, SC_ROWS_TABLES, MPI_UINT64_T, MPI_SUM, sc_world_comm()) !=
            MPI_SUCCESS)
        return sc_fail(SC_EMPI, "MPI_Exscan failed while publishing");
    for (size_t i = 0; i < SC_ROWS_TABLES && sc_world_rank() > 0; i++)
        out->table[i].first = before[i];
    return 0;
}
