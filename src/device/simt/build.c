/* Compiles users' CUDA modules for the host: the system's C++ compiler gets the simulator's own
 * text, the user's text, and a record of each kernel. */
#include "device/simt/simt.h"

#include <elf.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/embedded.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/os/system.h"
#include "base/strbuf.h"
#include "base/os/temporary.h"
#include "device/cpu/cxx.h"
#include "device/simt/link.h"
#include "device/simt/options.h"
#include "device/simt/rewrite.h"

/* These precede the user's text in this order. */
static const char *const prelude[] = {"simt_abi.host",
                                      "simt_types.host",
                                      "cuda_vectors.host",
                                      "simt_math.host",
                                      "cuda_words.host",
                                      "simt_threads.host",
                                      NULL};

/* These options favour short compiles over fast code. Type punning and signed overflow behave as on
 * the GPU; the module's own definitions take precedence over the program's. */
/* clang-format off */
static const char *const options[] = {
    "-x", "c++", "-std=c++17", "-O2", "-fPIC", "-shared", "-nostdlib", "-pipe",
    "-fwrapv", "-fno-strict-aliasing", "-fno-math-errno", "-fno-trapping-math",
    "-fno-exceptions", "-fno-rtti", "-fno-threadsafe-statics", "-fno-stack-protector",
    "-fno-semantic-interposition", "-Wl,-Bsymbolic",
    "-fsanitize=bounds", "-fno-sanitize-recover=bounds", /* see simt_threads.host */
    "-Wall", "-Wno-unknown-pragmas", "-Wno-sign-compare", "-Wno-unused-function", NULL,
};

/* Headers of CUDA and of C whose contents the prelude already provides. The compiler finds its own
 * headers, such as <stdint.h>, by itself. */
static const char *const empty_headers[] = {
    "assert.h", "builtin_types.h", "cassert", "cstdio", "cstdlib", "cstring", "ctime", "cuda.h",
    "cuda_runtime.h", "cuda_runtime_api.h", "device_functions.h", "device_launch_parameters.h",
    "device_types.h", "driver_types.h", "host_defines.h", "math_functions.h", "new",
    "sm_20_intrinsics.h", "sm_30_intrinsics.h", "stdio.h", "stdlib.h", "string.h", "time.h",
    "vector_functions.h", "vector_types.h", NULL,
};

/* Headers that contain only macros. */
static const char *const constant_headers[] = {"cmath", "math.h", "math_constants.h", NULL};

/* Headers that work only on GPUs. */
static const char *const refused_headers[] = {
    "cooperative_groups.h", "cub/cub.cuh", "cuda_bf16.h", "cuda_fp16.h", "cuda_fp8.h",
    "cuda_pipeline.h", "curand_kernel.h", "mma.h", NULL,
};
/* clang-format on */

static const char *embedded(const char *name)
{
    return ga__embedded_file(name, strlen(name))->text;
}

/* ---- files ---- */

typedef struct build {
    const ga__cuda_source *source;
    ga__temporary folder;
    char *text;              /* the user's text, rewritten */
    bool dynamic;            /* the text has dynamic shared memory */
    ga__strbuf words, lines; /* from the user's options: see ga__simt_options */
    ga__strbuf tu;           /* the translation unit */
} build;

/* DIRECTORY/name; makes all its directories; ga__free it. */
static char *path_of(const build *b, const char *name)
{
    ga__strbuf path = GA__STRBUF_INIT;
    ga__strbuf_addf(&path, "%s/%s", b->folder.path, name);
    return ga__strbuf_take(&path);
}

static ga_status write_text(const build *b, const char *name, const char *text)
{
    char *path = path_of(b, name);
    if (path == NULL)
        return GA_ERR_MEMORY;
    const ga_status status = ga__write_file(path, text, strlen(text));
    ga__free(path);
    return status;
}

static ga_status make_directory_of(const build *b, const char *name)
{
    char *path = path_of(b, name);
    if (path == NULL)
        return GA_ERR_MEMORY;
    *strrchr(path, '/') = '\0';
    const ga_status status = ga__make_directories(path);
    ga__free(path);
    return status;
}

static ga_status write_header(const build *b, const char *name, const char *text)
{
    ga__strbuf path = GA__STRBUF_INIT;
    ga__strbuf_addf(&path, "include/%s", name);
    ga_status status = path.failed ? GA_ERR_MEMORY : make_directory_of(b, path.text);
    if (status == GA_OK)
        status = write_text(b, path.text, text);
    ga__strbuf_reset(&path);
    return status;
}

static ga_status write_own_headers(const build *b)
{
    ga_status status = GA_OK;
    for (const char *const *name = empty_headers; *name != NULL && status == GA_OK; name++)
        status = write_header(b, *name, "");
    for (const char *const *name = constant_headers; *name != NULL && status == GA_OK; name++)
        status = write_header(b, *name, embedded("simt_constants.host"));
    for (const char *const *name = refused_headers; *name != NULL && status == GA_OK; name++)
        status = write_header(b, *name, "#error this header is not supported on the host\n");
    return status;
}

