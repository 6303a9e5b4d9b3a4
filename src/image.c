/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "image.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum { NOTE_ALIGN = 16, NOTES_AT_ONCE = 1 << 14 };

static struct {
    pthread_mutex_t lock; /* notes, seals, life */
    struct sc_image_head *head;
    int fd;
    bool is_frozen;
    uint64_t end;      /* of the file; atomic */
    char *notes;       /* the extent that notes go to, NULL none yet */
    size_t note_at;    /* next one, as offset */
    size_t note_limit; /* of what is usable */
    uint64_t note_extents;
    char folder[SC_IMAGE_PATH_MAX + 32]; /* <profile>.salvage */
    char path[SC_IMAGE_PATH_MAX + 256];
    char pointer[SC_IMAGE_PATH_MAX + 256]; /* the file in folder that names path; "" none */
    char *hint;                            /* where the next block is likely to find room */
} image = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

struct sc_image_head *sc_image_head(void)
{
    return __atomic_load_n(&image.head, __ATOMIC_ACQUIRE);
}

const char *sc_image_folder(void)
{
    return sc_image_head() == NULL ? NULL : image.folder;
}

/* ---- room ---- */

/* A process that would be told by a signal that a file became too long is spared that. */
static bool may_grow_to(uint64_t end)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY ||
           end <= limit.rlim_cur;
}

/* A twentieth of the file system, 1 GiB at most, is left to others. */
static bool has_space(void)
{
    struct statvfs info;
    uint64_t keep, unit;

    if (fstatvfs(image.fd, &info) != 0)
        return false;
    unit = info.f_frsize;
    keep = info.f_blocks / 20 * unit;
    return info.f_bavail * unit > (keep < (1 << 30) ? keep : 1 << 30) + SC_EXTENT;
}

static bool allocate(uint64_t at, size_t length)
{
    int rc = -1;

    if (may_grow_to(at + length))
        while ((rc = fallocate(image.fd, 0, (off_t)at, (off_t)length)) != 0 && errno == EINTR)
            continue;
    return rc == 0;
}

void sc_image_populate(char *from, const char *to)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = (uintptr_t)from & ~(page - 1);
    uintptr_t end = ((uintptr_t)to + page - 1) & ~(page - 1);

    (void)madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
}

static uint64_t take_extent(void)
{
    return __atomic_fetch_add(&image.end, SC_EXTENT, __ATOMIC_RELAXED);
}

static char *map_aligned(int prot)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    char *hint = __atomic_load_n(&image.hint, __ATOMIC_RELAXED);
    char *got = MAP_FAILED;
    size_t before;

    if (hint != NULL)
        got = mmap(hint, SC_EXTENT, prot, flags, -1, 0);
    if (got != MAP_FAILED && (uintptr_t)got % SC_EXTENT != 0) {
        munmap(got, SC_EXTENT);
        got = MAP_FAILED;
    }
    if (got == MAP_FAILED) {
        got = mmap(NULL, 2 * SC_EXTENT, prot, flags, -1, 0);
        if (got == MAP_FAILED)
            return NULL;
        before = (size_t)(-(uintptr_t)got % SC_EXTENT);
        if (before > 0)
            munmap(got, before);
        munmap(got + before + SC_EXTENT, SC_EXTENT - before);
        got += before;
    }
    __atomic_store_n(&image.hint, got - SC_EXTENT, __ATOMIC_RELAXED);
    return got;
}

/* Libraries for fast networks stand in for mremap(), some without its fifth argument. */
bool sc_image_move(char *from, char *to)
{
    return syscall(SYS_mremap, from, SC_EXTENT, SC_EXTENT, MREMAP_MAYMOVE | MREMAP_FIXED, to) ==
           (long)(intptr_t)to;
}

char *sc_image_map_anonymous(void)
{
    return map_aligned(PROT_READ | PROT_WRITE);
}

/* ---- windows ---- */

static void begin_extent(char *window, enum sc_extent_kind kind, uint32_t thread, uint64_t ordinal,
                         uint64_t at)
{
    struct sc_extent *e = (struct sc_extent *)(void *)window;

    *e = (struct sc_extent){.kind = kind,
                            .thread = thread,
                            .ordinal = ordinal,
                            .address = (uint64_t)(uintptr_t)window,
                            .at = at};
    __atomic_store_n(&e->magic, SC_EXTENT_MAGIC, __ATOMIC_RELEASE);
}

