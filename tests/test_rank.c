/* Medians and quantiles against NumPy's answers; partitions and first elements against a stable
 * sort; the errors of all of them. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "contents.h"
#include "golden.h"
#include "layouts.h"
#include "model/dtype.h"
#include "parallel.h"
#include "random.h"
#include "run.h"

static golden_file *file;

static const char *const methods[] = {
#define GA_METHOD(name, interpolates, whole) #name,
#include "rank_methods.def"
#undef GA_METHOD
};

/* ---- Golden files ---- */

typedef gpuarray *(*median_function)(size_t size, const ga_median_args *args);
typedef gpuarray *(*quantile_function)(size_t size, const ga_quantile_args *args);

static const struct {
    const char *name;
    median_function median;
    quantile_function quantile;
} functions[] = {
    {.name = "median", .median = (ga_median)},
    {.name = "nanmedian", .median = (ga_nanmedian)},
    {.name = "quantile", .quantile = (ga_quantile)},
    {.name = "nanquantile", .quantile = (ga_nanquantile)},
    {.name = "percentile", .quantile = (ga_percentile)},
    {.name = "nanpercentile", .quantile = (ga_nanpercentile)},
};

static gpuarray *call_median(median_function f, const golden_case *c, const gpuarray *x,
                             gpuarray *out)
{
    const ga_median_args args = {.x = x,
                                 .naxes = c->naxes > 0 ? c->naxes : 0,
                                 .axes = c->axes,
                                 .keepdims = c->flags & GOLDEN_KEEPDIMS,
                                 .out = out};
    return f(sizeof args, &args);
}

static gpuarray *call_quantile(quantile_function f, const golden_case *c, const gpuarray *x,
                               gpuarray *out)
{
    const golden_blob *q = c->arg[1];
    const ga_quantile_args args = {
        .x = x,
        .q = q ? ga_value_array(ga_from_host(q->data, q->dtype, q->ndim, q->shape)) : c->number[1],
        .naxes = c->naxes > 0 ? c->naxes : 0,
        .axes = c->axes,
        .method = c->ddof > 0 ? methods[c->ddof] : NULL,
        .keepdims = c->flags & GOLDEN_KEEPDIMS,
        .out = out};
    return f(sizeof args, &args);
}

static gpuarray *call(const golden_case *c, const gpuarray *x, gpuarray *out)
{
    for (size_t k = 0; k < sizeof functions / sizeof *functions; k++)
        if (strcmp(functions[k].name, c->name) == 0)
            return functions[k].median ? call_median(functions[k].median, c, x, out)
                                       : call_quantile(functions[k].quantile, c, x, out);
    return NULL;
}

static const char *row_text(int item)
{
    static _Thread_local char text[300];
    const golden_case *c = &file->cases[item];
    const int axes = c->naxes;
    snprintf(text, sizeof text, "%s(%s) method %s; %s over %d axes (%d %d), row %d", c->name,
             ga_dtype_name(c->arg[0]->dtype), methods[c->ddof], golden_call(c), axes,
             axes > 0 ? c->axes[0] : 0, axes > 1 ? c->axes[1] : 0, item);
    return text;
}

static void check_answer(int item, const gpuarray *got)
{
    const golden_case *c = &file->cases[item];
    char why[300];
    if (!golden_result(c, c->out[0], got, 1, why, sizeof why))
        fail_later("%s: %s: %s", row_text(item), why, got ? "" : ga_error_message());
    else if (ga_ndim(got) != c->out[0]->ndim ||
             memcmp(ga_shape(got), c->out[0]->shape, (size_t)ga_ndim(got) * sizeof(int64_t)) != 0)
        fail_later("%s: the result has another shape", row_text(item));
    ga_clear_error();
}

