/* Tests of expressions over sources: results by chunks equal ga_eval's, and errors leave nothing
 * behind. */
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "base/os/system.h"
#include "files.h"
#include "model/dtype.h"
#include "model/layout.h"
#include "random.h"
#include "run.h"
#include "scratch.h"

/* ---- Arrays and sources with the same elements ---- */

/* Host elements in C order, behind a source. */
typedef struct memory {
    ga_dtype dtype;
    char *bytes;
    int64_t most; /* most elements requested at once */
    int64_t fails_from;
} memory;

static ga_status read_memory(void *user, int64_t first, int64_t count, void *elements)
{
    memory *m = user;
    const size_t size = ga_dtype_size(m->dtype);
    if (first + count > m->fails_from)
        return GA_ERR_IO;
    m->most = count > m->most ? count : m->most;
    memcpy(elements, m->bytes + (size_t)first * size, (size_t)count * size);
    return GA_OK;
}

/* One operand: an array, and a source of the same elements. */
typedef struct operand {
    const char *name;
    gpuarray *array;
    ga_source *source;
    memory memory;
} operand;

/* Small integers, so that sums and products of a few are exact; some are zero, some repeat. */
static void operand_init(operand *o, const char *name, ga_dtype dtype, int ndim,
                         const int64_t *shape)
{
    static uint64_t seed = 1;
    const int64_t size = ga__shape_size(ndim, shape);
    const size_t itemsize = ga_dtype_size(dtype);
    *o = (operand){.name = name,
                   .memory = {dtype, malloc((size_t)size * itemsize + 1), 0, INT64_MAX}};
    assert_non_null(o->memory.bytes);
    for (int64_t k = 0; k < size; k++)
        ga__dtype_store(dtype, ga_value_double((double)(int)(next_random(&seed) % 8) - 1),
                        o->memory.bytes + (size_t)k * itemsize);
    o->array = ga_from_host(o->memory.bytes, dtype, ndim, shape);
    o->source = ga_source_new(dtype, ndim, shape, read_memory, &o->memory);
    assert_non_null(o->array);
    assert_non_null(o->source);
}

static void operand_reset(operand *o)
{
    ga_free(o->array);
    ga_source_free(o->source);
    free(o->memory.bytes);
}

enum { MOST_OPERANDS = 6 };

typedef struct operands {
    int count;
    operand all[MOST_OPERANDS];
    ga_named arrays[MOST_OPERANDS], sources[MOST_OPERANDS];
} operands;

static void add_operand(operands *o, const char *name, ga_dtype dtype, int ndim,
                        const int64_t *shape)
{
    operand *new = &o->all[o->count];
    operand_init(new, name, dtype, ndim, shape);
    o->arrays[o->count] = (ga_named){name, GA_V(new->array)};
    o->sources[o->count++] = (ga_named){name, GA_V(new->source)};
}

static void reset_operands(operands *o)
{
    while (o->count > 0)
        operand_reset(&o->all[--o->count]);
}

/* A few units in the last place of the coarsest dtype. */
static double tolerance(const operands *o, ga_dtype result)
{
    double most = 0;
    for (int k = -1; k < o->count; k++) {
        const ga_dtype real = ga__dtype_real(k < 0 ? result : o->all[k].memory.dtype);
        const size_t size = ga__dtype_kind(real) == 'f' ? ga_dtype_size(real) : 8;
        most = fmax(most, size == 2 ? 0x1p-7 : size == 4 ? 0x1p-20 : 0x1p-46);
    }
    return most;
}

/* Elements of both on the host: equal to the bit, or nearly equal if they are floating. */
static void assert_same(const operands *o, const char *text, int64_t bytes, const gpuarray *got,
                        const gpuarray *want)
{
    if (!got || !want)
        fail_msg("%s in chunks of %lld: %s", text, (long long)bytes, ga_error_message());
    const ga_dtype dtype = ga_dtype_of(want);
    if (ga_dtype_of(got) != dtype ||
        !ga__same_shape(ga_ndim(got), ga_shape(got), ga_ndim(want), ga_shape(want)))
        fail_msg("%s in chunks of %lld: %s %s, wanted %s %s", text, (long long)bytes,
                 ga_dtype_name(ga_dtype_of(got)), ga__shape_text(ga_ndim(got), ga_shape(got)),
                 ga_dtype_name(dtype), ga__shape_text(ga_ndim(want), ga_shape(want)));
    char *g = malloc(ga_nbytes(got) + 1), *w = malloc(ga_nbytes(want) + 1);
    assert_int_equal(ga_to_host(got, g, ga_nbytes(got)), GA_OK);
    assert_int_equal(ga_to_host(want, w, ga_nbytes(want)), GA_OK);
    const size_t size = ga_dtype_size(dtype);
    for (int64_t k = 0; k < ga_size(want) && memcmp(g, w, ga_nbytes(want)) != 0; k++) {
        const double a = ga__number_double(ga__dtype_fetch(dtype, g + (size_t)k * size));
        const double b = ga__number_double(ga__dtype_fetch(dtype, w + (size_t)k * size));
        const char kind = ga__dtype_kind(dtype);
        const double most = kind == 'f' || kind == 'c' ? tolerance(o, dtype) * (1 + fabs(b)) : 0;
        if (!(fabs(a - b) <= most || (isnan(a) && isnan(b)) || a == b))
            fail_msg("%s in chunks of %lld: element %lld is %.17g, wanted %.17g", text,
                     (long long)bytes, (long long)k, a, b);
    }
    free(g);
    free(w);
}