/* Whether the user's file name stays inside the directory. */
static bool is_plain_path(const char *name)
{
    if (*name == '\0' || *name == '/' || name[strlen(name) - 1] == '/')
        return false;
    for (const char *part = name; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return false;
    }
    return true;
}

static ga_status write_users_headers(build *b)
{
    const char *const *names = b->source->header_names;
    ga_status status = GA_OK;
    for (int i = 0; names != NULL && names[i] != NULL && status == GA_OK; i++) {
        if (!is_plain_path(names[i]))
            return ga__fail(GA_ERR_INVALID,
                            "%s: a header's name must be a relative path, not \"%s\"",
                            b->source->name, names[i]);
        char *text = ga__simt_rewrite(b->source->header_texts[i], &b->dynamic);
        status = text == NULL ? GA_ERR_MEMORY : write_header(b, names[i], text);
        ga__free(text);
    }
    return status;
}

/* Makes the compiler's words, each followed by a NUL: our options, where the files are, the user's
 * options. */
static ga_status make_words(build *b)
{
    for (const char *const *option = options; *option != NULL; option++)
        ga__strbuf_add_bytes(&b->words, *option, strlen(*option) + 1);
    if (b->source->piece > 0)
        ga__strbuf_add_bytes(&b->words, "-c", sizeof "-c");
    ga__strbuf_addf(&b->words, "-I%s/include", b->folder.path);
    ga__strbuf_add_bytes(&b->words, "", 1);
    ga__strbuf_addf(&b->words, "-ffile-prefix-map=%s/user.cu=%s", b->folder.path, b->source->name);
    ga__strbuf_add_bytes(&b->words, "", 1);
    return ga__simt_options(b->source, &b->words, &b->lines);
}

/* ---- the translation unit ---- */

/* The symbol of kernel i; of linked pieces, which share a name space, it has the piece's number. */
static void add_symbol(const ga__cuda_source *source, int i, ga__strbuf *text)
{
    ga__strbuf_addf(text, "ga_simt_kernel_%d", i);
    if (source->piece > 0)
        ga__strbuf_addf(text, "_of_%d", source->piece);
}

/* Messages quote lines from user.cu, which holds the text as the user wrote it. */
static ga_status make_unit(build *b)
{
    ga__strbuf *tu = &b->tu;
    const char *const *kernels = b->source->kernels;
    if (b->dynamic)
        ga__strbuf_add(tu, "#define GA_SIMT_DYNAMIC\n");
    ga__strbuf_add(tu, "# 1 \"quarry\" 3\n"); /* 3: a system header, without warnings */
    for (const char *const *file = prelude; *file != NULL; file++)
        ga__strbuf_add(tu, embedded(*file));
    ga__strbuf_addf(tu, "# 1 \"options\"\n%s", b->lines.length > 0 ? b->lines.text : "");
    ga__strbuf_addf(tu, "# 1 \"%s/user.cu\"\n%s\n# 1 \"kernels\"\n", b->folder.path, b->text);
    for (int i = 0; kernels != NULL && kernels[i] != NULL; i++) {
        ga__strbuf_add(tu, "GA_SIMT_EXPORT(");
        add_symbol(b->source, i, tu);
        ga__strbuf_addf(tu, ", %s)\n", kernels[i]);
    }
    return tu->failed ? GA_ERR_MEMORY : write_text(b, "kernel.cpp", tu->text);
}

static ga_status write_files(build *b)
{
    ga_status status = write_own_headers(b);
    if (status == GA_OK)
        status = write_users_headers(b);
    b->text = status == GA_OK ? ga__simt_rewrite(b->source->text, &b->dynamic) : NULL;
    if (status == GA_OK && b->text == NULL)
        status = GA_ERR_MEMORY;
    if (status == GA_OK)
        status = write_text(b, "user.cu", b->source->text);
    return status == GA_OK ? make_unit(b) : status;
}

/* ---- the compiler ---- */

/* The words as a list (ga__free it) that points into them. */
static const char **split(const ga__strbuf *words)
{
    size_t n = 0;
    for (size_t i = 0; i < words->length; i++)
        n += words->text[i] == '\0';
    const char **list = ga__calloc(n + 1, sizeof *list);
    const char *word = words->text;
    for (size_t i = 0; i < n && list != NULL; i++) {
        list[i] = word;
        word += strlen(word) + 1;
    }
    return list;
}

/* The log with the user's names for the files (ga__free it); NULL if memory is out. */
static char *tidy(const build *b, const char *log)
{
    const size_t length = strlen(b->folder.path);
    ga__strbuf out = GA__STRBUF_INIT;
    ga__strbuf_add(&out, "");
    for (const char *found; (found = strstr(log, b->folder.path)) != NULL;) {
        ga__strbuf_add_bytes(&out, log, (size_t)(found - log));
        log = found + length + (found[length] == '/');
        if (strncmp(log, "user.cu", 7) == 0) {
            ga__strbuf_add(&out, b->source->name);
            log += 7;
        } else if (strncmp(log, "include/", 8) == 0) {
            log += 8;
        }
    }
    ga__strbuf_add(&out, log);
    return ga__strbuf_take(&out);
}

