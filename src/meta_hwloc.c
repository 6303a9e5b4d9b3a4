/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * meta_hwloc: where this process may run (kernel) and what the machine looks like (hwloc).
 * Components that open devices or move the thread from CPU to CPU are kept out of each load by
 * hwloc's API; the environment stays the program's.
 */
#include "meta.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <hwloc.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/* ---- this process ---- */

enum { CPU_LIMIT = 8192 }; /* the kernel's own */

union cpus {
    cpu_set_t set;
    unsigned char bytes[CPU_LIMIT / 8];
};

/* All PUs that some thread of this process may run on. Beside the caller's own set: OpenMP may have
 * bound the caller to a part of what the rank got. */
static void allowed_cpus(union cpus *all)
{
    memset(all, 0, sizeof *all);
    sched_getaffinity(0, sizeof *all, &all->set);
    DIR *threads = opendir("/proc/self/task");
    struct dirent *entry;
    while (threads != NULL && (entry = readdir(threads)) != NULL) {
        union cpus one;
        long thread = strtol(entry->d_name, NULL, 10);
        memset(&one, 0, sizeof one);
        if (thread <= 0 || sched_getaffinity((pid_t)thread, sizeof one, &one.set) != 0)
            continue;
        for (size_t i = 0; i < sizeof one; i++)
            all->bytes[i] |= one.bytes[i];
    }
    if (threads != NULL)
        closedir(threads);
}

static bool may_run_on(const union cpus *cpus, int pu)
{
    return pu < CPU_LIMIT && CPU_ISSET_S((size_t)pu, sizeof *cpus, &cpus->set);
}

/* "0-3,8"; ranges that do not fit whole are left out. */
static void print_cpus(const union cpus *cpus, char *out, size_t size)
{
    size_t used = 0;
    out[0] = '\0';
    for (int first = 0; first < CPU_LIMIT; first++) {
        if (!may_run_on(cpus, first))
            continue;
        int last = first;
        while (may_run_on(cpus, last + 1))
            last++;
        char range[32];
        int length = snprintf(range, sizeof range, first == last ? "%s%d" : "%s%d-%d",
                              used > 0 ? "," : "", first, last);
        if (used + (size_t)length >= size)
            return;
        memcpy(out + used, range, (size_t)length + 1);
        used += (size_t)length;
        first = last;
    }
}

void sc_meta_place(struct sc_place *out)
{
    int saved = errno;
    union cpus cpus;
    allowed_cpus(&cpus);
    out->pu = sched_getcpu(); /* -1 when it fails */
    out->core = out->package = out->numa_node = -1;
    print_cpus(&cpus, out->binding, sizeof out->binding);
    errno = saved;
}

/* ---- the machine ---- */

const char *const sc_meta_unwanted_components[] = {"gl",  "opencl",    "cuda", "nvml", "rsmi",
                                                   "pci", "levelzero", "x86",  NULL};

static int load(hwloc_topology_t *out)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return sc_fail(SC_EUNAVAIL, "hwloc: cannot start: %s", strerror(errno));
    for (const char *const *name = sc_meta_unwanted_components; *name != NULL; name++)
        hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, *name);
    hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE);
    hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
    if (hwloc_topology_load(topology) != 0) {
        int rc = sc_fail(SC_EUNAVAIL, "hwloc: cannot read the topology: %s", strerror(errno));
        hwloc_topology_destroy(topology);
        return rc;
    }
    if (!hwloc_topology_is_thissystem(topology)) {
        hwloc_topology_destroy(topology);
        return sc_fail(SC_EUNAVAIL, "hwloc: an HWLOC_ variable describes another machine");
    }
    *out = topology;
    return 0;
}

static int32_t object_count(hwloc_topology_t topology, hwloc_obj_type_t type)
{
    int count = hwloc_get_nbobjs_by_type(topology, type);
    return count > 0 ? count : -1;
}

static int32_t ancestor_index(hwloc_topology_t topology, hwloc_obj_type_t type, hwloc_obj_t pu)
{
    hwloc_obj_t object = hwloc_get_ancestor_obj_by_type(topology, type, pu);
    return object != NULL ? (int32_t)object->logical_index : -1;
}

/* NUMA nodes are no ancestors; where several hold a PU, the first is its ordinary memory. */
static int32_t numa_index(hwloc_topology_t topology, unsigned pu)
{
    hwloc_obj_t node = NULL;
    while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)) != NULL)
        if (hwloc_bitmap_isset(node->cpuset, pu))
            return (int32_t)node->logical_index;
    return -1;
}

static int locate_pus(hwloc_topology_t topology, struct sc_topology *out)
{
    int last = hwloc_bitmap_last(hwloc_topology_get_complete_cpuset(topology));
    if (last < 0 || last > 1 << 20)
        return 0;
    out->of_pu = malloc(((size_t)last + 1) * sizeof *out->of_pu);
    if (out->of_pu == NULL)
        return SC_ENOMEM;
    out->pu_limit = last + 1;
    for (int i = 0; i <= last; i++)
        out->of_pu[i] = (struct sc_locus){-1, -1, -1};
    hwloc_obj_t pu = NULL;
    while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu)) != NULL)
        if (pu->os_index <= (unsigned)last)
            out->of_pu[pu->os_index] =
                (struct sc_locus){.core = ancestor_index(topology, HWLOC_OBJ_CORE, pu),
                                  .package = ancestor_index(topology, HWLOC_OBJ_PACKAGE, pu),
                                  .numa_node = numa_index(topology, pu->os_index)};
    return 0;
}

