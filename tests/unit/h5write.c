/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * What is written is what is read back, whatever the names and sizes; a failure leaves no file and
 * no trouble.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "h5file.h"
#include "profile.h"
#include "scope_read.h"
#include "write_token.h"

static const struct sc_h5api *h5;
static struct profile run;

static void make_file(const char *path, const struct profile *p, size_t window)
{
    struct profile_rows rows;

    unlink(path);
    assert_int_equal(sc_h5write_skeleton(path, &p->skeleton), 0);
    profile_rank(p, 0, window, &rows);
    assert_int_equal(sc_write_token(path, rows.tables, profile_tables(p)), 0);
}

static int load(void **state)
{
    int rc = sc_h5_load_writer(&h5);
    (void)state;
    if (rc == 0) {
        profile_make(&run, 1, 1000, 0);
        make_file("first.h5", &run, 64);
    }
    return rc;
}

static long long size_of(const char *path)
{
    struct stat status;

    return stat(path, &status) == 0 ? (long long)status.st_size : -1;
}

static char *read_whole(const char *path)
{
    size_t size = (size_t)size_of(path);
    char *bytes = malloc(size);
    FILE *file = fopen(path, "rb");

    assert_int_equal(fread(bytes, 1, size, file), size);
    fclose(file);
    return bytes;
}

/* Element row of a string column; "" for one that is empty. The caller frees it. */
static char *read_text(const char *path, const char *dataset, hsize_t row)
{
    hid_t file = h5->H5Fopen(path, SC_H5F_RDONLY, H5P_DEFAULT);
    hid_t set = h5->H5Dopen2(file, dataset, H5P_DEFAULT), type = h5->H5Dget_type(set);
    hid_t space = h5->H5Dget_space(set), one = h5->H5Screate(H5S_SCALAR);
    hsize_t count = 1;
    char *text = NULL, *copy;

    h5->H5Sselect_hyperslab(space, H5S_SELECT_SET, &row, NULL, &count, NULL);
    assert_true(h5->H5Tis_variable_str(type) > 0);
    assert_true(h5->H5Dread(set, type, one, space, H5P_DEFAULT, &text) >= 0);
    copy = strdup(text != NULL ? text : "");
    h5->H5free_memory(text);
    h5->H5Sclose(one);
    h5->H5Sclose(space);
    h5->H5Tclose(type);
    h5->H5Dclose(set);
    h5->H5Fclose(file);
    return copy;
}

static void assert_text(const char *path, const char *dataset, hsize_t row, const char *expected)
{
    char *text = read_text(path, dataset, row);

    assert_string_equal(text, expected);
    free(text);
}

/* 0 when somebody else's program can read every object of the file, or is not there (127). */
static int dump(const char *path)
{
    char command[300];

    snprintf(command, sizeof(command), "h5dump %s >dump.txt 2>&1 || test $? -eq 127", path);
    return system(command);
}

static unsigned count_objects(const char *path)
{
    char line[300];
    unsigned n = 0;
    FILE *list;

    snprintf(line, sizeof(line), "h5ls -r %s", path);
    list = popen(line, "r");
    while (fgets(line, sizeof(line), list) != NULL)
        n++;
    pclose(list);
    return n;
}

/* ---- rows ---- */

static void rows_are_read_back(void **state)
{
    (void)state;
    profile_make(&run, 1, 1000, 0);
    make_file("rows.h5", &run, 64);
    assert_true(profile_check_all("rows.h5", &run));
    assert_int_equal(dump("rows.h5"), 0);
}

static void rows_in_chunks_are_the_same_rows(void **state)
{
    (void)state;
    profile_make(&run, 1, 1000, 300);
    make_file("chunks.h5", &run, 64);
    assert_true(profile_check_all("chunks.h5", &run));
    profile_make(&run, 1, 100, 1 << 20); /* a chunk larger than the dataset */
    make_file("chunks.h5", &run, 64);
    assert_true(profile_check_all("chunks.h5", &run));
}

