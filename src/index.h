/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * index: open addressing over the entries of an array: a slot holds an entry's number + 1, 0 is
 * free. Who looks up walks from the hash on until the entry or a free slot is met.
 */
#ifndef SC_INDEX_H
#define SC_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base.h"

struct sc_index {
    uint32_t *slots;
    size_t count; /* a power of two, 0 at the beginning */
};

static inline uint64_t sc_index_mix(uint64_t x)
{
    x *= UINT64_C(0x9E3779B97F4A7C15);
    return x ^ (x >> 32);
}

static inline bool sc_index_is_full(const struct sc_index *ix, size_t entries)
{
    return entries * 2 >= ix->count;
}

/* Empties the index and gives it room for twice the entries; they have to be put in again. 0 or
 * SC_ENOMEM. */
static inline int sc_index_grow(struct sc_index *ix, size_t entries)
{
    size_t wanted = ix->count == 0 ? 64 : ix->count;
    uint32_t *slots;

    while (wanted < (entries + 1) * 4)
        wanted *= 2;
    slots = calloc(wanted, sizeof *slots);
    if (slots == NULL)
        return SC_ENOMEM;
    free(ix->slots);
    ix->slots = slots;
    ix->count = wanted;
    return 0;
}

static inline size_t sc_index_next(const struct sc_index *ix, uint64_t hash)
{
    return (size_t)hash & (ix->count - 1);
}

#endif
