/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * Between two ranks, and between a rank and a file. A message or a transfer to oneself counts like
 * any other; one to or from MPI_PROC_NULL is none. The other end may be of another world: then it
 * has no number, but the bytes count.
 */
#include "buffer.h"
#include "bytes.h"
#include "comm.h"
#include "object.h"

uint64_t sc_bytes_of_status(const MPI_Status *status)
{
    MPI_Count bytes = 0;

    if (PMPI_Get_elements_x(status, MPI_BYTE, &bytes) != MPI_SUCCESS || bytes < 0)
        return 0; /* MPI_UNDEFINED */
    return (uint64_t)bytes;
}

/* ---- point to point ---- */

static int32_t tag_of(int tag)
{
    return tag == MPI_ANY_TAG ? -1 : tag;
}

static void note_message(struct sc_op *op, enum sc_op_flag direction, const struct sc_comm *c,
                         int other, int tag)
{
    op->flags |= (uint16_t)direction;
    op->peer = sc_comm_peer(c, other);
    op->tag = tag;
}

void sc_bytes_send(struct sc_op *op, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    if (c == NULL || dest == MPI_PROC_NULL)
        return;
    note_message(op, SC_OP_SENDS, c, dest, tag);
    op->sent = sc_bytes_of(count, type);
}

void sc_bytes_psend(struct sc_op *op, int partitions, MPI_Count count, MPI_Datatype type, int dest,
                    int tag, MPI_Comm comm)
{
    sc_bytes_send(op, count, type, dest, tag, comm);
    op->sent *= (uint64_t)(partitions < 0 ? 0 : partitions);
}

/* False: from nobody. */
static bool note_source(struct sc_op *op, int source, int tag, MPI_Comm comm)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    if (c == NULL || source == MPI_PROC_NULL)
        return false;
    op->peer = sc_comm_peer(c, source);
    op->tag = tag_of(tag);
    return true;
}

void sc_bytes_irecv(struct sc_op *op, int source, int tag, MPI_Comm comm)
{
    if (note_source(op, source, tag, comm))
        op->flags |= SC_OP_RECEIVES; /* its request will tell what: sc_request_started() */
}

void sc_bytes_recv(struct sc_op *op, int source, int tag, MPI_Comm comm, const MPI_Status *status)
{
    const struct sc_comm *c = sc_bytes_comm(op, comm);

    (void)tag;
    if (c == NULL || source == MPI_PROC_NULL)
        return;
    note_message(op, SC_OP_RECEIVES, c, status->MPI_SOURCE, status->MPI_TAG);
    op->received = sc_bytes_of_status(status);
}

void sc_bytes_probe(struct sc_op *op, int source, int tag, MPI_Comm comm, const MPI_Status *status)
{
    if (source != MPI_PROC_NULL)
        tag = status->MPI_TAG;
    (void)note_source(op, source == MPI_PROC_NULL ? source : status->MPI_SOURCE, tag, comm);
}

void sc_bytes_mrecv(struct sc_op *op, const MPI_Status *status)
{
    const struct sc_comm *c = sc_comm_get(op->comm);

    if (c == NULL || status->MPI_SOURCE == MPI_PROC_NULL)
        return;
    note_message(op, SC_OP_RECEIVES, c, status->MPI_SOURCE, status->MPI_TAG);
    op->received = sc_bytes_of_status(status);
}

/* The receiving half is a part that is done at once. */
static void add_receive(struct sc_op *op, int source, int tag, uint64_t bytes)
{
    struct sc_thread *t = (struct sc_thread *)(void *)scope_thread_1_;
    const struct sc_comm *c = sc_comm_get(op->comm);
    struct sc_part *part = c == NULL || source == MPI_PROC_NULL ? NULL : sc_part_add(t, op);

    if (part == NULL)
        return;
    part->flags = SC_PART_RECEIVES;
    part->comm = op->comm;
    part->peer = sc_comm_peer(c, source);
    part->tag = tag_of(tag);
    part->received = bytes;
    part->done = op->start;
    sc_part_done(part);
}

