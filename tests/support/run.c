/* Runs a program's tests: all of them, or those that its arguments name. */
#include "run.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_WORDS = 100 };

/* The program's arguments. */
static char **words;
static int nwords;
static atomic_bool found[MOST_WORDS]; /* whether the word selected something */
static bool by_row;                   /* of the current table test */
static atomic_int rows;               /* that were selected, and ran */

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

static bool has_word(const char *text, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)) != NULL; at++) {
        const bool begins = at == text || !is_letter(at[-1]) || !is_letter(word[0]);
        const bool ends = !is_letter(at[length]) || !is_letter(word[length - 1]);
        if (begins && ends)
            return true;
    }
    return false;
}

static bool test_selected(const char *name)
{
    bool selected = nwords == 0;
    for (int k = 0; k < nwords; k++)
        if (strstr(name, words[k])) {
            found[k] = true;
            selected = true;
        }
    return selected;
}

static uint64_t number_in(const char *variable)
{
    const char *text = getenv(variable);
    return text ? strtoull(text, NULL, 10) : 0;
}

/* Of the text up to a ';': FNV-1a, with the bits mixed at the end (Vigna, 2015: splitmix64). */
static uint64_t hash_of(uint64_t seed, const char *text)
{
    uint64_t hash = 0xcbf29ce484222325 ^ (seed * 0x9e3779b97f4a7c15);
    for (; *text && *text != ';'; text++)
        hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
    hash = (hash ^ hash >> 30) * 0xbf58476d1ce4e5b9;
    hash = (hash ^ hash >> 27) * 0x94d049bb133111eb;
    return hash ^ hash >> 31;
}

static uint64_t usual_share = 1;

void sample_usually(uint64_t share)
{
    usual_share = share;
}

/* One of how many items the sample takes. */
static uint64_t share_of_items(void)
{
    enum { REDUCED = 37 };
    uint64_t share = getenv("QUARRY_TEST_SHARE") ? number_in("QUARRY_TEST_SHARE") : usual_share;
    share = share > 0 ? share : 1;
    if (getenv("QUARRY_TEST_REDUCED")) /* a multiple takes a part of the same items */
        share *= (REDUCED + share - 1) / share;
    return share;
}

bool in_sample(const char *text)
{
    const uint64_t share = share_of_items();
    return share < 2 || hash_of(number_in("QUARRY_TEST_SAMPLE"), text) % share == 0;
}

bool in_short_sample(const char *list, int k, int count)
{
    const uint64_t n = (uint64_t)count, taken = (n + share_of_items() - 1) / share_of_items();
    const uint64_t first = hash_of(number_in("QUARRY_TEST_SAMPLE"), list) % n;
    return ((uint64_t)k + n - first) % n < taken;
}

/* Whether the text is in the n-th of all texts that a sample takes; slow checkers take half of it.
 */
static bool in_part(const char *text, uint64_t n)
{
    const uint64_t parts = getenv("QUARRY_TEST_REDUCED") ? 2 * n : n;
    return hash_of(number_in("QUARRY_TEST_SAMPLE"), text) % parts == 0;
}

bool in_eighth(const char *text)
{
    return share_of_items() < 8 || in_part(text, 8);
}

uint64_t run_seed(void)
{
    const uint64_t seed = getenv("QUARRY_TEST_SEED") ? number_in("QUARRY_TEST_SEED")
                          : getenv("QUARRY_TEST_SAMPLE")
                              ? hash_of(number_in("QUARRY_TEST_SAMPLE"), "")
                              : (uint64_t)time(NULL);
    print_message("QUARRY_TEST_SEED=%llu\n", (unsigned long long)seed);
    return seed;
}

bool row_selected(const char *row)
{
    if (!by_row)
        return in_sample(row);
    bool selected = false;
    for (int k = 0; k < nwords; k++)
        if (has_word(row, words[k])) {
            found[k] = true;
            selected = true;
        }
    rows += selected;
    return selected;
}

bool rows_are_named(void)
{
    return by_row;
}

int select_named_rows(void **state)
{
    (void)state;
    by_row = true;
    return 0;
}

static int select_every_row(void **state)
{
    (void)state;
    by_row = false;
    return 0;
}

static CMFixtureFunction sampled_setup;

void sample_tests(CMFixtureFunction setup)
{
    sampled_setup = setup;
}

int start_slow_test(void **state)
{
    (void)state;
    return 0;
}

static bool is_left_out(const struct CMUnitTest *test)
{
    if (nwords > 0 || !test->setup_func)
        return false;
    if (test->setup_func == start_slow_test)
        return getenv("QUARRY_TEST_SHARE") && !in_part(test->name, 4);
    return test->setup_func == sampled_setup && !in_eighth(test->name);
}

/* The tests to run: those selected, and the table tests, because of their rows. */
static size_t select_tests(struct CMUnitTest *selected, const struct CMUnitTest *tests,
                           size_t count)
{
    size_t n = 0, left_out = 0;
    for (size_t k = 0; k < count; k++) {
        const bool whole = test_selected(tests[k].name);
        const bool table = tests[k].setup_func == select_named_rows;
        left_out += is_left_out(&tests[k]);
        if ((!whole && !table) || is_left_out(&tests[k]))
            continue;
        selected[n] = tests[k];
        if (whole && table)
            selected[n].setup_func = select_every_row;
        n++;
    }
    if (left_out > 0)
        print_message("%zu tests are not in the sample\n", left_out);
    return n;
}

/* The number of words that selected nothing. */
static int complain(const struct CMUnitTest *tests, size_t count)
{
    int unknown = 0;
    for (int k = 0; k < nwords; k++)
        if (!found[k]) {
            print_error("no test's name has \"%s\", and no row that word\n", words[k]);
            unknown++;
        }
    for (size_t k = 0; k < count && unknown > 0; k++)
        print_error("    %s%s\n", tests[k].name,
                    tests[k].setup_func == select_named_rows ? " (has rows)" : "");
    return unknown;
}

int run_selected_tests(int argc, char **argv, const struct CMUnitTest *tests, size_t count,
                       CMFixtureFunction setup, CMFixtureFunction teardown)
{
    words = argv + 1;
    nwords = argc > 1 ? argc - 1 : 0;
    if (nwords > MOST_WORDS) {
        print_error("%d arguments are more than %d\n", nwords, MOST_WORDS);
        return 1;
    }
    for (int k = 0; k < nwords; k++)
        found[k] = false;
    rows = 0;
    struct CMUnitTest *selected = malloc(count * sizeof *selected);
    if (!selected)
        return 1;
    const size_t n = select_tests(selected, tests, count);
    const int failed = n ? _cmocka_run_group_tests("tests", selected, n, setup, teardown) : 0;
    free(selected);
    if (rows > 0)
        print_message("%d rows of tables are named\n", (int)rows);
    return failed + complain(tests, count);
}
