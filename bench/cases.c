/* The table of cases over large arrays. */
#include "cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formulas.h"
#include "inputs.h"

#define GA_FN static inline
#include "philox.tmpl"

/* ---- Inputs ---- */

/* Doubles are as many bytes as the floats of other cases. */
static int64_t length_of(const workload *w, const bench_case *c)
{
    return c->kind == RANDOM_F64 ? w->n / 2 : w->n;
}

static bool one_vector(workload *w, const bench_case *c)
{
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(length_of(w, c)));
    w->a = ga_retain(w->x);
    w->out = ga_empty_like(w->x);
    return made(w);
}

/* Nothing is read: x is what is written. */
static bool no_vector(workload *w, const bench_case *c)
{
    w->x = ga_empty(dtype_of(c->kind), GA_SHAPE(length_of(w, c)));
    w->a = ga_retain(w->x);
    w->out = ga_retain(w->x);
    return made(w);
}

/* The result is x: it counts, and only it is large. */
static bool vectors_of_sides(workload *w, const bench_case *c)
{
    const int64_t side = side_of(w);

    w->x = ga_empty(dtype_of(c->kind), GA_SHAPE(side, side));
    w->a = ga_retain(w->x);
    w->c = filled(w, c->kind, w->seed, GA_SHAPE(side));
    w->b = filled(w, c->kind, w->seed + 1, GA_SHAPE(side));
    w->out = ga_retain(w->x);
    return made(w) && w->b && w->c;
}

static bool two_vectors(workload *w, const bench_case *c)
{
    w->y = filled(w, c->kind, w->seed + 1, GA_SHAPE(length_of(w, c)));
    w->b = ga_retain(w->y);
    return one_vector(w, c) && w->b;
}

static bool vectors_and_mask(workload *w, const bench_case *c)
{
    w->c = filled(w, RANDOM_BOOL, w->seed + 2, GA_SHAPE(length_of(w, c)));
    return two_vectors(w, c) && w->c;
}

static bool three_vectors(workload *w, const bench_case *c)
{
    w->c = filled(w, c->kind, w->seed + 2, GA_SHAPE(length_of(w, c)));
    return two_vectors(w, c) && w->c;
}

static bool bytes_and_floats(workload *w, const bench_case *c)
{
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(w->n));
    w->y = filled(w, RANDOM_F32, w->seed + 1, GA_SHAPE(w->n));
    w->a = ga_retain(w->x);
    w->b = ga_retain(w->y);
    w->out = ga_empty_like(w->y);
    return made(w) && w->b;
}

/* The same slice of both, whatever their shape. */
static bool slice_both(workload *w, const char *slice)
{
    ga_free(w->a);
    ga_free(w->b);
    ga_free(w->out);
    w->a = ga_slice(w->x, "%s", slice);
    w->b = ga_slice(w->y, "%s", slice);
    w->out = w->a ? ga_empty_like(w->a) : NULL;
    return made(w) && w->b;
}

static bool every_second(workload *w, const bench_case *c)
{
    return two_vectors(w, c) && slice_both(w, "::2");
}

static bool from_second(workload *w, const bench_case *c)
{
    return two_vectors(w, c) && slice_both(w, "1:");
}

static bool reversed_and_vector(workload *w, const bench_case *c)
{
    if (!two_vectors(w, c))
        return false;
    ga_free(w->a);
    w->a = ga_slice(w->x, "::-1");
    return made(w);
}

static bool matrix(workload *w, const bench_case *c)
{
    const int64_t side = side_of(w);

    w->x = filled(w, c->kind, w->seed, GA_SHAPE(side, side));
    w->a = ga_retain(w->x);
    w->out = ga_empty_like(w->x);
    return made(w);
}

/* The two halves of x's elements or rows, without one in the middle. */
static bool divide(workload *w)
{
    const long long half = ga_shape(w->x)[0] / 2;

    ga_free(w->a);
    w->a = ga_slice(w->x, ":%lld", half);
    w->b = ga_slice(w->x, "%lld:%lld", half, 2 * half);
    return made(w) && w->b;
}

static bool vector_halves(workload *w, const bench_case *c)
{
    return one_vector(w, c) && divide(w);
}

static bool matrix_halves(workload *w, const bench_case *c)
{
    return matrix(w, c) && divide(w);
}

static bool matrix_and_row(workload *w, const bench_case *c)
{
    w->y = filled(w, c->kind, w->seed + 1, GA_SHAPE(side_of(w)));
    w->b = ga_retain(w->y);
    return matrix(w, c) && w->b;
}

static bool matrix_and_column(workload *w, const bench_case *c)
{
    w->y = filled(w, c->kind, w->seed + 1, GA_SHAPE(side_of(w), 1));
    w->b = ga_retain(w->y);
    return matrix(w, c) && w->b;
}

static bool odd_rows(workload *w, const bench_case *c)
{
    w->y = filled(w, c->kind, w->seed + 1, GA_SHAPE(side_of(w), side_of(w)));
    w->b = ga_retain(w->y);
    return matrix(w, c) && w->b && slice_both(w, ":, 1:");
}

static bool transposed(workload *w, const bench_case *c)
{
    if (!matrix(w, c))
        return false;
    ga_free(w->a);
    w->a = ga_transpose(w->x);
    return made(w);
}

static bool transposed_and_matrix(workload *w, const bench_case *c)
{
    w->y = filled(w, c->kind, w->seed + 1, GA_SHAPE(side_of(w), side_of(w)));
    w->b = ga_retain(w->y);
    return transposed(w, c) && w->b;
}

/* ---- Inputs of reductions ---- */

static bool reduced_to(workload *w, ga_dtype dtype, int ndim, const int64_t *shape)
{
    ga_free(w->out);
    w->out = ga_empty(dtype, ndim, shape);
    return made(w);
}

static bool bytes_and_sums(workload *w, const bench_case *c)
{
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(length_of(w, c)));
    w->a = ga_retain(w->x);
    w->out = w->x ? ga_empty(GA_INT64, 1, ga_shape(w->x)) : NULL;
    return made(w);
}

static bool all_of_vector(workload *w, const bench_case *c)
{
    return one_vector(w, c) && reduced_to(w, dtype_of(c->kind), GA_SHAPE0);
}

static bool index_of_vector(workload *w, const bench_case *c)
{
    return one_vector(w, c) && reduced_to(w, GA_INT64, GA_SHAPE0);
}

static bool truth_of_vector(workload *w, const bench_case *c)
{
    return one_vector(w, c) && reduced_to(w, GA_BOOL, GA_SHAPE0);
}

/* A thousand rows, of whole vectors. */
static bool long_rows(workload *w, const bench_case *c)
{
    const int64_t shape[] = {1000, w->n / 1000 / 4 * 4};

    w->x = filled(w, c->kind, w->seed, 2, shape);
    w->a = ga_retain(w->x);
    return w->x && reduced_to(w, dtype_of(c->kind), GA_SHAPE(1000));
}

static bool all_of_two_vectors(workload *w, const bench_case *c)
{
    return two_vectors(w, c) && reduced_to(w, dtype_of(c->kind), GA_SHAPE0);
}

