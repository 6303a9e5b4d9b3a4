/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * profile: a made-up run of any number of ranks, regions and events, for the tests that write
 * profile files. Every value follows from its row, so any process knows what any row must hold.
 */
#ifndef TESTS_UNIT_PROFILE_H
#define TESTS_UNIT_PROFILE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "h5write.h"

enum { TABLES = 7, MPI_TABLES = 3, MOST_RANKS = 64 };

/* The run: rank r has pairs[r] slices, events[r] events, ops[r] MPI operations and so on. */
struct profile {
    struct sc_h5_skeleton skeleton;
    uint64_t pairs[MOST_RANKS], events[MOST_RANKS], ops[MOST_RANKS];
    uint64_t stats[MOST_RANKS], totals[MOST_RANKS], peers[MOST_RANKS];
};

/* The rows of one rank; first is where its rows begin, which every value is made of. */
struct profile_rows {
    struct sc_h5_table tables[TABLES];
    struct part {
        const struct sc_h5_table *table;
        unsigned fills;   /* calls of fill */
        uint64_t largest; /* window asked for */
    } parts[TABLES];
};

static const struct sc_h5_attribute profile_attributes[] = {
    {.name = "rank_count", .kind = SC_H5_INT, .integer = 3},
    {.name = "overhead", .kind = SC_H5_REAL, .real = 0.25},
    {.name = "command", .kind = SC_H5_TEXT, .text = "./heat --size 10"},
    {.name = "modules",
     .kind = SC_H5_TEXTS,
     .texts = (const char *const[]){"a", "", "c/1.0"},
     .count = 3},
    {.name = "nothing", .kind = SC_H5_TEXTS, .texts = NULL, .count = 0},
};

static const char *const index_columns[] = {SC_D_INDEX_REGION_IDS,    SC_D_INDEX_RANKS,
                                            SC_D_INDEX_EVENT_OFFSETS, SC_D_INDEX_EVENT_COUNTS,
                                            SC_D_INDEX_SOURCE_LINES,  SC_D_INDEX_EXCLUSIVE,
                                            SC_D_INDEX_SUMMARY,       SC_D_MPI_OFFSETS};
static const char *const event_columns[] = {SC_D_EVENT_STARTS, SC_D_EVENT_DURATIONS,
                                            SC_D_EVENT_AWAIT};
static const char *const op_columns[] = {SC_D_MPI_COMMS,    SC_D_MPI_PEERS,  SC_D_MPI_SENT,
                                         SC_D_MPI_RECEIVED, SC_D_MPI_TAGS,   SC_D_MPI_OBJECTS,
                                         SC_D_MPI_SITES,    SC_D_MPI_ERRORS, SC_D_MPI_REQUESTS};
static const char *const rank_columns[] = {SC_D_RANKS};
static const char *const stats_columns[] = {SC_D_PATH_STATS};
static const char *const totals_columns[] = {SC_D_MPI_TOTALS};
static const char *const peers_columns[] = {SC_D_PEERS};

/* All optional columns or none. */
enum {
    ALL_COLUMNS =
        SC_HAS_TAGS | SC_HAS_OBJECTS | SC_HAS_SITES | SC_HAS_ERRORS | SC_HAS_REQUESTS | SC_HAS_AWAIT
};

/* Byte b of element row of a dataset. */
static inline unsigned char profile_byte(const char *dataset, uint64_t row, size_t b)
{
    uint64_t x = (row + 1) * 0x9E3779B97F4A7C15u + strlen(dataset) * 31 + b;

    return (unsigned char)(x >> (8 * (b % 8)));
}

static inline void profile_fill(void *context, uint64_t row, size_t n, void *const *out)
{
    struct part *part = context;
    const struct sc_h5_table *t = part->table;

    part->fills++;
    part->largest = n > part->largest ? n : part->largest;
    for (size_t c = 0; c < t->columns; c++) {
        size_t size = sc_h5_element_size(t->datasets[c]);
        unsigned char *bytes = out[c];

        for (size_t i = 0; i < n; i++)
            for (size_t b = 0; b < size; b++)
                *bytes++ = profile_byte(t->datasets[c], t->first + row + i, b);
    }
}

