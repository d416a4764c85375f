/* Tests of users' modules: compiling, loading, kernels by name, variables, caches and messages. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "base/alloc.h"
#include "base/os/replacement.h"
#include "base/os/system.h"
#include "jit/compile.h"
#include "run.h"

/* Runs a kernel(int *out) on one thread; returns what it wrote. */
static int run(ga_module *m, const char *name)
{
    int out = -1;
    ga_kernel *kernel = ga_module_kernel(m, name);
    if (ga_launch(kernel, GA_DIM(1), GA_DIM(1), GA_OUT(&out, sizeof out)) != GA_OK)
        fail_msg("%s: %s", name, ga_error_message());
    return out;
}

/* ---- Kernels by name ---- */

static const char *const names_source =
    "extern \"C\" __global__ void c_name(int *out) { *out = 1; }\n"
    "__global__ void plain(int *out) { *out = 2; }\n"
    "static __global__ void hidden(int *out) { *out = 3; }\n"
    "namespace a { namespace b { __global__ void inner(int *out) { *out = 4; } } }\n"
    "template <int N> __global__ void number(int *out) { *out = N; }\n"
    "template <class A, class B> __global__ void sizes(int *out) {\n"
    "    *out = (int)(sizeof(A) * 10 + sizeof(B));\n"
    "}\n"
    "#if SPECIAL\n"
    "__global__ void special(int *out) { *out = 6; }\n"
    "#endif\n"
    "__global__ void twice(int *out) { *out = 7; }\n"
    "__global__ void twice(float *out) { *out = 8; }\n"
    "#define MAKE(name, value) __global__ void name(int *out) { *out = value; }\n"
    "MAKE(made, 9)\n";

static void kernels_are_found_by_their_names(void **state)
{
    (void)state;
    ga_module *m = ga_module_compile(names_source);
    assert_int_equal(run(m, "c_name"), 1);
    assert_int_equal(run(m, "plain"), 2);
    assert_int_equal(run(m, "hidden"), 3);
    assert_int_equal(run(m, "a::b::inner"), 4);
    assert_int_equal(run(m, "made"), 9);
    assert_ptr_equal(ga_module_kernel(m, "plain"), ga_module_kernel(m, "plain"));
    assert_ptr_not_equal(ga_module_kernel(m, "plain"), ga_module_kernel(m, "c_name"));
    ga_module_free(m);
}

static void instances_of_templates_are_compiled_when_asked_for(void **state)
{
    (void)state;
    ga_module *m =
        ga_module_compile(names_source, .kernels = "sizes<char, double> ; number<1 + 1>");
    const int64_t compiled = ga__module_count().compiled;
    assert_int_equal(run(m, "sizes<char, double>"), 18);
    assert_int_equal(run(m, "number<1 + 1>"), 2);
    assert_int_equal(ga__module_count().compiled, compiled);
    assert_int_equal(run(m, "number<42>"), 42);
    assert_int_equal(run(m, "sizes<short, long long>"), 28);
    ga_module_free(m);
}

static void conditions_follow_the_options(void **state)
{
    (void)state;
    ga_module *m = ga_module_compile(names_source, .options = "-DSPECIAL=1", .name = "special one");
    assert_int_equal(run(m, "special"), 6);
    assert_int_equal(run(m, "plain"), 2);
    ga_module_free(m);
    m = ga_module_compile(names_source);
    assert_null(ga_module_kernel(m, "special"));
    assert_error(GA_ERR_INVALID, "the kernel \"special\" is left out by an #if");
    ga_module_free(m);
}

