#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scope inspect: verb in, exact text out. What is expected of whole outputs lies beside the profiles
# in tests/golden. A version of the format that was released keeps its profile there for ever.
# shellcheck disable=SC2154 # variables come from tests/run

golden=$abs_top_srcdir/tests/golden
failed=0
cp "$golden"/*.h5 .

# same NAME OPTIONS...: the output is the text of that file.
same() {
    expected=$golden/$1
    shift
    if ! scope inspect "$@" >out 2>err || [ -s err ]; then
        echo "inspect $*: $(cat err)"
        failed=1
    fi
    diff -u "$expected" out || { echo "inspect $*: differs from $expected"; failed=1; }
}

# prints OPTIONS...: the output is standard input.
prints() {
    cat >expected
    if ! scope inspect "$@" >out 2>err || [ -s err ]; then
        echo "inspect $*: $(cat err)"
        failed=1
    fi
    diff -u expected out || { echo "inspect $*: not as expected"; failed=1; }
}

# refuses MESSAGE OPTIONS...: exit code 2, no output, exactly this line.
refuses() {
    message=$1
    shift
    scope inspect "$@" >out 2>err
    status=$?
    if [ $status -ne 2 ] || [ -s out ] || [ "$(cat err)" != "scope: $message" ]; then
        echo "inspect $*: status $status, said '$(cat err)', not '$message'"
        failed=1
    fi
}

# Profiles as they are.
for file in synthetic-v1 core-only empty-run heat-v1; do
    same $file.txt $file.h5
done
same synthetic-v1.full.txt --full synthetic-v1.h5
same synthetic-v1.json --json synthetic-v1.h5
same core-only.json --json core-only.h5
same synthetic-v1.csv --csv synthetic-v1.h5

# Parts, rows, columns.
prints --flat --regions-only -i 'MPI_*' -x '*send' --sort region --ranks 3 synthetic-v1.h5 <<'END'

regions (% of time: of 1 rank x 950.0 ms)
  region         calls     total  % of time  min/rank  avg/rank  max/rank  max on
  MPI_Allreduce     10  8.000 ms      0.8 %  8.000 ms  8.000 ms  8.000 ms       3
  MPI_Waitall       10  20.00 ms      2.1 %  20.00 ms  20.00 ms  20.00 ms       3
  a region that calls itself is counted at each level
END
prints --regions-only -x 'MPI_*' -x solve -x 'main' -x 'read*' -x '[bn]a*' --columns calls,imbalance,minrank,source \
    synthetic-v1.h5 <<'END'

regions by call path (% of time: of 4 ranks x 950.0 ms)
  region                      calls  imbalance  min on  source
  step                           40     13.0 %       0  heat.c:13
  odd "name",\nof/two\tlines      1    300.0 %       0  heat.c:17
END
prints --mpi --sort sent --columns size,callmax synthetic-v1.h5 <<'END'

MPI routines (% of MPI: of 136.1 ms; % of time: of 4 ranks x 950.0 ms)
  routine        avg size  max/call
  MPI_Isend      7.81 KiB  1.530 us
  MPI_Allreduce       8 B  2.000 ms
  MPI_Waitall    7.81 KiB  2.000 ms
END
prints --topology --communicators synthetic-v1.h5 <<'END'

machine: 2 nodes
  2 with 1 package, 1 NUMA domain, 2 cores, 4 PUs, Intel Cascadelake SP processor
  ranks 0,2  may run on PUs 0-1
  ranks 1,3  may run on PUs 2-3

communicators: 2
  id  name            size  parent  ranks
   0  MPI_COMM_WORLD     4          0-3
   1  rows               2       0  0-2:2
END
prints --csv --communicators synthetic-v1.h5 <<END
file,id,name,size,remote_size,parent,ranks$(printf '\r')
synthetic-v1.h5,0,MPI_COMM_WORLD,4,0,,0-3$(printf '\r')
synthetic-v1.h5,1,rows,2,0,0,0-2:2$(printf '\r')
END
prints --csv --mpi -i '*I*send' synthetic-v1.h5 core-only.h5 <<END
file,id,routine,calls,total_ns,mpi-share_percent,share_percent,sent_bytes,received_bytes,size_bytes$(printf '\r')
synthetic-v1.h5,1,MPI_Isend,40,60600,0.044539,0.001595,320000,0,8000$(printf '\r')
END
prints --export-metadata - core-only.h5 <<'END'
{
  "label": "python run"
}
END

# Into a file; nothing on the terminal.
prints --export-metadata label.json core-only.h5 </dev/null
[ "$(cat label.json)" = "$(printf '{\n  "label": "python run"\n}')" ] || { echo 'inspect: wrong file'; failed=1; }

# Several files: one after the other, in JSON one list.
scope inspect core-only.h5 synthetic-v1.h5 | grep -c '^[a-z0-9-]*\.h5 ' | grep -qx 2 ||
    { echo 'inspect: not both files'; failed=1; }
if command -v python3 >/dev/null; then
    scope inspect --json core-only.h5 synthetic-v1.h5 empty-run.h5 | python3 -c '
import json, sys
profiles = json.load(sys.stdin)["profiles"]
assert [p["file"] for p in profiles] == ["core-only.h5", "synthetic-v1.h5", "empty-run.h5"]
assert any(r["name"] == "odd \"name\",\nof/two\tlines" for r in profiles[1]["call_paths"])
flat = {r["name"]: r["total_ns"] for r in profiles[0]["regions"]}
assert flat == {r["name"]: r["total_ns"] for r in profiles[1]["regions"]}
' || { echo 'inspect: wrong JSON'; failed=1; }
fi

# Wrong usage.
regions='region, calls, total, exclusive, share, min, avg, max, minrank, maxrank, ranks, imbalance'
regions="$regions, callmin, callavg, callmax, source"
routines='routine, calls, total, mpi-share, share, callmin, callavg, callmax, sent, received, size'
refuses "--sort: no column 'speed' (there are $regions)" --sort speed synthetic-v1.h5
refuses "--columns: no column 'max' (there are $routines)" --mpi -c calls,max synthetic-v1.h5
refuses "--sort: not by source (by region or by a number)" --sort source synthetic-v1.h5
refuses "inspect: no such option: '--speed' (scope inspect --help)" --speed synthetic-v1.h5
refuses "inspect: '--sort': its argument is missing (scope inspect --help)" synthetic-v1.h5 --sort
refuses "inspect: no file given (scope inspect FILE)"
refuses "'0-': not a list of ranks (as in 0-3,8)" --ranks 0- synthetic-v1.h5
refuses "'3-1': not a list of ranks (as in 0-3,8)" --ranks 3-1 synthetic-v1.h5
refuses 'synthetic-v1.h5: has none of the ranks asked for (it has 4)' -r 4-9 synthetic-v1.h5
refuses 'inspect: --csv prints one table (leave all but one of the parts out)' --csv --mpi --topology synthetic-v1.h5
refuses 'inspect: --export-metadata takes one file' --export-metadata - core-only.h5 synthetic-v1.h5
if [ -w /dev/full ]; then
    scope inspect core-only.h5 >/dev/full 2>err
    status=$?
    if [ $status -ne 2 ] || [ "$(cat err)" != 'scope: standard output: No space left on device' ]; then
        echo "inspect: on a full disk: status $status, $(cat err)"
        failed=1
    fi
fi
exit $failed
