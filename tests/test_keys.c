/* Calls that differ by one property, one after another in one process and in both orders: each gets
 * the kernel of its own. A process for each order, so that the first call is the first. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "golden.h"
#include "model/dtype.h"
#include "views.h"

/* ---- Arrays whose elements are known ---- */

/* Element k of every base array, times `scale`. */
static int number_at(int64_t k, int scale)
{
    return (int)(k * 7 % 23 - 9) * scale;
}

/* The layouts of a rows x columns operand. */
enum how { DENSE, TURNED, EVERY_2ND, FLIPPED, ONE_ROW, ONE_COLUMN, PART, NUMBER };

static view operand(ga_dtype dtype, enum how how, int64_t rows, int64_t columns, int scale)
{
    static const int turned[] = {1, 0};
    const int64_t height = how == TURNED ? columns : rows, width = how == TURNED ? rows : columns;
    const int64_t shape[] = {how == ONE_ROW ? 1 : height,
                             how == ONE_COLUMN  ? 1
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
    case TURNED: return view_turned(v, turned);
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

/* out = a + b. The comment says what the call has in common with which other one. */
typedef struct sum_call {
    ga_dtype out, a, b;
    enum how lies, how_a, how_b;
    int64_t rows, columns;
} sum_call;

#define F32 GA_FLOAT32, GA_FLOAT32, GA_FLOAT32
static const sum_call sums[] = {
    {F32, DENSE, DENSE, DENSE, 40, 50},
    {F32, DENSE, DENSE, DENSE, 39, 51}, /* no vectors of whole rows */
    /* Steps. */
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
    /* Which one is turned: of two that both stride along rows. */
    {F32, DENSE, EVERY_2ND, TURNED, 40, 50},
    {F32, DENSE, TURNED, EVERY_2ND, 40, 50},
    {F32, DENSE, TURNED, TURNED, 40, 50},
    {F32, DENSE, TURNED, FLIPPED, 40, 50},
    {F32, DENSE, FLIPPED, TURNED, 40, 50},
    {F32, DENSE, TURNED, TURNED, 70, 90}, /* larger squares */
    {F32, DENSE, TURNED, DENSE, 70, 90},
    {F32, DENSE, TURNED, DENSE, 7, 9}, /* none */
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
    (ga_add_into)(out.array, c->how_a == NUMBER ? ga_value_double(1.5) : ga_value_array(a.array),
                  c->how_b == NUMBER ? ga_value_double(1.5) : ga_value_array(b.array));
    compare("sum", call, out.array, want);
    free(want);
}

/* ---- Reductions ---- */

typedef struct reduction_call {
    const char *formula; /* over a, or a and b */
    ga_dtype a, b, out;  /* GA_NO_DTYPE: no such array */
    enum how how_a, how_b, lies;
    int64_t rows, columns;
    int axis; /* -1: all */
} reduction_call;

#define ONE(dtype) dtype, GA_NO_DTYPE, GA_NO_DTYPE
#define TWO(dtype) dtype, dtype, GA_NO_DTYPE
static const reduction_call reductions[] = {
    /* Rows of 2, 4 and 8, taken apart or not; of two arrays one, the other or both. */
    {"sum(a, axis=1)", ONE(GA_FLOAT32), DENSE, 0, 0, 100, 8, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), DENSE, 0, 0, 100, 4, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), DENSE, 0, 0, 100, 2, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), FLIPPED, 0, 0, 100, 8, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), FLIPPED, 0, 0, 100, 4, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT16), DENSE, 0, 0, 100, 8, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT16), FLIPPED, 0, 0, 100, 8, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT16), FLIPPED, 0, 0, 100, 4, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT16), PART, 0, 0, 100, 4, 1},
    {"sum(a * b, axis=1)", TWO(GA_FLOAT16), DENSE, FLIPPED, 0, 100, 8, 1},
    {"sum(a * b, axis=1)", TWO(GA_FLOAT16), FLIPPED, DENSE, 0, 100, 8, 1},
    {"sum(a * b, axis=1)", TWO(GA_FLOAT16), FLIPPED, FLIPPED, 0, 100, 8, 1},
    {"sum(a * b, axis=1)", TWO(GA_FLOAT16), DENSE, DENSE, 0, 100, 8, 1},
    /* Rows and columns, of several widths; several parts of one row. */
    {"sum(a, axis=1)", ONE(GA_FLOAT32), DENSE, 0, 0, 20, 300, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), PART, 0, 0, 20, 300, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), FLIPPED, 0, 0, 20, 300, 1},
    {"sum(a, axis=1)", ONE(GA_FLOAT32), TURNED, 0, 0, 20, 300, 1},
    {"sum(a, axis=0)", ONE(GA_FLOAT32), DENSE, 0, 0, 20, 300, 0},
    {"sum(a, axis=0)", ONE(GA_FLOAT32), FLIPPED, 0, 0, 20, 300, 0},
    {"sum(a, axis=0)", ONE(GA_FLOAT32), DENSE, 0, 0, 20, 1500, 0},
    {"sum(a, axis=0)", ONE(GA_FLOAT32), DENSE, 0, 0, 20, 5000, 0},
    {"sum(a)", ONE(GA_FLOAT32), DENSE, 0, 0, 20, 300, -1},
    {"sum(a)", ONE(GA_FLOAT32), DENSE, 0, 0, 1000, 300, -1},
    {"sum(a)", ONE(GA_FLOAT32), PART, 0, 0, 20, 300, -1},
    {"sum(a)", ONE(GA_FLOAT32), PART, 0, 0, 1000, 300, -1},
    {"sum(a)", ONE(GA_FLOAT32), ONE_ROW, 0, 0, 20, 300, -1},
    /* Results elsewhere, and dtypes. */
    {"sum(a, axis=0)", GA_FLOAT32, GA_NO_DTYPE, GA_FLOAT32, DENSE, 0, EVERY_2ND, 20, 300, 0},
    {"sum(a, axis=0)", GA_FLOAT32, GA_NO_DTYPE, GA_FLOAT64, DENSE, 0, DENSE, 20, 300, 0},
    {"sum(a, axis=0)", GA_INT32, GA_NO_DTYPE, GA_FLOAT32, DENSE, 0, DENSE, 20, 300, 0},
    {"sum(a, axis=0)", ONE(GA_INT32), DENSE, 0, 0, 20, 300, 0},
    {"sum(a, axis=0)", ONE(GA_INT16), DENSE, 0, 0, 20, 300, 0},
    /* Formulas of the same letters. */
    {"max(a) - min(a)", ONE(GA_FLOAT32), DENSE, 0, 0, 20, 300, -1},
    {"min(a) - max(a)", ONE(GA_FLOAT32), DENSE, 0, 0, 20, 300, -1},
    {"sum(a - b)", TWO(GA_FLOAT32), DENSE, ONE_COLUMN, 0, 20, 300, -1},
    {"sum(b - a)", TWO(GA_FLOAT32), DENSE, ONE_COLUMN, 0, 20, 300, -1},
    {"sum(a - b)", TWO(GA_FLOAT32), ONE_COLUMN, DENSE, 0, 20, 300, -1},
    {"sum(b - a)", TWO(GA_FLOAT32), ONE_COLUMN, DENSE, 0, 20, 300, -1},
    /* First of equals, by elements in the order of their numbers or not. */
    {"argmax(a)", ONE(GA_FLOAT32), DENSE, 0, 0, 20, 300, -1},
    {"argmax(a)", ONE(GA_FLOAT32), TURNED, 0, 0, 20, 300, -1},
    {"argmax(a)", ONE(GA_FLOAT32), PART, 0, 0, 20, 300, -1},
    {"argmax(a, axis=0)", ONE(GA_FLOAT32), DENSE, 0, 0, 20, 300, 0},
    {"argmax(a, axis=0)", ONE(GA_FLOAT32), TURNED, 0, 0, 20, 300, 0},
};

