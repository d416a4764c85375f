/* Random numbers: generators by counter, and the distributions they fill arrays with. */
#ifndef QUARRY_RANDOM_H
#define QUARRY_RANDOM_H

#include <quarry/array.h>

GA_BEGIN_DECLS

/* A generator is a seed and a position: how many elements it has given. Element p of a seed is a
 * function of the seed, p, the distribution and the dtype alone (Philox4x32-10: Salmon, Moraes,
 * Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011), so that numbers have the
 * same bits on every device, whatever the shapes and however many calls they come in: 100 elements
 * and then 28 are those of one call for 128. A seed has 2^64 elements.
 *
 * Any thread may use any generator: each call takes its elements at once, and which call comes
 * first is the threads' affair. The positions of a call that fails are given again, unless another
 * thread has drawn meanwhile. The work goes to the thread's current stream, as any operation's. In
 * a graph it would give the same numbers at every launch: GA_ERR_UNSUPPORTED.
 *
 * Functions that make an array make it on the calling thread's current device, filled in C order;
 * those with _into fill `out`, whatever its layout, in its own dtype. All raise GA_ERR_INVALID for
 * a NULL generator or a wrong number, GA_ERR_DTYPE for a dtype that the distribution does not have,
 * and what ga_empty() raises for a shape. Distributions of real numbers take float16, bfloat16
 * (both made as float32 and rounded once), float32 and float64. */
typedef struct ga_rng ga_rng;

/* ---- Generators ---- */

/* A generator at position 0; different seeds give independent numbers. Freed by ga_rng_free(). */
GA_API ga_rng *ga_rng_new(uint64_t seed);

/* NULL and the default generator are left alone. */
GA_API void ga_rng_free(ga_rng *rng);

/* The process's own generator, seeded by the system's entropy; in a child of fork() again, also
 * when ga_random_seed() had seeded the parent's. Other generators go on in a child from where they
 * are. */
GA_API ga_rng *ga_rng_default(void);

/* Sets the default generator to position 0 of this seed. */
GA_API void ga_random_seed(uint64_t seed);

/* All there is to a generator: to be saved, and restored in any process. */
typedef struct ga_rng_state {
    uint64_t seed, position;
} ga_rng_state;
GA_API ga_status ga_rng_get_state(ga_rng *rng, ga_rng_state *state);
GA_API ga_status ga_rng_set_state(ga_rng *rng, const ga_rng_state *state);

/* Moves on as if `elements` had been drawn, without any work: workers that share a seed take parts
 * of its numbers that do not meet, each its own distance in. */
GA_API ga_status ga_rng_jump(ga_rng *rng, uint64_t elements);

/* A new generator with a seed of its own, drawn from this one (whose position moves by one): the
 * numbers of parent and children are independent. That two of k children have one seed has odds of
 * k (k - 1) to 2^65. Freed by ga_rng_free(). */
GA_API ga_rng *ga_rng_split(ga_rng *rng);

/* ---- Distributions of real numbers ---- */

/* Evenly in [0, 1): the multiples of 2^-24 (float32) or 2^-53 (float64); 16-bit floats as
 * ga_rng_uniform(). */
GA_API gpuarray *ga_rng_random(ga_rng *rng, ga_dtype dtype, int ndim, const int64_t *shape);
GA_API ga_status ga_rng_random_into(gpuarray *out, ga_rng *rng);

/* float64 in [0, 1) from the default generator. */
GA_API gpuarray *ga_random(int ndim, const int64_t *shape);

/* Evenly in [low, high), both rounded to the dtype first; never `high` itself. Of equal numbers
 * that number. GA_ERR_INVALID when low is above high or their distance is not finite in the dtype.
 */
GA_API gpuarray *ga_rng_uniform(ga_rng *rng, ga_dtype dtype, double low, double high, int ndim,
                                const int64_t *shape);
GA_API ga_status ga_rng_uniform_into(gpuarray *out, ga_rng *rng, double low, double high);

/* The normal distribution of mean 0 and deviation 1 (Box and Muller, 1958), to 8.1 deviations in
 * float32 and 9.5 in float64. */
GA_API gpuarray *ga_rng_standard_normal(ga_rng *rng, ga_dtype dtype, int ndim,
                                        const int64_t *shape);
GA_API ga_status ga_rng_standard_normal_into(gpuarray *out, ga_rng *rng);

/* loc + scale times that; scale is not negative. */
GA_API gpuarray *ga_rng_normal(ga_rng *rng, ga_dtype dtype, double loc, double scale, int ndim,
                               const int64_t *shape);
GA_API ga_status ga_rng_normal_into(gpuarray *out, ga_rng *rng, double loc, double scale);

/* e to the power of ga_rng_normal(mean, sigma). */
GA_API gpuarray *ga_rng_lognormal(ga_rng *rng, ga_dtype dtype, double mean, double sigma, int ndim,
                                  const int64_t *shape);
GA_API ga_status ga_rng_lognormal_into(gpuarray *out, ga_rng *rng, double mean, double sigma);

/* The exponential distribution of this mean, which is not negative: above 0, up to 22.8 times the
 * mean in float32 and 45 times in float64. */
GA_API gpuarray *ga_rng_exponential(ga_rng *rng, ga_dtype dtype, double scale, int ndim,
                                    const int64_t *shape);
GA_API ga_status ga_rng_exponential_into(gpuarray *out, ga_rng *rng, double scale);

/* ---- Distributions of integers ---- */

/* Every integer in [low, high) equally likely (Lemire, 2019), for bool and any integer dtype.
 * GA_ERR_INVALID when low is not below high or one of them is out of the dtype's bounds. */
GA_API gpuarray *ga_rng_integers(ga_rng *rng, ga_dtype dtype, int64_t low, int64_t high, int ndim,
                                 const int64_t *shape);
GA_API ga_status ga_rng_integers_into(gpuarray *out, ga_rng *rng, int64_t low, int64_t high);

/* The same with both ends included, as NumPy's endpoint=True: C integers of any type, so that all
 * of a dtype can be asked for. */
GA_API gpuarray *ga_rng_integers_endpoint(ga_rng *rng, ga_dtype dtype, ga_value low, ga_value high,
                                          int ndim, const int64_t *shape);

/* Poisson's distribution of mean `lam`, in any integer dtype: by its sums below a mean of 10, by
 * Hoermann's PTRS (1993) from there. GA_ERR_INVALID when lam is negative or lam + 10 sqrt(lam) is
 * more than the dtype holds. */
GA_API gpuarray *ga_rng_poisson(ga_rng *rng, ga_dtype dtype, double lam, int ndim,
                                const int64_t *shape);
GA_API ga_status ga_rng_poisson_into(gpuarray *out, ga_rng *rng, double lam);

/* `nbytes` random bytes, a uint8 array. They take an element of the generator for every four. */
GA_API gpuarray *ga_rng_bytes(ga_rng *rng, int64_t nbytes);

/* The numbers 0 .. n - 1 in random order, an int64 array, for one element of the generator. Each
 * place is computed by itself, by a bijection of 128 random bits (a Feistel network of 12 rounds;
 * see Mitchell and others, "Bandwidth-optimal random shuffling for GPUs", 2022): for n above 34
 * there are more orders than those bits can tell apart. */
GA_API gpuarray *ga_rng_permutation(ga_rng *rng, int64_t n);

GA_END_DECLS

#define ga_rng_integers_endpoint(rng, dtype, low, high, ...)                                       \
    (ga_rng_integers_endpoint)(rng, dtype, GA_V(low), GA_V(high), __VA_ARGS__)

#endif
