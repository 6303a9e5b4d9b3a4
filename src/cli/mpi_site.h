/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * mpi_site: the call sites of a profile as function, file and line, or as much of that as can be
 * known. Modules are opened when one of their sites is asked for.
 */
#ifndef SC_CLI_MPI_SITE_H
#define SC_CLI_MPI_SITE_H

#include "profile.h"
#include "source.h"

struct mpi_sites;

/* Dies when the file cannot be read. Read what is large before: source_open(). */
struct mpi_sites *mpi_sites_open(const struct profile *p);
void mpi_sites_close(struct mpi_sites *sites);

struct mpi_site {
    const char *module, *build_id; /* NULL: code in none */
    int64_t module_id;             /* -1 */
    uint64_t offset;
};
void mpi_sites_get(const struct mpi_sites *sites, uint64_t site, struct mpi_site *out);

/* False: nothing is known. Lent until the next call. */
bool mpi_sites_find(struct mpi_sites *sites, uint64_t site, struct source_place *place);
/* Appends "function file:line", or less. */
void mpi_sites_print(struct mpi_sites *sites, uint64_t site, struct sc_string *out);
/* Appends, behind indent, a line for each module of which less was known. */
void mpi_sites_notes(const struct mpi_sites *sites, const char *indent, struct sc_string *out);

#endif
