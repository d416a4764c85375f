/* Tests of readbacks: the result that a read finds after a reduction and after later writes. */
#include <complex.h>
#include <stdio.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "device/memory.h"
#include "device/readback.h"
#include "run.h"

static int clear(void **state)
{
    (void)state;
    ga_set_stream(NULL);
    ga_clear_error();
    return 0;
}

/* ---- On the current device ---- */

static void sums_are_read_by_all_dtypes(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8,    GA_INT64,   GA_FLOAT16,   GA_BFLOAT16,
                                      GA_FLOAT32, GA_FLOAT64, GA_COMPLEX64, GA_COMPLEX128};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        GA_SCOPE {
            gpuarray *x = ga_ones(dtypes[k], GA_SHAPE(100));
            gpuarray *max = ga_max(x), *sum = ga_sum(ga_multiply(x, x));
            assert_true(ga_item_double(max) == 1);
            assert_true(ga_item_double(sum) == 100);
            assert_true(ga_item_double(sum) == 100); /* and again */
            assert_true(creal(ga_item_complex(ga_add(sum, max))) == 101);
        }
    GA_SCOPE {
        gpuarray *z = ga_full(GA_COMPLEX128, GA_SHAPE(3), 1.0 - 2.0 * I);
        const double complex sum = ga_item_complex(ga_sum(z));
        assert_true(creal(sum) == 3 && cimag(sum) == -6);
        assert_true(ga_item_bool(ga_any(z)) && ga_item_bool(ga_all(z)));
    }
}

static void later_writes_are_found(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(10)), *sum = ga_sum(x);
        const float seven = 7;
        assert_true(ga_item_double(sum) == 10);
        assert_int_equal(ga_set(sum, &seven, sizeof seven), GA_OK);
        assert_true(ga_item_double(sum) == 7);
        ga_sum(x, .out = sum);
        ga_add_into(sum, sum, 1);
        assert_true(ga_item_double(sum) == 11);
        ga_sum(x, .out = sum);
        ga_assign(sum, 3);
        assert_true(ga_item_double(sum) == 3);
        ga_sum(ga_slice(x, ":4"), .out = sum);
        assert_true(ga_item_double(sum) == 4);
    }
}

/* An element of a larger array: its other elements are not the result. */
static void elements_of_arrays_are_told_apart(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(10)), *table = ga_zeros(GA_FLOAT32, GA_SHAPE(3));
        float host[3];
        for (int k = 0; k < 3; k++) {
            char at[4];
            snprintf(at, sizeof at, "%d", k);
            ga_sum(ga_multiply(x, k + 1), .out = ga_slice(table, at));
        }
        assert_true(ga_item_double(ga_slice(table, "0")) == 10);
        assert_true(ga_item_double(ga_slice(table, "2")) == 30);
        assert_int_equal(ga_to_host(table, host, sizeof host), GA_OK);
        assert_true(host[0] == 10 && host[1] == 20 && host[2] == 30);
    }
}

static void graphs_clear_readbacks(void **state)
{
    (void)state;
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(10)), *sum = ga_sum(x);
    ga_graph *graph = NULL;
    GA_GRAPH(graph)
    {
        ga_add_into(x, x, 1);
        ga_sum(x, .out = sum);
    }
    assert_non_null(graph);
    for (int k = 1; k <= 3; k++) {
        assert_int_equal(ga_graph_launch(graph), GA_OK);
        assert_true(ga_item_double(sum) == 10 * (k + 1));
    }
    gpuarray *part = ga_slice(x, ":1");
    ga_sum(part, .out = sum); /* has a readback; then the graph writes the same element */
    assert_int_equal(ga_graph_launch(graph), GA_OK);
    assert_true(ga_item_double(sum) == 50);
    ga_graph_free(graph);
    ga_free(part);
    ga_free(sum);
    ga_free(x);
}

/* More results than there are slots, all read at the end. */
static void many_results_wait(void **state)
{
    (void)state;
    enum { RESULTS = 5000 };
    static gpuarray *sums[RESULTS];
    gpuarray *x = ga_arange(GA_FLOAT32, 0, RESULTS, 1);
    for (int k = 0; k < RESULTS; k++) {
        char at[16];
        snprintf(at, sizeof at, "%d:%d", k, k + 1);
        gpuarray *part = ga_slice(x, at);
        sums[k] = ga_sum(part);
        ga_free(part);
    }
    for (int k = 0; k < RESULTS; k++) {
        assert_true(ga_item_double(sums[k]) == k);
        ga_free(sums[k]);
    }
    ga_free(x);
}

static void other_streams_read_too(void **state)
{
    (void)state;
    ga_stream *stream = ga_stream_new();
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(1 << 20));
        ga_set_stream(stream);
        gpuarray *sum = ga_sum(x);
        ga_set_stream(NULL);
        assert_true(ga_item_double(sum) == 1 << 20);
    }
    ga_stream_free(stream);
}

