#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# One program in C, in Fortran with mpif.h, the module mpi and the module mpi_f08, and with mpi4py: each computes
# the same with the library as without it, and all leave the same profile, call by call.
# shellcheck disable=SC2086,SC2154 # MPIEXEC is a command with options; the variables come from tests/run

source=$abs_top_srcdir/tests/mpi
python=/usr/bin/python3
$python -c 'import h5py' 2>/dev/null || {
    echo 'languages: no h5py for python3 (python3-h5py)'
    exit 77
}
# Open MPI: only this one has windows on any memory with the copying that tests/run turns off.
export OMPI_MCA_osc=pt2pt SCOPE_PROFILER_SUMMARY=0
sanitize=${SANITIZER:+-fsanitize=$SANITIZER}
library="-L$abs_top_builddir/.libs -lscope -Wl,-rpath,$abs_top_builddir/.libs"
failed=0

fail()
{
    echo "languages: $*"
    failed=1
}

# run NAME RANKS COMMAND...: its output, sorted; with the profile NAME.RANKS.h5 if there is one.
run()
{
    name=$1 ranks=$2
    shift 2
    SCOPE_PROFILER_FILE_PATH=$name.$ranks.h5 $MPIEXEC -n $ranks "$@" >unsorted 2>log || {
        fail "$name on $ranks ranks: exit status $?"
        cat log
    }
    sort unsorted >$name.$ranks
}

# MPICH 4.0 gives indices of requests from 0 in mpi_f08.
without_indices()
{
    case $MPI_NAME:$2 in
    mpich:*f08*) grep -v '^index' $1 ;;
    *) cat $1 ;;
    esac
}

# same NAME RANKS PLAIN MODULE [common]: as without the library, and as in C.
same()
{
    name=$1 ranks=$2 plain=$3 module=$4
    shift 4
    cmp $plain.$ranks $name.$ranks || fail "$name computes something else with the library"
    without_indices plain.c.$ranks $name >wanted
    without_indices $name.$ranks $name | cmp wanted - || fail "$name computes something else than C"
    echo "$name on $ranks ranks:"
    $python "$source/languages_same.py" recorded.c.$ranks.h5 $name.$ranks.h5 $module "$@" || failed=1
}

languages=c
$CC -std=c11 -O1 -g $sanitize -o plain.c "$source/languages.c" || exit 1
$CC -std=c11 -O1 -g $sanitize -o recorded.c "$source/languages.c" -Wl,--no-as-needed $library || exit 1
printf 'program p\nend program\n' >probe.f90
if [ -n "$FC" ] && $FC -o probe probe.f90 2>/dev/null; then
    mismatch=-fallow-argument-mismatch # mpif.h: the same routine with different buffers
    $FC $mismatch -o probe probe.f90 2>/dev/null || mismatch=
    for language in mpifh usempi f08; do
        flags="-cpp -D$(echo $language | tr a-z A-Z) -O1 -g -w $mismatch $sanitize"
        $FC $flags -o plain.$language "$source/languages.F90" || exit 1
        $FC $flags -o recorded.$language "$source/languages.F90" -Wl,--no-as-needed $library || exit 1
        $FC $flags -fPIC -shared -o private.$language.so "$source/languages.F90" || exit 1
        languages="$languages $language"
    done
    # A linker that drops libraries drops MPI's for mpif.h: what is called is in this library.
    $FC -cpp -DMPIFH -g -w $mismatch $sanitize -o dropped.mpifh "$source/languages.F90" \
        -Wl,--as-needed $library || exit 1
else
    echo 'languages: no Fortran compiler'
fi

for ranks in ${LANGUAGES_RANKS:-1 2 3}; do
    for language in $languages; do
        run plain.$language $ranks ./plain.$language
        run recorded.$language $ranks ./recorded.$language
        same recorded.$language $ranks plain.$language recorded.$language
    done
done
for name in dropped.mpifh; do
    [ -x $name ] || continue
    run $name 2 ./$name
    same $name 2 plain.mpifh $name
done

# What is loaded by name cannot bring a sanitizer along.
[ -z "$SANITIZER" ] || exit $failed
preload="env LD_PRELOAD=$SCOPE_LIBRARY $python"

# Fortran in a library that the program opened for itself, with MPI's below it.
for name in private.*.so; do
    [ -f $name ] || continue
    plain=${name%.so}
    plain=plain.${plain#private.}
    run $name 2 $preload -c "import ctypes; ctypes.CDLL('./$name').main(0, None)"
    same $name 2 $plain $name
done

# MPI's own library opened by the program: its calls pass by the wrappers, and one line says so.
libmpi=$(ldd plain.c | sed -n 's/.* => \(.*libmpi[^ ]*\.so[^ ]*\) .*/\1/p' | head -n 1)
run private.c 2 $preload -c "import ctypes; m = ctypes.CDLL('$libmpi'); m.MPI_Init(None, None); m.MPI_Finalize()"
test "$(grep -c 'scope: .*calls MPI past this library' log)" -eq 1 || {
    fail 'not one line about calls that cannot be seen:'
    cat log
}
test ! -e private.c.2.h5 || fail 'a profile of calls that cannot be seen'

module=$($python -c 'import importlib.util as u; print(u.find_spec("mpi4py.MPI").origin)' 2>/dev/null)
if [ "$MPI_NAME" != openmpi ] || ! ldd "$module" 2>/dev/null | grep -q libmpi.so.40; then
    echo "languages: no mpi4py for $MPI_NAME (python3-mpi4py)"
    exit $failed
fi
for ranks in ${LANGUAGES_RANKS:-1 2 3}; do
    run plain.py $ranks $python "$source/languages.py"
    run recorded.py $ranks $preload "$source/languages.py"
    same recorded.py $ranks plain.py "$(basename "$module")" common
done
exit $failed
