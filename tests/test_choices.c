/* Choices, shuffles, rows of numbers and Sobol sequences. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "golden.h"
#include "parallel.h"
#include "run.h"

static ga_rng *at(uint64_t seed, uint64_t position)
{
    ga_rng *rng = ga_rng_new(0);
    assert_int_equal(ga_rng_set_state(rng, &(ga_rng_state){seed, position}), GA_OK);
    return rng;
}

static uint64_t position_of(ga_rng *rng)
{
    ga_rng_state state;
    assert_int_equal(ga_rng_get_state(rng, &state), GA_OK);
    return state.position;
}

static void *host_copy(const gpuarray *x)
{
    assert_non_null(x);
    void *host = malloc(ga_nbytes(x) + 1);
    assert_non_null(host);
    assert_int_equal(ga_to_host(x, host, ga_nbytes(x)), GA_OK);
    return host;
}

/* Counts against probabilities: the chi-square statistic as a standard normal number. */
static void expect_shares(const char *what, const int64_t *count, const double *share, int cells)
{
    double total = 0, statistic = 0;
    int freedom = -1;
    for (int k = 0; k < cells; k++)
        total += (double)count[k];
    for (int k = 0; k < cells; k++) {
        const double wanted = share[k] * total, apart = (double)count[k] - wanted;
        if (share[k] > 0) {
            statistic += apart * apart / wanted;
            freedom++;
        } else if (count[k] > 0) {
            fail_later("%s: %lld in a cell of no probability", what, (long long)count[k]);
        }
    }
    const double v = 2.0 / (9.0 * freedom), z = (cbrt(statistic / freedom) - (1 - v)) / sqrt(v);
    if (!(fabs(z) < 4))
        fail_later("%s: %.1f deviations", what, z);
}

/* ---- Choices ---- */

enum { MANY = 200000, FEW = 5 };
static const double shares[FEW] = {0.1, 0, 0.4, 0.3, 0.2};
static const double even[FEW] = {0.2, 0.2, 0.2, 0.2, 0.2};

static void check_counts(const char *what, const gpuarray *x, const double *share)
{
    int64_t count[FEW] = {0}, *chosen = host_copy(x);
    for (int64_t k = 0; k < ga_size(x); k++) {
        assert_true(chosen[k] >= 0 && chosen[k] < FEW);
        count[chosen[k]]++;
    }
    expect_shares(what, count, share, FEW);
    free(chosen);
}

static void choices_with_replacement_follow_their_probabilities(void **state)
{
    (void)state;
    ga_rng *rng = at(3, 17);
    gpuarray *p = ga_from_host(shares, GA_FLOAT64, GA_SHAPE(FEW));
    gpuarray *x = ga_rng_choice(rng, FEW, GA_SHAPE(MANY));
    assert_true(position_of(rng) == 17 + MANY);
    gpuarray *y = ga_rng_choice(rng, FEW, GA_SHAPE(2, MANY / 2), .p = p);
    assert_true(position_of(rng) == 17 + 2 * MANY);
    assert_int_equal(ga_ndim(y), 2);
    check_counts("even choices", x, even);
    check_counts("weighted choices", y, shares);
    ga_free(y), ga_free(x), ga_free(p);
    ga_rng_free(rng);
    assert_int_equal(failures(), 0);
}

/* A number that is the first bound itself belongs to what follows: of [0, p) comes the first. */
static void choices_at_a_bound_are_the_next(void **state)
{
    (void)state;
    ga_rng *rng = at(3, 17);
    gpuarray *u = ga_rng_random(rng, GA_FLOAT64, GA_SHAPE(1));
    const double bound = ga_item_double(u), two[] = {bound, 1 - bound};
    assert_true(bound > 0 && bound < 1);
    ga_rng_set_state(rng, &(ga_rng_state){3, 17});
    gpuarray *p = ga_from_host(two, GA_FLOAT64, GA_SHAPE(2)),
             *x = ga_rng_choice(rng, 2, GA_SHAPE(1), .p = p);
    assert_int_equal(ga_item_int64(x), 1);
    ga_free(x), ga_free(p), ga_free(u);
    ga_rng_free(rng);
}

/* Each of the four that can come once; the first as its probability says, the last as the order of
 * draws without replacement says. */
static void choices_without_replacement_come_once(void **state)
{
    enum { TIMES = 4000 };
    int64_t first[FEW] = {0}, second[FEW] = {0};
    double after[FEW] = {0};
    (void)state;
    ga_rng *rng = at(4, 0);
    gpuarray *p = ga_from_host(shares, GA_FLOAT64, GA_SHAPE(FEW));
    for (int time = 0; time < TIMES; time++) {
        gpuarray *x = ga_rng_choice(rng, FEW, GA_SHAPE(4), .p = p, .without_replacement = true);
        int64_t *chosen = host_copy(x);
        int seen = 0;
        for (int k = 0; k < 4; k++)
            seen |= 1 << chosen[k];
        assert_int_equal(seen, 1 | 4 | 8 | 16);
        first[chosen[0]]++;
        second[chosen[1]]++;
        free(chosen);
        ga_free(x);
    }
    assert_true(position_of(rng) == (uint64_t)TIMES * FEW);
    for (int a = 0; a < FEW; a++)
        for (int b = 0; b < FEW; b++)
            after[b] += a == b ? 0 : shares[a] * shares[b] / (1 - shares[a]);
    expect_shares("first choices", first, shares, FEW);
    expect_shares("second choices", second, after, FEW);
    ga_free(p);
    ga_rng_free(rng);
    assert_int_equal(failures(), 0);
}

