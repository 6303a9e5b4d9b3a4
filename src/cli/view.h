/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * view: the regions of a profile as a table for people or programs: which rows, in which order,
 * with which columns. The columns exist once, for text and CSV alike.
 */
#ifndef SC_CLI_VIEW_H
#define SC_CLI_VIEW_H

#include <stdbool.h>

#include "profile.h"
#include "table.h"

enum view_kind { VIEW_TREE, VIEW_FLAT };

struct view_row {
    uint64_t id;     /* call path or region */
    uint64_t parent; /* row of the view, UINT64_MAX none */
    unsigned depth;  /* among the rows shown */
    uint32_t region;
    const struct profile_stat *stat;
};

struct view_column;

struct view {
    const struct profile *profile;
    enum view_kind kind;
    struct view_row *rows;
    size_t count;
    size_t hidden;          /* rows left out because of the limit */
    int64_t hidden_largest; /* ns: the largest total among them */
    const struct view_column **columns;
    size_t column_count;
};

/* How rows and columns are chosen; NULL or 0: as the view likes it. */
struct view_choice {
    const char *columns; /* "total,share" */
    const char *sort;
    bool source;                   /* a column more: file:line */
    const struct cli_globs *globs; /* on names of regions and routines */
    size_t limit;                  /* rows, the ones with the largest totals; 0: all */
};

/* Dies on names of columns that there are not; called before any file is opened. */
void view_check(const struct view_choice *choice);

void view_make(struct view *v, const struct profile *p, enum view_kind kind,
               const struct view_choice *choice);
void view_free(struct view *v);

/* Appends the rows as a table (name_limit: characters of a name, 0 all), or as CSV with numbers as
 * they are. */
void view_print(const struct view *v, const char *indent, size_t name_limit, struct sc_string *out);
void view_csv(const struct view *v, bool head, struct sc_string *out);

/* Appends "a, b, c": the names of all columns. */
void view_column_names(struct sc_string *out);

#endif
