/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * conform: what the caller above the library and the recorder below it have in common. The caller
 * writes into the script what it is going to call; the recorder keeps what arrives, does what the
 * script says and returns as told. Whatever else the library calls goes on to MPI. One thread.
 */
#ifndef CONFORM_H
#define CONFORM_H

#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CONFORM_WORDS = 24 };

/* What an argument is, or points to. */
enum conform_kind {
    CONFORM_int,
    CONFORM_MPI_Count,
    CONFORM_MPI_Aint,
    CONFORM_MPI_Offset,
    CONFORM_MPI_Comm,
    CONFORM_MPI_Datatype,
    CONFORM_MPI_Errhandler,
    CONFORM_MPI_File,
    CONFORM_MPI_Group,
    CONFORM_MPI_Info,
    CONFORM_MPI_Message,
    CONFORM_MPI_Op,
    CONFORM_MPI_Request,
    CONFORM_MPI_Session,
    CONFORM_MPI_Status,
    CONFORM_MPI_Win,
    CONFORM_char,
    CONFORM_void,
    CONFORM_function,
    CONFORM_ierror, /* what Fortran has for a return code */
    CONFORM_length  /* of a text of Fortran */
};

/* mpif.h and the module mpi share one set of procedures; mpi_f08 has one of its own, in which
 * ierror may be left out. */
enum conform_language { CONFORM_C, CONFORM_OLD, CONFORM_F08 };

/* The depth of what C has as a value and Fortran points to. */
enum { CONFORM_REFERENCE = -1 };

struct conform_argument {
    const char *name;
    enum conform_kind kind;
    size_t size; /* of one element */
    int depth;   /* pointers in front of it */
    bool is_const, is_array;
};

struct conform_routine {
    const char *name, *c_name;
    int (*call)(const uint64_t *word);
    enum conform_language language;
    int count;
    bool is_by_hand, ignores; /* takes MPI_STATUS_IGNORE, which the library may replace */
    struct conform_argument argument[CONFORM_WORDS];
};

extern const struct conform_routine conform_routines[];
extern const int conform_routine_count;

struct conform_script {
    const char *routine; /* NULL: nothing is expected */
    bool forwards;       /* to MPI, and returns what that says */
    int rc, error;       /* to return, and to leave in errno */
    const char *memory;  /* all that the caller's pointers point into */
    size_t memory_size;
    bool points; /* at least one does */
    struct {
        const void *bytes; /* what the routine writes through this argument; NULL: nothing */
        size_t size;
        uint64_t special; /* in its place nothing is written */
    } output[CONFORM_WORDS];
    /* What the recorder saw. */
    int arrived, repeated, error_before;
    uint64_t word[CONFORM_WORDS];
};

extern struct conform_script conform_script;

#ifdef CONFORM_FAKE

#define CONFORM_KEEP(i, argument) memcpy(&word[i], &(argument), sizeof(argument))
#define CONFORM_FIND(real, name)                 \
    do {                                         \
        void *found_ = dlsym(RTLD_NEXT, name);   \
        if (found_ == NULL)                      \
            abort();                             \
        memcpy(&(real), &found_, sizeof found_); \
    } while (0)

/* The library's own use of a routine that is expected has none of the caller's pointers. */
static inline bool conform_is_callers(const uint64_t *word, int count)
{
    const struct conform_script *s = &conform_script;

    for (int i = 0; i < count; i++)
        if (word[i] - (uint64_t)(uintptr_t)s->memory < s->memory_size)
            return true;
    return !s->points;
}

static inline void conform_write(const uint64_t *word, int count)
{
    const struct conform_script *s = &conform_script;

    for (int i = 0; i < count; i++)
        if (s->output[i].bytes != NULL && word[i] != 0 && word[i] != s->output[i].special)
            memcpy((void *)(uintptr_t)word[i], s->output[i].bytes, s->output[i].size);
}

/* True: it is the expected call, which returns *rc. */
static inline bool conform_takes(const char *routine, const uint64_t *word, int count, int *rc)
{
    struct conform_script *s = &conform_script;

    if (s->routine == NULL || strcmp(s->routine, routine) != 0 || !conform_is_callers(word, count))
        return false;
    *rc = s->rc;
    if (s->arrived > 0) {
        if (s->points || memcmp(word, s->word, sizeof s->word) == 0)
            s->repeated++;
        return s->repeated > 0;
    }
    s->arrived++;
    s->error_before = errno;
    memcpy(s->word, word, sizeof s->word);
    if (s->forwards)
        return false;
    conform_write(word, count);
    errno = s->error;
    return true;
}

/* MPI's own procedure below an entry. One that nobody expects goes on to MPI, if that has it: a
 * program in C need not have a Fortran library. */
#define CONFORM_BELOW_OLD(name) pmpi##name
#if defined(OPEN_MPI)
#define CONFORM_BELOW_F08(name) pmpi##name
#else
#define CONFORM_BELOW_F08(name) pmpir##name
#endif
#define CONFORM_BELOW(below, entry, words)                           \
    void below(CONFORM_TYPED_##words);                               \
    void below(CONFORM_TYPED_##words)                                \
    {                                                                \
        const uint64_t word[CONFORM_WORDS] = {CONFORM_KEPT_##words}; \
        void (*real)(CONFORM_TYPED_##words);                         \
        void *found;                                                 \
        int rc;                                                      \
                                                                     \
        if (conform_takes(#entry, word, words, &rc))                 \
            return;                                                  \
        found = dlsym(RTLD_NEXT, __func__);                          \
        memcpy(&real, &found, sizeof real);                          \
        if (found != NULL)                                           \
            real(CONFORM_KEPT_##words);                              \
    }

#else

#define CONFORM_GIVE(i, argument) memcpy(&(argument), &word[i], sizeof(argument))

/* The code that it gives is in the memory that ierror points to. */
#define CONFORM_CALL(entry, words)                \
    void entry(CONFORM_TYPED_##words);            \
    static int call_##entry(const uint64_t *word) \
    {                                             \
        entry(CONFORM_GIVEN_##words);             \
        return MPI_SUCCESS;                       \
    }

#endif
#endif
