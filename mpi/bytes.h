/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bytes: what a successful call of each shape put on the wire: the bytes its definition moves from
 * this rank to others and from others to this rank, whatever the algorithm; what a rank moves to
 * itself in a collective does not count. doc/mpi.md has the formulas. Any thread, hot path. Every
 * function also notes the communicator, the file or window, and as peer (a world rank) the root,
 * the other end or the target, where there is one. Arguments are those of the MPI routine; only
 * those significant at this rank are looked at.
 */
#ifndef SC_BYTES_H
#define SC_BYTES_H

#include <mpi.h>
#include <stdint.h>

#include "list.h"

struct sc_comm;
struct sc_op;

/* A type is not looked at when nothing of it moves: it need not be a valid one then. */
uint64_t sc_bytes_of(MPI_Count count, MPI_Datatype type);

/* What a receive or a transfer of a file moved. */
uint64_t sc_bytes_of_status(const MPI_Status *status);

/* Notes the communicator; NULL: it is none that we know. */
const struct sc_comm *sc_bytes_comm(struct sc_op *op, MPI_Comm comm);

void sc_bytes_none(struct sc_op *op, MPI_Comm comm); /* moves no data */
void sc_bytes_rooted(struct sc_op *op, int root, MPI_Comm comm);

/* ---- collectives ---- */

void sc_bytes_bcast(struct sc_op *op, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void sc_bytes_gather(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void sc_bytes_gatherv(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                      struct sc_list recvcounts, MPI_Datatype recvtype, int root, MPI_Comm comm);
void sc_bytes_scatter(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void sc_bytes_scatterv(struct sc_op *op, struct sc_list sendcounts, MPI_Datatype sendtype,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void sc_bytes_allgather(struct sc_op *op, const void *sendbuf, MPI_Count sendcount,
                        MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                        MPI_Comm comm);
void sc_bytes_allgatherv(struct sc_op *op, const void *sendbuf, MPI_Count sendcount,
                         MPI_Datatype sendtype, struct sc_list recvcounts, MPI_Datatype recvtype,
                         MPI_Comm comm);
void sc_bytes_alltoall(struct sc_op *op, const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                       MPI_Comm comm);
void sc_bytes_alltoallv(struct sc_op *op, const void *sendbuf, struct sc_list sendcounts,
                        MPI_Datatype sendtype, struct sc_list recvcounts, MPI_Datatype recvtype,
                        MPI_Comm comm);
void sc_bytes_alltoallw(struct sc_op *op, const void *sendbuf, struct sc_list sendcounts,
                        struct sc_list sendtypes, struct sc_list recvcounts,
                        struct sc_list recvtypes, MPI_Comm comm);
void sc_bytes_reduce(struct sc_op *op, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void sc_bytes_allreduce(struct sc_op *op, MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void sc_bytes_reduce_scatter(struct sc_op *op, struct sc_list recvcounts, MPI_Datatype type,
                             MPI_Comm comm);
void sc_bytes_reduce_scatter_block(struct sc_op *op, MPI_Count recvcount, MPI_Datatype type,
                                   MPI_Comm comm);
void sc_bytes_scan(struct sc_op *op, MPI_Count count, MPI_Datatype type, MPI_Comm comm);

void sc_bytes_neighbor(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void sc_bytes_neighbor_allgatherv(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                                  struct sc_list recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
void sc_bytes_neighbor_alltoallv(struct sc_op *op, struct sc_list sendcounts, MPI_Datatype sendtype,
                                 struct sc_list recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
void sc_bytes_neighbor_alltoallw(struct sc_op *op, struct sc_list sendcounts,
                                 struct sc_list sendtypes, struct sc_list recvcounts,
                                 struct sc_list recvtypes, MPI_Comm comm);

/* ---- point to point; status: the call's, never MPI_STATUS_IGNORE ---- */

void sc_bytes_send(struct sc_op *op, MPI_Count count, MPI_Datatype type, int dest, int tag,
                   MPI_Comm comm);
void sc_bytes_psend(struct sc_op *op, int partitions, MPI_Count count, MPI_Datatype type, int dest,
                    int tag, MPI_Comm comm);
void sc_bytes_recv(struct sc_op *op, int source, int tag, MPI_Comm comm, const MPI_Status *status);
void sc_bytes_irecv(struct sc_op *op, int source, int tag, MPI_Comm comm); /* nothing came yet */
void sc_bytes_probe(struct sc_op *op, int source, int tag, MPI_Comm comm, const MPI_Status *status);
void sc_bytes_mrecv(struct sc_op *op, const MPI_Status *status); /* the communicator is noted */

/* Of the calling thread's operation; the receiving half becomes a part of it. */
void sc_bytes_sendrecv(struct sc_op *op, MPI_Count count, MPI_Datatype type, int dest, int sendtag,
                       int source, int recvtag, MPI_Comm comm, const MPI_Status *status);
void sc_bytes_isendrecv(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype, int dest,
                        int sendtag, MPI_Count recvcount, MPI_Datatype recvtype, int source,
                        int recvtag, MPI_Comm comm);

/* ---- one-sided ---- */

void sc_bytes_window(struct sc_op *op, MPI_Win win);
void sc_bytes_opened_window(struct sc_op *op, const MPI_Win *win);
void sc_bytes_window_target(struct sc_op *op, int rank, MPI_Win win);
void sc_bytes_put(struct sc_op *op, MPI_Count count, MPI_Datatype type, int target, MPI_Win win);
void sc_bytes_get(struct sc_op *op, MPI_Count count, MPI_Datatype type, int target, MPI_Win win);
void sc_bytes_fetch(struct sc_op *op, MPI_Count origin_count, MPI_Datatype origin_type,
                    MPI_Count result_count, MPI_Datatype result_type, int target, MPI_Op operation,
                    MPI_Win win);
void sc_bytes_compare_and_swap(struct sc_op *op, MPI_Datatype type, int target, MPI_Win win);

/* ---- files ---- */

void sc_bytes_file(struct sc_op *op, MPI_File file);
void sc_bytes_opened_file(struct sc_op *op, const MPI_File *file);
void sc_bytes_read(struct sc_op *op, MPI_File file, const MPI_Status *status);
void sc_bytes_written(struct sc_op *op, MPI_File file, const MPI_Status *status);

#endif
