/* The array object: makes, shares, describes and frees it. */
#include "array/array.h"

#include <assert.h>
#include <string.h>

#include "array/scope.h"
#include "base/alloc.h"
#include "base/error.h"
#include "device/readback.h"

/* Makes the object without a buffer. */
static gpuarray *object_new(ga_dtype dtype, int ndim, const int64_t *shape, int64_t size)
{
    gpuarray *x = ga__malloc(sizeof *x + 2 * (size_t)ndim * sizeof x->dims[0]);

    if (!x)
        return NULL;
    x->references = 1;
    x->dtype = dtype;
    x->ndim = ndim;
    x->readonly = false;
    x->size = size;
    x->scope = NULL;
    x->scope_slot = 0;
    x->shape = x->dims;
    x->strides = x->dims + ndim;
    if (ndim > 0)
        memcpy(x->shape, shape, (size_t)ndim * sizeof *shape);
    return x;
}

/* Gives a complete object to the open scope; frees it if that fails. */
static gpuarray *registered(gpuarray *x)
{
    if (ga__scope_add(x) == GA_OK)
        return x;
    ga_free(x);
    return NULL;
}

gpuarray *ga__array_over(ga__buffer *buffer, ga_dtype dtype, int ndim, const int64_t *shape)
{
    gpuarray *x = object_new(dtype, ndim, shape, ga__shape_size(ndim, shape));
    if (!x) {
        ga__buffer_release(buffer);
        return NULL;
    }
    x->buffer = buffer;
    x->data = buffer->memory;
    x->contiguous = true;
    ga__contiguous_strides(ndim, shape, (int64_t)ga__dtype_size(dtype), x->strides);
    return registered(x);
}

gpuarray *ga__array_new(const char *name, ga__device *device, ga_dtype dtype, int ndim,
                        const int64_t *shape)
{
    if (!device)
        return NULL;
    int64_t size;
    if (ga__check_shape(name, dtype, ndim, shape, &size) != GA_OK)
        return NULL;
    const ga__wanted wanted = {name, dtype, ndim, shape};
    ga__buffer *buffer = ga__buffer_new_for(device, (size_t)size * ga__dtype_size(dtype), &wanted);
    return buffer ? ga__array_over(buffer, dtype, ndim, shape) : NULL;
}

gpuarray *ga__array_view(const gpuarray *x, ga_dtype dtype, int ndim, const int64_t *shape,
                         const int64_t *strides, int64_t offset)
{
    if (!x)
        return NULL;
    assert(ndim >= 0 && ndim <= GA_MAX_NDIM);
    assert(ga__shape_bytes(ndim, shape, (int64_t)ga__dtype_size(dtype)) >= 0);
    gpuarray *view = object_new(dtype, ndim, shape, ga__shape_size(ndim, shape));
    if (!view)
        return NULL;
    if (ndim > 0)
        memcpy(view->strides, strides, (size_t)ndim * sizeof *strides);
    view->buffer = ga__buffer_retain(x->buffer);
    view->data = x->data && view->size > 0 ? x->data + offset : x->data;
    view->readonly = x->readonly;
    view->contiguous =
        ga__is_contiguous(ndim, view->shape, strides, (int64_t)ga__dtype_size(dtype));
    return registered(view);
}

bool ga__array_writable(const char *name, const gpuarray *x)
{
    if (!x->readonly)
        return true;
    ga__fail(
        GA_ERR_INVALID,
        "%s: the array of shape %s is a broadcast view and cannot be written; write to a ga_copy()",
        name, ga__shape_text(x->ndim, x->shape));
    return false;
}

/* The address range of an array with elements: [*first, *end). */
static void reached(const gpuarray *x, intptr_t *first, intptr_t *end)
{
    const int64_t itemsize = (int64_t)ga__dtype_size(x->dtype);
    int64_t low = 0, high = x->size * itemsize;

    if (!x->contiguous)
        ga__extent(x->ndim, x->shape, x->strides, itemsize, &low, &high);
    *first = (intptr_t)x->data + low;
    *end = (intptr_t)x->data + high;
}

/* Whether the backend allocated the memory, so that no other buffer overlaps it. */
static bool is_allocated(const ga__buffer *buffer)
{
    return buffer->give_back == NULL;
}

bool ga__arrays_overlap(const gpuarray *a, const gpuarray *b)
{
    intptr_t first_a, end_a, first_b, end_b;

    if (a->buffer != b->buffer && is_allocated(a->buffer) && is_allocated(b->buffer))
        return false;
    if (a->buffer->device != b->buffer->device || a->size == 0 || b->size == 0)
        return false;
    reached(a, &first_a, &end_a);
    reached(b, &first_b, &end_b);
    return first_a < end_b && first_b < end_a;
}

gpuarray *ga_retain(gpuarray *x)
{
    if (x)
        __atomic_add_fetch(&x->references, 1, __ATOMIC_RELAXED);
    return x;
}

void ga_free(gpuarray *x)
{
    if (!x || __atomic_sub_fetch(&x->references, 1, __ATOMIC_ACQ_REL) > 0)
        return;
    ga__scope_remove(x);
    ga__buffer_release(x->buffer);
    ga__free(x);
}

/* Current processors give a program at most this many bytes of address space. */
#define MOST_ADDRESSES (INT64_C(1) << 57)

/* The extent in bytes around the first element at `address`; false if it exceeds the address
 * space. */
