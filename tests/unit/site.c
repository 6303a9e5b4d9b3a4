/* SPDX-License-Identifier: BSD-3-Clause
 *
 * site: equal places have equal numbers and others have not, whatever is loaded where and when.
 * Objects are built here, by $CC.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "site.h"

enum { THREADS = 3, ROUNDS = 300, SITES_MAX = 1 << 20 };

static const char function[] = "int here(void) { return 1; }\n";

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

/* ./NAME.so with the function here() and what text adds. */
static void build(const char *name, const char *flags, const char *text)
{
    char path[64];

    snprintf(path, sizeof path, "%s.c", name);
    write_text(path, text);
    command("${CC:-cc} -g -O1 -fPIC -shared %s -o %s.so %s.c", flags, name, name);
}

static void *load(const char *path)
{
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    if (handle == NULL)
        fail_msg("%s", dlerror());
    return handle;
}

/* An address inside here(). */
static const char *place(void *handle)
{
    const char *address = dlsym(handle, "here");

    assert_non_null(address);
    return address + 1;
}

static int32_t number(const void *address)
{
    int32_t site = sc_site_of(address);

    assert_in_range(site, 0, sc_site_count() - 1);
    return site;
}

static const struct sc_module *module_of(int32_t site)
{
    const struct sc_site *s = sc_site_get(site);

    assert_in_range(s->module, 0, sc_module_count() - 1);
    return sc_module_get(s->module);
}

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text);

    return length >= strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

/* ---- one process, nothing changes ---- */

static void no_address_is_no_site(void **state)
{
    (void)state;
    assert_int_equal(sc_site_of(NULL), -1);
}

static void a_place_has_one_number(void **state)
{
    const char *self = (const char *)(uintptr_t)a_place_has_one_number;
    int32_t first = number(self + 1);

    (void)state;
    assert_int_equal(number(self + 1), first);
    assert_int_not_equal(number(self + 2), first);
    assert_int_equal(sc_site_get(number(self + 2))->offset, sc_site_get(first)->offset + 1);
    assert_int_equal(sc_site_get(number(self + 2))->module, sc_site_get(first)->module);
    assert_int_equal(number(self + 1), first);
}

static void many_places_keep_their_numbers(void **state)
{
    enum { PLACES = 5000 };
    static int32_t numbers[PLACES];
    const char *from = (const char *)dlsym(RTLD_DEFAULT, "printf") + 1;

    (void)state;
    for (int i = 0; i < PLACES; i++)
        numbers[i] = number(from + i);
    for (int i = 0; i < PLACES; i++) {
        assert_int_equal(number(from + i), numbers[i]);
        assert_int_equal(sc_site_get(numbers[i])->offset - sc_site_get(numbers[0])->offset, i);
    }
}

static void the_program_is_a_module(void **state)
{
    const char *self = (const char *)(uintptr_t)the_program_is_a_module;
    int32_t site = number(self + 1);
    char path[PATH_MAX];
    Dl_info info;

    (void)state;
    assert_non_null(realpath("/proc/self/exe", path));
    assert_string_equal(module_of(site)->path, path);
    assert_int_not_equal(dladdr(self, &info), 0);
    assert_int_equal(sc_site_get(site)->offset, self + 1 - (const char *)info.dli_fbase);
    command("test \"$(readelf -n %s 2>/dev/null | sed -n 's/.*Build ID: //p')\" = '%s'", path,
            module_of(site)->build_id);
}

static void errno_is_kept(void **state)
{
    (void)state;
    errno = E2BIG;
    number((const char *)(uintptr_t)errno_is_kept + 3);
    number((const char *)(uintptr_t)errno_is_kept + 3);
    assert_int_equal(errno, E2BIG);
}

static void code_made_at_run_time_has_no_module(void **state)
{
    char *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)state;
    assert_true(code != MAP_FAILED);
    assert_int_equal(sc_site_get(number(code + 5))->module, -1);
    assert_true(sc_site_get(number(code + 5))->offset == (uintptr_t)code + 5);
    assert_int_equal(number(code + 5), number(code + 5));
    munmap(code, 4096);
}

static void the_kernel_s_own_object_is_a_module(void **state)
{
    const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);

    (void)state;
    if (head == NULL)
        skip();
    assert_true(ends_with(module_of(number((const char *)head + 100))->path, ".so.1"));
}

/* ---- what is in a module ---- */

