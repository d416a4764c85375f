/* Products of matrices and vectors: NumPy's answers, and random shapes, strides, stacks and dtypes
 * against sums in C, by libraries and by Quarry's own kernels, which the simulator runs too. */
#include <dlfcn.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "array/array.h"
#include "array_support.h"
#include "base/alloc.h"
#ifdef QUARRY_CUDA
#include "device/cuda/cublaslt.h"
#endif
#include "golden.h"
#include "kernels/product/product.h"
#include "kernels/product/product_library.h"
#include "kernels/product/product_plan.h"
#include "model/layout.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"
#include "views.h"

/* ---- NumPy's answers ---- */

static gpuarray *call(const char *name, const gpuarray *a, const gpuarray *b)
{
    if (strcmp(name, "matmul") == 0)
        return ga_matmul(a, b);
    if (strcmp(name, "matvec") == 0)
        return ga_matvec(a, b);
    return strcmp(name, "vecmat") == 0 ? ga_vecmat(a, b) : ga_dot(a, b);
}

static void answers_are_numpys(void **state)
{
    (void)state;
    char why[300];
    golden_file *file = golden_open("products.bin");
    for (int k = 0; k < file->ncases; k++) {
        const golden_case *c = &file->cases[k];
        if (!in_sample(golden_call(c)))
            continue;
        GA_SCOPE {
            const gpuarray *a = golden_array(c->arg[0]), *b = golden_array(c->arg[1]);
            gpuarray *got = call(c->name, a, b);
            if (c->flags & GOLDEN_ERROR) {
                assert_null(got);
                if (strstr(ga_error_message(), c->name) != ga_error_message())
                    fail_msg("%s: \"%s\"", c->name, ga_error_message());
                ga_clear_error();
            } else if (!golden_result(c, c->out[0], got, 1, why, sizeof why)) {
                fail_msg("case %d, %s: %s%s", k, golden_call(c), why,
                         got ? "" : ga_error_message());
            }
        }
    }
    golden_close(file);
}

/* ---- Sums in C ---- */

enum { MOST = 48, STACKS = 3 };

/* A random product. Elements are small whole numbers, whose sums are exact in any dtype. */
typedef struct product {
    ga_dtype a_dtype, b_dtype, out_dtype;
    int64_t m, n, k, stack[STACKS];
    int stacks;
    double alpha, beta;
    bool tf32; /* which holds the numbers */
    view a, b, out;
} product;

static double number_at(ga_dtype dtype, const void *element)
{
    return ga__number_double(ga__dtype_fetch(dtype, element));
}

static gpuarray *small_numbers(ga_dtype dtype, int ndim, const int64_t *shape, uint64_t *seed)
{
    int64_t count = 1;
    for (int k = 0; k < ndim; k++)
        count *= shape[k];
    const size_t size = ga_dtype_size(dtype);
    char *bytes = calloc((size_t)count + 1, size);
    assert_non_null(bytes);
    for (int64_t k = 0; k < count; k++)
        ga__dtype_store(dtype, ga_value_int((int)random_below(seed, dtype == GA_BOOL ? 2 : 4)),
                        bytes + (size_t)k * size);
    gpuarray *x = ga_from_host(bytes, dtype, ndim, shape);
    free(bytes);
    assert_non_null(x);
    return x;
}

/* A view with strides of any kind over a base that is longer along every axis. */
static view operand(ga_dtype dtype, int ndim, const int64_t *shape, uint64_t *seed)
{
    int64_t base[VIEW_AXES], longest = 1;
    for (int k = 0; k < ndim; k++)
        longest = shape[k] > longest ? shape[k] : longest;
    if (random_below(seed, 2))
        return view_whole(small_numbers(dtype, ndim, shape, seed));
    int64_t budget = 400000;
    for (int k = 0; k < ndim; k++) {
        base[k] = longest + random_below(seed, 3);
        budget /= base[k];
    }
    if (budget < 1)
        return view_whole(small_numbers(dtype, ndim, shape, seed));
    return view_random(small_numbers(dtype, ndim, base, seed), shape, seed);
}

static int64_t random_length(uint64_t *seed)
{
    static const int64_t some[] = {1, 1, 2, 3, 5, 8, 13, 16, 17, 31, 32, 33, 47};
    return some[random_below(seed, (int64_t)(sizeof some / sizeof *some))];
}

static ga_dtype random_dtype(uint64_t *seed)
{
    return (ga_dtype)(GA_BOOL + random_below(seed, GA_DTYPE_COUNT - GA_BOOL));
}

/* If `side` is not 0, of a stack of matrices with sides up to that, in any layout. */
static product random_product(ga_dtype dtype, int side, uint64_t *seed)
{
    const int many = side > 20 ? 12 : 300; /* matrices along an axis are less */
    int64_t a[VIEW_AXES], b[VIEW_AXES], out[VIEW_AXES];
    product p = {.m = side ? 1 + random_below(seed, side) : random_length(seed),
                 .n = side ? 1 + random_below(seed, side) : random_length(seed),
                 .k = side ? 1 + random_below(seed, side) : random_length(seed)};
    p.a_dtype = p.b_dtype = dtype != GA_NO_DTYPE ? dtype : random_dtype(seed);
    if (dtype == GA_NO_DTYPE && random_below(seed, 5) == 0)
        p.b_dtype = random_dtype(seed);
    p.out_dtype = ga_result_type(p.a_dtype, p.b_dtype);
    p.stacks = side ? 1 + (int)random_below(seed, STACKS - 1) : (int)random_below(seed, STACKS);
    for (int k = 0; k < p.stacks; k++) {
        out[k] = p.stack[k] = 1 + random_below(seed, side && k == 0 ? many : 3);
        a[k] = random_below(seed, 3) ? p.stack[k] : 1;
        b[k] = a[k] < p.stack[k] || random_below(seed, 3) ? p.stack[k] : 1;
    }
    a[p.stacks] = out[p.stacks] = p.m;
    a[p.stacks + 1] = b[p.stacks] = p.k;
    b[p.stacks + 1] = out[p.stacks + 1] = p.n;
    p.a = operand(p.a_dtype, p.stacks + 2, a, seed);
    p.b = operand(p.b_dtype, p.stacks + 2, b, seed);
    p.out = operand(p.out_dtype, p.stacks + 2, out, seed);
    p.alpha = random_below(seed, 3) ? 0 : 2;
    p.beta = random_below(seed, 3) ? 0 : 3;
    p.tf32 = random_below(seed, 2);
    return p;
}

