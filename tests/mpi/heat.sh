#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The example prints the same bytes in C and in Fortran, with the library and compiled without it,
# keeps its exit status, and leaves a profile.
# shellcheck disable=SC2086,SC2154 # MPIEXEC has options; tests/run sets the variables

heat=$abs_top_builddir/tests/heat/heat
arguments='101 60'
failed=0

fail()
{
    echo "heat: $*"
    failed=1
}

# run NAME RANKS PROGRAM: its standard output in NAME.out, its profile in NAME.h5
run()
{
    SCOPE_PROFILER_FILE_PATH=$1.h5 $MPIEXEC -n "$2" "$3" $arguments >"$1.out" 2>"$1.err" ||
        { fail "$1 on $2 ranks: exit status $?" && cat "$1.out" "$1.err"; }
}

$CC -std=c11 -O2 -DSCOPE_DISABLE -I"$abs_top_srcdir/src" -o plain \
    "$abs_top_srcdir/tests/heat/heat.c" -lm || exit 1
if nm plain | grep -q scope_; then fail 'SCOPE_DISABLE leaves names of the library'; fi

for ranks in 1 2 3 4 7; do
    run plain $ranks ./plain
    test ! -e plain.h5 || fail "a profile from a program without the library"
    for language in '' f; do
        test -x "$heat$language" || continue
        rm -f heat.h5
        run heat $ranks "$heat$language"
        cmp plain.out heat.out || fail "heat$language on $ranks ranks prints something else"
        test -s heat.h5 || fail "heat$language on $ranks ranks leaves no profile"
    done
done

for language in '' f; do
    test -x "$heat$language" || continue
    $MPIEXEC -n 2 "$heat$language" none >/dev/null 2>&1
    status=$?
    test $status -eq 2 || fail "heat$language with a wrong argument: exit status $status, not 2"
done
exit $failed
