/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * The images of a run are found and put in the order of their ranks (open); loading one gives its
 * lanes and notes to the modules that hold those of a live process.
 */
#include "salvage.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "buffer.h"
#include "lanes.h"
#include "notes.h"
#include "runtime.h"

struct image {
    char *path;
    struct sc_image_head head;
    bool is_alive; /* its process holds it */
};

struct sc_salvage {
    struct sc_salvage_run run;
    struct image *image;
    size_t count, capacity;
    struct sc_facts facts;
    struct sc_string ended;
    struct sc_notes notes; /* of the image that is loaded */
};

/* ---- finding images ---- */

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), wanted = strlen(suffix);

    return length > wanted && strcmp(name + length - wanted, suffix) == 0;
}

/* Texts of the head end where they should, and what is no number is none. */
static void settle(struct sc_image_head *h)
{
    h->host[sizeof h->host - 1] = h->boot[sizeof h->boot - 1] = '\0';
    h->clock[sizeof h->clock - 1] = h->end_text[sizeof h->end_text - 1] = '\0';
    h->path[sizeof h->path - 1] = h->label[sizeof h->label - 1] = '\0';
    h->which &= 1;
    if (!(h->pair_ticks >= 0 && h->pair_ticks < 1e9))
        h->pair_ticks = 0;
}

static int check_head(const char *path, const struct sc_image_head *h)
{
    if (memcmp(h->magic, SC_IMAGE_MAGIC, sizeof h->magic) != 0)
        return sc_fail(SC_EFORMAT, "%s: holds no recording", path);
    if (h->version != SC_IMAGE_VERSION || h->head_bytes != sizeof *h ||
        h->event_bytes != sizeof(struct scope_event_1_) || h->op_bytes != sizeof(struct sc_op) ||
        h->part_bytes != sizeof(struct sc_part))
        return sc_fail(SC_EFORMAT, "%s: was written by another version of the library", path);
    if (h->main_thread >= SC_THREADS_MOST)
        return sc_fail(SC_EFORMAT, "%s: damaged: thread %u", path, h->main_thread);
    if (h->rank < -1 || h->size < -1 || (h->size >= 0 && h->rank >= h->size))
        return sc_fail(SC_EFORMAT, "%s: damaged: rank %d of %d", path, h->rank, h->size);
    if (h->begin_ticks > (uint64_t)1 << 60 || h->begin_realtime < 0 ||
        h->begin_realtime > (int64_t)1 << 61)
        return sc_fail(SC_EFORMAT, "%s: damaged: when it began", path);
    return 0;
}

/* 0, also for what is no image while others are looked for (then nothing is added). */
static int add_image(struct sc_salvage *s, const char *path)
{
    struct image found = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : pread(fd, &found.head, sizeof found.head, 0);
    int rc = 0;

    if (got < 0)
        rc = sc_fail(SC_EIO, "%s: %s", path, strerror(errno));
    else if (got != sizeof found.head)
        rc = sc_fail(SC_EFORMAT, "%s: cut off", path);
    if (rc == 0)
        found.is_alive = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    if (rc == 0)
        rc = check_head(path, &found.head);
    if (rc != 0)
        return rc;
    settle(&found.head);
    found.path = strdup(path);
    if (found.path == NULL ||
        sc_array_reserve(&s->image, &s->capacity, s->count + 1, sizeof *s->image) != 0) {
        free(found.path);
        return sc_fail(SC_ENOMEM, "no memory to read %s", path);
    }
    s->image[s->count++] = found;
    return 0;
}

/* The file names an image elsewhere. */
static int follow_pointer(struct sc_salvage *s, const char *path)
{
    char target[SC_IMAGE_PATH_MAX + 128];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t got = fd < 0 ? -1 : read(fd, target, sizeof target - 1);

    if (fd >= 0)
        close(fd);
    if (got <= 0)
        return sc_fail(SC_EIO, "%s: %s", path, got < 0 ? strerror(errno) : "is empty");
    target[got] = '\0';
    return add_image(s, target);
}

/* Some of the images may be unreadable; that is an error only when none is left. */
static int scan_folder(struct sc_salvage *s, const char *folder)
{
    DIR *d = opendir(folder);
    int rc = d == NULL ? sc_fail(SC_EIO, "%s: %s", folder, strerror(errno))
                       : sc_fail(SC_EFORMAT, "%s: holds no recording", folder);
    int worst = rc;

    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        struct sc_string path = {0};
        bool is_image = has_suffix(e->d_name, ".image");

        if ((!is_image && !has_suffix(e->d_name, ".where")) ||
            sc_string_print(&path, "%s/%s", folder, e->d_name) != 0)
            continue;
        rc = is_image ? add_image(s, path.data) : follow_pointer(s, path.data);
        worst = rc < 0 ? rc : worst;
        sc_string_free(&path);
    }
    if (d != NULL)
        closedir(d);
    return s->count > 0 ? 0 : worst;
}

