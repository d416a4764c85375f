/* The distributions of real numbers: checks their arguments and prepares draws. */
#include <math.h>

#include "base/error.h"
#include "kernels/draw.h"

static ga_status plan_real(ga__draw *draw, const ga__distribution *distribution, const ga_rng *rng,
                           ga_dtype dtype)
{
    draw->distribution = distribution;
    draw->drawn = ga__dtype_compute(dtype);
    return ga__draw_init(draw, distribution->formula.name, rng, dtype, "f", "a float");
}

static void add_real(ga__draw *draw, double number)
{
    ga__draw_add(draw, draw->drawn, ga_value_double(number));
}

/* The number after rounding to dtype. */
static double stored(ga_dtype dtype, double number)
{
    uint64_t element[2] = {0, 0};
    ga__dtype_store(dtype, ga_value_double(number), element);
    return ga__number_double(ga__dtype_fetch(dtype, element));
}

/* The next smaller number of dtype, from the order of the bits; `number` is one of dtype. */
static double next_below(ga_dtype dtype, double number)
{
    uint64_t element[2] = {0, 0};
    const uint64_t sign = (uint64_t)1 << (8 * ga__dtype_size(dtype) - 1);
    ga__dtype_store(dtype, ga_value_double(number), element);
    if ((element[0] & ~sign) == 0)
        element[0] = sign | 1;
    else
        element[0] += element[0] & sign ? 1 : (uint64_t)-1;
    return ga__number_double(ga__dtype_fetch(dtype, element));
}

static ga_status plan_uniform(ga__draw *draw, const char *name, const ga_rng *rng, ga_dtype dtype,
                              double low, double high)
{
    static const ga__distribution uniform = {
        {.id = GA__FORMULA_ID(6), .name = "uniform", .body = "r = ga::between(z, a, b, c)"},
        "unit",
        false};
    const ga_status status = plan_real(draw, &uniform, rng, dtype);
    if (status != GA_OK)
        return status;
    const double first = stored(dtype, low), end = stored(dtype, high);
    const double range = stored(draw->drawn, end - first);
    if (!isfinite(first) || !isfinite(end) || !isfinite(range))
        return ga__fail(GA_ERR_INVALID, "%s: the distance from %g to %g is not finite in %s", name,
                        low, high, ga_dtype_name(dtype));
    if (low > high)
        return ga__fail(GA_ERR_INVALID, "%s: low %g is above high %g", name, low, high);
    add_real(draw, first);
    add_real(draw, range);
    add_real(draw, end > first ? next_below(dtype, end) : first);
    return GA_OK;
}

static ga_status plan_random(ga__draw *draw, const ga_rng *rng, ga_dtype dtype)
{
    static const ga__distribution random = {
        {.id = GA__FORMULA_ID(7), .name = "random", .body = "r = z"}, "unit", false};
    const ga_status status = plan_real(draw, &random, rng, dtype);
    if (status == GA_OK && ga__dtype_is_stored(dtype)) /* rounding could produce 1 */
        return plan_uniform(draw, "random", rng, dtype, 0, 1);
    return status;
}

static ga_status plan_standard_normal(ga__draw *draw, const ga_rng *rng, ga_dtype dtype)
{
    static const ga__distribution standard_normal = {
        {.id = GA__FORMULA_ID(8), .name = "standard_normal", .body = "r = z"}, "normal", true};
    return plan_real(draw, &standard_normal, rng, dtype);
}

static ga_status check_scale(const char *name, const char *what, double scale)
{
    if (scale >= 0 && isfinite(scale))
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "%s: %s is %g, not finite and non-negative", name, what, scale);
}

/* A distribution with a location and a scale. */
static ga_status plan_scaled(ga__draw *draw, const ga__distribution *distribution,
                             const ga_rng *rng, ga_dtype dtype, const char *const names[2],
                             double place, double scale)
{
    const char *name = distribution->formula.name;
    ga_status status = plan_real(draw, distribution, rng, dtype);
    if (status == GA_OK && !isfinite(place))
        status =
            ga__fail(GA_ERR_INVALID, "%s: %s is %g, not a finite number", name, names[0], place);
    if (status == GA_OK)
        status = check_scale(name, names[1], scale);
    if (status != GA_OK)
        return status;
    add_real(draw, place);
    add_real(draw, scale);
    return GA_OK;
}

static ga_status plan_normal(ga__draw *draw, const ga_rng *rng, ga_dtype dtype, double loc,
                             double scale)
{
    static const ga__distribution normal = {
        {.id = GA__FORMULA_ID(9), .name = "normal", .body = "r = ga::target::fma(z, b, a)"},
        "normal",
        true};
    static const char *const names[] = {"loc", "scale"};
    return plan_scaled(draw, &normal, rng, dtype, names, loc, scale);
}

