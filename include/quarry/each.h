/* Applies a macro to each argument of another: GA_EACH_(f, a, b) is f(a), f(b), and GA_CALL_(g, k,
 * a, b) is (g)(k, 2, {GA_V(a), GA_V(b)}). GA_MANY_ is ONE for one argument and MANY for more;
 * GA_FEW_ is the number of arguments up to six, and MORE above. Past 64 arguments (and one before
 * them) the name in the compiler's message explains the limit. The ladder is written out because
 * C11's preprocessor has no recursion. */
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
    GA_LIST_(ga_value, GA_EACH_(GA_V, __VA_ARGS__))

/* f(v) for each of 1 to 64 arguments. */
#define GA_EACH_(f, ...) GA_JOIN_(GA_EACH, GA_NARGS_(__VA_ARGS__))(f, __VA_ARGS__)
#define GA_EACHOVER(f, ...) ga_a_macro_takes_at_most_64_arguments
#define GA_EACH1(f, v) f(v)
#define GA_EACH2(f, v, ...) f(v), GA_EACH1(f, __VA_ARGS__)
#define GA_EACH3(f, v, ...) f(v), GA_EACH2(f, __VA_ARGS__)
#define GA_EACH4(f, v, ...) f(v), GA_EACH3(f, __VA_ARGS__)
#define GA_EACH5(f, v, ...) f(v), GA_EACH4(f, __VA_ARGS__)
#define GA_EACH6(f, v, ...) f(v), GA_EACH5(f, __VA_ARGS__)
#define GA_EACH7(f, v, ...) f(v), GA_EACH6(f, __VA_ARGS__)
#define GA_EACH8(f, v, ...) f(v), GA_EACH7(f, __VA_ARGS__)
#define GA_EACH9(f, v, ...) f(v), GA_EACH8(f, __VA_ARGS__)
#define GA_EACH10(f, v, ...) f(v), GA_EACH9(f, __VA_ARGS__)
#define GA_EACH11(f, v, ...) f(v), GA_EACH10(f, __VA_ARGS__)
#define GA_EACH12(f, v, ...) f(v), GA_EACH11(f, __VA_ARGS__)
#define GA_EACH13(f, v, ...) f(v), GA_EACH12(f, __VA_ARGS__)
#define GA_EACH14(f, v, ...) f(v), GA_EACH13(f, __VA_ARGS__)
#define GA_EACH15(f, v, ...) f(v), GA_EACH14(f, __VA_ARGS__)
#define GA_EACH16(f, v, ...) f(v), GA_EACH15(f, __VA_ARGS__)
#define GA_EACH17(f, v, ...) f(v), GA_EACH16(f, __VA_ARGS__)
#define GA_EACH18(f, v, ...) f(v), GA_EACH17(f, __VA_ARGS__)
#define GA_EACH19(f, v, ...) f(v), GA_EACH18(f, __VA_ARGS__)
#define GA_EACH20(f, v, ...) f(v), GA_EACH19(f, __VA_ARGS__)
#define GA_EACH21(f, v, ...) f(v), GA_EACH20(f, __VA_ARGS__)
#define GA_EACH22(f, v, ...) f(v), GA_EACH21(f, __VA_ARGS__)
#define GA_EACH23(f, v, ...) f(v), GA_EACH22(f, __VA_ARGS__)
#define GA_EACH24(f, v, ...) f(v), GA_EACH23(f, __VA_ARGS__)
#define GA_EACH25(f, v, ...) f(v), GA_EACH24(f, __VA_ARGS__)
#define GA_EACH26(f, v, ...) f(v), GA_EACH25(f, __VA_ARGS__)
#define GA_EACH27(f, v, ...) f(v), GA_EACH26(f, __VA_ARGS__)
#define GA_EACH28(f, v, ...) f(v), GA_EACH27(f, __VA_ARGS__)
#define GA_EACH29(f, v, ...) f(v), GA_EACH28(f, __VA_ARGS__)
#define GA_EACH30(f, v, ...) f(v), GA_EACH29(f, __VA_ARGS__)
#define GA_EACH31(f, v, ...) f(v), GA_EACH30(f, __VA_ARGS__)
#define GA_EACH32(f, v, ...) f(v), GA_EACH31(f, __VA_ARGS__)
#define GA_EACH33(f, v, ...) f(v), GA_EACH32(f, __VA_ARGS__)
#define GA_EACH34(f, v, ...) f(v), GA_EACH33(f, __VA_ARGS__)
#define GA_EACH35(f, v, ...) f(v), GA_EACH34(f, __VA_ARGS__)
#define GA_EACH36(f, v, ...) f(v), GA_EACH35(f, __VA_ARGS__)
#define GA_EACH37(f, v, ...) f(v), GA_EACH36(f, __VA_ARGS__)
#define GA_EACH38(f, v, ...) f(v), GA_EACH37(f, __VA_ARGS__)
#define GA_EACH39(f, v, ...) f(v), GA_EACH38(f, __VA_ARGS__)
#define GA_EACH40(f, v, ...) f(v), GA_EACH39(f, __VA_ARGS__)
#define GA_EACH41(f, v, ...) f(v), GA_EACH40(f, __VA_ARGS__)
#define GA_EACH42(f, v, ...) f(v), GA_EACH41(f, __VA_ARGS__)
#define GA_EACH43(f, v, ...) f(v), GA_EACH42(f, __VA_ARGS__)
#define GA_EACH44(f, v, ...) f(v), GA_EACH43(f, __VA_ARGS__)
#define GA_EACH45(f, v, ...) f(v), GA_EACH44(f, __VA_ARGS__)
#define GA_EACH46(f, v, ...) f(v), GA_EACH45(f, __VA_ARGS__)
#define GA_EACH47(f, v, ...) f(v), GA_EACH46(f, __VA_ARGS__)
#define GA_EACH48(f, v, ...) f(v), GA_EACH47(f, __VA_ARGS__)
#define GA_EACH49(f, v, ...) f(v), GA_EACH48(f, __VA_ARGS__)
#define GA_EACH50(f, v, ...) f(v), GA_EACH49(f, __VA_ARGS__)
#define GA_EACH51(f, v, ...) f(v), GA_EACH50(f, __VA_ARGS__)
#define GA_EACH52(f, v, ...) f(v), GA_EACH51(f, __VA_ARGS__)
#define GA_EACH53(f, v, ...) f(v), GA_EACH52(f, __VA_ARGS__)
#define GA_EACH54(f, v, ...) f(v), GA_EACH53(f, __VA_ARGS__)
#define GA_EACH55(f, v, ...) f(v), GA_EACH54(f, __VA_ARGS__)
#define GA_EACH56(f, v, ...) f(v), GA_EACH55(f, __VA_ARGS__)
#define GA_EACH57(f, v, ...) f(v), GA_EACH56(f, __VA_ARGS__)
#define GA_EACH58(f, v, ...) f(v), GA_EACH57(f, __VA_ARGS__)
#define GA_EACH59(f, v, ...) f(v), GA_EACH58(f, __VA_ARGS__)
#define GA_EACH60(f, v, ...) f(v), GA_EACH59(f, __VA_ARGS__)
#define GA_EACH61(f, v, ...) f(v), GA_EACH60(f, __VA_ARGS__)
#define GA_EACH62(f, v, ...) f(v), GA_EACH61(f, __VA_ARGS__)
#define GA_EACH63(f, v, ...) f(v), GA_EACH62(f, __VA_ARGS__)
#define GA_EACH64(f, v, ...) f(v), GA_EACH63(f, __VA_ARGS__)
/* clang-format on */

#endif
