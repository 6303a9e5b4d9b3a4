/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * No function of MPI is called under `lock`.
 */
#include "object.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "bring.h"
#include "comm.h"
#include "handles.h"

/* A live file or window. */
struct live {
    struct sc_handle handle;
    _Atomic(struct sc_object *) object; /* NULL until something is recorded on it */
    const struct sc_comm *group;
    uint32_t ordinal;
    char *name; /* of a file; NULL else */
};

/* A file that has a number, found by its name. */
struct file {
    struct file *next;
    uint64_t hash;
    struct sc_object *object;
};

static struct {
    pthread_mutex_t lock;
    struct sc_handles files, windows;
    struct sc_object **numbered;
    size_t count, capacity;
    struct file **names;
    size_t name_count, name_slots; /* slots: power of two */
    uint32_t *made;                /* windows, by number of the communicator */
    size_t made_count;
} objects = {.lock = PTHREAD_MUTEX_INITIALIZER,
             .files.entry_size = sizeof(struct live),
             .windows.entry_size = sizeof(struct live)};

static uint64_t handle_of_file(MPI_File file)
{
    uint64_t handle = 0;

    memcpy(&handle, &file, sizeof file);
    return handle;
}

static uint64_t handle_of_window(MPI_Win win)
{
    uint64_t handle = 0;

    memcpy(&handle, &win, sizeof win);
    return handle;
}

static MPI_Win window_of(uint64_t handle)
{
    MPI_Win win;

    memcpy(&win, &handle, sizeof win);
    return win;
}

static struct live *lookup(struct sc_handles *all, uint64_t handle)
{
    return (struct live *)sc_handles_find(all, handle);
}

static struct sc_object *object_of(struct live *l)
{
    return l == NULL ? NULL : atomic_load_explicit(&l->object, memory_order_acquire);
}

/* ---- names ---- */

static char no_name[] = "";

static void free_name(char *name)
{
    if (name != no_name)
        free(name);
}

/* Open MPI numbers those that the program gave no name. */
static bool is_made_up(const char *name)
{
    static const char *const starts[] = {"rdma window ", "pt2pt window ", "ucx window ",
                                         "portals4 window "};

    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        size_t length = strlen(starts[i]);
        if (strncmp(name, starts[i], length) == 0 &&
            name[length + strspn(name + length, "0123456789")] == '\0')
            return true;
    }
    return false;
}

/* A copy of its name; no_name for one that MPI made up; NULL: no memory. */
static char *read_name(MPI_Win win)
{
    char name[MPI_MAX_OBJECT_NAME + 1];
    int length = 0;

    if (PMPI_Win_get_name(win, name, &length) != MPI_SUCCESS || length < 0)
        length = 0;
    name[length] = '\0';
    return name[0] == '\0' || is_made_up(name) ? no_name : strdup(name);
}

/* Nothing happens to a window that nothing was recorded on. */
static void look_at_name(MPI_Win win)
{
    struct sc_object *o = object_of(lookup(&objects.windows, handle_of_window(win)));
    char *name = o == NULL ? NULL : read_name(win);

    if (name == NULL)
        return;
    pthread_mutex_lock(&objects.lock);
    if (strcmp(name, o->name) != 0) {
        char *old = o->name;
        o->name = name;
        name = old;
        sc_bring_note_object(o);
    }
    pthread_mutex_unlock(&objects.lock);
    free_name(name);
}

/* Under the lock. False: no memory, and no slot at all. */
static bool make_slots(void)
{
    size_t slots = objects.name_slots == 0 ? 64 : 2 * objects.name_slots;
    struct file **grown;

    if (objects.name_count < objects.name_slots)
        return true;
    grown = calloc(slots, sizeof(struct file *));
    if (grown == NULL)
        return objects.name_slots > 0;
    for (size_t i = 0; i < objects.name_slots; i++) {
        for (struct file *next, *f = objects.names[i]; f != NULL; f = next) {
            next = f->next;
            f->next = grown[f->hash & (slots - 1)];
            grown[f->hash & (slots - 1)] = f;
        }
    }
    free(objects.names);
    objects.names = grown;
    objects.name_slots = slots;
    return true;
}

/* ---- numbers ---- */

/* Under the lock. Takes the name over; NULL: no memory. */
static struct sc_object *number(enum sc_object_kind kind, const struct live *l, char *name)
{
    struct sc_object *o = malloc(sizeof *o);

    if (o == NULL || name == NULL ||
        sc_array_reserve(&objects.numbered, &objects.capacity, objects.count + 1,
                         sizeof(struct sc_object *)) != SC_OK) {
        free(o);
        free_name(name);
        return NULL;
    }
    *o = (struct sc_object){.kind = kind,
                            .number = (int32_t)objects.count,
                            .comm = l->group->number,
                            .ordinal = l->ordinal,
                            .group = l->group,
                            .name = name};
    objects.numbered[objects.count++] = o;
    sc_bring_note_object(o);
    return o;
}

/* Under the lock. The object of that name, made at need; NULL: no memory. */
static struct sc_object *number_file(const struct live *l)
{
    uint64_t hash = sc_hash(l->name, strlen(l->name));
    struct file *f, **slot;

    if (!make_slots())
        return NULL;
    slot = &objects.names[hash & (objects.name_slots - 1)];
    for (f = *slot; f != NULL; f = f->next)
        if (f->hash == hash && strcmp(f->object->name, l->name) == 0)
            return f->object;
    f = malloc(sizeof *f);
    if (f == NULL)
        return NULL;
    f->object = number(SC_OBJECT_FILE, l, strdup(l->name));
    if (f->object == NULL) {
        free(f);
        return NULL;
    }
    f->hash = hash;
    f->next = *slot;
    *slot = f;
    objects.name_count++;
    return f->object;
}

