/* Indexing and joining: what random calls against NumPy (tests/stateful/shapes.py) do not reach:
 * errors, counts of launches, failing allocations, and CUDA's kernels in the simulator. */
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

static gpuarray *int64s(int64_t count, const int64_t *numbers)
{
    return ga_from_host(numbers, GA_INT64, 1, &count);
}
#define INT64S(...)                                                                                \
    int64s((int64_t)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), (int64_t[]){__VA_ARGS__})

/* ---- Values ---- */

static void arrays_join(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *a = counting(GA_SHAPE(2, 2)), *b = ga_add(counting(GA_SHAPE(2, 3)), 10);
        gpuarray *joined = ga_concatenate(GA_ARRAYS(a, b, a), GA_AXIS(1));
        assert_shape(joined, GA_SHAPE(2, 7));
        assert_numbers(joined, NUMBERS(0, 1, 10, 11, 12, 0, 1, 2, 3, 13, 14, 15, 2, 3));
        assert_numbers(ga_concatenate(GA_ARRAYS(a, a)), NUMBERS(0, 1, 2, 3, 0, 1, 2, 3));
        assert_numbers(ga_stack(GA_ARRAYS(a, a), GA_AXIS(-1)), NUMBERS(0, 0, 1, 1, 2, 2, 3, 3));
        assert_numbers(ga_append(a, b), NUMBERS(0, 1, 2, 3, 10, 11, 12, 13, 14, 15));
        assert_numbers(ga_concat(GA_ARRAYS(a, b), GA_AXIS()),
                       NUMBERS(0, 1, 2, 3, 10, 11, 12, 13, 14, 15));
        gpuarray *wide = ga_concatenate(GA_ARRAYS(a, ga_ones(GA_FLOAT32, GA_SHAPE(1, 2))));
        assert_int_equal(ga_dtype_of(wide), GA_FLOAT64);
        gpuarray *line = counting(GA_SHAPE(6));
        assert_ptr_equal(
            ga_concatenate(GA_ARRAYS(ga_slice(line, "3:"), ga_slice(line, ":3")), .out = line),
            line);
        assert_numbers(line, NUMBERS(3, 4, 5, 0, 1, 2));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void elements_move(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3));
        assert_numbers(ga_roll(x, 1), NUMBERS(5, 0, 1, 2, 3, 4));
        assert_numbers(ga_roll(x, -1, GA_AXIS(1)), NUMBERS(1, 2, 0, 4, 5, 3));
        assert_numbers(ga_repeat(x, 2, GA_AXIS(0)), NUMBERS(0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5));
        assert_numbers(ga_repeat(ga_slice(x, "0"), INT64S(2, 0, 1)), NUMBERS(0, 0, 2));
        assert_numbers(ga_tile(ga_slice(x, "0"), GA_SHAPE(2)), NUMBERS(0, 1, 2, 0, 1, 2));
        assert_numbers(ga_pad(ga_slice(x, "0"), GA_SHAPE(1, 2), .value = GA_V(9)),
                       NUMBERS(9, 0, 1, 2, 9, 9));
        assert_numbers(ga_pad(ga_slice(x, "0"), GA_SHAPE(2), .mode = "reflect"),
                       NUMBERS(2, 1, 0, 1, 2, 1, 0));
        assert_numbers(ga_triu(x, 1), NUMBERS(0, 1, 2, 0, 0, 5));
        assert_numbers(ga_diff(x, 1, GA_AXIS(0)), NUMBERS(3, 3, 3));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void indices_read_and_write(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4)), *rows = INT64S(2, 0, -1);
        assert_numbers(ga_take(x, rows, GA_AXIS(1)), NUMBERS(2, 0, 3, 6, 4, 7, 10, 8, 11));
        assert_numbers(ga_take(x, INT64S(-1, 13), .mode = GA_WRAP), NUMBERS(11, 1));
        assert_numbers(ga_index(x, rows, 1), NUMBERS(9, 1, 9));
        assert_numbers(ga_index(x, GA_RANGE(0, 2, 1), rows), NUMBERS(2, 0, 3, 6, 4, 7));
        assert_numbers(ga_index(x, ga_greater(x, 8)), NUMBERS(9, 10, 11));
        assert_int_equal(ga_index_set(x, counting(GA_SHAPE(3)), INT64S(0, 0, 0), INT64S(1, 1, 1)),
                         GA_OK);
        assert_numbers(ga_slice(x, "0"), NUMBERS(0, 2, 2, 3));
        assert_int_equal(ga_put(x, INT64S(0, 5, 0), INT64S(7, 8, 9)), GA_OK);
        assert_numbers(ga_slice(x, ":2"), NUMBERS(9, 2, 2, 3, 4, 8, 6, 7));
        assert_int_equal(ga_index_set(x, -1, ga_greater(x, 7)), GA_OK);
        assert_numbers(ga_slice(x, "1:"), NUMBERS(4, -1, 6, 7, -1, -1, -1, -1));
        gpuarray *order = INT64S(3, 2, 1, 0);
        assert_int_equal(ga_put_along_axis(x, ga_reshape(order, GA_SHAPE(1, 4)), 5, GA_AXIS(1)),
                         GA_OK);
        assert_true(ga_item_bool(ga_all(ga_equal(x, 5))));
        assert_numbers(
            ga_choose(INT64S(1, 0), GA_ARRAYS(ga_slice(x, "0,0"), counting(GA_SHAPE(2)))),
            NUMBERS(0, 5));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Of equal indices the last one wins, in a table of all keys and in a sparse one. */
