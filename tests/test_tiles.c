/* CUDA's kernels of tiles, run by the simulator: copies in any order of axes and operations over
 * rows of any length, at any address, give the host's bytes and write no others. */
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { PROCESSORS = 2, MOST_BYTES = 1 << 22, AROUND = 64 };

/* ---- Arrays within larger ones ---- */

/* An array of the shape that begins `skipped` elements into a line, which *line receives. */
static gpuarray *within(ga_dtype dtype, int ndim, const int64_t *shape, int skipped, int seed,
                        gpuarray **line)
{
    static unsigned char bytes[MOST_BYTES];
    const int64_t size = ga__shape_size(ndim, shape), all = size + 2 * AROUND;
    const size_t nbytes = (size_t)all * ga_dtype_size(dtype);
    assert_true(nbytes <= sizeof bytes);
    for (size_t k = 0; k < nbytes; k++)
        bytes[k] = (unsigned char)((k * 167 + k / 251 + (size_t)seed * 31) & 0x3f);
    *line = ga_from_host(bytes, dtype, 1, &all);
    gpuarray *part = ga_slice(*line, "%d:%lld", skipped, (long long)(skipped + size));
    return ga_reshape(part, ndim, shape);
}

/* ---- Cases ---- */

typedef struct layout {
    ga_dtype dtype;
    int ndim;
    int64_t shape[5];                   /* of what is read */
    int axes[5];                        /* of the result, among those */
    int from, to;                       /* elements before the first one */
    const char *window, *result_window; /* NULL: whole arrays */
} layout;

enum { COPY, ADD, ADD_COLUMN, ADD_ROW, ADD_SELF, WORKS };
static const char *const works[] = {"copy", "add", "add a column", "add a row", "add to itself"};

/* The operand of a case beside the result and what is read; NULL for a copy. */
static gpuarray *other_operand(int work, const layout *l, const gpuarray *out, gpuarray **line)
{
    int64_t shape[5];
    for (int k = 0; k < out->ndim; k++)
        shape[k] = work == ADD || (work == ADD_COLUMN) == (k < out->ndim - 1) ? out->shape[k] : 1;
    return work == COPY || work == ADD_SELF ? NULL : within(l->dtype, out->ndim, shape, 3, 2, line);
}

/* All bytes of the line that the result is a part of. */
static size_t run_case(ga__device *device, int work, const layout *l, char *bytes)
{
    size_t nbytes = 0;
    ga__use_device(device);
    GA_SCOPE {
        gpuarray *line, *read = within(l->dtype, l->ndim, l->shape, l->from, 1, &line), *results;
        int64_t shape[5];
        if (l->window)
            read = ga_slice(read, "%s", l->window);
        const gpuarray *x = ga_transpose_axes(read, l->ndim, l->axes);
        for (int k = 0; k < l->ndim; k++)
            shape[k] = x->shape[k] + (l->result_window ? 3 : 0);
        gpuarray *out = within(l->dtype, l->ndim, shape, l->to, 7, &results);
        if (l->result_window)
            out = ga_slice(out, "%s", l->result_window);
        const gpuarray *y = other_operand(work, l, out, &line);
        const ga_status status = work == COPY       ? ga_assign(out, x)
                                 : work == ADD_SELF ? ga_add_into(out, out, x)
                                                    : ga_add_into(out, x, y);
        if (status != GA_OK)
            fail_msg("%s: %s", works[work], ga_error_message());
        nbytes = ga_nbytes(results);
        assert_int_equal(ga_to_host(results, bytes, nbytes), GA_OK);
    }
    return nbytes;
}

static bool wants(int work, const layout *l)
{
    char text[200];
    snprintf(text, sizeof text, "%d %d %s %d %d %d %s %s", work, (int)l->dtype,
             ga__shape_text(l->ndim, l->shape), l->axes[0], l->from, l->to,
             l->window ? l->window : "-", l->result_window ? l->result_window : "-");
    return in_sample(text);
}

static void compare_devices(int work, const layout *l)
{
    static char wanted[MOST_BYTES], got[MOST_BYTES];
    const size_t nbytes = run_case(ga__find_device("cpu"), work, l, wanted);
    const int before = simulated.launches;
    assert_int_equal(run_case(&simulated_device, work, l, got), nbytes);
    assert_true(simulated.launches > before);
    for (size_t k = 0; k < nbytes; k++)
        if (wanted[k] != got[k])
            fail_msg("%s of %s %s, axes %d %d %d, from %d to %d, window %s, %s: byte %zu is %d, "
                     "not %d",
                     works[work], ga_dtype_name(l->dtype), ga__shape_text(l->ndim, l->shape),
                     l->axes[0], l->axes[1], l->axes[2], l->from, l->to,
                     l->window ? l->window : "-", l->result_window ? l->result_window : "-", k,
                     got[k], wanted[k]);
}

