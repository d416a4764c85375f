/* Series of numbers along an axis: derivatives, integrals, phases, polynomials, convolutions. */
#ifndef QUARRY_SERIES_H
#define QUARRY_SERIES_H

#include <quarry/array.h>
#include <quarry/each.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* Results are new arrays in C order. Integers and bool are computed in float64 unless a comment
 * says otherwise; floats and complex numbers keep their dtype. An axis of a 0-d array is
 * GA_ERR_INVALID. */

/* Arguments of ga_gradient(). In C: ga_gradient(x, GA_AXIS(0), .spacing = GA_V(0.1)). */
typedef struct ga_gradient_args {
    const gpuarray *x;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the only axis */
    const int *axes;
    ga_value spacing; /* a number, or a 1-D array of coordinates; default: 1 */
    int edge_order;   /* the order of the differences at the ends: 1 (or 0) or 2 */
} ga_gradient_args;

/* The derivative along an axis by central differences, as numpy.gradient: second order inside,
 * order `edge_order` at the ends. GA_ERR_SHAPE for fewer than edge_order + 1 elements or another
 * number of coordinates; GA_ERR_INVALID for another edge_order, or if x has several axes and the
 * call names none: ga_gradients() takes all; GA_ERR_DTYPE for complex coordinates. */
GA_API gpuarray *ga_gradient(size_t size, const ga_gradient_args *args);

/* The derivatives along several axes, a new array for each, set only on success: ga_gradients(x,
 * 0, NULL, NULL, 1, out) along all, as numpy.gradient. `spacings` has the spacing of each axis as
 * above: GA_V(0.1), GA_V(coordinates); NULL: 1. GA_ERR_INVALID also for a repeated axis. */
GA_API ga_status ga_gradients(const gpuarray *x, int naxes, const int *axes,
                              const ga_value *spacings, int edge_order, gpuarray **out);

/* Arguments of ga_trapezoid(). In C: ga_trapezoid(y, .dx = 0.5). */
typedef struct ga_trapezoid_args {
    const gpuarray *y;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the last axis */
    const int *axes;
    const gpuarray *x; /* the coordinates: 1-D, or of y's shape; or NULL */
    double dx;         /* the distance between points if x is NULL; 0 means 1 */
} ga_trapezoid_args;

/* The integral along an axis by the trapezoidal rule, as numpy.trapezoid, in one pass; 0 for a
 * single point. GA_ERR_SHAPE for coordinates of another shape. */
GA_API gpuarray *ga_trapezoid(size_t size, const ga_trapezoid_args *args);

/* Arguments of ga_unwrap(). In C: ga_unwrap(phase, GA_AXIS(0)). */
typedef struct ga_unwrap_args {
    const gpuarray *x;
    GA_NAMED_OPTIONS_;
    int naxes; /* 1, or 0: the last axis */
    const int *axes;
    double discont; /* smaller steps stay; half a period if it is less, as if it is 0 */
    double period;  /* 0 means 2 pi */
} ga_unwrap_args;

/* Phases without jumps of more than half a period, as numpy.unwrap; integers give float64 even with
 * an integer period, where NumPy keeps their dtype. GA_ERR_DTYPE for complex numbers,
 * GA_ERR_INVALID for a period that is not positive. */
GA_API gpuarray *ga_unwrap(size_t size, const ga_unwrap_args *args);

/* The value at each x of the polynomial with the 1-D coefficients p, the highest power first, by
 * Horner's rule, as numpy.polyval, in the common dtype; 0 for no coefficients. GA_ERR_SHAPE if p
 * is not 1-D. */
GA_API gpuarray *ga_polyval(const gpuarray *p, const gpuarray *x);

/* Arguments of ga_convolve() and ga_correlate(). In C: ga_convolve(a, v, .mode = "same"). */
typedef struct ga_convolve_args {
    const gpuarray *a, *v;
    const char
        *mode; /* "full", "same" or "valid"; NULL: "full" for convolve, "valid" for correlate */
} ga_convolve_args;

