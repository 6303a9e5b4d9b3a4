/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "publish.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "clock.h"
#include "comm.h"
#include "digest.h"
#include "hooks.h"
#include "launcher.h"
#include "meta.h"
#include "numbering.h"
#include "ranks.h"
#include "rows.h"
#include "runtime.h"
#include "world.h"
#include "write_collective.h"
#include "write_token.h"

/* ---- what all ranks must know alike ---- */

/* Rank 0's settings are everybody's. */
struct shared {
    struct sc_settings settings;
    char path[SC_TEXT_MAX + 32]; /* of the profile, absolute */
    char temporary[SC_TEXT_MAX + 64];
    int64_t clock_epoch; /* rank 0's wall clock less its monotonic clock */
    uint64_t host;       /* hash of rank 0's host name */
};

static uint64_t hash_host(void)
{
    char name[256] = "";

    sc_meta_hostname(name, sizeof name);
    return sc_hash(name, strlen(name));
}

/* A link stays one, what it leads to is the profile. 0 or a status. */
static int follow_links(struct sc_string *path)
{
    enum { LINKS = 16 };
    char target[SC_TEXT_MAX];

    for (int i = 0; i < LINKS; i++) {
        struct sc_string next = {0};
        ssize_t length = readlink(path->data, target, sizeof target);
        size_t folder = (size_t)(strrchr(path->data, '/') - path->data) + 1;

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

/* The temporary file lies beside the profile and is hidden; its name never is longer than allowed.
 */
static int choose_paths(struct shared *shared)
{
    struct sc_string path = {0};
    struct stat info;
    int rc = sc_runtime_path(&path);
    const char *base;

    if (rc == 0)
        rc = follow_links(&path);
    if (rc != 0)
        goto out;
    if (path.length >= sizeof shared->path) {
        rc = sc_fail(SC_EINVAL, "%.60s...: the path is too long", path.data);
        goto out;
    }
    if (stat(path.data, &info) == 0 && !S_ISREG(info.st_mode)) {
        rc = sc_fail(SC_EIO, "%s: is there and no regular file", path.data);
        goto out;
    }
    memcpy(shared->path, path.data, path.length + 1);
    base = strrchr(shared->path, '/') + 1;
    snprintf(shared->temporary, sizeof shared->temporary, "%.*s.scope-%ld-%" PRIx64,
             (int)(base - shared->path), shared->path, (long)getpid(),
             (uint64_t)sc_runtime_begin_realtime());
out:
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
        rc = choose_paths(shared);
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

/* Rank 0. */
static int collect_facts(struct sc_facts *f, const struct shared *shared, int parallel,
                         const struct sc_rank_facts *ranks)
{
    const struct sc_setting *value = shared->settings.value;
    int64_t threads = 1;
    int rc = sc_meta_host(f, value[SC_METADATA_DETAIL].number == SC_DETAIL_FULL);

    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->attribute[i].name, "omp_num_threads") == 0)
            threads = f->attribute[i].integer;
    if (rc == 0)
        rc = sc_facts_time(f, "timestamp", sc_runtime_begin_realtime());
    if (rc == 0)
        rc = sc_facts_int(f, "mpi_size", sc_world_size());
    if (rc == 0)
        rc = sc_facts_int(f, "num_ranks", sc_world_size());
    if (rc == 0)
        rc = sc_facts_int(f, "num_nodes", (int64_t)ranks->node_count);
    if (rc == 0)
        rc = sc_facts_int(f, "total_cores", sc_world_size() * threads);
    if (rc == 0)
        rc = sc_facts_int(f, "start_time_ns", sc_runtime_begin_ns());
    if (rc == 0)
        rc = sc_facts_int(f, "end_time_ns", sc_runtime_end_ns());
    if (rc == 0)
        rc = sc_facts_text(f, "clock", sc_clock_name());
    if (rc == 0)
        rc = sc_facts_text(f, "output_mode", parallel ? "parallel" : "direct");
    if (rc == 0)
        rc = sc_facts_text(f, "mpi_record", value[SC_MPI_RECORD].text);
    if (rc == 0)
        rc = sc_facts_text(f, "metadata_detail", value[SC_METADATA_DETAIL].text);
    if (rc == 0)
        rc = sc_facts_int(f, "buffer_limit", value[SC_BUFFER_LIMIT].number);
    if (rc == 0 && value[SC_LABEL].text[0] != '\0')
        rc = sc_facts_text(f, "label", value[SC_LABEL].text);
    if (rc == 0 && ranks->topology_missing != NULL)
        rc = sc_facts_text(f, "topology_missing", ranks->topology_missing);
    if (rc == 0 && ranks->likwid_missing != NULL)
        rc = sc_facts_text(f, "likwid_missing", ranks->likwid_missing);
    if (rc == 0 && sc_world_is_open())
        rc = add_mpi_facts(f, value[SC_METADATA_DETAIL].number == SC_DETAIL_FULL);
    return rc;
}

/* ---- the string columns of the index: rank 0 makes them from the region ids of all ranks ---- */

enum { TAG_REGIONS = 3, TAG_GO = 4 };

struct pairs {
    bool full; /* metadata detail */
    struct sc_h5_text *files, *texts, *tags, *metadata;
};

static int pairs_create(struct pairs *p, uint64_t count)
{
    p->files = calloc(count + 1, sizeof *p->files);
    p->texts = calloc(count + 1, sizeof *p->texts);
    p->tags = calloc(count + 1, sizeof *p->tags);
    p->metadata = calloc(count + 1, sizeof *p->metadata);
    return p->files && p->texts && p->tags && p->metadata ? 0 : SC_ENOMEM;
}

static void pairs_free(struct pairs *p)
{
    free(p->files);
    free(p->texts);
    free(p->tags);
    free(p->metadata);
}

/* An absolute path says who compiled it, and where. */
static struct sc_h5_text without_folders(struct sc_h5_text path)
{
    const char *slash =
        path.length > 0 && path.data[0] == '/' ? memrchr(path.data, '/', path.length) : NULL;

    if (slash == NULL)
        return path;
    return (struct sc_h5_text){slash + 1, path.length - (size_t)(slash + 1 - path.data)};
}

static void set_pair(struct pairs *p, uint64_t row, uint32_t region, const struct sc_numbering *n)
{
    static const struct sc_h5_text none = {"", 0}, empty_list = {"[]", 2};

    p->files[row] = p->full ? n->region_files[region] : without_folders(n->region_files[region]);
    p->texts[row] = none;
    p->tags[row] = n->region_tags[region];
    p->metadata[row] = empty_list;
}

/* Collective. One rank's ids at a time; each sends when it is asked to. */
static int gather_pairs(const struct sc_rows *rows, struct pairs *out)
{
    const struct sc_recording *recording = rows->recording;
    uint32_t count = recording == NULL ? 0 : (uint32_t)recording->slice_count, row = 0, largest;
    uint32_t *ids;
    int rc = 0;

    largest = count;
    if (sc_world_is_open())
        PMPI_Allreduce(MPI_IN_PLACE, &largest, 1, MPI_UINT32_T, MPI_MAX, sc_world_comm());
    ids = malloc(((size_t)largest + 1) * sizeof *ids);
    if (ids == NULL)
        rc = SC_ENOMEM;
    if (rc == 0 && sc_world_rank() == 0)
        rc = pairs_create(out, rows->total[SC_ROWS_INDEX]);
    rc = sc_agree(rc == 0 ? 0 : sc_fail(rc, "no memory for the index"));
    if (rc != 0)
        goto out;
    for (uint32_t i = 0; i < count; i++)
        ids[i] = rows->numbering->region[recording->slices[i].region];
    if (sc_world_rank() == 0)
        for (; row < count; row++)
            set_pair(out, row, ids[row], rows->numbering);
    for (int rank = 1; rank < sc_world_size() && sc_world_rank() == 0; rank++) {
        MPI_Status status;
        int got = 0;
        PMPI_Send(NULL, 0, MPI_BYTE, rank, TAG_GO, sc_world_comm());
        PMPI_Recv(ids, (int)largest, MPI_UINT32_T, rank, TAG_REGIONS, sc_world_comm(), &status);
        PMPI_Get_count(&status, MPI_UINT32_T, &got);
        for (int i = 0; i < got; i++)
            set_pair(out, row++, ids[i], rows->numbering);
    }
    if (sc_world_rank() > 0) {
        PMPI_Recv(NULL, 0, MPI_BYTE, 0, TAG_GO, sc_world_comm(), MPI_STATUS_IGNORE);
        PMPI_Send(ids, (int)count, MPI_UINT32_T, 0, TAG_REGIONS, sc_world_comm());
    }
out:
    free(ids);
    return rc;
}

/* ---- the file ---- */

/* Rank 0. */
static int write_skeleton(const struct shared *shared, int parallel, const struct sc_rows *rows,
                          const struct pairs *pairs, const struct sc_rank_facts *ranks)
{
    const struct sc_numbering *n = rows->numbering;
    const struct sc_catalog *c = rows->catalog;
    struct sc_facts facts = {0};
    int rc = collect_facts(&facts, shared, parallel, ranks);
    struct sc_h5_skeleton s = {
        .attributes = facts.attribute,
        .attribute_count = facts.count,
        .region_names = n->region_names,
        .regions = n->regions,
        .pairs = rows->total[SC_ROWS_INDEX],
        .source_files = pairs->files,
        .source_texts = pairs->texts,
        .tags = pairs->tags,
        .event_metadata = pairs->metadata,
        .events = rows->total[SC_ROWS_EVENTS],
        .mpi_events = rows->total[SC_ROWS_MPI],
        .path_stats = rows->total[SC_ROWS_PATH_STATS],
        .mpi_totals = rows->total[SC_ROWS_MPI_TOTALS],
        .peers = rows->total[SC_ROWS_PEERS],
        .tasks = rows->total[SC_ROWS_TASKS],
        .ranks = (uint32_t)sc_world_size(),
        .mpi = sc_world_is_open(),
        .has = rows->has,
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
        .comms = n->comms,
        .comm_names = n->comm_names,
        .comm_count = n->comm_count,
        .comm_members = n->comm_members,
        .comm_member_count = n->comm_member_count,
        .objects = c->objects,
        .object_names = c->object_names,
        .object_count = c->object_count,
        .sites = c->sites,
        .site_count = c->site_count,
        .module_names = c->module_names,
        .module_build_ids = c->module_build_ids,
        .module_count = c->module_count,
        .paths = n->paths,
        .path_count = n->path_count,
    };

    if (rc == 0)
        rc = sc_h5write_skeleton(shared->temporary, &s);
    sc_facts_free(&facts);
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

/* Rank 0. The complete file takes its name; a failure leaves what was there. */
static int put_in_place(const struct shared *shared, uint64_t *bytes)
{
    char directory[sizeof shared->path];
    struct stat info;
    int error = sync_path(shared->temporary, O_RDWR);

    if (error == 0 && stat(shared->temporary, &info) == 0)
        *bytes = (uint64_t)info.st_size;
    if (error == 0 && rename(shared->temporary, shared->path) != 0)
        error = errno;
    if (error != 0)
        return sc_fail(SC_EIO, "%s: %s", shared->path, strerror(error));
    memcpy(directory, shared->path, sizeof directory);
    strrchr(directory, '/')[1] = '\0';
    sync_path(directory, O_RDONLY | O_DIRECTORY); /* the file is in place whatever this says */
    return 0;
}

/* A reason that names the temporary file is to name the profile, the only name a user knows. */
static void name_profile(const struct shared *shared, int rc)
{
    size_t length = strlen(shared->temporary);
    char *reason = strdup(sc_last_error());

    if (reason != NULL && strncmp(reason, shared->temporary, length) == 0)
        sc_fail(rc, "%s%s", shared->path, reason + length);
    free(reason);
}

/* Collective. */
static int write_file(const struct shared *shared, struct sc_rows *rows,
                      const struct sc_rank_facts *ranks, uint64_t *bytes)
{
    struct pairs pairs = {.full = is_full(shared)};
    int parallel = write_in_parallel(shared);
    int rc = gather_pairs(rows, &pairs);

    if (rc != 0)
        goto out;
    if (sc_world_rank() == 0)
        rc = write_skeleton(shared, parallel, rows, &pairs, ranks);
    rc = sc_agree(rc);
    if (rc == 0)
        rc = parallel ? sc_write_collective(shared->temporary, rows->table, rows->tables)
                      : sc_write_token(shared->temporary, rows->table, rows->tables);
    rc = sc_agree(rc == 0 ? rows->status : rc);
    if (rc == 0 && sc_world_rank() == 0)
        rc = put_in_place(shared, bytes);
    rc = sc_agree(rc);
    if (rc != 0 && sc_world_rank() == 0) {
        unlink(shared->temporary);
        name_profile(shared, rc);
    }
out:
    pairs_free(&pairs);
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

static void print_summary(struct sc_summary *s, const struct shared *shared,
                          const struct sc_rank_facts *ranks, int rc, uint64_t bytes)
{
    s->command = command_name();
    s->label = shared->settings.value[SC_LABEL].text;
    s->path = shared->path;
    s->start_realtime_ns = sc_runtime_begin_realtime();
    s->nodes = (int)ranks->node_count;
    s->file_bytes = bytes;
    s->problem = rc == 0 ? NULL : sc_last_error();
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

static int publish(const struct sc_settings *settings, struct sc_recording *recording)
{
    int64_t began = sc_clock_monotonic();
    struct shared *shared = calloc(1, sizeof *shared);
    struct sc_rank_facts *ranks = NULL;
    struct sc_numbering numbering = {0};
    struct sc_catalog catalog = {0};
    struct sc_rows rows = {0};
    struct sc_summary summary = {0};
    struct sc_row_rank rank = {0};
    uint64_t bytes = 0;
    int rc = sc_agree(shared == NULL ? sc_fail(SC_ENOMEM, "no memory to publish") : 0);

    if (rc == 0)
        rc = share(settings, shared);
    if (rc == 0)
        rc = sc_rank_facts_create(wanted_facts(shared), &ranks);
    if (rc == 0)
        rc = sc_numbering_create(recording, &numbering);
    if (rc == 0)
        rc = sc_catalog_create(&numbering, is_full(shared), &catalog);
    if (rc != 0) {
        if (sc_runtime_speaks())
            sc_log("%s", sc_last_error());
        goto out;
    }
    if (recording != NULL)
        rank = recording->rank;
    complete_rank(&rank, ranks, shared);
    rc = sc_agree(sc_rows_create(recording, &numbering, &catalog, &rank, &rows));
    if (rc == 0)
        rc = write_file(shared, &rows, ranks, &bytes);
    if (sc_digest_create(recording, &numbering, &rank, &summary) == 0 && sc_runtime_speaks()) {
        summary.finish_ns = sc_clock_monotonic() - began;
        print_summary(&summary, shared, ranks, rc, bytes);
    }
    sc_digest_free(&summary);
out:
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
