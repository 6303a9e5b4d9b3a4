! SPDX-License-Identifier: BSD-3-Clause
!
! The Fortran twin of heat.c: the same scheme, the same messages, the same bytes printed.  It
! starts and ends the recording with calls of its own, where the C program leaves both to MPI_Init
! and MPI_Finalize.
!
! Usage: heat [points per side [steps]]      exit status: 0 right, 1 wrong, 2 usage
program heat
    use, intrinsic :: iso_fortran_env, only: error_unit, real64, int64
    use mpi
    use scope
    implicit none

    integer, parameter :: points = 1024, points_max = 20000
    integer, parameter :: steps_default = 300, steps_max = 10000000
    integer, parameter :: residual_every = 10, checkpoints = 4
    integer, parameter :: north = 1, south = 2, west = 3, east = 4
    real(real64), parameter :: diffusion = 0.2_real64       ! dt / h**2; stable below 0.25
    real(real64), parameter :: vanished = 1.0e-100_real64   ! smaller squares underflow

    integer :: grid_comm, rank, nranks, n, nsteps, wrong, ierr
    integer :: dims(2)                                      ! ranks along rows and columns
    integer :: rows, cols                                   ! this rank's block, without halo
    integer :: nbr(4)                                       ! MPI_PROC_NULL outside the square
    integer :: row_type, inner                              ! a row, the block without its halo
    ! u is this step, old the one before; the first index runs along a row, as in memory in C.
    ! asynchronous: MPI reads and writes u between Isend or Irecv and Waitall.
    real(real64), allocatable, asynchronous :: u(:, :)
    real(real64), allocatable :: old(:, :), sine(:), field(:)
    integer, allocatable :: counts(:), offsets(:)
    integer :: r_init, r_step, r_halo, r_stencil, r_residual, r_checkpoint

    call scope_setup(label="heat")
    r_init = scope_region("init")
    r_step = scope_region("step")
    r_halo = scope_region("halo")
    r_stencil = scope_region("stencil")
    r_residual = scope_region("residual")
    r_checkpoint = scope_region("checkpoint")

    call MPI_Init(ierr)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
    call MPI_Comm_size(MPI_COMM_WORLD, nranks, ierr)
    call read_params()
    if (n == 0) then
        call MPI_Finalize(ierr)
        stop 2
    end if

    call scope_begin(r_init)
    call grid_init()
    call scope_end(r_init)
    if (rank == 0) print '(5(a, i0), a)', "heat: ", n, " x ", n, " points, ", nsteps, &
        " steps, ", dims(1), " x ", dims(2), " ranks"
    call solve()
    if (rank == 0) print '(2a)', "heat: ", merge("right", "WRONG", wrong == 0)
    call grid_free()
    call scope_finalize()
    call MPI_Finalize(ierr)
    if (wrong /= 0) stop 1

