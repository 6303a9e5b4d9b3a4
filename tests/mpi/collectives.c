/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every collective of MPI 3.1 in every way that matters to counting: each root, in place and not,
 * no data, derived types, v- and w-forms, both sides of inter-communicators, neighbours that are
 * missing or oneself. What a profile must say of a call is worked out beside it, by hand.
 */
#include "collectives.h"

#include <string.h>

enum { ROOM = 1 << 12 };

struct item {
    MPI_Datatype type;
    int count;
    long bytes; /* of count of them */
};

FILE *expected, *result;
int world_rank;
int any_order;
static int in[ROOM], out[ROOM];
static MPI_Datatype vector; /* 3 ints of 6: 12 bytes */
static MPI_Datatype five;   /* 5 chars */
static MPI_Request request;

/* ---- what a profile must say ---- */

static void print_name(const char *name)
{
    if (name == NULL)
        fprintf(expected, "null");
    else
        fprintf(expected, "\"%s\"", name);
}

/* Non-blocking calls are numbered as they come. */
void expect(const char *routine, const struct group *g, int root, long sent, long received)
{
    static const char *const also[] = {"Init", "Intercomm_create", "Intercomm_merge"};
    static long requests;
    int starts_one = routine[0] == 'I' || strncmp(routine, "Comm_idup", 9) == 0;

    for (size_t i = 0; i < sizeof also / sizeof *also; i++)
        starts_one = starts_one && strcmp(routine, also[i]) != 0;
    fprintf(expected, "{\"call\": \"MPI_%s\", \"comm\": ", routine);
    print_name(g == NULL ? NULL : g->label);
    fprintf(expected, ", \"root\": %d, \"sent\": %ld, \"received\": %ld, \"request\": %ld}\n", root,
            sent, received, starts_one ? requests++ : -1);
}

static void print_ranks(const char *key, const int *list, int n)
{
    fprintf(expected, ", \"%s\": [", key);
    for (int i = 0; i < n; i++)
        fprintf(expected, "%s%d", i > 0 ? ", " : "", list[i]);
    fprintf(expected, "]");
}

void describe(const struct group *g, const char *parent, const char *name)
{
    fprintf(expected, "{\"communicator\": ");
    print_name(g->label);
    fprintf(expected, ", \"parent\": ");
    print_name(parent);
    fprintf(expected, ", \"name\": ");
    print_name(name);
    print_ranks("members", g->world, g->size);
    print_ranks("remote", g->remote, g->remote_size);
    fprintf(expected, "}\n");
}

/* ---- one call ---- */

static void prepare(void)
{
    for (int i = 0; i < ROOM; i++) {
        out[i] = world_rank * 1000 + i % 977;
        in[i] = -1;
    }
    request = MPI_REQUEST_NULL;
}

/* Waits for it if it has begun only, and keeps what it delivered. */
static void finish(const char *what)
{
    unsigned long sum = 0;

    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < ROOM; i++)
        sum = any_order ? sum + (unsigned)in[i] : sum * 31 + (unsigned)in[i];
    fprintf(result, "%s %lx\n", what, sum);
}

/* "Bcast" or "Ibcast". */
static const char *named(const char *name, int later)
{
    static char text[64];

    if (!later)
        return name;
    snprintf(text, sizeof text, "I%c%s", name[0] - 'A' + 'a', name + 1);
    return text;
}

static long sum_but(const int *counts, int n, int but)
{
    long sum = 0;

    for (int i = 0; i < n; i++)
        if (i != but)
            sum += counts[i];
    return sum;
}

/* Offsets that leave a gap of one element between blocks. */
static void spread(const int *counts, int *offsets, int n)
{
    int at = 0;

    for (int i = 0; i < n; i++) {
        offsets[i] = at;
        at += counts[i] + 1;
    }
}

/* ---- one group: P members, n bytes each ---- */

void make_types(void)
{
    MPI_Type_vector(3, 1, 2, MPI_INT, &vector);
    MPI_Type_commit(&vector);
    MPI_Type_contiguous(5, MPI_CHAR, &five);
    MPI_Type_commit(&five);
}

