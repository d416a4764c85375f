/* Functions with options, functions with several results, and compositions of table rows. */
#ifndef QUARRY_FUNCTIONS_H
#define QUARRY_FUNCTIONS_H

#include <quarry/each.h>
#include <quarry/error.h>
#include <quarry/ops.h>
#include <quarry/value.h>

#ifdef __cplusplus
#include <limits>
#endif

GA_BEGIN_DECLS

/* Operands are arrays or C numbers, which broadcast (GA_ERR_SHAPE), as in ops.h. Results are new
 * arrays in C order. */

/* ---- Elementwise functions with options ---- */

/* Rounds a to this many decimals, half to even, as numpy.round: ga_round(a, 2). A negative number
 * rounds to tens, hundreds, and so on. An integer dtype too small for that power of 10 gives 0.
 * ga_round(a) rounds to whole numbers. The dtype is that of a. GA_ERR_DTYPE for bool. */
GA_API gpuarray *ga_round_decimals(ga_value a, int decimals);
GA_API ga_status ga_round_decimals_into(gpuarray *out, ga_value a, int decimals);

/* Options of ga_isclose() and ga_allclose(). The macro stores the text of the options in `given`:
 * an option that the text does not name has NumPy's default. If `given` is NULL, every member
 * counts. */
typedef struct ga_close_args {
    double rtol, atol; /* |a - b| <= atol + rtol * |b|; 1e-5 and 1e-8 */
    bool equal_nan;    /* NaN is close to NaN */
    const char *given;
} ga_close_args;

/* ga_isclose(a, b, .rtol = 1e-3, .atol = 0, .equal_nan = true), as numpy.isclose: a new bool array
 * of the broadcast shape. 16-bit and 8-bit floats are compared in float32. */
GA_API gpuarray *ga_isclose_with(ga_value a, ga_value b, size_t size, const ga_close_args *args);

/* Whether all elements are close, as numpy.allclose: ga_allclose(a, b, .rtol = 1e-3). Runs in one
 * pass, without an intermediate array. Waits for the result; returns false on failure. */
GA_API bool ga_allclose_with(ga_value a, ga_value b, size_t size, const ga_close_args *args);

/* Options of ga_array_equal(). */
typedef struct ga_array_equal_args {
    const gpuarray *a, *b;
    bool equal_nan; /* NaN equals NaN */
} ga_array_equal_args;

/* Whether two arrays have the same shape and equal elements, as numpy.array_equal:
 * ga_array_equal(a, b, .equal_nan = true). Different shapes are not an error. Waits for the result;
 * returns false on failure. */
GA_API bool ga_array_equal(size_t size, const ga_array_equal_args *args);

/* Whether the elements are equal after broadcasting, as numpy.array_equiv; false, without an
 * error, if the shapes do not broadcast. Waits for the result; returns false on failure. */
GA_API bool ga_array_equiv(const gpuarray *a, const gpuarray *b);

/* Options of ga_nan_to_num(). The macro stores the text of the options in `given`: an option that
 * the text does not name has NumPy's default. If `given` is NULL, every member counts. */
typedef struct ga_nan_to_num_args {
    double nan; /* 0 */
    double posinf,
        neginf; /* NaN stands for the largest finite number of the dtype, and its negative */
    const char *given;
} ga_nan_to_num_args;

/* ga_nan_to_num(a, .nan = -1, .posinf = 0), as numpy.nan_to_num: a new array of the dtype and
 * shape of a. */
GA_API gpuarray *ga_nan_to_num_with(ga_value a, size_t size, const ga_nan_to_num_args *args);

/* ---- Two results ---- */

/* ga_floor_divide() and ga_remainder() in one pass, as Python's divmod. Both results are new
 * arrays, set only on success; neither pointer may be NULL (GA_ERR_INVALID). Errors are those of
 * the two functions. */