/* Into a result of the same dtype, and of another one that is not contiguous. */
static void check_out(int item, const gpuarray *x)
{
    const golden_case *c = &file->cases[item];
    const golden_blob *want = c->out[0];
    gpuarray *out = ga_zeros(want->dtype, want->ndim, want->shape);
    if (call(c, x, out) != out)
        fail_later("%s: with .out: %s", row_text(item), ga_error_message());
    else
        check_answer(item, out);
    gpuarray *other = ga_transpose(ga_zeros(want->dtype, GA_SHAPE(want->size, 2)));
    if (want->ndim == 1 && call(c, x, ga_slice(other, "1")))
        check_answer(item, ga_slice(other, "1"));
    ga_clear_error();
}

static void run_case(int item)
{
    const golden_case *c = &file->cases[item];
    const golden_blob *b = c->arg[0];
    GA_SCOPE {
        gpuarray *x = golden_array(b);
        if (c->flags & GOLDEN_ERROR) {
            golden_refuses(c, row_text(item), call(c, x, NULL));
        } else {
            check_answer(item, call(c, x, NULL));
            const layout how = (layout)(LAYOUT_FORTRAN + item % (LAYOUT_BROADCAST - 1));
            check_answer(item,
                         call(c, layout_array(how, b->data, b->dtype, b->ndim, b->shape), NULL));
            if (item % 5 == 0)
                check_out(item, x);
        }
    }
}

static void every_row_answers_as_numpy(void **state)
{
    (void)state;
    rows_in_threads(file->ncases, row_text, run_case);
    assert_int_equal(failures(), 0);
}

/* ---- Properties: beside a stable sort ---- */

/* Elements of a row with their order. */
typedef struct item {
    double number;
    int64_t whole; /* of integers and bool; its order is theirs */
    int64_t index;
} item;

static bool sorts_wholes, sorts_descending;

