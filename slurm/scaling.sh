#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Strong scaling: the same problem on more and more nodes, a job of profile.sbatch for each, all
# submitted at once:  bash scaling.sh '1 2 4 8' ./app args
# The profiles are scaling-NODESn-JOB.h5. They compare one to one, since every job runs the same
# command; `scope inspect --regions-only scaling-*.h5` prints what each region took.
set -eu

[ $# -ge 2 ] || {
    sed -n 's/^# //; 3,6p' "$0"
    exit 2
}
sizes=$1
shift
for nodes in $sizes; do
    sbatch --nodes="$nodes" --job-name="scaling-${nodes}n" "$(dirname "$0")/profile.sbatch" "$@"
done
