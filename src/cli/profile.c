/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "profile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define BLOCK 4096 /* rows read at once */

static uint64_t block_size(uint64_t rows, uint64_t first)
{
    return rows - first < BLOCK ? rows - first : BLOCK;
}

/* ---- statistics over ranks ---- */

static struct profile_stat *new_stats(uint64_t count)
{
    struct profile_stat *s = cli_alloc((size_t)count, sizeof *s);

    for (uint64_t i = 0; i < count; i++)
        s[i] = (struct profile_stat){.min_rank = PROFILE_NO_RANK, .max_rank = PROFILE_NO_RANK};
    return s;
}

/* Adds what one rank has of it. */
static void add_rank(const struct profile *p, struct profile_stat *s,
                     const scope_path_stats_row *row)
{
    bool first = s->ranks == 0;

    if (row->rank == cli_ranks_next(p->ranks, s->next_rank))
        s->next_rank = (uint64_t)row->rank + 1;
    if (first || row->total < s->rank_min ||
        (row->total == s->rank_min && row->rank < s->min_rank)) {
        s->rank_min = row->total;
        s->min_rank = row->rank;
    }
    if (first || row->total > s->rank_max ||
        (row->total == s->rank_max && row->rank < s->max_rank)) {
        s->rank_max = row->total;
        s->max_rank = row->rank;
    }
    s->call_min = first || row->minimum < s->call_min ? row->minimum : s->call_min;
    s->call_max = first || row->maximum > s->call_max ? row->maximum : s->call_max;
    s->calls = cli_add_count(s->calls, row->calls);
    s->total = cli_add(s->total, row->total);
    s->exclusive =
        s->exclusive < 0 || row->exclusive < 0 ? -1 : cli_add(s->exclusive, row->exclusive);
    s->ranks++;
}

/* Ranks that lack it have spent 0 ns in it. Which is the lowest of them is known if rows came by
 * rank. */
static void close_stats(const struct profile *p, struct profile_stat *s, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (s[i].ranks > 0 && s[i].ranks < p->rank_count) {
            uint64_t absent = cli_ranks_next(p->ranks, s[i].next_rank);

            s[i].rank_min = 0;
            s[i].min_rank = absent < p->size.ranks ? absent : PROFILE_NO_RANK;
        }
}

static void read_paths(struct profile *p)
{
    scope_path_stats_row *rows = cli_alloc(BLOCK, sizeof *rows);

    p->paths = cli_alloc((size_t)p->size.paths, sizeof *p->paths);
    cli_check(scope_read_paths(p->reader, 0, (size_t)p->size.paths, p->paths));
    p->path_stats = new_stats(p->size.paths);
    for (uint64_t first = 0; first < p->size.path_stats; first += BLOCK) {
        uint64_t n = block_size(p->size.path_stats, first);

        cli_check(scope_read_path_stats(p->reader, first, (size_t)n, rows));
        for (uint64_t i = 0; i < n; i++)
            if (cli_ranks_has(p->ranks, rows[i].rank))
                add_rank(p, &p->path_stats[rows[i].path], &rows[i]);
    }
    close_stats(p, p->path_stats, p->size.paths);
    free(rows);
}

static void read_regions(struct profile *p)
{
    scope_slice *slices = cli_alloc(BLOCK, sizeof *slices);
    int64_t start = INT64_MAX, end = INT64_MIN;

    p->regions = new_stats(p->size.regions);
    p->region_rows = cli_alloc((size_t)p->size.regions, sizeof *p->region_rows);
    for (uint64_t i = 0; i < p->size.regions; i++)
        p->region_rows[i] = UINT64_MAX;
    for (uint64_t first = 0; first < p->size.slices; first += BLOCK) {
        uint64_t n = block_size(p->size.slices, first);

        cli_check(scope_read_slices(p->reader, first, (size_t)n, slices));
        for (uint64_t i = 0; i < n; i++) {
            const scope_slice *s = &slices[i];
            const scope_path_stats_row row = {s->rank,      s->region,  s->events, s->total,
                                              s->exclusive, s->minimum, s->maximum};

            if (p->region_rows[s->region] == UINT64_MAX)
                p->region_rows[s->region] = s->row;
            if (!cli_ranks_has(p->ranks, s->rank) || s->events == 0)
                continue;
            add_rank(p, &p->regions[s->region], &row);
            start = s->start_minimum < start ? s->start_minimum : start;
            end = s->end_maximum > end ? s->end_maximum : end;
        }
    }
    close_stats(p, p->regions, p->size.regions);
    free(slices);
    if (p->size.rank_rows == 0 &&
        start <= end) { /* no rank table: from the first event to the last */
        p->totals.start_ns = start;
        p->totals.end_ns = end;
    }
}

/* ---- the rank table ---- */

