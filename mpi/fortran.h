/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * fortran: what the wrappers of MPI's Fortran interfaces share; wrap_f.c is made of these macros.
 * An entry forwards to MPI's own procedure of the same language, whatever arguments it has got.
 *
 * Open MPI: mpif.h and the module mpi share one set of procedures (old), the module mpi_f08 has
 * one of its own (f08); neither comes by C's MPI_ routines, so both do all that those do. MPICH:
 * the old ones and the f08 ones with choice buffers call C's MPI_ routines, which are recorded
 * there: these only pass on where they were called from (thin). The other f08 ones call PMPI_
 * routines.
 */
#ifndef SC_FORTRAN_H
#define SC_FORTRAN_H

#include <stddef.h>

#include "hooks.h"

enum {
    SC_FORTRAN_STATUS = sizeof(MPI_Status) / sizeof(MPI_Fint),
    SC_FORTRAN_TEXT = 4096 /* the longest a file's name can be */
};

_Static_assert(sizeof(MPI_Fint) == sizeof(int),
               "INTEGER is int: lists, flags and indices rely on it");

typedef void sc_procedure(void);

/* What an entry stands in for. */
struct sc_beyond {
    const char *entry;
    sc_procedure *procedure; /* MPI's own; NULL until it is looked up */
    bool is_missing;
};

/* Any thread. Looks it up, as the code that called from there would; NULL: there is none, which is
 * said once. */
sc_procedure *sc_fortran_find(struct sc_beyond *beyond, const void *site);

/* Any thread. Before arguments are looked at: whether they are those of this MPI, and it runs. */
static inline bool sc_fortran_is_followed(void)
{
    return __atomic_load_n(&sc_comm_is_followed, __ATOMIC_RELAXED) != 0 || sc_hooks_prepare();
}

/* Any thread. A routine that C does not have gets its region. False: no memory. */
bool sc_fortran_register(struct sc_routine *routine);

/* Any thread. The buffer as C would have it: MPI_IN_PLACE where Fortran says so. */
const void *sc_fortran_buffer(const void *buffer);

/* Any thread. MPI_STATUS_IGNORE or MPI_STATUSES_IGNORE. */
bool sc_fortran_is_ignored(const MPI_Fint *status);

/* As sc_wait_begin_fortran(). MPICH 4.0 has C's indices in mpi_f08; its statuses are C's anyway. */
MPI_Fint *sc_fortran_wait_begin(struct sc_wait *w, int count, struct sc_list requests, int statuses,
                                MPI_Fint *given);

/* Any thread. A copy without trailing blanks, cut where there is no more room. */
void sc_fortran_text(const char *text, size_t length, char out[SC_FORTRAN_TEXT]);

/* Hot path. MPI's own procedure. */
static inline sc_procedure *sc_fortran_beyond(struct sc_beyond *beyond, const void *site)
{
    sc_procedure *p = __atomic_load_n(&beyond->procedure, __ATOMIC_RELAXED);

    return __builtin_expect(p != NULL, 1) ? p : sc_fortran_find(beyond, site);
}

static inline void sc_fortran_refuse(MPI_Fint *ierror)
{
    if (ierror != NULL)
        *ierror = MPI_ERR_UNSUPPORTED_OPERATION;
}

