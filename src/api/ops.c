/* The functions of the tables: one line of data and one or two wrappers a row. */
#include <quarry/array.h>
#include <quarry/ops.h>

#include "kernels/apply.h"
#include "kernels/reduction.h"

/* A row's number is its formula's id, above those of the formulas of other files. */
#define TABLE_ID(NAME) GA__FORMULA_ID((UINT64_C(1) << 32) + ROW_##NAME)

enum {
#define GA_UNARY(name, ...) ROW_##name,
#define GA_BINARY(name, ...) ROW_##name,
#define GA_TERNARY(name, ...) ROW_##name,
#define GA_SPLIT(name, ...) ROW_##name,
#define GA_REDUCE(name, ...) ROW_##name,
#include <quarry/binary.def>
#include <quarry/reduce.def>
#include <quarry/split.def>
#include <quarry/ternary.def>
#include <quarry/unary.def>
#undef GA_UNARY
#undef GA_BINARY
#undef GA_TERNARY
#undef GA_SPLIT
#undef GA_REDUCE
    ROW_dot
};

#define OP(NAME, BODY, KINDS, RULE, RESULT, INPUTS)                                                \
    static const ga__op op_##NAME = {{.id = TABLE_ID(NAME), .name = #NAME, .body = BODY},          \
                                     KINDS,                                                        \
                                     GA__RULE_##RULE,                                              \
                                     GA__RESULT_##RESULT,                                          \
                                     INPUTS};

#define GA_UNARY(name, kinds, rule, result, expression, ulp, line)                                 \
    OP(name, "r = " expression, kinds, rule, result, 1)                                            \
    gpuarray *(ga_##name)(ga_value a)                                                              \
    {                                                                                              \
        return ga__apply(&op_##name, &a);                                                          \
    }                                                                                              \
    ga_status(ga_##name##_into)(gpuarray * out, ga_value a)                                        \
    {                                                                                              \
        return ga__apply_into(&op_##name, out, &a);                                                \
    }
#include <quarry/unary.def>

#define GA_BINARY(name, kinds, rule, result, expression, ulp, line)                                \
    OP(name, "r = " expression, kinds, rule, result, 2)                                            \
    gpuarray *(ga_##name)(ga_value a, ga_value b)                                                  \
    {                                                                                              \
        return ga__apply(&op_##name, (ga_value[]){a, b});                                          \
    }                                                                                              \
    ga_status(ga_##name##_into)(gpuarray * out, ga_value a, ga_value b)                            \
    {                                                                                              \
        return ga__apply_into(&op_##name, out, (ga_value[]){a, b});                                \
    }
#include <quarry/binary.def>

#define GA_TERNARY(name, kinds, rule, result, expression, ulp, line)                               \
    OP(name, "r = " expression, kinds, rule, result, 3)                                            \
    gpuarray *(ga_##name)(ga_value a, ga_value b, ga_value c)                                      \
    {                                                                                              \
        return ga__apply(&op_##name, (ga_value[]){a, b, c});                                       \
    }                                                                                              \
    ga_status(ga_##name##_into)(gpuarray * out, ga_value a, ga_value b, ga_value c)                \
    {                                                                                              \
        return ga__apply_into(&op_##name, out, (ga_value[]){a, b, c});                             \
    }
#include <quarry/ternary.def>

#define GA_SPLIT(name, kinds, rule, second, statement, first_name, second_name, line)              \
    OP(name, statement, kinds, rule, second, 1)                                                    \
    ga_status ga_##name(const gpuarray *x, gpuarray **first_name, gpuarray **second_name)          \
    {                                                                                              \
        return ga__apply_split(&op_##name, x, first_name, second_name);                            \
    }
#include <quarry/split.def>

#define EMPTY_IS_ERROR_ANY false
#define EMPTY_IS_ERROR_ERROR true
#define ROUNDS_LONG false
#define ROUNDS_SHORT true
#define GA_REDUCE(name, kinds, rule, result, empty, chain, accumulator, neutral, step, combine,    \
                  finish, line)                                                                    \
    static const ga__reduce_op op_##name = {TABLE_ID(name),                                        \
                                            #name,                                                 \
                                            kinds,                                                 \
                                            GA__RULE_##rule,                                       \
                                            GA__RESULT_##result,                                   \
                                            EMPTY_IS_ERROR_##empty,                                \
                                            ROUNDS_##chain,                                        \
                                            accumulator,                                           \
                                            neutral,                                               \
                                            step,                                                  \
                                            combine,                                               \
                                            finish};                                               \
    gpuarray *(ga_##name)(ga_reduce_args args)                                                     \
    {                                                                                              \
        return ga__apply_reduction(&op_##name, &args);                                             \
    }
#include <quarry/reduce.def>

gpuarray *ga_dot(const gpuarray *a, const gpuarray *b)
{
    static const ga__hash128 id = TABLE_ID(dot);
    return ga__apply_dot(id, a, b);
}
