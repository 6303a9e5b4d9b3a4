/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * catalog: the files, windows, modules and call sites of all ranks, on whose numbers all agree, and
 * the tables behind them. Made once per publication, after the numbering of communicators.
 */
#ifndef SC_CATALOG_H
#define SC_CATALOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "h5write.h"

struct sc_numbering;

struct sc_catalog {
    /* This rank's number -> the file's. */
    int32_t *object, *site;

    /* Rank 0 only; names are lent by this struct. */
    struct sc_row_object *objects;
    struct sc_h5_text *object_names;
    size_t object_count;
    struct sc_row_site *sites;
    size_t site_count;
    struct sc_h5_text *module_names, *module_build_ids;
    size_t module_count;

    struct sc_catalog_store *store; /* what the texts point into */
};

/* Collective. full: names keep their folders; else only those of the system do. The same status on
 * all ranks. */
int sc_catalog_create(const struct sc_numbering *numbering, bool full, struct sc_catalog *out);
void sc_catalog_free(struct sc_catalog *c);

#endif
