/* SPDX-License-Identifier: BSD-3-Clause
 *
 * settings: every layer, what wins, what is refused and with which words.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base.h"
#include "settings.h"

static struct sc_settings got;
static struct sc_string warned;

static const char *const touched[] = {
    "SCOPE_PROFILER_RUN",           "SCOPE_PROFILER_ENABLED",      "SCOPE_PROFILER_FILE_PATH",
    "SCOPE_PROFILER_OUTPUT_MODE",   "SCOPE_PROFILER_LABEL",        "SCOPE_PROFILER_METADATA_DETAIL",
    "SCOPE_PROFILER_MPI_RECORD",    "SCOPE_PROFILER_BUFFER_LIMIT", "SCOPE_PROFILER_HDF5_CHUNK_SIZE",
    "SCOPE_PROFILER_TOPOLOGY",      "SCOPE_PROFILER_SUMMARY",      "SCOPE_PROFILER_BUFER_LIMIT",
    "SCOPE_PROFILER_QWERTZUIOP",    "SCOPE_PROFILER_buffer_limit", "SCOPE_PROFILER_MPI",
    "SCOPE_PROFILER_RUN_ID",        "SCOPE_PROFILER_PIPELINE_ID",  "SCOPE_PROFILER_WORKSPACE_ID",
    "SCOPE_PROFILER_DEPLOYMENT_ID", "SCOPE_PROFILER_MPI_PCONTROL", "SCOPE_PROFILER_TRACK_ASYNC",
    "SCOPE_PROFILER_SALVAGE",       "SCOPE_PROFILER_SALVAGE_DIR"};

static int fresh(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof touched / sizeof touched[0]; i++)
        unsetenv(touched[i]);
    sc_string_free(&warned);
    memset(&warned, 0, sizeof warned);
    memset(&got, 0x55, sizeof got);
    return 0;
}

static int resolve(const scope_options *options)
{
    return sc_settings_resolve(options, &got, &warned);
}

/* What scope_options_init() gives; this test links no runtime. */
static scope_options unset_options(void)
{
    scope_options o = {.size = sizeof o,
                       .enabled = SCOPE_UNSET,
                       .buffer_limit = SCOPE_UNSET,
                       .hdf5_chunk_size = SCOPE_UNSET,
                       .topology = SCOPE_UNSET,
                       .summary = SCOPE_UNSET,
                       .track_async = SCOPE_UNSET,
                       .salvage = SCOPE_UNSET};
    return o;
}

static void assert_warned(const char *text)
{
    assert_non_null(warned.data);
    assert_string_equal(warned.data, text);
}

static void assert_silent(void)
{
    assert_int_equal(warned.length, 0);
}

static void with_nothing_set_defaults_hold(void **state)
{
    (void)state;
    assert_int_equal(resolve(NULL), 0);
    assert_silent();
    for (int id = 0; id < SC_SETTING_COUNT; id++) {
        assert_int_equal(got.value[id].origin, SC_FROM_DEFAULT);
        assert_string_equal(got.value[id].text, sc_setting_default((enum sc_setting_id)id));
        assert_int_not_equal(sc_setting_help((enum sc_setting_id)id)[0], '\0');
    }
    assert_int_equal(got.value[SC_ENABLED].number, 1);
    assert_string_equal(got.value[SC_FILE_PATH].text, "profiling_data.h5");
    assert_int_equal(got.value[SC_OUTPUT_MODE].number, SC_OUTPUT_AUTO);
    assert_string_equal(got.value[SC_LABEL].text, "");
    assert_int_equal(got.value[SC_METADATA_DETAIL].number, SC_DETAIL_MINIMAL);
    assert_int_equal(got.value[SC_MPI_RECORD].number, SC_MPI_CALLS);
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 1024);
    assert_int_equal(got.value[SC_HDF5_CHUNK_SIZE].number, 0);
    assert_int_equal(got.value[SC_TOPOLOGY].number, 1);
    assert_int_equal(got.value[SC_SUMMARY].number, 1);
    assert_int_equal(got.value[SC_MPI_PCONTROL].number, SC_PCONTROL_LEVELS);
    assert_int_equal(got.value[SC_TRACK_ASYNC].number, 0);
}

