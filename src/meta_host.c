/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * meta_host: what the kernel, /proc and the environment say about this process. No name service is
 * asked: user and host are what environment and kernel call them.
 */
#include "meta.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "scope.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

void sc_meta_hostname(char *out, size_t size)
{
    if (gethostname(out, size) != 0)
        out[0] = '\0';
    out[size - 1] = '\0';
}

static int probe_version(struct sc_facts *f, const char *name)
{
    return sc_facts_text(
        f, name,
        TEXT(SCOPE_VERSION_MAJOR) "." TEXT(SCOPE_VERSION_MINOR) "." TEXT(SCOPE_VERSION_PATCH));
}

static int probe_compiler(struct sc_facts *f, const char *name)
{
#if defined __GNUC__ && !defined __clang__
    return sc_facts_text(f, name, "gcc " __VERSION__);
#elif defined __VERSION__
    return sc_facts_text(f, name, __VERSION__);
#else
    (void)f, (void)name;
    return 0;
#endif
}

static int probe_platform(struct sc_facts *f, const char *name)
{
    struct utsname host;
    if (uname(&host) != 0)
        return 0;
    struct sc_string text = {0};
    int rc = sc_string_print(&text, "%s-%s-%s", host.sysname, host.release, host.machine);
    if (rc == 0)
        rc = sc_facts_text(f, name, text.data);
    sc_string_free(&text);
    return rc;
}

static int probe_cpu_model(struct sc_facts *f, const char *name)
{
    static const char *const keys[] = {"model name", "cpu model", "cpu", "Processor"};
    FILE *file = fopen("/proc/cpuinfo", "re");
    char *line = NULL;
    size_t capacity = 0;
    int rc = 0;
    bool found = false;
    while (file != NULL && !found && getline(&line, &capacity, file) > 0) {
        char *colon = strchr(line, ':');
        size_t key = strcspn(line, "\t:");
        for (size_t i = 0; colon != NULL && !found && i < sizeof keys / sizeof *keys; i++)
            found = key == strlen(keys[i]) && strncmp(line, keys[i], key) == 0;
        if (!found)
            continue;
        line[strcspn(line, "\n")] = '\0';
        colon += 1 + strspn(colon + 1, " \t");
        rc = *colon != '\0' ? sc_facts_text(f, name, colon) : 0;
    }
    free(line);
    if (file != NULL)
        fclose(file);
    return rc;
}

static int probe_omp_threads(struct sc_facts *f, const char *name)
{
    const char *text = getenv("OMP_NUM_THREADS"); /* a list is one number per nesting level */
    long threads = text != NULL ? strtol(text, NULL, 10) : 1;
    return sc_facts_int(f, name, threads > 0 && threads < INT_MAX ? threads : 1);
}

/* Path of the running program, NULL unknown; the caller frees. */
static char *executable(void)
{
    char path[PATH_MAX];
    static const char gone[] = " (deleted)";
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return NULL;
    size_t end = (size_t)length, tail = sizeof gone - 1;
    if (end > tail && memcmp(path + end - tail, gone, tail) == 0)
        end -= tail;
    path[end] = '\0';
    return strdup(path);
}

static int probe_command(struct sc_facts *f, const char *name)
{
    char *path = executable();
    if (path == NULL)
        return 0;
    const char *slash = strrchr(path, '/');
    int rc = sc_facts_text(f, name, slash != NULL ? slash + 1 : path);
    free(path);
    return rc;
}

static int probe_executable(struct sc_facts *f, const char *name)
{
    char *path = executable();
    int rc = path != NULL ? sc_facts_text(f, name, path) : 0;
    free(path);
    return rc;
}

static int probe_hostname(struct sc_facts *f, const char *name)
{
    char host[256];
    sc_meta_hostname(host, sizeof host);
    return host[0] != '\0' ? sc_facts_text(f, name, host) : 0;
}

static int probe_user(struct sc_facts *f, const char *name)
{
    static const char *const variables[] = {"LOGNAME", "USER"};
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *user = getenv(variables[i]);
        if (user != NULL && user[0] != '\0')
            return sc_facts_text(f, name, user);
    }
    char number[24];
    snprintf(number, sizeof number, "%lu", (unsigned long)getuid());
    return sc_facts_text(f, name, number);
}

static int probe_directory(struct sc_facts *f, const char *name)
{
    char *path = getcwd(NULL, 0);
    int rc = path != NULL ? sc_facts_text(f, name, path) : 0;
    free(path);
    return rc;
}

