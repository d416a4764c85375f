/* Selection against host loops: random conditions of every layout, on the current device and by
 * CUDA's kernels in the simulator. */
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { CASES = 40, MOST = 100000, LARGE = 1 << 16 };

/* Small integers, about every third of them 0, and the positions of the others. */
typedef struct chosen {
    int64_t size, count;
    int32_t x[MOST];
    int64_t where[MOST];
} chosen;

static chosen drawn;

static void draw(int64_t size, uint64_t *seed)
{
    drawn.size = size;
    drawn.count = 0;
    const int64_t most = 1 + random_below(seed, 4); /* 0 alone, or more and more others */
    for (int64_t k = 0; k < size; k++) {
        drawn.x[k] = (int32_t)random_below(seed, most);
        if (drawn.x[k])
            drawn.where[drawn.count++] = k;
    }
}

/* Keeps one of `apart` elements that are not 0. */
static void thin_out(int64_t apart)
{
    int64_t kept = 0;
    for (int64_t k = 0; k < drawn.count; k++)
        if (k % apart == 0)
            drawn.where[kept++] = drawn.where[k];
        else
            drawn.x[drawn.where[k]] = 0;
    drawn.count = kept;
}

static void assert_int64s(const gpuarray *x, int64_t count, int64_t (*wanted)(int64_t k, int64_t n),
                          int64_t n)
{
    static int64_t got[MOST];
    assert_non_null(x);
    assert_int_equal(ga_dtype_of(x), GA_INT64);
    assert_shape(x, GA_SHAPE(count));
    assert_int_equal(ga_to_host(x, got, ga_nbytes(x)), GA_OK);
    for (int64_t k = 0; k < count; k++)
        if (got[k] != wanted(k, n))
            fail_msg("element %lld is %lld, wanted %lld", (long long)k, (long long)got[k],
                     (long long)wanted(k, n));
}

static int64_t place(int64_t k, int64_t n)
{
    (void)n;
    return drawn.where[k];
}

static int64_t row(int64_t k, int64_t n)
{
    return drawn.where[k] / n;
}

static int64_t column(int64_t k, int64_t n)
{
    return drawn.where[k] % n;
}

/* The drawn numbers as a matrix of `columns` columns, in one of three layouts. */
static gpuarray *matrix(int how, int64_t rows, int64_t columns)
{
    gpuarray *x = ga_from_host(drawn.x, GA_INT32, GA_SHAPE(rows, columns));
    if (how == 0)
        return x;
    gpuarray *larger = ga_zeros(GA_INT32, GA_SHAPE(columns, 2 * rows)),
             *view = ga_transpose(ga_slice(larger, "::-1, ::2"));
    assert_int_equal(ga_assign(view, x), GA_OK);
    return view;
}

static void random_places_agree_with_loops(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int k = 0; k < CASES; k++)
        GA_SCOPE {
            const int64_t rows = random_below(&seed, 200), columns = 1 + random_below(&seed, 200);
            draw(rows * columns, &seed);
            gpuarray *x = matrix(k % 2, rows, columns), *indices[2];
            assert_int_equal(ga_nonzero(x, indices), GA_OK);
            assert_int64s(indices[0], drawn.count, row, columns);
            assert_int64s(indices[1], drawn.count, column, columns);
            assert_int64s(ga_flatnonzero(x), drawn.count, place, 0);
            gpuarray *both = ga_argwhere(x);
            assert_shape(both, GA_SHAPE(drawn.count, 2));
            assert_int64s(ga_slice(both, ":, 1"), drawn.count, column, columns);
        }
}

static void assert_values(const gpuarray *x, float scale)
{
    static float got[MOST];
    assert_non_null(x);
    assert_shape(x, GA_SHAPE(drawn.count));
    assert_int_equal(ga_to_host(x, got, ga_nbytes(x)), GA_OK);
    for (int64_t k = 0; k < drawn.count; k++)
        if (got[k] != scale * (float)drawn.where[k])
            fail_msg("element %lld is %g", (long long)k, (double)got[k]);
}