static void an_unknown_name_lists_those_there_are(void **state)
{
    (void)state;
    ga_module *m = ga_module_compile("__global__ void add(int *x) {} template <int N> __global__ "
                                     "void scale(int *x) {} namespace n { __global__ void s() {} }",
                                     .name = "few");
    assert_null(ga_module_kernel(m, "ad"));
    assert_error(GA_ERR_INVALID,
                 "few: the module has no kernel \"ad\"; its kernels: add, n::s, scale<...>");
    assert_null(ga_module_kernel(m, "scale<nothing>"));
    assert_error(GA_ERR_COMPILE, "nothing");
    assert_null(ga_module_kernel(m, ""));
    ga_clear_error();
    assert_null(ga_module_kernel(m, "add; void f()"));
    ga_clear_error();
    assert_non_null(ga_module_kernel(m, "add"));
    ga_module_free(m);
    m = ga_module_compile("__device__ int f() { return 1; }");
    assert_null(ga_module_kernel(m, "f"));
    assert_error(GA_ERR_INVALID, "the module has no kernel \"f\"; its kernels: none");
    ga_module_free(m);
}

static void a_kernel_of_an_odd_name_is_no_reason_to_fail(void **state)
{
    (void)state;
    /* The name scanner takes `name` for a kernel's name. */
    ga_module *m = ga_module_compile("#define NAMED(name) name##_kernel\n"
                                     "__global__ void NAMED(add)(int *out) { *out = 5; }\n");
    assert_int_equal(run(m, "add_kernel"), 5);
    ga_module_free(m);
}

static void the_name_of_overloads_is_refused(void **state)
{
    (void)state;
    ga_module *m = ga_module_compile(names_source);
    assert_null(ga_module_kernel(m, "twice"));
    assert_error(GA_ERR_INVALID, "\"twice\" is left out by an #if, or defined more than once");
    ga_module_free(m);
}

/* ---- Variables ---- */

static const char *const variables_source =
    "__constant__ float table[4];\n"
    "__device__ int counter = 5;\n"
    "namespace ns { __device__ double inner[2] = {1.5, 2.5}; }\n"
    "__global__ void sum(float *out) { *out = table[0] + table[1] + table[2] + table[3]; }\n"
    "__global__ void count() { counter += 1; }\n"
    "template <int N> __global__ void add() { counter += N; }\n";

static float table_sum(ga_module *m)
{
    float out = 0;
    ga_launch(ga_module_kernel(m, "sum"), GA_DIM(1), GA_DIM(1), GA_OUT(&out, sizeof out));
    return out;
}

static void variables_are_arrays(void **state)
{
    (void)state;
    ga_module *m = ga_module_compile(variables_source);
    GA_SCOPE {
        gpuarray *bytes = ga_module_global(m, "table");
        assert_int_equal(ga_dtype_of(bytes), GA_UINT8);
        assert_int_equal(ga_size(bytes), 16);
        gpuarray *table = ga_view(bytes, GA_FLOAT32);
        assert_int_equal(ga_assign(table, 0.25), GA_OK);
        assert_true(table_sum(m) == 1.0f);
        gpuarray *values = ga_arange(GA_FLOAT32, 0, 4, 1);
        assert_int_equal(ga_assign(table, values), GA_OK);
        assert_true(table_sum(m) == 6.0f);
        gpuarray *inner = ga_view(ga_module_global(m, "ns::inner"), GA_FLOAT64);
        assert_true(ga_item_double(ga_sum(inner)) == 4.0);
        gpuarray *counter = ga_view(ga_module_global(m, "counter"), GA_INT32);
        for (int i = 0; i < 3; i++)
            assert_int_equal(ga_launch(ga_module_kernel(m, "count"), GA_DIM(1), GA_DIM(1)), GA_OK);
        assert_int_equal(ga_item_int64(ga_slice(counter, "0")), 8);
    }
    ga_module_free(m);
}

static void modules_of_one_source_have_variables_of_their_own(void **state)
{
    (void)state;
    ga_module *a = ga_module_compile(variables_source), *b = ga_module_compile(variables_source);
    GA_SCOPE {
        ga_assign(ga_view(ga_module_global(a, "table"), GA_FLOAT32), 1);
        ga_assign(ga_view(ga_module_global(b, "table"), GA_FLOAT32), 2);
        assert_true(table_sum(a) == 4.0f);
        assert_true(table_sum(b) == 8.0f);
    }
    ga_module_free(a);
    ga_module_free(b);
}

