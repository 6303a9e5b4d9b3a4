/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi_table.h"

#include <stdlib.h>
#include <string.h>

#include "inspect.h"

/* ---- files and windows ---- */

enum {
    O_ID,
    O_KIND,
    O_NAME,
    O_COMM,
    O_COMM_NAME,
    O_OPENS,
    O_OPERATIONS,
    O_READ,
    O_WRITTEN,
    O_TOTAL,
    O_WAITED,
    O_CALLS
};

/* clang-format off */
static const struct grid_column object_columns[] = {
    [O_ID] = {"id", "id", NULL, GRID_NUMBER, KEY_ID, 0, 0},
    [O_KIND] = {"kind", "kind", NULL, GRID_TEXT, GRID_KEY, 0, 0},
    [O_NAME] = {"name", "name", NULL, GRID_TEXT, GRID_KEY, 0, 48},
    [O_COMM] = {"communicator", "comm", NULL, GRID_NUMBER, KEY_ID, 0, 0},
    [O_COMM_NAME] = {"comm", "communicator", NULL, GRID_TEXT, GRID_PEOPLE | GRID_CHOICE, 0, 20},
    [O_OPENS] = {"opens", "opens", NULL, GRID_COUNT, GRID_USUAL, 0, 0},
    [O_OPERATIONS] = {"operations", "operations", NULL, GRID_COUNT, GRID_USUAL, 0, 0},
    [O_READ] = {"read", "read", "bytes_read", GRID_BYTES, GRID_USUAL, 0, 0},
    [O_WRITTEN] = {"written", "written", "bytes_written", GRID_BYTES, GRID_USUAL, 0, 0},
    [O_TOTAL] = {"total", "total", NULL, GRID_TIME, GRID_USUAL, 0, 0},
    [O_WAITED] = {"waited", "waited", NULL, GRID_TIME, IF_FOUND, 0, 0},
    [O_CALLS] = {"calls", "calls", NULL, GRID_COUNT, EXTRA, 0, 0},
};
/* clang-format on */

struct grid *mpi_objects_create(void)
{
    return grid_create(object_columns, GRID_LENGTH(object_columns), 1);
}

/* All calls on one object. */
struct object_sum {
    struct mpi_group all;
    uint64_t opens, operations;
};

