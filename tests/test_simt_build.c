/* Compiling users' CUDA modules for the host: rewriting, options, headers, messages, and the code's
 * dependencies. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "base/alloc.h"
#include "base/os/replacement.h"
#include "base/os/system.h"
#include "cuda_support.h"
#include "device/simt/rewrite.h"
#include "run.h"

/* ---- rewriting ---- */

static void rewrites(const char *text, const char *wanted, bool dynamic)
{
    bool found = false;
    char *out = ga__simt_rewrite(text, &found);
    assert_string_equal(out, wanted);
    assert_int_equal(found, dynamic);
    ga__free(out);
}

static void stays(const char *text)
{
    rewrites(text, text, false);
}

#define REFERENCE " = ga_simt_dynamic_shared"
#define SYMBOL " __asm__(\"ga_simt_dynamic\")"

static void dynamic_shared_memory_in_functions(void **state)
{
    (void)state;
    rewrites("void k() { extern __shared__ float a[]; }",
             "void k() {   float (&a)[]" REFERENCE "; }", true);
    rewrites("void k() {\n  __shared__ extern volatile T a[], b[][4] ;\n}",
             "void k() {\n    volatile T (&a)[]" REFERENCE ", (&b)[][4]" REFERENCE " ;\n}", true);
    rewrites(
        "struct s { void f() { extern /*\n*/ __shared__ __align__(16) pair<int, T> a [ ] ; } };",
        "struct s { void f() {  /*\n*/  __align__(16) pair<int, T> (&a) [ ]" REFERENCE " ; } };",
        true);
    rewrites("#define D(T, n) extern __shared__ T n[]\nint x;",
             "#define D(T, n)   T (&n)[]" REFERENCE "\nint x;", true);
    rewrites("#define D(T, n) \\\n  extern __shared__ T n[]; \\\n  f(n)\nint x;",
             "#define D(T, n) \\\n    T (&n)[]" REFERENCE "; \\\n  f(n)\nint x;", true);
}

static void dynamic_shared_memory_in_namespaces(void **state)
{
    (void)state;
    rewrites("extern __shared__ int a[];", "extern __thread  int a[]" SYMBOL ";", true);
    rewrites("namespace x { namespace { inline namespace y::z { extern __shared__ int a[]; }}}",
             "namespace x { namespace { inline namespace y::z { extern __thread  int a[]" SYMBOL
             "; }}}",
             true);
    rewrites(
        "extern \"C\" { extern __shared__ int a[]; }\nextern \"C\" void f() { extern __shared__ "
        "int b[]; }",
        "extern \"C\" { extern __thread  int a[]" SYMBOL "; }\nextern \"C\" void f() {   int "
        "(&b)[]" REFERENCE "; }",
        true);
    /* The braces of both branches are the same. */
    rewrites("#if A\nvoid f() {\n#elif B\nvoid g() {\n#else\nvoid h() {\n#endif\n}\nextern "
             "__shared__ int a[];",
             "#if A\nvoid f() {\n#elif B\nvoid g() {\n#else\nvoid h() {\n#endif\n}\nextern "
             "__thread  int a[]" SYMBOL ";",
             true);
}

static void everything_else_stays(void **state)
{
    (void)state;
    stays("");
    stays("\\");
    stays(
        "/* extern __shared__ int a[]; */ // extern __shared__ int a[];\\\n extern __shared__ int "
        "a[];\n");
    stays("const char *s = \"extern __shared__ int a[]; \\\" <<<\", c = '\"', d = '\\'';");
    stays("const char *s = R\"x(extern __shared__ int a[]; )\" <<< )x\"; int n = 1'000'000;");
    stays("auto s = u8R\"(\" <<< )\", t = LR\"\n(<<<)\n\";");
    stays("__shared__ int a[4]; extern int b[]; extern \"C\" void f(); void g() { __shared__ int "
          "c; }");
    stays("#include <extern __shared__>\n#pragma extern __shared__ int a[];\n#error it's <<<\n");
    stays("template <class T> T &operator<<<T>(T &a, T b);");
    stays("unterminated \"string\nint a = 'c;\n/* comment");
    stays("}}} ; # if 1 \n }");
}

