/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every table of a damaged profile, as a program of the user reads it: the reader refuses what
 * makes no sense, hands out no number that points outside its table, and never crashes. What the
 * command makes of damage is the business of tests/cli/damage.sh.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base.h"
#include "h5write.h"
#include "scope_read.h"

/* A damaged file makes HDF5 itself copy and ask for too much; that is not looked for here. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__asan_default_options(void)
{
    return "replace_intrin=0:replace_str=0:intercept_strlen=0:intercept_strchr=0:"
           "intercept_strndup=0:allocator_may_return_null=1";
}

const char *__tsan_default_options(void)
{
    return "allocator_may_return_null=1";
}

enum { BLOCK = 64, CRASHED = 100, OUTSIDE = 101, FLIPS = 800 };

static char *good;
static size_t good_length;

static int read_good(void **state)
{
    const char *top = getenv("abs_top_srcdir");
    char path[4096];
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s/tests/golden/synthetic-v2.h5", top != NULL ? top : ".");
    file = fopen(path, "rb");
    good = malloc(1 << 20);
    good_length = file == NULL || good == NULL ? 0 : fread(good, 1, 1 << 20, file);
    if (file != NULL)
        fclose(file);
    return good_length == 0;
}

static int free_good(void **state)
{
    (void)state;
    free(good);
    return 0;
}

static void write_file(const char *path)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(good, 1, good_length, file), good_length);
    assert_int_equal(fclose(file), 0);
}

/* ---- a caller that uses what it gets as indexes ---- */

/* Ends a child process that was handed what points nowhere. */
static void inside(int64_t row, uint64_t rows, int64_t least)
{
    if (row < least || (row >= 0 && (uint64_t)row >= rows))
        _exit(OUTSIDE);
}

static int read_calls(scope_reader *r, const scope_read_size *size, const scope_slice *slice)
{
    int64_t clock = 0, starts[BLOCK], durations[BLOCK], awaits[BLOCK];
    scope_mpi_call calls[BLOCK];
    int rc = 0;

    for (uint64_t first = 0; rc == 0 && first < slice->events; first += BLOCK) {
        size_t n = slice->events - first < BLOCK ? (size_t)(slice->events - first) : BLOCK;

        rc = scope_read_events(r, slice, first, n, &clock, starts, durations);
        if (rc == 0)
            rc = scope_read_await(r, slice, first, n, awaits);
        if (rc != 0 || slice->first_mpi == SCOPE_NO_MPI)
            continue;
        rc = scope_read_mpi(r, slice, first, n, calls);
        for (size_t i = 0; rc == 0 && i < n; i++) {
            inside(calls[i].communicator, size->communicators, -1);
            inside(calls[i].object, size->objects, -1);
            inside(calls[i].site, size->sites, -1);
        }
    }
    return rc;
}

static int read_slices(scope_reader *r, const scope_read_size *size)
{
    scope_slice slice;
    scope_text text;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->slices; i++) {
        rc = scope_read_slices(r, i, 1, &slice);
        if (rc == 0)
            inside(slice.region, size->regions, 0);
        for (int t = SCOPE_SOURCE_FILE; rc == 0 && t <= SCOPE_EVENT_METADATA; t++)
            rc = scope_read_slice_text(r, i, (enum scope_slice_text)t, &text);
        if (rc == 0)
            rc = read_calls(r, size, &slice);
    }
    return rc;
}

static int read_totals(scope_reader *r, const scope_read_size *size)
{
    scope_mpi_total_row total;
    scope_peer_row peer;
    scope_path_stats_row stats;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->path_stats; i++) {
        rc = scope_read_path_stats(r, i, 1, &stats);
        if (rc == 0)
            inside(stats.path, size->paths, 0);
    }
    for (uint64_t i = 0; rc == 0 && i < size->mpi_totals; i++) {
        rc = scope_read_mpi_totals(r, i, 1, &total);
        if (rc != 0)
            continue;
        inside(total.rank, size->rank_rows, 0);
        inside(total.path, size->paths, 0);
        inside(total.communicator, size->communicators, -1);
        inside(total.object, size->objects, -1);
        inside(total.site, size->sites, -1);
    }
    for (uint64_t i = 0; rc == 0 && i < size->peers; i++) {
        rc = scope_read_peers(r, i, 1, &peer);
        if (rc != 0)
            continue;
        inside(peer.rank, size->rank_rows, 0);
        inside(peer.peer, size->rank_rows, -1);
    }
    return rc;
}

static int read_names(scope_reader *r, const scope_read_size *size)
{
    scope_object_row object;
    scope_site_row site;
    scope_comm_row comm;
    scope_text text;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->objects; i++) {
        rc = scope_read_objects(r, i, 1, &object);
        if (rc == 0)
            inside(object.communicator, size->communicators, -1);
        if (rc == 0)
            rc = scope_read_object_name(r, i, &text);
    }
    for (uint64_t i = 0; rc == 0 && i < size->sites; i++) {
        rc = scope_read_sites(r, i, 1, &site);
        if (rc == 0)
            inside(site.module, size->modules, -1);
    }
    for (uint64_t i = 0; rc == 0 && i < size->modules; i++) {
        rc = scope_read_module_name(r, i, &text);
        if (rc == 0)
            rc = scope_read_module_build_id(r, i, &text);
    }
    for (uint64_t i = 0; rc == 0 && i < size->communicators; i++) {
        rc = scope_read_comms(r, i, 1, &comm);
        if (rc == 0)
            rc = scope_read_comm_name(r, i, &text);
    }
    return rc;
}

