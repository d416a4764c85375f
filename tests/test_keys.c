/* Calls that differ in one property, one after another in one process and in both orders: each gets
 * its own kernel. Each order has its own process, so that the first call is the first. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <quarry.h>

#include "model/dtype.h"
#include "parallel.h"
#include "run.h"
#include "views.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- Arrays whose elements are known ---- */

/* Element k of every base array, times `scale`. */
static int number_at(int64_t k, int scale)
{
    return (int)(k * 7 % 23 - 9) * scale;
}

/* The layouts of a rows x columns operand. */
enum how { DENSE, TRANSPOSED, EVERY_2ND, FLIPPED, ONE_ROW, ONE_COLUMN, PART, NUMBER };

static view operand(ga_dtype dtype, enum how how, int64_t rows, int64_t columns, int scale)
{
    static const int turned[] = {1, 0};
    const int64_t height = how == TRANSPOSED ? columns : rows,
                  width = how == TRANSPOSED ? rows : columns;
    const int64_t shape[] = {how == ONE_ROW ? 1 : height, how == ONE_COLUMN  ? 1
                                                          : how == EVERY_2ND ? 2 * width
                                                          : how == PART      ? width + 3
                                                                             : width};
    const int64_t size = shape[0] * shape[1];
    const size_t itemsize = ga_dtype_size(dtype);
    char *bytes = malloc((size_t)size * itemsize);
    for (int64_t k = 0; bytes && k < size; k++)
        ga__dtype_store(dtype, ga_value_int(number_at(k, scale)), bytes + (size_t)k * itemsize);
    const view v = view_whole(ga_from_host(bytes, dtype, 2, shape));
    free(bytes);
    switch (how) {
    case TRANSPOSED: return view_transposed(v, turned);
    case EVERY_2ND: return view_range(v, 1, 0, columns, 2);
    case FLIPPED: return view_range(v, 1, columns - 1, columns, -1);
    case ONE_ROW: return view_repeated(v, 0, rows);
    case ONE_COLUMN: return view_repeated(v, 1, columns);
    case PART: return view_range(v, 1, 1, columns, 1);
    default: return v;
    }
}

static void compare(const char *what, int call, const gpuarray *got, const double *want)
{
    const size_t itemsize = got ? ga_dtype_size(ga_dtype_of(got)) : 0;
    char *bytes = malloc(got ? ga_nbytes(got) + 1 : 1);
    if (!got || !bytes || ga_to_host(got, bytes, ga_nbytes(got)) != GA_OK)
        fail_later("%s %d: %s", what, call, ga_error_message());
    for (int64_t k = 0; got && bytes && k < ga_size(got); k++) {
        const double x =
            ga__number_double(ga__dtype_fetch(ga_dtype_of(got), bytes + (size_t)k * itemsize));
        if (x == want[k])
            continue;
        fail_later("%s %d: element %lld is %g, wanted %g", what, call, (long long)k, x, want[k]);
        break;
    }
    free(bytes);
    ga_clear_error();
}

/* ---- Elementwise ---- */

/* out = a + b. Each comment names the property that differs from another call. */
typedef struct sum_call {
    ga_dtype out, a, b;
    enum how lies, how_a, how_b;
    int64_t rows, columns;
} sum_call;

