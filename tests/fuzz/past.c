/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Damage to images that once was trouble: one number of a good input is another one. And images
 * that are cut off.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "images.h"
#include "own.h"
#include "runtime.h"

enum { HEAD, SECOND_HEAD = -1, EVENT_REGIONS = 100 }; /* in place of a kind of extents */

#define IN(type, member) offsetof(type, member), sizeof(((type *)0)->member)

static const struct fault {
    const char *name;
    const char *seed;
    int kind;      /* of the first extent of that kind */
    size_t record; /* behind what comes before the records; of the head: 0 */
    size_t offset, width;
    uint64_t number;
} faults[] = {
    {"pair-cost-none", "calls", HEAD, 0, IN(struct sc_image_head, pair_ticks),
     UINT64_C(0x7ff8000000000000)},
    {"clock-first", "calls", HEAD, 0, IN(struct sc_image_head, first.ns), INT64_MAX},
    {"clock-fast", "calls", HEAD, 0, IN(struct sc_image_head, second[0].ns), INT64_MAX},
    {"begin", "calls", HEAD, 0, IN(struct sc_image_head, begin_ticks), UINT64_MAX},
    {"begin-realtime", "calls", HEAD, 0, IN(struct sc_image_head, begin_realtime), INT64_MAX},
    {"size-unknown", "calls", HEAD, 0, IN(struct sc_image_head, size), UINT32_MAX},
    {"size-differs", "ranks", SECOND_HEAD, 0, offsetof(struct sc_image_head, rank), 8,
     (uint64_t)1024 << 32 | 700},
    {"many-numbers", "calls", SC_EXTENT_NOTES, 0, IN(struct sc_note, number), 1 << 23},
    {"no-such-member", "calls", SC_EXTENT_NOTES, 0,
     sizeof(struct sc_note) + sizeof(int32_t) + SC_COMM_KEY + sizeof(struct sc_own_comm), 4, 5},
    {"event-early", "calls", SC_EXTENT_EVENTS, 2, IN(struct scope_event_1_, start), 15},
    {"event-endless", "calls", SC_EXTENT_EVENTS, 2, IN(struct scope_event_1_, end),
     (uint64_t)1 << 57},
    {"event-of-routine", "calls", EVENT_REGIONS, 2, 0, sizeof(uint16_t), 3},
    {"call-early", "calls", SC_EXTENT_OPS, 4, IN(struct sc_op, start), 100},
    {"call-in-region", "calls", SC_EXTENT_OPS, 2, IN(struct sc_op, region), 0},
    {"parts-nowhere", "calls", SC_EXTENT_OPS, 2, IN(struct sc_op, parts), 0x5af0},
    {"orphan", "calls", SC_EXTENT_PARTS, 20, IN(struct sc_part, state), SC_PART_ORPHAN},
};

static size_t record_bytes(int kind)
{
    return kind == SC_EXTENT_EVENTS  ? sizeof(struct scope_event_1_)
           : kind == SC_EXTENT_OPS   ? sizeof(struct sc_op)
           : kind == SC_EXTENT_PARTS ? sizeof(struct sc_part)
           : kind == EVENT_REGIONS   ? sizeof(uint16_t)
                                     : 0;
}

static size_t first_record(int kind)
{
    return kind <= HEAD              ? 0
           : kind == EVENT_REGIONS   ? sc_buffer_data_at(SC_EXTENT_EVENTS) / 8
           : kind == SC_EXTENT_NOTES ? sizeof(struct sc_extent)
                                     : sc_buffer_data_at((enum sc_extent_kind)kind);
}

/* Where the first extent of that kind lies; the head: 0. */
static uint32_t find_extent(const unsigned char *data, size_t size, int kind)
{
    struct fuzz_run run;
    uint32_t said; /* by the extent */

    if (kind <= HEAD)
        return kind == HEAD ? 0 : 1 << 24;
    kind = kind == EVENT_REGIONS ? SC_EXTENT_EVENTS : kind;
    for (size_t at = 0; at + sizeof run < size; at += sizeof run + run.length) {
        memcpy(&run, data + at, sizeof run);
        if (run.at % SC_EXTENT != 0 || run.length < FUZZ_GRAIN || run.at == 0)
            continue;
        memcpy(&said, data + at + sizeof run + offsetof(struct sc_extent, kind), sizeof said);
        if (said == (uint32_t)kind)
            return run.at;
    }
    fprintf(stderr, "no extent of kind %d\n", kind);
    exit(99);
}

static fuzz_take *take_fault;

/* The input with a run behind all others, which writes over what they wrote. */
static void take_with(const char *name, const unsigned char *data, size_t size, struct fuzz_run run,
                      const void *bytes)
{
    struct sc_string s = {0};

    if (sc_string_append(&s, data, size) != 0 || sc_string_append(&s, &run, sizeof run) != 0 ||
        sc_string_append(&s, bytes, run.length) != 0)
        exit(99);
    take_fault(name, (const unsigned char *)s.data, s.length);
    sc_string_free(&s);
}

/* Cut off at every 4 KiB in or beside which there is something. */
static void take_cuts(const unsigned char *data, size_t size)
{
    const uint32_t page = 4096;
    uint32_t done = 0;
    struct fuzz_run run;

    for (size_t at = 0; at + sizeof run <= size; at += sizeof run + run.length) {
        memcpy(&run, data + at, sizeof run);
        for (uint32_t cut = run.at / page * page; cut <= run.at + run.length + page; cut += page) {
            char name[32];

            if (cut < done)
                continue;
            snprintf(name, sizeof name, "cut-%u", (unsigned)cut);
            take_with(name, data, size, (struct fuzz_run){cut, 0}, "");
            done = cut + page;
        }
    }
}

static void take_good(const char *name, const unsigned char *data, size_t size)
{
    if (strcmp(name, "calls") == 0)
        take_cuts(data, size);
    for (const struct fault *f = faults; f < faults + sizeof faults / sizeof *faults; f++) {
        const size_t place = first_record(f->kind) + f->record * record_bytes(f->kind) + f->offset;
        struct fuzz_run run = {.length = (uint32_t)f->width};

        if (strcmp(f->seed, name) != 0)
            continue;
        run.at = find_extent(data, size, f->kind) + (uint32_t)place;
        take_with(f->name, data, size, run, &f->number);
    }
}

void images_past(fuzz_take *take)
{
    take_fault = take;
    images_seeds(take_good);
}