static int read_everything(const char *path)
{
    scope_read_size size;
    scope_reader *r = NULL;
    int rc = scope_read_open(path, &r);

    if (rc != 0)
        return rc;
    scope_read_sizes(r, &size);
    rc = read_slices(r, &size);
    if (rc == 0)
        rc = read_totals(r, &size);
    if (rc == 0)
        rc = read_names(r, &size);
    scope_read_close(r);
    return rc;
}

/* The same in a process of its own: 0, 1 for refused, or how it ended. */
static int read_apart(const char *path)
{
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

        for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++)
            signal(deadly[i], SIG_DFL); /* cmocka would go on in this process */
        alarm(30);
        _exit(read_everything(path) != 0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : CRASHED;
}

/* ---- tests ---- */

static void a_sound_profile_is_read_to_its_end(void **state)
{
    (void)state;
    write_file("sound.h5");
    assert_int_equal(read_everything("sound.h5"), 0);
}

/* Where the rows of a dataset begin in the file. */
static size_t place_of(const char *path, const char *dataset)
{
    const struct sc_h5api *h5;
    haddr_t at;
    hid_t file, set;

    assert_int_equal(sc_h5_load_writer(&h5), 0);
    file = h5->H5Fopen(path, SC_H5F_RDONLY, H5P_DEFAULT);
    set = h5->H5Dopen2(file, dataset, H5P_DEFAULT);
    at = h5->H5Dget_offset(set);
    h5->H5Dclose(set);
    h5->H5Fclose(file);
    assert_in_range(at, 1, good_length - 8);
    return (size_t)at;
}

static void numbers_that_point_nowhere_are_refused(void **state)
{
    static const struct {
        const char *dataset;
        size_t offset; /* of the number in the first row */
        int32_t number;
    } bad[] = {
        {SC_D_MPI_COMMS, 0, 2},
        {SC_D_MPI_OBJECTS, 0, 2},
        {SC_D_MPI_OBJECTS, 0, -2},
        {SC_D_MPI_SITES, 0, 5},
        {SC_D_MPI_TOTALS, offsetof(struct sc_row_mpi_total, rank), 4},
        {SC_D_MPI_TOTALS, offsetof(struct sc_row_mpi_total, path), 14},
        {SC_D_MPI_TOTALS, offsetof(struct sc_row_mpi_total, communicator), 2},
        {SC_D_MPI_TOTALS, offsetof(struct sc_row_mpi_total, size_class), 65},
        {SC_D_MPI_TOTALS, offsetof(struct sc_row_mpi_total, object), 2},
        {SC_D_MPI_TOTALS, offsetof(struct sc_row_mpi_total, site), 5},
        {SC_D_MPI_TOTALS, offsetof(struct sc_row_mpi_total, await) + 4, -1},
        {SC_D_MPI_TOTALS, offsetof(struct sc_row_mpi_total, in_flight) + 4, -1},
        {SC_D_PEERS, offsetof(struct sc_row_peer, rank), 4},
        {SC_D_PEERS, offsetof(struct sc_row_peer, peer), 4},
        {SC_D_OBJECTS, offsetof(struct sc_row_object, communicator), 2},
        {SC_D_SITES, offsetof(struct sc_row_site, module), 2},
        {SC_D_EVENT_AWAIT, 4, -2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        size_t at = place_of("sound.h5", bad[i].dataset) + bad[i].offset;
        int32_t kept;

        memcpy(&kept, good + at, sizeof kept);
        memcpy(good + at, &bad[i].number, sizeof kept);
        write_file("nowhere.h5");
        memcpy(good + at, &kept, sizeof kept);
        if (read_everything("nowhere.h5") != SC_EFORMAT)
            fail_msg("%s: %d at byte %zu was accepted", bad[i].dataset, bad[i].number,
                     bad[i].offset);
        assert_non_null(strstr(sc_last_error(), "nowhere.h5: damaged: "));
    }
}

static void flipped_bits_are_no_trouble(void **state)
{
    int ends[3] = {0, 0, 0};

    (void)state;
    for (size_t i = 0; i < FLIPS; i++) {
        size_t at = good_length * i / FLIPS;
        int end;

        good[at] = (char)(good[at] ^ 1 << i % 8);
        write_file("flipped.h5");
        good[at] = (char)(good[at] ^ 1 << i % 8);
        end = read_apart("flipped.h5");
        if (end > 1)
            print_message("byte %zu, bit %zu: %s\n", at, i % 8,
                          end == OUTSIDE ? "points outside a table" : "crashed or took long");
        ends[end > 1 ? 2 : end]++;
    }
    print_message("%d flips: %d still readable, %d refused\n", FLIPS, ends[0], ends[1]);
    assert_int_equal(ends[2], 0);
    assert_true(ends[1] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sound_profile_is_read_to_its_end),
        cmocka_unit_test(numbers_that_point_nowhere_are_refused),
        cmocka_unit_test(flipped_bits_are_no_trouble),
    };

    return cmocka_run_group_tests(tests, read_good, free_good);
}