/* An entry of a routine for which there is on_ROUTINE(); asleep(): that has nothing to do. */
#define SC_FORTRAN_FULL(routine, entry_, asleep)                                   \
    SC_EXPORT void entry_ PARAMETERS_##routine                                     \
    {                                                                              \
        static struct sc_beyond beyond = {.entry = #entry_};                       \
        const void *site = __builtin_return_address(0);                            \
        sc_f_##routine *next = (sc_f_##routine *)sc_fortran_beyond(&beyond, site); \
                                                                                   \
        if (__builtin_expect(next == NULL, 0))                                     \
            sc_fortran_refuse(ierror);                                             \
        else if (asleep())                                                         \
            next(ARGUMENTS_##routine);                                             \
        else                                                                       \
            on_##routine(next, site, ARGUMENTS_##routine);                         \
    }

/* An entry that comes by the C wrapper, which is told where it was called from. */
#define SC_FORTRAN_THIN(routine, entry_, asleep)                                   \
    SC_EXPORT void entry_ PARAMETERS_##routine                                     \
    {                                                                              \
        static struct sc_beyond beyond = {.entry = #entry_};                       \
        const void *site = __builtin_return_address(0);                            \
        sc_f_##routine *next = (sc_f_##routine *)sc_fortran_beyond(&beyond, site); \
                                                                                   \
        if (__builtin_expect(next == NULL, 0)) {                                   \
            sc_fortran_refuse(ierror);                                             \
        } else if (asleep()) {                                                     \
            next(ARGUMENTS_##routine);                                             \
        } else {                                                                   \
            sc_fortran_site = site;                                                \
            next(ARGUMENTS_##routine);                                             \
            sc_fortran_site = NULL;                                                \
        }                                                                          \
    }

/* The names that other compilers give a procedure. */
#define SC_FORTRAN_ALIAS(entry_, name) \
    extern __typeof__(entry_) name __attribute__((alias(#entry_), visibility("default")));
#define SC_FORTRAN_ALIASES(name, NAME)              \
    SC_FORTRAN_ALIAS(mpi_##name##_, mpi_##name)     \
    SC_FORTRAN_ALIAS(mpi_##name##_, mpi_##name##__) \
    SC_FORTRAN_ALIAS(mpi_##name##_, MPI_##NAME)

#define SC_FORTRAN_FULL_OLD(routine, name, NAME, asleep) \
    SC_FORTRAN_FULL(routine, mpi_##name##_, asleep)      \
    SC_FORTRAN_ALIASES(name, NAME)
#define SC_FORTRAN_THIN_OLD(routine, name, NAME, asleep) \
    SC_FORTRAN_THIN(routine, mpi_##name##_, asleep)      \
    SC_FORTRAN_ALIASES(name, NAME)

/* CHOICE: of a routine with a buffer of any type; ALONE: an old one that comes by no C wrapper. */
#if defined(OPEN_MPI)
#define SC_FORTRAN_ALL_FULL
#define SC_FORTRAN_OLD SC_FORTRAN_FULL_OLD
#define SC_FORTRAN_ALONE SC_FORTRAN_FULL_OLD
#define SC_FORTRAN_POINTER(routine, name, NAME, asleep) \
    SC_FORTRAN_FULL_OLD(routine, name##_cptr, NAME##_CPTR, asleep)
#define SC_FORTRAN_F08_CHOICE(routine, name, asleep) \
    SC_FORTRAN_FULL(routine, mpi_##name##_f08_, asleep)
#define SC_FORTRAN_F08_PLAIN SC_FORTRAN_F08_CHOICE
#define SC_FORTRAN_LARGE_CHOICE(routine, name, asleep)
#define SC_FORTRAN_LARGE_PLAIN(routine, name, asleep)
#elif defined(MPICH_VERSION)
#define SC_FORTRAN_OLD SC_FORTRAN_THIN_OLD
#define SC_FORTRAN_ALONE SC_FORTRAN_FULL_OLD
#define SC_FORTRAN_POINTER(routine, name, NAME, asleep)
#define SC_FORTRAN_F08_CHOICE(routine, name, asleep) \
    SC_FORTRAN_THIN(routine, mpi_##name##_f08ts_, asleep)
#define SC_FORTRAN_F08_PLAIN(routine, name, asleep) \
    SC_FORTRAN_FULL(routine, mpi_##name##_f08_, asleep)
#define SC_FORTRAN_LARGE_CHOICE(routine, name, asleep) \
    SC_FORTRAN_THIN(routine, mpi_##name##_f08ts_large_, asleep)
#define SC_FORTRAN_LARGE_PLAIN(routine, name, asleep) \
    SC_FORTRAN_FULL(routine, mpi_##name##_f08_large_, asleep)
#endif

#endif
