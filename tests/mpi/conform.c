/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * conform: calls every routine the library wraps and every Fortran procedure it exports, with a
 * recorder below the library, and compares what the program said with what arrives, and what MPI
 * answers with what the program gets.
 *     conform single|threads|off LIST  writes the names it called to LIST; off: nothing is recorded
 */
#include "conform.h"

#include <stdio.h>

enum { SLOT = 2048, ELEMENTS = 64, FEW = 3, MANY = 40, POOL = 16, TEXT = 12, STRANGE_ERRNO = 4711 };

/* One way a routine is called and answers. */
struct variant {
    const char *name;
    int rc;
    bool writes;  /* its outputs */
    bool is_done; /* what flags, indices and counts of done requests say */
    bool ignores; /* the statuses */
    int count;
    bool is_special; /* MPI_IN_PLACE and the like for buffers */
};

static const struct variant variants[] = {
    {"success", MPI_SUCCESS, true, true, false, FEW, false},
    {"without status", MPI_SUCCESS, true, true, true, FEW, false},
    {"many", MPI_SUCCESS, true, true, false, MANY, false},
    {"many without status", MPI_SUCCESS, true, true, true, MANY, false},
    {"nothing done", MPI_SUCCESS, true, false, false, FEW, false},
    {"nothing done without status", MPI_SUCCESS, true, false, true, FEW, false},
    {"error", MPI_ERR_OTHER, false, true, false, FEW, false},
    {"error without status", MPI_ERR_OTHER, false, true, true, FEW, false},
    {"error in status", MPI_ERR_IN_STATUS, true, true, false, FEW, false},
    {"error in ignored status", MPI_ERR_IN_STATUS, true, true, true, MANY, false},
    {"special arguments", MPI_SUCCESS, true, true, false, FEW, true},
    {"error with special arguments", MPI_ERR_OTHER, false, true, false, FEW, true},
};

/* Arguments point into memory, a slot each. */
static _Alignas(64) char memory[CONFORM_WORDS][SLOT], expected[CONFORM_WORDS][SLOT],
    outputs[CONFORM_WORDS][SLOT];
static uint64_t word[CONFORM_WORDS];

static MPI_Comm comms[2], cart, fresh = MPI_COMM_NULL;
static MPI_Group groups[2];
static MPI_Info info = MPI_INFO_NULL;
static MPI_Win win = MPI_WIN_NULL;
static MPI_File file = MPI_FILE_NULL;
static MPI_Request pool[POOL], send;
static MPI_Status done_status;
static void *window_memory;
static MPI_Message message;
static int sent, received;

static const char *mode;
static bool is_off, has_ierror = true;
static long calls, failures;

static char elsewhere[64];

static void a_function(void) {}

/* ---- values ---- */

static bool is_one_of(const char *name, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(name, *list) == 0)
            return true;
    return false;
}

static int given_int(const struct conform_argument *a, int i, const struct variant *v)
{
    static const char *const ranks[] = {"dest", "root", "rank", "target_rank", NULL};

    if (strcmp(a->name, "source") == 0)
        return v->is_done ? MPI_ANY_SOURCE : MPI_PROC_NULL;
    if (is_one_of(a->name, ranks))
        return v->is_done ? 0 : MPI_PROC_NULL;
    return v->count + i;
}

static int made_int(const struct conform_argument *a, int i, int k, const struct variant *v)
{
    if (strcmp(a->name, "flag") == 0)
        return v->is_done;
    if (strcmp(a->name, "indx") == 0)
        return v->is_done ? 1 : MPI_UNDEFINED;
    if (strcmp(a->name, "outcount") == 0)
        return v->is_done ? FEW - 1 : MPI_UNDEFINED;
    return strcmp(a->name, "array_of_indices") == 0 ? k : 70 + i + k;
}

static MPI_Status status_of(int k, const struct variant *v)
{
    static const int errors[] = {MPI_SUCCESS, MPI_ERR_OTHER, MPI_ERR_PENDING};
    MPI_Status status = done_status;

    status.MPI_SOURCE = 0;
    status.MPI_TAG = 5 + k;
    status.MPI_ERROR = v->rc == MPI_ERR_IN_STATUS ? errors[k % 3] : 4000 + k;
    return status;
}