#define F32 GA_FLOAT32, GA_FLOAT32, GA_FLOAT32
static const sum_call sums[] = {
    {F32, DENSE, DENSE, DENSE, 40, 50},
    {F32, DENSE, DENSE, DENSE, 39, 51}, /* no vectors of whole rows */
    /* Strides. */
    {F32, DENSE, EVERY_2ND, DENSE, 40, 50},
    {F32, DENSE, DENSE, EVERY_2ND, 40, 50},
    {F32, DENSE, FLIPPED, DENSE, 40, 50},
    {F32, EVERY_2ND, DENSE, DENSE, 40, 50},
    {F32, DENSE, ONE_COLUMN, DENSE, 40, 50},
    {F32, DENSE, DENSE, ONE_COLUMN, 40, 50},
    {F32, DENSE, ONE_ROW, DENSE, 40, 50},
    /* Axes, and vectors. */
    {F32, DENSE, PART, DENSE, 40, 50},
    {F32, DENSE, PART, DENSE, 40, 52},
    {F32, PART, PART, PART, 40, 52},
    /* Which operand is transposed: of two that both stride along rows. */
    {F32, DENSE, EVERY_2ND, TRANSPOSED, 40, 50},
    {F32, DENSE, TRANSPOSED, EVERY_2ND, 40, 50},
    {F32, DENSE, TRANSPOSED, TRANSPOSED, 40, 50},
    {F32, DENSE, TRANSPOSED, FLIPPED, 40, 50},
    {F32, DENSE, FLIPPED, TRANSPOSED, 40, 50},
    {F32, DENSE, TRANSPOSED, TRANSPOSED, 70, 90}, /* larger tiles */
    {F32, DENSE, TRANSPOSED, DENSE, 70, 90},
    {F32, DENSE, TRANSPOSED, DENSE, 7, 9}, /* none */
    /* Numbers. */
    {F32, DENSE, NUMBER, DENSE, 40, 50},
    {F32, DENSE, DENSE, NUMBER, 40, 50},
    /* Dtypes of each part. */
    {GA_FLOAT64, GA_FLOAT32, GA_FLOAT32, DENSE, DENSE, DENSE, 40, 50},
    {GA_FLOAT64, GA_FLOAT64, GA_FLOAT32, DENSE, DENSE, DENSE, 40, 50},
    {GA_FLOAT64, GA_FLOAT32, GA_FLOAT64, DENSE, DENSE, DENSE, 40, 50},
    {GA_FLOAT32, GA_FLOAT32, GA_INT16, DENSE, DENSE, DENSE, 40, 50},
    {GA_FLOAT32, GA_INT16, GA_FLOAT32, DENSE, DENSE, DENSE, 40, 50},
    {GA_FLOAT16, GA_FLOAT32, GA_FLOAT32, DENSE, DENSE, DENSE, 40, 50},
};

static void run_sum(int call)
{
    const sum_call *c = &sums[call];
    const int64_t size = c->rows * c->columns;
    view a = operand(c->a, c->how_a, c->rows, c->columns, 1);
    view b = operand(c->b, c->how_b, c->rows, c->columns, 10);
    const view out = operand(c->out, c->lies, c->rows, c->columns, 0);
    double *want = malloc((size_t)size * sizeof *want);
    for (int64_t k = 0; want && k < size; k++)
        want[k] = (c->how_a == NUMBER ? 1.5 : number_at(view_place(&a, k), 1)) +
                  (c->how_b == NUMBER ? 1.5 : number_at(view_place(&b, k), 10));
    const ga_status status =
        (ga_add_into)(out.array,
                      c->how_a == NUMBER ? ga_value_double(1.5) : ga_value_array(a.array),
                      c->how_b == NUMBER ? ga_value_double(1.5) : ga_value_array(b.array));
    if (status != GA_OK)
        fail_later("sum %d: %s", call, ga_error_message());
    compare("sum", call, out.array, want);
    free(want);
}

/* ---- Reductions ---- */

typedef struct reduction_call {
    const char *formula; /* over a, or a and b */
    ga_dtype a, b;       /* GA_NO_DTYPE: no such array */
    enum how how_a, how_b;
    int64_t rows, columns;
    int axis; /* -1: all */
} reduction_call;

