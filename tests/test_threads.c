/* Many threads at once: one compile for all, right answers, and errors and scopes of each thread's
 * own. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <quarry.h>

#include "device/cpu/threads.h"
#include "jit/compile.h"
#include "parallel.h"
#include "run.h"

enum { THREADS = 8 };

static pthread_barrier_t start;
static char fresh_text[200]; /* an operation that is in no cache */
static gpuarray *shared;

static void run_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    pthread_barrier_init(&start, NULL, THREADS);
    for (int t = 0; t < THREADS; t++) {
        numbers[t] = t;
        assert_int_equal(pthread_create(&threads[t], NULL, body, &numbers[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
    pthread_barrier_destroy(&start);
    assert_int_equal(failures(), 0);
}

/* ---- The pool of the host ---- */

enum { MOST_BLOCKS = 1000 };
static _Atomic int runs[MOST_BLOCKS], begun, too_soon;

/* What every block of a job gets. */
typedef struct job {
    bool in_order;
    int64_t nblocks;
} job;

/* Until another thread has begun a block too, for a second at most. */
static void wait_for_others(void)
{
    for (int k = 0; k < 1000 && begun < 2; k++)
        usleep(1000);
}

/* In order, no more blocks are missing before one than other threads have claimed. */
static void count_run(const void *context, int64_t block)
{
    const job *j = context;
    runs[block]++;
    too_soon += begun++ < block - ga__pool_size() && j->in_order;
    if (block == 0 && j->nblocks > 1 && ga__pool_size() > 1)
        wait_for_others();
}

static void every_block_runs_once(void **state)
{
    static const int64_t counts[] = {1, 2, 3, 15, 16, 17, 63, 64, 65, MOST_BLOCKS};
    (void)state;
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
        for (int in_order = 0; in_order < 2; in_order++) {
            memset((void *)runs, 0, sizeof runs);
            begun = too_soon = 0;
            ga__pool_run(count_run, &(job){in_order, counts[k]}, counts[k], in_order);
            assert_int_equal(too_soon, 0);
            for (int64_t block = 0; block < MOST_BLOCKS; block++)
                assert_int_equal(runs[block], block < counts[k]);
        }
}

static void *ask_for_the_fresh_kernel(void *number)
{
    int t = *(int *)number;
    pthread_barrier_wait(&start);
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(1000), t);
        ga_kernel *k = ga_elementwise_kernel("float *x", fresh_text, "fresh");
        if (ga_run(k, x) != GA_OK || ga_item_double(ga_slice(x, "999")) != t + 1)
            fail_later("thread %d: %s", t, ga_error_message());
        ga_kernel_free(k);
    }
    return NULL;
}

static void a_kernel_wanted_by_all_compiles_once(void **state)
{
    (void)state;
    snprintf(fresh_text, sizeof fresh_text, "if (i != %d%ld) x[i] += 1", (int)getpid(),
             (long)time(NULL));
    GA_SCOPE {
        ga_slice(ga_full(GA_FLOAT32, GA_SHAPE(1000), 1), "0");
    }
    int64_t before = ga__module_count().compiled;
    run_threads(ask_for_the_fresh_kernel);
    assert_int_equal(ga__module_count().compiled, before + 1);
}

static bool all_equal(const gpuarray *x, float wanted)
{
    float host[4096];
    if (ga_nbytes(x) != sizeof host || ga_to_host(x, host, sizeof host) != GA_OK)
        return false;
    for (size_t i = 0; i < 4096; i++)
        if (host[i] != wanted)
            return false;
    return true;
}

static void *compute(void *number)
{
    int t = *(int *)number;
    pthread_barrier_wait(&start);
    for (int round = 0; round < 50; round++) {
        GA_SCOPE {
            gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(64, 64), t);
            gpuarray *y = ga_add(ga_multiply(ga_transpose(x), round), shared);
            gpuarray *sum = ga_sum(y, GA_AXIS(0));
            float wanted = (float)(t * round + 2);
            if (!all_equal(y, wanted) || ga_item_double(ga_max(sum)) != 64 * (double)wanted)
                fail_later("thread %d, round %d: %s", t, round, ga_error_message());
        }
    }
    return NULL;
}

