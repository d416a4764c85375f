/* Random numbers: counter-based generators, and the distributions that fill arrays. */
#ifndef QUARRY_RANDOM_H
#define QUARRY_RANDOM_H

#include <quarry/array.h>
#include <quarry/ops.h>

GA_BEGIN_DECLS

/* A generator is a seed and a position, the number of elements drawn so far. Element p of a seed is
 * a function only of the seed, p, the distribution and the dtype (Philox4x32-10: Salmon, Moraes,
 * Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). Numbers therefore have the
 * same bits on every device, whatever the shapes and the number of calls: 100 elements and then 28
 * equal one call for 128. A seed has 2^64 elements.
 *
 * Any thread may use any generator. Each call takes its elements atomically; the order of calls
 * from different threads is unspecified. If a call fails, its positions are drawn again, unless
 * another thread has drawn meanwhile. The work goes to the thread's current stream, like any
 * operation. A graph would give the same numbers at every launch, so drawing while recording is
 * GA_ERR_UNSUPPORTED.
 *
 * Functions that create an array create it on the calling thread's current device, filled in C
 * order. Functions with _into fill `out`, whatever its layout, in its own dtype. All raise
 * GA_ERR_INVALID for a NULL generator or an invalid number, GA_ERR_DTYPE for a dtype that the
 * distribution does not support, and the errors of ga_empty() for a shape. Distributions of real
 * numbers support every float; those smaller than float32 are computed in it and rounded once. */

/* ---- Generators ---- */

/* A generator at position 0. Different seeds give independent numbers. Freed by ga_rng_free(). */
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

/* float64 in [0, 1) from the default generator. */
GA_API gpuarray *ga_random(int ndim, const int64_t *shape);

/* ---- Distributions of integers ---- */

/* Every integer in [low, high) with equal probability (Lemire, 2019), for bool and any integer
 * dtype. GA_ERR_INVALID if low is not below high or the range exceeds the dtype's bounds. */
GA_API gpuarray *ga_rng_integers(ga_rng *rng, ga_dtype dtype, int64_t low, int64_t high, int ndim,
                                 const int64_t *shape);
GA_API ga_status ga_rng_integers_into(gpuarray *out, ga_rng *rng, int64_t low, int64_t high);

/* The same, with both ends included, like NumPy's endpoint=True. The bounds are C integers of any
 * type, so the full range of a dtype is possible. */
GA_API gpuarray *ga_rng_integers_endpoint(ga_rng *rng, ga_dtype dtype, ga_value low, ga_value high,
                                          int ndim, const int64_t *shape);

/* `nbytes` random bytes, a uint8 array. Every four bytes use one element of the generator. */
GA_API gpuarray *ga_rng_bytes(ga_rng *rng, int64_t nbytes);

/* The numbers 0 .. n - 1 in random order, an int64 array; uses one element of the generator. Each
 * place is computed independently, by a bijection keyed by 128 random bits (a Feistel network of 12
 * rounds; see Mitchell and others, "Bandwidth-optimal random shuffling for GPUs", 2022). For n
 * above 34 there are more orders than 128 bits can distinguish. */
GA_API gpuarray *ga_rng_permutation(ga_rng *rng, int64_t n);

GA_END_DECLS

#define ga_rng_integers_endpoint(rng, dtype, low, high, ...)                                       \
    GA_AT_(ga_rng_integers_endpoint, rng, dtype, GA_V(low), GA_V(high), __VA_ARGS__)

#endif
