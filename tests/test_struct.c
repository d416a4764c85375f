/* Arrays of structs (include/quarry/struct.h): every move against the same move of their bytes,
 * custom kernels, files, and what refuses them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "array_support.h"
#include "base/alloc.h"
#include "random.h"
#include "run.h"
#include "scratch.h"
#include "simulated_device.h"

typedef struct particle {
    float x, y, z, mass;
    int32_t id;
} particle;

#define PARTICLE "struct particle { float x, y, z, mass; int id; };"

static ga_dtype particle_dtype(void)
{
    const ga_dtype dtype = ga_struct_dtype("particle", sizeof(particle), PARTICLE);
    assert_int_not_equal(dtype, GA_NO_DTYPE);
    return dtype;
}

static void expect_ok(void)
{
    if (ga_error() != GA_OK)
        fail_msg("%s: %s", ga_status_name(ga_error()), ga_error_message());
}

/* ---- Dtypes ---- */

static void a_name_stands_for_one_struct(void **state)
{
    (void)state;
    const ga_dtype dtype = particle_dtype();
    assert_string_equal(ga_dtype_name(dtype), "particle");
    assert_int_equal(ga_dtype_size(dtype), sizeof(particle));
    assert_int_equal(particle_dtype(), dtype);
    assert_int_equal(ga_struct_dtype("particle", 24, PARTICLE), GA_NO_DTYPE);
    assert_error(GA_ERR_INVALID, "\"particle\" is a dtype of 20 bytes");
    assert_int_equal(ga_struct_dtype("particle", 20, NULL), GA_NO_DTYPE);
    assert_error(GA_ERR_INVALID, "\"particle\"");
    assert_int_not_equal(ga_struct_dtype("ns::pair", 8, NULL), GA_NO_DTYPE);
    expect_ok();
}

static void other_names_are_refused(void **state)
{
    (void)state;
    static const char *const names[] = {"",          "3d",    "a b",     "x:y",    "x::",  "::x",
                                        "pair<int>", "float", "float32", "int8_t", "half", "V12"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        assert_int_equal(ga_struct_dtype(names[k], 8, NULL), GA_NO_DTYPE);
        assert_error(GA_ERR_INVALID, "struct_dtype: ");
    }
    assert_int_equal(ga_struct_dtype(NULL, 8, NULL), GA_NO_DTYPE);
    assert_error(GA_ERR_INVALID, "NULL");
    assert_int_equal(ga_struct_dtype("nothing", 0, NULL), GA_NO_DTYPE);
    assert_error(GA_ERR_INVALID, "0 bytes");
    assert_int_equal(ga_struct_dtype("huge", GA_MAX_STRUCT_BYTES + 1, NULL), GA_NO_DTYPE);
    assert_error(GA_ERR_INVALID, "2049 bytes");
}

static void vectors_are_those_of_cuda(void **state)
{
    (void)state;
    const ga_dtype float3 = ga_vector_dtype(GA_FLOAT32, 3);
    assert_string_equal(ga_dtype_name(float3), "float3");
    assert_int_equal(ga_dtype_size(float3), 12);
    assert_int_equal(ga_struct_dtype("float3", 12, NULL), float3);
    assert_string_equal(ga_dtype_name(ga_vector_dtype(GA_UINT8, 4)), "uchar4");
    assert_string_equal(ga_dtype_name(ga_vector_dtype(GA_INT64, 2)), "longlong2");
    assert_int_equal(ga_vector_dtype(GA_FLOAT16, 2), GA_NO_DTYPE);
    assert_error(GA_ERR_DTYPE, "float16");
    assert_int_equal(ga_vector_dtype(GA_FLOAT32, 5), GA_NO_DTYPE);
    assert_error(GA_ERR_INVALID, "5 elements");
}

/* ---- Moves ---- */

/* Each move of structs is that of their bytes along one more axis. */
typedef struct pair {
    gpuarray *structs, *bytes; /* (5, 7) and (5, 7, size) */
    gpuarray *indices;         /* of the first axis */
    gpuarray *mask;            /* (5,) */
} pair;

#define MOVE(name, of_structs, of_bytes)                                                           \
    static gpuarray *name(const pair *p, bool bytes)                                               \
    {                                                                                              \
        gpuarray *x = bytes ? p->bytes : p->structs;                                               \
        return bytes ? (of_bytes) : (of_structs);                                                  \
    }