/* NaN last, equal elements by their indices. */
static int compare_items(const void *left, const void *right)
{
    const item *a = left, *b = right;
    const int sign = sorts_descending ? -1 : 1;
    if (sorts_wholes && a->whole != b->whole)
        return a->whole < b->whole ? -sign : sign;
    if (!sorts_wholes && isnan(a->number) != isnan(b->number))
        return isnan(a->number) ? 1 : -1;
    if (!sorts_wholes && a->number != b->number && !isnan(a->number))
        return a->number < b->number ? -sign : sign;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool same_order(const item *a, const item *b)
{
    item other = *b;
    other.index = a->index;
    return compare_items(a, &other) == 0;
}

static item *read_row(ga_dtype dtype, const char *row, int64_t n)
{
    item *items = malloc((size_t)(n + 1) * sizeof *items);
    assert_non_null(items);
    for (int64_t k = 0; k < n; k++) {
        const ga_value v = ga__dtype_fetch(dtype, row + (size_t)k * ga_dtype_size(dtype));
        const uint64_t flip = ga__dtype_kind(dtype) == 'u' ? (uint64_t)1 << 63 : 0;
        items[k] = (item){ga__number_double(v), (int64_t)(v.as.u ^ flip), k};
    }
    sorts_wholes = ga__dtype_kind(dtype) != 'f';
    return items;
}

/* The indices that a partition has: those below, equal to and above element kth, in order. */
static void partition_row(ga_dtype dtype, const char *row, int64_t n, int64_t kth, int64_t *to)
{
    item *items = read_row(dtype, row, n), *sorted = read_row(dtype, row, n);
    sorts_descending = false;
    qsort(sorted, (size_t)n, sizeof *sorted, compare_items);
    for (int side = -1; side <= 1; side++)
        for (int64_t k = 0; k < n; k++) {
            const bool equal = same_order(&items[k], &sorted[kth]);
            const int own = equal ? 0 : compare_items(&items[k], &sorted[kth]);
            if (own == side)
                *to++ = k;
        }
    free(items);
    free(sorted);
}

static void top_row(ga_dtype dtype, const char *row, int64_t n, int64_t k, bool smallest,
                    int64_t *to)
{
    item *items = read_row(dtype, row, n);
    sorts_descending = !smallest;
    qsort(items, (size_t)n, sizeof *items, compare_items);
    for (int64_t j = 0; j < k; j++)
        to[j] = items[j].index;
    free(items);
}

/* Whether the results have these indices of the row, and its elements there. */
static void expect_row(const char *what, ga_dtype dtype, const char *row, int64_t count,
                       const int64_t *wanted, const int64_t *indices, const char *values)
{
    const size_t size = ga_dtype_size(dtype);
    for (int64_t k = 0; k < count; k++)
        if (indices[k] != wanted[k] ||
            memcmp(values + (size_t)k * size, row + (size_t)wanted[k] * size, size) != 0)
            fail_msg("%s of %s: place %lld of %lld has the index %lld, wanted %lld", what,
                     ga_dtype_name(dtype), (long long)k, (long long)count, (long long)indices[k],
                     (long long)wanted[k]);
}

enum { MOST = 120000 };

/* A matrix in a layout whose rows have the given elements, read along its last axis or its first
 * one. */
static gpuarray *matrix(ga_dtype dtype, const char *elements, int64_t rows, int64_t n, int turn)
{
    gpuarray *x =
        layout_array((layout)(turn % LAYOUT_BROADCAST), elements, dtype, GA_SHAPE(rows, n));
    return turn % 3 == 1 ? ga_transpose(x) : x;
}

static void read_rows(gpuarray *x, int axis, void *to)
{
    x = axis == 0 ? ga_transpose(x) : x;
    assert_int_equal(ga_to_host(x, to, ga_nbytes(x)), GA_OK);
}

static void check_partition(ga_dtype dtype, const char *elements, int64_t rows, int64_t n,
                            int64_t kth, int turn)
{
    static char values[MOST * 8];
    static int64_t indices[MOST], wanted[MOST];
    const int axis = turn % 3 == 1 ? 0 : -1;
    const int64_t given = turn % 2 ? kth : kth - n;
    GA_SCOPE {
        gpuarray *x = matrix(dtype, elements, rows, n, turn);
        gpuarray *v = ga_partition(x, given, GA_AXIS(axis)),
                 *i = ga_argpartition(x, given, GA_AXIS(axis));
        if (!v || !i)
            fail_msg("partition of %s: %s", ga_dtype_name(dtype), ga_error_message());
        read_rows(v, axis, values);
        read_rows(i, axis, indices);
    }
    const size_t size = ga_dtype_size(dtype);
    for (int64_t row = 0; row < rows; row++) {
        const char *own = elements + (size_t)(row * n) * size;
        partition_row(dtype, own, n, kth, wanted);
        expect_row("partition", dtype, own, n, wanted, indices + row * n,
                   values + (size_t)(row * n) * size);
    }
}

static void check_topk(ga_dtype dtype, const char *elements, int64_t rows, int64_t n, int64_t k,
                       int turn)
{
    static char values[MOST * 8];
    static int64_t indices[MOST], wanted[MOST];
    const int axis = turn % 3 == 1 ? 0 : -1;
    GA_SCOPE {
        gpuarray *x = matrix(dtype, elements, rows, n, turn), *v = NULL, *i = NULL;
        if (ga_topk(x, k, &v, &i, GA_AXIS(axis), .smallest = turn % 2 == 1) != GA_OK)
            fail_msg("topk of %s: %s", ga_dtype_name(dtype), ga_error_message());
        read_rows(v, axis, values);
        read_rows(i, axis, indices);
    }
    const size_t size = ga_dtype_size(dtype);
    for (int64_t row = 0; row < rows; row++) {
        const char *own = elements + (size_t)(row * n) * size;
        top_row(dtype, own, n, k, turn % 2 == 1, wanted);
        expect_row("topk", dtype, own, k, wanted, indices + row * k,
                   values + (size_t)(row * k) * size);
    }
}

static ga_dtype real_dtype(uint64_t *seed)
{
    for (;;) {
        const ga_dtype dtype = (ga_dtype)(GA_BOOL + random_below(seed, GA_DTYPE_COUNT - GA_BOOL));
        if (ga__dtype_kind(dtype) != 'c')
            return dtype;
    }
}

/* Few in a run, because kernels take time to compile. */
static ga_dtype run_dtypes[4];

/* Lengths around those where the way of selecting changes. */
static int64_t length(uint64_t *seed)
{
    static const int64_t about[] = {1, 3, 32, 48, 64, 256, 1024, 4096, 32768};
    const int64_t base = about[random_below(seed, 9)];
    const int64_t n = base + random_below(seed, 5) - 2;
    return n < 1 ? 1 : n;
}

static void check_rows(int turn, uint64_t *seed)
{
    static char elements[MOST * 8];
    const ga_dtype dtype = run_dtypes[random_below(seed, 4)];
    const int64_t n = turn % 16 == 0 ? 33000 + random_below(seed, 40000) : length(seed),
                  rows = n > 4096 ? 1 : 1 + random_below(seed, 9);
    const content what = (content)random_below(seed, CONTENTS);
    fill_content(what, dtype, rows * n, elements, seed);
    check_partition(dtype, elements, rows, n, random_below(seed, n), turn);
    const int64_t k =
        random_below(seed, 3) == 0 ? random_below(seed, n + 1) : random_below(seed, 1 + n / 8);
    check_topk(dtype, elements, rows, n, k, turn);
}

static void rows_are_divided_as_a_stable_sort_divides_them(void **state)
{
    uint64_t seed = run_seed();
    (void)state;
    for (int k = 0; k < 4; k++)
        run_dtypes[k] = real_dtype(&seed);
    for (int turn = 0; turn < 120; turn++)
        check_rows(turn, &seed);
}

/* ---- Samples of long rows ---- */

/* A row whose sampled elements say little: the host samples each 8th element of 4096, each 16th of
 * 16384, and these are less than all others, or greater, or equal. */
static void fill_misleading(ga_dtype dtype, int kind, int64_t n, char *row)
{
    for (int64_t k = 0; k < n; k++) {
        const double number = (double)((k * 2654435761u) % 10007);
        const double sampled = kind == 0 ? number - 20000 : kind == 1 ? number + 20000 : 5000;
        const ga_value v = ga_value_double(k % (n < 16384 ? 8 : 16) == 0 ? sampled : number);
        ga__dtype_store(dtype, v, row + (size_t)k * ga_dtype_size(dtype));
    }
}

static void check_sampled(ga_dtype dtype, const char *row, int64_t n)
{
    const int64_t ranks[] = {0, 1, n / 16 - 1, n / 16, n / 2, n - 1};
    for (int turn = 0; turn < 6; turn++) {
        check_partition(dtype, row, 1, n, ranks[turn], turn);
        check_topk(dtype, row, 1, n, 1 + ranks[turn] / 8, turn);
    }
}

static void samples_may_mislead(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_INT64};
    static char row[MOST * 8];
    uint64_t seed = run_seed();
    (void)state;
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        if (!in_short_sample("misleading", (int)k, sizeof dtypes / sizeof *dtypes))
            continue;
        for (int kind = 0; kind < 3; kind++) {
            fill_misleading(dtypes[k], kind, 4096, row);
            check_sampled(dtypes[k], row, 4096);
        }
        for (int what = 0; what < CONTENTS; what++) {
            const int64_t n = 4100 + random_below(&seed, 20000);
            fill_content((content)what, dtypes[k], n, row, &seed);
            check_sampled(dtypes[k], row, n);
        }
    }
}

