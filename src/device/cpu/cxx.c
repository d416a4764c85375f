/* Runs the system's C++ compiler and reads the shared object that it makes. */
#include "device/cpu/cxx.h"

#include <assert.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/setting.h"
#include "base/os/loader.h"
#include "base/os/system.h"
#include "base/strbuf.h"
#include "base/os/temporary.h"
#include "device/cpu/compiler.h"
#include "device/cpu/processor.h"

#define LOG_LIMIT 4000        /* bytes of the compiler's log in a message */
#define DEFAULT_TIMEOUT 120.0 /* seconds for one compile */

/* A small kernel takes 25 ms. -nostdlib (no start files, no C++ runtime) and -pipe (the assembler
 * runs beside the compiler) save 3 ms each; other linkers and linker options save nothing. */
/* clang-format off */
static const char *const options[] = {
    "-x", "c++", "-std=c++17", "-O3", "-fPIC", "-shared", "-fwrapv", "-fno-math-errno",
    "-fno-trapping-math", "-fopenmp-simd", "-fno-exceptions", "-fno-rtti",
    "-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-nostdlib", "-w", "-pipe",
};
/* clang-format on */

/* After the source: libgcc implements the arithmetic that has no instruction (128-bit, complex).
 * -lm would cost 3 ms; instead, the host device makes the process's own libm visible to kernels. */
static const char *const libraries[] = {"-x", "none", "-lgcc"};

/* Defined where libmvec has vector versions of all functions of libm, as it does since glibc 2.35.
 * GCC calls them by itself. */
static const char vector_math[] = "-DGA_VECTOR_MATH";

static bool vector_math_found;
static pthread_once_t vector_math_once = PTHREAD_ONCE_INIT;

/* libmvec stays loaded, because kernels name no library. */
static void find_vector_math(void)
{
    void *library = NULL;
#ifdef LIBMVEC_SO
    library = ga__library_open(LIBMVEC_SO, RTLD_NOW | RTLD_GLOBAL);
#endif
    vector_math_found = library != NULL && dlsym(library, "_ZGVbN2v_tan") != NULL;
}

static bool has_vector_math(void)
{
    pthread_once(&vector_math_once, find_vector_math);
    return vector_math_found;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static size_t length_of(const char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    return n;
}

/* Appends the list's words at `*end`. */
static void add_words(const char ***end, const char *const *list, size_t count)
{
    memcpy(*end, list, count * sizeof *list);
    *end += count;
}

/* QUARRY_COMPILE_TIMEOUT; 0 means no limit. */
static double time_limit(void)
{
    return ga__setting_number("QUARRY_COMPILE_TIMEOUT", 0, 1e9, DEFAULT_TIMEOUT);
}

ga_status ga__cxx_run(const char *const *list, const char *directory, const char *input,
                      const char *output, ga__process_end *end)
{
    const ga__compiler *c = NULL;
    ga_status status = ga__compiler_get(&c);
    if (status != GA_OK)
        return status;
    const char *const *processor = ga__processor_options();
    const char *const files[] = {"-o", output, input};
    const size_t nprocessor = length_of(processor), noptions = length_of(list);
    const size_t nwords =
        c->command.count + nprocessor + noptions + c->flags.count + COUNT(files) + COUNT(libraries);
    const char **argv = ga__malloc((nwords + 1) * sizeof *argv), **last = argv;
    if (argv == NULL)
        return GA_ERR_MEMORY;
    add_words(&last, ga__texts_list(&c->command), c->command.count);
    add_words(&last, processor, nprocessor);
    add_words(&last, list, noptions);
    add_words(&last, ga__texts_list(&c->flags), c->flags.count);
    add_words(&last, files, COUNT(files));
    add_words(&last, libraries, COUNT(libraries));
    *last = NULL;
    status = ga__process_run(&(ga__process){argv, directory, time_limit()}, end);
    ga__free(argv);
    return status;
}

/* ---- reading the compiler's output ---- */

static ga_status fail_compile(const char *name, const char *why, const char *log)
{
    const ga__compiler *c = NULL;
    const ga_status status = ga__compiler_get(&c);
    if (status != GA_OK)
        return status;
    return ga__fail(GA_ERR_COMPILE, "compile: %s does not compile (%s%s)%s%.*s", name,
                    c->command.text[0], why, *log != '\0' ? ":\n" : "", LOG_LIMIT, log);
}

static ga_status fail_overdue(const char *name, const char *log)
{
    return ga__fail(
        GA_ERR_IO,
        "compile: %s: the compiler did not finish within %g s and was stopped (the limit is "
        "QUARRY_COMPILE_TIMEOUT, in seconds, 0 for none)%s%.*s",
        name, time_limit(), *log != '\0' ? ":\n" : "", LOG_LIMIT, log);
}

/* Whether the bytes contain everything that the ELF header describes: loading less would fault. */
static bool is_whole(const char *code, size_t nbytes)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    if (nbytes < sizeof header || memcmp(code, ELFMAG, SELFMAG) != 0)
        return false;
    memcpy(&header, code, sizeof header);
    if (header.e_shoff > nbytes || header.e_shnum * sizeof(ElfW(Shdr)) > nbytes - header.e_shoff ||
        header.e_phoff > nbytes || header.e_phnum * sizeof segment > nbytes - header.e_phoff)
        return false;
    for (int i = 0; i < header.e_phnum; i++) {
        memcpy(&segment, code + header.e_phoff + (size_t)i * sizeof segment, sizeof segment);
        if (segment.p_offset > nbytes || segment.p_filesz > nbytes - segment.p_offset)
            return false;
    }
    return true;
}