#define SAME_MOVE(name, move) MOVE(name, move, move)

SAME_MOVE(copies, ga_copy(x))
MOVE(transposed, ga_copy(ga_transpose(x)), ga_copy(ga_transpose_axes(x, 3, (const int[]){1, 0, 2})))
SAME_MOVE(sliced, ga_copy(ga_slice(x, "1:, ::-2")))
SAME_MOVE(flipped, ga_copy(ga_flip(x, 0)))
SAME_MOVE(taken, ga_take(x, p->indices, GA_AXIS(0)))
SAME_MOVE(indexed, ga_index(x, p->indices))
SAME_MOVE(chosen, ga_index(x, p->mask))
SAME_MOVE(taken_by_formula, ga_eval("take(x, i, axis=0)", GA(x), GA_NAMED("i", p->indices)))
SAME_MOVE(indexed_by_formula, ga_eval("x[i]", GA(x), GA_NAMED("i", p->indices)))
SAME_MOVE(chosen_by_formula, ga_eval("x[m]", GA(x), GA_NAMED("m", p->mask)))
SAME_MOVE(joined, ga_concatenate(GA_ARRAYS(x, ga_slice(x, "::2"), x)))
SAME_MOVE(stacked, ga_stack(GA_ARRAYS(x, x)))
SAME_MOVE(rolled, ga_roll(x, 3, GA_AXIS(1)))
SAME_MOVE(repeated, ga_repeat(x, 2, GA_AXIS(0)))
MOVE(tiled, ga_tile(x, GA_SHAPE(2, 3)), ga_tile(x, GA_SHAPE(2, 3, 1)))
MOVE(compressed, ga_compress(p->mask, x, GA_AXIS(0)), ga_compress(p->mask, x, GA_AXIS(0)))
MOVE(padded, ga_pad(x, GA_SHAPE(1, 2), .mode = "reflect"),
     ga_pad(x, GA_SHAPE(1, 2, 1, 2, 0, 0), .mode = "reflect"))
MOVE(lower, ga_where(ga_tri(GA_BOOL, 5, 7, 0), x, ga_flip(x, 0)),
     ga_where(ga_expand_dims(ga_tri(GA_BOOL, 5, 7, 0), 2), x, ga_flip(x, 0)))
MOVE(selected, ga_select(GA_ARRAYS(ga_tri(GA_BOOL, 5, 7, 0)), GA_ARRAYS(x), ga_flip(x, 0)),
     ga_select(GA_ARRAYS(ga_expand_dims(ga_tri(GA_BOOL, 5, 7, 0), 2)), GA_ARRAYS(x), ga_flip(x, 0)))
MOVE(upper, ga_triu(x, 1),
     ga_where(ga_expand_dims(ga_triu(ga_ones(GA_BOOL, 2, (const int64_t[]){5, 7}), 1), 2), x,
              ga_zeros_like(x)))

/* Writes: the result is what was written to. */
static gpuarray *assigned(const pair *p, bool bytes)
{
    gpuarray *x = ga_copy(bytes ? p->bytes : p->structs);
    return ga_assign(ga_slice(x, ":3"), ga_slice(x, "3:4")) == GA_OK ? x : NULL;
}

static gpuarray *index_set(const pair *p, bool bytes)
{
    gpuarray *x = ga_copy(bytes ? p->bytes : p->structs);
    return ga_index_set(x, ga_flip(ga_take(x, p->indices, GA_AXIS(0)), 0), p->indices) == GA_OK
               ? x
               : NULL;
}

static const struct {
    const char *name;
    gpuarray *(*move)(const pair *, bool);
} moves[] = {{"copy", copies},
             {"transpose", transposed},
             {"slice", sliced},
             {"flip", flipped},
             {"take", taken},
             {"index", indexed},
             {"mask", chosen},
             {"concatenate", joined},
             {"stack", stacked},
             {"roll", rolled},
             {"repeat", repeated},
             {"tile", tiled},
             {"compress", compressed},
             {"pad", padded},
             {"where", lower},
             {"select", selected},
             {"triu", upper},
             {"assign", assigned},
             {"index_set", index_set},
             {"eval take", taken_by_formula},
             {"eval index", indexed_by_formula},
             {"eval mask", chosen_by_formula}};

