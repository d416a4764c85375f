/* Tests that every kernel of the engines compiles with NVRTC, on a device that only compiles. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "array/array.h"
#include "base/error.h"
#include "device/context.h"
#include "jit/compile.h"
#include "model/rows.h"
#include "run.h"

#ifndef QUARRY_CUDA

int main(void)
{
    puts("skipped: built without the CUDA toolkit, so there is no NVRTC to compile with");
    return 77;
}

#else

#include "fake_device.h"

/* ---- Compiled kernels ---- */

static _Thread_local ga_dtype compiled_dtype; /* GA_NO_DTYPE: more than one dtype */

/* "cbrt float16 on fake:90" */
static const char *kernel_text(const char *what)
{
    static _Thread_local char text[300];
    snprintf(text, sizeof text, "%s %s on %s", what,
             compiled_dtype == GA_NO_DTYPE ? "" : ga_dtype_name(compiled_dtype),
             ga_current_device());
    return text;
}

static void check(const char *what)
{
    if (ga_error() == GA_OK)
        return;
    /* The tables define the dtypes of a row; a rejected dtype is fine, a failed compile is not. */
    if (ga_error() != GA_ERR_DTYPE)
        fail_msg("%s: %s", kernel_text(what), ga_error_message());
    ga_clear_error();
}

/* A sample has one architecture's kernels; of the others it has a sample of the same share again.
 */
static bool compiles(const char *what)
{
    char other[320];
    const char *text = kernel_text(what);
    if (!row_selected(text))
        return false;
    snprintf(other, sizeof other, "again %s", text);
    return rows_are_named() || strcmp(ga_current_device(), "fake:90") == 0 || in_sample(other);
}

/* A call, which compiles a kernel, unless the program's arguments name others. */
#define COMPILES(what, ...)                                                                        \
    do {                                                                                           \
        if (compiles(what)) {                                                                      \
            __VA_ARGS__;                                                                           \
            check(what);                                                                           \
        }                                                                                          \
    } while (0)

static void all_rows(ga_dtype dtype)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(64)), *r, *s;
        const gpuarray *a = x;
#define GA_UNARY(name, ...) COMPILES(#name, ga_##name(a));
#include <quarry/unary.def>
#define GA_BINARY(name, ...) COMPILES(#name, ga_##name(a, a));
#include <quarry/binary.def>
#define GA_TERNARY(name, ...) COMPILES(#name, ga_##name(a, a, a));
#include <quarry/ternary.def>
#define GA_SPLIT(name, ...) COMPILES(#name, (void)ga_##name(a, &r, &s));
#include <quarry/split.def>
#define GA_REDUCE(name, ...) COMPILES(#name, ga_##name(a));
#include <quarry/reduce.def>
#define GA_SCAN(name, ...) COMPILES(#name, ga_##name(a));
#include <quarry/scan.def>
        COMPILES("dot", ga_dot(a, a));
        COMPILES("masked sum", ga_sum(a, .where = a, GA_INITIAL(1)));
        COMPILES("masked max", ga_max(a, .where = a, GA_INITIAL(1)));
        COMPILES("masked mean", ga_mean(a, .where = a));
        COMPILES("masked std", ga_std(a, .where = a));
        COMPILES("masked argmin", ga_argmin(a, .where = a));
        COMPILES("average", ga_average(a, .weights = a));
        COMPILES("close", (void)ga_isclose(a, a, .rtol = 0));
        COMPILES("numbers", (void)ga_nan_to_num(a, .nan = 1));
        for (int to = GA_BOOL; to < GA_DTYPE_COUNT; to++)
            COMPILES("astype", ga_astype(a, (ga_dtype)to));
    }
}

