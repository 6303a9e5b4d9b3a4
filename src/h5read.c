/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "h5read.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "h5api.h"
#include "h5guard.h"
#include "h5meta.h"

#define TEXT_BLOCK 1024       /* strings read at once */
#define PLAUSIBLE_RATIO 16384 /* bytes that one byte of a compressed file may stand for */

enum memory {
    M_TEXT,
    M_UINT8,
    M_INT32,
    M_UINT32,
    M_INT64,
    M_UINT64,
    M_RANK, /* compounds from here on */
    M_NODE,
    M_TOPOLOGY,
    M_COMM,
    M_RUN,
    M_PATH,
    M_PATH_STATS,
    M_MPI_TOTAL,
    M_PEER,
    M_OBJECT,
    M_SITE,
    M_SUMMARY
};

enum need { NEED_CORE, NEED_SCOPE, NEED_FREE };

static const struct {
    const char *name;
    enum sc_extent extent;
    enum memory memory;
    enum need need;
} datasets[SC_DS_COUNT] = {
#define ROW(id, name, extent, type, need) {name, SC_X_##extent, M_##type, NEED_##need},
    SC_DATASETS(ROW)
#undef ROW
};

/* Fields of the compounds, from the lists of layout.h. */
enum number { N_INT32, N_UINT32, N_INT64, N_UINT64, N_DOUBLE };
struct field {
    const char *name;
    size_t offset;
    enum number number;
};
#define FIELD_rank(c, h5, name) {#name, offsetof(struct sc_row_rank, name), N_##h5},
#define FIELD_node(c, h5, name) {#name, offsetof(struct sc_row_node, name), N_##h5},
#define FIELD_topology(c, h5, name) {#name, offsetof(struct sc_row_topology, name), N_##h5},
#define FIELD_comm(c, h5, name) {#name, offsetof(struct sc_row_comm, name), N_##h5},
#define FIELD_run(c, h5, name) {#name, offsetof(struct sc_row_run, name), N_##h5},
#define FIELD_path(c, h5, name) {#name, offsetof(struct sc_row_path, name), N_##h5},
#define FIELD_path_stats(c, h5, name) {#name, offsetof(struct sc_row_path_stats, name), N_##h5},
#define FIELD_mpi_total(c, h5, name) {#name, offsetof(struct sc_row_mpi_total, name), N_##h5},
#define FIELD_peer(c, h5, name) {#name, offsetof(struct sc_row_peer, name), N_##h5},
#define FIELD_object(c, h5, name) {#name, offsetof(struct sc_row_object, name), N_##h5},
#define FIELD_site(c, h5, name) {#name, offsetof(struct sc_row_site, name), N_##h5},
#define FIELD_summary(c, h5, name) {#name, offsetof(struct sc_row_summary, name), N_##h5},
static const struct field rank_fields[] = {SC_ROW_RANK(FIELD_rank)};
static const struct field node_fields[] = {SC_ROW_NODE(FIELD_node)};
static const struct field topology_fields[] = {SC_ROW_TOPOLOGY(FIELD_topology)};
static const struct field comm_fields[] = {SC_ROW_COMM(FIELD_comm)};
static const struct field run_fields[] = {SC_ROW_RUN(FIELD_run)};
static const struct field path_fields[] = {SC_ROW_PATH(FIELD_path)};
static const struct field path_stats_fields[] = {SC_ROW_PATH_STATS(FIELD_path_stats)};
static const struct field mpi_total_fields[] = {SC_ROW_MPI_TOTAL(FIELD_mpi_total)};
static const struct field peer_fields[] = {SC_ROW_PEER(FIELD_peer)};
static const struct field object_fields[] = {SC_ROW_OBJECT(FIELD_object)};
static const struct field site_fields[] = {SC_ROW_SITE(FIELD_site)};
static const struct field summary_fields[] = {SC_ROW_SUMMARY(FIELD_summary)};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
static const struct {
    size_t size;
    const struct field *fields;
    size_t count;
    size_t new; /* of them came with version 2, and are not read from older files */
} memories[] = {
    [M_UINT8] = {1, NULL, 0, 0},
    [M_INT32] = {4, NULL, 0, 0},
    [M_UINT32] = {4, NULL, 0, 0},
    [M_INT64] = {8, NULL, 0, 0},
    [M_UINT64] = {8, NULL, 0, 0},
    [M_RANK] = {sizeof(struct sc_row_rank), rank_fields, COUNT(rank_fields), 0},
    [M_NODE] = {sizeof(struct sc_row_node), node_fields, COUNT(node_fields), 0},
    [M_TOPOLOGY] = {sizeof(struct sc_row_topology), topology_fields, COUNT(topology_fields), 0},
    [M_COMM] = {sizeof(struct sc_row_comm), comm_fields, COUNT(comm_fields), 0},
    [M_RUN] = {sizeof(struct sc_row_run), run_fields, COUNT(run_fields), 0},
    [M_PATH] = {sizeof(struct sc_row_path), path_fields, COUNT(path_fields), 0},
    [M_PATH_STATS] = {sizeof(struct sc_row_path_stats), path_stats_fields, COUNT(path_stats_fields),
                      0},
    [M_MPI_TOTAL] = {sizeof(struct sc_row_mpi_total), mpi_total_fields, COUNT(mpi_total_fields), 4},
    [M_PEER] = {sizeof(struct sc_row_peer), peer_fields, COUNT(peer_fields), 0},
    [M_OBJECT] = {sizeof(struct sc_row_object), object_fields, COUNT(object_fields), 0},
    [M_SITE] = {sizeof(struct sc_row_site), site_fields, COUNT(site_fields), 0},
    [M_SUMMARY] = {sizeof(struct sc_row_summary), summary_fields, COUNT(summary_fields), 0},
};

