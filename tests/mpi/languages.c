/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A program that is written once in each language, call by call: languages.F90, languages.py.
 * It prints what it computes.
 */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { N = 16, SIZE = 1024 };

static int me, ranks, left, right;
static int a[SIZE], b[SIZE];

static void fill(int base)
{
    for (int i = 0; i < SIZE; i++)
        a[i] = base + 1000 * me + i;
    memset(b, 0, sizeof b);
}

static void say(const char *what)
{
    int total = 0;

    for (int i = 0; i < SIZE; i++)
        total = (total * 7 + b[i] + i) % 1000003;
    printf("%s %d %d\n", what, me, total);
    memset(b, 0, sizeof b);
}

static void messages(MPI_Comm c)
{
    static int buffer[2048];
    int length;
    void *address;
    MPI_Request r;
    MPI_Status s;

    for (int i = 0; i < 4; i++) {
        fill(i);
        MPI_Irecv(b, N + i, MPI_INT, left, i, c, &r);
        MPI_Barrier(c);
        if (i == 0)
            MPI_Send(a, N + i, MPI_INT, right, i, c);
        if (i == 1)
            MPI_Buffer_attach(buffer, sizeof buffer);
        if (i == 1)
            MPI_Bsend(a, N + i, MPI_INT, right, i, c);
        if (i == 2)
            MPI_Ssend(a, N + i, MPI_INT, right, i, c);
        if (i == 3)
            MPI_Rsend(a, N + i, MPI_INT, right, i, c);
        MPI_Wait(&r, &s);
        MPI_Get_count(&s, MPI_INT, &length);
        b[999] = length + s.MPI_SOURCE + s.MPI_TAG;
        say("mode");
    }
    MPI_Buffer_detach(&address, &length);
    MPI_Isend(a, N, MPI_INT, right, 5, c, &r);
    MPI_Recv(b, 2 * N, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, c, &s);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    b[999] = s.MPI_SOURCE;
    say("any");
    MPI_Isend(a, N, MPI_INT, right, 6, c, &r);
    MPI_Recv(b, 2 * N, MPI_INT, s.MPI_SOURCE, 6, c, &s);
    MPI_Wait(&r, &s);
    MPI_Isend(a, N, MPI_INT, right, 7, c, &r);
    MPI_Recv(b, 2 * N, MPI_INT, left, 7, c, MPI_STATUS_IGNORE);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    say("ignored");
    MPI_Sendrecv(a, N, MPI_INT, right, 8, b, N, MPI_INT, left, 8, c, &s);
    b[999] = s.MPI_SOURCE;
    say("sendrecv");
    MPI_Sendrecv(a, 3, MPI_INT, right, 9, b, N, MPI_INT, left, 9, c, MPI_STATUS_IGNORE);
    MPI_Sendrecv_replace(a, N, MPI_INT, right, 8, left, 8, c, &s);
    memcpy(b, a, N * sizeof *a);
    say("replace");
    MPI_Send(a, N, MPI_INT, MPI_PROC_NULL, 0, c);
    MPI_Recv(b, N, MPI_INT, MPI_PROC_NULL, 0, c, &s);
}

static void start(MPI_Comm c, MPI_Request r[6], int how_many)
{
    fill(how_many);
    for (int i = 0; i < 6; i++)
        r[i] = MPI_REQUEST_NULL;
    for (int i = 1; i <= how_many; i++)
        MPI_Irecv(b + 100 * i, N, MPI_INT, left, i, c, &r[i - 1]);
    for (int i = 1; i <= how_many; i++)
        MPI_Isend(a + i - 1, N, MPI_INT, right, i, c, &r[i + 2]);
}

static void waits(MPI_Comm c)
{
    MPI_Request r[6];
    MPI_Status s, all[6];
    int indices[6], found = 0, which, done;

    start(c, r, 3);
    MPI_Waitall(6, r, all);
    say("waitall");
    start(c, r, 3);
    MPI_Waitall(6, r, MPI_STATUSES_IGNORE);
    say("waitall ignored");
    start(c, r, 3);
    for (int i = 1; i <= 6; i++) {
        MPI_Waitany(6, r, &which, i % 2 == 0 ? &s : MPI_STATUS_IGNORE);
        found += (which + 1) * (which + 1);
    }
    MPI_Waitany(6, r, &which, &s);
    say("waitany");
    b[0] = found;
    say("index any");
    start(c, r, 1);
    MPI_Wait(&r[3], &s);
    MPI_Waitsome(6, r, &done, indices, all);
    b[999] = done;
    say("waitsome");
    b[0] = indices[0] + 1;
    say("index some");
    start(c, r, 1);
    MPI_Wait(&r[3], &s);
    MPI_Waitsome(6, r, &done, indices, MPI_STATUSES_IGNORE);
    say("waitsome ignored");
}