static void a_variable_outlives_its_module(void **state)
{
    (void)state;
    ga_module *m = ga_module_compile(variables_source);
    gpuarray *counter = ga_module_global(m, "counter");
    ga_launch(ga_module_kernel(m, "count"), GA_DIM(1), GA_DIM(1));
    ga_module_free(m);
    gpuarray *number = ga_view(counter, GA_INT32);
    ga_free(counter);
    assert_int_equal(ga_item_int64(number), 6);
    ga_free(number);
}

static void unknown_variables_list_those_there_are(void **state)
{
    (void)state;
    ga_module *m = ga_module_compile(variables_source, .name = "vars");
    assert_null(ga_module_global(m, "tabel"));
    assert_error(
        GA_ERR_INVALID,
        "vars: the module has no variable \"tabel\"; its variables: table, counter, ns::inner");
    assert_null(ga_module_global(m, "inner"));
    assert_error(GA_ERR_INVALID, "no variable \"inner\"");
    ga_module_free(m);
}

/* A separate instance would count in a counter of its own. */
static void instances_share_variables_or_are_refused(void **state)
{
    (void)state;
    ga_module *m = ga_module_compile(variables_source);
    assert_null(ga_module_kernel(m, "add<2>"));
    assert_error(GA_ERR_INVALID,
                 "would not share the module's variables (table, counter, ns::inner)");
    assert_null(ga_module_kernel(m, "missing"));
    assert_error(GA_ERR_INVALID, "no kernel \"missing\"");
    ga_module_free(m);
    m = ga_module_compile(variables_source, .kernels = "add<2>,add<30>");
    ga_launch(ga_module_kernel(m, "add<2>"), GA_DIM(1), GA_DIM(1));
    ga_launch(ga_module_kernel(m, "add<30>"), GA_DIM(1), GA_DIM(1));
    gpuarray *counter = ga_module_global(m, "counter"), *number = ga_view(counter, GA_INT32);
    assert_int_equal(ga_item_int64(number), 37);
    ga_free(counter);
    ga_free(number);
    ga_module_free(m);
}

/* ---- Options, headers and caches ---- */

static const char *const value_source = "#include \"value.h\"\n"
                                        "__global__ void value(int *out) { *out = VALUE + MORE; }";

static void options_and_headers_reach_the_compiler(void **state)
{
    (void)state;
    for (int value = 1; value <= 2; value++) {
        char header[32];
        snprintf(header, sizeof header, "#define VALUE %d\n", 100 * value);
        ga_module *m =
            ga_module_compile(value_source, .options = " -DMORE=7  '-DUNUSED=\"a b\"' ",
                              .headers = GA_HEADERS({"unused.h", ""}, {"value.h", header}));
        assert_int_equal(run(m, "value"), 100 * value + 7);
        ga_module_free(m);
    }
    assert_null(ga_module_compile(value_source, .headers = GA_HEADERS({"value.h", NULL})));
    assert_error(GA_ERR_INVALID, "the text of the header \"value.h\" is NULL");
    assert_null(ga_module_compile("__global__ void f() {}", .options = "--no-such-option"));
    assert_error(ga_error(), "no-such-option");
    assert_null(ga_module_compile("__global__ void f() {}", .options = "'--unbalanced"));
    assert_int_not_equal(ga_error(), GA_OK);
    ga_clear_error();
}

static ga__module_counts compile_once(const char *source, const char *options)
{
    const ga__module_counts before = ga__module_count();
    ga_module *m = ga_module_compile(source, .options = options);
    if (!m)
        fail_msg("%s", ga_error_message());
    assert_int_equal(run(m, "value"), 3);
    ga_module_free(m);
    const ga__module_counts after = ga__module_count();
    return (ga__module_counts){.compiled = after.compiled - before.compiled,
                               .disk_hits = after.disk_hits - before.disk_hits,
                               .memory_hits = after.memory_hits - before.memory_hits};
}

