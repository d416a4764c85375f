/* Transfers bytes between arrays and files (or any other reader or writer of host memory). */
#ifndef GA_ARRAY_STAGING_H
#define GA_ARRAY_STAGING_H

#include "array/array.h"

/* Pinned staging buffers for a GPU: while one piece of pinned memory is read or written, the other
 * one is copied, in a stream of its own beside all other work. On the host, arrays are read and
 * written in place. One thread uses it at a time. */
typedef struct ga__staging {
    ga__device *device;
    ga__stream stream;
    char *pieces[2]; /* the second is NULL if one suffices; that one is not pinned */
} ga__staging;

/* For transfers of up to `most` bytes. After a failure a reset is unnecessary but harmless. */
ga_status ga__staging_init(ga__staging *staging, ga__device *device, size_t most);
void ga__staging_reset(ga__staging *staging);

/* Orders the next transfer after all work queued on x so far. Work queued on other arrays may
 * overlap it. */
ga_status ga__staging_order(ga__staging *staging, const gpuarray *x, bool writes);

/* Fills nbytes of the contiguous x, from its byte `at` on. Calls `read` with host memory for the
 * next bytes; it fills all of them, whole elements at a time. The bytes are in the array on
 * return. */
ga_status ga__staging_in(ga__staging *staging, gpuarray *x, size_t at, size_t nbytes,
                         ga_status (*read)(void *context, void *bytes, size_t nbytes),
                         void *context);

/* Passes nbytes of the contiguous x, from its byte `at` on, to `write`, in order. */
ga_status ga__staging_out(ga__staging *staging, const gpuarray *x, size_t at, size_t nbytes,
                          ga_status (*write)(void *context, const void *bytes, size_t nbytes),
                          void *context);

#endif