/* All elements of a view, in C order. */
static char *elements(const gpuarray *x)
{
    char *bytes = malloc(ga_nbytes(x) + 1);
    assert_non_null(bytes);
    assert_int_equal(ga_to_host(x, bytes, ga_nbytes(x)), GA_OK);
    return bytes;
}

/* The offset of a stack's matrix in an operand, which repeats along axes of length 1. */
static int64_t matrix_at(const view *v, int stacks, const int64_t *at)
{
    int64_t offset = 0;
    for (int k = 0; k < stacks; k++)
        offset = offset * v->shape[k] + (v->shape[k] == 1 ? 0 : at[k]);
    return offset * v->shape[stacks] * v->shape[stacks + 1];
}

static double sum_of(const product *p, const char *a, const char *b, int64_t row, int64_t column)
{
    double sum = 0;
    for (int64_t l = 0; l < p->k; l++)
        sum += number_at(p->a_dtype, a + (size_t)(row * p->k + l) * ga_dtype_size(p->a_dtype)) *
               number_at(p->b_dtype, b + (size_t)(l * p->n + column) * ga_dtype_size(p->b_dtype));
    return sum;
}

static void store(ga_dtype dtype, double number, void *to)
{
    if (ga__dtype_kind(dtype) == 'i' || ga__dtype_kind(dtype) == 'u') /* wraps around */
        memcpy(to, &(int64_t){(int64_t)number}, ga_dtype_size(dtype));
    else
        ga__dtype_store(dtype, ga_value_double(number), to);
}

/* What each element of `out` becomes, given what it was. */
static void expect(const product *p, const char *a, const char *b, char *out)
{
    const size_t size = ga_dtype_size(p->out_dtype);
    int64_t places = 1, at[STACKS];
    for (int k = 0; k < p->stacks; k++)
        places *= p->stack[k];
    for (int64_t place = 0; place < places; place++) {
        int64_t rest = place;
        for (int k = p->stacks - 1; k >= 0; k--) {
            at[k] = rest % p->stack[k];
            rest /= p->stack[k];
        }
        const char *left = a + (size_t)matrix_at(&p->a, p->stacks, at) * ga_dtype_size(p->a_dtype);
        const char *right = b + (size_t)matrix_at(&p->b, p->stacks, at) * ga_dtype_size(p->b_dtype);
        for (int64_t k = 0; k < p->m * p->n; k++, out += size) {
            const double alpha = p->alpha == 0 ? 1 : p->alpha;
            const double before = p->beta == 0 ? 0 : p->beta * number_at(p->out_dtype, out);
            store(p->out_dtype, alpha * sum_of(p, left, right, k / p->n, k % p->n) + before, out);
        }
    }
}

static const char *text_of(const product *p)
{
    static char text[300];
    snprintf(text, sizeof text, "%s @ %s, (%d, %d) @ (%d, %d), %d stacks, alpha %g, beta %g%s",
             ga_dtype_name(p->a_dtype), ga_dtype_name(p->b_dtype), (int)p->m, (int)p->k, (int)p->k,
             (int)p->n, p->stacks, p->alpha, p->beta, p->tf32 ? ", tf32" : "");
    return text;
}

/* Of this dtype, or of any for GA_NO_DTYPE. */
static void check_random_of(ga_dtype dtype, int side, uint64_t seed)
{
    GA_SCOPE {
        product p = random_product(dtype, side, &seed);
        char *a = elements(p.a.array), *b = elements(p.b.array), *wanted = elements(p.out.array);
        expect(&p, a, b, wanted);
        const gpuarray *got = ga_matmul(p.a.array, p.b.array, .out = p.out.array, .alpha = p.alpha,
                                        .beta = p.beta, .tf32 = p.tf32);
        if (!got)
            fail_msg("%s: %s", text_of(&p), ga_error_message());
        char *found = elements(p.out.array);
        const size_t size = ga_dtype_size(p.out_dtype);
        for (int64_t k = 0; k < ga_size(got); k++)
            if (number_at(p.out_dtype, found + (size_t)k * size) !=
                number_at(p.out_dtype, wanted + (size_t)k * size))
                fail_msg("%s: element %d is %g, wanted %g", text_of(&p), (int)k,
                         number_at(p.out_dtype, found + (size_t)k * size),
                         number_at(p.out_dtype, wanted + (size_t)k * size));
        free(a), free(b), free(wanted), free(found);
    }
}

static void check_random(uint64_t seed)
{
    check_random_of(GA_NO_DTYPE, 0, seed);
}

static void random_products_are_their_sums(void **state)
{
    (void)state;
    const int count = items_here(80, 40);
    for (int k = 0; k < count; k++)
        if (in_short_sample("random products", k, count))
            check_random(77 + (uint64_t)k * 1000003);
}

/* On the host each lane of a vector computes one. */
static void stacks_of_little_products_are_their_sums(void **state)
{
    (void)state;
    const int count = items_here(60, 30);
    for (int k = 0; k < count; k++)
        if (in_short_sample("little products", k, count))
            check_random_of(GA_NO_DTYPE, 12, 78 + (uint64_t)k * 1000003);
}

/* ---- Larger matrices, of several tiles and panels ---- */

static void check_large(ga_dtype dtype, int64_t m, int64_t n, int64_t k, bool turned)
{
    GA_SCOPE {
        uint64_t seed = (uint64_t)(m + n + k);
        product p = {
            .a_dtype = dtype, .b_dtype = dtype, .out_dtype = dtype, .m = m, .n = n, .k = k};
        p.a = operand(dtype, 2, (int64_t[]){m, k}, &seed);
        const gpuarray *b =
            small_numbers(dtype, 2, turned ? (int64_t[]){n, k} : (int64_t[]){k, n}, &seed);
        p.b = view_whole(ga_copy(turned ? ga_transpose(b) : b));
        gpuarray *got = ga_matmul(p.a.array, turned ? ga_transpose(b) : b);
        if (!got)
            fail_msg("%s: %s", text_of(&p), ga_error_message());
        char *left = elements(p.a.array), *right = elements(p.b.array), *found = elements(got);
        for (int64_t at = 0; at < m * n; at += 1 + at % 37) {
            char wanted[16];
            store(dtype, sum_of(&p, left, right, at / n, at % n), wanted);
            if (number_at(dtype, wanted) !=
                number_at(dtype, found + (size_t)at * ga_dtype_size(dtype)))
                fail_msg("%s: element %d", text_of(&p), (int)at);
        }
        free(left), free(right), free(found);
    }
}

