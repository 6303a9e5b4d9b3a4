/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Order of locks: MPI's own, then `lock`. No function of MPI is called under `lock`, since the
 * callbacks on the attribute take it while MPI may hold what it likes. `meeting` is for handles
 * that are seen for the first time and is never taken in a callback.
 */
#include "comm.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "bring.h"
#include "handles.h"
#include "neighbours.h"

enum {
    TAG_UNSEEN = -1, /* stands for a tag where the call that made it was not seen */
    CHUNK = 4096,    /* numbers are given out by the chunk, so that they can be read without lock */
    CHUNKS = 8192
};

/* A live communicator. */
struct sc_entry {
    struct sc_handle handle;
    _Atomic(struct sc_comm *) comm; /* NULL until something is recorded on it */
    struct sc_comm_key key;         /* what the keys of its children begin with */
    int32_t parent;
    uint32_t children; /* constructor calls so far */
    bool is_ours;      /* the library's own, or made from it: never recorded */
};

static struct sc_handles live = {.entry_size = sizeof(struct sc_entry)};

/* A list of numbers that exists once: members, or a key that was met `times` times. */
struct list {
    struct list *next;
    uint64_t hash;
    uint32_t times;
    uint32_t length;
    int32_t at[];
};

int sc_comm_is_followed;

static struct {
    pthread_mutex_t lock, meeting;
    int keyval;
    MPI_Group world_group;
    int world_rank;
    struct sc_comm **numbered[CHUNKS]; /* of CHUNK each */
    size_t count;
    struct list **lists;
    size_t list_count, list_slots; /* slots: power of two */
} comms = {.lock = PTHREAD_MUTEX_INITIALIZER, .meeting = PTHREAD_MUTEX_INITIALIZER};

static bool is_open(void)
{
    return __atomic_load_n(&sc_comm_is_followed, __ATOMIC_ACQUIRE) != 0;
}

/* ---- keys ---- */

