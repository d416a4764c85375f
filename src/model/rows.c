/* The tables of operations as data: one row each, one numbering. */
#include "model/rows.h"

#include <string.h>

/* A row's number is its formula's id. */
#define FORMULA(NAME, BODY)                                                                        \
    {                                                                                              \
        .id = GA__FAMILY_ID(GA__FAMILY_ROWS, GA__ROW_##NAME), .name = #NAME, .body = BODY          \
    }

#define ROW(NAME, KINDS, RULE, RESULT, INPUTS, BODY, EXPRESSION)                                   \
    [GA__ROW_##NAME] = {.formula = FORMULA(NAME, BODY),                                            \
                        .kinds = KINDS,                                                            \
                        .rule = GA__RULE_##RULE,                                                   \
                        .result = GA__RESULT_##RESULT,                                             \
                        .inputs = INPUTS,                                                          \
                        .expression = EXPRESSION},

#define GA_UNARY(name, kinds, rule, result, expression, ...)                                       \
    ROW(name, kinds, rule, result, 1, "r = " expression, expression)
#define GA_BINARY(name, kinds, rule, result, expression, ...)                                      \
    ROW(name, kinds, rule, result, 2, "r = " expression, expression)
#define GA_TERNARY(name, kinds, rule, result, expression, ...)                                     \
    ROW(name, kinds, rule, result, 3, "r = " expression, expression)
#define GA_SPLIT(name, kinds, rule, second, statement, ...)                                        \
    ROW(name, kinds, rule, second, 1, statement, NULL)

/* The traits of reduce.def and of scan.def. */
enum {
    NONE = 0,
    EMPTY_IS_ERROR = 1,
    ROUNDS = 2,
    SHORT_CIRCUITS = 4,
    USES_INDEX = 8,
    GREATEST = 16,
    LEAST = 32,
    SUMS = 64
};

#define GA_REDUCE(NAME, KINDS, RULE, RESULT, TRAITS, HOLDS, ACCUMULATOR, NEUTRAL, STEP, COMBINE,   \
                  FINISH, line)                                                                    \
    [GA__ROW_##NAME] = {.formula = FORMULA(NAME, NULL),                                            \
                        .kinds = KINDS,                                                            \
                        .rule = GA__RULE_##RULE,                                                   \
                        .result = GA__RESULT_##RESULT,                                             \
                        .inputs = 1,                                                               \
                        .empty_is_error = ((TRAITS)&EMPTY_IS_ERROR) != 0,                          \
                        .part = {.accumulator = ACCUMULATOR,                                       \
                                 .neutral = NEUTRAL,                                               \
                                 .step = STEP,                                                     \
                                 .combine = COMBINE,                                               \
                                 .finish = FINISH,                                                 \
                                 .holds = GA__ACCUMULATOR_##HOLDS,                                 \
                                 .short_circuits = ((TRAITS)&SHORT_CIRCUITS) != 0,                 \
                                 .rounds = ((TRAITS)&ROUNDS) != 0,                                 \
                                 .uses_index = ((TRAITS)&USES_INDEX) != 0,                         \
                                 .greatest = ((TRAITS)&GREATEST) != 0,                             \
                                 .least = ((TRAITS)&LEAST) != 0}},

#define GA_SCAN(NAME, KINDS, RULE, TRAITS, VALUES, ACCUMULATOR, NEUTRAL, LIFT, COMBINE, FINISH,    \
                line)                                                                              \
    [GA__ROW_##NAME] = {.formula = FORMULA(NAME, ""),                                              \
                        .kinds = KINDS,                                                            \
                        .rule = GA__RULE_##RULE,                                                   \
                        .result = GA__RESULT_SAME,                                                 \
                        .inputs = 1,                                                               \
                        .scan = {.accumulator = ACCUMULATOR,                                       \
                                 .neutral = NEUTRAL,                                               \
                                 .lift = LIFT,                                                     \
                                 .combine = COMBINE,                                               \
                                 .finish = FINISH,                                                 \
                                 .values = VALUES,                                                 \
                                 .sums = ((TRAITS)&SUMS) != 0}},

const ga__row ga__rows[GA__ROW_END] = {
#include <quarry/binary.def>
#include <quarry/reduce.def>
#include <quarry/scan.def>
#include <quarry/split.def>
#include <quarry/ternary.def>
#include <quarry/unary.def>
    ROW(divmod, "?iuf", INT8, SAME, 2, "r = ga::floor_divide(a, b); s = ga::remainder(a, b)",
        NULL)[GA__ROW_dot] = {.formula = FORMULA(dot, NULL),
                              .part = {.accumulator = "T",
                                       .neutral = "T(0)",
                                       .step = "ga::add(a, x)",
                                       .combine = "ga::add(a, b)",
                                       .finish = "a",
                                       .rounds = true}},
};

/* Second names. */
static const struct {
    const char *name;
    ga__row_id row;
} aliases[] = {
#define GA_ALIAS(name, row) {#name, GA__ROW_##row},
#include <quarry/alias.def>
};

static bool is(const char *name, size_t length, const char *wanted)
{
    return strlen(wanted) == length && memcmp(name, wanted, length) == 0;
}

ga__row_id ga__row_find(const char *name, size_t length)
{
    for (int row = 0; row < GA__ROW_COUNT; row++)
        if (is(name, length, ga__rows[row].formula.name))
            return (ga__row_id)row;
    for (size_t k = 0; k < sizeof(aliases) / sizeof(aliases[0]); k++)
        if (is(name, length, aliases[k].name))
            return aliases[k].row;
    return GA__ROW_COUNT;
}

const char *ga__row_name(int k)
{
    const int more = k - GA__ROW_COUNT;
    if (more < 0)
        return ga__rows[k].formula.name;
    return more < (int)(sizeof(aliases) / sizeof(aliases[0])) ? aliases[more].name : NULL;
}
