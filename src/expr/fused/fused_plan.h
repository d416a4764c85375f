/* Finds the passes of fused rows: of an expression whose reductions run over the last axes of one
 * shape. */
#ifndef GA_EXPR_FUSED_PLAN_H
#define GA_EXPR_FUSED_PLAN_H

#include "expr/plan.h"

/* Makes *rows if the graph has the form, otherwise NULL. GA_ERR_MEMORY. */
ga_status ga__fuse_rows(const ga__graph *graph, ga__fused **rows);

#endif