void free_types(void)
{
    MPI_Type_free(&vector);
    MPI_Type_free(&five);
}

void barrier(const struct group *g)
{
    for (int later = 0; later < 2; later++) {
        expect(named("Barrier", later), g, -1, 0, 0);
        prepare();
        later ? MPI_Ibarrier(g->comm, &request) : MPI_Barrier(g->comm);
        finish("barrier");
    }
}

static void broadcast(const struct group *g, struct item x, int root, int later)
{
    int P = g->size, is_root = g->rank == root;

    expect(named("Bcast", later), g, g->world[root], is_root ? (P - 1) * x.bytes : 0,
           is_root ? 0 : x.bytes);
    prepare();
    if (is_root)
        memcpy(in, out, sizeof in);
    later ? MPI_Ibcast(in, x.count, x.type, root, g->comm, &request)
          : MPI_Bcast(in, x.count, x.type, root, g->comm);
    finish("bcast");
}

/* The root says nothing valid where MPI does not look: MPI_DATATYPE_NULL would be fatal to a
 * reader. */
static void gather(const struct group *g, struct item x, int root, int later, int in_place)
{
    int P = g->size, is_root = g->rank == root;
    const void *from = is_root && in_place ? MPI_IN_PLACE : (const void *)out;
    MPI_Datatype sent_as = is_root && in_place ? MPI_DATATYPE_NULL : x.type;
    MPI_Datatype received_as = is_root ? x.type : MPI_DATATYPE_NULL;
    int garbage = -77;

    expect(named("Gather", later), g, g->world[root], is_root ? 0 : x.bytes,
           is_root ? (P - 1) * x.bytes : 0);
    prepare();
    later ? MPI_Igather(from, is_root && in_place ? garbage : x.count, sent_as, in,
                        is_root ? x.count : garbage, received_as, root, g->comm, &request)
          : MPI_Gather(from, is_root && in_place ? garbage : x.count, sent_as, in,
                       is_root ? x.count : garbage, received_as, root, g->comm);
    finish("gather");
}

static void scatter(const struct group *g, struct item x, int root, int later, int in_place)
{
    int P = g->size, is_root = g->rank == root;
    void *to = is_root && in_place ? MPI_IN_PLACE : (void *)in;
    MPI_Datatype sent_as = is_root ? x.type : MPI_DATATYPE_NULL;
    MPI_Datatype received_as = is_root && in_place ? MPI_DATATYPE_NULL : x.type;

    expect(named("Scatter", later), g, g->world[root], is_root ? (P - 1) * x.bytes : 0,
           is_root ? 0 : x.bytes);
    prepare();
    later ? MPI_Iscatter(out, x.count, sent_as, to, x.count, received_as, root, g->comm, &request)
          : MPI_Scatter(out, x.count, sent_as, to, x.count, received_as, root, g->comm);
    finish("scatter");
}

/* Member i gives or gets i % 3 ints. */
static void gather_scatter_v(const struct group *g, int root, int later)
{
    int P = g->size, is_root = g->rank == root, counts[MOST], offsets[MOST];
    long all = 0, mine = g->rank % 3 * 4;

    for (int i = 0; i < P; i++) {
        counts[i] = i % 3;
        all += i == root ? 0 : i % 3 * 4;
    }
    spread(counts, offsets, P);
    expect(named("Gatherv", later), g, g->world[root], is_root ? 0 : mine, is_root ? all : 0);
    prepare();
    later ? MPI_Igatherv(out, g->rank % 3, MPI_INT, in, is_root ? counts : NULL, offsets, MPI_INT,
                         root, g->comm, &request)
          : MPI_Gatherv(out, g->rank % 3, MPI_INT, in, is_root ? counts : NULL, offsets, MPI_INT,
                        root, g->comm);
    finish("gatherv");
    expect(named("Scatterv", later), g, g->world[root], is_root ? all : 0, is_root ? 0 : mine);
    prepare();
    later ? MPI_Iscatterv(out, is_root ? counts : NULL, offsets, MPI_INT, in, g->rank % 3, MPI_INT,
                          root, g->comm, &request)
          : MPI_Scatterv(out, is_root ? counts : NULL, offsets, MPI_INT, in, g->rank % 3, MPI_INT,
                         root, g->comm);
    finish("scatterv");
}

