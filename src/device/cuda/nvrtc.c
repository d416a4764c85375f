/* Compiles with NVRTC, which is loaded at first use: most runs find every kernel in a cache. */
#include "device/cuda/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/os/environment.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/os/library.h"
#include "base/os/loader.h"
#include "base/os/stack.h"
#include "base/strbuf.h"

#define LOG_LIMIT 4000 /* bytes of the compiler's log in a message */

typedef struct nvrtc_program *program;
enum { NVRTC_SUCCESS = 0, NVRTC_OUT_OF_MEMORY = 1, NVRTC_INVALID_OPTION = 5 };

/* Kernels of three lines need 110 KiB. */
#define STACK_NEED ((size_t)2 << 20)

static struct {
#define GA_SYMBOL(member, name, result, parameters, since) result(*member) parameters;
#include "device/cuda/nvrtc.def"
#undef GA_SYMBOL
} nvrtc;

static const ga__symbol needed[] = {
#define GA_SYMBOL(member, name, result, parameters, since) {&nvrtc.member, name, since},
#include "device/cuda/nvrtc.def"
#undef GA_SYMBOL
};

static void open_builtins(void);

static const char *const files[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", NULL};

static void read_version(ga__version *its)
{
    int major = 0, minor = 0;
    *its = (ga__version){.name = "NVRTC", .least = "12.0"};
    if (nvrtc.version(&major, &minor) == NVRTC_SUCCESS)
        snprintf(its->text, sizeof its->text, "%d.%d", major, minor);
}

/* Needs no fork guard: only CUDA devices use NVRTC, and they do not work in a forked child. */
static ga__library library = {
    .name = "NVRTC",
    .variable = "QUARRY_NVRTC",
    .files = files,
    .folders = ga__cuda_folders,
    .advice = "install the CUDA toolkit's NVRTC or set QUARRY_NVRTC to its libnvrtc.so",
    .symbols = needed,
    .count = sizeof needed / sizeof *needed,
    .version = read_version,
    .ready = open_builtins,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};

/* NVRTC opens its built-in functions by name alone. The loader finds them if they are open: it does
 * not look beside an NVRTC that was loaded by its path, as those of wheels are. */
static void open_builtins(void)
{
    int major, minor;
    char folder[PATH_MAX], path[PATH_MAX + 64];
    if (nvrtc.version(&major, &minor) != NVRTC_SUCCESS || realpath(library.path, folder) == NULL)
        return;
    *strrchr(folder, '/') = '\0';
    snprintf(path, sizeof path, "%s/libnvrtc-builtins.so.%d.%d", folder, major, minor);
    (void)ga__library_open(path, RTLD_NOW | RTLD_LOCAL);
}

static ga_status load_nvrtc(void)
{
    return ga__library_load(&library) ? GA_OK
                                      : ga__fail(GA_ERR_COMPILE, "compile: %s", library.problem);
}

#define MAX_OPTIONS 64

/* The inputs of a compile. Lists as in ga__cuda_source; NULL for an empty one. */
typedef struct request {
    const char *name, *text;
    int arch;
    int noptions, nheaders;
    const char *options[MAX_OPTIONS];
    const char *const *headers, *const *header_names, *const *kernels;
} request;

/* The results of a compile; `symbols` and `log` only for users' sources. */
typedef struct product {
    void *code;
    size_t nbytes;
    char *symbols, *log;
} product;

/* The compiler's log; NULL if it is empty. */
static ga_status take_log(program p, char **log)
{
    size_t nbytes = 0;
    *log = NULL;
    if (nvrtc.log_size(p, &nbytes) != NVRTC_SUCCESS || nbytes <= 1)
        return GA_OK;
    char *text = ga__malloc(nbytes + 1);
    if (text == NULL)
        return GA_ERR_MEMORY;
    text[nbytes] = '\0';
    if (nvrtc.log(p, text) != NVRTC_SUCCESS)
        text[0] = '\0';
    *log = text;
    return GA_OK;
}

static ga_status fail_compile(program p, const request *r, int result)
{
    char *log;
    (void)take_log(p, &log);
    ga_status status =
        ga__fail(GA_ERR_COMPILE, "compile: %s does not compile for sm_%d (%s):\n%.*s", r->name,
                 r->arch, nvrtc.error_string(result), LOG_LIMIT, log == NULL ? "" : log);
    ga__free(log);
    return status;
}

static ga_status take_cubin(program p, const request *r, product *made)
{
    size_t size = 0;
    int result = nvrtc.cubin_size(p, &size);
    char *bytes = result == NVRTC_SUCCESS ? ga__malloc(size) : NULL;
    if (result == NVRTC_SUCCESS && bytes == NULL)
        return GA_ERR_MEMORY;
    if (result == NVRTC_SUCCESS)
        result = nvrtc.cubin(p, bytes);
    if (result != NVRTC_SUCCESS) {
        ga__free(bytes);
        return ga__fail(GA_ERR_COMPILE, "compile: %s: NVRTC returned no cubin: %s", r->name,
                        nvrtc.error_string(result));
    }
    made->code = bytes;
    made->nbytes = size;
    return GA_OK;
}

/* The symbols of the request's kernels, each followed by a newline. */
static ga_status take_symbols(program p, const request *r, product *made)
{
    ga__strbuf symbols = GA__STRBUF_INIT;
    ga__strbuf_add(&symbols, "");
    for (const char *const *kernel = r->kernels; *kernel != NULL; kernel++) {
        const char *symbol = NULL;
        int result = nvrtc.lowered_name(p, *kernel, &symbol);
        if (result != NVRTC_SUCCESS) {
            ga__strbuf_reset(&symbols);
            return ga__fail(GA_ERR_COMPILE, "compile: %s: NVRTC has no symbol for \"%s\": %s",
                            r->name, *kernel, nvrtc.error_string(result));
        }
        ga__strbuf_addf(&symbols, "%s\n", symbol);
    }
    made->symbols = ga__strbuf_take(&symbols);
    return made->symbols == NULL ? GA_ERR_MEMORY : GA_OK;
}

static ga_status take_product(program p, const request *r, product *made)
{
    ga_status status = take_cubin(p, r, made);
    if (status != GA_OK || r->kernels == NULL)
        return status;
    status = take_symbols(p, r, made);
    if (status == GA_OK)
        status = take_log(p, &made->log);
    if (status != GA_OK) {
        ga__free(made->code);
        ga__free(made->symbols);
    }
    return status;
}

static int add_kernels(program p, const request *r)
{
    int result = NVRTC_SUCCESS;
    for (const char *const *kernel = r->kernels; kernel != NULL && *kernel != NULL; kernel++)
        if (result == NVRTC_SUCCESS)
            result = nvrtc.add_name(p, *kernel);
    return result;
}

typedef struct compile_call {
    program p;
    const request *r;
    int result;
} compile_call;

static void call_compile(void *context)
{
    compile_call *call = context;
    call->result = nvrtc.compile(call->p, call->r->noptions, call->r->options);
}

static int compile_program(program p, const request *r)
{
    compile_call call = {p, r, NVRTC_OUT_OF_MEMORY};
    (void)ga__with_stack(STACK_NEED, call_compile, &call);
    return call.result;
}

/* One compile. If `invalid_option` is not NULL, it is set when NVRTC rejects an option, and no
 * error is raised. */
static ga_status compile_once(const request *r, bool *invalid_option, product *made)
{
    program p = NULL;
    int result = nvrtc.create(&p, r->text, r->name, r->nheaders, r->headers, r->header_names);
    if (result != NVRTC_SUCCESS)
        return ga__fail(GA_ERR_COMPILE, "compile: %s: NVRTC: %s", r->name,
                        nvrtc.error_string(result));
    result = add_kernels(p, r);
    if (result == NVRTC_SUCCESS)
        result = compile_program(p, r);
    ga_status status = GA_ERR_COMPILE;
    if (result == NVRTC_SUCCESS)
        status = take_product(p, r, made);
    else if (result == NVRTC_INVALID_OPTION && invalid_option != NULL)
        *invalid_option = true;
    else
        status = fail_compile(p, r, result);
    nvrtc.destroy(&p);
    return status;
}

/* ---- Filled templates ---- */

#define NEEDED "--std=c++17", "-default-device"
#define QUICKER                                                                                    \
    "--minimal", "--no-cache" /* some older versions lack these; they do not change the code */

/* Compiles with or without the options that only speed up the compile. */
static ga_status compile_template(request *r, bool fast_math, bool quicker, bool *invalid_option,
                                  product *made)
{
    char arch[40], seed[48];
    const char *options[] = {arch, NEEDED, QUICKER, seed, fast_math ? "--use_fast_math" : NULL};
    const char *plain[] = {arch, NEEDED, fast_math ? "--use_fast_math" : NULL};
    snprintf(arch, sizeof arch, "--gpu-architecture=sm_%d", r->arch);
    snprintf(seed, sizeof seed, "--frandom-seed=%016llx",
             (unsigned long long)ga__hash64(r->text, strlen(r->text), 0));
    r->noptions = (quicker ? 6 : 3) + fast_math;
    memcpy(r->options, quicker ? options : plain, (size_t)r->noptions * sizeof *r->options);
    return compile_once(r, quicker ? invalid_option : NULL, made);
}

ga_status ga__nvrtc_compile(const char *name, const char *text, int arch, bool fast_math,
                            void **code, size_t *nbytes)
{
    static atomic_bool plain_only; /* this NVRTC lacks one of the faster options */
    request r = {.name = name, .text = text, .arch = arch};
    product made = {NULL, 0, NULL, NULL};
    bool invalid_option = atomic_load(&plain_only);
    ga_status status = load_nvrtc();
    if (status != GA_OK)
        return status;
    if (!invalid_option)
        status = compile_template(&r, fast_math, true, &invalid_option, &made);
    if (invalid_option) {
        atomic_store(&plain_only, true);
        status = compile_template(&r, fast_math, false, NULL, &made);
    }
    if (status == GA_OK) {
        *code = made.code;
        *nbytes = made.nbytes;
    }
    return status;
}

void ga__nvrtc_describe(char *text, size_t size, bool fast_math)
{
    static const char *const options[] = {NEEDED, QUICKER};
    const char *wanted = ga__environment("QUARRY_NVRTC");
    snprintf(text, size, "%s %s %s %s %s %s", options[0], options[1], options[2], options[3],
             fast_math ? "--use_fast_math" : "", wanted == NULL ? "" : wanted);
}

/* ---- Users' sources ---- */

/* Writes the resolved path of DIRECTORY/include if it has the toolkit's headers. */
static bool has_headers(const char *directory, char *include, size_t size)
{
    char path[PATH_MAX], resolved[PATH_MAX];
    if (directory == NULL || *directory == '\0' ||
        (size_t)snprintf(path, sizeof path, "%s/include/cuda_fp16.h", directory) >= sizeof path ||
        realpath(path, resolved) == NULL)
        return false;
    *strrchr(resolved, '/') = '\0';
    return (size_t)snprintf(include, size, "--include-path=%s", resolved) < size;
}

/* Writes the option that lets sources include the toolkit's headers; false if there are none. */
static bool find_headers(char *option, size_t size)
{
    char fetched[PATH_MAX];
    if (ga__own_folder(fetched, sizeof fetched - sizeof "/../cuda") &&
        has_headers(strcat(fetched, "/../cuda"), option, size))
        return true;
    return has_headers(ga__environment("CUDA_HOME"), option, size) ||
           has_headers(ga__environment("CUDA_PATH"), option, size) ||
           has_headers("/usr/local/cuda", option, size);
}

static bool starts_with_any(const char *const *options, const char *first, const char *second)
{
    for (; options != NULL && *options != NULL; options++)
        if (strncmp(*options, first, strlen(first)) == 0 ||
            strncmp(*options, second, strlen(second)) == 0)
            return true;
    return false;
}

/* Sets the user's options, followed by those of ours that do not contradict them. */
static ga_status set_options(request *r, const ga__cuda_source *source, const char *arch,
                             const char *include)
{
    const char *const *option = source->options;
    for (; option != NULL && *option != NULL; option++) {
        if (r->noptions > MAX_OPTIONS - 6)
            return ga__fail(GA_ERR_INVALID, "compile: %s: more than %d options", r->name,
                            MAX_OPTIONS - 6);
        r->options[r->noptions++] = *option;
    }
    if (!starts_with_any(source->options, "-arch", "--gpu-architecture"))
        r->options[r->noptions++] = arch;
    if (!starts_with_any(source->options, "-std", "--std"))
        r->options[r->noptions++] = "--std=c++17";
    r->options[r->noptions++] = "-default-device";
    r->options[r->noptions++] = "--no-source-include";
    if (source->piece > 0)
        r->options[r->noptions++] = "--relocatable-device-code=true";
    if (*include != '\0')
        r->options[r->noptions++] = include;
    return GA_OK;
}

static int length_of(const char *const *list)
{
    int length = 0;
    while (list != NULL && list[length] != NULL)
        length++;
    return length;
}

ga_status ga__nvrtc_compile_cuda(const ga__cuda_source *source, int arch, void **code,
                                 size_t *nbytes, char **symbols, char **log)
{
    static const char *const none[] = {NULL};
    char arch_option[40], include[PATH_MAX + 20] = "";
    product made = {NULL, 0, NULL, NULL};
    request r = {.name = source->name,
                 .text = source->text,
                 .arch = arch,
                 .nheaders = length_of(source->header_names),
                 .headers = source->header_texts,
                 .header_names = source->header_names,
                 .kernels = source->kernels != NULL ? source->kernels : none};
    snprintf(arch_option, sizeof arch_option, "--gpu-architecture=sm_%d", arch);
    (void)find_headers(include, sizeof include);
    ga_status status = load_nvrtc();
    if (status == GA_OK)
        status = set_options(&r, source, arch_option, include);
    if (status == GA_OK)
        status = compile_once(&r, NULL, &made);
    if (status != GA_OK)
        return status;
    *code = made.code;
    *nbytes = made.nbytes;
    *symbols = made.symbols;
    *log = made.log;
    return GA_OK;
}

void ga__nvrtc_describe_cuda(char *text, size_t size)
{
    char include[PATH_MAX + 20] = "";
    const char *wanted = ga__environment("QUARRY_NVRTC");
    (void)find_headers(include, sizeof include);
    snprintf(text, size, "--std=c++17 -default-device --no-source-include %s %s", include,
             wanted == NULL ? "" : wanted);
}

ga_status ga__nvrtc_found(char *text, size_t size)
{
    ga__version its;
    const ga_status status = load_nvrtc();
    if (status != GA_OK)
        return status;
    read_version(&its);
    snprintf(text, size, "%s %s, %s", its.name, its.text, library.path);
    return GA_OK;
}
