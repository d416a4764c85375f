/* The engine of selection: elements of given ranks in the rows of an array, without a sort. */
#ifndef GA_KERNELS_RANK_RANK_H
#define GA_KERNELS_RANK_RANK_H

#include "kernels/rank/ranking.h"

/* Fills values and indices. */
ga_status ga__rank(const ga__ranking *ranking);

#endif
