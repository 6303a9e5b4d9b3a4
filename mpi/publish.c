/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "publish.h"

#include <fcntl.h>
#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "bring.h"
#include "catalog.h"
#include "clock.h"
#include "comm.h"
#include "digest.h"
#include "hooks.h"
#include "image.h"
#include "launcher.h"
#include "meta.h"
#include "numbering.h"
#include "output.h"
#include "ranks.h"
#include "rows.h"
#include "runtime.h"
#include "skeleton.h"
#include "unite.h"
#include "world.h"
#include "write_collective.h"
#include "write_token.h"

/* ---- what all ranks must know alike ---- */

/* Rank 0's settings are everybody's. */
struct shared {
    struct sc_settings settings;
    struct sc_output output; /* absolute */
    int64_t clock_epoch;     /* rank 0's wall clock less its monotonic clock */
    uint64_t host;           /* hash of rank 0's host name */
};

static uint64_t hash_host(void)
{
    char name[256] = "";

    sc_meta_hostname(name, sizeof name);
    return sc_hash(name, strlen(name));
}

static int choose_output(struct sc_output *out)
{
    struct sc_string path = {0};
    int rc = sc_runtime_path(&path);

    if (rc == 0)
        rc = sc_output_choose(path.data, (uint64_t)sc_runtime_begin_realtime(), out);
    sc_string_free(&path);
    return rc;
}

static bool is_full(const struct shared *shared)
{
    return shared->settings.value[SC_METADATA_DETAIL].number == SC_DETAIL_FULL;
}

/* A number for the settings that decide about the file; those of one rank alone do not count. */
static uint64_t hash_settings(const struct sc_settings *s)
{
    static const enum sc_setting_id decisive[] = {SC_FILE_PATH,       SC_OUTPUT_MODE, SC_LABEL,
                                                  SC_METADATA_DETAIL, SC_TOPOLOGY,    SC_SUMMARY,
                                                  SC_HDF5_CHUNK_SIZE};
    uint64_t hash = 0;

    for (size_t i = 0; i < sizeof decisive / sizeof *decisive; i++) {
        const struct sc_setting *v = &s->value[decisive[i]];
        hash = hash * 31 + sc_hash(v->text, strlen(v->text)) + (uint64_t)v->number;
    }
    return hash;
}

static void warn_if_settings_differ(const struct sc_settings *mine, const struct shared *shared)
{
    int differs = hash_settings(mine) != hash_settings(&shared->settings);

    PMPI_Allreduce(MPI_IN_PLACE, &differs, 1, MPI_INT, MPI_SUM, sc_world_comm());
    if (differs > 0 && sc_world_rank() == 0)
        sc_log("settings differ on %d of %d ranks: those of rank 0 decide", differs,
               sc_world_size());
}

/* Collective. */
static int share(const struct sc_settings *mine, struct shared *shared)
{
    int rc = 0;

    if (sc_world_rank() == 0) {
        shared->settings = *mine;
        shared->clock_epoch = sc_clock_epoch();
        shared->host = hash_host();
        rc = choose_output(&shared->output);
    }
    rc = sc_agree(rc);
    if (rc != 0 || !sc_world_is_open())
        return rc;
    if (PMPI_Bcast(shared, sizeof *shared, MPI_BYTE, 0, sc_world_comm()) != MPI_SUCCESS)
        rc = sc_fail(SC_EMPI, "MPI_Bcast failed while publishing");
    rc = sc_agree(rc);
    if (rc == 0)
        warn_if_settings_differ(mine, shared);
    return rc;
}

/* Hosts are aligned by their wall clocks; ranks on rank 0's host share its clock. */
static int64_t clock_offset(const struct shared *shared)
{
    return hash_host() == shared->host ? 0 : sc_clock_epoch() - shared->clock_epoch;
}

/* Collective. True when the file is to be written by all ranks at once. */
static int write_in_parallel(const struct shared *shared)
{
    long mode = shared->settings.value[SC_OUTPUT_MODE].number;
    const char *missing = sc_write_collective_missing();
    int possible = missing == NULL;

    if (!sc_world_is_open()) {
        if (mode == SC_OUTPUT_PARALLEL && sc_runtime_speaks())
            sc_log("output_mode \"parallel\" without MPI: this process writes its file alone");
        return 0;
    }
    PMPI_Allreduce(MPI_IN_PLACE, &possible, 1, MPI_INT, MPI_MIN, sc_world_comm());
    if (mode == SC_OUTPUT_PARALLEL && !possible && sc_world_rank() == 0)
        sc_log("output_mode \"parallel\" is not possible on every rank (%s): ranks write in turn",
               missing == NULL ? "on another rank" : missing);
    if (mode == SC_OUTPUT_AUTO)
        return possible && sc_world_size() > 1;
    return mode == SC_OUTPUT_PARALLEL && possible;
}

