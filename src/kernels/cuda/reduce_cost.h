/* Estimates the time of a reduction over columns on CUDA for a way to divide them. */
#ifndef GA_KERNELS_CUDA_REDUCE_COST_H
#define GA_KERNELS_CUDA_REDUCE_COST_H

#include "kernels/reduce_plan.h"

/* A kernel's costs, in the time in which the bus delivers a byte to each thread: of a vector and of
 * an element in instructions, and of the start and the end of a block. */
typedef struct ga__column_costs {
    double vector, element, block;
    bool grouped; /* segments meet in groups */
} ga__column_costs;

/* A way to divide the columns. */
typedef struct ga__tiling {
    const ga__column_costs *costs;
    bool folded;
    int lanes, block, unroll;
    int across, down; /* threads */
    int width, fold;  /* columns of a tile; rows of a line, or after which rows begin alike */
    int apart;        /* from a thread's row to its next one */
    double bytes;     /* that memory delivers for an element */
    int waves;
    int64_t row_tiles, turns; /* turns: rows or lines that a row of threads takes in all */
    double cost;
} ga__tiling;

/* Whether operand k is read in vectors; the first such operand, or -1; whether every streamed
 * operand is a matrix whose rows follow each other. */
bool ga__reduce_in_vectors(const ga__reduce_plan *p, int k);
int ga__reduce_first_vector(const ga__reduce_plan *p);
bool ga__reduce_is_contiguous(const ga__reduce_plan *p);

/* The bytes that memory delivers for an element: it also delivers what surrounds the parts of rows
 * of a tile. `first` is an operand that is read in vectors; -1: none. */
double ga__reduce_delivered_bytes(const ga__reduce_plan *p, int first, const ga__tiling *t);

/* Undoes the choice of vectors that begin anywhere. */
void ga__reduce_forget_loose(ga__reduce_plan *p);

/* What the plan costs as it is, without ragged columns. */
double ga__reduce_columns_cost(const ga__reduce_plan *p);

/* Segments of a tile that are of use. */
int64_t ga__reduce_useful_segments(const ga__tiling *t);

/* The time of all blocks in `waves` waves: for the elements, for each block's start and end, and
 * for combining the segments' results. A wave ends when its slowest block does. */
double ga__reduce_cost(const ga__reduce_plan *p, const ga__tiling *t, int64_t tiles, int waves);

#endif