void sc_bytes_sendrecv(struct sc_op *op, MPI_Count count, MPI_Datatype type, int dest, int sendtag,
                       int source, int recvtag, MPI_Comm comm, const MPI_Status *status)
{
    (void)recvtag;
    sc_bytes_send(op, count, type, dest, sendtag, comm);
    if (source != MPI_PROC_NULL)
        add_receive(op, status->MPI_SOURCE, status->MPI_TAG, sc_bytes_of_status(status));
}

void sc_bytes_isendrecv(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                        int sendtag, MPI_Count recvcount, MPI_Datatype recvtype, int source,
                        int recvtag, MPI_Comm comm)
{
    sc_bytes_send(op, sendcount, sendtype, dest, sendtag, comm);
    if (source != MPI_PROC_NULL)
        add_receive(op, source, recvtag, sc_bytes_of(recvcount, recvtype));
}

/* ---- one-sided ---- */

static const struct sc_object *note_object(struct sc_op *op, const struct sc_object *object)
{
    if (object != NULL) {
        op->object = object->number;
        op->comm = object->comm;
    }
    return object;
}

void sc_bytes_window(struct sc_op *op, MPI_Win win)
{
    (void)note_object(op, sc_object_of_window(win));
}

void sc_bytes_opened_window(struct sc_op *op, const MPI_Win *win)
{
    (void)note_object(op, sc_object_of_window(*win));
}

/* False: nothing can move. */
static bool note_target(struct sc_op *op, int rank, MPI_Win win)
{
    const struct sc_object *object = note_object(op, sc_object_of_window(win));

    if (object == NULL || rank == MPI_PROC_NULL)
        return false;
    op->peer = sc_comm_world_rank(object->group, rank);
    return true;
}

void sc_bytes_window_target(struct sc_op *op, int rank, MPI_Win win)
{
    (void)note_target(op, rank, win);
}

static void note_transfer(struct sc_op *op, uint64_t sent, uint64_t received)
{
    op->flags |= SC_OP_RMA;
    op->sent = sent;
    op->received = received;
}

void sc_bytes_put(struct sc_op *op, MPI_Count count, MPI_Datatype type, int target, MPI_Win win)
{
    if (note_target(op, target, win))
        note_transfer(op, sc_bytes_of(count, type), 0);
}

void sc_bytes_get(struct sc_op *op, MPI_Count count, MPI_Datatype type, int target, MPI_Win win)
{
    if (note_target(op, target, win))
        note_transfer(op, 0, sc_bytes_of(count, type));
}

void sc_bytes_fetch(struct sc_op *op, MPI_Count origin_count, MPI_Datatype origin_type,
                    MPI_Count result_count, MPI_Datatype result_type, int target, MPI_Op operation,
                    MPI_Win win)
{
    if (!note_target(op, target, win))
        return;
    note_transfer(op, operation == MPI_NO_OP ? 0 : sc_bytes_of(origin_count, origin_type),
                  sc_bytes_of(result_count, result_type));
}

void sc_bytes_compare_and_swap(struct sc_op *op, MPI_Datatype type, int target, MPI_Win win)
{
    if (note_target(op, target, win))
        note_transfer(op, sc_bytes_of(2, type), sc_bytes_of(1, type));
}

/* ---- files ---- */

void sc_bytes_file(struct sc_op *op, MPI_File file)
{
    (void)note_object(op, sc_object_of_file(file));
}

void sc_bytes_opened_file(struct sc_op *op, const MPI_File *file)
{
    (void)note_object(op, sc_object_of_file(*file));
}

void sc_bytes_read(struct sc_op *op, MPI_File file, const MPI_Status *status)
{
    sc_bytes_file(op, file);
    op->received = sc_bytes_of_status(status);
}

void sc_bytes_written(struct sc_op *op, MPI_File file, const MPI_Status *status)
{
    sc_bytes_file(op, file);
    op->sent = sc_bytes_of_status(status);
}
