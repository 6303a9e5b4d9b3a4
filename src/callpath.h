/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * callpath: replays lanes in time order and keeps, per call path, exact calls, total, exclusive,
 * minimum and maximum, and the totals of operations (totals.h). A replay can stop and go on where
 * it stopped, so full operation blocks can be consumed while the run goes on. Times are in ns.
 * Owner thread while recording, the draining thread afterwards.
 */
#ifndef SC_CALLPATH_H
#define SC_CALLPATH_H

#include <stddef.h>
#include <stdint.h>

struct sc_callpath;
struct sc_thread;
struct sc_totals;

struct sc_path {
    int32_t parent; /* index of a lower path, -1 outermost */
    uint32_t region;
    uint64_t calls;
    int64_t total, exclusive, minimum, maximum;
};

/* NULL: no memory. */
struct sc_callpath *sc_callpath_create(void);
void sc_callpath_free(struct sc_callpath *cp);

/* Consumes what t's lanes hold beyond what was consumed before. At the end of the recording, last =
 * the tick at which open events count as closed; during it 0: the replay then waits at the
 * innermost open events. 0 or SC_ENOMEM (what did not fit is missing from the totals). */
int sc_callpath_replay(struct sc_callpath *cp, struct sc_thread *t, uint64_t last);

/* The operation lane starts anew after all of it was replayed. */
void sc_callpath_forget_ops(struct sc_callpath *cp);

/* Appends what operations have added up to so far, with those that wait for their parts. 0 or
 * SC_ENOMEM. */
struct sc_string;
int sc_callpath_save(const struct sc_callpath *cp, struct sc_thread *t, struct sc_string *out);

/* Adds what was saved, by another process, to a callpath that is empty. Regions are numbered by
 * region[], other numbers that are not below their limit become -1. SC_EFORMAT: it makes no sense.
 */
struct sc_saved_limits {
    const uint32_t *region;
    size_t regions, comms, objects, sites;
    int32_t ranks; /* -1: not known */
};
int sc_callpath_restore(struct sc_callpath *cp, const char *bytes, size_t length,
                        const struct sc_saved_limits *limits);

/* Adds what src has, all of it replayed to its end, to dst. 0 or SC_ENOMEM. */
int sc_callpath_merge(struct sc_callpath *dst, const struct sc_callpath *src);

/* Lent until cp changes. Paths in an order in which parents come first. */
const struct sc_path *sc_callpath_paths(const struct sc_callpath *cp, size_t *count);
const struct sc_totals *sc_callpath_totals(const struct sc_callpath *cp);

#endif