/* ---- Any expression, dtypes, shapes and chunks ---- */

/* m is (n, 6), c (n, 1), v (6,), l (n,) and t (n, 6) of another dtype. */
static const char *const texts[] = {
    "m * 2 + v",
    "m - c",
    "where(m > v, m, c) + t",
    "sum(m)",
    "sum(m, axis=0) + v",
    "sum(m, axis=1) * l",
    "sum(m, axis=1, keepdims=True) * m",
    "min(m, axis=0) + max(m)",
    "argmax(m) + argmin(t)",
    "argmax(m, axis=0)",
    "argmin(t, axis=1)",
    "count_nonzero(m, axis=0) + any(m > 100) + all(t < 100, axis=0)",
    "prod(where(m == 1, 1, 2 - (m == 0)), axis=1)",
    "mean(m) + mean(t, axis=0)",
    "sqrt(mean((m - t)**2)) * 2",
    "var(m, axis=0, ddof=1) + std(t)",
    "nansum(m) + nanmax(t, axis=0) - nanmin(t)",
    "nanmean(where(m == 0, nan, m), axis=0)",
    "m - mean(m, axis=0)",
    "(m - mean(m)) / (std(m) + 1)",
    "m - max(m, axis=1, keepdims=True) + sum(t)",
    "sum(m - mean(m, axis=1, keepdims=True) * 0, axis=0)",
    "sum(l) + sum(m) * sum(v)",
    "sum(m, axis=1) + sum(sum(m, axis=1))",
    "max(m - max(m - max(m)))",
    "l",
    "v + 1",
    "c + l",
    "(m + c)[::-1] * m",
    "(m + c)[:, ::-1] - m",
};

/* Whether the sample of this run has the expression over such operands. */
static bool wants(const operands *o, const char *text)
{
    char item[400];
    const gpuarray *first = o->arrays[0].value.as.array;
    snprintf(item, sizeof item, "%s %s; %s", text, ga_dtype_name(ga_dtype_of(first)),
             ga__shape_text(ga_ndim(first), ga_shape(first)));
    return in_sample(item);
}

static void check_texts(operands *o, int64_t row)
{
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        if (!wants(o, texts[k]))
            continue;
        gpuarray *want = (ga_eval)(texts[k], o->count, o->arrays);
        if (!want && ga_error() == GA_ERR_DTYPE) { /* the dtype has no such function */
            ga_clear_error();
            continue;
        }
        const int64_t sizes[] = {0, 1 << 20, 7 * row, 3 * row, row};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const ga_chunks chunks = {.bytes = sizes[i]};
            gpuarray *got =
                (ga_eval_chunked)(sizeof(ga_chunks), &chunks, texts[k], o->count, o->sources);
            if (!got && !want && ga_error() == GA_ERR_INVALID) { /* nothing to reduce */
                ga_clear_error();
                continue;
            }
            assert_same(o, texts[k], sizes[i], got, want);
            ga_free(got);
        }
        ga_free(want);
    }
}

static void as_ga_eval_in_any_chunks(void **state)
{
    (void)state;
    static const ga_dtype dtypes[][2] = {{GA_FLOAT32, GA_INT8},       {GA_FLOAT64, GA_FLOAT16},
                                         {GA_INT16, GA_UINT64},       {GA_BOOL, GA_FLOAT32},
                                         {GA_BFLOAT16, GA_INT32},     {GA_COMPLEX64, GA_FLOAT64},
                                         {GA_FLOAT8_E4M3FN, GA_INT16}};
    static const int64_t lengths[] = {1, 2, 40, 0};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            GA_SCOPE {
                const int64_t n = lengths[k];
                operands o = {.count = 0};
                add_operand(&o, "m", dtypes[d][0], GA_SHAPE(n, 6));
                add_operand(&o, "c", dtypes[d][0], GA_SHAPE(n, 1));
                add_operand(&o, "v", dtypes[d][0], GA_SHAPE(6));
                add_operand(&o, "l", dtypes[d][0], GA_SHAPE(n));
                add_operand(&o, "t", dtypes[d][1], GA_SHAPE(n, 6));
                check_texts(&o, 6 * 32);
                reset_operands(&o);
            }
}

