/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What begin and end store, count and never lose, whatever the program does with them.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record.h"

static int a, b, p;

static int make_regions(void **state)
{
    (void)state;
    a = scope_region("a");
    b = scope_region("b");
    p = scope_region("p");
    return a < 0 || b < 0 || p < 0;
}

/* ---- handles ---- */

static void a_handle_is_the_same_for_the_same_name(void **state)
{
    char name[8] = "a";
    (void)state;
    assert_int_equal(scope_region(name), a);
    assert_int_not_equal(scope_region("A"), a);
    assert_int_not_equal(sc_region_id(SC_REGION_MPI, "a", NULL, NULL, -1), a);
    assert_true(scope_region(NULL) < 0);
    assert_true(scope_region("") >= 0);
}

static void calls_outside_a_recording_do_nothing(void **state)
{
    (void)state;
    scope_begin(a);
    scope_end(a);
    scope_end(b);
    assert_int_equal(scope_is_active(), 0);
    assert_int_equal(scope_finalize(), 0);
}

static void a_million_names_take_bounded_memory(void **state)
{
    char name[32];
    int last = 0;
    (void)state;
    for (int i = 0; i < 1000000; i++) {
        snprintf(name, sizeof name, "many %d", i);
        last = scope_region(name);
        assert_true(last >= 0);
    }
    assert_int_equal(sc_region_count(), SC_REGION_MAX);
    assert_string_equal(sc_region_get((uint32_t)last)->name, "(other regions)");
    for (int i = 0; i < 60000; i += 1000) {
        snprintf(name, sizeof name, "many %d", i);
        assert_string_equal(sc_region_get((uint32_t)scope_region(name))->name, name);
    }
}

/* ---- exact times, under the test clock: each reading is 10 ns later ---- */

static void check_nested(struct sc_recording *r)
{
    int64_t *start_a, *start_b, *time_a, *time_b;

    assert_int_equal(r->rows, 3);
    record_rows(r, record_slice(r, "a"), &start_a, &time_a);
    record_rows(r, record_slice(r, "b"), &start_b, &time_b);
    assert_int_equal(time_a[0], 50); /* b begins, ends, begins, ends, a ends */
    assert_int_equal(start_b[0], start_a[0] + 10);
    assert_int_equal(time_b[0], 10);
    assert_int_equal(start_b[1], start_a[0] + 30);
    assert_int_equal(time_b[1], 10);
    assert_int_equal(record_slice(r, "a")->exclusive, 30);
    assert_int_equal(record_slice(r, "b")->summary.total, 20);
    free(start_a), free(start_b), free(time_a), free(time_b);
}

static void nested_calls_have_exact_times(void **state)
{
    (void)state;
    record_start(1024, 10);
    scope_begin(a);
    for (int i = 0; i < 2; i++)
        scope_begin(b), scope_end(b);
    scope_end(a);
    record_end(check_nested);
}

static void check_crossed(struct sc_recording *r)
{
    assert_int_equal(record_slice(r, "a")->summary.total, 20);
    assert_int_equal(record_slice(r, "b")->summary.total, 20);
    assert_int_equal(r->rank.crossed, 1);
    assert_int_equal(r->rank.unfinished, 0);
    assert_int_equal(r->rank.unmatched, 0);
    /* b began inside a and outlived it by half: a's own time is what b did not take of it */
    assert_int_equal(record_slice(r, "a")->exclusive, 10);
}

static void crossing_regions_keep_their_own_times(void **state)
{
    (void)state;
    record_start(1024, 10);
    scope_begin(a), scope_begin(b), scope_end(a), scope_end(b);
    record_end(check_crossed);
}

static void check_abandoned(struct sc_recording *r)
{
    assert_int_equal(record_slice(r, "p")->summary.total, 40);
    assert_int_equal(record_slice(r, "b")->summary.total, 20); /* closed with p */
    assert_int_equal(r->rank.unfinished, 1);
    assert_int_equal(r->rank.unmatched, 0);
}

static void a_region_left_by_longjmp_is_closed_at_the_second_end_around_it(void **state)
{
    (void)state;
    record_start(1024, 10);
    scope_begin(p), scope_begin(a), scope_begin(b); /* never ended */
    scope_end(a);
    scope_end(p);
    record_end(check_abandoned);
}

static void check_unbalanced(struct sc_recording *r)
{
    assert_int_equal(r->rank.unmatched, 2);
    assert_int_equal(r->rank.unfinished, 1);
    assert_int_equal(record_slice(r, "a")->rows, 1);
    assert_int_equal(record_slice(r, "b")->rows, 1);
    assert_true(record_slice(r, "b")->summary.total > 0);
}

