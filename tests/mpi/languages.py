# SPDX-License-Identifier: BSD-3-Clause
"""What languages.c does, call by call, with mpi4py."""
from array import array
import sys

import mpi4py

mpi4py.rc.threads = False  # MPI_Init, as in the others
from mpi4py import MPI

N, SIZE = 16, 1024
INT, NULL = MPI.INT, MPI.DATATYPE_NULL
world = MPI.COMM_WORLD
me, ranks = world.Get_rank(), world.Get_size()
left, right = (me + ranks - 1) % ranks, (me + 1) % ranks
a, b = array("i", [0] * SIZE), array("i", [0] * SIZE)
zeros = array("i", [0] * SIZE)


def fill(base):
    a[:] = array("i", range(base + 1000 * me, base + 1000 * me + SIZE))
    b[:] = zeros


def say(what):
    total = 0
    for i, value in enumerate(b):
        total = (total * 7 + value + i) % 1000003
    sys.stdout.write(f"{what} {me} {total}\n")
    b[:] = zeros


def at(buffer, first, count=N):
    return [memoryview(buffer)[first:], count, INT]


def messages(c):
    s = MPI.Status()
    for i in range(4):
        fill(i)
        r = c.Irecv([b, N + i, INT], left, i)
        c.Barrier()
        if i == 1:
            MPI.Attach_buffer(bytearray(8192))
        send = (c.Send, c.Bsend, c.Ssend, c.Rsend)[i]
        send([a, N + i, INT], right, i)
        r.Wait(s)
        b[999] = s.Get_count(INT) + s.Get_source() + s.Get_tag()
        say("mode")
    MPI.Detach_buffer()
    r = c.Isend([a, N, INT], right, 5)
    c.Recv([b, 2 * N, INT], MPI.ANY_SOURCE, MPI.ANY_TAG, s)
    r.Wait()
    b[999] = s.Get_source()
    say("any")
    r = c.Isend([a, N, INT], right, 6)
    c.Recv([b, 2 * N, INT], s.Get_source(), 6, s)
    r.Wait(s)
    r = c.Isend([a, N, INT], right, 7)
    c.Recv([b, 2 * N, INT], left, 7)
    r.Wait()
    say("ignored")
    c.Sendrecv([a, N, INT], right, 8, [b, N, INT], left, 8, s)
    b[999] = s.Get_source()
    say("sendrecv")
    c.Sendrecv([a, 3, INT], right, 9, [b, N, INT], left, 9)
    c.Sendrecv_replace([a, N, INT], right, 8, left, 8, s)
    b[:N] = a[:N]
    say("replace")
    c.Send([a, N, INT], MPI.PROC_NULL, 0)
    c.Recv([b, N, INT], MPI.PROC_NULL, 0, s)


def start(c, how_many):
    fill(how_many)
    r = [MPI.REQUEST_NULL] * 6
    for i in range(1, how_many + 1):
        r[i - 1] = c.Irecv(at(b, 100 * i), left, i)
    for i in range(1, how_many + 1):
        r[i + 2] = c.Isend(at(a, i - 1), right, i)
    return [MPI.Request(x) if x == MPI.REQUEST_NULL else x for x in r]


def waits(c):
    s, statuses = MPI.Status(), [MPI.Status() for _ in range(6)]
    MPI.Request.Waitall(start(c, 3), statuses)
    say("waitall")
    MPI.Request.Waitall(start(c, 3))
    say("waitall ignored")
    r, found = start(c, 3), 0
    for i in range(1, 7):
        which = MPI.Request.Waitany(r, s if i % 2 == 0 else None)
        found += (which + 1) ** 2
    MPI.Request.Waitany(r, s)
    say("waitany")
    b[0] = found
    say("index any")
    r = start(c, 1)
    r[3].Wait(s)
    indices = MPI.Request.Waitsome(r, statuses)
    b[999] = len(indices)
    say("waitsome")
    b[0] = indices[0] + 1
    say("index some")
    r = start(c, 1)
    r[3].Wait(s)
    MPI.Request.Waitsome(r)
    say("waitsome ignored")


