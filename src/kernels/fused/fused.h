/* The engine of fused rows: one kernel for all passes over each row. */
#ifndef GA_KERNELS_FUSED_H
#define GA_KERNELS_FUSED_H

#include "kernels/fused/fused_plan.h"

/* Runs a plan. Its result has an array by now. */
ga_status ga__fused_run(const ga__fused_plan *plan);

#endif
