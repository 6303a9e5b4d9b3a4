/*
 * SPDX-License-Identifier: BSD-3-Clause
 */
#include "source.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

#ifdef HAVE_LIBDW
#include <dlfcn.h>
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct module {
    char *path, *build_id;
    Dwfl *dwfl;           /* NULL: nothing to be had */
    Dwfl_Module *file;    /* the only one of it */
    Dwarf_Addr bias;      /* of addresses in it against the file's */
    bool has_lines;       /* of some of its code */
    struct sc_string why; /* why less than function, file and line is known */
};

struct source_map {
    struct module *modules;
    size_t count, capacity;
    struct sc_string function, file;
    char *(*demangle)(const char *name, char *buffer, size_t *length, int *status);
};

bool source_available(struct sc_string *out)
{
    cli_text(out, "libdw %s", dwfl_version(NULL));
    return true;
}

struct source_map *source_open(void)
{
    struct source_map *map = cli_alloc(1, sizeof *map);
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    void *address = library != NULL ? dlsym(library, "__cxa_demangle") : NULL;
    struct rlimit limit;

    memcpy(&map->demangle, &address, sizeof map->demangle);
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_AS, &limit);
    }
    unsetenv("DEBUGINFOD_URLS"); /* looking at a profile asks no server */
    return map;
}

void source_close(struct source_map *map)
{
    for (size_t i = 0; i < map->count; i++) {
        struct module *m = &map->modules[i];

        if (m->dwfl != NULL)
            dwfl_end(m->dwfl);
        sc_string_free(&m->why);
        free(m->path);
        free(m->build_id);
    }
    free(map->modules);
    sc_string_free(&map->function);
    sc_string_free(&map->file);
    free(map);
}

/* ---- modules ---- */

/* A regular file; -1: none, errno says why. */
static int open_file(const char *path)
{
    const int descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat status;

    if (descriptor >= 0 && (fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode))) {
        close(descriptor);
        errno = EINVAL;
        return -1;
    }
    return descriptor;
}

/* In the folders of a list like PATH. */
static int open_in(const char *folders, const char *name)
{
    char *list = folders != NULL ? strdup(folders) : NULL;
    int descriptor = -1;

    for (char *save = NULL, *folder = list; descriptor < 0; folder = NULL) {
        struct sc_string path = {0};

        folder = list != NULL ? strtok_r(folder, ":", &save) : NULL;
        if (folder == NULL)
            break;
        cli_text(&path, "%s/%s", folder, name);
        descriptor = open_file(path.data);
        sc_string_free(&path);
    }
    free(list);
    return descriptor;
}

/* A profile of minimal detail has the names of modules alone; the build id tells whether what is
 * found by them is the right one. */
static int seek_file(const char *name)
{
    int descriptor = open_file(name);

    if (descriptor < 0)
        descriptor = open_in(getenv("PATH"), name);
    if (descriptor < 0)
        descriptor = open_in(getenv("LD_LIBRARY_PATH"), name);
    return descriptor;
}

static bool is_same_build(Dwfl_Module *file, const char *build_id)
{
    const unsigned char *bytes = NULL;
    GElf_Addr where;
    const int length = dwfl_module_build_id(file, &bytes, &where);

    if (length < 0 || strlen(build_id) != 2 * (size_t)length)
        return false;
    for (int i = 0; i < length; i++) {
        char digits[3];

        snprintf(digits, sizeof digits, "%02x", bytes[i]);
        if (memcmp(digits, build_id + 2 * i, 2) != 0)
            return false;
    }
    return true;
}

/* True: it is the file that ran. */
static bool examine(struct module *m)
{
    Elf *elf = dwfl_module_getelf(m->file, &m->bias);
    GElf_Ehdr head;

    if (elf == NULL || gelf_getehdr(elf, &head) == NULL ||
        (head.e_type != ET_EXEC && head.e_type != ET_DYN)) {
        cli_text(&m->why, "no program or shared object");
        return false;
    }
    if (!is_same_build(m->file, m->build_id)) {
        cli_text(&m->why, "was rebuilt since");
        return false;
    }
    return true;
}

