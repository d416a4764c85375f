/* Products by the host's BLAS (OpenBLAS, BLIS or MKL), which is loaded at first use. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/os/environment.h"
#include "base/os/fork.h"
#include "base/os/library.h"
#include "device/cpu/threads.h"
#include "device/host/shared.h"

/* The functions of a library whose lengths have 32 bits, or 64 bits. */
static union {
    struct {
#define BLAS_INT int
#define GA_SYMBOL(member, name, result, parameters, since) result(*member) parameters;
#include "device/host/blas.def"
#undef GA_SYMBOL
#undef BLAS_INT
    } narrow;
    struct {
#define BLAS_INT int64_t
#define GA_SYMBOL(member, name, result, parameters, since) result(*member) parameters;
#include "device/host/blas.def"
#undef GA_SYMBOL
#undef BLAS_INT
    } wide;
} functions;

static const ga__symbol needed[] = {
#define GA_SYMBOL(member, name, result, parameters, since) {&functions.narrow.member, name, since},
#include "device/host/blas.def"
#undef GA_SYMBOL
};

/* The wheels of scipy-openblas, and the copy in NumPy's, have a prefix. */
static const ga__spelling spellings[] = {
    {"", ""}, {"scipy_", ""}, {"", "64_"}, {"scipy_", "64_"}, {NULL, NULL}};

/* Fedora's libopenblas.so.0 and libblis.so.4 use one thread; those with p and o have threads.
 * AMD's BLIS with threads is libblis-mt. */
static const char *const files[] = {"libopenblasp.so.0",
                                    "libopenblaso.so.0",
                                    "libopenblas.so.0",
                                    "libopenblas.so",
                                    "libblisp.so.4",
                                    "libbliso.so.4",
                                    "libblis.so.4",
                                    "libblis-mt.so",
                                    "libblis.so",
                                    "libmkl_rt.so.3",
                                    "libmkl_rt.so.2",
                                    "libmkl_rt.so",
                                    "libopenblasp64_.so.0",
                                    "libopenblas64_.so.0",
                                    "libopenblas64.so.0",
                                    "libscipy_openblas*.so",
                                    NULL};
static const char *const folders[] = {
    "$CONDA_PREFIX/lib",
    "$VIRTUAL_ENV/lib",
    "$MKLROOT/lib",
    "$HOME/.local/lib",
    "$VIRTUAL_ENV/lib/python3*/site-packages/scipy_openblas*/lib",
    "$VIRTUAL_ENV/lib/python3*/site-packages/numpy.libs",
    "$HOME/.local/lib/python3*/site-packages/scipy_openblas*/lib",
    "/usr/local/lib/python3*/*-packages/scipy_openblas*/lib",
    NULL,
};

/* OpenBLAS runs the code of a processor of 2004 on one that it does not know: there, the own
 * kernels are several times faster. OPENBLAS_CORETYPE, which OpenBLAS reads too, chooses its code.
 */
static bool has_code(void)
{
#ifdef __x86_64__
    const char *chosen = ga__environment("OPENBLAS_CORETYPE");
    return !functions.narrow.openblas_core ||
           strcmp(functions.narrow.openblas_core(), "Prescott") != 0 ||
           !__builtin_cpu_supports("avx2") || (chosen && *chosen);
#else
    return true;
#endif
}

static ga__library library;
static bool outdated, wide_lengths; /* set before the library counts as loaded */

/* Names that end in 64_ have lengths of 64 bits. Debian's libopenblas64 has them with plain names,
 * as BLIS and MKL may. */
static bool has_wide_lengths(void)
{
    const char *layer = ga__environment("MKL_INTERFACE_LAYER");
    if (*library.spelling->suffix != '\0')
        return true;
    if (functions.narrow.openblas_config)
        return strstr(functions.narrow.openblas_config(), "USE64BITINT") != NULL;
    if (functions.narrow.mkl_version)
        return layer && strstr(layer, "ILP64");
    return functions.narrow.blis_int_bits && functions.narrow.blis_int_bits() == 64;
}

/* The BLAS has threads of its own, as many as the pool of launches. */
static void get_ready(void)
{
    const int count = ga__pool_size();
    if (functions.narrow.openblas_threads)
        functions.narrow.openblas_threads(count);
    else if (functions.narrow.mkl_threads)
        functions.narrow.mkl_threads(count);
    else if (functions.narrow.blis_threads)
        functions.narrow.blis_threads(count);
    outdated = !has_code();
    wide_lengths = has_wide_lengths();
}