/* Rows larger than a chunk: more axes are split, down to single elements. */
static void cuts_as_many_axes_as_it_takes(void **state)
{
    (void)state;
    static const char *const all[] = {"x + y",
                                      "x - z",
                                      "sum(x)",
                                      "argmax(x)",
                                      "x - mean(x)",
                                      "mean(x, axis=(0, 1))",
                                      "sum(x, axis=2)",
                                      "sum(x, axis=-1, keepdims=True) + x",
                                      "max(x, axis=(0, 1, 2)) * y",
                                      "x*w"};
    GA_SCOPE {
        operands o = {.count = 0};
        add_operand(&o, "x", GA_FLOAT32, GA_SHAPE(3, 5, 4));
        add_operand(&o, "y", GA_FLOAT32, GA_SHAPE(3, 5, 4));
        add_operand(&o, "z", GA_FLOAT32, GA_SHAPE(3, 1, 1));
        add_operand(&o, "w", GA_FLOAT32, GA_SHAPE(5, 1));
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            for (int64_t bytes = 200; bytes >= 32; bytes -= 24) {
                const ga_chunks chunks = {.bytes = bytes};
                gpuarray *want = (ga_eval)(all[k], o.count, o.arrays);
                assert_same(
                    &o, all[k], bytes,
                    (ga_eval_chunked)(sizeof(ga_chunks), &chunks, all[k], o.count, o.sources),
                    want);
            }
        assert_true(o.all[0].memory.most <= 50);
        reset_operands(&o);
    }
    GA_SCOPE { /* leading axes of length 1 are not rows */
        operands o = {.count = 0};
        add_operand(&o, "x", GA_FLOAT32, GA_SHAPE(1, 1, 50));
        const ga_chunks chunks = {.bytes = 16};
        assert_same(&o, "x * 3", 16,
                    (ga_eval_chunked)(sizeof(ga_chunks), &chunks, "x * 3", 1, o.sources),
                    (ga_eval)("x * 3", 1, o.arrays));
        assert_same(&o, "sum(x, axis=0)", 16,
                    (ga_eval_chunked)(sizeof(ga_chunks), &chunks, "sum(x, axis=0, keepdims=True)",
                                      1, o.sources),
                    (ga_eval)("sum(x, axis=0, keepdims=True)", 1, o.arrays));
        assert_true(o.all[0].memory.most <= 4);
        reset_operands(&o);
    }
}

/* Arrays and numbers can be arguments beside sources, and numbers can be the whole expression. */
static void takes_arrays_and_numbers_too(void **state)
{
    (void)state;
    GA_SCOPE {
        operands o = {.count = 0};
        add_operand(&o, "x", GA_FLOAT32, GA_SHAPE(100, 3));
        gpuarray *y = ga_full(GA_FLOAT32, GA_SHAPE(100, 3), 2),
                 *v = ga_ones(GA_FLOAT32, GA_SHAPE(3));
        const ga_chunks chunks = {.bytes = 240};
        const double a = 2.5;
        const ga_source *x = o.all[0].source;
        gpuarray *got = ga_eval_chunked(&chunks, "a*x*y - v", GA(x), GA(y), GA(v), GA(a));
        assert_same(&o, "a*x*y - v", 240, got,
                    ga_eval("a*x*y - v", GA_NAMED("x", o.all[0].array), GA(y), GA(v), GA(a)));
        got = ga_eval_chunked(&chunks, "sum(y) + 1", GA(y));
        assert_true(ga_item_double(got) == 601);
        got = ga_eval_chunked(NULL, "2 * a + 1", GA(a));
        assert_true(ga_item_double(got) == 6);
        assert_int_equal(ga_item_int64(ga_eval_chunked(NULL, "1 + 2")), 3);
        reset_operands(&o);
    }
}