static ga_status plan_lognormal(ga__draw *draw, const ga_rng *rng, ga_dtype dtype, double mean,
                                double sigma)
{
    static const ga__distribution lognormal = {
        {.id = GA__FORMULA_ID(10),
         .name = "lognormal",
         .body = "r = ga::exponential_of(ga::target::fma(z, b, a))"},
        "normal",
        true};
    static const char *const names[] = {"mean", "sigma"};
    return plan_scaled(draw, &lognormal, rng, dtype, names, mean, sigma);
}

static ga_status plan_exponential(ga__draw *draw, const ga_rng *rng, ga_dtype dtype, double scale)
{
    static const ga__distribution exponential = {
        {.id = GA__FORMULA_ID(11), .name = "exponential", .body = "r = z * a"},
        "exponential",
        true};
    ga_status status = plan_real(draw, &exponential, rng, dtype);
    if (status == GA_OK)
        status = check_scale("exponential", "scale", scale);
    if (status == GA_OK)
        add_real(draw, scale);
    return status;
}

gpuarray *ga_rng_random(ga_rng *rng, ga_dtype dtype, int ndim, const int64_t *shape)
{
    ga__draw draw;
    return ga__draw_new(&draw, plan_random(&draw, rng, dtype), rng, dtype, ndim, shape);
}

ga_status ga_rng_random_into(gpuarray *out, ga_rng *rng)
{
    ga__draw draw;
    return ga__draw_into(&draw, plan_random(&draw, rng, ga__draw_dtype("random", out)), out, rng);
}

gpuarray *ga_random(int ndim, const int64_t *shape)
{
    return ga_rng_random(ga_rng_default(), GA_FLOAT64, ndim, shape);
}

gpuarray *ga_rng_uniform(ga_rng *rng, ga_dtype dtype, double low, double high, int ndim,
                         const int64_t *shape)
{
    ga__draw draw;
    return ga__draw_new(&draw, plan_uniform(&draw, "uniform", rng, dtype, low, high), rng, dtype,
                        ndim, shape);
}

ga_status ga_rng_uniform_into(gpuarray *out, ga_rng *rng, double low, double high)
{
    ga__draw draw;
    const ga_dtype dtype = ga__draw_dtype("uniform", out);
    return ga__draw_into(&draw, plan_uniform(&draw, "uniform", rng, dtype, low, high), out, rng);
}

gpuarray *ga_rng_standard_normal(ga_rng *rng, ga_dtype dtype, int ndim, const int64_t *shape)
{
    ga__draw draw;
    return ga__draw_new(&draw, plan_standard_normal(&draw, rng, dtype), rng, dtype, ndim, shape);
}

ga_status ga_rng_standard_normal_into(gpuarray *out, ga_rng *rng)
{
    ga__draw draw;
    const ga_dtype dtype = ga__draw_dtype("standard_normal", out);
    return ga__draw_into(&draw, plan_standard_normal(&draw, rng, dtype), out, rng);
}

gpuarray *ga_rng_normal(ga_rng *rng, ga_dtype dtype, double loc, double scale, int ndim,
                        const int64_t *shape)
{
    ga__draw draw;
    return ga__draw_new(&draw, plan_normal(&draw, rng, dtype, loc, scale), rng, dtype, ndim, shape);
}

ga_status ga_rng_normal_into(gpuarray *out, ga_rng *rng, double loc, double scale)
{
    ga__draw draw;
    return ga__draw_into(&draw, plan_normal(&draw, rng, ga__draw_dtype("normal", out), loc, scale),
                         out, rng);
}

gpuarray *ga_rng_lognormal(ga_rng *rng, ga_dtype dtype, double mean, double sigma, int ndim,
                           const int64_t *shape)
{
    ga__draw draw;
    return ga__draw_new(&draw, plan_lognormal(&draw, rng, dtype, mean, sigma), rng, dtype, ndim,
                        shape);
}

ga_status ga_rng_lognormal_into(gpuarray *out, ga_rng *rng, double mean, double sigma)
{
    ga__draw draw;
    const ga_dtype dtype = ga__draw_dtype("lognormal", out);
    return ga__draw_into(&draw, plan_lognormal(&draw, rng, dtype, mean, sigma), out, rng);
}

gpuarray *ga_rng_exponential(ga_rng *rng, ga_dtype dtype, double scale, int ndim,
                             const int64_t *shape)
{
    ga__draw draw;
    return ga__draw_new(&draw, plan_exponential(&draw, rng, dtype, scale), rng, dtype, ndim, shape);
}

ga_status ga_rng_exponential_into(gpuarray *out, ga_rng *rng, double scale)
{
    ga__draw draw;
    const ga_dtype dtype = ga__draw_dtype("exponential", out);
    return ga__draw_into(&draw, plan_exponential(&draw, rng, dtype, scale), out, rng);
}