static void all_gather(const struct group *g, struct item x, int later, int in_place)
{
    int P = g->size;
    const void *from = in_place ? MPI_IN_PLACE : (const void *)out;
    MPI_Datatype sent_as = in_place ? MPI_DATATYPE_NULL : x.type;

    expect(named("Allgather", later), g, -1, (P - 1) * x.bytes, (P - 1) * x.bytes);
    prepare();
    later ? MPI_Iallgather(from, x.count, sent_as, in, x.count, x.type, g->comm, &request)
          : MPI_Allgather(from, x.count, sent_as, in, x.count, x.type, g->comm);
    finish("allgather");
    expect(named("Alltoall", later), g, -1, (P - 1) * x.bytes, (P - 1) * x.bytes);
    prepare();
    later ? MPI_Ialltoall(from, x.count, sent_as, in, x.count, x.type, g->comm, &request)
          : MPI_Alltoall(from, x.count, sent_as, in, x.count, x.type, g->comm);
    finish("alltoall");
}

/* Member i gives (i + 1) % 3 doubles. */
static void all_gather_v(const struct group *g, int later, int in_place)
{
    int P = g->size, mine = (g->rank + 1) % 3, counts[MOST], offsets[MOST];
    const void *from = in_place ? MPI_IN_PLACE : (const void *)out;

    for (int i = 0; i < P; i++)
        counts[i] = (i + 1) % 3;
    spread(counts, offsets, P);
    expect(named("Allgatherv", later), g, -1, (P - 1) * mine * 8L, sum_but(counts, P, g->rank) * 8);
    prepare();
    later ? MPI_Iallgatherv(from, mine, MPI_DOUBLE, in, counts, offsets, MPI_DOUBLE, g->comm,
                            &request)
          : MPI_Allgatherv(from, mine, MPI_DOUBLE, in, counts, offsets, MPI_DOUBLE, g->comm);
    finish("allgatherv");
}

/* i sends j (i + 2 j) % 4 ints; in place (i + j) % 3, the same both ways. */
static void all_to_all_v(const struct group *g, int later, int in_place)
{
    int P = g->size, q = g->rank, to[MOST], from[MOST], to_at[MOST], from_at[MOST];

    for (int j = 0; j < P; j++) {
        to[j] = in_place ? (q + j) % 3 : (q + 2 * j) % 4;
        from[j] = in_place ? (q + j) % 3 : (j + 2 * q) % 4;
    }
    spread(to, to_at, P);
    spread(from, from_at, P);
    expect(named("Alltoallv", later), g, -1, sum_but(to, P, q) * 4, sum_but(from, P, q) * 4);
    prepare();
    later ? MPI_Ialltoallv(in_place ? MPI_IN_PLACE : (const void *)out, to, to_at, MPI_INT, in,
                           from, from_at, MPI_INT, g->comm, &request)
          : MPI_Alltoallv(in_place ? MPI_IN_PLACE : (const void *)out, to, to_at, MPI_INT, in, from,
                          from_at, MPI_INT, g->comm);
    finish("alltoallv");
}

/* As all_to_all_v, in ints where i + j is even, in doubles elsewhere (in place all are doubles:
 * MPICH 4.0 fails over different types). */