/* Chunks of one element: a sum that adds them one by one would be wrong in the fourth digit. */
static void sums_of_many_chunks_are_accurate(void **state)
{
    (void)state;
    const int64_t n = getenv("QUARRY_TEST_REDUCED") ? 3000 : 30000;
    memory m = {GA_FLOAT32, malloc((size_t)n * sizeof(float)), 0, INT64_MAX};
    double sum = 0;
    for (int k = 0; k < n; k++) {
        const float x = 1000.1f + (float)k / 7;
        memcpy(m.bytes + (size_t)k * sizeof x, &x, sizeof x);
        sum += (double)x;
    }
    ga_source *x = ga_source_new(GA_FLOAT32, 1, &n, read_memory, &m);
    const ga_chunks chunks = {.bytes = 4};
    GA_SCOPE {
        const double got = ga_item_double(ga_eval_chunked(&chunks, "sum(x)", GA(x)));
        assert_true(fabs(got - sum) < 2e-6 * sum);
        assert_int_equal(m.most, 1);
        const double var = ga_item_double(ga_eval_chunked(&chunks, "var(x)", GA(x)));
        const double want = ((double)n * (double)n - 1) / 12 / 49;
        assert_true(fabs(var - want) < 1e-4 * want);
    }
    ga_source_free(x);
    free(m.bytes);
}

/* ---- Past 32 bits ---- */

/* Zeros, a 1 at `one` and a 2 near the end. */
static ga_status read_zeros(void *user, int64_t first, int64_t count, void *elements)
{
    const int64_t *at = user;
    memset(elements, 0, (size_t)count);
    for (int k = 0; k < 2; k++)
        if (at[k] >= first && at[k] < first + count)
            ((char *)elements)[at[k] - first] = (char)(k + 1);
    return GA_OK;
}

static void numbers_elements_past_32_bits(void **state)
{
    (void)state;
    if (getenv("QUARRY_TEST_REDUCED")) {
        printf("skipped: 5 * 10^9 elements take long under slow checkers\n");
        skip();
    }
    int64_t at[] = {3000000000, 4900000000};
    ga_source *x = ga_source_new(GA_INT8, GA_SHAPE(5000000, 1000), read_zeros, at);
    GA_SCOPE {
        const ga_chunks chunks = {.bytes = 64 << 20};
        gpuarray *r =
            ga_eval_chunked(&chunks, "argmax(x) + (sum(x) + count_nonzero(x)) * 0.25", GA(x));
        assert_true(ga_item_double(r) == 4900000000 + 5 * 0.25);
    }
    ga_source_free(x);
}

/* ---- How the data is processed ---- */

static const struct {
    const char *text;
    int sweeps;
} plans[] = {
    {"x * 2", 1},
    {"x + y", 1},
    {"sum(x)", 1},
    {"sum(x) + sum(y) * max(x - y)", 2}, /* the second one computes from three numbers */
    {"sqrt(mean((x - y)**2))", 1},
    {"exp(x - max(x, axis=1, keepdims=True)) / sum(exp(x - max(x, axis=1, keepdims=True)), "
     "axis=1, keepdims=True)",
     1},
    {"exp(x - max(x, axis=0)) / sum(exp(x - max(x, axis=0)), axis=0)", 3},
    {"x - mean(x)", 2},
    {"(x - mean(x)) / std(x)", 2},
    {"mean((x - mean(x))**2)", 2},
    {"x - mean(x, axis=1, keepdims=True) + mean(y)", 2},
    {"sum(x) + sum(z)", 3}, /* of two lengths */
    {"x + sum(z, axis=1)", 2},
};

static void goes_through_data_no_more_than_needed(void **state)
{
    (void)state;
    operands o = {.count = 0};
    add_operand(&o, "x", GA_FLOAT32, GA_SHAPE(64, 6));
    add_operand(&o, "y", GA_FLOAT32, GA_SHAPE(64, 6));
    add_operand(&o, "z", GA_FLOAT32, GA_SHAPE(6, 4));
    for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
        const ga_chunks chunks = {.bytes = 80};
        char *plan =
            (ga_explain_chunked)(sizeof(ga_chunks), &chunks, plans[k].text, o.count, o.sources);
        if (!plan)
            fail_msg("%s: %s", plans[k].text, ga_error_message());
        int sweeps = 0;
        for (const char *at = plan; (at = strstr(at, "sweep ")); at++)
            sweeps++;
        if (sweeps != plans[k].sweeps)
            fail_msg("%s: %d sweeps, wanted %d:\n%s", plans[k].text, sweeps, plans[k].sweeps, plan);
        free(plan);
    }
    const ga_chunks chunks = {.bytes = 480};
    char *plan =
        (ga_explain_chunked)(sizeof(ga_chunks), &chunks, "x - mean(x)", o.count, o.sources);
    assert_non_null(strstr(plan, "sweep 1: kernel 1 in 4 chunks of at most 16 rows of axis 0"));
    assert_non_null(strstr(plan, "reads chunk by chunk x\n  combines kernel 1"));
    assert_non_null(strstr(plan, "sweep 2: kernel 2 in 7 chunks of at most 10 rows of axis 0"));
    assert_non_null(strstr(plan, "files: 4608 bytes read and written"));
    free(plan);
    reset_operands(&o);
}

/* ---- Data that cannot be split ---- */