/* ---- The parameters of a kernel, on a device that only compiles ---- */

#ifdef QUARRY_CUDA
#include "fake_device.h"

/* Writes a result as the kernels do. */
static void write_back(ga__readback to, const void *bytes, size_t nbytes)
{
    uint64_t *words = (uint64_t *)(uintptr_t)to.address;
    for (size_t k = 0; 4 * k < nbytes; k++) {
        uint32_t part = 0;
        memcpy(&part, (const char *)bytes + 4 * k, nbytes - 4 * k < 4 ? nbytes - 4 * k : 4);
        words[k] = (uint64_t)to.tag << 32 | part;
    }
}

static void readbacks_hold_until_others_write(void **state)
{
    (void)state;
    ga__use_device(&devices[2]);
    ga__stream *stream = &devices[2].stream;
    ga__buffer *buffer = ga__buffer_new(&devices[2], 64);
    char *at = buffer->memory, got[16];
    const char sent[16] = "fifteen letters";
    for (size_t nbytes = 1; nbytes <= 16; nbytes++) {
        const ga__readback to = ga__readback_begin(stream, buffer, at, nbytes);
        assert_true(to.address != 0 && to.tag != 0);
        assert_false(ga__readback_read(buffer, at, got, nbytes)); /* not there yet */
        write_back(to, sent, nbytes);
        assert_true(ga__readback_read(buffer, at, got, nbytes));
        assert_memory_equal(got, sent, nbytes);
        assert_false(ga__readback_read(buffer, at + 16, got, nbytes));
        assert_false(ga__readback_read(buffer, at, got, nbytes + 1));
    }
    assert_int_equal(ga__use(stream, buffer, false), GA_OK);
    assert_true(ga__readback_read(buffer, at, got, 16));
    assert_int_equal(ga__use(stream, buffer, true), GA_OK);
    assert_false(ga__readback_read(buffer, at, got, 16));
    assert_true(ga__readback_begin(stream, buffer, at, 17).address == 0);
    ga__buffer_release(buffer);
}

static void slots_come_round(void **state)
{
    (void)state;
    ga__use_device(&devices[2]);
    ga__stream *stream = &devices[2].stream;
    ga__buffer *first = ga__buffer_new(&devices[2], 4), *other = ga__buffer_new(&devices[2], 4);
    const float value = 1.5f;
    float got;
    const ga__readback mine = ga__readback_begin(stream, first, first->memory, 4);
    write_back(mine, &value, 4);
    for (int k = 0; k < 4096; k++)
        write_back(ga__readback_begin(stream, other, other->memory, 4), &value, 4);
    assert_false(
        ga__readback_read(first, first->memory, &got, 4)); /* another result took its slot */
    write_back(mine, &value, 4);                           /* and the other way round */
    assert_false(ga__readback_read(other, other->memory, &got, 4));
    ga__buffer_release(first);
    ga__buffer_release(other);
}

static void known_addresses_have_no_readback(void **state)
{
    (void)state;
    ga__use_device(&devices[2]);
    ga__stream *stream = &devices[2].stream;
    gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(4)), *view = ga_slice(x, "1:");
    const ga__readback to = ga__readback_begin(stream, x->buffer, x->data, 4);
    float value = 2, got;
    write_back(to, &value, 4);
    assert_true(ga__readback_read(x->buffer, x->data, &got, 4) && got == 2);
    assert_non_null(ga_data(view)); /* its holder may write at any time */
    assert_false(ga__readback_read(x->buffer, x->data, &got, 4));
    assert_true(ga__readback_begin(stream, x->buffer, x->data, 4).address == 0);
    ga_free(view);
    ga_free(x);
    ga__buffer *wrapped = ga__buffer_wrap(&devices[2], &value, 4, NULL, NULL);
    assert_true(ga__readback_begin(stream, wrapped, &value, 4).address ==
                0); /* its owner knows it */
    ga__buffer_release(wrapped);
}
#endif

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(sums_are_read_by_all_dtypes, clear),
        cmocka_unit_test_teardown(later_writes_are_found, clear),
        cmocka_unit_test_teardown(elements_of_arrays_are_told_apart, clear),
        cmocka_unit_test_teardown(graphs_clear_readbacks, clear),
        cmocka_unit_test_teardown(many_results_wait, clear),
        cmocka_unit_test_teardown(other_streams_read_too, clear),
#ifdef QUARRY_CUDA
        cmocka_unit_test_teardown(readbacks_hold_until_others_write, clear),
        cmocka_unit_test_teardown(slots_come_round, clear),
        cmocka_unit_test_teardown(known_addresses_have_no_readback, clear),
#endif
    };
#ifdef QUARRY_CUDA
    if (!open_fake_devices())
        return 1;
#endif
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