static void no_window_is_larger_than_asked(void **state)
{
    struct profile_rows rows;
    (void)state;
    profile_make(&run, 1, 1000, 0);
    unlink("window.h5");
    assert_int_equal(sc_h5write_skeleton("window.h5", &run.skeleton), 0);
    profile_rank(&run, 0, 300, &rows);
    assert_int_equal(sc_write_token("window.h5", rows.tables, TABLES), 0);
    assert_int_equal(rows.parts[1].fills, 4);
    assert_int_equal(rows.parts[1].largest, 300);
}

static void an_empty_run_is_a_file(void **state)
{
    static const struct profile nothing = {
        .skeleton = {.mpi = 1, .has = ALL_COLUMNS, .chunk = 100}};
    struct profile_rows rows;
    (void)state;
    unlink("empty.h5");
    assert_int_equal(sc_h5write_skeleton("empty.h5", &nothing.skeleton), 0);
    profile_rank(&nothing, 0, 10, &rows);
    rows.tables[2].count = 0;
    assert_int_equal(sc_write_token("empty.h5", rows.tables, TABLES), 0);
    assert_int_equal(dump("empty.h5"), 0);
}

static void a_dataset_without_rows_is_refused(void **state)
{
    const char *const names[] = {SC_D_REGION_NAMES};
    const struct sc_h5_table table = {.datasets = names, .columns = 1, .window = 1};
    (void)state;
    assert_int_equal(sc_h5_element_size(SC_D_REGION_NAMES), 0);
    assert_int_equal(sc_h5_element_size(SC_D_INDEX_SUMMARY), sizeof(struct sc_row_summary));
    assert_int_equal(sc_write_token("rows.h5", &table, 1), SC_EINVAL);
}

static bool has_dataset(const char *path, const char *name)
{
    hid_t file = h5->H5Fopen(path, SC_H5F_RDONLY, H5P_DEFAULT);
    bool there = h5->H5Lexists(file, name, H5P_DEFAULT) > 0;

    h5->H5Fclose(file);
    return there;
}

static void what_nobody_has_to_say_is_absent(void **state)
{
    static const char *const optional[] = {
        SC_D_EVENT_AWAIT, SC_D_MPI_TAGS,     SC_D_MPI_OBJECTS,     SC_D_MPI_SITES,
        SC_D_MPI_ERRORS,  SC_D_MPI_REQUESTS, SC_D_OBJECTS,         SC_D_OBJECT_NAMES,
        SC_D_SITES,       SC_D_MODULE_NAMES, SC_D_MODULE_BUILD_IDS};
    (void)state;
    profile_make(&run, 1, 10, 0);
    make_file("all.h5", &run, 64);
    run.skeleton.has = 0;
    run.skeleton.object_count = run.skeleton.site_count = run.skeleton.module_count = 0;
    make_file("least.h5", &run, 64);
    for (size_t i = 0; i < sizeof(optional) / sizeof(*optional); i++) {
        assert_true(has_dataset("all.h5", optional[i]));
        assert_false(has_dataset("least.h5", optional[i]));
    }
    assert_true(has_dataset("least.h5", SC_D_PEERS));
    assert_true(profile_check_all("least.h5", &run));
}

/* ---- what the reader makes of it ---- */

enum { ROWS = 3 };

/* Rows that make sense: three calls of one routine on one rank, the second on a file. */
static void fill_sense(void *context, uint64_t row, size_t n, void *const *out)
{
    const struct part *part = context;

    for (size_t c = 0; c < part->table->columns; c++) {
        const char *name = part->table->datasets[c];
        size_t size = sc_h5_element_size(name);
        memset(out[c], 0, n * size);
        for (size_t i = 0; i < n; i++) {
            char *to = (char *)out[c] + i * size;
            int32_t second = row + i == 1 ? 0 : -1;
            if (strcmp(name, SC_D_INDEX_EVENT_COUNTS) == 0)
                *(uint64_t *)(void *)to = ROWS;
            else if (strcmp(name, SC_D_EVENT_AWAIT) == 0)
                *(int64_t *)(void *)to = second;
            else if (strcmp(name, SC_D_MPI_OBJECTS) == 0)
                *(int32_t *)(void *)to = second;
            else if (strcmp(name, SC_D_MPI_TAGS) == 0)
                *(int32_t *)(void *)to = (int32_t)(row + i) + 5;
            else if (strcmp(name, SC_D_MPI_REQUESTS) == 0)
                *(int64_t *)(void *)to = INT64_C(1) << 40;
            else if (strcmp(name, SC_D_MPI_TOTALS) == 0)
                *(struct sc_row_mpi_total *)(void *)to = (struct sc_row_mpi_total){
                    .communicator = -1, .object = 0, .calls = 9, .await = 11, .in_flight = 12};
            else if (strcmp(name, SC_D_PEERS) == 0)
                *(struct sc_row_peer *)(void *)to =
                    (struct sc_row_peer){.peer = -1, .sent_bytes = 4, .rma_received = 6};
        }
    }
}