static void check_case(int work, const layout *l)
{
    if (wants(work, l))
        compare_devices(work, l);
}

static const ga_dtype by_size[] = {GA_INT8, GA_INT16, GA_INT32, GA_INT64, GA_COMPLEX128};

/* ---- Transposes ---- */

static void transpose(int size, int64_t rows, int64_t columns, int from, int to)
{
    const layout l = {.dtype = by_size[size],
                      .ndim = 2,
                      .shape = {rows, columns},
                      .axes = {1, 0},
                      .from = from,
                      .to = to};
    check_case(COPY, &l);
}

static void narrow_arrays_are_transposed(void **state)
{
    (void)state;
    for (int size = 0; size < 5; size++)
        for (int64_t narrow = 2; narrow <= 19; narrow += narrow < 9 ? 1 : 5) {
            transpose(size, 3000 / narrow, narrow, 0, 0);
            transpose(size, narrow, 3000 / narrow, 0, 0);
            transpose(size, 3001 / narrow, narrow, 1, 3);
            transpose(size, narrow, 3001 / narrow, 3, 1);
        }
}

static void arrays_around_tiles_are_transposed(void **state)
{
    (void)state;
    static const int64_t lengths[] = {31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 255, 257};
    enum { LENGTHS = sizeof lengths / sizeof *lengths };
    for (int size = 0; size < 5; size++)
        for (int k = 0; k < LENGTHS; k++) {
            transpose(size, lengths[k], lengths[(k * 5 + 3) % LENGTHS], 0, 0);
            transpose(size, lengths[k], lengths[(k * 7 + 1) % LENGTHS], k % 5, k % 7);
        }
}

/* By squares: whole vectors, and rows that squares do not fill. */
static void round_arrays_are_transposed(void **state)
{
    (void)state;
    for (int size = 1; size < 5; size++)
        for (int work = COPY; work < WORKS; work++) {
            const int64_t side = size == 1 ? 128 : size == 4 ? 32 : 64;
            layout l = {.dtype = by_size[size],
                        .ndim = 3,
                        .shape = {2, side + 8, 2 * side + 24},
                        .axes = {0, 2, 1}};
            check_case(work, &l);
            l = (layout){.dtype = by_size[size],
                         .ndim = 3,
                         .shape = {side + 40, 3, side},
                         .axes = {2, 1, 0}};
            check_case(work, &l);
        }
}

static void arrays_begin_anywhere(void **state)
{
    (void)state;
    for (int size = 0; size < 4; size++)
        for (int skipped = 0; skipped < 16 >> size; skipped++) {
            transpose(size, 70, 66, skipped, 0);
            transpose(size, 71, 65, 0, skipped);
            transpose(size, 500, 3, skipped, skipped / 2 + 1);
            transpose(size, 3, 501, skipped / 2 + 1, skipped);
        }
}

static void windows_are_transposed(void **state)
{
    (void)state;
    static const char *const windows[] = {"1:, 1:", ":, :-2", "2:-1, 1:5", "::2, :", ":, ::2"};
    for (int size = 0; size < 5; size++)
        for (size_t k = 0; k < sizeof windows / sizeof *windows; k++)
            for (int wide = 0; wide < 2; wide++) {
                layout l = {.dtype = by_size[size],
                            .ndim = 2,
                            .shape = {wide ? 67 : 301, wide ? 75 : 9},
                            .axes = {1, 0},
                            .window = windows[k]};
                check_case(COPY, &l);
                l.result_window = "1:-2, 2:-1";
                check_case(COPY, &l);
                l.window = NULL;
                check_case(COPY, &l);
            }
}

/* ---- More axes ---- */

static void any_order(uint64_t *seed, int ndim, int64_t largest)
{
    layout l = {.dtype = by_size[next_random(seed) % 5], .ndim = ndim};
    int64_t size = 1;
    for (int k = 0; k < ndim; k++) {
        const uint64_t most = UINT64_C(2) << next_random(seed) % 7;
        l.shape[k] = 2 + (int64_t)(next_random(seed) % most);
        while (size * l.shape[k] > largest)
            l.shape[k] = (l.shape[k] + 1) / 2;
        size *= l.shape[k];
        const int place = (int)(next_random(seed) % (uint64_t)(k + 1));
        l.axes[k] = l.axes[place];
        l.axes[place] = k;
    }
    l.from = (int)(next_random(seed) % 3 * (next_random(seed) % 16));
    l.to = (int)(next_random(seed) % 3 * (next_random(seed) % 16));
    check_case(next_random(seed) % 4 ? COPY : ADD, &l);
}

static void axes_come_in_any_order(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 400; round++)
        any_order(&seed, 2 + round % 4, round % 7 ? 6000 : 40000);
}

