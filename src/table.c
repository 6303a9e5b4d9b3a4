/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "table.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2 /* spaces between columns */

struct column {
    enum sc_align align;
    size_t limit;
};

/* Cells lie one behind the other in text; row 0 holds the heads. */
struct cell {
    size_t offset, length;
};

struct sc_table {
    struct column *columns;
    size_t column_count, column_capacity;
    struct cell *cells;
    size_t cell_count, cell_capacity;
    struct sc_string text;
    bool has_heads;
    int status;
};

struct sc_table *sc_table_create(void)
{
    return calloc(1, sizeof(struct sc_table));
}

void sc_table_free(struct sc_table *t)
{
    if (t == NULL)
        return;
    free(t->columns);
    free(t->cells);
    sc_string_free(&t->text);
    free(t);
}

/* Bytes of the character at text when it may be printed as it is: no control character; else 0. */
static size_t printable_length(const char *text, size_t left)
{
    const unsigned char *s = (const unsigned char *)text;
    size_t n = sc_utf8_length(text, left);
    bool control = s[0] < 0x20 || s[0] == 0x7f || (n == 2 && s[0] == 0xc2 && s[1] < 0xa0);

    return control ? 0 : n;
}

int sc_table_printable(struct sc_string *out, const char *text, size_t length)
{
    int rc = sc_string_append(out, "", 0);

    for (size_t i = 0; rc == 0 && i < length;) {
        size_t n = printable_length(text + i, length - i);

        if (n > 0)
            rc = sc_string_append(out, text + i, n);
        else if (text[i] == '\n')
            rc = sc_string_append(out, "\\n", 2);
        else if (text[i] == '\t')
            rc = sc_string_append(out, "\\t", 2);
        else
            rc = sc_string_print(out, "\\x%02x", (unsigned char)text[i]);
        i += n > 0 ? n : 1;
    }
    return rc;
}

