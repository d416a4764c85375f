/* Moves elements between arrays, devices and host memory. */
#include "array/transfer.h"

#include <assert.h>
#include <complex.h>
#include <math.h>
#include <string.h>

#include <quarry/device.h>

#include "array/scope.h"
#include "base/alloc.h"
#include "base/error.h"

/* Host memory that a copy between two GPUs passes through at a time. */
#define BOUNCE_BYTES ((size_t)4 << 20)

ga_status ga__array_upload(gpuarray *x, const void *data, size_t nbytes)
{
    ga__device *device = x->buffer->device;

    assert(x->contiguous && nbytes <= ga_nbytes(x));
    return nbytes ? device->backend->copy(device, x->data, data, nbytes, GA__HOST_TO_DEVICE)
                  : GA_OK;
}

ga_status ga__array_download(const gpuarray *x, void *data, size_t nbytes)
{
    ga__device *device = x->buffer->device;

    assert(x->contiguous && nbytes <= ga_nbytes(x));
    return nbytes ? device->backend->copy(device, data, x->data, nbytes, GA__DEVICE_TO_HOST)
                  : GA_OK;
}

ga_status ga__array_copy_into(gpuarray *to, const gpuarray *from)
{
    ga__device *device = to->buffer->device;

    assert(ga__same_shape(to->ndim, to->shape, from->ndim, from->shape));
    if (to->size == 0)
        return GA_OK;
    if (to->contiguous && from->contiguous && to->dtype == from->dtype)
        return device->backend->copy(device, to->data, from->data, ga_nbytes(to),
                                     GA__DEVICE_TO_DEVICE);
    if (!ga__copy_elements)
        return ga__fail(GA_ERR_UNSUPPORTED, "copy: there are no kernels to copy an array with");
    return ga__copy_elements(to, from);
}

gpuarray *ga_astype(const gpuarray *x, ga_dtype dtype)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "copy: the array is NULL");
    gpuarray *copy = ga__array_new(x->buffer->device, dtype, x->ndim, x->shape);
    if (copy && ga__array_copy_into(copy, x) != GA_OK) {
        ga_free(copy);
        return NULL;
    }
    return copy;
}

gpuarray *ga_copy(const gpuarray *x)
{
    return ga_astype(x, x ? x->dtype : GA_NO_DTYPE);
}

gpuarray *ga_from_host(const void *data, ga_dtype dtype, int ndim, const int64_t *shape)
{
    gpuarray *x = ga_empty(dtype, ndim, shape);

    if (!x || x->size == 0)
        return x;
    const ga_status status = data ? ga__array_upload(x, data, ga_nbytes(x))
                                  : ga__fail(GA_ERR_INVALID, "from_host: the data is NULL");
    if (status != GA_OK) {
        ga_free(x);
        return NULL;
    }
    return x;
}

ga_status ga_to_host(const gpuarray *x, void *buffer, size_t nbytes)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "to_host: the array is NULL");
    if (nbytes != ga_nbytes(x))
        return ga__fail(GA_ERR_SHAPE, "to_host: the buffer has %zu bytes, shape %s of %s has %zu",
                        nbytes, ga__shape_text(x->ndim, x->shape), ga_dtype_name(x->dtype),
                        ga_nbytes(x));
    if (nbytes > 0 && !buffer)
        return ga__fail(GA_ERR_INVALID, "to_host: the buffer is NULL");
    if (x->contiguous)
        return ga__array_download(x, buffer, nbytes);
    gpuarray *copy = ga_copy(x);
    if (!copy)
        return ga_error();
    const ga_status status = ga__array_download(copy, buffer, nbytes);
    ga_free(copy);
    return status;
}

/* The one element of x; false and an error when it has not just one. */
static bool fetch_item(const gpuarray *x, ga_value *number)
{
    uint64_t element[2] = {0, 0};

    if (!x) {
        ga__fail(GA_ERR_INVALID, "item: the array is NULL");
        return false;
    }
    if (x->size != 1) {
        ga__fail(GA_ERR_SHAPE, "item: array of shape %s has %lld elements, not 1",
                 ga__shape_text(x->ndim, x->shape), (long long)x->size);
        return false;
    }
    ga__device *device = x->buffer->device;
    if (device->backend->copy(device, element, x->data, ga_dtype_size(x->dtype),
                              GA__DEVICE_TO_HOST) != GA_OK)
        return false;
    *number = ga__dtype_fetch(x->dtype, element);
    return true;
}