static void expect(gpuarray *r, ga_status status, const char *words)
{
    assert_null(r);
    if (ga_error() != status || !strstr(ga_error_message(), words))
        fail_msg("%s: %s; expected %s: %s", ga_status_name(ga_error()), ga_error_message(),
                 ga_status_name(status), words);
    ga_clear_error();
}

static void says_what_cannot_be_cut(void **state)
{
    (void)state;
    GA_SCOPE {
        operands o = {.count = 0};
        add_operand(&o, "x", GA_FLOAT32, GA_SHAPE(8, 100));
        add_operand(&o, "long", GA_FLOAT64, GA_SHAPE(300000));
        add_operand(&o, "tall", GA_FLOAT64, GA_SHAPE(4, 1));
        const ga_chunks small = {.bytes = 100}, few = {.bytes = 3}, large = {.bytes = 2 << 20};
        expect((ga_eval_chunked)(sizeof(ga_chunks), &small, "1 + sum(x, axis=0)", 3, o.sources),
               GA_ERR_UNSUPPORTED,
               "one row takes 400 bytes here, more than the chunk size 100\n"
               "    1 + sum(x, axis=0)\n"
               "      ^");
        expect((ga_eval_chunked)(sizeof(ga_chunks), &few, "x + 2", 3, o.sources),
               GA_ERR_UNSUPPORTED, "takes 4 bytes here, more than the chunk size 3");
        expect((ga_eval_chunked)(sizeof(ga_chunks), &large, "tall + long", 3, o.sources),
               GA_ERR_UNSUPPORTED,
               "long must be in memory completely: that takes 2400000 bytes with the other such "
               "arrays, and 2097152 are available\n"
               "    tall + long\n"
               "           ^");
        /* By default, data that fits the device is then computed at once. */
        gpuarray *r = (ga_eval_chunked)(sizeof(ga_chunks), NULL, "max(tall + long)", 3, o.sources);
        assert_true(ga_item_double(r) ==
                    ga_item_double((ga_eval)("max(tall + long)", 3, o.arrays)));
        expect((ga_eval_chunked)(sizeof(ga_chunks), &(ga_chunks){.bytes = -1}, "x", 3, o.sources),
               GA_ERR_INVALID, "chunk size -1 is negative");
        reset_operands(&o);
    }
}

/* ---- Failures of single steps ---- */

static bool stop_halfway(int64_t done, int64_t total, void *user)
{
    (*(int *)user)++;
    return 2 * done < total;
}

static bool count_to_the_end(int64_t done, int64_t total, void *user)
{
    int64_t *last = user;
    if (done < *last || done > total)
        *last = INT64_MAX;
    else
        *last = done;
    return true;
}

static void failures_and_stops_are_errors(void **state)
{
    (void)state;
    operands o = {.count = 0};
    add_operand(&o, "x", GA_FLOAT32, GA_SHAPE(1000));
    ga_chunks chunks = {.bytes = 400};
    ga_free((ga_eval_chunked)(sizeof(ga_chunks), &chunks, "sum(x)", 1, o.sources));
    ga_free((ga_eval_chunked)(sizeof(ga_chunks), &chunks, "x - mean(x)", 1, o.sources));
    /* Kernels stay loaded. */
    const int64_t live = ga__alloc_live();
    int calls = 0;
    int64_t last = 0;
    chunks = (ga_chunks){.bytes = 400, .progress = stop_halfway, .user = &calls};
    expect((ga_eval_chunked)(sizeof(ga_chunks), &chunks, "sum(x)", 1, o.sources), GA_ERR_CANCELLED,
           "stopped after 2000 of 4000 bytes");
    assert_int_equal(calls, 5);
    chunks = (ga_chunks){400, count_to_the_end, &last};
    ga_free((ga_eval_chunked)(sizeof(ga_chunks), &chunks, "x - mean(x)", 1, o.sources));
    assert_int_equal(last, 8000);
    o.all[0].memory.fails_from = 501;
    expect((ga_eval_chunked)(sizeof(ga_chunks), &chunks, "sum(x)", 1, o.sources), GA_ERR_IO,
           "source: cannot read 100 elements from element 500 on");
    expect((ga_eval_chunked)(sizeof(ga_chunks), NULL, "sum(x)", 1, o.sources), GA_ERR_IO,
           "source: cannot read 1000 elements from element 0 on");
    o.all[0].memory.fails_from = INT64_MAX;
    assert_true(ga__alloc_live() <= live);
    expect((ga_eval)("sum(x)", 1, o.sources), GA_ERR_INVALID,
           "x is a source: use ga_eval_chunked()");
    const ga_source *none = NULL;
    expect(ga_eval_chunked(NULL, "x", GA_NAMED("x", none)), GA_ERR_INVALID, "x is NULL");
    expect(ga_add(none, 1), GA_ERR_INVALID, "neither");
    reset_operands(&o);
}

