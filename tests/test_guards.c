/* Bounds: kernels neither read, write nor compute past the ends of their arrays, and memory kept
 * for later requests stays below its limit. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "golden.h"
#include "run.h"
#include "simulated_device.h"

static int clear(void **state)
{
    (void)state;
    ga_clear_error();
    return 0;
}

static void need_host_memory(void)
{
    if (on_host())
        return;
    print_message("skipped on %s: its kernels do not use host memory\n", ga_current_device());
    skip();
}

/* ---- Arrays next to inaccessible pages ---- */

enum { BEFORE, BEHIND, SIDES };

typedef struct guarded {
    char *pages;
    size_t nbytes;
} guarded;

static void unmap(void *owner)
{
    guarded *g = owner;
    munmap(g->pages, g->nbytes);
    free(g);
}

/* An array whose first element follows the inaccessible page before it, or whose last element
 * precedes the one after it. The elements are 1, 2, 3, 1, 2, ... */
static gpuarray *beside_guard(int side, ga_dtype dtype, int64_t n)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), itemsize = ga_dtype_size(dtype);
    const size_t nbytes = (size_t)n * itemsize, inner = (nbytes + page - 1) / page * page;
    guarded *g = malloc(sizeof *g);
    g->nbytes = inner + 2 * page;
    g->pages = mmap(NULL, g->nbytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(g->pages, MAP_FAILED);
    assert_int_equal(mprotect(g->pages + page, inner, PROT_READ | PROT_WRITE), 0);
    char *data = g->pages + page + (side == BEFORE ? 0 : inner - nbytes);
    for (int64_t k = 0; k < n; k++) {
        const ga_value value = {.kind = GA_VALUE_NUMBER, .dtype = GA_INT64, .as.i = 1 + k % 3};
        ga__dtype_store(dtype, value, data + (size_t)k * itemsize);
    }
    gpuarray *x = ga_wrap(data, dtype, GA_SHAPE(n), NULL, g, unmap);
    if (!x)
        fail_msg("%s", ga_error_message());
    return x;
}

/* Every width, dtypes that are computed in another one, and functions of libm. */
static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT16, GA_FLOAT32, GA_FLOAT64, GA_COMPLEX128};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

static const int64_t lengths[] = {1, 63, 64, 65, 257, 1003};
enum { LENGTHS = sizeof lengths / sizeof *lengths };

static void elementwise_kernels_stay_inside(void **state)
{
    (void)state;
    need_host_memory();
    for (int side = 0; side < SIDES; side++)
        for (int d = 0; d < DTYPES; d++)
            for (int l = 0; in_short_sample("elements", d, DTYPES) && l < LENGTHS; l++)
                GA_SCOPE {
                    gpuarray *x = beside_guard(side, dtypes[d], lengths[l]),
                             *y = beside_guard(side, dtypes[d], lengths[l]);
                    assert_int_equal(ga_add_into(y, x, x), GA_OK);
                    assert_int_equal(ga_add_into(ga_slice(y, "::-1"), x, y), GA_OK);
                    assert_int_equal(ga_assign(ga_slice(y, "::2"), ga_slice(x, "::2")), GA_OK);
                    if (dtypes[d] != GA_INT8)
                        assert_int_equal(ga_exp_into(y, x), GA_OK);
                    assert_int_equal(ga_error(), GA_OK);
                }
}

/* The operand that they replace is kept for elements that are computed once more. */
static void complex_products_in_place_stay_inside(void **state)
{
    (void)state;
    need_host_memory();
    for (int side = 0; side < SIDES; side++)
        for (int l = 0; l < LENGTHS; l++)
            for (int single = 0; single < 2; single++)
                GA_SCOPE {
                    const ga_dtype dtype = single ? GA_COMPLEX64 : GA_COMPLEX128;
                    gpuarray *x = beside_guard(side, dtype, lengths[l]),
                             *y = beside_guard(side, dtype, lengths[l]);
                    gpuarray *product = ga_multiply(x, y), *ratio = ga_divide(product, x);
                    assert_int_equal(ga_multiply_into(y, y, x), GA_OK);
                    assert_true(ga_array_equal(y, product));
                    assert_int_equal(ga_divide_into(y, y, x), GA_OK);
                    assert_true(ga_array_equal(y, ratio));
                }
}

