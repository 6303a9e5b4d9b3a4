/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What the parts of the test of one-sided communication and files share:
 * onesided_io.c has ranks, types and what is expected, windows.c moves data
 * through windows, files.c through files. None knows the profiler. The bytes of
 * each call stand in tables, as numbers.
 */
#ifndef ONESIDED_IO_H
#define ONESIDED_IO_H

#include <mpi.h>
#include <stdio.h>

/* Large-count twins, where there are some. */
#if MPI_VERSION >= 4
enum { TWINS = 2 };
#define EITHER(routine, ...) (large ? routine##_c(__VA_ARGS__) : routine(__VA_ARGS__))
#else
enum { TWINS = 1 };
#define EITHER(routine, ...) ((void)large, routine(__VA_ARGS__))
#endif

enum { MOST = 3, ROOM = 4096 };

enum kind {
    INTS,
    LONGS,
    DOUBLES,
    SHORTS,
    CHARS,
    GAPS,   /* 3 ints with gaps of one: 12 bytes that take 20 */
    FIVE,   /* 5 chars */
    SPREAD, /* an int that takes 64 bytes */
    MIXED,  /* a char and a double: 9 bytes that take 16 */
    KINDS
};

/* A communicator; world: its members, as ranks of MPI_COMM_WORLD. */
struct team {
    const char *name;
    MPI_Comm comm;
    int rank, size; /* rank -1: not in it */
    int world[MOST];
};

extern MPI_Datatype types[KINDS];
extern int world_rank, world_size;
extern struct team world, reversed, upper, self;
extern char out[ROOM], in[ROOM];

/* A file or window, before the first call on it that is expected; kind: "file"
 * or "window". */
void describe(const char *object, const char *kind, const struct team *t);

/* A call on an object (NULL: none) that moves nothing and counts as no
 * operation; peer -1: none. */
void call(const char *routine, const char *object, int peer);
/* An operation; starts: it makes a request. */
void moved(const char *routine, const char *object, int peer, long sent, long received, int starts);
/* The end of an operation that was counted when it began. */
void ended(const char *routine, const char *object, long sent, long received);
/* A call that must have failed with rc. */
void failed(const char *routine, int rc);

/* The name of a routine, or of its twin. */
const char *named(const char *routine, int large);
/* What a call delivered: the same with the profiler and without. is_whole 0: what lies in the
 * buffer behind the bytes that were there is up to MPI. */
void delivered(const char *routine, long bytes, int is_whole);
void wrong(const char *what, const char *routine, long have, long want);

void use_windows(void);
void use_files(void);

#endif
