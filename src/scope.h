/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * libscope: a profiling runtime for MPI programs. This is the whole C interface.
 *
 *     mpicc app.c -lscope
 *
 * A program that carries the library and starts MPI is recorded from MPI_Init to
 * MPI_Finalize; nothing in here has to be called for that. Regions add the program's
 * own structure:
 *
 *     SCOPE_BEGIN("solve");
 *     ...
 *     SCOPE_END("solve");
 *
 * Every call is harmless before scope_setup() and after scope_finalize(). Functions that
 * return int give 0 or a negative SCOPE_E... code; scope_last_error() then has the details.
 * All functions may be called from any thread. -DSCOPE_DISABLE compiles all of it away.
 */
#ifndef SCOPE_H
#define SCOPE_H

#include <stdint.h>
#include <time.h>

#define SCOPE_VERSION_MAJOR 0
#define SCOPE_VERSION_MINOR 1
#define SCOPE_VERSION_PATCH 0

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SCOPE_API __attribute__((visibility("default")))
#else
#define SCOPE_API
#endif

enum {
    SCOPE_OK = 0,
    SCOPE_EINVAL = -1,   /* invalid argument or setting */
    SCOPE_ENOMEM = -2,   /* out of memory */
    SCOPE_ESTATE = -3,   /* not possible in the present state */
    SCOPE_EIO = -4,      /* cannot read or write a file */
    SCOPE_EFORMAT = -5,  /* not a profile this version can read */
    SCOPE_EUNAVAIL = -6, /* not available in this build or on this machine */
    SCOPE_EMPI = -7      /* MPI reported an error */
};

/* A numeric setting that the environment or the default decides. */
#define SCOPE_UNSET (-1)

/*
 * Settings of a run. scope_options_init() leaves every field unset: NULL or SCOPE_UNSET, so
 * that the environment (SCOPE_PROFILER_<NAME>) and then the default decide. Strings are copied
 * by scope_setup(). A struct may serve several runs.
 */
typedef struct scope_options {
    unsigned size;               /* sizeof(scope_options) as the program knows it; set by init */
    int enabled;                 /* 0 or 1; 0 records nothing and writes no file (default 1) */
    const char *file_path;       /* profile to write (default "profiling_data.h5") */
    const char *output_mode;     /* "auto", "direct" or "parallel" (default "auto") */
    const char *label;           /* short name of the run (default none) */
    const char *metadata_detail; /* "minimal" or "full" (default "minimal") */
    const char *mpi_record;      /* "calls", "stats" or "off" (default "calls") */
    long buffer_limit;           /* events a thread's first buffer holds (default 1024) */
    long hdf5_chunk_size;        /* events per HDF5 chunk; 0: contiguous (default 0) */
    int topology;                /* 0 or 1; store the machine's topology (default 1) */
    int summary;                 /* 0 or 1; print the summary at the end (default 1) */
    const char *mpi_pcontrol;    /* "levels" or "regions" (default "levels") */
    int track_async;             /* 0 or 1; keep each MPI request's life (default 0) */
    int salvage;                 /* 0 or 1; a run that is killed loses nothing (default 1) */
    const char *salvage_dir;     /* folder for that (default: see doc/salvage.md) */
} scope_options;

#ifndef SCOPE_DISABLE

/* Inline, so that size is what the program was compiled with. */
static inline void scope_options_init(scope_options *options)
{
    const scope_options unset = {sizeof(scope_options),
                                 SCOPE_UNSET,
                                 0,
                                 0,
                                 0,
                                 0,
                                 0,
                                 SCOPE_UNSET,
                                 SCOPE_UNSET,
                                 SCOPE_UNSET,
                                 SCOPE_UNSET,
                                 0,
                                 SCOPE_UNSET,
                                 SCOPE_UNSET,
                                 0};
    if (options != 0)
        *options = unset;
}

/*
 * Starts recording. NULL: all settings unset. Before MPI_Init it starts earlier than the library
 * would by itself; after it, the settings given replace those of the recording that runs.
 * SCOPE_EINVAL: a setting is wrong, nothing has started. SCOPE_ESTATE: a recording that the
 * program itself started is running. SCOPE_EUNAVAIL: output_mode "parallel" cannot be honoured.
 */
