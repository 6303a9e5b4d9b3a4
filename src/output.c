/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

/* Bytes of the path before its last part. */
static size_t folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? 0 : (size_t)(slash - path) + 1;
}

/* A link stays one, what it leads to is the profile. 0 or a status. */
static int follow_links(struct sc_string *path)
{
    enum { LINKS = 16 };
    char target[SC_TEXT_MAX];

    for (int i = 0; i < LINKS; i++) {
        struct sc_string next = {0};
        ssize_t length = readlink(path->data, target, sizeof target);
        size_t folder = folder_of(path->data);

        if (length <= 0 || length == sizeof target)
            return 0;
        if (target[0] == '/')
            folder = 0;
        if (sc_string_append(&next, path->data, folder) != 0 ||
            sc_string_append(&next, target, (size_t)length) != 0) {
            sc_string_free(&next);
            return sc_fail(SC_ENOMEM, "no memory to publish");
        }
        sc_string_free(path);
        *path = next;
    }
    return sc_fail(SC_EIO, "%s: too many links", path->data);
}

/* The temporary file is hidden; its name never is longer than allowed. */
int sc_output_choose(const char *path, uint64_t unique, struct sc_output *out)
{
    struct sc_string at = {0};
    struct stat info;
    int rc = sc_string_append(&at, path, strlen(path));

    if (rc == 0)
        rc = follow_links(&at);
    if (rc == 0 && at.length >= sizeof out->path)
        rc = sc_fail(SC_EINVAL, "%.60s...: the path is too long", at.data);
    if (rc == 0 && stat(at.data, &info) == 0 && !S_ISREG(info.st_mode))
        rc = sc_fail(SC_EIO, "%s: is there and no regular file", at.data);
    if (rc == 0) {
        memcpy(out->path, at.data, at.length + 1);
        snprintf(out->temporary, sizeof out->temporary, "%.*s.scope-%ld-%" PRIx64,
                 (int)folder_of(out->path), out->path, (long)getpid(), unique);
    }
    sc_string_free(&at);
    return rc;
}

static int sync_path(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) != 0 ? errno : 0;

    if (fd >= 0 && close(fd) != 0 && rc == 0)
        rc = errno;
    return rc == EINVAL ? 0 : rc; /* a file system that cannot be told to */
}

int sc_output_commit(const struct sc_output *o, uint64_t *bytes)
{
    char folder[sizeof o->path];
    struct stat info;
    int error = sync_path(o->temporary, O_RDWR);

    if (error == 0 && stat(o->temporary, &info) == 0)
        *bytes = (uint64_t)info.st_size;
    if (error == 0 && rename(o->temporary, o->path) != 0)
        error = errno;
    if (error != 0)
        return sc_fail(SC_EIO, "%s: %s", o->path, strerror(error));
    snprintf(folder, sizeof folder, "%.*s.", (int)folder_of(o->path), o->path);
    sync_path(folder, O_RDONLY | O_DIRECTORY); /* the file is in place whatever this says */
    return 0;
}

void sc_output_discard(const struct sc_output *o, int rc)
{
    size_t length = strlen(o->temporary);
    char *reason = strdup(sc_last_error());

    unlink(o->temporary);
    if (reason != NULL && strncmp(reason, o->temporary, length) == 0)
        sc_fail(rc, "%s%s", o->path, reason + length);
    free(reason);
}
