#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# Files that are no readable profile get exit code 2, exactly one line and no output; a flipped bit
# never gets more than that.
# shellcheck disable=SC2154 # variables come from tests/run

golden=$abs_top_srcdir/tests/golden
failed=0
# A damaged file makes HDF5 itself copy and ask for too much; a sanitizer is not to look for that here.
ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}replace_intrin=0:replace_str=0:intercept_strlen=0:intercept_strchr=0:intercept_strndup=0:allocator_may_return_null=1
export ASAN_OPTIONS

# refused FILE PATTERN: the one line matches.
refused() {
    scope inspect "$1" >out 2>err </dev/null
    status=$?
    if [ $status -ne 2 ] || [ -s out ] || [ "$(wc -l <err)" -ne 1 ] || ! grep -Eq "^scope: $2" err; then
        echo "damage: $1: status $status, said '$(cat err)', not '$2'"
        failed=1
    fi
}

cp "$golden"/*.h5 .
chmod u+w ./*.h5
: >empty
printf 'just text\n' >text
mkdir folder
mkfifo pipe
refused nowhere.h5 'nowhere.h5: No such file or directory$'
refused folder 'folder: is a directory '
refused pipe 'pipe: not a regular file'
refused empty 'empty: is empty '
refused text 'text: not an HDF5 file'
refused foreign.h5 'foreign.h5: an HDF5 file, but not a profile '
refused older.h5 'older.h5: schema 2 is older '
refused newer.h5 'newer.h5: schema 4 is newer '
refused newer-scope.h5 'newer-scope.h5: format 3 is newer '
refused overlap.h5 'overlap.h5: damaged: slices of the index overlap at event 1 '
newline=$(printf 'a\nb')
cp foreign.h5 "$newline"
refused "$newline" 'a\\nb: an HDF5 file'

# Cut off at every 4 KiB, and one byte short.
size=$(wc -c <synthetic-v1.h5)
at=4096
while [ $at -lt "$size" ]; do
    head -c $at synthetic-v1.h5 >cut.h5
    refused cut.h5 'cut.h5: '
    at=$((at + 4096))
done
head -c $((size - 1)) synthetic-v1.h5 >cut.h5
refused cut.h5 'cut.h5: cut off or damaged'

# The second of two files is bad: still no output.
if scope inspect synthetic-v1.h5 foreign.h5 >out 2>err || [ -s out ]; then
    echo 'damage: prints half of what was asked'
    failed=1
fi

$CC -O1 -D_GNU_SOURCE -o flips "$abs_top_srcdir/tests/cli/flips.c" || exit 99
./flips synthetic-v1.h5 500 || failed=1
./flips synthetic-v2.h5 300 || failed=1
exit $failed
