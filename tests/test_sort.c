/* Sorts: NumPy's order, stable, with all bits kept, by every way of the host and of CUDA's kernels,
 * which the simulator runs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "base/alloc.h"
#include "base/embedded.h"
#include "golden.h"
#include "jit/template.h"
#include "kernels/sort/sort_plan.h"
#include "kernels/sort/sort_text.h"
#include "layouts.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

/* ---- NumPy's order, of numbers as C has them ---- */

static int compare_floats(double a, double b)
{
    if (isnan(a) || isnan(b))
        return isnan(a) - isnan(b);
    return (a > b) - (a < b);
}

/* R + Rj, R + nanj, nan + Rj, nan + nanj. */
static int compare_complex(const double *a, const double *b)
{
    const int a_class = 2 * isnan(a[0]) + isnan(a[1]), b_class = 2 * isnan(b[0]) + isnan(b[1]);
    if (a_class != b_class)
        return a_class < b_class ? -1 : 1;
    const int first = compare_floats(a[0], b[0]);
    return first ? first : compare_floats(a[1], b[1]);
}

static bool has_nan(char kind, ga_value a)
{
    return (kind == 'f' && isnan(a.as.z[0])) ||
           (kind == 'c' && (isnan(a.as.z[0]) || isnan(a.as.z[1])));
}

static int compare(ga_dtype dtype, const char *a, const char *b, bool descending)
{
    const ga_value x = ga__dtype_fetch(dtype, a), y = ga__dtype_fetch(dtype, b);
    const char kind = ga__dtype_kind(dtype);
    int order;
    switch (kind) {
    case 'f': order = compare_floats(x.as.z[0], y.as.z[0]); break;
    case 'c': order = compare_complex(x.as.z, y.as.z); break;
    case 'u': order = (x.as.u > y.as.u) - (x.as.u < y.as.u); break;
    default: order = (x.as.i > y.as.i) - (x.as.i < y.as.i);
    }
    /* NaN is last in both orders. Of two complex numbers with NaN in the same part, the others
     * descend. */
    if (kind == 'c' && has_nan(kind, x) && has_nan(kind, y)) {
        const int x_class = 2 * isnan(x.as.z[0]) + isnan(x.as.z[1]),
                  y_class = 2 * isnan(y.as.z[0]) + isnan(y.as.z[1]);
        return x_class != y_class || !descending ? order : -order;
    }
    return descending && !has_nan(kind, x) && !has_nan(kind, y) ? -order : order;
}

/* ---- Random elements ---- */

typedef enum contents { ANY_BITS, SPECIAL, FEW, ASCENDING, DESCENDING, EQUAL, CONTENTS } contents;
static const char *const contents_names[] = {"any bits",  "special",    "few",
                                             "ascending", "descending", "equal"};

static void store(ga_dtype dtype, double re, double im, char *at)
{
    const ga_value value = {.kind = GA_VALUE_NUMBER, .dtype = GA_COMPLEX128, .as.z = {re, im}};
    ga__dtype_store(dtype, value, at);
}

static void put_element(ga_dtype dtype, contents what, int64_t k, uint64_t *seed, char *at)
{
    static const double special[] = {0.0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 0.5};
    const size_t size = ga_dtype_size(dtype);
    const uint64_t r = next_random(seed), s = next_random(seed);
    switch (what) {
    case ANY_BITS:
        memcpy(at, &r, size < 8 ? size : 8);
        if (size > 8)
            memcpy(at + 8, &s, 8);
        if (dtype == GA_BOOL)
            *at &= 1;
        break;
    case SPECIAL: store(dtype, special[r % 8], special[s % 8], at); break;
    case FEW: store(dtype, (double)(r % 3), (double)(s % 2), at); break;
    case ASCENDING: store(dtype, (double)(k / 3 % 100), (double)(s % 2), at); break;
    case DESCENDING: store(dtype, (double)(100 - k / 3 % 100), (double)(s % 2), at); break;
    default: store(dtype, 1, 2, at);
    }
}

static char *make_bytes(ga_dtype dtype, contents what, int64_t count, uint64_t seed)
{
    const size_t size = ga_dtype_size(dtype);
    char *bytes = malloc((size_t)count * size + 1);
    assert_non_null(bytes);
    for (int64_t k = 0; k < count; k++)
        put_element(dtype, what, k, &seed, bytes + (size_t)k * size);
    return bytes;
}

/* ---- Checks of results ---- */

static char *host_bytes(const gpuarray *x, const char *what)
{
    char *bytes = malloc(ga_nbytes(x) + 1);
    assert_non_null(bytes);
    if (!x || ga_to_host(x, bytes, ga_nbytes(x)) != GA_OK)
        fail_msg("%s: %s", what, ga_error_message());
    return bytes;
}