static bool side_of_matrix(workload *w, const bench_case *c)
{
    return matrix(w, c) && reduced_to(w, dtype_of(c->kind), GA_SHAPE(side_of(w)));
}

static bool sides_of_matrices(workload *w, const bench_case *c)
{
    w->y = filled(w, c->kind, w->seed + 1, GA_SHAPE(side_of(w), side_of(w)));
    w->b = ga_retain(w->y);
    return side_of_matrix(w, c) && w->b;
}

static bool side_of_matrix_and_row(workload *w, const bench_case *c)
{
    return matrix_and_row(w, c) && reduced_to(w, dtype_of(c->kind), GA_SHAPE(side_of(w)));
}

static bool complex_vector(workload *w, const bench_case *c)
{
    w->x = ga_empty(GA_COMPLEX64, GA_SHAPE(w->n / 2));
    w->a = ga_retain(w->x);
    if (w->x)
        w->machine->fill(ga_data(w->x), c->kind, 2 * ga_size(w->x), w->seed);
    return w->x && reduced_to(w, GA_COMPLEX64, GA_SHAPE0);
}

/* A vector of as many elements as the case's name says: "... 10^6". */
static bool small_vector(workload *w, const bench_case *c)
{
    w->x = filled(w, c->kind, w->seed, GA_SHAPE((int64_t)pow(10, atof(strchr(c->name, '^') + 1))));
    w->a = ga_retain(w->x);
    return w->x && reduced_to(w, dtype_of(c->kind), GA_SHAPE0);
}

static bool small_copy(workload *w, const bench_case *c)
{
    if (!small_vector(w, c))
        return false;
    ga_free(w->out);
    w->out = ga_empty_like(w->x);
    return made(w);
}

static bool cube(workload *w, const bench_case *c)
{
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(256, w->n / 65536, 256));
    w->a = ga_retain(w->x);
    return w->x;
}

static bool middle_of_cube(workload *w, const bench_case *c)
{
    return cube(w, c) && reduced_to(w, dtype_of(c->kind), GA_SHAPE(256, 256));
}

static bool ends_of_cube(workload *w, const bench_case *c)
{
    return cube(w, c) && reduced_to(w, dtype_of(c->kind), GA_SHAPE(w->n / 65536));
}

static bool thin(workload *w, const bench_case *c, int64_t length)
{
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(w->n / 4, 4));
    w->a = ga_retain(w->x);
    return w->x && reduced_to(w, dtype_of(c->kind), GA_SHAPE(length));
}

static bool thin_columns(workload *w, const bench_case *c)
{
    return thin(w, c, 4);
}

static bool thin_rows(workload *w, const bench_case *c)
{
    return thin(w, c, w->n / 4);
}

/* ---- Inputs of products of matrices ---- */

static bool factors(workload *w, const bench_case *c, int a_ndim, const int64_t *a, int b_ndim,
                    const int64_t *b)
{
    w->x = filled(w, c->kind, w->seed, a_ndim, a);
    w->y = filled(w, c->kind, w->seed + 1, b_ndim, b);
    w->a = ga_retain(w->x);
    w->b = ga_retain(w->y);
    w->out = w->a && w->b ? ga_matmul(w->a, w->b) : NULL; /* its shape is the result's */
    return made(w);
}

static bool squares(workload *w, const bench_case *c, int64_t side)
{
    return factors(w, c, GA_SHAPE(side, side), GA_SHAPE(side, side));
}

static bool half_squares(workload *w, const bench_case *c)
{
    return squares(w, c, side_of(w) / 2);
}

static bool quarter_squares(workload *w, const bench_case *c)
{
    return squares(w, c, side_of(w) / 4);
}

static bool small_squares(workload *w, const bench_case *c)
{
    return squares(w, c, 128);
}

static bool thin_factors(workload *w, const bench_case *c)
{
    return factors(w, c, GA_SHAPE(1000, 16), GA_SHAPE(16, 1000));
}

static bool square_and_vector(workload *w, const bench_case *c)
{
    return factors(w, c, GA_SHAPE(side_of(w), side_of(w)), GA_SHAPE(side_of(w)));
}

static bool vector_and_square(workload *w, const bench_case *c)
{
    return factors(w, c, GA_SHAPE(side_of(w)), GA_SHAPE(side_of(w), side_of(w)));
}

/* An eighth of the elements: three stacks of 128 MiB at 2^28. */
static bool stacks(workload *w, const bench_case *c)
{
    return factors(w, c, GA_SHAPE(w->n / 32768, 64, 64), GA_SHAPE(w->n / 32768, 64, 64));
}

/* ---- Operations ---- */

static ga_status run_add(workload *w)
{
    return ga_add_into(w->out, w->a, w->b);
}

static ga_status run_sin(workload *w)
{
    return ga_sin_into(w->out, w->a);
}

static ga_status run_exp(workload *w)
{
    return ga_exp_into(w->out, w->a);
}

static ga_status run_sqrt(workload *w)
{
    return ga_sqrt_into(w->out, w->a);
}

static ga_status run_where(workload *w)
{
    return ga_where_into(w->out, w->c, w->a, w->b);
}

static ga_status run_copy(workload *w)
{
    return ga_assign(w->out, w->a);
}

/* Made once; compiled at its first run. */
static ga_status run_where_kernel(workload *w)
{
    static ga_kernel *kernel;

    if (!kernel)
        kernel = ga_elementwise_kernel("const float *x, const float *y, float *z",
                                       "z[i] = x[i] > 0.5f ? x[i] : y[i]", "where_kernel");
    return ga_run(kernel, w->a, w->b, w->out);
}

static ga_status run_linear(workload *w)
{
    static ga_kernel *kernel;

    if (!kernel)
        kernel = ga_elementwise_kernel("float a, const float *x, float b, const float *y, float *z",
                                       "z[i] = a*x[i] + b*y[i]", "linear_combination");
    return ga_run(kernel, 5, w->a, 6, w->b, w->out);
}

static ga_status run_length(workload *w)
{
    return ga_eval_into(w->out, "sqrt(x*x + y*y)", GA_NAMED("x", w->a), GA_NAMED("y", w->b));
}

static ga_status run_squares(workload *w)
{
    return ga_eval_into(w->out, "sum((x - y)**2)", GA_NAMED("x", w->a), GA_NAMED("y", w->b));
}

static ga_status run_rms(workload *w)
{
    return ga_eval_into(w->out, "sqrt(mean(x**2))", GA_NAMED("x", w->a));
}

#define RATE 0.02
#define SIGMA 0.30

static ga_status run_call(workload *w)
{
    return ga_eval_into(w->out, BLACK_SCHOLES, GA_NAMED("spot", w->a), GA_NAMED("strike", w->b),
                        GA_NAMED("years", w->c), GA_NAMED("rate", RATE), GA_NAMED("sigma", SIGMA));
}

static ga_status run_fast_call(workload *w)
{
    static ga_expr *call; /* one for all calls, as in a program */

    if (!call)
        call = ga_compile_fast_expr(BLACK_SCHOLES);
    return ga_eval_expr_into(w->out, call, GA_NAMED("spot", w->a), GA_NAMED("strike", w->b),
                             GA_NAMED("years", w->c), GA_NAMED("rate", RATE),
                             GA_NAMED("sigma", SIGMA));
}

