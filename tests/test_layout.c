/* Tests of shapes, strides, broadcasting, extents and the collapsing of loop nests. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "model/layout.h"
#include "run.h"

enum { TRIALS = 4000, MAX_POINTS = 4096, MAX_OPERANDS = 3 };

static uint64_t random_state = 7;

static int64_t below(int64_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (int64_t)((random_state >> 33) % (uint64_t)n);
}

/* ---- Shapes ---- */

static void sizes_multiply_and_overflow(void **state)
{
    (void)state;
    const int64_t huge[3] = {INT64_C(1) << 32, INT64_C(1) << 32, 0};

    assert_int_equal(ga__shape_size(0, NULL), 1);
    assert_int_equal(ga__shape_size(GA_SHAPE(3, 4)), 12);
    assert_int_equal(ga__shape_size(GA_SHAPE(3, 0, 4)), 0);
    assert_int_equal(ga__shape_size(GA_SHAPE(3, -1)), -1);
    assert_int_equal(ga__shape_size(GA_SHAPE(0, -1)), -1);
    assert_int_equal(ga__shape_size(2, huge), -1);
    assert_int_equal(ga__shape_size(3, huge), -1);
    assert_int_equal(ga__shape_size(2, huge + 1), 0);
    assert_int_equal(ga__shape_size(GA_SHAPE(INT64_MAX, 1)), INT64_MAX);
}

static void contiguous_strides_are_known(void **state)
{
    (void)state;
    const int64_t shape[4] = {2, 1, 3, 4};
    int64_t strides[4];

    ga__contiguous_strides(4, shape, 8, strides);
    assert_true(strides[0] == 96 && strides[1] == 96 && strides[2] == 32 && strides[3] == 8);
    assert_true(ga__is_contiguous(4, shape, strides, 8));
    strides[1] = -5; /* never followed */
    assert_true(ga__is_contiguous(4, shape, strides, 8));
    assert_false(ga__is_contiguous(4, shape, strides, 4));
    strides[0] = 104;
    assert_false(ga__is_contiguous(4, shape, strides, 8));
    assert_true(ga__is_contiguous(GA_SHAPE(3, 0), strides, 8));
    assert_true(ga__is_contiguous(0, NULL, NULL, 8));
    assert_true(ga__is_contiguous(GA_SHAPE(1), strides, 8));
    ga__contiguous_strides(GA_SHAPE(3, 0, 5), 8, strides);
    assert_true(strides[0] == 0 && strides[1] == 0 && strides[2] == 0);
    ga__contiguous_strides(GA_SHAPE(INT64_MAX, INT64_MAX, 0), 8, strides);
    assert_true(ga__same_shape(0, NULL, 0, NULL));
    assert_false(ga__same_shape(GA_SHAPE(1), 0, NULL));
    assert_true(ga__same_shape(4, shape, 4, shape));
    assert_false(ga__same_shape(GA_SHAPE(2, 3), GA_SHAPE(2, 4)));
}

static void check_broadcast(int na, const int64_t *a, int nb, const int64_t *b, int n,
                            const int64_t *want)
{
    int64_t shape[GA_MAX_NDIM] = {0}, before[GA_MAX_NDIM];
    int ndim = na;

    memcpy(shape, a, (size_t)na * sizeof *a);
    memcpy(before, shape, sizeof shape);
    const bool does = ga__broadcast_shape(&ndim, shape, nb, b);
    assert_int_equal(does, want != NULL);
    assert_true(ga__same_shape(ndim, shape, does ? n : na, does ? want : before));
    assert_int_equal(ga__broadcasts_to(na, a, nb, b), does && ga__same_shape(n, want, nb, b));
    assert_int_equal(ga__broadcasts_to(nb, b, na, a), does && ga__same_shape(n, want, na, a));
}

static void shapes_broadcast_as_numpys(void **state)
{
    (void)state;
    const int64_t zero[1] = {0};
    int64_t strides[3];

    check_broadcast(GA_SHAPE(3, 1), GA_SHAPE(4), GA_SHAPE(3, 4));
    check_broadcast(GA_SHAPE(4), GA_SHAPE(3, 1), GA_SHAPE(3, 4));
    check_broadcast(0, zero, GA_SHAPE(2, 0), GA_SHAPE(2, 0));
    check_broadcast(GA_SHAPE(1), GA_SHAPE(0), GA_SHAPE(0));
    check_broadcast(GA_SHAPE(0), GA_SHAPE(2), 0, NULL);
    check_broadcast(GA_SHAPE(3, 4), GA_SHAPE(5), 0, NULL);
    check_broadcast(GA_SHAPE(1, 4), GA_SHAPE(2, 4), GA_SHAPE(2, 4));
    check_broadcast(GA_SHAPE(4), GA_SHAPE(1, 4), GA_SHAPE(1, 4));
    check_broadcast(GA_SHAPE(2, 3), GA_SHAPE(2, 3), GA_SHAPE(2, 3));
    ga__broadcast_strides(GA_SHAPE(2, 3, 4), GA_SHAPE(3, 1), (const int64_t[]){40, 8}, strides);
    assert_true(strides[0] == 0 && strides[1] == 40 && strides[2] == 0);
    ga__broadcast_strides(GA_SHAPE(2, 3, 4), GA_SHAPE(2, 3, 4), (const int64_t[]){-9, 8, 7},
                          strides);
    assert_true(strides[0] == -9 && strides[1] == 8 && strides[2] == 7);
}

