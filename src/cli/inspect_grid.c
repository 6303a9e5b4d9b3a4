/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "inspect_grid.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

struct cell {
    bool known;
    union {
        int64_t number;
        double percent;
        struct {
            size_t offset, length; /* in texts */
        } text;
    } is;
};

struct grid {
    const struct grid_column *columns;
    unsigned *where; /* of each column; 0: not in this kind of table */
    size_t count;
    struct cell *cells; /* row after row */
    size_t rows, capacity;
    struct sc_string texts;
};

struct grid *grid_create(const struct grid_column *columns, size_t count, unsigned kind)
{
    struct grid *g = cli_alloc(1, sizeof *g);

    g->columns = columns;
    g->count = count;
    g->where = cli_alloc(count, sizeof *g->where);
    for (size_t i = 0; i < count; i++)
        g->where[i] = columns[i].only == 0 || (columns[i].only & kind) ? columns[i].where : 0;
    return g;
}

void grid_free(struct grid *g)
{
    sc_string_free(&g->texts);
    free(g->cells);
    free(g->where);
    free(g);
}

void grid_spare(struct grid *g, size_t column)
{
    g->where[column] &= ~(unsigned)(GRID_PEOPLE | GRID_TABLE);
}

/* ---- rows ---- */

void grid_row(struct grid *g)
{
    if (sc_array_reserve(&g->cells, &g->capacity, (g->rows + 1) * g->count, sizeof *g->cells) != 0)
        die("out of memory");
    memset(g->cells + g->rows * g->count, 0, g->count * sizeof *g->cells);
    g->rows++;
}

static const struct cell *cell_at(const struct grid *g, size_t row, size_t column)
{
    return &g->cells[row * g->count + column];
}

static struct cell *last_cell(struct grid *g, size_t column)
{
    struct cell *c = &g->cells[(g->rows - 1) * g->count + column];

    c->known = true;
    return c;
}

void grid_set(struct grid *g, size_t column, int64_t value)
{
    last_cell(g, column)->is.number = value;
}

void grid_count(struct grid *g, size_t column, uint64_t value)
{
    grid_set(g, column, value > INT64_MAX ? INT64_MAX : (int64_t)value);
}

void grid_percent(struct grid *g, size_t column, double percent)
{
    last_cell(g, column)->is.percent = percent;
}

void grid_text(struct grid *g, size_t column, const char *text, size_t length)
{
    struct cell *c = last_cell(g, column);

    c->is.text.offset = g->texts.length;
    c->is.text.length = length;
    cli_append(&g->texts, text, length);
}

size_t grid_rows(const struct grid *g)
{
    return g->rows;
}

/* ---- columns ---- */

void grid_column_names(const struct grid *g, struct sc_string *out)
{
    const char *comma = "";

    for (size_t i = 0; i < g->count; i++)
        if (g->where[i] & GRID_CHOICE) {
            cli_text(out, "%s%s", comma, g->columns[i].name);
            comma = ", ";
        }
}

static size_t find_column(const struct grid *g, const char *name, const char *option)
{
    struct sc_string names = {0};

    for (size_t i = 0; i < g->count; i++)
        if ((g->where[i] & GRID_CHOICE) && strcmp(g->columns[i].name, name) == 0)
            return i;
    grid_column_names(g, &names);
    die("--%s: no column '%s' (there are %s)", option, name, names.data);
}

/* A cell that is known and not 0. */
static bool has_something(const struct grid *g, size_t column)
{
    for (size_t row = 0; row < g->rows; row++) {
        const struct cell *c = cell_at(g, row, column);

        if (c->known && (g->columns[column].unit == GRID_TEXT      ? c->is.text.length > 0
                         : g->columns[column].unit == GRID_PERCENT ? c->is.percent > 0
                                                                   : c->is.number != 0))
            return true;
    }
    return false;
}

/* The columns for people or in CSV (where), in their order; gives how many. */
static size_t choose_columns(const struct grid *g, const char *names, unsigned where, size_t **out)
{
    char *list = names != NULL ? strdup(names) : NULL, *rest = list, *name;
    size_t count = 0;

    *out = cli_alloc(g->count + (names != NULL ? strlen(names) : 0) + 1, sizeof **out);
    for (size_t i = 0; i < g->count; i++) {
        bool empty = where == GRID_PEOPLE && (g->where[i] & GRID_FOUND) && !has_something(g, i);

        if ((g->where[i] & where) && ((g->where[i] & GRID_FIXED) || names == NULL) && !empty)
            (*out)[count++] = i;
    }
    while ((name = cli_next(&rest)) != NULL) {
        size_t i = find_column(g, name, "columns");

        if (!(g->where[i] & GRID_FIXED))
            (*out)[count++] = i;
    }
    free(list);
    return count;
}

