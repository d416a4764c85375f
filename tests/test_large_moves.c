/* Moves of more than 2^31 elements: joins, tiles, pads, rolls, takes, writes by indices, triangles
 * and differences. On the host the same by small arrays. Each test needs at most 48 GB. */
#include <quarry.h>

#include "array_support.h"
#include "golden.h"
#include "random.h"
#include "run.h"

/* The elements of a long array, and the rows of a square one with as many or more. */
static int64_t count, side;

static void choose_sizes(void)
{
    count = on_host() ? (1 << 16) + 11 : ((int64_t)1 << 31) + 11;
    side = on_host() ? 263 : 46349;
}

/* Element i of an array whose bytes look random. */
static int byte(int64_t i)
{
    return (int)(uint8_t)(((uint64_t)i * 2654435761u) >> 21);
}

static gpuarray *bytes(int64_t length)
{
    gpuarray *x = ga_empty(GA_UINT8, GA_SHAPE(length));
    ga_kernel *k = ga_elementwise_kernel(
        "unsigned char *x", "x[i] = (unsigned char)(((unsigned long long)i * 2654435761ull) >> 21)",
        "bytes");
    assert_int_equal(ga_run(k, x), GA_OK);
    ga_kernel_free(k);
    return x;
}

static gpuarray *square(void)
{
    return ga_reshape(bytes(side * side), GA_SHAPE(side, side));
}

/* ---- Samples ---- */

/* What a test wants of element i in C order. */
typedef int64_t wanted_at(int64_t i);

static void expect_at(const char *what, const gpuarray *flat, int64_t i, wanted_at *wanted)
{
    const int64_t found = ga_item_int64(flat, i);
    if (found != wanted(i))
        fail_msg("%s: element %lld: wanted %lld, found %lld", what, (long long)i,
                 (long long)wanted(i), (long long)found);
}

/* Checks elements at both ends, around powers of 2 and at 64 random places. */
static void expect_samples(const char *what, const gpuarray *x, int64_t size, wanted_at *wanted)
{
    static const int64_t far[] = {1 << 16, 1ll << 31, 1ll << 32, (1ll << 32) + (1ll << 31)};
    uint64_t seed = 5;
    assert_non_null(x);
    assert_int_equal(ga_size(x), size);
    GA_SCOPE {
        const gpuarray *flat = ga_ravel(x);
        for (int64_t i = 0; i < 3; i++) {
            expect_at(what, flat, i, wanted);
            expect_at(what, flat, size - 1 - i, wanted);
        }
        for (size_t k = 0; k < sizeof far / sizeof *far; k++)
            for (int64_t i = far[k] - 2; i < far[k] + 3 && i < size; i++)
                expect_at(what, flat, i, wanted);
        for (int k = 0; k < 64; k++)
            expect_at(what, flat, (int64_t)random_below(&seed, (uint64_t)size), wanted);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Joins ---- */

static int64_t stacked_in_front(int64_t i)
{
    return i / count == 1 ? 255 - byte(i % count) : byte(i % count);
}

static int64_t stacked_fours(int64_t i)
{
    return i % 4 == 1 ? 255 - byte(i / 4) : byte(i / 4);
}

static int64_t stacked_threes(int64_t i)
{
    return i % 3 == 1 ? 255 - byte(i / 3) : byte(i / 3);
}

static void stacks(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = bytes(count), *y = ga_invert(x),
                 *first = ga_slice(x, ":%lld", (long long)count / 2),
                 *second = ga_slice(y, ":%lld", (long long)count / 2);
        expect_samples("stack", ga_stack(GA_ARRAYS(x, y, x)), 3 * count, stacked_in_front);
        expect_samples("stack of four along the last axis",
                       ga_stack(GA_ARRAYS(first, second, first, first), GA_AXIS(-1)),
                       4 * (count / 2), stacked_fours);
        expect_samples("stack of three along the last axis",
                       ga_stack(GA_ARRAYS(first, second, first), GA_AXIS(-1)), 3 * (count / 2),
                       stacked_threes);
    }
}

enum { MORE = 77 };

static int64_t joined_columns(int64_t i)
{
    const int64_t row = i / (side + MORE), column = i % (side + MORE);
    return byte(row * side + (column < MORE ? column : column - MORE));
}

static int64_t joined_rows(int64_t i)
{
    return byte(i < MORE * side ? i : i - MORE * side);
}

static void concatenations(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = square(), *columns = ga_slice(x, ":, :%d", MORE),
                 *rows = ga_slice(x, ":%d", MORE);
        expect_samples("concatenate along axis 1",
                       ga_concatenate(GA_ARRAYS(columns, x), GA_AXIS(1)), side * (side + MORE),
                       joined_columns);
        expect_samples("concatenate along axis 0", ga_concatenate(GA_ARRAYS(rows, x)),
                       side * (side + MORE), joined_rows);
    }
}