/* What the library says of itself, or "BLAS". */
static void describe(char *text, size_t size)
{
    snprintf(text, size, "BLAS");
    if (functions.narrow.openblas_config)
        snprintf(text, size, "%s", functions.narrow.openblas_config());
    else if (functions.narrow.mkl_version)
        functions.narrow.mkl_version(text, (int)size);
    else if (functions.narrow.blis_version)
        snprintf(text, size, "BLIS %s", functions.narrow.blis_version());
    for (size_t end = strlen(text); end > 0 && text[end - 1] == ' ';)
        text[--end] = '\0';
}

/* OpenBLAS before 0.3.4 does not say its version; called by several threads, 0.3.2 and 0.3.3 give
 * wrong products (its issue 1761). From BLIS 0.3.0 on, any thread may call it first, and its
 * threads can be set; from MKL 10.3 on, it is one library. */
static void read_version(ga__version *its)
{
    char text[200];
    describe(text, sizeof text);
    const char *number = text + strcspn(text, "0123456789");
    if (functions.narrow.openblas_config)
        *its = (ga__version){.name = "OpenBLAS", .least = "0.3.4"};
    else if (functions.narrow.mkl_version)
        *its = (ga__version){.name = "MKL", .least = "10.3"};
    else
        *its = (ga__version){.name = "BLIS", .least = "0.3.0"};
    if (functions.narrow.openblas_config && strncmp(text, "OpenBLAS ", strlen("OpenBLAS ")) != 0)
        snprintf(its->text, sizeof its->text, "0.3.3 or older");
    else
        snprintf(its->text, sizeof its->text, "%.*s", (int)strspn(number, "0123456789."), number);
}

static ga__library library = {
    .name = "BLAS",
    .variable = "QUARRY_BLAS",
    .files = files,
    .folders = folders,
    .advice =
        "products of floats are slower without; install OpenBLAS (libopenblas0-pthread; "
        "Fedora: openblas-threads; Arch, conda: openblas) or set QUARRY_BLAS to a library with "
        "the CBLAS interface",
    .symbols = needed,
    .count = sizeof needed / sizeof *needed,
    .spellings = spellings,
    .final = true,
    .version = read_version,
    .suits = has_code,
    .ready = get_ready,
    .lock = PTHREAD_MUTEX_INITIALIZER,
};
GA__FORK_GUARD(&library.lock, GA__FORK_LIBRARY, NULL)

ga_status ga__host_blas_found(char *text, size_t size)
{
    char version[200];
    if (!ga__library_load(&library))
        return ga__fail(GA_ERR_UNSUPPORTED, "blas: %s", library.problem);
    describe(version, sizeof version);
    snprintf(text, size, "%s, %s%s", version, library.path,
             outdated
                 ? " (not used: it has no code for this processor, and Quarry's own kernels are "
                   "faster; a newer OpenBLAS, as of pip install scipy-openblas64 in a virtual "
                   "environment, or OPENBLAS_CORETYPE=Haswell, is faster still)"
                 : "");
    return GA_OK;
}

/* ---- One product ---- */

enum { ROW_MAJOR = 101, PLAIN = 111, TRANSPOSED = 112 };

enum {
    LITTLE_WORK = 32 * 32 * 32, /* multiplications of a product that no library divides; */
    SHARE_WORK = 1 << 16        /* of a share of a stack of such */
};

/* Calls a function of the library with lengths of its type. */
#define CALL(member, ...)                                                                          \
    (wide_lengths ? functions.wide.member(__VA_ARGS__) : functions.narrow.member(__VA_ARGS__))

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
#define SHAPE(p) ROW_MAJOR, flag(&p->a), flag(&p->b), p->m, p->n, p->k

static void multiply_floats(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    CALL(sgemm, SHAPE(p), (float)p->alpha.re, at->a, p->a.pitch, at->b, p->b.pitch,
         (float)p->beta.re, at->c, p->c.pitch);
}

static void multiply_doubles(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    CALL(dgemm, SHAPE(p), p->alpha.re, at->a, p->a.pitch, at->b, p->b.pitch, p->beta.re, at->c,
         p->c.pitch);
}

static void multiply_small_complex(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    const float alpha[2] = {(float)p->alpha.re, (float)p->alpha.im},
                beta[2] = {(float)p->beta.re, (float)p->beta.im};
    CALL(cgemm, SHAPE(p), alpha, at->a, p->a.pitch, at->b, p->b.pitch, beta, at->c, p->c.pitch);
}

