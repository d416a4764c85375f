/* x[parts] by more arrays of indices than a kernel has operands for, by masks of as many axes, and
 * by as many parts as a call takes. */
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

/* An array of 12 axes, of 2 elements but for one of 3, and some tuples that name its elements. */
enum { AXES = 12, THREE = 4, SIZE = 3 << 11, TUPLES = 500 };

static const int64_t shape[AXES] = {2, 2, 2, 2, 3, 2, 2, 2, 2, 2, 2, 2};

/* Tuples as they are, and the element of a C-ordered array that each names. */
typedef struct tuples {
    int64_t index[AXES][TUPLES], element[TUPLES];
} tuples;

/* Random tuples. Every second index counts from the end, and tuples repeat. */
static void draw_tuples(tuples *t, uint64_t seed)
{
    for (int k = 0; k < TUPLES; k++) {
        t->element[k] = 0;
        for (int axis = 0; axis < AXES; axis++) {
            const int64_t place =
                axis < 6 ? (int64_t)random_below(&seed, (uint64_t)shape[axis]) : 1;
            t->element[k] = t->element[k] * shape[axis] + place;
            t->index[axis][k] = (k + axis) % 2 ? place : place - shape[axis];
        }
    }
}

/* The parts: indices of several dtypes. That of axis 11 is a single number for all. */
static void make_parts(const tuples *t, ga_part *parts)
{
    static const ga_dtype dtypes[] = {GA_INT64, GA_INT8, GA_INT16, GA_INT32};
    for (int axis = 0; axis < AXES; axis++)
        parts[axis] = ga_part_of_array(
            ga_astype(ga_from_host(t->index[axis], GA_INT64, GA_SHAPE(TUPLES)), dtypes[axis % 4]));
    parts[AXES - 1] = ga_part_of_index(1);
}

/* An array of this shape whose element k in C order is k: as it is, or with axes that lie in
 * another order in memory and run backwards. */
static gpuarray *numbered(ga_dtype dtype, bool plain)
{
    gpuarray *x = ga_astype(counting(AXES, shape), dtype);
    if (plain)
        return x;
    gpuarray *other = ga_flip(ga_swapaxes(ga_copy(ga_swapaxes(x, 0, THREE)), 0, THREE), THREE);
    ga_assign(other, x);
    return other;
}

static void expect_elements(const gpuarray *x, const int64_t *wanted)
{
    int64_t found[SIZE];
    assert_int_equal(ga_size(x), SIZE);
    assert_int_equal(ga_to_host(ga_astype(x, GA_INT64), found, sizeof found), GA_OK);
    for (int k = 0; k < SIZE; k++)
        if (found[k] != wanted[k])
            fail_msg("element %d: wanted %lld, found %lld", k, (long long)wanted[k],
                     (long long)found[k]);
}

