/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Records calls whose every time it knows (under SCOPE_TEST_CLOCK each reading of the clock comes
 * one step later) and writes what the profile must say to known.<rank>: "region start duration", in
 * steps, starts counted from the first call's.
 */
#include <mpi.h>
#include <stdio.h>

#include "scope.h"

enum { OUTER = 1200 };

static FILE *out;
static long reading;

static void tell(const char *region, long start, long end)
{
    fprintf(out, "%s %ld %ld\n", region, start, end - start);
}

static void allreduce(int count)
{
    static double from[64], to[64];
    long start = reading++;

    MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    tell("MPI_Allreduce", start, reading++);
}

static void outer(int i)
{
    long start = reading++;

    SCOPE_BEGIN("outer");
    for (int j = 0; j < i % 3; j++) {
        long inner = reading++;
        SCOPE_BEGIN("inner");
        if (i % 4 == 1)
            allreduce(1 + i % 64);
        SCOPE_END("inner");
        tell("inner", inner, reading++);
    }
    SCOPE_END("outer");
    tell("outer", start, reading++);
}

int main(int argc, char **argv)
{
    char name[32];
    int rank;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    snprintf(name, sizeof name, "known.%d", rank);
    out = fopen(name, "w");
    if (out == NULL)
        return 1;
    for (int i = 0; i < OUTER; i++)
        if (rank != 1 || i % 4 == 1)
            outer(i); /* all ranks meet in the same MPI_Allreduce calls */
    if (fclose(out) != 0)
        return 1;
    MPI_Finalize();
    return 0;
}
