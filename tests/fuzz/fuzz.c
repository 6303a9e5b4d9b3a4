/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t fuzz_below(struct fuzz_random *r, uint64_t limit)
{
    uint64_t z = r->state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) % limit;
}

/* A number that is often one too many, or has a bit too many. */
static uint64_t suspect(uint64_t was, struct fuzz_random *r)
{
    static const uint64_t known[] = {0,          1,         UINT64_MAX, INT64_MAX,
                                     UINT32_MAX, INT32_MAX, UINT16_MAX, (uint64_t)1 << 63,
                                     1 << 20,    1 << 24,   64,         65,
                                     255,        128};

    switch (fuzz_below(r, 4)) {
    case 0:
        return known[fuzz_below(r, sizeof known / sizeof *known)];
    case 1:
        return was ^ (uint64_t)1 << fuzz_below(r, 64);
    case 2:
        return was + 1 + fuzz_below(r, 16);
    default:
        return was - 1 - fuzz_below(r, 16);
    }
}

static void scramble_once(unsigned char *bytes, size_t length, struct fuzz_random *r)
{
    const size_t width = (size_t)1 << fuzz_below(r, 4);
    const size_t places = length / width;
    uint64_t number = 0;
    size_t at, from;

    if (places == 0)
        return;
    at = width * fuzz_below(r, places);
    from = width * fuzz_below(r, places);
    switch (fuzz_below(r, 4)) {
    case 0:
        bytes[at] = (unsigned char)(bytes[at] ^ 1 << fuzz_below(r, 8));
        break;
    case 1:
        memmove(bytes + at, bytes + from, width);
        break;
    default:
        memcpy(&number, bytes + at, width);
        number = suspect(number, r);
        memcpy(bytes + at, &number, width);
        break;
    }
}

void fuzz_scramble(unsigned char *bytes, size_t length, struct fuzz_random *r)
{
    for (uint64_t n = 1 + fuzz_below(r, 3); n > 0; n--)
        scramble_once(bytes, length, r);
}

void fuzz_broken(const char *format, ...)
{
    va_list values;

    va_start(values, format);
    fputs("broken promise: ", stderr);
    vfprintf(stderr, format, values);
    fputc('\n', stderr);
    va_end(values);
    abort();
}

void fuzz_inside(const char *what, int64_t row, uint64_t rows, int64_t least)
{
    if (row < least || (row >= 0 && (uint64_t)row >= rows))
        fuzz_broken("%s %lld of %llu", what, (long long)row, (unsigned long long)rows);
}
