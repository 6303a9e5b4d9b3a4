/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "notes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "layout.h"
#include "region.h"

enum { ALIGN = 16 };

/* ---- extents ---- */

static int compare_found(const void *a, const void *b)
{
    const struct sc_extent *x = &((const struct sc_found *)a)->head;
    const struct sc_extent *y = &((const struct sc_found *)b)->head;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->ordinal != y->ordinal)
        return x->ordinal < y->ordinal ? -1 : 1;
    return (x->is_sealed == 0) - (y->is_sealed == 0);
}

/* Of a block that is there twice, the process was about to give up the one that is not sealed. */
static size_t drop_repeated(struct sc_found *found, size_t count)
{
    size_t kept = 0;

    if (count > 0)
        qsort(found, count, sizeof *found, compare_found);
    for (size_t i = 0; i < count; i++) {
        const struct sc_extent *last = kept == 0 ? NULL : &found[kept - 1].head;
        if (last == NULL || last->kind != found[i].head.kind ||
            last->thread != found[i].head.thread || last->ordinal != found[i].head.ordinal)
            found[kept++] = found[i];
    }
    return kept;
}

int sc_found_list(const char *path, int fd, struct sc_found **out, size_t *count)
{
    struct sc_found *found = NULL;
    size_t capacity = 0;
    struct stat info;

    *out = NULL;
    *count = 0;
    if (fstat(fd, &info) != 0)
        return sc_fail(SC_EIO, "%s: %s", path, strerror(errno));
    for (uint64_t at = SC_EXTENT; at < (uint64_t)info.st_size; at += SC_EXTENT) {
        uint64_t room = (uint64_t)info.st_size - at;
        struct sc_extent head;

        if (pread(fd, &head, sizeof head, (off_t)at) != sizeof head ||
            head.magic != SC_EXTENT_MAGIC || head.at != at || head.kind < SC_EXTENT_EVENTS ||
            head.kind > SC_EXTENT_TOTALS || head.thread >= SC_THREADS_MOST ||
            head.address % SC_EXTENT != 0)
            continue;
        if (sc_array_reserve(&found, &capacity, *count + 1, sizeof *found) != 0) {
            free(found);
            return sc_fail(SC_ENOMEM, "no memory to read %s", path);
        }
        found[(*count)++] = (struct sc_found){head, room < SC_EXTENT ? room : SC_EXTENT};
    }
    *out = found;
    *count = drop_repeated(found, *count);
    return 0;
}

/* ---- notes ---- */

/* Takes the notes of an extent; one that continues the last of what was read before, too. */
static int take_notes(struct sc_notes *n, const char *extent, size_t room, bool *goes_on)
{
    size_t at = sizeof(struct sc_extent);
    struct sc_note note;

    while (at + sizeof note <= room) {
        memcpy(&note, extent + at, sizeof note);
        at += sizeof note;
        if (note.kind == 0 || note.kind > SC_NOTE_FACT || note.length > room - at)
            return 0;
        if (!*goes_on) {
            if (sc_array_reserve(&n->note, &n->capacity, n->count + 1, sizeof *n->note) != 0)
                return SC_ENOMEM;
            n->note[n->count++] = (struct sc_noted){note.kind, note.number, n->bytes.length, 0};
        }
        if (sc_string_append(&n->bytes, extent + at, note.length) != 0)
            return SC_ENOMEM;
        n->note[n->count - 1].length += note.length;
        *goes_on = note.goes_on != 0;
        at += (note.length + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    }
    return 0;
}

static int read_extent(int fd, const struct sc_found *found, struct sc_notes *n, bool *goes_on)
{
    char *bytes = malloc(found->room);
    ssize_t got = bytes == NULL ? 0 : pread(fd, bytes, found->room, (off_t)found->head.at);
    int rc = bytes == NULL ? SC_ENOMEM : 0;

    if (rc == 0 && got > 0)
        rc = take_notes(n, bytes, (size_t)got, goes_on);
    free(bytes);
    return rc;
}

int sc_notes_read(const char *path, struct sc_notes *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    struct sc_found *found = NULL;
    size_t count = 0;
    bool goes_on = false;
    int rc;

    *out = (struct sc_notes){0};
    if (fd < 0)
        return sc_fail(SC_EIO, "%s: %s", path, strerror(errno));
    rc = sc_found_list(path, fd, &found, &count);
    /* Every number has a note, and each takes some room. */
    for (size_t i = 0; i < count; i++)
        if (found[i].head.kind == SC_EXTENT_NOTES)
            out->numbers += SC_EXTENT / (sizeof(struct sc_note) + ALIGN);
    for (size_t i = 0; rc == 0 && i < count; i++)
        if (found[i].head.kind == SC_EXTENT_NOTES && read_extent(fd, &found[i], out, &goes_on) != 0)
            rc = sc_fail(SC_ENOMEM, "no memory to read %s", path);
    free(found);
    close(fd);
    return rc;
}

void sc_notes_free(struct sc_notes *n)
{
    free(n->note);
    sc_string_free(&n->bytes);
    sc_own_free(&n->own);
    free(n->region);
    *n = (struct sc_notes){0};
}

int sc_notes_facts(const struct sc_notes *n, struct sc_facts *facts)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->note[i].kind == SC_NOTE_FACT &&
            sc_facts_read(facts, n->bytes.data + n->note[i].at, n->note[i].length) == SC_ENOMEM)
            return sc_fail(SC_ENOMEM, "no memory for the facts of the run");
    return 0;
}

