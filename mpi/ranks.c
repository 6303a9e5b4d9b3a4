/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * ranks: three rounds over the hidden communicator. First rank 0 learns a hash of every rank's host
 * and tells each its node and that node's first rank, the leader. Then leaders look at the machine
 * and answer the ranks of their node where they are. Last, rank 0 gets one card and some text from
 * each rank, and from one leader per distinct topology the topology itself.
 */
#include "ranks.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "world.h"

enum {
    TAG_PLACE = 11,
    TAG_TOPOLOGY,
    TEXT_MAX = 1024,
    LIKWID_MAX = 1 << 16,
    TOPOLOGIES_MAX = 256 /* more distinct machines than this: the rest stays without */
};

/* What rank 0 tells each rank: its node, that node's first rank, how many ranks are there. */
struct seat {
    int32_t node, leader, ranks;
};

/* What each rank tells rank 0; of a leader, its node's topology. */
struct card {
    uint64_t hash, xml_length;
    int32_t packages, numa_nodes, cores, pus;
    int32_t has_topology, text_length;
};

/* What a leader asked for its topology sends: this, the XML, then LIKWID's facts or why there are
 * none. */
struct parcel {
    int32_t likwid_status, likwid_length;
};

/* One gathering. The arrays have an element per rank and are rank 0's. */
struct gathering {
    int want, rank, size;
    struct sc_rank_facts *facts;
    struct seat seat;
    struct sc_topology topology; /* a leader's */
    bool has_topology;
    char reason[256]; /* why a leader has none */
    struct card *cards;
    struct seat *seats;
    uint64_t *hosts;
    int32_t *slots;         /* hash table: host -> node */
    int *lengths, *offsets; /* of the texts */
    int32_t *asked;         /* 1: send your topology */
    char *text;             /* all ranks' texts, one behind the other */
    char *likwid;           /* LIKWID_MAX bytes for one answer */
};

static int checked(int mpi_status)
{
    return mpi_status == MPI_SUCCESS ? 0 : sc_fail(SC_EMPI, "MPI failed while ranks were compared");
}

static int gather(const void *mine, void *all, size_t bytes)
{
    if (!sc_world_is_open()) {
        memcpy(all, mine, bytes);
        return 0;
    }
    return checked(
        PMPI_Gather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, 0, sc_world_comm()));
}

static int scatter(const void *all, void *mine, size_t bytes)
{
    if (!sc_world_is_open()) {
        memcpy(mine, all, bytes);
        return 0;
    }
    return checked(
        PMPI_Scatter(all, (int)bytes, MPI_BYTE, mine, (int)bytes, MPI_BYTE, 0, sc_world_comm()));
}

static int send_bytes(const void *data, size_t bytes, int to, int tag)
{
    return checked(PMPI_Send(data, (int)bytes, MPI_BYTE, to, tag, sc_world_comm()));
}

static int receive_bytes(void *data, size_t bytes, int from, int tag)
{
    return checked(
        PMPI_Recv(data, (int)bytes, MPI_BYTE, from, tag, sc_world_comm(), MPI_STATUS_IGNORE));
}

/* ---- nodes ---- */

/* Tells machines apart: two may carry one name (localhost), and containers of one machine several.
 */
static uint64_t host_hash(const char *name)
{
    char text[400];
    size_t length = (size_t)snprintf(text, sizeof text, "%.255s\n", name);
    FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
    if (file != NULL) {
        length += fread(text + length, 1, sizeof text - length, file);
        fclose(file);
    }
    return sc_hash(text, length);
}

/* The slot of a host: holds its node, or -1. */
static int32_t *find_slot(const struct gathering *g, size_t slot_count, uint64_t host)
{
    for (size_t at = (size_t)host & (slot_count - 1);; at = (at + 1) & (slot_count - 1)) {
        int32_t node = g->slots[at];
        if (node < 0 || g->hosts[g->seats[node].leader] == host)
            return &g->slots[at];
    }
}

static size_t slots_for(int ranks)
{
    size_t count = 16;
    while (count < 2 * (size_t)ranks)
        count *= 2;
    return count;
}

