/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Every routine that reads or writes a file: none, some, with gaps in memory
 * and in the file, over the end of the file and beyond it. What a call must
 * have moved stands in the tables.
 */
#include "onesided_io.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LENGTH = 100 }; /* of the file that is read */

enum routine {
    READ_AT,
    WRITE_AT,
    READ_AT_ALL,
    WRITE_AT_ALL,
    READ,
    WRITE,
    READ_ALL,
    WRITE_ALL,
    READ_SHARED,
    WRITE_SHARED,
    READ_ORDERED,
    WRITE_ORDERED,
    IREAD_AT,
    IWRITE_AT,
    IREAD_AT_ALL,
    IWRITE_AT_ALL,
    IREAD,
    IWRITE,
    IREAD_ALL,
    IWRITE_ALL,
    IREAD_SHARED,
    IWRITE_SHARED,
    READ_AT_ALL_BEGIN,
    WRITE_AT_ALL_BEGIN,
    READ_ALL_BEGIN,
    WRITE_ALL_BEGIN,
    READ_ORDERED_BEGIN,
    WRITE_ORDERED_BEGIN,
    ROUTINES
};

enum where { GIVEN, OWN, SHARED, ORDERED }; /* the place in the file */
enum when { NOW, LATER, SPLIT };            /* it is complete */

static const struct property {
    const char *name, *end;
    enum where where;
    enum when when;
    int is_read, is_collective;
} properties[ROUTINES] = {
    [READ_AT] = {"File_read_at", NULL, GIVEN, NOW, 1, 0},
    [WRITE_AT] = {"File_write_at", NULL, GIVEN, NOW, 0, 0},
    [READ_AT_ALL] = {"File_read_at_all", NULL, GIVEN, NOW, 1, 1},
    [WRITE_AT_ALL] = {"File_write_at_all", NULL, GIVEN, NOW, 0, 1},
    [READ] = {"File_read", NULL, OWN, NOW, 1, 0},
    [WRITE] = {"File_write", NULL, OWN, NOW, 0, 0},
    [READ_ALL] = {"File_read_all", NULL, OWN, NOW, 1, 1},
    [WRITE_ALL] = {"File_write_all", NULL, OWN, NOW, 0, 1},
    [READ_SHARED] = {"File_read_shared", NULL, SHARED, NOW, 1, 0},
    [WRITE_SHARED] = {"File_write_shared", NULL, SHARED, NOW, 0, 0},
    [READ_ORDERED] = {"File_read_ordered", NULL, ORDERED, NOW, 1, 1},
    [WRITE_ORDERED] = {"File_write_ordered", NULL, ORDERED, NOW, 0, 1},
    [IREAD_AT] = {"File_iread_at", NULL, GIVEN, LATER, 1, 0},
    [IWRITE_AT] = {"File_iwrite_at", NULL, GIVEN, LATER, 0, 0},
    [IREAD_AT_ALL] = {"File_iread_at_all", NULL, GIVEN, LATER, 1, 1},
    [IWRITE_AT_ALL] = {"File_iwrite_at_all", NULL, GIVEN, LATER, 0, 1},
    [IREAD] = {"File_iread", NULL, OWN, LATER, 1, 0},
    [IWRITE] = {"File_iwrite", NULL, OWN, LATER, 0, 0},
    [IREAD_ALL] = {"File_iread_all", NULL, OWN, LATER, 1, 1},
    [IWRITE_ALL] = {"File_iwrite_all", NULL, OWN, LATER, 0, 1},
    [IREAD_SHARED] = {"File_iread_shared", NULL, SHARED, LATER, 1, 0},
    [IWRITE_SHARED] = {"File_iwrite_shared", NULL, SHARED, LATER, 0, 0},
    [READ_AT_ALL_BEGIN] = {"File_read_at_all_begin", "File_read_at_all_end", GIVEN, SPLIT, 1, 1},
    [WRITE_AT_ALL_BEGIN] = {"File_write_at_all_begin", "File_write_at_all_end", GIVEN, SPLIT, 0, 1},
    [READ_ALL_BEGIN] = {"File_read_all_begin", "File_read_all_end", OWN, SPLIT, 1, 1},
    [WRITE_ALL_BEGIN] = {"File_write_all_begin", "File_write_all_end", OWN, SPLIT, 0, 1},
    [READ_ORDERED_BEGIN] = {"File_read_ordered_begin", "File_read_ordered_end", ORDERED, SPLIT, 1,
                            1},
    [WRITE_ORDERED_BEGIN] = {"File_write_ordered_begin", "File_write_ordered_end", ORDERED, SPLIT,
                             0, 1},
};

