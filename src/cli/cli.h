/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * cli: what the verbs of the command share: the entry points, the one way to give up, opening a
 * profile, lists and globs of names and ranks, output. A verb builds its whole output in a string
 * and prints it at the end, so that a file which turns out unreadable leaves one line and nothing
 * else.
 */
#ifndef SC_CLI_H
#define SC_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"
#include "scope_read.h"

/* Exit codes of every verb. */
enum { EXIT_FINE = 0, EXIT_BREACH = 1, EXIT_WRONG = 2 };

/* Each gets its own name as argv[0] and returns the exit code. */
int info_main(int argc, char **argv);
int inspect_main(int argc, char **argv);
int recover_main(int argc, char **argv);
int run_main(int argc, char **argv);

/* Prints "scope: " and the message as one line on standard error, whatever bytes are in it; exit
 * code 2. */
_Noreturn void die(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Dies with sc_last_error() unless status is 0. */
void cli_check(int status);

/*
 * Opens a profile or dies with what is wrong with it. From here on a crash of the HDF5 library,
 * which damaged files can cause, ends the program in the same way, and so does a check that does
 * not come to an end.
 */
scope_reader *cli_open(const char *path);

/* Writes the string to standard output and frees it; dies when that fails. */
void cli_print(struct sc_string *text);
/* The same to a file; "-" is standard output. */
void cli_write(const char *path, struct sc_string *text);

/* Include and exclude globs on names: a name is taken when some include matches (or there is none)
 * and no exclude does. Patterns are lent. */
struct cli_globs {
    const char **include, **exclude;
    size_t include_count, exclude_count;
};
void cli_globs_add(const char ***list, size_t *count, const char *pattern);
bool cli_globs_match(const struct cli_globs *globs, const char *name);
void cli_globs_free(struct cli_globs *globs);

/* A set of ranks: sorted ranges that do not touch; none: every rank. */
struct cli_range {
    uint64_t first, last;
};
struct cli_ranks {
    struct cli_range *ranges;
    size_t count;
};
/* "0-3,8" */
void cli_ranks_parse(struct cli_ranks *ranks, const char *list);
bool cli_ranks_has(const struct cli_ranks *ranks, uint64_t rank);
/* The lowest rank of the set that is not below rank; UINT64_MAX: none. */
uint64_t cli_ranks_next(const struct cli_ranks *ranks, uint64_t rank);
/* How many ranks below size are in the set. */
uint64_t cli_ranks_count(const struct cli_ranks *ranks, uint64_t size);
/* Adds a rank above all others in the set. */
void cli_ranks_append(struct cli_ranks *ranks, uint64_t rank);
/* Appends "0-3,8"; after limit ranges "...", 0: all of them. */
void cli_ranks_print(const struct cli_ranks *ranks, size_t limit, struct sc_string *out);
void cli_ranks_free(struct cli_ranks *ranks);

/* Splits "a,b" at commas in place; gives the next part or NULL. */
char *cli_next(char **list);

/* Memory or the end of the program. */
void *cli_alloc(size_t count, size_t size);
void cli_text(struct sc_string *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void cli_append(struct sc_string *out, const void *bytes, size_t length);
void cli_json(struct sc_string *out, const char *text, size_t length); /* a JSON string */
void cli_csv(struct sc_string *out, const char *text, size_t length);  /* a field of RFC 4180 */

/* a + b, held at the ends of the range: sums of a damaged file stay defined. */
int64_t cli_add(int64_t a, int64_t b);
/* From start to end, in the same way. */
int64_t cli_span(int64_t start, int64_t end);
uint64_t cli_add_count(uint64_t a, uint64_t b);

#endif
