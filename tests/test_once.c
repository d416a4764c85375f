/* Selection by one launch: CUDA's kernel, which the simulator runs where there is no GPU, and on a
 * GPU whole expressions, beside a loop over the elements. */
#include "ops/scan/once.h"

#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "ops/convert.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

enum { CASES = 24, MOST = 60000, MOST_AT_ONCE = 1024 * 102 };

/* Elements are bytes from 0 to 99, as this dtype; those below the threshold are chosen. */
typedef struct once_case {
    ga_dtype dtype;
    int64_t n;
    int step, threshold;
    enum { ANYWHERE, TOGETHER, SECOND_HALF } where; /* what is chosen */
} once_case;

static int byte_of(const once_case *c, uint64_t seed, int64_t k)
{
    if (c->where == TOGETHER)
        return k > c->n / 3 && k < c->n / 3 + c->n / 50 ? 0 : 99;
    if (c->where == SECOND_HALF)
        return k < c->n / 2 ? 99 : 0;
    return (int)(ga__hash64(&k, sizeof k, seed) % 100);
}

static gpuarray *elements_of(const once_case *c, uint64_t seed)
{
    const size_t size = ga_dtype_size(c->dtype);
    const int64_t n = c->n * c->step;
    char *bytes = calloc((size_t)n, size);
    assert_non_null(bytes);
    for (int64_t k = 0; k < c->n; k++)
        ga__dtype_store(c->dtype, ga_value_int(byte_of(c, seed, k)),
                        bytes + (size_t)(k * c->step) * size);
    gpuarray *all = ga_from_host(bytes, c->dtype, 1, &n);
    free(bytes);
    return ga_slice(all, "::%d", c->step);
}

static int64_t chosen_of(const once_case *c, uint64_t seed, char *wanted)
{
    int64_t count = 0;
    for (int64_t k = 0; k < c->n; k++)
        if (byte_of(c, seed, k) < c->threshold)
            ga__dtype_store(c->dtype, ga_value_int(byte_of(c, seed, k)),
                            wanted + (size_t)count++ * ga_dtype_size(c->dtype));
    return count;
}

/* NULL without an error: more are chosen than the sample told. */
static gpuarray *choose(gpuarray *x, const once_case *c)
{
    static const char store[] = "if (to < m) y[to] = value";
    const ga__operand operands[] = {ga__read_operand("x", x),
                                    {.name = "t",
                                     .number = ga_value_signed(GA_INT32, c->threshold),
                                     .type = GA_INT32,
                                     .reads = true}};
    const ga__predicate where = {.id = ga__hash128_of("below", 5),
                                 .text = "return ga::cast<float>(x[i]) < t",
                                 .device = &simulated_device,
                                 .size = c->n,
                                 .noperands = 2,
                                 .operands = operands};
    const ga__once once = {.name = "choose",
                           .id = ga__hash128_of("choose", 6),
                           .where = &where,
                           .value = "return x[i]",
                           .store = store,
                           .dtype = c->dtype};
    gpuarray *out = NULL;
    const ga_status status = ga__choose_once(&once, &out);
    assert_true(out == NULL || status == GA_OK);
    return out;
}

static bool check(const once_case *c, uint64_t seed)
{
    static char wanted[MOST_AT_ONCE * 16], got[MOST_AT_ONCE * 16];
    bool made = false;
    const int64_t count = chosen_of(c, seed, wanted);
    GA_SCOPE {
        const gpuarray *out = choose(elements_of(c, seed), c);
        if (ga_error() != GA_OK)
            fail_msg("%s", ga_error_message());
        made = out != NULL;
        if (made) {
            assert_int_equal(ga_size(out), count);
            assert_int_equal(ga_to_host(out, got, ga_nbytes(out)), GA_OK);
            assert_memory_equal(got, wanted, (size_t)count * ga_dtype_size(c->dtype));
        }
    }
    return made;
}

