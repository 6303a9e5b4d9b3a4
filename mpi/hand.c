/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * hand: the wrappers that no table line can say, the slow path of all others, and what the library
 * does at load time: tell the runtime that there is MPI. Nothing else happens before MPI_Init.
 */
#include <pthread.h>
#include <stdarg.h>
#include <string.h>

#include "base.h"
#include "bring.h"
#include "hooks.h"
#include "image.h"
#include "launcher.h"
#include "publish.h"
#include "region.h"
#include "world.h"
#include "write_collective.h"

extern struct sc_routine *const sc_routine_MPI_Init;
extern struct sc_routine *const sc_routine_MPI_Init_thread;
extern struct sc_routine *const sc_routine_MPI_Finalize;
extern struct sc_routine *const sc_routine_MPI_Comm_free;
extern struct sc_routine *const sc_routine_MPI_Comm_disconnect;

/* ---- the runtime's view of MPI ---- */

static bool world_of_runtime(int *rank, int *size)
{
    if (!sc_world_is_open())
        return false;
    *rank = sc_world_rank();
    *size = sc_world_size();
    return true;
}

static void note_all(void)
{
    sc_bring_note_all();
    if (sc_runtime_speaks())
        sc_publish_note_facts();
}

__attribute__((constructor)) static void register_layer(void)
{
    static const struct sc_layer layer = {
        .world = world_of_runtime,
        .publish = sc_publish,
        .note = note_all,
        .records = sc_world_is_ours,
        .parallel_missing = sc_write_collective_missing,
    };

    sc_runtime_layer(&layer);
}

/* ---- slow path ---- */

/* Without memory for a name the routine stays unrecorded. */
static void register_routines(void)
{
    for (int i = 0; i < sc_routine_count; i++) {
        struct sc_routine *r = &sc_routines[i];
        int id = sc_region_id(SC_REGION_MPI, r->name, r->tags, NULL, -1);
        __atomic_store_n(&r->region, id < 0 ? -1 : id, __ATOMIC_RELAXED);
    }
}

