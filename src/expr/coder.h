/* Writes statements for the values of a graph: for the steps of a plan, and for fused rows. */
#ifndef GA_EXPR_CODER_H
#define GA_EXPR_CODER_H

#include "base/strbuf.h"
#include "expr/plan.h"

typedef struct ga__coder {
    ga__step *step; /* whose inputs grow with the texts */
    const ga__graph *graph;
    const int *value_of;
    const ga__fusion_group *group;
    bool literal_numbers; /* writes constants as literals, if there are too many operands */
    bool *needed;
    char (*name)[8];   /* of each node in the current text; "" if it has none */
    char (*held)[8];   /* NULL, or the names that nodes have before the current text; names are then
                        * distinct over all texts */
    const bool *pairs; /* NULL, or which values CUDA may compute two at a time: floats of 16 bits,
                        * made by functions that have such a form */
    ga_dtype pairs_dtype; /* of a map whose values CUDA may compute two at a time; GA_NO_DTYPE */
    bool either;          /* values may be single elements or pairs: their types are not written */
    int arrays, numbers;
    int statements, literals; /* in the current text */
    int stored;               /* the node that the text stores, which rounds it; -1 if none */
    ga__strbuf text;
} ga__coder;

/* The name of a row value's ga::divisor; %s is the value's name. */
#define GA__DIVISOR_NAME "by_%s"

/* Begins a text with a scope of its own, in which only the inputs so far and what is held have
 * names. */
void ga__coder_start(ga__coder *c, int stored);

/* Marks the nodes between `node` and what has a name before the text. */
void ga__coder_mark(ga__coder *c, int node);

/* Whether a node is an operand: an array or a number. */
bool ga__coder_is_leaf(const ga__coder *c, int k);

/* Makes the operand an input, under a name, or writes the number. */
void ga__coder_add_leaf(ga__coder *c, int k);

/* Writes const TYPE tK = the element of a source at an index. More operands than a kernel has stand
 * for more such elements. */
void ga__coder_add_gather(ga__coder *c, int k);

/* Writes a constant in C++ from its value in the dtype; never copies the user's text. */
void ga__coder_add_literal(ga__coder *c, ga_dtype dtype, ga_value number);

/* Writes the texts of a selection, the node of the step's group. */
ga_status ga__coder_select(ga__coder *c);

/* Adds the statements of all marked nodes. */
void ga__coder_add_statements(ga__coder *c);

/* Defines a name for the finished result of reduction k, rounded as if it were stored. */
void ga__coder_add_result(ga__coder *c, int k, const char *finished);

static inline const ga__node *ga__coder_node(const ga__coder *c, int k)
{
    return &c->graph->nodes[k];
}

/* Whether operand j is an element of float16, not a number, which may have more bits. */
bool ga__coder_is_half(const ga__coder *c, const ga__node *node, int j);

/* A form of the expression for pairs too; and a cheaper one, if the graph is `small`, whose result
 * has the bits of a small float. NULL if there is none. */
const char *ga__coder_paired_form(const ga__coder *c, const ga__node *node);
const char *ga__coder_small_form(const ga__coder *c, const ga__node *node);

/* The dtype, if all marked values are floats of 16 bits of that dtype, which CUDA may compute two
 * at a time, and some are computed; otherwise GA_NO_DTYPE. */
ga_dtype ga__coder_pairs(const ga__coder *c, ga_dtype dtype);

/* The C++ of an APPLY or CAST node over a, b and c. */
const char *ga__expression_of(const ga__node *node);

/* Names the step's kernel after its results: a C identifier that depends on the values only, so
 * that equal formulas have one kernel whatever their variables are called. */
void ga__name_step(ga__step *step, const ga__graph *graph, const char *start);

/* Puts the largest arrays first: the reduction engine lays out its threads along the first one. */
void ga__sort_inputs(ga__step *step, const ga__graph *graph);

/* Whether a quotient of this dtype by a value of the row takes the value's divisor. */
static inline bool ga__dtype_has_divisors(ga_dtype dtype)
{
    const ga_dtype type = ga__dtype_compute(dtype);
    return type == GA_FLOAT32 || type == GA_FLOAT64;
}

static inline bool ga__node_divides(const ga__node *node)
{
    return node->key.kind == GA__NODE_APPLY && node->key.row == GA__ROW_divide &&
           !node->key.bits[0];
}

#endif