static void open_module(struct module *m)
{
    static const Dwfl_Callbacks callbacks = {
        .find_elf = dwfl_build_id_find_elf,
        .find_debuginfo = dwfl_standard_find_debuginfo,
        .section_address = dwfl_offline_section_address,
    };
    const bool is_path = strchr(m->path, '/') != NULL;
    const int descriptor = is_path                  ? open_file(m->path)
                           : m->build_id[0] != '\0' ? seek_file(m->path)
                                                    : -1;
    Dwfl *dwfl;
    Dwarf_Addr bias;

    if (descriptor < 0) {
        if (is_path)
            cli_text(&m->why, "%s", strerror(errno));
        else
            cli_text(&m->why, "not found here or in PATH (metadata_detail = full records its "
                              "folder)");
        return;
    }
    dwfl = dwfl_begin(&callbacks);
    m->file = dwfl != NULL ? dwfl_report_elf(dwfl, m->path, m->path, descriptor, 0, false) : NULL;
    if (m->file == NULL) {
        close(descriptor);
        cli_text(&m->why, "no program or shared object");
    } else if (dwfl_report_end(dwfl, NULL, NULL) == 0 && examine(m)) {
        m->dwfl = dwfl;
        m->has_lines = dwfl_module_getdwarf(m->file, &bias) != NULL;
        if (!m->has_lines)
            cli_text(&m->why, "has no debug information (compile with -g)");
        return;
    }
    if (dwfl != NULL)
        dwfl_end(dwfl);
}

static struct module *find_module(struct source_map *map, const char *path, const char *build_id)
{
    struct module *m;

    for (size_t i = 0; i < map->count; i++)
        if (strcmp(map->modules[i].path, path) == 0 &&
            strcmp(map->modules[i].build_id, build_id) == 0)
            return &map->modules[i];
    if (sc_array_reserve(&map->modules, &map->capacity, map->count + 1, sizeof *m) != 0)
        die("out of memory");
    m = &map->modules[map->count++];
    *m = (struct module){.path = strdup(path), .build_id = strdup(build_id)};
    if (m->path == NULL || m->build_id == NULL)
        die("out of memory");
    open_module(m);
    return m;
}

void source_notes(const struct source_map *map, struct sc_string *out)
{
    for (size_t i = 0; i < map->count; i++)
        if (map->modules[i].why.length > 0)
            cli_text(out, "%s: %s\n", map->modules[i].path, map->modules[i].why.data);
}

/* ---- functions ---- */

static bool is_named_scope(int tag)
{
    return tag == DW_TAG_namespace || tag == DW_TAG_class_type || tag == DW_TAG_structure_type ||
           tag == DW_TAG_union_type;
}

/* The name of a function with the C++ scopes that it was declared in. */
static void name_function(Dwarf_Die *function, struct sc_string *out)
{
    Dwarf_Die declared = *function, *scopes = NULL;
    const char *name = dwarf_diename(function);
    int count;

    for (int hops = 0; hops < 4; hops++) { /* inlined: from the abstract one; then the member */
        Dwarf_Attribute attribute;

        if (dwarf_attr(&declared, DW_AT_abstract_origin, &attribute) == NULL &&
            dwarf_attr(&declared, DW_AT_specification, &attribute) == NULL)
            break;
        if (dwarf_formref_die(&attribute, &declared) == NULL)
            return;
    }
    if (dwarf_diename(&declared) != NULL)
        name = dwarf_diename(&declared);
    if (name == NULL)
        return;
    count = dwarf_getscopes_die(&declared, &scopes); /* outermost last */
    for (int i = count; i-- > 1;)
        if (is_named_scope(dwarf_tag(&scopes[i]))) {
            const char *scope = dwarf_diename(&scopes[i]);

            cli_text(out, "%s::", scope != NULL ? scope : "(anonymous)");
        }
    free(scopes);
    cli_text(out, "%s", name);
}

/* The innermost function below unit; what lies in Fortran modules is looked at apart, which libdw
 * does not do by itself. */
static void find_function(Dwarf_Die *unit, Dwarf_Addr pc, struct sc_string *out)
{
    Dwarf_Die *scopes = NULL, child;
    const int count = dwarf_getscopes(unit, pc, &scopes); /* innermost first */

    for (int i = 0; i < count && out->length == 0; i++) {
        const int tag = dwarf_tag(&scopes[i]);

        if (tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine ||
            tag == DW_TAG_entry_point)
            name_function(&scopes[i], out);
    }
    free(scopes);
    if (dwarf_tag(unit) == DW_TAG_module || dwarf_child(unit, &child) != 0)
        return;
    do {
        if (out->length == 0 && dwarf_tag(&child) == DW_TAG_module)
            find_function(&child, pc, out);
    } while (out->length == 0 && dwarf_siblingof(&child, &child) == 0);
}

