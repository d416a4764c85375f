/* Types expressions: applies NEP 50 and broadcasting node by node, and merges equal values. */
#include "expr/typing/typer.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "expr/source.h"
#include "base/alloc.h"
#include "base/error.h"
#include "ops/elementwise_op.h"
#include "ops/slice.h"
#include "expr/typing/fold.h"
#include "expr/text/elsewhere.h"
#include "expr/text/lexer.h"

typedef ga__typer typer;

#define FAILED GA__TYPER_FAILED

/* ---- Errors ---- */

int ga__typer_fail(const typer *t, ga_status status, const char *what)
{
    ga__eval_fail(t->ast->text, t->ast_node->at, status, "%s", what);
    return FAILED;
}

/* Adds the place, and a hint that may be "", to an error that a called function has raised. */
static int fail_hinting(const typer *t, const char *hint)
{
    if (t->had_error || ga_error() == GA_ERR_MEMORY)
        return FAILED;
    const ga__saved_error saved = ga__error_take();
    if (saved.message)
        ga__eval_fail(t->ast->text, t->ast_node->at, saved.status, "%s%s", saved.message, hint);
    else
        ga__fail(GA_ERR_MEMORY, "eval: out of host memory");
    ga__free(saved.message);
    return FAILED;
}

int ga__typer_fail_here(const typer *t)
{
    return fail_hinting(t, "");
}

/* ---- Nodes ---- */

int ga__typer_add_node(typer *t, const ga__node_key *key, ga_dtype dtype, int ndim,
                       const int64_t *shape)
{
    bool is_new;
    int64_t size;
    if (ga__check_shape("the value", dtype, ndim, shape, &size) != GA_OK)
        return ga__typer_fail_here(t);
    const int k = ga__graph_find(t->graph, key, t->ast_node->at, &is_new);
    if (k == FAILED || !is_new)
        return k;
    ga__node *node = &t->graph->nodes[k];
    node->dtype = dtype;
    node->ndim = ndim;
    if (ndim == 0)
        return k;
    node->shape = ga__malloc((size_t)ndim * sizeof(int64_t));
    if (!node->shape)
        return FAILED;
    memcpy(node->shape, shape, (size_t)ndim * sizeof(int64_t));
    return k;
}

/* ---- Weak numbers ---- */

static int add_weak(typer *t, const ga__node_key *key, ga_value number, bool varies)
{
    bool is_new;
    const int k = ga__graph_find(t->graph, key, t->ast_node->at, &is_new);
    if (k != FAILED) {
        ga__typer_node(t, k)->number = number;
        ga__typer_node(t, k)->varies = varies;
        ga__typer_node(t, k)->dtype = ga__weak_default(number);
    }
    return k;
}

static int add_constant(typer *t, ga_value number)
{
    ga__node_key key = {.kind = GA__NODE_CONSTANT, .dtype = number.dtype};
    memcpy(key.bits, &number.as, sizeof(key.bits));
    return add_weak(t, &key, number, false);
}

static int add_weak_operator(typer *t, int row, const int *operand, int inputs)
{
    ga__node_key key = {.kind = GA__NODE_WEAK_OPERATOR, .row = row};
    ga_value number;
    for (int k = 0; k < inputs; k++)
        key.operand[k] = operand[k];
    const ga__node *a = ga__typer_node(t, operand[0]), *b = ga__typer_node(t, operand[inputs - 1]);
    const char *problem = ga__weak_apply(row, a->number, b->number, &number);
    if (problem) {
        ga__eval_fail(t->ast->text, t->ast_node->at, GA_ERR_INVALID, "%s%s", problem,
                      ga__operator_hint(row));
        return FAILED;
    }
    const bool varies = a->varies || b->varies;
    return varies ? add_weak(t, &key, number, true) : add_constant(t, number);
}

/* A weak number as an operand of a kernel. */
static int add_number(typer *t, int weak, ga_dtype dtype, bool exponent)
{
    const ga__node_key key = {
        .kind = GA__NODE_NUMBER, .dtype = dtype, .operand = {weak}, .bits = {exponent}};
    return ga__typer_add_node(t, &key, dtype, 0, NULL);
}

int ga__typer_number(typer *t, ga_value number, ga_dtype dtype)
{
    const int weak = add_constant(t, number);
    return weak == FAILED ? FAILED : add_number(t, weak, dtype, false);
}

/* ---- Conversions ---- */

int ga__typer_convert(typer *t, int k, ga_dtype dtype)
{
    const ga__node *node = ga__typer_node(t, k);
    if (ga__node_is_weak(node))
        return add_number(t, k, dtype, false);
    if (node->dtype == dtype)
        return k;
    const ga__node_key key = {.kind = GA__NODE_CAST, .dtype = dtype, .operand = {k}};
    return ga__typer_add_node(t, &key, dtype, node->ndim, node->shape);
}

