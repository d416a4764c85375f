/* What follows a product in an expression: the library's epilogue or one kernel has the results of
 * the single operations. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "device/backend.h"
#include "golden.h"
#include "kernels/product/product.h"
#ifdef QUARRY_CUDA
#include "device/cuda/cublaslt.h"
#endif
#include "run.h"
#include "simulated_device.h"

/* Whole numbers between -4 and 4. */
static gpuarray *numbers(ga_dtype dtype, int64_t step, int ndim, const int64_t *shape)
{
    const gpuarray *k = ga_arange(GA_INT64, 0, (double)ga__shape_size(ndim, shape), 1),
                   *x = ga_subtract(ga_remainder(ga_multiply(k, step), 9), 4);
    return ga_astype(ga_reshape(x, ndim, shape), dtype);
}

static gpuarray *relu(const gpuarray *x)
{
    return ga_maximum(x, 0);
}

typedef struct operands {
    gpuarray *x, *w, *b;
} operands;

static operands operands_of(ga_dtype dtype, int64_t m, int64_t n, int64_t k)
{
    return (operands){numbers(dtype, 5, 2, (int64_t[]){m, k}),
                      numbers(dtype, 7, 2, (int64_t[]){k, n}),
                      numbers(dtype, 2, 1, (int64_t[]){n})};
}

static gpuarray *evaluate(const char *text, const operands *o)
{
    gpuarray *got = ga_eval(text, GA_NAMED("x", o->x), GA_NAMED("w", o->w), GA_NAMED("b", o->b));
    if (!got)
        fail_msg("%s: %s", text, ga_error_message());
    return got;
}

static void check_formulas(const operands *o)
{
    const gpuarray *xw = ga_matmul(o->x, o->w), *sum = ga_add(xw, o->b);
    assert_arrays_equal(evaluate("x @ w + b", o), sum);
    assert_arrays_equal(evaluate("b + x @ w", o), sum);
    assert_arrays_equal(evaluate("relu(x @ w + b)", o), relu(sum));
    assert_arrays_equal(evaluate("maximum(0, x @ w + b)", o), relu(sum));
    assert_arrays_equal(evaluate("relu(x @ w) + 0*b", o), relu(xw));
    assert_arrays_equal(evaluate("t = x @ w + b; relu(t) - t", o), ga_subtract(relu(sum), sum));
    assert_arrays_equal(evaluate("t = x @ w; relu(t + b) - t", o), ga_subtract(relu(sum), xw));
    assert_arrays_equal(evaluate("relu(x @ w + b)[::2]", o), ga_copy(ga_slice(relu(sum), "::2")));
    assert_arrays_equal(evaluate("maximum(x @ w + b, 1)", o), ga_maximum(sum, 1));
    assert_arrays_equal(evaluate("sum(x @ w + b, axis=-1)", o), ga_sum(sum, GA_AXIS(-1)));
    assert_arrays_equal(evaluate("max(x @ w + b, axis=-1)", o), ga_max(sum, GA_AXIS(-1)));
    assert_arrays_equal(evaluate("t = x @ w + b; t - max(t, axis=-1, keepdims=True)", o),
                        ga_subtract(sum, ga_max(sum, GA_AXIS(-1), .keepdims = true)));
}

static void formulas_are_their_operations(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8,    GA_INT32,   GA_FLOAT16,  GA_BFLOAT16,
                                      GA_FLOAT32, GA_FLOAT64, GA_COMPLEX64};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        GA_SCOPE {
            if (!in_short_sample("formulas", (int)k, sizeof dtypes / sizeof *dtypes))
                continue;
            operands o = operands_of(dtypes[k], 33, 20, 17);
            check_formulas(&o);
            o.b = ga_slice(numbers(dtypes[k], 2, 1, (int64_t[]){40}), "::2"); /* not contiguous */
            check_formulas(&o);
            o.b = numbers(dtypes[k], 2, 1, (int64_t[]){1});
            check_formulas(&o);
            o = operands_of(dtypes[k], 1, 1, 1);
            check_formulas(&o);
            o = operands_of(dtypes[k], 100, 100, 100); /* the operands broadcast, too */
            check_formulas(&o);
        }
}

