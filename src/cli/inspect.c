/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * scope inspect FILE...: what a profile holds.
 */
#include "inspect.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inspect_mpi.h"
#include "mpi_table.h"

static const struct inspect_option {
    const char *name;
    int letter;           /* what getopt gives */
    const char *argument; /* NULL: none */
    const char *help;
    unsigned parts; /* adds these parts */
} inspect_options[] = {
    {"regions-only", 256, NULL, "only the regions", INSPECT_REGIONS},
    {"metadata-only", 257, NULL, "only header and metadata", INSPECT_HEADER | INSPECT_METADATA},
    {"mpi", 258, NULL, "only MPI routines", INSPECT_MPI},
    {"by", 265, "WHAT", "MPI routines by routine, path, site, communicator, size or object",
     INSPECT_MPI},
    {"matrix", 266, NULL, "only messages: who sent how much to whom", INSPECT_MATRIX},
    {"files", 267, NULL, "only files and windows", INSPECT_FILES},
    {"topology", 259, NULL, "only the machine and where ranks ran", INSPECT_TOPOLOGY},
    {"communicators", 260, NULL, "only communicators", INSPECT_COMMS},
    {"flat", 261, NULL, "one row per region instead of a tree of call paths", 0},
    {"full", 'f', NULL, "leave nothing out: all rows, whole names, all metadata", 0},
    {"source", 262, NULL, "a column more: where it is in the source, of MPI the call sites", 0},
    {"sort", 's', "COLUMN", "order of rows (default total)", 0},
    {"columns", 'c', "LIST", "columns to show, separated by commas", 0},
    {"include", 'i', "GLOB", "only regions, routines or files whose name matches; repeatable", 0},
    {"exclude", 'x', "GLOB", "not those whose name matches; repeatable", 0},
    {"ranks", 'r', "LIST", "only these ranks, as in 0-3,8", 0},
    {"json", 'j', NULL, "all of it as JSON, times in ns", 0},
    {"csv", 263, NULL, "one table as CSV: the regions, or the one part asked for", 0},
    {"export-metadata", 264, "FILE", "write the metadata as JSON to FILE (- is standard output)",
     0},
    {"help", 'h', NULL, "this text", 0},
};
enum { OPTION_COUNT = sizeof inspect_options / sizeof inspect_options[0] };

static _Noreturn void print_help(void)
{
    struct sc_table *t = sc_table_create();
    struct sc_string out = {0};

    cli_text(&out, "usage: scope inspect [OPTIONS] FILE...\n\n");
    sc_table_column(t, "", SC_LEFT, 0);
    sc_table_column(t, "", SC_LEFT, 0);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct inspect_option *o = &inspect_options[i];

        sc_table_format(t, "%c%c%s--%s%s%s", o->letter < 256 ? '-' : ' ',
                        o->letter < 256 ? o->letter : ' ', o->letter < 256 ? ", " : "  ", o->name,
                        o->argument != NULL ? " " : "", o->argument != NULL ? o->argument : "");
        sc_table_cell(t, o->help);
    }
    if (sc_table_print(t, "  ", &out) != 0)
        die("out of memory");
    sc_table_free(t);
    cli_text(&out, "\ncolumns of regions: ");
    view_column_names(&out);
    cli_text(&out, "\ncolumns of --mpi: ");
    inspect_mpi_column_names(INSPECT_MPI, MPI_BY_ROUTINE, &out);
    cli_text(&out, "\ncolumns of --matrix: ");
    inspect_mpi_column_names(INSPECT_MATRIX, MPI_BY_ROUTINE, &out);
    cli_text(&out, "\ncolumns of --files: ");
    inspect_mpi_column_names(INSPECT_FILES, MPI_BY_ROUTINE, &out);
    cli_text(&out, "\ncolumns of --communicators: ");
    inspect_mpi_column_names(INSPECT_COMMS, MPI_BY_ROUTINE, &out);
    cli_text(&out, "\n");
    cli_print(&out);
    exit(EXIT_FINE);
}

static enum mpi_by find_by(const char *name)
{
    for (enum mpi_by by = 0; by < MPI_BY_COUNT; by++)
        if (strcmp(mpi_by_names[by], name) == 0)
            return by;
    die("--by: no '%s' (there are routine, path, site, communicator, size, object)", name);
}

