/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * h5read: the datasets of a profile as rows of known type: opens a file, checks version, types and
 * extents, reads blocks. What the rows mean, and whether they make sense together, is scope_read's
 * business. HDF5 is reached through h5api only. One thread.
 */
#ifndef SC_H5READ_H
#define SC_H5READ_H

#include <stddef.h>
#include <stdint.h>

#include "layout.h"
#include "scope_read.h"

/* Datasets of one extent have the same number of rows. */
enum sc_extent {
    SC_X_REGIONS,
    SC_X_SLICES,
    SC_X_EVENTS,
    SC_X_RANKS,
    SC_X_NODES,
    SC_X_TOPOLOGIES,
    SC_X_XML,
    SC_X_COMMS,
    SC_X_MEMBERS,
    SC_X_PATHS,
    SC_X_PATH_STATS,
    SC_X_MPI_TOTALS,
    SC_X_PEERS,
    SC_X_OBJECTS,
    SC_X_SITES,
    SC_X_MODULES,
    SC_X_MPI_EVENTS,
    SC_X_COUNT
};

/*
 * X(id, name in the file, extent, type in memory, need). Need: CORE always; SCOPE in every file of
 * ours; FREE may be absent.
 */
#define SC_DATASETS(X)                                               \
    X(REGION_NAMES, SC_D_REGION_NAMES, REGIONS, TEXT, CORE)          \
    X(REGION_IDS, SC_D_INDEX_REGION_IDS, SLICES, UINT32, CORE)       \
    X(SLICE_RANKS, SC_D_INDEX_RANKS, SLICES, UINT32, CORE)           \
    X(EVENT_OFFSETS, SC_D_INDEX_EVENT_OFFSETS, SLICES, UINT64, CORE) \
    X(EVENT_COUNTS, SC_D_INDEX_EVENT_COUNTS, SLICES, UINT64, CORE)   \
    X(SUMMARY, SC_D_INDEX_SUMMARY, SLICES, SUMMARY, CORE)            \
    X(EXCLUSIVE, SC_D_INDEX_EXCLUSIVE, SLICES, INT64, FREE)          \
    X(SOURCE_FILES, SC_D_INDEX_SOURCE_FILES, SLICES, TEXT, FREE)     \
    X(SOURCE_TEXTS, SC_D_INDEX_SOURCE_TEXTS, SLICES, TEXT, FREE)     \
    X(SOURCE_LINES, SC_D_INDEX_SOURCE_LINES, SLICES, INT64, FREE)    \
    X(TAGS, SC_D_INDEX_TAGS, SLICES, TEXT, FREE)                     \
    X(EVENT_METADATA, SC_D_INDEX_EVENT_METADATA, SLICES, TEXT, FREE) \
    X(EVENT_STARTS, SC_D_EVENT_STARTS, EVENTS, INT64, CORE)          \
    X(EVENT_DURATIONS, SC_D_EVENT_DURATIONS, EVENTS, INT64, CORE)    \
    X(EVENT_AWAIT, SC_D_EVENT_AWAIT, EVENTS, INT64, FREE)            \
    X(RANKS, SC_D_RANKS, RANKS, RANK, SCOPE)                         \
    X(BINDINGS, SC_D_RANK_BINDINGS, RANKS, TEXT, FREE)               \
    X(NODES, SC_D_NODES, NODES, NODE, SCOPE)                         \
    X(NODE_NAMES, SC_D_NODE_NAMES, NODES, TEXT, FREE)                \
    X(TOPOLOGIES, SC_D_TOPOLOGIES, TOPOLOGIES, TOPOLOGY, FREE)       \
    X(LIKWID, SC_D_LIKWID, TOPOLOGIES, TEXT, FREE)                   \
    X(TOPOLOGY_XML, SC_D_TOPOLOGY_XML, XML, UINT8, FREE)             \
    X(COMMS, SC_D_COMMS, COMMS, COMM, FREE)                          \
    X(COMM_NAMES, SC_D_COMM_NAMES, COMMS, TEXT, FREE)                \
    X(COMM_MEMBERS, SC_D_COMM_MEMBERS, MEMBERS, RUN, FREE)           \
    X(PATHS, SC_D_PATHS, PATHS, PATH, SCOPE)                         \
    X(PATH_STATS, SC_D_PATH_STATS, PATH_STATS, PATH_STATS, SCOPE)    \
    X(MPI_TOTALS, SC_D_MPI_TOTALS, MPI_TOTALS, MPI_TOTAL, FREE)      \
    X(MPI_OFFSETS, SC_D_MPI_OFFSETS, SLICES, UINT64, FREE)           \
    X(MPI_COMMS, SC_D_MPI_COMMS, MPI_EVENTS, INT32, FREE)            \
    X(MPI_PEERS, SC_D_MPI_PEERS, MPI_EVENTS, INT32, FREE)            \
    X(MPI_ROOTS, SC_D_MPI_ROOTS, MPI_EVENTS, INT32, FREE)            \
    X(MPI_SENT, SC_D_MPI_SENT, MPI_EVENTS, UINT64, FREE)             \
    X(MPI_RECEIVED, SC_D_MPI_RECEIVED, MPI_EVENTS, UINT64, FREE)     \
    X(MPI_TAGS, SC_D_MPI_TAGS, MPI_EVENTS, INT32, FREE)              \
    X(MPI_OBJECTS, SC_D_MPI_OBJECTS, MPI_EVENTS, INT32, FREE)        \
    X(MPI_SITES, SC_D_MPI_SITES, MPI_EVENTS, INT32, FREE)            \
    X(MPI_ERRORS, SC_D_MPI_ERRORS, MPI_EVENTS, INT32, FREE)          \
    X(MPI_REQUESTS, SC_D_MPI_REQUESTS, MPI_EVENTS, INT64, FREE)      \
    X(PEERS, SC_D_PEERS, PEERS, PEER, FREE)                          \
    X(OBJECTS, SC_D_OBJECTS, OBJECTS, OBJECT, FREE)                  \
    X(OBJECT_NAMES, SC_D_OBJECT_NAMES, OBJECTS, TEXT, FREE)          \
    X(SITES, SC_D_SITES, SITES, SITE, FREE)                          \
    X(MODULE_NAMES, SC_D_MODULE_NAMES, MODULES, TEXT, FREE)          \
    X(MODULE_BUILD_IDS, SC_D_MODULE_BUILD_IDS, MODULES, TEXT, FREE)