static void even_choices_without_replacement_come_once(void **state)
{
    enum { N = 1000, CHOSEN = 400 };
    (void)state;
    ga_rng *rng = at(5, 9);
    gpuarray *x = ga_rng_choice(rng, N, GA_SHAPE(20, 20), .without_replacement = true);
    assert_true(position_of(rng) == 10);
    int64_t *chosen = host_copy(x);
    bool seen[N] = {false};
    for (int k = 0; k < CHOSEN; k++) {
        assert_true(chosen[k] >= 0 && chosen[k] < N && !seen[chosen[k]]);
        seen[chosen[k]] = true;
    }
    /* They are the beginning of the whole order. */
    ga_rng_set_state(rng, &(ga_rng_state){5, 9});
    gpuarray *all = ga_rng_permutation(rng, N), *begin = ga_slice(all, "0:400");
    gpuarray *line = ga_ravel(x);
    assert_arrays_equal(line, begin);
    ga_free(line), ga_free(begin), ga_free(all), ga_free(x);
    free(chosen);
    ga_rng_free(rng);
}

static void choices_take_slices(void **state)
{
    (void)state;
    ga_rng *rng = at(6, 0);
    gpuarray *line = ga_arange(GA_FLOAT16, 0, 24, 1), *x = ga_reshape(line, GA_SHAPE(2, 3, 4));
    for (int axis = 0; axis < 3; axis++) {
        ga_rng_set_state(rng, &(ga_rng_state){6, 3});
        gpuarray *indices = ga_rng_choice(rng, (int64_t)ga_length(x, axis), GA_SHAPE(5));
        gpuarray *want = ga_take(x, indices, GA_AXIS(axis));
        ga_rng_set_state(rng, &(ga_rng_state){6, 3});
        gpuarray *got = ga_rng_choice(rng, x, GA_SHAPE(5), GA_AXIS(axis));
        assert_arrays_equal(got, want);
        ga_free(got), ga_free(want), ga_free(indices);
    }
    ga_free(x), ga_free(line);
    ga_rng_free(rng);
}

static void wrong_choices_are_refused(void **state)
{
    static const double negative[] = {1.5, -0.5}, light[] = {0.5, 0.25}, one[] = {1, 0},
                        nan[] = {1, (double)NAN};
    (void)state;
    ga_rng *rng = at(7, 7);
    gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(2)), *none = NULL;
    gpuarray *bad = ga_from_host(negative, GA_FLOAT64, GA_SHAPE(2));
    gpuarray *small = ga_from_host(light, GA_FLOAT64, GA_SHAPE(2));
    gpuarray *single = ga_from_host(one, GA_FLOAT64, GA_SHAPE(2));
    gpuarray *missing = ga_from_host(nan, GA_FLOAT64, GA_SHAPE(2));
    assert_null(ga_rng_choice(rng, 0, GA_SHAPE(1)));
    assert_error(GA_ERR_INVALID, "choice: 0 elements to choose from, expected at least 1");
    assert_null(ga_rng_choice(rng, -5, GA_SHAPE(1)));
    assert_error(GA_ERR_INVALID, "choice: -5 elements to choose from, expected at least 1");
    assert_null(ga_rng_choice(rng, 2.5, GA_SHAPE(1)));
    assert_error(GA_ERR_INVALID, "choice: the source is neither an integer nor an array");
    assert_null(ga_rng_choice(rng, x, GA_SHAPE(3), .without_replacement = true));
    assert_error(GA_ERR_INVALID, "choice: 3 choices without replacement from 2 elements");
    assert_null(ga_rng_choice(rng, x, GA_SHAPE(2), .p = single, .without_replacement = true));
    assert_error(GA_ERR_INVALID,
                 "choice: 2 choices without replacement from 1 elements of probability above 0");
    assert_null(ga_rng_choice(rng, x, GA_SHAPE(2), .p = bad));
    assert_error(GA_ERR_INVALID, "choice: a probability is -0.5, expected at least 0");
    assert_null(ga_rng_choice(rng, x, GA_SHAPE(2), .p = missing));
    assert_error(GA_ERR_INVALID, "choice: a probability is nan, expected at least 0");
    assert_null(ga_rng_choice(rng, x, GA_SHAPE(2), .p = small));
    assert_error(GA_ERR_INVALID, "choice: the probabilities sum to 0.75, expected 1");
    assert_null(ga_rng_choice(rng, 3, GA_SHAPE(2), .p = single));
    assert_error(GA_ERR_SHAPE, "choice: 2 probabilities for 3 elements");
    assert_null(ga_rng_choice(rng, x, GA_SHAPE(2), GA_AXIS(1)));
    assert_error(GA_ERR_INVALID, "choice: axis 1");
    assert_null(ga_rng_choice(rng, none, GA_SHAPE(2)));
    assert_error(GA_ERR_INVALID, "choice: the array is NULL");
    assert_null(ga_rng_choice(NULL, x, GA_SHAPE(2)));
    assert_error(GA_ERR_INVALID, "choice: the generator is NULL");
    assert_true(position_of(rng) == 7);
    gpuarray *empty = ga_rng_choice(rng, 0, GA_SHAPE(0));
    assert_int_equal(ga_size(empty), 0);
    ga_free(empty), ga_free(missing), ga_free(single), ga_free(small), ga_free(bad), ga_free(x);
    ga_rng_free(rng);
}