static void unbalanced_calls_are_counted(void **state)
{
    (void)state;
    record_start(1024, 10);
    scope_end(a);
    scope_begin(a), scope_end(a), scope_end(a);
    scope_begin(b);
    record_end(check_unbalanced);
}

/* ---- pause ---- */

static void check_paused(struct sc_recording *r)
{
    assert_int_equal(r->rank.paused, 2);
    assert_int_equal(r->rank.unmatched, 0);
    assert_int_equal(record_slice(r, "a")->rows, 1);
    assert_int_equal(record_slice(r, "b")->rows, 1);
    assert_int_equal(record_slice(r, "a")->summary.total,
                     50); /* to its own end, not an inner one */
}

static void a_paused_call_never_closes_another(void **state)
{
    (void)state;
    record_start(1024, 10);
    scope_begin(a);
    scope_pause();
    assert_int_equal(scope_is_active(), 0);
    scope_begin(a); /* not recorded; its end reads the clock all the same */
    scope_resume();
    scope_begin(b), scope_end(b);
    scope_end(a); /* of the paused call */
    scope_pause();
    scope_begin(b), scope_end(b);
    scope_resume();
    scope_end(a);
    record_end(check_paused);
}

static void check_no_growth(struct sc_recording *r)
{
    assert_int_equal(r->rank.paused, 1000000);
    assert_int_equal(r->rows, 1);
    assert_true(r->rank.memory_bytes < 100000);
}

static void paused_calls_take_no_memory(void **state)
{
    (void)state;
    record_start(1024, 0);
    scope_begin(a), scope_end(a);
    scope_pause();
    for (int i = 0; i < 1000000; i++)
        scope_begin(b), scope_end(b);
    record_end(check_no_growth);
}

/* ---- amounts ---- */

static int fib(int n)
{
    int result;

    scope_begin(a);
    result = n < 2 ? n : fib(n - 1) + fib(n - 2);
    scope_end(a);
    return result;
}

static void check_fib(struct sc_recording *r)
{
    size_t paths;

    assert_int_equal(r->rows, 177);
    (void)sc_callpath_paths(r->paths, &paths);
    assert_int_equal(paths, 10); /* one per depth */
}

static void recursion_keeps_every_call(void **state)
{
    (void)state;
    record_start(16, 0);
    assert_int_equal(fib(10), 55);
    record_end(check_fib);
}

enum { MANY = 1000000 };

static void check_many(struct sc_recording *r)
{
    int64_t *starts, *times;

    assert_int_equal(r->rows, MANY);
    assert_true(r->rank.memory_bytes <= 20ull * MANY);
    record_rows(r, record_slice(r, "a"), &starts, &times);
    for (int i = 1; i < MANY; i++) {
        assert_true(starts[i] >= starts[i - 1]);
        assert_true(starts[i] >= starts[i - 1] + times[i - 1]); /* no overlap */
    }
    free(starts), free(times);
}

static void a_million_calls_grow_from_a_buffer_of_one(void **state)
{
    (void)state;
    record_start(1, 0);
    for (int i = 0; i < MANY; i++)
        scope_begin(a), scope_end(a);
    record_end(check_many);
}

static void check_lost(struct sc_recording *r)
{
    assert_true(r->rank.lost > 0);
    assert_int_equal(r->rank.unmatched, 0);
    assert_int_equal(r->rank.unfinished, 0);
    assert_int_equal(record_slice(r, "p")->rows, 1);
    assert_int_equal(record_slice(r, "a")->rows + r->rank.lost, MANY);
}

