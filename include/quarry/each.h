/* Applies GA_V to each argument of a variadic macro: GA_CALL_(f, k, a, b) is (f)(k, 2, {GA_V(a),
 * GA_V(b)}). GA_MANY_ is ONE for one argument and MANY for more;
 * GA_FEW_ is the number of up to six arguments, then MORE. The ladder is written out because
 * C11's preprocessor has no recursion. */
#ifndef QUARRY_EACH_H
#define QUARRY_EACH_H

/* clang-format off */
#define GA_PICK_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
                 a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, \
                 picked, ...) \
    picked
#define GA_NARGS_(...) \
    GA_PICK_(__VA_ARGS__, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, \
             15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GA_MANY_(...) \
    GA_PICK_(__VA_ARGS__, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
             MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
             MANY, MANY, MANY, MANY, MANY, MANY, ONE, ONE)
#define GA_FEW_(...) \
    GA_PICK_(__VA_ARGS__, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, 6, 5, 4, 3, 2, 1, 1)
#define GA_JOIN_(a, b) GA_JOIN2_(a, b)
#define GA_JOIN2_(a, b) a##b
#define GA_CALL_(f, ...) GA_JOIN_(GA_CALL_, GA_MANY_(__VA_ARGS__))(f, __VA_ARGS__)
#define GA_CALL_ONE(f, k) GA_AT_(f, k, GA_NO_VALUES_)
#define GA_CALL_MANY(f, k, ...) GA_AT_(f, k, GA_VALUES_(__VA_ARGS__))

/* Values, as the two arguments "count, values". */
#define GA_NO_VALUES_ 0, (const ga_value *)0
#define GA_VALUES_(...) \
    GA_NARGS_(__VA_ARGS__), \
    ((const ga_value[]){GA_JOIN_(GA_VALUES, GA_NARGS_(__VA_ARGS__))(__VA_ARGS__)})
#define GA_VALUES1(v) GA_V(v)
#define GA_VALUES2(v, ...) GA_V(v), GA_VALUES1(__VA_ARGS__)
#define GA_VALUES3(v, ...) GA_V(v), GA_VALUES2(__VA_ARGS__)
#define GA_VALUES4(v, ...) GA_V(v), GA_VALUES3(__VA_ARGS__)
#define GA_VALUES5(v, ...) GA_V(v), GA_VALUES4(__VA_ARGS__)
#define GA_VALUES6(v, ...) GA_V(v), GA_VALUES5(__VA_ARGS__)
#define GA_VALUES7(v, ...) GA_V(v), GA_VALUES6(__VA_ARGS__)
#define GA_VALUES8(v, ...) GA_V(v), GA_VALUES7(__VA_ARGS__)
#define GA_VALUES9(v, ...) GA_V(v), GA_VALUES8(__VA_ARGS__)
#define GA_VALUES10(v, ...) GA_V(v), GA_VALUES9(__VA_ARGS__)
#define GA_VALUES11(v, ...) GA_V(v), GA_VALUES10(__VA_ARGS__)
#define GA_VALUES12(v, ...) GA_V(v), GA_VALUES11(__VA_ARGS__)
#define GA_VALUES13(v, ...) GA_V(v), GA_VALUES12(__VA_ARGS__)
#define GA_VALUES14(v, ...) GA_V(v), GA_VALUES13(__VA_ARGS__)
#define GA_VALUES15(v, ...) GA_V(v), GA_VALUES14(__VA_ARGS__)
#define GA_VALUES16(v, ...) GA_V(v), GA_VALUES15(__VA_ARGS__)
#define GA_VALUES17(v, ...) GA_V(v), GA_VALUES16(__VA_ARGS__)
#define GA_VALUES18(v, ...) GA_V(v), GA_VALUES17(__VA_ARGS__)
#define GA_VALUES19(v, ...) GA_V(v), GA_VALUES18(__VA_ARGS__)
#define GA_VALUES20(v, ...) GA_V(v), GA_VALUES19(__VA_ARGS__)
#define GA_VALUES21(v, ...) GA_V(v), GA_VALUES20(__VA_ARGS__)
#define GA_VALUES22(v, ...) GA_V(v), GA_VALUES21(__VA_ARGS__)
#define GA_VALUES23(v, ...) GA_V(v), GA_VALUES22(__VA_ARGS__)
#define GA_VALUES24(v, ...) GA_V(v), GA_VALUES23(__VA_ARGS__)
#define GA_VALUES25(v, ...) GA_V(v), GA_VALUES24(__VA_ARGS__)
#define GA_VALUES26(v, ...) GA_V(v), GA_VALUES25(__VA_ARGS__)
#define GA_VALUES27(v, ...) GA_V(v), GA_VALUES26(__VA_ARGS__)
#define GA_VALUES28(v, ...) GA_V(v), GA_VALUES27(__VA_ARGS__)
#define GA_VALUES29(v, ...) GA_V(v), GA_VALUES28(__VA_ARGS__)
#define GA_VALUES30(v, ...) GA_V(v), GA_VALUES29(__VA_ARGS__)
#define GA_VALUES31(v, ...) GA_V(v), GA_VALUES30(__VA_ARGS__)
#define GA_VALUES32(v, ...) GA_V(v), GA_VALUES31(__VA_ARGS__)
/* clang-format on */

#endif
