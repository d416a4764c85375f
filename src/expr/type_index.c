/* Types elements at indices, and numbers rounded to decimals. */
#include <stdio.h>
#include <string.h>

#include "expr/typer.h"
#include "model/layout.h"

typedef ga__typer typer;

#define FAILED GA__TYPER_FAILED

/* An array of indices as int64 with the axes behind it; a number as it is. */
static int index_node(typer *t, int index, int behind)
{
    const ga__node *node = ga__typer_node(t, index);
    const char kind = ga__dtype_kind(ga__node_is_weak(node) ? node->number.dtype : node->dtype);
    if (kind != 'i' && kind != 'u')
        return ga__typer_fail(t, GA_ERR_DTYPE, "indices are integers");
    if (node->ndim > 0 && behind > 0) {
        int64_t shape[2 * GA_MAX_NDIM];
        ga__node_key key = {.kind = GA__NODE_VIEW,
                            .row = GA__VIEW_SLICE,
                            .dtype = node->dtype,
                            .operand = {index},
                            .bits = {(uint64_t)t->ast->nparts, (uint64_t)behind + 1}};
        memcpy(shape, node->shape, sizeof(int64_t) * (size_t)node->ndim);
        for (int k = 0; k < behind; k++)
            shape[node->ndim + k] = 1;
        t->graph->nviews++;
        index = ga__typer_add_node(t, &key, node->dtype, node->ndim + behind, shape);
    }
    return index == FAILED ? FAILED : ga__typer_convert(t, index, GA_INT64);
}

/* x[mask] */
static int select_node(typer *t, int source, int mask)
{
    const ga__node *x = ga__typer_node(t, source), *m = ga__typer_node(t, mask);
    const int64_t most = ga__shape_size(x->ndim, x->shape);
    char what[300];
    if (ga__same_shape(x->ndim, x->shape, m->ndim, m->shape) && t->ast_node->row == 0) {
        const ga__node_key key = {
            .kind = GA__NODE_SELECT, .dtype = x->dtype, .operand = {source, mask}};
        t->graph->selects = true;
        return ga__typer_add_node(t, &key, x->dtype, 1, &most);
    }
    snprintf(what, sizeof what,
             "a mask of shape %s chooses from an array of shape %s; along an axis, use "
             "ga_compress()",
             ga__shape_text(m->ndim, m->shape), ga__shape_text(x->ndim, x->shape));
    return ga__typer_fail(t, GA_ERR_SHAPE, what);
}

int ga__typer_gather(typer *t, int source, int index)
{
    const ga__ast_node *ast_node = t->ast_node;
    const ga__node *x = ga__typer_node(t, source), *i = ga__typer_node(t, index);
    int64_t shape[2 * GA_MAX_NDIM];
    const int ndim = x->ndim, axes = ga__node_is_weak(i) ? 0 : i->ndim;
    const int axis = ast_node->row < 0 ? ast_node->row + ndim : ast_node->row;
    const ga_dtype dtype = x->dtype;
    if (ga__node_is_weak(x))
        return ga__typer_fail(t, GA_ERR_INVALID, "a number has no elements and no axes");
    const bool in_brackets = t->ast->text[ast_node->at] == '[';
    if (in_brackets && !ga__node_is_weak(i) && i->dtype == GA_BOOL)
        return select_node(t, source, index);
    if (axis < 0 || axis >= ndim)
        return ga__typer_fail(t, GA_ERR_INDEX, "the array has no such axis to index");
    if (ast_node->options && ndim > 1)
        return ga__typer_fail(t, GA_ERR_INVALID,
                              "take() without axis= takes a 1-D array; add axis=");
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)axis);
    if (axes > 0)
        memcpy(shape + axis, i->shape, sizeof(int64_t) * (size_t)axes);
    memcpy(shape + axis + axes, x->shape + axis + 1, sizeof(int64_t) * (size_t)(ndim - axis - 1));
    if (x->shape[axis] == 0 && ga__shape_size(ndim - 1 + axes, shape) > 0)
        return ga__typer_fail(t, GA_ERR_INDEX, "indices for an axis that has no elements");
    ga__node_key key = {.kind = GA__NODE_GATHER,
                        .dtype = dtype,
                        .operand = {source},
                        .bits = {(uint64_t)axis, (uint64_t)axes}};
    key.operand[1] = index_node(t, index, ndim - axis - 1);
    if (key.operand[1] == FAILED)
        return FAILED;
    t->graph->ngathers++;
    return ga__typer_add_node(t, &key, dtype, ndim - 1 + axes, shape);
}

/* ---- round(x, k) ---- */

int ga__typer_round(typer *t, int operand)
{
    const int decimals = t->ast_node->row;
    const int rounded = decimals == 0 ? ga__typer_apply(t, GA__ROW_round, &operand) : operand;
    if (decimals == 0 || rounded == FAILED)
        return rounded;
    const ga__operand_type type = {.dtype = ga__typer_node(t, operand)->dtype,
                                   .weak = ga__node_is_weak(ga__typer_node(t, operand)),
                                   .number = ga__typer_node(t, operand)->number};
    ga_dtype loop, common;
    if (ga__resolve("round", "iufc", GA__RULE_SAME, 1, &type, &loop, &common) != GA_OK)
        return ga__typer_fail_here(t);
    const int converted = ga__typer_convert(t, operand, loop);
    if (converted == FAILED)
        return FAILED;
    const ga__node *x = ga__typer_node(t, converted);
    const ga__node_key key = {.kind = GA__NODE_APPLY,
                              .row = GA__ROW_round,
                              .dtype = loop,
                              .operand = {converted},
                              .bits = {0, (uint64_t)(int64_t)decimals}};
    return ga__typer_add_node(t, &key, loop, x->ndim, x->shape);
}
