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
    MOST_BINS = 1 << 12,  /* the elements that blocks begin with are likely to have the largest */
    TRIES = 2
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
    return !ga__on_host(device) && (int64_t)ga_nbytes(x) / LONG_BYTES >= device->processors;
}

static ga__binned call_of(const ga_bincount_args *args, const ga__formula *formula)
{
    return (ga__binned){.formula = formula,
                        .device = args->x->buffer->device,
                        .ndim = 1,
                        .shape = args->x->shape,
                        .noperands = 1};
}

/* Counts in one pass, if all elements are less than `most`. Otherwise *counts is NULL, and *needed
 * is the number of bins that some elements need, more than `most`, or INT64_MAX. */
static ga_status count_within(const ga_bincount_args *args, int64_t most, int64_t *needed,
                              gpuarray **counts)
{
    static const ga__formula formula = {.id = GA__BINS_FORMULA_ID(GA__ID_WHOLE_OR_OUTSIDE),
                                        .name = "bincount",
                                        .body = "ga::whole_bins(bin, x, ga_bins - 1)"};
    const ga__operand operand = ga__streamed_operand("x", args->x, args->x->dtype);
    ga__binned call = call_of(args, &formula);
    gpuarray *rows;
    *counts = NULL;
    call.use = GA__BINNED_WITHIN;
    call.nbins = most + 1;
    call.operands = &operand;
    if (ga__binned_run_within(&call, &rows, needed) != GA_OK)
        return ga_error();
    const bool counted = *needed <= most;
    const int64_t length = *needed > args->minlength ? *needed : args->minlength;
    if (counted)
        *counts = ga__array_view(rows, GA_INT64, 1, &length, &rows->strides[1], 0);
    ga_free(rows);
    return !counted || *counts ? GA_OK : ga_error();
}

/* Counts with as many bins as cost no more than one, then with those that elements turn out to
 * need. *counts is NULL where both are too few. */
static ga_status count_in_one_pass(const ga_bincount_args *args, gpuarray **counts)
{
    const int64_t fast = ga__binned_fast_counts(args->x->buffer->device) - 1;
    int64_t bins = fast > args->minlength ? fast : args->minlength;
    ga_status status = GA_OK;
    *counts = NULL;
    for (int k = 0; k < TRIES && bins <= MOST_BINS && status == GA_OK && !*counts; k++)
        status = count_within(args, bins, &bins, counts);
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
