/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Open addressing over pointers to entries; what is looked for is in the entry, so that one store
 * changes a slot. A removal moves those behind it up: there are no gravestones, and a program that
 * makes and frees things for ever needs no more room than it has live ones.
 */
#include "handles.h"

#include <stdbool.h>
#include <stdlib.h>

enum { ENTRIES_PER_SLAB = 64, FIRST_SLOTS = 64 };

struct sc_handles_table {
    size_t mask;
    _Atomic(struct sc_handle *) slot[];
};

static size_t slot_of(const struct sc_handles_table *t, uint64_t handle)
{
    return (size_t)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & t->mask;
}

struct sc_handle *sc_handles_find(struct sc_handles *all, uint64_t handle)
{
    struct sc_handles_table *t = atomic_load_explicit(&all->table, memory_order_acquire);

    if (t == NULL || handle == 0)
        return NULL;
    for (size_t i = slot_of(t, handle);; i = (i + 1) & t->mask) {
        struct sc_handle *e = atomic_load_explicit(&t->slot[i], memory_order_acquire);
        if (e == NULL)
            return NULL;
        /* Pairs with the release in insert(). */
        if (atomic_load_explicit(&e->handle, memory_order_acquire) == handle)
            return e;
    }
}

static uint64_t entry_handle(struct sc_handle *e)
{
    return atomic_load_explicit(&e->handle, memory_order_relaxed);
}

static struct sc_handle *slot_get(struct sc_handles_table *t, size_t i)
{
    return atomic_load_explicit(&t->slot[i], memory_order_relaxed);
}

static void slot_set(struct sc_handles_table *t, size_t i, struct sc_handle *e)
{
    atomic_store_explicit(&t->slot[i], e, memory_order_release);
}

static void put(struct sc_handles_table *t, struct sc_handle *e)
{
    size_t i = slot_of(t, entry_handle(e));

    while (slot_get(t, i) != NULL)
        i = (i + 1) & t->mask;
    slot_set(t, i, e);
}

/* At most half of the slots are taken. */
static bool make_room(struct sc_handles *all)
{
    struct sc_handles_table *old = atomic_load_explicit(&all->table, memory_order_relaxed);
    size_t slots = old == NULL ? FIRST_SLOTS : 2 * (old->mask + 1);
    struct sc_handles_table *t;

    if (old != NULL && all->live < (old->mask + 1) / 2)
        return true;
    t = malloc(sizeof *t + slots * sizeof t->slot[0]);
    if (t == NULL)
        return false;
    t->mask = slots - 1;
    for (size_t i = 0; i < slots; i++)
        atomic_init(&t->slot[i], NULL);
    for (size_t i = 0; old != NULL && i <= old->mask; i++)
        if (slot_get(old, i) != NULL)
            put(t, slot_get(old, i));
    atomic_store_explicit(&all->table, t, memory_order_release);
    return true;
}

/* Those behind the gap move up, so that no search ends early. */
static void take_out(struct sc_handles *all, struct sc_handle *e)
{
    struct sc_handles_table *t = atomic_load_explicit(&all->table, memory_order_relaxed);
    uint64_t handle = entry_handle(e);
    size_t gap, i;

    atomic_store_explicit(&e->handle, 0, memory_order_relaxed);
    if (t == NULL || handle == 0)
        return;
    for (gap = slot_of(t, handle); slot_get(t, gap) != e; gap = (gap + 1) & t->mask)
        if (slot_get(t, gap) == NULL)
            return;
    for (i = (gap + 1) & t->mask; slot_get(t, i) != NULL; i = (i + 1) & t->mask) {
        size_t home = slot_of(t, entry_handle(slot_get(t, i)));
        if (((i - home) & t->mask) < ((i - gap) & t->mask))
            continue;
        slot_set(t, gap, slot_get(t, i));
        gap = i;
    }
    slot_set(t, gap, NULL);
    all->live--;
}

void sc_handles_insert(struct sc_handles *all, struct sc_handle *e, uint64_t handle)
{
    struct sc_handle *there = sc_handles_find(all, handle);

    if (there == e)
        return;
    if (there != NULL)
        take_out(all, there);
    if (!make_room(all))
        return;
    /* Pairs with the acquire in sc_handles_find(): what e says is there. */
    atomic_store_explicit(&e->handle, handle, memory_order_release);
    put(atomic_load_explicit(&all->table, memory_order_relaxed), e);
    all->live++;
}

struct sc_handle *sc_handles_new(struct sc_handles *all)
{
    struct sc_handle *e = all->free_entries;

    if (e == NULL) {
        char *slab = calloc(ENTRIES_PER_SLAB, all->entry_size);
        if (slab == NULL)
            return NULL;
        for (size_t i = 0; i < ENTRIES_PER_SLAB; i++) {
            e = (struct sc_handle *)(void *)(slab + i * all->entry_size);
            e->next_free = all->free_entries;
            all->free_entries = e;
        }
        e = all->free_entries;
    }
    all->free_entries = e->next_free;
    return e;
}

void sc_handles_free(struct sc_handles *all, struct sc_handle *e)
{
    take_out(all, e);
    e->next_free = all->free_entries;
    all->free_entries = e;
}

void sc_handles_clear(struct sc_handles *all)
{
    atomic_store_explicit(&all->table, NULL, memory_order_release);
    all->live = 0;
}

uint64_t *sc_handles_list(struct sc_handles *all, size_t *count)
{
    struct sc_handles_table *t = atomic_load_explicit(&all->table, memory_order_relaxed);
    uint64_t *list = t == NULL ? NULL : malloc((t->mask + 1) * sizeof *list);

    *count = 0;
    for (size_t i = 0; list != NULL && i <= t->mask; i++)
        if (slot_get(t, i) != NULL)
            list[(*count)++] = entry_handle(slot_get(t, i));
    return list;
}
