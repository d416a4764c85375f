/* Where an error is reported, how often, and the place in the program that it names. */
#define GA_CALL_SITES 1
#include <pthread.h>
#include <quarry.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array_support.h"
#include "children.h"
#include "run.h"

static struct {
    int count, line;
    ga_status status;
    pthread_t thread;
    char message[300], file[100];
} reported;

static void note(ga_status status, const char *message, const char *file, int line, void *user)
{
    assert_ptr_equal(user, &reported);
    reported.count++;
    reported.status = status;
    reported.line = line;
    reported.thread = pthread_self();
    snprintf(reported.message, sizeof reported.message, "%s", message);
    snprintf(reported.file, sizeof reported.file, "%s", file ? file : "");
}

static int watch(void **state)
{
    (void)state;
    memset(&reported, 0, sizeof reported);
    ga_clear_error();
    ga_set_error_handler(note, &reported);
    return 0;
}

static int unwatch(void **state)
{
    (void)state;
    ga_set_error_handler(NULL, NULL);
    ga_clear_error();
    return 0;
}

/* Asserts one report, of this line of this file. */
#define ASSERT_REPORTED(wanted, at)                                                                \
    do {                                                                                           \
        assert_int_equal(reported.count, 1);                                                       \
        assert_int_equal(reported.status, wanted);                                                 \
        assert_int_equal(ga_error(), wanted);                                                      \
        assert_string_equal(reported.message, ga_error_message());                                 \
        assert_string_equal(reported.file, __FILE__);                                              \
        assert_string_equal(ga_error_file(), __FILE__);                                            \
        assert_int_equal(reported.line, at);                                                       \
        assert_int_equal(ga_error_line(), at);                                                     \
        reported.count = 0;                                                                        \
        ga_clear_error();                                                                          \
        assert_null(ga_error_file());                                                              \
        assert_int_equal(ga_error_line(), 0);                                                      \
    } while (0)

static void the_handler_gets_the_place_of_the_first_failing_call(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3)), *y = ga_ones(GA_FLOAT32, GA_SHAPE(4));
        gpuarray *sum = ga_add(x, y);
        const int line = __LINE__ - 1;
        assert_null(ga_sqrt(sum)); /* a consequence is no error of its own */
        assert_null(ga_slice(x, "7"));
        ASSERT_REPORTED(GA_ERR_SHAPE, line);
        assert_null(ga_slice(x, "%d", 7));
        ASSERT_REPORTED(GA_ERR_INDEX, __LINE__ - 1);
        assert_null(ga_sum(x, GA_AXIS(2)));
        ASSERT_REPORTED(GA_ERR_INVALID, __LINE__ - 1);
        assert_int_equal(ga_graph_launch(NULL), GA_ERR_INVALID);
        ASSERT_REPORTED(GA_ERR_INVALID, __LINE__ - 1);
        assert_null(ga_graph_end());
        ASSERT_REPORTED(GA_ERR_INVALID, __LINE__ - 1);
        assert_null(ga_load("/nonexistent/x.npy"));
        ASSERT_REPORTED(GA_ERR_IO, __LINE__ - 1);
    }
}

static gpuarray *helper(gpuarray *x)
{
    return ga_reshape(ga_add(x, 1), GA_SHAPE(1, 3));
}

/* A call whose arguments call functions of the program keeps its own place. */
static void calls_in_arguments_keep_the_place(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3));
        assert_null(ga_add(ga_zeros(GA_FLOAT32, GA_SHAPE(2)), helper(x)));
        ASSERT_REPORTED(GA_ERR_SHAPE, __LINE__ - 1);
    }
}

static void a_call_without_its_place_has_none(void **state)
{
    (void)state;
    ga_free(ga_ones(GA_FLOAT32, GA_SHAPE(3)));
    assert_null((ga_load)("/nonexistent/x.npy"));
    assert_int_equal(reported.count, 1);
    assert_string_equal(reported.file, "");
    assert_int_equal(reported.line, 0);
    assert_null(ga_error_file());
}

static void attempts_are_not_reported(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3));
        /* compiles only with its elements in memory: the second attempt */
        ga_kernel *k = ga_elementwise_kernel("float *x", "float *p = (x + i); *p = 2", "either");
        assert_int_equal(ga_run(k, x), GA_OK);
        assert_int_equal(reported.count, 0);
        ga_kernel_free(k);
        k = ga_elementwise_kernel("float *x", "x[i] = unknown_name", "neither");
        assert_int_equal(ga_run(k, x), GA_ERR_COMPILE);
        ASSERT_REPORTED(GA_ERR_COMPILE, __LINE__ - 1);
        ga_kernel_free(k);
        assert_null(ga_eval("x + y", GA(x), GA_NAMED("y", ga_ones(GA_INT8, GA_SHAPE(2)))));
        assert_non_null(strstr(ga_error_message(), "^"));
        ASSERT_REPORTED(GA_ERR_SHAPE, __LINE__ - 2);
        assert_int_equal(ga_memory_set_limit(NULL, 1 << 20), GA_OK);
        assert_null(ga_zeros(GA_FLOAT32, GA_SHAPE(1 << 20)));
        ASSERT_REPORTED(GA_ERR_MEMORY, __LINE__ - 1);
        assert_int_equal(ga_memory_set_limit(NULL, 0), GA_OK);
    }
}

