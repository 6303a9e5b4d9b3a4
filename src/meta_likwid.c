/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * meta_likwid: topology facts from LIKWID's library, opened for the moment of the question.
 *
 * While liblikwid looks around it may start a shell to find its daemon, print, set environment
 * variables, and end the process with exit(). None of that may happen inside somebody's program,
 * and setenv() is no way to talk it out of it while other threads may read the environment. So the
 * calls out of this one library are taken over before the first of its functions runs: its table of
 * imported functions (it is ours alone, a library the program has loaded itself is left alone) gets
 * replacements that do nothing, and an exit() that comes back here.
 */
#include "meta.h"

#include <dlfcn.h>
#include <elf.h>
#include <errno.h>
#include <hwloc.h>
#include <inttypes.h>
#include <likwid.h>
#include <link.h>
#include <sched.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef LIKWID_SONAME
#define LIKWID_SONAME "liblikwid.so.5"
#endif

/* ---- the replacements ---- */

static jmp_buf way_out;

static _Noreturn void leave(void)
{
    longjmp(way_out, 1);
}

/* LIKWID's own switches: a missing access daemon is no reason to exit, and the facts wanted are
 * those of the machine, not of the CPUs this rank is bound to. */
static char *answer(const char *name)
{
    static char yes[] = "1";
    if (strcmp(name, "LIKWID_NO_ACCESS") == 0 || strcmp(name, "LIKWID_IGNORE_CPUSET") == 0)
        return yes;
    return getenv(name);
}

static int ignore(void)
{
    return 0;
}

static int refuse(void)
{
    errno = EPERM;
    return -1;
}

static void *refuse_stream(void)
{
    errno = EPERM;
    return NULL;
}

/* hwloc as LIKWID knows it; what it imports is there, the second came with hwloc 2.1. */
static int (*hwloc_load)(struct hwloc_topology *topology);
static int (*hwloc_set)(struct hwloc_topology *topology, unsigned long flags, const char *name);

static int load_quietly(struct hwloc_topology *topology)
{
    const char *const *name = sc_meta_unwanted_components;
    for (; hwloc_set != NULL && *name != NULL; name++)
        hwloc_set(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, *name);
    return hwloc_load(topology);
}

typedef void (*function)(void);

/* A function that ignores its arguments may stand in for any other in the calling conventions of
 * Linux's 64-bit machines. */
static const struct {
    const char *name;
    function with;
} replacements[] = {
    {"exit", leave},
    {"_exit", leave},
    {"abort", leave},
    {"__assert_fail", leave},
    {"getenv", (function)answer},
    {"setenv", (function)ignore},
    {"unsetenv", (function)ignore},
    {"putenv", (function)ignore},
    {"fork", (function)refuse},
    {"vfork", (function)refuse},
    {"system", (function)refuse},
    {"popen", (function)refuse_stream},
    {"signal", (function)refuse_stream},
    {"sigaction", (function)refuse},
    {"printf", (function)ignore},
    {"__printf_chk", (function)ignore},
    {"fprintf", (function)ignore},
    {"__fprintf_chk", (function)ignore},
    {"vfprintf", (function)ignore},
    {"__vfprintf_chk", (function)ignore},
    {"puts", (function)ignore},
    {"putchar", (function)ignore},
    {"fputs", (function)ignore},
    {"fputc", (function)ignore},
    {"fwrite", (function)ignore},
    {"perror", (function)ignore},
    {"hwloc_topology_load", (function)load_quietly},
};

static uintptr_t replacement(const char *name)
{
    for (size_t i = 0; i < sizeof replacements / sizeof *replacements; i++)
        if (strcmp(replacements[i].name, name) == 0)
            return (uintptr_t)replacements[i].with;
    return 0;
}

/* ---- taking over a library's imports ---- */

/* Where the dynamic section says its tables are; the loader has made some of the addresses
 * absolute. */
