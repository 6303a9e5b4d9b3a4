/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * For unit tests of the recording side: runs a recording in this process and hands what came out to
 * a check, which stands where publication would.
 */
#ifndef RECORD_H
#define RECORD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "recording.h"
#include "region.h"
#include "runtime.h"

static void (*record_check)(struct sc_recording *);

static inline bool record_world(int *rank, int *size)
{
    (void)rank, (void)size;
    return false;
}

static inline int record_publish(const struct sc_settings *settings)
{
    struct sc_recording *r = NULL;

    if (settings->value[SC_ENABLED].number == 0)
        return 0;
    assert_int_equal(sc_recording_create(&r), 0);
    if (record_check != NULL)
        record_check(r);
    sc_recording_free(r);
    return 0;
}

static inline const char *record_missing(void)
{
    return "no MPI in a unit test";
}

static inline bool record_records(void)
{
    return true;
}

static inline void record_note(void) {}

static const struct sc_layer record_layer = {.world = record_world,
                                             .publish = record_publish,
                                             .records = record_records,
                                             .note = record_note,
                                             .parallel_missing = record_missing};

/* Starts with a first buffer of so many events; under the test clock when step_ns is not 0. */
static inline void record_start(long buffer_limit, int step_ns)
{
    scope_options o;
    char step[16];

    sc_runtime_layer(&record_layer);
    snprintf(step, sizeof step, "%d", step_ns);
    if (step_ns > 0)
        setenv("SCOPE_TEST_CLOCK", step, 1);
    else
        unsetenv("SCOPE_TEST_CLOCK");
    scope_options_init(&o);
    o.buffer_limit = buffer_limit;
    o.file_path = "unused.h5";
    assert_int_equal(scope_setup(&o), 0);
}

static inline void record_end(void (*check)(struct sc_recording *))
{
    record_check = check;
    assert_int_equal(scope_finalize(), 0);
    record_check = NULL;
}

/* The slice of a user region; fails the test when there is none. */
static inline struct sc_slice *record_slice(struct sc_recording *r, const char *name)
{
    for (size_t i = 0; i < r->slice_count; i++)
        if (strcmp(sc_region_get(r->slices[i].region)->name, name) == 0)
            return &r->slices[i];
    fail_msg("no slice of region %s", name);
    return NULL;
}

/* Starts and durations of a slice, absolute, ns; to be freed. */
static inline void record_rows(struct sc_recording *r, const struct sc_slice *s, int64_t **starts,
                               int64_t **durations)
{
    *starts = calloc(s->rows + 1, sizeof **starts);
    *durations = calloc(s->rows + 1, sizeof **durations);
    assert_int_equal(
        sc_recording_event_rows(r, s->first_row, s->rows, 0, *starts, *durations, NULL), 0);
    for (uint64_t i = 1; i < s->rows; i++)
        (*starts)[i] += (*starts)[i - 1];
}

#endif
