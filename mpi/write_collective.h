/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * write_collective: rows into the one file, all ranks at the same time, through parallel HDF5 and
 * MPI-IO.
 */
#ifndef SC_WRITE_COLLECTIVE_H
#define SC_WRITE_COLLECTIVE_H

#include "h5rows.h"

/* NULL when this writer can be used, else why not; lent until the next failure. */
const char *sc_write_collective_missing(void);

/* Collective. path: a skeleton with this run's extents that every rank sees. Puts each rank's rows
 * into it. All ranks return the same status, with the same message; a rank that fails keeps no
 * other waiting. */
int sc_write_collective(const char *path, const struct sc_h5_table *tables, size_t count);

#endif
