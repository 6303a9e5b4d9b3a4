/* SPDX-License-Identifier: BSD-3-Clause */
#include "launcher.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "settings.h"

extern char **environ;

/* Most specific first: a launcher sets its own names next to those of the protocol it speaks. */
static const struct source {
    const char *rank;
    const char *size; /* NULL: it does not say */
} sources[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, /* Open MPI */
    {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},   /* MVAPICH */
    {"PMI_RANK", "PMI_SIZE"},                         /* MPICH, Intel MPI, srun --mpi=pmi2, Cray */
    {"PMIX_RANK", NULL},                              /* srun --mpi=pmix */
    {"PALS_RANKID", NULL},                            /* Cray PALS */
    {"ALPS_APP_PE", NULL},                            /* Cray ALPS */
    {"JSM_NAMESPACE_RANK", "JSM_NAMESPACE_SIZE"},     /* IBM jsrun */
    {"FLUX_TASK_RANK", "FLUX_JOB_SIZE"},              /* Flux */
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},           /* Hydra with nothing else: within the node */
};
#define SOURCE_COUNT (sizeof sources / sizeof sources[0])

/*
 * The environment this process was started with, NAME=VALUE each ended by NUL: some MPI_Init add a
 * rank of 0 to the present one (Open MPI to that of a process without launcher). Without /proc that
 * is all there is. 0 or SC_ENOMEM.
 */
static int first_environment(struct sc_string *out)
{
    FILE *file = fopen("/proc/self/environ", "rbe");
    char part[4096];
    size_t got;
    int rc = 0;

    while (rc == 0 && file != NULL && (got = fread(part, 1, sizeof part, file)) > 0)
        rc = sc_string_append(out, part, got);
    if (file != NULL)
        fclose(file);
    else
        for (char **entry = environ; rc == 0 && entry != NULL && *entry != NULL; entry++)
            rc = sc_string_append(out, *entry, strlen(*entry) + 1);
    return rc;
}

/* The value of a variable of that environment, NULL if it has none. */
static const char *value_in(const struct sc_string *environment, const char *name)
{
    const size_t length = strlen(name);

    for (size_t at = 0; at < environment->length; at += strlen(environment->data + at) + 1)
        if (strncmp(environment->data + at, name, length) == 0 &&
            environment->data[at + length] == '=')
            return environment->data + at + length + 1;
    return NULL;
}

/* A variable as a number of the range of int, -1 when unset or anything else. */
static int number_in(const struct sc_string *environment, const char *name)
{
    const char *text = name == NULL ? NULL : value_in(environment, name);
    char *end;
    long number;

    if (text == NULL || !isdigit((unsigned char)text[0]))
        return -1;
    errno = 0;
    number = strtol(text, &end, 10);
    return errno != 0 || *end != '\0' || number > INT_MAX ? -1 : (int)number;
}

/* The first source that names a rank its own size does not contradict counts. */
static void ask_sources(const struct sc_string *environment, int *rank, int *size)
{
    for (size_t i = 0; i < SOURCE_COUNT && *rank < 0; i++) {
        const int r = number_in(environment, sources[i].rank);
        const int n = number_in(environment, sources[i].size);
        if (r < 0 || (n >= 0 && r >= n))
            continue;
        *rank = r;
        *size = n;
    }
}

/*
 * Where others know nothing, or (PMIX_RANK) the same rank but no size, a task of srun knows both.
 * Only srun sets the number of tasks; SLURM_PROCID alone is also in a batch script, where whatever
 * it starts sees 0.
 */
static void ask_slurm(const struct sc_string *environment, int *rank, int *size)
{
    const int r = number_in(environment, "SLURM_PROCID");
    const int n = number_in(environment, "SLURM_STEP_NUM_TASKS");

    if (r < 0 || r >= n || (*rank >= 0 && (*rank != r || *size >= 0)))
        return;
    *rank = r;
    *size = n;
}

static void ask(int *rank, int *size)
{
    struct sc_string environment = {0};

    *rank = *size = -1;
    if (first_environment(&environment) == 0) {
        ask_sources(&environment, rank, size);
        ask_slurm(&environment, rank, size);
    }
    sc_string_free(&environment);
}

int sc_launcher_rank(void)
{
    int rank, size;

    ask(&rank, &size);
    return rank;
}

int sc_launcher_size(void)
{
    int rank, size;

    ask(&rank, &size);
    return size;
}

int sc_launcher_override(void)
{
    const char *text = getenv("SCOPE_PROFILER_MPI");

    return text == NULL ? -1 : sc_settings_boolean(text);
}

static int append_working_directory(struct sc_string *out)
{
    char *folder = getcwd(NULL, 0);
    int rc;

    if (folder == NULL)
        return sc_fail(SC_EIO, "working directory: %s", strerror(errno));
    rc = sc_string_append(out, folder, strlen(folder));
    if (rc == 0 && strcmp(folder, "/") != 0)
        rc = sc_string_append(out, "/", 1);
    free(folder);
    return rc;
}

/* Length of path without the extension: up to the last dot of the last component, unless that leads
 * it. */
static size_t stem_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(name, '.');

    return dot == NULL || dot == name ? strlen(path) : (size_t)(dot - path);
}

int sc_launcher_path(const char *file_path, int per_process_run, struct sc_string *out)
{
    const int rank = per_process_run ? sc_launcher_rank() : -1;
    size_t stem;
    int rc = 0;

    if (file_path == NULL || file_path[0] == '\0')
        return sc_fail(SC_EINVAL, "the profile's path is empty");
    if (file_path[0] != '/')
        rc = append_working_directory(out);
    stem = stem_length(file_path);
    if (rc == 0)
        rc = sc_string_append(out, file_path, stem);
    if (rc == 0 && rank >= 0)
        rc = sc_string_print(out, "_rank%05d", rank);
    if (rc == 0)
        rc = sc_string_append(out, file_path + stem, strlen(file_path + stem));
    return rc;
}
