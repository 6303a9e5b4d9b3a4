/* SPDX-License-Identifier: BSD-3-Clause */
#include "h5file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

/* What HDF5 holds; the head is filled by HDF5. */
struct driver_file {
    H5FD_t head;
    struct sc_h5file *file;
    haddr_t eoa; /* end of what HDF5 has allocated */
    haddr_t eof; /* end of what is there, had every write succeeded */
};

static struct sc_h5file *opening; /* HDF5 hands the next function no pointer of ours */

static H5FD_t *driver_open(const char *name, unsigned flags, hid_t access, haddr_t limit)
{
    struct driver_file *d = calloc(1, sizeof(*d));
    struct stat status;

    (void)name, (void)flags, (void)access, (void)limit;
    if (d == NULL || fstat(opening->descriptor, &status) != 0) {
        free(d);
        return NULL;
    }
    d->file = opening;
    d->eof = (haddr_t)status.st_size;
    return &d->head;
}

static herr_t driver_close(H5FD_t *head)
{
    free(head);
    return 0;
}

static herr_t driver_query(const H5FD_t *head, unsigned long *flags)
{
    (void)head;
    *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_ACCUMULATE_METADATA |
             H5FD_FEAT_AGGREGATE_SMALLDATA;
    return 0;
}

static haddr_t driver_get_eoa(const H5FD_t *head, H5FD_mem_t type)
{
    (void)type;
    return ((const struct driver_file *)head)->eoa;
}

static herr_t driver_set_eoa(H5FD_t *head, H5FD_mem_t type, haddr_t address)
{
    (void)type;
    ((struct driver_file *)head)->eoa = address;
    return 0;
}

static haddr_t driver_get_eof(const H5FD_t *head, H5FD_mem_t type)
{
    (void)type;
    return ((const struct driver_file *)head)->eof;
}

static herr_t driver_read(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address,
                          size_t size, void *buffer)
{
    struct sc_h5file *file = ((struct driver_file *)head)->file;
    char *to = buffer;

    (void)type, (void)transfer;
    while (size > 0) {
        ssize_t n = pread(file->descriptor, to, size, (off_t)address);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && file->error == 0)
            file->error = errno;
        if (n <= 0) { /* beyond the end there are zeros */
            memset(to, 0, size);
            return n < 0 ? -1 : 0;
        }
        to += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t driver_write(H5FD_t *head, H5FD_mem_t type, hid_t transfer, haddr_t address,
                           size_t size, const void *buffer)
{
    struct driver_file *d = (struct driver_file *)head;
    struct sc_h5file *file = d->file;
    const char *from = buffer;

    (void)type, (void)transfer;
    if (address + size > d->eof)
        d->eof = address + size;
    while (size > 0 && file->error == 0) {
        ssize_t n = pwrite(file->descriptor, from, size, (off_t)address);

        if (n < 0 && errno != EINTR)
            file->error = errno;
        if (n < 0)
            continue;
        from += n;
        address += (haddr_t)n;
        size -= (size_t)n;
    }
    return 0;
}

static herr_t driver_truncate(H5FD_t *head, hid_t transfer, hbool_t closing)
{
    struct driver_file *d = (struct driver_file *)head;

    (void)transfer, (void)closing;
    if (d->eoa != d->eof && d->file->error == 0 &&
        ftruncate(d->file->descriptor, (off_t)d->eoa) != 0)
        d->file->error = errno;
    d->eof = d->eoa;
    return 0;
}

/* No sieve buffer: rows go to the system when they are written, not later. */
static const H5FD_class_t driver = {
    .name = "libscope",
    .maxaddr = INT64_MAX,
    .fc_degree = H5F_CLOSE_STRONG,
    .open = driver_open,
    .close = driver_close,
    .query = driver_query,
    .get_eoa = driver_get_eoa,
    .set_eoa = driver_set_eoa,
    .get_eof = driver_get_eof,
    .read = driver_read,
    .write = driver_write,
    .truncate = driver_truncate,
    .fl_map = H5FD_FLMAP_DICHOTOMY,
};

static hid_t file_creation(const struct sc_h5api *h5)
{
    hid_t list = h5->H5Pcreate(h5->H5P_CLS_FILE_CREATE_ID_g);

    if (list >= 0)
        h5->H5Pset_obj_track_times(list, false);
    return list;
}

static int open_hdf5(struct sc_h5file *file, bool create)
{
    const struct sc_h5api *h5 = file->h5;
    hid_t access = sc_h5_file_access(h5);
    hid_t creation = file_creation(h5);

    file->driver = h5->H5FDregister(&driver);
    opening = file;
    if (file->driver >= 0 && access >= 0 && creation >= 0 &&
        h5->H5Pset_driver(access, file->driver, NULL) >= 0 &&
        h5->H5Pset_libver_bounds(access, H5F_LIBVER_V18, H5F_LIBVER_V18) >= 0)
        file->id = create ? h5->H5Fcreate(file->path, SC_H5F_TRUNC, creation, access)
                          : h5->H5Fopen(file->path, SC_H5F_RDWR, access);
    if (file->id < 0)
        sc_h5_fail(h5, SC_EIO, "%s", file->path);
    h5->H5Pclose(creation);
    h5->H5Pclose(access);
    if (file->id < 0)
        h5->H5FDunregister(file->driver);
    return file->id < 0 ? SC_EIO : 0;
}

static int start(const struct sc_h5api *h5, const char *path, bool create, struct sc_h5file *file)
{
    int rc;

    *file = (struct sc_h5file){.h5 = h5, .path = path, .id = -1, .created = create};
    file->descriptor = open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT | O_EXCL : 0), 0666);
    if (file->descriptor < 0)
        return sc_fail(SC_EIO, "%s: %s", path, strerror(errno));
    rc = open_hdf5(file, create);
    if (rc != 0)
        close(file->descriptor);
    return rc;
}

int sc_h5file_create(const struct sc_h5api *h5, const char *path, struct sc_h5file *file)
{
    return start(h5, path, true, file);
}

int sc_h5file_open(const struct sc_h5api *h5, const char *path, struct sc_h5file *file)
{
    return start(h5, path, false, file);
}

/* Space for rows that others will write: better to know now than from one of them. Not every file
 * system can. */
static int reserve(int descriptor)
{
    struct stat status;

    if (fstat(descriptor, &status) != 0)
        return errno;
    if (status.st_size == 0 || fallocate(descriptor, 0, 0, status.st_size) == 0)
        return 0;
    return errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO ? errno : 0;
}

int sc_h5file_close(struct sc_h5file *file, int rc)
{
    if (file->h5->H5Fclose(file->id) < 0)
        rc = rc != 0 ? rc : sc_h5_fail(file->h5, SC_EIO, "%s", file->path);
    file->h5->H5FDunregister(file->driver);
    if (file->created && file->error == 0)
        file->error = reserve(file->descriptor);
    if (close(file->descriptor) != 0 && file->error == 0)
        file->error = errno;
    if (file->error != 0)
        rc = sc_fail(SC_EIO, "%s: %s", file->path, strerror(file->error));
    return rc;
}

int sc_h5file_sync(const char *path)
{
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    int error = descriptor < 0 ? errno : 0;

    if (error == 0 && fdatasync(descriptor) != 0 && errno != EINVAL) /* EINVAL: nothing to sync */
        error = errno;
    if (descriptor >= 0)
        close(descriptor);
    return error != 0 ? sc_fail(SC_EIO, "%s: %s", path, strerror(error)) : 0;
}
