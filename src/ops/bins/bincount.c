/* ga_bincount(): how often each integer occurs. */
#include <quarry/ops.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "kernels/request.h"
#include "ops/bins/bin_calls.h"

/* Where CUDA counts before it knows the largest element. */
enum {
    LONG_BYTES = 1 << 19, /* of x, for each processor */
    SAMPLED = 1 << 16,    /* elements of a sample */
    FEW_BINS = 1 << 12    /* a sample is likely to have the largest of so many */
};

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

static bool is_negative(ga_value number)
{
    return ga__dtype_kind(number.dtype) == 'i' && number.as.i < 0;
}

/* The number of bins: one for each integer up to the largest. */
static int64_t length_up_to(ga_value high, int64_t minlength)
{
    const bool large = ga__dtype_kind(high.dtype) == 'u' && high.as.u > INT64_MAX;
    const int64_t needed = large ? INT64_MAX : ga__add_sizes(ga__number_int64(high), 1);
    return needed > minlength ? needed : minlength;
}

static ga_status find_length(const ga_bincount_args *args, int64_t *length)
{
    ga_value low, high;
    *length = args->minlength;
    if (args->x->size == 0)
        return GA_OK;
    const ga_status status = ga__extremes("bincount", args->x, &low, &high);
    if (status != GA_OK)
        return status;
    if (is_negative(low))
        return ga__fail(GA_ERR_INVALID, "bincount: x has the negative element %lld",
                        (long long)low.as.i);
    *length = length_up_to(high, args->minlength);
    return GA_OK;
}

/* Whether one pass over the elements takes longer than the wait for two numbers. */
static bool is_long(const gpuarray *x)
{
    const ga__device *device = x->buffer->device;
    return device->arch != 0 && (int64_t)ga_nbytes(x) / LONG_BYTES >= device->processors;
}

static ga__binned call_of(const ga_bincount_args *args, const ga__formula *formula)
{
    return (ga__binned){.formula = formula,
                        .device = args->x->buffer->device,
                        .ndim = 1,
                        .shape = args->x->shape,
                        .noperands = 1};
}

/* The number of bins that a sample of the elements needs; a negative one has no number that fits.
 */
static ga_status find_sampled_length(const gpuarray *x, int64_t minlength, int64_t *length)
{
    const int64_t step = ga__ceil_div(x->size, SAMPLED), count = ga__ceil_div(x->size, step),
                  stride = x->strides[0] * step;
    gpuarray *sample = ga__array_view(x, x->dtype, 1, &count, &stride, 0);
    ga_value low, high;
    ga_status status = sample ? ga__extremes("bincount", sample, &low, &high) : ga_error();
    ga_free(sample);
    if (status != GA_OK)
        return status;
    *length = is_negative(low) ? INT64_MAX : length_up_to(high, minlength);
    return GA_OK;
}

/* Counts in one pass, if no element is outside the bins that a sample needs: these have a bin of
 * their own, the last. Otherwise *counts is NULL. */
static ga_status count_in_one_pass(const ga_bincount_args *args, gpuarray **counts)
{
    static const ga__formula formula = {.id = GA__BINS_FORMULA_ID(GA__ID_WHOLE_OR_OUTSIDE),
                                        .name = "bincount",
                                        .body = "ga::whole_bins(bin, x, ga_bins - 1)"};
    ga__operand operands[2] = {ga__streamed_operand("x", args->x, args->x->dtype)};
    ga__binned call = call_of(args, &formula);
    int64_t length, outside = 0;
    *counts = NULL;
    const ga_status sampled = find_sampled_length(args->x, args->minlength, &length);
    if (sampled != GA_OK || length > FEW_BINS)
        return sampled;
    call.nbins = length + 1;
    gpuarray *all = ga__count_bins(&call, operands, NULL);
    ga_status status = all ? ga__array_download("bincount", all, (size_t)length * sizeof outside,
                                                &outside, sizeof outside)
                           : ga_error();
    if (status == GA_OK && outside == 0) {
        *counts = ga__array_view(all, GA_INT64, 1, &length, all->strides, 0);
        status = *counts ? GA_OK : ga_error();
    }
    ga_free(all);
    return status;
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
    ga__binned call = call_of(&args, &formula);
    if (!args.weights && is_long(args.x)) {
        gpuarray *counts;
        if (count_in_one_pass(&args, &counts) != GA_OK || counts)
            return counts;
    }
    if (find_length(&args, &call.nbins) != GA_OK)
        return NULL;
    /* As NumPy, nothing weighs nothing: its counts are integers. */
    return ga__count_bins(&call, operands, args.x->size > 0 ? args.weights : NULL);
}
