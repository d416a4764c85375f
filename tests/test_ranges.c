/* Tests of the ranges that profilers show, by a program that runs with a profiler of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "run.h"

/* The lines of $FAKE_NVTX; free(). */
static char *written(void)
{
    char *text = calloc(1, 1 << 16);
    FILE *file = fopen(getenv("FAKE_NVTX"), "r");
    assert_non_null(text);
    if (file) {
        assert_true(fread(text, 1, (1 << 16) - 1, file) < (1 << 16) - 1);
        fclose(file);
    }
    return text;
}

/* What a call adds to the lines. */
static void adds(const char *lines, const char *before)
{
    char *after = written();
    assert_string_equal(after + strlen(before), lines);
    free(after);
}

#define ADDS(lines, call)                                                                          \
    do {                                                                                           \
        char *before = written();                                                                  \
        call;                                                                                      \
        adds(lines, before);                                                                       \
        free(before);                                                                              \
    } while (0)

static void each_call_is_a_range(void **state)
{
    gpuarray *a, *b;
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4)), *y = ga_empty_like(x);
        ga_rng *rng = ga_rng_new(1);
        ga_expr *e = ga_compile_expr("x + 2");
        ga_kernel *kernel = ga_elementwise_kernel("float *x", "x[i] += 1", "bump");
        ADDS("add\n", ga_add(x, 1));
        ADDS("multiply\n", ga_multiply_into(y, x, x));
        ADDS("sincos\n", ga_sincos(x, &a, &b));
        ADDS("sum\n", ga_sum(x, GA_AXIS(0)));
        ADDS("cumsum\n", ga_cumsum(x));
        ADDS("cumulative_sum\n", ga_cumulative_sum(ga_ravel(x)));
        ADDS("sqrt(x*x + 1)\n", ga_eval("sqrt(x*x + 1)", GA(x)));
        ADDS("x - mean(x)\n", ga_eval_into(y, "x - mean(x)", GA(x)));
        ADDS("x + 2\n", ga_eval_expr(e, GA(x)));
        ADDS("x + 2\n", ga_eval_expr_into(y, e, GA(x)));
        ADDS("bump\n", ga_run(kernel, y));
        ADDS("rng_normal\n", ga_rng_normal(rng, GA_FLOAT32, 0, 1, GA_SHAPE(4)));
        ADDS("sort\n", ga_sort(x));
        ADDS("copy\n", ga_copy(x));
        ga_rng_free(rng);
        ga_expr_free(e);
        ga_kernel_free(kernel);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* A call that is made of others has their ranges inside its own. */
static void ranges_nest(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT64, GA_SHAPE(3, 4));
        ADDS("cov\n  mean\n", ga_cov(x));
        ADDS("insert\n  full\n", ga_insert(x, 1, 2));
    }
}

static void ranges_end_with_failed_calls(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3)), *y = ga_ones(GA_FLOAT32, GA_SHAPE(4));
        ADDS("add\n", assert_null(ga_add(x, y)));
        ga_clear_error();
        ADDS("x +\n", assert_null(ga_eval("x +", GA(x))));
        ga_clear_error();
        ADDS("\n", assert_null(ga_eval_expr(NULL, GA(x))));
        ga_clear_error();
        ADDS("sqrt\n", ga_sqrt(x)); /* as deep as the first one */
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_call_is_a_range),
        cmocka_unit_test(ranges_nest),
        cmocka_unit_test(ranges_end_with_failed_calls),
    };
    gpuarray *first =
        ga_zeros(GA_INT8, GA_SHAPE(1)); /* opens the device, which reads QUARRY_NVTX */
    ga_free(first);
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