static int64_t without_one(int64_t i)
{
    return byte(i < count - 9 ? i : i + 1);
}

static int64_t with_two(int64_t i)
{
    return i == count - 9 || i == count - 8 ? 9 : byte(i < count - 9 ? i : i - 2);
}

static void insertions_and_deletions(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = bytes(count), *nine = ga_full(GA_UINT8, GA_SHAPE(2), 9);
        expect_samples("delete", ga_delete(x, count - 9), count - 1, without_one);
        expect_samples("insert", ga_insert(x, count - 9, nine), count + 2, with_two);
    }
}

/* ---- Repetitions ---- */

static int64_t tiled(int64_t i)
{
    return byte(i % (count / 2));
}

static int64_t tiled_quarters(int64_t i)
{
    return byte(i % (count / 4));
}

static int64_t tiled_rows(int64_t i)
{
    return byte(i / (2 * side) * side + i % side);
}

static void tiles(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = bytes(side * side), *half = ga_slice(x, ":%lld", (long long)count / 2);
        expect_samples("tile", ga_tile(half, GA_SHAPE(3)), 3 * (count / 2), tiled);
        expect_samples("tile of eight",
                       ga_tile(ga_slice(x, ":%lld", (long long)count / 4), GA_SHAPE(8)),
                       8 * (count / 4), tiled_quarters);
        expect_samples("tile of rows", ga_tile(ga_reshape(x, GA_SHAPE(side, side)), GA_SHAPE(1, 2)),
                       2 * side * side, tiled_rows);
    }
}

static int64_t each_thrice(int64_t i)
{
    return byte(i / 3);
}

static int64_t rows_twice(int64_t i)
{
    return byte(i / (2 * side) * side + i % side);
}

static void repetitions(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = square(), *flat = ga_ravel(x);
        expect_samples("repeat", ga_repeat(ga_slice(flat, ":%lld", (long long)count / 2), 3),
                       3 * (count / 2), each_thrice);
        expect_samples("repeat of rows", ga_repeat(x, 2, GA_AXIS(0)), 2 * side * side, rows_twice);
    }
}

/* ---- Pads and rolls ---- */

enum { BEFORE = 5, AFTER = 7 };

static int64_t padded(int64_t i)
{
    return i < BEFORE || i >= BEFORE + count ? 3 : byte(i - BEFORE);
}

static int64_t reflected(int64_t i)
{
    const int64_t place = i < BEFORE ? BEFORE - i : i - BEFORE;
    return byte(place < count ? place : 2 * count - 2 - place);
}

static int64_t wrapped(int64_t i)
{
    return byte((i - BEFORE + count) % count);
}

static int64_t framed(int64_t i)
{
    const int64_t row = i / (side + 2) - 1, column = i % (side + 2) - 1;
    const bool inside = row >= 0 && row < side && column >= 0 && column < side;
    return inside ? byte(row * side + column) : 0;
}

static void pads(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = bytes(count);
        expect_samples("pad", ga_pad(x, GA_SHAPE(BEFORE, AFTER), .value = GA_V(3)),
                       count + BEFORE + AFTER, padded);
        expect_samples("pad by reflection", ga_pad(x, GA_SHAPE(BEFORE, AFTER), .mode = "reflect"),
                       count + BEFORE + AFTER, reflected);
        expect_samples("pad by wrapping", ga_pad(x, GA_SHAPE(BEFORE, AFTER), .mode = "wrap"),
                       count + BEFORE + AFTER, wrapped);
    }
    GA_SCOPE {
        expect_samples("pad of rows", ga_pad(square(), GA_SHAPE(1)), (side + 2) * (side + 2),
                       framed);
    }
}