static uint64_t scramble(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static void key_add(struct sc_comm_key *key, int64_t number)
{
    uint64_t x = (uint64_t)number;

    key->word[0] = scramble(key->word[0] + x + UINT64_C(0x9e3779b97f4a7c15));
    key->word[1] = scramble((key->word[1] ^ x) * UINT64_C(0xd6e8feb86659fd93) + key->word[0]);
}

static struct sc_comm_key key_of(enum sc_comm_kind kind)
{
    struct sc_comm_key key = {{0, 0}};

    key_add(&key, kind);
    return key;
}

/* Under the lock. The next child's key; first: world rank that tells the children of one call
 * apart. */
static struct sc_comm_key child_key(struct sc_entry *parent, int64_t first)
{
    struct sc_comm_key key = parent->key;

    key_add(&key, parent->children++);
    key_add(&key, first);
    return key;
}

/* ---- lists ---- */

/* Under the lock. NULL: no memory. */
static struct list *find_list(const int32_t *at, uint32_t length)
{
    size_t bytes = length * sizeof *at;
    uint64_t hash = sc_hash(at, bytes);
    struct list *l;

    if (comms.list_count == comms.list_slots) {
        size_t slots = comms.list_slots == 0 ? 64 : 2 * comms.list_slots;
        struct list **grown = calloc(slots, sizeof(struct list *));
        if (grown == NULL)
            return NULL;
        for (size_t i = 0; i < comms.list_slots; i++) {
            for (struct list *next, *old = comms.lists[i]; old != NULL; old = next) {
                next = old->next;
                old->next = grown[old->hash & (slots - 1)];
                grown[old->hash & (slots - 1)] = old;
            }
        }
        free(comms.lists);
        comms.lists = grown;
        comms.list_slots = slots;
    }
    for (l = comms.lists[hash & (comms.list_slots - 1)]; l != NULL; l = l->next)
        if (l->hash == hash && l->length == length && memcmp(l->at, at, bytes) == 0)
            return l;
    l = malloc(sizeof *l + bytes);
    if (l == NULL)
        return NULL;
    l->hash = hash;
    l->times = 0;
    l->length = length;
    memcpy(l->at, at, bytes);
    l->next = comms.lists[hash & (comms.list_slots - 1)];
    comms.lists[hash & (comms.list_slots - 1)] = l;
    comms.list_count++;
    return l;
}

/* ---- entries ---- */

static uint64_t handle_of(MPI_Comm comm)
{
    uint64_t handle = 0;

    memcpy(&handle, &comm, sizeof comm);
    return handle;
}

static MPI_Comm comm_of(uint64_t handle)
{
    MPI_Comm comm;

    memcpy(&comm, &handle, sizeof comm);
    return comm;
}

static struct sc_entry *lookup(MPI_Comm comm)
{
    return (struct sc_entry *)sc_handles_find(&live, handle_of(comm));
}

/* Under the lock. NULL: no memory. */
static struct sc_entry *new_entry(const struct sc_comm_key *key, int32_t parent)
{
    struct sc_entry *e = (struct sc_entry *)sc_handles_new(&live);

    if (e == NULL)
        return NULL;
    e->key = *key;
    e->parent = parent;
    e->children = 0;
    e->is_ours = false;
    atomic_store_explicit(&e->comm, NULL, memory_order_relaxed);
    return e;
}

/* Under the lock. */
static void free_entry(struct sc_entry *e)
{
    struct sc_comm *c = atomic_load_explicit(&e->comm, memory_order_relaxed);

    if (c != NULL)
        free(__atomic_exchange_n(&c->neighbours, NULL, __ATOMIC_ACQ_REL));
    sc_handles_free(&live, &e->handle);
}

/* ---- what MPI says about one ---- */

/* World ranks of a group's first n members; NULL: no memory. To be freed. */
static int *translate(MPI_Group group, int n)
{
    int *ranks = calloc(2 * (size_t)n + 1, sizeof *ranks);
    int *members = ranks + n;

    if (ranks == NULL)
        return NULL;
    for (int i = 0; i < n; i++)
        members[i] = i;
    PMPI_Group_translate_ranks(group, n, members, comms.world_group, ranks);
    for (int i = 0; i < n; i++)
        if (ranks[i] == MPI_UNDEFINED)
            ranks[i] = -1;
    return ranks;
}

/* Sets *list to the group's world ranks, to NULL when they are 0, 1, 2... and may be left out. */
static bool keep_members(MPI_Group group, int size, bool may_leave_out, const int32_t **list)
{
    int *ranks = translate(group, size);
    struct list *kept;
    int same = 0;

    *list = NULL;
    if (ranks == NULL)
        return false;
    while (same < size && ranks[same] == same)
        same++;
    if (same == size && may_leave_out) {
        free(ranks);
        return true;
    }
    pthread_mutex_lock(&comms.lock);
    kept = find_list(ranks, (uint32_t)size);
    pthread_mutex_unlock(&comms.lock);
    free(ranks);
    if (kept == NULL)
        return false;
    *list = kept->at;
    return true;
}

static char no_name[] = "";

static void free_name(char *name)
{
    if (name != no_name)
        free(name);
}

/* A copy of its name; no_name for one that MPI made up; NULL: no memory. */
static char *read_name(MPI_Comm comm)
{
    static const char made_up[] = "MPI COMMUNICATOR "; /* Open MPI numbers them */
    char name[MPI_MAX_OBJECT_NAME + 1];
    int length = 0;

    if (PMPI_Comm_get_name(comm, name, &length) != MPI_SUCCESS || length < 0)
        length = 0;
    name[length] = '\0';
    if (strncmp(name, made_up, sizeof made_up - 1) == 0)
        name[0] = '\0';
    return name[0] == '\0' ? no_name : strdup(name);
}

static bool describe(MPI_Comm comm, struct sc_comm *c)
{
    MPI_Group group;
    int is_inter = 0;
    bool done;

    PMPI_Comm_test_inter(comm, &is_inter);
    PMPI_Comm_size(comm, &c->size);
    PMPI_Comm_rank(comm, &c->rank);
    PMPI_Comm_group(comm, &group);
    done = keep_members(group, c->size, true, &c->world_ranks);
    PMPI_Group_free(&group);
    if (done && is_inter) {
        PMPI_Comm_remote_size(comm, &c->remote_size);
        PMPI_Comm_remote_group(comm, &group);
        done = keep_members(group, c->remote_size, false, &c->remote_world_ranks);
        PMPI_Group_free(&group);
    }
    c->name = read_name(comm);
    return done && c->name != NULL;
}

/* Under the lock. False: no memory, or no number left. */
static bool number_it(struct sc_comm *c)
{
    size_t chunk = comms.count / CHUNK;

    if (chunk >= CHUNKS)
        return false;
    if (comms.numbered[chunk] == NULL)
        comms.numbered[chunk] = calloc(CHUNK, sizeof(struct sc_comm *));
    if (comms.numbered[chunk] == NULL)
        return false;
    c->number = (int32_t)comms.count;
    comms.numbered[chunk][comms.count % CHUNK] = c;
    /* Pairs with the acquire in sc_comm_get(). */
    __atomic_store_n(&comms.count, comms.count + 1, __ATOMIC_RELEASE);
    return true;
}

/* Any thread. The communicator behind an entry, made at need; NULL: no memory. */
static struct sc_comm *resolve(struct sc_entry *e, MPI_Comm comm)
{
    struct sc_comm *c = atomic_load_explicit(&e->comm, memory_order_acquire), *now;

    if (c != NULL)
        return c;
    c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    if (!describe(comm, c)) {
        free_name(c->name);
        free(c);
        return NULL;
    }
    pthread_mutex_lock(&comms.lock);
    now = atomic_load_explicit(&e->comm, memory_order_relaxed);
    if (now == NULL && number_it(c)) {
        c->key = e->key;
        c->parent = e->parent;
        /* Pairs with the acquire in sc_comm_find(). */
        atomic_store_explicit(&e->comm, c, memory_order_release);
        sc_bring_note_comm(c);
        now = c;
    }
    pthread_mutex_unlock(&comms.lock);
    if (now != c) {
        free_name(c->name);
        free(c);
    }
    return now;
}

/* ---- telling new ones apart ---- */

/* The lowest world rank in a group, INT32_MAX if all are of another world. */
static int32_t lowest(const int32_t *ranks, int32_t size)
{
    int32_t low = INT32_MAX;

    for (int32_t i = 0; i < size; i++)
        if (ranks[i] >= 0 && ranks[i] < low)
            low = ranks[i];
    return low;
}

/* World rank of member 0, of the lowest that has one if that is of another world. */
static int32_t first_member(MPI_Group group)
{
    int first = -1, size = 0;
    int *ranks = translate(group, 1);

    if (ranks != NULL)
        first = ranks[0];
    free(ranks);
    if (first >= 0)
        return first;
    PMPI_Group_size(group, &size);
    ranks = translate(group, size);
    if (ranks != NULL)
        first = lowest(ranks, size);
    free(ranks);
    return first;
}

/* A number that differs between the communicators one call makes, the same on all their members. */
static int64_t tell_apart(MPI_Comm comm)
{
    MPI_Group group;
    int64_t low, other;
    int is_inter = 0;

    PMPI_Comm_group(comm, &group);
    low = first_member(group);
    PMPI_Group_free(&group);
    PMPI_Comm_test_inter(comm, &is_inter);
    if (!is_inter)
        return low;
    PMPI_Comm_remote_group(comm, &group);
    other = first_member(group);
    PMPI_Group_free(&group);
    return low < other ? low << 32 | other : other << 32 | low;
}

static void key_add_members(struct sc_comm_key *key, const int32_t *ranks, int32_t size)
{
    key_add(key, size);
    for (int32_t i = 0; i < size; i++)
        key_add(key, ranks[i]);
}

/* From who takes part, told alike on both sides of an inter-communicator, and the how manieth such
 * it is. */
static bool meeting_key(MPI_Comm comm, const struct sc_comm_key *from, int tag,
                        struct sc_comm_key *out)
{
    struct sc_comm_key key = *from;
    MPI_Group group, remote_group = MPI_GROUP_NULL;
    int size = 0, remote_size = 0, is_inter = 0;
    int *ranks, *remote = NULL;
    int32_t words[4];
    struct list *times = NULL;

    PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &size);
    ranks = translate(group, size);
    PMPI_Group_free(&group);
    PMPI_Comm_test_inter(comm, &is_inter);
    if (is_inter) {
        PMPI_Comm_remote_group(comm, &remote_group);
        PMPI_Group_size(remote_group, &remote_size);
        remote = translate(remote_group, remote_size);
        PMPI_Group_free(&remote_group);
    }
    if (ranks != NULL && (remote != NULL || !is_inter)) {
        bool remote_first = is_inter && lowest(remote, remote_size) < lowest(ranks, size);
        key_add(&key, tag);
        if (remote_first)
            key_add_members(&key, remote, remote_size);
        key_add_members(&key, ranks, size);
        if (is_inter && !remote_first)
            key_add_members(&key, remote, remote_size);
        memcpy(words, key.word, sizeof words);
        pthread_mutex_lock(&comms.lock);
        times = find_list(words, 4);
        if (times != NULL)
            key_add(&key, times->times++);
        pthread_mutex_unlock(&comms.lock);
    }
    free(ranks);
    free(remote);
    *out = key;
    return times != NULL;
}

