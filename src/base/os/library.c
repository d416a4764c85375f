/* Finds and loads a library, and its symbols. */
#include "base/os/library.h"

#include <dlfcn.h>
#include <glob.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/os/environment.h"
#include "base/os/loader.h"

/* $ORIGIN is the folder of the file that holds this code. Below it is what an installed library
 * brings along; beside a build's folder of programs, cuda/ has the toolkit that the build fetched.
 */
const char *const ga__cuda_folders[] = {
    "$ORIGIN/quarry",
    "$ORIGIN/../cuda/lib",
    "$CUDA_HOME/lib64",
    "$CUDA_HOME/lib",
    "$CUDA_PATH/lib64",
    "/usr/local/cuda/lib64",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "$VIRTUAL_ENV/lib/python3*/site-packages/nvidia/*/lib",
    "$CONDA_PREFIX/lib",
    "$HOME/.local/lib/python3*/site-packages/nvidia/*/lib",
    "/usr/local/lib/python3*/*-packages/nvidia/*/lib",
    NULL,
};

static void forget(const ga__library *l)
{
    for (size_t k = 0; k < l->count; k++)
        memset(l->symbols[k].function, 0, sizeof(void *));
}

static void *find_symbol(void *handle, const ga__symbol *symbol, const ga__spelling *spelling)
{
    char name[128];
    snprintf(name, sizeof name, "%s%s%s", spelling->prefix, symbol->name, spelling->suffix);
    return dlsym(handle, name);
}

/* Loads the symbols. If one is missing, none is loaded: the result is the missing one. */
static const ga__symbol *load_symbols(ga__library *l, void *handle, const ga__spelling *spelling)
{
    for (size_t k = 0; k < l->count; k++) {
        const ga__symbol *symbol = &l->symbols[k];
        void *address = find_symbol(handle, symbol, spelling);
        if (address == NULL && *symbol->since != '\0') {
            forget(l);
            return symbol;
        }
        memcpy(symbol->function, &address, sizeof address);
    }
    return NULL;
}

/* Keeps the reason why a file does not serve: that of the first file, which is the best. */
__attribute__((format(printf, 2, 3))) static void note(ga__library *l, const char *format, ...)
{
    va_list args;
    if (*l->problem != '\0')
        return;
    va_start(args, format);
    vsnprintf(l->problem, sizeof l->problem, format, args);
    va_end(args);
}

/* Loads the symbols in the first spelling that has them; false, with the reason, if none has. */
static bool find_symbols(ga__library *l, void *handle, const char *path)
{
    static const ga__spelling plain[] = {{"", ""}, {NULL, NULL}};
    const ga__spelling *const spellings = l->spellings ? l->spellings : plain;
    const ga__symbol *missing = NULL;
    for (const ga__spelling *s = spellings; s->prefix; s++) {
        const ga__symbol *lacks = load_symbols(l, handle, s);
        l->spelling = s;
        if (!lacks)
            return true;
        missing = missing ? missing : lacks;
    }
    note(l, "%.200s has no %s, which %s %s has", path, missing->name, l->name, missing->since);
    return false;
}

/* Whether version a is older than b; what follows the numbers does not count. */
static bool is_older(const char *a, const char *b)
{
    while (*a != '\0' || *b != '\0') {
        char *a_end, *b_end;
        const long first = strtol(a, &a_end, 10), second = strtol(b, &b_end, 10);
        if (first != second)
            return first < second;
        a = *a_end == '.' ? a_end + 1 : "";
        b = *b_end == '.' ? b_end + 1 : "";
    }
    return false;
}

static bool is_outdated(ga__library *l, const char *path)
{
    ga__version its = {.least = ""};
    if (l->version != NULL)
        l->version(&its);
    if (its.text[0] == '\0' || !is_older(its.text, its.least))
        return false;
    note(l, "%.200s is %s %s, and Quarry needs %s or later", path, its.name, its.text, its.least);
    return true;
}

/* Notes why the loader rejects a file, unless it finds none of a mere name. */
static void note_rejection(ga__library *l, const char *path)
{
    const char *why = dlerror();
    const bool begins = why != NULL && strncmp(why, path, strlen(path)) == 0;
    if (why != NULL && (strchr(path, '/') != NULL || !begins))
        note(l, "%.200s%s%.300s", begins ? "" : path, begins ? "" : ": ", why);
}

static void note_path(ga__library *l, const char *path)
{
    Dl_info where = {0};
    void *function = NULL;
    for (size_t k = 0; k < l->count && function == NULL; k++)
        memcpy(&function, l->symbols[k].function, sizeof function);
    const bool known = function != NULL && dladdr(function, &where) != 0 && where.dli_fname != NULL;
    snprintf(l->path, sizeof l->path, "%s", known ? where.dli_fname : path);
}

