/* Splits kernels that need too many operands. */
#ifndef GA_EXPR_SPLIT_H
#define GA_EXPR_SPLIT_H

#include "expr/type.h"
#include "kernels/operand.h"

/* The engines support one operand less than a nest has room for, and the output is one of them. */
#define GA__MOST_INPUTS (GA__MAX_OPERANDS - 2)

/* Stores values, by node, until no kernel of the `used` nodes needs more operands than the engines
 * support. GA_ERR_MEMORY. */
ga_status ga__split_values(const ga__graph *graph, const bool *used, bool *stored);

#endif
