/* Types elements at indices, and numbers rounded to decimals. */
#include <stdio.h>
#include <string.h>

#include "expr/typing/typer.h"
#include "model/layout.h"

typedef ga__typer typer;

#define FAILED GA__TYPER_FAILED

/* A view of an array with `behind` axes of length 1 after its own. */
static int with_axes_behind(typer *t, int index, int behind)
{
    const ga__node *node = ga__typer_node(t, index);
    int64_t shape[2 * GA_MAX_NDIM];
    const ga__node_key key = {.kind = GA__NODE_VIEW,
                              .row = GA__VIEW_SLICE,
                              .dtype = node->dtype,
                              .operand = {index},
                              .bits = {(uint64_t)t->ast->nparts, (uint64_t)behind + 1}};
    if (node->ndim == 0 || behind == 0)
        return index;
    memcpy(shape, node->shape, sizeof(int64_t) * (size_t)node->ndim);
    for (int k = 0; k < behind; k++)
        shape[node->ndim + k] = 1;
    t->graph->nviews++;
    return ga__typer_add_node(t, &key, node->dtype, node->ndim + behind, shape);
}

static int fail_dtype(const typer *t, ga_dtype dtype)
{
    char what[96];
    snprintf(what, sizeof what, "the indices are %s, expected integers", ga_dtype_name(dtype));
    return ga__typer_fail(t, GA_ERR_DTYPE, what);
}

/* An array of indices as int64 with the axes behind it; a number as it is. */
static int index_node(typer *t, int index, int behind)
{
    const ga__node *node = ga__typer_node(t, index);
    const char kind = ga__dtype_kind(ga__node_is_weak(node) ? node->number.dtype : node->dtype);
    if (kind == 'b' && (t->ast_node->nindices > 1 || t->ast_node->options))
        return ga__typer_fail(
            t, GA_ERR_UNSUPPORTED,
            "a mask and arrays of indices do not go together here: use ga_index()");
    if (kind != 'i' && kind != 'u')
        return fail_dtype(t, ga__node_is_weak(node) ? node->number.dtype : node->dtype);
    if (!ga__node_is_weak(node))
        index = with_axes_behind(t, index, behind);
    return index == FAILED ? FAILED : ga__typer_convert(t, index, GA_INT64);
}

/* ---- x[mask] ---- */

static bool is_mask(const typer *t, const int *operand)
{
    const ga__node *m = ga__typer_node(t, operand[1]);
    return t->ast_node->options && !ga__node_is_weak(m) && m->dtype == GA_BOOL;
}

static int select_node(typer *t, int source, int mask)
{
    const ga__node *x = ga__typer_node(t, source), *m = ga__typer_node(t, mask);
    const int rest = x->ndim - m->ndim;
    int64_t shape[GA_MAX_NDIM + 1];
    char what[300];
    ga__node_key key = {
        .kind = GA__NODE_SELECT, .dtype = x->dtype, .operand = {source}, .bits = {(uint64_t)rest}};
    if (m->ndim != 1 && t->ast_node->options == 1)
        return ga__typer_fail(
            t, GA_ERR_UNSUPPORTED,
            "only a mask of one axis takes other parts beside it: use ga_index()");
    if (rest < 0 || !ga__same_shape(m->ndim, x->shape, m->ndim, m->shape)) {
        snprintf(what, sizeof what, "a mask of shape %s chooses from an array of shape %s",
                 ga__shape_text(m->ndim, m->shape), ga__shape_text(x->ndim, x->shape));
        return ga__typer_fail(t, GA_ERR_SHAPE, what);
    }
    shape[0] = ga__shape_size(m->ndim, m->shape);
    if (rest > 0)
        memcpy(shape + 1, x->shape + m->ndim, sizeof(int64_t) * (size_t)rest);
    key.operand[1] = with_axes_behind(t, mask, rest);
    if (key.operand[1] == FAILED)
        return FAILED;
    t->graph->selects = true;
    return ga__typer_add_node(t, &key, (ga_dtype)key.dtype, 1 + rest, shape);
}

/* ---- x[i, j] ---- */

/* The indexed axes of x as bits, its lengths, and those of the result. */
typedef struct indexed {
    ga__node_key key;
    int ndim, naxes, to;
    int64_t x[GA_MAX_NDIM], shape[2 * GA_MAX_NDIM];
} indexed;

