/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * write_token: rows into the one file, one rank after the other. Needs no parallel file system and
 * no parallel HDF5, and works without MPI as a world of one.
 */
#ifndef SC_WRITE_TOKEN_H
#define SC_WRITE_TOKEN_H

#include "h5rows.h"

/* Collective. path: a skeleton with this run's extents that every rank sees. Puts each rank's rows
 * into it; ranks after one that failed write nothing. All ranks return the same status, with the
 * same message. */
int sc_write_token(const char *path, const struct sc_h5_table *tables, size_t count);

#endif
