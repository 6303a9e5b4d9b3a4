#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scope recover: of a run that only lacked room for its profile it makes the very profile; of runs
# that were killed, of images that are gone, cut or damaged it makes what is left, or says in one
# line why nothing.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

failed=0
not() {
    echo "recover: $*"
    failed=1
}

$CC -std=c11 -O1 -D_GNU_SOURCE ${SANITIZER:+-fsanitize=$SANITIZER} -I"$abs_top_srcdir/src" -o program \
    "$abs_top_srcdir/tests/cli/recover.c" -L"$abs_top_builddir/.libs" -lscope \
    -Wl,-rpath,"$abs_top_builddir/.libs" || exit 99

# run END FILE SETTING=VALUE...: on three ranks
run() {
    end=$1 file=$2
    shift 2
    env SCOPE_PROFILER_SUMMARY=0 SCOPE_PROFILER_FILE_PATH="$file" "$@" \
        $MPIEXEC -n 3 ./program "$end" >said 2>&1
}

# refuses LINE ARGUMENT...: exit status 2, that line and nothing else
refuses() {
    line=$1
    shift
    scope "$@" >out 2>err
    [ $? -eq 2 ] || not "$*: exit status is not 2"
    [ ! -s out ] || not "$*: prints '$(cat out)'"
    [ "$(cat err)" = "scope: $line" ] || not "$*: says '$(cat err)'"
}

# Where the profile was to be is a folder: everything else is as in a good run.
for settings in SCOPE_PROFILER_MPI_RECORD=calls SCOPE_PROFILER_MPI_RECORD=stats; do
    rm -rf good.h5 unwritten.h5 unwritten.h5.salvage rescued.h5
    mkdir unwritten.h5
    run good good.h5 SCOPE_TEST_CLOCK=10 $settings || { cat said; exit 1; }
    [ ! -e good.h5.salvage ] || not 'a good end leaves images'
    run good unwritten.h5 SCOPE_TEST_CLOCK=10 $settings || { cat said; exit 1; }
    scope recover -o rescued.h5 unwritten.h5.salvage >out 2>err || not "fails: $(cat err)"
    [ ! -s err ] || not "says '$(cat err)'"
    for object in /events /rank_region_index /region_table /scope/call_paths \
        /scope/call_path_stats /scope/mpi /scope/mpi_totals /scope/peers /scope/communicators \
        /scope/communicator_members /scope/communicator_names /scope/objects \
        /scope/object_names /scope/sites /scope/module_names /scope/module_build_ids; do
        h5diff good.h5 rescued.h5 $object >diff ||
            not "$settings: $object is another one: $(head -5 diff)"
    done
    scope inspect --by site --full good.h5 | sed 1,/^MPI/d >wanted
    scope inspect --by site --full rescued.h5 | sed 1,/^MPI/d >got
    cmp -s wanted got || not "$settings: $(diff wanted got | head -5)"
    for file in good rescued; do
        scope inspect --export-metadata - $file.h5 |
            grep -Ev '"(incomplete|end_time_ns|output_mode|topology_missing|likwid_missing|mpi_[ltv][a-z_]*)"' >$file.facts
    done
    cmp -s good.facts rescued.facts || not "$settings: $(diff good.facts rescued.facts | head -5)"
done

# Killed in the middle of a region.
run kill killed.h5 && not 'the program was not killed'
[ "$(ls killed.h5.salvage | grep -c image)" -eq 3 ] || not "images: $(ls killed.h5.salvage)"
refuses 'killed.h5: No such file or directory (scope recover killed.h5.salvage makes it from what the run left)' \
    inspect killed.h5
scope recover killed.h5.salvage >out 2>err || not "fails: $(cat err)"
[ ! -s err ] || not "says '$(cat err)'"
[ "$(sed -n 's/^  incomplete  .*; \([0-9]* of [0-9]* ranks\)$/\1/p' out)" = '3 of 3 ranks' ] ||
    not "the summary: $(cat out)"
scope inspect killed.h5 >out || not 'is no profile'
head -n 1 out | grep -Eqx 'incomplete: .*; 3 of 3 ranks' || not "first line: $(head -n 1 out)"
scope inspect --flat --csv --columns region,calls killed.h5 | tr -d '\r' >table
for row in step,150 steps,3 others,2 'only on rank 1,1'; do
    grep -Eqx "killed.h5,[0-9]+,$row" table || not "no $row: $(cat table)"
