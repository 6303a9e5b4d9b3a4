/*
 * SPDX-License-Identifier: BSD-3-Clause
 *
 * bytes: what a successful call of each shape put on the wire: the bytes its definition moves from
 * this rank to others and from others to this rank, whatever the algorithm; what a rank moves to
 * itself does not count. doc/mpi.md has the formulas. Any thread, hot path. Every function also
 * notes the communicator, and the root (as world rank) where there is one. Arguments are those of
 * the MPI routine; only those significant at this rank are looked at.
 */
#ifndef SC_BYTES_H
#define SC_BYTES_H

#include <mpi.h>

struct sc_op;

void sc_bytes_none(struct sc_op *op, MPI_Comm comm); /* moves no data */
void sc_bytes_rooted(struct sc_op *op, int root, MPI_Comm comm);
void sc_bytes_request(struct sc_op *op); /* it started a request: the next id */

void sc_bytes_bcast(struct sc_op *op, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void sc_bytes_gather(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                     MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void sc_bytes_gatherv(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                      const int *recvcounts, MPI_Datatype recvtype, int root, MPI_Comm comm);
void sc_bytes_scatter(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                      MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void sc_bytes_scatterv(struct sc_op *op, const int *sendcounts, MPI_Datatype sendtype,
                       MPI_Count recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
void sc_bytes_allgather(struct sc_op *op, const void *sendbuf, MPI_Count sendcount,
                        MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                        MPI_Comm comm);
void sc_bytes_allgatherv(struct sc_op *op, const void *sendbuf, MPI_Count sendcount,
                         MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype,
                         MPI_Comm comm);
void sc_bytes_alltoall(struct sc_op *op, const void *sendbuf, MPI_Count sendcount,
                       MPI_Datatype sendtype, MPI_Count recvcount, MPI_Datatype recvtype,
                       MPI_Comm comm);
void sc_bytes_alltoallv(struct sc_op *op, const void *sendbuf, const int *sendcounts,
                        MPI_Datatype sendtype, const int *recvcounts, MPI_Datatype recvtype,
                        MPI_Comm comm);
void sc_bytes_alltoallw(struct sc_op *op, const void *sendbuf, const int *sendcounts,
                        const MPI_Datatype *sendtypes, const int *recvcounts,
                        const MPI_Datatype *recvtypes, MPI_Comm comm);
void sc_bytes_reduce(struct sc_op *op, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm);
void sc_bytes_allreduce(struct sc_op *op, MPI_Count count, MPI_Datatype type, MPI_Comm comm);
void sc_bytes_reduce_scatter(struct sc_op *op, const int *recvcounts, MPI_Datatype type,
                             MPI_Comm comm);
void sc_bytes_reduce_scatter_block(struct sc_op *op, MPI_Count recvcount, MPI_Datatype type,
                                   MPI_Comm comm);
void sc_bytes_scan(struct sc_op *op, MPI_Count count, MPI_Datatype type, MPI_Comm comm);

void sc_bytes_neighbor(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                       MPI_Count recvcount, MPI_Datatype recvtype, MPI_Comm comm);
void sc_bytes_neighbor_allgatherv(struct sc_op *op, MPI_Count sendcount, MPI_Datatype sendtype,
                                  const int *recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
void sc_bytes_neighbor_alltoallv(struct sc_op *op, const int *sendcounts, MPI_Datatype sendtype,
                                 const int *recvcounts, MPI_Datatype recvtype, MPI_Comm comm);
void sc_bytes_neighbor_alltoallw(struct sc_op *op, const int *sendcounts,
                                 const MPI_Datatype *sendtypes, const int *recvcounts,
                                 const MPI_Datatype *recvtypes, MPI_Comm comm);

#endif
