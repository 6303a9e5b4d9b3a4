/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * table: aligned text for people: columns, trees by indentation, numbers with units. Used by the
 * summary at the end of a run and by the command. One thread per table. A table that ran out of
 * memory swallows what follows and says so once, in sc_table_print().
 */
#ifndef SC_TABLE_H
#define SC_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base.h"

enum sc_align { SC_LEFT, SC_RIGHT };

struct sc_table;

/* NULL without memory; every other call accepts NULL. */
struct sc_table *sc_table_create(void);
void sc_table_free(struct sc_table *t);

/* Adds a column before the first cell. A cell wider than limit characters is cut in its middle
 * ("ab...yz"), 0: never. head is copied. */
void sc_table_column(struct sc_table *t, const char *head, enum sc_align align, size_t limit);

/* Fills the next cell; the row ends by itself after the last column. Text is copied and made
 * printable. */
void sc_table_cell(struct sc_table *t, const char *text);
void sc_table_name(struct sc_table *t, unsigned depth, const char *name,
                   size_t length); /* 2 * depth spaces */
void sc_table_format(struct sc_table *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Appends head and rows, each line behind indent; columns two spaces apart, no trailing blanks. A
 * table whose heads are all "" has no head line. 0 or SC_ENOMEM. */
int sc_table_print(const struct sc_table *t, const char *indent, struct sc_string *out);

/* Appends text with control characters and invalid UTF-8 as \n, \t, \xNN: one line whatever the
 * bytes. */
int sc_table_printable(struct sc_string *out, const char *text, size_t length);

/* Numbers as text: sc_table_time(ns).text lives to the end of the full expression. */
struct sc_number {
    char text[40];
};
struct sc_number sc_table_time(int64_t ns);      /* "345 ns" "1.234 us" "56.78 ms" "3.142 s" */
struct sc_number sc_table_count(uint64_t n);     /* "1,234,567" */
struct sc_number sc_table_short(uint64_t n);     /* "999" "12.3k" "4.56M" */
struct sc_number sc_table_bytes(uint64_t bytes); /* "0 B" "1.50 KiB" "3.20 GiB" */
struct sc_number sc_table_percent(
    double part, double whole); /* "12.3 %", "<0.01 %"; "-" when whole is not above 0 */

#endif
