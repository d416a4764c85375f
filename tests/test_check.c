/* QUARRY_CHECK=nan: the first operation that makes a NaN or infinity of finite operands. */
#define GA_CALL_SITES 1
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "base/error.h"
#include "device/context.h"
#include "run.h"

static int check_on(void **state)
{
    (void)state;
    ga_clear_error();
    assert_non_null(ga_current_device()); /* reads the variable when it opens */
    ga__check_nan = true;
    return 0;
}

static int check_off(void **state)
{
    (void)state;
    ga__check_nan = false;
    ga_clear_error();
    return 0;
}

/* Asserts that the call fails with exactly this message. */
#define FAILS(call, message)                                                                       \
    do {                                                                                           \
        assert_true(!(call));                                                                      \
        assert_int_equal(ga_error(), GA_ERR_INVALID);                                              \
        assert_string_equal(ga_error_message(), message);                                          \
        ga_clear_error();                                                                          \
    } while (0)
#define FAILS_INTO(call, message) FAILS((call) == GA_OK, message)

static void operations_name_index_and_operands(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT32, -1, 2, 4), *i = ga_arange(GA_INT32, 0, 4, 1);
        gpuarray *z = ga_zeros(GA_FLOAT32, GA_SHAPE(2, 4));
        FAILS(ga_divide(z, x),
              "divide: nan at index (0, 1) of shape (2, 4), from finite operands a = 0., b = 0.");
        FAILS(ga_divide(1, i),
              "divide: inf at index (0,) of shape (4,), from finite operands a = 1, b = 0");
        FAILS(ga_multiply(ga_flip(x, 0), 3e38),
              "multiply: inf at index (0,) of shape (4,), from finite operands a = 2., b = 3e+38");
        FAILS(ga_sqrt(ga_slice(ga_transpose(ga_subtract(z, x)), "1:")),
              "sqrt: nan at index (1, 0) of shape (3, 2), from finite operands a = -1.");
        FAILS(ga_astype(ga_scalar(GA_FLOAT64, 1e300), GA_FLOAT32),
              "astype: inf at index () of shape (), from finite operands a = 1.e+300");
        FAILS(ga_divide(ga_zeros(GA_COMPLEX64, GA_SHAPE(1)), 0),
              "divide: nan+nanj at index (0,) of shape (1,), from finite operands a = 0.+0.j, "
              "b = 0");
        FAILS_INTO(ga_divide_into(x, x, x),
                   "divide: nan at index (1,) of shape (4,), from finite operands a = 0., b = 0.");
        assert_true(isnan(ga_item_double(ga_slice(x, "1")))); /* it is written all the same */
        FAILS_INTO(ga_divmod_into(z, ga_zeros_like(z), ga_ones_like(z), 0.0),
                   "divmod: inf at index (0, 0) of shape (2, 4), from finite operands a = 1., "
                   "b = 0");
        assert_int_equal(ga_divmod_into(z, ga_zeros_like(z), ga_ones_like(z), 2), GA_OK);
    }
}

static void reductions_name_index_and_range(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT64, GA_SHAPE(2, 3), 1e308);
        ga_assign(ga_slice(x, "0"), -1);
        FAILS(ga_sum(x, GA_AXIS(1)), "sum: inf at index (1,) of shape (2,), from 3 finite elements "
                                     "between 1.e+308 and 1.e+308");
        FAILS(ga_var(ga_ones(GA_FLOAT32, GA_SHAPE(3)), .ddof = 3),
              "var: nan at index () of shape (), from 3 finite elements between 1. and 1.");
        gpuarray *out = ga_zeros(GA_FLOAT64, GA_SHAPE(2));
        FAILS(ga_sum(x, GA_AXIS(1), .out = out),
              "sum: inf at index (1,) of shape (2,), from 3 finite elements between 1.e+308 and "
              "1.e+308");
        const int32_t ends[] = {0, 2, 2, 3};
        const gpuarray *offsets = ga_from_host(ends, GA_INT32, GA_SHAPE(4));
        FAILS(ga_sum(x, GA_AXIS(1), .offsets = offsets),
              "sum: inf at index (1, 0) of shape (2, 3), from finite elements");
        assert_non_null(ga_sum(ga_slice(x, "0"), .offsets = offsets));
        assert_ptr_equal(ga_max(x, GA_AXIS(1), .out = out), out);
        assert_null(ga_dot(ga_slice(x, "1"), ga_slice(x, "1")));
        expect_raised(GA_ERR_INVALID, "dot: inf at index () of shape (), from 3 finite elements");
        FAILS(ga_einsum("ij,ij->i", GA_ARRAYS(x, x), .out = out),
              "einsum: inf at index (1,) of shape (2,), from finite operands");
        assert_ptr_equal(ga_vecdot(x, ga_zeros(GA_FLOAT64, GA_SHAPE(3)), .out = out), out);
        gpuarray *v = ga_full(GA_FLOAT64, GA_SHAPE(3), (double)INFINITY);
        assert_non_null(ga_einsum("ij,j->i", GA_ARRAYS(x, v)));
        FAILS(ga_cross(x, ga_linspace(GA_FLOAT64, 0, 3, 3)),
              "cross: inf at index (1, 0) of shape (2, 3), from finite operands");
    }
}

