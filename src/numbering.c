/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "numbering.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "region.h"

/* ---- regions: key = kind, name, NUL; extra = line, file, NUL, tags ---- */

static int add_region(struct sc_items *items, const struct sc_region *r)
{
    struct sc_string key = {0}, extra = {0};
    unsigned char kind = (unsigned char)r->kind;
    int64_t line = r->line;
    int rc = sc_string_append(&key, &kind, 1);

    if (rc == 0)
        rc = sc_string_append(&key, r->name, r->length + 1);
    if (rc == 0)
        rc = sc_string_append(&extra, &line, sizeof line);
    if (rc == 0)
        rc = sc_string_append(&extra, r->file, strlen(r->file) + 1);
    if (rc == 0)
        rc = sc_string_append(&extra, r->tags, strlen(r->tags));
    if (rc == 0)
        rc = sc_items_add(items, -1, key.data, key.length, extra.data, extra.length);
    sc_string_free(&key);
    sc_string_free(&extra);
    return rc;
}

/* Regions that occur in a path are in the file, in order of their local ids. place: [local id],
 * then of items. */
static int list_regions(const struct sc_recording *recording, struct sc_items *items,
                        uint32_t *place, uint32_t count)
{
    const struct sc_path *path;
    size_t paths;
    int rc = 0;

    memset(place, 0xff, (size_t)count * sizeof *place);
    if (recording == NULL)
        return 0;
    path = sc_callpath_paths(recording->paths, &paths);
    for (size_t i = 0; i < paths; i++)
        if (path[i].region < count)
            place[path[i].region] = 0;
    for (uint32_t id = 0; rc == 0 && id < count; id++) {
        if (place[id] == UINT32_MAX)
            continue;
        place[id] = (uint32_t)items->count;
        rc = add_region(items, sc_region_get(id));
    }
    return rc;
}

static int number_regions(struct sc_numbering *n, const struct sc_recording *recording,
                          sc_unite_fn *unite, uint32_t **region)
{
    const uint32_t count = sc_region_count();
    struct sc_items mine = {0};
    uint32_t *map = NULL, *place = malloc(((size_t)count + 1) * sizeof *place);
    int rc = place == NULL ? SC_ENOMEM : list_regions(recording, &mine, place, count);

    rc = sc_items_unite(unite, &n->all_regions, rc, &mine, &map);
    for (uint32_t id = 0; rc == 0 && id < count; id++)
        if (place[id] != UINT32_MAX)
            place[id] = map[place[id]];
    free(map);
    sc_items_free(&mine);
    *region = place;
    return rc;
}

static int fill_regions(struct sc_numbering *n)
{
    const struct sc_items *all = &n->all_regions.items;

    n->regions = all->count;
    n->region_names = calloc(all->count + 1, sizeof *n->region_names);
    n->region_is_mpi = calloc(all->count + 1, 1);
    n->region_files = calloc(all->count + 1, sizeof *n->region_files);
    n->region_tags = calloc(all->count + 1, sizeof *n->region_tags);
    n->region_lines = calloc(all->count + 1, sizeof *n->region_lines);
    if (n->region_names == NULL || n->region_is_mpi == NULL || n->region_files == NULL ||
        n->region_tags == NULL || n->region_lines == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        const struct sc_item *item = &all->item[i];
        const char *key = all->bytes + item->at, *extra = key + item->length;
        size_t file = strlen(extra + sizeof(int64_t));
        size_t tags_at = sizeof(int64_t) + file + 1;

        n->region_is_mpi[i] = key[0] == SC_REGION_MPI;
        n->region_names[i] = (struct sc_h5_text){key + 1, item->length - 2};
        memcpy(&n->region_lines[i], extra, sizeof(int64_t));
        n->region_files[i] = (struct sc_h5_text){extra + sizeof(int64_t), file};
        n->region_tags[i] = (struct sc_h5_text){extra + tags_at, item->extra - tags_at};
    }
    return 0;
}

/* ---- call paths: key = the file's region number ---- */

static int number_paths(struct sc_numbering *n, const struct sc_recording *recording,
                        sc_unite_fn *unite, struct sc_maps *maps)
{
    const struct sc_path *path = NULL;
    struct sc_items mine = {0};
    size_t count = 0;
    int rc = 0;

    if (recording != NULL)
        path = sc_callpath_paths(recording->paths, &count);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = sc_items_add(&mine, path[i].parent, &maps->region[path[i].region],
                          sizeof *maps->region, NULL, 0);
    rc = sc_items_unite(unite, &n->all_paths, rc, &mine, &maps->path);
    sc_items_free(&mine);
    return rc;
}

