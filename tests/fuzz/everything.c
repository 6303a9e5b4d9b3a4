/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every table of a profile to its end, as a program of the user reads it: the reader refuses what
 * makes no sense and hands out no number that points outside its table.
 */
#include "everything.h"

#include <stdbool.h>
#include <stdlib.h>

#include "fuzz.h"
#include "scope_read.h"

enum { BLOCK = 64 };

static unsigned long checksum; /* of what the texts say */

static void read_text(scope_text t)
{
    for (size_t i = 0; i <= t.length; i++)
        checksum += (unsigned char)t.data[i];
    if (t.data[t.length] != '\0')
        fuzz_broken("a text of %zu bytes without its end", t.length);
}

/* How many rows to read at first of so many. */
static size_t block(uint64_t first, uint64_t rows)
{
    return rows - first < BLOCK ? (size_t)(rows - first) : BLOCK;
}

/* ---- events ---- */

static int read_calls(scope_reader *r, const scope_read_size *size, const scope_slice *slice)
{
    int64_t clock = 0, starts[BLOCK], durations[BLOCK], awaits[BLOCK];
    scope_mpi_call calls[BLOCK];
    int rc = 0;

    for (uint64_t first = 0; rc == 0 && first < slice->events; first += BLOCK) {
        const size_t n = block(first, slice->events);

        rc = scope_read_events(r, slice, first, n, &clock, starts, durations);
        if (rc == 0)
            rc = scope_read_await(r, slice, first, n, awaits);
        if (rc != 0 || slice->first_mpi == SCOPE_NO_MPI)
            continue;
        rc = scope_read_mpi(r, slice, first, n, calls);
        for (size_t i = 0; rc == 0 && i < n; i++) {
            fuzz_inside("communicator", calls[i].communicator, size->communicators, -1);
            fuzz_inside("object", calls[i].object, size->objects, -1);
            fuzz_inside("site", calls[i].site, size->sites, -1);
        }
    }
    return rc;
}

static int read_slices(scope_reader *r, const scope_read_size *size)
{
    scope_slice slice;
    scope_text text;
    int64_t line;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->slices; i++) {
        rc = scope_read_slices(r, i, 1, &slice);
        if (rc != 0)
            break;
        fuzz_inside("region", slice.region, size->regions, 0);
        fuzz_inside("rank", slice.rank, size->ranks, 0);
        fuzz_inside("event", (int64_t)slice.first_event, size->events + 1, 0);
        rc = scope_read_slice_line(r, i, &line);
        for (int t = SCOPE_SOURCE_FILE; rc == 0 && t <= SCOPE_EVENT_METADATA; t++) {
            rc = scope_read_slice_text(r, i, (enum scope_slice_text)t, &text);
            if (rc == 0)
                read_text(text);
        }
        if (rc == 0)
            rc = read_calls(r, size, &slice);
    }
    return rc;
}

/* ---- tables ---- */

static int read_totals(scope_reader *r, const scope_read_size *size)
{
    scope_mpi_total_row total[BLOCK];
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->mpi_totals; i += BLOCK) {
        const size_t n = block(i, size->mpi_totals);

        rc = scope_read_mpi_totals(r, i, n, total);
        for (size_t k = 0; rc == 0 && k < n; k++) {
            fuzz_inside("rank", total[k].rank, size->rank_rows, 0);
            fuzz_inside("path", total[k].path, size->paths, 0);
            fuzz_inside("communicator", total[k].communicator, size->communicators, -1);
            fuzz_inside("object", total[k].object, size->objects, -1);
            fuzz_inside("site", total[k].site, size->sites, -1);
            fuzz_inside("size class", total[k].size_class, 65, 0);
        }
    }
    return rc;
}

static int read_paths(scope_reader *r, const scope_read_size *size)
{
    scope_path_stats_row stats[BLOCK];
    scope_path_row path;
    scope_peer_row peer;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->paths; i++) {
        rc = scope_read_paths(r, i, 1, &path);
        if (rc == 0)
            fuzz_inside("parent", path.parent, i, -1);
        if (rc == 0)
            fuzz_inside("region", path.region, size->regions, 0);
    }
    for (uint64_t i = 0; rc == 0 && i < size->path_stats; i += BLOCK) {
        const size_t n = block(i, size->path_stats);

        rc = scope_read_path_stats(r, i, n, stats);
        for (size_t k = 0; rc == 0 && k < n; k++)
            fuzz_inside("path", stats[k].path, size->paths, 0);
    }
    for (uint64_t i = 0; rc == 0 && i < size->peers; i++) {
        rc = scope_read_peers(r, i, 1, &peer);
        if (rc == 0)
            fuzz_inside("rank", peer.rank, size->rank_rows, 0);
        if (rc == 0)
            fuzz_inside("peer", peer.peer, size->rank_rows, -1);
    }
    return rc;
}

