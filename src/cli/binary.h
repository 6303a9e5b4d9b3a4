/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * binary: what a program's file says about how it will be loaded: enough to tell whether a
 * preloaded library can get in. Reads the file, starts nothing, believes no number in it. Used by
 * `scope run` and `scope info`.
 */
#ifndef SC_CLI_BINARY_H
#define SC_CLI_BINARY_H

#include <stdbool.h>

struct binary_facts {
    bool is_elf;     /* else a script or anything; the rest is then 0 */
    bool is_native;  /* of this machine's word size and byte order; the rest is 0 when not */
    bool is_dynamic; /* names a dynamic loader; false for a static program and for most libraries */
    char mpi[64];    /* the C library of MPI it needs, as "libmpi.so.40"; "" if it names none */
};

/* True when the file could be read; a damaged one is like one that says nothing. */
bool binary_read(const char *path, struct binary_facts *out);

#endif
