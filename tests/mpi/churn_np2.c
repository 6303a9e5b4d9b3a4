/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that makes and frees communicators for ever does not grow: nothing stays of one that
 * nothing was recorded on, a small record and its totals of one with calls of its own.
 */
#include <mpi.h>
#include <scope.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* A sanitizer keeps memory that was freed: only that it runs is of interest. */
enum { WARM = 20, MANY = 500, LIMITED = 0 };
#else
enum { WARM = 2000, MANY = 100000, LIMITED = 1 };
#endif

static long resident(void)
{
    long pages = 0, total;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%ld %ld", &total, &pages) != 2)
        exit(77);
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

static void make_and_free(int times, int use)
{
    for (int i = 0; i < times; i++) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &comm);
        if (use)
            MPI_Barrier(comm);
        MPI_Comm_free(&comm);
    }
}

static int grows_beyond(const char *what, int use, long limit)
{
    long before, grown;

    make_and_free(WARM, use);
    before = resident();
    make_and_free(MANY, use);
    grown = (resident() - before) / MANY;
    printf("%s: %ld bytes each (at most %ld)\n", what, grown, limit);
    return LIMITED && grown > limit;
}

int main(int argc, char **argv)
{
    scope_options options;
    int failed = 0;

    scope_options_init(&options);
    options.mpi_record = "stats";
    if (scope_setup(&options) != SCOPE_OK)
        return 1;
    MPI_Init(&argc, &argv);
    failed += grows_beyond("unused communicators", 0, 10);
    scope_pause();
    failed += grows_beyond("communicators used while paused", 1, 10);
    scope_resume();
    /* The record, and two totals by call path and size. */
    failed += grows_beyond("used communicators", 1, 450);
    MPI_Finalize();
    return failed > 0;
}
