/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Reading profiles. A profile is opened once and then read table by table, in blocks of rows as
 * large as the caller likes, so that memory does not grow with ranks or events:
 *
 *     scope_reader *reader;
 *     if (scope_read_open("profiling_data.h5", &reader) != 0)
 *         fprintf(stderr, "%s\n", scope_last_error());
 *
 * Functions that return int give 0 or a negative SCOPE_E... code of scope.h. Texts are lent: they
 * are valid until the next call that gives a text of the same table, region names and metadata
 * until the reader is closed. All times are nanoseconds on one clock, that of rank 0. A reader is
 * used by one thread at a time, and all readers of a process by one thread at a time.
 */
#ifndef SCOPE_READ_H
#define SCOPE_READ_H

#include <stddef.h>
#include <stdint.h>

#include "scope.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SCOPE_NO_MPI UINT64_MAX /* first_mpi of a slice whose calls have no MPI rows */

typedef struct scope_reader scope_reader;

/* Any bytes; data[length] is 0 all the same. */
typedef struct scope_text {
    const char *data;
    size_t length;
} scope_text;

/*
 * Opens a profile and checks its structure: version, every table's type and length, the whole index
 * (bounds and overlap), call paths, region names. SCOPE_EIO: it cannot be read. SCOPE_EFORMAT: not
 * a profile, an older or newer format, cut off, damaged. SCOPE_EUNAVAIL: no HDF5 library.
 * scope_last_error() says which, in one line that begins with the path.
 */
SCOPE_API int scope_read_open(const char *path, scope_reader **out);
SCOPE_API void scope_read_close(scope_reader *reader);

/* How many rows each table has, and which version wrote them. */
typedef struct scope_read_size {
    int schema;       /* of the core: 3 */
    int version;      /* of the tables of libscope; 0: a profile of scope-profiler without them */
    uint64_t bytes;   /* of the file */
    uint64_t regions; /* region ids are 0 .. regions - 1 */
    uint64_t slices;  /* (rank, region) pairs with events */
    uint64_t events;
    uint64_t mpi_events; /* events with MPI columns */
    uint64_t
        ranks; /* ranks of the run; without a rank table, those up to the highest that has events */
    uint64_t rank_rows; /* rows of the rank table: ranks, or 0 if there is none */
    uint64_t nodes;
    uint64_t topologies;
    uint64_t communicators;
    uint64_t members; /* runs of world ranks that communicators are made of */
    uint64_t paths;   /* call paths; without that table one per region, none nested */
    uint64_t path_stats;
    uint64_t mpi_totals;
    uint64_t peers;   /* rows of the communication matrix */
    uint64_t objects; /* files and windows */
    uint64_t sites;   /* call sites */
    uint64_t modules; /* executables and shared objects that they are in */
} scope_read_size;
SCOPE_API void scope_read_sizes(const scope_reader *reader, scope_read_size *out);

/* Metadata: exactly one of the arrays is set, to count values; is_list tells a list of one from a
 * value. */
typedef struct scope_metadata {
    const char *name;
    int is_list;
    size_t count;
    const int64_t *integers;
    const double *reals;
    const scope_text *texts;
} scope_metadata;
SCOPE_API size_t scope_read_metadata_count(const scope_reader *reader);
SCOPE_API const scope_metadata *scope_read_metadata(const scope_reader *reader,
                                                    size_t i); /* by name */
SCOPE_API const scope_metadata *scope_read_metadata_find(const scope_reader *reader,
                                                         const char *name);

/* Name of a region; "" for an id there is not. */
SCOPE_API scope_text scope_read_region(const scope_reader *reader, uint32_t region);

/* One (rank, region): where its events lie and their statistics. total counts every call, so that a
 * region which calls itself is counted at each level; exclusive is -1 if it was not computed. */
