# SPDX-License-Identifier: BSD-3-Clause
# wrap_f.awk: the wrappers of MPI's Fortran interfaces.
#     awk -f table.awk -f wrap_f.awk mpi.i mpi.table >wrap_f.c
#
# One procedure serves every entry of a routine: its arguments come by reference, with ierror behind
# them and then the lengths of texts. Arguments may be the same variable, or lie in what MPI writes
# (call MPI_Comm_dup(comm, comm, ierror)), so those that go in are copied before the call.
# fortran.h tells the kinds of entries apart, and which MPI has which.

BEGIN {
    # No choice buffers, though void * in C.
    addresses = " extra_state attribute_val baseptr buffer_addr "
    # Fortran has it without these.
    without["MPI_Info_create_env"] = " argc argv "
    # The module mpi has them with TYPE(C_PTR), too.
    with_pointers = " alloc_mem win_allocate win_allocate_shared win_shared_query "
    # Those of MPICH's older interfaces that go to no routine of its C interface.
    alone = " attr_get attr_put comm_get_attr comm_set_attr type_get_attr type_set_attr" \
        " win_get_attr win_set_attr "
    # What was removed from MPI is not in the module mpi_f08, but in the older interfaces even
    # where mpi.h has it no more.
    removed = "MPI_Address MPI_Attr_delete MPI_Attr_get MPI_Attr_put MPI_Errhandler_create" \
        " MPI_Errhandler_get MPI_Errhandler_set MPI_Keyval_create MPI_Keyval_free MPI_Type_extent" \
        " MPI_Type_hindexed MPI_Type_hvector MPI_Type_lb MPI_Type_struct MPI_Type_ub"
    n = split(removed, word, " ")
    for (i = 1; i <= n; i++) {
        is_removed[word[i]] = 1
        declared[word[i]] = 2 # table.awk makes it 1 where mpi.h has it
    }
}

function is_in(all, what) { return index(all, " " what " ") > 0 }

function wrapper(    base, text)
{
    is_own = declared[name] == 2
    if (!is_own) ids = ids "    ID_" name ",\n"
    routine_of = is_own ? "&own_" name : "&sc_routines[ID_" name "]"
    base = tolower(substr(name, 5))
    if (has("hand")) return
    kept = has("query") || has("poll") || has("polls")
    waits = has("polls") ? line_of("polls") : line_of("completes")
    asleep = must_follow() ? "sc_sleeps" : "sc_is_off"
    parameters()
    look_at_lines()
    text = procedure()
    if (has_choice || (name in is_removed && !is_in(alone, base)))
        text = "#ifdef SC_FORTRAN_ALL_FULL\n" text "#endif\n"
    body = body "\n#define PARAMETERS_" name " \\\n" \
        splice(fold("    (", names_typed, ")")) \
        "#define ARGUMENTS_" name " \\\n" splice(fold("    ", names_f, "")) \
        "typedef void sc_f_" name " PARAMETERS_" name ";\n" \
        (is_own ? own_routine() : "") text entries(base)
}

function finished()
{
    print "/* Made by wrap_f.awk from mpi.table and this machine's mpi.h. */"
    print "#include \"fortran.h\"\n"
    print "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n"
    print "#ifdef SC_FORTRAN_OLD\n\nenum {\n" ids "    ROUTINES\n};"
    print body "\n#endif"
}

# One that C does not have.
function own_routine()
{
    return "static struct sc_routine own_" name " = {\"" name "\", \"[\\\"mpi\\\"" \
        (tag == "general" ? "" : ",\\\"" tag "\\\"") "]\", -1};\n"
}