def tests(c):
    s, statuses = MPI.Status(), [MPI.Status() for _ in range(6)]
    r, flag = start(c, 1), False
    r[3].Wait(s)
    while not flag:
        which, flag = MPI.Request.Testany(r, s)
    b[999] = s.Get_source()
    MPI.Request.Testany(r)
    say("testany")
    b[0] = which + 1
    say("index testany")
    r, indices = start(c, 1), []
    r[3].Wait(s)
    while not indices:
        indices = MPI.Request.Testsome(r)
    say("testsome")
    b[0] = indices[0] + 1
    say("index testsome")
    r = start(c, 2)
    while not MPI.Request.Testall(r, statuses):
        pass
    say("testall")
    r = start(c, 1)
    for i in (0, 3):
        while not r[i].Test():
            pass
    say("test")


def persistent(c):
    fill(7)
    r = [c.Recv_init([b, N, INT], left, 1), c.Recv_init(at(b, 100), left, 2),
         c.Send_init([a, N, INT], right, 1), c.Ssend_init(at(a, 4, N - 1), right, 2)]
    for _ in range(3):
        MPI.Prequest.Startall(r)
        MPI.Request.Waitall(r)
    r[0].Start()
    r[2].Start()
    r[2].Wait()
    r[0].Wait()
    for one in r:
        one.Free()
    say("persistent")


def probes(c):
    s = MPI.Status()
    fill(9)
    r = c.Isend([a, N, INT], right, 1)
    c.Probe(MPI.ANY_SOURCE, 1, s)
    c.Recv([b, N, INT], s.Get_source(), s.Get_tag(), s)
    r.Wait()
    r = c.Isend([a, N, INT], right, 2)
    while not c.Iprobe(left, MPI.ANY_TAG):
        pass
    c.Recv(at(b, 100), left, 2)
    r.Wait()
    r = c.Isend([a, N, INT], right, 3)
    c.Mprobe(left, 3, s).Recv(at(b, 200), s)
    r.Wait()
    r = c.Isend([a, N, INT], right, 4)
    m = None
    while m is None:
        m = c.Improbe(left, 4)
    MPI.Request.Waitall([r, m.Irecv(at(b, 300))])
    say("probes")


counts = [1 + i % 3 for i in range(ranks)]
displs = [sum(counts[:i]) for i in range(ranks)]


def wait(request):
    request.Wait()


def collectives(c):
    fill(20)
    types, mine, wide = [INT] * ranks, [counts[me]] * ranks, [3 * d for d in displs]
    as_bytes = [4 * d for d in wide]
    b[:N] = a[:N]
    c.Bcast([b, N, INT], 0)
    say("bcast")
    c.Gather([a, N, INT], [b, N, INT], ranks - 1)
    say("gather")
    c.Gatherv([a, mine[0], INT], [b, counts, displs, INT], 0)
    say("gatherv")
    c.Scatter([a, N, INT], [b, N, INT], 0)
    say("scatter")
    c.Scatterv([a, counts, displs, INT], [b, mine[0], INT], 0)
    say("scatterv")
    c.Allgather([a, N, INT], [b, N, INT])
    say("allgather")
    c.Allgatherv([a, mine[0], INT], [b, counts, displs, INT])
    say("allgatherv")
    c.Alltoall([a, 3, INT], [b, 3, INT])
    say("alltoall")
    c.Alltoallv([a, counts, wide, INT], [b, mine, wide, INT])
    say("alltoallv")
    c.Alltoallw([a, counts, as_bytes, types], [b, mine, as_bytes, types])
    say("alltoallw")
    c.Reduce([a, N, INT], [b, N, INT], MPI.SUM, 0)
    say("reduce")
    c.Allreduce([a, N, INT], [b, N, INT], MPI.MAX)
    say("allreduce")
    c.Reduce_scatter([a, sum(counts), INT], [b, counts[me], INT], counts, MPI.SUM)
    say("reduce_scatter")
    c.Reduce_scatter_block([a, 2, INT], [b, 2, INT], MPI.SUM)
    say("reduce_scatter_block")
    c.Scan([a, N, INT], [b, N, INT], MPI.SUM)
    say("scan")
    c.Exscan([a, N, INT], [b, N, INT], MPI.SUM)
    if me == 0:
        b[:] = zeros
    say("exscan")
    wait(c.Ialltoallw([a, counts, as_bytes, types], [b, mine, as_bytes, types]))
    say("ialltoallw")
    wait(c.Ibarrier())
    wait(c.Ireduce([a, N, INT], [b, N, INT], MPI.SUM, ranks - 1))
    say("ireduce")


