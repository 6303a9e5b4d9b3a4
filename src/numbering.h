/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * numbering: from the numbers ranks gave to regions, call paths and communicators to those of the
 * file, on which all agree, and the tables behind them. Made once per publication: first ranks are
 * added, in their order, then the tables made.
 */
#ifndef SC_NUMBERING_H
#define SC_NUMBERING_H

#include <stddef.h>
#include <stdint.h>

#include "h5write.h"
#include "own.h"
#include "recording.h"

/* All zeros is an empty one. */
struct sc_numbering {
    struct sc_union all_regions, all_paths, all_comms; /* of the ranks added so far */

    /* The file's tables; names point into the unions. */
    struct sc_h5_text *region_names, *region_files, *region_tags;
    int64_t *region_lines;
    unsigned char *region_is_mpi;
    size_t regions;
    struct sc_row_path *paths;
    size_t path_count;
    struct sc_row_comm *comms;
    struct sc_h5_text *comm_names;
    struct sc_row_run *comm_members;
    size_t comm_count, comm_member_count;
};

/* What unite is (Collective, if it is). Adds a rank and fills its maps of regions, paths and
 * communicators, to be freed whatever is returned. recording NULL: it recorded nothing. */
int sc_numbering_add(struct sc_numbering *n, const struct sc_recording *recording,
                     const struct sc_own *own, sc_unite_fn *unite, struct sc_maps *maps);

/* The tables of all that was added. 0 or SC_ENOMEM. */
int sc_numbering_fill(struct sc_numbering *n);
void sc_numbering_free(struct sc_numbering *n);

#endif
