/* SPDX-License-Identifier: BSD-3-Clause
 *
 * overhead [--operations N] [--repeats N] [--json] [--check]: what the library costs per operation,
 * next to the floor below which no tool that keeps two time stamps can go, all measured in this one
 * run. Repeats are interleaved, so that a drift of the machine hits all alike; a ratio or a
 * difference is taken within a repeat; time is this thread's processor time. With --check the exit
 * status is 1 when a bar is missed.
 */
#include <mpi.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "exported.h"
#include "scope.h"
#include "scope_read.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23 /* Linux 5.14 */
#endif

enum { REPEATS_MIN = 9, REPEATS_MAX = 99, STEP = 1 << 20 };

/* Measured directly, per operation, or as a difference of two of those. */
enum id {
    FLOOR,
    PAIR_INLINE,
    PAIR_EXPORTED,
    OFF_INLINE,
    OFF_EXPORTED,
    ALLREDUCE,
    ALLREDUCE_BARE,
    BARRIER,
    BARRIER_BARE,
    EXCHANGE,
    EXCHANGE_BARE,
    UNRECORDED_ALLREDUCE,
    UNRECORDED_ALLREDUCE_BARE,
    UNRECORDED_BARRIER,
    UNRECORDED_BARRIER_BARE,
    UNRECORDED_EXCHANGE,
    UNRECORDED_EXCHANGE_BARE,
    TRUTH,
    TRUTH_BARE,
    ID_COUNT
};

static double sample[ID_COUNT][REPEATS_MAX]; /* ns per operation */
static long operations = 1000000;            /* of a repeat; a fifth of it for MPI calls */
static int repeats = 11;
static int region;

static char folder[3000], profile[sizeof folder + 16]; /* "" before there is one */

static void remove_folder(void)
{
    unlink(profile);
    rmdir(folder);
}

_Noreturn static void fail(const char *what, const char *why)
{
    fprintf(stderr, "overhead: %s: %s\n", what, why);
    remove_folder();
    exit(2);
}