static const char *build_id_with(const char *name, const char *flags, const char *text)
{
    char path[80], code[4000];

    snprintf(code, sizeof code, "%s%s", function, text);
    build(name, flags, code);
    snprintf(path, sizeof path, "./%s.so", name);
    return module_of(number(place(load(path))))->build_id;
}

static void paths_are_absolute(void **state)
{
    char folder[PATH_MAX], expected[PATH_MAX + 16];
    const char *path;
    void *handle;

    (void)state;
    build("relative", "", function);
    assert_non_null(getcwd(folder, sizeof folder));
    snprintf(expected, sizeof expected, "%s/relative.so", folder);
    handle = load("./relative.so");
    assert_int_equal(chdir("/"), 0);
    path = module_of(number(place(handle)))->path;
    assert_int_equal(chdir(folder), 0);
    assert_string_equal(path, expected);
}

static void build_ids_have_any_length(void **state)
{
    (void)state;
    assert_string_equal(build_id_with("short", "-Wl,--build-id=0x12f4", ""), "12f4");
    assert_string_equal(build_id_with("none", "-Wl,--build-id=none", ""), "");
    assert_int_equal(strlen(build_id_with("sha1", "-Wl,--build-id=sha1", "")), 40);
}

/* A section of notes behind another one of odd size, at the alignment and with the sizes given. */
static const char *build_id_of_notes(const char *name, int align, const char *head)
{
    char text[2000];

    snprintf(text, sizeof text,
             "__asm__(\".pushsection .note.own,\\\"a\\\",@note\\n .balign %d\\n"
             " .long 2, 5, 77\\n .ascii \\\"X\\\\0\\\"\\n .balign %d\\n .ascii \\\"abcde\\\"\\n"
             " .balign %d\\n %s\\n .ascii \\\"GNU\\\\0\\\"\\n .balign %d\\n"
             " .byte 0xab, 0xcd, 0xef\\n .balign %d\\n .popsection\\n\");\n",
             align, align, align, head, align, align);
    return build_id_with(name, "-Wl,--build-id=none", text);
}

static void notes_are_read_within_their_bounds(void **state)
{
    (void)state;
    assert_string_equal(build_id_of_notes("four", 4, ".long 4, 3, 3"), "abcdef");
    assert_string_equal(build_id_of_notes("eight", 8, ".long 4, 3, 3"), "abcdef");
    assert_string_equal(build_id_of_notes("long_name", 4, ".long 0xfffffff0, 3, 3"), "");
    assert_string_equal(build_id_of_notes("long_data", 4, ".long 4, 0xfffffff0, 3"), "");
    assert_string_equal(build_id_of_notes("beyond", 4, ".long 4, 60000, 3"), "");
    assert_string_equal(build_id_of_notes("other_type", 4, ".long 4, 3, 4"), "");
}

/* ---- objects come and go ---- */

