#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every collective and communicator of MPI 3.1, recorded call by call as worked out by hand, while the
# program gets the same results as without the library.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

python=/usr/bin/python3
$python -c 'import h5py' 2>/dev/null || {
    echo 'collectives: no h5py for python3 (python3-h5py)'
    exit 77
}
sources="$abs_top_srcdir/tests/mpi/collectives.c $abs_top_srcdir/tests/mpi/communicators.c"
flags="-std=c11 -O1 -g ${SANITIZER:+-fsanitize=$SANITIZER}"
$CC $flags -o plain $sources || exit 1
$CC $flags -o recorded $sources -Wl,--no-as-needed -L"$abs_top_builddir/.libs" -lscope \
    -Wl,-rpath,"$abs_top_builddir/.libs" || exit 1
failed=0

for ranks in ${COLLECTIVES_RANKS:-1 2 3 4 7}; do
    $MPIEXEC -n $ranks ./plain plain.$ranks || exit 1
    SCOPE_PROFILER_FILE_PATH=$ranks.h5 $MPIEXEC -n $ranks ./recorded recorded.$ranks >$ranks.log 2>&1 || {
        echo "collectives on $ranks ranks: exit status $?"
        cat $ranks.log
        failed=1
        continue
    }
    rank=0
    while [ $rank -lt $ranks ]; do
        cmp plain.$ranks.$rank.result recorded.$ranks.$rank.result || failed=1
        rank=$((rank + 1))
    done
    echo "$ranks ranks:"
    $python "$abs_top_srcdir/tests/mpi/collectives.py" $ranks.h5 recorded.$ranks $ranks || failed=1
done
exit $failed