/* A declarator without a name or a bracket is left to the compiler; only the keywords are
 * removed. */
static void declarations_with_parts_missing_stay_whole(void **state)
{
    (void)state;
    rewrites("void f() { extern __shared__ []; }", "void f() {   []; }", true);
    rewrites("void f() { __shared__ extern [2]; }", "void f() {   [2]; }", true);
    rewrites("void f() { extern __shared__ int a[; }", "void f() {   int a[; }", true);
}

static void launches_in_device_code_are_marked(void **state)
{
    (void)state;
    bool dynamic = false;
    char *out = ga__simt_rewrite("void f() {\n  g<<<1, 2>>>(3);\n}", &dynamic);
    assert_non_null(strstr(out, "void f() {\n  g _Pragma(\"GCC error "));
    assert_non_null(strstr(out, "\")<<<1, 2>>>(3);\n}"));
    ga__free(out);
}

/* ---- compiling ---- */

typedef struct result {
    ga_status status;
    char *log;
} result;

static result compile(const char *text, const char *const *kernels, const char *const *options)
{
    const ga__cuda_source source = {
        .name = "dir/user.cu", .text = text, .kernels = kernels, .options = options};
    void *code = NULL;
    size_t nbytes = 0;
    char *symbols = NULL;
    result r = {GA_OK, NULL};
    r.status = backend->user.compile(device, &source, &code, &nbytes, &symbols, &r.log);
    ga__free(code);
    ga__free(symbols);
    return r;
}

static void fails(const char *text, const char *kernel, const char *message)
{
    const result r = compile(text, KERNELS(kernel), NULL);
    assert_null(r.log);
    if (strstr(ga_error_message(), "/tmp/") || strstr(ga_error_message(), "kernel.cpp"))
        fail_msg("files of ours in: %s", ga_error_message());
    assert_message(r.status, GA_ERR_COMPILE, message);
}

static void errors_have_the_users_lines(void **state)
{
    (void)state;
    fails("__global__ void k(int *out) {\n\n    out[0] = nothing;\n}\n", "k",
          "dir/user.cu:3:14: error: ");
    fails("__global__ void k(int *out) {\n\n    out[0] = nothing;\n}\n", "k",
          "    out[0] = nothing;"); /* the line itself */
    fails("__global__ void k(int *o) {\n    extern __shared__ int a[];\n    a->x = 1;\n}\n", "k",
          "dir/user.cu:3:");
    fails("\n\n__global__ void k() {}\n", "other", "kernels:1:");
    fails("template <class T> __global__ void k(T x) {}\n", "k", "kernels:1:");
    fails("__global__ int k() { return 1; }\n", "k", "a kernel is a function that returns void");
    fails("__global__ void g() {}\n__global__ void k() {\n    g<<<1, 2>>>();\n}\n", "k",
          "error: launches (<<< >>>) from device code are not supported on the host");
    fails("__global__ void g() {}\n__global__ void k() {\n    g<<<1, 2>>>();\n}\n", "k",
          "dir/user.cu:3:");
    fails("__device__ unsigned lane() { unsigned r;\n  asm volatile(\"mov.u32 %0, %laneid;\" : "
          "\"=r\"(r)); return r; }\n__global__ void k() {}\n",
          "k", "inline_PTX_is_not_supported_on_the_host");
    fails("#include \"missing.h\"\n__global__ void k() {}\n", "k", "missing.h");
    fails("#include <cooperative_groups.h>\n__global__ void k() {}\n", "k", "cooperative_groups.h");
    fails("__global__ void k(float *x) { atomicAdd((long *)x, 1l); }\n", "k", "dir/user.cu:1:");
    fails("__global__ void k(double *x) { *x = sin(1); }\n", "k", "ambiguous");
}

/* Code that is not compiled may contain unsupported constructs. */
static void conditions_hide_code(void **state)
{
    (void)state;
    const result r =
        compile("#ifndef QUARRY_HOST\nvoid f() { asm(\"x\"); g<<<1, 2>>>(); }\n#endif\n"
                "#if __CUDA_ARCH__ < 600\n#error old\n#endif\n"
                "__global__ void k() {}\n",
                KERNELS("k"), NULL);
    assert_ok(r.status);
    ga__free(r.log);
}