/* ---- Rows of any length, at any address ---- */

static void rows_take_columns_rows_and_windows(void **state)
{
    (void)state;
    static const int64_t lengths[] = {3,  4,   5,   7,   8,   13,  15,  16,  17,
                                      33, 100, 127, 129, 384, 385, 768, 769, 1025};
    for (int size = 0; size < 3; size++)
        for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
            for (int work = COPY; work < WORKS; work++)
                for (int skipped = 0; skipped < 8; skipped += 3) {
                    layout l = {.dtype = by_size[size],
                                .ndim = 2,
                                .shape = {4000 / lengths[k], lengths[k]},
                                .axes = {0, 1},
                                .from = skipped,
                                .to = (skipped * 5 + (int)k) % 16};
                    check_case(work, &l);
                    l.window = ":, 1:-1";
                    check_case(work, &l);
                    l.result_window = "1:-2, 2:-1";
                    check_case(work, &l);
                }
}

/* How many blocks add a row of 4-byte elements to each row, with a cache of that size. */
static int64_t grid_of_rows(int64_t rows, int64_t length, size_t cache_bytes)
{
    const layout l = {GA_FLOAT32, 2, {rows, length}, {0, 1}, 0, 0, NULL, NULL};
    simulated_device.cache_bytes = cache_bytes;
    compare_devices(ADD_ROW, &l);
    simulated_device.cache_bytes = 0;
    return simulated.last.grid;
}

/* A row that has left the cache when the next row reads it: blocks take the same part of all rows
 * in turn, as many of each row. */
static void rows_share_a_long_row(void **state)
{
    static const layout narrow[] = {
        {GA_FLOAT16, 2, {7, 9001}, {0, 1}, 3, 1, NULL, NULL},
        {GA_INT8, 3, {2, 3, 9001}, {0, 1, 2}, 1, 5, NULL, NULL},
    };
    (void)state;
    assert_int_equal(grid_of_rows(5, 3101, 4 * 3101 * 6), 31);
    assert_int_equal(grid_of_rows(5, 3101, 4 * 3101 * 6 - 2), 35);
    assert_int_equal(grid_of_rows(3, 4096, 4096), 24);
    assert_int_equal(grid_of_rows(40, 70, 4), 6); /* blocks have several rows */
    simulated_device.cache_bytes = 4096;
    for (size_t k = 0; k < sizeof narrow / sizeof *narrow; k++)
        compare_devices(ADD_ROW, &narrow[k]);
    simulated_device.cache_bytes = 0;
}

/* Likewise with whole vectors. */
static void whole_vectors_share_a_long_row(void **state)
{
    (void)state;
    float got[3 * 2100], wanted[3 * 2100];
    simulated_device.cache_bytes = 4096;
    for (int k = 0; k < 2; k++) {
        ga__use_device(k ? ga__find_device("cpu") : &simulated_device);
        GA_SCOPE {
            const gpuarray *x = ga_arange(GA_FLOAT32, 0, 3 * 2100, 1),
                           *m = ga_reshape(x, GA_SHAPE(3, 2100)), *row = ga_slice(x, ":2100");
            const gpuarray *r = ga_subtract(m, row);
            assert_int_equal(ga_to_host(r, k ? wanted : got, sizeof got), GA_OK);
        }
        if (k == 0)
            assert_int_equal(simulated.last.grid, 15);
    }
    simulated_device.cache_bytes = 0;
    assert_memory_equal(got, wanted, sizeof got);
}

static void lines_begin_anywhere(void **state)
{
    (void)state;
    for (int size = 0; size < 3; size++)
        for (int from = 0; from < 16; from++)
            for (int to = 0; to < 16; to += 3) {
                const layout l = {.dtype = by_size[size],
                                  .ndim = 1,
                                  .shape = {4500 + from * to},
                                  .from = from,
                                  .to = to};
                check_case(ADD, &l);
                check_case(COPY, &l);
            }
}

static int open_devices(void **state)
{
    (void)state;
    return open_simulated_device(PROCESSORS) ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(narrow_arrays_are_transposed),
        cmocka_unit_test(arrays_around_tiles_are_transposed),
        cmocka_unit_test(round_arrays_are_transposed),
        cmocka_unit_test(arrays_begin_anywhere),
        cmocka_unit_test(windows_are_transposed),
        cmocka_unit_test(axes_come_in_any_order),
        cmocka_unit_test(rows_take_columns_rows_and_windows),
        cmocka_unit_test(rows_share_a_long_row),
        cmocka_unit_test(whole_vectors_share_a_long_row),
        cmocka_unit_test(lines_begin_anywhere),
    };
    return run_named_tests(argc, argv, tests, open_devices, NULL);
}
