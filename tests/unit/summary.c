/* SPDX-License-Identifier: BSD-3-Clause
 *
 * summary: exact texts, the limit of 25 lines, numbers that make no sense, hostile names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>
#include <time.h>

#include "summary.h"

static struct sc_string got;

static const char *text_of(const struct sc_summary *s)
{
    sc_string_free(&got);
    sc_summary_text(s, &got);
    return got.data;
}

static int start_in_utc(void **state)
{
    (void)state;
    setenv("TZ", "UTC0", 1);
    tzset();
    return 0;
}

static int forget(void **state)
{
    (void)state;
    sc_string_free(&got);
    return 0;
}

static size_t lines_of(const char *text)
{
    size_t lines = 0;
    for (; *text != '\0'; text++)
        lines += *text == '\n';
    return lines;
}

static const struct sc_summary_path some_paths[] = {
    {-1, "main", 0, 4, 3000000000, 3050000000, 3100000000, 2},
    {0, "setup", 0, 4, 100000000, 110000000, 120000000, 0},
    {0, "solve", 0, 400, 2500000000, 2600000000, 2700000000, 3},
    {2, "MPI_Allreduce", 1, 400000, 200000000, 300000000, 400000000, 1},
    {-1, "MPI_Finalize", 1, 4, 1000, 1500, 2000, 0},
};

static struct sc_summary some_summary(void)
{
    return (struct sc_summary){
        .command = "heat 512 1000",
        .label = "4 ranks",
        .path = "/data/heat.h5",
        .start_realtime_ns = 1764536052123456789,
        .duration_ns = 3142000000,
        .ranks = 4,
        .nodes = 2,
        .threads = 4,
        .recorded_ranks = 4,
        .has_mpi = 1,
        .mpi_share = 0.123,
        .load_balance = 0.91,
        .communication = 0.88,
        .events = 408,
        .mpi_events = 400004,
        .mpi_calls = 400004,
        .own_ns = 12300000,
        .finish_ns = 150000000,
        .file_bytes = 1500000,
        .paths = some_paths,
        .path_count = sizeof some_paths / sizeof *some_paths,
    };
}

static void a_run_is_told_in_this_form(void **state)
{
    (void)state;
    struct sc_summary s = some_summary();
    assert_string_equal(
        text_of(&s),
        "scope: heat 512 1000 [4 ranks]\n"
        "  start       2025-11-30 20:54:12 +0000, 3.142 s on 4 ranks, 2 nodes\n"
        "  MPI         12.3 % of rank time\n"
        "  parallel efficiency 80.1 % = load balance 91.0 % x communication efficiency 88.0 %\n"
        "  region             calls  min/rank  avg/rank  max/rank  on rank   of run\n"
        "  main                   4   3.000 s   3.050 s   3.100 s        2   97.1 %\n"
        "    solve              400   2.500 s   2.600 s   2.700 s        3   82.7 %\n"
        "      MPI_Allreduce   400k  200.0 ms  300.0 ms  400.0 ms        1    9.5 %\n"
        "    setup                4  100.0 ms  110.0 ms  120.0 ms        0    3.5 %\n"
        "  MPI_Finalize           4  1.000 us  1.500 us  2.000 us        0  <0.01 %\n"
        "  timeline    408 region events, 400,004 MPI calls; nothing dropped\n"
        "  own cost    3.075 ms per rank while recording (0.10 % of rank time), 150.0 ms at the "
        "end\n"
        "  file        /data/heat.h5 (1.43 MiB)\n"
        "  next        scope inspect /data/heat.h5\n");
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    struct sc_summary s = some_summary();
    s.path_count = 1;
    s.threads = 8;
    s.recorded_ranks = 3;
    s.mpi_events = 1000;
    s.lost = 1200;
    s.paused = 1;
    s.unfinished = 2;
    s.problem = "/data: No space left on device";
    s.left = "/data/p.h5.salvage";
    s.label = "";
    assert_string_equal(
        text_of(&s),
        "scope: heat 512 1000\n"
        "  start       2025-11-30 20:54:12 +0000, 3.142 s on 4 ranks, 2 nodes, 8 threads\n"
        "  MPI         12.3 % of rank time, of the threads that began MPI\n"
        "  parallel efficiency 80.1 % = load balance 91.0 % x communication efficiency 88.0 %\n"
        "  region  calls  min/rank  avg/rank  max/rank  on rank  of run\n"
        "  main        4   3.000 s   3.050 s   3.100 s        2  97.1 %\n"
        "  timeline    408 region events, 1,000 of 400,004 MPI calls (all are in the totals) on 3 "
        "of 4 ranks\n"
        "  dropped     1,200 found no memory or region, 1 while paused\n"
        "  mended      2 still open at the end\n"
        "  own cost    3.075 ms per rank while recording, 150.0 ms at the "
        "end\n"
        "  no file     /data: No space left on device\n"
        "  next        scope recover /data/p.h5.salvage\n");
}

static void a_run_of_nothing_has_no_strange_numbers(void **state)
{
    (void)state;
    const struct sc_summary s = {
        .command = "true", .path = "x.h5", .ranks = 1, .nodes = 1, .recorded_ranks = 1};
    assert_string_equal(text_of(&s),
                        "scope: true\n"
                        "  start       1970-01-01 00:00:00 +0000, 0 ns on 1 rank, 1 node\n"
                        "  no region was recorded\n"
                        "  timeline    0 region events; nothing dropped\n"
                        "  own cost    0 ns per rank while recording, 0 ns at the end\n"
                        "  file        x.h5 (0 B)\n"
                        "  next        scope inspect x.h5\n");
}

static void no_value_prints_nan_or_inf(void **state)
{
    (void)state;
    static const double strange[] = {NAN, INFINITY, -INFINITY, -1, 1e300};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        struct sc_summary s = some_summary();
        s.mpi_share = s.load_balance = s.communication = strange[i];
        s.duration_ns = 0;
        s.ranks = 0;
        const char *text = text_of(&s);
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        assert_true(lines_of(text) <= 25);
    }
}

static void mpi_without_a_recorded_call_claims_no_efficiency(void **state)
{
    (void)state;
    struct sc_summary s = some_summary();
    s.mpi_calls = s.mpi_events = 0;
    assert_non_null(strstr(text_of(&s), "  MPI         no call was recorded\n"));
    assert_null(strstr(got.data, "efficiency"));
}

static void a_big_tree_is_cut_to_fit_by_time(void **state)
{
    (void)state;
    enum { PATHS = 1000 };
    static struct sc_summary_path paths[PATHS];
    static char names[PATHS][16];
    for (int i = 0; i < PATHS; i++) {
        snprintf(names[i], sizeof names[i], "r%d", i);
        paths[i] = (struct sc_summary_path){
            .parent = i == 0 ? -1 : 0, .name = names[i], .calls = 1, .average = i == 0 ? 10000 : i};
    }
    struct sc_summary s = some_summary();
    s.paths = paths;
    s.path_count = PATHS;
    s.lost = s.crossed = 1;
    assert_int_equal(lines_of(text_of(&s)), 25);
    assert_non_null(strstr(got.data, "\n    r999 "));
    assert_null(strstr(got.data, "\n    r1 "));
    assert_non_null(strstr(got.data, "\n  ... 987 more regions\n"));
    s.path_count = 13;
    assert_int_equal(lines_of(text_of(&s)), 24); /* no line for a remark that is not needed */
    s.path_count = 14;
    assert_int_equal(lines_of(text_of(&s)), 25);
    assert_null(strstr(got.data, "more region"));
}

