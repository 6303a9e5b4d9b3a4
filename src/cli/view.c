/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a column's number is, and so how it is printed. */
enum unit {
    NAME,
    SOURCE,
    TIME, /* ns */
    COUNT,
    RANK,    /* -1: not known */
    PERCENT, /* a ratio */
};

#define DEEPEST 60 /* levels that are indented; deep recursion stays on the page */

struct view_column {
    const char *name; /* as the user spells it */
    const char *head; /* as it stands above the numbers */
    enum unit unit;
    bool usual; /* shown by default */
    double (*value)(const struct view *v,
                    const struct view_row *row); /* to sort by and for ratios */
    int64_t (*exact)(const struct view_row *row);
};

static int64_t clipped(uint64_t n)
{
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static int64_t ratio(int64_t sum, uint64_t n)
{
    return n == 0 ? 0 : (int64_t)((double)sum / (double)n + 0.5);
}

static int64_t calls_of(const struct view_row *row)
{
    return clipped(row->stat->calls);
}

static int64_t total_of(const struct view_row *row)
{
    return row->stat->total;
}

static int64_t exclusive_of(const struct view_row *row)
{
    return row->stat->exclusive;
}

static int64_t rank_min_of(const struct view_row *row)
{
    return row->stat->rank_min;
}

static int64_t rank_max_of(const struct view_row *row)
{
    return row->stat->rank_max;
}

static int64_t min_rank_of(const struct view_row *row)
{
    return row->stat->min_rank == PROFILE_NO_RANK ? -1 : (int64_t)row->stat->min_rank;
}

static int64_t max_rank_of(const struct view_row *row)
{
    return row->stat->max_rank == PROFILE_NO_RANK ? -1 : (int64_t)row->stat->max_rank;
}

static int64_t ranks_of(const struct view_row *row)
{
    return clipped(row->stat->ranks);
}

static int64_t call_average_of(const struct view_row *row)
{
    return ratio(total_of(row), (uint64_t)calls_of(row));
}

static int64_t call_min_of(const struct view_row *row)
{
    return row->stat->call_min;
}

static int64_t call_max_of(const struct view_row *row)
{
    return row->stat->call_max;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100.0 * part / whole : 0;
}

static double rank_average(const struct view *v, const struct view_row *row)
{
    return v->profile->rank_count == 0 ? 0
                                       : (double)row->stat->total / (double)v->profile->rank_count;
}

static double share(const struct view *v, const struct view_row *row)
{
    return percent((double)total_of(row), (double)v->profile->totals.rank_ns);
}

/* How far the slowest rank is above the average. */
static double imbalance(const struct view *v, const struct view_row *row)
{
    double average = rank_average(v, row);

    return average > 0 ? 100.0 * ((double)row->stat->rank_max / average - 1.0) : 0;
}

static const struct view_column all_columns[] = {
    {"region", "region", NAME, true, NULL, NULL},
    {"calls", "calls", COUNT, true, NULL, calls_of},
    {"total", "total", TIME, true, NULL, total_of},
    {"exclusive", "exclusive", TIME, false, NULL, exclusive_of},
    {"share", "% of time", PERCENT, true, share, NULL},
    {"min", "min/rank", TIME, true, NULL, rank_min_of},
    {"avg", "avg/rank", TIME, true, rank_average, NULL},
    {"max", "max/rank", TIME, true, NULL, rank_max_of},
    {"minrank", "min on", RANK, false, NULL, min_rank_of},
    {"maxrank", "max on", RANK, true, NULL, max_rank_of},
    {"ranks", "ranks", COUNT, false, NULL, ranks_of},
    {"imbalance", "imbalance", PERCENT, false, imbalance, NULL},
    {"callmin", "min/call", TIME, false, NULL, call_min_of},
    {"callavg", "avg/call", TIME, false, NULL, call_average_of},
    {"callmax", "max/call", TIME, false, NULL, call_max_of},
    {"source", "source", SOURCE, false, NULL, NULL},
};
enum { COLUMN_COUNT = sizeof all_columns / sizeof all_columns[0] };

void view_column_names(struct sc_string *out)
{
    for (int i = 0; i < COLUMN_COUNT; i++)
        cli_text(out, "%s%s", i > 0 ? ", " : "", all_columns[i].name);
}

/* ---- choosing columns ---- */

static const struct view_column *find_column(const char *name, const char *option)
{
    struct sc_string names = {0};

    for (int i = 0; i < COLUMN_COUNT; i++)
        if (strcmp(all_columns[i].name, name) == 0)
            return &all_columns[i];
    view_column_names(&names);
    die("--%s: no column '%s' (there are %s)", option, name, names.data);
}

static void choose_columns(struct view *v, const struct view_choice *choice)
{
    char *list = choice->columns != NULL ? strdup(choice->columns) : NULL;
    size_t room = COLUMN_COUNT + (list != NULL ? strlen(list) : 0) + 1;

    v->columns = cli_alloc(room, sizeof *v->columns);
    if (list == NULL) {
        for (int i = 0; i < COLUMN_COUNT; i++)
            if (all_columns[i].usual)
                v->columns[v->column_count++] = &all_columns[i];
    } else { /* the name comes first and is always there */
        char *rest = list, *name;

        v->columns[v->column_count++] = &all_columns[0];
        while ((name = cli_next(&rest)) != NULL) {
            const struct view_column *c = find_column(name, "columns");

            if (c->unit != NAME)
                v->columns[v->column_count++] = c;
        }
    }
    if (choice->source)
        v->columns[v->column_count++] = find_column("source", "columns");
    free(list);
}

void view_check(const struct view_choice *choice)
{
    struct view v = {0};

    choose_columns(&v, choice);
    if (choice->sort != NULL && find_column(choice->sort, "sort")->unit == SOURCE)
        die("--sort: not by source (by region or by a number)");
    free(v.columns);
}

/* ---- order ---- */

struct order {
    const struct view *view;
    const struct view_column *column;
};

static double sort_value(const struct order *o, const struct view_row *row)
{
    return o->column->exact != NULL ? (double)o->column->exact(row)
                                    : o->column->value(o->view, row);
}

/* Numbers: large ones first; names: ascending; then by id. */
static int compare_rows(const void *a, const void *b, void *context)
{
    const struct view_row *x = a, *y = b;
    const struct order *o = context;

    if (o->column->unit == NAME) {
        scope_text s = scope_read_region(o->view->profile->reader, x->region);
        scope_text t = scope_read_region(o->view->profile->reader, y->region);
        int order = strcmp(s.data, t.data);

        if (order != 0)
            return order;
    } else {
        double p = sort_value(o, x), q = sort_value(o, y);

        if (p != q)
            return p < q ? 1 : -1;
    }
    return (x->id > y->id) - (x->id < y->id);
}

static void sort_rows(struct view *v, const char *name)
{
    struct order order = {v, find_column(name, "sort")};

    qsort_r(v->rows, v->count, sizeof *v->rows, compare_rows, &order);
}

/* Leaves the limit rows with the largest totals. In a tree a parent is never below its children
 * there, except where threads overlap; such a child then hangs on the next row above that is shown.
 */
static void cut_rows(struct view *v, size_t limit)
{
    sort_rows(v, "total");
    if (limit == 0 || v->count <= limit)
        return;
    v->hidden = v->count - limit;
    v->hidden_largest = total_of(&v->rows[limit]);
    v->count = limit;
}

/* ---- trees ---- */

/* Lists of rows in their order: first child and next sibling, by row; one entry more for the top.
 */
struct links {
    size_t *child, *sibling;
};
#define NONE SIZE_MAX

static void emit_tree(struct view *v, const struct links *links)
{
    struct view_row *out = cli_alloc(v->count, sizeof *out);
    size_t *stack = cli_alloc(v->count + 1, sizeof *stack); /* rows to come, by depth */
    uint64_t *placed = cli_alloc(v->count + 1, sizeof *placed);
    size_t n = 0, depth = 0;

    stack[0] = links->child[v->count];
    for (;;) {
        size_t row = stack[depth];

        if (row == NONE) {
            if (depth == 0)
                break;
            depth--;
            continue;
        }
        stack[depth] = links->sibling[row];
        out[n] = v->rows[row];
        out[n].depth = (unsigned)depth;
        out[n].parent = depth > 0 ? placed[depth - 1] : UINT64_MAX;
        placed[depth] = n++;
        if (links->child[row] != NONE)
            stack[++depth] = links->child[row];
    }
    free(v->rows);
    free(stack);
    free(placed);
    v->rows = out;
}

/* Puts sorted rows under the nearest ancestor that is shown, siblings in their order. */
static void make_tree(struct view *v)
{
    const struct profile *p = v->profile;
    size_t *row_of = cli_alloc((size_t)p->size.paths + 1, sizeof *row_of);
    struct links links = {cli_alloc(v->count + 1, sizeof(size_t)),
                          cli_alloc(v->count + 1, sizeof(size_t))};

    for (uint64_t i = 0; i < p->size.paths; i++)
        row_of[i] = NONE;
    for (size_t i = 0; i < v->count; i++)
        row_of[v->rows[i].id] = i;
    /* A parent has a lower id than its children, so this finds the nearest shown ancestor of each
     * path. */
    for (uint64_t i = 0; i < p->size.paths; i++) {
        int32_t parent = p->paths[i].parent;

        if (row_of[i] == NONE)
            row_of[i] = parent < 0 ? v->count : row_of[parent];
        else
            v->rows[row_of[i]].parent = parent < 0 ? v->count : row_of[parent];
    }
    for (size_t i = 0; i <= v->count; i++)
        links.child[i] = links.sibling[i] = NONE;
    for (size_t i = v->count; i-- > 0;) {
        size_t parent = (size_t)v->rows[i].parent;

        links.sibling[i] = links.child[parent];
        links.child[parent] = i;
    }
    emit_tree(v, &links);
    free(row_of);
    free(links.child);
    free(links.sibling);
}

/* ---- rows ---- */

static void take_rows(struct view *v, const struct cli_globs *globs)
{
    const struct profile *p = v->profile;
    uint64_t count = v->kind == VIEW_TREE ? p->size.paths : p->size.regions;

    v->rows = cli_alloc((size_t)count, sizeof *v->rows);
    for (uint64_t i = 0; i < count; i++) {
        struct view_row row = {.id = i, .parent = UINT64_MAX};

        row.stat = v->kind == VIEW_TREE ? &p->path_stats[i] : &p->regions[i];
        row.region = v->kind == VIEW_TREE ? p->paths[i].region : (uint32_t)i;
        if (row.stat->calls == 0)
            continue;
        if (globs == NULL || cli_globs_match(globs, scope_read_region(p->reader, row.region).data))
            v->rows[v->count++] = row;
    }
}

void view_make(struct view *v, const struct profile *p, enum view_kind kind,
               const struct view_choice *choice)
{
    *v = (struct view){.profile = p, .kind = kind};
    choose_columns(v, choice);
    take_rows(v, choice->globs);
    cut_rows(v, choice->limit);
    if (choice->sort != NULL)
        sort_rows(v, choice->sort);
    if (kind == VIEW_TREE)
        make_tree(v);
}

void view_free(struct view *v)
{
    free(v->rows);
    free(v->columns);
}

/* ---- printing ---- */

/* "file:line" of a region, "" if unknown. */
static void source_of(const struct view *v, const struct view_row *row, struct sc_string *out)
{
    uint64_t at = v->profile->region_rows[row->region];
    scope_text file;
    int64_t line;

    out->length = 0;
    cli_append(out, "", 0);
    if (at == UINT64_MAX)
        return;
    cli_check(scope_read_slice_text(v->profile->reader, at, SCOPE_SOURCE_FILE, &file));
    cli_check(scope_read_slice_line(v->profile->reader, at, &line));
    cli_append(out, file.data, file.length);
    if (file.length > 0 && line >= 0)
        cli_text(out, ":%jd", (intmax_t)line);
}

static struct sc_number number_text(const struct view *v, const struct view_row *row,
                                    const struct view_column *c)
{
    int64_t n = c->exact != NULL ? c->exact(row) : (int64_t)(c->value(v, row) + 0.5);
    struct sc_number unknown = {"-"}, text;

    switch (c->unit) {
    case TIME:
        return n < 0 && c->exact == exclusive_of ? unknown : sc_table_time(n);
    case COUNT:
        return sc_table_count((uint64_t)n);
    case PERCENT:
        return sc_table_percent(c->value(v, row), 100);
    default:
        snprintf(text.text, sizeof text.text, "%jd", (intmax_t)n);
        return n < 0 ? unknown : text;
    }
}

void view_print(const struct view *v, const char *indent, size_t name_limit, struct sc_string *out)
{
    struct sc_table *t = sc_table_create();
    struct sc_string source = {0};

    for (size_t c = 0; c < v->column_count; c++) {
        bool text = v->columns[c]->unit == NAME || v->columns[c]->unit == SOURCE;

        sc_table_column(t, v->columns[c]->head, text ? SC_LEFT : SC_RIGHT, text ? name_limit : 0);
    }
    for (size_t i = 0; i < v->count; i++)
        for (size_t c = 0; c < v->column_count; c++) {
            const struct view_row *row = &v->rows[i];
            scope_text name = scope_read_region(v->profile->reader, row->region);

            if (v->columns[c]->unit == NAME) {
                sc_table_name(t, row->depth < DEEPEST ? row->depth : DEEPEST, name.data,
                              name.length);
            } else if (v->columns[c]->unit == SOURCE) {
                source_of(v, row, &source);
                sc_table_name(t, 0, source.data, source.length);
            } else {
                sc_table_cell(t, number_text(v, row, v->columns[c]).text);
            }
        }
    if (sc_table_print(t, indent, out) != 0)
        die("out of memory");
    sc_string_free(&source);
    sc_table_free(t);
}

static void csv_head(const struct view *v, struct sc_string *out)
{
    static const char *const suffix[] = {[TIME] = "_ns", [PERCENT] = "_percent"};

    cli_text(out, "file,id,%s", v->kind == VIEW_TREE ? "parent,depth," : "");
    for (size_t c = 0; c < v->column_count; c++) {
        enum unit unit = v->columns[c]->unit;
        bool plain = unit >= sizeof suffix / sizeof *suffix || suffix[unit] == NULL;

        cli_text(out, "%s%s%s", c > 0 ? "," : "", v->columns[c]->name, plain ? "" : suffix[unit]);
    }
    cli_text(out, "\r\n");
}

/* A column's value as it is, without rounding; empty when it is not known. */
static void csv_value(const struct view *v, const struct view_row *row, const struct view_column *c,
                      struct sc_string *out)
{
    struct sc_string source = {0};
    scope_text name = scope_read_region(v->profile->reader, row->region);

    if (c->unit == NAME) {
        cli_csv(out, name.data, name.length);
    } else if (c->unit == SOURCE) {
        source_of(v, row, &source);
        cli_csv(out, source.data, source.length);
    } else if (c->exact == NULL) {
        cli_text(out, c->unit == PERCENT ? "%.6f" : "%.0f", c->value(v, row));
    } else if (c->exact(row) >= 0) {
        cli_text(out, "%jd", (intmax_t)c->exact(row));
    }
    sc_string_free(&source);
}

void view_csv(const struct view *v, bool head, struct sc_string *out)
{
    if (head)
        csv_head(v, out);
    for (size_t i = 0; i < v->count; i++) {
        const struct view_row *row = &v->rows[i];

        cli_csv(out, v->profile->path, strlen(v->profile->path));
        cli_text(out, ",%ju", (uintmax_t)row->id);
        if (v->kind == VIEW_TREE && row->parent == UINT64_MAX)
            cli_text(out, ",,%u", row->depth);
        else if (v->kind == VIEW_TREE)
            cli_text(out, ",%ju,%u", (uintmax_t)v->rows[row->parent].id, row->depth);
        for (size_t c = 0; c < v->column_count; c++) {
            cli_append(out, ",", 1);
            csv_value(v, row, v->columns[c], out);
        }
        cli_text(out, "\r\n");
    }
}