/* ---- Files ---- */

static int remove_scratch(void **state)
{
    (void)state;
    return close_scratch((const char *const[]){"a.npy", "b.npy", "r.npy", "want.npy", NULL});
}

/* The result of each text, compared with the file that ga_save() makes of ga_eval()'s result. */
static void check_saving(const char *path_a, const char *path_b)
{
    static const char *const all[] = {"a + b",           "a*2 > b",
                                      "max(a, axis=0)",  "sum(int64(a))",
                                      "max(a, axis=1)",  "a - max(b, axis=0)",
                                      "float16(a) + 1j", "3"};
    static const int64_t sizes[] = {0, 1 << 20, 500, 100, 64};
    gpuarray *a = ga_load(path_a), *b = ga_load(path_b);
    ga_source *x = ga_source_open(path_a), *y = ga_source_open(path_b);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            const ga_chunks chunks = {.bytes = sizes[i]};
            gpuarray *want = ga_eval(all[k], GA(a), GA(b));
            assert_int_equal(ga_save(want, in_scratch("want.npy")), GA_OK);
            if (ga_eval_save(in_scratch("r.npy"), &chunks, all[k], GA_NAMED("a", x),
                             GA_NAMED("b", y)) != GA_OK)
                fail_msg("%s: %s", all[k], ga_error_message());
            assert_same_files(all[k], in_scratch("r.npy"), in_scratch("want.npy"));
        }
    ga_source_free(x);
    ga_source_free(y);
}

static void saves_what_ga_save_would(void **state)
{
    (void)state;
    GA_SCOPE {
        operands o = {.count = 0};
        add_operand(&o, "a", GA_FLOAT32, GA_SHAPE(37, 5));
        add_operand(&o, "b", GA_INT16, GA_SHAPE(37, 5));
        ga_save(o.all[0].array, in_scratch("a.npy"));
        ga_save(o.all[1].array, in_scratch("b.npy"));
        check_saving(in_scratch("a.npy"), in_scratch("b.npy"));
        reset_operands(&o);
    }
    assert_int_equal(files_in_scratch(), 4);
}

/* Enough data for the pieces in which large files reach a GPU. */
static ga_status read_ramp(void *user, int64_t first, int64_t count, void *elements)
{
    (void)user;
    for (int64_t k = 0; k < count; k++)
        ((float *)elements)[k] = (float)((first + k) % 4093);
    return GA_OK;
}

static void large_files_arrive_whole(void **state)
{
    (void)state;
    enum { ROWS = 25000, COLUMNS = 1003 };
    const ga_chunks chunks = {.bytes = 31 << 20};
    ga_source *x = ga_source_new(GA_FLOAT32, GA_SHAPE(ROWS, COLUMNS), read_ramp, NULL);
    gpuarray *v = ga_ones(GA_FLOAT32, GA_SHAPE(COLUMNS));
    if (ga_eval_save(in_scratch("r.npy"), &chunks, "x*2 + v", GA(x), GA(v)) != GA_OK)
        fail_msg("%s", ga_error_message());
    size_t nbytes;
    char *file = ga__read_file(in_scratch("r.npy"), &nbytes);
    assert_non_null(file);
    assert_int_equal(nbytes, 128 + ROWS * COLUMNS * sizeof(float));
    for (int64_t k = 0; k < ROWS * COLUMNS; k++) {
        float element;
        memcpy(&element, file + 128 + (size_t)k * sizeof element, sizeof element);
        if (element != (float)(k % 4093 * 2 + 1))
            fail_msg("element %lld is %g", (long long)k, (double)element);
    }
    ga__free(file);
    ga_free(v);
    GA_SCOPE {
        gpuarray *last = ga_slice(ga_eval_chunked(&chunks, "x + 0", GA(x)), "-1, -1");
        assert_true(ga_item_double(last) == (ROWS * COLUMNS - 1) % 4093);
    }
    ga_source_free(x);
}

/* A file with another axis order or byte order, written here. */
static void write_raw(const char *path, const char *descr, const char *fortran, const char *shape,
                      const void *bytes, size_t nbytes)
{
    char header[128];
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    const int length =
        snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': %s}\n",
                 descr, fortran, shape);
    fwrite("\x93NUMPY\x01\x00", 1, 8, file);
    fputc(length, file);
    fputc(0, file);
    fwrite(header, 1, (size_t)length, file);
    fwrite(bytes, 1, nbytes, file);
    assert_int_equal(fclose(file), 0);
}

