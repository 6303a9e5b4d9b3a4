/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "bytes.h"

#include "buffer.h"
#include "comm.h"
#include "neighbours.h"

uint64_t sc_bytes_of(MPI_Count count, MPI_Datatype type)
{
    MPI_Count size = 0;

    if (count <= 0)
        return 0;
    PMPI_Type_size_x(type, &size);
    return size < 0 ? 0 : (uint64_t)count * (uint64_t)size;
}

/* Of n counts all but the one at index self; -1: all. */
static uint64_t sum_but(struct sc_list counts, int n, int self)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += (uint64_t)sc_list_count(counts, i);
    return self < 0 ? sum : sum - (uint64_t)sc_list_count(counts, self);
}

static uint64_t bytes_but(struct sc_list counts, struct sc_list types, int n, int self)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++)
        if (i != self)
            sum += sc_bytes_of(sc_list_count(counts, i), sc_list_type(types, i));
    return sum;
}

const struct sc_comm *sc_bytes_comm(struct sc_op *op, MPI_Comm comm)
{
    const struct sc_comm *c = sc_comm_find(comm);

    if (c != NULL)
        op->comm = c->number;
    return c;
}

/* The ranks at the other end of a collective: all but this one, or all of the remote group. */
static uint64_t others(const struct sc_comm *c)
{
    return (uint64_t)(c->remote_size > 0 ? c->remote_size : c->size - 1);
}

/* How many counts a v-form's array has, and which of them is this rank's own (-1: none). */
static int count_length(const struct sc_comm *c)
{
    return c->remote_size > 0 ? c->remote_size : c->size;
}

static int own_index(const struct sc_comm *c)
{
    return c->remote_size > 0 ? -1 : c->rank;
}

/* Which end of a rooted collective this rank is. */
enum end { ROOT_END, LEAF_END, NO_END };

static enum end note_root(struct sc_op *op, const struct sc_comm *c, int root)
{
    if (c->remote_size == 0) {
        op->peer = sc_comm_peer(c, root);
        return root == c->rank ? ROOT_END : LEAF_END;
    }
    if (root == MPI_PROC_NULL)
        return NO_END;
    if (root == MPI_ROOT) {
        op->peer = sc_comm_world_rank(c, c->rank);
        return ROOT_END;
    }
    op->peer = sc_comm_peer(c, root);
    return LEAF_END;
}

void sc_bytes_none(struct sc_op *op, MPI_Comm comm)
{
    (void)sc_bytes_comm(op, comm);
}

void sc_bytes_rooted(struct sc_op *op, int root, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    if (c != NULL)
        (void)note_root(op, c, root);
}

/* ---- one to all, all to one ---- */

void sc_bytes_bcast(struct sc_op *op, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);
    enum end end = c == NULL ? NO_END : note_root(op, c, root);

    if (end == ROOT_END)
        op->sent = sc_bytes_of(count, type) * others(c);
    else if (end == LEAF_END)
        op->received = sc_bytes_of(count, type);
}

void sc_bytes_gather(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);
    enum end end = c == NULL ? NO_END : note_root(op, c, root);

    if (end == ROOT_END)
        op->received = sc_bytes_of(recvcount, recvtype) * others(c);
    else if (end == LEAF_END)
        op->sent = sc_bytes_of(sendcount, sendtype);
}

void sc_bytes_gatherv(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                      struct sc_list recvcounts, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);
    enum end end = c == NULL ? NO_END : note_root(op, c, root);

    if (end == ROOT_END)
        op->received =
            sc_bytes_of((MPI_Count)sum_but(recvcounts, count_length(c), own_index(c)), recvtype);
    else if (end == LEAF_END)
        op->sent = sc_bytes_of(sendcount, sendtype);
}

void sc_bytes_scatter(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);
    enum end end = c == NULL ? NO_END : note_root(op, c, root);

    if (end == ROOT_END)
        op->sent = sc_bytes_of(sendcount, sendtype) * others(c);
    else if (end == LEAF_END)
        op->received = sc_bytes_of(recvcount, recvtype);
}

