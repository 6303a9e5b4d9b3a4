/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scope_read: a profile of known content, table by table, as a program of the user reads it. The
 * content is that of tests/golden/make.py.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "scope_read.h"

#define MS 1000000

static int open_golden(const char *name, scope_reader **out)
{
    const char *top = getenv("abs_top_srcdir");
    char path[4096];

    snprintf(path, sizeof path, "%s/tests/golden/%s", top != NULL ? top : ".", name);
    return scope_read_open(path, out);
}

static int open_synthetic(void **state)
{
    return open_golden("synthetic-v1.h5", (scope_reader **)state);
}

static int open_synthetic_2(void **state)
{
    return open_golden("synthetic-v2.h5", (scope_reader **)state);
}

static int close_reader(void **state)
{
    scope_read_close(*state);
    return 0;
}

static void assert_text(scope_text text, const char *expected)
{
    assert_int_equal(text.length, strlen(expected));
    assert_memory_equal(text.data, expected, text.length + 1);
}

static void sizes_are_those_of_the_tables(void **state)
{
    scope_read_size size;

    scope_read_sizes(*state, &size);
    assert_int_equal(size.schema, 3);
    assert_int_equal(size.version, 1);
    assert_int_equal(size.regions, 10);
    assert_int_equal(size.slices, 34);
    assert_int_equal(size.events, 178);
    assert_int_equal(size.mpi_events, 120);
    assert_int_equal(size.ranks, 4);
    assert_int_equal(size.paths, 10);
    assert_int_equal(size.path_stats, 34);
    assert_int_equal(size.communicators, 2);
    assert_int_equal(size.peers + size.objects + size.sites + size.modules, 0);
}

static void metadata_keep_their_kinds(void **state)
{
    const scope_metadata *m = scope_read_metadata_find(*state, "modules");

    assert_true(m->is_list);
    assert_int_equal(m->count, 2);
    assert_text(m->texts[1], "openmpi/4.1");
    m = scope_read_metadata_find(*state, "total_cores");
    assert_false(m->is_list);
    assert_int_equal(m->integers[0], 4);
    m = scope_read_metadata_find(*state, "load");
    assert_true(m->reals[0] == 0.25);
    assert_int_equal(scope_read_metadata_find(*state, "empty_list")->count, 0);
    assert_null(scope_read_metadata_find(*state, "nothing"));
    assert_null(scope_read_metadata(*state, scope_read_metadata_count(*state)));
}

static void names_are_bytes(void **state)
{
    assert_text(scope_read_region(*state, 7), "odd \"name\",\nof/two\tlines");
    assert_text(scope_read_region(*state, 9), "bad \xff\xfe bytes");
    assert_text(scope_read_region(*state, 14), ""); /* there is none */
}

/* The slice of a (rank, region). */
static scope_slice find_slice(scope_reader *reader, uint32_t rank, uint32_t region)
{
    scope_slice slices[46];
    scope_read_size size;

    scope_read_sizes(reader, &size);
    assert_in_range(size.slices, 34, 46);
    assert_int_equal(scope_read_slices(reader, 0, (size_t)size.slices, slices), 0);
    for (size_t i = 0; i < size.slices; i++)
        if (slices[i].rank == rank && slices[i].region == region)
            return slices[i];
    fail();
    return slices[0];
}

static void events_come_as_absolute_times_in_blocks(void **state)
{
    scope_slice step = find_slice(*state, 2, 3);
    int64_t clock = 0, starts[4], durations[4];

    assert_int_equal(step.events, 10);
    assert_int_equal(step.total, 600 * (int64_t)MS);
    for (uint64_t first = 0; first < 10; first += 4) {
        size_t n = first + 4 <= 10 ? 4 : (size_t)(10 - first);

        assert_int_equal(scope_read_events(*state, &step, first, n, &clock, starts, durations), 0);
        for (size_t i = 0; i < n; i++) {
            assert_int_equal(starts[i], 5051 * (int64_t)MS + (int64_t)(first + i) * 60 * MS);
            assert_int_equal(durations[i], 60 * MS);
        }
    }
    assert_int_equal(scope_read_events(*state, &step, 8, 4, &clock, starts, durations), SC_EINVAL);
}

static void mpi_columns_belong_to_their_slice(void **state)
{
    scope_slice waits = find_slice(*state, 0, 6), step = find_slice(*state, 0, 3);
    scope_mpi_call calls[10];

    assert_int_equal(scope_read_mpi(*state, &waits, 0, 10, calls), 0);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(calls[i].communicator, 0);
        assert_int_equal(calls[i].peer, -1);
        assert_int_equal(calls[i].tag, -1);
        assert_int_equal(calls[i].object, -1);
        assert_int_equal(calls[i].site, -1);
        assert_int_equal(calls[i].error, 0);
        assert_int_equal(calls[i].bytes_sent, 0);
        assert_int_equal(calls[i].bytes_received, 8000);
        assert_int_equal(calls[i].request, -1);
    }
    assert_true(step.first_mpi == SCOPE_NO_MPI);
    assert_int_equal(scope_read_mpi(*state, &step, 0, 1, calls), SC_EINVAL);
}