/* Numbers the nodes by their first rank. Until the seats themselves are known, seats[n] is the
 * table of nodes (n is never above the first rank of node n), offsets[] says which node a rank is
 * on, then lengths[n] who leads it. */
static int assign_seats(struct gathering *g)
{
    size_t slot_count = slots_for(g->size);
    int32_t nodes = 0;
    for (size_t i = 0; i < slot_count; i++)
        g->slots[i] = -1;
    for (int r = 0; r < g->size; r++) {
        int32_t *slot = find_slot(g, slot_count, g->hosts[r]);
        if (*slot < 0) {
            *slot = nodes;
            g->seats[nodes++] = (struct seat){.leader = r};
        }
        g->offsets[r] = *slot;
        g->seats[*slot].ranks++;
    }
    struct sc_rank_facts *f = g->facts;
    f->nodes = calloc((size_t)nodes, sizeof *f->nodes);
    if (f->nodes == NULL)
        return SC_ENOMEM;
    f->node_count = (size_t)nodes;
    for (int32_t n = 0; n < nodes; n++) {
        f->nodes[n] = (struct sc_row_node){.ranks = (uint32_t)g->seats[n].ranks, .topology = -1};
        g->lengths[n] = g->seats[n].leader;
    }
    for (int r = 0; r < g->size; r++) {
        int32_t node = g->offsets[r];
        g->seats[r] = (struct seat){node, g->lengths[node], (int32_t)f->nodes[node].ranks};
    }
    return 0;
}

/* Rank 0's arrays; the others need none of them. */
static int allocate(struct gathering *g)
{
    if (g->rank != 0)
        return 0;
    size_t n = (size_t)g->size;
    g->cards = calloc(n, sizeof *g->cards);
    g->seats = calloc(n, sizeof *g->seats);
    g->hosts = calloc(n, sizeof *g->hosts);
    g->slots = calloc(slots_for(g->size), sizeof *g->slots);
    g->lengths = calloc(n, sizeof *g->lengths);
    g->offsets = calloc(n, sizeof *g->offsets);
    g->asked = calloc(n, sizeof *g->asked);
    g->likwid = malloc(LIKWID_MAX);
    g->facts->bindings = calloc(n, sizeof *g->facts->bindings);
    bool complete = g->cards != NULL && g->seats != NULL && g->hosts != NULL && g->slots != NULL &&
                    g->lengths != NULL && g->offsets != NULL && g->asked != NULL &&
                    g->likwid != NULL && g->facts->bindings != NULL;
    return complete ? 0 : sc_fail(SC_ENOMEM, "no memory to gather facts of %d ranks", g->size);
}

/* Collective. */
static int find_nodes(struct gathering *g, const char *host)
{
    uint64_t mine = host_hash(host);
    int rc = sc_agree(allocate(g));
    if (rc == 0)
        rc = gather(&mine, g->hosts, sizeof mine);
    if (rc == 0 && g->rank == 0)
        rc = assign_seats(g);
    rc = sc_agree(rc);
    if (rc == 0)
        rc = scatter(g->seats, &g->seat, sizeof g->seat);
    g->facts->node = (uint32_t)g->seat.node;
    return sc_agree(rc);
}

/* ---- places ---- */

