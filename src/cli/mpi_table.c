/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "mpi_table.h"

#include <stdlib.h>
#include <string.h>

void mpi_set_comm_name(struct grid *g, size_t column, const struct profile *p, int64_t comm)
{
    scope_text name = {"", 0};

    if (comm >= 0)
        cli_check(scope_read_comm_name(p->reader, (uint64_t)comm, &name));
    grid_text(g, column, name.data, name.length);
}

/* ---- routines ---- */

const char *const mpi_by_names[MPI_BY_COUNT] = {"routine",      "path", "site",
                                                "communicator", "size", "object"};

#define BY(what) (1U << MPI_BY_##what)

enum {
    R_ID,
    R_REGION,
    R_ROUTINE,
    R_PATH_ID,
    R_PATH,
    R_SITE_ID,
    R_SITE,
    R_MODULE,
    R_OFFSET,
    R_COMM,
    R_COMM_NAME,
    R_CLASS,
    R_OBJECT,
    R_OBJECT_NAME,
    R_CALLS,
    R_TOTAL,
    R_MPI_SHARE,
    R_SHARE,
    R_CALL_MIN,
    R_CALL_AVERAGE,
    R_CALL_MAX,
    R_SENT,
    R_RECEIVED,
    R_SIZE,
    R_WAITED,
    R_OVERLAP,
    R_IN_FLIGHT
};

/* clang-format off */
static const struct grid_column routine_columns[] = {
    [R_ID] = {"id", "id", NULL, GRID_NUMBER, GRID_TABLE | GRID_FIXED, BY(ROUTINE), 0},
    [R_REGION] = {"region", "region", NULL, GRID_NUMBER, GRID_JSON, 0, 0},
    [R_ROUTINE] = {"routine", "routine", "name", GRID_TEXT, GRID_KEY, 0, 0},
    [R_PATH_ID] = {"path_id", "path", "path", GRID_NUMBER, KEY_ID, BY(PATH), 0},
    [R_PATH] = {"path", "called in", NULL, GRID_TEXT, KEY_NAME, BY(PATH), 56},
    [R_SITE_ID] = {"site_id", "site", "site", GRID_NUMBER, KEY_ID, BY(SITE), 0},
    [R_SITE] = {"site", "call site", NULL, GRID_TEXT, KEY_NAME, BY(SITE), 56},
    [R_MODULE] = {"module", "module", NULL, GRID_TEXT, GRID_TABLE | GRID_FIXED, BY(SITE), 0},
    [R_OFFSET] = {"offset", "offset", NULL, GRID_ADDRESS, GRID_TABLE | GRID_FIXED, BY(SITE), 0},
    [R_COMM] = {"communicator", "comm", NULL, GRID_NUMBER, GRID_KEY, BY(COMMUNICATOR), 0},
    [R_COMM_NAME] = {"name", "name", NULL, GRID_TEXT, KEY_NAME, BY(COMMUNICATOR), 0},
    [R_CLASS] = {"class", "bytes", "size_class", GRID_CLASS, GRID_KEY, BY(SIZE), 0},
    [R_OBJECT] = {"object", "object", NULL, GRID_NUMBER, GRID_KEY, BY(OBJECT), 0},
    [R_OBJECT_NAME] = {"name", "name", NULL, GRID_TEXT, KEY_NAME, BY(OBJECT), 0},
    [R_CALLS] = {"calls", "calls", NULL, GRID_COUNT, GRID_USUAL, 0, 0},
    [R_TOTAL] = {"total", "total", NULL, GRID_TIME, GRID_USUAL, 0, 0},
    [R_MPI_SHARE] = {"mpi-share", "% of MPI", NULL, GRID_PERCENT, DERIVED, 0, 0},
    [R_SHARE] = {"share", "% of time", NULL, GRID_PERCENT, DERIVED, 0, 0},
    [R_CALL_MIN] = {"callmin", "min/call", "call_min_ns", GRID_TIME, EXTRA, 0, 0},
    [R_CALL_AVERAGE] = {"callavg", "avg/call", NULL, GRID_TIME, GRID_CHOICE, 0, 0},
    [R_CALL_MAX] = {"callmax", "max/call", "call_max_ns", GRID_TIME, EXTRA, 0, 0},
    [R_SENT] = {"sent", "sent", "bytes_sent", GRID_BYTES, GRID_USUAL, 0, 0},
    [R_RECEIVED] = {"received", "received", "bytes_received", GRID_BYTES, GRID_USUAL, 0, 0},
    [R_SIZE] = {"size", "avg size", NULL, GRID_BYTES, DERIVED, 0, 0},
    [R_WAITED] = {"waited", "waited", NULL, GRID_TIME, IF_FOUND, 0, 0},
    [R_OVERLAP] = {"overlap", "overlap", NULL, GRID_PERCENT, DERIVED | GRID_FOUND, 0, 0},
    [R_IN_FLIGHT] = {"in-flight", "in flight", "in_flight_ns", GRID_TIME, EXTRA, 0, 0},
};
/* clang-format on */