GA_API ga_status ga_divmod(ga_value a, ga_value b, gpuarray **quotient, gpuarray **rest);

/* The same into arrays of one shape, as NumPy's out=(quotient, rest): ga_divmod_into(q, r, a, b).
 * Either may be an operand. GA_ERR_SHAPE and GA_ERR_DTYPE for arrays that do not take the results;
 * GA_ERR_INVALID if they share memory. */
GA_API ga_status ga_divmod_into(gpuarray *quotient, gpuarray *rest, ga_value a, ga_value b);

/* ---- Averages and covariances ---- */

/* Options of ga_average(). */
typedef struct ga_average_args {
    const gpuarray *x;
    GA_NAMED_OPTIONS_;
    int naxes; /* as in ga_reduce_args */
    const int *axes;
    const gpuarray *weights; /* the shape of x, or 1-D along a single axis; NULL: all 1 */
    gpuarray **returned;     /* receives the sums of the weights, a new array */
    bool keepdims;
} ga_average_args;

/* ga_average(x, GA_AXIS(0), .weights = w, .returned = &sums): the sum of x * w divided by the sum
 * of w, as numpy.average, in one pass; without weights the mean. Weights that sum to 0 give NaN or
 * infinity, where NumPy raises ZeroDivisionError: the call does not wait for their sum.
 * GA_ERR_SHAPE if the weights do not match x; GA_ERR_INVALID if a result has no weights to sum. */
GA_API gpuarray *ga_average(size_t size, const ga_average_args *args);

/* Options of ga_cov() and ga_corrcoef(). */
typedef struct ga_cov_args {
    const gpuarray *x; /* each row is a variable, each column an observation; 1-D: one variable */
    const gpuarray *y; /* more variables, or NULL */
    bool columns;      /* variables are columns: NumPy's rowvar=False */
    bool bias;         /* divide by the number n of observations, not by n - 1 */
    int ddof;          /* unless 0: divide by n - ddof */
    const gpuarray *fweights; /* how often each observation counts, integers; or NULL */
    const gpuarray *aweights; /* the weight of each observation, not negative; or NULL */
} ga_cov_args;

/* ga_cov(x, .y = y, .bias = true): the covariance matrix, as numpy.cov, in float64 or complex128.
 * For one variable the result is a 0-d array, without observations all NaN. With weights the call
 * waits for their sum. If x has no variables, the result is float64 of shape (0, 0), as in NumPy,
 * whatever y and the weights are. GA_ERR_SHAPE if x has more than two axes, or if x, y and the
 * weights have different numbers of observations; GA_ERR_INVALID for negative weights and for
 * weights that sum to 0; GA_ERR_DTYPE for `fweights` that are not integers and `aweights` that are
 * not real. NaN or infinity if n - ddof is 0. */
GA_API gpuarray *ga_cov(size_t size, const ga_cov_args *args);

/* The matrix of correlation coefficients, as numpy.corrcoef: each covariance divided by both
 * standard deviations. `bias` and `ddof` have no effect. A variable without variance gives NaN. */
GA_API gpuarray *ga_corrcoef(size_t size, const ga_cov_args *args);

/* ---- Dtypes ---- */

/* The result dtype of an operation on arrays and numbers, as numpy.result_type:
 * ga_result_type_of(x, 2, y). Only the kind of a number counts. GA_NO_DTYPE and GA_ERR_DTYPE if
 * there is no common dtype. */
GA_API ga_dtype ga_result_type_of(int count, const ga_value *values);

/* Whether a cast is "no", "equiv", "safe", "same_kind" or "unsafe" enough, as numpy.can_cast. false
 * and GA_ERR_INVALID for another word, GA_ERR_DTYPE if an argument is not a dtype. */
GA_API bool ga_can_cast_as(ga_dtype from, ga_dtype to, const char *casting);

/* ---- Windows and ranges ---- */

