/* What can follow a product in its own step: a bias, and the maximum with 0. */
#ifndef GA_EXPR_CODE_EPILOGUE_H
#define GA_EXPR_CODE_EPILOGUE_H

#include "expr/type.h"

typedef struct ga__epilogue {
    int product, bias; /* nodes; bias is -1 if there is none */
    bool relu;
} ga__epilogue;

/* Whether the node is a @ b + bias, or its maximum with 0, or that of a @ b. The bias is 1-D, and
 * every value has the product's dtype. Sums of 16-bit floats and fewer round before a bias, so it
 * is not theirs unless the expression is a fast one. */
bool ga__epilogue_read(const ga__graph *graph, int node, ga__epilogue *epilogue);

/* The products that need no step of their own are no longer `stored`: a node that is stored, or the
 * root, computes them, and nothing else uses them. */
void ga__epilogue_merge(const ga__graph *graph, const bool *used, bool *stored);

#endif
