/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "tasks.h"

#include <stdbool.h>
#include <string.h>

#include "buffer.h"
#include "clock.h"
#include "layout.h"
#include "region.h"

static void set_text(char *column, size_t row, const char *text)
{
    char *to = column + row * SC_TEXT_BYTES;

    memset(to, 0, SC_TEXT_BYTES);
    memcpy(to, text, strnlen(text, SC_TEXT_BYTES - 1));
}

static void set_row(size_t row, const struct sc_op *op, const struct sc_part *part,
                    int64_t offset_ns, const struct sc_task_columns *c)
{
    /* Pairs with the release in sc_part_done(): the part's fields are final. */
    bool is_done =
        __atomic_load_n(&part->state, __ATOMIC_ACQUIRE) == SC_PART_DONE && part->done != 0;
    int64_t created = sc_clock_ns(op->start), done = is_done ? sc_clock_ns(part->done) : 0;
    int64_t waited = is_done ? (int64_t)sc_clock_length((double)part->await) : -1;
    int64_t alive = done > created ? done - created : 0;

    c->index[row] = part->id;
    c->thread_index[row] = -1;
    c->created_ns[row] = created + offset_ns;
    c->done_ns[row] = is_done ? done + offset_ns : -1;
    c->steps[row] = 0;
    c->running_ns[row] = !is_done ? -1 : alive > waited ? alive - waited : 0;
    c->suspended_ns[row] = waited;
    set_text(c->kind, row, "mpi request");
    set_text(c->name, row, sc_region_get(op->region)->name);
    set_text(c->coro_name, row, "");
}

/* Rows [first, first + count) into the columns (NULL: none); how many there are in all. */
static uint64_t pass(uint64_t first, size_t count, int64_t offset_ns,
                     const struct sc_task_columns *columns)
{
    uint64_t row = 0;

    for (struct sc_thread *t = NULL; (t = sc_buffer_next_thread(t)) != NULL;) {
        struct sc_cursor c = {0};
        const struct sc_op *op;

        sc_cursor_renew_ops(&c, t);
        while ((op = sc_cursor_op(&c)) != NULL) {
            const struct sc_part *part = (op->flags & SC_OP_MANY) != 0 ? NULL : op->parts;
            for (; part != NULL; part = part->next) {
                if ((part->flags & SC_PART_REQUEST) == 0)
                    continue;
                if (columns != NULL && row >= first && row - first < count)
                    set_row((size_t)(row - first), op, part, offset_ns, columns);
                row++;
            }
        }
    }
    return row;
}

uint64_t sc_tasks_count(void)
{
    return sc_buffer_keeps_ops() ? pass(0, 0, 0, NULL) : 0;
}

void sc_tasks_rows(uint64_t first, size_t count, int64_t offset_ns,
                   const struct sc_task_columns *columns)
{
    (void)pass(first, count, offset_ns, columns);
}