/* The pieces of text between separators as a list; empty ones count only between NULs. */
static int facts_pieces(struct sc_facts *f, const char *name, const char *text, size_t length,
                        char separator)
{
    char *copy = malloc(length + 1);
    const char **pieces = NULL;
    size_t count = 0, capacity = 0;
    int rc = copy != NULL ? 0 : SC_ENOMEM;
    if (rc == 0)
        memcpy(copy, text, length);
    for (size_t at = 0; rc == 0 && at < length;) {
        const char *end = memchr(copy + at, separator, length - at);
        size_t stop = end != NULL ? (size_t)(end - copy) : length;
        copy[stop] = '\0';
        rc = sc_array_reserve(&pieces, &capacity, count + 1, sizeof *pieces);
        if (rc == 0 && (stop > at || separator == '\0'))
            pieces[count++] = copy + at;
        at = stop + 1;
    }
    if (rc == 0 && count > 0)
        rc = sc_facts_texts(f, name, pieces, count);
    free(pieces);
    free(copy);
    return rc;
}

static int probe_command_line(struct sc_facts *f, const char *name)
{
    FILE *file = fopen("/proc/self/cmdline", "re");
    if (file == NULL)
        return 0;
    struct sc_string all = {0};
    char block[4096];
    size_t got;
    int rc = 0;
    while (rc == 0 && (got = fread(block, 1, sizeof block, file)) > 0)
        rc = sc_string_append(&all, block, got);
    fclose(file);
    if (rc == 0)
        rc = facts_pieces(f, name, all.data, all.length, '\0');
    sc_string_free(&all);
    return rc;
}

static int probe_modules(struct sc_facts *f, const char *name)
{
    const char *list = getenv("LOADEDMODULES");
    return list != NULL ? facts_pieces(f, name, list, strlen(list), ':') : 0;
}

/* In any detail: ids of a platform the run belongs to, set on purpose. */
static const char *const id_variables[] = {"SCOPE_PROFILER_RUN_ID", "SCOPE_PROFILER_PIPELINE_ID",
                                           "SCOPE_PROFILER_DEPLOYMENT_ID",
                                           "SCOPE_PROFILER_WORKSPACE_ID", NULL};
static const char *const path_variables[] = {
    "PATH",    "LD_LIBRARY_PATH", "LIBRARY_PATH",      "CPATH",      "PYTHONPATH",
    "MANPATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH", "MODULEPATH", "LD_PRELOAD",
    NULL};

static int add_variables(struct sc_facts *f, const char *const *names)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && names[i] != NULL; i++) {
        const char *value = getenv(names[i]);
        if (value != NULL)
            rc = sc_facts_text(f, names[i], value);
    }
    return rc;
}

static int add_slurm(struct sc_facts *f)
{
    int rc = 0;
    for (char **entry = environ; rc == 0 && entry != NULL && *entry != NULL; entry++) {
        const char *equals = strchr(*entry, '=');
        if (strncmp(*entry, "SLURM_", 6) != 0 || equals == NULL)
            continue;
        char *name = strndup(*entry, (size_t)(equals - *entry));
        rc = name != NULL ? sc_facts_text(f, name, equals + 1) : SC_ENOMEM;
        free(name);
    }
    return rc;
}

static const struct {
    const char *name;
    bool full_only;
    int (*probe)(struct sc_facts *f, const char *name);
} probes[] = {
    {"libscope_version", false, probe_version},
    {"compiler", false, probe_compiler},
    {"platform", false, probe_platform},
    {"cpu_model", false, probe_cpu_model},
    {"command", false, probe_command},
    {"omp_num_threads", false, probe_omp_threads},
    {"hostname", true, probe_hostname},
    {"user", true, probe_user},
    {"executable", true, probe_executable},
    {"command_line", true, probe_command_line},
    {"working_directory", true, probe_directory},
    {"loaded_modules", true, probe_modules},
};

int sc_meta_host(struct sc_facts *f, int full_detail)
{
    int saved = errno;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof probes / sizeof *probes; i++)
        if (full_detail || !probes[i].full_only)
            rc = probes[i].probe(f, probes[i].name);
    if (rc == 0)
        rc = add_variables(f, id_variables);
    if (rc == 0 && full_detail)
        rc = add_variables(f, path_variables);
    if (rc == 0 && full_detail)
        rc = add_slurm(f);
    errno = saved;
    return rc;
}