static void results_that_go_past_the_cache_stay_inside(void **state)
{
    (void)state;
    need_host_memory();
    const int64_t n = ((int64_t)8 << 20) + 3; /* 32 MiB, and 2 MiB for each of 16 threads */
    for (int side = 0; side < SIDES; side++)
        GA_SCOPE {
            gpuarray *x = beside_guard(side, GA_FLOAT32, n), *y = beside_guard(side, GA_FLOAT32, n);
            assert_int_equal(ga_add_into(y, x, 1), GA_OK);
            gpuarray *last = ga_slice(y, "-1");
            assert_true(ga_item_double(last) == 2 + (double)((n - 1) % 3));
        }
}

static void reductions_stay_inside(void **state)
{
    (void)state;
    need_host_memory();
    for (int side = 0; side < SIDES; side++)
        for (int d = 0; d < DTYPES; d++)
            for (int64_t n = 24; n <= 6072; n *= 11) { /* 24, 264, 2904 */
                GA_SCOPE {
                    if (!in_short_sample("reductions", d, DTYPES))
                        continue;
                    gpuarray *x = beside_guard(side, dtypes[d], n);
                    gpuarray *rows = ga_reshape(x, GA_SHAPE(n / 8, 8)),
                             *wide = ga_reshape(x, GA_SHAPE(8, n / 8));
                    assert_non_null(ga_sum(x));
                    assert_non_null(ga_sum(rows, GA_AXIS(0)));
                    assert_non_null(ga_sum(rows, GA_AXIS(1)));
                    assert_non_null(ga_sum(wide, GA_AXIS(0)));
                    assert_non_null(ga_sum(wide, GA_AXIS(1)));
                    assert_non_null(ga_eval("sum(x*x + x)", GA(x)));
                }
            }
}

/* An allocator whose memory ends, rounded up to 256 bytes, at an inaccessible page. */
static size_t guarded_bytes(size_t nbytes, size_t *inner)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *inner = (nbytes + page - 1) / page * page;
    return *inner - (nbytes + 255) / 256 * 256;
}

static void *alloc_guarded(size_t nbytes, const char *device, void *stream, void *user)
{
    size_t inner;
    const size_t begin = guarded_bytes(nbytes, &inner), page = (size_t)sysconf(_SC_PAGESIZE);
    char *pages = mmap(NULL, inner + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)device, (void)stream, (void)user;
    if (pages == MAP_FAILED || mprotect(pages, inner, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    return pages + begin;
}

static void free_guarded(void *memory, size_t nbytes, const char *device, void *stream, void *user)
{
    size_t inner;
    const size_t begin = guarded_bytes(nbytes, &inner);
    (void)device, (void)stream, (void)user;
    munmap((char *)memory - begin, inner + (size_t)sysconf(_SC_PAGESIZE));
}

/* What all rows share of a thread's columns comes in vectors. Of columns that end inside one, or
 * before the last of several, nothing past the last column is read. */
static void held_columns_stay_inside(void **state)
{
    (void)state;
    static const ga_dtype held[] = {GA_FLOAT16, GA_FLOAT32, GA_FLOAT64};
    for (int d = 0; d < 3; d++)
        for (int64_t columns = 514; columns <= 524; columns += 2)
            GA_SCOPE {
                gpuarray *m = beside_guard(BEHIND, held[d], columns);
                gpuarray *x = ga_ones(held[d], GA_SHAPE(100, columns));
                gpuarray *sums = ga_eval("sum(x * m, axis=0)", GA(x), GA(m));
                assert_true(ga_array_equal(sums, ga_multiply(m, 100)));
            }
}

/* Of 256, 512 or 1024 bytes each, from more elements than that. */
static void selections_stay_inside(void **state)
{
    const ga_allocator allocator = {.alloc = alloc_guarded, .free = free_guarded};
    (void)state;
    need_host_memory();
    assert_int_equal(ga_set_allocator(&allocator), GA_OK);
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT32, 0, 1024, 1), *values, *indices, *count;
        gpuarray *first = ga_less(x, 64);
        assert_int_equal(ga_extract_bounded(x, x, 64, &values, &indices, &count), GA_OK);
        assert_int_equal(ga_item_int64(count), 1023);
        assert_true(ga_item_double(values, 63) == 64 && ga_item_int64(indices, 63) == 64);
        assert_true(ga_size(ga_extract(first, x)) == 64);
        assert_int_equal(ga_topk(x, 64, &values, &indices), GA_OK);
        assert_non_null(ga_partition(x, 63));
        assert_non_null(ga_sort(ga_reshape(x, GA_SHAPE(16, 64))));
        assert_non_null(ga_unique(ga_remainder(x, 64)));
        assert_non_null(ga_take(x, ga_slice(indices, "::-1")));
    }
    assert_int_equal(ga_error(), GA_OK);
    ga_set_allocator(NULL);
}

