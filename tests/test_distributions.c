/* The distributions of draw.def: known answers, laws, arrays as parameters, wrong parameters. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "golden.h"
#include "ops/random/count_table.h"
#include "parallel.h"
#include "run.h"

/* ---- Every distribution by its name ---- */

typedef gpuarray *(*draw_call)(ga_rng *, ga_dtype, const ga_value *, int, const int64_t *);
typedef ga_status (*into_call)(gpuarray *, ga_rng *, const ga_value *);

#define GA_DRAWS(name, ...)                                                                        \
    static gpuarray *draw_##name(ga_rng *rng, ga_dtype dtype, const ga_value *v, int ndim,         \
                                 const int64_t *shape)                                             \
    {                                                                                              \
        (void)v;                                                                                   \
        return (ga_rng_##name)(rng, dtype __VA_ARGS__, ndim, shape);                               \
    }                                                                                              \
    static ga_status into_##name(gpuarray *out, ga_rng *rng, const ga_value *v)                    \
    {                                                                                              \
        (void)v;                                                                                   \
        return (ga_rng_##name##_into)(out, rng __VA_ARGS__);                                       \
    }
#define GA_DRAW0(name, ...) GA_DRAWS(name)
#define GA_DRAW1(name, ...) GA_DRAWS(name, , v[0])
#define GA_DRAW2(name, ...) GA_DRAWS(name, , v[0], v[1])
#define GA_DRAW3(name, ...) GA_DRAWS(name, , v[0], v[1], v[2])
#define GA_DRAW4(name, ...) GA_DRAWS(name, , v[0], v[1], v[2], v[3])
#include <quarry/draw.def>
#undef GA_DRAW0
#undef GA_DRAW1
#undef GA_DRAW2
#undef GA_DRAW3
#undef GA_DRAW4

typedef struct distribution {
    const char *name;
    int count;
    bool real;
    draw_call draw;
    into_call into;
} distribution;

static const distribution distributions[] = {
#define GA_ROW(name, kinds, n) {#name, n, kinds[0] == 'f', draw_##name, into_##name},
#define GA_DRAW0(name, kinds, ...) GA_ROW(name, kinds, 0)
#define GA_DRAW1(name, kinds, ...) GA_ROW(name, kinds, 1)
#define GA_DRAW2(name, kinds, ...) GA_ROW(name, kinds, 2)
#define GA_DRAW3(name, kinds, ...) GA_ROW(name, kinds, 3)
#define GA_DRAW4(name, kinds, ...) GA_ROW(name, kinds, 4)
#include <quarry/draw.def>
};

static const distribution *by_name(const char *name)
{
    for (size_t k = 0; k < sizeof distributions / sizeof *distributions; k++)
        if (!strcmp(distributions[k].name, name))
            return &distributions[k];
    fail_msg("no such distribution: %s", name);
    return NULL;
}

/* Numbers as its parameters choose a table; arrays of them draw other elements. */
static bool has_table(const distribution *d)
{
    return !strcmp(d->name, "poisson") || !strcmp(d->name, "binomial");
}

/* Parameters as numbers: whole ones of distributions of integers are integers. */
static void set_numbers(const distribution *d, const double *parameters, ga_value *values)
{
    for (int k = 0; k < d->count; k++)
        values[k] = !d->real && parameters[k] == floor(parameters[k])
                        ? ga_value_signed(GA_INT64, (int64_t)parameters[k])
                        : ga_value_double(parameters[k]);
}

/* Those parameters whose bit is set are arrays (rows, 1) of one number, the others numbers; a
 * number that need not be whole is a float there. */
enum { ALL = 15 };

static void set_arrays(const distribution *d, const double *parameters, unsigned arrays,
                       int64_t rows, ga_value *values, gpuarray **made)
{
    set_numbers(d, parameters, values);
    for (int k = 0; k < d->count; k++) {
        const bool whole = values[k].dtype == GA_INT64;
        made[k] = NULL;
        if (!(arrays >> k & 1))
            continue;
        made[k] = whole ? (ga_full)(GA_INT32, GA_SHAPE(rows, 1), values[k])
                        : (ga_full)(GA_FLOAT64, GA_SHAPE(rows, 1), values[k]);
        assert_non_null(made[k]);
        values[k] = ga_value_array(made[k]);
    }
}

static void free_arrays(gpuarray **made, int count)
{
    for (int k = 0; k < count; k++)
        ga_free(made[k]);
}

static ga_rng *at(uint64_t seed, uint64_t position)
{
    ga_rng *rng = ga_rng_new(0);
    assert_int_equal(ga_rng_set_state(rng, &(ga_rng_state){seed, position}), GA_OK);
    return rng;
}

static void *host_copy(const gpuarray *x)
{
    void *host = malloc(ga_nbytes(x) + 1);
    assert_non_null(host);
    assert_int_equal(ga_to_host(x, host, ga_nbytes(x)), GA_OK);
    return host;
}

/* ---- Known answers ---- */

static void check_known(const golden_case *c)
{
    const distribution *d = by_name(c->name);
    const golden_blob *want = c->out[0];
    ga_value values[4];
    uint64_t from[2];
    memcpy(from, c->arg[1]->data, sizeof from);
    set_numbers(d, (const double *)(const void *)c->arg[0]->data, values);
    ga_rng *rng = at(from[0], from[1]);
    gpuarray *x = d->draw(rng, want->dtype, values, 1, &want->size);
    assert_non_null(x);
    void *got = host_copy(x);
    for (int64_t k = 0; k < want->size; k++) {
        if (want->dtype == GA_INT64) {
            if (((int64_t *)got)[k] != ((const int64_t *)(const void *)want->data)[k])
                fail_later("%s, element %lld: %lld, wanted %lld", c->name, (long long)k,
                           (long long)((int64_t *)got)[k],
                           (long long)((const int64_t *)(const void *)want->data)[k]);
            continue;
        }
        const double found = ((double *)got)[k];
        const double wanted = ((const double *)(const void *)want->data)[k];
        if (!(fabs(found - wanted) <= 4e-11 * fabs(wanted) + 1e-14))
            fail_later("%s, element %lld: %.17g, wanted %.17g", c->name, (long long)k, found,
                       wanted);
    }
    free(got);
    ga_free(x);
    ga_rng_free(rng);
}

static void elements_are_those_of_the_other_implementation(void **state)
{
    int checked = 0;
    (void)state;
    golden_file *file = golden_open("distributions.bin");
    for (int k = 0; k < file->ncases; k++)
        if (file->cases[k].nargs == 2) {
            check_known(&file->cases[k]);
            checked++;
        }
    golden_close(file);
    assert_true(checked > 80);
    assert_int_equal(failures(), 0);
}

/* ---- Laws ---- */

enum { DRAWN = 400000, MOST_CELLS = 64 };

static double element(const void *host, ga_dtype dtype, int64_t k)
{
    switch (dtype) {
    case GA_FLOAT32: return (double)((const float *)host)[k];
    case GA_FLOAT64: return ((const double *)host)[k];
    case GA_INT32: return ((const int32_t *)host)[k];
    default: return (double)((const int64_t *)host)[k];
    }
}

/* The chi-square statistic of the cells as a standard normal number (E. B. Wilson and M. M.
 * Hilferty, "The distribution of chi-square", 1931), and Kolmogorov's at their edges. */
static void check_cells(const char *what, const int64_t *count, const double *integral, int edges)
{
    double statistic = 0, worst = 0, below = 0;
    for (int k = 0; k <= edges; k++) {
        const double share = (k < edges ? integral[k] : 1) - (k > 0 ? integral[k - 1] : 0);
        const double apart = (double)count[k] - share * DRAWN;
        statistic += apart * apart / (share * DRAWN);
        below += (double)count[k];
        if (k < edges)
            worst = fmax(worst, fabs(below / DRAWN - integral[k]));
    }
    const double v = 2.0 / (9.0 * edges), deviate = (cbrt(statistic / edges) - (1 - v)) / sqrt(v);
    if (!(fabs(deviate) < 4))
        fail_later("%s: %.1f deviations", what, deviate);
    if (!(worst * sqrt((double)DRAWN) < 2.1))
        fail_later("%s: Kolmogorov's statistic is %g", what, worst * sqrt((double)DRAWN));
}

/* The parameters are numbers, or arrays of one number. */
static void check_law(const golden_case *c, ga_dtype dtype, bool arrays)
{
    const distribution *d = by_name(c->name);
    const double *const edge = (const double *)(const void *)c->out[0]->data;
    const double *const parameters = (const double *)(const void *)c->arg[0]->data;
    const int edges = (int)c->out[0]->size;
    int64_t count[MOST_CELLS] = {0};
    ga_value values[4];
    char what[100];
    assert_true(edges < MOST_CELLS);
    gpuarray *made[4];
    set_arrays(d, parameters, arrays ? ALL : 0, 1, values, made);
    ga_rng *rng = at(77, 4096);
    gpuarray *x = d->draw(rng, dtype, values, GA_SHAPE(1, DRAWN));
    assert_non_null(x);
    void *host = host_copy(x);
    for (int64_t k = 0; k < DRAWN; k++) {
        const double number = element(host, dtype, k);
        int low = 0, high = edges; /* the first edge that is not below the number */
        while (low < high) {
            const int middle = (low + high) / 2;
            if (edge[middle] < number)
                low = middle + 1;
            else
                high = middle;
        }
        if (isnan(number))
            fail_later("%s is NaN", c->name);
        count[low]++;
    }
    snprintf(what, sizeof what, "%s(%g, %g) of %s%s", c->name, d->count > 0 ? parameters[0] : 0,
             d->count > 1 ? parameters[1] : 0, ga_dtype_name(dtype), arrays ? ", arrays" : "");
    check_cells(what, count, (const double *)(const void *)c->out[1]->data, edges);
    free(host);
    free_arrays(made, d->count);
    ga_free(x);
    ga_rng_free(rng);
}

static void numbers_follow_their_laws(void **state)
{
    int checked = 0;
    (void)state;
    golden_file *file = golden_open("distributions.bin");
    for (int k = 0; k < file->ncases; k++) {
        const golden_case *c = &file->cases[k];
        if (c->nouts != 2)
            continue;
        const bool real = by_name(c->name)->real;
        checked++;
        if (!in_eighth(golden_call(c)))
            continue;
        check_law(c, real ? GA_FLOAT32 : GA_INT32, false);
        check_law(c, real ? GA_FLOAT64 : GA_INT64, false);
        if (has_table(by_name(c->name)))
            check_law(c, GA_INT64, true);
    }
    golden_close(file);
    assert_true(checked > 50);
    assert_int_equal(failures(), 0);
}

/* ---- Tables of counts ---- */

/* A table's bounds; *cells is the size of the guide that the caller frees with them. */
static uint64_t *table_words(ga__count_law law, uint64_t most, ga__count_table *table, int *cells,
                             int *count)
{
    ga__device *device = ga__current_device();
    assert_int_equal(ga__count_table_make(table, "count", device, law, most), GA_OK);
    uint64_t *words = host_copy(table->words);
    *cells = 1 << (64 - table->shift);
    *count = (int)ga_size(table->words) - *cells / 4;
    ga_free(table->words);
    return words;
}

static double chance_of(ga__count_law law, double k)
{
    if (isinf(law.n))
        return exp(k * log(law.p) - law.p - lgamma(k + 1));
    return exp(lgamma(law.n + 1) - lgamma(k + 1) - lgamma(law.n - k + 1) + k * log(law.p) +
               (law.n - k) * log1p(-law.p));
}

/* The words on either side of each bound are the tails of the law, each summed from its end. */
static void check_tails(ga__count_law law)
{
    ga__count_table table;
    int cells, count;
    uint64_t *words = table_words(law, UINT64_MAX, &table, &cells, &count),
             *bound = words + cells / 4;
    double lower = 0, *upper = calloc((size_t)count + 1, sizeof *upper);
    const double first = (double)table.first;
    for (double k = 0; k < first; k++)
        lower += chance_of(law, k);
    for (double k = first + count + 200; k >= first + count; k--)
        upper[count] += k <= law.n ? chance_of(law, k) : 0;
    for (int k = count - 1; k >= 0; k--)
        upper[k] = upper[k + 1] + chance_of(law, first + k);
    if (!(lower * 0x1p64 < 1.001 && upper[count] * 0x1p64 < 1.001))
        fail_later("law %g %g: ends of %g and %g words", law.n, law.p, lower * 0x1p64,
                   upper[count] * 0x1p64);
    for (int k = 0; k < count; k++) {
        lower += chance_of(law, first + k);
        const double below = (double)bound[k] + 1, above = (double)(UINT64_MAX - bound[k]);
        const double want_below = lower * 0x1p64, want_above = upper[k + 1] * 0x1p64;
        if (!(fabs(below - want_below) <= 1e-8 * want_below + 2 &&
              fabs(above - want_above) <= 1e-8 * want_above + 2))
            fail_later("law %g %g, count %g: %g and %g words, wanted %g and %g", law.n, law.p,
                       first + k, below, above, want_below, want_above);
    }
    assert_true(bound[count - 1] == UINT64_MAX);
    free(upper), free(words);
}

static void tables_have_the_tails_of_their_laws(void **state)
{
    static const ga__count_law laws[] = {{(double)INFINITY, 1e-30},
                                         {(double)INFINITY, 0.05},
                                         {(double)INFINITY, 3.3},
                                         {(double)INFINITY, 30},
                                         {(double)INFINITY, 4096},
                                         {1, 0.3},
                                         {12, 0.3},
                                         {40, 0.97},
                                         {1000, 0.25},
                                         {16384, 0.5},
                                         {100000, 0.04},
                                         {5000, 0.999}};
    (void)state;
    for (size_t k = 0; k < sizeof laws / sizeof *laws; k++) {
        assert_true(ga__count_law_has_table(laws[k]));
        check_tails(laws[k]);
    }
    assert_false(ga__count_law_has_table((ga__count_law){(double)INFINITY, 4096.5}));
    assert_false(ga__count_law_has_table((ga__count_law){16385, 0.5}));
    assert_int_equal(failures(), 0);
}

/* Of 60 throws of a coin, the bounds are sums of binomial coefficients times 16. */
static void bounds_are_right_to_the_last_word(void **state)
{
    ga__count_table table;
    int cells, count;
    uint64_t ways = 1, sum = 0;
    (void)state;
    uint64_t *words = table_words((ga__count_law){60, 0.5}, UINT64_MAX, &table, &cells, &count);
    assert_int_equal(count, 61);
    assert_int_equal(table.first, 0);
    for (uint64_t k = 0; k <= 60; k++) {
        sum += ways << 4; /* 2^64 becomes 0 at the end */
        const int64_t apart = (int64_t)(words[(uint64_t)cells / 4 + k] - (sum - 1));
        if (apart < -1 || apart > 1)
            fail_later("count %d: %lld words too many", (int)k, (long long)apart);
        ways = ways * (60 - k) / (k + 1); /* below 2^63, for C(60, 30) is below 2^57 */
    }
    free(words);
    assert_int_equal(failures(), 0);
}

/* Counts above the dtype's greatest become that one. */
static void tables_end_at_the_greatest_count(void **state)
{
    ga__count_table table;
    int cells, count;
    (void)state;
    uint64_t *words =
        table_words((ga__count_law){(double)INFINITY, 53.5}, 60, &table, &cells, &count);
    assert_true(table.first + (uint64_t)count - 1 == 60);
    assert_true(words[cells / 4 + count - 1] == UINT64_MAX);
    free(words);
    words = table_words((ga__count_law){(double)INFINITY, 53.5}, 127, &table, &cells, &count);
    assert_true(table.first + (uint64_t)count - 1 == 127);
    free(words);
}

/* ---- Arrays as parameters ---- */

/* Parameters for each distribution. */
static const struct {
    const char *name;
    double parameters[4];
} samples[] = {{"normal", {1, 2}},
               {"lognormal", {0, 0.5}},
               {"exponential", {3}},
               {"uniform", {-1, 4}},
               {"laplace", {1, 2}},
               {"logistic", {1, 2}},
               {"gumbel", {1, 2}},
               {"rayleigh", {2}},
               {"weibull", {0.75}},
               {"pareto", {3}},
               {"power", {4}},
               {"triangular", {-1, 0.5, 4}},
               {"standard_gamma", {0.5}},
               {"gamma", {3, 0.25}},
               {"beta", {0.5, 2}},
               {"chisquare", {5}},
               {"noncentral_chisquare", {3, 2}},
               {"f", {5, 12}},
               {"noncentral_f", {5, 12, 3}},
               {"standard_t", {3}},
               {"wald", {2, 3}},
               {"vonmises", {0.5, 2}},
               {"truncated_normal", {-1, 2, 0, 1}},
               {"poisson", {2.5}},
               {"poisson", {40}},
               {"binomial", {100, 0.25}},
               {"negative_binomial", {3, 0.5}},
               {"geometric", {0.25}},
               {"hypergeometric", {30, 70, 20}},
               {"zipf", {2.5}},
               {"logseries", {0.75}}};
enum { SAMPLES = sizeof samples / sizeof *samples };

/* The elements of three rows of 700 from numbers, from arrays, and into a transposed array. */
static void check_arrays(const distribution *d, const double *parameters, ga_dtype dtype,
                         unsigned arrays)
{
    ga_value numbers[4], values[4];
    gpuarray *made[4], *alone[4];
    set_arrays(d, parameters, has_table(d) ? ALL : 0, 1, numbers, alone);
    set_arrays(d, parameters, arrays, 3, values, made);
    ga_rng *rng = at(6, 1013);
    gpuarray *want = d->draw(rng, dtype, numbers, GA_SHAPE(3, 700));
    ga_rng_set_state(rng, &(ga_rng_state){6, 1013});
    gpuarray *got = d->draw(rng, dtype, values, GA_SHAPE(3, 700));
    ga_rng_state after;
    ga_rng_get_state(rng, &after);
    assert_true(after.position == 1013 + 2100);
    assert_arrays_equal(got, want);
    gpuarray *wide = ga_empty(dtype, GA_SHAPE(700, 3)), *across = ga_transpose(wide);
    ga_rng_set_state(rng, &(ga_rng_state){6, 1013});
    assert_int_equal(d->into(across, rng, values), GA_OK);
    assert_arrays_equal(across, want);
    ga_free(across), ga_free(wide), ga_free(got), ga_free(want);
    free_arrays(made, d->count);
    free_arrays(alone, d->count);
    ga_rng_free(rng);
}

static void arrays_of_a_number_give_the_numbers_elements(void **state)
{
    (void)state;
    for (int k = 0; k < SAMPLES; k++) {
        const distribution *d = by_name(samples[k].name);
        const double *parameters = samples[k].parameters;
        const bool small = strcmp(d->name, "uniform") != 0; /* whose bounds are the dtype's */
        if (!in_sample(d->name))
            continue;
        check_arrays(d, parameters, d->real ? GA_FLOAT64 : GA_INT64, (1u << d->count) - 1);
        check_arrays(d, parameters, d->real ? GA_FLOAT32 : GA_UINT8, 1);
        if (d->count > 1)
            check_arrays(d, parameters, !d->real ? GA_INT32 : small ? GA_FLOAT16 : GA_FLOAT32, 2);
    }
}

/* Each distribution has a sample, or no parameters. */
static void samples_are_complete(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof distributions / sizeof *distributions; k++) {
        bool found = distributions[k].count == 0;
        for (int s = 0; s < SAMPLES; s++)
            found |= !strcmp(samples[s].name, distributions[k].name);
        if (!found)
            fail_msg("%s has no sample", distributions[k].name);
    }
}

/* Each element has its own parameter, and is what an array of that alone gives at its place. */
static void elements_have_their_own_parameters(void **state)
{
    static const double means[] = {0, 0.5, 3, 9.75, 10, 50, 4000};
    enum { MEANS = sizeof means / sizeof *means };
    int64_t got[MEANS];
    (void)state;
    gpuarray *lam = ga_from_host(means, GA_FLOAT64, GA_SHAPE(MEANS));
    ga_rng *rng = at(8, 100);
    gpuarray *x = ga_rng_poisson(rng, GA_INT64, lam, GA_BROADCAST);
    assert_int_equal(ga_ndim(x), 1);
    assert_int_equal(ga_to_host(x, got, sizeof got), GA_OK);
    for (int k = 0; k < MEANS; k++) {
        ga_rng_set_state(rng, &(ga_rng_state){8, 100 + (uint64_t)k});
        gpuarray *mean = ga_full(GA_FLOAT64, GA_SHAPE0, means[k]);
        gpuarray *one = ga_rng_poisson(rng, GA_INT64, mean, GA_BROADCAST);
        assert_true(ga_item_int64(one) == got[k]);
        ga_free(one), ga_free(mean);
    }
    /* The parameter may be the result's own memory. */
    ga_rng_set_state(rng, &(ga_rng_state){8, 100});
    gpuarray *own = ga_astype(lam, GA_INT64), *again = ga_copy(own);
    gpuarray *want = ga_rng_poisson(rng, GA_INT64, again, GA_BROADCAST);
    ga_rng_set_state(rng, &(ga_rng_state){8, 100});
    assert_int_equal(ga_rng_poisson_into(own, rng, own), GA_OK);
    assert_arrays_equal(own, want);
    ga_free(want), ga_free(again), ga_free(own), ga_free(x), ga_free(lam);
    ga_rng_free(rng);
}

/* Parts of a sequence are the sequence, also when other distributions are drawn between them. */
static void elements_depend_on_their_place_alone(void **state)
{
    (void)state;
    for (int k = 0; k < SAMPLES; k++) {
        const distribution *d = by_name(samples[k].name);
        const ga_dtype dtype = d->real ? GA_FLOAT32 : GA_INT16;
        ga_value values[4];
        set_numbers(d, samples[k].parameters, values);
        ga_rng *rng = at(9, 77);
        gpuarray *whole = d->draw(rng, dtype, values, GA_SHAPE(1000));
        gpuarray *parts = ga_empty(dtype, GA_SHAPE(1000));
        gpuarray *first = ga_slice(parts, "0:613"), *rest = ga_slice(parts, "613:");
        ga_rng_set_state(rng, &(ga_rng_state){9, 77 + 613});
        assert_int_equal(d->into(rest, rng, values), GA_OK);
        ga_free(ga_rng_standard_normal(rng, GA_FLOAT64, GA_SHAPE(31)));
        ga_rng_set_state(rng, &(ga_rng_state){9, 77});
        assert_int_equal(d->into(first, rng, values), GA_OK);
        assert_arrays_equal(parts, whole);
        ga_free(rest), ga_free(first), ga_free(parts), ga_free(whole);
        ga_rng_free(rng);
    }
}

/* ---- Extremes and errors ---- */

/* All 100 elements are at least `low` and at most `high`. */
static void check_between(const char *name, const double *parameters, ga_dtype dtype, double low,
                          double high)
{
    const distribution *d = by_name(name);
    ga_value values[4];
    set_numbers(d, parameters, values);
    ga_rng *rng = at(12, 5);
    gpuarray *x = d->draw(rng, dtype, values, GA_SHAPE(100));
    if (!x)
        fail_msg("%s: %s", name, ga_error_message());
    void *host = host_copy(x);
    for (int k = 0; k < 100; k++) {
        const double number = element(host, dtype, k);
        if (!(number >= low && number <= high))
            fail_later("%s of %s: %g, wanted %g to %g", name, ga_dtype_name(dtype), number, low,
                       high);
    }
    free(host);
    ga_free(x);
    ga_rng_free(rng);
}

static void extreme_parameters(void **state)
{
    static const struct {
        const char *name;
        double parameters[4], low, high;
    } cases[] = {
        {"standard_gamma", {0}, 0, 0},
        {"standard_gamma", {-0.0}, 0, 0},
        {"standard_gamma", {1e-300}, 0, 1e-30},
        {"standard_gamma", {1e30}, 0.999e30, 1.001e30},
        {"gamma", {3, 0}, 0, 0},
        {"weibull", {0}, 0, 0},
        {"weibull", {1e9}, 0.99, 1.01},
        {"pareto", {1e-3}, 0, (double)INFINITY},
        {"power", {1e-3}, 0, 1},
        {"power", {1e6}, 0.99, 1},
        {"beta", {1e-3, 1e-3}, 0, 1},
        {"beta", {1e6, 1e6}, 0.49, 0.51},
        {"normal", {3, 0}, 3, 3},
        {"laplace", {3, 0}, 3, 3},
        {"rayleigh", {0}, 0, 0},
        {"triangular", {0, 0, 1}, 0, 1},
        {"triangular", {0, 1, 1}, 0, 1},
        {"wald", {1, 1e6}, 0.98, 1.02},
        {"vonmises", {0, 0}, -3.1416, 3.1416},
        {"vonmises", {0, 1e-5}, -3.1416, 3.1416},
        {"vonmises", {0, 1e5}, -0.03, 0.03},
        {"vonmises", {0, 1e9}, -3e-4, 3e-4},
        {"vonmises", {100, 1e5}, -0.56097, -0.50097},
        {"truncated_normal", {50, 51, 0, 1}, 50, 51},
        {"truncated_normal", {-51, -50, 0, 1}, -51, -50},
        {"truncated_normal", {1, 1.001, 0, 1}, 1, 1.001},
        {"noncentral_chisquare", {3, 0}, 0, 60},
        {"binomial", {0, 0.5}, 0, 0},
        {"binomial", {1000, 0}, 0, 0},
        {"binomial", {1000, 1}, 1000, 1000},
        {"binomial", {1, 0.5}, 0, 1},
        {"negative_binomial", {3, 1}, 0, 0},
        {"geometric", {1}, 1, 1},
        {"geometric", {1e-12}, 1, 4e13},
        {"hypergeometric", {0, 0, 0}, 0, 0},
        {"hypergeometric", {5, 0, 5}, 5, 5},
        {"hypergeometric", {0, 5, 5}, 0, 0},
        {"hypergeometric", {1e9, 1e9, 1e9}, 499e6, 501e6},
        {"hypergeometric", {20, 30, 50}, 20, 20},
        {"zipf", {1.0001}, 1, 0x1p63},
        {"zipf", {900}, 1, 1},
        {"logseries", {0}, 1, 1},
        {"poisson", {0}, 0, 0},
        {"poisson", {1e-300}, 0, 0},
        {"binomial", {0x1p53, 1e-300}, 0, 0},
        {"binomial", {0x1p53, 1 - 0x1p-53}, 0x1p53 - 20, 0x1p53},
    };
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        const bool real = by_name(cases[k].name)->real;
        const ga_dtype wide = real ? GA_FLOAT64 : GA_INT64;
        check_between(cases[k].name, cases[k].parameters, wide, cases[k].low, cases[k].high);
        if (real)
            check_between(cases[k].name, cases[k].parameters, GA_FLOAT32,
                          (double)(float)cases[k].low, (double)(float)cases[k].high);
    }
    assert_int_equal(failures(), 0);
}

