/* SPDX-License-Identifier: BSD-3-Clause */
#include "h5write.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "h5element.h"
#include "h5file.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { WINDOW_TEXTS = 4096, WINDOW_BYTES = 1 << 20, XML_CHUNK = 1 << 20, XML_LEVEL = 6 };

/* ---- the skeleton ---- */

struct writer {
    const struct sc_h5api *h5;
    const struct sc_h5_skeleton *s;
    const char *path;
    hid_t file;
    hid_t text; /* variable-length UTF-8 string */
};

static int failed(const struct writer *w, const char *object)
{
    return sc_h5_fail(w->h5, SC_EIO, "%s: %s", w->path, object);
}

/* Links and attributes stay in the group's header, however many there are. */
static int make_group(const struct writer *w, const char *name)
{
    const struct sc_h5api *h5 = w->h5;
    hid_t list = h5->H5Pcreate(h5->H5P_CLS_GROUP_CREATE_ID_g);
    hid_t group;

    h5->H5Pset_obj_track_times(list, false);
    h5->H5Pset_link_phase_change(list, 64, 0);
    h5->H5Pset_attr_phase_change(list, 1024, 0);
    group = h5->H5Gcreate2(w->file, name, H5P_DEFAULT, list, H5P_DEFAULT);
    h5->H5Pclose(list);
    if (group < 0)
        return failed(w, name);
    h5->H5Gclose(group);
    return 0;
}

static int make_groups(const struct writer *w)
{
    const struct {
        const char *name;
        bool made;
    } groups[] = {
        {SC_G_METADATA, true},
        {SC_G_REGION_TABLE, true},
        {SC_G_INDEX, true},
        {SC_G_EVENTS, true},
        {SC_G_SCOPE, true},
        {SC_G_MPI, w->s->mpi},
        {SC_G_TASKS, w->s->mpi && (w->s->has & SC_HAS_TASKS) != 0},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < COUNT(groups); i++)
        if (groups[i].made)
            rc = make_group(w, groups[i].name);
    return rc;
}

/* Allocated at once and not filled: who writes the rows, and with what driver, is left open. */
static hid_t creation_list(const struct sc_h5api *h5, uint64_t count, uint64_t chunk, bool packed)
{
    hid_t list = h5->H5Pcreate(h5->H5P_CLS_DATASET_CREATE_ID_g);
    hsize_t extent = chunk < count ? chunk : count;

    h5->H5Pset_obj_track_times(list, false);
    h5->H5Pset_fill_time(list, H5D_FILL_TIME_NEVER);
    h5->H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    if (extent > 0)
        h5->H5Pset_chunk(list, 1, &extent);
    if (extent > 0 && packed && h5->H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
        h5->H5Pset_alloc_time(list, H5D_ALLOC_TIME_INCR);
        h5->H5Pset_deflate(list, XML_LEVEL);
    }
    return list;
}

/* rows may be NULL: they come later. */
static int make_dataset(const struct writer *w, const char *name, hid_t type, uint64_t count,
                        const void *rows, hid_t list)
{
    const struct sc_h5api *h5 = w->h5;
    hsize_t extent = count;
    hid_t space = h5->H5Screate_simple(1, &extent, NULL);
    hid_t dataset = h5->H5Dcreate2(w->file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT);
    int rc = 0;

    if (dataset < 0 || (count > 0 && rows != NULL &&
                        h5->H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows) < 0))
        rc = failed(w, name);
    if (dataset >= 0)
        h5->H5Dclose(dataset);
    h5->H5Sclose(space);
    return rc;
}

/* How many elements, of which the rows are given or come later (NULL); false: there is no such
 * dataset. */