static void equal_sources_are_compiled_once(void **state)
{
    (void)state;
    char source[200];
    snprintf(source, sizeof source, "__global__ void value(int *out) { *out = N; } /* %ld */",
             (long)getpid());
    ga__module_counts n = compile_once(source, "-DN=3");
    assert_true(n.compiled == 1 && n.disk_hits == 0 && n.memory_hits == 0);
    n = compile_once(source, "-DN=3");
    assert_true(n.compiled == 0 && n.disk_hits == 0 && n.memory_hits == 1);
    ga__module_forget();
    n = compile_once(source, "-DN=3");
    assert_true(n.compiled == 0 && n.disk_hits == 1);
    n = compile_once(source, "-DN=4-1");
    assert_true(n.compiled == 1);
}

static void write_text(const char *path, const char *text)
{
    assert_int_equal(ga__write_file_atomic(path, text, strlen(text)), GA_OK);
}

/* Quarry does not track the file, so the cached code may be stale. */
static void files_included_are_read_each_time(void **state)
{
    (void)state;
    char path[4096], options[4200];
    char *directory = ga__make_temporary_directory();
    snprintf(path, sizeof path, "%s/value.h", directory);
    snprintf(options, sizeof options, "-DMORE=0 -I%s", directory);
    for (int i = 0; i < 2; i++) {
        write_text(path, "#define VALUE 3\n");
        assert_int_equal(compile_once(value_source, options).compiled, 1);
        write_text(path, "#define VALUE 4\n");
        ga_module *m = ga_module_compile(value_source, .options = options);
        assert_int_equal(run(m, "value"), 4);
        ga_module_free(m);
    }
    unlink(path);
    rmdir(directory);
    ga__free(directory);
}

static void the_toolkits_headers_are_found(void **state)
{
    (void)state;
    const char *home = getenv("CUDA_HOME");
    char path[4096];
    snprintf(path, sizeof path, "%s/include/cuda_fp16.h", home && *home ? home : "/usr/local/cuda");
    if (on_host() || access(path, R_OK) != 0) {
        print_message("skipped: %s\n", on_host() ? "not on the host" : "no toolkit here");
        skip();
    }
    ga_module *m = ga_module_compile("#include <cuda_fp16.h>\n"
                                     "__global__ void half_of(int *out) {\n"
                                     "    *out = (int)__half2float(__hmul(__float2half(6.f),\n"
                                     "                                    __float2half(.5f)));\n"
                                     "}\n");
    assert_int_equal(run(m, "half_of"), 3);
    ga_module_free(m);
}

/* ---- Messages ---- */

static void errors_have_the_log_and_the_lines(void **state)
{
    (void)state;
    const char *source = "__global__ void good() {}\n"
                         "\n"
                         "\n"
                         "\n"
                         "__global__ void bad(int *out) {\n"
                         "    *out = undeclared_name;\n"
                         "}\n"
                         "\n"
                         "\n"
                         "__global__ void fine() {}\n";
    assert_null(ga_module_compile(source, .name = "wrong one"));
    assert_int_equal(ga_error(), GA_ERR_COMPILE);
    assert_non_null(strstr(ga_error_message(), "wrong one does not compile"));
    assert_non_null(strstr(ga_error_message(), "undeclared_name"));
    assert_non_null(strstr(ga_error_message(), "     5 | __global__ void bad(int *out) {\n"
                                               ">    6 |     *out = undeclared_name;\n"
                                               "     7 | }\n"));
    assert_null(strstr(ga_error_message(), "good()"));
    assert_null(strstr(ga_error_message(), "fine()"));
    assert_null(strstr(ga_error_message(), "nv_name_map"));
    ga_clear_error();
    assert_null(ga_module_compile(NULL));
    assert_error(GA_ERR_INVALID, "module: the source is NULL");
}

static char warnings[4096];

static void keep_warnings(int level, const char *text, void *user)
{
    (void)level, (void)user;
    strncat(warnings, text, sizeof warnings - strlen(warnings) - 2);
    strcat(warnings, "\n");
}