SCOPE_API int scope_setup(const scope_options *options);

/*
 * Ends recording and writes the profile. Under MPI this is collective over MPI_COMM_WORLD;
 * MPI_Finalize does it for a program that does not. Regions still open are closed here.
 */
SCOPE_API int scope_finalize(void);

SCOPE_API void scope_pause(void); /* from here on nothing is recorded, calls are only counted */
SCOPE_API void scope_resume(void);
SCOPE_API int scope_is_active(void); /* 1 while recording and not paused, else 0 */

SCOPE_API const char *scope_strerror(int code);
SCOPE_API const char *scope_last_error(
    void); /* of the calling thread; lent until its next failure */

/*
 * The handle of the region of that name, the same for the same bytes. Valid before scope_setup()
 * and after scope_finalize(). Takes a lock: keep the handle. Negative (and harmless to use) when
 * name is NULL or memory is short. The file (copied) and line say where the region is; the first to
 * say wins.
 */
SCOPE_API int scope_region(const char *name);
SCOPE_API int scope_region_at(const char *name, const char *file, int line);

/*
 * What the inline path below shares with the library. The number in the names is the version of
 * this binary interface: a program built against another one does not link.
 */
struct scope_event_1_ {
    uint64_t start; /* clock ticks */
    uint64_t end;   /* clock ticks, or SCOPE_OPEN_ | address of the enclosing open event */
};

struct scope_thread_1_ {
    struct scope_event_1_ *next;  /* first free event of the thread's block */
    struct scope_event_1_ *limit; /* end of the part that may be used */
    struct scope_event_1_ *open;  /* innermost open event, NULL if none */
};

/* Events lie in blocks of 1 MiB at multiples of 1 MiB, in the upper seven eighths of each; the
 * region of the event at offset o is the 16-bit word at offset o / 8 of the same block. */
#define SCOPE_REGIONS_ 65535u /* handles are below this */
#define SCOPE_BLOCK_ ((uintptr_t)1 << 20)
#define SCOPE_OPEN_ ((uint64_t)1 << 63)
#define SCOPE_CROSSED_ ((uint64_t)1 << 62)

/* 0: off; 1: on, events are stored inline; 2: on, every call goes to the library; 3: paused,
 * likewise. */
extern SCOPE_API int scope_mode_1_;
extern SCOPE_API __thread struct scope_thread_1_ *scope_thread_1_
    __attribute__((tls_model("initial-exec")));

SCOPE_API void scope_begin_1_(int region); /* slow paths of the two below */
SCOPE_API void scope_end_1_(int region, uint64_t ticks);

static inline uint16_t *scope_event_region_(struct scope_event_1_ *e)
{
    uintptr_t offset = (uintptr_t)e & (SCOPE_BLOCK_ - 1);
    return (uint16_t *)((char *)e - offset + offset / 8);
}

static inline uint64_t scope_ticks_(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
#endif
}

static inline void scope_begin_inline_(int region)
{
    struct scope_thread_1_ *t;
    struct scope_event_1_ *e;
    int mode = __atomic_load_n(&scope_mode_1_, __ATOMIC_RELAXED);
    if (__builtin_expect(mode == 0, 1))
        return; /* laid out for programs that are not recorded */
    if (__builtin_expect(mode != 1, 0)) {
        scope_begin_1_(region);
        return;
    }
    t = scope_thread_1_;
    e = t->next;
    if (__builtin_expect((unsigned)region >= SCOPE_REGIONS_ ||
                             e >= __atomic_load_n(&t->limit, __ATOMIC_RELAXED),
                         0)) {
        scope_begin_1_(region);
        return;
    }
    __atomic_store_n(scope_event_region_(e), (uint16_t)region, __ATOMIC_RELAXED);
    __atomic_store_n(&e->end, SCOPE_OPEN_ | (uintptr_t)t->open, __ATOMIC_RELAXED);
    t->open = e;
    /* Pairs with the acquire in sc_cursor_renew_events(): the event's region and open mark are
     * there. */
    __atomic_store_n(&t->next, e + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&e->start, scope_ticks_(), __ATOMIC_RELAXED);
}

