/* SPDX-License-Identifier: BSD-3-Clause
 *
 * scope run [OPTIONS] [--] COMMAND [ARGUMENTS]: puts the library into LD_PRELOAD and the options
 * into SCOPE_PROFILER_RUN, then becomes COMMAND, so that status, signals and process id are the
 * command's own.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "binary.h"
#include "cli.h"
#include "launcher.h"
#include "library.h"
#include "settings.h"

/* What sets a setting: to its argument or, having none, to the fixed value. The last two are
 * others. */
/* clang-format off */
static const struct run_option {
    const char *name;
    int letter;
    enum sc_setting_id setting;
    const char *fixed;
    const char *argument;
    const char *help;
} run_options[] = {
    {"output", 'o', SC_FILE_PATH, NULL, "FILE", "profile to write"},
    {"quiet", 'q', SC_SUMMARY, "false", NULL, "print no summary at the end"},
    {"no-summary", 0, SC_SUMMARY, "false", NULL, "the same"},
    {"label", 0, SC_LABEL, NULL, "TEXT", "short name of the run"},
    {"output-mode", 0, SC_OUTPUT_MODE, NULL, "MODE", "auto, direct or parallel"},
    {"mpi-record", 0, SC_MPI_RECORD, NULL, "WHAT", "calls, stats or off"},
    {"metadata", 0, SC_METADATA_DETAIL, NULL, "DETAIL", "minimal or full"},
    {"no-topology", 0, SC_TOPOLOGY, "false", NULL, "leave the machines' topology out"},
    {"buffer-limit", 0, SC_BUFFER_LIMIT, NULL, "N", "events a thread's first buffer holds"},
    {"set", 0, SC_SETTING_COUNT, NULL, "NAME=VALUE", "any setting of scope info --settings"},
    {"help", 'h', SC_SETTING_COUNT, "", NULL, "print this"},
};
/* clang-format on */
enum { OPTION_COUNT = sizeof run_options / sizeof run_options[0], LONG_ONLY = 256 };

static int print_help(void)
{
    struct sc_string out = {0};

    cli_text(&out, "usage: scope run [OPTIONS] [--] COMMAND [ARGUMENTS]\n"
                   "Runs COMMAND with the profiling library in it; with MPI: "
                   "mpirun -n 4 scope run ./app\n\n");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct run_option *o = &run_options[i];
        char letter[8] = "    ";
        if (o->letter != 0)
            snprintf(letter, sizeof letter, "-%c, ", o->letter);
        cli_text(&out, "  %s--%s %-*s %s\n", letter, o->name, 16 - (int)strlen(o->name),
                 o->argument != NULL ? o->argument : "", o->help);
    }
    cli_print(&out);
    return EXIT_FINE;
}

/* ---- options to SCOPE_PROFILER_RUN ---- */

static void hand_down(struct sc_string *run, const char *name, const char *value)
{
    struct sc_string path = {0};

    /* A path means the place it means here, wherever the program goes before MPI starts. */
    if (strcmp(name, sc_setting_name(SC_FILE_PATH)) == 0 && value[0] != '\0') {
        if (sc_launcher_path(value, 0, &path) != 0)
            die("run: %s", sc_last_error());
        value = path.data;
    }
    if (sc_settings_check(name, value) != 0)
        die("run: %s", sc_last_error());
    if (sc_settings_hand_down(run, name, value) != 0)
        die("run: out of memory");
    sc_string_free(&path);
}

static void hand_down_pair(struct sc_string *run, const char *pair)
{
    const char *equals = strchr(pair, '=');
    char *name;

    if (equals == NULL)
        die("run: --set wants NAME=VALUE, not '%s'", pair);
    name = strndup(pair, (size_t)(equals - pair));
    if (name == NULL)
        die("run: out of memory");
    hand_down(run, name, equals + 1);
    free(name);
}

static const struct run_option *option_of(int found)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (found == LONG_ONLY + i || (found == run_options[i].letter && found != 0))
            return &run_options[i];
    return NULL;
}

/* spelled is the word getopt_long() stopped at, optopt the letter when it was one. */
_Noreturn static void refuse_option(int found, const char *spelled)
{
    const char letter[] = {'-', (char)optopt, '\0'};

    if (optopt > 0 && optopt < LONG_ONLY)
        spelled = letter;
    die("run: %s '%s' (scope run --help lists them)",
        found == ':' ? "no value given to option" : "no such option:", spelled);
}

/* Fills run; returns the index of COMMAND, 0 when help was wanted instead. */
static int read_options(int argc, char **argv, struct sc_string *run)
{
    struct option longs[OPTION_COUNT + 1] = {{0}};
    int found;

    for (int i = 0; i < OPTION_COUNT; i++) {
        longs[i].name = run_options[i].name;
        longs[i].has_arg = run_options[i].argument != NULL ? required_argument : no_argument;
        longs[i].val = LONG_ONLY + i;
    }
    opterr = 0;
    optind = 1;
    while ((found = getopt_long(argc, argv, "+:o:qh", longs, NULL)) != -1) {
        const struct run_option *o = option_of(found);
        if (o == NULL)
            refuse_option(found, argv[optind - 1]);
        if (o->setting != SC_SETTING_COUNT)
            hand_down(run, sc_setting_name(o->setting), o->fixed != NULL ? o->fixed : optarg);
        else if (o->argument != NULL)
            hand_down_pair(run, optarg);
        else
            return 0;
    }
    if (optind >= argc)
        die("run: no command given (usage: scope run [OPTIONS] [--] COMMAND [ARGUMENTS])");
    return optind;
}