static void warnings_go_to_the_log(void **state)
{
    (void)state;
    char source[200];
    snprintf(source, sizeof source,
             "__global__ void f(int *out) { *out = 1; }\n#warning \"look here\" %ld\n",
             (long)getpid());
    ga_set_log(keep_warnings, NULL);
    ga_module *m = ga_module_compile(source, .name = "noisy");
    ga_set_log(NULL, NULL);
    assert_int_equal(run(m, "f"), 1);
    ga_module_free(m);
    assert_non_null(strstr(warnings, "noisy: "));
    assert_non_null(strstr(warnings, "look here"));
}

static void nulls_pass_the_first_error_on(void **state)
{
    (void)state;
    ga_kernel *kernel = ga_module_kernel(NULL, "add");
    assert_null(kernel);
    assert_int_not_equal(ga_launch(kernel, GA_DIM(1), GA_DIM(1)), GA_OK);
    assert_null(ga_module_global(NULL, "table"));
    assert_error(GA_ERR_INVALID, "kernel: the module is NULL");
    ga_module *m = ga_module_compile("__global__ void f() {}");
    assert_null(ga_module_kernel(m, NULL));
    assert_error(GA_ERR_INVALID, "kernel: the name is NULL");
    assert_null(ga_module_global(m, NULL));
    assert_error(GA_ERR_INVALID, "global: the name is NULL");
    ga_kernel_free(ga_module_kernel(m, "f")); /* its module frees it */
    assert_int_equal(ga_launch(ga_module_kernel(m, "f"), GA_DIM(1), GA_DIM(1)), GA_OK);
    ga_module_free(m);
    ga_module_free(NULL);
}

/* ---- Files ---- */

static const char *const ptx = ".version 7.0\n.target sm_70\n.address_size 64\n"
                               ".visible .entry answer(.param .u64 out) {\n"
                               "    .reg .b64 %rd<3>;\n"
                               "    .reg .b32 %r<2>;\n"
                               "    ld.param.u64 %rd1, [out];\n"
                               "    cvta.to.global.u64 %rd2, %rd1;\n"
                               "    mov.u32 %r1, 42;\n"
                               "    st.global.u32 [%rd2], %r1;\n"
                               "    ret;\n"
                               "}\n";

/* A path in a directory of its own, which remove_file() removes. */
static char *new_path(char **directory)
{
    static char path[4096];
    *directory = ga__make_temporary_directory();
    snprintf(path, sizeof path, "%s/module", *directory);
    return path;
}

static void remove_file(const char *path, char *directory)
{
    unlink(path);
    rmdir(directory);
    ga__free(directory);
}

static void device_code_is_loaded_from_files(void **state)
{
    (void)state;
    char *directory, *path = new_path(&directory);
    write_text(path, ptx);
    ga_module *m = ga_module_load(path);
    if (on_host()) {
        assert_null(m);
        assert_error(GA_ERR_UNSUPPORTED, "GPU code does not run on cpu");
    } else {
        assert_int_equal(run(m, "answer"), 42);
        assert_null(ga_module_kernel(m, "question"));
        assert_error(GA_ERR_INVALID, "answer");
        assert_null(ga_module_global(m, "question"));
        assert_error(GA_ERR_INVALID, "no variable \"question\"");
        ga_module_free(m);
    }
    remove_file(path, directory);
}

#ifdef QUARRY_CUDA
#include "device/cuda/nvrtc.h"