/* ---- its XML ---- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether the annotation called name (up to its closing quote) may be kept. Full detail leaves out
 * what tells equal machines apart; minimal detail keeps only what is known to be harmless. */
static bool info_kept(const char *name, int full_detail)
{
    static const char *const harmless[] = {
        "Backend\"",      "OSName\"",    "OSRelease\"",  "Architecture\"",
        "hwlocVersion\"", "Inclusive\"", "MemoryTier\"", "CPU"};
    static const char *const telling[] = {"HostName\"", "ProcessName\"", "LinuxCgroup\""};
    static const char *const telling_end[] = {"Serial", "UUID", "AssetTag"};
    size_t length = strcspn(name, "\"");
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (begins(name, harmless[i]))
            return true;
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (begins(name, telling[i]))
            return false;
    for (size_t i = 0; i < sizeof telling_end / sizeof *telling_end; i++)
        if (memmem(name, length, telling_end[i], strlen(telling_end[i])) != NULL)
            return false;
    return full_detail != 0;
}

/* Copies the document without the <info name="..." value="..."/> lines that may not be kept. Quotes
 * and angle brackets inside values are escaped by hwloc. */
static int filter_xml(const char *xml, int full_detail, struct sc_string *out)
{
    static const char element[] = "<info name=\"";
    const char *from = xml;
    int rc = sc_string_append(out, "", 0);
    while (rc == 0) {
        const char *info = strstr(from, element);
        if (info == NULL)
            return sc_string_append(out, from, strlen(from));
        const char *end = strchr(info, '>');
        end = end != NULL ? end + 1 : info + strlen(info);
        const char *stop = end;
        if (!info_kept(info + sizeof element - 1, full_detail)) {
            stop = info;
            while (stop > from && (stop[-1] == ' ' || stop[-1] == '\t'))
                stop--;
            end += *end == '\n';
        }
        rc = sc_string_append(out, from, (size_t)(stop - from));
        from = end;
    }
    return rc;
}

/* Copies the document with memory sizes and page counts as their first two digits and their number
 * of digits: how much the kernel keeps for itself differs between equal machines. */
static int round_memory(const char *xml, struct sc_string *out)
{
    static const char *const attribute[] = {"local_memory=\"", "count=\""};
    int rc = 0;
    for (const char *at = xml; rc == 0 && *at != '\0';) {
        size_t name = 0;
        for (size_t i = 0; i < sizeof attribute / sizeof *attribute; i++)
            if (begins(at, attribute[i]))
                name = strlen(attribute[i]);
        if (name == 0) {
            rc = sc_string_append(out, at++, 1);
            continue;
        }
        size_t digits = strspn(at + name, "0123456789");
        rc = sc_string_print(out, "%.*s(%zu)", (int)(name + (digits < 2 ? digits : 2)), at, digits);
        at += name + digits;
    }
    return rc;
}

/* Sets xml and hash from hwloc's document. */
static int take_xml(const char *document, int full_detail, struct sc_topology *out)
{
    struct sc_string minimal = {0}, rounded = {0}, full = {0};
    int rc = filter_xml(document, 0, &minimal);
    if (rc == 0)
        rc = round_memory(minimal.data, &rounded);
    if (rc == 0 && full_detail)
        rc = filter_xml(document, 1, &full);
    if (rc == 0) {
        struct sc_string *chosen = full_detail ? &full : &minimal;
        out->hash = sc_hash(rounded.data, rounded.length);
        out->xml = chosen->data;
        out->xml_length = chosen->length;
        *chosen = (struct sc_string){0};
    }
    sc_string_free(&minimal);
    sc_string_free(&rounded);
    sc_string_free(&full);
    return rc;
}

int sc_meta_topology(int full_detail, struct sc_topology *out)
{
    int saved = errno;
    *out = (struct sc_topology){0};
    hwloc_topology_t topology = NULL;
    int rc = load(&topology);
    if (rc != 0)
        goto restore;
    char *document = NULL;
    int length = 0;
    rc = SC_EUNAVAIL;
    if (hwloc_topology_export_xmlbuffer(topology, &document, &length, 0) == 0) {
        rc = take_xml(document, full_detail, out);
        hwloc_free_xmlbuffer(topology, document);
    }
    if (rc == 0)
        rc = locate_pus(topology, out);
    out->packages = object_count(topology, HWLOC_OBJ_PACKAGE);
    out->numa_nodes = object_count(topology, HWLOC_OBJ_NUMANODE);
    out->cores = object_count(topology, HWLOC_OBJ_CORE);
    out->pus = object_count(topology, HWLOC_OBJ_PU);
    hwloc_topology_destroy(topology);
    if (rc != 0) {
        sc_topology_free(out);
        rc = sc_fail(SC_EUNAVAIL, "hwloc: cannot export the topology: %s",
                     sc_status_text(rc == SC_ENOMEM ? rc : SC_EIO));
    }
restore:
    errno = saved;
    return rc;
}

void sc_topology_free(struct sc_topology *t)
{
    free(t->xml);
    free(t->of_pu);
    *t = (struct sc_topology){0};
}

struct sc_locus sc_topology_locate(const struct sc_topology *t, int32_t pu)
{
    if (pu < 0 || pu >= t->pu_limit)
        return (struct sc_locus){-1, -1, -1};
    return t->of_pu[pu];
}
