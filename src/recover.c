/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "recover.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "clock.h"
#include "digest.h"
#include "output.h"
#include "recording.h"
#include "rows.h"
#include "runtime.h"
#include "skeleton.h"

enum { RANKS_MOST = 1 << 24 };

/* One image. */
struct part {
    int32_t rank;
    bool is_lost; /* cannot be read */
    struct sc_maps maps;
    uint64_t count[SC_ROWS_TABLES];
};

struct recovery {
    struct sc_salvage *from;
    const struct sc_salvage_run *run;
    struct sc_string *notes;
    struct sc_string incomplete;

    struct part *parts;          /* [run->images] */
    size_t read;                 /* of them */
    uint32_t ranks, first;       /* first: the lowest of which something was read */
    struct sc_row_rank *rows;    /* [ranks] */
    struct sc_h5_text *bindings; /* [ranks], not known */

    struct sc_row_node *nodes; /* in order of their first ranks, as far as known */
    struct sc_h5_text *node_names;
    size_t node_count;

    struct sc_numbering numbering;
    struct sc_catalog catalog;
    struct sc_skeleton skeleton;
    uint32_t *slice_regions;
    size_t slice_capacity;
    uint64_t next[SC_ROWS_TABLES]; /* first row of the next rank */
    unsigned has;
    bool has_mpi;
    int64_t epoch; /* wall clock less monotonic clock, where the file's clock is */
    struct sc_digest digest;
};

/* ---- the run ---- */

/* Nothing is known of its rank. */
static const struct sc_row_rank unknown = {
    .thread_level = -1, .pid = -1, .pu = -1, .core = -1, .package = -1, .numa_node = -1};

static const char *fact(const struct recovery *r, const char *name)
{
    const struct sc_facts *f = r->run->facts;

    for (size_t i = 0; i < f->count; i++)
        if (f->attribute[i].kind == SC_H5_TEXT && strcmp(f->attribute[i].name, name) == 0)
            return f->attribute[i].text;
    return "";
}

static bool is_full(const struct recovery *r)
{
    return strcmp(fact(r, "metadata_detail"), "full") == 0;
}

static int allocate(struct recovery *r)
{
    const char *host;

    r->ranks = r->run->size > 0 ? (uint32_t)r->run->size : 1;
    r->parts = calloc(r->run->images, sizeof *r->parts);
    r->nodes = calloc(r->run->images + 1, sizeof *r->nodes);
    r->node_names = calloc(r->run->images + 1, sizeof *r->node_names);
    if (r->parts == NULL || r->nodes == NULL || r->node_names == NULL)
        return sc_fail(SC_ENOMEM, "no memory for %zu ranks", r->run->images);
    for (size_t i = 0; i < r->run->images; i++) {
        r->parts[i].rank = sc_salvage_rank(r->from, i, &host);
        if ((uint32_t)r->parts[i].rank >= r->ranks)
            r->ranks = (uint32_t)r->parts[i].rank + 1;
    }
    if (r->ranks > RANKS_MOST)
        return sc_fail(SC_EFORMAT, "damaged: a run of %u ranks", r->ranks);
    r->rows = calloc(r->ranks, sizeof *r->rows);
    r->bindings = calloc(r->ranks, sizeof *r->bindings);
    if (r->rows == NULL || r->bindings == NULL)
        return sc_fail(SC_ENOMEM, "no memory for %u ranks", r->ranks);
    for (uint32_t rank = 0; rank < r->ranks; rank++)
        r->rows[rank] = unknown;
    return 0;
}

/* The row of that host, made at need. */
static uint32_t find_node(struct recovery *r, const char *host)
{
    const size_t length = strlen(host);
    size_t i = 0;

    while (i < r->node_count &&
           (r->node_names[i].length != length || memcmp(r->node_names[i].data, host, length) != 0))
        i++;
    if (i == r->node_count) {
        r->nodes[i].topology = -1;
        r->node_names[r->node_count++] = (struct sc_h5_text){host, length};
    }
    return (uint32_t)i;
}

/* Hosts are aligned by their wall clocks, as in sc_publish(); one that makes no sense is left. */
static int64_t clock_offset(const struct recovery *r, int64_t epoch)
{
    const int64_t most = INT64_MAX / 8;
    int64_t offset;

    return __builtin_sub_overflow(epoch, r->epoch, &offset) || offset > most || offset < -most
               ? 0
               : offset;
}

