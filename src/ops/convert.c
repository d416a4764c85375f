/* Copies and converts elements between arrays, and fills arrays with a number. */
#include "ops/convert.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "base/range.h"
#include "model/promote.h"
#include "ops/check_nan.h"
#include "ops/elementwise_op.h"

ga_status ga__fill_by(const ga__formula *formula, gpuarray *out, ga_dtype type, int inputs,
                      const ga__operand *input)
{
    ga__operand operands[1 + GA__FILL_INPUTS];
    assert(inputs <= GA__FILL_INPUTS);
    operands[0] = (ga__operand){.name = "r", .array = out, .type = type, .writes = true};
    for (int k = 0; k < inputs; k++)
        operands[1 + k] = input[k];
    return ga__elementwise(formula, out->buffer->device, out->ndim, out->shape, 1 + inputs,
                           operands);
}

ga__operand ga__number_operand(const char *name, ga_dtype type, ga_value number)
{
    return (ga__operand){.name = name, .number = number, .type = type, .reads = true};
}

ga__operand ga__unsigned_operand(const char *name, uint64_t number)
{
    return ga__number_operand(name, GA_UINT64, ga_value_unsigned(GA_UINT64, number));
}

ga__operand ga__indexed_operand(const char *name, const gpuarray *array)
{
    return (ga__operand){
        .name = name, .array = array, .type = array->dtype, .access = GA__ACCESSOR, .reads = true};
}

ga__operand ga__read_operand(const char *name, const gpuarray *array)
{
    return (ga__operand){.name = name,
                         .array = array,
                         .type = array->dtype,
                         .access = GA__ACCESSOR,
                         .reads = true,
                         .is_const = true};
}

ga__operand ga__write_operand(const char *name, const gpuarray *array)
{
    return (ga__operand){
        .name = name, .array = array, .type = array->dtype, .access = GA__ACCESSOR, .writes = true};
}

/* The result is declared in the source's type, so that the store converts with a single
 * rounding. */
static ga_status copy_values(gpuarray *to, const gpuarray *from)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(0), .name = "copy", .body = "r = a", .copies = true};
    const ga__operand input = {.name = "a", .array = from, .type = from->dtype, .reads = true};
    return ga__fill_by(&formula, to, from->dtype, 1, &input);
}

/* A view of structs as the words that their alignment allows, along one more axis, in `dims`. */
static gpuarray words_of(const gpuarray *x, int64_t dims[2][GA_MAX_NDIM])
{
    const int64_t size = (int64_t)ga__dtype_alignment(x->dtype);
    const ga_dtype word = ga__dtype_integer('u', (size_t)size);
    gpuarray words = *x;
    memcpy(dims[0], x->shape, sizeof(int64_t) * (size_t)x->ndim);
    memcpy(dims[1], x->strides, sizeof(int64_t) * (size_t)x->ndim);
    dims[0][x->ndim] = (int64_t)ga__dtype_size(x->dtype) / size;
    dims[1][x->ndim] = size;
    words.dtype = word == GA_NO_DTYPE ? GA_COMPLEX128 : word;
    words.ndim = x->ndim + 1;
    words.size *= dims[0][x->ndim];
    words.shape = dims[0];
    words.strides = dims[1];
    return words;
}

static ga_status copy_structs(gpuarray *to, const gpuarray *from)
{
    int64_t to_dims[2][GA_MAX_NDIM], from_dims[2][GA_MAX_NDIM], shape[GA_MAX_NDIM],
        strides[GA_MAX_NDIM];
    if (to->ndim == GA_MAX_NDIM)
        return copy_values(to, from);
    gpuarray whole = *from; /* broadcast, so that the new axes meet */
    ga__broadcast_strides(to->ndim, to->shape, from->ndim, from->shape, from->strides, strides);
    memcpy(shape, to->shape, sizeof(int64_t) * (size_t)to->ndim);
    whole.ndim = to->ndim;
    whole.shape = shape;
    whole.strides = strides;
    whole.size = to->size;
    whole.contiguous =
        ga__is_contiguous(to->ndim, shape, strides, (int64_t)ga__dtype_size(from->dtype));
    gpuarray words = words_of(to, to_dims);
    const gpuarray read = words_of(&whole, from_dims);
    return copy_values(&words, &read);
}

/* Floats that are computed with as wider ones are copied as words: on the way to the wider type and
 * back, a NaN would lose its bits. Structs are too, so that whole vectors move. */
