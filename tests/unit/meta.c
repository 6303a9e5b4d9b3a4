/* SPDX-License-Identifier: BSD-3-Clause
 *
 * meta: the list of facts; what minimal and full detail say about host and environment; where this
 * process runs; that no probe leaves a trace in the program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <hwloc.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

#include "h5write.h"
#include "meta.h"

/* ---- facts ---- */

static const struct sc_h5_attribute *find(const struct sc_facts *f, const char *name)
{
    const struct sc_h5_attribute *found = NULL;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->attribute[i].name, name) == 0) {
            assert_null(found); /* no name twice */
            found = &f->attribute[i];
        }
    return found;
}

static const char *text_of(const struct sc_facts *f, const char *name)
{
    const struct sc_h5_attribute *a = find(f, name);
    assert_non_null(a);
    assert_int_equal(a->kind, SC_H5_TEXT);
    return a->text;
}

static void facts_keep_copies_and_the_last_value(void **state)
{
    (void)state;
    struct sc_facts f = {0};
    char name[] = "name", value[] = "first";
    const char *const list[] = {"a", "", "c"};
    assert_int_equal(sc_facts_text(&f, name, value), 0);
    memset(value, 'x', 5);
    memset(name, 'y', 4);
    assert_string_equal(text_of(&f, "name"), "first");
    assert_int_equal(sc_facts_int(&f, "name", INT64_MIN), 0); /* another kind takes its place */
    assert_true(find(&f, "name")->integer == INT64_MIN);
    assert_int_equal(sc_facts_real(&f, "real", 0.5), 0);
    assert_int_equal(sc_facts_texts(&f, "list", list, 3), 0);
    assert_int_equal(sc_facts_texts(&f, "none", NULL, 0), 0);
    assert_int_equal(f.count, 4);
    assert_int_equal(find(&f, "list")->count, 3);
    assert_string_equal(find(&f, "list")->texts[2], "c");
    assert_int_equal(find(&f, "none")->count, 0);
    sc_facts_free(&f);
    assert_int_equal(f.count, 0);
}

static void long_texts_are_cut_between_characters(void **state)
{
    (void)state;
    static const char marker[] = "...[truncated]";
    struct sc_facts f = {0};
    char *text = malloc(200001);
    memset(text, 'x', 200000);
    text[60000] = '\0';
    assert_int_equal(sc_facts_text(&f, "fits", text), 0);
    assert_string_equal(text_of(&f, "fits"), text);
    text[60000] = 'x';
    text[60001] = '\0';
    assert_int_equal(sc_facts_text(&f, "long", text), 0);
    assert_int_equal(strlen(text_of(&f, "long")), 60000 + sizeof marker - 1);
    assert_string_equal(text_of(&f, "long") + 60000, marker);
    for (size_t i = 0; i < 66000; i++)
        memcpy(text + 3 * i, "\xe2\x82\xac", 3);
    text[3 * 66000] = '\0';
    assert_int_equal(sc_facts_text(&f, "wide", text), 0);
    assert_int_equal(strlen(text_of(&f, "wide")), 3 * 60000 + sizeof marker - 1);
    free(text);
    sc_facts_free(&f);
}

static void texts_become_valid_utf8_and_lists_stay_storable(void **state)
{
    (void)state;
    struct sc_facts f = {0};
    const char **many = calloc(10000, sizeof *many);
    for (size_t i = 0; i < 10000; i++)
        many[i] = "x";
    assert_int_equal(sc_facts_text(&f, "latin1", "M\xfcller"), 0);
    assert_string_equal(text_of(&f, "latin1"), "M\xef\xbf\xbdller");
    assert_int_equal(sc_facts_texts(&f, "many", many, 10000), 0);
    assert_true(find(&f, "many")->count <= 4096);
    assert_string_equal(find(&f, "many")->texts[find(&f, "many")->count - 1], "...[truncated]");
    free(many);
    sc_facts_free(&f);
}

