/* The functions of the tables: one or two wrappers per row. */
#include <quarry/array.h>
#include <quarry/functions.h>
#include <quarry/ops.h>

#include "model/dtype.h"
#include "model/promote.h"
#include "ops/elementwise_op.h"
#include "ops/reduction_op.h"
#include "ops/scan/scan_op.h"

#define GA_UNARY(name, ...)                                                                        \
    gpuarray *(ga_##name)(ga_value a)                                                              \
    {                                                                                              \
        return ga__apply(GA__ROW_##name, &a);                                                      \
    }                                                                                              \
    ga_status(ga_##name##_into)(gpuarray * out, ga_value a)                                        \
    {                                                                                              \
        return ga__apply_into(GA__ROW_##name, out, &a);                                            \
    }
#include <quarry/unary.def>

#define GA_BINARY(name, ...)                                                                       \
    gpuarray *(ga_##name)(ga_value a, ga_value b)                                                  \
    {                                                                                              \
        return ga__apply(GA__ROW_##name, (ga_value[]){a, b});                                      \
    }                                                                                              \
    ga_status(ga_##name##_into)(gpuarray * out, ga_value a, ga_value b)                            \
    {                                                                                              \
        return ga__apply_into(GA__ROW_##name, out, (ga_value[]){a, b});                            \
    }
#include <quarry/binary.def>

static ga__operand_type type_of(ga_value v)
{
    const bool is_array = v.kind == GA_VALUE_ARRAY;
    return (ga__operand_type){is_array ? ga_dtype_of(v.as.array) : v.dtype, !is_array, v};
}

/* A bound of clip(); other rows and arrays take the value itself. */
static inline ga_value bound(ga__row_id row, ga_value a, ga_value b, ga_value c, bool upper)
{
    const ga_value value = upper ? c : b;
    if (row != GA__ROW_clip || value.kind != GA_VALUE_NUMBER || a.kind != GA_VALUE_ARRAY)
        return value;
    return ga__clip_bound((ga__operand_type[]){type_of(a), type_of(b), type_of(c)}, upper);
}

#define GA_TERNARY(name, ...)                                                                      \
    gpuarray *(ga_##name)(ga_value a, ga_value b, ga_value c)                                      \
    {                                                                                              \
        return ga__apply(GA__ROW_##name, (ga_value[]){a, bound(GA__ROW_##name, a, b, c, false),    \
                                                      bound(GA__ROW_##name, a, b, c, true)});      \
    }                                                                                              \
    ga_status(ga_##name##_into)(gpuarray * out, ga_value a, ga_value b, ga_value c)                \
    {                                                                                              \
        return ga__apply_into(GA__ROW_##name, out,                                                 \
                              (ga_value[]){a, bound(GA__ROW_##name, a, b, c, false),               \
                                           bound(GA__ROW_##name, a, b, c, true)});                 \
    }
#include <quarry/ternary.def>

#define GA_SPLIT(name, kinds, rule, second, statement, first_name, second_name, line)              \
    ga_status ga_##name(const gpuarray *x, gpuarray **first_name, gpuarray **second_name)          \
    {                                                                                              \
        const ga_value input = ga_value_array(x);                                                  \
        return ga__apply_split(GA__ROW_##name, &input, first_name, second_name);                   \
    }                                                                                              \
    ga_status ga_##name##_into(gpuarray *first_name, gpuarray *second_name, const gpuarray *x)     \
    {                                                                                              \
        const ga_value input = ga_value_array(x);                                                  \
        return ga__apply_split_into(GA__ROW_##name, first_name, second_name, &input);              \
    }
#include <quarry/split.def>

ga_status(ga_divmod)(ga_value a, ga_value b, gpuarray **quotient, gpuarray **rest)
{
    return ga__apply_split(GA__ROW_divmod, (ga_value[]){a, b}, quotient, rest);
}

ga_status(ga_divmod_into)(gpuarray *quotient, gpuarray *rest, ga_value a, ga_value b)
{
    return ga__apply_split_into(GA__ROW_divmod, quotient, rest, (ga_value[]){a, b});
}

#define GA_REDUCE(name, ...)                                                                       \
    gpuarray *(ga_##name)(size_t size, const ga_reduce_args *args)                                 \
    {                                                                                              \
        return ga__reduce_call(GA__ROW_##name, size, args);                                        \
    }
#include <quarry/reduce.def>

#define GA_SCAN(name, ...)                                                                         \
    gpuarray *(ga_##name)(size_t size, const ga_scan_args *args)                                   \
    {                                                                                              \
        return ga__scan_call(GA__ROW_##name, #name, size, args);                                   \
    }
#include <quarry/scan.def>

gpuarray *(ga_cumulative_sum)(size_t size, const ga_scan_args *args)
{
    return ga__scan_call(GA__ROW_cumsum, "cumulative_sum", size, args);
}

gpuarray *(ga_cumulative_prod)(size_t size, const ga_scan_args *args)
{
    return ga__scan_call(GA__ROW_cumprod, "cumulative_prod", size, args);
}
