/* Turns a parsed expression and its arguments into a graph of typed, shaped, distinct values. */
#ifndef GA_EXPR_TYPE_H
#define GA_EXPR_TYPE_H

#include <quarry/eval.h>

#include "expr/named.h"

typedef enum ga__node_kind {
    /* Weak numbers, which the host computes. */
    GA__NODE_CONSTANT,
    GA__NODE_WEAK_ARGUMENT,
    GA__NODE_WEAK_OPERATOR,
    /* Values that kernels compute. */
    GA__NODE_NUMBER, /* operand[0], a weak node, converted to this dtype */
    GA__NODE_ARRAY,
    GA__NODE_APPLY,
    GA__NODE_CAST,
    GA__NODE_REDUCE,  /* a reduction or a scan */
    GA__NODE_VIEW,    /* of an array, of a view, or of a value that a kernel stores */
    GA__NODE_GATHER,  /* operand[0], which is in memory as that of a view, at the indices of the
                       * other operands */
    GA__NODE_PRODUCT, /* a @ b, of two such values; it is one itself */
    GA__NODE_SELECT /* the elements of operand[0] where operand[1], of its first axes, is true: the
                     * root. Its shape here is the longest that it may have */
} ga__node_kind;

/* Identifies a value; unused members are 0. */
typedef struct ga__node_key {
    int32_t kind;
    int32_t row; /* a ga__row_id; of ARRAY and WEAK_ARGUMENT the argument's index; of VIEW a
                  * ga__view_kind */
    int32_t dtype;
    int32_t operand[GA__AST_OPERANDS]; /* earlier nodes */
    uint32_t axes;    /* REDUCE: a bit for each reduced axis; of a scan, for its axis: 0 if it is
                       * over all elements in C order; GATHER: a bit for each indexed axis */
    int32_t keepdims; /* REDUCE; GATHER: the indices have the other axes, too */
    uint64_t bits[2]; /* CONSTANT: the number; NUMBER: 1 of an exponent; REDUCE: ddof, and 1 if
                       * no elements are no error; APPLY: a
                       * small constant exponent, and of round the decimals, if there are some;
                       * VIEW: the first of its parts, and their number; GATHER: where the axes of
                       * the indices begin in the result, and their number; SELECT: the axes behind
                       * those of operand[1] */
} ga__node_key;

typedef struct ga__node {
    ga__node_key key;
    ga_dtype dtype;
    bool varies;     /* weak: depends on an argument */
    ga_value number; /* weak: its value in this call */
    int ndim;
    int64_t *shape;       /* in this call */
    ga_dtype loop;        /* REDUCE: the dtype of the computation */
    bool of_exponentials; /* REDUCE: the sum of exp(x - max(x)), of the operand x */
    int slot;             /* weak, varies: its index among such numbers */
    size_t at;            /* in the text: its first occurrence */
} ga__node;

typedef struct ga__graph {
    int nnodes, capacity;
    ga__node *nodes; /* operands come first */
    int root;
    int nviews, ngathers;
    bool selects;    /* the root is a SELECT */
    ga_range *parts; /* of the slices; a copy of the ast's, then "...", None, None, ... */
    int nslots;      /* of the hash table that finds equal nodes */
    int32_t *slots;
    bool fast_math;   /* from the ast */
    bool small;       /* CUDA: floats of 16 bits take what suffices for them, as in fused rows */
    bool value_typed; /* a dtype depends on the value of a number argument */
} ga__graph;

/* Types the expression, whose arguments are checked already (see eval.c). Errors show the place.
 * After a failure there is nothing to free. */
ga_status ga__graph_make(ga__graph *graph, const ga__ast *ast, int count, const ga_named *args);
void ga__graph_reset(ga__graph *graph);

/* Finds or makes the node of this key, first met at this place in the text. *is_new: its other
 * members are not set yet. -1 when memory is out. */
int ga__graph_find(ga__graph *graph, const ga__node_key *key, size_t at, bool *is_new);

/* The operands of a node that are values. */
int ga__node_inputs(const ga__node *node);

/* The value that a VIEW is part of, through all views between them; other nodes themselves. */
static inline int ga__viewed_node(const ga__graph *graph, int k)
{
    while (graph->nodes[k].key.kind == GA__NODE_VIEW)
        k = graph->nodes[k].key.operand[0];
    return k;
}

/* Whether the value is made of others that lie in memory. */
static inline bool ga__node_reads_memory(const ga__node *node)
{
    return node->key.kind == GA__NODE_VIEW || node->key.kind == GA__NODE_PRODUCT;
}

static inline bool ga__node_is_weak(const ga__node *node)
{
    return node->key.kind <= GA__NODE_WEAK_OPERATOR;
}

#endif
