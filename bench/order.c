/* The table of cases that order, select, search and count elements. */
#include <stdlib.h>
#include <string.h>

#include "inputs.h"

/* Sorts have a quarter of n elements, integers to count a half, quantiles a sixteenth. */
enum { BINS = 256, TABLE = 1 << 20, TESTS = 1000, MILLION = 1000000, BEST = 100 };

/* ---- Inputs ---- */

static bool vector_of(workload *w, const bench_case *c, int64_t length, ga_dtype result)
{
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(length));
    w->a = ga_retain(w->x);
    w->out = ga_empty(result, GA_SHAPE(length));
    return made(w);
}

/* As many as the name says ("... 10^6"), or a quarter. */
static int64_t sorted_length(const workload *w, const bench_case *c)
{
    const char *power = strstr(c->name, " 10^");

    return power ? (int64_t)pow(10, atof(power + 4)) : w->n / 4;
}

static bool vector(workload *w, const bench_case *c)
{
    return vector_of(w, c, sorted_length(w, c), dtype_of(c->kind));
}

static bool vector_for_indices(workload *w, const bench_case *c)
{
    return vector_of(w, c, sorted_length(w, c), GA_INT64);
}

static bool rows_of(workload *w, const bench_case *c, int64_t rows, int64_t length)
{
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(rows, length));
    w->a = ga_retain(w->x);
    w->out = ga_empty_like(w->x);
    return made(w);
}

static bool quarter_of_matrix(workload *w, const bench_case *c)
{
    return rows_of(w, c, side_of(w) / 4, side_of(w));
}

static bool short_rows(workload *w, const bench_case *c)
{
    return rows_of(w, c, w->n / 256, 64);
}

static bool thousand_rows(workload *w, const bench_case *c)
{
    return rows_of(w, c, 1000, 1000);
}

static bool result_of(workload *w, ga_dtype dtype, int ndim, const int64_t *shape)
{
    ga_free(w->out);
    w->out = ga_empty(dtype, ndim, shape);
    return made(w);
}

static bool number_of_vector(workload *w, const bench_case *c)
{
    return vector(w, c) && result_of(w, dtype_of(c->kind), GA_SHAPE0);
}

static bool medians_of_matrix(workload *w, const bench_case *c)
{
    return rows_of(w, c, side_of(w), side_of(w)) &&
           result_of(w, dtype_of(c->kind), GA_SHAPE(side_of(w)));
}

static const float shares[] = {0.1f, 0.5f, 0.9f};

static bool vector_and_shares(workload *w, const bench_case *c)
{
    w->b = ga_from_host(shares, GA_FLOAT32, GA_SHAPE(3));
    return vector_of(w, c, w->n / 16, dtype_of(c->kind)) && w->b;
}

/* Integers from 0 to m - 1; the result is made by the call. */
static bool below(workload *w, const bench_case *c, int64_t length, int64_t m)
{
    gpuarray *all = filled(w, c->kind, w->seed, GA_SHAPE(length));

    w->x = all ? ga_remainder(all, m) : NULL;
    w->a = ga_retain(w->x);
    w->out = ga_zeros(GA_INT64, GA_SHAPE(1));
    ga_free(all);
    return made(w);
}

static bool below_million(workload *w, const bench_case *c)
{
    return below(w, c, w->n / 4, MILLION);
}

static bool half_below_million(workload *w, const bench_case *c)
{
    return below(w, c, w->n / 2, MILLION);
}

static bool half_below_256(workload *w, const bench_case *c)
{
    return below(w, c, w->n / 2, BINS);
}

static bool below_million_and_tests(workload *w, const bench_case *c)
{
    w->y = filled(w, c->kind, w->seed + 1, GA_SHAPE(TESTS));
    w->b = w->y ? ga_remainder(w->y, MILLION) : NULL;
    return w->b && below_million(w, c);
}

static bool vector_and_table(workload *w, const bench_case *c)
{
    w->y = filled(w, c->kind, w->seed + 1, GA_SHAPE(TABLE));
    w->b = w->y ? ga_sort(w->y) : NULL;
    return vector_for_indices(w, c) && w->b;
}