/* ---- Orders ---- */

static void shuffles_are_takes_of_a_permutation(void **state)
{
    (void)state;
    ga_rng *rng = at(8, 0);
    gpuarray *line = ga_arange(GA_INT16, 0, 210, 1), *x = ga_reshape(line, GA_SHAPE(5, 6, 7));
    gpuarray *across = ga_transpose(x);
    const gpuarray *arrays[] = {x, across};
    for (int which = 0; which < 2; which++)
        for (int axis = 0; axis < 3; axis++) {
            const gpuarray *a = arrays[which];
            ga_rng_set_state(rng, &(ga_rng_state){8, 2});
            gpuarray *order = ga_rng_permutation(rng, ga_length(a, axis));
            gpuarray *want = ga_take(a, order, GA_AXIS(axis));
            ga_rng_set_state(rng, &(ga_rng_state){8, 2});
            gpuarray *got = ga_rng_permutation_along(rng, a, axis - 3);
            assert_true(position_of(rng) == 3);
            assert_arrays_equal(got, want);
            gpuarray *own = ga_copy(x), *view = which ? ga_transpose(own) : ga_retain(own);
            ga_rng_set_state(rng, &(ga_rng_state){8, 2});
            assert_int_equal(ga_rng_shuffle(rng, view, axis), GA_OK);
            assert_arrays_equal(view, want);
            ga_free(view), ga_free(own), ga_free(got), ga_free(want), ga_free(order);
        }
    ga_rng_set_state(rng, &(ga_rng_state){8, 2});
    gpuarray *first = ga_rng_permutation(rng, x);
    ga_rng_set_state(rng, &(ga_rng_state){8, 2});
    gpuarray *along = ga_rng_permutation_along(rng, x, 0);
    assert_arrays_equal(first, along);
    ga_free(along), ga_free(first), ga_free(across), ga_free(x), ga_free(line);
    ga_rng_free(rng);
}

/* Each line has every element once; all six orders of three are as likely, and neighbouring lines
 * are independent. */
static void permuted_lines_have_their_own_orders(void **state)
{
    enum { LINES = 60000 };
    int64_t count[6] = {0}, pairs[36] = {0};
    double sixth[6], thirty_sixth[36];
    (void)state;
    for (int axis = 0; axis < 2; axis++) {
        ga_rng *rng = at(10 + (uint64_t)axis, 31);
        gpuarray *line = ga_arange(GA_UINT8, 0, 3, 1), *column = ga_reshape(line, GA_SHAPE(3, 1));
        gpuarray *x = axis ? ga_broadcast_to(line, GA_SHAPE(LINES, 3))
                           : ga_broadcast_to(column, GA_SHAPE(3, LINES));
        gpuarray *y = ga_rng_permuted(rng, x, axis);
        assert_true(position_of(rng) == 31 + LINES);
        const uint8_t *const got = host_copy(y);
        int last = 0;
        for (int k = 0; k < LINES; k++) {
            int order = 0, seen = 0;
            for (int j = 0; j < 3; j++) {
                const int value = axis ? got[3 * k + j] : got[LINES * j + k];
                seen |= 1 << value;
                order = order * 3 + value;
            }
            assert_int_equal(seen, 7);
            /* 012 021 102 120 201 210 in base 3 are 5 7 11 15 19 21 */
            order = order < 6    ? 0
                    : order < 10 ? 1
                    : order < 14 ? 2
                    : order < 17 ? 3
                    : order < 20 ? 4
                                 : 5;
            count[order]++;
            if (k > 0)
                pairs[6 * last + order]++;
            last = order;
        }
        free((void *)got);
        ga_free(y);
        ga_rng_free(rng);
        ga_free(x), ga_free(column), ga_free(line);
    }
    for (int k = 0; k < 36; k++)
        sixth[k % 6] = 1 / 6., thirty_sixth[k] = 1 / 36.;
    expect_shares("orders", count, sixth, 6);
    expect_shares("pairs of orders", pairs, thirty_sixth, 36);
    assert_int_equal(failures(), 0);
}