bool sc_hooks_prepare(void)
{
    enum { UNDECIDED, FOLLOWED, REFUSED };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int decision;
    int decided = __atomic_load_n(&decision, __ATOMIC_ACQUIRE), level = MPI_THREAD_MULTIPLE;

    if (decided != UNDECIDED || !sc_world_is_running())
        return decided == FOLLOWED;
    pthread_mutex_lock(&lock);
    decided = decision;
    if (decided == UNDECIDED) {
        bool follow =
            sc_launcher_override() != 0 && sc_world_is_usable() && sc_comm_open() == SC_OK;
        decided = follow ? FOLLOWED : REFUSED;
        if (follow) {
            register_routines();
            PMPI_Query_thread(&level);
            sc_request_open(level == MPI_THREAD_MULTIPLE);
            if (sc_world_is_open())
                sc_comm_hide(sc_world_comm());
        }
        __atomic_store_n(&decision, decided, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    return decided == FOLLOWED;
}

static bool enter_slowly(struct sc_call *call, struct sc_op *kept, struct sc_routine *routine,
                         const void *site, int mode)
{
    struct sc_thread *t;
    int32_t region;

    if (__atomic_load_n(&routine->region, __ATOMIC_RELAXED) < 0 && !sc_hooks_prepare())
        return false;
    region = __atomic_load_n(&routine->region, __ATOMIC_RELAXED);
    t = sc_buffer_thread();
    if (t == NULL || (t->inside != NULL && (void *)call < t->inside))
        return false;
    if (mode != SC_OPS_RECORD) {
        sc_count(&t->counts.paused, 1);
        return false;
    }
    if (region < 0 ||
        (t->op_next >= __atomic_load_n(&t->op_limit, __ATOMIC_RELAXED) && !sc_buffer_grow_ops(t))) {
        sc_count(&t->counts.lost, 1);
        return false;
    }
    if (kept != NULL)
        sc_prepare(call, t, kept, (uint16_t)region, site);
    else
        sc_reserve(call, t, (uint16_t)region, site);
    return true;
}

bool sc_enter_slowly(struct sc_call *call, struct sc_op *kept, struct sc_routine *routine,
                     const void *site, int mode)
{
    int saved = errno;
    bool entered = enter_slowly(call, kept, routine, site, mode);

    errno = saved;
    return entered;
}

void sc_leave_kept(struct sc_call *call, uint64_t end, int rc, bool is_row)
{
    struct sc_thread *t = call->thread;
    struct sc_op *op = t->op_next;

    if (t->generation == call->generation) {
        t->inside = NULL;
        if (rc != MPI_SUCCESS)
            sc_note_failure(call->op, rc);
        if (is_row || rc != MPI_SUCCESS) {
            *op = *call->op;
            __atomic_store_n(&op->end, end, __ATOMIC_RELEASE);
            __atomic_store_n(&t->op_next, op + 1, __ATOMIC_RELEASE);
        } else {
            sc_buffer_count_call(t, call->op->region, call->op->site, call->op->start, end);
        }
    }
    errno = call->saved_errno;
}

/* ---- what is gone after the call ---- */

void sc_before_file(struct sc_call *call, const MPI_File *file)
{
    int saved = errno;

    call->object = file == NULL ? -1 : sc_closing_file(file);
    errno = saved;
}

void sc_before_window(struct sc_call *call, const MPI_Win *win)
{
    int saved = errno;

    call->object = win == NULL ? -1 : sc_closing_window(win);
    errno = saved;
}

/* There is no after it. */
void sc_before_abort(struct sc_call *call, int code)
{
    int saved = errno;

    (void)call;
    sc_runtime_breaks_off(SC_END_ABORT, code, "");
    errno = saved;
}

void sc_found(const struct sc_call *call)
{
    const struct sc_object *object = sc_object_get(call->object);

    if (call->comm != NULL)
        call->op->comm = call->comm->number;
    if (object != NULL)
        call->op->comm = object->comm;
    call->op->object = call->object;
}

/* ---- beginning and end ---- */

/* A call that lies behind us: the routine was not registered before it. */
static void store(struct sc_routine *routine, const void *site, uint64_t start, uint64_t end,
                  int rc)
{
    struct sc_call call;

    if (!sc_enter(&call, routine, site))
        return;
    __atomic_store_n(&call.op->start, start, __ATOMIC_RELAXED);
    call.saved_errno = errno;
    if (sc_filled(&call, rc))
        sc_bytes_none(call.op, MPI_COMM_WORLD);
    sc_leave(&call, end, rc);
}

static double call_ticks; /* library's own cost of a recorded call */

double sc_hooks_cost(void)
{
    return sc_clock_length(call_ticks);
}

/* Least of a few rounds of calls that call nothing, in the thread's own lane, which is then as it
 * was. */
static void measure_cost(void)
{
    enum { CALLS = 128, ROUNDS = 5 };
    struct sc_thread *t = sc_buffer_thread();
    struct sc_op *first = t == NULL ? NULL : t->op_next;
    uint64_t least = UINT64_MAX;

    if (first == NULL || !sc_clock_is_inline() || t->op_limit - first < CALLS)
        return;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t before = sc_clock_ticks(), took;
        for (int i = 0; i < CALLS; i++) {
            struct sc_call call;
            if (!sc_enter(&call, sc_routine_MPI_Finalize, NULL))
                return;
            sc_start(&call);
            uint64_t end = sc_stop(&call);
            sc_bytes_allreduce(call.op, 1, MPI_INT, MPI_COMM_WORLD);
            sc_leave(&call, end, MPI_SUCCESS);
        }
        took = sc_clock_ticks() - before;
        if (took < least)
            least = took;
        __atomic_store_n(&t->op_next, first, __ATOMIC_RELEASE);
    }
    memset(first, 0, CALLS * sizeof *first);
    call_ticks = (double)least / CALLS;
}

/* All ranks of a run name it alike in what they leave behind: collective. */
static void join_run(void)
{
    uint64_t run = (uint64_t)sc_runtime_begin_realtime();

    if (!sc_world_is_open())
        return;
    PMPI_Bcast(&run, 1, MPI_UINT64_T, 0, sc_world_comm());
    sc_runtime_joined(sc_world_rank(), sc_world_size(), run);
    if (sc_world_rank() == 0 && sc_launcher_rank() > 0)
        sc_publish_note_facts(); /* who was to speak was another one */
}

static bool was_started; /* by a call that came here */

uint64_t sc_init_begins(void)
{
    int saved = errno;

    was_started = true;
    if (sc_world_is_ours())
        sc_runtime_start_auto();
    errno = saved;
    return sc_clock_ticks();
}

void sc_init_ended(struct sc_routine *routine, const void *site, uint64_t start, int rc)
{
    uint64_t end = sc_clock_ticks();
    int saved = errno;

    if (rc == MPI_SUCCESS && sc_world_is_usable()) {
        /* SCOPE_PROFILER_MPI=0: each process is a run of its own, and knows no MPI. */
        if (sc_launcher_override() != 0 && (sc_world_open() != SC_OK || !sc_hooks_prepare()))
            sc_log("MPI calls are not recorded: %s", sc_last_error());
        join_run();
        measure_cost();
        store(routine, site, start, end, rc);
    }
    errno = saved;
}

/* The process ends while MPI runs: no profile can be written, since that takes all ranks. */
static void leave_recording(void)
{
    if (!sc_runtime_is_on() || !sc_world_is_open())
        return;
    sc_runtime_breaks_off(SC_END_EXIT, 0, "");
}

/* A program that opens MPI's library and looks its functions up there (ctypes of Python, MPI.jl)
 * finds those and not the wrappers. */
__attribute__((destructor)) static void say_what_was_missed(void)
{
    struct sc_settings settings;
    int started = 0;

    leave_recording();
    if (was_started)
        return;
    PMPI_Initialized(&started);
    if (started && sc_world_is_ours() && sc_runtime_speaks() &&
        sc_settings_resolve(NULL, &settings, NULL) == SC_OK &&
        settings.value[SC_ENABLED].number != 0)
        sc_log("the program calls MPI past this library: its MPI calls were not recorded");
}

/* The recorded call ends when all ranks have arrived: what follows is ours, or MPI's own business.
 */
void sc_finalize_begins(const void *site)
{
    struct sc_call call;
    bool recorded;
    int saved = errno;

    if (!sc_world_is_usable()) {
        errno = saved;
        return;
    }
    recorded = sc_enter(&call, sc_routine_MPI_Finalize, site);
    if (recorded)
        sc_start(&call);
    sc_world_barrier();
    if (recorded) {
        uint64_t end = sc_stop(&call);
        sc_bytes_none(call.op, MPI_COMM_WORLD);
        sc_leave(&call, end, MPI_SUCCESS);
    }
    sc_runtime_finalize();
    sc_object_close();
    sc_comm_close();
    sc_world_close();
    errno = saved;
}

SC_EXPORT int MPI_Init(int *argc, char ***argv)
{
    uint64_t start = sc_init_begins();
    int rc = PMPI_Init(argc, argv);

    sc_init_ended(sc_routine_MPI_Init, __builtin_return_address(0), start, rc);
    return rc;
}

SC_EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    uint64_t start = sc_init_begins();
    int rc = PMPI_Init_thread(argc, argv, required, provided);

    sc_init_ended(sc_routine_MPI_Init_thread, __builtin_return_address(0), start, rc);
    return rc;
}

