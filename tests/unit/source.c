/* SPDX-License-Identifier: BSD-3-Clause
 *
 * source: a call is found at its line in its function, however the object was built; what cannot be
 * known stays an offset and says why. Objects are built here, by $CC and $CXX.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/source.h"
#include "site.h"

/* enter() calls what it is given; the last digit is the line. */
static const char plain[] = "typedef const void *from(void);\n"
                            "const void *enter(from *f);\n"
                            "const void *enter(from *f)\n"
                            "{\n"
                            "    const void *at =\n"
                            "        f();\n"
                            "    __asm__ volatile(\"\");\n"
                            "    return at;\n"
                            "}\n";
enum { PLAIN_LINE = 6 };

static void command(const char *format, ...)
{
    char text[4 * PATH_MAX];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    assert_int_equal(system(text), 0);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
}

/* ./NAME.so out of NAME.c; of NAME.cc or NAME.f90 when flags begin with that. */
static void build(const char *name, const char *flags, const char *text)
{
    static const char *const language[][3] = {
        {"cc ", "cc", "${CXX:-c++}"}, {"f90 ", "f90", "${FC:-gfortran}"}, {"", "c", "${CC:-cc}"}};
    char path[64];
    int i = 0;

    while (strncmp(flags, language[i][0], strlen(language[i][0])) != 0)
        i++;
    flags += strlen(language[i][0]);
    snprintf(path, sizeof path, "%s.%s", name, language[i][1]);
    write_text(path, text);
    command("%s -Wl,--build-id -O1 -fPIC -shared %s -o %s.so %s", language[i][2], flags, name,
            path);
}

static const void *caller(void)
{
    return __builtin_return_address(0);
}

/* Where enter() of ./NAME.so calls. */
struct call {
    const char *path, *build_id;
    uint64_t offset;
};

static struct call call_in(const char *name)
{
    const void *(*enter)(const void *(*f)(void));
    const struct sc_module *module;
    const struct sc_site *site;
    struct call call;
    char path[64];
    void *handle, *address;

    snprintf(path, sizeof path, "./%s.so", name);
    handle = dlopen(path, RTLD_NOW);
    if (handle == NULL)
        fail_msg("%s", dlerror());
    address = dlsym(handle, "enter");
    memcpy(&enter, &address, sizeof enter);
    site = sc_site_get(sc_site_of(enter(caller)));
    module = sc_module_get(site->module);
    call = (struct call){module->path, module->build_id, site->offset};
    dlclose(handle);
    return call;
}

/* "function file:line" and then the notes. */
static char *told(const struct call *call)
{
    struct source_map *map = source_open();
    struct sc_string text = {0};

    source_print(map, call->path, call->build_id, call->offset, &text);
    sc_string_append(&text, "\n", 1);
    source_notes(map, &text);
    source_close(map);
    return text.data;
}

static void assert_told(const struct call *call, const char *expected, const char *note)
{
    char *text = told(call), whole[2 * PATH_MAX];

    snprintf(whole, sizeof whole, "%s\n", expected);
    if (note != NULL)
        snprintf(whole, sizeof whole, "%s\n%s: %s\n", expected, call->path, note);
    assert_string_equal(text, whole);
    free(text);
}

static const char *at_offset(const char *before, const struct call *call)
{
    static char text[PATH_MAX];

    snprintf(text, sizeof text, "%s+0x%jx", before, (uintmax_t)call->offset);
    return text;
}

static void assert_found(const char *name, const char *function, const char *extension, int line)
{
    const struct call call = call_in(name);
    char expected[200];

    snprintf(expected, sizeof expected, "%s %s.%s:%d", function, name, extension, line);
    assert_told(&call, expected, NULL);
}

static bool can(void)
{
    struct sc_string text = {0};
    const bool available = source_available(&text);

    assert_int_not_equal(text.length, 0);
    sc_string_free(&text);
    return available;
}

/* ---- with debug information ---- */

static void a_call_is_found_in_every_dialect(void **state)
{
    static const char *const flags[] = {
        "-g",        "-g -O0", "-gdwarf-4",
        "-gdwarf-5", "-g -gz", "-g -Wl,-z,separate-code -Wl,-Ttext-segment=0x200000"};
    char name[16];

    (void)state;
    if (!can())
        skip();
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        snprintf(name, sizeof name, "dialect%zu", i);
        build(name, flags[i], plain);
        assert_found(name, "enter", "c", PLAIN_LINE);
    }
}

static void the_table_of_ranges_is_not_needed(void **state)
{
    (void)state;
    if (!can())
        skip();
    build("ranges", "-g", plain);
    command("objcopy --remove-section .debug_aranges ranges.so");
    assert_found("ranges", "enter", "c", PLAIN_LINE);
}