static void check_move(const char *name, size_t size, const gpuarray *structs,
                       const gpuarray *bytes)
{
    static char got[1 << 16], wanted[1 << 16];
    if (!structs || !bytes)
        fail_msg("%s of %zu bytes: %s", name, size, ga_error_message());
    const size_t n = ga_nbytes(bytes);
    assert_int_equal(ga_nbytes(structs), n);
    assert_true(n <= sizeof got);
    assert_int_equal(ga_to_host(structs, got, n), GA_OK);
    assert_int_equal(ga_to_host(bytes, wanted, n), GA_OK);
    if (memcmp(got, wanted, n) != 0)
        fail_msg("%s of %zu bytes: other bytes", name, size);
}

static ga_dtype dtype_of_size(size_t size)
{
    char name[32];
    snprintf(name, sizeof name, "sized_%zu", size);
    return ga_struct_dtype(name, size, NULL);
}

static void fill_pair(pair *p, size_t size, uint64_t *seed)
{
    static char bytes[5 * 7 * 64];
    const int64_t shape[] = {5, 7, (int64_t)size};
    for (size_t k = 0; k < 35 * size; k++)
        bytes[k] = (char)random_below(seed, 256);
    p->structs = ga_from_host(bytes, dtype_of_size(size), 2, shape);
    p->bytes = ga_from_host(bytes, GA_UINT8, 3, shape);
    p->indices = ga_from_host((const int32_t[]){4, 0, -2, 1}, GA_INT32, 1, (const int64_t[]){4});
    p->mask = ga_from_host((const bool[]){1, 0, 0, 1, 1}, GA_BOOL, 1, shape);
    expect_ok();
}

static void moves_are_those_of_the_bytes(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32, 40, 64};
    uint64_t seed = 20261123;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof moves / sizeof *moves; k++)
            GA_SCOPE {
                pair p;
                if (!row_selected(moves[k].name))
                    continue;
                fill_pair(&p, sizes[s], &seed);
                check_move(moves[k].name, sizes[s], moves[k].move(&p, false),
                           moves[k].move(&p, true));
            }
}

static void cuda_moves_them_too(void **state)
{
    (void)state;
    static const size_t sizes[] = {3, 12, 16, 40}, some[] = {0, 1, 4, 7, 14, 17};
    uint64_t seed = 7;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t k = 0; k < sizeof some / sizeof *some; k++)
            GA_SCOPE {
                pair p;
                fill_pair(&p, sizes[s], &seed);
                check_move(moves[some[k]].name, sizes[s], moves[some[k]].move(&p, false),
                           moves[some[k]].move(&p, true));
            }
}

static gpuarray *particles(int64_t n)
{
    static particle all[1000];
    assert_true(n <= 1000);
    for (int k = 0; k < n; k++)
        all[k] = (particle){(float)k, (float)(2 * k), -(float)k, 1 + (float)(k % 3), k};
    gpuarray *x = ga_from_host(all, particle_dtype(), 1, &n);
    assert_non_null(x);
    return x;
}

static void members_are_views(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *p = particles(10);
        gpuarray *mass = ga_field(p, GA_FLOAT32, offsetof(particle, mass));
        assert_true(ga_item_double(ga_sum(mass)) == 19);
        assert_int_equal(ga_multiply_into(mass, mass, 10), GA_OK);
        particle back[10];
        assert_int_equal(ga_to_host(p, back, sizeof back), GA_OK);
        assert_true(back[4].mass == 20 && back[4].x == 4 && back[4].id == 4);
        gpuarray *flat = ga_view(p, GA_INT32);
        assert_shape(flat, 1, (const int64_t[]){50});
        assert_shape(ga_view(flat, particle_dtype()), 1, (const int64_t[]){10});
        assert_null(ga_field(p, GA_FLOAT64, 16));
        assert_error(GA_ERR_SHAPE, "not within the 20 bytes of particle");
        assert_null(ga_field(p, GA_FLOAT64, 8));
        assert_error(GA_ERR_SHAPE, "a stride of 20 bytes");
        assert_null(ga_field(p, GA_FLOAT32, 6));
        assert_error(GA_ERR_SHAPE, "not aligned");
        assert_null(ga_view(ga_slice(flat, "1:"), particle_dtype()));
        assert_error(GA_ERR_SHAPE, "do not divide into particle");
        expect_ok();
    }
}

