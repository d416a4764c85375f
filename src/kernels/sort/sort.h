/* The sorting engine: stable sorts of the rows of a contiguous array. */
#ifndef GA_KERNELS_SORT_SORT_H
#define GA_KERNELS_SORT_SORT_H

#include "kernels/sort/sort_call.h"

/* Sorts in NumPy's order. Elements that compare equal keep their order, and all keep their bits.
 * The array has at least one element. */
ga_status ga__sort(const ga__sort_call *call);

/* Whether this sort would be passes over digits, which alone skip bytes. */
bool ga__sort_skips(const ga__sort_call *call);

#endif