/* An open dataset. Strings are read a block at a time and kept until the next block. */
struct column {
    hid_t dataset; /* -1: absent */
    hid_t memory;
    bool owns_memory;
    struct sc_h5strings strings;
    uint64_t block_first;
    size_t block_count;
    char *block;
};

struct sc_h5read {
    const struct sc_h5api *h5;
    struct sc_h5_printing printing;
    char *path;
    struct sc_h5guard guard;
    int descriptor; /* of the same file, for what HDF5 is not trusted with */
    uint64_t bytes;
    int schema, version;
    uint64_t extents[SC_X_COUNT];
    struct column columns[SC_DS_COUNT];
    scope_metadata *metadata;
    size_t metadata_count;
};

const char *sc_h5read_path(const struct sc_h5read *f)
{
    return f->path;
}

uint64_t sc_h5read_bytes(const struct sc_h5read *f)
{
    return f->bytes;
}

int sc_h5read_schema(const struct sc_h5read *f)
{
    return f->schema;
}

int sc_h5read_version(const struct sc_h5read *f)
{
    return f->version;
}

int sc_h5read_has(const struct sc_h5read *f, enum sc_dataset id)
{
    return f->columns[id].dataset >= 0;
}

uint64_t sc_h5read_extent(const struct sc_h5read *f, enum sc_extent extent)
{
    return f->extents[extent];
}

int sc_h5read_damaged(const struct sc_h5read *f, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sc_fail(SC_EFORMAT, "%s: damaged: %s (restore it from a copy)", f->path, text);
}

static hid_t native(const struct sc_h5api *h5, enum number number)
{
    switch (number) {
    case N_INT32:
        return h5->H5T_NATIVE_INT32_g;
    case N_UINT32:
        return h5->H5T_NATIVE_UINT32_g;
    case N_INT64:
        return h5->H5T_NATIVE_INT64_g;
    case N_UINT64:
        return h5->H5T_NATIVE_UINT64_g;
    case N_DOUBLE:
        break;
    }
    return h5->H5T_NATIVE_DOUBLE_g;
}

/* Fields that a file of that version has. */
static size_t field_count(int version, enum memory memory)
{
    return memories[memory].count - (version < 2 ? memories[memory].new : 0);
}

static hid_t compound(const struct sc_h5api *h5, int version, enum memory memory)
{
    hid_t type = h5->H5Tcreate(H5T_COMPOUND, memories[memory].size);

    for (size_t i = 0; type >= 0 && i < field_count(version, memory); i++) {
        const struct field *field = &memories[memory].fields[i];

        if (h5->H5Tinsert(type, field->name, field->offset, native(h5, field->number)) < 0) {
            h5->H5Tclose(type);
            type = -1;
        }
    }
    return type;
}

/* The library trusts the places of members in a damaged compound and would write past its buffers.
 */