static void random_elements_agree_with_loops(void **state)
{
    (void)state;
    uint64_t seed = 12;
    for (int k = 0; k < CASES; k++)
        GA_SCOPE {
            draw(random_below(&seed, 40000), &seed);
            gpuarray *condition = ga_from_host(drawn.x, GA_INT32, GA_SHAPE(drawn.size)),
                     *x = ga_arange(GA_FLOAT32, 0, (double)drawn.size, 1);
            assert_values(ga_extract(condition, x), 1);
            assert_values(ga_compress(condition, ga_slice(ga_multiply(x, -2), "::1")), -2);
            gpuarray *truths = ga_astype(condition, GA_BOOL);
            assert_values(
                ga_compress(truths, ga_slice(ga_broadcast_to(x, GA_SHAPE(2, drawn.size)), "1")), 1);
        }
}

static void check_large(int k)
{
    static const ga_dtype dtypes[] = {GA_BOOL, GA_INT32, GA_FLOAT64, GA_FLOAT16, GA_INT8};
    const ga_dtype dtype = dtypes[k % 5];
    uint64_t seed = 13 + (uint64_t)k;
    char text[60];
    snprintf(text, sizeof text, "large conditions of %s; %d", ga_dtype_name(dtype), k);
    if (!in_sample(text))
        return;
    GA_SCOPE {
        draw(LARGE + random_below(&seed, MOST - LARGE), &seed);
        if (k > 6) /* few are chosen */
            thin_out(40);
        gpuarray *all = ga_zeros(dtype, GA_SHAPE(drawn.size + 1)),
                 *condition = ga_slice(all, k % 2 ? "1:" : ":-1"),
                 *x = ga_arange(GA_FLOAT32, 0, (double)drawn.size, 1), *indices[1];
        assert_int_equal(
            ga_assign(condition, ga_from_host(drawn.x, GA_INT32, GA_SHAPE(drawn.size))), GA_OK);
        assert_values(ga_extract(condition, x), 1);
        assert_int64s(ga_flatnonzero(condition), drawn.count, place, 0);
        assert_int_equal(ga_nonzero(condition, indices), GA_OK);
        assert_int64s(indices[0], drawn.count, place, 0);
    }
}

/* CUDA marks the elements of large conditions first: bytes by vectors, where they are aligned. */
static void large_conditions_agree_with_loops(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (int k = 0; k < 10; k++)
        check_large(k);
    GA_SCOPE {
        draw(300 * 301, &seed);
        gpuarray *x = matrix(1, 300, 301), *indices[2];
        assert_int_equal(ga_nonzero(x, indices), GA_OK);
        assert_int64s(indices[0], drawn.count, row, 301);
        assert_int64s(indices[1], drawn.count, column, 301);
    }
}

