/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "inspect_mpi.h"

#include <stdlib.h>
#include <string.h>

#include "mpi_table.h"

enum {
    COMMS = 16,       /* communicators shown unless everything is wanted */
    RANGES = 6,       /* of a list of ranks */
    DENSE = 16,       /* ranks of which the matrix is shown as one */
    DENSE_AT_ONCE = 8 /* also when nobody asked */
};

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

/* ---- tables of a part ---- */

static struct grid *create(unsigned part, enum mpi_by by)
{
    return part == INSPECT_MPI      ? mpi_routines_create(by)
           : part == INSPECT_MATRIX ? mpi_matrix_create()
           : part == INSPECT_FILES  ? mpi_objects_create()
                                    : mpi_comms_create();
}

void inspect_mpi_check(const struct inspect_options *o, unsigned part)
{
    struct grid *g = create(part, o->by);

    grid_check(g, o->choice.columns, o->choice.sort);
    grid_free(g);
}

void inspect_mpi_column_names(unsigned part, enum mpi_by by, struct sc_string *out)
{
    struct grid *g = create(part, by);

    grid_column_names(g, out);
    grid_free(g);
}

/* What --sort and --columns say if they speak of this part. */
static const char *sort_of(const struct inspect_options *o, unsigned part)
{
    return inspect_chosen(o) == part ? o->choice.sort : NULL;
}

static const char *columns_of(const struct inspect_options *o, unsigned part)
{
    return inspect_chosen(o) == part ? o->choice.columns : NULL;
}

/* *sites: the call sites when it is by them, to be closed by the caller, or NULL. Sorted by total.
 */
static struct grid *make_routines(const struct profile *p, const struct inspect_options *o,
                                  enum mpi_by by, struct mpi_sites **sites, int64_t *mpi_ns)
{
    struct grid *g = mpi_routines_create(by);
    struct mpi_groups groups;

    mpi_groups_read(p, by, &groups);
    *mpi_ns = groups.total;
    *sites = by == MPI_BY_SITE ? mpi_sites_open(p) : NULL;
    mpi_routines_fill(g, p, &groups, by, &o->globs, *sites);
    grid_sort(g, "total");
    mpi_groups_free(&groups);
    return g;
}

/* The globs speak of files when nothing else is asked for that they could speak of. */
static struct grid *make_objects(const struct profile *p, const struct inspect_options *o)
{
    static const struct cli_globs all;
    struct grid *g = mpi_objects_create();

    mpi_objects_fill(g, p, inspect_chosen(o) == INSPECT_FILES ? &o->globs : &all);
    return g;
}

static struct grid *make_comms(const struct profile *p)
{
    struct grid *g = mpi_comms_create();

    mpi_comms_fill(g, p, p->size.communicators, 0);
    return g;
}

static struct grid *make_matrix(const struct profile *p)
{
    struct grid *g = mpi_matrix_create();
    struct mpi_pairs pairs;

    mpi_pairs_read(p, &pairs);
    mpi_matrix_fill(g, &pairs, pairs.count);
    mpi_pairs_free(&pairs);
    return g;
}

/* Sorts as the user wants, prints, and says what is left out: a table that is cut has been sorted
 * by a column before, whose values are of this kind. */
static void finish(struct grid *g, const struct inspect_options *o, unsigned part, size_t hidden,
                   const char *largest, struct sc_string *out)
{
    if (sort_of(o, part) != NULL)
        grid_sort(g, sort_of(o, part));
    if (grid_rows(g) == 0)
        cli_text(out, "  none\n");
    else
        grid_print(g, columns_of(o, part), o->full ? 0 : INSPECT_NAME, out);
    if (hidden > 0)
        cli_text(out, "  and %s more, each %s or less (--full)\n", sc_table_count(hidden).text,
                 largest);
    grid_free(g);
}

/* ---- routines ---- */

void inspect_mpi_text(const struct profile *p, const struct inspect_options *o,
                      struct sc_string *out)
{
    static const char *const titles[MPI_BY_COUNT] = {"routines",     "by call path",
                                                     "by call site", "by communicator",
                                                     "by size",      "by file and window"};
    enum mpi_by by = o->by;
    struct mpi_sites *sites;
    int64_t mpi_ns, largest = 0;
    struct grid *g;
    size_t hidden;