static bool members_fit(const struct sc_h5api *h5, hid_t type)
{
    size_t size = h5->H5Tget_size(type), used = 0;
    int count = h5->H5Tget_nmembers(type);

    for (int i = 0; i < count; i++) {
        hid_t member = h5->H5Tget_member_type(type, (unsigned)i);
        size_t at = h5->H5Tget_member_offset(type, (unsigned)i);
        size_t bytes = member < 0 ? 0 : h5->H5Tget_size(member);

        if (member >= 0)
            h5->H5Tclose(member);
        if (bytes == 0 || bytes > size - used || at > size || bytes > size - at)
            return false;
        used += bytes;
    }
    return count > 0;
}

/* Every field that this version knows must be there as a number; a later version may have added
 * others. */
static bool compound_fits(const struct sc_h5api *h5, int version, hid_t type, enum memory memory)
{
    for (size_t i = 0; i < field_count(version, memory); i++) {
        const struct field *field = &memories[memory].fields[i];
        int at = h5->H5Tget_member_index(type, field->name);
        H5T_class_t class = at < 0 ? H5T_NO_CLASS : h5->H5Tget_member_class(type, (unsigned)at);

        if (class != (field->number == N_DOUBLE ? H5T_FLOAT : H5T_INTEGER))
            return false;
    }
    return members_fit(h5, type);
}

static int column_memory(const struct sc_h5read *f, hid_t type, enum memory memory,
                         struct column *column)
{
    const struct sc_h5api *h5 = f->h5;
    H5T_class_t class = h5->H5Tget_class(type);
    const hid_t natives[] = {[M_UINT8] = h5->H5T_NATIVE_UINT8_g,
                             [M_INT32] = h5->H5T_NATIVE_INT32_g,
                             [M_UINT32] = h5->H5T_NATIVE_UINT32_g,
                             [M_INT64] = h5->H5T_NATIVE_INT64_g,
                             [M_UINT64] = h5->H5T_NATIVE_UINT64_g};

    if (memory == M_TEXT) {
        int rc = sc_h5strings_open(h5, type, f->bytes, &column->strings);

        column->memory = column->strings.memory;
        return rc;
    }
    if (memory < M_RANK) {
        column->memory = natives[memory];
        return class == H5T_INTEGER ? 0 : -1;
    }
    if (class != H5T_COMPOUND || !compound_fits(h5, f->version, type, memory))
        return -1;
    column->memory = compound(h5, f->version, memory);
    column->owns_memory = column->memory >= 0;
    return column->owns_memory ? 0 : -1;
}

/* Rows of an open dataset. False unless it is a plain column whose bytes the file can hold. */
static bool column_rows(const struct sc_h5read *f, hid_t dataset, size_t size, uint64_t *rows)
{
    const struct sc_h5api *h5 = f->h5;
    hid_t space = h5->H5Dget_space(dataset);
    hid_t list = h5->H5Dget_create_plist(dataset);
    uint64_t stored = h5->H5Dget_storage_size(dataset);
    hsize_t extent = 0;
    bool ok = space >= 0 && list >= 0 && h5->H5Sget_simple_extent_ndims(space) == 1 &&
              h5->H5Sget_simple_extent_dims(space, &extent, NULL) == 1 && size > 0;

    if (ok && extent > 0) {
        uint64_t ratio = h5->H5Pget_nfilters(list) == 0 ? 1 : PLAUSIBLE_RATIO;

        ok = stored > 0 && stored <= f->bytes && extent / ratio <= stored / size;
    }
    if (space >= 0)
        h5->H5Sclose(space);
    if (list >= 0)
        h5->H5Pclose(list);
    *rows = extent;
    return ok;
}

static int open_column(struct sc_h5read *f, enum sc_dataset id, bool *extent_known)
{
    const struct sc_h5api *h5 = f->h5;
    const char *name = datasets[id].name;
    struct column *column = &f->columns[id];
    uint64_t rows = 0;
    hid_t type;
    bool ok;

    column->dataset = h5->H5Dopen2(f->guard.file, name, H5P_DEFAULT);
    if (column->dataset < 0)
        return sc_h5read_damaged(f, "%s cannot be opened", name);
    type = h5->H5Dget_type(column->dataset);
    ok = type >= 0 && column_memory(f, type, datasets[id].memory, column) == 0;
    if (!ok) {
        if (type >= 0)
            h5->H5Tclose(type);
        return sc_h5read_damaged(f, "%s has an unknown type", name);
    }
    ok = column_rows(f, column->dataset, h5->H5Tget_size(type), &rows);
    h5->H5Tclose(type);
    if (!ok)
        return sc_h5read_damaged(f, "%s is no column that fits into the file", name);
    if (*extent_known && f->extents[datasets[id].extent] != rows)
        return sc_h5read_damaged(f, "%s has %" PRIu64 " rows where others have %" PRIu64, name,
                                 rows, f->extents[datasets[id].extent]);
    *extent_known = true;
    f->extents[datasets[id].extent] = rows;
    return 0;
}

