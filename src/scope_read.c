/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * scope_read: what the rows of a profile mean, and that they make sense together. Every row that is
 * handed out has been checked: ids, slices and parents lie inside their tables, so a caller may use
 * them as indexes.
 */
#include "scope_read.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "h5read.h"

#define BLOCK 4096 /* rows of the index taken at once */

struct scope_reader {
    struct sc_h5read *file;
    scope_read_size size;
    const scope_metadata *metadata;
    size_t metadata_count;
    struct sc_string names; /* all region names, each with its NUL */
    size_t *name_offsets;   /* [regions + 1] */
    scope_path_row *paths;  /* NULL: one per region */
};

/* The public rows are those of layout.h: same fields, same places. */
#define SAME_FIELD(row, ours, field)                                                   \
    _Static_assert(offsetof(row, field) == offsetof(struct ours, field) &&             \
                       sizeof(((row *)0)->field) == sizeof(((struct ours *)0)->field), \
                   #field);
#define SAME_RANK(c, h5, name) SAME_FIELD(scope_rank_row, sc_row_rank, name)
#define SAME_NODE(c, h5, name) SAME_FIELD(scope_node_row, sc_row_node, name)
#define SAME_TOPOLOGY(c, h5, name) SAME_FIELD(scope_topology_row, sc_row_topology, name)
#define SAME_COMM(c, h5, name) SAME_FIELD(scope_comm_row, sc_row_comm, name)
#define SAME_RUN(c, h5, name) SAME_FIELD(scope_run_row, sc_row_run, name)
#define SAME_PATH(c, h5, name) SAME_FIELD(scope_path_row, sc_row_path, name)
#define SAME_PATH_STATS(c, h5, name) SAME_FIELD(scope_path_stats_row, sc_row_path_stats, name)
#define SAME_MPI_TOTAL(c, h5, name) SAME_FIELD(scope_mpi_total_row, sc_row_mpi_total, name)
#define SAME_PEER(c, h5, name) SAME_FIELD(scope_peer_row, sc_row_peer, name)
#define SAME_OBJECT(c, h5, name) SAME_FIELD(scope_object_row, sc_row_object, name)
#define SAME_SITE(c, h5, name) SAME_FIELD(scope_site_row, sc_row_site, name)
SC_ROW_RANK(SAME_RANK)
SC_ROW_NODE(SAME_NODE)
SC_ROW_TOPOLOGY(SAME_TOPOLOGY)
SC_ROW_COMM(SAME_COMM)
SC_ROW_RUN(SAME_RUN)
SC_ROW_PATH(SAME_PATH)
SC_ROW_PATH_STATS(SAME_PATH_STATS)
SC_ROW_MPI_TOTAL(SAME_MPI_TOTAL)
SC_ROW_PEER(SAME_PEER)
SC_ROW_OBJECT(SAME_OBJECT)
SC_ROW_SITE(SAME_SITE)
#define SAME_SIZE(row, ours) _Static_assert(sizeof(row) == sizeof(struct ours), #row)
SAME_SIZE(scope_rank_row, sc_row_rank);
SAME_SIZE(scope_node_row, sc_row_node);
SAME_SIZE(scope_topology_row, sc_row_topology);
SAME_SIZE(scope_comm_row, sc_row_comm);
SAME_SIZE(scope_run_row, sc_row_run);
SAME_SIZE(scope_path_row, sc_row_path);
SAME_SIZE(scope_path_stats_row, sc_row_path_stats);
SAME_SIZE(scope_mpi_total_row, sc_row_mpi_total);
SAME_SIZE(scope_peer_row, sc_row_peer);
SAME_SIZE(scope_object_row, sc_row_object);
SAME_SIZE(scope_site_row, sc_row_site);
_Static_assert(SCOPE_NO_MPI == SC_NO_OFFSET, "no MPI rows");

/* Whether [first, first + count) lies in a table of rows. */
static bool inside(uint64_t first, uint64_t count, uint64_t rows)
{
    return first <= rows && count <= rows - first;
}

/* ---- slices: the index, in blocks ---- */

/* Columns of the index, BLOCK rows of each. */
struct index_block {
    uint32_t regions[BLOCK], ranks[BLOCK];
    uint64_t offsets[BLOCK], counts[BLOCK], mpi[BLOCK];
    int64_t exclusive[BLOCK];
    struct sc_row_summary summary[BLOCK];
};

static int read_index(scope_reader *r, uint64_t first, size_t n, struct index_block *b)
{
    struct sc_h5read *f = r->file;
    int rc = sc_h5read_rows(f, SC_DS_REGION_IDS, first, n, b->regions);

    if (rc == 0)
        rc = sc_h5read_rows(f, SC_DS_SLICE_RANKS, first, n, b->ranks);
    if (rc == 0)
        rc = sc_h5read_rows(f, SC_DS_EVENT_OFFSETS, first, n, b->offsets);
    if (rc == 0)
        rc = sc_h5read_rows(f, SC_DS_EVENT_COUNTS, first, n, b->counts);
    for (size_t i = 0; i < n; i++)
        b->mpi[i] = SC_NO_OFFSET;
    if (rc == 0 && sc_h5read_has(f, SC_DS_MPI_OFFSETS))
        rc = sc_h5read_rows(f, SC_DS_MPI_OFFSETS, first, n, b->mpi);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const char *what =
            b->regions[i] >= r->size.regions                            ? "no such region"
            : !inside(b->offsets[i], b->counts[i], r->size.events)      ? "events outside the table"
            : r->size.rank_rows > 0 && b->ranks[i] >= r->size.rank_rows ? "no such rank"
            : b->mpi[i] != SC_NO_OFFSET && !inside(b->mpi[i], b->counts[i], r->size.mpi_events)
                ? "MPI rows outside the table"
                : NULL;

        if (what != NULL)
            rc = sc_h5read_damaged(r->file, "index row %" PRIu64 ": %s", first + i, what);
    }
    return rc;
}