static void draws_stay_inside(void **state)
{
    (void)state;
    need_host_memory();
    ga_rng *rng = ga_rng_new(1);
    for (int side = 0; side < SIDES; side++)
        for (int l = 0; l < LENGTHS; l++)
            GA_SCOPE {
                gpuarray *x = beside_guard(side, GA_FLOAT32, lengths[l]);
                assert_int_equal(ga_rng_random_into(x, rng), GA_OK);
                assert_int_equal(ga_rng_standard_normal_into(x, rng), GA_OK);
            }
    ga_rng_free(rng);
}

/* ---- Users' texts ---- */

static int32_t number_at(const gpuarray *x, int64_t k)
{
    return ((const int32_t *)(const void *)x->data)[k];
}

/* Elements accessed through `i` exist only for i < n. */
static void gathers_stay_inside(void **state)
{
    (void)state;
    need_host_memory();
    ga_kernel *mirror =
        ga_elementwise_kernel("const int *x, int *y", "y[i] = x[n - 1 - i]", "mirror");
    ga_kernel *even = ga_elementwise_kernel("const int *x, int *y", "y[i] = x[2 * i]", "even");
    for (int l = 0; l < LENGTHS; l++)
        GA_SCOPE {
            const int64_t n = lengths[l];
            gpuarray *y = beside_guard(BEHIND, GA_INT32, n);
            gpuarray *x = beside_guard(BEFORE, GA_INT32, n), /* x[-1] is forbidden */
                *twice = beside_guard(BEHIND, GA_INT32, 2 * n - 1);
            assert_int_equal(ga_run(mirror, x, y), GA_OK);
            for (int64_t k = 0; k < n; k++)
                assert_int_equal(number_at(y, k), number_at(x, n - 1 - k));
            assert_int_equal(ga_run(even, twice, y), GA_OK);
            for (int64_t k = 0; k < n; k++)
                assert_int_equal(number_at(y, k), number_at(twice, 2 * k));
        }
    ga_kernel_free(mirror);
    ga_kernel_free(even);
}

static void texts_with_i_run_for_elements_alone(void **state)
{
    (void)state;
    static const int64_t more[] = {1, 2, 63, 65, 1003, 40000};
    ga_kernel *number = ga_elementwise_kernel(
        "float *x, float *y", "if (i >= n) stop(); y[i] = exp(-x[i]) * 0 + i", "number_all",
        .preamble = "#ifdef __CUDA_ARCH__\n"
                    "#define stop() __trap()\n"
                    "#else\n"
                    "#define stop() __builtin_trap()\n"
                    "#endif\n");
    assert_non_null(number);
    for (size_t k = 0; k < sizeof more / sizeof *more; k++)
        GA_SCOPE {
            gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(more[k])), *y = ga_empty_like(x);
            gpuarray *wanted = ga_arange(GA_FLOAT32, 0, (double)more[k], 1);
            assert_int_equal(ga_run(number, x, y), GA_OK);
            assert_arrays_equal(y, wanted);
            gpuarray *square = ga_empty(GA_FLOAT32, GA_SHAPE(more[k], 2)),
                     *turned = ga_transpose(square);
            gpuarray *ones = ga_ones(GA_FLOAT32, GA_SHAPE(2, more[k]));
            assert_int_equal(ga_run(number, ones, turned), GA_OK);
            assert_true(ga_item_double(ga_max(square)) == (double)(2 * more[k] - 1));
        }
    ga_kernel_free(number);
}

