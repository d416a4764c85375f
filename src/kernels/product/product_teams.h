/* Plans stacks of little products on CUDA. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_TEAMS_H
#define GA_KERNELS_PRODUCT_PRODUCT_TEAMS_H

#include "kernels/product/product_tiles.h"

/* Whether a team of threads can compute each product of the stack. */
bool ga__product_is_for_teams(const ga__product_plan *p);

/* Chooses between threads and tensor cores, and plans the launch. */
void ga__product_plan_teams(ga__product_plan *p);

#endif
