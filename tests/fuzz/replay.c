/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * A harness as an ordinary program: each good input is read, then as many damaged ones as the
 * harness (or FUZZ_ROUNDS) says, always the same, each in a process of its own.
 *
 *     NAME                all of that
 *     NAME write FOLDER   the good inputs as files, which libFuzzer begins with
 *     NAME FILE...        these inputs
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fuzz.h"

enum { SECONDS = 20, REPORTED = 10, SAYS = 40 };

static unsigned ends[3]; /* read, refused, neither */
static unsigned rounds;
static const char *folder;

static void write_file(const char *path, const unsigned char *data, size_t size)
{
    FILE *file = fopen(path, "wb");

    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0) {
        perror(path);
        exit(99);
    }
}

/* How the process of an input ended: what it says itself, or 2. Sanitizers end it with 1. */
static int read_apart(const unsigned char *data, size_t size)
{
    int status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0) {
        alarm(SECONDS);
        _exit(SAYS + fuzz_one(data, size));
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        exit(99);
    if (!WIFEXITED(status) || WEXITSTATUS(status) < SAYS || WEXITSTATUS(status) > SAYS + 1)
        return 2;
    return WEXITSTATUS(status) - SAYS;
}

static int try(const char *name, const unsigned char *data, size_t size)
{
    char path[256];
    int end = read_apart(data, size);

    if (++ends[end] <= REPORTED && end == 2) {
        snprintf(path, sizeof path, "%s.%s.bad", fuzz_name, name);
        write_file(path, data, size);
        printf("%s: crashed, took long or broke a promise\n", path);
    }
    return end;
}

static void take_past(const char *name, const unsigned char *data, size_t size)
{
    int end = try(name, data, size);

    if (end < 2 && fuzz_past_end >= 0 && end != fuzz_past_end) {
        printf("%s: %s\n", name, end == 0 ? "is read" : "is refused");
        ends[2]++;
    }
}

static void take_seed(const char *name, const unsigned char *data, size_t size)
{
    struct fuzz_random r = {1};
    unsigned char *bad = malloc(FUZZ_MOST);
    char numbered[200];

    if (bad == NULL || size > FUZZ_MOST)
        exit(99);
    if (try(name, data, size) == 1) {
        printf("%s: refused as it is\n", name);
        ends[2]++;
    }
    for (unsigned i = 0; i < rounds; i++) {
        memcpy(bad, data, size);
        snprintf(numbered, sizeof numbered, "%s-%u", name, i);
        try(numbered, bad, fuzz_mutate(bad, size, FUZZ_MOST, &r));
    }
    free(bad);
}

static void take_file(const char *name, const unsigned char *data, size_t size)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_file(path, data, size);
}

static void take_named(const char *path)
{
    unsigned char *data = malloc(FUZZ_MOST);
    FILE *file = fopen(path, "rb");
    size_t size = file == NULL || data == NULL ? 0 : fread(data, 1, FUZZ_MOST, file);

    if (file == NULL) {
        perror(path);
        exit(99);
    }
    fclose(file);
    printf("%s: %d\n", path, fuzz_one(data, size));
    free(data);
}

int main(int argc, char **argv)
{
    const char *more = getenv("FUZZ_ROUNDS");

    rounds = more == NULL ? fuzz_rounds : (unsigned)strtoul(more, NULL, 10);
    if (argc == 3 && strcmp(argv[1], "write") == 0) {
        folder = argv[2];
        fuzz_seeds(take_file);
        fuzz_past(take_file);
        return 0;
    }
    for (int i = 1; i < argc; i++)
        take_named(argv[i]);
    if (argc > 1)
        return 0;
    fuzz_past(take_past);
    fuzz_seeds(take_seed);
    printf("%s: %u read, %u refused, %u wrong\n", fuzz_name, ends[0], ends[1], ends[2]);
    return ends[2] > 0 || ends[0] == 0 || ends[1] == 0;
}
