/* What ga_eval() and ga_explain() share: checked arguments and plans made for them. */
#ifndef GA_EXPR_EVAL_H
#define GA_EXPR_EVAL_H

#include "expr/plan.h"

/* Raises unless the names are distinct identifiers and the values numbers, arrays of one device
 * and, where they are taken, sources; *device is that device, or the current one without arrays. */
ga_status ga__eval_check(int count, const ga_named *args, bool takes_sources, ga__device **device);

/* A plan of the text (parsed already when `ast` is not NULL) for these arguments; ga__plan_new()
 * says what `most_parts` is. */
ga__plan *ga__eval_plan(const char *text, const ga__ast *ast, int count, const ga_named *args,
                        int most_parts);

#endif