static void make_sense(const char *path)
{
    struct profile_rows rows;

    profile_make(&run, 1, 1, 0);
    run.pairs[0] = run.stats[0] = run.totals[0] = run.peers[0] = 1;
    run.events[0] = run.ops[0] = ROWS;
    profile_sum(&run);
    run.skeleton.object_names = profile_texts("out \xff.dat", 2);
    run.skeleton.source_texts = profile_texts("", 1);
    run.skeleton.event_metadata = profile_texts("[]", 1);
    unlink(path);
    assert_int_equal(sc_h5write_skeleton(path, &run.skeleton), 0);
    profile_rank(&run, 0, 2, &rows);
    for (size_t i = 0; i < TABLES; i++)
        rows.tables[i].fill = fill_sense;
    assert_int_equal(sc_write_token(path, rows.tables, TABLES), 0);
}

static void what_is_written_is_what_is_read(void **state)
{
    scope_reader *r;
    scope_slice slice;
    scope_mpi_call calls[ROWS];
    scope_mpi_total_row total;
    scope_peer_row peer;
    scope_object_row object;
    scope_site_row site;
    scope_text text;
    int64_t awaits[ROWS];
    (void)state;
    make_sense("sense.h5");
    assert_int_equal(scope_read_open("sense.h5", &r), 0);
    assert_int_equal(scope_read_slices(r, 0, 1, &slice), 0);
    assert_int_equal(scope_read_mpi(r, &slice, 0, ROWS, calls), 0);
    assert_int_equal(scope_read_await(r, &slice, 0, ROWS, awaits), 0);
    for (int i = 0; i < ROWS; i++) {
        assert_int_equal(calls[i].tag, 5 + i);
        assert_int_equal(calls[i].object, i == 1 ? 0 : -1);
        assert_int_equal(calls[i].request, INT64_C(1) << 40);
        assert_int_equal(calls[i].site, 0);
        assert_int_equal(awaits[i], i == 1 ? 0 : -1);
    }
    assert_int_equal(scope_read_mpi_totals(r, 0, 1, &total), 0);
    assert_int_equal(total.await, 11);
    assert_int_equal(total.in_flight, 12);
    assert_int_equal(scope_read_peers(r, 0, 1, &peer), 0);
    assert_int_equal(peer.peer, -1);
    assert_int_equal(peer.sent_bytes, 4);
    assert_int_equal(peer.rma_received, 6);
    assert_int_equal(scope_read_objects(r, 1, 1, &object), 0);
    assert_int_equal(object.kind, SCOPE_OBJECT_WINDOW);
    assert_int_equal(scope_read_object_name(r, 1, &text), 0);
    assert_string_equal(text.data, "out \xff.dat");
    assert_int_equal(scope_read_sites(r, 0, 1, &site), 0);
    assert_int_equal(site.offset, 77);
    assert_int_equal(scope_read_module_build_id(r, 0, &text), 0);
    assert_string_equal(text.data, "0a1b");
    scope_read_close(r);
}

/* ---- text ---- */