static int64_t rolled(int64_t i)
{
    return byte((i + 5) % count);
}

static int64_t rolled_rows(int64_t i)
{
    return byte((i / side + side - 1) % side * side + (i % side + 3) % side);
}

static void rolls(void **state)
{
    (void)state;
    GA_SCOPE {
        expect_samples("roll", ga_roll(bytes(count), count - 5), count, rolled);
    }
    GA_SCOPE {
        const int64_t shifts[] = {1, -3};
        expect_samples("roll of rows", ga_roll_axes(square(), 2, shifts, (const int[]){0, 1}),
                       side * side, rolled_rows);
    }
}

/* ---- Reads by indices ---- */

static int64_t taken_rows(int64_t i)
{
    return byte((i / side * 3 + 1) % side * side + i % side);
}

static int64_t taken_columns(int64_t i)
{
    return byte(i / side * side + (i % side * 3 + 1) % side);
}

static void takes(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = square(), *k = ga_arange(GA_INT32, 1, 3. * (double)side + 1, 3);
        ga_remainder_into(k, k, side);
        expect_samples("take of rows", ga_take(x, k, GA_AXIS(0)), side * side, taken_rows);
        expect_samples("take of columns", ga_take(x, k, GA_AXIS(1)), side * side, taken_columns);
        expect_samples("x[k, :]", ga_index(x, k, GA_ALL), side * side, taken_rows);
        expect_samples("x[:, k]", ga_index(x, GA_ALL, k), side * side, taken_columns);
    }
}

/* Element (row, column) is (row + column) % side. */
static gpuarray *diagonals(void)
{
    const gpuarray *line = ga_arange(GA_INT32, 0, (double)side, 1);
    gpuarray *sums = ga_add(ga_expand_dims(line, 1), line);
    ga_remainder_into(sums, sums, side);
    return sums;
}

static int64_t taken_along_rows(int64_t i)
{
    return byte(i / side * side + (i / side + i % side) % side);
}

static int64_t taken_along_columns(int64_t i)
{
    return byte((i / side + i % side) % side * side + i % side);
}

static int64_t put_along_rows(int64_t i)
{
    return byte(i / side * side + (i % side - i / side + side) % side);
}

static void takes_along_axes(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = square(), *k = diagonals();
        expect_samples("take_along_axis 1", ga_take_along_axis(x, k, GA_AXIS(1)), side * side,
                       taken_along_rows);
        expect_samples("take_along_axis 0", ga_take_along_axis(x, k, GA_AXIS(0)), side * side,
                       taken_along_columns);
    }
    GA_SCOPE {
        gpuarray *y = ga_zeros(GA_UINT8, GA_SHAPE(side, side));
        assert_int_equal(ga_put_along_axis(y, diagonals(), square(), GA_AXIS(1)), GA_OK);
        expect_samples("put_along_axis 1", y, side * side, put_along_rows);
    }
}

/* ---- Sums by indices ---- */

static int64_t far_sums(int64_t i)
{
    const int64_t far = (int64_t)1 << (on_host() ? 16 : 31);
    return i == far ? (uint8_t)(byte(i) + 3) : i == count - 1 ? (uint8_t)(byte(i) + 1) : byte(i);
}

static void sums_in_far_elements(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = bytes(count);
        const int64_t far = (int64_t)1 << (on_host() ? 16 : 31);
        gpuarray *k = ga_from_host(((int64_t[]){far, -1, far, far - count}), GA_INT64, GA_SHAPE(4));
        assert_int_equal(ga_index_add(x, 1, k), GA_OK);
        expect_samples("index_add", x, count, far_sums);
    }
}

static int64_t sums_of_reversed(int64_t i)
{
    return (uint8_t)(byte(i) + byte(count - 1 - i));
}

