/* Fills arrays with fresh elements of a generator, which takes them back if the fill fails. */
#include "ops/random/fill.h"

#include "base/error.h"

/* Fills a contiguous array first, because the engine writes runs of elements. */
static ga_status fill_view(const ga__draw *draw, gpuarray *out, ga_rng_state state)
{
    gpuarray *made = ga_empty_like(out);
    if (!made)
        return ga_error();
    ga_status status = ga__draw_run(draw, made, state);
    if (status == GA_OK)
        status = (ga_assign)(out, ga_value_array(made));
    ga_free(made);
    return status;
}

static ga_status fill(const ga__draw *draw, gpuarray *out, ga_rng *rng)
{
    if (out->size == 0)
        return GA_OK;
    const ga_rng_state state = ga__rng_take(rng, (uint64_t)out->size);
    const ga_status status =
        out->contiguous ? ga__draw_run(draw, out, state) : fill_view(draw, out, state);
    if (status != GA_OK)
        ga__rng_give_back(rng, state, (uint64_t)out->size);
    return status;
}

gpuarray *ga__draw_new(const ga__draw *draw, ga_status planned, ga_rng *rng, ga_dtype dtype,
                       int ndim, const int64_t *shape)
{
    if (planned != GA_OK)
        return NULL;
    gpuarray *out =
        ga__array_new(draw->distribution->formula.name, ga__current_device(), dtype, ndim, shape);
    if (!out || fill(draw, out, rng) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

ga_status ga__draw_into(const ga__draw *draw, ga_status planned, gpuarray *out, ga_rng *rng)
{
    return planned == GA_OK ? fill(draw, out, rng) : planned;
}