/* One line of an array: `length` elements, `step` elements apart. */
typedef struct line {
    ga_dtype dtype;
    const char *elements, *values; /* values NULL: unchecked */
    const int64_t *indices;
    int64_t length, step;
    bool descending;
} line;

static const char *element_of(const line *l, const char *from, int64_t k)
{
    return from + (size_t)(k * l->step) * ga_dtype_size(l->dtype);
}

/* A permutation, in order, with ties in order, and values with the elements' bits. */
static void check_line(const line *l, const char *what)
{
    char *seen = calloc((size_t)l->length + 1, 1);
    assert_non_null(seen);
    for (int64_t k = 0; k < l->length; k++) {
        const int64_t index = l->indices[k * l->step];
        if (index < 0 || index >= l->length || seen[index])
            fail_msg("%s: index %lld at %lld", what, (long long)index, (long long)k);
        seen[index] = 1;
        const char *own = element_of(l, l->elements, index);
        if (l->values && memcmp(own, element_of(l, l->values, k), ga_dtype_size(l->dtype)) != 0)
            fail_msg("%s: value %lld has other bits than element %lld", what, (long long)k,
                     (long long)index);
        if (k == 0)
            continue;
        const int64_t before = l->indices[(k - 1) * l->step];
        const int order = compare(l->dtype, element_of(l, l->elements, before), own, l->descending);
        if (order > 0 || (order == 0 && before > index))
            fail_msg("%s: elements %lld and %lld are not in order", what, (long long)before,
                     (long long)index);
    }
    free(seen);
}

/* An array that is sorted in its own memory becomes the same. */
static void check_in_place(const gpuarray *x, int axis, bool descending, const char *wanted,
                           const char *what)
{
    gpuarray *own = ga_copy(x);
    if (!own || !ga_sort(own, GA_AXIS(axis), .descending = descending, .out = own))
        fail_msg("%s, in place: %s", what, ga_error_message());
    char *found = host_bytes(own, what);
    if (ga_is_contiguous(x) && memcmp(found, wanted, ga_nbytes(own)) != 0)
        fail_msg("%s: in place the bytes differ", what);
    free(found);
}

static void check_sorted(const gpuarray *x, int axis, bool descending, const char *what)
{
    const int place = axis < 0 ? axis + ga_ndim(x) : axis;
    gpuarray *values = ga_sort(x, GA_AXIS(axis), .descending = descending),
             *order = ga_argsort(x, GA_AXIS(axis), .descending = descending);
    if (!values || !order)
        fail_msg("%s: %s", what, ga_error_message());
    assert_int_equal(ga_dtype_of(values), ga_dtype_of(x));
    assert_int_equal(ga_dtype_of(order), GA_INT64);
    assert_true(ga_is_contiguous(values) && ga_is_contiguous(order));
    assert_true(ga__same_shape(ga_ndim(values), ga_shape(values), ga_ndim(x), ga_shape(x)));
    char *from = host_bytes(x, what), *to = host_bytes(values, what), *at = host_bytes(order, what);
    int64_t step = 1;
    for (int k = place + 1; k < ga_ndim(x); k++)
        step *= ga_shape(x)[k];
    const int64_t length = ga_shape(x)[place];
    const size_t size = ga_dtype_size(ga_dtype_of(x));
    for (int64_t k = 0; length > 0 && k < ga_size(x) / length; k++) {
        const int64_t first = k / step * step * length + k % step;
        const line l = {ga_dtype_of(x),
                        from + (size_t)first * size,
                        to + (size_t)first * size,
                        (const int64_t *)(const void *)at + first,
                        length,
                        step,
                        descending};
        check_line(&l, what);
    }
    check_in_place(x, axis, descending, to, what);
    free(from);
    free(to);
    free(at);
}

static void check_rows(ga_dtype dtype, int64_t rows, int64_t length, contents what, bool descending,
                       uint64_t seed)
{
    char text[160];
    snprintf(text, sizeof text, "%s of %s (%lld, %lld)%s, seed %llu, on %s", contents_names[what],
             ga_dtype_name(dtype), (long long)rows, (long long)length,
             descending ? " descending" : "", (unsigned long long)seed, ga_current_device());
    if (!in_sample(text))
        return;
    char *bytes = make_bytes(dtype, what, rows * length, seed);
    GA_SCOPE {
        check_sorted(ga_from_host(bytes, dtype, GA_SHAPE(rows, length)), -1, descending, text);
    }
    free(bytes);
}

/* ---- NumPy's answers ---- */