static void elementwise_variants(ga_dtype dtype)
{
    GA_SCOPE {
        gpuarray *m = ga_empty(dtype, GA_SHAPE(64, 96)),
                 *cube = ga_empty(dtype, GA_SHAPE(40, 64, 48));
        gpuarray *line = ga_empty(dtype, GA_SHAPE(1003)), *i8 = ga_empty(GA_INT8, GA_SHAPE(64, 96));
        gpuarray *t = ga_transpose(cube);
        COMPILES("vectors and a tail", ga_add(line, line));
        COMPILES("misaligned", ga_add(ga_slice(line, "1:"), ga_slice(line, ":-1")));
        COMPILES("strided", ga_add(ga_slice(line, "::2"), ga_slice(line, "::-2")));
        COMPILES("a row", ga_add(m, ga_slice(m, "0")));
        COMPILES("a column", ga_add(m, ga_slice(m, ":, :1")));
        COMPILES("a number", ga_add(m, 1));
        COMPILES("mixed", ga_add(m, i8));
        COMPILES("tiled, three axes", ga_add(t, ga_copy(t)));
        COMPILES("tiled copy", ga_copy(ga_transpose(m)));
        COMPILES("tiled and not", ga_add(ga_transpose(m), ga_empty(dtype, GA_SHAPE(96, 64))));
        COMPILES("tiled, two items", ga_add(ga_transpose(m), ga_transpose(i8)));
        COMPILES("tiled, odd", ga_copy(ga_transpose(ga_slice(m, "1:, 1:"))));
        gpuarray *wide = ga_empty(dtype, GA_SHAPE(128, 144));
        COMPILES("squares of two", ga_add(ga_transpose(wide), ga_empty(dtype, GA_SHAPE(144, 128))));
        COMPILES("squares and a column",
                 ga_add(ga_transpose(wide), ga_empty(dtype, GA_SHAPE(144, 1))));
        COMPILES("squares of two items",
                 ga_add(ga_transpose(wide), ga_empty(GA_INT8, GA_SHAPE(144, 128))));
        COMPILES("a narrow transpose", ga_copy(ga_transpose(ga_slice(m, ":, :20"))));
        COMPILES("to narrow rows", ga_copy(ga_transpose(ga_slice(m, ":7, 1:"))));
        COMPILES("small transposes",
                 ga_copy(ga_transpose_axes(ga_slice(cube, ":, :5, :3"), GA_AXES(0, 2, 1))));
        COMPILES("swizzled rows", ga_copy(ga_transpose(ga_slice(cube, ":, :, 0"))));
        COMPILES("transposed into a window",
                 ga_assign(ga_slice(m, "1:64, 1:64"), ga_transpose(ga_slice(m, ":63, :63"))));
        COMPILES("every third", ga_copy(ga_slice(line, "::3")));
        COMPILES("odd rows and a column",
                 ga_add(ga_reshape(ga_slice(line, ":969"), GA_SHAPE(51, 19)),
                        ga_reshape(ga_slice(line, ":51"), GA_SHAPE(51, 1))));
        COMPILES("odd rows and a row", ga_add(ga_reshape(ga_slice(line, ":969"), GA_SHAPE(51, 19)),
                                              ga_slice(line, ":19")));
        COMPILES("a window", ga_copy(ga_slice(m, ":, 1:-1")));
        COMPILES("three axes", ga_copy(ga_slice(cube, "::2, ::3, ::2")));
        COMPILES("strided output", ga_assign(ga_slice(m, "::2, ::2"), 1));
        COMPILES("comparison", ga_equal(m, m));
        COMPILES("index", ga_arange(dtype, 0, 100, 1));
        COMPILES("eye", ga_eye(dtype, 12));
        COMPILES("linspace", ga_linspace(dtype, 0, 1, 10));
    }
}

static void reduction_variants(ga_dtype dtype)
{
    static const int64_t shapes[][2] = {{3000, 64}, {64, 3000}, {200000, 4}, {4, 200000},
                                        {1003, 7},  {7, 1003},  {3, 70001},  {33, 40}};
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
        GA_SCOPE {
            gpuarray *x = ga_empty(dtype, 2, shapes[k]), *t = ga_transpose(x);
            COMPILES("sum", ga_sum(x));
            COMPILES("sum axis 0", ga_sum(x, GA_AXIS(0)));
            COMPILES("sum axis 1", ga_sum(x, GA_AXIS(1)));
            COMPILES("argmax of a transpose", ga_argmax(t));
            COMPILES("argmax axis 0", ga_argmax(x, GA_AXIS(0)));
            COMPILES("var", ga_var(t, GA_AXIS(0)));
            COMPILES("any", ga_any(x));
            COMPILES("all axis 1", ga_all(x, GA_AXIS(1)));
            COMPILES("any axis 0", ga_any(x, GA_AXIS(0)));
            COMPILES("sum strided", ga_sum(ga_slice(x, "::2, ::3")));
            COMPILES("max misaligned", ga_max(ga_slice(x, ":, 1:"), GA_AXIS(1)));
        }
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(12, 13, 14, 15));
        COMPILES("middle axis", ga_sum(x, GA_AXIS(1)));
        COMPILES("two axes", ga_sum(x, GA_AXIS(0, 2)));
        COMPILES("argmin of two axes", ga_argmin(x, GA_AXIS(1, 3)));
    }
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(1 << 20, 2, 4)),
                 *y = ga_empty(dtype, GA_SHAPE(1 << 20, 7));
        gpuarray *wide = ga_empty(dtype, GA_SHAPE(300, 80000));
        COMPILES("narrow tiles", ga_sum(wide, GA_AXIS(0)));
        COMPILES("thin rows", ga_sum(x, GA_AXIS(2)));
        COMPILES("argmax of thin rows", ga_argmax(x, GA_AXIS(2)));
        COMPILES("sum of 7 columns", ga_sum(y, GA_AXIS(0)));
        COMPILES("argmax of 7 columns", ga_argmax(y, GA_AXIS(0)));
        COMPILES("var of 6 columns of 7", ga_var(ga_slice(y, ":, 1:"), GA_AXIS(0)));
        COMPILES("sum of odd columns", ga_sum(ga_slice(wide, ":, 1:-2"), GA_AXIS(0)));
        COMPILES("any of odd columns", ga_any(ga_slice(wide, ":, 1:-2"), GA_AXIS(0)));
        COMPILES("var of rows of 7", ga_var(y, GA_AXIS(1)));
        COMPILES("all of rows of 7", ga_all(ga_transpose(y), GA_AXIS(0)));
    }
}

