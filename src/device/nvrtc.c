/* Compiles a filled template with NVRTC, loaded when it is first needed: most runs find all cached.
 */
#include "device/nvrtc.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/hash.h"
#include "base/log.h"

#define LOG_LIMIT 4000 /* bytes of the compiler's log that go into a message */

/* The few functions we use, as nvrtc.h of every version from 11.1 on declares them. */
typedef struct nvrtc_program *program;
enum { NVRTC_SUCCESS = 0, NVRTC_INVALID_OPTION = 5 };

static struct {
    int (*create)(program *made, const char *source, const char *name, int nheaders,
                  const char *const *headers, const char *const *include_names);
    int (*destroy)(program *p);
    int (*compile)(program p, int noptions, const char *const *options);
    int (*log_size)(program p, size_t *nbytes);
    int (*log)(program p, char *text);
    int (*cubin_size)(program p, size_t *nbytes);
    int (*cubin)(program p, char *code);
    const char *(*error_string)(int result);
    int (*version)(int *major, int *minor);
} nvrtc;

static const struct {
    void *function;
    const char *name;
} symbols[] = {
    {&nvrtc.create, "nvrtcCreateProgram"},   {&nvrtc.destroy, "nvrtcDestroyProgram"},
    {&nvrtc.compile, "nvrtcCompileProgram"}, {&nvrtc.log_size, "nvrtcGetProgramLogSize"},
    {&nvrtc.log, "nvrtcGetProgramLog"},      {&nvrtc.cubin_size, "nvrtcGetCUBINSize"},
    {&nvrtc.cubin, "nvrtcGetCUBIN"},         {&nvrtc.error_string, "nvrtcGetErrorString"},
    {&nvrtc.version, "nvrtcVersion"},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool loaded;

static bool load_from(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        return false;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
        void *address = dlsym(library, symbols[i].name);
        if (address == NULL) {
            dlclose(library);
            return false;
        }
        memcpy(symbols[i].function, &address, sizeof address);
    }
    ga__log(GA_LOG_INFO, "NVRTC loaded: %s", path);
    return true;
}

static bool load_from_toolkit(const char *directory)
{
    static const char *const files[] = {"lib64/libnvrtc.so", "lib64/libnvrtc.so.13",
                                        "lib64/libnvrtc.so.12", "lib/libnvrtc.so"};
    char path[PATH_MAX];
    if (directory == NULL || *directory == '\0')
        return false;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if ((size_t)snprintf(path, sizeof path, "%s/%s", directory, files[i]) < sizeof path &&
            load_from(path))
            return true;
    }
    return false;
}

static bool load_any(void)
{
    const char *wanted = getenv("QUARRY_NVRTC");
    if (wanted != NULL && *wanted != '\0')
        return load_from(wanted);
    return load_from("libnvrtc.so.13") || load_from("libnvrtc.so.12") || load_from("libnvrtc.so") ||
           load_from_toolkit(getenv("CUDA_HOME")) || load_from_toolkit(getenv("CUDA_PATH")) ||
           load_from_toolkit("/usr/local/cuda");
}

static ga_status fail_no_nvrtc(void)
{
    const char *wanted = getenv("QUARRY_NVRTC");
    if (wanted != NULL && *wanted != '\0')
        return ga__fail(GA_ERR_COMPILE, "QUARRY_NVRTC=%s cannot be loaded as NVRTC", wanted);
    return ga__fail(GA_ERR_COMPILE,
                    "no NVRTC found (tried libnvrtc.so.13, libnvrtc.so.12, libnvrtc.so, CUDA_HOME, "
                    "CUDA_PATH and /usr/local/cuda): install the CUDA toolkit's NVRTC or set "
                    "QUARRY_NVRTC to its libnvrtc.so");
}

static ga_status load_nvrtc(void)
{
    if (atomic_load_explicit(&loaded, memory_order_acquire))
        return GA_OK;
    pthread_mutex_lock(&lock);
    bool done = atomic_load_explicit(&loaded, memory_order_relaxed) || load_any();
    atomic_store_explicit(&loaded, done, memory_order_release);
    pthread_mutex_unlock(&lock);
    return done ? GA_OK : fail_no_nvrtc();
}

#define NEEDED "--std=c++17", "-default-device"
#define QUICKER                                                                                    \
    "--minimal", "--no-cache" /* older versions lack some of these; code does not change */

