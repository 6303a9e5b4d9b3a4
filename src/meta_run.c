/* SPDX-License-Identifier: BSD-3-Clause */
#include "meta.h"

#include <string.h>

#include "h5write.h"
#include "settings.h"

int sc_facts_settings(struct sc_facts *f, const struct sc_settings *s)
{
    const struct sc_setting *value = s->value;
    int rc = sc_facts_text(f, "mpi_record", value[SC_MPI_RECORD].text);

    if (rc == 0)
        rc = sc_facts_text(f, "metadata_detail", value[SC_METADATA_DETAIL].text);
    if (rc == 0)
        rc = sc_facts_int(f, "buffer_limit", value[SC_BUFFER_LIMIT].number);
    if (rc == 0 && value[SC_LABEL].text[0] != '\0')
        rc = sc_facts_text(f, "label", value[SC_LABEL].text);
    return rc;
}

int sc_facts_run(struct sc_facts *f, const struct sc_run_facts *run)
{
    const int64_t ranks = run->ranks;
    int64_t threads = 1;
    int rc;

    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->attribute[i].name, "omp_num_threads") == 0)
            threads = f->attribute[i].integer;
    rc = sc_facts_time(f, "timestamp", run->begin_realtime);
    if (rc == 0)
        rc = sc_facts_int(f, "mpi_size", ranks);
    if (rc == 0)
        rc = sc_facts_int(f, "num_ranks", ranks);
    if (rc == 0)
        rc = sc_facts_int(f, "num_nodes", (int64_t)run->nodes);
    if (rc == 0)
        rc = sc_facts_int(f, "total_cores", ranks * threads);
    if (rc == 0)
        rc = sc_facts_int(f, "start_time_ns", run->start_ns);
    if (rc == 0)
        rc = sc_facts_int(f, "end_time_ns", run->end_ns);
    if (rc == 0 && run->clock != NULL)
        rc = sc_facts_text(f, "clock", run->clock);
    if (rc == 0)
        rc = sc_facts_text(f, "output_mode", run->output_mode);
    return rc;
}