static void check_case(const golden_case *c, int number)
{
    const golden_blob *b = c->arg[0];
    char why[200];
    for (int how = 0; how < LAYOUT_COUNT; how++)
        GA_SCOPE {
            const gpuarray *x = layout_array((layout)how, b->data, b->dtype, b->ndim, b->shape);
            const int axis =
                c->axes[0] < 0 || how != LAYOUT_BROADCAST ? c->axes[0] : c->axes[0] + 1;
            const int copies = how == LAYOUT_BROADCAST ? 3 : 1;
            if (c->flags & GOLDEN_ERROR && how != LAYOUT_BROADCAST) {
                assert_null(ga_sort(x, GA_AXIS(axis)));
                expect_raised(GA_ERR_INVALID, "sort: axis");
                continue;
            }
            if (c->flags & GOLDEN_ERROR)
                continue; /* it has an axis */
            if (!golden_result(c, c->out[0], ga_sort(x, GA_AXIS(axis)), copies, why, sizeof why) ||
                !golden_result(c, c->out[1], ga_argsort(x, GA_AXIS(axis)), copies, why, sizeof why))
                fail_msg("case %d, %s of %s, axis %d, %s: %s", number, ga_dtype_name(b->dtype),
                         ga__shape_text(b->ndim, b->shape), axis, layout_names[how], why);
        }
}

static void answers_are_numpys(void **state)
{
    golden_file *file = golden_open("sort.bin");
    (void)state;
    for (int k = 0; k < file->ncases; k++)
        if (k % items_here(1, 2) == 0 && in_short_sample("answers", k, file->ncases))
            check_case(&file->cases[k], k);
    golden_close(file);
}

/* ---- Every way ---- */

static ga_dtype random_dtype(uint64_t *seed)
{
    return (ga_dtype)(1 + random_below(seed, GA_DTYPE_COUNT - 1));
}

/* Lengths around the host's and CUDA's limits: networks, rows, shared rows. */
static void check_lengths(const int64_t *lengths, size_t count, int64_t elements, uint64_t seed)
{
    for (size_t k = 0; k < count; k++) {
        const int64_t most = elements / lengths[k];
        const int64_t rows = 1 + random_below(&seed, most < 1 ? 1 : most < 150 ? most : 150);
        for (int c = 0; c < CONTENTS; c++) {
            if (c > SPECIAL && random_below(&seed, 3) > 0)
                continue;
            const ga_dtype dtype = random_dtype(&seed);
            check_rows(dtype, rows, lengths[k], (contents)c, random_below(&seed, 2), seed);
        }
    }
}

static void the_host_sorts_rows_of_any_length(void **state)
{
    static const int64_t lengths[] = {1,   2,   3,   7,     16,    31,    64,   65,
                                      255, 256, 257, 300,   999,   1000,  4096, 20000,
                                      2,   40,  200, 70000, 66001, 131072};
    (void)state;
    check_lengths(lengths, sizeof lengths / sizeof *lengths, 20000, 11);
}

/* Networks take vectors in squares, pairs and parts of either. */
static void networks_of_any_length(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_INT64, GA_COMPLEX64};
    (void)state;
    for (int64_t length = 1; length <= 400; length += 1 + length / 16)
        for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
            check_rows(dtypes[k], 2, length, length % 3 ? ANY_BITS : SPECIAL, false,
                       (uint64_t)length);
}

/* Of numbers that differ in few low bits, but for two at the ends, words of the high bits and the
 * index tell nothing: few of them out of order are put in order, many take digits. */
static void indices_of_close_numbers(void **state)
{
    enum { LENGTH = 3000 };
    static int64_t keys[LENGTH], order[LENGTH];
    (void)state;
    for (int period = 2; period <= 1024; period *= 8) {
        for (int64_t k = 0; k < LENGTH; k++)
            keys[k] = period == 2 ? k + (k % 16 == 0) * 3 : k * 7919 % period;
        keys[5] = INT64_MAX;
        keys[LENGTH - 5] = INT64_MIN;
        GA_SCOPE {
            gpuarray *x = ga_from_host(keys, GA_INT64, GA_SHAPE(LENGTH));
            assert_int_equal(ga_to_host(ga_argsort(x), order, sizeof order), GA_OK);
        }
        for (int64_t k = 1; k < LENGTH; k++) {
            const int64_t a = keys[order[k - 1]], b = keys[order[k]];
            assert_true(a < b || (a == b && order[k - 1] < order[k]));
        }
    }
}

/* Rows that are in order, or in the reverse order with ties, but for a few elements. */
static void rows_in_order(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_INT64, GA_UINT16, GA_FLOAT64};
    static const int64_t lengths[] = {700, 3000, 270000};
    (void)state;
    for (int turn = 0; turn < 24; turn++) {
        const ga_dtype dtype = dtypes[turn % 4];
        const int64_t n = lengths[turn / 8];
        const size_t size = ga_dtype_size(dtype);
        char *bytes = malloc((size_t)n * size), text[80];
        assert_non_null(bytes);
        for (int64_t k = 0; k < n; k++) {
            const double number = (double)((turn / 4 % 2 ? n - k : k) / 7 % 60000) - 100;
            store(dtype, turn % 3 == 0 && k == n / 2 ? -0.0 : number, 0, bytes + (size_t)k * size);
        }
        snprintf(text, sizeof text, "in order: turn %d", turn);
        GA_SCOPE {
            if (in_eighth(text))
                check_sorted(ga_from_host(bytes, dtype, GA_SHAPE(1, n)), -1, turn % 5 == 0, text);
        }
        free(bytes);
    }
}

