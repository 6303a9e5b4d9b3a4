/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Addresses that were asked for are found without a lock in one table of the process. Every other
 * address costs a walk over the loaded objects, about a microsecond, and the lock.
 *
 * While a dlclose() is under way the table is set aside, and emptied when objects have gone, so
 * that a hit needs no check: no thread can run an object at an address of an earlier one and still
 * find what was known of that. A dlclose() that is bound past the one below (RTLD_DEEPBIND, a
 * libscope that was itself opened) is noticed at the next miss.
 */
#include "site.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "image.h"

enum {
    FIRST_BITS = 9, /* the first table has room for 256 addresses, 8 KiB */
    LAST_BITS = 21,
    SITES_MAX = 1 << 20,
    SITE_CHUNK = 1 << 12,
    BUILD_ID_MAX = 64,
};

/* The address of a slot is stored once and stays. */
struct slot {
    const void *address; /* NULL: free */
    int32_t number;      /* of the site, plus 1; 0: not known, or no longer */
};

/* Open addressing, at most half full. */
struct cache {
    struct slot *slots;
    unsigned shift; /* 64 - its bits */
    size_t used;
    const struct cache *smaller; /* the one before, kept: a thread may still be reading it */
};

struct module {
    struct sc_module facts;
    char *name; /* the loader's */
    char *path, *build_id;
};

static struct slot no_slots[2];
static struct cache nothing = {.slots = no_slots, .shift = 63};
static struct cache *current = &nothing; /* what the hot path looks into; stored with release */

static struct {
    pthread_rwlock_t walk; /* for reading: the loader's list is being walked */
    pthread_mutex_t lock;
    pthread_once_t once;
    struct cache *known;           /* as current, but for the time of a dlclose() */
    unsigned closing;              /* calls of dlclose() under way */
    unsigned long long adds, subs; /* the loader's counts, as last seen */
    struct sc_site *chunk[SITES_MAX / SITE_CHUNK];
    int32_t count;
    int32_t *index; /* open addressing: site + 1, 0 free */
    size_t index_size;
    struct module **modules;
    size_t module_capacity;
    int32_t module_count;
} sites = {.walk = PTHREAD_RWLOCK_INITIALIZER,
           .lock = PTHREAD_MUTEX_INITIALIZER,
           .once = PTHREAD_ONCE_INIT,
           .known = &nothing};

/* A fork() finds the table whole, and the loader's own lock not held by a walk of ours, which would
 * be for ever in the child. */
static void before_fork(void)
{
    pthread_rwlock_wrlock(&sites.walk);
    pthread_mutex_lock(&sites.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&sites.lock);
    pthread_rwlock_unlock(&sites.walk);
}

static void after_fork_in_child(void)
{
    pthread_mutex_unlock(&sites.lock);
    pthread_rwlock_init(&sites.walk, NULL); /* its owner has another number here */
}