/* Of all n elements; the result is made by the call. */
static bool whole(workload *w, const bench_case *c)
{
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(w->n));
    w->a = ga_retain(w->x);
    w->out = ga_zeros(GA_INT64, GA_SHAPE(1));
    return made(w);
}

static bool whole_and_mask(workload *w, const bench_case *c)
{
    w->c = filled(w, RANDOM_BOOL, w->seed + 2, GA_SHAPE(w->n));
    return whole(w, c) && w->c;
}

/* One in a hundred. */
static const float rare = 1.01f;

static bool whole_and_rare_mask(workload *w, const bench_case *c)
{
    w->y = filled(w, c->kind, w->seed + 2, GA_SHAPE(w->n));
    w->c = w->y ? ga_less(w->y, rare) : NULL;
    ga_free(w->y);
    w->y = NULL;
    return whole(w, c) && w->c;
}

/* Bins that grow: edge k is 1 + (k / 256)^2, exactly. */
static double edge_at(int64_t k)
{
    return 1 + (double)(k * k) / (BINS * BINS);
}

static bool whole_and_edges(workload *w, const bench_case *c)
{
    float edges[BINS + 1];

    for (int k = 0; k <= BINS; k++)
        edges[k] = (float)edge_at(k);
    w->b = ga_from_host(edges, GA_FLOAT32, GA_SHAPE(BINS + 1));
    return whole(w, c) && w->b;
}

/* ---- Operations ---- */

static ga_status run_sort(workload *w)
{
    return status_of(ga_sort(w->a, .out = w->out));
}

static ga_status run_sort0(workload *w)
{
    return status_of(ga_sort(w->a, GA_AXIS(0), .out = w->out));
}

static ga_status run_argsort(workload *w)
{
    return status_of(ga_argsort(w->a, .out = w->out));
}

static ga_status run_topk(workload *w)
{
    gpuarray *values = NULL;
    const ga_status status = ga_topk(w->a, BEST, &values, NULL);

    return status == GA_OK ? set_out(w, values) : status;
}

static ga_status run_median(workload *w)
{
    return status_of(ga_median(w->a, .out = w->out));
}

static ga_status run_median1(workload *w)
{
    return status_of(ga_median(w->a, GA_AXIS(1), .out = w->out));
}

static ga_status run_quantile(workload *w)
{
    return set_out(w, ga_quantile(w->a, w->b));
}

static ga_status run_partition(workload *w)
{
    return set_out(w, ga_partition(w->a, ga_size(w->a) / 2));
}

static ga_status run_searchsorted(workload *w)
{
    return set_out(w, ga_searchsorted(w->b, w->a));
}

static ga_status run_unique(workload *w)
{
    return set_out(w, ga_unique(w->a));
}

static ga_status run_isin(workload *w)
{
    return set_out(w, ga_isin(w->a, w->b));
}

static ga_status run_nonzero(workload *w)
{
    return set_out(w, ga_flatnonzero(w->a));
}

static ga_status run_extract(workload *w)
{
    return set_out(w, ga_extract(w->c, w->a));
}

static ga_status run_select(workload *w)
{
    return set_out(w, ga_eval("x[x > 1.5]", GA_NAMED("x", w->a)));
}

static ga_status run_histogram(workload *w)
{
    gpuarray *counts = NULL;
    const ga_status status = ga_histogram(w->a, BINS, &counts, (gpuarray **)NULL, .range = {1, 2});

    return status == GA_OK ? set_out(w, counts) : status;
}

static ga_status run_edges(workload *w)
{
    gpuarray *counts = NULL;
    const ga_status status = ga_histogram(w->a, w->b, &counts, (gpuarray **)NULL);

    return status == GA_OK ? set_out(w, counts) : status;
}

static ga_status run_bincount(workload *w)
{
    return set_out(w, ga_bincount(w->a));
}

/* ---- Numbers that the host finds once for each input ---- */

typedef void (*finder)(const workload *w, const bench_case *c, uint32_t *numbers);

static struct {
    const bench_case *of;
    const gpuarray *x;
    uint32_t seed;
    uint32_t *numbers;
} found;