/*
 * count items of a kind at an offset. asked: their bytes, which is what a write
 * moves; read: what there is of them when each rank reads there; in_turn: when
 * the ranks read one behind the other.
 */
struct transfer {
    int count;
    enum kind kind;
    MPI_Offset at;
    long asked, read, in_turn[MOST];
};

/* clang-format off */
static const struct transfer plain[] = {
    {0, INTS, 8, 0, 0, {0, 0, 0}},
    {4, INTS, 8, 16, 16, {16, 16, 16}},
    {2, GAPS, 0, 24, 24, {24, 24, 24}},
    {10, INTS, 0, 40, 40, {40, 40, 20}},
    {4, INTS, 92, 16, 8, {8, 0, 0}},
    {3, FIVE, 40, 15, 15, {15, 15, 15}},
    {2, MIXED, 10, 18, 18, {18, 18, 18}},
    {2, GAPS, 86, 24, 14, {14, 0, 0}},
    {4, INTS, 98, 16, 2, {2, 0, 0}},
    {4, INTS, 200, 16, 0, {0, 0, 0}},
};

/* From byte 4 on every second int is seen: at 4, 12, ... 92, which are ints 0 to 11. */
static const struct transfer seen[] = {
    {3, INTS, 1, 12, 12, {12, 12, 12}},
    {4, INTS, 10, 16, 8, {8, 0, 0}},
    {0, INTS, 2, 0, 0, {0, 0, 0}},
    {1, GAPS, 5, 12, 12, {12, 12, 4}},
};
/* clang-format on */

/* How many of them are done in turn 0, and when the file is opened again. */
static const int plain_count[2] = {10, 5}, seen_count[2] = {4, 2};

struct file {
    const char *name;
    const struct team *team;
    MPI_File file;
    int is_read, has_view;
};

static MPI_Request request;

/* ---- one call ---- */

static int issue_now(enum routine r, MPI_File f, const struct transfer *t, MPI_Offset at, int large,
                     MPI_Status *status)
{
    const int n = t->count;
    const MPI_Datatype type = types[t->kind];

    switch (r) {
    case READ_AT:
        return EITHER(MPI_File_read_at, f, at, in, n, type, status);
    case WRITE_AT:
        return EITHER(MPI_File_write_at, f, at, out, n, type, status);
    case READ_AT_ALL:
        return EITHER(MPI_File_read_at_all, f, at, in, n, type, status);
    case WRITE_AT_ALL:
        return EITHER(MPI_File_write_at_all, f, at, out, n, type, status);
    case READ:
        return EITHER(MPI_File_read, f, in, n, type, status);
    case WRITE:
        return EITHER(MPI_File_write, f, out, n, type, status);
    case READ_ALL:
        return EITHER(MPI_File_read_all, f, in, n, type, status);
    case WRITE_ALL:
        return EITHER(MPI_File_write_all, f, out, n, type, status);
    case READ_SHARED:
        return EITHER(MPI_File_read_shared, f, in, n, type, status);
    case WRITE_SHARED:
        return EITHER(MPI_File_write_shared, f, out, n, type, status);
    case READ_ORDERED:
        return EITHER(MPI_File_read_ordered, f, in, n, type, status);
    default:
        return EITHER(MPI_File_write_ordered, f, out, n, type, status);
    }
}

