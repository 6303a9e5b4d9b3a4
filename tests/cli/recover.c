/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * recover END: a run of known content, then END: "good"; "kill": every
 * rank, in the middle of a region; "hold": says so in the file "held" and waits until somebody
 * opens the pipe "go".
 */
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "scope.h"

enum { STEPS = 50 };

static void use_file(MPI_Comm comm, int rank)
{
    char bytes[100] = "";
    MPI_File file;

    MPI_File_open(comm, "data.bin", MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_write_at(file, 100 * rank, bytes, sizeof bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void use_window(int rank, int size)
{
    int *memory;
    MPI_Win window;

    MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_set_name(window, "window");
    MPI_Win_fence(0, window);
    MPI_Put(&rank, 1, MPI_INT, (rank + 1) % size, 0, 1, MPI_INT, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

static void step(int rank, int size)
{
    MPI_Request request[2];
    int from = 0;

    SCOPE_BEGIN("step");
    MPI_Irecv(&from, 1, MPI_INT, (rank + size - 1) % size, 7, MPI_COMM_WORLD, &request[0]);
    MPI_Isend(&rank, 1, MPI_INT, (rank + 1) % size, 7, MPI_COMM_WORLD, &request[1]);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    SCOPE_END("step");
}

/* Opening a pipe waits for the other side. */
static void hold(int rank)
{
    int fd;

    if (rank == 0) {
        fd = open("held", O_WRONLY);
        close(fd);
        fd = open("go", O_RDONLY);
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    const char *end = argc > 1 ? argv[1] : "good";
    int rank, size;
    MPI_Comm half;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    SCOPE_BEGIN(rank == 1 ? "only on rank 1" : "others");
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
    MPI_Comm_set_name(half, "half");
    use_file(half, rank);
    use_window(rank, size);
    SCOPE_BEGIN("steps");
    for (int i = 0; i < STEPS; i++)
        step(rank, size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(end, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(end, "hold") == 0)
        hold(rank);
    SCOPE_END("steps");
    SCOPE_END(rank == 1 ? "only on rank 1" : "others");
    MPI_Comm_free(&half);
    MPI_Finalize();
    return 0;
}
