/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * rows: what this rank puts into the row datasets of the file, as tables the writers take from.
 */
#ifndef SC_ROWS_H
#define SC_ROWS_H

#include "catalog.h"
#include "h5write.h"
#include "numbering.h"
#include "recording.h"

enum sc_rows_table {
    SC_ROWS_RANKS,
    SC_ROWS_INDEX,
    SC_ROWS_EVENTS,
    SC_ROWS_PATH_STATS,
    SC_ROWS_MPI_TOTALS, /* this and the next ones only in a run with MPI */
    SC_ROWS_PEERS,
    SC_ROWS_MPI,
    SC_ROWS_TASKS, /* last: only with SC_HAS_TASKS */
    SC_ROWS_TABLES
};

enum { SC_ROWS_MPI_COLUMNS = 9 };

struct sc_rows {
    struct sc_h5_table table[SC_ROWS_TABLES];
    size_t tables;
    uint64_t total[SC_ROWS_TABLES]; /* rows of all ranks */
    unsigned has;                   /* sum of enum sc_has, over all ranks */
    int status;                     /* worst that producing rows met with */

    struct sc_recording *recording; /* NULL: a rank that recorded nothing */
    const struct sc_numbering *numbering;
    const struct sc_catalog *catalog;
    const char *mpi_datasets[SC_ROWS_MPI_COLUMNS]; /* those that are there */
    struct sc_row_rank rank;
    int64_t offset_ns; /* added to this rank's clock to get the file's */
};

/* Collective. Puts the recording's slices in the file's order and finds where this rank's rows lie.
 * recording, numbering and catalog are lent for the life of out. The same status on all ranks. */
int sc_rows_create(struct sc_recording *recording, const struct sc_numbering *numbering,
                   const struct sc_catalog *catalog, const struct sc_row_rank *rank,
                   struct sc_rows *out);

#endif
