/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What operations, their parts and calls that are only counted add up to, whether they are kept or
 * forgotten, and whoever completes them when.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>

#include "clock.h"
#include "record.h"
#include "totals.h"

static int outer;
static uint32_t routine;

static int make_regions(void **state)
{
    (void)state;
    outer = scope_region("outer");
    routine = (uint32_t)sc_region_id(SC_REGION_MPI, "Routine", "[\"mpi\"]", NULL, -1);
    return outer < 0;
}

static void start(bool keep_ops)
{
    setenv("SCOPE_PROFILER_MPI_RECORD", keep_ops ? "calls" : "stats", 1);
    record_start(16, 1);
    unsetenv("SCOPE_PROFILER_MPI_RECORD");
}

static struct sc_op call_on(int32_t comm, int32_t peer, uint64_t sent, uint64_t received)
{
    return (struct sc_op){.sent = sent,
                          .received = received,
                          .site = -1,
                          .comm = comm,
                          .object = -1,
                          .peer = peer,
                          .tag = -1};
}

/* What a communication layer does around a call; part[i] becomes the i-th that was added. */
static void record_call(struct sc_op like, int parts, struct sc_part **part)
{
    struct sc_thread *t = sc_buffer_thread();
    struct sc_op *op;

    if (t->op_next >= t->op_limit)
        assert_true(sc_buffer_grow_ops(t));
    op = t->op_next;
    *op = like;
    op->region = (uint16_t)routine;
    op->start = op->end = 0;
    __atomic_store_n(&t->op_next, op + 1, __ATOMIC_RELEASE);
    op->start = sc_clock_ticks();
    for (int i = 0; i < parts; i++) {
        part[i] = sc_part_add(t, op);
        assert_non_null(part[i]);
    }
    __atomic_store_n(&op->end, sc_clock_ticks(), __ATOMIC_RELEASE);
}

static void complete(struct sc_part *part, uint64_t waited)
{
    part->done = sc_clock_ticks();
    part->await = waited;
    sc_part_done(part);
}

static const struct sc_total *find(struct sc_recording *r, int32_t comm, uint32_t size_class)
{
    const struct sc_totals *all = sc_callpath_totals(r->paths);

    for (size_t i = 0; i < all->count; i++)
        if (all->total[i].comm == comm && all->total[i].size_class == size_class)
            return &all->total[i];
    fail_msg("no entry of communicator %d and size class %u", comm, size_class);
    return NULL;
}

static const struct sc_peer *find_peer(struct sc_recording *r, int32_t peer)
{
    const struct sc_totals *all = sc_callpath_totals(r->paths);

    for (size_t i = 0; i < all->peer_count; i++)
        if (all->peer[i].peer == peer)
            return &all->peer[i];
    return NULL;
}

/* ---- parts ---- */

static void check_groups(struct sc_recording *r)
{
    assert_int_equal(sc_callpath_totals(r->paths)->count, 4);
    assert_int_equal(find(r, 0, 7)->calls, 1);
    assert_int_equal(find(r, 0, 7)->sent, 100);
    assert_int_equal(find(r, 0, 7)->received, 50);
    assert_int_equal(find(r, 0, 7)->await, 3);
    assert_int_equal(find(r, 1, 11)->calls, 0);
    assert_int_equal(find(r, 1, 11)->received, 2000);
    assert_int_equal(find(r, 1, 11)->await, 7 + 9);
    assert_int_equal(find(r, 1, 11)->minimum, INT64_MAX);
    assert_int_equal(find(r, 2, 3)->sent, 7);
    assert_true(find(r, 2, 3)->in_flight > 0);
    /* The second call has no communicator but that of its first part. */
    assert_int_equal(find(r, 5, 6)->calls, 1);
    assert_int_equal(find(r, 5, 6)->received, 60);
    assert_int_equal(r->rank.mpi_calls, 2);
}

static void make_groups(bool keep_ops)
{
    static const int32_t comm[] = {0, 1, 2, 1, -1};
    static const uint64_t received[] = {50, 1000, 0, 1000, 0};
    static const uint64_t waited[] = {3, 7, 0, 9, 0};
    struct sc_part *part[5], *other[2];

    start(keep_ops);
    record_call(call_on(0, -1, 100, 0), 5, part);
    record_call(call_on(-1, -1, 0, 0), 2, other);
    other[0]->comm = 5;
    other[1]->received = 60;
    for (int i = 0; i < 5; i++) {
        part[i]->flags = SC_PART_REQUEST;
        part[i]->comm = comm[i];
        part[i]->received = received[i];
        part[i]->sent = i == 2 ? 7 : 0;
    }
    if (!keep_ops)
        assert_true(sc_buffer_grow_ops(sc_buffer_thread())); /* forgets all */
    for (int i = 4; i >= 0; i--)
        complete(part[i], waited[i]);
    record_end(check_groups);
}

static void parts_count_on_their_own_communicator(void **state)
{
    (void)state;
    make_groups(true);
    make_groups(false);
}

