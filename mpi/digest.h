/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * digest: the numbers of the summary, reduced over the ranks from the tables that the file gets.
 * PMPI_ only.
 */
#ifndef SC_DIGEST_H
#define SC_DIGEST_H

#include "numbering.h"
#include "recording.h"
#include "summary.h"

/* Collective. recording NULL: a rank that recorded nothing. On rank 0 fills what comes from the
 * tables; paths and their names are to be freed with sc_digest_free(), and live no longer than
 * numbering. The same status on all ranks. */
int sc_digest_create(const struct sc_recording *recording, const struct sc_numbering *numbering,
                     const struct sc_row_rank *rank, struct sc_summary *out);
void sc_digest_free(struct sc_summary *s);

#endif
