#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# An installed libscope is found and used by pkg-config, CMake and the module file, from C, C++
# and Fortran, also by a program that calls nothing of it.
# shellcheck disable=SC2154,SC2086,SC2013 # variables come from tests/run; lists are split
root=$PWD/root
failed=0

fail() {
    echo "install: $*"
    failed=1
}

# run LINE...: its output only when it fails
run() {
    "$@" >output 2>&1 || { fail "$*"; cat output; }
}

run make -C "$abs_top_builddir" install DESTDIR="$root"
pc=$(find "$root" -name scope.pc)
prefix=$(sed -n 's/^prefix=//p' "$pc")
cmake=$(find "$root" -name scopeConfig.cmake)
export PKG_CONFIG_PATH="${pc%/scope.pc}" PKG_CONFIG_SYSROOT_DIR="$root"
export LD_LIBRARY_PATH="${pc%/pkgconfig/scope.pc}"
flags=$(pkg-config --cflags scope)
libs=$(pkg-config --libs scope)
sanitize=${SANITIZER:+-fsanitize=$SANITIZER}

cat >calls.c <<'END'
#include <scope.h>
int main(void)
{
    return scope_is_active();
}
END
cat >calls.cc <<'END'
#include <scope.hpp>
int main()
{
    return scope_is_active();
}
END
cat >calls.f90 <<'END'
program calls
    use scope
    if (scope_is_active()) stop 1
end program
END
cat >plain.c <<'END'
int main(void)
{
    return 0;
}
END
run $CC -std=c11 $sanitize $flags calls.c -o calls $libs
run ./calls
run $CXX $sanitize $flags calls.cc -o callscc $libs
run ./callscc
if [ -f "$abs_top_builddir/scope.mod" ]; then
    run $FC $sanitize $flags calls.f90 -o callsf $libs
    run ./callsf
fi
run $CC $sanitize $flags plain.c -o plain $libs
readelf -d plain | grep -q 'NEEDED.*libscope' || fail 'the linker dropped libscope'

if command -v cmake >/dev/null; then
    mkdir cmake
    cat >cmake/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.13)
project(calls C)
find_package(scope REQUIRED)
add_executable(calls ../calls.c)
target_link_libraries(calls scope::scope)
END
    run cmake -S cmake -B cmake/build -Dscope_DIR="${cmake%/*}" -DCMAKE_C_FLAGS="$sanitize"
    run cmake --build cmake/build
    run cmake/build/calls
fi

# Every folder that the module file adds is there.
module=$(find "$root" -path '*/modulefiles/scope/*' -type f)
head -n 1 "$module" | grep -q '^#%Module' || fail 'the module file has no magic'
for folder in $(sed -n 's/^prepend-path  *[A-Z_]*  *//p' "$module"); do
    [ -d "$root$folder" ] || fail "the module file names $folder"
done

for file in bin/scope include/scope.h include/scope.hpp include/scope_read.h \
    share/man/man1/scope.1; do
    [ -e "$root$prefix/$file" ] || fail "$file is not installed"
done
run make -C "$abs_top_builddir" uninstall DESTDIR="$root"
left=$(find "$root" ! -type d)
[ -z "$left" ] || fail "uninstall leaves $left"
exit $failed
