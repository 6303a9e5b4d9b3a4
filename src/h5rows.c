/* SPDX-License-Identifier: BSD-3-Clause */
#include "h5rows.h"

#include <stdlib.h>

#include "base.h"
#include "h5element.h"
#include "h5file.h"

size_t sc_h5_element_size(const char *dataset)
{
    const struct sc_h5_element *element = sc_h5_element_find(dataset);

    return element != NULL ? sc_h5_element_bytes(element) : 0;
}

struct column {
    const struct sc_h5_element *element;
    hid_t dataset, type, space; /* negative: not open */
};

struct sc_h5rows {
    const struct sc_h5api *h5;
    const char *path;
    const struct sc_h5_table *tables;
    size_t table_count;
    struct column *columns; /* of all tables, one after the other */
    size_t column_count;
    void **out;   /* the columns of the table being written */
    char *buffer; /* their rows */
};

static size_t table_window(const struct sc_h5_table *t)
{
    return t->count < t->window ? (size_t)t->count : t->window;
}

/* Columns begin at multiples of 16. */
static size_t column_bytes(const struct sc_h5_table *t, const struct column *column)
{
    return (table_window(t) * sc_h5_element_bytes(column->element) + 15) & ~(size_t)15;
}

static int set_columns(struct sc_h5rows *rows, size_t *bytes, size_t *columns)
{
    struct column *column = rows->columns;

    for (size_t i = 0; i < rows->table_count; i++) {
        const struct sc_h5_table *t = &rows->tables[i];
        size_t sum = 0;

        for (size_t c = 0; c < t->columns; c++, column++) {
            *column = (struct column){.dataset = -1, .type = -1, .space = -1};
            column->element = sc_h5_element_find(t->datasets[c]);
            if (column->element == NULL)
                return sc_fail(SC_EINVAL, "%s: not a dataset of rows", t->datasets[c]);
            sum += column_bytes(t, column);
        }
        *bytes = sum > *bytes ? sum : *bytes;
        *columns = t->columns > *columns ? t->columns : *columns;
    }
    return 0;
}

int sc_h5rows_create(const char *path, const struct sc_h5_table *tables, size_t count,
                     struct sc_h5rows **out)
{
    struct sc_h5rows *rows = calloc(1, sizeof(*rows));
    size_t bytes = 1, columns = 1;
    int rc = SC_ENOMEM;

    if (rows == NULL)
        return sc_fail(rc, "out of memory for the rows of the profile");
    rows->path = path;
    rows->tables = tables;
    rows->table_count = count;
    for (size_t i = 0; i < count; i++)
        rows->column_count += tables[i].columns;
    rows->columns = calloc(rows->column_count + 1, sizeof(*rows->columns));
    if (rows->columns == NULL)
        goto out;
    rc = set_columns(rows, &bytes, &columns);
    if (rc != 0)
        goto out;
    rows->out = malloc(columns * sizeof(*rows->out));
    rows->buffer = malloc(bytes);
    rc = rows->out == NULL || rows->buffer == NULL ? SC_ENOMEM : 0;
out:
    if (rc == SC_ENOMEM)
        sc_fail(rc, "out of memory for the rows of the profile");
    if (rc != 0)
        sc_h5rows_free(rows);
    else
        *out = rows;
    return rc;
}

void sc_h5rows_free(struct sc_h5rows *rows)
{
    if (rows == NULL)
        return;
    free(rows->columns);
    free(rows->out);
    free(rows->buffer);
    free(rows);
}

static int open_column(struct sc_h5rows *rows, struct column *column, const char *dataset,
                       hid_t file, hid_t access)
{
    const struct sc_h5api *h5 = rows->h5;

    column->dataset = h5->H5Dopen2(file, dataset, access);
    if (column->dataset < 0)
        return sc_h5_fail(h5, SC_EIO, "%s: %s", rows->path, dataset);
    column->space = h5->H5Dget_space(column->dataset);
    column->type = sc_h5_element_type(h5, column->element);
    if (column->space < 0 || column->type < 0)
        return sc_h5_fail(h5, SC_EIO, "%s: %s", rows->path, dataset);
    return 0;
}

int sc_h5rows_open(struct sc_h5rows *rows, const struct sc_h5api *h5, hid_t file, hid_t access)
{
    size_t next = 0;
    int rc = 0;

    rows->h5 = h5;
    for (size_t i = 0; i < rows->table_count; i++)
        for (size_t c = 0; c < rows->tables[i].columns; c++, next++) {
            int one =
                open_column(rows, &rows->columns[next], rows->tables[i].datasets[c], file, access);

            rc = rc != 0 ? rc : one;
        }
    return rc;
}