/* int8(300) is an error, as ga_scalar(GA_INT8, 300) is. */
static int cast(typer *t, int k, ga_dtype dtype)
{
    const ga__node *node = ga__typer_node(t, k);
    if (ga__node_is_weak(node) &&
        ga__check_number(ga_dtype_name(dtype), node->number, dtype) != GA_OK)
        return ga__typer_fail_here(t);
    return ga__typer_convert(t, k, dtype);
}

/* ---- Elementwise functions ---- */

int ga__typer_broadcast(const typer *t, int inputs, const int *operand, int64_t *shape)
{
    int ndim = 0;
    for (int k = 0; k < inputs; k++) {
        const ga__node *x = ga__typer_node(t, operand[k]);
        const int before_ndim = ndim;
        int64_t before[GA_MAX_NDIM];
        char what[256];
        memcpy(before, shape, sizeof(int64_t) * (size_t)ndim);
        if (ga__broadcast_shape(&ndim, shape, x->ndim, x->shape))
            continue;
        snprintf(what, sizeof(what), "shapes %s and %s %s", ga__shape_text(before_ndim, before),
                 ga__shape_text(x->ndim, x->shape),
                 ga__broadcast_problem(before_ndim, before, x->ndim, x->shape));
        return ga__typer_fail(t, GA_ERR_SHAPE, what);
    }
    return ndim;
}

static bool divides_by_zero(const typer *t, int row, int divisor)
{
    const ga__node *b = ga__typer_node(t, divisor);
    const bool divides = row == GA__ROW_divide || row == GA__ROW_floor_divide ||
                         row == GA__ROW_remainder || row == GA__ROW_fmod;
    return divides && ga__node_is_weak(b) && !b->varies && ga__weak_is_zero(b->number);
}

/* Returns 2, 3 or 4 if the exponent is that constant: such powers are computed as products.
 * Otherwise 0. */
static int small_exponent(const typer *t, int row, int exponent, ga_dtype loop)
{
    const ga__node *b = ga__typer_node(t, exponent);
    if (row != GA__ROW_power || b->key.kind != GA__NODE_CONSTANT)
        return 0;
    if (ga__dtype_kind(b->number.dtype) == 'c')
        return 0;
    const double power = ga__number_double(b->number);
    const int most = ga__dtype_kind(loop) == 'c' ? 2 : 4;
    return power >= 2 && power <= most && power == floor(power) ? (int)power : 0;
}

/* Notes that a comparison used the number unconverted because it does not fit the others' dtype. */
static void note_value_typed(typer *t, int k, ga_dtype loop, ga_dtype common)
{
    const ga__node *node = ga__typer_node(t, k);
    if (ga__node_is_weak(node) && node->varies && loop != common &&
        !ga__number_fits(node->number, common))
        t->graph->value_typed = true;
}

/* A bound of clip() that bounds nothing becomes another constant. Whether it does depends on a
 * number argument's value, also where it fits the dtype of the result. */
static int clip_bound(typer *t, const ga__operand_type *types, int weak, bool upper)
{
    const ga__node *node = ga__typer_node(t, weak);
    const ga_value number = ga__clip_bound(types, upper);
    const bool same = memcmp(&number, &node->number, sizeof number) == 0;
    const ga__operand_type *other = &types[upper ? 1 : 2];
    if (!ga__node_is_weak(node))
        return weak;
    t->graph->value_typed |=
        node->varies && (!same || (!other->weak && other->dtype != types[0].dtype));
    return same ? weak : add_constant(t, number);
}

static int take_bounds(typer *t, ga__operand_type *types, int *operand)
{
    const int bounds[] = {clip_bound(t, types, operand[1], false),
                          clip_bound(t, types, operand[2], true)};
    for (int k = 1; k <= 2; k++) {
        operand[k] = bounds[k - 1];
        if (operand[k] == FAILED)
            return FAILED;
        if (types[k].weak) {
            types[k].number = ga__typer_node(t, operand[k])->number;
            types[k].dtype = types[k].number.dtype;
        }
    }
    return 0;
}

