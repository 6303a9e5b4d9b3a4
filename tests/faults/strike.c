/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * strike TRUTH WHAT VICTIM RANKS AFTER LIMIT COMMAND...: runs the command, which starts ends.c on
 * ranks, and waits until it and all that it started are gone. WHAT is "-", or a signal that is sent
 * when VICTIM (a rank, -1 all of them, -2 the command itself) is at its moment: it says that it is
 * ready, or has done AFTER exchanges if that is not 0. Prints the command's exit status, or "hang"
 * when something is left after LIMIT seconds; that is killed then.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "truth.h"

static struct {
    int number, victim, ranks;
    bool hits_command;
    uint64_t after;
    pid_t command;
    struct truth *truth;
} strike;

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_at_moment(const struct truth_rank *r)
{
    if (strike.after > 0)
        return truth_get(&r->calls[0][TRUTH_SENDRECV].done) >= strike.after;
    return __atomic_load_n(&r->is_ready, __ATOMIC_ACQUIRE) != 0;
}

static bool victims_are_at_moment(void)
{
    int there = 0;

    for (int i = 0; i < strike.ranks; i++)
        if (strike.victim < 0 || strike.victim == i)
            there += is_at_moment(&strike.truth->rank[i]);
    return strike.victim < 0 && !strike.hits_command ? there == strike.ranks : there > 0;
}

static void kill_ranks(int number, int victim)
{
    for (int i = 0; i < strike.ranks; i++)
        if (strike.truth->rank[i].pid > 0 && (victim < 0 || victim == i))
            kill(strike.truth->rank[i].pid, number);
}

/* True: there is nothing more to wait for. */
static bool reap(int *status)
{
    for (;;) {
        int how = 0;
        pid_t ended = waitpid(-1, &how, WNOHANG);

        if (ended < 0 && errno == EINTR)
            continue;
        if (ended == strike.command)
            *status = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
        if (ended <= 0)
            return ended < 0;
    }
}

static int number_of(const char *name)
{
    for (int i = 1; i < NSIG; i++)
        if (sigabbrev_np(i) != NULL && strcmp(sigabbrev_np(i), name) == 0)
            return i;
    return 0;
}

static bool watch(double limit, int *status)
{
    const struct timespec moment = {0, 500000};
    const double end = now() + limit;
    bool has_struck = strike.number == 0, is_late = false;

    while (!reap(status)) {
        if (!has_struck && victims_are_at_moment()) {
            has_struck = true;
            if (strike.hits_command)
                kill(strike.command, strike.number);
            else
                kill_ranks(strike.number, strike.victim);
        }
        if (!is_late && now() > end) {
            is_late = true;
            kill_ranks(SIGKILL, -1);
            kill(strike.command, SIGTERM);
        } else if (now() > end + 10) {
            kill(strike.command, SIGKILL);
            break;
        }
        nanosleep(&moment, NULL);
    }
    return !is_late;
}

int main(int argc, char **argv)
{
    int status = -1;

    if (argc < 8 || (strike.truth = truth_map(argv[1])) == NULL)
        return 2;
    strike.number = number_of(argv[2]);
    strike.hits_command = strcmp(argv[3], "command") == 0;
    strike.victim = strike.hits_command ? -1 : atoi(argv[3]);
    strike.ranks = atoi(argv[4]);
    strike.after = strtoull(argv[5], NULL, 10);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); /* those that a killed command leaves come here */
    strike.command = fork();
    if (strike.command == 0) {
        execvp(argv[7], argv + 7);
        _exit(127);
    }
    if (strike.command < 0 || !watch(atof(argv[6]), &status))
        puts("hang");
    else
        printf("%d\n", status);
    return 0;
}
