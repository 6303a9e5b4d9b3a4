/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * base: status texts, the last error, the log line, growable strings and arrays. Any thread. The
 * last error hangs on a pthread key whose destructor is free(): no thread-local storage of ours to
 * fit into a program's static TLS block, and nothing of ours to call when a thread ends after an
 * unload.
 */
#include "base.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { MESSAGE_MAX = 4608 }; /* a path of PATH_MAX and a reason */

#define STATUS_CASE(name, value, text) \
    case value:                        \
        return text;

const char *sc_status_text(int status)
{
    switch (status) {
        SC_STATUS(STATUS_CASE)
    default:
        return "unknown status";
    }
}

static pthread_once_t message_once = PTHREAD_ONCE_INIT;
static pthread_key_t message_key;
static bool message_usable;

static void message_start(void)
{
    message_usable = pthread_key_create(&message_key, free) == 0;
}

/* The calling thread's message, NULL if it has none. */
static char *message_get(void)
{
    pthread_once(&message_once, message_start);
    return message_usable ? pthread_getspecific(message_key) : NULL;
}

int sc_fail(int status, const char *format, ...)
{
    int saved = errno;
    char text[MESSAGE_MAX]; /* the arguments may point into the message that is about to change */
    va_list arguments;
    va_start(arguments, format);
    errno = saved; /* for %m */
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    char *message = message_get();
    if (message == NULL && message_usable) {
        message = malloc(MESSAGE_MAX);
        if (message != NULL && pthread_setspecific(message_key, message) != 0) {
            free(message);
            message = NULL;
        }
    }
    if (message != NULL)
        memcpy(message, length < 0 ? "" : text, length < 0 ? 1 : strlen(text) + 1);
    errno = saved;
    return status;
}

const char *sc_last_error(void)
{
    const char *message = message_get();
    return message != NULL ? message : "";
}

/* Holds SIGPIPE back while standard error is a pipe nobody reads: a message must not end the
 * program. */
void sc_write_stderr(const char *text, size_t length)
{
    int saved = errno;
    sigset_t pipe_signal, pending, before;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigemptyset(&pending);
    sigpending(&pending);
    bool held = pthread_sigmask(SIG_BLOCK, &pipe_signal, &before) == 0;
    ssize_t written = 0;
    while (length > 0) {
        written = write(STDERR_FILENO, text, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            break;
        text += written;
        length -= (size_t)written;
    }
    if (held) {
        const struct timespec now = {0, 0};
        if (written < 0 && errno == EPIPE && sigismember(&pending, SIGPIPE) == 0)
            sigtimedwait(&pipe_signal, NULL, &now);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    errno = saved;
}

void sc_log(const char *format, ...)
{
    static const char prefix[] = "scope: ";
    enum { PREFIX = sizeof prefix - 1 };
    int saved = errno;
    char line[PREFIX + MESSAGE_MAX + 1];
    memcpy(line, prefix, PREFIX);
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(line + PREFIX, MESSAGE_MAX, format, arguments);
    va_end(arguments);
    if (length < 0)
        length = 0;
    size_t end = PREFIX + (length < MESSAGE_MAX ? (size_t)length : (size_t)MESSAGE_MAX - 1);
    for (size_t i = PREFIX; i < end; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] =
                line[i] == '\n' || line[i] == '\t' ? ' ' : '?'; /* one line, no escape codes */
    line[end++] = '\n';
    sc_write_stderr(line, end);
    errno = saved;
}

/* Room for more bytes and the terminator. */
static int string_reserve(struct sc_string *s, size_t more)
{
    if (more > SIZE_MAX - s->length - 1)
        return SC_ENOMEM;
    return sc_array_reserve(&s->data, &s->capacity, s->length + more + 1, 1);
}

int sc_string_append(struct sc_string *s, const void *bytes, size_t length)
{
    int rc = string_reserve(s, length);
    if (rc != 0)
        return rc;
    if (length > 0)
        memcpy(s->data + s->length, bytes, length);
    s->length += length;
    s->data[s->length] = '\0';
    return 0;
}

int sc_string_print(struct sc_string *s, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    int rc = length < 0 ? SC_ENOMEM : string_reserve(s, (size_t)length);
    if (rc == 0) {
        vsnprintf(s->data + s->length, (size_t)length + 1, format, again);
        s->length += (size_t)length;
    }
    va_end(again);
    return rc;
}

size_t sc_utf8_length(const char *text, size_t length)
{
    static const struct {
        unsigned char first, last, second_first, second_last;
        size_t bytes;
    } form[] = {
        {0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    const unsigned char *at = (const unsigned char *)text;
    for (size_t f = 0; f < sizeof form / sizeof form[0]; f++) {
        if (at[0] < form[f].first || at[0] > form[f].last)
            continue;
        size_t bytes = form[f].bytes;
        if (bytes > length)
            return 0;
        if (bytes > 1 && (at[1] < form[f].second_first || at[1] > form[f].second_last))
            return 0;
        for (size_t i = 2; i < bytes; i++)
            if ((at[i] & 0xc0) != 0x80)
                return 0;
        return bytes;
    }
    return 0;
}

/* One character of bytes bytes (0: not a character) as it stands inside a JSON string. */
static int json_character(struct sc_string *s, const char *at, size_t bytes)
{
    static const char short_form[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    if (bytes == 0)
        return sc_string_append(s, "\xef\xbf\xbd", 3);
    if (bytes > 1)
        return sc_string_append(s, at, bytes);
    for (size_t i = 0; i + 1 < sizeof short_form; i += 2)
        if (*at == short_form[i])
            return sc_string_print(s, "\\%c", short_form[i + 1]);
    if ((unsigned char)*at < ' ' || *at == 0x7f)
        return sc_string_print(s, "\\u%04x", (unsigned char)*at);
    return sc_string_append(s, at, 1);
}

int sc_string_json(struct sc_string *s, const char *text, size_t length)
{
    size_t before = s->length;
    int rc = sc_string_append(s, "\"", 1);
    for (size_t i = 0; rc == 0 && i < length;) {
        size_t bytes = sc_utf8_length(text + i, length - i);
        rc = json_character(s, text + i, bytes);
        i += bytes > 0 ? bytes : 1;
    }
    if (rc == 0)
        rc = sc_string_append(s, "\"", 1);
    if (rc != 0) {
        s->length = before;
        if (s->data != NULL)
            s->data[before] = '\0';
    }
    return rc;
}

void sc_string_free(struct sc_string *s)
{
    free(s->data);
    *s = (struct sc_string){0};
}

int sc_array_reserve(void *array, size_t *capacity, size_t wanted, size_t size)
{
    if (wanted <= *capacity)
        return 0;
    size_t grown = *capacity + *capacity / 2;
    if (grown < wanted)
        grown = wanted;
    if (grown < 16)
        grown = 16;
    if (size != 0 && grown > SIZE_MAX / size)
        return SC_ENOMEM;
    void *old;
    memcpy(&old, array, sizeof old); /* array is the address of any kind of object pointer */
    void *moved = realloc(old, grown * size);
    if (moved == NULL)
        return SC_ENOMEM;
    memcpy(array, &moved, sizeof moved);
    *capacity = grown;
    return 0;
}

uint64_t sc_hash(const void *bytes, size_t length)
{
    const unsigned char *at = bytes;
    uint64_t h = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        h = (h ^ at[i]) * UINT64_C(1099511628211);
    h = (h ^ (h >> 33)) * UINT64_C(0xff51afd7ed558ccd);
    h = (h ^ (h >> 33)) * UINT64_C(0xc4ceb9fe1a85ec53);
    return h ^ (h >> 33);
}
