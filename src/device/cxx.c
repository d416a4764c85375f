/* Compiles C++ with the system's compiler into the bytes of a shared object. */
#include "device/cxx.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <gnu/lib-names.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/loader.h"
#include "base/os.h"
#include "base/strbuf.h"

#define MAX_WORDS 32          /* of QUARRY_CXX */
#define LOG_LIMIT 4000        /* bytes of the compiler's log that go into a message */
#define DEFAULT_TIMEOUT 120.0 /* seconds of one compile */

/* A small kernel takes 25 ms. -nostdlib (no start files, no C++ runtime) and -pipe (the assembler
 * runs beside the compiler) save 3 each; other linkers and linker options saved nothing. */
/* clang-format off */
static const char *const options[] = {
    "-x", "c++", "-std=c++17", "-O3", GA__CXX_NATIVE, "-fPIC", "-shared", "-fwrapv", "-fno-math-errno",
    "-fno-trapping-math", "-fopenmp-simd", "-fno-exceptions", "-fno-rtti",
    "-fno-asynchronous-unwind-tables", "-fno-stack-protector", "-nostdlib", "-w", "-pipe",
};
/* clang-format on */

/* After the source: libgcc has the arithmetic that is no instruction (128-bit, complex). -lm would
 * cost 3 ms; the host device makes the process's own libm visible to kernels instead. */
static const char *const libraries[] = {"-x", "none", "-lgcc"};

/* Defined where libmvec has all functions of libm for vectors, which it has since glibc 2.35. GCC
 * calls them by itself. */
static const char vector_math[] = "-DGA_VECTOR_MATH";

/* libmvec stays loaded, for kernels name no library. */
static bool has_vector_math(void)
{
    void *library = NULL;
#ifdef LIBMVEC_SO
    library = ga__library_open(LIBMVEC_SO, RTLD_NOW | RTLD_GLOBAL);
#endif
    return library != NULL && dlsym(library, "_ZGVbN2v_tan") != NULL;
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* The compiler's command: words of QUARRY_CXX, or one of the usual names. */
typedef struct command {
    char text[1024]; /* the words, each terminated */
    const char *words[MAX_WORDS];
    int nwords;
    char path[PATH_MAX]; /* of words[0] */
} command;

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* The first `name` of PATH that can be run. */
static bool find_program(const char *name, char *path, size_t size)
{
    if (strchr(name, '/') != NULL)
        return (size_t)snprintf(path, size, "%s", name) < size && is_program(path);
    const char *rest = getenv("PATH");
    while (rest != NULL && *rest != '\0') {
        int length = (int)strcspn(rest, ":");
        if ((size_t)snprintf(path, size, "%.*s/%s", length, rest, name) < size && is_program(path))
            return true;
        rest += length + (rest[length] == ':');
    }
    return false;
}

static void split_words(command *c, const char *text)
{
    snprintf(c->text, sizeof c->text, "%s", text);
    char *rest = NULL;
    c->nwords = 0;
    for (char *word = strtok_r(c->text, " ", &rest); word != NULL && c->nwords < MAX_WORDS;
         word = strtok_r(NULL, " ", &rest))
        c->words[c->nwords++] = word;
}

static bool find_command(command *c, const char *text)
{
    split_words(c, text);
    return c->nwords > 0 && find_program(c->words[0], c->path, sizeof c->path);
}

static bool find_compiler(command *c)
{
    const char *wanted = getenv("QUARRY_CXX");
    if (wanted != NULL && *wanted != '\0')
        return find_command(c, wanted);
    return find_command(c, "c++") || find_command(c, "g++") || find_command(c, "clang++");
}

static ga_status fail_no_compiler(void)
{
    const char *wanted = getenv("QUARRY_CXX");
    return ga__fail(GA_ERR_COMPILE,
                    "no C++ compiler found (tried %s): install one or set QUARRY_CXX",
                    wanted != NULL && *wanted != '\0' ? wanted : "c++, g++, clang++");
}

static size_t length_of(const char *const *list)
{
    size_t n = 0;
    while (list[n] != NULL)
        n++;
    return n;
}

/* QUARRY_COMPILE_TIMEOUT; 0: no limit. */
static double time_limit(void)
{
    const char *text = secure_getenv("QUARRY_COMPILE_TIMEOUT");
    char *end = NULL;
    const double seconds = text != NULL ? strtod(text, &end) : -1;
    return end != text && seconds >= 0 ? seconds : DEFAULT_TIMEOUT;
}

ga_status ga__cxx_run(const char *const *list, const char *directory, const char *input,
                      const char *output, ga__process_end *end)
{
    command c;
    if (!find_compiler(&c))
        return fail_no_compiler();
    const char *files[] = {"-o", output, input};
    const size_t nwords = (size_t)c.nwords, noptions = length_of(list);
    const char **argv =
        ga__malloc((nwords + noptions + COUNT(files) + COUNT(libraries) + 1) * sizeof *argv);
    if (argv == NULL)
        return GA_ERR_MEMORY;
    memcpy(argv, c.words, nwords * sizeof *argv);
    memcpy(argv + nwords, list, noptions * sizeof *argv);
    memcpy(argv + nwords + noptions, files, sizeof files);
    memcpy(argv + nwords + noptions + COUNT(files), libraries, sizeof libraries);
    argv[nwords + noptions + COUNT(files) + COUNT(libraries)] = NULL;
    const ga_status status = ga__process_run(&(ga__process){argv, directory, time_limit()}, end);
    ga__free(argv);
    return status;
}

/* ---- what the compiler left ---- */

static ga_status fail_compile(const char *name, const char *why, const char *log)
{
    char path[PATH_MAX];
    if (ga__cxx_found(path, sizeof path) != GA_OK)
        return GA_ERR_COMPILE;
    return ga__fail(GA_ERR_COMPILE, "%s does not compile (%s%s)%s%.*s", name, path, why,
                    *log != '\0' ? ":\n" : "", LOG_LIMIT, log);
}

static ga_status fail_overdue(const char *name, const char *log)
{
    return ga__fail(GA_ERR_IO,
                    "%s: the compiler did not end within %g s and was stopped (the limit is "
                    "QUARRY_COMPILE_TIMEOUT, in seconds, 0 for none)%s%.*s",
                    name, time_limit(), *log != '\0' ? ":\n" : "", LOG_LIMIT, log);
}

/* Whether the bytes hold all that an ELF file's header says: loading less would fault. */
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

/* Raises how the compiler ended, unless it ended well as far as anybody knows. */
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
    const bool written = access(path, F_OK) == 0;
    if (written && (bytes = ga__read_file(path, &length)) == NULL)
        return ga_error();
    if (bytes != NULL && is_whole(bytes, length)) {
        *code = bytes;
        *nbytes = length;
        return GA_OK;
    }
    ga__free(bytes);
    if (end->how == GA__PROCESS_EXITED)
        snprintf(why, sizeof why, ", which wrote %zu bytes, no whole shared object", length);
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
        status = ga__write_file_atomic(input, source->text, strlen(source->text));
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
    char *directory = ga__make_temporary_directory();
    if (directory == NULL)
        return ga_error();
    ga_status status = compile_in(directory, source, code, nbytes);
    ga__remove_tree(directory);
    ga__free(directory);
    return status;
}

