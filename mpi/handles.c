/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Open addressing over pointers to entries; what is looked for is in the entry, so that one store
 * changes a slot. A removal moves those behind it up: there are no gravestones, and a program that
 * makes and frees communicators for ever needs no more room than it has live ones.
 */
#include "handles.h"

#include <stdlib.h>

enum { ENTRIES_PER_SLAB = 64, FIRST_SLOTS = 64 };

struct table {
    size_t mask;
    _Atomic(struct sc_entry *) slot[];
};

static struct {
    _Atomic(struct table *) table; /* outgrown ones stay: a lookup may be in there */
    size_t live;
    struct sc_entry *free_entries;
} handles;

static size_t slot_of(const struct table *t, uint64_t handle)
{
    return (size_t)((handle * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & t->mask;
}

struct sc_entry *sc_handles_find(uint64_t handle)
{
    struct table *t = atomic_load_explicit(&handles.table, memory_order_acquire);

    if (t == NULL)
        return NULL;
    for (size_t i = slot_of(t, handle);; i = (i + 1) & t->mask) {
        struct sc_entry *e = atomic_load_explicit(&t->slot[i], memory_order_acquire);
        if (e == NULL)
            return NULL;
        /* Pairs with the release in insert(). */
        if (atomic_load_explicit(&e->handle, memory_order_acquire) == handle)
            return e;
    }
}

static uint64_t entry_handle(struct sc_entry *e)
{
    return atomic_load_explicit(&e->handle, memory_order_relaxed);
}

static struct sc_entry *slot_get(struct table *t, size_t i)
{
    return atomic_load_explicit(&t->slot[i], memory_order_relaxed);
}

static void slot_set(struct table *t, size_t i, struct sc_entry *e)
{
    atomic_store_explicit(&t->slot[i], e, memory_order_release);
}

static void put(struct table *t, struct sc_entry *e)
{
    size_t i = slot_of(t, entry_handle(e));

    while (slot_get(t, i) != NULL)
        i = (i + 1) & t->mask;
    slot_set(t, i, e);
}

/* At most half of the slots are taken. */
static bool make_room(void)
{
    struct table *old = atomic_load_explicit(&handles.table, memory_order_relaxed);
    size_t slots = old == NULL ? FIRST_SLOTS : 2 * (old->mask + 1);
    struct table *t;

    if (old != NULL && handles.live < (old->mask + 1) / 2)
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
    atomic_store_explicit(&handles.table, t, memory_order_release);
    return true;
}

/* Those behind the gap move up, so that no search ends early. */
static void take_out(struct sc_entry *e)
{
    struct table *t = atomic_load_explicit(&handles.table, memory_order_relaxed);
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
    handles.live--;
}

void sc_handles_insert(struct sc_entry *e, uint64_t handle)
{
    struct sc_entry *there = sc_handles_find(handle);

    if (there == e)
        return;
    if (there != NULL)
        take_out(there);
    if (!make_room())
        return;
    /* Pairs with the acquire in sc_handles_find(): what e says is there. */
    atomic_store_explicit(&e->handle, handle, memory_order_release);
    put(atomic_load_explicit(&handles.table, memory_order_relaxed), e);
    handles.live++;
}

struct sc_entry *sc_handles_new(void)
{
    struct sc_entry *e = handles.free_entries;

    if (e == NULL) {
        struct sc_entry *slab = calloc(ENTRIES_PER_SLAB, sizeof *slab);
        if (slab == NULL)
            return NULL;
        for (int i = 0; i < ENTRIES_PER_SLAB; i++) {
            slab[i].next_free = handles.free_entries;
            handles.free_entries = &slab[i];
        }
        e = handles.free_entries;
    }
    handles.free_entries = e->next_free;
    return e;
}

void sc_handles_free(struct sc_entry *e)
{
    take_out(e);
    e->next_free = handles.free_entries;
    handles.free_entries = e;
}

void sc_handles_clear(void)
{
    atomic_store_explicit(&handles.table, NULL, memory_order_release);
    handles.live = 0;
}

uint64_t *sc_handles_list(size_t *count)
{
    struct table *t = atomic_load_explicit(&handles.table, memory_order_relaxed);
    uint64_t *list = t == NULL ? NULL : malloc((t->mask + 1) * sizeof *list);

    *count = 0;
    for (size_t i = 0; list != NULL && i <= t->mask; i++)
        if (slot_get(t, i) != NULL)
            list[(*count)++] = entry_handle(slot_get(t, i));
    return list;
}