function entries(base,    kind, text)
{
    kind = has_choice ? "CHOICE" : "PLAIN"
    if (sub(/_c$/, "", base))
        return "SC_FORTRAN_LARGE_" kind "(" name ", " base ", " asleep ")\n"
    text = "SC_FORTRAN_" (is_in(alone, base) ? "ALONE" : "OLD") "(" name ", " base ", " \
        toupper(base) ", " asleep ")\n"
    if (is_in(with_pointers, base))
        text = text "SC_FORTRAN_POINTER(" name ", " base ", " toupper(base) ", " asleep ")\n"
    if (!(name in is_removed))
        text = text "SC_FORTRAN_F08_" kind "(" name ", " base ", " asleep ")\n"
    return text
}

# ---- arguments ----

function bare(type)
{
    gsub(/const|\*/, "", type)
    gsub(/ /, "", type)
    return type
}

function is_handle(type) { return type ~ /^MPI_/ && type !~ /^MPI_(Aint|Count|Offset|Status)$/ }

function fortran_type(type)
{
    if (type == "void" || type ~ /function(_c)?$/) return "void *"
    if (type == "char") return "const char *"
    return fortran_number(type) " *"
}

function fortran_number(type) { return type ~ /^MPI_(Aint|Count|Offset)$/ ? type : "MPI_Fint" }

function parameters(    i, type, lengths, length_names)
{
    names_typed = names_f = lengths = length_names = ""
    has_choice = 0
    for (i = 1; i <= args; i++) {
        if (name in without && is_in(without[name], arg_name[i])) continue
        type = bare(arg_type[i])
        names_typed = names_typed fortran_type(type) arg_name[i] ", "
        names_f = names_f arg_name[i] ", "
        if (type == "void" && !is_in(addresses, arg_name[i])) has_choice = 1
        if (type == "char") {
            lengths = lengths ", size_t " arg_name[i] "_len"
            length_names = length_names ", " arg_name[i] "_len"
        }
    }
    names_typed = names_typed "MPI_Fint *ierror" lengths
    names_f = names_f "ierror" length_names
}

# What the lines of the table need: copies of what goes in, C's handles of what comes out.
function look_at_lines(    i, j, n, word)
{
    split("", copied)
    split("", in_c)
    for (i = 1; i <= lines; i++) {
        n = split(line[i], word, / +/)
        for (j = 2; j <= n; j++)
            if (word[j] in index_of) look_at(word[j], word[1])
    }
}

function look_at(word, key,    i, type)
{
    i = index_of[word]
    type = bare(arg_type[i])
    if (arg_array[i] || type == "void") return
    if (type == "char") in_c[word] = type
    else if (arg_type[i] !~ /\*/) copied[word] = type
    else if (type == "MPI_Status" && key == "record") in_c[word] = type
    else if (is_handle(type) && key ~ /^(made|before|opened|message|record)$/) in_c[word] = type
}

function value(word,    i, type)
{
    i = index_of[word]
    type = bare(arg_type[i])
    if (word in in_c) return (type == "char" ? "c_" : "&c_") word
    if (word in copied) return is_handle(type) ? to_c(type, "in_" word) : "in_" word
    if (type == "void") return "sc_fortran_buffer(" word ")"
    if (!arg_array[i]) return word
    if (is_handle(type)) return list_of(word, "FORTRAN")
    return list_of(word, type == "MPI_Count" ? "COUNTS" : "INTS")
}

function list_of(word, kind) { return "(struct sc_list){" word ", SC_LIST_" kind "}" }

function to_c(type, what)
{
    sub(/^MPI_/, "", type)
    sub(/^Datatype$/, "Type", type)
    return "PMPI_" type "_f2c(" what ")"
}

# C's handles of the arguments that a line of the table names.
function convert(text, pad,    i, n, word, out)
{
    n = split(text, word, / +/)
    for (i = 2; i <= n; i++) {
        if (!(word[i] in in_c)) continue
        if (in_c[word[i]] == "char")
            out = out pad "sc_fortran_text(" word[i] ", " word[i] "_len, c_" word[i] ");\n"
        else if (in_c[word[i]] != "MPI_Status")
            out = out pad "c_" word[i] " = " to_c(in_c[word[i]], "*" word[i]) ";\n"
    }
    return out
}