static void wrong_orders_are_refused(void **state)
{
    (void)state;
    ga_rng *rng = at(11, 4);
    gpuarray *x = ga_ones(GA_INT32, GA_SHAPE(2, 3)), *scalar = ga_ones(GA_INT32, GA_SHAPE0);
    gpuarray *wide = ga_broadcast_to(x, GA_SHAPE(4, 2, 3));
    assert_null(ga_rng_permuted(rng, x, 2));
    assert_error(GA_ERR_INVALID, "permuted: axis 2");
    assert_null(ga_rng_permutation(rng, scalar));
    assert_error(GA_ERR_INVALID, "permutation: axis 0");
    assert_null(ga_rng_permutation(rng, 2.5));
    assert_error(GA_ERR_INVALID, "permutation: the length is neither an integer nor an array");
    assert_int_equal(ga_rng_shuffle(rng, wide, 0), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "shuffle");
    assert_int_equal(ga_rng_shuffle(rng, NULL, 0), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "shuffle: the array is NULL");
    assert_null(ga_rng_permuted(NULL, x, 0));
    assert_error(GA_ERR_INVALID, "permuted: the generator is NULL");
    assert_true(position_of(rng) == 4);
    gpuarray *empty = ga_empty(GA_FLOAT32, GA_SHAPE(0, 3)), *still = ga_rng_permuted(rng, empty, 0);
    assert_int_equal(ga_size(still), 0);
    assert_int_equal(ga_rng_shuffle(rng, empty, 1), GA_OK);
    ga_free(still), ga_free(empty), ga_free(wide), ga_free(scalar), ga_free(x);
    ga_rng_free(rng);
}

/* ---- Rows ---- */

static void multinomial_rows_count_all_trials(void **state)
{
    enum { ROWS = 20000, TRIALS = 37 };
    static int64_t totals[FEW], tens[2];
    (void)state;
    ga_rng *rng = at(13, 5);
    gpuarray *p = ga_from_host(shares, GA_FLOAT64, GA_SHAPE(FEW));
    gpuarray *x = ga_rng_multinomial(rng, GA_INT64, TRIALS, p, GA_SHAPE(ROWS));
    assert_true(position_of(rng) == 5 + ROWS * FEW);
    int64_t *got = host_copy(x);
    double moment = 0;
    for (int r = 0; r < ROWS; r++) {
        int64_t sum = 0;
        for (int k = 0; k < FEW; k++) {
            sum += got[FEW * r + k];
            totals[k] += got[FEW * r + k];
        }
        assert_int_equal(sum, TRIALS);
        moment += ((double)got[FEW * r + 2] - 14.8) * ((double)got[FEW * r + 3] - 11.1);
        tens[got[FEW * r + 3] > 10]++;
    }
    expect_shares("outcomes", totals, shares, FEW);
    /* Covariance -n p q, here within 5 of its deviations. */
    assert_true(fabs(moment / ROWS + TRIALS * 0.4 * 0.3) < 5 * 9.0 / sqrt(ROWS));
    assert_true(tens[0] > 0 && tens[1] > 0);
    /* Parameters of each row: row k has k trials, and one of two lists of probabilities. */
    gpuarray *n = ga_arange(GA_INT32, 0, 6, 1), *two = ga_full(GA_FLOAT32, GA_SHAPE(2, 1, 2), 0.5);
    gpuarray *y = ga_rng_multinomial(rng, GA_INT16, n, two, GA_SHAPE(2, 6));
    int16_t *rows = host_copy(y);
    for (int r = 0; r < 12; r++)
        assert_int_equal(rows[2 * r] + rows[2 * r + 1], r % 6);
    free(rows), free(got);
    ga_free(y), ga_free(two), ga_free(n), ga_free(x), ga_free(p);
    ga_rng_free(rng);
    assert_int_equal(failures(), 0);
}

/* Of 20 + 30 + 0 + 50 things, means and variances of the counts; no color has more than there are.
 */