static void tiles_and_panels_meet(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_BOOL,    GA_INT8,      GA_INT16,
                                      GA_INT64,   GA_FLOAT16,   GA_FLOAT32,
                                      GA_FLOAT64, GA_COMPLEX64, GA_COMPLEX128};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        if (!in_short_sample("tiles and panels", (int)k, sizeof dtypes / sizeof *dtypes))
            continue;
        check_large(dtypes[k], 200, 300, 520, false);
        check_large(dtypes[k], 131, 129, 257, true);
        check_large(dtypes[k], 1, 1000, 700, true);
        check_large(dtypes[k], 1000, 1, 70, false);
    }
}

/* ---- CUDA's kernels in the simulator ---- */

/* The plan of stacks of C-ordered matrices on the simulated device, which runs none of them. */
static void plan_stack(ga_dtype dtype, int64_t places, const int64_t lengths[3], bool tf32,
                       ga__product_plan *plan)
{
    const int64_t m = lengths[0], n = lengths[1], k = lengths[2];
    static int64_t shape[3][3], strides[3][3];
    static ga__buffer buffer = {.device = &simulated_device};
    static gpuarray x[3];
    static ga__product call;
    const int64_t matrix[3][2] = {{m, k}, {k, n}, {m, n}};
    for (int o = 0; o < 3; o++) {
        const int64_t own[] = {places, matrix[o][0], matrix[o][1]};
        memcpy(shape[o], own, sizeof own);
        ga__contiguous_strides(3, own, (int64_t)ga_dtype_size(dtype), strides[o]);
        x[o] = (gpuarray){.dtype = dtype,
                          .ndim = 3,
                          .shape = shape[o],
                          .strides = strides[o],
                          .buffer = &buffer,
                          .size = places * own[1] * own[2]};
    }
    call = (ga__product){
        .name = "matmul", .a = &x[0], .b = &x[1], .c = &x[2], .type = dtype, .tf32 = tf32};
    ga__product_plan_read(plan, &call);
    ga__product_plan_tiles(plan);
}

static int words_of(ga_dtype dtype)
{
    return (int)ga__product_word_bytes(dtype, false);
}

/* A team covers its product, in few registers; a block fits a multiprocessor several times. */
static void teams_cover_little_products(void **state)
{
    static const ga_dtype dtypes[] = {GA_FLOAT32,   GA_UINT32, GA_FLOAT64,
                                      GA_COMPLEX64, GA_INT16,  GA_FLOAT16};
    uint64_t seed = 91;
    int ahead = 0;
    (void)state;
    for (int k = 0; k < 3000; k++) {
        const ga_dtype dtype = dtypes[k % 6];
        const int64_t places = 2 + random_below(&seed, 100000);
        const bool tf32 = k % 12 == 0 && dtype == GA_FLOAT32;
        int64_t length[3];
        for (int axis = 0; axis < 3; axis++)
            length[axis] = 2 + random_below(&seed, axis < 2 ? 70 : 200);
        ga__product_plan p;
        plan_stack(dtype, places, length, tf32, &p);
        assert_int_equal(p.v.little,
                         length[0] <= 64 && length[1] <= 256 / words_of(dtype) &&
                             (length[2] <= 64 || length[0] * length[1] <= 1024 || tf32));
        if (!p.v.little)
            continue;
        const int teams = ga__product_teams(&p.v);
        const int down = p.v.tensor ? 16 : p.v.side, depth = 4 << p.v.depth;
        const int wide = ga__product_wide(&p.v) * (p.v.tensor ? 8 : 1);
        const int sums = p.v.rows * p.v.columns * (p.v.tensor ? 4 : 1);
        assert_true(p.v.rows * down >= p.m && p.v.columns * wide >= p.n);
        assert_true((p.v.rows - 1) * down < p.m && (depth >= p.k || depth == 64));
        assert_true(sums * words_of(dtype) <= 256);
        assert_int_equal(teams * ga__product_team(&p.v), p.block);
        assert_true(p.blocks == (places + teams - 1) / teams ||
                    (p.v.ahead && p.blocks == p.resident && p.blocks < places));
        assert_in_range(p.shared_bytes, 1, (p.v.ahead ? 76 : 56) << 10);
        ahead += p.v.ahead;
    }
    assert_in_range(ahead, 10, 2000);
}

/* A GPU of compute capability 7.5 has 64 KiB for a block, which two stages of 64 x 64 x 64 exceed.
 */
static void stages_fit_the_devices_blocks(void **state)
{
    static const int64_t lengths[] = {64, 64, 64};
    const size_t before = simulated_device.shared_bytes;
    ga__product_plan p;
    (void)state;
    simulated_device.shared_bytes = 64 << 10;
    plan_stack(GA_FLOAT32, 1000, lengths, false, &p);
    assert_false(p.v.ahead);
    assert_in_range(p.shared_bytes, 1, 64 << 10);
    simulated_device.shared_bytes = 72 << 10;
    plan_stack(GA_FLOAT32, 1000, lengths, false, &p);
    assert_true(p.v.ahead);
    simulated_device.shared_bytes = before;
}

typedef struct choice {
    ga_dtype dtype;
    int64_t places, lengths[3];
    bool own;
} choice;

static void check_choices(const choice *cases, size_t count, bool tf32)
{
    for (size_t k = 0; k < count; k++) {
        ga__product_plan p;
        plan_stack(cases[k].dtype, cases[k].places, cases[k].lengths, tf32, &p);
        if (ga__product_needs_no_library(&p) != cases[k].own)
            fail_msg("case %d%s", (int)k, tf32 ? " of tf32" : "");
    }
}

