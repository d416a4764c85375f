/* QUARRY_CHECK=nan for expressions: finds the operation by computing one after the other. */
#include "expr/check_nan.h"

#include <quarry/products.h>

#include <string.h>

#include <quarry/functions.h>
#include <quarry/indexing.h>

#include "base/alloc.h"
#include "base/error.h"
#include "expr/run.h"
#include "expr/text/lexer.h"
#include "expr/text/parse.h"
#include "expr/type.h"
#include "ops/check_nan.h"
#include "ops/elementwise_op.h"
#include "ops/reduction_op.h"
#include "ops/scan/scan_op.h"

ga_status ga__eval_check_keep(const gpuarray *out, int count, const ga_named *args, ga_named *kept)
{
    ga_status status = GA_OK;
    for (int k = 0; k < count && status == GA_OK; k++) {
        kept[k] = args[k];
        if (out)
            status = ga__check_keep(out, 1, &args[k].value, &kept[k].value);
    }
    return status;
}

static ga_value of_array(const gpuarray *x)
{
    return ga_value_array(x);
}

/* `shown`: numbers as the expression has them, before they become infinite in the dtype of the
 * operation. */
static ga_status apply(const ga__node *nodes, const ga__node *node, const ga__guard *guard,
                       const ga_value *values, ga_value *value)
{
    const ga__row *row = &ga__rows[node->key.row];
    ga_value operands[GA__MAX_INPUTS], shown[GA__MAX_INPUTS];
    for (int k = 0; k < row->inputs; k++) {
        const ga__node *operand = &nodes[node->key.operand[k]];
        operands[k] = shown[k] = values[node->key.operand[k]];
        if (operand->key.kind == GA__NODE_NUMBER)
            shown[k] = values[operand->key.operand[0]];
    }
    if (node->key.bits[0]) /* a small constant exponent */
        operands[1] = shown[1] = ga_value_signed(GA_INT64, (int64_t)node->key.bits[0]);
    *value = of_array(node->key.bits[1] /* decimals */
                          ? (ga_round_decimals)(operands[0], (int)(int64_t)node->key.bits[1])
                          : ga__apply((ga__row_id)node->key.row, operands));
    if (!value->as.array)
        return ga_error();
    return ga__check_elements(row->formula.name, value->as.array, guard, row->inputs, shown, NULL);
}

static ga_status scan(const ga__node *node, const ga__guard *guard, const ga_value *values,
                      ga_value *value)
{
    const char *name = ga__rows[node->key.row].formula.name;
    const int axis = node->key.axes ? __builtin_ctz(node->key.axes) : 0;
    const ga_scan_args args = {.x = values[node->key.operand[0]].as.array,
                               .naxes = node->key.axes != 0,
                               .axes = &axis,
                               .dtype = node->dtype};
    *value = of_array(ga__scan_call((ga__row_id)node->key.row, name, sizeof args, &args));
    if (!value->as.array)
        return ga_error();
    ga__guard finite = *guard;
    ga__guard_add(&finite, args.x);
    return ga__check_reduced(name, value->as.array, &finite, NULL, 0, NULL);
}

static ga_status reduce(const ga__node *node, const ga__guard *guard, const ga_value *values,
                        ga_value *value)
{
    int axes[GA_MAX_NDIM], naxes = 0;
    double ddof;
    const gpuarray *x = values[node->key.operand[0]].as.array;
    memcpy(&ddof, &node->key.bits[0], sizeof ddof);
    for (int axis = 0; axis < x->ndim; axis++)
        if (node->key.axes >> axis & 1)
            axes[naxes++] = axis;
    const ga_reduce_args args = {.x = x,
                                 .naxes = naxes ? naxes : GA_NO_AXES,
                                 .axes = axes,
                                 .keepdims = node->key.keepdims,
                                 .dtype = node->loop,
                                 .correction = ddof};
    *value = of_array(ga__apply_reduction((ga__row_id)node->key.row, &args));
    if (!value->as.array)
        return ga_error();
    const ga__reduced over = {args.keepdims, args.naxes, args.axes, NULL};
    return ga__check_reduced(ga__rows[node->key.row].formula.name, value->as.array, guard, &over, 1,
                             &x);
}

static ga_status convert(const ga__node *node, const ga__guard *guard, const ga_value *values,
                         ga_value *value)
{
    const ga_value from = values[node->key.operand[0]];
    *value = of_array(ga_astype(from.as.array, node->dtype));
    return value->as.array ? ga__check_elements("astype", value->as.array, guard, 1, &from, NULL)
                           : ga_error();
}

static ga_status give(gpuarray *found, ga_value *value)
{
    *value = of_array(found);
    return found ? GA_OK : ga_error();
}

/* The array with some of its axes first, and the axes back in their places. */
static gpuarray *to_front(const gpuarray *x, uint32_t axes)
{
    int order[GA_MAX_NDIM], n = 0;
    for (int first = 1; first >= 0; first--)
        for (int k = 0; k < x->ndim; k++)
            if ((int)(axes >> k & 1) == first)
                order[n++] = k;
    return ga_transpose_axes(x, n, order);
}

