/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Files, windows, modules and call sites that ranks number each in its own way become rows on which
 * all agree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <mpi.h>

#include "bring.h"
#include "catalog.h"
#include "comm.h"
#include "numbering.h"
#include "object.h"
#include "site.h"
#include "unite.h"
#include "world.h"

enum { RANKS = 3 };

static struct sc_numbering numbering;
static struct sc_catalog catalog;
static struct sc_maps maps;

static void make_tables(bool full)
{
    struct sc_own own;

    sc_object_refresh();
    assert_int_equal(sc_bring(&own), 0);
    assert_int_equal(sc_numbering_add(&numbering, NULL, &own, sc_unite, &maps), 0);
    assert_int_equal(sc_catalog_add(&catalog, &own, sc_unite, &maps), 0);
    if (sc_world_rank() == 0) {
        assert_int_equal(sc_numbering_fill(&numbering), 0);
        assert_int_equal(sc_catalog_fill(&catalog, full), 0);
    }
    sc_own_free(&own);
}

static void free_tables(void)
{
    sc_maps_free(&maps);
    sc_catalog_free(&catalog);
    sc_numbering_free(&numbering);
}

/* Whether all ranks say the same number. */
static bool same(int32_t number)
{
    int32_t range[2] = {number, -number};

    PMPI_Allreduce(MPI_IN_PLACE, range, 2, MPI_INT32_T, MPI_MAX, sc_world_comm());
    return range[0] == -range[1];
}

/* Rank 0. How many rows have that name. */
static int named(const char *name)
{
    int found = 0;

    for (size_t i = 0; i < catalog.object_count; i++)
        found += catalog.object_names[i].length == strlen(name) &&
                 memcmp(catalog.object_names[i].data, name, strlen(name)) == 0;
    return found;
}

static MPI_Win make_window(MPI_Comm comm, const char *name)
{
    void *memory;
    MPI_Win win;

    PMPI_Win_allocate(64, 1, MPI_INFO_NULL, comm, &memory, &win);
    sc_opened_window(comm, &win);
    PMPI_Win_set_name(win, name);
    return win;
}

static int32_t row_of(const struct sc_object *o)
{
    assert_non_null(o);
    return maps.object[o->number];
}

static void windows_are_told_apart_by_communicator_and_order(void **state)
{
    const int rank = sc_world_rank();
    const struct sc_object *object[3];
    MPI_Comm half;
    MPI_Win win[3];
    (void)state;

    sc_comm_making(SC_COMM_CHILD);
    PMPI_Comm_split(MPI_COMM_WORLD, rank == 2, 0, &half);
    sc_comm_made(MPI_SUCCESS, SC_COMM_CHILD, MPI_COMM_WORLD, &half, 0);
    win[0] = make_window(MPI_COMM_WORLD, "first");
    win[1] = make_window(MPI_COMM_WORLD, "second");
    win[2] = make_window(half, rank == 2 ? "alone" : "pair");
    for (int i = 0; i < 3; i++) { /* each rank uses another one first */
        int w = (i + rank) % 3;
        object[w] = sc_object_of_window(win[w]);
    }
    make_tables(true);
    assert_true(same(row_of(object[0])));
    assert_true(same(row_of(object[1])));
    assert_false(same(row_of(object[2])));
    assert_int_not_equal(row_of(object[0]), row_of(object[1]));
    if (rank == 0) {
        assert_int_equal(catalog.object_count, 4);
        assert_int_equal(named("first") + named("second") + named("alone") + named("pair"), 4);
        assert_int_equal(catalog.objects[row_of(object[0])].kind, SC_OBJECT_WINDOW);
        assert_int_equal(catalog.objects[row_of(object[2])].communicator,
                         maps.comm[sc_comm_find(half)->number]);
    }
    free_tables();
    for (int i = 0; i < 3; i++) {
        (void)sc_closing_window(&win[i]);
        PMPI_Win_free(&win[i]);
    }
    PMPI_Comm_free(&half);
}

static const struct sc_object *open_file(const char *name, MPI_File *file)
{
    assert_int_equal(
        PMPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, file),
        MPI_SUCCESS);
    sc_opened_file(MPI_COMM_SELF, name, file);
    return sc_object_of_file(*file);
}

static void files_are_their_names(void **state)
{
    const int rank = sc_world_rank();
    const struct sc_object *shared, *own, *absolute;
    char name[32], here[4096], path[4200];
    MPI_File file[3];
    int32_t before = sc_object_count();
    (void)state;

    snprintf(name, sizeof name, "own-%d.dat", rank);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/absolute.dat", here);
    own = open_file(name, &file[0]);
    shared = open_file("shared.dat", &file[1]);
    absolute = open_file(path, &file[2]);
    assert_int_equal(sc_object_count(), before + 3);
    for (int full = 0; full < 2; full++) {
        make_tables(full);
        assert_true(same(row_of(shared)));
        assert_true(same(row_of(absolute)));
        assert_false(same(row_of(own)));
        if (rank == 0) {
            assert_int_equal(named("shared.dat"), 1);
            assert_int_equal(named("own-2.dat"), 1);
            assert_int_equal(named("absolute.dat"), !full);
            assert_int_equal(named(path), full);
            assert_int_equal(catalog.objects[row_of(shared)].kind, SC_OBJECT_FILE);
        }
        free_tables();
    }
    for (int i = 0; i < 3; i++) {
        (void)sc_closing_file(&file[i]);
        PMPI_File_close(&file[i]);
    }
}

/* Places that only have to be different. */
static void place_a(void) {}

static void place_b(void) {}

static const void *address_of(void (*function)(void))
{
    return (const char *)(uintptr_t)function + 1;
}

static void equal_places_are_one_call_site(void **state)
{
    const int rank = sc_world_rank();
    const void *place[3] = {address_of(place_a), address_of(place_b),
                            (const char *)(uintptr_t)getpid + 1};
    int32_t site[3];
    (void)state;

    for (int i = 0; i < 3; i++) {
        int p = (i + rank) % 3;
        site[p] = sc_site_of(place[p]);
        assert_true(site[p] >= 0);
    }
    make_tables(true);
    for (int i = 0; i < 3; i++)
        assert_true(same(maps.site[site[i]]));
    if (rank == 0) {
        const struct sc_row_site *a = &catalog.sites[maps.site[site[0]]];
        const struct sc_row_site *b = &catalog.sites[maps.site[site[1]]];
        const struct sc_row_site *c = &catalog.sites[maps.site[site[2]]];
        assert_int_equal(catalog.site_count, 3);
        assert_int_equal(catalog.module_count, 2);
        assert_int_equal(a->module, b->module);
        assert_int_not_equal(a->module, c->module);
        assert_int_not_equal(a->offset, b->offset);
        assert_non_null(memmem(catalog.module_names[a->module].data,
                               catalog.module_names[a->module].length, "catalog_np3", 11));
    }
    free_tables();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(windows_are_told_apart_by_communicator_and_order),
        cmocka_unit_test(files_are_their_names),
        cmocka_unit_test(equal_places_are_one_call_site),
    };
    int failed;

    PMPI_Init(NULL, NULL); /* not MPI_Init: nothing is recorded here */
    if (sc_world_open() != 0 || sc_world_size() != RANKS || sc_comm_open() != 0) {
        fprintf(stderr, "needs %d ranks\n", RANKS);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    sc_comm_hide(sc_world_comm());
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    PMPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, sc_world_comm());
    sc_object_close();
    sc_comm_close();
    sc_world_close();
    PMPI_Finalize();
    return failed != 0;
}