/* NumPy's window functions with m points, whose value at the middle is 1; an empty array for m <
 * 1. Each is computed in float64 and stored as dtype; `beta` is the shape of the Kaiser window. */
GA_API gpuarray *ga_bartlett(ga_dtype dtype, int64_t m);
GA_API gpuarray *ga_blackman(ga_dtype dtype, int64_t m);
GA_API gpuarray *ga_hamming(ga_dtype dtype, int64_t m);
GA_API gpuarray *ga_hanning(ga_dtype dtype, int64_t m);
GA_API gpuarray *ga_kaiser(ga_dtype dtype, int64_t m, double beta);

/* Options of ga_logspace() and ga_geomspace(). The macro stores the text of the options in
 * `given`: an option that the text does not name has NumPy's default. If `given` is NULL, every
 * member counts. */
typedef struct ga_logspace_args {
    int64_t num;
    bool endpoint; /* the stop is the last number; true */
    double base;   /* for ga_logspace(); 10 */
    const char *given;
} ga_logspace_args;

/* base ** start to base ** stop, evenly spaced on a log scale, as numpy.logspace:
 * ga_logspace(GA_FLOAT64, 0, 3, 4, .base = 2). GA_ERR_INVALID for a negative num. */
GA_API gpuarray *ga_logspace_with(ga_dtype dtype, double start, double stop, size_t size,
                                  const ga_logspace_args *args);

/* `num` numbers from start to stop in a geometric progression, as numpy.geomspace of real numbers.
 * GA_ERR_INVALID if either is 0, if their signs differ, or for a negative num. */
GA_API gpuarray *ga_geomspace_with(ga_dtype dtype, double start, double stop, size_t size,
                                   const ga_logspace_args *args);

GA_END_DECLS

/* clang-format off */
#define ga_round_into(out, a) GA_AT_(ga_round_into, out, GA_V(a))
#define ga_isclose_into(out, a, b) GA_AT_(ga_isclose_into, out, GA_V(a), GA_V(b))
#define ga_nan_to_num_into(out, a) GA_AT_(ga_nan_to_num_into, out, GA_V(a))
#define ga_round(...) GA_JOIN_(GA_ROUND_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__)
#define GA_ROUND_ONE(a) GA_AT_(ga_round, GA_V(a))
#define GA_ROUND_MANY(a, decimals) GA_AT_(ga_round_decimals, GA_V(a), decimals)
#define ga_round_decimals(a, decimals) GA_AT_(ga_round_decimals, GA_V(a), decimals)
#define ga_round_decimals_into(out, a, decimals) \
    GA_AT_(ga_round_decimals_into, out, GA_V(a), decimals)
#define ga_divmod(a, b, quotient, rest) GA_AT_(ga_divmod, GA_V(a), GA_V(b), quotient, rest)
#define ga_divmod_into(quotient, rest, a, b) \
    GA_AT_(ga_divmod_into, quotient, rest, GA_V(a), GA_V(b))

/* The text of the options, with their macros expanded. */
#define GA_TEXT_(...) GA_TEXT2_(__VA_ARGS__)
#define GA_TEXT2_(...) "" #__VA_ARGS__

#define ga_isclose(a, ...) GA_JOIN_(GA_CLOSE_, GA_MANY_(__VA_ARGS__))(ga_isclose, a, __VA_ARGS__)
#define ga_allclose(a, ...) GA_JOIN_(GA_CLOSE_, GA_MANY_(__VA_ARGS__))(ga_allclose, a, __VA_ARGS__)
#define ga_nan_to_num(...) GA_JOIN_(GA_NAN_TO_NUM_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__)
#define GA_NAN_TO_NUM_ONE(a) GA_AT_(ga_nan_to_num, GA_V(a))
#define ga_logspace(dtype, start, stop, ...) \
    GA_LOGSPACE_(ga_logspace_with, dtype, start, stop, __VA_ARGS__)