/* Whether every part of the path is a link; H5Lexists() wants the parts before the last to exist.
 * -1: a group on the way cannot be read. */
static int exists(const struct sc_h5read *f, const char *name)
{
    htri_t there;
    char part[64];

    for (const char *slash = name; slash != NULL;) {
        slash = strchr(slash + 1, '/');
        snprintf(part, sizeof part, "%.*s", slash == NULL ? (int)strlen(name) : (int)(slash - name),
                 name);
        there = f->h5->H5Lexists(f->guard.file, part, H5P_DEFAULT);
        if (there <= 0)
            return there;
    }
    return f->h5->H5Oexists_by_name(f->guard.file, name, H5P_DEFAULT);
}

static int open_columns(struct sc_h5read *f)
{
    bool known[SC_X_COUNT] = {false};
    int rc = 0;

    for (int i = 0; rc == 0 && i < SC_DS_COUNT; i++) {
        bool needed =
            datasets[i].need == NEED_CORE || (datasets[i].need == NEED_SCOPE && f->version > 0);
        int there;

        if (f->version == 0 &&
            strncmp(datasets[i].name, SC_G_SCOPE "/", strlen(SC_G_SCOPE "/")) == 0)
            continue;
        there = exists(f, datasets[i].name);
        if (there > 0)
            rc = open_column(f, (enum sc_dataset)i, &known[datasets[i].extent]);
        else if (there < 0)
            rc = sc_h5read_damaged(f, "the group of %s cannot be read", datasets[i].name);
        else if (needed)
            rc = sc_h5read_damaged(f, "it lacks %s", datasets[i].name);
    }
    return rc;
}

/* An integer attribute of a group. 1, 0 when there is none, -1 when it is something else. */
static int integer_attribute(const struct sc_h5read *f, const char *group, const char *name,
                             int64_t *out)
{
    const struct sc_h5api *h5 = f->h5;
    hid_t object = h5->H5Oopen(f->guard.file, group, H5P_DEFAULT);
    htri_t there = object < 0 ? -1 : h5->H5Aexists(object, name);
    int found = there > 0 ? -1 : (int)there;

    if (there > 0) {
        hid_t attribute = h5->H5Aopen(object, name, H5P_DEFAULT);
        hid_t type = attribute < 0 ? -1 : h5->H5Aget_type(attribute);
        hid_t space = attribute < 0 ? -1 : h5->H5Aget_space(attribute);

        if (type >= 0 && h5->H5Tget_class(type) == H5T_INTEGER &&
            h5->H5Sget_simple_extent_npoints(space) == 1 &&
            h5->H5Aread(attribute, h5->H5T_NATIVE_INT64_g, out) >= 0)
            found = 1;
        if (space >= 0)
            h5->H5Sclose(space);
        if (type >= 0)
            h5->H5Tclose(type);
        if (attribute >= 0)
            h5->H5Aclose(attribute);
    }
    if (object >= 0)
        h5->H5Oclose(object);
    return found;
}

/* ---- metadata ---- */

static int next_metadata(struct sc_h5read *f, hid_t group, hsize_t i)
{
    const struct sc_h5api *h5 = f->h5;
    scope_metadata *m = &f->metadata[f->metadata_count];
    hid_t attribute =
        h5->H5Aopen_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, H5P_DEFAULT, H5P_DEFAULT);
    ssize_t length = attribute < 0 ? -1 : h5->H5Aget_name(attribute, 0, NULL);
    char *name = length < 0 || (uint64_t)length > f->bytes ? NULL : malloc((size_t)length + 1);
    int rc = -1;

    if (name != NULL && h5->H5Aget_name(attribute, (size_t)length + 1, name) >= 0)
        rc = sc_h5meta_read(h5, attribute, f->bytes, m);
    if (attribute >= 0)
        h5->H5Aclose(attribute);
    m->name = name;
    f->metadata_count++; /* frees what is there, also after a failure */
    if (rc < 0)
        return sc_h5read_damaged(f, "metadata field %d cannot be read", (int)i);
    if (rc > 0) {
        f->metadata_count--;
        free(name);
        *m = (scope_metadata){0};
    }
    return 0;
}