static void set_row(struct recovery *r, size_t image, const struct sc_row_rank *recorded)
{
    struct sc_row_rank *row = &r->rows[r->parts[image].rank];
    const char *host;
    int64_t epoch;

    (void)sc_salvage_rank(r->from, image, &host);
    if (__builtin_sub_overflow(sc_runtime_begin_realtime(), sc_runtime_begin_ns(), &epoch))
        epoch = 0;
    if (r->read == 0) {
        r->epoch = epoch;
        r->first = (uint32_t)r->parts[image].rank;
    }
    *row = *recorded;
    row->node = find_node(r, host);
    row->thread_level = unknown.thread_level;
    row->pid = unknown.pid;
    row->pu = unknown.pu;
    row->core = unknown.core;
    row->package = unknown.package;
    row->numa_node = unknown.numa_node;
    row->clock_offset_ns = row->node == 0 ? 0 : clock_offset(r, epoch);
    row->start_ns += row->clock_offset_ns;
    row->end_ns += row->clock_offset_ns;
    r->nodes[row->node].ranks++;
}

/* ---- first: what all ranks have in common ---- */

static int keep_regions(struct recovery *r, const struct sc_recording *recording,
                        const struct sc_maps *maps)
{
    size_t row = (size_t)r->skeleton.total[SC_ROWS_INDEX];

    if (sc_array_reserve(&r->slice_regions, &r->slice_capacity, row + recording->slice_count,
                         sizeof *r->slice_regions) != 0)
        return sc_fail(SC_ENOMEM, "no memory for the index");
    for (size_t i = 0; i < recording->slice_count; i++)
        r->slice_regions[row + i] = maps->region[recording->slices[i].region];
    return 0;
}

/* Counts are those of a run that has every column. */
static int count_rows(struct recovery *r, size_t image, struct sc_recording *recording)
{
    struct part *part = &r->parts[image];
    struct sc_rows rows;
    int rc;

    set_row(r, image, &recording->rank);
    r->has |= sc_rows_has(recording, sc_runtime_settings()->value[SC_TRACK_ASYNC].number != 0);
    sc_rows_make(recording, &part->maps, (uint32_t)part->rank, &r->rows[part->rank], true, ~0u,
                 &rows);
    rc = keep_regions(r, recording, &part->maps);
    for (size_t i = 0; i < SC_ROWS_TABLES; i++) {
        part->count[i] = rows.table[i].count;
        r->skeleton.total[i] += part->count[i];
    }
    return rc;
}

static int add_rank(struct recovery *r, size_t image)
{
    struct part *part = &r->parts[image];
    struct sc_recording *recording = NULL;
    const struct sc_own *own;
    int rc = sc_salvage_load(r->from, image, &own);

    if (rc != 0) {
        part->is_lost = true;
        rc = rc == SC_ENOMEM ? rc : 0;
        if (rc == 0 && sc_string_print(r->notes, "scope: rank %d is left out: %s\n", part->rank,
                                       sc_last_error()) != 0)
            rc = SC_ENOMEM;
        return rc;
    }
    rc = sc_recording_create(&recording);
    if (rc == 0)
        rc = sc_numbering_add(&r->numbering, recording, own, sc_union_add, &part->maps);
    if (rc == 0)
        rc = sc_catalog_add(&r->catalog, own, sc_union_add, &part->maps);
    if (rc == 0)
        rc = count_rows(r, image, recording);
    sc_recording_free(recording);
    r->read++;
    return rc;
}

/* What is missing, in words. */
static int describe(struct recovery *r)
{
    int rc = sc_string_print(&r->incomplete, "%s", r->run->ended);

    if (rc == 0 && r->read < r->run->images)
        rc = sc_string_print(&r->incomplete, "; of %zu the image cannot be read",
                             r->run->images - r->read);
    return rc;
}

/* All ranks ask for the same level; when nobody said which, that there was MPI is known. */
static void set_thread_levels(struct recovery *r)
{
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    const char *known = fact(r, "mpi_thread_level");
    int32_t level = 3;

    while (level > 0 && strcmp(levels[level], known) != 0)
        level--;
    for (size_t i = 0; r->has_mpi && i < r->run->images; i++)
        if (!r->parts[i].is_lost)
            r->rows[r->parts[i].rank].thread_level = level;
}

