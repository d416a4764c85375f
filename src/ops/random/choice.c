/* Choices: random indices, with or without replacement and probabilities, and what they name. */
#include <math.h>

#include <quarry/histogram.h>
#include <quarry/indexing.h>
#include <quarry/rank.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "kernels/draw.h"
#include "ops/bins/bin_calls.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/random/permute.h"
#include "ops/reduction_op.h"
#include "ops/scan/scan_op.h"

/* One call: what is chosen from, how many elements that has along its axis, and how many choices.
 */
typedef struct choosing {
    ga_choice_args args;
    const gpuarray *x; /* NULL: the integers below `from` */
    ga__device *device;
    int axis;
    int64_t from, count;
} choosing;

/* ---- Probabilities ---- */

/* NumPy's tolerance of the sum: the root of float64's epsilon. */
#define TOLERANCE 1.4901161193847656e-8

static ga_status check_sum(const gpuarray *p)
{
    gpuarray *sum = ga__apply_reduction(GA__ROW_sum, &(ga_reduce_args){.x = p});
    if (!sum)
        return ga_error();
    double total = 0;
    const ga_status status = ga_to_host(sum, &total, sizeof total);
    ga_free(sum);
    if (status == GA_OK && !(fabs(total - 1) <= TOLERANCE))
        return ga__fail(GA_ERR_INVALID, "choice: the probabilities sum to %.9g, expected 1", total);
    return status;
}

/* The probabilities as contiguous float64, checked; NULL on failure. */
static gpuarray *probabilities(const choosing *c)
{
    const gpuarray *given = c->args.p;
    ga_value least, most;
    if (ga__check_operand("choice", "the array of probabilities", given, 1, "biuf") != GA_OK)
        return NULL;
    if (given->buffer->device != c->device)
        return ga__fail_null(GA_ERR_DEVICE, "choice: probabilities on %s, elements on %s",
                             given->buffer->device->name, c->device->name);
    if (given->size != c->from)
        return ga__fail_null(GA_ERR_SHAPE, "choice: %lld probabilities for %lld elements",
                             (long long)given->size, (long long)c->from);
    gpuarray *p = ga__contiguous_as(given, GA_FLOAT64);
    ga_status status = p ? ga__extremes("choice", p, &least, &most) : ga_error();
    if (status == GA_OK && !(ga__number_double(least) >= 0))
        status = ga__fail(GA_ERR_INVALID, "choice: a probability is %g, expected at least 0",
                          ga__number_double(least));
    if (status == GA_OK)
        status = check_sum(p);
    if (status == GA_OK)
        return p;
    ga_free(p);
    return NULL;
}

/* ---- Indices ---- */

/* The places of uniform numbers among the cumulative probabilities over their last one. */
static gpuarray *weighted_indices(const choosing *c, const gpuarray *p)
{
    const ga_range last = GA_FROM(-1, 1);
    gpuarray *sums =
        ga__scan_call(GA__ROW_cumsum, "choice", sizeof(ga_scan_args), &(ga_scan_args){.x = p});
    gpuarray *total = sums ? ga_slice_ranges(sums, 1, &last) : NULL;
    const ga_value both[] = {ga_value_array(sums), ga_value_array(total)};
    gpuarray *bounds = total ? ga__apply(GA__ROW_divide, both) : NULL;
    gpuarray *drawn = bounds ? ga__array_new("choice", c->device, GA_FLOAT64, 1, &c->count) : NULL;
    gpuarray *indices = NULL;
    if (drawn && ga_rng_random_into(drawn, c->args.rng) == GA_OK)
        indices =
            (ga_searchsorted)(sizeof(ga_searchsorted_args),
                              &(ga_searchsorted_args){
                                  .a = bounds, .v = ga_value_array(drawn), .side_right = true});
    ga_free(drawn);
    ga_free(bounds);
    ga_free(total);
    ga_free(sums);
    return indices;
}

static ga_status check_possible(const choosing *c, const gpuarray *p)
{
    gpuarray *count = ga__apply_reduction(GA__ROW_count_nonzero, &(ga_reduce_args){.x = p});
    if (!count)
        return ga_error();
    int64_t possible = 0;
    const ga_status status = ga_to_host(count, &possible, sizeof possible);
    ga_free(count);
    if (status == GA_OK && possible < c->count)
        return ga__fail(
            GA_ERR_INVALID,
            "choice: %lld choices without replacement from %lld elements of probability above 0",
            (long long)c->count, (long long)possible);
    return status;
}

/* The elements whose exponential numbers over their probabilities are the least, in that order: P.
 * S. Efraimidis and P. G. Spirakis, "Weighted random sampling with a reservoir" (2006). */
