/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * inspect as text: header and coverage, regions, MPI, machine, communicators. Every part says what
 * its percentages refer to and what it leaves out.
 */
#include <stdlib.h>
#include <string.h>

#include "inspect.h"
#include "inspect_mpi.h"

enum {
    BINDINGS = 16, /* different bindings shown */
    VALUE_LIMIT = 86,
    RANGES = 6 /* of a list of ranks */
};

/* "  name       value", the value made printable and cut when it is long. */
static void line(struct sc_table *t, const char *name, const char *value)
{
    sc_table_cell(t, name);
    sc_table_cell(t, value);
}

/* The same with the string's content, which is emptied. */
static void line_of(struct sc_table *t, const char *name, struct sc_string *value)
{
    line(t, name, value->data != NULL ? value->data : "");
    value->length = 0;
    if (value->data != NULL)
        value->data[0] = '\0';
}

static struct sc_table *two_columns(size_t limit)
{
    struct sc_table *t = sc_table_create();

    sc_table_column(t, "", SC_LEFT, 0);
    sc_table_column(t, "", SC_LEFT, limit);
    return t;
}

static void finish(struct sc_table *t, struct sc_string *out)
{
    if (sc_table_print(t, "  ", out) != 0)
        die("out of memory");
    sc_table_free(t);
}

/* ---- header and coverage ---- */

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void add_ranks(const struct profile *p, struct sc_table *t, struct sc_string *s)
{
    const struct profile_totals *a = &p->totals;

    cli_text(s, "%s", sc_table_count(p->size.ranks).text);
    if (p->size.nodes > 0)
        cli_text(s, " on %s node%s", sc_table_count(p->size.nodes).text, plural(p->size.nodes));
    if (a->threads_max > 0 && a->threads_min == a->threads_max)
        cli_text(s, ", %u thread%s each", a->threads_max, plural(a->threads_max));
    else if (a->threads_max > 0)
        cli_text(s, ", %u to %u threads each", a->threads_min, a->threads_max);
    if (p->size.rank_rows > 0 && a->recorded < p->rank_count)
        cli_text(s, "; only %s of them recorded", sc_table_count(a->recorded).text);
    if (p->ranks->count > 0) {
        cli_text(s, "; below: only ");
        cli_ranks_print(p->ranks, RANGES, s);
    }
    line_of(t, "ranks", s);
}

static void add_mpi(const struct profile *p, struct sc_table *t, struct sc_string *s)
{
    static const char *const names[] = {"mpi_library", NULL};
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    const struct profile_totals *a = &p->totals;
    scope_text library = profile_fact(p, names);

    if (a->thread_level >= 0) {
        if (library.length == 0)
            library.data = "library not recorded";
        cli_append(s, library.data, strcspn(library.data, ",\r\n")); /* name and version */
        cli_text(s, ", thread level %s", levels[a->thread_level & 3]);
        line_of(t, "MPI", s);
    }
    if (a->mpi_max_rank == PROFILE_NO_RANK)
        return;
    cli_text(s, "%s of all ranks' time; lowest %s (rank %ju), highest %s (rank %ju)",
             sc_table_percent((double)a->mpi_ns, (double)a->rank_ns).text,
             sc_table_percent((double)a->mpi_min, (double)a->duration_ns).text,
             (uintmax_t)a->mpi_min_rank,
             sc_table_percent((double)a->mpi_max, (double)a->duration_ns).text,
             (uintmax_t)a->mpi_max_rank);
    line_of(t, "in MPI", s);
}

static void add_problem(struct sc_table *t, const char *name, uint64_t count, const char *what)
{
    if (count > 0) {
        sc_table_cell(t, name);
        sc_table_format(t, "%s (%s)", sc_table_count(count).text, what);
    }
}