/* ---- what a rank brings ---- */

/* One more than the highest number of that kind. */
static size_t count_kind(const struct sc_notes *n, uint32_t kind)
{
    size_t count = 0;

    for (size_t i = 0; i < n->count; i++)
        if (n->note[i].kind == kind && n->note[i].number < n->numbers && n->note[i].number >= count)
            count = (size_t)n->note[i].number + 1;
    return count;
}

/* The last note about each number below count: [number] index + 1, 0 none. NULL: no memory. */
static size_t *latest(const struct sc_notes *n, uint32_t kind, size_t count)
{
    size_t *last = calloc(count + 1, sizeof *last);

    for (size_t i = 0; last != NULL && i < n->count; i++)
        if (n->note[i].kind == kind && n->note[i].number < count)
            last[n->note[i].number] = i + 1;
    return last;
}

/* A text with its NUL that begins at *from before end; moves behind it. NULL: none. */
static const char *take_text(const char **from, const char *end)
{
    const char *text = *from, *nul;

    if (text >= end)
        return NULL;
    nul = memchr(text, '\0', (size_t)(end - text));
    if (nul == NULL)
        return NULL;
    *from = nul + 1;
    return text;
}

static int register_region(const char *note, size_t length)
{
    const char *end = note + length, *at = note + sizeof(struct sc_note_region);
    const char *name, *file, *tags;
    struct sc_note_region head;

    if (length < sizeof head)
        return SC_EFORMAT;
    memcpy(&head, note, sizeof head);
    name = take_text(&at, end);
    file = name == NULL ? NULL : take_text(&at, end);
    tags = file == NULL ? NULL : take_text(&at, end);
    if (tags == NULL || (head.kind != SC_REGION_USER && head.kind != SC_REGION_MPI))
        return SC_EFORMAT;
    return sc_region_id((enum sc_region_kind)head.kind, name, tags, file, head.line);
}

static int register_regions(struct sc_notes *n)
{
    size_t count = count_kind(n, SC_NOTE_REGION);
    size_t *last = latest(n, SC_NOTE_REGION, count);
    int id = last == NULL ? SC_ENOMEM : 0;

    n->region = calloc(count + 1, sizeof *n->region);
    n->regions = count;
    if (n->region == NULL)
        id = SC_ENOMEM;
    for (size_t i = 0; id != SC_ENOMEM && i < count; i++) {
        const struct sc_noted *note = last[i] == 0 ? NULL : &n->note[last[i] - 1];
        id = note == NULL ? SC_EFORMAT : register_region(n->bytes.data + note->at, note->length);
        if (id < 0 && id != SC_ENOMEM)
            id = sc_region_id(SC_REGION_USER, "(name lost)", NULL, NULL, -1);
        n->region[i] = (uint32_t)id;
    }
    free(last);
    return id == SC_ENOMEM ? SC_ENOMEM : 0;
}

static int take_modules(struct sc_notes *n)
{
    static const struct sc_module lost = {"", ""};
    size_t count = count_kind(n, SC_NOTE_MODULE);
    size_t *last = latest(n, SC_NOTE_MODULE, count);

    n->own.modules = calloc(count + 1, sizeof *n->own.modules);
    n->own.module_count = count;
    for (size_t i = 0; last != NULL && n->own.modules != NULL && i < count; i++) {
        const struct sc_noted *note = last[i] == 0 ? NULL : &n->note[last[i] - 1];
        const char *at = note == NULL ? NULL : n->bytes.data + note->at;
        const char *end = note == NULL ? NULL : at + note->length;
        const char *path = note == NULL ? NULL : take_text(&at, end);
        const char *id = path == NULL ? NULL : take_text(&at, end);

        n->own.modules[i] = id == NULL ? lost : (struct sc_module){path, id};
    }
    free(last);
    return last == NULL || n->own.modules == NULL ? SC_ENOMEM : 0;
}