static gpuarray *from_front(const gpuarray *x, int axes, int to)
{
    int order[GA_MAX_NDIM];
    for (int k = 0; k < x->ndim; k++)
        order[k] = k < to ? axes + k : k < to + axes ? k - to : k;
    return x ? ga_transpose_axes(x, x->ndim, order) : NULL;
}

/* The array without the axes of length 1 behind its own. */
static ga_part own_part(const gpuarray *wide, int behind)
{
    const int ndim = wide->ndim > behind ? wide->ndim - behind : 0;
    return (ga_part){.array = ga_reshape(wide, ndim, wide->shape), .is_array = true};
}

static ga_status gather(const ga__node *node, const ga_value *values, ga_value *value)
{
    const gpuarray *x = values[node->key.operand[0]].as.array;
    const int count = __builtin_popcount(node->key.axes), to = (int)node->key.bits[0];
    ga_part parts[GA__GATHER_INDICES];
    if (node->key.keepdims) {
        const ga_take_args args = {
            .x = x, .indices = values[node->key.operand[1]].as.array, .naxes = 1, .axes = &to};
        return give((ga_take_along_axis)(sizeof args, &args), value);
    }
    for (int k = 0; k < count; k++)
        parts[k] = own_part(values[node->key.operand[1 + k]].as.array, x->ndim - count - to);
    gpuarray *front = to_front(x, node->key.axes);
    gpuarray *taken = front ? ga_index_parts(front, count, parts) : NULL;
    return give(taken ? from_front(taken, (int)node->key.bits[1], to) : NULL, value);
}

static ga_status select_where(const ga__node *node, const ga_value *values, ga_value *value)
{
    const gpuarray *x = values[node->key.operand[0]].as.array;
    const ga_part mask = own_part(values[node->key.operand[1]].as.array, (int)node->key.bits[0]);
    return give(mask.array ? ga_index_parts(x, 1, &mask) : NULL, value);
}

static ga_status compute(const ga__graph *graph, int k, const ga__guard *guard,
                         const ga_named *args, const ga_value *values, ga_value *value)
{
    const ga__node *nodes = graph->nodes, *node = &nodes[k];
    switch ((ga__node_kind)node->key.kind) {
    case GA__NODE_ARRAY: *value = args[node->key.row].value; return GA_OK;
    case GA__NODE_NUMBER:
        return give((ga_scalar)(node->dtype, values[node->key.operand[0]]), value);
    case GA__NODE_APPLY: return apply(nodes, node, guard, values, value);
    case GA__NODE_CAST: return convert(node, guard, values, value);
    case GA__NODE_REDUCE:
        return ga__row_scans(node->key.row) ? scan(node, guard, values, value)
                                            : reduce(node, guard, values, value);
    case GA__NODE_PRODUCT:
        return give(
            ga_matmul(values[node->key.operand[0]].as.array, values[node->key.operand[1]].as.array),
            value);
    case GA__NODE_VIEW:
        return give(ga__node_view(graph, k, values[ga__viewed_node(graph, k)].as.array), value);
    case GA__NODE_GATHER: return gather(node, values, value);
    case GA__NODE_SELECT: return select_where(node, values, value);
    default: *value = node->number; return GA_OK; /* weak */
    }
}

/* Adds the place in the text to the error of an operation. */
static ga_status fail_at(const char *text, size_t at)
{
    const ga__saved_error found = ga__error_take();
    ga__eval_fail(text, at, found.status, "%s", found.message ? found.message : "");
    ga__free(found.message);
    return found.status;
}

static ga_status compute_all(const ga__graph *graph, const char *text, const ga__guard *guard,
                             const ga_named *args)
{
    ga_value *values = ga__calloc((size_t)graph->nnodes, sizeof *values);
    ga_status status = values ? GA_OK : GA_ERR_MEMORY;
    for (int k = 0; k < graph->nnodes && status == GA_OK; k++) {
        status = compute(graph, k, guard, args, values, &values[k]);
        if (status == GA_ERR_INVALID)
            status = fail_at(text, graph->nodes[k].at);
    }
    ga__free(values);
    return status;
}

static ga_status replay(const char *text, const ga__ast *ast, const ga__guard *guard, int count,
                        const ga_named *args)
{
    ga__graph graph;
    ga_status status = ga__graph_make(&graph, ast, count, args);
    if (status != GA_OK)
        return status;
    const ga__saved_error before = ga__error_save(); /* reported once the error has its place */
    status = compute_all(&graph, text, guard, args);
    ga__error_settle(before);
    ga__graph_reset(&graph);
    return status;
}

ga_status ga__eval_check_nan(const char *text, const ga__ast *ast, const gpuarray *result,
                             int count, const ga_named *args)
{
    ga__ast parsed;
    ga__guard guard = GA__GUARD_INIT;
    if (result && !ga__guard_fails(&guard, result))
        return GA_OK;
    if (ast)
        return replay(text, ast, &guard, count, args);
    ga_status status = ga__ast_parse(&parsed, text);
    if (status != GA_OK)
        return status;
    status = replay(text, &parsed, &guard, count, args);
    ga__ast_reset(&parsed);
    return status;
}
