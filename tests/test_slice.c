/* Slices against NumPy's answers, and the interfaces that NumPy does not have. */

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "files.h"
#include "run.h"

/* Parses "3,4" into numbers; "" has none. Returns the count. */
static int parse_numbers(const char *text, int64_t *numbers)
{
    int count = 0;

    while (*text) {
        char *end;
        numbers[count++] = strtoll(text, &end, 10);
        text = *end == ',' ? end + 1 : end;
    }
    return count;
}

/* Splits `line` at its next "|". */
static char *field(char **line)
{
    char *begin = *line, *bar = strchr(begin, '|');

    if (bar)
        *bar = '\0';
    *line = bar ? bar + 1 : begin + strlen(begin);
    return begin;
}

static void check_line(char *line)
{
    int64_t base[8], shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    char whole[256];

    snprintf(whole, sizeof whole, "%s", line);
    const int base_ndim = parse_numbers(field(&line), base);
    const char *text = field(&line), *answer = field(&line);
    gpuarray *x = counting(base_ndim, base);
    gpuarray *y = ga_slice(x, "%s", text);
    if (strcmp(answer, "error") == 0) {
        if (y)
            fail_msg("%s gives shape %s", whole, ga__shape_text(y->ndim, y->shape));
        assert_error(GA_ERR_INDEX, "slice: ");
    } else {
        const int ndim = parse_numbers(answer, shape);
        parse_numbers(field(&line), strides);
        if (!y || !ga__same_shape(ndim, shape, y->ndim, y->shape))
            fail_msg("%s: %s%s", whole, ga_error_message(),
                     y ? ga__shape_text(y->ndim, y->shape) : "");
        for (int i = 0; i < ndim; i++)
            if (y->size > 0 && shape[i] > 1 && strides[i] != y->strides[i])
                fail_msg("%s: stride %d is %lld", whole, i, (long long)y->strides[i]);
        if (y->size > 0)
            assert_int_equal(y->data - x->data, strtoll(line, NULL, 10));
        assert_true(y->contiguous ==
                    ga__is_contiguous(y->ndim, y->shape, y->strides, (int64_t)sizeof(int32_t)));
    }
    ga_free(y);
    ga_free(x);
}

static void slices_are_numpys(void **state)
{
    size_t nbytes;
    int count = 0;

    (void)state;
    char *text = read_bytes(golden_path("slice.txt"), &nbytes), *line = text;
    while (*line) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        check_line(line);
        line = end + 1;
        count++;
    }
    free(text);
    assert_true(count > 1000);
}

static void slices_give_their_elements(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4));
        assert_numbers(ga_slice(x, "1:, ::2"), NUMBERS(4, 6, 8, 10));
        assert_numbers(ga_slice(x, "::-1, -1"), NUMBERS(11, 7, 3));
        assert_numbers(ga_slice(x, "%d, %lld:", 1, 2LL), NUMBERS(6, 7));
        gpuarray *y = ga_slice(x, "::-1, ::-2");
        assert_numbers(y, NUMBERS(11, 9, 7, 5, 3, 1));
        assert_numbers(ga_slice(y, "::-2, 1:"), NUMBERS(1, 9));
        assert_int_equal(ga_item_int64(ga_slice(y, "-1, 0")), 3);
        assert_ptr_equal(y->buffer, x->buffer);
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void ranges_are_slices(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4));
        const ga_range part[] = {GA_FROM(1, 1), GA_RANGE(0, 3, 2)};
        assert_numbers(ga_slice_ranges(x, 2, part), NUMBERS(4, 6, 8, 10));
        const ga_range column[] = {GA_ELLIPSIS, GA_INDEX(-1), GA_NEWAXIS};
        assert_shape(ga_slice_ranges(x, 3, column), GA_SHAPE(3, 1));
        assert_numbers(ga_slice_ranges(x, 3, column), NUMBERS(3, 7, 11));
        const ga_range upto[] = {GA_UPTO(-1, 1), GA_ALL};
        assert_shape(ga_slice_ranges(x, 2, upto), GA_SHAPE(2, 4));
        assert_shape(ga_slice_ranges(x, 0, NULL), GA_SHAPE(3, 4));
        const ga_range ends[] = {GA_RANGE(INT64_MAX, INT64_MIN, INT64_MIN), GA_INDEX(0)};
        assert_numbers(ga_slice_ranges(x, 2, ends), NUMBERS(8));
        const ga_range zero[] = {GA_RANGE(0, 1, 0)};
        assert_null(ga_slice_ranges(x, 1, zero));
        assert_error(GA_ERR_INDEX, "step of axis 0 is 0");
        const ga_range kind[] = {GA_RANGE_(9, 0, 0, 0, 0, 0)};
        assert_null(ga_slice_ranges(x, 1, kind));
        assert_error(GA_ERR_INVALID, "kind 9");
        assert_null(ga_slice_ranges(x, -1, part));
        assert_error(GA_ERR_INVALID, "-1 parts");
        assert_null(ga_slice_ranges(x, 1, NULL));
        assert_error(GA_ERR_INVALID, "1 parts");
    }
}

