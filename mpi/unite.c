/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "unite.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "world.h"

enum { TAG_UNITE = 1, PIECE = 1 << 30 };

/* ---- lists ---- */

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

struct set {
    struct sc_items items;
    uint32_t *slots; /* open addressing: index + 1, 0 free */
    size_t slot_count;
};

static uint32_t *find(const struct set *set, int32_t parent, const char *key, uint32_t length)
{
    size_t mask = set->slot_count - 1;
    size_t i = (sc_hash(key, length) + (uint64_t)(uint32_t)parent * 0x9E3779B97F4A7C15u) & mask;

    for (; set->slots[i] != 0; i = (i + 1) & mask) {
        const struct sc_item *item = &set->items.item[set->slots[i] - 1];
        if (item->parent == parent && item->length == length &&
            memcmp(set->items.bytes + item->at, key, length) == 0)
            break;
    }
    return &set->slots[i];
}

/* Empties the index with room for more entries than the list has, then fills it. */
static int reindex(struct set *set, size_t entries)
{
    size_t wanted = 64;
    uint32_t *slots;

    while (wanted < entries * 4)
        wanted *= 2;
    slots = calloc(wanted, sizeof *slots);
    if (slots == NULL)
        return SC_ENOMEM;
    free(set->slots);
    set->slots = slots;
    set->slot_count = wanted;
    for (uint32_t i = 0; i < set->items.count; i++) {
        const struct sc_item *item = &set->items.item[i];
        *find(set, item->parent, set->items.bytes + item->at, item->length) = i + 1;
    }
    return 0;
}

/* Puts more's items in; map[i] becomes the place of more's item i. */
static int merge(struct set *set, const struct sc_items *more, uint32_t *map)
{
    for (size_t i = 0; i < more->count; i++) {
        const struct sc_item *item = &more->item[i];
        const char *key = more->bytes + item->at;
        int32_t parent = item->parent < 0 ? -1 : (int32_t)map[item->parent];
        uint32_t *slot;

        if ((set->items.count + 1) * 2 > set->slot_count && reindex(set, set->items.count + 1) != 0)
            return SC_ENOMEM;
        slot = find(set, parent, key, item->length);
        if (*slot == 0) {
            if (sc_items_add(&set->items, parent, key, item->length, key + item->length,
                             item->extra) != 0)
                return SC_ENOMEM;
            *slot = (uint32_t)set->items.count;
        } else if (item->extra > 0 && set->items.item[*slot - 1].extra == 0) {
            /* The item known so far had nothing but its key: it moves to where there is room for
             * more. */
            struct sc_item known = set->items.item[*slot - 1];
            if (sc_items_add(&set->items, parent, key, item->length, key + item->length,
                             item->extra) != 0)
                return SC_ENOMEM;
            known.extra = item->extra;
            known.at = set->items.item[--set->items.count].at;
            set->items.item[*slot - 1] = known;
        }
        map[i] = *slot - 1;
    }
    return 0;
}

/* ---- messages ---- */

/* One buffer for a list: count, then per item parent, lengths, key and extra. */
static int pack(const struct sc_items *items, int with_extras, struct sc_string *out)
{
    uint64_t count = items->count;
    int rc = sc_string_append(out, &count, sizeof count);

    for (size_t i = 0; rc == 0 && i < items->count; i++) {
        const struct sc_item *item = &items->item[i];
        uint32_t head[3] = {(uint32_t)item->parent, item->length, with_extras ? item->extra : 0};
        rc = sc_string_append(out, head, sizeof head);
        if (rc == 0)
            rc = sc_string_append(out, items->bytes + item->at, head[1] + head[2]);
    }
    return rc;
}

static int unpack(const struct sc_string *in, struct sc_items *items)
{
    const char *at = in->data;
    uint64_t count;
    int rc = 0;

    memcpy(&count, at, sizeof count);
    at += sizeof count;
    for (uint64_t i = 0; rc == 0 && i < count; i++) {
        uint32_t head[3];
        memcpy(head, at, sizeof head);
        at += sizeof head;
        rc = sc_items_add(items, (int32_t)head[0], at, head[1], at + head[1], head[2]);
        at += (size_t)head[1] + head[2];
    }
    return rc;
}

