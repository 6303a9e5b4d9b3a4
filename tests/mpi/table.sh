#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wrappers are the same whatever awk makes them, every one is exported, and no collective that this
# mpi.h declares is without.
# shellcheck disable=SC2154 # the variables come from tests/run

generated=$abs_top_builddir/mpi/wrap_c.c
tried=0
failed=0

for awk in gawk mawk 'busybox awk'; do
    $awk 'BEGIN { exit 0 }' </dev/null 2>/dev/null || continue
    $awk -f "$abs_top_srcdir/mpi/wrap.awk" "$abs_top_builddir/mpi/mpi.i" \
        "$abs_top_srcdir/mpi/mpi.table" >wrap_c.c
    cmp wrap_c.c "$generated" || {
        echo "table: other wrappers from $awk"
        failed=1
    }
    tried=$((tried + 1))
done
test $tried -gt 0 || {
    echo 'table: no awk ran'
    failed=1
}

wrapped=$(sed -n 's/^ *{ "\(MPI_[A-Za-z_]*\)", .*/\1/p' "$generated")
exported=$(nm -D --defined-only "$SCOPE_LIBRARY" | sed -n 's/.* T //p')
test "$(echo "$wrapped" | wc -l)" -gt 60 || {
    echo "table: $(echo "$wrapped" | wc -l) routines in $generated"
    failed=1
}
for name in $wrapped; do
    echo "$exported" | grep -qx "$name" || {
        echo "table: $name is not exported"
        failed=1
    }
done

# Names of collectives: with and without I (persistent ones, _init, and large counts, _c, are later work).
stems='barrier bcast gather gatherv scatter scatterv allgather allgatherv alltoall alltoallv alltoallw
    reduce allreduce reduce_scatter reduce_scatter_block scan exscan neighbor_allgather
    neighbor_allgatherv neighbor_alltoall neighbor_alltoallv neighbor_alltoallw'
makers='Comm_dup Comm_dup_with_info Comm_idup Comm_idup_with_info Comm_split Comm_split_type Comm_create
    Comm_create_group Intercomm_create Intercomm_merge Cart_create Cart_sub Graph_create
    Dist_graph_create Dist_graph_create_adjacent Comm_spawn Comm_spawn_multiple Comm_accept
    Comm_connect Comm_join Comm_free Comm_disconnect Init Init_thread Finalize'
names=$makers
for stem in $stems; do
    names="$names I$stem $(echo "$stem" | cut -c1 | tr '[:lower:]' '[:upper:]')$(echo "$stem" | cut -c2-)"
done
for name in $names; do
    grep -q "[^A-Za-z0-9_]PMPI_${name}[^A-Za-z0-9_]" "$abs_top_builddir/mpi/mpi.i" || continue
    echo "$wrapped" | grep -qx "MPI_$name" || {
        echo "table: MPI_$name is declared but not wrapped"
        failed=1
    }
done
exit $failed