char *sc_image_window(enum sc_extent_kind kind, uint32_t thread, uint64_t ordinal, size_t usable)
{
    uint64_t at;
    char *window;

    if (sc_image_head() == NULL || __atomic_load_n(&image.is_frozen, __ATOMIC_RELAXED))
        return NULL;
    window = has_space() ? map_aligned(PROT_NONE) : NULL;
    if (window == NULL)
        return NULL;
    at = take_extent();
    if (!allocate(at, usable) || mmap(window, SC_EXTENT, PROT_READ | PROT_WRITE,
                                      MAP_SHARED | MAP_FIXED, image.fd, (off_t)at) == MAP_FAILED) {
        munmap(window, SC_EXTENT);
        return NULL;
    }
    begin_extent(window, kind, thread, ordinal, at);
    return window;
}

bool sc_image_reserve(char *from, const char *to)
{
    uintptr_t within = (uintptr_t)from & (SC_EXTENT - 1);
    const struct sc_extent *e = (struct sc_extent *)(void *)(from - within);

    if (image.fd < 0 || !allocate(e->at + within, (size_t)(to - from)))
        return false;
    sc_image_populate(from, to);
    return true;
}

static bool write_all(const char *from, size_t length, uint64_t at)
{
    while (length > 0) {
        ssize_t put = pwrite(image.fd, from, length, (off_t)at);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return false;
        from += put;
        at += (uint64_t)put;
        length -= (size_t)put;
    }
    return true;
}

/* Under the lock. The point that is in use stays as it is. */
static void take_point(struct sc_image_head *head)
{
    uint32_t other = head->which ^ 1;

    head->second[other] = sc_clock_point();
    __atomic_store_n(&head->which, other, __ATOMIC_RELEASE);
}

/* The window's memory moves on to where the next block will be; the file takes its place. */
static bool move_window(char *window, char *next, uint64_t sealed_at)
{
    if (!sc_image_move(window, next))
        return false;
    if (mmap(window, SC_EXTENT, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, image.fd,
             (off_t)sealed_at) != MAP_FAILED)
        return true;
    (void)sc_image_move(next, window);
    return false;
}

char *sc_image_seal(char *window, uint64_t next_ordinal)
{
    struct sc_extent copy = *(struct sc_extent *)(void *)window;
    const uint64_t at = copy.at;
    char *next = NULL;
    bool is_written, is_moved = false;

    if (sc_image_head() == NULL || __atomic_load_n(&image.is_frozen, __ATOMIC_RELAXED))
        return NULL;
    next = has_space() ? map_aligned(PROT_NONE) : NULL;
    if (next == NULL)
        return NULL;
    copy.at = take_extent();
    copy.is_sealed = 1;
    is_written = may_grow_to(copy.at + SC_EXTENT) && write_all(window, SC_EXTENT, copy.at);
    pthread_mutex_lock(&image.lock);
    /* From the second write on the copy counts. */
    if (is_written && !image.is_frozen && write_all((const char *)&copy, sizeof copy, copy.at))
        is_moved = move_window(window, next, copy.at);
    if (is_moved && image.head != NULL)
        take_point(image.head);
    pthread_mutex_unlock(&image.lock);
    if (!is_moved) {
        munmap(next, SC_EXTENT);
        return NULL;
    }
    memset(next, 0, SC_EXTENT);
    begin_extent(next, (enum sc_extent_kind)copy.kind, copy.thread, next_ordinal, at);
    return next;
}

/* The head comes last. */
static bool write_piece(const struct sc_extent *head, const char *bytes, size_t length)
{
    const struct sc_extent none = {0};

    return has_space() && may_grow_to(head->at + SC_EXTENT) &&
           write_all((const char *)&none, sizeof none, head->at) &&
           write_all(bytes, length, head->at + sizeof none) &&
           write_all((const char *)head, sizeof *head, head->at);
}

bool sc_image_store(struct sc_image_place *place, uint32_t thread, uint64_t number,
                    const void *bytes, size_t length)
{
    const size_t most = SC_EXTENT - sizeof(struct sc_extent);
    struct sc_extent head = {.magic = SC_EXTENT_MAGIC,
                             .kind = SC_EXTENT_TOTALS,
                             .thread = thread,
                             .totals = number,
                             .length = length};
    const char *from = bytes;

    if (sc_image_head() == NULL || __atomic_load_n(&image.is_frozen, __ATOMIC_RELAXED))
        return false;
    for (size_t i = 0; length > 0; i++) {
        size_t piece = length < most ? length : most;

        if (i == place->count) {
            if (sc_array_reserve(&place->at, &place->capacity, i + 1, sizeof *place->at) != 0)
                return false;
            place->at[place->count++] = take_extent();
        }
        head.at = place->at[i];
        head.ordinal = number << 16 | i;
        if (!write_piece(&head, from, piece))
            return false;
        from += piece;
        length -= piece;
    }
    return true;
}

