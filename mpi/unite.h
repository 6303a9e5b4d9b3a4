/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * unite: one table out of many. Each rank brings a list of items (byte strings; in a tree each
 * names an earlier item as its parent); all ranks get the list without duplicates, in an order that
 * only depends on what was brought: rank 0's items first, then what rank 1 adds, and so on; and the
 * place of each of their own items in it. A binomial tree does it: memory and messages follow the
 * number of different items, not of ranks.
 */
#ifndef SC_UNITE_H
#define SC_UNITE_H

#include <stddef.h>
#include <stdint.h>

struct sc_items {
    size_t count;
    size_t capacity;
    struct sc_item {
        int32_t parent;  /* index of an earlier item, -1 none */
        uint32_t length; /* bytes of the key */
        uint32_t extra; /* bytes that travel with it and are no part of its identity; first to bring
                           some wins */
        size_t at;      /* key, then extra, in bytes */
    } * item;
    char *bytes;
    size_t bytes_length, bytes_capacity;
};

/* 0 or SC_ENOMEM. Appends; does not look for duplicates. */
int sc_items_add(struct sc_items *items, int32_t parent, const void *key, size_t length,
                 const void *extra, size_t extra_length);
void sc_items_free(struct sc_items *items);

/* Collective over the world (works without MPI). mine: this rank's items. *all: the united list
 * (key and parent on every rank, extras on rank 0 only), to be freed by the caller; map[i], of
 * mine->count entries from the caller: index of mine's item i in it. The same status on all ranks.
 */
int sc_unite(const struct sc_items *mine, struct sc_items *all, uint32_t *map);

#endif
