/* Kernels that fill arrays: copies and casts, constants, ranges, the identity. */
#include <math.h>

#include "base/error.h"
#include "kernels/apply.h"

/* Runs `formula` over `out`, with its number and array operands after the result. */
static ga_status run(const ga__formula *formula, gpuarray *out, ga_dtype type, int inputs,
                     const ga__operand *input)
{
    ga__operand operands[4];
    operands[0] = (ga__operand){.name = "r", .array = out, .type = type, .writes = true};
    for (int k = 0; k < inputs; k++)
        operands[1 + k] = input[k];
    return ga__elementwise(formula, out->buffer->device, out->ndim, out->shape, 1 + inputs,
                           operands);
}

static ga__operand number_operand(const char *name, ga_dtype type, ga_value number)
{
    return (ga__operand){.name = name, .number = number, .type = type, .reads = true};
}

/* The result is declared in the source's type, so that the store converts in one rounding. */
static ga_status copy_elements(gpuarray *to, const gpuarray *from)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(0), .name = "copy", .body = "r = a"};
    const ga__operand input = {.name = "a", .array = from, .type = from->dtype, .reads = true};
    return run(&formula, to, from->dtype, 1, &input);
}

static ga_status fill_elements(gpuarray *to, ga_value number)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(1), .name = "fill", .body = "r = a"};
    const ga__operand input = number_operand("a", to->dtype, number);
    return run(&formula, to, to->dtype, 1, &input);
}

__attribute__((constructor)) static void install(void)
{
    ga__copy_elements = copy_elements;
    ga__fill_elements = fill_elements;
}

ga_status(ga_assign)(gpuarray *view, ga_value value)
{
    gpuarray *copy = NULL;
    ga__device *device;
    if (!view)
        return ga__fail(GA_ERR_INVALID, "assign: the view is NULL");
    ga_status status = ga__check_values("assign", 1, &value, &device);
    if (status != GA_OK)
        return status;
    if (!ga__array_writable("assign", view))
        return ga_error();
    if (value.kind == GA_VALUE_NUMBER)
        return fill_elements(view, value);
    const gpuarray *from = value.as.array;
    if (device != view->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "assign: the view is on %s, the value on %s",
                        view->buffer->device->name, device->name);
    if (!ga__broadcasts_to(from->ndim, from->shape, view->ndim, view->shape))
        return ga__fail(GA_ERR_SHAPE, "assign: shape %s does not broadcast to the view's %s",
                        ga__shape_text(from->ndim, from->shape),
                        ga__shape_text(view->ndim, view->shape));
    status = ga__separate(view, &from, &copy);
    if (status == GA_OK)
        status = copy_elements(view, from);
    ga_free(copy);
    return status;
}

/* A new 1-D or 2-D array filled by `formula`; NULL on failure. */
static gpuarray *make(const ga__formula *formula, ga_dtype dtype, ga_dtype type, int ndim,
                      const int64_t *shape, int inputs, const ga__operand *input)
{
    gpuarray *out = ga_empty(dtype, ndim, shape);
    if (!out || run(formula, out, type, inputs, input) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* A number as it is once stored in dtype. */
static ga_value rounded(ga_dtype dtype, double number)
{
    uint64_t element[2] = {0, 0};
    ga__dtype_store(dtype, ga_value_double(number), element);
    return ga__dtype_fetch(dtype, element);
}

gpuarray *ga_arange(ga_dtype dtype, double start, double stop, double step)
{
    /* As NumPy: the step is the difference of the first two elements as stored. */
    static const ga__formula formula = {.id = GA__FORMULA_ID(2),
                                        .name = "arange",
                                        .body = "r = a + ga::cast<ga_v1>(i) * (b - a)",
                                        .uses_index = true};
    const double count = ceil((stop - start) / step);
    if (!ga__dtype_valid(dtype))
        return ga__fail_null(GA_ERR_DTYPE, "arange: %d is no dtype", (int)dtype);
    if (step == 0 || !isfinite(count) || count > 9e18)
        return ga__fail_null(GA_ERR_INVALID,
                             "arange: no finite number of steps from %g to %g by %g", start, stop,
                             step);
    const int64_t length = count > 0 ? (int64_t)count : 0;
    const ga__operand numbers[] = {number_operand("a", dtype, rounded(dtype, start)),
                                   number_operand("b", dtype, rounded(dtype, start + step))};
    return make(&formula, dtype, dtype, 1, &length, 2, numbers);
}

gpuarray *ga_linspace(ga_dtype dtype, double start, double stop, int64_t num)
{
    /* numpy.linspace: start + i * step, the last one stop itself; integers are rounded down. */
    static const ga__formula floats = {.id = GA__FORMULA_ID(3),
                                       .name = "linspace",
                                       .body = "r = i > 0 && i == n - 1 ? b : a + (double)i * c",
                                       .uses_index = true};
    static const ga__formula integers = {
        .id = GA__FORMULA_ID(4),
        .name = "linspace",
        .body = "r = ga::floor(i > 0 && i == n - 1 ? b : a + (double)i * c)",
        .uses_index = true};
    if (!ga__dtype_valid(dtype))
        return ga__fail_null(GA_ERR_DTYPE, "linspace: %d is no dtype", (int)dtype);
    if (num < 0)
        return ga__fail_null(GA_ERR_INVALID, "linspace: %lld numbers", (long long)num);
    const double step = num > 1 ? (stop - start) / (double)(num - 1) : 0.0;
    const ga__operand numbers[] = {number_operand("a", GA_FLOAT64, ga_value_double(start)),
                                   number_operand("b", GA_FLOAT64, ga_value_double(stop)),
                                   number_operand("c", GA_FLOAT64, ga_value_double(step))};
    const char kind = ga__dtype_kind(dtype);
    const bool whole = kind == 'i' || kind == 'u';
    return make(whole ? &integers : &floats, dtype, GA_FLOAT64, 1, &num, 3, numbers);
}

gpuarray *ga_eye(ga_dtype dtype, int64_t n)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(5), .name = "eye", .body = "r = i % (b + 1) == 0", .uses_index = true};
    const int64_t shape[] = {n, n};
    const ga__operand number = number_operand("b", GA_INT64, ga_value_llong(n));
    return make(&formula, dtype, GA_BOOL, 2, shape, 1, &number);
}
