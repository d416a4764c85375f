/* Compiles with NVRTC without a GPU: every architecture, errors, and a missing NVRTC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <quarry/error.h>

#include "base/alloc.h"
#include "run.h"

#ifdef QUARRY_CUDA
#include "device/cuda/nvrtc.h"

static const char *const text = "struct words { float *x; long n; };\n"
                                "extern \"C\" __global__ void twice(words w) {\n"
                                "    long i = (long)blockIdx.x * blockDim.x + threadIdx.x;\n"
                                "    if (i < w.n) w.x[i] = 2 * sinf(w.x[i]);\n"
                                "}\n";

static int clear(void **state)
{
    (void)state;
    ga__alloc_fail_at(0);
    ga_clear_error();
    return 0;
}

static ga_status compile(const char *source, int arch, bool fast_math)
{
    void *code = NULL;
    size_t nbytes = 0;
    ga_status status = ga__nvrtc_compile("twice", source, arch, fast_math, &code, &nbytes);
    if (status == GA_OK && (nbytes < 100 || memcmp(code, "\177ELF", 4) != 0))
        status = GA_ERR_FORMAT;
    ga__free(code);
    return status;
}

static void every_architecture_compiles(void **state)
{
    (void)state;
    static const int archs[] = {75, 80, 90, 100, 120};
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        if (compile(text, archs[i], false) != GA_OK)
            fail_msg("sm_%d: %s", archs[i], ga_error_message());
    }
}

static void the_same_source_gives_the_same_code(void **state)
{
    (void)state;
    void *code[2] = {NULL, NULL};
    size_t nbytes[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(ga__nvrtc_compile("twice", text, 90, false, &code[i], &nbytes[i]), GA_OK);
    assert_int_equal(nbytes[0], nbytes[1]);
    assert_memory_equal(code[0], code[1], nbytes[0]);
    ga__free(code[0]);
    ga__free(code[1]);
}

static void fast_math_changes_the_code(void **state)
{
    (void)state;
    void *code[2] = {NULL, NULL};
    size_t nbytes[2] = {0, 0};
    for (int i = 0; i < 2; i++)
        assert_int_equal(ga__nvrtc_compile("twice", text, 90, i, &code[i], &nbytes[i]), GA_OK);
    assert_true(nbytes[0] != nbytes[1] || memcmp(code[0], code[1], nbytes[0]) != 0);
    ga__free(code[0]);
    ga__free(code[1]);
}

static void an_error_has_the_log_and_the_users_line(void **state)
{
    (void)state;
    assert_int_equal(compile("#line 7 \"user text\"\nint broken = undeclared_name;\n", 90, false),
                     GA_ERR_COMPILE);
    assert_int_equal(ga_error(), GA_ERR_COMPILE);
    assert_non_null(strstr(ga_error_message(), "twice does not compile for sm_90"));
    assert_non_null(strstr(ga_error_message(), "user text(7)"));
    assert_non_null(strstr(ga_error_message(), "undeclared_name"));
}

static void an_unknown_architecture_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(compile(text, 1, false), GA_ERR_COMPILE);
    assert_non_null(strstr(ga_error_message(), "sm_1"));
    ga_clear_error();
    assert_int_equal(compile(text, 90, false), GA_OK);
}

static void every_failed_allocation_is_survived(void **state)
{
    (void)state;
    int64_t live = ga__alloc_live();
    ga_status status = GA_ERR_MEMORY;
    for (int n = 1; n < 20 && status != GA_OK; n++) {
        ga__alloc_fail_at(n);
        status = compile(text, 90, false);
        ga__alloc_fail_at(0);
        assert_int_equal(ga_error(), status);
        assert_int_equal(ga__alloc_live(), live);
        ga_clear_error();
    }
    assert_int_equal(status, GA_OK);
}

static void without_nvrtc_the_message_says_what_to_do(void **state)
{
    (void)state;
    setenv("QUARRY_NVRTC", "/nonexistent/libnvrtc.so", 1);
    assert_int_equal(compile(text, 90, false), GA_ERR_COMPILE);
    assert_non_null(strstr(ga_error_message(), "QUARRY_NVRTC=/nonexistent/libnvrtc.so"));
    unsetenv("QUARRY_NVRTC");
}

/* A wheel's folder is not the loader's. */
static void the_files_beside_nvrtc_are_found(void **state)
{
    (void)state;
    const char *path = getenv("FAKE_NVRTC");
    if (!path) {
        print_message("skipped: FAKE_NVRTC does not name the tests' library\n");
        skip();
    }
    const pid_t child = fork(); /* a loaded NVRTC stays loaded */
    if (child == 0) {
        setenv("QUARRY_NVRTC", path, 1);
        const ga_status status = compile(text, 90, false);
        if (status != GA_OK)
            fprintf(stderr, "%s\n", ga_error_message());
        _exit(status != GA_OK);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void the_description_tells_the_options(void **state)
{
    (void)state;
    char plain[256], fast[256];
    ga__nvrtc_describe(plain, sizeof plain, false);
    ga__nvrtc_describe(fast, sizeof fast, true);
    assert_non_null(strstr(plain, "--std=c++17"));
    assert_null(strstr(plain, "--use_fast_math"));
    assert_non_null(strstr(fast, "--use_fast_math"));
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        /* First what needs an NVRTC that is not loaded: a loaded one stays. */
        TEST(without_nvrtc_the_message_says_what_to_do),
        TEST(the_files_beside_nvrtc_are_found),
        TEST(every_architecture_compiles),
        TEST(the_same_source_gives_the_same_code),
        TEST(fast_math_changes_the_code),
        TEST(an_error_has_the_log_and_the_users_line),
        TEST(an_unknown_architecture_is_an_error),
        TEST(every_failed_allocation_is_survived),
        TEST(the_description_tells_the_options),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
#else
static void nvrtc_is_not_built(void **state)
{
    (void)state;
    print_message("skipped: built without CUDA\n");
    skip();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nvrtc_is_not_built)};
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
#endif