static int take_sites(struct sc_notes *n)
{
    size_t count = count_kind(n, SC_NOTE_SITE);

    n->own.sites = calloc(count + 1, sizeof *n->own.sites);
    n->own.site_count = count;
    if (n->own.sites == NULL)
        return SC_ENOMEM;
    for (size_t i = 0; i < count; i++)
        n->own.sites[i].module = -1;
    for (size_t i = 0; i < n->count; i++) {
        struct sc_site *site = &n->own.sites[n->note[i].number < count ? n->note[i].number : 0];

        if (n->note[i].kind != SC_NOTE_SITE || n->note[i].number >= count ||
            n->note[i].length != sizeof *site)
            continue;
        memcpy(site, n->bytes.data + n->note[i].at, sizeof *site);
        if (site->module < 0 || (size_t)site->module >= n->own.module_count)
            site->module = -1;
    }
    return 0;
}

/* Whether all of the run are ranks of the world, or all of another one. */
static bool is_run(struct sc_row_run run, int32_t ranks)
{
    int64_t last;

    if (run.count == 0 || run.count > INT32_MAX)
        return false;
    last = run.first + ((int64_t)run.count - 1) * run.stride;
    return (run.first == -1 && last == -1) ||
           (run.first >= 0 && run.first < ranks && last >= 0 && last < ranks);
}

/* Whether a note's bytes are a communicator: key length, key, head, runs, name. */
static bool is_comm(const char *note, size_t length, int32_t ranks)
{
    const size_t fixed = sizeof(int32_t) + SC_COMM_KEY + sizeof(struct sc_own_comm);
    struct sc_own_comm head;
    struct sc_row_run run;
    uint64_t runs;
    int32_t key;

    if (length < fixed)
        return false;
    memcpy(&key, note, sizeof key);
    memcpy(&head, note + sizeof key + SC_COMM_KEY, sizeof head);
    runs = (uint64_t)head.runs + head.remote_runs;
    if (key != SC_COMM_KEY || runs > (length - fixed) / sizeof run)
        return false;
    for (size_t i = 0; i < runs; i++) {
        memcpy(&run, note + fixed + i * sizeof run, sizeof run);
        if (!is_run(run, ranks))
            return false;
    }
    return true;
}

static int take_comms(struct sc_notes *n)
{
    const struct sc_own_comm none = {.size = 0};
    size_t count = count_kind(n, SC_NOTE_COMM);
    size_t *last = latest(n, SC_NOTE_COMM, count);
    int rc = last == NULL ? SC_ENOMEM : 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        const struct sc_noted *note = last[i] == 0 ? NULL : &n->note[last[i] - 1];
        const char *bytes = note == NULL ? NULL : n->bytes.data + note->at + sizeof(int32_t);
        char lost[SC_COMM_KEY] = "(lost)";

        if (note != NULL && is_comm(n->bytes.data + note->at, note->length, n->ranks))
            rc = sc_items_add(&n->own.comms, -1, bytes, SC_COMM_KEY, bytes + SC_COMM_KEY,
                              note->length - sizeof(int32_t) - SC_COMM_KEY);
        else
            rc = sc_items_add(&n->own.comms, -1, lost, sizeof lost, &none, sizeof none);
    }
    free(last);
    return rc;
}

static int take_objects(struct sc_notes *n)
{
    size_t count = count_kind(n, SC_NOTE_OBJECT);
    size_t *last = latest(n, SC_NOTE_OBJECT, count);
    int32_t head[3];

    n->own.objects = calloc(count + 1, sizeof *n->own.objects);
    n->own.object_count = count;
    for (size_t i = 0; last != NULL && n->own.objects != NULL && i < count; i++) {
        const struct sc_noted *note = last[i] == 0 ? NULL : &n->note[last[i] - 1];
        const char *at = note == NULL ? NULL : n->bytes.data + note->at + sizeof head;
        const char *name = note == NULL || note->length < sizeof head
                               ? NULL
                               : take_text(&at, at - sizeof head + note->length);

        n->own.objects[i] = (struct sc_own_object){SC_OWN_FILE, -1, 0, "(name lost)"};
        if (name == NULL)
            continue;
        memcpy(head, n->bytes.data + note->at, sizeof head);
        n->own.objects[i].name = name;
        n->own.objects[i].kind = head[0] == SC_OWN_WINDOW ? SC_OWN_WINDOW : SC_OWN_FILE;
        if (head[1] >= 0 && (size_t)head[1] < n->own.comms.count)
            n->own.objects[i].comm = head[1];
        n->own.objects[i].ordinal = (uint32_t)head[2];
    }
    free(last);
    return last == NULL || n->own.objects == NULL ? SC_ENOMEM : 0;
}

int sc_notes_own(struct sc_notes *n, int32_t ranks)
{
    int rc = register_regions(n);

    n->ranks = ranks;
    if (rc == 0)
        rc = take_modules(n);
    if (rc == 0)
        rc = take_sites(n);
    if (rc == 0)
        rc = take_comms(n);
    if (rc == 0)
        rc = take_objects(n);
    return rc == 0 ? 0 : sc_fail(rc, "no memory for what a rank left");
}