static ga_status run_sum(workload *w)
{
    return status_of(ga_sum(w->a, .out = w->out));
}

static ga_status run_max(workload *w)
{
    return status_of(ga_max(w->a, .out = w->out));
}

static ga_status run_argmax(workload *w)
{
    return status_of(ga_argmax(w->a, .out = w->out));
}

static ga_status run_any(workload *w)
{
    return status_of(ga_any(w->a, .out = w->out));
}

static ga_status run_all(workload *w)
{
    return status_of(ga_all(w->a, .out = w->out));
}

static ga_status run_var(workload *w)
{
    return status_of(ga_var(w->a, .out = w->out));
}

static ga_status run_dot(workload *w)
{
    ga_free(w->out);
    w->out = ga_dot(w->a, w->b);
    return status_of(w->out);
}

static ga_status run_outer(workload *w)
{
    return status_of(ga_outer(w->c, w->b, .out = w->out));
}

static ga_status run_vecdot(workload *w)
{
    return status_of(ga_vecdot(w->a, w->b, .out = w->out));
}

static ga_status run_matmul(workload *w)
{
    return status_of(ga_matmul(w->a, w->b, .out = w->out));
}

static ga_status run_matmul_tf32(workload *w)
{
    return status_of(ga_matmul(w->a, w->b, .out = w->out, .tf32 = true));
}

static ga_status run_einsum_rows(workload *w)
{
    return status_of(ga_einsum("ij,j->i", GA_ARRAYS(w->a, w->b), .out = w->out));
}

static ga_status run_einsum_three(workload *w)
{
    return status_of(ga_einsum("ij,ij,j->i", GA_ARRAYS(w->a, w->a, w->b), .out = w->out));
}

static ga_status run_sum0(workload *w)
{
    return status_of(ga_sum(w->a, GA_AXIS(0), .out = w->out));
}

static ga_status run_sum1(workload *w)
{
    return status_of(ga_sum(w->a, GA_AXIS(1), .out = w->out));
}

static ga_status run_sum02(workload *w)
{
    return status_of(ga_sum(w->a, GA_AXIS(0, 2), .out = w->out));
}

static ga_status run_cumsum(workload *w)
{
    return status_of(ga_cumsum(w->a, .out = w->out));
}

static ga_status run_cumsum0(workload *w)
{
    return status_of(ga_cumsum(w->a, GA_AXIS(0), .out = w->out));
}

static ga_status run_cumsum1(workload *w)
{
    return status_of(ga_cumsum(w->a, GA_AXIS(1), .out = w->out));
}

static ga_status run_cummax(workload *w)
{
    return status_of(ga_cummax(w->a, .out = w->out));
}

static ga_status run_max0(workload *w)
{
    return status_of(ga_max(w->a, GA_AXIS(0), .out = w->out));
}

static ga_status run_max1(workload *w)
{
    return status_of(ga_max(w->a, GA_AXIS(1), .out = w->out));
}

/* ---- Elements by their indices ---- */

/* Elements from the last one to the first. */
static bool vector_and_indices(workload *w, const bench_case *c)
{
    w->c = ga_arange(GA_INT32, (double)w->n - 1, -1, -1);
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(w->n));
    w->a = ga_retain(w->x);
    w->out = ga_zeros(GA_FLOAT32, GA_SHAPE(w->n));
    return made(w) && w->c;
}

/* Where element i is read in a random order: no neighbours are near. */
#define SCATTER INT64_C(2654435761)

static bool vector_and_scattered(workload *w, const bench_case *c)
{
    GA_SCOPE {
        gpuarray *places =
            ga_remainder(ga_multiply(ga_arange(GA_INT64, 0, w->n, 1), SCATTER), w->n);
        w->c = ga_keep(ga_astype(places, GA_INT32));
    }
    w->x = filled(w, c->kind, w->seed, GA_SHAPE(w->n));
    w->a = ga_retain(w->x);
    w->out = ga_zeros(GA_FLOAT32, GA_SHAPE(w->n));
    return made(w) && w->c;
}

static bool matrix_and_reversed(workload *w, const bench_case *c)
{
    w->c = ga_arange(GA_INT32, (double)side_of(w) - 1, -1, -1);
    return matrix(w, c) && w->c;
}

static bool matrix_and_reversed_lines(workload *w, const bench_case *c)
{
    GA_SCOPE {
        gpuarray *line = ga_arange(GA_INT32, (double)side_of(w) - 1, -1, -1);
        w->c = ga_keep(ga_copy(ga_broadcast_to(line, GA_SHAPE(side_of(w), side_of(w)))));
    }
    return matrix(w, c) && w->c;
}

/* Every index is one of a thousand. */
static bool thousand_counts(workload *w, const bench_case *c)
{
    (void)c;
    w->x = ga_remainder(ga_arange(GA_INT32, 0, w->n, 1), 1000);
    w->a = ga_retain(w->x);
    w->out = ga_zeros(GA_INT32, GA_SHAPE(1000));
    return made(w);
}

/* The same thousand, and a number of its own for each index. */
static bool thousand_sums(workload *w, const bench_case *c)
{
    if (!thousand_counts(w, c))
        return false;
    w->c = ga_arange(GA_INT32, 0, w->n, 1);
    return w->c != NULL;
}

/* A number for each of a million elements in a random order, many times. */
#define MILLION 1000000

static bool million_sums(workload *w, const bench_case *c)
{
    if (!vector_and_scattered(w, c))
        return false;
    gpuarray *places = ga_remainder(w->c, MILLION), *sums = ga_zeros(GA_FLOAT32, GA_SHAPE(MILLION)),
             *ones = ga_ones(GA_FLOAT32, GA_SHAPE(w->n));
    if (places)
        ga_replace(&w->c, places);
    if (sums)
        ga_replace(&w->out, sums);
    if (ones)
        ga_replace(&w->a, ones);
    return places && sums && ones;
}

static ga_status run_take(workload *w)
{
    return status_of(ga_take(w->a, w->c, .out = w->out));
}

static ga_status run_take_rows(workload *w)
{
    return status_of(ga_take(w->a, w->c, GA_AXIS(0), .out = w->out));
}

static ga_status run_take_columns(workload *w)
{
    return status_of(ga_take(w->a, w->c, GA_AXIS(1), .out = w->out));
}

static ga_status run_take_along_axis(workload *w)
{
    return status_of(ga_take_along_axis(w->a, w->c, GA_AXIS(1), .out = w->out));
}

static ga_status run_put(workload *w)
{
    return ga_put(w->out, w->c, w->a);
}

/* From zeros, since it adds to what is there. */
static ga_status run_index_maximum(workload *w)
{
    const ga_status status = ga_assign(w->out, 0);
    return status == GA_OK ? ga_index_maximum(w->out, w->a, w->c) : status;
}

static ga_status run_index_add(workload *w)
{
    const ga_status status = ga_assign(w->out, 0);
    return status == GA_OK ? ga_index_add(w->out, w->a, w->c) : status;
}

