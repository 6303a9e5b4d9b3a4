/* SPDX-License-Identifier: BSD-3-Clause
 *
 * h5private SOURCE TARGET SONAME: a private copy of a shared library, made when libscope is built.
 *
 * The copy carries another SONAME, so the loader never takes it for the application's own library,
 * and DF_SYMBOLIC, so its references to itself bind to itself whatever was loaded before. The file
 * is patched in place: a SONAME may not be longer than the one it replaces, and nothing moves.
 */
#include <elf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct image {
    const char *path;
    unsigned char *bytes;
    uint64_t size;
    const Elf64_Phdr *segments;
    unsigned segment_count;
    Elf64_Dyn *dynamic;
    uint64_t dynamic_room; /* entries, the closing DT_NULLs included */
    char *strings;
    uint64_t strings_size;
};

_Noreturn static void die(const char *path, const char *format, ...)
{
    va_list args;

    fprintf(stderr, "h5private: %s: ", path);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
    exit(1);
}

static void image_read(struct image *image, const char *path)
{
    FILE *file = fopen(path, "rb");
    long size = -1;

    if (file != NULL && fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
        die(path, "%s", strerror(errno));
    image->path = path;
    image->size = (uint64_t)size;
    image->bytes = malloc(image->size + 1); /* one more: never an empty allocation */
    if (image->bytes == NULL)
        die(path, "out of memory for %ld bytes", size);
    if (fread(image->bytes, 1, image->size, file) != image->size)
        die(path, "cannot read it whole");
    fclose(file);
}

/* Bytes [offset, offset + length) of the file, or the end of the program. */
static void *image_at(const struct image *image, uint64_t offset, uint64_t length, const char *what)
{
    if (offset > image->size || length > image->size - offset)
        die(image->path, "%s lies outside the file (cut off?)", what);
    return image->bytes + offset;
}

/* Accepts a 64-bit ELF shared library of this machine's byte order, and finds its segments. */
static void image_check(struct image *image)
{
    const uint16_t probe = 1;
    const int host = *(const unsigned char *)&probe == 1 ? ELFDATA2LSB : ELFDATA2MSB;
    const Elf64_Ehdr *head;

    if (image->size < sizeof *head || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
        die(image->path, "not an ELF file");
    head = (const Elf64_Ehdr *)(const void *)image->bytes;
    if (head->e_ident[EI_CLASS] != ELFCLASS64)
        die(image->path, "not a 64-bit ELF file");
    if (head->e_ident[EI_DATA] != host)
        die(image->path, "built for a machine of the other byte order");
    if (head->e_ident[EI_VERSION] != EV_CURRENT || head->e_type != ET_DYN)
        die(image->path, "not a shared library");
    if (head->e_phentsize != sizeof(Elf64_Phdr) || head->e_phoff % sizeof(uint64_t) != 0)
        die(image->path, "unknown program header layout");
    image->segment_count = head->e_phnum;
    image->segments = image_at(image, head->e_phoff, (uint64_t)head->e_phnum * sizeof(Elf64_Phdr),
                               "the program header");
}

/* The file offset that is loaded at this address. */
static uint64_t image_offset(const struct image *image, uint64_t address, const char *what)
{
    for (unsigned i = 0; i < image->segment_count; i++) {
        const Elf64_Phdr *segment = &image->segments[i];

        if (segment->p_type == PT_LOAD && address >= segment->p_vaddr &&
            address - segment->p_vaddr < segment->p_filesz)
            return address - segment->p_vaddr + segment->p_offset;
    }
    die(image->path, "%s is in no loaded segment", what);
}

/* The dynamic entry with this tag, or NULL; DT_NULL finds the first free place. */
static Elf64_Dyn *image_entry(const struct image *image, Elf64_Sxword tag)
{
    for (uint64_t i = 0; i < image->dynamic_room; i++) {
        if (image->dynamic[i].d_tag == tag)
            return &image->dynamic[i];
        if (image->dynamic[i].d_tag == DT_NULL)
            return NULL;
    }
    return NULL;
}

/* Finds the dynamic section and its string table. */
static void image_dynamic(struct image *image)
{
    const Elf64_Dyn *strings, *size;

    for (unsigned i = 0; i < image->segment_count && image->dynamic == NULL; i++) {
        const Elf64_Phdr *segment = &image->segments[i];

        if (segment->p_type != PT_DYNAMIC)
            continue;
        if (segment->p_offset % sizeof(uint64_t) != 0)
            die(image->path, "the dynamic section is not aligned");
        image->dynamic_room = segment->p_filesz / sizeof(Elf64_Dyn);
        image->dynamic =
            image_at(image, segment->p_offset, segment->p_filesz, "the dynamic section");
    }
    strings = image_entry(image, DT_STRTAB);
    size = image_entry(image, DT_STRSZ);
    if (strings == NULL || size == NULL)
        die(image->path, "no dynamic section (static?)");
    image->strings_size = size->d_un.d_val;
    image->strings = image_at(image, image_offset(image, strings->d_un.d_ptr, "the string table"),
                              image->strings_size, "the string table");
}

/* The string that an entry names. */
static char *image_string(const struct image *image, const Elf64_Dyn *entry)
{
    uint64_t at = entry->d_un.d_val;

    if (at >= image->strings_size ||
        memchr(image->strings + at, '\0', image->strings_size - at) == NULL)
        die(image->path, "a name lies outside the string table");
    return image->strings + at;
}

static void make_symbolic(const struct image *image)
{
    Elf64_Dyn *flags = image_entry(image, DT_FLAGS);
    Elf64_Dyn *end = image_entry(image, DT_NULL);

    if (flags != NULL) {
        flags->d_un.d_val |= DF_SYMBOLIC;
        return;
    }
    if (end == NULL || end + 1 >= image->dynamic + image->dynamic_room)
        die(image->path, "no room for DT_FLAGS (link that library with -Wl,-Bsymbolic instead)");
    *end = (Elf64_Dyn){.d_tag = DT_FLAGS, .d_un.d_val = DF_SYMBOLIC};
    end[1] = (Elf64_Dyn){.d_tag = DT_NULL};
}

static void rename_library(const struct image *image, const char *name)
{
    const Elf64_Dyn *entry = image_entry(image, DT_SONAME);
    char *old;
    size_t length;

    if (entry == NULL)
        die(image->path, "no SONAME to replace");
    old = image_string(image, entry);
    length = strlen(old);
    if (old == image->strings || old[-1] != '\0')
        die(image->path, "the SONAME %s is part of another string", old);
    if (strlen(name) > length)
        die(image->path, "the new SONAME %s is longer than %s", name, old);
    /* The version table names the library by the same string: this one change serves both. */
    memset(old, 0, length);
    memcpy(old, name, strlen(name));
}

/* A search path relative to the library's own place would point elsewhere from the copy. */
static void refuse_origin(const struct image *image)
{
    const Elf64_Dyn *paths[] = {image_entry(image, DT_RPATH), image_entry(image, DT_RUNPATH)};

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i] != NULL && strstr(image_string(image, paths[i]), "$ORIGIN") != NULL)
            die(image->path, "finds its libraries by $ORIGIN, which a copy elsewhere would not");
}