double ga_item_double(const gpuarray *x)
{
    ga_value number;

    return fetch_item(x, &number) ? ga__number_double(number) : (double)NAN;
}

int64_t ga_item_int64(const gpuarray *x)
{
    ga_value number;

    return fetch_item(x, &number) ? ga__number_int64(number) : 0;
}

bool ga_item_bool(const gpuarray *x)
{
    ga_value number;

    return fetch_item(x, &number) && ga__number_bool(number);
}

double _Complex ga_item_complex(const gpuarray *x)
{
    ga_value number;
    double parts[2] = {(double)NAN, 0.0};
    double _Complex result;

    if (fetch_item(x, &number)) {
        parts[0] = ga__number_double(number);
        if (ga__dtype_kind(number.dtype) == 'c')
            parts[1] = number.as.z[1];
    }
    memcpy(&result, parts, sizeof result); /* re + im * I would turn an infinity into NaN */
    return result;
}

const char *ga_device_of(const gpuarray *x)
{
    return x ? x->buffer->device->name : NULL;
}

/* Host memory between two GPUs: their memory pools need not see each other. */
static ga_status copy_by_host(gpuarray *to, const gpuarray *from)
{
    ga__device *source = from->buffer->device, *target = to->buffer->device;
    const size_t total = ga_nbytes(to);
    char *bounce = ga__malloc(total < BOUNCE_BYTES ? total : BOUNCE_BYTES);
    ga_status status = bounce ? GA_OK : GA_ERR_MEMORY;

    for (size_t at = 0; at < total && status == GA_OK; at += BOUNCE_BYTES) {
        const size_t part = total - at < BOUNCE_BYTES ? total - at : BOUNCE_BYTES;
        status = source->backend->copy(source, bounce, from->data + at, part, GA__DEVICE_TO_HOST);
        if (status == GA_OK)
            status = target->backend->copy(target, to->data + at, bounce, part, GA__HOST_TO_DEVICE);
    }
    ga__free(bounce);
    return status;
}

/* Between contiguous arrays of two devices; the memory of "cpu" is host memory, once its work is
 * done. */
static ga_status copy_across(gpuarray *to, const gpuarray *from)
{
    ga__device *source = from->buffer->device, *target = to->buffer->device;

    if (to->size == 0)
        return GA_OK;
    if (source->backend == &ga__host_backend) {
        const ga_status status = source->backend->synchronize(source);
        return status == GA_OK ? ga__array_upload(to, from->data, ga_nbytes(to)) : status;
    }
    if (target->backend == &ga__host_backend) {
        const ga_status status = target->backend->synchronize(target);
        return status == GA_OK ? ga__array_download(from, to->data, ga_nbytes(to)) : status;
    }
    return copy_by_host(to, from);
}

/* x itself. A scope owns one reference of each of its arrays, so inside one it is a view of its
 * own. */
static gpuarray *same_array(const gpuarray *x)
{
    if (ga__scope_is_open())
        return ga__array_view(x, x->dtype, x->ndim, x->shape, x->strides, 0);
    return ga_retain((gpuarray *)x); /* only the count of references changes */
}

gpuarray *ga_to_device(const gpuarray *x, const char *device)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "to_device: the array is NULL");
    ga__device *target = device ? ga__find_device(device) : ga__current_device();
    if (!target)
        return NULL;
    if (target == x->buffer->device)
        return same_array(x);
    gpuarray *copy = ga__array_new(target, x->dtype, x->ndim, x->shape);
    if (!copy)
        return NULL;
    gpuarray *dense = x->contiguous ? NULL : ga_copy(x);
    ga_status status = x->contiguous || dense ? GA_OK : GA_ERR_MEMORY;
    if (status == GA_OK)
        status = copy_across(copy, dense ? dense : x);
    ga_free(dense);
    if (status != GA_OK) {
        ga_free(copy);
        return NULL;
    }
    return copy;
}
