/* Reference counts and scopes: the owner of each array, and when it is freed. */

#include <pthread.h>

#include <quarry.h>

#include "array/scope.h"
#include "array_support.h"
#include "run.h"

static gpuarray *small(void)
{
    gpuarray *x = ga_empty(GA_FLOAT32, GA_SHAPE(2));

    assert_non_null(x);
    return x;
}

static void references_keep_an_array(void **state)
{
    (void)state;
    gpuarray *x = small();
    assert_int_equal(ga_to_host(x, (float[2]){0}, sizeof(float[2])),
                     GA_OK); /* a thread's staging */
    ga_free(x);
    const int64_t live = live_blocks();
    x = small();
    assert_ptr_equal(ga_retain(x), x);
    ga_free(x);
    assert_int_equal(ga_ndim(x), 1);
    gpuarray *view = ga_expand_dims(x, 0);
    ga_free(x);
    assert_int_equal(ga_to_host(view, (float[2]){0}, sizeof(float[2])), GA_OK);
    ga_free(view);
    ga_free(NULL);
    assert_null(ga_retain(NULL));
    assert_int_equal(live_blocks(), live);
}

static void a_scope_frees_its_arrays(void **state)
{
    const int64_t live = live_blocks();

    (void)state;
    for (int count = 0; count < 100; count += 9) {
        GA_SCOPE {
            for (int i = 0; i < count; i++)
                small();
        }
        assert_int_equal(live_blocks(), live);
    }
    ga_scope_end(); /* none is open */
    assert_int_equal(live_blocks(), live);
}

static void leave_early(int how)
{
    for (int round = 0; round < 2; round++) {
        GA_SCOPE {
            small();
            if (how == 0)
                return;
            if (how == 1)
                break;
            if (how == 2)
                goto out;
            small();
        }
    }
out:
    return;
}

static void leaving_early_frees_too(void **state)
{
    const int64_t live = live_blocks();

    (void)state;
    for (int how = 0; how < 4; how++) {
        leave_early(how);
        assert_int_equal(live_blocks(), live);
        assert_false(ga__scope_is_open());
    }
}

static void kept_arrays_go_to_the_outer_scope(void **state)
{
    const int64_t live = live_blocks();
    gpuarray *kept = NULL, *mine = small();

    (void)state;
    GA_SCOPE {
        gpuarray *outer = small();
        GA_SCOPE {
            GA_SCOPE { /* the one between owns nothing yet */
                small();
                kept = small();
                assert_ptr_equal(ga_keep(kept), kept);
                assert_ptr_equal(ga_keep(kept), kept); /* no longer this scope's */
                assert_ptr_equal(ga_keep(outer), outer);
                assert_ptr_equal(ga_keep(mine), mine);
                assert_null(ga_keep(NULL));
            }
            assert_int_equal(ga_size(kept), 2);
            ga_keep(kept);
        }
        assert_int_equal(ga_size(kept), 2);
        ga_keep(kept);
    }
    assert_int_equal(ga_size(kept), 2);
    ga_free(kept);
    assert_int_equal(ga_size(mine), 2);
    ga_free(mine);
    assert_int_equal(live_blocks(), live);
}

static void arrays_may_be_freed_early(void **state)
{
    const int64_t live = live_blocks();

    (void)state;
    GA_SCOPE {
        gpuarray *first = small();
        gpuarray *held = ga_retain(small());
        ga_free(held);
        ga_free(first);
        gpuarray *before = small();
        for (int i = 0; i < 1000;
             i++) { /* one more is alive at all times; the list must not grow without bound */
            gpuarray *next = small();
            ga_free(before);
            before = next;
        }
        assert_true(live_blocks() < live + 10);
        gpuarray *many[100];
        for (int i = 0; i < 100; i++)
            many[i] = small();
        for (int i = 0; i < 100; i += 2)
            ga_free(many[i]);
        for (int i = 0; i < 100; i++)
            small();
        for (int i = 1; i < 100; i += 2)
            assert_int_equal(ga_size(many[i]), 2);
        ga_keep(many[51]);
        ga_free(many[51]);
    }
    assert_int_equal(live_blocks(), live);
}

static void a_retained_array_outlives_its_scope(void **state)
{
    const int64_t live = live_blocks();
    gpuarray *x = NULL;

    (void)state;
    GA_SCOPE {
        x = ga_retain(small());
    }
    assert_int_equal(ga_size(x), 2);
    GA_SCOPE {
        ga_free(x);
    }
    assert_int_equal(live_blocks(), live);
}

/* The rounds that a loop runs whose body is a scope of its own. */
static int rounds_of(int how)
{
    int rounds = 0;

    for (int i = 0; i < 10; i++) {
        GA_SCOPED;
        small();
        if (how == 0 && i % 2 == 0)
            continue;
        if (how == 1 && i == 5)
            break;
        if (how == 2 && i == 7)
            return rounds;
        small();
        rounds++;
    }
    return rounds;
}

static void a_scoped_block_leaves_break_and_continue_to_the_loop(void **state)
{
    const int64_t live = live_blocks();

    (void)state;
    for (int how = 0; how < 4; how++) {
        assert_int_equal(rounds_of(how), ((int[]){5, 5, 7, 10})[how]);
        assert_int_equal(live_blocks(), live);
        assert_false(ga__scope_is_open());
    }
}

