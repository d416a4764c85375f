/* Tests of ops/info.c: what it reports about the machine, and that it never fails halfway. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quarry.h>

#include "base/alloc.h"
#include "base/os/system.h"
#include "jit/cache_disk.h"
#include "run.h"

static char *directory;

static int set_up(void **state)
{
    (void)state;
    directory = ga__make_temporary_directory();
    setenv("QUARRY_CACHE_DIR", directory, 1);
    return directory ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rmdir(directory);
    ga__free(directory);
    ga_clear_error();
    return 0;
}

static void a_cuda_problem_is_told_where_there_is_no_gpu(void **state)
{
    (void)state;
    assert_int_equal(ga_cuda_problem() == NULL, ga_device_count() > 0);
}

static void compilers_have_paths(void **state)
{
    (void)state;
    char *found = ga_compiler("cpu");
    assert_non_null(found);
    assert_int_equal(access(found, X_OK), 0);
    free(found);
    assert_null(ga_compiler("nosuch"));
    assert_int_equal(ga_error(), GA_ERR_DEVICE);
    ga_clear_error();
    assert_null(ga_compiler(NULL));
    assert_int_equal(ga_error(), GA_ERR_INVALID);
    ga_clear_error();
    setenv("QUARRY_CXX", "/nonexistent/c++", 1);
    assert_null(ga_compiler("cpu"));
    unsetenv("QUARRY_CXX");
    assert_int_equal(ga_error(), GA_ERR_COMPILE);
    assert_non_null(strstr(ga_error_message(), "QUARRY_CXX"));
    ga_clear_error();
    found = ga_compiler("cuda"); /* available or not: the result names the compiler, or the message
                                  * says what to install */
    assert_int_equal(found == NULL, ga_error() != GA_OK);
    free(found);
    ga_clear_error();
}

static void count_entry(const ga_cache_entry *entry, void *user)
{
    int64_t *seen = user;
    assert_int_equal(strlen(entry->name), 35);
    assert_true(entry->used > 1700000000);
    assert_true(entry->kernel && entry->device);
    seen[0]++;
    seen[1] += entry->bytes;
}

static void the_cache_is_counted_and_cleared(void **state)
{
    int64_t files, bytes, seen[2] = {0, 0};
    (void)state;
    char *place = ga_cache_directory();
    assert_string_equal(place, directory);
    free(place);
    ga__disk_cache_put("one", 3, "code", 4);
    ga__disk_cache_put("two", 3, "more code", 9);
    ga_cache_usage(&files, &bytes);
    ga_cache_list(count_entry, seen);
    assert_int_equal(files, 2);
    assert_int_equal(seen[0], files);
    assert_int_equal(seen[1], bytes);
    ga_cache_list(NULL, NULL);
    ga_cache_usage(NULL, NULL);
    assert_int_equal(ga_cache_clear(), 2);
    assert_int_equal(ga_cache_clear(), 0);
    setenv("QUARRY_CACHE_DIR", "", 1);
    assert_null(ga_cache_directory());
    ga_cache_usage(&files, &bytes);
    assert_int_equal(files + bytes + ga_cache_clear(), 0);
    assert_int_equal(ga_error(), GA_OK);
}

/* An allocation that fails gives NULL and GA_ERR_MEMORY, and leaks nothing. */
static void every_failed_allocation_is_survived(void **state)
{
    const int64_t live = ga__alloc_live();
    int failures = 0;
    (void)state;
    for (int64_t n = 1; n < 12; n++) {
        ga__alloc_fail_at(n);
        char *compiler = ga_compiler("cpu"), *place = ga_cache_directory();
        ga__alloc_fail_at(0);
        assert_int_equal(!compiler || !place, ga_error() == GA_ERR_MEMORY);
        failures += ga_error() != GA_OK;
        free(compiler);
        free(place);
        ga_clear_error();
        assert_int_equal(ga__alloc_live(), live);
    }
    assert_true(failures > 2 && failures < 11);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_cuda_problem_is_told_where_there_is_no_gpu),
        TEST(compilers_have_paths),
        TEST(the_cache_is_counted_and_cleared),
        TEST(every_failed_allocation_is_survived),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
