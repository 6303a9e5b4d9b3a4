#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# However a run ends, nothing that it recorded is lost, and the program does what it does without
# the library. Runs of ends.c over kind of end x moment x ranks x threads x mpi_record x place of
# the images, drawn with a fixed seed: a few, one for each kind of end; all with FAULTS=all
# (`make faults`), a part with FAULTS="FIRST LAST". After each one: it and all its processes are
# gone in time, exit status and standard output are those of the same run without the library, a
# good end leaves a profile and nothing else, and after a bad one `scope recover` makes a profile
# with every call that had returned, once, and says why it ended.
# shellcheck disable=SC2016,SC2086,SC2154 # AWK is awk; MPIEXEC is a command with options; the
# variables come from tests/run

source=$abs_top_srcdir/tests/faults
limit=60

build() {
    flags="-D_GNU_SOURCE -std=c11 -O1 -g ${SANITIZER:+-fsanitize=$SANITIZER} -I$abs_top_srcdir/src"
    link="-L$abs_top_builddir/.libs -lscope -Wl,-rpath,$abs_top_builddir/.libs"
    $CC $flags -o ends "$source/ends.c" -pthread $link &&
        $CC $flags -DSCOPE_DISABLE -o bare "$source/ends.c" -pthread &&
        $CC $flags -o strike "$source/strike.c" &&
        $CC $flags -o counts "$source/counts.c" $link
}
build || exit 1
here=$PWD
shm=/dev/shm/scope-faults.$$
mkdir -p refs "$shm" || exit 1
trap 'rm -rf "$shm"' EXIT

# One line per run: number, kind, moment, ranks, victim, threads, number of calls before the end,
# mpi_record, place. Kinds that end with a rank's signal: one, all. In the order of a round each
# kind meets each moment it can meet; other factors are drawn.
plan() {
    $AWK -v rounds=4 'BEGIN {
        srand(20261201)
        kinds = "KILL-one exit finalize TERM-one MPI_Abort KILL-all fault early abort mpirun-KILL"
        kinds = kinds " status later caught _exit error TERM-all"
        kinds = kinds " INT-one INT-all USR1-one USR1-all XCPU-one XCPU-all SEGV-one SEGV-all"
        n = split(kinds, kind, " ")
        m = split("stream region init recv ops events parts", moment, " ")
        for (round = 0; round < rounds; round++)
            for (j = 0; j < m; j++)
                for (i = 1; i <= n; i++)
                    draw(kind[i], moment[(i + j) % m + 1])
    }
    function pick(from, to) { return from + int(rand() * (to - from + 1)) }
    function draw(kind, moment,   ranks, victim, threads, record, place, number) {
        ranks = ++runs <= n ? pick(2, 3) : pick(1, 8)
        victim = kind ~ /-all$/ || kind == "later" && pick(0, 1) ? -1 : pick(0, ranks - 1)
        threads = pick(1, 3) > 2 ? 2 : 1
        record = pick(0, 1) ? "calls" : "stats"
        place = pick(1, 10)
        place = place > 8 ? "off" : place > 5 ? "shm" : "beside"
        number = pick(20, 400)
        if (moment == "ops")
            number = (record == "calls" ? 16383 : 4096) * pick(1, 2) + pick(-2, 2)
        if (moment == "events")
            number = 57344 * pick(1, 2) + pick(-1, 1)
        if (moment == "parts")
            number = 8191 * pick(1, 2) + pick(-2, 2)
        if (moment == "recv" && kind ~ /^(finalize|status|early|later|caught)$/)
            return
        if (moment == "recv" && kind !~ /-/)
            threads = 2 # the other one ends the process
        print ++number_of_run, kind, moment, ranks, victim, threads, number, record, place
    }'
}

# Sets: end (what ends.c is told), what (the signal that comes from outside), whom, after.
translate() {
    what=- whom=$victim after=0
    case $kind in
    later) end='killed later' ;;
    mpirun-KILL) end=strike what=KILL whom=command ;;
    *-*) end=${kind%-*} ;;
    *) end=$kind ;;
    esac
    case $kind:$moment in
    mpirun-*) [ "$moment" != stream ] || after=$number ;;
    *-*:stream) end=strike what=${kind%-*} after=$number ;;
    *-*:init | *-*:region | *-*:recv) end=strike what=${kind%-*} ;;
    esac
}

# Some launchers add what they have to say.
bare_output() {
    sed -e '$d' -e '/^=/d' -e '/^$/d' -e '/^YOUR APPLICATION/d' -e '/^This typically/d' \
        -e '/^Please see the FAQ/d' raw | sort
}

# launch PROGRAM: status (a number or hang) into `status`, sorted standard output into `out`.
launch() {
    rm -f truth
    "$here/strike" truth $what $whom $ranks $after $limit \
        $MPIEXEC -n $ranks "$here/$1" truth "$end" $moment $victim $threads $number \
        >raw 2>err </dev/null
    tail -n 1 raw >status
    bare_output >out
}

# The same run without the library; what can happen there differs sometimes.
refer() {
    reference=$here/refs/$kind-$moment-$ranks-$victim-$threads
    [ -e "$reference.1.status" ] && [ "$1" = 1 ] && return
    launch bare
    mv status "$reference.$1.status"
    mv out "$reference.$1.out"
}

ends_well() {
    case $kind in
    finalize | status | early | later | caught) return 0 ;;
    esac
    return 1
}