static void scan_variants(ga_dtype dtype)
{
    static const int64_t shapes[][2] = {{1, 1000000}, {7, 100000}, {3000, 3000}, {100000, 7},
                                        {1003, 32},   {5, 8192},   {64, 5000}};
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++)
        GA_SCOPE {
            gpuarray *x = ga_empty(dtype, 2, shapes[k]);
            COMPILES("cumsum", ga_cumsum(x));
            COMPILES("cumsum axis 0", ga_cumsum(x, GA_AXIS(0)));
            COMPILES("cumsum axis 1", ga_cumsum(x, GA_AXIS(1), .exclusive = true));
            COMPILES("cummax misaligned", ga_cummax(ga_slice(x, ":, 1:"), GA_AXIS(1)));
            COMPILES("cummin of columns", ga_cummin(ga_slice(x, ":, 1:"), GA_AXIS(0)));
            COMPILES("cumprod reversed", ga_cumprod(x, GA_AXIS(1), .reverse = true, GA_INITIAL(1)));
            COMPILES("segments", ga_nancumsum(x, GA_AXIS(0), GA_INITIAL(1),
                                              .offsets = ga_zeros(GA_INT32, GA_SHAPE(0))));
            COMPILES("segments of rows", ga_nancumprod(ga_slice(x, "..., ::2"), GA_AXIS(1),
                                                       .offsets = ga_zeros(GA_INT32, GA_SHAPE(0))));
            COMPILES("logsumexp", ga_cumulative_logsumexp(ga_transpose(x), GA_AXIS(0)));
        }
}

/* Reductions of segments, one row and many. */
static void segment_variants(ga_dtype dtype)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(1000, 30)), *ends = ga_zeros(GA_INT64, GA_SHAPE(4));
#undef GA_REDUCE
#define GA_REDUCE(name, ...)                                                                       \
    if (!ga__rows[GA__ROW_##name].part.uses_index)                                                 \
        COMPILES("segments of " #name, ga_##name(x, GA_AXIS(0), .offsets = ends));
#include <quarry/reduce.def>
        COMPILES("segments of a line", ga_sum(ga_ravel(x), .offsets = ends));
        COMPILES("segments of rows", ga_mean(x, GA_AXIS(1), .offsets = ends));
    }
}

static void custom_variants(void)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(64, 96)),
                 *h = ga_empty(GA_FLOAT16, GA_SHAPE(64, 96));
        gpuarray *c = ga_empty(GA_COMPLEX64, GA_SHAPE(64, 96)),
                 *b = ga_empty(GA_BFLOAT16, GA_SHAPE(64, 96));
        gpuarray *w = ga_empty(GA_INT64, GA_SHAPE(7)),
                 *e = ga_empty(GA_FLOAT8_E5M2, GA_SHAPE(64, 96)),
                 *yes = ga_empty(GA_BOOL, GA_SHAPE(64, 96));
        ga_kernel *k[] = {
            ga_elementwise_kernel("float a, float *x, half *h", "x[i] = a * x[i] + h[i]", "axpy"),
            ga_elementwise_kernel("bfloat16 *b, float *x", "b[i] = sqrtf(x[i]) + max(x[i], 2.0f)",
                                  "root"),
            ga_elementwise_kernel("complex64 *c, int64_t *w",
                                  "if (i > 3) c[i] = c[i] * (float)w[i % 7]", "table"),
            ga_elementwise_kernel("float8_e5m2 *x, bool *b", "x[i] *= 2; b[i] ^= x[i] > 3", "flip"),
            ga_elementwise_kernel("float *x", "x[i] = f(x[i]) + s", "prep",
                                  .preamble = "__device__ float f(float v) { return v * v; }",
                                  .loop_prep = "float s = 1", .after_loop = "s = 0",
                                  .fast_math = true)};
        COMPILES("axpy", ga_run(k[0], 2, x, h));
        COMPILES("axpy of transposes", ga_run(k[0], 2, ga_transpose(x), ga_transpose(h)));
        COMPILES("axpy of two shapes", ga_run(k[0], 2, ga_transpose(x), h));
        COMPILES("root", ga_run(k[1], b, x));
        COMPILES("table", ga_run(k[2], c, w));
        COMPILES("strided table", ga_run(k[2], ga_slice(c, "::2"), ga_slice(w, "::-1")));
        COMPILES("flip", ga_run(k[3], e, yes));
        COMPILES("flip of transposes", ga_run(k[3], ga_transpose(e), ga_transpose(yes)));
        COMPILES("prep", ga_run(k[4], x));
        for (size_t n = 0; n < sizeof(k) / sizeof(k[0]); n++)
            ga_kernel_free(k[n]);
        ga_kernel *r =
            ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]*i", "float *x", "weighted");
        COMPILES("weighted", ga_reduce(r, ga_slice(x, "1:, ::2")));
        ga_kernel_free(r);
        r = ga_reduction_kernel(GA_NO_DTYPE, "{1e30f, -1e30f}",
                                "{min(a.lo, b.lo), max(a.hi, b.hi)}", "{x[i], x[i]}", "float *x",
                                "minmax", .preamble = "struct minmax { float lo, hi; };",
                                .struct_name = "minmax", .struct_bytes = 8);
        COMPILES("minmax", ga_reduce(r, x));
        ga_kernel_free(r);
    }
}