void sc_image_freeze(void)
{
    pthread_mutex_lock(&image.lock);
    __atomic_store_n(&image.is_frozen, true, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&image.lock);
}

void sc_image_clock(void)
{
    pthread_mutex_lock(&image.lock);
    if (image.head != NULL)
        take_point(image.head);
    pthread_mutex_unlock(&image.lock);
}

/* ---- notes ---- */

static size_t padded(size_t length)
{
    return (length + NOTE_ALIGN - 1) & ~(size_t)(NOTE_ALIGN - 1);
}

/* Under the lock. Room for a note with so many bytes behind note_at. */
static bool make_room(size_t length)
{
    size_t wanted = sizeof(struct sc_note) + padded(length);
    size_t limit;

    if (image.notes == NULL || image.note_at + wanted > SC_EXTENT) {
        image.notes = sc_image_window(SC_EXTENT_NOTES, 0, image.note_extents, NOTES_AT_ONCE);
        if (image.notes == NULL)
            return false;
        image.note_extents++;
        image.note_at = sizeof(struct sc_extent);
        image.note_limit = NOTES_AT_ONCE;
    }
    if (image.note_at + wanted <= image.note_limit)
        return true;
    limit = 2 * image.note_limit;
    if (limit < image.note_at + wanted)
        limit = image.note_at + wanted;
    if (limit > SC_EXTENT)
        limit = SC_EXTENT;
    if (!sc_image_reserve(image.notes + image.note_limit, image.notes + limit))
        return false;
    image.note_limit = limit;
    return true;
}

static bool add_note(enum sc_note_kind kind, uint32_t number, const char *bytes, size_t length,
                     bool goes_on)
{
    struct sc_note *note;

    if (!make_room(length))
        return false;
    note = (struct sc_note *)(void *)(image.notes + image.note_at);
    note->number = number;
    note->length = (uint32_t)length;
    note->goes_on = goes_on;
    if (length > 0)
        memcpy(note + 1, bytes, length);
    image.note_at += sizeof *note + padded(length);
    __atomic_store_n(&note->kind, (uint32_t)kind, __ATOMIC_RELEASE);
    return true;
}

void sc_image_note(enum sc_note_kind kind, uint32_t number, const void *bytes, size_t length)
{
    enum { MOST = 1 << 18 }; /* in one piece */
    const char *from = bytes;
    int saved = errno;

    if (sc_image_head() == NULL)
        return;
    pthread_mutex_lock(&image.lock);
    for (bool goes_on = true; image.head != NULL && goes_on;) {
        size_t piece = length > MOST ? MOST : length;

        goes_on = length > piece;
        if (!add_note(kind, number, from, piece, goes_on))
            break;
        from += piece;
        length -= piece;
    }
    pthread_mutex_unlock(&image.lock);
    errno = saved;
}

/* ---- life ---- */

/* Whether a file there can be mapped and shared at the speed of memory. */
static bool is_local(const char *folder)
{
    static const unsigned long local[] = {
        0x01021994, /* tmpfs */
        0x0000EF53, /* ext2, ext3, ext4 */
        0x58465342, /* XFS */
        0x9123683E, /* Btrfs */
        0xF2F52010, /* F2FS */
        0x794C7630, /* overlayfs: what it lies on is local where containers run */
    };
    struct statfs info;

    if (statfs(folder, &info) != 0)
        return false;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++)
        if ((unsigned long)info.f_type == local[i])
            return true;
    return false;
}

/* Makes the folder beside the profile; another rank may have been first. */
static int make_folder(const char *profile)
{
    int length = snprintf(image.folder, sizeof image.folder, "%s.salvage", profile);

    if (length >= (int)sizeof image.folder)
        return sc_fail(SC_EINVAL, "%.60s...: the path is too long", profile);
    if (mkdir(image.folder, 0777) != 0 && errno != EEXIST)
        return sc_fail(SC_EIO, "%s: %s", image.folder, strerror(errno));
    return 0;
}

