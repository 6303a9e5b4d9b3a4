/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * settings: the one table of settings (name, type, default, what is allowed, help) and where each
 * value came from. Precedence: options of `scope run` (SCOPE_PROFILER_RUN) > program > environment
 * > default. Everything is checked before any side effect. Called by the runtime at setup and by
 * the command; one thread at a time, since it reads the environment.
 */
#ifndef SC_SETTINGS_H
#define SC_SETTINGS_H

#include <stddef.h>

#include "scope.h"

struct sc_string;

/* Ascending precedence. */
enum sc_origin { SC_FROM_DEFAULT, SC_FROM_ENVIRONMENT, SC_FROM_PROGRAM, SC_FROM_RUN };

enum sc_setting_id {
    SC_ENABLED,
    SC_FILE_PATH,
    SC_OUTPUT_MODE,
    SC_LABEL,
    SC_METADATA_DETAIL,
    SC_MPI_RECORD,
    SC_BUFFER_LIMIT,
    SC_HDF5_CHUNK_SIZE,
    SC_TOPOLOGY,
    SC_SUMMARY,
    SC_MPI_PCONTROL,
    SC_TRACK_ASYNC,
    SC_SALVAGE,
    SC_SALVAGE_DIR,
    SC_SETTING_COUNT
};

#define SC_TEXT_MAX 4096 /* longest text value with its terminator; a path's limit */

struct sc_setting {
    enum sc_origin origin;
    long number;            /* integers and booleans; index of the choice for an enumeration */
    char text[SC_TEXT_MAX]; /* the value as text: "true", "1024", the choice's name, the text itself
                             */
};

struct sc_settings {
    struct sc_setting value[SC_SETTING_COUNT];
};

/* Indices of the choices. */
enum sc_output_mode { SC_OUTPUT_AUTO, SC_OUTPUT_DIRECT, SC_OUTPUT_PARALLEL };
enum sc_mpi_record { SC_MPI_CALLS, SC_MPI_STATS, SC_MPI_OFF };
enum sc_mpi_pcontrol { SC_PCONTROL_LEVELS, SC_PCONTROL_REGIONS };
enum sc_metadata_detail { SC_DETAIL_MINIMAL, SC_DETAIL_FULL };

/*
 * Fills out from all layers. options may be NULL. A wrong value in options or SCOPE_PROFILER_RUN:
 * SC_EINVAL, out is untouched and the message says setting, value, origin and what is allowed. A
 * wrong value or an unknown SCOPE_PROFILER_ name in the environment is ignored, and one line (with
 * newline) per finding is appended to warnings (may be NULL: not wanted), which the caller prints
 * on one rank only. An empty variable counts as unset. Also SC_ENOMEM.
 */
int sc_settings_resolve(const scope_options *options, struct sc_settings *out,
                        struct sc_string *warnings);

const char *sc_setting_name(enum sc_setting_id id);
const char *sc_setting_help(enum sc_setting_id id);
const char *sc_setting_default(enum sc_setting_id id); /* as text */
const char *sc_origin_name(enum sc_origin origin);

/* What a value must be, as in "an integer from 1 to 9" or "auto, direct or parallel"; cut to size.
 */
void sc_setting_allowed(enum sc_setting_id id, char *out, size_t size);

/* Checks one NAME=VALUE of `scope run`. 0 or SC_EINVAL with the message. */
int sc_settings_check(const char *name, const char *value);

/* Appends NAME=VALUE to run, the value of SCOPE_PROFILER_RUN: a line each, newline and backslash in
 * the value as \n and \\; of two lines for one setting the last counts. 0 or SC_ENOMEM. */
int sc_settings_hand_down(struct sc_string *run, const char *name, const char *value);

/* 1 for true, yes, on, 1; 0 for false, no, off, 0 (any case); else -1. */
int sc_settings_boolean(const char *text);

#endif