static void expressions_name_the_operation_inside(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_linspace(GA_FLOAT32, -1, 2, 4), *i = ga_arange(GA_INT32, 0, 4, 1);
        FAILS(ga_eval("1 + sqrt(x)", GA(x)),
              "eval: sqrt: nan at index (0,) of shape (4,), from finite operands a = -1.\n"
              "    1 + sqrt(x)\n"
              "        ^");
        FAILS(ga_eval("mean(x / i)", GA(x), GA(i)),
              "eval: divide: -inf at index (0,) of shape (4,), from finite operands a = -1., "
              "b = 0.\n"
              "    mean(x / i)\n"
              "           ^");
        assert_null(ga_eval("x * 1e300", GA(x)));
        expect_raised(GA_ERR_INVALID, "finite operands a = -1., b = 1e+300");
        assert_null(ga_eval("var(x, ddof=4)", GA(x)));
        expect_raised(GA_ERR_INVALID, "eval: var: inf at index () of shape ()");
        assert_non_null(ga_eval("where(x > 0, log(x), 0)", GA(x))); /* its result is finite */
        assert_int_equal(ga_eval_into(x, "x / x", GA(x)), GA_ERR_INVALID);
        expect_raised(GA_ERR_INVALID, "eval: divide: nan at index (1,)");
        assert_non_null(ga_eval("x + 1", GA(x))); /* x itself has a NaN by now */
    }
}

static void custom_kernels_name_their_arguments(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(4), 4),
                 *y = ga_zeros(GA_FLOAT32, GA_SHAPE(2, 2));
        ga_kernel *k = ga_elementwise_kernel("float q, float *x, float *y", "y[i] = q / (x[i] - 4)",
                                             "inverse");
        FAILS_INTO(ga_run(k, 2, x, y),
                   "inverse: inf at index (0,) of shape (4,), from finite operands q = 2, x = 4.");
        ga_kernel_free(k);
        k = ga_elementwise_kernel("float *x", "x[i] = 1 / (x[i] - 4)", "inplace");
        FAILS_INTO(ga_run(k, x),
                   "inplace: inf at index (0,) of shape (4,), from finite operands x = 4.");
        assert_int_equal(ga_run(k, x), GA_OK); /* x is infinite before */
        ga_kernel_free(k);
        k = ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "1/(x[i]-4)", "float *x", "sums");
        FAILS(ga_reduce(k, ga_full(GA_FLOAT32, GA_SHAPE(3), 4)),
              "sums: inf at index () of shape ()");
        ga_kernel_free(k);
    }
}

/* Nothing is wrong, or what is wrong comes from the operands. */
static void other_results_pass(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(3), NAN),
                 *empty = ga_zeros(GA_FLOAT32, GA_SHAPE(0));
        assert_non_null(ga_add(x, 1));
        assert_non_null(ga_sum(x));
        assert_non_null(ga_divide(ga_ones_like(x), INFINITY));
        assert_non_null(ga_multiply(ga_ones_like(x), INFINITY));
        assert_non_null(ga_isnan(x));
        assert_non_null(ga_sqrt(empty));
        assert_non_null(ga_floor_divide(ga_arange(GA_INT32, 0, 4, 1), 0));
    }
}

/* Asserts that a launch of the graph fails with this message, and frees the graph. */
static void launch_fails(ga_graph *graph, const char *message, int line)
{
    char wanted[512];
    snprintf(wanted, sizeof wanted, "graph_launch: %s (recorded at %s:%d)", message, __FILE__,
             line);
    if (!graph)
        fail_msg("%s", ga_error_message());
    FAILS_INTO(ga_graph_launch(graph), wanted);
    ga_graph_free(graph);
}