/* HDF5 trusts the lengths in a header without checksum, and after one attribute that it cannot make
 * sense of it frees others that it never read. Asking for a name makes it look at all of them, and
 * just fail. */
static bool attributes_are_sound(const struct sc_h5read *f, hid_t group)
{
    static const char not_there[] = "\1";
    H5G_stat_t info;

    if (f->h5->H5Gget_objinfo != NULL && (f->h5->H5Gget_objinfo(group, ".", true, &info) < 0 ||
                                          sc_h5guard_attributes(f->descriptor, info.objno[0]) != 0))
        return false;
    return f->h5->H5Aexists(group, not_there) >= 0;
}

static int read_metadata(struct sc_h5read *f)
{
    const struct sc_h5api *h5 = f->h5;
    hid_t group =
        exists(f, SC_G_METADATA) > 0 ? h5->H5Gopen2(f->guard.file, SC_G_METADATA, H5P_DEFAULT) : -1;
    int count = group < 0 ? -1 : h5->H5Aget_num_attrs(group);
    int rc = 0;

    if (count < 0 || (uint64_t)count > f->bytes)
        rc = sc_h5read_damaged(f, "it lacks " SC_G_METADATA);
    if (rc == 0 && !attributes_are_sound(f, group))
        rc = sc_h5read_damaged(f, "attributes of " SC_G_METADATA " cannot be read");
    if (rc == 0) {
        f->metadata = calloc((size_t)count + 1, sizeof *f->metadata);
        rc = f->metadata == NULL ? sc_fail(SC_ENOMEM, "%s: out of memory", f->path) : 0;
    }
    for (int i = 0; rc == 0 && i < count; i++)
        rc = next_metadata(f, group, (hsize_t)i);
    if (group >= 0)
        h5->H5Gclose(group);
    return rc;
}

int sc_h5read_metadata(struct sc_h5read *f, const scope_metadata **out, size_t *count)
{
    *out = f->metadata;
    *count = f->metadata_count;
    return 0;
}

/* ---- opening ---- */