static void twelve_arrays_read(void **state)
{
    static tuples t;
    int64_t found[TUPLES];
    ga_part parts[AXES];
    (void)state;
    draw_tuples(&t, 1);
    for (int plain = 0; plain < 2; plain++)
        GA_SCOPE {
            make_parts(&t, parts);
            gpuarray *picked = ga_index_parts(numbered(GA_INT64, plain), AXES, parts);
            assert_shape(picked, GA_SHAPE(TUPLES));
            assert_int_equal(ga_to_host(picked, found, sizeof found), GA_OK);
            assert_memory_equal(found, t.element, sizeof found);
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* The last of equal tuples wins. */
static void twelve_arrays_write(void **state)
{
    static tuples t;
    int64_t wanted[SIZE];
    ga_part parts[AXES];
    (void)state;
    draw_tuples(&t, 2);
    for (int plain = 0; plain < 2; plain++)
        GA_SCOPE {
            gpuarray *x = numbered(GA_INT16, plain);
            make_parts(&t, parts);
            for (int k = 0; k < SIZE; k++)
                wanted[k] = k;
            for (int k = 0; k < TUPLES; k++)
                wanted[t.element[k]] = -k;
            gpuarray *v = ga_negative(counting(GA_SHAPE(TUPLES)));
            assert_int_equal(ga_index_set_parts(x, ga_value_array(v), AXES, parts), GA_OK);
            expect_elements(x, wanted);
        }
    assert_int_equal(ga_error(), GA_OK);
}

static void expect_sums(ga_dtype dtype, bool plain)
{
    static tuples t;
    int64_t wanted[SIZE];
    ga_part parts[AXES];
    draw_tuples(&t, 3);
    GA_SCOPE {
        gpuarray *x = numbered(dtype, plain);
        make_parts(&t, parts);
        for (int k = 0; k < SIZE; k++)
            wanted[k] = k;
        for (int k = 0; k < TUPLES; k++)
            wanted[t.element[k]] += k % 50;
        gpuarray *v = ga_astype(ga_remainder(counting(GA_SHAPE(TUPLES)), 50), dtype);
        assert_int_equal(ga_index_add_with(.x = x, .value = GA_V(v), .n = AXES, .parts = parts),
                         GA_OK);
        expect_elements(x, wanted);
    }
}

/* Integers by atomics, floats exactly, doubles in order; and, on the host, as NumPy adds. */
static void twelve_arrays_add(void **state)
{
    (void)state;
    for (int plain = 0; plain < 2; plain++) {
        expect_sums(GA_INT64, plain);
        expect_sums(GA_FLOAT32, plain);
        expect_sums(GA_FLOAT64, plain);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Seven arrays are those of one kernel, and eight become places. */
static void seven_arrays_and_eight(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(1, 2, 1, 2, 1, 2, 1, 2, 2)),
                 *i = ga_arange(GA_INT8, 0, 2, 1), *o = ga_zeros(GA_UINT8, GA_SHAPE0);
        assert_numbers(ga_index(x, o, i, o, i, o, i, o), NUMBERS(0, 1, 2, 3, 28, 29, 30, 31));
        assert_numbers(ga_index(x, o, i, o, i, o, i, o, i), NUMBERS(0, 1, 30, 31));
        assert_numbers(ga_index(x, o, i, o, i, o, i, o, i, ga_expand_dims(i, 1)),
                       NUMBERS(0, 30, 1, 31));
        gpuarray *y = ga_astype(x, GA_FLOAT32);
        assert_int_equal(ga_index_add(y, 100, o, i, o, i, o, i, o), GA_OK);
        assert_int_equal(ga_index_add(y, 100, o, i, o, i, o, i, o, i), GA_OK);
        assert_numbers(ga_astype(ga_index(y, 0, 1, 0, 1, 0, 1), GA_INT32),
                       NUMBERS(128, 129, 230, 231));
        assert_int_equal(ga_index_set(x, 7, o, i, o, GA_ALL, o, i, o, i, o, GA_NEWAXIS), GA_OK);
        assert_numbers(ga_index(x, 0, 1, 0, 0, 0, 1, 0), NUMBERS(20, 21, 7, 23));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Masks ---- */

enum { MASKED = 10 };

/* A mask of ten axes, true where the element's number divides by 37. */
static gpuarray *tenth_mask(void)
{
    return ga_equal(ga_remainder(counting(MASKED, shape), 37), 0);
}

/* Element k in C order of the last two axes' 4. */
static void masks_of_ten_axes_read(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(AXES, shape), *mask = tenth_mask(),
                 *chosen = ga_multiply(ga_arange(GA_INT32, 0, SIZE / 4 / 37 + 1, 1), 4 * 37);
        assert_true(ga_array_equal(ga_index(x, mask, 1, 0), ga_add(chosen, 2)));
        assert_true(
            ga_array_equal(ga_index(x, mask, GA_ELLIPSIS, 1),
                           ga_add(ga_expand_dims(chosen, 1),
                                  ga_from_host(((int32_t[]){1, 3}), GA_INT32, GA_SHAPE(2)))));
        gpuarray *last = ga_zeros(GA_INT32, GA_SHAPE(SIZE / 4 / 37 + 1));
        assert_true(ga_array_equal(ga_index(x, mask, last, ga_add(last, 1)), ga_add(chosen, 1)));
        assert_int_equal(ga_size(ga_index(x, ga_zeros(GA_BOOL, MASKED, shape))), 0);
        gpuarray *part = ga_index(x, GA_ELLIPSIS, 1, 1);
        assert_true(ga_array_equal(ga_index(part, mask), ga_add(chosen, 3)));
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void masks_of_ten_axes_write(void **state)
{
    int64_t wanted[SIZE];
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_astype(counting(AXES, shape), GA_FLOAT32), *mask = tenth_mask();
        for (int k = 0; k < SIZE; k++)
            wanted[k] = k / 4 % 37 ? k : k % 4 == 3 ? -1 : k + 10 * (k % 2) + 100;
        assert_int_equal(ga_index_add(x, 10, mask, GA_ALL, 1), GA_OK);
        assert_int_equal(ga_index_add(x, ga_full(GA_INT8, GA_SHAPE(2, 2), 100), mask), GA_OK);
        assert_int_equal(ga_index_set(x, -1, mask, 1, 1), GA_OK);
        expect_elements(x, wanted);
        gpuarray *whole = ga_index(x, GA_ELLIPSIS, 0, 0);
        assert_int_equal(ga_index_multiply(whole, 0, mask), GA_OK);
        assert_int_equal(ga_index_maximum(whole, 5, mask), GA_OK);
        for (int k = 0; k < SIZE; k += 4 * 37)
            wanted[k] = 5;
        expect_elements(x, wanted);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Limits ---- */

/* 32 arrays of indices in one call, by the macro too; 33 axes are too many for x. */
static void as_many_arrays_as_axes(void **state)
{
    int64_t ones[GA_MAX_NDIM];
    ga_part parts[GA_MAX_NDIM + 1];
    (void)state;
    GA_SCOPE {
        gpuarray *k = ga_from_host(((int64_t[]){0, -1}), GA_INT64, GA_SHAPE(2));
        for (int axis = 0; axis < GA_MAX_NDIM; axis++)
            ones[axis] = axis % 7 == 3 ? 2 : 1;
        for (int axis = 0; axis <= GA_MAX_NDIM; axis++)
            parts[axis] = ga_part_of_array(k);
        gpuarray *x = counting(GA_MAX_NDIM, ones);
        assert_numbers(ga_index_parts(x, GA_MAX_NDIM, parts), NUMBERS(0, 31));
        assert_numbers(ga_index(x, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k,
                                k, k, k, k, k, k, k, k, k, k),
                       NUMBERS(0, 31));
        assert_int_equal(ga_index_add(x, 1, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k, k),
                         GA_OK);
        assert_numbers(ga_index_parts(x, GA_MAX_NDIM, parts), NUMBERS(1, 32));
        assert_null(ga_index_parts(x, GA_MAX_NDIM + 1, parts));
        assert_error(GA_ERR_INDEX, "index: too many indices: 33 for shape (1, 1, 1, 2, ");
    }
}

/* A truth takes no axis, but it is one of the 32 of what is indexed. */
static void parts_are_limited(void **state)
{
    ga_part parts[66];
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3)), *yes = ga_ones(GA_BOOL, GA_SHAPE0);
        for (int k = 0; k < 66; k++)
            parts[k] = ga_part_of_array(yes);
        assert_numbers(ga_index_parts(x, 31, parts), NUMBERS(0, 1, 2));
        assert_null(ga_index_parts(x, 32, parts));
        assert_error(GA_ERR_INDEX, "index: the result has more than 32 dimensions");
        assert_null(ga_index_parts(x, 66, parts));
        assert_error(GA_ERR_INDEX, "index: more than 65 parts");
        for (int k = 0; k < 66; k++)
            parts[k] = ga_part_of_range(GA_NEWAXIS);
        assert_shape(ga_index_parts(counting(GA_SHAPE0), 2, parts), GA_SHAPE(1, 1));
        assert_null(ga_index_parts(x, 66, parts));
        assert_error(GA_ERR_INDEX, "index: more than 65 parts");
    }
}

/* The error names the index, its tuple and its axis. On the host nothing is written. */
static void the_wrong_one_of_many_is_named(void **state)
{
    static tuples t;
    ga_part parts[AXES];
    (void)state;
    draw_tuples(&t, 4);
    t.index[10][17] = 2;
    GA_SCOPE {
        gpuarray *x = numbered(GA_INT64, true);
        make_parts(&t, parts);
        gpuarray *found = ga_index_parts(x, AXES, parts);
        assert_true(on_host() == !found);
        if (found)
            assert_int_equal(ga_synchronize(), GA_ERR_INDEX);
        assert_error(GA_ERR_INDEX,
                     "index: index 2 at position 17 is out of range for axis 10 of length 2");
        ga_status status = ga_index_set_parts(x, ga_value_signed(GA_INT64, -5), AXES, parts);
        if (status == GA_OK)
            status = ga_synchronize();
        assert_int_equal(status, GA_ERR_INDEX);
        assert_error(GA_ERR_INDEX, "index_set: index 2 at position 17 is out of range for axis 10");
        if (on_host())
            assert_true(ga_array_equal(x, counting(AXES, shape)));
        else
            assert_int_equal(ga_item_int64(ga_min(x)), -5);
    }
}

/* On a GPU a write skips the wrong tuple and no other. */
static void wrong_tuples_write_nothing(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(1, 1, 1, 1, 1, 1, 1, 3)), *o = ga_zeros(GA_INT8, GA_SHAPE0),
                 *k = ga_from_host(((int64_t[]){0, 3, -4}), GA_INT64, GA_SHAPE(3));
        ga_status status = ga_index_set(x, 9, o, o, o, o, o, o, o, k);
        assert_int_equal(on_host() ? status : ga_synchronize(), GA_ERR_INDEX);
        assert_error(GA_ERR_INDEX, "is out of range for axis 7 of length 3");
        assert_numbers(x, NUMBERS(on_host() ? 0 : 9, 1, 2));
    }
}

static void arrays_without_elements(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *none = ga_zeros(GA_INT32, GA_SHAPE(0)), *one = ga_zeros(GA_INT32, GA_SHAPE(1)),
                 *x = counting(AXES, shape),
                 *empty = ga_zeros(GA_INT32, GA_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 0)),
                 *wide = ga_zeros(GA_INT32, GA_SHAPE(1, 1, 1, 1, 1, 1, 1, 1, 0));
        gpuarray *got = ga_index(x, none, none, none, none, none, none, none, none, none);
        assert_shape(got, GA_SHAPE(0, 2, 2, 2));
        assert_int_equal(
            ga_index_set(x, 1, none, none, none, none, none, none, none, none, none, none), GA_OK);
        assert_true(ga_array_equal(x, counting(AXES, shape)));
        assert_shape(ga_index(empty, none, none, none, none, none, none, none, none, none),
                     GA_SHAPE(0));
        assert_null(ga_index(empty, one, one, one, one, one, one, one, one, one));
        assert_error(GA_ERR_INDEX, "index: axis 8 has no elements");
        assert_shape(ga_index(wide, one, one, one, one, one, one, one, one), GA_SHAPE(1, 0));
        assert_int_equal(ga_index_add(wide, 1, one, one, one, one, one, one, one, one), GA_OK);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Failures ---- */

static bool read_write_and_add(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(1, 1, 1, 1, 1, 1, 1, 2)),
                 *k = x ? ga_zeros(GA_INT64, GA_SHAPE(3)) : NULL;
        done = k && ga_index(x, k, k, k, k, k, k, k, k) &&
               ga_index_set(x, k, k, k, k, k, k, k, k, k) == GA_OK &&
               ga_index_add(x, k, k, k, k, k, k, k, k, k) == GA_OK;
    }
    return done;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    survive_failures(read_write_and_add);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twelve_arrays_read),
        cmocka_unit_test(twelve_arrays_write),
        cmocka_unit_test(twelve_arrays_add),
        cmocka_unit_test(seven_arrays_and_eight),
        cmocka_unit_test(masks_of_ten_axes_read),
        cmocka_unit_test(masks_of_ten_axes_write),
        cmocka_unit_test(as_many_arrays_as_axes),
        cmocka_unit_test(parts_are_limited),
        cmocka_unit_test(the_wrong_one_of_many_is_named),
        cmocka_unit_test(wrong_tuples_write_nothing),
        cmocka_unit_test(arrays_without_elements),
        cmocka_unit_test(allocations_may_fail),
        simulated_test(twelve_arrays_read),
        simulated_test(twelve_arrays_write),
        simulated_test(twelve_arrays_add),
        simulated_test(seven_arrays_and_eight),
        simulated_test(masks_of_ten_axes_write),
        simulated_test(the_wrong_one_of_many_is_named),
        simulated_test(wrong_tuples_write_nothing),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