static void the_last_of_equal_indices_wins(void **state)
{
    (void)state;
    enum { COUNT = 20000, MOST = 1 << 20 };
    static int64_t index[COUNT], wanted[MOST];
    static int64_t got[MOST];
    uint64_t seed = 19;
    const int64_t sizes[] = {300, MOST};
    for (int how = 0; how < 2; how++)
        GA_SCOPE {
            memset(wanted, 0, sizeof wanted);
            for (int64_t k = 0; k < COUNT; k++) {
                const int64_t place = random_below(&seed, 300);
                index[k] = k % 2 ? place : place - sizes[how];
                wanted[place] = k;
            }
            gpuarray *x = ga_zeros(GA_INT64, GA_SHAPE(sizes[how]));
            assert_int_equal(ga_index_set(x, ga_arange(GA_INT64, 0, COUNT, 1),
                                          ga_from_host(index, GA_INT64, GA_SHAPE(COUNT))),
                             GA_OK);
            assert_int_equal(ga_to_host(x, got, ga_nbytes(x)), GA_OK);
            assert_memory_equal(got, wanted, ga_nbytes(x));
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Errors ---- */

/* On the host the call raises; on a GPU the next wait. */
static void expect_index_error(const gpuarray *made, const char *text)
{
    if (on_host())
        assert_null(made);
    else
        assert_int_equal(ga_synchronize(), GA_ERR_INDEX);
    assert_error(GA_ERR_INDEX, text);
}

static void indices_out_of_range_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4)), *bad = INT64S(0, 3, 5);
        expect_index_error(ga_take(x, bad, GA_AXIS(0)),
                           on_host() ? "take: index 3 at position 1 is out of range for axis 0 of "
                                       "length 3"
                                     : "is out of range for axis 0 of length 3");
        expect_index_error(ga_index(x, GA_ALL, INT64S(1, -5)),
                           "index: index -5 at position 1 is out of range for axis 1 of length 4");
        expect_index_error(ga_take(x, INT64S(INT64_MIN)), "take: index -9223372036854775808 at");
        gpuarray *two = counting(GA_SHAPE(2));
        expect_index_error(ga_choose(INT64S(0, 7), GA_ARRAYS(two, two)),
                           "choose: index 7 at position 1 is out of range for axis 0 of length 2");
        if (on_host()) { /* nothing is written */
            assert_int_equal(ga_put(x, INT64S(0, 12), INT64S(-1, -1)), GA_ERR_INDEX);
            assert_error(GA_ERR_INDEX, "put: index 12 at position 1 is out of range for axis 0");
            assert_int_equal(ga_index_set(x, -1, bad), GA_ERR_INDEX);
            assert_error(GA_ERR_INDEX, "index_set: index 3 at position 1");
            assert_numbers(x, NUMBERS(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
        }
    }
}