static void tests(MPI_Comm c)
{
    MPI_Request r[6];
    MPI_Status s, all[6];
    int indices[6], which, found, done = 0, flag = 0;

    start(c, r, 1);
    MPI_Wait(&r[3], &s);
    while (!flag)
        MPI_Testany(6, r, &which, &flag, &s);
    b[999] = s.MPI_SOURCE;
    found = which + 1;
    MPI_Testany(6, r, &which, &flag, &s);
    say("testany");
    b[0] = found;
    say("index testany");
    start(c, r, 1);
    MPI_Wait(&r[3], &s);
    while (done == 0)
        MPI_Testsome(6, r, &done, indices, MPI_STATUSES_IGNORE);
    say("testsome");
    b[0] = indices[0] + 1;
    say("index testsome");
    start(c, r, 2);
    for (flag = 0; !flag;)
        MPI_Testall(6, r, &flag, all);
    say("testall");
    start(c, r, 1);
    for (int i = 0; i < 4; i += 3)
        for (flag = 0; !flag;)
            MPI_Test(&r[i], &flag, MPI_STATUS_IGNORE);
    say("test");
}

static void persistent(MPI_Comm c)
{
    MPI_Request r[4];

    fill(7);
    MPI_Recv_init(b, N, MPI_INT, left, 1, c, &r[0]);
    MPI_Recv_init(b + 100, N, MPI_INT, left, 2, c, &r[1]);
    MPI_Send_init(a, N, MPI_INT, right, 1, c, &r[2]);
    MPI_Ssend_init(a + 4, N - 1, MPI_INT, right, 2, c, &r[3]);
    for (int i = 0; i < 3; i++) {
        MPI_Startall(4, r);
        MPI_Waitall(4, r, MPI_STATUSES_IGNORE);
    }
    MPI_Start(&r[0]);
    MPI_Start(&r[2]);
    MPI_Wait(&r[2], MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&r[i]);
    say("persistent");
}

