#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The rules of the house, one line per breach: who includes whom, headers that stand alone, what
# the library exports and needs, no MPI in src, sizes. Sources are read, nothing is built.
# shellcheck disable=SC2154 # abs_top_srcdir and abs_top_builddir come from make, through tests/run
cd "$abs_top_srcdir" || exit 99
# The rooms of src, lowest first. A file includes public headers, its own header or family
# (meta_host.c: meta.h), and headers of its own room and of lower ones.
rooms='
base
clock image index items layout region settings site table h5api
account buffer callpath ends event launcher output own tasks totals
h5element h5file h5guard h5meta h5read h5rows h5write
meta
lanes notes recording runtime salvage summary
catalog numbering rows
digest skeleton
recover
scope scope_f scope_read
'
public='scope.h scope_read.h scope_profiler.h'
cli_sees='base.h clock.h h5api.h h5read.h launcher.h meta.h recover.h region.h
salvage.h settings.h table.h'

# Names the library may export beside its own and MPI's: hooks of other runtimes.
exported='^(scope_|sp_|MPI_|mpi_|__cyg_|kokkosp_|InitializeInjectionNvtx|ompt_start_tool$)'
# Names it has to stand in for, by name.
interposed='dlclose'

# Code without comments and texts, one "file:line:code" per line.
bare_code() {
    awk '
        FNR == 1 { comment = 0 }
        {
            line = $0
            code = ""
            while (line != "") {
                if (comment) {
                    at = index(line, "*/")
                    if (at == 0) { line = ""; break }
                    line = substr(line, at + 2)
                    comment = 0
                } else if (match(line, /"([^"\\]|\\.)*"|\/\*|\/\/|\047(\\.|[^\\\047])+\047/)) {
                    token = substr(line, RSTART, 2)
                    code = code substr(line, 1, RSTART - 1)
                    if (token == "//") { line = ""; break }
                    line = substr(line, RSTART + RLENGTH)
                    if (token == "/*") comment = 1
                    else code = code " "
                } else {
                    code = code line
                    line = ""
                }
            }
            if (code ~ /[^ \t]/) print FILENAME ":" FNR ":" code
        }' "$@"
}

