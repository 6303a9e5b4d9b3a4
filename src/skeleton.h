/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * skeleton: a profile before its rows, from the tables of all ranks. One process writes it.
 */
#ifndef SC_SKELETON_H
#define SC_SKELETON_H

#include <stdbool.h>
#include <stdint.h>

#include "catalog.h"
#include "h5write.h"
#include "numbering.h"
#include "rows.h"

struct sc_skeleton {
    const struct sc_numbering *numbering; /* filled, as the catalog */
    const struct sc_catalog *catalog;
    uint64_t total[SC_ROWS_TABLES]; /* rows of all ranks */
    const uint32_t *slice_regions;  /* [total[SC_ROWS_INDEX]] the file's numbers, rank by rank */
    bool full;                      /* source files keep their folders */
};

/* rest: attributes, chunk, ranks, mpi, has and what is known of the machine; the other members are
 * set here. As sc_h5write_skeleton(), or SC_ENOMEM. */
int sc_skeleton_write(const char *path, const struct sc_skeleton *s, struct sc_h5_skeleton *rest);

#endif