/* What `find` wrote to that many numbers, 0 at first; NULL without memory. */
static uint32_t *numbers_of(const workload *w, const bench_case *c, int64_t count, finder find)
{
    if (found.of == c && found.x == w->x && found.seed == w->seed)
        return found.numbers;
    free(found.numbers);
    found.of = c;
    found.x = w->x;
    found.seed = w->seed;
    found.numbers = calloc((size_t)count, sizeof *found.numbers);
    if (found.numbers)
        find(w, c, found.numbers);
    return found.numbers;
}

/* A value's place among 2^24 that ascend: all of the bits of integers and floats of up to 24 random
 * bits, the upper ones of others. Floats are +-[1, 2). */
enum { PLACES = 1 << 24 };

static uint32_t place_of(random_kind kind, double value)
{
    if (kind == RANDOM_I64)
        return (uint32_t)(value * 0x1p-40 + 0x1p23);
    if (kind == RANDOM_I32)
        return (uint32_t)((value + 0x1p31) * 0x1p-8);
    if (kind == RANDOM_I8 || kind == RANDOM_U8)
        return (uint32_t)(value + 128);
    return (uint32_t)(value < 0 ? (value + 2) * 0x1p23 - 1 : value * 0x1p23);
}

/* How many elements of a stream have a lower place, for each place. */
static void count_lower(random_kind kind, uint32_t seed, int64_t count, uint32_t *lower)
{
    uint32_t sum = 0;

    for (int64_t k = 0; k < count; k++)
        lower[place_of(kind, random_value(kind, seed, (uint64_t)k))]++;
    for (int64_t place = 0; place <= PLACES; place++) {
        const uint32_t here = lower[place];
        lower[place] = sum;
        sum += here;
    }
}

static void find_lower(const workload *w, const bench_case *c, uint32_t *lower)
{
    count_lower(c->kind, w->seed, ga_size(w->x), lower);
}

static void find_lower_in_table(const workload *w, const bench_case *c, uint32_t *lower)
{
    count_lower(c->kind, w->seed + 1, TABLE, lower);
}

/* The indices in the order of their elements' places; in one place, in their own order. */
static void find_order(const workload *w, const bench_case *c, uint32_t *order)
{
    uint32_t *next = calloc(PLACES + 1, sizeof *next);

    if (next)
        count_lower(c->kind, w->seed, ga_size(w->x), next);
    for (int64_t k = 0; next && k < ga_size(w->x); k++)
        order[next[place_of(c->kind, x_at(w, c, k))]++] = (uint32_t)k;
    free(next);
}

static bool precedes(const workload *w, const bench_case *c, uint32_t a, uint32_t b)
{
    const double left = x_at(w, c, a), right = x_at(w, c, b);

    if (c->kind == RANDOM_I64 && left == right) /* as doubles */
        return (int64_t)random_bits(c->kind, w->seed, a) <
               (int64_t)random_bits(c->kind, w->seed, b);
    return left < right;
}

/* Sorts the indices around i that share its place: few, or all of equal elements. */
static void sort_around(const workload *w, const bench_case *c, uint32_t *order, int64_t i)
{
    const uint32_t place = place_of(c->kind, x_at(w, c, order[i]));
    int64_t first = i;

    while (first > 0 && place_of(c->kind, x_at(w, c, order[first - 1])) == place)
        first--;
    for (int64_t k = first + 1; k < ga_size(w->x); k++) {
        const uint32_t index = order[k];
        int64_t to = k;
        if (place_of(c->kind, x_at(w, c, index)) != place)
            break;
        for (; to > first && precedes(w, c, index, order[to - 1]); to--)
            order[to] = order[to - 1];
        order[to] = index;
    }
}

/* The index of the element that sorting puts at i. */
static int64_t sorted_index(const workload *w, const bench_case *c, int64_t i)
{
    uint32_t *order = numbers_of(w, c, ga_size(w->x), find_order);

    if (!order)
        return 0; /* not what is sorted there: wrong */
    if (c->kind == RANDOM_F64 || c->kind == RANDOM_I32 || c->kind == RANDOM_I64)
        sort_around(w, c, order, i);
    return order[i];
}

static double sorted_at(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, sorted_index(w, c, i));
}