# MPICH's launcher kills all ranks as soon as one has ended, and has the status of any of them.
same_as_reference() {
    if [ "$MPI_NAME" = mpich ] && { [ $kind = later ] || ! ends_well; }; then
        [ "$(cat status)" != 0 ] &&
            ! grep -vqx 'rank [0-7] \(has begun\|ends\|is done\|runs .*\)' out
        return
    fi
    for try in 1 2 3 4; do
        [ $try = 1 ] || [ -e "$reference.$try.status" ] || (
            mkdir -p again && cd again && refer $try
        )
        cmp -s status "$reference.$try.status" || continue
        # What passes through a launcher that is killed is lost or not.
        [ $kind = mpirun-KILL ] || cmp -s out "$reference.$try.out" && return
    done
    return 1
}

# What the recovered profile is to say of the end, as a regular expression. Ranks that the launcher
# kills before they notice that it ends them count as killed.
expected_end() {
    where='rank [0-7] at [0-9.]+ s'
    killed=', (rank [0-7] was|[2-8] ranks were) killed'
    case $kind in
    *-all | KILL-one | _exit | error) ;;
    *) where="rank $victim at [0-9.]+ s" ;;
    esac
    # What UCX does about crashes comes before main, and is not watched.
    case $MPI_NAME:$kind in
    mpich:fault | mpich:SEGV-*) crash='killed, or its node failed|' ;;
    *) crash= ;;
    esac
    case $kind:$ranks in
    exit:*) why="rank $victim left without MPI_Finalize at [0-9.]+ s($killed)?" ;;
    abort:*) why="ended by SIGABRT on $where($killed)?" ;;
    MPI_Abort:*) why="ended by MPI_Abort\(5\) on $where($killed)?" ;;
    fault:* | SEGV-*) why="(${crash}ended by SIGSEGV on $where($killed)?)" ;;
    _exit:1 | error:1 | KILL-*:1 | mpirun-KILL:*) why='killed, or its node failed' ;;
    KILL-all:*) why="(killed, or its node failed|ended by SIGTERM on $where$killed)" ;;
    _exit:* | error:* | KILL-one:*)
        why="(killed, or its node failed|ended by SIGTERM on $where$killed)"
        [ "$MPI_NAME" = mpich ] || why="ended by SIGTERM on $where$killed"
        ;;
    *) why="ended by SIG${kind%-*} on $where($killed)?" ;;
    esac
    echo "$why; $ranks of $ranks ranks"
}

fail() {
    echo "run $run ($kind, $moment, $ranks ranks, victim $victim, $threads threads, $number," \
        "$record, $place): $*"
    sed 's/^/    /; 12q' log 2>/dev/null
    is_good=no
}

check_complete() {
    [ -e profiling_data.h5 ] || fail 'no profile'
    "$here/counts" profiling_data.h5 truth $ranks $record >log 2>&1 || fail 'the profile is wrong'
    [ "$(head -n 1 log)" = complete ] || fail 'the profile is not complete'
    left=$(find . "$shm" -name '*.salvage' -o -name '*.image' -o -name '*.where')
    [ -z "$left" ] || fail "left behind: $left"
}

check_recovered() {
    [ ! -e profiling_data.h5 ] || fail 'a profile, though the run did not end'
    scope recover profiling_data.h5.salvage >log 2>&1 || fail "scope recover: $?"
    "$here/counts" profiling_data.h5 truth $ranks $record >log 2>&1 ||
        fail 'what was recovered is wrong'
    head -n 1 log | grep -Eqx "$(expected_end)" || fail "expected: $(expected_end)"
}

check_nothing() {
    left=$(find . "$shm" -name 'profiling_data*' -o -name '*.image')
    [ -z "$left" ] || fail "left behind: $left"
}

check() {
    if [ "$(cat status)" = hang ]; then
        fail "still running after $limit s"
        return
    fi
    same_as_reference || {
        diff out "$reference.1.out" >log
        fail "exit status $(cat status) and output are not those without the library:" \
            "$(cat "$reference".*.status | tr '\n' ' ')"
    }
    if ends_well; then
        check_complete
    elif [ $place = off ]; then
        check_nothing
    else
        check_recovered
    fi
}

one() {
    mkdir run && cd run || exit 1
    translate
    unset SCOPE_PROFILER_SALVAGE_DIR SCOPE_PROFILER_SALVAGE
    export SCOPE_PROFILER_MPI_RECORD=$record
    [ $place != shm ] || export SCOPE_PROFILER_SALVAGE_DIR="$shm"
    [ $place != off ] || export SCOPE_PROFILER_SALVAGE=0
    refer 1
    launch ends
    is_good=yes
    check
    cd .. || exit 1
    echo "$kind $is_good" >>results
    [ $is_good = yes ] || mv run "failed.$run"
    rm -rf run
    find "$shm" -mindepth 1 -delete
}

case $FAULTS in
all) first=1 last=9999 ;;
'') first=1 last=10 ;;
*) first=${FAULTS% *} last=${FAULTS#* } ;;
esac
plan | sed -n "$first,${last}p" >runs
while read -r run kind moment ranks victim threads number record place; do
    case $MPI_NAME,$SANITIZER,$kind in
    mpich,*,USR1-* | *,*address*,fault | *,*address*,SEGV-*) continue ;; # is handled
    esac
    one
done <runs
$AWK '{ runs[$1]++; bad[$1] += $2 == "no"; count++; sum += $2 == "no" }
    END {
        for (kind in runs)
            printf "%-12s %4d runs %4d failures\n", kind, runs[kind], bad[kind] | "sort"
        close("sort")
        printf "%-12s %4d runs %4d failures\n", "all", count, sum
        exit sum > 0
    }' results
