/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * requests PREFIX [storm N [flat]]: every kind of request, on a ring of ranks. Writes
 * PREFIX.RANK.expect: per routine calls, rows and bytes, per peer messages and bytes, as this rank
 * knows them. storm N [flat]: N requests with handles used again, and with a million 100,000 in one
 * MPI_Waitall; flat: fails when memory grows with them.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROUTINES = 64, N = 100, WORD = sizeof(double), ROUNDS = 3 };

static int rank, size, next, previous;
static double out[N], in[2 * N];

static struct expected {
    const char *routine;
    long calls, rows, sent, received;
} expected[ROUTINES];

static struct {
    long sent, sent_bytes, received, received_bytes;
} peers[64];

static void expect(const char *routine, long calls, long rows, long sent, long received)
{
    struct expected *e = expected;

    while (e->routine != NULL && strcmp(e->routine, routine) != 0)
        e++;
    e->routine = routine;
    e->calls += calls;
    e->rows += rows;
    e->sent += sent;
    e->received += received;
}

static void call(const char *routine, long calls)
{
    expect(routine, calls, calls, 0, 0);
}

static void send_by(const char *routine, int count)
{
    expect(routine, 1, 1, (long)count * WORD, 0);
    peers[next].sent++;
    peers[next].sent_bytes += (long)count * WORD;
}

static void receive_by(const char *routine, int count)
{
    expect(routine, 1, 1, 0, (long)count * WORD);
    peers[previous].received++;
    peers[previous].received_bytes += (long)count * WORD;
}

static void isend(int count, MPI_Request *r)
{
    MPI_Isend(out, count, MPI_DOUBLE, next, 5, MPI_COMM_WORLD, r);
    send_by("MPI_Isend", count);
}

/* Room for more than what comes, from whoever sends it. */
static void irecv(int count, MPI_Request *r)
{
    MPI_Irecv(in, 2 * N, MPI_DOUBLE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, r);
    receive_by("MPI_Irecv", count);
}

static void waits(void)
{
    MPI_Request r[4];
    MPI_Status statuses[4];
    int index, count, indices[4], left;

    isend(3, &r[0]);
    irecv(3, &r[1]);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Wait(&r[1], statuses);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE); /* null by now */
    call("MPI_Wait", 3);
    for (int ignored = 0; ignored < 2; ignored++) {
        isend(7, &r[0]);
        r[1] = MPI_REQUEST_NULL;
        irecv(7, &r[2]);
        MPI_Waitall(3, r, ignored ? MPI_STATUSES_IGNORE : statuses);
        call("MPI_Waitall", 1);
        isend(1, &r[0]);
        irecv(1, &r[1]);
        for (int i = 0; i < 3; i++) /* the third finds nothing active */
            MPI_Waitany(2, r, &index, ignored ? MPI_STATUS_IGNORE : statuses);
        call("MPI_Waitany", 3);
        isend(2, &r[0]);
        irecv(2, &r[1]);
        for (left = 2; left > 0; left -= count) {
            MPI_Waitsome(2, r, &count, indices, ignored ? MPI_STATUSES_IGNORE : statuses);
            call("MPI_Waitsome", 1);
        }
    }
}

/* Polls until it is done: one row for the call that completes it. */
static void tests(void)
{
    MPI_Request r[2];
    int flag, index, count, indices[2], left;
    long polls = 0;

    isend(4, &r[0]);
    irecv(4, &r[1]);
    for (int i = 0; i < 2; i++) {
        do {
            MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
            polls++;
        } while (!flag);
    }
    MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE); /* null: nothing to complete */
    expect("MPI_Test", polls + 1, 2, 0, 0);

    isend(5, &r[0]);
    irecv(5, &r[1]);
    for (polls = 1; MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE) == MPI_SUCCESS && !flag; polls++)
        continue;
    expect("MPI_Testall", polls, 1, 0, 0);

    isend(6, &r[0]);
    irecv(6, &r[1]);
    for (polls = 0, left = 2; left > 0; polls++) {
        MPI_Testany(2, r, &index, &flag, MPI_STATUS_IGNORE);
        left -= flag;
    }
    expect("MPI_Testany", polls, 2, 0, 0);

    isend(8, &r[0]);
    irecv(8, &r[1]);
    for (polls = 0, left = 2; left > 0; polls++) {
        MPI_Testsome(2, r, &count, indices, MPI_STATUSES_IGNORE);
        left -= count;
        expect("MPI_Testsome", 1, count > 0, 0, 0);
    }
}

