/* SPDX-License-Identifier: BSD-3-Clause */
#include "library.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"

/* The library at a place relative to this program's folder; true when it is there. */
static bool beside_program(const char *place, char *out)
{
    char program[PATH_MAX], path[PATH_MAX + 64];
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    char *slash;

    if (length < 0)
        return false;
    program[length] = '\0';
    slash = strrchr(program, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    snprintf(path, sizeof path, "%s/%s/libscope.so", program, place);
    return realpath(path, out) != NULL;
}

int library_find(char *out)
{
    static const char *const places[] = {".libs", "../lib", "../lib64"};
    const char *named = getenv("SCOPE_LIBRARY");

    if (named != NULL && named[0] != '\0') {
        if (realpath(named, out) == NULL)
            return sc_fail(SC_EUNAVAIL, "SCOPE_LIBRARY: %s: %s", named, strerror(errno));
        return 0;
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++)
        if (beside_program(places[i], out))
            return 0;
    if (realpath(SC_LIBDIR "/libscope.so", out) == NULL)
        return sc_fail(SC_EUNAVAIL,
                       "libscope.so is neither beside this program nor in %s (set SCOPE_LIBRARY)",
                       SC_LIBDIR);
    return 0;
}