/* Keys of few bytes are counted, from some length on; others are sorted by vectors or digits. */
static void counted_rows(void **state)
{
    static const ga_dtype dtypes[] = {GA_INT16, GA_FLOAT16, GA_UINT16,      GA_INT8,
                                      GA_BOOL,  GA_UINT8,   GA_FLOAT8_E5M2, GA_BFLOAT16};
    (void)state;
    for (int k = 0; k < 8; k++)
        for (int64_t n = 32766; n <= 32770; n += 2)
            check_rows(dtypes[k], 2, n, n % 4 ? ANY_BITS : SPECIAL, k % 2, (uint64_t)(n + k));
}

static void long_rows_of_every_dtype(void **state)
{
    (void)state;
    for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++)
        check_rows((ga_dtype)d, 1, 65536 + 17 * d, d % 2 ? ANY_BITS : SPECIAL, d % 3 == 0,
                   (uint64_t)d);
}

/* The simulator runs warps, blocks of a row, and passes over tiles. */
static void cuda_sorts_rows_of_any_length(void **state)
{
    static const int64_t lengths[] = {2,    3,    5,   9,   17,    32,    33,    64,
                                      100,  129,  256, 257, 512,   700,   1025,  2049,
                                      5000, 9000, 31,  250, 16384, 16385, 21000, 40000};
    (void)state;
    need_simulator();
    ga__use_device(&simulated_device);
    check_lengths(lengths, sizeof lengths / sizeof *lengths, 3000, 5);
}

/* Passes of rows that several tiles share, of every size of elements; the fewer processors, the
 * larger the tiles. */
static void cuda_sorts_long_rows(void **state)
{
    static const int processors[] = {1, 6, 132};
    const int all = simulated_device.processors;
    static const ga_dtype dtypes[] = {GA_INT8,  GA_BOOL,      GA_FLOAT16, GA_FLOAT32,
                                      GA_INT64, GA_COMPLEX64, GA_UINT32,  GA_COMPLEX128};
    (void)state;
    need_simulator();
    ga__use_device(&simulated_device);
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        simulated_device.processors = processors[k % 3];
        check_rows(dtypes[k], 1, 33000 + (int64_t)k, k % 2 ? ANY_BITS : SPECIAL, k % 3 == 1, k);
        simulated_device.processors = processors[(k + 1) % 3];
        check_rows(dtypes[k], 2, 20500 + (int64_t)k, k % 2 ? FEW : ANY_BITS, false, k + 9);
    }
    simulated_device.processors = 1;
    for (int descending = 0; descending < 2; descending++) /* of -0 and NaN */
        check_rows(GA_FLOAT32, 1, 60000, SPECIAL, descending, 40);
    check_rows(GA_BFLOAT16, 1, 30000, SPECIAL, true, 41);
    check_rows(GA_FLOAT8_E4M3FN, 1, 30000, SPECIAL, true, 42);
    simulated_device.processors = all;
}

/* Without an opt-in to more shared memory, rows that exceed it take passes, and tiles are shorter.
 */
static void cuda_sorts_with_little_shared_memory(void **state)
{
    const size_t shared = simulated_device.shared_bytes;
    const int processors = simulated_device.processors;
    (void)state;
    need_simulator();
    simulated_device.shared_bytes = 0;
    ga__use_device(&simulated_device);
    check_rows(GA_FLOAT64, 2, 4000, ANY_BITS, false, 1);
    check_rows(GA_FLOAT32, 1, 9000, SPECIAL, true, 2);
    simulated_device.processors = 1; /* the longest tiles */
    check_rows(GA_FLOAT64, 2, 8000, ANY_BITS, true, 3);
    check_rows(GA_FLOAT32, 1, 24000, ANY_BITS, false, 4);
    simulated_device.processors = processors;
    simulated_device.shared_bytes = shared;
}

