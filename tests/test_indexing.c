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

/* Twenty pieces of different lengths; some are empty. */
static void many_arrays_join(void **state)
{
    const gpuarray *parts[20];
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_INT32, 0, 57, 1);
        int64_t start = 0;
        for (int k = 0; k < 20; k++) {
            parts[k] = ga_slice(x, "%d:%d", (int)start, (int)start + k % 7);
            start += k % 7;
        }
        assert_int_equal(start, 57);
        assert_true(ga_array_equal(ga_concatenate(20, parts), x));
    }
    assert_int_equal(ga_error(), GA_OK);
}

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

/* As each piece's elements in the common dtype, which the language's own conversions of two of them
 * are not. */
/* Of 1 to 16 bytes, as many as fill words and others, to memory that words fit and to other memory.
 */
static void elements_are_stacked_in_turn(void **state)
{
    const ga_dtype dtypes[] = {GA_UINT8, GA_INT16, GA_FLOAT32, GA_FLOAT64, GA_COMPLEX128};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (int count = 2; count <= 16; count += count < 4 ? 1 : 4)
            for (int skipped = 0; skipped < 3; skipped++)
                GA_SCOPE {
                    char item[60];
                    snprintf(item, sizeof item, "stacks of %d %s", count, ga_dtype_name(dtypes[d]));
                    if (!in_eighth(item))
                        continue;
                    gpuarray *all = ga_astype(ga_arange(GA_INT64, 0, 16 * 7, 1), dtypes[d]),
                             *rows = ga_reshape(all, 2, (const int64_t[]){16, 7}),
                             *memory = ga_zeros(dtypes[d], GA_SHAPE(7 * (count + skipped) + 1)),
                             *wide = ga_reshape(ga_slice(memory, ":-1"), 2,
                                                (const int64_t[]){7, count + skipped}),
                             *out = ga_slice(wide, ":, :%d", count);
                    const gpuarray *pieces[16];
                    for (int k = 0; k < count; k++)
                        pieces[k] = ga_slice(rows, "%d", k);
                    const ga_join_args args = {.count = count,
                                               .arrays = pieces,
                                               .naxes = 1,
                                               .axes = (const int[]){-1},
                                               .out = out};
                    assert_ptr_equal((ga_stack)(sizeof args, &args), out);
                    assert_true(ga_array_equal(out, ga_transpose(ga_slice(rows, ":%d", count))));
                }
}