static void times_are_iso_8601(void **state)
{
    (void)state;
    struct sc_facts f = {0};
    sc_facts_time(&f, "t", 1764536052123456789);
    assert_string_equal(text_of(&f, "t"), "2025-11-30T20:54:12.123456+00:00");
    sc_facts_time(&f, "t", -1);
    assert_string_equal(text_of(&f, "t"), "1969-12-31T23:59:59.999999+00:00");
    sc_facts_free(&f);
}

/* ---- host ---- */

static const char *const planted[][2] = {
    {"LOGNAME", "zaphod-user"},
    {"USER", "zaphod-user"},
    {"HOME", "/planted/home/zaphod"},
    {"PATH", "/usr/bin:/planted/path"},
    {"LD_LIBRARY_PATH", "/planted/lib"},
    {"PYTHONPATH", "/planted/python"},
    {"LOADEDMODULES", "gcc/12:planted-module/1.0"},
    {"SLURM_JOB_ID", "planted-job"},
    {"SLURM_JOB_NODELIST", "planted[1-2]"},
    {"OMP_NUM_THREADS", "3,2"},
    {"SCOPE_PROFILER_RUN_ID", "run-7"},
};

static int plant(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof planted / sizeof *planted; i++)
        setenv(planted[i][0], planted[i][1], 1);
    mkdir("planted-folder", 0777);
    return chdir("planted-folder");
}

static int unplant(void **state)
{
    (void)state;
    return chdir("..") != 0 || rmdir("planted-folder") != 0;
}

/* Whether word stands in text on its own. */
static bool mentions(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = text; length > 0 && (at = strstr(at, word)) != NULL; at++)
        if ((at == text || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]))
            return true;
    return false;
}

static void assert_anonymous(const char *text)
{
    char host[256];
    char *folder = getcwd(NULL, 0);
    sc_meta_hostname(host, sizeof host);
    assert_non_null(folder);
    assert_false(mentions(text, host));
    assert_false(mentions(text, folder));
    assert_null(strstr(text, "zaphod"));
    assert_null(strstr(text, "planted"));
    free(folder);
}

static void minimal_detail_carries_no_identity(void **state)
{
    (void)state;
    struct sc_facts f = {0};
    assert_int_equal(sc_meta_host(&f, 0), 0);
    assert_int_equal(find(&f, "omp_num_threads")->integer, 3);
    assert_string_equal(text_of(&f, "SCOPE_PROFILER_RUN_ID"), "run-7");
    assert_string_equal(text_of(&f, "command"), program_invocation_short_name);
    assert_true(strncmp(text_of(&f, "platform"), "Linux-", 6) == 0);
    assert_true(strchr(text_of(&f, "libscope_version"), '.') != NULL);
    assert_non_null(find(&f, "compiler"));
    for (size_t i = 0; i < f.count; i++) {
        assert_anonymous(f.attribute[i].name);
        if (f.attribute[i].kind == SC_H5_TEXT)
            assert_anonymous(f.attribute[i].text);
        assert_int_not_equal(f.attribute[i].kind, SC_H5_TEXTS);
    }
    sc_facts_free(&f);
}

static void full_detail_adds_who_where_and_the_environment(void **state)
{
    (void)state;
    struct sc_facts f = {0};
    char host[256];
    sc_meta_hostname(host, sizeof host);
    assert_int_equal(sc_meta_host(&f, 1), 0);
    assert_string_equal(text_of(&f, "hostname"), host);
    assert_string_equal(text_of(&f, "user"), "zaphod-user");
    assert_non_null(strstr(text_of(&f, "working_directory"), "/planted-folder"));
    assert_int_equal(text_of(&f, "executable")[0], '/');
    assert_int_equal(find(&f, "command_line")->count, 1);
    assert_string_equal(find(&f, "command_line")->texts[0], program_invocation_name);
    assert_int_equal(find(&f, "loaded_modules")->count, 2);
    assert_string_equal(find(&f, "loaded_modules")->texts[1], "planted-module/1.0");
    assert_string_equal(text_of(&f, "SLURM_JOB_ID"), "planted-job");
    assert_string_equal(text_of(&f, "SLURM_JOB_NODELIST"), "planted[1-2]");
    assert_string_equal(text_of(&f, "PATH"), "/usr/bin:/planted/path");
    assert_null(find(&f, "HOME"));
    sc_facts_free(&f);
}