static inline void scope_end_inline_(int region)
{
    struct scope_thread_1_ *t;
    struct scope_event_1_ *e;
    uint64_t ticks;
    int mode = __atomic_load_n(&scope_mode_1_, __ATOMIC_RELAXED);
    if (__builtin_expect(mode == 0, 1))
        return;
    if (__builtin_expect(mode != 1, 0)) {
        scope_end_1_(region, 0);
        return;
    }
    ticks = scope_ticks_();
    t = scope_thread_1_;
    e = t->open;
    if (__builtin_expect(e == 0 || *scope_event_region_(e) != region, 0)) {
        scope_end_1_(region, ticks);
        return;
    }
    t->open = (struct scope_event_1_ *)(uintptr_t)(e->end & ~(SCOPE_OPEN_ | SCOPE_CROSSED_));
    __atomic_store_n(&e->end, ticks, __ATOMIC_RELAXED);
}

/* Begins and ends a call of a region on the calling thread. Calls nest; a region may call itself.
 */
#ifndef SCOPE_NO_INLINE
static inline void scope_begin(int region)
{
    scope_begin_inline_(region);
}
static inline void scope_end(int region)
{
    scope_end_inline_(region);
}
#else
SCOPE_API void scope_begin(int region);
SCOPE_API void scope_end(int region);
#endif

/* The handle for a call site: looked up once, kept in a static. */
static inline int scope_site_(int *site, const char *name, const char *file, int line)
{
    int region = __atomic_load_n(site, __ATOMIC_RELAXED) - 1;
    if (__builtin_expect(region < 0, 0)) {
        region = scope_region_at(name, file, line);
        __atomic_store_n(site, region + 1, __ATOMIC_RELAXED);
    }
    return region;
}

static inline void scope_cleanup_(int *region)
{
    scope_end(*region);
}

#ifdef __cplusplus
}
#endif

/* name must be the same at every pass through the call site, as a string literal is. */
#define SCOPE_REGION(name)                                     \
    (__extension__({                                           \
        static int scope_here_;                                \
        scope_site_(&scope_here_, (name), __FILE__, __LINE__); \
    }))
#define SCOPE_BEGIN(name) scope_begin(SCOPE_REGION(name))
#define SCOPE_END(name) scope_end(SCOPE_REGION(name))

#define SCOPE_JOIN2_(a, b) a##b
#define SCOPE_JOIN_(a, b) SCOPE_JOIN2_(a, b)
/* A region from here to the end of the enclosing block, however it is left (not by longjmp). */
#define SCOPE_SCOPE(name)                                                              \
    int SCOPE_JOIN_(scope_block_, __LINE__) __attribute__((cleanup(scope_cleanup_))) = \
        SCOPE_REGION(name);                                                            \
    scope_begin(SCOPE_JOIN_(scope_block_, __LINE__))
#define SCOPE_FUNCTION SCOPE_SCOPE(__func__)

#else /* SCOPE_DISABLE */

static inline void scope_options_init(scope_options *options)
{
    (void)options;
}
static inline int scope_setup(const scope_options *options)
{
    (void)options;
    return SCOPE_OK;
}
static inline int scope_finalize(void)
{
    return SCOPE_OK;
}
static inline void scope_pause(void) {}
static inline void scope_resume(void) {}
static inline int scope_is_active(void)
{
    return 0;
}
static inline const char *scope_strerror(int code)
{
    (void)code;
    return "";
}
static inline const char *scope_last_error(void)
{
    return "";
}
static inline int scope_region(const char *name)
{
    (void)name;
    return -1;
}
static inline int scope_region_at(const char *name, const char *file, int line)
{
    (void)name;
    (void)file;
    (void)line;
    return -1;
}
static inline void scope_begin(int region)
{
    (void)region;
}
static inline void scope_end(int region)
{
    (void)region;
}

#ifdef __cplusplus
}
#endif

#define SCOPE_REGION(name) (-1)
#define SCOPE_BEGIN(name) ((void)0)
#define SCOPE_END(name) ((void)0)
#define SCOPE_SCOPE(name) ((void)0)
#define SCOPE_FUNCTION ((void)0)

#endif
#endif