static void a_profile_of_version_1_says_nothing_of_what_came_later(void **state)
{
    scope_slice waits = find_slice(*state, 0, 6);
    scope_mpi_total_row total;
    int64_t awaits[10];

    assert_int_equal(scope_read_await(*state, &waits, 0, 10, awaits), 0);
    assert_int_equal(awaits[9], -1);
    assert_int_equal(scope_read_mpi_totals(*state, 0, 1, &total), 0);
    assert_int_equal(total.calls, 10);
    assert_int_equal(total.object, -1);
    assert_int_equal(total.site, -1);
    assert_int_equal(total.await, 0);
    assert_int_equal(total.in_flight, 0);
}

static void calls_of_version_2_have_all_columns(void **state)
{
    scope_slice sends = find_slice(*state, 1, 5), opens = find_slice(*state, 3, 10);
    scope_slice puts = find_slice(*state, 3, 12), step = find_slice(*state, 1, 3);
    scope_mpi_call calls[10];
    int64_t awaits[10];

    assert_int_equal(scope_read_mpi(*state, &sends, 0, 10, calls), 0);
    for (size_t i = 0; i < 10; i++) {
        assert_int_equal(calls[i].communicator, 0);
        assert_int_equal(calls[i].peer, 2);
        assert_int_equal(calls[i].tag, 7);
        assert_int_equal(calls[i].bytes_sent, 8000);
        assert_int_equal(calls[i].request, 10 + i);
        assert_int_equal(calls[i].object, -1);
        assert_int_equal(calls[i].site, 0);
        assert_int_equal(calls[i].error, 0);
    }
    assert_int_equal(scope_read_await(*state, &sends, 3, 7, awaits), 0);
    assert_int_equal(awaits[6], 200000);
    assert_int_equal(scope_read_await(*state, &step, 0, 1, awaits), 0);
    assert_int_equal(awaits[0], -1);
    assert_int_equal(scope_read_await(*state, &step, 9, 2, awaits), SC_EINVAL);
    assert_int_equal(scope_read_mpi(*state, &opens, 0, 1, calls), 0);
    assert_int_equal(calls[0].object, 0);
    assert_int_equal(calls[0].site, 3);
    assert_int_equal(calls[0].error, 20);
    assert_int_equal(calls[0].tag, -1);
    assert_int_equal(calls[0].peer, -1);
    assert_int_equal(scope_read_mpi(*state, &puts, 0, 1, calls), 0);
    assert_int_equal(calls[0].object, 1);
    assert_int_equal(calls[0].peer, 1);
}

static void tables_of_version_2_say_what_was_written(void **state)
{
    scope_read_size size;
    scope_mpi_total_row total;
    scope_peer_row peer;
    scope_object_row object;
    scope_site_row site;
    scope_text text;
    uint64_t calls = 0, empty = 0;

    scope_read_sizes(*state, &size);
    assert_int_equal(size.version, 2);
    for (uint64_t i = 0; i < size.mpi_totals; i++) {
        assert_int_equal(scope_read_mpi_totals(*state, i, 1, &total), 0);
        calls += total.calls;
        empty += total.calls == 0;
    }
    assert_int_equal(calls, 4 * (37 + 1000));
    assert_int_equal(empty, 1);
    assert_int_equal(size.peers, 13);
    assert_int_equal(scope_read_peers(*state, 0, 1, &peer), 0);
    assert_int_equal(peer.peer, -1);
    assert_int_equal(peer.received_messages, 2);
    assert_int_equal(scope_read_peers(*state, 1, 1, &peer), 0);
    assert_int_equal(peer.peer, 1);
    assert_int_equal(peer.sent_messages, 10);
    assert_int_equal(peer.sent_bytes, 80000);
    assert_int_equal(scope_read_peers(*state, 2, 1, &peer), 0);
    assert_int_equal(peer.rma_operations, 2);
    assert_int_equal(peer.rma_sent, 1600);
    assert_int_equal(size.objects, 2);
    assert_int_equal(scope_read_objects(*state, 1, 1, &object), 0);
    assert_int_equal(object.kind, SCOPE_OBJECT_WINDOW);
    assert_int_equal(object.communicator, 1);
    assert_int_equal(scope_read_object_name(*state, 0, &text), 0);
    assert_text(text, "/nowhere/out.dat");
    assert_int_equal(size.sites, 5);
    assert_int_equal(scope_read_sites(*state, 3, 1, &site), 0);
    assert_int_equal(site.module, 1);
    assert_int_equal(site.offset, 0x40);
    assert_int_equal(size.modules, 2);
    assert_int_equal(scope_read_module_name(*state, 1, &text), 0);
    assert_text(text, "libother.so.1");
    assert_int_equal(scope_read_module_build_id(*state, 0, &text), 0);
    assert_text(text, "00c0ffee");
}