static int read_statistics(scope_reader *r, uint64_t first, size_t n, struct index_block *b)
{
    int rc;

    memset(b->summary, 0, n * sizeof b->summary[0]);
    rc = sc_h5read_rows(r->file, SC_DS_SUMMARY, first, n, b->summary);
    for (size_t i = 0; i < n; i++)
        b->exclusive[i] = -1;
    if (rc == 0 && sc_h5read_has(r->file, SC_DS_EXCLUSIVE))
        rc = sc_h5read_rows(r->file, SC_DS_EXCLUSIVE, first, n, b->exclusive);
    return rc;
}

int scope_read_slices(scope_reader *r, uint64_t first, size_t count, scope_slice *out)
{
    struct index_block *b = malloc(sizeof *b);
    int rc = b == NULL ? sc_fail(SC_ENOMEM, "%s: out of memory", sc_h5read_path(r->file)) : 0;

    for (size_t done = 0; rc == 0 && done < count;) {
        size_t n = count - done < BLOCK ? count - done : BLOCK;

        rc = read_index(r, first + done, n, b);
        if (rc == 0)
            rc = read_statistics(r, first + done, n, b);
        for (size_t i = 0; rc == 0 && i < n; i++) {
            const struct sc_row_summary *s = &b->summary[i];

            out[done + i] = (scope_slice){
                .row = first + done + i,
                .rank = b->ranks[i],
                .region = b->regions[i],
                .first_event = b->offsets[i],
                .events = b->counts[i],
                .first_mpi = b->mpi[i],
                .exclusive = b->exclusive[i],
                .total = s->total,
                .minimum = s->minimum,
                .maximum = s->maximum,
                .first = s->first,
                .last = s->last,
                .start_minimum = s->start_minimum,
                .end_maximum = s->end_maximum,
                .gpu_count = s->gpu_count,
                .gpu_total = s->gpu_total,
                .mean = s->mean,
                .m2 = s->m2,
            };
        }
        done += n;
    }
    free(b);
    return rc;
}

/* ---- overlap of slices ---- */

struct span {
    uint64_t first, count;
};

/* As long as slices come in ascending order the end of the last one is all that has to be known. */
struct overlap {
    uint64_t end;
    bool unordered;
};