static void probes(MPI_Comm c)
{
    MPI_Request r[2];
    MPI_Message m;
    MPI_Status s;
    int flag;

    fill(9);
    MPI_Isend(a, N, MPI_INT, right, 1, c, &r[0]);
    MPI_Probe(MPI_ANY_SOURCE, 1, c, &s);
    MPI_Recv(b, N, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, c, &s);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(a, N, MPI_INT, right, 2, c, &r[0]);
    for (flag = 0; !flag;)
        MPI_Iprobe(left, MPI_ANY_TAG, c, &flag, MPI_STATUS_IGNORE);
    MPI_Recv(b + 100, N, MPI_INT, left, 2, c, MPI_STATUS_IGNORE);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(a, N, MPI_INT, right, 3, c, &r[0]);
    MPI_Mprobe(left, 3, c, &m, &s);
    MPI_Mrecv(b + 200, N, MPI_INT, &m, &s);
    MPI_Wait(&r[0], MPI_STATUS_IGNORE);
    MPI_Isend(a, N, MPI_INT, right, 4, c, &r[0]);
    for (flag = 0; !flag;)
        MPI_Improbe(left, 4, c, &flag, &m, MPI_STATUS_IGNORE);
    MPI_Imrecv(b + 300, N, MPI_INT, &m, &r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    say("probes");
}

/* Counts and displacements of the v-forms: rank i has 1 + i % 3 elements. */
static void shares(int counts[], int displs[])
{
    int total = 0;

    for (int i = 0; i < ranks; i++) {
        counts[i] = 1 + i % 3;
        displs[i] = total;
        total += counts[i];
    }
}

static void collectives(MPI_Comm c)
{
    MPI_Request r;
    MPI_Datatype types[64];
    int counts[64], displs[64], bytes[64], mine[64];

    fill(20);
    shares(counts, displs);
    for (int i = 0; i < ranks; i++) {
        mine[i] = counts[me];
        types[i] = MPI_INT;
    }
    memcpy(b, a, N * sizeof *a);
    MPI_Bcast(b, N, MPI_INT, 0, c);
    say("bcast");
    MPI_Gather(a, N, MPI_INT, b, N, MPI_INT, ranks - 1, c);
    say("gather");
    MPI_Gatherv(a, mine[0], MPI_INT, b, counts, displs, MPI_INT, 0, c);
    say("gatherv");
    MPI_Scatter(a, N, MPI_INT, b, N, MPI_INT, 0, c);
    say("scatter");
    MPI_Scatterv(a, counts, displs, MPI_INT, b, mine[0], MPI_INT, 0, c);
    say("scatterv");
    MPI_Allgather(a, N, MPI_INT, b, N, MPI_INT, c);
    say("allgather");
    MPI_Allgatherv(a, mine[0], MPI_INT, b, counts, displs, MPI_INT, c);
    say("allgatherv");
    MPI_Alltoall(a, 3, MPI_INT, b, 3, MPI_INT, c);
    say("alltoall");
    for (int i = 0; i < ranks; i++) {
        displs[i] *= 3;
        bytes[i] = 4 * displs[i];
    }
    MPI_Alltoallv(a, counts, displs, MPI_INT, b, mine, displs, MPI_INT, c);
    say("alltoallv");
    MPI_Alltoallw(a, counts, bytes, types, b, mine, bytes, types, c);
    say("alltoallw");
    MPI_Reduce(a, b, N, MPI_INT, MPI_SUM, 0, c);
    say("reduce");
    MPI_Allreduce(a, b, N, MPI_INT, MPI_MAX, c);
    say("allreduce");
    MPI_Reduce_scatter(a, b, counts, MPI_INT, MPI_SUM, c);
    say("reduce_scatter");
    MPI_Reduce_scatter_block(a, b, 2, MPI_INT, MPI_SUM, c);
    say("reduce_scatter_block");
    MPI_Scan(a, b, N, MPI_INT, MPI_SUM, c);
    say("scan");
    MPI_Exscan(a, b, N, MPI_INT, MPI_SUM, c);
    if (me == 0)
        memset(b, 0, sizeof b);
    say("exscan");
    MPI_Ialltoallw(a, counts, bytes, types, b, mine, bytes, types, c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    say("ialltoallw");
    MPI_Ibarrier(c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Ireduce(a, b, N, MPI_INT, MPI_SUM, ranks - 1, c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    say("ireduce");
}

static void in_place_rooted(MPI_Comm c)
{
    memcpy(b, a, N * sizeof *a);
    if (me == 0) {
        MPI_Reduce(MPI_IN_PLACE, b, N, MPI_INT, MPI_SUM, 0, c);
        say("reduce in place");
        memcpy(b, a, N * sizeof *a);
        MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_INT, 0, c);
        say("gather in place");
        MPI_Scatter(a, N, MPI_INT, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, c);
    } else {
        MPI_Reduce(a, b, N, MPI_INT, MPI_SUM, 0, c);
        memset(b, 0, sizeof b);
        MPI_Gather(a, N, MPI_INT, b, 0, MPI_DATATYPE_NULL, 0, c);
        MPI_Scatter(a, 0, MPI_DATATYPE_NULL, b, N, MPI_INT, 0, c);
        say("scatter in place");
    }
}

static void in_place(MPI_Comm c)
{
    MPI_Request r;
    MPI_Datatype types[64];
    int counts[64], displs[64], same[64];

    fill(40);
    shares(counts, displs);
    memcpy(b + N * me, a, N * sizeof *a);
    MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_INT, c);
    say("allgather in place");
    memcpy(b + displs[me], a, (size_t)counts[me] * sizeof *a);
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, displs, MPI_INT, c);
    say("allgatherv in place");
    memcpy(b, a, N * sizeof *a);
    MPI_Allreduce(MPI_IN_PLACE, b, N, MPI_INT, MPI_SUM, c);
    say("allreduce in place");
    in_place_rooted(c);
    memcpy(b, a, (size_t)(3 * ranks) * sizeof *a);
    MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_INT, c);
    say("alltoall in place");
    for (int i = 0; i < ranks; i++) {
        same[i] = 2;
        types[i] = MPI_INT;
        displs[i] *= 2;
    }
    memcpy(b, a, (size_t)(6 * ranks) * sizeof *a);
    MPI_Alltoallv(MPI_IN_PLACE, same, displs, MPI_DATATYPE_NULL, b, same, displs, MPI_INT, c);
    say("alltoallv in place");
    for (int i = 0; i < ranks; i++)
        displs[i] *= 4;
    memcpy(b, a, (size_t)(6 * ranks) * sizeof *a);
    MPI_Alltoallw(MPI_IN_PLACE, same, displs, types, b, same, displs, types, c);
    say("alltoallw in place");
    memcpy(b, a, N * sizeof *a);
    MPI_Iallreduce(MPI_IN_PLACE, b, N, MPI_INT, MPI_SUM, c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    say("iallreduce in place");
    memcpy(b + N * me, a, N * sizeof *a);
    MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_INT, c, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    say("iallgather in place");
}

static void types(MPI_Comm c)
{
    static int packed[256];
    int lengths[2] = {3, 4}, position = 0, bytes;
    MPI_Datatype columns, pair[2] = {MPI_INT, MPI_INT}, places;
    MPI_Aint address[2];
    MPI_Status s;

    fill(60);
    MPI_Type_vector(4, 2, 5, MPI_INT, &columns);
    MPI_Type_commit(&columns);
    MPI_Sendrecv(a, 2, columns, right, 1, b, 2, columns, left, 1, c, &s);
    say("vector");
    MPI_Type_free(&columns);
    MPI_Get_address(b + 10, &address[0]);
    MPI_Get_address(b + 30, &address[1]);
    MPI_Type_create_struct(2, lengths, address, pair, &places);
    MPI_Type_commit(&places);
    memcpy(b + 10, a + 10, 24 * sizeof *a);
    MPI_Bcast(MPI_BOTTOM, 1, places, 0, c);
    say("bottom");
    MPI_Type_free(&places);
    MPI_Pack_size(N, MPI_INT, c, &bytes);
    MPI_Pack(a, N, MPI_INT, packed, 1024, &position, c);
    MPI_Pack(a + 100, 2, MPI_INT, packed, 1024, &position, c);
    b[999] = position;
    MPI_Sendrecv_replace(packed, position, MPI_PACKED, right, 1, left, 1, c, &s);
    position = 0;
    MPI_Unpack(packed, 1024, &position, b, N + 2, MPI_INT, c);
    say("packed");
}

static void halves(MPI_Comm c)
{
    MPI_Comm half, between, both;
    int is_inter;

    MPI_Comm_split(c, me % 2, me, &half);
    MPI_Comm_set_name(half, "half of it");
    MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, half);
    say("half");
    if (ranks > 1) {
        MPI_Intercomm_create(half, 0, c, 1 - me % 2, 5, &between);
        MPI_Comm_test_inter(between, &is_inter);
        MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, between);
        if (is_inter)
            b[999] = 1;
        say("between");
        MPI_Intercomm_merge(between, me == 1, &both);
        MPI_Bcast(b, N, MPI_INT, 0, both);
        MPI_Comm_free(&both);
        MPI_Comm_disconnect(&between);
    }
    MPI_Comm_free(&half);
}