/* Loads the file; one that does not suit counts only if `any` does. Such a file and an outdated one
 * stay open, because they may have started threads. */
static bool load_from(ga__library *l, const char *path, bool any)
{
    void *handle = ga__library_open(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == NULL) {
        note_rejection(l, path);
        return false;
    }
    if (!find_symbols(l, handle, path)) {
        ga__library_close(handle);
        return false;
    }
    if (is_outdated(l, path) || (!any && l->suits && !l->suits())) {
        forget(l);
        return false;
    }
    note_path(l, path);
    return true;
}

bool ga__own_folder(char *folder, size_t size)
{
    Dl_info where;
    struct link_map *map = NULL;
    char path[PATH_MAX];
    if (dladdr1((const void *)ga__cuda_folders, &where, (void **)&map, RTLD_DL_LINKMAP) == 0)
        return false;
    /* The program itself has no name there, and the one that it was called by need not be a path.
     */
    if (realpath(*map->l_name == '\0' ? "/proc/self/exe" : map->l_name, path) == NULL)
        return false;
    *strrchr(path, '/') = '\0';
    return (size_t)snprintf(folder, size, "%s", path) < size;
}

/* Replaces the variable at the start of a folder by its value; false if it is not set. */
static bool expand(const char *folder, const char *file, char *pattern, size_t size)
{
    char name[64], own[PATH_MAX];
    const char *start = "", *rest = folder;
    if (*folder == '$') {
        const size_t length = strcspn(folder, "/");
        snprintf(name, sizeof name, "%.*s", (int)length - 1, folder + 1);
        start = strcmp(name, "ORIGIN") != 0       ? ga__environment(name)
                : ga__own_folder(own, sizeof own) ? own
                                                  : NULL;
        rest = folder + length;
    }
    return start != NULL && !(*folder == '$' && *start == '\0') &&
           (size_t)snprintf(pattern, size, "%s%s/%s", start, rest, file) < size;
}

static bool load_from_folder(ga__library *l, const char *folder, const char *file, bool any)
{
    char pattern[PATH_MAX];
    glob_t found = {0};
    bool loaded = false;
    if (!expand(folder, file, pattern, sizeof pattern))
        return false;
    if (glob(pattern, 0, NULL, &found) == 0)
        for (size_t k = 0; k < found.gl_pathc && !loaded; k++)
            loaded = load_from(l, found.gl_pathv[k], any);
    globfree(&found);
    return loaded;
}

static bool load_found(ga__library *l, bool any)
{
    for (const char *const *file = l->files; *file; file++)
        if (load_from(l, *file, any))
            return true;
    for (const char *const *folder = l->folders; *folder; folder++)
        for (const char *const *file = l->files; *file; file++)
            if (load_from_folder(l, *folder, *file, any))
                return true;
    return false;
}

static void explain(ga__library *l, const char *wanted)
{
    char why[sizeof l->problem + 2];
    snprintf(why, sizeof why, "%s%s", *l->problem != '\0' ? ": " : "", l->problem);
    if (wanted != NULL)
        snprintf(l->problem, sizeof l->problem, "%s=%.120s cannot be loaded as %s%.420s; %s",
                 l->variable, wanted, l->name, why, l->advice);
    else
        snprintf(l->problem, sizeof l->problem, "no %s found%.420s%s %s", l->name, why,
                 *why != '\0' ? ";" : ":", l->advice);
}

static bool load(ga__library *l)
{
    if (ga__is_static_program()) {
        snprintf(l->problem, sizeof l->problem, "a program linked with -static cannot load %s",
                 l->name);
        return false;
    }
    const char *wanted = ga__environment(l->variable);
    if (wanted != NULL && *wanted == '\0')
        wanted = NULL;
    l->problem[0] = '\0';
    const bool loaded = wanted != NULL ? load_from(l, wanted, true)
                                       : load_found(l, false) || (l->suits && load_found(l, true));
    if (!loaded) {
        explain(l, wanted);
        return false;
    }
    ga__log(GA_LOG_INFO, "%s loaded: %s", l->name, l->path);
    if (l->ready != NULL)
        l->ready();
    return true;
}

bool ga__library_search(ga__library *l)
{
    pthread_mutex_lock(&l->lock);
    int state = atomic_load_explicit(&l->state, memory_order_relaxed);
    if (state == GA__LIBRARY_UNKNOWN || (state == GA__LIBRARY_MISSING && !l->final)) {
        state = load(l) ? GA__LIBRARY_LOADED : GA__LIBRARY_MISSING;
        atomic_store_explicit(&l->state, state, memory_order_release);
    }
    pthread_mutex_unlock(&l->lock);
    return state == GA__LIBRARY_LOADED;
}
