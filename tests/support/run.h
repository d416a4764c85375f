/* Runs a program's tests: all of them, or those that its arguments name. */
#ifndef GA_TESTS_RUN_H
#define GA_TESTS_RUN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>

#include <cmocka.h>

/* cmocka's own takes NaN for equal to any number. */
static inline float a_number(double x, const char *file, int line)
{
    _assert_true(!isnan(x), "it is NaN: a number", file, line);
    return (float)x;
}
#undef assert_float_equal
#define assert_float_equal(a, b, bound)                                                            \
    _assert_float_equal(a_number(a, __FILE__, __LINE__), a_number(b, __FILE__, __LINE__),          \
                        (float)(bound), __FILE__, __LINE__)

/* Replaces cmocka_run_group_tests(). Each argument selects the tests whose names contain it, and
 * within table tests the rows whose texts contain it as whole words: "log" does not match "log10".
 * An argument that selects nothing fails the program, which then lists its tests. */
#define run_named_tests(argc, argv, tests, setup, teardown)                                        \
    run_selected_tests(argc, argv, tests, sizeof(tests) / sizeof *(tests), setup, teardown)

int run_selected_tests(int argc, char **argv, const struct CMUnitTest *tests, size_t count,
                       CMFixtureFunction setup, CMFixtureFunction teardown);

/* A test over the rows of a table. It asks row_selected() about each row. */
#define table_test(test) cmocka_unit_test_setup(test, select_named_rows)

int select_named_rows(void **state);

/* Whether the current table test runs single rows only. */
bool rows_are_named(void);

/* Whether the current table test runs the row with this text: it is named or, if no row is, in the
 * sample. Any thread may ask. */
bool row_selected(const char *row);

/* Whether the run's sample has the item with this text. QUARRY_TEST_SHARE=n takes about one of n
 * items, and others for another QUARRY_TEST_SAMPLE; without it the sample is everything. With
 * QUARRY_TEST_REDUCED set (for slow checkers) it takes about one of 37, all of which are among the
 * one of n. Items whose texts are equal up to a ';' are in the sample together: what stands before
 * it names the kernels that they share, which take longer to compile than to run. */
bool in_sample(const char *text);

/* Whether the run's sample has item `k` of the `count` items of a short list. It has about one of
 * n, and at least one, chosen by the list's name. As in in_sample(), another sample has others. */
bool in_short_sample(const char *list, int k, int count);

/* Whether the run's sample has the item with this text, of whose list it has about an eighth. It is
 * for items that share few kernels with others and that no table names. With QUARRY_TEST_REDUCED
 * the sample has half of those. */
bool in_eighth(const char *text);

/* A test that takes seconds: unless the program's arguments name tests, a run with
 * QUARRY_TEST_SHARE has one of four of them, with QUARRY_TEST_REDUCED one of eight. Another sample
 * has others. */
#define slow_test(test) slow_test_teardown(test, NULL)
#define slow_test_teardown(test, teardown)                                                         \
    cmocka_unit_test_setup_teardown(test, start_slow_test, teardown)

int start_slow_test(void **state);

/* The seed of a program's random cases, which it prints: QUARRY_TEST_SEED, or one that
 * QUARRY_TEST_SAMPLE determines, so that two builds draw the same cases; otherwise the time. */
uint64_t run_seed(void);

/* Tests with this setup compile slowly: unless the program's arguments name tests, a sample has one
 * of eight of them, or of sixteen with QUARRY_TEST_REDUCED. */
void sample_tests(CMFixtureFunction setup);

/* From now on, samples without QUARRY_TEST_SHARE are about one of `share` items. */
void sample_usually(uint64_t share);

#endif