/* Rows too long for a test compile: their indices have 64 bits. */
static void check_wide(ga__device *device, ga__sort_step step)
{
    static const ga__formula formula = {.name = "sort", .body = ""};
    const ga__sort_variant v = {.type = GA_FLOAT32,
                                .step = (uint8_t)step,
                                .host = ga__on_host(device),
                                .values = true,
                                .indices = true,
                                .wide = true,
                                .items = 8,
                                .block = 256};
    ga__record *record = ga__sort_text(&formula, &v);
    char *text = ga__fill(ga__embedded_file("sort.tmpl", strlen("sort.tmpl")), record);
    void *code = NULL;
    size_t nbytes = 0;
    assert_non_null(text);
    const ga__source source = {.name = "sort", .text = text};
    if (device->backend->code.compile(device, &source, &code, &nbytes) != GA_OK)
        fail_msg("step %d on %s: %s", step, device->name, ga_error_message());
    ga__free(code);
    ga__free(text);
    ga__record_free(record);
}

/* A plan of more elements than memory holds: no array is made. */
static void check_long_plan(ga__device *device, ga_dtype dtype, int64_t length)
{
    ga__buffer buffer = {.device = device};
    int64_t strides[] = {(int64_t)ga__dtype_size(dtype)};
    gpuarray x = {.dtype = dtype,
                  .ndim = 1,
                  .shape = &length,
                  .strides = strides,
                  .size = length,
                  .contiguous = true,
                  .buffer = &buffer};
    ga__sort_plan p;
    ga__sort_plan_make(&p, &(ga__sort_call){.from = &x, .to = &x});
    assert_int_equal(p.way, GA__SORT_BY_PASSES);
    assert_true(p.share * p.shares >= length && p.share * (p.shares - 1) < length);
    assert_true(ga__on_host(device) || p.v.wide == (length >= (int64_t)1 << 30));
}

static void plans_of_any_length_end(void **state)
{
    static const ga_dtype dtypes[] = {GA_BOOL, GA_FLOAT16, GA_INT64, GA_COMPLEX128};
    (void)state;
    need_simulator();
    for (int bits = 17; bits < 42; bits++)
        for (int64_t length = ((int64_t)1 << bits) - 1; length <= ((int64_t)1 << bits) + 1;
             length++)
            for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
                check_long_plan(&simulated_device, dtypes[d], length);
}

/* Threads of a short row: eight have up to eight elements each, then more threads have eight. */
static void short_rows_have_few_threads(void **state)
{
    static const struct {
        int64_t length;
        int team, items;
    } cases[] = {{2, 2, 1},  {5, 8, 1},  {8, 8, 1},   {9, 8, 2},    {17, 8, 4},
                 {33, 8, 8}, {64, 8, 8}, {65, 16, 8}, {129, 32, 8}, {256, 32, 8}};
    (void)state;
    need_simulator();
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        ga__buffer buffer = {.device = &simulated_device};
        int64_t shape[] = {1000, cases[k].length}, strides[] = {4 * cases[k].length, 4};
        gpuarray x = {.dtype = GA_FLOAT32,
                      .ndim = 2,
                      .shape = shape,
                      .strides = strides,
                      .size = 1000 * cases[k].length,
                      .contiguous = true,
                      .buffer = &buffer};
        ga__sort_plan p;
        ga__sort_plan_make(&p, &(ga__sort_call){.from = &x, .to = &x});
        assert_int_equal(p.way, GA__SORT_BY_NETWORK);
        assert_int_equal(p.v.team, cases[k].team);
        assert_int_equal(p.v.items, cases[k].items);
        assert_int_equal(p.share, p.v.block / cases[k].team);
    }
}

static void rows_of_two_billion_elements_compile(void **state)
{
    static const ga__sort_step steps[] = {GA__SORT_COUNT, GA__SORT_PLAN, GA__SORT_PASS};
    (void)state;
    for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
        check_wide(&simulated_device, steps[k]);
        check_wide(ga__find_device("cpu"), steps[k]);
    }
    check_wide(ga__find_device("cpu"), GA__SORT_ROWS);
    check_wide(ga__find_device("cpu"), GA__SORT_DIGIT);
}

/* ---- Axes and layouts ---- */

