/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "rows.h"

#include <mpi.h>
#include <stdbool.h>
#include <string.h>

#include "base.h"
#include "region.h"
#include "runtime.h"
#include "tasks.h"
#include "totals.h"
#include "world.h"

enum { WINDOW_LEAST = 1 << 16, WINDOW_PARTS = 8 };

static const char *const rank_datasets[] = {SC_D_RANKS};
static const char *const index_datasets[] = {
    SC_D_INDEX_REGION_IDS,   SC_D_INDEX_RANKS,        SC_D_INDEX_EVENT_OFFSETS,
    SC_D_INDEX_EVENT_COUNTS, SC_D_INDEX_SOURCE_LINES, SC_D_INDEX_EXCLUSIVE,
    SC_D_INDEX_SUMMARY,      SC_D_MPI_OFFSETS, /* last: only in a run with MPI */
};
static const char *const event_datasets[] = {
    SC_D_EVENT_STARTS, SC_D_EVENT_DURATIONS, SC_D_EVENT_AWAIT, /* last: only with SC_HAS_AWAIT */
};
static const char *const path_stats_datasets[] = {SC_D_PATH_STATS};
static const char *const total_datasets[] = {SC_D_MPI_TOTALS};
static const char *const peer_datasets[] = {SC_D_PEERS};
static const struct {
    const char *dataset;
    unsigned has; /* 0: always there */
} mpi_columns[SC_ROWS_MPI_COLUMNS] = {
    {SC_D_MPI_COMMS, 0},
    {SC_D_MPI_PEERS, 0},
    {SC_D_MPI_SENT, 0},
    {SC_D_MPI_RECEIVED, 0},
    {SC_D_MPI_TAGS, SC_HAS_TAGS},
    {SC_D_MPI_OBJECTS, SC_HAS_OBJECTS},
    {SC_D_MPI_SITES, SC_HAS_SITES},
    {SC_D_MPI_ERRORS, SC_HAS_ERRORS},
    {SC_D_MPI_REQUESTS, SC_HAS_REQUESTS},
};

