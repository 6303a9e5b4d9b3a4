/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * meta: facts about where a run happened, one probe per file. A probe never prints, never fails the
 * run, starts no process, never ends this one and leaves environment and affinity as they were:
 * what it cannot learn is absent. Called at the end of a run, recording off, by one thread at a
 * time.
 */
#ifndef SC_META_H
#define SC_META_H

#include <stddef.h>
#include <stdint.h>

#include "base.h"

/* Where this process runs; -1 unknown. */
struct sc_place {
    int32_t pu;                       /* OS index of the PU last run on */
    int32_t core, package, numa_node; /* hwloc's logical indexes, from sc_topology_locate() */
    char binding[256]; /* PUs its threads may run on, "0-3,8"; "" unknown; cut at a comma if long */
};

/* Asks the kernel for PU and binding; the rest is -1. */
void sc_meta_place(struct sc_place *out);

/* The host's name (gethostname), NUL-terminated; "" unknown. */
void sc_meta_hostname(char *out, size_t size);

/* Core, package and NUMA node of one PU, logical indexes; -1 none. */
struct sc_locus {
    int32_t core, package, numa_node;
};

/* This machine's topology, parts closed to this process included. The XML names no host and carries
 * no serial number; in minimal detail nothing in it identifies (no DMI, cgroup or process names).
 */
struct sc_topology {
    char *xml; /* xml_length bytes, then NUL */
    size_t xml_length;
    uint64_t hash; /* the same on equal machines, whatever the detail: memory sizes count roughly */
    int32_t packages, numa_nodes, cores, pus; /* -1 unknown */
    struct sc_locus *of_pu;                   /* by OS index */
    int32_t pu_limit;
};

/* 0 or SC_EUNAVAIL with the reason in sc_last_error(). Some milliseconds: once per node. */
int sc_meta_topology(int full_detail, struct sc_topology *out);
void sc_topology_free(struct sc_topology *t);

/* Where the PU with this OS index is; all -1 when unknown. */
struct sc_locus sc_topology_locate(const struct sc_topology *t, int32_t pu);

/* For probes that load a topology: hwloc's components that open devices or move the thread from CPU
 * to CPU; NULL ends the list. */
extern const char *const sc_meta_unwanted_components[];

/* LIKWID's facts about CPU, caches and NUMA domains as one JSON object appended to out. 0, or
 * SC_EUNAVAIL with the reason (not built in, library absent, in use by the program, refused). */
int sc_meta_likwid(struct sc_string *out);

/* Facts as NAME -> value for /metadata; start with {0}. */
struct sc_h5_attribute;
struct sc_facts {
    struct sc_h5_attribute *attribute;
    size_t count, capacity;
};

/* Each copies name and value, replacing a fact of that name; 0 or SC_ENOMEM (nothing changed).
 * Texts become valid UTF-8; those of more than 60,000 characters end in "...[truncated]". */
int sc_facts_int(struct sc_facts *f, const char *name, int64_t value);
int sc_facts_real(struct sc_facts *f, const char *name, double value);
int sc_facts_text(struct sc_facts *f, const char *name, const char *value);
int sc_facts_texts(struct sc_facts *f, const char *name, const char *const *values, size_t count);
int sc_facts_time(struct sc_facts *f, const char *name, int64_t realtime_ns); /* ISO 8601, UTC */
void sc_facts_free(struct sc_facts *f);

/* The settings that say how to read a profile; the run. Names as in doc/format.md. */
struct sc_settings;
int sc_facts_settings(struct sc_facts *f, const struct sc_settings *s);
struct sc_run_facts {
    uint32_t ranks;
    size_t nodes;
    int64_t begin_realtime;   /* ns since 1970 */
    int64_t start_ns, end_ns; /* of rank 0 */
    const char *clock;        /* NULL: not known, or among the facts already */
    const char *output_mode;
};
int sc_facts_run(struct sc_facts *f, const struct sc_run_facts *run);

/* Notes them in the image, in a form that sc_facts_read() adds to f: SC_EFORMAT if it cannot be.
 */
void sc_facts_note(const struct sc_facts *f);
int sc_facts_read(struct sc_facts *f, const char *note, size_t length);

/* Adds what host and environment say, names as in doc/format.md. Minimal detail carries no identity
 * (no user, host, directory, arguments, environment but the SCOPE_PROFILER_*_ID given on purpose);
 * full adds them, SLURM_*, LOADEDMODULES, the PATH family. 0 or SC_ENOMEM. */
int sc_meta_host(struct sc_facts *f, int full_detail);

#endif