/* ---- one run ---- */

/* Ranks that were ended while MPI started do not know the run's number yet: they belong to the
 * newest run, if they began when that did. */
static void number_runs(struct sc_salvage *s)
{
    const uint64_t minute = 60000000000u;
    uint64_t newest = 0, joined = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct sc_image_head *h = &s->image[i].head;

        if (h->run > newest)
            newest = h->run;
        if (h->is_joined && h->run > joined)
            joined = h->run;
    }
    if (newest - joined < minute)
        newest = joined;
    for (size_t i = 0; i < s->count; i++) {
        struct sc_image_head *h = &s->image[i].head;

        if (!h->is_joined && h->size > 1 &&
            (h->run > newest ? h->run - newest : newest - h->run) < minute)
            h->run = newest;
    }
}

static int compare_images(const void *a, const void *b)
{
    const struct sc_image_head *x = &((const struct image *)a)->head;
    const struct sc_image_head *y = &((const struct image *)b)->head;

    if (x->run != y->run) /* runs are numbered by when they began: the newest first */
        return x->run > y->run ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if ((x->is_joined != 0) != (y->is_joined != 0))
        return x->is_joined ? -1 : 1;
    return (x->begin_realtime > y->begin_realtime) - (x->begin_realtime < y->begin_realtime);
}

/* Keeps the images of the newest run, one per rank. */
static void choose_run(struct sc_salvage *s)
{
    size_t kept = 0;

    number_runs(s);
    qsort(s->image, s->count, sizeof *s->image, compare_images);
    for (size_t i = 0; i < s->count; i++) {
        const struct image *last = kept == 0 ? NULL : &s->image[kept - 1];

        if (last == NULL ||
            (s->image[i].head.run == last->head.run && s->image[i].head.size == last->head.size &&
             s->image[i].head.rank != last->head.rank)) {
            s->image[kept++] = s->image[i];
        } else {
            s->run.others++;
            free(s->image[i].path);
        }
    }
    s->count = kept;
}

static void restore_clock(const struct sc_image_head *h)
{
    struct sc_image_head here = {0};
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, here.boot, sizeof here.boot - 1);

    if (fd >= 0)
        close(fd);
    here.boot[got > 0 ? strcspn(here.boot, "\n") : 0] = '\0';
    sc_clock_restore(h->first, h->end.ticks != 0 ? h->end : h->second[h->which],
                     h->end.ticks == 0 && strcmp(h->clock, "tsc") == 0 &&
                         strcmp(h->boot, here.boot) == 0);
}

static const char *name_signal(int number)
{
    const char *name = sigabbrev_np(number);

    return name != NULL ? name : "an unknown signal";
}

static int64_t time_until_end(const struct sc_image_head *h)
{
    restore_clock(h);
    return sc_clock_ns(h->end.ticks) - sc_clock_ns(h->begin_ticks);
}

/* The image whose process was the first to notice its end; NULL: none did. */
static const struct sc_image_head *first_end(const struct sc_salvage *s)
{
    const struct sc_image_head *first = NULL;
    int64_t least = 0;

    for (size_t i = 0; i < s->count; i++) {
        const struct sc_image_head *h = &s->image[i].head;
        int64_t time = h->begin_realtime;

        if (h->end_kind == SC_END_UNKNOWN)
            continue;
        time += time_until_end(h);
        if (first == NULL || time < least) {
            first = h;
            least = time;
        }
    }
    return first;
}

static int print_end(struct sc_string *out, const struct sc_image_head *h)
{
    const int rank = h->rank < 0 ? 0 : h->rank;
    const double seconds = (double)time_until_end(h) / 1e9;

    if (h->end_kind == SC_END_SIGNAL)
        return sc_string_print(out, "ended by SIG%s on rank %d at %.1f s",
                               name_signal(h->end_number), rank, seconds);
    if (h->end_kind == SC_END_ABORT)
        return sc_string_print(out, "ended by MPI_Abort(%d) on rank %d at %.1f s", h->end_number,
                               rank, seconds);
    if (h->end_kind == SC_END_EXIT)
        return sc_string_print(out, "rank %d left without MPI_Finalize at %.1f s", rank, seconds);
    return sc_string_print(out, "the profile could not be written (%s)", h->end_text);
}