static ga_status run_index_sum(workload *w)
{
    const ga_status status = ga_assign(w->out, 0);
    return status == GA_OK ? ga_index_add(w->out, w->c, w->a) : status;
}

static ga_status run_index_add_relaxed(workload *w)
{
    const ga_status status = ga_assign(w->out, 0);
    return status == GA_OK ? ga_index_add_with(.x = w->out, .value = GA_V(w->a), GA_PARTS(w->c),
                                               .relaxed = true)
                           : status;
}

static ga_status run_index_count(workload *w)
{
    const ga_status status = ga_assign(w->out, 0);
    return status == GA_OK ? ga_index_add(w->out, 1, w->a) : status;
}

static ga_status run_concatenate(workload *w)
{
    return set_out(w, ga_concatenate(GA_ARRAYS(w->b, w->a)));
}

static ga_status run_stack(workload *w)
{
    return set_out(w, ga_stack(GA_ARRAYS(w->b, w->a), GA_AXIS(-1)));
}

static ga_status run_concatenate1(workload *w)
{
    return set_out(w, ga_concatenate(GA_ARRAYS(w->b, w->a), GA_AXIS(1)));
}

static ga_status run_stack1(workload *w)
{
    return set_out(w, ga_stack(GA_ARRAYS(w->b, w->a), GA_AXIS(1)));
}

static ga_status run_roll2(workload *w)
{
    return set_out(w, ga_roll(w->a, 5, GA_AXIS(0, 1)));
}

static ga_status run_repeat(workload *w)
{
    return set_out(w, ga_repeat(w->a, 2));
}

static ga_status run_tile(workload *w)
{
    return set_out(w, ga_tile(w->a, GA_SHAPE(2)));
}

static ga_status run_pad(workload *w)
{
    return set_out(w, ga_pad(w->a, GA_SHAPE(1)));
}

static ga_status run_diff(workload *w)
{
    return set_out(w, ga_diff(w->a, 1));
}

static ga_status run_triu(workload *w)
{
    return set_out(w, ga_triu(w->a, 0));
}

static ga_status run_roll(workload *w)
{
    return set_out(w, ga_roll(w->a, 5));
}

static ga_status run_random(workload *w)
{
    ga_random_seed(w->seed);
    return ga_rng_random_into(w->out, ga_rng_default());
}

static ga_status run_normal(workload *w)
{
    ga_random_seed(w->seed);
    return ga_rng_standard_normal_into(w->out, ga_rng_default());
}

/* Distributions: results of several dtypes, and a call that draws into any array. */

static bool no_counts(workload *w, const bench_case *c)
{
    (void)c;
    w->x = ga_empty(GA_INT32, GA_SHAPE(w->n));
    w->a = ga_retain(w->x);
    w->out = ga_retain(w->x);
    return made(w);
}

static ga_status draw_gamma(gpuarray *out)
{
    return ga_rng_standard_gamma_into(out, ga_rng_default(), 2.5);
}

static ga_status draw_poisson(gpuarray *out)
{
    return ga_rng_poisson_into(out, ga_rng_default(), 30);
}

static ga_status draw_binomial(gpuarray *out)
{
    return ga_rng_binomial_into(out, ga_rng_default(), 1000, 0.25);
}

static ga_status run_gamma(workload *w)
{
    ga_random_seed(w->seed);
    return draw_gamma(w->out);
}

static ga_status run_poisson(workload *w)
{
    ga_random_seed(w->seed);
    return draw_poisson(w->out);
}

static ga_status run_binomial(workload *w)
{
    ga_random_seed(w->seed);
    return draw_binomial(w->out);
}

static ga_status run_choice(workload *w)
{
    ga_random_seed(w->seed);
    return set_out(w, ga_rng_choice(ga_rng_default(), 1000, GA_SHAPE(w->n)));
}

static ga_status run_permutation(workload *w)
{
    ga_random_seed(w->seed);
    return set_out(w, ga_rng_permutation(ga_rng_default(), w->n));
}

/* ---- What they must give ---- */

static double y_at(const workload *w, const bench_case *c, int64_t k)
{
    return random_value(c->kind, w->seed + 1, (uint64_t)k);
}

static double expect_add(const workload *w, const bench_case *c, int64_t i)
{
    const double sum = x_at(w, c, i) + y_at(w, c, i);

    return c->kind == RANDOM_I8 ? (int8_t)(int)sum : sum;
}

static double expect_or(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i) + y_at(w, c, i) > 0;
}

static double expect_mixed(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i) + random_value(RANDOM_F32, w->seed + 1, (uint64_t)i);
}

static double expect_reversed(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, ga_size(w->x) - 1 - i) + y_at(w, c, i);
}

static double expect_every_second(const workload *w, const bench_case *c, int64_t i)
{
    return expect_add(w, c, 2 * i);
}

static double expect_from_second(const workload *w, const bench_case *c, int64_t i)
{
    return expect_add(w, c, i + 1);
}

static double expect_row(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i) + y_at(w, c, i % side_of(w));
}

static double expect_column(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i) + y_at(w, c, i / side_of(w));
}

static double expect_odd_rows(const workload *w, const bench_case *c, int64_t i)
{
    return expect_add(w, c, i + i / (side_of(w) - 1) + 1);
}

static double expect_transposed(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i % side_of(w) * side_of(w) + i / side_of(w));
}

static double expect_transposed_add(const workload *w, const bench_case *c, int64_t i)
{
    return expect_transposed(w, c, i) + y_at(w, c, i);
}

static double expect_sin(const workload *w, const bench_case *c, int64_t i)
{
    return sin(x_at(w, c, i));
}

static double expect_exp(const workload *w, const bench_case *c, int64_t i)
{
    return exp(x_at(w, c, i));
}

static double expect_sqrt(const workload *w, const bench_case *c, int64_t i)
{
    return sqrt(x_at(w, c, i));
}

static double expect_where(const workload *w, const bench_case *c, int64_t i)
{
    return random_value(RANDOM_BOOL, w->seed + 2, (uint64_t)i) != 0.0 ? x_at(w, c, i)
                                                                      : y_at(w, c, i);
}

static double expect_where_kernel(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i) > 0.5 ? x_at(w, c, i) : y_at(w, c, i);
}

static double expect_linear(const workload *w, const bench_case *c, int64_t i)
{
    return 5 * x_at(w, c, i) + 6 * y_at(w, c, i);
}

/* The sum or the maximum of `count` elements from `first` on, `step` apart. */
static double sum_of(const workload *w, const bench_case *c, int64_t first, int64_t step,
                     int64_t count)
{
    double sum = 0;

    for (int64_t k = 0; k < count; k++)
        sum += x_at(w, c, first + k * step);
    return sum;
}

static double max_of(const workload *w, const bench_case *c, int64_t first, int64_t step,
                     int64_t count)
{
    double max = -INFINITY;

    for (int64_t k = 0; k < count; k++)
        max = fmax(max, x_at(w, c, first + k * step));
    return max;
}

static double expect_sum(const workload *w, const bench_case *c, int64_t i)
{
    return sum_of(w, c, i, 1, ga_size(w->x));
}