static once_case random_case(uint64_t *seed)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT64, GA_INT8, GA_COMPLEX128, GA_FLOAT16};
    static const int thresholds[] = {0, 1, 50, 99, 100};
    return (once_case){.dtype = dtypes[random_below(seed, 5)],
                       .n = 1 + random_below(seed, MOST - 1),
                       .step = 1 + random_below(seed, 2),
                       .threshold = thresholds[random_below(seed, 5)]};
}

static void it_stores_what_is_chosen_in_order(void **state)
{
    (void)state;
    uint64_t seed = run_seed();
    const int before = simulated.launches;
    for (int k = 0; k < CASES; k++) {
        const once_case c = random_case(&seed);
        print_message("%s, %lld elements, step %d, below %d\n", ga_dtype_name(c.dtype),
                      (long long)c.n, c.step, c.threshold);
        (void)check(&c, seed);
    }
    assert_true(simulated.launches > before + CASES);
    /* Whole tiles, and one element more; 33 tiles are more than a group. */
    for (int more = 0; more < 2; more++)
        assert_true(check(&(once_case){GA_COMPLEX128, 1024 * 33 + more, 1, 50, ANYWHERE}, 7));
    /* Three groups and more: the first group's number is read as one. */
    for (int more = 0; more < 2; more++)
        assert_true(check(&(once_case){GA_COMPLEX128, 1024 * 101 + 7 * more, 1, 50, ANYWHERE}, 9));
}

static void a_sample_that_tells_too_few_gives_no_result(void **state)
{
    (void)state;
    assert_false(check(&(once_case){GA_COMPLEX128, MOST, 1, 1, TOGETHER}, 1));
    assert_true(check(&(once_case){GA_COMPLEX128, MOST, 1, 100, TOGETHER}, 1));
    assert_true(check(&(once_case){GA_COMPLEX128, MOST, 1, 1, SECOND_HALF}, 1));
}

static void a_result_without_memory_loses_nothing(void **state)
{
    (void)state;
    const once_case c = {GA_FLOAT32, 20000, 1, 50, ANYWHERE};
    gpuarray *x = elements_of(&c, 3);
    int failed = 0;
    for (int n = 1, done = 0; !done; n++) {
        ga__alloc_fail_at(n);
        gpuarray *out = choose(x, &c);
        ga__alloc_fail_at(0);
        assert_true(out || ga_error() == GA_ERR_MEMORY);
        ga_clear_error();
        failed += out ? 0 : 1;
        done = out != NULL;
        ga_free(out);
    }
    assert_true(failed > 0);
    ga_free(x);
}

/* Arrays beyond the cache of a GPU, by every way to write the condition. */
static void expressions_choose_as_masks_do(void **state)
{
    (void)state;
    const bool host = strcmp(ga_current_device(), "cpu") == 0;
    for (int k = 0; k < 2; k++)
        GA_SCOPE {
            ga_rng *rng = ga_rng_new(5);
            const int64_t n = host ? 100003 : (1 << 25) + 11;
            const gpuarray *x = ga_rng_random(rng, GA_FLOAT32, GA_SHAPE(n));
            const double t = k ? 0.01 : 0.5;
            const gpuarray *mask = ga_less(x, t);
            assert_true(
                ga_array_equal(ga_eval("x[x < t]", GA(x), GA_NAMED("t", t)), ga_extract(mask, x)));
            assert_true(ga_array_equal(ga_eval("(2*x + 1)[x < t]", GA(x), GA_NAMED("t", t)),
                                       ga_extract(mask, ga_eval("2*x + 1", GA(x)))));
            ga_rng_free(rng);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        simulated_test(it_stores_what_is_chosen_in_order),
        simulated_test(a_sample_that_tells_too_few_gives_no_result),
        simulated_test(a_result_without_memory_loses_nothing),
        cmocka_unit_test(expressions_choose_as_masks_do),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
