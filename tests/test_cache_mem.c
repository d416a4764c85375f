/* Tests of jit/key_table.c: keys, growth, eviction, holds, readers beside writers, forks, and every
 * failed allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <quarry/error.h>

#include "base/alloc.h"
#include "base/hold.h"
#include "jit/key_table.h"
#include "children.h"
#include "run.h"

enum { KEYS = 2000, THREADS = 8, FEW = 8 };

static int values[KEYS];
static _Atomic int releases;

static void count_release(void *value)
{
    (void)value;
    atomic_fetch_add(&releases, 1);
}

#define TABLE(limit) GA__KEY_TABLE_INIT(limit, count_release)

static ga__key key_of(uint64_t n)
{
    ga__key key = {3, {n, n * n, 7}};
    return key;
}

/* Both end the hold, which most tests do not need. */
static void *get(ga__key_table *table, const ga__key *key)
{
    void *value = ga__key_table_get(table, key);
    if (value)
        ga__key_table_leave();
    return value;
}

static void *put(ga__key_table *table, const ga__key *key, void *value)
{
    void *stands = ga__key_table_put(table, key, value);
    if (stands)
        ga__key_table_leave();
    return stands;
}

static void keys_give_their_values(void **state)
{
    static ga__key_table table = TABLE(KEYS);
    ga__key key = key_of(1), longer = key, empty = {0, {0}};
    (void)state;
    longer.nwords = 4; /* the same words and a zero are another key */
    assert_null(get(&table, &key));
    assert_ptr_equal(put(&table, &key, &values[0]), &values[0]);
    assert_ptr_equal(get(&table, &key), &values[0]);
    assert_null(get(&table, &longer));
    assert_null(get(&table, &empty));
    assert_ptr_equal(put(&table, &longer, &values[1]), &values[1]);
    assert_ptr_equal(put(&table, &empty, &values[2]), &values[2]);
    releases = 0;
    assert_ptr_equal(put(&table, &key, &values[3]), &values[0]);
    assert_int_equal(releases, 1); /* the value that came second */
    assert_ptr_equal(get(&table, &longer), &values[1]);
    assert_ptr_equal(get(&table, &empty), &values[2]);
}

static void every_word_of_a_key_counts(void **state)
{
    static ga__key_table table = TABLE(KEYS);
    ga__key key;
    (void)state;
    memset(&key, 0, sizeof key);
    key.nwords = GA__KEY_WORDS;
    for (int i = 0; i < GA__KEY_WORDS; i++) {
        key.words[i] = 1;
        assert_null(get(&table, &key));
        put(&table, &key, &values[i]);
        key.words[i] = 0;
    }
    for (int i = 0; i < GA__KEY_WORDS; i++) {
        key.words[i] = 1;
        assert_ptr_equal(get(&table, &key), &values[i]);
        key.words[i] = 0;
    }
}

/* ---- bounds ---- */

static void the_least_recently_used_go(void **state)
{
    static ga__key_table table = TABLE(16);
    (void)state;
    releases = 0;
    for (uint64_t k = 0; k < 16; k++) {
        ga__key key = key_of(k);
        put(&table, &key, &values[k]);
    }
    ga__key first = key_of(0), second = key_of(1), third = key_of(2), next = key_of(16);
    assert_non_null(get(&table, &first)); /* now 1 and 2 are the least recently used */
    assert_int_equal(releases, 0);
    put(&table, &next, &values[16]);
    assert_int_equal(releases, 2); /* an eighth */
    assert_non_null(get(&table, &first));
    assert_null(get(&table, &second));
    assert_null(get(&table, &third));
    for (uint64_t k = 3; k < 17; k++) {
        ga__key key = key_of(k);
        assert_ptr_equal(get(&table, &key), &values[k]);
    }
}

/* However many values come, at most the limit stays, and memory use is unchanged. */
static void memory_is_bounded(void **state)
{
    static const size_t limits[] = {1, 2, 7, 64, 100};
    static ga__key_table tables[5];
    (void)state;
    for (size_t t = 0; t < sizeof limits / sizeof *limits; t++) {
        tables[t] = (ga__key_table)TABLE(limits[t]);
        int64_t live = 0;
        releases = 0;
        for (uint64_t k = 0; k < KEYS; k++) {
            ga__key key = key_of(k);
            assert_ptr_equal(put(&tables[t], &key, &values[k]), &values[k]);
            assert_ptr_equal(get(&tables[t], &key), &values[k]);
            assert_in_range((int)k + 1 - releases, 1, limits[t]);
            if (k == 2 * limits[t])
                live = ga__alloc_live() + (int64_t)limits[t];
            assert_true(k <= 2 * limits[t] || ga__alloc_live() <= live);
        }
    }
}

