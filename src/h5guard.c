/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "h5guard.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

/* Exactly size bytes at address. */
static bool read_at(int descriptor, uint64_t address, size_t size, void *out)
{
    char *to = out;

    if (address > INT64_MAX || size > INT64_MAX - address)
        return false;
    while (size > 0) {
        ssize_t n = pread(descriptor, to, size, (off_t)address);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        to += n;
        address += (uint64_t)n;
        size -= (size_t)n;
    }
    return true;
}

static uint64_t file_size(int descriptor)
{
    struct stat status;

    return fstat(descriptor, &status) == 0 ? (uint64_t)status.st_size : 0;
}

/* Little-endian, as everything in an HDF5 file but data. */
static uint64_t number(const unsigned char *at, int bytes)
{
    uint64_t n = 0;

    for (int i = bytes; i-- > 0;)
        n = n << 8 | at[i];
    return n;
}

/* ---- heaps ---- */

/*
 * A collection: "GCOL", version 1, 3 bytes, its size in 8 bytes; then objects: index and count of
 * references in 2 bytes each, 4 bytes, length in 8, the data padded to 8. Index 0 is the free
 * space, its length with this head.
 */
enum { HEAP_HEAD = 16, OBJECT_HEAD = 16, HEAP_LEAST = 4096 };

struct heap {
    unsigned char *bytes;
    uint64_t address, size;
};

static void heap_free(struct heap *heap)
{
    free(heap->bytes);
    *heap = (struct heap){NULL, 0, 0};
}

/* Bytes that the object at a place takes, 0 when it does not fit into the heap. */
static uint64_t object_room(const struct heap *heap, uint64_t at)
{
    const unsigned char *object = heap->bytes + at;
    uint64_t left = heap->size - at, length = number(object + 8, 8), room;

    if (length > left)
        return 0;
    room = number(object, 2) == 0 ? length : OBJECT_HEAD + (length + 7) / 8 * 8;
    return room >= OBJECT_HEAD && room <= left ? room : 0;
}

static bool heap_is_sound(const struct heap *heap)
{
    for (uint64_t at = HEAP_HEAD; heap->size - at >= OBJECT_HEAD;) {
        uint64_t room = object_room(heap, at);

        if (room == 0)
            return false;
        at += room;
    }
    return true;
}

/* Reads a heap and checks it. */
static bool heap_load(int descriptor, uint64_t address, struct heap *heap)
{
    unsigned char head[HEAP_HEAD];
    uint64_t bytes = file_size(descriptor);

    heap_free(heap);
    if (!read_at(descriptor, address, sizeof head, head) || memcmp(head, "GCOL\1", 5) != 0)
        return false;
    heap->address = address;
    heap->size = number(head + 8, 8);
    if (heap->size < HEAP_LEAST || heap->size > bytes || address > bytes - heap->size)
        return false;
    heap->bytes = malloc((size_t)heap->size);
    if (heap->bytes == NULL || !read_at(descriptor, address, (size_t)heap->size, heap->bytes) ||
        !heap_is_sound(heap)) {
        heap_free(heap);
        return false;
    }
    return true;
}

/* Lengths by index, so that a heap is walked once for all references to it. */
static bool index_lengths(const struct heap *heap, uint64_t *lengths)
{
    memset(lengths, 0xff, 65536 * sizeof *lengths);
    for (uint64_t at = HEAP_HEAD; heap->size - at >= OBJECT_HEAD; at += object_room(heap, at)) {
        uint64_t index = number(heap->bytes + at, 2);

        if (index != 0 && lengths[index] != UINT64_MAX)
            return false; /* twice the same */
        lengths[index] = number(heap->bytes + at + 8, 8);
    }
    return true;
}

enum { REFERENCE = 16 }; /* length in 4 bytes, address of the heap in 8, index in 4 */

int sc_h5guard_check(int descriptor, uint64_t offset, size_t count)
{
    unsigned char *references = malloc(count * REFERENCE + 1);
    uint64_t *lengths = malloc(65536 * sizeof *lengths);
    struct heap heap = {NULL, 0, 0};
    bool sound = references != NULL && lengths != NULL &&
                 read_at(descriptor, offset, count * REFERENCE, references);

    for (size_t i = 0; sound && i < count; i++) {
        const unsigned char *r = references + i * REFERENCE;
        uint64_t length = number(r, 4), address = number(r + 4, 8), index = number(r + 12, 4);

        if (length == 0 && address == 0) /* the empty string */
            continue;
        if (heap.bytes == NULL || heap.address != address)
            sound = heap_load(descriptor, address, &heap) && index_lengths(&heap, lengths);
        sound = sound && index > 0 && index < 65536 && lengths[index] == length;
    }
    heap_free(&heap);
    free(references);
    free(lengths);
    return sound ? 0 : -1;
}

/*
 * A local heap, which holds the names of a group: "HEAP", 4 bytes, then in 8 bytes each the size of
 * its data, the place in them of the first free block, 1 for none, and their address. A free block:
 * the place of the next one and its length in 8 bytes each. HDF5 follows a ring of them for ever.
 */
