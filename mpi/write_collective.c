/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * All ranks open the file, write and close it together. Collective transfers have one weakness: a
 * rank that fails inside a collective H5Dwrite leaves the others waiting in it for ever (HDF5 1.10,
 * seen with Open MPI's OMPIO), or is not told (OMPIO takes a short write for a whole one). So what
 * can be foreseen is looked at before every round: the file's disk space is reserved and its
 * end within each rank's limit. On a file system that cannot reserve space, each rank
 * writes its rows on its own (independent transfers), where a failure stays with the rank it meets.
 */
#include "write_collective.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "h5write.h"
#include "world.h"

const char *sc_write_collective_missing(void)
{
    const struct sc_h5api *h5;

    if (sc_h5_load_writer(&h5) != 0)
        return sc_last_error();
    return h5->H5Pset_fapl_mpio != NULL && h5->H5Pset_dxpl_mpio != NULL
               ? NULL
               : "the HDF5 library was built without MPI";
}

struct job {
    const struct sc_h5api *h5;
    const char *path;
    const struct sc_h5_table *tables;
    size_t count;
    struct sc_h5rows *rows;
    uint64_t *rounds; /* [tables], and one more: not 0 when space is not reserved */
};

static uint64_t file_bytes; /* of the file being written; one publication at a time */

/* Whether this rank may write to the file's end. */
static int check_limit(void)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
                   file_bytes > limit.rlim_cur
               ? EFBIG
               : 0;
}

/* Whether this rank could open the file and write to its end. */
static int check_file(struct job *job)
{
    int descriptor = open(job->path, O_RDWR | O_CLOEXEC);
    struct stat status;
    int error = 0;

    if (descriptor < 0)
        return sc_fail(SC_EIO, "%s: %s", job->path, strerror(errno));
    if (fstat(descriptor, &status) != 0) {
        error = errno;
    } else {
        file_bytes = (uint64_t)status.st_size;
        job->rounds[job->count] = (uint64_t)status.st_blocks * 512 < file_bytes;
        error = check_limit();
    }
    close(descriptor);
    return error != 0 ? sc_fail(SC_EIO, "%s: %s", job->path, strerror(error)) : 0;
}

/* What this rank needs before the file is opened. */
static int prepare(struct job *job)
{
    const char *missing = sc_write_collective_missing();
    int rc;

    if (missing != NULL)
        return sc_fail(SC_EUNAVAIL, "%s", missing);
    if (!sc_world_is_open())
        return sc_fail(SC_ESTATE, "%s: a parallel file needs MPI", job->path);
    job->rounds = calloc(job->count + 1, sizeof *job->rounds);
    if (job->rounds == NULL)
        return sc_fail(SC_ENOMEM, "%s: no memory to write it", job->path);
    rc = sc_h5_load_writer(&job->h5);
    if (rc == 0)
        rc = check_file(job);
    return rc != 0 ? rc : sc_h5rows_create(job->path, job->tables, job->count, &job->rows);
}

/* Collective. */
static int plan(struct job *job)
{
    for (size_t i = 0; i < job->count; i++)
        job->rounds[i] = sc_h5_table_rounds(&job->tables[i]);
    if (PMPI_Allreduce(MPI_IN_PLACE, job->rounds, (int)job->count + 1, MPI_UINT64_T, MPI_MAX,
                       sc_world_comm()) != MPI_SUCCESS)
        return sc_fail(SC_EMPI, "%s: MPI failed while ranks were asked for their rows", job->path);
    return 0;
}

/* Collective. */
static int open_file(const struct sc_h5api *h5, const char *path, hid_t *file)
{
    hid_t access = h5->H5Pcreate(h5->H5P_CLS_FILE_ACCESS_ID_g);

    *file = -1;
    if (h5->H5Pset_fapl_mpio(access, sc_world_comm(), MPI_INFO_NULL) >= 0)
        *file = h5->H5Fopen(path, SC_H5F_RDWR, access);
    if (*file < 0)
        sc_h5_fail(h5, SC_EIO, "%s", path);
    h5->H5Pclose(access);
    return *file < 0 ? SC_EIO : 0;
}

/* Collective. One rank reads where the datasets are and tells the others. */
static int open_datasets(const struct sc_h5api *h5, struct sc_h5rows *rows, hid_t file)
{
    hid_t access = h5->H5Pcreate(h5->H5P_CLS_DATASET_ACCESS_ID_g);
    int rc;

    if (h5->H5Pset_all_coll_metadata_ops != NULL)
        h5->H5Pset_all_coll_metadata_ops(access, true);
    rc = sc_h5rows_open(rows, h5, file, access);
    h5->H5Pclose(access);
    return rc;
}

/* Collective. Data are on disk before the file is closed, so that closing finds nothing that could
 * fail. */
static int close_file(const struct sc_h5api *h5, const char *path, hid_t file)
{
    int rc = h5->H5Fflush(file, H5F_SCOPE_LOCAL) < 0 ? sc_h5_fail(h5, SC_EIO, "%s", path) : 0;

    if (h5->H5Fclose(file) < 0 && rc == 0)
        rc = sc_h5_fail(h5, SC_EIO, "%s", path);
    return rc;
}

/* Collective. */
static int agree_on_round(int rc)
{
    int error = rc != 0 ? 0 : check_limit();

    return sc_agree(error != 0 ? sc_fail(SC_EIO, "the profile's rows: %s", strerror(error)) : rc);
}

/* Collective. */
static int write_rows(const struct job *job)
{
    const struct sc_h5api *h5 = job->h5;
    struct sc_h5_together together = {.rounds = job->rounds, .agree = agree_on_round};
    int rc;

    if (job->rounds[job->count] != 0)
        return sc_h5rows_write(job->rows);
    together.transfer = h5->H5Pcreate(h5->H5P_CLS_DATASET_XFER_ID_g);
    h5->H5Pset_dxpl_mpio(together.transfer, H5FD_MPIO_COLLECTIVE);
    rc = sc_h5rows_write_together(job->rows, &together);
    h5->H5Pclose(together.transfer);
    return rc;
}

/* Collective. */
static int write_file(const struct job *job)
{
    hid_t file;
    int rc = sc_agree(open_file(job->h5, job->path, &file));
    int closed;

    if (rc == 0) {
        rc = sc_agree(open_datasets(job->h5, job->rows, file));
        if (rc == 0)
            rc = sc_agree(write_rows(job));
        sc_h5rows_close(job->rows);
    }
    closed = file >= 0 ? close_file(job->h5, job->path, file) : 0;
    return rc != 0 ? rc : sc_agree(closed);
}

int sc_write_collective(const char *path, const struct sc_h5_table *tables, size_t count)
{
    struct job job = {.path = path, .tables = tables, .count = count};
    struct sc_h5_printing printing;
    int rc = sc_agree(prepare(&job));

    if (rc == 0)
        rc = sc_agree(plan(&job));
    if (rc == 0) {
        sc_h5_quiet(job.h5, &printing);
        rc = write_file(&job);
        sc_h5_restore(job.h5, &printing);
    }
    sc_h5rows_free(job.rows);
    free(job.rounds);
    return rc;
}
