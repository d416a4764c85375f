/* Makes arrays: constants, ranges, the identity. */
#include "array/scope.h"
#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "base/range.h"
#include "model/promote.h"
#include "ops/convert.h"
#include "ops/range.h"

static ga_status fill_array(const char *name, gpuarray *x, const gpuarray *fill)
{
    int64_t strides[GA_MAX_NDIM];

    if (fill->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the fill is on %s, the array on %s", name,
                        fill->buffer->device->name, x->buffer->device->name);
    if (!ga__broadcasts_to(fill->ndim, fill->shape, x->ndim, x->shape))
        return ga__fail(GA_ERR_SHAPE, "%s: a fill of shape %s does not broadcast to %s", name,
                        ga__shape_text(fill->ndim, fill->shape), ga__shape_text(x->ndim, x->shape));
    if (ga__check_converts(name, fill->dtype, x->dtype) != GA_OK)
        return ga_error();
    ga__broadcast_strides(x->ndim, x->shape, fill->ndim, fill->shape, fill->strides, strides);
    gpuarray *view = ga__array_view(fill, fill->dtype, x->ndim, x->shape, strides, 0);
    if (!view)
        return GA_ERR_MEMORY;
    const ga_status status = ga__array_copy_into(x, view);
    ga_free(view);
    return status;
}

static gpuarray *full_on(const char *name, ga__device *device, ga_dtype dtype, int ndim,
                         const int64_t *shape, ga_value fill)
{
    if (fill.kind != GA_VALUE_NUMBER && fill.kind != GA_VALUE_ARRAY)
        return ga__fail_null(GA_ERR_INVALID, "%s: the fill is a pointer, not an array or a number",
                             name);
    if (fill.kind == GA_VALUE_NUMBER && !ga__dtype_valid(fill.dtype))
        return ga__fail_null(GA_ERR_DTYPE, "%s: the fill: %d is not a dtype", name,
                             (int)fill.dtype);
    if (fill.kind == GA_VALUE_ARRAY && !fill.as.array)
        return ga__fail_null(GA_ERR_INVALID, "%s: the fill is a NULL array", name);
    if (fill.kind == GA_VALUE_NUMBER && ga__check_number(name, fill, dtype) != GA_OK)
        return NULL;
    gpuarray *x = ga__array_new(name, device, dtype, ndim, shape);
    if (!x)
        return NULL;
    return ga__array_if(x, fill.kind == GA_VALUE_NUMBER ? ga__fill_elements(x, fill)
                                                        : fill_array(name, x, fill.as.array));
}

static gpuarray *zeros_on(const char *name, ga__device *device, ga_dtype dtype, int ndim,
                          const int64_t *shape)
{
    gpuarray *x = ga__array_new(name, device, dtype, ndim, shape);

    if (!x || x->size == 0)
        return x;
    ga__stream *stream = ga__array_stream(NULL, x);
    return ga__array_if(x, stream ? device->backend->memory.zero(stream, x->data, x->buffer->nbytes)
                                  : ga_error());
}