static bool extent_of(const struct sc_h5_skeleton *s, enum sc_h5_extent extent, uint64_t *count,
                      const void **rows)
{
    *rows = NULL;
    switch (extent) {
    case SC_H5_PAIRS:
        return *count = s->pairs, true;
    case SC_H5_EVENTS:
        return *count = s->events, true;
    case SC_H5_OPS:
        return *count = s->mpi_events, true;
    case SC_H5_RANKS:
        return *count = s->ranks, true;
    case SC_H5_PATH_STATS:
        return *count = s->path_stats, true;
    case SC_H5_TOTALS:
        return *count = s->mpi_totals, true;
    case SC_H5_PEERS:
        return *count = s->peers, true;
    case SC_H5_TASKS:
        return *count = s->tasks, true;
    case SC_H5_OBJECTS:
        return *count = s->object_count, *rows = s->objects, s->object_count > 0;
    case SC_H5_SITES:
        return *count = s->site_count, *rows = s->sites, s->site_count > 0;
    case SC_H5_NODES:
        return *count = s->node_count, *rows = s->nodes, true;
    case SC_H5_TOPOLOGIES:
        return *count = s->topology_count, *rows = s->topologies, s->topology_count > 0;
    case SC_H5_COMMS:
        return *count = s->comm_count, *rows = s->comms, true;
    case SC_H5_MEMBERS:
        return *count = s->comm_member_count, *rows = s->comm_members, true;
    case SC_H5_PATHS:
        return *count = s->path_count, *rows = s->paths, true;
    }
    return false;
}

static int make_element(const struct writer *w, const struct sc_h5_element *e)
{
    const struct sc_h5api *h5 = w->h5;
    bool chunked = e->extent == SC_H5_EVENTS || e->extent == SC_H5_OPS;
    bool is_missing = (e->mpi && !w->s->mpi) || (e->has & ~w->s->has) != 0;
    const void *rows;
    uint64_t count;
    hid_t type, list;
    int rc;

    if (is_missing || !extent_of(w->s, e->extent, &count, &rows))
        return 0;
    type = sc_h5_element_type(h5, e);
    list = creation_list(h5, count, chunked ? w->s->chunk : 0, false);
    rc = make_dataset(w, e->dataset, type, count, rows, list);
    h5->H5Pclose(list);
    h5->H5Tclose(type);
    return rc;
}

static int make_topology_xml(const struct writer *w)
{
    const struct sc_h5api *h5 = w->h5;
    size_t length = w->s->topology_xml_length;
    hid_t list;
    int rc;

    if (w->s->topology_count == 0)
        return 0;
    list = creation_list(h5, length, XML_CHUNK, true);
    rc = make_dataset(w, SC_D_TOPOLOGY_XML, h5->H5T_NATIVE_UINT8_g, length, w->s->topology_xml,
                      list);
    h5->H5Pclose(list);
    return rc;
}

/* ---- strings: HDF5 wants each ended by a NUL, so they go through a window of copies ---- */

struct text_window {
    const char **items;
    struct sc_string bytes;
};

/* Copies texts [first, ...) as far as the window goes; the number of them, 0 when memory is short.
 */
static size_t window_load(struct text_window *window, const struct sc_h5_text *texts, size_t first,
                          size_t count)
{
    size_t n = 0, offset = 0;

    window->bytes.length = 0;
    while (n < WINDOW_TEXTS && first + n < count && window->bytes.length < WINDOW_BYTES) {
        const struct sc_h5_text *text = &texts[first + n];

        if (sc_string_append(&window->bytes, text->length > 0 ? text->data : "", text->length) ||
            sc_string_append(&window->bytes, "", 1))
            return 0;
        n++;
    }
    for (size_t i = 0; i < n; i++) {
        window->items[i] = window->bytes.data + offset;
        offset += texts[first + i].length + 1;
    }
    return n;
}

static int write_window(const struct writer *w, hid_t dataset, hid_t space, size_t first, size_t n,
                        const void *items)
{
    const struct sc_h5api *h5 = w->h5;
    hsize_t start = first, length = n;
    hid_t memory = h5->H5Screate_simple(1, &length, NULL);
    int rc = 0;

    h5->H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &length, NULL);
    if (h5->H5Dwrite(dataset, w->text, memory, space, H5P_DEFAULT, items) < 0)
        rc = SC_EIO;
    h5->H5Sclose(memory);
    return rc;
}

