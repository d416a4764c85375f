/* Kernels that fill arrays: copies and casts, constants, ranges, the identity. */
#include "base/error.h"
#include "kernels/apply.h"
#include "kernels/range.h"

/* Runs `formula` over `out`, with its number and array operands after the result. */
static ga_status run(const ga__formula *formula, gpuarray *out, ga_dtype type, int inputs,
                     const ga__operand *input)
{
    ga__operand operands[5];
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

/* Complex ranges have real numbers: they are computed as such. */
gpuarray *ga_arange_values(ga_dtype dtype, ga_value start, ga_value stop, ga_value step)
{
    /* As NumPy: the first two are stored, and their difference is the step of the others. */
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(2),
        .name = "arange",
        .body = "const ga_v0 next = a + ga::times(ga::cast<ga_v0>(i), ga_v0(b - a));\n"
                "r = i == 0 ? a : i == 1 ? b : next",
        .uses_index = true};
    ga__range range;
    if (ga__range_make(dtype, start, stop, step, &range) != GA_OK)
        return NULL;
    const ga_dtype type = ga__dtype_real(dtype);
    const ga__operand numbers[] = {number_operand("a", type, range.first),
                                   number_operand("b", type, range.second)};
    return make(&formula, dtype, type, 1, &range.length, 2, numbers);
}

gpuarray *(ga_arange)(ga_dtype dtype, double start, double stop, double step)
{
    return ga_arange_values(dtype, ga_value_double(start), ga_value_double(stop),
                            ga_value_double(step));
}

/* numpy.linspace: start + i * step, the last one stop itself; integers are rounded down. */
#define LAST_OR(number) "i > 0 && i == n - 1 ? b : a + ga::times(" number ", c)"
static const ga__formula linspace_floats = {.id = GA__FORMULA_ID(3),
                                            .name = "linspace",
                                            .body = "r = " LAST_OR("(double)i"),
                                            .uses_index = true};
static const ga__formula linspace_integers = {.id = GA__FORMULA_ID(4),
                                              .name = "linspace",
                                              .body = "r = ga::floor(" LAST_OR("(double)i") ")",
                                              .uses_index = true};
/* Where the step underflows: the share of the whole way. */
static const ga__formula linspace_shares = {.id = GA__FORMULA_ID(17),
                                            .name = "linspace",
                                            .body = "r = " LAST_OR("(double)i / d"),
                                            .uses_index = true};

gpuarray *ga_linspace(ga_dtype dtype, double start, double stop, int64_t num)
{
    if (!ga__dtype_valid(dtype))
        return ga__fail_null(GA_ERR_DTYPE, "linspace: %d is no dtype", (int)dtype);
    if (num < 0)
        return ga__fail_null(GA_ERR_INVALID, "linspace: %lld numbers", (long long)num);
    const double gap = stop - start, steps = num > 1 ? (double)(num - 1) : 1.0;
    const double step = gap / steps;
    const bool shares = step == 0 && gap != 0;
    const ga__operand numbers[] = {
        number_operand("a", GA_FLOAT64, ga_value_double(start)),
        number_operand("b", GA_FLOAT64, ga_value_double(stop)),
        number_operand("c", GA_FLOAT64, ga_value_double(shares ? gap : step)),
        number_operand("d", GA_FLOAT64, ga_value_double(steps))};
    const char kind = ga__dtype_kind(dtype);
    const bool whole = kind == 'i' || kind == 'u';
    if (shares && !whole)
        return make(&linspace_shares, dtype, GA_FLOAT64, 1, &num, 4, numbers);
    return make(whole ? &linspace_integers : &linspace_floats, dtype, GA_FLOAT64, 1, &num, 3,
                numbers);
}

gpuarray *ga_eye(ga_dtype dtype, int64_t n)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(5), .name = "eye", .body = "r = i % (b + 1) == 0", .uses_index = true};
    const int64_t shape[] = {n, n};
    const ga__operand number = number_operand("b", GA_INT64, ga_value_llong(n));
    return make(&formula, dtype, GA_BOOL, 2, shape, 1, &number);
}
