#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scope info: what the build has, every setting and where it comes from, and doc/config.md agrees.
# shellcheck disable=SC2016,SC2154 # backquotes are Markdown; variables come from tests/run

failed=0
not() {
    echo "info: $*"
    failed=1
}

# The build.
scope info >out 2>err || not "fails: $(cat err)"
[ ! -s err ] || not "says '$(cat err)'"
head -n 1 out | grep -Eq '^scope [0-9]+\.[0-9]+\.[0-9]+$' || not "first line: $(head -n 1 out)"
for name in compiler library mpi hdf5_write hdf5_read topology likwid clock source; do
    grep -Eq "^$name +(yes|no)  *[^ ]" out || not "nothing about $name: $(cat out)"
done
grep -q "^mpi .*$MPI_NAME" out || not "another MPI than $MPI_NAME: $(grep '^mpi' out)"
grep -Eq '^(library|hdf5_write|hdf5_read) +no' out && not "a part is missing: $(cat out)"
SCOPE_LIBRARY=/nowhere scope info >out || not 'fails without the library'
grep -q '^library *no .*/nowhere: No such file' out || not 'does not say why there is no library'
SCOPE_HDF5_LIBRARY=/nowhere scope info >out || not 'fails without HDF5'
grep -q '^hdf5_write *no ' out || not 'does not say that HDF5 is missing'

# JSON is JSON.
if command -v python3 >/dev/null; then
    for options in --json '--settings --json'; do
        # shellcheck disable=SC2086 # a list of options
        SCOPE_PROFILER_LABEL="$(printf 'a"b\\c\nd\377')" scope info $options |
            python3 -c 'import json, sys; json.load(sys.stdin)' || not "$options is no JSON"
    done
fi

# Settings: value and origin.
SCOPE_PROFILER_LABEL=hello SCOPE_PROFILER_BUFFER_LIMIT=0 SCOPE_PROFILER_BUFER_LIMIT=3 \
    scope info --settings >out 2>err || not 'settings fail'
grep -Eq '^label +hello +environment ' out || not "the label: $(grep '^label' out)"
grep -Eq '^buffer_limit +1024 +default +1024 ' out || not "buffer_limit: $(grep '^buffer' out)"
sort err >said
{
    printf '%s: unknown setting %s; ignored\n' 'scope: SCOPE_PROFILER_BUFER_LIMIT' \
        "'bufer_limit' (did you mean 'buffer_limit'?)"
    printf '%s: must be an integer from 1 to 1073741824; ignored\n' \
        "scope: buffer_limit = '0' (from SCOPE_PROFILER_BUFFER_LIMIT)"
} | sort >wanted
diff said wanted || not 'other warnings'
SCOPE_PROFILER_RUN='label=x' scope info --settings | grep -Eq '^label +x +scope run ' ||
    not 'SCOPE_PROFILER_RUN is not shown'
SCOPE_PROFILER_RUN='nonsense' scope info --settings >out 2>err
[ $? -eq 2 ] || not 'a damaged SCOPE_PROFILER_RUN passes'
[ "$(cat err)" = "scope: info: SCOPE_PROFILER_RUN: 'nonsense' is not NAME=VALUE" ] ||
    not "says '$(cat err)'"

# doc/config.md lists the same settings, defaults and limits.
text='"\([^"]*\)"'
scope info --settings --json |
    sed -n "s/^ *{\"name\": $text.*\"default\": $text, \"allowed\": $text.*/\1|\2|\3/p" >table
sed -n 's/^| `\([a-z0-9_]*\)` | `\{0,1\}\([^`|]*\)`\{0,1\} | \([^|]*\) |.*/\1|\2|\3/p' \
    "$abs_top_srcdir/doc/config.md" | sed 's/|none|/||/' >documented
[ -s table ] || not 'no settings'
diff table documented || not 'doc/config.md and the table of settings differ'

# Wrong use.
for wrong in --nonsense file; do
    scope info $wrong >out 2>err
    [ $? -eq 2 ] || not "$wrong is not refused"
    [ "$(wc -l <err)" -eq 1 ] || not "$wrong: not one line"
done
scope info --help | grep -q '^usage: scope info' || not 'no help'

exit $failed
