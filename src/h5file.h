/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * h5file: the file below HDF5 while one process writes it. HDF5 cannot live with a file whose
 * closing failed: it closes it once more in MPI_Finalize or exit, and crashes. So it writes through
 * a driver of ours that keeps the first failure to itself and drops what comes after; the failure
 * is told when the file is closed. One thread.
 */
#ifndef SC_H5FILE_H
#define SC_H5FILE_H

#include "h5api.h"

struct sc_h5file {
    const struct sc_h5api *h5;
    const char *path; /* lent */
    hid_t id;         /* of the open HDF5 file */
    hid_t driver;     /* HDF5 goes on using it while the file closes */
    int descriptor;
    int created; /* by us: its space is reserved at the end */
    int error;   /* errno of the first read, write or truncation that failed; 0: all is well */
};

/* Makes the file (it must not exist) or opens it for writing. 0 or a status; then nothing is open.
 */
int sc_h5file_create(const struct sc_h5api *h5, const char *path, struct sc_h5file *file);
int sc_h5file_open(const struct sc_h5api *h5, const char *path, struct sc_h5file *file);

/* Closes it with all its objects; one that was created gets disk space for every byte, written or
 * not. rc: how the work on it went. Returns the file's own failure, else rc. */
int sc_h5file_close(struct sc_h5file *file, int rc);

/* What this process wrote into the file is on disk, or the reason why not. 0 or SC_EIO. */
int sc_h5file_sync(const char *path);

#endif
