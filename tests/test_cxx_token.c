/* Tests of base/cxx_token.c: the tokens of texts, and every prefix of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/cxx_token.h"
#include "run.h"

static const char *const marks[] = {"<<<", "<<", "::", NULL};

/* The tokens as "kind:text", each followed by a blank; ^ before the first of a line. */
static void expect(const char *text, const char *wanted)
{
    static const char kinds[] = "EWNSML";
    char got[1000] = "";
    size_t used = 0;
    ga__scanner s = {.at = text, .marks = marks, .line_start = true};
    for (;;) {
        const ga__token t = ga__scan(&s);
        if (t.kind == GA__TOKEN_END)
            break;
        if (t.line_start && ga__token_is(t, "#"))
            s.in_directive = true;
        if (t.kind == GA__TOKEN_LINE_END)
            s.in_directive = false;
        used += (size_t)snprintf(got + used, sizeof got - used, "%s%c:%.*s ",
                                 t.line_start ? "^" : "", kinds[t.kind],
                                 t.kind == GA__TOKEN_LINE_END ? 0 : (int)t.length, t.text);
    }
    if (strcmp(got, wanted) != 0)
        fail_msg("tokens of \"%s\":\n%s\nexpected:\n%s", text, got, wanted);
}

static void words_numbers_and_marks(void **state)
{
    (void)state;
    expect("", "");
    expect(" \t\n ", "");
    expect("float *x_1 = y$;", "^W:float M:* W:x_1 M:= W:y$ M:; ");
    expect("1'000.5f .5 x.y 0x1p-3 1'", "^N:1'000.5f N:.5 W:x M:. W:y N:0x1p M:- N:3 N:1 S:' ");
    expect("a<<<b<<c<d::e:f", "^W:a M:<<< W:b M:<< W:c M:< W:d M::: W:e M:: W:f ");
    expect("\xc3\xa9t\xc3\xa9 @", "^W:\xc3\xa9t\xc3\xa9 M:@ ");
}

static void comments_are_blanks(void **state)
{
    (void)state;
    expect("a // b \\\n c \n d", "^W:a ^W:d ");
    expect("a // b \\\r\n c", "^W:a ");
    expect("a /* // \n \" */ b /* open", "^W:a W:b ");
    expect("a / b /", "^W:a M:/ W:b M:/ ");
    expect("a\\\nb \\ c", "^W:a W:b M:\\ W:c ");
}

static void literals_keep_together(void **state)
{
    (void)state;
    expect("\"a \\\" // b\" 'c' u8\"d\" L'e'", "^S:\"a \\\" // b\" S:'c' S:u8\"d\" W:L S:'e' ");
    expect("R\"x(a)\" \n )y)x\" b", "^S:R\"x(a)\" \n )y)x\" W:b ");
    expect("u8R\"(a\"b)\" FOR\"c\"", "^S:u8R\"(a\"b)\" S:FOR\"c\" ");
    expect("\"open\n next", "^S:\"open ^W:next ");
    expect("R\"open", "^S:R\"open ");
    expect("R\"x(open", "^S:R\"x(open ");
    expect("\"\\", "^S:\"\\ ");
}

static void directives_end_with_their_lines(void **state)
{
    (void)state;
    expect("a\n #if x \\\n y /* \n */ z\nb # c\n#d",
           "^W:a ^M:# W:if W:x W:y W:z L: ^W:b M:# W:c ^M:# W:d ");
    expect("#error don't\nb", "^M:# W:error W:don S:'t L: ^W:b ");
    expect("/* a */ #b", "^M:# W:b ");
}

static void a_token_is_its_whole_text(void **state)
{
    (void)state;
    ga__scanner s = {.at = "ab a"};
    const ga__token ab = ga__scan(&s), a = ga__scan(&s), end = ga__scan(&s), none = {.text = NULL};
    assert_true(ga__token_is(ab, "ab") && ga__token_is(a, "a"));
    assert_false(ga__token_is(ab, "a") || ga__token_is(ab, "abc") || ga__token_is(a, "ab"));
    assert_false(ga__token_is(end, "") || ga__token_is(none, "") || ga__token_is(none, "a"));
}

/* The tokens of any text that is cut off cover it without an overlap, and end. */
static void any_prefix_has_an_end(void **state)
{
    static const char text[] =
        "R\"x(a)x\" u8\"b\\\"\" 'c\\'' /* d */ // e \\\n f\n#define g(h) \\\n \"i\\\n\n"
        "1'0.e .5'x <<<<<< ::: \\\r\n R\"0123456789abcdefg(j)\" \xff";
    (void)state;
    for (size_t length = 0; length < sizeof text; length++)
        for (int in_directive = 0; in_directive < 2; in_directive++) {
            char *copy = strndup(text, length); /* so that a sanitizer sees its end */
            ga__scanner s = {.at = copy, .marks = marks, .in_directive = in_directive};
            const char *end = copy;
            for (;;) {
                const ga__token t = ga__scan(&s);
                assert_true(t.text >= end && t.text + t.length == s.at);
                end = s.at;
                if (t.kind == GA__TOKEN_END)
                    break;
                assert_true(t.length > 0);
            }
            assert_int_equal(end - copy, strlen(copy));
            free(copy);
        }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_numbers_and_marks),
        cmocka_unit_test(comments_are_blanks),
        cmocka_unit_test(literals_keep_together),
        cmocka_unit_test(directives_end_with_their_lines),
        cmocka_unit_test(a_token_is_its_whole_text),
        cmocka_unit_test(any_prefix_has_an_end),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