/* ---- Other properties ---- */

/* Long rows take rounds; the median of 0, 1, ... in any order is known. */
static void medians_of_long_rows(void **state)
{
    (void)state;
    for (int64_t n = 100000; n < 100004; n++)
        GA_SCOPE {
            const double step = 7919, last = (double)n;
            gpuarray *x = ga_remainder(ga_multiply(ga_arange(GA_FLOAT64, 0, last, 1), step), last);
            assert_true(ga_item_double(ga_median(ga_astype(x, GA_INT64))) == (last - 1) / 2);
            assert_true(ga_item_double(ga_median(x)) == (last - 1) / 2);
            assert_true(ga_item_double(ga_median(ga_astype(x, GA_FLOAT32))) == (last - 1) / 2);
            assert_true(ga_item_double(ga_quantile(x, 1)) == last - 1);
            assert_true(ga_item_double(ga_quantile(x, 0)) == 0);
        }
}

static void more_numbers_than_a_launch_takes(void **state)
{
    static double q[100], got[100];
    (void)state;
    for (int k = 0; k < 100; k++)
        q[k] = (double)((k * 37) % 100) / 100;
    for (int64_t n = 101; n < 200000; n *= 401)
        GA_SCOPE {
            gpuarray *x = ga_arange(GA_FLOAT64, 0, (double)n, 1);
            gpuarray *r = ga_quantile(x, ga_from_host(q, GA_FLOAT64, GA_SHAPE(100)));
            assert_int_equal(ga_to_host(r, got, sizeof got), GA_OK);
            for (int k = 0; k < 100; k++)
                assert_true(fabs(got[k] - q[k] * (double)(n - 1)) <= 1e-9 * (double)n);
        }
}

