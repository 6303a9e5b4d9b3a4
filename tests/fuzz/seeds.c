/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Runs that end without a word, recorded by the library in child processes. What differs from run
 * to run in what they leave (host, times, addresses) is made the same, so that damage always is.
 */
#include <fcntl.h>
#include <glob.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "images.h"
#include "layout.h"
#include "meta.h"
#include "own.h"
#include "region.h"
#include "runtime.h"

/* No address at all: who follows what another process pointed to does not get far. */
#define WILD UINT64_C(0x5afe5afe5afe5af0)

enum { RANKS = 2, CALLS_TO_FORGET = 4200 };

static bool keeps_ops;
static int rank;

/* ---- recording, in a child ---- */

static void append(struct sc_string *s, const void *bytes, size_t length)
{
    if (sc_string_append(s, bytes, length) != 0)
        _exit(99);
}

static void note_comm(uint32_t number, const char *parent, const char *name, uint32_t size)
{
    const int32_t key_length = SC_COMM_KEY;
    const struct sc_row_run members = {0, 1, size};
    struct sc_own_comm head = {.has_parent = parent[0] != '\0', .size = size, .runs = 1};
    char key[SC_COMM_KEY] = "";
    struct sc_string s = {0};

    memcpy(key, name, strlen(name));
    memcpy(head.parent, parent, strlen(parent));
    append(&s, &key_length, sizeof key_length);
    append(&s, key, sizeof key);
    append(&s, &head, sizeof head);
    append(&s, &members, sizeof members);
    append(&s, name, strlen(name));
    sc_image_note(SC_NOTE_COMM, number, s.data, s.length);
    sc_string_free(&s);
}

static void note_object(uint32_t number, int32_t kind, int32_t comm, const char *name)
{
    const int32_t head[3] = {kind, comm, 0};
    struct sc_string s = {0};

    append(&s, head, sizeof head);
    append(&s, name, strlen(name) + 1);
    sc_image_note(SC_NOTE_OBJECT, number, s.data, s.length);
    sc_string_free(&s);
}

static void note_facts(void)
{
    static const char *const words[] = {"./heat", "-n", "100"};
    struct sc_facts f = {0};

    if (sc_facts_text(&f, "mpi_library", "none at all") != 0 ||
        sc_facts_int(&f, "omp_num_threads", 4) != 0 || sc_facts_real(&f, "load", 0.5) != 0 ||
        sc_facts_texts(&f, "command", words, 3) != 0)
        _exit(99);
    sc_facts_note(&f);
    sc_facts_free(&f);
}

static void note_all(void)
{
    static const char module[] = "/usr/bin/heat\0c0ffee";
    const struct sc_site sites[] = {{0, 0x1234}, {0, 0x5678}, {-1, 0x9abc}};

    note_comm(0, "", "world", RANKS);
    note_comm(1, "world", "half", 1);
    note_object(0, SC_OWN_FILE, 0, "/tmp/out.dat");
    note_object(1, SC_OWN_WINDOW, 1, "");
    sc_image_note(SC_NOTE_MODULE, 0, module, sizeof module);
    for (uint32_t i = 0; i < sizeof sites / sizeof *sites; i++)
        sc_image_note(SC_NOTE_SITE, i, &sites[i], sizeof sites[i]);
    if (rank == 0)
        note_facts();
}

static bool no_world(int *r, int *size)
{
    (void)r, (void)size;
    return false;
}

static int no_publication(const struct sc_settings *settings)
{
    (void)settings;
    return SC_EIO;
}

static bool records(void)
{
    return true;
}

static const char *no_parallel(void)
{
    return "no MPI here";
}

/* A call, of which `parts` requests remain. */
static struct sc_op *record_op(const char *name, int i, unsigned parts)
{
    const int region = sc_region_id(SC_REGION_MPI, name, "[\"mpi\"]", NULL, -1);
    struct sc_thread *t = sc_buffer_thread();
    struct sc_op *op;

    if (t == NULL || (t->op_next >= t->op_limit && !sc_buffer_grow_ops(t)))
        _exit(99);
    op = t->op_next;
    *op = (struct sc_op){.sent = 8,
                         .received = (uint64_t)i,
                         .region = (uint16_t)region,
                         .flags = i % 3 == 0 ? SC_OP_SENDS : SC_OP_RMA,
                         .site = i % 4 - 1,
                         .comm = i % 3 - 1,
                         .object = i % 2 - 1,
                         .peer = i % RANKS,
                         .tag = i};
    __atomic_store_n(&t->op_next, op + 1, __ATOMIC_RELEASE);
    op->start = sc_clock_ticks();
    for (unsigned k = 0; k < parts; k++) {
        struct sc_part *part = sc_part_add(t, op);

        part->flags = SC_PART_REQUEST | (k % 2 == 0 ? SC_PART_RECEIVES : SC_PART_SENDS);
        part->id = i * 10 + (int)k;
        part->comm = (int32_t)k % 2;
        part->peer = 1;
        part->sent = k;
        if (k == 0)
            continue; /* under way to the end */
        part->done = sc_clock_ticks();
        part->await = 10;
        sc_part_done(part);
    }
    __atomic_store_n(&op->end, sc_clock_ticks(), __ATOMIC_RELEASE);
    return op;
}