# Rooms of src, and what the command sees.
check_rooms() {
    grep -Hn '^[ \t]*#[ \t]*include[ \t]*"' src/*.[ch] src/cli/*.[ch] mpi/*.[ch] |
        awk -F: -v rooms="$rooms" -v public="$public" -v cli_sees="$cli_sees" '
        BEGIN {
            rows = split(rooms, row, "\n")
            for (i = 1; i <= rows; i++) {
                n = split(row[i], name, " ")
                for (j = 1; j <= n; j++) level[name[j]] = i
            }
            n = split(public, name, " ")
            for (j = 1; j <= n; j++) open_to_all[name[j]] = 1
            n = split(cli_sees, name, " ")
            for (j = 1; j <= n; j++) cli[name[j]] = 1
        }
        {
            split($0, quoted, "\"")
            header = quoted[2]
            noun = header
            sub(/\.h$/, "", noun)
            self = $1
            sub(/^.*\//, "", self)
            sub(/\.[ch]$/, "", self)
            if (header in open_to_all) next
            if ($1 ~ /^src\/cli\//) {
                if (!(header in cli) && system("test -f src/cli/" header) != 0)
                    print $1 ":" $2 ": the command may not see " header
                next
            }
            if ($1 ~ /^mpi\//) next
            if (noun == self || index(self, noun "_") == 1) next
            base_self = self
            if (!(self in level)) sub(/_.*$/, "", base_self)
            if (!(base_self in level)) print $1 ":" $2 ": " self " has no room in tests/house.sh"
            else if (!(noun in level)) print $1 ":" $2 ": " header " is not a header of src"
            else if (level[noun] > level[base_self])
                print $1 ":" $2 ": " header " is in a higher room than " self
        }'
}

# Only mpi/ knows MPI. The library neither ends the process nor writes to the terminal; sc_log in
# base.c does that.
check_calls() {
    bare_code src/*.[ch] src/cli/*.[ch] | awk -F: '
        /#[ \t]*include[ \t]*<mpi\.h>/ { print $1 ":" $2 ": src may not include mpi.h"; next }
        match($0, /[^A-Za-z0-9_]P?MPI_[A-Z][A-Za-z0-9_]*[ \t]*\(/) {
            print $1 ":" $2 ": src may not call " substr($0, RSTART + 1, RLENGTH - 2)
        }'
    bare_code src/*.[ch] mpi/*.[ch] | awk -F: '
        $1 == "src/h5private.c" { next }
        match($0, /[^A-Za-z0-9_.>](exit|_exit|_Exit|abort|printf|puts|putchar|perror)[ \t]*\(/) {
            print $1 ":" $2 ": the library may not call " substr($0, RSTART + 1, RLENGTH - 2)
        }'
}

# Files, lines and functions have a size; sources name their licence.
check_sizes() {
    sources=$(ls src/*.c src/*.h src/*.hpp src/*.f90 src/cli/*.[ch] mpi/*.[ch] mpi/*.awk \
        tests/*.sh tests/*/*.c tests/*/*.cc tests/*/*.f90 tests/*/*.F90 tests/*/*.sh 2>/dev/null)
    # shellcheck disable=SC2086 # a list of files
    awk '
        FNR == 1 { files++; path[files] = FILENAME; marked[files] = 0 }
        FNR <= 4 && /SPDX-License-Identifier: BSD-3-Clause/ { marked[files] = 1 }
        { lines[files] = FNR }
        length($0) > 100 && FILENAME !~ /\.sh$/ {
            print FILENAME ":" FNR ": " length($0) " columns (at most 100)"
        }
        END {
            for (i = 1; i <= files; i++) {
                limit = path[i] == "configure.ac" ? 120 : 800
                if (lines[i] > limit) print path[i] ": " lines[i] " lines (at most " limit ")"
                if (!marked[i]) print path[i] ":1: no SPDX line"
            }
        }' configure.ac bootstrap $sources
    awk '
        FNR == 1 { start = 0 }
        /^[A-Za-z_].*\(/ { name = $0; sub(/\(.*/, "", name); sub(/^.*[ *]/, "", name) }
        /^\{/ { start = FNR }
        /^\}/ && start > 0 {
            if (FNR - start + 1 > 70)
                print FILENAME ":" start ": " name " has " FNR - start + 1 " lines (at most 70)"
            start = 0
        }' src/*.[ch] src/cli/*.[ch] mpi/*.[ch]
}

# A file that the Makefile does not name is neither built nor shipped.
check_listed() {
    for file in src/*.[ch] src/cli/*.[ch] mpi/*.[ch] tests/*.sh tests/cli/*.* tests/mpi/*.* \
        tests/faults/*.* tests/slurm/*.* tests/unit/*.[ch]; do
        case $file in
        tests/unit/*.c | tests/mpi/*_np[0-9]*.c) name=${file%.c} ;;
        *) name=$file ;;
        esac
        grep -qF "$name" Makefile.am ||
            echo "$file: not in Makefile.am"
    done
}

check_headers() {
    flags='-D_GNU_SOURCE -fsyntax-only -Wall -Wextra -Wpedantic -Werror -Isrc -Impi'
    for header in src/*.h src/cli/*.h mpi/*.h; do
        # shellcheck disable=SC2086 # lists of flags
        $CC -std=c11 $flags $HDF5_CFLAGS -x c "$header" 2>/dev/null ||
            echo "$header: does not compile alone"
    done
    # shellcheck disable=SC2086
    $CXX -std=c++11 $flags -x c++ src/scope.hpp 2>/dev/null ||
        echo 'src/scope.hpp: does not compile alone'
}

# What the library exports and needs, and what the command links. Sanitizers add their own names.
check_symbols() {
    library=$abs_top_builddir/.libs/libscope.so
    [ -n "$SANITIZER" ] || nm -D --defined-only "$library" |
        awk -v ok="$exported" -v extra=" $interposed " '
            { name = $3; sub(/@.*/, "", name); ours = name ~ /^(scope_|sp_)/ }
            name ~ /^SCOPE_[0-9]+$/ { next }
            name !~ ok && index(extra, " " name " ") == 0 { print "libscope.so: exports " name }
            ours && $3 !~ /@@SCOPE_/ { print "libscope.so: " name " has no version" }
            !ours && $3 ~ /@/ { print "libscope.so: " name " has a version" }'
    nm -D --undefined-only "$library" |
        awk '$2 ~ /^(H5|likwid_|perfmon_)/ { print "libscope.so: needs " $2 }'
    for file in "$library" "$abs_top_builddir/scope"; do
        readelf -d "$file" | awk -v file="${file##*/}" '
            /NEEDED/ && /\[lib(hdf5|likwid)/ { print file ": links " $NF }
            /NEEDED/ && /\[lib(mpi|scope)/ && file == "scope" { print file ": links " $NF }'
    done
}

breaches=$({
    check_rooms
    check_calls
    check_sizes
    check_listed
    check_headers
    check_symbols
} 2>&1)
[ -z "$breaches" ] || { printf '%s\n' "$breaches"; exit 1; }
echo 'house: in order'
