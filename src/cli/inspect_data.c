/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * inspect for programs: JSON with everything the text has, times in ns and sizes in bytes, and CSV.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "inspect_mpi.h"

/* Names of objects' members are ours and need no escaping. */
static void json_count(struct sc_string *out, const char *name, uint64_t value)
{
    cli_text(out, "\"%s\": %ju, ", name, (uintmax_t)value);
}

static void json_signed(struct sc_string *out, const char *name, int64_t value)
{
    cli_text(out, "\"%s\": %jd, ", name, (intmax_t)value);
}

static void json_rank(struct sc_string *out, const char *name, uint64_t rank)
{
    if (rank == PROFILE_NO_RANK)
        cli_text(out, "\"%s\": null, ", name);
    else
        json_count(out, name, rank);
}

static void json_text(struct sc_string *out, const char *name, scope_text text)
{
    cli_text(out, "\"%s\": ", name);
    cli_json(out, text.data, text.length);
    cli_text(out, ", ");
}

/* Takes the comma of the last member away and closes. */
static void json_close(struct sc_string *out, const char *bracket)
{
    while (out->length > 0 &&
           (out->data[out->length - 1] == ' ' || out->data[out->length - 1] == '\n' ||
            out->data[out->length - 1] == ','))
        out->length--;
    cli_text(out, "%s", bracket);
}

/* The next members come on a line of their own. */
static void json_line(struct sc_string *out)
{
    json_close(out, ",\n    ");
}

static void json_real(struct sc_string *out, double value)
{
    if (isfinite(value))
        cli_text(out, "%.17g", value);
    else
        cli_text(out, "null");
}

void inspect_metadata_json(const struct profile *p, const char *indent, struct sc_string *out)
{
    cli_text(out, "{");
    for (size_t i = 0; i < scope_read_metadata_count(p->reader); i++) {
        const scope_metadata *m = scope_read_metadata(p->reader, i);

        cli_text(out, "%s\n%s  ", i > 0 ? "," : "", indent);
        cli_json(out, m->name, strlen(m->name));
        cli_text(out, ": %s", m->is_list ? "[" : "");
        for (size_t k = 0; k < m->count; k++) {
            cli_text(out, "%s", k > 0 ? ", " : "");
            if (m->texts != NULL)
                cli_json(out, m->texts[k].data, m->texts[k].length);
            else if (m->integers != NULL)
                cli_text(out, "%jd", (intmax_t)m->integers[k]);
            else
                json_real(out, m->reals[k]);
        }
        cli_text(out, "%s", m->is_list ? "]" : m->count == 0 ? "null" : "");
    }
    cli_text(out, "\n%s}", indent);
}

static void json_coverage(const struct profile_totals *a, struct sc_string *out)
{
    cli_text(out, "    \"coverage\": {");
    json_count(out, "recorded_ranks", a->recorded);
    json_count(out, "events", a->events);
    json_count(out, "mpi_events", a->mpi_events);
    json_count(out, "mpi_calls", a->mpi_calls);
    json_count(out, "lost", a->lost);
    json_count(out, "paused", a->paused);
    json_count(out, "unmatched", a->unmatched);
    json_count(out, "unfinished", a->unfinished);
    json_count(out, "crossed", a->crossed);
    json_count(out, "memory_max_bytes", a->memory_max);
    json_signed(out, "own_ns", a->own_ns);
    json_close(out, "},\n");
}

static void json_header(const struct profile *p, struct sc_string *out)
{
    const struct profile_totals *a = &p->totals;

    cli_text(out, "    ");
    json_text(out, "file", (scope_text){p->path, strlen(p->path)});
    json_count(out, "bytes", p->size.bytes);
    json_count(out, "schema", (uint64_t)p->size.schema);
    json_count(out, "version", (uint64_t)p->size.version);
    json_line(out);
    json_count(out, "ranks", p->size.ranks);
    json_count(out, "ranks_shown", p->rank_count);
    json_count(out, "nodes", p->size.nodes);
    json_count(out, "threads_min", a->threads_min);
    json_count(out, "threads_max", a->threads_max);
    json_signed(out, "mpi_thread_level", a->thread_level);
    json_line(out);
    json_signed(out, "start_ns", a->start_ns);
    json_signed(out, "end_ns", a->end_ns);
    json_signed(out, "duration_ns", a->duration_ns);
    json_signed(out, "rank_time_ns", a->rank_ns);
    json_line(out);
    json_signed(out, "mpi_ns", a->mpi_ns);
    json_signed(out, "mpi_min_ns", a->mpi_min);
    json_rank(out, "mpi_min_rank", a->mpi_min_rank);
    json_signed(out, "mpi_max_ns", a->mpi_max);
    json_rank(out, "mpi_max_rank", a->mpi_max_rank);
    json_close(out, ",\n");
    if (p->size.rank_rows > 0)
        json_coverage(a, out);
}

static void json_stat(const struct profile_stat *s, struct sc_string *out)
{
    json_count(out, "calls", s->calls);
    json_signed(out, "total_ns", s->total);
    if (s->exclusive < 0)
        cli_text(out, "\"exclusive_ns\": null, ");
    else
        json_signed(out, "exclusive_ns", s->exclusive);
    json_count(out, "ranks", s->ranks);
    json_signed(out, "rank_min_ns", s->rank_min);
    json_rank(out, "rank_min_rank", s->min_rank);
    json_signed(out, "rank_max_ns", s->rank_max);
    json_rank(out, "rank_max_rank", s->max_rank);
    json_signed(out, "call_min_ns", s->call_min);
    json_signed(out, "call_max_ns", s->call_max);
}