static void all_to_all_w(const struct group *g, int later, int in_place)
{
    int P = g->size, q = g->rank, to[MOST], from[MOST], at[MOST];
    MPI_Datatype types[MOST];
    long sent = 0, received = 0;

    for (int j = 0; j < P; j++) {
        int is_int = !in_place && (q + j) % 2 == 0;
        long unit = is_int ? 4 : 8;
        types[j] = is_int ? MPI_INT : MPI_DOUBLE;
        to[j] = in_place ? (q + j) % 3 : (q + 2 * j) % 4;
        from[j] = in_place ? (q + j) % 3 : (j + 2 * q) % 4;
        at[j] = j * 64;
        sent += j == q ? 0 : to[j] * unit;
        received += j == q ? 0 : from[j] * unit;
    }
    expect(named("Alltoallw", later), g, -1, sent, received);
    prepare();
    later ? MPI_Ialltoallw(in_place ? MPI_IN_PLACE : (const void *)out, to, at, types, in, from, at,
                           types, g->comm, &request)
          : MPI_Alltoallw(in_place ? MPI_IN_PLACE : (const void *)out, to, at, types, in, from, at,
                          types, g->comm);
    finish("alltoallw");
}

static void reduce(const struct group *g, struct item x, int root, int later, int in_place)
{
    int P = g->size, is_root = g->rank == root;
    const void *from = is_root && in_place ? MPI_IN_PLACE : (const void *)out;

    expect(named("Reduce", later), g, g->world[root], is_root ? 0 : x.bytes,
           is_root ? (P - 1) * x.bytes : 0);
    prepare();
    later
        ? MPI_Ireduce(from, is_root ? in : NULL, x.count, x.type, MPI_MAX, root, g->comm, &request)
        : MPI_Reduce(from, is_root ? in : NULL, x.count, x.type, MPI_MAX, root, g->comm);
    finish("reduce");
}

static void reduce_all(const struct group *g, struct item x, int later, int in_place)
{
    int P = g->size, q = g->rank;
    const void *from = in_place ? MPI_IN_PLACE : (const void *)out;

    expect(named("Allreduce", later), g, -1, (P - 1) * x.bytes, (P - 1) * x.bytes);
    prepare();
    later ? MPI_Iallreduce(from, in, x.count, x.type, MPI_MAX, g->comm, &request)
          : MPI_Allreduce(from, in, x.count, x.type, MPI_MAX, g->comm);
    finish("allreduce");
    expect(named("Scan", later), g, -1, (P - 1 - q) * x.bytes, q * x.bytes);
    prepare();
    later ? MPI_Iscan(from, in, x.count, x.type, MPI_MAX, g->comm, &request)
          : MPI_Scan(from, in, x.count, x.type, MPI_MAX, g->comm);
    finish("scan");
    expect(named("Exscan", later), g, -1, (P - 1 - q) * x.bytes, q * x.bytes);
    prepare();
    later ? MPI_Iexscan(from, in, x.count, x.type, MPI_MAX, g->comm, &request)
          : MPI_Exscan(from, in, x.count, x.type, MPI_MAX, g->comm);
    finish("exscan");
    expect(named("Reduce_scatter_block", later), g, -1, (P - 1) * x.bytes, (P - 1) * x.bytes);
    prepare();
    later ? MPI_Ireduce_scatter_block(from, in, x.count, x.type, MPI_MAX, g->comm, &request)
          : MPI_Reduce_scatter_block(from, in, x.count, x.type, MPI_MAX, g->comm);
    finish("reduce_scatter_block");
}

/* Member i gets i % 3 + 1 ints. */
static void reduce_scatter(const struct group *g, int later, int in_place)
{
    int P = g->size, counts[MOST];
    long others = 0;

    for (int i = 0; i < P; i++) {
        counts[i] = i % 3 + 1;
        others += i == g->rank ? 0 : counts[i];
    }
    expect(named("Reduce_scatter", later), g, -1, others * 4, (P - 1) * (g->rank % 3 + 1) * 4L);
    prepare();
    later ? MPI_Ireduce_scatter(in_place ? MPI_IN_PLACE : (const void *)out, in, counts, MPI_INT,
                                MPI_SUM, g->comm, &request)
          : MPI_Reduce_scatter(in_place ? MPI_IN_PLACE : (const void *)out, in, counts, MPI_INT,
                               MPI_SUM, g->comm);
    finish("reduce_scatter");
}

