#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A program of another MPI than the library was built for: it runs as it would alone, the library says
# one line and records nothing.
# shellcheck disable=SC2154 # the variables come from tests/run

other=mpich
test "$MPI_NAME" = mpich && other=openmpi
command -v mpicc.$other >/dev/null || {
    echo "other: no second MPI (mpicc.$other)"
    exit 77
}
test -z "$SANITIZER" || {
    echo 'other: a preloaded library cannot bring a sanitizer along'
    exit 77
}
launch="mpirun.$other -n 2"
test $other = openmpi && launch="$launch --oversubscribe --allow-run-as-root"
mpicc.$other -std=c11 -o program "$abs_top_srcdir/tests/mpi/other.c" || exit 1
failed=0

$launch ./program >alone.out 2>alone.err || exit 1
$launch env LD_PRELOAD="$SCOPE_LIBRARY" ./program >with.out 2>with.err || {
    echo "other: exit status $? with the library"
    failed=1
}
sort alone.out >alone && sort with.out | cmp alone - || failed=1
test "$(grep -c 'scope: .*was built for' with.err)" -eq 1 || {
    echo 'other: not one line about the wrong MPI:'
    cat with.err
    failed=1
}
if ls ./*.h5 >/dev/null 2>&1; then
    echo 'other: a profile of a program that could not be recorded'
    failed=1
fi
exit $failed