static int read_ranks(scope_reader *r, const scope_read_size *size)
{
    scope_rank_row row;
    scope_node_row node;
    scope_text text;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->rank_rows; i++) {
        rc = scope_read_ranks(r, i, 1, &row);
        if (rc == 0)
            fuzz_inside("node", row.node, size->nodes, 0);
        if (rc == 0)
            rc = scope_read_binding(r, i, &text);
        if (rc == 0)
            read_text(text);
    }
    for (uint64_t i = 0; rc == 0 && i < size->nodes; i++) {
        rc = scope_read_nodes(r, i, 1, &node);
        if (rc == 0)
            fuzz_inside("topology", node.topology, size->topologies, -1);
        if (rc == 0)
            rc = scope_read_node_name(r, i, &text);
        if (rc == 0)
            read_text(text);
    }
    return rc;
}

static int read_topologies(scope_reader *r, const scope_read_size *size)
{
    scope_topology_row row;
    scope_text text;
    size_t length;
    char *xml;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->topologies; i++) {
        rc = scope_read_topologies(r, i, 1, &row);
        if (rc == 0)
            rc = scope_read_topology_xml(r, i, &xml, &length);
        if (rc != 0)
            break;
        read_text((scope_text){xml, length});
        free(xml);
        rc = scope_read_likwid(r, i, &text);
        if (rc == 0)
            read_text(text);
    }
    return rc;
}

static bool are_inside(uint64_t first, uint64_t count, uint64_t rows)
{
    return first <= rows && count <= rows - first;
}

static int read_comms(scope_reader *r, const scope_read_size *size)
{
    scope_comm_row comm;
    scope_run_row run;
    scope_text text;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->communicators; i++) {
        rc = scope_read_comms(r, i, 1, &comm);
        if (rc != 0)
            break;
        fuzz_inside("parent", comm.parent, size->communicators, -1);
        if (!are_inside(comm.first_run, comm.runs, size->members) ||
            (comm.remote_size > 0 &&
             !are_inside(comm.remote_first_run, comm.remote_runs, size->members)))
            fuzz_broken("members of communicator %d", (int)i);
        rc = scope_read_comm_name(r, i, &text);
        if (rc == 0)
            read_text(text);
    }
    for (uint64_t i = 0; rc == 0 && i < size->members; i++)
        rc = scope_read_members(r, i, 1, &run);
    return rc;
}

static int read_places(scope_reader *r, const scope_read_size *size)
{
    scope_object_row object;
    scope_site_row site;
    scope_text text;
    int rc = 0;

    for (uint64_t i = 0; rc == 0 && i < size->objects; i++) {
        rc = scope_read_objects(r, i, 1, &object);
        if (rc == 0)
            fuzz_inside("communicator", object.communicator, size->communicators, -1);
        if (rc == 0)
            rc = scope_read_object_name(r, i, &text);
        if (rc == 0)
            read_text(text);
    }
    for (uint64_t i = 0; rc == 0 && i < size->sites; i++) {
        rc = scope_read_sites(r, i, 1, &site);
        if (rc == 0)
            fuzz_inside("module", site.module, size->modules, -1);
    }
    for (uint64_t i = 0; rc == 0 && i < size->modules; i++) {
        rc = scope_read_module_name(r, i, &text);
        if (rc == 0)
            read_text(text);
        if (rc == 0)
            rc = scope_read_module_build_id(r, i, &text);
        if (rc == 0)
            read_text(text);
    }
    return rc;
}

/* ---- what the reader has in memory ---- */

static void read_metadata(scope_reader *r, const scope_read_size *size)
{
    for (size_t i = 0; i < scope_read_metadata_count(r); i++) {
        const scope_metadata *m = scope_read_metadata(r, i);

        if (scope_read_metadata_find(r, m->name) == NULL)
            fuzz_broken("'%s' is not found", m->name);
        for (size_t k = 0; k < m->count; k++)
            if (m->texts != NULL)
                read_text(m->texts[k]);
            else
                checksum += m->integers != NULL ? (unsigned long)m->integers[k] : m->reals[k] > 0;
    }
    for (uint64_t i = 0; i < size->regions; i++)
        read_text(scope_read_region(r, (uint32_t)i));
    read_text(scope_read_region(r, UINT32_MAX));
}

int everything_read(const char *path)
{
    static int (*const parts[])(scope_reader *, const scope_read_size *) = {
        read_slices, read_totals, read_paths, read_ranks, read_topologies, read_comms, read_places};
    scope_read_size size;
    scope_reader *r = NULL;
    int rc = scope_read_open(path, &r);

    if (rc != 0)
        return rc;
    scope_read_sizes(r, &size);
    read_metadata(r, &size);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        int failed = parts[i](r, &size);

        rc = failed != 0 ? failed : rc;
    }
    scope_read_close(r);
    return rc;
}
