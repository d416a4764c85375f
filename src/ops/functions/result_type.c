/* The dtypes of results and of casts. */
#include <quarry/functions.h>

#include <string.h>

#include "base/error.h"
#include "model/promote.h"
#include "ops/elementwise_op.h"

/* What is promoted: a dtype of arrays or the kind of numbers once each, and up to two structs. */
#define MOST_TYPES (GA_DTYPE_COUNT + 7)

static bool is_known(int n, const ga__operand_type *types, ga__operand_type type)
{
    bool known = false;
    for (int k = 0; k < n; k++)
        known = known || (types[k].weak == type.weak &&
                          (type.weak ? ga__dtype_kind(types[k].dtype) == ga__dtype_kind(type.dtype)
                                     : types[k].dtype == type.dtype));
    return known;
}

ga_dtype(ga_result_type_of)(int count, const ga_value *values)
{
    ga__operand_type types[MOST_TYPES];
    ga_dtype loop[MOST_TYPES], common;
    ga__device *device;
    int n = 0;
    if (count < 1 || !values) {
        ga__fail(GA_ERR_INVALID, "result_type: %d operands, expected at least 1",
                 values ? count : 0);
        return GA_NO_DTYPE;
    }
    if (ga__check_values("result_type", count, values, &device) != GA_OK)
        return GA_NO_DTYPE;
    int structs = 0; /* the second one has no common dtype with the first */
    for (int k = 0; k < count && structs < 2; k++) {
        const bool weak = values[k].kind == GA_VALUE_NUMBER;
        const ga_dtype dtype = weak ? values[k].dtype : values[k].as.array->dtype;
        /* 0, since the number's value does not count. */
        const ga__operand_type type = {
            .dtype = dtype, .weak = weak, .number = {.kind = GA_VALUE_NUMBER, .dtype = dtype}};
        if (!is_known(n, types, type)) {
            structs += ga__dtype_is_struct(dtype);
            types[n++] = type;
        }
    }
    return ga__resolve("result_type", "?iufcV", GA__RULE_SAME, n, types, loop, &common) == GA_OK
               ? common
               : GA_NO_DTYPE;
}

bool ga_can_cast_as(ga_dtype from, ga_dtype to, const char *casting)
{
    static const char *const words[] = {"no", "equiv", "safe", "same_kind", "unsafe"};
    size_t word = 0;
    while (casting && word < sizeof words / sizeof *words && strcmp(casting, words[word]) != 0)
        word++;
    if (!casting || word == sizeof words / sizeof *words)
        return ga__fail(GA_ERR_INVALID,
                        "can_cast: unknown casting \"%s\", expected no, equiv, safe, same_kind or "
                        "unsafe",
                        casting ? casting : "NULL") == GA_OK;
    if (!ga__dtype_valid(from) || !ga__dtype_valid(to))
        return ga__fail(GA_ERR_DTYPE, "can_cast: %d is not a dtype",
                        ga__dtype_valid(from) ? (int)to : (int)from) == GA_OK;
    switch (word) {
    case 2: return ga_can_cast(from, to);
    case 3: return ga__can_cast_same_kind(from, to);
    case 4: return true;
    default: return from == to;
    }
}
