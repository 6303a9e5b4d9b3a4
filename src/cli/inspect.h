/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * inspect: what its options say, and its three ways of printing a profile.
 */
#ifndef SC_CLI_INSPECT_H
#define SC_CLI_INSPECT_H

#include <stdbool.h>

#include "mpi_group.h"
#include "profile.h"
#include "view.h"

/* Parts of the output; those asked for, in this order. */
enum {
    INSPECT_HEADER = 1,
    INSPECT_METADATA = 2,
    INSPECT_REGIONS = 4,
    INSPECT_MPI = 8,
    INSPECT_TOPOLOGY = 16,
    INSPECT_COMMS = 32,
    INSPECT_MATRIX = 64,
    INSPECT_FILES = 128,
};

enum {
    INSPECT_ROWS = 60, /* rows of a table unless everything is wanted */
    INSPECT_BRIEF = 8, /* the same of tables that nobody asked for */
    INSPECT_NAME = 36  /* characters of a name with its indentation */
};

enum inspect_format { INSPECT_TEXT, INSPECT_JSON, INSPECT_CSV };

struct inspect_options {
    unsigned parts;
    enum inspect_format format;
    bool flat, full;
    bool brief;     /* no part was asked for: all of them, some of them short */
    enum mpi_by by; /* INSPECT_MPI */
    bool by_given;
    struct view_choice choice; /* columns, sort, source, globs */
    struct cli_globs globs;
    struct cli_ranks ranks;
    const char *export_metadata; /* file, "-", NULL */
};

/* The part whose table --sort, --columns and the globs speak of. */
unsigned inspect_chosen(const struct inspect_options *o);

/* Each appends one profile. */
void inspect_text(const struct profile *p, const struct inspect_options *o, struct sc_string *out);
void inspect_json(const struct profile *p, const struct inspect_options *o, struct sc_string *out);
void inspect_csv(const struct profile *p, const struct inspect_options *o, bool head,
                 struct sc_string *out, struct sc_string *notes);

/* The metadata as one JSON object. */
void inspect_metadata_json(const struct profile *p, const char *indent, struct sc_string *out);

/* The ranks of one side of a communicator, in its order of members, as "0-3,8"; a stride as
 * "0-6:2". */
void inspect_members(const struct profile *p, uint64_t first_run, uint64_t runs, size_t limit,
                     struct sc_string *out);

#endif