static void an_inlined_call_is_where_it_was_written(void **state)
{
    (void)state;
    if (!can())
        skip();
    build("inlined", "-g -O2",
          "typedef const void *from(void);\n"
          "__attribute__((always_inline)) static inline const void *inner(from *f) {\n"
          "    const void *at = f();\n"
          "    __asm__ volatile(\"\");\n"
          "    return at;\n}\n"
          "const void *enter(from *f) { return inner(f); }\n");
    assert_found("inlined", "inner", "c", 3);
}

static const char members[] = "typedef const void *from();\n"
                              "namespace outer { namespace { struct Grid {\n"
                              "    template <int N> static const void *call(from *f);\n"
                              "}; }\n"
                              "template <int N> const void *Grid::call(from *f) {\n"
                              "    const void *at = f();\n"
                              "    __asm__ volatile(\"\");\n"
                              "    return at;\n}\n}\n"
                              "extern \"C\" const void *enter(from *f) {\n"
                              "    return outer::Grid::call<3>(f);\n}\n";

static void cxx_functions_have_their_scopes(void **state)
{
    (void)state;
    if (!can() || system("${CXX:-c++} --version >/dev/null 2>&1") != 0)
        skip();
    build("members", "cc -g -O0", members);
    assert_found("members", "outer::(anonymous)::Grid::call<3>", "cc", 6);
}

static void procedures_of_fortran_modules_have_their_names(void **state)
{
    (void)state;
    if (!can() || system("${FC:-gfortran} --version >/dev/null 2>&1") != 0)
        skip();
    build("modules", "f90 -g -O0",
          "module m\n"
          "  use iso_c_binding\n"
          "  abstract interface\n"
          "    function from() bind(C)\n"
          "      import\n"
          "      type(c_ptr) :: from\n"
          "    end function\n"
          "  end interface\n"
          "contains\n"
          "  function inner(f) result(at)\n"
          "    procedure(from) :: f\n"
          "    type(c_ptr) :: at\n"
          "    at = f()\n"
          "  end function\n"
          "  function enter(f) bind(C) result(at)\n"
          "    procedure(from) :: f\n"
          "    type(c_ptr) :: at\n"
          "    at = inner(f)\n"
          "  end function\n"
          "end module\n");
    assert_found("modules", "inner", "f90", 13);
}

static void debug_information_may_lie_beside(void **state)
{
    (void)state;
    if (!can())
        skip();
    build("beside", "-g", plain);
    command("objcopy --only-keep-debug beside.so beside.debug && strip -g beside.so &&"
            " objcopy --add-gnu-debuglink=beside.debug beside.so");
    assert_found("beside", "enter", "c", PLAIN_LINE);
}

/* ---- without ---- */

static void symbols_name_functions(void **state)
{
    static const char note[] = "has no debug information (compile with -g)";
    struct call call;

    (void)state;
    if (!can())
        skip();
    build("symbols", "-g0", plain);
    call = call_in("symbols");
    assert_told(&call, at_offset("enter symbols.so", &call), note);
    command("strip symbols.so");
    assert_told(&call, at_offset("enter symbols.so", &call), note);
}

/* Of a function without a symbol no other one's name is told. */
static void no_symbol_no_name(void **state)
{
    struct call call;

    (void)state;
    if (!can())
        skip();
    build("hidden", "-g0",
          "typedef const void *from(void);\n"
          "__attribute__((noinline)) static const void *inner(from *f) {\n"
          "    const void *at = f();\n"
          "    __asm__ volatile(\"\");\n"
          "    return at;\n}\n"
          "const void *enter(from *f) {\n"
          "    const void *at = inner(f);\n    __asm__ volatile(\"\");\n    return at;\n}\n");
    command("strip hidden.so");
    call = call_in("hidden");
    assert_told(&call, at_offset("hidden.so", &call), "has no debug information (compile with -g)");
}

static void another_build_is_not_asked(void **state)
{
    struct call call;

    (void)state;
    if (!can())
        skip();
    build("rebuilt", "-g", plain);
    call = call_in("rebuilt");
    build("rebuilt", "-g -DOTHER", "int other;\n");
    assert_told(&call, at_offset("rebuilt.so", &call), "was rebuilt since");
}

static void builds_without_an_id_are_compared_too(void **state)
{
    struct call call;

    (void)state;
    if (!can())
        skip();
    build("nameless", "-g -Wl,--build-id=none", plain);
    call = call_in("nameless");
    assert_told(&call, "enter nameless.c:6", NULL);
    build("nameless", "-g", plain);
    assert_told(&call, at_offset("nameless.so", &call), "was rebuilt since");
    build("nameless", "-g -Wl,--build-id=none", plain);
    call.path = "nameless.so";
    assert_told(&call, at_offset("nameless.so", &call),
                "not found here or in PATH (metadata_detail = full records its folder)");
}