static void a_deep_tree_and_bad_parents_do_no_harm(void **state)
{
    (void)state;
    static struct sc_summary_path paths[100];
    for (int i = 0; i < 100; i++)
        paths[i] = (struct sc_summary_path){.parent = i - 1, .name = "deep", .calls = 1};
    struct sc_summary s = some_summary();
    s.paths = paths;
    s.path_count = 100;
    assert_int_equal(lines_of(text_of(&s)), 25);
    for (int i = 0; i < 100; i++)
        paths[i].parent = i; /* no path is its own parent */
    assert_int_equal(lines_of(text_of(&s)), 25);
}

static void hostile_texts_stay_on_one_short_line(void **state)
{
    (void)state;
    enum { LONG = 1 << 20 };
    char *name = malloc(LONG + 1);
    memset(name, 'n', LONG);
    memcpy(name, "\033[31m\r\n\xff", 8);
    name[LONG] = '\0';
    struct sc_summary_path path = some_paths[0];
    path.name = name;
    struct sc_summary s = some_summary();
    s.command = s.label = s.problem = name;
    s.paths = &path;
    s.path_count = 1;
    const char *text = text_of(&s);
    free(name);
    assert_int_equal(lines_of(text), 9);
    assert_true(strlen(text) < 9 * 120);
    for (const char *c = text; *c != '\0'; c++)
        assert_true(*c == '\n' || (unsigned char)*c >= ' ');
    assert_non_null(strstr(text, "\\x1b[31m"));
}

static void the_next_command_can_be_pasted(void **state)
{
    (void)state;
    struct sc_summary s = some_summary();
    s.path = "/my data/it's.h5";
    assert_non_null(strstr(text_of(&s), "  next        scope inspect '/my data/it'\\''s.h5'\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_told_in_this_form),
        cmocka_unit_test(what_is_missing_is_said),
        cmocka_unit_test(a_run_of_nothing_has_no_strange_numbers),
        cmocka_unit_test(no_value_prints_nan_or_inf),
        cmocka_unit_test(mpi_without_a_recorded_call_claims_no_efficiency),
        cmocka_unit_test(a_big_tree_is_cut_to_fit_by_time),
        cmocka_unit_test(a_deep_tree_and_bad_parents_do_no_harm),
        cmocka_unit_test(hostile_texts_stay_on_one_short_line),
        cmocka_unit_test(the_next_command_can_be_pasted),
    };
    return cmocka_run_group_tests(tests, start_in_utc, forget);
}
