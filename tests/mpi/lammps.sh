#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# A real program, unmodified: LAMMPS on a small Lennard-Jones melt, 4 ranks, under `scope run` and under LD_PRELOAD. It
# prints what it prints without us, and its MPI_Allreduce calls are as many as a counter of three lines sees.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

test "$MPI_NAME" = openmpi || { echo 'the packaged lmp runs with Open MPI only'; exit 77; }
test -z "$SANITIZER" || { echo 'lmp has no sanitizer to share with the library'; exit 77; }
command -v lmp >/dev/null || { echo 'lmp is missing (install lammps)'; exit 1; }

cat >melt.in <<'EOF'
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 8 0 8 0 8
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 3.0 87287
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify every 20 delay 0 check no
fix 1 all nve
thermo 10
run 60
EOF

cat >count.c <<'EOF'
#include <mpi.h>
#include <stdio.h>
static long calls;
int MPI_Allreduce(const void *s, void *r, int n, MPI_Datatype t, MPI_Op o, MPI_Comm c)
{ calls++; return PMPI_Allreduce(s, r, n, t, o, c); }
int MPI_Finalize(void)
{ fprintf(stderr, "counted %ld\n", calls); return PMPI_Finalize(); }
EOF
$CC -shared -fPIC -o libcount.so count.c || exit 1

# melt NAME COMMAND...: its output without the lines that tell times, in NAME.out
melt()
{
    name=$1
    shift
    $MPIEXEC -n 4 "$@" -in melt.in -log none >"$name.all" 2>"$name.err" </dev/null ||
        { echo "lammps: $name: exit status $?"; cat "$name.err"; exit 1; }
    sed -e '/CPU\|Loop time\|Performance\|Total wall time/d' \
        -e '/^MPI task timing/,/^$/d' "$name.all" >"$name.out"
}

melt plain lmp
melt counted env LD_PRELOAD="$PWD/libcount.so" lmp
SCOPE_PROFILER_FILE_PATH=run.h5 melt run scope run lmp
SCOPE_PROFILER_FILE_PATH=preload.h5 melt preload env LD_PRELOAD="$SCOPE_LIBRARY" lmp

expected=$(awk '/^counted/ { n += $2 } END { print n }' counted.err)
for name in run preload; do
    diff plain.out $name.out || { echo "lammps: $name prints something else"; exit 1; }
    h5dump -H $name.h5 >/dev/null || { echo "lammps: $name leaves no valid profile"; exit 1; }
    got=$(scope inspect --mpi --csv $name.h5 | awk -F, '$3 == "MPI_Allreduce" { print $4 }')
    test "$got" = "$expected" || { echo "lammps: $name has $got MPI_Allreduce, not $expected"; exit 1; }
done
test "$(find . -name '*.h5' | wc -l)" -eq 2 || { echo "lammps: more than one file"; exit 1; }
test "$expected" -gt 100 || { echo "lammps: only $expected calls: the input is too small"; exit 1; }
