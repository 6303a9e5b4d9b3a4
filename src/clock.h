/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * clock: one source of ticks per process: the invariant time-stamp counter where CPU and kernel
 * vouch for it (aarch64: the generic timer), else clock_gettime(CLOCK_MONOTONIC). Ticks are
 * recorded raw and converted to nanoseconds of this host's CLOCK_MONOTONIC by the line through two
 * points, one taken at each end of the run, so the error is never above that of reading a point
 * (some 50 ns).
 */
#ifndef SC_CLOCK_H
#define SC_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Chooses the source (once) and takes the first point. SCOPE_TEST_CLOCK=N in the environment
 * replaces it by a counter that advances N ns per reading, for tests. */
void sc_clock_start(void);

/* Any thread. Takes the second point; conversions use it from here on. May be repeated; between two
 * of them conversions of one tick differ by no more than the error of a point. */
void sc_clock_calibrate(void);

/* Ticks and ns of CLOCK_MONOTONIC at one moment: now, or when the clock was started. */
struct sc_clock_point {
    uint64_t ticks;
    int64_t ns;
};
struct sc_clock_point sc_clock_point(void);
struct sc_clock_point sc_clock_first(void);

/* Conversions are those of another process from here on. can_go_on: it ran the same counter, on
 * this machine since its last start, so that a better second point can be taken now. One thread. */
void sc_clock_restore(struct sc_clock_point first, struct sc_clock_point second, bool can_go_on);

/* Any thread. True when the inline path's scope_ticks_() is the chosen source. */
bool sc_clock_is_inline(void);

/* Hot path. Any thread. The chosen source, by name in sc_clock_name(). */
uint64_t sc_clock_ticks(void);
const char *sc_clock_name(void); /* "tsc", "cntvct", "clock_gettime" or "test" */

/* Any thread, after start. Ticks to ns of CLOCK_MONOTONIC; monotonic in its argument. */
int64_t sc_clock_ns(uint64_t ticks);

/* A length in ticks, ns. */
double sc_clock_length(double ticks);

/* Processor time of the calling thread, ns (0 under the test clock). Some hundred ns. */
int64_t sc_clock_cpu(void);

/* CLOCK_MONOTONIC now, ns (0 under the test clock). */
int64_t sc_clock_monotonic(void);

/* CLOCK_REALTIME minus CLOCK_MONOTONIC now, ns: what aligns hosts by wall clock. */
int64_t sc_clock_epoch(void);

#endif
