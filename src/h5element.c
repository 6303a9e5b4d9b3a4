/* SPDX-License-Identifier: BSD-3-Clause */
#include "h5element.h"

#include <string.h>

#include "layout.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct sc_h5_field {
    const char *name; /* NULL: the element is not a compound */
    size_t size;
    size_t type; /* offset of its predefined type in struct sc_h5api */
};

#define FIELD(ctype, h5type, name) \
    {#name, sizeof(ctype), offsetof(struct sc_h5api, H5T_NATIVE_##h5type##_g)},
#define ADD_SIZE(ctype, h5type, name) +sizeof(ctype)
#define COMPOUND(tag, LIST)                                         \
    static const struct sc_h5_field tag##_fields[] = {LIST(FIELD)}; \
    _Static_assert(0 LIST(ADD_SIZE) == sizeof(struct tag), "rows have no padding")

COMPOUND(sc_row_rank, SC_ROW_RANK);
COMPOUND(sc_row_node, SC_ROW_NODE);
COMPOUND(sc_row_topology, SC_ROW_TOPOLOGY);
COMPOUND(sc_row_comm, SC_ROW_COMM);
COMPOUND(sc_row_run, SC_ROW_RUN);
COMPOUND(sc_row_path, SC_ROW_PATH);
COMPOUND(sc_row_path_stats, SC_ROW_PATH_STATS);
COMPOUND(sc_row_mpi_total, SC_ROW_MPI_TOTAL);
COMPOUND(sc_row_peer, SC_ROW_PEER);
COMPOUND(sc_row_object, SC_ROW_OBJECT);
COMPOUND(sc_row_site, SC_ROW_SITE);
COMPOUND(sc_row_summary, SC_ROW_SUMMARY);

#define SCALAR(ctype, h5type)                             \
    static const struct sc_h5_field h5type##_fields[] = { \
        {NULL, sizeof(ctype), offsetof(struct sc_h5api, H5T_NATIVE_##h5type##_g)}}
SCALAR(int32_t, INT32);
SCALAR(uint32_t, UINT32);
SCALAR(int64_t, INT64);
SCALAR(uint64_t, UINT64);

static const struct sc_h5_field TEXT_fields[] = {
    {NULL, SC_TEXT_BYTES, offsetof(struct sc_h5api, H5T_C_S1_g)}};

#define ELEMENT(tag) tag##_fields, COUNT(tag##_fields)
static const struct sc_h5_element elements[] = {
    {SC_D_INDEX_REGION_IDS, ELEMENT(UINT32), SC_H5_PAIRS, false, 0},
    {SC_D_INDEX_RANKS, ELEMENT(UINT32), SC_H5_PAIRS, false, 0},
    {SC_D_INDEX_EVENT_OFFSETS, ELEMENT(UINT64), SC_H5_PAIRS, false, 0},
    {SC_D_INDEX_EVENT_COUNTS, ELEMENT(UINT64), SC_H5_PAIRS, false, 0},
    {SC_D_INDEX_SOURCE_LINES, ELEMENT(INT64), SC_H5_PAIRS, false, 0},
    {SC_D_INDEX_EXCLUSIVE, ELEMENT(INT64), SC_H5_PAIRS, false, 0},
    {SC_D_INDEX_SUMMARY, ELEMENT(sc_row_summary), SC_H5_PAIRS, false, 0},
    {SC_D_EVENT_STARTS, ELEMENT(INT64), SC_H5_EVENTS, false, 0},
    {SC_D_EVENT_DURATIONS, ELEMENT(INT64), SC_H5_EVENTS, false, 0},
    {SC_D_EVENT_AWAIT, ELEMENT(INT64), SC_H5_EVENTS, true, SC_HAS_AWAIT},
    {SC_D_RANKS, ELEMENT(sc_row_rank), SC_H5_RANKS, false, 0},
    {SC_D_PATH_STATS, ELEMENT(sc_row_path_stats), SC_H5_PATH_STATS, false, 0},
    {SC_D_MPI_TOTALS, ELEMENT(sc_row_mpi_total), SC_H5_TOTALS, true, 0},
    {SC_D_TASK_RANKS, ELEMENT(UINT32), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_INDEX, ELEMENT(INT64), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_THREAD, ELEMENT(INT64), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_CREATED, ELEMENT(INT64), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_DONE, ELEMENT(INT64), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_STEPS, ELEMENT(INT64), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_RUNNING, ELEMENT(INT64), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_SUSPENDED, ELEMENT(INT64), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_KIND, ELEMENT(TEXT), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_NAME, ELEMENT(TEXT), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_TASK_CORO, ELEMENT(TEXT), SC_H5_TASKS, true, SC_HAS_TASKS},
    {SC_D_PEERS, ELEMENT(sc_row_peer), SC_H5_PEERS, true, 0},
    {SC_D_MPI_OFFSETS, ELEMENT(UINT64), SC_H5_PAIRS, true, 0},
    {SC_D_MPI_COMMS, ELEMENT(INT32), SC_H5_OPS, true, 0},
    {SC_D_MPI_PEERS, ELEMENT(INT32), SC_H5_OPS, true, 0},
    {SC_D_MPI_SENT, ELEMENT(UINT64), SC_H5_OPS, true, 0},
    {SC_D_MPI_RECEIVED, ELEMENT(UINT64), SC_H5_OPS, true, 0},
    {SC_D_MPI_TAGS, ELEMENT(INT32), SC_H5_OPS, true, SC_HAS_TAGS},
    {SC_D_MPI_OBJECTS, ELEMENT(INT32), SC_H5_OPS, true, SC_HAS_OBJECTS},
    {SC_D_MPI_SITES, ELEMENT(INT32), SC_H5_OPS, true, SC_HAS_SITES},
    {SC_D_MPI_ERRORS, ELEMENT(INT32), SC_H5_OPS, true, SC_HAS_ERRORS},
    {SC_D_MPI_REQUESTS, ELEMENT(INT64), SC_H5_OPS, true, SC_HAS_REQUESTS},
    {SC_D_NODES, ELEMENT(sc_row_node), SC_H5_NODES, false, 0},
    {SC_D_TOPOLOGIES, ELEMENT(sc_row_topology), SC_H5_TOPOLOGIES, false, 0},
    {SC_D_COMMS, ELEMENT(sc_row_comm), SC_H5_COMMS, true, 0},
    {SC_D_COMM_MEMBERS, ELEMENT(sc_row_run), SC_H5_MEMBERS, true, 0},
    {SC_D_OBJECTS, ELEMENT(sc_row_object), SC_H5_OBJECTS, true, 0},
    {SC_D_SITES, ELEMENT(sc_row_site), SC_H5_SITES, true, 0},
    {SC_D_PATHS, ELEMENT(sc_row_path), SC_H5_PATHS, false, 0},
};

size_t sc_h5_elements(const struct sc_h5_element **out)
{
    *out = elements;
    return COUNT(elements);
}

const struct sc_h5_element *sc_h5_element_find(const char *dataset)
{
    for (size_t i = 0; i < COUNT(elements); i++)
        if (strcmp(elements[i].dataset, dataset) == 0)
            return &elements[i];
    return NULL;
}

size_t sc_h5_element_bytes(const struct sc_h5_element *element)
{
    size_t size = 0;

    for (size_t i = 0; i < element->field_count; i++)
        size += element->fields[i].size;
    return size;
}

static hid_t field_type(const struct sc_h5api *h5, const struct sc_h5_field *field)
{
    hid_t type;

    memcpy(&type, (const char *)h5 + field->type, sizeof(type));
    return type;
}

hid_t sc_h5_element_type(const struct sc_h5api *h5, const struct sc_h5_element *element)
{
    size_t offset = 0;
    hid_t type;

    if (element->fields[0].name == NULL) {
        type = h5->H5Tcopy(field_type(h5, &element->fields[0]));
        if (element->fields == TEXT_fields) {
            h5->H5Tset_size(type, SC_TEXT_BYTES);
            h5->H5Tset_cset(type, H5T_CSET_UTF8);
        }
        return type;
    }
    type = h5->H5Tcreate(H5T_COMPOUND, sc_h5_element_bytes(element));
    for (size_t i = 0; i < element->field_count; i++) {
        h5->H5Tinsert(type, element->fields[i].name, offset, field_type(h5, &element->fields[i]));
        offset += element->fields[i].size;
    }
    return type;
}