static uintptr_t table_at(const struct link_map *map, ElfW(Addr) address)
{
    return address < map->l_addr ? map->l_addr + address : address;
}

static int take_over_slot(uintptr_t slot, uintptr_t with)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    void *start = (void *)(slot & ~(page - 1)); /* slots are aligned: never across pages */
    if (mprotect(start, page, PROT_READ | PROT_WRITE) != 0)
        return -1;
    memcpy((void *)slot, &with, sizeof with);
    return 0;
}

static int take_over_table(const struct link_map *map, const ElfW(Rela) * entries, size_t bytes,
                           const ElfW(Sym) * symbols, const char *names)
{
    for (size_t i = 0; i < bytes / sizeof *entries; i++) {
        size_t symbol = (size_t)(entries[i].r_info >> (sizeof(void *) == 8 ? 32 : 8));
        uintptr_t with = symbol != 0 ? replacement(names + symbols[symbol].st_name) : 0;
        if (with != 0 && take_over_slot(map->l_addr + entries[i].r_offset, with) != 0)
            return -1;
    }
    return 0;
}

/* 0, or -1 when the library is built in a way that this does not understand. */
static int take_over(void *library)
{
    struct link_map *map;
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0)
        return -1;
    uintptr_t symbols = 0, names = 0, calls = 0, others = 0;
    size_t calls_size = 0, others_size = 0;
    bool known = true;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        switch (d->d_tag) {
        case DT_SYMTAB:
            symbols = table_at(map, d->d_un.d_ptr);
            break;
        case DT_STRTAB:
            names = table_at(map, d->d_un.d_ptr);
            break;
        case DT_JMPREL:
            calls = table_at(map, d->d_un.d_ptr);
            break;
        case DT_PLTRELSZ:
            calls_size = d->d_un.d_val;
            break;
        case DT_PLTREL:
            known &= d->d_un.d_val == DT_RELA;
            break;
        case DT_RELA:
            others = table_at(map, d->d_un.d_ptr);
            break;
        case DT_RELASZ:
            others_size = d->d_un.d_val;
            break;
        case DT_REL:
            known = false;
            break;
        default:
            break;
        }
    }
    if (!known || symbols == 0 || names == 0)
        return -1;
    const ElfW(Sym) *symbol = (const void *)symbols;
    const char *name = (const void *)names;
    if (calls != 0 && take_over_table(map, (const void *)calls, calls_size, symbol, name) != 0)
        return -1;
    if (others != 0 && take_over_table(map, (const void *)others, others_size, symbol, name) != 0)
        return -1;
    return 0;
}

/* ---- LIKWID's answers ---- */

struct likwid {
    void *library;
    int (*topology_init)(void);
    CpuInfo_t (*get_info)(void);
    CpuTopology_t (*get_topology)(void);
    void (*topology_finalize)(void);
    int (*numa_init)(void);
    NumaTopology_t (*get_numa)(void);
    void (*numa_finalize)(void);
    int (*destroy_configuration)(void);
};

static bool find(void *library, const char *name, void *pointer)
{
    void *address = dlsym(library, name);
    memcpy(pointer, &address, sizeof address);
    return address != NULL;
}