static void every_axis_of_every_layout(void **state)
{
    static const int64_t shapes[][3] = {{4, 5, 6}, {1, 300, 2}, {3, 1, 7}, {2, 2, 90}};
    uint64_t seed = 3;
    char what[100];
    (void)state;
    for (int how = 0; how < LAYOUT_COUNT; how++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            GA_SCOPE {
                const ga_dtype dtype = random_dtype(&seed);
                const int64_t count = shapes[s][0] * shapes[s][1] * shapes[s][2];
                char *bytes = make_bytes(dtype, s % 2 ? SPECIAL : ANY_BITS, count, seed);
                const gpuarray *x = layout_array((layout)how, bytes, dtype, 3, shapes[s]);
                snprintf(what, sizeof what, "%s of %s, %s", ga_dtype_name(dtype),
                         ga__shape_text(3, shapes[s]), layout_names[how]);
                for (int axis = -ga_ndim(x); axis < 0 && in_eighth(what); axis++)
                    check_sorted(x, axis, seed % 2, what);
                free(bytes);
            }
}

/* numpy.sort(x, axis=None). */
static void flat_sorts_take_c_order(void **state)
{
    (void)state;
    GA_SCOPE {
        const gpuarray *x = ga_transpose(counting(GA_SHAPE(2, 3)));
        assert_numbers(ga_astype(ga_argsort(x, .flat = true), GA_INT32), NUMBERS(0, 2, 4, 1, 3, 5));
        assert_numbers(ga_sort(x, .flat = true, .descending = true), NUMBERS(5, 4, 3, 2, 1, 0));
        assert_numbers(ga_sort(ga_scalar(GA_INT32, 7), .flat = true), NUMBERS(7));
    }
}

static void empty_arrays_stay_empty(void **state)
{
    (void)state;
    GA_SCOPE {
        const gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(0, 3));
        for (int axis = 0; axis < 2; axis++) {
            assert_shape(ga_sort(x, GA_AXIS(axis)), GA_SHAPE(0, 3));
            assert_shape(ga_argsort(x, GA_AXIS(axis)), GA_SHAPE(0, 3));
        }
        assert_shape(ga_argsort(ga_scalar(GA_INT32, 3)), GA_SHAPE(1));
        assert_int_equal(ga_item_int64(ga_argsort(ga_scalar(GA_INT32, 3))), 0);
    }
}

/* ---- Results that the caller has ---- */

static void results_go_to_out(void **state)
{
    static const int32_t numbers[] = {3, 1, 2, 0, 5, 4};
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_from_host(numbers, GA_INT32, GA_SHAPE(2, 3));
        gpuarray *wide = ga_zeros(GA_FLOAT64, GA_SHAPE(3, 2)), *turned = ga_transpose(wide);
        gpuarray *order = ga_zeros(GA_INT64, GA_SHAPE(2, 3));
        assert_ptr_equal(ga_sort(x, .out = turned), turned);
        assert_numbers(ga_astype(turned, GA_INT32), NUMBERS(1, 2, 3, 0, 4, 5));
        assert_ptr_equal(ga_argsort(x, GA_AXIS(0), .out = order), order);
        assert_numbers(ga_astype(order, GA_INT32), NUMBERS(1, 0, 0, 0, 1, 1));
        assert_ptr_equal(ga_sort(x, GA_AXIS(0), .out = x), x);
        assert_numbers(x, NUMBERS(0, 1, 2, 3, 5, 4));
        assert_ptr_equal(ga_sort(x, .out = ga_flip(x, 0)) != NULL ? x : NULL, x);
        assert_numbers(x, NUMBERS(3, 4, 5, 0, 1, 2));
    }
}

/* All rows but the last, sorted into all but the first. */
static void results_may_overlap_the_operand(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *k = ga_arange(GA_INT32, 0, 30100, 1);
        gpuarray *all = ga_reshape(ga_eval("k * 7919 % 30011", GA(k)), GA_SHAPE(301, 100));
        gpuarray *x = ga_slice(all, ":-1"), *out = ga_slice(all, "1:"), *wanted = ga_sort(x);
        assert_ptr_equal(ga_sort(x, .out = out), out);
        assert_arrays_equal(out, wanted);
    }
}

/* ---- Keys ---- */

static void keys_take_their_values_along(void **state)
{
    static const float keys[] = {2, NAN, -0.0f, 2, 0.0f, 1};
    gpuarray *k = NULL, *v = NULL;
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_from_host(keys, GA_FLOAT32, GA_SHAPE(6)), *y = counting(GA_SHAPE(6));
        assert_int_equal(ga_sort_by_key(x, y, &k, &v), GA_OK);
        assert_numbers(v, NUMBERS(2, 4, 5, 0, 3, 1));
        assert_true(ga_item_bool(ga_signbit(ga_slice(k, "0"))));
        x = ga_reshape(x, GA_SHAPE(2, 3)), y = ga_transpose(counting(GA_SHAPE(3, 2)));
        assert_int_equal(ga_sort_by_key(x, y, &k, &v), GA_OK);
        assert_numbers(v, NUMBERS(4, 0, 2, 3, 5, 1));
    }
}

