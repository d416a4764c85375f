/* Every scan against NumPy's answers and, for random arrays in every layout, against host loops. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "array_support.h"
#include "golden.h"
#include "layouts.h"
#include "model/dtype.h"
#include "parallel.h"
#include "random.h"
#include "run.h"

typedef gpuarray *(*scan_function)(size_t size, const ga_scan_args *args);

static const struct {
    const char *name;
    scan_function call;
} scans[] = {
#define GA_SCAN(name, ...) {#name, (ga_##name)},
#include <quarry/scan.def>
#undef GA_SCAN
    {"cumulative_sum", (ga_cumulative_sum)},
    {"cumulative_prod", (ga_cumulative_prod)},
};

static golden_file *file;

static scan_function find_scan(const char *name)
{
    for (size_t i = 0; i < sizeof scans / sizeof *scans; i++)
        if (strcmp(scans[i].name, name) == 0)
            return scans[i].call;
    return NULL;
}

/* ---- Golden files ---- */

/* The options of make_scan.py. */
enum { EXCLUSIVE = 1, REVERSE = 2, INCLUDE = 4, INITIAL = 8, OFFSETS = 16 };

static gpuarray *call(const golden_case *c, const gpuarray *x, gpuarray *out)
{
    ga_scan_args args = {.x = x,
                         .naxes = c->naxes > 0 ? c->naxes : 0,
                         .axes = c->axes,
                         .dtype = c->dtype,
                         .exclusive = c->ddof & EXCLUSIVE,
                         .reverse = c->ddof & REVERSE,
                         .include_initial = c->ddof & INCLUDE,
                         .out = out};
    if (c->ddof & INITIAL)
        args.initial = c->number[1];
    if (c->ddof & OFFSETS)
        args.offsets = golden_array(c->arg[c->nargs - 1]);
    return find_scan(c->name)(sizeof args, &args);
}

static const char *case_text(const golden_case *c)
{
    static _Thread_local char text[400];
    snprintf(text, sizeof text, "%s dtype %s%s%s%s%s%s; of shape %s over %d", golden_call(c),
             ga_dtype_name(c->dtype), c->ddof & EXCLUSIVE ? " exclusive" : "",
             c->ddof & REVERSE ? " reverse" : "", c->ddof & INCLUDE ? " include_initial" : "",
             c->ddof & INITIAL ? " initial" : "", c->ddof & OFFSETS ? " offsets" : "",
             c->arg[0]->ndim == 0   ? "()"
             : c->arg[0]->ndim == 1 ? "(n,)"
                                    : "(n, m)",
             c->naxes > 0 ? c->axes[0] : -99);
    return text;
}

static void check_answer(const golden_case *c, const gpuarray *got)
{
    char why[300];
    if (!golden_result(c, c->out[0], got, 1, why, sizeof why))
        fail_later("%s: %s", case_text(c), why);
    ga_clear_error();
}

/* The case again with its array in Fortran order, reversed and stepped: float32 only. */
static void check_layouts(const golden_case *c)
{
    const golden_blob *b = c->arg[0];
    for (layout how = LAYOUT_FORTRAN; how < LAYOUT_BROADCAST; how++)
        check_answer(c, call(c, layout_array(how, b->data, b->dtype, b->ndim, b->shape), NULL));
}

static void check_out(const golden_case *c, const gpuarray *x)
{
    const golden_blob *want = c->out[0];
    gpuarray *out = ga_zeros(want->dtype, want->ndim, want->shape);
    if (call(c, x, out) != out)
        fail_later("%s: with .out the result is not out: %s", case_text(c), ga_error_message());
    else
        check_answer(c, out);
    ga_clear_error();
}

static void run_case(int item)
{
    const golden_case *c = &file->cases[item];
    GA_SCOPE {
        gpuarray *x = golden_array(c->arg[0]);
        if (c->flags & GOLDEN_ERROR) {
            golden_refuses(c, case_text(c), call(c, x, NULL));
        } else {
            check_answer(c, call(c, x, NULL));
            if (c->arg[0]->dtype == GA_FLOAT32 && item % 3 == 0)
                check_layouts(c);
            if (item % 7 == 0)
                check_out(c, x);
        }
    }
}

static const char *row_text(int item)
{
    return case_text(&file->cases[item]);
}

static void every_row_answers_as_numpy(void **state)
{
    (void)state;
    rows_in_threads(file->ncases, row_text, run_case);
    assert_int_equal(failures(), 0);
}

/* ---- Properties: exact sums of any shape, against a loop ---- */

enum { MOST_NDIM = 4, PROPERTIES = 300 };

typedef struct property {
    int ndim, axis;
    layout how;
    int64_t shape[MOST_NDIM];
    bool exclusive, reverse;
} property;