/* Where Fortran's handle differs from C's. */
static void put_fortran(enum conform_kind kind, const void *handle, void *to)
{
    MPI_Fint number;

    if (kind == CONFORM_MPI_Comm)
        number = PMPI_Comm_c2f(*(const MPI_Comm *)handle);
    else if (kind == CONFORM_MPI_Datatype)
        number = PMPI_Type_c2f(*(const MPI_Datatype *)handle);
    else if (kind == CONFORM_MPI_Errhandler)
        number = PMPI_Errhandler_c2f(*(const MPI_Errhandler *)handle);
    else if (kind == CONFORM_MPI_File)
        number = PMPI_File_c2f(*(const MPI_File *)handle);
    else if (kind == CONFORM_MPI_Group)
        number = PMPI_Group_c2f(*(const MPI_Group *)handle);
    else if (kind == CONFORM_MPI_Info)
        number = PMPI_Info_c2f(*(const MPI_Info *)handle);
    else if (kind == CONFORM_MPI_Message)
        number = PMPI_Message_c2f(*(const MPI_Message *)handle);
    else if (kind == CONFORM_MPI_Op)
        number = PMPI_Op_c2f(*(const MPI_Op *)handle);
    else if (kind == CONFORM_MPI_Request)
        number = PMPI_Request_c2f(*(const MPI_Request *)handle);
    else if (kind == CONFORM_MPI_Win)
        number = PMPI_Win_c2f(*(const MPI_Win *)handle);
    else
        number = 17; /* MPI_Session: nobody looks inside */
    memcpy(to, &number, sizeof number);
}

/* The which-th of the handles there are of a kind, or of the values of another. */
static void put_handle(const struct conform_routine *r, enum conform_kind kind, int which,
                       size_t size, void *to)
{
    const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE, MPI_CHAR, MPI_FLOAT};
    const MPI_Op ops[] = {MPI_SUM, MPI_PROD};
    const MPI_Errhandler handlers[] = {MPI_ERRORS_RETURN, MPI_ERRORS_ARE_FATAL};
    const void *from = NULL;

    if (kind == CONFORM_MPI_Comm)
        from = &comms[which % 2];
    else if (kind == CONFORM_MPI_Datatype)
        from = &types[which % 4];
    else if (kind == CONFORM_MPI_Errhandler)
        from = &handlers[which % 2];
    else if (kind == CONFORM_MPI_File)
        from = &file;
    else if (kind == CONFORM_MPI_Group)
        from = &groups[which % 2];
    else if (kind == CONFORM_MPI_Info)
        from = &info;
    else if (kind == CONFORM_MPI_Message)
        from = &message;
    else if (kind == CONFORM_MPI_Op)
        from = &ops[which % 2];
    else if (kind == CONFORM_MPI_Request)
        from = &pool[which % POOL];
    else if (kind == CONFORM_MPI_Win)
        from = &win;
    if (r->language != CONFORM_C)
        put_fortran(kind, from, to);
    else if (from != NULL)
        memcpy(to, from, size);
    else
        memset(to, 0x11 + which, size); /* MPI_Session: nobody looks inside */
}

static void put_comm(const struct conform_routine *r, MPI_Comm comm, void *to)
{
    if (r->language != CONFORM_C)
        put_fortran(CONFORM_MPI_Comm, &comm, to);
    else
        memcpy(to, &comm, sizeof comm);
}

/* Wider than 32 bits, so that cutting it shows. */
static void put_wide(int64_t value, size_t size, void *to)
{
    if (size == sizeof(int64_t))
        value += INT64_C(1) << 33;
    memcpy(to, &value, size);
}

static bool is_wide(enum conform_kind kind)
{
    return kind == CONFORM_MPI_Count || kind == CONFORM_MPI_Aint || kind == CONFORM_MPI_Offset;
}

/* How many arguments of the same kind are before it. */
static int nth(const struct conform_routine *r, int i)
{
    int n = 0;

    for (int j = 0; j < i; j++)
        n += r->argument[j].kind == r->argument[i].kind;
    return n;
}

