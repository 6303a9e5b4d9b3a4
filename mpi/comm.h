/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * comm: who a communicator is. Each has a 128-bit key that all its members compute alike without
 * talking to each other (parent's key, how many were made from that parent before, first member), a
 * rank-local number for the hot path, its members as world ranks, parent and name. Live handles are
 * found in a table without a lock; an attribute on every communicator tells when one goes and what
 * a duplicate comes from, whoever frees or duplicates it. Publication turns keys into the file's
 * ids. Calls PMPI_ only.
 */
#ifndef SC_COMM_H
#define SC_COMM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sc_neighbours;

struct sc_comm_key {
    uint64_t word[2];
};

/* A communicator that something was recorded on, or a parent of one. Lives as long as the process.
 */
struct sc_comm {
    struct sc_comm_key key;
    int32_t number;
    int32_t parent;      /* number, always a lower one; -1 none */
    int32_t size;        /* ranks of the local group */
    int32_t rank;        /* this rank's in it */
    int32_t remote_size; /* 0: intra-communicator */
    /* World rank of each member of the local group, -1 for one of another world; NULL: the same as
     * its rank. */
    const int32_t *world_ranks;
    const int32_t *remote_world_ranks; /* NULL if none */
    char *name; /* "" if none; as last seen: at first use, at set_name, at free, at refresh */
    struct sc_neighbours *neighbours; /* sc_comm_neighbours() */
};

/* How a communicator came about. Values are part of the key. */
enum sc_comm_kind {
    SC_COMM_UNSEEN,
    SC_COMM_WORLD,
    SC_COMM_SELF,
    SC_COMM_DUP,    /* noticed by the attribute's copy callback */
    SC_COMM_CHILD,  /* all members of the parent take part: split, create, cart, merge, spawn... */
    SC_COMM_MEETING /* only the new one's members do: create_group, intercomm_create, connect... */
};

/* Any thread. Begins to follow communicators (once); MPI must be usable. 0, SC_ENOMEM or SC_EMPI.
 */
int sc_comm_open(void);

/* Not 0 between sc_comm_open() and sc_comm_close(). */
extern int sc_comm_is_followed;

/* Before PMPI_Finalize: handles mean nothing from here on; what numbers mean stays. */
void sc_comm_close(void);

/* Any thread. A communicator of the library's own: it and what is made from it gets no number. */
void sc_comm_hide(MPI_Comm comm);

/* Hot path. Any thread. The communicator of a live, valid handle; NULL: none, or no memory. Its
 * first call per handle asks MPI about the members. */
const struct sc_comm *sc_comm_find(MPI_Comm comm);
int32_t sc_comm_number(MPI_Comm comm); /* -1: none */

/* Any thread. The number of a handle that may be invalid; -1 as well if it was never recorded on.
 */
int32_t sc_comm_known(MPI_Comm comm);

/* Any thread, on a communicator that was found before; NULL: it has no topology, or no memory. */
const struct sc_neighbours *sc_comm_neighbours(MPI_Comm comm);

/*
 * Any thread. Before and after every call that makes a communicator, recorded or not, successful
 * (rc) or not; keeps errno. parent: MPI_COMM_NULL if none. comm: the new one, looked at on success
 * only; NULL: not known yet. The tag tells meetings of the same processes apart.
 */
void sc_comm_making(enum sc_comm_kind kind);
void sc_comm_made(int rc, enum sc_comm_kind kind, MPI_Comm parent, const MPI_Comm *comm, int tag);

/* Any thread. The name may be another one now; nothing happens to a handle never recorded on. */
void sc_comm_renamed(MPI_Comm comm);
void sc_comm_refresh(void); /* the same for all live ones: before publication */

/* Hot path. Any thread. What a number means; lent for the life of the process. */
const struct sc_comm *sc_comm_get(int32_t number);
int32_t sc_comm_count(void); /* numbers are 0 .. count-1; 0 is MPI_COMM_WORLD, 1 MPI_COMM_SELF */

/* World rank of the other end of a message on it; -1 for a rank that is none, or of another world.
 */
static inline int32_t sc_comm_peer(const struct sc_comm *c, int rank)
{
    if (rank < 0)
        return -1;
    if (c->remote_size > 0)
        return rank < c->remote_size ? c->remote_world_ranks[rank] : -1;
    if (rank >= c->size)
        return -1;
    return c->world_ranks == NULL ? rank : c->world_ranks[rank];
}

/* World rank of a member; -1 for a rank that is none (MPI_PROC_NULL, MPI_UNDEFINED). */
static inline int32_t sc_comm_world_rank(const struct sc_comm *c, int rank)
{
    if (rank < 0 || rank >= c->size)
        return -1;
    return c->world_ranks == NULL ? rank : c->world_ranks[rank];
}

#endif
