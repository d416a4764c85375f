/* How a draw runs: the shares of its numbers, and the variant of the kernel that suits them. */
#ifndef GA_KERNELS_DRAW_PLAN_H
#define GA_KERNELS_DRAW_PLAN_H

#include "kernels/request.h"
#include "kernels/distribution.h"

#define GA__RANDOM_BLOCK 256
#define GA__RANDOM_COLUMN 128 /* blocks of the generator in a tile, 16 bytes each */
#define GA__RANDOM_RESIDENT 5 /* thread blocks that a multiprocessor is to have room for */

/* One launch, for `count` elements of the array from `data` on. A share is what a thread block
 * makes in one turn (on the host a tile); the elements begin `before` elements within the first
 * one. */
typedef struct ga__random_plan {
    const ga__draw *draw;
    ga__device *device;
    const gpuarray *out;
    char *data;
    int64_t count;
    int rows;  /* numbers of a block of the generator */
    int lanes; /* blocks that a thread makes */
    bool host, together, past_cache;
    int64_t share, before, shares, turns, grid;
    size_t number_word[GA__MAX_NUMBERS];
    ga__params words;
} ga__random_plan;

/* From the draw, its elements and rows in *p, all of the plan for elements from `position` of the
 * generator on but its words. */
void ga__random_plan_make(ga__random_plan *p, uint64_t position);

/* The shares that the array has all elements of. */
int64_t ga__random_plan_whole(const ga__random_plan *p);

#endif