/* In a graph the wait after a run raises. */
static void graphs_report_later(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(4)), *k = INT64S(1, 9);
        assert_int_equal(ga_graph_begin(), GA_OK);
        gpuarray *taken = ga_take(x, k);
        ga_graph *graph = ga_graph_end();
        assert_non_null(taken);
        assert_non_null(graph);
        assert_int_equal(ga_graph_launch(graph), GA_OK);
        assert_int_equal(ga_synchronize(), GA_ERR_INDEX);
        assert_error(GA_ERR_INDEX, "take: index 9 at position 1 is out of range for axis 0");
        assert_int_equal(ga_synchronize(), GA_OK); /* once */
        ga_graph_free(graph);
    }
}

static void bad_calls_are_errors(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *f = ga_ones(GA_FLOAT32, GA_SHAPE(2)), *out[9];
        assert_null(ga_take(x, f));
        assert_error(GA_ERR_DTYPE, "take: the indices are float32, expected integers");
        assert_null(ga_index(x, f));
        assert_error(GA_ERR_DTYPE, "index: the indices are float32, expected integers");
        assert_null(ga_index(x, ga_ones(GA_BOOL, GA_SHAPE(3))));
        assert_error(GA_ERR_INDEX,
                     "index: a mask of shape (3,) does not fit shape (2, 3) from axis 0 on");
        assert_null(ga_index(x, INT64S(0, 1), INT64S(0, 1, 1)));
        assert_error(GA_ERR_SHAPE, "index: indices of shapes (2,) and (3,)");
        assert_null(ga_index(x, 0, 0, INT64S(0)));
        assert_error(GA_ERR_INDEX, "index: too many indices: 3 for shape (2, 3)");
        assert_int_equal(ga_index_set(ga_broadcast_to(x, GA_SHAPE(4, 2, 3)), 1, INT64S(0)),
                         GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "index_set: ");
        assert_int_equal(ga_index_set(x, ga_ones(GA_INT32, GA_SHAPE(5)), INT64S(0, 1)),
                         GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "index_set: a value of shape (5,) does not broadcast");
        assert_int_equal(ga_index_set(x, counting(GA_SHAPE(2)), ga_greater(x, 2)), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "index_set: the value has 2 elements, the mask chooses 3");
        assert_null(ga_concatenate(GA_ARRAYS(x, f)));
        assert_error(GA_ERR_SHAPE, "concatenate: array 2 has shape (2,), array 1 has (2, 3)");
        assert_null(ga_concatenate(GA_ARRAYS(x, x), GA_AXIS(2)));
        assert_error(GA_ERR_INVALID, "concatenate: axis 2 is out of range");
        assert_null(ga_stack(GA_ARRAYS(x, (gpuarray *)NULL)));
        assert_error(GA_ERR_INVALID, "stack: array 2 is NULL");
        assert_null(ga_concatenate(0, NULL));
        assert_error(GA_ERR_INVALID, "concatenate: 0 arrays, expected at least 1");
        assert_null(ga_pad(x, GA_SHAPE(1, 2, 3)));
        assert_error(GA_ERR_SHAPE, "pad: 3 widths, not 1, 2 or two for each of 2 dimensions");
        assert_null(ga_pad(x, GA_SHAPE(1), .mode = "middle"));
        assert_error(GA_ERR_INVALID, "pad: unknown mode \"middle\"");
        assert_null(ga_pad(ga_slice(x, ":0"), GA_SHAPE(1), .mode = "edge"));
        assert_error(GA_ERR_SHAPE, "pad: axis 0 has no elements for mode \"edge\"");
        assert_null(ga_repeat(x, -1));
        assert_error(GA_ERR_INVALID, "repeat: the count -1 is negative");
        assert_int_equal(ga_split(x, 2, 1, out), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "split: axis 1 of length 3 does not divide into 2 parts");
        assert_null(ga_tril(ga_slice(x, "0,0"), 0));
        assert_error(GA_ERR_SHAPE, "tril: an array of 0 dimensions has no triangle");
    }
}

