/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scope info [--settings] [--json]: what this build is, has and lacks and why; or every setting,
 * its value here and now and where that comes from.
 */
#include <dlfcn.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "binary.h"
#include "cli.h"
#include "clock.h"
#include "h5api.h"
#include "library.h"
#include "meta.h"
#include "settings.h"
#include "source.h"
#include "table.h"

/* ---- the build: one probe per line; each appends what is so, or why not and returns false ---- */

static bool probe_compiler(struct sc_string *out)
{
#ifdef __clang__
    cli_text(out, "%s", __VERSION__);
#else
    cli_text(out, "GCC %s", __VERSION__);
#endif
    return true;
}

static bool probe_library(struct sc_string *out)
{
    char path[PATH_MAX];
    const bool found = library_find(path) == 0;

    cli_text(out, "%s", found ? path : sc_last_error());
    return found;
}

/* Which MPI libscope was built for; the file says which library it needs. */
static bool probe_mpi(struct sc_string *out)
{
    char path[PATH_MAX];
    struct binary_facts facts;

    cli_text(out, "%s", SC_MPI_NAME);
    if (library_find(path) == 0 && binary_read(path, &facts) && facts.mpi[0] != '\0')
        cli_text(out, " (%s)", facts.mpi);
    return true;
}

static bool probe_hdf5_write(struct sc_string *out)
{
    const char *named = getenv("SCOPE_HDF5_LIBRARY");
    const char *path = named != NULL && named[0] != '\0' ? named : SC_H5_PRIVATE;
    const bool readable = strchr(path, '/') == NULL || access(path, R_OK) == 0;

    cli_text(out, readable ? "%s" : "%s cannot be read", path);
    return readable;
}

static bool probe_hdf5_read(struct sc_string *out)
{
    static const char *const libraries[] = {SC_H5_SERIAL, SC_H5_PRIVATE, NULL};
    const struct sc_h5api *h5;
    unsigned major = 0, minor = 0, release = 0;
    Dl_info where;

    if (sc_h5_load(libraries, &h5) != 0) {
        cli_text(out, "%s", sc_last_error());
        return false;
    }
    h5->H5get_libversion(&major, &minor, &release);
    cli_text(out, "%u.%u.%u", major, minor, release);
    if (dladdr((void *)(uintptr_t)h5->H5get_libversion, &where) != 0)
        cli_text(out, " (%s)", where.dli_fname);
    return true;
}

static bool probe_topology(struct sc_string *out)
{
    struct sc_topology found;

    if (sc_meta_topology(0, &found) != 0) {
        cli_text(out, "%s", sc_last_error());
        return false;
    }
    cli_text(out, "hwloc: packages %d, NUMA nodes %d, cores %d, PUs %d", found.packages,
             found.numa_nodes, found.cores, found.pus);
    free(found.xml);
    return true;
}

static bool probe_likwid(struct sc_string *out)
{
    struct sc_string facts = {0};
    const bool found = sc_meta_likwid(&facts) == 0;

    cli_text(out, "%s", found ? "topology of the CPU" : sc_last_error());
    sc_string_free(&facts);
    return found;
}

static bool probe_clock(struct sc_string *out)
{
    sc_clock_start();
    cli_text(out, "%s", sc_clock_name());
    return true;
}

static const struct probe {
    const char *name;
    bool (*ask)(struct sc_string *out);
} probes[] = {
    {"compiler", probe_compiler},     {"library", probe_library},     {"mpi", probe_mpi},
    {"hdf5_write", probe_hdf5_write}, {"hdf5_read", probe_hdf5_read}, {"topology", probe_topology},
    {"likwid", probe_likwid},         {"clock", probe_clock},         {"source", source_available},
};

static void json_text(struct sc_string *out, const char *name, const char *text)
{
    cli_text(out, "\"%s\": ", name);
    cli_json(out, text, strlen(text));
}

static void build_as_text(struct sc_string *out)
{
    struct sc_table *table = sc_table_create();

    cli_text(out, "scope %d.%d.%d\n", SCOPE_VERSION_MAJOR, SCOPE_VERSION_MINOR,
             SCOPE_VERSION_PATCH);
    for (int column = 0; column < 3; column++)
        sc_table_column(table, "", SC_LEFT, 0);
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        struct sc_string detail = {0};
        const bool there = probes[i].ask(&detail);
        sc_table_cell(table, probes[i].name);
        sc_table_cell(table, there ? "yes" : "no");
        sc_table_cell(table, detail.data != NULL ? detail.data : "");
        sc_string_free(&detail);
    }
    if (table == NULL || sc_table_print(table, "", out) != 0)
        die("info: out of memory");
    sc_table_free(table);
}