/* ---- arguments ---- */

static void put_value(const struct conform_routine *r, int i, const struct variant *v, void *to)
{
    const struct conform_argument *a = &r->argument[i];
    int number = given_int(a, i, v);
    size_t length = (size_t)(TEXT + i);

    if (a->kind == CONFORM_length)
        memcpy(to, &length, sizeof length);
    else if (a->kind == CONFORM_int)
        memcpy(to, &number, sizeof number);
    else if (is_wide(a->kind))
        put_wide(number, a->size, to);
    else if (a->kind == CONFORM_MPI_Comm && strstr(r->name, "eighbor") != NULL)
        put_comm(r, cart, to);
    else
        put_handle(r, a->kind, nth(r, i), a->size, to);
}

static void put_element(const struct conform_routine *r, int i, int k, const struct variant *v,
                        bool is_output, char *to)
{
    const struct conform_argument *a = &r->argument[i];
    MPI_Status status = status_of(k, v);
    int number = is_output ? made_int(a, i, k, v) : 1 + k;

    if (a->kind == CONFORM_int)
        memcpy(to, &number, sizeof number);
    else if (a->kind == CONFORM_ierror)
        memcpy(to, is_output ? &v->rc : &number, sizeof number);
    else if (is_wide(a->kind))
        put_wide(number + 100 * is_output, a->size, to);
    else if (a->kind == CONFORM_MPI_Status && r->language != CONFORM_C)
        PMPI_Status_c2f(&status, (MPI_Fint *)(void *)to);
    else if (a->kind == CONFORM_MPI_Status)
        memcpy(to, &status, sizeof status);
    else if (a->kind == CONFORM_MPI_Comm && is_output)
        put_comm(r, fresh, to);
    else
        put_handle(r, a->kind, nth(r, i) + k + is_output, a->size, to);
}

/* What lies in the slot before the call. */
static void fill_slot(const struct conform_routine *r, int i, const struct variant *v)
{
    const struct conform_argument *a = &r->argument[i];
    int elements = a->is_array ? ELEMENTS : 1;

    memset(memory[i], a->depth > 1 ? 0 : 0xa5, SLOT);
    if (a->depth > 1 || a->kind == CONFORM_void)
        return;
    if (a->kind == CONFORM_char) {
        int length = snprintf(memory[i], SLOT, "given %d", i);
        if (r->language != CONFORM_C) /* has a length and no end */
            memset(&memory[i][length], ' ', SLOT - (size_t)length);
        return;
    }
    if (a->depth == CONFORM_REFERENCE) {
        put_value(r, i, v, memory[i]);
        return;
    }
    for (int k = 0; k < elements; k++)
        put_element(r, i, k, v, false, &memory[i][(size_t)k * a->size]);
}

/* What the recorder writes there. */
static size_t fill_output(const struct conform_routine *r, int i, const struct variant *v)
{
    const struct conform_argument *a = &r->argument[i];
    int elements = a->is_array ? v->count : 1;

    if (a->kind == CONFORM_void || a->kind == CONFORM_char)
        return 1 + (size_t)snprintf(outputs[i], SLOT, "made %02d", i);
    for (int k = 0; k < elements; k++)
        put_element(r, i, k, v, true, &outputs[i][(size_t)k * a->size]);
    return (size_t)elements * a->size;
}

static bool is_status(const struct conform_routine *r, int i)
{
    return r->ignores && r->argument[i].kind == CONFORM_MPI_Status;
}

static bool has_flag(const struct conform_routine *r)
{
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->argument[i].name, "flag") == 0)
            return true;
    return false;
}

static bool is_written(const struct conform_routine *r, int i, const struct variant *v)
{
    const struct conform_argument *a = &r->argument[i];

    if (a->kind == CONFORM_ierror)
        return true;
    if (!v->writes || a->depth != 1 || a->is_const || a->kind == CONFORM_function)
        return false;
    return !(is_status(r, i) && !v->is_done && has_flag(r));
}

/* ---- addresses that stand for something else ---- */

