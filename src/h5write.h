/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * h5write: the profile file before its rows: a skeleton (all objects at their final size,
 * attributes, the small tables, all strings) that one process makes. Names and types are those of
 * layout.h. One thread.
 */
#ifndef SC_H5WRITE_H
#define SC_H5WRITE_H

#include <stddef.h>
#include <stdint.h>

#include "h5rows.h"
#include "layout.h"

struct sc_h5_text {
    const char *data; /* any bytes; a NUL ends it in the file */
    size_t length;
};

/* One attribute of /metadata: exactly one of the value kinds. */
enum sc_h5_kind { SC_H5_INT, SC_H5_REAL, SC_H5_TEXT, SC_H5_TEXTS };
struct sc_h5_attribute {
    const char *name;
    enum sc_h5_kind kind;
    int64_t integer;
    double real;
    const char *text;
    const char *const *texts;
    size_t count;
};

/* Everything but the rows; arrays are lent. Counts are those of the whole run. */
struct sc_h5_skeleton {
    const struct sc_h5_attribute *attributes;
    size_t attribute_count;

    const struct sc_h5_text *region_names;
    size_t regions;

    /* Index: sizes, and the string columns [pairs]; a NULL column is one of empty strings. */
    uint64_t pairs;
    const struct sc_h5_text *source_files, *source_texts, *tags, *event_metadata;

    uint64_t events, mpi_events, path_stats, mpi_totals, peers, tasks;
    uint32_t ranks;
    int mpi;        /* 0: neither /scope/mpi nor mpi_totals nor communicators are made */
    unsigned has;   /* sum of enum sc_has: the optional columns that are made */
    uint64_t chunk; /* events per chunk, 0: contiguous */

    const struct sc_h5_text *bindings; /* [ranks] */
    const struct sc_row_node *nodes;
    const struct sc_h5_text *node_names; /* NULL: dataset absent */
    size_t node_count;
    const struct sc_row_topology *topologies; /* 0 of them: the topology datasets are absent */
    size_t topology_count;
    const unsigned char *topology_xml;
    size_t topology_xml_length;
    const struct sc_h5_text *likwid; /* [topologies]; NULL: absent */

    const struct sc_row_comm *comms;
    const struct sc_h5_text *comm_names;
    size_t comm_count;
    const struct sc_row_run *comm_members;
    size_t comm_member_count;

    const struct sc_row_object *objects; /* files and windows */
    const struct sc_h5_text *object_names;
    size_t object_count;
    const struct sc_row_site *sites; /* 0 of them: no modules either */
    size_t site_count;
    const struct sc_h5_text *module_names, *module_build_ids;
    size_t module_count;

    const struct sc_row_path *paths;
    size_t path_count;
};

/* The HDF5 of this build, which every writer uses. As sc_h5_load(). */
int sc_h5_load_writer(const struct sc_h5api **out);

/* Creates path (fails if it exists), writes all that is in s, gives every row dataset its final
 * extent and reserves its disk space. 0 or a status with the message (path, reason); a file it
 * began is removed then. */
int sc_h5write_skeleton(const char *path, const struct sc_h5_skeleton *s);

#endif