#define ONE(dtype) dtype, GA_NO_DTYPE
#define TWO(dtype) dtype, dtype
static const reduction_call reductions[] = {
    /* Rows of 2, 4 and 8, deinterleaved or not; from one of two arrays, the other or both. */
    {"sum(a, axis=1)", ONE(GA_FLOAT32), DENSE, 0, 100, 8, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), DENSE, 0, 100, 4, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), DENSE, 0, 100, 2, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), FLIPPED, 0, 100, 8, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), FLIPPED, 0, 100, 4, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT16), DENSE, 0, 100, 8, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT16), FLIPPED, 0, 100, 8, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT16), FLIPPED, 0, 100, 4, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT16), PART, 0, 100, 4, 1},
    {"sum(a * b, axis=1)", TWO(GA_FLOAT16), DENSE, FLIPPED, 100, 8, 1},
    {"sum(a * b, axis=1)", TWO(GA_FLOAT16), FLIPPED, DENSE, 100, 8, 1},
    {"sum(a * b, axis=1)", TWO(GA_FLOAT16), FLIPPED, FLIPPED, 100, 8, 1},
    {"sum(a * b, axis=1)", TWO(GA_FLOAT16), DENSE, DENSE, 100, 8, 1},
    /* Rows and columns, of several widths; several parts of one row. */
    {"sum(a, axis=1)", ONE(GA_FLOAT32), DENSE, 0, 20, 300, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), PART, 0, 20, 300, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), FLIPPED, 0, 20, 300, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), TRANSPOSED, 0, 20, 300, 1},
    {"sum(a, axis=0)", ONE(GA_FLOAT32), DENSE, 0, 40, 300, 0},
    {"sum(a, axis=0)", ONE(GA_FLOAT32), FLIPPED, 0, 40, 300, 0},
    {"sum(a, axis=0)", ONE(GA_FLOAT32), DENSE, 0, 40, 1500, 0},
    {"sum(a, axis=0)", ONE(GA_FLOAT32), DENSE, 0, 40, 5000, 0},
    {"sum(a)", ONE(GA_FLOAT32), DENSE, 0, 20, 300, -1},
    {"sum(a)", ONE(GA_FLOAT32), DENSE, 0, 1000, 300, -1},
    {"sum(a)", ONE(GA_FLOAT32), PART, 0, 20, 300, -1},
    {"sum(a)", ONE(GA_FLOAT32), PART, 0, 1000, 300, -1},
    {"sum(a)", ONE(GA_FLOAT32), ONE_ROW, 0, 20, 300, -1},
    /* Formulas with the same letters. */
    {"max(a) - min(a)", ONE(GA_FLOAT32), DENSE, 0, 20, 300, -1},
    {"min(a) - max(a)", ONE(GA_FLOAT32), DENSE, 0, 20, 300, -1},
    {"sum(a - b)", TWO(GA_FLOAT32), DENSE, ONE_COLUMN, 20, 300, -1},
    {"sum(b - a)", TWO(GA_FLOAT32), DENSE, ONE_COLUMN, 20, 300, -1},
    {"sum(a - b)", TWO(GA_FLOAT32), ONE_COLUMN, DENSE, 20, 300, -1},
    {"sum(b - a)", TWO(GA_FLOAT32), ONE_COLUMN, DENSE, 20, 300, -1},
    /* The first of equal elements, with elements in index order or not. */
    {"argmax(a)", ONE(GA_FLOAT32), DENSE, 0, 20, 300, -1},
    {"argmax(a)", ONE(GA_FLOAT32), TRANSPOSED, 0, 20, 300, -1},
    {"argmax(a)", ONE(GA_FLOAT32), PART, 0, 20, 300, -1},
    {"argmax(a, axis=0)", ONE(GA_FLOAT32), DENSE, 0, 20, 300, 0},
    {"argmax(a, axis=0)", ONE(GA_FLOAT32), TRANSPOSED, 0, 20, 300, 0},
};

/* The properties of one output that the formulas above need. */
typedef struct tally {
    double sum, product, difference, least, most, place;
    int64_t count;
} tally;

static void take(tally *t, double a, double b)
{
    t->sum += a;
    t->product += a * b;
    t->difference += a - b;
    t->least = t->count == 0 || a < t->least ? a : t->least;
    if (t->count == 0 || a > t->most) {
        t->most = a;
        t->place = (double)t->count;
    }
    t->count++;
}

static double answer(const char *formula, const tally *t)
{
    if (strstr(formula, "a * b"))
        return t->product;
    if (strstr(formula, "a - b"))
        return t->difference;
    if (strstr(formula, "b - a"))
        return -t->difference;
    if (strstr(formula, "argmax"))
        return t->place;
    if (strstr(formula, "max(a) - min(a)"))
        return t->most - t->least;
    return strstr(formula, "min(a) - max(a)") ? t->least - t->most : t->sum;
}

