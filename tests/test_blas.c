/* Tests of the host's BLAS: none, a wrong one, an old one, and one that is slow on this processor;
 * and of what CUDA's libraries say when they are old or wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry.h>

#include "base/os/library.h"
#include "run.h"

/* What a process of its own, in which no library is loaded yet, finds and does. */
typedef struct outcome {
    const char *file, *core, *chosen; /* QUARRY_BLAS; the library's code; OPENBLAS_CORETYPE */
    const char *config;               /* what the library says of itself */
    const char *open; /* a file that the loader knows by its name, so that the search finds it */
    const char *text; /* a part of what the library, or its absence, says */
    bool found, far;  /* far: multiplies far rows, too */
    int products;     /* by the library */
} outcome;

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Ones times ones, by either multiplier. */
static bool multiplies(void)
{
    bool right = false;
    GA_SCOPE {
        const gpuarray *c =
            ga_matmul(ga_ones(GA_FLOAT32, GA_SHAPE(40, 30)), ga_ones(GA_FLOAT32, GA_SHAPE(30, 50)));
        right = c && ga_item_bool(ga_all(ga_equal(c, 30)));
    }
    return right;
}

/* Rows more than 2^31 elements apart, which a library with lengths of 32 bits does not take. */
static bool multiplies_far_rows(void)
{
    const size_t apart = ((size_t)1 << 33) + 64;
    float *rows = mmap(NULL, apart + 4096, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    bool right = false;
    if (rows == MAP_FAILED)
        return false;
    for (size_t k = 0; k < 2; k++)
        rows[k] = rows[apart / sizeof *rows + k] = 3;
    GA_SCOPE {
        const gpuarray *a = ga_wrap(rows, GA_FLOAT32, 2, (int64_t[]){2, 2},
                                    (int64_t[]){(int64_t)apart, sizeof *rows}, NULL, NULL),
                       *c = ga_matmul(a, ga_ones(GA_FLOAT32, GA_SHAPE(2, 50)));
        right = c && ga_item_bool(ga_all(ga_equal(c, 6)));
    }
    return right;
}

static int calls_of(const char *file)
{
    void *library = dlopen(file, RTLD_NOW);
    const int *products = library ? dlsym(library, "fake_products") : NULL;
    return products ? *products : 0;
}

/* The number of what is wrong, or 0. */
static int try(const outcome *o)
{
    if (o->open && !dlopen(o->open, RTLD_NOW))
        return 5;
    set("QUARRY_BLAS", o->file);
    set("FAKE_BLAS_CORE", o->core);
    set("FAKE_BLAS_CONFIG", o->config);
    set("OPENBLAS_CORETYPE", o->chosen);
    if (ga_set_device("cpu") != GA_OK || !multiplies())
        return 1;
    if (o->far && !multiplies_far_rows())
        return 6;
    char *library = ga_product_library("cpu");
    if (!strstr(library ? library : ga_error_message(), o->text))
        return 2;
    const int wrong = (library != NULL) != o->found ? 3 : 0;
    free(library);
    return wrong ? wrong : calls_of(o->file ? o->file : o->open) == o->products ? 0 : 4;
}

static void expect(const outcome *o)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        _exit(try(o));
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* The library of the tests that the variable names. */
static const char *named(const char *variable)
{
    const char *path = getenv(variable);
    if (!path) {
        printf("skipped: %s does not name a library of the tests\n", variable);
        skip();
    }
    return path;
}

static void named_library_multiplies(void **state)
{
    (void)state;
    expect(&(outcome){.file = named("FAKE_BLAS"),
                      .core = "Haswell",
                      .text = "OpenBLAS 7.0.1 of the tests, ",
                      .found = true,
                      .products = 1});
}

/* As in the wheels of scipy-openblas64. */
static void library_with_lengths_of_64_bits_multiplies(void **state)
{
    (void)state;
    expect(&(outcome){.file = named("FAKE_WIDE_BLAS"),
                      .core = "Haswell",
                      .text = "OpenBLAS 7.0.2 of the tests, ",
                      .found = true,
                      .products = 1});
}

/* libopenblasp.so.0, before libopenblas.so.0 of one thread. */
static void fedoras_name_is_found_first(void **state)
{
    (void)state;
    expect(&(outcome){.open = named("FAKE_BLAS"),
                      .core = "Haswell",
                      .text = "OpenBLAS 7.0.1 of the tests, ",
                      .found = true,
                      .products = 1});
}

/* As in Debian's libopenblas64. */
static void plain_names_may_have_lengths_of_64_bits(void **state)
{
    (void)state;
    expect(&(outcome){.file = named("FAKE_BLAS"),
                      .core = "Haswell",
                      .text = "OpenBLAS 7.0.1 of the tests, ",
                      .found = true,
                      .far = true,
                      .products = 1});
    expect(&(outcome){.file = named("FAKE_PLAIN64_BLAS"),
                      .core = "Haswell",
                      .text = "OpenBLAS 7.0.3 USE64BITINT of the tests, ",
                      .found = true,
                      .far = true,
                      .products = 2});
}

static const char *(*version)(void), *wanted;

static bool suits(void)
{
    return strcmp(version(), wanted) == 0;
}

/* Of several libraries that are found, one that suits serves, or the first one. */
static void library_that_suits_is_preferred(void **state)
{
    (void)state;
    static const ga__spelling spellings[] = {{"", ""}, {"scipy_", "64_"}, {NULL, NULL}};
    static const ga__symbol symbols[] = {{&version, "openblas_get_config", "1"}};
    static const char *const folders[] = {NULL},
                             *versions[] = {"OpenBLAS 7.0.1 of the tests ",
                                            "OpenBLAS 7.0.2 of the tests ", "OpenBLAS 3 "};
    const char *const files[] = {"/no/such/libopenblas.so", named("FAKE_BLAS"),
                                 named("FAKE_WIDE_BLAS"), NULL};
    unsetenv("QUARRY_BLAS");
    for (int k = 0; k < 3; k++) {
        ga__library library = {.name = "BLAS",
                               .variable = "QUARRY_BLAS",
                               .files = files,
                               .folders = folders,
                               .advice = "",
                               .symbols = symbols,
                               .count = 1,
                               .spellings = spellings,
                               .suits = suits,
                               .lock = PTHREAD_MUTEX_INITIALIZER};
        wanted = versions[k];
        assert_true(ga__library_load(&library));
        assert_string_equal(version(), versions[k % 2]);
        assert_string_equal(library.path, files[1 + k % 2]);
        assert_ptr_equal(library.spelling, &spellings[k % 2]);
    }
}

static void missing_library_is_replaced(void **state)
{
    (void)state;
    expect(&(outcome){.file = "/no/such/libopenblas.so",
                      .text = "QUARRY_BLAS=/no/such/libopenblas.so cannot be loaded as BLAS: "});
    expect(&(outcome){.file = "/no/such/libopenblas.so",
                      .text = "; products of floats are slower without; install OpenBLAS"});
}

static void library_without_a_symbol_is_replaced(void **state)
{
    (void)state;
    expect(&(outcome){.file = named("FAKE_CUBLASLT"),
                      .text = "has no cblas_sgemm, which BLAS 3.0 has"});
}

/* The oldest version that serves is 0.3.4, the first that says which it is. */
static void old_library_is_replaced(void **state)
{
    (void)state;
    static const char *const old[] = {"OpenBLAS 0.2.20 NO_LAPACKE", "OpenBLAS 0.3.3",
                                      "NO_AFFINITY Haswell"},
                             *const new[] = {"OpenBLAS 0.3.4", "OpenBLAS 0.3.31.dev",
                                             "OpenBLAS 0.10 Haswell", "OpenBLAS 1"};
    static const char *const texts[] = {
        "fake_blas.so is OpenBLAS 0.2.20, and Quarry needs 0.3.4 or later; products of floats are "
        "slower without; install OpenBLAS",
        "is OpenBLAS 0.3.3, and Quarry needs", "is OpenBLAS 0.3.3 or older, and Quarry needs"};
    for (size_t k = 0; k < sizeof old / sizeof *old; k++)
        expect(&(outcome){
            .file = named("FAKE_BLAS"), .core = "Haswell", .config = old[k], .text = texts[k]});
    for (size_t k = 0; k < sizeof new / sizeof *new; k++)
        expect(&(outcome){.file = named("FAKE_BLAS"),
                          .core = "Haswell",
                          .config = new[k],
                          .text = new[k],
                          .found = true,
                          .products = 1});
}

/* Without a name, the search goes on after an old one. */
static void old_version(ga__version *its)
{
    *its = (ga__version){.name = "OpenBLAS", .least = "7.0.2"};
    sscanf(version(), "OpenBLAS %47s", its->text);
}

static void newer_library_is_found_behind_an_old_one(void **state)
{
    (void)state;
    static const ga__spelling spellings[] = {{"", ""}, {"scipy_", "64_"}, {NULL, NULL}};
    static const ga__symbol symbols[] = {{&version, "openblas_get_config", "1"}};
    static const char *const folders[] = {NULL};
    const char *const files[] = {named("FAKE_BLAS"), named("FAKE_WIDE_BLAS"), NULL};
    unsetenv("QUARRY_BLAS");
    unsetenv("FAKE_BLAS_CONFIG");
    ga__library library = {.name = "BLAS",
                           .variable = "QUARRY_BLAS",
                           .files = files,
                           .folders = folders,
                           .advice = "",
                           .symbols = symbols,
                           .count = 1,
                           .spellings = spellings,
                           .version = old_version,
                           .lock = PTHREAD_MUTEX_INITIALIZER};
    assert_true(ga__library_load(&library));
    assert_string_equal(library.path, files[1]);
}

/* What a process of its own reports of a library for CUDA, which works without a GPU. */
static void expect_report(char *(*find)(const char *device), const char *variable, const char *file,
                          const char *stated, const char *text)
{
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        set(variable, file);
        set("FAKE_VERSION", stated);
        char *found = find("cuda");
        const char *report = found ? found : ga_error_message();
        if (!strstr(report, text))
            fprintf(stderr, "%s\n", report);
        _exit(!strstr(report, text));
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void old_libraries_of_cuda_are_refused(void **state)
{
    (void)state;
#ifndef QUARRY_CUDA
    print_message("skipped: built without CUDA\n");
    skip();
#endif
    static const struct {
        char *(*find)(const char *device);
        const char *variable, *library, *stated, *text;
    } cases[] = {
        {ga_product_library, "QUARRY_CUBLASLT", "FAKE_CUBLASLT", "120000", "cuBLASLt 12.0.0, "},
        {ga_product_library, "QUARRY_CUBLASLT", "FAKE_CUBLASLT", "11704",
         "fake_cublaslt.so is cuBLASLt 11 or older, and Quarry needs 12.0 or later; products of "
         "floats are slower without; install"},
        {ga_product_library, "QUARRY_CUBLASLT", "FAKE_BLAS", NULL,
         "fake_blas.so has no cublasLtCreate, which cuBLASLt 10.1 has; products of floats are"},
        {ga_compiler, "QUARRY_NVRTC", "FAKE_NVRTC", "12.0", "NVRTC 12.0, "},
        {ga_compiler, "QUARRY_NVRTC", "FAKE_NVRTC", "11.8",
         "fake_nvrtc.so is NVRTC 11.8, and Quarry needs 12.0 or later; install"},
        {ga_compiler, "QUARRY_NVRTC", "FAKE_BLAS", NULL,
         "fake_blas.so has no nvrtcCreateProgram, which NVRTC 7.0 has; install"},
        {ga_linker, "QUARRY_NVJITLINK", "FAKE_NVJITLINK", "12.3", "nvJitLink 12.3, "},
        {ga_linker, "QUARRY_NVJITLINK", "FAKE_NVJITLINK", NULL, "nvJitLink, "}, /* does not say */
        {ga_linker, "QUARRY_NVJITLINK", "FAKE_NVJITLINK", "11.9",
         "fake_nvjitlink.so is nvJitLink 11.9, and Quarry needs 12.0 or later; modules of several "
         "sources need it; "
         "install"},
        {ga_linker, "QUARRY_NVJITLINK", "FAKE_BLAS", NULL,
         "fake_blas.so has no nvJitLinkCreate, which nvJitLink 12.0 has; modules of"},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        expect_report(cases[k].find, cases[k].variable, named(cases[k].library), cases[k].stated,
                      cases[k].text);
}

/* The loader's reason is part of the message. */
static void broken_file_is_replaced(void **state)
{
    (void)state;
    expect(
        &(outcome){.file = "/proc/self/status",
                   .text = "QUARRY_BLAS=/proc/self/status cannot be loaded as BLAS: /proc/self/"});
}

#ifdef __x86_64__
static void library_without_code_for_the_processor_is_replaced(void **state)
{
    (void)state;
    const bool wide = __builtin_cpu_supports("avx2");
    expect(&(outcome){.file = named("FAKE_BLAS"),
                      .core = "Prescott",
                      .text = wide ? "(not used: it has no code for this processor" : "OpenBLAS",
                      .found = true,
                      .products = !wide});
    expect(&(outcome){.file = named("FAKE_BLAS"),
                      .core = "Prescott",
                      .chosen = "Prescott",
                      .text = "OpenBLAS 7.0.1 of the tests, ",
                      .found = true,
                      .products = 1});
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_library_multiplies),
        cmocka_unit_test(library_with_lengths_of_64_bits_multiplies),
        cmocka_unit_test(fedoras_name_is_found_first),
        cmocka_unit_test(plain_names_may_have_lengths_of_64_bits),
        cmocka_unit_test(library_that_suits_is_preferred),
        cmocka_unit_test(missing_library_is_replaced),
        cmocka_unit_test(library_without_a_symbol_is_replaced),
        cmocka_unit_test(old_library_is_replaced),
        cmocka_unit_test(newer_library_is_found_behind_an_old_one),
        cmocka_unit_test(old_libraries_of_cuda_are_refused),
        cmocka_unit_test(broken_file_is_replaced),
#ifdef __x86_64__
        cmocka_unit_test(library_without_code_for_the_processor_is_replaced),
#endif
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