/* ---- What refuses them ---- */

#define REFUSES(call)                                                                              \
    {                                                                                              \
        assert_false(call);                                                                        \
        expect_raised(GA_ERR_DTYPE, "");                                                           \
    }

static void functions_of_numbers_refuse_structs(void **state)
{
    (void)state;
    const int64_t four = 4;
    GA_SCOPE {
        gpuarray *p = particles(4), *x = ga_arange(GA_FLOAT32, 0, 4, 1), *a, *b;
        gpuarray *other = ga_zeros(dtype_of_size(20), 1, &four);
        const ga_dtype dtype = particle_dtype();
        REFUSES(ga_add(p, p))
        REFUSES(ga_add(p, 1))
        REFUSES(ga_equal(p, p))
        REFUSES(ga_negative(p))
        REFUSES(ga_astype(p, GA_FLOAT32))
        REFUSES(ga_astype(x, dtype))
        REFUSES(ga_astype(p, ga_dtype_of(other)))
        REFUSES(ga_assign(p, 1) == GA_OK)
        REFUSES(ga_assign(p, x) == GA_OK)
        REFUSES(ga_assign(x, p) == GA_OK)
        REFUSES(ga_add_into(p, x, x) == GA_OK)
        REFUSES(ga_where(p, x, x))
        REFUSES(ga_where(x, p, 1))
        REFUSES(ga_where(x, p, other))
        REFUSES(ga_select(GA_ARRAYS(ga_greater(x, 1)), GA_ARRAYS(p), 1))
        REFUSES(ga_select(GA_ARRAYS(ga_greater(x, 1)), GA_ARRAYS(p), x))
        REFUSES(ga_concatenate(GA_ARRAYS(p, x)))
        REFUSES(ga_concatenate(GA_ARRAYS(x, p)))
        REFUSES(ga_concatenate(GA_ARRAYS(p, other)))
        REFUSES(ga_sum(p))
        REFUSES(ga_any(p))
        REFUSES(ga_sum(x, .where = p))
        REFUSES(ga_cumsum(p))
        REFUSES(ga_sort(p))
        REFUSES(ga_argsort(p))
        REFUSES(ga_lexsort(GA_ARRAYS(p)))
        REFUSES(ga_sort_by_key(p, x, &a, &b) == GA_OK)
        REFUSES(ga_unique(p))
        REFUSES(ga_isin(p, p))
        REFUSES(ga_isin(x, p))
        REFUSES(ga_mode(p, &a, &b) == GA_OK)
        REFUSES(ga_median(p))
        REFUSES(ga_quantile(p, 0.5))
        REFUSES(ga_partition(p, 1))
        REFUSES(ga_topk(p, 1, &a, &b) == GA_OK)
        REFUSES(ga_searchsorted(x, p))
        REFUSES(ga_bincount(p))
        REFUSES(ga_take(x, p))
        REFUSES(ga_compress(p, x))
        REFUSES(ga_dot(p, p))
        REFUSES(ga_dot(x, p))
        REFUSES(ga_eval("p + 1", GA(p)))
        REFUSES(ga_eval("p @ p", GA(p)))
        REFUSES(ga_eval("p @ x", GA(p), GA(x)))
        REFUSES(ga_eval("x @ p", GA(p), GA(x)))
        REFUSES(ga_ones(dtype, 1, &four))
        REFUSES(ga_arange(dtype, 0, 4, 1))
        REFUSES(ga_linspace(dtype, 0, 1, 4))
        REFUSES(ga_eye(dtype, 4))
        REFUSES(ga_tri(dtype, 4, 4, 0))
        REFUSES(ga_scalar(dtype, 1))
        REFUSES(ga_pad(p, GA_SHAPE(1)))
        REFUSES(ga_result_type(dtype, GA_INT8))
        ga_item_double(ga_slice(p, "0"));
        expect_raised(GA_ERR_DTYPE, "item: does not take particle");
    }
}

/* ---- Text and files ---- */