static void add_coverage(const struct profile *p, struct sc_table *t, struct sc_string *s)
{
    const struct profile_totals *a = &p->totals;
    bool complete = a->lost + a->paused + a->unmatched + a->unfinished + a->crossed == 0;

    if (p->size.rank_rows == 0) {
        cli_text(s, "%s events; written without libscope, so no call paths and no MPI tables",
                 sc_table_count(p->size.events).text);
        line_of(t, "recorded", s);
        return;
    }
    cli_text(s, "%s region calls", sc_table_count(a->events).text);
    if (a->mpi_calls > 0 && a->mpi_events == a->mpi_calls)
        cli_text(s, "; all %s MPI calls one by one", sc_table_count(a->mpi_calls).text);
    else if (a->mpi_calls > 0)
        cli_text(s, "; %s of %s MPI calls one by one, all in the totals",
                 sc_table_count(a->mpi_events).text, sc_table_count(a->mpi_calls).text);
    if (complete)
        cli_text(s, "; nothing dropped");
    line_of(t, "recorded", s);
    add_problem(t, "dropped", a->lost, "calls that found no memory or no region of their handle");
    add_problem(t, "paused", a->paused,
                "calls while recording was paused, not in any number below");
    add_problem(t, "unmatched", a->unmatched, "ends without a begin, ignored");
    add_problem(t, "unfinished", a->unfinished,
                "begins without an end, closed when recording ended");
    add_problem(t, "crossed", a->crossed, "regions that ended before one begun inside them");
    cli_text(s, "%s", sc_table_time(a->own_ns).text);
    if (a->threads_max <= 1) /* else it is no share of a time that passes once */
        cli_text(s, ", %s of all ranks' time",
                 sc_table_percent((double)a->own_ns, (double)a->rank_ns).text);
    cli_text(s, "; event memory at most %s (rank %ju)", sc_table_bytes(a->memory_max).text,
             (uintmax_t)a->memory_max_rank);
    line_of(t, "own cost", s);
}

/* The whole command line when the metadata have it. */
static void add_command(const struct profile *p, struct sc_table *t, struct sc_string *s)
{
    static const char *const names[] = {"command", NULL};
    const scope_metadata *words = scope_read_metadata_find(p->reader, "command_line");
    scope_text command = profile_fact(p, names);

    for (size_t i = 0; words != NULL && words->texts != NULL && i < words->count; i++) {
        cli_text(s, "%s", i > 0 ? " " : "");
        cli_append(s, words->texts[i].data, words->texts[i].length);
    }
    if (s->length == 0)
        cli_append(s, command.data, command.length);
    if (s->length > 0)
        line_of(t, "command", s);
}

static void print_header(const struct profile *p, bool full, struct sc_string *out)
{
    static const char *const labels[] = {"label", NULL}, *const starts[] = {"timestamp", NULL};
    static const char *const flaws[] = {"incomplete", NULL};
    struct sc_table *t = two_columns(full ? 0 : VALUE_LIMIT);
    scope_text label = profile_fact(p, labels), start = profile_fact(p, starts);
    scope_text flaw = profile_fact(p, flaws);
    struct sc_string s = {0};

    if (flaw.length > 0) {
        cli_text(out, "incomplete: ");
        sc_table_printable(out, flaw.data, flaw.length);
        cli_text(out, "\n");
    }
    if (sc_table_printable(out, p->path, strlen(p->path)) != 0)
        die("out of memory");
    cli_text(out, "  (%s)\n", sc_table_bytes(p->size.bytes).text);
    if (label.length > 0)
        line(t, "label", label.data);
    add_command(p, t, &s);
    if (start.length > 0)
        line(t, "start", start.data);
    line(t, "duration", sc_table_time(p->totals.duration_ns).text);
    add_ranks(p, t, &s);
    add_mpi(p, t, &s);
    add_coverage(p, t, &s);
    finish(t, out);
    sc_string_free(&s);
}

static void add_value(const scope_metadata *m, size_t i, struct sc_string *s)
{
    if (m->texts != NULL)
        cli_append(s, m->texts[i].data, m->texts[i].length);
    else if (m->integers != NULL)
        cli_text(s, "%jd", (intmax_t)m->integers[i]);
    else
        cli_text(s, "%.10g", m->reals[i]);
}