static void small_tables_say_what_was_written(void **state)
{
    scope_rank_row rank;
    scope_comm_row comm;
    scope_run_row run;
    scope_text text;
    size_t length;
    int64_t line;
    char *xml;

    assert_int_equal(scope_read_ranks(*state, 3, 1, &rank), 0);
    assert_int_equal(rank.node, 1);
    assert_int_equal(rank.pid, 1003);
    assert_int_equal(rank.mpi_calls, rank.mpi_events == 30 ? 30 : 1037);
    assert_int_equal(scope_read_binding(*state, 3, &text), 0);
    assert_text(text, "2-3");
    assert_int_equal(scope_read_comms(*state, 1, 1, &comm), 0);
    assert_int_equal(comm.parent, 0);
    assert_int_equal(comm.size, 2);
    assert_int_equal(scope_read_members(*state, comm.first_run, 1, &run), 0);
    assert_int_equal(run.stride, 2);
    assert_int_equal(scope_read_topology_xml(*state, 0, &xml, &length), 0);
    assert_int_equal(length, strlen(xml));
    assert_memory_equal(xml, "<?xml", 5);
    free(xml);
    assert_int_equal(scope_read_slice_text(*state, 0, SCOPE_SOURCE_FILE, &text), 0);
    assert_text(text, "heat.c");
    assert_int_equal(scope_read_slice_line(*state, 0, &line), 0);
    assert_int_equal(line, 10);
    assert_int_equal(scope_read_ranks(*state, 4, 1, &rank), SC_EINVAL);
}

static void a_profile_without_our_tables_has_one_path_per_region(void **state)
{
    scope_path_stats_row stats;
    scope_read_size size;
    scope_path_row path;
    scope_reader *reader;
    scope_slice slice;

    (void)state;
    assert_int_equal(open_golden("core-only.h5", &reader), 0);
    scope_read_sizes(reader, &size);
    assert_int_equal(size.version, 0);
    assert_int_equal(size.ranks, 4);
    assert_int_equal(size.rank_rows, 0);
    assert_int_equal(scope_read_paths(reader, 7, 1, &path), 0);
    assert_int_equal(path.parent, -1);
    assert_int_equal(path.region, 7);
    assert_int_equal(scope_read_path_stats(reader, 5, 1, &stats), 0);
    assert_int_equal(scope_read_slices(reader, 5, 1, &slice), 0);
    assert_int_equal(stats.path, slice.region);
    assert_int_equal(stats.total, slice.total);
    scope_read_close(reader);
}

static void what_is_no_profile_is_refused_by_name(void **state)
{
    scope_reader *reader = NULL;

    (void)state;
    assert_int_equal(open_golden("foreign.h5", &reader), SC_EFORMAT);
    assert_non_null(strstr(sc_last_error(), "foreign.h5: an HDF5 file, but not a profile"));
    assert_int_equal(open_golden("newer.h5", &reader), SC_EFORMAT);
    assert_int_equal(open_golden("newer-scope.h5", &reader), SC_EFORMAT);
    assert_int_equal(open_golden("overlap.h5", &reader), SC_EFORMAT);
    assert_int_equal(open_golden("no such file", &reader), SC_EIO);
    assert_int_equal(scope_read_open(NULL, &reader), SC_EINVAL);
    assert_null(reader);
    scope_read_close(NULL);
}

int main(void)
{
#define WITH_FILE(test) cmocka_unit_test_setup_teardown(test, open_synthetic, close_reader)
#define WITH_FILE_2(test) cmocka_unit_test_setup_teardown(test, open_synthetic_2, close_reader)
    const struct CMUnitTest tests[] = {
        WITH_FILE(sizes_are_those_of_the_tables),
        WITH_FILE(metadata_keep_their_kinds),
        WITH_FILE(names_are_bytes),
        WITH_FILE(events_come_as_absolute_times_in_blocks),
        WITH_FILE(mpi_columns_belong_to_their_slice),
        WITH_FILE(a_profile_of_version_1_says_nothing_of_what_came_later),
        WITH_FILE(small_tables_say_what_was_written),
        WITH_FILE_2(names_are_bytes),
        WITH_FILE_2(small_tables_say_what_was_written),
        WITH_FILE_2(calls_of_version_2_have_all_columns),
        WITH_FILE_2(tables_of_version_2_say_what_was_written),
        cmocka_unit_test(a_profile_without_our_tables_has_one_path_per_region),
        cmocka_unit_test(what_is_no_profile_is_refused_by_name),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