/* Wide products go to the library unless teams are faster. */
static void few_products_need_no_library(void **state)
{
    static const choice cases[] = {
        {GA_FLOAT32, 100000, {64, 64, 64}, true},  {GA_FLOAT32, 20, {64, 64, 64}, false},
        {GA_FLOAT32, 100000, {48, 32, 64}, true},  {GA_FLOAT32, 100000, {47, 32, 63}, false},
        {GA_FLOAT32, 100000, {63, 63, 63}, false}, {GA_FLOAT32, 100000, {64, 63, 64}, false},
        {GA_FLOAT32, 100, {16, 16, 16}, true},     {GA_FLOAT32, 100, {7, 61, 5}, true},
        {GA_FLOAT64, 100000, {32, 32, 32}, false}, {GA_FLOAT64, 100000, {24, 24, 24}, true},
        {GA_FLOAT64, 100, {8, 8, 8}, true},        {GA_FLOAT32, 1, {8, 8, 8}, false},
        {GA_FLOAT16, 100000, {16, 16, 16}, true},  {GA_FLOAT16, 100000, {32, 32, 32}, true},
        {GA_FLOAT16, 100000, {12, 40, 40}, true},  {GA_BFLOAT16, 100000, {24, 24, 24}, true},
        {GA_FLOAT32, 4000, {13, 17, 300}, true},   {GA_FLOAT32, 2000, {64, 64, 128}, false},
        {GA_FLOAT32, 2000, {8, 64, 1000}, true},   {GA_FLOAT64, 100000, {21, 21, 21}, true},
        {GA_FLOAT32, 100000, {12, 41, 41}, true},  {GA_FLOAT32, 100000, {21, 21, 21}, false},
        {GA_COMPLEX64, 100000, {12, 20, 9}, true}, {GA_COMPLEX64, 100000, {13, 20, 9}, false},
        {GA_FLOAT16, 100000, {48, 48, 48}, true},
    };
    static const choice of_tf32[] = {
        {GA_FLOAT32, 100000, {64, 64, 64}, false}, {GA_FLOAT32, 100000, {48, 48, 48}, true},
        {GA_FLOAT32, 100000, {32, 32, 32}, true},  {GA_FLOAT32, 100000, {8, 8, 8}, true},
        {GA_FLOAT32, 100000, {33, 64, 64}, false}, {GA_FLOAT32, 100000, {63, 63, 63}, false},
        {GA_FLOAT32, 4000, {16, 16, 256}, true},   {GA_FLOAT32, 100000, {64, 64, 128}, false},
        {GA_FLOAT64, 100000, {32, 32, 32}, false},
    };
    (void)state;
    check_choices(cases, sizeof cases / sizeof *cases, false);
    check_choices(of_tf32, sizeof of_tf32 / sizeof *of_tf32, true);
}

/* Without a library, one row is a pass of the reduction engine over the matrix. */
static void rows_of_vectors_are_reduced(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *a = ga_remainder(ga_arange(GA_INT32, 0, 300, 1), 7),
                 *b = ga_reshape(ga_remainder(ga_arange(GA_INT32, 0, 300 * 70, 1), 5),
                                 GA_SHAPE(300, 70));
        gpuarray *wanted = ga_sum(ga_multiply(ga_reshape(a, GA_SHAPE(300, 1)), b), GA_AXIS(0));
        gpuarray *c = ga_matmul(a, b);
        assert_true(simulated.last.nwords != sizeof(ga__product_params) / sizeof(uint64_t));
        assert_true(ga_array_equal(c, wanted));
        ga_matmul(a, b, .out = c, .beta = 1); /* which the reduction engine cannot do */
        assert_int_equal(simulated.last.nwords, sizeof(ga__product_params) / sizeof(uint64_t));
        assert_true(ga_array_equal(c, ga_multiply(wanted, 2)));
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* A column times a row has one term in each sum: the elementwise engine multiplies. */
static void columns_times_rows_are_multiplied(void **state)
{
    (void)state;
    for (int dtype = GA_BOOL; dtype < GA_DTYPE_COUNT; dtype++)
        GA_SCOPE {
            uint64_t seed = 5 + (uint64_t)dtype;
            const gpuarray *a = small_numbers((ga_dtype)dtype, 3, (int64_t[]){30, 1, 33}, &seed),
                           *b = small_numbers((ga_dtype)dtype, 2, (int64_t[]){1, 21}, &seed);
            gpuarray *wanted = ga_multiply(ga_matrix_transpose(a), b);
            const size_t head = sizeof(ga__product_params) / sizeof(uint64_t);
            gpuarray *c = ga_matmul(ga_matrix_transpose(a), b);
            assert_true(simulated.last.nwords != head);
            assert_true(ga_array_equal(c, wanted));
            ga_matmul(ga_matrix_transpose(a), b, .out = c, .alpha = 2);
            assert_int_equal(simulated.last.nwords, head); /* the elementwise engine has no alpha */
        }
    GA_SCOPE {
        gpuarray *c = ga_matmul(ga_full(GA_FLOAT32, GA_SHAPE(15, 1), -0.0),
                                ga_ones(GA_FLOAT32, GA_SHAPE(1, 15)));
        assert_false(ga_item_bool(ga_any(ga_signbit(c)))); /* as a sum that begins with 0 */
    }
    assert_int_equal(ga_error(), GA_OK);
}

/* Teams of threads compute one each. */
static void simulated_little_products_are_their_sums(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_INT32,     GA_FLOAT16, GA_FLOAT64,
                                      GA_INT16,   GA_COMPLEX64, GA_FLOAT32};
    static const int sides[] = {64, 16, 32};
    const int count = 28;
    for (int k = 0; k < count; k++)
        if (in_short_sample("simulated little products", k, count))
            check_random_of(dtypes[k % 7], sides[k % 3], 79 + (uint64_t)k * 1000003);
}

/* A stack of matrices in C order, or of their transposes. */
typedef struct stack {
    ga_dtype dtype;
    int64_t lengths[3];
    bool tf32, a_turned, b_turned;
} stack;

static const gpuarray *matrices(ga_dtype dtype, int64_t places, int64_t rows, int64_t columns,
                                bool turned, uint64_t *seed)
{
    const int64_t shape[] = {places, turned ? columns : rows, turned ? rows : columns};
    const gpuarray *x = small_numbers(dtype, 3, shape, seed);
    return turned ? ga_matrix_transpose(x) : x;
}

