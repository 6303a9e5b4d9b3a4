/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * ends: notes in the image by which signal the process ended. Nothing else is done in a handler:
 * what was recorded is in the image already. A signal that the program handles, ignores or comes to
 * handle is the program's own; of others the process ends as it would have.
 */
#ifndef SC_ENDS_H
#define SC_ENDS_H

/* When a recording begins: signals by which others end a process. */
void sc_ends_watch(void);

/* When MPI runs, which may have put handlers of its own on them meanwhile: signals of a crash.
 * These handlers run as they would have. */
void sc_ends_watch_crashes(void);

/* When a recording ends: every signal that is still watched is as it was. */
void sc_ends_leave(void);

#endif