int ga__typer_apply(typer *t, int row_id, const int *given)
{
    const ga__row *row = &ga__rows[row_id];
    ga__operand_type types[GA__MAX_INPUTS] = {{.dtype = GA_NO_DTYPE}};
    ga_dtype loop[GA__MAX_INPUTS], common;
    int operand[GA__MAX_INPUTS];
    int64_t shape[GA_MAX_NDIM];
    ga__node_key key = {.kind = GA__NODE_APPLY, .row = row_id};
    memcpy(operand, given, (size_t)row->inputs * sizeof *operand);
    if (row->inputs == 2 && divides_by_zero(t, row_id, operand[1]))
        return ga__typer_fail(t, GA_ERR_INVALID, "division by the integer 0");
    for (int k = 0; k < row->inputs; k++) {
        const ga__node *x = ga__typer_node(t, operand[k]);
        const bool weak = ga__node_is_weak(x);
        types[k] = (ga__operand_type){weak ? x->number.dtype : x->dtype, weak, x->number};
    }
    if (row_id == GA__ROW_clip && take_bounds(t, types, operand) == FAILED)
        return FAILED;
    const int ndim = ga__typer_broadcast(t, row->inputs, operand, shape);
    if (ndim == FAILED)
        return FAILED;
    if (ga__resolve(row->formula.name, row->kinds, row->rule, row->inputs, types, loop, &common) !=
        GA_OK)
        return fail_hinting(t, ga__operator_hint(row_id));
    const int exponent = row->inputs == 2 ? small_exponent(t, row_id, operand[1], common) : 0;
    for (int k = 0; k < (exponent ? 1 : row->inputs); k++) {
        note_value_typed(t, operand[k], loop[k], common);
        const bool power = k == 1 && row->rule == GA__RULE_POWER;
        key.operand[k] = power && ga__node_is_weak(ga__typer_node(t, operand[k]))
                             ? add_number(t, operand[k], loop[k], true)
                             : ga__typer_convert(t, operand[k], loop[k]);
        if (key.operand[k] == FAILED)
            return FAILED;
    }
    key.bits[0] = (uint64_t)exponent;
    const ga_dtype dtype = ga__result_dtype(row->result, common);
    key.dtype = dtype;
    return ga__typer_add_node(t, &key, dtype, ndim, shape);
}

static int apply_operator(typer *t, int row, const int *operand)
{
    const int inputs = ga__rows[row].inputs;
    for (int k = 0; k < inputs; k++)
        if (!ga__node_is_weak(ga__typer_node(t, operand[k])))
            return ga__typer_apply(t, row, operand);
    return add_weak_operator(t, row, operand, inputs);
}

/* ---- Views ---- */

static int view(typer *t, int operand)
{
    const ga__ast_node *ast_node = t->ast_node;
    const ga__node *x = ga__typer_node(t, operand);
    ga__node_key key = {.kind = GA__NODE_VIEW, .row = ast_node->row, .operand = {operand}};
    ga__slice slice;
    if (ga__node_is_weak(x))
        return ga__typer_fail(t, GA_ERR_INVALID, "a number has no elements and no axes");
    slice.ndim = x->ndim;
    for (int axis = 0; axis < x->ndim; axis++)
        slice.shape[axis] = x->shape[key.row == GA__VIEW_TRANSPOSE ? x->ndim - 1 - axis : axis];
    if (key.row == GA__VIEW_SLICE) {
        static const int64_t no_strides[GA_MAX_NDIM];
        key.bits[0] = (uint64_t)ast_node->first_part;
        key.bits[1] = (uint64_t)ast_node->nparts;
        if (ga__slice_make("slice", x->ndim, x->shape, no_strides, ast_node->nparts,
                           t->graph->parts + ast_node->first_part, &slice) != GA_OK)
            return ga__typer_fail_here(t);
    }
    if (key.row == GA__VIEW_RAVEL && x->ndim == 1)
        return operand;
    if (key.row == GA__VIEW_RAVEL) {
        slice.shape[0] = ga__shape_size(x->ndim, x->shape);
        slice.ndim = 1;
    }
    t->graph->nviews++;
    const bool takes_part = key.row == GA__VIEW_REAL || key.row == GA__VIEW_IMAG;
    key.dtype = takes_part ? ga__dtype_real(x->dtype) : x->dtype;
    return ga__typer_add_node(t, &key, (ga_dtype)key.dtype, slice.ndim, slice.shape);
}

/* ---- Names ---- */

static int add_argument(typer *t, int k)
{
    const ga_value value = t->args[k].value;
    ga__node_key key = {.kind = GA__NODE_ARRAY, .row = k};
    if (value.kind == GA_VALUE_ARRAY)
        return ga__typer_add_node(t, &key, value.as.array->dtype, value.as.array->ndim,
                                  value.as.array->shape);
    if (value.kind == GA_VALUE_SOURCE)
        return ga__typer_add_node(t, &key, value.as.source->dtype, value.as.source->ndim,
                                  value.as.source->shape);
    key.kind = GA__NODE_WEAK_ARGUMENT;
    return add_weak(t, &key, value, true);
}

static int find_name(typer *t)
{
    const char *name = t->ast->text + t->ast_node->at;
    const size_t length = t->ast_node->length;
    ga_value constant;
    char what[192];
    for (int k = 0; k < t->count; k++)
        if (strncmp(t->args[k].name, name, length) == 0 && t->args[k].name[length] == 0)
            return add_argument(t, k);
    if (ga__constant_named(name, length, &constant))
        return add_constant(t, constant);
    ga__unknown_name(t->ast, t->count, t->args, length, name, what, sizeof(what));
    return ga__typer_fail(t, GA_ERR_INVALID, what);
}

