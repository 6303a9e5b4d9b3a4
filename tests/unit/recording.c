/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * From lanes to the file's rows, call paths and totals: windows, operations, several threads.
 */
#include <pthread.h>
#include <stdio.h>

#include "clock.h"
#include "record.h"

static int a, b;
static uint32_t send_id, wait_id;

static int make_regions(void **state)
{
    (void)state;
    a = scope_region("a");
    b = scope_region("b");
    send_id = (uint32_t)sc_region_id(SC_REGION_MPI, "send", "[\"mpi\"]", NULL, -1);
    wait_id = (uint32_t)sc_region_id(SC_REGION_MPI, "wait", "[\"mpi\"]", NULL, -1);
    return a < 0 || b < 0;
}

/* What a communication layer does around a call. */
static void record_op(uint32_t region, int32_t comm, uint64_t sent, uint64_t received,
                      int64_t request)
{
    struct sc_thread *t = sc_buffer_thread();
    struct sc_op *op;

    if (t->op_next >= t->op_limit)
        assert_true(sc_buffer_grow_ops(t));
    op = t->op_next;
    *op = (struct sc_op){.sent = sent,
                         .received = received,
                         .request = request,
                         .region = region,
                         .comm = comm,
                         .root = -1};
    __atomic_store_n(&t->op_next, op + 1, __ATOMIC_RELEASE);
    op->start = sc_clock_ticks();
    __atomic_store_n(&op->end, sc_clock_ticks(), __ATOMIC_RELEASE);
}

/* ---- windows ---- */

static void check_windows(struct sc_recording *r)
{
    int64_t *starts = calloc(r->rows, sizeof *starts), *times = calloc(r->rows, sizeof *times);
    int64_t part_starts[7], part_times[7];

    assert_int_equal(r->rows, 1200);
    assert_int_equal(r->ops, 200);
    assert_int_equal(sc_recording_event_rows(r, 0, r->rows, 5, starts, times), 0);
    for (uint64_t first = 0; first < r->rows; first += 7) {
        size_t n = r->rows - first < 7 ? (size_t)(r->rows - first) : 7;
        assert_int_equal(sc_recording_event_rows(r, first, n, 5, part_starts, part_times), 0);
        assert_memory_equal(part_starts, starts + first, n * sizeof *starts);
        assert_memory_equal(part_times, times + first, n * sizeof *times);
    }
    free(starts), free(times);
}

static void any_window_gives_the_rows_of_the_whole(void **state)
{
    (void)state;
    record_start(16, 10);
    for (int i = 0; i < 200; i++) {
        scope_begin(a);
        for (int j = 0; j < 4; j++)
            scope_begin(b), scope_end(b);
        record_op(send_id, 0, 8, 0, -1);
        scope_end(a);
    }
    record_end(check_windows);
}

static void check_order(struct sc_recording *r)
{
    uint32_t count = sc_region_count(), *key = calloc(count, sizeof *key);

    for (uint32_t i = 0; i < count; i++)
        key[i] = count - i; /* the file's order is ours reversed */
    sc_recording_order(r, key);
    for (size_t i = 1; i < r->slice_count; i++) {
        assert_true(r->slices[i].region < r->slices[i - 1].region);
        assert_int_equal(r->slices[i].first_row,
                         r->slices[i - 1].first_row + r->slices[i - 1].rows);
    }
    free(key);
    check_windows(r);
}

static void slices_take_the_order_of_the_file(void **state)
{
    (void)state;
    record_start(16, 10);
    for (int i = 0; i < 200; i++) {
        scope_begin(a);
        for (int j = 0; j < 4; j++)
            scope_begin(b), scope_end(b);
        record_op(send_id, 0, 8, 0, -1);
        scope_end(a);
    }
    record_end(check_order);
}

/* ---- operations ---- */

