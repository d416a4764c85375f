/* ga_partition(), ga_argpartition() and ga_topk(): check the arguments and select in rows. */
#include <inttypes.h>

#include <quarry/rank.h>

#include "base/call.h"
#include "base/error.h"
#include "model/promote.h"
#include "base/options.h"
#include "kernels/rank/rank.h"
#include "ops/order/along.h"
#include "ops/rank/rows.h"

/* The axis that a call works along; the last one if it names none. */
static ga_status read_axis(const char *name, int ndim, int naxes, const int *axes, int *axis)
{
    const ga_status status = ga__one_axis(name, naxes, axes);
    return status == GA_OK ? ga__check_axis(name, naxes == 1 ? *axes : -1, ndim, axis) : status;
}

static ga_status check_operand(const char *name, const gpuarray *x)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: the operand is NULL", name);
    return ga__check_numeric(name, x->dtype);
}

/* Copies the first columns of a matrix of the same rows. */
static ga_status take_first(gpuarray *to, const gpuarray *from)
{
    if (!from)
        return ga_error();
    gpuarray *first = ga__array_view(from, from->dtype, to->ndim, to->shape, from->strides, 0);
    const ga_status status = first ? ga__assign_bits(to, first) : ga_error();
    ga_free(first);
    return status;
}

/* Complex elements have keys of two words, which the engine does not select by: their rows are
 * sorted. */
static ga_status sort_instead(const ga__ranking *r)
{
    gpuarray *values = NULL, *indices = NULL;
    if (r->task != GA__RANK_TOPK)
        return ga__sort_rows(r->x, r->values, r->indices, false);
    ga_status status =
        ga__sort_along("topk", r->x, r->x->ndim - 1, r->descending, &values, &indices);
    if (status == GA_OK)
        status = take_first(r->values, values);
    if (status == GA_OK)
        status = take_first(r->indices, indices);
    ga_free(values);
    ga_free(indices);
    return status;
}

/* Runs the task on the rows of x, unless there is nothing to do. */
static ga_status select_along(const gpuarray *x, int axis, ga__ranking *ranking)
{
    ga__rank_rows rows;
    ga_status status = ga__rows_along(&rows, x, axis);
    if (status != GA_OK)
        return status;
    ranking->x = rows.x;
    ranking->rows = rows.rows;
    ranking->count = rows.count;
    if (x->size > 0)
        status = ga__dtype_kind(x->dtype) == 'c' ? sort_instead(ranking) : ga__rank(ranking);
    ga_free(rows.x);
    return status;
}

/* ---- Partitions ---- */

/* Of an axis of n elements. */
static ga_status check_kth(const char *name, int64_t n, int axis, int64_t *kth)
{
    const int64_t given = *kth;
    if (n == 0)
        return GA_OK; /* as NumPy: nothing is there to be ordered */
    *kth += given < 0 ? n : 0;
    if (*kth < 0 || *kth >= n)
        return ga__fail(GA_ERR_INDEX,
                        "%s: kth %" PRId64 " is out of range for the %" PRId64
                        " elements along axis %d",
                        name, given, n, axis);
    return GA_OK;
}

static gpuarray *partition_along(const char *name, const gpuarray *x, int axis, int64_t kth,
                                 bool indices)
{
    gpuarray *result =
        ga__rows_result(name, x, axis, indices ? GA_INT64 : x->dtype, x->shape[axis]);
    if (!result)
        return NULL;
    ga__ranking ranking = {.task = indices ? GA__RANK_ARGPARTITION : GA__RANK_PARTITION,
                           .kth = kth,
                           .values = indices ? NULL : result,
                           .indices = indices ? result : NULL};
    if (select_along(x, axis, &ranking) == GA_OK)
        return ga__rows_restore(result, axis);
    ga_free(result);
    return NULL;
}

static gpuarray *partition(const char *name, size_t size, const ga_partition_args *given,
                           bool indices)
{
    ga_partition_args args;
    int axis;
    if (ga__options_read(name, &args, sizeof args, given, size) != GA_OK ||
        check_operand(name, args.x) != GA_OK)
        return NULL;
    const int ndim = args.flat ? 1 : args.x->ndim;
    if (read_axis(name, ndim, args.flat ? 0 : args.naxes, args.axes, &axis) != GA_OK ||
        check_kth(name, args.flat ? args.x->size : args.x->shape[axis], axis, &args.kth) != GA_OK)
        return NULL;
    if (!args.flat)
        return partition_along(name, args.x, axis, args.kth, indices);
    gpuarray *flat = ga_ravel(args.x);
    gpuarray *result = flat ? partition_along(name, flat, axis, args.kth, indices) : NULL;
    ga_free(flat);
    return result;
}

gpuarray *(ga_partition)(size_t size, const ga_partition_args *args)
{
    GA__CALL("partition");
    return partition("partition", size, args, false);
}

gpuarray *(ga_argpartition)(size_t size, const ga_partition_args *args)
{
    GA__CALL("argpartition");
    return partition("argpartition", size, args, true);
}

/* ---- The first elements ---- */

static ga_status check_topk(const ga_topk_args *args, int *axis)
{
    ga_status status = check_operand("topk", args->x);
    if (status == GA_OK)
        status = read_axis("topk", args->x->ndim, args->naxes, args->axes, axis);
    if (status == GA_OK && (args->k < 0 || args->k > args->x->shape[*axis]))
        return ga__fail(GA_ERR_INDEX, "topk: k is %" PRId64 ", axis %d has %" PRId64 " elements",
                        args->k, *axis, args->x->shape[*axis]);
    return status;
}

/* Sets both results or neither. */
static ga_status give_results(const ga_topk_args *args, int axis, gpuarray *values,
                              gpuarray *indices)
{
    values = ga__rows_restore(values, axis);
    indices = ga__rows_restore(indices, axis);
    if (!values || !indices) {
        ga_free(values);
        ga_free(indices);
        return ga_error();
    }
    if (args->values)
        *args->values = values;
    else
        ga_free(values);
    if (args->indices)
        *args->indices = indices;
    else
        ga_free(indices);
    return GA_OK;
}

static ga_status topk_along(const ga_topk_args *args, int axis)
{
    const gpuarray *x = args->x;
    gpuarray *values = ga__rows_result("topk", x, axis, x->dtype, args->k);
    gpuarray *indices = values ? ga__rows_result("topk", x, axis, GA_INT64, args->k) : NULL;
    ga__ranking ranking = {.task = GA__RANK_TOPK,
                           .values = values,
                           .indices = indices,
                           .winners = args->k,
                           .descending = !args->smallest};
    ga_status status = indices ? GA_OK : ga_error();
    if (status == GA_OK && args->k > 0)
        status = select_along(x, axis, &ranking);
    if (status == GA_OK)
        return give_results(args, axis, values, indices);
    ga_free(values);
    ga_free(indices);
    return status;
}

ga_status(ga_topk)(size_t size, const ga_topk_args *given)
{
    GA__CALL("topk");
    ga_topk_args args;
    int axis;
    ga_status status = ga__options_read("topk", &args, sizeof args, given, size);
    if (status == GA_OK)
        status = check_topk(&args, &axis);
    return status == GA_OK ? topk_along(&args, axis) : status;
}
