/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "runtime.h"

#include <errno.h>
#include <fenv.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "clock.h"
#include "ends.h"
#include "image.h"
#include "launcher.h"
#include "region.h"
#include "site.h"

enum state { IDLE, ON, DISABLED, DRAINING, CLOSED };

/* The inline path's switch; scope.h. */
int scope_mode_1_ = SC_MODE_OFF;
int sc_runtime_ops_mode = SC_OPS_OFF;

static struct {
    pthread_mutex_t lock; /* life-cycle calls, one at a time */
    enum state state;
    bool asked_for; /* by scope_setup(), not by MPI_Init alone */
    bool paused;
    bool watches_fork;
    struct sc_settings settings;
    struct sc_string path;
    uint64_t begin_ticks, end_ticks;
    int64_t begin_realtime;
    double pair_ticks; /* library's own cost of a recorded pair */
    const struct sc_thread *main_thread;
    const struct sc_layer *layer;
} rt = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sc_runtime_layer(const struct sc_layer *layer)
{
    rt.layer = layer;
}

static bool world(int *rank, int *size)
{
    return rt.layer != NULL && rt.layer->world(rank, size);
}

/* A world of one may be one of many that a launcher started. */
bool sc_runtime_speaks(void)
{
    int rank, size;

    return world(&rank, &size) && size > 1 ? rank == 0 : sc_launcher_rank() <= 0;
}

int sc_runtime_path(struct sc_string *out)
{
    int rank, size;
    bool alone = !world(&rank, &size) || size == 1;

    return sc_launcher_path(rt.path.data, alone && sc_launcher_size() != 1, out);
}

/* Under the lock. Makes the two switches say what state, settings and pause add up to. */
static void set_switches(void)
{
    int mode = SC_MODE_OFF, ops = SC_OPS_OFF;

    if (rt.state == ON) {
        mode = rt.paused ? SC_MODE_PAUSED : sc_clock_is_inline() ? SC_MODE_INLINE : SC_MODE_CALL;
        if (rt.settings.value[SC_MPI_RECORD].number != SC_MPI_OFF && rt.layer != NULL &&
            rt.layer->records())
            ops = rt.paused ? SC_OPS_COUNT_PAUSED : SC_OPS_RECORD;
    }
    __atomic_store_n(&sc_runtime_ops_mode, ops, __ATOMIC_RELAXED);
    __atomic_store_n(&scope_mode_1_, mode, __ATOMIC_RELEASE);
}

/* A child stands down: the profile is its parent's. */
static void child_stands_down(void)
{
    rt.state = CLOSED;
    sc_image_forked();
    sc_buffer_forked();
    pthread_mutex_init(&rt.lock, NULL);
    set_switches();
}

/* Least of a few rounds of pairs into the starting thread's own lane, which is then as new. */
static double measure_pair(struct sc_thread *t)
{
    enum { PAIRS = 256, ROUNDS = 5 };
    struct scope_event_1_ *first = t->hot.next;
    uint64_t least = UINT64_MAX;
    size_t room = (size_t)(t->hot.limit - first);
    size_t pairs = room < PAIRS ? room : PAIRS;

    for (int round = 0; round < ROUNDS && pairs > 0; round++) {
        uint64_t before = sc_clock_ticks(), took;
        for (size_t i = 0; i < pairs; i++) {
            scope_begin_inline_(0);
            scope_end_inline_(0);
        }
        took = sc_clock_ticks() - before;
        if (took < least)
            least = took;
        memset(first, 0, pairs * sizeof *first);
        t->hot.next = first;
    }
    return pairs == 0 ? 0 : (double)least / (double)pairs;
}

/* The user is to learn it now, not after a day. The program may still make the directory. */
static void warn_of_directory(void)
{
    struct sc_string directory = {0};
    const char *slash = strrchr(rt.path.data, '/');

    if (sc_runtime_speaks() &&
        sc_string_append(&directory, rt.path.data, (size_t)(slash - rt.path.data) + 1) == 0 &&
        access(directory.data, W_OK | X_OK) != 0)
        sc_log("%s: cannot be written (%s): unless that changes there will be no profile",
               directory.data, strerror(errno));
    sc_string_free(&directory);
}

/* Under the lock. A recording without an image is complete all the same, if its process lives to
 * the end. */
