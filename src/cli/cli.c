/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "cli.h"

#include <errno.h>
#include <fnmatch.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "h5read.h"
#include "table.h"

#define CHECK_SECONDS 10 /* processor time that opening may take */
#define MEMORY_BASE (512ULL << 20)
#define MEMORY_PER_BYTE 64 /* of the file */

/* ---- giving up ---- */

/* One line "scope: ..." of printable text, ended by a newline. */
static void say(const char *message)
{
    struct sc_string line = {0};

    if (sc_string_append(&line, "scope: ", 7) == 0 &&
        sc_table_printable(&line, message, strlen(message)) == 0 &&
        sc_string_append(&line, "\n", 1) == 0)
        fwrite(line.data, 1, line.length, stderr);
    sc_string_free(&line);
}

void die(const char *format, ...)
{
    char message[4608]; /* a path of PATH_MAX and a reason */
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    say(message);
    exit(EXIT_WRONG);
}

void cli_check(int status)
{
    if (status != 0)
        die("%s", sc_last_error());
}

/* ---- opening ---- */

/* What the handler prints: made before, since it may do nothing but write. */
static struct sc_string last_words;

static void on_fatal_signal(int signal_number)
{
    ssize_t ignored = write(STDERR_FILENO, last_words.data, last_words.length);

    (void)ignored;
    (void)signal_number;
    _exit(EXIT_WRONG);
}

static void prepare_for_crash(const char *path)
{
    static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGPROF};
    static char stack[65536];
    const stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_handler = on_fatal_signal, .sa_flags = SA_ONSTACK};

    last_words.length = 0;
    cli_append(&last_words, "scope: ", 7);
    if (sc_table_printable(&last_words, path, strlen(path)) != 0)
        die("out of memory");
    cli_text(&last_words, ": damaged: the HDF5 library fails on it (restore it from a copy)\n");
    sigaltstack(&alternate, NULL);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

static void limit_processor_time(long seconds)
{
    const struct itimerval timer = {.it_value = {.tv_sec = seconds}};

    setitimer(ITIMER_PROF, &timer, NULL);
}

/* Memory for what a file of this size can hold, so that a wrong length in it asks in vain and does
 * not take the machine's. */
static void limit_memory(const char *path)
{
    unsigned long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    struct rlimit limit;
    struct stat status;

    if (file == NULL)
        return;
    if (fscanf(file, "%llu", &pages) == 1 && stat(path, &status) == 0 &&
        getrlimit(RLIMIT_AS, &limit) == 0) {
        rlim_t wanted = pages * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_BASE +
                        (rlim_t)status.st_size * MEMORY_PER_BYTE;

        if (limit.rlim_max == RLIM_INFINITY || wanted < limit.rlim_max) {
            limit.rlim_cur = wanted;
            setrlimit(RLIMIT_AS, &limit);
        }
    }
    fclose(file);
}

scope_reader *cli_open(const char *path)
{
    static const char *const libraries[] = {SC_H5_SERIAL, SC_H5_PRIVATE, NULL};
    scope_reader *reader;

    prepare_for_crash(path);
    limit_memory(path);
    limit_processor_time(CHECK_SECONDS);
    cli_check(sc_read_open(path, libraries, &reader));
    limit_processor_time(0);
    return reader;
}

/* ---- output ---- */

static void write_out(FILE *file, const char *name, struct sc_string *text)
{
    if (text->length > 0)
        fwrite(text->data, 1, text->length, file);
    if (fflush(file) != 0 || ferror(file))
        die("%s: %s", name, strerror(errno));
    sc_string_free(text);
}

void cli_print(struct sc_string *text)
{
    write_out(stdout, "standard output", text);
}

void cli_write(const char *path, struct sc_string *text)
{
    FILE *file;

    if (strcmp(path, "-") == 0) {
        cli_print(text);
        return;
    }
    file = fopen(path, "wb");
    if (file == NULL)
        die("%s: %s", path, strerror(errno));
    write_out(file, path, text);
    if (fclose(file) != 0)
        die("%s: %s", path, strerror(errno));
}

/* ---- globs ---- */

void cli_globs_add(const char ***list, size_t *count, const char *pattern)
{
    const char **longer = realloc(*list, (*count + 1) * sizeof **list);

    if (longer == NULL)
        die("out of memory");
    longer[(*count)++] = pattern;
    *list = longer;
}

static bool any_match(const char *const *patterns, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (fnmatch(patterns[i], name, 0) == 0)
            return true;
    return false;
}

bool cli_globs_match(const struct cli_globs *globs, const char *name)
{
    return (globs->include_count == 0 || any_match(globs->include, globs->include_count, name)) &&
           !any_match(globs->exclude, globs->exclude_count, name);
}

void cli_globs_free(struct cli_globs *globs)
{
    free(globs->include);
    free(globs->exclude);
}

/* ---- ranks ---- */

static void add_range(struct cli_ranks *ranks, uint64_t first, uint64_t last)
{
    struct cli_range *r = realloc(ranks->ranges, (ranks->count + 1) * sizeof *r);

    if (r == NULL)
        die("out of memory");
    r[ranks->count++] = (struct cli_range){first, last};
    ranks->ranges = r;
}

static int compare_ranges(const void *a, const void *b)
{
    const struct cli_range *x = a, *y = b;

    return (x->first > y->first) - (x->first < y->first);
}