enum special { NONE, IN_PLACE, BOTTOM, UNWEIGHTED, NO_ERRCODES, NO_STATUS, NO_STATUSES };

static enum special special_of(const struct conform_routine *r, int i, const struct variant *v)
{
    const struct conform_argument *a = &r->argument[i];

    if (is_status(r, i) && v->ignores)
        return a->is_array ? NO_STATUSES : NO_STATUS;
    if (!v->is_special || a->depth != 1)
        return NONE;
    if (a->kind == CONFORM_void)
        return nth(r, i) == 0 ? IN_PLACE : BOTTOM;
    if (strcmp(a->name, "array_of_errcodes") == 0)
        return NO_ERRCODES;
    return strstr(a->name, "weights") != NULL ? UNWEIGHTED : NONE;
}

/* Where Fortran has it; MPICH has some of them, and mpif.h's, in the program: anywhere. */
static const void *special_in_fortran(enum special which, enum conform_language language)
{
#if defined(OPEN_MPI)
    static const char *const names[] = {
        [IN_PLACE] = "mpi_fortran_in_place_",       [BOTTOM] = "mpi_fortran_bottom_",
        [UNWEIGHTED] = "mpi_fortran_unweighted_",   [NO_ERRCODES] = "mpi_fortran_errcodes_ignore_",
        [NO_STATUS] = "mpi_fortran_status_ignore_", [NO_STATUSES] = "mpi_fortran_statuses_ignore_",
    };
    const char *name = names[which];
#else
    static const char *const names[] = {
        [IN_PLACE] = "MPIR_F08_MPI_IN_PLACE",
        [BOTTOM] = "MPIR_F08_MPI_BOTTOM",
        [NO_STATUS] = "MPIR_F08_MPI_STATUS_IGNORE_OBJ",
        [NO_STATUSES] = "MPIR_F08_MPI_STATUSES_IGNORE_OBJ",
    };
    const char *name = language == CONFORM_F08 ? names[which] : NULL;
#endif
    const void *address = name != NULL ? dlsym(RTLD_DEFAULT, name) : &elsewhere[which];

    (void)language;
    if (address == NULL) {
        printf("%s: not in this MPI\n", name);
        exit(1);
    }
    return address;
}

static const void *special(enum special which, enum conform_language language)
{
    if (language != CONFORM_C)
        return special_in_fortran(which, language);
    switch (which) {
    case IN_PLACE:
        return MPI_IN_PLACE;
    case UNWEIGHTED:
        return MPI_UNWEIGHTED;
    case NO_ERRCODES:
        return MPI_ERRCODES_IGNORE;
    case NO_STATUS:
        return MPI_STATUS_IGNORE;
    case NO_STATUSES:
        return MPI_STATUSES_IGNORE;
    default:
        return MPI_BOTTOM;
    }
}

/* ---- what is given, and what comes back ---- */

static void put_pointer(const struct conform_routine *r, int i, const struct variant *v)
{
    const struct conform_argument *a = &r->argument[i];
    const enum special which = special_of(r, i, v);
    const void *pointer = memory[i];
    void (*function)(void) = a_function;

    if (a->kind == CONFORM_function) {
        memcpy(&word[i], &function, sizeof function);
        return;
    }
    fill_slot(r, i, v);
    memcpy(expected[i], memory[i], SLOT);
    if (which != NONE)
        pointer = special(which, r->language);
    else if (a->kind == CONFORM_ierror && !has_ierror)
        pointer = NULL;
    else
        conform_script.points = true;
    memcpy(&word[i], &pointer, sizeof pointer);
    if (!is_written(r, i, v))
        return;
    conform_script.output[i].bytes = outputs[i];
    conform_script.output[i].size = fill_output(r, i, v);
    conform_script.output[i].special = which != NONE ? word[i] : 0;
    if (pointer == memory[i])
        memcpy(expected[i], outputs[i], conform_script.output[i].size);
}