/* A launcher tells ranks to end when others were killed, which then are why. */
static int print_killed(struct sc_string *out, const struct sc_salvage *s)
{
    size_t count = 0;
    int32_t rank = 0;

    for (size_t i = 0; i < s->count; i++)
        if (s->image[i].head.end_kind == SC_END_UNKNOWN) {
            rank = s->image[i].head.rank < 0 ? 0 : s->image[i].head.rank;
            count++;
        }
    if (count == 0)
        return 0;
    return count == 1 ? sc_string_print(out, ", rank %d was killed", rank)
                      : sc_string_print(out, ", %zu ranks were killed", count);
}

static int describe_end(struct sc_salvage *s)
{
    const struct sc_image_head *h = first_end(s);
    int rc = 0;

    if (s->run.alive > 0)
        rc = sc_string_print(&s->ended, "still running");
    else if (h == NULL)
        rc = sc_string_print(&s->ended, "killed, or its node failed");
    else
        rc = print_end(&s->ended, h);
    if (rc == 0 && s->run.alive == 0 && h != NULL && h->end_kind == SC_END_SIGNAL &&
        h->end_number == SIGTERM)
        rc = print_killed(&s->ended, s);
    if (rc == 0 && s->run.size >= 0)
        rc = sc_string_print(&s->ended, "; %zu of %d ranks", s->count, s->run.size);
    return rc;
}

static void describe_run(struct sc_salvage *s)
{
    const struct sc_image_head *h = &s->image[0].head;

    s->run.size = h->size;
    s->run.images = s->count;
    s->run.path = h->path;
    s->run.label = h->label;
    s->run.begin_realtime = h->begin_realtime;
    for (size_t i = 0; i < s->count; i++)
        s->run.alive += s->image[i].is_alive;
}

static int read_facts(struct sc_salvage *s)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < s->count && s->facts.count == 0; i++) {
        struct sc_notes notes = {0};
        rc = sc_notes_read(s->image[i].path, &notes);
        if (rc == 0)
            rc = sc_notes_facts(&notes, &s->facts);
        sc_notes_free(&notes);
    }
    s->run.facts = &s->facts;
    return rc;
}

int sc_salvage_open(const char *path, struct sc_salvage **out)
{
    struct sc_salvage *s = calloc(1, sizeof *s);
    struct sc_string beside = {0};
    struct stat info;
    int rc = s == NULL ? sc_fail(SC_ENOMEM, "no memory to read %s", path) : 0;

    if (rc == 0 && stat(path, &info) == 0 && !S_ISDIR(info.st_mode) && has_suffix(path, ".image")) {
        rc = add_image(s, path);
    } else if (rc == 0) {
        bool is_folder = stat(path, &info) == 0 && S_ISDIR(info.st_mode);
        rc = sc_string_print(&beside, "%s%s", path, is_folder ? "" : ".salvage");
        if (rc == 0)
            rc = scan_folder(s, beside.data);
    }
    if (rc == 0) {
        choose_run(s);
        describe_run(s);
        rc = read_facts(s);
    }
    if (rc == 0)
        rc = describe_end(s);
    if (rc == 0) {
        s->run.ended = s->ended.data;
        *out = s;
    } else {
        sc_salvage_close(s);
    }
    sc_string_free(&beside);
    return rc;
}

void sc_salvage_close(struct sc_salvage *s)
{
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->count; i++)
        free(s->image[i].path);
    free(s->image);
    sc_facts_free(&s->facts);
    sc_string_free(&s->ended);
    sc_notes_free(&s->notes);
    free(s);
}

const struct sc_salvage_run *sc_salvage_run(const struct sc_salvage *s)
{
    return &s->run;
}

int32_t sc_salvage_rank(const struct sc_salvage *s, size_t image, const char **host)
{
    *host = s->image[image].head.host;
    return s->image[image].head.rank < 0 ? 0 : s->image[image].head.rank;
}

/* ---- one image ---- */

/* At least this rank. */
static int32_t ranks_of(const struct sc_image_head *h)
{
    return h->size > 0 ? h->size : h->rank > 0 ? h->rank + 1 : 1;
}

int sc_salvage_load(struct sc_salvage *s, size_t image, const struct sc_own **own)
{
    const struct image *from = &s->image[image];
    const struct sc_thread *main_thread = NULL;
    uint64_t last = from->head.end.ticks;
    int rc;

    sc_notes_free(&s->notes);
    rc = sc_notes_read(from->path, &s->notes);
    if (rc == 0)
        rc = sc_notes_own(&s->notes, ranks_of(&from->head));
    if (rc != 0)
        return rc;
    restore_clock(&from->head);
    rc = sc_lanes_load(from->path, from->is_alive, &from->head, &s->notes, &last, &main_thread);
    if (rc != 0)
        return rc;
    sc_runtime_restore(&from->head, last, main_thread);
    *own = &s->notes.own;
    return 0;
}
