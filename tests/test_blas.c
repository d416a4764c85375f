/* Tests of the host's BLAS: none, a wrong one, and one that is slow on this processor. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry.h>

#include "base/os/library.h"
#include "run.h"

/* What a process of its own, in which no library is loaded yet, finds and does. */
typedef struct outcome {
    const char *file, *core, *chosen; /* QUARRY_BLAS; the library's code; OPENBLAS_CORETYPE */
    const char *text;                 /* a part of what the library, or its absence, says */
    bool found;
    int products; /* by the library */
} outcome;

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* Ones times ones, whoever multiplies. */
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

static int calls_of(const char *file)
{
    void *library = dlopen(file, RTLD_NOW);
    const int *products = library ? dlsym(library, "fake_products") : NULL;
    return products ? *products : 0;
}

/* The number of what is wrong, or 0. */
static int try(const outcome *o)
{
    set("QUARRY_BLAS", o->file);
    set("FAKE_BLAS_CORE", o->core);
    set("OPENBLAS_CORETYPE", o->chosen);
    if (ga_set_device("cpu") != GA_OK || !multiplies())
        return 1;
    char *library = ga_product_library("cpu");
    if (!strstr(library ? library : ga_error_message(), o->text))
        return 2;
    const int wrong = (library != NULL) != o->found ? 3 : 0;
    free(library);
    return wrong ? wrong : calls_of(o->file) == o->products ? 0 : 4;
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
                      .text = "OpenBLAS 0.0.1 of the tests, ",
                      .found = true,
                      .products = 1});
}

/* As in the wheels of scipy-openblas64. */
static void library_with_lengths_of_64_bits_multiplies(void **state)
{
    (void)state;
    expect(&(outcome){.file = named("FAKE_WIDE_BLAS"),
                      .core = "Haswell",
                      .text = "OpenBLAS 0.0.2 of the tests, ",
                      .found = true,
                      .products = 1});
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
                             *versions[] = {"OpenBLAS 0.0.1 of the tests ",
                                            "OpenBLAS 0.0.2 of the tests ", "OpenBLAS 3 "};
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
                      .text = "QUARRY_BLAS=/no/such/libopenblas.so cannot be loaded as BLAS"});
}

static void library_without_a_symbol_is_replaced(void **state)
{
    (void)state;
    expect(&(outcome){.file = named("FAKE_CUBLASLT"),
                      .text = "has no cblas_sgemm, which BLAS 3.0 has"});
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
                      .text = "OpenBLAS 0.0.1 of the tests, ",
                      .found = true,
                      .products = 1});
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(named_library_multiplies),
        cmocka_unit_test(library_with_lengths_of_64_bits_multiplies),
        cmocka_unit_test(library_that_suits_is_preferred),
        cmocka_unit_test(missing_library_is_replaced),
        cmocka_unit_test(library_without_a_symbol_is_replaced),
#ifdef __x86_64__
        cmocka_unit_test(library_without_code_for_the_processor_is_replaced),
#endif
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
