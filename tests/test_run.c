/* The runner itself: the tests and rows that a program's arguments select, and the failure of other
 * arguments. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run.h"

static int wrong;
static char ran[200]; /* the first letters of the tests and rows that ran */

static void note(const char *name)
{
    const size_t length = strlen(ran);
    ran[length] = name[0];
    ran[length + 1] = '\0';
}

static void apples_fall(void **state)
{
    (void)state;
    note("a");
}

static void birds_fly(void **state)
{
    (void)state;
    note("b");
}

static int set_up(void **state)
{
    (void)state;
    return 0;
}

static const char *const rows[] = {"log(float32)", "Log10(float32)", "Xlog(float16)"};

static void table_of_rows(void **state)
{
    (void)state;
    note(rows_are_named() ? "r" : "t");
    for (int k = 0; k < 3; k++)
        if (row_selected(rows[k]))
            note(rows[k]);
}

/* Runs with these arguments, ended by NULL: the status, and the tests that ran. */
static void expect(const char *const *args, int status, const char *wanted)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(apples_fall),
        cmocka_unit_test(birds_fly),
        table_test(table_of_rows),
    };
    char *argv[8] = {(char[]){"test"}};
    int argc = 1;
    for (; args[argc - 1]; argc++)
        argv[argc] = strdup(args[argc - 1]);
    ran[0] = '\0';
    const int got = run_named_tests(argc, argv, tests, NULL, NULL);
    if (got != status || strcmp(ran, wanted) != 0) {
        printf("%s ...: status %d, wanted %d; ran \"%s\", wanted \"%s\"\n", args[0] ? args[0] : "",
               got, status, ran, wanted);
        wrong++;
    }
    while (--argc > 0)
        free(argv[argc]);
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__})

/* Samples of one in three of 3000 items: their sizes, and that another seed draws another. */
static void expect_samples(void)
{
    int counts[2] = {0, 0}, common = 0;
    char text[20];
    for (int k = 0; k < 3000; k++) {
        snprintf(text, sizeof text, "item %d", k);
        setenv("QUARRY_TEST_SAMPLE", "1", 1);
        const int first = in_sample(text);
        setenv("QUARRY_TEST_SAMPLE", "2", 1);
        const int second = in_sample(text);
        counts[0] += first;
        counts[1] += second;
        common += first && second;
    }
    /* Five standard deviations about 1000 and 333. */
    if (abs(counts[0] - 1000) > 130 || abs(counts[1] - 1000) > 130 || abs(common - 333) > 90) {
        printf("samples of %d and %d items, %d in both\n", counts[0], counts[1], common);
        wrong++;
    }
}

/* Of 7 items and of 40, one in sixteen: at least one, and each of them in some sample. */
static void expect_short_samples(void)
{
    static const int lengths[] = {7, 40}, wanted[] = {1, 3};
    setenv("QUARRY_TEST_SHARE", "16", 1);
    for (int l = 0; l < 2; l++) {
        int samples[40] = {0};
        for (int seed = 0; seed < 400; seed++) {
            char text[20];
            int count = 0;
            snprintf(text, sizeof text, "%d", seed);
            setenv("QUARRY_TEST_SAMPLE", text, 1);
            for (int k = 0; k < lengths[l]; k++) {
                const int has = in_short_sample("list", k, lengths[l]);
                count += has;
                samples[k] += has;
            }
            wrong += count != wanted[l];
        }
        for (int k = 0; k < lengths[l]; k++)
            wrong += samples[k] == 0;
    }
    unsetenv("QUARRY_TEST_SHARE");
}

/* Of tests with one setup, a sample has one of four; arguments name any. */
static void expect_some_tests(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(apples_fall),
                                       cmocka_unit_test_setup(birds_fly, set_up)};
    char *argv[] = {(char[]){"test"}, (char[]){"birds"}};
    int birds = 0;
    setenv("QUARRY_TEST_SHARE", "16", 1);
    sample_tests(set_up);
    for (int seed = 0; seed < 40; seed++) {
        char text[20];
        snprintf(text, sizeof text, "%d", seed);
        setenv("QUARRY_TEST_SAMPLE", text, 1);
        ran[0] = '\0';
        wrong += run_named_tests(1, argv, tests, NULL, NULL) != 0 || ran[0] != 'a';
        birds += ran[1] == 'b';
        ran[0] = '\0';
        wrong += run_named_tests(2, argv, tests, NULL, NULL) != 0 || strcmp(ran, "b") != 0;
    }
    wrong += birds < 2 || birds > 20;
    unsetenv("QUARRY_TEST_SHARE");
}

/* A sample has an eighth of 400 items. Slow checkers take fewer items of the same sample. */
static void expect_eighths(void)
{
    int eighth = 0, reduced = 0, others = 0;
    char text[20];
    setenv("QUARRY_TEST_SHARE", "32", 1);
    setenv("QUARRY_TEST_SAMPLE", "3", 1);
    for (int k = 0; k < 400; k++) {
        snprintf(text, sizeof text, "item %d", k);
        unsetenv("QUARRY_TEST_REDUCED");
        const bool taken = in_eighth(text);
        setenv("QUARRY_TEST_REDUCED", "1", 1);
        const bool again = in_eighth(text);
        eighth += taken;
        reduced += again;
        others += again && !taken;
    }
    wrong += eighth < 25 || eighth > 85 || reduced > 50 || reduced < 8 || others > 0;
    unsetenv("QUARRY_TEST_REDUCED");
    unsetenv("QUARRY_TEST_SHARE");
}

static void expect_everything(const char *what)
{
    for (int k = 0; k < 10; k++) {
        char text[20];
        snprintf(text, sizeof text, "item %d", k);
        if (in_sample(text) && in_short_sample("list", k, 10) && in_eighth(text))
            continue;
        printf("%s the sample lacks %s\n", what, text);
        wrong++;
    }
}

int main(void)
{
    unsetenv("QUARRY_TEST_SHARE"); /* the rows below are few */
    unsetenv("QUARRY_TEST_REDUCED");
    expect_everything("without QUARRY_TEST_SHARE");
    sample_usually(3);
    expect_samples();
    setenv("QUARRY_TEST_SHARE", "1", 1);
    expect_everything("with QUARRY_TEST_SHARE=1");
    sample_usually(1);
    setenv("QUARRY_TEST_SHARE", "3", 1);
    expect_samples();
    expect_short_samples();
    expect_some_tests();
    expect_eighths();
    expect(ARGS(NULL), 0, "abtlLX");
    expect(ARGS("birds", NULL), 0, "br");
    expect(ARGS("f", NULL), 0, "abtlLX"); /* table_of_rows has one too */
    expect(ARGS("log", NULL), 0, "rl");
    expect(ARGS("float32", NULL), 0, "rlL");
    expect(ARGS("log(float32)", "Xlog", NULL), 0, "rlX");
    expect(ARGS("apples", "Log10", NULL), 0, "arL");
    expect(ARGS("table", NULL), 0, "tlLX");
    expect(ARGS("apple pie", NULL), 1, "r");
    expect(ARGS("birds", "lo", "float", NULL), 2, "br");
    return wrong != 0;
}