static double now_ns(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* ---- what is measured ---- */

static void populate(char *from)
{
    if (madvise(from, STEP, MADV_POPULATE_WRITE) == 0)
        return;
    for (size_t i = 0; i < STEP; i += 4096)
        *(volatile char *)(from + i) = 0;
}

/* Two clock reads and two 8-byte stores into fresh memory, populated a MiB at a time. */
static void floor_pairs(long count, uint64_t *at)
{
    const uint64_t *ready = at;

    for (long i = 0; i < count; i++) {
        if (at == ready) {
            populate((char *)at);
            ready = at + STEP / sizeof *at;
        }
        __atomic_store_n(&at[0], scope_ticks_(), __ATOMIC_RELAXED);
        __atomic_store_n(&at[1], scope_ticks_(), __ATOMIC_RELAXED);
        at += 2;
    }
}

static void inline_pairs(long count)
{
    for (long i = 0; i < count; i++) {
        scope_begin(region);
        scope_end(region);
    }
}

static void allreduces(long count)
{
    int in = 1, out;

    for (long i = 0; i < count; i++)
        MPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void bare_allreduces(long count)
{
    int in = 1, out;

    for (long i = 0; i < count; i++)
        PMPI_Allreduce(&in, &out, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF);
}

static void barriers(long count)
{
    for (long i = 0; i < count; i++)
        MPI_Barrier(MPI_COMM_SELF);
}

static void bare_barriers(long count)
{
    for (long i = 0; i < count; i++)
        PMPI_Barrier(MPI_COMM_SELF);
}

static void exchanges(long count)
{
    int in, out = 1;
    MPI_Request request[2];

    for (long i = 0; i < count; i++) {
        MPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request[0]);
        MPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request[1]);
        MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
}

static void bare_exchanges(long count)
{
    int in, out = 1;
    MPI_Request request[2];

    for (long i = 0; i < count; i++) {
        PMPI_Irecv(&in, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request[0]);
        PMPI_Isend(&out, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &request[1]);
        PMPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    }
}

static double measure_floor(long count)
{
    const size_t size = ((size_t)count * 16 / STEP + 2) * STEP;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    double start, taken;

    if (memory == MAP_FAILED)
        fail("floor", "out of memory");
    start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    floor_pairs(count, (uint64_t *)(((uintptr_t)memory + STEP - 1) & ~(uintptr_t)(STEP - 1)));
    taken = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    munmap(memory, size);
    return taken / (double)count;
}

static double measure_by(clockid_t clock, void (*run)(long), long count)
{
    const double start = now_ns(clock);

    run(count);
    return (now_ns(clock) - start) / (double)count;
}

static double measure(void (*run)(long), long count)
{
    return measure_by(CLOCK_THREAD_CPUTIME_ID, run, count);
}

static void exported(long count)
{
    exported_pairs(region, count);
}

/* As enabled = false leaves it: the switch that the inline path reads is off. */
static double measure_off(void (*run)(long), long count)
{
    const int mode = __atomic_exchange_n(&scope_mode_1_, 0, __ATOMIC_RELAXED);
    const double taken = measure(run, count);

    __atomic_store_n(&scope_mode_1_, mode, __ATOMIC_RELAXED);
    return taken;
}

/* ---- the three recordings of this run ---- */

static void make_folder(void)
{
    const char *parent = getenv("TMPDIR");

    snprintf(folder, sizeof folder, "%s/scope-overhead-XXXXXX", parent != NULL ? parent : "/tmp");
    if (mkdtemp(folder) == NULL)
        fail(folder, "cannot be made (set TMPDIR)");
    snprintf(profile, sizeof profile, "%s/profile.h5", folder);
}

static void begin_recording(const char *mpi_record)
{
    scope_options options;

    scope_options_init(&options);
    options.enabled = 1;
    options.file_path = profile;
    options.mpi_record = mpi_record;
    options.summary = 0;
    options.topology = 0;
    if (scope_setup(&options) != 0)
        fail("scope_setup", scope_last_error());
    if (__atomic_load_n(&scope_mode_1_, __ATOMIC_RELAXED) != 1)
        fail("scope_setup", "the inline path is not in use (no invariant clock?)");
}

static void end_recording(void)
{
    if (scope_finalize() != 0)
        fail("scope_finalize", scope_last_error());
}

static void keep(enum id id, int repeat, double value)
{
    if (repeat >= 0) /* the round before the first warms up */
        sample[id][repeat] = value;
}

static void record_pairs_and_calls(void)
{
    const long calls = operations / 5;

    begin_recording("calls");
    for (int r = -1; r < repeats; r++) {
        keep(FLOOR, r, measure_floor(operations));
        keep(PAIR_INLINE, r, measure(inline_pairs, operations));
        keep(PAIR_EXPORTED, r, measure(exported, operations));
        keep(OFF_INLINE, r, measure_off(inline_pairs, operations));
        keep(OFF_EXPORTED, r, measure_off(exported, operations));
        keep(ALLREDUCE_BARE, r, measure(bare_allreduces, calls));
        keep(ALLREDUCE, r, measure(allreduces, calls));
        keep(BARRIER_BARE, r, measure(bare_barriers, calls));
        keep(BARRIER, r, measure(barriers, calls));
        keep(EXCHANGE_BARE, r, measure(bare_exchanges, calls / 3));
        keep(EXCHANGE, r, measure(exchanges, calls / 3));
    }
    end_recording();
}

static void record_no_calls(void)
{
    const long calls = operations / 5;

    begin_recording("off");
    for (int r = -1; r < repeats; r++) {
        keep(UNRECORDED_ALLREDUCE_BARE, r, measure(bare_allreduces, calls));
        keep(UNRECORDED_ALLREDUCE, r, measure(allreduces, calls));
        keep(UNRECORDED_BARRIER_BARE, r, measure(bare_barriers, calls));
        keep(UNRECORDED_BARRIER, r, measure(barriers, calls));
        keep(UNRECORDED_EXCHANGE_BARE, r, measure(bare_exchanges, calls / 3));
        keep(UNRECORDED_EXCHANGE, r, measure(exchanges, calls / 3));
    }
    end_recording();
}

/* Durations of the profile's slice of MPI_Allreduce, in the order of the calls. */
static int64_t *recorded_durations(uint64_t count)
{
    static const char routine[] = "MPI_Allreduce";
    scope_reader *reader;
    scope_read_size size;
    scope_slice slice;
    int64_t clock = 0, *starts = malloc(count * sizeof *starts);
    int64_t *durations = malloc(count * sizeof *durations);

    if (starts == NULL || durations == NULL)
        fail("reading back", "out of memory");
    if (scope_read_open(profile, &reader) != 0)
        fail("reading back", scope_last_error());
    scope_read_sizes(reader, &size);
    for (uint64_t row = 0; row < size.slices; row++) {
        scope_text name;
        if (scope_read_slices(reader, row, 1, &slice) != 0)
            fail("reading back", scope_last_error());
        name = scope_read_region(reader, slice.region);
        if (name.length != strlen(routine) || memcmp(name.data, routine, name.length) != 0)
            continue;
        if (slice.events != count)
            fail("reading back", "not every MPI_Allreduce was recorded");
        if (scope_read_events(reader, &slice, 0, count, &clock, starts, durations) != 0)
            fail("reading back", scope_last_error());
        scope_read_close(reader);
        free(starts);
        return durations;
    }
    fail("reading back", "no MPI_Allreduce was recorded");
}

/* What the profile says a million calls took, against the same calls made past the library. Both
 * are real time: what else runs on this CPU shows here, and only here. */
static void record_the_truth(void)
{
    const long calls = operations / repeats;
    int64_t *durations;

    begin_recording("calls");
    for (int r = 0; r < repeats; r++) {
        keep(TRUTH_BARE, r, measure_by(CLOCK_MONOTONIC, bare_allreduces, calls));
        allreduces(calls);
    }
    end_recording();
    durations = recorded_durations((uint64_t)(calls * repeats));
    for (int r = 0; r < repeats; r++) {
        int64_t total = 0;
        for (long i = 0; i < calls; i++)
            total += durations[r * calls + i];
        keep(TRUTH, r, (double)total / (double)calls);
    }
    free(durations);
}

/* ---- results ---- */

struct figure {
    double minimum, median;
};

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median_of(double *values)
{
    qsort(values, (size_t)repeats, sizeof *values, ascending);
    return (values[(repeats - 1) / 2] + values[repeats / 2]) / 2;
}

static double minimum_of(enum id id)
{
    double least = sample[id][0];

    for (int r = 1; r < repeats; r++)
        least = sample[id][r] < least ? sample[id][r] : least;
    return least;
}

/* Of id itself when less is the same, else of the difference, repeat by repeat. */
static struct figure figure_of(enum id id, enum id less)
{
    double values[REPEATS_MAX];
    struct figure f = {.minimum = minimum_of(id) - (less != id ? minimum_of(less) : 0)};

    for (int r = 0; r < repeats; r++)
        values[r] = sample[id][r] - (less != id ? sample[less][r] : 0);
    f.median = median_of(values);
    return f;
}

/* The median, over the repeats, of the same in floors. */
static double in_floors(enum id id, enum id less)
{
    double values[REPEATS_MAX];

    for (int r = 0; r < repeats; r++)
        values[r] = (sample[id][r] - (less != id ? sample[less][r] : 0)) / sample[FLOOR][r];
    return median_of(values);
}

enum unit { NO_BAR, TIMES_FLOOR, NANOSECONDS };

static const struct result {
    const char *key;
    const char *what;
    enum id id, less; /* less == id: not a difference */
    enum unit unit;
    double bar;
} results[] = {
    {"floor", "floor: two clock reads, two stores", FLOOR, FLOOR, NO_BAR, 0},
    {"pair_inline", "pair recorded, inline", PAIR_INLINE, PAIR_INLINE, TIMES_FLOOR, 1.35},
    {"pair_exported", "pair recorded, exported", PAIR_EXPORTED, PAIR_EXPORTED, TIMES_FLOOR, 1.6},
    {"off_inline", "pair disabled, inline", OFF_INLINE, OFF_INLINE, NANOSECONDS, 1},
    {"off_exported", "pair disabled, exported", OFF_EXPORTED, OFF_EXPORTED, NANOSECONDS, 16},
    {"allreduce_bare", "PMPI_Allreduce on MPI_COMM_SELF", ALLREDUCE_BARE, ALLREDUCE_BARE, NO_BAR,
     0},
    {"allreduce_added", "  added by recording it", ALLREDUCE, ALLREDUCE_BARE, TIMES_FLOOR, 2},
    {"allreduce_off_added", "  added with mpi_record = off", UNRECORDED_ALLREDUCE,
     UNRECORDED_ALLREDUCE_BARE, NANOSECONDS, 3},
    {"allreduce_truth", "  recorded duration beyond the true one", TRUTH, TRUTH_BARE, NANOSECONDS,
     30},
    {"barrier_bare", "PMPI_Barrier on MPI_COMM_SELF", BARRIER_BARE, BARRIER_BARE, NO_BAR, 0},
    {"barrier_added", "  added by recording it", BARRIER, BARRIER_BARE, TIMES_FLOOR, 2},
    {"barrier_off_added", "  added with mpi_record = off", UNRECORDED_BARRIER,
     UNRECORDED_BARRIER_BARE, NANOSECONDS, 3},
    {"exchange_bare", "PMPI_Irecv, _Isend, _Waitall with itself", EXCHANGE_BARE, EXCHANGE_BARE,
     NO_BAR, 0},
    {"exchange_added", "  added by recording these three", EXCHANGE, EXCHANGE_BARE, TIMES_FLOOR, 6},
    {"exchange_off_added", "  added with mpi_record = off", UNRECORDED_EXCHANGE,
     UNRECORDED_EXCHANGE_BARE, NANOSECONDS, 9},
};
enum { RESULT_COUNT = sizeof results / sizeof results[0] };

static int holds(const struct result *r)
{
    switch (r->unit) {
    case TIMES_FLOOR:
        return in_floors(r->id, r->less) <= r->bar;
    case NANOSECONDS:
        return figure_of(r->id, r->less).median <= r->bar;
    default:
        return 1;
    }
}

static void print_text(int cpu)
{
    printf("libscope %d.%d.%d, %ld operations, %d repeats, ", SCOPE_VERSION_MAJOR,
           SCOPE_VERSION_MINOR, SCOPE_VERSION_PATCH, operations, repeats);
    printf(cpu >= 0 ? "pinned to CPU %d\n" : "not pinned\n", cpu);
    printf("%-40s %9s %9s %8s  %s\n", "ns per operation", "minimum", "median", "x floor", "bar");
    for (int i = 0; i < RESULT_COUNT; i++) {
        const struct result *r = &results[i];
        const struct figure f = figure_of(r->id, r->less);
        printf("%-40s %9.2f %9.2f %8.2f", r->what, f.minimum, f.median, in_floors(r->id, r->less));
        if (r->unit != NO_BAR)
            printf("  %.4g %s, %s", r->bar, r->unit == NANOSECONDS ? "ns" : "x",
                   holds(r) ? "held" : "MISSED");
        printf("\n");
    }
}

static void print_json(int cpu)
{
    printf("{\"version\": \"%d.%d.%d\", \"operations\": %ld, \"repeats\": %d, \"cpu\": %d,\n"
           " \"results\": [",
           SCOPE_VERSION_MAJOR, SCOPE_VERSION_MINOR, SCOPE_VERSION_PATCH, operations, repeats, cpu);
    for (int i = 0; i < RESULT_COUNT; i++) {
        const struct result *r = &results[i];
        const struct figure f = figure_of(r->id, r->less);
        printf(
            "%s\n  {\"name\": \"%s\", \"minimum_ns\": %.3f, \"median_ns\": %.3f, \"floors\": %.3f",
            i > 0 ? "," : "", r->key, f.minimum, f.median, in_floors(r->id, r->less));
        if (r->unit != NO_BAR)
            printf(", \"bar\": %g, \"bar_unit\": \"%s\", \"held\": %s", r->bar,
                   r->unit == NANOSECONDS ? "ns" : "floors", holds(r) ? "true" : "false");
        printf("}");
    }
    printf("\n ]}\n");
}

/* The CPU this process stays on from here, -1 when it may not choose. */
static int pin(void)
{
    const int cpu = sched_getcpu();
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)(cpu < 0 ? 0 : cpu), &set);
    return cpu >= 0 && sched_setaffinity(0, sizeof set, &set) == 0 ? cpu : -1;
}