static int compare_bits(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Positive doubles in eight groups, whose bits differ in three digits far apart: each digit divides
 * all elements among wanted groups, so that no room is left between the groups. */
static void check_groups(uint64_t seed)
{
    enum { N = 16000, GROUPS = 8 };
    static int64_t bits[N], sorted[N];
    double q[GROUPS], got[GROUPS];
    for (int k = 0; k < N; k++)
        bits[k] = random_below(&seed, 2) << 60 | random_below(&seed, 2) << 44 |
                  random_below(&seed, 2) << 28 | random_below(&seed, 1 << 16);
    memcpy(sorted, bits, sizeof bits);
    qsort(sorted, N, sizeof *sorted, compare_bits);
    for (int j = 0; j < GROUPS; j++)
        q[j] = (double)(N / GROUPS * j + 333) / (N - 1);
    GA_SCOPE {
        const gpuarray *x = ga_view(ga_from_host(bits, GA_INT64, GA_SHAPE(N)), GA_FLOAT64);
        gpuarray *r =
            ga_quantile(x, ga_from_host(q, GA_FLOAT64, GA_SHAPE(GROUPS)), .method = "nearest");
        if (!r || ga_to_host(r, got, sizeof got) != GA_OK)
            fail_msg("%s", ga_error_message());
    }
    for (int j = 0; j < GROUPS; j++)
        assert_memory_equal(&got[j], &sorted[N / GROUPS * j + 333], sizeof *got);
}

static void quantiles_of_groups_within_groups(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed < 9; seed++)
        check_groups(seed);
}

/* Rows of NaN alone have no median, and NaN beside one number does not count. */
static void rows_of_nan(void **state)
{
    static const int64_t lengths[] = {1, 5, 60, 300, 5000, 70000};
    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        GA_SCOPE {
            const double q[] = {0, 0.3, 1};
            gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(2, lengths[k]), NAN);
            assert_int_equal(ga_assign(ga_slice(x, "1, -1"), 7), GA_OK);
            const gpuarray *median = ga_nanmedian(x, GA_AXIS(1)),
                           *three = ga_nanquantile(x, ga_from_host(q, GA_FLOAT64, GA_SHAPE(3)),
                                                   GA_AXIS(1));
            assert_true(isnan(ga_item_double(median, 0)) && ga_item_double(median, 1) == 7);
            for (int j = 0; j < 3; j++)
                assert_true(isnan(ga_item_double(three, j, 0)) && ga_item_double(three, j, 1) == 7);
            assert_true(isnan(ga_item_double(ga_median(x))));
            assert_true(ga_item_double(ga_nanmedian(x)) == 7);
        }
}

