/* Copies bytes between a contiguous array and host memory. */
#include <assert.h>

#include "array/array.h"
#include "device/fault.h"
#include "device/readback.h"

ga__stream *ga__array_stream(const gpuarray *read, gpuarray *written)
{
    ga__stream *stream = ga__current_stream((read ? read : written)->buffer->device);

    if (!stream || (read && ga__use(stream, read->buffer, false) != GA_OK) ||
        (written && ga__use(stream, written->buffer, true) != GA_OK))
        return NULL;
    return stream;
}

ga_status ga__array_upload(const char *name, gpuarray *x, size_t at, const void *data,
                           size_t nbytes)
{
    assert(x->contiguous && at + nbytes <= ga_nbytes(x));
    if (nbytes == 0)
        return GA_OK;
    if (!ga__not_recording(name))
        return GA_ERR_UNSUPPORTED;
    ga__stream *stream = ga__array_stream(NULL, x);
    return stream ? stream->device->backend->memory.copy(stream, x->data + at, data, nbytes,
                                                         GA__HOST_TO_DEVICE)
                  : ga_error();
}

gpuarray *ga__array_from(const char *name, ga__device *device, ga_dtype dtype, int ndim,
                         const int64_t *shape, const void *data)
{
    gpuarray *x = ga__array_new(name, device, dtype, ndim, shape);
    if (!x || ga__array_upload(name, x, 0, data, ga_nbytes(x)) == GA_OK)
        return x;
    ga_free(x);
    return NULL;
}

ga_status ga__array_download(const char *name, const gpuarray *x, size_t at, void *data,
                             size_t nbytes)
{
    assert(x->contiguous && at + nbytes <= ga_nbytes(x));
    ga__device *device = x->buffer->device;
    if (nbytes == 0)
        return GA_OK;
    if (!ga__not_recording(name))
        return GA_ERR_UNSUPPORTED;
    if (ga__readback_read(x->buffer, x->data + at, data, nbytes))
        return ga__fault_check(device, GA_OK);
    ga__stream *stream = ga__array_stream(x, NULL);
    if (!stream)
        return ga_error();
    return ga__fault_check(device, device->backend->memory.copy(stream, data, x->data + at, nbytes,
                                                                GA__DEVICE_TO_HOST));
}
