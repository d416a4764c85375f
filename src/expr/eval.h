/* Shared by ga_eval() and ga_explain(): checks arguments, and makes plans for them. */
#ifndef GA_EXPR_EVAL_H
#define GA_EXPR_EVAL_H

#include "expr/plan.h"

/* Raises unless the names are distinct identifiers, and the values are numbers, arrays of one
 * device and, if allowed, sources. *device is the arrays' device, or the current one without
 * arrays. */
ga_status ga__eval_check(int count, const ga_named *args, bool takes_sources, ga__device **device);

/* Makes a plan of the text for these arguments. `ast` is the parsed text, or NULL to parse it here.
 * For `most_parts` see ga__plan_new(); with more than one, rows are fused where they can be. */
ga__plan *ga__eval_plan(const char *text, const ga__ast *ast, int count, const ga_named *args,
                        int most_parts);

#endif