static void watch_fork(void)
{
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* ---- addresses ---- */

/* The slot that holds the address, or the free one where it belongs. */
static inline struct slot *find_slot(const struct cache *c, const void *address)
{
    uint64_t i = (uint64_t)(uintptr_t)address * 0x9E3779B97F4A7C15u >> c->shift;

    for (;;) {
        const void *found = __atomic_load_n(&c->slots[i].address, __ATOMIC_ACQUIRE);

        if (__builtin_expect(found == address, 1) || found == NULL)
            return &c->slots[i];
        i = (i + 1) & (UINT64_MAX >> c->shift);
    }
}

static void fill_slot(struct cache *c, const void *address, int32_t number)
{
    struct slot *s = find_slot(c, address);

    __atomic_store_n(&s->number, number, __ATOMIC_RELAXED);
    if (s->address == NULL) {
        c->used++;
        /* Pairs with the acquire in find_slot(): the number is there. */
        __atomic_store_n(&s->address, address, __ATOMIC_RELEASE);
    }
}

/* Under the lock. A table of twice the size without the addresses that mean nothing any more. */
static bool grow_cache(void)
{
    const struct cache *old = sites.known;
    const unsigned bits = old == &nothing ? FIRST_BITS : 64 - old->shift + 1;
    struct cache *c = bits > LAST_BITS ? NULL : calloc(1, sizeof *c);

    if (c != NULL)
        c->slots = calloc((size_t)1 << bits, sizeof *c->slots);
    if (c == NULL || c->slots == NULL) {
        free(c);
        return false;
    }
    c->shift = 64 - bits;
    c->smaller = old;
    for (size_t i = 0; i <= UINT64_MAX >> old->shift; i++)
        if (old->slots[i].number != 0)
            fill_slot(c, old->slots[i].address, old->slots[i].number);
    sites.known = c;
    if (sites.closing == 0)
        __atomic_store_n(&current, c, __ATOMIC_RELEASE);
    return true;
}

/* Under the lock. What cannot be kept is looked up again and again. */
static void remember(const void *address, int32_t site)
{
    if (2 * (sites.known->used + 1) <= UINT64_MAX >> sites.known->shift || grow_cache())
        fill_slot(sites.known, address, site + 1);
}

/* Under the lock. */
static const struct sc_site *site_at(int32_t site)
{
    return &sites.chunk[site / SITE_CHUNK][site % SITE_CHUNK];
}

/* Under the lock. Code made at run time may have made room for an object that was loaded since;
 * that is as good as it gets, since nobody tells when such code goes. */
static void forget(bool all)
{
    struct cache *c = sites.known;

    for (size_t i = 0; i <= UINT64_MAX >> c->shift; i++)
        if (c->slots[i].number != 0 && (all || site_at(c->slots[i].number - 1)->module < 0))
            __atomic_store_n(&c->slots[i].number, 0, __ATOMIC_RELAXED);
}

/* Under the lock. */
static void notice(unsigned long long adds, unsigned long long subs)
{
    if (subs > sites.subs)
        forget(true);
    else if (adds > sites.adds)
        forget(false);
    if (subs > sites.subs)
        sites.subs = subs;
    if (adds > sites.adds)
        sites.adds = adds;
}

/* ---- loaded objects ---- */

/* The object that holds an address. */
struct object {
    uintptr_t address; /* looked for */
    bool found;
    uintptr_t bias;
    const char *name; /* the loader's, "" for the program; lent while it stays loaded */
    char build_id[2 * BUILD_ID_MAX + 1];
    unsigned long long adds, subs;
};

static void print_build_id(const unsigned char *bytes, size_t length, char *out)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < length; i++) {
        *out++ = digits[bytes[i] >> 4];
        *out++ = digits[bytes[i] & 15];
    }
    *out = '\0';
}

/* Notes: three words (size of name, size of data, type), name, data, both padded. */
static bool read_notes(const unsigned char *at, size_t left, size_t align, char *build_id)
{
    ElfW(Nhdr) head;

    while (left >= sizeof head) {
        size_t data, end;

        memcpy(&head, at, sizeof head);
        if (head.n_namesz > left || head.n_descsz > left)
            return false;
        data = (sizeof head + head.n_namesz + align - 1) & ~(align - 1);
        end = data + head.n_descsz;
        if (end > left)
            return false;
        if (head.n_type == NT_GNU_BUILD_ID && head.n_namesz == sizeof ELF_NOTE_GNU &&
            memcmp(at + sizeof head, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) == 0 &&
            head.n_descsz <= BUILD_ID_MAX) {
            print_build_id(at + data, head.n_descsz, build_id);
            return true;
        }
        end = (end + align - 1) & ~(align - 1);
        if (end > left)
            return false;
        at += end;
        left -= end;
    }
    return false;
}

static bool is_inside(uintptr_t address, size_t length, uintptr_t start, size_t room)
{
    return address >= start && address - start <= room && length <= room - (address - start);
}

/* Whether a segment lies in what was loaded from the file, readable. */
static bool is_loaded(const struct dl_phdr_info *info, const ElfW(Phdr) * segment)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_LOAD && (p->p_flags & PF_R) != 0 &&
            is_inside(segment->p_vaddr, segment->p_memsz, p->p_vaddr, p->p_filesz))
            return true;
    }
    return false;
}

static void read_build_id(const struct dl_phdr_info *info, char *build_id)
{
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        if (p->p_type == PT_NOTE && is_loaded(info, p) &&
            read_notes((const unsigned char *)(info->dlpi_addr + p->p_vaddr), p->p_memsz,
                       p->p_align == 8 ? 8 : 4, build_id))
            return;
    }
}

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
    struct object *o = context;

    (void)size;
    o->adds = info->dlpi_adds;
    o->subs = info->dlpi_subs;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];

        /* The call itself, one byte before: behind the last one of an object there may be another.
         */
        if (p->p_type == PT_LOAD &&
            is_inside(o->address - 1, 1, info->dlpi_addr + p->p_vaddr, p->p_memsz)) {
            o->found = true;
            o->bias = info->dlpi_addr;
            o->name = info->dlpi_name;
            read_build_id(info, o->build_id);
            return 1;
        }
    }
    return 0;
}

/* Not under the lock: a program's own walk may call back, and so come here, under the loader's. */
static void walk(int (*visit)(struct dl_phdr_info *info, size_t size, void *context),
                 struct object *o)
{
    pthread_once(&sites.once, watch_fork);
    pthread_rwlock_rdlock(&sites.walk);
    dl_iterate_phdr(visit, o);
    pthread_rwlock_unlock(&sites.walk);
}

