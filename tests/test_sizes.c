/* Sizes past 2^63: everything that multiplies lengths and bytes rejects them, as NumPy does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <quarry.h>

#include "golden.h"
#include "run.h"

#define LARGE (INT64_C(1) << 32)
#define HUGE (INT64_C(1) << 62)

static void expect(ga_status status, const char *part)
{
    if (ga_error() != status || !strstr(ga_error_message(), part))
        fail_msg("status %d, \"%s\", not %d with \"%s\"", (int)ga_error(), ga_error_message(),
                 (int)status, part);
    ga_clear_error();
}

#define REFUSED(call, part) (assert_null(call), expect(GA_ERR_SHAPE, part))

static void expect_shape(gpuarray *x, int ndim, const int64_t *shape)
{
    assert_non_null(x);
    assert_int_equal(ga_ndim(x), ndim);
    assert_elements(GA_INT64, ndim, ga_shape(x), shape);
}

/* Lengths that are not 0 count even if another is 0. */
static void arrays_and_wrapped_memory(void **state)
{
    int64_t memory[2] = {0};
    (void)state;
    GA_SCOPE {
        REFUSED(ga_empty(GA_INT8, GA_SHAPE(LARGE, LARGE)),
                "(4294967296, 4294967296) of int8 has too many elements: more than 2^63 bytes");
        REFUSED(ga_empty(GA_INT8, GA_SHAPE(0, HUGE, HUGE)), "(0, 4611686018427387904, ");
        REFUSED(ga_zeros(GA_FLOAT64, GA_SHAPE(0, HUGE / 4)), "more than 2^63 bytes");
        REFUSED(ga_ones(GA_COMPLEX128, GA_SHAPE(HUGE / 8, 0)), "more than 2^63 bytes");
        REFUSED(ga_full(GA_INT16, GA_SHAPE(HUGE, 2), 1), "more than 2^63 bytes");
        REFUSED(ga_wrap(memory, GA_INT64, GA_SHAPE(LARGE, LARGE), NULL, NULL, NULL), "2^63");
        REFUSED(ga_wrap(memory, GA_INT64, GA_SHAPE(0, HUGE, 4), NULL, NULL, NULL), "2^63");
        REFUSED(ga_from_host(memory, GA_INT64, GA_SHAPE(0, HUGE, 4)), "2^63");
        REFUSED(ga_eye(GA_INT8, LARGE), "(4294967296, 4294967296)");
        REFUSED(ga_linspace(GA_FLOAT32, 0, 1, HUGE), "2^63");
        REFUSED(ga_rng_random(ga_rng_default(), GA_FLOAT32, GA_SHAPE(LARGE, LARGE)), "2^63");
        REFUSED(ga_rng_random(ga_rng_default(), GA_FLOAT32, GA_SHAPE(0, LARGE, LARGE)), "2^63");
        REFUSED(ga_rng_permutation(ga_rng_default(), HUGE), "2^63");
        REFUSED(ga_rng_bytes(ga_rng_default(), INT64_MAX), "2^63");
        expect_shape(ga_empty(GA_FLOAT64, GA_SHAPE(0, HUGE / 8)), GA_SHAPE(0, HUGE / 8));
    }
}

static void views(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *none = ga_empty(GA_FLOAT64, GA_SHAPE(0, HUGE / 8));
        expect_shape(ga_view(none, GA_INT8), GA_SHAPE(0, HUGE));
        expect_shape(ga_view(none, GA_COMPLEX128), GA_SHAPE(0, HUGE / 16));
        assert_int_equal(ga_size(ga_view(none, GA_INT8)), 0);
        gpuarray *bytes = ga_empty(GA_INT8, GA_SHAPE(HUGE, 0));
        REFUSED(ga_view(bytes, GA_FLOAT64), "view: shape (4611686018427387904, 0) of float64");
        REFUSED(ga_reshape(none, GA_SHAPE(0, HUGE, HUGE)), "size 0 to (0, 4611686018427387904");
        REFUSED(ga_reshape(none, GA_SHAPE(0, HUGE / 4)), "size 0 to (0, 1152921504606846976)");
        REFUSED(ga_reshape(ga_ones(GA_INT8, GA_SHAPE(4)), GA_SHAPE(LARGE, LARGE, -1)), "size 4 to");
        REFUSED(ga_reshape(none, GA_SHAPE(0, -1)), "cannot reshape size 0");
        expect_shape(ga_reshape(none, GA_SHAPE(-1, 3, 5)), GA_SHAPE(0, 3, 5));
        gpuarray *one = ga_ones(GA_FLOAT64, GA_SHAPE0);
        REFUSED(ga_broadcast_to(one, GA_SHAPE(HUGE / 4)),
                "broadcast_to: shape (1152921504606846976,)");
        REFUSED(ga_broadcast_to(one, GA_SHAPE(0, LARGE, LARGE)), "2^63");
        expect_shape(ga_broadcast_to(one, GA_SHAPE(HUGE / 8)), GA_SHAPE(HUGE / 8));
        expect_shape(ga_broadcast_to(one, GA_SHAPE(0, HUGE / 8)), GA_SHAPE(0, HUGE / 8));
    }
}

