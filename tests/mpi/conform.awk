# SPDX-License-Identifier: BSD-3-Clause
# conform.awk: a recorder below the library and a caller above it, for every routine that is wrapped
# and every Fortran procedure that is exported.
#     awk -v entries="mpi_send_ mpi_send_f08_ ..." -f mpi/table.awk -f tests/mpi/conform.awk \
#         mpi.i mpi.table >made.c
# entries: the procedures the library exports. Each must be one of a routine of the table, and each
# routine must have them.
#
# One file, compiled twice: with CONFORM_FAKE it holds the PMPI_ routines of the recorder and MPI's
# own Fortran procedures, without it the calls and the table of them, which conform.c goes through.

BEGIN {
    # Called in an order of their own by conform.c: a program calls them once.
    by_hand = " MPI_Init MPI_Init_thread MPI_Finalize "
    # Fortran has it without these.
    without["MPI_Init"] = without["MPI_Init_thread"] = without["MPI_Info_create_env"] = \
        " argc argv "
    # MPICH's goes to C's, which is wrapped.
    without_old["MPI_Pcontrol"] = 1
    # What was removed from MPI is not in the module mpi_f08, but in the older interfaces even where
    # this mpi.h has it no more.
    n = split("Address Attr_delete Attr_get Attr_put Errhandler_create Errhandler_get" \
              " Errhandler_set Keyval_create Keyval_free Type_extent Type_hindexed Type_hvector" \
              " Type_lb Type_struct Type_ub", word, " ")
    for (i = 1; i <= n; i++) {
        without_f08["MPI_" word[i]] = 1
        declared["MPI_" word[i]] = 2 # table.awk makes it 1 where mpi.h has it
    }
    n = split(entries, word, " ")
    for (i = 1; i <= n; i++) is_entry[word[i]] = 1
}

function wrapper()
{
    is_by_hand = index(by_hand, " " name " ") > 0
    if (is_by_hand) seen[name] = 1
    sub(/, \.\.\.$/, "", list)
    arguments()
    ignores = has("status") || has("polls") || has("completes") ? 1 : 0
    if (declared[name] == 1) {
        declare()
        fakes = fakes fake()
        calls = calls call()
        rows = rows row(name, "C", c_arguments())
    }
    procedures()
}

function value(word) { return word }

function finished(    i, n, entry, word)
{
    n = split(by_hand, word, " ")
    for (i = 1; i <= n; i++)
        if (!(word[i] in seen)) fail("not in mpi.table: " word[i])
    for (entry in is_entry) fail("not of a routine of mpi.table: " entry)
    print "/* Made by conform.awk. */\n#include \"conform.h\"\n"
    print "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\""
    print "#pragma GCC diagnostic ignored \"-Wsizeof-array-argument\"\n"
    words_of_procedures()
    print "\n#ifdef CONFORM_FAKE\n\nstruct conform_script conform_script;"
    print fakes "\n" procedure_fakes "\n#else"
    print calls "\n" procedure_calls "\nconst struct conform_routine conform_routines[] = {"
    printf "%s", rows
    print "};"
    print "const int conform_routine_count = sizeof conform_routines / sizeof *conform_routines;"
    print "\n#endif"
}

# ---- C ----

# How a variable of an argument's type is declared; & is the name.
function declare(    i, part)
{
    split("", declared_as)
    split(list, part, /, */)
    for (i = 1; i <= args; i++) {
        declared_as[i] = part[i]
        if (sub(/\[\]\[3\]$/, "", declared_as[i])) sub(arg_name[i] "$", "(*&)[3]", declared_as[i])
        else if (sub(/\[\]$/, "", declared_as[i])) sub(arg_name[i] "$", "*&", declared_as[i])
        else if (arg_type[i] !~ /\*/) sub(/^const /, "", declared_as[i])
    }
}

function fake(    i, text, typed)
{
    typed = list (name == "MPI_Pcontrol" ? ", ..." : "")
    text = "\n" fold(head "P" name "(", typed, ")") "\n{\n" \
        fold("    static " head "(*real)(", typed, ");") "\n" \
        "    uint64_t word[CONFORM_WORDS] = {0};\n    int rc;\n\n"
    for (i = 1; i <= args; i++)
        text = text "    CONFORM_KEEP(" i - 1 ", " arg_name[i] ");\n"
    return text "    if (conform_takes(\"" name "\", word, " args ", &rc))\n        return rc;\n" \
        "    CONFORM_FIND(real, \"P" name "\");\n" fold("    return real(", names, ");") "\n}\n"
}