/* Gives a communicator an entry and the attribute that points to it; NULL: not possible. */
static struct sc_entry *enroll(MPI_Comm comm, const struct sc_comm_key *key, int32_t parent)
{
    struct sc_entry *e;

    pthread_mutex_lock(&comms.lock);
    e = new_entry(key, parent);
    pthread_mutex_unlock(&comms.lock);
    if (e == NULL)
        return NULL;
    if (PMPI_Comm_set_attr(comm, comms.keyval, e) != MPI_SUCCESS) {
        pthread_mutex_lock(&comms.lock);
        free_entry(e);
        pthread_mutex_unlock(&comms.lock);
        return NULL;
    }
    pthread_mutex_lock(&comms.lock);
    sc_handles_insert(&live, &e->handle, handle_of(comm));
    pthread_mutex_unlock(&comms.lock);
    return e;
}

/* The entry our attribute names: a duplicate carries one from birth. NULL: it has none. */
static struct sc_entry *entry_by_attribute(MPI_Comm comm)
{
    void *value = NULL;
    int found = 0;

    PMPI_Comm_get_attr(comm, comms.keyval, &value, &found);
    if (!found)
        return NULL;
    pthread_mutex_lock(&comms.lock);
    sc_handles_insert(&live, value, handle_of(comm));
    pthread_mutex_unlock(&comms.lock);
    return value;
}

