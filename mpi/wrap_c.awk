# SPDX-License-Identifier: BSD-3-Clause
# wrap_c.awk: the wrappers of MPI's C interface.
#     awk -f table.awk -f wrap_c.awk mpi.i mpi.table >wrap_c.c
#
# What is exported forwards its arguments untouched when nothing is to be done, and else hands them
# on to a function of its own that does all in the order: before, start, MPI, stop, record, leave,
# after.

function wrapper(    id)
{
    id = "ID_" name
    ids = ids "    " id ",\n"
    rows = rows "    { \"" name "\", \"[\\\"mpi\\\"" \
        (tag == "general" ? "" : ",\\\"" tag "\\\"") "]\", -1 },\n"
    if (has("hand")) {
        handed = handed "struct sc_routine *const sc_routine_" name " = &sc_routines[" id "];\n"
        return
    }
    kept = has("query") || has("poll") || has("polls")
    waits = has("polls") ? line_of("polls") : line_of("completes")
    body = body "\n" fold("static SC_APART " head "on_" name "(",
                          (args > 0 ? list ", " : "") "const void *site", ")") \
        "\n{\n" locals() "\n" \
        before() entered("    ") after() "    return rc;\n}\n\n" \
        fold("SC_EXPORT " head name "(", list, ")") "\n{\n    if (" \
        (must_follow() ? "sc_sleeps" : "sc_is_off") "())\n" forward("        return ") \
        fold("    return on_" name "(", (args > 0 ? names ", " : "") "__builtin_return_address(0)",
             ");") "\n}\n"
}

function finished()
{
    print "/* Made by wrap_c.awk from mpi.table and this machine's mpi.h. */"
    print "#include \"hooks.h\"\n"
    print "#pragma GCC diagnostic ignored \"-Wdeprecated-declarations\"\n"
    print "enum {\n" ids "    ROUTINES\n};\n"
    print "struct sc_routine sc_routines[ROUTINES] = {\n" rows "};"
    print "const int sc_routine_count = ROUTINES;"
    printf "%s%s", handed, body
}

# Communicators, files, windows and persistent requests are followed whether calls are recorded or
# not.
function must_follow()
{
    return has("made") || has("persistent") || has("opened") || has("message") || has("before")
}

function value(word,    i)
{
    i = index_of[word]
    if (!arg_array[i]) return word
    if (arg_type[i] ~ /MPI_(Datatype|Request)/) return "(struct sc_list){" word ", SC_LIST_C}"
    if (arg_type[i] ~ /MPI_Count/) return "(struct sc_list){" word ", SC_LIST_COUNTS}"
    if (arg_type[i] ~ /int$/) return "(struct sc_list){" word ", SC_LIST_INTS}"
    return word
}

function forward(start) { return fold(start "P" name "(", names, ");") "\n" }

function locals()
{
    return "    struct sc_call call;\n" (kept ? "    struct sc_op kept;\n" : "") \
        (waits != "" ? "    struct sc_wait wait;\n" : "") \
        (has("status") ? "    MPI_Status own_status;\n" : "") "    uint64_t end;\n" \
        (has("polls") ? "    bool is_row;\n" : "") "    int rc;\n"
}

function before(    i, text, statuses)
{
    if (has("before") || has("async")) text = "    sc_finds(&call);\n"
    for (i = 1; i <= lines; i++) {
        if (word_of(line[i], 1) == "before")
            text = text "    sc_before_" word_of(line[i], 2) "(&call, " words(line[i], 3) ");\n"
        if (word_of(line[i], 1) == "made")
            text = text "    sc_comm_making(" word_of(line[i], 2) ");\n"
    }
    if (waits != "") {
        statuses = word_of(waits, split(waits, word, / +/))
        text = text fold("    " statuses " = sc_wait_begin(", "&wait, " begins() ", " statuses,
                         ");") "\n"
    }
    return text
}

# How many requests a call of the wait family names, and which; one request is a list of one.
function begins(    how, first)
{
    how = word_of(waits, 2)
    first = how == "one" ? "1" : word_of(waits, 3)
    return first ", (struct sc_list){" word_of(waits, how == "one" ? 3 : 4) ", SC_LIST_C}, " \
        (how == "all" || how == "some" ? first : "1")
}