void grid_check(const struct grid *g, const char *columns, const char *sort)
{
    size_t *chosen;

    choose_columns(g, columns, GRID_PEOPLE, &chosen);
    free(chosen);
    if (sort != NULL)
        (void)find_column(g, sort, "sort");
}

/* ---- order ---- */

/* A row on its way to another place. */
struct place {
    const struct grid *grid;
    size_t row, column;
};

static int compare_texts(const struct grid *g, const struct cell *x, const struct cell *y)
{
    size_t a = x->is.text.length, b = y->is.text.length, n = a < b ? a : b;
    int order =
        n == 0 ? 0
               : memcmp(g->texts.data + x->is.text.offset, g->texts.data + y->is.text.offset, n);

    return order != 0 ? order : (a > b) - (a < b);
}

static int compare_places(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    const struct cell *x = cell_at(p->grid, p->row, p->column);
    const struct cell *y = cell_at(q->grid, q->row, q->column);
    enum grid_unit unit = p->grid->columns[p->column].unit;
    int order = 0;

    if (x->known != y->known)
        return x->known ? -1 : 1;
    if (x->known && unit == GRID_TEXT)
        order = compare_texts(p->grid, x, y);
    else if (x->known && unit == GRID_PERCENT)
        order = (x->is.percent < y->is.percent) - (x->is.percent > y->is.percent);
    else if (x->known && (unit == GRID_NUMBER || unit == GRID_CLASS || unit == GRID_ADDRESS))
        order = (x->is.number > y->is.number) - (x->is.number < y->is.number);
    else if (x->known)
        order = (x->is.number < y->is.number) - (x->is.number > y->is.number);
    return order != 0 ? order : (p->row > q->row) - (p->row < q->row);
}

void grid_sort(struct grid *g, const char *column)
{
    size_t by = find_column(g, column, "sort");
    struct place *places = cli_alloc(g->rows, sizeof *places);
    struct cell *cells = cli_alloc(g->rows * g->count, sizeof *cells);

    for (size_t i = 0; i < g->rows; i++)
        places[i] = (struct place){g, i, by};
    qsort(places, g->rows, sizeof *places, compare_places);
    for (size_t i = 0; i < g->rows; i++)
        memcpy(cells + i * g->count, cell_at(g, places[i].row, 0), g->count * sizeof *cells);
    free(places);
    free(g->cells);
    g->cells = cells;
    g->capacity = g->rows * g->count;
}

size_t grid_cut(struct grid *g, size_t limit, const char *column, int64_t *largest)
{
    size_t hidden = limit > 0 && g->rows > limit ? g->rows - limit : 0;

    if (hidden > 0) {
        *largest = cell_at(g, limit, find_column(g, column, "sort"))->is.number;
        g->rows = limit;
    }
    return hidden;
}

/* ---- text ---- */

/* Sizes of a class: "0 B", "1 B", "2-3 B", "1-2 KiB"; above 1 KiB the end is the next one's begin.
 */
static struct sc_number class_text(int64_t k)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    struct sc_number text;
    int64_t unit = k > 0 ? (k - 1) / 10 : 0;
    int low = 1 << (k > 0 ? (k - 1) % 10 : 0);

    if (k <= 1)
        snprintf(text.text, sizeof text.text, "%d B", k > 0);
    else if (unit == 0)
        snprintf(text.text, sizeof text.text, "%d-%d B", low, 2 * low - 1);
    else if (low == 512)
        snprintf(text.text, sizeof text.text, "512 %s-1 %s", units[unit], units[unit + 1]);
    else
        snprintf(text.text, sizeof text.text, "%d-%d %s", low, 2 * low, units[unit]);
    return text;
}

static struct sc_number number_text(enum grid_unit unit, const struct cell *c)
{
    struct sc_number text = {"-"};

    if (!c->known)
        return text;
    switch (unit) {
    case GRID_TIME:
        return sc_table_time(c->is.number);
    case GRID_COUNT:
        return sc_table_count((uint64_t)c->is.number);
    case GRID_BYTES:
        return sc_table_bytes((uint64_t)c->is.number);
    case GRID_PERCENT:
        return sc_table_percent(c->is.percent, 100);
    case GRID_CLASS:
        return class_text(c->is.number);
    case GRID_ADDRESS:
        snprintf(text.text, sizeof text.text, "0x%" PRIx64, (uint64_t)c->is.number);
        return text;
    default:
        snprintf(text.text, sizeof text.text, "%jd", (intmax_t)c->is.number);
        return text;
    }
}

