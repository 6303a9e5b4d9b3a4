#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A Slurm cluster of two nodes, n1 and n2, on this one machine, for as long as a test takes:
#   cluster.sh up DIR      start it (DIR is made or empty); then export SLURM_CONF=DIR/slurm.conf
#   cluster.sh down DIR    cancel its jobs, end it, remove DIR; nothing happens where there is none
# Exit status of up: 0 it is there, 77 this machine cannot have one (the last line says why), 1 it
# did not start (its logs are shown, DIR is gone).
#
# Whoever calls it owns it; no root is needed where the kernel lets users make namespaces. All its
# processes live in a process namespace of their own: when its first process goes, however, all go.
# It ends by itself after CLUSTER_LIFE seconds (an hour). A Slurm that already runs here is not
# touched: controller, nodes and munge have ports, sockets, keys and folders of their own.
set -u
PATH=$PATH:/usr/sbin:/sbin # the daemons, where only root looks for them

verb=${1:-}
folder=${2:-}
stop=
nodes='n1 n2'
cpus=4 # per node, whatever the machine has

say() {
    echo "cluster: $*" >&2
}

# until_true SECONDS COMMAND...: asks ten times a second; false when it never was.
until_true() {
    tries=$(($1 * 10))
    shift
    while ! "$@"; do
        [ $tries -gt 0 ] || return 1
        tries=$((tries - 1))
        sleep 0.1
    done
}

# ---- inside: the first process of the namespace keeps the daemons ----

# What runs in a user's namespace as root is that user again behind this.
as_owner=
owner_of() {
    [ "$1" -eq 0 ] || as_owner="unshare --user --map-user=$1 --map-group=$2"
}

# Two nodes on one machine need two names, and two /dev/shm: MPI libraries name what they share
# there after host, user and job alone. On the nodes both names lead somewhere.
start_node() {
    # shellcheck disable=SC2016,SC2086 # $ is meant for the inner shell; as_owner is a list
    unshare --uts --mount sh -c 'hostname "$1" && mount -t tmpfs -o mode=1777 shm /dev/shm &&
        mount --bind "$2" /etc/hosts && shift 2 && exec "$@"' node "$1" "$folder/hosts" \
        $as_owner slurmd -D -f "$folder/slurm.conf" -N "$1" &
}

# cluster.sh keep DIR UID GID
keep() {
    trap 'exit 0' TERM
    mount -t proc proc /proc || exit 1
    owner_of "$1" "$2"
    # shellcheck disable=SC2086 # a list
    $as_owner munged --foreground --force --key-file="$folder/key" --num-threads=2 \
        --socket="$folder/munge" --pid-file="$folder/munge.pid" --seed-file="$folder/seed" \
        --log-file="$folder/log/munged" &
    until_true 10 test -S "$folder/munge" || exit 1
    # shellcheck disable=SC2086
    $as_owner slurmctld -D -f "$folder/slurm.conf" &
    for node in $nodes; do
        start_node "$node"
    done
    wait
}

# ---- outside ----

# Three ports in a row that nobody listens on; those the kernel hands out by itself begin higher.
choose_ports() {
    port=$((20000 + $$ * 10 % 10000))
    for _ in $(seq 1000); do
        used=
        for p in $port $((port + 1)) $((port + 2)); do
            ! grep -q "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$p") .* 0A " /proc/net/tcp* || used=$p
        done
        [ -n "$used" ] || return 0
        port=$((20000 + (port + 10 - 20000) % 10000))
    done
    return 1
}

