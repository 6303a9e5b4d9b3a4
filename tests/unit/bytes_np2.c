/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Bytes are counted in 64 bits: types of 8 GiB, large counts, and what moves nothing. Count
 * arithmetic only, no data. The same on two ranks.
 */
#include <mpi.h>
#include <stdio.h>

#include "buffer.h"
#include "bytes.h"
#include "request.h"

static const uint64_t huge_bytes = UINT64_C(8) << 30;
static int wrong;

static void is(const char *what, uint64_t got, uint64_t wanted)
{
    if (got == wanted)
        return;
    printf("%s: %llu bytes, expected %llu\n", what, (unsigned long long)got,
           (unsigned long long)wanted);
    wrong = 1;
}

static void check(const char *what, struct sc_op *op, uint64_t sent, uint64_t received)
{
    is(what, op->sent, sent);
    is(what, op->received, received);
    *op = (struct sc_op)SC_OP_NONE;
}

static void check_messages(MPI_Datatype huge)
{
    struct sc_op op = SC_OP_NONE;

    sc_bytes_send(&op, 3, huge, 1, 5, MPI_COMM_WORLD);
    is("peer of a send", (uint64_t)op.peer, 1);
    check("send", &op, 3 * huge_bytes, 0);
    sc_bytes_send(&op, 3, huge, MPI_PROC_NULL, 5, MPI_COMM_WORLD);
    is("flags of a send to nobody", op.flags, 0);
    check("send to nobody", &op, 0, 0);
    sc_bytes_send(&op, 0, MPI_DATATYPE_NULL, 1, 5, MPI_COMM_WORLD);
    check("send of nothing", &op, 0, 0);
    sc_bytes_send(&op, (MPI_Count)1 << 40, MPI_BYTE, 1, 5, MPI_COMM_WORLD);
    check("large count", &op, UINT64_C(1) << 40, 0);
    sc_bytes_psend(&op, 4, 2, huge, 1, 5, MPI_COMM_WORLD);
    check("partitioned send", &op, 8 * huge_bytes, 0);
}

static void check_collectives(MPI_Datatype huge, int rank)
{
    const int other = 1 - rank, counts[2] = {2, 3};
    const MPI_Count large[2] = {(MPI_Count)1 << 33, (MPI_Count)1 << 34};
    const MPI_Datatype types[2] = {huge, MPI_DOUBLE};
    const uint64_t sizes[2] = {huge_bytes, 8};
    const struct sc_list c = {counts, SC_LIST_INTS}, t = {types, SC_LIST_C};
    struct sc_op op = SC_OP_NONE;

    sc_bytes_bcast(&op, 2, huge, 1, MPI_COMM_WORLD);
    check("bcast", &op, rank == 1 ? 2 * huge_bytes : 0, rank == 1 ? 0 : 2 * huge_bytes);
    sc_bytes_allreduce(&op, 5, huge, MPI_COMM_WORLD);
    check("allreduce", &op, 5 * huge_bytes, 5 * huge_bytes);
    sc_bytes_alltoallv(&op, NULL, c, huge, c, huge, MPI_COMM_WORLD);
    check("alltoallv", &op, (uint64_t)counts[other] * huge_bytes,
          (uint64_t)counts[other] * huge_bytes);
    sc_bytes_alltoallv(&op, MPI_IN_PLACE, c, MPI_DATATYPE_NULL, c, huge, MPI_COMM_WORLD);
    check("alltoallv in place", &op, (uint64_t)counts[other] * huge_bytes,
          (uint64_t)counts[other] * huge_bytes);
    sc_bytes_alltoallv(&op, NULL, (struct sc_list){large, SC_LIST_COUNTS}, MPI_BYTE, c, MPI_BYTE,
                       MPI_COMM_WORLD);
    check("alltoallv with large counts", &op, (uint64_t)large[other], (uint64_t)counts[other]);
    sc_bytes_alltoallw(&op, NULL, c, t, c, t, MPI_COMM_WORLD);
    check("alltoallw", &op, (uint64_t)counts[other] * sizes[other],
          (uint64_t)counts[other] * sizes[other]);
    sc_bytes_gatherv(&op, 4, huge, c, huge, 0, MPI_COMM_WORLD);
    check("gatherv", &op, rank == 0 ? 0 : 4 * huge_bytes, rank == 0 ? 3 * huge_bytes : 0);
    sc_bytes_scan(&op, 1, huge, MPI_COMM_WORLD);
    check("scan", &op, rank == 0 ? huge_bytes : 0, rank == 0 ? 0 : huge_bytes);
    sc_bytes_reduce_scatter(&op, c, huge, MPI_COMM_WORLD);
    check("reduce_scatter", &op, (uint64_t)counts[other] * huge_bytes,
          (uint64_t)counts[rank] * huge_bytes);
}

int main(int argc, char **argv)
{
    MPI_Datatype mib, huge;
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Type_contiguous(1 << 20, MPI_BYTE, &mib);
    MPI_Type_contiguous(8 << 10, mib, &huge);
    check_messages(huge);
    check_collectives(huge, rank);
    MPI_Type_free(&huge);
    MPI_Type_free(&mib);
    MPI_Finalize();
    return wrong;
}