static void reads_fortran_order_and_swapped_bytes(void **state)
{
    (void)state;
    float fortran[2 * 3 * 35];
    unsigned char swapped[2 * 3 * 35 * 2];
    for (int k = 0; k < 2 * 3 * 35; k++) {
        fortran[k] = (float)(k * 37 % 101);
        swapped[2 * k] = (unsigned char)(k / 50);
        swapped[2 * k + 1] = (unsigned char)(k * 11 % 256);
    }
    write_raw(in_scratch("a.npy"), "<f4", "True", "(35, 3, 2)", fortran, sizeof fortran);
    write_raw(in_scratch("b.npy"), ">i2", "False", "(35, 3, 2)", swapped, sizeof swapped);
    GA_SCOPE {
        gpuarray *a = ga_load(in_scratch("a.npy"));
        assert_true(ga_item_double(ga_slice(a, "4, 2, 1")) == (4 + 35 * 2 + 105) * 37 % 101);
        check_saving(in_scratch("a.npy"), in_scratch("b.npy"));
    }
}

static ga_status save_sum(const char *to, ga_source *a, const ga_chunks *chunks)
{
    return ga_eval_save(to, chunks, "a + 1", GA(a));
}

static void expect_no_file(ga_status got, ga_status want, const char *words)
{
    if (got != want || !strstr(ga_error_message(), words))
        fail_msg("%s: %s; expected %s: %s", ga_status_name(got), ga_error_message(),
                 ga_status_name(want), words);
    ga_clear_error();
}

static void errors_leave_no_file(void **state)
{
    (void)state;
    static char zeros[40000];
    int calls = 0;
    const ga_chunks chunks = {.bytes = 800}, stopped = {800, stop_halfway, &calls};
    write_raw(in_scratch("a.npy"), "<f4", "False", "(10000,)", zeros, sizeof zeros);
    unlink(in_scratch("b.npy"));
    unlink(in_scratch("r.npy"));
    unlink(in_scratch("want.npy"));
    ga_source *a = ga_source_open(in_scratch("a.npy"));
    expect_no_file(save_sum(in_scratch("r.npy"), a, &stopped), GA_ERR_CANCELLED, "stopped");
    expect_no_file(save_sum(in_scratch("no/r.npy"), a, &chunks), GA_ERR_IO, "No such file");
    expect_no_file(save_sum(scratch, a, &chunks), GA_ERR_IO, "directory");
    expect_no_file(ga_eval_save(in_scratch("r.npy"), &chunks, "a + c", GA(a)), GA_ERR_INVALID,
                   "no argument is named c");
    expect_no_file((ga_eval_save)(NULL, sizeof(ga_chunks), &chunks, "1", 0, NULL), GA_ERR_INVALID,
                   "NULL");
    struct rlimit before, least;
    getrlimit(RLIMIT_FSIZE, &before);
    least = before;
    least.rlim_cur = 20000;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &least);
    const ga_status full = save_sum(in_scratch("r.npy"), a, &chunks);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    expect_no_file(full, GA_ERR_IO, "File too large");
    assert_int_equal(truncate(in_scratch("a.npy"), 20000), 0);
    expect_no_file(save_sum(in_scratch("r.npy"), a, &chunks), GA_ERR_IO, "shrank");
    ga_source_free(a);
    assert_null(ga_source_open(in_scratch("a.npy")));
    expect_no_file(GA_ERR_FORMAT, GA_ERR_FORMAT, "has 40000 bytes");
    assert_int_equal(files_in_scratch(), 1);
}

static void what_was_there_stays_until_the_end(void **state)
{
    (void)state;
    static float ones[1000];
    for (int k = 0; k < 1000; k++)
        ones[k] = 1;
    int calls = 0;
    const ga_chunks chunks = {.bytes = 800}, stopped = {800, stop_halfway, &calls};
    write_raw(in_scratch("a.npy"), "<f4", "False", "(1000,)", ones, sizeof ones);
    ga_source *a = ga_source_open(in_scratch("a.npy"));
    assert_int_equal(save_sum(in_scratch("a.npy"), a, &stopped), GA_ERR_CANCELLED);
    ga_clear_error();
    GA_SCOPE {
        assert_true(ga_item_double(ga_sum(ga_load(in_scratch("a.npy")))) == 1000);
        /* The output can be the source itself, which is read from the old file. */
        assert_int_equal(save_sum(in_scratch("a.npy"), a, &chunks), GA_OK);
        assert_true(ga_item_double(ga_sum(ga_load(in_scratch("a.npy")))) == 2000);
    }
    ga_source_free(a);
    assert_int_equal(files_in_scratch(), 1);
}

