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

#include "base.h"
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

/* Rank 2 brings nothing. */
static void bring(struct sc_items *mine, int rank)
{
    char own[16];

    snprintf(own, sizeof own, "own %d", rank);
    if (rank != 2) {
        add(mine, -1, own, "");
        add(mine, -1, "common", rank == 3 ? "three" : "");
        add(mine, -1, "", "");
        add(mine, -1, "common", ""); /* twice */
    }
}

static void rank_order_decides_and_duplicates_vanish(void **state)
{
    struct sc_items mine = {0};
    struct sc_union all = {0};
    uint32_t map[4];
    (void)state;

    bring(&mine, sc_world_rank());
    assert_int_equal(sc_unite(&all, 0, &mine, map), 0);
    assert_int_equal(all.items.count, 6);
    assert_item(&all.items, 0, -1, "own 0");
    assert_item(&all.items, 1, -1, "common");
    assert_item(&all.items, 2, -1, "");
    assert_item(&all.items, 3, -1, "own 1");
    assert_item(&all.items, 4, -1, "own 3");
    assert_item(&all.items, 5, -1, "own 4");
    assert_extra(&all.items, 1, "three"); /* the first that has some */
    if (sc_world_rank() != 2) {
        static const uint32_t place[] = {0, 3, 0, 4, 5};
        assert_int_equal(map[0], place[sc_world_rank()]);
        assert_int_equal(map[1], 1);
        assert_int_equal(map[2], 2);
        assert_int_equal(map[3], 1);
    }
    sc_items_free(&mine);
    sc_union_free(&all);
}

static void alone_rank_by_rank_gives_the_same(void **state)
{
    struct sc_union together = {0}, alone = {0};
    uint32_t map[4], alone_map[4];
    (void)state;

    for (int rank = 0; rank < sc_world_size(); rank++) {
        struct sc_items mine = {0};

        bring(&mine, rank);
        assert_int_equal(sc_union_add(&alone, 0, &mine, alone_map), 0);
        if (rank == sc_world_rank()) {
            const size_t before = alone.items.count;

            assert_int_equal(sc_unite(&together, 0, &mine, map), 0);
            assert_memory_equal(map, alone_map, mine.count * sizeof *map);
            assert_int_equal(sc_union_add(&alone, 0, &mine, alone_map), 0);
            assert_memory_equal(map, alone_map, mine.count * sizeof *map);
            assert_int_equal(alone.items.count, before);
        }
        sc_items_free(&mine);
    }
    assert_int_equal(alone.items.count, together.items.count);
    for (size_t i = 0; i < alone.items.count; i++) {
        const struct sc_item *item = &alone.items.item[i];
        const char *key = alone.items.bytes + item->at;

        assert_int_equal(together.items.item[i].length, item->length);
        assert_memory_equal(together.items.bytes + together.items.item[i].at, key, item->length);
    }
    assert_extra(&alone.items, 1, "three");
    sc_union_free(&together);
    sc_union_free(&alone);
}

static void a_failure_of_one_rank_is_that_of_all(void **state)
{
    (void)state;
    for (int bad = 0; bad < sc_world_size(); bad++) {
        struct sc_items mine = {0};
        struct sc_union all = {0};
        uint32_t *map;

        bring(&mine, sc_world_rank());
        assert_int_equal(
            sc_items_unite(sc_unite, &all, sc_world_rank() == bad ? SC_ENOMEM : 0, &mine, &map),
            SC_ENOMEM);
        assert_null(map);
        assert_non_null(strstr(sc_last_error(), "no memory"));
        sc_items_free(&mine);
        sc_union_free(&all);
    }
}

static void trees_are_united_node_by_node(void **state)
{
    struct sc_items mine = {0};
    struct sc_union all = {0};
    uint32_t map[3];
    (void)state;

    /* even ranks: main/solve, main/io; odd ranks: main/io, io */
    add(&mine, -1, "main", "");
    add(&mine, 0, sc_world_rank() % 2 == 0 ? "solve" : "io", "");
    add(&mine, sc_world_rank() % 2 == 0 ? 0 : -1, "io", "");
    assert_int_equal(sc_unite(&all, 0, &mine, map), 0);
    assert_int_equal(all.items.count, 4);
    assert_item(&all.items, 0, -1, "main");
    assert_item(&all.items, 1, 0, "solve");
    assert_item(&all.items, 2, 0, "io");
    assert_item(&all.items, 3, -1, "io");
    assert_int_equal(map[1], sc_world_rank() % 2 == 0 ? 1 : 2);
    assert_int_equal(map[2], sc_world_rank() % 2 == 0 ? 2 : 3);
    sc_items_free(&mine);
    sc_union_free(&all);
}

static void nobody_brings_anything(void **state)
{
    struct sc_items mine = {0};
    struct sc_union all = {0};
    (void)state;

    assert_int_equal(sc_unite(&all, 0, &mine, NULL), 0);
    assert_int_equal(all.items.count, 0);
    sc_union_free(&all);
}

static void many_items_of_many_sizes(void **state)
{
    enum { MINE = 3000 };
    struct sc_items mine = {0};
    struct sc_union all = {0};
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
    assert_int_equal(sc_unite(&all, 0, &mine, map), 0);
    assert_int_equal(all.items.count, (size_t)(sc_world_size() + 1) * MINE / 2);
    for (int i = 0; i < MINE; i++)
        assert_int_equal(map[i], (uint32_t)(sc_world_rank() * MINE / 2 + i));
    free(map);
    sc_items_free(&mine);
    sc_union_free(&all);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rank_order_decides_and_duplicates_vanish),
        cmocka_unit_test(alone_rank_by_rank_gives_the_same),
        cmocka_unit_test(a_failure_of_one_rank_is_that_of_all),
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