/* ---- modules and sites ---- */

/* A file that was replaced while it is in use is found under its name. */
static void strip_deleted(char *path)
{
    static const char mark[] = " (deleted)";
    const size_t length = strlen(path), tail = sizeof mark - 1;

    if (length > tail && strcmp(path + length - tail, mark) == 0 && access(path, F_OK) != 0)
        path[length - tail] = '\0';
}

/* The absolute path of the file that is mapped there, as the kernel knows it; NULL: none. */
static char *mapped_file(uintptr_t address)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[PATH_MAX + 128]; /* start-end permissions offset device inode path */
    uintmax_t start, end;
    char *path = NULL;

    if (maps == NULL)
        return NULL;
    while (path == NULL && fgets(line, sizeof line, maps) != NULL)
        if (sscanf(line, "%jx-%jx", &start, &end) == 2 && address >= start && address < end)
            path = strchr(line, '/');
    fclose(maps);
    if (path == NULL)
        return NULL;
    path[strcspn(path, "\n")] = '\0';
    strip_deleted(path);
    return strdup(path);
}

/* The loader knows no name of the program, and some names only from the folder of the time. */
static char *path_of(const struct object *o)
{
    char *path = o->name[0] != '/' ? mapped_file(o->address - 1) : NULL;

    if (path == NULL && o->name[0] == '\0')
        path = realpath("/proc/self/exe", NULL);
    return path != NULL ? path : strdup(o->name);
}

/* Under the lock. -1: none. */
static int32_t find_module(const char *name, const char *path, const char *build_id)
{
    for (int32_t i = 0; i < sites.module_count; i++) {
        const struct module *m = sites.modules[i];

        if (strcmp(m->facts.build_id, build_id) == 0 &&
            (strcmp(m->name, name) == 0 || (path != NULL && strcmp(m->facts.path, path) == 0)))
            return i;
    }
    return -1;
}

static void free_module(struct module *m)
{
    if (m == NULL)
        return;
    free(m->name);
    free(m->path);
    free(m->build_id);
    free(m);
}

/* NULL: no memory. */
static struct module *make_module(const struct object *o)
{
    struct module *m = calloc(1, sizeof *m);

    if (m == NULL)
        return NULL;
    m->name = strdup(o->name);
    m->path = path_of(o);
    m->build_id = strdup(o->build_id);
    m->facts = (struct sc_module){m->path, m->build_id};
    if (m->name != NULL && m->path != NULL && m->build_id != NULL)
        return m;
    free_module(m);
    return NULL;
}

/* Under the lock. */
static void note_module(int32_t number)
{
    const struct module *m = sites.modules[number];
    struct sc_string s = {0};

    if (sc_string_append(&s, m->path, strlen(m->path) + 1) == 0 &&
        sc_string_append(&s, m->build_id, strlen(m->build_id) + 1) == 0)
        sc_image_note(SC_NOTE_MODULE, (uint32_t)number, s.data, s.length);
    sc_string_free(&s);
}

/* Under the lock. */
static void note_site(int32_t number)
{
    sc_image_note(SC_NOTE_SITE, (uint32_t)number, site_at(number), sizeof(struct sc_site));
}

/* Under the lock. -1: no memory. */
static int32_t number_module(const struct object *o)
{
    int32_t number = find_module(o->name, NULL, o->build_id);
    struct module *m = number < 0 ? make_module(o) : NULL;

    if (m == NULL)
        return number;
    number = find_module(o->name, m->path, o->build_id);
    if (number >= 0 ||
        sc_array_reserve(&sites.modules, &sites.module_capacity, (size_t)sites.module_count + 1,
                         sizeof(struct module *)) != 0) {
        free_module(m);
        return number;
    }
    sites.modules[sites.module_count] = m;
    note_module(sites.module_count);
    return sites.module_count++;
}

/* Under the lock. The entry of the index that holds the site, or the free one where it belongs. */
static int32_t *find_index(const struct sc_site *site)
{
    uint64_t key[2] = {(uint64_t)(int64_t)site->module, site->offset};
    size_t i = sc_hash(key, sizeof key) & (sites.index_size - 1);

    while (sites.index[i] != 0) {
        const struct sc_site *found = site_at(sites.index[i] - 1);

        if (found->module == site->module && found->offset == site->offset)
            break;
        i = (i + 1) & (sites.index_size - 1);
    }
    return &sites.index[i];
}

