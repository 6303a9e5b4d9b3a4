/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * fortran: finds MPI's own Fortran procedures and the variables that Fortran knows MPI's special
 * arguments by, and has the entries that no table line can say. Nothing here needs a Fortran
 * library: a program in C never loads one.
 */
#include "fortran.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base.h"
#include "region.h"
#include "runtime.h"
#include "settings.h"
#include "world.h"

extern struct sc_routine *const sc_routine_MPI_Init;
extern struct sc_routine *const sc_routine_MPI_Init_thread;
extern struct sc_routine *const sc_routine_MPI_Comm_free;
extern struct sc_routine *const sc_routine_MPI_Comm_disconnect;

#if defined(MPICH_VERSION)
__thread const void *sc_fortran_site;
#endif

/* ---- special arguments ---- */

enum { NAMES_MAX = 8 };

/* Where the variables are; a name that no library has leaves no entry. */
static struct {
    const void *in_place[NAMES_MAX], *ignored[NAMES_MAX];
} special;

#if defined(OPEN_MPI)
/* One for each way that compilers write the name. */
static const char *const in_place_names[] = {"mpi_fortran_in_place_", "mpi_fortran_in_place__",
                                             "mpi_fortran_in_place", "MPI_FORTRAN_IN_PLACE"};
static const char *const ignored_names[] = {
    "mpi_fortran_status_ignore_",  "mpi_fortran_status_ignore__",  "mpi_fortran_status_ignore",
    "MPI_FORTRAN_STATUS_IGNORE",   "mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore__",
    "mpi_fortran_statuses_ignore", "MPI_FORTRAN_STATUSES_IGNORE"};
#else
static const char *const in_place_names[] = {"MPIR_F08_MPI_IN_PLACE"};
static const char *const ignored_names[] = {"MPIR_F08_MPI_STATUS_IGNORE_OBJ",
                                            "MPIR_F08_MPI_STATUSES_IGNORE_OBJ"};
#endif

/* The program may have them, or the library that brings the procedures. */
static void find_special(void *library, const char *const *names, size_t count,
                         const void *addresses[NAMES_MAX])
{
    for (size_t i = 0, n = 0; i < count; i++) {
        const void *address = dlsym(RTLD_DEFAULT, names[i]);

        if (address == NULL)
            address = dlsym(library, names[i]);
        if (address != NULL)
            addresses[n++] = address;
    }
}

static bool is_special(const void *argument, const void *const addresses[NAMES_MAX])
{
    for (int i = 0; i < NAMES_MAX && addresses[i] != NULL; i++)
        if (addresses[i] == argument)
            return true;
    return false;
}

const void *sc_fortran_buffer(const void *buffer)
{
    return is_special(buffer, special.in_place) ? MPI_IN_PLACE : buffer;
}

bool sc_fortran_is_ignored(const MPI_Fint *status)
{
    return is_special(status, special.ignored);
}

#if defined(MPICH_VERSION)
/* What mpi_f08 calls the first request: 1, unless a list of none and one that is done says 0. */
static int first_index(void)
{
    typedef void waitany(MPI_Fint * count, MPI_Request * requests, MPI_Fint * index,
                         MPI_Fint * status, MPI_Fint * ierror);
    static struct sc_beyond beyond = {.entry = "mpi_waitany_f08_"};
    static int known = -1;
    int first = __atomic_load_n(&known, __ATOMIC_RELAXED), saved = errno;
    waitany *next = first < 0 ? (waitany *)sc_fortran_beyond(&beyond, NULL) : NULL;
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Fint count = 2, index = 2, error = 0, status[SC_FORTRAN_STATUS];

    if (next != NULL &&
        PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_SELF, &requests[1]) == MPI_SUCCESS)
        next(&count, requests, &index, status, &error);
    if (first < 0) {
        first = index == 1 ? 0 : 1;
        __atomic_store_n(&known, first, __ATOMIC_RELAXED);
    }
    errno = saved;
    return first;
}
#else
static int first_index(void)
{
    return 1;
}
#endif

