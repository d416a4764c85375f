/* Calls cuBLASLt or the host's BLAS directly, with what Quarry would give it. */
#include "bare.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- cuBLASLt ---- */

typedef void *handle, *descriptor, *layout, *preference;
typedef struct algorithm {
    uint64_t data[8];
} algorithm;
typedef struct choice {
    algorithm how;
    size_t workspace_bytes;
    int status;
    float waves;
    int reserved[4];
} choice;

typedef struct cublaslt {
#define GA_SYMBOL(member, name, result, parameters, since) result(*member) parameters;
#include "device/cuda/cublaslt.def"
#undef GA_SYMBOL
} cublaslt;

/* Numbers of the documentation's enums, as in cublaslt.c. */
enum { F32 = 0, COMPUTE_F32 = 68, MOST_WORKSPACE = 1, SCHEMES = 3, ALIGNMENT_A = 5 };
enum { ANY_SCHEME = 7, ALIGNMENT = 128, WORKSPACE_BYTES = 32 << 20 };

/* ---- BLAS ---- */

enum { ROW_MAJOR = 101, PLAIN = 111 };

#define GEMM(integer)                                                                              \
    void (*)(int, int, int, integer, integer, integer, float, const float *, integer,              \
             const float *, integer, float, float *, integer)

struct bare {
    void *library;
    int64_t n;
    const void *a, *b;
    void *out;
    void *gemm; /* of the host, */
    bool wide;  /* with lengths of 64 bits */
    cublaslt lt;
    handle handle;
    descriptor description;
    layout square;
    choice choice;
    gpuarray *workspace;
};

static bare *fail(bare *call, const char *why)
{
    fprintf(stderr, "quarry-products: the bare call: %s\n", why);
    bare_free(call);
    return NULL;
}

/* "OpenBLAS 0.3.21, /usr/lib/libopenblas.so.0" */
static void *open_library(void)
{
    char *text = ga_product_library(ga_current_device());
    char *path = text ? strstr(text, ", /") : NULL;
    void *library = path && !strstr(path, " (not used") ? dlopen(path + 2, RTLD_NOW) : NULL;
    free(text);
    return library;
}

static void find_gemm(bare *call)
{
    static const char *const names[][2] = {
        {"cblas_sgemm", "openblas_get_config"},
        {"scipy_cblas_sgemm", "scipy_openblas_get_config"},
        {"cblas_sgemm64_", "openblas_get_config64_"},
        {"scipy_cblas_sgemm64_", "scipy_openblas_get_config64_"}};
    for (int k = 0; k < 4 && !call->gemm; k++) {
        const char *(*config)(void) = NULL;
        void *const found = dlsym(call->library, names[k][1]);
        memcpy(&config, &found, sizeof config);
        call->gemm = dlsym(call->library, names[k][0]);
        call->wide = k >= 2 || (config && strstr(config(), "USE64BITINT"));
    }
}

static bool find_functions(bare *call)
{
#define GA_SYMBOL(member, name, result, parameters, since)                                         \
    {                                                                                              \
        void *const found = dlsym(call->library, name);                                            \
        if (!found)                                                                                \
            return false;                                                                          \
        memcpy(&call->lt.member, &found, sizeof found);                                            \
    }
#include "device/cuda/cublaslt.def"
#undef GA_SYMBOL
    return true;
}

static int choose(bare *call)
{
    const cublaslt *lt = &call->lt;
    const size_t most = WORKSPACE_BYTES;
    const uint32_t schemes = ANY_SCHEME, alignment = ALIGNMENT;
    preference wanted = NULL;
    int found = 0, status = lt->preference(&wanted);
    if (status == 0)
        status = lt->preference_set(wanted, MOST_WORKSPACE, &most, sizeof most);
    if (status == 0)
        status = lt->preference_set(wanted, SCHEMES, &schemes, sizeof schemes);
    for (int k = 0; k < 4 && status == 0; k++)
        status = lt->preference_set(wanted, ALIGNMENT_A + k, &alignment, sizeof alignment);
    if (status == 0)
        status = lt->choose(call->handle, call->description, call->square, call->square,
                            call->square, call->square, wanted, 1, &call->choice, &found);
    if (wanted)
        lt->preference_free(wanted);
    return status == 0 && found == 1 ? call->choice.status : 1;
}

/* As column-major matrices, b comes first. */
static bool prepare(bare *call)
{
    const uint64_t n = (uint64_t)call->n;
    call->workspace = ga_empty(GA_UINT8, GA_SHAPE(WORKSPACE_BYTES));
    return call->workspace && call->lt.create(&call->handle) == 0 &&
           call->lt.describe(&call->description, COMPUTE_F32, F32) == 0 &&
           call->lt.layout(&call->square, F32, n, n, call->n) == 0 && choose(call) == 0;
}

bare *bare_new(const gpuarray *a, const gpuarray *b, gpuarray *out, int64_t n)
{
    const bool cuda = strncmp(ga_current_device(), "cuda", 4) == 0;
    bare *call = calloc(1, sizeof *call);
    if (!call)
        return fail(call, "out of memory");
    call->n = n;
    call->a = ga_data(a);
    call->b = ga_data(b);
    call->out = ga_data(out);
    call->library = open_library();
    if (!call->library)
        return fail(call, "Quarry uses no library on this device (quarry info)");
    if (cuda && !find_functions(call))
        return fail(call, "a function of cuBLASLt is missing");
    if (cuda && !prepare(call))
        return fail(call, "cuBLASLt has no way for the shape");
    if (!cuda)
        find_gemm(call);
    return cuda || call->gemm ? call : fail(call, "the library has no cblas_sgemm");
}

static void multiply_on_host(const bare *call)
{
    if (call->wide) {
        const int64_t n = call->n;
        ((GEMM(int64_t))call->gemm)(ROW_MAJOR, PLAIN, PLAIN, n, n, n, 1, call->a, n, call->b, n, 0,
                                    call->out, n);
    } else {
        const int n = (int)call->n;
        ((GEMM(int))call->gemm)(ROW_MAJOR, PLAIN, PLAIN, n, n, n, 1, call->a, n, call->b, n, 0,
                                call->out, n);
    }
}

bool bare_multiply(bare *call)
{
    const float alpha = 1, beta = 0;
    if (call->gemm) {
        multiply_on_host(call);
        return true;
    }
    return call->lt.multiply(call->handle, call->description, &alpha, call->b, call->square,
                             call->a, call->square, &beta, call->out, call->square, call->out,
                             call->square, &call->choice.how, ga_data(call->workspace),
                             call->choice.workspace_bytes,
                             ga_stream_handle(ga_current_stream())) == 0;
}

/* The library stays open: Quarry uses it. */
void bare_free(bare *call)
{
    if (call && call->square)
        call->lt.layout_free(call->square);
    if (call && call->description)
        call->lt.description_free(call->description);
    if (call && call->handle)
        call->lt.destroy(call->handle);
    if (call)
        ga_free(call->workspace);
    free(call);
}
