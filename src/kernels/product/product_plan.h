/* Plans how a product runs: the axes of its stack, and its tiles. */
#ifndef GA_KERNELS_PRODUCT_PRODUCT_PLAN_H
#define GA_KERNELS_PRODUCT_PRODUCT_PLAN_H

#include "kernels/product/product_tiles.h"

/* Reads the operands: shapes, strides and the stack. */
void ga__product_plan_read(ga__product_plan *p, const ga__product *call);

/* c = a b becomes c' = b' a' of the transposes, or the other way round. */
void ga__product_turn(ga__product_plan *p);

/* Whether the product is of one row, so that memory limits it and the reduction engine computes it:
 * each element of b is read once. */
bool ga__product_is_rows(const ga__product_plan *p);

/* Whether the product is of one column and one row, so that memory limits it and the elementwise
 * engine computes it. */
bool ga__product_is_outer(const ga__product_plan *p);

/* Whether lanes of vectors on the host, or teams of threads, compute a product each: of a stack of
 * little matrices. */
bool ga__product_is_little(const ga__product_plan *p);

/* Plans a launch of product.tmpl, unless it is planned. */
void ga__product_plan_tiles(ga__product_plan *p);

/* The stream of a launch, which waits for what others do with the operands. NULL on failure. */
ga__stream *ga__product_stream(const ga__product_plan *p);

#endif
