/* Tests of the scanner that finds the names of kernels and variables in CUDA source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <quarry/error.h>

#include "base/alloc.h"
#include "base/strbuf.h"
#include "run.h"
#include "user/cuda_names.h"

static void join(ga__strbuf *all, const ga__texts *texts)
{
    for (size_t i = 0; i < texts->count; i++)
        ga__strbuf_addf(all, "%s%s", i > 0 ? " " : "", texts->text[i]);
    ga__strbuf_add(all, "|");
}

/* `expected` is "kernels|others|variables|", with blanks between names. */
static void reads(const char *text, const char *expected)
{
    ga__cuda_names names;
    ga__strbuf all = GA__STRBUF_INIT;
    assert_int_equal(ga__cuda_names_find(&names, text), GA_OK);
    join(&all, &names.kernels);
    join(&all, &names.others);
    join(&all, &names.variables);
    assert_string_equal(all.text, expected);
    ga__strbuf_reset(&all);
    ga__cuda_names_reset(&names);
}

static void plain_kernels_are_found(void **state)
{
    (void)state;
    reads("", "|||");
    reads("__global__ void add(float *x) { x[0] += 1; }", "add|||");
    reads("extern \"C\" __global__ void add(float *x) {}", "add|||");
    reads("void __global__ add() {}", "add|||");
    reads("static __global__ void a() {} __global__ static void b() {}", "a b|||");
    reads("__global__ void __launch_bounds__(256, 2) add(int n) {}", "add|||");
    reads("__launch_bounds__(256) __global__ void add(int n) {}", "add|||");
    reads("__global__ __attribute__((unused)) void add(int n) {}", "add|||");
    reads("__global__ void add(int (*f)(int), int n = (1 + 2)) { if (n) { n = 3; } }", "add|||");
    reads("extern \"C\" { __global__ void a() {} __global__ void b() {} } __global__ void c() {}",
          "a b c|||");
    reads("__global__\nvoid\nadd\n(\nint n\n)\n{\n}\n", "add|||");
}

static void declarations_and_other_functions_are_no_kernels(void **state)
{
    (void)state;
    reads("__global__ void add(float *x);", "|||");
    reads("__global__ void add(float *x); __global__ void add(float *x) {}", "add|||");
    reads("__device__ int f(int n) { return n; } __global__ void add() { f(1); }", "add|||");
    reads(
        "float f(float x) { return x; } struct s { int f() { return 1; } }; __global__ void a() {}",
        "a|||");
    reads("using f = void (*)(int); typedef struct { int x; } t; enum { A, B };", "|||");
    reads("#define K(n) __global__ void n()\n__global__ void a() {}", "a|||");
    reads("#define K(n) \\\n  __global__ void n() {}\n__global__ void a() {}", "a|||");
}

static void namespaces_are_part_of_the_name(void **state)
{
    (void)state;
    reads("namespace ns { __global__ void a() {} }", "ns::a|||");
    reads("namespace a::b { __global__ void c() {} namespace d { __global__ void e() {} } "
          "__global__ void f() {} } __global__ void g() {}",
          "a::b::c a::b::d::e a::b::f g|||");
    reads("namespace { __global__ void a() {} }", "a|||");
    reads("inline namespace v1 { __global__ void a() {} }", "v1::a|||");
    reads("namespace short_name = a::b; __global__ void a() {}", "a|||");
    reads("namespace ns { extern \"C\" { __global__ void a() {} } }", "ns::a|||");
    reads("} __global__ void a() {}", "a|||");
}

static void templates_are_named_apart(void **state)
{
    (void)state;
    reads("template <class T> __global__ void scale(T *x) {} __global__ void a() {}",
          "a|scale<...>||");
    reads("template <class T, int N = (3 > 2)> __global__ void scale(T *x) {}", "|scale<...>||");
    reads("template <template <class> class C> __global__ void f(C<int> x) {}", "|f<...>||");
    reads("template <class T> struct v { T x; }; __global__ void a(v<v<int>> x) {}", "a|||");
    reads("template <class T> __global__ void s(T *x) {}\n"
          "template <> __global__ void s<int>(int *x) {}\n"
          "template __global__ void s<char>(char *x);\n"
          "__global__ void a() {}",
          "a|s<...>||");
}