static void warnings_are_handed_out(void **state)
{
    (void)state;
    static const char text[] =
        "__global__ void k(int *out) {\n    int unused = 3;\n"
        "#pragma unroll 4\n    for (int i = 0; i < blockDim.x; i++) out[i] = "
        "i;\n}\n";
    result r = compile(text, KERNELS("k"), NULL);
    assert_ok(r.status);
    assert_non_null(strstr(r.log, "dir/user.cu:2:9: warning: "));
    assert_null(strstr(r.log, "unroll"));
    ga__free(r.log);
    r = compile(text, KERNELS("k"), KERNELS("--disable-warnings"));
    assert_ok(r.status);
    assert_null(r.log);
}

static void takes(const char *text, const char *const *options)
{
    const result r = compile(text, KERNELS("k"), options);
    assert_ok(r.status);
    ga__free(r.log);
}

static void options_are_those_of_nvrtc(void **state)
{
    (void)state;
    takes("#if N != 4 || M != 1 || !defined(P) || Q != 2\n#error no\n#endif\n__global__ void k() "
          "{}\n",
          KERNELS("-DN=4", "--define-macro=M", "-D", "P", "-D Q=2"));
    /* Names that the simulator's own text has too. */
    takes("#define grid 3\n#define wait 4\n__global__ void k(T *x) {\n"
          "    extern __shared__ T values[];\n    values[threadIdx.x] = x[blockIdx.x % N];\n"
          "    __syncthreads();\n    assert(x);\n    x[gridDim.y] = atomicAdd(values, SQUARE(a)) * "
          "__shfl_sync(~0u, 1, 2);\n}\n",
          KERNELS("-DT=float", "-DN=3", "-DSQUARE(x)=x*x", "-Da=2", "-Dself=1", "-Dindex=2",
                  "-Dblock=5", "-Df=6", "-Dline=7", "-Dvalue=8", "-Dmask=9", "-Dentry=1",
                  "-Dsymbol=2", "-Dname=3"));
    takes("#if __CUDA_ARCH__ != 700\n#error no\n#endif\n__global__ void k() {}\n",
          KERNELS("-D__CUDA_ARCH__=700"));
    takes("#ifdef __CUDACC_RTC__\n__global__ void k() {}\n#endif\n",
          KERNELS("-UX", "--undefine-macro=Y", "--gpu-architecture=sm_80", "-arch", "compute_90",
                  "-lineinfo", "--maxrregcount=32", "-default-device", "--ftz=true", "-G"));
    takes("#ifndef __FAST_MATH__\n#if __FINITE_MATH_ONLY__\n#error no\n#endif\n#endif\n"
          "__global__ void k(float *x) { *x = isnan(*x); }\n",
          KERNELS("--use_fast_math"));
    takes("static_assert(__cplusplus >= 202002L, \"\");\n__global__ void k() {}\n",
          KERNELS("--std=c++20"));
    takes("static_assert(__cplusplus == 201703L, \"\");\n__global__ void k() {}\n",
          KERNELS("-std=c++11"));
    result r = compile("__global__ void k() {}\n", KERNELS("k"), KERNELS("-DX", "-O3"));
    assert_message(r.status, GA_ERR_INVALID, "dir/user.cu: unknown compiler option \"-O3\"");
    r = compile("__global__ void k() {}\n", KERNELS("k"), KERNELS("word"));
    assert_message(r.status, GA_ERR_INVALID, "unknown compiler option \"word\"");
    r = compile("__global__ void k() {}\n", KERNELS("k"), KERNELS("-Wl,-x"));
    assert_message(r.status, GA_ERR_INVALID, "unknown compiler option \"-Wl,-x\"");
}

