/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * salvage: reads what a run that did not end left behind (image.h), one rank after another. What is
 * torn or makes no sense is left out; nothing in a file is trusted. One thread, in a process that
 * records nothing itself.
 */
#ifndef SC_SALVAGE_H
#define SC_SALVAGE_H

#include <stddef.h>
#include <stdint.h>

#include "meta.h"
#include "own.h"

struct sc_salvage;

struct sc_salvage_run {
    int32_t size;     /* ranks of the run, -1 unknown */
    size_t images;    /* ranks that left something, in order */
    const char *path; /* where the profile was to be; "" unknown */
    const char *label;
    int64_t begin_realtime;       /* ns since 1970 */
    const struct sc_facts *facts; /* those of rank 0, or of the lowest rank that has some */
    const char *ended;            /* "ended by SIGTERM on rank 3 at 12.4 s; 7 of 8 ranks" */
    size_t others;                /* images in the folder that belong to other runs, earlier ones */
    size_t alive;                 /* images of this run whose processes still run */
};

/*
 * path: a folder, an image, or the name of a profile whose folder is beside it. Of several runs in
 * a folder the newest. SC_EIO, SC_EFORMAT, SC_ENOMEM with the message (path, reason).
 */
int sc_salvage_open(const char *path, struct sc_salvage **out);
void sc_salvage_close(struct sc_salvage *s);
const struct sc_salvage_run *sc_salvage_run(const struct sc_salvage *s);

/* The rank of an image below run->images; host lent. */
int32_t sc_salvage_rank(const struct sc_salvage *s, size_t image, const char **host);

/*
 * This process's buffer, clock, regions and runtime then are those of that rank at its end, for
 * sc_recording_create(); own is what it brings beside that, lent until the next load or close. 0 or
 * a status with the message.
 */
int sc_salvage_load(struct sc_salvage *s, size_t image, const struct sc_own **own);

#endif
