/* Applies a row of the reductions' table: checks the axes and calls the engine. */
#include "ops/reduction_op.h"

#include <string.h>

#include "base/error.h"
#include "model/promote.h"
#include "base/options.h"
#include "base/range.h"
#include "ops/check_nan.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/functions/masked.h"

/* One reduction's axes and result. */
typedef struct call {
    const gpuarray *x;
    bool reduced[GA_MAX_NDIM];
    int ndim;                   /* of the result */
    int64_t shape[GA_MAX_NDIM]; /* of the result */
    int64_t count;
    ga_dtype loop, result;
} call;

ga_status ga__read_axes(const char *name, const gpuarray *x, int naxes, const int *axes,
                        bool *reduced)
{
    uint32_t set;
    if (naxes == GA_NO_AXES) {
        memset(reduced, 0, (size_t)x->ndim * sizeof *reduced);
        return GA_OK;
    }
    if (naxes < 0)
        return ga__fail(GA_ERR_INVALID, "%s: the number of axes is %d, expected at least 0", name,
                        naxes);
    if (naxes > 0 && !axes)
        return ga__fail(GA_ERR_INVALID, "%s: the list of axes is NULL", name);
    const ga_status status = ga__check_axes(name, naxes, axes, x->ndim, &set);
    if (status != GA_OK)
        return status;
    for (int axis = 0; axis < x->ndim; axis++)
        reduced[axis] = naxes == 0 || (set >> axis & 1);
    return GA_OK;
}

static void find_shape(call *c, bool keepdims)
{
    c->ndim = 0;
    c->count = 1;
    for (int axis = 0; axis < c->x->ndim; axis++) {
        const int64_t length = c->x->shape[axis];
        if (c->reduced[axis])
            c->count *= length;
        if (!c->reduced[axis] || keepdims)
            c->shape[c->ndim++] = c->reduced[axis] ? 1 : length;
    }
}

ga_status ga__reduce_as(const ga__row *op, ga_dtype operand, ga_dtype dtype, ga_dtype *loop)
{
    if (dtype == GA_NO_DTYPE)
        return GA_OK;
    if (!ga__dtype_valid(dtype))
        return ga__fail(GA_ERR_DTYPE, "%s: %d is not a dtype", op->formula.name, (int)dtype);
    if (ga__dtype_kind(operand) == 'c' && ga__dtype_kind(dtype) != 'c')
        return ga__fail(GA_ERR_DTYPE, "%s: %s does not reduce as %s", op->formula.name,
                        ga_dtype_name(operand), ga_dtype_name(dtype));
    *loop = dtype;
    return GA_OK;
}

static ga_status find_dtypes(call *c, const ga__row *op, const ga_reduce_args *args)
{
    const ga__operand_type type = {.dtype = c->x->dtype};
    ga_dtype common;
    const ga_status status =
        ga__resolve(op->formula.name, op->kinds, op->rule, 1, &type, &c->loop, &common);
    if (status != GA_OK)
        return status;
    const ga_status cast = ga__reduce_as(op, c->x->dtype, args->dtype, &c->loop);
    if (cast != GA_OK)
        return cast;
    c->result = ga__result_dtype(op->result, c->loop);
    return GA_OK;
}

ga_status ga__check_reduced_out(const char *name, const gpuarray *x, ga_dtype result, int ndim,
                                const int64_t *shape, const gpuarray *out)
{
    if (!ga__array_writable(name, out))
        return ga_error();
    if (!ga__same_shape(out->ndim, out->shape, ndim, shape))
        return ga__fail(GA_ERR_SHAPE, "%s: the result has shape %s, out has %s", name,
                        ga__shape_text(ndim, shape), ga__shape_text(out->ndim, out->shape));
    if (!ga__can_cast_same_kind(result, out->dtype))
        return ga__fail(GA_ERR_DTYPE, "%s: the result is %s and does not cast to out's %s", name,
                        ga_dtype_name(result), ga_dtype_name(out->dtype));
    if (out->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the operand is on %s, out on %s", name,
                        x->buffer->device->name, out->buffer->device->name);
    return GA_OK;
}

gpuarray *ga__give_result(const char *name, gpuarray *result, gpuarray *out)
{
    if (!result || !out)
        return result;
    ga_status status =
        ga__check_reduced_out(name, result, result->dtype, result->ndim, result->shape, out);
    if (status == GA_OK)
        status = ga__array_copy_into(out, result);
    ga_free(result);
    return status == GA_OK ? out : NULL;
}