static int write_texts(const struct writer *w, const char *name, const struct sc_h5_text *texts,
                       size_t count)
{
    const struct sc_h5api *h5 = w->h5;
    struct text_window window = {malloc(WINDOW_TEXTS * sizeof(char *)), {NULL, 0, 0}};
    hid_t dataset = h5->H5Dopen2(w->file, name, H5P_DEFAULT);
    hid_t space = h5->H5Dget_space(dataset);
    int rc = 0;

    for (size_t first = 0, n; rc == 0 && first < count; first += n) {
        n = window.items != NULL ? window_load(&window, texts, first, count) : 0;
        if (n == 0)
            rc = sc_fail(SC_ENOMEM, "%s: %s: out of memory", w->path, name);
        else if (write_window(w, dataset, space, first, n, window.items) != 0)
            rc = failed(w, name);
    }
    h5->H5Sclose(space);
    h5->H5Dclose(dataset);
    sc_string_free(&window.bytes);
    free(window.items);
    return rc;
}

/* texts NULL: nothing is stored, and readers get empty strings. */
static int make_texts(const struct writer *w, const char *name, const struct sc_h5_text *texts,
                      uint64_t count)
{
    const struct sc_h5api *h5 = w->h5;
    hid_t list = h5->H5Pcreate(h5->H5P_CLS_DATASET_CREATE_ID_g);
    int rc;

    h5->H5Pset_obj_track_times(list, false);
    rc = make_dataset(w, name, w->text, count, NULL, list);
    h5->H5Pclose(list);
    if (rc == 0 && texts != NULL)
        rc = write_texts(w, name, texts, (size_t)count);
    return rc;
}

static int make_all_texts(const struct writer *w)
{
    const struct sc_h5_skeleton *s = w->s;
    const struct {
        const char *name;
        const struct sc_h5_text *texts;
        uint64_t count;
        bool made;
    } columns[] = {
        {SC_D_REGION_NAMES, s->region_names, s->regions, true},
        {SC_D_INDEX_SOURCE_FILES, s->source_files, s->pairs, true},
        {SC_D_INDEX_SOURCE_TEXTS, s->source_texts, s->pairs, true},
        {SC_D_INDEX_TAGS, s->tags, s->pairs, true},
        {SC_D_INDEX_EVENT_METADATA, s->event_metadata, s->pairs, true},
        {SC_D_RANK_BINDINGS, s->bindings, s->ranks, true},
        {SC_D_NODE_NAMES, s->node_names, s->node_count, s->node_names != NULL},
        {SC_D_LIKWID, s->likwid, s->topology_count, s->likwid != NULL},
        {SC_D_COMM_NAMES, s->comm_names, s->comm_count, s->mpi != 0},
        {SC_D_OBJECT_NAMES, s->object_names, s->object_count, s->mpi && s->object_count > 0},
        {SC_D_MODULE_NAMES, s->module_names, s->module_count, s->mpi && s->site_count > 0},
        {SC_D_MODULE_BUILD_IDS, s->module_build_ids, s->module_count, s->mpi && s->site_count > 0},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < COUNT(columns); i++)
        if (columns[i].made)
            rc = make_texts(w, columns[i].name, columns[i].texts, columns[i].count);
    return rc;
}

/* ---- attributes ---- */

/* count < 0: a scalar. */
static int put_attribute(const struct writer *w, hid_t object, const char *name, hid_t type,
                         const void *value, int64_t count)
{
    const struct sc_h5api *h5 = w->h5;
    hsize_t extent = count > 0 ? (hsize_t)count : 0;
    hid_t space = count < 0 ? h5->H5Screate(H5S_SCALAR) : h5->H5Screate_simple(1, &extent, NULL);
    hid_t attribute = h5->H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT);
    int rc = 0;

    if (attribute < 0 || (count != 0 && h5->H5Awrite(attribute, type, value) < 0))
        rc = failed(w, name);
    if (attribute >= 0)
        h5->H5Aclose(attribute);
    h5->H5Sclose(space);
    return rc;
}

static int put_value(const struct writer *w, hid_t object, const struct sc_h5_attribute *a)
{
    switch (a->kind) {
    case SC_H5_INT:
        return put_attribute(w, object, a->name, w->h5->H5T_NATIVE_INT64_g, &a->integer, -1);
    case SC_H5_REAL:
        return put_attribute(w, object, a->name, w->h5->H5T_NATIVE_DOUBLE_g, &a->real, -1);
    case SC_H5_TEXT:
        return put_attribute(w, object, a->name, w->text, &a->text, -1);
    case SC_H5_TEXTS:
        return put_attribute(w, object, a->name, w->text, a->texts, (int64_t)a->count);
    }
    return sc_fail(SC_EINVAL, "%s: no such kind of attribute", a->name);
}