/* Integers that their dtype cannot hold become its greatest. */
static void integers_saturate(void **state)
{
    int8_t got[50];
    (void)state;
    ga_rng *rng = at(3, 0);
    gpuarray *x = ga_rng_geometric(rng, GA_INT8, 1e-9, GA_SHAPE(50));
    assert_int_equal(ga_to_host(x, got, sizeof got), GA_OK);
    for (int k = 0; k < 50; k++)
        assert_int_equal(got[k], 127);
    ga_free(x);
    ga_rng_free(rng);
}

static const struct {
    const char *name;
    double parameters[4];
    const char *message;
} wrong[] = {
    {"standard_gamma", {-1}, "standard_gamma: shape is -1, not finite and non-negative"},
    {"standard_gamma", {(double)NAN}, "standard_gamma: shape is nan"},
    {"gamma", {1, -0.5}, "gamma: scale is -0.5"},
    {"gamma", {(double)INFINITY, 1}, "gamma: shape is inf"},
    {"beta", {0, 1}, "beta: a is 0, not finite and positive"},
    {"beta", {1, -1}, "beta: b is -1"},
    {"chisquare", {0}, "chisquare: df is 0"},
    {"f", {1, 0}, "f: dfden is 0"},
    {"noncentral_f", {1, 1, -1}, "noncentral_f: nonc is -1"},
    {"standard_t", {-3}, "standard_t: df is -3"},
    {"pareto", {0}, "pareto: a is 0"},
    {"power", {0}, "power: a is 0"},
    {"weibull", {-1}, "weibull: a is -1"},
    {"wald", {1, 0}, "wald: scale is 0"},
    {"vonmises", {0, -1}, "vonmises: kappa is -1"},
    {"triangular", {0, 5, 2}, "triangular: an element of right is below mode"},
    {"triangular", {1, 0, 2}, "triangular: an element of mode is below left"},
    {"triangular", {1, 1, 1}, "triangular: an element of right is not above left"},
    {"truncated_normal", {1, 1, 0, 1}, "truncated_normal: an element of high is not above low"},
    {"truncated_normal", {(double)NAN, 1, 0, 1}, "truncated_normal: low is nan, not a number"},
    {"binomial", {-1, 0.5}, "binomial: n is -1, not between 0 and 2^53"},
    {"binomial", {5, 1.5}, "binomial: p is 1.5, not between 0 and 1"},
    {"binomial", {5.5, 0.5}, "binomial: n is float64, not an integer"},
    {"negative_binomial", {0, 0.5}, "negative_binomial: n is 0"},
    {"negative_binomial", {1, 0}, "negative_binomial: p is 0, not above 0 and at most 1"},
    {"geometric", {0}, "geometric: p is 0"},
    {"geometric", {1.5}, "geometric: p is 1.5"},
    {"hypergeometric",
     {3, 4, 8},
     "hypergeometric: an element of nsample is above the sum of the others"},
    {"hypergeometric", {-3, 4, 1}, "hypergeometric: ngood is -3, not between 0 and 10^9"},
    {"hypergeometric", {3, 2e9, 1}, "hypergeometric: nbad is 2e+09"},
    {"zipf", {1}, "zipf: a is 1, not finite and above 1"},
    {"logseries", {1}, "logseries: p is 1, not at least 0 and below 1"},
    {"logseries", {-0.5}, "logseries: p is -0.5"},
    {"poisson", {-1}, "poisson: lam is -1, not a non-negative number"},
};

