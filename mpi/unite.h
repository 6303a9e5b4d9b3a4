/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * unite: one table out of many. Each rank brings a list of items; all ranks get their union, in an
 * order that only depends on what was brought: rank 0's items first, then what rank 1 adds, and so
 * on; and the place of each of their own items in it. A binomial tree does it: memory and messages
 * follow the number of different items, not of ranks.
 */
#ifndef SC_UNITE_H
#define SC_UNITE_H

#include "items.h"

/* Collective over the world (works without MPI), as sc_union_add(). all: empty before; after it
 * extras are there on rank 0 only. rc: of this rank. The same status on all ranks. */
int sc_unite(struct sc_union *all, int rc, const struct sc_items *mine, uint32_t *map);

#endif