static void either_result_of_topk_may_be_left_out(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(20)), *values = NULL, *indices = NULL;
        assert_int_equal(ga_topk(x, 3, &values, NULL), GA_OK);
        assert_numbers(values, NUMBERS(19, 18, 17));
        assert_int_equal(ga_topk(x, 2, NULL, &indices, .smallest = true), GA_OK);
        assert_numbers(ga_astype(indices, GA_INT32), NUMBERS(0, 1));
        assert_int_equal(ga_topk(x, 0, &values, &indices), GA_OK);
        assert_shape(values, GA_SHAPE(0));
        assert_shape(ga_partition(ga_reshape(x, GA_SHAPE(4, 5)), 3, .flat = true), GA_SHAPE(20));
        assert_shape(ga_partition(ga_zeros(GA_INT8, GA_SHAPE(3, 0)), 0), GA_SHAPE(3, 0));
    }
}

/* ---- Complex elements, which NumPy orders by the real part, then by the imaginary one ---- */

/* Both have the same shape and bytes, also of NaN. */
static void assert_same_bytes(const gpuarray *found, const gpuarray *wanted)
{
    unsigned char got[512], like[512];
    if (!found || !wanted)
        fail_msg("%s", ga_error_message());
    assert_shape(found, ga_ndim(wanted), ga_shape(wanted));
    assert_int_equal(ga_to_host(found, got, ga_nbytes(found)), GA_OK);
    assert_int_equal(ga_to_host(wanted, like, ga_nbytes(wanted)), GA_OK);
    assert_memory_equal(got, like, ga_nbytes(wanted));
}

static void check_complex(const gpuarray *rows, int axis)
{
    gpuarray *values, *indices, *least;
    const gpuarray *up = ga_sort(rows, GA_AXIS(axis)), *order = ga_argsort(rows, GA_AXIS(axis)),
                   *down = ga_sort(rows, GA_AXIS(axis), .descending = true),
                   *from = ga_argsort(rows, GA_AXIS(axis), .descending = true);
    const char *first = axis == 0 ? ":3" : ":, :3";
    assert_same_bytes(ga_partition(rows, 2, GA_AXIS(axis)), up);
    assert_same_bytes(ga_argpartition(rows, 2, GA_AXIS(axis)), order);
    assert_int_equal(ga_topk(rows, 3, &values, &indices, GA_AXIS(axis)), GA_OK);
    assert_same_bytes(values, ga_slice(down, "%s", first));
    assert_same_bytes(indices, ga_slice(from, "%s", first));
    assert_int_equal(ga_topk(rows, 3, &least, NULL, GA_AXIS(axis), .smallest = true), GA_OK);
    assert_same_bytes(least, ga_slice(up, "%s", first));
}

static void complex_rows_are_sorted(void **state)
{
    static const float parts[] = {1, 2,  1,        -3, 0, NAN, -1,  5, 1, 2,   0, 0,
                                  4, -2, INFINITY, 0,  0, 0,   NAN, 1, 2, NAN, 3, 3};
    (void)state;
    GA_SCOPE {
        const gpuarray *x = ga_from_host(parts, GA_COMPLEX64, GA_SHAPE(3, 4));
        check_complex(x, 1);
        check_complex(x, 0);
        check_complex(ga_astype(ga_transpose(x), GA_COMPLEX128), 0);
        assert_null(ga_partition(x, 4));
        assert_error(GA_ERR_INDEX, "partition: kth 4 is out of range for the 4 elements");
    }
}

/* ---- Errors ---- */