static void errors_show_the_place(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 5));
        assert_int_equal(ga_error(), GA_OK);
        assert_null(ga_slice(x, NULL));
        assert_error(GA_ERR_INVALID, "NULL");
        assert_null(ga_slice(x, "0, 7"));
        assert_error(GA_ERR_INDEX, "slice: index 7 is out of range for axis 1 of length 5");
        assert_null(ga_slice(x, "0, -6"));
        assert_error(GA_ERR_INDEX, "slice: index -6 is out of range for axis 1 of length 5");
        assert_null(ga_slice(x, "..., 0, ..."));
        assert_error(GA_ERR_INDEX, "more than one ellipsis (2)");
        assert_null(ga_slice(x, "0, 0, 0"));
        assert_error(GA_ERR_INDEX, "3 for shape (3, 5)");
        assert_null(ga_slice(x, "1:-x"));
        assert_error(GA_ERR_INDEX, "    1:-x\n      ^");
        assert_null(ga_slice(x, ":, y"));
        assert_error(GA_ERR_INDEX,
                     "slice: expected a number, ':', '...' or None\n    :, y\n       ^");
        assert_null(ga_index(x, 7));
        assert_error(GA_ERR_INDEX, "index: index 7 is out of range for axis 0 of length 3");
        assert_int_equal(ga_index_set(x, 1, GA_ALL, 5), GA_ERR_INDEX);
        assert_error(GA_ERR_INDEX, "index_set: index 5 is out of range for axis 1 of length 5");
        assert_int_equal(ga_assign(ga_slice(x, "0"), ga_slice(x, "1, :2")), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE,
                     "assign: a value of shape (2,) does not broadcast to the view's shape (5,)");
    }
}

static void parts_are_bounded(void **state)
{
    char text[512] = "0, 0", *end = text + 4;

    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 2));
        for (int i = 0; i < GA_MAX_NDIM; i++)
            end += sprintf(end, ",None");
        assert_int_equal(ga_ndim(ga_slice(x, "%s", text)), GA_MAX_NDIM);
        sprintf(end, ",None");
        assert_null(ga_slice(x, "%s", text));
        assert_error(GA_ERR_INDEX, "more than 32 dimensions");
        for (int i = 0; i < 2 * GA_MAX_NDIM; i++)
            end += sprintf(end, ",None");
        assert_null(ga_slice(x, "%s", text)); /* also longer than the text's first buffer */
        assert_error(GA_ERR_INDEX, "more than 65 parts");
    }
}

static gpuarray *fixture;

static bool slice_once(void)
{
    gpuarray *short_text = ga_slice(fixture, "%d", 1);
    gpuarray *long_text = short_text ? ga_slice(fixture, "%200d", 1) : NULL;
    const bool done = long_text;

    ga_free(short_text);
    ga_free(long_text);
    return done;
}

static void failed_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    fixture = counting(GA_SHAPE(2, 2));
    survive_failures(slice_once);
    ga_free(fixture);
}

/* Random texts neither crash nor leave the array. */
static void random_texts_do_no_harm(void **state)
{
    static const char letters[] = "0123456789:::,,,--.  Nonewaxis";
    uint32_t seed = 12345;

    (void)state;
    gpuarray *x = counting(GA_SHAPE(3, 4, 5));
    for (int round = 0; round < 20000; round++) {
        char text[16];
        seed = seed * 1664525u + 1013904223u;
        const int length = 1 + (int)(seed >> 24) % 14;
        for (int i = 0; i < length; i++) {
            seed = seed * 1664525u + 1013904223u;
            text[i] = letters[(seed >> 16) % (sizeof letters - 1)];
        }
        text[length] = '\0';
        gpuarray *y = ga_slice(x, "%s", text);
        if (y && y->size > 0) {
            int64_t low, high;
            ga__extent(y->ndim, y->shape, y->strides, 4, &low, &high);
            assert_true(y->data + low >= x->data && y->data + high <= x->data + ga_nbytes(x));
        }
        assert_int_equal(ga_error(), y ? GA_OK : GA_ERR_INDEX);
        ga_clear_error();
        ga_free(y);
    }
    ga_free(x);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slices_are_numpys),
        cmocka_unit_test(slices_give_their_elements),
        cmocka_unit_test(ranges_are_slices),
        cmocka_unit_test(errors_show_the_place),
        cmocka_unit_test(parts_are_bounded),
        cmocka_unit_test(failed_allocations_leave_nothing_behind),
        cmocka_unit_test(random_texts_do_no_harm),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