static void find_symbol(const struct source_map *map, const struct module *m, Dwarf_Addr address,
                        struct sc_string *out)
{
    const char *name = dwfl_module_addrname(m->file, address);
    char *plain = NULL;
    int status = 0;

    if (name == NULL)
        return;
    if (map->demangle != NULL && strncmp(name, "_Z", 2) == 0)
        plain = map->demangle(name, NULL, NULL, &status);
    cli_text(out, "%s", plain != NULL ? plain : name);
    free(plain);
}

/* ---- lines ---- */

/* The compilation unit of an address; pc is the address as its debug information counts. */
static Dwarf_Die *find_unit(const struct module *m, Dwarf_Addr address, Dwarf_Addr *pc)
{
    Dwarf_Addr bias = 0;
    Dwarf_Die *unit = dwfl_module_addrdie(m->file, address, &bias);

    *pc = address - bias;
    if (unit != NULL)
        return unit;
    while ((unit = dwfl_module_nextcu(m->file, unit, &bias)) != NULL) { /* no .debug_aranges */
        *pc = address - bias;
        if (dwarf_haspc(unit, *pc) > 0)
            return unit;
    }
    return NULL;
}

static int find_line(Dwarf_Die *unit, Dwarf_Addr pc, struct sc_string *file)
{
    Dwarf_Line *line = dwarf_getsrc_die(unit, pc);
    const char *path = line != NULL ? dwarf_linesrc(line, NULL, NULL) : NULL;
    Dwarf_Attribute attribute;
    const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
    const size_t length = folder != NULL ? strlen(folder) : 0;
    int number = 0;

    if (path == NULL || dwarf_lineno(line, &number) != 0 || number < 0)
        return 0;
    if (length > 0 && strncmp(path, folder, length) == 0 && path[length] == '/')
        path += length + 1;
    cli_text(file, "%s", path);
    return number;
}

bool source_find(struct source_map *map, const char *path, const char *build_id, uint64_t offset,
                 struct source_place *place)
{
    const struct module *m = find_module(map, path, build_id);
    Dwarf_Addr address, pc;
    Dwarf_Die *unit;

    *place = (struct source_place){0};
    if (m->dwfl == NULL || offset == 0)
        return false;
    address = offset - 1 + m->bias;
    map->function.length = map->file.length = 0;
    unit = m->has_lines ? find_unit(m, address, &pc) : NULL;
    if (unit != NULL) {
        find_function(unit, pc, &map->function);
        place->line = find_line(unit, pc, &map->file);
    }
    if (map->function.length == 0)
        find_symbol(map, m, address, &map->function);
    place->function = map->function.length > 0 ? map->function.data : NULL;
    place->file = map->file.length > 0 ? map->file.data : NULL;
    return place->function != NULL || place->file != NULL;
}

#else

struct source_map {
    bool was_asked;
};

bool source_available(struct sc_string *out)
{
    cli_text(out, "built without libdw (libdw-dev): call sites are shown as module+offset");
    return false;
}

struct source_map *source_open(void)
{
    return cli_alloc(1, sizeof(struct source_map));
}

void source_close(struct source_map *map)
{
    free(map);
}

bool source_find(struct source_map *map, const char *path, const char *build_id, uint64_t offset,
                 struct source_place *place)
{
    (void)path;
    (void)build_id;
    (void)offset;
    map->was_asked = true;
    *place = (struct source_place){0};
    return false;
}

void source_notes(const struct source_map *map, struct sc_string *out)
{
    if (map->was_asked && !source_available(out))
        cli_text(out, "\n");
}

#endif

void source_print(struct source_map *map, const char *path, const char *build_id, uint64_t offset,
                  struct sc_string *out)
{
    const char *slash = path != NULL ? strrchr(path, '/') : NULL;
    struct source_place place;

    if (path == NULL) {
        cli_text(out, "0x%" PRIx64, offset);
        return;
    }
    source_find(map, path, build_id, offset, &place);
    if (place.function != NULL)
        cli_text(out, "%s ", place.function);
    if (place.file == NULL)
        cli_text(out, "%s+0x%" PRIx64, slash != NULL ? slash + 1 : path, offset);
    else if (place.line > 0)
        cli_text(out, "%s:%d", place.file, place.line);
    else
        cli_text(out, "%s", place.file);
}
