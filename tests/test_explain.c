/* Tests of the source lines that follow a compiler's message. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "jit/explain.h"
#include "run.h"

static const char *const text = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten";

static void lists(const char *message, const char *listing)
{
    char *explained = ga__explain_source(message, text, "my module"), expected[1000];
    snprintf(expected, sizeof expected, "%s\n%s", message, listing);
    assert_string_equal(explained, expected);
    ga__free(explained);
}

static void the_lines_named_are_marked(void **state)
{
    (void)state;
    lists("my module(3): error", "     1 | one\n"
                                 "     2 | two\n"
                                 ">    3 | three\n"
                                 "     4 | four\n"
                                 "     5 | five\n");
    lists("my module:1:7: error: x\nmy module:9:1: note: y", ">    1 | one\n"
                                                             "     2 | two\n"
                                                             "     3 | three\n"
                                                             "   ...\n"
                                                             "     7 | seven\n"
                                                             "     8 | eight\n"
                                                             ">    9 | nine\n"
                                                             "    10 | ten\n");
    lists("my module(10): error, my module(10): error", "     8 | eight\n"
                                                        "     9 | nine\n"
                                                        ">   10 | ten\n");
}

static void nothing_is_listed_without_a_line(void **state)
{
    (void)state;
    lists("my module does not compile", "");
    lists("other.h(3): error", "");
    lists("my module(99): error", "");
    lists("my module(x): error", "");
    lists("", "");
}

static void line_directives_count(void **state)
{
    (void)state;
    char *explained = ga__explain_source("m(101): error", "one\n#line 100\nhundred\nnext\n", "m");
    assert_string_equal(explained, "m(101): error\n   100 | hundred\n>  101 | next\n");
    ga__free(explained);
}

static void a_template_shows_the_users_lines(void **state)
{
    (void)state;
    char *explained = ga__explain_template("bad", "ours\n#line 1 \"operation\"\nz[i] = y\n"
                                                  "#line 9 \"kernel\"\nours\n");
    assert_string_equal(explained, "bad\n#line 1 \"operation\"\n>    1 | z[i] = y\n");
    ga__free(explained);
    explained = ga__explain_template("bad", "ours\nalone");
    assert_string_equal(explained, "bad\n     1 | ours\n     2 | alone\n");
    ga__free(explained);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lines_named_are_marked),
        cmocka_unit_test(nothing_is_listed_without_a_line),
        cmocka_unit_test(line_directives_count),
        cmocka_unit_test(a_template_shows_the_users_lines),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
