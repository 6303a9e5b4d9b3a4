/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>
#endif

#include "scope.h"

__extension__ typedef __int128 int128;

enum source { SOURCE_INLINE, SOURCE_SYSTEM, SOURCE_TEST };

enum { SCALE_BITS = 48 };

static struct {
    enum source source;
    uint64_t test_step;
    uint64_t test_now;
    struct sc_clock_point first;
    int64_t scale; /* ns per tick, times 2^SCALE_BITS */
} clk = {.source = SOURCE_SYSTEM, .scale = (int64_t)1 << SCALE_BITS};

/* Threads may read the clock while a new recording chooses it. */
static enum source source(void)
{
    return __atomic_load_n(&clk.source, __ATOMIC_RELAXED);
}

static int64_t read_clock(clockid_t id)
{
    struct timespec ts;

    clock_gettime(id, &ts);
    return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

#if defined(__x86_64__) || defined(__i386__)
/* The kernel takes "tsc" off this list when it has seen the counter misbehave. */
static bool kernel_lists_tsc(void)
{
    static const char path[] = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
    char text[256];
    ssize_t got;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return false;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return false;
    text[got] = '\0';
    for (char *save = NULL, *word = strtok_r(text, " \n", &save); word != NULL;
         word = strtok_r(NULL, " \n", &save))
        if (strcmp(word, "tsc") == 0)
            return true;
    return false;
}
#endif

/* True when the counter behind scope_ticks_() runs at one rate on all CPUs and never stops. */
static bool counter_is_vouched_for(void)
{
#if defined(__x86_64__) || defined(__i386__)
    unsigned a, b, c, d;

    if (!__get_cpuid(0x80000007, &a, &b, &c, &d) || (d & (1u << 8)) == 0)
        return false;
    return kernel_lists_tsc();
#elif defined(__aarch64__)
    return true; /* the architecture says so */
#else
    return false;
#endif
}

/* The reading with the least time around it out of several. */
struct sc_clock_point sc_clock_point(void)
{
    struct sc_clock_point best = {0, 0};
    uint64_t least = UINT64_MAX;

    if (source() == SOURCE_TEST)
        return best;
    for (int i = 0; i < 16; i++) {
        uint64_t before = sc_clock_ticks();
        int64_t ns = read_clock(CLOCK_MONOTONIC);
        uint64_t after = sc_clock_ticks();
        if (after - before < least) {
            least = after - before;
            best.ticks = before + (after - before) / 2;
            best.ns = ns;
        }
    }
    return best;
}

void sc_clock_start(void)
{
    const char *test = getenv("SCOPE_TEST_CLOCK");

    enum source chosen = counter_is_vouched_for() ? SOURCE_INLINE : SOURCE_SYSTEM;

    if (test != NULL && strtoull(test, NULL, 10) > 0) {
        chosen = SOURCE_TEST;
        clk.test_step = strtoull(test, NULL, 10);
        __atomic_store_n(&clk.test_now, 0, __ATOMIC_RELAXED);
    }
    __atomic_store_n(&clk.source, chosen, __ATOMIC_RELAXED);
    clk.first = sc_clock_point();
}

/* Whether two points make a clock, of 100 kHz to 1 THz. */
static bool fits(struct sc_clock_point first, struct sc_clock_point second)
{
    const double ticks = (double)second.ticks - (double)first.ticks;
    const double ns = (double)second.ns - (double)first.ns;

    return ticks > 0 && ns > 0 && ticks < ns * 1e3 && ns < ticks * 1e4;
}

/* Conversions go through the first point and this one, unless it is none. */
static void use_point(struct sc_clock_point now)
{
    if (!fits(clk.first, now))
        return;
    __atomic_store_n(&clk.scale,
                     (int64_t)((((int128)now.ns - clk.first.ns) << SCALE_BITS) /
                               (int128)(now.ticks - clk.first.ticks)),
                     __ATOMIC_RELAXED);
}

void sc_clock_calibrate(void)
{
    if (source() == SOURCE_INLINE)
        use_point(sc_clock_point());
}

struct sc_clock_point sc_clock_first(void)
{
    return clk.first;
}

void sc_clock_restore(struct sc_clock_point first, struct sc_clock_point second, bool can_go_on)
{
    static struct sc_clock_point now; /* one: what is read twice has the same times again */

    __atomic_store_n(&clk.source, counter_is_vouched_for() ? SOURCE_INLINE : SOURCE_SYSTEM,
                     __ATOMIC_RELAXED);
    clk.scale = (int64_t)1 << SCALE_BITS;
    clk.first = first;
    if (can_go_on && source() == SOURCE_INLINE) {
        if (now.ticks == 0)
            now = sc_clock_point();
        second = now;
    }
    use_point(second);
}

bool sc_clock_is_inline(void)
{
    return source() == SOURCE_INLINE;
}

uint64_t sc_clock_ticks(void)
{
    if (source() == SOURCE_INLINE)
        return scope_ticks_();
    if (source() == SOURCE_TEST)
        return __atomic_add_fetch(&clk.test_now, clk.test_step, __ATOMIC_RELAXED);
    return (uint64_t)read_clock(CLOCK_MONOTONIC);
}

const char *sc_clock_name(void)
{
    if (source() == SOURCE_TEST)
        return "test";
    if (source() == SOURCE_SYSTEM)
        return "clock_gettime";
#if defined(__aarch64__)
    return "cntvct";
#else
    return "tsc";
#endif
}

int64_t sc_clock_ns(uint64_t ticks)
{
    int64_t delta = (int64_t)(ticks - clk.first.ticks);
    int64_t scale = __atomic_load_n(&clk.scale, __ATOMIC_RELAXED);

    const int128 ns = clk.first.ns + (((int128)delta * scale) >> SCALE_BITS);
    const int128 most = (int128)1 << 61; /* differences are numbers, too */

    return (int64_t)(ns > most ? most : ns < -most ? -most : ns);
}

double sc_clock_length(double ticks)
{
    return ticks * (double)__atomic_load_n(&clk.scale, __ATOMIC_RELAXED) /
           (double)((int64_t)1 << SCALE_BITS);
}

int64_t sc_clock_monotonic(void)
{
    return source() == SOURCE_TEST ? 0 : read_clock(CLOCK_MONOTONIC);
}

int64_t sc_clock_cpu(void)
{
    return source() == SOURCE_TEST ? 0 : read_clock(CLOCK_THREAD_CPUTIME_ID);
}

int64_t sc_clock_epoch(void)
{
    return source() == SOURCE_TEST ? 0 : read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
}
