/* Makes windows, and numbers that are evenly spaced on a log scale. */
#include <math.h>

#include <quarry/functions.h>

#include "base/call.h"
#include "base/error.h"
#include "base/given.h"
#include "base/options.h"
#include "ops/convert.h"

#define PI "3.14159265358979323846"
/* The distance from the middle, in [-1, 1], as NumPy rounds it. */
#define PLACE "const double k = (double)(2 * (long long)i - a + 1);\n"

/* A new 1-D array that a formula over numbers of double fills. NULL on failure. */
static gpuarray *make(const ga__formula *formula, ga_dtype dtype, int64_t length, int count,
                      const double *numbers)
{
    static const char *const names[] = {"a", "b", "c", "d"};
    ga__operand operands[4];
    if (length < 0)
        length = 0;
    gpuarray *out = ga__array_new(formula->name, ga__current_device(), dtype, 1, &length);
    for (int k = 0; k < count; k++)
        operands[k] = ga__number_operand(names[k], GA_FLOAT64, ga_value_double(numbers[k]));
    if (!out || ga__fill_by(formula, out, GA_FLOAT64, count, operands) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* A window of one number is 1; the formulas divide by m - 1. */
static gpuarray *window(const ga__formula *formula, ga_dtype dtype, int64_t m, double beta)
{
    const double numbers[] = {(double)m, m > 1 ? (double)(m - 1) : 1, beta};
    return make(formula, dtype, m, 3, numbers);
}

gpuarray *ga_bartlett(ga_dtype dtype, int64_t m)
{
    GA__CALL("bartlett");
    static const ga__formula formula = {.id = GA__FORMULA_ID(106),
                                        .name = "bartlett",
                                        .body = PLACE "r = k <= 0 ? 1 + k / b : 1 - k / b",
                                        .uses_index = true};
    return window(&formula, dtype, m, 0);
}

gpuarray *ga_blackman(ga_dtype dtype, int64_t m)
{
    GA__CALL("blackman");
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(107),
        .name = "blackman",
        .body = PLACE "r = a == 1 ? 1 : 0.42 + ga::times(0.5, ga::cos(" PI " * k / b)) + "
                      "ga::times(0.08, ga::cos(2 * " PI " * k / b))",
        .uses_index = true};
    return window(&formula, dtype, m, 0);
}

gpuarray *ga_hamming(ga_dtype dtype, int64_t m)
{
    GA__CALL("hamming");
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(108),
        .name = "hamming",
        .body = PLACE "r = a == 1 ? 1 : 0.54 + ga::times(0.46, ga::cos(" PI " * k / b))",
        .uses_index = true};
    return window(&formula, dtype, m, 0);
}

gpuarray *ga_hanning(ga_dtype dtype, int64_t m)
{
    GA__CALL("hanning");
    static const ga__formula formula = {.id = GA__FORMULA_ID(109),
                                        .name = "hanning",
                                        .body = PLACE "r = 0.5 + ga::times(0.5, ga::cos(" PI
                                                      " * k / b))",
                                        .uses_index = true};
    return window(&formula, dtype, m, 0);
}

gpuarray *ga_kaiser(ga_dtype dtype, int64_t m, double beta)
{
    GA__CALL("kaiser");
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(110),
        .name = "kaiser",
        .body = PLACE "const double x = k / b;\n"
                      "r = a == 1 ? 1 : ga::i0(c * ga::sqrt((1 - x) * (1 + x))) / ga::i0(c)",
        .uses_index = true};
    return window(&formula, dtype, m, beta);
}

/* ---- Log scales ---- */

/* As linspace: start + i * step, where the last number is the stop itself. */
#define PLACE_OF "i > 0 && i == n - 1 && d > 0 ? b : a + ga::times((double)i, c)"

/* Reads the options; *steps is how many steps lie between start and stop. */
static ga_status read_options(const char *name, size_t size, const ga_logspace_args *args,
                              ga_logspace_args *known, double *steps)
{
    const ga_status status = ga__options_read(name, known, sizeof *known, args, size);
    if (status != GA_OK)
        return status;
    if (!ga__option_given(known->given, "endpoint"))
        known->endpoint = true;
    if (!ga__option_given(known->given, "base"))
        known->base = 10;
    if (known->num < 0)
        return ga__fail(GA_ERR_INVALID, "%s: the length %lld is negative", name,
                        (long long)known->num);
    const int64_t count = known->num - known->endpoint;
    *steps = count > 0 ? (double)count : 1;
    return GA_OK;
}

gpuarray *ga_logspace_with(ga_dtype dtype, double start, double stop, size_t size,
                           const ga_logspace_args *args)
{
    GA__CALL("logspace");
    static const ga__formula formula = {.id = GA__FORMULA_ID(111),
                                        .name = "logspace",
                                        .body = "r = ga::power(ga::fabs(d), " PLACE_OF ")",
                                        .uses_index = true};
    ga_logspace_args known;
    double steps = 1;
    if (read_options("logspace", size, args, &known, &steps) != GA_OK)
        return NULL;
    /* d is the base, which is positive: its sign tells whether the stop is an element. */
    const double numbers[] = {start, stop, (stop - start) / steps,
                              known.endpoint ? known.base : -known.base};
    if (!(known.base > 0))
        return ga__fail_null(GA_ERR_INVALID, "logspace: the base %.17g is not positive",
                             known.base);
    return make(&formula, dtype, known.num, 4, numbers);
}

gpuarray *ga_geomspace_with(ga_dtype dtype, double start, double stop, size_t size,
                            const ga_logspace_args *args)
{
    GA__CALL("geomspace");
    /* a and b are the ends, c the step of the logarithm, d > 0 if the stop is an element. */
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(112),
        .name = "geomspace",
        .body = "const double y = ga::log10(ga::fabs(a)) + ga::times((double)i, c);\n"
                "r = i == 0 ? a : i == n - 1 && d > 0 ? b : ga::copysign(ga::power(10.0, y), a)",
        .uses_index = true};
    ga_logspace_args known;
    double steps = 1;
    if (read_options("geomspace", size, args, &known, &steps) != GA_OK)
        return NULL;
    if (!(start * stop > 0) && !(start > 0 && stop > 0) && !(start < 0 && stop < 0))
        return ga__fail_null(
            GA_ERR_INVALID,
            "geomspace: start %.17g and stop %.17g must not be 0 and must have the same sign",
            start, stop);
    const double numbers[] = {start, stop, (log10(fabs(stop)) - log10(fabs(start))) / steps,
                              known.endpoint ? 1 : -1};
    return make(&formula, dtype, known.num, 4, numbers);
}