static void sources_check_what_they_are_given(void **state)
{
    (void)state;
    int64_t shape[] = {4, -1};
    memory m = {GA_FLOAT32, NULL, 0, 0};
    assert_null(ga_source_new(GA_NO_DTYPE, 1, shape, read_memory, &m));
    expect(NULL, GA_ERR_DTYPE, "not a dtype");
    assert_null(ga_source_new(GA_FLOAT32, 2, shape, read_memory, &m));
    expect(NULL, GA_ERR_SHAPE, "(4, -1)");
    assert_null(ga_source_new(GA_FLOAT32, 33, shape, read_memory, &m));
    expect(NULL, GA_ERR_INVALID, "33 dimensions");
    assert_null(ga_source_new(GA_FLOAT32, 1, NULL, read_memory, &m));
    expect(NULL, GA_ERR_INVALID, "NULL");
    assert_null(ga_source_new(GA_FLOAT32, 1, shape, NULL, &m));
    expect(NULL, GA_ERR_INVALID, "read function is NULL");
    assert_null(ga_source_open(NULL));
    expect(NULL, GA_ERR_INVALID, "NULL");
    assert_null(ga_source_open(in_scratch("nowhere.npy")));
    expect(NULL, GA_ERR_IO, "nowhere.npy");
    ga_source *x = ga_source_new(GA_FLOAT32, 1, shape, read_memory, &m);
    assert_int_equal(ga_source_dtype(x), GA_FLOAT32);
    assert_int_equal(ga_source_ndim(x), 1);
    assert_int_equal(ga_source_shape(x)[0], 4);
    ga_source_free(x);
    ga_source_free(NULL);
    assert_int_equal(ga_source_dtype(NULL), GA_NO_DTYPE);
    assert_int_equal(ga_source_ndim(NULL), -1);
    assert_null(ga_source_shape(NULL));
}

/* ---- Failing requests ---- */

static void evaluate_all(operands *o)
{
    static const char *const all[] = {"x - mean(x, axis=0)", "argmax(x)", "x*2 + v"};
    const ga_chunks chunks = {.bytes = 200};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        ga_free((ga_eval_chunked)(sizeof(ga_chunks), &chunks, all[k], o->count, o->sources));
        (ga_eval_save)(in_scratch("r.npy"), sizeof(ga_chunks), &chunks, all[k], o->count,
                       o->sources);
    }
    free((ga_explain_chunked)(sizeof(ga_chunks), &chunks, all[0], o->count, o->sources));
    ga_source_free(ga_source_open(in_scratch("a.npy")));
}

static void every_request_may_fail(void **state)
{
    (void)state;
    operands o = {.count = 0};
    add_operand(&o, "x", GA_FLOAT32, GA_SHAPE(40, 5));
    add_operand(&o, "v", GA_FLOAT32, GA_SHAPE(5));
    for (int warm = 0; warm < 2; warm++)
        evaluate_all(&o);
    if (ga_error() != GA_OK)
        fail_msg("%s", ga_error_message());
    const int64_t live = ga__alloc_live();
    int quiet = 0, failed = 0;
    for (int n = 1; quiet < 25; n++) {
        assert_true(n < 5000);
        ga__alloc_fail_at(n);
        evaluate_all(&o);
        ga__alloc_fail_at(0);
        if (ga_error() != GA_OK && ga_error() != GA_ERR_MEMORY)
            fail_msg("request %d failing: %s", n, ga_error_message());
        quiet = ga_error() != GA_OK ? 0 : quiet + 1;
        failed += ga_error() != GA_OK;
        ga_clear_error();
        if (ga__alloc_live() > live)
            fail_msg("request %d failing leaves %lld blocks", n,
                     (long long)(ga__alloc_live() - live));
    }
    assert_true(failed > 0);
    assert_int_equal(files_in_scratch(), 2);
    reset_operands(&o);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_ga_eval_in_any_chunks),
        cmocka_unit_test(cuts_as_many_axes_as_it_takes),
        cmocka_unit_test(takes_arrays_and_numbers_too),
        cmocka_unit_test(sums_of_many_chunks_are_accurate),
        slow_test(numbers_elements_past_32_bits),
        cmocka_unit_test(goes_through_data_no_more_than_needed),
        cmocka_unit_test(says_what_cannot_be_cut),
        cmocka_unit_test(failures_and_stops_are_errors),
        cmocka_unit_test(sources_check_what_they_are_given),
        cmocka_unit_test(saves_what_ga_save_would),
        cmocka_unit_test(large_files_arrive_whole),
        cmocka_unit_test(reads_fortran_order_and_swapped_bytes),
        cmocka_unit_test(errors_leave_no_file),
        cmocka_unit_test(what_was_there_stays_until_the_end),
        cmocka_unit_test(every_request_may_fail),
    };
    sample_on_gpu(10);
    return run_named_tests(argc, argv, tests, make_scratch, remove_scratch);
}
