/* Numbers in formulas: alone as in Python, beside arrays as in NumPy, as literals and as arguments
 * of cached plans. */
#include <complex.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "files.h"
#include "golden.h"
#include "model/dtype.h"
#include "model/rows.h"
#include "parallel.h"
#include "run.h"

/* ---- The golden file ---- */

enum { MOST_LINES = 20000, LINE = 400 };

static char (*lines)[LINE];
static int nlines;

static int read_lines(void **state)
{
    (void)state;
    FILE *file = fopen(golden_path("numbers.txt"), "r");
    lines = malloc(sizeof *lines * MOST_LINES);
    while (file && lines && nlines < MOST_LINES && fgets(lines[nlines], LINE, file))
        lines[nlines][strcspn(lines[nlines], "\n")] = 0, nlines++;
    if (file)
        fclose(file);
    return nlines > 0 && nlines < MOST_LINES ? 0 : -1;
}

static int free_lines(void **state)
{
    (void)state;
    free(lines);
    return 0;
}

/* Splits the next word off a line. */
static char *cut_word(char **line)
{
    return strtok_r(NULL, " ", line);
}

/* Floats are equal if their bits are, but any NaN equals any other. */
static bool same_element(ga_dtype dtype, const unsigned char *got, const unsigned char *want)
{
    double a, b;
    if (dtype != GA_FLOAT64)
        return memcmp(got, want, ga_dtype_size(dtype)) == 0;
    memcpy(&a, got, sizeof a);
    memcpy(&b, want, sizeof b);
    return (a != a && b != b) || memcmp(got, want, sizeof a) == 0;
}

static void check_elements(const char *what, const char *how, const gpuarray *got,
                           const unsigned char *want)
{
    unsigned char bytes[256];
    char why[300];
    const ga_dtype dtype = ga_dtype_of(got);
    if (ga_to_host(got, bytes, ga_nbytes(got)) != GA_OK)
        fail_later("%s, %s: %s", what, how, ga_error_message());
    for (int64_t i = 0; i < ga_size(got) && ga_error() == GA_OK; i++) {
        const size_t at = (size_t)i * ga_dtype_size(dtype);
        if (same_element(dtype, bytes + at, want + at))
            continue;
        golden_difference(why, sizeof why, dtype, i, bytes + at, want + at);
        fail_later("%s, %s: %s", what, how, why);
        return;
    }
}

/* Whether the array is the ANSWER of a line: "DTYPE:BYTES", or "!" for none. */
static void check(const char *what, const char *how, const gpuarray *got, const char *answer)
{
    unsigned char want[256];
    const char *colon = strchr(answer, ':');
    const ga_status status = ga_error();
    if (!colon) {
        if (got || (status != GA_ERR_INVALID && status != GA_ERR_DTYPE))
            fail_later("%s, %s: no error, or the wrong one: %s", what, how, ga_error_message());
    } else if (!got) {
        fail_later("%s, %s: %s", what, how, ga_error_message());
    } else {
        const ga_dtype dtype = ga__dtype_named(answer, (size_t)(colon - answer));
        const size_t nbytes = parse_hex(colon + 1, want);
        if (ga_dtype_of(got) != dtype || ga_nbytes(got) != nbytes)
            fail_later("%s, %s: a %s, wanted %s", what, how, ga_dtype_name(ga_dtype_of(got)),
                       answer);
        else
            check_elements(what, how, got, want);
    }
    ga_clear_error();
}

/* A Python literal as a value of C. */
static ga_value number_of(const char *text)
{
    if (strcmp(text, "True") == 0 || strcmp(text, "False") == 0)
        return ga_value_bool(text[0] == 'T');
    if (strchr(text, 'j')) {
        char *end;
        const double first = strtod(text + (text[0] == '('), &end);
        return *end == 'j' ? ga_value_floating(GA_COMPLEX128, 0, first)
                           : ga_value_floating(GA_COMPLEX128, first, strtod(end, NULL));
    }
    if (strpbrk(text, ".in"))
        return ga_value_double(strtod(text, NULL));
    return text[0] == '-' ? ga_value_signed(GA_INT64, strtoll(text, NULL, 10))
                          : ga_value_unsigned(GA_UINT64, strtoull(text, NULL, 10));
}

/* ---- Numbers alone ---- */

/* "OPERATOR A B ANSWER" with both as literals, both as arguments, and one of each. */
static void check_pair(char *line)
{
    char text[200];
    const char *op = cut_word(&line), *a = cut_word(&line), *b = cut_word(&line);
    const char *answer = cut_word(&line);
    const ga_named args[] = {{"a", number_of(a)}, {"b", number_of(b)}};
    GA_SCOPE {
        snprintf(text, sizeof text, "(%s) %s (%s)", a, op, b);
        check(text, "literals", (ga_eval)(text, 0, NULL), answer);
        char names[40];
        snprintf(names, sizeof names, "a %s b", op);
        check(text, "arguments", (ga_eval)(names, 2, args), answer);
        snprintf(names, sizeof names, "(%s) %s b", a, op);
        check(text, "an argument", (ga_eval)(names, 2, args), answer);
    }
}

static bool starts(const char *line, const char *word)
{
    return strncmp(line, word, strlen(word)) == 0;
}

static void pairs_of_numbers_are_pythons(void **state)
{
    (void)state;
    for (int k = 0; k < nlines; k++)
        if (starts(lines[k], "pair "))
            check_pair(lines[k] + 5);
    assert_int_equal(failures(), 0);
}

static void formulas_of_numbers_are_pythons(void **state)
{
    (void)state;
    for (int k = 0; k < nlines; k++)
        if (starts(lines[k], "tree ")) {
            char *text = lines[k] + 5;
            const char *answer = cut_word(&text);
            GA_SCOPE
                check(text, "alone", (ga_eval)(text, 0, NULL), answer);
        }
    assert_int_equal(failures(), 0);
}

