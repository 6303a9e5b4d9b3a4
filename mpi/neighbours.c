/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "neighbours.h"

#include <stdlib.h>
#include <string.h>

static struct sc_neighbours *new_neighbours(int in, int out)
{
    struct sc_neighbours *n =
        calloc(1, sizeof *n + ((size_t)in + (size_t)out) * sizeof *n->sources);

    if (n == NULL)
        return NULL;
    n->in = in;
    n->out = out;
    n->sources = (int *)(n + 1);
    n->destinations = n->sources + in;
    return n;
}

static struct sc_neighbours *cart_neighbours(MPI_Comm comm)
{
    struct sc_neighbours *n;
    int dimensions = 0;

    PMPI_Cartdim_get(comm, &dimensions);
    n = new_neighbours(2 * dimensions, 2 * dimensions);
    for (int i = 0; n != NULL && i < dimensions; i++)
        PMPI_Cart_shift(comm, i, 1, &n->sources[2 * i], &n->sources[2 * i + 1]);
    if (n != NULL)
        memcpy(n->destinations, n->sources, (size_t)n->in * sizeof *n->sources);
    return n;
}

static struct sc_neighbours *graph_neighbours(MPI_Comm comm, int rank)
{
    struct sc_neighbours *n;
    int count = 0;

    PMPI_Graph_neighbors_count(comm, rank, &count);
    n = new_neighbours(count, count);
    if (n == NULL)
        return NULL;
    PMPI_Graph_neighbors(comm, rank, count, n->sources);
    memcpy(n->destinations, n->sources, (size_t)count * sizeof *n->sources);
    return n;
}

static struct sc_neighbours *dist_graph_neighbours(MPI_Comm comm)
{
    struct sc_neighbours *n;
    int in = 0, out = 0, weighted = 0;
    int *weights;

    PMPI_Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    n = new_neighbours(in, out);
    weights = malloc((size_t)(in + out + 1) * sizeof *weights);
    if (n != NULL && weights != NULL)
        PMPI_Dist_graph_neighbors(comm, in, n->sources, weights, out, n->destinations,
                                  weights + in);
    if (weights == NULL) {
        free(n);
        n = NULL;
    }
    free(weights);
    return n;
}

static int count_others(const int *ranks, int n, int self)
{
    int others = 0;

    for (int i = 0; i < n; i++)
        others += ranks[i] >= 0 && ranks[i] != self;
    return others;
}

struct sc_neighbours *sc_neighbours_create(MPI_Comm comm, int rank)
{
    struct sc_neighbours *n = NULL;
    int topology = MPI_UNDEFINED;

    PMPI_Topo_test(comm, &topology);
    if (topology == MPI_CART)
        n = cart_neighbours(comm);
    else if (topology == MPI_GRAPH)
        n = graph_neighbours(comm, rank);
    else if (topology == MPI_DIST_GRAPH)
        n = dist_graph_neighbours(comm);
    if (n == NULL)
        return NULL;
    n->others_in = count_others(n->sources, n->in, rank);
    n->others_out = count_others(n->destinations, n->out, rank);
    return n;
}