static void expression_variants(ga_dtype dtype)
{
    static const char *const texts[] = {
        "where(x > 1, x*y, y) + 2*x - y/3 + x**2",
        "float16(x) * complex64(y) + float64(r) == 3",
        "abs(mean((x - y)**2)) + 1",
        "std(x + r, axis=0, ddof=1)",
        "x - sum(x * y, axis=1, keepdims=True)",
        "count_nonzero(x, axis=0) + argmax(x + y, axis=0)",
        "all(isnan(x) or x == y, axis=1) and any(y)",
        "x % 3 // 2 - maximum(x, t)",
        "nextafter(x, y) * hypot(x, r)",
        "(x & 3 | y << 2) ^ ~x",
        "exp(x) / sqrt(nansum(x) + 2j)",
        "prod(x * y, axis=0, keepdims=True) + r",
        "max(x) - min(x)",
        "(x - mean(x, axis=1, keepdims=True)) / std(x, axis=1, keepdims=True)",
        "log(x) / sqrt(x / (x + 1))",
        "var(x, axis=0) + mean(x, axis=0) + argmin(x, axis=0) + any(x, axis=0)",
    };
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(64, 96)), *y = ga_slice(x, "::-1"),
                 *r = ga_slice(x, "0");
        gpuarray *t = ga_transpose(ga_empty(dtype, GA_SHAPE(96, 64)));
        for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
            COMPILES(texts[k], ga_eval(texts[k], GA(x), GA(y), GA(r), GA(t)));
    }
}

/* By one launch over elements that no cache keeps. The fake device's numbers of them are any. */
static void selected_variants(ga_dtype dtype)
{
    static const char *const texts[] = {"x[x > 0]", "(2*x + 1)[x == 3]"};
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE((1 << 23) + 1)), *y = ga_slice(x, "::-2");
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
            COMPILES(texts[k], ga_eval(texts[k], GA_NAMED("x", k ? y : x));
                     if (ga_error() != GA_ERR_COMPILE) ga_clear_error());
    }
}

/* Short rows by groups; rows in registers, by whole vectors, through shared memory and without it;
 * and in shared memory.
 */
static void fused_variants(ga_dtype dtype)
{
    static const int64_t shapes[][2] = {{300, 7},  {300, 16}, {300, 17},
                                        {5, 1025}, {2, 9001}, {3, 200003}};
    static const char *const texts[] = {
        "exp(x - max(x, axis=1, keepdims=True)) / "
        "sum(exp(x - max(x, axis=1, keepdims=True)), axis=1, keepdims=True)",
        "(x - mean(x, axis=1, keepdims=True)) / std(x, axis=1, keepdims=True) * g + 1",
        "argmax(x - min(x, axis=1, keepdims=True), axis=1)",
        "(x - min(x, axis=1, keepdims=True)) / (g + max(x, axis=1, keepdims=True))",
        "2 / (x - max(x, axis=1, keepdims=True)) - x / (x + mean(x, axis=1, keepdims=True))",
    };
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        GA_SCOPE {
            gpuarray *x = ga_empty(dtype, 2, shapes[s]), *g = ga_slice(x, "0");
            for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
                COMPILES(texts[k], ga_eval(texts[k], GA(x), GA(g)));
        }
}

/* Columns of one thread and of several, in registers, in registers with the next strip on its way,
 * and in shared memory. */
static void column_variants(ga_dtype dtype)
{
    static const int64_t shapes[][2] = {{5, 300},     {60, 33},     {1000, 9000},
                                        {2000, 9000}, {5000, 9000}, {5000, 9001}};
    static const char *const texts[] = {
        "exp(x - max(x, axis=0)) / sum(exp(x - max(x, axis=0)), axis=0)",
        "(x - mean(x, axis=0)) / std(x, axis=0) * g + 1",
        "argmax(x - min(x, axis=0), axis=0)",
        "2 / (x - max(x, axis=0)) - x / (x + mean(x, axis=0)) + v",
    };
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        GA_SCOPE {
            gpuarray *x = ga_empty(dtype, 2, shapes[s]), *g = ga_slice(x, "0"),
                     *v = ga_slice(x, ":, :1");
            for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
                COMPILES(texts[k], ga_eval(texts[k], GA(x), GA(g), GA(v)));
        }
}

static ga_status read_zeros(void *user, int64_t first, int64_t count, void *elements)
{
    (void)first;
    memset(elements, 0, (size_t)count * *(const size_t *)user);
    return GA_OK;
}

/* Searches and histograms: few elements or edges, and more than shared memory holds. */
static void bins_variants(ga_dtype dtype)
{
    static const int64_t sizes[] = {5, 300000};
    gpuarray *counts;
    for (int k = 0; k < 2; k++)
        GA_SCOPE {
            gpuarray *line = ga_zeros(dtype, GA_SHAPE(10000)), *x = ga_slice(line, "1:"),
                     *columns = ga_slice(ga_reshape(line, GA_SHAPE(100, 100)), ":, ::2"),
                     *table = ga_zeros(dtype, GA_SHAPE(sizes[k])),
                     *weights = ga_zeros(GA_FLOAT32, GA_SHAPE(9999));
            const int64_t bins = dtype == GA_FLOAT16 ? 300 : sizes[k];
            COMPILES("searchsorted", ga_searchsorted(table, line));
            COMPILES("searchsorted of columns", ga_searchsorted(table, columns));
            COMPILES("searchsorted right", ga_searchsorted(table, x, .side_right = true));
            COMPILES("digitize", ga_digitize(line, table));
            COMPILES("bincount", ga_bincount(x, .minlength = sizes[k]));
            COMPILES("bincount of weights", ga_bincount(x, .weights = weights));
            COMPILES("histogram", ga_histogram(line, bins, &counts, NULL, .range = {-1, 1}));
            COMPILES("histogram of extremes", ga_histogram(columns, bins, &counts, NULL));
            COMPILES("histogram of edges", ga_histogram(line, table, &counts, NULL));
            COMPILES("histogram2d", ga_histogram2d(x, x, 3, table, &counts, NULL, NULL));
        }
}

