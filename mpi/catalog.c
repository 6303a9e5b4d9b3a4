/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "numbering.h"
#include "object.h"
#include "site.h"
#include "unite.h"
#include "world.h"

struct sc_catalog_store {
    struct sc_items objects, modules, sites;
};

/* An absolute path says who works where; those of the system say nothing. */
static struct sc_h5_text shown(struct sc_h5_text path, bool full)
{
    const char *slash = memrchr(path.data, '/', path.length);

    if (full || slash == NULL || path.data[0] != '/' || strncmp(path.data, "/usr/", 5) == 0 ||
        strncmp(path.data, "/lib", 4) == 0)
        return path;
    return (struct sc_h5_text){slash + 1, path.length - (size_t)(slash + 1 - path.data)};
}

/* ---- files and windows: key = kind, communicator and ordinal (a window) or name (a file); extra =
 * communicator, name ---- */

static int add_object(struct sc_items *items, const struct sc_object *o, const int32_t *comm)
{
    int32_t on = o->comm < 0 ? -1 : comm[o->comm];
    const int32_t head[3] = {o->kind, o->kind == SC_OBJECT_WINDOW ? on : -1, (int32_t)o->ordinal};
    struct sc_string key = {0}, extra = {0};
    int rc = sc_string_append(&key, head, sizeof head);

    if (rc == 0 && o->kind == SC_OBJECT_FILE)
        rc = sc_string_append(&key, o->name, strlen(o->name));
    if (rc == 0)
        rc = sc_string_append(&extra, &on, sizeof on);
    if (rc == 0)
        rc = sc_string_append(&extra, o->name, strlen(o->name));
    if (rc == 0)
        rc = sc_items_add(items, -1, key.data, key.length, extra.data, extra.length);
    sc_string_free(&key);
    sc_string_free(&extra);
    return rc;
}

static int fill_objects(struct sc_catalog *c, bool full)
{
    const struct sc_items *all = &c->store->objects;

    if (sc_world_rank() != 0)
        return 0;
    c->object_count = all->count;
    c->objects = calloc(all->count + 1, sizeof *c->objects);
    c->object_names = calloc(all->count + 1, sizeof *c->object_names);
    if (c->objects == NULL || c->object_names == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        const struct sc_item *item = &all->item[i];
        const char *key = all->bytes + item->at, *extra = key + item->length;
        const struct sc_h5_text name = {extra + sizeof(int32_t), item->extra - sizeof(int32_t)};

        memcpy(&c->objects[i].kind, key, sizeof c->objects[i].kind);
        memcpy(&c->objects[i].communicator, extra, sizeof(int32_t));
        c->object_names[i] = c->objects[i].kind == SC_OBJECT_FILE ? shown(name, full) : name;
    }
    return 0;
}

/* ---- modules: key = build id, NUL, name (without one its whole path); extra = path ---- */

static int add_module(struct sc_items *items, const struct sc_module *m)
{
    const char *slash = strrchr(m->path, '/');
    const char *name = m->build_id[0] == '\0' || slash == NULL ? m->path : slash + 1;
    struct sc_string key = {0};
    int rc = sc_string_append(&key, m->build_id, strlen(m->build_id) + 1);

    if (rc == 0)
        rc = sc_string_append(&key, name, strlen(name));
    if (rc == 0)
        rc = sc_items_add(items, -1, key.data, key.length, m->path, strlen(m->path));
    sc_string_free(&key);
    return rc;
}

static int fill_modules(struct sc_catalog *c, bool full)
{
    const struct sc_items *all = &c->store->modules;

    if (sc_world_rank() != 0)
        return 0;
    c->module_count = all->count;
    c->module_names = calloc(all->count + 1, sizeof *c->module_names);
    c->module_build_ids = calloc(all->count + 1, sizeof *c->module_build_ids);
    if (c->module_names == NULL || c->module_build_ids == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < all->count; i++) {
        const struct sc_item *item = &all->item[i];
        const char *key = all->bytes + item->at;

        c->module_build_ids[i] = (struct sc_h5_text){key, strlen(key)};
        c->module_names[i] = shown((struct sc_h5_text){key + item->length, item->extra}, full);
    }
    return 0;
}

