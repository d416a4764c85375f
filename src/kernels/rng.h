/* A generator as the distributions see it: elements of a seed, taken once each. */
#ifndef GA_KERNELS_RNG_H
#define GA_KERNELS_RNG_H

#include <quarry/random.h>

/* Takes `elements`: the seed, and the position of the first of them. */
ga_rng_state ga__rng_take(ga_rng *rng, uint64_t elements);

/* Gives back what was taken in vain, unless others have taken from the generator since. */
void ga__rng_give_back(ga_rng *rng, ga_rng_state taken, uint64_t elements);

/* The 128 bits of a call as a whole, which took the element at state.position. */
void ga__rng_call_bits(ga_rng_state state, uint64_t bits[2]);

/* What each round of the generator adds: two words, the first in the low half. */
#define GA__RNG_ROUNDS 10
void ga__rng_round_keys(uint64_t seed, uint64_t keys[GA__RNG_ROUNDS]);

/* What the first rounds make of the counters of blocks with `rows` numbers each, among the
 * GA__RNG_RUN ones that begin at a multiple of it and have `block` among them: for each remainder
 * of four, four words of 32 bits. */
#define GA__RNG_RUN ((uint64_t)1 << 34)
#define GA__RNG_LANE_WORDS 8
void ga__rng_lanes(uint64_t seed, uint64_t block, int rows, uint64_t lanes[GA__RNG_LANE_WORDS]);

#endif
