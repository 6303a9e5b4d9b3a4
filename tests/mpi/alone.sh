#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Processes that are a run of their own: without MPI, with SCOPE_PROFILER_MPI=0 or 1, under a launcher or not (MP01, MP02).
# And a place that cannot be written: said in the beginning, the program's status kept.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

fail()
{
    echo "alone: $*"
    cat err
    exit 1
}

says()
{
    grep -F -q "$1" err || fail "no line says: $1"
}

cat >lone.c <<'EOF'
#include <scope.h>
int main(void)
{
    int rc = scope_setup(0);
    SCOPE_BEGIN("a");
    SCOPE_END("a");
    return rc | scope_finalize();
}
EOF
$CC -std=c11 ${SANITIZER:+-fsanitize=$SANITIZER} -I"$abs_top_srcdir/src" -o lone lone.c \
    -L"$abs_top_builddir/.libs" -lscope -Wl,-rpath,"$abs_top_builddir/.libs" || exit 1
heat=$abs_top_builddir/tests/heat/heat

./lone 2>err || fail "without MPI: exit status $?"
test -s profiling_data.h5 || fail 'without MPI: no profile'
test "$(grep -c '^scope: lone' err)" -eq 1 || fail 'without MPI: no summary'
rm profiling_data.h5

SCOPE_PROFILER_MPI=1 ./lone 2>err || fail "SCOPE_PROFILER_MPI=1 without MPI: exit status $?"
says 'SCOPE_PROFILER_MPI=1, but MPI was not started: this is a run of one rank'
test -s profiling_data.h5 || fail 'SCOPE_PROFILER_MPI=1 without MPI: no profile'
rm profiling_data.h5

$MPIEXEC -n 3 ./lone 2>err || fail "three lone processes: exit status $?"
says 'the launcher started 3 processes, but each is a run of its own'
for rank in 0 1 2; do
    test -s profiling_data_rank0000$rank.h5 || fail "three lone processes: no file of $rank"
done
test "$(grep -c '^scope: lone' err)" -eq 1 || fail 'three lone processes: not one summary'
rm ./*.h5

SCOPE_PROFILER_MPI=0 SCOPE_PROFILER_FILE_PATH=sub.dir/run.x.h5 $MPIEXEC -n 2 "$heat" 32 4 >/dev/null 2>err ||
    fail "a directory that is not there: exit status $?"
says '/sub.dir/: cannot be written (No such file or directory)'
mkdir sub.dir
SCOPE_PROFILER_MPI=0 SCOPE_PROFILER_FILE_PATH=sub.dir/run.x.h5 $MPIEXEC -n 2 "$heat" 32 4 >/dev/null 2>err ||
    fail "SCOPE_PROFILER_MPI=0: exit status $?"
for rank in 0 1; do
    test "$(scope inspect --csv --flat sub.dir/run.x_rank0000$rank.h5 | grep -c MPI_)" -eq 0 ||
        fail 'SCOPE_PROFILER_MPI=0 recorded MPI'
done
test "$(find . -name '*.h5' | wc -l)" -eq 2 || fail 'SCOPE_PROFILER_MPI=0: not one file a process'

SCOPE_PROFILER_ENABLED=0 $MPIEXEC -n 2 "$heat" 32 4 >/dev/null 2>err || fail "disabled: exit status $?"
test "$(find . -name 'profiling_data*' | wc -l)" -eq 0 && test ! -s err || fail 'disabled, but not silent'

mkdir taken.h5
SCOPE_PROFILER_FILE_PATH=taken.h5 $MPIEXEC -n 2 "$heat" 32 4 >out 2>err || fail "a name that is taken: exit status $?"
grep -q 'heat: right' out || fail 'a name that is taken changes the result'
says 'taken.h5: is there and no regular file'
test -d taken.h5 || fail 'a directory was replaced'
ln -s there.h5 link.h5
SCOPE_PROFILER_FILE_PATH=link.h5 $MPIEXEC -n 2 "$heat" 32 4 >out 2>err || fail "a link: exit status $?"
test -L link.h5 && test -s there.h5 || fail 'a link was not followed'
test "$(find . -name '.scope*' | wc -l)" -eq 0 || fail 'a failed run leaves its temporary file'
