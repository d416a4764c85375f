/* Applies a row of the scans' table: checks the options and calls the engine. */
#include "ops/scan/scan_op.h"

#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "base/range.h"
#include "ops/check_nan.h"
#include "ops/elementwise_op.h"
#include "ops/scan/scan_starts.h"

/* One scan: its operand and result as the engine gets them. The arguments are checked before
 * anything is made, so that a refused call leaves nothing in a graph. */
typedef struct call {
    const char *name;
    const ga__row *op;
    const ga_scan_args *args;
    const gpuarray *x; /* with the axis, once it is made */
    bool flattens;
    int axis;
    ga_dtype loop;
    int ndim;                   /* of x and the result */
    int64_t shape[GA_MAX_NDIM]; /* of the result */
    gpuarray *flat, *copy;      /* to be freed after the launch, or NULL */
} call;

ga_status ga__scan_dtype(const ga__row *op, const char *name, ga_dtype dtype, ga_dtype wanted,
                         ga_dtype *loop)
{
    ga__operand_type type = {.dtype = dtype};
    ga_dtype common;
    ga_status status = ga__resolve(name, op->kinds, op->rule, 1, &type, loop, &common);
    if (status != GA_OK || wanted == GA_NO_DTYPE)
        return status;
    if (!ga__dtype_valid(wanted))
        return ga__fail(GA_ERR_DTYPE, "%s: %d is not a dtype", name, (int)wanted);
    if (ga__dtype_kind(dtype) == 'c' && ga__dtype_kind(wanted) != 'c')
        return ga__fail(GA_ERR_DTYPE, "%s: %s does not scan as %s", name, ga_dtype_name(dtype),
                        ga_dtype_name(wanted));
    type.dtype = wanted;
    status = ga__resolve(name, op->kinds, op->rule, 1, &type, &common, &common);
    *loop = op->rule == GA__RULE_FLOAT ? common : wanted;
    return status;
}

int ga__scan_shape(int ndim, const int64_t *shape, uint32_t axes, int64_t *result)
{
    if (axes == 0) {
        result[0] = ga__shape_size(ndim, shape);
        return 1;
    }
    memcpy(result, shape, sizeof(int64_t) * (size_t)ndim);
    return ndim;
}

static ga_status find_axis(call *c, bool standard)
{
    const ga_scan_args *args = c->args;
    const int ndim = args->x->ndim;
    const ga_status status = ga__one_axis(c->name, args->naxes, args->axes);
    if (status != GA_OK)
        return status;
    if (args->naxes == 0 && standard && ndim > 1)
        return ga__fail(GA_ERR_INVALID, "%s: an array of %d dimensions needs an axis", c->name,
                        ndim);
    c->axis = 0;
    if (args->naxes == 0)
        return GA_OK;
    return ga__check_axis(c->name, args->axes[0], ndim > 0 ? ndim : 1, &c->axis);
}

/* The elements in C order as a 1-D array; copied if no view has them. */
static ga_status flatten(call *c)
{
    c->x = c->args->x;
    if (c->flattens)
        c->x = c->flat = ga_ravel(c->args->x);
    return c->x ? GA_OK : ga_error();
}

static bool has_initial(const ga_scan_args *args)
{
    return args->initial.kind != GA_VALUE_ARRAY || args->initial.as.array;
}

static ga_status check_initial(const call *c)
{
    if (!has_initial(c->args))
        return GA_OK;
    if (!ga__is_number(c->args->initial))
        return ga__fail(GA_ERR_INVALID, "%s: initial is not a number as GA_INITIAL(0) is", c->name);
    return ga__check_number(c->name, c->args->initial, c->loop);
}

static ga_status prepare(call *c, bool standard)
{
    const ga_scan_args *args = c->args;
    if (!args->x)
        return ga__fail(GA_ERR_INVALID, "%s: the operand is NULL", c->name);
    ga_status status = find_axis(c, standard);
    if (status == GA_OK)
        status = ga__scan_dtype(c->op, c->name, args->x->dtype, args->dtype, &c->loop);
    if (status == GA_OK)
        status = check_initial(c);
    if (status == GA_OK && args->offsets)
        status = ga__check_starts(c->name, args->x->buffer->device, args->offsets);
    if (status != GA_OK)
        return status;
    const int ndim = args->x->ndim;
    c->flattens = ndim != 1 && (args->naxes == 0 || ndim == 0);
    c->ndim = ga__scan_shape(ndim, args->x->shape, !c->flattens, c->shape);
    c->shape[c->axis] += args->include_initial;
    return args->out ? ga__check_own_out(c->name, args->out, args->x->buffer->device, c->ndim,
                                         c->shape, c->loop)
                     : GA_OK;
}

