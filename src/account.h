/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * account: adds operations to totals. A call is one entry with what its parts on its communicator
 * moved; parts on others add their bytes there, without a call. An operation whose parts are not
 * all done may be accounted before that, when its room is needed: the entry waits until they come
 * back.
 */
#ifndef SC_ACCOUNT_H
#define SC_ACCOUNT_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "totals.h"

/* 0 or SC_ENOMEM, all of them. */

/* An operation on that call path. is_last: what is pending counts with what it has; else it becomes
 * an orphan, and parts that are done may be used again (owner thread). */
int sc_account_op(struct sc_totals *t, uint32_t path, const struct sc_op *op, bool is_last);

/* Orphans of the thread that have been completed; owner thread, or is_last. */
int sc_account_late(struct sc_totals *t, struct sc_thread *thread, bool is_last);

/* Owner thread. Appends the entries (struct sc_total) that wait for orphans. 0 or SC_ENOMEM. */
struct sc_string;
int sc_account_save(struct sc_thread *thread, struct sc_string *out);

/* At the end: orphans of the thread that were not completed. */
int sc_account_orphans(struct sc_totals *t, struct sc_thread *thread);

#endif
