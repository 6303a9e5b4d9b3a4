# SPDX-License-Identifier: BSD-3-Clause
"""languages_same.py REFERENCE PROFILE MODULE [common]: the same program in two languages left the
same profile: per rank and routine calls, bytes, and each call in order with its communicator, file
or window, peer, tag, bytes, request and error; messages and bytes per pair of ranks. Every call came
from the module of that name. common: routines that both have called, but for those that mpi4py calls for itself, and
some calls may come from elsewhere."""
import collections
import os
import sys

import h5py

# How often a program polls is chance; how many rows that leaves is not.
POLLS = ("MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome", "MPI_Iprobe", "MPI_Improbe")
OF_MPI4PY = ("MPI_Comm_rank", "MPI_Comm_size", "MPI_Comm_test_inter", "MPI_Comm_set_errhandler")
NONE = 2**64 - 1
failures = []


def text(value):
    return value.decode() if isinstance(value, bytes) else value


def column(group, name, rows):
    return group[name][:] if name in group else [-1] * rows


class Profile:
    def __init__(self, path):
        file = h5py.File(path, "r")
        self.scope = file["scope"]
        self.index = file["rank_region_index"]
        self.regions = [text(n) for n in file["region_table/names"][:]]
        self.comms = [text(n) for n in self.scope["communicator_names"][:]]
        self.objects = [text(n) for n in self.scope["object_names"][:]]
        self.modules = [os.path.basename(text(n)) for n in self.scope["module_names"][:]]
        self.totals = self.read_totals()
        self.calls = self.read_calls()
        fields = [n for n in self.scope["peers"].dtype.names if n not in ("rank", "peer")]
        self.peers = {(int(p["rank"]), int(p["peer"])): [int(p[f]) for f in fields]
                      for p in self.scope["peers"][:]}

    def read_totals(self):
        paths = self.scope["call_paths"][:]
        totals = collections.defaultdict(lambda: [0, 0, 0])
        for t in self.scope["mpi_totals"][:]:
            name = self.regions[paths[t["path"]]["region"]]
            entry = totals[int(t["rank"]), name]
            if name not in POLLS:
                entry[0] += int(t["calls"])
            entry[1] += int(t["bytes_sent"])
            entry[2] += int(t["bytes_received"])
        return totals

    def read_calls(self):
        mpi, index = self.scope["mpi"], self.index
        rows = len(mpi["bytes_sent"])
        columns = [column(mpi, n, rows) for n in ("communicators", "objects", "peers", "tags",
                                                 "bytes_sent", "bytes_received", "errors", "requests")]
        columns[6] = [error != 0 for error in columns[6]]  # MPICH makes up a code for each
        self.sites = column(mpi, "sites", rows)
        calls = {}
        for rank, region, count, first in zip(index["ranks"][:], index["region_ids"][:],
                                              index["event_counts"][:], mpi["offsets"][:]):
            if int(first) == NONE:
                continue
            calls[int(rank), self.regions[region]] = [
                (self.name(self.comms, comm), self.name(self.objects, thing), *map(int, rest))
                for comm, thing, *rest in zip(*(c[first:first + count] for c in columns))]
        return calls

    @staticmethod
    def name(names, number):
        return names[number] if number >= 0 else None


def compare(what, wanted, got):
    if wanted != got:
        failures.append(f"{what}: {got}, expected {wanted}")


def compare_calls(key, wanted, got, fields):
    compare(f"rank {key[0]} {key[1]}: rows", len(wanted), len(got))
    for i, (one, other) in enumerate(zip(wanted, got)):
        compare(f"rank {key[0]} {key[1]}, call {i}", one[:fields], other[:fields])


def main(reference, path, module, *options):
    wanted, got = Profile(reference), Profile(path)
    unite = set.intersection if options else set.union
    keys = sorted(unite(set(wanted.totals), set(got.totals)))
    if options:
        keys = [key for key in keys if key[1] not in OF_MPI4PY]
    for key in keys:
        compare(f"rank {key[0]} {key[1]}: calls, sent, received", wanted.totals.get(key),
                got.totals.get(key))
        compare_calls(key, wanted.calls.get(key, []), got.calls.get(key, []), 7 if options else 8)
    compare("communication matrix", wanted.peers, got.peers)
    sites = got.scope["sites"][:]
    used = {got.modules[sites[s]["module"]] if s >= 0 else "none" for s in set(map(int, got.sites))}
    compare("modules that called", {module}, used & {module} if options else used)
    print(f"{len(keys)} routines of {len(wanted.totals)} and {len(got.totals)} compared,"
          f" {sum(map(len, got.calls.values()))} calls")
    for line in failures[:20]:
        print(line)
    return 1 if failures else 0


sys.exit(main(*sys.argv[1:]))
