# SPDX-License-Identifier: BSD-3-Clause
# known.py FILE RANKS: does the profile hold what tests/mpi/known.c wrote down?
import collections
import sys

import h5py
import numpy

STEP = 100  # ns per reading of the clock

f = h5py.File(sys.argv[1])
ranks = int(sys.argv[2])
names = f["region_table/names"].asstr()[...]
index = {k: f["rank_region_index"][k][...] for k in f["rank_region_index"]}
deltas, durations = f["events/start_deltas"][...], f["events/durations"][...]
mpi = {k: f["scope/mpi"][k][...] for k in f["scope/mpi"]}
paths, totals = f["scope/call_paths"][...], f["scope/mpi_totals"][...]
none = numpy.iinfo("uint64").max


def slices(rank):
    """region name -> starts, durations, first MPI row (None for other regions)"""
    found = {}
    for i in numpy.nonzero(index["ranks"] == rank)[0]:
        rows = slice(int(index["event_offsets"][i]), int(index["event_offsets"][i] + index["event_counts"][i]))
        offset = mpi["offsets"][i]
        summary = index["summary_statistics"][i]
        assert summary["total"] == durations[rows].sum()
        assert summary["minimum"] == durations[rows].min() and summary["maximum"] == durations[rows].max()
        assert abs(summary["m2"] - ((durations[rows] - summary["mean"]) ** 2).sum()) <= 1e-9 * max(summary["m2"], 1)
        found[names[index["region_ids"][i]]] = (
            numpy.cumsum(deltas[rows]), durations[rows], None if offset == none else int(offset))
    return found


def totals_of_rows(rank, found):
    """(routine, communicator, size class) -> calls, sent, received, time, minimum, maximum"""
    sums = collections.defaultdict(lambda: [0, 0, 0, 0, 2**62, 0])
    for name, (_, times, first) in found.items():
        for k in range(0 if first is None else len(times)):
            sent, received = int(mpi["bytes_sent"][first + k]), int(mpi["bytes_received"][first + k])
            s = sums[name, int(mpi["communicators"][first + k]), max(sent, received).bit_length()]
            time = int(times[k])
            s[:] = s[0] + 1, s[1] + sent, s[2] + received, s[3] + time, min(s[4], time), max(s[5], time)
    return dict(sums)


for rank in range(ranks):
    known = collections.defaultdict(list)
    for line in open(f"known.{rank}"):
        name, start, duration = line.split()
        known[name].append((int(start) * STEP, int(duration) * STEP))
    found = slices(rank)
    origin = found["outer"][0][0]
    for name, calls in known.items():
        starts, times, _ = found[name]
        got = sorted(zip((starts - origin).tolist(), times.tolist()))
        assert got == sorted(calls), f"{name} on rank {rank}"
    stored = collections.defaultdict(lambda: [0, 0, 0, 0, 2**62, 0])
    for t in totals[totals["rank"] == rank]:
        s = stored[names[paths[t["path"]]["region"]], int(t["communicator"]), int(t["size_class"])]
        s[:] = (s[0] + int(t["calls"]), s[1] + int(t["bytes_sent"]), s[2] + int(t["bytes_received"]),
                s[3] + int(t["total"]), min(s[4], int(t["minimum"])), max(s[5], int(t["maximum"])))
    with_rows = {k: v for k, v in stored.items() if k[0] in found}  # queries are only counted
    assert with_rows == totals_of_rows(rank, found), f"MPI totals of rank {rank}"