static size_t used(void)
{
    ga_memory_stats stats;

    assert_int_equal(ga_memory_info(NULL, &stats), GA_OK);
    return stats.used;
}

static void a_loop_that_replaces_holds_two_arrays(void **state)
{
    const int64_t shape[] = {1 << 18};

    (void)state;
    GA_SCOPE { /* the first reduction of a stream allocates counters, which the stream keeps */
        assert_true(ga_item_double(ga_max(ga_zeros(GA_FLOAT32, 1, shape))) == 0);
    }
    const size_t before = used();
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, 1, shape);
        for (int i = 0; i < 100; i++) {
            ga_replace(&x, ga_add(x, 1));
            assert_int_equal(used() - before, (size_t)1 << 20);
        }
        assert_true(ga_item_double(ga_max(x)) == 100);
    }
    assert_int_equal(used(), before);
}

static void a_replacement_gets_the_owner_of_the_old_array(void **state)
{
    const int64_t live = live_blocks();
    gpuarray *mine = small(), *empty = NULL;

    (void)state;
    GA_SCOPE {
        gpuarray *outer = small();
        for (int i = 0; i < 3; i++) {
            GA_SCOPED;
            ga_replace(&mine, small());
            ga_replace(&outer, small());
            ga_replace(&outer, outer);
            ga_replace(&empty, small());
            ga_replace(&empty, NULL);
        }
        assert_int_equal(ga_size(outer), 2);
        ga_replace(&mine, ga_expand_dims(mine, 0));
    }
    assert_int_equal(ga_ndim(mine), 2);
    ga_replace(&mine, NULL);
    assert_null(mine);
    assert_int_equal(live_blocks(), live);
    ga_replace(NULL, NULL);
    assert_int_equal(ga_error(), GA_ERR_INVALID);
    ga_clear_error();
}

static bool replace_once(void)
{
    gpuarray *x = ga_empty(GA_INT8, GA_SHAPE(1));

    if (!x)
        return false;
    GA_SCOPE {
        GA_SCOPE {
            ga_replace(&x, ga_empty(GA_INT8, GA_SHAPE(2)));
        }
        gpuarray *outer = ga_empty(GA_INT8, GA_SHAPE(3));
        for (int i = 0; i < 40 && outer; i++) { /* NULL has no owner to pass on */
            GA_SCOPED;
            ga_replace(&outer, ga_empty(GA_INT8, GA_SHAPE(4)));
        }
        assert_true(outer || ga_error() != GA_OK);
    }
    ga_free(x);
    return ga_error() == GA_OK;
}

static bool nest_once(void)
{
    gpuarray *kept = NULL;

    GA_SCOPE {
        GA_SCOPE {
            for (int i = 0; i < 40; i++) {
                gpuarray *x = ga_empty(GA_INT8, GA_SHAPE(1));
                kept = i == 20 ? ga_keep(x) : kept;
            }
        }
        assert_true(kept || ga_error() != GA_OK);
        ga_keep(kept);
    }
    assert_false(ga__scope_is_open());
    ga_free(kept);
    return ga_error() == GA_OK;
}

static void failed_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    survive_failures(nest_once);
    survive_failures(replace_once);
}

static void *leave_scopes_open(void *unused)
{
    ga_scope_begin();
    small();
    ga_scope_begin();
    ga_scope_begin();
    for (int i = 0; i < 50; i++)
        small();
    return unused;
}

static void a_threads_end_closes_its_scopes(void **state)
{
    (void)state;
    ga_free(small()); /* memory that the device keeps is counted before */
    const int64_t live = live_blocks();
    for (int round = 0; round < 3; round++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, leave_scopes_open, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_int_equal(live_blocks(), live);
    }
}

static void *share(void *argument)
{
    gpuarray *x = argument;

    for (int i = 0; i < 3000; i++) {
        GA_SCOPE {
            gpuarray *view = ga_expand_dims(x, 0);
            ga_keep(x); /* another thread's: nothing happens */
            ga_retain(view);
            ga_free(view);
            ga_free(ga_retain(x));
        }
    }
    ga_free(x);
    return NULL;
}

static void threads_share_an_array(void **state)
{
    pthread_t threads[4];

    (void)state;
    GA_SCOPE {
        gpuarray *x = small();
        for (int i = 0; i < 4; i++) {
            ga_retain(x);
            assert_int_equal(pthread_create(&threads[i], NULL, share, x), 0);
        }
    }
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(references_keep_an_array),
        cmocka_unit_test(a_scope_frees_its_arrays),
        cmocka_unit_test(leaving_early_frees_too),
        cmocka_unit_test(kept_arrays_go_to_the_outer_scope),
        cmocka_unit_test(arrays_may_be_freed_early),
        cmocka_unit_test(a_scoped_block_leaves_break_and_continue_to_the_loop),
        cmocka_unit_test(a_loop_that_replaces_holds_two_arrays),
        cmocka_unit_test(a_replacement_gets_the_owner_of_the_old_array),
        cmocka_unit_test(a_retained_array_outlives_its_scope),
        cmocka_unit_test(failed_allocations_leave_nothing_behind),
        cmocka_unit_test(a_threads_end_closes_its_scopes),
        cmocka_unit_test(threads_share_an_array),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