static void headers_are_found(void **state)
{
    (void)state;
    int out[1] = {0};
    char option[256];
    char *directory = ga__make_temporary_directory();
    char path[256];
    snprintf(path, sizeof path, "%s/in_path.h", directory);
    snprintf(option, sizeof option, "-I%s", directory);
    assert_ok(ga__write_file_atomic(path, "#define IN_PATH 1000\n", 21));
    ga__cuda_source source = {
        .name = "user.cu",
        .text = "#include <cuda_runtime.h>\n#include <device_launch_parameters.h>\n"
                "#include <math.h>\n#include <cstdio>\n#include <stdint.h>\n#include <limits.h>\n"
                "#include \"in_path.h\"\n#include \"own/values.h\"\n"
                "extern \"C\" __global__ void k(int32_t *out, int n) {\n"
                "    shared_values()[0] = 300; out[0] = IN_PATH + own(20) + (INT_MAX > 0)\n"
                "        + shared_values()[0] + (M_PI > 3 && INFINITY > 1);\n}\n",
        .options = KERNELS(option),
        .header_names = KERNELS("own/values.h", "more.h"),
        .header_texts = KERNELS("#pragma once\n#include \"more.h\"\n",
                                "__device__ int own(int x) { return x; }\n"
                                "__device__ int *shared_values() {\n"
                                "    extern __shared__ int values[];\n    return values;\n}\n"),
        .kernels = KERNELS("k"),
    };
    program p = {0};
    shape s = line(1, 1);
    s.shared = 4;
    assert_ok(build_source(&p, &source));
    assert_ok(run(p.kernels[0], s, out, 1, sizeof *out));
    assert_int_equal(out[0], 1322);
    backend->code.unload(p.image);
    ga__remove_tree(directory);
    ga__free(directory);

    static const char *const names[] = {"/etc/x.h", "../x.h", "a/../../x.h", "", "a/"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        source.header_names = KERNELS(names[i]);
        assert_message(build_source(&p, &source), GA_ERR_INVALID,
                       "a header's name must be a relative path");
    }
}

static void headers_for_gpus_alone_are_refused(void **state)
{
    (void)state;
    fails("#include <cuda_fp16.h>\n__global__ void k(__half *out) {}\n", "k",
          "cuda_fp16.h:1:2: error: ");
    fails("#include <cooperative_groups.h>\n__global__ void k() {}\n", "k",
          "this header is not supported on the host");
}

static void nothing_is_left_behind(void **state)
{
    (void)state;
    char *directory = ga__make_temporary_directory();
    char *before = getenv("TMPDIR") ? strdup(getenv("TMPDIR")) : NULL;
    setenv("TMPDIR", directory, 1);
    takes("__global__ void k() {}\n", NULL);
    result r = compile("not C++", KERNELS("k"), NULL);
    assert_message(r.status, GA_ERR_COMPILE, "dir/user.cu:1:");
    if (before != NULL)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    assert_int_equal(remove(directory), 0); /* it is empty */
    free(before);
    ga__free(directory);
}

static void the_key_names_the_compiler(void **state)
{
    (void)state;
    ga__strbuf key = GA__STRBUF_INIT, again = GA__STRBUF_INIT;
    backend->user.key(device, &key);
    backend->user.key(device, &again);
    assert_non_null(strstr(key.text, "/"));
    assert_non_null(strstr(key.text, "simulator "));
    assert_string_equal(key.text, again.text);
    ga__strbuf_reset(&key);
    ga__strbuf_reset(&again);
}

static int choose_host(void **state)
{
    (void)state;
    if (ga_set_device("cpu") != GA_OK)
        return -1;
    return choose_device(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(dynamic_shared_memory_in_functions, clear_error),
        cmocka_unit_test_setup(dynamic_shared_memory_in_namespaces, clear_error),
        cmocka_unit_test_setup(everything_else_stays, clear_error),
        cmocka_unit_test_setup(declarations_with_parts_missing_stay_whole, clear_error),
        cmocka_unit_test_setup(launches_in_device_code_are_marked, clear_error),
        cmocka_unit_test_setup(errors_have_the_users_lines, clear_error),
        cmocka_unit_test_setup(conditions_hide_code, clear_error),
        cmocka_unit_test_setup(warnings_are_handed_out, clear_error),
        cmocka_unit_test_setup(options_are_those_of_nvrtc, clear_error),
        cmocka_unit_test_setup(headers_are_found, clear_error),
        cmocka_unit_test_setup(headers_for_gpus_alone_are_refused, clear_error),
        cmocka_unit_test_setup(nothing_is_left_behind, clear_error),
        cmocka_unit_test_setup(the_key_names_the_compiler, clear_error),
    };
    return run_named_tests(argc, argv, tests, choose_host, NULL);
}
