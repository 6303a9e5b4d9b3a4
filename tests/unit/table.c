/* SPDX-License-Identifier: BSD-3-Clause
 *
 * table: columns line up, names are one line whatever their bytes, numbers keep their digits.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "table.h"

static void assert_printed(struct sc_table *t, const char *expected)
{
    struct sc_string out = {0};

    assert_int_equal(sc_table_print(t, "  ", &out), 0);
    assert_string_equal(out.data, expected);
    sc_string_free(&out);
    sc_table_free(t);
}

static void columns_line_up_by_character(void **state)
{
    struct sc_table *t = sc_table_create();

    (void)state;
    sc_table_column(t, "name", SC_LEFT, 0);
    sc_table_column(t, "n", SC_RIGHT, 0);
    sc_table_column(t, "", SC_LEFT, 0);
    sc_table_name(t, 0, "\xc3\xa4", 2);
    sc_table_cell(t, "100");
    sc_table_cell(t, "x");
    sc_table_name(t, 1, "inner", 5);
    sc_table_format(t, "%d", 7);
    sc_table_cell(t, "");
    assert_printed(t, "  name       n\n"
                      "  \xc3\xa4        100  x\n"
                      "    inner    7\n");
}

static void a_table_without_heads_has_no_head_line(void **state)
{
    struct sc_table *t = sc_table_create();

    (void)state;
    sc_table_column(t, "", SC_LEFT, 0);
    sc_table_cell(t, "a");
    assert_printed(t, "  a\n");
}

static void long_names_lose_their_middle(void **state)
{
    struct sc_table *t = sc_table_create();

    (void)state;
    sc_table_column(t, "", SC_LEFT, 10);
    sc_table_cell(t, "0123456789");
    sc_table_cell(t, "0123456789ab");
    assert_printed(t, "  0123456789\n  012...89ab\n");
}

static void every_name_is_one_printable_line(void **state)
{
    struct sc_string out = {0};

    (void)state;
    assert_int_equal(sc_table_printable(&out, "a\nb\tc\x01\xff\xc2\x85\0z", 11), 0);
    assert_string_equal(out.data, "a\\nb\\tc\\x01\\xff\\xc2\\x85\\x00z");
    sc_string_free(&out);
}

static void times_have_four_digits_and_a_unit(void **state)
{
    (void)state;
    assert_string_equal(sc_table_time(0).text, "0 ns");
    assert_string_equal(sc_table_time(999).text, "999 ns");
    assert_string_equal(sc_table_time(1000).text, "1.000 us");
    assert_string_equal(sc_table_time(999949).text, "999.9 us");
    assert_string_equal(sc_table_time(999950).text, "1.000 ms");
    assert_string_equal(sc_table_time(12345678).text, "12.35 ms");
    assert_string_equal(sc_table_time(86400000000000).text, "86400 s");
    assert_string_equal(sc_table_time(-1500).text, "-1.500 us");
    assert_string_equal(sc_table_time(INT64_MIN).text, "-9223372037 s");
}

static void counts_bytes_and_shares(void **state)
{
    (void)state;
    assert_string_equal(sc_table_count(0).text, "0");
    assert_string_equal(sc_table_count(1000).text, "1,000");
    assert_string_equal(sc_table_count(UINT64_MAX).text, "18,446,744,073,709,551,615");
    assert_string_equal(sc_table_short(999).text, "999");
    assert_string_equal(sc_table_short(12345).text, "12.3k");
    assert_string_equal(sc_table_bytes(1023).text, "1023 B");
    assert_string_equal(sc_table_bytes(1536).text, "1.50 KiB");
    assert_string_equal(sc_table_bytes(UINT64_MAX).text, "16.0 EiB");
    assert_string_equal(sc_table_percent(1, 3).text, "33.3 %");
    assert_string_equal(sc_table_percent(1, 10000).text, "0.01 %");
    assert_string_equal(sc_table_percent(1, 1000000).text, "<0.01 %");
    assert_string_equal(sc_table_percent(0, 5).text, "0.0 %");
    assert_string_equal(sc_table_percent(1, 0).text, "-"); /* of nothing: not a number */
}

static void a_table_without_memory_says_so(void **state)
{
    struct sc_string out = {0};

    (void)state;
    sc_table_column(NULL, "a", SC_LEFT, 0);
    sc_table_cell(NULL, "b");
    assert_int_equal(sc_table_print(NULL, "", &out), SC_ENOMEM);
    sc_table_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_line_up_by_character),
        cmocka_unit_test(a_table_without_heads_has_no_head_line),
        cmocka_unit_test(long_names_lose_their_middle),
        cmocka_unit_test(every_name_is_one_printable_line),
        cmocka_unit_test(times_have_four_digits_and_a_unit),
        cmocka_unit_test(counts_bytes_and_shares),
        cmocka_unit_test(a_table_without_memory_says_so),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
