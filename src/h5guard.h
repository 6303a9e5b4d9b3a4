/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * h5guard: what HDF5 takes on trust when it reads strings and attributes, checked before it does.
 * Strings lie in global heaps, which have no checksum: with a wrong length in one, HDF5 1.10 copies
 * too much or never ends. Files are opened through a driver that looks at each heap as it is read;
 * references to heaps are checked by their user, and so are the attributes of an object. One
 * thread.
 */
#ifndef SC_H5GUARD_H
#define SC_H5GUARD_H

#include <stddef.h>
#include <stdint.h>

#include "h5api.h"

/* A file open for reading and its driver, which has to be there until the file is closed: HDF5 1.10
 * frees one that is not, and then calls it. Negative: not open. */
struct sc_h5guard {
    hid_t file, driver;
};

/* 0, or -1; close it in either case. */
int sc_h5guard_open(const struct sc_h5api *h5, const char *path, struct sc_h5guard *out);
void sc_h5guard_close(const struct sc_h5api *h5, struct sc_h5guard *guard);

/* Whether count references to strings at offset of an open file point to objects of heaps that have
 * the length they say. 0, or -1. */
int sc_h5guard_check(int descriptor, uint64_t offset, size_t count);

/* Whether the attributes of the object whose header is at that address of an open file have the
 * lengths they say; true of a header with a checksum, which HDF5 looks at. 0, or -1. */
int sc_h5guard_attributes(int descriptor, uint64_t address);

#endif
