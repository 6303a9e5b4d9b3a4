/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * layout: every name, type and version of the profile file, once. Writers and
 * readers include this; doc/format.md says the same in prose.
 */
#ifndef SC_LAYOUT_H
#define SC_LAYOUT_H

#include <stdint.h>

/* clang-format off */
#define SC_SCHEMA_VERSION 3 /* root attribute scope_profiler_schema */
#define SC_SCOPE_VERSION 2  /* attribute "version" of /scope */

#define SC_A_SCHEMA "scope_profiler_schema"
#define SC_A_LAYOUT "storage_layout"
#define SC_A_VERSION "version"
#define SC_LAYOUT_COLUMNAR "columnar"
#define SC_A_INCOMPLETE "incomplete" /* of /metadata, in a recovered profile */

/* Core groups and datasets. R regions, N (rank, region) pairs with events, E events. */
#define SC_G_METADATA "/metadata"
#define SC_G_REGION_TABLE "/region_table"
#define SC_D_REGION_NAMES "/region_table/names"
#define SC_G_INDEX "/rank_region_index"
#define SC_D_INDEX_REGION_IDS "/rank_region_index/region_ids"
#define SC_D_INDEX_RANKS "/rank_region_index/ranks"
#define SC_D_INDEX_EVENT_OFFSETS "/rank_region_index/event_offsets"
#define SC_D_INDEX_EVENT_COUNTS "/rank_region_index/event_counts"
#define SC_D_INDEX_SOURCE_FILES "/rank_region_index/source_files"
#define SC_D_INDEX_SOURCE_TEXTS "/rank_region_index/source_texts"
#define SC_D_INDEX_SOURCE_LINES "/rank_region_index/source_lines"
#define SC_D_INDEX_TAGS "/rank_region_index/tags"
#define SC_D_INDEX_EVENT_METADATA "/rank_region_index/event_metadata"
#define SC_D_INDEX_EXCLUSIVE "/rank_region_index/exclusive_totals"
#define SC_D_INDEX_SUMMARY "/rank_region_index/summary_statistics"
#define SC_G_EVENTS "/events"
#define SC_D_EVENT_STARTS "/events/start_deltas"
#define SC_D_EVENT_DURATIONS "/events/durations"
#define SC_D_EVENT_AWAIT "/events/await_ns" /* int64 [E], -1 none; see enum sc_has */

#define SC_G_TASKS "/task_table" /* only with SC_HAS_TASKS; K tasks */
#define SC_D_TASK_RANKS "/task_table/ranks"
#define SC_D_TASK_INDEX "/task_table/index"
#define SC_D_TASK_THREAD "/task_table/thread_index"
#define SC_D_TASK_CREATED "/task_table/created_ns"
#define SC_D_TASK_DONE "/task_table/done_ns"
#define SC_D_TASK_STEPS "/task_table/steps"
#define SC_D_TASK_RUNNING "/task_table/running_ns"
#define SC_D_TASK_SUSPENDED "/task_table/suspended_ns"
#define SC_D_TASK_KIND "/task_table/kind"
#define SC_D_TASK_NAME "/task_table/name"
#define SC_D_TASK_CORO "/task_table/coro_name"
#define SC_TEXT_BYTES 64 /* of a string of fixed length, with its NUL */

/* Ours. M MPI events, P ranks, H nodes, X distinct topologies, C communicators, Q call paths, O
 * files and windows, L modules (executables and shared objects). */
