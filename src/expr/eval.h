/* Shared by ga_eval() and ga_explain(): makes plans. */
#ifndef GA_EXPR_EVAL_H
#define GA_EXPR_EVAL_H

#include "expr/plan.h"

/* Makes a plan of the text for these arguments and this kind of device. `ast` is the parsed text,
 * or NULL to parse it here. For `most_parts` see ga__plan_new(); with more than one, rows are fused
 * where they can be. */
ga__plan *ga__eval_plan(const char *text, const ga__ast *ast, const ga__device *device, int count,
                        const ga_named *args, int most_parts);

#endif