static property random_property(uint64_t *seed)
{
    static const int64_t most[] = {2, 9, 70, 3000};
    property p = {.ndim = 1 + (int)random_below(seed, MOST_NDIM),
                  .how = (layout)random_below(seed, LAYOUT_BROADCAST),
                  .exclusive = random_below(seed, 3) == 0,
                  .reverse = random_below(seed, 3) == 0};
    int64_t size = 1;
    p.axis = (int)random_below(seed, p.ndim);
    for (int k = 0; k < p.ndim; k++) {
        const int64_t length = random_below(seed, most[random_below(seed, 4)]);
        p.shape[k] = length % (1 + 60000 / size) + (random_below(seed, 20) > 0);
        size *= p.shape[k] > 0 ? p.shape[k] : 1;
    }
    if (p.ndim == 1)
        p.shape[0] *= 1 + random_below(seed, 60); /* several tiles */
    return p;
}

static int64_t size_of(const property *p, int first, int last)
{
    int64_t size = 1;
    for (int k = first; k < last; k++)
        size *= p->shape[k];
    return size;
}

/* The running sums of x along the axis. */
static void loop_sums(const property *p, const float *x, float *sums)
{
    const int64_t length = p->shape[p->axis], inner = size_of(p, p->axis + 1, p->ndim),
                  outer = size_of(p, 0, p->axis);
    for (int64_t row = 0; row < outer * inner; row++) {
        const int64_t first = row / inner * length * inner + row % inner;
        float sum = 0;
        for (int64_t k = 0; k < length; k++) {
            const int64_t at = first + (p->reverse ? length - 1 - k : k) * inner;
            sums[at] = p->exclusive ? sum : sum + x[at];
            sum += x[at];
        }
    }
}

static void check_property(int item)
{
    uint64_t seed = 977 + (uint64_t)item * 7919;
    const property p = random_property(&seed);
    const size_t count = (size_t)size_of(&p, 0, p.ndim);
    float *x = malloc((count + 1) * sizeof *x), *sums = malloc((count + 1) * sizeof *sums),
          *got = malloc((count + 1) * sizeof *got);
    assert_true(x && sums && got);
    for (size_t k = 0; k < count; k++)
        x[k] = (float)(random_below(&seed, 15) - 7);
    loop_sums(&p, x, sums);
    GA_SCOPE {
        gpuarray *a = layout_array(p.how, x, GA_FLOAT32, p.ndim, p.shape);
        gpuarray *r = ga_cumsum(a, GA_AXIS(p.axis), .exclusive = p.exclusive, .reverse = p.reverse);
        if (!r || ga_to_host(r, got, count * sizeof *got) != GA_OK)
            fail_later("property %d: %s", item, ga_error_message());
        for (size_t k = 0; r && k < count; k++)
            if (got[k] != sums[k]) {
                fail_later("property %d, %s, axis %d: element %zu is %g, wanted %g", item,
                           layout_names[p.how], p.axis, k, (double)got[k], (double)sums[k]);
                break;
            }
        ga_clear_error();
    }
    free(x);
    free(sums);
    free(got);
}

static void random_sums_agree_with_loops(void **state)
{
    (void)state;
    in_threads(PROPERTIES, check_property);
    assert_int_equal(failures(), 0);
}

/* ---- Bits, and places ---- */

static gpuarray *noise(int ndim, const int64_t *shape)
{
    ga_rng *rng = ga_rng_new(5);
    gpuarray *x = ga_rng_standard_normal(rng, GA_FLOAT32, ndim, shape);
    ga_rng_free(rng);
    return x;
}

/* The threads that share a row find different tiles ready each time. */
static void sums_have_the_same_bits_in_every_run(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = noise(GA_SHAPE(1000003)),
                 *columns = ga_reshape(noise(GA_SHAPE(900000)), GA_SHAPE(300000, 3));
        gpuarray *sums = ga_cumsum(x), *down = ga_cumprod(columns, GA_AXIS(0));
        for (int run = 0; run < 20; run++) {
            assert_true(ga_item_bool(ga_all(ga_equal(ga_cumsum(x), sums))));
            gpuarray *again = ga_cumprod(columns, GA_AXIS(0));
            assert_true(ga_item_bool(ga_all(ga_equal(again, down))));
        }
    }
}

/* As accurate as one sum after another, and more: errors do not grow with the elements. */
static void long_sums_are_accurate(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(1 << 22), 0.1f);
        gpuarray *error = ga_eval("max(abs(a - b) / b)", GA_NAMED("a", ga_cumsum(x)),
                                  GA_NAMED("b", ga_cumsum(x, .dtype = GA_FLOAT64)));
        assert_true(ga_item_double(error) < 32 * 0x1p-23); /* NumPy's error is 0.04 */
    }
}