    if (p->size.mpi_totals == 0) {
        cli_text(out, "\nMPI: no call recorded\n");
        return;
    }
    if (by == MPI_BY_SITE && !o->by_given && p->size.sites == 0)
        by = MPI_BY_ROUTINE; /* --source of a profile without */
    g = make_routines(p, o, by, &sites, &mpi_ns);
    hidden = grid_cut(g, o->full ? 0 : INSPECT_ROWS, "total", &largest);
    cli_text(out, "\nMPI %s (%% of MPI: of %s", titles[by], sc_table_time(mpi_ns).text);
    if (by == MPI_BY_ROUTINE)
        cli_text(out, "; %% of time: of %s rank%s x %s", sc_table_count(p->rank_count).text,
                 plural(p->rank_count), sc_table_time(p->totals.duration_ns).text);
    cli_text(out, ")\n");
    finish(g, o, INSPECT_MPI, hidden, sc_table_time(largest).text, out);
    if (sites != NULL) {
        mpi_sites_notes(sites, "  ", out);
        mpi_sites_close(sites);
    }
}

/* ---- messages ---- */

/* The matrix of bytes that went from one rank to another, got ones in the direction they moved. */
static void print_dense(const struct profile *p, const struct mpi_pairs *pairs,
                        struct sc_string *out)
{
    size_t n = (size_t)p->size.ranks;
    uint64_t *bytes = cli_alloc(n * n, sizeof *bytes);
    char *marks = cli_alloc(n * n, 1); /* 0: no pair */
    struct sc_table *t = sc_table_create();

    for (size_t i = 0; i < pairs->count; i++) {
        struct mpi_pair pair = pairs->list[i];
        size_t at = (size_t)pair.source * n + (size_t)pair.destination;
        size_t back = (size_t)pair.destination * n + (size_t)pair.source;

        if (pair.source < 0 || pair.destination < 0)
            continue;
        if (pair.got > 0) {
            bytes[back] = cli_add_count(bytes[back], pair.got);
            marks[back] = marks[back] == 0 ? ' ' : marks[back];
            pair.got = 0;
        }
        if (pair.sent_messages + pair.received_messages > 0 || pair.put > 0) {
            bytes[at] = cli_add_count(bytes[at], mpi_pair_bytes(&pair));
            marks[at] = mpi_pair_differs(&pair) ? '*' : marks[at] == 0 ? ' ' : marks[at];
        }
    }
    sc_table_column(t, "from \\ to", SC_RIGHT, 0);
    for (size_t i = 0; i < n; i++) {
        struct sc_number rank = sc_table_count(i);

        sc_table_column(t, rank.text, SC_RIGHT, 0);
    }
    for (size_t i = 0; i < n; i++) {
        sc_table_format(t, "%zu", i);
        for (size_t k = i * n; k < (i + 1) * n; k++)
            sc_table_format(t, "%s%s", marks[k] == '*' ? "*" : "",
                            marks[k] != 0 ? sc_table_short(bytes[k]).text : "");
    }
    if (sc_table_print(t, "  ", out) != 0)
        die("out of memory");
    sc_table_free(t);
    free(bytes);
    free(marks);
}

/* "messages: 1,200, 1.50 MiB, between 12 pairs of ranks" */
static void print_sums(const struct mpi_pairs *pairs, struct sc_string *out)
{
    uint64_t messages = 0, bytes = 0;

    for (size_t i = 0; i < pairs->count; i++) {
        const struct mpi_pair *pair = &pairs->list[i];
        bool more = pair->sent_messages > pair->received_messages;

        messages = cli_add_count(messages, more ? pair->sent_messages : pair->received_messages);
        more = pair->sent_bytes > pair->received_bytes;
        bytes = cli_add_count(bytes, more ? pair->sent_bytes : pair->received_bytes);
    }
    cli_text(out, "\nmessages: %s, %s, between %s pair%s of ranks", sc_table_count(messages).text,
             sc_table_bytes(bytes).text, sc_table_count(pairs->count).text, plural(pairs->count));
}

static void print_one_sided(const struct mpi_pairs *pairs, struct sc_string *out)
{
    uint64_t operations = 0, put = 0, got = 0;

    for (size_t i = 0; i < pairs->count; i++) {
        operations = cli_add_count(operations, pairs->list[i].operations);
        put = cli_add_count(put, pairs->list[i].put);
        got = cli_add_count(got, pairs->list[i].got);
    }
    if (operations > 0)
        cli_text(out, "  one-sided: %s operation%s, %s put, %s got\n",
                 sc_table_count(operations).text, plural(operations), sc_table_bytes(put).text,
                 sc_table_bytes(got).text);
}

