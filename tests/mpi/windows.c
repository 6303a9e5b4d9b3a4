/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * One-sided operations on every kind of window, under every kind of
 * synchronization, to another rank, to oneself and to nobody. One operation at
 * a time, to a place that no other rank touches.
 */
#include "onesided_io.h"

#include <string.h>

enum routine {
    PUT,
    RPUT,
    GET,
    RGET,
    ACCUMULATE,
    RACCUMULATE,
    GET_ACCUMULATE,
    RGET_ACCUMULATE,
    FETCH_AND_OP,
    COMPARE_AND_SWAP,
    ROUTINES
};

static const char *const names[ROUTINES] = {"Put",
                                            "Rput",
                                            "Get",
                                            "Rget",
                                            "Accumulate",
                                            "Raccumulate",
                                            "Get_accumulate",
                                            "Rget_accumulate",
                                            "Fetch_and_op",
                                            "Compare_and_swap"};

enum action { SUM, REPLACE, NO_OP };

struct items {
    int count;
    enum kind kind;
};

/* sent, received: what its origin has to say of it, whatever the target is,
 * unless there is none. */
struct operation {
    enum routine routine;
    enum action action;
    struct items origin, result, target;
    long sent, received;
};

/* clang-format off */
#define NOTHING {0, INTS}
static const struct operation operations[] = {
    {PUT, SUM, {4, INTS}, NOTHING, {4, INTS}, 16, 0},
    {PUT, SUM, NOTHING, NOTHING, NOTHING, 0, 0},
    {PUT, SUM, {2, GAPS}, NOTHING, {6, INTS}, 24, 0},
    {PUT, SUM, {6, INTS}, NOTHING, {2, GAPS}, 24, 0},
    {PUT, SUM, {3, FIVE}, NOTHING, {15, CHARS}, 15, 0},
    {PUT, SUM, {2, SPREAD}, NOTHING, {2, INTS}, 8, 0},
    {PUT, SUM, {2, MIXED}, NOTHING, {2, MIXED}, 18, 0},
    {RPUT, SUM, {5, INTS}, NOTHING, {5, INTS}, 20, 0},
    {RPUT, SUM, NOTHING, NOTHING, NOTHING, 0, 0},
    {RPUT, SUM, {3, GAPS}, NOTHING, {9, INTS}, 36, 0},
    {RPUT, SUM, {9, INTS}, NOTHING, {3, GAPS}, 36, 0},
    {RPUT, SUM, {1, FIVE}, NOTHING, {5, CHARS}, 5, 0},
    {GET, SUM, {7, INTS}, NOTHING, {7, INTS}, 0, 28},
    {GET, SUM, NOTHING, NOTHING, NOTHING, 0, 0},
    {GET, SUM, {1, GAPS}, NOTHING, {3, INTS}, 0, 12},
    {GET, SUM, {3, INTS}, NOTHING, {1, GAPS}, 0, 12},
    {GET, SUM, {2, FIVE}, NOTHING, {10, CHARS}, 0, 10},
    {GET, SUM, {3, SPREAD}, NOTHING, {3, INTS}, 0, 12},
    {GET, SUM, {3, MIXED}, NOTHING, {3, MIXED}, 0, 27},
    {RGET, SUM, {8, INTS}, NOTHING, {8, INTS}, 0, 32},
    {RGET, SUM, NOTHING, NOTHING, NOTHING, 0, 0},
    {RGET, SUM, {4, GAPS}, NOTHING, {12, INTS}, 0, 48},
    {RGET, SUM, {12, INTS}, NOTHING, {4, GAPS}, 0, 48},
    {RGET, SUM, {4, FIVE}, NOTHING, {20, CHARS}, 0, 20},
    {ACCUMULATE, SUM, {9, INTS}, NOTHING, {9, INTS}, 36, 0},
    {ACCUMULATE, SUM, NOTHING, NOTHING, NOTHING, 0, 0},
    {ACCUMULATE, SUM, {2, GAPS}, NOTHING, {6, INTS}, 24, 0},
    {ACCUMULATE, SUM, {6, INTS}, NOTHING, {2, GAPS}, 24, 0},
    {ACCUMULATE, REPLACE, {3, FIVE}, NOTHING, {15, CHARS}, 15, 0},
    {ACCUMULATE, SUM, {5, DOUBLES}, NOTHING, {5, DOUBLES}, 40, 0},
    {RACCUMULATE, SUM, {10, INTS}, NOTHING, {10, INTS}, 40, 0},
    {RACCUMULATE, SUM, NOTHING, NOTHING, NOTHING, 0, 0},
    {RACCUMULATE, REPLACE, {1, GAPS}, NOTHING, {3, INTS}, 12, 0},
    {RACCUMULATE, SUM, {3, INTS}, NOTHING, {1, GAPS}, 12, 0},
    {RACCUMULATE, SUM, {3, LONGS}, NOTHING, {3, LONGS}, 24, 0},
    {GET_ACCUMULATE, SUM, {4, INTS}, {4, INTS}, {4, INTS}, 16, 16},
    {GET_ACCUMULATE, SUM, NOTHING, NOTHING, NOTHING, 0, 0},
    {GET_ACCUMULATE, SUM, {2, GAPS}, {6, INTS}, {6, INTS}, 24, 24},
    {GET_ACCUMULATE, SUM, {6, INTS}, {2, GAPS}, {6, INTS}, 24, 24},
    {GET_ACCUMULATE, REPLACE, {6, INTS}, {6, INTS}, {2, GAPS}, 24, 24},
    {GET_ACCUMULATE, NO_OP, {5, INTS}, {5, INTS}, {5, INTS}, 0, 20},
    {GET_ACCUMULATE, NO_OP, NOTHING, {7, INTS}, {7, INTS}, 0, 28},
    {GET_ACCUMULATE, NO_OP, {9, INTS}, {1, GAPS}, {3, INTS}, 0, 12},
    {RGET_ACCUMULATE, SUM, {3, DOUBLES}, {3, DOUBLES}, {3, DOUBLES}, 24, 24},
    {RGET_ACCUMULATE, SUM, NOTHING, NOTHING, NOTHING, 0, 0},
    {RGET_ACCUMULATE, SUM, {1, GAPS}, {3, INTS}, {3, INTS}, 12, 12},
    {RGET_ACCUMULATE, REPLACE, {3, INTS}, {1, GAPS}, {1, GAPS}, 12, 12},
    {RGET_ACCUMULATE, NO_OP, {2, INTS}, {2, INTS}, {2, INTS}, 0, 8},
    {RGET_ACCUMULATE, NO_OP, NOTHING, {6, INTS}, {6, INTS}, 0, 24},
    {FETCH_AND_OP, SUM, {1, INTS}, NOTHING, NOTHING, 4, 4},
    {FETCH_AND_OP, NO_OP, {1, INTS}, NOTHING, NOTHING, 0, 4},
    {FETCH_AND_OP, REPLACE, {1, LONGS}, NOTHING, NOTHING, 8, 8},
    {FETCH_AND_OP, SUM, {1, DOUBLES}, NOTHING, NOTHING, 8, 8},
    {FETCH_AND_OP, NO_OP, {1, SHORTS}, NOTHING, NOTHING, 0, 2},
    {FETCH_AND_OP, SUM, {1, SHORTS}, NOTHING, NOTHING, 2, 2},
    {COMPARE_AND_SWAP, SUM, {1, INTS}, NOTHING, NOTHING, 8, 4},
    {COMPARE_AND_SWAP, SUM, {1, LONGS}, NOTHING, NOTHING, 16, 8},
};
/* clang-format on */
enum { OPERATIONS = sizeof operations / sizeof *operations };