static ga_status fail_to_read(void *user, int64_t first, int64_t count, void *elements)
{
    (void)user, (void)count, (void)elements;
    if (first == 0) {
        memset(elements, 0, (size_t)count * sizeof(float));
        return GA_OK;
    }
    assert_null(ga_load("/nonexistent/inside.npy"));
    return GA_ERR_IO;
}

static void a_background_threads_error_is_reported_by_the_caller(void **state)
{
    const ga_chunks chunks = {.bytes = 400};

    (void)state;
    ga_source *x = ga_source_new(GA_FLOAT32, GA_SHAPE(1000), fail_to_read, NULL);
    assert_null(ga_eval_chunked(&chunks, "sum(x)", GA(x)));
    assert_int_equal(reported.count, 1);
    assert_int_equal(ga_error(), GA_ERR_IO);
    assert_true(pthread_equal(reported.thread, pthread_self()));
    ga_source_free(x);
}

static char logged[400];

static void keep_line(int level, const char *text, void *user)
{
    (void)user;
    if (level == GA_LOG_ERROR)
        snprintf(logged, sizeof logged, "%s", text);
}

static void errors_go_to_the_log(void **state)
{
    char want[200];

    (void)state;
    ga_set_log(keep_line, NULL);
    assert_null(ga_load("/nonexistent/x.npy"));
    ga_set_log(NULL, NULL);
    snprintf(want, sizeof want, "GA_ERR_IO at %s:%d: ", __FILE__, __LINE__ - 2);
    assert_memory_equal(logged, want, strlen(want));
}

static int fail_and_go_on(void)
{
    assert_null(ga_load("/nonexistent/x.npy"));
    return 0;
}

static int fail_with_abort(void)
{
    setenv("QUARRY_ABORT", "1", 1);
    return fail_and_go_on();
}

static void an_error_may_abort_the_program(void **state)
{
    (void)state;
    assert_int_equal(in_child(fail_and_go_on), 0);
    assert_int_equal(in_child(fail_with_abort), -1);
}

static void a_length_of_nothing_is_an_error(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_INT8, GA_SHAPE(3, 4));
        assert_int_equal(ga_length(x, 0), 3);
        assert_int_equal(ga_length(x, -1), 4);
        assert_int_equal(reported.count, 0);
        assert_int_equal(ga_length(x, 2), 0);
        ASSERT_REPORTED(GA_ERR_INVALID, __LINE__ - 1);
        assert_int_equal(ga_length(x, -3), 0);
        ASSERT_REPORTED(GA_ERR_INVALID, __LINE__ - 1);
        assert_int_equal(ga_length(NULL, 0), 0);
        ASSERT_REPORTED(GA_ERR_INVALID, __LINE__ - 1);
        assert_int_equal(ga_length(ga_load("/nonexistent/x.npy"), 0), 0);
        ASSERT_REPORTED(GA_ERR_IO, __LINE__ - 1);
    }
}

/* A call that is made of others names itself, not the one inside that fails. */
static void messages_begin_with_the_programs_call(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4)), *y = ga_ones(GA_FLOAT32, GA_SHAPE(5));
        gpuarray *indices[2];
        assert_null(ga_average(x, GA_AXIS(2)));
        assert_error(GA_ERR_INVALID, "average: axis 2 is out of range for 2 dimensions");
        assert_null(ga_average(x, GA_AXIS(2), .weights = x));
        assert_error(GA_ERR_INVALID, "average: ");
        assert_null(ga_diff(x, 1, GA_AXIS(0), .prepend = y));
        assert_error(GA_ERR_SHAPE, "diff: ");
        assert_int_equal(ga_tril_indices(-1, 0, 2, indices), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "tril_indices: shape (-1, 2) has the negative length -1");
        assert_null(ga_hstack(GA_ARRAYS(x, y)));
        assert_error(GA_ERR_SHAPE, "hstack: ");
        assert_null(ga_rng_normal(NULL, GA_FLOAT32, 0, -1, GA_SHAPE(2)));
        assert_error(GA_ERR_INVALID, "rng_normal: ");
        assert_null(ga_ravel(NULL));
        assert_error(GA_ERR_INVALID, "ravel: the array is NULL");
        /* the name ends with its call */
        assert_null(ga_sum(x, GA_AXIS(2)));
        assert_error(GA_ERR_INVALID, "sum: axis 2 is out of range");
    }
}

int main(int argc, char **argv)
{
#define WATCHED(test) cmocka_unit_test_setup_teardown(test, watch, unwatch)
    const struct CMUnitTest tests[] = {
        WATCHED(the_handler_gets_the_place_of_the_first_failing_call),
        WATCHED(calls_in_arguments_keep_the_place),
        WATCHED(a_call_without_its_place_has_none),
        WATCHED(attempts_are_not_reported),
        WATCHED(a_background_threads_error_is_reported_by_the_caller),
        WATCHED(errors_go_to_the_log),
        WATCHED(an_error_may_abort_the_program),
        WATCHED(a_length_of_nothing_is_an_error),
        WATCHED(messages_begin_with_the_programs_call),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
