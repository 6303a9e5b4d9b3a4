/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * output: where a profile comes to be: it is written beside its final name, then takes it, so that
 * a failure leaves an earlier file as it was. One process.
 */
#ifndef SC_OUTPUT_H
#define SC_OUTPUT_H

#include <stdint.h>

#include "settings.h"

struct sc_output {
    char path[SC_TEXT_MAX + 32]; /* of the profile */
    char temporary[SC_TEXT_MAX + 64];
};

/* A link at path stays one: what it leads to is the profile. unique: with the process id, a number
 * that no other output of this name has. 0 or a status: SC_EIO if something else than a file is
 * there, SC_EINVAL, SC_ENOMEM. */
int sc_output_choose(const char *path, uint64_t unique, struct sc_output *out);

/* The complete temporary file is put on disk and takes its name; how large it is. 0 or SC_EIO. */
int sc_output_commit(const struct sc_output *o, uint64_t *bytes);

/* There is to be none. A reason (sc_last_error(), of status rc) that names the temporary file names
 * the profile then, the only name a user knows. */
void sc_output_discard(const struct sc_output *o, int rc);

#endif
