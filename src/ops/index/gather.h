/* Operands of kernels that move elements: layouts without a buffer of their own. */
#ifndef GA_OPS_INDEX_GATHER_H
#define GA_OPS_INDEX_GATHER_H

#include "device/fault.h"
#include "kernels/elementwise.h"

/* A layout over another array's memory for the time of one call. */
typedef struct ga__lens {
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    gpuarray array; /* last: its own list of lengths is not used */
} ga__lens;

/* Sets the lens to the layout, with strides in bytes, `offset` bytes from x's first element, whose
 * elements are words of the dtype's size: what moves keeps its bits, and dtypes of one size share
 * kernels. x NULL: a layout without memory, of bytes. */
void ga__lens_set(ga__lens *lens, const gpuarray *x, int ndim, const int64_t *shape,
                  const int64_t *strides, int64_t offset);

/* x itself. */
static inline void ga__lens_whole(ga__lens *lens, const gpuarray *x)
{
    ga__lens_set(lens, x, x->ndim, x->shape, x->strides, 0);
}

/* Regroups the elements of the last axis, which are neighbours, as words of `nbytes` bytes. */
void ga__lens_widen(ga__lens *lens, int64_t nbytes);

/* The same with the dtype of x itself, whose elements the kernel converts. */
void ga__lens_set_typed(ga__lens *lens, const gpuarray *x, int ndim, const int64_t *shape,
                        const int64_t *strides, int64_t offset);

/* Bytes of a row from which on whole vectors save more than they cost at its ends. */
#define GA__LONG_SPAN 4096

/* Whether elements of x can move in spans: those of a long row are neighbours, and their words
 * divide a vector. */
bool ga__moves_in_spans(const gpuarray *x);

/* Says of a placed operand that its elements are those of x, and that the body takes them in spans
 * (kernels/operand.h). */
void ga__operand_set_spans(ga__operand *operand, const gpuarray *x);

/* The operand `name` over the lens. */
ga__operand ga__lens_operand(const char *name, const ga__lens *lens, ga__access access,
                             bool writes);

/* The coordinate along one axis of a shape, counted from `first`. */
void ga__lens_coordinate(ga__lens *lens, int ndim, const int64_t *shape, int axis, int64_t first);

/* A number as an element of the dtype, whose word it is. */
ga__operand ga__word_operand(const char *name, ga_dtype dtype, ga_value number);

/* A number of the host's. */
ga__operand ga__integer_operand(const char *name, int64_t number);

#endif
