/* Tests that NULL for a required argument is an error with a message, in every public call that
 * takes a list, a text or a result pointer; and that strides cannot exceed the address space. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry.h>

#include "children.h"
#include "run.h"

static gpuarray *x, *received;
static ga_kernel *elementwise, *reduction, *kernel;
static ga_module *module;
static ga_rng *rng;
static const int64_t shape[] = {3, 4};
static const ga_named no_name[] = {{NULL, {GA_VALUE_NUMBER, GA_INT32, {0}}}};
static const ga_value null_array[] = {{GA_VALUE_ARRAY, GA_NO_DTYPE, {0}}};

/* Makes the call with this number, which must fail; returns its text, or NULL if there is none. */
static const char *call(int number)
{
    int next = 0;
#define CALL(expression)                                                                           \
    if (next++ == number)                                                                          \
        return (void)(expression), #expression;
    CALL((ga_run)(elementwise, 1, NULL))
    CALL((ga_run)(elementwise, 1, null_array))
    CALL((ga_run)(NULL, 1, NULL))
    CALL((ga_reduce)(reduction, 1, NULL))
    CALL((ga_reduce)(reduction, 1, null_array))
    CALL((ga_matmul)(sizeof(ga_product_args), NULL))
    CALL(ga_matmul(x, (gpuarray *)NULL))
    CALL(ga_matvec((gpuarray *)NULL, x))
    CALL(ga_vecmat(x, (gpuarray *)NULL))
    CALL(ga_product_library(NULL))
    CALL((ga_searchsorted)(sizeof(ga_searchsorted_args), NULL))
    CALL(ga_searchsorted(x, (gpuarray *)NULL))
    CALL(ga_searchsorted((gpuarray *)NULL, 1))
    CALL((ga_digitize)(sizeof(ga_digitize_args), NULL))
    CALL(ga_digitize(x, NULL))
    CALL((ga_interp)(sizeof(ga_interp_args), NULL))
    CALL(ga_interp(1, NULL, x))
    CALL(ga_interp((gpuarray *)NULL, x, x))
    CALL((ga_bincount)(sizeof(ga_bincount_args), NULL))
    CALL(ga_bincount(NULL))
    CALL((ga_histogram)(sizeof(ga_histogram_args), NULL))
    CALL(ga_histogram(x, 3, NULL, NULL))
    CALL(ga_histogram(x, (gpuarray *)NULL, &received, NULL))
    CALL((ga_histogram2d)(sizeof(ga_histogram2d_args), NULL))
    CALL(ga_histogram2d(x, NULL, 3, 3, &received, NULL, NULL))
    CALL((ga_histogramdd)(sizeof(ga_histogramdd_args), NULL))
    CALL(ga_histogramdd(x, 1, NULL, &received, NULL))
    CALL(ga_histogramdd(x, GA_BINS(3), NULL, NULL))
    CALL((ga_unique)(sizeof(ga_unique_args), NULL))
    CALL(ga_unique(NULL))
    CALL(ga_unique_all(NULL, &received, NULL, NULL, NULL))
    CALL(ga_unique_counts(NULL, &received, NULL))
    CALL(ga_unique_inverse(NULL, &received, NULL))
    CALL(ga_unique_values(NULL))
    CALL((ga_isin)(sizeof(ga_isin_args), NULL))
    CALL(ga_isin(x, NULL))
    CALL((ga_mode)(sizeof(ga_mode_args), NULL))
    CALL(ga_mode(NULL, &received, NULL))
    CALL(ga_in1d(NULL, x))
    CALL(ga_union1d(x, NULL))
    CALL(ga_intersect1d(NULL, x, .a_indices = &received))
    CALL(ga_setdiff1d(x, NULL))
    CALL(ga_setxor1d(NULL, x))
    CALL((ga_launch)(kernel, GA_DIM(1), GA_DIM(1), 1, NULL))
    CALL((ga_launch)(kernel, GA_DIM(1), GA_DIM(1), 1, null_array))
    CALL((ga_launch_with)(kernel, GA_DIM(1), GA_DIM(1), sizeof(ga_launch_options), GA_WITH(0), 1,
                          NULL))
    CALL((ga_eval)("a + 1", 1, NULL))
    CALL((ga_eval)("a + 1", 1, no_name))
    CALL((ga_eval)("a + 1", -1, NULL))
    CALL((ga_eval)(NULL, 0, NULL))
    CALL((ga_eval_into)(x, "a + 1", 1, NULL))
    CALL((ga_eval_into)(NULL, "1", 0, NULL))
    CALL((ga_explain)("a + 1", 1, NULL))
    CALL((ga_explain)(NULL, 0, NULL))
    CALL((ga_eval_chunked)(sizeof(ga_chunks), NULL, "a + 1", 1, NULL))
    CALL((ga_eval_chunked)(sizeof(ga_chunks), NULL, NULL, 0, NULL))
    CALL((ga_eval_save)(NULL, sizeof(ga_chunks), NULL, "1", 0, NULL))
    CALL((ga_eval_save)("/tmp/quarry-never.npy", sizeof(ga_chunks), NULL, "a + 1", 1, NULL))
    CALL((ga_explain_chunked)(sizeof(ga_chunks), NULL, "a + 1", 1, NULL))
    CALL(ga_compile_expr(NULL))
    CALL(ga_compile_fast_expr(NULL))
    CALL((ga_eval_expr)(NULL, 0, NULL))
    CALL((ga_eval_expr_into)(x, NULL, 0, NULL))
    CALL(ga_elementwise_kernel(NULL, "x[i] = 1", "k"))
    CALL(ga_elementwise_kernel("float *x", NULL, "k"))
    CALL(ga_reduction_kernel(GA_FLOAT32, NULL, "a+b", "x[i]", "float *x", "k"))
    CALL(ga_reduction_kernel(GA_FLOAT32, "0", NULL, "x[i]", "float *x", "k"))
    CALL(ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]", NULL, "k"))
    CALL(ga_module_compile(NULL))
    CALL(ga_module_compile("", .headers = GA_HEADERS({"a.h", NULL})))
    CALL(ga_module_load(NULL))
    CALL(ga_module_kernel(module, NULL))
    CALL(ga_module_kernel(NULL, "f"))
    CALL(ga_module_global(module, NULL))
    CALL(ga_kernel_info(kernel, NULL))
    CALL(ga_empty(GA_FLOAT32, 2, NULL))
    CALL(ga_empty(GA_FLOAT32, -1, shape))
    CALL(ga_zeros(GA_FLOAT32, 2, NULL))
    CALL(ga_ones(GA_FLOAT32, 2, NULL))
    CALL((ga_full)(GA_FLOAT32, 2, NULL, null_array[0]))
    CALL((ga_full)(GA_FLOAT32, 2, shape, null_array[0]))
    CALL(ga_from_host(shape, GA_FLOAT32, 2, NULL))
    CALL(ga_from_host(NULL, GA_FLOAT32, 2, shape))
    CALL(ga_from_host_async(NULL, GA_FLOAT32, 2, shape))
    CALL(ga_set(x, NULL, 48))
    CALL(ga_set_async(x, NULL, 48))
    CALL(ga_to_host(x, NULL, 48))
    CALL(ga_to_host_async(x, NULL, 48))
    CALL(ga_slice(x, NULL))
    CALL(ga_slice_ranges(x, 1, NULL))
    CALL(ga_slice_ranges(x, -1, NULL))
    CALL(ga_reshape(x, 2, NULL))
    CALL(ga_transpose_axes(x, 2, NULL))
    CALL(ga_broadcast_to(x, 2, NULL))
    CALL(ga_save(x, NULL))
    CALL(ga_load(NULL))
    CALL(ga_frexp(x, NULL, NULL))
    CALL(ga_modf(x, NULL, NULL))
    CALL(ga_modf_into(x, NULL, x))
    CALL(ga_sum(x, .axes = NULL, .naxes = 1))
    CALL(ga_memory_info(NULL, NULL))
    CALL(ga_set_device(NULL))
    CALL(ga_source_open(NULL))
    CALL(ga_rng_random(NULL, GA_FLOAT32, 2, shape))
    CALL(ga_rng_random(rng, GA_FLOAT32, 2, NULL))
    CALL(ga_rng_get_state(rng, NULL))
    CALL(ga_rng_set_state(rng, NULL))
    CALL(ga_host_register(NULL, 1))
    CALL(ga_graph_launch(NULL))
    CALL(ga_event_record(NULL, NULL))
    CALL(ga_wrap(NULL, GA_FLOAT32, 2, shape, NULL, NULL, NULL))
    CALL(ga_wrap(&x, GA_UINT8, 2, NULL, NULL, NULL, NULL))
    CALL(ga_source_new(GA_FLOAT32, 2, NULL, NULL, NULL))
    CALL(ga_source_new(GA_FLOAT32, 2, shape, NULL, NULL))
#undef CALL
    return NULL;
}

