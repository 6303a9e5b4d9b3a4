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
for file in synthetic-v1 synthetic-v2 core-only empty-run heat-v1; do
    same $file.txt $file.h5
done
same synthetic-v1.full.txt --full synthetic-v1.h5
same synthetic-v1.json --json synthetic-v1.h5
same synthetic-v2.json --json synthetic-v2.h5
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
  id  name            size  parent  calls     total     sent  received  ranks
   0  MPI_COMM_WORLD     4       -    100  104.1 ms  313 KiB   313 KiB  0-3
   1  rows               2       0     20  32.00 ms    160 B     160 B  0-2:2
END
prints --csv --communicators synthetic-v1.h5 <<END
file,id,name,size,remote_size,parent,calls,total_ns,sent_bytes,received_bytes,ranks,remote_ranks$(printf '\r')
synthetic-v1.h5,0,MPI_COMM_WORLD,4,0,,100,104060740,320160,320160,0-3,$(printf '\r')
synthetic-v1.h5,1,rows,2,0,0,20,32000140,160,160,0-2:2,$(printf '\r')
END
prints --csv --mpi -i '*I*send' synthetic-v1.h5 core-only.h5 <<END
file,id,routine,calls,total_ns,mpi-share_percent,share_percent,sent_bytes,received_bytes,size_bytes,waited_ns,overlap_percent$(printf '\r')
synthetic-v1.h5,1,MPI_Isend,40,60600,0.044539,0.001595,320000,0,8000,,$(printf '\r')
END

# MPI by routine and one thing more, messages, files; what version 1 does not know is empty.
prints --by communicator -i 'MPI_[APW]*' --sort communicator synthetic-v2.h5 <<'END'

MPI by communicator (% of MPI: of 164.2 ms)
  routine        comm  name            calls     total  % of MPI      sent  received
  MPI_Waitall       0  MPI_COMM_WORLD     40  80.00 ms    48.7 %       0 B   312 KiB
  MPI_Allreduce     0  MPI_COMM_WORLD     20  24.00 ms    14.6 %     160 B     160 B
  MPI_Allreduce     1  rows               20  32.00 ms    19.5 %     160 B     160 B
  MPI_Put           1  rows                8  40.00 us    0.02 %  6.25 KiB       0 B
  MPI_Waitall       1  rows                0      0 ns     0.0 %       0 B     100 B
END
prints --mpi --by size --ranks 0 -c calls,in-flight synthetic-v2.h5 <<'END'

MPI by size (% of MPI: of 47.05 ms)
  routine                  bytes  calls  in flight
  MPI_Allreduce           8-15 B     10          -
  MPI_Waitall            4-8 KiB     10          -
  MPI_File_iwrite_at     4-8 KiB      4   1.000 ms
  MPI_File_open              0 B      1          -
  MPI_Comm_rank              0 B  1,000          -
  MPI_Isend              4-8 KiB     10   8.000 ms
  MPI_Put             512-1023 B      2          -
  MPI_Waitall           64-127 B      0          -
END
prints --by path -x 'MPI_[CFP]*' -c waited,overlap synthetic-v2.h5 <<'END'

MPI by call path (% of MPI: of 164.2 ms)
  routine        called in              waited  overlap
  MPI_Waitall    main > solve > step         -        -
  MPI_Allreduce  main > solve                -        -
  MPI_Isend      main > solve > step  8.000 ms   75.0 %
END
# Below the call sites stands why they are not known better, which depends on how scope was built.
cat >expected <<'END'

MPI by call site (% of MPI: of 164.2 ms)
  routine        call site       calls    waited
  MPI_Comm_rank  not known       4,000         -
  MPI_Isend      heat+0x1234        40  8.000 ms
  MPI_Put        0x7f0012345678      8         -
END
scope inspect --by site --include 'MPI_[PCI]*' -c calls,waited synthetic-v2.h5 >out
if ! head -n 6 out | diff -u expected - || [ "$(wc -l <out)" -ne 7 ]; then
    echo 'inspect: wrong call sites'
    failed=1
fi
scope inspect --csv --by site -i MPI_File_open synthetic-v2.h5 2>err | tr -d '\r' >out
row=synthetic-v2.h5,MPI_File_open,3,libother.so.1+0x40,libother.so.1,0x40,4,12000000,7.309012,0,0,,
if [ "$(tail -n 1 out)" != "$row" ] || [ ! -s err ]; then
    echo "inspect: $(cat out err)"
    failed=1
fi
prints --by object -c calls synthetic-v2.h5 synthetic-v1.h5 <<'END'

MPI by file and window (% of MPI: of 164.2 ms)
  routine             object  name              calls
  MPI_File_iwrite_at       0  /nowhere/out.dat     16
  MPI_File_open            0  /nowhere/out.dat      4
  MPI_Put                  1  halo, old             8