static void launches_of_graphs_name_the_call(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(2, 3), 4),
                 *row = ga_ones(GA_FLOAT32, GA_SHAPE(3));
        gpuarray *huge = ga_full(GA_FLOAT64, GA_SHAPE(2, 3), 1e308);
        ga_graph *graph;
        int line = 0;
        /* Operands as they are at that point of the graph: y changes later. */
        gpuarray *y = ga_ones(GA_FLOAT32, GA_SHAPE(2, 3));
        GA_GRAPH(graph)
        {
            ga_subtract_into(y, y, row);
            line = __LINE__ + 1;
            gpuarray *quotient = ga_divide(x, y);
            ga_add_into(y, y, 7);
            ga_add(quotient, row);
        }
        launch_fails(graph,
                     "divide: inf at index (0, 0) of shape (2, 3), from finite operands a = 4., "
                     "b = 0.",
                     line);
        GA_GRAPH(graph)
        {
            line = __LINE__ + 1;
            ga_divide_into(row, row, ga_subtract(row, 1));
        }
        launch_fails(graph,
                     "divide: inf at index (0,) of shape (3,), from finite operands a = 1., "
                     "b = 0.",
                     line);
        GA_GRAPH(graph)
        {
            line = __LINE__ + 1;
            ga_sum(huge, GA_AXIS(1));
        }
        launch_fails(graph,
                     "sum: inf at index (0,) of shape (2,), from 3 finite elements between "
                     "1.e+308 and 1.e+308",
                     line);
        GA_GRAPH(graph)
        {
            line = __LINE__ + 1;
            ga_eval("x + sqrt(2 - x)", GA(x));
        }
        launch_fails(
            graph, "sqrt: nan at index (0, 0) of shape (2, 3), from finite operands a = -2.", line);
        GA_GRAPH(graph)
        {
            line = __LINE__ + 1;
            ga_matmul(huge, ga_transpose(huge));
        }
        launch_fails(graph, "matmul: inf at index (0, 0) of shape (2, 2), from finite operands",
                     line);
        GA_GRAPH(graph)
        {
            line = __LINE__ + 1;
            ga_cumsum(huge, GA_AXIS(1));
        }
        launch_fails(graph, "cumsum: inf at index (0, 1) of shape (2, 3)", line);
    }
}

/* The same graph fails in one launch and succeeds in the others. One of its values is always
 * finite. */
static void launches_of_graphs_are_checked_each(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(3), 2), *y = ga_zeros(GA_FLOAT32, GA_SHAPE(3));
        ga_graph *graph;
        GA_GRAPH(graph)
        {
            ga_divide_into(y, 1, x);
            ga_subtract_into(x, x, 1);
            ga_eval("where(x > 0, log(x), 0)", GA(x)); /* its result is finite */
        }
        assert_int_equal(ga_graph_launch(graph), GA_OK); /* x is 2 */
        assert_int_equal(ga_graph_launch(graph), GA_OK); /* x is 1 */
        assert_int_equal(ga_graph_launch(graph), GA_ERR_INVALID);
        expect_raised(GA_ERR_INVALID, "finite operands a = 1, b = 0.");
        assert_int_equal(ga_graph_launch(graph), GA_OK); /* x is -1 */
        ga_assign(x, NAN);
        assert_int_equal(ga_graph_launch(graph), GA_OK);
        ga_graph_free(graph);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Asserts that the thread still has its first error and no other, and clears it. */
static void expect_first_error(void)
{
    assert_int_equal(ga_error(), GA_ERR_SHAPE);
    assert_string_equal(ga_error_message(), "the first error");
    ga_clear_error();
}

/* Each call has the verdict that it has without the error, whose message does not change. */
static void earlier_errors_stay(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(3), 1);
        ga_graph *graph;
        GA_GRAPH(graph)
        {
            ga_divide(1, x);
        }
        ga__fail(GA_ERR_SHAPE, "the first error");
        assert_int_equal(ga_graph_launch(graph), GA_OK);
        assert_int_equal(ga_assign(x, 0), GA_OK);
        assert_int_equal(ga_graph_launch(graph), GA_ERR_INVALID);
        assert_null(ga_divide(1, x));
        assert_null(ga_prod(ga_full(GA_FLOAT32, GA_SHAPE(2), 1e38)));
        assert_null(ga_eval("1 / x", GA(x)));
        assert_non_null(ga_eval("where(x > 0, 1 / x, x)", GA(x)));
        assert_non_null(ga_sum(x));
        expect_first_error();
        ga_graph_free(graph);
    }
}

