/* Results written over their own operands: views of one array in every relation, compared with
 * loops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "random.h"
#include "run.h"
#include "views.h"

/* ---- One call against a loop ---- */

/* Writes the result of two operands to `out`: a + 2*b in all cases. */
typedef struct way {
    const char *name;
    ga_status (*run)(gpuarray *out, const gpuarray *a, const gpuarray *b);
} way;

static ga_kernel *combination;

/* b + b has its own memory: out overlaps only a. */
static ga_status run_sum(gpuarray *out, const gpuarray *a, const gpuarray *b)
{
    return ga_add_into(out, a, ga_add(b, b));
}

static ga_status run_formula(gpuarray *out, const gpuarray *a, const gpuarray *b)
{
    return ga_eval_into(out, "a + 2*b", GA(a), GA(b));
}

static ga_status run_kernel(gpuarray *out, const gpuarray *a, const gpuarray *b)
{
    return ga_run(combination, a, b, out);
}

static const way ways[] = {
    {"add_into", run_sum}, {"eval_into", run_formula}, {"a kernel", run_kernel}};
enum { WAYS = sizeof ways / sizeof *ways };

static float *counting(int64_t count)
{
    float *x = malloc((size_t)count * sizeof *x);
    assert_non_null(x);
    for (int64_t k = 0; k < count; k++)
        x[k] = (float)(k % 4099 - 1000);
    return x;
}

static void check_way(const way *w, view out, view a, view b, gpuarray *base, const char *what)
{
    const int64_t count = ga_size(base), size = view_size(&out);
    float *want = counting(count), *before = counting(count), *got = counting(count);
    for (int64_t k = 0; k < size; k++)
        want[view_place(&out, k)] = before[view_place(&a, k)] + 2 * before[view_place(&b, k)];
    const ga_status status = w->run(out.array, a.array, b.array);
    if (status != GA_OK || ga_to_host(base, got, (size_t)count * sizeof *got) != GA_OK)
        fail_msg("%s of %s: %s", w->name, what, ga_error_message());
    for (int64_t k = 0; k < count; k++)
        if (got[k] != want[k])
            fail_msg("%s of %s: element %lld is %g, wanted %g", w->name, what, (long long)k,
                     (double)got[k], (double)want[k]);
    free(want);
    free(before);
    free(got);
}

static gpuarray *new_base(int ndim, int64_t length)
{
    int64_t shape[VIEW_AXES], size = 1;
    for (int axis = 0; axis < ndim; axis++)
        size *= shape[axis] = length;
    float *x = counting(size);
    gpuarray *base = ga_from_host(x, GA_FLOAT32, ndim, shape);
    free(x);
    return base;
}

/* ---- An array and its transpose ---- */

static void every_axis_order_of_itself(int ndim, int64_t length)
{
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                    {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    char what[80];
    for (size_t i = 0; i < 6; i++)
        for (size_t w = 0; w < WAYS; w++) {
            const int order[] = {orders[i][0], orders[i][1], orders[i][2]};
            if (ndim == 2 && order[2] != 2)
                continue;
            snprintf(what, sizeof what, "axes %d %d %d of %lld", order[0], order[1], order[2],
                     (long long)length);
            GA_SCOPE {
                gpuarray *base = new_base(ndim, length);
                const view x = view_whole(base), turned = view_transposed(x, order);
                check_way(&ways[w], x, x, turned, base, what);
                base = new_base(ndim, length);
                const view y = view_whole(base), other = view_transposed(y, order);
                check_way(&ways[w], y, other, y, base, what);
            }
        }
}

static void squares_and_cubes_take_themselves_turned(void **state)
{
    (void)state;
    every_axis_order_of_itself(2, 300);
    every_axis_order_of_itself(2, 5);
    every_axis_order_of_itself(3, 20);
}

/* Other element sizes take other paths: x += x.T for 1 to 16 bytes. */
static void every_size_of_elements_takes_itself_turned(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_INT32, GA_FLOAT64, GA_COMPLEX128};
    enum { N = 150 };
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        GA_SCOPE {
            if (!in_short_sample("turned", (int)d, sizeof dtypes / sizeof *dtypes))
                continue;
            int32_t numbers[N * N], got[N * N];
            for (int k = 0; k < N * N; k++)
                numbers[k] = k * 7 % 61;
            gpuarray *x = ga_astype(ga_from_host(numbers, GA_INT32, GA_SHAPE(N, N)), dtypes[d]);
            assert_int_equal(ga_add_into(x, x, ga_transpose(x)), GA_OK);
            gpuarray *real = dtypes[d] == GA_COMPLEX128 ? ga_real(x) : x;
            assert_int_equal(ga_to_host(ga_astype(real, GA_INT32), got, sizeof got), GA_OK);
            for (int k = 0; k < N * N; k++)
                if (got[k] != numbers[k] + numbers[k % N * N + k / N])
                    fail_msg("%s: element %d is %d", ga_dtype_name(dtypes[d]), k, got[k]);
        }
}