static int add_ranks(struct recovery *r)
{
    int rc = allocate(r);

    for (size_t i = 0; rc == 0 && i < r->run->images; i++)
        rc = add_rank(r, i);
    if (rc == 0 && r->read == 0)
        rc = SC_EFORMAT; /* with the message of the last one */
    if (rc == 0)
        rc = describe(r);
    if (rc == 0)
        rc = sc_numbering_fill(&r->numbering);
    if (rc == 0)
        rc = sc_catalog_fill(&r->catalog, is_full(r));
    if (rc == 0)
        rc = sc_digest_create(&r->digest, r->numbering.path_count);
    r->has_mpi = r->numbering.comm_count > 0 || r->skeleton.total[SC_ROWS_MPI_TOTALS] > 0;
    set_thread_levels(r);
    if ((r->has & SC_HAS_TASKS) == 0)
        r->skeleton.total[SC_ROWS_TASKS] = 0;
    return rc;
}

/* ---- then: the file ---- */

static int copy_fact(struct sc_facts *to, const struct sc_h5_attribute *a)
{
    switch (a->kind) {
    case SC_H5_INT:
        return sc_facts_int(to, a->name, a->integer);
    case SC_H5_REAL:
        return sc_facts_real(to, a->name, a->real);
    case SC_H5_TEXT:
        return sc_facts_text(to, a->name, a->text);
    case SC_H5_TEXTS:
        return sc_facts_texts(to, a->name, a->texts, a->count);
    }
    return 0;
}

static int collect_facts(const struct recovery *r, struct sc_facts *f)
{
    const struct sc_row_rank *first = &r->rows[r->first];
    const struct sc_run_facts run = {.ranks = r->ranks,
                                     .nodes = r->node_count,
                                     .begin_realtime = r->run->begin_realtime,
                                     .start_ns = first->start_ns,
                                     .end_ns = first->end_ns,
                                     .output_mode = "direct"};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < r->run->facts->count; i++)
        rc = copy_fact(f, &r->run->facts->attribute[i]);
    if (rc == 0)
        rc = sc_facts_run(f, &run);
    if (rc == 0)
        rc = sc_facts_text(f, SC_A_INCOMPLETE, r->incomplete.data);
    return rc == 0 ? 0 : sc_fail(rc, "no memory for the facts of the run");
}

static int write_skeleton(struct recovery *r, const char *path)
{
    const bool full = is_full(r);
    struct sc_facts facts = {0};
    int rc = collect_facts(r, &facts);
    struct sc_h5_skeleton rest = {
        .attributes = facts.attribute,
        .attribute_count = facts.count,
        .ranks = r->ranks,
        .mpi = r->has_mpi,
        .has = r->has,
        .chunk = (uint64_t)sc_runtime_settings()->value[SC_HDF5_CHUNK_SIZE].number,
        .bindings = r->bindings,
        .nodes = r->nodes,
        .node_names = full ? r->node_names : NULL,
        .node_count = r->node_count,
    };

    r->skeleton.numbering = &r->numbering;
    r->skeleton.catalog = &r->catalog;
    r->skeleton.slice_regions = r->slice_regions;
    r->skeleton.full = full;
    if (rc == 0)
        rc = sc_skeleton_write(path, &r->skeleton, &rest);
    sc_facts_free(&facts);
    return rc;
}

static int write_tables(const char *path, const struct sc_h5_table *tables, size_t count)
{
    const struct sc_h5api *h5;
    struct sc_h5rows *rows = NULL;
    int rc = sc_h5_load_writer(&h5);

    if (rc == 0)
        rc = sc_h5rows_create(path, tables, count, &rows);
    if (rc == 0)
        rc = sc_h5rows_put(rows, h5);
    sc_h5rows_free(rows);
    return rc;
}

static void fill_ranks(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct recovery *r = context;

    memcpy(out[0], &r->rows[row], n * sizeof *r->rows);
}