# cred_expire: how long a requeued job waits before it starts again.
write_configuration() {
    host=$(uname -n)
    cat <<END
ClusterName=scope
SlurmctldHost=${host%%.*}(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$(id -u)
SlurmdUser=$(id -u)
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$folder/munge,cred_expire=10
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool.%n
TmpFS=$folder/tmp.%n
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.%n.pid
SlurmctldLogFile=$folder/log/slurmctld
SlurmdLogFile=$folder/log/slurmd.%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MailProg=/bin/true
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,bf_interval=2
SlurmdParameters=config_overrides
ReturnToService=2
KillWait=5
MinJobAge=300
PartitionName=main Nodes=ALL Default=YES MaxTime=60 State=UP
END
    p=$port
    for node in $nodes; do
        p=$((p + 1))
        echo "NodeName=$node NodeHostname=$node NodeAddr=127.0.0.1 Port=$p CPUs=$cpus State=UNKNOWN"
    done
}

# True while its outermost process runs; another process of that number is none of ours.
runs() {
    [ -s "$folder/pid" ] && pid=$(cat "$folder/pid") &&
        tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -qF "keep $folder "
}

is_up() {
    timeout 5 sinfo -h -N -t idle -o %N 2>/dev/null | sort -u | tr '\n' ' ' | grep -qx "$nodes "
}

is_decided() {
    [ -n "$stop" ] || ! runs || is_up
}

what_is_missing() {
    for program in munged slurmctld slurmd sinfo srun unshare setsid; do
        command -v $program >/dev/null || {
            say "no $program here (packages slurm-wlm and munge)"
            return
        }
    done
    # shellcheck disable=SC2086 # a list
    setsid -w unshare $spaces sh -c 'mount -t proc proc /proc && unshare --uts --mount \
        sh -c "hostname n1 && mount -t tmpfs shm /dev/shm"' 2>"$folder/why" && return
    say "this machine allows no namespaces: $(tail -n 1 "$folder/why")"
}

# Told to end, it ends between two steps, when there is something to take down again.
up() {
    trap 'stop=1' TERM INT HUP
    mkdir -p "$folder" || exit 1
    [ -z "$(ls -A "$folder")" ] || {
        say "$folder is not empty"
        exit 1
    }
    user=$(id -u)
    spaces='--pid --fork --kill-child --mount'
    [ "$user" -eq 0 ] || spaces="--user --map-root-user $spaces"
    missing=$(what_is_missing 2>&1)
    rm -f "$folder/why"
    [ -z "$missing" ] || {
        rmdir "$folder"
        echo "$missing" >&2
        exit 77
    }
    choose_ports || exit 1
    write_configuration >"$folder/slurm.conf"
    { cat /etc/hosts && echo "127.0.0.1 $nodes"; } >"$folder/hosts"
    mkdir "$folder/log" "$folder/state" || exit 1
    for node in $nodes; do
        mkdir "$folder/spool.$node" "$folder/tmp.$node" || exit 1
    done
    (umask 077 && head -c 128 /dev/urandom >"$folder/key")
    # shellcheck disable=SC2086 # a list
    setsid timeout "${CLUSTER_LIFE:-3600}" unshare $spaces sh "$0" keep "$folder" "$user" \
        "$(id -g)" >"$folder/log/keep" 2>&1 </dev/null &
    echo $! >"$folder/pid"
    until_true 2 runs
    until_true 20 is_decided
    [ -n "$stop" ] || {
        is_up && return
        say 'it did not start'
        tail -n 5 "$folder"/log/* >&2
    }
    down
    exit 1
}

no_jobs() {
    [ -z "$(timeout 2 squeue -h 2>/dev/null)" ]
}

# Jobs that are told to end remove what they have elsewhere; there is no waiting for others.
down() {
    grep -qxF "StateSaveLocation=$folder/state" "$folder/slurm.conf" 2>/dev/null || {
        rmdir "$folder" 2>/dev/null
        return 0
    }
    if runs; then
        no_jobs || {
            timeout 2 scancel --state=RUNNING --state=PENDING --user="$(id -u)" 2>/dev/null
            until_true 3 no_jobs
        }
        kill -TERM "-$pid"
        until_true 5 gone || kill -KILL "-$pid"
        until_true 5 gone || say "process $pid does not end"
    fi
    rm -rf "$folder"
}

gone() {
    ! runs
}

case $verb:$folder in
up:?* | down:?* | keep:?*) folder=$(realpath -m "$folder") ;;
*)
    sed -n '3,7s/^# \{0,1\}//p' "$0"
    exit 2
    ;;
esac
export SLURM_CONF="$folder/slurm.conf"
case $verb in
up) up ;;
down) down ;;
keep) keep "$3" "$4" ;;
esac