struct grid *mpi_routines_create(enum mpi_by by)
{
    struct grid *g = grid_create(routine_columns, GRID_LENGTH(routine_columns), 1U << by);

    if (by != MPI_BY_ROUTINE) { /* there is a wide column already */
        grid_spare(g, R_SHARE);
        grid_spare(g, R_SIZE);
    }
    return g;
}

static void set_numbers(struct grid *g, const struct profile *p, const struct mpi_group *m,
                        int64_t mpi_ns)
{
    uint64_t more = m->bytes_sent > m->bytes_received ? m->bytes_sent : m->bytes_received;
    double calls = (double)m->calls, total = (double)m->total;
    double overlap = 0;

    grid_count(g, R_CALLS, m->calls);
    grid_set(g, R_TOTAL, m->total);
    grid_percent(g, R_MPI_SHARE, mpi_ns > 0 ? 100 * total / (double)mpi_ns : 0);
    grid_percent(g, R_SHARE, p->totals.rank_ns > 0 ? 100 * total / (double)p->totals.rank_ns : 0);
    grid_count(g, R_SENT, m->bytes_sent);
    grid_count(g, R_RECEIVED, m->bytes_received);
    if (m->calls > 0) {
        grid_set(g, R_CALL_MIN, m->call_min);
        grid_set(g, R_CALL_AVERAGE, (int64_t)(total / calls + 0.5));
        grid_set(g, R_CALL_MAX, m->call_max);
        grid_set(g, R_SIZE, (int64_t)((double)(more > INT64_MAX ? INT64_MAX : more) / calls + 0.5));
    }
    if (m->await > 0 || m->in_flight > 0) {
        grid_set(g, R_WAITED, m->await);
        grid_set(g, R_IN_FLIGHT, m->in_flight);
    }
    if (m->in_flight > 0) {
        overlap = 100 * (1 - (double)m->await / (double)m->in_flight);
        grid_percent(g, R_OVERLAP, overlap > 0 ? overlap : 0);
    }
}

/* "main > solve", without the routine itself; out is emptied. */
static void print_path(const struct profile *p, int64_t path, struct sc_string *out)
{
    size_t count = 0, room = 0;
    uint32_t *regions = NULL;

    for (int64_t at = p->paths[path].parent; at >= 0; at = p->paths[at].parent) {
        if (sc_array_reserve(&regions, &room, count + 1, sizeof *regions) != 0)
            die("out of memory");
        regions[count++] = p->paths[at].region;
    }
    out->length = 0;
    cli_append(out, "", 0);
    while (count-- > 0) {
        scope_text name = scope_read_region(p->reader, regions[count]);

        cli_text(out, "%s", out->length > 0 ? " > " : "");
        cli_append(out, name.data, name.length);
    }
    free(regions);
}

static void set_site(struct grid *g, struct mpi_sites *sites, int64_t site, struct sc_string *text)
{
    struct mpi_site at;
    const char *slash;

    if (site < 0) {
        grid_text(g, R_SITE, "not known", 9);
        return;
    }
    mpi_sites_get(sites, (uint64_t)site, &at);
    text->length = 0;
    mpi_sites_print(sites, (uint64_t)site, text);
    grid_set(g, R_SITE_ID, site);
    grid_text(g, R_SITE, text->data, text->length);
    slash = at.module != NULL ? strrchr(at.module, '/') : NULL;
    if (at.module != NULL)
        grid_text(g, R_MODULE, slash != NULL ? slash + 1 : at.module,
                  strlen(slash != NULL ? slash + 1 : at.module));
    grid_set(g, R_OFFSET, (int64_t)at.offset);
}

static void set_key(struct grid *g, const struct profile *p, int64_t key, enum mpi_by by,
                    struct mpi_sites *sites, struct sc_string *text)
{
    scope_text name = {"", 0};