/* Runs the compiler and tidies its output. */
static ga_status run_compiler(const build *b, const char *output, ga__process_end *end)
{
    char *input = path_of(b, "kernel.cpp");
    const char **list = input != NULL ? split(&b->words) : NULL;
    ga_status status = GA_ERR_MEMORY;
    if (list != NULL)
        status = ga__cxx_run(list, b->folder.path, input, output, end);
    char *log = status == GA_OK ? tidy(b, end->output) : NULL;
    if (status == GA_OK) {
        ga__free(end->output);
        end->output = log;
        status = log != NULL ? GA_OK : GA_ERR_MEMORY;
    }
    ga__free(list);
    ga__free(input);
    return status;
}

/* ---- the shared object ---- */

/* GCC merges the local statics of a template across the process, as C++ requires. But two modules
 * are two programs: each gets its own. */
void ga__simt_separate_statics(char *code)
{
    const ElfW(Ehdr) *header = (const void *)code;
    const ElfW(Shdr) *sections = (const void *)(code + header->e_shoff);
    for (int i = 0; i < header->e_shnum; i++) {
        ElfW(Sym) *symbols = (void *)(code + sections[i].sh_offset);
        if (sections[i].sh_type != SHT_DYNSYM)
            continue;
        for (size_t j = 0; j < sections[i].sh_size / sizeof *symbols; j++) {
            const unsigned char info = symbols[j].st_info;
            if (ELF64_ST_BIND(info) == STB_GNU_UNIQUE)
                symbols[j].st_info = ELF64_ST_INFO(STB_GLOBAL, ELF64_ST_TYPE(info));
        }
    }
}

/* *log receives the compiler's warnings (ga__free it), or NULL if there are none. */
static ga_status make_code(const build *b, void **code, size_t *nbytes, char **log)
{
    char *output = path_of(b, "kernel.so");
    ga__process_end end;
    ga_status status = output != NULL ? run_compiler(b, output, &end) : GA_ERR_MEMORY;
    if (status == GA_OK) {
        status = ga__cxx_take(b->source->name, output, &end, code, nbytes);
        *log = status == GA_OK && *end.output != '\0' ? end.output : NULL;
        if (*log == NULL)
            ga__free(end.output);
    }
    if (status == GA_OK)
        ga__simt_separate_statics(*code);
    ga__free(output);
    return status;
}

static char *make_symbols(const ga__cuda_source *source)
{
    ga__strbuf symbols = GA__STRBUF_INIT;
    ga__strbuf_add(&symbols, "");
    for (int i = 0; source->kernels != NULL && source->kernels[i] != NULL; i++) {
        add_symbol(source, i, &symbols);
        ga__strbuf_add(&symbols, "\n");
    }
    return ga__strbuf_take(&symbols);
}

ga_status ga__simt_compile(const ga__cuda_source *source, void **code, size_t *nbytes,
                           char **symbols, char **log)
{
    build b = {.source = source};
    char *warnings = NULL, *names = make_symbols(source);
    ga_status status = GA_ERR_MEMORY;
    if (names != NULL)
        status = ga__temporary_init(&b.folder);
    if (status != GA_OK) {
        ga__free(names);
        return status;
    }
    status = make_words(&b);
    if (status == GA_OK)
        status = write_files(&b);
    if (status == GA_OK)
        status = make_code(&b, code, nbytes, &warnings);
    ga__temporary_reset(&b.folder);
    ga__free(b.text);
    ga__strbuf_reset(&b.words);
    ga__strbuf_reset(&b.lines);
    ga__strbuf_reset(&b.tu);
    if (status != GA_OK) {
        ga__free(names);
        return status;
    }
    *symbols = names;
    *log = warnings;
    return GA_OK;
}

/* ---- the key ---- */

static uint64_t hash_texts(uint64_t hash)
{
    for (const char *const *option = options; *option != NULL; option++)
        hash = ga__hash64(*option, strlen(*option), hash);
    for (const char *const *file = prelude; *file != NULL; file++)
        hash = ga__hash64(embedded(*file), strlen(embedded(*file)), hash);
    return hash;
}

static uint64_t texts_hash;
static pthread_once_t texts_once = PTHREAD_ONCE_INIT;

static void make_texts_hash(void)
{
    texts_hash = hash_texts(0);
}

void ga__simt_key(ga__strbuf *key)
{
    pthread_once(&texts_once, make_texts_hash);
    ga__cxx_identify(key);
    ga__strbuf_addf(key, "simulator %016llx", (unsigned long long)texts_hash);
}
