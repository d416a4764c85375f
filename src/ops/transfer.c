/* Moves elements between devices and host memory. */

#include <complex.h>
#include <math.h>
#include <string.h>

#include <quarry/device.h>

#include "array/scope.h"
#include "base/error.h"
#include "base/range.h"
#include "model/promote.h"
#include "ops/convert.h"

gpuarray *ga_from_host(const void *data, ga_dtype dtype, int ndim, const int64_t *shape)
{
    GA__RANGE("from_host");
    if (!ga__not_recording("from_host"))
        return NULL;
    gpuarray *x = ga__array_new("from_host", ga__current_device(), dtype, ndim, shape);
    if (!x || x->size == 0)
        return x;
    const ga_status status = data ? ga__array_upload("from_host", x, 0, data, ga_nbytes(x))
                                  : ga__fail(GA_ERR_INVALID, "from_host: the data is NULL");
    if (status == GA_OK)
        return x;
    ga_free(x);
    return NULL;
}

gpuarray *ga_from_host_async(const void *data, ga_dtype dtype, int ndim, const int64_t *shape)
{
    GA__RANGE("from_host_async");
    gpuarray *x = ga__array_new("from_host_async", ga__current_device(), dtype, ndim, shape);

    if (!x || x->size == 0 || ga_set_async(x, data, ga_nbytes(x)) == GA_OK)
        return x;
    ga_free(x);
    return NULL;
}

/* Raises unless the host buffer fits x. */
static ga_status check_host_buffer(const char *name, const gpuarray *x, const void *buffer,
                                   size_t nbytes)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: the array is NULL", name);
    if (nbytes != ga_nbytes(x))
        return ga__fail(GA_ERR_SHAPE, "%s: the buffer has %zu bytes, shape %s of %s has %zu", name,
                        nbytes, ga__shape_text(x->ndim, x->shape), ga_dtype_name(x->dtype),
                        ga_nbytes(x));
    if (nbytes > 0 && !buffer)
        return ga__fail(GA_ERR_INVALID, "%s: the buffer is NULL", name);
    return GA_OK;
}

/* Host data is in C order: a view with another layout is set through a copy. */
static ga_status set_view(const char *name, gpuarray *x, const void *data, size_t nbytes)
{
    if (!ga__array_writable(name, x))
        return GA_ERR_INVALID;
    gpuarray *dense = ga_empty_like(x);
    if (!dense)
        return ga_error();
    ga_status status = ga__array_upload(name, dense, 0, data, nbytes);
    if (status == GA_OK)
        status = ga__array_copy_into(x, dense);
    ga_free(dense);
    return status;
}

ga_status ga_set(gpuarray *x, const void *data, size_t nbytes)
{
    GA__RANGE("set");
    const ga_status status = check_host_buffer("set", x, data, nbytes);

    if (status != GA_OK || nbytes == 0)
        return status;
    if (!ga__not_recording("set"))
        return GA_ERR_UNSUPPORTED;
    return x->contiguous ? ga__array_upload("set", x, 0, data, nbytes)
                         : set_view("set", x, data, nbytes);
}

static ga_status check_contiguous(const char *name, const gpuarray *x)
{
    return x->contiguous
               ? GA_OK
               : ga__fail(GA_ERR_INVALID,
                          "%s: the array of shape %s is not contiguous; ga_copy() makes it so",
                          name, ga__shape_text(x->ndim, x->shape));
}

ga_status ga_set_async(gpuarray *x, const void *data, size_t nbytes)
{
    GA__RANGE("set_async");
    ga_status status = check_host_buffer("set_async", x, data, nbytes);

    if (status != GA_OK || nbytes == 0)
        return status;
    status = check_contiguous("set_async", x);
    ga__stream *stream = status == GA_OK ? ga__array_stream(NULL, x) : NULL;
    return stream ? stream->device->backend->memory.copy_async(stream, x->data, data, nbytes,
                                                               GA__HOST_TO_DEVICE)
                  : ga_error();
}

ga_status ga_to_host_async(const gpuarray *x, void *buffer, size_t nbytes)
{
    GA__RANGE("to_host_async");
    ga_status status = check_host_buffer("to_host_async", x, buffer, nbytes);

    if (status != GA_OK || nbytes == 0)
        return status;
    status = check_contiguous("to_host_async", x);
    ga__stream *stream = status == GA_OK ? ga__array_stream(x, NULL) : NULL;
    return stream ? stream->device->backend->memory.copy_async(stream, buffer, x->data, nbytes,
                                                               GA__DEVICE_TO_HOST)
                  : ga_error();
}

