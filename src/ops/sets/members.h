/* Tests of membership: which elements of one array are in another. */
#ifndef GA_OPS_SETS_MEMBERS_H
#define GA_OPS_SETS_MEMBERS_H

#include "array/array.h"

/* The elements that others are looked for among. */
typedef struct ga__set {
    const gpuarray *elements;
    bool sorted; /* they are, along one axis */
} ga__set;

/* A new bool array of x's shape: where x's element is in the set, or with `invert` where it is not.
 * Both are compared in their common dtype. The caller's scope owns all that it makes. NULL on
 * failure. */
gpuarray *ga__members(const char *name, const gpuarray *x, ga__set set, bool invert);

#endif