enum synchronization { FENCE, GROUPS, LOCK, LOCK_ALL };

struct window {
    const char *name;
    const struct team *team;
    enum synchronization by;
    int turn; /* 1: with the twins of what 0 has without, and the other way round */
    MPI_Win win;
    MPI_Aint place[MOST]; /* where the memory of each member begins */
    MPI_Group group;
};

/* A member of the team, or MPI_PROC_NULL; a rank that nobody has. */
enum { NO_SUCH_RANK = 99 };

static int starts_request(enum routine r)
{
    return r == RPUT || r == RGET || r == RACCUMULATE || r == RGET_ACCUMULATE;
}

static int has_twin(enum routine r)
{
    return r != FETCH_AND_OP && r != COMPARE_AND_SWAP;
}

static int peer_of(const struct window *w, int target)
{
    return target == MPI_PROC_NULL ? -1 : w->team->world[target];
}

/* ---- one call ---- */

static MPI_Op op_of(enum action action)
{
    return action == SUM ? MPI_SUM : action == REPLACE ? MPI_REPLACE : MPI_NO_OP;
}

/* To the first half of the target's memory, or to the second half of one's own.
 */
static int issue(const struct window *w, const struct operation *o, int target, int large,
                 MPI_Request *request)
{
    const int n = o->origin.count, m = o->result.count, k = o->target.count;
    const MPI_Datatype from = types[o->origin.kind], to = types[o->target.kind];
    const MPI_Datatype back = types[o->result.kind];
    const MPI_Op op = op_of(o->action);
    MPI_Aint at = target == w->team->rank ? ROOM / 2 : 0;
    MPI_Win win = w->win;

    if (target >= 0 && target < w->team->size)
        at += w->place[target];
    switch (o->routine) {
    case PUT:
        return EITHER(MPI_Put, out, n, from, target, at, k, to, win);
    case RPUT:
        return EITHER(MPI_Rput, out, n, from, target, at, k, to, win, request);
    case GET:
        return EITHER(MPI_Get, in, n, from, target, at, k, to, win);
    case RGET:
        return EITHER(MPI_Rget, in, n, from, target, at, k, to, win, request);
    case ACCUMULATE:
        return EITHER(MPI_Accumulate, out, n, from, target, at, k, to, op, win);
    case RACCUMULATE:
        return EITHER(MPI_Raccumulate, out, n, from, target, at, k, to, op, win, request);
    case GET_ACCUMULATE:
        return EITHER(MPI_Get_accumulate, out, n, from, in, m, back, target, at, k, to, op, win);
    case RGET_ACCUMULATE:
        return EITHER(MPI_Rget_accumulate, out, n, from, in, m, back, target, at, k, to, op, win,
                      request);
    case FETCH_AND_OP:
        return MPI_Fetch_and_op(out, in, from, target, at, op, win);
    default:
        return MPI_Compare_and_swap(out, out + 64, in, from, target, at, win);
    }
}

