! SPDX-License-Identifier: BSD-3-Clause
!
! The Fortran interface of libscope. Interface blocks and constants only: nothing of this file has
! to be linked, libscope.so brings all of it (scope_f.c and scope.h) and needs no Fortran runtime.
!
!     use scope
!     integer, save :: r_solve = -1
!     if (r_solve < 0) r_solve = scope_region("solve")      ! takes a lock: keep the handle
!     call scope_begin(r_solve)
!     ...
!     call scope_end(r_solve)
!
! A program that starts MPI is recorded from MPI_Init to MPI_Finalize without any call of these,
! its regions and its MPI calls; scope_setup starts earlier or with settings of its own.
! Every call is harmless before scope_setup and after scope_finalize.
module scope
    use, intrinsic :: iso_c_binding, only: c_int
    implicit none
    private :: c_int

    ! What stat can be.
    integer, parameter :: SCOPE_OK = 0
    integer, parameter :: SCOPE_EINVAL = -1     ! invalid argument or setting
    integer, parameter :: SCOPE_ENOMEM = -2     ! out of memory
    integer, parameter :: SCOPE_ESTATE = -3     ! not possible in the present state
    integer, parameter :: SCOPE_EIO = -4        ! cannot read or write a file
    integer, parameter :: SCOPE_EFORMAT = -5    ! not a profile this version can read
    integer, parameter :: SCOPE_EUNAVAIL = -6   ! not available in this build or on this machine
    integer, parameter :: SCOPE_EMPI = -7       ! MPI reported an error

    interface

        ! Starts recording with the program's own settings; pass them by keyword. A setting left out
        ! is decided by the environment and then the default. An error never stops the program: it
        ! is one line on standard error, stat /= 0, and the message in errmsg (blank padded; not
        ! touched on success).
        subroutine scope_setup(file_path, output_mode, label, metadata_detail, mpi_record, &
                               enabled, topology, summary, buffer_limit, hdf5_chunk_size, &
                               mpi_pcontrol, track_async, salvage, salvage_dir, &
                               stat, errmsg)
            character(len=*), intent(in), optional :: file_path       ! profile to write
            character(len=*), intent(in), optional :: output_mode     ! auto, direct or parallel
            character(len=*), intent(in), optional :: label           ! short name of the run
            character(len=*), intent(in), optional :: metadata_detail ! minimal or full
            character(len=*), intent(in), optional :: mpi_record      ! calls, stats or off
            logical, intent(in), optional :: enabled                  ! .false. records nothing
            logical, intent(in), optional :: topology                 ! store the machine's topology
            logical, intent(in), optional :: summary                  ! print it at the end
            integer, intent(in), optional :: buffer_limit             ! events in a first buffer
            integer, intent(in), optional :: hdf5_chunk_size          ! events per HDF5 chunk
            character(len=*), intent(in), optional :: mpi_pcontrol    ! levels or regions
            logical, intent(in), optional :: track_async              ! keep each request's life
            logical, intent(in), optional :: salvage                  ! a killed run loses nothing
            character(len=*), intent(in), optional :: salvage_dir     ! folder for that
            integer, intent(out), optional :: stat
            character(len=*), intent(inout), optional :: errmsg
        end subroutine scope_setup

        ! Ends recording and writes the profile. Under MPI it is collective over MPI_COMM_WORLD.
        subroutine scope_finalize(stat, errmsg)
            integer, intent(out), optional :: stat
            character(len=*), intent(inout), optional :: errmsg
        end subroutine scope_finalize

        ! The handle of the region of that name, trailing blanks not counted. Negative, and harmless
        ! to use, when memory is short. Valid before scope_setup.
        integer function scope_region(name)
            character(len=*), intent(in) :: name
        end function scope_region

        ! The same with the place in the source: scope_region_at("solve", __FILE__, __LINE__) in a
        ! preprocessed file. The first place given for a name stays.
        integer function scope_region_at(name, file, line)
            character(len=*), intent(in) :: name, file
            integer, intent(in) :: line
        end function scope_region_at

        ! Begin and end a call of a region on the calling thread. Calls nest.
        subroutine scope_begin(region) bind(c, name="scope_begin")
            import :: c_int
            integer(c_int), intent(in), value :: region
        end subroutine scope_begin

        subroutine scope_end(region) bind(c, name="scope_end")
            import :: c_int
            integer(c_int), intent(in), value :: region
        end subroutine scope_end

        ! Between the two nothing is recorded, calls are only counted.
        subroutine scope_pause() bind(c, name="scope_pause")
        end subroutine scope_pause

        subroutine scope_resume() bind(c, name="scope_resume")
        end subroutine scope_resume

        ! True while recording and not paused.
        logical function scope_is_active()
        end function scope_is_active

        ! The text of a status, and the details of the calling thread's last failure; blank padded.
        subroutine scope_strerror(code, text)
            integer, intent(in) :: code
            character(len=*), intent(out) :: text
        end subroutine scope_strerror

        subroutine scope_last_error(text)
            character(len=*), intent(out) :: text
        end subroutine scope_last_error

    end interface

end module scope