/* Reductions that continue from launch to launch. */
static void chunked_variants(ga_dtype dtype)
{
    static const int64_t shapes[][2] = {{64, 3000}, {20000, 4}};
    static const char *const texts[] = {"sum(x)",          "sum(x, axis=0) * 2", "std(x)",
                                        "argmax(x)",       "argmin(x, axis=0)",  "all(x, axis=0)",
                                        "nanmean(x) + 1j", "x - mean(x, axis=0)"};
    size_t itemsize = ga_dtype_size(dtype);
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        GA_SCOPE {
            ga_source *x = ga_source_new(dtype, 2, shapes[s], read_zeros, &itemsize);
            const ga_chunks chunks = {.bytes = 20000 * (int64_t)itemsize};
            for (size_t k = 0; k < sizeof(texts) / sizeof(texts[0]); k++)
                COMPILES(texts[k], ga_eval_chunked(&chunks, texts[k], GA(x)));
            ga_source_free(x);
        }
}

static void random_variants(ga_dtype dtype)
{
    ga_rng *rng = ga_rng_new(1);
    for (int begin = 0; begin < 2; begin++) /* at the start of a share, and within one */
        GA_SCOPE {
            ga_rng_set_state(rng, &(ga_rng_state){1, (uint64_t)begin});
            COMPILES("random", ga_rng_random(rng, dtype, GA_SHAPE(5000)));
            COMPILES("uniform", ga_rng_uniform(rng, dtype, 1, 2, GA_SHAPE(5000)));
            COMPILES("standard_normal", ga_rng_standard_normal(rng, dtype, GA_SHAPE(5000)));
            COMPILES("normal", ga_rng_normal(rng, dtype, 1, 2, GA_SHAPE(5000)));
            COMPILES("lognormal", ga_rng_lognormal(rng, dtype, 1, 2, GA_SHAPE(5000)));
            COMPILES("exponential", ga_rng_exponential(rng, dtype, 2, GA_SHAPE(5000)));
            COMPILES("integers", ga_rng_integers(rng, dtype, 0, 2, GA_SHAPE(5000)));
            COMPILES("laplace", ga_rng_laplace(rng, dtype, 1, 2, GA_SHAPE(5000)));
            COMPILES("cauchy", ga_rng_standard_cauchy(rng, dtype, GA_SHAPE(5000)));
            COMPILES("gamma", ga_rng_gamma(rng, dtype, 1, 2, GA_SHAPE(5000)));
            COMPILES("vonmises", ga_rng_vonmises(rng, dtype, 1, 2, GA_SHAPE(5000)));
            COMPILES("binomial by a table", ga_rng_binomial(rng, dtype, 9, 0.5, GA_SHAPE(5000)));
            COMPILES("geometric", ga_rng_geometric(rng, dtype, 0.5, GA_SHAPE(5000)));
            COMPILES("poisson by a table", ga_rng_poisson(rng, dtype, 30, GA_SHAPE(5000)));
            if (ga_dtype_size(dtype) > 1) { /* without a table */
                COMPILES("binomial", ga_rng_binomial(rng, dtype, 20000, 0.5, GA_SHAPE(5000)));
                COMPILES("poisson", ga_rng_poisson(rng, dtype, 5000, GA_SHAPE(5000)));
            }
            COMPILES("permutation", ga_rng_permutation(rng, 5000));
            COMPILES("bytes", ga_rng_bytes(rng, 5000));
        }
    GA_SCOPE {
        COMPILES("wide integers",
                 ga_rng_integers(rng, GA_INT64, 0, INT64_C(1) << 40, GA_SHAPE(5000)));
        COMPILES("all bits",
                 ga_rng_integers_endpoint(rng, GA_UINT64, 0, UINT64_MAX, GA_SHAPE(5000)));
    }
    ga_rng_free(rng);
}

/* Rows of a warp, of blocks, and of several blocks. */
static void rank_variants(ga_dtype dtype)
{
    static const int64_t shapes[][2] = {{300, 50}, {9, 3000}, {300, 20000}, {2, 100001}};
    for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
        GA_SCOPE {
            gpuarray *x = ga_empty(dtype, 2, shapes[s]), *q = ga_zeros(GA_FLOAT64, GA_SHAPE(3)),
                     *values, *indices;
            COMPILES("median", ga_median(x, GA_AXIS(1)));
            COMPILES("nanmedian", ga_nanmedian(x, GA_AXIS(1)));
            COMPILES("quantile", ga_quantile(x, q, GA_AXIS(1), .method = "median_unbiased"));
            COMPILES("nanquantile", ga_nanquantile(x, 0.5f, GA_AXIS(1), .method = "nearest"));
            COMPILES("partition", ga_partition(x, 7));
            COMPILES("argpartition", ga_argpartition(x, 7));
            COMPILES("topk", ga_topk(x, 7, &values, &indices));
            COMPILES("topk of many", ga_topk(x, shapes[s][1], &values, &indices, .smallest = true));
        }
}