done
scope inspect --json killed.h5 >json
grep -q '"events": 156, "mpi_events": [0-9]*, .*"unfinished": 6,' json ||
    not "coverage: $(grep coverage json)"
refuses "$PWD/killed.h5: is there already (-o FILE writes another one, or over it)" \
    recover killed.h5.salvage
scope recover -o killed.h5 killed.h5 >out || not 'does not write over a file that is named'
[ "$(ls -A | grep -c '^\.killed\|^killed.h5$')" -eq 1 ] || not "leaves $(ls -A)"

# A rank whose image is gone, is cut off, is none.
one=$(ls killed.h5.salvage/*.image | sed -n 2p)
mv "$one" image
scope recover -o fewer.h5 killed.h5.salvage >out 2>err || not "fails: $(cat err)"
scope inspect fewer.h5 | head -n 1 | grep -q '; 2 of 3 ranks$' || not 'nobody misses a rank'
scope inspect --json fewer.h5 | grep -q '"recorded_ranks": 2, "events": 104,' ||
    not "coverage: $(scope inspect --json fewer.h5 | grep coverage)"
for rank in 0 1 2; do
    scope inspect --json --ranks $rank fewer.h5 |
        sed -n 's/.*"recorded_ranks": \([0-9]*\), "events": \([0-9]*\), .*/\1 \2/p'
done | sort >each
printf '0 0\n1 52\n1 52\n' | cmp -s - each || not "ranks: $(cat each)"
for length in 0 100 5000 1048576 1048640 1500000 3000000; do
    head -c $length image >"$one"
    scope recover -o cut.h5 killed.h5.salvage >out 2>err || not "cut at $length: $(cat err)"
    scope inspect cut.h5 >out || not "cut at $length: no profile"
done
echo nonsense >killed.h5.salvage/other.image
scope recover -o cut.h5 killed.h5.salvage >out 2>err || not "an image that is none: $(cat err)"
rm killed.h5.salvage/other.image

# Bytes that were changed.
awk 'BEGIN { srand(7); for (i = 0; i < 40; i++) print int(rand() * (i % 3 ? 1400000 : 6000)) }' >places
while read -r place; do
    cp image "$one"
    printf '\377\123\001\377\377\377\177\252' |
        dd of="$one" bs=1 seek="$place" conv=notrunc 2>/dev/null
    scope recover -o damaged.h5 killed.h5.salvage >out 2>err
    status=$?
    case $status in
    0) scope inspect damaged.h5 >out 2>err || not "bytes at $place: $(cat err)" ;;
    2) [ "$(grep -c '^scope: ' err)" -eq "$(wc -l <err)" ] || not "bytes at $place: $(cat err)" ;;
    *) not "bytes at $place: exit status $status" ;;
    esac
done <places
cp image "$one"

# The newest of two runs.
run kill killed.h5 SCOPE_PROFILER_LABEL=newer
scope recover -o newest.h5 killed.h5.salvage >out 2>err || not "fails: $(cat err)"
[ "$(cat err)" = 'scope: killed.h5.salvage: 3 more there, of earlier runs' ] ||
    not "two runs: '$(cat err)'"
head -n 1 out | grep -q '\[newer\]' || not "the older one: $(head -n 1 out)"

# A run that goes on.
mkfifo held go
run hold alive.h5 &
: <held
scope recover alive.h5.salvage >out 2>err
[ $? -eq 2 ] || not 'reads a run that goes on'
grep -qx 'scope: alive.h5.salvage: the run still goes on (3 of its processes are there)' err ||
    not "a run that goes on: '$(cat err)'"
: >go
wait
scope inspect alive.h5 >out || not 'the run that went on has no profile'

# Nothing there, or nowhere to put it.
mkdir empty
refuses 'empty: holds no recording' recover empty
scope recover nothing >out 2>err
[ $? -eq 2 ] || not 'finds something in nothing'
[ "$(wc -l <err)" -eq 1 ] || not "nothing: $(cat err)"
refuses '/nowhere/profile.h5: No such file or directory' \
    recover -o /nowhere/profile.h5 killed.h5.salvage
refuses 'recover: no folder given (scope recover PROFILE.salvage)' recover
refuses "recover: no such option: '-x' (scope recover --help)" recover -x
refuses 'recover: -o takes one folder' recover -o a.h5 b c
scope recover --help >out && grep -q '^usage: scope recover' out || not 'has no help'

exit $failed