static void check_columns(struct sc_recording *r)
{
    static const int32_t map[] = {5, 4, 3};
    int32_t comms[3], roots[3];
    uint64_t sent[3], received[3];
    int64_t requests[3];
    struct sc_op_columns columns = {comms, roots, sent, received, requests};
    const struct sc_slice *s = record_slice(r, "send");

    assert_int_equal(s->ops, 3);
    assert_true(r->has_requests);
    assert_int_equal(sc_recording_op_rows(r, s->first_op, 3, map, &columns), 0);
    assert_int_equal(comms[0], 4);
    assert_int_equal(comms[1], -1);
    assert_int_equal(comms[2], 3);
    assert_int_equal(sent[0], 100);
    assert_int_equal(received[1], 7);
    assert_int_equal(requests[2], 42);
    assert_int_equal(requests[0], -1);
}

static void operations_keep_their_attributes(void **state)
{
    (void)state;
    record_start(16, 10);
    record_op(send_id, 1, 100, 0, -1);
    record_op(wait_id, 0, 0, 0, -1);
    record_op(send_id, -1, 0, 7, -1);
    record_op(send_id, 2, 0, 0, 42);
    record_end(check_columns);
}

static const struct sc_total *find_total(struct sc_recording *r, uint32_t region, int parent_region,
                                         int32_t comm, uint32_t size_class)
{
    size_t paths, totals;
    const struct sc_path *path = sc_callpath_paths(r->paths, &paths);
    const struct sc_total *total = sc_callpath_totals(r->paths, &totals);

    for (size_t i = 0; i < totals; i++) {
        const struct sc_path *p = &path[total[i].path];
        int parent = p->parent < 0 ? -1 : (int)path[p->parent].region;
        if (p->region == region && parent == parent_region && total[i].comm == comm &&
            total[i].size_class == size_class)
            return &total[i];
    }
    return NULL;
}

enum { OPS = 30000 };

static void record_many_ops(void)
{
    for (int i = 0; i < OPS; i++) {
        scope_begin(i % 2 == 0 ? a : b);
        record_op(send_id, i % 3, 1u << (i % 5), 0, -1);
        scope_end(i % 2 == 0 ? a : b);
        record_op(wait_id, 0, 0, 0, -1);
    }
}

static void check_totals(struct sc_recording *r)
{
    uint64_t calls = 0;

    for (int parent = 0; parent < 2; parent++)
        for (int32_t comm = 0; comm < 3; comm++)
            for (uint32_t class = 1; class <= 5; class ++) {
                const struct sc_total *t = find_total(r, send_id, parent == 0 ? a : b, comm, class);
                assert_non_null(t);
                assert_int_equal(t->calls, OPS / 30);
                assert_int_equal(t->sent, (uint64_t)(OPS / 30) << (class - 1));
                assert_int_equal(t->total, 10 * (OPS / 30));
                assert_int_equal(t->minimum, 10);
                assert_int_equal(t->maximum, 10);
                calls += t->calls;
            }
    assert_int_equal(calls, OPS);
    assert_int_equal(find_total(r, wait_id, -1, 0, 0)->calls, OPS);
    assert_int_equal(r->rank.mpi_calls, 2 * OPS);
}

static void check_totals_with_rows(struct sc_recording *r)
{
    check_totals(r);
    assert_int_equal(r->ops, 2 * OPS);
}

static void check_totals_alone(struct sc_recording *r)
{
    check_totals(r);
    assert_int_equal(r->ops, 0);
    assert_int_equal(r->rows, OPS); /* the regions around them */
    assert_true(r->rank.memory_bytes < OPS * 20 + 200000);
}

static void totals_are_exact(void **state)
{
    (void)state;
    record_start(1024, 10);
    record_many_ops();
    record_end(check_totals_with_rows);
}

static void totals_are_exact_when_rows_are_not_kept(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_MPI_RECORD", "stats", 1);
    record_start(1024, 10);
    unsetenv("SCOPE_PROFILER_MPI_RECORD");
    record_many_ops();
    record_end(check_totals_alone);
}

static void size_classes_are_powers_of_two(void **state)
{
    (void)state;
    assert_int_equal(sc_size_class(0), 0);
    assert_int_equal(sc_size_class(1), 1);
    assert_int_equal(sc_size_class(2), 2);
    assert_int_equal(sc_size_class(3), 2);
    assert_int_equal(sc_size_class(4), 3);
    assert_int_equal(sc_size_class(UINT64_MAX), 64);
}

