/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "h5meta.h"

#include <stdlib.h>
#include <string.h>

/* In a damaged type the characters of a string of variable length may be large. */
static bool of_bytes(const struct sc_h5api *h5, hid_t type)
{
    hid_t character = h5->H5Tget_super(type);
    bool bytes = character >= 0 && h5->H5Tget_size(character) == 1;

    if (character >= 0)
        h5->H5Tclose(character);
    return bytes;
}

int sc_h5strings_open(const struct sc_h5api *h5, hid_t type, uint64_t limit,
                      struct sc_h5strings *out)
{
    size_t size = h5->H5Tget_size(type);
    bool variable = h5->H5Tis_variable_str(type) > 0;
    hid_t memory;

    if (h5->H5Tget_class(type) != H5T_STRING || size == 0 || (!variable && size > limit) ||
        (variable && !of_bytes(h5, type)))
        return -1;
    memory = h5->H5Tcopy(type);
    if (memory < 0)
        return -1;
    /* A fixed string gets one byte more, so that a NUL always ends it. */
    if (!variable && (h5->H5Tset_size(memory, size + 1) < 0 ||
                      h5->H5Tset_strpad(memory, H5T_STR_NULLTERM) < 0)) {
        h5->H5Tclose(memory);
        return -1;
    }
    *out = (struct sc_h5strings){memory, variable, variable ? sizeof(char *) : size + 1};
    return 0;
}

void sc_h5strings_close(const struct sc_h5api *h5, struct sc_h5strings *strings)
{
    if (strings->element > 0)
        h5->H5Tclose(strings->memory);
    strings->element = 0;
}

scope_text sc_h5strings_at(const struct sc_h5strings *strings, const char *block, size_t i)
{
    const char *text = block + i * strings->element;

    if (strings->variable)
        memcpy(&text, text, sizeof text);
    return text == NULL ? (scope_text){"", 0} : (scope_text){text, strlen(text)};
}

void sc_h5strings_drop(const struct sc_h5api *h5, const struct sc_h5strings *strings, char *block,
                       size_t count)
{
    for (size_t i = 0; strings->variable && i < count; i++) {
        char *text;

        memcpy(&text, block + i * sizeof text, sizeof text);
        h5->H5free_memory(text);
    }
}

/* The arrays are const for readers of a profile only. */
static void release(const void *memory)
{
    free((void *)(uintptr_t)memory);
}

void sc_h5meta_clear(scope_metadata *m)
{
    for (size_t i = 0; m->texts != NULL && i < m->count; i++)
        release(m->texts[i].data);
    release(m->texts);
    release(m->integers);
    release(m->reals);
    *m = (scope_metadata){.name = m->name};
}

void sc_h5meta_free(scope_metadata *m, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        sc_h5meta_clear(&m[i]);
        release(m[i].name);
    }
    free(m);
}

/* Copies of the strings of a block. */
static scope_text *copy_texts(const struct sc_h5strings *strings, const char *block, size_t count)
{
    scope_text *texts = calloc(count + 1, sizeof *texts);

    for (size_t i = 0; texts != NULL && i < count; i++) {
        texts[i] = sc_h5strings_at(strings, block, i);
        texts[i].data = strdup(texts[i].data);
        if (texts[i].data == NULL) {
            while (i > 0)
                release(texts[--i].data);
            free(texts);
            return NULL;
        }
    }
    return texts;
}

static int read_texts(const struct sc_h5api *h5, hid_t attribute, hid_t type, uint64_t limit,
                      scope_metadata *m)
{
    struct sc_h5strings strings;
    char *block;

    if (sc_h5strings_open(h5, type, limit, &strings) != 0)
        return -1;
    block = calloc(m->count + 1, strings.element);
    if (block != NULL && h5->H5Aread(attribute, strings.memory, block) >= 0) {
        m->texts = copy_texts(&strings, block, m->count);
        sc_h5strings_drop(h5, &strings, block, m->count);
    }
    free(block);
    sc_h5strings_close(h5, &strings);
    return m->texts != NULL ? 0 : -1;
}

static int read_values(const struct sc_h5api *h5, hid_t attribute, hid_t type, uint64_t limit,
                       scope_metadata *m)
{
    H5T_class_t class = h5->H5Tget_class(type);

    if (class == H5T_STRING)
        return read_texts(h5, attribute, type, limit, m);
    if (class == H5T_INTEGER || class == H5T_ENUM) {
        int64_t *values = calloc(m->count + 1, sizeof *values);

        m->integers = values;
        return values == NULL || h5->H5Aread(attribute, h5->H5T_NATIVE_INT64_g, values) < 0 ? -1
                                                                                            : 0;
    }
    if (class == H5T_FLOAT) {
        double *values = calloc(m->count + 1, sizeof *values);

        m->reals = values;
        return values == NULL || h5->H5Aread(attribute, h5->H5T_NATIVE_DOUBLE_g, values) < 0 ? -1
                                                                                             : 0;
    }
    return class == H5T_NO_CLASS ? -1 : 1;
}

int sc_h5meta_read(const struct sc_h5api *h5, hid_t attribute, uint64_t limit, scope_metadata *m)
{
    hid_t type = h5->H5Aget_type(attribute);
    hid_t space = h5->H5Aget_space(attribute);
    hssize_t points = space < 0 ? -1 : h5->H5Sget_simple_extent_npoints(space);
    int rc = -1;

    if (type >= 0 && points >= 0 && (uint64_t)points <= limit) {
        m->count = (size_t)points;
        m->is_list = h5->H5Sget_simple_extent_ndims(space) > 0;
        rc = read_values(h5, attribute, type, limit, m);
    }
    if (space >= 0)
        h5->H5Sclose(space);
    if (type >= 0)
        h5->H5Tclose(type);
    return rc;
}
