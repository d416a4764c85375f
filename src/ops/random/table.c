/* The functions of the distributions' table: two wrappers for each row. */
#include <quarry/random.h>

#include "ops/random/draw_op.h"

/* ---- The rows ---- */

/* One element with arrays as parameters: `i` is its index in the generator, z its number or its
 * block. */
#define INDEX_OF "const unsigned long long at = place + i; { const unsigned long long i = at; "
#define EACH_NUMBERS(source)                                                                       \
    "const auto z = ga::one_of<decltype(+a)>(i, key, [](const ga::words &w, auto *of) "            \
    "{ ga::" source "(w, of); }); "
#define EACH_WORDS(source) "const ga::words z = ga::words_of_one(i, 0, key); "
#define NUMBERS_ARE_WORDS false
#define WORDS_ARE_WORDS true

#define DISTRIBUTION(id_in_family, shown, takes, numbers, from, text, n, ...)                      \
    {                                                                                              \
        {{.id = GA__FAMILY_ID(GA__FAMILY_DRAW, id_in_family), .name = shown, .body = text},        \
         from,                                                                                     \
         numbers##_ARE_WORDS || sizeof from != sizeof "unit"},                                     \
            {.id = GA__FAMILY_ID(GA__FAMILY_DRAW_EACH, id_in_family),                              \
             .name = shown,                                                                        \
             .body = INDEX_OF EACH_##numbers(from) text "; }",                                     \
             .uses_index = true},                                                                  \
            takes, numbers##_ARE_WORDS, n, {__VA_ARGS__}, "rng_" shown                             \
    }
#define ROW(row, ...) [GA__DRAW_##row] = DISTRIBUTION(GA__DRAW_##row, #row, __VA_ARGS__),
#define P(rule, name)                                                                              \
    {                                                                                              \
#name, GA__PARAMETER_##rule                                                                \
    }

#define GA_DRAW0(row, kinds, numbers, source, body, line)                                          \
    ROW(row, kinds, numbers, source, body, 0, {NULL, GA__PARAMETER_LIMIT})
#define GA_DRAW1(row, kinds, numbers, source, body, r0, a, line)                                   \
    ROW(row, kinds, numbers, source, body, 1, P(r0, a))
#define GA_DRAW2(row, kinds, numbers, source, body, r0, a, r1, b, line)                            \
    ROW(row, kinds, numbers, source, body, 2, P(r0, a), P(r1, b))
#define GA_DRAW3(row, kinds, numbers, source, body, r0, a, r1, b, r2, c, line)                     \
    ROW(row, kinds, numbers, source, body, 3, P(r0, a), P(r1, b), P(r2, c))
#define GA_DRAW4(row, kinds, numbers, source, body, r0, a, r1, b, r2, c, r3, d, line)              \
    ROW(row, kinds, numbers, source, body, 4, P(r0, a), P(r1, b), P(r2, c), P(r3, d))

const ga__draw_row ga__distributions[GA__DRAW_COUNT] = {
#include <quarry/draw.def>
};

const ga__draw_row ga__log_gamma =
    DISTRIBUTION(GA__DRAW_COUNT, "dirichlet", "f", WORDS, "bits",
                 "r = ga::log_gamma_number(z, a, i, key)", 1, P(POSITIVE, alpha));

#undef GA_DRAW0
#undef GA_DRAW1
#undef GA_DRAW2
#undef GA_DRAW3
#undef GA_DRAW4

/* ---- The functions ---- */

#define FUNCTIONS(name, declared, values)                                                          \
    gpuarray *(ga_rng_##name)(ga_rng * rng, ga_dtype dtype declared, int ndim,                     \
                              const int64_t *lengths)                                              \
    {                                                                                              \
        return ga__draw_call(GA__DRAW_##name, rng, dtype, values, ndim, lengths);                  \
    }                                                                                              \
    ga_status(ga_rng_##name##_into)(gpuarray * out, ga_rng * rng declared)                         \
    {                                                                                              \
        return ga__draw_call_into(GA__DRAW_##name, out, rng, values);                              \
    }
#define GIVEN1 , ga_value a
#define GIVEN2 GIVEN1, ga_value b
#define GIVEN3 GIVEN2, ga_value c
#define GIVEN4 GIVEN3, ga_value d
#define GIVEN0

#define GA_DRAW0(name, ...) FUNCTIONS(name, GIVEN0, NULL)
#define GA_DRAW1(name, ...) FUNCTIONS(name, GIVEN1, &a)
#define GA_DRAW2(name, ...) FUNCTIONS(name, GIVEN2, ((ga_value[]){a, b}))
#define GA_DRAW3(name, ...) FUNCTIONS(name, GIVEN3, ((ga_value[]){a, b, c}))
#define GA_DRAW4(name, ...) FUNCTIONS(name, GIVEN4, ((ga_value[]){a, b, c, d}))
#include <quarry/draw.def>
