/* Random numbers for tests: the same sequence from the same seed. */
#ifndef GA_TESTS_RANDOM_H
#define GA_TESTS_RANDOM_H

#include <stdint.h>

uint64_t next_random(uint64_t *state);

/* In [-1, 1). */
double random_real(uint64_t *state);

/* An integer in [0, bound). */
int64_t random_below(uint64_t *seed, int64_t bound);

#endif