static void what_is_held_is_not_released(void **state)
{
    static ga__key_table table = TABLE(FEW);
    (void)state;
    ga__key held = key_of(0), inner = key_of(1);
    releases = 0;
    put(&table, &held, &values[0]);
    put(&table, &inner, &values[1]);
    assert_non_null(ga__key_table_get(&table, &held));
    assert_non_null(ga__key_table_get(&table, &inner));
    for (uint64_t k = 2; k < 50; k++) {
        ga__key key = key_of(k);
        put(&table, &key, &values[k]);
    }
    assert_null(get(&table, &held)); /* out of the table, */
    const int before = releases;
    assert_in_range(before, 50 - FEW - 2, 50 - 2 - 1); /* but not released, and neither is inner */
    ga__key_table_leave();
    ga__key_table_leave();
    ga__key more[2] = {key_of(50), key_of(51)};
    put(&table, &more[0], &values[50]);
    put(&table, &more[1], &values[51]);
    assert_in_range(releases, before + 2, before + 4);
}

static void holds_are_nested_only_so_deep(void **state)
{
    static ga__key_table table = TABLE(FEW);
    ga__key key = key_of(0);
    (void)state;
    put(&table, &key, &values[0]);
    for (int k = 0; k < GA__HOLDS; k++)
        assert_non_null(ga__key_table_get(&table, &key));
    assert_null(ga__key_table_get(&table, &key));
    assert_null(ga__key_table_put(&table, &key, &values[1]));
    assert_int_equal(ga_error(), GA_ERR_UNSUPPORTED);
    ga_clear_error();
    for (int k = 0; k < GA__HOLDS; k++)
        ga__key_table_leave();
    assert_non_null(get(&table, &key));
}

/* ---- threads ---- */

static ga__key_table shared = TABLE(KEYS);

/* Stores all keys in the thread's own order, and reads each one back at once. */
static void *store_all(void *argument)
{
    intptr_t thread = (intptr_t)argument;
    for (int i = 0; i < KEYS; i++) {
        int k = (int)((i * 7 + thread * 251) % KEYS);
        ga__key key = key_of((uint64_t)k);
        void *before = get(&shared, &key);
        void *stands = put(&shared, &key, &values[k]);
        if ((before && before != &values[k]) || stands != &values[k] ||
            get(&shared, &key) != stands)
            return (void *)"a wrong value";
    }
    return NULL;
}

static void run_threads(void *(*body)(void *))
{
    pthread_t threads[THREADS];
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *trouble;
        pthread_join(threads[i], &trouble);
        assert_null(trouble);
    }
}

static void threads_store_beside_each_other(void **state)
{
    (void)state;
    run_threads(store_all);
    for (uint64_t k = 0; k < KEYS; k++) {
        ga__key key = key_of(k);
        assert_ptr_equal(get(&shared, &key), &values[k]);
    }
}

/* Values that detect use after their release. */
typedef struct canary {
    _Atomic uint64_t number; /* ~0: released */
} canary;

static void release_canary(void *value)
{
    canary *c = value;
    atomic_store(&c->number, UINT64_MAX);
    ga__free(c);
}

static ga__key_table churned = GA__KEY_TABLE_INIT(FEW, release_canary);
static atomic_bool churning;

static const canary *get_or_put(uint64_t number)
{
    ga__key key = key_of(number);
    const canary *found = ga__key_table_get(&churned, &key);
    canary *fresh = found ? NULL : ga__malloc(sizeof *fresh);
    if (!fresh)
        return found;
    atomic_init(&fresh->number, number);
    return ga__key_table_put(&churned, &key, fresh);
}

/* Requests more values than the table has room for; each stays intact while it is held. */
static void *churn(void *argument)
{
    uint64_t next = (uint64_t)(intptr_t)argument + 1;
    for (int i = 0; i < 20000 && (i < 5000 || atomic_load(&churning)); i++) {
        next = next * UINT64_C(6364136223846793005) + 1442695040888963407u;
        const uint64_t outer = next >> 40 & 31, inner = next >> 50 & 31;
        const canary *one = get_or_put(outer), *two = get_or_put(inner);
        for (int look = 0; look < 4; look++)
            if (atomic_load(&one->number) != outer || atomic_load(&two->number) != inner)
                return (void *)"a value that is held was released";
        ga__key_table_leave();
        ga__key_table_leave();
    }
    return NULL;
}

static void threads_evict_beside_each_other(void **state)
{
    (void)state;
    run_threads(churn);
}

/* For systems without a barrier for all threads. */
static void threads_evict_by_fences(void **state)
{
    (void)state;
    const bool before = atomic_exchange(&ga__hold_fences, true);
    run_threads(churn);
    atomic_store(&ga__hold_fences, before);
}

