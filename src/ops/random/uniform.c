/* Uniform numbers between two bounds of the dtype. */
#include <math.h>

#include "base/call.h"
#include "base/error.h"
#include "ops/random/draw_op.h"
#include "ops/random/fill.h"

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

ga_status ga__plan_uniform(ga__draw *draw, const char *name, const ga_rng *rng, ga_dtype dtype,
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
        return ga__plan_uniform(draw, "random", rng, dtype, 0, 1);
    return status;
}

gpuarray *(ga_rng_random)(ga_rng *rng, ga_dtype dtype, int ndim, const int64_t *shape)
{
    GA__CALL("rng_random");
    ga__draw draw;
    return ga__draw_new(&draw, plan_random(&draw, rng, dtype), rng, dtype, ndim, shape);
}

ga_status ga_rng_random_into(gpuarray *out, ga_rng *rng)
{
    GA__CALL("rng_random_into");
    ga__draw draw;
    return ga__draw_into(&draw, plan_random(&draw, rng, ga__draw_dtype("random", out)), out, rng);
}

gpuarray *(ga_random)(int ndim, const int64_t *shape)
{
    GA__CALL("random");
    return ga_rng_random(ga_rng_default(), GA_FLOAT64, ndim, shape);
}
