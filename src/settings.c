/* SPDX-License-Identifier: BSD-3-Clause */
#include "settings.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base.h"

#define PREFIX "SCOPE_PROFILER_"
#define NAME_MAX_LENGTH 64 /* no name in the tables comes near it; for look-alikes */
#define CHOICES_MAX 4

_Static_assert(sizeof(long) == 8, "settings reach beyond 32 bits");

extern char **environ;

enum kind { BOOLEAN, INTEGER, CHOICE, TEXT };

struct row {
    const char *name;
    enum kind kind;
    size_t offset; /* of the field in scope_options */
    const char *preset;
    long low, high; /* INTEGER: the value; TEXT: its length in bytes */
    const char *choice[CHOICES_MAX];
    const char *help;
};

#define FIELD(member) #member, .offset = offsetof(scope_options, member)

/* clang-format off */
static const struct row rows[SC_SETTING_COUNT] = {
    [SC_ENABLED] = {FIELD(enabled), .kind = BOOLEAN, .preset = "true",
        .help = "record; false records nothing and writes no file"},
    [SC_FILE_PATH] = {FIELD(file_path), .kind = TEXT, .preset = "profiling_data.h5",
        .low = 1, .high = SC_TEXT_MAX - 1,
        .help = "profile to write"},
    [SC_OUTPUT_MODE] = {FIELD(output_mode), .kind = CHOICE, .preset = "auto",
        .choice = {"auto", "direct", "parallel"},
        .help = "how ranks write it: in turns (direct), together (parallel)"},
    [SC_LABEL] = {FIELD(label), .kind = TEXT, .preset = "", .high = 1000,
        .help = "short name of the run"},
    [SC_METADATA_DETAIL] = {FIELD(metadata_detail), .kind = CHOICE, .preset = "minimal",
        .choice = {"minimal", "full"},
        .help = "full adds user, host, folders, command line, environment"},
    [SC_MPI_RECORD] = {FIELD(mpi_record), .kind = CHOICE, .preset = "calls",
        .choice = {"calls", "stats", "off"},
        .help = "MPI calls to keep: each one, totals only (stats), none"},
    [SC_BUFFER_LIMIT] = {FIELD(buffer_limit), .kind = INTEGER, .preset = "1024",
        .low = 1, .high = 1L << 30,
        .help = "events a thread's first buffer holds; it grows"},
    [SC_HDF5_CHUNK_SIZE] = {FIELD(hdf5_chunk_size), .kind = INTEGER, .preset = "0",
        .low = 0, .high = 1L << 25, /* HDF5: no chunk of 4 GiB or more */
        .help = "events per HDF5 chunk; 0 stores contiguously"},
    [SC_TOPOLOGY] = {FIELD(topology), .kind = BOOLEAN, .preset = "true",
        .help = "store the topology of the machines"},
    [SC_SUMMARY] = {FIELD(summary), .kind = BOOLEAN, .preset = "true",
        .help = "print the summary at the end"},
    [SC_MPI_PCONTROL] = {FIELD(mpi_pcontrol), .kind = CHOICE, .preset = "levels",
        .choice = {"levels", "regions"},
        .help = "MPI_Pcontrol pauses and resumes, or begins and ends regions"},
    [SC_TRACK_ASYNC] = {FIELD(track_async), .kind = BOOLEAN, .preset = "false",
        .help = "keep the life of each MPI request"},
    [SC_SALVAGE] = {FIELD(salvage), .kind = BOOLEAN, .preset = "true",
        .help = "record into files, so that a run that is killed loses nothing"},
    [SC_SALVAGE_DIR] = {FIELD(salvage_dir), .kind = TEXT, .preset = "", .high = 1000,
        .help = "folder for them; empty: beside the profile, or /dev/shm"},
};
/* clang-format on */

/* Variables that are no settings. */
static const struct {
    const char *name;
    enum kind kind;
} variables[] = {
    {"mpi", BOOLEAN}, /* launcher.h: overrules the detection */
    {"run", TEXT},    /* options of `scope run` */
    {"run_id", TEXT}, /* these are stored with the run as they are */
    {"pipeline_id", TEXT}, {"deployment_id", TEXT}, {"workspace_id", TEXT},
};
#define VARIABLE_COUNT (sizeof variables / sizeof variables[0])

static const char *const origins[] = {
    [SC_FROM_DEFAULT] = "default",
    [SC_FROM_ENVIRONMENT] = "environment",
    [SC_FROM_PROGRAM] = "program",
    [SC_FROM_RUN] = "scope run",
};

const char *sc_setting_name(enum sc_setting_id id)
{
    return rows[id].name;
}

const char *sc_setting_help(enum sc_setting_id id)
{
    return rows[id].help;
}

const char *sc_setting_default(enum sc_setting_id id)
{
    return rows[id].preset;
}