SC_EXPORT int MPI_Finalize(void)
{
    sc_finalize_begins(__builtin_return_address(0));
    return PMPI_Finalize();
}

/* As IPM has it: 1 and a name begin a region, -1 and the same name end it. */
static void control_region(int level, const char *name)
{
    int region = name == NULL ? -1 : scope_region(name);

    if (level == 1)
        scope_begin(region);
    else
        scope_end(region);
}

SC_EXPORT int MPI_Pcontrol(const int level, ...)
{
    bool names = sc_runtime_settings()->value[SC_MPI_PCONTROL].number == SC_PCONTROL_REGIONS;

    if (names && (level == 1 || level == -1)) {
        va_list more;
        va_start(more, level);
        control_region(level, va_arg(more, const char *));
        va_end(more);
    } else if (!names && level == 0) {
        sc_runtime_pause(true);
    } else if (!names && level == 1) {
        sc_runtime_pause(false);
    }
    return sc_world_is_running() ? PMPI_Pcontrol(level) : MPI_SUCCESS;
}

/* ---- communicators that go or are named ---- */

/* A communicator on which nothing was recorded before has no number, and gets none for its end. */
static int end_of_comm(struct sc_routine *routine, MPI_Comm *comm, int (*end_it)(MPI_Comm *),
                       const void *site)
{
    struct sc_call call;
    uint64_t end;
    int32_t number = -1;
    int rc;

    if (!sc_enter(&call, routine, site))
        return end_it(comm);
    if (comm != NULL) {
        sc_comm_renamed(*comm);
        number = sc_comm_known(*comm);
    }
    sc_start(&call);
    rc = end_it(comm);
    end = sc_stop(&call);
    if (sc_filled(&call, rc))
        call.op->comm = number;
    sc_leave(&call, end, rc);
    return rc;
}

SC_EXPORT int MPI_Comm_free(MPI_Comm *comm)
{
    return end_of_comm(sc_routine_MPI_Comm_free, comm, PMPI_Comm_free, __builtin_return_address(0));
}

SC_EXPORT int MPI_Comm_disconnect(MPI_Comm *comm)
{
    return end_of_comm(sc_routine_MPI_Comm_disconnect, comm, PMPI_Comm_disconnect,
                       __builtin_return_address(0));
}

static SC_APART int on_MPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
    int rc = PMPI_Comm_set_name(comm, comm_name);
    int saved = errno;

    if (rc == MPI_SUCCESS)
        sc_comm_renamed(comm);
    errno = saved;
    return rc;
}

SC_EXPORT int MPI_Comm_set_name(MPI_Comm comm, const char *comm_name)
{
    if (sc_sleeps())
        return PMPI_Comm_set_name(comm, comm_name);
    return on_MPI_Comm_set_name(comm, comm_name);
}