contains

    pure integer function block_low(parts, part)
        integer, intent(in) :: parts, part

        block_low = int(int(n, int64) * part / parts)
    end function block_low

    pure integer function block_len(parts, part)
        integer, intent(in) :: parts, part

        block_len = block_low(parts, part + 1) - block_low(parts, part)
    end function block_len

    subroutine read_number(arg, low, high, number, ok)
        integer, intent(in) :: arg, low, high
        integer, intent(inout) :: number
        logical, intent(inout) :: ok
        character(len=32) :: text
        integer :: iostat

        if (command_argument_count() < arg) return
        call get_command_argument(arg, text)
        read (text, '(i32)', iostat=iostat) number
        ok = ok .and. iostat == 0 .and. number >= low .and. number <= high
    end subroutine read_number

    ! Collective. Rank 0 reads the command line for all; n = 0 when it makes no sense.
    subroutine read_params()
        logical :: ok

        n = points
        nsteps = steps_default
        if (rank == 0) then
            ok = command_argument_count() <= 2
            call read_number(1, nranks, points_max, n, ok)
            call read_number(2, 1, steps_max, nsteps, ok)
            if (.not. ok) then
                write (error_unit, '(3(a, i0), a)') "usage: heat [points per side, ", nranks, &
                    " to ", points_max, " [steps, 1 to ", steps_max, "]]"
                n = 0
            end if
        end if
        call MPI_Bcast(n, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
        call MPI_Bcast(nsteps, 1, MPI_INTEGER, 0, MPI_COMM_WORLD, ierr)
    end subroutine read_params

    ! log(1 + x) to full precision for small x (Fortran has no log1p).
    pure real(real64) function log_1p(x)
        real(real64), intent(in) :: x
        integer :: k

        log_1p = 0.0_real64
        if (abs(x) < 0.125_real64) then
            do k = 20, 1, -1
                log_1p = x * (1.0_real64 / k - log_1p)
            end do
        else
            log_1p = log(1.0_real64 + x)
        end if
    end function log_1p

    ! What one step takes away from every value, as a fraction of it.
    pure real(real64) function loss()
        loss = 8.0_real64 * diffusion * sin(acos(-1.0_real64) / 2.0_real64 / (n + 1))**2
    end function loss

    ! What is left of every value of the start.
    pure real(real64) function decay(step)
        integer, intent(in) :: step

        decay = exp(step * log_1p(-loss()))
    end function decay

    ! Rounding of one unit per step may add up in a very long run.
    pure real(real64) function tolerance(step)
        integer, intent(in) :: step

        tolerance = max(1.0e-12_real64, step * epsilon(1.0_real64))
    end function tolerance

    ! Collective.
    subroutine grid_init()
        integer :: coords(2), low(2), i, j

        dims = 0
        call MPI_Dims_create(nranks, 2, dims, ierr)
        call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.false., .false.], .true., grid_comm, ierr)
        call MPI_Comm_set_name(grid_comm, "heat grid", ierr)
        call MPI_Comm_rank(grid_comm, rank, ierr)
        call MPI_Cart_coords(grid_comm, rank, 2, coords, ierr)
        call MPI_Cart_shift(grid_comm, 0, 1, nbr(north), nbr(south), ierr)
        call MPI_Cart_shift(grid_comm, 1, 1, nbr(west), nbr(east), ierr)
        low = [block_low(dims(1), coords(1)), block_low(dims(2), coords(2))]
        rows = block_len(dims(1), coords(1))
        cols = block_len(dims(2), coords(2))
        call MPI_Type_vector(rows, 1, cols + 2, MPI_DOUBLE_PRECISION, row_type, ierr)
        call MPI_Type_commit(row_type, ierr)
        call MPI_Type_create_subarray(2, [cols + 2, rows + 2], [cols, rows], [1, 1], &
            MPI_ORDER_FORTRAN, MPI_DOUBLE_PRECISION, inner, ierr)
        call MPI_Type_commit(inner, ierr)
        call grid_blocks()

        allocate (u(0:cols + 1, 0:rows + 1), old(0:cols + 1, 0:rows + 1), sine(n))
        u = 0.0_real64
        old = 0.0_real64
        sine = [(sin(acos(-1.0_real64) * i / (n + 1)), i = 1, n)]
        do i = 1, rows
            do j = 1, cols
                u(j, i) = sine(low(1) + i) * sine(low(2) + j)
            end do
        end do
    end subroutine grid_init

    ! Rank 0 learns where the gathered blocks lie.
    subroutine grid_blocks()
        integer :: r, c(2)

        if (rank /= 0) then
            allocate (counts(0), offsets(0), field(0))
            return
        end if
        allocate (counts(nranks), offsets(nranks), field(n * n))
        offsets(1) = 0
        do r = 1, nranks
            call MPI_Cart_coords(grid_comm, r - 1, 2, c, ierr)
            counts(r) = block_len(dims(1), c(1)) * block_len(dims(2), c(2))
            if (r < nranks) offsets(r + 1) = offsets(r) + counts(r)
        end do
    end subroutine grid_blocks

    ! Collective.
    subroutine grid_free()
        call MPI_Type_free(row_type, ierr)
        call MPI_Type_free(inner, ierr)
        call MPI_Comm_free(grid_comm, ierr)
    end subroutine grid_free

    ! Collective. Rows are contiguous and go first; columns overlap each other.
    subroutine exchange_halo()
        integer :: req(4), done(MPI_STATUS_SIZE, 4)

        call scope_begin(r_halo)
        call MPI_Sendrecv(u(1, 1), cols, MPI_DOUBLE_PRECISION, nbr(north), north, &
            u(1, rows + 1), cols, MPI_DOUBLE_PRECISION, nbr(south), north, grid_comm, &
            MPI_STATUS_IGNORE, ierr)
        call MPI_Sendrecv(u(1, rows), cols, MPI_DOUBLE_PRECISION, nbr(south), south, &
            u(1, 0), cols, MPI_DOUBLE_PRECISION, nbr(north), south, grid_comm, &
            MPI_STATUS_IGNORE, ierr)
        call MPI_Irecv(u(0, 1), 1, row_type, nbr(west), east, grid_comm, req(1), ierr)
        call MPI_Irecv(u(cols + 1, 1), 1, row_type, nbr(east), west, grid_comm, req(2), ierr)
        call MPI_Isend(u(1, 1), 1, row_type, nbr(west), west, grid_comm, req(3), ierr)
        call MPI_Isend(u(cols, 1), 1, row_type, nbr(east), east, grid_comm, req(4), ierr)
        call MPI_Waitall(4, req, done, ierr)
        call scope_end(r_halo)
    end subroutine exchange_halo

    subroutine apply_stencil()
        real(real64), allocatable :: swap(:, :)

        call scope_begin(r_stencil)
        call sweep(u, old)
        call move_alloc(old, swap)
        call move_alloc(u, old)
        call move_alloc(swap, u)
        call scope_end(r_stencil)
    end subroutine apply_stencil

    pure subroutine sweep(from, to)
        real(real64), intent(in) :: from(0:cols + 1, 0:rows + 1)
        real(real64), intent(inout) :: to(0:cols + 1, 0:rows + 1)
        integer :: i, j

        do i = 1, rows
            do j = 1, cols
                to(j, i) = from(j, i) + diffusion * ((from(j, i - 1) + from(j, i + 1)) &
                    + (from(j - 1, i) + from(j + 1, i)) - 4.0_real64 * from(j, i))
            end do
        end do
    end subroutine sweep

    ! Collective. Norm of the last change, where the norm of the start is 1.
    real(real64) function residual()
        real(real64) :: local, total
        integer :: i, j

        call scope_begin(r_residual)
        local = 0.0_real64
        do i = 1, rows
            do j = 1, cols
                local = local + (u(j, i) - old(j, i))**2
            end do
        end do
        call MPI_Allreduce(local, total, 1, MPI_DOUBLE_PRECISION, MPI_SUM, grid_comm, ierr)
        residual = sqrt(total) * 2.0_real64 / (n + 1)
        call scope_end(r_residual)
    end function residual

    ! Rank 0. The largest error of the gathered field, relative to the exact amplitude.
    real(real64) function field_error(exact)
        real(real64), intent(in) :: exact
        integer :: r, c(2), i, j, next

        field_error = 0.0_real64
        next = 0
        do r = 0, nranks - 1
            call MPI_Cart_coords(grid_comm, r, 2, c, ierr)
            do i = block_low(dims(1), c(1)) + 1, block_low(dims(1), c(1) + 1)
                do j = block_low(dims(2), c(2)) + 1, block_low(dims(2), c(2) + 1)
                    next = next + 1
                    field_error = max(field_error, &
                        abs(field(next) - exact * sine(i) * sine(j)))
                end do
            end do
        end do
        field_error = field_error / max(exact, vanished)
    end function field_error

    ! Collective. Gathers the field on rank 0; counts what it finds wrong there.
    subroutine checkpoint(step, change)
        integer, intent(in) :: step
        real(real64), intent(in) :: change
        real(real64) :: exact, expected, error

        call scope_begin(r_checkpoint)
        call MPI_Gatherv(u, 1, inner, field, counts, offsets, MPI_DOUBLE_PRECISION, 0, &
            grid_comm, ierr)
        if (rank == 0) then
            exact = decay(step)
            expected = decay(step - 1) * loss()
            error = field_error(exact)
            print '(a, i0, a, es13.7, a, f14.12)', "step ", step, ": residual ", change, &
                ", amplitude ", exact
            if (.not. error <= tolerance(step)) then
                print '(a, es7.1, a)', "wrong: the field is off by ", error, " of its amplitude"
                wrong = wrong + 1
            end if
            if (.not. abs(change - expected) <= 1.0e-8_real64 * max(expected, vanished)) then
                print '(a, es13.7)', "wrong: the residual should be ", expected
                wrong = wrong + 1
            end if
        end if
        call scope_end(r_checkpoint)
    end subroutine checkpoint

    ! Collective. Counts what is wrong, the same on all ranks.
    subroutine solve()
        integer :: step, every
        logical :: save_now
        real(real64) :: change

        wrong = 0
        change = 0.0_real64
        every = max(1, nsteps / checkpoints)
        do step = 1, nsteps
            save_now = mod(step, every) == 0 .or. step == nsteps
            call scope_begin(r_step)
            call exchange_halo()
            call apply_stencil()
            if (mod(step, residual_every) == 0 .or. save_now) change = residual()
            call scope_end(r_step)
            if (save_now) call checkpoint(step, change)
        end do
        call MPI_Bcast(wrong, 1, MPI_INTEGER, 0, grid_comm, ierr)
    end subroutine solve

end program heat