static void json_source(const struct profile *p, uint32_t region, struct sc_string *out)
{
    uint64_t row = p->region_rows[region];
    scope_text file;
    int64_t at;

    if (row == UINT64_MAX)
        return;
    cli_check(scope_read_slice_text(p->reader, row, SCOPE_SOURCE_FILE, &file));
    cli_check(scope_read_slice_line(p->reader, row, &at));
    if (file.length == 0)
        return;
    json_text(out, "source_file", file);
    json_signed(out, "source_line", at);
}

static void json_view(const struct profile *p, const struct inspect_options *o, enum view_kind kind,
                      const char *name, struct sc_string *out)
{
    struct view_choice choice = o->choice;
    struct view v;

    choice.columns = NULL;
    view_make(&v, p, kind, &choice);
    cli_text(out, "    \"%s\": [", name);
    for (size_t i = 0; i < v.count; i++) {
        const struct view_row *row = &v.rows[i];

        cli_text(out, "%s\n      {", i > 0 ? "," : "");
        if (kind == VIEW_TREE) {
            json_count(out, "id", row->id);
            json_rank(out, "parent",
                      row->parent == UINT64_MAX ? UINT64_MAX : v.rows[row->parent].id);
        }
        json_count(out, "region", row->region);
        json_text(out, "name", scope_read_region(p->reader, row->region));
        json_stat(row->stat, out);
        if (kind == VIEW_FLAT)
            json_source(p, row->region, out);
        json_close(out, "}");
    }
    cli_text(out, "\n    ],\n");
    view_free(&v);
}

static void json_machine(const struct profile *p, struct sc_string *out)
{
    cli_text(out, "    \"nodes_table\": [");
    for (uint64_t i = 0; i < p->size.nodes; i++) {
        scope_node_row node;
        scope_text name;

        cli_check(scope_read_nodes(p->reader, i, 1, &node));
        cli_check(scope_read_node_name(p->reader, i, &name));
        cli_text(out, "%s\n      {", i > 0 ? "," : "");
        if (name.length > 0)
            json_text(out, "name", name);
        json_count(out, "ranks", node.ranks);
        json_signed(out, "topology", node.topology);
        json_close(out, "}");
    }
    cli_text(out, "\n    ],\n    \"topologies\": [");
    for (uint64_t i = 0; i < p->size.topologies; i++) {
        scope_topology_row t;
        scope_text likwid;

        cli_check(scope_read_topologies(p->reader, i, 1, &t));
        cli_check(scope_read_likwid(p->reader, i, &likwid));
        cli_text(out, "%s\n      {", i > 0 ? "," : "");
        json_signed(out, "packages", t.packages);
        json_signed(out, "numa_nodes", t.numa_nodes);
        json_signed(out, "cores", t.cores);
        json_signed(out, "pus", t.pus);
        json_count(out, "xml_bytes", t.xml_length);
        if (likwid.length > 0)
            json_text(out, "likwid", likwid);
        json_close(out, "}");
    }
    cli_text(out, "\n    ],\n");
}

static void json_bindings(const struct profile *p, struct sc_string *out)
{
    cli_text(out, "    \"bindings\": [");
    for (uint64_t i = 0; i < p->size.rank_rows; i++) {
        scope_text text;

        cli_check(scope_read_binding(p->reader, i, &text));
        cli_text(out, "%s", i > 0 ? ", " : "");
        cli_json(out, text.data, text.length);
    }
    cli_text(out, "],\n");
}

void inspect_json(const struct profile *p, const struct inspect_options *o, struct sc_string *out)
{
    cli_text(out, "  {\n");
    json_header(p, out);
    if (o->parts & INSPECT_HEADER) {
        cli_text(out, "    \"metadata\": ");
        inspect_metadata_json(p, "    ", out);
        cli_text(out, ",\n");
    }
    if (o->parts & INSPECT_REGIONS) {
        json_view(p, o, VIEW_FLAT, "regions", out);
        if (p->size.version > 0)
            json_view(p, o, VIEW_TREE, "call_paths", out);
    }
    inspect_mpi_json(p, o, out);
    if ((o->parts & INSPECT_TOPOLOGY) && p->size.version > 0) {
        json_machine(p, out);
        json_bindings(p, out);
    }
    json_close(out, "\n  }");
}

/* ---- CSV ---- */

static void csv_view(const struct profile *p, const struct inspect_options *o, enum view_kind kind,
                     bool head, struct sc_string *out)
{
    struct view v;

    view_make(&v, p, kind, &o->choice);
    view_csv(&v, head, out);
    view_free(&v);
}

static void csv_nodes(const struct profile *p, bool head, struct sc_string *out)
{
    if (head)
        cli_text(out, "file,node,name,ranks,topology\r\n");
    for (uint64_t i = 0; i < p->size.nodes; i++) {
        scope_node_row node;
        scope_text name;

        cli_check(scope_read_nodes(p->reader, i, 1, &node));
        cli_check(scope_read_node_name(p->reader, i, &name));
        cli_csv(out, p->path, strlen(p->path));
        cli_text(out, ",%ju,", (uintmax_t)i);
        cli_csv(out, name.data, name.length);
        cli_text(out, ",%u,%d\r\n", node.ranks, node.topology);
    }
}

void inspect_csv(const struct profile *p, const struct inspect_options *o, bool head,
                 struct sc_string *out, struct sc_string *notes)
{
    unsigned part = o->parts & (INSPECT_MPI | INSPECT_MATRIX | INSPECT_FILES | INSPECT_COMMS);

    if (part != 0)
        inspect_mpi_csv(p, o, part, head, out, notes);
    else if (o->parts & INSPECT_TOPOLOGY)
        csv_nodes(p, head, out);
    else
        csv_view(p, o, o->flat ? VIEW_FLAT : VIEW_TREE, head, out);
}