/* A thread that ends leaves its record to the next one. */
static void records_are_taken_again(void **state)
{
    (void)state;
    run_threads(churn);
    const int64_t live = ga__alloc_live();
    for (int i = 0; i < 20; i++)
        run_threads(store_all);
    assert_int_equal(ga__alloc_live(), live);
}

/* ---- forks ---- */

/* In the child: releases what is held only by threads that no longer exist. */
static void check_child(ga__key_table *table)
{
    releases = 0;
    for (uint64_t k = 100; k < 100 + 2 * FEW; k++) {
        ga__key key = key_of(k);
        if (put(table, &key, &values[k]) != &values[k])
            _exit(1);
    }
    _exit(releases >= 2 * FEW ? 0 : 2);
}

static void wait_for(pid_t child)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static ga__key_table forked = TABLE(FEW);
static sem_t is_held, may_end;

static void *hold_one(void *unused)
{
    ga__key key = key_of(0);
    ga__key_table_put(&forked, &key, &values[0]);
    sem_post(&is_held);
    sem_wait(&may_end);
    ga__key_table_leave();
    return unused;
}

static void a_child_has_only_its_own_holds(void **state)
{
    pthread_t holder;
    (void)state;
    sem_init(&is_held, 0, 0);
    sem_init(&may_end, 0, 0);
    assert_int_equal(pthread_create(&holder, NULL, hold_one, NULL), 0);
    sem_wait(&is_held);
    for (uint64_t k = 1; k < FEW; k++) {
        ga__key key = key_of(k);
        put(&forked, &key, &values[k]);
    }
    const pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        check_child(&forked);
    wait_for(child);
    sem_post(&may_end);
    pthread_join(holder, NULL);
}

static void *churn_on(void *argument)
{
    void *trouble = NULL;
    while (!trouble && atomic_load(&churning))
        trouble = churn(argument);
    return trouble;
}

/* In the child: a lookup of an absent key takes the writers' lock. It allocates nothing, because
 * sanitizers' allocators do not survive such a fork. */
static void look_in_child(void)
{
    alarm(HANG_SECONDS);
    for (uint64_t k = 100; k < 110; k++) {
        ga__key key = key_of(k);
        if (ga__key_table_get(&churned, &key))
            _exit(1);
    }
    _exit(0);
}

/* A fork at any moment leaves the child a working table. */
static void forks_beside_writers_leave_a_table_that_works(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    churning = true;
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn_on, (void *)i), 0);
    for (int i = 0; i < 100; i++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0)
            look_in_child();
        wait_for(child);
    }
    churning = false;
    for (int i = 0; i < THREADS; i++) {
        void *trouble;
        pthread_join(threads[i], &trouble);
        assert_null(trouble);
    }
}

/* ---- the rest ---- */

static int race[THREADS];
static ga__key_table race_table = TABLE(KEYS);

static void *store_own(void *value)
{
    ga__key key = key_of(5);
    return put(&race_table, &key, value);
}

static void the_first_value_stands(void **state)
{
    pthread_t threads[THREADS];
    void *first = NULL;
    (void)state;
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, store_own, &race[i]), 0);
    for (int i = 0; i < THREADS; i++) {
        void *stands;
        pthread_join(threads[i], &stands);
        assert_true(!first || first == stands);
        first = stands;
    }
    assert_non_null(first);
}

static void every_failed_allocation_is_survived(void **state)
{
    static ga__key_table table = TABLE(KEYS);
    (void)state;
    for (uint64_t k = 0; k < 70; k++) { /* past one growth */
        ga__key key = key_of(k);
        void *stands = NULL;
        for (int64_t n = 1; !stands; n++) {
            ga__alloc_fail_at(n);
            stands = put(&table, &key, &values[k]);
            ga__alloc_fail_at(0);
            assert_int_equal(ga_error(), stands ? GA_OK : GA_ERR_MEMORY);
            ga_clear_error();
            assert_ptr_equal(get(&table, &key), stands);
            for (uint64_t j = 0; j < k; j++) {
                ga__key old = key_of(j);
                assert_ptr_equal(get(&table, &old), &values[j]);
            }
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(
            every_failed_allocation_is_survived), /* first: the thread has no record yet */
        cmocka_unit_test(keys_give_their_values),
        cmocka_unit_test(every_word_of_a_key_counts),
        cmocka_unit_test(the_least_recently_used_go),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(what_is_held_is_not_released),
        cmocka_unit_test(holds_are_nested_only_so_deep),
        cmocka_unit_test(threads_store_beside_each_other),
        cmocka_unit_test(threads_evict_beside_each_other),
        cmocka_unit_test(threads_evict_by_fences),
        cmocka_unit_test(records_are_taken_again),
        cmocka_unit_test(a_child_has_only_its_own_holds),
        cmocka_unit_test(forks_beside_writers_leave_a_table_that_works),
        cmocka_unit_test(the_first_value_stands),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