/* name: of a window, taken over. */
static const struct sc_object *find_slowly(struct sc_handles *all, uint64_t handle, char *name)
{
    struct sc_object *o;
    struct live *l;

    pthread_mutex_lock(&objects.lock);
    l = lookup(all, handle);
    o = object_of(l);
    if (l != NULL && o == NULL) {
        if (all == &objects.files) {
            o = number_file(l);
        } else {
            o = number(SC_OBJECT_WINDOW, l, name);
            name = NULL;
        }
        /* Pairs with the acquire in object_of(). */
        atomic_store_explicit(&l->object, o, memory_order_release);
    }
    pthread_mutex_unlock(&objects.lock);
    free_name(name);
    return o;
}

const struct sc_object *sc_object_of_file(MPI_File file)
{
    uint64_t handle = handle_of_file(file);
    const struct sc_object *o = object_of(lookup(&objects.files, handle));

    return o != NULL ? o : find_slowly(&objects.files, handle, NULL);
}

const struct sc_object *sc_object_of_window(MPI_Win win)
{
    uint64_t handle = handle_of_window(win);
    const struct sc_object *o = object_of(lookup(&objects.windows, handle));

    return o != NULL ? o : find_slowly(&objects.windows, handle, read_name(win));
}

const struct sc_object *sc_object_get(int32_t which)
{
    const struct sc_object *o = NULL;

    pthread_mutex_lock(&objects.lock);
    if (which >= 0 && (size_t)which < objects.count)
        o = objects.numbered[which];
    pthread_mutex_unlock(&objects.lock);
    return o;
}

int32_t sc_object_count(void)
{
    int32_t count;

    pthread_mutex_lock(&objects.lock);
    count = (int32_t)objects.count;
    pthread_mutex_unlock(&objects.lock);
    return count;
}

/* ---- life ---- */

/* Under the lock. */
static void forget(struct sc_handles *all, struct live *l)
{
    if (l == NULL)
        return;
    free(l->name);
    l->name = NULL;
    sc_handles_free(all, &l->handle);
}

/* Under the lock. One that is there already was ended by a call that the library did not see. */
static void enter(struct sc_handles *all, uint64_t handle, const struct sc_comm *group,
                  uint32_t ordinal, char *name)
{
    struct live *l;

    forget(all, lookup(all, handle));
    l = (struct live *)sc_handles_new(all);
    if (l == NULL) {
        free(name);
        return;
    }
    atomic_store_explicit(&l->object, NULL, memory_order_relaxed);
    l->group = group;
    l->ordinal = ordinal;
    l->name = name;
    sc_handles_insert(all, &l->handle, handle);
    if (lookup(all, handle) != l) /* no memory */
        forget(all, l);
}

void sc_opened_file(MPI_Comm comm, const char *name, const MPI_File *file)
{
    int saved = errno;
    const struct sc_comm *c = sc_comm_find(comm);
    char *copy = c == NULL ? NULL : strdup(name);

    if (copy != NULL) {
        pthread_mutex_lock(&objects.lock);
        enter(&objects.files, handle_of_file(*file), c, 0, copy);
        pthread_mutex_unlock(&objects.lock);
    }
    errno = saved;
}

/* Under the lock. How many windows were made on it before; without memory nobody can tell. */
static uint32_t next_ordinal(const struct sc_comm *c)
{
    size_t needed = (size_t)c->number + 1, had = objects.made_count;

    if (needed > had) {
        if (sc_array_reserve(&objects.made, &objects.made_count, needed, sizeof(uint32_t)) != SC_OK)
            return 0;
        memset(objects.made + had, 0, (objects.made_count - had) * sizeof(uint32_t));
    }
    return objects.made[c->number]++;
}

void sc_opened_window(MPI_Comm comm, const MPI_Win *win)
{
    int saved = errno;
    const struct sc_comm *c = sc_comm_find(comm);

    if (c != NULL) {
        pthread_mutex_lock(&objects.lock);
        enter(&objects.windows, handle_of_window(*win), c, next_ordinal(c), NULL);
        pthread_mutex_unlock(&objects.lock);
    }
    errno = saved;
}

static int32_t close_handle(struct sc_handles *all, uint64_t handle)
{
    struct sc_object *o;
    struct live *l;

    pthread_mutex_lock(&objects.lock);
    l = lookup(all, handle);
    o = object_of(l);
    forget(all, l);
    pthread_mutex_unlock(&objects.lock);
    return o == NULL ? -1 : o->number;
}

int32_t sc_closing_file(const MPI_File *file)
{
    return file == NULL ? -1 : close_handle(&objects.files, handle_of_file(*file));
}

int32_t sc_closing_window(const MPI_Win *win)
{
    int saved = errno;
    int32_t which = -1;

    if (win != NULL) {
        look_at_name(*win);
        which = close_handle(&objects.windows, handle_of_window(*win));
    }
    errno = saved;
    return which;
}

void sc_object_refresh(void)
{
    uint64_t *handles;
    size_t count;

    pthread_mutex_lock(&objects.lock);
    handles = sc_handles_list(&objects.windows, &count);
    pthread_mutex_unlock(&objects.lock);
    for (size_t i = 0; i < count; i++)
        look_at_name(window_of(handles[i]));
    free(handles);
}

void sc_object_close(void)
{
    pthread_mutex_lock(&objects.lock);
    sc_handles_clear(&objects.files);
    sc_handles_clear(&objects.windows);
    pthread_mutex_unlock(&objects.lock);
}
