/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Both writers, on several ranks: the same bytes, and a rank that fails is told by all and keeps
 * none waiting.
 */
#include <mpi.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profile.h"
#include "world.h"
#include "write_collective.h"
#include "write_token.h"

typedef int writer(const char *path, const struct sc_h5_table *tables, size_t count);

static const struct {
    const char *name;
    writer *write;
} writers[] = {{"token", sc_write_token}, {"collective", sc_write_collective}};

static struct profile run;
static int failures;

static void expect(int good, const char *what, const char *writer_name, int bad_rank)
{
    if (!good) {
        failures++;
        printf("rank %d: %s (%s, rank %d fails): %s\n", sc_world_rank(), what, writer_name,
               bad_rank, sc_last_error());
        fflush(stdout);
    }
}

/* Collective. */
static int make_skeleton(const char *path)
{
    int rc = 0;

    if (sc_world_rank() == 0) {
        unlink(path);
        rc = sc_h5write_skeleton(path, &run.skeleton);
    }
    return sc_agree(rc);
}

static void limit_file_size(rlim_t bytes)
{
    struct rlimit limit;

    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = bytes;
    setrlimit(RLIMIT_FSIZE, &limit);
}

static int same_bytes(const char *one, const char *two)
{
    char command[200];

    snprintf(command, sizeof(command), "cmp %s %s", one, two);
    return system(command) == 0;
}

/* ---- what works ---- */

static void both_write_the_same_file(uint64_t events, uint64_t chunk, size_t window)
{
    struct profile_rows rows;

    profile_make(&run, (uint32_t)sc_world_size(), events, chunk);
    for (size_t i = 0; i < 2; i++) {
        profile_rank(&run, (uint32_t)sc_world_rank(), window, &rows);
        expect(make_skeleton(writers[i].name) == 0, "skeleton", writers[i].name, -1);
        expect(writers[i].write(writers[i].name, rows.tables, TABLES) == 0, "write",
               writers[i].name, -1);
        expect(rows.parts[1].largest <= window, "window", writers[i].name, -1);
        if (sc_world_rank() == 0)
            expect(profile_check_all(writers[i].name, &run), "rows", writers[i].name, -1);
    }
    PMPI_Barrier(sc_world_comm());
    if (sc_world_rank() == 0)
        expect(same_bytes("token", "collective"), "bytes", "both", -1);
    PMPI_Barrier(sc_world_comm());
}

/* ---- what fails, on one rank ---- */

static void profile_fill_then_limit(void *context, uint64_t row, size_t n, void *const *out)
{
    profile_fill(context, row, n, out);
    if (row > 0)
        limit_file_size(4096);
}

static void limit_before(struct profile_rows *rows, const char **path)
{
    (void)rows, (void)path;
    limit_file_size(4096);
}

/* After the checks that come before writing. */
static void limit_between_windows(struct profile_rows *rows, const char **path)
{
    (void)path;
    for (size_t i = 0; i < TABLES; i++)
        rows->tables[i].fill = profile_fill_then_limit;
}

static void no_such_file(struct profile_rows *rows, const char **path)
{
    (void)rows;
    *path = "nowhere/profile.h5";
}

static void no_such_dataset(struct profile_rows *rows, const char **path)
{
    static const char *const names[] = {"/no/such"};

    (void)path;
    rows->tables[0].datasets = names;
    rows->tables[0].columns = 1;
}

static const struct {
    void (*spoil)(struct profile_rows *rows, const char **path);
    int status;
    const char *message;
} faults[] = {
    {limit_before, SC_EIO, "File too large"},
    {limit_between_windows, SC_EIO, ""},
    {no_such_file, SC_EIO, "nowhere/profile.h5: No such file or directory"},
    {no_such_dataset, SC_EINVAL, "/no/such"},
};

static void all_ranks_learn_of_a_failure(size_t w, size_t f, int bad)
{
    const char *path = "failing";
    struct profile_rows rows;
    int rc;

    expect(make_skeleton(path) == 0, "skeleton", writers[w].name, bad);
    profile_rank(&run, (uint32_t)sc_world_rank(), 100, &rows);
    if (sc_world_rank() == bad)
        faults[f].spoil(&rows, &path);
    rc = writers[w].write(path, rows.tables, TABLES);
    limit_file_size(RLIM_INFINITY);
    expect(rc == faults[f].status, "status", writers[w].name, bad);
    expect(strstr(sc_last_error(), faults[f].message) != NULL, "message", writers[w].name, bad);
}

int main(int argc, char **argv)
{
    int all;

    PMPI_Init(&argc, &argv);
    sc_world_open();
    expect(sc_write_collective_missing() == NULL, "parallel HDF5", "collective", -1);
    both_write_the_same_file(1000, 0, 300);
    both_write_the_same_file(1000, 128, 300);
    both_write_the_same_file(0, 0, 1);
    profile_make(&run, (uint32_t)sc_world_size(), 1000, 0);
    for (size_t w = 0; w < 2; w++)
        for (size_t f = 0; f < sizeof(faults) / sizeof(faults[0]); f++)
            for (int bad = 0; bad < sc_world_size(); bad++)
                if (run.events[bad] > 0)
                    all_ranks_learn_of_a_failure(w, f, bad);
    both_write_the_same_file(1000, 0, 300); /* no failure spoils the next file */
    PMPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, sc_world_comm());
    sc_world_close();
    PMPI_Finalize();
    return all != 0;
}