/* Warps and parts of them, rows of a block, and passes over tiles. */
static void sort_variants(ga_dtype dtype)
{
    static const int64_t lengths[] = {5, 250, 600, 16000, 100000};
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        GA_SCOPE {
            gpuarray *x = ga_empty(dtype, GA_SHAPE(2, lengths[k]));
            COMPILES("sort", ga_sort(x));
            COMPILES("argsort", ga_argsort(x, .descending = true));
        }
}

/* Tiles of each size, both directions of the operands, stacks, and rows. */
static void product_variants(ga_dtype dtype)
{
    GA_SCOPE {
        gpuarray *a = ga_empty(dtype, GA_SHAPE(70, 50)), *b = ga_empty(dtype, GA_SHAPE(50, 30)),
                 *large = ga_empty(dtype, GA_SHAPE(2000, 2000)),
                 *stack = ga_empty(dtype, GA_SHAPE(3, 1, 30, 50)),
                 *wide = ga_empty(dtype, GA_SHAPE(50, 3)), *out = ga_empty(dtype, GA_SHAPE(70, 30)),
                 *result = ga_empty(dtype, GA_SHAPE(2000, 2000));
        COMPILES("matmul", ga_matmul(a, b));
        COMPILES("matmul", ga_matmul(large, ga_transpose(large)));
        COMPILES("matmul", ga_matmul(stack, wide));
        COMPILES("matmul", ga_matmul(ga_slice(stack, "..., ::2, :"), b));
        COMPILES("matmul", ga_matmul(a, b, .out = out, .alpha = 2, .beta = 3));
        COMPILES("matmul", ga_matmul(large, large, .out = result));
        COMPILES("matmul", ga_matmul(ga_transpose(large), large, .out = ga_transpose(result)));
        COMPILES("matmul", ga_matmul(ga_slice(large, "1:, 1:"), ga_slice(large, "1:, 1:")));
        COMPILES("matmul", ga_matmul(ga_slice(large, ":, :60"), ga_slice(large, ":60")));
        COMPILES("matmul", ga_matmul(large, ga_slice(large, ":, :28")));
        COMPILES("matvec", ga_matvec(large, ga_slice(large, "0")));
        gpuarray *many = ga_empty(dtype, GA_SHAPE(600, 64, 32));
        COMPILES("matmul", ga_matmul(many, ga_transpose_axes(many, 3, (int[]){0, 2, 1})));
        COMPILES("matmul", ga_matmul(ga_slice(many, "..., :15, :13"), ga_slice(many, ":, :13")));
        COMPILES("matmul", ga_matmul(many, ga_slice(many, ":, :32"), .tf32 = true));
    }
}

/* Elements are words of their dtype's size. */
static void indexing_variants(ga_dtype dtype)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(6, 70)),
                 *turned = ga_transpose(ga_empty(dtype, GA_SHAPE(70, 6))),
                 *k = ga_empty(GA_INT32, GA_SHAPE(5)), *v = ga_empty(dtype, GA_SHAPE(5));
        COMPILES("take", ga_take(x, k));
        COMPILES("take", ga_take(turned, k, GA_AXIS(0), .mode = GA_WRAP));
        COMPILES("take", ga_take(x, k, GA_AXIS(1), .mode = GA_CLIP));
        COMPILES("index", ga_index(x, k, k));
        COMPILES("index_set", ga_index_set(x, v, k, k));
        COMPILES("index_set", ga_index_set(turned, 1, k));
        COMPILES("index_add", ga_index_add(x, v, k, k));
        COMPILES("index_add", ga_index_add(turned, 1, k));
        COMPILES("index_add",
                 ga_index_add_with(.x = x, .value = GA_V(v), GA_PARTS(k, k), .relaxed = true));
        gpuarray *many = ga_empty(GA_INT64, GA_SHAPE(1 << 16)), *values = ga_astype(many, dtype);
        COMPILES("index_add", ga_index_add(x, values, many, many));
        COMPILES("index_add", ga_index_add(v, 1, many));
        COMPILES("index_multiply",
                 ga_index_multiply_with(.x = x, .value = GA_V(v), GA_PARTS(k, k), .relaxed = true));
        COMPILES("index_minimum", ga_index_minimum(x, v, k, k));
        COMPILES("index_maximum", ga_index_maximum(x, v, k, k));
        COMPILES("put", ga_put(x, k, v, .mode = GA_CLIP));
        COMPILES("put", ga_put(v, k, ga_copy(v)));
        COMPILES("put", ga_put(v, many, values));
        COMPILES("place", ga_place(x, x, v));
        COMPILES("putmask", ga_putmask(x, x, v));
        COMPILES("choose", ga_choose(k, GA_ARRAYS(v, v)));
        COMPILES("concatenate", ga_concatenate(GA_ARRAYS(x, turned, x), GA_AXIS(1)));
        COMPILES("roll", ga_roll(turned, 3, GA_AXIS(0)));
        COMPILES("pad", ga_pad(x, GA_SHAPE(1, 2)));
        COMPILES("pad", ga_pad(turned, GA_SHAPE(2), .mode = "reflect"));
        COMPILES("tril", ga_tril(x, 1));
        gpuarray *wide = ga_empty(dtype, GA_SHAPE(4, 4099));
        COMPILES("pad", ga_pad(wide, GA_SHAPE(1), .mode = "edge"));
        COMPILES("roll", ga_roll(wide, 3, GA_AXIS(0, 1)));
    }
}