/* Each product is the sums of its place. */
static void check_stack(const stack *s, int64_t places)
{
    GA_SCOPE {
        uint64_t seed = 3;
        product p = {
            .a_dtype = s->dtype, .m = s->lengths[0], .n = s->lengths[1], .k = s->lengths[2]};
        p.b_dtype = p.out_dtype = s->dtype;
        const gpuarray *a = matrices(s->dtype, places, p.m, p.k, s->a_turned, &seed),
                       *b = matrices(s->dtype, places, p.k, p.n, s->b_turned, &seed);
        const size_t size = ga_dtype_size(s->dtype);
        char *left = elements(a), *right = elements(b),
             *found = elements(ga_matmul(a, b, .tf32 = s->tf32));
        for (int64_t at = 0; at < places * p.m * p.n; at += 1 + at % 5) {
            const int64_t place = at / (p.m * p.n), row = at / p.n % p.m;
            const double wanted = sum_of(&p, left + (size_t)(place * p.m * p.k) * size,
                                         right + (size_t)(place * p.k * p.n) * size, row, at % p.n);
            if (number_at(s->dtype, found + (size_t)at * size) != wanted)
                fail_msg("%s: element %d of place %d", text_of(&p), (int)at, (int)place);
        }
        free(left), free(right), free(found);
    }
}

/* Blocks that multiply one product after another while the next factors come: vectors, and rows
 * that are none, with places of k left over. */
static void simulated_factors_come_ahead(void **state)
{
    (void)state;
    static const stack stacks[] = {{GA_FLOAT32, {64, 64, 64}, .tf32 = false},
                                   {GA_FLOAT32, {61, 63, 58}, .tf32 = false}};
    const size_t before = simulated_device.shared_bytes;
    simulated_device.shared_bytes = 72 << 10; /* for one block */
    for (size_t k = 0; k < sizeof stacks / sizeof *stacks; k++) {
        check_stack(&stacks[k], 7);
        assert_int_equal(simulated.last.grid, simulated_device.processors);
    }
    simulated_device.shared_bytes = before;
}

/* Warps multiply by tensor cores: one warp or two, words and pairs of halves, every direction, and
 * parts of k. */
static void simulated_tensors_multiply_stacks(void **state)
{
    static const struct {
        stack stack;
        int block;
    } cases[] = {{{GA_FLOAT32, {64, 64, 64}, .tf32 = true}, 64},
                 {{GA_FLOAT32, {37, 50, 130}, .tf32 = true, .a_turned = true}, 64},
                 {{GA_FLOAT32, {48, 32, 20}, .tf32 = true, .b_turned = true}, 64},
                 {{GA_FLOAT16, {40, 56, 64}, .a_turned = true}, 64},
                 {{GA_BFLOAT16, {16, 24, 8}, .b_turned = true}, 64}};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        check_stack(&cases[k].stack, 5);
        assert_int_equal(simulated.last.block, cases[k].block);
    }
}

/* ---- float32 by tensor cores ---- */

enum { SIDE = 64, PLACES = 4 };
typedef float matrix[SIDE][SIDE];

/* The nearest number of 10 bits of fraction, ties away from 0; NaNs of any bits stay NaN. */
static void simulated_tf32_is_rounded(void **state)
{
    static const uint32_t cases[][2] = {
        {0x3f801000, 0x3f802000}, {0xbf801000, 0xbf802000}, {0x3f800fff, 0x3f800000},
        {0x3f802fff, 0x3f802000}, {0x7f7fffff, 0x7f800000}, {0x7fffffff, 0x7fc00000},
        {0xffffffff, 0x7fc00000}, {0xff800000, 0xff800000}, {0x00801fff, 0x00802000}};
    static matrix a[PLACES], b[PLACES], c[PLACES];
    const int64_t shape[] = {PLACES, SIDE, SIDE};
    (void)state;
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        memcpy(&a[1][k][k], &cases[k][0], sizeof(float));
        b[1][k][k] = 1;
    }
    GA_SCOPE {
        const gpuarray *x = ga_from_host(a, GA_FLOAT32, 3, shape),
                       *y = ga_from_host(b, GA_FLOAT32, 3, shape);
        assert_int_equal(ga_to_host(ga_matmul(x, y, .tf32 = true), c, sizeof c), GA_OK);
    }
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        float wanted;
        memcpy(&wanted, &cases[k][1], sizeof wanted);
        if (isnan(wanted) ? !isnan(c[1][k][k]) : c[1][k][k] != wanted)
            fail_msg("case %d is %g, wanted %g", (int)k, (double)c[1][k][k], (double)wanted);
    }
}

/* Parts of k, the last one of few places. */
static void simulated_parts_of_little_products_add_up(void **state)
{
    (void)state;
    check_stack(&(stack){GA_FLOAT32, {16, 12, 200}, .tf32 = false}, 3);
    assert_int_equal(simulated.last.block, 64);
    check_stack(&(stack){GA_INT16, {13, 7, 131}, .tf32 = false}, 3);
    assert_int_equal(simulated.last.block, 64);
}

static void simulated_tiles_have_the_hosts_results(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_BOOL,      GA_INT8,    GA_UINT16,
                                      GA_INT64,     GA_FLOAT16, GA_FLOAT32,
                                      GA_COMPLEX64, GA_FLOAT64, GA_COMPLEX128};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        if (!in_short_sample("simulated tiles", (int)k, sizeof dtypes / sizeof *dtypes))
            continue;
        const int before = simulated.launches;
        check_large(dtypes[k], 70, 150, 67, k % 2);
        check_large(dtypes[k], 131, 129, 33, (k + 1) % 2);
        check_large(dtypes[k], 9, 5, 3, false);
        check_large(dtypes[k], 140, 132, 80, k % 2); /* vectors, and some elements behind them */
        check_large(dtypes[k], 136, 144, 112, (k + 1) % 2);
        assert_true(simulated.launches > before);
    }
    for (int k = 0; k < 12; k++)
        if (in_short_sample("simulated products", k, 12))
            check_random(5 + (uint64_t)k * 1009);
}

