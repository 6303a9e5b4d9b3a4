/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * rows: what one rank puts into the row datasets of the file, as tables the writers take from.
 */
#ifndef SC_ROWS_H
#define SC_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "h5rows.h"
#include "layout.h"
#include "own.h"
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
    unsigned has; /* sum of enum sc_has, over all ranks */
    int status;   /* worst that producing rows met with */

    struct sc_recording *recording; /* NULL: a rank that recorded nothing */
    const struct sc_maps *maps;
    const char *mpi_datasets[SC_ROWS_MPI_COLUMNS]; /* those that are there */
    uint32_t rank;
    struct sc_row_rank row; /* of the table of ranks */
};

/* The optional columns that this rank has something for. tracks: requests become tasks. */
unsigned sc_rows_has(const struct sc_recording *recording, bool tracks);

/* Puts the recording's slices in the file's order and makes the tables, as if this rank's rows were
 * the first of each; the caller moves them (table[i].first) behind those of the ranks before. mpi:
 * the run has MPI. has: of all ranks. recording and maps are lent for the life of out. */
void sc_rows_make(struct sc_recording *recording, const struct sc_maps *maps, uint32_t rank,
                  const struct sc_row_rank *row, bool mpi, unsigned has, struct sc_rows *out);

#endif