static void results_go_in_place_and_into_views(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(7));
        assert_ptr_equal(ga_cumsum(x, .dtype = GA_INT32, .out = x), x);
        assert_numbers(x, NUMBERS(0, 1, 3, 6, 10, 15, 21));
        gpuarray *y = counting(GA_SHAPE(7)); /* a partial overlap */
        ga_cumsum(ga_slice(y, ":-1"), .dtype = GA_INT32, .out = ga_slice(y, "1:"));
        assert_numbers(y, NUMBERS(0, 0, 1, 3, 6, 10, 15));
        gpuarray *z = counting(GA_SHAPE(6)); /* every other element, backwards */
        ga_cumsum(ga_slice(z, "::2"), .dtype = GA_INT32, .out = ga_slice(z, "::-2"));
        assert_numbers(z, NUMBERS(0, 6, 2, 2, 4, 0));
        gpuarray *w = counting(GA_SHAPE(4));
        ga_cumsum(ga_slice(w, ":3"), .dtype = GA_INT32, .include_initial = true, .out = w,
                  GA_INITIAL(10));
        assert_numbers(w, NUMBERS(10, 10, 11, 13));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void a_graph_scans_again(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT64, GA_SHAPE(100000)),
                 *out = ga_zeros(GA_INT64, GA_SHAPE(100000)),
                 *offsets = ga_from_host((int[]){0, 50000}, GA_INT32, GA_SHAPE(2));
        assert_int_equal(ga_graph_begin(), GA_OK);
        ga_cumsum(x, .offsets = offsets, .out = out);
        ga_graph *graph = ga_graph_end();
        assert_non_null(graph);
        for (int run = 1; run < 4; run++) {
            assert_int_equal(ga_graph_launch(graph), GA_OK);
            assert_int_equal(ga_item_int64(ga_slice(out, "49999")), 50000 * run);
            assert_int_equal(ga_item_int64(ga_slice(out, "50000")), run);
            ga_add_into(x, x, 1);
        }
        ga_graph_free(graph);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Formulas: what the functions give, which NumPy's answers check ---- */

static void assert_formula(const char *text, gpuarray *x, gpuarray *row, gpuarray *wanted)
{
    gpuarray *got = ga_eval(text, GA(x), GA(row));
    if (!got)
        fail_msg("%s: %s", text, ga_error_message());
    assert_arrays_equal(got, wanted);
}

static void formulas_have_scans(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_transpose(counting(GA_SHAPE(70, 30))), *row = ga_slice(x, "2"),
                 *product = ga_multiply(x, row), *sums = ga_cumsum(product, GA_AXIS(0));
        assert_formula("cumsum(x*row, axis=0)", x, row, sums);
        assert_formula("cumsum(x*row)", x, row, ga_cumsum(product));
        assert_formula("cumsum(x, 0, float32)", x, row,
                       ga_cumsum(x, GA_AXIS(0), .dtype = GA_FLOAT32));
        assert_formula("cumsum(x, axis=1)[:, -1]", x, row, ga_sum(x, GA_AXIS(1)));
        assert_formula("cumsum(x*row, 0)*2 + x", x, row, ga_add(ga_multiply(sums, 2), x));
        assert_formula("cummax(5 - x, axis=-1)", x, row, ga_cummax(ga_subtract(5, x), GA_AXIS(1)));
        assert_formula("cumsum(cummin(x, axis=0), axis=1)", x, row,
                       ga_cumsum(ga_cummin(x, GA_AXIS(0)), GA_AXIS(1)));
        assert_formula("sum(cumsum(x, axis=1) - x, axis=0)", x, row,
                       ga_sum(ga_subtract(ga_cumsum(x, GA_AXIS(1)), x), GA_AXIS(0)));
        assert_formula("cumulative_logsumexp(float32(x), axis=0)", x, row,
                       ga_cumulative_logsumexp(ga_astype(x, GA_FLOAT32), GA_AXIS(0)));
        assert_formula("sum(x, axis=0) - cumsum(x, axis=0) + cummax(x, axis=0)", x, row,
                       ga_add(ga_subtract(ga_sum(x, GA_AXIS(0)), ga_cumsum(x, GA_AXIS(0))),
                              ga_cummax(x, GA_AXIS(0))));
        gpuarray *out = ga_astype(x, GA_INT64);
        assert_int_equal(ga_eval_into(out, "cumsum(out*row, axis=0)", GA(out), GA(row)), GA_OK);
        assert_arrays_equal(out, sums);
        assert_null(ga_eval("cumsum(x, keepdims=True)", GA(x)));
        assert_error(GA_ERR_INVALID, "a scan takes axis= and dtype=");
        assert_null(ga_eval("cumsum(x, axis=(0, 1))", GA(x)));
        assert_error(GA_ERR_INVALID, "a scan has one axis");
        assert_null(ga_eval("cumulative_logsumexp(x*1j)", GA(x)));
        assert_error(GA_ERR_DTYPE, "cumulative_logsumexp");
    }
}

