/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * counts PROFILE TRUTH RANKS calls|stats: whether the profile holds every call that had returned,
 * once, and at most the one under way beside them; a line for each that is not so, exit status 1.
 * On a line of its own, before these, what the profile says of its end.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope_read.h"
#include "truth.h"

static const char *const names[] = {
#define X(kind, name) [TRUTH_##kind] = name,
    TRUTH_KINDS(X)
#undef X
};

static scope_reader *reader;
static scope_read_size sizes;
static struct truth *truth;
static uint64_t rows[TRUTH_RANKS][TRUTH_COUNT];    /* of events, by region */
static uint64_t calls[TRUTH_RANKS][TRUTH_COUNT];   /* of the MPI totals */
static uint64_t bytes[TRUTH_RANKS][TRUTH_COUNT];   /* that were sent */
static uint64_t on_path[TRUTH_RANKS][TRUTH_COUNT]; /* of the paths' statistics */
static int failures;

#define FAIL(...) (failures++, printf(__VA_ARGS__))

static void must(int rc)
{
    if (rc == 0)
        return;
    printf("%s\n", scope_last_error());
    exit(1);
}

/* TRUTH_COUNT: a region there should not be. */
static enum truth_kind kind_of(uint32_t region)
{
    scope_text name = scope_read_region(reader, region);
    int k = 0;

    while (k < TRUTH_LEAVE && strcmp(names[k], name.data) != 0)
        k++;
    return k < TRUTH_LEAVE ? (enum truth_kind)k : TRUTH_COUNT;
}

static void add(uint64_t table[TRUTH_RANKS][TRUTH_COUNT], uint32_t rank, uint32_t region,
                uint64_t count)
{
    enum truth_kind k = kind_of(region);

    if (rank >= TRUTH_RANKS || (k == TRUTH_COUNT && count > 0))
        FAIL("rank %u: %lu of %s\n", rank, (unsigned long)count,
             scope_read_region(reader, region).data);
    else if (k != TRUTH_COUNT)
        table[rank][k] += count;
}

static uint32_t region_of(uint32_t path)
{
    scope_path_row row;

    must(scope_read_paths(reader, path, 1, &row));
    return row.region;
}

static void read_profile(void)
{
    scope_slice slice;
    scope_mpi_total_row total;
    scope_path_stats_row stats;

    for (uint64_t i = 0; i < sizes.slices; i++) {
        must(scope_read_slices(reader, i, 1, &slice));
        add(rows, slice.rank, slice.region, slice.events);
    }
    for (uint64_t i = 0; i < sizes.mpi_totals; i++) {
        must(scope_read_mpi_totals(reader, i, 1, &total));
        add(calls, total.rank, region_of(total.path), total.calls);
        add(bytes, total.rank, region_of(total.path), total.bytes_sent);
    }
    for (uint64_t i = 0; i < sizes.path_stats; i++) {
        must(scope_read_path_stats(reader, i, 1, &stats));
        add(on_path, stats.rank, region_of(stats.path), stats.calls);
    }
}

/* Between what had certainly returned and what had begun. */
static void bounds(int rank, int kind, uint64_t *least, uint64_t *most)
{
    const struct truth_rank *r = &truth->rank[rank];

    *least = *most = 0;
    for (int t = 0; t < TRUTH_THREADS; t++) {
        *least += r->has_floor ? r->floor[t][kind] : r->calls[t][kind].done;
        *most += r->calls[t][kind].begun;
    }
}

static void check(int rank, int kind, const char *what, uint64_t found)
{
    uint64_t least, most;

    bounds(rank, kind, &least, &most);
    if (found < least || found > most)
        FAIL("rank %d: %s: %s %lu, not %lu to %lu\n", rank, names[kind], what, (unsigned long)found,
             (unsigned long)least, (unsigned long)most);
}

static void check_rank(int rank, bool keeps_calls)
{
    const int sending[] = {TRUTH_SENDRECV, TRUTH_ISEND};
    uint64_t least, most, left_least, left_most, entered_least = 0, entered_most = 0;
    scope_rank_row row;

    for (int k = 0; k < TRUTH_LEAVE; k++) {
        const bool is_query = k == TRUTH_COMM_RANK || k == TRUTH_IPROBE;

        if (k < TRUTH_REGIONS || (keeps_calls && !is_query))
            check(rank, k, "rows", rows[rank][k]);
        if (k >= TRUTH_REGIONS)
            check(rank, k, "in totals", calls[rank][k]);
        check(rank, k, "on paths", on_path[rank][k]);
        if (k < TRUTH_REGIONS) {
            bounds(rank, k, &least, &most);
            entered_least += least;
            entered_most += most;
        }
    }
    must(scope_read_ranks(reader, (uint64_t)rank, 1, &row));
    bounds(rank, TRUTH_LEAVE, &left_least, &left_most);
    if (row.unfinished + left_most < entered_least || row.unfinished + left_least > entered_most)
        FAIL("rank %d: %lu regions were open\n", rank, (unsigned long)row.unfinished);
    if (row.lost > 0 || row.unmatched > 0 || row.crossed > 0)
        FAIL("rank %d: %lu lost, %lu unmatched, %lu crossed\n", rank, (unsigned long)row.lost,
             (unsigned long)row.unmatched, (unsigned long)row.crossed);
    for (size_t i = 0; i < sizeof sending / sizeof *sending; i++)
        if (bytes[rank][sending[i]] % TRUTH_BYTES != 0 ||
            bytes[rank][sending[i]] / TRUTH_BYTES > calls[rank][sending[i]])
            FAIL("rank %d: %s: %lu bytes\n", rank, names[sending[i]],
                 (unsigned long)bytes[rank][sending[i]]);
}

static void print_end(void)
{
    const scope_metadata *m = scope_read_metadata_find(reader, "incomplete");

    printf("%s\n", m == NULL || m->texts == NULL ? "complete" : m->texts[0].data);
}

int main(int argc, char **argv)
{
    int ranks = argc == 5 ? atoi(argv[3]) : 0;

    if (ranks < 1 || (truth = truth_map(argv[2])) == NULL)
        return 2;
    must(scope_read_open(argv[1], &reader));
    scope_read_sizes(reader, &sizes);
    print_end();
    if (sizes.ranks != (uint64_t)ranks)
        FAIL("%lu ranks, not %d\n", (unsigned long)sizes.ranks, ranks);
    read_profile();
    for (int i = 0; i < ranks && failures == 0; i++)
        check_rank(i, strcmp(argv[4], "calls") == 0);
    scope_read_close(reader);
    return failures > 0;
}