static void samples_of_colors_are_without_replacement(void **state)
{
    enum { ROWS = 20000, SAMPLE = 24, COLORS = 4 };
    static const int64_t colors[COLORS] = {20, 30, 0, 50};
    double mean[COLORS] = {0}, square = 0;
    (void)state;
    ga_rng *rng = at(15, 3);
    gpuarray *p = ga_from_host(colors, GA_INT64, GA_SHAPE(COLORS));
    gpuarray *x = ga_rng_multivariate_hypergeometric(rng, GA_INT64, p, SAMPLE, GA_SHAPE(ROWS));
    assert_true(position_of(rng) == 3 + ROWS * COLORS);
    int64_t *got = host_copy(x);
    for (int r = 0; r < ROWS; r++) {
        int64_t sum = 0;
        for (int k = 0; k < COLORS; k++) {
            const int64_t count = got[COLORS * r + k];
            assert_true(count >= 0 && count <= colors[k]);
            sum += count;
            mean[k] += (double)count / ROWS;
        }
        assert_int_equal(sum, SAMPLE);
        square += pow((double)got[COLORS * r + 3] - 12, 2) / ROWS;
    }
    for (int k = 0; k < COLORS; k++)
        assert_true(fabs(mean[k] - SAMPLE * (double)colors[k] / 100) < 5 * 2.2 / sqrt(ROWS));
    /* n K/N (1 - K/N) (N - n) / (N - 1) */
    assert_true(fabs(square - 24 * 0.25 * 76 / 99) < 5 * 6.6 / sqrt(ROWS));
    /* All of them, and samples of each row: one after the other of both lists. */
    gpuarray *n = ga_arange(GA_INT32, 98, 101, 1),
             *two = ga_broadcast_to(p, GA_SHAPE(2, 3, COLORS));
    gpuarray *y = ga_rng_multivariate_hypergeometric(rng, GA_UINT8, two, n, GA_SHAPE(2, 3));
    uint8_t *rows = host_copy(y);
    for (int r = 0; r < 6; r++)
        assert_int_equal(rows[4 * r] + rows[4 * r + 1] + rows[4 * r + 2] + rows[4 * r + 3],
                         98 + r % 3);
    assert_int_equal(rows[8], 20);
    assert_null(ga_rng_multivariate_hypergeometric(rng, GA_INT32, p, 101, GA_SHAPE(2)));
    assert_error(GA_ERR_INVALID, "multivariate_hypergeometric: an element of nsample is above");
    assert_null(ga_rng_multivariate_hypergeometric(rng, GA_FLOAT32, p, 1, GA_SHAPE(2)));
    assert_error(GA_ERR_DTYPE, "multivariate_hypergeometric: the dtype must be an integer");
    gpuarray *halves = ga_full(GA_FLOAT64, GA_SHAPE(2), 0.5),
             *few = ga_full(GA_INT8, GA_SHAPE(2), -1);
    assert_null(ga_rng_multivariate_hypergeometric(rng, GA_INT32, halves, 0, GA_SHAPE(2)));
    assert_error(GA_ERR_DTYPE, "multivariate_hypergeometric: colors is float64, not an integer");
    assert_null(ga_rng_multivariate_hypergeometric(rng, GA_INT32, few, 0, GA_SHAPE(2)));
    assert_error(GA_ERR_INVALID, "multivariate_hypergeometric: an element of colors is -1");
    free(rows), free(got);
    ga_free(few), ga_free(halves), ga_free(y), ga_free(two), ga_free(n), ga_free(x), ga_free(p);
    ga_rng_free(rng);
}

static void dirichlet_rows_sum_to_1(void **state)
{
    enum { ROWS = 40000 };
    static const double alphas[] = {0.5, 2, 3.5};
    static const ga_dtype dtypes[] = {GA_FLOAT64, GA_FLOAT32};
    (void)state;
    for (int which = 0; which < 2; which++) {
        ga_rng *rng = at(14, 1);
        gpuarray *alpha = ga_from_host(alphas, GA_FLOAT64, GA_SHAPE(3));
        gpuarray *x = ga_rng_dirichlet(rng, dtypes[which], alpha, GA_SHAPE(ROWS));
        assert_true(position_of(rng) == 1 + 3 * ROWS);
        gpuarray *wide = ga_astype(x, GA_FLOAT64);
        double *got = host_copy(wide), mean[3] = {0}, square = 0;
        for (int r = 0; r < ROWS; r++) {
            assert_true(fabs(got[3 * r] + got[3 * r + 1] + got[3 * r + 2] - 1) < 3e-7);
            for (int k = 0; k < 3; k++)
                mean[k] += got[3 * r + k] / ROWS;
            square += got[3 * r + 1] * got[3 * r + 1] / ROWS;
        }
        for (int k = 0; k < 3; k++)
            assert_true(fabs(mean[k] - alphas[k] / 6) < 4 * 0.2 / sqrt(ROWS));
        assert_true(fabs(square - 2. * 3 / (6 * 7)) < 4 * 0.18 / sqrt(ROWS));
        free(got);
        ga_free(wide), ga_free(x), ga_free(alpha);
        ga_rng_free(rng);
    }
    /* Shapes so small that gamma numbers are 0: still one share of each row is nearly 1. */
    ga_rng *rng = at(14, 1);
    gpuarray *tiny = ga_full(GA_FLOAT64, GA_SHAPE(4), 1e-5);
    gpuarray *x = ga_rng_dirichlet(rng, GA_FLOAT64, tiny, GA_SHAPE(100));
    double *got = host_copy(x);
    for (int r = 0; r < 100; r++)
        assert_true(fabs(got[4 * r] + got[4 * r + 1] + got[4 * r + 2] + got[4 * r + 3] - 1) <
                    1e-12);
    free(got);
    ga_free(x), ga_free(tiny);
    ga_rng_free(rng);
}