static bool has_options(const ga_reduce_args *args)
{
    return args->where || ga__has_initial(args);
}

static ga_status prepare(call *c, const ga__row *op, const ga_reduce_args *args)
{
    c->x = args->x;
    if (!args->x)
        return ga__fail(GA_ERR_INVALID, "%s: the operand is NULL", op->formula.name);
    ga_status status = ga__read_axes(op->formula.name, c->x, args->naxes, args->axes, c->reduced);
    if (status != GA_OK)
        return status;
    find_shape(c, args->keepdims);
    status = find_dtypes(c, op, args);
    if (status != GA_OK)
        return status;
    if (has_options(args) && ga__check_chosen(op, args, c->loop) != GA_OK)
        return ga_error();
    if (c->count == 0 && op->empty_is_error && !ga__has_initial(args))
        return ga__fail(GA_ERR_INVALID, "%s: nothing to reduce in shape %s", op->formula.name,
                        ga__shape_text(c->x->ndim, c->x->shape));
    return args->out ? ga__check_reduced_out(op->formula.name, c->x, c->result, c->ndim, c->shape,
                                             args->out)
                     : GA_OK;
}

/* The row that computes the same sooner: the extremes of bool end at the first element that is
 * one. */
static ga__row_id soonest(ga__row_id row, ga_dtype loop)
{
    if (loop != GA_BOOL)
        return row;
    return row == GA__ROW_max ? GA__ROW_any : row == GA__ROW_min ? GA__ROW_all : row;
}

static ga_status run(const call *c, ga__row_id row, const ga_reduce_args *args, gpuarray *out)
{
    if (has_options(args))
        return ga__reduce_chosen(row, args, c->x, c->loop, c->reduced, out);
    const double ddof = args->ddof + args->correction;
    ga__reduction reduction = ga__reduction_of(soonest(row, c->loop), "return {x}", c->loop, ddof);
    reduction.formula.maps_nothing = true;
    const ga__operand operand = {.name = "x", .array = c->x, .type = c->loop, .reads = true};
    return ga__reduce_keeping(&reduction, c->x->buffer->device, c->x->ndim, c->x->shape, c->reduced,
                              1, &operand, &out);
}

/* With a check, for which an operand that the result overwrites is copied: not for a call that is
 * refused, which leaves nothing in a graph. */
__attribute__((noinline, cold)) static gpuarray *apply_checked(ga__row_id row,
                                                               const ga_reduce_args *args)
{
    call c;
    gpuarray *result = NULL;
    if ((args->offsets ? ga__check_segments(row, args) : prepare(&c, &ga__rows[row], args)) !=
        GA_OK)
        return NULL;
    ga__check_begin();
    const gpuarray *x = args->out ? ga_copy(args->x) : args->x;
    if (x)
        result = ga__apply_reduction(row, args);
    const ga__reduced over = {args->keepdims, args->naxes, args->axes, args->offsets};
    if (result &&
        ga__check_reduced(ga__rows[row].formula.name, result, NULL, &over, 1, &x) != GA_OK)
        result = NULL; /* the scope frees it, unless it is the caller's */
    if (result != args->out)
        ga_keep(result);
    ga__check_end();
    return result;
}

gpuarray *ga__apply_reduction(ga__row_id row, const ga_reduce_args *args)
{
    const ga__row *op = &ga__rows[row];
    call c;
    gpuarray *copy = NULL;
    if (ga__checks_nan())
        return apply_checked(row, args);
    if (args->offsets)
        return ga__reduce_segments(row, args);
    if (prepare(&c, op, args) != GA_OK)
        return NULL;
    gpuarray *out = args->out;
    if (!out)
        out = ga__array_new(op->formula.name, c.x->buffer->device, c.result, c.ndim, c.shape);
    else if (ga__arrays_overlap(out, c.x))
        c.x = copy = ga_copy(c.x);
    ga_status status = out && c.x ? run(&c, row, args, out) : ga_error();
    ga_free(copy);
    if (status == GA_OK)
        return out;
    if (!args->out)
        ga_free(out);
    return NULL;
}

gpuarray *ga__reduce_call(ga__row_id row, size_t size, const ga_reduce_args *args)
{
    GA__RANGE(ga__rows[row].formula.name);
    ga_reduce_args known;

    if (size == sizeof known && args)
        return ga__apply_reduction(row, args);
    if (ga__options_read(ga__rows[row].formula.name, &known, sizeof known, args, size) != GA_OK)
        return NULL;
    return ga__apply_reduction(row, &known);
}