static int issue_later(enum routine r, MPI_File f, const struct transfer *t, MPI_Offset at,
                       int large)
{
    const int n = t->count;
    const MPI_Datatype type = types[t->kind];

    switch (r) {
    case IREAD_AT:
        return EITHER(MPI_File_iread_at, f, at, in, n, type, &request);
    case IWRITE_AT:
        return EITHER(MPI_File_iwrite_at, f, at, out, n, type, &request);
    case IREAD_AT_ALL:
        return EITHER(MPI_File_iread_at_all, f, at, in, n, type, &request);
    case IWRITE_AT_ALL:
        return EITHER(MPI_File_iwrite_at_all, f, at, out, n, type, &request);
    case IREAD:
        return EITHER(MPI_File_iread, f, in, n, type, &request);
    case IWRITE:
        return EITHER(MPI_File_iwrite, f, out, n, type, &request);
    case IREAD_ALL:
        return EITHER(MPI_File_iread_all, f, in, n, type, &request);
    case IWRITE_ALL:
        return EITHER(MPI_File_iwrite_all, f, out, n, type, &request);
    case IREAD_SHARED:
        return EITHER(MPI_File_iread_shared, f, in, n, type, &request);
    default:
        return EITHER(MPI_File_iwrite_shared, f, out, n, type, &request);
    }
}

static int issue_begin(enum routine r, MPI_File f, const struct transfer *t, MPI_Offset at,
                       int large)
{
    const int n = t->count;
    const MPI_Datatype type = types[t->kind];

    switch (r) {
    case READ_AT_ALL_BEGIN:
        return EITHER(MPI_File_read_at_all_begin, f, at, in, n, type);
    case WRITE_AT_ALL_BEGIN:
        return EITHER(MPI_File_write_at_all_begin, f, at, out, n, type);
    case READ_ALL_BEGIN:
        return EITHER(MPI_File_read_all_begin, f, in, n, type);
    case WRITE_ALL_BEGIN:
        return EITHER(MPI_File_write_all_begin, f, out, n, type);
    case READ_ORDERED_BEGIN:
        return EITHER(MPI_File_read_ordered_begin, f, in, n, type);
    default:
        return EITHER(MPI_File_write_ordered_begin, f, out, n, type);
    }
}

static int issue(enum routine r, MPI_File f, const struct transfer *t, MPI_Offset at, int large,
                 MPI_Status *status)
{
    if (properties[r].when == NOW)
        return issue_now(r, f, t, at, large, status);
    return properties[r].when == LATER ? issue_later(r, f, t, at, large)
                                       : issue_begin(r, f, t, at, large);
}

static int finish_split(enum routine r, MPI_File f, MPI_Status *status)
{
    switch (r) {
    case READ_AT_ALL_BEGIN:
        return MPI_File_read_at_all_end(f, in, status);
    case WRITE_AT_ALL_BEGIN:
        return MPI_File_write_at_all_end(f, out, status);
    case READ_ALL_BEGIN:
        return MPI_File_read_all_end(f, in, status);
    case WRITE_ALL_BEGIN:
        return MPI_File_write_all_end(f, out, status);
    case READ_ORDERED_BEGIN:
        return MPI_File_read_ordered_end(f, in, status);
    default:
        return MPI_File_write_ordered_end(f, out, status);
    }
}

/* Every routine that completes a request, one in turn. */
static int finish_later(int way, MPI_Status *status)
{
    int index, flag = 0, rc = MPI_SUCCESS;

    switch (way % 5) {
    case 0:
        return MPI_Wait(&request, status);
    case 1:
        return MPI_Waitall(1, &request, status);
    case 2:
        return MPI_Waitany(1, &request, &index, status);
    case 3:
        return MPI_Waitsome(1, &request, &flag, &index, status);
    default:
        while (!flag && rc == MPI_SUCCESS)
            rc = MPI_Test(&request, &flag, status);
        return rc;
    }
}

/* ---- what it moved ---- */

/* What MPI says; with MPI_STATUS_IGNORE nothing. */
static long bytes_of(MPI_Status *status)
{
    int bytes = -1;

    if (status != MPI_STATUS_IGNORE)
        PMPI_Get_elements(status, MPI_BYTE, &bytes);
    return bytes;
}

static long bytes_in_file(const struct property *p, const struct file *f, const struct transfer *t)
{
    if (!p->is_read)
        return t->asked;
    return p->where == ORDERED || p->where == SHARED ? t->in_turn[f->team->rank] : t->read;
}