typedef struct scope_slice {
    uint64_t row;
    uint32_t rank, region;
    uint64_t first_event, events;
    uint64_t first_mpi; /* row of its first call in the MPI columns, or SCOPE_NO_MPI */
    int64_t exclusive;
    int64_t total, minimum, maximum; /* of the durations */
    int64_t first, last;             /* durations of the first and the last call */
    int64_t start_minimum, end_maximum;
    uint64_t gpu_count;
    int64_t gpu_total;
    double mean, m2; /* of the durations; m2: sum of squared deviations */
} scope_slice;
SCOPE_API int scope_read_slices(scope_reader *reader, uint64_t first, size_t count,
                                scope_slice *out);

enum scope_slice_text {
    SCOPE_SOURCE_FILE,
    SCOPE_SOURCE_TEXT,
    SCOPE_TAGS,          /* JSON list */
    SCOPE_EVENT_METADATA /* JSON list */
};
SCOPE_API int scope_read_slice_text(scope_reader *reader, uint64_t row, enum scope_slice_text which,
                                    scope_text *out);
SCOPE_API int scope_read_slice_line(scope_reader *reader, uint64_t row,
                                    int64_t *out); /* -1: none */

/*
 * Events [first, first + count) of a slice as absolute start and duration. A slice is read from its
 * front: *clock is 0 for the first block and carries the last start from one block to the next.
 */
SCOPE_API int scope_read_events(scope_reader *reader, const scope_slice *slice, uint64_t first,
                                size_t count, int64_t *clock, int64_t *starts, int64_t *durations);

/* How long the program waited for what events [first, first + count) of a slice had started, ns;
 * -1: they started nothing, or it was not completed. */
SCOPE_API int scope_read_await(scope_reader *reader, const scope_slice *slice, uint64_t first,
                               size_t count, int64_t *out);

/* MPI columns of events [first, first + count) of a slice that has them. */
typedef struct scope_mpi_call {
    int32_t communicator; /* row, -1 none */
    int32_t peer;         /* world rank of root, other end or target, -1 none */
    uint64_t bytes_sent, bytes_received;
    int64_t request; /* -1 none */
    int32_t tag;     /* -1 none */
    int32_t object;  /* row, -1 none */
    int32_t site;    /* row, -1 none */
    int32_t error;   /* MPI's return code, 0 MPI_SUCCESS */
} scope_mpi_call;
SCOPE_API int scope_read_mpi(scope_reader *reader, const scope_slice *slice, uint64_t first,
                             size_t count, scope_mpi_call *out);

/* One per rank of the run; doc/format.md says what each column means. */
typedef struct scope_rank_row {
    uint32_t node;
    int32_t thread_level; /* -1: no MPI */
    int64_t pid;
    int32_t pu, core, package, numa_node; /* -1: unknown */
    int64_t start_ns, end_ns;
    int64_t clock_offset_ns;
    int64_t mpi_ns, mpi_main_ns;
    uint64_t events, mpi_events, mpi_calls;
    uint32_t threads, spare;
    uint64_t lost, paused, unmatched, unfinished, crossed;
    uint64_t memory_bytes;
    int64_t own_event_ns, own_mpi_ns, own_memory_ns;
} scope_rank_row;
SCOPE_API int scope_read_ranks(scope_reader *reader, uint64_t first, size_t count,
                               scope_rank_row *out);
SCOPE_API int scope_read_binding(scope_reader *reader, uint64_t rank,
                                 scope_text *out); /* PUs, "0-3,8" */

typedef struct scope_node_row {
    uint32_t ranks;
    int32_t topology; /* -1: none */
} scope_node_row;
SCOPE_API int scope_read_nodes(scope_reader *reader, uint64_t first, size_t count,
                               scope_node_row *out);
SCOPE_API int scope_read_node_name(scope_reader *reader, uint64_t node,
                                   scope_text *out); /* may be "" */

typedef struct scope_topology_row {
    uint64_t xml_offset, xml_length;
    int32_t packages, numa_nodes, cores, pus;
} scope_topology_row;
SCOPE_API int scope_read_topologies(scope_reader *reader, uint64_t first, size_t count,
                                    scope_topology_row *out);
/* hwloc's XML; *out is malloc'ed, NUL-terminated, and the caller's to free. */
SCOPE_API int scope_read_topology_xml(scope_reader *reader, uint64_t topology, char **out,
                                      size_t *length);
