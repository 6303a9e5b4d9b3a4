/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * h5meta: strings of an HDF5 file, fixed or variable, and attributes of any simple kind as values.
 * Used by h5read only, with HDF5's printing off. One thread.
 */
#ifndef SC_H5META_H
#define SC_H5META_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "h5api.h"
#include "scope_read.h"

/* How strings of one type are read: a block is count * element bytes, zeroed before. */
struct sc_h5strings {
    hid_t memory; /* type in memory; the rest is valid when element > 0 */
    bool variable;
    size_t element;
};

/* limit: no string is longer (bytes of the file). 0, or -1 when the type is no such string. */
int sc_h5strings_open(const struct sc_h5api *h5, hid_t type, uint64_t limit,
                      struct sc_h5strings *out);
void sc_h5strings_close(const struct sc_h5api *h5, struct sc_h5strings *strings);
/* Lent from the block. */
scope_text sc_h5strings_at(const struct sc_h5strings *strings, const char *block, size_t i);
/* Frees what HDF5 put into a block, not the block. */
void sc_h5strings_drop(const struct sc_h5api *h5, const struct sc_h5strings *strings, char *block,
                       size_t count);

/* Reads an attribute into *m (zeroed before; the name is left alone). 0; 1: of a kind we do not
 * know; -1: it cannot be read. The caller clears *m in every case. */
int sc_h5meta_read(const struct sc_h5api *h5, hid_t attribute, uint64_t limit, scope_metadata *m);
void sc_h5meta_clear(scope_metadata *m);
void sc_h5meta_free(scope_metadata *m, size_t count); /* an array with its names */

#endif