/* What the marks mean. */
static void print_differences(const struct mpi_pairs *pairs, struct sc_string *out)
{
    uint64_t sent = 0, received = 0, count = 0;

    for (size_t i = 0; i < pairs->count; i++) {
        const struct mpi_pair *pair = &pairs->list[i];
        uint64_t s = pair->sent_messages, r = pair->received_messages;

        if (!mpi_pair_differs(pair))
            continue;
        count++;
        sent = cli_add_count(sent, s > r ? s - r : 0);
        received = cli_add_count(received, r > s ? r - s : 0);
    }
    if (count == 0)
        return;
    cli_text(out, "  * the ends differ:");
    if (sent > 0)
        cli_text(out, " %s message%s sent but not received", sc_table_count(sent).text,
                 plural(sent));
    if (received > 0)
        cli_text(out, "%s %s message%s received but not sent", sent > 0 ? "," : "",
                 sc_table_count(received).text, plural(received));
    if (sent == 0 && received == 0)
        cli_text(out, " in bytes");
    cli_text(out, " (never received, cancelled, or not recorded)\n");
}

/* The pairs with most bytes; the others never become rows. */
static void print_pairs(const struct inspect_options *o, struct mpi_pairs *pairs,
                        struct sc_string *out)
{
    size_t shown = o->full || pairs->count < INSPECT_ROWS ? pairs->count : INSPECT_ROWS;
    size_t hidden = pairs->count - shown;
    struct grid *g = mpi_matrix_create();
    uint64_t largest;

    mpi_pairs_sort(pairs);
    largest = hidden > 0 ? mpi_pair_bytes(&pairs->list[shown]) : 0;
    mpi_matrix_fill(g, pairs, shown);
    finish(g, o, INSPECT_MATRIX, hidden, sc_table_bytes(largest).text, out);
    for (size_t i = 0; i < pairs->count; i++)
        if (pairs->list[i].source < 0 || pairs->list[i].destination < 0) {
            cli_text(out, "  - stands for ranks of another world\n");
            break;
        }
}

void inspect_matrix_text(const struct profile *p, const struct inspect_options *o,
                         struct sc_string *out)
{
    static const char *const closing[2][2] = {
        {"", "; bytes from row to column"},
        {" (--matrix)", "; bytes from row to column (more: --matrix)"}};
    const bool dense = p->size.ranks <= (o->brief ? DENSE_AT_ONCE : DENSE);
    struct mpi_pairs pairs;

    if (p->size.peers == 0) {
        cli_text(out, "%s", o->brief ? "" : "\nmessages: none recorded\n");
        return;
    }
    mpi_pairs_read(p, &pairs);
    print_sums(&pairs, out);
    cli_text(out, "%s\n", closing[o->brief][dense]);
    if (dense)
        print_dense(p, &pairs, out);
    if (dense && !o->brief)
        cli_text(out, "\n");
    if (!o->brief)
        print_pairs(o, &pairs, out);
    print_one_sided(&pairs, out);
    print_differences(&pairs, out);
    mpi_pairs_free(&pairs);
}

/* ---- files and windows ---- */

void inspect_files_text(const struct profile *p, const struct inspect_options *o,
                        struct sc_string *out)
{
    struct grid *g;
    int64_t largest = 0;
    size_t hidden;

    if (p->size.objects == 0) {
        cli_text(out, "%s", o->brief ? "" : "\nfiles and windows: none recorded\n");
        return;
    }
    g = make_objects(p, o);
    grid_sort(g, "total");
    hidden = grid_cut(g, o->brief ? INSPECT_BRIEF : o->full ? 0 : INSPECT_ROWS, "total", &largest);
    cli_text(out, "\nfiles and windows: %s%s\n", sc_table_count(p->size.objects).text,
             o->brief && hidden > 0 ? "; those with most time (all: --files)" : "");
    finish(g, o, INSPECT_FILES, hidden, sc_table_time(largest).text, out);
}

/* ---- communicators ---- */

void inspect_comms_text(const struct profile *p, const struct inspect_options *o,
                        struct sc_string *out)
{
    uint64_t count = p->size.communicators;
    uint64_t shown = o->full || count < COMMS ? count : COMMS;
    const char *sort = sort_of(o, INSPECT_COMMS);
    struct grid *g = mpi_comms_create();
    int64_t largest;

    mpi_comms_fill(g, p, sort != NULL ? count : shown, o->full ? 0 : RANGES);
    if (sort != NULL) {
        grid_sort(g, sort);
        grid_cut(g, (size_t)shown, "id", &largest);
    }
    cli_text(out, "\ncommunicators: %s\n", sc_table_count(count).text);
    grid_print(g, columns_of(o, INSPECT_COMMS), o->full ? 0 : INSPECT_NAME, out);
    grid_free(g);
    if (shown < count)
        cli_text(out, "  and %s more (--full)\n", sc_table_count(count - shown).text);
}

/* ---- for programs ---- */