/* LIKWID's facts as one JSON object; "" if there are none. */
SCOPE_API int scope_read_likwid(scope_reader *reader, uint64_t topology, scope_text *out);

/* The id of a communicator is its row. Its members are runs of the members table, in rank order. */
typedef struct scope_comm_row {
    int32_t parent; /* -1: none */
    uint32_t size;
    uint64_t first_run;
    uint32_t runs;
    uint32_t remote_size; /* 0: an intra-communicator */
    uint64_t remote_first_run;
    uint32_t remote_runs, spare;
} scope_comm_row;
SCOPE_API int scope_read_comms(scope_reader *reader, uint64_t first, size_t count,
                               scope_comm_row *out);
SCOPE_API int scope_read_comm_name(scope_reader *reader, uint64_t comm, scope_text *out);

typedef struct scope_run_row { /* world ranks first, first + stride, ... */
    int32_t first, stride;
    uint32_t count;
} scope_run_row;
SCOPE_API int scope_read_members(scope_reader *reader, uint64_t first, size_t count,
                                 scope_run_row *out);

typedef struct scope_path_row {
    int32_t parent; /* a lower row, -1: outermost */
    uint32_t region;
} scope_path_row;
SCOPE_API int scope_read_paths(scope_reader *reader, uint64_t first, size_t count,
                               scope_path_row *out);

typedef struct scope_path_stats_row {
    uint32_t rank, path;
    uint64_t calls;
    int64_t total, exclusive, minimum, maximum; /* exclusive -1: not computed */
} scope_path_stats_row;
SCOPE_API int scope_read_path_stats(scope_reader *reader, uint64_t first, size_t count,
                                    scope_path_stats_row *out);

/* size_class: 0 for no bytes, else k with 2^(k-1) <= max(sent, received) < 2^k of each call. calls
 * may be 0: a call with bytes on several communicators is counted on one. */
typedef struct scope_mpi_total_row {
    uint32_t rank, path;
    int32_t communicator; /* -1: none */
    uint32_t size_class;
    uint64_t calls, bytes_sent, bytes_received;
    int64_t total, minimum, maximum;
    int32_t object, site; /* rows, -1: none */
    int64_t await;        /* time waited for the requests started, summed over them */
    int64_t in_flight;    /* time from the end of the call to their completion, the same */
} scope_mpi_total_row;
SCOPE_API int scope_read_mpi_totals(scope_reader *reader, uint64_t first, size_t count,
                                    scope_mpi_total_row *out);

/* What a rank exchanged with another: point-to-point messages and one-sided transfers. */
typedef struct scope_peer_row {
    uint32_t rank;
    int32_t peer; /* -1: one of another world */
    uint64_t sent_messages, sent_bytes, received_messages, received_bytes;
    uint64_t rma_operations, rma_sent, rma_received;
} scope_peer_row;
SCOPE_API int scope_read_peers(scope_reader *reader, uint64_t first, size_t count,
                               scope_peer_row *out);

enum { SCOPE_OBJECT_FILE = 1, SCOPE_OBJECT_WINDOW = 2 };
typedef struct scope_object_row {
    uint32_t kind;
    int32_t communicator; /* row, -1: none */
} scope_object_row;
SCOPE_API int scope_read_objects(scope_reader *reader, uint64_t first, size_t count,
                                 scope_object_row *out);
SCOPE_API int scope_read_object_name(scope_reader *reader, uint64_t object, scope_text *out);

typedef struct scope_site_row {
    int32_t module; /* row, -1: code in none */
    uint32_t spare;
    uint64_t offset; /* of the return address, as an address of the module's file */
} scope_site_row;
SCOPE_API int scope_read_sites(scope_reader *reader, uint64_t first, size_t count,
                               scope_site_row *out);
SCOPE_API int scope_read_module_name(scope_reader *reader, uint64_t module, scope_text *out);
SCOPE_API int scope_read_module_build_id(scope_reader *reader, uint64_t module, scope_text *out);

#ifdef __cplusplus
}
#endif

#endif