/* Element k in order of `count` elements from `first` on, `step` apart: Hoare's selection. */
static double ranked(const workload *w, const bench_case *c, int64_t first, int64_t step,
                     int64_t count, int64_t k)
{
    double *v = malloc((size_t)count * sizeof *v);
    int64_t low = 0, high = count - 1;

    for (int64_t i = 0; v && i < count; i++)
        v[i] = x_at(w, c, first + i * step);
    while (v && low < high) {
        const double pivot = v[k];
        int64_t i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (pivot < v[j])
                j--;
            if (i <= j) {
                const double other = v[i];
                v[i++] = v[j];
                v[j--] = other;
            }
        }
        low = k > j ? i < k ? i : k : low;
        high = k < i ? j > k ? j : k : high;
    }
    const double value = v ? v[k] : NAN;
    free(v);
    return value;
}

/* ---- What they must give ---- */

static double expect_inverse(const workload *w, const bench_case *c, int64_t i)
{
    return (double)sorted_index(w, c, i);
}

static double expect_topk(const workload *w, const bench_case *c, int64_t i)
{
    return sorted_at(w, c, ga_size(w->x) - 1 - i);
}

static double expect_median(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t n = ga_size(w->x);

    (void)i;
    return (sorted_at(w, c, (n - 1) / 2) + sorted_at(w, c, n / 2)) / 2;
}

static double expect_quantile(const workload *w, const bench_case *c, int64_t i)
{
    const double place = (double)shares[i] * (double)(ga_size(w->x) - 1), low = floor(place);
    const double value = sorted_at(w, c, (int64_t)low);

    return value + (place - low) * (sorted_at(w, c, (int64_t)low + 1) - value);
}

static double expect_row(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t length = ga_shape(w->x)[1];

    return ranked(w, c, i / length * length, 1, length, i % length);
}

static double expect_column(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t width = ga_shape(w->x)[1];

    return ranked(w, c, i % width, width, ga_shape(w->x)[0], i / width);
}

static double expect_row_median(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t length = ga_shape(w->x)[1];

    return (ranked(w, c, i * length, 1, length, (length - 1) / 2) +
            ranked(w, c, i * length, 1, length, length / 2)) /
           2;
}

/* The lower elements in their order, the equal ones, the greater ones. */
static void find_partition(const workload *w, const bench_case *c, uint32_t *order)
{
    const int64_t n = ga_size(w->x);
    uint32_t *lower = calloc(PLACES + 1, sizeof *lower), place = 0, next[3] = {0};

    if (!lower)
        return;
    count_lower(c->kind, w->seed, n, lower);
    while (lower[place + 1] <= n / 2)
        place++;
    next[1] = lower[place];
    next[2] = lower[place + 1];
    for (int64_t k = 0; k < n; k++) {
        const uint32_t here = place_of(c->kind, x_at(w, c, k));
        order[next[here < place ? 0 : here == place ? 1 : 2]++] = (uint32_t)k;
    }
    free(lower);
}

static double expect_partition(const workload *w, const bench_case *c, int64_t i)
{
    const uint32_t *order = numbers_of(w, c, ga_size(w->x), find_partition);

    return order ? x_at(w, c, order[i]) : NAN;
}

static double expect_searchsorted(const workload *w, const bench_case *c, int64_t i)
{
    const uint32_t *lower = numbers_of(w, c, PLACES + 1, find_lower_in_table);

    return lower ? (double)lower[place_of(c->kind, x_at(w, c, i))] : NAN;
}

/* A random integer's remainder, which is not negative. */
static int64_t remainder_at(const bench_case *c, uint32_t seed, int64_t k, int64_t m)
{
    const int64_t rest = (int64_t)random_value(c->kind, seed, (uint64_t)k) % m;

    return rest < 0 ? rest + m : rest;
}

static void find_unique(const workload *w, const bench_case *c, uint32_t *values)
{
    uint32_t count = 0;

    for (int64_t k = 0; k < ga_size(w->x); k++)
        values[remainder_at(c, w->seed, k, MILLION)] = 1;
    for (uint32_t value = 0; value < MILLION; value++)
        if (values[value])
            values[count++] = value;
}

static double expect_unique(const workload *w, const bench_case *c, int64_t i)
{
    const uint32_t *values = numbers_of(w, c, MILLION, find_unique);

    return values ? (double)values[i] : NAN;
}

