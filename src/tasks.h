/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * tasks: the requests of this rank as rows of /task_table, in the order in which each thread
 * started them. Made of the operations that were kept, after recording has stopped. One thread.
 */
#ifndef SC_TASKS_H
#define SC_TASKS_H

#include <stddef.h>
#include <stdint.h>

uint64_t sc_tasks_count(void);

/* Rows [first, first + count), times on this host's clock plus offset_ns; texts of SC_TEXT_BYTES
 * each, ended by NUL. Each window costs a pass over the lanes. */
struct sc_task_columns {
    int64_t *index;        /* id of the request */
    int64_t *thread_index; /* -1: not known */
    int64_t *created_ns;   /* the call that started it began */
    int64_t *done_ns;      /* the call that completed it ended; -1: never */
    int64_t *steps;        /* 0 */
    int64_t *running_ns;   /* in flight without being waited for; -1: not known */
    int64_t *suspended_ns; /* waited for; -1: not known */
    char *kind;            /* "mpi request" */
    char *name;            /* the routine that started it */
    char *coro_name;       /* "" */
};
void sc_tasks_rows(uint64_t first, size_t count, int64_t offset_ns,
                   const struct sc_task_columns *columns);

#endif