static void set_out(struct sc_h5rows *rows, const struct sc_h5_table *t,
                    const struct column *columns)
{
    size_t offset = 0;

    for (size_t c = 0; c < t->columns; c++) {
        rows->out[c] = rows->buffer + offset;
        offset += column_bytes(t, &columns[c]);
    }
}

/* Rows [row, row + n) of this process are in rows->out; n may be 0. All columns are written,
 * whatever fails: other processes may take part. */
static int write_columns(const struct sc_h5rows *rows, const struct sc_h5_table *t,
                         const struct column *columns, uint64_t row, size_t n, hid_t transfer)
{
    const struct sc_h5api *h5 = rows->h5;
    hsize_t start = t->first + row, length = n;
    hid_t memory = h5->H5Screate_simple(1, &length, NULL);
    int rc = 0;

    if (n == 0)
        h5->H5Sselect_none(memory);
    for (size_t c = 0; c < t->columns; c++) {
        hid_t space = columns[c].space;

        if (n == 0)
            h5->H5Sselect_none(space);
        else
            h5->H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, NULL, &length, NULL);
        if (h5->H5Dwrite(columns[c].dataset, columns[c].type, memory, space, transfer,
                         rows->out[c]) < 0 &&
            rc == 0)
            rc = sc_h5_fail(h5, SC_EIO, "%s: %s", rows->path, t->datasets[c]);
    }
    h5->H5Sclose(memory);
    return rc;
}

/* The most rows that remain and fit a window. */
static size_t rows_at(const struct sc_h5_table *t, uint64_t row)
{
    return t->count - row < table_window(t) ? (size_t)(t->count - row) : table_window(t);
}

static int write_table(struct sc_h5rows *rows, const struct sc_h5_table *t,
                       const struct column *columns)
{
    int rc = 0;

    for (uint64_t row = 0; rc == 0 && row < t->count; row += table_window(t)) {
        size_t n = rows_at(t, row);

        t->fill(t->context, row, n, rows->out);
        rc = write_columns(rows, t, columns, row, n, H5P_DEFAULT);
    }
    return rc;
}

int sc_h5rows_write(struct sc_h5rows *rows)
{
    const struct column *columns = rows->columns;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < rows->table_count; i++) {
        set_out(rows, &rows->tables[i], columns);
        rc = write_table(rows, &rows->tables[i], columns);
        columns += rows->tables[i].columns;
    }
    return rc;
}

uint64_t sc_h5_table_rounds(const struct sc_h5_table *t)
{
    return t->count / t->window + (t->count % t->window != 0);
}

static int write_table_together(struct sc_h5rows *rows, const struct sc_h5_table *t,
                                const struct column *columns, const struct sc_h5_together *together,
                                uint64_t rounds, int rc)
{
    uint64_t row = 0;

    for (uint64_t round = 0; round < rounds; round++) {
        size_t n = rows_at(t, row);

        if (n > 0)
            t->fill(t->context, row, n, rows->out);
        rc = together->agree(rc);
        if (rc != 0)
            break;
        rc = write_columns(rows, t, columns, row, n, together->transfer);
        row += n;
    }
    return rc;
}

int sc_h5rows_write_together(struct sc_h5rows *rows, const struct sc_h5_together *together)
{
    const struct column *columns = rows->columns;
    int rc = 0;

    for (size_t i = 0; i < rows->table_count; i++) {
        set_out(rows, &rows->tables[i], columns);
        rc = write_table_together(rows, &rows->tables[i], columns, together, together->rounds[i],
                                  rc);
        columns += rows->tables[i].columns;
    }
    return rc;
}

void sc_h5rows_close(struct sc_h5rows *rows)
{
    const struct sc_h5api *h5 = rows->h5;

    for (size_t i = 0; i < rows->column_count; i++) {
        struct column *column = &rows->columns[i];

        if (column->type >= 0)
            h5->H5Tclose(column->type);
        if (column->space >= 0)
            h5->H5Sclose(column->space);
        if (column->dataset >= 0)
            h5->H5Dclose(column->dataset);
        column->type = column->space = column->dataset = -1;
    }
}

int sc_h5rows_put(struct sc_h5rows *rows, const struct sc_h5api *h5)
{
    struct sc_h5_printing printing;
    struct sc_h5file file;
    int rc;

    sc_h5_quiet(h5, &printing);
    rc = sc_h5file_open(h5, rows->path, &file);
    if (rc == 0) {
        rc = sc_h5rows_open(rows, h5, file.id, H5P_DEFAULT);
        if (rc == 0)
            rc = sc_h5rows_write(rows);
        sc_h5rows_close(rows);
        rc = sc_h5file_close(&file, rc);
    }
    sc_h5_restore(h5, &printing);
    return rc;
}