static void communicators(MPI_Comm c)
{
    int from, to, dims[1] = {0}, periodic[1] = {1};
    MPI_Comm grid, copy;
    MPI_Group all;
    MPI_Request r;

    fill(80);
    MPI_Dims_create(ranks, 1, dims);
    MPI_Cart_create(c, 1, dims, periodic, 0, &grid);
    MPI_Cart_shift(grid, 0, 1, &from, &to);
    MPI_Neighbor_allgather(a, N, MPI_INT, b, N, MPI_INT, grid);
    b[999] = from + to;
    say("grid");
    MPI_Comm_group(grid, &all);
    MPI_Comm_create(c, all, &copy);
    MPI_Group_free(&all);
    MPI_Allreduce(a, b, N, MPI_INT, MPI_SUM, copy);
    MPI_Comm_free(&copy);
    MPI_Comm_idup(grid, &copy, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Barrier(copy);
    MPI_Comm_free(&copy);
    say("copies");
    halves(c);
    MPI_Comm_split(grid, 0, -me, &copy);
    b[0] = me;
    MPI_Bcast(b, 1, MPI_INT, 0, copy);
    say("reversed");
    MPI_Comm_free(&copy);
}

static void windows(MPI_Comm c)
{
    int fetched[N];
    MPI_Request r;
    MPI_Win w;

    fill(100);
    MPI_Win_create(b, sizeof b, 4, MPI_INFO_NULL, c, &w);
    MPI_Win_set_name(w, "shared numbers");
    MPI_Win_fence(0, w);
    MPI_Put(a, N, MPI_INT, right, 0, N, MPI_INT, w);
    MPI_Accumulate(a, N, MPI_INT, 0, 100, N, MPI_INT, MPI_SUM, w);
    MPI_Win_fence(0, w);
    MPI_Get(fetched, N, MPI_INT, right, 0, N, MPI_INT, w);
    MPI_Win_fence(0, w);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, left, 0, w);
    MPI_Rput(a, 2, MPI_INT, left, 200, 2, MPI_INT, w, &r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Win_unlock(left, w);
    MPI_Win_lock_all(0, w);
    MPI_Fetch_and_op(a, &fetched[1], MPI_INT, left, 300, MPI_REPLACE, w);
    MPI_Win_flush(left, w);
    MPI_Win_unlock_all(w);
    MPI_Barrier(c);
    MPI_Win_free(&w);
    memcpy(b + 400, fetched, sizeof fetched);
    say("window");
}

static void files(MPI_Comm c)
{
    static const char name[] = "languages.data";
    int length;
    MPI_Offset bytes;
    MPI_Request r;
    MPI_Status s;
    MPI_File f;

    fill(120);
    MPI_File_open(c, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
    MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    MPI_File_write_at_all(f, N * me, a, N, MPI_INT, &s);
    MPI_Get_count(&s, MPI_INT, &length);
    MPI_File_sync(f);
    MPI_Barrier(c);
    MPI_File_read_at_all(f, N * right, b, N, MPI_INT, MPI_STATUS_IGNORE);
    MPI_File_seek(f, N * right, MPI_SEEK_SET);
    MPI_File_read(f, b + 100, 3, MPI_INT, &s);
    MPI_File_iwrite_at(f, N * (ranks + me), a, 5, MPI_INT, &r);
    MPI_Wait(&r, &s);
    MPI_Barrier(c);
    MPI_File_get_size(f, &bytes);
    b[999] = length + (int)bytes;
    MPI_File_close(&f);
    MPI_Barrier(c);
    if (me == 0)
        MPI_File_delete(name, MPI_INFO_NULL);
    say("file");
}

static void failures(MPI_Comm c)
{
    int code, class;

    MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
    code = MPI_Send(a, 1, MPI_INT, ranks + 5, 0, c);
    MPI_Error_class(code, &class);
    b[0] = class == MPI_ERR_RANK;
    say("failed");
}

static void spell(const char *text, int at)
{
    for (int i = 0; text[i] != '\0'; i++)
        b[at + i] = text[i];
}

static void texts(MPI_Comm c)
{
    char text[MPI_MAX_OBJECT_NAME];
    int length, flag, *bound;
    MPI_Info i;

    MPI_Info_create(&i);
    MPI_Info_set(i, "first key", "alpha beta");
    MPI_Info_set(i, "second", "gamma");
    MPI_Info_get(i, "second", 30, text, &flag);
    if (flag)
        spell(text, 0);
    MPI_Info_get(i, "first key", 30, text, &flag);
    if (flag)
        spell(text, 100);
    MPI_Info_free(&i);
    MPI_Comm_get_name(c, text, &length);
    spell(text, 200 + length);
    MPI_Comm_get_attr(c, MPI_TAG_UB, &bound, &flag);
    b[999] = flag && *bound >= 32767;
    say("texts");
}

int main(void)
{
    MPI_Comm world = MPI_COMM_WORLD, ring;

    MPI_Init(NULL, NULL);
    MPI_Comm_rank(world, &me);
    MPI_Comm_size(world, &ranks);
    right = (me + 1) % ranks;
    left = (me + ranks - 1) % ranks;
    MPI_Comm_dup(world, &ring);
    MPI_Comm_set_name(ring, "the ring");
    messages(ring);
    waits(ring);
    tests(ring);
    persistent(ring);
    probes(ring);
    collectives(ring);
    in_place(ring);
    types(ring);
    communicators(ring);
    windows(ring);
    files(ring);
    failures(ring);
    texts(ring);
    MPI_Pcontrol(0);
    MPI_Barrier(ring);
    MPI_Pcontrol(1);
    MPI_Barrier(ring);
    MPI_Comm_free(&ring);
    return MPI_Finalize();
}