static void tally_call(const reduction_call *c, const view *a, const view *b, double *want)
{
    const int64_t outputs = c->axis < 0 ? 1 : c->axis == 0 ? c->columns : c->rows;
    tally *tallies = calloc((size_t)outputs, sizeof *tallies);
    for (int64_t k = 0; tallies && k < c->rows * c->columns; k++) {
        const int64_t to = c->axis < 0 ? 0 : c->axis == 0 ? k % c->columns : k / c->columns;
        take(&tallies[to], number_at(view_place(a, k), 1),
             c->b ? number_at(view_place(b, k), 2) : 0);
    }
    for (int64_t k = 0; tallies && k < outputs; k++)
        want[k] = answer(c->formula, &tallies[k]);
    free(tallies);
}

static void run_reduction(int call)
{
    const reduction_call *c = &reductions[call];
    const view a = operand(c->a, c->how_a, c->rows, c->columns, 1),
               b = operand(c->b ? c->b : GA_FLOAT32, c->how_b, c->rows, c->columns, 2);
    double *want = malloc((size_t)(c->rows + c->columns) * sizeof *want);
    const ga_named args[] = {{"a", ga_value_array(a.array)}, {"b", ga_value_array(b.array)}};
    gpuarray *got = (ga_eval)(c->formula, c->b ? 2 : 1, args);
    tally_call(c, &a, &b, want);
    compare(c->formula, call, got, want);
    free(want);
}

/* The dtype of the computation, of the result, and its layout: columns of three 2**24 + 1. */
static void run_result(int call)
{
    static const struct {
        ga_dtype type, out;
        bool every_2nd;
        double want;
    } calls[] = {
        {GA_FLOAT32, GA_FLOAT32, false, 50331648}, {GA_FLOAT32, GA_FLOAT32, true, 50331648},
        {GA_FLOAT32, GA_FLOAT64, false, 50331648}, {GA_FLOAT64, GA_FLOAT64, false, 50331651},
        {GA_FLOAT64, GA_FLOAT32, false, 50331652}, {GA_INT64, GA_FLOAT64, false, 50331651}};
    double want[40];
    for (int k = 0; k < 40; k++)
        want[k] = calls[call].want;
    const int64_t length = calls[call].every_2nd ? 80 : 40;
    gpuarray *x = ga_full(GA_INT32, GA_SHAPE(3, 40), 16777217);
    gpuarray *all = ga_zeros(calls[call].out, GA_SHAPE(length));
    gpuarray *out = calls[call].every_2nd ? ga_slice(all, "::2") : all;
    compare("result", call, ga_sum(x, GA_AXIS(0), .dtype = calls[call].type, .out = out), want);
}

/* Sums, or positions of the largest elements, over some of three axes. */
typedef struct deep_call {
    bool place;
    unsigned reduced; /* a bit for each axis */
    bool transposed;  /* the first axes are swapped, */
    int part;         /* and one of them is split; -1: none */
} deep_call;

static const deep_call deep[] = {
    {false, 4, false, -1}, {false, 4, false, 1}, {false, 1, false, -1}, {false, 1, false, 2},
    {false, 3, false, -1}, {false, 3, false, 1}, {false, 5, false, -1}, {false, 7, false, 1},
    {true, 3, false, -1},  {true, 3, false, 1},  {true, 3, true, 0},    {true, 7, true, 0}};
enum { DEEP = 6 * 6 * 40 };

static view deep_view(const deep_call *c, float *numbers)
{
    static const int order[] = {1, 0, 2};
    for (int k = 0; k < DEEP; k++)
        numbers[k] = (float)(number_at(k, 1) / 8);
    view v = view_whole(ga_from_host(numbers, GA_FLOAT32, GA_SHAPE(6, 6, 40)));
    v = c->transposed ? view_transposed(v, order) : v;
    return c->part < 0 ? v : view_range(v, c->part, 0, v.shape[c->part] - 1, 1);
}