/* As numbers, and as one element among those of an array; the generator stays where it is. */
static void wrong_parameters_are_refused(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++) {
        const distribution *d = by_name(wrong[k].name);
        const ga_dtype dtype = d->real ? GA_FLOAT32 : GA_INT32;
        ga_value values[4];
        gpuarray *made[4];
        ga_rng_state after;
        ga_rng *rng = at(33, 9);
        set_numbers(d, wrong[k].parameters, values);
        assert_null(d->draw(rng, dtype, values, GA_SHAPE(3)));
        assert_error(d->count > 0 && strstr(wrong[k].message, "float64") ? GA_ERR_DTYPE
                                                                         : GA_ERR_INVALID,
                     wrong[k].message);
        set_arrays(d, wrong[k].parameters, ALL, 3, values, made);
        assert_null(d->draw(rng, dtype, values, GA_SHAPE(3, 2)));
        assert_error(strstr(wrong[k].message, "float64") ? GA_ERR_DTYPE : GA_ERR_INVALID,
                     wrong[k].message);
        free_arrays(made, d->count);
        ga_rng_get_state(rng, &after);
        assert_true(after.position == 9);
        ga_rng_free(rng);
    }
}

static void wrong_arrays_are_refused(void **state)
{
    (void)state;
    ga_rng *rng = at(34, 9);
    gpuarray *three = ga_ones(GA_FLOAT32, GA_SHAPE(3)), *two = ga_ones(GA_FLOAT32, GA_SHAPE(2));
    gpuarray *complex = ga_ones(GA_COMPLEX64, GA_SHAPE(3)), *none = NULL;
    assert_null(ga_rng_gamma(rng, GA_FLOAT32, three, two, GA_BROADCAST));
    assert_error(GA_ERR_SHAPE, "gamma: shapes (3,) and (2,)");
    assert_null(ga_rng_gamma(rng, GA_FLOAT32, three, 1, GA_SHAPE(3, 2)));
    assert_error(GA_ERR_SHAPE, "gamma: parameters of shape (3,) do not broadcast to (3, 2)");
    assert_int_equal(ga_rng_gamma_into(two, rng, three, 1), GA_ERR_SHAPE);
    assert_error(GA_ERR_SHAPE, "gamma: parameters of shape (3,) do not broadcast to (2,)");
    assert_null(ga_rng_gamma(rng, GA_FLOAT32, complex, 1, GA_BROADCAST));
    assert_error(GA_ERR_DTYPE, "gamma: shape is complex64, not a real number");
    assert_null(ga_rng_gamma(rng, GA_INT32, three, 1, GA_BROADCAST));
    assert_error(GA_ERR_DTYPE, "gamma: the dtype must be a float, not int32");
    assert_null(ga_rng_gamma(rng, GA_FLOAT32, none, 1, GA_BROADCAST));
    assert_error(GA_ERR_INVALID, "gamma: operand 1 is NULL");
    gpuarray *p = ga_from_host((float[]){0.5f, 1.5f, 0.25f}, GA_FLOAT32, GA_SHAPE(3));
    const ga_value trials[] = {ga_value_int(5), ga_value_array(p)};
    assert_null(by_name("binomial")->draw(rng, GA_INT32, trials, GA_SHAPE(3)));
    assert_error(GA_ERR_INVALID, "binomial: p is 1.5, not between 0 and 1");
    ga_free(p);
    assert_null(ga_rng_gamma(NULL, GA_FLOAT32, three, 1, GA_BROADCAST));
    assert_error(GA_ERR_INVALID, "gamma: the generator is NULL");
    assert_int_equal(ga_rng_gamma_into(NULL, rng, three, 1), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "gamma: out is NULL");
    /* Without elements there is nothing to be wrong, and nothing is drawn. */
    gpuarray *empty = ga_empty(GA_FLOAT32, GA_SHAPE(0, 3));
    gpuarray *x = ga_rng_gamma(rng, GA_FLOAT32, empty, three, GA_BROADCAST);
    assert_int_equal(ga_size(x), 0);
    ga_rng_state after;
    ga_rng_get_state(rng, &after);
    assert_true(after.position == 9);
    ga_free(x), ga_free(empty), ga_free(complex), ga_free(two), ga_free(three);
    ga_rng_free(rng);
}