void all_intra(const struct group *g)
{
    const struct item moved[] = {{MPI_INT, 1, 4}, {MPI_DOUBLE, 7, 56}, {vector, 2, 24},
                                 {MPI_INT, 0, 0}, {five, 3, 15},       {MPI_CHAR, 1, 1}};
    const struct item reduced[] = {{MPI_INT, 1, 4}, {MPI_INT, 0, 0}, {MPI_SHORT, 3, 6}};
    enum { MOVED = sizeof moved / sizeof *moved, REDUCED = sizeof reduced / sizeof *reduced };

    barrier(g);
    for (int later = 0; later < 2; later++) {
        for (int root = 0; root < g->size; root++) {
            /* Everything from root 0, one thing from each other. */
            for (int i = 0; i < MOVED; i++) {
                if (root > 0 && i != root % MOVED)
                    continue;
                broadcast(g, moved[i], root, later);
                gather(g, moved[i], root, later, (root + i) % 2);
                scatter(g, moved[i], root, later, (root + i) % 2);
            }
            for (int i = 0; i < REDUCED; i++)
                if (root == 0 || i == root % REDUCED)
                    reduce(g, reduced[i], root, later, (root + i) % 2);
            gather_scatter_v(g, root, later);
        }
        for (int in_place = 0; in_place < 2; in_place++) {
            for (int i = 0; i < MOVED; i++)
                all_gather(g, moved[i], later, in_place);
            for (int i = 0; i < REDUCED; i++)
                reduce_all(g, reduced[i], later, in_place);
            all_gather_v(g, later, in_place);
            all_to_all_v(g, later, in_place);
            all_to_all_w(g, later, in_place);
            reduce_scatter(g, later, in_place);
        }
    }
}

void few_intra(const struct group *g)
{
    const struct item x = {MPI_DOUBLE, 3, 24};

    barrier(g);
    for (int root = 0; root < g->size; root++) {
        broadcast(g, x, root, root % 2);
        gather_scatter_v(g, root, 1 - root % 2);
    }
    all_gather_v(g, 0, 1);
    reduce_scatter(g, 1, 0);
}

/* ---- two groups: the other side has R members ---- */

/* The root of a call whose root is member `root` of side `side`, as this process names it. */
static int root_argument(const struct group *g, int side, int root)
{
    if (g->side != side)
        return root;
    return g->rank == root ? MPI_ROOT : MPI_PROC_NULL;
}

static void rooted_inter(const struct group *g, int side, int root, int later)
{
    int argument = root_argument(g, side, root);
    int leaf = g->side != side, is_root = argument == MPI_ROOT, R = g->remote_size;
    int recorded = leaf ? g->remote[root] : is_root ? g->world[root] : -1;
    long n = 3 * 4;

    expect(named("Bcast", later), g, recorded, is_root ? R * n : 0, leaf ? n : 0);
    prepare();
    later ? MPI_Ibcast(in, 3, MPI_INT, argument, g->comm, &request)
          : MPI_Bcast(in, 3, MPI_INT, argument, g->comm);
    finish("inter bcast");
    expect(named("Gather", later), g, recorded, leaf ? n : 0, is_root ? R * n : 0);
    prepare();
    later ? MPI_Igather(out, 3, MPI_INT, in, 3, MPI_INT, argument, g->comm, &request)
          : MPI_Gather(out, 3, MPI_INT, in, 3, MPI_INT, argument, g->comm);
    finish("inter gather");
    expect(named("Scatter", later), g, recorded, is_root ? R * n : 0, leaf ? n : 0);
    prepare();
    later ? MPI_Iscatter(out, 3, MPI_INT, in, 3, MPI_INT, argument, g->comm, &request)
          : MPI_Scatter(out, 3, MPI_INT, in, 3, MPI_INT, argument, g->comm);
    finish("inter scatter");
    expect(named("Reduce", later), g, recorded, leaf ? n : 0, is_root ? R * n : 0);
    prepare();
    later ? MPI_Ireduce(out, in, 3, MPI_INT, MPI_SUM, argument, g->comm, &request)
          : MPI_Reduce(out, in, 3, MPI_INT, MPI_SUM, argument, g->comm);
    finish("inter reduce");
}