static void stacks_and_other_dtypes_have_their_results(void **state)
{
    (void)state;
    GA_SCOPE {
        operands o = operands_of(GA_FLOAT32, 6, 5, 4);
        o.x = numbers(GA_FLOAT32, 5, 3, (int64_t[]){3, 6, 4});
        check_formulas(&o);
        o.w = numbers(GA_FLOAT32, 5, 3, (int64_t[]){3, 4, 5});
        check_formulas(&o);
        o.w = ga_copy(ga_slice(o.w, "0, :, 0")); /* a vector: b is no row of the product's */
        o.b = numbers(GA_FLOAT32, 5, 1, (int64_t[]){6});
        check_formulas(&o);
    }
}

/* A plan may meet other shapes than those that it was made for. */
static void compiled_formulas_take_other_shapes(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 40; n += 6)
        GA_SCOPE {
            const operands o = operands_of(GA_FLOAT32, n, 2 * n, 3);
            check_formulas(&o);
        }
}

static void results_may_share_memory_with_the_bias(void **state)
{
    (void)state;
    GA_SCOPE {
        const operands o = operands_of(GA_FLOAT32, 20, 20, 20);
        gpuarray *out = numbers(GA_FLOAT32, 3, 2, (int64_t[]){20, 20}), *row = ga_slice(out, "7"),
                 *halves = ga_empty(GA_FLOAT16, GA_SHAPE(20, 20));
        const gpuarray *wanted = relu(ga_add(ga_matmul(o.x, o.w), row));
        assert_int_equal(ga_eval_into(out, "relu(x @ w + b)", GA_NAMED("x", o.x),
                                      GA_NAMED("w", o.w), GA_NAMED("b", row)),
                         GA_OK);
        assert_arrays_equal(out, wanted);
        assert_int_equal(ga_eval_into(halves, "relu(x @ w + b)", GA_NAMED("x", o.x),
                                      GA_NAMED("w", ga_multiply(o.w, 1e4)), GA_NAMED("b", o.b)),
                         GA_OK);
        assert_arrays_equal(
            halves,
            ga_astype(relu(ga_add(ga_matmul(o.x, ga_multiply(o.w, 1e4)), o.b)), GA_FLOAT16));
    }
}

/* An evaluation never asks for this: it keeps its result apart. */
static void products_read_a_bias_in_their_result(void **state)
{
    (void)state;
    GA_SCOPE {
        const operands o = operands_of(GA_FLOAT32, 20, 20, 20);
        gpuarray *out = numbers(GA_FLOAT32, 3, 2, (int64_t[]){20, 20}), *row = ga_slice(out, "7");
        const gpuarray *wanted = ga_add(ga_matmul(o.x, o.w), row);
        const ga__product call = {.name = "eval",
                                  .a = o.x,
                                  .b = o.w,
                                  .c = out,
                                  .type = GA_FLOAT32,
                                  .alpha = {.re = 1},
                                  .bias = row};
        assert_int_equal(ga__product_run(&call), GA_OK);
        assert_arrays_equal(out, wanted);
    }
}

/* A bias or relu may replace a product only if no other operation reads the product. */
static void products_that_others_need_stay(void **state)
{
    (void)state;
    GA_SCOPE {
        const operands o = operands_of(GA_FLOAT32, 20, 20, 20);
        const gpuarray *xw = ga_matmul(o.x, o.w), *sum = ga_add(xw, o.b);
        assert_arrays_equal(evaluate("t = x @ w; relu(t + b) @ t", &o), ga_matmul(relu(sum), xw));
        assert_arrays_equal(evaluate("t = x @ w + b; relu(t) @ t", &o), ga_matmul(relu(sum), sum));
    }
}

