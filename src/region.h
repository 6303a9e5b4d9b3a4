/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * region: the process's registry of regions: name -> small id, append only, for the life of the
 * process, so that handles are good before setup and after finalize. Any thread; registering takes
 * a lock, reading what an id means does not. A region the program names "MPI_Send" is another one
 * than the routine's.
 */
#ifndef SC_REGION_H
#define SC_REGION_H

#include <stddef.h>
#include <stdint.h>

/* Ids are below this: they take 16 bits of an event. Names beyond share the last id, "(other
 * regions)". */
#define SC_REGION_MAX 65535 /* SCOPE_REGIONS_ of scope.h */

enum sc_region_kind { SC_REGION_USER, SC_REGION_MPI };

struct sc_region {
    const char *name; /* length bytes, then NUL */
    size_t length;
    const char *file; /* "" if unknown */
    int line;         /* -1 if unknown */
    enum sc_region_kind kind;
    const char *tags; /* JSON list, "[]" if none */
};

/* The id of the region of that kind and name, made at need; tags and file are copied at that
 * moment. Negative status: SC_EINVAL (name NULL) or SC_ENOMEM. */
int sc_region_id(enum sc_region_kind kind, const char *name, const char *tags, const char *file,
                 int line);

/* Notes in the image what is registered so far. */
void sc_region_note_all(void);

/* The region of an id below sc_region_count(); lent for the life of the process. */
const struct sc_region *sc_region_get(uint32_t id);
uint32_t sc_region_count(void);

#endif
