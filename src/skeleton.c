/* SPDX-License-Identifier: BSD-3-Clause */
#include "skeleton.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"

/* The string columns of the index. */
struct columns {
    struct sc_h5_text *files, *texts, *tags, *metadata;
};

static int columns_create(struct columns *c, uint64_t count)
{
    c->files = calloc(count + 1, sizeof *c->files);
    c->texts = calloc(count + 1, sizeof *c->texts);
    c->tags = calloc(count + 1, sizeof *c->tags);
    c->metadata = calloc(count + 1, sizeof *c->metadata);
    return c->files && c->texts && c->tags && c->metadata
               ? 0
               : sc_fail(SC_ENOMEM, "no memory for the index");
}

static void columns_free(struct columns *c)
{
    free(c->files);
    free(c->texts);
    free(c->tags);
    free(c->metadata);
}

/* An absolute path says who compiled it, and where. */
static struct sc_h5_text without_folders(struct sc_h5_text path)
{
    const char *slash =
        path.length > 0 && path.data[0] == '/' ? memrchr(path.data, '/', path.length) : NULL;

    if (slash == NULL)
        return path;
    return (struct sc_h5_text){slash + 1, path.length - (size_t)(slash + 1 - path.data)};
}

static void columns_fill(struct columns *c, const struct sc_skeleton *s)
{
    static const struct sc_h5_text none = {"", 0}, empty_list = {"[]", 2};
    const struct sc_numbering *n = s->numbering;

    for (uint64_t i = 0; i < s->total[SC_ROWS_INDEX]; i++) {
        const struct sc_h5_text file = n->region_files[s->slice_regions[i]];

        c->files[i] = s->full ? file : without_folders(file);
        c->texts[i] = none;
        c->tags[i] = n->region_tags[s->slice_regions[i]];
        c->metadata[i] = empty_list;
    }
}

static void set_tables(struct sc_h5_skeleton *to, const struct sc_numbering *n,
                       const struct sc_catalog *c)
{
    to->region_names = n->region_names;
    to->regions = n->regions;
    to->comms = n->comms;
    to->comm_names = n->comm_names;
    to->comm_count = n->comm_count;
    to->comm_members = n->comm_members;
    to->comm_member_count = n->comm_member_count;
    to->objects = c->objects;
    to->object_names = c->object_names;
    to->object_count = c->object_count;
    to->sites = c->sites;
    to->site_count = c->site_count;
    to->module_names = c->module_names;
    to->module_build_ids = c->module_build_ids;
    to->module_count = c->module_count;
    to->paths = n->paths;
    to->path_count = n->path_count;
}

int sc_skeleton_write(const char *path, const struct sc_skeleton *s, struct sc_h5_skeleton *rest)
{
    struct columns columns = {0};
    int rc = columns_create(&columns, s->total[SC_ROWS_INDEX]);

    if (rc == 0) {
        columns_fill(&columns, s);
        set_tables(rest, s->numbering, s->catalog);
        rest->pairs = s->total[SC_ROWS_INDEX];
        rest->source_files = columns.files;
        rest->source_texts = columns.texts;
        rest->tags = columns.tags;
        rest->event_metadata = columns.metadata;
        rest->events = s->total[SC_ROWS_EVENTS];
        rest->mpi_events = s->total[SC_ROWS_MPI];
        rest->path_stats = s->total[SC_ROWS_PATH_STATS];
        rest->mpi_totals = s->total[SC_ROWS_MPI_TOTALS];
        rest->peers = s->total[SC_ROWS_PEERS];
        rest->tasks = s->total[SC_ROWS_TASKS];
        rc = sc_h5write_skeleton(path, rest);
    }
    columns_free(&columns);
    return rc;
}