#define SC_DATASET_ID(id, name, extent, type, need) SC_DS_##id,
enum sc_dataset { SC_DATASETS(SC_DATASET_ID) SC_DS_COUNT };

struct sc_h5read;

/* Checks versions, types and extents; libraries: HDF5 candidates as for sc_h5_load(). 0 or a status
 * with a message that begins with the path. */
int sc_h5read_open(const char *path, const char *const *libraries, struct sc_h5read **out);
void sc_h5read_close(struct sc_h5read *f);

const char *sc_h5read_path(const struct sc_h5read *f);
uint64_t sc_h5read_bytes(const struct sc_h5read *f);
int sc_h5read_schema(const struct sc_h5read *f);
int sc_h5read_version(const struct sc_h5read *f); /* of /scope, 0: there is none */
int sc_h5read_has(const struct sc_h5read *f, enum sc_dataset id);
uint64_t sc_h5read_extent(const struct sc_h5read *f, enum sc_extent extent);

/* Rows [first, first + count) into out, elements of the dataset's memory type. */
int sc_h5read_rows(struct sc_h5read *f, enum sc_dataset id, uint64_t first, size_t count,
                   void *out);

/* One string, lent until the next call for the same dataset; "" when the dataset is absent. */
int sc_h5read_text(struct sc_h5read *f, enum sc_dataset id, uint64_t row, scope_text *out);

/* The attributes of /metadata by name; kinds this version does not know are left out. Freed with
 * the file. */
int sc_h5read_metadata(struct sc_h5read *f, const scope_metadata **out, size_t *count);

/* sc_fail(SC_EFORMAT, "<path>: damaged: ..."). */
int sc_h5read_damaged(const struct sc_h5read *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* scope_read_open() with the HDF5 libraries to try, in order, ended by NULL. */
int sc_read_open(const char *path, const char *const *libraries, scope_reader **out);

#endif
