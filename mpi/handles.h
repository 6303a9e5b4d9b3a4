/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * handles: live things of MPI by handle. Looking one up takes no lock and may happen while others
 * come and go; all changes of a table are made by its owner under one lock. Knows no MPI.
 */
#ifndef SC_HANDLES_H
#define SC_HANDLES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* What every entry begins with. Entries are recycled, but their memory stays what it is: a lookup
 * may read one that has just gone. */
struct sc_handle {
    atomic_uint_least64_t handle; /* 0: none, or not known yet */
    struct sc_handle *next_free;
};

struct sc_handles_table;

struct sc_handles {
    size_t entry_size; /* to be set; the rest begins as 0 */
    size_t live;
    _Atomic(struct sc_handles_table *) table; /* outgrown ones stay: a lookup may be in there */
    struct sc_handle *free_entries;
};

/* Hot path. Any thread. May miss an entry that another thread is moving, which a second look under
 * the lock does not; never gives a wrong one. */
struct sc_handle *sc_handles_find(struct sc_handles *all, uint64_t handle);

/* All that follow: under the owner's lock. */

struct sc_handle *sc_handles_new(
    struct sc_handles *all); /* not in the table yet; NULL: no memory */
void sc_handles_free(struct sc_handles *all, struct sc_handle *e);

/* Makes the handle lead to e, whatever it led to before. Without memory for that nothing happens.
 */
void sc_handles_insert(struct sc_handles *all, struct sc_handle *e, uint64_t handle);

/* The table is empty: entries stay as they are, but cannot be found any more. */
void sc_handles_clear(struct sc_handles *all);

/* All handles in the table, *count of them, to be freed; NULL: none, or no memory. */
uint64_t *sc_handles_list(struct sc_handles *all, size_t *count);

#endif