/* Texts that look like an array or its index, but are not. */
static void texts_are_read_as_they_are_meant(void **state)
{
    (void)state;
    enum { N = 200003 };
    ga_kernel *member =
        ga_elementwise_kernel("const float *x, float *y", "pair p = {x[i]}; y[i] = p.x + 1",
                              "member", .preamble = "struct pair { float x; };");
    ga_kernel *local = ga_elementwise_kernel(
        "float *x, float *y", "const float t[] = {1, 2, 3, 4}; y[i] = x[i] + t[i % 4]", "local");
    GA_SCOPE {
        gpuarray *x = ga_multiply(ga_arange(GA_FLOAT32, 0, N, 1), 2), *y = ga_zeros_like(x);
        gpuarray *sum = ga_add(ga_slice(x, ":-1"), 1); /* the old x */
        assert_int_equal(ga_run(local, ga_zeros_like(x), y), GA_OK);
        assert_true(ga_item_double(ga_slice(y, "2")) == 3 &&
                    ga_item_double(ga_slice(y, "-1")) == 3);
        gpuarray *low = ga_slice(x, ":-1"), *high = ga_slice(x, "1:");
        assert_int_equal(ga_run(member, low, high), GA_OK); /* x overlaps y: it is copied */
        assert_arrays_equal(high, sum);
    }
    ga_kernel_free(member);
    ga_kernel_free(local);
}

/* One kernel, whatever the axes of the arrays that it indexes; reading does not make an array a
 * result. */
static void views_of_any_rank_are_reached_into(void **state)
{
    (void)state;
    ga_kernel *mirror =
        ga_elementwise_kernel("const int *x, int *y", "y[i] = x[n - 1 - i]", "mirror_any_rank");
    ga_kernel *compare = ga_elementwise_kernel("int *x, int *y", "y[i] = x[i] == 3", "is_3");
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_INT32, 0, 48, 1);
        const gpuarray *const views[] = {
            ga_slice(x, "::2"), ga_transpose(ga_reshape(x, GA_SHAPE(6, 8))),
            ga_transpose(ga_reshape(x, GA_SHAPE(2, 4, 6))), ga_slice(x, "::-1")};
        for (int k = 0; k < 4; k++) {
            gpuarray *y = ga_empty(GA_INT32, GA_SHAPE(ga_size(views[k])));
            assert_int_equal(ga_run(mirror, views[k], y), GA_OK);
            gpuarray *wanted = ga_flip(ga_ravel(views[k]), 0);
            assert_arrays_equal(y, wanted);
        }
        gpuarray *same = ga_broadcast_to(ga_scalar(GA_INT32, 3), GA_SHAPE(48)); /* read-only */
        assert_int_equal(ga_run(compare, same, x), GA_OK);
        assert_true(ga_item_int64(ga_sum(x)) == 48);
    }
    ga_kernel_free(mirror);
    ga_kernel_free(compare);
}

static void assignments_over_themselves_read_first(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_INT32, 0, 300003, 1);
        gpuarray *turned = ga_copy(ga_flip(x, 0)), *up = ga_add(ga_slice(turned, ":-1"), 0);
        assert_int_equal(ga_assign(x, ga_flip(x, 0)), GA_OK);
        assert_arrays_equal(x, turned);
        assert_int_equal(ga_assign(ga_slice(x, "1:"), ga_slice(x, ":-1")), GA_OK);
        assert_arrays_equal(ga_slice(x, "1:"), up);
    }
}

/* The last row gets its own sum after the others. */
static void sums_over_their_operands_read_first(void **state)
{
    (void)state;
    enum { N = 64 };
    for (int formula = 0; formula < 2; formula++)
        GA_SCOPE {
            gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(N, N)), *last = ga_slice(x, "-1");
            if (formula)
                assert_int_equal(ga_eval_into(last, "sum(x, axis=1)", GA(x)), GA_OK);
            else
                assert_non_null(ga_sum(x, GA_AXIS(1), .out = last));
            assert_true(ga_item_double(ga_min(last)) == N && ga_item_double(ga_max(last)) == N);
        }
}

static void arrays_of_one_size_run_flat(void **state)
{
    (void)state;
    ga_kernel *add =
        ga_elementwise_kernel("const float *x, float *y", "y[i] = x[i] + 1", "add_one_flat");
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT32, 0, 12, 1), *y = ga_zeros(GA_FLOAT32, GA_SHAPE(3, 4));
        assert_int_equal(ga_run(add, x, y), GA_OK);
        assert_arrays_equal(ga_ravel(y), ga_add(x, 1));
        assert_int_equal(ga_run(add, ga_transpose(ga_reshape(x, GA_SHAPE(4, 3))), x), GA_OK);
        assert_true(ga_item_double(ga_slice(x, "1")) == 4); /* 0 3 6 9 1 4 ..., and 1 */
    }
    ga_kernel_free(add);
}

/* ---- Kept memory ---- */