static void overlap_add(struct overlap *o, uint64_t first, uint64_t count)
{
    if (count == 0)
        return;
    o->unordered |= first < o->end;
    o->end = first + count;
}

static int compare_spans(const void *a, const void *b)
{
    const struct span *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

/* Slices in another order: all of them are sorted in memory, 16 bytes each. */
static int check_unordered(scope_reader *r, struct index_block *b, bool mpi)
{
    struct span *spans = malloc((size_t)r->size.slices * sizeof *spans);
    size_t count = 0;
    int rc = spans == NULL ? sc_fail(SC_ENOMEM, "%s: out of memory", sc_h5read_path(r->file)) : 0;

    for (uint64_t first = 0; rc == 0 && first < r->size.slices; first += BLOCK) {
        size_t n = r->size.slices - first < BLOCK ? (size_t)(r->size.slices - first) : BLOCK;

        rc = read_index(r, first, n, b);
        for (size_t i = 0; rc == 0 && i < n; i++)
            if (b->counts[i] > 0 && !(mpi && b->mpi[i] == SC_NO_OFFSET))
                spans[count++] = (struct span){mpi ? b->mpi[i] : b->offsets[i], b->counts[i]};
    }
    if (rc == 0)
        qsort(spans, count, sizeof *spans, compare_spans);
    for (size_t i = 1; rc == 0 && i < count; i++)
        if (spans[i].first < spans[i - 1].first + spans[i - 1].count)
            rc = sc_h5read_damaged(r->file, "slices of the index overlap at %s %" PRIu64,
                                   mpi ? "MPI row" : "event", spans[i].first);
    free(spans);
    return rc;
}

static int check_index(scope_reader *r)
{
    struct index_block *b = malloc(sizeof *b);
    struct overlap events = {0, false}, mpi = {0, false};
    uint64_t highest = 0;
    int rc = b == NULL ? sc_fail(SC_ENOMEM, "%s: out of memory", sc_h5read_path(r->file)) : 0;

    for (uint64_t first = 0; rc == 0 && first < r->size.slices; first += BLOCK) {
        size_t n = r->size.slices - first < BLOCK ? (size_t)(r->size.slices - first) : BLOCK;

        rc = read_index(r, first, n, b);
        for (size_t i = 0; rc == 0 && i < n; i++) {
            overlap_add(&events, b->offsets[i], b->counts[i]);
            if (b->mpi[i] != SC_NO_OFFSET)
                overlap_add(&mpi, b->mpi[i], b->counts[i]);
            highest = b->ranks[i] > highest ? b->ranks[i] : highest;
        }
    }
    if (rc == 0 && events.unordered)
        rc = check_unordered(r, b, false);
    if (rc == 0 && mpi.unordered)
        rc = check_unordered(r, b, true);
    if (r->size.rank_rows == 0)
        r->size.ranks = r->size.slices > 0 ? highest + 1 : 0;
    free(b);
    return rc;
}

/* ---- opening ---- */

static int load_names(scope_reader *r)
{
    uint64_t regions = r->size.regions;
    int rc = 0;

    r->name_offsets = calloc((size_t)regions + 1, sizeof *r->name_offsets);
    if (r->name_offsets == NULL)
        rc = SC_ENOMEM;
    for (uint64_t i = 0; rc == 0 && i < regions; i++) {
        scope_text text;

        rc = sc_h5read_text(r->file, SC_DS_REGION_NAMES, i, &text);
        r->name_offsets[i] = r->names.length;
        if (rc == 0)
            rc = sc_string_append(&r->names, text.data, text.length + 1);
        r->name_offsets[i + 1] = r->names.length;
    }
    return rc == SC_ENOMEM ? sc_fail(rc, "%s: out of memory", sc_h5read_path(r->file)) : rc;
}

static int load_paths(scope_reader *r)
{
    uint64_t paths = r->size.paths;
    int rc;

    r->paths = calloc((size_t)paths + 1, sizeof *r->paths);
    if (r->paths == NULL)
        return sc_fail(SC_ENOMEM, "%s: out of memory", sc_h5read_path(r->file));
    rc = sc_h5read_rows(r->file, SC_DS_PATHS, 0, (size_t)paths, r->paths);
    for (uint64_t i = 0; rc == 0 && i < paths; i++) {
        const scope_path_row *p = &r->paths[i];

        if (p->parent < -1 || p->parent >= (int64_t)i || p->region >= r->size.regions)
            rc =
                sc_h5read_damaged(r->file, "call path %" PRIu64 " has no such parent or region", i);
    }
    return rc;
}

static void take_sizes(scope_reader *r)
{
    const struct sc_h5read *f = r->file;

    r->size = (scope_read_size){
        .schema = sc_h5read_schema(f),
        .version = sc_h5read_version(f),
        .bytes = sc_h5read_bytes(f),
        .regions = sc_h5read_extent(f, SC_X_REGIONS),
        .slices = sc_h5read_extent(f, SC_X_SLICES),
        .events = sc_h5read_extent(f, SC_X_EVENTS),
        .mpi_events = sc_h5read_extent(f, SC_X_MPI_EVENTS),
        .ranks = sc_h5read_extent(f, SC_X_RANKS),
        .rank_rows = sc_h5read_extent(f, SC_X_RANKS),
        .nodes = sc_h5read_extent(f, SC_X_NODES),
        .topologies = sc_h5read_extent(f, SC_X_TOPOLOGIES),
        .communicators = sc_h5read_extent(f, SC_X_COMMS),
        .members = sc_h5read_extent(f, SC_X_MEMBERS),
        .paths = sc_h5read_extent(f, SC_X_PATHS),
        .path_stats = sc_h5read_extent(f, SC_X_PATH_STATS),
        .mpi_totals = sc_h5read_extent(f, SC_X_MPI_TOTALS),
        .peers = sc_h5read_extent(f, SC_X_PEERS),
        .objects = sc_h5read_extent(f, SC_X_OBJECTS),
        .sites = sc_h5read_extent(f, SC_X_SITES),
        .modules = sc_h5read_extent(f, SC_X_MODULES),
    };
    if (r->size.version == 0) {
        r->size.paths = r->size.regions;
        r->size.path_stats = r->size.slices;
    }
}

int sc_read_open(const char *path, const char *const *libraries, scope_reader **out)
{
    scope_reader *r = calloc(1, sizeof *r);
    int rc;

    if (r == NULL)
        return sc_fail(SC_ENOMEM, "%s: out of memory", path);
    rc = sc_h5read_open(path, libraries, &r->file);
    if (rc != 0)
        goto out;
    take_sizes(r);
    rc = sc_h5read_metadata(r->file, &r->metadata, &r->metadata_count);
    if (rc == 0)
        rc = load_names(r);
    if (rc == 0)
        rc = check_index(r);
    if (rc == 0 && r->size.version > 0)
        rc = load_paths(r);
out:
    if (rc != 0)
        scope_read_close(r);
    else
        *out = r;
    return rc;
}

int scope_read_open(const char *path, scope_reader **out)
{
    static const char *const libraries[] = {SC_H5_PRIVATE, SC_H5_SERIAL, NULL};

    if (path == NULL || out == NULL)
        return sc_fail(SC_EINVAL, "scope_read_open: path and out are needed");
    return sc_read_open(path, libraries, out);
}

void scope_read_close(scope_reader *r)
{
    if (r == NULL)
        return;
    sc_h5read_close(r->file);
    sc_string_free(&r->names);
    free(r->name_offsets);
    free(r->paths);
    free(r);
}

/* ---- small answers ---- */

void scope_read_sizes(const scope_reader *r, scope_read_size *out)
{
    *out = r->size;
}

size_t scope_read_metadata_count(const scope_reader *r)
{
    return r->metadata_count;
}

const scope_metadata *scope_read_metadata(const scope_reader *r, size_t i)
{
    return i < r->metadata_count ? &r->metadata[i] : NULL;
}

const scope_metadata *scope_read_metadata_find(const scope_reader *r, const char *name)
{
    for (size_t i = 0; i < r->metadata_count; i++)
        if (strcmp(r->metadata[i].name, name) == 0)
            return &r->metadata[i];
    return NULL;
}

scope_text scope_read_region(const scope_reader *r, uint32_t region)
{
    if (region >= r->size.regions)
        return (scope_text){"", 0};
    return (scope_text){r->names.data + r->name_offsets[region],
                        r->name_offsets[region + 1] - r->name_offsets[region] - 1};
}

int scope_read_slice_text(scope_reader *r, uint64_t row, enum scope_slice_text which,
                          scope_text *out)
{
    static const enum sc_dataset columns[] = {
        [SCOPE_SOURCE_FILE] = SC_DS_SOURCE_FILES,
        [SCOPE_SOURCE_TEXT] = SC_DS_SOURCE_TEXTS,
        [SCOPE_TAGS] = SC_DS_TAGS,
        [SCOPE_EVENT_METADATA] = SC_DS_EVENT_METADATA,
    };

    return sc_h5read_text(r->file, columns[which], row, out);
}

int scope_read_slice_line(scope_reader *r, uint64_t row, int64_t *out)
{
    *out = -1;
    return sc_h5read_has(r->file, SC_DS_SOURCE_LINES)
               ? sc_h5read_rows(r->file, SC_DS_SOURCE_LINES, row, 1, out)
               : 0;
}

/* ---- events ---- */

int scope_read_events(scope_reader *r, const scope_slice *slice, uint64_t first, size_t count,
                      int64_t *clock, int64_t *starts, int64_t *durations)
{
    int rc;

    if (!inside(first, count, slice->events))
        return sc_fail(SC_EINVAL, "%s: the slice has no such events", sc_h5read_path(r->file));
    rc = sc_h5read_rows(r->file, SC_DS_EVENT_STARTS, slice->first_event + first, count, starts);
    if (rc == 0)
        rc = sc_h5read_rows(r->file, SC_DS_EVENT_DURATIONS, slice->first_event + first, count,
                            durations);
    for (size_t i = 0; rc == 0 && i < count; i++) {
        bool ordered = first + i == 0 || starts[i] >= 0;

        if (__builtin_add_overflow(first + i == 0 ? 0 : *clock, starts[i], clock) || !ordered)
            rc = sc_h5read_damaged(r->file, "event %" PRIu64 " has no possible start",
                                   slice->first_event + first + i);
        starts[i] = *clock;
    }
    return rc;
}

int scope_read_await(scope_reader *r, const scope_slice *slice, uint64_t first, size_t count,
                     int64_t *out)
{
    int rc = 0;

    if (!inside(first, count, slice->events))
        return sc_fail(SC_EINVAL, "%s: the slice has no such events", sc_h5read_path(r->file));
    if (sc_h5read_has(r->file, SC_DS_EVENT_AWAIT))
        rc = sc_h5read_rows(r->file, SC_DS_EVENT_AWAIT, slice->first_event + first, count, out);
    else
        for (size_t i = 0; i < count; i++)
            out[i] = -1;
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (out[i] < -1)
            rc = sc_h5read_damaged(r->file, "event %" PRIu64 " has no possible time waited",
                                   slice->first_event + first + i);
    return rc;
}

#define MPI_BLOCK 1024

/* A column of a block of MPI rows into a member of the calls. An optional one that the file lacks
 * says everywhere what `absent` says. */
struct mpi_column {
    enum sc_dataset id;
    size_t offset;
    bool is_optional;
    int32_t absent;
};

static int read_mpi_column(scope_reader *r, const struct mpi_column *column, uint64_t row, size_t n,
                           scope_mpi_call *out)
{
    bool is_old = column->id == SC_DS_MPI_PEERS && r->size.version < 2;
    enum sc_dataset id = is_old ? SC_DS_MPI_ROOTS : column->id;
    bool is_missing = column->is_optional && !sc_h5read_has(r->file, id);
    int32_t values[MPI_BLOCK];
    int rc = is_missing ? 0 : sc_h5read_rows(r->file, id, row, n, values);

    for (size_t i = 0; rc == 0 && i < n; i++)
        memcpy((char *)&out[i] + column->offset, is_missing ? &column->absent : &values[i],
               sizeof values[i]);
    return rc;
}

static int read_mpi_block(scope_reader *r, uint64_t row, size_t n, scope_mpi_call *out)
{
    static const struct mpi_column columns[] = {
        {SC_DS_MPI_COMMS, offsetof(scope_mpi_call, communicator), false, -1},
        {SC_DS_MPI_PEERS, offsetof(scope_mpi_call, peer), false, -1},
        {SC_DS_MPI_TAGS, offsetof(scope_mpi_call, tag), true, -1},
        {SC_DS_MPI_OBJECTS, offsetof(scope_mpi_call, object), true, -1},
        {SC_DS_MPI_SITES, offsetof(scope_mpi_call, site), true, -1},
        {SC_DS_MPI_ERRORS, offsetof(scope_mpi_call, error), true, 0},
    };
    uint64_t sent[MPI_BLOCK], received[MPI_BLOCK];
    int64_t requests[MPI_BLOCK];
    int rc = sc_h5read_rows(r->file, SC_DS_MPI_SENT, row, n, sent);

    if (rc == 0)
        rc = sc_h5read_rows(r->file, SC_DS_MPI_RECEIVED, row, n, received);
    for (size_t i = 0; i < n; i++)
        requests[i] = -1;
    if (rc == 0 && sc_h5read_has(r->file, SC_DS_MPI_REQUESTS))
        rc = sc_h5read_rows(r->file, SC_DS_MPI_REQUESTS, row, n, requests);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        out[i].bytes_sent = sent[i];
        out[i].bytes_received = received[i];
        out[i].request = requests[i];
    }
    for (size_t c = 0; rc == 0 && c < sizeof columns / sizeof *columns; c++)
        rc = read_mpi_column(r, &columns[c], row, n, out);
    return rc;
}