const char *sc_origin_name(enum sc_origin origin)
{
    return origins[origin];
}

/* ---- what a value must be ---- */

static int choice_count(const struct row *row)
{
    int count = 0;

    while (count < CHOICES_MAX && row->choice[count] != NULL)
        count++;
    return count;
}

static void describe_choices(const struct row *row, char *out, size_t size)
{
    const int count = choice_count(row);
    size_t used = 0;

    for (int i = 0; i < count && used < size; i++) {
        const char *joint = i == 0 ? "" : i == count - 1 ? " or " : ", ";
        used += (size_t)snprintf(out + used, size - used, "%s%s", joint, row->choice[i]);
    }
}

void sc_setting_allowed(enum sc_setting_id id, char *out, size_t size)
{
    const struct row *row = &rows[id];

    switch (row->kind) {
    case BOOLEAN:
        snprintf(out, size, "true or false");
        break;
    case INTEGER:
        snprintf(out, size, "an integer from %ld to %ld", row->low, row->high);
        break;
    case CHOICE:
        describe_choices(row, out, size);
        break;
    case TEXT:
        if (row->low == 0)
            snprintf(out, size, "text of at most %ld bytes", row->high);
        else
            snprintf(out, size, "text of %ld to %ld bytes", row->low, row->high);
        break;
    }
}

int sc_settings_boolean(const char *text)
{
    static const char *const words[2][4] = {{"false", "0", "no", "off"},
                                            {"true", "1", "yes", "on"}};

    for (int truth = 0; truth < 2; truth++)
        for (int i = 0; i < 4; i++)
            if (strcasecmp(text, words[truth][i]) == 0)
                return truth;
    return -1;
}

/* The whole text as a decimal number: no space before or after it, no sign but a minus. */
static bool parse_integer(const char *text, long *out)
{
    const char *digits = text + (*text == '-');
    char *end;

    if (!isdigit((unsigned char)*digits))
        return false;
    errno = 0;
    *out = strtol(text, &end, 10);
    return errno == 0 && *end == '\0';
}

static int parse_choice(const struct row *row, const char *text)
{
    const int count = choice_count(row);

    for (int i = 0; i < count; i++)
        if (strcmp(text, row->choice[i]) == 0)
            return i;
    return -1;
}

/* False (out is then unchanged) when value is not allowed; else out holds it, in its plainest
 * spelling. */
static bool assign(const struct row *row, const char *value, enum sc_origin origin,
                   struct sc_setting *out)
{
    const size_t length = strlen(value);
    long number = 0;
    bool fits = false;

    switch (row->kind) {
    case BOOLEAN:
        number = sc_settings_boolean(value);
        fits = number >= 0;
        break;
    case INTEGER:
        fits = parse_integer(value, &number) && number >= row->low && number <= row->high;
        break;
    case CHOICE:
        number = parse_choice(row, value);
        fits = number >= 0;
        break;
    case TEXT:
        fits = length >= (size_t)row->low && length <= (size_t)row->high;
        break;
    }
    if (!fits)
        return false;
    out->origin = origin;
    out->number = number;
    if (row->kind == BOOLEAN)
        snprintf(out->text, sizeof out->text, "%s", number ? "true" : "false");
    else if (row->kind == INTEGER)
        snprintf(out->text, sizeof out->text, "%ld", number);
    else
        memcpy(out->text, value, length + 1);
    return true;
}

/* ---- what is said about a wrong one ---- */

/* A foreign text for one line of a message: cut, and what would not print replaced. */
struct shown {
    char text[80];
};

static struct shown shown(const char *text)
{
    const size_t length = strlen(text);
    struct shown s;

    snprintf(s.text, sizeof s.text, "%.60s%s", text, length > 60 ? "..." : "");
    for (char *c = s.text; *c != '\0'; c++)
        if (iscntrl((unsigned char)*c))
            *c = '?';
    return s;
}

static void complaint(const struct row *row, const char *value, const char *from, char *out,
                      size_t size)
{
    char allowed[120];

    sc_setting_allowed((enum sc_setting_id)(row - rows), allowed, sizeof allowed);
    snprintf(out, size, "%s = '%s' (from %s): must be %s", row->name, shown(value).text, from,
             allowed);
}

static int refuse(const struct row *row, const char *value, const char *from)
{
    char text[320];

    complaint(row, value, from, text, sizeof text);
    return sc_fail(SC_EINVAL, "%s", text);
}

/* Letters to add, drop or change to make b of a (Levenshtein), both shorter than NAME_MAX_LENGTH.
 */
