/* Sums of exponentials that need no pass of their own behind that of the maximum. */
#ifndef GA_EXPR_EXPONENTIALS_H
#define GA_EXPR_EXPONENTIALS_H

#include "expr/type.h"

/* Marks each sum(exp(x - max(x))) of floats over the same axes, and makes x its operand: one pass
 * over x then computes the sum beside the maximum, as in Milakov and Gimelshein, "Online normalizer
 * calculation for softmax" (2018). Small floats keep their passes, which round between them. False
 * if there are none. */
bool ga__merge_exponentials(ga__graph *graph);

/* What the REDUCE node computes, and its name. */
const ga__part_formula *ga__node_part(const ga__node *node);
const char *ga__node_reduction(const ga__node *node);

#endif