/* -1, or a row of a table with that many. */
static bool is_row_of(int64_t row, uint64_t count)
{
    return row == -1 || (row >= 0 && (uint64_t)row < count);
}

int scope_read_mpi(scope_reader *r, const scope_slice *slice, uint64_t first, size_t count,
                   scope_mpi_call *out)
{
    int rc = 0;

    if (slice->first_mpi == SCOPE_NO_MPI || !inside(first, count, slice->events))
        return sc_fail(SC_EINVAL, "%s: the slice has no such MPI rows", sc_h5read_path(r->file));
    for (size_t done = 0; rc == 0 && done < count;) {
        uint64_t row = slice->first_mpi + first + done;
        size_t n = count - done < MPI_BLOCK ? count - done : MPI_BLOCK;

        rc = read_mpi_block(r, row, n, out + done);
        for (size_t i = done; rc == 0 && i < done + n; i++)
            if (!is_row_of(out[i].communicator, r->size.communicators) ||
                !is_row_of(out[i].object, r->size.objects) ||
                !is_row_of(out[i].site, r->size.sites))
                rc = sc_h5read_damaged(r->file,
                                       "MPI row %" PRIu64 ": no such communicator, object "
                                       "or call site",
                                       row + i - done);
        done += n;
    }
    return rc;
}