static void names_are_bytes(void **state)
{
    static char large[65537];
    const char *const names[] = {"",      "a/b", ".",    "..",       "line\nbreak", "\"quoted\\\"",
                                 "größe", " x ", "%s%n", "\xff\xfe", "\xc3",        large};
    struct sc_h5_text texts[12];
    (void)state;
    memset(large, 'L', sizeof(large) - 1);
    profile_make_small(&run);
    for (size_t i = 0; i < 12; i++)
        texts[i] = (struct sc_h5_text){names[i], strlen(names[i])};
    run.skeleton.region_names = texts;
    run.skeleton.regions = 12;
    make_file("names.h5", &run, 10);
    for (size_t i = 0; i < 12; i++)
        assert_text("names.h5", SC_D_REGION_NAMES, i, names[i]);
    assert_int_equal(dump("names.h5"), 0);
}

static void texts_need_no_terminator(void **state)
{
    const struct sc_h5_text texts[] = {{"solver", 5}, {NULL, 0}, {"a\0b", 3}};
    (void)state;
    profile_make_small(&run);
    run.skeleton.region_names = texts;
    run.skeleton.regions = 3;
    make_file("texts.h5", &run, 10);
    assert_text("texts.h5", SC_D_REGION_NAMES, 0, "solve");
    assert_text("texts.h5", SC_D_REGION_NAMES, 1, "");
    assert_text("texts.h5", SC_D_REGION_NAMES, 2, "a"); /* a NUL ends it */
}

static void ten_thousand_texts_fill_several_windows(void **state)
{
    static char name[10000][8];
    static struct sc_h5_text texts[10000];
    (void)state;
    for (size_t i = 0; i < 10000; i++) {
        snprintf(name[i], sizeof(name[i]), "r%zu", i);
        texts[i] = (struct sc_h5_text){name[i], strlen(name[i])};
    }
    profile_make_small(&run);
    run.skeleton.region_names = texts;
    run.skeleton.regions = 10000;
    make_file("many.h5", &run, 10);
    assert_text("many.h5", SC_D_REGION_NAMES, 0, "r0");
    assert_text("many.h5", SC_D_REGION_NAMES, 4096, "r4096");
    assert_text("many.h5", SC_D_REGION_NAMES, 9999, "r9999");
}

static void a_missing_text_column_reads_as_empty(void **state)
{
    (void)state;
    profile_make_small(&run);
    run.skeleton.source_files = NULL;
    make_file("none.h5", &run, 10);
    assert_text("none.h5", SC_D_INDEX_SOURCE_FILES, 0, "");
    assert_int_equal(dump("none.h5"), 0);
}

/* ---- attributes ---- */

static hid_t open_attribute(hid_t file, const char *name)
{
    hid_t group = h5->H5Oopen(file, SC_G_METADATA, H5P_DEFAULT);
    hid_t attribute = h5->H5Aopen(group, name, H5P_DEFAULT);

    h5->H5Oclose(group);
    return attribute;
}

static void attributes_of_every_kind(void **state)
{
    static char large[100001];
    static const char *many[6000]; /* more than a header message holds */
    struct sc_h5_attribute more[7];
    int64_t integer = 0;
    double real = 0;
    char *text = NULL, *list[3] = {NULL, NULL, NULL};
    hid_t file, id, type;
    (void)state;
    memset(large, 'v', sizeof(large) - 1);
    for (size_t i = 0; i < 6000; i++)
        many[i] = "item";
    memcpy(more, profile_attributes, sizeof(profile_attributes));
    more[5] = (struct sc_h5_attribute){.name = "large", .kind = SC_H5_TEXT, .text = large};
    more[6] =
        (struct sc_h5_attribute){.name = "many", .kind = SC_H5_TEXTS, .texts = many, .count = 6000};
    profile_make_small(&run);
    run.skeleton.attributes = more;
    run.skeleton.attribute_count = 7;
    make_file("attributes.h5", &run, 10);

    file = h5->H5Fopen("attributes.h5", SC_H5F_RDONLY, H5P_DEFAULT);
    id = open_attribute(file, "rank_count");
    h5->H5Aread(id, h5->H5T_NATIVE_INT64_g, &integer);
    assert_int_equal(integer, 3);
    h5->H5Aclose(id);
    id = open_attribute(file, "overhead");
    h5->H5Aread(id, h5->H5T_NATIVE_DOUBLE_g, &real);
    assert_true(real == 0.25);
    h5->H5Aclose(id);
    id = open_attribute(file, "large");
    type = h5->H5Aget_type(id);
    h5->H5Aread(id, type, &text);
    assert_string_equal(text, large);
    h5->H5free_memory(text);
    h5->H5Aclose(id);
    id = open_attribute(file, "modules");
    h5->H5Aread(id, type, list);
    assert_string_equal(list[0], "a");
    assert_string_equal(list[2], "c/1.0");
    h5->H5Tclose(type);
    h5->H5Aclose(id);
    h5->H5Fclose(file);
    assert_int_equal(dump("attributes.h5"), 0);
}