static int open_likwid(struct likwid *l)
{
    void *present = dlopen(LIKWID_SONAME, RTLD_LAZY | RTLD_NOLOAD);
    if (present != NULL) {
        dlclose(present);
        return sc_fail(SC_EUNAVAIL, "LIKWID: in use by the program itself");
    }
    l->library = dlopen(LIKWID_SONAME, RTLD_NOW | RTLD_LOCAL);
    if (l->library == NULL)
        return sc_fail(SC_EUNAVAIL, "LIKWID: %s cannot be loaded", LIKWID_SONAME);
    find(l->library, "hwloc_topology_load", &hwloc_load);
    find(l->library, "hwloc_topology_set_components", &hwloc_set);
    if (take_over(l->library) != 0)
        return sc_fail(SC_EUNAVAIL, "LIKWID: %s cannot be kept from exit()", LIKWID_SONAME);
    void *library = l->library;
    if (!find(library, "topology_init", &l->topology_init) ||
        !find(library, "get_cpuInfo", &l->get_info) ||
        !find(library, "get_cpuTopology", &l->get_topology) ||
        !find(library, "topology_finalize", &l->topology_finalize) ||
        !find(library, "numa_init", &l->numa_init) ||
        !find(library, "get_numaTopology", &l->get_numa) ||
        !find(library, "numa_finalize", &l->numa_finalize) ||
        !find(library, "destroy_configuration", &l->destroy_configuration))
        return sc_fail(SC_EUNAVAIL, "LIKWID: %s lacks a function", LIKWID_SONAME);
    return 0;
}

/* Adds "key":, with a comma unless it is the first of its object. */
static int add_key(struct sc_string *json, const char *key)
{
    bool first = json->length > 0 && json->data[json->length - 1] == '{';
    return sc_string_print(json, "%s\"%s\":", first ? "" : ",", key);
}

static int add_text(struct sc_string *json, const char *key, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return 0;
    int rc = add_key(json, key);
    return rc == 0 ? sc_string_json(json, value, strlen(value)) : rc;
}

/* A count of nothing means that LIKWID could not tell. */
static int add_count(struct sc_string *json, const char *key, uint32_t value)
{
    if (value == 0)
        return 0;
    int rc = add_key(json, key);
    return rc == 0 ? sc_string_print(json, "%" PRIu32, value) : rc;
}

static int add_cpu(struct sc_string *json, const CpuInfo *info, const CpuTopology *topology)
{
    const bool known = info->family != 0;
    int rc = add_text(json, "cpu_name", info->name);
    if (rc == 0)
        rc = add_text(json, "cpu_short_name", info->short_name);
    if (rc == 0)
        rc = add_count(json, "family", info->family);
    if (rc == 0 && known && (rc = add_key(json, "model")) == 0)
        rc = sc_string_print(json, "%" PRIu32, info->model);
    if (rc == 0 && known && (rc = add_key(json, "stepping")) == 0)
        rc = sc_string_print(json, "%" PRIu32, info->stepping);
    if (rc == 0)
        rc = add_count(json, "sockets", topology->numSockets);
    if (rc == 0)
        rc = add_count(json, "cores_per_socket", topology->numCoresPerSocket);
    if (rc == 0)
        rc = add_count(json, "threads_per_core", topology->numThreadsPerCore);
    if (rc == 0)
        rc = add_count(json, "hw_threads", topology->numHWThreads);
    return rc;
}

static int add_caches(struct sc_string *json, const CpuTopology *topology)
{
    static const char *const types[] = {
        [DATACACHE] = "data", [INSTRUCTIONCACHE] = "instruction", [UNIFIEDCACHE] = "unified"};
    if (topology->cacheLevels == NULL || topology->numCacheLevels == 0)
        return 0;
    int rc = add_key(json, "caches");
    for (uint32_t i = 0; rc == 0 && i < topology->numCacheLevels; i++) {
        const CacheLevel *cache = &topology->cacheLevels[i];
        size_t type = (size_t)cache->type;
        rc = sc_string_print(json, "%s{", i == 0 ? "[" : ",");
        if (rc == 0)
            rc = add_count(json, "level", cache->level);
        if (rc == 0)
            rc = add_text(json, "type", type < sizeof types / sizeof *types ? types[type] : NULL);
        if (rc == 0)
            rc = add_count(json, "size", cache->size);
        if (rc == 0)
            rc = add_count(json, "shared_by", cache->threads);
        if (rc == 0)
            rc = sc_string_append(json, "}", 1);
    }
    return rc == 0 ? sc_string_append(json, "]", 1) : rc;
}