enum { LOCAL_HEAD = 32, FREE_BLOCK = 16, FREE_NONE = 1 };

static bool local_heap_is_sound(int descriptor, const unsigned char *head)
{
    uint64_t size = number(head + 8, 8), place = number(head + 16, 8), left = size / FREE_BLOCK;
    unsigned char *data = size > file_size(descriptor) ? NULL : malloc((size_t)size + 1);
    bool sound = data != NULL && read_at(descriptor, number(head + 24, 8), (size_t)size, data);

    for (; sound && place != FREE_NONE; left--) {
        sound = left > 0 && place <= size && size - place >= FREE_BLOCK;
        if (sound)
            place = number(data + place, 8);
    }
    free(data);
    return sound;
}

/* ---- attributes ---- */

/*
 * A header of version 1: 1, 1 byte, number of messages in 2, count of references in 4, length of
 * the messages in 4, 4 bytes. A message: type and length in 2 bytes each, flags, 3 bytes, data.
 * More of them may lie elsewhere, where a message of type 16 says: address and length in 8 each.
 */
enum { HEADER_HEAD = 16, MESSAGE_HEAD = 8, PLACES = 64 };
enum { MESSAGE_ATTRIBUTE = 12, MESSAGE_CONTINUED = 16, MESSAGE_LAST = 24, MESSAGE_IS_SHARED = 2 };

/* Where messages lie: in the header, and where that continues. */
struct places {
    struct {
        uint64_t address, length;
    } place[PLACES];
    int count;
};

static bool add_place(struct places *places, uint64_t address, uint64_t length, uint64_t bytes)
{
    if (places->count == PLACES || length > bytes || address > bytes - length)
        return false;
    places->place[places->count].address = address;
    places->place[places->count++].length = length;
    return true;
}

/* Elements of a space: version, rank, flags, kind (version 2) or 5 bytes, the extents in 8 each.
 * UINT64_MAX: no such space. */
static uint64_t elements(const unsigned char *space, uint64_t length)
{
    uint64_t head = space[0] == 1 ? 8 : 4, rank = space[1], count = 1;

    if (space[0] < 1 || space[0] > 2 || length < head || rank > (length - head) / 8)
        return UINT64_MAX;
    if (space[0] == 2 && space[3] == 2) /* a null space */
        return 0;
    for (uint64_t i = 0; i < rank; i++)
        if (__builtin_mul_overflow(count, number(space + head + 8 * i, 8), &count))
            return UINT64_MAX;
    return count;
}

/* Version, flags, lengths of name, type and space in 2 bytes each, in version 3 the character set
 * in 1; then these three, padded to 8 in version 1, and the value. The name ends with a NUL. */
static bool attribute_is_sound(int descriptor, uint64_t address, const unsigned char *data,
                               uint64_t length)
{
    uint64_t head = length > 0 && data[0] == 3 ? 9 : 8, pad = length > 0 && data[0] == 1 ? 7 : 0;
    uint64_t name, type, space, value, count;
    bool is_string;

    if (length < 9 || data[0] < 1 || data[0] > 3)
        return false;
    name = (number(data + 2, 2) + pad) & ~pad;
    type = (number(data + 4, 2) + pad) & ~pad;
    space = (number(data + 6, 2) + pad) & ~pad;
    value = head + name + type + space;
    if (name == 0 || type < 8 || space < 4 || value > length ||
        data[head + number(data + 2, 2) - 1] != 0)
        return false;
    is_string = (data[head + name] & 15) == 9 && (data[head + name + 1] & 15) == 1;
    count = elements(data + head + name + type, space);
    if (!is_string || count == 0)
        return count < UINT64_MAX;
    return count <= (length - value) / REFERENCE &&
           sc_h5guard_check(descriptor, address + value, (size_t)count) == 0;
}

/* The messages at an address, of which the bytes are at hand. */
static bool messages_are_sound(int descriptor, uint64_t address, const unsigned char *bytes,
                               uint64_t length, struct places *places)
{
    uint64_t whole = file_size(descriptor);

    for (uint64_t at = 0; length - at >= MESSAGE_HEAD;) {
        uint64_t type = number(bytes + at, 2), size = number(bytes + at + 2, 2);
        bool is_shared = (bytes[at + 4] & MESSAGE_IS_SHARED) != 0;
        const unsigned char *data = bytes + at + MESSAGE_HEAD;

        if (type > MESSAGE_LAST || size > length - at - MESSAGE_HEAD)
            return false;
        if (type == MESSAGE_ATTRIBUTE && !is_shared &&
            !attribute_is_sound(descriptor, address + at + MESSAGE_HEAD, data, size))
            return false;
        if (type == MESSAGE_CONTINUED &&
            (size < 16 || !add_place(places, number(data, 8), number(data + 8, 8), whole)))
            return false;
        at += MESSAGE_HEAD + size;
    }
    return true;
}

