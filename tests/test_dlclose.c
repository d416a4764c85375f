/* Tests that a program may close the library while threads that used it, and its pool, still
 * run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quarry.h>

#include "run.h"

static const char *library_path;
static void *library;
static pthread_barrier_t used, closed;

/* Writes the address of the library's function to a pointer to functions. */
static void find(const char *name, void *pointer)
{
    void *address = dlsym(library, name);
    if (!address)
        fail_msg("%s", dlerror());
    memcpy(pointer, &address, sizeof address);
}

/* Uses scopes, errors and the pool: everything that a thread of the program leaves behind. */
static void *use(void *unused)
{
    gpuarray *(*zeros)(ga_dtype, int, const int64_t *);
    gpuarray *(*ones)(ga_dtype, int, const int64_t *);
    gpuarray *(*load)(const char *);
    ga_status (*error)(void);
    void (*open_scope)(void);
    (void)unused;
    find("ga_zeros", &zeros);
    find("ga_ones", &ones);
    find("ga_load", &load);
    find("ga_error", &error);
    find("ga_scope_begin", &open_scope);
    open_scope(); /* stays open; it closes when the thread ends */
    const int64_t shape[] = {5000000};
    assert_non_null(zeros(GA_FLOAT32, 1, shape)); /* by the pool */
    assert_non_null(ones(GA_FLOAT32, 1, shape));  /* by a kernel */
    assert_null(load("/no/such/file"));
    assert_int_equal(error(), GA_ERR_IO);
    pthread_barrier_wait(&used);
    pthread_barrier_wait(&closed);
    return NULL;
}

static void threads_end_after_the_library_is_closed(void **state)
{
    pthread_t threads[4];
    (void)state;
    library = dlopen(library_path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail_msg("%s", dlerror());
    pthread_barrier_init(&used, NULL, 5);
    pthread_barrier_init(&closed, NULL, 5);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, use, NULL), 0);
    pthread_barrier_wait(&used);
    assert_int_equal(dlclose(library), 0);
    pthread_barrier_wait(&closed);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
}

static void the_library_is_opened_again(void **state)
{
    (void)state;
    threads_end_after_the_library_is_closed(state);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_end_after_the_library_is_closed),
        cmocka_unit_test(the_library_is_opened_again),
    };
    library_path = argc > 1 ? argv[1] : "libquarry.so.0"; /* names of tests may follow */
    setenv("QUARRY_DEVICE", "cpu", 0);
    return run_named_tests(argc - 1, argv + 1, tests, NULL, NULL);
}
