/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * recover: a profile from what a run that did not end left behind, as the run's own end would have
 * made it: ranks are read one after the other, twice, first for what all have in common, then for
 * their rows. One thread, in a process that records nothing itself.
 */
#ifndef SC_RECOVER_H
#define SC_RECOVER_H

#include "salvage.h"

/* The profile at path, in place of a file that is there; its summary is appended to summary, and to
 * notes a line for each rank whose image cannot be read. 0 or a status with the message. */
int sc_recover(struct sc_salvage *from, const char *path, struct sc_string *summary,
               struct sc_string *notes);

#endif