static int write_pointer(void)
{
    int fd = open(image.pointer, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    size_t length = strlen(image.path);
    bool done = fd >= 0 && write(fd, image.path, length) == (ssize_t)length;

    if (fd >= 0)
        close(fd);
    return done ? 0 : sc_fail(SC_EIO, "%s: %s", image.pointer, strerror(errno));
}

/* Names the file: in the folder beside the profile where that is local, else where it is, with a
 * pointer there. */
static int choose_path(const char *folder)
{
    static unsigned made;
    const char *place = folder[0] != '\0'        ? folder
                        : is_local(image.folder) ? image.folder
                                                 : "/dev/shm";
    char host[64] = "", name[128];

    gethostname(host, sizeof host - 1);
    for (char *c = host; *c != '\0'; c++)
        if (*c == '/')
            *c = '_';
    snprintf(name, sizeof name, "%s-%ld-%u", host, (long)getpid(), made++);
    snprintf(image.path, sizeof image.path, "%s/%s%s.image", place,
             place == image.folder ? "" : "scope-", name);
    image.pointer[0] = '\0';
    if (place == image.folder)
        return 0;
    snprintf(image.pointer, sizeof image.pointer, "%s/%s.where", image.folder, name);
    return write_pointer();
}

static void remove_files(void)
{
    unlink(image.path);
    if (image.pointer[0] != '\0')
        unlink(image.pointer);
    rmdir(image.folder); /* the last one out */
}

static void read_boot_id(char *out, size_t size)
{
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? 0 : read(fd, out, size - 1);

    if (fd >= 0)
        close(fd);
    out[got > 0 ? got : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

static struct sc_image_head *map_head(void)
{
    struct sc_image_head *head;

    if (!allocate(0, sizeof *head))
        return NULL;
    head = mmap(NULL, sizeof *head, PROT_READ | PROT_WRITE, MAP_SHARED, image.fd, 0);
    if (head == MAP_FAILED)
        return NULL;
    *head = (struct sc_image_head){.version = SC_IMAGE_VERSION,
                                   .head_bytes = sizeof *head,
                                   .rank = -1,
                                   .size = -1,
                                   .pid = getpid()};
    gethostname(head->host, sizeof head->host - 1);
    read_boot_id(head->boot, sizeof head->boot);
    return head;
}

int sc_image_create(const char *profile, const char *folder, struct sc_image_head **out)
{
    struct sc_image_head *head;
    int rc = make_folder(profile);

    if (rc == 0)
        rc = choose_path(folder);
    if (rc != 0)
        return rc;
    image.fd = open(image.path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    head = image.fd < 0 ? NULL : map_head();
    if (head == NULL) {
        rc = sc_fail(SC_EIO, "%s: %s", image.path, strerror(errno));
        if (image.fd >= 0)
            close(image.fd);
        image.fd = -1;
        remove_files();
        return rc;
    }
    (void)flock(image.fd, LOCK_EX | LOCK_NB); /* who looks sees that its process lives */
    snprintf(head->path, sizeof head->path, "%s", profile);
    memcpy(head->magic, SC_IMAGE_MAGIC, sizeof head->magic);
    image.end = SC_EXTENT;
    image.is_frozen = false;
    image.notes = NULL;
    image.note_extents = 0;
    __atomic_store_n(&image.head, head, __ATOMIC_RELEASE);
    *out = head;
    return 0;
}

/* Under the lock. The descriptor goes, and with it the lock on the file; the head stays mapped,
 * since a signal handler may be about to write to it. */
static void forget(void)
{
    __atomic_store_n(&image.head, NULL, __ATOMIC_RELEASE);
    image.is_frozen = true;
    image.notes = NULL;
    if (image.fd >= 0)
        close(image.fd);
    image.fd = -1;
}

void sc_image_remove(void)
{
    pthread_mutex_lock(&image.lock);
    if (image.head != NULL) {
        remove_files();
        forget();
    }
    pthread_mutex_unlock(&image.lock);
}

void sc_image_leave(enum sc_image_end kind, int number, const char *text)
{
    pthread_mutex_lock(&image.lock);
    if (image.head != NULL) {
        image.head->end_number = number;
        image.head->end = sc_clock_point();
        snprintf(image.head->end_text, sizeof image.head->end_text, "%s", text);
        image.head->end_kind = (int32_t)kind;
        forget();
    }
    pthread_mutex_unlock(&image.lock);
}

void sc_image_forked(void)
{
    pthread_mutex_init(&image.lock, NULL);
    forget();
}
