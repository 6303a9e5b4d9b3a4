/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * collectives PREFIX: makes communicators in every way of MPI 3.1, has collectives called on them,
 * and writes PREFIX.<rank>.expect and PREFIX.<rank>.result; see collectives.h.
 */
#include "collectives.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int ranks;
static struct group world = {.label = "world", .comm = MPI_COMM_WORLD};
static struct group self = {.label = "self", .comm = MPI_COMM_SELF};

/* The group of those i in [first, size) at that stride, as world ranks; descending if so asked. */
static struct group members(const char *label, int first, int stride, int descending)
{
    struct group g = {.label = label, .rank = -1};

    for (int i = first; i < ranks; i += stride)
        g.world[g.size++] = i;
    for (int i = 0; descending && i < g.size / 2; i++) {
        int swap = g.world[i];
        g.world[i] = g.world[g.size - 1 - i];
        g.world[g.size - 1 - i] = swap;
    }
    for (int i = 0; i < g.size; i++)
        if (g.world[i] == world_rank)
            g.rank = i;
    return g;
}

static struct group everyone(const char *label)
{
    return members(label, 0, 1, 0);
}

static void free_group(struct group *g)
{
    expect("Comm_free", g, -1, 0, 0);
    MPI_Comm_free(&g->comm);
}

/* ---- ways to make an intra-communicator ---- */

static void duplicates(void)
{
    struct group dup = everyone("dup"), again = everyone("dup of dup"), later = everyone("idup");
    MPI_Request request;

    expect("Comm_dup", &world, -1, 0, 0);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup.comm);
    describe(&dup, "world", "a dup");
    MPI_Comm_set_name(dup.comm, "not yet");
    barrier(&dup);
    MPI_Comm_set_name(dup.comm, "a dup");
    expect("Comm_dup_with_info", &dup, -1, 0, 0);
    MPI_Comm_dup_with_info(dup.comm, MPI_INFO_NULL, &again.comm);
    describe(&again, "dup", "");
    barrier(&again);
    expect("Comm_idup", &again, -1, 0, 0);
    MPI_Comm_idup(again.comm, &later.comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    describe(&later, "dup of dup", "");
    free_group(&again);
    barrier(&later);
    free_group(&dup);
    few_intra(&later);
    free_group(&later);
}

/* Evens and odds, in reverse order. */
static struct group split(void)
{
    struct group half = members(world_rank % 2 == 0 ? "evens" : "odds", world_rank % 2, 2, 1);

    expect("Comm_split", &world, -1, 0, 0);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &half.comm);
    describe(&half, "world", "");
    all_intra(&half);
    return half;
}

/* Some ranks get none; those of one node are all of them here. */
static void split_in_part(void)
{
    struct group g = members("all but 0", 1, 1, 0), node = everyone("node");

    expect("Comm_split", &world, -1, 0, 0);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0 ? MPI_UNDEFINED : 7, 0, &g.comm);
    if (world_rank > 0) {
        describe(&g, "world", "");
        barrier(&g);
        free_group(&g);
    }
    expect("Comm_split_type", &world, -1, 0, 0);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node.comm);
    describe(&node, "world", "");
    barrier(&node);
    free_group(&node);
}

static void create_from_groups(void)
{
    struct group evens = members("created", 0, 2, 0), of_group = members("of group", 0, 2, 0);
    struct group twice = members("of group twice", 0, 2, 0),
                 tagged = members("of group 9", 0, 2, 0);
    MPI_Group all, some;

    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Group_incl(all, evens.size, evens.world, &some);
    expect("Comm_create", &world, -1, 0, 0);
    MPI_Comm_create(MPI_COMM_WORLD, some, &evens.comm);
    if (evens.rank >= 0) {
        describe(&evens, "world", "");
        barrier(&evens);
        expect("Comm_create_group", &world, -1, 0, 0);
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &of_group.comm);
        describe(&of_group, "world", "");
        expect("Comm_create_group", &world, -1, 0, 0);
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &twice.comm);
        describe(&twice, "world", "");
        expect("Comm_create_group", &world, -1, 0, 0);
        MPI_Comm_create_group(MPI_COMM_WORLD, some, 9, &tagged.comm);
        describe(&tagged, "world", "");
        barrier(&tagged);
        barrier(&twice);
        barrier(&of_group);
        free_group(&of_group);
        free_group(&twice);
        free_group(&tagged);
        free_group(&evens);
    }
    MPI_Group_free(&some);
    MPI_Group_free(&all);
}

