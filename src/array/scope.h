/* The scopes of the calling thread, as the array object uses them. */
#ifndef GA_ARRAY_SCOPE_H
#define GA_ARRAY_SCOPE_H

#include "array/array.h"

/* Gives the only reference of a new array to the innermost scope; does nothing if none is open. On
 * failure the caller keeps the reference. */
ga_status ga__scope_add(gpuarray *x);

/* Makes the scope that owns x forget it. */
void ga__scope_remove(gpuarray *x);

/* Whether the calling thread has a scope open. */
bool ga__scope_is_open(void);

#endif