static void choices_are_numbered_like_their_enums(void **state)
{
    static const struct {
        enum sc_setting_id id;
        const char *name;
        long number;
    } pairs[] = {
        {SC_OUTPUT_MODE, "auto", SC_OUTPUT_AUTO},
        {SC_OUTPUT_MODE, "direct", SC_OUTPUT_DIRECT},
        {SC_OUTPUT_MODE, "parallel", SC_OUTPUT_PARALLEL},
        {SC_MPI_RECORD, "calls", SC_MPI_CALLS},
        {SC_MPI_RECORD, "stats", SC_MPI_STATS},
        {SC_MPI_RECORD, "off", SC_MPI_OFF},
        {SC_METADATA_DETAIL, "minimal", SC_DETAIL_MINIMAL},
        {SC_METADATA_DETAIL, "full", SC_DETAIL_FULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        struct sc_string run = {0};
        sc_settings_hand_down(&run, sc_setting_name(pairs[i].id), pairs[i].name);
        setenv("SCOPE_PROFILER_RUN", run.data, 1);
        assert_int_equal(resolve(NULL), 0);
        assert_int_equal(got.value[pairs[i].id].number, pairs[i].number);
        assert_string_equal(got.value[pairs[i].id].text, pairs[i].name);
        sc_string_free(&run);
    }
}

/* The environment twin of every setting is read, and every field of scope_options. */
static void every_setting_has_its_twin_and_field(void **state)
{
    scope_options o = unset_options();

    (void)state;
    setenv("SCOPE_PROFILER_ENABLED", "off", 1);
    setenv("SCOPE_PROFILER_FILE_PATH", "e.h5", 1);
    setenv("SCOPE_PROFILER_OUTPUT_MODE", "direct", 1);
    setenv("SCOPE_PROFILER_LABEL", "from env", 1);
    setenv("SCOPE_PROFILER_METADATA_DETAIL", "full", 1);
    setenv("SCOPE_PROFILER_MPI_RECORD", "stats", 1);
    setenv("SCOPE_PROFILER_BUFFER_LIMIT", "7", 1);
    setenv("SCOPE_PROFILER_HDF5_CHUNK_SIZE", "8", 1);
    setenv("SCOPE_PROFILER_TOPOLOGY", "No", 1);
    setenv("SCOPE_PROFILER_SUMMARY", "0", 1);
    setenv("SCOPE_PROFILER_MPI_PCONTROL", "regions", 1);
    setenv("SCOPE_PROFILER_TRACK_ASYNC", "yes", 1);
    setenv("SCOPE_PROFILER_SALVAGE", "off", 1);
    setenv("SCOPE_PROFILER_SALVAGE_DIR", "/scratch", 1);
    assert_int_equal(resolve(&o), 0);
    assert_silent();
    for (int id = 0; id < SC_SETTING_COUNT; id++) {
        assert_int_equal(got.value[id].origin, SC_FROM_ENVIRONMENT);
        assert_string_not_equal(got.value[id].text, sc_setting_default((enum sc_setting_id)id));
    }

    o.enabled = 1;
    o.file_path = "p.h5";
    o.output_mode = "parallel";
    o.label = "from program";
    o.metadata_detail = "minimal";
    o.mpi_record = "off";
    o.buffer_limit = 70;
    o.hdf5_chunk_size = 80;
    o.topology = 1;
    o.summary = 1;
    o.mpi_pcontrol = "levels";
    o.track_async = 0;
    o.salvage = 0;
    o.salvage_dir = "/tmp";
    assert_int_equal(resolve(&o), 0);
    for (int id = 0; id < SC_SETTING_COUNT; id++)
        assert_int_equal(got.value[id].origin, SC_FROM_PROGRAM);
    assert_int_equal(got.value[SC_ENABLED].number, 1);
    assert_string_equal(got.value[SC_FILE_PATH].text, "p.h5");
    assert_int_equal(got.value[SC_OUTPUT_MODE].number, SC_OUTPUT_PARALLEL);
    assert_string_equal(got.value[SC_LABEL].text, "from program");
    assert_int_equal(got.value[SC_METADATA_DETAIL].number, SC_DETAIL_MINIMAL);
    assert_int_equal(got.value[SC_MPI_RECORD].number, SC_MPI_OFF);
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 70);
    assert_int_equal(got.value[SC_HDF5_CHUNK_SIZE].number, 80);
    assert_int_equal(got.value[SC_TOPOLOGY].number, 1);
    assert_int_equal(got.value[SC_SUMMARY].number, 1);
}