#define ga_geomspace(dtype, start, stop, ...) \
    GA_LOGSPACE_(ga_geomspace_with, dtype, start, stop, __VA_ARGS__)
#ifdef __cplusplus
template <class... Values> inline ga_dtype ga_result_type_of_(Values... values)
{
    const ga_value list[] = {GA_V(values)...};
    return ga_result_type_of(static_cast<int>(sizeof...(values)), list);
}
#define ga_result_type_of(...) GA_HERE_(ga_result_type_of_(__VA_ARGS__))
/* Defaults of the options. C++17 takes these structs in braces, with their members in order. */
struct ga_close_options_ {
    double rtol = 1e-5, atol = 1e-8;
    bool equal_nan = false;
};
struct ga_nan_to_num_options_ {
    double nan = 0;
    double posinf = std::numeric_limits<double>::quiet_NaN();
    double neginf = std::numeric_limits<double>::quiet_NaN();
};
struct ga_logspace_options_ {
    int64_t num = 0;
    bool endpoint = true;
    double base = 10;
};
/* In C++20 these two take designated initialisers, as in C; in C++17 an array, or the structs. */
struct ga_average_options_ {
    const gpuarray *x = nullptr;
    int naxes = 0;
    const int *axes = nullptr;
    const gpuarray *weights = nullptr;
    gpuarray **returned = nullptr;
    bool keepdims = false;
    operator ga_average_args() const
    {
        return ga_average_args{x, naxes, axes, weights, returned, keepdims};
    }
};
struct ga_cov_options_ {
    const gpuarray *x = nullptr, *y = nullptr;
    bool columns = false, bias = false;
    int ddof = 0;
    const gpuarray *fweights = nullptr, *aweights = nullptr;
    operator ga_cov_args() const
    {
        return ga_cov_args{x, y, columns, bias, ddof, fweights, aweights};
    }
};
inline ga_average_args ga_average_args_(const gpuarray *x)
{
    return ga_average_args{x, 0, nullptr, nullptr, nullptr, false};
}
inline ga_average_args ga_average_args_(const ga_average_args &args) { return args; }
inline ga_cov_args ga_cov_args_(const gpuarray *x)
{
    return ga_cov_args{x, nullptr, false, false, 0, nullptr, nullptr};
}
inline ga_cov_args ga_cov_args_(const ga_cov_args &args) { return args; }
template <class Function, class Args>
inline gpuarray *ga_moments_call_(Function f, const Args &args)
{
    return f(sizeof args, &args);
}
#define ga_average(...) \
    GA_HERE_(ga_moments_call_( \
        ga_average, \
        ga_average_args(GA_JOIN_(GA_AVERAGE_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__))))
#define GA_AVERAGE_ONE(x) ga_average_args_(x)
#define GA_AVERAGE_MANY(...) (ga_average_options_{.x = __VA_ARGS__})
#define GA_COV_CALL_(f, ...) \
    GA_HERE_(ga_moments_call_( \
        f, ga_cov_args(GA_JOIN_(GA_COV_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__))))