static void a_module_is_the_same_wherever_it_is_loaded(void **state)
{
    void *handle, *obstacle;
    const char *address;
    int32_t site;

    (void)state;
    build("moves", "", function);
    handle = load("./moves.so");
    address = place(handle);
    site = number(address);
    assert_int_equal(dlclose(handle), 0);
    obstacle = mmap((void *)((uintptr_t)address & ~(uintptr_t)4095), 4096, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(obstacle != MAP_FAILED);
    handle = load("./moves.so");
    assert_ptr_not_equal(place(handle), address);
    assert_int_equal(number(place(handle)), site);
    munmap(obstacle, 4096);
    assert_int_equal(dlclose(handle), 0);
}

/* Loads one object after the other until the second lies where the first was. misses: an address
 * that is new is asked for in between. */
static void one_after_the_other(int (*closes)(void *), bool misses)
{
    const char *const path[] = {"./old.so", "./new.so"};
    const char *address[2];

    build("old", "", function);
    build("new", "", function);
    for (int try = 0; try < 20; try++) {
        void *handle = load(path[0]);

        address[0] = place(handle);
        assert_true(ends_with(module_of(number(address[0]))->path, path[0] + 1));
        assert_int_equal(closes(handle), 0);
        handle = load(path[1]);
        address[1] = place(handle);
        if (misses)
            number((const char *)dlsym(RTLD_DEFAULT, "printf") + 6000 + try);
        assert_true(ends_with(module_of(number(address[1]))->path, path[1] + 1));
        assert_int_equal(closes(handle), 0);
        if (address[0] == address[1])
            return;
    }
    skip();
}

static void an_address_belongs_to_what_is_loaded_there(void **state)
{
    (void)state;
    one_after_the_other(dlclose, false);
}

static void an_unseen_dlclose_is_noticed_at_the_next_miss(void **state)
{
    void *address = dlsym(RTLD_NEXT, "dlclose");
    int (*unseen)(void *);

    (void)state;
    memcpy(&unseen, &address, sizeof unseen);
    one_after_the_other(unseen, true);
}

static void dlclose_answers_as_always(void **state)
{
    void *handle;

    (void)state;
    build("counted", "", function);
    handle = load("./counted.so");
    assert_ptr_equal(load("./counted.so"), handle);
    number(place(handle));
    assert_int_equal(dlclose(handle), 0);
    number(place(handle));
    assert_int_equal(dlclose(handle), 0);
    assert_null(dlopen("./counted.so", RTLD_NOW | RTLD_NOLOAD));
    assert_int_not_equal(dlclose(handle), 0);
    assert_non_null(dlerror());
}

/* A destructor that asks for its own place, and closes another object. */
static void dlclose_may_come_from_a_dlclose(void **state)
{
    int32_t *seen;
    void *handle;

    (void)state;
    build("inner", "", function);
    build("outer", "",
          "#include <dlfcn.h>\n"
          "int here(void) { return 1; }\n"
          "int (*of)(const void *);\n int *seen;\n void *inner;\n"
          "__attribute__((destructor)) static void end(void) {\n"
          "    seen[0] = of((char *)here + 1);\n    dlclose(inner);\n"
          "    seen[1] = of((char *)here + 1);\n}\n");
    handle = load("./outer.so");
    seen = calloc(2, sizeof *seen);
    memcpy(dlsym(handle, "of"), &(int32_t(*[1])(const void *)){sc_site_of}, sizeof(void *));
    *(int32_t **)dlsym(handle, "seen") = seen;
    *(void **)dlsym(handle, "inner") = load("./inner.so");
    assert_int_equal(dlclose(handle), 0);
    assert_true(ends_with(module_of(seen[0])->path, "/outer.so"));
    assert_int_equal(seen[0], seen[1]);
    assert_null(dlopen("./inner.so", RTLD_NOW | RTLD_NOLOAD));
    free(seen);
}

/* ---- threads and processes ---- */

static void *look_around(void *stop)
{
    const char *self = (const char *)(uintptr_t)look_around;
    int32_t first = sc_site_of(self + 1);
    intptr_t wrong = 0;

    for (int i = 0; !__atomic_load_n((bool *)stop, __ATOMIC_RELAXED); i++) {
        wrong += sc_site_of(self + 1) != first;
        wrong += sc_site_of(self + i % 2000) == first && i % 2000 != 1;
    }
    return (void *)wrong;
}

static void start_threads(pthread_t *threads, bool *stop)
{
    *stop = false;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, look_around, stop), 0);
}

static void end_threads(const pthread_t *threads, bool *stop)
{
    void *wrong;

    __atomic_store_n(stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        assert_null(wrong);
    }
}

static void threads_agree_while_objects_come_and_go(void **state)
{
    pthread_t threads[THREADS];
    bool stop;

    (void)state;
    build("old", "", function);
    build("new", "", function);
    start_threads(threads, &stop);
    for (int i = 0; i < ROUNDS; i++) {
        void *handle = load(i % 2 == 0 ? "./old.so" : "./new.so");

        assert_true(
            ends_with(module_of(number(place(handle)))->path, i % 2 == 0 ? "/old.so" : "/new.so"));
        assert_int_equal(dlclose(handle), 0);
    }
    end_threads(threads, &stop);
}

