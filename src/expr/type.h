/* From a parsed expression and its arguments to a graph of typed, shaped, distinct values. */
#ifndef GA_EXPR_TYPE_H
#define GA_EXPR_TYPE_H

#include <quarry/eval.h>

#include "expr/parse.h"

typedef enum ga__node_kind {
    /* Weak numbers, computed by the host. */
    GA__NODE_CONSTANT,
    GA__NODE_WEAK_ARGUMENT,
    GA__NODE_WEAK_OPERATOR,
    /* Values of kernels. */
    GA__NODE_NUMBER, /* operand[0], a weak node, as this dtype */
    GA__NODE_ARRAY,
    GA__NODE_APPLY,
    GA__NODE_CAST,
    GA__NODE_REDUCE
} ga__node_kind;

/* All that tells one value from another; unused members are 0. */
typedef struct ga__node_key {
    int32_t kind;
    int32_t row; /* a ga__row_id; ARRAY, WEAK_ARGUMENT: the argument's number */
    int32_t dtype;
    int32_t operand[3]; /* earlier nodes */
    uint32_t axes;      /* REDUCE: a bit for each reduced axis */
    int32_t keepdims;
    uint64_t bits[2]; /* CONSTANT: the number; REDUCE: ddof; APPLY: a small constant exponent */
} ga__node_key;

typedef struct ga__node {
    ga__node_key key;
    ga_dtype dtype;
    bool varies;     /* weak: depends on an argument */
    ga_value number; /* weak: its value now */
    int ndim;
    int64_t *shape; /* of this call */
    ga_dtype loop;  /* REDUCE: the dtype computed in */
    int slot;       /* weak, varies: its place among such numbers */
    size_t at;      /* in the text: where it is first met */
} ga__node;

typedef struct ga__graph {
    int nnodes, capacity;
    ga__node *nodes; /* operands come first */
    int root;
    int nslots; /* of the table that finds equal nodes */
    int32_t *slots;
    bool fast_math;   /* the ast's */
    bool value_typed; /* a dtype depends on the value of a number that is an argument */
} ga__graph;

#define GA__MAX_EVAL_ARGS 64

/* Types the expression. The arguments are checked already (see eval.c). Errors show the place.
 * Nothing is to be freed after a failure. */
ga_status ga__graph_make(ga__graph *graph, const ga__ast *ast, int count, const ga_named *args);
void ga__graph_reset(ga__graph *graph);

static inline bool ga__node_is_weak(const ga__node *node)
{
    return node->key.kind <= GA__NODE_WEAK_OPERATOR;
}

/* Whether a number is one of the dtype's values, as promotion asks of weak integers. */
bool ga__number_fits(ga_value number, ga_dtype dtype);

#endif