MPI by file and window (% of MPI: of 136.1 ms)
  none
END
prints --source --mpi -i MPI_Isend -c calls synthetic-v1.h5 <<'END'

MPI routines (% of MPI: of 136.1 ms; % of time: of 4 ranks x 950.0 ms)
  routine    calls
  MPI_Isend     40
END
prints --matrix synthetic-v2.h5 <<'END'

messages: 43, 313 KiB, between 10 pairs of ranks; bytes from row to column
  from \ to      0      1      2      3
          0         80.0k  1.60k
          1     *8         80.0k  1.60k
          2  1.60k                80.0k
          3  80.0k  1.60k

  source  dest  messages  bytes sent  received  bytes received     one-sided       put
       0     1        10    78.1 KiB        10        78.1 KiB             0       0 B
       1     2        10    78.1 KiB        10        78.1 KiB             0       0 B
       2     3        10    78.1 KiB        10        78.1 KiB             0       0 B
       3     0        10    78.1 KiB        10        78.1 KiB             0       0 B
       0     2         0         0 B         0             0 B             2  1.56 KiB
       1     3         0         0 B         0             0 B             2  1.56 KiB
       2     0         0         0 B         0             0 B             2  1.56 KiB
       3     1         0         0 B         0             0 B             2  1.56 KiB
       -     0         -           -         2            16 B             0       0 B
       1     0         1         8 B         0             0 B  *          0       0 B
  - stands for ranks of another world
  one-sided: 8 operations, 6.25 KiB put, 0 B got
  * the ends differ: 1 message sent but not received (never received, cancelled, or not recorded)
END
prints --matrix --ranks 2 -s source -c sent synthetic-v2.h5 <<'END'

messages: 20, 156 KiB, between 4 pairs of ranks; bytes from row to column
  from \ to      0  1      2      3
          0            1.60k
          1            80.0k
          2  1.60k            80.0k
          3

  source  dest  bytes sent
       0     2         0 B
       1     2    78.1 KiB
       2     3    78.1 KiB
       2     0         0 B
  one-sided: 4 operations, 3.12 KiB put, 0 B got
END
prints --matrix --files synthetic-v1.h5 core-only.h5 <<'END'

messages: none recorded

files and windows: none recorded

END
prints --files -i '*old' synthetic-v2.h5 <<'END'

files and windows: 2
  kind    name       communicator  opens  operations  read   written     total
  window  halo, old  rows              0           8   0 B  6.25 KiB  40.00 us
END
prints --csv --matrix --ranks 1 synthetic-v2.h5 <<END
file,source,destination,messages,sent_bytes,messages-received,received_bytes,operations,put_bytes,got_bytes$(printf '\r')
synthetic-v2.h5,0,1,10,80000,10,80000,0,0,0$(printf '\r')
synthetic-v2.h5,1,0,1,8,0,0,0,0,0$(printf '\r')
synthetic-v2.h5,1,2,10,80000,10,80000,0,0,0$(printf '\r')
synthetic-v2.h5,1,3,0,0,0,0,2,1600,0$(printf '\r')
synthetic-v2.h5,3,1,0,0,0,0,2,1600,0$(printf '\r')
END
prints --csv --files synthetic-v2.h5 <<END
file,id,kind,name,communicator,opens,operations,read_bytes,written_bytes,total_ns,waited_ns$(printf '\r')
synthetic-v2.h5,0,file,/nowhere/out.dat,0,4,16,0,65536,28000000,2000000$(printf '\r')
synthetic-v2.h5,1,window,"halo, old",1,0,8,0,6400,40000,$(printf '\r')
END
prints --csv --by size -i MPI_Waitall synthetic-v2.h5 <<END
file,routine,class,calls,total_ns,mpi-share_percent,sent_bytes,received_bytes,waited_ns,overlap_percent$(printf '\r')
synthetic-v2.h5,MPI_Waitall,13,40,80000000,48.726746,0,320000,,$(printf '\r')
synthetic-v2.h5,MPI_Waitall,7,0,0,0.000000,0,100,,$(printf '\r')
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
routines="$routines, waited, overlap, in-flight"
refuses "--sort: no column 'speed' (there are $regions)" --sort speed synthetic-v1.h5
refuses "--columns: no column 'max' (there are $routines)" --mpi -c calls,max synthetic-v1.h5
refuses "--sort: not by source (by region or by a number)" --sort source synthetic-v1.h5
refuses "--by: no 'speed' (there are routine, path, site, communicator, size, object)" --by speed synthetic-v2.h5
refuses "--sort: no column 'speed' (there are source, destination, messages, sent, messages-received, received, operations, put, got, moved)" \
    --matrix --sort speed synthetic-v2.h5
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