/* The same handle may come back every time, on some ranks only. What is never used has no row. */
static void made_and_freed(void)
{
    static const char *const labels[] = {"low 0", "low 1", "low 2", "high 0", "high 1", "high 2"};
    struct group own = {.label = "self's child", .size = 1, .world = {world_rank}};
    static char label[32];

    for (int i = 0; i < 3; i++) {
        int split_at = i, high = world_rank > split_at;
        struct group g = high ? members(labels[3 + i], split_at + 1, 1, 0) : members("", 0, 1, 0);
        if (!high) {
            g.label = labels[i];
            g.size = split_at + 1 < ranks ? split_at + 1 : ranks;
        }
        expect("Comm_split", &world, -1, 0, 0);
        MPI_Comm_split(MPI_COMM_WORLD, high, 0, &g.comm);
        describe(&g, "world", "");
        barrier(&g);
        free_group(&g);
    }
    for (int i = 0; i < 100 * (world_rank + 1); i++) {
        MPI_Comm unused;
        expect("Comm_split", &self, -1, 0, 0);
        MPI_Comm_split(MPI_COMM_SELF, 0, 0, &unused);
        expect("Comm_free", NULL, -1, 0, 0);
        MPI_Comm_free(&unused);
    }
    expect("Comm_dup", &self, -1, 0, 0);
    MPI_Comm_dup(MPI_COMM_SELF, &own.comm);
    snprintf(label, sizeof label, "self's child %d", world_rank);
    own.label = label;
    describe(&own, "self", "");
    barrier(&own);
    expect("Comm_disconnect", &own, -1, 0, 0);
    MPI_Comm_disconnect(&own.comm);
}

/* ---- inter-communicators ---- */

static void inter(struct group *half)
{
    struct group both = members("inter", world_rank % 2, 2, 1), again, dup, merged;
    struct group other = members("", 1 - world_rank % 2, 2, 1);

    both.side = world_rank % 2;
    both.remote_size = other.size;
    memcpy(both.remote, other.world, sizeof other.world);
    again = dup = both;
    again.label = "inter again";
    dup.label = "inter's dup";
    expect("Intercomm_create", half, -1, 0, 0);
    MPI_Intercomm_create(half->comm, 0, MPI_COMM_WORLD, other.world[0], 3, &both.comm);
    describe(&both, NULL, "");
    all_inter(&both);
    expect("Intercomm_create", half, -1, 0, 0);
    MPI_Intercomm_create(half->comm, 0, MPI_COMM_WORLD, other.world[0], 3, &again.comm);
    describe(&again, NULL, "");
    barrier(&again);
    expect("Comm_dup", &both, -1, 0, 0);
    MPI_Comm_dup(both.comm, &dup.comm);
    describe(&dup, "inter", "");
    barrier(&dup);
    /* Odds come first. */
    merged = members("merged", 1, 2, 1);
    other = members("", 0, 2, 1);
    memcpy(merged.world + merged.size, other.world, (size_t)other.size * sizeof(int));
    for (int i = 0; i < other.size; i++)
        if (other.world[i] == world_rank)
            merged.rank = merged.size + i;
    merged.size += other.size;
    expect("Intercomm_merge", &both, -1, 0, 0);
    MPI_Intercomm_merge(both.comm, world_rank % 2 == 0, &merged.comm);
    describe(&merged, "inter", "");
    few_intra(&merged);
    free_group(&merged);
    free_group(&dup);
    free_group(&again);
    free_group(&both);
}

