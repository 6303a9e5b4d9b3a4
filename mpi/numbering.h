/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * numbering: from the numbers a rank gave to regions, call paths and communicators to those of the
 * file, on which all ranks agree, and the tables behind them. Made once per publication. PMPI_
 * only.
 */
#ifndef SC_NUMBERING_H
#define SC_NUMBERING_H

#include <stddef.h>
#include <stdint.h>

#include "h5write.h"
#include "recording.h"

struct sc_numbering {
    /* This rank's number -> the file's. */
    uint32_t *region; /* [local region id], UINT32_MAX: not in the file */
    uint32_t *path;   /* [path of the recording] */
    int32_t *comm;    /* [local communicator number] */

    /* The file's tables; names are lent by this struct. */
    struct sc_h5_text *region_names; /* every rank */
    unsigned char *region_is_mpi;
    size_t regions;
    struct sc_row_path *paths; /* every rank */
    size_t path_count;

    /* Rank 0 only; NULL elsewhere. */
    struct sc_h5_text *region_files, *region_tags;
    int64_t *region_lines;
    struct sc_row_comm *comms;
    struct sc_h5_text *comm_names;
    struct sc_row_run *comm_members;
    size_t comm_count, comm_member_count;

    struct sc_numbering_store *store; /* what the texts point into */
};

/* Collective. recording NULL: this rank brings nothing. The same status on all ranks. */
int sc_numbering_create(const struct sc_recording *recording, struct sc_numbering *out);
void sc_numbering_free(struct sc_numbering *n);

#endif
