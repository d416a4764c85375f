/* Types reductions, scans and products of matrices. */
#include <string.h>

#include "expr/source.h"
#include "expr/typing/typer.h"
#include "ops/elementwise_op.h"
#include "ops/products/operands.h"
#include "ops/reduction_op.h"
#include "ops/scan/scan_op.h"

typedef ga__typer typer;

#define FAILED GA__TYPER_FAILED

static int read_axes(const typer *t, const ga__options *options, int ndim, uint32_t *axes)
{
    typer there = *t;
    ga__ast_node place = *t->ast_node;
    place.at = options->at;
    there.ast_node = &place;
    *axes = (uint32_t)(((uint64_t)1 << ndim) - 1);
    if (options->naxes >= 0 && ga__check_axes(ga__rows[t->ast_node->row].formula.name,
                                              options->naxes, options->axis, ndim, axes) != GA_OK)
        return ga__typer_fail_here(&there);
    return 0;
}

ga_status ga__typer_loop(const ga__row *op, ga_dtype given, ga_dtype dtype, ga_dtype *loop)
{
    const ga__operand_type type = {.dtype = dtype};
    ga_dtype common;
    if (op->scan.accumulator)
        return ga__scan_dtype(op, op->formula.name, dtype, given, loop);
    const ga_status status =
        ga__resolve(op->formula.name, op->kinds, op->rule, 1, &type, loop, &common);
    return status == GA_OK ? ga__reduce_as(op, dtype, given, loop) : status;
}

int ga__typer_reduce_row(typer *t, int row_id, int operand, ga_dtype given, bool may_be_empty)
{
    const ga__options *options = &t->ast->options[t->ast_node->options];
    const ga__row *op = &ga__rows[row_id];
    const bool scans = ga__row_scans(row_id);
    ga__node_key key = {.kind = GA__NODE_REDUCE, .row = row_id, .keepdims = options->keepdims};
    const ga__node *x = ga__typer_node(t, operand);
    ga_dtype loop;
    int64_t shape[GA_MAX_NDIM], count = 1;
    int ndim = 0;
    if (scans && options->naxes >= 0 && options->naxes != 1)
        return ga__typer_fail(t, GA_ERR_INVALID, "a scan has one axis");
    if (read_axes(t, options, x->ndim, &key.axes) == FAILED)
        return FAILED;
    if (ga__typer_loop(op, given, x->dtype, &loop) != GA_OK)
        return ga__typer_fail_here(t);
    for (int axis = 0; axis < x->ndim && !scans; axis++) {
        const bool reduced = key.axes >> axis & 1;
        count *= reduced ? x->shape[axis] : 1;
        if (!reduced || options->keepdims)
            shape[ndim++] = reduced ? 1 : x->shape[axis];
    }
    if (scans && x->ndim != 1 && options->naxes < 0)
        key.axes = 0; /* all elements in C order */
    if (scans)
        ndim = ga__scan_shape(x->ndim, x->shape, key.axes, shape);
    if (count == 0 && op->empty_is_error && !may_be_empty)
        return ga__typer_fail(t, GA_ERR_INVALID, "nothing to reduce");
    key.operand[0] = ga__typer_convert(t, operand, loop);
    if (key.operand[0] == FAILED)
        return FAILED;
    memcpy(&key.bits[0], &options->ddof, sizeof(options->ddof));
    key.bits[1] = may_be_empty;
    key.dtype = ga__result_dtype(op->result, loop);
    const int k = ga__typer_add_node(t, &key, (ga_dtype)key.dtype, ndim, shape);
    if (k != FAILED)
        ga__typer_node(t, k)->loop = loop;
    return k;
}

int ga__typer_reduce(typer *t, const int *operand)
{
    const ga__options *options = &t->ast->options[t->ast_node->options];
    return options->where < 0 && options->initial < 0 && !ga__typer_reduces_selection(t, operand[0])
               ? ga__typer_reduce_row(t, t->ast_node->row, operand[0], options->dtype, false)
               : ga__typer_reduce_chosen(t, operand);
}

/* ---- Products ---- */

int ga__typer_multiply(typer *t, const int *operand)
{
    const ga__node *a = ga__typer_node(t, operand[0]), *b = ga__typer_node(t, operand[1]);
    ga__node_key key = {.kind = GA__NODE_PRODUCT, .operand = {operand[0], operand[1]}};
    int64_t shape[GA_MAX_NDIM];
    int ndim;
    if (a->key.kind == GA__NODE_SELECT || b->key.kind == GA__NODE_SELECT)
        return ga__typer_fail_selection(t);
    if (ga__node_is_weak(a) || ga__node_is_weak(b))
        return ga__typer_fail(t, GA_ERR_INVALID, "@ takes arrays, not numbers");
    if (ga__check_numeric("@", a->dtype) != GA_OK || ga__check_numeric("@", b->dtype) != GA_OK ||
        ga__matmul_shape(a->ndim, a->shape, b->ndim, b->shape, &ndim, shape) != GA_OK)
        return ga__typer_fail_here(t);
    key.dtype = ga_result_type(a->dtype, b->dtype);
    return ga__typer_add_node(t, &key, (ga_dtype)key.dtype, ndim, shape);
}