static void text_is_numpy_s(void **state)
{
    (void)state;
    GA_SCOPE {
        const int64_t two = 2;
        gpuarray *x = ga_from_host("\1\2\3\4\5\xff", dtype_of_size(3), 1, &two);
        char *text = ga_format(x);
        assert_string_equal(text, "[b'\\x01\\x02\\x03' b'\\x04\\x05\\xFF']");
        free(text);
    }
}

static int remove_scratch(void **state)
{
    (void)state;
    return close_scratch((const char *const[]){"particles.npy", NULL});
}

static void files_hold_their_bytes(void **state)
{
    (void)state;
    GA_SCOPE {
        const char *path = in_scratch("particles.npy");
        particle wrote[9], read[9];
        gpuarray *p = particles(9);
        assert_int_equal(ga_save(p, path), GA_OK);
        gpuarray *loaded = ga_load(path);
        assert_non_null(loaded);
        assert_string_equal(ga_dtype_name(ga_dtype_of(loaded)), "V20");
        gpuarray *again = ga_view(loaded, particle_dtype());
        assert_int_equal(ga_to_host(p, wrote, sizeof wrote), GA_OK);
        assert_int_equal(ga_to_host(again, read, sizeof read), GA_OK);
        assert_memory_equal(wrote, read, sizeof read);
    }
}

/* ---- Kernels ---- */

static void kernels_take_structs(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *p = particles(100), *e = ga_empty(GA_FLOAT32, 1, (const int64_t[]){50});
        particle_dtype();
        ga_kernel *energy = ga_elementwise_kernel(
            "const particle *p, float *e, float g",
            "const particle q = p[i]; e[i] = q.mass * (q.x * q.x + q.y * q.y) / 2 + g", "energy");
        assert_int_equal(ga_run(energy, ga_slice(p, "::2"), e, 1), GA_OK);
        /* k = 20: mass 3, (400 + 1600) / 2 * 3 + 1 */
        assert_true(ga_item_double(ga_slice(e, "10")) == 3001);
        ga_kernel_free(energy);
        expect_ok();
    }
}

/* A struct without a star is the element of a 0-d array, in every kind of kernel. */
static void kernels_take_single_structs(void **state)
{
    (void)state;
    static const struct {
        float low, high;
    } limits = {10, 30};
    GA_SCOPE {
        const ga_dtype interval =
            ga_struct_dtype("interval", sizeof limits, "struct interval { float low, high; };");
        gpuarray *b = ga_from_host(&limits, interval, GA_SHAPE0), *x, *p, *y, *ends;
        x = ga_arange(GA_FLOAT32, 0, 100, 1);
        y = ga_zeros(GA_FLOAT32, GA_SHAPE(2, 50));
        ga_kernel *clip = ga_elementwise_kernel(
            "const float *x, interval w, float *y, float times",
            "y[i] = (x[i] < w.low ? w.low : x[i] < w.high ? x[i] : w.high) * times", "clip");
        assert_int_equal(ga_run(clip, x, b, y, 2), GA_OK);
        assert_true(ga_array_equal(ga_ravel(y), ga_multiply(ga_clip(x, 10, 30), 2)));
        assert_int_equal(ga_run(clip, ga_slice(x, "::-1"), b, ga_slice(ga_ravel(y), "::-1"), 1),
                         GA_OK);
        assert_int_equal(ga_run(clip, x, 3, y, 2), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "clip: argument 2 (w) is a struct, not a number");
        assert_int_equal(ga_run(clip, x, x, y, 2), GA_ERR_SHAPE);
        assert_error(GA_ERR_SHAPE, "clip: argument 2 (w) has shape (100,), expected ()");
        assert_int_equal(ga_run(clip, x, ga_scalar(GA_FLOAT32, 1), y, 2), GA_ERR_DTYPE);
        assert_error(GA_ERR_DTYPE, "clip: argument 2 (w) is declared interval");
        assert_int_equal(ga_run_over(clip, GA_FROM(-3, 1), x, b, ga_ravel(y), 4), GA_OK);
        assert_true(ga_item_double(ga_slice(y, "1, -3")) == 120);
        ga_kernel_free(clip);
        ga_kernel *count =
            ga_reduction_kernel(GA_INT64, "0", "a + b", "x[i] >= w.low && x[i] < w.high",
                                "const float *x, interval w", "count");
        assert_int_equal(ga_item_int64(ga_reduce(count, x, b)), 20);
        ga_kernel_free(count);
        ga_kernel *ranks = ga_scan_kernel(GA_INT32, "const float *x, interval w, float *y",
                                          "x[i] >= w.low", "a + b", "0", "y[i] = item", "ranks");
        assert_null(ranks);
        assert_error(GA_ERR_UNSUPPORTED, "ranks: argument 2 (w) is a struct; a scan takes arrays");
        /* A run that writes the struct reads it first. */
        p = ga_view(ga_arange(GA_FLOAT32, 0, 8, 1), interval);
        ends = ga_slice(p, "0");
        ga_kernel *move =
            ga_elementwise_kernel("interval *p, interval w", "p[i].low += w.high", "move");
        assert_int_equal(ga_run(move, p, ends), GA_OK);
        assert_true(ga_item_double(ga_sum(ga_view(p, GA_FLOAT32))) == 28 + 4);
        ga_kernel_free(move);
        expect_ok();
    }
}

