/* ga_bincount(): how often each integer occurs. */
#include <quarry/ops.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/bins/bin_calls.h"

static ga_status check(const ga_bincount_args *args)
{
    ga_status status = ga__check_operand("bincount", "x", args->x, 1, "biu");
    if (status == GA_OK && args->minlength < 0)
        return ga__fail(GA_ERR_INVALID, "bincount: minlength %lld is negative",
                        (long long)args->minlength);
    if (status != GA_OK || !args->weights)
        return status;
    status = ga__check_operand("bincount", "the array of weights", args->weights, 1, "biuf");
    if (status == GA_OK)
        status = ga__check_same_device("bincount", args->x, args->weights);
    if (status == GA_OK && args->weights->size != args->x->size)
        status = ga__fail(GA_ERR_SHAPE, "bincount: x has %lld elements, the weights have %lld",
                          (long long)args->x->size, (long long)args->weights->size);
    return status;
}

/* The number of bins: one for each integer up to the largest. */
static ga_status find_length(const ga_bincount_args *args, int64_t *length)
{
    ga_value low, high;
    *length = args->minlength;
    if (args->x->size == 0)
        return GA_OK;
    const ga_status status = ga__extremes("bincount", args->x, &low, &high);
    if (status != GA_OK)
        return status;
    if (ga__dtype_kind(low.dtype) == 'i' && low.as.i < 0)
        return ga__fail(GA_ERR_INVALID, "bincount: x has the negative element %lld",
                        (long long)low.as.i);
    const bool large = ga__dtype_kind(high.dtype) == 'u' && high.as.u > INT64_MAX;
    const int64_t needed = large ? INT64_MAX : ga__add_sizes(ga__number_int64(high), 1);
    *length = needed > *length ? needed : *length;
    return GA_OK;
}

gpuarray *(ga_bincount)(size_t size, const ga_bincount_args *given)
{
    GA__CALL("bincount");
    static const ga__formula formula = {.id = GA__BINS_FORMULA_ID(GA__ID_WHOLE),
                                        .name = "bincount",
                                        .body = "ga::whole_bins(bin, x, ga_bins)"};
    ga_bincount_args args;
    if (ga__options_read("bincount", &args, sizeof args, given, size) != GA_OK ||
        check(&args) != GA_OK)
        return NULL;
    ga__operand operands[2] = {ga__streamed_operand("x", args.x, args.x->dtype)};
    ga__binned call = {.formula = &formula,
                       .device = args.x->buffer->device,
                       .ndim = 1,
                       .shape = args.x->shape,
                       .noperands = 1};
    if (find_length(&args, &call.nbins) != GA_OK)
        return NULL;
    /* As NumPy, nothing weighs nothing: its counts are integers. */
    return ga__count_bins(&call, operands, args.x->size > 0 ? args.weights : NULL);
}
