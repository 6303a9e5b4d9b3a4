/* SPDX-License-Identifier: BSD-3-Clause
 *
 * ranks on 4 ranks: three machines are made up below, in place of the probes, so that nodes,
 * missing parts and distinct topologies can be chosen.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <mpi.h>
#include <stdbool.h>

#include "ranks.h"
#include "world.h"

/* ---- the machines: what each rank's probes answer ---- */

struct machine {
    const char *host;
    const char *xml;    /* NULL: hwloc fails here */
    const char *likwid; /* NULL: LIKWID fails here */
};
static struct machine here;
static int topology_calls, likwid_calls;

void sc_meta_place(struct sc_place *out)
{
    int rank = sc_world_rank();
    *out = (struct sc_place){.pu = rank % 2, .core = -1, .package = -1, .numa_node = -1};
    snprintf(out->binding, sizeof out->binding, "%d-%d", rank, rank + 10);
}

void sc_meta_hostname(char *out, size_t size)
{
    snprintf(out, size, "%s", here.host);
}

int sc_meta_topology(int full_detail, struct sc_topology *out)
{
    (void)full_detail;
    topology_calls++;
    *out = (struct sc_topology){0};
    if (here.xml == NULL)
        return sc_fail(SC_EUNAVAIL, "hwloc: broken on %s", here.host);
    out->xml = strdup(here.xml);
    out->xml_length = strlen(here.xml);
    out->hash = sc_hash(here.xml, out->xml_length);
    out->packages = out->numa_nodes = 1;
    out->cores = out->pus = 2;
    return 0;
}

void sc_topology_free(struct sc_topology *t)
{
    free(t->xml);
    *t = (struct sc_topology){0};
}

struct sc_locus sc_topology_locate(const struct sc_topology *t, int32_t pu)
{
    return t->xml != NULL ? (struct sc_locus){pu + 100, 0, 7} : (struct sc_locus){-1, -1, -1};
}

int sc_meta_likwid(struct sc_string *out)
{
    likwid_calls++;
    if (here.likwid == NULL)
        return sc_fail(SC_EUNAVAIL, "LIKWID: broken on %s", here.host);
    return sc_string_append(out, here.likwid, strlen(here.likwid));
}

/* ---- the ranks ---- */

enum { RANKS = 4 };

static struct sc_rank_facts *facts_on(const struct machine machines[RANKS], int want)
{
    struct sc_rank_facts *f = NULL;
    here = machines[sc_world_rank()];
    topology_calls = likwid_calls = 0;
    assert_int_equal(sc_rank_facts_create(want, &f), 0);
    assert_non_null(f);
    return f;
}

