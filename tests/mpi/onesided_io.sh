#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every routine that moves data through a window or a file: bytes, target, file or window of each call, the totals and
# the matrix are the numbers in the test's tables, with rows and without, and the program gets what it gets without the
# library.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

python=/usr/bin/python3
$python -c 'import h5py' 2>/dev/null || {
    echo 'onesided_io: no h5py for python3 (python3-h5py)'
    exit 77
}
# Open MPI 4.1: osc/rdma needs what tests/run turns off, osc/ucx crashes over MPI_PROC_NULL.
if [ $MPI_NAME = openmpi ] && ompi_info | grep -q 'osc: pt2pt'; then
    OMPI_MCA_osc=^rdma,ucx
    export OMPI_MCA_osc
fi
sources="$abs_top_srcdir/tests/mpi/onesided_io.c $abs_top_srcdir/tests/mpi/files.c $abs_top_srcdir/tests/mpi/windows.c"
flags="-std=c11 -O1 -g ${SANITIZER:+-fsanitize=$SANITIZER}"
$CC $flags -o plain $sources || exit 1
$CC $flags -o recorded $sources -Wl,--no-as-needed -L"$abs_top_builddir/.libs" -lscope \
    -Wl,-rpath,"$abs_top_builddir/.libs" || exit 1
failed=0

# check RANKS RECORD: run it and hold the profile to what the ranks expected.
check()
{
    ranks=$1 record=$2 name=$1.$2 rows=
    [ $record = stats ] || rows=rows
    rm -f ./*.dat
    SCOPE_PROFILER_FILE_PATH=$name.h5 SCOPE_PROFILER_MPI_RECORD=$record SCOPE_PROFILER_SUMMARY=0 \
        $MPIEXEC -n $ranks ./recorded $name >$name.log 2>&1 || {
        echo "onesided_io: $record on $ranks ranks: exit status $?"
        cat $name.log
        failed=1
        return
    }
    $python "$abs_top_srcdir/tests/mpi/onesided_io.py" $name.h5 $name $ranks $rows || {
        echo "onesided_io: the profile of $record on $ranks ranks is wrong"
        failed=1
    }
}

$MPIEXEC -n 2 ./plain plain || exit 1
for ranks in 2 3; do
    for record in calls stats; do
        check $ranks $record
    done
done
for rank in 0 1; do
    for record in calls stats; do
        cmp plain.$rank.result 2.$record.$rank.result || failed=1
    done
done
exit $failed