/* Leaders look at the machine; every rank learns where its PU is. */
static int find_places(struct gathering *g)
{
    struct sc_place *place = &g->facts->place;
    struct sc_locus where = {-1, -1, -1};
    int rc = 0;
    if (g->seat.leader != g->rank) {
        rc = checked(PMPI_Sendrecv(&place->pu, 1, MPI_INT32_T, g->seat.leader, TAG_PLACE, &where,
                                   (int)sizeof where, MPI_BYTE, g->seat.leader, TAG_PLACE,
                                   sc_world_comm(), MPI_STATUS_IGNORE));
    } else {
        g->has_topology = sc_meta_topology(g->want & SC_RANKS_FULL, &g->topology) == 0;
        if (!g->has_topology)
            snprintf(g->reason, sizeof g->reason, "%s", sc_last_error());
        where = sc_topology_locate(&g->topology, place->pu);
        for (int i = 1; i < g->seat.ranks; i++) {
            MPI_Status from;
            int32_t pu = -1;
            int failed = checked(
                PMPI_Recv(&pu, 1, MPI_INT32_T, MPI_ANY_SOURCE, TAG_PLACE, sc_world_comm(), &from));
            struct sc_locus answer = sc_topology_locate(&g->topology, pu);
            if (failed == 0)
                failed = send_bytes(&answer, sizeof answer, from.MPI_SOURCE, TAG_PLACE);
            if (failed != 0)
                rc = failed;
        }
    }
    place->core = where.core;
    place->package = where.package;
    place->numa_node = where.numa_node;
    return rc;
}

/* ---- cards and texts ---- */

static struct card make_card(const struct gathering *g, size_t text_length)
{
    const struct sc_topology *t = &g->topology;
    return (struct card){.hash = t->hash,
                         .xml_length = t->xml_length,
                         .packages = t->packages,
                         .numa_nodes = t->numa_nodes,
                         .cores = t->cores,
                         .pus = t->pus,
                         .has_topology = g->has_topology,
                         .text_length = (int32_t)text_length};
}

/* A rank's text: its binding, then of a leader the host name and why it has no topology. */
static size_t make_text(const struct gathering *g, const char *host, char *out)
{
    const bool leads = g->seat.leader == g->rank;
    const char *parts[] = {g->facts->place.binding, leads && g->want & SC_RANKS_FULL ? host : "",
                           leads ? g->reason : ""};
    size_t length = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t bytes = strlen(parts[i]) + 1;
        memcpy(out + length, parts[i], bytes); /* 256 bytes each at most */
        length += bytes;
    }
    return length;
}

/* Rank 0: places for the texts whose lengths the cards tell. */
static int allocate_text(struct gathering *g)
{
    int total = 0;
    if (g->rank != 0)
        return 0;
    for (int r = 0; r < g->size; r++) {
        g->lengths[r] = g->cards[r].text_length;
        g->offsets[r] = total;
        total += g->lengths[r];
    }
    g->text = malloc((size_t)total);
    g->facts->text = (struct sc_string){g->text, (size_t)total, (size_t)total};
    if (g->want & SC_RANKS_FULL)
        g->facts->node_names = calloc(g->facts->node_count, sizeof *g->facts->node_names);
    if (g->text == NULL || ((g->want & SC_RANKS_FULL) != 0 && g->facts->node_names == NULL))
        return sc_fail(SC_ENOMEM, "no memory for the bindings of %d ranks", g->size);
    return 0;
}

/* Rank 0: points the facts at the texts. */
static void place_texts(struct gathering *g)
{
    struct sc_rank_facts *f = g->facts;
    for (int r = 0; r < g->size; r++) {
        const char *binding = g->text + g->offsets[r];
        const char *host = binding + strlen(binding) + 1;
        const char *reason = host + strlen(host) + 1;
        f->bindings[r] = (struct sc_h5_text){binding, strlen(binding)};
        if (g->seats[r].leader != r)
            continue;
        if (f->node_names != NULL)
            f->node_names[g->seats[r].node] = (struct sc_h5_text){host, strlen(host)};
        if (reason[0] != '\0' && f->topology_missing == NULL)
            f->topology_missing = reason;
    }
}

/* Collective. */
static int gather_cards(struct gathering *g, const char *host)
{
    char text[TEXT_MAX];
    size_t length = make_text(g, host, text);
    struct card card = make_card(g, length);
    int rc = gather(&card, g->cards, sizeof card);
    rc = sc_agree(rc == 0 ? allocate_text(g) : rc);
    if (rc != 0)
        return rc;
    if (sc_world_is_open())
        rc = checked(PMPI_Gatherv(text, (int)length, MPI_BYTE, g->text, g->lengths, g->offsets,
                                  MPI_BYTE, 0, sc_world_comm()));
    else
        memcpy(g->text, text, length);
    if (rc == 0 && g->rank == 0)
        place_texts(g);
    return sc_agree(rc);
}

