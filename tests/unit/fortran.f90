! SPDX-License-Identifier: BSD-3-Clause
!
! The module scope, without MPI: names with trailing blanks, optional arguments, stat and errmsg.
program fortran
    use scope
    implicit none

    character(len=*), parameter :: untouched = "untouched"
    integer, save :: r_work = -1
    integer :: failures = 0, stat
    character(len=200) :: message, text
    character(len=8) :: short
    logical :: exists

    call test_regions()
    call test_wrong_settings()
    call test_disabled()
    call test_run()
    if (failures > 0) stop 1

contains

    subroutine expect(what, holds)
        character(len=*), intent(in) :: what
        logical, intent(in) :: holds

        if (holds) return
        print '(2a)', "not so: ", what
        failures = failures + 1
    end subroutine expect

    subroutine test_regions()
        r_work = scope_region("work")
        call expect("a region is valid before setup", r_work >= 0)
        call expect("trailing blanks are no part of a name", scope_region("work   ") == r_work)
        call expect("leading blanks are", scope_region("  work") /= r_work)
        call expect("another name, another region", scope_region("rest") /= r_work)
        call expect("a place changes no name", scope_region_at("work", "a.f90 ", 7) == r_work)
        call expect("an empty name is a name", scope_region("   ") == scope_region(""))
        call scope_begin(r_work)
        call scope_end(r_work)
        call scope_begin(-1)
        call scope_end(-1)
        call scope_pause()
        call scope_resume()
        call expect("nothing is recorded before setup", .not. scope_is_active())
    end subroutine test_regions

    subroutine test_wrong_settings()
        message = untouched
        call scope_setup(output_mode="sideways", summary=.false., stat=stat, errmsg=message)
        call expect("a wrong text is refused", stat == SCOPE_EINVAL)
        call expect("errmsg names setting and value", index(message, "output_mode") > 0 &
            .and. index(message, "sideways") > 0)
        call expect("errmsg is padded with blanks", len_trim(message) < len(message) &
            .and. index(message, achar(0)) == 0)
        call scope_last_error(text)
        call expect("scope_last_error tells the same", text == message)
        call expect("nothing has started", .not. scope_is_active())

        short = "12345678"
        call scope_setup(buffer_limit=-7, summary=.false., stat=stat, errmsg=short)
        call expect("a wrong number is refused", stat == SCOPE_EINVAL)
        call scope_last_error(text)
        call expect("a short errmsg has the beginning", short == text(1:len(short)))

        ! One line on standard error, and the program goes on.
        call scope_setup(mpi_record="sometimes", summary=.false.)
        call expect("still nothing has started", .not. scope_is_active())
        call scope_strerror(SCOPE_EINVAL, text)
        call expect("a status has a text", len_trim(text) > 0 .and. text /= message)
    end subroutine test_wrong_settings

    subroutine test_disabled()
        call scope_setup(enabled=.false., file_path="disabled.h5", stat=stat)
        call expect("enabled=.false. is no error", stat == SCOPE_OK)
        call expect("but records nothing", .not. scope_is_active())
        call scope_begin(r_work)
        call scope_end(r_work)
        call scope_finalize(stat)
        call expect("and ends well", stat == SCOPE_OK)
        inquire (file="disabled.h5", exist=exists)
        call expect("and writes no file", .not. exists)
    end subroutine test_disabled

    subroutine test_run()
        integer :: i

        message = untouched
        call scope_setup(file_path="fortran.h5   ", output_mode="direct", label="unit test", &
            metadata_detail="minimal", mpi_record="off", enabled=.true., topology=.false., &
            summary=.false., buffer_limit=64, hdf5_chunk_size=0, &
            mpi_pcontrol="regions", track_async=.false., salvage=.true., &
            salvage_dir='/tmp', stat=stat, errmsg=message)
        call expect("all settings at once are right", stat == SCOPE_OK)
        call expect("errmsg is not touched on success", message == untouched)
        call expect("recording", scope_is_active())
        call scope_setup(summary=.false., stat=stat)
        call expect("a second setup is refused", stat == SCOPE_ESTATE)
        do i = 1, 1000
            call scope_begin(r_work)
            call scope_end(r_work)
        end do
        call scope_pause()
        call expect("paused", .not. scope_is_active())
        call scope_resume()
        call expect("resumed", scope_is_active())
        call scope_finalize(stat, message)
        call expect("the end is right", stat == SCOPE_OK)
        if (stat /= SCOPE_OK) print '(a)', trim(message)
        call expect("not recording any more", .not. scope_is_active())
        inquire (file="fortran.h5", exist=exists)
        call expect("the profile has its name, without blanks", exists)
        call scope_begin(r_work)
        call scope_end(r_work)
    end subroutine test_run

end program fortran
