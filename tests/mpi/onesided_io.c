/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * onesided_io PREFIX: every routine that moves data through a window or a file.
 * Writes PREFIX.RANK.expect, what a profile must say of each call, and
 * PREFIX.RANK.result, what the calls delivered.
 */
#include "onesided_io.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

MPI_Datatype types[KINDS];
int world_rank, world_size;
char out[ROOM], in[ROOM];
struct team world = {.name = "MPI_COMM_WORLD", .world = {0, 1, 2}};
struct team self = {.name = "MPI_COMM_SELF"};
struct team reversed = {.name = "reversed"}; /* all */
struct team upper = {.name = "upper"};       /* without rank 0, the last one first */

static const int reversed_members[MOST + 1][MOST] = {[2] = {1, 0}, [3] = {2, 1, 0}};
static const int upper_members[MOST + 1][MOST] = {[2] = {1}, [3] = {2, 1}};

static FILE *expected, *result;
static long requests;
static int failures;

/* ---- what a profile must say ---- */

static void print_text(const char *key, const char *text)
{
    if (text == NULL)
        fprintf(expected, ", \"%s\": null", key);
    else
        fprintf(expected, ", \"%s\": \"%s\"", key, text);
}

static void print_call(const char *routine, const char *object, int peer, long sent, long received,
                       int operations, long request, int error)
{
    fprintf(expected, "{\"call\": \"MPI_%s\"", routine);
    print_text("object", object);
    fprintf(expected,
            ", \"peer\": %d, \"sent\": %ld, \"received\": %ld, \"operations\": "
            "%d, \"request\": %ld"
            ", \"error\": %d}\n",
            peer, sent, received, operations, request, error);
}

void describe(const char *object, const char *kind, const struct team *t)
{
    fprintf(expected, "{\"kind\": \"%s\"", kind);
    print_text("object", object);
    print_text("comm", t->name);
    fprintf(expected, "}\n");
}

void call(const char *routine, const char *object, int peer)
{
    print_call(routine, object, peer, 0, 0, 0, -1, MPI_SUCCESS);
}

void moved(const char *routine, const char *object, int peer, long sent, long received, int starts)
{
    print_call(routine, object, peer, sent, received, 1, starts ? requests++ : -1, MPI_SUCCESS);
}

void ended(const char *routine, const char *object, long sent, long received)
{
    print_call(routine, object, -1, sent, received, 0, -1, MPI_SUCCESS);
}

void failed(const char *routine, int rc)
{
    if (rc == MPI_SUCCESS)
        wrong("should have failed", routine, rc, 1);
    print_call(routine, NULL, -1, 0, 0, 0, -1, rc);
}

const char *named(const char *routine, int large)
{
    static char text[64];

    if (!large)
        return routine;
    snprintf(text, sizeof text, "%s_c", routine);
    return text;
}

void delivered(const char *routine, long bytes, int is_whole)
{
    unsigned long sum = 0;

    for (int i = 0; i < ROOM && is_whole; i++)
        sum = sum * 31 + (unsigned char)in[i];
    fprintf(result, "%s %ld %lx\n", routine, bytes, sum);
}

void wrong(const char *what, const char *routine, long have, long want)
{
    printf("rank %d: %s: %s: %ld, expected %ld\n", world_rank, routine, what, have, want);
    failures++;
}

/* ---- types and communicators ---- */

static void make_types(void)
{
    int lengths[2] = {1, 1};
    MPI_Aint places[2] = {0, 8};
    MPI_Datatype members[2] = {MPI_CHAR, MPI_DOUBLE};

    types[INTS] = MPI_INT;
    types[LONGS] = MPI_LONG;
    types[DOUBLES] = MPI_DOUBLE;
    types[SHORTS] = MPI_SHORT;
    types[CHARS] = MPI_CHAR;
    MPI_Type_vector(3, 1, 2, MPI_INT, &types[GAPS]);
    MPI_Type_contiguous(5, MPI_CHAR, &types[FIVE]);
    MPI_Type_create_resized(MPI_INT, 0, 64, &types[SPREAD]);
    MPI_Type_create_struct(2, lengths, places, members, &types[MIXED]);
    for (int i = GAPS; i < KINDS; i++)
        MPI_Type_commit(&types[i]);
}

static void enter(struct team *t, const int *members)
{
    t->rank = -1;
    if (t->comm == MPI_COMM_NULL)
        return;
    MPI_Comm_rank(t->comm, &t->rank);
    MPI_Comm_size(t->comm, &t->size);
    for (int i = 0; i < t->size; i++)
        t->world[i] = members[i];
    if (t != &self && t != &world)
        MPI_Comm_set_name(t->comm, t->name);
}

static void make_teams(void)
{
    world.comm = MPI_COMM_WORLD;
    self.comm = MPI_COMM_SELF;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed.comm);
    MPI_Comm_split(MPI_COMM_WORLD, world_rank > 0 ? 0 : MPI_UNDEFINED, -world_rank, &upper.comm);
    enter(&world, world.world);
    enter(&self, &world_rank);
    enter(&reversed, reversed_members[world_size]);
    enter(&upper, upper_members[world_size]);
}

static FILE *create(const char *prefix, const char *what)
{
    char path[1000];
    FILE *f;

    snprintf(path, sizeof path, "%s.%d.%s", prefix, world_rank, what);
    f = fopen(path, "w");
    if (f == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    return f;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size);
    if (argc != 2 || world_size < 2 || world_size > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    expected = create(argv[1], "expect");
    result = create(argv[1], "result");
    for (int i = 0; i < ROOM; i++)
        out[i] = (char)((i + world_rank) % 7);
    make_types();
    make_teams();
    use_windows();
    use_files();
    for (int i = GAPS; i < KINDS; i++)
        MPI_Type_free(&types[i]);
    MPI_Comm_free(&reversed.comm);
    if (upper.comm != MPI_COMM_NULL)
        MPI_Comm_free(&upper.comm);
    fclose(expected);
    fclose(result);
    MPI_Finalize();
    return failures > 0;
}