static void run_beats_program_beats_environment(void **state)
{
    scope_options o = unset_options();

    (void)state;
    setenv("SCOPE_PROFILER_BUFFER_LIMIT", "10", 1);
    assert_int_equal(resolve(&o), 0);
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 10);
    o.buffer_limit = 20;
    assert_int_equal(resolve(&o), 0);
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 20);
    setenv("SCOPE_PROFILER_RUN", "buffer_limit=30", 1);
    assert_int_equal(resolve(&o), 0);
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 30);
    assert_int_equal(got.value[SC_BUFFER_LIMIT].origin, SC_FROM_RUN);
    assert_string_equal(sc_origin_name(got.value[SC_BUFFER_LIMIT].origin), "scope run");
}

static void booleans_have_four_spellings_each(void **state)
{
    static const char *const yes[] = {"true", "1", "yes", "on", "TRUE", "Yes", "oN"};
    static const char *const no[] = {"false", "0", "no", "off", "FALSE", "No", "oFF"};
    static const char *const neither[] = {"", "2", "t", "truee", " true", "true ", "-1", "y"};

    (void)state;
    for (size_t i = 0; i < sizeof yes / sizeof yes[0]; i++)
        assert_int_equal(sc_settings_boolean(yes[i]), 1);
    for (size_t i = 0; i < sizeof no / sizeof no[0]; i++)
        assert_int_equal(sc_settings_boolean(no[i]), 0);
    for (size_t i = 0; i < sizeof neither / sizeof neither[0]; i++)
        assert_int_equal(sc_settings_boolean(neither[i]), -1);
}

static void a_number_is_the_whole_value_and_in_range(void **state)
{
    static const char *const good[] = {"1", "007", "1073741824"};
    static const char *const bad[] = {"0",    "-1",  "1073741825", "99999999999999999999999",
                                      "12x",  " 12", "12 ",        "1e3",
                                      "0x10", "+5",  "1.0",        "--1",
                                      "-",    "1\n", "one",        ""};

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(sc_settings_check("buffer_limit", good[i]), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(sc_settings_check("buffer_limit", bad[i]), SC_EINVAL);
    assert_int_equal(sc_settings_check("hdf5_chunk_size", "0"), 0);
    assert_int_equal(sc_settings_check("hdf5_chunk_size", "33554432"), 0);
    assert_int_equal(sc_settings_check("hdf5_chunk_size", "33554433"), SC_EINVAL);
    setenv("SCOPE_PROFILER_BUFFER_LIMIT", "007", 1);
    assert_int_equal(resolve(NULL), 0);
    assert_string_equal(got.value[SC_BUFFER_LIMIT].text, "7");
}

static void texts_have_a_length(void **state)
{
    static char text[SC_TEXT_MAX + 1];

    (void)state;
    memset(text, 'x', SC_TEXT_MAX);
    assert_int_equal(sc_settings_check("file_path", text), SC_EINVAL);
    text[SC_TEXT_MAX - 1] = '\0';
    assert_int_equal(sc_settings_check("file_path", text), 0);
    assert_int_equal(sc_settings_check("file_path", ""), SC_EINVAL);
    assert_int_equal(sc_settings_check("label", ""), 0);
    text[1001] = '\0';
    assert_int_equal(sc_settings_check("label", text), SC_EINVAL);
    text[1000] = '\0';
    assert_int_equal(sc_settings_check("label", text), 0);
}

static void a_wrong_value_in_the_environment_is_ignored_with_one_line(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_BUFFER_LIMIT", "abc", 1);
    assert_int_equal(resolve(NULL), 0);
    assert_warned(
        "buffer_limit = 'abc' (from SCOPE_PROFILER_BUFFER_LIMIT): must be an integer from 1 "
        "to 1073741824; ignored\n");
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 1024);
    assert_int_equal(got.value[SC_BUFFER_LIMIT].origin, SC_FROM_DEFAULT);
    assert_int_equal(sc_settings_resolve(NULL, &got, NULL), 0); /* nobody wants the warnings */
}