void sc_bytes_scatterv(struct sc_op *op, struct sc_list sendcounts, MPI_Datatype sendtype,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);
    enum end end = c == NULL ? NO_END : note_root(op, c, root);

    if (end == ROOT_END)
        op->sent =
            sc_bytes_of((MPI_Count)sum_but(sendcounts, count_length(c), own_index(c)), sendtype);
    else if (end == LEAF_END)
        op->received = sc_bytes_of(recvcount, recvtype);
}

void sc_bytes_reduce(struct sc_op *op, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);
    enum end end = c == NULL ? NO_END : note_root(op, c, root);

    if (end == ROOT_END)
        op->received = sc_bytes_of(count, type) * others(c);
    else if (end == LEAF_END)
        op->sent = sc_bytes_of(count, type);
}

/* ---- all to all ---- */

void sc_bytes_allgather(struct sc_op *op, const void *sendbuf, MPI_Count sendcount,
                        MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                        MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    if (c == NULL)
        return;
    op->received = sc_bytes_of(recvcount, recvtype) * others(c);
    op->sent =
        sendbuf == MPI_IN_PLACE ? op->received : sc_bytes_of(sendcount, sendtype) * others(c);
}

void sc_bytes_allgatherv(struct sc_op *op, const void *sendbuf, MPI_Count sendcount,
                         MPI_Datatype sendtype, struct sc_list recvcounts, MPI_Datatype recvtype,
                         MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);
    uint64_t own;

    if (c == NULL)
        return;
    own = sendbuf == MPI_IN_PLACE ? sc_bytes_of(sc_list_count(recvcounts, c->rank), recvtype)
                                  : sc_bytes_of(sendcount, sendtype);
    op->sent = own * others(c);
    op->received =
        sc_bytes_of((MPI_Count)sum_but(recvcounts, count_length(c), own_index(c)), recvtype);
}

void sc_bytes_alltoall(struct sc_op *op, const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                       MPI_Comm comm)
{
    sc_bytes_allgather(op, sendbuf, sendcount, sendtype, recvcount, recvtype, comm);
}

void sc_bytes_alltoallv(struct sc_op *op, const void *sendbuf, struct sc_list sendcounts,
                        MPI_Datatype sendtype, struct sc_list recvcounts, MPI_Datatype recvtype,
                        MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    if (c == NULL)
        return;
    op->received =
        sc_bytes_of((MPI_Count)sum_but(recvcounts, count_length(c), own_index(c)), recvtype);
    op->sent =
        sendbuf == MPI_IN_PLACE
            ? op->received
            : sc_bytes_of((MPI_Count)sum_but(sendcounts, count_length(c), own_index(c)), sendtype);
}

void sc_bytes_alltoallw(struct sc_op *op, const void *sendbuf, struct sc_list sendcounts,
                        struct sc_list sendtypes, struct sc_list recvcounts,
                        struct sc_list recvtypes, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    if (c == NULL)
        return;
    op->received = bytes_but(recvcounts, recvtypes, count_length(c), own_index(c));
    op->sent = sendbuf == MPI_IN_PLACE
                   ? op->received
                   : bytes_but(sendcounts, sendtypes, count_length(c), own_index(c));
}

void sc_bytes_allreduce(struct sc_op *op, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    if (c != NULL)
        op->sent = op->received = sc_bytes_of(count, type) * others(c);
}

/* On an inter-communicator the vector of either group is scattered over the other; both have the
 * same length, so it can be told from this side's counts. */
void sc_bytes_reduce_scatter(struct sc_op *op, struct sc_list recvcounts, MPI_Datatype type,
                             MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    if (c == NULL)
        return;
    op->sent = sc_bytes_of((MPI_Count)sum_but(recvcounts, c->size, own_index(c)), type);
    op->received = sc_bytes_of(sc_list_count(recvcounts, c->rank), type) * others(c);
}