/* The condition is part of the kernels: operands of all layouts, rows and numbers that repeat. */
static void computed_conditions_agree_with_loops(void **state)
{
    (void)state;
    static const int64_t shapes[][2] = {{0, 7}, {1, 1}, {23, 41}, {200, 200}, {300, 301}};
    uint64_t seed = 17;
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++)
        GA_SCOPE {
            if (!in_short_sample("computed", (int)k, sizeof shapes / sizeof *shapes))
                continue;
            const int64_t rows = shapes[k][0], columns = shapes[k][1], size = rows * columns;
            draw(size, &seed);
            gpuarray *w = ga_reshape(ga_arange(GA_FLOAT32, 0, (double)size, 1),
                                     GA_SHAPE(rows, columns)),
                     *one = ga_ones(GA_INT8, GA_SHAPE(columns));
            for (int how = 0; how < 2; how++) {
                gpuarray *x = matrix(how, rows, columns);
                assert_values(
                    ga_eval("(w * s)[x > t]", GA(w), GA(x), GA_NAMED("s", -2), GA_NAMED("t", 0)),
                    -2);
                assert_values(ga_eval("w[one * x > 0*sum(x)]", GA(w), GA(x), GA(one)), 1);
            }
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* The same number, far below the root of a formula. */
#define DEEP(text) NEGATIVE(NEGATIVE(NEGATIVE(text)))
#define NEGATIVE(text) "-(-(-(-(-(-(-(-(" text "))))))))"

/* Short selections and long ones: kernels of one name and value differ by their conditions alone.
 */
static void conditions_choose_their_own_kernels(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *y = ga_arange(GA_INT32, 0, 100000, 1);
        assert_numbers(ga_eval("x[x > 3]", GA(x)), NUMBERS(4, 5));
        assert_numbers(ga_eval("x[x > 1]", GA(x)), NUMBERS(2, 3, 4, 5));
        gpuarray *z = ga_flip(x, 0);
        /* The names of kernels end before what differs here. */
        assert_numbers(ga_eval("x[z < z + " DEEP("x - z") "]", GA(x), GA(z)), NUMBERS(3, 4, 5));
        assert_numbers(ga_eval("x[z < z + " DEEP("z - x") "]", GA(x), GA(z)), NUMBERS(0, 1, 2));
        assert_numbers(ga_eval("y[y > 99997]", GA(y)), NUMBERS(99998, 99999));
        assert_numbers(ga_eval("y[y > 99995]", GA(y)), NUMBERS(99996, 99997, 99998, 99999));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Rows or columns of a matrix. */
static void an_axis_is_compressed(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4)),
                 *condition = ga_from_host((char[]){0, 1, 1}, GA_INT8, GA_SHAPE(3));
        gpuarray *rows = ga_compress(condition, x, GA_AXIS(0));
        assert_shape(rows, GA_SHAPE(2, 4));
        assert_numbers(rows, NUMBERS(4, 5, 6, 7, 8, 9, 10, 11));
        gpuarray *columns = ga_compress(condition, x, GA_AXIS(-1)); /* the last is not chosen */
        assert_shape(columns, GA_SHAPE(3, 2));
        assert_numbers(columns, NUMBERS(1, 2, 5, 6, 9, 10));
        gpuarray *middle =
            ga_compress(ga_slice(condition, ":2"), counting(GA_SHAPE(2, 2, 2)), GA_AXIS(1));
        assert_numbers(middle, NUMBERS(2, 3, 6, 7));
        assert_shape(ga_compress(ga_zeros(GA_BOOL, GA_SHAPE(9)), x, GA_AXIS(0)), GA_SHAPE(0, 4));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void selections_are_of_a_length_that_the_data_tell(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *out = ga_zeros(GA_INT32, GA_SHAPE(2)),
                 *y = counting(GA_SHAPE(3));
        assert_numbers(ga_eval("t = x - int32(mean(x)); t[t > 0]", GA(x)), NUMBERS(1, 2, 3));
        assert_numbers(ga_eval("x[x // 1 == 5]", GA(x)), NUMBERS(5));
        assert_int_equal(ga_eval_into(out, "x[x > 3]", GA(x)), GA_OK);
        assert_numbers(out, NUMBERS(4, 5));
        assert_int_equal(ga_eval_into(out, "x[x > 2]", GA(x)), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "the result has shape (3,), out has (2,)");
        assert_numbers(ga_eval("x[x > 2] * 2 - x[x > 2]", GA(x)), NUMBERS(3, 4, 5));
        assert_numbers(ga_astype(ga_eval("sum(x[x > 2])", GA(x)), GA_INT32), NUMBERS(12));
        assert_numbers(ga_eval("x[x > 5] + 1", GA(x)), 0, NULL);
        assert_numbers(ga_eval("max(x[x > 5], initial=-1)", GA(x)), NUMBERS(-1));
        static const char *const more[] = {"cumsum(x[x > 0])",      "x[x > 0] + x[x > 1]",
                                           "x[x > 0][0]",           "argmax(x[x > 0])",
                                           "x[y > 0, :] + y[:2]",   "x[x > 0] + y",
                                           "sum(x[x > 0], axis=0)", "x[x > 0] @ y",
                                           "x[x[x > 0]]",           "sum(x[x > 0], where=y > 0)"};
        for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
            assert_null(ga_eval(more[k], GA(x), GA(y)));
            if (k != 4 && k != 9)
                assert_error(GA_ERR_UNSUPPORTED, "only the data tell how many elements");
            ga_clear_error();
        }
        assert_null(ga_eval("max(x[x > 0])", GA(x)));
        assert_error(GA_ERR_INVALID,
                     "max needs initial= where a mask chooses: of nothing it has no result");
        assert_null(ga_eval("x[y > 0]", GA(x), GA(y)));
        assert_error(GA_ERR_SHAPE, "a mask of shape (3,) chooses from an array of shape (2, 3)");
        assert_null(ga_eval("take(x, y > 0, axis=0)", GA(x), GA(y)));
        assert_error(GA_ERR_DTYPE, "expected integers");
        /* One plan, other shapes: the rows of the second call repeat. */
        assert_numbers(ga_eval("a[b > 1]", GA_NAMED("a", x), GA_NAMED("b", x)),
                       NUMBERS(2, 3, 4, 5));
        assert_null(ga_eval("a[b > 1]", GA_NAMED("a", ga_slice(x, ":1")), GA_NAMED("b", x)));
        assert_error(GA_ERR_SHAPE, "a mask of shape (2, 3) chooses from an array of shape (1, 3)");
        assert_int_equal(ga_graph_begin(), GA_OK);
        assert_null(ga_eval("x[x > 0]", GA(x)));
        assert_error(GA_ERR_UNSUPPORTED, "eval");
        ga_graph_free(ga_graph_end());
        ga_clear_error();
    }
}

