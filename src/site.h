/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * site: where calls come from. A return address becomes a number that stays the same for the life
 * of the process: a module (executable or shared object, by build id) and an offset in it, so that
 * equal places are equal whatever address a module was loaded at. An address may mean another place
 * after dlclose(), which this file therefore stands in for.
 */
#ifndef SC_SITE_H
#define SC_SITE_H

#include <stdint.h>

struct sc_module {
    const char *path;     /* absolute where the loader or the file system tells */
    const char *build_id; /* lower-case hexadecimal, "" if it has none */
};

struct sc_site {
    int32_t module;  /* -1: code in no module (made at run time); offset is the address then */
    uint64_t offset; /* of the return address: address minus load bias, a file's virtual address */
};

/* Hot path. Any thread, from the code at that address or called by it, so that it stays loaded
 * meanwhile. The number of a return address; -1: none (NULL, no memory, a million others). Keeps
 * errno. */
int32_t sc_site_of(const void *address);

/* Any thread. Notes in the image what has a number so far. */
void sc_site_note_all(void);

/* Any thread. Numbers are 0 .. count - 1. What they mean is lent for the life of the process. */
int32_t sc_site_count(void);
const struct sc_site *sc_site_get(int32_t site);
int32_t sc_module_count(void);
const struct sc_module *sc_module_get(int32_t module);

#endif
