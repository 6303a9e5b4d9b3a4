! SPDX-License-Identifier: BSD-3-Clause
!
! What languages.c does, in Fortran: with mpif.h (MPIFH), the module mpi (USEMPI) or mpi_f08 (F08),
! there without ierror wherever it need not be looked at. Indices of requests are said in lines of
! their own: MPICH 4.0 has those of C in mpi_f08.

#ifdef F08
#define COMM type(MPI_Comm)
#define DATATYPE type(MPI_Datatype)
#define GROUP type(MPI_Group)
#define MESSAGE type(MPI_Message)
#define REQUEST type(MPI_Request)
#define WIN type(MPI_Win)
#define FILE type(MPI_File)
#define INFO type(MPI_Info)
#define STATUS(n) type(MPI_Status) :: n
#define STATUSES(n, k) type(MPI_Status) :: n(k)
#define SOURCE(s) s%MPI_SOURCE
#define TAG(s) s%MPI_TAG
#define IERR
#else
#define COMM integer
#define DATATYPE integer
#define GROUP integer
#define MESSAGE integer
#define REQUEST integer
#define WIN integer
#define FILE integer
#define INFO integer
#define STATUS(n) integer :: n(MPI_STATUS_SIZE)
#define STATUSES(n, k) integer :: n(MPI_STATUS_SIZE, k)
#define SOURCE(s) s(MPI_SOURCE)
#define TAG(s) s(MPI_TAG)
#define IERR , ierr
#endif

module common
#ifdef USEMPI
    use mpi
#elif defined(F08)
    use mpi_f08
#endif
    implicit none
#ifdef MPIFH
    include 'mpif.h'
#endif
    integer, parameter :: N = 16
    integer :: me, ranks, left, right, ierr
    integer :: a(1024), b(1024)

contains

    subroutine fill(base)
        integer, intent(in) :: base
        integer :: i

        do i = 1, size(a)
            a(i) = base + 1000 * me + i - 1
        end do
        b = 0
    end subroutine

    subroutine say(what)
        character(len=*), intent(in) :: what
        integer :: i, total

        total = 0
        do i = 1, size(b)
            total = mod(total * 7 + b(i) + i - 1, 1000003)
        end do
        print '(A,I0,A,I0)', what // ' ', me, ' ', total
        b = 0
    end subroutine
end module

program languages
    use common
    implicit none
    COMM :: world, ring
    character(len=64) :: name

    call MPI_Init(ierr)
    world = MPI_COMM_WORLD
    call MPI_Comm_rank(world, me IERR)
    call MPI_Comm_size(world, ranks IERR)
    right = mod(me + 1, ranks)
    left = mod(me + ranks - 1, ranks)
    call MPI_Comm_dup(world, ring IERR)
    name = 'the ring'
    call MPI_Comm_set_name(ring, name IERR)
    call messages(ring)
    call requests(ring)
    call persistent(ring)
    call probes(ring)
    call collectives(ring)
    call in_place(ring)
    call types(ring)
    call communicators(ring)
    call windows(ring)
    call files(ring)
    call failures(ring)
    call texts(ring)
    call MPI_Pcontrol(0)
    call MPI_Barrier(ring IERR)
    call MPI_Pcontrol(1)
    call MPI_Barrier(ring IERR)
    call MPI_Comm_free(ring IERR)
    call MPI_Finalize(ierr)