/* Without the sizes: 5.2 counts memory that was there at boot only. */
static int add_numa(struct sc_string *json, const NumaTopology *numa)
{
    if (numa == NULL || numa->nodes == NULL || numa->numberOfNodes == 0)
        return 0;
    int rc = add_key(json, "numa_domains");
    for (uint32_t i = 0; rc == 0 && i < numa->numberOfNodes; i++) {
        const NumaNode *node = &numa->nodes[i];
        uint32_t count = node->processors != NULL ? node->numberOfProcessors : 0;
        rc = sc_string_print(json, "%s{\"id\":%" PRIu32 ",\"processors\":[", i == 0 ? "[" : ",",
                             node->id);
        for (uint32_t p = 0; rc == 0 && p < count; p++)
            rc = sc_string_print(json, "%s%" PRIu32, p == 0 ? "" : ",", node->processors[p]);
        if (rc == 0)
            rc = sc_string_append(json, "]}", 2);
    }
    return rc == 0 ? sc_string_append(json, "]", 1) : rc;
}

/* Whether the structures are laid out as the header of the build says: another version's would put
 * a pointer where a small number belongs. */
static bool plausible(const CpuTopology *topology)
{
    const long limit = sysconf(_SC_NPROCESSORS_CONF);
    return topology->numHWThreads > 0 && (long)topology->numHWThreads <= limit &&
           (long)topology->numSockets <= limit && (long)topology->numCoresPerSocket <= limit &&
           (long)topology->numThreadsPerCore <= limit && topology->numCacheLevels <= 8;
}

static int write_facts(const struct likwid *l, bool has_numa, struct sc_string *out)
{
    const CpuInfo *info = l->get_info();
    const CpuTopology *topology = l->get_topology();
    struct sc_string json = {0};
    if (info == NULL || topology == NULL || !plausible(topology))
        return sc_fail(SC_EUNAVAIL, "LIKWID: it could not read the topology");
    int rc = sc_string_append(&json, "{", 1);
    if (rc == 0)
        rc = add_cpu(&json, info, topology);
    if (rc == 0)
        rc = add_caches(&json, topology);
    if (rc == 0 && has_numa)
        rc = add_numa(&json, l->get_numa());
    if (rc == 0)
        rc = sc_string_append(&json, "}", 1);
    if (rc == 0)
        rc = sc_string_append(out, json.data, json.length);
    sc_string_free(&json);
    return rc == 0 ? 0 : sc_fail(SC_EUNAVAIL, "LIKWID: %s", sc_status_text(rc));
}

/* The only function that calls into LIKWID and may be left by longjmp(); it has no locals that
 * change after setjmp(). */
static int ask(const struct likwid *l, struct sc_string *out)
{
    if (setjmp(way_out) != 0)
        return sc_fail(SC_EUNAVAIL, "LIKWID: it refused (it would have ended the program)");
    if (l->topology_init() != 0)
        return sc_fail(SC_EUNAVAIL, "LIKWID: it could not read the topology");
    const bool has_numa = l->numa_init() == 0;
    const int rc = write_facts(l, has_numa, out);
    if (has_numa)
        l->numa_finalize();
    l->topology_finalize();
    l->destroy_configuration();
    return rc;
}

int sc_meta_likwid(struct sc_string *out)
{
    enum { CPU_BYTES = 1024 }; /* the kernel's limit of 8192 CPUs */
    union {
        cpu_set_t set;
        unsigned char bytes[CPU_BYTES];
    } affinity;
    int saved = errno;
    struct likwid likwid = {0};
    int rc = open_likwid(&likwid);
    if (rc == 0) {
        int size = sched_getaffinity(0, sizeof affinity, &affinity.set);
        rc = ask(&likwid, out);
        if (size == 0) /* LIKWID moves the thread from CPU to CPU */
            sched_setaffinity(0, sizeof affinity, &affinity.set);
    }
    if (likwid.library != NULL)
        dlclose(likwid.library);
    errno = saved;
    return rc;
}