static void many_dimensions_have_indices(void **state)
{
    (void)state;
    GA_SCOPE {
        int64_t shape[GA_MAX_NDIM];
        gpuarray *indices[GA_MAX_NDIM];
        for (int k = 0; k < GA_MAX_NDIM; k++)
            shape[k] = k == 3 || k == 30 ? 3 : 1;
        gpuarray *x = ga_reshape(counting(GA_SHAPE(9)), GA_MAX_NDIM, shape);
        assert_int_equal(ga_nonzero(x, indices), GA_OK);
        assert_int_equal(ga_item_int64(ga_slice(indices[3], "7")), 2);
        assert_int_equal(ga_item_int64(ga_slice(indices[30], "6")), 1);
        assert_int_equal(ga_item_int64(ga_sum(indices[31])), 0);
        assert_shape(ga_argwhere(ga_ones(GA_BOOL, GA_SHAPE0)), GA_SHAPE(1, 0));
    }
}

static void bad_conditions_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *number = ga_ones(GA_INT8, GA_SHAPE0), *indices[2];
        assert_null(ga_compress(ga_ones(GA_BOOL, GA_SHAPE(3)), x, GA_AXIS(0)));
        assert_error(GA_ERR_INDEX, "compress: the condition of 3 elements selects 1 past the end "
                                   "of the axis of length 2");
        assert_null(ga_compress(x, x));
        assert_error(GA_ERR_INVALID, "compress: the condition has 2 dimensions, expected 1");
        assert_null(ga_compress(ga_ones(GA_BOOL, GA_SHAPE(3)), x, GA_AXIS(2)));
        assert_error(GA_ERR_INVALID, "compress: axis 2 is out of range");
        assert_null(ga_compress(ga_ones(GA_BOOL, GA_SHAPE(3)), x, GA_AXIS(0, 1)));
        assert_error(GA_ERR_INVALID, "compress: 2 axes, expected one");
        assert_null(ga_extract(number, x));
        assert_error(GA_ERR_SHAPE, "extract: the condition has 1 elements, x has 6");
        assert_int_equal(ga_nonzero(number, indices), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "nonzero: an array of 0 dimensions has no indices");
        assert_int_equal(ga_nonzero(x, NULL), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "nonzero: the pointer for the indices is NULL");
        assert_null(ga_flatnonzero(NULL));
        assert_error(GA_ERR_INVALID, "flatnonzero: x is NULL");
        assert_int_equal(ga_graph_begin(), GA_OK);
        assert_null(ga_argwhere(x));
        assert_error(GA_ERR_UNSUPPORTED, "argwhere");
        ga_graph_free(ga_graph_end());
        ga_clear_error();
    }
}

/* The first elements of the unbounded results, zeros behind them, and the number of all. */
static void check_bounded(const gpuarray *condition, const gpuarray *x, int64_t maximum)
{
    gpuarray *values, *indices, *count;
    assert_int_equal(ga_extract_bounded(condition, x, maximum, &values, &indices, &count), GA_OK);
    const int64_t n = drawn.count < maximum ? drawn.count : maximum;
    assert_int_equal(ga_item_int64(count), drawn.count);
    assert_shape(values, GA_SHAPE(maximum));
    assert_shape(indices, GA_SHAPE(maximum));
    assert_int64s(ga_slice(indices, ":%lld", (long long)n), n, place, 0);
    gpuarray *own = ga_slice(values, ":%lld", (long long)n);
    assert_true(ga_item_bool(ga_all(ga_equal(own, ga_slice(indices, ":%lld", (long long)n)))));
    assert_false(ga_item_bool(ga_any(ga_slice(values, "%lld:", (long long)n))));
    assert_false(ga_item_bool(ga_any(ga_slice(indices, "%lld:", (long long)n))));
}

