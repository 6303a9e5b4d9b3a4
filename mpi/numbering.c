/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "numbering.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "comm.h"
#include "region.h"
#include "unite.h"
#include "world.h"

struct sc_numbering_store {
    struct sc_items regions, paths, comms;
};

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

static int fill_regions(struct sc_numbering *n)
{
    const struct sc_items *all = &n->store->regions;

    n->regions = all->count;
    n->region_names = calloc(all->count + 1, sizeof *n->region_names);
    n->region_is_mpi = calloc(all->count + 1, 1);
    if (n->region_names == NULL || n->region_is_mpi == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        const char *key = all->bytes + all->item[i].at;
        n->region_is_mpi[i] = key[0] == SC_REGION_MPI;
        n->region_names[i] = (struct sc_h5_text){key + 1, all->item[i].length - 2};
    }
    if (sc_world_rank() != 0)
        return 0;
    n->region_files = calloc(all->count + 1, sizeof *n->region_files);
    n->region_tags = calloc(all->count + 1, sizeof *n->region_tags);
    n->region_lines = calloc(all->count + 1, sizeof *n->region_lines);
    if (n->region_files == NULL || n->region_tags == NULL || n->region_lines == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        const struct sc_item *item = &all->item[i];
        const char *extra = all->bytes + item->at + item->length;
        size_t file = strlen(extra + sizeof(int64_t));
        size_t tags_at = sizeof(int64_t) + file + 1;
        memcpy(&n->region_lines[i], extra, sizeof(int64_t));
        n->region_files[i] = (struct sc_h5_text){extra + sizeof(int64_t), file};
        n->region_tags[i] = (struct sc_h5_text){extra + tags_at, item->extra - tags_at};
    }
    return 0;
}

/* Collective. */
static int number_regions(struct sc_numbering *n, const struct sc_recording *recording)
{
    uint32_t count = sc_region_count();
    struct sc_items mine = {0};
    uint32_t *map = NULL;
    int rc;

    n->region = malloc(((size_t)count + 1) * sizeof *n->region);
    rc = n->region == NULL ? SC_ENOMEM : list_regions(recording, &mine, n->region, count);
    if (rc == 0)
        map = malloc((mine.count + 1) * sizeof *map);
    if (rc == 0 && map == NULL)
        rc = SC_ENOMEM;
    rc = sc_agree(rc);
    if (rc == 0)
        rc = sc_unite(&mine, &n->store->regions, map);
    if (rc == 0)
        rc = sc_agree(fill_regions(n));
    for (uint32_t id = 0; rc == 0 && id < count; id++)
        if (n->region[id] != UINT32_MAX)
            n->region[id] = map[n->region[id]];
    free(map);
    sc_items_free(&mine);
    return rc;
}

/* ---- call paths: key = the file's region number ---- */

static int list_paths(const struct sc_recording *recording, const uint32_t *region,
                      struct sc_items *items)
{
    const struct sc_path *path;
    size_t count;
    int rc = 0;

    if (recording == NULL)
        return 0;
    path = sc_callpath_paths(recording->paths, &count);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = sc_items_add(items, path[i].parent, &region[path[i].region], sizeof *region, NULL, 0);
    return rc;
}

