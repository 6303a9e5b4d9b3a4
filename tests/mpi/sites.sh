#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Every MPI call is counted at the line it was written in: in a program (position-independent or at a
# fixed place), in a shared object that it links, in two that it opens and closes one after the
# other; at different addresses on every rank. What was rebuilt or has no debug information keeps its
# offsets.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

source=$abs_top_srcdir/tests/mpi/sites.c
ranks=3
failed=0
not() {
    echo "sites: $*"
    failed=1
}

# build FLAGS: the program ./sites and its parts, from this folder, so that lines begin "sites.c:"
build() {
    cp "$source" sites.c
    for part in l a b; do
        $CC -std=c11 -g -O1 -fPIC -shared -DPART=part_$part -o part_$part.so sites.c || exit 1
    done
    $CC -std=c11 -O1 $1 ${SANITIZER:+-fsanitize=$SANITIZER} -D_GNU_SOURCE -o sites sites.c \
        ./part_l.so -L"$abs_top_builddir/.libs" -lscope -ldl \
        -Wl,--no-as-needed,-rpath,"$abs_top_builddir/.libs" || exit 1
}

# record PROFILE SETTING=VALUE...
record() {
    profile=$1
    shift
    env SCOPE_PROFILER_SUMMARY=0 SCOPE_PROFILER_FILE_PATH="$profile" "$@" \
        $MPIEXEC -n $ranks ./sites >run.log 2>&1 || {
        not "$profile: exit status $?"
        cat run.log
    }
}

# rows PROFILE: "routine site calls" of every row, sorted
rows() {
    scope inspect --mpi --source --full --csv "$1" >rows.csv 2>notes || not "$1: $(cat notes)"
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        { print $at["routine"], $at["site"], $at["calls"] }' rows.csv | sort
}

# expected: the same from the comments, for $ranks ranks
expected() {
    {
        printf 'part_l 3\npart_a 11\npart_b 4\n'
        cat "$source"
    } | awk -v ranks=$ranks '
        /^part_/ && NF == 2 { part[$1] = $2; next }
        { line++ }
        match($0, /\/\* is [^*]*/) {
            split(substr($0, RSTART + 6, RLENGTH - 6), word, " ")
            if (word[2] == "PART")
                for (p in part) print word[1], p, "sites.c:" line, ranks * part[p]
            else
                print word[1], word[2], "sites.c:" line, ranks * word[3]
        }' | sort
}

# same PROFILE: its rows are the expected ones
same() {
    rows "$1" >have
    expected | diff - have >difference || {
        not "$1 (< expected, > there):"
        cat difference
    }
    test ! -s notes || not "$1: says '$(cat notes)'"
}

build -g
record pie.h5
if scope info | grep -q '^source *no'; then
    rows pie.h5 >have
    grep -q '^MPI_Barrier part_b.so+0x[0-9a-f]* 12$' have || not "no offset: $(cat have)"
    grep -q 'libdw' notes || not "without libdw: says '$(cat notes)'"
    exit $failed
fi
same pie.h5
record totals.h5 SCOPE_PROFILER_MPI_RECORD=stats
same totals.h5
scope inspect --mpi --source pie.h5 | grep -q '^ *MPI_Bcast .*main sites\.c:' || not 'no site in the table'

# An executable at a fixed place, without debug information: names and offsets.
build '-fno-pie -no-pie -g'
record fixed.h5
same fixed.h5
build '-fno-pie -no-pie -Wl,--strip-debug'
record plain.h5
rows plain.h5 >have
grep -q '^MPI_Bcast main sites+0x[0-9a-f]* 15$' have || not "plain.h5: $(cat have)"
grep -q 'part_l sites.c:.* 9$' have || not "plain.h5: $(cat have)"
test "$(grep -c 'sites: .*debug information' notes)" -eq 1 || not "plain.h5: says '$(cat notes)'"

# Rebuilt since, or gone.
rows fixed.h5 >have
grep -q '^MPI_Bcast sites+0x[0-9a-f]* 15$' have || not "rebuilt: $(cat have)"
test "$(grep -c 'sites: was rebuilt since' notes)" -eq 1 || not "rebuilt: says '$(cat notes)'"
rm -f sites part_b.so
rows plain.h5 >have
grep -q '^MPI_Barrier part_b.so+0x[0-9a-f]* 12$' have || not "gone: $(cat have)"
exit $failed