static void bounded_selections_agree_with_loops(void **state)
{
    (void)state;
    uint64_t seed = 13;
    for (int k = 0; k < CASES / 2; k++)
        GA_SCOPE {
            const int64_t rows = random_below(&seed, 200), columns = 1 + random_below(&seed, 200);
            draw(rows * columns, &seed);
            gpuarray *condition = matrix(k % 2, rows, columns),
                     *x = ga_arange(GA_FLOAT32, 0, (double)drawn.size, 1), *count;
            check_bounded(condition, x, 1 + random_below(&seed, drawn.size + 9));
            check_bounded(condition, x, drawn.count);
            assert_int_equal(ga_extract_bounded(condition, NULL, 0, NULL, NULL, &count), GA_OK);
            assert_int_equal(ga_item_int64(count), drawn.count);
        }
}

static void bounded_selections_can_be_recorded(void **state)
{
    ga_graph *graph;
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(6)), *first = ga_zeros(GA_FLOAT32, GA_SHAPE(2)),
                 *number = ga_zeros(GA_INT64, GA_SHAPE0), *values, *count;
        GA_GRAPH(graph)
        {
            ga_extract_bounded(ga_greater(x, 1), x, 2, &values, NULL, &count);
            ga_assign(first, values);
            ga_assign(number, count);
        }
        assert_non_null(graph);
        for (int k = 0; k < 4; k++) {
            assert_int_equal(ga_assign(ga_slice(x, "::2"), k), GA_OK);
            assert_int_equal(ga_graph_launch(graph), GA_OK);
            assert_int_equal(ga_item_int64(number), k > 1 ? 3 : 0);
            assert_int_equal(ga_item_int64(ga_sum(first)), k > 1 ? 2 * k : 0);
        }
        ga_graph_free(graph);
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void bad_bounds_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(4)), *left = x;
        assert_int_equal(ga_extract_bounded(x, x, -1, &left, NULL, &left), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "extract_bounded: the maximum -1 is negative");
        assert_int_equal(ga_extract_bounded(x, counting(GA_SHAPE(3)), 1, &left, NULL, &left),
                         GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "extract_bounded: the condition has 4 elements, x has 3");
        assert_int_equal(ga_extract_bounded(x, NULL, 1, &left, NULL, &left), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "extract_bounded: x is NULL");
        assert_int_equal(ga_extract_bounded(x, x, 1, &left, NULL, NULL), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "extract_bounded: the pointer for the count is NULL");
        assert_ptr_equal(left, x);
    }
}

static bool select_everything(void)
{
    gpuarray *indices[2], *count;
    bool done = false;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(30, 2000)),
                 *flat = x ? ga_ones(GA_BOOL, GA_SHAPE(30)) : NULL;
        done = flat && ga_nonzero(x, indices) == GA_OK && ga_argwhere(x) && ga_extract(x, x) &&
               ga_compress(flat, x, GA_AXIS(0)) && ga_eval("(x + 1)[x > 0]", GA(x)) &&
               ga_extract_bounded(x, x, 9, &indices[0], &indices[1], &count) == GA_OK;
    }
    return done;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    survive_failures(select_everything);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_places_agree_with_loops),
        cmocka_unit_test(random_elements_agree_with_loops),
        cmocka_unit_test(large_conditions_agree_with_loops),
        cmocka_unit_test(computed_conditions_agree_with_loops),
        cmocka_unit_test(selections_are_of_a_length_that_the_data_tell),
        cmocka_unit_test(conditions_choose_their_own_kernels),
        cmocka_unit_test(an_axis_is_compressed),
        cmocka_unit_test(many_dimensions_have_indices),
        cmocka_unit_test(bad_conditions_are_errors),
        cmocka_unit_test(bounded_selections_agree_with_loops),
        cmocka_unit_test(bounded_selections_can_be_recorded),
        cmocka_unit_test(bad_bounds_are_errors),
        cmocka_unit_test(allocations_may_fail),
        simulated_test(random_places_agree_with_loops),
        simulated_test(random_elements_agree_with_loops),
        simulated_test(large_conditions_agree_with_loops),
        simulated_test(computed_conditions_agree_with_loops),
        simulated_test(an_axis_is_compressed),
        simulated_test(bounded_selections_agree_with_loops),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