/* Rows that are aligned, but no whole vectors: other memory follows their elements. */
static void parts_of_aligned_rows_are_multiplied_alone(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_INT8, GA_FLOAT32, GA_FLOAT64};
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        GA_SCOPE {
            uint64_t seed = k;
            const gpuarray *a = small_numbers(dtypes[k], 2, (int64_t[]){144, 80}, &seed),
                           *b = small_numbers(dtypes[k], 2, (int64_t[]){80, 144}, &seed),
                           *left = ga_slice(a, ":, :77"), *right = ga_slice(b, ":77, :133"),
                           *wanted = ga_matmul(ga_copy(left), ga_copy(right));
            assert_arrays_equal(ga_matmul(left, right), wanted);
            assert_arrays_equal(
                ga_copy(ga_transpose(ga_matmul(ga_transpose(right), ga_transpose(left)))), wanted);
        }
}

/* By the host's library, and by CUDA's kernels in the simulator. */
static void complex_numbers_scale(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_COMPLEX64, GA_COMPLEX128};
    for (int k = 0; k < 4; k++)
        GA_SCOPE {
            uint64_t seed = (uint64_t)k;
            const ga_dtype dtype = dtypes[k / 2];
            const int64_t rows = k % 2 ? 1 : 20;
            const gpuarray *a = small_numbers(dtype, 2, (int64_t[]){rows, 17}, &seed),
                           *b = small_numbers(dtype, 2, (int64_t[]){17, 18}, &seed),
                           *c = small_numbers(dtype, 2, (int64_t[]){rows, 18}, &seed),
                           *p = ga_matmul(a, b);
            assert_arrays_equal(ga_matmul(a, b, .out = ga_copy(c), .alpha = 2, .beta = 1,
                                          .alpha_imag = -3, .beta_imag = 2),
                                ga_eval("(2 - 3j) * p + (1 + 2j) * c", GA(p), GA(c)));
            assert_arrays_equal(ga_matmul(a, b, .alpha_imag = 1), ga_eval("1j * p", GA(p)));
            assert_arrays_equal(
                ga_dot(a, ga_slice(b, ":, 0"), .out = ga_copy(ga_slice(c, ":, 0")), .beta_imag = 1),
                ga_eval("p[:, 0] + 1j * c[:, 0]", GA(p), GA(c)));
        }
}

/* ---- The same bits ---- */

static void results_have_the_same_bits(void **state)
{
    (void)state;
    GA_SCOPE {
        ga_rng *rng = ga_rng_new(5);
        const gpuarray *a = ga_rng_normal(rng, GA_FLOAT32, 0, 1, GA_SHAPE(300, 2000)),
                       *b = ga_rng_normal(rng, GA_FLOAT32, 0, 1, GA_SHAPE(2000, 70));
        ga_rng_free(rng);
        const gpuarray *first = ga_matmul(a, b);
        for (int k = 0; k < 5; k++)
            assert_arrays_equal(ga_matmul(a, b), first);
    }
}

/* ---- Results in `out` ---- */

static void results_may_overlap_operands(void **state)
{
    (void)state;
    GA_SCOPE {
        uint64_t seed = 9;
        for (int k = 0; k < 2; k++) {
            const ga_dtype dtype = k ? GA_INT32 : GA_FLOAT32;
            gpuarray *a = small_numbers(dtype, 2, (int64_t[]){40, 40}, &seed);
            const gpuarray *b = small_numbers(dtype, 2, (int64_t[]){40, 40}, &seed);
            const gpuarray *wanted = ga_matmul(a, b), *square = ga_matmul(b, b);
            assert_ptr_equal(ga_matmul(a, b, .out = a), a);
            assert_arrays_equal(a, wanted);
            assert_non_null(ga_matmul(a, b, .out = ga_transpose(a)));
            assert_arrays_equal(ga_copy(ga_transpose(a)), ga_matmul(wanted, b));
            assert_non_null(square);
            assert_non_null(ga_matmul(b, b, .out = a));
            assert_arrays_equal(a, square);
        }
    }
}

/* Of several tiles: the second reads what the first would have replaced. */
static void results_may_be_parts_of_either_operand(void **state)
{
    (void)state;
    uint64_t seed = 19;
    for (int64_t n = 40; n < 700; n += 240)
        for (int which = 0; which < 4; which++)
            GA_SCOPE {
                gpuarray *x = small_numbers(GA_FLOAT32, 2, (int64_t[]){n, n}, &seed),
                         *y = small_numbers(GA_FLOAT32, 2, (int64_t[]){n + 1, n}, &seed),
                         *over = ga_slice(y, "1:"), *under = ga_slice(y, ":-1");
                gpuarray *out = which % 2 ? over : under, *operand = which / 2 ? over : under;
                const gpuarray *left = ga_matmul(operand, x), *right = ga_matmul(x, operand),
                               *whole = ga_copy(y);
                assert_ptr_equal(ga_matmul(operand, x, .out = out), out);
                assert_arrays_equal(out, left);
                assert_int_equal(ga_assign(y, whole), GA_OK);
                assert_ptr_equal(ga_matmul(x, operand, .out = out), out);
                assert_arrays_equal(out, right);
            }
}

static void out_takes_other_dtypes_and_layouts(void **state)
{
    (void)state;
    GA_SCOPE {
        uint64_t seed = 4;
        const gpuarray *a = small_numbers(GA_FLOAT32, 2, (int64_t[]){30, 20}, &seed),
                       *b = small_numbers(GA_FLOAT32, 2, (int64_t[]){20, 25}, &seed);
        const gpuarray *wanted = ga_matmul(a, b);
        gpuarray *wide = ga_zeros(GA_FLOAT64, GA_SHAPE(30, 25)),
                 *turned = ga_transpose(ga_zeros(GA_FLOAT32, GA_SHAPE(25, 30))),
                 *apart = ga_slice(ga_zeros(GA_FLOAT32, GA_SHAPE(60, 50)), "::2, ::2");
        assert_non_null(ga_matmul(a, b, .out = wide));
        assert_non_null(ga_matmul(a, b, .out = turned));
        assert_non_null(ga_matmul(a, b, .out = apart));
        assert_arrays_equal(ga_astype(wide, GA_FLOAT32), wanted);
        assert_arrays_equal(ga_copy(turned), wanted);
        assert_arrays_equal(ga_copy(apart), wanted);
        assert_non_null(ga_matmul(a, b, .out = apart, .alpha = 0.5, .beta = 0.5));
        assert_arrays_equal(ga_copy(apart), wanted);
    }
}

