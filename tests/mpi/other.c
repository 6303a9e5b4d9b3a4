/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Calls of every shape of argument: handles by value and by address, arrays, many arguments.
 */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    int rank, size, in[4] = {0}, out[4], counts[2] = {1, 1}, offsets[2] = {0, 1}, level;
    MPI_Comm dup, split;
    MPI_Request request;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; i < 4; i++)
        out[i] = rank * 10 + i;
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    MPI_Comm_set_name(dup, "dup");
    MPI_Comm_split(dup, rank % 2, 0, &split);
    MPI_Alltoallv(out, counts, offsets, MPI_INT, in, counts, offsets, MPI_INT, dup);
    printf("%d %d of %d: %d %d\n", level, rank, size, in[0], in[1]);
    MPI_Iallreduce(out, in, 4, MPI_INT, MPI_SUM, dup, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Bcast(in, 2, MPI_INT, 0, split);
    MPI_Pcontrol(0);
    MPI_Pcontrol(1);
    printf("%d: %d %d %d %d\n", rank, in[0], in[1], in[2], in[3]);
    MPI_Comm_free(&split);
    MPI_Comm_disconnect(&dup);
    return MPI_Finalize();
}
