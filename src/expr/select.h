/* Runs the step of a selection: what an expression chooses, without an array of truths. */
#ifndef GA_EXPR_SELECT_H
#define GA_EXPR_SELECT_H

#include "expr/run.h"

/* The chosen elements as a new array; waits for their number. NULL on failure. */
gpuarray *ga__select_run(const ga__step *step, const ga__plan *plan, ga__device *device,
                         const ga__binding *b);

#endif
