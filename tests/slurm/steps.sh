#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# srun: four ranks on two nodes leave one profile that knows its job; processes that are runs of
# their own leave a file each.
# shellcheck disable=SC2154 # variables come from tests/run
. "$abs_top_srcdir/tests/slurm/lib.sh"
begin
four='--nodes=2 --ntasks=4 --ntasks-per-node=2'

# step OPTIONS COMMAND...: srun with these words as options; out, err. It has to succeed.
step() {
    options=$1
    shift
    # shellcheck disable=SC2086 # a list
    bounded 30 srun $options "$@" >out 2>err ||
        not "srun $options $* gives $?: $(cat out err)"
}

count() {
    grep -c "$1" err
}

right() {
    grep -q '^heat: right' out || not "$1: the program is wrong: $(cat out)"
    [ "$(count '^scope: heat')" -eq 1 ] || not "$1: not one summary: $(cat err)"
}

hint='the launcher started .* processes, but each is a run of its own'

# One file under scope run, with the job in it.
# shellcheck disable=SC2016 # $ is meant for the inner shell
step "$four" sh -c 'echo "$SLURM_JOB_ID" >job.$SLURM_PROCID
    exec scope run --metadata full -o run.h5 "$@"' sh "$heat" 64 20
right 'scope run'
only run.h5
holds run.h5 mpi_size=4 num_nodes=2 SLURM_JOB_ID="$(cat job.0)" SLURM_STEP_ID=0 \
    'SLURM_JOB_NODELIST=n[1-2]' 'SLURM_STEP_NODELIST=n[1-2]' SLURM_JOB_NUM_NODES=2 \
    SLURM_JOB_PARTITION=main SLURM_CLUSTER_NAME=scope SLURM_NTASKS=4 SLURM_STEP_NUM_TASKS=4 \
    SLURM_SUBMIT_DIR="$PWD"
rm run.h5

# The same from a program that carries the library; without being asked to, it names no job.
SCOPE_PROFILER_MPI=1 step "$four" "$heat" 64 20
right 'linked'
only profiling_data.h5
holds profiling_data.h5 mpi_size=4 num_nodes=2 SLURM_JOB_ID= hostname=
[ "$(count "$hint")" -eq 0 ] || not "ranks of one run are told apart: $(cat err)"
rm profiling_data.h5

# A run each.
SCOPE_PROFILER_MPI=0 SCOPE_PROFILER_FILE_PATH=own.h5 step "$four" "$heat" 64 20
right 'SCOPE_PROFILER_MPI=0'
only own_rank00000.h5 own_rank00001.h5 own_rank00002.h5 own_rank00003.h5
for rank in 0 1 2 3; do
    holds own_rank0000$rank.h5 num_ranks=1 mpi_library=
done
rm ./*.h5

# No MPI in the program, whatever srun offers: the ranks are Slurm's.
cat >lone.c <<'END'
#include <scope.h>
int main(void)
{
    int rc = scope_setup(0);
    SCOPE_BEGIN("a");
    SCOPE_END("a");
    return rc | scope_finalize();
}
END
$CC -std=c11 ${SANITIZER:+-fsanitize=$SANITIZER} -I"$abs_top_srcdir/src" -o lone lone.c \
    -L"$abs_top_builddir/.libs" -lscope -Wl,-rpath,"$abs_top_builddir/.libs" || exit 1
for mpi in none $SLURM_MPI_TYPE; do
    step "--nodes=2 --ntasks=3 --mpi=$mpi" ./lone
    only profiling_data_rank00000.h5 profiling_data_rank00001.h5 profiling_data_rank00002.h5
    [ "$(count "$hint")" -eq 1 ] || not "--mpi=$mpi, without MPI: not one hint: $(cat err)"
    [ "$(count '^scope: lone')" -eq 1 ] || not "--mpi=$mpi, without MPI: not one summary"
    rm ./*.h5

    step "--ntasks=1 --mpi=$mpi" ./lone
    only profiling_data.h5
    [ "$(count "$hint")" -eq 0 ] || not "--mpi=$mpi: one process has a hint: $(cat err)"
    rm ./*.h5
done

# MPICH that finds no launcher it knows: each process is rank 0 of 1. (Open MPI gives up.)
if [ "$MPI_NAME" = mpich ]; then
    step '--ntasks=2 --mpi=none' "$heat" 64 20
    right 'singletons'
    only profiling_data_rank00000.h5 profiling_data_rank00001.h5
    [ "$(count "$hint")" -eq 1 ] || not "singletons: not one hint: $(cat err)"
fi
finish