/* Their copy is sorted in place. */
static void keys_may_have_gaps(void **state)
{
    static const int64_t lengths[] = {5, 40, 300, 5000};
    (void)state;
    for (size_t k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (int d = 0; d < 3; d++)
            GA_SCOPE {
                const ga_dtype dtype = d == 0 ? GA_FLOAT32 : d == 1 ? GA_INT64 : GA_INT8;
                const double count = 6 * (double)lengths[k];
                gpuarray *all = ga_astype(
                    ga_remainder(ga_multiply(ga_arange(GA_INT64, 0, count, 1), 7919), 101), dtype);
                const gpuarray *keys =
                    ga_slice(ga_reshape(all, GA_SHAPE(3, 2 * lengths[k])), ":, ::2");
                gpuarray *sorted, *values;
                assert_int_equal(ga_sort_by_key(keys, keys, &sorted, &values), GA_OK);
                assert_arrays_equal(sorted, ga_sort(ga_copy(keys)));
                assert_arrays_equal(values, sorted);
            }
}

static void later_keys_come_first(void **state)
{
    static const int32_t minor[] = {1, 5, 1, 4, 3, 4, 4}, major[] = {9, 4, 0, 4, 0, 2, 1};
    (void)state;
    GA_SCOPE {
        gpuarray *a = ga_from_host(major, GA_INT32, GA_SHAPE(7)),
                 *b = ga_from_host(minor, GA_INT32, GA_SHAPE(7)), *rows[2];
        /* The example of numpy.lexsort. */
        assert_numbers(ga_astype(ga_lexsort(GA_ARRAYS(a, b)), GA_INT32),
                       NUMBERS(2, 0, 4, 6, 5, 3, 1));
        for (int k = 0; k < 2; k++)
            rows[k] = ga_broadcast_to(k ? b : a, GA_SHAPE(3, 7));
        const gpuarray *order = ga_lexsort(GA_ARRAYS(rows[0], rows[1]));
        assert_numbers(ga_astype(ga_slice(order, "2"), GA_INT32), NUMBERS(2, 0, 4, 6, 5, 3, 1));
        assert_shape(ga_lexsort(GA_ARRAYS(ga_scalar(GA_INT32, 1))), 0, NULL);
    }
}

/* ---- Errors ---- */

static void bad_calls_are_refused(void **state)
{
    gpuarray *k = NULL, *v = NULL;
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3)), *y = counting(GA_SHAPE(3, 2));
        ga_sort(ga_scalar(GA_FLOAT32, 1));
        assert_error(GA_ERR_INVALID, "sort: axis -1 is out of range for 0 dimensions");
        ga_argsort(x, GA_AXIS(2));
        assert_error(GA_ERR_INVALID, "argsort: axis 2 is out of range for 2 dimensions");
        ga_sort(x, GA_AXIS(0, 1));
        assert_error(GA_ERR_INVALID, "sort: 2 axes, expected one");
        ga_sort(x, GA_AXIS(0), .flat = true);
        assert_error(GA_ERR_INVALID,
                     "sort: .flat sorts all elements and takes no axis, not axis 0");
        ga_sort(x, .out = y);
        assert_error(GA_ERR_SHAPE, "sort: the result has shape (2, 3), out has (3, 2)");
        ga_argsort(x, .out = ga_empty(GA_BOOL, GA_SHAPE(2, 3)));
        assert_error(GA_ERR_DTYPE, "argsort: the result is int64 and does not cast to out's bool");
        ga_sort(x, .out = ga_broadcast_to(counting(GA_SHAPE(3)), GA_SHAPE(2, 3)));
        assert_error(GA_ERR_INVALID, "sort: ");
        assert_int_equal(ga_sort_by_key(x, y, &k, &v), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "sort_by_key: keys and values have shapes (2, 3) and (3, 2)");
        assert_int_equal(ga_sort_by_key(x, NULL, &k, &v), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "sort_by_key: the array of values is NULL");
        assert_true(!k && !v);
        assert_null(ga_lexsort(GA_ARRAYS(x, y)));
        assert_error(GA_ERR_SHAPE, "lexsort: keys have shapes (2, 3) and (3, 2)");
        assert_null(ga_lexsort(0, NULL));
        assert_error(GA_ERR_INVALID, "lexsort: 0 keys, expected at least 1");
    }
}

static bool sort_columns(void)
{
    bool ok = false;
    GA_SCOPE {
        gpuarray *x = ga_flip(ga_arange(GA_INT32, 0, 600, 1), 0), *k, *v;
        gpuarray *m = ga_reshape(x, GA_SHAPE(300, 2));
        ok = ga_sort(m, GA_AXIS(0)) && ga_argsort(m) && ga_sort(m, .out = m) &&
             ga_sort_by_key(x, x, &k, &v) == GA_OK && ga_lexsort(GA_ARRAYS(x, x)) &&
             ga_item_int64(ga_slice(m, "299, 1")) == 1;
    }
    return ok;
}

static bool sort_long(void)
{
    bool ok = false;
    GA_SCOPE {
        gpuarray *x = ga_flip(ga_arange(GA_INT32, 0, 70000, 1), 0);
        ok = ga_sort(x, .out = x) && ga_argsort(x) && ga_item_int64(ga_slice(x, "7")) == 7;
    }
    return ok;
}

static void failed_allocations_change_nothing(void **state)
{
    (void)state;
    survive_failures(sort_columns);
    survive_failures(sort_long);
}

/* A sort of several launches, of kernels that no other test has loaded; both arrays hold 0, 1, ...
 */