static void an_empty_variable_counts_as_unset(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_BUFFER_LIMIT", "", 1);
    setenv("SCOPE_PROFILER_FILE_PATH", "", 1);
    setenv("SCOPE_PROFILER_MPI", "", 1);
    setenv("SCOPE_PROFILER_RUN", "", 1);
    assert_int_equal(resolve(NULL), 0);
    assert_silent();
    assert_int_equal(got.value[SC_BUFFER_LIMIT].origin, SC_FROM_DEFAULT);
    assert_int_equal(got.value[SC_FILE_PATH].origin, SC_FROM_DEFAULT);
}

static void an_unknown_variable_is_reported_with_the_closest_name(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_BUFER_LIMIT", "5", 1);
    assert_int_equal(resolve(NULL), 0);
    assert_warned("SCOPE_PROFILER_BUFER_LIMIT: unknown setting 'bufer_limit' (did you mean "
                  "'buffer_limit'?); ignored\n");
}

static void what_resembles_nothing_gets_no_suggestion(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_QWERTZUIOP", "5", 1);
    assert_int_equal(resolve(NULL), 0);
    assert_warned("SCOPE_PROFILER_QWERTZUIOP: unknown setting 'qwertzuiop' (scope info --settings "
                  "lists them); ignored\n");
}

static void a_variable_in_small_letters_is_no_twin(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_buffer_limit", "5", 1);
    assert_int_equal(resolve(NULL), 0);
    assert_warned("SCOPE_PROFILER_buffer_limit: names are in capitals here; ignored\n");
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 1024);
}

static void a_name_of_any_length_is_reported(void **state)
{
    char name[5000] = "SCOPE_PROFILER_";

    (void)state;
    memset(name + strlen(name), 'X', sizeof name - 1 - strlen(name));
    setenv(name, "1", 1);
    assert_int_equal(resolve(NULL), 0);
    unsetenv(name);
    assert_non_null(strstr(warned.data, "unknown setting 'xxx"));
    assert_true(warned.length < 300);
}

static void other_variables_of_ours_are_known(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_MPI", "1", 1);
    setenv("SCOPE_PROFILER_RUN_ID", "a b", 1);
    setenv("SCOPE_PROFILER_PIPELINE_ID", "x", 1);
    setenv("SCOPE_PROFILER_DEPLOYMENT_ID", "x", 1);
    setenv("SCOPE_PROFILER_WORKSPACE_ID", "x", 1);
    assert_int_equal(resolve(NULL), 0);
    assert_silent();
    setenv("SCOPE_PROFILER_MPI", "maybe", 1);
    assert_int_equal(resolve(NULL), 0);
    assert_warned("SCOPE_PROFILER_MPI = 'maybe': must be 0 or 1; ignored\n");
}