static double expect_isin(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t value = remainder_at(c, w->seed, i, MILLION);

    for (int64_t k = 0; k < TESTS; k++)
        if (remainder_at(c, w->seed + 1, k, MILLION) == value)
            return 1;
    return 0;
}

/* The indices of the elements that are true themselves, selected by the mask, or greater. */
static void find_true(const workload *w, const bench_case *c, uint32_t *indices)
{
    for (int64_t k = 0; k < w->n; k++)
        if (x_at(w, c, k) != 0.0)
            *indices++ = (uint32_t)k;
}

static void find_masked(const workload *w, const bench_case *c, uint32_t *indices)
{
    (void)c;
    for (int64_t k = 0; k < w->n; k++)
        if (random_value(RANDOM_BOOL, w->seed + 2, (uint64_t)k) != 0.0)
            *indices++ = (uint32_t)k;
}

static void find_rare(const workload *w, const bench_case *c, uint32_t *indices)
{
    for (int64_t k = 0; k < w->n; k++)
        if (random_value(c->kind, w->seed + 2, (uint64_t)k) < (double)rare)
            *indices++ = (uint32_t)k;
}

static void find_greater(const workload *w, const bench_case *c, uint32_t *indices)
{
    for (int64_t k = 0; k < w->n; k++)
        if (x_at(w, c, k) > 1.5)
            *indices++ = (uint32_t)k;
}

static double expect_true(const workload *w, const bench_case *c, int64_t i)
{
    const uint32_t *indices = numbers_of(w, c, w->n, find_true);

    return indices ? (double)indices[i] : NAN;
}

static double selected_at(const workload *w, const bench_case *c, int64_t i, finder find)
{
    const uint32_t *indices = numbers_of(w, c, w->n, find);

    return indices ? x_at(w, c, indices[i]) : NAN;
}

static double expect_masked(const workload *w, const bench_case *c, int64_t i)
{
    return selected_at(w, c, i, find_masked);
}

static double expect_rare(const workload *w, const bench_case *c, int64_t i)
{
    return selected_at(w, c, i, find_rare);
}

static double expect_greater(const workload *w, const bench_case *c, int64_t i)
{
    return selected_at(w, c, i, find_greater);
}

static double count_between(const workload *w, const bench_case *c, double from, double to)
{
    const uint32_t *lower = numbers_of(w, c, PLACES + 1, find_lower);

    return lower ? (double)lower[place_of(c->kind, to)] - lower[place_of(c->kind, from)] : NAN;
}

static double expect_histogram(const workload *w, const bench_case *c, int64_t i)
{
    return count_between(w, c, 1 + (double)i / BINS, 1 + (double)(i + 1) / BINS);
}

static double expect_edges(const workload *w, const bench_case *c, int64_t i)
{
    return count_between(w, c, edge_at(i), edge_at(i + 1));
}

static void find_counts(const workload *w, const bench_case *c, uint32_t *counts)
{
    for (int64_t k = 0; k < ga_size(w->x); k++)
        counts[remainder_at(c, w->seed, k, ga_size(w->out) > BINS ? MILLION : BINS)]++;
}

static double expect_count(const workload *w, const bench_case *c, int64_t i)
{
    const uint32_t *counts = numbers_of(w, c, MILLION, find_counts);

    return counts ? (double)counts[i] : NAN;
}

/* ---- The table ---- */

