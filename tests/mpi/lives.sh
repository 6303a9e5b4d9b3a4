#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Recordings that begin before MPI, after an MPI_Init that was not seen, a second time, and
# communicators made and freed behind the library's back: calls and communicators are right.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

python=/usr/bin/python3
$python -c 'import h5py' 2>/dev/null || {
    echo 'lives: no h5py for python3 (python3-h5py)'
    exit 77
}
$CC -std=c11 -O1 -g ${SANITIZER:+-fsanitize=$SANITIZER} -I"$abs_top_srcdir/src" -o lives \
    "$abs_top_srcdir/tests/mpi/lives.c" -L"$abs_top_builddir/.libs" -lscope \
    -Wl,-rpath,"$abs_top_builddir/.libs" || exit 1
failed=0

# run WAY: the program on 3 ranks
run() {
    $MPIEXEC -n 3 ./lives "$1" >"$1.log" 2>&1 || {
        echo "lives $1: exit status $?"
        cat "$1.log"
        failed=1
    }
}

# holds PROFILE CALLS COMMUNICATORS: rank 0's "routine:communicator" rows; "name/size/parent" rows
holds() {
    $python - "$@" <<'PYTHON' || failed=1
import sys, h5py
f = h5py.File(sys.argv[1], "r")
text = lambda v: v.decode() if isinstance(v, bytes) else v
names = [text(n) for n in f["region_table/names"][:]]
index, offsets, rows = f["rank_region_index"], f["scope/mpi/offsets"][:], f["scope/mpi/communicators"][:]
calls = []
for i, region in enumerate(index["region_ids"][:]):
    if index["ranks"][i] == 0 and int(offsets[i]) != 2**64 - 1:
        at = int(offsets[i])
        calls += [f"{names[region]}:{rows[k]}" for k in range(at, at + int(index["event_counts"][i]))]
comms = [f"{text(n)}/{c['size']}/{c['parent']}"
         for n, c in zip(f["scope/communicator_names"][:], f["scope/communicators"][:])]
have = " ".join(sorted(calls)), " ".join(comms)
if have != (sys.argv[2], sys.argv[3]):
    print(f"{sys.argv[1]}:\n{have[0]}\n{have[1]}\nexpected:\n{sys.argv[2]}\n{sys.argv[3]}")
    sys.exit(1)
PYTHON
}

usual='MPI_COMM_WORLD/3/-1 MPI_COMM_SELF/1/-1'
run early
holds early.h5 'MPI_Bcast:0 MPI_Finalize:0 MPI_Init:0' "$usual"
run late
holds late.h5 'MPI_Bcast:0 MPI_Finalize:0' "$usual"
run again
holds profiling_data.h5 'MPI_Barrier:0 MPI_Init:0' "$usual"
holds second.h5 'MPI_Barrier:2 MPI_Bcast:0 MPI_Comm_free:2 MPI_Finalize:0' "$usual /3/0"
rm -f profiling_data.h5
run unseen
holds profiling_data.h5 'MPI_Allreduce:2 MPI_Allreduce:3 MPI_Allreduce:4 MPI_Allreduce:5 MPI_Barrier:6 MPI_Bcast:0 MPI_Finalize:0 MPI_Init:0' \
    "$usual /3/-1 /1/-1 /3/-1 /1/-1 unseen/3/0 /2/-1 /2/-1"
exit $failed