ga_status ga__copy_elements(gpuarray *to, const gpuarray *from)
{
    if (ga__dtype_is_struct(from->dtype))
        return copy_structs(to, from);
    const size_t size = ga__dtype_size(from->dtype);
    if (to->dtype != from->dtype || ga__dtype_kind(from->dtype) != 'f' || size >= sizeof(float))
        return copy_values(to, from);
    gpuarray words = *to, read = *from;
    words.dtype = read.dtype = ga__dtype_integer('u', size);
    return copy_values(&words, &read);
}

ga_status ga__fill_elements(gpuarray *to, ga_value number)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(1), .name = "fill", .body = "r = a"};
    const ga__operand input = ga__number_operand("a", to->dtype, number);
    return ga__fill_by(&formula, to, to->dtype, 1, &input);
}

ga_status ga__array_set_element(gpuarray *x, const void *element)
{
    if (ga__recording())
        return ga__fill_elements(x, ga__dtype_fetch(x->dtype, element));
    return ga__array_upload("set", x, 0, element, ga__dtype_size(x->dtype));
}

ga_status ga__array_copy_into(gpuarray *to, const gpuarray *from)
{
    assert(ga__same_shape(to->ndim, to->shape, from->ndim, from->shape));
    if (to->size == 0)
        return GA_OK;
    if (to->contiguous && from->contiguous && to->dtype == from->dtype) {
        ga__stream *stream = ga__array_stream(from, to);
        return stream ? stream->device->backend->memory.copy_async(
                            stream, to->data, from->data, ga_nbytes(to), GA__DEVICE_TO_DEVICE)
                      : ga_error();
    }
    return ga__copy_elements(to, from);
}

static gpuarray *converted(const char *name, const gpuarray *x, ga_dtype dtype)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "%s: the array is NULL", name);
    if (!ga__dtype_valid(dtype))
        return ga__fail_null(GA_ERR_DTYPE, "%s: %d is not a dtype", name, (int)dtype);
    if (ga__check_converts(name, x->dtype, dtype) != GA_OK)
        return NULL;
    gpuarray *copy = ga__array_new(name, x->buffer->device, dtype, x->ndim, x->shape);
    const ga_value from = ga_value_array(x);
    if (copy &&
        (ga__array_copy_into(copy, x) != GA_OK ||
         (ga__checks_nan() && ga__check_elements(name, copy, NULL, 1, &from, NULL) != GA_OK))) {
        ga_free(copy);
        return NULL;
    }
    return copy;
}

gpuarray *ga_astype(const gpuarray *x, ga_dtype dtype)
{
    GA__RANGE("astype");
    return converted("astype", x, dtype);
}

gpuarray *ga_copy(const gpuarray *x)
{
    GA__RANGE("copy");
    return converted("copy", x, x ? x->dtype : GA_NO_DTYPE);
}

ga_status ga__assign(const char *name, gpuarray *view, ga_value value)
{
    gpuarray *copy = NULL;
    ga__device *device;
    if (!view)
        return ga__fail(GA_ERR_INVALID, "%s: the view is NULL", name);
    ga_status status = ga__check_values(name, 1, &value, &device);
    if (status != GA_OK)
        return status;
    if (!ga__array_writable(name, view))
        return ga_error();
    if (value.kind == GA_VALUE_NUMBER) {
        status = ga__check_number(name, value, view->dtype);
        return status == GA_OK ? ga__fill_elements(view, value) : status;
    }
    const gpuarray *from = value.as.array;
    if (device != view->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the view is on %s, the value on %s", name,
                        view->buffer->device->name, device->name);
    if (!ga__broadcasts_to(from->ndim, from->shape, view->ndim, view->shape))
        return ga__fail(
            GA_ERR_SHAPE, "%s: a value of shape %s does not broadcast to the view's shape %s", name,
            ga__shape_text(from->ndim, from->shape), ga__shape_text(view->ndim, view->shape));
    status = ga__check_converts(name, from->dtype, view->dtype);
    if (status == GA_OK)
        status = ga__separate(view, &from, &copy);
    if (status == GA_OK)
        status = ga__copy_elements(view, from);
    ga_free(copy);
    return status;
}

ga_status(ga_assign)(gpuarray *view, ga_value value)
{
    GA__RANGE("assign");
    return ga__assign("assign", view, value);
}

ga_status ga__give_results(gpuarray *const *made, int n, int count, gpuarray **out)
{
    if (n == count) {
        memcpy(out, made, sizeof *made * (size_t)count);
        return GA_OK;
    }
    while (n > 0)
        ga_free(made[--n]);
    return ga_error();
}
