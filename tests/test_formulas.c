/* Formulas whose plans are reused, fused in kernels, or written by another thread: errors that only
 * a second call, a similar shape or a full disk shows. */
#include <math.h>
#include <signal.h>
#include <sys/resource.h>

#include <quarry.h>

#include "run.h"
#include "scratch.h"

static int clear(void **state)
{
    (void)state;
    ga_clear_error();
    return 0;
}

static double first_of(const gpuarray *x)
{
    gpuarray *flat = ga_ravel(x), *first = ga_slice(flat, "0");
    const double value = ga_item_double(first);
    ga_free(first);
    ga_free(flat);
    return value;
}

/* Constant powers are products; a power that is an argument may differ in the next call. */
static void exponents_may_change(void **state)
{
    (void)state;
    static const double exponents[] = {2, 3, 4, 0.5, 2, -1};
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT64, GA_SHAPE(10), 9);
        for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
            const double n = exponents[k];
            const gpuarray *power = ga_eval("x**n", GA_NAMED("x", x), GA_NAMED("n", n));
            assert_true(fabs(first_of(power) - pow(9, n)) < 1e-9);
        }
    }
}

static void nan_is_equal_to_nothing(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool truth;
    } cases[] = {{"nan == nan", false},      {"nan != nan", true}, {"nan < 1", false},
                 {"nan >= 1", false},        {"1 <= nan", false},  {"nan == 0", false},
                 {"nan*1j == nan*1j", false}};
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
        GA_SCOPE {
            const gpuarray *truth = ga_eval(cases[k].text);
            if (!truth || ga_item_bool(truth) != cases[k].truth)
                fail_msg("%s: %s", cases[k].text, truth ? "wrong" : ga_error_message());
        }
}

/* Both read x over axis 0 and have equally many elements, but different axes. */
static void reductions_of_like_shapes_stay_apart(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT64, 0, 5, 1), *w = ga_ones(GA_FLOAT64, GA_SHAPE(1, 5));
        for (int again = 0; again < 2; again++) {
            gpuarray *sum = ga_eval("sum(x + w, axis=0) + sum(x, axis=0)", GA(x), GA(w));
            if (!sum)
                fail_msg("%s", ga_error_message());
            assert_int_equal(ga_size(sum), 5);
            assert_true(first_of(sum) == 0 + 1 + 10);
        }
    }
}

/* One text, with and without accuracy for special values. */
static void fast_formulas_are_plans_of_their_own(void **state)
{
    (void)state;
    const char *text = "where(x != x, 1.0, 0.0)";
    ga_expr *fast = ga_compile_fast_expr(text), *exact = ga_compile_expr(text);
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT64, GA_SHAPE(100), (double)NAN);
        assert_non_null(ga_eval_expr(fast, GA(x)));
        assert_true(first_of(ga_eval_expr(exact, GA(x))) == 1);
        assert_true(first_of(ga_eval(text, GA(x))) == 1);
    }
    ga_expr_free(fast);
    ga_expr_free(exact);
}

/* One text over a number, over arrays of one axis, and over 0-d arrays. */
static void arguments_of_other_kinds_are_other_plans(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(6)), *none = ga_scalar(GA_FLOAT64, 2);
        gpuarray *table = ga_reshape(x, GA_SHAPE(2, 3));
        for (int again = 0; again < 2; again++) {
            const gpuarray *weak = ga_eval("x*a", GA(x), GA_NAMED("a", 2.0)),
                           *strong = ga_eval("x*a", GA(x), GA_NAMED("a", none));
            assert_int_equal(ga_dtype_of(weak), GA_FLOAT32);
            assert_int_equal(ga_dtype_of(strong), GA_FLOAT64);
            assert_true(first_of(weak) == 2 && first_of(strong) == 2);
            assert_true(ga_item_double(ga_eval("sum(a)", GA_NAMED("a", x))) == 6);
            assert_true(ga_item_double(ga_eval("sum(a)", GA_NAMED("a", table))) == 6);
            assert_true(ga_item_double(ga_eval("sum(a)", GA_NAMED("a", none))) == 2);
        }
    }
}

/* The call reports an error from writing the last chunk. */
static void a_disk_that_fills_up_is_an_error(void **state)
{
    (void)state;
    enum { N = 100000 };
    struct rlimit before;
    assert_true(open_scratch());
    gpuarray *x = ga_ones(GA_FLOAT64, GA_SHAPE(N));
    assert_int_equal(ga_save(x, in_scratch("x.npy")), GA_OK);
    ga_source *source = ga_source_open(in_scratch("x.npy"));
    assert_non_null(source);
    const ga_chunks chunks = {.bytes = N * 8};
    for (int fits = 0; fits < 2; fits++) {
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        const struct rlimit less = {N * 8 + (fits ? 1000 : -1000), before.rlim_max};
        void (*const handler)(int) = signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0); /* the last chunk does not fit */
        const ga_status written =
            ga_eval_save(in_scratch("r.npy"), &chunks, "x + 1", GA_NAMED("x", source));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        signal(SIGXFSZ, handler);
        assert_int_equal(written, fits ? GA_OK : GA_ERR_IO);
        ga_clear_error();
        assert_int_equal(files_in_scratch(), 1 + fits);
    }
    ga_source_free(source);
    ga_free(x);
    assert_int_equal(close_scratch((const char *const[]){"x.npy", "r.npy", NULL}), 0);
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(exponents_may_change),
        TEST(nan_is_equal_to_nothing),
        TEST(reductions_of_like_shapes_stay_apart),
        TEST(fast_formulas_are_plans_of_their_own),
        TEST(arguments_of_other_kinds_are_other_plans),
        TEST(a_disk_that_fills_up_is_an_error),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