/* Raises if the compiler is known to have failed. */
static ga_status check_end(const char *name, const ga__process_end *end)
{
    char why[64] = "";
    if (end->how == GA__PROCESS_OVERDUE)
        return fail_overdue(name, end->output);
    if (end->how == GA__PROCESS_SIGNALLED)
        snprintf(why, sizeof why, ", ended by signal %d", end->code);
    return end->code != 0 ? fail_compile(name, why, end->output) : GA_OK;
}

ga_status ga__cxx_take(const char *name, const char *path, const ga__process_end *end, void **code,
                       size_t *nbytes)
{
    size_t length = 0;
    char *bytes = NULL, why[64] = "";
    const ga_status status = check_end(name, end);
    if (status != GA_OK)
        return status;
    const bool written = faccessat(AT_FDCWD, path, F_OK, AT_EACCESS) == 0; /* by the effective
                                                                            * rights, not the
                                                                            * caller's */
    if (written && (bytes = ga__read_file(path, &length)) == NULL)
        return ga_error();
    if (bytes != NULL && is_whole(bytes, length)) {
        *code = bytes;
        *nbytes = length;
        return GA_OK;
    }
    ga__free(bytes);
    if (end->how == GA__PROCESS_EXITED)
        snprintf(why, sizeof why, ", which wrote %zu bytes, not a complete shared object", length);
    return fail_compile(name, why, end->output);
}

static ga_status run_compiler(const ga__source *source, const char *directory, const char *input,
                              const char *output, ga__process_end *end)
{
    const char *list[COUNT(options) + 3];
    size_t n = COUNT(options);
    memcpy(list, options, sizeof options);
    if (source->fast_math)
        list[n++] = "-ffast-math";
    if (has_vector_math())
        list[n++] = vector_math;
    list[n] = NULL;
    return ga__cxx_run(list, directory, input, output, end);
}

/* DIRECTORY/name (ga__free it). */
static char *path_in(const char *directory, const char *name)
{
    ga__strbuf path = GA__STRBUF_INIT;
    ga__strbuf_addf(&path, "%s/%s", directory, name);
    return ga__strbuf_take(&path);
}

static ga_status compile_in(const char *directory, const ga__source *source, void **code,
                            size_t *nbytes)
{
    char *input = path_in(directory, "kernel.cpp"), *output = path_in(directory, "kernel.so");
    ga__process_end end = {.output = NULL};
    ga_status status = GA_ERR_MEMORY;
    if (input != NULL && output != NULL)
        status = ga__write_file(input, source->text, strlen(source->text));
    if (status == GA_OK)
        status = run_compiler(source, directory, input, output, &end);
    if (status == GA_OK)
        status = ga__cxx_take(source->name, output, &end, code, nbytes);
    ga__free(end.output);
    ga__free(input);
    ga__free(output);
    return status;
}

ga_status ga__cxx_compile(const ga__source *source, void **code, size_t *nbytes)
{
    ga__temporary folder;
    ga_status status = ga__temporary_init(&folder);
    if (status != GA_OK)
        return status;
    status = compile_in(folder.path, source, code, nbytes);
    ga__temporary_reset(&folder);
    return status;
}

void ga__cxx_identify(ga__strbuf *key)
{
    const ga__compiler *c = NULL;
    const ga_status status = ga__compiler_find(&c);
    if (status != GA_OK)
        key->failed = true;
    else
        ga__strbuf_add(key, c != NULL ? c->key : "none ");
}

static char options_text[512]; /* made once: every kernel's key contains it */
static pthread_once_t options_once = PTHREAD_ONCE_INIT;

static void append_options(const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        assert(strlen(options_text) + strlen(list[i]) + 1 < sizeof options_text);
        strcat(strcat(options_text, list[i]), " ");
    }
}

static void make_options_text(void)
{
    append_options(options, COUNT(options));
    append_options(libraries, COUNT(libraries));
    if (has_vector_math())
        append_options((const char *const[]){vector_math}, 1);
}

void ga__cxx_key(bool fast_math, ga__strbuf *key)
{
    pthread_once(&options_once, make_options_text);
    ga__cxx_identify(key);
    ga__strbuf_add(key, options_text);
    if (fast_math)
        ga__strbuf_add(key, "-ffast-math ");
}

ga_status ga__cxx_found(char *text, size_t size)
{
    const ga__compiler *c = NULL;
    const ga_status status = ga__compiler_get(&c);
    if (status == GA_OK)
        snprintf(text, size, "%s", c->command.text[0]);
    return status;
}