/* Whether a line of /proc/cpuinfo says which instructions there are (others change by themselves,
 * as the clock's rate does). */
static bool names_processor(const char *line)
{
    static const char *const names[] = {"vendor_id", "cpu family", "model",    "stepping",
                                        "flags",     "Features",   "CPU impl", "CPU arch",
                                        "CPU vari",  "CPU part",   "isa",      "uarch"};
    for (size_t i = 0; i < COUNT(names); i++) {
        if (strncmp(line, names[i], strlen(names[i])) == 0)
            return true;
    }
    return false;
}

/* A hash of the first processor's lines in /proc/cpuinfo. */
static uint64_t processor_hash(void)
{
    char text[8192]; /* the first processor has two KiB or so */
    int fd = open("/proc/cpuinfo", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';

    uint64_t hash = 0;
    char *line = text;
    while (*line != '\0' && *line != '\n') {
        size_t n = strcspn(line, "\n");
        if (names_processor(line))
            hash = ga__hash64(line, n, hash);
        line += n + (line[n] == '\n');
    }
    return hash;
}

static char keys[2][PATH_MAX + 2048]; /* plain, fast math */
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void append(char *text, size_t size, const char *word)
{
    size_t length = strlen(text);
    snprintf(text + length, size - length, "%s ", word);
}

/* The compiler is known by its file, not by its --version, which would cost a warm program a
 * process. */
static void append_compiler(char *text, size_t size)
{
    command c;
    struct stat status;
    char path[PATH_MAX], file[128];
    if (!find_compiler(&c) || realpath(c.path, path) == NULL || stat(path, &status) != 0) {
        append(text, size, "none");
        return;
    }
    append(text, size, path);
    for (int i = 1; i < c.nwords; i++)
        append(text, size, c.words[i]);
    snprintf(file, sizeof file, "%lld %lld.%09ld", (long long)status.st_size,
             (long long)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    append(text, size, file);
}

void ga__cxx_identify(char *text, size_t size)
{
    char processor[64];
    text[0] = '\0';
    append_compiler(text, size);
    snprintf(processor, sizeof processor, "processor %016llx",
             (unsigned long long)processor_hash());
    append(text, size, processor);
}

static void make_keys(void)
{
    char *key = keys[0];
    const size_t size = sizeof keys[0];
    ga__cxx_identify(key, size);
    for (size_t i = 0; i < COUNT(options); i++)
        append(key, size, options[i]);
    for (size_t i = 0; i < COUNT(libraries); i++)
        append(key, size, libraries[i]);
    if (has_vector_math())
        append(key, size, vector_math);
    memcpy(keys[1], key, size);
    append(keys[1], size, "-ffast-math");
}

const char *ga__cxx_key(bool fast_math)
{
    pthread_once(&key_once, make_keys);
    return keys[fast_math];
}

ga_status ga__cxx_found(char *text, size_t size)
{
    command c;
    if (!find_compiler(&c))
        return fail_no_compiler();
    snprintf(text, size, "%s", c.path);
    return GA_OK;
}