/* Rows of a rank come after those of the ranks before it. */
static inline void profile_rank(const struct profile *p, uint32_t rank, size_t window,
                                struct profile_rows *rows)
{
    const struct {
        const char *const *datasets;
        size_t columns;
        const uint64_t *counts; /* NULL: one */
    } all[TABLES] = {
        {index_columns, p->skeleton.mpi ? 8 : 7, p->pairs},
        {event_columns, p->skeleton.has != 0 ? 3 : 2, p->events},
        {rank_columns, 1, NULL},
        {stats_columns, 1, p->stats},
        {op_columns, p->skeleton.has != 0 ? 9 : 4, p->ops},
        {totals_columns, 1, p->totals},
        {peers_columns, 1, p->peers},
    };

    memset(rows, 0, sizeof(*rows));
    for (size_t i = 0; i < TABLES; i++) {
        struct sc_h5_table *t = &rows->tables[i];

        rows->parts[i].table = t;
        *t = (struct sc_h5_table){.datasets = all[i].datasets,
                                  .columns = all[i].columns,
                                  .count = all[i].counts ? all[i].counts[rank] : 1,
                                  .fill = profile_fill,
                                  .context = &rows->parts[i],
                                  .window = window};
        for (uint32_t r = 0; r < rank; r++)
            t->first += all[i].counts ? all[i].counts[r] : 1;
    }
}

static inline size_t profile_tables(const struct profile *p)
{
    return p->skeleton.mpi ? TABLES : TABLES - MPI_TABLES;
}

/* Sums the ranks up into the skeleton. */
static inline void profile_sum(struct profile *p)
{
    struct sc_h5_skeleton *s = &p->skeleton;

    s->pairs = s->events = s->mpi_events = s->path_stats = s->mpi_totals = s->peers = 0;
    for (uint32_t r = 0; r < s->ranks; r++) {
        s->pairs += p->pairs[r];
        s->events += p->events[r];
        s->mpi_events += p->ops[r];
        s->path_stats += p->stats[r];
        s->mpi_totals += p->totals[r];
        s->peers += p->peers[r];
    }
}

/* The same text for every row of a string column. */
static inline const struct sc_h5_text *profile_texts(const char *text, uint64_t count)
{
    static struct sc_h5_text *kept[1000]; /* until the end: tests are short */
    static size_t kept_count;
    struct sc_h5_text *texts = calloc((size_t)count + 1, sizeof(*texts));

    for (uint64_t i = 0; texts != NULL && i < count; i++)
        texts[i] = (struct sc_h5_text){text, strlen(text)};
    kept[kept_count] = texts;
    return kept[kept_count++];
}

/* An uneven run: rank 1 has no events, the last one the most. */
static inline void profile_make(struct profile *p, uint32_t ranks, uint64_t events, uint64_t chunk)
{
    static const struct sc_row_comm comms[] = {{.parent = -1, .size = 3, .runs = 1}};
    static const struct sc_row_run runs[] = {{0, 1, 3}};
    static const struct sc_row_path paths[] = {{-1, 0}, {0, 1}};
    static const struct sc_row_object objects[] = {{1, 0}, {2, 0}};
    static const struct sc_row_site sites[] = {{.module = 0, .offset = 77}};
    static const struct sc_row_node nodes[] = {{3, 0}};
    static struct sc_row_topology topology = {.packages = 1, .numa_nodes = 1, .cores = 2, .pus = 2};
    static unsigned char xml[100000];

    memset(p, 0, sizeof(*p));
    memset(xml, 'x', sizeof(xml));
    topology.xml_length = sizeof(xml);
    for (uint32_t r = 0; r < ranks; r++) {
        p->events[r] = r == 1 ? 0 : events * (r + 1);
        p->ops[r] = p->events[r] / 2;
        p->pairs[r] = r == 1 ? 0 : 3 + r;
        p->stats[r] = p->pairs[r] + 1;
        p->totals[r] = p->pairs[r] * 2;
        p->peers[r] = ranks + r;
    }
    p->skeleton = (struct sc_h5_skeleton){.attributes = profile_attributes,
                                          .attribute_count = 5,
                                          .region_names = profile_texts("solve", 7),
                                          .regions = 7,
                                          .ranks = ranks,
                                          .mpi = 1,
                                          .has = ALL_COLUMNS,
                                          .chunk = chunk,
                                          .bindings = profile_texts("0-1", ranks),
                                          .nodes = nodes,
                                          .node_names = profile_texts("node001", 1),
                                          .node_count = 1,
                                          .topologies = &topology,
                                          .topology_count = 1,
                                          .topology_xml = xml,
                                          .topology_xml_length = sizeof(xml),
                                          .comms = comms,
                                          .comm_names = profile_texts("MPI_COMM_WORLD", 1),
                                          .comm_count = 1,
                                          .comm_members = runs,
                                          .comm_member_count = 1,
                                          .objects = objects,
                                          .object_names = profile_texts("out.dat", 2),
                                          .object_count = 2,
                                          .sites = sites,
                                          .site_count = 1,
                                          .module_names = profile_texts("/bin/heat", 1),
                                          .module_build_ids = profile_texts("0a1b", 1),
                                          .module_count = 1,
                                          .paths = paths,
                                          .path_count = 2};
    profile_sum(p);
    p->skeleton.source_files = profile_texts("heat.c", p->skeleton.pairs);
    p->skeleton.tags = profile_texts("[\"mpi\"]", p->skeleton.pairs);
}