static void persistent(void)
{
    MPI_Request r[3];

    MPI_Send_init(out, N, MPI_DOUBLE, next, 1, MPI_COMM_WORLD, &r[0]);
    MPI_Recv_init(in, 2 * N, MPI_DOUBLE, previous, 1, MPI_COMM_WORLD, &r[1]);
    MPI_Ssend_init(out, 2, MPI_DOUBLE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &r[2]);
    call("MPI_Send_init", 1);
    call("MPI_Recv_init", 1);
    call("MPI_Ssend_init", 1);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE); /* none is active */
    call("MPI_Waitall", 1);
    for (int i = 0; i < ROUNDS; i++) {
        MPI_Startall(3, r);
        send_by("MPI_Startall", N);
        expect("MPI_Startall", 0, 0, 0, N * WORD);
        peers[previous].received++;
        peers[previous].received_bytes += N * WORD;
        MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
        call("MPI_Waitall", 1);
    }
    MPI_Start(&r[1]);
    MPI_Start(&r[0]);
    send_by("MPI_Start", N);
    receive_by("MPI_Start", N);
    MPI_Wait(&r[1], MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    call("MPI_Wait", 2);
    for (int i = 0; i < 3; i++)
        MPI_Request_free(&r[i]);
    call("MPI_Request_free", 3);
}

