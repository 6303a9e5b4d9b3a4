#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every wrapper, and every Fortran procedure that is exported, passes on what it is given, once and
# unchanged, and gives back what MPI answers: return code or ierror, errno, statuses and outputs,
# whether calls are recorded, paused or off. A recorder in the place of MPI says so; conform.awk
# makes it, and the calls, from the table of the wrappers and the names that are exported.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

source=$abs_top_srcdir/tests/mpi
library=$abs_top_builddir/.libs
flags="-D_GNU_SOURCE -std=c11 -g -I$source -I. ${SANITIZER:+-fsanitize=$SANITIZER}"
failed=0

# Fortran procedures: mpi_send_, mpi_send_f08_. The names that other compilers give them (mpi_send,
# mpi_send__, MPI_SEND) must be the same code.
nm -D --defined-only "$library/libscope.so" | awk '
    { sub(/@.*/, "", $3) }
    $3 ~ /^(mpi_[a-z0-9_]+|MPI_[A-Z0-9_]+)$/ { at[$3] = $1 }
    END {
        for (name in at) {
            entry = tolower(name)
            sub(/_*$/, "_", entry)
            if (name == entry) print name >"entries"
            else if (at[entry] != at[name]) print name " is not " entry
        }
    }' >aliases
test ! -s aliases || {
    sed 's/^/conform: /; 10q' aliases
    failed=1
}

$AWK -v entries="$(tr '\n' ' ' <entries)" -f "$abs_top_srcdir/mpi/table.awk" \
    -f "$source/conform.awk" "$abs_top_builddir/mpi/mpi.i" "$abs_top_srcdir/mpi/mpi.table" \
    >made.c || exit 1
$CC $flags -DCONFORM_FAKE -fPIC -shared -o libfake.so made.c -ldl || exit 1
# The order is that of the symbols: program, library, recorder, MPI.
$CC $flags -o conform made.c "$source/conform.c" -Wl,--no-as-needed -L"$library" -lscope \
    ./libfake.so -Wl,-rpath,"$library" -Wl,-rpath,"$PWD" || exit 1
sed -n 's/^ *{ "\(MPI_[A-Za-z0-9_]*\)", .*/\1/p' "$abs_top_builddir/mpi/wrap_c.c" |
    sort - entries >wrapped

# $1: name; $2: single, threads or off; further: settings
run() {
    name=$1
    level=$2
    shift 2
    env "$@" $MPIEXEC -n 1 ./conform "$level" list >log 2>&1 || {
        echo "conform with $name: exit status $?"
        grep -v '^  ' log
        failed=1
        return
    }
    sed -n "s/.* failures\$/&, $name/p" log
    sort -u list >called
    cmp called wrapped || {
        echo "conform with $name: called $(wc -l <called) of $(wc -l <wrapped) exported routines"
        failed=1
    }
}

run 'MPI calls recorded' threads
run 'statistics only' single SCOPE_PROFILER_MPI_RECORD=stats
run 'recording off' off SCOPE_PROFILER_MPI_RECORD=off
run 'the library off' off SCOPE_PROFILER_ENABLED=0
run 'MPI unknown' single SCOPE_PROFILER_MPI=0
exit $failed
