/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * inspect_grid: a table whose columns are described once, as text, CSV and JSON: rows in the order
 * in which they were added or sorted, with the columns that each kind of output has by default or
 * that the user named.
 */
#ifndef SC_CLI_INSPECT_GRID_H
#define SC_CLI_INSPECT_GRID_H

#include "cli.h"
#include "view.h"

/* What a cell is, and so how it is printed and sorted: numbers of the first kind large ones first,
 * names and ids ascending, cells that are not known last. */
enum grid_unit {
    GRID_COUNT,
    GRID_TIME, /* ns */
    GRID_BYTES,
    GRID_PERCENT,
    GRID_NUMBER, /* an id or a rank */
    GRID_CLASS,  /* of sizes */
    GRID_ADDRESS,
    GRID_TEXT
};

/* Where a column is. */
enum {
    GRID_PEOPLE = 1, /* in text by default */
    GRID_TABLE = 2,  /* in CSV by default */
    GRID_JSON = 4,
    GRID_CHOICE = 8, /* users may name it */
    GRID_FIXED = 16, /* stays when users name columns */
    GRID_FOUND = 32, /* in text by default only if a cell of it is known and not 0 */
    GRID_NULL = 64,  /* in JSON null when it is not known, as fixed ones are */
    GRID_KEY = GRID_PEOPLE | GRID_TABLE | GRID_JSON | GRID_CHOICE | GRID_FIXED,
    GRID_USUAL = GRID_PEOPLE | GRID_TABLE | GRID_JSON | GRID_CHOICE
};

struct grid_column {
    const char *name; /* as users and CSV spell it */
    const char *head;
    const char *json; /* with its unit; NULL: name and unit */
    enum grid_unit unit;
    unsigned where;
    unsigned only;  /* in tables of one of these kinds, a mask; 0: all */
    unsigned limit; /* characters of a text, 0: as the caller says */
};

#define GRID_LENGTH(columns) (sizeof(columns) / sizeof(columns)[0])

struct grid;

/* A table of a kind (one bit). The columns are lent. */
struct grid *grid_create(const struct grid_column *columns, size_t count, unsigned kind);
void grid_free(struct grid *g);

/* Takes a column out of what is shown by default; it may still be named. */
void grid_spare(struct grid *g, size_t column);

/* A new row, in which nothing is known; the others set a cell of the last one. */
void grid_row(struct grid *g);
void grid_set(struct grid *g, size_t column, int64_t value);
void grid_count(struct grid *g, size_t column, uint64_t value);
void grid_percent(struct grid *g, size_t column, double percent);
void grid_text(struct grid *g, size_t column, const char *text, size_t length);

size_t grid_rows(const struct grid *g);

/* Dies on names of columns that it does not have. */
void grid_check(const struct grid *g, const char *columns, const char *sort);
void grid_column_names(const struct grid *g, struct sc_string *out);

/* By a column; rows that are equal there keep their order. */
void grid_sort(struct grid *g, const char *column);
/* Leaves the first limit rows (0: all) and gives how many are gone; *largest is the first value
 * that is. */
size_t grid_cut(struct grid *g, size_t limit, const char *column, int64_t *largest);

/* columns: a list, NULL: the default. name_limit: characters of a text, 0: all. */
void grid_print(const struct grid *g, const char *columns, size_t name_limit,
                struct sc_string *out);
void grid_csv(const struct grid *g, const char *columns, const char *file, bool head,
              struct sc_string *out);
/* A member of the object that is a profile. Cells that are not known are left out, except those
 * that are then null. */
void grid_json(const struct grid *g, const char *name, struct sc_string *out);

#endif
