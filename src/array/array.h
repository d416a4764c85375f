/* The array object: a dtype, a shape and strides over a buffer. */
#ifndef GA_ARRAY_ARRAY_H
#define GA_ARRAY_ARRAY_H

#include <quarry/array.h>

#include "device/context.h"
#include "device/memory.h"
#include "device/stream.h"
#include "model/dtype.h"
#include "model/layout.h"

struct gpuarray {
    int references; /* atomic */
    ga_dtype dtype;
    int ndim;
    bool contiguous; /* C order without gaps */
    bool readonly;   /* a broadcast view */
    int64_t size;
    ga__buffer *buffer;
    char *data;              /* first element; NULL if the buffer is empty */
    struct ga__scope *scope; /* the scope that owns one reference, or NULL */
    int64_t scope_slot;
    int64_t *shape, *strides; /* ndim each, in dims; strides in bytes */
    int64_t dims[];
};

/* A new uninitialised C-order array on `device`, owned like every public result (by the scope, if
 * one is open). `name` is the operation, a static text: it starts messages, and names what made the
 * array in reports. Checks the shape: GA_ERR_INVALID (ndim), GA_ERR_SHAPE (negative, overflow). */
gpuarray *ga__array_new(const char *name, ga__device *device, ga_dtype dtype, int ndim,
                        const int64_t *shape);

/* A new array, or NULL after an error in filling it: the array is freed then. */
static inline gpuarray *ga__array_if(gpuarray *x, ga_status filled)
{
    if (filled == GA_OK)
        return x;
    ga_free(x);
    return NULL;
}

/* A C-order array over the buffer. Takes the caller's reference, also on failure. The shape must be
 * valid and must fit. */
gpuarray *ga__array_over(ga__buffer *buffer, ga_dtype dtype, int ndim, const int64_t *shape);

/* A view of x's buffer; the caller guarantees that it fits. Strides in bytes; `offset` is in bytes
 * from x's data. */
gpuarray *ga__array_view(const gpuarray *x, ga_dtype dtype, int ndim, const int64_t *shape,
                         const int64_t *strides, int64_t offset);

/* Raises GA_ERR_INVALID and returns false if the array is read-only; `name` starts the message. */
bool ga__array_writable(const char *name, const gpuarray *x);

/* Copies nbytes between host memory and a contiguous array, starting at its byte `at`; both
 * directions wait. GA_ERR_UNSUPPORTED while the thread records a graph; `name` starts the message.
 */
ga_status ga__array_upload(const char *name, gpuarray *x, size_t at, const void *data,
                           size_t nbytes);
ga_status ga__array_download(const char *name, const gpuarray *x, size_t at, void *data,
                             size_t nbytes);

/* A new array in C order of the elements in host memory, as ga__array_upload() copies them. NULL on
 * failure. */
gpuarray *ga__array_from(const char *name, ga__device *device, ga_dtype dtype, int ndim,
                         const int64_t *shape, const void *data);

/* The stream for work that reads and writes these arrays of one device. It waits for other streams'
 * work on them; either array may be NULL. NULL and an error on failure. */
ga__stream *ga__array_stream(const gpuarray *read, gpuarray *written);

/* Whether the memory extents of two arrays on one device overlap. */
bool ga__arrays_overlap(const gpuarray *a, const gpuarray *b);

#endif