/* ---- metadata ---- */

/* Open MPI names who built it, where: "..., package: Open MPI user@host ..., ident: ...". */
static void drop_builder(char *text)
{
    char *from = strstr(text, ", package:");
    char *to = from == NULL ? NULL : strchr(from + 2, ',');

    if (from != NULL)
        memmove(from, to == NULL ? "" : to, (to == NULL ? 0 : strlen(to)) + 1);
}

static int add_mpi_facts(struct sc_facts *f, bool full)
{
    static const char *const levels[] = {"single", "funneled", "serialized", "multiple"};
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0, version = 0, subversion = 0, level = sc_world_thread_level();
    char number[32];
    int rc;

    PMPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    if (!full)
        drop_builder(text);
    PMPI_Get_version(&version, &subversion);
    snprintf(number, sizeof number, "%d.%d", version, subversion);
    rc = sc_facts_text(f, "mpi_library", text);
    if (rc == 0)
        rc = sc_facts_text(f, "mpi_version", number);
    if (rc == 0)
        rc = sc_facts_text(f, "mpi_thread_level",
                           level == MPI_THREAD_MULTIPLE     ? levels[3]
                           : level == MPI_THREAD_SERIALIZED ? levels[2]
                           : level == MPI_THREAD_FUNNELED   ? levels[1]
                                                            : levels[0]);
    return rc;
}

void sc_publish_note_facts(void)
{
    const struct sc_settings *settings = sc_runtime_settings();
    const bool full = settings->value[SC_METADATA_DETAIL].number == SC_DETAIL_FULL;
    struct sc_facts facts = {0};
    int rc = sc_meta_host(&facts, full);

    if (rc == 0)
        rc = sc_facts_settings(&facts, settings);
    if (rc == 0)
        rc = sc_facts_text(&facts, "clock", sc_clock_name());
    if (rc == 0 && sc_world_is_open())
        rc = add_mpi_facts(&facts, full);
    if (rc == 0)
        sc_facts_note(&facts);
    sc_facts_free(&facts);
}

/* Rank 0. */
static int collect_facts(struct sc_facts *f, const struct shared *shared, int parallel,
                         const struct sc_rank_facts *ranks)
{
    const struct sc_run_facts run = {
        .ranks = (uint32_t)sc_world_size(),
        .nodes = ranks->node_count,
        .begin_realtime = sc_runtime_begin_realtime(),
        .start_ns = sc_runtime_begin_ns(),
        .end_ns = sc_runtime_end_ns(),
        .clock = sc_clock_name(),
        .output_mode = parallel ? "parallel" : "direct",
    };
    int rc = sc_meta_host(f, is_full(shared));

    if (rc == 0)
        rc = sc_facts_run(f, &run);
    if (rc == 0)
        rc = sc_facts_settings(f, &shared->settings);
    if (rc == 0 && ranks->topology_missing != NULL)
        rc = sc_facts_text(f, "topology_missing", ranks->topology_missing);
    if (rc == 0 && ranks->likwid_missing != NULL)
        rc = sc_facts_text(f, "likwid_missing", ranks->likwid_missing);
    if (rc == 0 && sc_world_is_open())
        rc = add_mpi_facts(f, is_full(shared));
    return rc;
}

/* ---- the rows of all ranks ---- */

enum { TAG_REGIONS = 3, TAG_GO = 4 };