static void *record_there(void *unused)
{
    const int r = scope_region("elsewhere");

    (void)unused;
    scope_begin(r);
    record_op("MPI_Send", 1, 0);
    scope_end(r);
    return NULL;
}

static void record_some(void)
{
    const int outer = scope_region("step"), inner = scope_region("solve");
    const int test = sc_region_id(SC_REGION_MPI, "MPI_Test", NULL, NULL, -1);
    struct sc_thread *t = sc_buffer_thread();
    pthread_t other;
    uint64_t now;

    for (int i = 0; i < 5; i++) {
        scope_begin(outer);
        scope_begin(inner);
        record_op("MPI_Isend", i, (unsigned)i);
        scope_end(inner);
        now = sc_clock_ticks();
        sc_buffer_count_call(t, (uint32_t)test, 1, now, now + 10);
        scope_end(outer);
    }
    record_op("MPI_Recv", 2, 0)->flags = SC_OP_FAILED;
    if (pthread_create(&other, NULL, record_there, NULL) == 0)
        pthread_join(other, NULL);
    for (int i = 0; i < CALLS_TO_FORGET && !keeps_ops; i++)
        record_op("MPI_Bcast", i, i % 1000 == 7);
    scope_begin(outer); /* for ever */
    scope_begin(inner);
}

static void record(void)
{
    static const struct sc_layer layer = {.world = no_world,
                                          .publish = no_publication,
                                          .records = records,
                                          .note = note_all,
                                          .parallel_missing = no_parallel};
    scope_options o;

    setenv("SCOPE_TEST_CLOCK", "10", 1);
    sc_runtime_layer(&layer);
    scope_options_init(&o);
    o.file_path = "killed.h5";
    o.label = "fuzz";
    o.salvage = 1;
    o.salvage_dir = ".";
    o.mpi_record = keeps_ops ? "calls" : "stats";
    o.buffer_limit = 16;
    if (scope_setup(&o) != 0)
        _exit(99);
    sc_runtime_joined(rank, RANKS, 77);
    record_some();
    if (rank == 1)
        sc_runtime_breaks_off(SC_END_SIGNAL, 15, "");
    _exit(0);
}

/* ---- what they left ---- */

struct bytes {
    unsigned char *data;
    size_t size;
};

static struct bytes read_image(const char *path)
{
    struct bytes b = {malloc(FUZZ_IMAGE_MOST), 0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 || b.data == NULL ? -1 : read(fd, b.data, FUZZ_IMAGE_MOST);

