/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "totals.h"

#include "base.h"

void sc_totals_free(struct sc_totals *t)
{
    free(t->total);
    free(t->index.slots);
    free(t->peer);
    free(t->peer_index.slots);
}

/* ---- totals by key ---- */

static uint32_t *total_slot(const struct sc_totals *t, const struct sc_total *key)
{
    uint64_t where = sc_index_mix((uint64_t)(uint32_t)key->comm << 32 | (uint32_t)key->object);
    uint64_t what = (uint64_t)key->path << 32 | (uint32_t)key->site;
    size_t i =
        sc_index_next(&t->index, sc_index_mix(where ^ what ^ (uint64_t)key->size_class << 56));

    for (; t->index.slots[i] != 0; i = sc_index_next(&t->index, i + 1)) {
        const struct sc_total *e = &t->total[t->index.slots[i] - 1];
        if (e->path == key->path && e->comm == key->comm && e->object == key->object &&
            e->site == key->site && e->size_class == key->size_class)
            break;
    }
    return &t->index.slots[i];
}

static struct sc_total *total_of(struct sc_totals *t, const struct sc_total *key)
{
    uint32_t *slot;

    if (sc_index_is_full(&t->index, t->count)) {
        if (sc_index_grow(&t->index, t->count) != 0)
            return NULL;
        for (uint32_t i = 0; i < t->count; i++)
            *total_slot(t, &t->total[i]) = i + 1;
    }
    slot = total_slot(t, key);
    if (*slot == 0) {
        if (sc_array_reserve(&t->total, &t->capacity, t->count + 1, sizeof *t->total) != 0)
            return NULL;
        t->total[t->count] = (struct sc_total){.path = key->path,
                                               .comm = key->comm,
                                               .object = key->object,
                                               .site = key->site,
                                               .size_class = key->size_class,
                                               .minimum = INT64_MAX};
        *slot = (uint32_t)++t->count;
    }
    return &t->total[*slot - 1];
}

int sc_totals_add(struct sc_totals *t, const struct sc_total *more)
{
    struct sc_total *to = total_of(t, more);

    if (to == NULL)
        return SC_ENOMEM;
    to->calls += more->calls;
    to->sent += more->sent;
    to->received += more->received;
    to->total += more->total;
    to->await += more->await;
    to->in_flight += more->in_flight;
    if (more->calls > 0 && more->minimum < to->minimum)
        to->minimum = more->minimum;
    if (more->calls > 0 && more->maximum > to->maximum)
        to->maximum = more->maximum;
    return 0;
}

/* ---- peers ---- */

static uint32_t *peer_slot(const struct sc_totals *t, int32_t peer)
{
    size_t i = sc_index_next(&t->peer_index, sc_index_mix((uint32_t)peer));

    for (; t->peer_index.slots[i] != 0; i = sc_index_next(&t->peer_index, i + 1))
        if (t->peer[t->peer_index.slots[i] - 1].peer == peer)
            break;
    return &t->peer_index.slots[i];
}

static struct sc_peer *peer_of(struct sc_totals *t, int32_t peer)
{
    uint32_t *slot;

    if (sc_index_is_full(&t->peer_index, t->peer_count)) {
        if (sc_index_grow(&t->peer_index, t->peer_count) != 0)
            return NULL;
        for (uint32_t i = 0; i < t->peer_count; i++)
            *peer_slot(t, t->peer[i].peer) = i + 1;
    }
    slot = peer_slot(t, peer);
    if (*slot == 0) {
        if (sc_array_reserve(&t->peer, &t->peer_capacity, t->peer_count + 1, sizeof *t->peer) != 0)
            return NULL;
        t->peer[t->peer_count] = (struct sc_peer){.peer = peer};
        *slot = (uint32_t)++t->peer_count;
    }
    return &t->peer[*slot - 1];
}

int sc_totals_add_peer(struct sc_totals *t, const struct sc_peer *more)
{
    struct sc_peer *to = peer_of(t, more->peer);

    if (to == NULL)
        return SC_ENOMEM;
    to->sent_messages += more->sent_messages;
    to->sent_bytes += more->sent_bytes;
    to->received_messages += more->received_messages;
    to->received_bytes += more->received_bytes;
    to->rma_operations += more->rma_operations;
    to->rma_sent += more->rma_sent;
    to->rma_received += more->rma_received;
    return 0;
}

uint32_t sc_size_class(uint64_t bytes)
{
    return bytes == 0 ? 0 : 64 - (uint32_t)__builtin_clzll(bytes);
}