/* Of the real and the imaginary parts. */
static double expect_complex_sum(const workload *w, const bench_case *c, int64_t i)
{
    return sum_of(w, c, i, 1, 2 * ga_size(w->x));
}

static double expect_max(const workload *w, const bench_case *c, int64_t i)
{
    return max_of(w, c, i, 1, ga_size(w->x));
}

static double expect_argmax(const workload *w, const bench_case *c, int64_t i)
{
    const double max = expect_max(w, c, i);
    int64_t k = 0;

    while (x_at(w, c, k) != max)
        k++;
    return (double)k;
}

static double expect_true(const workload *w, const bench_case *c, int64_t i)
{
    (void)w, (void)c, (void)i; /* no element is zero */
    return 1;
}

static double expect_dot(const workload *w, const bench_case *c, int64_t i)
{
    double sum = 0;

    for (int64_t k = i; k < ga_size(w->x); k++)
        sum += x_at(w, c, k) * y_at(w, c, k);
    return sum;
}

static double expect_outer(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i / side_of(w)) * y_at(w, c, i % side_of(w));
}

static double expect_product(const workload *w, const bench_case *c, int64_t i)
{
    const int a = ga_ndim(w->a), b = ga_ndim(w->b);
    const int64_t k = ga_shape(w->a)[a - 1], m = a > 1 ? ga_shape(w->a)[a - 2] : 1,
                  n = b > 1 ? ga_shape(w->b)[b - 1] : 1;
    const int64_t row = i / n, column = i / (m * n) * k * n + i % n;
    double sum = 0;

    for (int64_t l = 0; l < k; l++)
        sum += x_at(w, c, row * k + l) * y_at(w, c, column + l * n);
    return sum;
}

static double expect_bytes(const workload *w, const bench_case *c, int64_t i)
{
    return (int8_t)(int64_t)expect_product(w, c, i); /* wraps around */
}

/* A row of x by the same row of y, or by y itself; `power` is that of x. */
static double row_by_row(const workload *w, const bench_case *c, int64_t i, bool rows, int power)
{
    const int64_t side = side_of(w);
    double sum = 0;

    for (int64_t k = 0; k < side; k++)
        sum += pow(x_at(w, c, i * side + k), power) * y_at(w, c, rows ? i * side + k : k);
    return sum;
}

static double expect_vecdot(const workload *w, const bench_case *c, int64_t i)
{
    return row_by_row(w, c, i, true, 1);
}

static double expect_einsum_rows(const workload *w, const bench_case *c, int64_t i)
{
    return row_by_row(w, c, i, false, 1);
}

static double expect_einsum_three(const workload *w, const bench_case *c, int64_t i)
{
    return row_by_row(w, c, i, false, 2);
}

static double expect_length(const workload *w, const bench_case *c, int64_t i)
{
    return hypot(x_at(w, c, i), y_at(w, c, i));
}

static double normal(double x)
{
    return 0.5 * erfc(-x / sqrt(2.0));
}

static double expect_call(const workload *w, const bench_case *c, int64_t i)
{
    const double spot = x_at(w, c, i), strike = y_at(w, c, i);
    const double years = random_value(c->kind, w->seed + 2, (uint64_t)i);
    const double deviation = SIGMA * sqrt(years);
    const double d1 = (log(spot / strike) + (RATE + 0.5 * SIGMA * SIGMA) * years) / deviation;

    return spot * normal(d1) - strike * exp(-RATE * years) * normal(d1 - deviation);
}

static double expect_squares(const workload *w, const bench_case *c, int64_t i)
{
    double sum = 0;

    for (int64_t k = i; k < ga_size(w->x); k++)
        sum += (x_at(w, c, k) - y_at(w, c, k)) * (x_at(w, c, k) - y_at(w, c, k));
    return sum;
}

static double expect_rms(const workload *w, const bench_case *c, int64_t i)
{
    double sum = 0;

    for (int64_t k = i; k < ga_size(w->x); k++)
        sum += x_at(w, c, k) * x_at(w, c, k);
    return sqrt(sum / (double)ga_size(w->x));
}

static double expect_var(const workload *w, const bench_case *c, int64_t i)
{
    const double mean = expect_sum(w, c, i) / (double)ga_size(w->x);
    double sum = 0;

    for (int64_t k = 0; k < ga_size(w->x); k++)
        sum += (x_at(w, c, k) - mean) * (x_at(w, c, k) - mean);
    return sum / (double)ga_size(w->x);
}

/* The sum or the maximum of the elements before every 1024th: samples then take few more. Made anew
 * for each input; without memory every expectation is NaN. */
enum { STRETCH = 1 << 10 };
typedef double (*of_some)(const workload *w, const bench_case *c, int64_t first, int64_t step,
                          int64_t count);
static struct {
    const bench_case *of;
    const gpuarray *x;
    uint32_t seed;
    double *before;
} stretches;

static double joined(of_some of, double a, double b)
{
    return of == sum_of ? a + b : fmax(a, b);
}

static const double *before_stretches(const workload *w, const bench_case *c, of_some of)
{
    const int64_t count = ga_size(w->x) / STRETCH + 1;
    double all = of(w, c, 0, 1, 0);

    if (stretches.of == c && stretches.x == w->x && stretches.seed == w->seed)
        return stretches.before;
    free(stretches.before);
    stretches.before = malloc((size_t)count * sizeof *stretches.before);
    stretches.of = c;
    stretches.x = w->x;
    stretches.seed = w->seed;
    for (int64_t k = 0; stretches.before && k < count; k++) {
        stretches.before[k] = all;
        all = joined(of, all, of(w, c, k * STRETCH, 1, k + 1 < count ? STRETCH : 0));
    }
    return stretches.before;
}

static double expect_running(const workload *w, const bench_case *c, int64_t i, of_some of)
{
    const double *before = before_stretches(w, c, of);
    const int64_t first = i / STRETCH * STRETCH;

    return before ? joined(of, before[i / STRETCH], of(w, c, first, 1, i - first + 1)) : NAN;
}

static double expect_cumsum(const workload *w, const bench_case *c, int64_t i)
{
    return expect_running(w, c, i, sum_of);
}

static double expect_cummax(const workload *w, const bench_case *c, int64_t i)
{
    return expect_running(w, c, i, max_of);
}

static double expect_cumsum0(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t width = ga_shape(w->x)[1];

    return sum_of(w, c, i % width, width, i / width + 1);
}

static double expect_cumsum1(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t width = ga_shape(w->x)[1];

    return sum_of(w, c, i / width * width, 1, i % width + 1);
}

static double expect_sum0(const workload *w, const bench_case *c, int64_t i)
{
    return sum_of(w, c, i, ga_shape(w->x)[1], ga_shape(w->x)[0]);
}

static double expect_sum1(const workload *w, const bench_case *c, int64_t i)
{
    return sum_of(w, c, i * ga_shape(w->x)[1], 1, ga_shape(w->x)[1]);
}

static double expect_sum_middle(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t *shape = ga_shape(w->x);

    return sum_of(w, c, i / shape[2] * shape[1] * shape[2] + i % shape[2], shape[2], shape[1]);
}

