/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * source: from a place in a program or shared object to function, file and line, by the debug
 * information of the very file that ran (its build id says so) or else its symbols. A module whose
 * file is gone, was rebuilt or is none keeps its offsets.
 */
#ifndef SC_CLI_SOURCE_H
#define SC_CLI_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base.h"

struct source_map;

struct source_place {
    const char *function; /* NULL: not known; of inlined code the inlined function */
    const char *file;     /* NULL: not known; relative to where it was compiled, if below that */
    int line;             /* 0: not known */
};

/* Appends what this build resolves places with, or why it cannot and returns false. */
bool source_available(struct sc_string *out);

/* Takes back the limit that cli_open() set to the process's memory: debug information is large.
 * Read the profile first. */
struct source_map *source_open(void);
void source_close(struct source_map *map);

/*
 * The call that returns to this offset (site.h). Opens each module once. False: nothing is known.
 * The texts are lent until the next call. A build id "" is the one of a file without; a path
 * without a slash is looked for only with a build id: here, in PATH and in LD_LIBRARY_PATH.
 */
bool source_find(struct source_map *map, const char *path, const char *build_id, uint64_t offset,
                 struct source_place *place);

/* Appends "function file:line"; where that is not known "function module+0xoffset",
 * "module+0xoffset", or with path NULL "0xaddress". */
void source_print(struct source_map *map, const char *path, const char *build_id, uint64_t offset,
                  struct sc_string *out);

/* Appends a line for each module so far of which less than that could be told, and why. */
void source_notes(const struct source_map *map, struct sc_string *out);

#endif