/* A failed rank sends an empty message: the others then know. */
static void send_packed(const struct sc_string *message, int to)
{
    uint64_t length = message->length;

    PMPI_Send(&length, 1, MPI_UINT64_T, to, TAG_UNITE, sc_world_comm());
    for (size_t at = 0; at < length; at += PIECE) {
        size_t piece = length - at < PIECE ? length - at : PIECE;
        PMPI_Send(message->data + at, (int)piece, MPI_BYTE, to, TAG_UNITE, sc_world_comm());
    }
}

/* The message is received in any case, so that nothing stays under way. */
static int receive_packed(struct sc_string *message, int from)
{
    uint64_t length;
    char waste[256];
    int rc;

    PMPI_Recv(&length, 1, MPI_UINT64_T, from, TAG_UNITE, sc_world_comm(), MPI_STATUS_IGNORE);
    rc = sc_array_reserve(&message->data, &message->capacity, length + 1, 1);
    message->length = rc == 0 ? length : 0;
    for (size_t at = 0; at < length; at += PIECE) {
        size_t piece = length - at < PIECE ? length - at : PIECE;
        if (rc == 0)
            PMPI_Recv(message->data + at, (int)piece, MPI_BYTE, from, TAG_UNITE, sc_world_comm(),
                      MPI_STATUS_IGNORE);
        else
            PMPI_Recv(waste, 0, MPI_BYTE, from, TAG_UNITE, sc_world_comm(), MPI_STATUS_IGNORE);
    }
    return length == 0 ? SC_ENOMEM : rc;
}

/* Collective. Rank 0's list on every rank, without extras there. */
static int broadcast(struct set *set, int rc)
{
    struct sc_string message = {0};
    struct sc_items received = {0};
    uint64_t length;

    if (sc_world_rank() == 0 && rc == 0)
        rc = pack(&set->items, 0, &message);
    length = rc == 0 ? message.length : 0;
    PMPI_Bcast(&length, 1, MPI_UINT64_T, 0, sc_world_comm());
    if (sc_world_rank() != 0 && length > 0) {
        if (rc == 0)
            rc = sc_array_reserve(&message.data, &message.capacity, length + 1, 1);
        message.length = length;
    }
    if (length == 0)
        rc = SC_ENOMEM;
    rc = sc_agree(rc);
    if (rc != 0)
        goto out;
    for (size_t at = 0; at < length; at += PIECE) {
        size_t piece = length - at < PIECE ? length - at : PIECE;
        PMPI_Bcast(message.data + at, (int)piece, MPI_BYTE, 0, sc_world_comm());
    }
    if (sc_world_rank() != 0) {
        rc = unpack(&message, &received);
        sc_items_free(&set->items);
        set->items = received;
        if (rc == 0)
            rc = reindex(set, set->items.count);
    }
out:
    sc_string_free(&message);
    return rc;
}

/* Collective. Up the binomial tree: each rank holds those of itself and the ranks above it, in rank
 * order. */
static int climb(struct set *set, int rc)
{
    int rank = sc_world_rank(), size = sc_world_size();

    for (int step = 1; step < size; step *= 2) {
        struct sc_string message = {0};
        if ((rank & step) != 0) {
            if (rc == 0)
                rc = pack(&set->items, 1, &message);
            if (rc != 0)
                message.length = 0;
            send_packed(&message, rank - step);
            sc_string_free(&message);
            break;
        }
        if (rank + step < size) {
            struct sc_items more = {0};
            uint32_t *map = NULL;
            int got = receive_packed(&message, rank + step);
            if (got == 0)
                got = unpack(&message, &more);
            if (got == 0)
                map = malloc((more.count + 1) * sizeof *map);
            if (rc == 0)
                rc = got != 0 ? got : map == NULL ? SC_ENOMEM : merge(set, &more, map);
            free(map);
            sc_items_free(&more);
        }
        sc_string_free(&message);
    }
    return rc;
}

int sc_unite(const struct sc_items *mine, struct sc_items *all, uint32_t *map)
{
    struct set set = {0};
    int rc = reindex(&set, mine->count);

    if (rc == 0)
        rc = merge(&set, mine, map);
    if (sc_world_is_open()) {
        rc = climb(&set, rc);
        rc = broadcast(&set, rc);
        if (rc == 0)
            rc = merge(&set, mine, map); /* all are there: this only finds their places */
        rc = sc_agree(rc);
    }
    free(set.slots);
    if (rc != 0) {
        sc_items_free(&set.items);
        return sc_fail(rc, "no memory to unite the tables of all ranks");
    }
    *all = set.items;
    return 0;
}
