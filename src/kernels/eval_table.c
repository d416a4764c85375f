/* The tables of operations as data: what an expression may call, by name. */
#include "kernels/eval_table.h"

#include <string.h>

#define EMPTY_IS_ERROR_ANY false
#define EMPTY_IS_ERROR_ERROR true
#define ROUNDS_LONG false
#define ROUNDS_SHORT true
#define GA_REDUCE(name, kinds, rule, result, empty, chain, accumulator, neutral, step, combine,    \
                  finish, line)                                                                    \
    static const ga__reduce_op reduce_##name = {GA__FORMULA_ID(0),                                 \
                                                #name,                                             \
                                                kinds,                                             \
                                                GA__RULE_##rule,                                   \
                                                GA__RESULT_##result,                               \
                                                EMPTY_IS_ERROR_##empty,                            \
                                                ROUNDS_##chain,                                    \
                                                accumulator,                                       \
                                                neutral,                                           \
                                                step,                                              \
                                                combine,                                           \
                                                finish};
#include <quarry/reduce.def>
#undef GA_REDUCE

#define ROW(name, kinds, rule, result, inputs, expression, reduction)                              \
    [GA__ROW_##name] = {#name,  kinds,      GA__RULE_##rule, GA__RESULT_##result,                  \
                        inputs, expression, reduction},
#define GA_UNARY(name, kinds, rule, result, expression, ...)                                       \
    ROW(name, kinds, rule, result, 1, expression, NULL)
#define GA_BINARY(name, kinds, rule, result, expression, ...)                                      \
    ROW(name, kinds, rule, result, 2, expression, NULL)
#define GA_TERNARY(name, kinds, rule, result, expression, ...)                                     \
    ROW(name, kinds, rule, result, 3, expression, NULL)
#define GA_REDUCE(name, kinds, rule, result, ...)                                                  \
    ROW(name, kinds, rule, result, 1, NULL, &reduce_##name)

const ga__row ga__rows[GA__ROW_COUNT] = {
#include <quarry/binary.def>
#include <quarry/reduce.def>
#include <quarry/ternary.def>
#include <quarry/unary.def>
};

/* NumPy's second names. */
static const struct {
    const char *name;
    ga__row_id row;
} aliases[] = {
    {"abs", GA__ROW_absolute},    {"acos", GA__ROW_arccos},        {"acosh", GA__ROW_arccosh},
    {"amax", GA__ROW_max},        {"amin", GA__ROW_min},           {"asin", GA__ROW_arcsin},
    {"asinh", GA__ROW_arcsinh},   {"atan", GA__ROW_arctan},        {"atan2", GA__ROW_arctan2},
    {"atanh", GA__ROW_arctanh},   {"bitwise_not", GA__ROW_invert}, {"conjugate", GA__ROW_conj},
    {"degrees", GA__ROW_rad2deg}, {"mod", GA__ROW_remainder},      {"pow", GA__ROW_power},
    {"radians", GA__ROW_deg2rad}, {"true_divide", GA__ROW_divide},
};

static bool is(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

ga__row_id ga__row_find(const char *name, size_t length)
{
    for (int row = 0; row < GA__ROW_COUNT; row++)
        if (is(name, length, ga__rows[row].name))
            return (ga__row_id)row;
    for (size_t k = 0; k < sizeof(aliases) / sizeof(aliases[0]); k++)
        if (is(name, length, aliases[k].name))
            return aliases[k].row;
    return GA__ROW_COUNT;
}

ga_dtype ga__dtype_named(const char *name, size_t length)
{
    for (int dtype = GA_NO_DTYPE + 1; dtype < GA_DTYPE_COUNT; dtype++)
        if (is(name, length, ga_dtype_name((ga_dtype)dtype)))
            return (ga_dtype)dtype;
    return GA_NO_DTYPE;
}
