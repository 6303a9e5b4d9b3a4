/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * handles: the live communicators by handle. Looking one up takes no lock and may happen while
 * others come and go; all changes are made by comm.c under one lock. Knows no MPI.
 */
#ifndef SC_HANDLES_H
#define SC_HANDLES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "comm.h"

/* A live communicator. Entries are recycled, but their memory stays what it is: a lookup may read
 * one that has just gone. */
struct sc_entry {
    atomic_uint_least64_t handle;   /* 0: none, or not known yet */
    _Atomic(struct sc_comm *) comm; /* NULL until something is recorded on it */
    struct sc_comm_key key;         /* what the keys of its children begin with */
    int32_t parent;
    uint32_t children; /* constructor calls so far */
    bool is_ours;      /* the library's own, or made from it: never recorded */
    struct sc_entry *next_free;
};

/* Hot path. Any thread. May miss an entry that another thread is moving, which a second look under
 * the lock does not; never gives a wrong one. */
struct sc_entry *sc_handles_find(uint64_t handle);

/* All that follow: under the caller's lock. */

struct sc_entry *sc_handles_new(void); /* not in the table yet; NULL: no memory */
void sc_handles_free(struct sc_entry *e);

/* Makes the handle lead to e, whatever it led to before. Without memory for that nothing happens.
 */
void sc_handles_insert(struct sc_entry *e, uint64_t handle);

/* The table is empty: entries stay as they are, but cannot be found any more. */
void sc_handles_clear(void);

/* All handles in the table, *count of them, to be freed; NULL: none, or no memory. */
uint64_t *sc_handles_list(size_t *count);

#endif
