/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * notes: what an image says about the numbers in its lanes (image.h), checked: whatever the file
 * holds, numbers of one kind point at something of the other. One thread.
 */
#ifndef SC_NOTES_H
#define SC_NOTES_H

#include <stddef.h>
#include <stdint.h>

#include "base.h"
#include "image.h"
#include "meta.h"
#include "own.h"

enum { SC_THREADS_MOST = 1 << 20 };

struct sc_notes {
    struct sc_noted { /* in order of the file */
        uint32_t kind, number;
        size_t at, length; /* in bytes.data */
    } * note;
    size_t count, capacity;
    size_t numbers; /* are below this */
    struct sc_string bytes;

    /* From sc_notes_own(). */
    int32_t ranks; /* of the world, as far as known */
    struct sc_own own;
    uint32_t *region; /* number -> id of this process's registry */
    size_t regions;
};

/* An extent as its head describes it, and where it lies in the file. */
struct sc_found {
    struct sc_extent head;
    uint64_t room; /* bytes of it that the file has */
};

/* All extents of the file that are complete, ordered by kind, thread and ordinal, each once. 0 or a
 * status with the message. */
int sc_found_list(const char *path, int fd, struct sc_found **out, size_t *count);

/* Reads them; 0 or a status with the message. Free in any case. */
int sc_notes_read(const char *path, struct sc_notes *out);
void sc_notes_free(struct sc_notes *n);

/* 0 or SC_ENOMEM; what makes no sense is left out. */
int sc_notes_facts(const struct sc_notes *n, struct sc_facts *facts);
int sc_notes_own(struct sc_notes *n, int32_t ranks); /* registers the regions, too */

#endif