/* What the formulas above need of one output's elements. */
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
    gpuarray *got;
    if (c->out) {
        const int64_t outputs = c->axis == 0 ? c->columns : c->rows;
        const view out = operand(c->out, c->lies, 1, outputs, 0);
        const int axis = c->axis;
        got = (ga_sum)((ga_reduce_args){.x = a.array,
                                        .naxes = 1,
                                        .axes = &axis,
                                        .dtype = c->out,
                                        .out = ga_reshape(out.array, 1, &outputs)});
    } else {
        got = (ga_eval)(c->formula, c->b ? 2 : 1, args);
    }
    tally_call(c, &a, &b, want);
    compare(c->formula, call, got, want);
    free(want);
}

/* ---- Kernels of the user's ---- */

typedef struct kernel_call {
    const char *operation;
    bool fast_math;
    enum how how_x, how_w;
    int64_t rows, columns;
} kernel_call;

/* Over "const float *x, const float *w, float *z"; w has 3 rows. */
static const kernel_call kernels[] = {
    {"z[i] = x[i] + w[0]", false, DENSE, DENSE, 20, 30},
    {"z[i] = x[i] + w[0]", false, EVERY_2ND, DENSE, 20, 30},
    {"z[i] = x[i] + w[0]", false, TURNED, DENSE, 20, 30},
    {"z[i] = i + w[i % 90]", false, DENSE, DENSE, 20, 30},
    {"z[i] = i + w[i % 90]", false, DENSE, EVERY_2ND, 20, 30},
    {"z[i] = i + w[i % 90]", false, DENSE, TURNED, 20, 30},
    {"z[i] = i + w[i % 90]", false, DENSE, PART, 20, 30},
    {"z[i] = (x[i] - x[i] != 0) ? w[0] : i", false, DENSE, DENSE, 20, 30},
    {"z[i] = (x[i] - x[i] != 0) ? w[0] : i", true, DENSE, DENSE, 20, 30},
};

