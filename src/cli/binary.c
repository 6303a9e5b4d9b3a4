/* SPDX-License-Identifier: BSD-3-Clause */
#include "binary.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct image {
    const unsigned char *bytes;
    uint64_t size;
};

/* Bytes [offset, offset + length) of the file, NULL when they are not all there. */
static const void *image_at(const struct image *image, uint64_t offset, uint64_t length)
{
    if (offset > image->size || length > image->size - offset)
        return NULL;
    return image->bytes + offset;
}

/* Copies segment number i; false when the file has none of that number. */
static bool segment(const struct image *image, const ElfW(Ehdr) * head, unsigned i,
                    ElfW(Phdr) * out)
{
    const void *at;

    if (i >= head->e_phnum || head->e_phentsize != sizeof *out)
        return false;
    at = image_at(image, head->e_phoff + (uint64_t)i * sizeof *out, sizeof *out);
    if (at != NULL)
        memcpy(out, at, sizeof *out);
    return at != NULL;
}

static bool find_segment(const struct image *image, const ElfW(Ehdr) * head, uint32_t type,
                         ElfW(Phdr) * out)
{
    for (unsigned i = 0; segment(image, head, i, out); i++)
        if (out->p_type == type)
            return true;
    return false;
}

/* Where in the file the loader's address lies; the file's size when nowhere. */
static uint64_t file_offset(const struct image *image, const ElfW(Ehdr) * head, uint64_t address)
{
    ElfW(Phdr) s;

    for (unsigned i = 0; segment(image, head, i, &s); i++)
        if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
            return s.p_offset + (address - s.p_vaddr);
    return image->size;
}

/* Entry number i of the dynamic section; false at its end. */
static bool dynamic_entry(const struct image *image, const ElfW(Phdr) * section, unsigned i,
                          ElfW(Dyn) * out)
{
    const void *at;

    if (((uint64_t)i + 1) * sizeof *out > section->p_filesz)
        return false;
    at = image_at(image, section->p_offset + (uint64_t)i * sizeof *out, sizeof *out);
    if (at != NULL)
        memcpy(out, at, sizeof *out);
    return at != NULL && out->d_tag != DT_NULL;
}

static bool is_mpi_c_library(const char *name)
{
    return strncmp(name, "libmpi.so.", 10) == 0 || strncmp(name, "libmpich.so.", 12) == 0;
}

static void find_mpi(const struct image *image, const ElfW(Ehdr) * head, struct binary_facts *out)
{
    ElfW(Phdr) section;
    ElfW(Dyn) entry;
    uint64_t strings = image->size;

    if (!find_segment(image, head, PT_DYNAMIC, &section))
        return;
    for (unsigned i = 0; dynamic_entry(image, &section, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB)
            strings = file_offset(image, head, entry.d_un.d_ptr);
    for (unsigned i = 0; dynamic_entry(image, &section, i, &entry); i++) {
        const char *name;
        if (entry.d_tag != DT_NEEDED || entry.d_un.d_val > image->size)
            continue;
        name = image_at(image, strings + entry.d_un.d_val, sizeof out->mpi);
        if (name == NULL || memchr(name, '\0', sizeof out->mpi) == NULL || !is_mpi_c_library(name))
            continue;
        memcpy(out->mpi, name, strlen(name) + 1);
        return;
    }
}

static void read_image(const struct image *image, struct binary_facts *out)
{
    const uint16_t probe = 1;
    const int order = *(const unsigned char *)&probe == 1 ? ELFDATA2LSB : ELFDATA2MSB;
    const int word = sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32;
    ElfW(Ehdr) head;
    ElfW(Phdr) loader;

    if (image->size < EI_NIDENT || memcmp(image->bytes, ELFMAG, SELFMAG) != 0)
        return;
    out->is_elf = true;
    if (image->bytes[EI_CLASS] != word || image->bytes[EI_DATA] != order ||
        image->size < sizeof head)
        return;
    out->is_native = true;
    memcpy(&head, image->bytes, sizeof head);
    out->is_dynamic = find_segment(image, &head, PT_INTERP, &loader);
    find_mpi(image, &head, out);
}

bool binary_read(const char *path, struct binary_facts *out)
{
    struct image image;
    struct stat st;
    void *bytes = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    memset(out, 0, sizeof *out);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return false;
    image.bytes = bytes;
    image.size = (uint64_t)st.st_size;
    read_image(&image, out);
    munmap(bytes, (size_t)image.size);
    return true;
}