static void normal_rows_have_their_covariances(void **state)
{
    enum { ROWS = 100000, D = 3 };
    static const double mean[] = {1, -2, 3}, cov[] = {2, 0.6, -0.5, 0.6, 1, 0.2, -0.5, 0.2, 3};
    static const double flat[] = {4, 2, 2, 1}; /* of rank 1 */
    double sum[D] = {0}, product[D][D] = {{0}};
    (void)state;
    ga_rng *rng = at(15, 2);
    gpuarray *m = ga_from_host(mean, GA_FLOAT64, GA_SHAPE(D));
    gpuarray *c = ga_from_host(cov, GA_FLOAT64, GA_SHAPE(D, D));
    gpuarray *x = ga_rng_multivariate_normal(rng, GA_FLOAT64, m, c, GA_SHAPE(2, ROWS / 2));
    assert_true(position_of(rng) == 2 + ROWS * D);
    assert_int_equal(ga_ndim(x), 3);
    double *got = host_copy(x);
    for (int r = 0; r < ROWS; r++)
        for (int a = 0; a < D; a++) {
            sum[a] += got[D * r + a] / ROWS;
            for (int b = 0; b < D; b++)
                product[a][b] += (got[D * r + a] - mean[a]) * (got[D * r + b] - mean[b]) / ROWS;
        }
    for (int a = 0; a < D; a++) {
        assert_true(fabs(sum[a] - mean[a]) < 4 * sqrt(cov[4 * a] / ROWS));
        for (int b = 0; b < D; b++) {
            const double spread = cov[4 * a] * cov[4 * b] + cov[D * a + b] * cov[D * a + b];
            assert_true(fabs(product[a][b] - cov[D * a + b]) < 4 * sqrt(spread / ROWS));
        }
    }
    free(got);
    ga_free(x);
    gpuarray *f = ga_from_host(flat, GA_FLOAT64, GA_SHAPE(2, 2)),
             *zero = ga_zeros(GA_FLOAT32, GA_SHAPE(2));
    x = ga_rng_multivariate_normal(rng, GA_FLOAT64, zero, f, GA_SHAPE(50));
    got = host_copy(x);
    for (int r = 0; r < 50; r++)
        assert_true(fabs(got[2 * r] - 2 * got[2 * r + 1]) < 1e-12);
    free(got);
    ga_free(x), ga_free(zero), ga_free(f), ga_free(c), ga_free(m);
    ga_rng_free(rng);
}

static void wrong_rows_are_refused(void **state)
{
    static const double apart[] = {1, 2, 2, 1}, skew[] = {1, 0.5, 0, 1}, heavy[] = {0.7, 0.7, 0.1};
    (void)state;
    ga_rng *rng = at(16, 3);
    gpuarray *two = ga_ones(GA_FLOAT64, GA_SHAPE(2)), *three = ga_ones(GA_FLOAT64, GA_SHAPE(3));
    gpuarray *indefinite = ga_from_host(apart, GA_FLOAT64, GA_SHAPE(2, 2));
    gpuarray *asymmetric = ga_from_host(skew, GA_FLOAT64, GA_SHAPE(2, 2));
    gpuarray *much = ga_from_host(heavy, GA_FLOAT64, GA_SHAPE(3));
    assert_null(ga_rng_multivariate_normal(rng, GA_FLOAT32, two, indefinite, GA_SHAPE(4)));
    assert_error(GA_ERR_INVALID, "multivariate_normal: cov is not positive semidefinite");
    assert_null(ga_rng_multivariate_normal(rng, GA_FLOAT32, two, asymmetric, GA_SHAPE(4)));
    assert_error(GA_ERR_INVALID, "multivariate_normal: cov is not symmetric");
    assert_null(ga_rng_multivariate_normal(rng, GA_FLOAT32, three, indefinite, GA_SHAPE(4)));
    assert_error(
        GA_ERR_SHAPE,
        "multivariate_normal: mean has shape (3,) and cov (2, 2), expected (d,) and (d, d)");
    assert_null(ga_rng_multivariate_normal(rng, GA_INT32, two, indefinite, GA_SHAPE(4)));
    assert_error(GA_ERR_DTYPE, "multivariate_normal: the dtype must be a float, not int32");
    assert_null(ga_rng_multinomial(rng, GA_INT32, 5, much, GA_SHAPE(4)));
    assert_error(GA_ERR_INVALID, "multinomial: the sum of all pvals but the last is 1.4");
    assert_null(ga_rng_multinomial(rng, GA_INT32, -5, two, GA_SHAPE(4)));
    assert_error(GA_ERR_INVALID, "multinomial: n is -5");
    assert_null(ga_rng_multinomial(rng, GA_INT8, 500, two, GA_SHAPE(4)));
    assert_error(GA_ERR_INVALID, "multinomial: n 500 is too large for int8");
    assert_null(ga_rng_multinomial(rng, GA_FLOAT32, 5, two, GA_SHAPE(4)));
    assert_error(GA_ERR_DTYPE, "multinomial: the dtype must be an integer, not float32");
    gpuarray *negative = ga_negative(two), *none = NULL;
    assert_null(ga_rng_dirichlet(rng, GA_FLOAT32, negative, GA_SHAPE(4)));
    assert_error(GA_ERR_INVALID, "dirichlet: alpha is -1, not finite and positive");
    assert_null(ga_rng_dirichlet(rng, GA_FLOAT32, none, GA_SHAPE(4)));
    assert_error(GA_ERR_INVALID, "dirichlet: alpha is NULL");
    assert_null(ga_rng_dirichlet(NULL, GA_FLOAT32, two, GA_SHAPE(4)));
    assert_error(GA_ERR_INVALID, "dirichlet: the generator is NULL");
    assert_true(position_of(rng) == 3);
    ga_free(negative), ga_free(much), ga_free(asymmetric), ga_free(indefinite);
    ga_free(three), ga_free(two);
    ga_rng_free(rng);
}

/* ---- Sobol sequences ---- */