contains

    subroutine messages(c)
        COMM, intent(in) :: c
        REQUEST :: r
        STATUS(s)
        integer :: buffer(2048), length, i

        do i = 0, 3
            call fill(i)
            call MPI_Irecv(b, N + i, MPI_INTEGER, left, i, c, r IERR)
            call MPI_Barrier(c IERR)
            select case (i)
            case (0)
                call MPI_Send(a, N + i, MPI_INTEGER, right, i, c IERR)
            case (1)
                call MPI_Buffer_attach(buffer, 8192 IERR)
                call MPI_Bsend(a, N + i, MPI_INTEGER, right, i, c IERR)
            case (2)
                call MPI_Ssend(a, N + i, MPI_INTEGER, right, i, c IERR)
            case (3)
                call MPI_Rsend(a, N + i, MPI_INTEGER, right, i, c IERR)
            end select
            call MPI_Wait(r, s IERR)
            call MPI_Get_count(s, MPI_INTEGER, length IERR)
            b(1000) = length + SOURCE(s) + TAG(s)
            call say('mode')
        end do
        call detach()
        call MPI_Isend(a, N, MPI_INTEGER, right, 5, c, r IERR)
        call MPI_Recv(b, 2 * N, MPI_INTEGER, MPI_ANY_SOURCE, MPI_ANY_TAG, c, s IERR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
        b(1000) = SOURCE(s)
        call say('any')
        call MPI_Isend(a, N, MPI_INTEGER, right, 6, c, r IERR)
        ! Arguments that lie in what the call writes.
        call MPI_Recv(b, 2 * N, MPI_INTEGER, SOURCE(s), 6, c, s IERR)
        call MPI_Wait(r, s IERR)
        call MPI_Isend(a, N, MPI_INTEGER, right, 7, c, r IERR)
        call MPI_Recv(b, 2 * N, MPI_INTEGER, left, 7, c, MPI_STATUS_IGNORE IERR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
        call say('ignored')
        call MPI_Sendrecv(a, N, MPI_INTEGER, right, 8, b, N, MPI_INTEGER, left, 8, c, s IERR)
        b(1000) = SOURCE(s)
        call say('sendrecv')
        call MPI_Sendrecv(a, 3, MPI_INTEGER, right, 9, b, N, MPI_INTEGER, left, 9, c, &
                          MPI_STATUS_IGNORE IERR)
        call MPI_Sendrecv_replace(a, N, MPI_INTEGER, right, 8, left, 8, c, s IERR)
        b(1:N) = a(1:N)
        call say('replace')
        call MPI_Send(a, N, MPI_INTEGER, MPI_PROC_NULL, 0, c IERR)
        call MPI_Recv(b, N, MPI_INTEGER, MPI_PROC_NULL, 0, c, s IERR)
    end subroutine

#ifdef F08
    subroutine detach()
        use iso_c_binding, only: c_ptr
        type(c_ptr) :: address
        integer :: bytes

        call MPI_Buffer_detach(address, bytes)
    end subroutine
#else
    subroutine detach()
        integer(MPI_ADDRESS_KIND) :: address(2048)
        integer :: bytes

        call MPI_Buffer_detach(address, bytes, ierr)
    end subroutine
#endif

    subroutine start(c, r, how_many)
        COMM, intent(in) :: c
        REQUEST, intent(out) :: r(6)
        integer, intent(in) :: how_many
        integer :: i

        call fill(how_many)
        r = MPI_REQUEST_NULL
        do i = 1, how_many
            call MPI_Irecv(b(1 + 100 * i), N, MPI_INTEGER, left, i, c, r(i) IERR)
        end do
        do i = 1, how_many
            call MPI_Isend(a(i), N, MPI_INTEGER, right, i, c, r(3 + i) IERR)
        end do
    end subroutine

    subroutine requests(c)
        COMM, intent(in) :: c
        REQUEST :: r(6)
        STATUS(s)
        STATUSES(all, 6)
        integer :: indices(6), found(6), which, done, i
        logical :: flag

        call start(c, r, 3)
        call MPI_Waitall(6, r, all IERR)
        call say('waitall')
        call start(c, r, 3)
        call MPI_Waitall(6, r, MPI_STATUSES_IGNORE IERR)
        call say('waitall ignored')
        call start(c, r, 3)
        do i = 1, 6
            if (mod(i, 2) == 0) then
                call MPI_Waitany(6, r, which, s IERR)
            else
                call MPI_Waitany(6, r, which, MPI_STATUS_IGNORE IERR)
            end if
            found(i) = which
        end do
        call MPI_Waitany(6, r, which, s IERR)
        call say('waitany')
        b(1) = sum(found * found)
        call say('index any')
        call start(c, r, 1)
        call MPI_Wait(r(4), s IERR)
        call MPI_Waitsome(6, r, done, indices, all IERR)
        b(1000) = done
        call say('waitsome')
        b(1) = indices(1)
        call say('index some')
        call start(c, r, 1)
        call MPI_Wait(r(4), s IERR)
        call MPI_Waitsome(6, r, done, indices, MPI_STATUSES_IGNORE IERR)
        call say('waitsome ignored')
        call start(c, r, 1)
        call MPI_Wait(r(4), s IERR)
        flag = .false.
        do while (.not. flag)
            call MPI_Testany(6, r, which, flag, s IERR)
        end do
        b(1000) = SOURCE(s)
        found(1) = which
        call MPI_Testany(6, r, which, flag, s IERR)
        call say('testany')
        b(1) = found(1)
        call say('index testany')
        call start(c, r, 1)
        call MPI_Wait(r(4), s IERR)
        done = 0
        do while (done == 0)
            call MPI_Testsome(6, r, done, indices, MPI_STATUSES_IGNORE IERR)
        end do
        call say('testsome')
        b(1) = indices(1)
        call say('index testsome')
        call start(c, r, 2)
        flag = .false.
        do while (.not. flag)
            call MPI_Testall(6, r, flag, all IERR)
        end do
        call say('testall')
        call start(c, r, 1)
        do i = 1, 4, 3
            flag = .false.
            do while (.not. flag)
                call MPI_Test(r(i), flag, MPI_STATUS_IGNORE IERR)
            end do
        end do
        call say('test')
    end subroutine

    subroutine persistent(c)
        COMM, intent(in) :: c
        REQUEST :: r(4)
        integer :: i

        call fill(7)
        call MPI_Recv_init(b, N, MPI_INTEGER, left, 1, c, r(1) IERR)
        call MPI_Recv_init(b(101), N, MPI_INTEGER, left, 2, c, r(2) IERR)
        call MPI_Send_init(a, N, MPI_INTEGER, right, 1, c, r(3) IERR)
        call MPI_Ssend_init(a(5), N - 1, MPI_INTEGER, right, 2, c, r(4) IERR)
        do i = 1, 3
            call MPI_Startall(4, r IERR)
            call MPI_Waitall(4, r, MPI_STATUSES_IGNORE IERR)
        end do
        call MPI_Start(r(1) IERR)
        call MPI_Start(r(3) IERR)
        call MPI_Wait(r(3), MPI_STATUS_IGNORE IERR)
        call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR)
        do i = 1, 4
            call MPI_Request_free(r(i) IERR)
        end do
        call say('persistent')
    end subroutine

    subroutine probes(c)
        COMM, intent(in) :: c
        REQUEST :: r(2)
        MESSAGE :: m
        STATUS(s)
        logical :: flag

        call fill(9)
        call MPI_Isend(a, N, MPI_INTEGER, right, 1, c, r(1) IERR)
        call MPI_Probe(MPI_ANY_SOURCE, 1, c, s IERR)
        call MPI_Recv(b, N, MPI_INTEGER, SOURCE(s), TAG(s), c, s IERR)
        call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR)
        call MPI_Isend(a, N, MPI_INTEGER, right, 2, c, r(1) IERR)
        flag = .false.
        do while (.not. flag)
            call MPI_Iprobe(left, MPI_ANY_TAG, c, flag, MPI_STATUS_IGNORE IERR)
        end do
        call MPI_Recv(b(101), N, MPI_INTEGER, left, 2, c, MPI_STATUS_IGNORE IERR)
        call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR)
        call MPI_Isend(a, N, MPI_INTEGER, right, 3, c, r(1) IERR)
        call MPI_Mprobe(left, 3, c, m, s IERR)
        call MPI_Mrecv(b(201), N, MPI_INTEGER, m, s IERR)
        call MPI_Wait(r(1), MPI_STATUS_IGNORE IERR)
        call MPI_Isend(a, N, MPI_INTEGER, right, 4, c, r(1) IERR)
        flag = .false.
        do while (.not. flag)
            call MPI_Improbe(left, 4, c, flag, m, MPI_STATUS_IGNORE IERR)
        end do
        call MPI_Imrecv(b(301), N, MPI_INTEGER, m, r(2) IERR)
        call MPI_Waitall(2, r, MPI_STATUSES_IGNORE IERR)
        call say('probes')
    end subroutine

    ! Counts and displacements of the v-forms: rank i has 1 + mod(i, 3) elements.
    subroutine shares(counts, displs, total)
        integer, intent(out) :: counts(:), displs(:), total
        integer :: i

        total = 0
        do i = 1, ranks
            counts(i) = 1 + mod(i - 1, 3)
            displs(i) = total
            total = total + counts(i)
        end do
    end subroutine

    subroutine collectives(c)
        COMM, intent(in) :: c
        REQUEST :: r
        DATATYPE :: types(64)
        integer :: counts(64), displs(64), bytes(64), mine(64), total

        call fill(20)
        call shares(counts, displs, total)
        mine = counts(me + 1)
        types = MPI_INTEGER
        bytes = 4 * displs
        b(1:N) = a(1:N)
        call MPI_Bcast(b, N, MPI_INTEGER, 0, c IERR)
        call say('bcast')
        call MPI_Gather(a, N, MPI_INTEGER, b, N, MPI_INTEGER, ranks - 1, c IERR)
        call say('gather')
        call MPI_Gatherv(a, mine(1), MPI_INTEGER, b, counts, displs, MPI_INTEGER, 0, c IERR)
        call say('gatherv')
        call MPI_Scatter(a, N, MPI_INTEGER, b, N, MPI_INTEGER, 0, c IERR)
        call say('scatter')
        call MPI_Scatterv(a, counts, displs, MPI_INTEGER, b, mine(1), MPI_INTEGER, 0, c IERR)
        call say('scatterv')
        call MPI_Allgather(a, N, MPI_INTEGER, b, N, MPI_INTEGER, c IERR)
        call say('allgather')
        call MPI_Allgatherv(a, mine(1), MPI_INTEGER, b, counts, displs, MPI_INTEGER, c IERR)
        call say('allgatherv')
        call MPI_Alltoall(a, 3, MPI_INTEGER, b, 3, MPI_INTEGER, c IERR)
        call say('alltoall')
        displs(1:ranks) = displs(1:ranks) * 3
        call MPI_Alltoallv(a, counts, displs, MPI_INTEGER, b, mine, displs, MPI_INTEGER, c IERR)
        call say('alltoallv')
        bytes = 4 * displs
        call MPI_Alltoallw(a, counts, bytes, types, b, mine, bytes, types, c IERR)
        call say('alltoallw')
        call MPI_Reduce(a, b, N, MPI_INTEGER, MPI_SUM, 0, c IERR)
        call say('reduce')
        call MPI_Allreduce(a, b, N, MPI_INTEGER, MPI_MAX, c IERR)
        call say('allreduce')
        call MPI_Reduce_scatter(a, b, counts, MPI_INTEGER, MPI_SUM, c IERR)
        call say('reduce_scatter')
        call MPI_Reduce_scatter_block(a, b, 2, MPI_INTEGER, MPI_SUM, c IERR)
        call say('reduce_scatter_block')
        call MPI_Scan(a, b, N, MPI_INTEGER, MPI_SUM, c IERR)
        call say('scan')
        call MPI_Exscan(a, b, N, MPI_INTEGER, MPI_SUM, c IERR)
        if (me == 0) b = 0
        call say('exscan')
        call MPI_Ialltoallw(a, counts, bytes, types, b, mine, bytes, types, c, r IERR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
        call say('ialltoallw')
        call MPI_Ibarrier(c, r IERR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
        call MPI_Ireduce(a, b, N, MPI_INTEGER, MPI_SUM, ranks - 1, c, r IERR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
        call say('ireduce')
    end subroutine

    subroutine in_place(c)
        COMM, intent(in) :: c
        REQUEST :: r
        DATATYPE :: types(64)
        integer :: counts(64), displs(64), same(64), total

        call fill(40)
        call shares(counts, displs, total)
        b(1 + N * me:N + N * me) = a(1:N)
        call MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_INTEGER, c IERR)
        call say('allgather in place')
        b(1 + displs(me + 1):displs(me + 1) + counts(me + 1)) = a(1:counts(me + 1))
        call MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, counts, displs, MPI_INTEGER, &
                            c IERR)
        call say('allgatherv in place')
        b(1:N) = a(1:N)
        call MPI_Allreduce(MPI_IN_PLACE, b, N, MPI_INTEGER, MPI_SUM, c IERR)
        call say('allreduce in place')
        b(1:N) = a(1:N)
        if (me == 0) then
            call MPI_Reduce(MPI_IN_PLACE, b, N, MPI_INTEGER, MPI_SUM, 0, c IERR)
            call say('reduce in place')
            b(1:N) = a(1:N)
            call MPI_Gather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_INTEGER, 0, c IERR)
            call say('gather in place')
            call MPI_Scatter(a, N, MPI_INTEGER, MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, 0, c IERR)
        else
            call MPI_Reduce(a, b, N, MPI_INTEGER, MPI_SUM, 0, c IERR)
            b = 0
            call MPI_Gather(a, N, MPI_INTEGER, b, 0, MPI_DATATYPE_NULL, 0, c IERR)
            call MPI_Scatter(a, 0, MPI_DATATYPE_NULL, b, N, MPI_INTEGER, 0, c IERR)
            call say('scatter in place')
        end if
        b(1:3 * ranks) = a(1:3 * ranks)
        call MPI_Alltoall(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, 3, MPI_INTEGER, c IERR)
        call say('alltoall in place')
        same = 2
        displs(1:ranks) = 2 * displs(1:ranks)
        b(1:6 * ranks) = a(1:6 * ranks)
        call MPI_Alltoallv(MPI_IN_PLACE, same, displs, MPI_DATATYPE_NULL, b, same, displs, &
                           MPI_INTEGER, c IERR)
        call say('alltoallv in place')
        types = MPI_INTEGER
        displs(1:ranks) = 4 * displs(1:ranks)
        b(1:6 * ranks) = a(1:6 * ranks)
        call MPI_Alltoallw(MPI_IN_PLACE, same, displs, types, b, same, displs, types, c IERR)
        call say('alltoallw in place')
        b(1:N) = a(1:N)
        call MPI_Iallreduce(MPI_IN_PLACE, b, N, MPI_INTEGER, MPI_SUM, c, r IERR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
        call say('iallreduce in place')
        b(1 + N * me:N + N * me) = a(1:N)
        call MPI_Iallgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, b, N, MPI_INTEGER, c, r IERR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
        call say('iallgather in place')
    end subroutine

    subroutine types(c)
        COMM, intent(in) :: c
        DATATYPE :: columns, pair(2), places
        STATUS(s)
        integer(MPI_ADDRESS_KIND) :: address(2)
        integer :: lengths(2), packed(256), position, bytes

        call fill(60)
        call MPI_Type_vector(4, 2, 5, MPI_INTEGER, columns IERR)
        call MPI_Type_commit(columns IERR)
        call MPI_Sendrecv(a, 2, columns, right, 1, b, 2, columns, left, 1, c, s IERR)
        call say('vector')
        call MPI_Type_free(columns IERR)
        call MPI_Get_address(b(11), address(1) IERR)
        call MPI_Get_address(b(31), address(2) IERR)
        lengths = (/3, 4/)
        pair = MPI_INTEGER
        call MPI_Type_create_struct(2, lengths, address, pair, places IERR)
        call MPI_Type_commit(places IERR)
        b(11:34) = a(11:34)
        call MPI_Bcast(MPI_BOTTOM, 1, places, 0, c IERR)
        call say('bottom')
        call MPI_Type_free(places IERR)
        call MPI_Pack_size(N, MPI_INTEGER, c, bytes IERR)
        position = 0
        call MPI_Pack(a, N, MPI_INTEGER, packed, 1024, position, c IERR)
        call MPI_Pack(a(101), 2, MPI_INTEGER, packed, 1024, position, c IERR)
        b(1000) = position
        call MPI_Sendrecv_replace(packed, position, MPI_PACKED, right, 1, left, 1, c, s IERR)
        position = 0
        call MPI_Unpack(packed, 1024, position, b, N + 2, MPI_INTEGER, c IERR)
        call say('packed')
    end subroutine

    subroutine communicators(c)
        COMM, intent(in) :: c
        COMM :: half, between, both, grid, copy
        GROUP :: all
        REQUEST :: r
        integer :: from, to, dims(1)
        logical :: periodic(1), is_inter

        call fill(80)
        periodic = .true.
        dims = 0
        call MPI_Dims_create(ranks, 1, dims IERR)
        call MPI_Cart_create(c, 1, dims, periodic, .false., grid IERR)
        call MPI_Cart_shift(grid, 0, 1, from, to IERR)
        call MPI_Neighbor_allgather(a, N, MPI_INTEGER, b, N, MPI_INTEGER, grid IERR)
        b(1000) = from + to
        call say('grid')
        call MPI_Comm_group(grid, all IERR)
        call MPI_Comm_create(c, all, copy IERR)
        call MPI_Group_free(all IERR)
        call MPI_Allreduce(a, b, N, MPI_INTEGER, MPI_SUM, copy IERR)
        call MPI_Comm_free(copy IERR)
        call MPI_Comm_idup(grid, copy, r IERR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
        call MPI_Barrier(copy IERR)
        call MPI_Comm_free(copy IERR)
        call say('copies')
        call MPI_Comm_split(c, mod(me, 2), me, half IERR)
        call MPI_Comm_set_name(half, 'half of it   ' IERR)
        call MPI_Allreduce(a, b, N, MPI_INTEGER, MPI_SUM, half IERR)
        call say('half')
        if (ranks > 1) then
            call MPI_Intercomm_create(half, 0, c, 1 - mod(me, 2), 5, between IERR)
            call MPI_Comm_test_inter(between, is_inter IERR)
            call MPI_Allreduce(a, b, N, MPI_INTEGER, MPI_SUM, between IERR)
            if (is_inter) b(1000) = 1
            call say('between')
            call MPI_Intercomm_merge(between, me == 1, both IERR)
            call MPI_Bcast(b, N, MPI_INTEGER, 0, both IERR)
            call MPI_Comm_free(both IERR)
            call MPI_Comm_disconnect(between IERR)
        end if
        call MPI_Comm_free(half IERR)
        ! The old and the new one in the same variable.
        call MPI_Comm_split(grid, 0, -me, grid IERR)
        b(1) = me
        call MPI_Bcast(b, 1, MPI_INTEGER, 0, grid IERR)
        call say('reversed')
        call MPI_Comm_free(grid IERR)
    end subroutine

    subroutine windows(c)
        COMM, intent(in) :: c
        WIN :: w
        REQUEST :: r
        integer(MPI_ADDRESS_KIND) :: bytes, at
        integer :: fetched(N)

        call fill(100)
        bytes = 4096
        call MPI_Win_create(b, bytes, 4, MPI_INFO_NULL, c, w IERR)
        call MPI_Win_set_name(w, 'shared numbers  ' IERR)
        call MPI_Win_fence(0, w IERR)
        at = 0
        call MPI_Put(a, N, MPI_INTEGER, right, at, N, MPI_INTEGER, w IERR)
        at = 100
        call MPI_Accumulate(a, N, MPI_INTEGER, 0, at, N, MPI_INTEGER, MPI_SUM, w IERR)
        call MPI_Win_fence(0, w IERR)
        at = 0
        call MPI_Get(fetched, N, MPI_INTEGER, right, at, N, MPI_INTEGER, w IERR)
        call MPI_Win_fence(0, w IERR)
        call MPI_Win_lock(MPI_LOCK_EXCLUSIVE, left, 0, w IERR)
        at = 200
        call MPI_Rput(a, 2, MPI_INTEGER, left, at, 2, MPI_INTEGER, w, r IERR)
        call MPI_Wait(r, MPI_STATUS_IGNORE IERR)
        call MPI_Win_unlock(left, w IERR)
        call MPI_Win_lock_all(0, w IERR)
        at = 300
        call MPI_Fetch_and_op(a, fetched(2), MPI_INTEGER, left, at, MPI_REPLACE, w IERR)
        call MPI_Win_flush(left, w IERR)
        call MPI_Win_unlock_all(w IERR)
        call MPI_Barrier(c IERR)
        call MPI_Win_free(w IERR)
        b(401:400 + N) = fetched
        call say('window')
    end subroutine

    subroutine files(c)
        COMM, intent(in) :: c
        FILE :: f
        REQUEST :: r
        STATUS(s)
        character(len=40) :: name
        integer(MPI_OFFSET_KIND) :: at, bytes
        integer :: length

        call fill(120)
        name = 'languages.data'
        call MPI_File_open(c, name, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, f IERR)
        at = 0
        call MPI_File_set_view(f, at, MPI_INTEGER, MPI_INTEGER, 'native  ', MPI_INFO_NULL IERR)
        at = N * me
        call MPI_File_write_at_all(f, at, a, N, MPI_INTEGER, s IERR)
        call MPI_Get_count(s, MPI_INTEGER, length IERR)
        call MPI_File_sync(f IERR)
        call MPI_Barrier(c IERR)
        at = N * right
        call MPI_File_read_at_all(f, at, b, N, MPI_INTEGER, MPI_STATUS_IGNORE IERR)
        call MPI_File_seek(f, at, MPI_SEEK_SET IERR)
        call MPI_File_read(f, b(101), 3, MPI_INTEGER, s IERR)
        at = N * (ranks + me)
        call MPI_File_iwrite_at(f, at, a, 5, MPI_INTEGER, r IERR)
        call MPI_Wait(r, s IERR)
        call MPI_Barrier(c IERR)
        call MPI_File_get_size(f, bytes IERR)
        b(1000) = length + int(bytes)
        call MPI_File_close(f IERR)
        call MPI_Barrier(c IERR)
        if (me == 0) call MPI_File_delete(name, MPI_INFO_NULL IERR)
        call say('file')
    end subroutine

    ! Errors reach the program as without the library.
    subroutine failures(c)
        COMM, intent(in) :: c
        integer :: code, class

        call MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN IERR)
        call MPI_Send(a, 1, MPI_INTEGER, ranks + 5, 0, c, code)
        call MPI_Error_class(code, class IERR)
        if (class == MPI_ERR_RANK) b(1) = 1
        call say('failed')
    end subroutine

    subroutine spell(text, at)
        character(len=*), intent(in) :: text
        integer, intent(in) :: at
        integer :: i

        do i = 1, len_trim(text)
            b(at + i) = iachar(text(i:i))
        end do
    end subroutine

    ! Several texts in a call, with blanks behind them.
    subroutine texts(c)
        COMM, intent(in) :: c
        INFO :: i
        character(len=30) :: key, text
        character(len=MPI_MAX_OBJECT_NAME) :: name
        integer(MPI_ADDRESS_KIND) :: bound
        integer :: length
        logical :: flag

        call MPI_Info_create(i IERR)
        key = 'first key'
        call MPI_Info_set(i, key, 'alpha beta   ' IERR)
        call MPI_Info_set(i, 'second', 'gamma' IERR)
        call MPI_Info_get(i, 'second   ', len(text), text, flag IERR)
        if (flag) call spell(text, 0)
        call MPI_Info_get(i, key, len(text), text, flag IERR)
        if (flag) call spell(text, 100)
        call MPI_Info_free(i IERR)
        call MPI_Comm_get_name(c, name, length IERR)
        call spell(name, 200 + length)
        call MPI_Comm_get_attr(c, MPI_TAG_UB, bound, flag IERR)
        if (flag .and. bound >= 32767) b(1000) = 1
        call say('texts')
    end subroutine
end program