    switch (by) {
    case MPI_BY_PATH:
        print_path(p, key, text);
        grid_set(g, R_PATH_ID, key);
        grid_text(g, R_PATH, text->data, text->length);
        break;
    case MPI_BY_SITE:
        set_site(g, sites, key, text);
        break;
    case MPI_BY_COMMUNICATOR:
        if (key >= 0)
            grid_set(g, R_COMM, key);
        mpi_set_comm_name(g, R_COMM_NAME, p, key);
        break;
    case MPI_BY_SIZE:
        grid_set(g, R_CLASS, key);
        break;
    case MPI_BY_OBJECT:
        if (key >= 0) {
            cli_check(scope_read_object_name(p->reader, (uint64_t)key, &name));
            grid_set(g, R_OBJECT, key);
        }
        grid_text(g, R_OBJECT_NAME, name.data, name.length);
        break;
    default:
        break;
    }
}

void mpi_routines_fill(struct grid *g, const struct profile *p, const struct mpi_groups *groups,
                       enum mpi_by by, const struct cli_globs *globs, struct mpi_sites *sites)
{
    struct sc_string text = {0};

    for (size_t i = 0; i < groups->count; i++) {
        const struct mpi_group *m = &groups->list[i];
        scope_text name = scope_read_region(p->reader, m->region);

        if (!cli_globs_match(globs, name.data) || (by == MPI_BY_OBJECT && m->key < 0))
            continue;
        grid_row(g);
        grid_count(g, R_ID, i);
        grid_set(g, R_REGION, m->region);
        grid_text(g, R_ROUTINE, name.data, name.length);
        set_key(g, p, m->key, by, sites, &text);
        set_numbers(g, p, m, groups->total);
    }
    sc_string_free(&text);
}

/* ---- the matrix ---- */

enum {
    X_SOURCE,
    X_DESTINATION,
    X_MESSAGES,
    X_SENT,
    X_MESSAGES_RECEIVED,
    X_RECEIVED,
    X_DIFFERS,
    X_OPERATIONS,
    X_PUT,
    X_GOT,
    X_MOVED
};

/* clang-format off */
static const struct grid_column matrix_columns[] = {
    [X_SOURCE] = {"source", "source", NULL, GRID_NUMBER, GRID_KEY, 0, 0},
    [X_DESTINATION] = {"destination", "dest", NULL, GRID_NUMBER, GRID_KEY, 0, 0},
    [X_MESSAGES] = {"messages", "messages", NULL, GRID_COUNT, GRID_USUAL, 0, 0},
    [X_SENT] = {"sent", "bytes sent", "bytes_sent", GRID_BYTES, GRID_USUAL, 0, 0},
    [X_MESSAGES_RECEIVED] = {"messages-received", "received",
                             "messages_received", GRID_COUNT, GRID_USUAL, 0, 0},
    [X_RECEIVED] = {"received", "bytes received", "bytes_received", GRID_BYTES, GRID_USUAL, 0, 0},
    [X_DIFFERS] = {"differs", "", NULL, GRID_TEXT, GRID_PEOPLE | GRID_FIXED | GRID_FOUND, 0, 0},
    [X_OPERATIONS] = {"operations", "one-sided", NULL, GRID_COUNT, IF_FOUND, 0, 0},
    [X_PUT] = {"put", "put", "bytes_put", GRID_BYTES, IF_FOUND, 0, 0},
    [X_GOT] = {"got", "got", "bytes_got", GRID_BYTES, IF_FOUND, 0, 0},
    [X_MOVED] = {"moved", "moved", NULL, GRID_BYTES, GRID_CHOICE, 0, 0},
};
/* clang-format on */

struct grid *mpi_matrix_create(void)
{
    return grid_create(matrix_columns, GRID_LENGTH(matrix_columns), 1);
}

void mpi_matrix_fill(struct grid *g, const struct mpi_pairs *pairs, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct mpi_pair *pair = &pairs->list[i];

        grid_row(g);
        if (pair->source >= 0) {
            grid_set(g, X_SOURCE, pair->source);
            grid_count(g, X_MESSAGES, pair->sent_messages);
            grid_count(g, X_SENT, pair->sent_bytes);
        }
        if (pair->destination >= 0) {
            grid_set(g, X_DESTINATION, pair->destination);
            grid_count(g, X_MESSAGES_RECEIVED, pair->received_messages);
            grid_count(g, X_RECEIVED, pair->received_bytes);
        }
        if (mpi_pair_differs(pair))
            grid_text(g, X_DIFFERS, "*", 1);
        grid_count(g, X_OPERATIONS, pair->operations);
        grid_count(g, X_PUT, pair->put);
        grid_count(g, X_GOT, pair->got);
        grid_count(g, X_MOVED, mpi_pair_bytes(pair));
    }
}
