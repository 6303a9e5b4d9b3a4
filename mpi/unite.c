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
static int broadcast(struct sc_union *all, int rc)
{
    struct sc_string message = {0};
    struct sc_items received = {0};
    uint64_t length;

    if (sc_world_rank() == 0 && rc == 0)
        rc = pack(&all->items, 0, &message);
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
        sc_union_free(all);
        all->items = received;
    }
out:
    sc_string_free(&message);
    return rc;
}

/* Collective. Up the binomial tree: each rank holds those of itself and the ranks above it, in rank
 * order. */
static int climb(struct sc_union *all, int rc)
{
    int rank = sc_world_rank(), size = sc_world_size();

    for (int step = 1; step < size; step *= 2) {
        struct sc_string message = {0};
        if ((rank & step) != 0) {
            if (rc == 0)
                rc = pack(&all->items, 1, &message);
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
            if (rc == 0)
                rc = sc_items_unite(sc_union_add, all, got, &more, &map);
            free(map);
            sc_items_free(&more);
        }
        sc_string_free(&message);
    }
    return rc;
}

int sc_unite(struct sc_union *all, int rc, const struct sc_items *mine, uint32_t *map)
{
    rc = sc_union_add(all, rc, mine, map);
    if (sc_world_is_open()) {
        rc = climb(all, rc);
        rc = broadcast(all, rc);
        rc = sc_union_add(all, rc, mine, map); /* all are there: this only finds their places */
        rc = sc_agree(rc);
    }
    return rc == 0 ? 0 : sc_fail(rc, "no memory to unite the tables of all ranks");
}
