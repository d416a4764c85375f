/* Random numbers: counter-based generators, and the distributions that fill arrays. */
#ifndef QUARRY_RANDOM_H
#define QUARRY_RANDOM_H

#include <quarry/array.h>
#include <quarry/each.h>
#include <quarry/ops.h>

GA_BEGIN_DECLS

/* A generator is a seed and a position, the number of elements drawn so far. Element p of a seed
 * is a function only of the seed, p, the distribution and the dtype (Philox4x32-10: Salmon,
 * Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). Numbers therefore
 * have the same bits on every device, whatever the shapes and the number of calls: 100 elements
 * and then 28 equal one call for 128. A seed has 2^64 elements.
 *
 * Any thread may use any generator. Each call takes its elements atomically; the order of calls
 * from different threads is unspecified. If a call fails, its positions are drawn again, unless
 * another thread has drawn meanwhile. The work goes to the thread's current stream, like any
 * operation. A graph would give the same numbers at every launch, so drawing while recording is
 * GA_ERR_UNSUPPORTED.
 *
 * Functions that create an array create it on the calling thread's current device, filled in C
 * order; the caller or a scope frees it. Functions with _into fill `out`, whatever its layout, in
 * its own dtype. All raise GA_ERR_INVALID for a NULL generator or an invalid number, GA_ERR_DTYPE
 * for a dtype that the distribution does not support, and the errors of ga_empty() for a shape.
 * Names and parameters are those of numpy.random.Generator, the numbers are not: its generator is
 * PCG64. Distributions of real numbers support every float; those smaller than float32 are
 * computed in it and rounded once. */

/* ---- Generators ---- */

/* A generator at position 0. Different seeds give independent numbers. NULL and GA_ERR_MEMORY on
 * failure. Freed by ga_rng_free(). */
GA_API ga_rng *ga_rng_new(uint64_t seed);

/* Frees a generator. Does nothing for NULL and the default generator. */
GA_API void ga_rng_free(ga_rng *rng);

/* The process's own generator, seeded from the system's entropy. It is seeded again in a child of
 * fork(), even if the parent called ga_random_seed(). In a child, other generators continue from
 * their current positions. */
GA_API ga_rng *ga_rng_default(void);

/* Sets the default generator to position 0 of this seed. */
GA_API void ga_random_seed(uint64_t seed);

/* The complete state of a generator, to save it and restore it in any process. */
typedef struct ga_rng_state {
    uint64_t seed, position;
} ga_rng_state;

/* GA_ERR_INVALID if either pointer is NULL. */
GA_API ga_status ga_rng_get_state(ga_rng *rng, ga_rng_state *state);
GA_API ga_status ga_rng_set_state(ga_rng *rng, const ga_rng_state *state);

/* Advances as if `elements` had been drawn, without any work. Workers that share a seed use
 * disjoint parts of its numbers if each jumps a different distance. */
GA_API ga_status ga_rng_jump(ga_rng *rng, uint64_t elements);

/* A new generator with its own seed, drawn from this generator, whose position advances by one. The
 * numbers of parent and children are independent. The probability that two of k children share a
 * seed is k (k - 1) / 2^65. Freed by ga_rng_free(). */
GA_API ga_rng *ga_rng_split(ga_rng *rng);

/* ---- Uniform numbers ---- */

/* The other distributions are rows of draw.def; their functions are in ops.h. */

/* Uniform in [0, 1): multiples of 2^-24 (float32) or 2^-53 (float64). Small floats are as in
 * ga_rng_uniform(). */
GA_API gpuarray *ga_rng_random(ga_rng *rng, ga_dtype dtype, int ndim, const int64_t *shape);
GA_API ga_status ga_rng_random_into(gpuarray *out, ga_rng *rng);

/* float64 in [0, 1) from the default generator, as numpy.random.random. */
GA_API gpuarray *ga_random(int ndim, const int64_t *shape);

/* ---- Distributions of integers ---- */

