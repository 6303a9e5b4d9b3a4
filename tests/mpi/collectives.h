/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What the two halves of the collectives test share: communicators.c makes communicators of every
 * kind and knows who is in them, collectives.c calls collectives on them. Neither knows the
 * profiler.
 */
#ifndef COLLECTIVES_H
#define COLLECTIVES_H

#include <mpi.h>
#include <stdio.h>

enum { MOST = 16 };

/* A communicator under test. */
struct group {
    const char *label;
    MPI_Comm comm;
    int rank, size;
    int world[MOST];  /* world rank of each member */
    int remote_size;  /* 0: intra-communicator */
    int remote[MOST]; /* world ranks of the other side */
    int side;         /* 0 or 1, of an inter-communicator */
};

/* Of a rank in a communicator with a topology, in MPI's order: MPI_PROC_NULL where there is none.
 */
struct neighbours {
    int in, out;
    int from[MOST], to[MOST];
};

extern int world_rank;
extern int any_order;  /* not 0: the order of what is received is up to MPI */
extern FILE *expected; /* one JSON object per line: what a profile must say */
extern FILE *result;   /* what the calls delivered */

/* A call of the routine ("Bcast") with what a profile must say of it; g NULL: no communicator. */
void expect(const char *routine, const struct group *g, int root, long sent, long received);

/* A communicator this process is in, with the label of the one it was made from (or NULL). */
void describe(const struct group *g, const char *parent, const char *name);

void make_types(void);
void free_types(void);

void barrier(const struct group *g);
void all_intra(const struct group *g);
void few_intra(const struct group *g);
void all_inter(const struct group *g);
void all_neighbours(const struct group *g, const struct neighbours *n);

#endif
