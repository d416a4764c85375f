/* Random numbers for tests: the same sequence from the same seed. */
#include "random.h"

/* splitmix64. */
uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

double random_real(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-52 - 1.0;
}

int64_t random_below(uint64_t *seed, int64_t bound)
{
    return (int64_t)(next_random(seed) % (uint64_t)bound);
}