/* The exit status of a child that is given a minute. */
static int in_child(int (*work)(void))
{
    int status = -1;
    pid_t child = fork();

    assert_int_not_equal(child, -1);
    if (child == 0) {
        alarm(60);
        _exit(work());
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static int ask_and_close(void)
{
    void *handle = dlopen("./old.so", RTLD_NOW);
    int32_t site = handle != NULL ? sc_site_of((char *)dlsym(handle, "here") + 1) : -1;

    return site >= 0 && dlclose(handle) == 0 &&
                   ends_with(sc_module_get(sc_site_get(site)->module)->path, "/old.so")
               ? 0
               : 1;
}

static void a_child_goes_on(void **state)
{
    pthread_t threads[THREADS];
    bool stop;

    (void)state;
    build("old", "", function);
    start_threads(threads, &stop);
    for (int i = 0; i < 20; i++)
        assert_int_equal(in_child(ask_and_close), 0);
    end_threads(threads, &stop);
}

/* Of two million places a million have numbers, and keep them. */
static int exhaust(void)
{
    const char *code = (const char *)((uintptr_t)1 << 20); /* nothing is there */
    int32_t known = sc_site_of(code), site = 0;
    long asked = 0;

    while (site >= 0 && asked < 2L * SITES_MAX)
        site = sc_site_of(code + asked++);
    if (sc_site_count() != SITES_MAX || asked >= 2L * SITES_MAX || site != -1)
        return 1;
    return known >= 0 && sc_site_of(code) == known && sc_site_of(code + asked) == -1 ? 0 : 2;
}

static void there_is_an_end_to_sites(void **state)
{
    const char *sanitizer = getenv("SANITIZER");

    (void)state;
    if (sanitizer != NULL && sanitizer[0] != '\0')
        skip(); /* too slow */
    assert_int_equal(in_child(exhaust), 0);
}

/* ---- programs ---- */

/* A program that prints module and offset of a place in main(), and the place's address. */
static void offset_in_program(const char *name, const char *flags, bool is_fixed)
{
    const char *source = getenv("abs_top_srcdir");
    unsigned long long offset, address;
    char text[PATH_MAX], path[PATH_MAX], line[PATH_MAX + 100];
    FILE *out;

    if (source == NULL)
        skip();
    write_text("program.c", "#include <stdio.h>\n#include \"site.h\"\nint main(void) {\n"
                            "    const char *at = (const char *)main + 1;\n"
                            "    const struct sc_site *site = sc_site_get(sc_site_of(at));\n"
                            "    printf(\"%llx %llx %s\\n\", (unsigned long long)site->offset,\n"
                            "           (unsigned long long)(__UINTPTR_TYPE__)at,"
                            " sc_module_get(site->module)->path);\n}\n");
    command("${CC:-cc} -D_GNU_SOURCE %s -I%s/src -o %s program.c %s/src/site.c %s/src/base.c"
            " %s/src/image.c %s/src/clock.c -lpthread -ldl",
            flags, source, name, source, source, source, source);
    snprintf(text, sizeof text, "./%s", name);
    out = popen(text, "r");
    assert_non_null(out);
    assert_non_null(fgets(line, sizeof line, out));
    assert_int_equal(pclose(out), 0);
    assert_int_equal(sscanf(line, "%llx %llx %4095s", &offset, &address, path), 3);
    assert_non_null(realpath(name, text));
    assert_string_equal(path, text);
    assert_int_equal(offset == address, is_fixed);
    command("nm %s | grep -q '^0*%llx T main$'", name, offset - 1);
}

static void a_program_may_be_position_independent(void **state)
{
    (void)state;
    offset_in_program("pie", "-fPIE -pie", false);
}

static void a_program_may_have_a_fixed_place(void **state)
{
    (void)state;
    offset_in_program("fixed", "-fno-pie -no-pie", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_address_is_no_site),
        cmocka_unit_test(a_place_has_one_number),
        cmocka_unit_test(many_places_keep_their_numbers),
        cmocka_unit_test(the_program_is_a_module),
        cmocka_unit_test(errno_is_kept),
        cmocka_unit_test(code_made_at_run_time_has_no_module),
        cmocka_unit_test(the_kernel_s_own_object_is_a_module),
        cmocka_unit_test(paths_are_absolute),
        cmocka_unit_test(build_ids_have_any_length),
        cmocka_unit_test(notes_are_read_within_their_bounds),
        cmocka_unit_test(a_module_is_the_same_wherever_it_is_loaded),
        cmocka_unit_test(an_address_belongs_to_what_is_loaded_there),
        cmocka_unit_test(an_unseen_dlclose_is_noticed_at_the_next_miss),
        cmocka_unit_test(dlclose_answers_as_always),
        cmocka_unit_test(dlclose_may_come_from_a_dlclose),
        cmocka_unit_test(threads_agree_while_objects_come_and_go),
        cmocka_unit_test(a_child_goes_on),
        cmocka_unit_test(there_is_an_end_to_sites),
        cmocka_unit_test(a_program_may_be_position_independent),
        cmocka_unit_test(a_program_may_have_a_fixed_place),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
