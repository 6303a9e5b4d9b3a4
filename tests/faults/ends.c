/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * ends TRUTH END MOMENT VICTIM THREADS NUMBER: records, counts what it records in TRUTH (truth.h),
 * and ends in one of many ways. VICTIM is a rank, -1 all. MOMENT: init (MPI has just started),
 * region (in open ones), recv (in a blocked MPI_Recv), stream (after NUMBER steps of all kinds of
 * calls), and ops, events, parts (after NUMBER of these, which fill blocks of a lane). END: see
 * end_here(); "strike" waits for a signal from outside (strike.c). Compiled with SCOPE_DISABLE it
 * is the same program without the library.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "scope.h"
#include "truth.h"

static struct {
    const char *end, *moment;
    int victim, threads;
    long number;
} run;
static struct truth *all;
static struct truth_rank *truth;           /* of this rank */
static __thread struct truth_calls *calls; /* of this thread; NULL: not counted */
static struct truth_calls uncounted[TRUTH_COUNT];
static int rank, size;
static pthread_t other;
static volatile int other_ends;
static pthread_barrier_t both;

/* ---- counted calls ---- */

#define DO(kind, call)                         \
    do {                                       \
        truth_add(&calls[TRUTH_##kind].begun); \
        call;                                  \
        truth_add(&calls[TRUTH_##kind].done);  \
    } while (0)
#define ENTER(kind, name) DO(kind, SCOPE_BEGIN(name))
#define LEAVE(name) DO(LEAVE, SCOPE_END(name))

static void enter_regions(void)
{
    ENTER(OUTER, "fault outer");
    ENTER(INNER, "fault inner");
}

static void leave_regions(void)
{
    LEAVE("fault inner");
    LEAVE("fault outer");
}

static void exchange(MPI_Comm comm, int to, int from)
{
    char out[TRUTH_BYTES] = "abcdefg", in[TRUTH_BYTES];

    DO(SENDRECV, MPI_Sendrecv(out, TRUTH_BYTES, MPI_BYTE, to, 1, in, TRUTH_BYTES, MPI_BYTE, from, 1,
                              comm, MPI_STATUS_IGNORE));
}

static void start_and_wait(MPI_Comm comm, int to, int from)
{
    char out[TRUTH_BYTES] = "abcdefg", in[TRUTH_BYTES];
    MPI_Request requests[2];
    MPI_Status statuses[2];

    DO(IRECV, MPI_Irecv(in, TRUTH_BYTES, MPI_BYTE, from, 2, comm, &requests[0]));
    DO(ISEND, MPI_Isend(out, TRUTH_BYTES, MPI_BYTE, to, 2, comm, &requests[1]));
    DO(WAITALL, MPI_Waitall(2, requests, statuses));
}

static void poll_once(MPI_Comm comm)
{
    int flag, me;

    DO(IPROBE, MPI_Iprobe(MPI_ANY_SOURCE, 99, comm, &flag, MPI_STATUS_IGNORE));
    DO(COMM_RANK, MPI_Comm_rank(comm, &me));
}

/* A communicator for a while, which makes notes in the middle of the stream. */
static void use_a_communicator(void)
{
    MPI_Comm comm;

    DO(DUP, MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    DO(BARRIER, MPI_Barrier(comm));
    DO(FREE, MPI_Comm_free(&comm));
}

static void step(long i)
{
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    int one = 1, sum;

    ENTER(OUTER, "fault outer");
    exchange(MPI_COMM_WORLD, right, left);
    ENTER(INNER, "fault inner");
    poll_once(MPI_COMM_WORLD);
    LEAVE("fault inner");
    if (i % 3 == 0)
        start_and_wait(MPI_COMM_WORLD, right, left);
    if (i % 8 == 0)
        DO(ALLREDUCE, MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    if (i % 64 == 0)
        use_a_communicator();
    LEAVE("fault outer");
}

/* ---- a second thread ---- */

static void *be_other(void *number)
{
    (void)number;
    calls = truth->calls[1];
    for (long i = 0; !other_ends; i++) {
        ENTER(OTHER, "fault other");
        exchange(MPI_COMM_SELF, 0, 0);
        if (i % 5 == 0)
            start_and_wait(MPI_COMM_SELF, MPI_PROC_NULL, MPI_PROC_NULL);
        poll_once(MPI_COMM_SELF);
        LEAVE("fault other");
        if (i == 10)
            pthread_barrier_wait(&both);
    }
    return NULL;
}

static void start_other(void)
{
    if (run.threads < 2)
        return;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&other, NULL, be_other, NULL);
    pthread_barrier_wait(&both);
}

static void join_other(void)
{
    other_ends = 1;
    if (run.threads > 1)
        pthread_join(other, NULL);
    run.threads = 1;
}

/* ---- ends ---- */

/* From here on the recording may be closed; what threads do meanwhile may be in it or not. */
static void note_floor(void)
{
    for (int t = 0; t < TRUTH_THREADS; t++)
        for (int k = 0; k < TRUTH_COUNT; k++)
            truth->floor[t][k] = truth_get(&truth->calls[t][k].done);
    __atomic_store_n(&truth->has_floor, 1, __ATOMIC_RELEASE);
}

static void say(const char *what)
{
    printf("rank %d %s\n", rank, what);
    fflush(stdout);
}

static void say_at_exit(void)
{
    printf("rank %d runs its exit handlers\n", rank);
}

/* A launcher that sees a status that is not 0 ends the other ranks: not before all are done. */
static void wait_for_all(void)
{
    const struct timespec moment = {0, 1000000};

    __atomic_store_n(&truth->is_ready, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < size; i++)
        while (__atomic_load_n(&all->rank[i].is_ready, __ATOMIC_ACQUIRE) == 0)
            nanosleep(&moment, NULL);
}

static void end_well(void)
{
    join_other();
    DO(FINALIZE, MPI_Finalize());
    say("is done");
    if (strcmp(run.end, "status") != 0)
        exit(0);
    wait_for_all();
    exit(3);
}

/* The profile is written already; what comes then is not in it. */
static void end_recording_first(void)
{
    note_floor();
    scope_finalize();
    calls = uncounted;
    enter_regions();
    exchange(MPI_COMM_SELF, 0, 0);
    leave_regions();
    if (strcmp(run.end, "killed later") == 0 && (rank == run.victim || run.victim < 0))
        raise(SIGKILL);
    end_well();
}

static void on_caught(int number)
{
    (void)number;
}

/* A signal that the program handles is no end. */
static void catch_and_go_on(void)
{
    struct sigaction action = {.sa_handler = on_caught};

    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    say("goes on");
    end_well();
}

static void wait_for_signal(void)
{
    __atomic_store_n(&truth->is_ready, 1, __ATOMIC_RELEASE);
    for (;;)
        pause();
}

static void fault(void)
{
    volatile int *volatile nowhere = NULL;

    *nowhere = 1;
}

static int number_of(const char *name)
{
    static const struct {
        const char *name;
        int number;
    } signals[] = {{"TERM", SIGTERM}, {"INT", SIGINT},   {"USR1", SIGUSR1},
                   {"XCPU", SIGXCPU}, {"SEGV", SIGSEGV}, {"KILL", SIGKILL}};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (strcmp(signals[i].name, name) == 0)
            return signals[i].number;
    return 0;
}

/* Returns where another rank, or a signal from outside, ends the run. */
static void end_here(void)
{
    static char nothing;

    if (strcmp(run.end, "finalize") == 0 || strcmp(run.end, "status") == 0)
        end_well();
    if (strcmp(run.end, "early") == 0 || strcmp(run.end, "killed later") == 0)
        end_recording_first();
    if (strcmp(run.end, "caught") == 0)
        catch_and_go_on();
    if (rank != run.victim && run.victim >= 0)
        return;
    if (strcmp(run.end, "strike") == 0)
        wait_for_signal();
    if (strcmp(run.end, "fault") == 0)
        fault();
    if (number_of(run.end) != 0) {
        kill(getpid(), number_of(run.end));
        wait_for_signal(); /* another thread has got it */
    }
    note_floor();
    printf("rank %d ends\n", rank); /* exit() is to write it */
    if (strcmp(run.end, "exit") == 0)
        exit(3);
    if (strcmp(run.end, "_exit") == 0)
        _exit(4);
    if (strcmp(run.end, "abort") == 0)
        abort();
    if (strcmp(run.end, "MPI_Abort") == 0)
        DO(ABORT, MPI_Abort(MPI_COMM_WORLD, 5));
    if (strcmp(run.end, "error") == 0)
        DO(SEND, MPI_Send(&nothing, 1, MPI_BYTE, size + 7, 0, MPI_COMM_WORLD));
    fprintf(stderr, "ends: no such end: %s\n", run.end);
    exit(99);
}

/* ---- moments ---- */

static void receive_forever(void)
{
    char c;

    truth->is_ready = 1;
    DO(RECV, MPI_Recv(&c, 1, MPI_BYTE, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
}

static void *end_from_other(void *unused)
{
    (void)unused;
    calls = truth->calls[1];
    while (truth_get(&truth->calls[0][TRUTH_RECV].begun) == 0)
        sched_yield();
    end_here();
    return NULL;
}

/* Either a signal comes from outside or the second thread ends the process. */
static void be_in_receive(void)
{
    if (strcmp(run.end, "strike") != 0 && (rank == run.victim || run.victim < 0))
        pthread_create(&other, NULL, end_from_other, NULL);
    else
        start_other();
    receive_forever();
}

static void fill(void)
{
    if (strcmp(run.moment, "ops") == 0) /* MPI_Init is the first */
        for (long i = 1; i < run.number; i++)
            exchange(MPI_COMM_SELF, MPI_PROC_NULL, MPI_PROC_NULL);
    if (strcmp(run.moment, "events") == 0)
        for (long i = 0; i < run.number; i++) {
            ENTER(INNER, "fault inner");
            LEAVE("fault inner");
        }
    if (strcmp(run.moment, "parts") == 0)
        for (long i = 0; i < run.number; i += 2)
            start_and_wait(MPI_COMM_SELF, MPI_PROC_NULL, MPI_PROC_NULL);
}

static void be_in_stream(void)
{
    bool is_struck = strcmp(run.end, "strike") == 0;

    start_other();
    for (long i = 0; is_struck || i < run.number; i++)
        step(i);
    end_here();
}

static void be_at_moment(void)
{
    if (strcmp(run.moment, "recv") == 0) {
        be_in_receive();
    } else if (strcmp(run.moment, "stream") == 0) {
        be_in_stream();
    } else {
        fill();
        if (strcmp(run.moment, "init") != 0)
            start_other();
        if (strcmp(run.moment, "region") == 0)
            enter_regions();
        end_here();
    }
    DO(BARRIER, MPI_Barrier(MPI_COMM_WORLD));
}

static int rank_from_launcher(void)
{
    const char *of_openmpi = getenv("OMPI_COMM_WORLD_RANK"), *of_mpich = getenv("PMI_RANK");

    return atoi(of_openmpi != NULL ? of_openmpi : of_mpich != NULL ? of_mpich : "0");
}

int main(int argc, char **argv)
{
    int provided;

    all = argc == 7 ? truth_map(argv[1]) : NULL;
    if (all == NULL)
        return 98;
    run.end = argv[2];
    run.moment = argv[3];
    run.victim = atoi(argv[4]);
    run.threads = atoi(argv[5]);
    run.number = atol(argv[6]);
    truth = &all->rank[rank_from_launcher()];
    truth->pid = getpid();
    calls = truth->calls[0];
    if (run.threads > 1)
        DO(INIT_THREAD, MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    else
        DO(INIT, MPI_Init(&argc, &argv));
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(run.end, "status") != 0)
        atexit(say_at_exit);
    say("has begun");
    be_at_moment();
    return 97;
}