/* ---- Threads: NVRTC compiles header-free sources in parallel ---- */

typedef struct job {
    void (*run)(ga_dtype);
    const ga_dtype *dtypes;
    int ndtypes, ndevices;
    ga__device *device;
    int first;
} job;

static void *run_job(void *argument)
{
    const job *j = argument;
    for (int k = j->first; k < j->ndtypes * j->ndevices; k += 2) {
        ga__use_device(&j->device[k / j->ndtypes]);
        compiled_dtype = j->dtypes[k % j->ndtypes];
        j->run(compiled_dtype);
    }
    return NULL;
}

static void run_twice(void (*run)(ga_dtype), const ga_dtype *dtypes, int ndtypes,
                      ga__device *device, int ndevices)
{
    job jobs[2] = {{run, dtypes, ndtypes, ndevices, device, 0},
                   {run, dtypes, ndtypes, ndevices, device, 1}};
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, run_job, &jobs[1]), 0);
    run_job(&jobs[0]);
    pthread_join(other, NULL);
}

static const ga_dtype some_dtypes[] = {GA_FLOAT32, GA_FLOAT16, GA_INT8, GA_COMPLEX128};

static void every_row_compiles_for_every_dtype(void **state)
{
    (void)state;
    ga_dtype all[GA_DTYPE_COUNT - 1];
    for (int k = 0; k < GA_DTYPE_COUNT - 1; k++)
        all[k] = (ga_dtype)(GA_BOOL + k);
    run_twice(all_rows, all, GA_DTYPE_COUNT - 1, &devices[2], 1);
}

static void elementwise_variants_compile_everywhere(void **state)
{
    (void)state;
    run_twice(elementwise_variants, some_dtypes, 2, devices, DEVICES);
    run_twice(elementwise_variants, some_dtypes + 2, 2, &devices[2], 1);
}

static void reduction_variants_compile_everywhere(void **state)
{
    (void)state;
    run_twice(reduction_variants, some_dtypes, 2, devices, DEVICES); /* with other launch bounds */
    run_twice(reduction_variants, some_dtypes + 2, 2, &devices[2], 1);
}

