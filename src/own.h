/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * own: what one rank brings to the file beside its recording, in its own numbers, and what those
 * become in the file. A run fills it at its end, a salvage from what the rank left.
 */
#ifndef SC_OWN_H
#define SC_OWN_H

#include <stddef.h>
#include <stdint.h>

#include "items.h"
#include "site.h"

/* Values are written to files. */
enum { SC_OWN_FILE = 1, SC_OWN_WINDOW = 2 };

/*
 * A communicator is an item: its key, which is the same on all ranks; extra = this head, members as
 * runs of world ranks (struct sc_row_run; the group whose member 0 has the lower world rank first),
 * name. The parent is named by its key: an inter-communicator has another one on each side.
 */
enum { SC_COMM_KEY = 16 };
struct sc_own_comm {
    unsigned char parent[SC_COMM_KEY];
    uint32_t has_parent;
    uint32_t size, remote_size;
    uint32_t runs, remote_runs;
};

struct sc_own {
    struct sc_items comms; /* in order of the rank's numbers, as all that follows */
    struct sc_own_object {
        int32_t kind, comm;
        uint32_t ordinal; /* of a window: how many were made on the communicator before */
        const char *name; /* lent */
    } * objects;
    size_t object_count;
    struct sc_module *modules; /* their texts are lent */
    size_t module_count;
    struct sc_site *sites;
    size_t site_count;
};

/* All zeros, too. */
void sc_own_free(struct sc_own *own);

/* The rank's number -> the file's. */
struct sc_maps {
    uint32_t *region; /* [local region id], UINT32_MAX: not in the file */
    uint32_t *path;   /* [path of the recording] */
    int32_t *comm, *object, *site;
};

void sc_maps_free(struct sc_maps *maps);

#endif
