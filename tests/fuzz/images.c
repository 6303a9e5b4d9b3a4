/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * From files to inputs and back, and damage that leaves an input one: within a run, to whole
 * extents, to the length of a file.
 */
#include "images.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "image.h"

/* ---- runs ---- */

static struct fuzz_run run_at(const unsigned char *data, size_t at)
{
    struct fuzz_run run;

    memcpy(&run, data + at, sizeof run);
    return run;
}

static unsigned file_of(struct fuzz_run run)
{
    return (run.at >> 24) % FUZZ_IMAGES;
}

static uint32_t offset_of(struct fuzz_run run)
{
    return run.at & 0xffffff;
}

/* Where the run's bytes are and how many are there; moves to the next run. False: no more. */
static bool next_run(const unsigned char *data, size_t size, size_t *next, struct fuzz_run *run,
                     size_t *bytes)
{
    if (size < sizeof *run || *next > size - sizeof *run)
        return false;
    *run = run_at(data, *next);
    *bytes = *next + sizeof *run;
    if (run->length > size - *bytes)
        run->length = (uint32_t)(size - *bytes);
    if (run->length > FUZZ_IMAGE_MOST - offset_of(*run))
        run->length = FUZZ_IMAGE_MOST - offset_of(*run);
    *next = *bytes + run->length;
    return true;
}

static int open_image(const char *folder, unsigned number)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%u.image", folder, number);
    return open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
}

static void write_run(int fd, struct fuzz_run run, const unsigned char *bytes)
{
    bool done = run.length == 0
                    ? ftruncate(fd, offset_of(run)) == 0
                    : pwrite(fd, bytes, run.length, offset_of(run)) == (ssize_t)run.length;

    if (!done) {
        perror("an image");
        exit(99);
    }
}

unsigned images_unpack(const unsigned char *data, size_t size, const char *folder)
{
    int fd[FUZZ_IMAGES];
    struct fuzz_run run;
    size_t bytes;
    unsigned count = 1;

    for (unsigned i = 0; i < FUZZ_IMAGES; i++)
        fd[i] = -1;
    fd[0] = open_image(folder, 0);
    for (size_t next = 0; next_run(data, size, &next, &run, &bytes);) {
        unsigned file = file_of(run);

        if (fd[file] < 0) {
            fd[file] = open_image(folder, file);
            count++;
        }
        write_run(fd[file], run, data + bytes);
    }
    for (unsigned i = 0; i < FUZZ_IMAGES; i++) {
        char path[4096];

        snprintf(path, sizeof path, "%s/%u.image", folder, i);
        if (fd[i] >= 0)
            close(fd[i]);
        else
            unlink(path);
    }
    return count;
}

/* ---- damage ---- */

enum { RUNS_MOST = 1 << 12 };

struct places {
    size_t run[RUNS_MOST]; /* where each begins in the input */
    size_t count;
};

/* Lengths that say too much are put right. */
static void find_runs(unsigned char *data, size_t size, struct places *out)
{
    struct fuzz_run run;
    size_t next = 0, bytes;

    out->count = 0;
    for (size_t at = 0; out->count < RUNS_MOST && next_run(data, size, &next, &run, &bytes);
         at = next) {
        memcpy(data + at, &run, sizeof run);
        out->run[out->count++] = at;
    }
}

/* The file ends early, or where no extent ends. */
static size_t cut_file(unsigned char *data, size_t size, size_t most, struct fuzz_random *r)
{
    struct fuzz_run end = {.length = 0};

    if (most - size < sizeof end)
        return size;
    end.at = (uint32_t)(fuzz_below(r, 4) << (fuzz_below(r, 2) == 0 ? 20 : 12) |
                        fuzz_below(r, 2) * fuzz_below(r, 1 << 20));
    end.at = (end.at & 0xffffff) | (uint32_t)fuzz_below(r, FUZZ_IMAGES) << 24;
    memcpy(data + size, &end, sizeof end);
    return size + sizeof end;
}