/* The output of element k, in C order. */
static int64_t output_of(const view *v, unsigned reduced, int64_t k)
{
    int64_t to = 0, stride = 1;
    for (int axis = v->ndim - 1; axis >= 0; axis--) {
        if (!(reduced >> axis & 1)) {
            to += k % v->shape[axis] * stride;
            stride *= v->shape[axis];
        }
        k /= v->shape[axis];
    }
    return to;
}

static void run_deep(int call)
{
    const deep_call *c = &deep[call];
    float numbers[DEEP];
    tally tallies[DEEP] = {{0}};
    double want[DEEP];
    int axes[3];
    const view v = deep_view(c, numbers);
    ga_reduce_args args = {.x = v.array, .axes = axes};
    for (int axis = 0; axis < 3; axis++)
        if (c->reduced >> axis & 1)
            axes[args.naxes++] = axis;
    for (int64_t k = 0; k < view_size(&v); k++)
        take(&tallies[output_of(&v, c->reduced, k)], (double)numbers[view_place(&v, k)], 0);
    for (int64_t k = 0; k < DEEP; k++)
        want[k] = c->place ? tallies[k].place : tallies[k].sum;
    compare("deep", call, (c->place ? (ga_argmax) : (ga_sum))(sizeof args, &args), want);
}

static ga_status read_sevens(void *user, int64_t first, int64_t count, void *elements)
{
    (void)user;
    for (int64_t k = 0; k < count; k++)
        ((int64_t *)elements)[k] = (first + k) % 7;
    return GA_OK;
}

/* The same sum at once and by chunks. */
static void run_chunks(int call)
{
    const int64_t length = 70;
    const double want = 210;
    int64_t numbers[70];
    const ga_chunks chunks = {.bytes = 80};
    read_sevens(NULL, 0, length, numbers);
    gpuarray *x = ga_from_host(numbers, GA_INT64, 1, &length);
    ga_source *source = ga_source_new(GA_INT64, 1, &length, read_sevens, NULL);
    compare("chunks", call,
            call ? ga_eval_chunked(&chunks, "sum(x)", GA_NAMED("x", source))
                 : ga_eval("sum(x)", GA(x)),
            &want);
    ga_source_free(source);
}

/* ---- Users' kernels ---- */

typedef struct kernel_call {
    const char *operation;
    enum how how_x, how_w, how_z;
} kernel_call;

/* Over "const float *x, const float *w, float *z"; w has 3 rows. */
static const kernel_call kernels[] = {
    {"z[i] = x[i] + w[0]", DENSE, DENSE, DENSE},
    {"z[i] = x[i] + w[0]", EVERY_2ND, DENSE, DENSE},
    {"z[i] = x[i] + w[0]", TRANSPOSED, DENSE, DENSE},
    {"z[i] = i + w[i % 90]", DENSE, DENSE, DENSE},
    {"z[i] = i + w[i % 90]", DENSE, EVERY_2ND, DENSE},
    {"z[i] = i + w[i % 90]", DENSE, TRANSPOSED, DENSE},
    {"z[i] = i + w[i % 90]", DENSE, PART, DENSE},
    {"z[i] = x[i] + 7*i + 0*w[0]", DENSE, DENSE, DENSE},
    {"z[i] = x[i] + 7*i + 0*w[0]", PART, DENSE, PART},
    {"z[i] = x[i] + 7*i + 0*w[0]", TRANSPOSED, DENSE, TRANSPOSED},
};
enum { ROWS = 20, COLUMNS = 30 };

static double kernel_element(const kernel_call *c, const view *x, const view *w, int64_t k)
{
    if (strstr(c->operation, "w[i"))
        return (double)k + number_at(view_place(w, k % 90), 3);
    return number_at(view_place(x, k), 1) +
           (strstr(c->operation, "7*i") ? 7 * (double)k : number_at(view_place(w, 0), 3));
}