static void sobol_points_are_scipys(void **state)
{
    int checked = 0;
    (void)state;
    golden_file *file = golden_open("distributions.bin");
    for (int k = 0; k < file->ncases; k++) {
        const golden_case *c = &file->cases[k];
        if (strcmp(c->name, "sobol") != 0)
            continue;
        const int64_t *const call = (const int64_t *)(const void *)c->arg[0]->data;
        gpuarray *want = golden_array(c->out[0]);
        gpuarray *got =
            ga_sobol(GA_FLOAT64, want ? ga_length(want, 0) : 0, (int)call[0], .skip = call[1]);
        assert_arrays_equal(got, want);
        ga_free(got), ga_free(want);
        checked++;
    }
    golden_close(file);
    assert_int_equal(checked, 5);
}

/* Scrambled or not, each of 2^k intervals has one of 2^k points in every dimension, and each square
 * of the first two dimensions at most a few. Seeds give points of their own. */
static void sobol_points_are_even(void **state)
{
    enum { N = 1024, D = 60 };
    (void)state;
    gpuarray *plain = ga_sobol(GA_FLOAT64, N, D, .scrambled = true, .seed = 1);
    gpuarray *again = ga_sobol(GA_FLOAT64, N, D, .scrambled = true, .seed = 1);
    gpuarray *other = ga_sobol(GA_FLOAT64, N, D, .scrambled = true, .seed = 2);
    assert_arrays_equal(again, plain);
    double *x = host_copy(plain), *y = host_copy(other);
    int same = 0;
    for (int d = 0; d < D; d++) {
        bool seen[N] = {false};
        for (int k = 0; k < N; k++) {
            const int cell = (int)(x[D * k + d] * N);
            assert_true(x[D * k + d] >= 0 && x[D * k + d] < 1 && !seen[cell]);
            seen[cell] = true;
            same += x[D * k + d] == y[D * k + d];
        }
    }
    assert_true(same < 5);
    free(y), free(x);
    ga_free(other), ga_free(again), ga_free(plain);
}

/* Any part of a sequence is that part, in any float. */
static void sobol_points_stand_alone(void **state)
{
    static const int64_t parts[][2] = {{0, 1},     {0, 256},   {1, 255}, {255, 2},
                                       {256, 256}, {300, 700}, {511, 3}, {999, 1}};
    (void)state;
    gpuarray *all = ga_sobol(GA_FLOAT32, 1000, 7, .scrambled = true, .seed = 9);
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        const ga_range range = GA_RANGE(parts[k][0], parts[k][0] + parts[k][1], 1);
        gpuarray *want = ga_slice_ranges(all, 1, &range);
        gpuarray *got =
            ga_sobol(GA_FLOAT32, parts[k][1], 7, .skip = parts[k][0], .scrambled = true, .seed = 9);
        assert_arrays_equal(got, want);
        ga_free(got), ga_free(want);
    }
    ga_free(all);
    static const ga_dtype small[] = {GA_FLOAT16, GA_BFLOAT16, GA_FLOAT32};
    for (int k = 0; k < 3; k++) {
        gpuarray *x = ga_sobol(small[k], 5000, 3), *top = ga_max(x);
        assert_true(ga_item_double(top) < 1);
        ga_free(top), ga_free(x);
    }
}

static void wrong_sobol_calls_are_refused(void **state)
{
    (void)state;
    assert_null(ga_sobol(GA_INT32, 5, 2));
    assert_error(GA_ERR_DTYPE, "sobol: the dtype must be a float, not int32");
    assert_null(ga_sobol(GA_FLOAT32, 5, 0));
    assert_error(GA_ERR_INVALID, "sobol: 0 dimensions, expected 1 to 1111");
    assert_null(ga_sobol(GA_FLOAT32, 5, 1112));
    assert_error(GA_ERR_INVALID, "sobol: 1112 dimensions, expected 1 to 1111");
    assert_null(ga_sobol(GA_FLOAT32, -5, 2));
    assert_error(GA_ERR_INVALID, "sobol: -5 points after 0 skipped ones are not within");
    assert_null(ga_sobol(GA_FLOAT32, 5, 2, .skip = INT64_MAX));
    assert_error(GA_ERR_INVALID, "not within");
    gpuarray *last = ga_sobol(GA_FLOAT64, 1, 2, .skip = ((int64_t)1 << 32) - 1);
    assert_int_equal(ga_size(last), 2);
    gpuarray *none = ga_sobol(GA_FLOAT64, 0, 2);
    assert_int_equal(ga_size(none), 0);
    ga_free(none), ga_free(last);
}

/* ---- Failing allocations ---- */

static gpuarray *p_of_five, *covariance, *matrix;