function call(    i, text)
{
    text = "\nstatic int call_" name "(const uint64_t *word)\n{\n"
    for (i = 1; i <= args; i++) text = text "    " declared_as[i] ";\n"
    for (i = 1; i <= args; i++) text = text "    CONFORM_GIVE(" i - 1 ", " arg_name[i] ");\n"
    if (args == 0) text = text "    (void)word;\n"
    return text fold("    return " name "(", names, ");") "\n}\n"
}

function c_arguments(    i, text)
{
    count = 0
    for (i = 1; i <= args; i++)
        text = text argument(arg_name[i], kind_of(i), kind_of(i), depth(i), is_const(i),
                             arg_array[i])
    return text
}

# ---- rows ----

function row(entry, language, described)
{
    return "    {\"" entry "\", \"" name "\", call_" entry ", CONFORM_" language ", " count ", " \
        is_by_hand ", " ignores ",\n        {" (described == "" ? "{0}" : described) "}},\n"
}

# const: not written; array: of several elements.
function argument(what, kind, type, pointers, const, array)
{
    if (type == "void" || type == "function") type = "void *"
    return (count++ > 0 ? "," : "") "\n        {\"" what "\", CONFORM_" kind ", sizeof(" type \
        "), " pointers ", " (const ? 1 : 0) ", " (array ? 1 : 0) "}"
}

function kind_of(i,    type)
{
    type = arg_type[i]
    gsub(/const|[ *]/, "", type)
    return type ~ /_function(_c)?$/ ? "function" : type
}

# How many pointers are in front of the value.
function depth(i,    text)
{
    text = arg_type[i]
    return gsub(/\*/, "", text) + arg_array[i]
}

function is_const(i) { return arg_type[i] ~ /^const / }

# ---- Fortran ----

# A routine with large counts is an entry of the one without.
function procedures(    base, tail, old, f08)
{
    base = tolower(name)
    if (sub(/_c$/, "", base)) tail = "large_"
    old = tail == "" && procedure(base "_", "OLD")
    procedure(base "_cptr_", "OLD")
    f08 = procedure(base "_f08_" tail, "F08") + procedure(base "_f08ts_" tail, "F08")
    if (!old && tail == "" && !(name in without_old)) fail(name " is not exported for Fortran")
    if (f08 != (name in without_f08 ? 0 : 1)) fail(name " is exported for mpi_f08 " f08 " times")
}

function procedure(entry, language,    described)
{
    if (!(entry in is_entry)) return 0
    delete is_entry[entry]
    described = fortran_arguments()
    if (count > most) most = count
    procedure_fakes = procedure_fakes "CONFORM_BELOW(CONFORM_BELOW_" language "(" \
        substr(entry, 4) "), " entry ", " count ")\n"
    procedure_calls = procedure_calls "CONFORM_CALL(" entry ", " count ")\n"
    rows = rows row(entry, language, described)
    return 1
}

# All by reference, ierror behind them, then the lengths of texts.
function fortran_arguments(    i, kind, type, text, lengths)
{
    count = lengths = 0
    for (i = 1; i <= args; i++) {
        if (name in without && index(without[name], " " arg_name[i] " ")) continue
        kind = type = kind_of(i)
        if (kind == "char") lengths++
        if (kind ~ /^MPI_/ && kind !~ /^MPI_(Aint|Count|Offset|Status)$/) type = "MPI_Fint"
        if (depth(i) == 0) text = text argument(arg_name[i], kind, type, "CONFORM_REFERENCE", 1, 0)
        else text = text argument(arg_name[i], kind, type, 1, is_const(i), arg_array[i])
    }
    if (name != "MPI_Pcontrol") text = text argument("ierror", "ierror", "MPI_Fint", 1, 0, 0)
    for (i = 1; i <= lengths; i++) text = text argument("a length", "length", "size_t", 0, 0, 0)
    return text
}

# Their arguments are words, whatever they are; so many of them as parameters and as arguments.
function words_of_procedures(    i, typed, given, kept)
{
    for (i = 1; i <= most; i++) {
        typed = typed (i > 1 ? ", " : "") "uint64_t w" i - 1
        given = given (i > 1 ? ", " : "") "word[" i - 1 "]"
        kept = kept (i > 1 ? ", " : "") "w" i - 1
        print "#define CONFORM_TYPED_" i " " typed
        print "#define CONFORM_GIVEN_" i " " given
        print "#define CONFORM_KEPT_" i " " kept
    }
}
