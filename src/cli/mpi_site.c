/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi_site.h"

#include <stdlib.h>
#include <string.h>

#include "table.h"

struct mpi_sites {
    const struct profile *profile;
    struct source_map *map;
    char **modules, **build_ids;
};

static char *copy(scope_text text)
{
    char *s = cli_alloc(text.length + 1, 1);

    memcpy(s, text.data, text.length);
    return s;
}

struct mpi_sites *mpi_sites_open(const struct profile *p)
{
    struct mpi_sites *s = cli_alloc(1, sizeof *s);

    s->profile = p;
    s->modules = cli_alloc((size_t)p->size.modules, sizeof *s->modules);
    s->build_ids = cli_alloc((size_t)p->size.modules, sizeof *s->build_ids);
    for (uint64_t i = 0; i < p->size.modules; i++) {
        scope_text text;

        cli_check(scope_read_module_name(p->reader, i, &text));
        s->modules[i] = copy(text);
        cli_check(scope_read_module_build_id(p->reader, i, &text));
        s->build_ids[i] = copy(text);
    }
    s->map = source_open();
    return s;
}

void mpi_sites_close(struct mpi_sites *s)
{
    source_close(s->map);
    for (uint64_t i = 0; i < s->profile->size.modules; i++) {
        free(s->modules[i]);
        free(s->build_ids[i]);
    }
    free(s->modules);
    free(s->build_ids);
    free(s);
}

void mpi_sites_get(const struct mpi_sites *s, uint64_t site, struct mpi_site *out)
{
    scope_site_row row;

    cli_check(scope_read_sites(s->profile->reader, site, 1, &row));
    *out = (struct mpi_site){.module_id = row.module, .offset = row.offset};
    if (row.module >= 0) {
        out->module = s->modules[row.module];
        out->build_id = s->build_ids[row.module];
    }
}

bool mpi_sites_find(struct mpi_sites *s, uint64_t site, struct source_place *place)
{
    struct mpi_site at;

    mpi_sites_get(s, site, &at);
    *place = (struct source_place){0};
    return at.module != NULL && source_find(s->map, at.module, at.build_id, at.offset, place);
}

void mpi_sites_print(struct mpi_sites *s, uint64_t site, struct sc_string *out)
{
    struct mpi_site at;

    mpi_sites_get(s, site, &at);
    source_print(s->map, at.module, at.build_id, at.offset, out);
}

void mpi_sites_notes(const struct mpi_sites *s, const char *indent, struct sc_string *out)
{
    struct sc_string notes = {0};

    source_notes(s->map, &notes);
    for (const char *line = notes.data; line != NULL && *line != '\0';) {
        size_t length = strcspn(line, "\n");

        cli_text(out, "%s", indent);
        if (sc_table_printable(out, line, length) != 0)
            die("out of memory");
        cli_text(out, "\n");
        line += length + (line[length] != '\0');
    }
    sc_string_free(&notes);
}