static gpuarray *weighted(ga_rng *rng)
{
    return ga_rng_choice(rng, matrix, GA_SHAPE(4), .p = p_of_five, GA_AXIS(1));
}
static gpuarray *weighted_once(ga_rng *rng)
{
    return ga_rng_choice(rng, 5, GA_SHAPE(4), .p = p_of_five, .without_replacement = true);
}
static gpuarray *once(ga_rng *rng)
{
    return ga_rng_choice(rng, matrix, GA_SHAPE(2), .without_replacement = true);
}
static gpuarray *permuted(ga_rng *rng)
{
    return ga_rng_permuted(rng, matrix, 1);
}
static gpuarray *reordered(ga_rng *rng)
{
    return ga_rng_permutation(rng, matrix);
}
static gpuarray *shuffled(ga_rng *rng)
{
    gpuarray *copy = ga_copy(matrix);
    if (copy && ga_rng_shuffle(rng, copy, 1) == GA_OK)
        return copy;
    ga_free(copy);
    return NULL;
}
static gpuarray *counted(ga_rng *rng)
{
    return ga_rng_multinomial(rng, GA_INT32, 9, p_of_five, GA_SHAPE(3));
}
static gpuarray *sampled(ga_rng *rng)
{
    gpuarray *colors = ga_full(GA_INT16, GA_SHAPE(5), 20);
    gpuarray *x =
        colors ? ga_rng_multivariate_hypergeometric(rng, GA_INT32, colors, 50, GA_SHAPE(3)) : NULL;
    ga_free(colors);
    return x;
}
static gpuarray *shared(ga_rng *rng)
{
    return ga_rng_dirichlet(rng, GA_FLOAT16, matrix, GA_SHAPE(3));
}
static gpuarray *mixed(ga_rng *rng)
{
    const ga_range first = GA_INDEX(0);
    gpuarray *mean = ga_slice_ranges(covariance, 1, &first);
    gpuarray *x =
        mean ? ga_rng_multivariate_normal(rng, GA_FLOAT32, mean, covariance, GA_SHAPE(4)) : NULL;
    ga_free(mean);
    return x;
}
static gpuarray *sobol(ga_rng *rng)
{
    (void)rng;
    return ga_sobol(GA_FLOAT32, 300, 3, .scrambled = true);
}

/* A call that fails takes no elements; one that succeeds takes as many as ever. */
static void failed_calls_take_nothing(void **state)
{
    static gpuarray *(*const calls[])(ga_rng *) = {weighted,  weighted_once, once,    permuted,
                                                   reordered, shuffled,      counted, sampled,
                                                   shared,    mixed,         sobol};
    (void)state;
    p_of_five = ga_from_host(shares, GA_FLOAT64, GA_SHAPE(FEW));
    covariance = ga_eye(GA_FLOAT64, 3);
    matrix = ga_full(GA_FLOAT32, GA_SHAPE(3, 5), 2);
    ga_rng *rng = at(20, 50);
    for (size_t k = 0; k < sizeof calls / sizeof *calls; k++) {
        ga_rng_set_state(rng, &(ga_rng_state){20, 50});
        ga_free(calls[k](rng));
        const uint64_t after = position_of(rng);
        int failed = 0, n = 1;
        for (bool done = false; !done; n++) {
            ga_rng_set_state(rng, &(ga_rng_state){20, 50});
            ga__alloc_fail_at(n);
            gpuarray *x = calls[k](rng);
            ga__alloc_fail_at(0);
            ga_clear_error();
            if (position_of(rng) != (x ? after : 50))
                fail_later("call %zu, allocation %d: position %llu", k, n,
                           (unsigned long long)position_of(rng));
            done = x && failed > 0 && n > 200;
            failed += !x;
            ga_free(x);
            assert_true(n < 400);
        }
    }
    ga_rng_free(rng);
    ga_free(matrix), ga_free(covariance), ga_free(p_of_five);
    assert_int_equal(failures(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(choices_with_replacement_follow_their_probabilities,
                                  leave_no_error),
        cmocka_unit_test_teardown(choices_at_a_bound_are_the_next, leave_no_error),
        cmocka_unit_test_teardown(choices_without_replacement_come_once, leave_no_error),
        cmocka_unit_test_teardown(even_choices_without_replacement_come_once, leave_no_error),
        cmocka_unit_test_teardown(choices_take_slices, leave_no_error),
        cmocka_unit_test_teardown(wrong_choices_are_refused, leave_no_error),
        cmocka_unit_test_teardown(shuffles_are_takes_of_a_permutation, leave_no_error),
        cmocka_unit_test_teardown(permuted_lines_have_their_own_orders, leave_no_error),
        cmocka_unit_test_teardown(wrong_orders_are_refused, leave_no_error),
        cmocka_unit_test_teardown(multinomial_rows_count_all_trials, leave_no_error),
        cmocka_unit_test_teardown(samples_of_colors_are_without_replacement, leave_no_error),
        cmocka_unit_test_teardown(dirichlet_rows_sum_to_1, leave_no_error),
        cmocka_unit_test_teardown(normal_rows_have_their_covariances, leave_no_error),
        cmocka_unit_test_teardown(wrong_rows_are_refused, leave_no_error),
        cmocka_unit_test_teardown(sobol_points_are_scipys, leave_no_error),
        cmocka_unit_test_teardown(sobol_points_are_even, leave_no_error),
        cmocka_unit_test_teardown(sobol_points_stand_alone, leave_no_error),
        cmocka_unit_test_teardown(wrong_sobol_calls_are_refused, leave_no_error),
        cmocka_unit_test_teardown(failed_calls_take_nothing, leave_no_error),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