/* ---- The whole expression ---- */

/* A function of single elements. */
static int type_function(typer *t, const int *operand)
{
    const ga__ast_node *ast_node = t->ast_node;
    switch (ast_node->kind) {
    case GA__AST_OPERATOR: return apply_operator(t, ast_node->row, operand);
    case GA__AST_CAST: return cast(t, operand[0], (ga_dtype)ast_node->row);
    case GA__AST_ROUND: return ga__typer_round(t, operand[0]);
    default: return ga__typer_apply(t, ast_node->row, operand);
    }
}

/* The same of selections: the selection from its results. */
static int type_elementwise(typer *t, int *operand)
{
    const ga__ast_node *ast_node = t->ast_node;
    const bool rows = ast_node->kind == GA__AST_OPERATOR || ast_node->kind == GA__AST_CALL;
    const int inputs = rows ? ga__rows[ast_node->row].inputs : 1;
    int selection;
    if (!ga__typer_enter_selection(t, inputs, operand, &selection))
        return FAILED;
    const int result = type_function(t, operand);
    return selection == FAILED || result == FAILED
               ? result
               : ga__typer_leave_selection(t, selection, result);
}

static int type_node(typer *t, const int *node)
{
    const ga__ast_node *ast_node = t->ast_node;
    int operand[GA__AST_OPERANDS];
    for (int k = 0; k < GA__AST_OPERANDS; k++)
        operand[k] = node[ast_node->operand[k]];
    switch (ast_node->kind) {
    case GA__AST_NUMBER: return add_constant(t, ast_node->number);
    case GA__AST_NAME: return find_name(t);
    case GA__AST_OPERATOR:
    case GA__AST_CALL:
    case GA__AST_CAST:
    case GA__AST_ROUND: return type_elementwise(t, operand);
    case GA__AST_REDUCTION: return ga__typer_reduce(t, operand);
    case GA__AST_VIEW: return view(t, operand[0]);
    case GA__AST_GATHER: return ga__typer_gather(t, operand);
    case GA__AST_PRODUCT: return ga__typer_multiply(t, operand);
    }
    return FAILED;
}

static bool copy_parts(ga__graph *graph, const ga__ast *ast)
{
    const size_t n = (size_t)ast->nparts;
    graph->parts = ga__malloc((n + 1 + GA_MAX_NDIM) * sizeof(*graph->parts));
    if (!graph->parts)
        return false;
    if (n > 0)
        memcpy(graph->parts, ast->parts, n * sizeof(*graph->parts));
    for (int k = 0; k <= GA_MAX_NDIM; k++)
        graph->parts[n + (size_t)k] = k == 0 ? GA_ELLIPSIS : GA_NEWAXIS;
    return true;
}

/* The length of values after a selection depends on the data. */
static int check_selection(typer *t, int root)
{
    ga__ast_node place = *t->ast_node;
    t->ast_node = &place;
    for (int k = 0; k < t->graph->nnodes && t->graph->selects; k++) {
        const ga__node *node = ga__typer_node(t, k);
        for (int i = 0; i < ga__node_inputs(node); i++)
            if (ga__typer_node(t, node->key.operand[i])->key.kind == GA__NODE_SELECT) {
                place.at = node->at;
                return ga__typer_fail_selection(t);
            }
    }
    t->graph->selects = ga__typer_node(t, root)->key.kind == GA__NODE_SELECT;
    return root;
}

/* Types all nodes, also of names that nothing uses; returns the root's value. */
static int type_nodes(typer *t, int *node)
{
    for (int k = 0; k < t->ast->nnodes; k++) {
        t->ast_node = &t->ast->nodes[k];
        node[k] = type_node(t, node);
        if (node[k] == FAILED)
            return FAILED;
    }
    return check_selection(t, node[t->ast->root]);
}

ga_status ga__graph_make(ga__graph *graph, const ga__ast *ast, int count, const ga_named *args)
{
    const bool had_error = ga__attempt_begin(); /* the error is reported once it has its place */
    typer t = {.graph = graph, .ast = ast, .count = count, .args = args, .had_error = had_error};
    *graph = (ga__graph){.root = FAILED, .fast_math = ast->fast_math};
    int *node = ga__calloc((size_t)ast->nnodes, sizeof(*node));
    if (node && copy_parts(graph, ast))
        graph->root = type_nodes(&t, node);
    ga__free(node);
    ga__attempt_end(had_error);
    if (graph->root != FAILED)
        return GA_OK;
    ga__graph_reset(graph);
    return ga_error();
}
