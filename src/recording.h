/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * recording: what one rank recorded, in the order of the file: slices by region, rows by start time
 * within a slice. Made once per publication after recording has stopped; rows are produced window
 * by window straight from the lanes, so publishing needs no second copy of them. One thread.
 */
#ifndef SC_RECORDING_H
#define SC_RECORDING_H

#include <stddef.h>
#include <stdint.h>

#include "callpath.h"
#include "layout.h"

struct sc_slice {
    uint32_t region;    /* local region id */
    uint64_t rows;      /* events */
    uint64_t ops;       /* == rows for a region of operations whose rows were kept, else 0 */
    uint64_t first_row; /* where it lies among this rank's event rows and operation rows */
    uint64_t first_op;
    int64_t exclusive;             /* ns, over all calls */
    struct sc_row_summary summary; /* ns on this host's clock */
};

/* All times on this host's CLOCK_MONOTONIC, ns. */
struct sc_recording {
    size_t slice_count;
    struct sc_slice *slices;
    uint64_t rows, ops;        /* sums over the slices */
    struct sc_callpath *paths; /* all threads */
    struct sc_row_rank rank; /* the recording's fields filled: times, counts, own cost; others 0 */
    unsigned has;            /* optional columns with something to say: sum of enum sc_has */
};

/* Reads the lanes once: slices in order of local region id, statistics, paths. 0 or SC_ENOMEM. */
int sc_recording_create(struct sc_recording **out);
void sc_recording_free(struct sc_recording *r);

/* Puts the slices in ascending order of key[slice.region] (NULL: as they are) and sets first_row
 * and first_op anew. */
void sc_recording_order(struct sc_recording *r, const uint32_t *key);

/* Rows [first, first + count) of this rank: gap to the previous start of the slice (first:
 * absolute, plus offset_ns), duration, and the time waited for what the call started (-1: none;
 * NULL: not wanted). Each window costs a pass over the lanes. 0 or SC_ENOMEM. */
int sc_recording_event_rows(struct sc_recording *r, uint64_t first, size_t count, int64_t offset_ns,
                            int64_t *start_deltas, int64_t *durations, int64_t *awaits);

/* From the layer's numbers, and those of sites, to the file's. */
struct sc_op_maps {
    const int32_t *comm, *object, *site;
};

/* Operation rows [first, first + count). Columns from tags on may be NULL. 0 or SC_ENOMEM. */
struct sc_op_columns {
    int32_t *comms;
    int32_t *peers;
    uint64_t *sent;
    uint64_t *received;
    int32_t *tags;
    int32_t *objects;
    int32_t *sites;
    int32_t *errors;
    int64_t *requests;
};
int sc_recording_op_rows(struct sc_recording *r, uint64_t first, size_t count,
                         const struct sc_op_maps *maps, const struct sc_op_columns *columns);

#endif