def in_place_rooted(c):
    b[:N] = a[:N]
    if me == 0:
        c.Reduce(MPI.IN_PLACE, [b, N, INT], MPI.SUM, 0)
        say("reduce in place")
        b[:N] = a[:N]
        c.Gather(MPI.IN_PLACE, [b, N, INT], 0)
        say("gather in place")
        c.Scatter([a, N, INT], MPI.IN_PLACE, 0)
    else:
        c.Reduce([a, N, INT], [b, N, INT], MPI.SUM, 0)
        b[:] = zeros
        c.Gather([a, N, INT], None, 0)
        c.Scatter(None, [b, N, INT], 0)
        say("scatter in place")


def in_place(c):
    fill(40)
    b[N * me:N * me + N] = a[:N]
    c.Allgather(MPI.IN_PLACE, [b, N, INT])
    say("allgather in place")
    b[displs[me]:displs[me] + counts[me]] = a[:counts[me]]
    c.Allgatherv(MPI.IN_PLACE, [b, counts, displs, INT])
    say("allgatherv in place")
    b[:N] = a[:N]
    c.Allreduce(MPI.IN_PLACE, [b, N, INT], MPI.SUM)
    say("allreduce in place")
    in_place_rooted(c)
    b[:3 * ranks] = a[:3 * ranks]
    c.Alltoall(MPI.IN_PLACE, [b, 3, INT])
    say("alltoall in place")
    same, wide = [2] * ranks, [2 * d for d in displs]
    b[:6 * ranks] = a[:6 * ranks]
    c.Alltoallv(MPI.IN_PLACE, [b, same, wide, INT])
    say("alltoallv in place")
    b[:6 * ranks] = a[:6 * ranks]
    c.Alltoallw(MPI.IN_PLACE, [b, same, [4 * d for d in wide], [INT] * ranks])
    say("alltoallw in place")
    b[:N] = a[:N]
    wait(c.Iallreduce(MPI.IN_PLACE, [b, N, INT], MPI.SUM))
    say("iallreduce in place")
    b[N * me:N * me + N] = a[:N]
    wait(c.Iallgather(MPI.IN_PLACE, [b, N, INT]))
    say("iallgather in place")


def types(c):
    s, packed = MPI.Status(), bytearray(1024)
    fill(60)
    columns = INT.Create_vector(4, 2, 5).Commit()
    c.Sendrecv([a, 2, columns], right, 1, [b, 2, columns], left, 1, s)
    say("vector")
    columns.Free()
    address = [MPI.Get_address(memoryview(b)[i:]) for i in (10, 30)]
    places = MPI.Datatype.Create_struct([3, 4], address, [INT, INT]).Commit()
    b[10:34] = a[10:34]
    c.Bcast([MPI.BOTTOM, 1, places], 0)
    say("bottom")
    places.Free()
    INT.Pack_size(N, c)
    position = INT.Pack(memoryview(a)[:N], packed, 0, c)
    position = INT.Pack(memoryview(a)[100:102], packed, position, c)
    b[999] = position
    c.Sendrecv_replace([packed, position, MPI.PACKED], right, 1, left, 1, s)
    INT.Unpack(packed, 0, memoryview(b)[:N + 2], c)
    say("packed")


