#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# sbatch: the examples of slurm/ run as they stand and name their profiles; array tasks do not mix
# theirs; a job that is started again replaces its own; mpirun in a job knows its ranks.
# shellcheck disable=SC2154 # variables come from tests/run
. "$abs_top_srcdir/tests/slurm/lib.sh"
begin
examples=$abs_top_srcdir/slurm
set -- "$heat" 64 20

# Started again after its profile was complete. Slurm makes a requeued job wait: it goes first.
# shellcheck disable=SC2016 # $ is meant for the job
printf '%s\n' '#!/bin/bash' "bash '$examples/profile.sbatch'"' "$@" || exit' \
    '[ -n "$SLURM_RESTART_COUNT" ] || sleep 60' >again.sbatch
submit --job-name=again --nodes=1 --ntasks=2 again.sbatch "$@"
again=$job
await_file "again-$again.h5" 30 || finish
holds "again-$again.h5" SLURM_RESTART_COUNT= mpi_size=2
timeout 10 scontrol requeue "$again" || not "scontrol requeue gives $?"

submit "$examples/profile.sbatch" "$@"
profile=$job
submit --array=1-2 "$examples/profile.sbatch" "$@"
array=$job
submit "$examples/signal.sbatch" "$@"
signal=$job
bash "$examples/scaling.sh" '1 2' "$@" >scaling || not "scaling.sh gives $?"
sizes=$(sed -n 's/^Submitted batch job //p' scaling | tr '\n' ' ')

# Two tasks and one name: either profile, whole.
submit --array=1-2 --ntasks=2 --wrap "srun scope run -o same.h5 '$1' $2 $3"
same=$job

# Ranks that srun did not start, on two nodes; mpirun's helper on the second one is alone there.
submit --nodes=2 --ntasks-per-node=2 --wrap "SCOPE_PROFILER_MPI=0 \
    SCOPE_PROFILER_FILE_PATH=mpirun.h5 $MPIEXEC -n 4 '$1' $2 $3"
mpirun=$job

for job in $profile $array $signal $sizes $same $mpirun $again; do
    await "$job" COMPLETED 60 || finish
done

holds "profile-$profile.h5" mpi_size=4 num_nodes=2 SLURM_JOB_ID="$profile" label='4 ranks' \
    SLURM_JOB_NAME=profile SLURM_ARRAY_TASK_ID=
grep -q '^heat: right' "slurm-$profile.out" || not "profile.sbatch: $(cat "slurm-$profile.out")"
grep -q '^scope: heat' "slurm-$profile.out" || not 'profile.sbatch: no summary'
for task in 1 2; do
    holds "profile-${array}_$task.h5" mpi_size=4 SLURM_ARRAY_JOB_ID="$array" \
        SLURM_ARRAY_TASK_ID=$task
done
holds "signal-$signal.h5" mpi_size=4
holds "scaling-1n-${sizes%% *}.h5" mpi_size=2 num_nodes=1
large=${sizes#* }
holds "scaling-2n-${large% }.h5" mpi_size=4 num_nodes=2
holds same.h5 mpi_size=2
holds "again-$again.h5" SLURM_RESTART_COUNT=1 SLURM_JOB_ID="$again" mpi_size=2
for rank in 0 1 2 3; do
    holds mpirun_rank0000$rank.h5 num_ranks=1
done
only "profile-$profile.h5" "profile-${array}_1.h5" "profile-${array}_2.h5" "signal-$signal.h5" \
    "scaling-1n-${sizes%% *}.h5" "scaling-2n-${large% }.h5" same.h5 "again-$again.h5" \
    mpirun_rank00000.h5 mpirun_rank00001.h5 mpirun_rank00002.h5 mpirun_rank00003.h5
finish