/* A new 1-D or 2-D array filled by `formula`; NULL on failure. */
static gpuarray *make(const ga__formula *formula, ga_dtype dtype, ga_dtype type, int ndim,
                      const int64_t *shape, int inputs, const ga__operand *input)
{
    gpuarray *out = ga__array_new(formula->name, ga__current_device(), dtype, ndim, shape);
    if (!out || ga__fill_by(formula, out, type, inputs, input) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* Complex ranges have real elements, so they are computed in the real dtype. */
gpuarray *ga_arange_values(ga_dtype dtype, ga_value start, ga_value stop, ga_value step)
{
    GA__RANGE("arange");
    /* Like NumPy: stores the first two elements; the others continue with their difference. */
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
    const ga__operand numbers[] = {ga__number_operand("a", type, range.first),
                                   ga__number_operand("b", type, range.second)};
    return make(&formula, dtype, type, 1, &range.length, 2, numbers);
}

gpuarray *(ga_arange)(ga_dtype dtype, double start, double stop, double step)
{
    GA__RANGE("arange");
    return ga_arange_values(dtype, ga_value_double(start), ga_value_double(stop),
                            ga_value_double(step));
}

/* numpy.linspace: start + i * step, where the last element is stop itself; integers round down. */
#define LAST_OR(number) "i > 0 && i == n - 1 ? b : a + ga::times(" number ", c)"
static const ga__formula linspace_floats = {.id = GA__FORMULA_ID(3),
                                            .name = "linspace",
                                            .body = "r = " LAST_OR("(double)i"),
                                            .uses_index = true};
static const ga__formula linspace_integers = {.id = GA__FORMULA_ID(4),
                                              .name = "linspace",
                                              .body = "r = ga::floor(" LAST_OR("(double)i") ")",
                                              .uses_index = true};
/* If the step underflows: multiplies the whole gap by i / steps. */
static const ga__formula linspace_shares = {.id = GA__FORMULA_ID(17),
                                            .name = "linspace",
                                            .body = "r = " LAST_OR("(double)i / d"),
                                            .uses_index = true};

/* Of complex numbers; the factors are real, so that infinite parts stay apart. */
static const ga__formula linspace_complex = {
    .id = GA__FORMULA_ID(18),
    .name = "linspace",
    .body = "const double k = (double)i;\n"
            "r = i > 0 && i == n - 1 ? b : ga_v0(a.re + ga::times(k, c.re), a.im + ga::times(k, "
            "c.im))",
    .uses_index = true};

static gpuarray *linspace_real(ga_dtype dtype, double start, double stop, int64_t num)
{
    const double gap = stop - start, steps = num > 1 ? (double)(num - 1) : 1.0;
    const double step = gap / steps;
    const bool shares = step == 0 && gap != 0;
    const ga__operand numbers[] = {
        ga__number_operand("a", GA_FLOAT64, ga_value_double(start)),
        ga__number_operand("b", GA_FLOAT64, ga_value_double(stop)),
        ga__number_operand("c", GA_FLOAT64, ga_value_double(shares ? gap : step)),
        ga__number_operand("d", GA_FLOAT64, ga_value_double(steps))};
    const char kind = ga__dtype_kind(dtype);
    const bool whole = kind == 'i' || kind == 'u';
    if (shares && !whole)
        return make(&linspace_shares, dtype, GA_FLOAT64, 1, &num, 4, numbers);
    return make(whole ? &linspace_integers : &linspace_floats, dtype, GA_FLOAT64, 1, &num, 3,
                numbers);
}

static ga_value complex_part(ga_value number, double *parts)
{
    const bool is_complex = ga__dtype_kind(number.dtype) == 'c';
    parts[0] = ga__number_double(number);
    parts[1] = is_complex ? number.as.z[1] : 0.0;
    return ga_value_floating(GA_COMPLEX128, parts[0], parts[1]);
}

static gpuarray *linspace_of_complex(ga_dtype dtype, ga_value start, ga_value stop, int64_t num)
{
    double from[2], to[2];
    const ga_value a = complex_part(start, from), b = complex_part(stop, to);
    const double steps = num > 1 ? (double)(num - 1) : 1.0;
    const ga_value step =
        ga_value_floating(GA_COMPLEX128, (to[0] - from[0]) / steps, (to[1] - from[1]) / steps);
    const ga__operand numbers[] = {ga__number_operand("a", GA_COMPLEX128, a),
                                   ga__number_operand("b", GA_COMPLEX128, b),
                                   ga__number_operand("c", GA_COMPLEX128, step)};
    return make(&linspace_complex, dtype, GA_COMPLEX128, 1, &num, 3, numbers);
}

static gpuarray *linspace(ga_dtype dtype, ga_value start, ga_value stop, int64_t num)
{
    const bool is_complex = ga__dtype_kind(start.dtype) == 'c' || ga__dtype_kind(stop.dtype) == 'c';
    if (!is_complex)
        return linspace_real(dtype, ga__number_double(start), ga__number_double(stop), num);
    if (ga__dtype_kind(dtype) != 'c')
        return ga__fail_null(GA_ERR_DTYPE, "linspace: complex numbers do not fit %s",
                             ga_dtype_name(dtype));
    return linspace_of_complex(dtype, start, stop, num);
}

/* Without the stop, the numbers are those of one more without the last. */
static gpuarray *linspace_open(ga_dtype dtype, ga_value start, ga_value stop, int64_t num)
{
    const ga_range all_but_last = GA_UPTO(num, 1);
    gpuarray *closed = linspace(dtype, start, stop, num < INT64_MAX ? num + 1 : num);
    gpuarray *x = closed ? ga_slice_ranges(closed, 1, &all_but_last) : NULL;
    ga_free(closed);
    return x;
}

gpuarray *ga_linspace_values(ga_dtype dtype, ga_value start, ga_value stop, size_t size,
                             const ga_linspace_args *args)
{
    GA__RANGE("linspace");
    ga_linspace_args known;
    if (ga__options_read("linspace", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    if (!ga__dtype_valid(dtype))
        return ga__fail_null(GA_ERR_DTYPE, "linspace: %d is not a dtype", (int)dtype);
    if (ga__check_numeric("linspace", dtype) != GA_OK)
        return NULL;
    if (!ga__is_number(start) || !ga__is_number(stop))
        return ga__fail_null(GA_ERR_INVALID, "linspace: start and stop must be numbers");
    if (known.num < 0)
        return ga__fail_null(GA_ERR_INVALID, "linspace: the length %lld is negative",
                             (long long)known.num);
    return known.endpoint ? linspace(dtype, start, stop, known.num)
                          : linspace_open(dtype, start, stop, known.num);
}

gpuarray *(ga_linspace)(ga_dtype dtype, double start, double stop, int64_t num)
{
    GA__RANGE("linspace");
    const ga_linspace_args args = {.num = num, .endpoint = true};
    return ga_linspace_values(dtype, ga_value_double(start), ga_value_double(stop), sizeof args,
                              &args);
}

gpuarray *ga_eye(ga_dtype dtype, int64_t n)
{
    GA__RANGE("eye");
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(5), .name = "eye", .body = "r = i % (b + 1) == 0", .uses_index = true};
    const int64_t shape[] = {n, n};
    const ga__operand number = ga__number_operand("b", GA_INT64, ga_value_llong(n));
    if (ga__check_numeric("eye", dtype) != GA_OK)
        return NULL;
    return make(&formula, dtype, GA_BOOL, 2, shape, 1, &number);
}

gpuarray *ga_identity(ga_dtype dtype, int64_t n)
{
    GA__CALL("identity");
    return ga_eye(dtype, n);
}

static gpuarray *null_like(const char *name)
{
    return ga__fail_null(GA_ERR_INVALID, "%s: the array is NULL", name);
}

gpuarray *(ga_zeros)(ga_dtype dtype, int ndim, const int64_t *shape)
{
    GA__RANGE("zeros");
    return zeros_on("zeros", ga__current_device(), dtype, ndim, shape);
}

gpuarray *(ga_ones)(ga_dtype dtype, int ndim, const int64_t *shape)
{
    GA__RANGE("ones");
    return full_on("ones", ga__current_device(), dtype, ndim, shape, ga_value_signed(GA_INT64, 1));
}

gpuarray *(ga_full)(ga_dtype dtype, int ndim, const int64_t *shape, ga_value fill)
{
    GA__RANGE("full");
    return full_on("full", ga__current_device(), dtype, ndim, shape, fill);
}

/* The dtype that the options name, or that of x; GA_NO_DTYPE and an error for bad options. */
static ga_dtype dtype_like(const char *name, const gpuarray *x, size_t size,
                           const ga_like_args *args)
{
    ga_like_args known;

    if (ga__options_read(name, &known, sizeof known, args, size) != GA_OK)
        return GA_NO_DTYPE;
    if (!x)
        null_like(name);
    else if (known.dtype != GA_NO_DTYPE && !ga__dtype_valid(known.dtype))
        ga__fail(GA_ERR_DTYPE, "%s: %d is not a dtype", name, (int)known.dtype);
    else
        return known.dtype == GA_NO_DTYPE ? x->dtype : known.dtype;
    return GA_NO_DTYPE;
}

gpuarray *ga_empty_like_with(const gpuarray *x, size_t size, const ga_like_args *args)
{
    const ga_dtype dtype = dtype_like("empty_like", x, size, args);
    return dtype ? ga__array_new("empty_like", x->buffer->device, dtype, x->ndim, x->shape) : NULL;
}

gpuarray *ga_zeros_like_with(const gpuarray *x, size_t size, const ga_like_args *args)
{
    GA__RANGE("zeros_like");
    const ga_dtype dtype = dtype_like("zeros_like", x, size, args);
    return dtype ? zeros_on("zeros_like", x->buffer->device, dtype, x->ndim, x->shape) : NULL;
}

static gpuarray *full_like(const char *name, const gpuarray *x, ga_value fill, size_t size,
                           const ga_like_args *args)
{
    const ga_dtype dtype = dtype_like(name, x, size, args);
    return dtype ? full_on(name, x->buffer->device, dtype, x->ndim, x->shape, fill) : NULL;
}

gpuarray *ga_ones_like_with(const gpuarray *x, size_t size, const ga_like_args *args)
{
    GA__RANGE("ones_like");
    return full_like("ones_like", x, ga_value_signed(GA_INT64, 1), size, args);
}

gpuarray *ga_full_like_with(const gpuarray *x, ga_value fill, size_t size, const ga_like_args *args)
{
    GA__RANGE("full_like");
    return full_like("full_like", x, fill, size, args);
}

static const ga_like_args as_it_is;

gpuarray *(ga_empty_like)(const gpuarray *x)
{
    return ga_empty_like_with(x, sizeof as_it_is, &as_it_is);
}

gpuarray *(ga_zeros_like)(const gpuarray *x)
{
    return ga_zeros_like_with(x, sizeof as_it_is, &as_it_is);
}

gpuarray *(ga_ones_like)(const gpuarray *x)
{
    return ga_ones_like_with(x, sizeof as_it_is, &as_it_is);
}

gpuarray *(ga_full_like)(const gpuarray *x, ga_value fill)
{
    return ga_full_like_with(x, fill, sizeof as_it_is, &as_it_is);
}

static gpuarray *scalar_of_array(ga_dtype dtype, const gpuarray *number)
{
    if (number->ndim > 0)
        return ga__fail_null(GA_ERR_SHAPE, "scalar: an array of shape %s is not a scalar",
                             ga__shape_text(number->ndim, number->shape));
    return ga_astype(number, dtype);
}

gpuarray *(ga_scalar)(ga_dtype dtype, ga_value number)
{
    GA__RANGE("scalar");
    uint64_t element[2] = {0, 0};

    if (number.kind == GA_VALUE_ARRAY)
        return number.as.array
                   ? scalar_of_array(dtype, number.as.array)
                   : ga__fail_null(GA_ERR_INVALID, "scalar: the number is a NULL array");
    if (!ga__is_number(number))
        return ga__fail_null(GA_ERR_INVALID, "scalar: the value is not a number");
    if (ga__check_number("scalar", number, dtype) != GA_OK)
        return NULL;
    gpuarray *x = ga__array_new("scalar", ga__current_device(), dtype, 0, NULL);
    if (!x)
        return NULL;
    ga__dtype_store(dtype, number, element);
    return ga__array_if(x, ga__array_set_element(x, element));
}