static gpuarray *weighted_order(const choosing *c, const gpuarray *p)
{
    if (check_possible(c, p) != GA_OK)
        return NULL;
    gpuarray *times = ga__array_new("choice", c->device, GA_FLOAT64, 1, &c->from);
    gpuarray *indices = NULL, *quotients = NULL;
    if (times && ga_rng_standard_exponential_into(times, c->args.rng) == GA_OK)
        quotients =
            ga__apply(GA__ROW_divide, (ga_value[]){ga_value_array(times), ga_value_array(p)});
    if (quotients)
        (ga_topk)(
            sizeof(ga_topk_args),
            &(ga_topk_args){.x = quotients, .k = c->count, .indices = &indices, .smallest = true});
    ga_free(quotients);
    ga_free(times);
    return indices;
}

static gpuarray *even_indices(const choosing *c)
{
    gpuarray *indices = ga__array_new("choice", c->device, GA_INT64, 1, &c->count);
    if (!indices || ga_rng_integers_into(indices, c->args.rng, 0, c->from) == GA_OK)
        return indices;
    ga_free(indices);
    return NULL;
}

/* `count` indices in one axis; NULL on failure. */
static gpuarray *draw_indices(const choosing *c)
{
    const bool once = c->args.without_replacement;
    if (c->count == 0)
        return ga__array_new("choice", c->device, GA_INT64, 1, &c->count);
    if (!c->args.p)
        return once ? ga__order_start("choice", c->device, c->args.rng, c->from, c->count)
                    : even_indices(c);
    gpuarray *p = probabilities(c);
    gpuarray *indices = p ? (once ? weighted_order(c, p) : weighted_indices(c, p)) : NULL;
    ga_free(p);
    return indices;
}

/* ---- The call ---- */

static ga_status read_source(choosing *c)
{
    const ga_value a = c->args.a;
    if (a.kind == GA_VALUE_ARRAY) {
        const int first = 0;
        c->x = a.as.array;
        if (!c->x)
            return ga__fail(GA_ERR_INVALID, "choice: the array is NULL");
        c->device = c->x->buffer->device;
        const ga_status status = ga__check_axis(
            "choice", c->args.naxes == 1 ? c->args.axes[0] : first, c->x->ndim, &c->axis);
        c->from = status == GA_OK ? c->x->shape[c->axis] : 0;
        return status;
    }
    const char kind = a.kind == GA_VALUE_NUMBER ? ga__dtype_kind(a.dtype) : '-';
    if (kind != 'i' && kind != 'u')
        return ga__fail(GA_ERR_INVALID, "choice: the source is neither an integer nor an array");
    c->device = ga__current_device();
    c->from = a.as.i;
    return c->device ? GA_OK : ga_error();
}

static ga_status check(choosing *c)
{
    ga_status status = ga__one_axis("choice", c->args.naxes, c->args.axes);
    if (status == GA_OK && !c->args.rng)
        status = ga__fail(GA_ERR_INVALID, "choice: the generator is NULL");
    if (status == GA_OK && !ga__not_recording("choice"))
        status = ga_error();
    if (status == GA_OK)
        status = read_source(c);
    if (status == GA_OK)
        status = ga__check_shape("choice", GA_INT64, c->args.ndim, c->args.lengths, &c->count);
    if (status != GA_OK)
        return status;
    c->count = ga__shape_size(c->args.ndim, c->args.lengths);
    if (c->from <= 0 && c->count > 0)
        return ga__fail(GA_ERR_INVALID, "choice: %lld elements to choose from, expected at least 1",
                        (long long)c->from);
    if (c->args.without_replacement && c->count > c->from)
        return ga__fail(GA_ERR_INVALID,
                        "choice: %lld choices without replacement from %lld elements",
                        (long long)c->count, (long long)c->from);
    return GA_OK;
}

/* The elements of the generator that a call uses. */
static uint64_t elements_used(const choosing *c)
{
    const bool once = c->args.without_replacement;
    return (uint64_t)(!once ? c->count : c->args.p ? c->from : c->count > 0);
}

gpuarray *(ga_rng_choice)(size_t size, const ga_choice_args *args)
{
    GA__CALL("rng_choice");
    choosing c = {.x = NULL};
    if (ga__options_read("choice", &c.args, sizeof c.args, args, size) != GA_OK ||
        check(&c) != GA_OK)
        return NULL;
    const ga_rng_state before = ga__rng_take(c.args.rng, 0);
    gpuarray *line = draw_indices(&c);
    gpuarray *indices = line ? ga_reshape(line, c.args.ndim, c.args.lengths) : NULL;
    ga_free(line);
    if (indices && c.x) {
        gpuarray *chosen =
            (ga_take)(sizeof(ga_take_args),
                      &(ga_take_args){.x = c.x, .indices = indices, .naxes = 1, .axes = &c.axis});
        ga_free(indices);
        indices = chosen;
    }
    if (!indices)
        ga__rng_give_back(c.args.rng, before, elements_used(&c));
    return indices;
}