/* Leaf i gives or gets i + 1 ints. */
static void rooted_inter_v(const struct group *g, int side, int root, int later)
{
    int argument = root_argument(g, side, root);
    int leaf = g->side != side, is_root = argument == MPI_ROOT, R = g->remote_size;
    int recorded = leaf ? g->remote[root] : is_root ? g->world[root] : -1;
    int counts[MOST], offsets[MOST];
    long all = 0, mine = (g->rank + 1) * 4;

    for (int i = 0; i < R; i++) {
        counts[i] = i + 1;
        all += (i + 1) * 4;
    }
    spread(counts, offsets, R);
    expect(named("Gatherv", later), g, recorded, leaf ? mine : 0, is_root ? all : 0);
    prepare();
    later ? MPI_Igatherv(out, g->rank + 1, MPI_INT, in, counts, offsets, MPI_INT, argument, g->comm,
                         &request)
          : MPI_Gatherv(out, g->rank + 1, MPI_INT, in, counts, offsets, MPI_INT, argument, g->comm);
    finish("inter gatherv");
    expect(named("Scatterv", later), g, recorded, is_root ? all : 0, leaf ? mine : 0);
    prepare();
    later
        ? MPI_Iscatterv(out, counts, offsets, MPI_INT, in, g->rank + 1, MPI_INT, argument, g->comm,
                        &request)
        : MPI_Scatterv(out, counts, offsets, MPI_INT, in, g->rank + 1, MPI_INT, argument, g->comm);
    finish("inter scatterv");
}

/* Side 0 sends 2 of what side 1 sends 3 of. */
static void symmetric_inter(const struct group *g, int later)
{
    int R = g->remote_size, mine = 2 + g->side, theirs = 3 - g->side;

    expect(named("Allgather", later), g, -1, R * mine * 8L, R * theirs * 8L);
    prepare();
    later ? MPI_Iallgather(out, mine, MPI_DOUBLE, in, theirs, MPI_DOUBLE, g->comm, &request)
          : MPI_Allgather(out, mine, MPI_DOUBLE, in, theirs, MPI_DOUBLE, g->comm);
    finish("inter allgather");
    expect(named("Alltoall", later), g, -1, R * mine * 4L, R * theirs * 4L);
    prepare();
    later ? MPI_Ialltoall(out, mine, MPI_INT, in, theirs, MPI_INT, g->comm, &request)
          : MPI_Alltoall(out, mine, MPI_INT, in, theirs, MPI_INT, g->comm);
    finish("inter alltoall");
    expect(named("Allreduce", later), g, -1, R * 5 * 4L, R * 5 * 4L);
    prepare();
    later ? MPI_Iallreduce(out, in, 5, MPI_INT, MPI_SUM, g->comm, &request)
          : MPI_Allreduce(out, in, 5, MPI_INT, MPI_SUM, g->comm);
    finish("inter allreduce");
}