/* ---- tables ---- */

static int bad_row(scope_reader *r, const char *table, uint64_t row)
{
    return sc_h5read_damaged(r->file, "row %" PRIu64 " of %s points outside its table", row, table);
}

int scope_read_ranks(scope_reader *r, uint64_t first, size_t count, scope_rank_row *out)
{
    int rc = sc_h5read_rows(r->file, SC_DS_RANKS, first, count, out);

    for (size_t i = 0; rc == 0 && i < count; i++)
        if (out[i].node >= r->size.nodes)
            rc = bad_row(r, SC_D_RANKS, first + i);
    return rc;
}

int scope_read_binding(scope_reader *r, uint64_t rank, scope_text *out)
{
    return sc_h5read_text(r->file, SC_DS_BINDINGS, rank, out);
}

int scope_read_nodes(scope_reader *r, uint64_t first, size_t count, scope_node_row *out)
{
    int rc = sc_h5read_rows(r->file, SC_DS_NODES, first, count, out);

    for (size_t i = 0; rc == 0 && i < count; i++)
        if (out[i].topology < -1 || out[i].topology >= (int64_t)r->size.topologies)
            rc = bad_row(r, SC_D_NODES, first + i);
    return rc;
}

int scope_read_node_name(scope_reader *r, uint64_t node, scope_text *out)
{
    return sc_h5read_text(r->file, SC_DS_NODE_NAMES, node, out);
}

