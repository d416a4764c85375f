/* ga_histogram_bins(): how many equal bins NumPy's rules make. */
#include <math.h>
#include <string.h>

#include <quarry/indexing.h>
#include <quarry/ops.h>
#include <quarry/rank.h>
#include <quarry/select.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/bins/bin_calls.h"
#include "ops/bins/edges.h"
#include "ops/scan/take_number.h"

/* What the rules know of the elements in the range. */
typedef struct sample {
    const gpuarray *x;
    double size, spread; /* their number, which is not 0, and their maximum less their minimum */
} sample;

static ga_status number_of(gpuarray *result, double *number)
{
    return ga__take_double(result, number);
}

/* ---- Widths: the functions of numpy/lib/_histograms_impl.py of these names ---- */

static ga_status square_root(const sample *s, double *width)
{
    *width = s->spread / sqrt(s->size);
    return GA_OK;
}

static ga_status sturges(const sample *s, double *width)
{
    *width = s->spread / (log2(s->size) + 1);
    return GA_OK;
}

static ga_status rice(const sample *s, double *width)
{
    *width = s->spread / (2 * cbrt(s->size));
    return GA_OK;
}

static ga_status scott(const sample *s, double *width)
{
    const ga_status status = number_of(ga_std(s->x), width);
    *width *= cbrt(24 * sqrt(M_PI) / s->size);
    return status;
}

/* From the third moment: the mean of ((x - mean(x)) / std(x))**3. */
static ga_status third_moment(const gpuarray *x, double sigma, double *moment)
{
    gpuarray *mean = ga_mean(x), *away = mean ? ga_subtract(x, mean) : NULL,
             *scaled = away ? ga_divide(away, sigma) : NULL,
             *cube = scaled ? ga_power(scaled, 3) : NULL;
    const ga_status status = number_of(cube ? ga_mean(cube) : NULL, moment);
    ga_free(mean);
    ga_free(away);
    ga_free(scaled);
    ga_free(cube);
    return status;
}

static ga_status doane(const sample *s, double *width)
{
    const double n = s->size, error = sqrt(6 * (n - 2) / ((n + 1) * (n + 3)));
    double sigma = 0, moment = 0;
    *width = 0;
    ga_status status = n > 2 ? number_of(ga_std(s->x), &sigma) : GA_OK;
    if (status == GA_OK && sigma > 0)
        status = third_moment(s->x, sigma, &moment);
    if (sigma > 0)
        *width = s->spread / (1 + log2(n) + log2(1 + fabs(moment) / error));
    return status;
}

static ga_status freedman_diaconis(const sample *s, double *width)
{
    double low, high;
    ga_status status = number_of(ga_percentile(s->x, 75.0), &high);
    if (status == GA_OK)
        status = number_of(ga_percentile(s->x, 25.0), &low);
    if (status == GA_OK)
        *width = 2 * (high - low) / cbrt(s->size);
    return status;
}

static ga_status automatic(const sample *s, double *width)
{
    double quartiles, whole, root;
    const ga_status status = freedman_diaconis(s, &quartiles);
    if (status != GA_OK)
        return status;
    sturges(s, &whole);
    square_root(s, &root);
    *width = fmin(fmax(quartiles, root / 2), whole);
    return GA_OK;
}

static const struct {
    const char *name;
    ga_status (*width)(const sample *s, double *width);
} rules[] = {{"auto", automatic}, {"doane", doane},      {"fd", freedman_diaconis}, {"rice", rice},
             {"scott", scott},    {"sqrt", square_root}, {"sturges", sturges}};

/* ---- The call ---- */

/* The elements inside the edges as an array of one axis; all of them if no range is given. */
static gpuarray *elements_within(const gpuarray *x, const double *range)
{
    if (range[0] == 0 && range[1] == 0)
        return ga_ravel(x);
    gpuarray *above = ga_greater_equal(x, range[0]), *below = ga_less_equal(x, range[1]),
             *both = above && below ? ga_logical_and(above, below) : NULL,
             *inside = both ? ga_extract(both, x) : NULL;
    ga_free(above);
    ga_free(below);
    ga_free(both);
    return inside;
}

static ga_status count_bins(const gpuarray *x, int rule, const ga__outer_edges *outer,
                            int64_t *count)
{
    ga_value low, high;
    double width = 0;
    *count = 1;
    if (x->size == 0)
        return GA_OK;
    ga_status status = ga__extremes("histogram_bins", x, &low, &high);
    const sample s = {x, (double)x->size, ga__number_double(high) - ga__number_double(low)};
    if (status == GA_OK)
        status = rules[rule].width(&s, &width);
    if (status != GA_OK || !(width > 0))
        return status;
    if (ga__dtype_kind(x->dtype) != 'f' && width < 1)
        width = 1;
    const double bins = ceil(outer->width / width);
    if (!(bins < 0x1p62))
        return ga__fail(GA_ERR_INVALID, "histogram_bins: %g bins are too many", bins);
    *count = bins < 1 ? 1 : (int64_t)bins;
    return GA_OK;
}

static int find_rule(const char *name)
{
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++)
        if (strcmp(rules[k].name, name) == 0)
            return (int)k;
    ga__fail(GA_ERR_INVALID, "histogram_bins: unknown rule \"%.40s\"", name);
    return -1;
}

int64_t(ga_histogram_bins)(size_t size, const ga_histogram_bins_args *args)
{
    GA__CALL("histogram_bins");
    ga_histogram_bins_args known;
    ga__outer_edges outer;
    int64_t count = 0;
    if (ga__options_read("histogram_bins", &known, sizeof known, args, size) != GA_OK ||
        ga__check_operand("histogram_bins", "the array", known.x, -1, "?iuf") != GA_OK)
        return 0;
    const int rule = find_rule(known.rule ? known.rule : "auto");
    if (rule < 0 || ga__edges_outer("histogram_bins", known.x, known.range, &outer) != GA_OK)
        return 0;
    gpuarray *inside = elements_within(known.x, known.range);
    const ga_status status = inside ? count_bins(inside, rule, &outer, &count) : ga_error();
    ga_free(inside);
    return status == GA_OK ? count : 0;
}