static int fill_paths(struct sc_numbering *n)
{
    const struct sc_items *all = &n->store->paths;

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

/* Collective. */
static int number_paths(struct sc_numbering *n, const struct sc_recording *recording)
{
    struct sc_items mine = {0};
    int rc = list_paths(recording, n->region, &mine);

    if (rc == 0)
        n->path = malloc((mine.count + 1) * sizeof *n->path);
    if (rc == 0 && n->path == NULL)
        rc = SC_ENOMEM;
    rc = sc_agree(rc);
    if (rc == 0)
        rc = sc_unite(&mine, &n->store->paths, n->path);
    if (rc == 0)
        rc = sc_agree(fill_paths(n));
    sc_items_free(&mine);
    return rc;
}

/* ---- communicators: key = their own; extra = head, runs, name ---- */

/* The parent is named by its key: an inter-communicator has another parent on each side. */
struct comm_head {
    struct sc_comm_key parent;
    uint32_t has_parent;
    uint32_t size, remote_size;
    uint32_t runs, remote_runs;
};

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
static int add_comm(struct sc_items *items, const struct sc_comm *c)
{
    struct sc_string extra = {0};
    const int32_t *first = c->world_ranks, *second = c->remote_world_ranks;
    int32_t first_size = c->size, second_size = c->remote_size;
    struct comm_head head = {0};
    const char *name = c->name == NULL ? "" : c->name;
    int rc, runs;

    if (second_size > 0 && second[0] < (first == NULL ? 0 : first[0])) {
        second = c->world_ranks, second_size = c->size;
        first = c->remote_world_ranks, first_size = c->remote_size;
    }
    if (c->parent >= 0) {
        head.parent = sc_comm_get(c->parent)->key;
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

/* An item's runs go to the table; gives where its name begins. */
static const char *take_runs(struct sc_numbering *n, const char *from, uint32_t count)
{
    memcpy(n->comm_members + n->comm_member_count, from, count * sizeof(struct sc_row_run));
    n->comm_member_count += count;
    return from + count * sizeof(struct sc_row_run);
}

struct keyed {
    struct sc_comm_key key;
    int32_t id;
};

static int compare_keys(const void *a, const void *b)
{
    return memcmp(&((const struct keyed *)a)->key, &((const struct keyed *)b)->key,
                  sizeof(struct sc_comm_key));
}

/* All keys with their rows, sorted; NULL: no memory. */
static struct keyed *sort_keys(const struct sc_items *all)
{
    struct keyed *keyed = calloc(all->count + 1, sizeof *keyed);

    if (keyed == NULL)
        return NULL;
    for (size_t i = 0; i < all->count; i++) {
        memcpy(&keyed[i].key, all->bytes + all->item[i].at, sizeof keyed[i].key);
        keyed[i].id = (int32_t)i;
    }
    qsort(keyed, all->count, sizeof *keyed, compare_keys);
    return keyed;
}

static int32_t find_key(const struct keyed *keyed, size_t count, const struct comm_head *head)
{
    struct keyed wanted = {.key = head->parent};
    const struct keyed *found = NULL;

    if (head->has_parent)
        found = bsearch(&wanted, keyed, count, sizeof *keyed, compare_keys);
    return found == NULL ? -1 : found->id;
}

static int fill_comms(struct sc_numbering *n)
{
    const struct sc_items *all = &n->store->comms;
    struct keyed *keyed;

    if (sc_world_rank() != 0)
        return 0;
    keyed = sort_keys(all);
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
        struct comm_head head;

        c->parent = -1;
        memcpy(&head, extra, sizeof head);
        c->parent = find_key(keyed, all->count, &head);
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

/* Collective. Communicators are known only where MPI is. */
static int number_comms(struct sc_numbering *n)
{
    int32_t count = sc_world_is_open() ? sc_comm_count() : 0;
    struct sc_items mine = {0};
    uint32_t *map = malloc(((size_t)count + 1) * sizeof *map);
    int rc = 0;

    n->comm = malloc(((size_t)count + 1) * sizeof *n->comm);
    if (map == NULL || n->comm == NULL)
        rc = SC_ENOMEM;
    for (int32_t i = 0; rc == 0 && i < count; i++)
        rc = add_comm(&mine, sc_comm_get(i));
    rc = sc_agree(rc);
    if (rc == 0)
        rc = sc_unite(&mine, &n->store->comms, map);
    if (rc == 0)
        rc = sc_agree(fill_comms(n));
    for (int32_t i = 0; rc == 0 && i < count; i++)
        n->comm[i] = (int32_t)map[i];
    free(map);
    sc_items_free(&mine);
    return rc;
}

/* ---- all of them ---- */

int sc_numbering_create(const struct sc_recording *recording, struct sc_numbering *out)
{
    int rc;

    *out = (struct sc_numbering){.store = calloc(1, sizeof *out->store)};
    rc = sc_agree(out->store == NULL ? sc_fail(SC_ENOMEM, "no memory to publish") : 0);
    if (rc == 0)
        rc = number_regions(out, recording);
    if (rc == 0)
        rc = number_paths(out, recording);
    if (rc == 0)
        rc = number_comms(out);
    if (rc != 0)
        sc_numbering_free(out);
    return rc;
}

void sc_numbering_free(struct sc_numbering *n)
{
    free(n->region);
    free(n->path);
    free(n->comm);
    free(n->region_names);
    free(n->region_is_mpi);
    free(n->paths);
    free(n->region_files);
    free(n->region_tags);
    free(n->region_lines);
    free(n->comms);
    free(n->comm_names);
    free(n->comm_members);
    if (n->store != NULL) {
        sc_items_free(&n->store->regions);
        sc_items_free(&n->store->paths);
        sc_items_free(&n->store->comms);
        free(n->store);
    }
    *n = (struct sc_numbering){0};
}