int sc_h5guard_attributes(int descriptor, uint64_t address)
{
    struct places places = {.count = 0};
    unsigned char head[HEADER_HEAD];
    uint64_t bytes = file_size(descriptor);
    bool sound = read_at(descriptor, address, sizeof head, head);

    if (sound && memcmp(head, "OHDR", 4) == 0)
        return 0;
    sound = sound && head[0] == 1 &&
            add_place(&places, address + HEADER_HEAD, number(head + 8, 4), bytes);
    for (int i = 0; sound && i < places.count; i++) {
        size_t length = (size_t)places.place[i].length;
        unsigned char *messages = malloc(length + 1);

        sound = messages != NULL &&
                read_at(descriptor, places.place[i].address, length, messages) &&
                messages_are_sound(descriptor, places.place[i].address, messages, length, &places);
        free(messages);
    }
    return sound ? 0 : -1;
}

/* ---- the driver ---- */

struct guarded_file {
    H5FD_t head; /* filled by HDF5 */
    int descriptor;
    haddr_t eoa, eof;
};

static H5FD_t *guard_open(const char *name, unsigned flags, hid_t access, haddr_t limit)
{
    struct guarded_file *f = calloc(1, sizeof *f);

    (void)flags, (void)access, (void)limit;
    if (f == NULL)
        return NULL;
    f->descriptor = open(name, O_RDONLY | O_CLOEXEC);
    if (f->descriptor < 0) {
        free(f);
        return NULL;
    }
    f->eof = file_size(f->descriptor);
    return &f->head;
}

static herr_t guard_close(H5FD_t *head)
{
    close(((struct guarded_file *)head)->descriptor);
    free(head);
    return 0;
}

/* Metadata is not to be gathered by HDF5: 1.10 then copies what it does not have when an address is
 * near 2^64. Without that it asks the driver, which refuses. */
static herr_t guard_query(const H5FD_t *head, unsigned long *flags)
{
    (void)head;
    *flags = H5FD_FEAT_DATA_SIEVE;
    return 0;
}

static haddr_t guard_get_eoa(const H5FD_t *head, H5FD_mem_t type)
{
    (void)type;
    return ((const struct guarded_file *)head)->eoa;
}

static herr_t guard_set_eoa(H5FD_t *head, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((struct guarded_file *)head)->eoa = address;
    return 0;
}

static haddr_t guard_get_eof(const H5FD_t *head, H5FD_mem_t type)
{
    (void)type;
    return ((const struct guarded_file *)head)->eof;
}

/* HDF5 reads a heap, as if it were data, from its beginning and then, if it is a large one, the
 * rest. */
static herr_t guard_read(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address,
                         size_t size, void *buffer)
{
    const struct guarded_file *f = (const struct guarded_file *)head;
    struct heap heap = {NULL, 0, 0};

    (void)transfer;
    if (!read_at(f->descriptor, address, size, buffer))
        return -1;
    if (type == H5FD_MEM_DRAW && size >= HEAP_LEAST && memcmp(buffer, "GCOL\1", 5) == 0) {
        bool sound = heap_load(f->descriptor, address, &heap);

        heap_free(&heap);
        return sound ? 0 : -1;
    }
    if (type != H5FD_MEM_DRAW && size >= LOCAL_HEAD && memcmp(buffer, "HEAP", 4) == 0)
        return local_heap_is_sound(f->descriptor, buffer) ? 0 : -1;
    return 0;
}

/* HDF5 wants one; a file open for reading never gets here. */
static herr_t guard_write(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, const void *buffer)
{
    (void)head, (void)type, (void)transfer, (void)address, (void)size, (void)buffer;
    return -1;
}

static const H5FD_class_t driver = {
    .name = "libscope-guard",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_WEAK,
    .open = guard_open,
    .close = guard_close,
    .query = guard_query,
    .get_eoa = guard_get_eoa,
    .set_eoa = guard_set_eoa,
    .get_eof = guard_get_eof,
    .read = guard_read,
    .write = guard_write,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

int sc_h5guard_open(const struct sc_h5api *h5, const char *path, struct sc_h5guard *out)
{
    hid_t access = h5->H5Pcreate(h5->H5P_CLS_FILE_ACCESS_ID_g);

    out->file = -1;
    out->driver = h5->H5FDregister(&driver);
    if (out->driver >= 0 && access >= 0 && h5->H5Pset_driver(access, out->driver, NULL) >= 0)
        out->file = h5->H5Fopen(path, SC_H5F_RDONLY, access);
    if (access >= 0)
        h5->H5Pclose(access);
    return out->file >= 0 ? 0 : -1;
}

void sc_h5guard_close(const struct sc_h5api *h5, struct sc_h5guard *guard)
{
    if (guard->file >= 0)
        h5->H5Fclose(guard->file);
    if (guard->driver >= 0)
        h5->H5FDunregister(guard->driver);
    guard->file = guard->driver = -1;
}
