#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Both writers give the same bytes for the same recording; h5py decodes every start and duration to what the program
# knows; the totals are those of the rows, also when rows are not kept.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

$CC -std=c11 -O1 ${SANITIZER:+-fsanitize=$SANITIZER} -I"$abs_top_srcdir/src" -o known \
    "$abs_top_srcdir/tests/mpi/known.c" -L"$abs_top_builddir/.libs" -lscope \
    -Wl,-rpath,"$abs_top_builddir/.libs" || exit 1

# record FILE RANKS SETTING=VALUE...
record()
{
    file=$1 ranks=$2
    shift 2
    env SCOPE_TEST_CLOCK=100 SCOPE_PROFILER_SUMMARY=0 SCOPE_PROFILER_FILE_PATH="$file" "$@" \
        $MPIEXEC -n "$ranks" ./known || { echo "known: $file on $ranks ranks: exit status $?"; exit 1; }
    h5dump -H "$file" >/dev/null || { echo "known: h5dump cannot read $file"; exit 1; }
}

for ranks in 1 3 4; do
    for chunk in 0 500; do
        rm -f parallel.h5 direct.h5 known.*
        record parallel.h5 $ranks SCOPE_PROFILER_OUTPUT_MODE=parallel SCOPE_PROFILER_HDF5_CHUNK_SIZE=$chunk
        record direct.h5 $ranks SCOPE_PROFILER_OUTPUT_MODE=direct SCOPE_PROFILER_HDF5_CHUNK_SIZE=$chunk
        for group in /events /rank_region_index /region_table /scope/mpi /scope/call_path_stats \
            /scope/mpi_totals /scope/communicators; do
            h5diff parallel.h5 direct.h5 $group || { echo "known: $group differs on $ranks ranks"; exit 1; }
        done
        for file in parallel.h5 direct.h5; do
            /usr/bin/python3 "$abs_top_srcdir/tests/mpi/known.py" $file $ranks || exit 1
        done
    done
    record stats.h5 $ranks SCOPE_PROFILER_MPI_RECORD=stats
    h5diff direct.h5 stats.h5 /scope/mpi_totals || { echo "known: totals differ without rows"; exit 1; }
done