/* Operands with little memory that broadcast to 2^64 elements. */
static void broadcast_operands(void **state)
{
    static const char *const formulas[] = {"sum(a + b)",
                                           "mean(a*b)",
                                           "max(a - b, axis=0)",
                                           "any(a > b)",
                                           "a + b",
                                           "sum(a)*0 + sum(a + b)",
                                           "argmax(a + b)",
                                           "sum(where(a > b, a, b), axis=1)",
                                           "std(a - b)",
                                           "a < b"};
    (void)state;
    GA_SCOPE {
        gpuarray *one = ga_ones(GA_INT8, GA_SHAPE0);
        gpuarray *a = ga_broadcast_to(one, GA_SHAPE(LARGE, 1));
        gpuarray *b = ga_broadcast_to(one, GA_SHAPE(1, LARGE));
        gpuarray *empty = ga_empty(GA_INT8, GA_SHAPE(0, LARGE, 1));
        const char *shapes =
            "shapes (4294967296, 1) and (1, 4294967296) broadcast to more than 2^63";
        REFUSED(ga_add(a, b), shapes);
        REFUSED(ga_less(a, b), shapes);
        REFUSED(ga_where(a, one, b), "more than 2^63");
        assert_int_equal(ga_add_into(ga_empty(GA_INT8, GA_SHAPE(1)), a, b), GA_ERR_SHAPE);
        expect(GA_ERR_SHAPE, shapes);
        for (size_t k = 0; k < sizeof formulas / sizeof *formulas; k++) {
            REFUSED(ga_eval(formulas[k], GA(a), GA(b)), "broadcast to more than 2^63 elements");
            REFUSED(ga_eval(formulas[k], GA_NAMED("a", empty), GA(b)),
                    "broadcast to more than 2^63 elements");
        }
        REFUSED(ga_eval("sum(complex128(a))", GA_NAMED("a", ga_broadcast_to(one, GA_SHAPE(HUGE)))),
                "the value: shape (4611686018427387904,) of complex128 has too many");
        REFUSED(ga_add(ga_ones(GA_INT8, GA_SHAPE(2)), ga_ones(GA_INT8, GA_SHAPE(3))),
                "shapes (2,) and (3,) do not broadcast");
    }
}

/* A formula's plan for earlier operands does not run over shapes that it cannot have. */
static void plans_of_earlier_operands(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *one = ga_ones(GA_INT8, GA_SHAPE0);
        gpuarray *a = ga_broadcast_to(one, GA_SHAPE(4, 1)),
                 *b = ga_broadcast_to(one, GA_SHAPE(1, 4));
        assert_int_equal(ga_item_int64(ga_eval("sum(a + 3*b)", GA(a), GA(b))), 64);
        a = ga_broadcast_to(one, GA_SHAPE(LARGE, 1)), b = ga_broadcast_to(one, GA_SHAPE(1, LARGE));
        REFUSED(ga_eval("sum(a + 3*b)", GA(a), GA(b)), "more than 2^63");
    }
}

static ga_status read_nothing(void *user, int64_t first, int64_t count, void *elements)
{
    (void)user, (void)first;
    memset(elements, 0, (size_t)count);
    return GA_OK;
}

