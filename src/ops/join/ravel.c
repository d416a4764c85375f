/* Elements of an array by one index or by one for each axis. */
#include <quarry/shaping.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/convert.h"
#include "ops/index/checked.h"

/* ---- The order of elements ---- */

/* Elements between neighbours along each axis, in C or Fortran order. */
static void set_steps(int ndim, const int64_t *shape, bool fortran, int64_t *step)
{
    int64_t next = 1;
    for (int k = 0; k < ndim; k++) {
        const int axis = fortran ? k : ndim - 1 - k;
        step[axis] = next;
        next *= shape[axis] > 0 ? shape[axis] : 1;
    }
}

static ga_status read_order(const char *name, char order, bool *fortran)
{
    *fortran = order == 'F';
    if (*fortran || order == 'C' || order == 0)
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "%s: the order is character %d, expected \'C\' or \'F\'", name,
                    order);
}

/* Runs a formula whose first operand is `out`. */
static ga_status fill_checked(const char *name, const ga__formula *formula, gpuarray *out,
                              ga__operand *operands, int n)
{
    ga__checked checked;
    n = ga__checked_begin(&checked, name, out->buffer->device, operands, n);
    if (n < 0)
        return ga_error();
    const ga_status status =
        ga__elementwise(formula, out->buffer->device, out->ndim, out->shape, n, operands);
    return ga__checked_end(&checked, status);
}

/* ---- unravel_index ---- */

/* The coordinate of each index along an axis of `length`, whose neighbours have `step` elements
 * between them. */
static gpuarray *coordinate_of(const gpuarray *indices, int64_t size, int64_t length, int64_t step)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(217),
        .name = "unravel_index",
        .body = "r = ga::from_start(j, size, fault, call, 0, (long long)i) / step % length",
        .uses_index = true};
    gpuarray *out = ga__array_new("unravel_index", indices->buffer->device, GA_INT64, indices->ndim,
                                  indices->shape);
    if (!out)
        return NULL;
    ga__operand operands[5 + GA__CHECKED_OPERANDS] = {
        {.name = "r", .array = out, .type = GA_INT64, .writes = true},
        {.name = "j", .array = indices, .type = GA_INT64, .reads = true},
        ga__integer_operand("size", size),
        ga__integer_operand("length", length),
        ga__integer_operand("step", step)};
    return ga__array_if(out, fill_checked("unravel_index", &formula, out, operands, 5));
}

static ga_status unravel(const gpuarray *indices, int ndim, const int64_t *shape, char order,
                         gpuarray **out)
{
    gpuarray *made[GA_MAX_NDIM];
    int64_t size, step[GA_MAX_NDIM];
    bool fortran;
    int n = 0;
    if (!out)
        return ga__fail(GA_ERR_INVALID, "unravel_index: the list of results is NULL");
    if (ga__check_shape("unravel_index", GA_INT64, ndim, shape, &size) != GA_OK ||
        ga__check_indices("unravel_index", indices, indices) != GA_OK ||
        read_order("unravel_index", order, &fortran) != GA_OK)
        return ga_error();
    if (size == 0 && indices->size > 0)
        return ga__fail(GA_ERR_INDEX, "unravel_index: shape %s has no elements",
                        ga__shape_text(ndim, shape));
    set_steps(ndim, shape, fortran, step);
    while (n < ndim && (made[n] = coordinate_of(indices, size, shape[n], step[n])) != NULL)
        n++;
    return ga__give_results(made, n, ndim, out);
}

ga_status(ga_unravel_index)(const gpuarray *indices, int ndim, const int64_t *shape, gpuarray **out)
{
    GA__CALL("unravel_index");
    return unravel(indices, ndim, shape, 'C', out);
}

ga_status ga_unravel_index_with(size_t size, const ga_unravel_args *args)
{
    GA__CALL("unravel_index");
    ga_unravel_args known;
    if (ga__options_read("unravel_index", &known, sizeof known, args, size) != GA_OK)
        return ga_error();
    return unravel(known.indices, known.ndim, known.shape, known.order, known.out);
}

/* ---- ravel_multi_index ---- */

/* One axis of a call. */
typedef struct axis_part {
    int axis;
    int64_t length, step;
    ga_index_mode mode;
} axis_part;

/* sum + (the place that j means along the axis) * step. In mode GA_RAISE negative indices are
 * errors, as in NumPy. */