int scope_read_topologies(scope_reader *r, uint64_t first, size_t count, scope_topology_row *out)
{
    int rc = sc_h5read_rows(r->file, SC_DS_TOPOLOGIES, first, count, out);

    for (size_t i = 0; rc == 0 && i < count; i++)
        if (!inside(out[i].xml_offset, out[i].xml_length, sc_h5read_extent(r->file, SC_X_XML)))
            rc = bad_row(r, SC_D_TOPOLOGIES, first + i);
    return rc;
}

int scope_read_topology_xml(scope_reader *r, uint64_t topology, char **out, size_t *length)
{
    scope_topology_row row;
    char *xml;
    int rc = scope_read_topologies(r, topology, 1, &row);

    if (rc != 0)
        return rc;
    xml = malloc((size_t)row.xml_length + 1);
    if (xml == NULL)
        return sc_fail(SC_ENOMEM, "%s: out of memory", sc_h5read_path(r->file));
    rc = sc_h5read_rows(r->file, SC_DS_TOPOLOGY_XML, row.xml_offset, (size_t)row.xml_length, xml);
    if (rc != 0) {
        free(xml);
        return rc;
    }
    xml[row.xml_length] = '\0';
    *out = xml;
    *length = (size_t)row.xml_length;
    return 0;
}

