# SPDX-License-Identifier: BSD-3-Clause
"""onesided_io.py PROFILE PREFIX RANKS [rows]: holds a profile, and what `scope inspect` makes of it, to what
each rank expected of its calls on windows and files. Nothing here knows how many bytes a routine moves."""
import collections
import json
import subprocess
import sys

import h5py

path, prefix, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3])
has_rows = len(sys.argv) > 4
profile = h5py.File(path, "r")
failures = []


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def same(what, have, want):
    """Two mappings."""
    for key in sorted(set(have) | set(want), key=str):
        if have.get(key) != want.get(key):
            failures.append(f"{what} {key}: {have.get(key)}, expected {want.get(key)}")


# ---- what the ranks expect ----

calls = [[] for _ in range(ranks)]
objects = {}  # name -> kind, communicator
for rank in range(ranks):
    with open(f"{prefix}.{rank}.expect", encoding="utf-8") as lines:
        for line in map(json.loads, lines):
            if "kind" not in line:
                calls[rank].append(line)
            elif objects.setdefault(line["object"], (line["kind"], line["comm"])) != (line["kind"], line["comm"]):
                failures.append(f"the test contradicts itself about {line['object']}")
routines = {c["call"] for of_rank in calls for c in of_rank}

# ---- tables of the profile ----

names = [text(n) for n in profile["region_table/names"][:]]
comm_names = [text(n) for n in profile["scope/communicator_names"][:]]
object_names = [text(n) for n in profile["scope/object_names"][:]] + [None]  # -1: none
rows = profile["scope/objects"][:]
same("object", collections.Counter((("?", "file", "window")[int(r["kind"])], comm_names[r["communicator"]], n)
                                   for r, n in zip(rows, object_names)),
     collections.Counter((kind, comm, n) for n, (kind, comm) in objects.items()))


def communicator_of(name):
    return -1 if name is None else comm_names.index(objects[name][1])


def is_ours(name, which):
    return name in routines or which >= 0


# ---- rows, call by call ----

def check_rows():
    index = {k: profile["rank_region_index/" + k][:]
             for k in ("region_ids", "ranks", "event_offsets", "event_counts", "tags")}
    offsets, awaits = profile["scope/mpi/offsets"][:], profile["events/await_ns"][:]
    columns = [profile["scope/mpi/" + k][:].tolist() for k in (
        "objects", "communicators", "peers", "bytes_sent", "bytes_received", "requests", "errors")]
    if "tags" in profile["scope/mpi"]:
        failures.append("a call has the tag of a message, but there was none")
    recorded = collections.defaultdict(list)
    for i, offset in enumerate(offsets):
        if int(offset) == 2**64 - 1:
            continue
        name, tag = names[index["region_ids"][i]], text(index["tags"][i])
        for k in range(int(index["event_counts"][i])):
            row = [c[int(offset) + k] for c in columns]
            waited = int(awaits[int(index["event_offsets"][i]) + k])
            if name in routines or row[0] >= 0 or '"rma"' in tag or '"io"' in tag:
                recorded[int(index["ranks"][i]), name].append(
                    (object_names[row[0]], *row[1:], waited >= 0))
    expected = collections.defaultdict(list)
    for rank, of_rank in enumerate(calls):
        for c in of_rank:
            expected[rank, c["call"]].append(
                (c["object"], communicator_of(c["object"]), c["peer"], c["sent"], c["received"], c["request"],
                 c["error"], c["request"] >= 0))
    for key in sorted(set(expected) | set(recorded)):
        have, want = recorded[key], expected[key]
        if len(have) != len(want):
            failures.append(f"rank {key[0]}: {key[1]}: {len(have)} rows, expected {len(want)}")
        for i, (h, w) in enumerate(zip(have, want)):
            if h != w:
                failures.append(f"rank {key[0]}: {key[1]} number {i}: object, communicator, peer, sent, received, "
                                f"request, error, waited for {h}, expected {w}")


# ---- totals and matrix ----

