/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * inspect_mpi: the parts about MPI: routines, messages, files and windows, communicators; in each
 * way of printing.
 */
#ifndef SC_CLI_INSPECT_MPI_H
#define SC_CLI_INSPECT_MPI_H

#include "inspect.h"

/* Dies when --sort or --columns name what the part's table does not have. */
void inspect_mpi_check(const struct inspect_options *o, unsigned part);
/* Appends "a, b, c": the names of the columns of a part. */
void inspect_mpi_column_names(unsigned part, enum mpi_by by, struct sc_string *out);

/* Each appends one part of a profile. */
void inspect_mpi_text(const struct profile *p, const struct inspect_options *o,
                      struct sc_string *out);
void inspect_matrix_text(const struct profile *p, const struct inspect_options *o,
                         struct sc_string *out);
void inspect_files_text(const struct profile *p, const struct inspect_options *o,
                        struct sc_string *out);
void inspect_comms_text(const struct profile *p, const struct inspect_options *o,
                        struct sc_string *out);

/* The parts asked for, as members of the profile's object. */
void inspect_mpi_json(const struct profile *p, const struct inspect_options *o,
                      struct sc_string *out);

/* The table of one part. notes: why call sites are not known better. */
void inspect_mpi_csv(const struct profile *p, const struct inspect_options *o, unsigned part,
                     bool head, struct sc_string *out, struct sc_string *notes);

#endif