/* A zero has its own dtype, and so has a 1, in either order. */
static void equal_numbers_of_two_kinds_stay_apart(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ga_dtype dtype;
    } cases[] = {
        {"where(c, 0, 0.0)", GA_FLOAT64},         {"where(c, 0.0, 0)", GA_FLOAT64},
        {"where(c, 1, True)", GA_INT64},          {"where(c, True, 1)", GA_INT64},
        {"where(c, True, True)", GA_BOOL},        {"where(c, False, 0)", GA_INT64},
        {"(i & True) + (i & 1)", GA_INT8},        {"(c & True) | (c & (1 > 0))", GA_BOOL},
        {"(c & True) + i * 1", GA_INT8},          {"i * 1 + (c & True)", GA_INT8},
        {"i * 0 + i * 0.0", GA_FLOAT64},          {"i * 0.0 + i * 0", GA_FLOAT64},
        {"where(c, 0.0, i) + 0 * i", GA_FLOAT64}, {"where(c, 0, i) + 0.0 * i", GA_FLOAT64}};
    GA_SCOPE {
        gpuarray *i = ga_ones(GA_INT8, GA_SHAPE(5)), *c = ga_ones(GA_BOOL, GA_SHAPE(5));
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            gpuarray *r = (ga_eval)(cases[k].text, 2, (ga_named[]){{"i", GA_V(i)}, {"c", GA_V(c)}});
            if (!r || ga_dtype_of(r) != cases[k].dtype)
                fail_msg("%s: %s, %s", cases[k].text, r ? ga_dtype_name(ga_dtype_of(r)) : "none",
                         ga_error_message());
        }
    }
}

/* Truncated if they fit then, like ga_scalar; with the plan of the first call. */
static void floats_are_cast_to_integers(void **state)
{
    (void)state;
    const double numbers[] = {2.75, -1.5, 1e9, -INFINITY, NAN, 0.0, 127.9, -128.9, 128.0, -129.0};
    const int cut[] = {2, -1, 999, 999, 999, 0, 127, -128, 999, 999};
    for (int k = 0; k < 10; k++)
        GA_SCOPE {
            const double a = numbers[k];
            const bool fits = cut[k] < 999;
            gpuarray *r = ga_eval("int8(a)", GA(a)),
                     *z = ga_eval("int8(a)", GA_NAMED("a", a + 3 * I));
            if (fits != (r && z) ||
                (fits && (ga_item_int64(r) != cut[k] || ga_item_int64(z) != cut[k])))
                fail_msg("int8 of %g: %s", a, ga_error_message());
            if (!fits && (ga_error() != GA_ERR_INVALID || !strstr(ga_error_message(), "fit int8")))
                fail_msg("int8 of %g: %s", a, ga_error_message());
            ga_clear_error();
        }
}

/* ---- Numbers beside arrays ---- */

/* "DTYPE OPERATOR NUMBER ANSWER": as a literal, and as an argument after one that fits and before
 * others, because the plan of the first one is cached. */
static void check_weak(char *line, const gpuarray *x)
{
    char text[100], what[140];
    const char *dtype = cut_word(&line), *op = cut_word(&line), *number = cut_word(&line);
    const char *answer = cut_word(&line);
    snprintf(what, sizeof what, "%s array %s %s", dtype, op, number);
    GA_SCOPE {
        snprintf(text, sizeof text, "x %s (%s)", op, number);
        check(what, "a literal", (ga_eval)(text, 1, (ga_named[]){{"x", GA_V(x)}}), answer);
        snprintf(text, sizeof text, "x %s a", op);
        const ga_named fits[] = {{"x", GA_V(x)}, {"a", GA_V(1)}};
        const ga_named args[] = {{"x", GA_V(x)}, {"a", number_of(number)}};
        assert_non_null((ga_eval)(text, 2, fits));
        check(what, "an argument", (ga_eval)(text, 2, args), answer);
        assert_non_null((ga_eval)(text, 2, fits));
        if (strcmp(op, "+") == 0)
            check(what, "eager", (ga_add)(GA_V(x), number_of(number)), answer);
    }
}

static gpuarray *read_array(char *line)
{
    unsigned char bytes[64];
    const char *name = cut_word(&line);
    const ga_dtype dtype = ga__dtype_named(name, strlen(name));
    const size_t nbytes = parse_hex(cut_word(&line), bytes);
    const int64_t count = (int64_t)(nbytes / ga_dtype_size(dtype));
    return ga_from_host(bytes, dtype, 1, &count);
}

static void integers_at_the_ends_of_a_dtype_are_numpys(void **state)
{
    (void)state;
    gpuarray *x = NULL;
    for (int k = 0; k < nlines; k++)
        if (starts(lines[k], "array ")) {
            ga_free(x);
            x = read_array(lines[k] + 6);
            assert_non_null(x);
        } else if (starts(lines[k], "weak ") && in_eighth(lines[k])) {
            check_weak(lines[k] + 5, x);
        }
    ga_free(x);
    assert_int_equal(failures(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        /* First, while there is room for plans. */
        cmocka_unit_test(integers_at_the_ends_of_a_dtype_are_numpys),
        cmocka_unit_test(equal_numbers_of_two_kinds_stay_apart),
        cmocka_unit_test(floats_are_cast_to_integers),
        cmocka_unit_test(pairs_of_numbers_are_pythons),
        cmocka_unit_test(formulas_of_numbers_are_pythons),
    };
    return run_named_tests(argc, argv, tests, read_lines, free_lines);
}