/* Integers in [low, high) with equal probability (Lemire, "Fast random integer generation in an
 * interval", 2019), for bool and any integer dtype. GA_ERR_INVALID if low is not below high, or if
 * a bound does not fit the dtype. */
GA_API gpuarray *ga_rng_integers(ga_rng *rng, ga_dtype dtype, int64_t low, int64_t high, int ndim,
                                 const int64_t *shape);
GA_API ga_status ga_rng_integers_into(gpuarray *out, ga_rng *rng, int64_t low, int64_t high);

/* The same with both ends included, as endpoint=True in NumPy. The bounds are C integers of any
 * type (GA_ERR_INVALID otherwise), so the full range of a dtype is possible. */
GA_API gpuarray *ga_rng_integers_endpoint(ga_rng *rng, ga_dtype dtype, ga_value low, ga_value high,
                                          int ndim, const int64_t *shape);

/* `nbytes` random bytes, a uint8 array. Every four bytes use one element of the generator.
 * GA_ERR_INVALID for a negative number. */
GA_API gpuarray *ga_rng_bytes(ga_rng *rng, int64_t nbytes);

/* ---- Orders and choices ---- */

/* ga_rng_permutation(rng, n): the numbers 0 .. n - 1 in random order, an int64 array. For an
 * array, a copy in random order along its first axis. Uses one element of the generator. Each
 * place is computed independently, by a bijection keyed by 128 random bits (a Feistel network of
 * 12 rounds; see Mitchell and others, "Bandwidth-optimal random shuffling for GPUs", 2022). For n
 * above 34 there are more orders than 128 bits can distinguish. GA_ERR_INVALID for a negative n, a
 * number that is not an integer, or a 0-d array. */
GA_API gpuarray *ga_rng_permutation(ga_rng *rng, ga_value x);

/* The same along any axis; whole slices change places. */
GA_API gpuarray *ga_rng_permutation_along(ga_rng *rng, const gpuarray *x, int axis);

/* Puts x itself into that order. GA_ERR_INVALID for a bad axis or a read-only view. */
GA_API ga_status ga_rng_shuffle(ga_rng *rng, gpuarray *x, int axis);

/* A copy of x with each line along the axis in a random order of its own, as Generator.permuted.
 * Uses one element of the generator for each line. */
GA_API gpuarray *ga_rng_permuted(ga_rng *rng, const gpuarray *x, int axis);

/* Arguments of ga_rng_choice(). */
typedef struct ga_choice_args {
    ga_rng *rng;
    ga_value a; /* an array, or the number n for the integers below n */
    int ndim;   /* the shape of the choices */
    const int64_t *lengths;
    const gpuarray *p;        /* probabilities; NULL: all are equal */
    bool without_replacement; /* each element at most once */
    int naxes;                /* GA_AXIS(k): slices along an axis of `a`; 0: along the first axis */
    const int *axes;
} ga_choice_args;

/* ga_rng_choice(rng, x, GA_SHAPE(100), .p = p, .without_replacement = true, GA_AXIS(1)): random
 * elements of an array, or slices along an axis, as numpy.random.Generator.choice; for a number n,
 * random int64 integers below n. With replacement, each choice uses one element of the generator.
 * Without replacement, all choices share one element, or with probabilities use one for each
 * element of `a`; the choices come in the order in which they are drawn. GA_ERR_INVALID for a
 * choice from nothing, for more choices than elements (of probability above 0), and for
 * probabilities that are negative or do not sum to 1 within 1.5e-8; GA_ERR_SHAPE for a wrong number
 * of probabilities. A call with probabilities waits for their sum. */
GA_API gpuarray *ga_rng_choice(size_t size, const ga_choice_args *args);

/* ---- Rows of numbers ---- */

/* These functions make rows of numbers along a last axis, which they add to the shape; parameters
 * that do not have the axis, or do not broadcast to the shape, are GA_ERR_SHAPE. A call waits for
 * its check of the parameters. */