static void print_metadata(const struct profile *p, bool full, struct sc_string *out)
{
    struct sc_table *t = two_columns(full ? 0 : VALUE_LIMIT);
    struct sc_string s = {0};

    cli_text(out, "\nmetadata\n");
    for (size_t i = 0; i < scope_read_metadata_count(p->reader); i++) {
        const scope_metadata *m = scope_read_metadata(p->reader, i);

        for (size_t k = 0; k < m->count; k++) {
            cli_text(&s, "%s", k > 0 ? ", " : "");
            add_value(m, k, &s);
        }
        line_of(t, m->name, &s);
    }
    finish(t, out);
    sc_string_free(&s);
}

/* ---- tables ---- */

static void print_view(const struct profile *p, const struct inspect_options *o,
                       enum view_kind kind, struct sc_string *out)
{
    struct view_choice choice = o->choice;
    struct view v;

    choice.limit = o->full ? 0 : INSPECT_ROWS;
    view_make(&v, p, kind, &choice);
    if (v.count == 0)
        cli_text(out, "  none\n");
    else
        view_print(&v, "  ", o->full ? 0 : INSPECT_NAME, out);
    if (v.hidden > 0)
        cli_text(out, "  and %s more, each %s or less (--full)\n", sc_table_count(v.hidden).text,
                 sc_table_time(v.hidden_largest).text);
    view_free(&v);
}

/* "% of time: of 4 ranks x 3.479 s" */
static void print_whole(const struct profile *p, struct sc_string *out)
{
    cli_text(out, "%% of time: of %s rank%s x %s", sc_table_count(p->rank_count).text,
             plural(p->rank_count), sc_table_time(p->totals.duration_ns).text);
}

static void print_regions(const struct profile *p, const struct inspect_options *o,
                          struct sc_string *out)
{
    bool tree = !o->flat && p->size.version > 0;

    cli_text(out, "\nregions%s (", tree ? " by call path" : "");
    print_whole(p, out);
    cli_text(out, "%s)\n", p->totals.threads_max > 1 ? "; threads add up" : "");
    print_view(p, o, o->flat ? VIEW_FLAT : VIEW_TREE, out);
    if (!tree && p->size.slices > 0)
        cli_text(out, "  a region that calls itself is counted at each level\n");
}

/* ---- machine ---- */

/* The text of "cpu_name" in LIKWID's JSON: no escapes are in the names of processors. */
static void cpu_name(const struct profile *p, uint64_t topology, struct sc_string *s)
{
    static const char key[] = "\"cpu_name\":";
    scope_text json;
    const char *at, *end;

    cli_check(scope_read_likwid(p->reader, topology, &json));
    at = strstr(json.data, key);
    at = at == NULL ? NULL : strchr(at + strlen(key), '"');
    end = at == NULL ? NULL : strchr(at + 1, '"');
    if (end != NULL) {
        cli_text(s, ", ");
        cli_append(s, at + 1, (size_t)(end - at - 1));
    }
}

/* Ranks that have the same binding, in the order in which bindings come first. */
struct binding {
    struct sc_string pus;
    struct cli_ranks ranks;
};

static size_t collect_bindings(const struct profile *p, struct binding *list, bool *more)
{
    size_t count = 0;

    for (uint64_t rank = 0; rank < p->size.rank_rows; rank++) {
        scope_text text;
        size_t i = 0;

        cli_check(scope_read_binding(p->reader, rank, &text));
        while (i < count && (list[i].pus.length != text.length ||
                             memcmp(list[i].pus.data, text.data, text.length)))
            i++;
        if (text.length == 0 || (i == BINDINGS && (*more = true)))
            continue;
        if (i == count)
            cli_append(&list[count++].pus, text.data, text.length);
        cli_ranks_append(&list[i].ranks, rank);
    }
    return count;
}