static const char *text_of(const struct grid *g, const struct cell *c)
{
    return c->is.text.length > 0 ? g->texts.data + c->is.text.offset : "";
}

void grid_print(const struct grid *g, const char *columns, size_t name_limit, struct sc_string *out)
{
    struct sc_table *t = sc_table_create();
    size_t *shown;
    size_t count = choose_columns(g, columns, GRID_PEOPLE, &shown);

    for (size_t i = 0; i < count; i++) {
        const struct grid_column *column = &g->columns[shown[i]];
        bool is_text = column->unit == GRID_TEXT;

        sc_table_column(t, column->head, is_text ? SC_LEFT : SC_RIGHT,
                        is_text && name_limit > 0 && column->limit > 0 ? column->limit
                        : is_text                                      ? name_limit
                                                                       : 0);
    }
    for (size_t row = 0; row < g->rows; row++)
        for (size_t i = 0; i < count; i++) {
            const struct cell *c = cell_at(g, row, shown[i]);

            if (g->columns[shown[i]].unit == GRID_TEXT)
                sc_table_name(t, 0, text_of(g, c), c->is.text.length);
            else
                sc_table_cell(t, number_text(g->columns[shown[i]].unit, c).text);
        }
    if (sc_table_print(t, "  ", out) != 0)
        die("out of memory");
    sc_table_free(t);
    free(shown);
}

/* ---- for programs ---- */

static const char *suffix(enum grid_unit unit)
{
    return unit == GRID_TIME      ? "_ns"
           : unit == GRID_BYTES   ? "_bytes"
           : unit == GRID_PERCENT ? "_percent"
                                  : "";
}

static void csv_cell(const struct grid *g, const struct cell *c, enum grid_unit unit,
                     struct sc_string *out)
{
    if (!c->known)
        return;
    if (unit == GRID_TEXT)
        cli_csv(out, text_of(g, c), c->is.text.length);
    else if (unit == GRID_PERCENT)
        cli_text(out, "%.6f", c->is.percent);
    else if (unit == GRID_ADDRESS)
        cli_text(out, "0x%" PRIx64, (uint64_t)c->is.number);
    else
        cli_text(out, "%jd", (intmax_t)c->is.number);
}

void grid_csv(const struct grid *g, const char *columns, const char *file, bool head,
              struct sc_string *out)
{
    size_t *shown;
    size_t count = choose_columns(g, columns, GRID_TABLE, &shown);

    if (head)
        cli_text(out, "file");
    for (size_t i = 0; head && i < count; i++)
        cli_text(out, ",%s%s", g->columns[shown[i]].name, suffix(g->columns[shown[i]].unit));
    if (head)
        cli_text(out, "\r\n");
    for (size_t row = 0; row < g->rows; row++) {
        cli_csv(out, file, strlen(file));
        for (size_t i = 0; i < count; i++) {
            cli_text(out, ",");
            csv_cell(g, cell_at(g, row, shown[i]), g->columns[shown[i]].unit, out);
        }
        cli_text(out, "\r\n");
    }
    free(shown);
}

static void json_cell(const struct grid *g, const struct cell *c, const struct grid_column *column,
                      struct sc_string *out)
{
    if (column->json != NULL) /* carries its unit itself */
        cli_text(out, "\"%s\": ", column->json);
    else
        cli_text(out, "\"%s%s\": ", column->name, suffix(column->unit));
    if (!c->known)
        cli_text(out, "null");
    else if (column->unit == GRID_TEXT)
        cli_json(out, text_of(g, c), c->is.text.length);
    else if (column->unit == GRID_PERCENT)
        cli_text(out, "%.6f", c->is.percent);
    else if (column->unit == GRID_ADDRESS)
        cli_text(out, "%ju", (uintmax_t)c->is.number);
    else
        cli_text(out, "%jd", (intmax_t)c->is.number);
}

void grid_json(const struct grid *g, const char *name, struct sc_string *out)
{
    cli_text(out, "    \"%s\": [", name);
    for (size_t row = 0; row < g->rows; row++) {
        const char *comma = "";

        cli_text(out, "%s\n      {", row > 0 ? "," : "");
        for (size_t i = 0; i < g->count; i++) {
            const struct cell *c = cell_at(g, row, i);

            if (!(g->where[i] & GRID_JSON) ||
                (!c->known && !(g->where[i] & (GRID_FIXED | GRID_NULL))))
                continue;
            cli_text(out, "%s", comma);
            json_cell(g, c, &g->columns[i], out);
            comma = ", ";
        }
        cli_text(out, "}");
    }
    cli_text(out, "\n    ],\n");
}