static size_t edit_distance(const char *a, const char *b)
{
    const size_t width = strlen(b);
    size_t line[NAME_MAX_LENGTH];

    for (size_t j = 0; j <= width; j++)
        line[j] = j;
    for (size_t i = 1; a[i - 1] != '\0'; i++) {
        size_t diagonal = line[0];
        line[0] = i;
        for (size_t j = 1; j <= width; j++) {
            size_t best = diagonal + (a[i - 1] != b[j - 1]);
            if (line[j] + 1 < best)
                best = line[j] + 1;
            if (line[j - 1] + 1 < best)
                best = line[j - 1] + 1;
            diagonal = line[j];
            line[j] = best;
        }
    }
    return line[width];
}

/* The real name that name comes nearest to; NULL when at least half of it would have to change. */
static const char *closest(const char *name, bool with_variables)
{
    const size_t length = strlen(name);
    const size_t count = SC_SETTING_COUNT + (with_variables ? VARIABLE_COUNT : 0);
    const char *found = NULL;
    size_t least = (length + 1) / 2;

    if (length >= NAME_MAX_LENGTH)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *real =
            i < SC_SETTING_COUNT ? rows[i].name : variables[i - SC_SETTING_COUNT].name;
        size_t distance = edit_distance(name, real);
        if (distance < least) {
            least = distance;
            found = real;
        }
    }
    return found;
}

static void unknown(const char *name, bool with_variables, char *out, size_t size)
{
    const char *real = closest(name, with_variables);

    if (real != NULL)
        snprintf(out, size, "unknown setting '%s' (did you mean '%s'?)", shown(name).text, real);
    else
        snprintf(out, size, "unknown setting '%s' (scope info --settings lists them)",
                 shown(name).text);
}

static const struct row *find(const char *name)
{
    for (int id = 0; id < SC_SETTING_COUNT; id++)
        if (strcmp(name, rows[id].name) == 0)
            return &rows[id];
    return NULL;
}

static int find_variable(const char *name)
{
    for (size_t i = 0; i < VARIABLE_COUNT; i++)
        if (strcmp(name, variables[i].name) == 0)
            return (int)i;
    return -1;
}

/* ---- the layers, lowest first ---- */

static void take_defaults(struct sc_settings *s)
{
    for (int id = 0; id < SC_SETTING_COUNT; id++)
        assign(&rows[id], rows[id].preset, SC_FROM_DEFAULT, &s->value[id]);
}

/* One variable; name is it without the prefix, in small letters. What is wrong goes to text, else
 * that is made empty. */
static void take_variable(const char *variable, const char *name, const char *value,
                          struct sc_settings *s, char *text, size_t size)
{
    const struct row *row = find(name);
    const int other = find_variable(name);
    char what[200];

    text[0] = '\0';
    if (row != NULL) {
        if (value[0] != '\0' && !assign(row, value, SC_FROM_ENVIRONMENT, &s->value[row - rows]))
            complaint(row, value, variable, text, size);
    } else if (other < 0) {
        unknown(name, true, what, sizeof what);
        snprintf(text, size, "%s: %s", variable, what);
    } else if (variables[other].kind == BOOLEAN && value[0] != '\0' &&
               sc_settings_boolean(value) < 0) {
        snprintf(text, size, "%s = '%s': must be 0 or 1", variable, shown(value).text);
    }
}

/* Splits "SCOPE_PROFILER_NAME=value"; false when it is none of ours. A name longer than any real
 * one is cut. Both buffers hold VARIABLE_MAX bytes. */
#define VARIABLE_MAX (sizeof PREFIX + NAME_MAX_LENGTH)
static bool split_variable(const char *entry, char *variable, char *name, const char **value)
{
    const size_t prefix = strlen(PREFIX);
    const char *equals = strchr(entry, '=');

    if (equals == NULL || strncmp(entry, PREFIX, prefix) != 0)
        return false;
    snprintf(variable, VARIABLE_MAX, "%.*s", (int)(equals - entry), entry);
    for (const char *c = variable + prefix; *c != '\0'; c++)
        *name++ = (char)tolower((unsigned char)*c);
    *name = '\0';
    *value = equals + 1;
    return true;
}

static bool has_small_letters(const char *text)
{
    while (*text != '\0' && !islower((unsigned char)*text))
        text++;
    return *text != '\0';
}

static int take_environment(struct sc_settings *s, struct sc_string *warnings)
{
    char variable[VARIABLE_MAX], name[VARIABLE_MAX], text[320];
    const char *value;
    int rc = 0;

    for (char **entry = environ; entry != NULL && *entry != NULL && rc == 0; entry++) {
        if (!split_variable(*entry, variable, name, &value))
            continue;
        if (has_small_letters(variable))
            snprintf(text, sizeof text, "%s: names are in capitals here", variable);
        else
            take_variable(variable, name, value, s, text, sizeof text);
        if (text[0] != '\0' && warnings != NULL)
            rc = sc_string_print(warnings, "%s; ignored\n", text);
    }
    return rc;
}