static double expect_sum_ends(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t *shape = ga_shape(w->x);
    double sum = 0;

    for (int64_t k = 0; k < shape[0]; k++)
        sum += sum_of(w, c, (k * shape[1] + i) * shape[2], 1, shape[2]);
    return sum;
}

static double expect_max0(const workload *w, const bench_case *c, int64_t i)
{
    return max_of(w, c, i, ga_shape(w->x)[1], ga_shape(w->x)[0]);
}

static double expect_max1(const workload *w, const bench_case *c, int64_t i)
{
    return max_of(w, c, i * ga_shape(w->x)[1], 1, ga_shape(w->x)[1]);
}

static double expect_take(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, w->n - 1 - i);
}

static double expect_scattered(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i * SCATTER % w->n);
}

/* The number by which SCATTER is divided modulo n: Euclid's algorithm. */
static int64_t gathering(int64_t n)
{
    int64_t a = SCATTER % n, b = n, factor = 1, other = 0;
    while (b != 0) {
        const int64_t quotient = a / b, rest = a % b, next = factor - quotient * other;
        a = b;
        b = rest;
        factor = other;
        other = next;
    }
    return factor < 0 ? factor + n : factor;
}

static double expect_put(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i * gathering(w->n) % w->n);
}

static double expect_million(const workload *w, const bench_case *c, int64_t i)
{
    (void)c;
    return (double)(w->n / MILLION + (i < w->n % MILLION));
}

static double expect_reversed_rows(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t width = ga_shape(w->x)[1];

    return x_at(w, c, (width - 1 - i / width) * width + i % width);
}

static double expect_reversed_columns(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t width = ga_shape(w->x)[1];

    return x_at(w, c, i / width * width + width - 1 - i % width);
}

static double expect_count(const workload *w, const bench_case *c, int64_t i)
{
    (void)c;
    return (double)(w->n / 1000 + (i < w->n % 1000));
}

/* i + (i + 1000) + ..., in 32 bits. */
static double expect_sum_of_thousandths(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t count = (int64_t)expect_count(w, c, i);
    const uint64_t sum = (uint64_t)(count * i) + (uint64_t)(count * (count - 1) / 2) * 1000;
    return (double)(int32_t)(uint32_t)sum;
}

static double expect_twice(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i % w->n);
}

static double expect_pair(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i / 2);
}

static double expect_halves(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t half = w->n / 2;

    return x_at(w, c, i < half ? half + i : i - half);
}

static double expect_half_pair(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i / 2 + (i % 2 ? 0 : w->n / 2));
}

static double expect_padded(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t width = ga_shape(w->x)[1], row = i / (width + 2), column = i % (width + 2);
    const bool inside = row > 0 && row <= width && column > 0 && column <= width;

    return inside ? x_at(w, c, (row - 1) * width + column - 1) : 0;
}

static double expect_difference(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, i + 1) - x_at(w, c, i);
}

static double expect_upper(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t width = ga_shape(w->x)[1];

    return i / width <= i % width ? x_at(w, c, i) : 0;
}

/* A row of each half, the last half first, side by side or one after another. */
static double expect_half_rows(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t side = side_of(w), row = i / (2 * side) + (i / side % 2 ? 0 : side / 2);

    return x_at(w, c, row * side + i % side);
}

static double expect_roll2(const workload *w, const bench_case *c, int64_t i)
{
    const int64_t side = side_of(w), row = (i / side + side - 5) % side,
                  column = (i % side + side - 5) % side;

    return x_at(w, c, row * side + column);
}

static double expect_roll(const workload *w, const bench_case *c, int64_t i)
{
    return x_at(w, c, (i + w->n - 5) % w->n);
}

/* Block of the generator and number in it of element i: see docs/random.md. */
static words words_of(const workload *w, int64_t i)
{
    return philox(philox_counter((unsigned long long)(i / 512 * 128 + i % 128), 0, FOR_32_BITS),
                  w->seed);
}

static double expect_random(const workload *w, const bench_case *c, int64_t i)
{
    (void)c;
    return (words_of(w, i).w[i / 128 % 4] >> 8) * 0x1p-24;
}

/* Element i drawn by itself. */
static double drawn_alone(const workload *w, ga_dtype dtype, int64_t i,
                          ga_status (*draw)(gpuarray *))
{
    const ga_rng_state state = {w->seed, (uint64_t)i};
    gpuarray *one = ga_empty(dtype, GA_SHAPE(1));

    ga_rng_set_state(ga_rng_default(), &state);
    const double number = one && draw(one) == GA_OK ? ga_item_double(one) : NAN;
    ga_free(one);
    return number;
}

static double expect_gamma(const workload *w, const bench_case *c, int64_t i)
{
    (void)c;
    return drawn_alone(w, GA_FLOAT32, i, draw_gamma);
}

static double expect_poisson(const workload *w, const bench_case *c, int64_t i)
{
    (void)c;
    return drawn_alone(w, GA_INT32, i, draw_poisson);
}

static double expect_binomial(const workload *w, const bench_case *c, int64_t i)
{
    (void)c;
    return drawn_alone(w, GA_INT32, i, draw_binomial);
}

/* The upper half of a product with the word; 2^32 mod 1000 words are drawn again. */
static double expect_choice(const workload *w, const bench_case *c, int64_t i)
{
    const uint64_t product = (uint64_t)words_of(w, i).w[i / 128 % 4] * 1000;

    (void)c;
    if ((uint32_t)product >= ((uint64_t)1 << 32) % 1000)
        return (double)(product >> 32);
    const words more = philox(philox_counter((unsigned long long)i, 1, FOR_ONE), w->seed);
    return (double)((uint64_t)more.w[0] * 1000 >> 32);
}

/* A Feistel network over the bits of n, until the place is below n: see distributions.tmpl. */
static double expect_permuted(const workload *w, const bench_case *c, int64_t i)
{
    const words key = philox(philox_counter(0, 0, FOR_CALL), w->seed);
    int bits = 8;
    uint64_t place = (uint64_t)i;

    (void)c;
    while ((w->n - 1) >> bits > 0)
        bits++;
    const int left = bits / 2, right = bits - left;
    do {
        uint32_t l = (uint32_t)(place >> right), r = (uint32_t)place & ((1u << right) - 1);
        for (unsigned round = 0; round < 12; round += 2) {
            const uint32_t step = round * 0x9e3779b9u;
            l ^= random_mix(0, r ^ (key.w[round % 4] + step)) & ((1u << left) - 1);
            r ^= random_mix(0, l ^ (key.w[round % 4 + 1] + step)) & ((1u << right) - 1);
        }
        place = (uint64_t)l << right | r;
    } while (place >= (uint64_t)w->n);
    return (double)place;
}

/* The low 23 bits, and a half, over 2^23. */
static float fraction(unsigned word)
{
    return (float)((word & 0x7fffff) + 0.5) * 0x1p-23f;
}