static void add_mpi(struct profile_totals *t, const scope_rank_row *row, uint64_t rank)
{
    if (t->mpi_min_rank == PROFILE_NO_RANK || row->mpi_main_ns < t->mpi_min) {
        t->mpi_min = row->mpi_main_ns;
        t->mpi_min_rank = rank;
    }
    if (t->mpi_max_rank == PROFILE_NO_RANK || row->mpi_main_ns > t->mpi_max) {
        t->mpi_max = row->mpi_main_ns;
        t->mpi_max_rank = rank;
    }
    t->mpi_ns = cli_add(t->mpi_ns, row->mpi_main_ns);
}

static void add_counts(struct profile_totals *t, const scope_rank_row *row)
{
    t->events = cli_add_count(t->events, row->events);
    t->mpi_events = cli_add_count(t->mpi_events, row->mpi_events);
    t->mpi_calls = cli_add_count(t->mpi_calls, row->mpi_calls);
    t->lost = cli_add_count(t->lost, row->lost);
    t->paused = cli_add_count(t->paused, row->paused);
    t->unmatched = cli_add_count(t->unmatched, row->unmatched);
    t->unfinished = cli_add_count(t->unfinished, row->unfinished);
    t->crossed = cli_add_count(t->crossed, row->crossed);
    t->own_ns = cli_add(t->own_ns,
                        cli_add(row->own_event_ns, cli_add(row->own_mpi_ns, row->own_memory_ns)));
}

static void add_rank_row(struct profile_totals *t, const scope_rank_row *row, uint64_t rank)
{
    bool first = t->recorded == 0;

    if (row->end_ns <= row->start_ns) /* nothing was recorded there */
        return;
    t->recorded++;
    t->start_ns = first || row->start_ns < t->start_ns ? row->start_ns : t->start_ns;
    t->end_ns = first || row->end_ns > t->end_ns ? row->end_ns : t->end_ns;
    t->threads_min = first || row->threads < t->threads_min ? row->threads : t->threads_min;
    t->threads_max = row->threads > t->threads_max ? row->threads : t->threads_max;
    t->thread_level = row->thread_level > t->thread_level ? row->thread_level : t->thread_level;
    if (row->memory_bytes > t->memory_max) {
        t->memory_max = row->memory_bytes;
        t->memory_max_rank = rank;
    }
    if (row->thread_level >= 0)
        add_mpi(t, row, rank);
    add_counts(t, row);
}

static void read_ranks(struct profile *p)
{
    scope_rank_row *rows = cli_alloc(BLOCK, sizeof *rows);

    p->totals.mpi_min_rank = p->totals.mpi_max_rank = PROFILE_NO_RANK;
    p->totals.thread_level = -1;
    for (uint64_t first = 0; first < p->size.rank_rows; first += BLOCK) {
        uint64_t n = block_size(p->size.rank_rows, first);

        cli_check(scope_read_ranks(p->reader, first, (size_t)n, rows));
        for (uint64_t i = 0; i < n; i++)
            if (cli_ranks_has(p->ranks, first + i))
                add_rank_row(&p->totals, &rows[i], first + i);
    }
    free(rows);
}

/* A run that did not end has no profile, but maybe left what one can be made of. */
static void die_if_unfinished(const char *path)
{
    struct sc_string beside = {0};
    struct stat info;

    if (stat(path, &info) == 0 || errno != ENOENT)
        return;
    cli_text(&beside, "%s.salvage", path);
    if (stat(beside.data, &info) == 0)
        die("%s: %s (scope recover %s makes it from what the run left)", path, strerror(ENOENT),
            beside.data);
    sc_string_free(&beside);
}

void profile_open(struct profile *p, const char *path, const struct cli_ranks *ranks)
{
    die_if_unfinished(path);
    *p = (struct profile){.path = path, .reader = cli_open(path), .ranks = ranks};
    scope_read_sizes(p->reader, &p->size);
    p->rank_count = cli_ranks_count(ranks, p->size.ranks);
    if (p->rank_count == 0 && ranks->count > 0)
        die("%s: has none of the ranks asked for (it has %ju)", path, (uintmax_t)p->size.ranks);
    read_ranks(p);
    read_paths(p);
    read_regions(p);
    p->totals.duration_ns = cli_span(p->totals.start_ns, p->totals.end_ns);
    if (__builtin_mul_overflow(p->totals.duration_ns, (int64_t)p->rank_count, &p->totals.rank_ns))
        p->totals.rank_ns = INT64_MAX;
}

void profile_close(struct profile *p)
{
    scope_read_close(p->reader);
    free(p->paths);
    free(p->path_stats);
    free(p->regions);
    free(p->region_rows);
}

scope_text profile_fact(const struct profile *p, const char *const *names)
{
    for (; *names != NULL; names++) {
        const scope_metadata *m = scope_read_metadata_find(p->reader, *names);

        if (m != NULL && m->texts != NULL && m->count > 0)
            return m->texts[0];
    }
    return (scope_text){"", 0};
}
