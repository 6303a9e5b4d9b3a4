#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# scope run: becomes the command, hands settings down, and says in one line what it cannot do.
# shellcheck disable=SC2154,SC2016 # variables come from tests/run; $ is meant for the inner shell

failed=0
not() {
    echo "run: $*"
    failed=1
}

# gives STATUS COMMAND...: its output is then in out, its messages in err.
gives() {
    wanted=$1
    shift
    "$@" >out 2>err
    status=$?
    [ $status -eq "$wanted" ] || not "$* gives $status, not $wanted: $(cat out err)"
}

# says TEXT: standard error is that one line.
says() {
    [ "$(cat err)" = "$1" ] || not "said '$(cat err)', not '$1'"
}

silent() {
    [ ! -s err ] || not "said '$(cat err)'"
}

# A library with a sanitizer in it cannot be preloaded into programs without: one with nothing in it.
if [ -n "$SANITIZER" ]; then
    : >empty.c
    $CC -shared -fPIC -Wl,--no-as-needed empty.c -o libscope.so || exit 99
    SCOPE_LIBRARY=$PWD/libscope.so
fi
library=$(realpath "$SCOPE_LIBRARY")

# It becomes the command: status, signal, process, input and output.
gives 7 scope run sh -c 'exit 7'
silent
gives 143 sh -c 'scope run sh -c "kill -TERM \$\$"'
gives 0 sh -c 'scope run sh -c "echo \$\$" & echo $!; wait'
[ "$(sort -u out | wc -l)" -eq 1 ] || not 'the command has another process id'
[ "$(echo through | scope run -- cat)" = through ] || not 'standard input does not get through'
gives 127 scope run ./nowhere
says 'scope: run: ./nowhere: No such file or directory'
gives 127 scope run no-such-command
says 'scope: run: no-such-command: command not found'
gives 126 scope run /
says 'scope: run: /: Permission denied'

# Options of the command are its own.
gives 0 scope run echo -q --label x
[ "$(cat out)" = '-q --label x' ] || not "options of the command were taken: $(cat out)"

# Without options nothing but the library is added to the environment.
env >before
gives 0 scope run env
grep -v '^_=' out | sort >after
{ grep -v '^_=' before; echo "LD_PRELOAD=$library"; } | sort | diff - after >difference ||
    not "the environment changed: $(cat difference)"

# What is preloaded already stays, and a libscope stays alone.
[ "$(LD_PRELOAD=libm.so.6 scope run sh -c 'echo "$LD_PRELOAD"')" = "$library:libm.so.6" ] ||
    not 'another preloaded library was lost'
[ "$(LD_PRELOAD=$library scope run sh -c 'echo "$LD_PRELOAD"')" = "$library" ] ||
    not 'the library was preloaded twice'
[ "$(scope run scope run sh -c 'echo "$LD_PRELOAD"')" = "$library" ] ||
    not 'the inner of two preloaded it again'

# Settings go down, whatever their text; a path means the place it means here.
label='two
lines = "\" \\n'
gives 0 scope run -q -o out/x.h5 --label "$label" --output-mode=direct --mpi-record stats \
    --metadata full --no-topology --buffer-limit 9 --set hdf5_chunk_size=8 -- \
    scope info --settings --json
silent
for pair in 'summary false' "file_path $PWD/out/x.h5" 'output_mode direct' 'mpi_record stats' \
    'metadata_detail full' 'topology false' 'buffer_limit 9' 'hdf5_chunk_size 8'; do
    grep -q "\"name\": \"${pair%% *}\", \"value\": \"${pair#* }\", \"from\": \"scope run\"" out ||
        not "$pair did not arrive: $(cat out)"
done
grep -qF '"label", "value": "two\nlines = \"\\\" \\\\n"' out || not "the label changed: $(cat out)"
grep -q '"enabled", "value": "true", "from": "default"' out || not 'a setting came from nowhere'

# The inner of two wins, the outer's other options stay.
gives 0 scope run --label a --buffer-limit 5 scope run --label b scope info --settings --json
grep -q '"label", "value": "b"' out || not 'the inner label does not win'
grep -q '"buffer_limit", "value": "5"' out || not 'the outer option was lost'

# Wrong options: one line, status 2, and the command does not run.
refuses() {
    text=$1
    shift
    gives 2 scope run "$@" touch ran
    says "scope: run: $text"
    [ ! -e ran ] || not 'the command ran all the same'
}
refuses "no such option: '-x' (scope run --help lists them)" -x
refuses "no such option: '--labels' (scope run --help lists them)" --labels a
refuses "buffer_limit = '0' (from scope run): must be an integer from 1 to 1073741824" \
    --buffer-limit 0
refuses "mpi_record = 'all' (from scope run): must be calls, stats or off" --mpi-record all
refuses "unknown setting 'lable' (did you mean 'label'?)" --set lable=x
refuses "--set wants NAME=VALUE, not 'label'" --set label
refuses "file_path = '' (from scope run): must be text of 1 to 4095 bytes" -o ''
gives 2 scope run --label
says "scope: run: no value given to option '--label' (scope run --help lists them)"
gives 2 scope run -q
says 'scope: run: no command given (usage: scope run [OPTIONS] [--] COMMAND [ARGUMENTS])'
SCOPE_LIBRARY=./nowhere gives 2 scope run true
says 'scope: run: SCOPE_LIBRARY: ./nowhere: No such file or directory'
gives 0 scope run --help
grep -q '^usage: scope run' out || not 'no help'

# Commands the library cannot get into run as they would, with one line.
echo 'int main(void) { return 3; }' >three.c
if $CC -static three.c -o static 2>/dev/null || gcc -static three.c -o static 2>/dev/null; then
    gives 3 scope run ./static
    says 'scope: run: ./static is statically linked: it is not recorded (link it with -lscope)'
fi
if gcc -shared -fPIC -Wl,-soname,libmpi.so.99 three.c -o libmpi.so.99 2>/dev/null &&
    gcc three.c -Wl,--no-as-needed "$PWD/libmpi.so.99" -o other 2>/dev/null; then
    LD_LIBRARY_PATH=$PWD gives 3 scope run ./other
    grep -q '^scope: run: ./other uses libmpi.so.99, this libscope was built for libmpi' err ||
        not "another MPI: $(cat err)"
    [ "$(wc -l <err)" -eq 1 ] || not "another MPI: more than one line: $(cat err)"
fi
printf '#!/bin/sh\nexit 5\n' >script && chmod +x script
gives 5 scope run ./script
silent

# A damaged program is the kernel's to refuse.
size=$(wc -c <"$(command -v env)")
cut=0
while [ $cut -lt "$size" ]; do
    head -c $cut "$(command -v env)" >part && chmod +x part
    scope run ./part >/dev/null 2>err </dev/null
    status=$?
    case $status in
    0 | 126 | 127 | 135 | 139) ;; # what is left may even load, and then fall
    *) not "a program cut at $cut bytes gives $status: $(cat err)" ;;
    esac
    cut=$((cut + 4096))
done

# A launcher is told apart: it starts the ranks, not us.
printf '#!/bin/sh\necho "$@"\n' >mpirun && chmod +x mpirun
gives 0 scope run ./mpirun ran
hint='(better: ./mpirun ... scope run ./app)'
says "scope: run: ./mpirun starts the ranks: those on other hosts may go unrecorded $hint"
[ "$(cat out)" = ran ] || not 'the launcher did not run'

exit $failed
