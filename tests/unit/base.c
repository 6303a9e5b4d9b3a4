/* SPDX-License-Identifier: BSD-3-Clause
 *
 * base: statuses, the last error of each thread, one line per message, strings, JSON, arrays.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "base.h"

static void every_status_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(sc_status_text(SC_OK), "success");
    assert_string_equal(sc_status_text(SC_EMPI), "MPI reported an error");
    assert_string_equal(sc_status_text(-99), "unknown status");
}

static void a_failure_returns_its_status_and_keeps_its_message(void **state)
{
    (void)state;
    errno = EINTR;
    assert_int_equal(sc_fail(SC_EIO, "%s: %d", "file", 7), SC_EIO);
    assert_string_equal(sc_last_error(), "file: 7");
    assert_int_equal(sc_fail(SC_EINVAL, "outer: %s", sc_last_error()), SC_EINVAL);
    assert_string_equal(sc_last_error(), "outer: file: 7"); /* a message may quote the one before */
    assert_int_equal(errno, EINTR);
}

static void a_long_message_is_cut(void **state)
{
    (void)state;
    char *text = malloc(100001);
    memset(text, 'x', 100000);
    text[100000] = '\0';
    sc_fail(SC_EIO, "%s", text);
    assert_in_range(strlen(sc_last_error()), 4096, 10000);
    sc_fail(SC_EIO, "%s", "");
    assert_string_equal(sc_last_error(), "");
    free(text);
}

static void *fail_in_thread(void *argument)
{
    const char *before = sc_last_error();
    sc_fail(SC_EIO, "of the other thread");
    return before[0] == '\0' ? argument : NULL; /* a new thread has no error yet */
}

static void the_last_error_is_the_threads_own(void **state)
{
    pthread_t thread;
    void *result;
    sc_fail(SC_EIO, "mine");
    assert_int_equal(pthread_create(&thread, NULL, fail_in_thread, state), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, state);
    assert_string_equal(sc_last_error(), "mine");
}

/* Standard error goes to a pipe meanwhile; the caller closes both ends. */
static int saved_stderr;
static void capture(int *reader)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    saved_stderr = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    *reader = ends[0];
}

static void release(void)
{
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
}

static void a_log_message_is_one_line_and_keeps_errno(void **state)
{
    (void)state;
    int reader;
    char got[256];
    capture(&reader);
    errno = ENOSPC;
    sc_log("two\nlines, a\ttab, \033[31mred, %d", 5);
    int kept = errno;
    release();
    ssize_t length = read(reader, got, sizeof got - 1);
    close(reader);
    assert_int_equal(kept, ENOSPC);
    assert_true(length > 0);
    got[length] = '\0';
    assert_string_equal(got, "scope: two lines, a tab, ?[31mred, 5\n");
}

static void a_closed_pipe_does_not_end_the_program(void **state)
{
    (void)state;
    int reader;
    sigset_t pending;
    capture(&reader);
    close(reader);
    errno = 0;
    sc_log("nobody reads this"); /* SIGPIPE has its default action here */
    int kept = errno;
    release();
    sigpending(&pending);
    assert_int_equal(kept, 0);
    assert_int_equal(sigismember(&pending, SIGPIPE), 0);
}

static void strings_grow_and_stay_terminated(void **state)
{
    (void)state;
    struct sc_string s = {0};
    assert_int_equal(sc_string_append(&s, "", 0), 0);
    assert_string_equal(s.data, "");
    for (int i = 0; i < 1000; i++)
        assert_int_equal(sc_string_print(&s, "%d,", i % 10), 0);
    assert_int_equal(s.length, 2000);
    assert_int_equal(strlen(s.data), 2000);
    assert_int_equal(sc_string_append(&s, "a\0b", 3), 0); /* any bytes */
    assert_int_equal(s.length, 2003);
    assert_int_equal(sc_string_append(&s, "", SIZE_MAX - 2), SC_ENOMEM);
    assert_int_equal(s.length, 2003); /* unchanged by what did not fit */
    sc_string_free(&s);
    assert_null(s.data);
}

static void json_strings_are_valid_whatever_the_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t length;
        const char *json;
    } cases[] = {
        {"", 0, "\"\""},
        {"a\"b\\c/", 6, "\"a\\\"b\\\\c/\""},
        {"\b\f\n\r\t", 5, "\"\\b\\f\\n\\r\\t\""},
        {"\x01\x1f\x7f", 3, "\"\\u0001\\u001f\\u007f\""},
        {"a\0b", 3, "\"a\\u0000b\""},
        {"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80\""},
        {"\xff", 1, "\"\xef\xbf\xbd\""},
        {"\xc3", 1, "\"\xef\xbf\xbd\""},                                /* cut short */
        {"\xc0\xaf", 2, "\"\xef\xbf\xbd\xef\xbf\xbd\""},                /* overlong */
        {"\xed\xa0\x80", 3, "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""} /* surrogate */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sc_string s = {0};
        assert_int_equal(sc_string_json(&s, cases[i].bytes, cases[i].length), 0);
        assert_string_equal(s.data, cases[i].json);
        sc_string_free(&s);
    }
}

static void utf8_characters_are_measured(void **state)
{
    (void)state;
    assert_int_equal(sc_utf8_length("a", 1), 1);
    assert_int_equal(sc_utf8_length("\xe2\x82\xac", 3), 3);
    assert_int_equal(sc_utf8_length("\xe2\x82\xac", 2), 0);
    assert_int_equal(sc_utf8_length("\xf4\x8f\xbf\xbf", 4), 4); /* U+10FFFF, the last */
    assert_int_equal(sc_utf8_length("\xf4\x90\x80\x80", 4), 0);
    assert_int_equal(sc_utf8_length("\x80", 1), 0);
}

static void arrays_grow_and_keep_their_elements(void **state)
{
    (void)state;
    int64_t *array = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(sc_array_reserve(&array, &capacity, i + 1, sizeof *array), 0);
        array[i] = (int64_t)i;
    }
    int64_t *before = array;
    size_t held = capacity;
    assert_int_equal(sc_array_reserve(&array, &capacity, SIZE_MAX / 4, sizeof *array), SC_ENOMEM);
    assert_ptr_equal(array, before); /* nothing changed */
    assert_int_equal(capacity, held);
    for (size_t i = 0; i < 1000; i++)
        assert_int_equal(array[i], i);
    free(array);
}

static void equal_bytes_hash_equally(void **state)
{
    (void)state;
    assert_true(sc_hash("abc", 3) == sc_hash("abcd", 3));
    assert_true(sc_hash("abc", 3) != sc_hash("abd", 3));
    assert_true(sc_hash("", 0) != sc_hash("\0", 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_status_has_a_text),
        cmocka_unit_test(a_failure_returns_its_status_and_keeps_its_message),
        cmocka_unit_test(a_long_message_is_cut),
        cmocka_unit_test(the_last_error_is_the_threads_own),
        cmocka_unit_test(a_log_message_is_one_line_and_keeps_errno),
        cmocka_unit_test(a_closed_pipe_does_not_end_the_program),
        cmocka_unit_test(strings_grow_and_stay_terminated),
        cmocka_unit_test(json_strings_are_valid_whatever_the_bytes),
        cmocka_unit_test(utf8_characters_are_measured),
        cmocka_unit_test(arrays_grow_and_keep_their_elements),
        cmocka_unit_test(equal_bytes_hash_equally),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
