/* Products by the host's BLAS (OpenBLAS, BLIS or MKL), which is loaded at first use. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/os/environment.h"
#include "base/os/fork.h"
#include "base/os/library.h"
#include "device/cpu/threads.h"
#include "device/host/shared.h"

static struct {
#define GA_SYMBOL(member, name, result, parameters, since) result(*member) parameters;
#include "device/host/blas.def"
#undef GA_SYMBOL
} blas;

static const ga__symbol needed[] = {
#define GA_SYMBOL(member, name, result, parameters, since) {&blas.member, name, since},
#include "device/host/blas.def"
#undef GA_SYMBOL
};

static const char *const files[] = {"libopenblas.so.0",
                                    "libopenblas.so",
                                    "libblis.so.4",
                                    "libblis.so",
                                    "libmkl_rt.so.2",
                                    "libmkl_rt.so",
                                    NULL};
static const char *const folders[] = {"$CONDA_PREFIX/lib", "$VIRTUAL_ENV/lib", "$MKLROOT/lib",
                                      "$HOME/.local/lib", NULL};

/* OpenBLAS runs the code of a processor of 2004 on one that it does not know: there, the own
 * kernels are several times faster. OPENBLAS_CORETYPE, which OpenBLAS reads too, chooses its code.
 */
static bool lacks_code(void)
{
#ifdef __x86_64__
    const char *chosen = ga__environment("OPENBLAS_CORETYPE");
    return blas.openblas_core && strcmp(blas.openblas_core(), "Prescott") == 0 &&
           __builtin_cpu_supports("avx2") && !(chosen && *chosen);
#else
    return false;
#endif
}

static bool outdated; /* set before the library counts as loaded */

/* The BLAS has threads of its own, as many as the pool of launches. */
static void get_ready(void)
{
    const int count = ga__pool_size();
    if (blas.openblas_threads)
        blas.openblas_threads(count);
    else if (blas.mkl_threads)
        blas.mkl_threads(count);
    else if (blas.blis_threads)
        blas.blis_threads(count);
    outdated = lacks_code();
}

static ga__library library = {
    .name = "BLAS",
    .variable = "QUARRY_BLAS",
    .files = files,
    .folders = folders,
    .advice = "products of floats are slower without; install OpenBLAS (libopenblas0-pthread) or "
              "set QUARRY_BLAS to a library with the CBLAS interface",
    .symbols = needed,
    .count = sizeof needed / sizeof *needed,
    .final = true,
    .ready = get_ready,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};
GA__FORK_GUARD(&library.lock, GA__FORK_LIBRARY, NULL)

ga_status ga__host_blas_found(char *text, size_t size)
{
    char version[200] = "BLAS";
    if (!ga__library_load(&library))
        return ga__fail(GA_ERR_UNSUPPORTED, "blas: %s", library.problem);
    if (blas.openblas_config)
        snprintf(version, sizeof version, "%s", blas.openblas_config());
    else if (blas.mkl_version)
        blas.mkl_version(version, (int)sizeof version);
    else if (blas.blis_version)
        snprintf(version, sizeof version, "BLIS %s", blas.blis_version());
    for (size_t end = strlen(version); end > 0 && version[end - 1] == ' ';)
        version[--end] = '\0';
    snprintf(text, size, "%s, %s%s", version, library.path,
             outdated
                 ? " (not used: it has no code for this processor, and Quarry's own kernels are "
                   "faster; a newer OpenBLAS, or OPENBLAS_CORETYPE=Haswell, is faster still)"
                 : "");
    return GA_OK;
}

/* ---- One product ---- */

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

/* Where a product's matrices are, at one place of its stack. */
typedef struct matrices {
    const ga__matrix_product *p;
    const void *a, *b;
    void *c;
} matrices;

static int flag(const ga__matrix *x)
{
    return x->transposed ? TRANSPOSED : PLAIN;
}

/* The arguments of every gemm but the numbers and the addresses. */
#define SHAPE(p) ROW_MAJOR, flag(&p->a), flag(&p->b), (int)p->m, (int)p->n, (int)p->k

