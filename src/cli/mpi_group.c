/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi_group.h"

#include <stdlib.h>

#define BLOCK 4096 /* rows read at once */

static int64_t key_of(const scope_mpi_total_row *row, enum mpi_by by)
{
    switch (by) {
    case MPI_BY_PATH:
        return row->path;
    case MPI_BY_SITE:
        return row->site;
    case MPI_BY_COMMUNICATOR:
        return row->communicator;
    case MPI_BY_SIZE:
        return row->size_class;
    case MPI_BY_OBJECT:
        return row->object;
    default:
        return 0;
    }
}

void mpi_group_add(struct mpi_group *to, const struct mpi_group *more)
{
    if (more->calls > 0) {
        if (to->calls == 0 || more->call_min < to->call_min)
            to->call_min = more->call_min;
        if (to->calls == 0 || more->call_max > to->call_max)
            to->call_max = more->call_max;
    }
    to->calls = cli_add_count(to->calls, more->calls);
    to->bytes_sent = cli_add_count(to->bytes_sent, more->bytes_sent);
    to->bytes_received = cli_add_count(to->bytes_received, more->bytes_received);
    to->total = cli_add(to->total, more->total);
    to->await = cli_add(to->await, more->await);
    to->in_flight = cli_add(to->in_flight, more->in_flight);
}

static int compare(const void *a, const void *b)
{
    const struct mpi_group *x = a, *y = b;

    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->region > y->region) - (x->region < y->region);
}

/* Makes one of those that are of the same. */
static void compact(struct mpi_groups *g)
{
    size_t kept = 0;

    if (g->count == 0)
        return;
    qsort(g->list, g->count, sizeof *g->list, compare);
    for (size_t i = 1; i < g->count; i++)
        if (compare(&g->list[kept], &g->list[i]) == 0)
            mpi_group_add(&g->list[kept], &g->list[i]);
        else
            g->list[++kept] = g->list[i];
    g->count = kept + 1;
}

/* Rows gather until there is no room; it doubles when it is half full of different ones. */
static struct mpi_group *new_group(struct mpi_groups *g, size_t *room)
{
    if (g->count == *room) {
        compact(g);
        if (g->count >= *room / 2) {
            struct mpi_group *longer;

            *room = *room > 0 ? 2 * *room : BLOCK;
            longer = realloc(g->list, *room * sizeof *longer);
            if (longer == NULL)
                die("out of memory");
            g->list = longer;
        }
    }
    return &g->list[g->count++];
}

void mpi_groups_read(const struct profile *p, enum mpi_by by, struct mpi_groups *out)
{
    scope_mpi_total_row *rows = cli_alloc(BLOCK, sizeof *rows);
    size_t room = 0;

    *out = (struct mpi_groups){0};
    for (uint64_t first = 0; first < p->size.mpi_totals; first += BLOCK) {
        uint64_t left = p->size.mpi_totals - first, n = left < BLOCK ? left : BLOCK;

        cli_check(scope_read_mpi_totals(p->reader, first, (size_t)n, rows));
        for (uint64_t i = 0; i < n; i++) {
            const scope_mpi_total_row *r = &rows[i];

            if (!cli_ranks_has(p->ranks, r->rank))
                continue;
            *new_group(out, &room) = (struct mpi_group){key_of(r, by),     p->paths[r->path].region,
                                                        r->calls,          r->bytes_sent,
                                                        r->bytes_received, r->total,
                                                        r->minimum,        r->maximum,
                                                        r->await,          r->in_flight};
            out->total = cli_add(out->total, r->total);
        }
    }
    compact(out);
    free(rows);
}

void mpi_groups_free(struct mpi_groups *groups)
{
    free(groups->list);
}