static void describe_error(char **log, program p)
{
    size_t nbytes = 0;
    *log = NULL;
    if (nvrtc.log_size(p, &nbytes) != NVRTC_SUCCESS || nbytes == 0)
        return;
    *log = ga__malloc(nbytes + 1);
    if (*log == NULL)
        return;
    (*log)[nbytes] = '\0';
    if (nvrtc.log(p, *log) != NVRTC_SUCCESS)
        (*log)[0] = '\0';
}

static ga_status fail_compile(program p, const char *name, int arch, int result)
{
    char *log;
    describe_error(&log, p);
    ga_status status =
        ga__fail(GA_ERR_COMPILE, "%s does not compile for sm_%d (%s):\n%.*s", name, arch,
                 nvrtc.error_string(result), LOG_LIMIT, log == NULL ? "" : log);
    ga__free(log);
    return status;
}

static ga_status take_cubin(program p, const char *name, void **code, size_t *nbytes)
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
        return ga__fail(GA_ERR_COMPILE, "%s: NVRTC gives no cubin: %s", name,
                        nvrtc.error_string(result));
    }
    *code = bytes;
    *nbytes = size;
    return GA_OK;
}

typedef struct request {
    const char *name, *text;
    int arch;
    bool fast_math;
} request;

/* One compile, with or without the options that only make it quicker. *invalid_option tells whether
 * NVRTC refused an option: then, when `quicker`, nothing is raised yet. */
static ga_status compile_once(const request *r, bool quicker, bool *invalid_option, void **code,
                              size_t *nbytes)
{
    char arch[40], seed[48];
    const char *options[] = {arch, NEEDED, QUICKER, seed, r->fast_math ? "--use_fast_math" : NULL};
    const char *plain[] = {arch, NEEDED, r->fast_math ? "--use_fast_math" : NULL};
    const int count = quicker ? 6 : 3;
    snprintf(arch, sizeof arch, "--gpu-architecture=sm_%d", r->arch);
    snprintf(seed, sizeof seed, "--frandom-seed=%016llx",
             (unsigned long long)ga__hash64(r->text, strlen(r->text), 0));

    program p = NULL;
    int result = nvrtc.create(&p, r->text, r->name, 0, NULL, NULL);
    if (result != NVRTC_SUCCESS)
        return ga__fail(GA_ERR_COMPILE, "%s: NVRTC: %s", r->name, nvrtc.error_string(result));
    result = nvrtc.compile(p, count + r->fast_math, quicker ? options : plain);
    *invalid_option = result == NVRTC_INVALID_OPTION;
    ga_status status = GA_ERR_COMPILE;
    if (result == NVRTC_SUCCESS)
        status = take_cubin(p, r->name, code, nbytes);
    else if (!(*invalid_option && quicker))
        status = fail_compile(p, r->name, r->arch, result);
    nvrtc.destroy(&p);
    return status;
}

ga_status ga__nvrtc_compile(const char *name, const char *text, int arch, bool fast_math,
                            void **code, size_t *nbytes)
{
    static atomic_bool plain_only; /* this NVRTC does not know all of the quicker options */
    const request r = {name, text, arch, fast_math};
    bool invalid_option = false;
    ga_status status = load_nvrtc();
    if (status != GA_OK)
        return status;
    if (!atomic_load(&plain_only)) {
        status = compile_once(&r, true, &invalid_option, code, nbytes);
        if (!invalid_option)
            return status;
    }
    status = compile_once(&r, false, &invalid_option, code, nbytes);
    if (!invalid_option)
        atomic_store(&plain_only, true);
    return status;
}

void ga__nvrtc_describe(char *text, size_t size, bool fast_math)
{
    static const char *const options[] = {NEEDED, QUICKER};
    const char *wanted = getenv("QUARRY_NVRTC");
    snprintf(text, size, "%s %s %s %s %s %s", options[0], options[1], options[2], options[3],
             fast_math ? "--use_fast_math" : "", wanted == NULL ? "" : wanted);
}

ga_status ga__nvrtc_found(char *text, size_t size)
{
    int major = 0, minor = 0;
    Dl_info where = {0};
    void *function;
    const ga_status status = load_nvrtc();
    if (status != GA_OK)
        return status;
    memcpy(&function, &nvrtc.version, sizeof function);
    nvrtc.version(&major, &minor);
    dladdr(function, &where);
    snprintf(text, size, "NVRTC %d.%d, %s", major, minor, where.dli_fname ? where.dli_fname : "?");
    return GA_OK;
}
