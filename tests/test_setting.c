/* Settings of the environment: their values, and one report of each wrong one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "base/setting.h"
#include "run.h"

static char lines[8][200];
static int nlines;

static void listen_to(int level, const char *text, void *user)
{
    (void)user;
    if (level == GA_LOG_ERROR && nlines < 8)
        snprintf(lines[nlines++], sizeof lines[0], "%s", text);
}

static long long threads(const char *value)
{
    assert_int_equal(setenv("QUARRY_TEST_INTEGER", value, 1), 0);
    return ga__setting_integer("QUARRY_TEST_INTEGER", 1, 64, 7);
}

static void wrong_values_are_reported_once(void **state)
{
    (void)state;
    assert_int_equal(threads("many"), 7); /* nobody listens yet */
    ga_set_log(listen_to, NULL);
    static const char *const wrong[] = {"many", "0", "65", "4x", " ", "9999999999999999999999"};
    for (size_t k = 0; k < sizeof wrong / sizeof *wrong; k++)
        assert_int_equal(threads(wrong[k]), 7);
    assert_int_equal(threads("64"), 64);
    assert_int_equal(threads(""), 7);
    assert_int_equal(nlines, 1);
    assert_string_equal(lines[0],
                        "QUARRY_TEST_INTEGER=many is ignored: it takes an integer from 1 to 64");
    assert_int_equal(setenv("QUARRY_TEST_NUMBER", "-1", 1), 0);
    assert_true(ga__setting_number("QUARRY_TEST_NUMBER", 0, 10, 2.5) == 2.5);
    assert_int_equal(setenv("QUARRY_TEST_NUMBER", "0.5", 1), 0);
    assert_true(ga__setting_number("QUARRY_TEST_NUMBER", 0, 10, 2.5) == 0.5);
    assert_int_equal(setenv("QUARRY_TEST_WORD", "nam", 1), 0);
    assert_false(ga__setting_is("QUARRY_TEST_WORD", "nan"));
    assert_false(ga__setting_is("QUARRY_TEST_WORD", "nan"));
    assert_true(ga__setting_is("QUARRY_TEST_WORD", "nam"));
    assert_int_equal(nlines, 3);
    assert_string_equal(lines[1],
                        "QUARRY_TEST_NUMBER=-1 is ignored: it takes a number from 0 to 10");
    assert_string_equal(lines[2], "QUARRY_TEST_WORD=nam is ignored: it takes nan");
    ga_set_log(NULL, NULL);
}

/* Each variable that has wrong values, through the calls that read it. */
static void the_library_reports_its_own(void **state)
{
    (void)state;
    nlines = 0;
    ga_set_log(listen_to, NULL);
    setenv("QUARRY_THREADS", "two", 1);
    setenv("QUARRY_LOADED_KERNELS", "-3", 1);
    setenv("QUARRY_CHECK", "inf", 1);
    setenv("QUARRY_NVTX", "yes", 1);
    setenv("QUARRY_COMPILE_TIMEOUT", "1min", 1);
    setenv("QUARRY_CACHE_SIZE", "1T", 1);
    setenv("QUARRY_CACHE_DIR", "", 1);
    setenv("QUARRY_DEVICE", "cpu", 1);
    GA_SCOPE {
        for (int k = 0; k < 2; k++)
            assert_non_null(ga_sqrt(ga_full(k ? GA_FLOAT32 : GA_FLOAT64, GA_SHAPE(3), 4)));
    }
    static const char *const wanted[] = {"QUARRY_THREADS=two", "QUARRY_LOADED_KERNELS=-3",
                                         "QUARRY_CHECK=inf", "QUARRY_NVTX=yes",
                                         "QUARRY_COMPILE_TIMEOUT=1min"};
    for (size_t w = 0; w < sizeof wanted / sizeof *wanted; w++) {
        int found = 0;
        for (int k = 0; k < nlines; k++)
            found += strstr(lines[k], wanted[w]) == lines[k];
        if (found != 1)
            fail_msg("%s: %d reports", wanted[w], found);
    }
    ga_set_log(NULL, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_values_are_reported_once),
        cmocka_unit_test(the_library_reports_its_own),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