/* In a child: address space is taken away for a while. */
static void a_call_without_memory_is_counted_and_closes_nothing(void **state)
{
    pid_t pid;
    int status;
    (void)state;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    skip(); /* the sanitizer's own memory makes the limit meaningless */
#endif
    pid = fork();
    if (pid == 0) {
        struct rlimit before, none;
        getrlimit(RLIMIT_AS, &before);
        none = before;
        none.rlim_cur = 0;
        record_start(1024, 0);
        setrlimit(RLIMIT_AS, &none);
        scope_begin(p);
        for (int i = 0; i < MANY; i++)
            scope_begin(a), scope_end(a);
        scope_end(p);
        setrlimit(RLIMIT_AS, &before);
        record_end(check_lost);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* ---- threads ---- */

enum { THREADS = 8, PER_THREAD = 100000 };

static void *record_pairs(void *region)
{
    for (int i = 0; i < PER_THREAD; i++) {
        scope_begin(*(int *)region);
        scope_begin(p), scope_end(p);
        scope_end(*(int *)region);
    }
    return NULL;
}

static void check_threads(struct sc_recording *r)
{
    assert_int_equal(record_slice(r, "a")->rows, THREADS / 2 * PER_THREAD);
    assert_int_equal(record_slice(r, "b")->rows, THREADS / 2 * PER_THREAD);
    assert_int_equal(record_slice(r, "p")->rows, THREADS * PER_THREAD);
    assert_int_equal(r->rank.unmatched + r->rank.unfinished + r->rank.lost, 0);
}

static void threads_record_side_by_side(void **state)
{
    pthread_t thread[THREADS];
    (void)state;

    record_start(1024, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, record_pairs, i % 2 == 0 ? &a : &b);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    record_end(check_threads);
}

static void *record_one(void *unused)
{
    (void)unused;
    scope_begin(a), scope_end(a), scope_begin(b); /* b dies with its thread */
    return NULL;
}

static void check_short_threads(struct sc_recording *r)
{
    assert_int_equal(record_slice(r, "a")->rows, 2000);
    assert_int_equal(r->rank.unfinished, 2000);
    assert_true(r->rank.memory_bytes < 1000000); /* ended threads leave their lanes to new ones */
}

static void threads_that_come_and_go_share_lanes(void **state)
{
    (void)state;
    record_start(1024, 0);
    for (int i = 0; i < 2000; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, record_one, NULL);
        pthread_join(thread, NULL);
    }
    record_end(check_short_threads);
}

static int stop_hammering;

static void *hammer(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&stop_hammering, __ATOMIC_RELAXED)) {
        scope_begin(a);
        scope_begin(b), scope_end(b);
        scope_end(a);
    }
    return NULL;
}

static void check_hammered(struct sc_recording *r)
{
    int64_t *starts, *times;
    struct sc_slice *slice = record_slice(r, "b");

    record_rows(r, slice, &starts, &times);
    for (uint64_t i = 0; i < slice->rows; i++) {
        assert_true(times[i] >= 0);
        assert_true(starts[i] > 0 && starts[i] <= r->rank.end_ns);
    }
    free(starts), free(times);
}

static void finalize_while_threads_record_is_safe(void **state)
{
    pthread_t thread[3];
    (void)state;

    stop_hammering = 0;
    record_start(64, 0);
    for (int i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, hammer, NULL);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 20000; i++)
            scope_begin(b), scope_end(b);
        record_end(check_hammered);
        record_start(64, 0);
    }
    __atomic_store_n(&stop_hammering, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
    record_end(NULL);
}

/* ---- life ---- */

static void check_fresh(struct sc_recording *r)
{
    assert_int_equal(r->rows, 1);
    assert_int_equal(r->rank.unmatched, 0);
}

static void a_second_recording_begins_empty(void **state)
{
    (void)state;
    record_start(1024, 0);
    for (int i = 0; i < 5000; i++)
        scope_begin(a), scope_end(a);
    scope_begin(b);
    record_end(NULL);
    record_start(1024, 0);
    scope_begin(a), scope_end(a);
    record_end(check_fresh);
}

static void setup_twice_is_refused(void **state)
{
    (void)state;
    record_start(1024, 0);
    assert_int_equal(scope_setup(NULL), SCOPE_ESTATE);
    record_end(NULL);
}

static void a_forked_child_stands_down(void **state)
{
    pid_t pid;
    int status;
    (void)state;

    record_start(1024, 0);
    scope_begin(a);
    pid = fork();
    if (pid == 0) {
        scope_begin(b), scope_end(b);
        _exit(scope_is_active() != 0 || scope_finalize() != 0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    scope_end(a);
    record_end(check_fresh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handle_is_the_same_for_the_same_name),
        cmocka_unit_test(calls_outside_a_recording_do_nothing),
        cmocka_unit_test(nested_calls_have_exact_times),
        cmocka_unit_test(crossing_regions_keep_their_own_times),
        cmocka_unit_test(a_region_left_by_longjmp_is_closed_at_the_second_end_around_it),
        cmocka_unit_test(unbalanced_calls_are_counted),
        cmocka_unit_test(a_paused_call_never_closes_another),
        cmocka_unit_test(paused_calls_take_no_memory),
        cmocka_unit_test(recursion_keeps_every_call),
        cmocka_unit_test(a_million_calls_grow_from_a_buffer_of_one),
        cmocka_unit_test(a_call_without_memory_is_counted_and_closes_nothing),
        cmocka_unit_test(threads_record_side_by_side),
        cmocka_unit_test(threads_that_come_and_go_share_lanes),
        cmocka_unit_test(finalize_while_threads_record_is_safe),
        cmocka_unit_test(a_second_recording_begins_empty),
        cmocka_unit_test(setup_twice_is_refused),
        cmocka_unit_test(a_forked_child_stands_down),
        cmocka_unit_test(a_million_names_take_bounded_memory),
    };
    return cmocka_run_group_tests(tests, make_regions, NULL);
}