static int sum(int mine)
{
    int all = 0;
    PMPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

static void assert_text(const struct sc_h5_text *text, const char *expected)
{
    assert_int_equal(text->length, strlen(expected));
    assert_memory_equal(text->data, expected, text->length);
}

static const struct machine two_nodes[RANKS] = {{"alpha", "<a/>", "{1}"},
                                                {"beta", "<a/>", "{2}"},
                                                {"alpha", "<a/>", "{3}"},
                                                {"beta", "<a/>", "{4}"}};

static void nodes_are_numbered_by_their_first_rank(void **state)
{
    (void)state;
    struct sc_rank_facts *f = facts_on(two_nodes, SC_RANKS_TOPOLOGY | SC_RANKS_FULL);
    int rank = sc_world_rank();
    assert_int_equal(f->node, rank % 2);
    assert_int_equal(f->place.pu, rank % 2);
    assert_int_equal(f->place.core, 100 + rank % 2);
    assert_int_equal(f->place.numa_node, 7);
    assert_int_equal(sum(topology_calls), 2); /* once per node */
    assert_int_equal(sum(likwid_calls), 1);   /* once per distinct topology */
    if (rank == 0) {
        assert_int_equal(f->node_count, 2);
        assert_int_equal(f->nodes[0].ranks, 2);
        assert_int_equal(f->nodes[1].ranks, 2);
        assert_text(&f->node_names[0], "alpha");
        assert_text(&f->node_names[1], "beta");
        assert_text(&f->bindings[0], "0-10");
        assert_text(&f->bindings[3], "3-13");
        assert_int_equal(f->topology_count, 1); /* equal machines share one */
        assert_int_equal(f->nodes[0].topology, 0);
        assert_int_equal(f->nodes[1].topology, 0);
        assert_int_equal(f->topology_xml_length, 4);
        assert_memory_equal(f->topology_xml, "<a/>", 4);
        assert_text(&f->likwid[0], "{1}");
        assert_null(f->topology_missing);
        assert_null(f->likwid_missing);
    } else {
        assert_int_equal(f->node_count, 0);
        assert_null(f->bindings);
    }
    sc_rank_facts_free(f);
}

static void distinct_topologies_are_all_kept(void **state)
{
    (void)state;
    static const struct machine machines[RANKS] = {{"a", "<first/>", "{}"},
                                                   {"b", "<the second one/>", NULL},
                                                   {"c", "<third/>", "{\"c\":3}"},
                                                   {"d", "<the second one/>", "{}"}};
    struct sc_rank_facts *f = facts_on(machines, SC_RANKS_TOPOLOGY);
    assert_int_equal(sum(likwid_calls), 3);
    assert_int_equal(f->node, sc_world_rank());
    if (sc_world_rank() == 0) {
        static const char *const xml[] = {"<first/>", "<the second one/>", "<third/>"};
        assert_int_equal(f->topology_count, 3);
        for (size_t i = 0; i < 3; i++) {
            const struct sc_row_topology *t = &f->topologies[i];
            assert_int_equal(t->xml_length, strlen(xml[i]));
            assert_memory_equal(f->topology_xml + t->xml_offset, xml[i], strlen(xml[i]));
            assert_int_equal(t->cores, 2);
        }
        assert_int_equal(f->nodes[3].topology, 1);
        assert_text(&f->likwid[0], "{}");
        assert_text(&f->likwid[1], "");
        assert_text(&f->likwid[2], "{\"c\":3}");
        assert_string_equal(f->likwid_missing, "LIKWID: broken on b");
        assert_null(f->node_names); /* minimal detail */
    }
    sc_rank_facts_free(f);
}

static void what_one_node_lacks_is_absent_there_only(void **state)
{
    (void)state;
    static const struct machine machines[RANKS] = {
        {"a", NULL, "{}"}, {"b", "<b/>", NULL}, {"a", NULL, "{}"}, {"b", "<b/>", NULL}};
    struct sc_rank_facts *f = facts_on(machines, SC_RANKS_TOPOLOGY);
    assert_int_equal(f->place.core, sc_world_rank() % 2 == 0 ? -1 : 101);
    if (sc_world_rank() == 0) {
        assert_int_equal(f->nodes[0].topology, -1);
        assert_int_equal(f->nodes[1].topology, 0);
        assert_int_equal(f->topology_count, 1);
        assert_string_equal(f->topology_missing, "hwloc: broken on a");
        assert_null(f->likwid);
        assert_string_equal(f->likwid_missing, "LIKWID: broken on b");
    }
    sc_rank_facts_free(f);
}

static void without_topology_no_probe_runs(void **state)
{
    (void)state;
    struct sc_rank_facts *f = facts_on(two_nodes, 0);
    assert_int_equal(sum(topology_calls + likwid_calls), 0);
    assert_int_equal(f->place.core, -1);
    if (sc_world_rank() == 0) {
        assert_int_equal(f->node_count, 2);
        assert_int_equal(f->nodes[0].topology, -1);
        assert_int_equal(f->topology_count, 0);
        assert_null(f->likwid);
        assert_text(&f->bindings[2], "2-12");
        assert_null(f->node_names);
    }
    sc_rank_facts_free(f);
}

static void an_answer_too_long_is_absent(void **state)
{
    (void)state;
    char *text = malloc(100001);
    memset(text, 'x', 100000);
    text[100000] = '\0';
    struct machine machines[RANKS];
    for (int i = 0; i < RANKS; i++)
        machines[i] = (struct machine){i == 0 ? "a" : "b", i == 0 ? "<a/>" : "<b/>", text};
    struct sc_rank_facts *f = facts_on(machines, SC_RANKS_TOPOLOGY);
    if (sc_world_rank() == 0) {
        assert_int_equal(f->topology_count, 2);
        assert_null(f->likwid);
        assert_non_null(f->likwid_missing);
    }
    sc_rank_facts_free(f);
    free(text);
}

static void without_mpi_the_process_is_a_world_of_its_own(void **state)
{
    (void)state;
    sc_world_close();
    struct sc_rank_facts *f = NULL;
    here = two_nodes[0];
    assert_int_equal(sc_rank_facts_create(SC_RANKS_TOPOLOGY | SC_RANKS_FULL, &f), 0);
    assert_int_equal(f->node, 0);
    assert_int_equal(f->node_count, 1);
    assert_int_equal(f->nodes[0].ranks, 1);
    assert_int_equal(f->topology_count, 1);
    assert_text(&f->node_names[0], "alpha");
    assert_text(&f->likwid[0], "{1}");
    sc_rank_facts_free(f);
    sc_rank_facts_free(NULL);
    assert_int_equal(sc_world_open(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_are_numbered_by_their_first_rank),
        cmocka_unit_test(distinct_topologies_are_all_kept),
        cmocka_unit_test(what_one_node_lacks_is_absent_there_only),
        cmocka_unit_test(without_topology_no_probe_runs),
        cmocka_unit_test(an_answer_too_long_is_absent),
        cmocka_unit_test(without_mpi_the_process_is_a_world_of_its_own),
    };
    PMPI_Init(NULL, NULL); /* not MPI_Init: nothing is recorded here */
    if (sc_world_open() != 0 || sc_world_size() != RANKS) {
        fprintf(stderr, "needs %d ranks\n", RANKS);
        PMPI_Abort(MPI_COMM_WORLD, 1);
    }
    int failed = sum(cmocka_run_group_tests(tests, NULL, NULL));
    sc_world_close();
    PMPI_Finalize();
    return failed != 0;
}