MPI_Fint *sc_fortran_wait_begin(struct sc_wait *w, int count, struct sc_list requests, int statuses,
                                MPI_Fint *given)
{
    given =
        sc_wait_begin_fortran(w, count, requests, statuses, given, sc_fortran_is_ignored(given));
    w->is_fortran = first_index() == 1;
    return given;
}

void sc_fortran_text(const char *text, size_t length, char out[SC_FORTRAN_TEXT])
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    if (length > SC_FORTRAN_TEXT - 1)
        length = SC_FORTRAN_TEXT - 1;
    memcpy(out, text, length);
    out[length] = '\0';
}

/* ---- MPI's own procedures ---- */

/* pmpi_send_ for mpi_send_; where MPICH has only that, pmpir_send_f08_ for mpi_send_f08_. */
static void *find_in(void *library, const char *entry)
{
    void *address;
    char name[128];

    snprintf(name, sizeof name, "p%s", entry);
    address = dlsym(library, name);
    if (address == NULL) {
        snprintf(name, sizeof name, "pmpir%s", entry + strlen("mpi"));
        address = dlsym(library, name);
    }
    return address;
}

/* What the object that holds the address may use, also where the program loaded it for itself. */
static void *object_at(const void *address)
{
    Dl_info info;

    if (dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

/* The Fortran library beside MPI's own, libmpi_mpifh.so.40 beside libmpi.so.40: a linker that drops
 * libraries which nothing needs dropped it, since what the program calls is in this library. */
static void *library_of_mpi(const char *entry)
{
#if defined(OPEN_MPI)
    const char *addition = strstr(entry, "_f08") != NULL ? "_usempif08" : "_mpifh";
#else
    const char *addition = "fort";
#endif
    const char *file, *tail;
    char path[SC_FORTRAN_TEXT];
    Dl_info info;

    (void)entry;
    if (dladdr(dlsym(RTLD_DEFAULT, "PMPI_Init"), &info) == 0 || info.dli_fname == NULL)
        return NULL;
    file = strrchr(info.dli_fname, '/');
    tail = strstr(file == NULL ? info.dli_fname : file, ".so");
    if (tail == NULL || snprintf(path, sizeof path, "%.*s%s%s", (int)(tail - info.dli_fname),
                                 info.dli_fname, addition, tail) >= (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_LAZY);
}

sc_procedure *sc_fortran_find(struct sc_beyond *beyond, const void *site)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool is_first = true;
    void *library = RTLD_NEXT, *address;
    sc_procedure *procedure = NULL;
    int saved = errno;

    address = find_in(library, beyond->entry);
    if (address == NULL) {
        library = object_at(site);
        address = library == NULL ? NULL : find_in(library, beyond->entry);
    }
    if (address == NULL) {
        library = library_of_mpi(beyond->entry);
        address = library == NULL ? NULL : find_in(library, beyond->entry);
    }
    memcpy(&procedure, &address, sizeof procedure);
    pthread_mutex_lock(&lock);
    if (address != NULL && is_first) {
        find_special(library, in_place_names, sizeof in_place_names / sizeof in_place_names[0],
                     special.in_place);
        find_special(library, ignored_names, sizeof ignored_names / sizeof ignored_names[0],
                     special.ignored);
        is_first = false;
    }
    if (address == NULL && !beyond->is_missing) {
        beyond->is_missing = true;
        sc_log("no library of the program has what %s stands in for: the call does nothing",
               beyond->entry);
    }
    __atomic_store_n(&beyond->procedure, procedure, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
    errno = saved;
    return procedure;
}

bool sc_fortran_register(struct sc_routine *routine)
{
    int region = __atomic_load_n(&routine->region, __ATOMIC_RELAXED), saved = errno;

    if (region < 0)
        region = sc_region_id(SC_REGION_MPI, routine->name, routine->tags, NULL, -1);
    __atomic_store_n(&routine->region, region < 0 ? -1 : region, __ATOMIC_RELAXED);
    errno = saved;
    return region >= 0;
}

/* ---- beginning and end ---- */

static bool never(void)
{
    return false;
}

#define PARAMETERS_MPI_Init (MPI_Fint * ierror)
#define ARGUMENTS_MPI_Init ierror
typedef void sc_f_MPI_Init PARAMETERS_MPI_Init;

static void on_MPI_Init(sc_f_MPI_Init *next, const void *site, MPI_Fint *ierror)
{
    uint64_t start = sc_init_begins();
    MPI_Fint own_error = MPI_SUCCESS;

    if (ierror == NULL)
        ierror = &own_error;
    next(ierror);
    sc_init_ended(sc_routine_MPI_Init, site, start, *ierror);
}

#define PARAMETERS_MPI_Init_thread (MPI_Fint * required, MPI_Fint * provided, MPI_Fint * ierror)
#define ARGUMENTS_MPI_Init_thread required, provided, ierror
typedef void sc_f_MPI_Init_thread PARAMETERS_MPI_Init_thread;

static void on_MPI_Init_thread(sc_f_MPI_Init_thread *next, const void *site, MPI_Fint *required,
                               MPI_Fint *provided, MPI_Fint *ierror)
{
    uint64_t start = sc_init_begins();
    MPI_Fint own_error = MPI_SUCCESS;

    if (ierror == NULL)
        ierror = &own_error;
    next(required, provided, ierror);
    sc_init_ended(sc_routine_MPI_Init_thread, site, start, *ierror);
}

#define PARAMETERS_MPI_Finalize (MPI_Fint * ierror)
#define ARGUMENTS_MPI_Finalize ierror
typedef void sc_f_MPI_Finalize PARAMETERS_MPI_Finalize;

static void on_MPI_Finalize(sc_f_MPI_Finalize *next, const void *site, MPI_Fint *ierror)
{
    sc_finalize_begins(site);
    next(ierror);
}

/* ---- communicators that go or are named ---- */

#define PARAMETERS_MPI_Comm_free (MPI_Fint * comm, MPI_Fint * ierror)
#define ARGUMENTS_MPI_Comm_free comm, ierror
typedef void sc_f_MPI_Comm_free PARAMETERS_MPI_Comm_free;

/* A communicator on which nothing was recorded before has no number, and gets none for its end. */
static void end_of_comm(struct sc_routine *routine, sc_f_MPI_Comm_free *next, const void *site,
                        MPI_Fint *comm, MPI_Fint *ierror)
{
    MPI_Fint own_error = MPI_SUCCESS;
    struct sc_call call;
    int32_t number;
    uint64_t end;

    if (ierror == NULL)
        ierror = &own_error;
    if (!sc_fortran_is_followed() || !sc_enter(&call, routine, site)) {
        next(comm, ierror);
        return;
    }
    sc_comm_renamed(PMPI_Comm_f2c(*comm));
    number = sc_comm_known(PMPI_Comm_f2c(*comm));
    sc_start(&call);
    next(comm, ierror);
    end = sc_stop(&call);
    if (sc_filled(&call, *ierror))
        call.op->comm = number;
    sc_leave(&call, end, *ierror);
}

static void on_MPI_Comm_free(sc_f_MPI_Comm_free *next, const void *site, MPI_Fint *comm,
                             MPI_Fint *ierror)
{
    end_of_comm(sc_routine_MPI_Comm_free, next, site, comm, ierror);
}

#define PARAMETERS_MPI_Comm_disconnect PARAMETERS_MPI_Comm_free
#define ARGUMENTS_MPI_Comm_disconnect ARGUMENTS_MPI_Comm_free
typedef sc_f_MPI_Comm_free sc_f_MPI_Comm_disconnect;

static void on_MPI_Comm_disconnect(sc_f_MPI_Comm_free *next, const void *site, MPI_Fint *comm,
                                   MPI_Fint *ierror)
{
    end_of_comm(sc_routine_MPI_Comm_disconnect, next, site, comm, ierror);
}

#define PARAMETERS_MPI_Comm_set_name \
    (MPI_Fint * comm, const char *comm_name, MPI_Fint *ierror, size_t comm_name_len)
#define ARGUMENTS_MPI_Comm_set_name comm, comm_name, ierror, comm_name_len
typedef void sc_f_MPI_Comm_set_name PARAMETERS_MPI_Comm_set_name;

static void on_MPI_Comm_set_name(sc_f_MPI_Comm_set_name *next, const void *site, MPI_Fint *comm,
                                 const char *comm_name, MPI_Fint *ierror, size_t comm_name_len)
{
    MPI_Fint own_error = MPI_SUCCESS;

    (void)site;
    if (ierror == NULL)
        ierror = &own_error;
    next(comm, comm_name, ierror, comm_name_len);
    if (*ierror == MPI_SUCCESS && sc_fortran_is_followed()) {
        int saved = errno;
        sc_comm_renamed(PMPI_Comm_f2c(*comm));
        errno = saved;
    }
}

/* ---- MPI_Pcontrol, which has no ierror; names are for C ---- */

typedef void sc_f_pcontrol(MPI_Fint *level);

static void control(struct sc_beyond *beyond, const void *site, MPI_Fint *level)
{
    bool names = sc_runtime_settings()->value[SC_MPI_PCONTROL].number == SC_PCONTROL_REGIONS;
    sc_f_pcontrol *next = (sc_f_pcontrol *)sc_fortran_beyond(beyond, site);

    if (!names && (*level == 0 || *level == 1))
        sc_runtime_pause(*level == 0);
    if (next != NULL && sc_world_is_running())
        next(level);
}

/* ---- what is exported ---- */

#if defined(SC_FORTRAN_OLD)
SC_FORTRAN_OLD(MPI_Init, init, INIT, never)
SC_FORTRAN_F08_PLAIN(MPI_Init, init, never)
SC_FORTRAN_OLD(MPI_Init_thread, init_thread, INIT_THREAD, never)
SC_FORTRAN_F08_PLAIN(MPI_Init_thread, init_thread, never)
SC_FORTRAN_OLD(MPI_Finalize, finalize, FINALIZE, never)
SC_FORTRAN_F08_PLAIN(MPI_Finalize, finalize, never)
SC_FORTRAN_OLD(MPI_Comm_free, comm_free, COMM_FREE, sc_is_off)
SC_FORTRAN_F08_PLAIN(MPI_Comm_free, comm_free, sc_is_off)
SC_FORTRAN_OLD(MPI_Comm_disconnect, comm_disconnect, COMM_DISCONNECT, sc_is_off)
SC_FORTRAN_F08_PLAIN(MPI_Comm_disconnect, comm_disconnect, sc_is_off)
SC_FORTRAN_OLD(MPI_Comm_set_name, comm_set_name, COMM_SET_NAME, sc_sleeps)
SC_FORTRAN_F08_PLAIN(MPI_Comm_set_name, comm_set_name, sc_sleeps)

SC_EXPORT void mpi_pcontrol_f08_(MPI_Fint *level)
{
    static struct sc_beyond beyond = {.entry = "mpi_pcontrol_f08_"};

    control(&beyond, __builtin_return_address(0), level);
}
#endif

#if defined(OPEN_MPI)
SC_EXPORT void mpi_pcontrol_(MPI_Fint *level)
{
    static struct sc_beyond beyond = {.entry = "mpi_pcontrol_"};

    control(&beyond, __builtin_return_address(0), level);
}
SC_FORTRAN_ALIASES(pcontrol, PCONTROL)
#endif