static int fill_paths(struct sc_numbering *n)
{
    const struct sc_items *all = &n->all_paths.items;

    n->path_count = all->count;
    n->paths = calloc(all->count + 1, sizeof *n->paths);
    if (n->paths == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        n->paths[i].parent = all->item[i].parent;
        memcpy(&n->paths[i].region, all->bytes + all->item[i].at, sizeof n->paths[i].region);
    }
    return 0;
}

/* ---- communicators: own.h ---- */

/* An item's runs go to the table; gives where its name begins. */
static const char *take_runs(struct sc_numbering *n, const char *from, uint32_t count)
{
    memcpy(n->comm_members + n->comm_member_count, from, count * sizeof(struct sc_row_run));
    n->comm_member_count += count;
    return from + count * sizeof(struct sc_row_run);
}

struct keyed {
    unsigned char key[SC_COMM_KEY];
    int32_t id;
};

static int compare_keys(const void *a, const void *b)
{
    return memcmp(((const struct keyed *)a)->key, ((const struct keyed *)b)->key, SC_COMM_KEY);
}

/* All keys with their rows, sorted; NULL: no memory. */
static struct keyed *sort_keys(const struct sc_items *all)
{
    struct keyed *keyed = calloc(all->count + 1, sizeof *keyed);

    if (keyed == NULL)
        return NULL;
    for (size_t i = 0; i < all->count; i++) {
        memcpy(keyed[i].key, all->bytes + all->item[i].at, SC_COMM_KEY);
        keyed[i].id = (int32_t)i;
    }
    qsort(keyed, all->count, sizeof *keyed, compare_keys);
    return keyed;
}

static int32_t find_parent(const struct keyed *keyed, size_t count, const struct sc_own_comm *head)
{
    struct keyed wanted = {.id = -1};
    const struct keyed *found = NULL;

    memcpy(wanted.key, head->parent, SC_COMM_KEY);
    if (head->has_parent)
        found = bsearch(&wanted, keyed, count, sizeof *keyed, compare_keys);
    return found == NULL ? -1 : found->id;
}

static int fill_comms(struct sc_numbering *n)
{
    const struct sc_items *all = &n->all_comms.items;
    struct keyed *keyed = sort_keys(all);

    if (keyed == NULL)
        return SC_ENOMEM;
    n->comm_count = all->count;
    n->comms = calloc(all->count + 1, sizeof *n->comms);
    n->comm_names = calloc(all->count + 1, sizeof *n->comm_names);
    n->comm_members = malloc(all->bytes_length + 1);
    if (n->comms == NULL || n->comm_names == NULL || n->comm_members == NULL) {
        free(keyed);
        return SC_ENOMEM;
    }
    for (size_t i = 0; i < all->count; i++) {
        const struct sc_item *item = &all->item[i];
        const char *extra = all->bytes + item->at + item->length, *name;
        struct sc_row_comm *c = &n->comms[i];
        struct sc_own_comm head;

        memcpy(&head, extra, sizeof head);
        c->parent = find_parent(keyed, all->count, &head);
        c->size = head.size;
        c->remote_size = head.remote_size;
        c->runs = head.runs;
        c->remote_runs = head.remote_runs;
        c->first_run = n->comm_member_count;
        name = take_runs(n, extra + sizeof head, head.runs);
        c->remote_first_run = n->comm_member_count;
        name = take_runs(n, name, head.remote_runs);
        n->comm_names[i] = (struct sc_h5_text){name, item->extra - (size_t)(name - extra)};
    }
    free(keyed);
    return 0;
}

/* ---- all of them ---- */

int sc_numbering_add(struct sc_numbering *n, const struct sc_recording *recording,
                     const struct sc_own *own, sc_unite_fn *unite, struct sc_maps *maps)
{
    uint32_t *comm = NULL;
    int rc = number_regions(n, recording, unite, &maps->region);

    if (rc == 0)
        rc = number_paths(n, recording, unite, maps);
    if (rc == 0)
        rc = sc_items_unite(unite, &n->all_comms, 0, &own->comms, &comm);
    maps->comm = (int32_t *)comm;
    return rc;
}

int sc_numbering_fill(struct sc_numbering *n)
{
    int rc = fill_regions(n);

    if (rc == 0)
        rc = fill_paths(n);
    if (rc == 0)
        rc = fill_comms(n);
    return rc == 0 ? 0 : sc_fail(rc, "no memory for the tables of all ranks");
}

void sc_numbering_free(struct sc_numbering *n)
{
    free(n->region_names);
    free(n->region_is_mpi);
    free(n->paths);
    free(n->region_files);
    free(n->region_tags);
    free(n->region_lines);
    free(n->comms);
    free(n->comm_names);
    free(n->comm_members);
    sc_union_free(&n->all_regions);
    sc_union_free(&n->all_paths);
    sc_union_free(&n->all_comms);
    *n = (struct sc_numbering){0};
}
