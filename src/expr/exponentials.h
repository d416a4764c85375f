/* Sums of exponentials that need no pass of their own behind that of the maximum. */
#ifndef GA_EXPR_EXPONENTIALS_H
#define GA_EXPR_EXPONENTIALS_H

#include "expr/plan.h"

/* Marks each sum(exp(x - max(x))) of floats over the same axes, and makes x its operand: one pass
 * over x then computes the sum beside the maximum, as in Milakov and Gimelshein, "Online normalizer
 * calculation for softmax" (2018). Exponentials of 16-bit floats are then added without being
 * rounded first. False if there are none. */
bool ga__merge_exponentials(ga__graph *graph);

/* What the REDUCE node computes, and its name. */
const ga__part_formula *ga__node_part(const ga__node *node);
const char *ga__node_reduction(const ga__node *node);

/* The part of a kernel that accumulates reduction p of the group. A sum of exponentials has the
 * maximum too. */
int ga__kernel_part(const ga__graph *graph, const ga__fusion_group *group, int p);

/* Whether another reduction of the group accumulates reduction p. */
bool ga__is_accumulated(const ga__graph *graph, const ga__fusion_group *group, int p);

enum { GA__FINISHED_SIZE = 32 };

/* Writes the C++ of the result of reduction p, of the accumulators `a`. */
void ga__write_finished(char text[GA__FINISHED_SIZE], const ga__graph *graph,
                        const ga__fusion_group *group, int p);

#endif
