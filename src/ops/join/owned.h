/* The arrays that a composition makes on its way, freed together. */
#ifndef GA_OPS_JOIN_OWNED_H
#define GA_OPS_JOIN_OWNED_H

#include <assert.h>

#include <quarry/array.h>

typedef struct ga__owned {
    gpuarray *array[24];
    int n;
} ga__owned;

/* The array, which may be NULL, freed by ga__owned_free(). */
static inline gpuarray *ga__own(ga__owned *owned, gpuarray *array)
{
    assert(owned->n < 24);
    if (array)
        owned->array[owned->n++] = array;
    return array;
}

static inline void ga__owned_free(ga__owned *owned)
{
    while (owned->n > 0)
        ga_free(owned->array[--owned->n]);
}

#endif