static void json_modules(const struct profile *p, struct sc_string *out)
{
    cli_text(out, "    \"modules\": [");
    for (uint64_t i = 0; i < p->size.modules; i++) {
        scope_text text;

        cli_check(scope_read_module_name(p->reader, i, &text));
        cli_text(out, "%s\n      {\"id\": %ju, \"name\": ", i > 0 ? "," : "", (uintmax_t)i);
        cli_json(out, text.data, text.length);
        cli_check(scope_read_module_build_id(p->reader, i, &text));
        cli_text(out, ", \"build_id\": ");
        cli_json(out, text.data, text.length);
        cli_text(out, "}");
    }
    cli_text(out, "\n    ],\n");
}

static void json_name(const char *name, const char *text, struct sc_string *out)
{
    cli_text(out, ", \"%s\": ", name);
    if (text != NULL)
        cli_json(out, text, strlen(text));
    else
        cli_text(out, "null");
}

static void json_sites(const struct profile *p, struct mpi_sites *sites, struct sc_string *out)
{
    cli_text(out, "    \"sites\": [");
    for (uint64_t i = 0; i < p->size.sites; i++) {
        struct source_place place;
        struct mpi_site site;

        mpi_sites_get(sites, i, &site);
        cli_text(out, "%s\n      {\"id\": %ju, \"module\": ", i > 0 ? "," : "", (uintmax_t)i);
        if (site.module != NULL)
            cli_text(out, "%jd", (intmax_t)site.module_id);
        else
            cli_text(out, "null");
        cli_text(out, ", \"offset\": %ju", (uintmax_t)site.offset);
        (void)mpi_sites_find(sites, i, &place);
        json_name("function", place.function, out);
        json_name("file", place.file, out);
        if (place.line > 0)
            cli_text(out, ", \"line\": %d}", place.line);
        else
            cli_text(out, ", \"line\": null}");
    }
    cli_text(out, "\n    ],\n");
}

static void json_grid(struct grid *g, const struct inspect_options *o, unsigned part,
                      const char *name, struct sc_string *out)
{
    if (sort_of(o, part) != NULL)
        grid_sort(g, o->choice.sort);
    grid_json(g, name, out);
    grid_free(g);
}

static void json_routines(const struct profile *p, const struct inspect_options *o, enum mpi_by by,
                          struct sc_string *out)
{
    struct sc_string name = {0};
    struct mpi_sites *sites;
    int64_t mpi_ns;
    struct grid *g = make_routines(p, o, by, &sites, &mpi_ns);

    cli_text(&name, by == MPI_BY_ROUTINE ? "mpi" : "mpi_by_%s", mpi_by_names[by]);
    json_grid(g, o, INSPECT_MPI, name.data, out);
    if (sites != NULL) {
        json_modules(p, out);
        json_sites(p, sites, out);
        mpi_sites_close(sites);
    }
    sc_string_free(&name);
}

void inspect_mpi_json(const struct profile *p, const struct inspect_options *o,
                      struct sc_string *out)
{
    const unsigned parts = o->parts & (p->size.version > 0 ? ~0U : INSPECT_COMMS);

    for (enum mpi_by by = 0; by < MPI_BY_COUNT && (parts & INSPECT_MPI); by++) {
        bool is_there = by == MPI_BY_SITE     ? p->size.sites > 0
                        : by == MPI_BY_OBJECT ? p->size.objects > 0
                                              : true;

        if (o->by_given ? by == o->by : is_there)
            json_routines(p, o, by, out);
    }
    if (parts & INSPECT_MATRIX)
        json_grid(make_matrix(p), o, INSPECT_MATRIX, "matrix", out);
    if (parts & INSPECT_FILES)
        json_grid(make_objects(p, o), o, INSPECT_FILES, "objects", out);
    if (parts & INSPECT_COMMS)
        json_grid(make_comms(p), o, INSPECT_COMMS, "communicators", out);
}

void inspect_mpi_csv(const struct profile *p, const struct inspect_options *o, unsigned part,
                     bool head, struct sc_string *out, struct sc_string *notes)
{
    struct mpi_sites *sites = NULL;
    int64_t mpi_ns;
    struct grid *g = part == INSPECT_MPI      ? make_routines(p, o, o->by, &sites, &mpi_ns)
                     : part == INSPECT_MATRIX ? make_matrix(p)
                     : part == INSPECT_FILES  ? make_objects(p, o)
                                              : make_comms(p);

    if (o->choice.sort != NULL)
        grid_sort(g, o->choice.sort);
    grid_csv(g, o->choice.columns, p->path, head, out);
    if (sites != NULL) {
        mpi_sites_notes(sites, "scope: ", notes);
        mpi_sites_close(sites);
    }
    grid_free(g);
}