/* Collective. The rows of this rank at their place in the file, and how many all have. */
static int make_rows(struct sc_recording *recording, const struct sc_maps *maps,
                     const struct sc_row_rank *rank, struct sc_rows *out, uint64_t *total)
{
    const bool has_mpi = sc_world_is_open();
    const bool tracks = sc_runtime_settings()->value[SC_TRACK_ASYNC].number != 0;
    unsigned has = sc_rows_has(recording, tracks);
    uint64_t count[SC_ROWS_TABLES], before[SC_ROWS_TABLES] = {0};
    bool good = true;

    if (has_mpi)
        good = PMPI_Allreduce(MPI_IN_PLACE, &has, 1, MPI_UNSIGNED, MPI_BOR, sc_world_comm()) ==
               MPI_SUCCESS;
    sc_rows_make(recording, maps, (uint32_t)sc_world_rank(), rank, has_mpi, has, out);
    for (size_t i = 0; i < SC_ROWS_TABLES; i++)
        total[i] = count[i] = out->table[i].count;
    if (!has_mpi)
        return 0;
    good = good &&
           PMPI_Exscan(count, before, SC_ROWS_TABLES, MPI_UINT64_T, MPI_SUM, sc_world_comm()) ==
               MPI_SUCCESS &&
           PMPI_Allreduce(count, total, SC_ROWS_TABLES, MPI_UINT64_T, MPI_SUM, sc_world_comm()) ==
               MPI_SUCCESS;
    for (size_t i = 0; i < SC_ROWS_TABLES && sc_world_rank() > 0; i++)
        out->table[i].first = before[i];
    return good ? 0 : sc_fail(SC_EMPI, "MPI failed while rows were counted");
}

/* Collective. On rank 0 the regions of all slices, `total` of them, to be freed. One rank's at a
 * time; each sends when it is asked to. */
static int gather_regions(const struct sc_rows *rows, uint64_t total, uint32_t **out)
{
    const struct sc_recording *recording = rows->recording;
    const size_t count = recording == NULL ? 0 : recording->slice_count;
    const size_t room = sc_world_rank() == 0 ? (size_t)total : count;
    uint32_t *ids = malloc((room + 1) * sizeof *ids);
    size_t row = count;
    int rc = sc_agree(ids == NULL ? sc_fail(SC_ENOMEM, "no memory for the index") : 0);

    *out = ids;
    if (rc != 0)
        return rc;
    for (size_t i = 0; i < count; i++)
        ids[i] = rows->maps->region[recording->slices[i].region];
    for (int rank = 1; rank < sc_world_size() && sc_world_rank() == 0; rank++) {
        const size_t left = room - row;
        MPI_Status status;
        int got = 0;

        PMPI_Send(NULL, 0, MPI_BYTE, rank, TAG_GO, sc_world_comm());
        PMPI_Recv(ids + row, (int)(left < INT_MAX ? left : INT_MAX), MPI_UINT32_T, rank,
                  TAG_REGIONS, sc_world_comm(), &status);
        PMPI_Get_count(&status, MPI_UINT32_T, &got);
        row += (size_t)got;
    }
    if (sc_world_rank() > 0) {
        PMPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_GO, sc_world_comm(), MPI_STATUS_IGNORE);
        PMPI_Send(ids, (int)count, MPI_UINT32_T, 0, TAG_REGIONS, sc_world_comm());
    }
    return 0;
}

/* ---- the file ---- */

/* Rank 0. */
static int write_skeleton(const struct shared *shared, int parallel, unsigned has,
                          const struct sc_skeleton *skeleton, const struct sc_rank_facts *ranks)
{
    struct sc_facts facts = {0};
    int rc = collect_facts(&facts, shared, parallel, ranks);
    struct sc_h5_skeleton rest = {
        .attributes = facts.attribute,
        .attribute_count = facts.count,
        .ranks = (uint32_t)sc_world_size(),
        .mpi = sc_world_is_open(),
        .has = has,
        .chunk = (uint64_t)shared->settings.value[SC_HDF5_CHUNK_SIZE].number,
        .bindings = ranks->bindings,
        .nodes = ranks->nodes,
        .node_names = ranks->node_names,
        .node_count = ranks->node_count,
        .topologies = ranks->topologies,
        .topology_count = ranks->topology_count,
        .topology_xml = ranks->topology_xml,
        .topology_xml_length = ranks->topology_xml_length,
        .likwid = ranks->likwid,
    };

    if (rc == 0)
        rc = sc_skeleton_write(shared->output.temporary, skeleton, &rest);
    sc_facts_free(&facts);
    return rc;
}

/* Collective. */
static int write_file(const struct shared *shared, struct sc_skeleton *skeleton,
                      struct sc_rows *rows, const struct sc_rank_facts *ranks, uint64_t *bytes)
{
    const struct sc_output *output = &shared->output;
    const bool first = sc_world_rank() == 0;
    uint32_t *regions = NULL;
    int parallel = write_in_parallel(shared);
    int rc = gather_regions(rows, skeleton->total[SC_ROWS_INDEX], &regions);

