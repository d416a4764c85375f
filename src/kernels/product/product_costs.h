/* What little products cost on CUDA. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_COSTS_H
#define GA_KERNELS_PRODUCT_PRODUCT_COSTS_H

#include "kernels/product/product_tiles.h"

/* What a product costs by planned teams, in cycles of a multiprocessor. */
double ga__product_cost_of_teams(const ga__product_plan *teams);

/* Whether planned teams compute a stack faster than the device's library. */
bool ga__product_teams_are_faster(const ga__product_plan *teams);

#endif