static void a_strange_thread_count_is_one(void **state)
{
    (void)state;
    static const char *const strange[] = {"", "many", "-4", "0", "99999999999999999999"};
    for (size_t i = 0; i < sizeof strange / sizeof *strange; i++) {
        struct sc_facts f = {0};
        setenv("OMP_NUM_THREADS", strange[i], 1);
        sc_meta_host(&f, 0);
        assert_int_equal(find(&f, "omp_num_threads")->integer, 1);
        sc_facts_free(&f);
    }
}

/* ---- machine ---- */

/* What a probe has to leave alone. */
struct trace {
    char **environment;
    uint64_t environment_hash;
    cpu_set_t affinity;
    int error;
};

static struct trace trace_now(void)
{
    struct trace t = {.environment = environ};
    struct sc_string all = {0};
    for (char **e = environ; *e != NULL; e++)
        sc_string_append(&all, *e, strlen(*e) + 1);
    t.environment_hash = sc_hash(all.data, all.length);
    sc_string_free(&all);
    sched_getaffinity(0, sizeof t.affinity, &t.affinity);
    t.error = errno = EXDEV;
    return t;
}

static void assert_no_trace(const struct trace *before)
{
    int error = errno;
    struct trace now = trace_now();
    assert_int_equal(error, before->error);
    assert_ptr_equal(now.environment, before->environment);
    assert_true(now.environment_hash == before->environment_hash);
    assert_true(CPU_EQUAL(&now.affinity, &before->affinity));
}

static void a_bound_process_says_where_it_is(void **state)
{
    (void)state;
    cpu_set_t all, one;
    struct sc_place place;
    int cpu = sched_getcpu();
    char expected[16];
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)cpu, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    sc_meta_place(&place);
    snprintf(expected, sizeof expected, "%d", cpu);
    assert_string_equal(place.binding, expected);
    assert_int_equal(place.pu, cpu);
    assert_int_equal(place.core, -1);
    assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
    struct trace before = trace_now();
    sc_meta_place(&place);
    assert_no_trace(&before);
    if (CPU_COUNT(&all) > 1)
        assert_string_not_equal(place.binding, expected);
}

static void the_topology_knows_this_machine(void **state)
{
    (void)state;
    struct sc_topology t;
    struct trace before = trace_now();
    assert_int_equal(sc_meta_topology(0, &t), 0);
    assert_no_trace(&before);
    assert_true(t.pus >= 1);
    assert_true(t.cores == -1 || t.cores <= t.pus);
    assert_int_equal(strlen(t.xml), t.xml_length);
    for (int pu = 0; pu < t.pu_limit; pu++) {
        struct sc_locus where = sc_topology_locate(&t, pu);
        assert_in_range(where.core + 1, 0, t.pus);
        assert_in_range(where.numa_node + 1, 0, t.pus);
    }
    assert_int_equal(sc_topology_locate(&t, -1).core, -1);
    assert_int_equal(sc_topology_locate(&t, t.pu_limit).numa_node, -1);
    sc_topology_free(&t);
    assert_int_equal(sc_topology_locate(&t, 0).core, -1); /* of no topology */
}

static void the_xml_is_whole_and_names_no_host(void **state)
{
    (void)state;
    struct sc_topology minimal, full;
    assert_int_equal(sc_meta_topology(0, &minimal), 0);
    assert_int_equal(sc_meta_topology(1, &full), 0);
    assert_anonymous(minimal.xml);
    assert_null(strstr(minimal.xml, "ProcessName"));
    assert_null(strstr(minimal.xml, "LinuxCgroup"));
    assert_non_null(strstr(minimal.xml, "<info name=\"OSName\""));
    assert_null(strstr(full.xml, "HostName"));
    assert_null(strstr(full.xml, "Serial"));
    assert_true(full.xml_length > minimal.xml_length);
    assert_true(full.hash == minimal.hash); /* one machine */
    for (int i = 0; i < 2; i++) {
        const struct sc_topology *t = i == 0 ? &minimal : &full;
        hwloc_topology_t again;
        hwloc_topology_init(&again);
        assert_int_equal(hwloc_topology_set_xmlbuffer(again, t->xml, (int)t->xml_length + 1), 0);
        assert_int_equal(hwloc_topology_load(again), 0);
        assert_int_equal(hwloc_get_nbobjs_by_type(again, HWLOC_OBJ_PU), t->pus);
        hwloc_topology_destroy(again);
    }
    sc_topology_free(&minimal);
    sc_topology_free(&full);
}