/* Characters in printable text: a terminal shows one column for each (wide scripts excepted). */
static size_t characters(const char *text, size_t length)
{
    size_t n = 0;

    for (size_t i = 0; i < length; i++)
        n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* Bytes that the first count characters take. */
static size_t bytes_of(const char *text, size_t length, size_t count)
{
    size_t i = 0;

    while (i < length && count > 0) {
        i++;
        while (i < length && ((unsigned char)text[i] & 0xc0) == 0x80)
            i++;
        count--;
    }
    return i;
}

/* Shortens the text from offset on to limit characters: its beginning, "...", its end. */
static int cut_middle(struct sc_string *text, size_t offset, size_t limit)
{
    char *s = text->data + offset;
    size_t length = text->length - offset;
    size_t n = characters(s, length);
    size_t front, back, tail;

    if (limit < 8 || n <= limit)
        return 0;
    front = bytes_of(s, length, (limit - 3) / 2);
    back = bytes_of(s, length, n - (limit - 3 - (limit - 3) / 2));
    tail = length - back;
    memmove(s + front + 3, s + back, tail);
    memcpy(s + front, "...", 3);
    text->length = offset + front + 3 + tail;
    s[front + 3 + tail] = '\0';
    return 0;
}

static void add_cell(struct sc_table *t, unsigned depth, const char *text, size_t length,
                     size_t limit)
{
    size_t offset = t->text.length;
    int rc = sc_array_reserve(&t->cells, &t->cell_capacity, t->cell_count + 1, sizeof *t->cells);

    for (unsigned i = 0; rc == 0 && i < depth; i++)
        rc = sc_string_append(&t->text, "  ", 2);
    if (rc == 0)
        rc = sc_table_printable(&t->text, text, length);
    if (rc == 0)
        rc = cut_middle(&t->text, offset, limit);
    if (rc != 0) {
        t->status = rc;
        return;
    }
    t->cells[t->cell_count++] = (struct cell){offset, t->text.length - offset};
}

void sc_table_column(struct sc_table *t, const char *head, enum sc_align align, size_t limit)
{
    if (t == NULL || t->status != 0)
        return;
    t->status =
        sc_array_reserve(&t->columns, &t->column_capacity, t->column_count + 1, sizeof *t->columns);
    if (t->status != 0)
        return;
    t->columns[t->column_count++] = (struct column){align, limit};
    t->has_heads |= head[0] != '\0';
    add_cell(t, 0, head, strlen(head), 0);
}

void sc_table_name(struct sc_table *t, unsigned depth, const char *name, size_t length)
{
    if (t == NULL || t->status != 0 || t->column_count == 0)
        return;
    add_cell(t, depth, name, length, t->columns[t->cell_count % t->column_count].limit);
}

void sc_table_cell(struct sc_table *t, const char *text)
{
    sc_table_name(t, 0, text, strlen(text));
}

void sc_table_format(struct sc_table *t, const char *format, ...)
{
    char text[256];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    sc_table_cell(t, text);
}

static int print_blanks(struct sc_string *out, size_t count)
{
    return count == 0 ? 0 : sc_string_print(out, "%*s", (int)count, "");
}

static int print_row(const struct sc_table *t, size_t row, const size_t *widths,
                     struct sc_string *out)
{
    size_t pending = 0; /* blanks that stand before the next text only */
    int rc = 0;

    for (size_t c = 0; rc == 0 && c < t->column_count; c++) {
        size_t at = row * t->column_count + c;
        struct cell cell = at < t->cell_count ? t->cells[at] : (struct cell){0, 0};
        const char *text = cell.length > 0 ? t->text.data + cell.offset : "";
        size_t blanks = widths[c] - characters(text, cell.length);

        if (t->columns[c].align == SC_RIGHT)
            pending += blanks;
        if (cell.length > 0) {
            rc = print_blanks(out, pending);
            if (rc == 0)
                rc = sc_string_append(out, text, cell.length);
            pending = 0;
        }
        if (t->columns[c].align == SC_LEFT)
            pending += blanks;
        pending += GAP;
    }
    return rc != 0 ? rc : sc_string_append(out, "\n", 1);
}

int sc_table_print(const struct sc_table *t, const char *indent, struct sc_string *out)
{
    size_t *widths;
    size_t rows;
    int rc = 0;

    if (t == NULL || t->status != 0)
        return SC_ENOMEM;
    if (t->column_count == 0)
        return 0;
    widths = calloc(t->column_count, sizeof *widths);
    if (widths == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < t->cell_count; i++) {
        size_t n = t->cells[i].length == 0
                       ? 0
                       : characters(t->text.data + t->cells[i].offset, t->cells[i].length);

        if (n > widths[i % t->column_count])
            widths[i % t->column_count] = n;
    }
    rows = (t->cell_count + t->column_count - 1) / t->column_count;
    for (size_t row = t->has_heads ? 0 : 1; rc == 0 && row < rows; row++) {
        rc = sc_string_append(out, indent, strlen(indent));
        if (rc == 0)
            rc = print_row(t, row, widths, out);
    }
    free(widths);
    return rc;
}

/* Four significant digits below 1000, whole numbers above. */
static struct sc_number scaled(double value, const char *unit)
{
    struct sc_number n;
    double size = fabs(value);
    int digits = size < 9.9995 ? 3 : size < 99.995 ? 2 : size < 999.95 ? 1 : 0;

    snprintf(n.text, sizeof n.text, "%.*f%s", digits, value, unit);
    return n;
}

struct sc_number sc_table_time(int64_t ns)
{
    static const struct {
        double below, divisor;
        const char *unit;
    } units[] = {{999.95e3, 1e3, " us"}, {999.95e6, 1e6, " ms"}};
    struct sc_number n;

    if (ns > -1000 && ns < 1000) {
        snprintf(n.text, sizeof n.text, "%" PRId64 " ns", ns);
        return n;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (fabs((double)ns) < units[i].below)
            return scaled((double)ns / units[i].divisor, units[i].unit);
    return scaled((double)ns / 1e9, " s");
}

struct sc_number sc_table_count(uint64_t count)
{
    struct sc_number n;
    char digits[24];
    size_t length = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, count);
    size_t out = 0;

    for (size_t i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            n.text[out++] = ',';
        n.text[out++] = digits[i];
    }
    n.text[out] = '\0';
    return n;
}

/* Three significant digits with one of the units, each factor times the one before. */
static struct sc_number prefixed(uint64_t value, double factor, const char *const *units,
                                 size_t count)
{
    struct sc_number n;
    double scaled_value = (double)value;
    size_t unit = 0;
    int digits;

    while (unit + 1 < count && scaled_value >= (factor == 1024.0 ? 1023.5 : 999.5)) {
        scaled_value /= factor;
        unit++;
    }
    digits = unit == 0 || scaled_value >= 99.95 ? 0 : scaled_value >= 9.995 ? 1 : 2;
    snprintf(n.text, sizeof n.text, "%.*f%s", digits, scaled_value, units[unit]);
    return n;
}

struct sc_number sc_table_short(uint64_t n)
{
    static const char *const units[] = {"", "k", "M", "G", "T", "P", "E"};

    return prefixed(n, 1000.0, units, sizeof units / sizeof *units);
}

struct sc_number sc_table_bytes(uint64_t bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"};

    return prefixed(bytes, 1024.0, units, sizeof units / sizeof *units);
}

struct sc_number sc_table_percent(double part, double whole)
{
    struct sc_number n = {"-"};
    double percent = 100.0 * part / whole;

    if (!(whole > 0))
        return n;
    if (percent > 0 && percent < 0.005)
        snprintf(n.text, sizeof n.text, "<0.01 %%");
    else if (percent > 0 && percent < 0.095)
        snprintf(n.text, sizeof n.text, "%.2f %%", percent);
    else
        snprintf(n.text, sizeof n.text, "%.1f %%", percent);
    return n;
}
