/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi_pair.h"

#include <stdlib.h>

#define BLOCK 4096 /* rows read at once */

static int compare(const void *a, const void *b)
{
    const struct mpi_pair *x = a, *y = b;

    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    return (x->destination > y->destination) - (x->destination < y->destination);
}

static void add(struct mpi_pair *to, const struct mpi_pair *more)
{
    to->sent_messages = cli_add_count(to->sent_messages, more->sent_messages);
    to->sent_bytes = cli_add_count(to->sent_bytes, more->sent_bytes);
    to->received_messages = cli_add_count(to->received_messages, more->received_messages);
    to->received_bytes = cli_add_count(to->received_bytes, more->received_bytes);
    to->operations = cli_add_count(to->operations, more->operations);
    to->put = cli_add_count(to->put, more->put);
    to->got = cli_add_count(to->got, more->got);
}

static void compact(struct mpi_pairs *pairs)
{
    size_t kept = 0;

    if (pairs->count == 0)
        return;
    qsort(pairs->list, pairs->count, sizeof *pairs->list, compare);
    for (size_t i = 1; i < pairs->count; i++)
        if (compare(&pairs->list[kept], &pairs->list[i]) == 0)
            add(&pairs->list[kept], &pairs->list[i]);
        else
            pairs->list[++kept] = pairs->list[i];
    pairs->count = kept + 1;
}

static void append(struct mpi_pairs *pairs, size_t *room, const struct mpi_pair *pair)
{
    if (sc_array_reserve(&pairs->list, room, pairs->count + 1, sizeof *pair) != 0)
        die("out of memory");
    pairs->list[pairs->count++] = *pair;
}

/* A row is half of the pair in each direction. */
static void append_row(struct mpi_pairs *pairs, size_t *room, const scope_peer_row *row)
{
    const struct mpi_pair out = {.source = row->rank,
                                 .destination = row->peer,
                                 .sent_messages = row->sent_messages,
                                 .sent_bytes = row->sent_bytes,
                                 .operations = row->rma_operations,
                                 .put = row->rma_sent,
                                 .got = row->rma_received};
    const struct mpi_pair in = {.source = row->peer,
                                .destination = row->rank,
                                .received_messages = row->received_messages,
                                .received_bytes = row->received_bytes};

    if ((out.sent_messages | out.sent_bytes | out.operations | out.put | out.got) != 0)
        append(pairs, room, &out);
    if ((in.received_messages | in.received_bytes) != 0)
        append(pairs, room, &in);
}

void mpi_pairs_read(const struct profile *p, struct mpi_pairs *out)
{
    scope_peer_row *rows = cli_alloc(BLOCK, sizeof *rows);
    size_t room = 0;

    *out = (struct mpi_pairs){0};
    for (uint64_t first = 0; first < p->size.peers; first += BLOCK) {
        uint64_t left = p->size.peers - first, n = left < BLOCK ? left : BLOCK;

        cli_check(scope_read_peers(p->reader, first, (size_t)n, rows));
        for (uint64_t i = 0; i < n; i++)
            if (cli_ranks_has(p->ranks, rows[i].rank) ||
                (rows[i].peer >= 0 && cli_ranks_has(p->ranks, (uint64_t)rows[i].peer)))
                append_row(out, &room, &rows[i]);
    }
    compact(out);
    free(rows);
}

void mpi_pairs_free(struct mpi_pairs *pairs)
{
    free(pairs->list);
}

bool mpi_pair_differs(const struct mpi_pair *pair)
{
    return pair->source >= 0 && pair->destination >= 0 &&
           (pair->sent_messages != pair->received_messages ||
            pair->sent_bytes != pair->received_bytes);
}

uint64_t mpi_pair_bytes(const struct mpi_pair *pair)
{
    uint64_t bytes =
        pair->sent_bytes > pair->received_bytes ? pair->sent_bytes : pair->received_bytes;

    return cli_add_count(bytes, cli_add_count(pair->put, pair->got));
}

static int compare_bytes(const void *a, const void *b)
{
    uint64_t x = mpi_pair_bytes(a), y = mpi_pair_bytes(b);

    return x != y ? (x < y ? 1 : -1) : compare(a, b);
}

void mpi_pairs_sort(struct mpi_pairs *pairs)
{
    if (pairs->count > 0)
        qsort(pairs->list, pairs->count, sizeof *pairs->list, compare_bytes);
}
