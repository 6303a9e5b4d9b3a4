# shellcheck shell=sh
# SPDX-License-Identifier: BSD-3-Clause
# What the Slurm tests share. `begin` gives a test a cluster of its own until it ends, however it
# ends; every wait has a limit. A test prints with `not` what is not as it should be and ends with
# `finish`.
# shellcheck disable=SC2034,SC2154 # variables come from tests/run, or are for the tests

name=$(basename "$0" .sh)
failed=0
child=
heat=$abs_top_builddir/tests/heat/heat

not() {
    echo "$name: $*"
    failed=1
}

# bounded SECONDS COMMAND...: its status, 124 when it had to be stopped. The shell waits for it in
# a way that a signal to this test ends.
bounded() {
    timeout -k 5 "$@" &
    child=$!
    wait $child
    status=$?
    child=
    return $status
}

end() {
    trap '' TERM INT HUP
    [ -z "$child" ] || { kill "$child" && wait "$child"; } 2>/dev/null
    [ $failed -eq 0 ] || tail -n 20 "$cluster"/log/slurm* 2>/dev/null
    sh "$abs_top_srcdir/tests/slurm/cluster.sh" down "$cluster"
}

finish() {
    exit $failed
}

# A job this may run in is another cluster's.
forget_other_jobs() {
    for var in $(env | sed -n 's/^\(\(SLURM\|SBATCH\|SQUEUE\|PMI\|PMIX\)_[A-Z0-9_]*\)=.*/\1/p'); do
        unset "$var"
    done
}

# Slurm speaks to Open MPI with PMIx and to MPICH with PMI-2; two nodes of one machine meet on lo.
# Ranks of MPICH poll: where there are more of them than cores, they write sooner in turns.
begin() {
    cluster=$(mktemp -d "${TMPDIR:-/tmp}/scope-slurm-XXXXXX") || exit 99
    forget_other_jobs
    trap end EXIT
    trap 'exit 143' TERM INT HUP
    export CLUSTER_LIFE=600 SLURM_CONF="$cluster/slurm.conf"
    bounded 30 sh "$abs_top_srcdir/tests/slurm/cluster.sh" up "$cluster" || {
        status=$?
        [ $status -eq 77 ] || failed=1
        exit $status
    }
    export OMPI_MCA_btl_tcp_if_include=lo OMPI_MCA_oob_tcp_if_include=lo UCX_NET_DEVICES=lo
    case $MPI_NAME in
    openmpi) export SLURM_MPI_TYPE=pmix ;;
    *) export SLURM_MPI_TYPE=pmi2 SCOPE_PROFILER_OUTPUT_MODE=direct ;;
    esac
}

# submit ARGUMENT...: as sbatch has them; the job is then in $job.
submit() {
    job=$(timeout 10 sbatch --parsable "$@") || {
        not "sbatch $* gives $?"
        finish
    }
}

# state JOB: of all its tasks, each different one once, as PENDING RUNNING.
state() {
    timeout 10 squeue -h -r -t all -o %T -j "$1" | sort -u | tr '\n' ' ' | sed 's/ $//'
}

is_final() {
    case " $1 " in
    '  ' | *' PENDING '* | *' RUNNING '* | *' SUSPENDED '* | *' CONFIGURING '*) return 1 ;;
    *' COMPLETING '* | *' REQUEUED '* | *' SIGNALING '* | *' STAGE_OUT '*) return 1 ;;
    esac
}

# await JOB STATE SECONDS: until it is there; not when it never will be, or is late. What the job
# printed (slurm-JOB*.out) is then shown.
await() {
    tries=$(($3 * 5))
    while found=$(state "$1") && [ "$found" != "$2" ]; do
        if [ $tries -eq 0 ] || is_final "$found"; then
            not "job $1 is $found, not $2"
            timeout 10 scontrol show job "$1"
            cat "slurm-$1"*.out 2>/dev/null
            return 1
        fi
        tries=$((tries - 1))
        sleep 0.2
    done
}

# await_file FILE SECONDS
await_file() {
    tries=$(($2 * 5))
    while [ ! -s "$1" ]; do
        [ $tries -gt 0 ] || {
            not "no $1 after $2 s"
            return 1
        }
        tries=$((tries - 1))
        sleep 0.2
    done
}

# metadata FILE NAME: a text or number of the profile.
metadata() {
    scope inspect --export-metadata - "$1" | sed -n "s/,$//; s/^ *\"$2\": //p" |
        sed 's/^"\(.*\)"$/\1/'
}

# holds FILE NAME=VALUE...: the profile's metadata are these.
holds() {
    file=$1
    shift
    [ -s "$file" ] || not "no $file"
    for pair in "$@"; do
        found=$(metadata "$file" "${pair%%=*}")
        [ "$found" = "${pair#*=}" ] || not "$file: ${pair%%=*} is '$found', not '${pair#*=}'"
    done
}

# only FILE...: there are these profiles here and no others, nor anything half done.
# Each is named, none by a pattern.
only() {
    found=$(find . -name '*.h5' -o -name '.scope*' | sed 's,^\./,,' | sort | tr '\n' ' ')
    wanted=$(printf '%s\n' "$@" | sort | tr '\n' ' ')
    [ "$found" = "$wanted" ] || not "profiles are '$found', not '$wanted'"
}
