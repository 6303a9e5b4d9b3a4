/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Threads that each make, name, use and free communicators and begin regions at the same time,
 * while another pauses and resumes: every result is right, and ThreadSanitizer has nothing to say.
 */
#include <mpi.h>
#include <pthread.h>
#include <scope.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 100 };

struct work {
    pthread_t thread;
    MPI_Comm comm;
    int wrong;
};

static int add_up(MPI_Comm comm, int mine)
{
    MPI_Request request;
    int once = -1, twice = -1;

    MPI_Allreduce(&mine, &once, 1, MPI_INT, MPI_SUM, comm);
    MPI_Iallreduce(&once, &twice, 1, MPI_INT, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return twice;
}

static void *work(void *argument)
{
    struct work *w = argument;
    int size;

    MPI_Comm_size(w->comm, &size);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Comm dup, split;
        SCOPE_BEGIN("round");
        MPI_Comm_dup(w->comm, &dup);
        MPI_Comm_set_name(dup, i % 2 == 0 ? "even" : "odd");
        MPI_Comm_split(dup, 0, 0, &split);
        w->wrong += add_up(dup, i) != size * size * i;
        w->wrong += add_up(split, i + 1) != size * size * (i + 1);
        MPI_Comm_free(&dup);
        MPI_Barrier(split);
        MPI_Comm_free(&split);
        SCOPE_END("round");
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct work works[THREADS];
    int level, wrong = 0;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (level < MPI_THREAD_MULTIPLE) {
        printf("threads: this MPI does not provide MPI_THREAD_MULTIPLE\n");
        MPI_Finalize();
        return 77;
    }
    for (int i = 0; i < THREADS; i++) {
        works[i].wrong = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &works[i].comm);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_create(&works[i].thread, NULL, work, &works[i]);
    for (int i = 0; i < 50; i++) {
        scope_pause();
        sched_yield();
        scope_resume();
    }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(works[i].thread, NULL);
        wrong += works[i].wrong;
        MPI_Comm_free(&works[i].comm);
    }
    if (wrong > 0)
        printf("threads: %d wrong results\n", wrong);
    MPI_Finalize();
    return wrong > 0;
}