#define SC_G_SCOPE "/scope"
#define SC_D_RANKS "/scope/ranks" /* struct sc_row_rank [P] */
#define SC_D_RANK_BINDINGS "/scope/rank_bindings" /* string [P], list of PUs as "0-3,8" */
#define SC_D_NODES "/scope/nodes" /* struct sc_row_node [H] */
#define SC_D_NODE_NAMES "/scope/node_names" /* string [H]; absent in minimal detail */
#define SC_D_TOPOLOGIES "/scope/topologies" /* struct sc_row_topology [X] */
#define SC_D_TOPOLOGY_XML "/scope/topology_xml" /* uint8, deflated; slices named by topologies */
#define SC_D_LIKWID "/scope/likwid" /* string [X], one JSON object each */
#define SC_D_COMMS "/scope/communicators" /* struct sc_row_comm [C]; the row is the id */
#define SC_D_COMM_NAMES "/scope/communicator_names" /* string [C] */
/* struct sc_row_run; slices named by rows */
#define SC_D_COMM_MEMBERS "/scope/communicator_members"
#define SC_D_PATHS "/scope/call_paths" /* struct sc_row_path [Q]; the row is the id */
#define SC_D_PATH_STATS "/scope/call_path_stats" /* struct sc_row_path_stats */
#define SC_D_MPI_TOTALS "/scope/mpi_totals" /* struct sc_row_mpi_total */
#define SC_D_PEERS "/scope/peers" /* struct sc_row_peer, by rank: the communication matrix */
#define SC_D_OBJECTS "/scope/objects" /* struct sc_row_object [O]; the row is the id */
#define SC_D_OBJECT_NAMES "/scope/object_names" /* string [O] */
#define SC_D_SITES "/scope/sites" /* struct sc_row_site; the row is the id */
#define SC_D_MODULE_NAMES "/scope/module_names" /* string [L] */
#define SC_D_MODULE_BUILD_IDS "/scope/module_build_ids" /* string [L], hexadecimal, "" none */
#define SC_G_MPI "/scope/mpi"
#define SC_D_MPI_OFFSETS "/scope/mpi/offsets" /* uint64 [N]; SC_NO_OFFSET: not an MPI region */
#define SC_D_MPI_COMMS "/scope/mpi/communicators" /* int32 [M], -1 none */
#define SC_D_MPI_PEERS "/scope/mpi/peers" /* int32 [M], world rank, -1 none */
#define SC_D_MPI_ROOTS "/scope/mpi/roots" /* the same in version 1 */
#define SC_D_MPI_SENT "/scope/mpi/bytes_sent" /* uint64 [M] */
#define SC_D_MPI_RECEIVED "/scope/mpi/bytes_received" /* uint64 [M] */
#define SC_D_MPI_TAGS "/scope/mpi/tags" /* int32 [M], -1 none */
#define SC_D_MPI_OBJECTS "/scope/mpi/objects" /* int32 [M], row of objects, -1 none */
#define SC_D_MPI_SITES "/scope/mpi/sites" /* int32 [M], row of sites, -1 none */
#define SC_D_MPI_ERRORS "/scope/mpi/errors" /* int32 [M], MPI's return code */
#define SC_D_MPI_REQUESTS "/scope/mpi/requests" /* int64 [M], -1 none */

#define SC_NO_OFFSET UINT64_MAX

/* Columns that are absent when no rank has anything to say in them. */
enum sc_has {
    SC_HAS_TAGS = 1,
    SC_HAS_OBJECTS = 2,
    SC_HAS_SITES = 4,
    SC_HAS_ERRORS = 8,
    SC_HAS_REQUESTS = 16,
    SC_HAS_AWAIT = 32,
    SC_HAS_TASKS = 64 /* the whole table */
};

/*
 * Row types. Each list is FIELD(C type, HDF5 native type, name); SC_STRUCT makes the struct, the
 * writer and the reader make the HDF5 compound from the same list: names as here, no padding.
 */