static void a_wrong_value_in_code_is_an_error_and_leaves_out_alone(void **state)
{
    const struct sc_settings before = got;
    scope_options o = unset_options();

    (void)state;
    o.buffer_limit = 0;
    assert_int_equal(resolve(&o), SC_EINVAL);
    assert_string_equal(sc_last_error(),
                        "buffer_limit = '0' (from scope_options): must be an integer "
                        "from 1 to 1073741824");
    assert_memory_equal(&before, &got, sizeof got);

    o = unset_options();
    o.output_mode = "paralel";
    assert_int_equal(resolve(&o), SC_EINVAL);
    assert_string_equal(sc_last_error(),
                        "output_mode = 'paralel' (from scope_options): must be auto, "
                        "direct or parallel");
    o = unset_options();
    o.file_path = "";
    assert_int_equal(resolve(&o), SC_EINVAL);
    o = unset_options();
    o.summary = 2;
    assert_int_equal(resolve(&o), SC_EINVAL);
    o = unset_options();
    o.topology = -2;
    assert_int_equal(resolve(&o), SC_EINVAL);
}

static void options_of_other_versions_are_understood(void **state)
{
    struct {
        scope_options known;
        char later[64];
    } newer = {unset_options(), "settings of a later version"};
    scope_options o = unset_options();

    (void)state;
    newer.known.size = sizeof newer;
    newer.known.buffer_limit = 9;
    assert_int_equal(resolve(&newer.known), 0);
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 9);

    o.size =
        offsetof(scope_options, buffer_limit); /* an older one: nothing is read behind its end */
    o.label = "kept";
    o.buffer_limit = 0;
    o.hdf5_chunk_size = -7;
    assert_int_equal(resolve(&o), 0);
    assert_string_equal(got.value[SC_LABEL].text, "kept");
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 1024);
}

static void options_never_initialised_are_refused(void **state)
{
    scope_options o;

    (void)state;
    memset(&o, 0, sizeof o);
    assert_int_equal(resolve(&o), SC_EINVAL);
    assert_string_equal(sc_last_error(),
                        "scope_options: size is 0 (call scope_options_init() first)");
    memset(&o, 0xA5, sizeof o);
    assert_int_equal(resolve(&o), SC_EINVAL);
}

static void handed_down_options_survive_any_value(void **state)
{
    static const char *const labels[] = {"",
                                         "a=b",
                                         "two\nlines",
                                         "back\\slash\\n",
                                         "\\",
                                         "\n",
                                         "buffer_limit=7\nlabel=x",
                                         "\xff\xfe",
                                         "ends in \\"};

    (void)state;
    for (size_t i = 0; i < sizeof labels / sizeof labels[0]; i++) {
        struct sc_string run = {0};
        assert_int_equal(sc_settings_hand_down(&run, "label", labels[i]), 0);
        assert_int_equal(sc_settings_hand_down(&run, "summary", "off"), 0);
        setenv("SCOPE_PROFILER_RUN", run.data, 1);
        assert_int_equal(resolve(NULL), 0);
        assert_string_equal(got.value[SC_LABEL].text, labels[i]);
        assert_int_equal(got.value[SC_SUMMARY].number, 0);
        assert_int_equal(got.value[SC_BUFFER_LIMIT].origin, SC_FROM_DEFAULT);
        sc_string_free(&run);
    }
}

static void of_two_handed_down_values_the_last_counts(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_RUN", "buffer_limit=5\nbuffer_limit=6", 1);
    assert_int_equal(resolve(NULL), 0);
    assert_int_equal(got.value[SC_BUFFER_LIMIT].number, 6);
}