def halves(c):
    half = c.Split(me % 2, me)
    half.Set_name("half of it")
    half.Allreduce([a, N, INT], [b, N, INT], MPI.SUM)
    say("half")
    if ranks > 1:
        between = half.Create_intercomm(0, c, 1 - me % 2, 5)
        between.Allreduce([a, N, INT], [b, N, INT], MPI.SUM)
        b[999] = 1 if between.Is_inter() else 0
        say("between")
        both = between.Merge(me == 1)
        both.Bcast([b, N, INT], 0)
        both.Free()
        between.Disconnect()
    half.Free()


def communicators(c):
    fill(80)
    grid = c.Create_cart(MPI.Compute_dims(ranks, 1), [True], False)
    source, to = grid.Shift(0, 1)
    grid.Neighbor_allgather([a, N, INT], [b, N, INT])
    b[999] = source + to
    say("grid")
    everyone = grid.Get_group()
    copy = c.Create(everyone)
    everyone.Free()
    copy.Allreduce([a, N, INT], [b, N, INT], MPI.SUM)
    copy.Free()
    copy, r = grid.Idup()
    r.Wait()
    copy.Barrier()
    copy.Free()
    say("copies")
    halves(c)
    copy = grid.Split(0, -me)
    b[0] = me
    copy.Bcast([b, 1, INT], 0)
    say("reversed")
    copy.Free()


def windows(c):
    fill(100)
    fetched = array("i", [0] * N)
    w = MPI.Win.Create(b, 4, MPI.INFO_NULL, c)
    w.Set_name("shared numbers")
    w.Fence(0)
    w.Put([a, N, INT], right, [0, N, INT])
    w.Accumulate([a, N, INT], 0, [100, N, INT], MPI.SUM)
    w.Fence(0)
    w.Get([fetched, N, INT], right, [0, N, INT])
    w.Fence(0)
    w.Lock(left, MPI.LOCK_EXCLUSIVE, 0)
    w.Rput([a, 2, INT], left, [200, 2, INT]).Wait()
    w.Unlock(left)
    w.Lock_all(0)
    w.Fetch_and_op([a, 1, INT], at(fetched, 1, 1), left, 300, MPI.REPLACE)
    w.Flush(left)
    w.Unlock_all()
    c.Barrier()
    w.Free()
    b[400:400 + N] = fetched
    say("window")


def files(c):
    s, name = MPI.Status(), "languages.data"
    fill(120)
    f = MPI.File.Open(c, name, MPI.MODE_CREATE | MPI.MODE_RDWR)
    f.Set_view(0, INT, INT, "native")
    f.Write_at_all(N * me, [a, N, INT], s)
    length = s.Get_count(INT)
    f.Sync()
    c.Barrier()
    f.Read_at_all(N * right, [b, N, INT])
    f.Seek(N * right, MPI.SEEK_SET)
    f.Read(at(b, 100, 3), s)
    f.Iwrite_at(N * (ranks + me), [a, 5, INT]).Wait(s)
    c.Barrier()
    b[999] = length + f.Get_size()
    f.Close()
    c.Barrier()
    if me == 0:
        MPI.File.Delete(name)
    say("file")


def failures(c):
    c.Set_errhandler(MPI.ERRORS_RETURN)
    try:
        c.Send([a, 1, INT], ranks + 5, 0)
    except MPI.Exception as error:
        b[0] = error.Get_error_class() == MPI.ERR_RANK
    say("failed")


def spell(text, first):
    b[first:first + len(text)] = array("i", map(ord, text))


def texts(c):
    i = MPI.Info.Create()
    i.Set("first key", "alpha beta")
    i.Set("second", "gamma")
    spell(i.Get("second"), 0)
    spell(i.Get("first key"), 100)
    i.Free()
    name = c.Get_name()
    spell(name, 200 + len(name))
    b[999] = c.Get_attr(MPI.TAG_UB) >= 32767
    say("texts")


ring = world.Dup()
ring.Set_name("the ring")
for part in (messages, waits, tests, persistent, probes, collectives, in_place, types,
             communicators, windows, files, failures, texts):
    part(ring)
MPI.Pcontrol(0)
ring.Barrier()
MPI.Pcontrol(1)
ring.Barrier()
ring.Free()