static void what_compiles_only_sometimes_or_twice_is_named_apart(void **state)
{
    (void)state;
    reads("#ifdef FAST\n__global__ void a() {}\n#else\n__global__ void a() {}\n#endif\n"
          "__global__ void b() {}",
          "b|a||");
    reads("#if 1\n#if 2\n#endif\n__global__ void a() {}\n#endif\n__global__ void b() {}", "b|a||");
    reads("#ifdef __cplusplus\nextern \"C\" {\n#endif\n__global__ void a() {}\n#ifdef __cplusplus\n"
          "}\n#endif\n__global__ void b() {}",
          "a b|||");
    reads("__global__ void a(int x) {} __global__ void b() {} __global__ void a(float x) {}",
          "b|a||");
    reads("__global__ void a(int x) {} __global__ void a(float x) {} __global__ void a(char x) {}",
          "|a||");
}

static void comments_and_strings_hide_what_they_hold(void **state)
{
    (void)state;
    reads("// __global__ void a() {}\n/* __global__ void b() {} */ __global__ void c() {}", "c|||");
    reads("__global__ void a() { printf(\"}\\\"\"); char c = '}'; } __global__ void b() {}",
          "a b|||");
    reads("__device__ const char *s = R\"x(__global__ void a() { )\" )x\"; __global__ void b() {}",
          "b||s|");
    reads("__global__ void a() { int n = 1'000'000; } __global__ void b() {}", "a b|||");
    reads("__global__ /* void x() {} */ void a() {} // {{{\n__global__ void b() {}", "a b|||");
    reads("#define OPEN {{{ /* \n */\n__global__ void a() {}", "a|||");
}

static void variables_are_found(void **state)
{
    (void)state;
    reads("__constant__ float table[16];", "||table|");
    reads("__device__ int a = 1, b[2] = {1, 2}, c{3}; __managed__ double d;", "||a b c d|");
    reads("namespace ns { __constant__ struct { int x; } point; }", "||ns::point|");
    reads("static __device__ __constant__ float t[4][4] = {{1, 2}, {3}};", "||t|");
    reads("__device__ __align__(16) float x; __device__ alignas(8) float y;", "||x y|");
    reads("__device__ float f(float x) { __shared__ float s[2]; return x; }", "|||");
    reads("__device__ float f(float x); extern __shared__ float s[];", "|||");
    reads("__device__ vec<float, 2> v; float host_side;", "||v|");
    reads("__constant__ float a; __constant__ float a;", "||a|");
}

/* Users may pass any text to the compiler, so the scanner must survive any text. */
static void broken_texts_end(void **state)
{
    (void)state;
    static const char text[] =
        "namespace a::b { template <class T = int(*)(x<3>)> __global__ void __launch_bounds__(2) "
        "f<T>(T *x, char c = '\\'') { R\"d(})d\"; \"\\\"{\"; } /* } */ }\n#if X \\\n Y // }\n"
        "extern \"C\" { __constant__ float t[2] = {1, 2}, *u; } #endif";
    char part[sizeof text];
    for (size_t from = 0; from < sizeof text; from++) {
        for (size_t length = 0; from + length < sizeof text; length++) {
            ga__cuda_names names;
            memcpy(part, text + from, length);
            part[length] = '\0';
            assert_int_equal(ga__cuda_names_find(&names, part), GA_OK);
            ga__cuda_names_reset(&names);
        }
    }
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    const int64_t live = ga__alloc_live();
    ga__cuda_names names;
    ga_status status = GA_ERR_MEMORY;
    int n = 0;
    while (status != GA_OK && ++n < 1000) {
        ga__alloc_fail_at(n);
        status = ga__cuda_names_find(&names, "namespace a_long_name { __global__ void f() {} "
                                             "template <class T> __global__ void g() {} }\n"
                                             "__constant__ int v; __device__ int w;");
        ga__alloc_fail_at(0);
        if (status == GA_OK)
            ga__cuda_names_reset(&names);
        assert_int_equal(ga__alloc_live(), live);
        assert_int_equal(ga_error(), status);
        ga_clear_error();
    }
    assert_int_equal(status, GA_OK);
    assert_true(n > 5);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_kernels_are_found),
        cmocka_unit_test(declarations_and_other_functions_are_no_kernels),
        cmocka_unit_test(namespaces_are_part_of_the_name),
        cmocka_unit_test(templates_are_named_apart),
        cmocka_unit_test(what_compiles_only_sometimes_or_twice_is_named_apart),
        cmocka_unit_test(comments_and_strings_hide_what_they_hold),
        cmocka_unit_test(variables_are_found),
        cmocka_unit_test(broken_texts_end),
        cmocka_unit_test(every_failed_allocation_is_survived),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