static bool begins(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool is_open(const char *name)
{
    return begins(name, "MPI_File_open") || begins(name, "MPI_Win_create") ||
           begins(name, "MPI_Win_allocate");
}

/* Reads, writes and what touches a window's memory; a split one is counted where it begins. */
static bool is_operation(const char *name)
{
    if (begins(name, "MPI_File_"))
        return (strstr(name, "read") != NULL || strstr(name, "write") != NULL) &&
               strstr(name, "_end") == NULL;
    return !begins(name, "MPI_Win_");
}

static struct object_sum *sum_objects(const struct profile *p)
{
    struct object_sum *sums = cli_alloc((size_t)p->size.objects, sizeof *sums);
    struct mpi_groups groups;

    mpi_groups_read(p, MPI_BY_OBJECT, &groups);
    for (size_t i = 0; i < groups.count; i++) {
        const struct mpi_group *m = &groups.list[i];
        const char *name = scope_read_region(p->reader, m->region).data;
        struct object_sum *sum = m->key >= 0 ? &sums[m->key] : NULL;

        if (sum == NULL)
            continue;
        mpi_group_add(&sum->all, m);
        if (is_open(name))
            sum->opens = cli_add_count(sum->opens, m->calls);
        else if (is_operation(name))
            sum->operations = cli_add_count(sum->operations, m->calls);
    }
    mpi_groups_free(&groups);
    return sums;
}

void mpi_objects_fill(struct grid *g, const struct profile *p, const struct cli_globs *globs)
{
    struct object_sum *sums = sum_objects(p);

    for (uint64_t i = 0; i < p->size.objects; i++) {
        scope_object_row row;
        scope_text name;
        bool is_file;

        cli_check(scope_read_objects(p->reader, i, 1, &row));
        cli_check(scope_read_object_name(p->reader, i, &name));
        is_file = row.kind == SCOPE_OBJECT_FILE;
        if (!cli_globs_match(globs, name.data))
            continue;
        grid_row(g);
        grid_count(g, O_ID, i);
        grid_text(g, O_KIND, is_file ? "file" : "window", is_file ? 4 : 6);
        grid_text(g, O_NAME, name.data, name.length);
        if (row.communicator >= 0)
            grid_set(g, O_COMM, row.communicator);
        mpi_set_comm_name(g, O_COMM_NAME, p, row.communicator);
        grid_count(g, O_OPENS, sums[i].opens);
        grid_count(g, O_OPERATIONS, sums[i].operations);
        grid_count(g, O_READ, sums[i].all.bytes_received);
        grid_count(g, O_WRITTEN, sums[i].all.bytes_sent);
        grid_set(g, O_TOTAL, sums[i].all.total);
        if (sums[i].all.await > 0 || sums[i].all.in_flight > 0)
            grid_set(g, O_WAITED, sums[i].all.await);
        grid_count(g, O_CALLS, sums[i].all.calls);
    }
    free(sums);
}

/* ---- communicators ---- */

enum {
    C_ID,
    C_NAME,
    C_SIZE,
    C_REMOTE_SIZE,
    C_PARENT,
    C_CALLS,
    C_TOTAL,
    C_SENT,
    C_RECEIVED,
    C_RANKS,
    C_REMOTE_RANKS
};

/* clang-format off */
static const struct grid_column comm_columns[] = {
    [C_ID] = {"id", "id", NULL, GRID_NUMBER, GRID_KEY, 0, 0},
    [C_NAME] = {"name", "name", NULL, GRID_TEXT, GRID_KEY, 0, 0},
    [C_SIZE] = {"size", "size", NULL, GRID_COUNT, GRID_USUAL, 0, 0},
    [C_REMOTE_SIZE] = {"remote_size", "remote", NULL, GRID_COUNT, IF_FOUND, 0, 0},
    [C_PARENT] = {"parent", "parent", NULL, GRID_NUMBER, GRID_USUAL | GRID_NULL, 0, 0},
    [C_CALLS] = {"calls", "calls", NULL, GRID_COUNT, IF_FOUND, 0, 0},
    [C_TOTAL] = {"total", "total", NULL, GRID_TIME, IF_FOUND, 0, 0},
    [C_SENT] = {"sent", "sent", "bytes_sent", GRID_BYTES, IF_FOUND, 0, 0},
    [C_RECEIVED] = {"received", "received", "bytes_received", GRID_BYTES, IF_FOUND, 0, 0},
    [C_RANKS] = {"ranks", "ranks", NULL, GRID_TEXT, GRID_USUAL, 0, 0},
    [C_REMOTE_RANKS] = {"remote_ranks", "remote ranks", NULL, GRID_TEXT, IF_FOUND, 0, 0},
};
/* clang-format on */

struct grid *mpi_comms_create(void)
{
    return grid_create(comm_columns, GRID_LENGTH(comm_columns), 1);
}

static struct mpi_group *sum_comms(const struct profile *p)
{
    struct mpi_group *sums = cli_alloc((size_t)p->size.communicators, sizeof *sums);
    struct mpi_groups groups;

    mpi_groups_read(p, MPI_BY_COMMUNICATOR, &groups);
    for (size_t i = 0; i < groups.count; i++)
        if (groups.list[i].key >= 0)
            mpi_group_add(&sums[groups.list[i].key], &groups.list[i]);
    mpi_groups_free(&groups);
    return sums;
}

static void set_members(struct grid *g, size_t column, const struct profile *p, uint64_t first,
                        uint64_t runs, size_t limit)
{
    struct sc_string ranks = {0};

    cli_append(&ranks, "", 0);
    inspect_members(p, first, runs, limit, &ranks);
    grid_text(g, column, ranks.data, ranks.length);
    sc_string_free(&ranks);
}

void mpi_comms_fill(struct grid *g, const struct profile *p, uint64_t count, size_t limit)
{
    struct mpi_group *sums = sum_comms(p);

    for (uint64_t i = 0; i < count; i++) {
        scope_comm_row c;

        cli_check(scope_read_comms(p->reader, i, 1, &c));
        grid_row(g);
        grid_count(g, C_ID, i);
        mpi_set_comm_name(g, C_NAME, p, (int64_t)i);
        grid_count(g, C_SIZE, c.size);
        grid_count(g, C_REMOTE_SIZE, c.remote_size);
        if (c.parent >= 0)
            grid_set(g, C_PARENT, c.parent);
        grid_count(g, C_CALLS, sums[i].calls);
        grid_set(g, C_TOTAL, sums[i].total);
        grid_count(g, C_SENT, sums[i].bytes_sent);
        grid_count(g, C_RECEIVED, sums[i].bytes_received);
        set_members(g, C_RANKS, p, c.first_run, c.runs, limit);
        if (c.remote_size > 0)
            set_members(g, C_REMOTE_RANKS, p, c.remote_first_run, c.remote_runs, limit);
    }
    free(sums);
}