/* ---- call paths ---- */

static void check_whole(struct sc_recording *r)
{
    size_t count;
    const struct sc_path *path = sc_callpath_paths(r->paths, &count);
    int64_t exclusive = 0, outermost = 0;

    for (size_t i = 0; i < count; i++) {
        assert_true(path[i].parent < (int32_t)i);
        assert_true(path[i].exclusive >= 0 && path[i].exclusive <= path[i].total);
        exclusive += path[i].exclusive;
        if (path[i].parent < 0)
            outermost += path[i].total;
    }
    assert_int_equal(exclusive, outermost); /* the parts make the whole */
}

static void exclusive_times_add_up_to_the_whole(void **state)
{
    (void)state;
    record_start(16, 10);
    record_many_ops();
    for (int i = 0; i < 1000; i++) {
        scope_begin(a), scope_begin(b), scope_begin(a);
        record_op(send_id, 0, 1, 1, -1);
        scope_end(a), scope_end(b), scope_end(a);
    }
    record_end(check_whole);
}

enum { THREADS = 4, PER_THREAD = 20000 };

static void *record_nested(void *unused)
{
    (void)unused;
    for (int i = 0; i < PER_THREAD; i++) {
        scope_begin(a);
        record_op(send_id, 0, 16, 0, -1);
        scope_begin(b), scope_end(b);
        scope_end(a);
    }
    return NULL;
}

static void check_merged(struct sc_recording *r)
{
    int64_t *starts, *times;
    const struct sc_slice *s = record_slice(r, "a");
    size_t count;
    const struct sc_path *path = sc_callpath_paths(r->paths, &count);

    assert_int_equal(count, 3); /* every thread has the same paths */
    assert_int_equal(path[0].calls, THREADS * PER_THREAD);
    assert_int_equal(s->rows, THREADS * PER_THREAD);
    assert_int_equal(r->rank.threads, THREADS + 1);
    record_rows(r, s, &starts, &times);
    for (uint64_t i = 1; i < s->rows; i++)
        assert_true(starts[i] >= starts[i - 1]);
    free(starts), free(times);
    assert_int_equal(find_total(r, send_id, a, 0, 5)->calls, THREADS * PER_THREAD);
}

static void threads_are_merged_in_order_of_time(void **state)
{
    pthread_t thread[THREADS];
    (void)state;

    record_start(16, 0);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, record_nested, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    record_end(check_merged);
}

static void check_empty(struct sc_recording *r)
{
    assert_int_equal(r->slice_count, 0);
    assert_int_equal(r->rows, 0);
    assert_int_equal(r->rank.mpi_calls, 0);
}

static void a_recording_of_nothing_is_one(void **state)
{
    (void)state;
    record_start(1024, 0);
    record_end(check_empty);
}

/* ---- the clock ---- */

static void ticks_become_nanoseconds_of_the_monotonic_clock(void **state)
{
    int64_t before, after, converted;
    (void)state;

    unsetenv("SCOPE_TEST_CLOCK");
    sc_clock_start();
    for (int64_t until = sc_clock_monotonic() + 20000000; sc_clock_monotonic() < until;) {
    }
    sc_clock_calibrate();
    before = sc_clock_monotonic();
    converted = sc_clock_ns(sc_clock_ticks());
    after = sc_clock_monotonic();
    assert_true(converted >= before - 1000 && converted <= after + 1000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_window_gives_the_rows_of_the_whole),
        cmocka_unit_test(slices_take_the_order_of_the_file),
        cmocka_unit_test(operations_keep_their_attributes),
        cmocka_unit_test(totals_are_exact),
        cmocka_unit_test(totals_are_exact_when_rows_are_not_kept),
        cmocka_unit_test(size_classes_are_powers_of_two),
        cmocka_unit_test(exclusive_times_add_up_to_the_whole),
        cmocka_unit_test(threads_are_merged_in_order_of_time),
        cmocka_unit_test(a_recording_of_nothing_is_one),
        cmocka_unit_test(ticks_become_nanoseconds_of_the_monotonic_clock),
    };
    return cmocka_run_group_tests(tests, make_regions, NULL);
}
