/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * scope: the command. One verb, one file, one row.
 */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct verb {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *help;
} verbs[] = {
    {"run", run_main, "run a program with the profiling library preloaded"},
    {"inspect", inspect_main, "show what a profile holds: regions, MPI, machine, coverage"},
    {"recover", recover_main, "make a profile of what a run that was killed has left"},
    {"info", info_main, "show what this installation has and lacks, and all settings"},
};

static int print_help(void)
{
    struct sc_string out = {0};

    cli_text(&out, "usage: scope VERB [OPTIONS] [FILES]\n\n");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        cli_text(&out, "  %-9s %s\n", verbs[i].name, verbs[i].help);
    cli_text(&out, "\n`scope VERB --help` tells more, and so does `man scope-VERB`.\n");
    cli_print(&out);
    return EXIT_FINE;
}

static int print_version(void)
{
    struct sc_string out = {0};

    cli_text(&out, "scope %d.%d.%d\n", SCOPE_VERSION_MAJOR, SCOPE_VERSION_MINOR,
             SCOPE_VERSION_PATCH);
    cli_print(&out);
    return EXIT_FINE;
}

int main(int argc, char **argv)
{
    if (argc < 2)
        die("no verb given (scope --help lists them)");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0)
        return print_help();
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0)
        return print_version();
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(argv[1], verbs[i].name) == 0)
            return verbs[i].main(argc - 1, argv + 1);
    die("%s: no such verb (scope --help lists them)", argv[1]);
}
