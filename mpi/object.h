/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * object: who a file or a window is. A file is its name, a window its communicator and how many
 * were made on that before, so that all ranks tell them alike; each has a rank-local number for the
 * hot path, given when something is first recorded on it. Live handles are found without a lock.
 * Publication turns numbers into the file's rows. Calls PMPI_ only.
 */
#ifndef SC_OBJECT_H
#define SC_OBJECT_H

#include <mpi.h>
#include <stdint.h>

struct sc_comm;

/* Values are written to files. */
enum sc_object_kind { SC_OBJECT_FILE = 1, SC_OBJECT_WINDOW = 2 };

/* Lives as long as the process. */
struct sc_object {
    enum sc_object_kind kind;
    int32_t number;
    int32_t comm;                /* a file's: where that name was first opened */
    uint32_t ordinal;            /* of a window: how many were made on the communicator before */
    const struct sc_comm *group; /* who the ranks of a window are: its communicator */
    char *name; /* as given to open; of a window as last seen: at first use, free, refresh; "" */
};

/*
 * Any thread. After the calls that make one, recorded or not, successful, and before the calls that
 * end one, while the handle is valid. Closing gives the number that the object had, -1 for one that
 * nothing was recorded on.
 */
void sc_opened_file(MPI_Comm comm, const char *name, const MPI_File *file);
void sc_opened_window(MPI_Comm comm, const MPI_Win *win);
int32_t sc_closing_file(const MPI_File *file);
int32_t sc_closing_window(const MPI_Win *win);

/* Hot path. Any thread. The object of a handle; NULL: none that was seen when it was made, or no
 * memory. Its first call per handle gives a number. */
const struct sc_object *sc_object_of_file(MPI_File file);
const struct sc_object *sc_object_of_window(MPI_Win win);

/* Any thread. The names of live windows may have changed: before publication. */
void sc_object_refresh(void);

/* Before PMPI_Finalize: handles mean nothing from here on; what numbers mean stays. */
void sc_object_close(void);

/* Any thread. What a number means; NULL: nothing. */
const struct sc_object *sc_object_get(int32_t number);
int32_t sc_object_count(void); /* numbers are 0 .. count-1 */

#endif