static void extents_cover_every_element(void **state)
{
    (void)state;
    int64_t low, high;

    ga__extent(GA_SHAPE(3, 4), (const int64_t[]){32, -8}, 8, &low, &high);
    assert_true(low == -24 && high == 72);
    ga__extent(0, NULL, NULL, 4, &low, &high);
    assert_true(low == 0 && high == 4);
    ga__extent(GA_SHAPE(3, 0), (const int64_t[]){32, 8}, 8, &low, &high);
    assert_true(low == 0 && high == 0);
    ga__extent(GA_SHAPE(5), (const int64_t[]){0}, 2, &low, &high);
    assert_true(low == 0 && high == 2);
}

static void shapes_have_texts_and_axes(void **state)
{
    (void)state;
    int64_t longest[GA_MAX_NDIM];
    const char *kept = ga__shape_text(GA_SHAPE(3, 4));
    int axis = 77;

    assert_string_equal(ga__shape_text(GA_SHAPE(5)), "(5,)");
    assert_string_equal(ga__shape_text(0, NULL), "()");
    assert_string_equal(ga__shape_text(GA_SHAPE(-1, 0, 2)), "(-1, 0, 2)");
    for (int k = 0; k < GA_MAX_NDIM; k++)
        longest[k] = INT64_MIN;
    assert_int_equal(strlen(ga__shape_text(GA_MAX_NDIM, longest)), 22 * GA_MAX_NDIM);
    assert_string_equal(kept, "(3, 4)");

    assert_int_equal(ga__check_axis("sum", -1, 3, &axis), GA_OK);
    assert_int_equal(axis, 2);
    assert_int_equal(ga__check_axis("sum", 3, 3, &axis), GA_ERR_INVALID);
    assert_int_equal(axis, 2);
    assert_string_equal(ga_error_message(), "sum: axis 3 is out of range for 3 dimensions");
    ga_clear_error();
    assert_int_equal(ga__check_axis("sum", -1, 0, &axis), GA_ERR_INVALID);
    ga_clear_error();
}

/* ---- Loop nests ---- */

typedef struct point {
    int64_t offset[MAX_OPERANDS];
} point;

/* The offsets that each step of the nest visits, in order; returns their number. */
static int64_t walk(const ga__nest *nest, point *points)
{
    int64_t index[GA_MAX_NDIM] = {0}, count = 0;
    const int64_t size = ga__shape_size(nest->ndim, nest->shape);

    for (; count < size; count++) {
        memset(&points[count], 0, sizeof *points);
        for (int k = 0; k < nest->noperands; k++) {
            for (int axis = 0; axis < nest->ndim; axis++)
                points[count].offset[k] += index[axis] * nest->strides[k][axis];
        }
        for (int axis = 0; axis < nest->ndim && ++index[axis] == nest->shape[axis]; axis++)
            index[axis] = 0;
    }
    return count;
}

static int compare_points(const void *a, const void *b)
{
    const point *p = a, *q = b;

    for (int k = 0; k < MAX_OPERANDS; k++) {
        if (p->offset[k] != q->offset[k])
            return p->offset[k] < q->offset[k] ? -1 : 1;
    }
    return 0;
}

/* Random lengths, with strides that are random or those of permuted, reversed, stepped or repeated
 * arrays. */
static void random_nest(ga__nest *nest)
{
    static const int64_t choices[] = {-16, -8, 0, 4, 8, 24, 96};

    nest->ndim = (int)below(6);
    nest->noperands = 1 + (int)below(MAX_OPERANDS);
    for (int axis = 0; axis < nest->ndim; axis++)
        nest->shape[axis] = below(20) ? 1 + below(4) : 0;
    for (int k = 0; k < nest->noperands; k++) {
        int64_t stride = 8;
        const bool reverse = below(4) == 0, wild = below(4) == 0;
        for (int j = 0; j < nest->ndim; j++) {
            const int axis = reverse ? nest->ndim - 1 - j : j;
            nest->strides[k][axis] = wild ? choices[below(7)] : below(8) ? stride : 0;
            stride *= below(8) ? nest->shape[axis] : below(2) ? -nest->shape[axis] : 24;
        }
    }
}