static void bad_arguments(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4)), *z = ga_zeros(GA_COMPLEX64, GA_SHAPE(3)), *v = x;
        gpuarray *cube = ga_zeros(GA_FLOAT64, GA_SHAPE(1, 1, 1));
        assert_null(ga_partition(x, 4));
        assert_error(GA_ERR_INDEX, "partition: kth 4 is out of range for the 4 elements");
        assert_null(ga_argpartition(x, -4, GA_AXIS(0)));
        assert_error(GA_ERR_INDEX, "argpartition: kth -4 is out of range for the 3 elements");
        assert_null(ga_partition(x, 0, GA_AXIS(0, 1)));
        assert_error(GA_ERR_INVALID, "2 axes, expected one");
        assert_null(ga_partition(ga_slice(x, "0, 0"), 0));
        assert_error(GA_ERR_INVALID, "partition: axis -1");
        assert_null(ga_quantile(z, 0.5));
        assert_error(GA_ERR_DTYPE, "complex64");
        assert_int_equal(ga_topk(x, 5, &v, NULL), GA_ERR_INDEX);
        assert_error(GA_ERR_INDEX, "topk: k is 5, axis 1 has 4 elements");
        assert_int_equal(ga_topk(x, -1, &v, NULL), GA_ERR_INDEX);
        assert_error(GA_ERR_INDEX, "topk: k is -1");
        assert_ptr_equal(v, x);
        assert_null(ga_quantile(x, 0.5, .method = "cubic"));
        assert_error(GA_ERR_INVALID, "quantile: unknown method \"cubic\"");
        assert_null(ga_quantile(x, cube));
        assert_error(GA_ERR_SHAPE, "q has shape (1, 1, 1)");
        assert_null(ga_quantile(x, ga_slice(z, "0")));
        assert_error(GA_ERR_DTYPE, "q has complex elements");
        assert_null(ga_percentile(x, 120));
        assert_error(GA_ERR_INVALID, "percentile: q is 120, expected a number from 0 to 100");
        assert_null(ga_quantile(z, 0.5));
        assert_error(GA_ERR_DTYPE, "quantile: complex64");
        assert_null(ga_median(x, .out = ga_zeros(GA_FLOAT64, GA_SHAPE(2))));
        assert_error(GA_ERR_SHAPE, "out has (2,)");
        assert_null(ga_median(x, .out = ga_zeros(GA_INT64, 0, NULL)));
        assert_error(GA_ERR_DTYPE, "does not cast");
    }
}

/* ---- Weights ---- */

static gpuarray *weigh(const gpuarray *x, const gpuarray *weights, double q)
{
    return ga_quantile(x, q, GA_AXIS(1), .method = "inverted_cdf", .weights = weights);
}