static bool sorts_or_stays(const gpuarray *x, gpuarray *out, int64_t n)
{
    ga__alloc_fail_at(n);
    const bool done = ga_sort(x, .descending = true, .out = out) != NULL;
    ga__alloc_fail_at(0);
    ga_clear_error();
    assert_int_equal(ga_item_int64(ga_slice(out, "0")), done ? 69999 : 0);
    assert_int_equal(ga_item_int64(ga_slice(out, "20000")), done ? 49999 : 20000);
    return done;
}

static void a_failed_sort_leaves_out_whole(void **state)
{
    static const int32_t numbers[] = {2, 1};
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_from_host(numbers, GA_INT32, GA_SHAPE(2)), *out = ga_copy(x),
                 *up = ga_arange(GA_INT32, 0, 70000, 1);
        bool done = false;
        for (int n = 1; n < 1000 && !done; n++) {
            ga__alloc_fail_at(n);
            done = ga_sort(x, .out = out) != NULL;
            ga__alloc_fail_at(0);
            ga_clear_error();
            if (!done)
                assert_numbers(out, NUMBERS(2, 1));
        }
        assert_numbers(out, NUMBERS(1, 2));
        for (int in_place = 0; in_place < 2; in_place++) {
            gpuarray *to = in_place ? up : ga_copy(up);
            done = false;
            for (int n = 1; n < 1000 && !done; n++)
                done = sorts_or_stays(up, to, n);
            assert_true(done);
        }
    }
}

static void sorts_can_be_recorded(void **state)
{
    enum { LENGTH = 70000 };
    int32_t *numbers = malloc(LENGTH * sizeof *numbers);
    ga_graph *graph;
    (void)state;
    assert_non_null(numbers);
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT32, GA_SHAPE(LENGTH)), *y = ga_zeros_like(x),
                 *m = ga_reshape(x, GA_SHAPE(700, 100)), *columns = ga_zeros_like(m),
                 *order = ga_zeros(GA_INT64, GA_SHAPE(LENGTH));
        GA_GRAPH(graph)
        {
            ga_sort(x, .out = y);
            ga_argsort(x, .descending = true, .out = order);
            ga_sort(m, GA_AXIS(0), .out = columns);
        }
        assert_non_null(graph);
        for (int k = 1; k < 4; k++) {
            for (int l = 0; l < LENGTH; l++)
                numbers[l] = (int32_t)((int64_t)l * 30011 % LENGTH) * k;
            assert_int_equal(ga_set(x, numbers, LENGTH * sizeof *numbers), GA_OK);
            assert_int_equal(ga_graph_launch(graph), GA_OK);
            assert_int_equal(ga_item_int64(ga_slice(y, "69999")), 69999 * k);
            assert_int_equal(ga_item_int64(ga_slice(y, "12345")), 12345 * k);
            const int64_t second = ga_item_int64(ga_slice(order, "1"));
            assert_int_equal(second * 30011 % LENGTH, LENGTH - 2);
            assert_true(ga_item_bool(
                ga_all(ga_less_equal(ga_slice(columns, ":-1"), ga_slice(columns, "1:")))));
        }
        ga_graph_free(graph);
    }
    free(numbers);
}

static int open_devices(void **state)
{
    (void)state;
    sample_on_gpu(3);
    return open_simulated_device(2) ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_numpys),
        cmocka_unit_test(the_host_sorts_rows_of_any_length),
        cmocka_unit_test(networks_of_any_length),
        cmocka_unit_test(indices_of_close_numbers),
        cmocka_unit_test(rows_in_order),
        cmocka_unit_test(counted_rows),
        cmocka_unit_test(long_rows_of_every_dtype),
        simulating_test(cuda_sorts_rows_of_any_length),
        simulating_test(cuda_sorts_long_rows),
        simulating_test(cuda_sorts_with_little_shared_memory),
        cmocka_unit_test(rows_of_two_billion_elements_compile),
        cmocka_unit_test(short_rows_have_few_threads),
        cmocka_unit_test_teardown(plans_of_any_length_end, use_default_device),
        cmocka_unit_test(every_axis_of_every_layout),
        cmocka_unit_test(flat_sorts_take_c_order),
        cmocka_unit_test(empty_arrays_stay_empty),
        cmocka_unit_test(results_go_to_out),
        cmocka_unit_test(results_may_overlap_the_operand),
        cmocka_unit_test(keys_take_their_values_along),
        cmocka_unit_test(keys_may_have_gaps),
        cmocka_unit_test(later_keys_come_first),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(sorts_can_be_recorded),
        cmocka_unit_test(failed_allocations_change_nothing),
        cmocka_unit_test(a_failed_sort_leaves_out_whole),
    };
    return run_named_tests(argc, argv, tests, open_devices, NULL);
}