static void check_nest(const ga__nest *before, bool reordered)
{
    static point want[MAX_POINTS], got[MAX_POINTS];
    int64_t strides[MAX_OPERANDS][GA_MAX_NDIM];
    ga__nest after = *before;

    memcpy(strides, before->strides, sizeof strides);
    after.strides = strides;
    if (reordered)
        ga__nest_collapse(&after);
    else
        ga__nest_merge(&after);
    const int64_t count = walk(before, want);
    assert_int_equal(walk(&after, got), count);
    assert_true(after.ndim <= before->ndim && after.noperands == before->noperands);
    for (int axis = 0; axis < after.ndim; axis++)
        assert_true(after.shape[axis] != 1 && (count == 0) == (after.shape[axis] == 0));
    if (reordered) {
        qsort(want, (size_t)count, sizeof *want, compare_points);
        qsort(got, (size_t)count, sizeof *got, compare_points);
    }
    assert_memory_equal(want, got, (size_t)count * sizeof *want);

    ga__nest again = after;
    ga__nest_collapse(&again);
    if (reordered) /* there is nothing left to collapse */
        assert_int_equal(again.ndim, after.ndim);
}

static void collapsed_nests_visit_the_same_elements(void **state)
{
    (void)state;
    int64_t strides[MAX_OPERANDS][GA_MAX_NDIM] = {{0}};
    ga__nest nest = {.strides = strides};

    for (int trial = 0; trial < TRIALS; trial++) {
        random_nest(&nest);
        check_nest(&nest, true);
        check_nest(&nest, false);
    }
}

/* Any permutation of a contiguous array's axes collapses to a single run. */
static void permuted_axes_collapse_to_one(void **state)
{
    (void)state;
    for (int trial = 0; trial < 500; trial++) {
        int64_t shape[5], strides[5], nest_strides[2][GA_MAX_NDIM];
        ga__nest nest = {.ndim = 5, .noperands = 2, .strides = nest_strides};
        for (int k = 0; k < 5; k++)
            shape[k] = 1 + below(4);
        ga__contiguous_strides(5, shape, 4, strides);
        for (int k = 4; k >= 0; k--) {
            const int from = (int)below(k + 1);
            nest.shape[k] = shape[from];
            nest.strides[0][k] = strides[from];
            nest.strides[1][k] = 2 * strides[from];
            shape[from] = shape[k];
            strides[from] = strides[k];
        }
        const int64_t size = ga__shape_size(5, nest.shape);
        ga__nest_collapse(&nest);
        assert_int_equal(nest.ndim, size == 1 ? 0 : 1);
        assert_true(size == 1 ||
                    (nest.shape[0] == size && nest.strides[0][0] == 4 && nest.strides[1][0] == 8));
    }
}

static void nests_collapse_as_far_as_they_can(void **state)
{
    (void)state;
    ga__nest none = {.ndim = 0, .noperands = 2};
    ga__nest units = {.ndim = 3,
                      .noperands = 1,
                      .shape = {1, 1, 1},
                      .strides = (int64_t[][GA_MAX_NDIM]){{4, 8, 12}}};
    ga__nest empty = {.ndim = 3,
                      .noperands = 1,
                      .shape = {4, 0, 3},
                      .strides = (int64_t[][GA_MAX_NDIM]){{8, 32, 0}}};
    ga__nest transposed = {.ndim = 2,
                           .noperands = 2,
                           .shape = {3, 5},
                           .strides = (int64_t[][GA_MAX_NDIM]){{40, 8}, {8, 24}}};
    ga__nest repeated = {.ndim = 2,
                         .noperands = 2,
                         .shape = {3, 5},
                         .strides = (int64_t[][GA_MAX_NDIM]){{8, 0}, {40, 8}}};
    ga__nest reversed = {
        .ndim = 2, .noperands = 1, .shape = {5, 3}, .strides = (int64_t[][GA_MAX_NDIM]){{-8, -40}}};

    ga__nest_collapse(&none);
    assert_int_equal(none.ndim, 0);
    ga__nest_collapse(&units);
    assert_int_equal(units.ndim, 0);
    ga__nest_merge(&empty);
    assert_true(empty.ndim == 1 && empty.shape[0] == 0);
    ga__nest_collapse(&transposed);
    assert_true(transposed.ndim == 2 && transposed.shape[0] == 5 && transposed.strides[0][0] == 8 &&
                transposed.strides[1][0] == 24);
    ga__nest_collapse(&repeated);
    assert_true(repeated.shape[0] == 5 && repeated.strides[1][0] == 8);
    ga__nest_collapse(&reversed);
    assert_true(reversed.ndim == 1 && reversed.shape[0] == 15 && reversed.strides[0][0] == -8);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_multiply_and_overflow),
        cmocka_unit_test(contiguous_strides_are_known),
        cmocka_unit_test(shapes_broadcast_as_numpys),
        cmocka_unit_test(extents_cover_every_element),
        cmocka_unit_test(shapes_have_texts_and_axes),
        cmocka_unit_test(collapsed_nests_visit_the_same_elements),
        cmocka_unit_test(permuted_axes_collapse_to_one),
        cmocka_unit_test(nests_collapse_as_far_as_they_can),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