#define SC_ROW_RANK(FIELD)                                                                        \
    FIELD(uint32_t, UINT32, node)          /* row of /scope/nodes */                              \
    FIELD(int32_t, INT32, thread_level)    /* MPI thread level provided, -1 no MPI */             \
    FIELD(int64_t, INT64, pid)             /* process id; -1 in minimal detail */                 \
    FIELD(int32_t, INT32, pu)              /* OS index of the PU last run on, -1 unknown */       \
    FIELD(int32_t, INT32, core)            /* hwloc logical indexes, -1 unknown */                \
    FIELD(int32_t, INT32, package)                                                                \
    FIELD(int32_t, INT32, numa_node)                                                              \
    FIELD(int64_t, INT64, start_ns)        /* recording began, file's clock */                    \
    FIELD(int64_t, INT64, end_ns)          /* recording ended, file's clock */                    \
    FIELD(int64_t, INT64, clock_offset_ns) /* added to this rank's clock to get the file's */     \
    FIELD(int64_t, INT64, mpi_ns)          /* time inside MPI calls, all threads */               \
    FIELD(int64_t, INT64, mpi_main_ns)     /* the same, of the thread that initialized MPI */     \
    FIELD(uint64_t, UINT64, events)        /* region events stored */                             \
    FIELD(uint64_t, UINT64, mpi_events)    /* MPI events stored */                                \
    FIELD(uint64_t, UINT64, mpi_calls)     /* MPI calls counted in the totals */                  \
    FIELD(uint32_t, UINT32, threads)       /* threads that recorded */                            \
    FIELD(uint32_t, UINT32, spare)                                                                \
    FIELD(uint64_t, UINT64, lost)          /* no memory, or a handle never given out */           \
    FIELD(uint64_t, UINT64, paused)        /* calls while recording was paused */                 \
    FIELD(uint64_t, UINT64, unmatched)     /* ends without a begin */                             \
    FIELD(uint64_t, UINT64, unfinished)    /* begins without an end, closed at the end */         \
    FIELD(uint64_t, UINT64, crossed)       /* regions that ended before one begun inside them */  \
    FIELD(uint64_t, UINT64, memory_bytes)  /* event memory at its largest */                      \
    FIELD(int64_t, INT64, own_event_ns)    /* library's own cost in region calls, estimated */    \
    FIELD(int64_t, INT64, own_mpi_ns)      /* the same in MPI wrappers, estimated */              \
    FIELD(int64_t, INT64, own_memory_ns)   /* measured while getting event memory */

#define SC_ROW_NODE(FIELD)                                                                        \
    FIELD(uint32_t, UINT32, ranks)    /* ranks on this node */                                    \
    FIELD(int32_t, INT32, topology)   /* row of /scope/topologies, -1 none */

#define SC_ROW_TOPOLOGY(FIELD)                                                                    \
    FIELD(uint64_t, UINT64, xml_offset)                                                           \
    FIELD(uint64_t, UINT64, xml_length)                                                           \
    FIELD(int32_t, INT32, packages)                                                               \
    FIELD(int32_t, INT32, numa_nodes)                                                             \
    FIELD(int32_t, INT32, cores)                                                                  \
    FIELD(int32_t, INT32, pus)

/* A communicator's members, in rank order, are runs of world ranks. An inter-communicator also has
 * the remote group; the group whose member 0 has the lower world rank is the local one. */
#define SC_ROW_COMM(FIELD)                                                                        \
    FIELD(int32_t, INT32, parent)         /* row of this table, -1 none */                        \
    FIELD(uint32_t, UINT32, size)         /* ranks in the (local) group */                        \
    FIELD(uint64_t, UINT64, first_run)    /* slice of communicator_members */                     \
    FIELD(uint32_t, UINT32, runs)                                                                 \
    FIELD(uint32_t, UINT32, remote_size)  /* 0: an intra-communicator */                          \
    FIELD(uint64_t, UINT64, remote_first_run)                                                     \
    FIELD(uint32_t, UINT32, remote_runs)                                                          \
    FIELD(uint32_t, UINT32, spare)

#define SC_ROW_RUN(FIELD)                                                                         \
    FIELD(int32_t, INT32, first)                                                                  \
    FIELD(int32_t, INT32, stride)                                                                 \
    FIELD(uint32_t, UINT32, count)

#define SC_ROW_PATH(FIELD)                                                                        \
    FIELD(int32_t, INT32, parent)   /* row of this table, always a lower one; -1 outermost */     \
    FIELD(uint32_t, UINT32, region) /* row of /region_table */

#define SC_ROW_PATH_STATS(FIELD)                                                                  \
    FIELD(uint32_t, UINT32, rank)                                                                 \
    FIELD(uint32_t, UINT32, path)                                                                 \
    FIELD(uint64_t, UINT64, calls)                                                                \
    FIELD(int64_t, INT64, total)     /* ns, as all times */                                       \
    FIELD(int64_t, INT64, exclusive) /* total less what children took of it */                    \
    FIELD(int64_t, INT64, minimum)                                                                \
    FIELD(int64_t, INT64, maximum)

/* The communication matrix as its rank saw it: point-to-point messages and one-sided transfers. */
#define SC_ROW_PEER(FIELD)                                                                        \
    FIELD(uint32_t, UINT32, rank)                                                                 \
    FIELD(int32_t, INT32, peer) /* world rank, -1 one of another world */                         \
    FIELD(uint64_t, UINT64, sent_messages)                                                        \
    FIELD(uint64_t, UINT64, sent_bytes)                                                           \
    FIELD(uint64_t, UINT64, received_messages)                                                    \
    FIELD(uint64_t, UINT64, received_bytes)                                                       \
    FIELD(uint64_t, UINT64, rma_operations)                                                       \
    FIELD(uint64_t, UINT64, rma_sent)                                                             \
    FIELD(uint64_t, UINT64, rma_received)