/* A rank at *text; moves *text behind it. */
static uint64_t parse_rank(const char **text, const char *list)
{
    char *end;
    unsigned long value;

    errno = 0;
    value = strtoul(*text, &end, 10);
    if (end == *text || **text < '0' || **text > '9' || errno != 0 || value > UINT32_MAX)
        die("'%s': not a list of ranks (as in 0-3,8)", list);
    *text = end;
    return value;
}

void cli_ranks_parse(struct cli_ranks *ranks, const char *list)
{
    size_t kept = 0;

    for (const char *at = list;;) {
        uint64_t first = parse_rank(&at, list), last = first;

        if (*at == '-') {
            at++;
            last = parse_rank(&at, list);
        }
        if (last < first || (*at != ',' && *at != '\0'))
            die("'%s': not a list of ranks (as in 0-3,8)", list);
        add_range(ranks, first, last);
        if (*at++ == '\0')
            break;
    }
    qsort(ranks->ranges, ranks->count, sizeof *ranks->ranges, compare_ranges);
    for (size_t i = 1; i < ranks->count; i++) {
        struct cli_range *last = &ranks->ranges[kept];

        if (ranks->ranges[i].first > last->last + 1)
            ranks->ranges[++kept] = ranks->ranges[i];
        else if (ranks->ranges[i].last > last->last)
            last->last = ranks->ranges[i].last;
    }
    ranks->count = kept + 1;
}

uint64_t cli_ranks_next(const struct cli_ranks *ranks, uint64_t rank)
{
    size_t low = 0, high = ranks->count;

    if (ranks->count == 0)
        return rank;
    while (low < high) { /* first range that does not end below rank */
        size_t middle = low + (high - low) / 2;

        if (ranks->ranges[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ranks->count)
        return UINT64_MAX;
    return ranks->ranges[low].first > rank ? ranks->ranges[low].first : rank;
}

bool cli_ranks_has(const struct cli_ranks *ranks, uint64_t rank)
{
    return cli_ranks_next(ranks, rank) == rank;
}

uint64_t cli_ranks_count(const struct cli_ranks *ranks, uint64_t size)
{
    uint64_t n = 0;

    if (ranks->count == 0)
        return size;
    for (size_t i = 0; i < ranks->count && ranks->ranges[i].first < size; i++) {
        uint64_t last = ranks->ranges[i].last < size ? ranks->ranges[i].last : size - 1;

        n += last - ranks->ranges[i].first + 1;
    }
    return n;
}

void cli_ranks_append(struct cli_ranks *ranks, uint64_t rank)
{
    struct cli_range *last = ranks->count > 0 ? &ranks->ranges[ranks->count - 1] : NULL;

    if (last != NULL && last->last + 1 == rank)
        last->last = rank;
    else
        add_range(ranks, rank, rank);
}

void cli_ranks_print(const struct cli_ranks *ranks, size_t limit, struct sc_string *out)
{
    for (size_t i = 0; i < ranks->count; i++) {
        const struct cli_range *r = &ranks->ranges[i];

        if (limit > 0 && i == limit) {
            cli_text(out, ",...");
            return;
        }
        cli_text(out, "%s%ju", i > 0 ? "," : "", (uintmax_t)r->first);
        if (r->last > r->first)
            cli_text(out, "-%ju", (uintmax_t)r->last);
    }
}

void cli_ranks_free(struct cli_ranks *ranks)
{
    free(ranks->ranges);
}

/* ---- small things ---- */

char *cli_next(char **list)
{
    char *part = *list;
    char *comma = part == NULL ? NULL : strchr(part, ',');

    if (comma != NULL)
        *comma++ = '\0';
    *list = comma;
    return part;
}

void *cli_alloc(size_t count, size_t size)
{
    void *memory = calloc(count > 0 ? count : 1, size);

    if (memory == NULL)
        die("out of memory");
    return memory;
}

void cli_append(struct sc_string *out, const void *bytes, size_t length)
{
    if (sc_string_append(out, bytes, length) != 0)
        die("out of memory");
}

void cli_text(struct sc_string *out, const char *format, ...)
{
    char small[512];
    va_list args;
    int length;

    va_start(args, format);
    length = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof small) {
        cli_append(out, small, (size_t)length);
    } else if (length >= 0) {
        char *large = cli_alloc((size_t)length + 1, 1);

        va_start(args, format);
        vsnprintf(large, (size_t)length + 1, format, args);
        va_end(args);
        cli_append(out, large, (size_t)length);
        free(large);
    }
}

void cli_json(struct sc_string *out, const char *text, size_t length)
{
    if (sc_string_json(out, text, length) != 0)
        die("out of memory");
}

void cli_csv(struct sc_string *out, const char *text, size_t length)
{
    bool quote = false;

    for (size_t i = 0; i < length; i++)
        quote |= text[i] == '"' || text[i] == ',' || text[i] == '\n' || text[i] == '\r';
    if (!quote) {
        cli_append(out, text, length);
        return;
    }
    cli_append(out, "\"", 1);
    for (size_t i = 0; i < length; i++)
        cli_append(out, text[i] == '"' ? "\"\"" : &text[i], text[i] == '"' ? 2 : 1);
    cli_append(out, "\"", 1);
}

int64_t cli_add(int64_t a, int64_t b)
{
    int64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

int64_t cli_span(int64_t start, int64_t end)
{
    int64_t span;

    return __builtin_sub_overflow(end, start, &span) ? (end < start ? INT64_MIN : INT64_MAX) : span;
}

uint64_t cli_add_count(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