static void operate(const struct window *w, const struct operation *o, int target, int large)
{
    const char *name = named(names[o->routine], large);
    MPI_Request request = MPI_REQUEST_NULL;
    int nobody = target == MPI_PROC_NULL;
    int rc = issue(w, o, target, large, &request);

    if (rc != MPI_SUCCESS)
        wrong("return code", name, rc, MPI_SUCCESS);
    moved(name, w->name, peer_of(w, target), nobody ? 0 : o->sent, nobody ? 0 : o->received,
          starts_request(o->routine));
    if (starts_request(o->routine))
        MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/* ---- epochs ---- */

/* To nobody: within a lock on oneself. */
static int lock_target(const struct window *w, int target)
{
    return target == MPI_PROC_NULL ? w->team->rank : target;
}

static void begin(const struct window *w, int target)
{
    target = lock_target(w, target);
    if (w->by == GROUPS) {
        MPI_Win_post(w->group, 0, w->win);
        MPI_Win_start(w->group, 0, w->win);
        call("Win_post", w->name, -1);
        call("Win_start", w->name, -1);
    } else if (w->by == LOCK) {
        MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
        call("Win_lock", w->name, peer_of(w, target));
    }
}

/* Every way to complete an operation within a lock on all: which one in turn. */
static void flush(const struct window *w, int target, int which)
{
    switch (which % 4) {
    case 0:
        MPI_Win_flush(target, w->win);
        call("Win_flush", w->name, peer_of(w, target));
        break;
    case 1:
        MPI_Win_flush_all(w->win);
        call("Win_flush_all", w->name, -1);
        break;
    case 2:
        MPI_Win_flush_local(target, w->win);
        call("Win_flush_local", w->name, peer_of(w, target));
        MPI_Win_flush(target, w->win);
        call("Win_flush", w->name, peer_of(w, target));
        break;
    default:
        MPI_Win_flush_local_all(w->win);
        call("Win_flush_local_all", w->name, -1);
        MPI_Win_flush_all(w->win);
        call("Win_flush_all", w->name, -1);
        break;
    }
}

static void end(const struct window *w, int target, int which)
{
    target = lock_target(w, target);
    if (w->by == FENCE) {
        MPI_Win_fence(0, w->win);
        call("Win_fence", w->name, -1);
    } else if (w->by == GROUPS) {
        MPI_Win_complete(w->win);
        MPI_Win_wait(w->win);
        call("Win_complete", w->name, -1);
        call("Win_wait", w->name, -1);
    } else if (w->by == LOCK) {
        MPI_Win_unlock(target, w->win);
        call("Win_unlock", w->name, peer_of(w, target));
    } else {
        flush(w, target, which);
    }
}

static void operate_all(const struct window *w)
{
    const struct team *t = w->team;
    const int targets[] = {(t->rank + 1) % t->size, t->rank, MPI_PROC_NULL};

    if (w->by == FENCE) {
        MPI_Win_fence(0, w->win);
        call("Win_fence", w->name, -1);
    } else if (w->by == LOCK_ALL) {
        MPI_Win_lock_all(0, w->win);
        call("Win_lock_all", w->name, -1);
    }
    for (int i = 0; i < OPERATIONS * 3; i++) {
        const struct operation *o = &operations[i / 3];
        int target = targets[i % 3], large = (i / 3 + w->turn) % TWINS && has_twin(o->routine);

        if (starts_request(o->routine) && (w->by == FENCE || w->by == GROUPS))
            continue;
        memset(in, -1, sizeof in);
        begin(w, target);
        operate(w, o, target, large);
        end(w, target, i / 3);
        delivered(names[o->routine], 0, 1);
    }
    if (w->by == LOCK_ALL) {
        MPI_Win_unlock_all(w->win);
        call("Win_unlock_all", w->name, -1);
    }
}

/* Synchronization with nobody, which Open MPI refuses. */
static void lock_nobody(const struct window *w)
{
#ifndef OPEN_MPI
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, MPI_PROC_NULL, 0, w->win);
    MPI_Win_flush(MPI_PROC_NULL, w->win);
    MPI_Win_flush_local(MPI_PROC_NULL, w->win);
    MPI_Win_unlock(MPI_PROC_NULL, w->win);
    call("Win_lock", w->name, -1);
    call("Win_flush", w->name, -1);
    call("Win_flush_local", w->name, -1);
    call("Win_unlock", w->name, -1);
#else
    (void)w;
#endif
}