#define GA_COV_ONE(x) ga_cov_args_(x)
#define GA_COV_MANY(...) (ga_cov_options_{.x = __VA_ARGS__})
template <class Function, class A, class B>
inline auto ga_close_call_(Function f, A a, B b, const ga_close_options_ &o = {})
{
    const ga_close_args args = {o.rtol, o.atol, o.equal_nan, nullptr};
    return f(GA_V(a), GA_V(b), sizeof args, &args);
}
template <class A> inline gpuarray *ga_nan_to_num_call_(A a, const ga_nan_to_num_options_ &o)
{
    const ga_nan_to_num_args args = {o.nan, o.posinf, o.neginf, nullptr};
    return ga_nan_to_num_with(GA_V(a), sizeof args, &args);
}
template <class Function>
inline gpuarray *ga_logspace_call_(Function f, ga_dtype dtype, double start, double stop,
                                   const ga_logspace_options_ &o)
{
    const ga_logspace_args args = {o.num, o.endpoint, o.base, nullptr};
    return f(dtype, start, stop, sizeof args, &args);
}
#define GA_CLOSE_ONE(f, a, b) GA_HERE_(ga_close_call_(f##_with, a, b))
#define GA_CLOSE_MANY(f, a, b, ...) GA_HERE_(ga_close_call_(f##_with, a, b, {__VA_ARGS__}))
#define GA_NAN_TO_NUM_MANY(a, ...) GA_HERE_(ga_nan_to_num_call_(a, {__VA_ARGS__}))
#if __cplusplus >= 202002L
#define GA_LOGSPACE_OPTIONS_(...) (ga_logspace_options_{.num = __VA_ARGS__})
#else
#define GA_LOGSPACE_OPTIONS_(...) {__VA_ARGS__}
#endif
#define GA_LOGSPACE_(f, dtype, start, stop, ...) \
    GA_HERE_(ga_logspace_call_(f, dtype, start, stop, GA_LOGSPACE_OPTIONS_(__VA_ARGS__)))
struct ga_array_equal_options_ {
    bool equal_nan = false;
};
inline bool ga_array_equal_(const gpuarray *a, const gpuarray *b,
                            const ga_array_equal_options_ &o = {})
{
    const ga_array_equal_args args = {a, b, o.equal_nan};
    return ga_array_equal(sizeof args, &args);
}
#define ga_array_equal(a, ...) \
    GA_HERE_(GA_JOIN_(GA_ARRAY_EQUAL_, GA_MANY_(__VA_ARGS__))(a, __VA_ARGS__))
#define GA_ARRAY_EQUAL_ONE(a, b) ga_array_equal_(a, b)
#define GA_ARRAY_EQUAL_MANY(a, b, ...) ga_array_equal_(a, b, {__VA_ARGS__})
#else
#define ga_result_type_of(...) GA_AT_(ga_result_type_of, GA_VALUES_(__VA_ARGS__))
#define GA_CLOSE_ONE(f, a, b) \
    GA_AT_(f##_with, GA_V(a), GA_V(b), sizeof(ga_close_args), &(ga_close_args){.given = ""})
#define GA_CLOSE_MANY(f, a, b, ...) \
    GA_AT_(f##_with, GA_V(a), GA_V(b), sizeof(ga_close_args), \
           &(ga_close_args){.given = GA_TEXT_(__VA_ARGS__), __VA_ARGS__})
#define GA_NAN_TO_NUM_MANY(a, ...) \
    GA_AT_(ga_nan_to_num_with, GA_V(a), sizeof(ga_nan_to_num_args), \
           &(ga_nan_to_num_args){.given = GA_TEXT_(__VA_ARGS__), __VA_ARGS__})
#define GA_LOGSPACE_(f, dtype, start, stop, ...) \
    GA_AT_(f, dtype, start, stop, sizeof(ga_logspace_args), \
           &(ga_logspace_args){.given = GA_TEXT_(__VA_ARGS__), .num = __VA_ARGS__})
#define ga_array_equal(x, ...) \
    GA_AT_(ga_array_equal, sizeof(ga_array_equal_args), \
           &(ga_array_equal_args){.a = x, .b = __VA_ARGS__})
#define ga_average(...) \
    GA_AT_(ga_average, sizeof(ga_average_args), &(ga_average_args){.x = __VA_ARGS__})
#define GA_COV_CALL_(f, ...) GA_AT_(f, sizeof(ga_cov_args), &(ga_cov_args){.x = __VA_ARGS__})
#endif
#define ga_cov(...) GA_COV_CALL_(ga_cov, __VA_ARGS__)
#define ga_corrcoef(...) GA_COV_CALL_(ga_corrcoef, __VA_ARGS__)
/* clang-format on */

#endif
