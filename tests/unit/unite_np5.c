/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One table out of many: order, duplicates, parents, extras and an empty rank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <mpi.h>

#include "unite.h"
#include "world.h"

static void add(struct sc_items *items, int parent, const char *key, const char *extra)
{
    assert_int_equal(sc_items_add(items, parent, key, strlen(key), extra, strlen(extra)), 0);
}

static void assert_item(const struct sc_items *all, size_t i, int parent, const char *key)
{
    assert_int_equal(all->item[i].parent, parent);
    assert_int_equal(all->item[i].length, strlen(key));
    assert_memory_equal(all->bytes + all->item[i].at, key, strlen(key));
}

static void assert_extra(const struct sc_items *all, size_t i, const char *extra)
{
    if (sc_world_rank() != 0)
        return;
    assert_int_equal(all->item[i].extra, strlen(extra));
    assert_memory_equal(all->bytes + all->item[i].at + all->item[i].length, extra, strlen(extra));
}

static void rank_order_decides_and_duplicates_vanish(void **state)
{
    struct sc_items mine = {0}, all = {0};
    uint32_t map[4];
    char own[16];
    (void)state;

    /* rank 2 brings nothing */
    snprintf(own, sizeof own, "own %d", sc_world_rank());
    if (sc_world_rank() != 2) {
        add(&mine, -1, own, "");
        add(&mine, -1, "common", sc_world_rank() == 3 ? "three" : "");
        add(&mine, -1, "", "");
        add(&mine, -1, "common", ""); /* twice */
    }
    assert_int_equal(sc_unite(&mine, &all, map), 0);
    assert_int_equal(all.count, 6);
    assert_item(&all, 0, -1, "own 0");
    assert_item(&all, 1, -1, "common");
    assert_item(&all, 2, -1, "");
    assert_item(&all, 3, -1, "own 1");
    assert_item(&all, 4, -1, "own 3");
    assert_item(&all, 5, -1, "own 4");
    assert_extra(&all, 1, "three"); /* the first that has some */
    if (sc_world_rank() != 2) {
        static const uint32_t place[] = {0, 3, 0, 4, 5};
        assert_int_equal(map[0], place[sc_world_rank()]);
        assert_int_equal(map[1], 1);
        assert_int_equal(map[2], 2);
        assert_int_equal(map[3], 1);
    }
    sc_items_free(&mine);
    sc_items_free(&all);
}

static void trees_are_united_node_by_node(void **state)
{
    struct sc_items mine = {0}, all = {0};
    uint32_t map[3];
    (void)state;

    /* even ranks: main/solve, main/io; odd ranks: main/io, io */
    add(&mine, -1, "main", "");
    add(&mine, 0, sc_world_rank() % 2 == 0 ? "solve" : "io", "");
    add(&mine, sc_world_rank() % 2 == 0 ? 0 : -1, "io", "");
    assert_int_equal(sc_unite(&mine, &all, map), 0);
    assert_int_equal(all.count, 4);
    assert_item(&all, 0, -1, "main");
    assert_item(&all, 1, 0, "solve");
    assert_item(&all, 2, 0, "io");
    assert_item(&all, 3, -1, "io");
    assert_int_equal(map[1], sc_world_rank() % 2 == 0 ? 1 : 2);
    assert_int_equal(map[2], sc_world_rank() % 2 == 0 ? 2 : 3);
    sc_items_free(&mine);
    sc_items_free(&all);
}

static void nobody_brings_anything(void **state)
{
    struct sc_items mine = {0}, all = {0};
    (void)state;

    assert_int_equal(sc_unite(&mine, &all, NULL), 0);
    assert_int_equal(all.count, 0);
    sc_items_free(&all);
}

static void many_items_of_many_sizes(void **state)
{
    enum { MINE = 3000 };
    struct sc_items mine = {0}, all = {0};
    uint32_t *map = malloc(MINE * sizeof *map);
    char key[600];
    (void)state;

    memset(key, 'k', sizeof key);
    for (int i = 0; i < MINE; i++) { /* half of them are the next rank's too */
        int number = sc_world_rank() * MINE / 2 + i;
        memcpy(key, &number, sizeof number);
        assert_int_equal(
            sc_items_add(&mine, -1, key, sizeof number + (size_t)(number % 500), key, 20), 0);
    }
    assert_int_equal(sc_unite(&mine, &all, map), 0);
    assert_int_equal(all.count, (size_t)(sc_world_size() + 1) * MINE / 2);
    for (int i = 0; i < MINE; i++)
        assert_int_equal(map[i], (uint32_t)(sc_world_rank() * MINE / 2 + i));
    free(map);
    sc_items_free(&mine);
    sc_items_free(&all);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_order_decides_and_duplicates_vanish),
        cmocka_unit_test(trees_are_united_node_by_node),
        cmocka_unit_test(nobody_brings_anything),
        cmocka_unit_test(many_items_of_many_sizes),
    };
    int failed;

    PMPI_Init(&argc, &argv);
    if (sc_world_open() != 0)
        return 99;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    sc_world_close();
    PMPI_Finalize();
    return failed;
}