/* How often each of k outcomes occurs in n trials, in any integer dtype. `pvals` holds the k
 * probabilities along its last axis; its other axes, and n, broadcast to the shape. No probability
 * is negative, all but the last sum to 1 at most, and n is from 0 to 2^53 (GA_ERR_INVALID). Uses
 * as many elements of the generator as the result has. */
GA_API gpuarray *ga_rng_multinomial(ga_rng *rng, ga_dtype dtype, ga_value n, const gpuarray *pvals,
                                    int ndim, const int64_t *lengths);

/* How many things of each of k colors are in a sample of `nsample` things without replacement, in
 * any integer dtype, as NumPy's multivariate_hypergeometric. `colors` holds the k numbers of
 * things, in an integer dtype, along its last axis; its other axes, and nsample, broadcast to the
 * shape. The sum of all colors is at most 10^9, and no sample has more things than there are
 * (GA_ERR_INVALID). Uses as many elements of the generator as the result has. */
GA_API gpuarray *ga_rng_multivariate_hypergeometric(ga_rng *rng, ga_dtype dtype,
                                                    const gpuarray *colors, ga_value nsample,
                                                    int ndim, const int64_t *lengths);

/* Shares that sum to 1: gamma numbers with the shape parameters `alpha`, all above 0
 * (GA_ERR_INVALID), divided by their sum. The last axis of `alpha` is that of the rows; the others
 * broadcast to the shape. */
GA_API gpuarray *ga_rng_dirichlet(ga_rng *rng, ga_dtype dtype, const gpuarray *alpha, int ndim,
                                  const int64_t *lengths);

/* Vectors of d numbers from the normal distribution with the mean `mean`, d numbers, and the
 * covariance matrix `cov`, (d, d), symmetric and without negative eigenvalues (GA_ERR_INVALID):
 * the Cholesky factor of `cov` times standard normal numbers, plus the mean. The call waits for
 * the elements of `cov`. */
GA_API gpuarray *ga_rng_multivariate_normal(ga_rng *rng, ga_dtype dtype, const gpuarray *mean,
                                            const gpuarray *cov, int ndim, const int64_t *lengths);

/* ---- Sobol sequences ---- */

/* Arguments of ga_sobol(). */
typedef struct ga_sobol_args {
    ga_dtype dtype; /* a float */
    int64_t n;      /* points */
    int dimensions; /* 1 to 1111 */
    int64_t skip;   /* points before the first */
    bool scrambled;
    uint64_t seed; /* for the scrambling */
} ga_sobol_args;

/* ga_sobol(GA_FLOAT64, n, d, .scrambled = true, .seed = 1): n points of the Sobol sequence in d
 * dimensions, an (n, d) array of multiples of 2^-32, or of the accuracy of the dtype, in [0, 1).
 * The points are those of scipy.stats.qmc.Sobol, with the direction numbers of Joe and Kuo (2008,
 * new-joe-kuo-6.21201). Each point is computed independently, from its Gray code; point 2^32 - 1
 * is the last. With .scrambled, each dimension has its own linear matrix scrambling and digital
 * shift (Matousek, 1998), a function of the seed and the dimension alone. GA_ERR_INVALID for
 * another number of dimensions or points. */
GA_API gpuarray *ga_sobol(size_t size, const ga_sobol_args *args);

GA_END_DECLS

