/* Shapes and strides: checking, broadcasting and collapsing them. Strides are in bytes. */
#ifndef GA_MODEL_LAYOUT_H
#define GA_MODEL_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <quarry/array.h>

/* The bytes of a C-ordered array; -1 when a length is negative or the product of the item size and
 * the lengths that are not 0 passes 2^63 - 1. Every shape in the library meets this rule, which is
 * NumPy's, so a product over any of its axes fits an int64_t. */
int64_t ga__shape_bytes(int ndim, const int64_t *shape, int64_t itemsize);

/* The number of elements, by the same rule with items of one byte. */
static inline int64_t ga__shape_size(int ndim, const int64_t *shape)
{
    return ga__shape_bytes(ndim, shape, 1);
}

/* The sum of two sizes, or the largest int64_t where it is more. */
static inline int64_t ga__add_sizes(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Checks the number of dimensions, and that there is a shape at all; GA_ERR_INVALID. */
ga_status ga__check_ndim(const char *name, int ndim, const int64_t *shape);

/* Checks the dtype, the number of dimensions and the lengths of an array to be; sets its number of
 * elements. `name` begins the message. GA_ERR_DTYPE, GA_ERR_INVALID (ndim, NULL), GA_ERR_SHAPE. */
ga_status ga__check_shape(const char *name, ga_dtype dtype, int ndim, const int64_t *shape,
                          int64_t *size);

void ga__contiguous_strides(int ndim, const int64_t *shape, int64_t itemsize, int64_t *strides);
bool ga__is_contiguous(int ndim, const int64_t *shape, const int64_t *strides, int64_t itemsize);

static inline bool ga__same_shape(int ndim_a, const int64_t *a, int ndim_b, const int64_t *b)
{
    if (ndim_a != ndim_b)
        return false;
    for (int k = 0; k < ndim_a; k++)
        if (a[k] != b[k])
            return false;
    return true;
}

/* Broadcasts `shape` with another in place; false when they do not broadcast, or broadcast to a
 * shape of more than 2^63 - 1 elements. */
bool ga__broadcast_shape(int *ndim, int64_t *shape, int other_ndim, const int64_t *other);
/* What is wrong with two shapes that ga__broadcast_shape() refused, for messages. */
const char *ga__broadcast_problem(int ndim, const int64_t *shape, int other_ndim,
                                  const int64_t *other);
/* Whether `shape` broadcasts to exactly `to`. */
bool ga__broadcasts_to(int ndim, const int64_t *shape, int to_ndim, const int64_t *to);
/* Strides of an array seen in a broadcast shape (0 along repeated axes); the shapes must broadcast.
 */
void ga__broadcast_strides(int ndim, const int64_t *shape, int other_ndim, const int64_t *other,
                           const int64_t *other_strides, int64_t *strides);

/* The bytes an array reaches, relative to its first element: [*low, *high). Empty arrays: 0, 0. */
void ga__extent(int ndim, const int64_t *shape, const int64_t *strides, int64_t itemsize,
                int64_t *low, int64_t *high);

/* "(3, 4)" for messages, in a small buffer of the thread's own that the fifth later call reuses. */
const char *ga__shape_text(int ndim, const int64_t *shape);

/* One axis (negative: from the end) checked against ndim. */
ga_status ga__check_axis(const char *name, int axis, int ndim, int *normal);

/* Raises unless a call names one axis or none. */
ga_status ga__one_axis(const char *name, int naxes, const int *axes);

/* The set of axes that a reduction names, a bit for each; none twice. As NumPy, an array of no
 * dimensions takes the one axis 0 or -1, and has nothing to reduce. */
ga_status ga__check_axes(const char *name, int naxes, const int *axes, int ndim, uint32_t *set);

/* A loop nest over several operands: axis 0 is the innermost. */
#define GA__MAX_OPERANDS 40
typedef struct ga__nest {
    int ndim, noperands;
    int64_t shape[GA_MAX_NDIM];
    int64_t (*strides)[GA_MAX_NDIM]; /* of each operand; the caller's memory */
} ga__nest;

/* Drops axes of length 1, orders axes by the strides of operand 0 (smallest innermost; ties by the
 * following operands), and merges neighbours that merge for every operand. The order of elements is
 * free to change; signs of strides are kept. */
void ga__nest_collapse(ga__nest *nest);

/* The same without reordering: axes keep their C order. */
void ga__nest_merge(ga__nest *nest);

/* Exchanges two axes. */
void ga__nest_swap(ga__nest *nest, int a, int b);

/* Whether the operand's steps along the axes from `first_axis` on are multiples of `lanes`. */
bool ga__nest_in_step(const ga__nest *nest, int place, int first_axis, int lanes);

#endif