/* ---- call sites: key = the row of the table, modules by their united number ---- */

static int add_site(struct sc_items *items, const struct sc_site *s, const uint32_t *module)
{
    const struct sc_row_site row = {.module = s->module < 0 ? -1 : (int32_t)module[s->module],
                                    .offset = s->offset};

    return sc_items_add(items, -1, &row, sizeof row, NULL, 0);
}

static int fill_sites(struct sc_catalog *c)
{
    const struct sc_items *all = &c->store->sites;

    if (sc_world_rank() != 0)
        return 0;
    c->site_count = all->count;
    c->sites = calloc(all->count + 1, sizeof *c->sites);
    if (c->sites == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < all->count; i++)
        memcpy(&c->sites[i], all->bytes + all->item[i].at, sizeof c->sites[i]);
    return 0;
}

/* ---- all of them ---- */

/* Collective. Lists `count` things with add() and unites the lists of all ranks; map has room. */
static int unite(int rc, struct sc_items *mine, struct sc_items *all, void *map)
{
    rc = sc_agree(rc);
    if (rc == 0)
        rc = sc_unite(mine, all, map);
    sc_items_free(mine);
    return rc;
}

static int number_objects(struct sc_catalog *c, const struct sc_numbering *n, bool full)
{
    struct sc_items mine = {0};
    int32_t count = sc_world_is_open() ? sc_object_count() : 0;
    int rc = 0;

    c->object = calloc((size_t)count + 1, sizeof *c->object);
    if (c->object == NULL)
        rc = SC_ENOMEM;
    for (int32_t i = 0; rc == 0 && i < count; i++)
        rc = add_object(&mine, sc_object_get(i), n->comm);
    rc = unite(rc, &mine, &c->store->objects, c->object);
    return rc == 0 ? sc_agree(fill_objects(c, full)) : rc;
}

static int number_sites(struct sc_catalog *c, bool full)
{
    struct sc_items modules = {0}, sites = {0};
    int32_t count = sc_site_count(), module_count = sc_module_count();
    uint32_t *module = calloc((size_t)module_count + 1, sizeof *module);
    int rc = 0;

    c->site = calloc((size_t)count + 1, sizeof *c->site);
    if (module == NULL || c->site == NULL)
        rc = SC_ENOMEM;
    for (int32_t i = 0; rc == 0 && i < module_count; i++)
        rc = add_module(&modules, sc_module_get(i));
    rc = unite(rc, &modules, &c->store->modules, module);
    for (int32_t i = 0; rc == 0 && i < count; i++)
        rc = add_site(&sites, sc_site_get(i), module);
    rc = unite(rc, &sites, &c->store->sites, c->site);
    free(module);
    if (rc == 0)
        rc = sc_agree(fill_modules(c, full));
    return rc == 0 ? sc_agree(fill_sites(c)) : rc;
}

int sc_catalog_create(const struct sc_numbering *numbering, bool full, struct sc_catalog *out)
{
    int rc;

    *out = (struct sc_catalog){.store = calloc(1, sizeof *out->store)};
    rc = sc_agree(out->store == NULL ? sc_fail(SC_ENOMEM, "no memory to publish") : 0);
    if (rc == 0)
        rc = number_objects(out, numbering, full);
    if (rc == 0)
        rc = number_sites(out, full);
    if (rc != 0)
        sc_catalog_free(out);
    return rc;
}

void sc_catalog_free(struct sc_catalog *c)
{
    free(c->object);
    free(c->site);
    free(c->objects);
    free(c->object_names);
    free(c->sites);
    free(c->module_names);
    free(c->module_build_ids);
    if (c->store != NULL) {
        sc_items_free(&c->store->objects);
        sc_items_free(&c->store->modules);
        sc_items_free(&c->store->sites);
        free(c->store);
    }
    *c = (struct sc_catalog){0};
}
