/* Slopes, integrals, phases and polynomials. */
#include <quarry/series.h>

#include <string.h>

#include <quarry/ops.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "model/promote.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/gather.h"
#include "ops/reduction_op.h"

/* The axis of a call: the named one, or the last. */
static ga_status find_axis(const char *name, const gpuarray *x, int naxes, const int *axes,
                           int *axis)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: the array is NULL", name);
    if (ga__check_numeric(name, x->dtype) != GA_OK || ga__one_axis(name, naxes, axes) != GA_OK)
        return ga_error();
    return ga__check_axis(name, naxes > 0 ? axes[0] : -1, x->ndim, axis);
}

/* The dtype of results: a floating one. */
static ga_dtype floating(ga_dtype dtype)
{
    return ga__dtype_rounds(dtype) ? dtype : GA_FLOAT64;
}

/* Runs a formula over neighbours along an axis: `r` of `out`, `x` and its step `s`, the index `c`
 * of `length`, and others. */
static ga_status along(const ga__formula *formula, const gpuarray *x, int axis, gpuarray *out,
                       int count, const ga__operand *others)
{
    ga__lens from, coordinate;
    ga__operand operands[8];
    ga__lens_set_typed(&from, x, x->ndim, x->shape, x->strides, 0);
    ga__lens_coordinate(&coordinate, x->ndim, x->shape, axis, 0);
    operands[0] = (ga__operand){.name = "r", .array = out, .type = out->dtype, .writes = true};
    operands[1] = ga__lens_operand("x", &from, GA__PLACED, false);
    operands[2] = ga__lens_operand("c", &coordinate, GA__COORDINATE, false);
    operands[3] = ga__integer_operand("s", x->strides[axis] / (int64_t)ga__dtype_size(x->dtype));
    operands[4] = ga__integer_operand("length", x->shape[axis]);
    memcpy(operands + 5, others, sizeof(ga__operand) * (size_t)count);
    return ga__elementwise(formula, out->buffer->device, out->ndim, out->shape, 5 + count,
                           operands);
}

/* ---- gradient ---- */

static ga_status check_coordinates(const gpuarray *x, int axis, const gpuarray *d)
{
    const char kind = ga__dtype_kind(d->dtype);
    if (kind == 'c')
        return ga__fail(GA_ERR_DTYPE, "gradient: the coordinates are %s, expected real numbers",
                        ga_dtype_name(d->dtype));
    if (d->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "gradient: the array is on %s, the coordinates on %s",
                        x->buffer->device->name, d->buffer->device->name);
    if (d->ndim == 1 && d->size == x->shape[axis])
        return GA_OK;
    return ga__fail(GA_ERR_SHAPE,
                    "gradient: coordinates of shape %s do not match axis %d of length %lld",
                    ga__shape_text(d->ndim, d->shape), axis, (long long)x->shape[axis]);
}

static ga_status slopes(const ga_gradient_args *args, int axis, gpuarray *out)
{
    static const ga__formula even = {.id = GA__FORMULA_ID(219),
                                     .name = "gradient",
                                     .body = "r = ga::slope<ga_v0>(x, s, c, length, h, order)"},
                             uneven = {
                                 .id = GA__FORMULA_ID(220),
                                 .name = "gradient",
                                 .body = "r = ga::uneven_slope<ga_v0>(x, s, c, length, d, order)"};
    const gpuarray *d = args->spacing.kind == GA_VALUE_ARRAY ? args->spacing.as.array : NULL;
    ga__operand others[2] = {ga__integer_operand("order", args->edge_order)};
    if (d) {
        if (check_coordinates(args->x, axis, d) != GA_OK)
            return ga_error();
        gpuarray *line = ga_astype(d, GA_FLOAT64);
        others[1] = (ga__operand){
            .name = "d", .array = line, .type = GA_FLOAT64, .access = GA__ACCESSOR, .reads = true};
        const ga_status status = line ? along(&uneven, args->x, axis, out, 2, others) : ga_error();
        ga_free(line);
        return status;
    }
    const bool given = args->spacing.kind == GA_VALUE_NUMBER;
    others[1] = ga__number_operand("h", GA_FLOAT64,
                                   ga_value_double(given ? ga__number_double(args->spacing) : 1));
    return along(&even, args->x, axis, out, 2, others);
}