static void multiply_complex(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    const double alpha[2] = {p->alpha.re, p->alpha.im}, beta[2] = {p->beta.re, p->beta.im};
    CALL(zgemm, SHAPE(p), alpha, at->a, p->a.pitch, at->b, p->b.pitch, beta, at->c, p->c.pitch);
}

/* A row times a matrix. The row's elements are `pitch` apart if it is transposed. */
static int64_t row_step(const ga__matrix *x)
{
    return x->transposed ? x->pitch : 1;
}

/* As a column times the transposed matrix: b is k x n, and in memory n x k if it is transposed. */
static void multiply_row_of_floats(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    const bool turned = p->b.transposed;
    CALL(sgemv, ROW_MAJOR, turned ? PLAIN : TRANSPOSED, turned ? p->n : p->k, turned ? p->k : p->n,
         (float)p->alpha.re, at->b, p->b.pitch, at->a, row_step(&p->a), (float)p->beta.re, at->c,
         1);
}

static void multiply_row_of_doubles(const matrices *at)
{
    const ga__matrix_product *p = at->p;
    const bool turned = p->b.transposed;
    CALL(dgemv, ROW_MAJOR, turned ? PLAIN : TRANSPOSED, turned ? p->n : p->k, turned ? p->k : p->n,
         p->alpha.re, at->b, p->b.pitch, at->a, row_step(&p->a), p->beta.re, at->c, 1);
}

/* What multiplies each dtype; NULL: the BLAS has nothing for it. */
static const struct {
    void (*matrices)(const matrices *at);
    void (*row)(const matrices *at); /* m is 1 */
} multipliers[GA_DTYPE_COUNT] = {
    [GA_FLOAT32] = {multiply_floats, multiply_row_of_floats},
    [GA_FLOAT64] = {multiply_doubles, multiply_row_of_doubles},
    [GA_COMPLEX64] = {multiply_small_complex, NULL},
    [GA_COMPLEX128] = {multiply_complex, NULL},
};

static bool fits_int(int64_t n)
{
    return n <= INT32_MAX;
}

static bool takes_lengths(const ga__matrix_product *p)
{
    return wide_lengths || (fits_int(p->m) && fits_int(p->n) && fits_int(p->k) &&
                            fits_int(p->a.pitch) && fits_int(p->b.pitch) && fits_int(p->c.pitch));
}

bool ga__host_blas_takes(const ga__matrix_product *p)
{
    return multipliers[p->type].matrices && !p->bias && !p->relu && p->c_type == p->type &&
           ga__library_load(&library) && !outdated && takes_lengths(p);
}

/* The places [first, end) of a stack, one after another. */
static void multiply_places(const ga__matrix_product *p, int64_t first, int64_t end)
{
    const size_t size = ga_dtype_size(p->type);
    const bool row = p->m == 1 && multipliers[p->type].row;
    for (int64_t place = first; place < end; place++) {
        const size_t at = (size_t)place * size;
        const matrices here = {p, (char *)p->a.memory + (size_t)p->a.stack * at,
                               (char *)p->b.memory + (size_t)p->b.stack * at,
                               (char *)p->c.memory + (size_t)p->c.stack * at};
        (row ? multipliers[p->type].row : multipliers[p->type].matrices)(&here);
    }
}

/* Products of a stack that are too small for the library's threads: each of ours takes a share. */
typedef struct shares {
    const ga__matrix_product *p;
    int64_t places; /* of a share */
} shares;

static void multiply_share(const void *context, int64_t index)
{
    const shares *s = context;
    const int64_t first = index * s->places, rest = s->p->places - first;
    multiply_places(s->p, first, first + (rest < s->places ? rest : s->places));
}

static void run(const void *product)
{
    const ga__matrix_product *p = product;
    const double work = (double)p->m * (double)p->n * (double)p->k;
    const shares s = {p, work < SHARE_WORK ? (int64_t)(SHARE_WORK / work) : 1};
    if (p->places > s.places && work <= LITTLE_WORK)
        ga__pool_run(multiply_share, &s, (p->places + s.places - 1) / s.places, false);
    else
        multiply_places(p, 0, p->places);
}

ga_status ga__host_blas_multiply(ga__stream *stream, const ga__matrix_product *p)
{
    return ga__host_call(stream, run, p, sizeof *p);
}
