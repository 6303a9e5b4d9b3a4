# SPDX-License-Identifier: BSD-3-Clause
# table.awk: reads the preprocessed mpi.h and mpi.table, and hands every routine of this MPI to
# wrapper(), once as it is and once with large counts where there is such a twin. Plain awk, line by
# line: gawk, mawk and busybox give the same bytes. mpi.table explains itself.
#
# A back end (wrap_c.awk, wrap_f.awk) defines
#     wrapper()      makes the code of the routine that the globals below describe
#     value(name)    the C expression of an argument, as the library's functions take it
#     finished()     prints what was made
#
# Globals of a routine: name, head ("int "), list (its arguments), args of them with arg_name[i],
# arg_type[i] (without the name) and arg_array[i]; lines of the table as line[1..lines], split into
# words; tag; large: it is the twin with large counts.

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
$1 == "section" && /^section/ {
    routine()
    tag = $2
    next
}
/^[A-Za-z]/ {
    routine()
    prototype = $0
    sub(/[ \t]+$/, "", prototype)
    next
}
{
    sub(/^[ \t]+/, "")
    line[++lines] = $0
}

END {
    if (failed) exit 1
    routine()
    if (failed) exit 1
    finished()
}

function fail(text)
{
    print FILENAME ":" FNR ": " text >"/dev/stderr"
    failed = 1
    exit 1
}

function routine()
{
    if (prototype != "") {
        variant("", "int", "int", "MPI_Aint")
        if (prototype ~ /COUNT|DISP/) variant("_c", "MPI_Count", "MPI_Aint", "MPI_Count")
    }
    prototype = ""
    lines = 0
}

function variant(suffix, count, disp, adisp)
{
    if (!match(prototype, /MPI_[A-Za-z0-9_]+\(/)) fail("no routine in: " prototype)
    name = substr(prototype, RSTART, RLENGTH - 1) suffix
    head = substr(prototype, 1, RSTART - 1)
    list = substr(prototype, RSTART + RLENGTH)
    sub(/\)$/, "", list)
    large = suffix != ""
    gsub(/ADISP/, adisp, list); gsub(/DISP/, disp, list); gsub(/COUNT/, count, list)
    if (!(name in declared)) return
    arguments()
    wrapper()
}

# "const int ranges[][3]" -> name "ranges", type "const int", an array.
function arguments(    i, part, text)
{
    split("", index_of)
    args = list == "void" ? 0 : split(list, part, /, */)
    names = ""
    for (i = 1; i <= args; i++) {
        text = part[i]
        arg_array[i] = text ~ /\[/
        gsub(/\[[0-9]*\]/, "", text)
        arg_name[i] = text
        sub(/^.*[ *]/, "", arg_name[i])
        arg_type[i] = substr(text, 1, length(text) - length(arg_name[i]))
        gsub(/ +$/, "", arg_type[i])
        index_of[arg_name[i]] = i
        names = names (i > 1 ? ", " : "") arg_name[i]
    }
}

# The words of a table line from the given one on as arguments of a C call: arguments of the routine
# as value() says, anything else (numbers, constants) as it is.
function words(text, from,    n, i, word, out)
{
    n = split(text, word, / +/)
    for (i = from; i <= n; i++)
        out = out (i > from ? ", " : "") (word[i] in index_of ? value(word[i]) : word[i])
    return out
}

function word_of(text, i,    word)
{
    split(text, word, / +/)
    return word[i]
}

# The first line that begins with the key; "" if there is none.
function line_of(key,    i)
{
    for (i = 1; i <= lines; i++)
        if (word_of(line[i], 1) == key) return line[i]
    return ""
}

function has(key) { return line_of(key) != "" }

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
    return n == 0 ? text line tail : text line
}