static void check_peers(struct sc_recording *r)
{
    const struct sc_peer *p = find_peer(r, 1);

    assert_int_equal(sc_callpath_totals(r->paths)->peer_count, 3);
    assert_int_equal(p->sent_messages, 2);
    assert_int_equal(p->sent_bytes, 10 + 30);
    assert_int_equal(p->received_messages, 0); /* it is still under way */
    p = find_peer(r, 2);
    assert_int_equal(p->received_messages, 2);
    assert_int_equal(p->received_bytes, 20 + 40);
    assert_int_equal(p->sent_messages, 0); /* it was cancelled */
    p = find_peer(r, 3);
    assert_int_equal(p->rma_operations, 1);
    assert_int_equal(p->rma_sent, 5);
    assert_int_equal(p->rma_received, 6);
}

static void record_flagged(uint16_t flags, struct sc_op like)
{
    like.flags = flags;
    record_call(like, 0, NULL);
}

static void make_peers(bool keep_ops)
{
    struct sc_part *part[4];

    start(keep_ops);
    record_flagged(SC_OP_SENDS, call_on(-1, 1, 10, 0));
    record_flagged(SC_OP_RECEIVES, call_on(-1, 2, 0, 20));
    record_flagged(SC_OP_RMA, call_on(-1, 3, 5, 6));
    record_flagged(0, call_on(-1, 4, 1 << 20, 0)); /* a collective one */
    record_call(call_on(-1, -1, 0, 0), 4, part);
    part[0]->flags = SC_PART_SENDS;
    part[0]->peer = 1;
    part[0]->sent = 30;
    part[1]->flags = SC_PART_SENDS;
    part[1]->peer = part[2]->peer = 2;
    part[1]->sent = 99;
    part[2]->flags = part[3]->flags = SC_PART_RECEIVES;
    part[3]->peer = 1;
    if (!keep_ops)
        assert_true(sc_buffer_grow_ops(sc_buffer_thread()));
    complete(part[0], 0);
    part[1]->flags |= SC_PART_CANCELLED;
    part[1]->sent = 0;
    complete(part[1], 0);
    part[2]->received = 40;
    complete(part[2], 0);
    record_end(check_peers);
}

static void peers_are_told_apart_by_direction(void **state)
{
    (void)state;
    make_peers(true);
    make_peers(false);
}

/* ---- many calls, completed by other threads after the thread forgot them, or before, or never
 * ----
 */

enum { CALLS = 20000, PARTS = 3, COMMS = 3, PEERS = 7, BEHIND = 700 };

static struct sc_part *handed[CALLS][PARTS];
static int posted; /* calls so far; stored with release */

