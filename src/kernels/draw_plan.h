/* How a draw runs: the shares of its numbers, and the variant of the kernel that suits them. */
#ifndef GA_KERNELS_DRAW_PLAN_H
#define GA_KERNELS_DRAW_PLAN_H

#include "kernels/draw_text.h"
#include "kernels/request.h"

/* One launch, for `count` elements of the array from `data` on. A share is the elements that a
 * thread block makes at a time (on the host a tile); the array begins `before` elements into the
 * first share. */
typedef struct ga__draw_plan {
    const ga__draw *draw;
    ga__device *device;
    const gpuarray *out;
    char *data;
    int64_t count;
    int rows; /* numbers of a block of the generator */
    ga__draw_variant v;
    int64_t share, before, shares, tiles_per_block, grid;
} ga__draw_plan;

/* Fills the rest of *p, from the draw, its elements and rows, for elements from `position` of the
 * generator on. */
void ga__draw_plan_make(ga__draw_plan *p, uint64_t position);

/* The shares that the array fills. */
int64_t ga__draw_plan_whole(const ga__draw_plan *p);

#endif