/* A statement that writes a member keeps the others. */
static void kernels_write_members(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *p = particles(100);
        particle back[100];
        ga_kernel *step =
            ga_elementwise_kernel("particle *p", "p[i].x += 1; if (i % 2) p[i].id = -1", "step");
        assert_int_equal(ga_run(step, p), GA_OK);
        assert_int_equal(ga_run(step, ga_flip(p, 0)), GA_OK);
        assert_int_equal(ga_to_host(p, back, sizeof back), GA_OK);
        for (int k = 0; k < 100; k++)
            assert_true(back[k].x == (float)(k + 2) && back[k].id == -1 && back[k].y == 2 * k);
        ga_kernel_free(step);
        ga_kernel *read = ga_elementwise_kernel("particle *p, float *x", "x[i] = p[i].x", "read");
        gpuarray *one = ga_broadcast_to(ga_slice(p, "0:1"), GA_SHAPE(4)), *x;
        x = ga_zeros(GA_FLOAT32, 1, (const int64_t[]){4});
        assert_int_equal(ga_run(read, one, x), GA_OK); /* a read-only view: nothing is written */
        assert_true(ga_item_double(ga_sum(x)) == 8);
        ga_kernel_free(read);
    }
}

/* A member function may write. */
static void kernels_call_members(void **state)
{
    (void)state;
    GA_SCOPE {
        const int64_t three = 3;
        const ga_dtype dtype = ga_struct_dtype(
            "tally", 8,
            "struct tally { int n, last; __device__ void add(int k) { n += last = k; } };");
        gpuarray *x = ga_zeros(dtype, 1, &three);
        int back[6];
        ga_kernel *add = ga_elementwise_kernel("tally *x, int k", "x[i].add(k + (int)i)", "add");
        assert_int_equal(ga_run(add, x, 5), GA_OK);
        assert_int_equal(ga_run(add, x, 1), GA_OK);
        assert_int_equal(ga_to_host(x, back, sizeof back), GA_OK);
        assert_memory_equal(back, ((const int[]){6, 1, 8, 2, 10, 3}), sizeof back);
        ga_kernel_free(add);
        expect_ok();
    }
}

static void kernels_know_cuda_s_vectors(void **state)
{
    (void)state;
    GA_SCOPE {
        const float data[] = {3, 4, 0, 0, 0, 2, 1, 2, 2};
        gpuarray *v = ga_from_host(data, ga_vector_dtype(GA_FLOAT32, 3), 1, (const int64_t[]){3});
        gpuarray *r = ga_empty_like(v);
        float back[9];
        ga_kernel *unit = ga_elementwise_kernel(
            "const float3 *v, float3 *r",
            "const float s = rsqrtf(v[i].x * v[i].x + v[i].y * v[i].y + v[i].z * v[i].z); "
            "r[i] = make_float3(v[i].x * s, v[i].y * s, v[i].z * s)",
            "unit");
        assert_int_equal(ga_run(unit, v, r), GA_OK);
        assert_int_equal(ga_to_host(r, back, sizeof back), GA_OK);
        assert_float_equal(back[0], 0.6f, 1e-6f);
        assert_float_equal(back[5], 1, 1e-6f);
        assert_float_equal(back[8], 2 / 3.0f, 1e-6f);
        ga_kernel_free(unit);
    }
}

