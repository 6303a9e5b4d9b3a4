/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "items.h"

#include <stdlib.h>
#include <string.h>

#include "base.h"

int sc_items_add(struct sc_items *items, int32_t parent, const void *key, size_t length,
                 const void *extra, size_t extra_length)
{
    struct sc_item *item;
    size_t bytes = items->bytes_length + length + extra_length;

    if (sc_array_reserve(&items->item, &items->capacity, items->count + 1, sizeof *item) != 0 ||
        sc_array_reserve(&items->bytes, &items->bytes_capacity, bytes, 1) != 0)
        return SC_ENOMEM;
    item = &items->item[items->count++];
    *item = (struct sc_item){.parent = parent,
                             .length = (uint32_t)length,
                             .extra = (uint32_t)extra_length,
                             .at = items->bytes_length};
    if (length > 0)
        memcpy(items->bytes + item->at, key, length);
    if (extra_length > 0)
        memcpy(items->bytes + item->at + length, extra, extra_length);
    items->bytes_length = bytes;
    return 0;
}

void sc_items_free(struct sc_items *items)
{
    free(items->item);
    free(items->bytes);
    *items = (struct sc_items){0};
}

/* ---- a list without duplicates ---- */

static uint32_t *find(const struct sc_union *all, int32_t parent, const char *key, uint32_t length)
{
    size_t mask = all->slot_count - 1;
    size_t i = (sc_hash(key, length) + (uint64_t)(uint32_t)parent * 0x9E3779B97F4A7C15u) & mask;

    for (; all->slots[i] != 0; i = (i + 1) & mask) {
        const struct sc_item *item = &all->items.item[all->slots[i] - 1];
        if (item->parent == parent && item->length == length &&
            memcmp(all->items.bytes + item->at, key, length) == 0)
            break;
    }
    return &all->slots[i];
}

/* Makes the index anew, with room for more entries than that. */
static int reindex(struct sc_union *all, size_t entries)
{
    size_t wanted = 64;
    uint32_t *slots;

    while (wanted < entries * 4)
        wanted *= 2;
    slots = calloc(wanted, sizeof *slots);
    if (slots == NULL)
        return SC_ENOMEM;
    free(all->slots);
    all->slots = slots;
    all->slot_count = wanted;
    for (uint32_t i = 0; i < all->items.count; i++) {
        const struct sc_item *item = &all->items.item[i];
        *find(all, item->parent, all->items.bytes + item->at, item->length) = i + 1;
    }
    return 0;
}

/* The item known so far had nothing but its key: it moves to where there is room for more. */
static int complete(struct sc_items *items, struct sc_item *known, const char *key, uint32_t extra)
{
    const size_t place = (size_t)(known - items->item);

    if (sc_items_add(items, known->parent, key, known->length, key + known->length, extra) != 0)
        return SC_ENOMEM;
    items->item[place] = items->item[--items->count];
    return 0;
}

int sc_union_add(struct sc_union *all, int rc, const struct sc_items *mine, uint32_t *map)
{
    for (size_t i = 0; rc == 0 && i < mine->count; i++) {
        const struct sc_item *item = &mine->item[i];
        const char *key = mine->bytes + item->at;
        int32_t parent = item->parent < 0 ? -1 : (int32_t)map[item->parent];
        uint32_t *slot;

        if ((all->items.count + 1) * 2 > all->slot_count && reindex(all, all->items.count + 1) != 0)
            return SC_ENOMEM;
        slot = find(all, parent, key, item->length);
        if (*slot == 0) {
            rc = sc_items_add(&all->items, parent, key, item->length, key + item->length,
                              item->extra);
            *slot = (uint32_t)all->items.count;
        } else if (item->extra > 0 && all->items.item[*slot - 1].extra == 0) {
            rc = complete(&all->items, &all->items.item[*slot - 1], key, item->extra);
        }
        map[i] = *slot - 1;
    }
    return rc;
}

void sc_union_free(struct sc_union *all)
{
    sc_items_free(&all->items);
    free(all->slots);
    *all = (struct sc_union){0};
}

int sc_items_unite(sc_unite_fn *unite, struct sc_union *all, int rc, const struct sc_items *mine,
                   uint32_t **map)
{
    *map = malloc((mine->count + 1) * sizeof **map);
    if (rc == 0 && *map == NULL)
        rc = SC_ENOMEM;
    rc = unite(all, rc, mine, *map);
    if (rc != 0) {
        free(*map);
        *map = NULL;
    }
    return rc;
}
