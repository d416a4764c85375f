/* ga_interp(): numbers between points, as numpy.interp. */
#include <quarry/ops.h>
#include <quarry/sort.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/bins/bin_calls.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/scan/choose.h"

/* By what stands left of the points, then right, then whether x repeats; `f[m - 1]` is the last. */
#define WRAP "GA_EACH_VALUE for (int k = 0; k < ga_width; k++) x[k] = ga::remainder(x[k], p); "
#define FIND "ga::search<true>(bin, x, ga_table); "
#define FORMULA(n, text)                                                                           \
    {                                                                                              \
        .id = GA__BINS_FORMULA_ID(GA__ID_INTERP + (n)), .name = "interp", .body = text             \
    }
static const ga__formula formulas[2][2] = {
    {FORMULA(0, FIND "ga::interpolate(y, bin, x, ga_table, f, f[0], f[m - 1])"),
     FORMULA(1, FIND "ga::interpolate(y, bin, x, ga_table, f, f[0], right)")},
    {FORMULA(2, FIND "ga::interpolate(y, bin, x, ga_table, f, left, f[m - 1])"),
     FORMULA(3, FIND "ga::interpolate(y, bin, x, ga_table, f, left, right)")}};
static const ga__formula periodic =
    FORMULA(4, WRAP FIND "ga::interpolate(y, bin, x, ga_table, f, f[0], f[m - 1])");

/* The points: coordinates in order, and their values. */
typedef struct points {
    gpuarray *x, *f;
} points;

static bool given(ga_value v)
{
    return v.kind != GA_VALUE_ARRAY || v.as.array;
}

static ga_status check(const ga_interp_args *args, ga__device **device)
{
    ga_value values[] = {ga_value_array(args->xp), args->x};
    ga_status status = ga__check_operand("interp", "the array xp", args->xp, 1, "biuf");
    if (status == GA_OK)
        status = ga__check_operand("interp", "the array fp", args->fp, 1, "biufc");
    if (status == GA_OK)
        status = ga__check_same_device("interp", args->xp, args->fp);
    if (status == GA_OK)
        status = ga__check_values("interp", 2, values, device);
    if (status != GA_OK)
        return status;
    if (args->xp->size == 0)
        return ga__fail(GA_ERR_INVALID, "interp: xp has no elements");
    if (args->xp->size != args->fp->size)
        return ga__fail(GA_ERR_SHAPE, "interp: xp has %lld elements, fp has %lld",
                        (long long)args->xp->size, (long long)args->fp->size);
    const ga_dtype dtype = args->x.kind == GA_VALUE_ARRAY ? args->x.as.array->dtype : args->x.dtype;
    if (ga__dtype_kind(dtype) == 'c')
        return ga__fail(GA_ERR_DTYPE, "interp: x is %s, expected real numbers",
                        ga_dtype_name(dtype));
    if ((given(args->left) && !ga__is_number(args->left)) ||
        (given(args->right) && !ga__is_number(args->right)))
        return ga__fail(GA_ERR_INVALID, "interp: .left and .right must be numbers");
    return GA_OK;
}

/* The points of one period, and the neighbours of its ends. */
static ga_status repeat(points *p, double period)
{
    static const ga__formula formula = {.id = GA__BINS_FORMULA_ID(GA__ID_INTERP + 5),
                                        .name = "interp",
                                        .body = "const auto k = o[(i + m - 1) % m]; g = f[k]; "
                                                "t = i == 0 ? a[k] - p : i > m ? a[k] + p : a[k]",
                                        .uses_index = true};
    const int64_t size = p->x->size + 2;
    gpuarray *wrapped = ga_remainder(p->x, period), *order = wrapped ? ga_argsort(wrapped) : NULL;
    ga__device *const device = p->x->buffer->device;
    gpuarray *x = order ? ga__array_new("interp", device, GA_FLOAT64, 1, &size) : NULL,
             *f = x ? ga__array_new("interp", device, p->f->dtype, 1, &size) : NULL;
    if (!f)
        return ga_error();
    const ga__operand operands[] = {
        {.name = "t", .array = x, .type = GA_FLOAT64, .writes = true},
        {.name = "g", .array = f, .type = f->dtype, .writes = true},
        ga__read_operand("a", wrapped),
        ga__read_operand("o", order),
        ga__read_operand("f", p->f),
        ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, p->x->size)),
        ga__number_operand("p", GA_FLOAT64, GA_V(period))};
    *p = (points){x, f};
    return ga__elementwise(&formula, device, 1, &size, 7, operands);
}

static ga_status interpolate_into(gpuarray *out, const ga_interp_args *args, const gpuarray *x,
                                  const points *p)
{
    const bool repeats = args->period != 0, left = given(args->left), right = given(args->right);
    const ga_dtype type = out->dtype;
    ga__operand operands[7] = {
        {.name = "r", .array = out, .type = type, .writes = true},
        ga__streamed_operand("x", x, GA_FLOAT64),
        ga__indexed_operand("t", p->x),
        ga__indexed_operand("f", p->f),
        ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, p->x->size))};
    int n = 5;
    if (repeats)
        operands[n++] = ga__number_operand("p", GA_FLOAT64, GA_V(args->period));
    if (!repeats && left)
        operands[n++] = ga__number_operand("left", type, args->left);
    if (!repeats && right)
        operands[n++] = ga__number_operand("right", type, args->right);
    const ga__binned call = {.formula = repeats ? &periodic : &formulas[left][right],
                             .device = x->buffer->device,
                             .use = GA__BINNED_VALUE,
                             .nbins = p->x->size,
                             .table = p->x,
                             .ndim = x->ndim,
                             .shape = x->shape,
                             .noperands = n,
                             .operands = operands};
    return ga__binned_run(&call, NULL);
}

/* Within a scope that owns all that it makes. */
static gpuarray *interpolate(ga_interp_args *args, ga__device *device)
{
    const ga_dtype type = ga__dtype_kind(args->fp->dtype) == 'c' ? GA_COMPLEX128 : GA_FLOAT64;
    points p = {ga__contiguous_as(args->xp, GA_FLOAT64), NULL};
    const gpuarray *x = args->x.as.array;
    gpuarray *out = NULL;
    if (args->x.kind == GA_VALUE_NUMBER)
        x = ga__full_number("interp", device, args->x);
    if (p.x && (p.f = ga__contiguous_as(args->fp, type)) && x)
        out = ga__array_new("interp", device, type, x->ndim, x->shape);
    args->period = args->period < 0 ? -args->period : args->period;
    if (!out || (args->period != 0 && repeat(&p, args->period) != GA_OK))
        return NULL;
    if (out->size > 0 && interpolate_into(out, args, x, &p) != GA_OK)
        return NULL;
    return ga_keep(out);
}

gpuarray *(ga_interp)(size_t size, const ga_interp_args *given_args)
{
    GA__CALL("interp");
    ga_interp_args args;
    ga__device *device;
    if (ga__options_read("interp", &args, sizeof args, given_args, size) != GA_OK ||
        check(&args, &device) != GA_OK)
        return NULL;
    ga_scope_begin();
    gpuarray *result = interpolate(&args, device);
    ga_scope_end();
    return result;
}
