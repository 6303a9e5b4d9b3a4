/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "ends.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

#include "image.h"

enum { KINDS = 13, CRASHES = 5 }; /* the first ones of the list */

static struct watched {
    int number;
    bool was_free; /* before MPI: nobody handled it */
    bool is_ours;
    struct sigaction before;
} watched[KINDS] = {{.number = SIGSEGV}, {.number = SIGABRT}, {.number = SIGBUS},
                    {.number = SIGFPE},  {.number = SIGILL},  {.number = SIGTERM},
                    {.number = SIGINT},  {.number = SIGHUP},  {.number = SIGQUIT},
                    {.number = SIGUSR1}, {.number = SIGUSR2}, {.number = SIGXCPU},
                    {.number = SIGALRM}};

/* Signal-safe. The first end counts. A child after fork() has the head, too, but it is not its. */
static void note(int number)
{
    struct sc_image_head *head = sc_image_head();
    int32_t unknown = SC_END_UNKNOWN;

    if (head == NULL || head->pid != getpid() || head->end_kind != unknown)
        return;
    head->end_number = number;
    head->end = sc_clock_point();
    __atomic_store_n(&head->end_kind, SC_END_SIGNAL, __ATOMIC_RELEASE);
}

/* What was there before takes over: at once for a signal that was sent, at the instruction that is
 * tried again for one of the processor. */
static void on_signal(int number, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    note(number);
    for (struct watched *w = watched; w < watched + KINDS; w++)
        if (w->number == number) {
            sigaction(number, &w->before, NULL);
            w->is_ours = false;
        }
    if (info == NULL || info->si_code <= 0 || number == SIGABRT)
        raise(number);
    errno = saved;
}

static bool is_free(const struct sigaction *a)
{
    return (a->sa_flags & SA_SIGINFO) == 0 && a->sa_handler == SIG_DFL;
}

static void take_over(struct watched *w)
{
    struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};

    sigemptyset(&ours.sa_mask);
    w->is_ours = sigaction(w->number, &ours, NULL) == 0;
}

void sc_ends_watch(void)
{
    for (struct watched *w = watched; w < watched + KINDS; w++) {
        if (sigaction(w->number, NULL, &w->before) != 0)
            continue;
        w->was_free = is_free(&w->before);
        if (w->was_free && w >= watched + CRASHES)
            take_over(w);
    }
}

void sc_ends_watch_crashes(void)
{
    for (struct watched *w = watched; w < watched + CRASHES; w++)
        if (w->was_free && !w->is_ours && sigaction(w->number, NULL, &w->before) == 0 &&
            ((w->before.sa_flags & SA_SIGINFO) != 0 || w->before.sa_handler != SIG_IGN))
            take_over(w);
}

void sc_ends_leave(void)
{
    for (struct watched *w = watched; w < watched + KINDS; w++) {
        struct sigaction now;

        if (w->is_ours && sigaction(w->number, NULL, &now) == 0 &&
            (now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == on_signal)
            sigaction(w->number, &w->before, NULL);
        w->is_ours = w->was_free = false;
    }
}
