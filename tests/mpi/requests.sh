#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Requests of every kind: exact calls, rows, bytes and peers, with rows and without; memory stays flat in a storm of
# requests with handles used again.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

$CC -std=c11 -O1 ${SANITIZER:+-fsanitize=$SANITIZER} -o requests "$abs_top_srcdir/tests/mpi/requests.c" \
    -Wl,--no-as-needed -L"$abs_top_builddir/.libs" -lscope -Wl,-rpath,"$abs_top_builddir/.libs" || exit 1
failed=0

# check RANKS RECORD WORDS...: run it and hold the profile to what the ranks expected.
check()
{
    ranks=$1 record=$2
    shift 2
    rm -f run.h5 expected.*
    SCOPE_PROFILER_FILE_PATH=run.h5 SCOPE_PROFILER_MPI_RECORD=$record SCOPE_PROFILER_SUMMARY=0 \
        $MPIEXEC -n $ranks ./requests expected "$@" || {
        echo "requests: $record $* on $ranks ranks: exit status $?"
        failed=1
    }
    rows=
    [ $record = stats ] || rows=rows
    /usr/bin/python3 "$abs_top_srcdir/tests/mpi/requests.py" run.h5 expected $ranks $rows || {
        echo "requests: the profile of $record $* on $ranks ranks is wrong"
        failed=1
    }
}

for record in calls stats; do
    for ranks in 1 2 3; do
        check $ranks $record
    done
done
many=1000000
[ -z "$SANITIZER" ] || many=10000
check 2 stats storm $many flat
check 2 calls storm 10000
exit $failed