/* What a copy of an extent says about itself: its place, and that it is another one. */
static void claim_place(unsigned char *head, uint64_t at, struct fuzz_random *r)
{
    struct sc_extent e;

    memcpy(&e, head, sizeof e);
    e.at = at;
    switch (fuzz_below(r, 5)) {
    case 0:
        e.is_sealed ^= 1;
        break;
    case 1:
        e.ordinal += 1 + fuzz_below(r, 3);
        break;
    case 2:
        e.thread += 1 + (uint32_t)fuzz_below(r, 3);
        break;
    case 3:
        e.kind = 1 + (uint32_t)fuzz_below(r, SC_EXTENT_TOTALS);
        break;
    default:
        e.ordinal++;
        e.address += SC_EXTENT;
        break;
    }
    memcpy(head, &e, sizeof e);
}

/* An extent is there once more, behind all others or over one of them. */
static size_t copy_extent(unsigned char *data, size_t size, size_t most, struct fuzz_random *r,
                          const struct places *p)
{
    const uint32_t chosen = run_at(data, p->run[fuzz_below(r, p->count)]).at >> 20;
    const uint32_t to = (chosen & ~15u) | (1 + (uint32_t)fuzz_below(r, 15));

    for (size_t i = 0; i < p->count; i++) {
        struct fuzz_run run = run_at(data, p->run[i]);

        if (run.at >> 20 != chosen || most - size < sizeof run ||
            run.length > most - size - sizeof run)
            continue;
        memcpy(data + size + sizeof run, data + p->run[i] + sizeof run, run.length);
        run.at = (run.at & 0xfffff) | to << 20;
        memcpy(data + size, &run, sizeof run);
        if ((run.at & 0xfffff) == 0 && run.length >= sizeof(struct sc_extent))
            claim_place(data + size + sizeof run, offset_of(run), r);
        size += sizeof run + run.length;
    }
    return size;
}

static size_t drop_run(unsigned char *data, size_t size, size_t at)
{
    const size_t length = sizeof(struct fuzz_run) + run_at(data, at).length;

    memmove(data + at, data + at + length, size - at - length);
    return size - length;
}

/* A run, or some words of it, become those of another. */
static void mix_runs(unsigned char *data, struct fuzz_random *r, const struct places *p)
{
    const size_t to = p->run[fuzz_below(r, p->count)], from = p->run[fuzz_below(r, p->count)];
    const size_t room = run_at(data, to).length / FUZZ_GRAIN;
    const size_t there = run_at(data, from).length / FUZZ_GRAIN;
    size_t n, at, source;

    if (room == 0 || there == 0)
        return;
    n = 1 + fuzz_below(r, room < there ? room : there);
    at = fuzz_below(r, room - n + 1);
    source = fuzz_below(r, there - n + 1);
    memmove(data + to + sizeof(struct fuzz_run) + at * FUZZ_GRAIN,
            data + from + sizeof(struct fuzz_run) + source * FUZZ_GRAIN, n * FUZZ_GRAIN);
}

size_t images_mutate(unsigned char *data, size_t size, size_t most, struct fuzz_random *r)
{
    static struct places p;

    for (uint64_t n = 1 + fuzz_below(r, 3); n > 0; n--) {
        size_t run;

        find_runs(data, size, &p);
        if (p.count == 0)
            return size;
        run = p.run[fuzz_below(r, p.count)];
        switch (fuzz_below(r, 12)) {
        case 0:
            size = cut_file(data, size, most, r);
            break;
        case 1:
            size = copy_extent(data, size, most, r, &p);
            break;
        case 2:
            size = drop_run(data, size, run);
            break;
        case 3:
            mix_runs(data, r, &p);
            break;
        default:
            fuzz_scramble(data + run + sizeof(struct fuzz_run), run_at(data, run).length, r);
            break;
        }
    }
    return size;
}