static void set_variable(const char *name, const char *value)
{
    if (setenv(name, value, 1) != 0)
        die("run: %s: %s", name, strerror(errno));
}

/* ---- the library ---- */

/* Whether a list as in LD_PRELOAD names a libscope, whichever. */
static bool names_library(const char *list)
{
    for (const char *at = strstr(list, "libscope.so"); at != NULL;
         at = strstr(at + 1, "libscope.so"))
        if (at == list || strchr("/: ", at[-1]) != NULL)
            return true;
    return false;
}

static void preload(const char *library)
{
    const char *list = getenv("LD_PRELOAD");
    struct sc_string value = {0};

    if (list != NULL && names_library(list))
        return;
    if (strpbrk(library, ": ") != NULL)
        die("run: %s: LD_PRELOAD takes no path with a space or colon (install it elsewhere)",
            library);
    if (sc_string_print(&value, "%s%s%s", library, list != NULL && list[0] != '\0' ? ":" : "",
                        list != NULL ? list : "") != 0)
        die("run: out of memory");
    set_variable("LD_PRELOAD", value.data);
    sc_string_free(&value);
}

/* ---- what to expect of the command ---- */

/* The file execvp() would take, in out of PATH_MAX bytes; false when there is none. */
static bool locate(const char *command, char *out)
{
    const char *folder = getenv("PATH");

    if (strchr(command, '/') != NULL)
        return snprintf(out, PATH_MAX, "%s", command) < PATH_MAX;
    while (folder != NULL) {
        const size_t length = strcspn(folder, ":");
        struct stat st;
        if (snprintf(out, PATH_MAX, "%.*s%s%s", (int)length, folder, length > 0 ? "/" : "./",
                     command) < PATH_MAX &&
            stat(out, &st) == 0 && S_ISREG(st.st_mode) && access(out, X_OK) == 0)
            return true;
        folder = folder[length] == ':' ? folder + length + 1 : NULL;
    }
    return false;
}

static bool is_launcher(const char *path)
{
    static const char *const names[] = {"mpirun", "mpiexec", "orterun", "prterun", "prun",
                                        "srun",   "aprun",   "jsrun",   "palsrun"};
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const size_t length = strcspn(name, "."); /* mpirun.openmpi, mpiexec.hydra */

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && strncmp(name, names[i], length) == 0)
            return true;
    return false;
}

/* True when running it changes the user or group, which makes the loader ignore LD_PRELOAD. */
static bool changes_identity(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && (((st.st_mode & S_ISUID) && st.st_uid != getuid()) ||
                                    ((st.st_mode & S_ISGID) && st.st_gid != getgid()));
}

/* Says in one line what stands against recording path, if anything; false when the library would do
 * harm in it. */
static bool fit_to_preload(const char *path, const char *library)
{
    struct binary_facts program, ours;

    if (is_launcher(path))
        sc_log("run: %s starts the ranks: those on other hosts may go unrecorded (better: %s ... "
               "scope run ./app)",
               path, path);
    if (changes_identity(path))
        sc_log("run: %s is set-user-ID or set-group-ID: it is not recorded", path);
    if (!binary_read(path, &program) || !program.is_elf)
        return true;
    if (!program.is_native) {
        sc_log("run: %s is not a %zu-bit program: it is not recorded", path, 8 * sizeof(void *));
        return false;
    }
    if (!program.is_dynamic)
        sc_log("run: %s is statically linked: it is not recorded (link it with -lscope)", path);
    if (program.mpi[0] == '\0' || !binary_read(library, &ours) || ours.mpi[0] == '\0' ||
        strcmp(program.mpi, ours.mpi) == 0)
        return true;
    sc_log("run: %s uses %s, this libscope was built for %s: it is not recorded (use the scope "
           "built for its MPI)",
           path, program.mpi, ours.mpi);
    return false;
}

int run_main(int argc, char **argv)
{
    const char *inherited = getenv("SCOPE_PROFILER_RUN");
    char library[PATH_MAX], path[PATH_MAX];
    struct sc_string run = {0};
    int first, why;

    if (inherited != NULL && sc_string_append(&run, inherited, strlen(inherited)) != 0)
        die("run: out of memory");
    first = read_options(argc, argv, &run);
    if (first == 0)
        return print_help();
    if (library_find(library) != 0)
        die("run: %s", sc_last_error());
    if (run.length > 0)
        set_variable("SCOPE_PROFILER_RUN", run.data);
    sc_string_free(&run);
    if (!locate(argv[first], path) || fit_to_preload(path, library))
        preload(library);
    execvp(argv[first], argv + first);
    why = errno;
    sc_log("run: %s: %s", argv[first],
           why == ENOENT && strchr(argv[first], '/') == NULL ? "command not found" : strerror(why));
    return why == ENOENT ? 127 : 126; /* as shells have it */
}
