/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * h5rows: the rows that one process puts into a profile file, window by window. Making room,
 * opening, writing and closing are steps of their own so that processes that share the file can
 * agree in between. One thread.
 */
#ifndef SC_H5ROWS_H
#define SC_H5ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "h5api.h"

/* A set of row datasets that share their row numbers. This process owns rows [first, first +
 * count). */
struct sc_h5_table {
    const char *const *datasets; /* [columns] names of layout.h; the type follows from the name */
    size_t columns;
    uint64_t first, count;
    /* Puts rows [row, row + n) counted from this process's first into out[column] (room for n
     * elements of the dataset's memory type each). */
    void (*fill)(void *context, uint64_t row, size_t n, void *const *out);
    void *context;
    size_t window; /* most rows asked for at once, above 0 */
};

/* Bytes of one element of that dataset in memory; 0: no dataset of layout.h that has rows. */
size_t sc_h5_element_size(const char *dataset);

/* Memory for the largest window of all tables (lent until freed): nothing later can run out of it.
 * 0 or SC_ENOMEM, SC_EINVAL for a dataset without rows. */
struct sc_h5rows;
int sc_h5rows_create(const char *path, const struct sc_h5_table *tables, size_t count,
                     struct sc_h5rows **out);
void sc_h5rows_free(struct sc_h5rows *rows);

/* Opens the datasets: the same ones in the same order in every process, with or without rows,
 * whatever fails. access: dataset access list or 0. 0 or SC_EIO. */
int sc_h5rows_open(struct sc_h5rows *rows, const struct sc_h5api *h5, hid_t file, hid_t access);
void sc_h5rows_close(struct sc_h5rows *rows);

/* Writes all rows, up to the first failure. No process waits for another in here. 0 or SC_EIO. */
int sc_h5rows_write(struct sc_h5rows *rows);

/* All of that alone: the rows go into the file they were created for. 0 or SC_EIO. */
int sc_h5rows_put(struct sc_h5rows *rows, const struct sc_h5api *h5);

/* Windows that a process needs for its rows of a table. */
uint64_t sc_h5_table_rounds(const struct sc_h5_table *t);

/* How processes that share the file write at the same time. */
struct sc_h5_together {
    hid_t transfer;         /* transfer list of every write */
    const uint64_t *rounds; /* [tables] the most windows that any process needs */
    int (*agree)(int rc); /* Collective. Before each round: this one's status in, that of all out */
};

/* Collective among them. Writes all rows; each process takes part in every round, with no rows once
 * it has none left, up to the round before which all agree on a failure. 0 or a status, maybe this
 * one's alone. */
int sc_h5rows_write_together(struct sc_h5rows *rows, const struct sc_h5_together *together);

#endif