/* The convolution and the correlation of two 1-D arrays, as numpy.convolve and numpy.correlate,
 * which conjugates v, in the common dtype, integers too: bool gives bool. For n and m elements,
 * "full" has n + m - 1, "same" the larger of both, and "valid" max(n, m) - min(n, m) + 1. Both are
 * computed directly, at a cost of the product of the lengths, so one array should be short.
 * GA_ERR_SHAPE for other dimensions or no elements, GA_ERR_INVALID for an unknown mode. */
GA_API gpuarray *ga_convolve(size_t size, const ga_convolve_args *args);
GA_API gpuarray *ga_correlate(size_t size, const ga_convolve_args *args);

GA_END_DECLS

#ifdef __cplusplus
struct ga_gradient_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    ga_value spacing = {};
    int edge_order = 0;
};
struct ga_trapezoid_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    const gpuarray *x = nullptr;
    double dx = 0;
};
struct ga_unwrap_rest_ {
    int naxes = 0;
    const int *axes = nullptr;
    double discont = 0, period = 0;
};
struct ga_convolve_rest_ {
    const char *mode = nullptr;
};
inline gpuarray *ga_gradient_(const gpuarray *x, const ga_gradient_rest_ &r = {})
{
    const ga_gradient_args args = {x, r.naxes, r.axes, r.spacing, r.edge_order};
    return ga_gradient(sizeof args, &args);
}
inline gpuarray *ga_trapezoid_(const gpuarray *y, const ga_trapezoid_rest_ &r = {})
{
    const ga_trapezoid_args args = {y, r.naxes, r.axes, r.x, r.dx};
    return ga_trapezoid(sizeof args, &args);
}
inline gpuarray *ga_unwrap_(const gpuarray *x, const ga_unwrap_rest_ &r = {})
{
    const ga_unwrap_args args = {x, r.naxes, r.axes, r.discont, r.period};
    return ga_unwrap(sizeof args, &args);
}
template <class Function>
inline gpuarray *ga_convolve_(Function f, const gpuarray *a, const gpuarray *v,
                              const ga_convolve_rest_ &r = {})
{
    const ga_convolve_args args = {a, v, r.mode};
    return f(sizeof args, &args);
}
#define GA_SERIES_CALL_(f, ...)                                                                    \
    GA_HERE_(GA_JOIN_(GA_SERIES_, GA_MANY_(__VA_ARGS__))(f, __VA_ARGS__))
#define GA_SERIES_ONE(f, x) f(x)
#define GA_SERIES_MANY(f, x, ...) f(x, {__VA_ARGS__})
#define ga_gradient(...) GA_SERIES_CALL_(ga_gradient_, __VA_ARGS__)
#define ga_trapezoid(...) GA_SERIES_CALL_(ga_trapezoid_, __VA_ARGS__)
#define ga_unwrap(...) GA_SERIES_CALL_(ga_unwrap_, __VA_ARGS__)
#define GA_CONVOLVE_CALL_(f, a, ...)                                                               \
    GA_HERE_(GA_JOIN_(GA_CONVOLVE_, GA_MANY_(__VA_ARGS__))(f, a, __VA_ARGS__))
#define GA_CONVOLVE_ONE(f, a, v) ga_convolve_(f, a, v)
#define GA_CONVOLVE_MANY(f, a, v, ...) ga_convolve_(f, a, v, {__VA_ARGS__})
#else
#define ga_gradient(...)                                                                           \
    GA_AT_(ga_gradient, sizeof(ga_gradient_args), &(ga_gradient_args){.x = __VA_ARGS__})
#define ga_trapezoid(...)                                                                          \
    GA_AT_(ga_trapezoid, sizeof(ga_trapezoid_args), &(ga_trapezoid_args){.y = __VA_ARGS__})
#define ga_unwrap(...)                                                                             \
    GA_AT_(ga_unwrap, sizeof(ga_unwrap_args), &(ga_unwrap_args){.x = __VA_ARGS__})
#define GA_CONVOLVE_CALL_(f, first, ...)                                                           \
    GA_AT_(f, sizeof(ga_convolve_args), &(ga_convolve_args){.a = first, .v = __VA_ARGS__})
#endif
#define ga_convolve(a, ...) GA_CONVOLVE_CALL_(ga_convolve, a, __VA_ARGS__)
#define ga_correlate(a, ...) GA_CONVOLVE_CALL_(ga_correlate, a, __VA_ARGS__)

#endif