static void print_bindings(const struct profile *p, struct sc_string *out)
{
    struct binding *list = cli_alloc(BINDINGS, sizeof *list);
    struct sc_table *t = two_columns(0);
    struct sc_string s = {0};
    bool more = false;
    size_t count = collect_bindings(p, list, &more);

    for (size_t i = 0; i < count; i++) {
        cli_text(&s, "rank%s ",
                 list[i].ranks.count > 1 ||
                         list[i].ranks.ranges[0].last > list[i].ranks.ranges[0].first
                     ? "s"
                     : "");
        cli_ranks_print(&list[i].ranks, RANGES, &s);
        cli_append(&list[i].pus, "", 0);
        sc_table_cell(t, s.data);
        sc_table_format(t, "may run on PUs %s", list[i].pus.data);
        s.length = 0;
        cli_ranks_free(&list[i].ranks);
        sc_string_free(&list[i].pus);
    }
    finish(t, out);
    if (more)
        cli_text(out, "  and other bindings\n");
    free(list);
    sc_string_free(&s);
}

static void print_topology(const struct profile *p, struct sc_string *out)
{
    uint64_t *nodes = cli_alloc((size_t)p->size.topologies, sizeof *nodes);
    struct sc_string s = {0};

    for (uint64_t i = 0; i < p->size.nodes; i++) {
        scope_node_row node;

        cli_check(scope_read_nodes(p->reader, i, 1, &node));
        if (node.topology >= 0)
            nodes[node.topology]++;
    }
    cli_text(out, "\nmachine: %s node%s\n",
             p->size.nodes > 0 ? sc_table_count(p->size.nodes).text : "unknown",
             plural(p->size.nodes));
    for (uint64_t i = 0; i < p->size.topologies; i++) {
        scope_topology_row t;

        cli_check(scope_read_topologies(p->reader, i, 1, &t));
        s.length = 0;
        cli_text(&s, "%s with %d package%s, %d NUMA domain%s, %d cores, %d PUs",
                 sc_table_count(nodes[i]).text, t.packages, t.packages == 1 ? "" : "s",
                 t.numa_nodes, t.numa_nodes == 1 ? "" : "s", t.cores, t.pus);
        cpu_name(p, i, &s);
        cli_text(out, "  ");
        if (sc_table_printable(out, s.data, s.length) != 0)
            die("out of memory");
        cli_text(out, "\n");
    }
    print_bindings(p, out);
    sc_string_free(&s);
    free(nodes);
}

/* ---- communicators ---- */

void inspect_members(const struct profile *p, uint64_t first_run, uint64_t runs, size_t limit,
                     struct sc_string *out)
{
    for (uint64_t i = 0; i < runs; i++) {
        scope_run_row run;
        int64_t last;

        if (limit > 0 && i == limit) {
            cli_text(out, ",...");
            return;
        }
        cli_check(scope_read_members(p->reader, first_run + i, 1, &run));
        if (run.first < 0) {
            cli_text(out, "%s%u of another world", i > 0 ? "," : "", run.count);
            continue;
        }
        last = run.first + (int64_t)(run.count - 1) * run.stride;
        cli_text(out, "%s%d", i > 0 ? "," : "", run.first);
        if (run.count > 1)
            cli_text(out, "-%jd", (intmax_t)last);
        if (run.count > 1 && run.stride != 1)
            cli_text(out, ":%d", run.stride);
    }
}

void inspect_text(const struct profile *p, const struct inspect_options *o, struct sc_string *out)
{
    bool ours = p->size.version > 0;

    if (o->parts & INSPECT_HEADER)
        print_header(p, o->full, out);
    if (o->parts & INSPECT_METADATA)
        print_metadata(p, o->full, out);
    if (o->parts & INSPECT_REGIONS)
        print_regions(p, o, out);
    if ((o->parts & INSPECT_MPI) && ours)
        inspect_mpi_text(p, o, out);
    if ((o->parts & INSPECT_MATRIX) && ours)
        inspect_matrix_text(p, o, out);
    if ((o->parts & INSPECT_FILES) && ours)
        inspect_files_text(p, o, out);
    if ((o->parts & INSPECT_TOPOLOGY) && ours)
        print_topology(p, out);
    if ((o->parts & INSPECT_COMMS) && p->size.communicators > 0)
        inspect_comms_text(p, o, out);
}
