/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * From lanes to the file's rows, call paths and totals: windows, operations, several threads.
 */
#include <pthread.h>
#include <stdio.h>

#include "clock.h"
#include "record.h"
#include "totals.h"

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

/* What a communication layer does around a call; request >= 0: the call starts one, which it gives.
 */
static struct sc_part *record_op(uint32_t region, int32_t comm, uint64_t sent, uint64_t received,
                                 int64_t request)
{
    struct sc_part *part = NULL;
    struct sc_thread *t = sc_buffer_thread();
    struct sc_op *op;

    if (t->op_next >= t->op_limit)
        assert_true(sc_buffer_grow_ops(t));
    op = t->op_next;
    *op = (struct sc_op){.sent = sent,
                         .received = received,
                         .region = (uint16_t)region,
                         .site = -1,
                         .comm = comm,
                         .object = -1,
                         .peer = -1,
                         .tag = -1};
    __atomic_store_n(&t->op_next, op + 1, __ATOMIC_RELEASE);
    op->start = sc_clock_ticks();
    if (request >= 0) {
        part = sc_part_add(t, op);
        assert_non_null(part);
        part->flags = SC_PART_REQUEST | SC_PART_RECEIVES;
        part->id = request;
        part->comm = comm;
    }
    __atomic_store_n(&op->end, sc_clock_ticks(), __ATOMIC_RELEASE);
    return part;
}

/* What it does when the request is complete. */
static void complete(struct sc_part *part, int32_t peer, uint64_t received, uint64_t waited)
{
    part->peer = peer;
    part->tag = 3;
    part->received = received;
    part->done = sc_clock_ticks();
    part->await = waited;
    sc_part_done(part);
}

/* ---- windows ---- */