/* One region, one event, nothing else. */
static inline void profile_make_small(struct profile *p)
{
    static const struct sc_row_path paths[] = {{-1, 0}};
    static const struct sc_row_node nodes[] = {{1, -1}};

    memset(p, 0, sizeof(*p));
    p->pairs[0] = p->events[0] = p->stats[0] = 1;
    p->skeleton = (struct sc_h5_skeleton){.region_names = profile_texts("solve", 1),
                                          .regions = 1,
                                          .ranks = 1,
                                          .bindings = profile_texts("0", 1),
                                          .nodes = nodes,
                                          .node_names = profile_texts("node001", 1),
                                          .node_count = 1,
                                          .paths = paths,
                                          .path_count = 1};
    profile_sum(p);
    p->skeleton.source_files = profile_texts("heat.c", 1);
    p->skeleton.source_texts = profile_texts("", 1);
    p->skeleton.tags = profile_texts("[]", 1);
    p->skeleton.event_metadata = profile_texts("[]", 1);
}

/* Whether every element of the dataset is what profile_fill() says; prints the first that is not.
 */
static inline int profile_check(const char *path, const char *dataset, uint64_t count)
{
    const struct sc_h5api *h5;
    size_t size = sc_h5_element_size(dataset), all = size * (size_t)count;
    unsigned char *bytes = malloc(all + 1);
    struct sc_h5_table one = {.datasets = &dataset, .columns = 1};
    hid_t file, set, type;
    int good;

    if (sc_h5_load_writer(&h5) != 0)
        return 0;
    file = h5->H5Fopen(path, SC_H5F_RDONLY, H5P_DEFAULT);
    set = h5->H5Dopen2(file, dataset, H5P_DEFAULT);
    type = h5->H5Dget_type(set);
    good = h5->H5Tget_size(type) == size && /* also: no padding in the file */
           h5->H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes) >= 0;
    h5->H5Tclose(type);
    h5->H5Dclose(set);
    h5->H5Fclose(file);
    for (size_t i = 0; good && i < all; i++)
        good = bytes[i] == profile_byte(one.datasets[0], i / size, i % size);
    free(bytes);
    if (!good)
        printf("%s: %s is not what was written\n", path, dataset);
    return good;
}

/* Every row of every table of the run. */
static inline int profile_check_all(const char *path, const struct profile *p)
{
    struct profile_rows last, first;
    int good = 1;

    profile_rank(p, 0, 1, &first);
    profile_rank(p, p->skeleton.ranks - 1, 1, &last);
    for (size_t i = 0; i < profile_tables(p); i++)
        for (size_t c = 0; c < first.tables[i].columns; c++)
            good &= profile_check(path, first.tables[i].datasets[c],
                                  last.tables[i].first + last.tables[i].count);
    return good;
}

#endif
