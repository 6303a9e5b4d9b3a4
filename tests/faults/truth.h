/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * truth: what each rank and thread of ends.c did, in a file that all of them map and that outlives
 * them: for each kind of call how often it was begun and how often it had returned.
 */
#ifndef SC_TEST_TRUTH_H
#define SC_TEST_TRUTH_H

#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* Regions first: of those it counts that they are entered. */
#define TRUTH_KINDS(X)                \
    X(OUTER, "fault outer")           \
    X(INNER, "fault inner")           \
    X(OTHER, "fault other")           \
    X(INIT, "MPI_Init")               \
    X(INIT_THREAD, "MPI_Init_thread") \
    X(COMM_RANK, "MPI_Comm_rank")     \
    X(IPROBE, "MPI_Iprobe")           \
    X(SENDRECV, "MPI_Sendrecv")       \
    X(ISEND, "MPI_Isend")             \
    X(IRECV, "MPI_Irecv")             \
    X(WAITALL, "MPI_Waitall")         \
    X(ALLREDUCE, "MPI_Allreduce")     \
    X(DUP, "MPI_Comm_dup")            \
    X(BARRIER, "MPI_Barrier")         \
    X(FREE, "MPI_Comm_free")          \
    X(SEND, "MPI_Send")               \
    X(RECV, "MPI_Recv")               \
    X(ABORT, "MPI_Abort")             \
    X(FINALIZE, "MPI_Finalize")       \
    X(LEAVE, "")

enum truth_kind {
#define X(kind, name) TRUTH_##kind,
    TRUTH_KINDS(X)
#undef X
        TRUTH_COUNT /* LEAVE: a region is left; not in the profile as such */
};
enum { TRUTH_REGIONS = TRUTH_INIT, TRUTH_RANKS = 8, TRUTH_THREADS = 2, TRUTH_BYTES = 8 };

struct truth_calls {
    uint64_t begun, done;
};

struct truth_rank {
    int32_t pid;
    int32_t is_ready;  /* at the moment; whoever strikes may do so */
    int32_t has_floor; /* it ends its recording itself: what threads do from here on may be lost */
    struct truth_calls calls[TRUTH_THREADS][TRUTH_COUNT];
    uint64_t floor[TRUTH_THREADS][TRUTH_COUNT]; /* done then */
};

struct truth {
    struct truth_rank rank[TRUTH_RANKS];
};

/* NULL: cannot be. The file may be there or not. */
static inline struct truth *truth_map(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    void *at = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, sizeof(struct truth)) == 0)
        at = mmap(NULL, sizeof(struct truth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    return at == MAP_FAILED ? NULL : at;
}

static inline void truth_add(uint64_t *counter)
{
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELEASE);
}

static inline uint64_t truth_get(const uint64_t *counter)
{
    return __atomic_load_n(counter, __ATOMIC_ACQUIRE);
}

#endif
