/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi_table: the tables of MPI, each as a grid: which columns there are, and the rows of a profile.
 */
#ifndef SC_CLI_MPI_TABLE_H
#define SC_CLI_MPI_TABLE_H

#include "inspect_grid.h"
#include "mpi_group.h"
#include "mpi_pair.h"
#include "mpi_site.h"

/* Where columns are, beside those of inspect_grid.h. */
enum {
    KEY_NAME = GRID_PEOPLE | GRID_TABLE | GRID_CHOICE | GRID_FIXED, /* JSON has the id */
    KEY_ID = GRID_TABLE | GRID_JSON | GRID_FIXED,                   /* text has the name */
    DERIVED = GRID_PEOPLE | GRID_TABLE | GRID_CHOICE,
    EXTRA = GRID_JSON | GRID_CHOICE,
    IF_FOUND = GRID_USUAL | GRID_FOUND
};

/* "routine", "path", ... */
extern const char *const mpi_by_names[MPI_BY_COUNT];

/* Empty tables. */
struct grid *mpi_routines_create(enum mpi_by by);
struct grid *mpi_matrix_create(void);
struct grid *mpi_objects_create(void);
struct grid *mpi_comms_create(void);

/* Sets a cell to the name of a communicator, or "" of none. */
void mpi_set_comm_name(struct grid *g, size_t column, const struct profile *p, int64_t comm);

/* Routines, or routines and one thing more, that the globs take. sites: NULL unless by site. */
void mpi_routines_fill(struct grid *g, const struct profile *p, const struct mpi_groups *groups,
                       enum mpi_by by, const struct cli_globs *globs, struct mpi_sites *sites);
/* A row for each of the first count pairs. */
void mpi_matrix_fill(struct grid *g, const struct mpi_pairs *pairs, size_t count);
/* Files and windows whose names the globs take, in the order of the file. */
void mpi_objects_fill(struct grid *g, const struct profile *p, const struct cli_globs *globs);
/* The first count communicators; of their members limit ranges, 0: all. */
void mpi_comms_fill(struct grid *g, const struct profile *p, uint64_t count, size_t limit);

#endif