/* Calls that MPI refuses: a rank that nobody has, a negative count. */
static void fail_all(const struct window *w)
{
    MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
    call("Win_set_errhandler", w->name, -1);
    MPI_Win_lock_all(0, w->win);
    call("Win_lock_all", w->name, -1);
    for (int i = 0; i < ROUTINES * TWINS * 2; i++) {
        struct operation o = {i / TWINS / 2, SUM, {1, INTS}, {1, INTS}, {1, INTS}, 0, 0};
        int large = i / 2 % TWINS, is_count = i % 2;
        MPI_Request request = MPI_REQUEST_NULL;

        if (!has_twin(o.routine) && (large || is_count))
            continue;
        if (is_count)
            o.origin.count = -1;
        failed(named(names[o.routine], large),
               issue(w, &o, is_count ? w->team->rank : NO_SUCH_RANK, large, &request));
    }
    MPI_Win_unlock_all(w->win);
    call("Win_unlock_all", w->name, -1);
}

/* ---- windows ---- */

/* After it was made, by that routine. */
static void open_window(struct window *w, const char *routine)
{
    describe(w->name, "window", w->team);
    call(routine, w->name, -1);
    MPI_Win_set_name(w->win, w->name);
    call("Win_set_name", w->name, -1);
    if (w->by == GROUPS) {
        MPI_Win_get_group(w->win, &w->group);
        call("Win_get_group", w->name, -1);
    }
}

