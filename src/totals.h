/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * totals: exact sums over operations, whatever the timeline keeps: per call path, communicator,
 * object, call site and size class; and per peer, what went to it and came from it. Times are in
 * ns. One thread at a time.
 */
#ifndef SC_TOTALS_H
#define SC_TOTALS_H

#include <stddef.h>
#include <stdint.h>

#include "index.h"

struct sc_total {
    uint32_t path;
    int32_t comm, object, site; /* -1 none */
    uint32_t size_class;
    uint64_t calls, sent, received;
    int64_t total, minimum, maximum; /* of the calls; without any INT64_MAX and 0 */
    int64_t await;     /* sums over the requests they started: time waited for them, */
    int64_t in_flight; /* and from the call's end to completion */
};

struct sc_peer {
    int32_t peer; /* world rank, -1 one of another world */
    uint64_t sent_messages, sent_bytes, received_messages, received_bytes;
    uint64_t rma_operations, rma_sent, rma_received;
};

struct sc_totals {
    struct sc_total *total;
    size_t count, capacity;
    struct sc_index index;
    struct sc_peer *peer;
    size_t peer_count, peer_capacity;
    struct sc_index peer_index;
};

void sc_totals_free(struct sc_totals *t);

/* Adds the numbers to the entry of the same key, made at need. 0 or SC_ENOMEM. */
int sc_totals_add(struct sc_totals *t, const struct sc_total *more);
int sc_totals_add_peer(struct sc_totals *t, const struct sc_peer *more);

/* 0 for no bytes, else k with 2^(k-1) <= bytes < 2^k. */
uint32_t sc_size_class(uint64_t bytes);

#endif
