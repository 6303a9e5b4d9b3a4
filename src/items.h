/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * items: lists of byte strings (in a tree each names an earlier one as its parent) and their union,
 * a list without duplicates in the order in which items came first. One thread.
 */
#ifndef SC_ITEMS_H
#define SC_ITEMS_H

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

/* All zeros is an empty one. */
struct sc_union {
    struct sc_items items;
    uint32_t *slots; /* open addressing: index + 1, 0 free */
    size_t slot_count;
};

/* Adds what is not there yet; map[i], of mine->count entries from the caller, becomes the place of
 * mine's item i in all->items. rc: not 0 if mine is not complete; then that is the answer. 0 or a
 * status. */
int sc_union_add(struct sc_union *all, int rc, const struct sc_items *mine, uint32_t *map);
void sc_union_free(struct sc_union *all);

/* sc_union_add(), or one that does the same with the items of several processes. */
typedef int sc_unite_fn(struct sc_union *all, int rc, const struct sc_items *mine, uint32_t *map);

/* The same with a map of its own, to be freed; NULL on failure. */
int sc_items_unite(sc_unite_fn *unite, struct sc_union *all, int rc, const struct sc_items *mine,
                   uint32_t **map);

#endif
