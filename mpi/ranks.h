/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * ranks: where every rank ran: gathers places, host names and the distinct topologies on rank 0, in
 * the form the file takes. hwloc is asked once per node, LIKWID once per distinct topology. What
 * one rank cannot learn is absent; nobody waits for it. Memory grows with the ranks on rank 0 only.
 */
#ifndef SC_RANKS_H
#define SC_RANKS_H

#include <stddef.h>
#include <stdint.h>

#include "h5write.h"
#include "layout.h"
#include "meta.h"

enum sc_ranks_want {
    SC_RANKS_TOPOLOGY = 1, /* else hwloc and LIKWID are not touched */
    SC_RANKS_FULL = 2      /* host names, and all that hwloc says */
};

struct sc_rank_facts {
    /* This rank's own. */
    struct sc_place place; /* core, package, numa_node: -1 without SC_RANKS_TOPOLOGY */
    uint32_t node;         /* row of nodes; nodes are numbered by their first rank */

    /* Of all ranks, on rank 0; elsewhere 0 and NULL. */
    struct sc_h5_text *bindings; /* [ranks] */
    struct sc_row_node *nodes;
    struct sc_h5_text *node_names; /* [nodes]; NULL in minimal detail */
    size_t node_count;
    struct sc_row_topology *topologies;
    size_t topology_count;
    unsigned char *topology_xml;
    size_t topology_xml_length;
    struct sc_h5_text *likwid;    /* [topologies], "" where absent; NULL: absent everywhere */
    const char *topology_missing; /* why some node has none, NULL if none lacks it */
    const char *likwid_missing;
    struct sc_string text; /* what the texts above point into */
};

/* Collective. want is a sum of sc_ranks_want, the same on all ranks; without MPI the process is the
 * only rank. 0, SC_ENOMEM or SC_EMPI, the same on all ranks; *out is NULL then. */
int sc_rank_facts_create(int want, struct sc_rank_facts **out);
void sc_rank_facts_free(struct sc_rank_facts *f);

#endif