gpuarray *(ga_gradient)(size_t size, const ga_gradient_args *args)
{
    GA__CALL("gradient");
    ga_gradient_args known;
    int axis;
    if (ga__options_read("gradient", &known, sizeof known, args, size) != GA_OK ||
        find_axis("gradient", known.x, known.naxes, known.axes, &axis) != GA_OK)
        return NULL;
    if (known.naxes == 0 && known.x->ndim > 1)
        return ga__fail_null(GA_ERR_INVALID, "gradient: an array of %d dimensions needs an axis",
                             known.x->ndim);
    known.edge_order = known.edge_order == 0 ? 1 : known.edge_order;
    if (known.edge_order != 1 && known.edge_order != 2)
        return ga__fail_null(GA_ERR_INVALID, "gradient: edge_order is %d, expected 1 or 2",
                             known.edge_order);
    if (known.x->shape[axis] <= known.edge_order)
        return ga__fail_null(GA_ERR_SHAPE,
                             "gradient: axis %d has length %lld, expected at least %d", axis,
                             (long long)known.x->shape[axis], known.edge_order + 1);
    gpuarray *out = ga__array_new("gradient", known.x->buffer->device, floating(known.x->dtype),
                                  known.x->ndim, known.x->shape);
    if (!out || slopes(&known, axis, out) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

ga_status ga_gradients(const gpuarray *x, int naxes, const int *axes, const ga_value *spacings,
                       int edge_order, gpuarray **out)
{
    GA__CALL("gradients");
    gpuarray *made[GA_MAX_NDIM];
    int n = 0;
    if (!x || !out || naxes < 0 || (naxes > 0 && !axes))
        return ga__fail(GA_ERR_INVALID, "gradient: %s is NULL", !x ? "the array" : "a list");
    const int count = naxes > 0 ? naxes : x->ndim;
    if (count > GA_MAX_NDIM)
        return ga__fail(GA_ERR_INVALID, "gradient: %d axes, more than %d", count, GA_MAX_NDIM);
    uint32_t set;
    if (naxes > 0 && ga__check_axes("gradient", naxes, axes, x->ndim, &set) != GA_OK)
        return ga_error();
    for (; n < count; n++) {
        const int axis = naxes > 0 ? axes[n] : n;
        ga_gradient_args args = {.x = x, .naxes = 1, .axes = &axis, .edge_order = edge_order};
        if (spacings)
            args.spacing = spacings[n];
        made[n] = (ga_gradient)(sizeof args, &args);
        if (!made[n])
            break;
    }
    return ga__give_results(made, n, count, out);
}

/* ---- trapezoid ---- */

/* All but the last, or the first, along the axis; NULL on failure. */
static gpuarray *shorter(const gpuarray *x, int axis, int64_t first)
{
    int64_t shape[GA_MAX_NDIM];
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[axis] = shape[axis] > 0 ? shape[axis] - 1 : 0;
    return ga__array_view(x, x->dtype, x->ndim, shape, x->strides,
                          ga__shape_size(x->ndim, shape) > 0 ? first * x->strides[axis] : 0);
}

/* The coordinates as an array that broadcasts to y. */
static gpuarray *coordinates_of(const gpuarray *y, int axis, const gpuarray *x)
{
    int64_t shape[GA_MAX_NDIM];
    if (ga__same_shape(y->ndim, y->shape, x->ndim, x->shape))
        return ga_broadcast_to(x, y->ndim, y->shape);
    if (x->ndim != 1 || x->size != y->shape[axis])
        return ga__fail_null(GA_ERR_SHAPE,
                             "trapezoid: coordinates of shape %s do not match shape %s",
                             ga__shape_text(x->ndim, x->shape), ga__shape_text(y->ndim, y->shape));
    for (int k = 0; k < y->ndim; k++)
        shape[k] = k == axis ? x->size : 1;
    gpuarray *line = ga_reshape(x, y->ndim, shape),
             *whole = line ? ga_broadcast_to(line, y->ndim, y->shape) : NULL;
    ga_free(line);
    return whole;
}

/* The neighbours of y along the axis, and of x or the step between them, as the formula names them;
 * returns how many operands. */
static int trapezoid_operands(const ga_trapezoid_args *args, ga_dtype dtype,
                              gpuarray *const *neighbours, ga__operand *operands)
{
    static const char *const names[] = {"left", "right", "low", "high"};
    const int n = args->x ? 4 : 2;
    for (int k = 0; k < n; k++)
        operands[k] =
            (ga__operand){.name = names[k], .array = neighbours[k], .type = dtype, .reads = true};
    if (args->x)
        return n;
    operands[n] = (ga__operand){.name = "h",
                                .number = ga_value_double(args->dx == 0 ? 1 : args->dx),
                                .type = ga__dtype_real(dtype),
                                .reads = true};
    return n + 1;
}

/* The sum over the axis. */
static gpuarray *sum_trapezoids(const ga_trapezoid_args *args, int axis, ga_dtype dtype,
                                gpuarray *const *neighbours)
{
    const gpuarray *y = args->y, *left = neighbours[0];
    ga__operand operands[4];
    bool reduced[GA_MAX_NDIM] = {false};
    int64_t shape[GA_MAX_NDIM];
    int n = 0;
    ga__reduction r = ga__reduction_of(GA__ROW_sum,
                                       args->x ? "return {(high - low) * (left + right) / 2}"
                                               : "return {h * (left + right) / 2}",
                                       dtype, 0);
    r.formula.base.id =
        args->x ? (ga__hash128)GA__FORMULA_ID(221) : (ga__hash128)GA__FORMULA_ID(222);
    r.formula.base.name = "trapezoid";
    for (int k = 0; k < y->ndim; k++)
        if (k != axis)
            shape[n++] = y->shape[k];
    reduced[axis] = true;
    gpuarray *out = ga__array_new("trapezoid", y->buffer->device, dtype, n, shape);
    const int count = trapezoid_operands(args, dtype, neighbours, operands);
    if (!out || ga__reduce_keeping(&r, y->buffer->device, left->ndim, left->shape, reduced, count,
                                   operands, &out) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* `x` are the coordinates, broadcast to y, or NULL. */
static gpuarray *integrate(const ga_trapezoid_args *args, int axis, const gpuarray *x)
{
    const gpuarray *const of[] = {args->y, args->y, x, x};
    const ga_dtype dtype = floating(x ? ga_result_type(args->y->dtype, x->dtype) : args->y->dtype);
    gpuarray *neighbours[4] = {NULL}, *out = NULL;
    const int count = x ? 4 : 2;
    int made = 0;
    while (made < count && (neighbours[made] = shorter(of[made], axis, made % 2)) != NULL)
        made++;
    if (made == count)
        out = sum_trapezoids(args, axis, dtype, neighbours);
    while (made > 0)
        ga_free(neighbours[--made]);
    return out;
}

gpuarray *(ga_trapezoid)(size_t size, const ga_trapezoid_args *args)
{
    GA__CALL("trapezoid");
    ga_trapezoid_args known;
    int axis;
    if (ga__options_read("trapezoid", &known, sizeof known, args, size) != GA_OK ||
        find_axis("trapezoid", known.y, known.naxes, known.axes, &axis) != GA_OK)
        return NULL;
    if (!known.x)
        return integrate(&known, axis, NULL);
    if (known.x->buffer->device != known.y->buffer->device)
        return ga__fail_null(GA_ERR_DEVICE, "trapezoid: operands on %s and %s",
                             known.y->buffer->device->name, known.x->buffer->device->name);
    gpuarray *x = coordinates_of(known.y, axis, known.x);
    gpuarray *out = x ? integrate(&known, axis, x) : NULL;
    ga_free(x);
    return out;
}

/* ---- unwrap ---- */

/* What each phase lacks beside the one before it. */
static gpuarray *corrections(const gpuarray *x, int axis, double period, double least)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(223),
        .name = "unwrap",
        .body = "r = c == 0 ? ga_v0(0) : ga::wrap_correction<ga_v0>(ga::cast<ga_v0>(x[0]) - "
                "ga::cast<ga_v0>(x[-s]), ga_v0(period), ga_v0(least)); (void)length"};
    const ga__operand others[] = {ga__number_operand("period", GA_FLOAT64, ga_value_double(period)),
                                  ga__number_operand("least", GA_FLOAT64, ga_value_double(least))};
    gpuarray *out =
        ga__array_new("unwrap", x->buffer->device, floating(x->dtype), x->ndim, x->shape);
    if (!out || along(&formula, x, axis, out, 2, others) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *(ga_unwrap)(size_t size, const ga_unwrap_args *args)
{
    GA__CALL("unwrap");
    ga_unwrap_args known;
    int axis;
    if (ga__options_read("unwrap", &known, sizeof known, args, size) != GA_OK ||
        find_axis("unwrap", known.x, known.naxes, known.axes, &axis) != GA_OK)
        return NULL;
    if (ga__dtype_kind(known.x->dtype) == 'c')
        return ga__fail_null(GA_ERR_DTYPE, "unwrap: does not take %s",
                             ga_dtype_name(known.x->dtype));
    const double period = known.period == 0 ? 6.283185307179586 : known.period;
    if (!(period > 0))
        return ga__fail_null(GA_ERR_INVALID, "unwrap: the period %g is not positive", period);
    const double least = known.discont > period / 2 ? known.discont : period / 2;
    gpuarray *steps = corrections(known.x, axis, period, least),
             *sums = steps ? ga_cumsum(steps, GA_AXIS(axis)) : NULL;
    ga_status status =
        sums ? (ga_add_into)(sums, ga_value_array(known.x), ga_value_array(sums)) : ga_error();
    ga_free(steps);
    if (status == GA_OK)
        return sums;
    ga_free(sums);
    return NULL;
}

/* ---- Polynomials ---- */

gpuarray *ga_polyval(const gpuarray *p, const gpuarray *x)
{
    GA__CALL("polyval");
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(224), .name = "polyval", .body = "r = ga::horner<ga_v0>(p, m, x)"};
    const ga_value values[] = {ga_value_array(p), ga_value_array(x)};
    ga__device *device;
    if (ga__check_values("polyval", 2, values, &device) != GA_OK)
        return NULL;
    if (p->ndim != 1)
        return ga__fail_null(GA_ERR_SHAPE,
                             "polyval: the coefficients have shape %s, expected one dimension",
                             ga__shape_text(p->ndim, p->shape));
    const ga_dtype dtype = ga_result_type(p->dtype, x->dtype);
    gpuarray *out = ga__array_new("polyval", device, dtype, x->ndim, x->shape);
    if (!out)
        return NULL;
    const ga__operand operands[] = {{.name = "r", .array = out, .type = dtype, .writes = true},
                                    ga__indexed_operand("p", p),
                                    ga__integer_operand("m", p->size),
                                    {.name = "x", .array = x, .type = dtype, .reads = true}};
    if (ga__elementwise(&formula, device, x->ndim, x->shape, 4, operands) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}