/* ---- topologies ---- */

static int around(int i)
{
    return (i % ranks + ranks) % ranks;
}

static int or_none(int i)
{
    return i < 0 || i >= ranks ? MPI_PROC_NULL : i;
}

static void cart(void)
{
    struct group ring = everyone("ring"), sheet = everyone("sheet");
    struct group line = {.label = "", .size = 1, .world = {world_rank}};
    static char label[32];
    int r = world_rank, dims[2] = {ranks, 1}, round[2] = {1, 1}, open[2] = {0, 1};
    int keep[2] = {0, 1};
    struct neighbours in_ring = {
        2, 2, {around(r - 1), around(r + 1)}, {around(r - 1), around(r + 1)}};
    struct neighbours in_sheet = {
        4, 4, {or_none(r - 1), or_none(r + 1), r, r}, {or_none(r - 1), or_none(r + 1), r, r}};

    expect("Cart_create", &world, -1, 0, 0);
    MPI_Cart_create(MPI_COMM_WORLD, 1, dims, round, 0, &ring.comm);
    describe(&ring, "world", "");
    all_neighbours(&ring, &in_ring);
    expect("Cart_create", &ring, -1, 0, 0);
    MPI_Cart_create(ring.comm, 2, dims, open, 0, &sheet.comm);
    describe(&sheet, "ring", "");
    all_neighbours(&sheet, &in_sheet);
    expect("Cart_sub", &sheet, -1, 0, 0);
    MPI_Cart_sub(sheet.comm, keep, &line.comm);
    snprintf(label, sizeof label, "line %d", r);
    line.label = label;
    describe(&line, "sheet", "");
    barrier(&line);
    free_group(&line);
    free_group(&sheet);
    free_group(&ring);
}

/* A star: 0 is everybody's neighbour. */
static void graph(void)
{
    struct group star = everyone("star");
    struct neighbours n = {0};
    int ends[MOST], edges[2 * MOST], count = 0;

    for (int i = 0; i < ranks; i++) {
        for (int j = i == 0 ? 1 : 0; j < (i == 0 ? ranks : 1); j++)
            edges[count++] = j;
        ends[i] = count;
    }
    for (int j = world_rank == 0 ? 1 : 0; j < (world_rank == 0 ? ranks : 1); j++)
        n.from[n.in++] = j;
    n.out = n.in;
    memcpy(n.to, n.from, sizeof n.to);
    expect("Graph_create", &world, -1, 0, 0);
    MPI_Graph_create(MPI_COMM_WORLD, ranks, ends, edges, 0, &star.comm);
    describe(&star, "world", "");
    all_neighbours(&star, &n);
    free_group(&star);
}

/* Not symmetric, with itself as a neighbour, and with more neighbours than ranks when there are
 * few. */
static void dist_graph(void)
{
    struct group near = everyone("adjacent"), far = everyone("distributed");
    int r = world_rank, degree = 2, targets[2] = {around(r + 1), around(r + 3)};
    struct neighbours n = {
        3, 3, {around(r - 1), r, around(r - 2)}, {around(r + 1), r, around(r + 2)}};
    int weights[3] = {1, 1, 1};
    struct neighbours m = {0};

    expect("Dist_graph_create_adjacent", &world, -1, 0, 0);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, n.in, n.from, weights, n.out, n.to, weights,
                                   MPI_INFO_NULL, 0, &near.comm);
    describe(&near, "world", "");
    all_neighbours(&near, &n);
    expect("Dist_graph_create", &near, -1, 0, 0);
    MPI_Dist_graph_create(near.comm, 1, &r, &degree, targets, weights, MPI_INFO_NULL, 0, &far.comm);
    describe(&far, "adjacent", "");
    /* The order of the neighbours is MPI's choice; who they are is not. */
    m.in = m.out = 2;
    MPI_Dist_graph_neighbors(far.comm, 2, m.from, weights, 2, m.to, weights);
    any_order = 1;
    all_neighbours(&far, &m);
    any_order = 0;
    free_group(&far);
    free_group(&near);
}