void sc_bytes_reduce_scatter_block(struct sc_op *op, MPI_Count recvcount, MPI_Datatype type,
                                   MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);
    uint64_t block;

    if (c == NULL)
        return;
    block = sc_bytes_of(recvcount, type);
    op->sent = block * (uint64_t)(c->remote_size > 0 ? c->size : c->size - 1);
    op->received = block * others(c);
}

void sc_bytes_scan(struct sc_op *op, MPI_Count count, MPI_Datatype type, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);
    uint64_t n;

    if (c == NULL)
        return;
    n = sc_bytes_of(count, type);
    op->sent = n * (uint64_t)(c->size - 1 - c->rank);
    op->received = n * (uint64_t)c->rank;
}

/* ---- neighbours ---- */

static const struct sc_neighbours *note_neighbours(struct sc_op *op, MPI_Comm comm, int *self)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    if (c == NULL)
        return NULL;
    *self = c->rank;
    return sc_comm_neighbours(comm);
}

static uint64_t sum_neighbours(struct sc_list counts, const int *ranks, int n, int self)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++)
        if (ranks[i] >= 0 && ranks[i] != self)
            sum += (uint64_t)sc_list_count(counts, i);
    return sum;
}

static uint64_t bytes_neighbours(struct sc_list counts, struct sc_list types, const int *ranks,
                                 int n, int self)
{
    uint64_t sum = 0;

    for (int i = 0; i < n; i++)
        if (ranks[i] >= 0 && ranks[i] != self)
            sum += sc_bytes_of(sc_list_count(counts, i), sc_list_type(types, i));
    return sum;
}

void sc_bytes_neighbor(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int self = -1;
    const struct sc_neighbours *n = note_neighbours(op, comm, &self);

    if (n == NULL)
        return;
    if (n->others_out > 0)
        op->sent = sc_bytes_of(sendcount, sendtype) * (uint64_t)n->others_out;
    if (n->others_in > 0)
        op->received = sc_bytes_of(recvcount, recvtype) * (uint64_t)n->others_in;
}

void sc_bytes_neighbor_allgatherv(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                                  struct sc_list recvcounts, MPI_Datatype recvtype, MPI_Comm comm)
{
    int self = -1;
    const struct sc_neighbours *n = note_neighbours(op, comm, &self);

    if (n == NULL)
        return;
    if (n->others_out > 0)
        op->sent = sc_bytes_of(sendcount, sendtype) * (uint64_t)n->others_out;
    op->received =
        sc_bytes_of((MPI_Count)sum_neighbours(recvcounts, n->sources, n->in, self), recvtype);
}

void sc_bytes_neighbor_alltoallv(struct sc_op *op, struct sc_list sendcounts, MPI_Datatype sendtype,
                                 struct sc_list recvcounts, MPI_Datatype recvtype, MPI_Comm comm)
{
    int self = -1;
    const struct sc_neighbours *n = note_neighbours(op, comm, &self);

    if (n == NULL)
        return;
    op->sent =
        sc_bytes_of((MPI_Count)sum_neighbours(sendcounts, n->destinations, n->out, self), sendtype);
    op->received =
        sc_bytes_of((MPI_Count)sum_neighbours(recvcounts, n->sources, n->in, self), recvtype);
}

void sc_bytes_neighbor_alltoallw(struct sc_op *op, struct sc_list sendcounts,
                                 struct sc_list sendtypes, struct sc_list recvcounts,
                                 struct sc_list recvtypes, MPI_Comm comm)
{
    int self = -1;
    const struct sc_neighbours *n = note_neighbours(op, comm, &self);

    if (n == NULL)
        return;
    op->sent = bytes_neighbours(sendcounts, sendtypes, n->destinations, n->out, self);
    op->received = bytes_neighbours(recvcounts, recvtypes, n->sources, n->in, self);
}
