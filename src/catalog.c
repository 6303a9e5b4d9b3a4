/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "catalog.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"

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

static int add_object(struct sc_items *items, const struct sc_own_object *o, const int32_t *comm)
{
    int32_t on = o->comm < 0 ? -1 : comm[o->comm];
    const int32_t head[3] = {o->kind, o->kind == SC_OWN_WINDOW ? on : -1, (int32_t)o->ordinal};
    struct sc_string key = {0}, extra = {0};
    int rc = sc_string_append(&key, head, sizeof head);

    if (rc == 0 && o->kind == SC_OWN_FILE)
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
    const struct sc_items *all = &c->all_objects.items;

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
        c->object_names[i] = c->objects[i].kind == SC_OWN_FILE ? shown(name, full) : name;
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
    const struct sc_items *all = &c->all_modules.items;

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
    const struct sc_items *all = &c->all_sites.items;

    c->site_count = all->count;
    c->sites = calloc(all->count + 1, sizeof *c->sites);
    if (c->sites == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < all->count; i++)
        memcpy(&c->sites[i], all->bytes + all->item[i].at, sizeof c->sites[i]);
    return 0;
}

/* ---- all of them ---- */

int sc_catalog_add(struct sc_catalog *c, const struct sc_own *own, sc_unite_fn *unite,
                   struct sc_maps *maps)
{
    struct sc_items objects = {0}, modules = {0}, sites = {0};
    uint32_t *object = NULL, *module = NULL, *site = NULL;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < own->object_count; i++)
        rc = add_object(&objects, &own->objects[i], maps->comm);
    rc = sc_items_unite(unite, &c->all_objects, rc, &objects, &object);
    for (size_t i = 0; rc == 0 && i < own->module_count; i++)
        rc = add_module(&modules, &own->modules[i]);
    rc = sc_items_unite(unite, &c->all_modules, rc, &modules, &module);
    for (size_t i = 0; rc == 0 && i < own->site_count; i++)
        rc = add_site(&sites, &own->sites[i], module);
    rc = sc_items_unite(unite, &c->all_sites, rc, &sites, &site);
    free(module);
    sc_items_free(&objects);
    sc_items_free(&modules);
    sc_items_free(&sites);
    maps->object = (int32_t *)object;
    maps->site = (int32_t *)site;
    return rc;
}

int sc_catalog_fill(struct sc_catalog *c, bool full)
{
    int rc = fill_objects(c, full);

    if (rc == 0)
        rc = fill_modules(c, full);
    if (rc == 0)
        rc = fill_sites(c);
    return rc == 0 ? 0 : sc_fail(rc, "no memory for the tables of all ranks");
}

void sc_catalog_free(struct sc_catalog *c)
{
    free(c->objects);
    free(c->object_names);
    free(c->sites);
    free(c->module_names);
    free(c->module_build_ids);
    sc_union_free(&c->all_objects);
    sc_union_free(&c->all_modules);
    sc_union_free(&c->all_sites);
    *c = (struct sc_catalog){0};
}
