/* Text of arrays against NumPy's, in every dtype and layout. */

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <quarry.h>

#include "array_support.h"
#include "base/strbuf.h"
#include "files.h"
#include "run.h"
#include "scratch.h"

static ga_dtype dtype_named(const char *name)
{
    for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++)
        if (strcmp(ga_dtype_name((ga_dtype)d), name) == 0)
            return (ga_dtype)d;
    fail_msg("no dtype %s", name);
    return GA_NO_DTYPE;
}

/* An array from "DTYPE SHAPE HEX". */
static gpuarray *array_of_line(char *line)
{
    int64_t shape[GA_MAX_NDIM];
    int ndim = 0;
    char *rest;
    const char *name = strtok_r(line, " ", &rest), *lengths = strtok_r(NULL, " ", &rest);
    const char *hex = strtok_r(NULL, " ", &rest);
    const size_t nbytes = hex[0] == '-' ? 0 : strlen(hex) / 2;
    unsigned char *bytes = malloc(nbytes + 1);

    for (size_t i = 0; i < nbytes; i++)
        assert_int_equal(sscanf(hex + 2 * i, "%2hhx", &bytes[i]), 1);
    while (lengths[0] && lengths[0] != '-') {
        char *end;
        shape[ndim++] = strtoll(lengths, &end, 10);
        lengths = *end ? end + 1 : end;
    }
    gpuarray *x = ga_from_host(bytes, dtype_named(name), ndim, shape);
    free(bytes);
    assert_non_null(x);
    assert_int_equal(ga_nbytes(x), nbytes);
    return x;
}

/* What ga_print() writes, without the newline; free() it. */
static char *printed(const gpuarray *x)
{
    char *text = NULL;
    size_t nbytes = 0;
    FILE *kept = stdout;

    stdout = open_memstream(&text, &nbytes);
    assert_int_equal(ga_print(x), GA_OK);
    fclose(stdout);
    stdout = kept;
    assert_true(nbytes > 0 && text[nbytes - 1] == '\n');
    text[nbytes - 1] = '\0';
    return text;
}

static void check_entry(char *line, const char *want, char *(*text_of)(const gpuarray *))
{
    char whole[100];

    snprintf(whole, sizeof whole, "%s", line);
    gpuarray *x = array_of_line(line);
    char *text = text_of(x);
    if (!text || strcmp(text, want) != 0)
        fail_msg("%s gives\n%s\nnot\n%s", whole, text ? text : ga_error_message(), want);
    free(text);
    ga_free(x);
}

/* Runs check_entry on each entry of the file. */
static int check_file(const char *path, char *(*text_of)(const gpuarray *))
{
    size_t nbytes;
    char *text = read_bytes(path, &nbytes), *line = text;
    int count = 0;

    while (*line) {
        char *next = strchr(line, '\n');
        ga__strbuf want = GA__STRBUF_INIT;
        *next++ = '\0';
        while (*next == '|') {
            char *end = strchr(next, '\n');
            if (want.length)
                ga__strbuf_add(&want, "\n");
            ga__strbuf_add_bytes(&want, next + 1, (size_t)(end - next - 1));
            next = end + 1;
        }
        check_entry(line, want.text, text_of);
        ga__strbuf_reset(&want);
        line = next + 1;
        count++;
    }
    free(text);
    return count;
}

static void text_is_numpys(void **state)
{
    (void)state;
    assert_true(check_file(golden_path("format.txt"), ga_format) > 500);
    assert_true(check_file(golden_path("print.txt"), printed) > 300);
}

static void assert_text(const gpuarray *x, const char *want)
{
    char *text = ga_format(x);

    assert_string_equal(text ? text : ga_error_message(), want);
    free(text);
}

static void views_are_written_in_their_order(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(2, 3));
        assert_text(ga_transpose(x), "[[0 3]\n [1 4]\n [2 5]]");
        assert_text(ga_flip(x, 1), "[[2 1 0]\n [5 4 3]]");
        assert_text(ga_slice(x, "1, 1"), "4");
        assert_text(ga_broadcast_to(ga_slice(x, "0"), GA_SHAPE(2, 3)), "[[0 1 2]\n [0 1 2]]");
    }
}

/* The texts are those of numpy.array2string under numpy.printoptions. */
static void options_are_those_of_numpy(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_divide(ga_linspace(GA_FLOAT64, 0, 1, 4), 3), *i = counting(GA_SHAPE(20));
        const double numbers[] = {1e-7, 1, 1e9, 123.456, 1.23456789e-20};
        gpuarray *n = ga_from_host(numbers, GA_FLOAT64, GA_SHAPE(5));
        gpuarray *z =
            ga_full(GA_COMPLEX128, GA_SHAPE(1), ga_value_floating(GA_COMPLEX128, 1.0 / 3, 2.0 / 3));
        ga_set_print_options(.precision = 3);
        assert_text(x, "[0.    0.111 0.222 0.333]");
        ga_set_print_options(.precision = -1);
        assert_text(x, "[0. 0. 0. 0.]");
        ga_set_print_options(.precision = 2);
        assert_text(ga_slice(n, "::3"), "[1.00e-07 1.23e+02]");
        assert_text(z, "[0.33+0.67j]");
        ga_set_print_options(.precision = 12);
        assert_text(ga_slice(n, "4:0:-3"), "[1.23456789e-20 1.00000000e+00]");
        ga_set_print_options(.suppress = true);
        assert_text(ga_slice(n, ":2"), "[0.0000001 1.       ]");
        assert_text(ga_slice(n, "2:0:-1"), "[1.e+09 1.e+00]");
        ga_set_print_options(.threshold = 10, .edgeitems = 2);
        assert_text(i, "[ 0  1 ... 18 19]");
        ga_set_print_options(.linewidth = 20);
        assert_text(i, "[ 0  1  2  3  4  5\n  6  7  8  9 10 11\n 12 13 14 15 16 17\n 18 19]");
        ga_set_print_options(.threshold = 4, .edgeitems = 1);
        assert_text(ga_reshape(counting(GA_SHAPE(30)), GA_SHAPE(5, 6)),
                    "[[ 0 ...  5]\n ...\n [24 ... 29]]");
        assert_int_equal(ga_set_print_options(.edgeitems = -1), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "set_print_options: threshold 0, edgeitems -1 or linewidth 0");
        ga_set_print_options();
        assert_text(ga_slice(i, ":3"), "[0 1 2]");
    }
}