static void what_is_no_object_does_no_harm(void **state)
{
    static const char no_object[] = "no program or shared object";
    struct call call = {"./gone", "abcd", 0x1234};

    (void)state;
    if (!can())
        skip();
    assert_told(&call, "gone+0x1234", "No such file or directory");
    call.path = "gone";
    assert_told(&call, "gone+0x1234",
                "not found here or in PATH (metadata_detail = full records its folder)");
    call.path = "./.";
    assert_told(&call, ".+0x1234", "Invalid argument");
    call.path = "./pipe";
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_told(&call, "pipe+0x1234", "Invalid argument");
    call.path = "./text";
    write_text("text", "no ELF\n");
    assert_told(&call, "text+0x1234", no_object);
    write_text("text", "");
    assert_told(&call, "text+0x1234", no_object);
    call.path = "./part.o";
    write_text("part.c", plain);
    command("${CC:-cc} -g -c part.c");
    assert_told(&call, "part.o+0x1234", no_object);
    call.path = "./part.a";
    command("rm -f part.a && ar rc part.a part.o");
    assert_told(&call, "part.a+0x1234", no_object);
}

/* The rest of a file that was cut off anywhere, and wherever the call was. */
static void cut_files_do_no_harm(void **state)
{
    static char bytes[1 << 20];
    struct call call;
    size_t length;
    FILE *file;

    (void)state;
    if (!can())
        skip();
    build("cut", "-g", plain);
    call = call_in("cut");
    file = fopen("cut.so", "rb");
    assert_non_null(file);
    length = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    for (size_t keep = length; keep > 0; keep -= keep > 1000 ? 331 : 1) {
        assert_int_equal(truncate("cut.so", (off_t)keep), 0);
        for (uint64_t offset = call.offset; offset < (uint64_t)1 << 62; offset *= 1000)
            free(told(&(struct call){call.path, call.build_id, offset}));
    }
    free(told(&(struct call){call.path, call.build_id, 0}));
    free(told(&(struct call){call.path, call.build_id, UINT64_MAX}));
}

/* ---- one map for all ---- */

static void modules_are_opened_once_and_noted_once(void **state)
{
    struct source_map *map = source_open();
    struct sc_string text = {0};
    struct source_place place;
    struct call call;

    (void)state;
    if (!can()) {
        source_close(map);
        skip();
    }
    build("twice", "-g", plain);
    call = call_in("twice");
    assert_true(source_find(map, call.path, call.build_id, call.offset, &place));
    assert_int_equal(unlink("twice.so"), 0);
    assert_true(source_find(map, call.path, call.build_id, call.offset, &place));
    assert_string_equal(place.function, "enter");
    assert_string_equal(place.file, "twice.c");
    assert_int_equal(place.line, PLAIN_LINE);
    assert_false(source_find(map, "./gone", "", 1, &place));
    assert_false(source_find(map, "./gone", "", 2, &place));
    source_notes(map, &text);
    assert_string_equal(text.data, "./gone: No such file or directory\n");
    sc_string_free(&text);
    source_close(map);
}

static void code_in_no_module_is_an_address(void **state)
{
    struct call call = {NULL, NULL, 0x7f001234};

    (void)state;
    assert_told(&call, "0x7f001234", NULL);
}

static void without_libdw_there_are_offsets(void **state)
{
    struct call call = {"/usr/bin/env", "", 0x1234};
    char *text;

    (void)state;
    if (can())
        skip();
    text = told(&call);
    assert_ptr_equal(strstr(text, "env+0x1234\n"), text);
    assert_non_null(strstr(text, "libdw"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_call_is_found_in_every_dialect),
        cmocka_unit_test(the_table_of_ranges_is_not_needed),
        cmocka_unit_test(an_inlined_call_is_where_it_was_written),
        cmocka_unit_test(cxx_functions_have_their_scopes),
        cmocka_unit_test(procedures_of_fortran_modules_have_their_names),
        cmocka_unit_test(debug_information_may_lie_beside),
        cmocka_unit_test(symbols_name_functions),
        cmocka_unit_test(no_symbol_no_name),
        cmocka_unit_test(another_build_is_not_asked),
        cmocka_unit_test(builds_without_an_id_are_compared_too),
        cmocka_unit_test(what_is_no_object_does_no_harm),
        cmocka_unit_test(cut_files_do_no_harm),
        cmocka_unit_test(modules_are_opened_once_and_noted_once),
        cmocka_unit_test(code_in_no_module_is_an_address),
        cmocka_unit_test(without_libdw_there_are_offsets),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