/* ---- topologies ---- */

/* Rank 0: gives each node its row of the distinct topologies (leaders[row] first showed it) and
 * returns their number. */
static size_t match_topologies(struct gathering *g, int *leaders)
{
    size_t count = 0;
    for (int r = 0; r < g->size; r++) {
        const struct card *card = &g->cards[r];
        size_t row = 0;
        if (g->seats[r].leader != r || !card->has_topology)
            continue;
        while (row < count && g->cards[leaders[row]].hash != card->hash)
            row++;
        if (row == TOPOLOGIES_MAX)
            continue;
        if (row == count)
            leaders[count++] = r;
        g->facts->nodes[g->seats[r].node].topology = (int32_t)row;
    }
    return count;
}

/* Rank 0: the table of topologies, room for their XML and LIKWID's answers, and whom to ask. */
static int prepare_topologies(struct gathering *g)
{
    int leaders[TOPOLOGIES_MAX];
    struct sc_rank_facts *f = g->facts;
    if (g->rank != 0)
        return 0;
    size_t count = match_topologies(g, leaders);
    if (count == 0)
        return 0;
    f->topologies = calloc(count, sizeof *f->topologies);
    f->likwid = calloc(count, sizeof *f->likwid);
    uint64_t total = 0;
    for (size_t i = 0; f->topologies != NULL && i < count; i++) {
        const struct card *card = &g->cards[leaders[i]];
        f->topologies[i] = (struct sc_row_topology){
            total, card->xml_length, card->packages, card->numa_nodes, card->cores, card->pus};
        total += card->xml_length;
        g->asked[leaders[i]] = 1;
    }
    f->topology_xml = malloc((size_t)total);
    if (f->topologies == NULL || f->likwid == NULL || f->topology_xml == NULL)
        return sc_fail(SC_ENOMEM, "no memory for %zu topologies", count);
    f->topology_count = count;
    f->topology_xml_length = (size_t)total;
    return 0;
}

/* A leader that was asked: LIKWID's facts, or the reason why there are none, never too long. */
static struct parcel ask_likwid(struct sc_string *text)
{
    struct parcel parcel = {.likwid_status = sc_meta_likwid(text)};
    if (parcel.likwid_status == 0 && text->length > LIKWID_MAX)
        parcel.likwid_status = sc_fail(SC_EUNAVAIL, "LIKWID: its facts are too long");
    if (parcel.likwid_status != 0) {
        text->length = 0;
        if (sc_string_print(text, "%.255s", sc_last_error()) != 0)
            text->length = 0;
    }
    parcel.likwid_length = (int32_t)text->length;
    return parcel;
}

static int send_topology(struct gathering *g)
{
    struct sc_string text = {0};
    struct parcel parcel = ask_likwid(&text);
    int rc = send_bytes(&parcel, sizeof parcel, 0, TAG_TOPOLOGY);
    if (rc == 0)
        rc = send_bytes(g->topology.xml, g->topology.xml_length, 0, TAG_TOPOLOGY);
    if (rc == 0)
        rc = send_bytes(text.data, text.length, 0, TAG_TOPOLOGY);
    sc_string_free(&text);
    return rc;
}

/* Rank 0: one topology and LIKWID's answer, from a leader or from itself. */
static int take_topology(struct gathering *g, int leader, size_t row, struct parcel *parcel)
{
    const struct sc_row_topology *t = &g->facts->topologies[row];
    unsigned char *xml = g->facts->topology_xml + t->xml_offset;
    if (leader == 0) {
        struct sc_string text = {0};
        *parcel = ask_likwid(&text);
        if (text.length > 0)
            memcpy(g->likwid, text.data, text.length);
        memcpy(xml, g->topology.xml, g->topology.xml_length);
        sc_string_free(&text);
        return 0;
    }
    int rc = receive_bytes(parcel, sizeof *parcel, leader, TAG_TOPOLOGY);
    if (rc == 0)
        rc = receive_bytes(xml, (size_t)t->xml_length, leader, TAG_TOPOLOGY);
    if (rc == 0)
        rc = receive_bytes(g->likwid, LIKWID_MAX, leader, TAG_TOPOLOGY);
    return rc;
}