    skeleton->slice_regions = regions;
    if (rc == 0)
        rc = sc_agree(first ? write_skeleton(shared, parallel, rows->has, skeleton, ranks) : 0);
    free(regions);
    if (rc == 0)
        rc = parallel ? sc_write_collective(output->temporary, rows->table, rows->tables)
                      : sc_write_token(output->temporary, rows->table, rows->tables);
    rc = sc_agree(rc == 0 ? rows->status : rc);
    if (rc == 0)
        rc = sc_agree(first ? sc_output_commit(output, bytes) : 0);
    if (rc != 0 && first)
        sc_output_discard(output, rc);
    return rc;
}

/* ---- the summary ---- */

static const char *command_name(void)
{
    static char name[256];
    int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, name, sizeof name - 1);

    if (fd >= 0)
        close(fd);
    name[got > 0 ? got : 0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    return name;
}

/* Collective. Rank 0 gets what all have. */
static void reduce(void *data, size_t count, MPI_Datatype type, MPI_Op op)
{
    void *from = sc_world_rank() == 0 ? MPI_IN_PLACE : data;

    PMPI_Reduce(from, data, (int)count, type, op, 0, sc_world_comm());
}

/* Collective. The summary's numbers on rank 0, elsewhere none. */
static int digest(const struct sc_recording *recording, const struct sc_maps *maps,
                  const struct sc_row_rank *rank, const struct sc_numbering *numbering,
                  struct sc_summary *out)
{
    struct sc_digest d;
    int rc = sc_agree(sc_digest_create(&d, numbering->all_paths.items.count));

    if (rc == 0)
        sc_digest_add(&d, sc_world_rank(), rank, recording, maps);
    if (rc == 0 && sc_world_is_open()) {
        reduce(d.sum, SC_DIGEST_SUMS, MPI_INT64_T, MPI_SUM);
        reduce(d.most, SC_DIGEST_MOSTS, MPI_INT64_T, MPI_MAX);
        reduce(d.calls, d.paths, MPI_UINT64_T, MPI_SUM);
        reduce(d.time, d.paths, MPI_INT64_T, MPI_SUM);
        reduce(d.minimum, d.paths, MPI_INT64_T, MPI_MIN);
        reduce(d.maximum, d.paths, MPI_LONG_INT, MPI_MAXLOC);
    }
    if (rc == 0 && sc_world_rank() == 0)
        rc = sc_digest_summary(&d, numbering, sc_world_size(), out);
    sc_digest_free(&d);
    return rc;
}

static void print_summary(struct sc_summary *s, const struct shared *shared,
                          const struct sc_rank_facts *ranks, int rc, uint64_t bytes)
{
    s->command = command_name();
    s->label = shared->settings.value[SC_LABEL].text;
    s->path = shared->output.path;
    s->start_realtime_ns = sc_runtime_begin_realtime();
    s->nodes = (int)ranks->node_count;
    s->has_mpi = sc_world_is_open();
    s->file_bytes = bytes;
    s->problem = rc == 0 ? NULL : sc_last_error();
    s->left = sc_image_folder();
    if (shared->settings.value[SC_SUMMARY].number != 0)
        sc_summary_print(s);
    else if (rc != 0)
        sc_log("%s", s->problem);
}

/* ---- all of it ---- */

static void complete_rank(struct sc_row_rank *row, const struct sc_rank_facts *ranks,
                          const struct shared *shared)
{
    row->node = ranks->node;
    row->pu = ranks->place.pu;
    row->core = ranks->place.core;
    row->package = ranks->place.package;
    row->numa_node = ranks->place.numa_node;
    row->pid = is_full(shared) ? (int64_t)getpid() : -1;
    row->thread_level = sc_world_thread_level();
    row->clock_offset_ns = clock_offset(shared);
    row->own_mpi_ns = (int64_t)((double)row->mpi_calls * sc_hooks_cost());
    row->start_ns += row->clock_offset_ns;
    row->end_ns += row->clock_offset_ns;
}

static int wanted_facts(const struct shared *shared)
{
    const struct sc_setting *value = shared->settings.value;

    return (value[SC_TOPOLOGY].number != 0 ? SC_RANKS_TOPOLOGY : 0) |
           (is_full(shared) ? SC_RANKS_FULL : 0);
}