static void a_damaged_handed_down_value_is_an_error(void **state)
{
    (void)state;
    setenv("SCOPE_PROFILER_RUN", "no equals sign", 1);
    assert_int_equal(resolve(NULL), SC_EINVAL);
    assert_string_equal(sc_last_error(), "SCOPE_PROFILER_RUN: 'no equals sign' is not NAME=VALUE");
    setenv("SCOPE_PROFILER_RUN", "lable=x", 1);
    assert_int_equal(resolve(NULL), SC_EINVAL);
    assert_string_equal(sc_last_error(),
                        "SCOPE_PROFILER_RUN: unknown setting 'lable' (did you mean 'label'?)");
    setenv("SCOPE_PROFILER_RUN", "buffer_limit=x", 1);
    assert_int_equal(resolve(NULL), SC_EINVAL);
    assert_string_equal(sc_last_error(),
                        "buffer_limit = 'x' (from scope run): must be an integer from "
                        "1 to 1073741824");
}

static void a_check_names_the_closest_setting(void **state)
{
    (void)state;
    assert_int_equal(sc_settings_check("hdf5_chunk_sice", "1"), SC_EINVAL);
    assert_string_equal(sc_last_error(),
                        "unknown setting 'hdf5_chunk_sice' (did you mean 'hdf5_chunk_size'?)");
    assert_int_equal(sc_settings_check("", "1"), SC_EINVAL);
}

static void messages_show_a_foreign_value_on_one_short_line(void **state)
{
    static char text[3000];

    (void)state;
    memset(text, 'z', sizeof text - 1);
    text[3] = '\n';
    text[4] = '\033';
    setenv("SCOPE_PROFILER_ENABLED", text, 1);
    assert_int_equal(resolve(NULL), 0);
    assert_non_null(strstr(warned.data, "enabled = 'zzz??zzz"));
    assert_true(warned.length < 200);
    assert_ptr_equal(strchr(warned.data, '\n'), warned.data + warned.length - 1);
}

static void what_is_allowed_reads_well(void **state)
{
    char text[120];

    (void)state;
    sc_setting_allowed(SC_ENABLED, text, sizeof text);
    assert_string_equal(text, "true or false");
    sc_setting_allowed(SC_METADATA_DETAIL, text, sizeof text);
    assert_string_equal(text, "minimal or full");
    sc_setting_allowed(SC_LABEL, text, sizeof text);
    assert_string_equal(text, "text of at most 1000 bytes");
    sc_setting_allowed(SC_OUTPUT_MODE, text, 5);
    assert_string_equal(text, "auto"); /* cut */
}

#define TEST(name) cmocka_unit_test_setup(name, fresh)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(with_nothing_set_defaults_hold),
        TEST(choices_are_numbered_like_their_enums),
        TEST(every_setting_has_its_twin_and_field),
        TEST(run_beats_program_beats_environment),
        TEST(booleans_have_four_spellings_each),
        TEST(a_number_is_the_whole_value_and_in_range),
        TEST(texts_have_a_length),
        TEST(a_wrong_value_in_the_environment_is_ignored_with_one_line),
        TEST(an_empty_variable_counts_as_unset),
        TEST(an_unknown_variable_is_reported_with_the_closest_name),
        TEST(what_resembles_nothing_gets_no_suggestion),
        TEST(a_variable_in_small_letters_is_no_twin),
        TEST(a_name_of_any_length_is_reported),
        TEST(other_variables_of_ours_are_known),
        TEST(a_wrong_value_in_code_is_an_error_and_leaves_out_alone),
        TEST(options_of_other_versions_are_understood),
        TEST(options_never_initialised_are_refused),
        TEST(handed_down_options_survive_any_value),
        TEST(of_two_handed_down_values_the_last_counts),
        TEST(a_damaged_handed_down_value_is_an_error),
        TEST(a_check_names_the_closest_setting),
        TEST(messages_show_a_foreign_value_on_one_short_line),
        TEST(what_is_allowed_reads_well),
    };
    int failed = cmocka_run_group_tests_name("settings", tests, NULL, NULL);

    sc_string_free(&warned);
    return failed;
}