/* The least that a rank may get. */
static long least_of(const struct property *p, const struct file *f, const struct transfer *t)
{
    if (!p->is_read)
        return t->asked;
    return p->where == ORDERED || p->where == SHARED ? t->in_turn[f->team->size - 1] : t->read;
}

/* MPI may say what was asked for, although the file has less. */
static int may_be_vague(const struct property *p, const struct file *f, const struct transfer *t)
{
#ifdef OPEN_MPI
    int has_gaps = 0;
#else
    int has_gaps = t->kind == GAPS || t->kind == SPREAD || t->kind == MIXED || f->has_view;
#endif
    return least_of(p, f, t) < t->asked && (p->is_collective || has_gaps);
}

/* The bytes that a call has to have. said: by the status, -1 without one. */
static long wanted(const struct property *p, const struct file *f, const struct transfer *t,
                   long said, const char *name)
{
    long bytes = bytes_in_file(p, f, t);

    if (said == t->asked && may_be_vague(p, f, t))
        return said;
    if (said >= 0 && said != bytes)
        wrong("bytes of the status", name, said, bytes);
    return bytes;
}

/* A call and its completion. */
static int complete(enum routine r, const struct file *f, const struct transfer *t, MPI_Offset at,
                    int large, int way, MPI_Status *status)
{
    int rc = issue(r, f->file, t, at, large, status);

    if (rc == MPI_SUCCESS && properties[r].when == LATER)
        return finish_later(way, status);
    if (rc == MPI_SUCCESS && properties[r].when == SPLIT)
        return finish_split(r, f->file, status);
    return rc;
}

/* Writes of several ranks do not overlap. */
static void transfer(enum routine r, const struct file *f, const struct transfer *t, int large,
                     int way, int has_status)
{
    const struct property *p = &properties[r];
    const char *name = named(p->name, large);
    int is_apart = !p->is_read && (p->where == GIVEN || p->where == OWN);
    MPI_Offset at = t->at + (is_apart ? 1000 * f->team->rank : 0);
    MPI_Status room, *status = has_status ? &room : MPI_STATUS_IGNORE;
    long said, bytes;
    int rc;

    if (p->where == OWN) {
        MPI_File_seek(f->file, at, MPI_SEEK_SET);
        call("File_seek", f->name, -1);
    }
    memset(in, -1, sizeof in);
    memset(&room, 0, sizeof room);
    rc = complete(r, f, t, at, large, way, status);
    if (rc != MPI_SUCCESS)
        wrong("return code", name, rc, MPI_SUCCESS);
    said = bytes_of(status);
    bytes = wanted(p, f, t, said, name);
    delivered(name, said, bytes_in_file(p, f, t) == t->asked);
    if (p->when == SPLIT) {
        moved(name, f->name, -1, 0, 0, 0);
        ended(p->end, f->name, p->is_read ? 0 : bytes, p->is_read ? bytes : 0);
    } else {
        moved(name, f->name, -1, p->is_read ? 0 : bytes, p->is_read ? bytes : 0, p->when == LATER);
    }
}

/* The shared pointer goes from rank to rank; which of them writes first does not matter. */
static void transfer_in_turn(enum routine r, const struct file *f, const struct transfer *t,
                             int large, int way, int has_status)
{
    if (f->is_read) {
        MPI_File_seek_shared(f->file, t->at, MPI_SEEK_SET);
        call("File_seek_shared", f->name, -1);
    }
    if (!f->is_read || properties[r].where == ORDERED) {
        transfer(r, f, t, large, way, has_status);
        return;
    }
    for (int i = 0; i < f->team->size; i++) {
        if (i == f->team->rank)
            transfer(r, f, t, large, way, has_status);
        MPI_Barrier(f->team->comm);
    }
}

/* Open MPI 4.1 never completes a read that reaches the end of the file and is
 * not blocking. */
static int is_left_out(enum routine r, const struct file *f, const struct transfer *t)
{
#ifdef OPEN_MPI
    return properties[r].when != NOW && least_of(&properties[r], f, t) < t->asked;
#else
    (void)r;
    (void)f;
    (void)t;
    return 0;
#endif
}

static void transfer_one(enum routine r, const struct file *f, const struct transfer *t, int large,
                         int way, int has_status)
{
    if (properties[r].where == SHARED || properties[r].where == ORDERED)
        transfer_in_turn(r, f, t, large, way, has_status);
    else
        transfer(r, f, t, large, way, has_status);
}