static void pieces_of_unlike_dtypes_join(void **state)
{
    static const struct {
        ga_dtype first, second, joined;
        double one, other;
    } cases[] = {{GA_INT32, GA_FLOAT32, GA_FLOAT64, 16777217, 0.5},
                 {GA_INT64, GA_UINT64, GA_FLOAT64, -1, 2},
                 {GA_FLOAT16, GA_INT16, GA_FLOAT32, 0.5, -2049},
                 {GA_UINT8, GA_INT8, GA_INT16, 255, -128},
                 {GA_UINT32, GA_INT32, GA_INT64, 4294967295, -1}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        GA_SCOPE {
            const double one = cases[k].one, other = cases[k].other;
            gpuarray *a = ga_full(cases[k].first, GA_SHAPE(3), one),
                     *b = ga_full(cases[k].second, GA_SHAPE(2), other);
            gpuarray *joined = ga_concatenate(GA_ARRAYS(a, b, a));
            assert_int_equal(ga_dtype_of(joined), cases[k].joined);
            for (int place = 0; place < 8; place++)
                assert_true(ga_item_double(joined, place) ==
                            (place == 3 || place == 4 ? other : one));
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
        gpuarray *cube = counting(GA_SHAPE(2, 3, 4)), *columns = INT64S(3, 0, 1);
        gpuarray *apart = ga_index(cube, GA_ALL, rows, GA_ELLIPSIS, columns);
        assert_shape(apart, GA_SHAPE(3, 2)); /* an ellipsis of no axes separates too */
        assert_numbers(apart, NUMBERS(11, 23, 0, 12, 9, 21));
        assert_numbers(ga_index(cube, GA_ALL, rows, columns), NUMBERS(11, 0, 9, 23, 12, 21));
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

/* Lines that pass through shared memory: rows that begin anywhere, of elements of any size. */
static void lines_are_taken(void **state)
{
    (void)state;
    enum { ROWS = 120, LENGTH = 2101, COUNT = 600 };
    static int32_t index[COUNT], wanted[ROWS * COUNT];
    uint64_t seed = 21;
    for (int k = 0; k < COUNT; k++)
        index[k] = (int32_t)random_below(&seed, 2 * LENGTH) - LENGTH;
    for (int k = 0; k < ROWS * COUNT; k++)
        wanted[k] = (k / COUNT * LENGTH + (index[k % COUNT] + LENGTH) % LENGTH) % 127;
    GA_SCOPE {
        gpuarray *whole = ga_remainder(counting(GA_SHAPE(ROWS, LENGTH)), 127),
                 *keys = ga_from_host(index, GA_INT32, GA_SHAPE(COUNT)),
                 *right = ga_from_host(wanted, GA_INT32, GA_SHAPE(ROWS, COUNT)),
                 *each = ga_copy(ga_broadcast_to(keys, GA_SHAPE(ROWS, COUNT)));
        const ga_dtype dtypes[] = {GA_INT8, GA_INT32};
        for (int k = 0; k < 2; k++) {
            gpuarray *x = ga_astype(whole, dtypes[k]);
            const int before = simulated.launches;
            gpuarray *columns = ga_take(x, keys, GA_AXIS(1));
            assert_int_equal(simulated.launches - before, 2); /* one checks the indices */
            assert_true(simulated.last.shared > 0);
            assert_true(ga_array_equal(columns, right));
            assert_true(ga_array_equal(ga_take_along_axis(x, each, GA_AXIS(1)), right));
            assert_true(ga_array_equal(ga_take(x, keys, GA_AXIS(1), .mode = GA_WRAP), right));
            assert_non_null(ga_take(x, ga_add(keys, LENGTH), GA_AXIS(1)));
            assert_int_equal(ga_synchronize(), GA_ERR_INDEX);
            ga_clear_error();
        }
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Arrays that copies of blocks move faster than one launch does; tiles on a GPU. */
static void large_arrays_move_by_blocks(void **state)
{
    (void)state;
    enum { ROWS = 2100, COLUMNS = 2101 };
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(ROWS, COLUMNS)),
                 *rows = ga_arange(GA_INT64, -2, ROWS + 3, 1),
                 *columns = ga_arange(GA_INT64, -1, COLUMNS + 4, 1);
        const ga_index_mode modes[] = {GA_CLIP, GA_WRAP};
        const char *const names[] = {"edge", "wrap"};
        const int64_t widths[] = {2, 3, 1, 4}, shifts[] = {-3, 5};
        for (int k = 0; k < 2; k++) {
            gpuarray *taken = ga_take(x, rows, GA_AXIS(0), .mode = modes[k]),
                     *padded = ga_pad(x, 4, widths, .mode = names[k]);
            assert_true(
                ga_array_equal(padded, ga_take(taken, columns, GA_AXIS(1), .mode = modes[k])));
        }
        gpuarray *zero = ga_pad(x, 4, widths);
        assert_true(ga_array_equal(ga_slice(zero, "2:-3, 1:-4"), x));
        assert_true(ga_array_equal(ga_sum(zero), ga_sum(x)));
        gpuarray *rolled = ga_roll_axes(x, 2, shifts, (const int[]){0, 1}),
                 *once = ga_roll(x, -3, GA_AXIS(0));
        assert_true(ga_array_equal(rolled, ga_roll(once, 5, GA_AXIS(1))));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Copies that a GPU stores together, rows that move as vectors, and triangles that it reads alone.
 */
static void cuda_moves_whole_rows(void **state)
{
    (void)state;
    enum { ROWS = 65, COLUMNS = 512 };
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(ROWS, COLUMNS)), *keys = INT64S(3, -1, 64, 0);
        int before = simulated.launches;
        gpuarray *tiled = ga_tile(x, GA_SHAPE(3, 2));
        assert_int_equal(simulated.launches - before, 1);
        gpuarray *const both[] = {x, x};
        gpuarray *wide = ga_concatenate(2, (const gpuarray *const *)both, GA_AXIS(1));
        gpuarray *const three[] = {wide, wide, wide};
        assert_true(ga_array_equal(tiled, ga_concatenate(3, (const gpuarray *const *)three)));
        before = simulated.launches;
        assert_true(
            ga_array_equal(ga_tile(x, GA_SHAPE(11)),
                           ga_concatenate(GA_ARRAYS(x, x, x, x, x, x, x, x, x, x, x), GA_AXIS(1))));
        gpuarray *taken = ga_take(x, keys, GA_AXIS(0));
        assert_true(ga_array_equal(ga_slice(taken, "1"), ga_slice(x, "64")));
        assert_true(ga_array_equal(ga_slice(taken, "0"), ga_slice(x, "3")));
        gpuarray *upper = ga_triu(ga_slice(x, ":, :65"), 1),
                 *lower = ga_tril(ga_slice(x, ":, :65"), 0);
        assert_true(ga_array_equal(ga_add(upper, lower), ga_slice(x, ":, :65")));
        assert_int_equal(ga_item_int64(upper, 1, 0), 0);
        assert_int_equal(ga_item_int64(lower, 0, 1), 0);
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Of equal indices the last one wins, in a table of all keys and in a sparse one, where hundreds of
 * keys meet others of the same hash. On the host, indices of two dimensions are claimed too. */
static void the_last_of_equal_indices_wins(void **state)
{
    (void)state;
    enum { COUNT = 20000, MOST = 1 << 20, APART = 173 };
    static int64_t index[COUNT], wanted[MOST];
    static int64_t got[MOST];
    uint64_t seed = 19;
    const int64_t sizes[] = {300, MOST};
    for (int turn = 0; turn < 4; turn++)
        GA_SCOPE {
            const int how = turn % 2;
            const int64_t shape[] = {turn < 2 ? COUNT : 100, COUNT / 100};
            memset(wanted, 0, sizeof wanted);
            for (int64_t k = 0; k < COUNT; k++) {
                const int64_t place =
                    random_below(&seed, how ? MOST / APART : 300) * (how ? APART : 1);
                index[k] = k % 2 ? place : place - sizes[how];
                wanted[place] = k;
            }
            gpuarray *x = ga_zeros(GA_INT64, GA_SHAPE(sizes[how]));
            gpuarray *keys = ga_from_host(index, GA_INT64, 1 + turn / 2, shape),
                     *v = ga_reshape(ga_arange(GA_INT64, 0, COUNT, 1), 1 + turn / 2, shape);
            assert_int_equal(ga_index_set(x, v, keys), GA_OK);
            assert_int_equal(ga_to_host(x, got, ga_nbytes(x)), GA_OK);
            assert_memory_equal(got, wanted, ga_nbytes(x));
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* The last of two neighbours that threads write at the same time, on both sides of any block's end.
 */
static void the_last_wins_between_blocks(void **state)
{
    (void)state;
    const int64_t count = (int64_t)1 << 22;
    for (int turn = 0; turn < 3; turn++)
        GA_SCOPE {
            const int64_t shape[] = {turn == 0 ? count : count / 1024, 1024};
            gpuarray *place =
                         ga_reshape(ga_arange(GA_INT64, 0, count, 1), turn == 0 ? 1 : 2, shape),
                     *keys = ga_floor_divide(ga_add(place, 1), 2),
                     *x = ga_zeros(GA_INT64, GA_SHAPE(count / 2 + 1));
            assert_int_equal(ga_index_set(x, place, keys), GA_OK);
            gpuarray *wanted = ga_multiply(ga_arange(GA_INT64, 0, count / 2 + 1, 1), 2);
            assert_true(ga_array_equal(ga_slice(x, ":-1"), ga_slice(wanted, ":-1")));
            assert_int_equal(ga_item_int64(x, count / 2), count - 1);
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* Words of keys and values, which passes sort: values of 32 bits stay in the words. */
static void many_tuples_are_sorted(void **state)
{
    (void)state;
    enum { COUNT = 20000, LENGTH = 3000 };
    static int32_t index[COUNT], last[LENGTH], sums[LENGTH], value[COUNT];
    uint64_t seed = 20;
    memset(last, 0, sizeof last);
    memset(sums, 0, sizeof sums);
    for (int k = 0; k < COUNT; k++) {
        const int64_t place = random_below(&seed, LENGTH);
        index[k] = (int32_t)(k % 3 ? place : place - LENGTH);
        value[k] = k % 1000 - 300;
        last[place] = value[k];
        sums[place] += value[k];
    }
    GA_SCOPE {
        gpuarray *keys = ga_from_host(index, GA_INT32, GA_SHAPE(COUNT)),
                 *v = ga_from_host(value, GA_INT32, GA_SHAPE(COUNT)),
                 *whole = ga_zeros(GA_INT32, GA_SHAPE(2 * LENGTH)), *x = ga_slice(whole, "::-2"),
                 *halves = ga_zeros(GA_FLOAT64, GA_SHAPE(LENGTH));
        const int before = simulated.launches;
        assert_int_equal(ga_index_set(x, v, keys), GA_OK);
        assert_true(simulated.launches - before >= 5); /* not the two of claims */
        assert_true(ga_array_equal(x, ga_from_host(last, GA_INT32, GA_SHAPE(LENGTH))));
        assert_int_equal(ga_put(whole, keys, v, .mode = GA_CLIP), GA_OK);
        assert_int_equal(ga_index_add(halves, ga_astype(v, GA_FLOAT16), keys), GA_OK);
        assert_true(ga_array_equal(halves, ga_from_host(sums, GA_INT32, GA_SHAPE(LENGTH))));
        assert_int_equal(ga_put(halves, ga_add(keys, 5), v), GA_OK);
        assert_int_equal(ga_synchronize(), GA_ERR_INDEX);
        ga_clear_error();
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Folds ---- */

enum { FOLDED = 900, KEYS = 7 };

/* Key 3 has more tuples than a chunk; of rows, key k has k more than that. */
static int64_t folded_key(int64_t k)
{
    return k % 3 ? 3 : k % KEYS;
}

/* One operation on numbers that every dtype has: the indices of `name` modulo KEYS. */
static void assert_folds(ga_dtype dtype, bool relaxed)
{
    int64_t index[FOLDED], sums[KEYS] = {0}, counts[KEYS] = {0};
    int32_t wanted[KEYS];
    for (int64_t k = 0; k < FOLDED; k++) {
        index[k] = k % 2 ? folded_key(k) : folded_key(k) - KEYS;
        sums[folded_key(k)] += k % 2 ? 1 : dtype == GA_UINT8 ? 3 : -1;
        counts[folded_key(k)]++;
    }
    for (int k = 0; k < KEYS; k++)
        wanted[k] = (int32_t)(dtype == GA_UINT8 ? (uint8_t)(k + sums[k]) : k + sums[k]);
    GA_SCOPE {
        gpuarray *keys = ga_from_host(index, GA_INT64, GA_SHAPE(FOLDED)),
                 *odd = ga_remainder(ga_arange(GA_INT32, 0, FOLDED, 1), 2),
                 *value = ga_astype(ga_where(odd, 1, dtype == GA_UINT8 ? 3 : -1), dtype),
                 *x = ga_astype(ga_arange(GA_INT32, 0, KEYS, 1), dtype);
        assert_int_equal(
            ga_index_add_with(.x = x, .value = GA_V(value), GA_PARTS(keys), .relaxed = relaxed),
            GA_OK);
        assert_numbers(ga_astype(x, GA_INT32), KEYS, wanted);
        if (dtype != GA_COMPLEX64) {
            assert_int_equal(ga_index_maximum(x, 5, GA_FROM(2, 1)), GA_OK);
            assert_int_equal(ga_index_minimum(x, value, keys), GA_OK);
            for (int k = 0; k < KEYS; k++) {
                const int32_t least = dtype == GA_UINT8 ? 1 : -1,
                              now = k >= 2 && wanted[k] < 5 ? 5 : wanted[k];
                wanted[k] = counts[k] && now > least ? least : now;
            }
            assert_numbers(ga_astype(x, GA_INT32), KEYS, wanted);
        }
    }
}

static void equal_indices_all_count(void **state)
{
    (void)state;
    static const struct {
        ga_dtype dtype;
        bool relaxed;
    } folds[] = {{GA_INT32, false},
                 {GA_UINT8, false},
                 {GA_FLOAT16, false},
                 {GA_FLOAT64, true},
                 {GA_COMPLEX64, true}};
    for (size_t k = 0; k < sizeof folds / sizeof *folds; k++)
        if (in_short_sample("folds", (int)k, sizeof folds / sizeof *folds))
            assert_folds(folds[k].dtype, folds[k].relaxed);
    assert_int_equal(ga_error(), GA_OK);
}

/* Rows at indices, into a view with negative strides: by order. */
/* Of many tuples, threads share the keys: each key has one owner. */
static void each_key_is_folded_once(void **state)
{
    (void)state;
    enum { MANY = 64000, LENGTH = 1000 };
    for (int64_t length = LENGTH - 3; length <= LENGTH + 3; length++)
        GA_SCOPE {
            gpuarray *keys = ga_remainder(ga_arange(GA_INT64, 0, MANY, 1), length),
                     *x = ga_zeros(GA_INT64, GA_SHAPE(length));
            assert_int_equal(ga_index_add(x, ga_ones(GA_INT32, GA_SHAPE(MANY)), keys), GA_OK);
            gpuarray *more = ga_less(ga_arange(GA_INT64, 0, length, 1), MANY % length);
            assert_true(ga_array_equal(x, ga_add(more, MANY / length)));
        }
    assert_int_equal(ga_error(), GA_OK);
}

/* Integers into few elements: blocks sum in their own memory, and one launch more adds the sums.
 * The rest of the last vector is a turn of its own. */
static void many_integers_are_summed_by_blocks(void **state)
{
    (void)state;
    enum { COUNT = (1 << 16) + 3, ROWS = 5, COLUMNS = 7, BAD = COUNT - 1 };
    static int32_t row[COUNT], column[COUNT], value[COUNT], sums[ROWS][COLUMNS], counts[ROWS];
    uint64_t seed = 31;
    memset(sums, 0, sizeof sums);
    memset(counts, 0, sizeof counts);
    for (int k = 0; k < COUNT; k++) {
        const int64_t i = random_below(&seed, ROWS), j = random_below(&seed, COLUMNS);
        row[k] = (int32_t)(k % 3 ? i : i - ROWS);
        column[k] = (int32_t)j;
        value[k] = k % 1000 - 300;
        sums[i][j] += value[k];
        counts[i]++;
    }
    GA_SCOPE {
        gpuarray *i = ga_from_host(row, GA_INT32, GA_SHAPE(COUNT)),
                 *j = ga_astype(ga_from_host(column, GA_INT32, GA_SHAPE(COUNT)), GA_UINT8),
                 *v = ga_from_host(value, GA_INT32, GA_SHAPE(COUNT)),
                 *whole = ga_zeros(GA_INT16, GA_SHAPE(2 * ROWS, COLUMNS)),
                 *x = ga_slice(whole, "::-2, ::-1"), *y = ga_zeros(GA_UINT64, GA_SHAPE(ROWS)),
                 *z = ga_ones(GA_INT64, GA_SHAPE(ROWS));
        gpuarray *wanted = ga_from_host(sums, GA_INT32, GA_SHAPE(ROWS, COLUMNS)),
                 *numbers = ga_from_host(counts, GA_INT32, GA_SHAPE(ROWS));
        int before = simulated.launches;
        assert_int_equal(ga_index_add(x, v, i, j), GA_OK);
        assert_int_equal(simulated.launches - before, 2);
        assert_true(ga_array_equal(x, ga_astype(wanted, GA_INT16)));
        assert_false(ga_item_bool(ga_any(ga_slice(whole, "::2"))));
        before = simulated.launches;
        assert_int_equal(ga_index_add(y, 3, i), GA_OK);
        assert_int_equal(simulated.launches - before, 2);
        assert_true(ga_array_equal(y, ga_multiply(numbers, 3)));
        assert_int_equal(ga_index_add(z, ga_negative(v), i), GA_OK);
        assert_true(ga_array_equal(z, ga_subtract(1, ga_sum(wanted, GA_AXIS(1)))));
        assert_int_equal(ga_put(i, INT64S(BAD), ROWS), GA_OK);
        assert_int_equal(ga_index_add(y, 1, i), GA_OK);
        assert_int_equal(ga_synchronize(), GA_ERR_INDEX);
        assert_error(GA_ERR_INDEX, "index_add: index 5 at position 65538 is out of range for axis "
                                   "0");
        assert_int_equal(ga_item_int64(ga_sum(y)), 4 * COUNT - 1);
    }
    assert_int_equal(ga_error(), GA_OK);
}

static void rows_are_folded(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *whole = ga_zeros(GA_FLOAT32, GA_SHAPE(4, 3)), *x = ga_slice(whole, "::-1, ::-1"),
                 *rows = ga_astype(counting(GA_SHAPE(600, 3)), GA_FLOAT32),
                 *keys = ga_remainder(ga_arange(GA_INT64, 0, 600, 1), 2);
        assert_int_equal(ga_index_add(x, rows, keys), GA_OK);
        /* The rows of even numbers are 6 m, 6 m + 1, 6 m + 2. */
        assert_numbers(ga_astype(x, GA_INT32),
                       NUMBERS(269100, 269400, 269700, 270000, 270300, 270600, 0, 0, 0, 0, 0, 0));
        assert_int_equal(ga_index_multiply(x, 2, INT64S(0, 0, 3), GA_FROM(2, 1)), GA_OK);
        assert_numbers(ga_astype(x, GA_INT32),
                       NUMBERS(269100, 269400, 1078800, 270000, 270300, 270600, 0, 0, 0, 0, 0, 0));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Sums that round differently in another order. */
static void folds_are_the_same_in_every_run(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    static float first[50], again[50];
    GA_SCOPE {
        gpuarray *k = ga_remainder(ga_multiply(ga_arange(GA_INT64, 0, MANY, 1), 7919), 50),
                 *v = ga_sin(ga_arange(GA_FLOAT32, 0, MANY, 1));
        for (int run = 0; run < 3; run++) {
            gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(50));
            assert_int_equal(ga_index_add(x, v, k), GA_OK);
            assert_int_equal(ga_to_host(x, run ? again : first, sizeof first), GA_OK);
            if (run)
                assert_memory_equal(again, first, sizeof first);
        }
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* An array that is its own array of indices. */
static void indices_may_be_the_array(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = INT64S(3, 2, 1, 0), *y = INT64S(1, 2, 3, 0);
        assert_int_equal(ga_index_add(x, 10, x), GA_OK);
        assert_numbers(ga_astype(x, GA_INT32), NUMBERS(13, 12, 11, 10));
        assert_int_equal(ga_index_set(y, y, y), GA_OK);
        assert_numbers(ga_astype(y, GA_INT32), NUMBERS(0, 1, 2, 3));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* ---- Masks beside indices ---- */

static gpuarray *truths(int ndim, const int64_t *shape, const bool *values)
{
    return ga_from_host(values, GA_BOOL, ndim, shape);
}

/* A mask is the indices of its true elements, which broadcast with the others. */
static void masks_stand_beside_indices(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4)), *deep = counting(GA_SHAPE(2, 3, 2)),
                 *rows = truths(GA_SHAPE(3), (const bool[]){true, false, true}),
                 *few = truths(GA_SHAPE(2), (const bool[]){false, true});
        assert_numbers(ga_index(x, rows, INT64S(1, -1)), NUMBERS(1, 11));
        assert_numbers(ga_index(x, INT64S(0), GA_ELLIPSIS, ga_less(ga_slice(x, "0"), 2)),
                       NUMBERS(0, 1));
        gpuarray *apart =
            ga_index(deep, rows = truths(GA_SHAPE(2), (const bool[]){true, true}), GA_ALL, few);
        assert_numbers(apart, NUMBERS(1, 3, 5, 7, 9, 11));
        assert_int_equal(ga_shape(apart)[0], 2);
        assert_int_equal(ga_index_set(deep, -1, few, INT64S(0, 2), GA_ALL), GA_OK);
        assert_numbers(deep, NUMBERS(0, 1, 2, 3, 4, 5, -1, -1, 8, 9, -1, -1));
        assert_null(ga_index(x, ga_greater(ga_index(x, GA_ALL, 0), -1), INT64S(0, 1)));
        assert_error(GA_ERR_SHAPE, "index: indices of shapes (3,) and (2,)");
    }
}

/* One truth is an index of length 1 or 0, and takes no axis. */
static void a_truth_takes_no_axis(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *number = ga_full(GA_INT32, GA_SHAPE0, 7),
                 *yes = truths(GA_SHAPE0, (const bool[]){true}),
                 *no = truths(GA_SHAPE0, (const bool[]){false});
        gpuarray *all = ga_index(x, yes), *none = ga_index(x, no, INT64S(1));
        assert_int_equal(ga_ndim(all), 3);
        assert_numbers(all, NUMBERS(0, 1, 2, 3, 4, 5));
        assert_int_equal(ga_size(none), 0);
        assert_int_equal(ga_ndim(none), 2);
        assert_numbers(ga_index(x, INT64S(1, 0), GA_ELLIPSIS, yes), NUMBERS(3, 4, 5, 0, 1, 2));
        assert_int_equal(ga_index_set(x, -1, no), GA_OK);
        assert_int_equal(ga_index_set(x, 9, yes, 1), GA_OK);
        assert_numbers(x, NUMBERS(0, 1, 2, 9, 9, 9));
        assert_numbers(ga_index(number, yes), NUMBERS(7));
        assert_int_equal(ga_index_add(number, 2, yes), GA_OK);
        assert_numbers(number, NUMBERS(9));
    }
}

/* The number of true elements is not known while a graph is recorded. */
static void graphs_take_no_masks(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(3, 4)), *rows = ga_ones(GA_BOOL, GA_SHAPE(3)),
                 *yes = ga_ones(GA_BOOL, GA_SHAPE0);
        assert_int_equal(ga_graph_begin(), GA_OK);
        assert_null(ga_index(x, rows, INT64S(0)));
        assert_error(GA_ERR_UNSUPPORTED, "cannot be recorded in a graph");
        assert_int_equal(ga_index_set(x, 1, yes), GA_ERR_UNSUPPORTED);
        assert_error(GA_ERR_UNSUPPORTED, "cannot be recorded in a graph");
        ga_graph_free(ga_graph_end());
        ga_clear_error();
    }
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
            assert_int_equal(ga_index_add(x, 1, GA_ALL, INT64S(0, 4)), GA_ERR_INDEX);
            assert_error(GA_ERR_INDEX,
                         "index_add: index 4 at position 1 is out of range for axis 1");
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
        assert_null(ga_index(x, 7));
        assert_error(GA_ERR_INDEX, "index: index 7 is out of range for axis 0 of length 2");
        assert_int_equal(ga_index_set(ga_broadcast_to(x, GA_SHAPE(4, 2, 3)), 1, INT64S(0)),
                         GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "index_set: ");
        assert_int_equal(ga_index_set(x, ga_ones(GA_INT32, GA_SHAPE(5)), INT64S(0, 1)),
                         GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "index_set: a value of shape (5,) does not broadcast");
        assert_int_equal(ga_index_add(x, ga_ones(GA_INT32, GA_SHAPE(5)), INT64S(0, 1)),
                         GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "index_add: a value of shape (5,) does not broadcast");
        assert_int_equal(ga_index_add(x, 1.5, INT64S(0, 1)), GA_ERR_DTYPE);
        assert_error(GA_ERR_DTYPE, "index_add: ");
        assert_int_equal(ga_index_maximum(x, (gpuarray *)NULL, INT64S(0)), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "index_maximum: the value is NULL");
        assert_int_equal(ga_index_multiply(ga_broadcast_to(x, GA_SHAPE(4, 2, 3)), 1, INT64S(0)),
                         GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "index_multiply: ");
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
        assert_error(GA_ERR_SHAPE, "pad: 3 widths, expected 1, 2 or two for each of 2 dimensions");
        assert_null(ga_pad(x, GA_SHAPE(1), .mode = "middle"));
        assert_error(GA_ERR_INVALID, "pad: unknown mode \"middle\"");
        assert_null(ga_pad(ga_slice(x, ":0"), GA_SHAPE(1), .mode = "edge"));
        assert_error(GA_ERR_SHAPE, "pad: axis 0 has no elements for mode \"edge\"");
        assert_null(ga_repeat(x, -1));
        assert_error(GA_ERR_INVALID, "repeat: the count -1 is negative");
        assert_int_equal(ga_split(x, 2, 1, out), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "split: axis 1 of length 3 does not divide into 2 parts");
        assert_null(ga_tril(ga_slice(x, "0,0"), 0));
        assert_error(GA_ERR_SHAPE, "tril: the array has 0 dimensions, expected at least 1");
    }
}

/* ---- Launches ---- */

/* Rows of 4 KB and more move as vectors, all of up to eight pieces in one launch: from any address
 * to any, and from pieces that are neighbours in memory. */
static void long_rows_join_in_vectors(void **state)
{
    static const ga_dtype dtypes[] = {GA_UINT8, GA_INT16, GA_FLOAT32, GA_COMPLEX64};
    (void)state;
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        GA_SCOPE {
            const int length = 4096 / (int)ga_dtype_size(dtypes[d]) + 3;
            gpuarray *x = ga_astype(counting(GA_SHAPE(3, 3 * length)), dtypes[d]),
                     *a = ga_slice(x, ":, :%d", length),
                     *b = ga_slice(x, ":, %d:%d", length, 2 * length),
                     *c = ga_slice(x, ":, %d:", 2 * length);
            int before = simulated.launches;
            gpuarray *wide = ga_concatenate(GA_ARRAYS(b, c, a, a), GA_AXIS(1)),
                     *again = ga_concatenate(GA_ARRAYS(a, b, c), GA_AXIS(1)),
                     *tall = ga_concatenate(GA_ARRAYS(c, a)),
                     *deep = ga_stack(GA_ARRAYS(a, c, b, a), GA_AXIS(1));
            assert_int_equal(simulated.launches - before, 4);
            assert_true(ga_array_equal(again, x));
            assert_true(ga_array_equal(ga_slice(wide, ":, :%d", 2 * length),
                                       ga_slice(x, ":, %d:", length)));
            for (int k = 2; k < 4; k++)
                assert_true(
                    ga_array_equal(ga_slice(wide, ":, %d:%d", k * length, (k + 1) * length), a));
            assert_true(ga_array_equal(ga_slice(tall, ":3"), c));
            assert_true(ga_array_equal(ga_slice(tall, "3:"), a));
            assert_true(ga_array_equal(ga_slice(deep, ":, 1"), c));
            assert_true(ga_array_equal(ga_slice(deep, ":, 2"), b));
            assert_true(ga_array_equal(ga_slice(deep, ":, 3"), a));
            assert_int_equal(ga_error(), GA_OK);
        }
}

/* Pieces of a megabyte are one launch too, unless they are many. */
static void large_pieces_are_one_launch(void **state)
{
    (void)state;
    GA_SCOPE {
        const gpuarray *many[9];
        gpuarray *x = ga_zeros(GA_UINT8, GA_SHAPE(256, 4100));
        for (int k = 0; k < 9; k++)
            many[k] = x;
        int before = simulated.launches;
        assert_non_null(ga_concatenate(8, many, GA_AXIS(1)));
        assert_non_null(ga_stack(4, many));
        assert_int_equal(simulated.launches - before, 2);
        assert_non_null(ga_concatenate(9, many, GA_AXIS(1)));
        assert_int_equal(simulated.launches - before, 11);
        assert_int_equal(ga_error(), GA_OK);
    }
}

static void joins_are_one_launch(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(5, 7));
        int before = simulated.launches;
        assert_non_null(
            ga_concatenate(GA_ARRAYS(x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x)));
        assert_int_equal(simulated.launches - before, 1);
        const gpuarray *many[60];
        for (int k = 0; k < 60; k++)
            many[k] = x;
        before = simulated.launches;
        assert_non_null(ga_concatenate(20, many));
        assert_non_null(ga_concatenate(25, many, GA_AXIS(1)));
        assert_int_equal(simulated.launches - before, 2);
        gpuarray *of_60 = ga_concatenate(60, many);
        assert_int_equal(simulated.launches - before, 5);
        gpuarray *repeated = ga_tile(x, GA_SHAPE(60, 1));
        assert_true(ga_array_equal(of_60, repeated));
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
               ga_index(x, mask, 0) && ga_index(x, ga_any(mask), k) &&
               ga_choose(k, GA_ARRAYS(k, k));
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
               ga_put(x, k, v) == GA_OK && ga_place(x, x, v) == GA_OK &&
               ga_index_add(x, v, k, k) == GA_OK && ga_index_add(k, k, k) == GA_OK;
    }
    return done;
}

static bool join_and_move(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *parts[3], *x = ga_ones(GA_INT32, GA_SHAPE(6, 5)),
                            *k = x ? ga_ones(GA_INT64, GA_SHAPE(3)) : NULL;
        done = k && ga_concatenate(GA_ARRAYS(x, x)) && ga_stack(GA_ARRAYS(x, x)) &&
               ga_stack(GA_ARRAYS(x, x), GA_AXIS(-1)) && ga_roll(x, 1) && ga_repeat(k, k) &&
               ga_diag(k, 1) && ga_trace(x, 0, 0, 1) && ga_rot90(x, 1) && ga_diff(x, 2) &&
               ga_split(x, 3, 0, parts) == GA_OK && ga_meshgrid(GA_ARRAYS(k, k), parts) == GA_OK;
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
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++)
        survive_failures(calls[k]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_join),
        cmocka_unit_test(elements_are_stacked_in_turn),
        cmocka_unit_test(pieces_of_unlike_dtypes_join),
        cmocka_unit_test(many_arrays_join),
        cmocka_unit_test(elements_move),
        cmocka_unit_test(indices_read_and_write),
        cmocka_unit_test(the_last_of_equal_indices_wins),
        cmocka_unit_test(the_last_wins_between_blocks),
        cmocka_unit_test(equal_indices_all_count),
        cmocka_unit_test(each_key_is_folded_once),
        cmocka_unit_test(rows_are_folded),
        cmocka_unit_test(large_arrays_move_by_blocks),
        cmocka_unit_test(folds_are_the_same_in_every_run),
        cmocka_unit_test(indices_may_be_the_array),
        cmocka_unit_test(masks_stand_beside_indices),
        cmocka_unit_test(a_truth_takes_no_axis),
        cmocka_unit_test(graphs_take_no_masks),
        cmocka_unit_test(indices_out_of_range_are_errors),
        cmocka_unit_test(graphs_report_later),
        cmocka_unit_test(bad_calls_are_errors),
        cmocka_unit_test(allocations_may_fail),
        simulated_test(joins_are_one_launch),
        simulated_test(long_rows_join_in_vectors),
        simulated_test(large_pieces_are_one_launch),
        simulated_test(arrays_join),
        simulated_test(many_arrays_join),
        simulated_test(elements_move),
        simulated_test(indices_read_and_write),
        simulated_test(the_last_of_equal_indices_wins),
        simulated_test(many_tuples_are_sorted),
        simulated_test(lines_are_taken),
        simulated_test(cuda_moves_whole_rows),
        simulated_test(equal_indices_all_count),
        simulated_test(many_integers_are_summed_by_blocks),
        simulated_test(rows_are_folded),
        simulated_test(masks_stand_beside_indices),
        simulated_test(a_truth_takes_no_axis),
        simulated_test(indices_out_of_range_are_errors),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