/* Scans x into `out`, of the same shape. */
static ga_status scan_into(const call *c, const gpuarray *x, gpuarray *out, bool exclusive,
                           const gpuarray *starts)
{
    const ga__scan scan = {.formula = {.base = c->op->formula,
                                       .map = "return {x}",
                                       .texts = &c->op->scan,
                                       .starts = starts ? "start" : NULL},
                           .type = c->loop,
                           .exclusive = exclusive,
                           .reverse = c->args->reverse,
                           .initial = has_initial(c->args) ? &c->args->initial : NULL};
    const ga__operand operands[] = {
        {.name = "r", .array = out, .type = c->loop, .writes = true},
        {.name = "x", .array = x, .type = c->loop, .reads = true},
        {.name = "start", .array = starts, .type = GA_BOOL, .reads = true}};
    return ga__scan_run(&scan, out->buffer->device, x->ndim, x->shape, c->axis,
                        2 + (starts != NULL), operands);
}

/* Elements [first, first + count) of the axis. */
static gpuarray *part_of(const gpuarray *x, int axis, int64_t first, int64_t count)
{
    int64_t shape[GA_MAX_NDIM];
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[axis] = count;
    return ga__array_view(x, x->dtype, x->ndim, shape, x->strides, first * x->strides[axis]);
}

/* Writes what stands before the first element to the one more element of `out`: an exclusive scan
 * of one element, whatever it is. */
static ga_status write_initial(const call *c, gpuarray *out)
{
    const int64_t last = out->shape[c->axis] - 1;
    gpuarray *edge = part_of(out, c->axis, c->args->reverse ? last : 0, 1);
    gpuarray *zeros = edge ? ga_zeros(c->loop, edge->ndim, edge->shape) : NULL;
    const ga_status status = zeros ? scan_into(c, zeros, edge, true, NULL) : ga_error();
    ga_free(zeros);
    ga_free(edge);
    return status;
}

/* With one more element the others are a view of `out`. */
static ga_status scan_after_initial(const call *c, gpuarray *out, const gpuarray *starts)
{
    const int64_t count = c->x->shape[c->axis];
    gpuarray *rest = part_of(out, c->axis, c->args->reverse ? 0 : 1, count);
    if (!rest)
        return ga_error();
    const gpuarray *x = c->x;
    gpuarray *copy;
    ga_status status = ga__separate(out, &x, &copy);
    if (status == GA_OK)
        status = write_initial(c, out);
    if (status == GA_OK)
        status = scan_into(c, x, rest, c->args->exclusive, starts);
    ga_free(copy);
    ga_free(rest);
    return status;
}

static ga_status run(call *c, gpuarray *out)
{
    const ga_scan_args *args = c->args;
    gpuarray *starts = NULL;
    if (args->offsets) {
        starts = ga__scan_starts(c->name, c->x->buffer->device, args->offsets, c->x->shape[c->axis],
                                 args->reverse, c->x->ndim - 1 - c->axis);
        if (!starts)
            return ga_error();
    }
    ga_status status;
    if (args->include_initial)
        status = scan_after_initial(c, out, starts);
    else if ((status = ga__separate(out, &c->x, &c->copy)) == GA_OK)
        status = scan_into(c, c->x, out, args->exclusive, starts);
    ga_free(starts);
    return status;
}

static gpuarray *apply(call *c)
{
    gpuarray *out = c->args->out;
    ga_status status = flatten(c);
    if (status == GA_OK && !out)
        out = ga__array_new(c->name, c->x->buffer->device, c->loop, c->ndim, c->shape);
    if (status == GA_OK)
        status = out ? run(c, out) : ga_error();
    ga_free(c->flat);
    ga_free(c->copy);
    if (status == GA_OK)
        return out;
    if (out != c->args->out)
        ga_free(out);
    return NULL;
}

/* A scan of finite elements is finite. */
__attribute__((noinline, cold)) static gpuarray *apply_checked(call *c)
{
    ga__check_begin();
    ga__guard finite = GA__GUARD_INIT;
    ga__guard_add(&finite, c->args->x);
    gpuarray *result = apply(c);
    if (result && ga__check_reduced(c->name, result, &finite, NULL, 0, NULL) != GA_OK)
        result = NULL; /* the scope frees it, unless it is the caller's */
    if (result != c->args->out)
        ga_keep(result);
    ga__check_end();
    return result;
}

gpuarray *ga__scan_call(ga__row_id row, const char *name, size_t size, const ga_scan_args *args)
{
    const ga__row *op = &ga__rows[row];
    const bool standard = strcmp(name, op->formula.name) != 0;
    GA__RANGE(name);
    ga_scan_args known;
    if (size != sizeof known || !args) {
        if (ga__options_read(name, &known, sizeof known, args, size) != GA_OK)
            return NULL;
        args = &known;
    }
    call c = {.name = name, .op = op, .args = args};
    if (prepare(&c, standard) != GA_OK)
        return NULL;
    return ga__checks_nan() ? apply_checked(&c) : apply(&c);
}
