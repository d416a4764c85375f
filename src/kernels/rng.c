/* Generators: a seed and a position under a lock. */
#include "kernels/rng.h"

#include <pthread.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/os/fork.h"
#include "base/os/system.h"

#define GA_FN static inline
#include "philox.tmpl"

struct ga_rng {
    pthread_mutex_t lock;
    ga__fork_guard guard; /* of the lock */
    ga_rng_state state;
};

static ga_rng default_rng = {.lock = PTHREAD_MUTEX_INITIALIZER};
static pthread_once_t default_once = PTHREAD_ONCE_INIT;

static void seed_default(void)
{
    default_rng.state = (ga_rng_state){.seed = ga__entropy()};
}

/* A child's default generator gives numbers of its own. The user's generators go on from where they
 * are. */
GA__FORK_GUARD(&default_rng.lock, GA__FORK_LEAF, seed_default)

ga_rng *ga_rng_default(void)
{
    pthread_once(&default_once, seed_default);
    return &default_rng;
}

ga_rng *ga_rng_new(uint64_t seed)
{
    ga_rng *rng = ga__malloc(sizeof(*rng));
    if (!rng)
        return NULL;
    pthread_mutex_init(&rng->lock, NULL);
    rng->state = (ga_rng_state){.seed = seed};
    rng->guard = (ga__fork_guard){.lock = &rng->lock, .rank = GA__FORK_LEAF};
    ga__fork_guard_add(&rng->guard);
    return rng;
}

void ga_rng_free(ga_rng *rng)
{
    if (!rng || rng == &default_rng)
        return;
    ga__fork_guard_remove(&rng->guard);
    pthread_mutex_destroy(&rng->lock);
    ga__free(rng);
}

ga_rng_state ga__rng_take(ga_rng *rng, uint64_t elements)
{
    pthread_mutex_lock(&rng->lock);
    const ga_rng_state taken = rng->state;
    rng->state.position += elements;
    pthread_mutex_unlock(&rng->lock);
    return taken;
}

void ga__rng_give_back(ga_rng *rng, ga_rng_state taken, uint64_t elements)
{
    pthread_mutex_lock(&rng->lock);
    if (rng->state.seed == taken.seed && rng->state.position == taken.position + elements)
        rng->state.position = taken.position;
    pthread_mutex_unlock(&rng->lock);
}

void ga__rng_call_bits(ga_rng_state state, uint64_t bits[2])
{
    const words v = philox(philox_counter(state.position, 0, FOR_CALL), state.seed);
    bits[0] = (uint64_t)v.w[1] << 32 | v.w[0];
    bits[1] = (uint64_t)v.w[3] << 32 | v.w[2];
}

void ga__rng_round_keys(uint64_t seed, uint64_t keys[GA__RNG_ROUNDS])
{
    const round_keys made = philox_keys(seed);
    for (int round = 0; round < GA__RNG_ROUNDS; round++)
        keys[round] = made.pair[round];
}

void ga__rng_lanes(uint64_t seed, uint64_t block, int rows, uint64_t lanes[GA__RNG_LANE_WORDS])
{
    const round_keys keys = philox_keys(seed);
    for (int k = 0; k < 4; k++) {
        const words counter =
            philox_counter((block & ~UINT64_C(3)) + (uint64_t)k, 0, philox_purpose(rows));
        const words lane = philox_lane(counter, keys.pair);
        for (int half = 0; half < 2; half++)
            lanes[2 * k + half] = (uint64_t)lane.w[2 * half + 1] << 32 | lane.w[2 * half];
    }
}

ga_rng *ga_rng_split(ga_rng *rng)
{
    uint64_t bits[2];
    if (!rng)
        return ga__fail_null(GA_ERR_INVALID, "rng_split: the generator is NULL");
    ga_rng *child = ga_rng_new(0);
    if (!child)
        return NULL;
    ga__rng_call_bits(ga__rng_take(rng, 1), bits);
    child->state.seed = bits[0];
    return child;
}

ga_status ga_rng_jump(ga_rng *rng, uint64_t elements)
{
    if (!rng)
        return ga__fail(GA_ERR_INVALID, "rng_jump: the generator is NULL");
    ga__rng_take(rng, elements);
    return GA_OK;
}

ga_status ga_rng_get_state(ga_rng *rng, ga_rng_state *state)
{
    if (!rng || !state)
        return ga__fail(GA_ERR_INVALID, "rng_get_state: the %s is NULL",
                        rng ? "state" : "generator");
    *state = ga__rng_take(rng, 0);
    return GA_OK;
}

static void set_state(ga_rng *rng, ga_rng_state state)
{
    pthread_mutex_lock(&rng->lock);
    rng->state = state;
    pthread_mutex_unlock(&rng->lock);
}

ga_status ga_rng_set_state(ga_rng *rng, const ga_rng_state *state)
{
    if (!rng || !state)
        return ga__fail(GA_ERR_INVALID, "rng_set_state: the %s is NULL",
                        rng ? "state" : "generator");
    set_state(rng, *state);
    return GA_OK;
}

void ga_random_seed(uint64_t seed)
{
    set_state(ga_rng_default(), (ga_rng_state){.seed = seed});
}