ga_status ga_to_host(const gpuarray *x, void *buffer, size_t nbytes)
{
    GA__RANGE("to_host");
    ga_status status = check_host_buffer("to_host", x, buffer, nbytes);

    if (status != GA_OK)
        return status;
    if (!ga__not_recording("to_host"))
        return GA_ERR_UNSUPPORTED;
    if (x->contiguous)
        return ga__array_download("to_host", x, 0, buffer, nbytes);
    gpuarray *copy = ga_copy(x);
    if (!copy)
        return ga_error();
    status = ga__array_download("to_host", copy, 0, buffer, nbytes);
    ga_free(copy);
    return status;
}

/* Reads the only element of x; false and an error if x does not have exactly one. */
static bool fetch_item(const gpuarray *x, ga_value *number)
{
    uint64_t element[2] = {0, 0};

    if (!x) {
        ga__fail(GA_ERR_INVALID, "item: the array is NULL");
        return false;
    }
    if (x->size != 1) {
        ga__fail(GA_ERR_SHAPE,
                 "item: the array of shape %s has %lld elements, expected 1; indices select one",
                 ga__shape_text(x->ndim, x->shape), (long long)x->size);
        return false;
    }
    if (ga__check_numeric("item", x->dtype) != GA_OK ||
        ga__array_download("item", x, 0, element, ga__dtype_size(x->dtype)) != GA_OK)
        return false;
    *number = ga__dtype_fetch(x->dtype, element);
    return true;
}

/* Divides a flat index in C order into one index for each axis; false if it is out of range. */
static bool unravel(const gpuarray *x, int64_t flat, int64_t *index)
{
    if (flat < -x->size || flat >= x->size) {
        ga__fail(GA_ERR_INDEX, "item: index %lld is out of range for %lld elements",
                 (long long)flat, (long long)x->size);
        return false;
    }
    flat += flat < 0 ? x->size : 0;
    for (int axis = x->ndim - 1; axis >= 0; axis--) {
        index[axis] = flat % x->shape[axis];
        flat /= x->shape[axis];
    }
    return true;
}

static bool find_offset(const gpuarray *x, const int64_t *index, int64_t *offset)
{
    *offset = 0;
    for (int axis = 0; axis < x->ndim; axis++) {
        const int64_t length = x->shape[axis];
        if (index[axis] < -length || index[axis] >= length) {
            ga__fail(GA_ERR_INDEX, "item: index %lld is out of range for axis %d of length %lld",
                     (long long)index[axis], axis, (long long)length);
            return false;
        }
        *offset += (index[axis] < 0 ? index[axis] + length : index[axis]) * x->strides[axis];
    }
    return true;
}

/* Reads one element of x. */
static bool fetch_item_at(const gpuarray *x, int n, const int64_t *index, ga_value *number)
{
    static const int64_t no_lengths[1];
    int64_t each[GA_MAX_NDIM], offset;

    if (!x || (n == 0 && x->ndim > 0))
        return fetch_item(x, number);
    if (n < 0 || (n > 0 && !index) || (n != 1 && n != x->ndim)) {
        ga__fail(GA_ERR_INDEX, "item: %d indices%s for shape %s", n,
                 n && !index ? ", but the list is NULL," : "", ga__shape_text(x->ndim, x->shape));
        return false;
    }
    if (n == 1 && x->ndim != 1) {
        if (!unravel(x, index[0], each))
            return false;
        index = each;
    }
    if (!find_offset(x, index, &offset))
        return false;
    gpuarray *element = ga__array_view(x, x->dtype, 0, no_lengths, no_lengths, offset);
    const bool found = element && fetch_item(element, number);
    ga_free(element);
    return found;
}

double(ga_item_double)(const gpuarray *x)
{
    ga_value number;

    return fetch_item(x, &number) ? ga__number_double(number) : (double)NAN;
}

double ga_item_double_at(const gpuarray *x, int n, const int64_t *index)
{
    ga_value number;

    return fetch_item_at(x, n, index, &number) ? ga__number_double(number) : (double)NAN;
}