static void build_as_json(struct sc_string *out)
{
    cli_text(out, "{\n  \"version\": \"%d.%d.%d\"", SCOPE_VERSION_MAJOR, SCOPE_VERSION_MINOR,
             SCOPE_VERSION_PATCH);
    for (size_t i = 0; i < sizeof probes / sizeof probes[0]; i++) {
        struct sc_string detail = {0};
        const bool there = probes[i].ask(&detail);
        cli_text(out, ",\n  \"%s\": {\"available\": %s, ", probes[i].name,
                 there ? "true" : "false");
        json_text(out, "detail", detail.data != NULL ? detail.data : "");
        cli_text(out, "}");
        sc_string_free(&detail);
    }
    cli_text(out, "\n}\n");
}

/* ---- the settings ---- */

static void settings_as_text(const struct sc_settings *settings, struct sc_string *out)
{
    static const char *const heads[] = {"setting", "value", "from", "default", "meaning"};
    struct sc_table *table = sc_table_create();

    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++)
        sc_table_column(table, heads[i], SC_LEFT, i == 1 ? 48 : 0);
    for (int id = 0; id < SC_SETTING_COUNT; id++) {
        const struct sc_setting *s = &settings->value[id];
        sc_table_cell(table, sc_setting_name((enum sc_setting_id)id));
        sc_table_cell(table, s->text[0] != '\0' ? s->text : "-");
        sc_table_cell(table, sc_origin_name(s->origin));
        sc_table_cell(table, sc_setting_default((enum sc_setting_id)id)[0] != '\0'
                                 ? sc_setting_default((enum sc_setting_id)id)
                                 : "-");
        sc_table_cell(table, sc_setting_help((enum sc_setting_id)id));
    }
    if (table == NULL || sc_table_print(table, "", out) != 0)
        die("info: out of memory");
    sc_table_free(table);
}

static void settings_as_json(const struct sc_settings *settings, struct sc_string *out)
{
    cli_text(out, "{\n  \"settings\": [");
    for (int i = 0; i < SC_SETTING_COUNT; i++) {
        const enum sc_setting_id id = (enum sc_setting_id)i;
        char allowed[120];
        sc_setting_allowed(id, allowed, sizeof allowed);
        cli_text(out, "%s\n    {", i > 0 ? "," : "");
        json_text(out, "name", sc_setting_name(id));
        cli_text(out, ", ");
        json_text(out, "value", settings->value[i].text);
        cli_text(out, ", ");
        json_text(out, "from", sc_origin_name(settings->value[i].origin));
        cli_text(out, ", ");
        json_text(out, "default", sc_setting_default(id));
        cli_text(out, ", ");
        json_text(out, "allowed", allowed);
        cli_text(out, ", ");
        json_text(out, "help", sc_setting_help(id));
        cli_text(out, "}");
    }
    cli_text(out, "\n  ]\n}\n");
}

/* Wrong variables are told on standard error, a line each, as a run would. */
static void show_settings(bool json, struct sc_string *out)
{
    struct sc_settings settings;
    struct sc_string warnings = {0};

    if (sc_settings_resolve(NULL, &settings, &warnings) != 0)
        die("info: %s", sc_last_error());
    for (char *line = warnings.data, *end; line != NULL && *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        *end = '\0';
        sc_log("%s", line);
    }
    sc_string_free(&warnings);
    (json ? settings_as_json : settings_as_text)(&settings, out);
}

static const char usage[] = "usage: scope info [--settings] [--json]\n"
                            "  --settings   every setting, its value, where that comes from\n"
                            "  --json       machine-readable\n";

int info_main(int argc, char **argv)
{
    static const struct option longs[] = {
        {"settings", no_argument, NULL, 's'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    bool settings = false, json = false;
    struct sc_string out = {0};
    int found;

    opterr = 0;
    optind = 1;
    while ((found = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        if (found == 'h') {
            cli_text(&out, usage);
            cli_print(&out);
            return EXIT_FINE;
        }
        if (found == '?')
            die("info: no such option: '%s' (scope info --help)", argv[optind - 1]);
        settings = settings || found == 's';
        json = json || found == 'j';
    }
    if (optind < argc)
        die("info: '%s': takes no file (scope info --help)", argv[optind]);
    if (settings)
        show_settings(json, &out);
    else
        (json ? build_as_json : build_as_text)(&out);
    cli_print(&out);
    return EXIT_FINE;
}
