/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * image: the file that a recording lives in while it runs, so that whatever ends the process loses
 * nothing of it. It is a sequence of extents of 1 MiB: the first is the head, each other one holds
 * a block of a lane or notes (what numbers in the lanes mean). Blocks that are written to are
 * windows, shared mappings of their extent; a full one is written to an extent of its own, and its
 * memory goes on as the next window, so that recording touches no fresh pages. A block keeps its
 * address all the time. Written here, read by salvage.h.
 */
#ifndef SC_IMAGE_H
#define SC_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "clock.h"

#define SC_IMAGE_MAGIC "scopeimg"
#define SC_EXTENT_MAGIC 0x74786573u
#define SC_EXTENT ((size_t)1 << 20)
enum { SC_IMAGE_VERSION = 1, SC_IMAGE_PATH_MAX = 4096 };

/* How a process ended, as far as it noticed. */
enum sc_image_end {
    SC_END_UNKNOWN,   /* not at all: SIGKILL, a power cut */
    SC_END_SIGNAL,    /* end_number: which */
    SC_END_ABORT,     /* MPI_Abort; end_number: its code */
    SC_END_EXIT,      /* exit before MPI_Finalize */
    SC_END_UNWRITTEN, /* at its end, but the profile could not be written; end_text: why */
};

struct sc_image_head {
    char magic[8]; /* stored last */
    uint32_t version, head_bytes;
    uint32_t event_bytes, op_bytes, part_bytes;
    int32_t rank, size; /* -1 not known yet */
    int32_t keeps_ops;
    int32_t is_joined; /* the run's number is that of all its ranks: MPI has started */
    uint64_t run;      /* the same on all ranks of a run */
    int64_t pid;
    char host[64], boot[40], clock[16];
    int64_t begin_realtime;
    uint64_t begin_ticks;
    struct sc_clock_point first, second[2]; /* second[which] is the last one taken */
    double pair_ticks;
    uint32_t main_thread;
    int32_t end_kind; /* enum sc_image_end */
    int32_t end_number;
    uint32_t which;
    struct sc_clock_point end; /* zeros: unknown */
    char end_text[512];
    char path[SC_IMAGE_PATH_MAX]; /* of the profile */
    char label[1024];
};

enum sc_extent_kind {
    SC_EXTENT_EVENTS = 1,
    SC_EXTENT_OPS,
    SC_EXTENT_PARTS,
    SC_EXTENT_NOTES,
    SC_EXTENT_TOTALS /* what operations that were forgotten add up to; in pieces */
};

/* At the beginning of each extent but the first. */
struct sc_extent {
    uint32_t magic; /* stored last */
    uint32_t kind;  /* enum sc_extent_kind */
    uint32_t thread;
    uint32_t spare;
    uint64_t ordinal; /* of the block in its lane; of two with the same the sealed one counts */
    uint64_t address; /* where the process has it, which is what pointers to it say */
    uint64_t at;      /* its own place in the file; anything else: a copy that is not complete */
    uint64_t is_sealed;
    uint64_t
        totals; /* which ones hold all operations that were here before, 0 none; or are these */
    uint64_t length; /* of totals: bytes of all pieces */
};

/* What a number in a lane means. A later note about the same thing replaces an earlier one. */
enum sc_note_kind {
    SC_NOTE_REGION = 1, /* struct sc_note_region, name, file, tags, each with NUL */
    SC_NOTE_MODULE,     /* path, build id, each with NUL */
    SC_NOTE_SITE,       /* struct sc_site */
    SC_NOTE_COMM,       /* int32 key length, key, extra: as own.h */
    SC_NOTE_OBJECT,     /* int32 kind, comm, ordinal; name with NUL */
    SC_NOTE_FACT,       /* int32 kind (enum sc_h5_kind); name with NUL; value: 8 bytes or texts */
};

struct sc_note {
    uint32_t kind; /* stored last; 0: no more in this extent */
    uint32_t number;
    uint32_t length;  /* bytes that follow, then padding to a multiple of 16 */
    uint32_t goes_on; /* the next note continues this one */
};

struct sc_note_region {
    int32_t kind, line;
};

/* Starts an image for the profile at that absolute path; folder: "" or the setting salvage_dir. On
 * success the head is the caller's to fill in. 0 or a status with the message. */
int sc_image_create(const char *profile, const char *folder, struct sc_image_head **head);

/* Any thread. The head of the present image, NULL: none. */
struct sc_image_head *sc_image_head(void);

/* The folder that scope recover takes, NULL: no image. One thread. */
const char *sc_image_folder(void);

/* Any thread. Takes a second point of the clock for who reads the image. */
void sc_image_clock(void);

/* Any thread; keeps errno. Does nothing without an image. The runtime notes what is known already
 * when an image begins. */
void sc_image_note(enum sc_note_kind kind, uint32_t number, const void *bytes, size_t length);

/* Owner thread. A new window: 1 MiB of zeros at a multiple of 1 MiB, the first `usable` bytes of
 * which (with the extent's head) have room in the file. NULL: no image, no room. */
char *sc_image_window(enum sc_extent_kind kind, uint32_t thread, uint64_t ordinal, size_t usable);

/* Owner thread. Makes [from, to) of a window usable. False: no room. */
bool sc_image_reserve(char *from, const char *to);

/* Owner thread. Nobody else writes to the window, all of which is in use. It goes to an extent of
 * its own; its memory becomes a window of zeros for the lane's block of that ordinal, whose address
 * is returned. NULL: no room, or sc_image_freeze(); nothing has changed then. */
char *sc_image_seal(char *window, uint64_t next_ordinal);

/* In the head of a window of operations: they do not count, those totals do. */
#define SC_FORGETTING ((uint64_t)1 << 63)

/* Owner thread. Writes totals of that number in place of others that are no longer needed; all
 * zeros is a place not used before. False: no room. */
struct sc_image_place {
    uint64_t *at; /* of its extents; to be freed */
    size_t count, capacity;
};
bool sc_image_store(struct sc_image_place *place, uint32_t thread, uint64_t number,
                    const void *bytes, size_t length);

/* Address space of 1 MiB at a multiple of 1 MiB, anonymous memory; NULL: none. Any thread. */
char *sc_image_map_anonymous(void);

/* Faults pages in; where the kernel cannot do it at once they fault at their first use. */
void sc_image_populate(char *from, const char *to);

/* Moves a mapping of 1 MiB, with its memory, to an address that then means nothing else. False: it
 * stays where it is. */
bool sc_image_move(char *from, char *to);

/* Any thread. Blocks stay as they are from here on: a drain reads them. */
void sc_image_freeze(void);

/* The image is no longer needed: files and head go; windows stay mapped. */
void sc_image_remove(void);

/* It is what remains of the recording. The same, but the files stay. */
void sc_image_leave(enum sc_image_end kind, int number, const char *text);

/* In a child after fork(): the image is the parent's. */
void sc_image_forked(void);

#endif