/* i of side s sends j (i + 2 j + s) % 4 ints; member i of side s gives i % 3 + s to all. */
static void symmetric_inter_v(const struct group *g, int later)
{
    int R = g->remote_size, q = g->rank, s = g->side, to[MOST], from[MOST], to_at[MOST];
    int from_at[MOST], bytes_at[MOST], mine = q % 3 + s, counts[MOST], offsets[MOST];
    long sent = 0, received = 0;
    MPI_Datatype types[MOST];

    for (int j = 0; j < R; j++) {
        to[j] = (q + 2 * j + s) % 4;
        from[j] = (j + 2 * q + 1 - s) % 4;
        counts[j] = j % 3 + 1 - s;
        types[j] = MPI_DOUBLE;
        bytes_at[j] = j * 64;
        sent += to[j];
        received += from[j];
    }
    spread(to, to_at, R);
    spread(from, from_at, R);
    spread(counts, offsets, R);
    expect(named("Alltoallv", later), g, -1, sent * 4, received * 4);
    prepare();
    later ? MPI_Ialltoallv(out, to, to_at, MPI_INT, in, from, from_at, MPI_INT, g->comm, &request)
          : MPI_Alltoallv(out, to, to_at, MPI_INT, in, from, from_at, MPI_INT, g->comm);
    finish("inter alltoallv");
    expect(named("Alltoallw", later), g, -1, sent * 8, received * 8);
    prepare();
    later ? MPI_Ialltoallw(out, to, bytes_at, types, in, from, bytes_at, types, g->comm, &request)
          : MPI_Alltoallw(out, to, bytes_at, types, in, from, bytes_at, types, g->comm);
    finish("inter alltoallw");
    expect(named("Allgatherv", later), g, -1, R * mine * 4L, sum_but(counts, R, -1) * 4);
    prepare();
    later ? MPI_Iallgatherv(out, mine, MPI_INT, in, counts, offsets, MPI_INT, g->comm, &request)
          : MPI_Allgatherv(out, mine, MPI_INT, in, counts, offsets, MPI_INT, g->comm);
    finish("inter allgatherv");
}

/* Both sides have vectors of P R (+ 2) ints: each member of one side gets R of the other's, P
 * there. */
static void scatter_inter(const struct group *g, int later)
{
    int P = g->size, R = g->remote_size, counts[MOST];

    for (int i = 0; i < P; i++)
        counts[i] = i == 0 ? R + 2 : R;
    expect(named("Reduce_scatter_block", later), g, -1, P * R * 4L, R * R * 4L);
    prepare();
    later ? MPI_Ireduce_scatter_block(out, in, R, MPI_INT, MPI_SUM, g->comm, &request)
          : MPI_Reduce_scatter_block(out, in, R, MPI_INT, MPI_SUM, g->comm);
    finish("inter reduce_scatter_block");
    expect(named("Reduce_scatter", later), g, -1, (P * R + 2) * 4L, R * counts[g->rank] * 4L);
    prepare();
    later ? MPI_Ireduce_scatter(out, in, counts, MPI_INT, MPI_SUM, g->comm, &request)
          : MPI_Reduce_scatter(out, in, counts, MPI_INT, MPI_SUM, g->comm);
    finish("inter reduce_scatter");
}

void all_inter(const struct group *g)
{
    barrier(g);
    for (int later = 0; later < 2; later++) {
        for (int side = 0; side < 2; side++) {
            int members = g->side == side ? g->size : g->remote_size;
            int fewer = g->size < g->remote_size ? g->size : g->remote_size;
            /* MPICH 4.0 fails on a non-blocking root beyond the size of the leaves' group. */
            for (int root = 0; root < (later ? fewer : members); root++) {
                rooted_inter(g, side, root, later);
                rooted_inter_v(g, side, root, later);
            }
        }
        symmetric_inter(g, later);
        symmetric_inter_v(g, later);
        scatter_inter(g, later);
    }
}

/* ---- neighbours ---- */

static int others(const int *list, int n, int self)
{
    int count = 0;

    for (int i = 0; i < n; i++)
        count += list[i] != MPI_PROC_NULL && list[i] != self;
    return count;
}

static void neighbours_same(const struct group *g, const struct neighbours *n, int later)
{
    long from = others(n->from, n->in, g->rank), to = others(n->to, n->out, g->rank);

    expect(named("Neighbor_allgather", later), g, -1, to * 24, from * 24);
    prepare();
    later ? MPI_Ineighbor_allgather(out, 2, vector, in, 6, MPI_INT, g->comm, &request)
          : MPI_Neighbor_allgather(out, 2, vector, in, 6, MPI_INT, g->comm);
    finish("neighbor_allgather");
    expect(named("Neighbor_alltoall", later), g, -1, to * 16, from * 16);
    prepare();
    later ? MPI_Ineighbor_alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, g->comm, &request)
          : MPI_Neighbor_alltoall(out, 2, MPI_DOUBLE, in, 2, MPI_DOUBLE, g->comm);
    finish("neighbor_alltoall");
}

