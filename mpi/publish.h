/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * publish: the end of a run, all ranks together: what each recorded becomes one file and one
 * summary.
 */
#ifndef SC_PUBLISH_H
#define SC_PUBLISH_H

#include "settings.h"

/* Collective over the world when there is one, else for this process alone. Recording has stopped.
 * Writes the profile beside its final name, then puts it in place: a failure leaves an earlier file
 * as it was. Failures are reported by rank 0. The same status on all ranks. */
int sc_publish(const struct sc_settings *settings);

/* Notes in the image what host, environment, settings and, once the world is open, MPI say about
 * the run; on one process. */
void sc_publish_note_facts(void);

#endif