#define SC_ROW_OBJECT(FIELD)                                                                      \
    FIELD(uint32_t, UINT32, kind)        /* 1 a file, 2 a window */                               \
    FIELD(int32_t, INT32, communicator)  /* row of /scope/communicators, -1 none */

#define SC_ROW_SITE(FIELD)                                                                        \
    FIELD(int32_t, INT32, module)   /* row of module_names, -1 code in none */                    \
    FIELD(uint32_t, UINT32, spare)                                                                \
    FIELD(uint64_t, UINT64, offset) /* of the return address in the module's file */

/* size_class: 0 for no bytes, else k with 2^(k-1) <= max(sent, received) < 2^k of each call. */
#define SC_ROW_MPI_TOTAL(FIELD)                                                                   \
    FIELD(uint32_t, UINT32, rank)                                                                 \
    FIELD(uint32_t, UINT32, path)         /* call path whose last region is the routine */        \
    FIELD(int32_t, INT32, communicator)   /* row of /scope/communicators, -1 none */              \
    FIELD(uint32_t, UINT32, size_class)                                                           \
    FIELD(uint64_t, UINT64, calls)        /* may be 0: bytes of calls counted in another row */   \
    FIELD(uint64_t, UINT64, bytes_sent)                                                           \
    FIELD(uint64_t, UINT64, bytes_received)                                                       \
    FIELD(int64_t, INT64, total)                                                                  \
    FIELD(int64_t, INT64, minimum)                                                                \
    FIELD(int64_t, INT64, maximum)                                                                \
    FIELD(int32_t, INT32, object)         /* row of /scope/objects, -1 none; from here on new */  \
    FIELD(int32_t, INT32, site)           /* row of /scope/sites, -1 none; in version 2 */        \
    FIELD(int64_t, INT64, await)          /* time waited for the requests started, summed */      \
    FIELD(int64_t, INT64, in_flight)      /* from the end of the call to their completion */

/* Core compound of /rank_region_index/summary_statistics; durations and times in ns. */
#define SC_ROW_SUMMARY(FIELD)                                                                     \
    FIELD(int64_t, INT64, total)                                                                  \
    FIELD(int64_t, INT64, minimum)                                                                \
    FIELD(int64_t, INT64, maximum)                                                                \
    FIELD(int64_t, INT64, first)                                                                  \
    FIELD(int64_t, INT64, last)                                                                   \
    FIELD(int64_t, INT64, start_minimum)                                                          \
    FIELD(int64_t, INT64, end_maximum)                                                            \
    FIELD(uint64_t, UINT64, gpu_count)                                                            \
    FIELD(int64_t, INT64, gpu_total)                                                              \
    FIELD(double, DOUBLE, mean)                                                                   \
    FIELD(double, DOUBLE, m2) /* sum of squared deviations from the mean */

/* clang-format on */
#define SC_STRUCT_FIELD(ctype, h5type, name) ctype name;
#define SC_STRUCT(tag, LIST)  \
    struct tag {              \
        LIST(SC_STRUCT_FIELD) \
    }

SC_STRUCT(sc_row_rank, SC_ROW_RANK);
SC_STRUCT(sc_row_node, SC_ROW_NODE);
SC_STRUCT(sc_row_topology, SC_ROW_TOPOLOGY);
SC_STRUCT(sc_row_comm, SC_ROW_COMM);
SC_STRUCT(sc_row_run, SC_ROW_RUN);
SC_STRUCT(sc_row_path, SC_ROW_PATH);
SC_STRUCT(sc_row_path_stats, SC_ROW_PATH_STATS);
SC_STRUCT(sc_row_mpi_total, SC_ROW_MPI_TOTAL);
SC_STRUCT(sc_row_peer, SC_ROW_PEER);
SC_STRUCT(sc_row_object, SC_ROW_OBJECT);
SC_STRUCT(sc_row_site, SC_ROW_SITE);
SC_STRUCT(sc_row_summary, SC_ROW_SUMMARY);

#endif