/* ---- the file ---- */

static void one_event_takes_few_bytes(void **state)
{
    (void)state;
    profile_make_small(&run);
    make_file("small.h5", &run, 10);
    print_message("one region, one event: %lld bytes\n", size_of("small.h5"));
    assert_in_range(size_of("small.h5"), 1, 15 * 1024);
}

/* The first file was made before all other tests: a time stamp would show. */
static void equal_runs_are_equal_files(void **state)
{
    char *first, *second;
    (void)state;
    profile_make(&run, 1, 1000, 0);
    make_file("second.h5", &run, 100);
    assert_int_equal(size_of("first.h5"), size_of("second.h5"));
    first = read_whole("first.h5");
    second = read_whole("second.h5");
    assert_memory_equal(first, second, (size_t)size_of("first.h5"));
    free(first);
    free(second);
}

static void the_number_of_objects_is_fixed(void **state)
{
    unsigned objects;
    (void)state;
    profile_make(&run, 1, 2, 0);
    make_file("few.h5", &run, 64);
    objects = count_objects("few.h5");
    profile_make(&run, 1, 3000, 0);
    run.skeleton.region_names = profile_texts("x", 500);
    run.skeleton.regions = 500;
    run.skeleton.ranks = 40;
    run.skeleton.bindings = profile_texts("1", 40);
    make_file("more.h5", &run, 64);
    assert_int_equal(count_objects("more.h5"), objects);
}

static void xml_is_compressed(void **state)
{
    hid_t file, set;
    (void)state;
    profile_make(&run, 1, 10, 0);
    make_file("xml.h5", &run, 64);
    file = h5->H5Fopen("xml.h5", SC_H5F_RDONLY, H5P_DEFAULT);
    set = h5->H5Dopen2(file, SC_D_TOPOLOGY_XML, H5P_DEFAULT);
    assert_in_range(h5->H5Dget_storage_size(set), 1, run.skeleton.topology_xml_length / 10);
    h5->H5Dclose(set);
    h5->H5Fclose(file);
}

/* ---- failures ---- */

static void an_existing_file_is_kept(void **state)
{
    FILE *file = fopen("kept.h5", "w");
    (void)state;
    fputs("mine", file);
    fclose(file);
    profile_make_small(&run);
    assert_int_equal(sc_h5write_skeleton("kept.h5", &run.skeleton), SC_EIO);
    assert_string_equal(sc_last_error(), "kept.h5: File exists");
    assert_int_equal(size_of("kept.h5"), 4);
}

static void a_missing_folder_is_named(void **state)
{
    (void)state;
    profile_make_small(&run);
    assert_int_equal(sc_h5write_skeleton("nowhere/x.h5", &run.skeleton), SC_EIO);
    assert_string_equal(sc_last_error(), "nowhere/x.h5: No such file or directory");
}

/* In a process of its own: the limit stays. */
static int with_limit(int (*work)(void))
{
    const struct rlimit limit = {1 << 16, 1 << 16};
    int status = -1;
    pid_t child = fork();

    if (child == 0) {
        setrlimit(RLIMIT_FSIZE, &limit);
        exit(work()); /* exit: what HDF5 does at the end is part of the test */
    }
    waitpid(child, &status, 0);
    return status;
}

static int too_large_for_the_limit(void)
{
    profile_make(&run, 1, 100000, 0);
    if (sc_h5write_skeleton("limit.h5", &run.skeleton) != SC_EIO)
        return 1;
    if (strcmp(sc_last_error(), "limit.h5: File too large") != 0 || access("limit.h5", F_OK) == 0)
        return 2;
    profile_make_small(&run); /* and the next one succeeds */
    return sc_h5write_skeleton("limit.h5", &run.skeleton) != 0 ? 3 : 0;
}