static int put_attributes(const struct writer *w, const char *object,
                          const struct sc_h5_attribute *attributes, size_t count)
{
    hid_t id = w->h5->H5Oopen(w->file, object, H5P_DEFAULT);
    int rc = id < 0 ? failed(w, object) : 0;

    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = put_value(w, id, &attributes[i]);
    if (id >= 0)
        w->h5->H5Oclose(id);
    return rc;
}

static int put_all_attributes(const struct writer *w)
{
    const struct sc_h5_attribute root[] = {
        {.name = SC_A_SCHEMA, .kind = SC_H5_INT, .integer = SC_SCHEMA_VERSION},
        {.name = SC_A_LAYOUT, .kind = SC_H5_TEXT, .text = SC_LAYOUT_COLUMNAR},
    };
    const struct sc_h5_attribute own = {
        .name = SC_A_VERSION, .kind = SC_H5_INT, .integer = SC_SCOPE_VERSION};
    int rc = put_attributes(w, "/", root, COUNT(root));

    if (rc == 0)
        rc = put_attributes(w, SC_G_SCOPE, &own, 1);
    if (rc == 0)
        rc = put_attributes(w, SC_G_METADATA, w->s->attributes, w->s->attribute_count);
    return rc;
}

static int make_all(struct writer *w)
{
    const struct sc_h5api *h5 = w->h5;
    const struct sc_h5_element *elements;
    size_t count = sc_h5_elements(&elements);
    int rc = make_groups(w);

    w->text = h5->H5Tcopy(h5->H5T_C_S1_g);
    h5->H5Tset_size(w->text, H5T_VARIABLE);
    h5->H5Tset_cset(w->text, H5T_CSET_UTF8);
    h5->H5Fset_dset_no_attrs_hint(w->file, true); /* headers without room for attributes */
    if (rc == 0)
        rc = put_all_attributes(w);
    for (size_t i = 0; rc == 0 && i < count; i++)
        rc = make_element(w, &elements[i]);
    if (rc == 0)
        rc = make_topology_xml(w);
    if (rc == 0)
        rc = make_all_texts(w);
    h5->H5Tclose(w->text);
    return rc;
}

int sc_h5_load_writer(const struct sc_h5api **out)
{
    static const char beside[] = "/libscope/libscopeh5.so.1";
    const char *candidates[] = {SC_H5_PRIVATE, NULL, NULL};
    char path[4096];
    Dl_info self;
    const char *slash;

    /* An installation that was moved finds its own. */
    if (dladdr((void *)(uintptr_t)sc_h5_load_writer, &self) != 0 &&
        (slash = strrchr(self.dli_fname, '/')) != NULL &&
        (size_t)(slash - self.dli_fname) + sizeof beside <= sizeof path) {
        memcpy(path, self.dli_fname, (size_t)(slash - self.dli_fname));
        memcpy(path + (slash - self.dli_fname), beside, sizeof beside);
        if (access(path, R_OK) == 0) {
            candidates[0] = path;
            candidates[1] = SC_H5_PRIVATE;
        }
    }
    return sc_h5_load(candidates, out);
}

int sc_h5write_skeleton(const char *path, const struct sc_h5_skeleton *s)
{
    struct writer w = {.s = s, .path = path};
    struct sc_h5_printing printing;
    struct sc_h5file file;
    int rc = sc_h5_load_writer(&w.h5);

    if (rc != 0)
        return rc;
    sc_h5_quiet(w.h5, &printing);
    rc = sc_h5file_create(w.h5, path, &file);
    if (rc == 0) {
        w.file = file.id;
        rc = make_all(&w);
        rc = sc_h5file_close(&file, rc);
        if (rc != 0)
            unlink(path);
    }
    sc_h5_restore(w.h5, &printing);
    return rc;
}