/* Any thread. Of a valid handle, whoever made it. NULL: no memory. */
static struct sc_entry *entry_of(MPI_Comm comm)
{
    struct sc_entry *e = lookup(comm);
    struct sc_comm_key none = key_of(SC_COMM_MEETING), key;

    if (e != NULL)
        return e;
    pthread_mutex_lock(&comms.meeting);
    pthread_mutex_lock(&comms.lock);
    e = lookup(comm);
    pthread_mutex_unlock(&comms.lock);
    if (e == NULL)
        e = entry_by_attribute(comm);
    if (e == NULL && meeting_key(comm, &none, TAG_UNSEEN, &key))
        e = enroll(comm, &key, -1);
    pthread_mutex_unlock(&comms.meeting);
    return e;
}

/* ---- callbacks on the attribute ---- */

/* What the calling thread is making; Open MPI 4.1 copies attributes in MPI_Comm_create_group too.
 */
static __thread enum sc_comm_kind making __attribute__((tls_model("initial-exec")));

static int on_copy(MPI_Comm comm, int keyval, void *extra, void *from, void *to, int *wanted)
{
    struct sc_entry *parent = from, *e;
    struct sc_comm *c;
    struct sc_comm_key key;

    (void)keyval;
    (void)extra;
    *wanted = 0;
    if (!is_open() || (making != SC_COMM_DUP && making != SC_COMM_UNSEEN))
        return MPI_SUCCESS;
    c = parent->is_ours ? NULL : resolve(parent, comm);
    pthread_mutex_lock(&comms.lock);
    key = child_key(parent, 0);
    e = new_entry(&key, c == NULL ? -1 : c->number);
    if (e != NULL)
        e->is_ours = parent->is_ours;
    pthread_mutex_unlock(&comms.lock);
    memcpy(to, &e, sizeof e);
    *wanted = e != NULL;
    return MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    (void)comm;
    (void)keyval;
    (void)extra;
    pthread_mutex_lock(&comms.lock);
    free_entry(value);
    pthread_mutex_unlock(&comms.lock);
    return MPI_SUCCESS;
}