static int fail_axis(const typer *t, int axis, int ndim)
{
    char what[96];
    snprintf(what, sizeof what, "axis %d is out of range for %d dimension%s", axis, ndim,
             ndim == 1 ? "" : "s");
    return ga__typer_fail(t, GA_ERR_INDEX, what);
}

static int find_axes(typer *t, indexed *n)
{
    const ga__ast_node *ast_node = t->ast_node;
    for (int k = 0; k < ast_node->nindices; k++) {
        const int axis = ast_node->axis[k] + (ast_node->axis[k] < 0 ? n->ndim : 0);
        if (axis < 0 || axis >= n->ndim)
            return fail_axis(t, ast_node->axis[k], n->ndim);
        n->key.axes |= (uint32_t)1 << axis;
        if (k == 0)
            n->to = ast_node->row == GA__GATHER_FRONT ? 0 : axis;
    }
    return 0;
}

/* The shape of the indices replaces the indexed axes. */
static int shape_parts(typer *t, indexed *n, const int *index)
{
    int64_t shape[GA_MAX_NDIM];
    int others = 0;
    n->naxes = ga__typer_broadcast(t, t->ast_node->nindices, index, shape);
    if (n->naxes == FAILED)
        return FAILED;
    memcpy(n->shape + n->to, shape, sizeof(int64_t) * (size_t)n->naxes);
    for (int k = 0; k < n->ndim; k++)
        if (!(n->key.axes >> k & 1)) {
            n->shape[others < n->to ? others : others + n->naxes] = n->x[k];
            others++;
        }
    n->ndim = others + n->naxes;
    return 0;
}

/* The indices have the axes of x: those that are not indexed broadcast. */
static int shape_along(typer *t, indexed *n, int index)
{
    const ga__node *i = ga__typer_node(t, index);
    char what[300];
    int ndim = n->ndim;
    memcpy(n->shape, n->x, sizeof(int64_t) * (size_t)ndim);
    n->shape[n->to] = 1;
    n->naxes = 1;
    n->key.keepdims = true;
    if (!ga__node_is_weak(i) && i->ndim == n->ndim &&
        ga__broadcast_shape(&ndim, n->shape, ndim, i->shape))
        return 0;
    snprintf(what, sizeof what, "indices of shape %s do not go along axis %d of shape %s",
             ga__node_is_weak(i) ? "()" : ga__shape_text(i->ndim, i->shape), n->to,
             ga__shape_text(n->ndim, n->x));
    return ga__typer_fail(t, GA_ERR_SHAPE, what);
}

static int check_lengths(const typer *t, const indexed *n, int ndim)
{
    for (int k = 0; k < ndim; k++)
        if (n->key.axes >> k & 1 && n->x[k] == 0 && ga__shape_size(n->ndim, n->shape) > 0)
            return ga__typer_fail(t, GA_ERR_INDEX, "the axis of the indices has no elements");
    return 0;
}

static int gather_node(typer *t, indexed *n, const int *operand)
{
    const int nindices = t->ast_node->nindices, ndim = n->ndim;
    const bool along = t->ast_node->row == GA__GATHER_ALONG;
    if (find_axes(t, n) == FAILED ||
        (along ? shape_along(t, n, operand[1]) : shape_parts(t, n, operand + 1)) == FAILED ||
        check_lengths(t, n, ndim) == FAILED)
        return FAILED;
    for (int k = 1; k <= nindices; k++) {
        n->key.operand[k] = index_node(t, operand[k], along ? 0 : ndim - nindices - n->to);
        if (n->key.operand[k] == FAILED)
            return FAILED;
    }
    n->key.bits[0] = (uint64_t)n->to;
    n->key.bits[1] = (uint64_t)n->naxes;
    t->graph->ngathers++;
    return ga__typer_add_node(t, &n->key, (ga_dtype)n->key.dtype, n->ndim, n->shape);
}

int ga__typer_gather(typer *t, const int *operand)
{
    const ga__node *x = ga__typer_node(t, operand[0]);
    indexed n = {.key = {.kind = GA__NODE_GATHER, .dtype = x->dtype, .operand = {operand[0]}},
                 .ndim = x->ndim};
    if (ga__node_is_weak(x))
        return ga__typer_fail(t, GA_ERR_INVALID, "a number has no elements and no axes");
    if (is_mask(t, operand))
        return select_node(t, operand[0], operand[1]);
    if (n.ndim > 0) /* a 0-d node has no list of lengths */
        memcpy(n.x, x->shape, sizeof(int64_t) * (size_t)n.ndim);
    return gather_node(t, &n, operand);
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
