/* Finds the passes of fused rows: of an expression whose reductions run over the last axes of one
 * shape. */
#ifndef GA_EXPR_FUSED_PLAN_H
#define GA_EXPR_FUSED_PLAN_H

#include "expr/plan.h"

/* Sets plan->fused if the plan's graph has the form. GA_ERR_MEMORY. */
ga_status ga__fuse_rows(ga__plan *plan);

#endif
