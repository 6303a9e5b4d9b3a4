/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Images as `scope recover` reads them, whatever is in them: found, loaded one by one, made a
 * recording, all rows of it walked. What is handed out points inside of what it points into.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base.h"
#include "h5write.h"
#include "images.h"
#include "recording.h"
#include "region.h"
#include "salvage.h"
#include "tasks.h"
#include "totals.h"

const char fuzz_name[] = "salvage";
const unsigned fuzz_rounds = 120;
const int fuzz_past_end = -1;

/* What no time is. */
#define UNWRITTEN (INT64_MIN + 4711)

static void *allocate(size_t count, size_t size)
{
    void *p = calloc(count + 1, size); /* none is a number, too */

    if (p == NULL)
        fuzz_broken("%zu of %zu bytes", count, size);
    return p;
}

/* Every byte of a text, and its NUL. */
static void read_text(const char *text)
{
    if (strlen(text) > PTRDIFF_MAX)
        fuzz_broken("a text without end");
}

/* ---- what a rank brings ---- */

static void check_own(const struct sc_own *own)
{
    const size_t most = FUZZ_IMAGE_MOST / 32; /* notes that a file has room for */

    if (own->comms.count > most || own->object_count > most || own->site_count > most ||
        own->module_count > most)
        fuzz_broken("more numbers than notes");
    for (size_t i = 0; i < own->comms.count; i++) {
        const struct sc_item *item = &own->comms.item[i];

        fuzz_inside("the end of a communicator", (int64_t)(item->at + item->length + item->extra),
                    own->comms.bytes_length + 1, 0);
    }
    for (size_t i = 0; i < own->object_count; i++) {
        fuzz_inside("communicator", own->objects[i].comm, own->comms.count, -1);
        read_text(own->objects[i].name);
    }
    for (size_t i = 0; i < own->site_count; i++)
        fuzz_inside("module", own->sites[i].module, own->module_count, -1);
    for (size_t i = 0; i < own->module_count; i++) {
        read_text(own->modules[i].path);
        read_text(own->modules[i].build_id);
    }
}

/* ---- rows ---- */

static void walk_events(struct sc_recording *r)
{
    const size_t window = r->rows / 3 + 1;
    int64_t *column[3];

    for (int c = 0; c < 3; c++)
        column[c] = allocate(window, sizeof **column);
    for (uint64_t first = 0; first < r->rows; first += window) {
        const size_t n = r->rows - first < window ? (size_t)(r->rows - first) : window;

        for (size_t i = 0; i < n; i++)
            column[0][i] = column[1][i] = column[2][i] = UNWRITTEN;
        if (sc_recording_event_rows(r, first, n, 0, column[0], column[1], column[2]) != 0)
            fuzz_broken("no rows: %s", sc_last_error());
        for (size_t i = 0; i < n; i++)
            if (column[0][i] == UNWRITTEN || column[1][i] == UNWRITTEN || column[2][i] == UNWRITTEN)
                fuzz_broken("event row %zu of %llu was left out", (size_t)first + i,
                            (unsigned long long)r->rows);
    }
    for (int c = 0; c < 3; c++)
        free(column[c]);
}

static int32_t *count_up(size_t count)
{
    int32_t *map = allocate(count, sizeof *map);

    for (size_t i = 0; i < count; i++)
        map[i] = (int32_t)i;
    return map;
}

static void walk_ops(struct sc_recording *r, const struct sc_own *own)
{
    const size_t n = (size_t)r->ops;
    int32_t *comm = count_up(own->comms.count), *object = count_up(own->object_count);
    int32_t *site = count_up(own->site_count);
    const struct sc_op_maps maps = {comm, object, site};
    struct sc_op_columns c = {.comms = allocate(n, sizeof *c.comms),
                              .peers = allocate(n, sizeof *c.peers),
                              .sent = allocate(n, sizeof *c.sent),
                              .received = allocate(n, sizeof *c.received),
                              .tags = allocate(n, sizeof *c.tags),
                              .objects = allocate(n, sizeof *c.objects),
                              .sites = allocate(n, sizeof *c.sites),
                              .errors = allocate(n, sizeof *c.errors),
                              .requests = allocate(n, sizeof *c.requests)};

    for (size_t i = 0; i < n; i++)
        c.comms[i] = c.objects[i] = c.sites[i] = INT32_MIN; /* nothing that is handed out */
    if (sc_recording_op_rows(r, 0, n, &maps, &c) != 0)
        fuzz_broken("no rows: %s", sc_last_error());
    for (size_t i = 0; i < n; i++) {
        fuzz_inside("communicator", c.comms[i], own->comms.count, -1);
        fuzz_inside("object", c.objects[i], own->object_count, -1);
        fuzz_inside("site", c.sites[i], own->site_count, -1);
    }
    free(comm), free(object), free(site);
    free(c.comms), free(c.peers), free(c.sent), free(c.received), free(c.tags);
    free(c.objects), free(c.sites), free(c.errors), free(c.requests);
}

