/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * base: what every file needs: the status list, the one way to report a
 * failure, checked allocation and a growable byte string. Any thread.
 */
#ifndef SC_BASE_H
#define SC_BASE_H

#include <stddef.h>
#include <stdint.h>

/* Name, value, text: the one list of what can go wrong. scope.h publishes the same values. */
#define SC_STATUS(X)                                                  \
    X(OK, 0, "success")                                               \
    X(EINVAL, -1, "invalid argument or setting")                      \
    X(ENOMEM, -2, "out of memory")                                    \
    X(ESTATE, -3, "not possible in the present state")                \
    X(EIO, -4, "cannot read or write a file")                         \
    X(EFORMAT, -5, "not a profile this version can read")             \
    X(EUNAVAIL, -6, "not available in this build or on this machine") \
    X(EMPI, -7, "MPI reported an error")

#define SC_STATUS_ENUM(name, value, text) SC_##name = (value),
enum sc_status { SC_STATUS(SC_STATUS_ENUM) };

/* Any thread. The text of a status; never NULL. */
const char *sc_status_text(int status);

/* Any thread. Keeps the message as the calling thread's last error and returns status unchanged. */
int sc_fail(int status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Any thread. The calling thread's last failure, "" if none; lent until its next failure. */
const char *sc_last_error(void);

/* Any thread. One line "scope: ..." on standard error, control characters replaced; errno is
 * kept. */
void sc_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Any thread. These bytes on standard error, in one write(2) if it takes them all; errno is kept, a
 * closed pipe raises no SIGPIPE. */
void sc_write_stderr(const char *text, size_t length);

/* Bytes of the UTF-8 character at text, of which length > 0 bytes are left; 0 if it is none
 * (overlong forms, surrogates). */
size_t sc_utf8_length(const char *text, size_t length);

/* Growable byte string: data is always NUL-terminated when not NULL; the terminator is not
 * counted. */
struct sc_string {
    char *data;
    size_t length;
    size_t capacity;
};

/* 0 or SC_ENOMEM (the string is unchanged then). */
int sc_string_append(struct sc_string *s, const void *bytes, size_t length);
int sc_string_print(struct sc_string *s, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Appends text as a JSON string with quotes; invalid UTF-8 becomes U+FFFD. */
int sc_string_json(struct sc_string *s, const char *text, size_t length);
void sc_string_free(struct sc_string *s);

/*
 * Grows *array (elements of size bytes) to hold at least wanted; *capacity is in elements.
 * 0 or SC_ENOMEM (nothing changed then).
 */
int sc_array_reserve(void *array, size_t *capacity, size_t wanted, size_t size);

/* FNV-1a with a final mix; for hash tables, never stored in a file. */
uint64_t sc_hash(const void *bytes, size_t length);

#endif
