/* Applies GA_V to each argument of a variadic macro: GA_CALL_(f, k, a, b) is (f)(k, 2, {GA_V(a),
 * GA_V(b)}). GA_MANY_ is ONE for one argument and MANY for more; GA_FEW_ is the number of
 * arguments up to six, and MORE above. Past 64 arguments (and one before them) the name in the
 * compiler's message explains the limit. The ladder is written out because C11's preprocessor has
 * no recursion. */
#ifndef QUARRY_EACH_H
#define QUARRY_EACH_H

/* clang-format off */
#define GA_PICK_(a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, \
                 a19, a20, a21, a22, a23, a24, a25, a26, a27, a28, a29, a30, a31, a32, a33, a34, \
                 a35, a36, a37, a38, a39, a40, a41, a42, a43, a44, a45, a46, a47, a48, a49, a50, \
                 a51, a52, a53, a54, a55, a56, a57, a58, a59, a60, a61, a62, a63, a64, a65, a66, \
                 a67, a68, a69, a70, a71, a72, a73, a74, a75, a76, a77, a78, a79, a80, a81, a82, \
                 a83, a84, a85, a86, a87, a88, a89, a90, a91, a92, a93, a94, a95, a96, a97, a98, \
                 a99, a100, a101, a102, a103, a104, a105, a106, a107, a108, a109, a110, a111, \
                 a112, a113, a114, a115, a116, a117, a118, a119, a120, a121, a122, a123, a124, \
                 a125, a126, a127, a128, a129, picked, ...) \
    picked
#define GA_NARGS_(...) \
    GA_PICK_(__VA_ARGS__, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, 64, 63, 62, 61, 60, 59, 58, \
             57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42, 41, 40, 39, 38, 37, \
             36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20, 19, 18, 17, 16, \
             15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define GA_MANY_(...) \
    GA_PICK_(__VA_ARGS__, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, \
             OVER, OVER, OVER, OVER, OVER, OVER, OVER, OVER, MANY, MANY, MANY, MANY, MANY, MANY, \
             MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
             MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
             MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
             MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, MANY, \
             MANY, MANY, ONE, ONE)
#define GA_FEW_(...) \
    GA_PICK_(__VA_ARGS__, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, \
             MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, MORE, 6, 5, 4, 3, 2, 1, \
             1)
#define GA_JOIN_(a, b) GA_JOIN2_(a, b)
#define GA_JOIN2_(a, b) a##b
#define GA_CALL_(f, ...) GA_JOIN_(GA_CALL_, GA_MANY_(__VA_ARGS__))(f, __VA_ARGS__)
#define GA_CALL_ONE(f, k) GA_AT_(f, k, GA_NO_VALUES_)
#define GA_CALL_MANY(f, k, ...) GA_AT_(f, k, GA_VALUES_(__VA_ARGS__))
#define GA_CALL_OVER(f, k, ...) (f)(k, ga_a_macro_takes_at_most_64_arguments, 0)

/* Values, as the two arguments "count, values". */
#define GA_NO_VALUES_ 0, GA_CAST_(const ga_value *, 0)
#define GA_VALUES_(...) \
    GA_NARGS_(__VA_ARGS__), \
    GA_LIST_(ga_value, GA_JOIN_(GA_VALUES, GA_NARGS_(__VA_ARGS__))(__VA_ARGS__))
#define GA_VALUESOVER(...) ga_a_macro_takes_at_most_64_arguments
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
#define GA_VALUES33(v, ...) GA_V(v), GA_VALUES32(__VA_ARGS__)
#define GA_VALUES34(v, ...) GA_V(v), GA_VALUES33(__VA_ARGS__)
#define GA_VALUES35(v, ...) GA_V(v), GA_VALUES34(__VA_ARGS__)
#define GA_VALUES36(v, ...) GA_V(v), GA_VALUES35(__VA_ARGS__)
#define GA_VALUES37(v, ...) GA_V(v), GA_VALUES36(__VA_ARGS__)
#define GA_VALUES38(v, ...) GA_V(v), GA_VALUES37(__VA_ARGS__)
#define GA_VALUES39(v, ...) GA_V(v), GA_VALUES38(__VA_ARGS__)
#define GA_VALUES40(v, ...) GA_V(v), GA_VALUES39(__VA_ARGS__)
#define GA_VALUES41(v, ...) GA_V(v), GA_VALUES40(__VA_ARGS__)
#define GA_VALUES42(v, ...) GA_V(v), GA_VALUES41(__VA_ARGS__)
#define GA_VALUES43(v, ...) GA_V(v), GA_VALUES42(__VA_ARGS__)
#define GA_VALUES44(v, ...) GA_V(v), GA_VALUES43(__VA_ARGS__)
#define GA_VALUES45(v, ...) GA_V(v), GA_VALUES44(__VA_ARGS__)
#define GA_VALUES46(v, ...) GA_V(v), GA_VALUES45(__VA_ARGS__)
#define GA_VALUES47(v, ...) GA_V(v), GA_VALUES46(__VA_ARGS__)
#define GA_VALUES48(v, ...) GA_V(v), GA_VALUES47(__VA_ARGS__)
#define GA_VALUES49(v, ...) GA_V(v), GA_VALUES48(__VA_ARGS__)
#define GA_VALUES50(v, ...) GA_V(v), GA_VALUES49(__VA_ARGS__)
#define GA_VALUES51(v, ...) GA_V(v), GA_VALUES50(__VA_ARGS__)
#define GA_VALUES52(v, ...) GA_V(v), GA_VALUES51(__VA_ARGS__)
#define GA_VALUES53(v, ...) GA_V(v), GA_VALUES52(__VA_ARGS__)
#define GA_VALUES54(v, ...) GA_V(v), GA_VALUES53(__VA_ARGS__)
#define GA_VALUES55(v, ...) GA_V(v), GA_VALUES54(__VA_ARGS__)
#define GA_VALUES56(v, ...) GA_V(v), GA_VALUES55(__VA_ARGS__)
#define GA_VALUES57(v, ...) GA_V(v), GA_VALUES56(__VA_ARGS__)
#define GA_VALUES58(v, ...) GA_V(v), GA_VALUES57(__VA_ARGS__)
#define GA_VALUES59(v, ...) GA_V(v), GA_VALUES58(__VA_ARGS__)
#define GA_VALUES60(v, ...) GA_V(v), GA_VALUES59(__VA_ARGS__)
#define GA_VALUES61(v, ...) GA_V(v), GA_VALUES60(__VA_ARGS__)
#define GA_VALUES62(v, ...) GA_V(v), GA_VALUES61(__VA_ARGS__)
#define GA_VALUES63(v, ...) GA_V(v), GA_VALUES62(__VA_ARGS__)
#define GA_VALUES64(v, ...) GA_V(v), GA_VALUES63(__VA_ARGS__)
/* clang-format on */

#endif