static void prepare(const struct conform_routine *r, const struct variant *v)
{
    memset(&conform_script, 0, sizeof conform_script);
    memset(word, 0, sizeof word);
    conform_script.memory = &memory[0][0];
    conform_script.memory_size = sizeof memory;
    conform_script.rc = v->rc;
    conform_script.error = STRANGE_ERRNO;
    for (int i = 0; i < r->count; i++) {
        if (r->argument[i].depth == 0)
            put_value(r, i, v, &word[i]);
        else
            put_pointer(r, i, v);
    }
}

/* ---- a call ---- */

static void complain(const struct conform_routine *r, const struct variant *v, const char *text)
{
    if (failures++ < 40)
        printf("%s, %s, %s%s: %s\n", mode, r->name, v->name, has_ierror ? "" : " without ierror",
               text);
}

/* The library may have an ierror of its own where there is none, and statuses where they are
 * ignored and it records. */
static bool may_differ(const struct conform_routine *r, int i, const struct variant *v)
{
    if (r->argument[i].kind == CONFORM_ierror)
        return !has_ierror;
    return is_status(r, i) && v->ignores && !is_off;
}

static bool is_as_given(const struct conform_routine *r, int i, const struct variant *v)
{
    const uint64_t arrived = conform_script.word[i];

    if (arrived == word[i] || !may_differ(r, i, v))
        return arrived == word[i];
    return arrived != 0 && arrived - (uint64_t)(uintptr_t)memory >= sizeof memory;
}

static void check_words(const struct conform_routine *r, const struct variant *v)
{
    char text[200];

    for (int i = 0; i < r->count; i++) {
        if (is_as_given(r, i, v))
            continue;
        snprintf(text, sizeof text, "%s is %llx, arrived as %llx", r->argument[i].name,
                 (unsigned long long)word[i], (unsigned long long)conform_script.word[i]);
        complain(r, v, text);
    }
}

static void check(const struct conform_routine *r, const struct variant *v, int rc, int error)
{
    char text[200];

    if (conform_script.arrived == 0) {
        complain(r, v, "never arrived");
        return;
    }
    if (conform_script.repeated > 0)
        complain(r, v, "arrived twice");
    check_words(r, v);
    if (r->language == CONFORM_C && rc != v->rc)
        complain(r, v, "another return code");
    if (error != STRANGE_ERRNO && !conform_script.forwards)
        complain(r, v, "another errno after the call");
    if (conform_script.error_before != EDOM)
        complain(r, v, "another errno in the call");
    for (int i = 0; i < r->count && !conform_script.forwards; i++) {
        if (r->argument[i].depth == 0 || r->argument[i].kind == CONFORM_function ||
            memcmp(memory[i], expected[i], SLOT) == 0)
            continue;
        snprintf(text, sizeof text, "what %s points to differs", r->argument[i].name);
        complain(r, v, text);
    }
}

static void perform(const struct conform_routine *r, const struct variant *v)
{
    int rc, error;

    conform_script.routine = r->name;
    errno = EDOM;
    rc = r->call(word);
    error = errno;
    conform_script.routine = NULL;
    check(r, v, rc, error);
    calls++;
}

static bool makes_comm(const struct conform_routine *r)
{
    for (int i = 0; i < r->count; i++)
        if (r->argument[i].kind == CONFORM_MPI_Comm && r->argument[i].depth == 1)
            return true;
    return false;
}

static void call(const struct conform_routine *r, const struct variant *v)
{
    bool makes = makes_comm(r);

    if (makes)
        PMPI_Comm_split(MPI_COMM_WORLD, 0, 0, &fresh);
    prepare(r, v);
    perform(r, v);
    if (makes)
        PMPI_Comm_free(&fresh);
}

static const struct variant *variant_of(const char *name)
{
    const struct variant *v = variants;

    while (strcmp(v->name, name) != 0)
        v++;
    return v;
}

/* mpi_f08 has ierror as an optional argument. */
static void call_with_and_without(const struct conform_routine *r, const struct variant *v)
{
    call(r, v);
    if (r->language != CONFORM_F08)
        return;
    has_ierror = false;
    call(r, v);
    has_ierror = true;
}

