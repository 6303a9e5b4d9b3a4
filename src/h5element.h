/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * h5element: what one element of each dataset of layout.h is, apart from strings and bytes. Any
 * thread.
 */
#ifndef SC_H5ELEMENT_H
#define SC_H5ELEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "h5api.h"

/* What a dataset has one row for. */
enum sc_h5_extent {
    SC_H5_PAIRS,
    SC_H5_EVENTS,
    SC_H5_OPS,
    SC_H5_RANKS,
    SC_H5_PATH_STATS,
    SC_H5_TOTALS,
    SC_H5_PEERS,
    SC_H5_TASKS,
    SC_H5_OBJECTS,
    SC_H5_SITES,
    SC_H5_NODES,
    SC_H5_TOPOLOGIES,
    SC_H5_COMMS,
    SC_H5_MEMBERS,
    SC_H5_PATHS
};

struct sc_h5_element {
    const char *dataset;
    const struct sc_h5_field *fields; /* of a compound; one without a name otherwise */
    size_t field_count;
    enum sc_h5_extent extent;
    bool mpi;     /* only there when MPI was recorded */
    unsigned has; /* enum sc_has: only there with that bit; 0 always */
};

/* All of them; the number is returned. */
size_t sc_h5_elements(const struct sc_h5_element **out);

/* NULL: none of that name. */
const struct sc_h5_element *sc_h5_element_find(const char *dataset);

size_t sc_h5_element_bytes(const struct sc_h5_element *element);

/* Its HDF5 type in memory and in the file (negative on failure); the caller closes it with
 * H5Tclose. */
hid_t sc_h5_element_type(const struct sc_h5api *h5, const struct sc_h5_element *element);

#endif