/* Expected values are NumPy's. */
static void weights_count_elements(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_remainder(ga_multiply(counting(GA_SHAPE(2, 5)), 7), 10),
                 *line = ga_astype(ga_slice(counting(GA_SHAPE(6)), "1:"), GA_UINT8),
                 *share = ga_from_host((float[]){0, 0.2f, 0.4f, 1}, GA_FLOAT32, GA_SHAPE(4)),
                 *none = ga_zeros(GA_INT8, GA_SHAPE(5)),
                 *late = ga_from_host((int[]){0, 0, 1, 0, 2}, GA_INT32, GA_SHAPE(5));
        assert_numbers(weigh(x, line, 0.5), NUMBERS(4, 5));
        assert_numbers(ga_quantile(ga_transpose(x), share, .method = "inverted_cdf",
                                   .weights = line, GA_AXIS(0)),
                       NUMBERS(0, 2, 1, 3, 4, 3, 8, 9));
        assert_numbers(ga_quantile(x, 0.5, .method = "inverted_cdf", .weights = ga_add(x, 1)),
                       NUMBERS(6));
        assert_numbers(weigh(x, late, 0), NUMBERS(4, 3));
        gpuarray *f = ga_where(ga_equal(x, 8), NAN, ga_astype(x, GA_FLOAT32));
        assert_true(isnan(ga_item_double(weigh(f, line, 0.5), 0)));
        assert_numbers(ga_astype(ga_nanquantile(f, 0.9, GA_AXIS(1), .method = "inverted_cdf",
                                                .weights = line, .keepdims = true),
                                 GA_INT32),
                       NUMBERS(7, 9));
        gpuarray *empty = ga_nanquantile(ga_full(GA_FLOAT32, GA_SHAPE(2, 5), NAN), 0.5, GA_AXIS(1),
                                         .method = "inverted_cdf", .weights = line);
        assert_true(isnan(ga_item_double(empty, 1)));
        assert_int_equal(ga_error(), GA_OK);
        assert_null(ga_quantile(x, 0.5, GA_AXIS(1), .weights = line));
        assert_error(GA_ERR_INVALID,
                     "quantile: method \"linear\" takes no weights, \"inverted_cdf\" does");
        assert_null(weigh(x, none, 0.5));
        assert_error(GA_ERR_INVALID,
                     "quantile: weights of a row sum to 0, expected a positive finite number");
        assert_null(weigh(x, ga_full(GA_FLOAT64, GA_SHAPE(5), INFINITY), 0.5));
        assert_error(GA_ERR_INVALID, "quantile: weights of a row sum to inf");
        assert_null(weigh(x, ga_subtract(late, 1), 0.5));
        assert_error(GA_ERR_INVALID, "quantile: some weights are negative");
        assert_null(weigh(x, ga_slice(line, "1:"), 0.5));
        assert_error(GA_ERR_SHAPE, "quantile: weights of shape (4,) do not fit (2, 5)");
        assert_null(ga_quantile(x, 0.5, .method = "inverted_cdf", .weights = line));
        assert_error(GA_ERR_SHAPE, "quantile: weights of shape (5,) do not fit (2, 5)");
        assert_null(weigh(x, ga_astype(line, GA_COMPLEX64), 0.5));
        assert_error(GA_ERR_DTYPE, "quantile: weights are complex64, expected real numbers");
    }
}

/* ---- Failing allocations ---- */

static bool work(void)
{
    bool done = false;
    GA_SCOPE {
        static const double numbers[] = {0.1, 0.5, 0.9, 0.2};
        gpuarray *x = ga_arange(GA_FLOAT32, 0, 70000, 1), *values = NULL, *indices = NULL;
        gpuarray *q = x ? ga_from_host(numbers, GA_FLOAT64, GA_SHAPE(4)) : NULL;
        gpuarray *rows = q ? ga_reshape(x, GA_SHAPE(700, 100)) : NULL;
        gpuarray *weights = rows ? ga_slice(x, ":100") : NULL;
        done = weights && ga_median(x) && ga_quantile(rows, q, GA_AXIS(0)) &&
               ga_partition(x, 100) && ga_argpartition(rows, 3, GA_AXIS(0)) &&
               ga_topk(x, 60, &values, &indices) == GA_OK &&
               ga_nanquantile(ga_slice(rows, ":4"), q, GA_AXIS(1), .method = "inverted_cdf",
                              .weights = weights) &&
               ga_topk(rows, 9, &values, &indices, GA_AXIS(0)) == GA_OK &&
               ga_nanmedian(ga_view(ga_slice(rows, ":4"), GA_COMPLEX64), GA_AXIS(1));
    }
    return done;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    survive_failures_on_host(work);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(every_row_answers_as_numpy),
        slow_test(rows_are_divided_as_a_stable_sort_divides_them),
        cmocka_unit_test(samples_may_mislead),
        cmocka_unit_test(medians_of_long_rows),
        cmocka_unit_test(more_numbers_than_a_launch_takes),
        cmocka_unit_test(quantiles_of_groups_within_groups),
        cmocka_unit_test(rows_of_nan),
        cmocka_unit_test(either_result_of_topk_may_be_left_out),
        slow_test(complex_rows_are_sorted),
        cmocka_unit_test(bad_arguments),
        slow_test(weights_count_elements),
        cmocka_unit_test(allocations_may_fail),
    };
    file = golden_open("rank.bin");
    const int failed = run_named_tests(argc, argv, tests, NULL, NULL);
    golden_close(file);
    return failed;
}
