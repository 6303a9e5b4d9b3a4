/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * meta: the list of facts. It owns every byte it holds.
 */
#include "meta.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "h5write.h"
#include "image.h"

enum {
    TEXT_CHARACTERS = 60000,
    TEXTS_COUNT = 4000 /* an HDF5 attribute holds 64 KiB: 4096 references to texts */
};
static const char truncated[] = "...[truncated]";

/* A copy in valid UTF-8, cut where it is too long; NULL without memory. */
static char *clean_copy(const char *text)
{
    struct sc_string s = {0};
    size_t left = strlen(text), characters = 0;
    int rc = sc_string_append(&s, "", 0);
    for (; rc == 0 && left > 0 && characters < TEXT_CHARACTERS; characters++) {
        size_t bytes = sc_utf8_length(text, left);
        rc =
            bytes > 0 ? sc_string_append(&s, text, bytes) : sc_string_append(&s, "\xef\xbf\xbd", 3);
        bytes += bytes == 0;
        text += bytes;
        left -= bytes;
    }
    if (rc == 0 && left > 0)
        rc = sc_string_append(&s, truncated, sizeof truncated - 1);
    if (rc != 0)
        sc_string_free(&s);
    return s.data;
}

/* The list owns what its attributes, written for readers, only lend. */
static void value_free(struct sc_h5_attribute *a)
{
    for (size_t i = 0; a->texts != NULL && i < a->count; i++)
        free((void *)a->texts[i]);
    free((void *)a->texts);
    free((void *)a->text);
}

/* Takes value over (its name is not set yet); it is freed when it cannot be kept. */
static int facts_set(struct sc_facts *f, const char *name, struct sc_h5_attribute value)
{
    for (size_t i = 0; i < f->count; i++) {
        if (strcmp(f->attribute[i].name, name) != 0)
            continue;
        value.name = f->attribute[i].name;
        value_free(&f->attribute[i]);
        f->attribute[i] = value;
        return 0;
    }
    value.name = strdup(name);
    if (value.name == NULL ||
        sc_array_reserve(&f->attribute, &f->capacity, f->count + 1, sizeof *f->attribute) != 0) {
        free((void *)value.name);
        value_free(&value);
        return SC_ENOMEM;
    }
    f->attribute[f->count++] = value;
    return 0;
}

int sc_facts_int(struct sc_facts *f, const char *name, int64_t value)
{
    return facts_set(f, name, (struct sc_h5_attribute){.kind = SC_H5_INT, .integer = value});
}

int sc_facts_real(struct sc_facts *f, const char *name, double value)
{
    return facts_set(f, name, (struct sc_h5_attribute){.kind = SC_H5_REAL, .real = value});
}

int sc_facts_text(struct sc_facts *f, const char *name, const char *value)
{
    char *text = clean_copy(value);
    if (text == NULL)
        return SC_ENOMEM;
    return facts_set(f, name, (struct sc_h5_attribute){.kind = SC_H5_TEXT, .text = text});
}

int sc_facts_texts(struct sc_facts *f, const char *name, const char *const *values, size_t count)
{
    bool cut = count > TEXTS_COUNT;
    size_t kept = cut ? TEXTS_COUNT : count;
    const char **texts = calloc(kept + 1, sizeof *texts);
    struct sc_h5_attribute value = {.kind = SC_H5_TEXTS, .texts = texts, .count = kept};
    bool complete = texts != NULL;
    for (size_t i = 0; complete && i < kept; i++) {
        texts[i] = clean_copy(cut && i == kept - 1 ? truncated : values[i]);
        complete = texts[i] != NULL;
    }
    if (!complete) {
        value_free(&value);
        return SC_ENOMEM;
    }
    return facts_set(f, name, value);
}