/* Half of them are twins and half have a status; turn 1 has the other half. What MPI may be vague
 * about has one always. */
static void transfer_all(const struct file *f, const struct transfer *list, int count, int turn)
{
    for (int r = 0; r < ROUTINES; r++) {
        if (properties[r].is_read != f->is_read)
            continue;
        for (int i = 0; i < count; i++) {
            int large = (r / 2 + i + turn) % TWINS;
            int has_status =
                (r / 2 + i / 2 + turn) % 2 || may_be_vague(&properties[r], f, &list[i]);

            if (!is_left_out(r, f, &list[i]))
                transfer_one(r, f, &list[i], large, i, has_status);
        }
    }
}

/* ---- files ---- */

static void open_file(struct file *f, int mode)
{
    int rc = MPI_File_open(f->team->comm, f->name, mode, MPI_INFO_NULL, &f->file);

    if (rc != MPI_SUCCESS)
        MPI_Abort(MPI_COMM_WORLD, 3);
    call("File_open", f->name, -1);
}

static void close_file(struct file *f)
{
    MPI_File_close(&f->file);
    call("File_close", f->name, -1);
}

static void set_view(struct file *f)
{
    MPI_Datatype filetype;

    MPI_Type_create_resized(MPI_INT, 0, 8, &filetype);
    MPI_Type_commit(&filetype);
    MPI_File_set_view(f->file, 4, MPI_INT, filetype, "native", MPI_INFO_NULL);
    call("File_set_view", f->name, -1);
    MPI_Type_free(&filetype);
    f->has_view = 1;
}

static void use_file(const char *name, const struct team *t, int mode, int turn)
{
    struct file f = {.name = name, .team = t, .is_read = (mode & MPI_MODE_RDONLY) != 0};

    open_file(&f, mode);
    transfer_all(&f, plain, plain_count[turn], turn);
    set_view(&f);
    transfer_all(&f, seen, seen_count[turn], turn);
    close_file(&f);
}

/* Calls that MPI refuses: a negative count, writing what may only be read, a
 * file that is not there.
 */
static void fail_all(const char *name, const struct team *t)
{
    const struct transfer bad = {-1, INTS, 0, 0, 0, {0}}, one = {1, INTS, 0, 0, 0, {0}};
    MPI_Status status;
    MPI_File none;

    for (int i = 0; i < ROUTINES * TWINS; i++) {
        struct file f = {.name = name, .team = t};
        int r = i / TWINS, large = i % TWINS;

        open_file(&f, MPI_MODE_RDONLY);
        failed(named(properties[r].name, large), issue(r, f.file, &bad, 0, large, &status));
        if (r == WRITE || r == WRITE_AT)
            failed(named(properties[r].name, large), issue(r, f.file, &one, 0, large, &status));
        close_file(&f);
    }
    failed("File_open",
           MPI_File_open(t->comm, "missing.dat", MPI_MODE_RDONLY, MPI_INFO_NULL, &none));
}

static void make_file(const char *name)
{
    FILE *f = fopen(name, "w");

    if (f == NULL)
        MPI_Abort(MPI_COMM_WORLD, 4);
    for (int i = 0; i < LENGTH; i++)
        fputc(i, f);
    fclose(f);
}

void use_files(void)
{
    char own[64];

    snprintf(own, sizeof own, "own.%d.dat", world_rank);
    make_file(own);
    if (world_rank == 0)
        make_file("read.dat");
    describe("read.dat", "file", &world);
    describe("written.dat", "file", &reversed);
    describe(own, "file", &self);
    MPI_Barrier(MPI_COMM_WORLD);
    use_file("read.dat", &world, MPI_MODE_RDONLY, 0);
    use_file("written.dat", &reversed, MPI_MODE_WRONLY | MPI_MODE_CREATE, 0);
    use_file(own, &self, MPI_MODE_RDONLY, 0);
    use_file("read.dat", &reversed, MPI_MODE_RDONLY, 1);
    use_file("written.dat", &world, MPI_MODE_WRONLY, 1);
    fail_all(own, &self);
}