/* Written beside the target and renamed, so that an interrupted build leaves no half a library. */
static void image_write(const struct image *image, const char *target)
{
    size_t length = strlen(target) + sizeof ".tmp";
    char *temporary = malloc(length);
    FILE *file;

    if (temporary == NULL)
        die(target, "out of memory");
    snprintf(temporary, length, "%s.tmp", target);
    file = fopen(temporary, "wb");
    if (file == NULL)
        die(temporary, "%s", strerror(errno));
    if (fwrite(image->bytes, 1, image->size, file) != image->size || fclose(file) != 0) {
        int error = errno;

        unlink(temporary);
        die(temporary, "%s", strerror(error));
    }
    if (rename(temporary, target) != 0)
        die(target, "%s", strerror(errno));
    free(temporary);
}

int main(int argc, char **argv)
{
    struct image image = {0};

    if (argc != 4 || argv[3][0] == '\0') {
        fprintf(stderr, "usage: h5private SOURCE TARGET SONAME\n");
        return 2;
    }
    image_read(&image, argv[1]);
    image_check(&image);
    image_dynamic(&image);
    refuse_origin(&image);
    rename_library(&image, argv[3]);
    make_symbolic(&image);
    image_write(&image, argv[2]);
    free(image.bytes);
    return 0;
}