# ---- the procedure ----

function procedure()
{
    return fold("static SC_APART void on_" name "(",
                "sc_f_" name " *next, const void *site, " names_typed, ")") \
        "\n{\n" locals() "\n" before() entered() after() "}\n\n"
}

function forward(pad) { return fold(pad "next(", names_f, ");") "\n" }

function locals(    i, a, text)
{
    text = "    struct sc_call call;\n" (kept ? "    struct sc_op kept;\n" : "") \
        (waits != "" ? "    struct sc_wait wait;\n" : "") "    uint64_t end;\n" \
        (has("polls") ? "    bool is_row;\n" : "") \
        (has("status") ? "    MPI_Fint own_status[SC_FORTRAN_STATUS];\n" : "") \
        "    MPI_Fint own_error = MPI_SUCCESS;\n"
    for (i = 1; i <= args; i++) {
        a = arg_name[i]
        if (a in copied)
            text = text "    const " fortran_number(copied[a]) " in_" a " = *" a ";\n"
        else if (a in in_c)
            text = text "    " in_c[a] " c_" a (in_c[a] == "char" ? "[SC_FORTRAN_TEXT]" : \
                                               null_of(in_c[a])) ";\n"
    }
    return text
}

function null_of(type)
{
    return type == "MPI_Status" ? "" : " = " toupper(type) "_NULL"
}

function before(    i, text, statuses, word)
{
    text = "    if (!sc_fortran_is_followed()" \
        (is_own ? " || !sc_fortran_register(" routine_of ")" : "") ") {\n" \
        forward("        ") "        return;\n    }\n" \
        "    if (ierror == NULL)\n        ierror = &own_error;\n"
    if (has("before") || has("async")) text = text "    sc_finds(&call);\n"
    for (i = 1; i <= lines; i++) {
        if (word_of(line[i], 1) == "before")
            text = text convert(line[i], "    ") \
                "    sc_before_" word_of(line[i], 2) "(&call, " words(line[i], 3) ");\n"
        if (word_of(line[i], 1) == "made")
            text = text "    sc_comm_making(" word_of(line[i], 2) ");\n"
    }
    if (waits != "") {
        statuses = word_of(waits, split(waits, word, / +/))
        text = text fold("    " statuses " = sc_fortran_wait_begin(", "&wait, " begins() ", " \
                         statuses, ");") "\n"
    }
    return text
}

# How many requests a call of the wait family names, and which; one request is a list of one.
function begins(    how, first)
{
    how = word_of(waits, 2)
    first = how == "one" ? "1" : value(word_of(waits, 3))
    return first ", " list_of(word_of(waits, how == "one" ? 3 : 4), "FORTRAN") ", " \
        (how == "all" || how == "some" ? first : "1")
}

function ends(known,    how, n, i, word, rest)
{
    how = word_of(waits, 2)
    n = split(waits, word, / +/)
    for (i = how == "one" ? 4 : 5; i < n; i++) rest = rest ", " word[i]
    if (has("completes") && how != "some") rest = rest ", NULL"
    return "sc_wait_" how "(&wait, *ierror, " known rest ");\n"
}

function entered(    text, steps, pad)
{
    pad = "        "
    text = "    if (!" (kept ? "sc_enter_kept(&call, &kept, " : "sc_enter(&call, ") \
        routine_of ", site)) {\n" forward(pad) opened(pad)
    if (waits != "") text = text pad ends("NULL, 0")
    text = text "    } else {\n"
    if (has("status"))
        text = text pad "if (sc_fortran_is_ignored(" word_of(line_of("status"), 2) "))\n" \
            pad "    " word_of(line_of("status"), 2) " = own_status;\n"
    text = text pad "sc_start(&call);\n" forward(pad) pad "end = sc_stop(&call);\n" opened(pad)
    if (waits != "") text = text pad (has("polls") ? "is_row = " : "") ends("&call, end")
    steps = (has("before") ? pad "    sc_found(&call);\n" : "") recorded(pad "    ")
    if (steps != "") text = text pad "if (" filled() ") {\n" steps pad "}\n"
    if (kept) return text pad "sc_leave_kept(&call, end, *ierror, " is_row() ");\n    }\n"
    return text pad "sc_leave(&call, end, *ierror);\n    }\n"
}

