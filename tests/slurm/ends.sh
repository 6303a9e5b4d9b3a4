#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Jobs that are ended: what they recorded is recovered, with how they ended.
# shellcheck disable=SC2154 # variables come from tests/run
. "$abs_top_srcdir/tests/slurm/lib.sh"
begin

# start NAME: a job of four ranks on two nodes that computes until it is ended; it is recording.
start() {
    submit --job-name="$1" --nodes=2 --ntasks-per-node=2 \
        --wrap "srun scope run -o $1.h5 '$heat' 256 10000000"
    await "$job" RUNNING 30 || finish
    await_images "$1.h5.salvage" 4 30
}

# await_images FOLDER COUNT SECONDS: so many processes have recorded for a while.
await_images() {
    tries=$(($3 * 5))
    while [ "$(find "$1" -name '*.image' -size +4000k 2>/dev/null | wc -l)" -ne "$2" ]; do
        [ $tries -gt 0 ] || {
            not "$1 has no $2 images after $3 s: $(ls -l "$1" 2>&1)"
            finish
        }
        tries=$((tries - 1))
        sleep 0.2
    done
}

# recovered NAME PATTERN: the profile can be made, says how the job ended and holds all ranks.
recovered() {
    [ ! -e "$1.h5" ] || not "$1: a job that was ended has a profile"
    scope recover "$1.h5.salvage" >out 2>err || not "$1: scope recover gives $?: $(cat err)"
    holds "$1.h5" mpi_size=4
    said=$(metadata "$1.h5" incomplete)
    printf '%s\n' "$said" | grep -Eq "^$2; 4 of 4 ranks\$" || not "$1: '$said', not '$2'"
    steps=$(scope inspect --csv --flat "$1.h5" | grep -c ',step,')
    [ "$steps" -ge 1 ] || not "$1: no steps in $(scope inspect --csv --flat "$1.h5")"
}

start cancelled
timeout 10 scancel "$job"
await "$job" CANCELLED 60 || finish
recovered cancelled 'ended by SIG(TERM|CONT) on rank [0-3] at [0-9.]+ s(, (rank [0-3] was|[2-4] ranks were) killed)?'

start killed
timeout 10 scancel --signal=KILL "$job"
await "$job" CANCELLED 60 || finish
recovered killed '(killed, or its node failed|ended by SIGTERM on rank [0-3] at .*)'

start signalled
timeout 10 scancel --signal=USR2 "$job"
await "$job" FAILED 60 || finish
recovered signalled 'ended by SIG(USR2|TERM) on rank [0-3] at [0-9.]+ s.*'
finish
