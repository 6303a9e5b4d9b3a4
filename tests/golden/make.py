#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""make.py FOLDER: the profiles that tests/cli reads besides those the library wrote.

Written with h5py and the names of src/layout.h, so that reader and writer are not tested against each other
alone. Needed only to remake the files (they are in the repository): a new version of the format gets files of
new names, the old ones stay.
"""
import os
import re
import sys

import h5py
import numpy as np

S = h5py.string_dtype("utf-8")
LAYOUT = open(os.path.join(os.path.dirname(__file__), "../../src/layout.h")).read()
NO_OFFSET = 2**64 - 1


def row_type(name):
    """The compound that SC_ROW_<name> of layout.h lists."""
    body = re.search(r"#define SC_ROW_%s\(FIELD\)(.*?)\n\n" % name, LAYOUT, re.S).group(1)
    kinds = {"INT32": "i4", "UINT32": "u4", "INT64": "i8", "UINT64": "u8", "DOUBLE": "f8"}
    return np.dtype([(n, kinds[h]) for h, n in re.findall(r"FIELD\(\w+, (\w+), (\w+)\)", body)])


def rows(name, dicts):
    out = np.zeros(len(dicts), row_type(name))
    for i, d in enumerate(dicts):
        for k, v in d.items():
            out[i][k] = v
    return out


def totals_v1(dicts):
    """/scope/mpi_totals before it said objects, sites and requests."""
    t = row_type("MPI_TOTAL")
    new = {"object", "site", "await", "in_flight"}
    out = np.zeros(len(dicts), np.dtype([(n, t[n]) for n in t.names if n not in new]))
    for i, d in enumerate(dicts):
        for k, v in d.items():
            out[i][k] = v
    return out


def texts(f, name, values):
    f.create_dataset(name, data=[v.encode("utf-8", "surrogateescape") for v in values], dtype=S)


def core(f, names, slices, metadata, schema=3):
    """slices: list of (rank, region, [(start, duration)], tags)."""
    f.attrs["scope_profiler_schema"] = np.int64(schema)
    f.attrs["storage_layout"] = "columnar"
    m = f.create_group("metadata")
    for k, v in metadata.items():
        if isinstance(v, list):
            m.attrs.create(k, data=v, dtype=S)
        else:
            m.attrs[k] = v
    texts(f, "region_table/names", names)
    starts, durations, offsets, counts, summary = [], [], [], [], []
    for _, _, events, _ in slices:
        offsets.append(len(starts))
        counts.append(len(events))
        s = [e[0] for e in events]
        d = [e[1] for e in events]
        starts += [s[0]] + list(np.diff(s))
        durations += d
        mean = float(np.mean(d))
        summary.append(dict(total=sum(d), minimum=min(d), maximum=max(d), first=d[0], last=d[-1], start_minimum=min(s),
                            end_maximum=max(e[0] + e[1] for e in events), mean=mean,
                            m2=float(sum((x - mean) ** 2 for x in d))))
    i = "rank_region_index/"
    f[i + "region_ids"] = np.array([s[1] for s in slices], "u4")
    f[i + "ranks"] = np.array([s[0] for s in slices], "u4")
    f[i + "event_offsets"] = np.array(offsets, "u8")
    f[i + "event_counts"] = np.array(counts, "u8")
    texts(f, i + "source_files", ["heat.c" if "mpi" not in s[3] else "" for s in slices])
    texts(f, i + "source_texts", [""] * len(slices))
    f[i + "source_lines"] = np.array([10 + s[1] if "mpi" not in s[3] else -1 for s in slices], "i8")
    texts(f, i + "tags", [s[3] for s in slices])
    texts(f, i + "event_metadata", ["[]"] * len(slices))
    f[i + "exclusive_totals"] = np.array([-1] * len(slices), "i8")
    f[i + "summary_statistics"] = rows("SUMMARY", summary)
    f["events/start_deltas"] = np.array(starts, "i8")
    f["events/durations"] = np.array(durations, "i8")


def regular(start, step, duration, n):
    return [(start + k * step, duration) for k in range(n)]


def build(ranks):
    """Names, paths and per rank what each path did: [(path, [(start, duration)])]."""
    names = ["main", "read input", "solve", "step", "MPI_Allreduce", "MPI_Isend", "MPI_Waitall",
             'odd "name",\nof/two\tlines', "na\u00efve \U0001d4dc", "bad \udcff\udcfe bytes"]
    paths = [(-1, 0), (0, 1), (0, 2), (2, 3), (3, 5), (3, 6), (2, 4), (0, 7), (7, 8), (0, 9)]
    ms = 10**6
    t0 = 5_000_000_000
    work = []
    for r in range(ranks):
        slow = 1 + 0.1 * r
        p = [(0, [(t0 + r * 1000, 900 * ms)]),
             (1, [(t0 + 2 * ms, (20 + r) * ms)]),
             (2, [(t0 + 50 * ms, 700 * ms)]),
             (3, regular(t0 + 51 * ms, 60 * ms, int(50 * ms * slow), 10)),
             (4, regular(t0 + 52 * ms, 60 * ms, 1500 + 10 * r, 10)),
             (5, regular(t0 + 53 * ms, 60 * ms, 2 * ms, 10)),
             (6, regular(t0 + 112 * ms, 60 * ms, int((20 - 4 * r) * 0.1 * ms) + 7, 10)),
             (9, [(t0 + 890 * ms, 345)])]
        if r == 1:
            p += [(7, [(t0 + 800 * ms, 10 * ms)]), (8, [(t0 + 801 * ms, 2 * ms + 345)])]
        work.append(p)
    return names, paths, work


MPI = {4: (8000, 0), 5: (0, 8000), 6: (8, 8)}  # path: bytes sent, received per call


def ours(f, paths, work, slices, nodes):
    ranks = len(work)
    s = f.create_group("scope")
    s.attrs["version"] = np.int64(1)
    calls = [sum(len(ev) for p, ev in w if p in MPI) for w in work]
    mpi_ns = [sum(d for p, ev in w if p in MPI for _, d in ev) for w in work]
    s["ranks"] = rows("RANK", [dict(
        node=r * nodes // ranks, thread_level=1, pid=1000 + r, pu=r, core=r, package=0, numa_node=0,
        start_ns=5_000_000_000, end_ns=5_950_000_000, clock_offset_ns=0, mpi_ns=mpi_ns[r], mpi_main_ns=mpi_ns[r],
        events=sum(len(ev) for p, ev in work[r] if p not in MPI), mpi_events=calls[r], mpi_calls=calls[r], threads=1,
        unmatched=1 if r == 2 else 0, memory_bytes=1 << 20, own_event_ns=20_000, own_mpi_ns=3_000, own_memory_ns=100_000)
        for r in range(ranks)])
    texts(f, "scope/rank_bindings", ["%d-%d" % (2 * (r % 2), 2 * (r % 2) + 1) for r in range(ranks)])
    s["nodes"] = rows("NODE", [dict(ranks=ranks // nodes, topology=0)] * nodes)
    texts(f, "scope/node_names", ["node%02d" % n for n in range(nodes)])
    xml = b'<?xml version="1.0"?>\n<topology version="2.0"></topology>\n'
    s["topologies"] = rows("TOPOLOGY", [dict(xml_offset=0, xml_length=len(xml), packages=1, numa_nodes=1, cores=2, pus=4)])
    s.create_dataset("topology_xml", data=np.frombuffer(xml, "u1"), compression="gzip")
    texts(f, "scope/likwid", ['{"cpu_name":"Intel Cascadelake SP processor","sockets":1}'])
    s["communicators"] = rows("COMM", [dict(parent=-1, size=ranks, first_run=0, runs=1),
                                       dict(parent=0, size=ranks // 2, first_run=1, runs=1)])
    texts(f, "scope/communicator_names", ["MPI_COMM_WORLD", "rows"])
    s["communicator_members"] = rows("RUN", [dict(first=0, stride=1, count=ranks),
                                             dict(first=0, stride=2, count=ranks // 2)])
    s["call_paths"] = rows("PATH", [dict(parent=p, region=g) for p, g in paths])
    children = {i: [k for k, (p, _) in enumerate(paths) if p == i] for i in range(len(paths))}
    stats, totals = [], []
    for r, w in enumerate(work):
        total = {p: sum(d for _, d in ev) for p, ev in w}
        for p, ev in w:
            d = [e[1] for e in ev]
            stats.append(dict(rank=r, path=p, calls=len(d), total=sum(d), minimum=min(d), maximum=max(d),
                              exclusive=sum(d) - sum(total.get(c, 0) for c in children[p])))
            if p in MPI:
                sent, received = MPI[p]
                totals.append(dict(rank=r, path=p, communicator=1 if p == 6 and r % 2 == 0 else 0,
                                   size_class=max(sent, received).bit_length(), calls=len(d),
                                   bytes_sent=sent * len(d), bytes_received=received * len(d), total=sum(d),
                                   minimum=min(d), maximum=max(d)))
    s["call_path_stats"] = rows("PATH_STATS", stats)
    s["mpi_totals"] = totals_v1(totals)
    offsets, n = [], 0
    sent, received, comms = [], [], []
    back = {g: p for p, (_, g) in enumerate(paths)}
    for rank, region, events, _ in slices:
        p = back[region]
        offsets.append(n if p in MPI else NO_OFFSET)
        if p in MPI:
            n += len(events)
            sent += [MPI[p][0]] * len(events)
            received += [MPI[p][1]] * len(events)
            comms += [1 if p == 6 and rank % 2 == 0 else 0] * len(events)
    s["mpi/offsets"] = np.array(offsets, "u8")
    s["mpi/communicators"] = np.array(comms, "i4")
    s["mpi/roots"] = np.array([-1] * n, "i4")
    s["mpi/bytes_sent"] = np.array(sent, "u8")
    s["mpi/bytes_received"] = np.array(received, "u8")


MPI_V2 = {10: (0, 0), 11: (4096, 0), 12: (800, 0)}  # opens and writes a file, puts into a window
COUNTED = 13  # a path whose calls have no rows


def build_v2(ranks):
    """What version 2 has more: a file, a window, calls that are only counted."""
    names, paths, work = build(ranks)
    names += ["MPI_File_open", "MPI_File_iwrite_at", "MPI_Put", "MPI_Comm_rank"]
    paths += [(0, 10), (0, 11), (2, 12), (0, 13)]
    ms = 10**6
    t0 = 5_000_000_000
    for w in work:
        w += [(10, [(t0 + 810 * ms, 3 * ms)]), (11, regular(t0 + 820 * ms, 2 * ms, ms, 4)),
              (12, regular(t0 + 113 * ms, 60 * ms, 5000, 2))]
    return names, paths, work


def more_v2(f, ranks):
    """Makes version 2 of what ours() wrote: the matrix, objects, call sites and requests."""
    s = f["scope"]
    s.attrs["version"] = np.int64(2)
    del s["mpi/roots"]
    old = s["mpi_totals"][:]
    #       path: communicator, object, site, await, in_flight
    more = {4: (0, -1, 0, 2_000_000, 8_000_000), 5: (0, -1, 1, 0, 0), 6: (None, -1, 2, 0, 0), 10: (0, 0, 3, 0, 0),
            11: (0, 0, 3, 500_000, 1_000_000), 12: (1, 1, 4, 0, 0)}
    totals = []
    for row in old:
        comm, thing, site, wait, flight = more[row["path"]]
        d = {n: row[n] for n in old.dtype.names}
        d.update({"object": thing, "site": site, "await": wait, "in_flight": flight})
        if comm is not None:
            d["communicator"] = comm
        totals.append(d)
    # Bytes of calls that are counted in another row, and calls without bytes, communicator and site.
    totals.append(dict(rank=0, path=5, communicator=1, size_class=7, calls=0, bytes_received=100, object=-1, site=1))
    for r in range(ranks):
        totals.append(dict(rank=r, path=COUNTED, communicator=-1, size_class=0, calls=1000, total=20_000, minimum=15,
                           maximum=300, object=-1, site=-1))
    del s["mpi_totals"]
    s["mpi_totals"] = rows("MPI_TOTAL", totals)
    r = s["ranks"][:]
    r["mpi_calls"] += 1000
    s["ranks"][:] = r
    peers = []
    for r in range(ranks):
        row = {}
        for peer, what in (((r + 1) % ranks, dict(sent_messages=10, sent_bytes=80_000)),
                           ((r - 1) % ranks, dict(received_messages=10, received_bytes=80_000)),
                           ((r + 2) % ranks, dict(rma_operations=2, rma_sent=1600))):
            row.setdefault(peer, dict(rank=r, peer=peer)).update(what)
        if r == 1:  # never received
            row[0].update(sent_messages=1, sent_bytes=8)
        if r == 0:  # from another world
            row[-1] = dict(rank=0, peer=-1, received_messages=2, received_bytes=16)
        peers += [row[p] for p in sorted(row)]
    s["peers"] = rows("PEER", peers)
    s["objects"] = rows("OBJECT", [dict(kind=1, communicator=0), dict(kind=2, communicator=1)])
    texts(f, "scope/object_names", ["/nowhere/out.dat", "halo, old"])
    texts(f, "scope/module_names", ["/nowhere/heat", "libother.so.1"])
    texts(f, "scope/module_build_ids", ["00c0ffee", ""])
    s["sites"] = rows("SITE", [dict(module=0, offset=0x1234), dict(module=0, offset=0x1250), dict(module=0, offset=0x1300),
                               dict(module=1, offset=0x40), dict(module=-1, offset=0x7F0012345678)])
    columns_v2(f, ranks, {path: m[1:3] for path, m in more.items()})


def columns_v2(f, ranks, places):
    """What each call says; places: object and site by path."""
    s, index = f["scope"], f["rank_region_index"]
    back = {region: path for path, region in enumerate(s["call_paths"]["region"])}
    columns = {"peers": "i4", "tags": "i4", "objects": "i4", "sites": "i4", "errors": "i4", "requests": "i8"}
    calls = {name: [] for name in columns}
    awaits = []
    for rank, region, count in zip(index["ranks"][:], index["region_ids"][:], index["event_counts"][:]):
        path = back[region]
        sends, puts, opens = (path == p for p in (4, 12, 10))
        awaits += [200_000 if sends else -1] * int(count)
        for k in range(int(count) if path in places else 0):
            calls["peers"].append((rank + 1) % ranks if sends else (rank + 2) % ranks if puts else -1)
            calls["tags"].append(7 if sends else -1)
            calls["objects"].append(places[path][0])
            calls["sites"].append(places[path][1])
            calls["errors"].append(20 if opens and rank == 3 else 0)
            calls["requests"].append(10 * rank + k if sends else -1)
    for name, kind in columns.items():
        s["mpi/" + name] = np.array(calls[name], kind)
    f["events/await_ns"] = np.array(awaits, "i8")


def write_v2(f, metadata):
    names, paths, work = build_v2(4)
    MPI.update(MPI_V2)
    slices = [(r, paths[p][1], ev, '["mpi"]' if p in MPI else "[]")
              for r, w in enumerate(work) for p, ev in sorted(w, key=lambda x: paths[x[0]][1])]
    core(f, names, slices, metadata)
    ours(f, paths, work, slices, 2)
    more_v2(f, 4)


def main(folder):
    names, paths, work = build(4)
    slices = [(r, paths[p][1], ev, '["mpi","collective"]' if p == 6 else '["mpi","p2p"]' if p in MPI else "[]")
              for r, w in enumerate(work) for p, ev in sorted(w, key=lambda x: paths[x[0]][1])]
    metadata = {"label": "bench \u00b5", "command": "./heat 100", "start_time_ns": np.int64(5_000_000_000),
                "timestamp": "2026-11-30T12:00:00+00:00", "mpi_library": "Open MPI v4.1.4, package: Debian",
                "total_cores": np.int64(4), "load": 0.25, "modules": ["gcc/12", "openmpi/4.1"], "empty_list": []}
    with h5py.File(os.path.join(folder, "synthetic-v1.h5"), "w") as f:
        core(f, names, slices, metadata)
        ours(f, paths, work, slices, 2)
    with h5py.File(os.path.join(folder, "synthetic-v2.h5"), "w") as f:
        write_v2(f, metadata)
    with h5py.File(os.path.join(folder, "core-only.h5"), "w") as f:
        core(f, names, slices, {"label": "python run"})
    for name, schema in (("newer.h5", 4), ("older.h5", 2)):
        with h5py.File(os.path.join(folder, name), "w") as f:
            f.attrs["scope_profiler_schema"] = np.int64(schema)
    with h5py.File(os.path.join(folder, "newer-scope.h5"), "w") as f:
        core(f, ["a"], [(0, 0, [(1, 2)], "[]")], {})
        f.create_group("scope").attrs["version"] = np.int64(3)
    with h5py.File(os.path.join(folder, "foreign.h5"), "w") as f:
        f["temperature"] = np.zeros(10)
    with h5py.File(os.path.join(folder, "overlap.h5"), "w") as f:
        core(f, ["a"], [(0, 0, [(1, 2), (5, 6)], "[]"), (1, 0, [(1, 2)], "[]")], {})
        f["rank_region_index/event_offsets"][:] = [1, 1]
        f["rank_region_index/event_counts"][:] = [2, 1]
    with h5py.File(os.path.join(folder, "empty-run.h5"), "w") as f:
        core(f, ["a"], [(0, 0, [(1, 2)], "[]")], {})
        for name in list(f["rank_region_index"]):
            kind = f["rank_region_index/" + name].dtype
            del f["rank_region_index/" + name]
            f.create_dataset("rank_region_index/" + name, (0,), dtype=kind)
        for name in ("events/start_deltas", "events/durations"):
            del f[name]
            f.create_dataset(name, (0,), dtype="i8")
        del f["region_table/names"]
        f.create_dataset("region_table/names", (0,), dtype=S)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__)))