static void start_image(void)
{
    const struct sc_setting *value = rt.settings.value;
    struct sc_image_head *head;
    struct sc_string path = {0};
    int rc = 0;

    if (value[SC_SALVAGE].number == 0)
        return;
    /* Whether MPI will make this process one of several is not known yet. */
    if (sc_launcher_override() == 0)
        rc = sc_runtime_path(&path);
    else
        rc = sc_string_append(&path, rt.path.data, rt.path.length);
    if (rc == 0)
        rc = sc_image_create(path.data, value[SC_SALVAGE_DIR].text, &head);
    sc_string_free(&path);
    if (rc != 0) {
        if (sc_runtime_speaks() && value[SC_SALVAGE].origin != SC_FROM_DEFAULT)
            sc_log("a run that is killed will lose what it recorded: %s", sc_last_error());
        return;
    }
    head->event_bytes = sizeof(struct scope_event_1_);
    head->op_bytes = sizeof(struct sc_op);
    head->part_bytes = sizeof(struct sc_part);
    snprintf(head->clock, sizeof head->clock, "%s", sc_clock_name());
    snprintf(head->label, sizeof head->label, "%.1000s", value[SC_LABEL].text);
    head->keeps_ops = value[SC_MPI_RECORD].number == SC_MPI_CALLS;
    head->first = head->second[0] = sc_clock_first();
    head->begin_realtime = sc_clock_monotonic() + sc_clock_epoch();
    head->rank = sc_launcher_rank();
    head->size = sc_launcher_size();
    head->run = (uint64_t)head->begin_realtime;
    sc_region_note_all();
    sc_site_note_all();
    if (rt.layer != NULL)
        rt.layer->note();
}

void sc_runtime_joined(int rank, int size, uint64_t run)
{
    struct sc_image_head *head = sc_image_head();

    if (head == NULL)
        return;
    head->rank = rank;
    head->size = size;
    head->run = run;
    head->is_joined = 1;
    sc_image_clock();
    sc_ends_watch_crashes();
}

void sc_runtime_restore(const struct sc_image_head *head, uint64_t end_ticks,
                        const struct sc_thread *main_thread)
{
    rt.begin_ticks = head->begin_ticks;
    rt.end_ticks = end_ticks;
    rt.begin_realtime = head->begin_realtime;
    rt.pair_ticks = head->pair_ticks;
    rt.main_thread = main_thread;
    sc_buffer_policy(1, head->keeps_ops != 0);
}

void sc_runtime_breaks_off(int how, int number, const char *text)
{
    sc_image_leave((enum sc_image_end)how, number, text);
}

/* What was measured and prepared meanwhile is no part of the run. */
static void begin_in_image(void)
{
    struct sc_image_head *head = sc_image_head();

    if (head == NULL)
        return;
    head->pair_ticks = rt.pair_ticks;
    head->main_thread = rt.main_thread == NULL ? 0 : rt.main_thread->number;
    head->begin_realtime = rt.begin_realtime;
    head->begin_ticks = rt.begin_ticks;
}

/* Under the lock. Settings are valid. What the program asked of its floating-point unit, and what
 * that has signalled, is not touched: here, and where numbers are made of what was recorded. */
static void start(bool asked_for)
{
    struct sc_thread *t;
    fenv_t floating;

    rt.asked_for = asked_for;
    if (!rt.watches_fork) {
        rt.watches_fork = pthread_atfork(NULL, NULL, child_stands_down) == 0;
    }
    if (rt.settings.value[SC_ENABLED].number == 0) {
        rt.state = DISABLED;
        set_switches();
        return;
    }
    feholdexcept(&floating);
    sc_clock_start();
    start_image();
    sc_ends_watch();
    sc_buffer_policy((size_t)rt.settings.value[SC_BUFFER_LIMIT].number,
                     rt.settings.value[SC_MPI_RECORD].number == SC_MPI_CALLS);
    sc_buffer_start();
    t = sc_buffer_thread();
    rt.main_thread = t;
    rt.state = ON;
    set_switches();
    warn_of_directory();
    rt.pair_ticks = 0;
    if (t != NULL && sc_buffer_grow_events(t) && sc_buffer_grow_ops(t) && sc_clock_is_inline())
        rt.pair_ticks = measure_pair(t);
    if (t != NULL)
        t->counts.own_memory_ns = 0; /* not part of the run, which begins now */
    rt.begin_realtime = sc_clock_monotonic() + sc_clock_epoch();
    rt.begin_ticks = sc_clock_ticks();
    begin_in_image();
    fesetenv(&floating);
}

static void print_warnings(const struct sc_string *warnings)
{
    if (warnings->length == 0 || !sc_runtime_speaks())
        return;
    for (char *save = NULL, *line = strtok_r(warnings->data, "\n", &save); line != NULL;
         line = strtok_r(NULL, "\n", &save))
        sc_log("%s", line);
}

/* Under the lock. What can be refused is refused here, before anything has started. */
static int accept(const struct sc_settings *wanted)
{
    const char *missing = NULL;
    int rc;

    if (wanted->value[SC_OUTPUT_MODE].number == SC_OUTPUT_PARALLEL && rt.layer != NULL)
        missing = rt.layer->parallel_missing();
    if (missing != NULL)
        return sc_fail(SC_EUNAVAIL, "output_mode \"parallel\" is not possible: %s", missing);
    sc_string_free(&rt.path);
    rc = sc_launcher_path(wanted->value[SC_FILE_PATH].text, 0, &rt.path);
    if (rc == 0)
        rt.settings = *wanted;
    return rc;
}