static void definitions_come_in_order(void **state)
{
    (void)state;
    GA_SCOPE {
        ga_struct_dtype("inner", 8, "struct inner { int a, b; };");
        const ga_dtype outer = ga_struct_dtype("outer", 16, "struct outer { inner i, j; };");
        const int64_t five = 5;
        gpuarray *x = ga_zeros(outer, 1, &five), *y = ga_zeros(GA_INT32, 1, &five);
        ga_kernel *k = ga_elementwise_kernel("outer *x, int *y, inner *unused",
                                             "x[i].j.b = (int)i; y[i] = x[i].j.b + x[i].i.a");
        gpuarray *unused =
            ga_zeros(ga_struct_dtype("inner", 8, "struct inner { int a, b; };"), 1, &five);
        assert_int_equal(ga_run(k, x, y, unused), GA_OK);
        assert_true(ga_item_double(ga_sum(y)) == 10);
        ga_kernel_free(k);
        assert_null(ga_elementwise_kernel("never_made *x", "x[i] = x[i]"));
        assert_error(GA_ERR_INVALID, "\"never_made *x\": not an element type");
        k = ga_elementwise_kernel("outer *x", "x[i].j.b = 0");
        assert_int_not_equal(ga_run(k, unused), GA_OK);
        assert_error(GA_ERR_DTYPE, "is declared outer, the array is inner");
        ga_kernel_free(k);
    }
}

/* A size that is not the type's is found before anything runs. */
static void a_wrong_size_does_not_compile(void **state)
{
    (void)state;
    GA_SCOPE {
        const int64_t two = 2;
        gpuarray *x = ga_zeros(
            ga_struct_dtype("short_of_it", 4, "struct short_of_it { int a, b; };"), 1, &two);
        ga_kernel *k = ga_elementwise_kernel("short_of_it *x", "x[i].a = 1");
        assert_int_not_equal(ga_run(k, x), GA_OK);
        assert_error(GA_ERR_COMPILE, "agree on the element size");
        ga_kernel_free(k);
    }
}

#define MINMAX                                                                                     \
    "struct minmax { float least, most; };\n"                                                      \
    "__device__ minmax meet(minmax a, minmax b)\n"                                                 \
    "{ return {a.least < b.least ? a.least : b.least, a.most > b.most ? a.most : b.most}; }\n"

static void reductions_give_structs(void **state)
{
    (void)state;
    GA_SCOPE {
        struct {
            float least, most;
        } got;
        const ga_dtype dtype = ga_struct_dtype("minmax", sizeof got, MINMAX);
        gpuarray *x = ga_sin(ga_arange(GA_FLOAT32, 0, 5000, 1));
        ga_kernel *k = ga_reduction_kernel(dtype, "minmax{INFINITY, -INFINITY}", "meet(a, b)",
                                           "minmax{x[i], x[i]}", "const float *x", "minmax");
        gpuarray *result = ga_reduce(k, x);
        expect_ok();
        assert_int_equal(ga_dtype_of(result), dtype);
        assert_int_equal(ga_ndim(result), 0);
        assert_int_equal(ga_to_host(result, &got, sizeof got), GA_OK);
        assert_true((double)got.least == ga_item_double(ga_min(x)));
        assert_true((double)got.most == ga_item_double(ga_max(x)));
        ga_kernel_free(k);
        /* The elements may be structs too. */
        gpuarray *pairs = ga_view(x, dtype);
        k = ga_reduction_kernel(dtype, "minmax{INFINITY, -INFINITY}", "meet(a, b)", NULL,
                                "const minmax *p", "pairs");
        result = ga_reduce(k, pairs);
        expect_ok();
        assert_int_equal(ga_to_host(result, &got, sizeof got), GA_OK);
        assert_true((double)got.least == ga_item_double(ga_min(ga_slice(x, "::2"))));
        assert_true((double)got.most == ga_item_double(ga_max(ga_slice(x, "1::2"))));
        ga_kernel_free(k);
    }
}