/* Rank 0: keeps an answer of LIKWID, or the first reason why one is missing. Without memory:
 * absent. */
static void keep_likwid(struct gathering *g, size_t row, const struct parcel *parcel)
{
    struct sc_rank_facts *f = g->facts;
    size_t length = (size_t)parcel->likwid_length;
    char *copy = NULL;
    if (parcel->likwid_status == 0 || f->likwid_missing == NULL)
        copy = strndup(g->likwid, length);
    if (copy == NULL)
        return;
    if (parcel->likwid_status == 0)
        f->likwid[row] = (struct sc_h5_text){copy, length};
    else
        f->likwid_missing = copy;
}

/* Collective. */
static int gather_topologies(struct gathering *g)
{
    int32_t asked = 0;
    int rc = sc_agree(prepare_topologies(g));
    if (rc == 0)
        rc = scatter(g->asked, &asked, sizeof asked);
    if (rc != 0)
        return rc;
    if (g->rank != 0)
        return asked != 0 ? send_topology(g) : 0;
    size_t row = 0;
    bool some = false;
    for (int r = 0; r < g->size; r++) {
        struct parcel parcel = {0};
        if (g->asked[r] == 0)
            continue;
        int failed = take_topology(g, r, row, &parcel);
        if (failed == 0)
            keep_likwid(g, row, &parcel);
        some |= g->facts->likwid[row].data != NULL;
        rc = failed != 0 ? failed : rc;
        row++;
    }
    for (size_t i = 0; some && i < g->facts->topology_count; i++)
        if (g->facts->likwid[i].data == NULL)
            g->facts->likwid[i].data = "";
    if (!some) {
        free(g->facts->likwid);
        g->facts->likwid = NULL;
    }
    return rc;
}

static void gathering_free(struct gathering *g)
{
    sc_topology_free(&g->topology);
    free(g->cards);
    free(g->seats);
    free(g->hosts);
    free(g->slots);
    free(g->lengths);
    free(g->offsets);
    free(g->asked);
    free(g->likwid);
}

int sc_rank_facts_create(int want, struct sc_rank_facts **out)
{
    const bool is_open = sc_world_is_open();
    struct gathering g = {.want = want,
                          .rank = is_open ? sc_world_rank() : 0,
                          .size = is_open ? sc_world_size() : 1,
                          .facts = calloc(1, sizeof *g.facts)};
    char host[256];
    *out = NULL;
    int rc = sc_agree(g.facts != NULL ? 0 : sc_fail(SC_ENOMEM, "no memory for facts of the ranks"));
    if (rc != 0)
        goto end;
    sc_meta_place(&g.facts->place);
    sc_meta_hostname(host, sizeof host);
    rc = find_nodes(&g, host);
    if (rc == 0 && (want & SC_RANKS_TOPOLOGY) != 0)
        rc = sc_agree(find_places(&g));
    if (rc == 0)
        rc = gather_cards(&g, host);
    if (rc == 0 && (want & SC_RANKS_TOPOLOGY) != 0)
        rc = gather_topologies(&g);
    rc = sc_agree(rc);
end:
    gathering_free(&g);
    if (rc == 0)
        *out = g.facts;
    else
        sc_rank_facts_free(g.facts);
    return rc;
}

void sc_rank_facts_free(struct sc_rank_facts *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; f->likwid != NULL && i < f->topology_count; i++)
        if (f->likwid[i].length > 0)
            free((void *)f->likwid[i].data);
    free((void *)f->likwid_missing);
    free(f->bindings);
    free(f->nodes);
    free(f->node_names);
    free(f->topologies);
    free(f->topology_xml);
    free(f->likwid);
    sc_string_free(&f->text);
    free(f);
}