void sc_runtime_start_auto(void)
{
    struct sc_settings wanted;
    struct sc_string warnings = {0};
    int rc;

    pthread_mutex_lock(&rt.lock);
    if (rt.state == IDLE) {
        rc = sc_settings_resolve(NULL, &wanted, &warnings);
        if (rc == 0)
            rc = accept(&wanted);
        if (rc == SC_EUNAVAIL) { /* asked for in the environment: a warning, and the default */
            sc_string_print(&warnings, "%s; output_mode \"auto\" is used\n", sc_last_error());
            wanted.value[SC_OUTPUT_MODE].number = SC_OUTPUT_AUTO;
            rc = accept(&wanted);
        }
        if (rc != 0) { /* takes part in the other ranks' publication all the same */
            sc_string_print(&warnings, "nothing is recorded: %s\n", sc_last_error());
            rt.settings = (struct sc_settings){0};
        }
        start(false);
        print_warnings(&warnings);
        sc_string_free(&warnings);
    }
    pthread_mutex_unlock(&rt.lock);
}

int sc_runtime_setup(const scope_options *options)
{
    struct sc_settings wanted;
    struct sc_string warnings = {0};
    int rc;

    pthread_mutex_lock(&rt.lock);
    if ((rt.state == ON || rt.state == DISABLED) && rt.asked_for)
        rc = sc_fail(SC_ESTATE, "scope_setup: a recording is running (call scope_finalize first)");
    else
        rc = sc_settings_resolve(options, &wanted, rt.state == IDLE ? &warnings : NULL);
    if (rc == 0)
        rc = accept(&wanted);
    if (rc == 0 && rt.state == ON && wanted.value[SC_ENABLED].number != 0) {
        /* MPI_Init started it: from here on it is the program's, nothing recorded is lost. */
        rt.asked_for = true;
        sc_buffer_policy((size_t)wanted.value[SC_BUFFER_LIMIT].number,
                         wanted.value[SC_MPI_RECORD].number == SC_MPI_CALLS);
        set_switches();
    } else if (rc == 0) {
        if (rt.state == ON)
            sc_buffer_stop();
        start(true);
    }
    print_warnings(&warnings);
    sc_string_free(&warnings);
    if (rc != 0 && sc_runtime_speaks())
        sc_log("%s", sc_last_error());
    pthread_mutex_unlock(&rt.lock);
    return rc;
}

int sc_runtime_finalize(void)
{
    bool was_on;
    fenv_t floating;
    int rc = 0;

    feholdexcept(&floating);
    pthread_mutex_lock(&rt.lock);
    was_on = rt.state == ON;
    if (was_on || rt.state == DISABLED) {
        rt.end_ticks = was_on ? sc_clock_ticks() : 0;
        rt.state = DRAINING;
        set_switches();
        if (was_on)
            sc_clock_calibrate();
        sc_ends_leave();
        sc_image_freeze();
        if (rt.layer != NULL)
            rc = rt.layer->publish(&rt.settings);
        if (rc == 0)
            sc_image_remove();
        else
            sc_image_leave(SC_END_UNWRITTEN, rc, sc_last_error());
        if (was_on)
            sc_buffer_stop();
        rt.paused = false;
        rt.state = CLOSED;
    }
    pthread_mutex_unlock(&rt.lock);
    fesetenv(&floating);
    return rc;
}

bool sc_runtime_is_on(void)
{
    return __atomic_load_n(&scope_mode_1_, __ATOMIC_RELAXED) != SC_MODE_OFF;
}

bool sc_runtime_is_paused(void)
{
    return __atomic_load_n(&scope_mode_1_, __ATOMIC_RELAXED) == SC_MODE_PAUSED;
}

void sc_runtime_pause(bool paused)
{
    pthread_mutex_lock(&rt.lock);
    rt.paused = paused;
    set_switches();
    pthread_mutex_unlock(&rt.lock);
}

const struct sc_settings *sc_runtime_settings(void)
{
    return &rt.settings;
}

int64_t sc_runtime_begin_ns(void)
{
    return sc_clock_ns(rt.begin_ticks);
}

int64_t sc_runtime_end_ns(void)
{
    return sc_clock_ns(rt.end_ticks);
}

uint64_t sc_runtime_end_ticks(void)
{
    return rt.end_ticks;
}

int64_t sc_runtime_begin_realtime(void)
{
    return rt.begin_realtime;
}

const struct sc_thread *sc_runtime_main_thread(void)
{
    return rt.main_thread;
}

double sc_runtime_pair_cost(void)
{
    return sc_clock_length(rt.pair_ticks);
}
