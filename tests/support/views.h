/* Views of a base array, and the positions of their elements in the base. */
#ifndef GA_TESTS_VIEWS_H
#define GA_TESTS_VIEWS_H

#include <quarry.h>

enum { VIEW_AXES = 6 };

/* Element (i, j, ...) is element start + i*stride[0] + j*stride[1] + ... of the base, in C order.
 */
typedef struct view {
    gpuarray *array;
    int ndim;
    int64_t shape[VIEW_AXES], stride[VIEW_AXES], start;
} view;

/* Each returns a view of another one; arrays belong to the current scope. */
view view_whole(gpuarray *base);
/* `count` elements of an axis, every step-th from `first` on; backwards when step is negative. */
view view_range(view v, int axis, int64_t first, int64_t count, int64_t step);
view view_transposed(view v, const int *order);
/* An axis of length 1, `count` times. */
view view_repeated(view v, int axis, int64_t count);

int64_t view_size(const view *v);
/* The position in the base of element k in C order. */
int64_t view_place(const view *v, int64_t k);

/* A view of this shape of a base with equally many axes, each at least as long as any axis of the
 * view: the base's axes in a random order, with ranges that start anywhere and steps of 1, 2, -1
 * and -2 where they fit. */
view view_random(gpuarray *base, const int64_t *shape, uint64_t *seed);

#endif
