/* Tests of jit/cache_mem.c: keys, growth, readers beside writers, and every failed allocation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <pthread.h>
#include <string.h>

#include <quarry/error.h>

#include "base/alloc.h"
#include "jit/cache_mem.h"

enum { KEYS = 2000, THREADS = 8 };

static int values[KEYS];

static ga__key key_of(uint64_t n)
{
    ga__key key = {3, {n, n * n, 7}};
    return key;
}

static void test_put_and_get(void **state)
{
    static ga__key_table table = GA__KEY_TABLE_INIT;
    ga__key key = key_of(1), longer = key, empty = {0, {0}};
    (void)state;
    longer.nwords = 4; /* the same words and a zero: another key */
    assert_null(ga__key_table_get(&table, &key));
    assert_ptr_equal(ga__key_table_put(&table, &key, &values[0]), &values[0]);
    assert_ptr_equal(ga__key_table_get(&table, &key), &values[0]);
    assert_null(ga__key_table_get(&table, &longer));
    assert_null(ga__key_table_get(&table, &empty));
    assert_ptr_equal(ga__key_table_put(&table, &longer, &values[1]), &values[1]);
    assert_ptr_equal(ga__key_table_put(&table, &empty, &values[2]), &values[2]);
    assert_ptr_equal(ga__key_table_put(&table, &key, &values[3]), &values[0]);
    assert_ptr_equal(ga__key_table_get(&table, &longer), &values[1]);
    assert_ptr_equal(ga__key_table_get(&table, &empty), &values[2]);
}

static void test_every_word_counts(void **state)
{
    static ga__key_table table = GA__KEY_TABLE_INIT;
    ga__key key;
    (void)state;
    memset(&key, 0, sizeof key);
    key.nwords = GA__KEY_WORDS;
    for (int i = 0; i < GA__KEY_WORDS; i++) {
        key.words[i] = 1;
        assert_null(ga__key_table_get(&table, &key));
        ga__key_table_put(&table, &key, &values[i]);
        key.words[i] = 0;
    }
    for (int i = 0; i < GA__KEY_WORDS; i++) {
        key.words[i] = 1;
        assert_ptr_equal(ga__key_table_get(&table, &key), &values[i]);
        key.words[i] = 0;
    }
}

static ga__key_table shared = GA__KEY_TABLE_INIT;

/* Stores all keys in an order of the thread's own, and reads each back at once. */
static void *store_all(void *argument)
{
    intptr_t thread = (intptr_t)argument;
    for (int i = 0; i < KEYS; i++) {
        int k = (int)((i * 7 + thread * 251) % KEYS);
        ga__key key = key_of((uint64_t)k);
        void *before = ga__key_table_get(&shared, &key);
        void *stands = ga__key_table_put(&shared, &key, &values[k]);
        if ((before && before != &values[k]) || stands != &values[k] ||
            ga__key_table_get(&shared, &key) != stands)
            return (void *)"a wrong value";
    }
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    (void)state;
    for (intptr_t i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, store_all, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) {
        void *trouble;
        pthread_join(threads[i], &trouble);
        assert_null(trouble);
    }
    for (uint64_t k = 0; k < KEYS; k++) {
        ga__key key = key_of(k);
        assert_ptr_equal(ga__key_table_get(&shared, &key), &values[k]);
    }
}

static int race[THREADS];
static ga__key_table race_table = GA__KEY_TABLE_INIT;

static void *store_own(void *value)
{
    ga__key key = key_of(5);
    return ga__key_table_put(&race_table, &key, value);
}

static void test_first_value_stands(void **state)
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

static void test_every_failed_allocation(void **state)
{
    static ga__key_table table = GA__KEY_TABLE_INIT;
    (void)state;
    for (uint64_t k = 0; k < 70; k++) { /* past one growth */
        ga__key key = key_of(k);
        void *stands = NULL;
        for (int64_t n = 1; !stands; n++) {
            ga__alloc_fail_at(n);
            stands = ga__key_table_put(&table, &key, &values[k]);
            ga__alloc_fail_at(0);
            assert_int_equal(ga_error(), stands ? GA_OK : GA_ERR_MEMORY);
            ga_clear_error();
            assert_ptr_equal(ga__key_table_get(&table, &key), stands);
            for (uint64_t j = 0; j < k; j++) {
                ga__key old = key_of(j);
                assert_ptr_equal(ga__key_table_get(&table, &old), &values[j]);
            }
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_and_get),
        cmocka_unit_test(test_every_word_counts),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_first_value_stands),
        cmocka_unit_test(test_every_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