static int check_file(struct sc_h5read *f)
{
    struct stat status;

    if (stat(f->path, &status) != 0)
        return sc_fail(SC_EIO, "%s: %s", f->path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return sc_fail(SC_EIO, "%s: is a directory (give the profile itself)", f->path);
    if (!S_ISREG(status.st_mode))
        return sc_fail(SC_EIO, "%s: not a regular file", f->path);
    if (status.st_size == 0)
        return sc_fail(SC_EFORMAT, "%s: is empty (the run left no profile)", f->path);
    if (access(f->path, R_OK) != 0)
        return sc_fail(SC_EIO, "%s: %s", f->path, strerror(errno));
    f->bytes = (uint64_t)status.st_size;
    return 0;
}

static int check_schema(struct sc_h5read *f)
{
    int64_t value = 0;
    int found = integer_attribute(f, "/", SC_A_SCHEMA, &value);

    if (found == 0)
        return sc_fail(SC_EFORMAT,
                       "%s: an HDF5 file, but not a profile (it lacks the attribute %s)", f->path,
                       SC_A_SCHEMA);
    if (found < 0 || value < 1)
        return sc_h5read_damaged(f, "its version cannot be read");
    if (value > SC_SCHEMA_VERSION)
        return sc_fail(SC_EFORMAT,
                       "%s: schema %" PRId64 " is newer than this scope reads, %d (update scope)",
                       f->path, value, SC_SCHEMA_VERSION);
    if (value < SC_SCHEMA_VERSION)
        return sc_fail(SC_EFORMAT,
                       "%s: schema %" PRId64 " is older than this scope reads, %d (record again)",
                       f->path, value, SC_SCHEMA_VERSION);
    f->schema = (int)value;
    return 0;
}

static int check_layout(struct sc_h5read *f)
{
    const struct sc_h5api *h5 = f->h5;
    hid_t root = h5->H5Oopen(f->guard.file, "/", H5P_DEFAULT);
    hid_t attribute =
        root >= 0 && attributes_are_sound(f, root) && h5->H5Aexists(root, SC_A_LAYOUT) > 0
            ? h5->H5Aopen(root, SC_A_LAYOUT, H5P_DEFAULT)
            : -1;
    scope_metadata m = {0};
    int rc = attribute < 0 ? -1 : sc_h5meta_read(h5, attribute, f->bytes, &m);

    if (rc != 0 || m.texts == NULL || m.count != 1)
        rc = sc_h5read_damaged(f, "its storage layout cannot be read");
    else if (strcmp(m.texts[0].data, SC_LAYOUT_COLUMNAR) != 0)
        rc =
            sc_fail(SC_EFORMAT, "%s: storage layout \"%s\" is unknown to this scope (update scope)",
                    f->path, m.texts[0].data);
    sc_h5meta_clear(&m);
    if (attribute >= 0)
        h5->H5Aclose(attribute);
    if (root >= 0)
        h5->H5Oclose(root);
    return rc;
}

static int check_version(struct sc_h5read *f)
{
    int64_t value = 0;
    int there = exists(f, SC_G_SCOPE);

    if (there == 0)
        return 0;
    if (there < 0 || integer_attribute(f, SC_G_SCOPE, SC_A_VERSION, &value) != 1 || value < 1)
        return sc_h5read_damaged(f, "the version of " SC_G_SCOPE " cannot be read");
    if (value > SC_SCOPE_VERSION)
        return sc_fail(SC_EFORMAT,
                       "%s: format %" PRId64 " is newer than this scope reads, %d (update scope)",
                       f->path, value, SC_SCOPE_VERSION);
    f->version = (int)value;
    return 0;
}

static int open_file(struct sc_h5read *f)
{
    const struct sc_h5api *h5 = f->h5;

    if (h5->H5Fis_hdf5(f->path) <= 0)
        return sc_fail(SC_EFORMAT, "%s: not an HDF5 file, so not a profile", f->path);
    if (sc_h5guard_open(h5, f->path, &f->guard) != 0)
        return sc_fail(SC_EFORMAT, "%s: cut off or damaged (restore it from a copy)", f->path);
    f->descriptor = open(f->path, O_RDONLY | O_CLOEXEC);
    if (f->descriptor < 0)
        return sc_fail(SC_EIO, "%s: %s", f->path, strerror(errno));
    return 0;
}

int sc_h5read_open(const char *path, const char *const *libraries, struct sc_h5read **out)
{
    struct sc_h5read *f = calloc(1, sizeof *f);
    int rc = SC_ENOMEM;

    if (f != NULL) {
        f->guard = (struct sc_h5guard){-1, -1};
        f->descriptor = -1;
        for (int i = 0; i < SC_DS_COUNT; i++)
            f->columns[i].dataset = -1;
        f->path = strdup(path);
    }
    if (f == NULL || f->path == NULL) {
        free(f);
        return sc_fail(SC_ENOMEM, "%s: out of memory", path);
    }
    rc = check_file(f);
    if (rc == 0)
        rc = sc_h5_load(libraries, &f->h5);
    if (rc == 0) {
        sc_h5_quiet(f->h5, &f->printing);
        rc = open_file(f);
        if (rc == 0)
            rc = check_schema(f);
        if (rc == 0)
            rc = check_layout(f);
        if (rc == 0)
            rc = check_version(f);
        if (rc == 0)
            rc = open_columns(f);
        if (rc == 0)
            rc = read_metadata(f);
        sc_h5_restore(f->h5, &f->printing);
    }
    if (rc != 0)
        sc_h5read_close(f);
    else
        *out = f;
    return rc;
}

static void drop_block(struct sc_h5read *f, struct column *column)
{
    if (column->block != NULL)
        sc_h5strings_drop(f->h5, &column->strings, column->block, column->block_count);
    free(column->block);
    column->block = NULL;
    column->block_count = 0;
}

void sc_h5read_close(struct sc_h5read *f)
{
    if (f == NULL)
        return;
    if (f->h5 != NULL)
        sc_h5_quiet(f->h5, &f->printing);
    for (int i = 0; i < SC_DS_COUNT; i++) {
        drop_block(f, &f->columns[i]);
        sc_h5strings_close(f->h5, &f->columns[i].strings);
        if (f->columns[i].owns_memory)
            f->h5->H5Tclose(f->columns[i].memory);
        if (f->columns[i].dataset >= 0)
            f->h5->H5Dclose(f->columns[i].dataset);
    }
    if (f->h5 != NULL)
        sc_h5guard_close(f->h5, &f->guard);
    if (f->descriptor >= 0)
        close(f->descriptor);
    if (f->h5 != NULL)
        sc_h5_restore(f->h5, &f->printing);
    sc_h5meta_free(f->metadata, f->metadata_count);
    free(f->path);
    free(f);
}

/* ---- rows ---- */

/* References to strings are looked at before HDF5 follows them. In chunks it has to be trusted with
 * them. */
static bool references_are_sound(struct sc_h5read *f, const struct column *column, uint64_t first,
                                 size_t count)
{
    haddr_t offset = f->h5->H5Dget_offset(column->dataset);

    return !column->strings.variable || offset == HADDR_UNDEF ||
           sc_h5guard_check(f->descriptor, offset + first * 16, count) == 0;
}

static int read_block(struct sc_h5read *f, enum sc_dataset id, uint64_t first, size_t count,
                      void *out)
{
    const struct sc_h5api *h5 = f->h5;
    const struct column *column = &f->columns[id];
    hsize_t start = first, extent = count;
    hid_t memory = h5->H5Screate_simple(1, &extent, NULL);
    hid_t file = h5->H5Dget_space(column->dataset);
    int rc = 0;

    if (memory < 0 || file < 0 ||
        h5->H5Sselect_hyperslab(file, H5S_SELECT_SET, &start, NULL, &extent, NULL) < 0 ||
        h5->H5Dread(column->dataset, column->memory, memory, file, H5P_DEFAULT, out) < 0) {
        rc = sc_h5_fail(h5, SC_EFORMAT, "%s: %s cannot be read", f->path, datasets[id].name);
    }
    if (memory >= 0)
        h5->H5Sclose(memory);
    if (file >= 0)
        h5->H5Sclose(file);
    return rc;
}

int sc_h5read_rows(struct sc_h5read *f, enum sc_dataset id, uint64_t first, size_t count, void *out)
{
    uint64_t rows = f->extents[datasets[id].extent];
    int rc;

    if (count == 0)
        return 0;
    if (f->columns[id].dataset < 0)
        return sc_fail(SC_EUNAVAIL, "%s: has no %s", f->path, datasets[id].name);
    if (first > rows || count > rows - first)
        return sc_fail(SC_EINVAL, "%s: %s has no row %" PRIu64, f->path, datasets[id].name,
                       first + count - 1);
    sc_h5_quiet(f->h5, &f->printing);
    if (!references_are_sound(f, &f->columns[id], first, count))
        rc = sc_h5read_damaged(f, "strings of %s", datasets[id].name);
    else
        rc = read_block(f, id, first, count, out);
    sc_h5_restore(f->h5, &f->printing);
    return rc;
}

int sc_h5read_text(struct sc_h5read *f, enum sc_dataset id, uint64_t row, scope_text *out)
{
    struct column *column = &f->columns[id];
    uint64_t rows = f->extents[datasets[id].extent];

    *out = (scope_text){"", 0};
    if (column->dataset < 0)
        return 0;
    if (row < column->block_first || row - column->block_first >= column->block_count) {
        uint64_t first = row - row % TEXT_BLOCK;
        size_t count = rows - first < TEXT_BLOCK ? (size_t)(rows - first) : TEXT_BLOCK;
        int rc;

        if (row >= rows)
            return sc_fail(SC_EINVAL, "%s: %s has no row %" PRIu64, f->path, datasets[id].name,
                           row);
        drop_block(f, column);
        column->block = calloc(count, column->strings.element);
        if (column->block == NULL)
            return sc_fail(SC_ENOMEM, "%s: out of memory", f->path);
        rc = sc_h5read_rows(f, id, first, count, column->block);
        if (rc != 0) {
            free(column->block);
            column->block = NULL;
            return rc;
        }
        column->block_first = first;
        column->block_count = count;
    }
    *out = sc_h5strings_at(&column->strings, column->block, (size_t)(row - column->block_first));
    return 0;
}