static void a_file_too_large_is_an_error_and_no_signal(void **state)
{
    (void)state;
    unlink("limit.h5");
    assert_int_equal(with_limit(too_large_for_the_limit), 0);
}

static int rows_beyond_the_limit(void)
{
    struct profile_rows rows;

    profile_make(&run, 1, 100000, 0);
    profile_rank(&run, 0, 1000, &rows);
    if (sc_write_token("rows-limit.h5", rows.tables, TABLES) != SC_EIO)
        return 1;
    return strcmp(sc_last_error(), "rows-limit.h5: File too large") != 0 ? 2 : 0;
}

static void rows_that_cannot_be_written_are_an_error(void **state)
{
    (void)state;
    profile_make(&run, 1, 100000, 0);
    make_file("rows-limit.h5", &run, 1000);
    assert_int_equal(with_limit(rows_beyond_the_limit), 0);
}

static int load_missing(void)
{
    const struct sc_h5api *none;
    const char *const list[] = {"/nowhere/libhdf5.so", NULL};

    return sc_h5_load(list, &none) == SC_EUNAVAIL && strstr(sc_last_error(), "nowhere") ? 0 : 1;
}

static int load_other(void)
{
    const struct sc_h5api *none;
    const char *const list[] = {"libc.so.6", NULL};

    return sc_h5_load(list, &none) == SC_EUNAVAIL && strstr(sc_last_error(), "has no H5") ? 0 : 1;
}

/* First of all tests, before a library is loaded; in processes without the environment's choice. */
static void a_library_that_cannot_be_used_is_named(void **state)
{
    char *explicit_file = getenv("SCOPE_HDF5_LIBRARY");
    char *copy = explicit_file != NULL ? strdup(explicit_file) : NULL;
    (void)state;
    unsetenv("SCOPE_HDF5_LIBRARY");
    assert_int_equal(with_limit(load_missing), 0);
    assert_int_equal(with_limit(load_other), 0);
    setenv("SCOPE_HDF5_LIBRARY", "/nowhere/libhdf5.so", 1);
    assert_int_equal(with_limit(load_missing), 0);
    unsetenv("SCOPE_HDF5_LIBRARY");
    if (copy != NULL)
        setenv("SCOPE_HDF5_LIBRARY", copy, 1);
    free(copy);
}

int main(void)
{
    const struct CMUnitTest loading[] = {
        cmocka_unit_test(a_library_that_cannot_be_used_is_named),
    };
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_read_back),
        cmocka_unit_test(rows_in_chunks_are_the_same_rows),
        cmocka_unit_test(no_window_is_larger_than_asked),
        cmocka_unit_test(an_empty_run_is_a_file),
        cmocka_unit_test(a_dataset_without_rows_is_refused),
        cmocka_unit_test(what_nobody_has_to_say_is_absent),
        cmocka_unit_test(what_is_written_is_what_is_read),
        cmocka_unit_test(names_are_bytes),
        cmocka_unit_test(texts_need_no_terminator),
        cmocka_unit_test(ten_thousand_texts_fill_several_windows),
        cmocka_unit_test(a_missing_text_column_reads_as_empty),
        cmocka_unit_test(attributes_of_every_kind),
        cmocka_unit_test(one_event_takes_few_bytes),
        cmocka_unit_test(the_number_of_objects_is_fixed),
        cmocka_unit_test(xml_is_compressed),
        cmocka_unit_test(an_existing_file_is_kept),
        cmocka_unit_test(a_missing_folder_is_named),
        cmocka_unit_test(a_file_too_large_is_an_error_and_no_signal),
        cmocka_unit_test(rows_that_cannot_be_written_are_an_error),
        cmocka_unit_test(equal_runs_are_equal_files),
    };
    int failed = cmocka_run_group_tests(loading, NULL, NULL);

    return failed + cmocka_run_group_tests(tests, load, NULL);
}
