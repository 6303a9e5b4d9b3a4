/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * summary: head and tail first, so that the tree of regions can have the lines that are left.
 */
#include "summary.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "table.h"

enum {
    LINES = 25,
    WIDTH = 88,      /* of command and reason */
    NAME_WIDTH = 40, /* of a region with its indentation */
    TREE_LINES = 20  /* more than the head and tail ever leave */
};

static double rank_time(const struct sc_summary *s)
{
    return (double)s->ranks * (double)s->duration_ns;
}

/* "12.3 %" of a fraction; "-" for what is no number. */
static struct sc_number fraction(double value)
{
    if (!isfinite(value) || value < 0)
        return (struct sc_number){"-"};
    return sc_table_percent(value > 1 ? 1 : value, 1);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void add_head(struct sc_string *out, const char *key)
{
    sc_string_print(out, "  %-12s", key);
}

/* One line behind head, whatever the bytes; cut in its middle. */
static void add_cut(struct sc_string *out, const char *head, const char *text)
{
    struct sc_table *line = sc_table_create();
    sc_table_column(line, "", SC_LEFT, WIDTH);
    sc_table_cell(line, text);
    sc_table_print(line, head, out);
    sc_table_free(line);
}

/* ---- head ---- */

static void add_command(const struct sc_summary *s, struct sc_string *out)
{
    struct sc_string text = {0};
    const bool labelled = s->label != NULL && s->label[0] != '\0';
    sc_string_print(&text, "%s%s%s%s", s->command != NULL ? s->command : "", labelled ? " [" : "",
                    labelled ? s->label : "", labelled ? "]" : "");
    add_cut(out, "scope: ", text.data != NULL ? text.data : "");
    sc_string_free(&text);
}

static void add_incomplete(const struct sc_summary *s, struct sc_string *out)
{
    if (s->incomplete != NULL)
        add_cut(out, "  incomplete  ", s->incomplete);
}

static void add_start(const struct sc_summary *s, struct sc_string *out)
{
    time_t start = (time_t)(s->start_realtime_ns / 1000000000);
    struct tm local;
    char date[64];
    add_head(out, "start");
    if (localtime_r(&start, &local) != NULL &&
        strftime(date, sizeof date, "%Y-%m-%d %H:%M:%S %z, ", &local) > 0)
        sc_string_print(out, "%s", date);
    sc_string_print(out, "%s on %d rank%s, %d node%s",
                    sc_table_time(s->duration_ns > 0 ? s->duration_ns : 0).text, s->ranks,
                    plural((uint64_t)s->ranks), s->nodes, plural((uint64_t)s->nodes));
    if (s->threads > s->ranks)
        sc_string_print(out, ", %d threads", s->threads);
    sc_string_print(out, "\n");
}

static void add_mpi(const struct sc_summary *s, struct sc_string *out)
{
    if (!s->has_mpi)
        return;
    add_head(out, "MPI");
    if (s->mpi_calls == 0 && s->mpi_events == 0) {
        sc_string_print(out, "no call was recorded\n");
        return;
    }
    sc_string_print(out, "%s of rank time", fraction(s->mpi_share).text);
    if (s->threads > s->ranks)
        sc_string_print(out, ", of the threads that began MPI");
    sc_string_append(out, "\n", 1);
    sc_string_print(out,
                    "  parallel efficiency %s = load balance %s x communication efficiency %s\n",
                    fraction(s->load_balance * s->communication).text,
                    fraction(s->load_balance).text, fraction(s->communication).text);
}

/* ---- tail ---- */

static void add_timeline(const struct sc_summary *s, struct sc_string *out)
{
    add_head(out, "timeline");
    sc_string_print(out, "%s region event%s", sc_table_count(s->events).text, plural(s->events));
    if (s->mpi_calls > s->mpi_events)
        sc_string_print(out, ", %s of %s MPI calls (all are in the totals)",
                        sc_table_count(s->mpi_events).text, sc_table_count(s->mpi_calls).text);
    else if (s->has_mpi)
        sc_string_print(out, ", %s MPI call%s", sc_table_count(s->mpi_events).text,
                        plural(s->mpi_events));
    if (s->recorded_ranks != s->ranks)
        sc_string_print(out, " on %d of %d ranks", s->recorded_ranks, s->ranks);
    if (s->lost == 0 && s->paused == 0 && s->unmatched == 0)
        sc_string_print(out, "; nothing dropped");
    sc_string_print(out, "\n");
}

struct tally {
    uint64_t count;
    const char *what;
};

/* "KEY  12 of this, 3 of that"; no line without any. */
static void add_tallies(struct sc_string *out, const char *key, const struct tally *tally, size_t n)
{
    bool any = false;
    for (size_t i = 0; i < n; i++) {
        if (tally[i].count == 0)
            continue;
        if (!any)
            add_head(out, key);
        sc_string_print(out, "%s%s %s", any ? ", " : "", sc_table_count(tally[i].count).text,
                        tally[i].what);
        any = true;
    }
    if (any)
        sc_string_print(out, "\n");
}

static void add_losses(const struct sc_summary *s, struct sc_string *out)
{
    const struct tally dropped[] = {{s->lost, "found no memory or region"},
                                    {s->paused, "while paused"},
                                    {s->unmatched, "ended what never began"}};
    const struct tally mended[] = {{s->unfinished, "still open at the end"},
                                   {s->crossed, "ended out of order"}};
    add_tallies(out, "dropped", dropped, sizeof dropped / sizeof *dropped);
    add_tallies(out, "mended", mended, sizeof mended / sizeof *mended);
}

static void add_cost(const struct sc_summary *s, struct sc_string *out)
{
    double whole = rank_time(s);
    int64_t mean = s->ranks > 0 ? s->own_ns / s->ranks : s->own_ns;
    add_head(out, "own cost");
    sc_string_print(out, "%s per rank while recording", sc_table_time(mean).text);
    if (whole > 0 && s->threads <= s->ranks) /* no share of a time that threads pass side by side */
        sc_string_print(out, " (%.2f %% of rank time)", 100 * (double)s->own_ns / whole);
    sc_string_print(out, ", %s at the end\n", sc_table_time(s->finish_ns).text);
}

/* The path as a shell takes it. */
static void add_quoted(struct sc_string *out, const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "/._-+,:@%=";
    if (path[strspn(path, plain)] == '\0') {
        sc_string_print(out, "%s", path);
        return;
    }
    sc_string_print(out, "'");
    for (; *path != '\0'; path += strcspn(path, "'")) {
        if (*path == '\'')
            sc_string_print(out, "'\\''"), path++;
        sc_table_printable(out, path, strcspn(path, "'"));
    }
    sc_string_print(out, "'");
}

static void add_next(struct sc_string *out, const char *verb, const char *path)
{
    add_head(out, "next");
    sc_string_print(out, "scope %s ", verb);
    add_quoted(out, path);
    sc_string_print(out, "\n");
}

static void add_file(const struct sc_summary *s, struct sc_string *out)
{
    if (s->problem != NULL) {
        add_cut(out, "  no file     ", s->problem);
        if (s->left != NULL)
            add_next(out, "recover", s->left);
        return;
    }
    const char *path = s->path != NULL ? s->path : "";
    add_head(out, "file");
    sc_table_printable(out, path, strlen(path));
    sc_string_print(out, " (%s)\n", sc_table_bytes(s->file_bytes).text);
    add_next(out, "inspect", path);
}

/* ---- tree ---- */

/* The paths that get a line: most time first, no path without its parent. */
struct choice {
    const struct sc_summary *summary;
    size_t shown[TREE_LINES];
    size_t count;
};

static const struct sc_summary_path *path_at(const struct choice *c, size_t i)
{
    return &c->summary->paths[c->shown[i]];
}

static bool is_shown(const struct choice *c, size_t path)
{
    for (size_t i = 0; i < c->count; i++)
        if (c->shown[i] == path)
            return true;
    return false;
}

static bool is_outermost(const struct sc_summary *s, size_t path)
{
    return s->paths[path].parent < 0 || (size_t)s->paths[path].parent >= path;
}

static void choose(struct choice *c, size_t limit)
{
    const struct sc_summary *s = c->summary;
    while (c->count < limit && c->count < s->path_count) {
        const struct sc_summary_path *best = NULL;
        for (size_t i = 0; i < s->path_count; i++) {
            const struct sc_summary_path *path = &s->paths[i];
            if ((best != NULL && path->average <= best->average) || is_shown(c, i) ||
                !(is_outermost(s, i) || is_shown(c, (size_t)path->parent)))
                continue;
            best = path;
        }
        if (best == NULL)
            return;
        c->shown[c->count++] = (size_t)(best - s->paths);
    }
}

static void add_row(struct sc_table *table, const struct sc_summary *s,
                    const struct sc_summary_path *path, unsigned depth)
{
    const char *name = path->name != NULL ? path->name : "";
    sc_table_name(table, depth, name, strlen(name));
    sc_table_cell(table, sc_table_short(path->calls).text);
    sc_table_cell(table, sc_table_time(path->minimum).text);
    sc_table_cell(table, sc_table_time(path->average).text);
    sc_table_cell(table, sc_table_time(path->maximum).text);
    sc_table_format(table, "%d", path->max_rank);
    sc_table_cell(table, sc_table_percent((double)path->average, (double)s->duration_ns).text);
}

/* The chosen children of parent (-1: the outermost) in the order they were chosen, that is, by
 * time. */
static void add_rows(struct sc_table *table, const struct choice *c, int64_t parent, unsigned depth)
{
    for (size_t i = 0; i < c->count; i++) {
        int64_t own = is_outermost(c->summary, c->shown[i]) ? -1 : path_at(c, i)->parent;
        if (own != parent)
            continue;
        add_row(table, c->summary, path_at(c, i), depth);
        add_rows(table, c, (int64_t)c->shown[i], depth + 1);
    }
}

/* In at most lines lines, head and remark included. */
static void add_tree(const struct sc_summary *s, size_t lines, struct sc_string *out)
{
    if (s->path_count == 0) {
        sc_string_print(out, "  no region was recorded\n");
        return;
    }
    struct choice choice = {.summary = s};
    size_t room = lines > 2 ? lines - 1 : 1;
    if (room > TREE_LINES)
        room = TREE_LINES;
    choose(&choice, s->path_count <= room ? room : room - 1);
    struct sc_table *table = sc_table_create();
    sc_table_column(table, "region", SC_LEFT, NAME_WIDTH);
    sc_table_column(table, "calls", SC_RIGHT, 0);
    sc_table_column(table, "min/rank", SC_RIGHT, 0);
    sc_table_column(table, "avg/rank", SC_RIGHT, 0);
    sc_table_column(table, "max/rank", SC_RIGHT, 0);
    sc_table_column(table, "on rank", SC_RIGHT, 0);
    sc_table_column(table, "of run", SC_RIGHT, 0);
    add_rows(table, &choice, -1, 0);
    sc_table_print(table, "  ", out);
    sc_table_free(table);
    size_t more = s->path_count - choice.count;
    if (more > 0)
        sc_string_print(out, "  ... %s more region%s\n", sc_table_count(more).text, plural(more));
}

static size_t count_lines(const struct sc_string *text)
{
    size_t lines = 0;
    for (size_t i = 0; i < text->length; i++)
        lines += text->data[i] == '\n';
    return lines;
}

void sc_summary_text(const struct sc_summary *s, struct sc_string *out)
{
    struct sc_string head = {0}, tail = {0};
    add_command(s, &head);
    add_incomplete(s, &head);
    add_start(s, &head);
    add_mpi(s, &head);
    add_timeline(s, &tail);
    add_losses(s, &tail);
    add_cost(s, &tail);
    add_file(s, &tail);
    sc_string_append(out, head.data, head.length);
    add_tree(s, LINES - count_lines(&head) - count_lines(&tail), out);
    sc_string_append(out, tail.data, tail.length);
    sc_string_free(&head);
    sc_string_free(&tail);
}

void sc_summary_print(const struct sc_summary *s)
{
    struct sc_string text = {0};
    sc_summary_text(s, &text);
    if (text.length > 0)
        sc_write_stderr(text.data, text.length);
    sc_string_free(&text);
}