/* ---- Launches ---- */

static void joins_are_one_launch(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(5, 7));
        int before = simulated.launches;
        assert_non_null(
            ga_concatenate(GA_ARRAYS(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x)));
        assert_int_equal(simulated.launches - before, 1);
        before = simulated.launches;
        assert_non_null(ga_stack(GA_ARRAYS(x, x, x, x), GA_AXIS(2)));
        assert_non_null(ga_roll_axes(x, 2, (const int64_t[]){1, 2}, (const int[]){0, 1}));
        assert_non_null(ga_pad(x, GA_SHAPE(1, 2), .mode = "wrap"));
        assert_non_null(ga_tile(x, GA_SHAPE(2, 2)));
        assert_int_equal(simulated.launches - before, 4);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Allocations ---- */

static bool index_and_choose(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(6, 5)),
                 *k = x ? ga_ones(GA_INT64, GA_SHAPE(3)) : NULL,
                 *mask = k ? ga_ones(GA_BOOL, GA_SHAPE(6)) : NULL;
        done = mask && ga_take(x, k, GA_AXIS(0)) && ga_index(x, k, GA_ALL) &&
               ga_index(x, mask, 0) && ga_choose(k, GA_ARRAYS(k, k));
    }
    return done;
}

static bool write_by_indices(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(6, 5)),
                 *k = x ? ga_ones(GA_INT64, GA_SHAPE(3)) : NULL,
                 *mask = k ? ga_ones(GA_BOOL, GA_SHAPE(6)) : NULL,
                 *v = mask ? ga_ones(GA_INT8, GA_SHAPE(3)) : NULL;
        done = v && ga_index_set(x, v, k, k) == GA_OK && ga_index_set(x, 2, mask) == GA_OK &&
               ga_put(x, k, v) == GA_OK && ga_place(x, x, v) == GA_OK;
    }
    return done;
}

static bool join_and_move(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *parts[3], *x = ga_ones(GA_INT32, GA_SHAPE(6, 5)),
                            *k = x ? ga_ones(GA_INT64, GA_SHAPE(3)) : NULL;
        done = k && ga_concatenate(GA_ARRAYS(x, x)) && ga_stack(GA_ARRAYS(x, x)) && ga_roll(x, 1) &&
               ga_repeat(k, k) && ga_diag(k, 1) && ga_trace(x, 0, 0, 1) && ga_rot90(x, 1) &&
               ga_diff(x, 2) && ga_split(x, 3, 0, parts) == GA_OK &&
               ga_meshgrid(GA_ARRAYS(k, k), NULL, parts) == GA_OK;
    }
    return done;
}

static bool pad_all_sides(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(6, 5));
        done = x && ga_pad(x, GA_SHAPE(1)) && ga_pad(x, GA_SHAPE(1), .mode = "maximum");
    }
    return done;
}

static void allocations_may_fail(void **state)
{
    static bool (*const calls[])(void) = {index_and_choose, write_by_indices, join_and_move,
                                          pad_all_sides};
    (void)state;
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        assert_true(calls[k]());
        survive_failures(calls[k]);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_join),
        cmocka_unit_test(elements_move),
        cmocka_unit_test(indices_read_and_write),
        cmocka_unit_test(the_last_of_equal_indices_wins),
        cmocka_unit_test(indices_out_of_range_are_errors),
        cmocka_unit_test(graphs_report_later),
        cmocka_unit_test(bad_calls_are_errors),
        cmocka_unit_test(allocations_may_fail),
        simulated_test(joins_are_one_launch),
        simulated_test(arrays_join),
        simulated_test(elements_move),
        simulated_test(indices_read_and_write),
        simulated_test(the_last_of_equal_indices_wins),
        simulated_test(indices_out_of_range_are_errors),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