static void run_kernel(int call)
{
    const kernel_call *c = &kernels[call];
    const view x = operand(GA_FLOAT32, c->how_x, ROWS, COLUMNS, 1),
               w = operand(GA_FLOAT32, c->how_w, 3, COLUMNS, 3),
               z = operand(GA_FLOAT32, c->how_z, ROWS, COLUMNS, 0);
    double want[ROWS * COLUMNS];
    for (int64_t k = 0; k < ROWS * COLUMNS; k++)
        want[k] = kernel_element(c, &x, &w, k);
    ga_kernel *kernel =
        ga_elementwise_kernel("const float *x, const float *w, float *z", c->operation, "keyed");
    if (ga_run(kernel, x.array, w.array, z.array) != GA_OK)
        fail_later("kernel %d: %s", call, ga_error_message());
    ga_kernel_free(kernel);
    compare("kernel", call, z.array, want);
}

/* NaN in a kernel that may ignore it, and in one with the same text that must not: `x == x`. */
static void run_special(int call)
{
    static const float numbers[] = {1, NAN, 2, NAN};
    double want[] = {1, 0, 1, 0};
    gpuarray *x = ga_from_host(numbers, GA_FLOAT32, GA_SHAPE(4)), *z = ga_zeros_like(x);
    if (call < 2) {
        ga_kernel *kernel = ga_elementwise_kernel("const float *x, float *z", "z[i] = x[i] == x[i]",
                                                  "special", .fast_math = call == 0);
        ga_run(kernel, x, z);
        ga_kernel_free(kernel);
    } else {
        const char *text = "where(x == x, 1, 0)";
        ga_expr *expr = call == 2 ? ga_compile_fast_expr(text) : ga_compile_expr(text);
        z = ga_eval_expr(expr, GA(x));
        ga_expr_free(expr);
    }
    if (call % 2)
        compare("special", call, z, want);
    ga_clear_error();
}

/* The same texts of reductions with other results. */
static void run_total(int call)
{
    static const struct {
        ga_dtype dtype;
        const char *neutral, *combine, *map;
        double want;
    } totals[] = {{GA_FLOAT32, "0", "a + b", "x[i]", 300},
                  {GA_INT32, "0", "a + b", "x[i]", 200},
                  {GA_FLOAT64, "0", "a + b", "x[i]", 300},
                  {GA_FLOAT32, "0", "a + b", "2*x[i]", 600},
                  {GA_FLOAT32, "0", "a > b ? a : b", "x[i]", 1.5},
                  {GA_FLOAT32, "7", "a > b ? a : b", "x[i]", 7}};
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(200), 1.5);
        ga_kernel *kernel =
            ga_reduction_kernel(totals[call].dtype, totals[call].neutral, totals[call].combine,
                                totals[call].map, "const float *x", "total");
        gpuarray *got = ga_reduce(kernel, x);
        ga_kernel_free(kernel);
        compare("total", call, got, &totals[call].want);
    }
}

/* ---- Both orders ---- */

/* Calls that differ in one property of many. */
static const struct {
    void (*run)(int call);
    size_t count;
} families[] = {{run_sum, COUNT(sums)}, {run_reduction, COUNT(reductions)},
                {run_result, 6},        {run_deep, COUNT(deep)},
                {run_chunks, 2},        {run_kernel, COUNT(kernels)},
                {run_special, 4},       {run_total, 6}};

/* All calls, in a process of their own that exits with the number of failures; twice, because every
 * kernel exists the second time. */
static int run_apart(bool backwards)
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        for (size_t f = 0; f < 2 * COUNT(families); f++) {
            const int count = (int)families[f / 2].count;
            for (int call = 0; call < count; call++)
                GA_SCOPE
                    families[f / 2].run(backwards ? count - 1 - call : call);
        }
        const int failed = failures();
        exit(failed < 100 ? failed : 100);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static void each_call_has_its_own_kernel(void **state)
{
    (void)state;
    assert_int_equal(run_apart(false), 0);
}

static void each_call_has_its_own_kernel_backwards(void **state)
{
    (void)state;
    assert_int_equal(run_apart(true), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_has_its_own_kernel),
        cmocka_unit_test(each_call_has_its_own_kernel_backwards),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
