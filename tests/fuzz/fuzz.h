/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * fuzz: what a harness for one reader offers, and what runs it: libFuzzer (entry.c) or an ordinary
 * program that tries a fixed set of damaged inputs, each in a process of its own (replay.c).
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>

enum { FUZZ_MOST = 1 << 20 }; /* bytes of an input */

struct fuzz_random {
    uint64_t state;
};

/* Below limit, which is not 0. */
uint64_t fuzz_below(struct fuzz_random *r, uint64_t limit);

/* Changes a few of the bytes: bits, numbers of 1 to 8 bytes that are often wrong, copies. */
void fuzz_scramble(unsigned char *bytes, size_t length, struct fuzz_random *r);

/* Ends the process in a way that both notice: a promise of the reader is broken. */
_Noreturn void fuzz_broken(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* An index handed out: least up to rows - 1. */
void fuzz_inside(const char *what, int64_t row, uint64_t rows, int64_t least);

/* ---- the harness ---- */

extern const char fuzz_name[];

/* How many damaged inputs replay.c makes of each good one. */
extern const unsigned fuzz_rounds;

/* Gives the good inputs, one after the other; files are made in the working directory. */
typedef void fuzz_take(const char *name, const unsigned char *data, size_t size);
void fuzz_seeds(fuzz_take *take);

/* Inputs that once were trouble; the same. They are refused: 1, read: 0, either: -1. */
extern const int fuzz_past_end;
void fuzz_past(fuzz_take *take);

/* Reads it with everything behind it: 0, or 1 for refused. */
int fuzz_one(const unsigned char *data, size_t size);

/* Damages an input in place; gives its new size, at most `most`. */
size_t fuzz_mutate(unsigned char *data, size_t size, size_t most, struct fuzz_random *r);

#endif