static double expect_normal(const workload *w, const bench_case *c, int64_t i)
{
    const words v = words_of(w, i);
    const int row = (int)(i / 128 % 4);
    const unsigned turn = v.w[2 + row / 2];
    const double angle = M_PI * ((turn & 0x7fffff) * 0x1p-23 - 0.5);
    const double split = fraction(v.w[2] >> 24 << 16 | v.w[0] >> 24 << 8 | v.w[1] >> 24);
    const float product = fraction(v.w[0]) * fraction(v.w[1]);
    const double radius = sqrt(-2 * log((double)product) * (row < 2 ? split : 1 - split));

    (void)c;
    return (turn >> 31 ? -radius : radius) * (row % 2 ? sin(angle) : cos(angle));
}

/* ---- The table ---- */

/* clang-format off */
#define F16 RANDOM_F16
#define BF16 RANDOM_BF16
#define F32 RANDOM_F32
#define F64 RANDOM_F64
#define POSITIVE RANDOM_F32_POSITIVE
#define COPY LIMIT_READ1_WRITE1
#define ADD LIMIT_READ2_WRITE1
#define READ LIMIT_READ
#define WRITE LIMIT_WRITE
#define NONE LIMIT_COUNT
const bench_case bench_cases[] = {
    {"add f32", ADD, 12, 1e-6, false, F32, two_vectors, run_add, expect_add},
    {"add f16", ADD, 6, 1e-3, false, F16, two_vectors, run_add, expect_add},
    {"add i8", ADD, 3, 0, false, RANDOM_I8, two_vectors, run_add, expect_add},
    {"add bf16", ADD, 6, 8e-3, false, BF16, two_vectors, run_add, expect_add},
    {"add bool", ADD, 3, 0, false, RANDOM_BOOL, two_vectors, run_add, expect_or},
    {"i8 + f32", ADD, 9, 1e-6, false, RANDOM_I8, bytes_and_floats, run_add, expect_mixed},
    {"sin f32", COPY, 8, 1e-6, false, F32, one_vector, run_sin, expect_sin},
    {"sqrt f32", COPY, 8, 1e-6, false, POSITIVE, one_vector, run_sqrt, expect_sqrt},
    {"exp f64", COPY, 16, 1e-14, false, F64, one_vector, run_exp, expect_exp},
    {"m + row", COPY, 8, 1e-6, false, F32, matrix_and_row, run_add, expect_row},
    {"m + column", COPY, 8, 1e-6, false, F32, matrix_and_column, run_add, expect_column},
    {"m[:, 1:] + m2[:, 1:]", ADD, 12, 1e-6, false, F32, odd_rows, run_add, expect_odd_rows},
    {"m.T + m2", ADD, 12, 1e-6, false, F32, transposed_and_matrix, run_add, expect_transposed_add},
    {"copy of m.T", COPY, 8, 0, false, F32, transposed, run_copy, expect_transposed},
    {"x[::2] + y[::2]", ADD, 10, 1e-6, false, F32, every_second, run_add, expect_every_second},
    {"x[1:] + y[1:]", ADD, 12, 1e-6, false, F32, from_second, run_add, expect_from_second},
    {"x[::-1] + y", ADD, 12, 1e-6, false, F32, reversed_and_vector, run_add, expect_reversed},
    {"where(c, x, y)", ADD, 13, 0, false, F32, vectors_and_mask, run_where, expect_where},
    {"where(x > .5, x, y) kernel", ADD, 12, 0, false, F32, two_vectors, run_where_kernel,
     expect_where_kernel},
    {"5*x + 6*y kernel", ADD, 12, 1e-6, false, F32, two_vectors, run_linear, expect_linear},
    {"eval sqrt(x*x + y*y)", ADD, 12, 1e-6, false, F32, two_vectors, run_length, expect_length},
    {"eval Black-Scholes call", ADD, 16, 1e-5, false, POSITIVE, three_vectors, run_call,
     expect_call},
    {"eval Black-Scholes call, fast", ADD, 16, 1e-4, false, POSITIVE, three_vectors,
     run_fast_call, expect_call},
    {"eval sum((x - y)**2)", READ, 8, 1e-6, true, F32, all_of_two_vectors, run_squares,
     expect_squares},
    {"eval sqrt(mean(x**2))", READ, 4, 1e-6, true, F32, all_of_vector, run_rms, expect_rms},
    {"sum f32", READ, 4, 1e-6, true, F32, all_of_vector, run_sum, expect_sum},
    {"sum f16", READ, 2, 1e-3, true, F16, all_of_vector, run_sum, expect_sum},
    {"sum f64", READ, 8, 1e-12, true, F64, all_of_vector, run_sum, expect_sum},
    {"sum c64", READ, 8, 1e-6, true, F32, complex_vector, run_sum, expect_complex_sum},
    {"max f32", READ, 4, 0, false, F32, all_of_vector, run_max, expect_max},
    {"argmax f32", READ, 4, 0, false, F32, index_of_vector, run_argmax, expect_argmax},
    {"dot f32", READ, 8, 1e-6, true, F32, all_of_two_vectors, run_dot, expect_dot},
    {"outer f32", WRITE, 4, 1e-6, false, F32, vectors_of_sides, run_outer, expect_outer},
    {"vecdot m, m2 axis 1", READ, 8, 1e-6, true, F32, sides_of_matrices, run_vecdot, expect_vecdot},
    {"einsum ij,j->i", READ, 4, 1e-6, true, F32, side_of_matrix_and_row, run_einsum_rows,
     expect_einsum_rows},
    {"einsum ij,ij,j->i", READ, 4, 1e-6, true, F32, side_of_matrix_and_row, run_einsum_three,
     expect_einsum_three},
    {"matmul f32", NONE, 4, 2e-3, false, F32, half_squares, run_matmul, expect_product},
    {"matmul f32, tf32", NONE, 4, 0.8, false, F32, half_squares, run_matmul_tf32, expect_product},
    {"matmul f64", NONE, 8, 1e-10, false, F64, quarter_squares, run_matmul, expect_product},
    {"matmul f16", NONE, 2, 2e-3, false, F16, half_squares, run_matmul, expect_product},
    {"matmul bf16", NONE, 2, 1e-2, false, BF16, half_squares, run_matmul, expect_product},
    {"matmul i8", NONE, 1, 0, false, RANDOM_I8, quarter_squares, run_matmul, expect_bytes},
    {"matvec f32", READ, 4, 2e-3, false, F32, square_and_vector, run_matmul, expect_product},
    {"vecmat f32", NONE, 4, 2e-3, false, F32, vector_and_square, run_matmul, expect_product},
    {"matmul (k,64,64)", ADD, 12, 1e-3, false, F32, stacks, run_matmul, expect_product},
    {"matmul (1000,16), (16,1000)", NONE, 4, 1e-4, false, F32, thin_factors, run_matmul,
     expect_product},
    {"matmul 128", NONE, 4, 1e-4, false, F32, small_squares, run_matmul, expect_product},
    {"var f32", READ, 4, 1e-5, false, F32, all_of_vector, run_var, expect_var},
    {"all f32", READ, 4, 0, false, F32, truth_of_vector, run_all, expect_true},
    {"any f32, true at once", NONE, 4, 0, false, F32, truth_of_vector, run_any, expect_true},
    {"sum (1000,k) axis 1", READ, 4, 1e-6, true, F32, long_rows, run_sum1, expect_sum1},
    {"sum m axis 0", READ, 4, 1e-6, true, F32, side_of_matrix, run_sum0, expect_sum0},
    {"sum m axis 1", READ, 4, 1e-6, true, F32, side_of_matrix, run_sum1, expect_sum1},
    {"sum middle of (256,k,256)", READ, 4, 1e-6, true, F32, middle_of_cube, run_sum1,
     expect_sum_middle},
    {"sum ends of (256,k,256)", READ, 4, 1e-6, true, F32, ends_of_cube, run_sum02, expect_sum_ends},
    {"sum (k,4) axis 0", READ, 4, 1e-6, true, F32, thin_columns, run_sum0, expect_sum0},
    {"sum (k,4) axis 1", READ, 5, 1e-6, true, F32, thin_rows, run_sum1, expect_sum1},
    {"max (k,4) axis 0", READ, 4, 0, false, F32, thin_columns, run_max0, expect_max0},
    {"max (k,4) axis 1", READ, 5, 0, false, F32, thin_rows, run_max1, expect_max1},
    {"cumsum f32", COPY, 8, 1e-5, false, POSITIVE, one_vector, run_cumsum, expect_cumsum},
    {"cumsum m axis 0", COPY, 8, 1e-5, false, POSITIVE, matrix, run_cumsum0, expect_cumsum0},
    {"cumsum m axis 1", COPY, 8, 1e-5, false, POSITIVE, matrix, run_cumsum1, expect_cumsum1},
    {"cumsum i8", COPY, 9, 0, false, RANDOM_I8, bytes_and_sums, run_cumsum, expect_cumsum},
    {"cumsum i32", COPY, 12, 0, false, RANDOM_I32, bytes_and_sums, run_cumsum, expect_cumsum},
    {"cummax f32", COPY, 8, 0, false, F32, one_vector, run_cummax, expect_cummax},
    {"cumsum f32 10^3", NONE, 8, 1e-5, false, POSITIVE, small_copy, run_cumsum, expect_cumsum},
    {"cumsum f32 10^5", NONE, 8, 1e-5, false, POSITIVE, small_copy, run_cumsum, expect_cumsum},
    {"cumsum f32 10^6", NONE, 8, 1e-5, false, POSITIVE, small_copy, run_cumsum, expect_cumsum},
    {"call: cumsum f32 10^3", NONE, 8, 1e-5, false, POSITIVE, small_copy, run_cumsum,
     expect_cumsum},
    {"call: cumsum f32 10^5", NONE, 8, 1e-5, false, POSITIVE, small_copy, run_cumsum,
     expect_cumsum},
    {"call: cumsum f32 10^6", NONE, 8, 1e-5, false, POSITIVE, small_copy, run_cumsum,
     expect_cumsum},
    {"take f32 in sequence", COPY, 12, 0, false, POSITIVE, vector_and_indices, run_take,
     expect_take},
    {"take f32 random", NONE, 12, 0, false, POSITIVE, vector_and_scattered, run_take,
     expect_scattered},
    {"take rows m", COPY, 8, 0, false, POSITIVE, matrix_and_reversed, run_take_rows,
     expect_reversed_rows},
    {"take columns m", COPY, 8, 0, false, POSITIVE, matrix_and_reversed, run_take_columns,
     expect_reversed_columns},
    {"take_along_axis m", COPY, 12, 0, false, POSITIVE, matrix_and_reversed_lines,
     run_take_along_axis, expect_reversed_columns},
    {"put f32", NONE, 12, 0, false, POSITIVE, vector_and_indices, run_put, expect_take},
    {"put f32 random", NONE, 12, 0, false, POSITIVE, vector_and_scattered, run_put, expect_put},
    {"add.at f32", NONE, 12, 0, false, POSITIVE, vector_and_indices, run_index_add, expect_take},
    {"maximum.at f32", NONE, 12, 0, false, POSITIVE, vector_and_indices, run_index_maximum,
     expect_take},
    {"add.at f32 random, 10^6 elements", NONE, 8, 0, false, POSITIVE, million_sums, run_index_add,
     expect_million},
    {"add.at f32 relaxed, 10^6 elements", NONE, 8, 0, false, POSITIVE, million_sums,
     run_index_add_relaxed, expect_million},
    {"add.at i32 values, 1000 elements", READ, 8, 0, false, POSITIVE, thousand_sums, run_index_sum,
     expect_sum_of_thousandths},
    {"add.at i32, 1000 elements", READ, 4, 0, false, POSITIVE, thousand_counts, run_index_count,
     expect_count},
    {"concatenate f32", COPY, 8, 0, false, POSITIVE, vector_halves, run_concatenate, expect_halves},
    {"stack f32", COPY, 8, 0, false, POSITIVE, vector_halves, run_stack, expect_half_pair},
    {"concatenate m axis 1", COPY, 8, 0, false, POSITIVE, matrix_halves, run_concatenate1,
     expect_half_rows},
    {"stack m axis 1", COPY, 8, 0, false, POSITIVE, matrix_halves, run_stack1, expect_half_rows},
    {"roll m, both axes", COPY, 8, 0, false, POSITIVE, matrix, run_roll2, expect_roll2},
    {"repeat f32", COPY, 12, 0, false, POSITIVE, one_vector, run_repeat, expect_pair},
    {"tile f32", COPY, 12, 0, false, POSITIVE, one_vector, run_tile, expect_twice},
    {"pad m", COPY, 8, 0, false, POSITIVE, matrix, run_pad, expect_padded},
    {"diff f32", COPY, 8, 1e-6, false, POSITIVE, one_vector, run_diff, expect_difference},
    {"triu m", COPY, 6, 0, false, POSITIVE, matrix, run_triu, expect_upper},
    {"roll f32", COPY, 8, 0, false, POSITIVE, one_vector, run_roll, expect_roll},
    {"random f32", WRITE, 4, 0, false, F32, no_vector, run_random, expect_random},
    {"normal f32", WRITE, 4, 1e-4, false, F32, no_vector, run_normal, expect_normal},
    {"gamma(2.5) f32", WRITE, 4, 0, false, F32, no_vector, run_gamma, expect_gamma},
    {"poisson(30)", WRITE, 4, 0, false, F32, no_counts, run_poisson, expect_poisson},
    {"binomial(1000, 0.25)", WRITE, 4, 0, false, F32, no_counts, run_binomial, expect_binomial},
    {"choice of 1000", WRITE, 8, 0, false, F32, no_counts, run_choice, expect_choice},
    {"permutation", WRITE, 8, 0, false, F32, no_counts, run_permutation, expect_permuted},
    {"sum f32 10^3", NONE, 4, 1e-6, true, F32, small_vector, run_sum, expect_sum},
    {"sum f32 10^5", NONE, 4, 1e-6, true, F32, small_vector, run_sum, expect_sum},
    {"sum f32 10^6", NONE, 4, 1e-6, true, F32, small_vector, run_sum, expect_sum},
    {"sum f32 10^7", NONE, 4, 1e-6, true, F32, small_vector, run_sum, expect_sum},
};
/* clang-format on */
const int bench_case_count = (int)(sizeof bench_cases / sizeof bench_cases[0]);