int scope_read_likwid(scope_reader *r, uint64_t topology, scope_text *out)
{
    return sc_h5read_text(r->file, SC_DS_LIKWID, topology, out);
}

int scope_read_comms(scope_reader *r, uint64_t first, size_t count, scope_comm_row *out)
{
    int rc = sc_h5read_rows(r->file, SC_DS_COMMS, first, count, out);

    for (size_t i = 0; rc == 0 && i < count; i++)
        if (out[i].parent < -1 || out[i].parent >= (int64_t)r->size.communicators ||
            !inside(out[i].first_run, out[i].runs, r->size.members) ||
            (out[i].remote_size > 0 &&
             !inside(out[i].remote_first_run, out[i].remote_runs, r->size.members)))
            rc = bad_row(r, SC_D_COMMS, first + i);
    return rc;
}

int scope_read_comm_name(scope_reader *r, uint64_t comm, scope_text *out)
{
    return sc_h5read_text(r->file, SC_DS_COMM_NAMES, comm, out);
}

int scope_read_members(scope_reader *r, uint64_t first, size_t count, scope_run_row *out)
{
    int rc = sc_h5read_rows(r->file, SC_DS_COMM_MEMBERS, first, count, out);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        int64_t ranks = out[i].count;
        int64_t last = ranks > INT32_MAX ? -1 : out[i].first + (ranks - 1) * out[i].stride;

        if (ranks > 0 && out[i].first == -1 && last == -1)
            continue; /* ranks of another world */
        if (ranks == 0 || out[i].first < 0 || out[i].first >= (int64_t)r->size.ranks || last < 0 ||
            last >= (int64_t)r->size.ranks)
            rc = bad_row(r, SC_D_COMM_MEMBERS, first + i);
    }
    return rc;
}

int scope_read_paths(scope_reader *r, uint64_t first, size_t count, scope_path_row *out)
{
    if (!inside(first, count, r->size.paths))
        return sc_fail(SC_EINVAL, "%s: no such call path", sc_h5read_path(r->file));
    for (size_t i = 0; i < count; i++)
        out[i] =
            r->paths != NULL ? r->paths[first + i] : (scope_path_row){-1, (uint32_t)(first + i)};
    return 0;
}

/* Without a table of paths: the slices of the index in its place. */
static int path_stats_of_index(scope_reader *r, uint64_t first, size_t count,
                               scope_path_stats_row *out)
{
    scope_slice *slices = calloc(count + 1, sizeof *slices);
    int rc = slices == NULL ? sc_fail(SC_ENOMEM, "%s: out of memory", sc_h5read_path(r->file)) : 0;

    if (rc == 0)
        rc = scope_read_slices(r, first, count, slices);
    for (size_t i = 0; rc == 0 && i < count; i++)
        out[i] = (scope_path_stats_row){slices[i].rank,   slices[i].region,    slices[i].events,
                                        slices[i].total,  slices[i].exclusive, slices[i].minimum,
                                        slices[i].maximum};
    free(slices);
    return rc;
}