int sc_facts_time(struct sc_facts *f, const char *name, int64_t realtime_ns)
{
    int64_t second = 1000000000;
    int64_t nanoseconds = realtime_ns % second;
    if (nanoseconds < 0)
        nanoseconds += second;
    time_t seconds = (time_t)((realtime_ns - nanoseconds) / second);
    struct tm utc;
    char date[32], text[64];
    if (gmtime_r(&seconds, &utc) == NULL ||
        strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc) == 0)
        return 0;
    snprintf(text, sizeof text, "%s.%06d+00:00", date, (int)(nanoseconds / 1000));
    return sc_facts_text(f, name, text);
}

void sc_facts_free(struct sc_facts *f)
{
    for (size_t i = 0; i < f->count; i++) {
        free((void *)f->attribute[i].name);
        value_free(&f->attribute[i]);
    }
    free(f->attribute);
    *f = (struct sc_facts){0};
}

/* ---- notes: kind, name with NUL, then 8 bytes of number, or texts with NUL each ---- */

static int print_note(struct sc_string *s, const struct sc_h5_attribute *a)
{
    const int32_t kind = a->kind;
    int rc = sc_string_append(s, &kind, sizeof kind);

    if (rc == 0)
        rc = sc_string_append(s, a->name, strlen(a->name) + 1);
    if (rc == 0 && a->kind == SC_H5_INT)
        rc = sc_string_append(s, &a->integer, sizeof a->integer);
    if (rc == 0 && a->kind == SC_H5_REAL)
        rc = sc_string_append(s, &a->real, sizeof a->real);
    if (rc == 0 && a->kind == SC_H5_TEXT)
        rc = sc_string_append(s, a->text, strlen(a->text) + 1);
    for (size_t i = 0; rc == 0 && a->kind == SC_H5_TEXTS && i < a->count; i++)
        rc = sc_string_append(s, a->texts[i], strlen(a->texts[i]) + 1);
    return rc;
}

void sc_facts_note(const struct sc_facts *f)
{
    for (size_t i = 0; i < f->count; i++) {
        struct sc_string s = {0};

        if (print_note(&s, &f->attribute[i]) == 0)
            sc_image_note(SC_NOTE_FACT, (uint32_t)i, s.data, s.length);
        sc_string_free(&s);
    }
}

static int read_texts(struct sc_facts *f, const char *name, const char *value, const char *end)
{
    const char **texts = calloc((size_t)(end - value) + 1, sizeof *texts);
    size_t count = 0;
    int rc;

    for (; texts != NULL && value < end; value += strlen(value) + 1)
        texts[count++] = value;
    rc = texts == NULL ? SC_ENOMEM : sc_facts_texts(f, name, texts, count);
    free(texts);
    return rc;
}

int sc_facts_read(struct sc_facts *f, const char *note, size_t length)
{
    const char *end = note + length, *name = note + sizeof(int32_t), *value;
    int32_t kind;
    int64_t integer;
    double real;

    if (length < sizeof kind + 1 || memchr(name, '\0', length - sizeof kind) == NULL)
        return SC_EFORMAT;
    memcpy(&kind, note, sizeof kind);
    value = name + strlen(name) + 1;
    if ((kind == SC_H5_INT || kind == SC_H5_REAL) && end - value == sizeof integer) {
        memcpy(&integer, value, sizeof integer);
        memcpy(&real, value, sizeof real);
        return kind == SC_H5_INT ? sc_facts_int(f, name, integer) : sc_facts_real(f, name, real);
    }
    if ((kind != SC_H5_TEXT && kind != SC_H5_TEXTS) || (end > value && end[-1] != '\0') ||
        (kind == SC_H5_TEXT && value == end))
        return SC_EFORMAT;
    return kind == SC_H5_TEXT ? sc_facts_text(f, name, value) : read_texts(f, name, value, end);
}

/* The probe's place when it is not part of the build. */
#ifndef HAVE_LIKWID
int sc_meta_likwid(struct sc_string *out)
{
    (void)out;
    return sc_fail(SC_EUNAVAIL, "LIKWID: not part of this build");
}
#endif