static void answers_of_many_threads_are_right(void **state)
{
    (void)state;
    shared = ga_full(GA_FLOAT32, GA_SHAPE(64, 64), 2);
    run_threads(compute);
    ga_free(shared);
}

/* Long enough that several blocks share one result. */
static void *reduce_long_arrays(void *number)
{
    int t = *(int *)number;
    gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(200000 + t), t + 1);
    pthread_barrier_wait(&start);
    for (int round = 0; round < 100; round++) {
        gpuarray *sum = ga_sum(x, .dtype = GA_FLOAT64);
        double wanted = (200000.0 + t) * (t + 1), got = ga_item_double(sum);
        if (got != wanted)
            fail_later("thread %d, round %d: %g, wanted %g: %s", t, round, got, wanted,
                       ga_error_message());
        ga_free(sum);
    }
    ga_free(x);
    return NULL;
}

static void long_reductions_of_many_threads_are_right(void **state)
{
    (void)state;
    run_threads(reduce_long_arrays);
}

static void *make_errors(void *number)
{
    int t = *(int *)number;
    char wanted[100];
    pthread_barrier_wait(&start);
    for (int round = 0; round < 200; round++) {
        GA_SCOPE {
            if (ga_error() != GA_OK)
                fail_later("thread %d has another's error: %s", t, ga_error_message());
            gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(t + 2)),
                     *y = ga_empty(GA_FLOAT32, GA_SHAPE(t + 100));
            if (t % 2 && ga_add(x, y))
                fail_later("thread %d: no error", t);
            snprintf(wanted, sizeof wanted, "add: shapes (%d,) and (%d,) do not broadcast", t + 2,
                     t + 100);
            if (strcmp(ga_error_message(), t % 2 ? wanted : "") != 0)
                fail_later("thread %d: \"%s\"", t, ga_error_message());
            ga_clear_error();
        }
    }
    return NULL;
}

static void errors_and_scopes_are_each_threads_own(void **state)
{
    (void)state;
    run_threads(make_errors);
    assert_int_equal(ga_error(), GA_OK);
}

/* Reference counts stay right when many threads take views of one array and drop them. */
static void *take_views(void *number)
{
    int t = *(int *)number;
    pthread_barrier_wait(&start);
    for (int round = 0; round < 500; round++) {
        gpuarray *row = ga_slice(shared, "%d", round % 64), *again = ga_retain(shared);
        if (!row || ga_size(row) != 64 || again != shared)
            fail_later("thread %d: %s", t, ga_error_message());
        ga_free(row);
        ga_free(again);
    }
    return NULL;
}

static void views_from_many_threads_keep_the_base(void **state)
{
    (void)state;
    shared = ga_full(GA_FLOAT32, GA_SHAPE(64, 64), 3);
    run_threads(take_views);
    assert_true(all_equal(shared, 3));
    ga_free(shared);
}

/* One thread's arrays may be freed by another. */
static void *free_what_another_made(void *unused)
{
    pthread_barrier_wait(&start);
    ga_free(ga_retain(shared));
    return unused;
}

static void an_array_may_be_freed_in_another_thread(void **state)
{
    (void)state;
    shared = ga_ones(GA_FLOAT32, GA_SHAPE(64, 64));
    run_threads(free_what_another_made);
    assert_true(all_equal(shared, 1));
    ga_free(shared);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_block_runs_once),
        cmocka_unit_test(a_kernel_wanted_by_all_compiles_once),
        cmocka_unit_test(answers_of_many_threads_are_right),
        cmocka_unit_test(long_reductions_of_many_threads_are_right),
        cmocka_unit_test(errors_and_scopes_are_each_threads_own),
        cmocka_unit_test(views_from_many_threads_keep_the_base),
        cmocka_unit_test(an_array_may_be_freed_in_another_thread),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