/* ---- Errors ---- */

static void bad_options_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *c = ga_zeros(GA_COMPLEX64, GA_SHAPE(3));
        assert_null(ga_cumsum(NULL));
        assert_error(GA_ERR_INVALID, "cumsum: the operand is NULL");
        assert_null(ga_cumsum(x, GA_AXIS(2)));
        assert_error(GA_ERR_INVALID, "cumsum: axis 2 is out of range for 2 dimensions");
        assert_null(ga_cumsum(x, GA_AXIS(0, 1)));
        assert_error(GA_ERR_INVALID, "cumsum: 2 axes, expected one");
        assert_null(ga_cumulative_sum(x));
        assert_error(GA_ERR_INVALID, "cumulative_sum: an array of 2 dimensions needs an axis");
        assert_null(ga_cumulative_logsumexp(c));
        assert_error(GA_ERR_DTYPE, "cumulative_logsumexp");
        assert_null(ga_cumsum(c, .dtype = GA_FLOAT32));
        assert_error(GA_ERR_DTYPE, "cumsum: complex64 does not scan as float32");
        assert_null(ga_cumsum(x, GA_AXIS(0), .dtype = (ga_dtype)99));
        assert_error(GA_ERR_DTYPE, "cumsum: 99 is not a dtype");
        assert_null(ga_cumsum(x, GA_AXIS(0), .dtype = GA_INT8, GA_INITIAL(300)));
        assert_error(GA_ERR_INVALID, "cumsum: 300 does not fit int8");
        assert_null(ga_cumsum(x, GA_AXIS(0), GA_INITIAL(x)));
        assert_error(GA_ERR_INVALID, "cumsum: initial is not a number");
        assert_null(ga_cumsum(x, GA_AXIS(0), .out = c));
        assert_error(GA_ERR_SHAPE, "cumsum: the result has shape (2, 3), out has (3,)");
        assert_null(ga_cumsum(x, GA_AXIS(0), .out = ga_zeros(GA_BOOL, GA_SHAPE(2, 3))));
        assert_error(GA_ERR_DTYPE, "cumsum: the result is int64 and does not cast to out's bool");
    }
}

static void bad_offsets_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(5));
        assert_null(ga_cumsum(x, .offsets = ga_ones(GA_FLOAT32, GA_SHAPE(2))));
        assert_error(GA_ERR_DTYPE, "cumsum: offsets: float32 is not an integer dtype");
        assert_null(ga_cumsum(x, .offsets = ga_ones(GA_INT8, GA_SHAPE(2, 1))));
        assert_error(GA_ERR_SHAPE, "cumsum: offsets: shape (2, 1) is not 1-D");
        assert_null(ga_cumsum(x, .offsets = ga_full(GA_INT64, GA_SHAPE(2), 6)));
        assert_error(GA_ERR_INDEX, "cumsum: offsets: 6 is not in [0, 5]");
        assert_null(ga_cumsum(x, .offsets = ga_full(GA_INT16, GA_SHAPE(2), -1)));
        assert_error(GA_ERR_INDEX, "cumsum: offsets: -1 is not in [0, 5]");
    }
}

/* ---- Failing allocations ---- */

static bool scan_everything(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(40, 5000)),
                 *offsets = x ? ga_zeros(GA_INT32, GA_SHAPE(1)) : NULL;
        done = offsets && ga_cumsum(ga_transpose(x)) && ga_cumsum(x, GA_AXIS(0), .out = x) &&
               ga_cumsum(x, GA_AXIS(1), .include_initial = true, .offsets = offsets);
    }
    return done;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    survive_failures(scan_everything);
}

static int open_golden(void **state)
{
    (void)state;
    file = golden_open("scan.bin");
    return file ? 0 : -1;
}

static int close_golden(void **state)
{
    (void)state;
    golden_close(file);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        table_test(every_row_answers_as_numpy),
        cmocka_unit_test(random_sums_agree_with_loops),
        cmocka_unit_test(sums_have_the_same_bits_in_every_run),
        cmocka_unit_test(long_sums_are_accurate),
        cmocka_unit_test(results_go_in_place_and_into_views),
        cmocka_unit_test(a_graph_scans_again),
        cmocka_unit_test(formulas_have_scans),
        cmocka_unit_test(bad_options_are_errors),
        cmocka_unit_test(bad_offsets_are_errors),
        cmocka_unit_test(allocations_may_fail),
    };
    return run_named_tests(argc, argv, tests, open_golden, close_golden);
}
