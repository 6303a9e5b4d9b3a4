/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bring.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "comm.h"
#include "image.h"
#include "layout.h"
#include "object.h"
#include "own.h"
#include "world.h"

_Static_assert(sizeof(struct sc_comm_key) == SC_COMM_KEY, "keys are the same here and there");
_Static_assert((int)SC_OBJECT_FILE == SC_OWN_FILE && (int)SC_OBJECT_WINDOW == SC_OWN_WINDOW,
               "kinds are the same here and there");

/* The run that begins at i. Ranks of another world (-1) are a run of their own, of stride 0. */
static struct sc_row_run run_at(const int32_t *world_ranks, int32_t size, int32_t i)
{
    struct sc_row_run run = {.first = i, .stride = 1, .count = (uint32_t)(size - i)};
    int32_t next = i + 1;

    if (world_ranks == NULL)
        return run;
    run.first = world_ranks[i];
    if (run.first < 0)
        run.stride = 0;
    else if (next < size && world_ranks[next] >= 0)
        run.stride = world_ranks[next] - world_ranks[i];
    while (next < size && (world_ranks[next] < 0) == (run.first < 0) &&
           world_ranks[next] - world_ranks[next - 1] == run.stride)
        next++;
    run.count = (uint32_t)(next - i);
    return run;
}

/* Appends world ranks as runs; NULL: 0, 1, 2 ... Gives the number of runs, or a negative status. */
static int append_runs(struct sc_string *out, const int32_t *world_ranks, int32_t size)
{
    int runs = 0;

    for (int32_t i = 0; i < size; runs++) {
        struct sc_row_run run = run_at(world_ranks, size, i);

        if (sc_string_append(out, &run, sizeof run) != 0)
            return SC_ENOMEM;
        i += (int32_t)run.count;
    }
    return runs;
}

/* Any member may be the one whose word is taken, so all say the same: of an inter-communicator the
 * group whose member 0 has the lower world rank comes first. */
int sc_bring_comm(struct sc_items *items, const struct sc_comm *c)
{
    struct sc_string extra = {0};
    const int32_t *first = c->world_ranks, *second = c->remote_world_ranks;
    int32_t first_size = c->size, second_size = c->remote_size;
    struct sc_own_comm head = {0};
    const char *name = c->name == NULL ? "" : c->name;
    int rc, runs;

    if (second_size > 0 && second[0] < (first == NULL ? 0 : first[0])) {
        second = c->world_ranks, second_size = c->size;
        first = c->remote_world_ranks, first_size = c->remote_size;
    }
    if (c->parent >= 0) {
        memcpy(head.parent, &sc_comm_get(c->parent)->key, sizeof head.parent);
        head.has_parent = 1;
    }
    head.size = (uint32_t)first_size;
    head.remote_size = (uint32_t)second_size;
    rc = sc_string_append(&extra, &head, sizeof head);
    runs = rc == 0 ? append_runs(&extra, first, first_size) : rc;
    head.runs = (uint32_t)runs;
    if (runs >= 0)
        runs = append_runs(&extra, second, second_size);
    head.remote_runs = (uint32_t)runs;
    rc = runs < 0 ? runs : sc_string_append(&extra, name, strlen(name));
    if (rc == 0)
        memcpy(extra.data, &head, sizeof head);
    if (rc == 0)
        rc = sc_items_add(items, -1, &c->key, sizeof c->key, extra.data, extra.length);
    sc_string_free(&extra);
    return rc;
}

static int bring_objects(struct sc_own *own, size_t count)
{
    own->objects = calloc(count + 1, sizeof *own->objects);
    if (own->objects == NULL)
        return SC_ENOMEM;
    for (; own->object_count < count; own->object_count++) {
        const struct sc_object *o = sc_object_get((int32_t)own->object_count);

        own->objects[own->object_count] =
            (struct sc_own_object){o->kind, o->comm, o->ordinal, o->name};
    }
    return 0;
}

/* Sites first: their modules are there then. */
static int bring_sites(struct sc_own *own)
{
    own->site_count = (size_t)sc_site_count();
    own->module_count = (size_t)sc_module_count();
    own->sites = calloc(own->site_count + 1, sizeof *own->sites);
    own->modules = calloc(own->module_count + 1, sizeof *own->modules);
    if (own->sites == NULL || own->modules == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < own->site_count; i++)
        own->sites[i] = *sc_site_get((int32_t)i);
    for (size_t i = 0; i < own->module_count; i++)
        own->modules[i] = *sc_module_get((int32_t)i);
    return 0;
}

void sc_bring_note_comm(const struct sc_comm *c)
{
    const int32_t key = SC_COMM_KEY;
    struct sc_items one = {0};
    struct sc_string note = {0};

    if (sc_image_head() != NULL && sc_bring_comm(&one, c) == 0 &&
        sc_string_append(&note, &key, sizeof key) == 0 &&
        sc_string_append(&note, one.bytes, one.bytes_length) == 0)
        sc_image_note(SC_NOTE_COMM, (uint32_t)c->number, note.data, note.length);
    sc_string_free(&note);
    sc_items_free(&one);
}

void sc_bring_note_object(const struct sc_object *o)
{
    const int32_t head[] = {(int32_t)o->kind, o->comm, (int32_t)o->ordinal};
    struct sc_string note = {0};

    if (sc_image_head() != NULL && sc_string_append(&note, head, sizeof head) == 0 &&
        sc_string_append(&note, o->name, strlen(o->name) + 1) == 0)
        sc_image_note(SC_NOTE_OBJECT, (uint32_t)o->number, note.data, note.length);
    sc_string_free(&note);
}

void sc_bring_note_all(void)
{
    for (int32_t i = 0; i < sc_comm_count(); i++)
        sc_bring_note_comm(sc_comm_get(i));
    for (int32_t i = 0; i < sc_object_count(); i++)
        sc_bring_note_object(sc_object_get(i));
}

int sc_bring(struct sc_own *own)
{
    const bool has_mpi = sc_world_is_open();
    const int32_t comms = has_mpi ? sc_comm_count() : 0;
    int rc = 0;

    *own = (struct sc_own){0};
    for (int32_t i = 0; rc == 0 && i < comms; i++)
        rc = sc_bring_comm(&own->comms, sc_comm_get(i));
    if (rc == 0)
        rc = bring_objects(own, has_mpi ? (size_t)sc_object_count() : 0);
    if (rc == 0)
        rc = bring_sites(own);
    return rc == 0 ? 0 : sc_fail(rc, "no memory to publish");
}