/* The field of a struct that may be of another version; false: not in it, or unset. */
static bool program_value(const struct row *row, const scope_options *options, char *number,
                          size_t size, const char **value)
{
    const char *field = (const char *)options + row->offset;
    long wide;
    int narrow;

    switch (row->kind) {
    case BOOLEAN:
        if (row->offset + sizeof narrow > options->size)
            return false;
        memcpy(&narrow, field, sizeof narrow);
        wide = narrow;
        break;
    case INTEGER:
        if (row->offset + sizeof wide > options->size)
            return false;
        memcpy(&wide, field, sizeof wide);
        break;
    default:
        if (row->offset + sizeof *value > options->size)
            return false;
        memcpy(value, field, sizeof *value);
        return *value != NULL;
    }
    snprintf(number, size, "%ld", wide);
    *value = number;
    return wide != SCOPE_UNSET;
}

static int take_options(const scope_options *options, struct sc_settings *s)
{
    char number[24];
    const char *value;

    if (options == NULL)
        return 0;
    /* No version was ever smaller than its first field or will be as large as a page. */
    if (options->size < offsetof(scope_options, enabled) + sizeof options->enabled ||
        options->size > 4096)
        return sc_fail(SC_EINVAL, "scope_options: size is %u (call scope_options_init() first)",
                       options->size);
    for (int id = 0; id < SC_SETTING_COUNT; id++)
        if (program_value(&rows[id], options, number, sizeof number, &value) &&
            !assign(&rows[id], value, SC_FROM_PROGRAM, &s->value[id]))
            return refuse(&rows[id], value, "scope_options");
    return 0;
}

/* Undoes the escapes of sc_settings_hand_down() in place. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; from++) {
        if (*from == '\\' && from[1] != '\0') {
            from++;
            *to++ = *from == 'n' ? '\n' : *from;
        } else {
            *to++ = *from;
        }
    }
    *to = '\0';
}

static int take_line(char *line, struct sc_settings *s)
{
    char *value = strchr(line, '=');
    char text[200];
    const struct row *row;

    if (value == NULL)
        return sc_fail(SC_EINVAL, PREFIX "RUN: '%s' is not NAME=VALUE", shown(line).text);
    *value++ = '\0';
    unescape(value);
    row = find(line);
    if (row == NULL) {
        unknown(line, false, text, sizeof text);
        return sc_fail(SC_EINVAL, PREFIX "RUN: %s", text);
    }
    if (!assign(row, value, SC_FROM_RUN, &s->value[row - rows]))
        return refuse(row, value, "scope run");
    return 0;
}

static int take_run(struct sc_settings *s)
{
    const char *run = getenv(PREFIX "RUN");
    char *copy, *line, *next;
    int rc = 0;

    if (run == NULL)
        return 0;
    copy = strdup(run);
    if (copy == NULL)
        return sc_fail(SC_ENOMEM, "out of memory for the settings");
    for (line = copy; line != NULL && rc == 0; line = next) {
        next = strchr(line, '\n');
        if (next != NULL)
            *next++ = '\0';
        if (line[0] != '\0')
            rc = take_line(line, s);
    }
    free(copy);
    return rc;
}

int sc_settings_resolve(const scope_options *options, struct sc_settings *out,
                        struct sc_string *warnings)
{
    struct sc_settings *s = calloc(1, sizeof *s);
    int rc;

    if (s == NULL)
        return sc_fail(SC_ENOMEM, "out of memory for the settings");
    take_defaults(s);
    rc = take_environment(s, warnings);
    if (rc != 0)
        goto out;
    rc = take_options(options, s);
    if (rc != 0)
        goto out;
    rc = take_run(s);
    if (rc != 0)
        goto out;
    *out = *s;
out:
    free(s);
    return rc;
}

/* ---- for `scope run` ---- */

int sc_settings_check(const char *name, const char *value)
{
    const struct row *row = find(name);
    struct sc_setting scratch;
    char text[200];

    if (row == NULL) {
        unknown(name, false, text, sizeof text);
        return sc_fail(SC_EINVAL, "%s", text);
    }
    return assign(row, value, SC_FROM_RUN, &scratch) ? 0 : refuse(row, value, "scope run");
}

int sc_settings_hand_down(struct sc_string *run, const char *name, const char *value)
{
    int rc = sc_string_print(run, "%s%s=", run->length > 0 ? "\n" : "", name);

    for (const char *c = value; *c != '\0' && rc == 0; c++) {
        const char *escape = *c == '\n' ? "\\n" : *c == '\\' ? "\\\\" : NULL;
        rc = escape != NULL ? sc_string_append(run, escape, 2) : sc_string_append(run, c, 1);
    }
    return rc;
}