static void call_all(const char *how, FILE *list)
{
    mode = how;
    for (int i = 0; i < conform_routine_count; i++) {
        const struct conform_routine *r = &conform_routines[i];
        if (r->is_by_hand)
            continue;
        for (size_t k = 0; k < sizeof variants / sizeof *variants; k++)
            if (!variants[k].ignores || r->ignores)
                call_with_and_without(r, &variants[k]);
        fprintf(list, "%s\n", r->name);
    }
}

/* ---- beginning and end ---- */

static void call_each(const char *const *c_names, const char *variant, FILE *list)
{
    for (int i = 0; i < conform_routine_count; i++) {
        const struct conform_routine *r = &conform_routines[i];
        if (!is_one_of(r->c_name, c_names))
            continue;
        call_with_and_without(r, variant_of(variant));
        if (list != NULL)
            fprintf(list, "%s\n", r->name);
    }
}

static void call_outside(const char *how)
{
    static const char *const names[] = {"MPI_Initialized", "MPI_Finalized", "MPI_Get_version",
                                        "MPI_Get_library_version", NULL};

    mode = how;
    call_each(names, "success", NULL);
    call_each(names, "error", NULL);
}

/* MPI that does not start, then MPI that does. */
static void begin(bool threads, FILE *list)
{
    static const char *const names[] = {"MPI_Init", "MPI_Init_thread", NULL};
    const char *name = names[threads ? 1 : 0];
    const struct conform_routine *r = conform_routines;
    const struct variant *v = variant_of("success");
    int level = MPI_THREAD_MULTIPLE;

    mode = "before MPI";
    call_each(names, "error", list);
    while (strcmp(r->name, name) != 0)
        r++;
    prepare(r, v);
    conform_script.forwards = true;
    word[0] = word[1] = 0;
    if (threads)
        memcpy(&word[2], &level, sizeof level);
    else
        conform_script.points = false;
    perform(r, v);
}

static void make_handles(void)
{
    const int ring = 1;
    int size = 0;

    comms[0] = MPI_COMM_WORLD;
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &ring, 0, &cart);
    MPI_Barrier(comms[1]);
    MPI_Barrier(cart);
    MPI_Comm_group(MPI_COMM_WORLD, &groups[0]);
    groups[1] = MPI_GROUP_EMPTY;
    MPI_Info_create(&info);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window_memory, &win);
    MPI_File_open(MPI_COMM_WORLD, "conform.data", MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL,
                  &file);
    MPI_Isend(&sent, 1, MPI_INT, 0, 1000, comms[1], &send);
    MPI_Mprobe(0, 1000, comms[1], &message, MPI_STATUS_IGNORE);
    for (int i = 0; i < POOL; i++)
        MPI_Recv_init(&received, 1, MPI_INT, 0, i, comms[1], &pool[i]);
    memset(&done_status, 0, sizeof done_status);
    MPI_Status_set_elements(&done_status, MPI_BYTE, 12);
    MPI_Status_set_cancelled(&done_status, 0);
}

static void free_handles(void)
{
    MPI_Mrecv(&received, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    for (int i = 0; i < POOL; i++)
        MPI_Request_free(&pool[i]);
    MPI_File_close(&file);
    MPI_Win_free(&win);
    MPI_Info_free(&info);
    MPI_Group_free(&groups[0]);
    MPI_Comm_free(&cart);
    MPI_Comm_free(&comms[1]);
}

int main(int argc, char **argv)
{
    static const char *const last[] = {"MPI_Finalize", NULL};
    FILE *list = argc == 3 ? fopen(argv[2], "w") : NULL;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (list == NULL)
        return 2;
    is_off = strcmp(argv[1], "off") == 0;
    call_outside("before MPI");
    begin(strcmp(argv[1], "threads") == 0, list);
    make_handles();
    call_all("running", list);
    MPI_Pcontrol(0);
    call_all("paused", list);
    MPI_Pcontrol(1);
    free_handles();
    mode = "at the end";
    call_each(last, "error", list);
    PMPI_Finalize();
    call_outside("after MPI");
    printf("%d routines, %ld calls, %ld failures\n", conform_routine_count, calls, failures);
    return fclose(list) != 0 || failures > 0;
}
