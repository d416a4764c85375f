/* The engine of fused rows: one kernel for all passes over each row. */
#ifndef GA_KERNELS_FUSED_H
#define GA_KERNELS_FUSED_H

#include "kernels/fused/fused_formula.h"

/* Whether one kernel over rows serves the call: the layouts, the length of rows and their number
 * decide. The result need not have an array yet. */
bool ga__fused_fits(const ga__fused_call *call);

/* Whether the elements of neighbouring rows of a call that fits lie side by side, instead of those
 * of a row. */
bool ga__fused_has_columns(const ga__fused_call *call);

/* Computes a call that fits. */
ga_status ga__fused_run(const ga__fused_call *call);

#endif
