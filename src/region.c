/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "region.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "image.h"

enum { CHUNK = 1024, CHUNKS = (SC_REGION_MAX + CHUNK) / CHUNK };

static const char other[] =
    "(other regions)"; /* the name of the last id, which all later names share */

static struct {
    pthread_mutex_t lock;
    struct sc_region *chunk[CHUNKS]; /* written once each, under the lock, before count covers it */
    uint32_t count;
    uint32_t *slots; /* open addressing: id + 1, 0 free; under the lock */
    size_t slot_count;
} registry = {.lock = PTHREAD_MUTEX_INITIALIZER};

static struct sc_region *region_at(uint32_t id)
{
    return &__atomic_load_n(&registry.chunk[id / CHUNK], __ATOMIC_ACQUIRE)[id % CHUNK];
}

static uint64_t key_hash(enum sc_region_kind kind, const char *name, size_t length)
{
    return sc_hash(name, length) + (uint64_t)kind * 0x9E3779B97F4A7C15u;
}

/* The slot that holds the region, or the free one where it belongs. */
static uint32_t *find_slot(enum sc_region_kind kind, const char *name, size_t length)
{
    size_t i = key_hash(kind, name, length) & (registry.slot_count - 1);

    while (registry.slots[i] != 0) {
        const struct sc_region *r = region_at(registry.slots[i] - 1);
        if (r->kind == kind && r->length == length && memcmp(r->name, name, length) == 0)
            break;
        i = (i + 1) & (registry.slot_count - 1);
    }
    return &registry.slots[i];
}

static int grow_slots(void)
{
    size_t wanted = registry.slot_count == 0 ? 1024 : registry.slot_count * 2;
    uint32_t *slots = calloc(wanted, sizeof *slots);

    if (slots == NULL)
        return SC_ENOMEM;
    free(registry.slots);
    registry.slots = slots;
    registry.slot_count = wanted;
    for (uint32_t id = 0; id < registry.count; id++) {
        const struct sc_region *r = region_at(id);
        *find_slot(r->kind, r->name, r->length) = id + 1;
    }
    return 0;
}

static char *copy_bytes(const char *bytes, size_t length)
{
    char *copy = malloc(length + 1);

    if (copy != NULL) {
        memcpy(copy, bytes, length);
        copy[length] = '\0';
    }
    return copy;
}

static void note_region(uint32_t id)
{
    const struct sc_region *r = region_at(id);
    const struct sc_note_region head = {(int32_t)r->kind, r->line};
    struct sc_string s = {0};
    int rc = sc_string_append(&s, &head, sizeof head);

    if (rc == 0)
        rc = sc_string_append(&s, r->name, r->length + 1);
    if (rc == 0)
        rc = sc_string_append(&s, r->file, strlen(r->file) + 1);
    if (rc == 0)
        rc = sc_string_append(&s, r->tags, strlen(r->tags) + 1);
    if (rc == 0)
        sc_image_note(SC_NOTE_REGION, id, s.data, s.length);
    sc_string_free(&s);
}

/* Fills the next free id. */
static int append(enum sc_region_kind kind, const char *name, size_t length, const char *tags,
                  const char *file, int line)
{
    uint32_t id = registry.count;
    struct sc_region *r;
    struct sc_region made = {.kind = kind};

    if (id == SC_REGION_MAX)
        return (int)id - 1;
    if (id == SC_REGION_MAX - 1) {
        name = other;
        length = sizeof other - 1;
        tags = "[]";
        file = NULL;
    }
    if (registry.chunk[id / CHUNK] == NULL) {
        struct sc_region *chunk = calloc(CHUNK, sizeof *chunk);
        if (chunk == NULL)
            return SC_ENOMEM;
        __atomic_store_n(&registry.chunk[id / CHUNK], chunk, __ATOMIC_RELEASE);
    }
    if (file == NULL)
        file = "";
    made.length = length;
    made.line = *file == '\0' ? -1 : line;
    made.name = copy_bytes(name, length);
    made.file = copy_bytes(file, strlen(file));
    made.tags = copy_bytes(tags, strlen(tags));
    if (made.name == NULL || made.file == NULL || made.tags == NULL) {
        free((char *)made.name);
        free((char *)made.file);
        free((char *)made.tags);
        return SC_ENOMEM;
    }
    r = region_at(id);
    *r = made;
    /* Pairs with the acquire in sc_region_count(): regions below the count are complete. */
    __atomic_store_n(&registry.count, id + 1, __ATOMIC_RELEASE);
    if (sc_image_head() != NULL)
        note_region(id);
    return (int)id;
}

int sc_region_id(enum sc_region_kind kind, const char *name, const char *tags, const char *file,
                 int line)
{
    size_t length;
    uint32_t *slot;
    int id;

    if (name == NULL)
        return sc_fail(SC_EINVAL, "region name is NULL");
    length = strlen(name);
    pthread_mutex_lock(&registry.lock);
    id = registry.count * 2 >= registry.slot_count ? grow_slots() : 0;
    if (id == 0) {
        slot = find_slot(kind, name, length);
        if (*slot != 0) {
            id = (int)*slot - 1;
        } else {
            id = append(kind, name, length, tags == NULL ? "[]" : tags, file, line);
            if (id >= 0 && id < SC_REGION_MAX - 1)
                *slot = (uint32_t)id + 1;
        }
    }
    pthread_mutex_unlock(&registry.lock);
    return id >= 0 ? id : sc_fail(id, "no memory for region '%.60s'", name);
}

void sc_region_note_all(void)
{
    pthread_mutex_lock(&registry.lock);
    for (uint32_t id = 0; id < registry.count; id++)
        note_region(id);
    pthread_mutex_unlock(&registry.lock);
}

const struct sc_region *sc_region_get(uint32_t id)
{
    return region_at(id);
}

uint32_t sc_region_count(void)
{
    return __atomic_load_n(&registry.count, __ATOMIC_ACQUIRE);
}
