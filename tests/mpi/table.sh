#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wrappers are the same whatever awk makes them, every one is exported, and no routine that this
# mpi.h declares is without, but for those that mpi.table says it leaves out.
# shellcheck disable=SC2154,SC2086 # the variables come from tests/run; $awk is a command with options

source=$abs_top_srcdir/mpi
made=$abs_top_builddir/mpi
tried=0
failed=0

for awk in gawk mawk 'busybox awk'; do
    $awk 'BEGIN { exit 0 }' </dev/null 2>/dev/null || continue
    for back_end in "$source"/wrap_*.awk; do
        name=$(basename "$back_end" .awk).c
        test -f "$made/$name" || continue # Fortran, where there is no compiler for it
        $awk -f "$source/table.awk" -f "$back_end" "$made/mpi.i" "$source/mpi.table" >"$name"
        cmp "$name" "$made/$name" || {
            echo "table: another $name from $awk"
            failed=1
        }
    done
    tried=$((tried + 1))
done
test $tried -gt 0 || {
    echo 'table: no awk ran'
    failed=1
}

sed -n 's/^ *{ "\(MPI_[A-Za-z0-9_]*\)", .*/\1/p' "$made/wrap_c.c" | sort >wrapped
nm -D --defined-only "$SCOPE_LIBRARY" | sed -n 's/.* T //p' | sort >exported
tr -c 'A-Za-z0-9_' '\n' <"$made/mpi.i" | sed -n 's/^P\(MPI_\)/\1/p' | sort -u |
    grep -Ev '^MPI_T_|^MPIX_|_(c2f|f2c|c2f08|f082c|f2f08|f082f)$|_FN(_NULL)?$' |
    grep -Evx 'MPI_(Wtime|Wtick|Aint_add|Aint_diff)' >declared

test "$(wc -l <declared)" -gt 300 || {
    echo "table: mpi.h declares only $(wc -l <declared) routines"
    failed=1
}
missing=$(comm -23 declared wrapped)
test -z "$missing" || {
    echo "table: declared but not wrapped:" $missing
    failed=1
}
missing=$(comm -23 wrapped exported)
test -z "$missing" || {
    echo "table: wrapped but not exported:" $missing
    failed=1
}
twice=$(uniq -d wrapped)
test -z "$twice" || {
    echo "table: wrapped twice:" $twice
    failed=1
}
exit $failed
