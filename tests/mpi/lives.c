/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * lives WAY: a recording that begins or ends at an unusual moment, or communicators that come and
 * go where the library cannot see the calls. lives.sh knows what the profiles must hold.
 */
#include <mpi.h>
#include <scope.h>
#include <stdio.h>
#include <string.h>

static const char *way;

static int is(const char *name)
{
    return strcmp(way, name) == 0;
}

static int begin(const char *path)
{
    scope_options options;

    scope_options_init(&options);
    options.file_path = path;
    return scope_setup(&options);
}

/* Two recordings: what the library itself did between them is in neither. */
static int again(void)
{
    MPI_Comm dup;
    int failed;

    MPI_Barrier(MPI_COMM_WORLD);
    failed = scope_finalize();
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    failed += begin("second.h5");
    MPI_Barrier(dup);
    MPI_Comm_free(&dup);
    return failed;
}

/* As a library does that was written for another profiler: names one handle, and then another. */
static void unseen(int rank)
{
    MPI_Comm comm;
    int sum;

    for (int i = 0; i < 4; i++) {
        PMPI_Comm_split(MPI_COMM_WORLD, i % 2 == 1 && rank == 0, 0, &comm);
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
        PMPI_Comm_free(&comm);
    }
    PMPI_Comm_dup(MPI_COMM_WORLD, &comm);
    PMPI_Comm_set_name(comm, "unseen");
    MPI_Barrier(comm);
    PMPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
    int rank, failed = 0;

    way = argc > 1 ? argv[1] : "";
    if (is("early")) {
        failed += begin("early.h5");
        SCOPE_BEGIN("before MPI");
    }
    if (is("late"))
        PMPI_Init(&argc, &argv);
    else
        MPI_Init(&argc, &argv);
    if (is("early"))
        SCOPE_END("before MPI");
    if (is("late")) {
        MPI_Barrier(MPI_COMM_WORLD);
        failed += begin("late.h5");
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (is("again"))
        failed += again();
    if (is("unseen"))
        unseen(rank);
    MPI_Bcast(&failed, 1, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Finalize();
    return failed != 0;
}