static void multiply_floats(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    blas.sgemm(SHAPE(p), (float)p->alpha.re, at->a, (int)p->a.pitch, at->b, (int)p->b.pitch,
               (float)p->beta.re, at->c, (int)p->c.pitch);
}

static void multiply_doubles(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    blas.dgemm(SHAPE(p), p->alpha.re, at->a, (int)p->a.pitch, at->b, (int)p->b.pitch, p->beta.re,
               at->c, (int)p->c.pitch);
}

static void multiply_small_complex(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    const float alpha[2] = {(float)p->alpha.re, (float)p->alpha.im},
                beta[2] = {(float)p->beta.re, (float)p->beta.im};
    blas.cgemm(SHAPE(p), alpha, at->a, (int)p->a.pitch, at->b, (int)p->b.pitch, beta, at->c,
               (int)p->c.pitch);
}

static void multiply_complex(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    const double alpha[2] = {p->alpha.re, p->alpha.im}, beta[2] = {p->beta.re, p->beta.im};
    blas.zgemm(SHAPE(p), alpha, at->a, (int)p->a.pitch, at->b, (int)p->b.pitch, beta, at->c,
               (int)p->c.pitch);
}

/* A row times a matrix. The row's elements are `pitch` apart if it is transposed. */
static int row_step(const ga__matrix *x)
{
    return x->transposed ? (int)x->pitch : 1;
}

/* As a column times the transposed matrix: b is k x n, and in memory n x k if it is transposed. */
static void multiply_row_of_floats(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    const bool turned = p->b.transposed;
    blas.sgemv(ROW_MAJOR, turned ? PLAIN : TRANSPOSED, (int)(turned ? p->n : p->k),
               (int)(turned ? p->k : p->n), (float)p->alpha.re, at->b, (int)p->b.pitch, at->a,
               row_step(&p->a), (float)p->beta.re, at->c, 1);
}

static void multiply_row_of_doubles(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    const bool turned = p->b.transposed;
    blas.dgemv(ROW_MAJOR, turned ? PLAIN : TRANSPOSED, (int)(turned ? p->n : p->k),
               (int)(turned ? p->k : p->n), p->alpha.re, at->b, (int)p->b.pitch, at->a,
               row_step(&p->a), p->beta.re, at->c, 1);
}

/* The functions of each dtype; NULL: the BLAS has none. */
static const struct {
    void (*matrices)(const matrices *at);
    void (*row)(const matrices *at); /* m is 1 */
} functions[GA_DTYPE_COUNT] = {
    [GA_FLOAT32] = {multiply_floats, multiply_row_of_floats},
    [GA_FLOAT64] = {multiply_doubles, multiply_row_of_doubles},
    [GA_COMPLEX64] = {multiply_small_complex, NULL},
    [GA_COMPLEX128] = {multiply_complex, NULL},
};

static bool fits_int(int64_t n)
{
    return n <= INT32_MAX;
}

bool ga__host_blas_takes(const ga__matrix_product *p)
{
    return functions[p->type].matrices && !p->bias && !p->relu && p->c_type == p->type &&
           fits_int(p->m) && fits_int(p->n) && fits_int(p->k) && fits_int(p->a.pitch) &&
           fits_int(p->b.pitch) && fits_int(p->c.pitch) && ga__library_load(&library) && !outdated;
}

static void run(const void *product)
{
    const ga__matrix_product *p = product;
    const size_t size = ga_dtype_size(p->type);
    const bool row = p->m == 1 && functions[p->type].row;
    for (int64_t place = 0; place < p->places; place++) {
        const size_t at = (size_t)place * size;
        const matrices here = {p, (char *)p->a.memory + (size_t)p->a.stack * at,
                               (char *)p->b.memory + (size_t)p->b.stack * at,
                               (char *)p->c.memory + (size_t)p->c.stack * at};
        (row ? functions[p->type].row : functions[p->type].matrices)(&here);
    }
}

ga_status ga__host_blas_multiply(ga__stream *stream, const ga__matrix_product *p)
{
    return ga__host_call(stream, run, p, sizeof *p);
}