static int write_ranks(struct recovery *r, const char *path)
{
    static const char *const datasets[] = {SC_D_RANKS};
    const struct sc_h5_table table = {.datasets = datasets,
                                      .columns = 1,
                                      .count = r->ranks,
                                      .fill = fill_ranks,
                                      .context = r,
                                      .window = 4096};

    return write_tables(path, &table, 1);
}

/* All tables but that of ranks, which is the first. */
static int write_rows(struct recovery *r, const struct part *part, const char *path,
                      struct sc_rows *rows)
{
    int rc;

    for (size_t i = 1; i < rows->tables; i++) {
        rows->table[i].first = r->next[i];
        r->next[i] += part->count[i];
        if (rows->table[i].count != part->count[i])
            return sc_fail(SC_EFORMAT, "rank %d: its image changes while it is read", part->rank);
    }
    rc = write_tables(path, rows->table + 1, rows->tables - 1);
    return rc == 0 ? rows->status : rc;
}

static int write_rank(struct recovery *r, size_t image, const char *path)
{
    const struct part *part = &r->parts[image];
    struct sc_recording *recording = NULL;
    const struct sc_own *own;
    struct sc_rows rows;
    int rc = sc_salvage_load(r->from, image, &own);

    if (rc == 0)
        rc = sc_recording_create(&recording);
    if (rc == 0) {
        sc_rows_make(recording, &part->maps, (uint32_t)part->rank, &r->rows[part->rank], r->has_mpi,
                     r->has, &rows);
        rc = write_rows(r, part, path, &rows);
    }
    if (rc == 0)
        sc_digest_add(&r->digest, part->rank, &r->rows[part->rank], recording, &part->maps);
    sc_recording_free(recording);
    return rc;
}

static int write_file(struct recovery *r, const char *path)
{
    int rc = write_skeleton(r, path);

    if (rc == 0)
        rc = write_ranks(r, path);
    for (size_t i = 0; rc == 0 && i < r->run->images; i++)
        if (!r->parts[i].is_lost)
            rc = write_rank(r, i, path);
    for (size_t i = r->read; rc == 0 && i < r->ranks; i++)
        sc_digest_add(&r->digest, (int)r->ranks, &unknown, NULL, NULL);
    return rc;
}

static int summarize(const struct recovery *r, const struct sc_output *output, uint64_t bytes,
                     int64_t began, struct sc_string *out)
{
    struct sc_summary s = {
        .command = fact(r, "command"),
        .label = r->run->label,
        .path = output->path,
        .start_realtime_ns = r->run->begin_realtime,
        .nodes = (int)r->node_count,
        .has_mpi = r->has_mpi,
        .file_bytes = bytes,
        .incomplete = r->incomplete.data,
    };
    int rc = sc_digest_summary(&r->digest, &r->numbering, (int)r->ranks, &s);

    s.finish_ns = sc_clock_monotonic() - began;
    if (rc == 0)
        sc_summary_text(&s, out);
    free((void *)s.paths);
    return rc;
}

static void recovery_free(struct recovery *r)
{
    for (size_t i = 0; r->parts != NULL && i < r->run->images; i++)
        sc_maps_free(&r->parts[i].maps);
    free(r->parts);
    free(r->rows);
    free(r->bindings);
    free(r->nodes);
    free(r->node_names);
    free(r->slice_regions);
    sc_numbering_free(&r->numbering);
    sc_catalog_free(&r->catalog);
    sc_digest_free(&r->digest);
    sc_string_free(&r->incomplete);
}

int sc_recover(struct sc_salvage *from, const char *path, struct sc_string *summary,
               struct sc_string *notes)
{
    struct recovery r = {.from = from, .run = sc_salvage_run(from), .notes = notes};
    const int64_t began = sc_clock_monotonic();
    struct sc_output output;
    uint64_t bytes = 0;
    int rc = sc_output_choose(path, (uint64_t)began, &output);

    if (rc == 0)
        rc = add_ranks(&r);
    if (rc == 0) {
        rc = write_file(&r, output.temporary);
        if (rc == 0)
            rc = sc_output_commit(&output, &bytes);
        if (rc != 0)
            sc_output_discard(&output, rc);
    }
    if (rc == 0)
        rc = summarize(&r, &output, bytes, began, summary);
    recovery_free(&r);
    return rc;
}