/* clang-format off */
#define F16 RANDOM_F16
#define F32 RANDOM_F32
#define F64 RANDOM_F64
#define I32 RANDOM_I32
#define POSITIVE RANDOM_F32_POSITIVE
#define COPY LIMIT_READ1_WRITE1
#define ADD LIMIT_READ2_WRITE1
#define READ LIMIT_READ
#define NONE LIMIT_COUNT
const bench_case order_cases[] = {
    {"sort i32", NONE, 8, 0, false, I32, vector, run_sort, sorted_at},
    {"sort i64", NONE, 16, 0, false, RANDOM_I64, vector, run_sort, sorted_at},
    {"sort f32", NONE, 8, 0, false, F32, vector, run_sort, sorted_at},
    {"sort f64", NONE, 16, 0, false, F64, vector, run_sort, sorted_at},
    {"sort f16", NONE, 4, 0, false, F16, vector, run_sort, sorted_at},
    {"sort u8", NONE, 2, 0, false, RANDOM_U8, vector, run_sort, sorted_at},
    {"argsort f32", NONE, 12, 0, false, F32, vector_for_indices, run_argsort, expect_inverse},
    {"argsort f16", NONE, 10, 0, false, F16, vector_for_indices, run_argsort, expect_inverse},
    {"sort rows m", NONE, 8, 0, false, F32, quarter_of_matrix, run_sort, expect_row},
    {"sort columns m", NONE, 8, 0, false, F32, quarter_of_matrix, run_sort0, expect_column},
    {"sort rows (k,64)", NONE, 8, 0, false, F32, short_rows, run_sort, expect_row},
    {"sort rows (1000,1000)", NONE, 8, 0, false, F32, thousand_rows, run_sort, expect_row},
    {"topk 100 f32", READ, 4, 0, false, F32, number_of_vector, run_topk, expect_topk},
    {"median f32", READ, 4, 1e-6, false, POSITIVE, number_of_vector, run_median, expect_median},
    {"median m axis 1", READ, 4, 1e-6, false, POSITIVE, medians_of_matrix, run_median1,
     expect_row_median},
    {"quantile f32, 3 shares", READ, 4, 1e-6, false, POSITIVE, vector_and_shares, run_quantile,
     expect_quantile},
    {"partition f32", COPY, 8, 0, false, F32, vector, run_partition, expect_partition},
    {"searchsorted f32 in 2^20", COPY, 12, 0, false, POSITIVE, vector_and_table, run_searchsorted,
     expect_searchsorted},
    {"unique i32 of 10^6", NONE, 8, 0, false, I32, below_million, run_unique, expect_unique},
    {"isin i32, 1000 tests", COPY, 5, 0, false, I32, below_million_and_tests, run_isin,
     expect_isin},
    {"nonzero, half", COPY, 5, 0, false, RANDOM_BOOL, whole, run_nonzero, expect_true},
    {"x[mask], half", ADD, 7, 0, false, POSITIVE, whole_and_mask, run_extract, expect_masked},
    /* Of x, the least are the sectors of 32 bytes that hold an element selected: 7.7 %. */
    {"x[mask], 1 %", READ, 1.35, 0, false, POSITIVE, whole_and_rare_mask, run_extract,
     expect_rare},
    {"x[x > 1.5], half", COPY, 6, 0, false, POSITIVE, whole, run_select, expect_greater},
    {"histogram f32, 256 bins", READ, 4, 0, false, POSITIVE, whole, run_histogram,
     expect_histogram},
    {"histogram f32, 256 edges", READ, 4, 0, false, POSITIVE, whole_and_edges, run_edges,
     expect_edges},
    {"bincount i32 below 256", READ, 4, 0, false, I32, half_below_256, run_bincount,
     expect_count},
    {"bincount i32 below 10^6", READ, 4, 0, false, I32, half_below_million, run_bincount,
     expect_count},
    {"call: sort f32 10^3", NONE, 8, 0, false, F32, vector, run_sort, sorted_at},
    {"call: sort f32 10^5", NONE, 8, 0, false, F32, vector, run_sort, sorted_at},
    {"call: sort f32 10^6", NONE, 8, 0, false, F32, vector, run_sort, sorted_at},
    {"call: argsort f32 10^3", NONE, 12, 0, false, F32, vector_for_indices, run_argsort,
     expect_inverse},
    {"call: argsort f32 10^5", NONE, 12, 0, false, F32, vector_for_indices, run_argsort,
     expect_inverse},
    {"call: argsort f32 10^6", NONE, 12, 0, false, F32, vector_for_indices, run_argsort,
     expect_inverse},
};
/* clang-format on */
const int order_case_count = (int)(sizeof order_cases / sizeof order_cases[0]);

double order_temporary(const bench_case *c)
{
    const double size = random_bytes(c->kind);

    return c->run == run_sort || c->run == run_sort0 ? 2.01 * size
           : c->run == run_argsort                   ? 2.02 * (size + 8)
                                                     : 0;
}