static void close_window(struct window *w)
{
    if (w->by == GROUPS)
        MPI_Group_free(&w->group);
    MPI_Win_free(&w->win);
    call("Win_free", w->name, -1);
}

static void use_created(const char *name, const struct team *t, enum synchronization by, int turn)
{
    static char memory[ROOM];
    struct window w = {.name = name, .team = t, .by = by, .turn = turn};
    int large = turn % TWINS;

    if (t->rank < 0)
        return;
    memset(memory, 0, sizeof memory);
    EITHER(MPI_Win_create, memory, ROOM, 1, MPI_INFO_NULL, t->comm, &w.win);
    open_window(&w, named("Win_create", large));
    operate_all(&w);
    close_window(&w);
}

static void use_allocated(const char *name, const struct team *t, enum synchronization by, int turn)
{
    struct window w = {.name = name, .team = t, .by = by, .turn = turn};
    int large = turn % TWINS;
    char *memory;

    EITHER(MPI_Win_allocate, ROOM, 1, MPI_INFO_NULL, t->comm, &memory, &w.win);
    memset(memory, 0, ROOM);
    open_window(&w, named("Win_allocate", large));
    MPI_Barrier(t->comm);
    operate_all(&w);
    lock_nobody(&w);
    fail_all(&w);
    close_window(&w);
}

static void use_shared(const char *name, const struct team *t, int turn)
{
    struct window w = {.name = name, .team = t, .by = FENCE, .turn = turn};
    int large = turn % TWINS;
    char *memory;

    EITHER(MPI_Win_allocate_shared, ROOM, 1, MPI_INFO_NULL, t->comm, &memory, &w.win);
    memset(memory, 0, ROOM);
    open_window(&w, named("Win_allocate_shared", large));
    operate_all(&w);
    close_window(&w);
}

static void use_dynamic(const char *name, const struct team *t)
{
    static char memory[ROOM];
    struct window w = {.name = name, .team = t, .by = LOCK};
    MPI_Aint place;

    memset(memory, 0, sizeof memory);
    MPI_Win_create_dynamic(MPI_INFO_NULL, t->comm, &w.win);
    open_window(&w, "Win_create_dynamic");
    MPI_Win_attach(w.win, memory, ROOM);
    call("Win_attach", w.name, -1);
    MPI_Get_address(memory, &place);
    MPI_Allgather(&place, 1, MPI_AINT, w.place, 1, MPI_AINT, t->comm);
    operate_all(&w);
    MPI_Barrier(t->comm);
    MPI_Win_detach(w.win, memory);
    call("Win_detach", w.name, -1);
    close_window(&w);
}

void use_windows(void)
{
    use_created("fence", &world, FENCE, 0);
    use_created("groups", &reversed, GROUPS, 1);
    use_created("some", &upper, LOCK_ALL, 1);
    use_allocated("lock", &reversed, LOCK, 0);
    use_allocated("lock all", &world, LOCK_ALL, 1);
    use_shared("shared", &reversed, 1);
    use_dynamic("dynamic", &reversed);
}