static const char *const task_datasets[] = {
    SC_D_TASK_RANKS, SC_D_TASK_INDEX, SC_D_TASK_THREAD,  SC_D_TASK_CREATED,
    SC_D_TASK_DONE,  SC_D_TASK_STEPS, SC_D_TASK_RUNNING, SC_D_TASK_SUSPENDED,
    SC_D_TASK_KIND,  SC_D_TASK_NAME,  SC_D_TASK_CORO,
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
    int64_t *awaits = (rows->has & SC_HAS_AWAIT) != 0 ? out[2] : NULL;
    int rc =
        sc_recording_event_rows(rows->recording, row, n, rows->offset_ns, out[0], out[1], awaits);

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

static int32_t mapped(const int32_t *map, int32_t number)
{
    return number < 0 ? -1 : map[number];
}

static void fill_totals(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct sc_rows *rows = context;
    const struct sc_total *total = sc_callpath_totals(rows->recording->paths)->total + row;
    struct sc_row_mpi_total *to = out[0];

    for (size_t i = 0; i < n; i++)
        to[i] =
            (struct sc_row_mpi_total){.rank = (uint32_t)sc_world_rank(),
                                      .path = rows->numbering->path[total[i].path],
                                      .communicator = mapped(rows->numbering->comm, total[i].comm),
                                      .size_class = total[i].size_class,
                                      .calls = total[i].calls,
                                      .bytes_sent = total[i].sent,
                                      .bytes_received = total[i].received,
                                      .total = total[i].total,
                                      .minimum = total[i].calls > 0 ? total[i].minimum : 0,
                                      .maximum = total[i].maximum,
                                      .object = mapped(rows->catalog->object, total[i].object),
                                      .site = mapped(rows->catalog->site, total[i].site),
                                      .await = total[i].await,
                                      .in_flight = total[i].in_flight};
}

static void fill_peers(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct sc_rows *rows = context;
    const struct sc_peer *peer = sc_callpath_totals(rows->recording->paths)->peer + row;
    struct sc_row_peer *to = out[0];

    for (size_t i = 0; i < n; i++)
        to[i] = (struct sc_row_peer){.rank = (uint32_t)sc_world_rank(),
                                     .peer = peer[i].peer,
                                     .sent_messages = peer[i].sent_messages,
                                     .sent_bytes = peer[i].sent_bytes,
                                     .received_messages = peer[i].received_messages,
                                     .received_bytes = peer[i].received_bytes,
                                     .rma_operations = peer[i].rma_operations,
                                     .rma_sent = peer[i].rma_sent,
                                     .rma_received = peer[i].rma_received};
}

static void fill_mpi(void *context, uint64_t row, size_t n, void *const *out)
{
    struct sc_rows *rows = context;
    const struct sc_op_maps maps = {rows->numbering->comm, rows->catalog->object,
                                    rows->catalog->site};
    void *column[SC_ROWS_MPI_COLUMNS];
    int rc;

    for (size_t i = 0; i < SC_ROWS_MPI_COLUMNS; i++)
        column[i] = (mpi_columns[i].has & ~rows->has) == 0 ? *out++ : NULL;
    rc = sc_recording_op_rows(rows->recording, row, n, &maps,
                              &(struct sc_op_columns){.comms = column[0],
                                                      .peers = column[1],
                                                      .sent = column[2],
                                                      .received = column[3],
                                                      .tags = column[4],
                                                      .objects = column[5],
                                                      .sites = column[6],
                                                      .errors = column[7],
                                                      .requests = column[8]});
    if (rc != 0)
        rows->status = rc;
}

static void fill_tasks(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct sc_rows *rows = context;
    const struct sc_task_columns columns = {out[1], out[2], out[3], out[4], out[5],
                                            out[6], out[7], out[8], out[9], out[10]};

    for (size_t i = 0; i < n; i++)
        ((uint32_t *)out[0])[i] = (uint32_t)sc_world_rank();
    sc_tasks_rows(row, n, rows->offset_ns, &columns);
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
    const struct sc_totals none = {0}, *totals = r == NULL ? &none : sc_callpath_totals(r->paths);
    size_t paths = 0, columns = 0;

    if (r != NULL)
        (void)sc_callpath_paths(r->paths, &paths);
    for (size_t i = 0; i < SC_ROWS_MPI_COLUMNS; i++)
        if ((mpi_columns[i].has & ~rows->has) == 0)
            rows->mpi_datasets[columns++] = mpi_columns[i].dataset;
    set_table(rows, SC_ROWS_RANKS, rank_datasets, 1, 1, fill_rank);
    set_table(rows, SC_ROWS_INDEX, index_datasets, COUNT(index_datasets) - !mpi,
              r == NULL ? 0 : r->slice_count, fill_index);
    set_table(rows, SC_ROWS_EVENTS, event_datasets,
              COUNT(event_datasets) - ((rows->has & SC_HAS_AWAIT) == 0), r == NULL ? 0 : r->rows,
              fill_events);
    set_table(rows, SC_ROWS_PATH_STATS, path_stats_datasets, 1, paths, fill_path_stats);
    set_table(rows, SC_ROWS_MPI_TOTALS, total_datasets, 1, totals->count, fill_totals);
    set_table(rows, SC_ROWS_PEERS, peer_datasets, 1, totals->peer_count, fill_peers);
    set_table(rows, SC_ROWS_MPI, rows->mpi_datasets, columns, r == NULL ? 0 : r->ops, fill_mpi);
    set_table(rows, SC_ROWS_TASKS, task_datasets, COUNT(task_datasets),
              (rows->has & SC_HAS_TASKS) == 0 || r == NULL ? 0 : sc_tasks_count(), fill_tasks);
    rows->tables = !mpi                              ? SC_ROWS_MPI_TOTALS
                   : (rows->has & SC_HAS_TASKS) == 0 ? SC_ROWS_TASKS
                                                     : SC_ROWS_TABLES;
}

int sc_rows_create(struct sc_recording *recording, const struct sc_numbering *numbering,
                   const struct sc_catalog *catalog, const struct sc_row_rank *rank,
                   struct sc_rows *out)
{
    unsigned has = recording == NULL ? 0 : recording->has;
    const bool tracks = sc_runtime_settings()->value[SC_TRACK_ASYNC].number != 0;
    uint64_t count[SC_ROWS_TABLES], before[SC_ROWS_TABLES] = {0};

    if (tracks && (has & SC_HAS_REQUESTS) != 0)
        has |= SC_HAS_TASKS;
    if (recording != NULL)
        sc_recording_order(recording, numbering->region);
    if (sc_world_is_open() && PMPI_Allreduce(MPI_IN_PLACE, &has, 1, MPI_UNSIGNED, MPI_BOR,
                                             sc_world_comm()) != MPI_SUCCESS)
        return sc_fail(SC_EMPI, "MPI_Allreduce failed while publishing");
    *out = (struct sc_rows){.recording = recording,
                            .numbering = numbering,
                            .catalog = catalog,
                            .rank = *rank,
                            .offset_ns = rank->clock_offset_ns,
                            .has = has};
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