static void views_of_large_arrays_are_shortened(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = counting(GA_SHAPE(40, 50));
        assert_text(ga_slice(ga_transpose(x), "::-1"), "[[  49   99  149 ... 1899 1949 1999]\n"
                                                       " [  48   98  148 ... 1898 1948 1998]\n"
                                                       " [  47   97  147 ... 1897 1947 1997]\n"
                                                       " ...\n"
                                                       " [   2   52  102 ... 1852 1902 1952]\n"
                                                       " [   1   51  101 ... 1851 1901 1951]\n"
                                                       " [   0   50  100 ... 1850 1900 1950]]");
        assert_text(
            ga_broadcast_to(ga_slice(x, "3, 1:3"), GA_SHAPE(100000000, 2)),
            "[[151 152]\n [151 152]\n [151 152]\n ...\n [151 152]\n [151 152]\n [151 152]]");
        int64_t twos[GA_MAX_NDIM];
        for (int i = 0; i < GA_MAX_NDIM; i++)
            twos[i] = i ? 2 : 9;
        assert_null(ga_format(ga_broadcast_to(ga_slice(x, "0, 0"), GA_MAX_NDIM, twos)));
        assert_error(GA_ERR_UNSUPPORTED, "too many axes");
    }
}

/* Makes a locale in the scratch folder; false without the sources of locales. */
static bool make_decimal_comma(void)
{
    char command[4400];
    snprintf(command, sizeof command, "localedef -i de_DE -f UTF-8 '%s' > /dev/null 2>&1",
             in_scratch("de_DE.UTF-8"));
    return system(command) == 0 && setenv("LOCPATH", scratch, 1) == 0 &&
           setlocale(LC_NUMERIC, "de_DE.UTF-8") != NULL;
}

static void text_ignores_the_locale(void **state)
{
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "de_DE") &&
        !make_decimal_comma())
        print_message("skipped: no locale with a decimal comma is installed or can be made\n");
    text_is_numpys(state);
    setlocale(LC_NUMERIC, "C");
    unsetenv("LOCPATH");
    remove_folder(in_scratch("de_DE.UTF-8/LC_MESSAGES"));
    remove_folder(in_scratch("de_DE.UTF-8"));
}

static int leave_scratch(void **state)
{
    (void)state;
    return close_scratch((const char *const[]){NULL});
}

static void print_writes_a_line(void **state)
{
    char line[32] = "";

    (void)state;
    gpuarray *x = counting(GA_SHAPE(3));
    FILE *kept = stdout;
    stdout = tmpfile();
    assert_int_equal(ga_print(x), GA_OK);
    rewind(stdout);
    assert_non_null(fgets(line, sizeof line, stdout));
    fclose(stdout);
    stdout = fopen("/dev/full", "w");
    setvbuf(stdout, NULL, _IONBF, 0);
    assert_int_equal(ga_print(x), GA_ERR_IO);
    fclose(stdout);
    stdout = kept;
    assert_string_equal(line, "[0 1 2]\n");
    assert_error(GA_ERR_IO, "No space left");
    ga_free(x);
    assert_int_equal(ga_error(), GA_OK);
    assert_int_equal(ga_print(NULL), GA_ERR_INVALID);
    assert_error(GA_ERR_INVALID, "NULL");
}

static gpuarray *fixture;

static bool format_once(void)
{
    char *text = ga_format(fixture);
    const bool done = text;

    free(text);
    return done;
}

static void failed_allocations_leave_nothing_behind(void **state)
{
    (void)state;
    GA_SCOPE {
        fixture = counting(GA_SHAPE(3, 4));
        survive_failures(format_once);
        fixture = ga_transpose(fixture);
        survive_failures(format_once);
        fixture = counting(GA_SHAPE(40, 50));
        survive_failures(format_once);
        fixture = counting(GA_SHAPE(0));
        survive_failures(format_once);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_numpys),
        cmocka_unit_test(views_are_written_in_their_order),
        cmocka_unit_test(options_are_those_of_numpy),
        cmocka_unit_test(views_of_large_arrays_are_shortened),
        cmocka_unit_test(text_ignores_the_locale),
        cmocka_unit_test(print_writes_a_line),
        cmocka_unit_test(failed_allocations_leave_nothing_behind),
    };

    return run_named_tests(argc, argv, tests, make_scratch, leave_scratch);
}