/* ---- Refusals ---- */

static void bad_calls_are_refused(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *a = ga_ones(GA_FLOAT32, GA_SHAPE(2, 3)), *b = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4)),
                 *whole = ga_ones(GA_INT32, GA_SHAPE(3, 3)), *none = NULL;
        assert_null(ga_matmul(a, a));
        expect_raised(GA_ERR_SHAPE, "matmul: shapes (2, 3) and (2, 3) do not match");
        assert_null(ga_matmul(ga_sum(a), b));
        expect_raised(GA_ERR_INVALID, "matmul: operand 1 has 0 dimensions, expected at least 1");
        assert_null(ga_matvec(ga_ravel(a), ga_ravel(a)));
        expect_raised(GA_ERR_INVALID, "matvec: operand 1 has 1 dimensions, expected at least 2");
        assert_null(ga_matmul(none, b));
        expect_raised(GA_ERR_INVALID, "matmul: operand 1 is NULL");
        assert_null(ga_matmul(a, b, .beta = 1));
        expect_raised(GA_ERR_INVALID, "matmul: beta is 1, but there is no out");
        assert_null(ga_matmul(a, b, .beta_imag = 1));
        expect_raised(GA_ERR_INVALID, "matmul: beta_imag is 1, but there is no out");
        assert_null(ga_matmul(a, b, .alpha_imag = 2));
        expect_raised(GA_ERR_INVALID, "matmul: alpha_imag is 2, and the result float32");
        assert_null(ga_matmul(whole, whole, .alpha = 0.5));
        expect_raised(GA_ERR_INVALID, "matmul: alpha is 0.5, not a whole number, and the result");
        assert_null(ga_matmul(a, b, .out = ga_ones(GA_FLOAT32, GA_SHAPE(3, 2, 4))));
        expect_raised(GA_ERR_SHAPE, "matmul: the result has shape (2, 4), out has (3, 2, 4)");
        assert_null(ga_matmul(a, b, .out = ga_ones(GA_INT32, GA_SHAPE(2, 4))));
        expect_raised(GA_ERR_DTYPE,
                      "matmul: the result is float32 and does not cast to out's int32");
        assert_null(ga_matmul(
            a, b, .out = ga_broadcast_to(ga_ones(GA_FLOAT32, GA_SHAPE(4)), GA_SHAPE(2, 4))));
        expect_raised(GA_ERR_INVALID, "matmul: ");
        assert_null(ga_dot(ga_ones(GA_FLOAT32, GA_SHAPE(3)), ga_ones(GA_FLOAT32, GA_SHAPE(4))));
        expect_raised(GA_ERR_SHAPE, "dot: shapes (3,) and (4,) do not match");
    }
}

/* Of every number of dimensions, as ga_matmul() does. */
static void bad_dots_are_refused(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *a = ga_ones(GA_FLOAT32, GA_SHAPE(2, 3, 4)),
                 *b = ga_ones(GA_FLOAT32, GA_SHAPE(5, 4, 6)), *number = ga_sum(a);
        assert_null(ga_dot(a, b, .beta = 2));
        expect_raised(GA_ERR_INVALID, "dot: beta is 2, but there is no out");
        assert_null(ga_dot(ga_slice(a, "0, 0"), ga_slice(b, "0, :, 0"), .beta = 2));
        expect_raised(GA_ERR_INVALID, "dot: beta is 2, but there is no out");
        assert_null(ga_dot(a, b, .out = ga_ones(GA_FLOAT32, GA_SHAPE(2, 3, 5, 1))));
        expect_raised(GA_ERR_SHAPE, "dot: the result has shape (2, 3, 5, 6), out has (2, 3, 5, 1)");
        assert_null(ga_dot(number, number, .out = ga_ones(GA_FLOAT32, GA_SHAPE(3))));
        expect_raised(GA_ERR_SHAPE, "dot: the result has shape (), out has (3,)");
        assert_null(ga_dot(a, number, .out = ga_ones(GA_FLOAT32, GA_SHAPE(2, 2, 3, 4))));
        expect_raised(GA_ERR_SHAPE, "dot: the result has shape (2, 3, 4), out has (2, 2, 3, 4)");
    }
}

/* ---- cuBLASLt: a library of the tests stands for it ---- */

#ifdef QUARRY_CUDA
typedef struct fake {
    int *choices, *products, *live, *broken, *schemes;
} fake;

/* The library's counts, and the simulated device with it. */
static fake use_fake(void)
{
    void *library = dlopen(simulate_cublaslt(), RTLD_NOW);
    assert_non_null(library);
    return (fake){dlsym(library, "fake_choices"), dlsym(library, "fake_products"),
                  dlsym(library, "fake_live"), dlsym(library, "fake_broken"),
                  dlsym(library, "fake_schemes")};
}

static void way_of_each_shape_is_chosen_once(void **state)
{
    (void)state;
    const fake f = use_fake();
    char found[4200];
    assert_int_equal(ga__cublaslt_found(found, sizeof found), GA_OK);
    assert_non_null(strstr(found, "cuBLASLt 12.3.4, "));
    for (int k = 0; k < 3; k++)
        check_large(GA_FLOAT32, 20, 30, 40, false);
    assert_int_equal(*f.choices, 1);
    assert_int_equal(*f.products, 3);
    check_large(GA_FLOAT32, 20, 30, 40, true);
    check_large(GA_FLOAT64, 20, 30, 40, true);
    assert_int_equal(*f.choices, 3);
    ga__cublaslt_close(&simulated_device);
    assert_int_equal(*f.live, 0);
}

/* The parts of k of a 16-bit product meet in float32, so that the result is rounded once. */
static void parts_of_sixteen_bits_are_not_rounded(void **state)
{
    (void)state;
    const fake f = use_fake();
    check_large(GA_FLOAT32, 20, 30, 40, false);
    assert_int_equal(*f.schemes, 7);
    check_large(GA_FLOAT16, 20, 30, 40, false); /* by the own kernel: the fake has no way */
    assert_int_equal(*f.schemes, 2);
    ga__cublaslt_close(&simulated_device);
}

