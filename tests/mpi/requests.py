# SPDX-License-Identifier: BSD-3-Clause
"""requests.py PROFILE PREFIX RANKS [rows]: holds totals, rows and the communication matrix of a
profile to what each rank expected, and what is sent to what is received."""
import collections
import sys

import h5py

profile, prefix, ranks = h5py.File(sys.argv[1], "r"), sys.argv[2], int(sys.argv[3])
has_rows = len(sys.argv) > 4
failures = []


def text(value):
    return value.decode() if isinstance(value, bytes) else value


names = [text(n) for n in profile["region_table/names"][:]]
paths = profile["scope/call_paths"][:]
totals = collections.defaultdict(lambda: [0, 0, 0])
flow = collections.Counter()
for t in profile["scope/mpi_totals"][:]:
    name = names[paths[t["path"]]["region"]]
    entry = totals[int(t["rank"]), name]
    for i, field in enumerate(("calls", "bytes_sent", "bytes_received")):
        entry[i] += int(t[field])
    flow[int(t["communicator"])] += int(t["bytes_sent"]) - int(t["bytes_received"])
    if t["await"] < 0 or t["in_flight"] < 0 or (t["calls"] > 0 and t["minimum"] > t["maximum"]):
        failures.append(f"impossible times: {t}")
for comm, difference in flow.items():
    if difference != 0:
        failures.append(f"communicator {comm}: {difference} bytes more sent than received")

rows = collections.Counter()
index = profile["rank_region_index"]
for rank, region, count in zip(index["ranks"][:], index["region_ids"][:], index["event_counts"][:]):
    rows[int(rank), names[region]] += int(count)
peers = {(int(p["rank"]), int(p["peer"])): tuple(
    int(p[k]) for k in ("sent_messages", "sent_bytes", "received_messages", "received_bytes"))
    for p in profile["scope/peers"][:]}

wanted_peers = {}
for rank in range(ranks):
    with open(f"{prefix}.{rank}.expect", encoding="utf-8") as lines:
        for line in lines:
            kind, name, *numbers = line.split()
            numbers = [int(n) for n in numbers]
            if kind == "peer":
                wanted_peers[rank, int(name)] = tuple(numbers)
                continue
            calls, wanted_rows, *moved = numbers
            if totals[rank, name] != [calls, *moved]:
                failures.append(f"rank {rank}: {name}: calls, sent, received {totals[rank, name]}, "
                                f"expected {[calls, *moved]}")
            if has_rows and rows[rank, name] != wanted_rows:
                failures.append(f"rank {rank}: {name}: {rows[rank, name]} rows, expected {wanted_rows}")
if peers != wanted_peers:
    failures.append(f"matrix {peers}, expected {wanted_peers}")

for line in failures[:20]:
    print(line)
print(f"{len(totals)} totals, {len(failures)} failures")
sys.exit(1 if failures else 0)
