#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# doc/format.md names every object, attribute and member of src/layout.h, and its example works.
# shellcheck disable=SC2154 # abs_top_srcdir comes from make, through tests/run
page=$abs_top_srcdir/doc/format.md
layout=$abs_top_srcdir/src/layout.h
bad=0

for name in $(sed -n 's/^#define SC_[DGA]_[A-Z_]* "\([^"]*\)".*/\1/p' "$layout") \
    $(sed -n 's/^ *FIELD([a-z0-9_]*, [A-Z0-9]*, \([a-z_0-9]*\)).*/\1/p' "$layout"); do
    grep -q "\`$name\`" "$page" || grep -q "^### $name\$" "$page" || grep -q "^## $name\$" "$page" || {
        echo "doc/format.md does not name $name"
        bad=1
    }
done
version() {
    sed -n "s/^#define $1 \([0-9]*\).*/\1/p" "$layout"
}
for text in "\`scope_profiler_schema\` (integer) is $(version SC_SCHEMA_VERSION)\\." \
    "\`version\` of \`/scope\` (integer) is $(version SC_SCOPE_VERSION);"; do
    grep -q "$text" "$page" || {
        echo "doc/format.md does not say: $text"
        bad=1
    }
done
[ $bad -eq 0 ] || exit 1

for python in python3 /usr/bin/python3; do
    $python -c 'import h5py, numpy' 2>/dev/null && break
    python=
done
if [ -z "$python" ]; then
    echo 'no Python with h5py: the example of doc/format.md was not run'
    exit 77
fi
sed -n '/^<!-- example: events.py -->$/,/^<!-- end of example -->$/p' "$page" |
    sed '/^<!--/d; /^```/d' >events.py
cat >expected <<'END'
5051000000 5111000000
5111000000 5171000000
5171000000 5231000000
END
$python events.py "$abs_top_srcdir/tests/golden/synthetic-v1.h5" 2 step | head -3 >got || exit 1
diff expected got