static void library_gets_strides_stacks_and_numbers(void **state)
{
    (void)state;
    const fake f = use_fake();
    const int before = *f.products;
    for (int k = 0; k < 40; k++)
        check_random_of(k % 2 ? GA_FLOAT32 : GA_FLOAT64, false, 11 + (uint64_t)k * 1009);
    assert_true(*f.products > before + 10);
}

static void more_shapes_than_places_are_forgotten(void **state)
{
    (void)state;
    const fake f = use_fake();
    ga__cublaslt_close(&simulated_device);
    for (int64_t k = 0; k < 600; k++)
        GA_SCOPE {
            const gpuarray *a = ga_ones(GA_FLOAT32, GA_SHAPE(2, 3 + k)),
                           *b = ga_ones(GA_FLOAT32, GA_SHAPE(3 + k, 2));
            assert_non_null(ga_matmul(a, b));
            assert_true(*f.live <= 4 * 256 + 1);
        }
    ga__cublaslt_close(&simulated_device);
    assert_int_equal(*f.live, 0);
}

static void own_kernels_replace_a_missing_way(void **state)
{
    (void)state;
    const fake f = use_fake();
    const int before = *f.products;
    check_large(GA_FLOAT32, 20, 13, 40, false);
    assert_int_equal(*f.products, before);
}

/* For want of a newer driver. */
static void own_kernels_replace_a_library_that_does_not_start(void **state)
{
    (void)state;
    const fake f = use_fake();
    const int before = *f.products, live = *f.live;
    ga__cublaslt_close(&simulated_device);
    *f.broken = 1;
    for (int k = 0; k < 2; k++)
        check_large(GA_FLOAT32, 20, 13, 41, false);
    ga__cublaslt_close(&simulated_device);
    *f.broken = 0;
    assert_int_equal(*f.products, before);
    assert_true(*f.live <= live);
    check_large(GA_FLOAT32, 20, 30, 40, false);
    assert_int_equal(*f.products, before + 1);
}
#endif

/* ---- Memory, graphs, streams ---- */

static bool multiply_some(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *a = ga_ones(GA_FLOAT32, GA_SHAPE(20, 30)),
                 *b = ga_ones(GA_FLOAT32, GA_SHAPE(30, 20)),
                 *whole = ga_ones(GA_INT32, GA_SHAPE(30, 30)),
                 *apart =
                     a && b ? ga_slice(ga_ones(GA_FLOAT32, GA_SHAPE(40, 40)), "::2, ::2") : NULL;
        done = apart && whole && ga_matmul(a, b, .out = apart) && ga_matmul(whole, whole) &&
               ga_matmul(whole, whole, .out = whole) && ga_matmul(whole, b) &&
               ga_matvec(whole, ga_slice(whole, "0")) && ga_dot(a, b);
    }
    return done;
}

static void failed_allocations_leave_nothing(void **state)
{
    (void)state;
    assert_true(multiply_some());
    survive_failures(multiply_some);
}

static void products_can_be_recorded(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *a = ga_zeros(GA_FLOAT32, GA_SHAPE(33, 33)),
                 *b = ga_ones(GA_FLOAT32, GA_SHAPE(33, 33)), *out = ga_zeros_like(a),
                 *whole = ga_zeros(GA_INT32, GA_SHAPE(5, 5)), *powers = ga_zeros_like(whole);
        ga_graph *graph;
        GA_GRAPH(graph)
        {
            ga_matmul(a, b, .out = out);
            ga_matmul(whole, whole, .out = powers);
        }
        assert_non_null(graph);
        for (int k = 1; k < 4; k++) {
            assert_int_equal(ga_assign(a, k), GA_OK);
            assert_int_equal(ga_assign(whole, k), GA_OK);
            assert_int_equal(ga_graph_launch(graph), GA_OK);
            assert_true(ga_item_bool(ga_all(ga_equal(out, 33 * k))));
            assert_true(ga_item_bool(ga_all(ga_equal(powers, 5 * k * k))));
        }
        ga_graph_free(graph);
    }
}

static int open_devices(void **state)
{
    (void)state;
    sample_on_gpu(3);
    return open_simulated_device(2) ? 0 : -1;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_numpys),
        cmocka_unit_test(random_products_are_their_sums),
        cmocka_unit_test(stacks_of_little_products_are_their_sums),
        cmocka_unit_test(tiles_and_panels_meet),
        simulated_test(simulated_tiles_have_the_hosts_results),
        simulated_test(simulated_little_products_are_their_sums),
        simulated_test(simulated_factors_come_ahead),
        simulated_test(simulated_parts_of_little_products_add_up),
        simulated_test(simulated_tensors_multiply_stacks),
        simulated_test(simulated_tf32_is_rounded),
        simulated_test(teams_cover_little_products),
        simulated_test(stages_fit_the_devices_blocks),
        simulated_test(few_products_need_no_library),
        simulated_test(rows_of_vectors_are_reduced),
        simulated_test(columns_times_rows_are_multiplied),
        simulated_test(parts_of_aligned_rows_are_multiplied_alone),
        simulated_test(complex_numbers_scale), /* before another library multiplies there */
#ifdef QUARRY_CUDA
        simulated_test(way_of_each_shape_is_chosen_once),
        simulated_test(parts_of_sixteen_bits_are_not_rounded),
        simulated_test(library_gets_strides_stacks_and_numbers),
        simulated_test(more_shapes_than_places_are_forgotten),
        simulated_test(own_kernels_replace_a_missing_way),
        simulated_test(own_kernels_replace_a_library_that_does_not_start),
#endif
        cmocka_unit_test(results_have_the_same_bits),
        cmocka_unit_test(results_may_overlap_operands),
        cmocka_unit_test(results_may_be_parts_of_either_operand),
        cmocka_unit_test(out_takes_other_dtypes_and_layouts),
        cmocka_unit_test(complex_numbers_scale),
        cmocka_unit_test(bad_calls_are_refused),
        cmocka_unit_test(bad_dots_are_refused),
        cmocka_unit_test(failed_allocations_leave_nothing),
        cmocka_unit_test(products_can_be_recorded),
    };
#ifdef __x86_64__
    setenv("OPENBLAS_CORETYPE", "Prescott", 0); /* OpenBLAS multiplies on every processor */
#endif
    return run_named_tests(argc, argv, tests, open_devices, NULL);
}