static void apply(struct inspect_options *o, const struct inspect_option *option,
                  const char *argument)
{
    o->parts |= option->parts;
    switch (option->letter) {
    case 261:
        o->flat = true;
        break;
    case 'f':
        o->full = true;
        break;
    case 262:
        o->choice.source = true;
        break;
    case 's':
        o->choice.sort = argument;
        break;
    case 'c':
        o->choice.columns = argument;
        break;
    case 'i':
        cli_globs_add(&o->globs.include, &o->globs.include_count, argument);
        break;
    case 'x':
        cli_globs_add(&o->globs.exclude, &o->globs.exclude_count, argument);
        break;
    case 'r':
        cli_ranks_parse(&o->ranks, argument);
        break;
    case 'j':
        o->format = INSPECT_JSON;
        break;
    case 263:
        o->format = INSPECT_CSV;
        break;
    case 264:
        o->export_metadata = argument;
        break;
    case 265:
        o->by = find_by(argument);
        o->by_given = true;
        break;
    case 'h':
        print_help();
    default:
        break;
    }
}

static void parse_options(int argc, char **argv, struct inspect_options *o)
{
    struct option long_options[OPTION_COUNT + 1] = {{0}};
    int letter;

    for (int i = 0; i < OPTION_COUNT; i++)
        long_options[i] =
            (struct option){inspect_options[i].name,
                            inspect_options[i].argument != NULL ? required_argument : no_argument,
                            NULL, inspect_options[i].letter};
    opterr = 0;
    optind = 1;
    while ((letter = getopt_long(argc, argv, ":fs:c:i:x:r:jh", long_options, NULL)) != -1) {
        if (letter == ':')
            die("inspect: '%s': its argument is missing (scope inspect --help)", argv[optind - 1]);
        if (letter == '?')
            die("inspect: no such option: '%s' (scope inspect --help)", argv[optind - 1]);
        for (int i = 0; i < OPTION_COUNT; i++)
            if (inspect_options[i].letter == letter)
                apply(o, &inspect_options[i], optarg);
    }
    if (optind == argc)
        die("inspect: no file given (scope inspect FILE)");
}

unsigned inspect_chosen(const struct inspect_options *o)
{
    static const unsigned tables[] = {INSPECT_REGIONS, INSPECT_MPI, INSPECT_MATRIX, INSPECT_FILES,
                                      INSPECT_COMMS};

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (o->parts & tables[i])
            return tables[i];
    return INSPECT_REGIONS;
}

static void check_options(struct inspect_options *o, int files)
{
    if (o->format == INSPECT_CSV && o->parts != 0 && (o->parts & (o->parts - 1)) != 0)
        die("inspect: --csv prints one table (leave all but one of the parts out)");
    if (o->export_metadata != NULL && files > 1)
        die("inspect: --export-metadata takes one file");
    if (o->parts == 0 && o->format == INSPECT_CSV)
        o->parts = INSPECT_REGIONS;
    o->brief = o->parts == 0;
    if (o->brief)
        o->parts = INSPECT_HEADER | INSPECT_REGIONS | INSPECT_MPI | INSPECT_MATRIX | INSPECT_FILES |
                   INSPECT_TOPOLOGY | INSPECT_COMMS;
    if (o->full && (o->parts & INSPECT_HEADER))
        o->parts |= INSPECT_METADATA;
    if (o->choice.source && !o->by_given)
        o->by = MPI_BY_SITE;
    o->choice.globs = &o->globs;
    if (inspect_chosen(o) == INSPECT_REGIONS)
        view_check(&o->choice);
    else
        inspect_mpi_check(o, inspect_chosen(o));
}

static void print_file(const char *path, const struct inspect_options *o, bool first,
                       struct sc_string *out, struct sc_string *notes)
{
    struct profile p;

    profile_open(&p, path, &o->ranks);
    if (o->export_metadata != NULL) {
        inspect_metadata_json(&p, "", out);
        cli_append(out, "\n", 1);
    } else if (o->format == INSPECT_JSON) {
        cli_text(out, "%s", first ? "" : ",\n");
        inspect_json(&p, o, out);
    } else if (o->format == INSPECT_CSV) {
        inspect_csv(&p, o, first, out, notes);
    } else {
        cli_text(out, "%s", first ? "" : "\n");
        inspect_text(&p, o, out);
    }
    profile_close(&p);
}

int inspect_main(int argc, char **argv)
{
    struct inspect_options options = {0};
    struct sc_string out = {0}, notes = {0};

    parse_options(argc, argv, &options);
    check_options(&options, argc - optind);
    if (options.format == INSPECT_JSON && options.export_metadata == NULL)
        cli_text(&out, "{\"format\": 1, \"profiles\": [\n");
    for (int i = optind; i < argc; i++)
        print_file(argv[i], &options, i == optind, &out, &notes);
    if (options.format == INSPECT_JSON && options.export_metadata == NULL)
        cli_text(&out, "\n]}\n");
    cli_write(options.export_metadata != NULL ? options.export_metadata : "-", &out);
    if (notes.length > 0)
        fputs(notes.data, stderr);
    sc_string_free(&notes);
    cli_globs_free(&options.globs);
    cli_ranks_free(&options.ranks);
    return EXIT_FINE;
}