/* Calls that fail for want of memory take no elements. */
static void failed_calls_take_nothing(void **state)
{
    ga_rng_state after;
    int failed = 0, done = 0;
    (void)state;
    gpuarray *shape = ga_full(GA_FLOAT32, GA_SHAPE(10), 2.5);
    ga_rng *rng = at(35, 50);
    for (int n = 1; done < 20; n++) { /* a first compile makes hundreds of allocations */
        ga_rng_set_state(rng, &(ga_rng_state){35, 50});
        ga__alloc_fail_at(n);
        gpuarray *x = ga_rng_gamma(rng, GA_FLOAT32, shape, 2, GA_SHAPE(5, 10));
        ga__alloc_fail_at(0);
        ga_clear_error();
        ga_rng_get_state(rng, &after);
        assert_true(after.position == (x ? 100 : 50));
        done += x != NULL;
        failed += !x;
        ga_free(x);
        assert_true(n < 2000);
    }
    assert_true(failed > 0);
    ga_rng_free(rng);
    ga_free(shape);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        slow_test_teardown(elements_are_those_of_the_other_implementation, leave_no_error),
        slow_test_teardown(numbers_follow_their_laws, leave_no_error),
        cmocka_unit_test_teardown(tables_have_the_tails_of_their_laws, leave_no_error),
        cmocka_unit_test_teardown(bounds_are_right_to_the_last_word, leave_no_error),
        cmocka_unit_test_teardown(tables_end_at_the_greatest_count, leave_no_error),
        cmocka_unit_test_teardown(samples_are_complete, leave_no_error),
        cmocka_unit_test_teardown(arrays_of_a_number_give_the_numbers_elements, leave_no_error),
        cmocka_unit_test_teardown(elements_have_their_own_parameters, leave_no_error),
        slow_test_teardown(elements_depend_on_their_place_alone, leave_no_error),
        cmocka_unit_test_teardown(extreme_parameters, leave_no_error),
        cmocka_unit_test_teardown(integers_saturate, leave_no_error),
        cmocka_unit_test_teardown(wrong_parameters_are_refused, leave_no_error),
        cmocka_unit_test_teardown(wrong_arrays_are_refused, leave_no_error),
        cmocka_unit_test_teardown(failed_calls_take_nothing, leave_no_error),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