function opened(pad,    text)
{
    text = line_of("opened")
    if (text == "") return ""
    return pad "if (*ierror == MPI_SUCCESS) {\n" convert(text, pad "    ") \
        pad "    sc_opened_" word_of(text, 2) "(" words(text, 3) ");\n" pad "}\n"
}

function filled()
{
    return "sc_filled(&call, *ierror)" (has("poll") ? " && *" word_of(line_of("poll"), 2) : "")
}

function is_row()
{
    if (has("polls")) return "is_row"
    return has("poll") ? "*" word_of(line_of("poll"), 2) " != 0" : "false"
}

function recorded(pad,    i, key, text)
{
    for (i = 1; i <= args; i++)
        if (arg_name[i] in in_c && in_c[arg_name[i]] == "MPI_Status")
            text = text pad "PMPI_Status_f2c(" arg_name[i] ", &c_" arg_name[i] ");\n"
    for (i = 1; i <= lines; i++) {
        key = word_of(line[i], 1)
        if (key == "record")
            text = text shape(line[i], "call.op", pad)
        else if (key == "async")
            text = text fold(pad "sc_request_started(", "&call, " kind_of(line[i]) ", " \
                             request_of(line[i]), ");") "\n"
        else if (key == "starts")
            text = text fold(pad "sc_requests_started(", "&call, " \
                             words(word_of(line[i], 2), 1) ", " \
                             list_of(word_of(line[i], 3), "FORTRAN"), ");") "\n"
    }
    return text (has("persistent") ? pad "sc_request_rests(call.op);\n" : "")
}

function kind_of(text) { return "SC_REQUEST_" word_of(text, 2) }

function request_of(text) { return to_c("MPI_Request", "*" word_of(text, 3)) }

function shape(text, op, pad,    rest)
{
    rest = words(text, 3)
    return fold(pad "sc_bytes_" word_of(text, 2) "(", op (rest == "" ? "" : ", " rest), ");") "\n"
}

function after(    i, key, text)
{
    for (i = 1; i <= lines; i++) {
        key = word_of(line[i], 1)
        if (key == "made" || key == "message")
            text = text "    if (*ierror == MPI_SUCCESS" \
                (has("poll") ? " && *" word_of(line_of("poll"), 2) : "") ") {\n" \
                convert(line[i], "        ")
        if (key == "message")
            text = text "        sc_request_message(" words(line[i], 2) ");\n    }\n"
        if (key == "made")
            text = text "    }\n" \
                fold("    sc_comm_made(", "*ierror, " words(line[i], 2), ");") "\n"
        if (key == "persistent") text = text persistent(line[i])
    }
    return text
}

# What each start of a persistent request moves.
function persistent(text,    i, shapes)
{
    for (i = 1; i <= lines; i++)
        if (word_of(line[i], 1) == "record") shapes = shapes shape(line[i], "&each", "        ")
    return "    if (*ierror == MPI_SUCCESS && sc_comm_is_followed) {\n" \
        "        struct sc_op each = SC_OP_NONE;\n" shapes \
        fold("        sc_request_persistent(", kind_of(text) ", &each, " request_of(text), ");") \
        "\n    }\n"
}

function must_follow()
{
    return has("made") || has("persistent") || has("opened") || has("message") || has("before")
}

# The lines of a macro.
function splice(text)
{
    gsub(/\n/, " \\\n", text)
    return text "\n"
}