static long number_after(int *i, int argc, char **argv, long least, long most)
{
    char *end = "x";
    const long number = *i + 1 < argc ? strtol(argv[*i + 1], &end, 10) : 0;

    if (*end != '\0' || number < least || number > most)
        fail(argv[*i], "wants a number in range");
    ++*i;
    return number;
}

int main(int argc, char **argv)
{
    int json = 0, check = 0, cpu, missed = 0;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0)
            json = 1;
        else if (strcmp(argv[i], "--check") == 0)
            check = 1;
        else if (strcmp(argv[i], "--operations") == 0)
            operations = number_after(&i, argc, argv, 1000, 10000000);
        else if (strcmp(argv[i], "--repeats") == 0)
            repeats = (int)number_after(&i, argc, argv, REPEATS_MIN, REPEATS_MAX);
        else
            fail(argv[i], "options are --operations N, --repeats N, --json, --check");
    }
    make_folder();
    setenv("SCOPE_PROFILER_ENABLED", "0", 1); /* nothing runs but what this program starts */
    cpu = pin();
    region = scope_region("benchmark");
    MPI_Init(&argc, &argv);
    record_pairs_and_calls();
    record_no_calls();
    record_the_truth();
    MPI_Finalize();
    remove_folder();
    (json ? print_json : print_text)(cpu);
    for (int i = 0; i < RESULT_COUNT; i++)
        missed += !holds(&results[i]);
    return check && missed > 0;
}