static uint32_t chance(uint32_t i)
{
    return (uint32_t)((i + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

static void post(uint32_t i)
{
    struct sc_op like = call_on((int32_t)(i % (COMMS + 1)) - 1, -1, i % 5 * 100, 0);
    int parts = (int)(chance(i) % (PARTS + 1));
    struct sc_part **part = handed[i];

    like.site = (int32_t)(i % 2);
    record_call(like, parts, part);
    for (int k = 0; k < parts; k++) {
        part[k]->flags = SC_PART_REQUEST | (k == 0 ? SC_PART_SENDS : 0);
        part[k]->comm = (int32_t)(chance(i + (uint32_t)k) % COMMS);
        part[k]->peer = (int32_t)(chance(i) % PEERS);
        part[k]->sent = k == 0 ? 10 : 0;
    }
    __atomic_store_n(&posted, (int)i + 1, __ATOMIC_RELEASE);
}

/* One in 50 is never completed. */
static void *complete_parts(void *first)
{
    for (int i = *(int *)first; i < CALLS; i += 2) {
        int needed = i + 1 + (chance((uint32_t)i) % 3 == 0 ? BEHIND : 0);
        while (__atomic_load_n(&posted, __ATOMIC_ACQUIRE) < (needed < CALLS ? needed : CALLS))
            sched_yield();
        for (int k = 0; k < PARTS && handed[i][k] != NULL && i % 50 != 0; k++) {
            handed[i][k]->flags |= k == 1 ? SC_PART_RECEIVES : 0;
            handed[i][k]->received = k == 1 ? (uint64_t)i : 0;
            complete(handed[i][k], 4);
        }
    }
    return NULL;
}

static struct sc_total sums[2][COMMS + 1][65];
static struct sc_peer peers[2][PEERS];
static int run;

static void keep_sums(struct sc_recording *r)
{
    const struct sc_totals *all = sc_callpath_totals(r->paths);

    for (size_t i = 0; i < all->count; i++) {
        struct sc_total *to = &sums[run][all->total[i].comm + 1][all->total[i].size_class];
        to->calls += all->total[i].calls;
        to->sent += all->total[i].sent;
        to->received += all->total[i].received;
        to->await += all->total[i].await;
    }
    for (size_t i = 0; i < all->peer_count; i++)
        if (all->peer[i].peer >= 0)
            peers[run][all->peer[i].peer] = all->peer[i];
    assert_int_equal(r->rank.mpi_calls, CALLS);
    assert_int_equal(r->rank.lost, 0);
    assert_int_equal(r->ops, run == 0 ? CALLS : 0);
}

static void sums_do_not_depend_on_what_is_kept(void **state)
{
    (void)state;
    for (run = 0; run < 2; run++) {
        int first[2] = {0, 1};
        pthread_t thread[2];

        memset(handed, 0, sizeof handed);
        posted = 0;
        start(run == 0);
        for (int i = 0; i < 2; i++)
            pthread_create(&thread[i], NULL, complete_parts, &first[i]);
        for (uint32_t i = 0; i < CALLS; i++)
            post(i);
        for (int i = 0; i < 2; i++)
            pthread_join(thread[i], NULL);
        record_end(keep_sums);
    }
    assert_memory_equal(sums[0], sums[1], sizeof sums[0]);
    assert_memory_equal(peers[0], peers[1], sizeof peers[0]);
    assert_true(peers[0][0].received_messages > 0);
    assert_true(peers[0][0].sent_bytes > 0);
}

static void check_room(struct sc_recording *r)
{
    assert_int_equal(r->rank.mpi_calls, CALLS);
    /* Blocks grow in steps: room for a thousand parts and operations at a time is enough here. */
    assert_in_range(r->rank.memory_bytes, 1, 1 << 20);
}

static void parts_of_forgotten_calls_are_used_again(void **state)
{
    struct sc_part *part;

    (void)state;
    start(false);
    for (int i = 0; i < CALLS; i++) {
        record_call(call_on(-1, -1, 0, 0), 1, &part);
        complete(part, 0);
    }
    record_end(check_room);
}

/* ---- calls that are only counted ---- */

enum { SITES = 6, ROUNDS = 1000 };

static void check_sites(struct sc_recording *r)
{
    const struct sc_totals *all = sc_callpath_totals(r->paths);

    assert_int_equal(all->count, 2 * SITES);
    for (size_t i = 0; i < all->count; i++) {
        assert_int_equal(all->total[i].calls, ROUNDS);
        assert_int_equal(all->total[i].total, 3 * ROUNDS);
    }
    assert_int_equal(r->ops, 0);
}

static void count_round(struct sc_thread *t)
{
    for (int32_t site = 0; site < SITES; site++) {
        uint64_t now = sc_clock_ticks();
        sc_buffer_count_call(t, routine, 8 * site, now, now + 3);
    }
}

static void calls_of_several_sites_share_a_place_each(void **state)
{
    struct sc_thread *t;
    struct sc_op *first;

    (void)state;
    for (int keep = 0; keep < 2; keep++) {
        start(keep);
        t = sc_buffer_thread();
        first = t->op_next;
        for (int i = 0; i < ROUNDS; i++)
            count_round(t);
        scope_begin(outer);
        for (int i = 0; i < ROUNDS; i++)
            count_round(t);
        scope_end(outer);
        assert_int_equal(t->op_next - first, 2 * SITES);
        record_end(check_sites);
    }
}

static void check_forgotten(struct sc_recording *r)
{
    const struct sc_totals *all = sc_callpath_totals(r->paths);
    uint64_t calls = 0;

    for (size_t i = 0; i < all->count; i++)
        calls += all->total[i].calls;
    assert_int_equal(calls, SITES * ROUNDS + ROUNDS);
    assert_int_equal(r->rank.mpi_calls, SITES * ROUNDS + ROUNDS);
}

static void counting_goes_on_when_operations_are_forgotten(void **state)
{
    (void)state;
    start(false);
    for (int i = 0; i < ROUNDS; i++) {
        count_round(sc_buffer_thread());
        record_call(call_on(-1, -1, 0, 0), 0, NULL);
    }
    record_end(check_forgotten);
}

/* ---- after the end ---- */

static void check_late(struct sc_recording *r)
{
    struct sc_recording *again;
    uint64_t now = sc_clock_ticks();

    record_call(call_on(77, -1, 0, 0), 0, NULL);
    sc_buffer_count_call(sc_buffer_thread(), routine, 78, now, now + 1);
    assert_int_equal(sc_recording_create(&again), 0);
    assert_int_equal(r->ops, 1);
    assert_int_equal(again->ops, 1);
    assert_int_equal(again->rank.mpi_calls, 1);
    assert_int_equal(sc_callpath_totals(again->paths)->count, 1);
    sc_recording_free(again);
}

static void what_ends_after_the_recording_is_no_part_of_it(void **state)
{
    (void)state;
    start(true);
    record_call(call_on(-1, -1, 0, 0), 0, NULL);
    record_end(check_late);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_count_on_their_own_communicator),
        cmocka_unit_test(peers_are_told_apart_by_direction),
        cmocka_unit_test(sums_do_not_depend_on_what_is_kept),
        cmocka_unit_test(parts_of_forgotten_calls_are_used_again),
        cmocka_unit_test(calls_of_several_sites_share_a_place_each),
        cmocka_unit_test(counting_goes_on_when_operations_are_forgotten),
        cmocka_unit_test(what_ends_after_the_recording_is_no_part_of_it),
    };

    return cmocka_run_group_tests(tests, make_regions, NULL);
}
