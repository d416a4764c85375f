/* Comparisons of arrays as wholes, and with tolerances. */
#include <quarry/array.h>
#include <quarry/functions.h>

#include "base/call.h"
#include "base/error.h"
#include "base/given.h"
#include "base/options.h"
#include "ops/elementwise_op.h"
#include "ops/functions/parts.h"

#define CLOSE(a, b) "ga::isclose(" #a ", " #b ", p, q, s != 0)"

static const ga__row isclose_row = {
    .formula = {.id = GA__FORMULA_ID(102), .name = "isclose", .body = "r = " CLOSE(a, b)},
    .kinds = "?iufc",
    .rule = GA__RULE_DOUBLE,
    .result = GA__RESULT_BOOL,
    .inputs = 2};

/* A test of two elements whose answers `all` folds. */
typedef struct test {
    const char *name, *map;
    ga__hash128 id;
    ga__rule rule;
} test;

static const test is_close = {"allclose", "return {" CLOSE(x, y) "}", GA__FORMULA_ID(103),
                              GA__RULE_DOUBLE};
static const test is_equal = {"array_equal", "return {ga::equal(x, y)}", GA__FORMULA_ID(104),
                              GA__RULE_COMPARE};
static const test is_equal_or_nan = {"array_equal",
                                     "return {ga::equal(x, y) || (ga::isnan(x) && ga::isnan(y))}",
                                     GA__FORMULA_ID(105), GA__RULE_COMPARE};

/* rtol, atol and equal_nan. */
static ga_status read_numbers(const char *name, size_t size, const ga_close_args *args,
                              double *numbers)
{
    ga_close_args known;
    const ga_status status = ga__options_read(name, &known, sizeof known, args, size);
    if (status != GA_OK)
        return status;
    numbers[0] = ga__option_given(known.given, "rtol") ? known.rtol : 1e-5;
    numbers[1] = ga__option_given(known.given, "atol") ? known.atol : 1e-8;
    numbers[2] = known.equal_nan;
    return GA_OK;
}

gpuarray *ga_isclose_with(ga_value a, ga_value b, size_t size, const ga_close_args *args)
{
    GA__CALL("isclose");
    double numbers[GA__MAX_NUMBERS];
    if (read_numbers("isclose", size, args, numbers) != GA_OK)
        return NULL;
    return ga__apply_numbers(&isclose_row, NULL, (ga_value[]){a, b}, GA__MAX_NUMBERS, numbers);
}

/* ---- Tests of all elements ---- */

/* Both as operands of one shape; *views are to be freed. */
static ga_status set_operands(const test *t, const ga_value *values, int ndim, const int64_t *shape,
                              ga__operand *operands, gpuarray **views)
{
    static const char *const names[] = {"x", "y"};
    ga__operand_type types[2];
    ga_dtype loop[2], common;
    for (int k = 0; k < 2; k++) {
        const bool weak = values[k].kind == GA_VALUE_NUMBER;
        types[k] =
            (ga__operand_type){weak ? values[k].dtype : values[k].as.array->dtype, weak, values[k]};
    }
    const ga_status status = ga__resolve(t->name, "?iufc", t->rule, 2, types, loop, &common);
    if (status != GA_OK)
        return status;
    for (int k = 0; k < 2; k++) {
        operands[k] =
            (ga__operand){.name = names[k], .number = values[k], .type = loop[k], .reads = true};
        if (values[k].kind == GA_VALUE_NUMBER)
            continue;
        operands[k].array = views[k] = ga_broadcast_to(values[k].as.array, ndim, shape);
        if (!views[k])
            return ga_error();
    }
    return GA_OK;
}

/* Whether the test holds for all elements; false on failure. */
static bool all_pass(const test *t, const ga_value *values, ga__device *device, int ndim,
                     const int64_t *shape, const double *numbers)
{
    static const char *const names[] = {"p", "q", "s"};
    const int count = numbers ? GA__MAX_NUMBERS : 0;
    ga__operand operands[2 + GA__MAX_NUMBERS];
    gpuarray *views[2] = {NULL, NULL}, *out = NULL;
    bool reduced[GA_MAX_NDIM], answer = false;
    ga__reduction r = ga__reduction_of(GA__ROW_all, t->map, GA_BOOL, 0);
    r.formula.base.id = t->id;
    r.formula.base.name = t->name;
    for (int axis = 0; axis < ndim; axis++)
        reduced[axis] = true;
    for (int k = 0; k < count; k++)
        operands[2 + k] = (ga__operand){.name = names[k],
                                        .number = ga_value_double(numbers[k]),
                                        .type = GA_FLOAT64,
                                        .reads = true};
    if (set_operands(t, values, ndim, shape, operands, views) == GA_OK &&
        (out = ga__array_new(t->name, device, GA_BOOL, 0, NULL)) != NULL &&
        ga__reduce(&r, device, ndim, shape, reduced, 2 + count, operands, &out) == GA_OK)
        answer = ga_item_bool(out);
    ga_free(out);
    ga_free(views[0]);
    ga_free(views[1]);
    return answer;
}

/* The shape to which both broadcast; false if they do not. */
static bool common_shape(const ga_value *values, int *ndim, int64_t *shape)
{
    *ndim = 0;
    for (int k = 0; k < 2; k++) {
        const gpuarray *x = values[k].kind == GA_VALUE_ARRAY ? values[k].as.array : NULL;
        if (x && !ga__broadcast_shape(ndim, shape, x->ndim, x->shape))
            return false;
    }
    return true;
}

bool ga_allclose_with(ga_value a, ga_value b, size_t size, const ga_close_args *args)
{
    GA__CALL("allclose");
    const ga_value values[] = {a, b};
    double numbers[GA__MAX_NUMBERS];
    ga__device *device;
    int64_t shape[GA_MAX_NDIM];
    int ndim;
    if (read_numbers("allclose", size, args, numbers) != GA_OK ||
        ga__check_values("allclose", 2, values, &device) != GA_OK)
        return false;
    if (common_shape(values, &ndim, shape))
        return all_pass(&is_close, values, device, ndim, shape, numbers);
    ga__fail(GA_ERR_SHAPE, "allclose: shapes %s and %s do not broadcast",
             ga__shape_text(a.as.array->ndim, a.as.array->shape),
             ga__shape_text(b.as.array->ndim, b.as.array->shape));
    return false;
}

static bool equal_arrays(const gpuarray *a, const gpuarray *b, bool broadcasts, const test *t)
{
    const ga_value values[] = {ga_value_array(a), ga_value_array(b)};
    ga__device *device;
    int64_t shape[GA_MAX_NDIM];
    int ndim;
    if (ga__check_values(broadcasts ? "array_equiv" : "array_equal", 2, values, &device) != GA_OK)
        return false;
    if (!broadcasts && !ga__same_shape(a->ndim, a->shape, b->ndim, b->shape))
        return false;
    return common_shape(values, &ndim, shape) && all_pass(t, values, device, ndim, shape, NULL);
}

bool(ga_array_equal)(size_t size, const ga_array_equal_args *args)
{
    GA__CALL("array_equal");
    ga_array_equal_args known;
    if (ga__options_read("array_equal", &known, sizeof known, args, size) != GA_OK)
        return false;
    return equal_arrays(known.a, known.b, false, known.equal_nan ? &is_equal_or_nan : &is_equal);
}

bool ga_array_equiv(const gpuarray *a, const gpuarray *b)
{
    GA__CALL("array_equiv");
    return equal_arrays(a, b, true, &is_equal);
}