int64_t(ga_item_int64)(const gpuarray *x)
{
    ga_value number;

    return fetch_item(x, &number) ? ga__number_int64(number) : 0;
}

int64_t ga_item_int64_at(const gpuarray *x, int n, const int64_t *index)
{
    ga_value number;

    return fetch_item_at(x, n, index, &number) ? ga__number_int64(number) : 0;
}

static uint64_t to_uint64(ga_value number)
{
    uint64_t element[2] = {0, 0};

    ga__dtype_store(GA_UINT64, number, element);
    return element[0];
}

uint64_t(ga_item_uint64)(const gpuarray *x)
{
    ga_value number;

    return fetch_item(x, &number) ? to_uint64(number) : 0;
}

uint64_t ga_item_uint64_at(const gpuarray *x, int n, const int64_t *index)
{
    ga_value number;

    return fetch_item_at(x, n, index, &number) ? to_uint64(number) : 0;
}

bool(ga_item_bool)(const gpuarray *x)
{
    ga_value number;

    return fetch_item(x, &number) && ga__number_bool(number);
}

bool ga_item_bool_at(const gpuarray *x, int n, const int64_t *index)
{
    ga_value number;

    return fetch_item_at(x, n, index, &number) && ga__number_bool(number);
}

/* NaN without a number; re + im * I would turn an infinity into NaN. */
static double _Complex to_complex(bool found, ga_value number)
{
    double parts[2] = {(double)NAN, 0.0};
    double _Complex result;

    if (found) {
        parts[0] = ga__number_double(number);
        if (ga__dtype_kind(number.dtype) == 'c')
            parts[1] = number.as.z[1];
    }
    memcpy(&result, parts, sizeof result);
    return result;
}

double _Complex(ga_item_complex)(const gpuarray *x)
{
    ga_value number = {0};
    const bool found = fetch_item(x, &number);

    return to_complex(found, number);
}

double _Complex ga_item_complex_at(const gpuarray *x, int n, const int64_t *index)
{
    ga_value number = {0};
    const bool found = fetch_item_at(x, n, index, &number);

    return to_complex(found, number);
}

const char *ga_device_of(const gpuarray *x)
{
    return x ? x->buffer->device->name : NULL;
}

/* Copies between two GPUs in the source's stream. That stream waits for the target's, which owns
 * the new array's memory; then the target's stream waits for the copy. */
static ga_status copy_to_peer(gpuarray *to, const gpuarray *from)
{
    ga__stream *source = ga__array_stream(from, NULL), *target = ga__array_stream(NULL, to);

    if (!source || !target)
        return ga_error();
    const ga__backend *backend = source->device->backend;
    ga_status status = backend->stream.wait(source, target);
    if (status == GA_OK)
        status =
            backend->memory.copy_peer(source, to->data, from->data, ga_nbytes(to), target->device);
    return status == GA_OK ? backend->stream.wait(target, source) : status;
}

/* Copies between contiguous arrays of two devices; the memory of "cpu" is host memory, and its work
 * is done when its call returns. */
static ga_status copy_across(gpuarray *to, const gpuarray *from)
{
    if (to->size == 0)
        return GA_OK;
    if (ga__on_host(from->buffer->device))
        return ga__array_upload("to_device", to, 0, from->data, ga_nbytes(to));
    if (ga__on_host(to->buffer->device))
        return ga__array_download("to_device", from, 0, to->data, ga_nbytes(to));
    return copy_to_peer(to, from);
}

/* Returns x itself. In a scope it returns a view, because a scope owns one reference of each of its
 * arrays. */
static gpuarray *same_array(const gpuarray *x)
{
    if (ga__scope_is_open())
        return ga__array_view(x, x->dtype, x->ndim, x->shape, x->strides, 0);
    return ga_retain((gpuarray *)x); /* only changes the reference count */
}

gpuarray *ga_to_device(const gpuarray *x, const char *device)
{
    GA__RANGE("to_device");
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "to_device: the array is NULL");
    ga__device *target = device ? ga__find_device(device) : ga__current_device();
    if (!target)
        return NULL;
    if (target == x->buffer->device)
        return same_array(x);
    if (!ga__not_recording("to_device"))
        return NULL;
    gpuarray *copy = ga__array_new("to_device", target, x->dtype, x->ndim, x->shape);
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