/* In a child, so that a crash identifies its call. */
static void null_is_an_error_everywhere(void **state)
{
    (void)state;
    int number = 0, status = 0;
    while (status != 3 << 8) {
        const pid_t child = fork();
        if (child == 0) {
            alarm(HANG_SECONDS);
            signal(SIGSEGV, SIG_DFL); /* cmocka's handler would continue with the next test */
            ga_clear_error();
            const char *text = call(number);
            if (text && (ga_error() == GA_OK || !*ga_error_message()))
                fprintf(stderr, "no error: %s\n", text);
            _exit(!text ? 3 : ga_error() == GA_OK);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        if (status != 0 && status != 3 << 8)
            fail_msg("call %d of call() ends with status 0x%x", number, (unsigned)status);
        number++;
    }
    assert_true(number > 70);
}

/* A NULL list and a wrong number of arguments give different messages. */
static void the_message_says_what_is_null(void **state)
{
    (void)state;
    assert_int_equal((ga_run)(elementwise, 1, NULL), GA_ERR_INVALID);
    assert_non_null(strstr(ga_error_message(), "1 arguments, but the list is NULL"));
    ga_clear_error();
    assert_int_equal((ga_launch)(kernel, GA_DIM(1), GA_DIM(1), 1, NULL), GA_ERR_INVALID);
    assert_non_null(strstr(ga_error_message(), "1 arguments, but the list is NULL"));
    ga_clear_error();
    assert_null((ga_eval)("a + 1", 1, NULL));
    assert_non_null(strstr(ga_error_message(), "1 arguments, but the list is NULL"));
    ga_clear_error();
}

/* ---- Strides ---- */

static void wraps(int64_t rows, int64_t columns, int64_t row, int64_t column, bool fits)
{
    static double memory[100];
    const int64_t lengths[] = {rows, columns}, strides[] = {row, column};
    gpuarray *y = ga_wrap(memory + 50, GA_FLOAT64, 2, lengths, strides, NULL, NULL);
    assert_int_equal(y != NULL, fits);
    if (!fits) {
        char number[32];
        assert_int_equal(ga_error(), GA_ERR_INVALID);
        snprintf(number, sizeof number, "%lld", (long long)row);
        assert_non_null(strstr(ga_error_message(), number));
    }
    ga_clear_error();
    ga_free(y);
}

static void strides_stay_in_memory(void **state)
{
    (void)state;
    const int64_t most = INT64_MAX & ~INT64_C(7), least = INT64_MIN;
    wraps(3, 4, 32, 8, true);
    wraps(3, 4, -32, 8, true);
    wraps(3, 4, 0, 8, true);
    wraps(1, 4, most, 8, true); /* a stride that is never used */
    wraps(1, 4, least, -8, true);
    wraps(0, 4, most, least, true);
    wraps(2, 4, most, 8, false);
    wraps(3, 4, most, 8, false);
    wraps(2, 4, least, 8, false);
    wraps(2, 2, most / 2 & ~INT64_C(7), most / 2 & ~INT64_C(7), false);
    wraps(2, 2, least, most, false);
    wraps(2, 2, INT64_C(1) << 62, -(INT64_C(1) << 62), false);
    wraps(INT64_C(1) << 40, 2, INT64_C(1) << 40, 8, false);
    wraps(3, 4, 12, 8, false); /* half an item */
}

static int make_all(void **state)
{
    static const float numbers[12];
    (void)state;
    setenv("QUARRY_DEVICE", "cpu", 1); /* its children call too */
    x = ga_from_host(numbers, GA_FLOAT32, 2, shape);
    elementwise = ga_elementwise_kernel("float *x", "x[i] = 1", "one");
    reduction = ga_reduction_kernel(GA_FLOAT32, "0", "a+b", "x[i]", "float *x", "total");
    module = ga_module_compile("__global__ void f(float *x) { *x = 1; }");
    kernel = ga_module_kernel(module, "f");
    rng = ga_rng_new(1);
    return !x || !elementwise || !reduction || !kernel || !rng;
}

static int free_all(void **state)
{
    (void)state;
    ga_rng_free(rng);
    ga_module_free(module);
    ga_kernel_free(reduction);
    ga_kernel_free(elementwise);
    ga_free(x);
    return ga_error() != GA_OK;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(null_is_an_error_everywhere),
        cmocka_unit_test(the_message_says_what_is_null),
        cmocka_unit_test(strides_stay_in_memory),
    };
    return run_named_tests(argc, argv, tests, make_all, free_all);
}