/* ---- life ---- */

int sc_comm_open(void)
{
    struct sc_comm_key key;
    struct sc_entry *all, *self;

    if (is_open())
        return SC_OK;
    if (PMPI_Comm_create_keyval(on_copy, on_delete, &comms.keyval, NULL) != MPI_SUCCESS)
        return sc_fail(SC_EMPI, "MPI has no attribute key left for the profiler");
    PMPI_Comm_group(MPI_COMM_WORLD, &comms.world_group);
    PMPI_Comm_rank(MPI_COMM_WORLD, &comms.world_rank);
    key = key_of(SC_COMM_WORLD);
    all = enroll(MPI_COMM_WORLD, &key, -1);
    key = key_of(SC_COMM_SELF);
    self = enroll(MPI_COMM_SELF, &key, -1);
    if (all == NULL || self == NULL || resolve(all, MPI_COMM_WORLD) == NULL ||
        resolve(self, MPI_COMM_SELF) == NULL)
        return sc_fail(SC_ENOMEM, "no memory to follow communicators");
    /* It is one communicator to the reader, but what is made from it is not. */
    key_add(&self->key, comms.world_rank);
    __atomic_store_n(&sc_comm_is_followed, 1, __ATOMIC_RELEASE);
    return SC_OK;
}

void sc_comm_close(void)
{
    if (!__atomic_exchange_n(&sc_comm_is_followed, 0, __ATOMIC_ACQ_REL))
        return;
    pthread_mutex_lock(&comms.lock);
    sc_handles_clear(&live);
    pthread_mutex_unlock(&comms.lock);
    PMPI_Group_free(&comms.world_group);
    PMPI_Comm_free_keyval(&comms.keyval);
}

void sc_comm_hide(MPI_Comm comm)
{
    struct sc_comm_key key = key_of(SC_COMM_UNSEEN);
    struct sc_entry *e;

    if (!is_open() || lookup(comm) != NULL)
        return;
    e = enroll(comm, &key, -1);
    if (e != NULL)
        e->is_ours = true;
}

/* ---- finding ---- */

static const struct sc_comm *find_slowly(MPI_Comm comm)
{
    struct sc_entry *e;

    if (comm == MPI_COMM_NULL || !is_open())
        return NULL;
    e = entry_of(comm);
    return e == NULL || e->is_ours ? NULL : resolve(e, comm);
}

const struct sc_comm *sc_comm_find(MPI_Comm comm)
{
    struct sc_entry *e = lookup(comm);
    struct sc_comm *c = e == NULL ? NULL : atomic_load_explicit(&e->comm, memory_order_acquire);

    return c != NULL ? c : find_slowly(comm);
}

int32_t sc_comm_number(MPI_Comm comm)
{
    const struct sc_comm *c = sc_comm_find(comm);

    return c == NULL ? -1 : c->number;
}

static struct sc_comm *known(MPI_Comm comm)
{
    struct sc_entry *e = lookup(comm);

    return e == NULL ? NULL : atomic_load_explicit(&e->comm, memory_order_acquire);
}

int32_t sc_comm_known(MPI_Comm comm)
{
    const struct sc_comm *c = known(comm);

    return c == NULL ? -1 : c->number;
}

const struct sc_comm *sc_comm_get(int32_t number)
{
    if (number < 0 || (size_t)number >= __atomic_load_n(&comms.count, __ATOMIC_ACQUIRE))
        return NULL;
    return comms.numbered[(size_t)number / CHUNK][(size_t)number % CHUNK];
}

int32_t sc_comm_count(void)
{
    return (int32_t)__atomic_load_n(&comms.count, __ATOMIC_ACQUIRE);
}