/* As many sums as elements. */
static void sums_of_many_bytes(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = bytes(count), *v = ga_copy(x),
                 *backwards = ga_arange(GA_INT64, (double)count - 1, -1, -1);
        assert_int_equal(ga_index_add(x, v, backwards), GA_OK);
        expect_samples("index_add of all", x, count, sums_of_reversed);
    }
}

/* Many sums in few elements: of integers by blocks, of floats exactly. */
static void sums_in_few_elements(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = bytes(count), *counts = ga_bincount(x, .minlength = 256),
                 *whole = ga_zeros(GA_INT64, GA_SHAPE(256)),
                 *halves = ga_zeros(GA_FLOAT32, GA_SHAPE(256));
        assert_int_equal(ga_item_int64(ga_sum(counts)), count);
        assert_int_equal(ga_index_add(whole, 3, x), GA_OK);
        assert_arrays_equal(whole, ga_multiply(counts, 3));
        assert_int_equal(ga_index_add(halves, 0.5, x), GA_OK);
        assert_arrays_equal(halves, ga_astype(ga_multiply(counts, 0.5), GA_FLOAT32));
        assert_int_equal(ga_index_maximum(whole, x, x), GA_OK);
        assert_arrays_equal(whole, ga_multiply(counts, 3));
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* Sums of doubles are those of sorted tuples; the words of the tuples take 8 bytes each. */
static void sums_in_order(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = bytes(count), *counts = ga_bincount(x, .minlength = 256),
                 *sums = ga_zeros(GA_FLOAT64, GA_SHAPE(256));
        assert_int_equal(ga_index_add(sums, 0.5, x), GA_OK);
        assert_arrays_equal(sums, ga_multiply(counts, 0.5));
        assert_int_equal(ga_error(), GA_OK);
    }
}

/* ---- Triangles and differences ---- */

static int64_t upper(int64_t i)
{
    return i % side >= i / side + 1 ? byte(i) : 0;
}

static int64_t lower(int64_t i)
{
    return i % side <= i / side + 1 ? byte(i) : 0;
}

static int64_t transposed(int64_t i)
{
    return byte(i % side * side + i / side);
}

static void triangles(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = square();
        expect_samples("triu", ga_triu(x, 1), side * side, upper);
        expect_samples("tril", ga_tril(x, 1), side * side, lower);
        expect_samples("transpose", ga_copy(ga_transpose(x)), side * side, transposed);
    }
}

static int64_t first_difference(int64_t i)
{
    return (uint8_t)(byte(i + 1) - byte(i));
}

static int64_t second_difference(int64_t i)
{
    return (uint8_t)(byte(i + 2) - 2 * byte(i + 1) + byte(i));
}

static int64_t difference_of_rows(int64_t i)
{
    return (uint8_t)(byte(i + side) - byte(i));
}

static int64_t difference_of_columns(int64_t i)
{
    return first_difference(i / (side - 1) * side + i % (side - 1));
}

static void differences(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = square(), *line = ga_slice(ga_ravel(x), ":%lld", (long long)count);
        expect_samples("diff", ga_diff(line, 1), count - 1, first_difference);
        expect_samples("diff twice", ga_diff(line, 2), count - 2, second_difference);
        expect_samples("diff of rows", ga_diff(x, 1, GA_AXIS(0)), (side - 1) * side,
                       difference_of_rows);
        expect_samples("diff of columns", ga_diff(x, 1, GA_AXIS(1)), (side - 1) * side,
                       difference_of_columns);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stacks),
        cmocka_unit_test(concatenations),
        cmocka_unit_test(insertions_and_deletions),
        cmocka_unit_test(tiles),
        cmocka_unit_test(repetitions),
        cmocka_unit_test(pads),
        cmocka_unit_test(rolls),
        cmocka_unit_test(takes),
        cmocka_unit_test(takes_along_axes),
        cmocka_unit_test(sums_in_far_elements),
        cmocka_unit_test(sums_of_many_bytes),
        cmocka_unit_test(sums_in_few_elements),
        cmocka_unit_test(sums_in_order),
        cmocka_unit_test(triangles),
        cmocka_unit_test(differences),
    };
    choose_sizes();
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
