/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "rows.h"

#include <string.h>

#include "region.h"
#include "tasks.h"
#include "totals.h"

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
        memcpy(out[0], &rows->row, sizeof rows->row);
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
        uint32_t region = rows->maps->region[s->region];
        struct sc_row_summary *summary = (struct sc_row_summary *)out[6] + i;

        ((uint32_t *)out[0])[i] = region;
        ((uint32_t *)out[1])[i] = rows->rank;
        ((uint64_t *)out[2])[i] = first_event + s->first_row;
        ((uint64_t *)out[3])[i] = s->rows;
        ((int64_t *)out[4])[i] = sc_region_get(s->region)->line;
        ((int64_t *)out[5])[i] = s->exclusive;
        *summary = s->summary;
        shift_times(summary, rows->row.clock_offset_ns);
        if (rows->table[SC_ROWS_INDEX].columns == COUNT(index_datasets))
            ((uint64_t *)out[7])[i] = s->ops > 0 ? first_op + s->first_op : SC_NO_OFFSET;
    }
}

static void fill_events(void *context, uint64_t row, size_t n, void *const *out)
{
    struct sc_rows *rows = context;
    int64_t *awaits = (rows->has & SC_HAS_AWAIT) != 0 ? out[2] : NULL;
    int rc = sc_recording_event_rows(rows->recording, row, n, rows->row.clock_offset_ns, out[0],
                                     out[1], awaits);

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
        to[i] = (struct sc_row_path_stats){.rank = rows->rank,
                                           .path = rows->maps->path[row + i],
                                           .calls = path[i].calls,
                                           .total = path[i].total,
                                           .exclusive = path[i].exclusive,
                                           .minimum = path[i].calls > 0 ? path[i].minimum : 0,
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
        to[i] = (struct sc_row_mpi_total){.rank = rows->rank,
                                          .path = rows->maps->path[total[i].path],
                                          .communicator = mapped(rows->maps->comm, total[i].comm),
                                          .size_class = total[i].size_class,
                                          .calls = total[i].calls,
                                          .bytes_sent = total[i].sent,
                                          .bytes_received = total[i].received,
                                          .total = total[i].total,
                                          .minimum = total[i].calls > 0 ? total[i].minimum : 0,
                                          .maximum = total[i].maximum,
                                          .object = mapped(rows->maps->object, total[i].object),
                                          .site = mapped(rows->maps->site, total[i].site),
                                          .await = total[i].await,
                                          .in_flight = total[i].in_flight};
}

static void fill_peers(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct sc_rows *rows = context;
    const struct sc_peer *peer = sc_callpath_totals(rows->recording->paths)->peer + row;
    struct sc_row_peer *to = out[0];

    for (size_t i = 0; i < n; i++)
        to[i] = (struct sc_row_peer){.rank = rows->rank,
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
    const struct sc_op_maps maps = {rows->maps->comm, rows->maps->object, rows->maps->site};
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
        ((uint32_t *)out[0])[i] = rows->rank;
    sc_tasks_rows(row, n, rows->row.clock_offset_ns, &columns);
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

static void set_tables(struct sc_rows *rows, bool mpi)
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

unsigned sc_rows_has(const struct sc_recording *recording, bool tracks)
{
    const unsigned has = recording == NULL ? 0 : recording->has;

    return has | (tracks && (has & SC_HAS_REQUESTS) != 0 ? SC_HAS_TASKS : 0);
}

void sc_rows_make(struct sc_recording *recording, const struct sc_maps *maps, uint32_t rank,
                  const struct sc_row_rank *row, bool mpi, unsigned has, struct sc_rows *out)
{
    if (recording != NULL)
        sc_recording_order(recording, maps->region);
    *out = (struct sc_rows){
        .recording = recording, .maps = maps, .rank = rank, .row = *row, .has = has};
    set_tables(out, mpi);
}
