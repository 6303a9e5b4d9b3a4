/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * scope recover FOLDER...: a profile from what a run that did not end left behind.
 */
#include "recover.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "cli.h"

static const struct option recover_options[] = {
    {"output", required_argument, NULL, 'o'},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static int print_help(void)
{
    struct sc_string out = {0};

    cli_text(&out, "usage: scope recover [-o FILE] FOLDER...\n\n"
                   "  -o, --output FILE  the profile; else where the run would have put it\n"
                   "  -h, --help         this text\n\n"
                   "FOLDER is PROFILE.salvage, or PROFILE, whose folder is beside it.\n");
    cli_print(&out);
    return EXIT_FINE;
}

/* Nothing is lost by accident: a file that is there is replaced only when it is named. */
static void check_output(const char *path)
{
    struct stat info;

    if (path[0] == '\0')
        die("recover: where the run would have put its profile is not known (-o FILE)");
    if (stat(path, &info) == 0)
        die("%s: is there already (-o FILE writes another one, or over it)", path);
}

static void recover(const char *folder, const char *output)
{
    const struct sc_salvage_run *run;
    struct sc_string summary = {0}, notes = {0};
    struct sc_salvage *from;

    cli_check(sc_salvage_open(folder, &from));
    run = sc_salvage_run(from);
    if (run->alive > 0)
        die("%s: the run still goes on (%zu of its processes are there)", folder, run->alive);
    if (output == NULL)
        check_output(output = run->path);
    cli_check(sc_recover(from, output, &summary, &notes));
    if (run->others > 0)
        cli_text(&notes, "scope: %s: %zu more there, of earlier runs\n", folder, run->others);
    sc_salvage_close(from);
    if (notes.length > 0)
        fputs(notes.data, stderr);
    sc_string_free(&notes);
    cli_print(&summary);
}

int recover_main(int argc, char **argv)
{
    const char *output = NULL;
    int letter;

    opterr = 0;
    optind = 1;
    while ((letter = getopt_long(argc, argv, ":o:h", recover_options, NULL)) != -1) {
        if (letter == 'h')
            return print_help();
        if (letter == ':')
            die("recover: '%s': its argument is missing (scope recover --help)", argv[optind - 1]);
        if (letter == '?')
            die("recover: no such option: '%s' (scope recover --help)", argv[optind - 1]);
        output = optarg;
    }
    if (optind == argc)
        die("recover: no folder given (scope recover PROFILE.salvage)");
    if (output != NULL && argc - optind > 1)
        die("recover: -o takes one folder");
    for (int i = optind; i < argc; i++)
        recover(argv[i], output);
    return EXIT_FINE;
}