static void odd_ends(void)
{
    MPI_Request r;
    MPI_Status status;
    int flag = 0;

    MPI_Irecv(in, N, MPI_DOUBLE, previous, 77, MPI_COMM_WORLD, &r); /* nobody sends that */
    MPI_Cancel(&r);
    MPI_Wait(&r, &status);
    MPI_Test_cancelled(&status, &flag);
    call("MPI_Irecv", 1);
    call("MPI_Cancel", 1);
    call("MPI_Wait", 1);
    expect("MPI_Test_cancelled", 1, 0, 0, 0);

    isend(9, &r);
    MPI_Request_free(&r);
    call("MPI_Request_free", 1);
    MPI_Recv(in, 2 * N, MPI_DOUBLE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    receive_by("MPI_Recv", 9);

    MPI_Isend(out, N, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Irecv(in, N, MPI_DOUBLE, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    call("MPI_Isend", 1);
    call("MPI_Irecv", 1);
    call("MPI_Wait", 2);

    MPI_Iallreduce(out, in, 10, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    expect("MPI_Iallreduce", 1, 1, 10L * WORD * (size - 1), 10L * WORD * (size - 1));
    call("MPI_Wait", 1);
}

static void both_ways(void)
{
    MPI_Status status;

    MPI_Sendrecv(out, 11, MPI_DOUBLE, next, 2, in, 2 * N, MPI_DOUBLE, previous, MPI_ANY_TAG,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send_by("MPI_Sendrecv", 11);
    expect("MPI_Sendrecv", 0, 0, 0, 11 * WORD);
    MPI_Sendrecv_replace(out, 12, MPI_DOUBLE, next, 2, previous, 2, MPI_COMM_WORLD, &status);
    send_by("MPI_Sendrecv_replace", 12);
    expect("MPI_Sendrecv_replace", 0, 0, 0, 12 * WORD);
    MPI_Sendrecv(out, 5, MPI_DOUBLE, MPI_PROC_NULL, 2, in, N, MPI_DOUBLE, MPI_PROC_NULL, 2,
                 MPI_COMM_WORLD, &status);
    call("MPI_Sendrecv", 1);
    peers[previous].received += 2;
    peers[previous].received_bytes += 23 * WORD;
}

static void probes(void)
{
    MPI_Request r, received;
    MPI_Message message;
    MPI_Status status;
    int flag;
    long polls = 0;

    isend(13, &r);
    MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    call("MPI_Probe", 1);
    MPI_Recv(in, 2 * N, MPI_DOUBLE, previous, 5, MPI_COMM_WORLD, &status);
    receive_by("MPI_Recv", 13);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    isend(14, &r);
    do {
        MPI_Iprobe(previous, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        polls++;
    } while (!flag);
    expect("MPI_Iprobe", polls, 1, 0, 0);
    MPI_Mprobe(previous, 5, MPI_COMM_WORLD, &message, &status);
    call("MPI_Mprobe", 1);
    MPI_Mrecv(in, 2 * N, MPI_DOUBLE, &message, MPI_STATUS_IGNORE);
    receive_by("MPI_Mrecv", 14);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    isend(15, &r);
    for (polls = 1;
         MPI_Improbe(previous, 5, MPI_COMM_WORLD, &flag, &message, &status) == 0 && !flag; polls++)
        continue;
    expect("MPI_Improbe", polls, 1, 0, 0);
    MPI_Imrecv(in, 2 * N, MPI_DOUBLE, &message, &received);
    receive_by("MPI_Imrecv", 15);
    MPI_Wait(&received, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    call("MPI_Wait", 4);
}

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 4);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = status->MPI_TAG = MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void generalized(void)
{
    MPI_Request r;

    MPI_Grequest_start(query, release, cancel, NULL, &r);
    MPI_Grequest_complete(r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    call("MPI_Grequest_start", 1);
    call("MPI_Grequest_complete", 1);
    call("MPI_Wait", 1);
}

/* ---- storm ---- */

static long resident(void)
{
    long pages = 0, total;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%ld %ld", &total, &pages) != 2)
        exit(77);
    fclose(f);
    return pages * sysconf(_SC_PAGESIZE);
}

static void burst(MPI_Request *r, int pairs)
{
    for (int i = 0; i < pairs; i++) {
        irecv(1, &r[2 * i]);
        isend(1, &r[2 * i + 1]);
    }
    MPI_Waitall(2 * pairs, r, MPI_STATUSES_IGNORE);
    call("MPI_Waitall", 1);
}

static int storm(long requests, int is_limited)
{
    enum { LARGE = 100000 };
    MPI_Request *r = malloc(LARGE * sizeof *r);
    long before, grown;

    burst(r, requests < LARGE ? 100 : LARGE / 2);
    for (int i = 0; i < 1000; i++)
        burst(r, 8);
    before = resident();
    for (long i = 0; i < requests / 16; i++)
        burst(r, 8);
    grown = (resident() - before) / 1024;
    printf("rank %d: %ld KiB more after %ld requests\n", rank, grown, requests);
    free(r);
    return is_limited && grown > 2048;
}

static void report(const char *prefix)
{
    char path[1000];
    FILE *f;

    snprintf(path, sizeof path, "%s.%d.expect", prefix, rank);
    f = fopen(path, "w");
    if (f == NULL)
        exit(1);
    for (const struct expected *e = expected; e->routine != NULL; e++)
        fprintf(f, "routine %s %ld %ld %ld %ld\n", e->routine, e->calls, e->rows, e->sent,
                e->received);
    for (int i = 0; i < size; i++)
        if (peers[i].sent + peers[i].received > 0)
            fprintf(f, "peer %d %ld %ld %ld %ld\n", i, peers[i].sent, peers[i].sent_bytes,
                    peers[i].received, peers[i].received_bytes);
    fclose(f);
}

int main(int argc, char **argv)
{
    int failed = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    next = (rank + 1) % size;
    previous = (rank + size - 1) % size;
    if (argc > 3) {
        failed = storm(atol(argv[3]), argc > 4);
    } else {
        waits();
        tests();
        persistent();
        odd_ends();
        both_ways();
        probes();
        generalized();
    }
    report(argv[1]);
    MPI_Finalize();
    return failed;
}
