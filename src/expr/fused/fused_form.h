/* What the planner of fused rows finds out about an expression. */
#ifndef GA_EXPR_FUSED_FORM_H
#define GA_EXPR_FUSED_FORM_H

#include "expr/coder.h"

/* The unit for which there is one value: nothing yet, a row (with the reduced axes of length 1, or
 * without them), or an element. */
typedef enum ga__span {
    GA__SPAN_NUMBER,
    GA__SPAN_ROW,
    GA__SPAN_SHORT_ROW,
    GA__SPAN_ELEMENT
} ga__span;

typedef struct ga__finder {
    const ga__graph *graph;
    ga__fused *fused;
    bool *used;       /* by the root */
    bool *costs;      /* an element that takes long to compute again */
    bool *pairs;      /* a value that CUDA may compute of two elements at once */
    ga__span *extent; /* of each node */
    int *level;       /* reductions in the longest chain that leads to a node */
    int *pass;        /* the first pass that computes an element's value, from 1 on; 0: none yet */
    int *kept;        /* the index of a kept value, or -1 */
    int ndim;         /* of the shape over which all reductions run */
    ga__coder coder;
} ga__finder;

static inline const ga__node *ga__finder_node(const ga__finder *f, int k)
{
    return &f->graph->nodes[k];
}

static inline bool ga__finder_reduces(const ga__finder *f, int k)
{
    return ga__finder_node(f, k)->key.kind == GA__NODE_REDUCE;
}

/* Finds the form and divides the reductions into stages; false if the expression has another. */
bool ga__fused_find_form(ga__finder *f);

/* The part of stage s that finds what reduction k does, whatever their shapes; the number of parts
 * if there is none. */
int ga__fused_part_of(const ga__finder *f, int s, int k);

#endif
