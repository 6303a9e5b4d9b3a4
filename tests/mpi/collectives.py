# SPDX-License-Identifier: BSD-3-Clause
"""collectives.py PROFILE PREFIX RANKS: holds a profile to what the ranks expected of it, call by
call and communicator by communicator, and to the law that what is sent is received."""
import collections
import json
import sys

import h5py

profile, prefix, ranks = h5py.File(sys.argv[1], "r"), sys.argv[2], int(sys.argv[3])
failures = []


def fail(text):
    failures.append(text)


def text(value):
    return value.decode() if isinstance(value, bytes) else value


names = [text(n) for n in profile["region_table/names"][:]]
index = {k: profile["rank_region_index/" + k][:] for k in ("region_ids", "ranks", "event_counts")}
offsets = profile["scope/mpi/offsets"][:]
columns = {k: profile["scope/mpi/" + k][:] for k in ("communicators", "peers", "bytes_sent", "bytes_received")}
requests = profile["scope/mpi/requests"][:] if "requests" in profile["scope/mpi"] else None
rows = profile["scope/communicators"][:]
row_names = [text(n) for n in profile["scope/communicator_names"][:]]
runs = profile["scope/communicator_members"][:]


def members(first, count):
    return [int(r["first"]) + i * int(r["stride"])
            for r in runs[int(first):int(first) + int(count)] for i in range(int(r["count"]))]


# The test knows its collectives and what makes or ends a communicator, and leaves out the rest.
tags = {names[region]: text(tags) for region, tags in
        zip(index["region_ids"], profile["rank_region_index/tags"][:])}
ours = {name for name, t in tags.items() if '"collective"' in t or ('"comm"' in t and name != "MPI_Comm_group")}

recorded = [collections.defaultdict(list) for _ in range(ranks)]
no_offset = 2**64 - 1
for i, rank in enumerate(index["ranks"]):
    if int(offsets[i]) == no_offset:
        continue
    for k in range(int(offsets[i]), int(offsets[i]) + int(index["event_counts"][i])):
        recorded[rank][names[index["region_ids"][i]]].append(
            (int(columns["communicators"][k]), int(columns["peers"][k]), int(columns["bytes_sent"][k]),
             int(columns["bytes_received"][k]), -1 if requests is None else int(requests[k])))

ids = {}  # label -> row
facts = {}  # label -> what a rank said of it
calls = 0
for rank in range(ranks):
    expected = collections.defaultdict(list)
    with open(f"{prefix}.{rank}.expect", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if "call" in line:
                expected[line["call"]].append(line)
                continue
            known = facts.setdefault(line["communicator"], line)
            sides = [known["members"], known["remote"]]
            if known["name"] != line["name"] or known["parent"] != line["parent"] or \
                    [line["members"], line["remote"]] not in (sides, sides[::-1]):
                if line["communicator"] != "self":
                    fail(f"the test contradicts itself about {line['communicator']}")
    for call in sorted(set(expected) | (set(recorded[rank]) & ours)):
        want, have = expected[call], recorded[rank][call]
        if len(want) != len(have):
            fail(f"rank {rank}: {call} called {len(want)} times, recorded {len(have)} times")
        for i, (w, h) in enumerate(zip(want, have)):
            calls += 1
            row = -1 if w["comm"] is None else ids.setdefault(w["comm"], h[0])
            if h != (row, w["root"], w["sent"], w["received"], w["request"]):
                fail(f"rank {rank}: {call} number {i} on {w['comm']} (row {row}): recorded communicator, "
                     f"root, sent, received, request {h}, expected {w}")

if len(set(ids.values())) != len(ids) or -1 in ids.values():
    fail(f"one row for several communicators: {ids}")
for label, fact in facts.items():
    row = rows[ids[label]]
    have = [members(row["first_run"], row["runs"]), members(row["remote_first_run"], row["remote_runs"])]
    want = [fact["members"], fact["remote"]]
    if fact["remote"] and min(fact["remote"][:1]) < min(fact["members"][:1]):
        want.reverse()
    if have != want or [row["size"], row["remote_size"]] != [len(want[0]), len(want[1])]:
        fail(f"{label}: members {have}, expected {want}")
    parent = -1 if fact["parent"] is None else ids[fact["parent"]]
    if row["parent"] != parent:
        fail(f"{label}: parent {row['parent']}, expected {parent}")
    if row_names[ids[label]] != fact["name"]:
        fail(f"{label}: name '{row_names[ids[label]]}', expected '{fact['name']}'")

flow = collections.Counter()
for rank in recorded:
    for call in set(rank) & ours:
        have = rank[call]
        for h in have:
            flow[h[0], call] += h[2] - h[3]
for (row, call), difference in flow.items():
    if difference != 0:
        fail(f"{call} on communicator {row}: {difference} bytes more sent than received")

for line in failures[:20]:
    print(line)
print(f"{calls} calls on {len(ids)} communicators, {len(failures)} failures")
sys.exit(1 if failures else 0)
