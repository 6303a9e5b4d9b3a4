# SPDX-License-Identifier: BSD-3-Clause
# wrap.awk: a C wrapper for every routine of mpi.table that this MPI has.
#     awk -f wrap.awk mpi.i mpi.table >wrap_c.c        (mpi.i: the preprocessed mpi.h)
# Plain awk, line by line: gawk, mawk and busybox give the same bytes. mpi.table explains itself.

# First file: the names MPI declares.
FNR == NR {
    n = split($0, word, /[^A-Za-z0-9_]+/)
    for (i = 1; i <= n; i++)
        if (word[i] ~ /^PMPI_/) declared[substr(word[i], 2)] = 1
    next
}

# Second file.
/^[ \t]*#/ || /^[ \t]*$/ { next }
prototype != "" && prototype !~ /\)$/ {
    gsub(/^[ \t]+|[ \t]+$/, "")
    prototype = prototype " " $0
    next
}
$1 == "section" && $0 ~ /^section/ {
    finish()
    tags = "[\\\"mpi\\\"" ($2 == "general" ? "" : ",\\\"" $2 "\\\"") "]"
    next
}
/^[A-Za-z]/ {
    finish()
    prototype = $0
    sub(/[ \t]+$/, "", prototype)
    next
}
$1 == "hand" { hand = 1; next }
$1 == "record" { record = record step($2, "call.op"); next }
$1 == "made" {
    making = "    sc_comm_making(" $2 ");\n"
    made = "    sc_comm_made(rc" arguments(2) ");\n"
    next
}
{ fail("unknown line: " $0) }

END {
    if (failed) exit 1
    finish()
    if (failed) exit 1
    print "/* Made by wrap.awk from mpi.table and this machine's mpi.h. */"
    print "#include \"hooks.h\"\n"
    print "enum {\n" ids "    ROUTINES\n};\n"
    print "struct sc_routine sc_routines[ROUTINES] = {\n" rows "};"
    print "const int sc_routine_count = ROUTINES;"
    printf "%s%s", handed, body
}

function fail(text)
{
    print FILENAME ":" FNR ": " text >"/dev/stderr"
    failed = 1
    exit 1
}

function arguments(from,    i, text)
{
    for (i = from; i <= NF; i++) text = text ", " $i
    return text
}

# One statement of what a recorded call leaves behind.
function step(name, first) { return "            sc_bytes_" name "(" first arguments(3) ");\n" }

# A call or a prototype in lines of at most 100 columns, continued behind its parenthesis.
function fold(head, list, tail,    n, i, part, line, text, pad)
{
    pad = sprintf("%" length(head) "s", "")
    n = split(list, part, /, /)
    line = head
    for (i = 1; i <= n; i++) {
        part[i] = part[i] (i < n ? "," : tail)
        if (i > 1 && length(line) + 1 + length(part[i]) > 100) {
            text = text line "\n"
            line = pad part[i]
        } else {
            line = line (i > 1 ? " " : "") part[i]
        }
    }
    return text line
}

function finish()
{
    if (prototype != "") wrap("", "int", "int", "MPI_Aint")
    # A routine with large counts has a twin: wrap("_c", "MPI_Count", "MPI_Aint", "MPI_Count").
    prototype = record = making = made = ""
    hand = 0
}

# Names only: "const int ranges[][3]" -> "ranges".
function names_of(list,    n, i, part, text)
{
    if (list == "void") return ""
    n = split(list, part, /, /)
    for (i = 1; i <= n; i++) {
        gsub(/\[[0-9]*\]/, "", part[i])
        sub(/^.*[ *]/, "", part[i])
        text = text (i > 1 ? ", " : "") part[i]
    }
    return text
}

function wrap(suffix, count, disp, adisp,    name, list, head, names, call)
{
    if (!match(prototype, /MPI_[A-Za-z0-9_]+\(/)) fail("no routine in: " prototype)
    name = substr(prototype, RSTART, RLENGTH - 1) suffix
    head = substr(prototype, 1, RSTART - 1)
    list = substr(prototype, RSTART + RLENGTH)
    sub(/\)$/, "", list)
    if (!(name in declared)) return

    ids = ids "    ID_" name ",\n"
    rows = rows "    { \"" name "\", \"" tags "\", -1 },\n"
    if (hand) {
        handed = handed "struct sc_routine *const sc_routine_" name \
            " = &sc_routines[ID_" name "];\n"
        return
    }
    gsub(/ADISP/, adisp, list); gsub(/DISP/, disp, list); gsub(/COUNT/, count, list)
    names = names_of(list)

    # What is exported forwards its arguments untouched or hands them on.
    body = body "\n" fold("static SC_APART " head "on_" name "(", list, ")") \
        "\n{\n    struct sc_call call;\n" \
        (made == "" ? recording(name, names) : making_one(name, names)) \
        "    return rc;\n}\n\n" fold("SC_EXPORT " head name "(", list, ")") "\n{\n" \
        "    if (" (made == "" ? "sc_is_off" : "sc_sleeps") "())\n" \
        fold("        return P" name "(", names, ");") "\n" \
        fold("    return on_" name "(", names, ");") "\n}\n"
}

function recording(name, names)
{
    return "    uint64_t end;\n    int rc;\n\n" \
        "    if (!sc_enter(&call, &sc_routines[ID_" name "]))\n" \
        fold("        return P" name "(", names, ");") "\n" recorded("    ", name, names)
}

# Communicators are followed whether calls are recorded or not.
function making_one(name, names)
{
    return "    int rc;\n\n" making \
        "    if (!sc_enter(&call, &sc_routines[ID_" name "])) {\n" \
        fold("        rc = P" name "(", names, ");") "\n    } else {\n        uint64_t end;\n" \
        recorded("        ", name, names) "    }\n" made
}

function recorded(pad, name, names,    text, steps)
{
    text = pad "sc_start(&call);\n" fold(pad "rc = P" name "(", names, ");") "\n" \
        pad "end = sc_stop(&call);\n"
    steps = record
    gsub(/            sc_/, pad "    sc_", steps)
    if (steps ~ /\n./) text = text pad "if (sc_filled(&call, rc)) {\n" steps pad "}\n"
    else if (steps != "") text = text pad "if (sc_filled(&call, rc))\n" steps
    return text pad "sc_leave(&call, end, rc);\n"
}