static gpuarray *add_coordinate(const gpuarray *sum, const gpuarray *j, const axis_part *part)
{
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(218),
         .name = "ravel_multi_index",
         .body = "r = (s + ga::from_start(j, length, fault, call, axis, (long long)i) * step)",
         .uses_index = true},
        {.id = GA__FORMULA_ID(361),
         .name = "ravel_multi_index",
         .body = "r = s + ga::wrapped(j, length) * step; (void)fault; (void)call; (void)axis"},
        {.id = GA__FORMULA_ID(362),
         .name = "ravel_multi_index",
         .body = "r = s + ga::clipped(j, length) * step; (void)fault; (void)call; (void)axis"}};
    int64_t shape[GA_MAX_NDIM];
    int ndim = 0;
    if (!ga__broadcast_shape(&ndim, shape, sum->ndim, sum->shape) ||
        !ga__broadcast_shape(&ndim, shape, j->ndim, j->shape))
        return ga__fail_null(GA_ERR_SHAPE, "ravel_multi_index: shapes %s and %s do not broadcast",
                             ga__shape_text(sum->ndim, sum->shape),
                             ga__shape_text(j->ndim, j->shape));
    gpuarray *out = ga__array_new("ravel_multi_index", sum->buffer->device, GA_INT64, ndim, shape);
    if (!out)
        return NULL;
    ga__operand operands[6 + GA__CHECKED_OPERANDS] = {
        {.name = "r", .array = out, .type = GA_INT64, .writes = true},
        {.name = "s", .array = sum, .type = GA_INT64, .reads = true},
        {.name = "j", .array = j, .type = GA_INT64, .reads = true},
        ga__integer_operand("length", part->length),
        ga__integer_operand("step", part->step),
        ga__integer_operand("axis", part->axis)};
    return ga__array_if(out,
                        fill_checked("ravel_multi_index", &formulas[part->mode], out, operands, 6));
}

/* The modes of all axes; raises for one that there is not. */
static ga_status read_modes(const ga_ravel_args *args, int ndim, ga_index_mode *modes)
{
    for (int k = 0; k < ndim; k++) {
        modes[k] = args->modes ? args->modes[k] : args->mode;
        if (ga__check_mode("ravel_multi_index", modes[k]) != GA_OK)
            return ga_error();
    }
    return GA_OK;
}

static ga_status check_axes(const gpuarray *const *indices, int ndim, const int64_t *shape)
{
    for (int k = 0; k < ndim; k++) {
        if (ga__check_indices("ravel_multi_index", indices[0], indices[k]) != GA_OK)
            return ga_error();
        if (shape[k] == 0 && indices[k]->size > 0)
            return ga__fail(GA_ERR_INDEX, "ravel_multi_index: axis %d has no elements", k);
    }
    return GA_OK;
}

/* The sum before the first axis. */
static gpuarray *zero_on(ga__device *device)
{
    gpuarray *sum = ga__array_new("ravel_multi_index", device, GA_INT64, 0, NULL);
    return sum ? ga__array_if(sum, ga__fill_elements(sum, ga_value_bool(false))) : NULL;
}

static gpuarray *ravel(const ga_ravel_args *args)
{
    const gpuarray *const *indices = args->indices;
    const int64_t *shape = args->shape;
    const int ndim = args->ndim;
    int64_t size, step[GA_MAX_NDIM];
    ga_index_mode modes[GA_MAX_NDIM];
    bool fortran;
    if (!indices || ndim < 1)
        return ga__fail_null(GA_ERR_INVALID, "ravel_multi_index: %d arrays%s", ndim,
                             indices ? "" : ", and the list is NULL");
    if (ga__check_shape("ravel_multi_index", GA_INT64, ndim, shape, &size) != GA_OK ||
        read_modes(args, ndim, modes) != GA_OK ||
        read_order("ravel_multi_index", args->order, &fortran) != GA_OK ||
        check_axes(indices, ndim, shape) != GA_OK)
        return NULL;
    set_steps(ndim, shape, fortran, step);
    gpuarray *sum = zero_on(indices[0]->buffer->device);
    for (int k = 0; sum && k < ndim; k++) {
        const axis_part part = {k, shape[k], step[k], modes[k]};
        gpuarray *next = add_coordinate(sum, indices[k], &part);
        ga_free(sum);
        sum = next;
    }
    return sum;
}

gpuarray *(ga_ravel_multi_index)(const gpuarray *const *indices, int ndim, const int64_t *shape)
{
    GA__CALL("ravel_multi_index");
    return ravel(&(ga_ravel_args){.indices = indices, .ndim = ndim, .shape = shape});
}

gpuarray *ga_ravel_multi_index_with(size_t size, const ga_ravel_args *args)
{
    GA__CALL("ravel_multi_index");
    ga_ravel_args known;
    if (ga__options_read("ravel_multi_index", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    return ravel(&known);
}
