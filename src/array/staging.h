/* Moves bytes between arrays and what reads or writes host memory: files. */
#ifndef GA_ARRAY_STAGING_H
#define GA_ARRAY_STAGING_H

#include "array/array.h"

/* The way that bytes of a GPU take: while one piece of pinned memory is read or written, the other
 * is copied, in a stream of its own beside all other work. On the host arrays are read and written
 * in place. One thread at a time uses it. */
typedef struct ga__staging {
    ga__device *device;
    ga__stream stream;
    char *pieces[2]; /* the second is NULL where one does: it is not pinned then */
} ga__staging;

/* For up to `most` bytes at once. After a failure there is nothing to reset, but it may be. */
ga_status ga__staging_init(ga__staging *staging, ga__device *device, size_t most);
void ga__staging_reset(ga__staging *staging);

/* Puts the next staging into x, or out of it, behind the work with x that has been given so far;
 * what is given before the staging begins, to do with other arrays, then runs beside it. */
ga_status ga__staging_order(ga__staging *staging, const gpuarray *x, bool writes);

/* Fills nbytes of the contiguous x, from its byte `at` on, with what `read` gives: it is called
 * with host memory for the next bytes, as many as it is asked for, whole elements. The bytes are
 * there on return. */
ga_status ga__staging_in(ga__staging *staging, gpuarray *x, size_t at, size_t nbytes,
                         ga_status (*read)(void *context, void *bytes, size_t nbytes),
                         void *context);

/* Hands nbytes of the contiguous x, from its byte `at` on, to `write`, in order. */
ga_status ga__staging_out(ga__staging *staging, const gpuarray *x, size_t at, size_t nbytes,
                          ga_status (*write)(void *context, const void *bytes, size_t nbytes),
                          void *context);

#endif