/* ---- new communicators ---- */

/* A constructor that failed here may have succeeded elsewhere: it counts all the same. */
static void count_failure(MPI_Comm parent)
{
    struct sc_entry *e = lookup(parent);

    if (e == NULL)
        return;
    pthread_mutex_lock(&comms.lock);
    e->children++;
    pthread_mutex_unlock(&comms.lock);
}

static void enroll_child(MPI_Comm parent, MPI_Comm comm, bool is_duplicate)
{
    struct sc_entry *from = entry_of(parent), *e;
    struct sc_comm *c = NULL;
    int64_t first = 0;
    struct sc_comm_key key;

    if (from == NULL || (!from->is_ours && (c = resolve(from, parent)) == NULL))
        return;
    if (is_duplicate && (comm == MPI_COMM_NULL || entry_by_attribute(comm) != NULL))
        return;
    if (comm != MPI_COMM_NULL && !is_duplicate)
        first = tell_apart(comm);
    pthread_mutex_lock(&comms.lock);
    key = child_key(from, first);
    pthread_mutex_unlock(&comms.lock);
    if (comm == MPI_COMM_NULL)
        return;
    e = enroll(comm, &key, c == NULL ? -1 : c->number);
    if (e != NULL)
        e->is_ours = from->is_ours;
}

static void enroll_meeting(MPI_Comm parent, MPI_Comm comm, int tag)
{
    struct sc_comm_key key = key_of(SC_COMM_MEETING);
    struct sc_comm *c = NULL;
    struct sc_entry *from;

    if (parent != MPI_COMM_NULL) {
        from = entry_of(parent);
        c = from == NULL ? NULL : resolve(from, parent);
        if (c == NULL)
            return;
        key = from->key;
    }
    if (comm != MPI_COMM_NULL && meeting_key(comm, &key, tag, &key))
        (void)enroll(comm, &key, c == NULL ? -1 : c->number);
}

void sc_comm_making(enum sc_comm_kind kind)
{
    making = kind;
}

void sc_comm_made(int rc, enum sc_comm_kind kind, MPI_Comm parent, const MPI_Comm *comm, int tag)
{
    int saved = errno;

    making = SC_COMM_UNSEEN;
    if (!is_open())
        return;
    if (rc == MPI_SUCCESS && kind == SC_COMM_MEETING)
        enroll_meeting(parent, *comm, tag);
    else if (rc == MPI_SUCCESS)
        enroll_child(parent, comm == NULL ? MPI_COMM_NULL : *comm, kind == SC_COMM_DUP);
    else if (kind == SC_COMM_CHILD)
        count_failure(parent);
    errno = saved;
}

/* ---- names ---- */

void sc_comm_renamed(MPI_Comm comm)
{
    struct sc_comm *c = known(comm);
    char *name = c == NULL ? NULL : read_name(comm);

    if (name == NULL)
        return;
    pthread_mutex_lock(&comms.lock);
    if (strcmp(name, c->name) != 0) {
        char *old = c->name;
        c->name = name;
        name = old;
        sc_bring_note_comm(c);
    }
    pthread_mutex_unlock(&comms.lock);
    free_name(name);
}

void sc_comm_refresh(void)
{
    uint64_t *handles;
    size_t count;

    pthread_mutex_lock(&comms.lock);
    handles = sc_handles_list(&live, &count);
    pthread_mutex_unlock(&comms.lock);
    for (size_t i = 0; i < count; i++)
        sc_comm_renamed(comm_of(handles[i]));
    free(handles);
}

/* ---- neighbours ---- */

const struct sc_neighbours *sc_comm_neighbours(MPI_Comm comm)
{
    struct sc_comm *c = known(comm);
    struct sc_neighbours *n, *expected = NULL;

    if (c == NULL)
        return NULL;
    n = __atomic_load_n(&c->neighbours, __ATOMIC_ACQUIRE);
    if (n != NULL)
        return n;
    n = sc_neighbours_create(comm, c->rank);
    if (n == NULL || __atomic_compare_exchange_n(&c->neighbours, &expected, n, false,
                                                 __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return n;
    free(n);
    return expected;
}