/* ---- Any views of one array ---- */

/* The same elements through a buffer of its own, as memory of another library has. */
static view wrapped(view v)
{
    gpuarray *x = v.array;
    v.array =
        ga_wrap(ga_data(x), ga_dtype_of(x), ga_ndim(x), ga_shape(x), ga_strides(x), NULL, NULL);
    assert_non_null(v.array);
    return v;
}

static void check_views(uint64_t first_seed)
{
    uint64_t seed = first_seed;
    int64_t shape[VIEW_AXES];
    char what[80];
    const int ndim = 1 + (int)random_below(&seed, 3);
    const int64_t most = ndim == 1 ? 5000 : ndim == 2 ? 70 : 17;
    const int64_t length = 2 + random_below(&seed, most), least = 1 + random_below(&seed, length);
    const bool whole = random_below(&seed, 4) == 0;
    for (int axis = 0; axis < ndim; axis++)
        shape[axis] = whole ? length : least + random_below(&seed, length - least + 1);
    snprintf(what, sizeof what, "seed %llu", (unsigned long long)first_seed);
    GA_SCOPE {
        gpuarray *base = new_base(ndim, length);
        const view out = view_random(base, shape, &seed);
        view a = random_below(&seed, 3) ? view_random(base, shape, &seed) : out;
        view b = random_below(&seed, 3) ? view_random(base, shape, &seed) : out;
        if (first_seed % 4 == 0) {
            a = wrapped(a);
            b = wrapped(b);
        }
        check_way(&ways[first_seed % WAYS], out, a, b, base, what);
    }
}

static void any_views_of_one_array_are_as_if_copied_first(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 450; seed++) {
        char item[40];
        snprintf(item, sizeof item, "views %d", (int)seed);
        if (in_eighth(item))
            check_views(seed);
    }
}

/* ---- In place ---- */

static size_t bytes_used(void)
{
    ga_memory_stats stats;
    assert_int_equal(ga_memory_info(NULL, &stats), GA_OK);
    return stats.used;
}

/* No memory is available for copies here. */
static void operands_are_copied_only_where_they_overlap(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = new_base(2, 100), *turned = ga_transpose(x), *part = ga_slice(x, "3:, ::2"),
                 *upper = ga_slice(x, ":50"), *lower = ga_slice(x, "50:"), *y = new_base(2, 100);
        assert_int_equal(ga_memory_set_limit(NULL, bytes_used()), GA_OK);
        const ga_status whole = ga_add_into(x, x, x), same = ga_add_into(turned, turned, 1),
                        some = ga_multiply_into(part, part, part),
                        halves = ga_add_into(upper, lower, upper), other = ga_add_into(x, x, y),
                        formula = ga_eval_into(x, "x*x + 1", GA(x)),
                        kernel = ga_run(combination, x, y, x);
        const ga_status overlaps = ga_add_into(x, x, turned);
        ga_clear_error();
        assert_int_equal(ga_memory_set_limit(NULL, 0), GA_OK);
        assert_int_equal(whole | same | some | halves | other | formula | kernel, GA_OK);
        assert_int_equal(overlaps, GA_ERR_MEMORY);
    }
}

static int make_kernel(void **state)
{
    (void)state;
    combination = ga_elementwise_kernel("const float *a, const float *b, float *out",
                                        "out[i] = a[i] + 2*b[i]", "combination");
    return combination ? 0 : -1;
}

static int free_kernel(void **state)
{
    (void)state;
    ga_kernel_free(combination);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(squares_and_cubes_take_themselves_turned),
        cmocka_unit_test(every_size_of_elements_takes_itself_turned),
        cmocka_unit_test(any_views_of_one_array_are_as_if_copied_first),
        cmocka_unit_test(operands_are_copied_only_where_they_overlap),
    };
    return run_named_tests(argc, argv, tests, make_kernel, free_kernel);
}