static void a_topology_made_up_is_not_this_machines(void **state)
{
    (void)state;
    struct sc_topology t;
    setenv("HWLOC_SYNTHETIC", "pack:2 core:4 pu:2", 1);
    int rc = sc_meta_topology(0, &t);
    unsetenv("HWLOC_SYNTHETIC");
    assert_int_equal(rc, SC_EUNAVAIL);
    assert_true(strncmp(sc_last_error(), "hwloc: ", 7) == 0);
    assert_null(t.xml);
}

/* Bytes that a call of sc_meta_likwid() puts on standard output and error. */
static off_t likwid_prints(int *status, struct sc_string *out)
{
    int file = open("prints", O_RDWR | O_CREAT | O_TRUNC, 0600);
    int saved[2] = {dup(STDOUT_FILENO), dup(STDERR_FILENO)};
    assert_true(file >= 0);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    struct trace before = trace_now();
    *status = sc_meta_likwid(out);
    assert_no_trace(&before);
    fflush(stdout);
    dup2(saved[0], STDOUT_FILENO);
    dup2(saved[1], STDERR_FILENO);
    off_t printed = lseek(file, 0, SEEK_END);
    close(saved[0]);
    close(saved[1]);
    close(file);
    unlink("prints");
    return printed;
}

static void likwid_answers_or_says_why_not_and_leaves_no_trace(void **state)
{
    (void)state;
    for (int i = 0; i < 2; i++) {
        struct sc_string out = {0};
        int rc;
        sc_string_append(&out, "before", 6);
        assert_int_equal(likwid_prints(&rc, &out), 0);
        if (rc != 0) {
            assert_int_equal(rc, SC_EUNAVAIL);
            assert_true(strncmp(sc_last_error(), "LIKWID: ", 8) == 0);
            assert_string_equal(out.data, "before");
        } else {
            assert_true(strncmp(out.data, "before{\"", 8) == 0);
            assert_int_equal(out.data[out.length - 1], '}');
            assert_non_null(strstr(out.data, "\"hw_threads\":"));
            assert_null(strstr(out.data, "{,"));
            assert_null(strstr(out.data, "\"size\":0"));
            assert_anonymous(out.data);
        }
        sc_string_free(&out);
    }
}

static void likwid_in_use_by_the_program_is_left_alone(void **state)
{
    (void)state;
    struct sc_string out = {0};
    void *library = dlopen("liblikwid.so.5", RTLD_LAZY | RTLD_LOCAL);
    if (library == NULL)
        skip();
    assert_int_equal(sc_meta_likwid(&out), SC_EUNAVAIL);
    assert_null(out.data);
    dlclose(library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(facts_keep_copies_and_the_last_value),
        cmocka_unit_test(long_texts_are_cut_between_characters),
        cmocka_unit_test(texts_become_valid_utf8_and_lists_stay_storable),
        cmocka_unit_test(times_are_iso_8601),
        cmocka_unit_test_setup_teardown(minimal_detail_carries_no_identity, plant, unplant),
        cmocka_unit_test_setup_teardown(full_detail_adds_who_where_and_the_environment, plant,
                                        unplant),
        cmocka_unit_test_setup_teardown(a_strange_thread_count_is_one, plant, unplant),
        cmocka_unit_test(a_bound_process_says_where_it_is),
        cmocka_unit_test(the_topology_knows_this_machine),
        cmocka_unit_test(the_xml_is_whole_and_names_no_host),
        cmocka_unit_test(a_topology_made_up_is_not_this_machines),
        cmocka_unit_test(likwid_answers_or_says_why_not_and_leaves_no_trace),
        cmocka_unit_test(likwid_in_use_by_the_program_is_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