# The call that takes notice of what MPI says is complete. known: the recorded call and its end.
# What lies between requests and statuses in the prototype tells it; a wait has no flag.
function ends(known,    how, n, i, word, rest)
{
    how = word_of(waits, 2)
    n = split(waits, word, / +/)
    for (i = how == "one" ? 4 : 5; i < n; i++) rest = rest ", " word[i]
    if (has("completes") && how != "some") rest = rest ", NULL"
    return "sc_wait_" how "(&wait, rc, " known rest ")"
}

# Calls that are not recorded because recording is paused or they are part of another one.
function entered(pad,    enter, text, steps)
{
    enter = kept ? "sc_enter_kept(&call, &kept, " : "sc_enter(&call, "
    text = pad "if (!" enter "&sc_routines[ID_" name "], site)) {\n" forward(pad "    rc = ") \
        opened(pad "    ")
    if (waits != "") text = text pad "    " ends("NULL, 0") ";\n"
    text = text pad "} else {\n"
    if (has("status"))
        text = text pad "    if (" word_of(line_of("status"), 2) " == MPI_STATUS_IGNORE)\n" \
            pad "        " word_of(line_of("status"), 2) " = &own_status;\n"
    text = text pad "    sc_start(&call);\n" forward(pad "    rc = ") \
        pad "    end = sc_stop(&call);\n" opened(pad "    ")
    if (waits != "")
        text = text pad "    " (has("polls") ? "is_row = " : "") ends("&call, end") ";\n"
    steps = (has("before") ? pad "        sc_found(&call);\n" : "") recorded(pad "        ")
    if (steps != "") text = text pad "    if (" filled() ") {\n" steps pad "    }\n"
    if (kept) text = text pad "    sc_leave_kept(&call, end, rc, " is_row() ");\n"
    else text = text pad "    sc_leave(&call, end, rc);\n"
    return text pad "}\n"
}

function opened(pad,    text)
{
    text = line_of("opened")
    if (text == "") return ""
    return pad "if (rc == MPI_SUCCESS)\n" \
        pad "    sc_opened_" word_of(text, 2) "(" words(text, 3) ");\n"
}

function filled()
{
    return "sc_filled(&call, rc)" (has("poll") ? " && *" word_of(line_of("poll"), 2) : "")
}

function is_row()
{
    if (has("polls")) return "is_row"
    return has("poll") ? "*" word_of(line_of("poll"), 2) " != 0" : "false"
}

# A persistent request moves nothing when it is made: its shapes describe what each start moves.
function recorded(pad,    i, key, text)
{
    for (i = 1; i <= lines; i++) {
        key = word_of(line[i], 1)
        if (key == "record")
            text = text pad "sc_bytes_" word_of(line[i], 2) "(call.op" rest_of(line[i], 3) ");\n"
        else if (key == "async")
            text = text pad "sc_request_started(&call, SC_REQUEST_" word_of(line[i], 2) ", *" \
                word_of(line[i], 3) ");\n"
        else if (key == "starts")
            text = text pad "sc_requests_started(&call, " word_of(line[i], 2) \
                ", (struct sc_list){" word_of(line[i], 3) ", SC_LIST_C});\n"
    }
    return text (has("persistent") ? pad "sc_request_rests(call.op);\n" : "")
}

function rest_of(text, from,    rest)
{
    rest = words(text, from)
    return rest == "" ? "" : ", " rest
}

function after(    i, key, text)
{
    for (i = 1; i <= lines; i++) {
        key = word_of(line[i], 1)
        if (key == "made") text = text "    sc_comm_made(rc" rest_of(line[i], 2) ");\n"
        if (key == "message")
            text = text "    if (rc == MPI_SUCCESS" \
                (has("poll") ? " && *" word_of(line_of("poll"), 2) : "") \
                ")\n        sc_request_message(" words(line[i], 2) ");\n"
        if (key == "persistent") text = text persistent(line[i])
    }
    return text
}

function persistent(text,    i, shapes)
{
    for (i = 1; i <= lines; i++)
        if (word_of(line[i], 1) == "record")
            shapes = shapes "        sc_bytes_" word_of(line[i], 2) "(&each" \
                rest_of(line[i], 3) ");\n"
    return "    if (rc == MPI_SUCCESS && sc_comm_is_followed) {\n" \
        "        struct sc_op each = SC_OP_NONE;\n" shapes \
        "        sc_request_persistent(SC_REQUEST_" word_of(text, 2) ", &each, *" word_of(text, 3) \
        ");\n    }\n"
}