/* ---- errors, errno, calls within calls, pauses ---- */

static void errors(void)
{
    int data = 1, rc, class = -1; /* MPICH's codes differ from run to run, classes do not */

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    expect("Bcast", NULL, -1, 0, 0);
    rc = MPI_Bcast(&data, 1, MPI_INT, ranks + 5, MPI_COMM_WORLD);
    MPI_Error_class(rc, &class);
    fprintf(result, "bad root: class %d is MPI_ERR_ROOT %d\n", class, MPI_ERR_ROOT);
    expect("Allreduce", NULL, -1, 0, 0);
    rc = MPI_Allreduce(&data, &data + 1, 1, MPI_DATATYPE_NULL, MPI_SUM, MPI_COMM_WORLD);
    MPI_Error_class(rc, &class);
    fprintf(result, "no type: class %d\n", class);
    expect("Comm_dup", NULL, -1, 0, 0);
    rc = MPI_Comm_dup(MPI_COMM_NULL, NULL);
    MPI_Error_class(rc, &class);
    fprintf(result, "no communicator: class %d\n", class);
    expect("Comm_split", NULL, -1, 0, 0);
    rc = MPI_Comm_split(MPI_COMM_NULL, 0, 0, NULL);
    MPI_Error_class(rc, &class);
    fprintf(result, "no communicator: class %d\n", class);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    for (int i = 0; i < 3; i++) {
        expect("Bcast", &self, world_rank, 0, 0);
        errno = 1000 + i;
        rc = MPI_Bcast(&data, 1, MPI_INT, 0, MPI_COMM_SELF);
        fprintf(result, "errno %d\n", errno);
    }
}

/* Calls MPI inside a call of MPI: only the outer one is a call of the program. */
static void largest(void *a, void *b, int *n, MPI_Datatype *type)
{
    int one = 1, all;

    (void)type;
    for (int i = 0; i < *n; i++)
        if (((int *)a)[i] > ((int *)b)[i])
            ((int *)b)[i] = ((int *)a)[i];
    MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void nested(void)
{
    int mine = world_rank, all = -1;
    MPI_Op op;

    MPI_Op_create(largest, 1, &op);
    expect("Allreduce", &world, -1, (ranks - 1) * 4, (ranks - 1) * 4);
    MPI_Allreduce(&mine, &all, 1, MPI_INT, op, MPI_COMM_WORLD);
    fprintf(result, "largest %d\n", all);
    MPI_Op_free(&op);
    MPI_Pcontrol(0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Pcontrol(1);
}

static void open_files(const char *prefix)
{
    char path[512];

    snprintf(path, sizeof path, "%s.%d.expect", prefix, world_rank);
    expected = fopen(path, "w");
    snprintf(path, sizeof path, "%s.%d.result", prefix, world_rank);
    result = fopen(path, "w");
    if (expected == NULL || result == NULL) {
        fprintf(stderr, "collectives: cannot write %s\n", path);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

int main(int argc, char **argv)
{
    struct group half;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    open_files(argc > 1 ? argv[1] : "collectives");
    world = everyone("world");
    world.comm = MPI_COMM_WORLD;
    self.size = 1;
    self.world[0] = world_rank;
    expect("Init", &world, -1, 0, 0);
    describe(&world, NULL, "MPI_COMM_WORLD");
    make_types();
    all_intra(&world);
    all_intra(&self);
    half = split();
    split_in_part();
    duplicates();
    create_from_groups();
    made_and_freed();
    if (ranks > 1)
        inter(&half);
    free_group(&half);
    cart();
    graph();
    dist_graph();
    errors();
    nested();
    free_types();
    expect("Finalize", &world, -1, 0, 0);
    fclose(expected);
    fclose(result);
    return MPI_Finalize();
}