/* Collective. The file's numbers of all that this rank has, and on rank 0 the tables. */
static int number(const struct sc_recording *recording, bool full, struct sc_maps *maps,
                  struct sc_numbering *numbering, struct sc_catalog *catalog)
{
    struct sc_own own;
    int rc = sc_agree(sc_bring(&own));

    if (rc == 0)
        rc = sc_numbering_add(numbering, recording, &own, sc_unite, maps);
    if (rc == 0)
        rc = sc_catalog_add(catalog, &own, sc_unite, maps);
    if (rc == 0 && sc_world_rank() == 0) {
        rc = sc_numbering_fill(numbering);
        if (rc == 0)
            rc = sc_catalog_fill(catalog, full);
    }
    sc_own_free(&own);
    return sc_agree(rc);
}

static int publish(const struct sc_settings *settings, struct sc_recording *recording)
{
    int64_t began = sc_clock_monotonic();
    struct shared *shared = calloc(1, sizeof *shared);
    struct sc_rank_facts *ranks = NULL;
    struct sc_numbering numbering = {0};
    struct sc_catalog catalog = {0};
    struct sc_skeleton skeleton = {.numbering = &numbering, .catalog = &catalog};
    struct sc_maps maps = {0};
    struct sc_rows rows = {0};
    struct sc_summary summary = {0};
    struct sc_row_rank rank = {0};
    uint64_t bytes = 0;
    int rc = sc_agree(shared == NULL ? sc_fail(SC_ENOMEM, "no memory to publish") : 0);

    if (rc == 0)
        rc = share(settings, shared);
    if (rc == 0)
        rc = sc_rank_facts_create(wanted_facts(shared), &ranks);
    if (rc == 0) {
        skeleton.full = is_full(shared);
        rc = number(recording, skeleton.full, &maps, &numbering, &catalog);
    }
    if (rc != 0) {
        if (sc_runtime_speaks())
            sc_log("%s", sc_last_error());
        goto out;
    }
    if (recording != NULL)
        rank = recording->rank;
    complete_rank(&rank, ranks, shared);
    rc = sc_agree(make_rows(recording, &maps, &rank, &rows, skeleton.total));
    if (rc == 0)
        rc = write_file(shared, &skeleton, &rows, ranks, &bytes);
    if (digest(recording, &maps, &rank, &numbering, &summary) == 0 && sc_runtime_speaks()) {
        summary.finish_ns = sc_clock_monotonic() - began;
        print_summary(&summary, shared, ranks, rc, bytes);
    }
    free((void *)summary.paths);
out:
    sc_maps_free(&maps);
    sc_catalog_free(&catalog);
    sc_numbering_free(&numbering);
    sc_rank_facts_free(ranks);
    free(shared);
    return rc;
}

/* One process that is a run of its own, though it looks as if it were to be one of several. */
static void explain_lone_process(void)
{
    if (!sc_runtime_speaks())
        return;
    if (sc_launcher_override() == 1 && !sc_world_is_open())
        sc_log("SCOPE_PROFILER_MPI=1, but MPI was not started: this is a run of one rank");
    else if (sc_launcher_override() < 0 && sc_world_size() == 1 && sc_launcher_size() > 1)
        sc_log(
            "the launcher started %d processes, but each is a run of its own (no MPI, or another "
            "one than the launcher's): their files carry _rank<NNNNN>",
            sc_launcher_size());
}

int sc_publish(const struct sc_settings *settings)
{
    struct sc_recording *recording = NULL;
    int enabled = settings->value[SC_ENABLED].number != 0, wanted = enabled;
    int rc = 0;

    if (sc_launcher_override() != 0 && sc_world_is_usable())
        rc = sc_world_open();
    if (rc == 0 && sc_world_is_open())
        PMPI_Allreduce(&enabled, &wanted, 1, MPI_INT, MPI_MAX, sc_world_comm());
    if (rc != 0 || !wanted)
        return rc;
    explain_lone_process();
    sc_comm_refresh();
    sc_object_refresh();
    if (enabled)
        rc = sc_recording_create(&recording);
    rc = sc_agree(rc);
    if (rc == 0)
        rc = publish(settings, recording);
    sc_recording_free(recording);
    return rc;
}