/* Under the lock. Room for one more site; false: no memory, or enough of them. */
static bool reserve_site(void)
{
    size_t count = (size_t)sites.count;
    struct sc_site **chunk = &sites.chunk[count / SITE_CHUNK];

    if (*chunk == NULL)
        *chunk = calloc(SITE_CHUNK, sizeof **chunk);
    if (*chunk == NULL)
        return false;
    if (2 * (count + 1) > sites.index_size) {
        size_t size = sites.index_size == 0 ? 1024 : 2 * sites.index_size;
        int32_t *index = calloc(size, sizeof *index);

        if (index == NULL)
            return false;
        free(sites.index);
        sites.index = index;
        sites.index_size = size;
        for (int32_t i = 0; i < sites.count; i++)
            *find_index(site_at(i)) = i + 1;
    }
    return true;
}

/* Under the lock. -1: no memory, or enough of them. */
static int32_t number_site(const struct sc_site *site)
{
    int32_t *entry = sites.index_size > 0 ? find_index(site) : NULL;

    if (entry != NULL && *entry != 0)
        return *entry - 1;
    if (sites.count == SITES_MAX || !reserve_site())
        return -1;
    sites.chunk[sites.count / SITE_CHUNK][sites.count % SITE_CHUNK] = *site;
    *find_index(site) = sites.count + 1;
    note_site(sites.count);
    return sites.count++;
}

/* Apart, so that a hit saves no registers for it. */
__attribute__((noinline, cold)) static int32_t look_up(const void *address)
{
    const int saved = errno;
    struct object o = {.address = (uintptr_t)address};
    struct sc_site site = {-1, (uintptr_t)address};
    int32_t number = -1;

    if (address == NULL)
        return -1;
    walk(visit_object, &o);
    pthread_mutex_lock(&sites.lock);
    notice(o.adds, o.subs);
    if (o.found) {
        site.module = number_module(&o);
        site.offset = o.address - o.bias;
    }
    if (!o.found || site.module >= 0)
        number = number_site(&site);
    if (number >= 0)
        remember(address, number);
    pthread_mutex_unlock(&sites.lock);
    errno = saved;
    return number;
}

int32_t sc_site_of(const void *address)
{
    const struct cache *c = __atomic_load_n(&current, __ATOMIC_ACQUIRE);
    const int32_t number = __atomic_load_n(&find_slot(c, address)->number, __ATOMIC_RELAXED);

    return __builtin_expect(number > 0, 1) ? number - 1 : look_up(address);
}

/* ---- what numbers mean ---- */

void sc_site_note_all(void)
{
    pthread_mutex_lock(&sites.lock);
    for (int32_t i = 0; i < sites.module_count; i++)
        note_module(i);
    for (int32_t i = 0; i < sites.count; i++)
        note_site(i);
    pthread_mutex_unlock(&sites.lock);
}

int32_t sc_site_count(void)
{
    int32_t count;

    pthread_mutex_lock(&sites.lock);
    count = sites.count;
    pthread_mutex_unlock(&sites.lock);
    return count;
}

const struct sc_site *sc_site_get(int32_t site)
{
    const struct sc_site *got;

    pthread_mutex_lock(&sites.lock);
    got = site_at(site);
    pthread_mutex_unlock(&sites.lock);
    return got;
}

int32_t sc_module_count(void)
{
    int32_t count;

    pthread_mutex_lock(&sites.lock);
    count = sites.module_count;
    pthread_mutex_unlock(&sites.lock);
    return count;
}

const struct sc_module *sc_module_get(int32_t module)
{
    const struct sc_module *got;

    pthread_mutex_lock(&sites.lock);
    got = &sites.modules[module]->facts;
    pthread_mutex_unlock(&sites.lock);
    return got;
}

/* ---- dlclose ---- */

static int visit_first(struct dl_phdr_info *info, size_t size, void *context)
{
    struct object *o = context;

    (void)size;
    o->adds = info->dlpi_adds;
    o->subs = info->dlpi_subs;
    return 1;
}

/* The program's dlclose(), unless it is bound past this one. */
__attribute__((visibility("default"))) int dlclose(void *handle)
{
    int (*next)(void *handle) = NULL;
    void *address = dlsym(RTLD_NEXT, "dlclose");
    struct object o = {0};
    int saved = errno, rc;

    memcpy(&next, &address, sizeof next);
    pthread_once(&sites.once, watch_fork);
    pthread_mutex_lock(&sites.lock);
    sites.closing++;
    __atomic_store_n(&current, &nothing, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&sites.lock);
    errno = saved;
    rc = next != NULL ? next(handle) : -1;
    saved = errno;
    walk(visit_first, &o);
    pthread_mutex_lock(&sites.lock);
    notice(o.adds, o.subs);
    if (--sites.closing == 0)
        __atomic_store_n(&current, sites.known, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&sites.lock);
    errno = saved;
    return rc;
}