static void relu_keeps_nan(void **state)
{
    (void)state;
    GA_SCOPE {
        operands o = operands_of(GA_FLOAT32, 3, 4, 5);
        o.b = ga_full(GA_FLOAT32, GA_SHAPE(4), NAN);
        assert_true(ga_item_bool(ga_all(ga_isnan(evaluate("relu(x @ w + b)", &o)))));
    }
}

static void explanations_say_who_finishes(void **state)
{
    (void)state;
    GA_SCOPE {
        const operands o = operands_of(GA_INT32, 3, 4, 5);
        char *text = ga_explain("relu(x @ w + b)", GA_NAMED("x", o.x), GA_NAMED("w", o.w),
                                GA_NAMED("b", o.b));
        assert_non_null(text);
        assert_non_null(strstr(text, "\n    r = maximum(a @ b + c, 0)\n"));
        assert_non_null(strstr(text, "after a @ b: one kernel in place\n"));
        free(text);
        text = ga_explain("x @ w - b", GA_NAMED("x", o.x), GA_NAMED("w", o.w), GA_NAMED("b", o.b));
        assert_null(strstr(text, "after a @ b"));
        free(text);
    }
}

static void functions_named_relu_take_one_operand(void **state)
{
    (void)state;
    GA_SCOPE {
        const gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3));
        assert_arrays_equal(ga_eval("relu(x - 2)", GA_NAMED("x", x)),
                            ga_zeros(GA_FLOAT32, GA_SHAPE(3)));
        assert_null(ga_eval("relu(x, 2)", GA_NAMED("x", x)));
        expect_raised(GA_ERR_INVALID, "eval: expected \")\"");
        assert_null(ga_eval("relu()", GA_NAMED("x", x)));
        expect_raised(GA_ERR_INVALID, "eval: ");
    }
}

/* ---- The library's epilogue: a library of the tests stands for cuBLASLt ---- */

#ifdef QUARRY_CUDA
static void library_adds_what_it_can(void **state)
{
    (void)state;
    int *const epilogues = dlsym(dlopen(simulate_cublaslt(), RTLD_NOW), "fake_epilogues");
    assert_non_null(epilogues);
    GA_SCOPE {
        operands o = operands_of(GA_FLOAT32, 33, 20, 17);
        const int before = *epilogues, launches = simulated.launches;
        evaluate("relu(x @ w + b)", &o);
        assert_int_equal(*epilogues, before + 1);
        assert_int_equal(simulated.launches, launches);
        check_formulas(&o);
        assert_int_equal(*epilogues, before + 6);
        o.b = ga_add(o.b, 1); /* another address */
        check_formulas(&o);
        o = operands_of(GA_FLOAT64, 8, 11, 17); /* has no such way */
        check_formulas(&o);
        assert_int_equal(*epilogues, before + 11);
        o.x = ga_transpose(numbers(GA_FLOAT64, 5, 2, (int64_t[]){17, 8}));
        o.w = ga_slice(numbers(GA_FLOAT64, 5, 2, (int64_t[]){34, 24}), "::2, ::2");
        o.b = numbers(GA_FLOAT64, 5, 1, (int64_t[]){12});
        check_formulas(&o);
    }
    ga__cublaslt_close(&simulated_device);
}
#endif

static int open_devices(void **state)
{
    (void)state;
    return open_simulated_device(2) ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(formulas_are_their_operations),
        cmocka_unit_test(stacks_and_other_dtypes_have_their_results),
        cmocka_unit_test(compiled_formulas_take_other_shapes),
        cmocka_unit_test(results_may_share_memory_with_the_bias),
        cmocka_unit_test(products_read_a_bias_in_their_result),
        cmocka_unit_test(products_that_others_need_stay),
        cmocka_unit_test(relu_keeps_nan),
        cmocka_unit_test(explanations_say_who_finishes),
        cmocka_unit_test(functions_named_relu_take_one_operand),
#ifdef QUARRY_CUDA
        simulated_test(library_adds_what_it_can),
#endif
    };
    return run_named_tests(argc, argv, tests, open_devices, NULL);
}
