/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "world.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "comm.h"
#include "runtime.h"

#if defined(OPEN_MPI)
#define BUILT_FOR "Open MPI"
#elif defined(MPICH_VERSION)
#define BUILT_FOR "MPICH"
#else
#define BUILT_FOR "another MPI"
#endif

enum {
    VERSION_TEXT = 8192 /* the largest MPI_MAX_LIBRARY_VERSION_STRING among them: MPICH's */
};

static struct {
    MPI_Comm comm; /* meaningful while is_open */
    atomic_bool is_open;
    int rank, size;
    int thread_level;
} world = {.size = 1, .thread_level = -1};

/* Open MPI's handles are pointers, those of all others (MPICH's kin) are integers; only this
 * difference is dangerous. */
static bool compare_libraries(void)
{
    char *text = calloc(1, VERSION_TEXT);
    int length = 0;
    bool is_openmpi;

    if (text == NULL)
        return true;
    PMPI_Get_library_version(text, &length);
    text[VERSION_TEXT - 1] = '\0';
    is_openmpi = strstr(text, "Open MPI") != NULL;
    text[strcspn(text, "\n,")] = '\0';
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\t')
            *c = ' ';
    if (is_openmpi != (strcmp(BUILT_FOR, "Open MPI") == 0)) {
        if (sc_runtime_speaks())
            sc_log("this library was built for %s, but the program runs %s: "
                   "its MPI calls are not recorded",
                   BUILT_FOR, text);
        free(text);
        return false;
    }
    free(text);
    return true;
}

bool sc_world_is_ours(void)
{
    static atomic_int answer; /* 0 not asked, 1 yes, 2 no */
    int known = atomic_load_explicit(&answer, memory_order_acquire);

    if (known == 0) {
        known = compare_libraries() ? 1 : 2;
        atomic_store_explicit(&answer, known, memory_order_release);
    }
    return known == 1;
}

bool sc_world_is_running(void)
{
    int started = 0, ended = 1;

    PMPI_Initialized(&started);
    if (started)
        PMPI_Finalized(&ended);
    return !ended;
}

bool sc_world_is_usable(void)
{
    return sc_world_is_running() && sc_world_is_ours();
}

int sc_world_open(void)
{
    int rc;

    if (world.is_open)
        return SC_OK;
    if (!sc_world_is_usable())
        return SC_ESTATE;
    sc_comm_making(SC_COMM_CHILD); /* and so no duplicate that is followed as the program's */
    rc = PMPI_Comm_dup(MPI_COMM_WORLD, &world.comm);
    sc_comm_making(SC_COMM_UNSEEN);
    if (rc != MPI_SUCCESS)
        return sc_fail(SC_EMPI, "MPI has no communicator left for the profiler");
    sc_comm_hide(world.comm);
    PMPI_Comm_set_errhandler(world.comm, MPI_ERRORS_RETURN);
    PMPI_Comm_rank(world.comm, &world.rank);
    PMPI_Comm_size(world.comm, &world.size);
    PMPI_Query_thread(&world.thread_level);
    world.is_open = true;
    return SC_OK;
}

void sc_world_close(void)
{
    if (!world.is_open)
        return;
    world.is_open = false;
    PMPI_Comm_free(&world.comm);
    world.rank = 0;
    world.size = 1;
    world.thread_level = -1;
}

bool sc_world_is_open(void)
{
    return world.is_open;
}

MPI_Comm sc_world_comm(void)
{
    return world.is_open ? world.comm : MPI_COMM_NULL;
}

int sc_world_rank(void)
{
    return world.rank;
}

int sc_world_size(void)
{
    return world.size;
}

void sc_world_barrier(void)
{
    if (world.is_open)
        PMPI_Barrier(world.comm);
}

int sc_world_thread_level(void)
{
    return world.thread_level;
}

bool sc_world_is_main_thread(void)
{
    int is_main = 1;

    if (sc_world_is_usable())
        PMPI_Is_thread_main(&is_main);
    return is_main != 0;
}

int sc_agree(int status)
{
    char message[1024];
    int mine[2], all[2]; /* status; lowest rank that failed */

    if (!world.is_open)
        return status;
    mine[0] = status;
    mine[1] = status < 0 ? world.rank : world.size;
    if (PMPI_Allreduce(mine, all, 2, MPI_INT, MPI_MIN, world.comm) != MPI_SUCCESS)
        return sc_fail(SC_EMPI, "the ranks could not agree: MPI_Allreduce failed");
    if (all[0] >= 0)
        return all[0];
    memset(message, 0, sizeof message);
    if (all[1] == world.rank)
        snprintf(message, sizeof message, "%s", sc_last_error());
    if (PMPI_Bcast(message, sizeof message, MPI_CHAR, all[1], world.comm) != MPI_SUCCESS)
        return sc_fail(SC_EMPI, "the ranks could not agree: MPI_Bcast failed");
    return sc_fail(all[0], "%s", message);
}