    if (got <= 0) {
        perror(path);
        exit(99);
    }
    close(fd);
    b.size = (size_t)got;
    return b;
}

static void settle_head(struct sc_image_head *h)
{
    memset(h->host, 0, sizeof h->host);
    memset(h->boot, 0, sizeof h->boot);
    memset(h->path, 0, sizeof h->path);
    snprintf(h->host, sizeof h->host, "node%d", rank);
    snprintf(h->boot, sizeof h->boot, "once");
    snprintf(h->path, sizeof h->path, "/home/heat/killed.h5");
    h->pid = 4711;
    h->begin_realtime = INT64_C(1700000000000000000) + rank;
    h->first = (struct sc_clock_point){10, 1000000000};
    h->second[h->which] = (struct sc_clock_point){1000010, 1000500000};
    if (h->end_kind != SC_END_UNKNOWN)
        h->end = (struct sc_clock_point){500010, 1000250000};
}

/* Addresses as if extents lay in order, 4 GiB apart. */
static uint64_t settled(const struct bytes *b, uint64_t address)
{
    for (uint64_t at = SC_EXTENT; at + SC_EXTENT <= b->size; at += SC_EXTENT) {
        const struct sc_extent *e = (const void *)(b->data + at);

        if (e->magic == SC_EXTENT_MAGIC && address - e->address < SC_EXTENT)
            return at << 12 | (address - e->address);
    }
    return address == 0 ? 0 : WILD;
}

static void settle_pointer(const struct bytes *b, void *pointer)
{
    uint64_t address;

    memcpy(&address, pointer, sizeof address);
    address = settled(b, address);
    memcpy(pointer, &address, sizeof address);
}

static void settle_extent(const struct bytes *b, unsigned char *base)
{
    const struct sc_extent *e = (const void *)base;
    struct sc_op *op = (void *)(base + sc_buffer_data_at(SC_EXTENT_OPS));
    struct sc_part *part = (void *)(base + sc_buffer_data_at(SC_EXTENT_PARTS));
    struct scope_event_1_ *event = (void *)(base + sc_buffer_data_at(SC_EXTENT_EVENTS));

    for (; e->kind == SC_EXTENT_OPS && (unsigned char *)op < base + SC_EXTENT; op++)
        if ((op->flags & SC_OP_MANY) == 0)
            settle_pointer(b, &op->parts);
    for (; e->kind == SC_EXTENT_PARTS && (unsigned char *)part < base + SC_EXTENT; part++) {
        settle_pointer(b, &part->next);
        settle_pointer(b, &part->thread);
        settle_pointer(b, &part->waiting);
    }
    for (; e->kind == SC_EXTENT_EVENTS && (unsigned char *)event < base + SC_EXTENT; event++)
        if ((event->end & SCOPE_OPEN_) != 0)
            event->end = SCOPE_OPEN_ | (WILD & ~(uint64_t)3);
}

/* Makes of a file what any other run of this program makes of it. */
static void settle(const struct bytes *b)
{
    settle_head((void *)b->data);
    for (size_t at = SC_EXTENT; at + SC_EXTENT <= b->size; at += SC_EXTENT)
        settle_extent(b, b->data + at);
    for (size_t at = SC_EXTENT; at < b->size; at += SC_EXTENT) {
        struct sc_extent *e = (void *)(b->data + at);
        e->address = e->magic == SC_EXTENT_MAGIC ? at << 12 : e->address;
    }
}

/* ---- as an input ---- */

static bool is_zero(const struct bytes *b, size_t at)
{
    static const unsigned char zeros[FUZZ_GRAIN];

    return at < b->size &&
           memcmp(b->data + at, zeros, b->size - at < FUZZ_GRAIN ? b->size - at : FUZZ_GRAIN) == 0;
}

static void append_run(struct sc_string *out, const struct bytes *b, unsigned file, size_t from,
                       size_t to)
{
    const struct fuzz_run run = {(uint32_t)(file << 24 | from), (uint32_t)(to - from)};

    if (sc_string_append(out, &run, sizeof run) != 0 ||
        sc_string_append(out, b->data + from, to - from) != 0)
        exit(99);
}

/* What of the file is not zero; two grains of zeros end a run, and so does an extent. */
static void pack(struct sc_string *out, const struct bytes *b, unsigned file)
{
    for (size_t at = 0; at < b->size;) {
        const size_t from = at;

        if (is_zero(b, at)) {
            at += FUZZ_GRAIN;
            continue;
        }
        do
            at += FUZZ_GRAIN;
        while (at < b->size && at % SC_EXTENT != 0 &&
               !(is_zero(b, at) && is_zero(b, at + FUZZ_GRAIN)));
        append_run(out, b, file, from, at < b->size ? at : b->size);
    }
    append_run(out, b, file, b->size, b->size);
}

static void forget_files(const char *pattern)
{
    glob_t found;

    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlink(found.gl_pathv[i]);
    globfree(&found);
}

/* Records as that rank and appends what is left. */
static void record_rank(struct sc_string *out, unsigned file)
{
    char pattern[64];
    int status = 0;
    glob_t found;
    struct bytes b;
    pid_t child = fork();

    if (child == 0)
        record();
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        puts("the recording failed");
        exit(99);
    }
    snprintf(pattern, sizeof pattern, "scope-*-%ld-*.image", (long)child);
    if (glob(pattern, 0, NULL, &found) != 0) {
        puts("no image can be made in this folder");
        exit(77);
    }
    b = read_image(found.gl_pathv[0]);
    globfree(&found);
    forget_files("scope-*.image");
    forget_files("killed.h5.salvage/*");
    rmdir("killed.h5.salvage");
    settle(&b);
    pack(out, &b, file);
    free(b.data);
}

static void give(fuzz_take *take, const char *name, struct sc_string *s)
{
    if (s->length > FUZZ_MOST)
        exit(99);
    take(name, (const unsigned char *)s->data, s->length);
    sc_string_free(s);
}

void images_seeds(fuzz_take *take)
{
    struct sc_string s = {0};

    keeps_ops = true;
    record_rank(&s, 0);
    give(take, "calls", &s);
    keeps_ops = false;
    record_rank(&s, 0);
    give(take, "stats", &s);
    keeps_ops = true;
    for (rank = 0; rank < RANKS; rank++)
        record_rank(&s, (unsigned)rank);
    give(take, "ranks", &s);
    rank = 0;
}