#ifdef __cplusplus
struct ga_choice_rest_ {
    const gpuarray *p = nullptr;
    bool without_replacement = false;
    int naxes = 0;
    const int *axes = nullptr;
};
struct ga_sobol_rest_ {
    int64_t skip = 0;
    bool scrambled = false;
    uint64_t seed = 0;
};
inline gpuarray *ga_choice_call_(const ga_choice_args &args)
{
    return ga_rng_choice(sizeof args, &args);
}
template <class Value>
inline gpuarray *ga_choice_call_(ga_rng *rng, Value a, int ndim, const int64_t *lengths,
                                 const ga_choice_rest_ &rest = {})
{
    return ga_choice_call_(ga_choice_args{rng, GA_V(a), ndim, lengths, rest.p,
                                          rest.without_replacement, rest.naxes, rest.axes});
}
inline gpuarray *ga_sobol_call_(const ga_sobol_args &args)
{
    return ga_sobol(sizeof args, &args);
}
inline gpuarray *ga_sobol_call_(ga_dtype dtype, int64_t n, int dimensions,
                                const ga_sobol_rest_ &rest = {})
{
    return ga_sobol_call_(
        ga_sobol_args{dtype, n, dimensions, rest.skip, rest.scrambled, rest.seed});
}
#define ga_rng_choice(...) GA_HERE_(GA_JOIN_(GA_CHOICE_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_CHOICE_1(args) ga_choice_call_(args)
#define GA_CHOICE_4(rng, a, n, lengths) ga_choice_call_(rng, a, n, lengths)
#define GA_CHOICE_5(rng, a, n, lengths, ...) ga_choice_call_(rng, a, n, lengths, {__VA_ARGS__})
#define GA_CHOICE_6 GA_CHOICE_5
#define GA_CHOICE_MORE GA_CHOICE_5
#define ga_sobol(...) GA_HERE_(GA_JOIN_(GA_SOBOL_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_SOBOL_1(args) ga_sobol_call_(args)
#define GA_SOBOL_3(dtype, n, dimensions) ga_sobol_call_(dtype, n, dimensions)
#define GA_SOBOL_4(dtype, n, dimensions, ...) ga_sobol_call_(dtype, n, dimensions, {__VA_ARGS__})
#define GA_SOBOL_5 GA_SOBOL_4
#define GA_SOBOL_6 GA_SOBOL_4
#define GA_SOBOL_MORE GA_SOBOL_4
#else
#define ga_rng_choice(generator, of, ...)                                                          \
    GA_AT_(                                                                                        \
        ga_rng_choice, sizeof(ga_choice_args),                                                     \
        &(ga_choice_args){.rng = generator, .a = GA_V(of), .ndim = GA_SIZES_FIRST_(__VA_ARGS__)})
#define ga_sobol(of, count, ...)                                                                   \
    GA_AT_(ga_sobol, sizeof(ga_sobol_args),                                                        \
           &(ga_sobol_args){.dtype = of, .n = count, .dimensions = __VA_ARGS__})
#endif

#define ga_rng_permutation(rng, x) GA_AT_(ga_rng_permutation, rng, GA_V(x))
#define ga_rng_multinomial(rng, dtype, n, pvals, ...)                                              \
    GA_AT_(ga_rng_multinomial, rng, dtype, GA_V(n), pvals, GA_SIZES_(__VA_ARGS__))
#define ga_rng_multivariate_hypergeometric(rng, dtype, colors, n, ...)                             \
    GA_AT_(ga_rng_multivariate_hypergeometric, rng, dtype, colors, GA_V(n), GA_SIZES_(__VA_ARGS__))
#define ga_rng_dirichlet(rng, dtype, alpha, ...)                                                   \
    GA_AT_(ga_rng_dirichlet, rng, dtype, alpha, GA_SIZES_(__VA_ARGS__))
#define ga_rng_multivariate_normal(rng, dtype, mean, cov, ...)                                     \
    GA_AT_(ga_rng_multivariate_normal, rng, dtype, mean, cov, GA_SIZES_(__VA_ARGS__))
#define ga_rng_integers(rng, dtype, low, high, ...)                                                \
    GA_AT_(ga_rng_integers, rng, dtype, low, high, GA_SIZES_(__VA_ARGS__))
#define ga_rng_integers_endpoint(rng, dtype, low, high, ...)                                       \
    GA_AT_(ga_rng_integers_endpoint, rng, dtype, GA_V(low), GA_V(high), GA_SIZES_(__VA_ARGS__))
#define ga_rng_random(rng, dtype, ...) GA_AT_(ga_rng_random, rng, dtype, GA_SIZES_(__VA_ARGS__))
#define ga_random(...) GA_AT_(ga_random, GA_SIZES_(__VA_ARGS__))

#endif
