/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * scope_f: what the Fortran module `scope` needs beyond scope.h: texts with a length and trailing
 * blanks, optional arguments, logicals. scope_mod.f90 declares these as external procedures; the
 * names and the lengths at the end of the lists are the convention of gfortran, flang, ifort and
 * ifx. An absent argument is NULL, a logical is true when not 0. The other names of the module are
 * bound to scope.h directly. Any thread, as in scope.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "scope.h"

/* A copy without trailing blanks, to be freed; NULL when memory is short. */
static char *text_in(const char *text, size_t length)
{
    char *copy;

    while (length > 0 && text[length - 1] == ' ')
        length--;
    copy = malloc(length + 1);
    if (copy == NULL) {
        (void)sc_fail(SC_ENOMEM, "out of memory for a text of %zu bytes", length);
        return NULL;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    return copy;
}

static void text_out(const char *text, char *out, size_t length)
{
    size_t used = strlen(text);

    if (used > length)
        used = length;
    memcpy(out, text, used);
    memset(out + used, ' ', length - used);
}

/* Who found the failure has printed it. errmsg stays as it is on success, as that of Fortran's own
 * statements does. */
static void report(int rc, int *stat, char *errmsg, size_t errmsg_len)
{
    if (stat != NULL)
        *stat = rc;
    if (rc != SC_OK && errmsg != NULL)
        text_out(scope_last_error(), errmsg, errmsg_len);
}

SCOPE_API void scope_setup_(const char *file_path, const char *output_mode, const char *label,
                            const char *metadata_detail, const char *mpi_record, const int *enabled,
                            const int *topology, const int *summary, const int *buffer_limit,
                            const int *hdf5_chunk_size, const char *mpi_pcontrol,
                            const int *track_async, const int *salvage, const char *salvage_dir,
                            int *stat, char *errmsg, size_t file_path_len, size_t output_mode_len,
                            size_t label_len, size_t metadata_detail_len, size_t mpi_record_len,
                            size_t mpi_pcontrol_len, size_t salvage_dir_len, size_t errmsg_len)
{
    enum { TEXTS = 7 };
    scope_options o;
    char *copy[TEXTS] = {NULL};
    const struct {
        const char *text;
        size_t length;
        const char **field;
    } in[TEXTS] = {
        {file_path, file_path_len, &o.file_path},
        {output_mode, output_mode_len, &o.output_mode},
        {label, label_len, &o.label},
        {metadata_detail, metadata_detail_len, &o.metadata_detail},
        {mpi_record, mpi_record_len, &o.mpi_record},
        {mpi_pcontrol, mpi_pcontrol_len, &o.mpi_pcontrol},
        {salvage_dir, salvage_dir_len, &o.salvage_dir},
    };
    int rc = SC_OK;

    scope_options_init(&o);
    for (int i = 0; i < TEXTS; i++) {
        if (in[i].text == NULL)
            continue;
        copy[i] = text_in(in[i].text, in[i].length);
        if (copy[i] == NULL)
            rc = SC_ENOMEM;
        *in[i].field = copy[i];
    }
    if (enabled != NULL)
        o.enabled = *enabled != 0;
    if (topology != NULL)
        o.topology = *topology != 0;
    if (summary != NULL)
        o.summary = *summary != 0;
    if (buffer_limit != NULL)
        o.buffer_limit = *buffer_limit;
    if (hdf5_chunk_size != NULL)
        o.hdf5_chunk_size = *hdf5_chunk_size;
    if (track_async != NULL)
        o.track_async = *track_async != 0;
    if (salvage != NULL)
        o.salvage = *salvage != 0;
    if (rc == SC_OK)
        rc = scope_setup(&o);
    for (int i = 0; i < TEXTS; i++)
        free(copy[i]);
    report(rc, stat, errmsg, errmsg_len);
}

SCOPE_API void scope_finalize_(int *stat, char *errmsg, size_t errmsg_len)
{
    report(scope_finalize(), stat, errmsg, errmsg_len);
}

SCOPE_API int scope_region_(const char *name, size_t name_len)
{
    char *copy = text_in(name, name_len);
    int region = copy != NULL ? scope_region(copy) : SC_ENOMEM;

    free(copy);
    return region;
}

SCOPE_API int scope_region_at_(const char *name, const char *file, const int *line, size_t name_len,
                               size_t file_len)
{
    char *copy = text_in(name, name_len), *file_copy = text_in(file, file_len);
    int region = SC_ENOMEM;

    if (copy != NULL && file_copy != NULL)
        region = scope_region_at(copy, file_copy, *line);
    free(copy);
    free(file_copy);
    return region;
}

SCOPE_API int scope_is_active_(void)
{
    return scope_is_active();
}

SCOPE_API void scope_strerror_(const int *code, char *text, size_t text_len)
{
    text_out(scope_strerror(*code), text, text_len);
}

SCOPE_API void scope_last_error_(char *text, size_t text_len)
{
    text_out(scope_last_error(), text, text_len);
}