static double kernel_element(const kernel_call *c, const view *x, const view *w, int64_t k)
{
    const double first = number_at(view_place(w, 0), 3);
    if (strstr(c->operation, "w[i"))
        return (double)k + number_at(view_place(w, k % 90), 3);
    return strstr(c->operation, "!=") ? (double)k : number_at(view_place(x, k), 1) + first;
}

static void run_kernel(int call)
{
    const kernel_call *c = &kernels[call];
    const view x = operand(GA_FLOAT32, c->how_x, c->rows, c->columns, 1),
               w = operand(GA_FLOAT32, c->how_w, 3, c->columns, 3),
               z = operand(GA_FLOAT32, DENSE, c->rows, c->columns, 0);
    double want[600];
    for (int64_t k = 0; k < c->rows * c->columns; k++)
        want[k] = kernel_element(c, &x, &w, k);
    ga_kernel *kernel = ga_elementwise_kernel("const float *x, const float *w, float *z",
                                              c->operation, "keyed", .fast_math = c->fast_math);
    ga_run(kernel, x.array, w.array, z.array);
    ga_kernel_free(kernel);
    compare("kernel", call, z.array, want);
}

/* NaN in a kernel that may forget it, and in one of the same text that may not: `x == x`. */
static void run_special(int call)
{
    static const float numbers[] = {1, NAN, 2, NAN};
    double want[] = {1, 0, 1, 0};
    gpuarray *x = ga_from_host(numbers, GA_FLOAT32, GA_SHAPE(4)), *z = ga_zeros_like(x);
    if (call < 2) {
        ga_kernel *kernel =
            ga_elementwise_kernel("const float *x, float *z", "z[i] = x[i] == x[i]", "special",
                                  .fast_math = call == 0);
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

/* All calls of a family, in a process of their own that ends with the number of failures; twice, for
 * then every kernel is there. */
static int run_apart(void (*run)(int call), int count, bool backwards)
{
    int status = -1;
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        for (int turn = 0; turn < 2 * count; turn++)
            GA_SCOPE run(backwards ? count - 1 - turn % count : turn % count);
        const int failed = failures();
        exit(failed < 100 ? failed : 100);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return status;
}

static void in_both_orders(void (*run)(int call), size_t count)
{
    assert_int_equal(run_apart(run, (int)count, false), 0);
    assert_int_equal(run_apart(run, (int)count, true), 0);
}

#define COUNT(array) (sizeof(array) / sizeof *(array))

static void sums_of_every_kind_of_operands(void **state)
{
    (void)state;
    in_both_orders(run_sum, COUNT(sums));
}

static void reductions_of_every_kind(void **state)
{
    (void)state;
    in_both_orders(run_reduction, COUNT(reductions));
}

static void kernels_of_the_same_text(void **state)
{
    (void)state;
    in_both_orders(run_kernel, COUNT(kernels));
    in_both_orders(run_special, 4);
    in_both_orders(run_total, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_of_every_kind_of_operands),
        cmocka_unit_test(reductions_of_every_kind),
        cmocka_unit_test(kernels_of_the_same_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