static void scans_carry_structs(void **state)
{
    (void)state;
    GA_SCOPE {
        enum { N = 3000 };
        const int64_t n = N;
        static struct {
            float least, most;
        } got[N];
        static float host[N];
        const ga_dtype dtype = ga_struct_dtype("minmax", sizeof got[0], MINMAX);
        gpuarray *x = ga_cos(ga_arange(GA_FLOAT32, 0, N, 1)), *y = ga_empty(dtype, 1, &n);
        ga_kernel *k =
            ga_scan_kernel(dtype, "const float *x, minmax *y", "minmax{x[i], x[i]}", "meet(a, b)",
                           "minmax{INFINITY, -INFINITY}", "y[i] = item", "running");
        assert_int_equal(ga_scan(k, x, y), GA_OK);
        assert_int_equal(ga_to_host(x, host, sizeof host), GA_OK);
        assert_int_equal(ga_to_host(y, got, sizeof got), GA_OK);
        float least = host[0], most = host[0];
        for (int i = 0; i < N; i++) {
            least = host[i] < least ? host[i] : least;
            most = host[i] > most ? host[i] : most;
            assert_true(got[i].least == least && got[i].most == most);
        }
        ga_kernel_free(k);
    }
}

static void an_accumulator_has_a_limit(void **state)
{
    (void)state;
    const ga_dtype dtype = ga_struct_dtype("large", 2048, NULL);
    assert_null(ga_reduction_kernel(dtype, "0", "a", "x[i]", "float *x", "large"));
    assert_error(GA_ERR_INVALID, "large has 2048 bytes, more than 1024");
}

/* ---- Failing allocations ---- */

static bool make_and_move(void)
{
    const int64_t six = 6;
    ga_scope_begin();
    const ga_dtype dtype = ga_struct_dtype("particle", sizeof(particle), PARTICLE);
    gpuarray *x = dtype == GA_NO_DTYPE ? NULL : ga_zeros(dtype, 1, &six);
    const gpuarray *y = x ? ga_concatenate(GA_ARRAYS(x, ga_flip(x, 0))) : NULL;
    ga_kernel *k = y ? ga_elementwise_kernel("particle *p", "p[i].x = 1") : NULL;
    const bool done = k && ga_run(k, x) == GA_OK;
    ga_kernel_free(k);
    ga_scope_end();
    return done;
}

static void moves_and_kernels_survive_failures(void **state)
{
    (void)state;
    survive_failures(make_and_move);
}

static void a_struct_that_is_not_made_can_be_made_again(void **state)
{
    (void)state;
    for (int n = 1; n <= 2; n++) { /* the bytes' dtype, and its own */
        ga__alloc_fail_at(n);
        assert_int_equal(ga_struct_dtype("unlucky", 1234, NULL), GA_NO_DTYPE);
        ga__alloc_fail_at(0);
        assert_error(GA_ERR_MEMORY, "memory");
    }
    assert_int_equal(ga_dtype_size(ga_struct_dtype("unlucky", 1234, NULL)), 1234);
    expect_ok();
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_stands_for_one_struct),
        cmocka_unit_test(other_names_are_refused),
        cmocka_unit_test(vectors_are_those_of_cuda),
        cmocka_unit_test(moves_are_those_of_the_bytes),
        simulated_test(cuda_moves_them_too),
        cmocka_unit_test(members_are_views),
        cmocka_unit_test(functions_of_numbers_refuse_structs),
        cmocka_unit_test(text_is_numpy_s),
        cmocka_unit_test_setup_teardown(files_hold_their_bytes, make_scratch, remove_scratch),
        cmocka_unit_test(kernels_take_structs),
        cmocka_unit_test(kernels_take_single_structs),
        cmocka_unit_test(kernels_write_members),
        cmocka_unit_test(kernels_call_members),
        cmocka_unit_test(kernels_know_cuda_s_vectors),
        cmocka_unit_test(definitions_come_in_order),
        cmocka_unit_test(a_wrong_size_does_not_compile),
        cmocka_unit_test(reductions_give_structs),
        cmocka_unit_test(scans_carry_structs),
        cmocka_unit_test(an_accumulator_has_a_limit),
        cmocka_unit_test(moves_and_kernels_survive_failures),
        cmocka_unit_test(a_struct_that_is_not_made_can_be_made_again),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