static void walk_tasks(void)
{
    const size_t n = (size_t)sc_tasks_count();
    int64_t *number[7];
    char *text[3];

    for (int c = 0; c < 7; c++)
        number[c] = allocate(n, sizeof **number);
    for (int c = 0; c < 3; c++)
        text[c] = allocate(n, SC_TEXT_BYTES);
    sc_tasks_rows(0, n, 0,
                  &(struct sc_task_columns){number[0], number[1], number[2], number[3], number[4],
                                            number[5], number[6], text[0], text[1], text[2]});
    for (size_t i = 0; i < n; i++)
        for (int c = 0; c < 3; c++)
            if (memchr(text[c] + i * SC_TEXT_BYTES, '\0', SC_TEXT_BYTES) == NULL)
                fuzz_broken("a text without end in task %zu", i);
    for (int c = 0; c < 7; c++)
        free(number[c]);
    for (int c = 0; c < 3; c++)
        free(text[c]);
}

/* ---- totals ---- */

static void walk_totals(const struct sc_recording *r, const struct sc_own *own, int32_t size)
{
    const struct sc_totals *t = sc_callpath_totals(r->paths);
    const uint64_t ranks = size < 0 ? INT32_MAX : (uint64_t)size;
    size_t paths;
    const struct sc_path *path = sc_callpath_paths(r->paths, &paths);

    for (size_t i = 0; i < paths; i++) {
        fuzz_inside("parent", path[i].parent, i, -1);
        fuzz_inside("region", path[i].region, sc_region_count(), 0);
    }
    for (size_t i = 0; i < t->count; i++) {
        fuzz_inside("path", t->total[i].path, paths, 0);
        fuzz_inside("communicator", t->total[i].comm, own->comms.count, -1);
        fuzz_inside("object", t->total[i].object, own->object_count, -1);
        fuzz_inside("site", t->total[i].site, own->site_count, -1);
        fuzz_inside("size class", t->total[i].size_class, 65, 0);
    }
    for (size_t i = 0; i < t->peer_count; i++)
        fuzz_inside("peer", t->peer[i].peer, ranks, -1);
}

static void walk(const struct sc_own *own, int32_t size)
{
    struct sc_recording *r = NULL;

    check_own(own);
    if (sc_recording_create(&r) != 0)
        fuzz_broken("no recording: %s", sc_last_error());
    for (size_t i = 0; i < r->slice_count; i++) {
        const struct sc_slice *s = &r->slices[i];

        fuzz_inside("region", s->region, sc_region_count(), 0);
        if (s->ops != 0 && s->ops != s->rows)
            fuzz_broken("%llu of %llu rows are calls", (unsigned long long)s->ops,
                        (unsigned long long)s->rows);
    }
    walk_events(r);
    walk_ops(r, own);
    walk_tasks();
    walk_totals(r, own, size);
    sc_recording_free(r);
}

/* ---- runs ---- */

static void read_facts(const struct sc_facts *f)
{
    for (size_t i = 0; i < f->count; i++) {
        const struct sc_h5_attribute *a = &f->attribute[i];

        read_text(a->name);
        if (a->kind == SC_H5_TEXT)
            read_text(a->text);
        for (size_t k = 0; a->kind == SC_H5_TEXTS && k < a->count; k++)
            read_text(a->texts[k]);
    }
}

static int refused(void)
{
    if (sc_last_error()[0] == '\0' || strchr(sc_last_error(), '\n') != NULL)
        fuzz_broken("not one line: '%s'", sc_last_error());
    return 1;
}

int fuzz_one(const unsigned char *data, size_t size)
{
    const struct sc_salvage_run *run;
    const struct sc_own *own;
    struct sc_salvage *s;
    const char *host;
    size_t loaded = 0;

    mkdir("images", 0777);
    if (sc_salvage_open(images_unpack(data, size, "images") > 1 ? "images" : "images/0.image",
                        &s) != 0)
        return refused();
    run = sc_salvage_run(s);
    read_text(run->path);
    read_text(run->label);
    read_text(run->ended);
    read_facts(run->facts);
    for (size_t i = 0; i < run->images; i++) {
        fuzz_inside("rank", sc_salvage_rank(s, i, &host),
                    run->size < 0 ? INT32_MAX : (uint64_t)run->size, 0);
        read_text(host);
        if (sc_salvage_load(s, i, &own) != 0)
            refused();
        else
            walk(own, run->size), loaded++;
    }
    sc_salvage_close(s);
    return loaded == 0;
}

void fuzz_seeds(fuzz_take *take)
{
    images_seeds(take);
}

void fuzz_past(fuzz_take *take)
{
    images_past(take);
}

size_t fuzz_mutate(unsigned char *data, size_t size, size_t most, struct fuzz_random *r)
{
    return images_mutate(data, size, most, r);
}
