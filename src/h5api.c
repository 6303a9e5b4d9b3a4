/* SPDX-License-Identifier: BSD-3-Clause */
#include "h5api.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base.h"

struct symbol {
    const char *name;
    size_t offset; /* of the member of struct sc_h5api */
    bool optional;
};

#define REQUIRED(name) {#name, offsetof(struct sc_h5api, name), false},
#define OPTIONAL(name) {#name, offsetof(struct sc_h5api, name), true},
static const struct symbol functions[] = {SC_H5_FUNCTIONS(REQUIRED) SC_H5_OPTIONAL(OPTIONAL)};
static const struct symbol values[] = {SC_H5_VALUES(REQUIRED)};

enum { REASON = 512 };

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* HDF5's state belongs to the process, so does the one copy we use. */
static struct {
    void *library;
    struct sc_h5api api;
} loaded;

static int find_functions(void *library, const char *file, struct sc_h5api *api)
{
    for (size_t i = 0; i < COUNT(functions); i++) {
        void *address = dlsym(library, functions[i].name);

        if (address == NULL && !functions[i].optional)
            return sc_fail(SC_EUNAVAIL, "HDF5: %s has no %s", file, functions[i].name);
        memcpy((char *)api + functions[i].offset, &address, sizeof(address));
    }
    return 0;
}

/* The library is initialized: its predefined types and classes have their values. */
static int find_values(void *library, struct sc_h5api *api)
{
    if (api->H5open() < 0)
        return sc_fail(SC_EUNAVAIL, "HDF5: the library does not start");
    for (size_t i = 0; i < COUNT(values); i++) {
        const hid_t *value = dlsym(library, values[i].name);

        if (value == NULL)
            return sc_fail(SC_EUNAVAIL, "HDF5: the library has no %s", values[i].name);
        memcpy((char *)api + values[i].offset, value, sizeof(*value));
    }
    return 0;
}

static int check_version(const struct sc_h5api *api, const char *file)
{
    unsigned major = 0, minor = 0, release = 0;

    /* Before anything starts the library: a file whose closing failed must not be closed again in
     * exit(). */
    api->H5dont_atexit();
    if (api->H5get_libversion(&major, &minor, &release) < 0)
        return sc_fail(SC_EUNAVAIL, "HDF5: %s does not tell its version", file);
    if (major != H5_VERS_MAJOR || minor != H5_VERS_MINOR)
        return sc_fail(SC_EUNAVAIL, "HDF5: %s is version %u.%u.%u, this build needs %d.%d", file,
                       major, minor, release, H5_VERS_MAJOR, H5_VERS_MINOR);
    return 0;
}

/* An unsuitable library stays loaded: it may have left callbacks with MPI. */
static int load_one(const char *file)
{
    struct sc_h5api api;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    int rc;

    if (library == NULL)
        return sc_fail(SC_EUNAVAIL, "HDF5: %s", dlerror());
    rc = find_functions(library, file, &api);
    if (rc == 0)
        rc = check_version(&api, file);
    if (rc == 0) {
        loaded.api = api;
        loaded.library = library;
    }
    return rc;
}

int sc_h5_load(const char *const *candidates, const struct sc_h5api **out)
{
    const char *explicit_file = getenv("SCOPE_HDF5_LIBRARY");
    int rc = 0;

    if (loaded.library == NULL && explicit_file != NULL && explicit_file[0] != '\0') {
        rc = load_one(explicit_file);
    } else if (loaded.library == NULL) {
        rc = sc_fail(SC_EUNAVAIL, "HDF5: this build names no library");
        for (size_t i = 0; rc != 0 && candidates[i] != NULL; i++)
            if (candidates[i][0] != '\0')
                rc = load_one(candidates[i]);
    }
    if (rc == 0)
        rc = find_values(loaded.library, &loaded.api);
    if (rc == 0)
        *out = &loaded.api;
    return rc;
}

void sc_h5_quiet(const struct sc_h5api *h5, struct sc_h5_printing *saved)
{
    sigset_t limit, pending;

    saved->function = NULL;
    saved->data = NULL;
    h5->H5Eget_auto2(H5E_DEFAULT, &saved->function, &saved->data);
    h5->H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    sigpending(&pending);
    saved->pending = sigismember(&pending, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &limit, &saved->signals);
}

void sc_h5_restore(const struct sc_h5api *h5, const struct sc_h5_printing *saved)
{
    const struct timespec at_once = {0, 0};
    sigset_t limit;

    sigemptyset(&limit);
    sigaddset(&limit, SIGXFSZ);
    if (!saved->pending)
        sigtimedwait(&limit, NULL, &at_once); /* ours, if there is one */
    pthread_sigmask(SIG_SETMASK, &saved->signals, NULL);
    h5->H5Eset_auto2(H5E_DEFAULT, saved->function, saved->data);
}

/* The innermost entry comes first; a positive return ends the walk. One line: MPI's reasons have
 * several. */
static herr_t take_description(unsigned n, const H5E_error2_t *error, void *text)
{
    (void)n;
    snprintf(text, REASON, "%s", error->desc != NULL ? error->desc : "");
    for (char *c = text; *c != '\0'; c++)
        if (*c == '\n')
            *c = ' ';
    return 1;
}

/* "file write failed: ..., error message = 'File too large', buf = ..." -> "File too large" */
static const char *system_reason(char *text)
{
    static const char mark[] = "error message = '";
    char *start = strstr(text, mark);
    char *end = start != NULL ? strchr(start + sizeof(mark) - 1, '\'') : NULL;

    if (end == NULL)
        return text;
    *end = '\0';
    return start + sizeof(mark) - 1;
}

int sc_h5_fail(const struct sc_h5api *h5, int status, const char *format, ...)
{
    char reason[REASON] = "", text[1024];
    va_list arguments;

    h5->H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_description, reason);
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    if (reason[0] == '\0')
        return sc_fail(status, "%s", text);
    return sc_fail(status, "%s: %s", text, system_reason(reason));
}

hid_t sc_h5_file_access(const struct sc_h5api *h5)
{
    hid_t list = h5->H5Pcreate(h5->H5P_CLS_FILE_ACCESS_ID_g);

    /* Our files are private until they are renamed and never change after, so a lock protects
     * nothing; and there are file systems where asking for one fails. */
    if (list >= 0 && h5->H5Pset_file_locking != NULL)
        h5->H5Pset_file_locking(list, false, true);
    return list;
}