static void sources_and_chunks(void **state)
{
    (void)state;
    REFUSED(ga_source_new(GA_INT8, GA_SHAPE(LARGE, LARGE), read_nothing, NULL), "source: shape");
    REFUSED(ga_source_new(GA_INT64, GA_SHAPE(0, HUGE, 4), read_nothing, NULL), "source: shape");
    ga_source *a = ga_source_new(GA_INT8, GA_SHAPE(LARGE, 1), read_nothing, NULL);
    ga_source *b = ga_source_new(GA_INT8, GA_SHAPE(1, LARGE), read_nothing, NULL);
    const ga_chunks chunks = {.bytes = 1 << 20};
    REFUSED(ga_eval_chunked(&chunks, "sum(a + b)", GA(a), GA(b)), "more than 2^63");
    REFUSED(ga_explain_chunked(&chunks, "a*b", GA(a), GA(b)), "more than 2^63");
    ga_source_free(a);
    ga_source_free(b);
}

/* Sums of sizes that fit individually saturate at the largest number. */
static void sums_of_sizes(void **state)
{
    (void)state;
    ga_named x[3] = {{"a", {.kind = GA_VALUE_SOURCE}},
                     {"b", {.kind = GA_VALUE_SOURCE}},
                     {"c", {.kind = GA_VALUE_SOURCE}}};
    ga_source *sources[3];
    for (int k = 0; k < 3; k++) {
        sources[k] = ga_source_new(GA_INT8, GA_SHAPE(2, HUGE / 2), read_nothing, NULL);
        x[k].value = ga_value_source(sources[k]);
    }
    const ga_chunks chunks = {.bytes = 1 << 20};
    char *text = (ga_explain_chunked)(sizeof(ga_chunks), &chunks, "a + b + c", 3, x);
    assert_non_null(text);
    if (!strstr(text, "moves 9223372036854775807 bytes") || strstr(text, " -") ||
        !strstr(text, "files: 9223372036854775807 bytes"))
        fail_msg("%s", text);
    free(text);
    for (int k = 0; k < 3; k++)
        ga_source_free(sources[k]);
}

static void write_header(const char *path, const char *dict)
{
    unsigned char head[10] = "\x93NUMPY\x01";
    FILE *stream = fopen(path, "wb");
    assert_non_null(stream);
    head[8] = (unsigned char)strlen(dict);
    fwrite(head, 1, sizeof head, stream);
    fputs(dict, stream);
    fclose(stream);
}

static void file_headers(void **state)
{
    static const char *const shapes[] = {"(0, 9223372036854775807, 9223372036854775807)",
                                         "(4294967296, 4294967296)", "(0, 2305843009213693952)"};
    char path[] = "/tmp/quarry-sizes-XXXXXX", dict[200];
    const int fd = mkstemp(path);
    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        snprintf(dict, sizeof dict, "{'descr': '<f8', 'fortran_order': %s, 'shape': %s, }",
                 k % 2 ? "True" : "False", shapes[k]);
        write_header(path, dict);
        assert_null(ga_load(path));
        expect(GA_ERR_FORMAT, shapes[k]);
        assert_null(ga_source_open(path));
        expect(GA_ERR_FORMAT, "more than 2^63 bytes");
    }
    write_header(path, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }");
    gpuarray *x = ga_load(path);
    expect_shape(x, GA_SHAPE(0, 3));
    ga_free(x);
    unlink(path);
}

static void custom_kernels(void **state)
{
    (void)state;
    GA_SCOPE {
        ga_kernel *twice =
            ga_elementwise_kernel("signed char *x, signed char *y", "y[i] = 2*x[i]", "twice");
        gpuarray *wide = ga_broadcast_to(ga_ones(GA_INT8, GA_SHAPE0), GA_SHAPE(LARGE, LARGE / 4));
        assert_non_null(twice);
        assert_int_not_equal(ga_run(twice, wide, ga_ones(GA_INT8, GA_SHAPE(4))), GA_OK);
        expect(GA_ERR_SHAPE, "4611686018427387904");
        ga_kernel_free(twice);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(arrays_and_wrapped_memory),
        cmocka_unit_test(views),
        cmocka_unit_test(broadcast_operands),
        cmocka_unit_test(plans_of_earlier_operands),
        cmocka_unit_test(sources_and_chunks),
        cmocka_unit_test(sums_of_sizes),
        cmocka_unit_test(file_headers),
        cmocka_unit_test(custom_kernels),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