int scope_read_path_stats(scope_reader *r, uint64_t first, size_t count, scope_path_stats_row *out)
{
    int rc;

    if (r->paths == NULL)
        return path_stats_of_index(r, first, count, out);
    rc = sc_h5read_rows(r->file, SC_DS_PATH_STATS, first, count, out);
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (out[i].path >= r->size.paths || out[i].rank >= r->size.rank_rows)
            rc = bad_row(r, SC_D_PATH_STATS, first + i);
        else if (out[i].total < 0 || out[i].minimum < 0 || out[i].maximum < out[i].minimum)
            rc = sc_h5read_damaged(
                r->file, "row %" PRIu64 " of " SC_D_PATH_STATS " has impossible times", first + i);
    return rc;
}

int scope_read_mpi_totals(scope_reader *r, uint64_t first, size_t count, scope_mpi_total_row *out)
{
    int rc = sc_h5read_rows(r->file, SC_DS_MPI_TOTALS, first, count, out);

    for (size_t i = 0; rc == 0 && i < count; i++) {
        if (r->size.version < 2) {
            out[i].object = out[i].site = -1;
            out[i].await = out[i].in_flight = 0;
        }
        if (out[i].path >= r->size.paths || out[i].rank >= r->size.rank_rows ||
            !is_row_of(out[i].communicator, r->size.communicators) ||
            !is_row_of(out[i].object, r->size.objects) || !is_row_of(out[i].site, r->size.sites) ||
            out[i].size_class > 64)
            rc = bad_row(r, SC_D_MPI_TOTALS, first + i);
        else if (out[i].total < 0 || out[i].minimum < 0 || out[i].maximum < out[i].minimum ||
                 out[i].await < 0 || out[i].in_flight < 0)
            rc = sc_h5read_damaged(
                r->file, "row %" PRIu64 " of " SC_D_MPI_TOTALS " has impossible times", first + i);
    }
    return rc;
}

int scope_read_peers(scope_reader *r, uint64_t first, size_t count, scope_peer_row *out)
{
    int rc = sc_h5read_rows(r->file, SC_DS_PEERS, first, count, out);

    for (size_t i = 0; rc == 0 && i < count; i++)
        if (out[i].rank >= r->size.rank_rows || !is_row_of(out[i].peer, r->size.rank_rows))
            rc = bad_row(r, SC_D_PEERS, first + i);
    return rc;
}

int scope_read_objects(scope_reader *r, uint64_t first, size_t count, scope_object_row *out)
{
    int rc = sc_h5read_rows(r->file, SC_DS_OBJECTS, first, count, out);

    for (size_t i = 0; rc == 0 && i < count; i++)
        if (!is_row_of(out[i].communicator, r->size.communicators))
            rc = bad_row(r, SC_D_OBJECTS, first + i);
    return rc;
}

int scope_read_object_name(scope_reader *r, uint64_t object, scope_text *out)
{
    return sc_h5read_text(r->file, SC_DS_OBJECT_NAMES, object, out);
}

int scope_read_sites(scope_reader *r, uint64_t first, size_t count, scope_site_row *out)
{
    int rc = sc_h5read_rows(r->file, SC_DS_SITES, first, count, out);

    for (size_t i = 0; rc == 0 && i < count; i++)
        if (!is_row_of(out[i].module, r->size.modules))
            rc = bad_row(r, SC_D_SITES, first + i);
    return rc;
}

int scope_read_module_name(scope_reader *r, uint64_t module, scope_text *out)
{
    return sc_h5read_text(r->file, SC_DS_MODULE_NAMES, module, out);
}

int scope_read_module_build_id(scope_reader *r, uint64_t module, scope_text *out)
{
    return sc_h5read_text(r->file, SC_DS_MODULE_BUILD_IDS, module, out);
}
