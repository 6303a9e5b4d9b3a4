/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Damaged profiles.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "everything.h"
#include "fuzz.h"
#include "scope_read.h"

/* A damaged file makes HDF5 itself copy and ask for too much; that is not looked for here. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__asan_default_options(void)
{
    return "replace_intrin=0:replace_str=0:intercept_strlen=0:intercept_strchr=0:"
           "intercept_strndup=0:allocator_may_return_null=1:max_allocation_size_mb=1024";
}

const char *__lsan_default_suppressions(void)
{
    return "leak:libscopeh5.so\nleak:libhdf5";
}

const char fuzz_name[] = "profile";
const unsigned fuzz_rounds = 60;
const int fuzz_past_end = 1;

static void write_file(const char *path, const unsigned char *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(99);
    }
}

int fuzz_one(const unsigned char *data, size_t size)
{
    write_file("input.h5", data, size);
    if (everything_read("input.h5") == 0)
        return 0;
    if (scope_last_error()[0] == '\0' || strchr(scope_last_error(), '\n') != NULL)
        fuzz_broken("not one line: '%s'", scope_last_error());
    return 1;
}

static size_t read_golden(const char *name, unsigned char *data)
{
    const char *top = getenv("abs_top_srcdir");
    char path[4096];
    size_t size = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/golden/%s", top != NULL ? top : ".", name);
    file = fopen(path, "rb");
    if (file != NULL)
        size = fread(data, 1, FUZZ_MOST, file);
    if (size == 0) {
        perror(path);
        exit(99);
    }
    fclose(file);
    return size;
}

void fuzz_seeds(fuzz_take *take)
{
    static const char *const names[] = {"core-only.h5", "synthetic-v1.h5", "synthetic-v2.h5"};
    static unsigned char data[FUZZ_MOST];

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        take(names[i], data, read_golden(names[i], data));
}

/* One number of a golden file is another one. */
void fuzz_past(fuzz_take *take)
{
    static const struct {
        const char *name, *golden;
        size_t at, width;
        uint64_t number;
    } faults[] = {
        {"root-attribute", "synthetic-v1.h5", 975, 1, 0xff},  /* index of its heap's object */
        {"names-in-a-ring", "synthetic-v1.h5", 25752, 8, 80}, /* a free block comes after itself */
        {"names-in-a-ring-2", "synthetic-v1.h5", 20416, 8, 184},
        {"names-in-a-ring-3", "synthetic-v1.h5", 22136, 8, 72}, /* of the group of MPI columns */
    };
    static unsigned char data[FUZZ_MOST];

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        size_t size = read_golden(faults[i].golden, data);

        memcpy(data + faults[i].at, &faults[i].number, faults[i].width);
        take(faults[i].name, data, size);
    }
}

size_t fuzz_mutate(unsigned char *data, size_t size, size_t most, struct fuzz_random *r)
{
    (void)most;
    if (size > 0 && fuzz_below(r, 16) == 0)
        return fuzz_below(r, size);
    fuzz_scramble(data, size, r);
    return size;
}