static size_t kept(void)
{
    ga_memory_stats s = {0};
    assert_int_equal(ga_memory_info(NULL, &s), GA_OK);
    return s.held - s.used;
}

static void kept_memory_has_a_limit(void **state)
{
    (void)state;
    need_host_memory();
    enum { BLOCKS = 5 };
    ga_memory_stats s;
    assert_int_equal(ga_memory_trim(NULL), GA_OK);
    assert_int_equal(ga_memory_info(NULL, &s), GA_OK);
    const size_t gigabyte = (size_t)1 << 30, eighth = s.total / 8;
    const size_t most = eighth < gigabyte ? eighth : gigabyte;
    const int64_t share = (int64_t)(most / 3) & ~(((int64_t)4 << 20) - 1);
    gpuarray *x[BLOCKS];
    for (int k = 0; k < BLOCKS; k++) /* untouched pages cost nothing */
        assert_non_null(x[k] = ga_empty(GA_INT8, GA_SHAPE(share - k)));
    for (int k = 0; k < BLOCKS; k++) {
        ga_free(x[k]);
        assert_true(kept() >= (size_t)share - BLOCKS && kept() <= most);
    }
    assert_int_equal(ga_memory_trim(NULL), GA_OK);
    assert_int_equal(kept(), 0);
    gpuarray *larger = ga_empty(GA_INT8, GA_SHAPE((int64_t)most + 1));
    assert_non_null(larger);
    ga_free(larger); /* one that exceeds the limit */
    assert_int_equal(kept(), 0);
}

static void small_blocks_are_not_kept(void **state)
{
    (void)state;
    need_host_memory();
    assert_int_equal(ga_memory_trim(NULL), GA_OK);
    ga_free(ga_empty(GA_INT8, GA_SHAPE(1000)));
    assert_int_equal(kept(), 0);
    ga_free(ga_empty(GA_INT8, GA_SHAPE(1000000)));
    assert_true(kept() >= 1000000 && kept() <= 1000000 + 1000000 / 8);
    const size_t once = kept();
    ga_free(ga_empty(GA_INT8, GA_SHAPE(1000000))); /* the same block again */
    assert_int_equal(kept(), once);
}

/* Operands that the result overlaps are copied, and the copies are freed, on success and on
 * failure. */
static void what_a_call_copies_is_freed(void **state)
{
    (void)state;
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(200000)), *low = ga_slice(x, ":-1"),
             *high = ga_slice(x, "1:");
    ga_kernel *kernel =
        ga_elementwise_kernel("const float *x, float *y", "y[i] = x[i] + 1", "add_one");
    for (int round = 0; round < 2; round++) { /* once for what is kept forever */
        const int64_t live = live_blocks();
        assert_int_equal(ga_add_into(high, low, low), GA_OK);
        assert_int_equal(ga_assign(high, low), GA_OK);
        assert_int_equal(ga_run(kernel, low, high), GA_OK);
        assert_int_equal(ga_eval_into(high, "sqrt(x)", GA_NAMED("x", low)), GA_OK);
        assert_true(round == 0 || live_blocks() == live);
        gpuarray *first = ga_slice(x, ":1"), *total = ga_reshape(first, 0, NULL);
        assert_non_null(ga_sum(x, .out = total));
        assert_int_equal(ga_eval_into(total, "sum(x)", GA(x)), GA_OK);
        ga_free(first);
        ga_free(total);
        assert_true(round == 0 || live_blocks() == live);
    }
    ga_kernel_free(kernel);
    ga_free(high);
    ga_free(low);
    ga_free(x);
}

#define TEST(name) cmocka_unit_test_teardown(name, clear)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(elementwise_kernels_stay_inside),
        TEST(complex_products_in_place_stay_inside),
        TEST(results_that_go_past_the_cache_stay_inside),
        TEST(reductions_stay_inside),
        simulated_test(held_columns_stay_inside),
        TEST(selections_stay_inside),
        TEST(draws_stay_inside),
        TEST(gathers_stay_inside),
        TEST(texts_with_i_run_for_elements_alone),
        TEST(texts_are_read_as_they_are_meant),
        TEST(views_of_any_rank_are_reached_into),
        TEST(assignments_over_themselves_read_first),
        TEST(sums_over_their_operands_read_first),
        TEST(arrays_of_one_size_run_flat),
        TEST(what_a_call_copies_is_freed),
        TEST(kept_memory_has_a_limit),
        TEST(small_blocks_are_not_kept),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
