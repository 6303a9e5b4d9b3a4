/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * runtime: the life cycle and the library's only global state: idle -> on (or disabled) -> draining
 * -> closed -> on again. A communication layer registers itself at load time and is asked for the
 * world's rank and size and for publication; without one, or before it is initialized, the process
 * is a world of its own.
 */
#ifndef SC_RUNTIME_H
#define SC_RUNTIME_H

#include <stdbool.h>
#include <stdint.h>

#include "buffer.h"
#include "settings.h"

struct sc_string;

/* What the layer above the runtime offers. */
struct sc_layer {
    /* Any thread. True when ranks are known: sets both; false: a world of one process. */
    bool (*world)(int *rank, int *size);
    /* Collective over the world when there is one. Recording has stopped (or was disabled). Writes
     * the profile and prints the summary; all ranks return the same status. */
    int (*publish)(const struct sc_settings *settings);
    /* Any thread, before any MPI call is recorded. False: the program runs another MPI than the
     * layer was built for; its calls must be left alone. */
    bool (*records)(void);
    /* Any thread. Notes in the image what the layer's numbers mean so far, and facts about the run.
     */
    void (*note)(void);
    /* NULL when output_mode "parallel" can be honoured, else why not. */
    const char *(*parallel_missing)(void);
};
void sc_runtime_layer(const struct sc_layer *layer);

/* Starts a recording that nobody asked for by name (a program that carries the library starts MPI),
 * with settings from environment and default. Local. Nothing happens unless the process is idle. */
void sc_runtime_start_auto(void);

/* The layer: which rank this process is, of how many, in a run that has this number on all of them.
 */
void sc_runtime_joined(int rank, int size, uint64_t run);

/* Any thread. The process is about to end without sc_runtime_finalize(): enum sc_image_end. What it
 * recorded stays in its image. */
void sc_runtime_breaks_off(int how, int number, const char *text);

/* For a process that records nothing: the recording is the one another left, up to that tick. */
struct sc_image_head;
void sc_runtime_restore(const struct sc_image_head *head, uint64_t end_ticks,
                        const struct sc_thread *main_thread);

/* scope_setup() and scope_finalize(). */
int sc_runtime_setup(const scope_options *options);
int sc_runtime_finalize(void);

bool sc_runtime_is_on(void); /* a recording runs, paused or not */
bool sc_runtime_is_paused(void);
void sc_runtime_pause(bool paused); /* not nested: one resume ends any number of pauses */

/* Hot path. What the communication layer does per call. */
enum { SC_OPS_OFF, SC_OPS_RECORD, SC_OPS_COUNT_PAUSED };
extern int sc_runtime_ops_mode;

/* The settings in force; lent, changed by setup only. */
const struct sc_settings *sc_runtime_settings(void);

/* When recording began and ended, on this host's CLOCK_MONOTONIC; the tick it ended at; wall-clock
 * time of its beginning, ns since 1970; the thread that started it. */
int64_t sc_runtime_begin_ns(void);
int64_t sc_runtime_end_ns(void);
uint64_t sc_runtime_end_ticks(void);
int64_t sc_runtime_begin_realtime(void);
const struct sc_thread *sc_runtime_main_thread(void);

/* The library's own cost of a recorded begin/end pair, measured when recording began; ns. */
double sc_runtime_pair_cost(void);

/* True on the one process that speaks: rank 0 by the layer's word, else by the launcher's. */
bool sc_runtime_speaks(void);

/* Appends the profile's absolute path: relative to the working directory in which recording began,
 * with _rank<NNNNN> before the extension when processes of one launcher each are a run of their
 * own. */
int sc_runtime_path(struct sc_string *out);

#endif
