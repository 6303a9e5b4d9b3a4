/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * images: what runs that were killed left, made by the library itself, as short inputs. An input is
 * a list of runs of bytes: up to FUZZ_IMAGES files of which all else is zeros.
 */
#ifndef FUZZ_IMAGES_H
#define FUZZ_IMAGES_H

#include "fuzz.h"

enum { FUZZ_IMAGES = 3, FUZZ_IMAGE_MOST = 1 << 24 };

/* Before the bytes of a run. length 0: the file ends there. */
struct fuzz_run {
    uint32_t at;     /* in the file; the number of the file in the upper 8 bits */
    uint32_t length; /* multiple of FUZZ_GRAIN, as at, in what images_seeds() gives */
};
enum { FUZZ_GRAIN = 16 };

/* Records a few runs in child processes that end without a word; files are made, and removed, in
 * the working directory. */
void images_seeds(fuzz_take *take);

/* The same with one number wrong, as once was trouble, or cut off. */
void images_past(fuzz_take *take);

/* Makes the files of an input: FOLDER/0.image and so on; gives how many. */
unsigned images_unpack(const unsigned char *data, size_t size, const char *folder);

size_t images_mutate(unsigned char *data, size_t size, size_t most, struct fuzz_random *r);

#endif