def check_totals():
    paths = profile["scope/call_paths"][:]
    have = collections.defaultdict(lambda: (0, 0, 0))
    want = collections.defaultdict(lambda: (0, 0, 0))

    def add(to, key, *numbers):
        to[key] = tuple(a + b for a, b in zip(to[key], numbers))

    for t in profile["scope/mpi_totals"][:]:
        name, which = names[paths[t["path"]]["region"]], int(t["object"])
        if is_ours(name, which):
            key = (int(t["rank"]), name, object_names[which], int(t["communicator"]), int(t["size_class"]))
            add(have, key, int(t["calls"]), int(t["bytes_sent"]), int(t["bytes_received"]))
    for rank, of_rank in enumerate(calls):
        for c in of_rank:
            key = (rank, c["call"], c["object"], communicator_of(c["object"]),
                   max(c["sent"], c["received"]).bit_length())
            add(want, key, 1, c["sent"], c["received"])
    same("totals", have, want)


def one_sided():
    """(origin, target) -> operations, bytes put, bytes got: of operations that have a target."""
    pairs = collections.defaultdict(lambda: [0, 0, 0])
    for rank, of_rank in enumerate(calls):
        for c in of_rank:
            if c["operations"] and c["peer"] >= 0:
                pair = pairs[rank, c["peer"]]
                pair[:] = pair[0] + 1, pair[1] + c["sent"], pair[2] + c["received"]
    return {key: tuple(value) for key, value in pairs.items()}


def check_peers():
    have = {(int(p["rank"]), int(p["peer"])): tuple(int(p[k]) for k in ("rma_operations", "rma_sent", "rma_received"))
            for p in profile["scope/peers"][:] if p["rma_operations"] or p["rma_sent"] or p["rma_received"]}
    same("one-sided", have, one_sided())


# ---- what scope inspect shows ----

def inspect(*options):
    shown = subprocess.run(["scope", "inspect", "--json", *options, path], check=True, stdout=subprocess.PIPE)
    return json.loads(shown.stdout)["profiles"][0]


def check_inspect(shown):
    want = {}
    for name, (kind, comm) in objects.items():
        on_it = [c for of_rank in calls for c in of_rank if c["object"] == name]
        opens = [c for c in on_it if c["call"].startswith(("MPI_File_open", "MPI_Win_create", "MPI_Win_allocate"))]
        want[name] = (kind, comm, len(opens), sum(c["operations"] for c in on_it), sum(c["received"] for c in on_it),
                      sum(c["sent"] for c in on_it), len(on_it))
    have = {o["name"]: (o["kind"], comm_names[o["communicator"]], o["opens"], o["operations"], o["bytes_read"],
                        o["bytes_written"], o["calls"]) for o in shown["objects"]}
    same("scope inspect: object", have, want)
    have = {(m["source"], m["destination"]): (m["operations"], m["bytes_put"], m["bytes_got"])
            for m in shown["matrix"] if m["operations"] or m["bytes_put"] or m["bytes_got"]}
    same("scope inspect: one-sided", have, one_sided())


def check_by_object(shown):
    have, want = collections.Counter(), collections.Counter()
    for m in shown["mpi_by_object"]:
        if m["object"] is not None:
            have.update({(m["name"], object_names[m["object"]], k): m[k]
                         for k in ("calls", "bytes_sent", "bytes_received")})
    for of_rank in calls:
        for c in of_rank:
            if c["object"] is not None:
                want.update({(c["call"], c["object"], k): v for k, v in (
                    ("calls", 1), ("bytes_sent", c["sent"]), ("bytes_received", c["received"]))})
    same("scope inspect: by object", have, want)


if has_rows:
    check_rows()
check_totals()
check_peers()
everything = inspect()
check_inspect(everything)
check_inspect(inspect("--files", "--matrix"))
check_by_object(everything)
check_by_object(inspect("--by", "object"))

for line in failures[:20]:
    print(line)
print(f"{sum(map(len, calls))} calls on {len(objects)} files and windows, {len(failures)} failures")
sys.exit(1 if failures else 0)
