/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * catalog: the files, windows, modules and call sites of all ranks, on whose numbers all agree, and
 * the tables behind them. Made as the numbering, after it.
 */
#ifndef SC_CATALOG_H
#define SC_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "h5write.h"
#include "own.h"

/* All zeros is an empty one. */
struct sc_catalog {
    struct sc_union all_objects, all_modules, all_sites; /* of the ranks added so far */

    /* The file's tables; names point into the unions. */
    struct sc_row_object *objects;
    struct sc_h5_text *object_names;
    size_t object_count;
    struct sc_row_site *sites;
    size_t site_count;
    struct sc_h5_text *module_names, *module_build_ids;
    size_t module_count;
};

/* What unite is (Collective, if it is). Adds a rank, whose map of communicators is there, and fills
 * its maps of objects and sites. */
int sc_catalog_add(struct sc_catalog *c, const struct sc_own *own, sc_unite_fn *unite,
                   struct sc_maps *maps);

/* The tables of all that was added. full: names keep their folders; else only those of the system
 * do. 0 or SC_ENOMEM. */
int sc_catalog_fill(struct sc_catalog *c, bool full);
void sc_catalog_free(struct sc_catalog *c);

#endif
