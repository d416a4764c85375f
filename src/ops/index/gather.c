/* Operands of kernels that move elements: layouts without a buffer of their own. */
#include "ops/convert.h"
#include "ops/index/gather.h"

#include <string.h>

#include "model/layout.h"

/* The dtype of words that hold an element's bytes. */
static ga_dtype word_of(ga_dtype dtype)
{
    const size_t nbytes = ga__dtype_size(dtype);
    const ga_dtype word = ga__dtype_integer('u', nbytes);
    return word != GA_NO_DTYPE                       ? word
           : nbytes == ga__dtype_size(GA_COMPLEX128) ? GA_COMPLEX128
                                                     : ga__dtype_moved(dtype);
}

void ga__lens_set(ga__lens *lens, const gpuarray *x, int ndim, const int64_t *shape,
                  const int64_t *strides, int64_t offset)
{
    gpuarray *a = &lens->array;
    memmove(lens->shape, shape, sizeof(int64_t) * (size_t)ndim);
    memmove(lens->strides, strides, sizeof(int64_t) * (size_t)ndim);
    memset(a, 0, sizeof *a);
    a->dtype = x ? word_of(x->dtype) : GA_UINT8;
    a->ndim = ndim;
    a->shape = lens->shape;
    a->strides = lens->strides;
    a->size = ga__shape_size(ndim, shape);
    a->buffer = x ? x->buffer : NULL;
    a->data = x ? x->data + offset : NULL;
    a->contiguous = ga__is_contiguous(ndim, shape, strides, (int64_t)ga__dtype_size(a->dtype));
}

void ga__lens_widen(ga__lens *lens, int64_t nbytes)
{
    gpuarray *a = &lens->array;
    const int64_t each = nbytes / (int64_t)ga__dtype_size(a->dtype);
    const ga_dtype word = ga__dtype_integer('u', (size_t)nbytes);
    lens->shape[a->ndim - 1] /= each;
    lens->strides[a->ndim - 1] = nbytes;
    a->size /= each;
    a->dtype = word != GA_NO_DTYPE ? word : GA_COMPLEX128;
}

void ga__lens_set_typed(ga__lens *lens, const gpuarray *x, int ndim, const int64_t *shape,
                        const int64_t *strides, int64_t offset)
{
    ga__lens_set(lens, x, ndim, shape, strides, offset);
    lens->array.dtype = x->dtype;
}

bool ga__moves_in_spans(const gpuarray *x)
{
    const int last = x->ndim - 1;
    const int64_t size = (int64_t)ga__dtype_size(x->dtype);
    return last >= 0 && (size & (size - 1)) == 0 && x->strides[last] == size &&
           x->shape[last] * size >= GA__LONG_SPAN;
}

void ga__operand_set_spans(ga__operand *operand, const gpuarray *x)
{
    if (!ga__moves_in_spans(x))
        return;
    operand->low = x->data;
    operand->high = x->data + ga__dtype_size(x->dtype);
    for (int axis = 0; axis < x->ndim; axis++) {
        const int64_t reach = (x->shape[axis] - 1) * x->strides[axis];
        *(reach < 0 ? &operand->low : &operand->high) += reach;
    }
}

ga__operand ga__lens_operand(const char *name, const ga__lens *lens, ga__access access, bool writes)
{
    return (ga__operand){.name = name,
                         .array = &lens->array,
                         .type = lens->array.dtype,
                         .access = access,
                         .reads = !writes && access != GA__COORDINATE,
                         .writes = writes};
}

void ga__lens_coordinate(ga__lens *lens, int ndim, const int64_t *shape, int axis, int64_t first)
{
    int64_t strides[GA_MAX_NDIM] = {0};
    strides[axis] = 1;
    ga__lens_set(lens, NULL, ndim, shape, strides, 0);
    lens->array.data = (char *)(intptr_t)first;
}

ga__operand ga__word_operand(const char *name, ga_dtype dtype, ga_value number)
{
    uint64_t element[2] = {0, 0};
    ga__operand operand = {.name = name, .type = word_of(dtype), .reads = true};
    ga__dtype_store(dtype, number, element);
    operand.number = ga__dtype_fetch(operand.type, element);
    return operand;
}

ga__operand ga__integer_operand(const char *name, int64_t number)
{
    return ga__number_operand(name, GA_INT64, ga_value_signed(GA_INT64, number));
}