/* Member i gives i % 3 ints to all its neighbours, or i to j (i + 2 j) % 3 of ints or doubles. */
static void neighbours_v(const struct group *g, const struct neighbours *n, int later)
{
    int q = g->rank, each[MOST], each_at[MOST], to[MOST], to_at[MOST], from[MOST], from_at[MOST];
    long given = 0, sent = 0, received = 0;

    for (int i = 0; i < n->in; i++) {
        int j = n->from[i], other = j != MPI_PROC_NULL && j != q;
        each[i] = j == MPI_PROC_NULL ? 5 : j % 3;
        from[i] = j == MPI_PROC_NULL ? 5 : (j + 2 * q) % 3;
        given += other ? each[i] * 4 : 0;
        received += other ? from[i] * 4 : 0;
    }
    for (int i = 0; i < n->out; i++) {
        int j = n->to[i];
        to[i] = j == MPI_PROC_NULL ? 5 : (q + 2 * j) % 3;
        sent += j != MPI_PROC_NULL && j != q ? to[i] * 4 : 0;
    }
    spread(each, each_at, n->in);
    spread(from, from_at, n->in);
    spread(to, to_at, n->out);
    expect(named("Neighbor_allgatherv", later), g, -1, others(n->to, n->out, q) * (q % 3) * 4L,
           given);
    prepare();
    later ? MPI_Ineighbor_allgatherv(out, q % 3, MPI_INT, in, each, each_at, MPI_INT, g->comm,
                                     &request)
          : MPI_Neighbor_allgatherv(out, q % 3, MPI_INT, in, each, each_at, MPI_INT, g->comm);
    finish("neighbor_allgatherv");
    expect(named("Neighbor_alltoallv", later), g, -1, sent, received);
    prepare();
    later ? MPI_Ineighbor_alltoallv(out, to, to_at, MPI_INT, in, from, from_at, MPI_INT, g->comm,
                                    &request)
          : MPI_Neighbor_alltoallv(out, to, to_at, MPI_INT, in, from, from_at, MPI_INT, g->comm);
    finish("neighbor_alltoallv");
}

static void neighbours_w(const struct group *g, const struct neighbours *n, int later)
{
    int q = g->rank, to[MOST], from[MOST];
    MPI_Datatype to_types[MOST], from_types[MOST];
    MPI_Aint at[MOST];
    long sent = 0, received = 0;

    for (int i = 0; i < MOST; i++)
        at[i] = i * 64;
    for (int i = 0; i < n->in; i++) {
        int j = n->from[i], even = (q + j) % 2 == 0;
        from[i] = j == MPI_PROC_NULL ? 1 : (j + 2 * q) % 3;
        from_types[i] = even ? MPI_INT : MPI_DOUBLE;
        received += j != MPI_PROC_NULL && j != q ? from[i] * (even ? 4L : 8L) : 0;
    }
    for (int i = 0; i < n->out; i++) {
        int j = n->to[i], even = (q + j) % 2 == 0;
        to[i] = j == MPI_PROC_NULL ? 1 : (q + 2 * j) % 3;
        to_types[i] = even ? MPI_INT : MPI_DOUBLE;
        sent += j != MPI_PROC_NULL && j != q ? to[i] * (even ? 4L : 8L) : 0;
    }
    expect(named("Neighbor_alltoallw", later), g, -1, sent, received);
    prepare();
    later ? MPI_Ineighbor_alltoallw(out, to, at, to_types, in, from, at, from_types, g->comm,
                                    &request)
          : MPI_Neighbor_alltoallw(out, to, at, to_types, in, from, at, from_types, g->comm);
    finish("neighbor_alltoallw");
}

void all_neighbours(const struct group *g, const struct neighbours *n)
{
    for (int later = 0; later < 2; later++) {
        neighbours_same(g, n, later);
        neighbours_v(g, n, later);
        neighbours_w(g, n, later);
    }
}
