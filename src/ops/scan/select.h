/* Selection, for other operations. */
#ifndef GA_OPS_SCAN_SELECT_H
#define GA_OPS_SCAN_SELECT_H

#include "kernels/elementwise.h"

/* Runs statements over `to`, the index among the elements of the condition that are not 0, and `i`,
 * the index of each. The first operand is the condition, `c`. Where a thread takes elements in
 * order, one that is not chosen is stored too, unless no chosen one follows that replaces it: a
 * condition that is nearly always true costs less than a branch that is hard to predict. */
ga_status ga__for_chosen(const char *name, ga__hash128 id, const char *statements,
                         const gpuarray *condition, int noperands, const ga__operand *operands);

/* An array that the kernel indexes in C order, whatever its layout. */
ga__operand ga__chosen_operand(const char *name, const gpuarray *array, bool writes);

/* How many elements are not 0; waits for the number. -1 and an error on failure. */
int64_t ga__count_chosen(const char *name, const gpuarray *x);

#endif