static bool find_extent(uintptr_t address, int ndim, const int64_t *shape, const int64_t *strides,
                        int64_t itemsize, int64_t *low, int64_t *high)
{
    uintptr_t end;

    *low = 0;
    *high = itemsize;
    for (int axis = 0; axis < ndim; axis++) {
        int64_t reach = 0;
        if (shape[axis] > 1 && __builtin_mul_overflow(shape[axis] - 1, strides[axis], &reach))
            return false;
        int64_t *side = reach < 0 ? low : high;
        if (__builtin_add_overflow(*side, reach, side))
            return false;
    }
    int64_t nbytes;
    return !__builtin_sub_overflow(*high, *low, &nbytes) && nbytes <= MOST_ADDRESSES &&
           !__builtin_sub_overflow(address, (uintptr_t) - (uint64_t)*low, &end) &&
           !__builtin_add_overflow(address, (uintptr_t)*high, &end);
}

/* Checks a shape and strides over foreign memory; sets the extent in bytes around the first
 * element. */
static ga_status check_layout(const char *pointer, ga_dtype dtype, int ndim, const int64_t *shape,
                              const int64_t *strides, int64_t *low, int64_t *high)
{
    const int64_t itemsize = (int64_t)ga__dtype_size(dtype);

    for (int axis = 0; axis < ndim; axis++)
        if (strides[axis] % itemsize)
            return ga__fail(GA_ERR_INVALID, "wrap: strides %s do not fit items of %lld bytes",
                            ga__shape_text(ndim, strides), (long long)itemsize);
    if (!find_extent((uintptr_t)pointer, ndim, shape, strides, itemsize, low, high))
        return ga__fail(GA_ERR_INVALID,
                        "wrap: shape %s with strides %s at %p exceeds the address space",
                        ga__shape_text(ndim, shape), ga__shape_text(ndim, strides), pointer);
    return GA_OK;
}

/* Sets a complete object's strides; C order if none are given. */
static void set_strides(gpuarray *x, const int64_t *strides)
{
    const int64_t itemsize = (int64_t)ga__dtype_size(x->dtype);

    if (strides && x->ndim > 0)
        memcpy(x->strides, strides, (size_t)x->ndim * sizeof *strides);
    else
        ga__contiguous_strides(x->ndim, x->shape, itemsize, x->strides);
    x->contiguous = ga__is_contiguous(x->ndim, x->shape, x->strides, itemsize);
}

/* Gives x the caller's memory; on failure frees x and returns NULL. */
static gpuarray *over_memory(gpuarray *x, ga__device *device, char *pointer, void *owner,
                             void (*free_function)(void *owner))
{
    int64_t low = 0, high = 0;

    if (x->size == 0 ||
        check_layout(pointer, x->dtype, x->ndim, x->shape, x->strides, &low, &high) == GA_OK) {
        x->buffer = ga__buffer_wrap(device, x->size ? pointer + low : NULL, (size_t)(high - low),
                                    owner, free_function);
        x->data = x->size ? pointer : NULL;
        if (x->buffer)
            return x;
    }
    ga__free(x);
    return NULL;
}

gpuarray *ga_wrap(void *pointer, ga_dtype dtype, int ndim, const int64_t *shape,
                  const int64_t *strides, void *owner, void (*free_function)(void *owner))
{
    ga__device *device = ga__current_device();
    int64_t size;

    if (!device || ga__check_shape("wrap", dtype, ndim, shape, &size) != GA_OK)
        return NULL;
    if (size > 0 && !pointer)
        return ga__fail_null(GA_ERR_INVALID, "wrap: the pointer is NULL");
    if ((uintptr_t)pointer % ga__dtype_alignment(dtype))
        return ga__fail_null(GA_ERR_INVALID, "wrap: %p is not aligned to %s's %zu bytes", pointer,
                             ga_dtype_name(dtype), ga__dtype_alignment(dtype));
    if (size > 0 && !device->backend->memory.reaches(device, pointer))
        return ga__fail_null(GA_ERR_INVALID,
                             "wrap: %s cannot use the memory at %p: it is neither the device's nor "
                             "pinned",
                             device->name, pointer);
    gpuarray *x = object_new(dtype, ndim, shape, size);
    if (!x)
        return NULL;
    set_strides(x, strides);
    x = over_memory(x, device, pointer, owner, free_function);
    if (!x || ga__scope_add(x) == GA_OK)
        return x;
    ga__buffer_disown(x->buffer);
    ga_free(x);
    return NULL;
}

gpuarray *(ga_empty)(ga_dtype dtype, int ndim, const int64_t *shape)
{
    return ga__array_new("empty", ga__current_device(), dtype, ndim, shape);
}

int ga_ndim(const gpuarray *x)
{
    return x ? x->ndim : -1;
}

const int64_t *ga_shape(const gpuarray *x)
{
    return x ? x->shape : NULL;
}

const int64_t *ga_strides(const gpuarray *x)
{
    return x ? x->strides : NULL;
}

int64_t ga_length(const gpuarray *x, int axis)
{
    if (!x) {
        ga__fail(GA_ERR_INVALID, "length: the array is NULL");
        return 0;
    }
    int normal;
    return ga__check_axis("length", axis, x->ndim, &normal) == GA_OK ? x->shape[normal] : 0;
}

int64_t ga_size(const gpuarray *x)
{
    return x ? x->size : 0;
}

size_t ga_nbytes(const gpuarray *x)
{
    return x ? (size_t)x->size * ga__dtype_size(x->dtype) : 0;
}

ga_dtype ga_dtype_of(const gpuarray *x)
{
    return x ? x->dtype : GA_NO_DTYPE;
}

void *ga_data(const gpuarray *x)
{
    if (!x)
        return NULL;
    ga__buffer_expose(x->buffer);
    return x->data;
}

bool ga_is_contiguous(const gpuarray *x)
{
    return x && x->contiguous;
}