/* What is recorded beside an earlier error is checked like the rest. */
static void checks_are_recorded_beside_an_error(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(3));
        ga_graph *graph;
        int line = 0;
        GA_GRAPH(graph)
        {
            ga__fail(GA_ERR_SHAPE, "the first error");
            assert_non_null(ga_sum(x));
            assert_non_null(ga_eval("x + 1", GA(x)));
            line = __LINE__ + 1;
            assert_non_null(ga_divide(1, x));
            expect_first_error();
        }
        launch_fails(graph,
                     "divide: inf at index (0,) of shape (3,), from finite operands a = 1, b = 0.",
                     line);
    }
}

/* Elements that are 1, 0, -1, ... */
static ga_status count_down(void *user, int64_t first, int64_t count, void *elements)
{
    (void)user;
    for (int64_t k = 0; k < count; k++)
        ((float *)elements)[k] = (float)(1 - (first + k));
    return GA_OK;
}

static void chunks_are_checked(void **state)
{
    (void)state;
    const ga_chunks chunks = {.bytes = 64};
    ga_source *x = ga_source_new(GA_FLOAT32, GA_SHAPE(100), count_down, NULL);
    FAILS(ga_eval_chunked(&chunks, "1 + sqrt(x)", GA(x)),
          "eval: sqrt: nan at index (2,) of shape (100,), from finite operands a = -1.\n"
          "    1 + sqrt(x)\n"
          "        ^");
    char path[] = "/tmp/quarry-check-XXXXXX";
    assert_non_null(mkdtemp(path));
    char file[64];
    snprintf(file, sizeof file, "%s/r.npy", path);
    FAILS_INTO(
        ga_eval_save(file, &chunks, "1 / x", GA(x)),
        "eval: divide: inf at index (1,) of shape (100,), from finite operands a = 1, b = 0.\n"
        "    1 / x\n"
        "      ^");
    assert_int_not_equal(remove(file), 0);
    assert_int_equal(ga_eval_save(file, &chunks, "x * 2", GA(x)), GA_OK);
    remove(file);
    remove(path);
    ga_source_free(x);
}

static void launches_are_checked(void **state)
{
    (void)state;
    ga_module *module =
        ga_module_compile("__global__ void divide(const float *x, float *y, float a)"
                          "{ y[threadIdx.x] = x[threadIdx.x] / a; }");
    if (!module)
        fail_msg("%s", ga_error_message());
    GA_SCOPE {
        ga_kernel *kernel = ga_module_kernel(module, "divide");
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3)), *y = ga_zeros(GA_FLOAT32, GA_SHAPE(3));
        assert_int_equal(ga_launch(kernel, GA_DIM(1), GA_DIM(3), x, y, 2.0f), GA_OK);
        FAILS_INTO(ga_launch(kernel, GA_DIM(1), GA_DIM(3), x, y, 0.0f),
                   "divide: argument 2: inf at index (0,) of shape (3,), from finite operands");
        assert_int_equal(ga_launch(kernel, GA_DIM(1), GA_DIM(3), x, y, 0.0f), GA_OK); /* had inf */
    }
    ga_module_free(module);
}

static bool sum_once(void)
{
    gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(2, 3), 1e37f);
    gpuarray *y = ga_add(x, x);
    gpuarray *z = ga_eval("x + sum(x)", GA(x));
    gpuarray *s = ga_sum(x, GA_AXIS(0));
    ga_free(x);
    ga_free(y);
    ga_free(z);
    ga_free(s);
    return ga_error() == GA_OK;
}

static bool record_once(void)
{
    gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(3), 2), *y = NULL;
    ga_graph *graph = NULL;
    if (ga_graph_begin() == GA_OK) {
        y = ga_sqrt(x);
        graph = ga_graph_end();
    }
    const bool done = graph && ga_graph_launch(graph) == GA_OK;
    ga_graph_free(graph);
    ga_free(y);
    ga_free(x);
    return done;
}

static void failed_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    survive_failures(sum_once);
    survive_failures(record_once);
}

int main(int argc, char **argv)
{
#define CHECKED(test) cmocka_unit_test_setup_teardown(test, check_on, check_off)
    const struct CMUnitTest tests[] = {
        CHECKED(operations_name_index_and_operands),
        CHECKED(reductions_name_index_and_range),
        CHECKED(expressions_name_the_operation_inside),
        CHECKED(custom_kernels_name_their_arguments),
        CHECKED(chunks_are_checked),
        CHECKED(launches_are_checked),
        CHECKED(other_results_pass),
        CHECKED(launches_of_graphs_name_the_call),
        CHECKED(launches_of_graphs_are_checked_each),
        CHECKED(earlier_errors_stay),
        CHECKED(checks_are_recorded_beside_an_error),
        CHECKED(failed_allocations_leave_nothing_behind),
    };

    setenv("QUARRY_LOG", "error", 1);
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