static void scans_compile_everywhere(void **state)
{
    (void)state;
    run_twice(scan_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(scan_variants, some_dtypes + 1, 3, &devices[2], 1);
    run_twice(segment_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(segment_variants, some_dtypes + 1, 3, &devices[2], 1);
}

/* Moves of structs that no access takes whole, and kernels that name them. */
static void struct_variants(ga_dtype dtype)
{
    const int64_t shape[] = {40, 50};
    compiled_dtype = dtype;
    COMPILES(
        "struct", GA_SCOPE {
            gpuarray *x = ga_zeros(dtype, 2, shape), *y = ga_empty(dtype, 2, shape);
            gpuarray *mask = ga_zeros(GA_BOOL, 1, shape);
            ga_copy(ga_transpose(x));
            ga_take(x, ga_zeros(GA_INT32, 1, shape), GA_AXIS(0));
            ga_concatenate(GA_ARRAYS(x, y));
            ga_where(mask, ga_slice(x, ":, :40"), ga_slice(y, ":, :40"));
            ga_triu(x, 0);
            ga_compress(mask, x, GA_AXIS(0));
            char declared[64];
            snprintf(declared, sizeof declared, "const %s *x, %s *y", ga_dtype_name(dtype),
                     ga_dtype_name(dtype));
            ga_kernel *k = ga_elementwise_kernel(declared, "y[i] = x[i]", "move");
            ga_run(k, x, y);
            ga_run(k, ga_transpose(x), ga_transpose(y));
            ga_kernel_free(k);
            snprintf(declared, sizeof declared, "%s x, %s *y", ga_dtype_name(dtype),
                     ga_dtype_name(dtype));
            k = ga_elementwise_kernel(declared, "y[i] = x", "fill");
            ga_run(k, ga_slice(x, "0, 0"), y);
            ga_kernel_free(k);
            snprintf(declared, sizeof declared, "const %s *x, %s *y", ga_dtype_name(dtype),
                     ga_dtype_name(dtype));
            k = ga_reduction_kernel(dtype, "{}", "b", "x[i]", declared, "last");
            ga_reduce(k, x, y);
            ga_kernel_free(k);
            k = ga_scan_kernel(dtype, declared, "x[i]", "b", "{}", "y[i] = item", "running");
            ga_scan(k, ga_ravel(x), ga_ravel(y));
            ga_kernel_free(k);
        });
}

static void structs_compile_everywhere(void **state)
{
    (void)state;
    const ga_dtype dtypes[] = {ga_vector_dtype(GA_FLOAT32, 3), ga_vector_dtype(GA_FLOAT64, 4),
                               ga_struct_dtype("odd", 7, "struct odd { char c[7]; };"),
                               ga_struct_dtype("wide", 200, "struct wide { float f[50]; };")};
    run_twice(struct_variants, dtypes, 4, &devices[2], 1);
}

static void expressions_compile_everywhere(void **state)
{
    (void)state;
    run_twice(expression_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(expression_variants, some_dtypes + 1, 3, &devices[2], 1);
    run_twice(chunked_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(chunked_variants, some_dtypes + 2, 1, &devices[2], 1);
}

static void fused_rows_compile_everywhere(void **state)
{
    (void)state;
    run_twice(fused_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(fused_variants, some_dtypes + 1, 2, &devices[2], 1);
}

static void fused_columns_compile_everywhere(void **state)
{
    (void)state;
    run_twice(column_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(column_variants, some_dtypes + 1, 2, &devices[2], 1);
}

static void selections_compile_everywhere(void **state)
{
    static const ga_dtype others[] = {GA_FLOAT64, GA_INT8, GA_BFLOAT16, GA_FLOAT8_E4M3FN, GA_BOOL};
    (void)state;
    run_twice(rank_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(rank_variants, others, 5, &devices[2], 1);
    run_twice(selected_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(selected_variants, others, 4, &devices[2], 1);
}

static void indices_compile_everywhere(void **state)
{
    static const ga_dtype others[] = {GA_COMPLEX128, GA_INT8, GA_BFLOAT16, GA_FLOAT64, GA_INT64};
    (void)state;
    run_twice(indexing_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(indexing_variants, others, 5, &devices[2], 1);
}

static void sorts_compile_everywhere(void **state)
{
    (void)state;
    run_twice(sort_variants, some_dtypes, 1, devices, DEVICES);
    run_twice(sort_variants, some_dtypes + 1, 3, &devices[2], 1);
}

static void products_compile_everywhere(void **state)
{
    (void)state;
    run_twice(product_variants, some_dtypes, 1, devices, DEVICES);
    for (int d = GA_BOOL; d < GA_DTYPE_COUNT; d++)
        run_twice(product_variants, &(ga_dtype){(ga_dtype)d}, 1, &devices[2], 1);
}

static void random_numbers_compile_everywhere(void **state)
{
    static const ga_dtype wide[] = {GA_FLOAT32, GA_FLOAT64, GA_INT64};
    static const ga_dtype others[] = {GA_FLOAT16, GA_BFLOAT16, GA_FLOAT8_E5M2,
                                      GA_INT32,   GA_UINT8,    GA_BOOL};
    (void)state;
    run_twice(random_variants, wide, 3, devices, DEVICES);
    run_twice(random_variants, others, 6, &devices[2], 1); /* they differ in the cast at the end */
}

static void bins_compile_everywhere(void **state)
{
    static const ga_dtype wide[] = {GA_FLOAT32, GA_INT64};
    static const ga_dtype others[] = {GA_FLOAT16, GA_FLOAT64, GA_COMPLEX64, GA_UINT8, GA_BOOL};
    (void)state;
    run_twice(bins_variants, wide, 2, devices, DEVICES);
    run_twice(bins_variants, others, 5, &devices[2], 1);
}

static void small_float_variants(ga_dtype dtype)
{
    GA_SCOPE {
        gpuarray *x = ga_empty(dtype, GA_SHAPE(1003)), *m = ga_empty(dtype, GA_SHAPE(64, 96));
        COMPILES("add", ga_add(x, x));
        COMPILES("nextafter", ga_nextafter(x, x));
        COMPILES("to float32", ga_astype(x, GA_FLOAT32));
        COMPILES("from float64", ga_astype(ga_empty(GA_FLOAT64, GA_SHAPE(1003)), dtype));
        COMPILES("an expression", ga_eval("sqrt(x*x + 1)", GA_NAMED("x", x)));
        COMPILES("tiled", ga_copy(ga_transpose(m)));
        COMPILES("sum", ga_sum(m, GA_AXIS(0)));
    }
}

static void floats_of_a_byte_compile_everywhere(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT8_E4M3FN, GA_FLOAT8_E5M2};
    (void)state;
    run_twice(small_float_variants, dtypes, 2, devices, DEVICES);
}

static void custom_kernels_compile_everywhere(void **state)
{
    (void)state;
    for (int k = 0; k < DEVICES; k++) {
        ga__use_device(&devices[k]);
        compiled_dtype = GA_NO_DTYPE;
        custom_variants();
    }
    /* If elements in registers do not compile, the call succeeds with the slower form. */
    assert_int_equal(fake.rejected, 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(custom_kernels_compile_everywhere),
        table_test(structs_compile_everywhere),
        table_test(expressions_compile_everywhere),
        table_test(elementwise_variants_compile_everywhere),
        table_test(reduction_variants_compile_everywhere),
        table_test(scans_compile_everywhere),
        table_test(fused_rows_compile_everywhere),
        table_test(fused_columns_compile_everywhere),
        table_test(selections_compile_everywhere),
        table_test(sorts_compile_everywhere),
        table_test(products_compile_everywhere),
        table_test(indices_compile_everywhere),
        table_test(random_numbers_compile_everywhere),
        table_test(bins_compile_everywhere),
        table_test(floats_of_a_byte_compile_everywhere),
        table_test(every_row_compiles_for_every_dtype),
    };
    if (!open_fake_devices())
        return 1;
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    const ga__module_counts counts = ga__module_count();
    printf("%lld kernels compiled\n", (long long)counts.compiled);
    return failed;
}

#endif