static void a_cubin_is_loaded_and_found_by_names(void **state)
{
    (void)state;
    if (on_host())
        skip();
    void *code;
    size_t nbytes;
    char *symbols, *log, *directory, *path = new_path(&directory);
    const ga__cuda_source source = {.name = "names", .text = names_source};
    ga__device *device = ga__current_device();
    assert_int_equal(ga__nvrtc_compile_cuda(&source, device->arch, &code, &nbytes, &symbols, &log),
                     GA_OK);
    assert_int_equal(ga__write_file_atomic(path, code, nbytes), GA_OK);
    ga__free(code);
    ga__free(symbols);
    ga__free(log);
    ga_module *m = ga_module_load(path);
    assert_int_equal(run(m, "c_name"), 1);
    assert_int_equal(run(m, "plain"), 2);
    assert_int_equal(run(m, "a::b::inner"), 4);
    assert_int_equal(run(m, "_Z5plainPi"), 2);
    assert_null(ga_module_kernel(m, "twice"));
    assert_error(GA_ERR_INVALID, "_Z5twicePi");
    assert_int_equal(run(m, "_Z5twicePi"), 7);
    ga_module_free(m);
    remove_file(path, directory);
}
#endif

static void other_files_are_refused(void **state)
{
    (void)state;
    if (on_host())
        skip();
    char *directory, *path = new_path(&directory);
    static const char *const texts[] = {"", "int main(int argc, char **argv) { return 0; }\n\n\n",
                                        "\177ELF but not really one, is it",
                                        ".version .target no PTX"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_text(path, texts[i]);
        if (ga_module_load(path))
            fail_msg("loaded: %s", texts[i]);
        assert_int_equal(ga_error(), i < 3 ? GA_ERR_FORMAT : GA_ERR_DEVICE);
        ga_clear_error();
    }
    remove_file(path, directory);
    assert_null(ga_module_load("/nonexistent/file.cubin"));
    assert_error(GA_ERR_IO, "/nonexistent/file.cubin");
    assert_null(ga_module_load(NULL));
    assert_error(GA_ERR_INVALID, "path of the module is NULL");
}

/* A failure is reported to the threads that ask while it happens, and to none later. */
static void sources_that_failed_are_tried_again(void **state)
{
    char text[128];
    (void)state;
    if (!on_host()) {
        print_message("skipped on %s: its compiler needs no folder\n", ga_current_device());
        skip();
    }
    const char *set = getenv("TMPDIR");
    char *before = set ? strdup(set) : NULL;
    snprintf(text, sizeof text, "extern \"C\" __global__ void again(long *x) { *x = %ld%ld; }",
             (long)getpid(), (long)time(NULL)); /* it is in no cache */
    setenv("TMPDIR", "/nonexistent/folder", 1);
    assert_null(ga_module_compile(text));
    assert_true(ga_error() != GA_OK);
    ga_clear_error();
    if (before)
        setenv("TMPDIR", before, 1);
    else
        unsetenv("TMPDIR");
    free(before);
    ga_module *m = ga_module_compile(text);
    if (!m)
        fail_msg("%s", ga_error_message());
    ga_module_free(m);
}

#define TEST(name) cmocka_unit_test_teardown(name, leave_no_error)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(kernels_are_found_by_their_names),
        TEST(instances_of_templates_are_compiled_when_asked_for),
        TEST(conditions_follow_the_options),
        TEST(an_unknown_name_lists_those_there_are),
        TEST(a_kernel_of_an_odd_name_is_no_reason_to_fail),
        TEST(the_name_of_overloads_is_refused),
        TEST(variables_are_arrays),
        TEST(modules_of_one_source_have_variables_of_their_own),
        TEST(a_variable_outlives_its_module),
        TEST(unknown_variables_list_those_there_are),
        TEST(instances_share_variables_or_are_refused),
        TEST(options_and_headers_reach_the_compiler),
        TEST(equal_sources_are_compiled_once),
        TEST(files_included_are_read_each_time),
        TEST(the_toolkits_headers_are_found),
        TEST(errors_have_the_log_and_the_lines),
        TEST(warnings_go_to_the_log),
        TEST(sources_that_failed_are_tried_again),
        TEST(nulls_pass_the_first_error_on),
        TEST(device_code_is_loaded_from_files),
        TEST(other_files_are_refused),
#ifdef QUARRY_CUDA
        TEST(a_cubin_is_loaded_and_found_by_names),
#endif
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
