/* Generators and fork(): the child's default generator is its own, and no lock stays behind. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <quarry.h>

#include "children.h"
#include "run.h"

/* The state of a process's generators, and the numbers that they draw. */
typedef struct account {
    ga_rng_state own;   /* of the default generator */
    ga_rng_state users; /* of one with a seed of the user's */
    double numbers[4];  /* of the default generator */
} account;

static bool tell(ga_rng *users, account *a)
{
    memset(a, 0, sizeof *a);
    bool done = ga_rng_get_state(ga_rng_default(), &a->own) == GA_OK &&
                ga_rng_get_state(users, &a->users) == GA_OK;
    /* A CUDA device does not work in a child. */
    gpuarray *x = done && ga_set_device("cpu") == GA_OK ? ga_random(GA_SHAPE(4)) : NULL;
    done = x && ga_to_host(x, a->numbers, sizeof a->numbers) == GA_OK;
    ga_free(x);
    return done;
}

/* The child's report. */
static void ask_child(ga_rng *users, account *a)
{
    int ends[2], status = -1;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(HANG_SECONDS);
        const bool told = tell(users, a) && write(ends[1], a, sizeof *a) == (ssize_t)sizeof *a;
        _exit(told ? 0 : 1);
    }
    assert_int_equal(read(ends[0], a, sizeof *a), sizeof *a);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    close(ends[0]);
    close(ends[1]);
}

static void expect_strangers(const account *a, const account *b)
{
    assert_memory_not_equal(&a->own, &b->own, sizeof a->own);
    assert_memory_not_equal(a->numbers, b->numbers, sizeof a->numbers);
    assert_memory_equal(&a->users, &b->users, sizeof a->users);
}

static void children_draw_numbers_of_their_own(void **state)
{
    account first, second, parent;
    (void)state;
    ga_rng *users = ga_rng_new(7);
    ga_rng_jump(users, 5);
    for (int seeded = 0; seeded < 2; seeded++) {
        if (seeded)
            ga_random_seed(42);
        ask_child(users, &first);
        ask_child(users, &second);
        assert_true(tell(users, &parent));
        expect_strangers(&first, &second);
        expect_strangers(&first, &parent);
        expect_strangers(&second, &parent);
    }
    assert_int_equal(parent.own.seed, 42);
    assert_int_equal(parent.own.position, 0);
    ga_rng_free(users);
}

static bool stop;

static void *keep_busy(void *rng)
{
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
        ga_rng_jump(rng, 1);
        ga_rng_jump(ga_rng_default(), 1);
        ga_rng_free(ga_rng_new(1));
    }
    return NULL;
}

/* The child has no thread that would release a lock. */
static void no_lock_is_left_to_a_child(void **state)
{
    pthread_t thread;
    (void)state;
    ga_rng *users = ga_rng_new(7);
    assert_int_equal(pthread_create(&thread, NULL, keep_busy, users), 0);
    for (int k = 0; k < 200; k++) {
        int status = -1;
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            alarm(HANG_SECONDS);
            ga_rng_jump(users, 1);
            ga_rng_jump(ga_rng_default(), 1);
            ga_rng_free(ga_rng_new(1));
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    ga_rng_free(users);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_draw_numbers_of_their_own),
        cmocka_unit_test(no_lock_is_left_to_a_child),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
