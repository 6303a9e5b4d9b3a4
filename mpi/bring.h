/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bring: what this rank knows beside its recording, as a list that can leave the process. Any
 * thread; PMPI_ is not called.
 */
#ifndef SC_BRING_H
#define SC_BRING_H

struct sc_comm;
struct sc_items;
struct sc_object;
struct sc_own;

/* Everything, to be freed with sc_own_free() whatever is returned. Communicators, files and windows
 * are known only where MPI is. 0 or SC_ENOMEM. */
int sc_bring(struct sc_own *own);

/* Notes in the image what a number means: when it is given, when its name is another one, and for
 * all that have one when an image begins. Any thread. */
void sc_bring_note_comm(const struct sc_comm *c);
void sc_bring_note_object(const struct sc_object *o);
void sc_bring_note_all(void);

/* Appends one communicator; own.h says what an item holds. 0 or SC_ENOMEM. */
int sc_bring_comm(struct sc_items *items, const struct sc_comm *c);

#endif