static void check_windows(struct sc_recording *r)
{
    int64_t *starts = calloc(r->rows, sizeof *starts), *times = calloc(r->rows, sizeof *times);
    int64_t part_starts[7], part_times[7];

    assert_int_equal(r->rows, 1200);
    assert_int_equal(r->ops, 200);
    assert_int_equal(sc_recording_event_rows(r, 0, r->rows, 5, starts, times, NULL), 0);
    for (uint64_t first = 0; first < r->rows; first += 7) {
        size_t n = r->rows - first < 7 ? (size_t)(r->rows - first) : 7;
        assert_int_equal(sc_recording_event_rows(r, first, n, 5, part_starts, part_times, NULL), 0);
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
    const struct sc_op_maps maps = {map, map, map};
    int32_t comms[3], peers[3], tags[3];
    uint64_t sent[3], received[3];
    int64_t requests[3], starts[3], times[3], awaits[3];
    struct sc_op_columns columns = {.comms = comms,
                                    .peers = peers,
                                    .sent = sent,
                                    .received = received,
                                    .tags = tags,
                                    .requests = requests};
    const struct sc_slice *s = record_slice(r, "send");

    assert_int_equal(s->ops, 3);
    assert_int_equal(r->has, SC_HAS_REQUESTS | SC_HAS_AWAIT | SC_HAS_TAGS);
    assert_int_equal(sc_recording_op_rows(r, s->first_op, 3, &maps, &columns), 0);
    assert_int_equal(sc_recording_event_rows(r, s->first_row, 3, 0, starts, times, awaits), 0);
    assert_int_equal(comms[0], 4);
    assert_int_equal(comms[1], -1);
    assert_int_equal(comms[2], 3);
    assert_int_equal(sent[0], 100);
    assert_int_equal(received[1], 7);
    assert_int_equal(requests[0], -1);
    assert_int_equal(awaits[0], -1);
    /* What the request turned out to be is in the row of the call that started it. */
    assert_int_equal(requests[2], 42);
    assert_int_equal(received[2], 33);
    assert_int_equal(peers[2], 6);
    assert_int_equal(tags[2], 3);
    assert_int_equal(awaits[2], 20);
}

static void operations_keep_their_attributes(void **state)
{
    struct sc_part *part;

    (void)state;
    record_start(16, 10);
    record_op(send_id, 1, 100, 0, -1);
    record_op(wait_id, 0, 0, 0, -1);
    record_op(send_id, -1, 0, 7, -1);
    part = record_op(send_id, 2, 0, 0, 42);
    complete(part, 6, 33, 20);
    record_end(check_columns);
}

static const struct sc_total *find_total(struct sc_recording *r, uint32_t region, int parent_region,
                                         int32_t comm, uint32_t size_class)
{
    size_t paths;
    const struct sc_path *path = sc_callpath_paths(r->paths, &paths);
    const struct sc_totals *all = sc_callpath_totals(r->paths);
    const struct sc_total *total = all->total;

    for (size_t i = 0; i < all->count; i++) {
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
    assert_true(r->rank.memory_bytes < OPS * 20 + 500000);
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

/* ---- requests ---- */

enum { REQUESTS = 40000, LATE = 100 };

/* Each request is completed by another thread, long after the call that started it. */
static struct sc_part *handed[REQUESTS];

static void *complete_all(void *first)
{
    for (int i = *(int *)first; i < REQUESTS; i += 2)
        complete(handed[i], i % 5, 64, 10);
    return NULL;
}

static void check_requests(struct sc_recording *r)
{
    const struct sc_totals *all = sc_callpath_totals(r->paths);
    const struct sc_total *t = find_total(r, send_id, -1, 1, 7);
    uint64_t messages = 0;

    assert_non_null(t);
    assert_int_equal(t->calls, REQUESTS);
    assert_int_equal(t->received, 64 * REQUESTS);
    assert_int_equal(t->await, 10 * REQUESTS);
    assert_true(t->in_flight > 0);
    t = find_total(r, send_id, -1, 1, 0); /* those never completed */
    assert_non_null(t);
    assert_int_equal(t->calls, LATE);
    assert_int_equal(t->in_flight, 0);
    assert_int_equal(all->peer_count, 5);
    for (size_t i = 0; i < all->peer_count; i++)
        messages += all->peer[i].received_messages;
    assert_int_equal(messages, REQUESTS);
    assert_int_equal(r->rank.lost, 0);
}

static void record_requests(void)
{
    int first[2] = {0, 1};
    pthread_t thread[2];

    for (int i = 0; i < LATE; i++)
        record_op(send_id, 1, 0, 0, i);
    for (int i = 0; i < REQUESTS; i++) {
        handed[i] = record_op(send_id, 1, 0, 0, i);
        if (i == REQUESTS / 2) /* half of them are waited for by now, and forgotten calls' too */
            for (int k = 0; k < REQUESTS / 4; k++)
                complete(handed[k], k % 5, 64, 10);
    }
    for (int k = 0; k < REQUESTS / 4; k++)
        handed[k] = NULL;
    for (int i = 0; i < 2; i++) {
        first[i] += REQUESTS / 4;
        pthread_create(&thread[i], NULL, complete_all, &first[i]);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(thread[i], NULL);
}

static void requests_add_to_the_call_that_started_them(void **state)
{
    (void)state;
    record_start(16, 1);
    record_requests();
    record_end(check_requests);
}

static void requests_outlive_calls_that_are_forgotten(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_MPI_RECORD", "stats", 1);
    record_start(16, 1);
    unsetenv("SCOPE_PROFILER_MPI_RECORD");
    record_requests();
    record_end(check_requests);
}

/* ---- calls that are counted ---- */

static void check_counted(struct sc_recording *r)
{
    const struct sc_total *in_a = find_total(r, wait_id, a, -1, 0);
    const struct sc_total *outside = find_total(r, wait_id, -1, -1, 0);

    assert_int_equal(r->ops, 1);
    assert_non_null(in_a);
    assert_int_equal(in_a->calls, 3000);
    assert_int_equal(in_a->total, 3000 * 7);
    assert_int_equal(in_a->minimum, 7);
    assert_int_equal(in_a->maximum, 7);
    assert_non_null(outside);
    assert_int_equal(outside->calls, 5);
    assert_int_equal(outside->minimum, 1);
    assert_int_equal(outside->maximum, 5);
    assert_int_equal(r->rank.mpi_calls, 3006);
    assert_int_equal(record_slice(r, "a")->rows, 3);
    assert_int_equal(record_slice(r, "a")->exclusive,
                     record_slice(r, "a")->summary.total - 3000 * 7);
}

static void calls_without_rows_are_counted_where_they_were_made(void **state)
{
    struct sc_thread *t;
    struct sc_op *first;
    uint64_t now;

    (void)state;
    record_start(16, 10);
    t = sc_buffer_thread();
    first = t->op_next;
    now = sc_clock_ticks();
    for (uint64_t i = 1; i <= 5; i++)
        sc_buffer_count_call(t, wait_id, 4, now, now + i);
    for (int i = 0; i < 3; i++) {
        scope_begin(a);
        now = sc_clock_ticks();
        for (uint64_t k = 0; k < 1000; k++)
            sc_buffer_count_call(t, wait_id, 4, now, now + 7);
        for (int k = 0; k < 3000; k++) /* time passes, so that the region is longer */
            sc_clock_ticks();
        scope_end(a);
    }
    assert_int_equal(t->op_next - first, 4); /* places taken by 3005 calls */
    record_op(send_id, 0, 1, 0, -1);
    record_end(check_counted);
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
        cmocka_unit_test(requests_add_to_the_call_that_started_them),
        cmocka_unit_test(requests_outlive_calls_that_are_forgotten),
        cmocka_unit_test(calls_without_rows_are_counted_where_they_were_made),
        cmocka_unit_test(exclusive_times_add_up_to_the_whole),
        cmocka_unit_test(threads_are_merged_in_order_of_time),
        cmocka_unit_test(a_recording_of_nothing_is_one),
        cmocka_unit_test(ticks_become_nanoseconds_of_the_monotonic_clock),
    };
    return cmocka_run_group_tests(tests, make_regions, NULL);
}
