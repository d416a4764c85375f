/* Text files: NumPy's answers, places in messages, numbers that are read back, files that cannot be
 * written. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <quarry.h>

#include "array_support.h"
#include "device_support.h"
#include "files.h"
#include "golden.h"
#include "random.h"
#include "run.h"
#include "scratch.h"

static int remove_scratch(void **state)
{
    (void)state;
    return close_scratch((const char *const[]){"t.txt", NULL});
}

static const char *file_of(const char *text)
{
    const char *path = in_scratch("t.txt");
    write_bytes(path, text, strlen(text));
    return path;
}

/* ---- NumPy's answers ---- */

enum { MOST_WORDS = 13, MOST_BYTES = 4096 };

/* A line of text.txt: its words, and the bytes of some. */
typedef struct entry {
    char *word[MOST_WORDS];
    unsigned char bytes[MOST_WORDS][MOST_BYTES];
} entry;

static void read_entry(entry *e, char *line)
{
    char *rest, *word = strtok_r(line, " ", &rest);
    for (int k = 0; k < MOST_WORDS; k++, word = strtok_r(NULL, " ", &rest))
        e->word[k] = word;
}

/* A word in hexadecimal as a text; NULL for "-". "00" is "". */
static const char *text_of(entry *e, int k)
{
    if (strcmp(e->word[k], "-") == 0)
        return NULL;
    assert_true(strlen(e->word[k]) / 2 < MOST_BYTES);
    e->bytes[k][parse_hex(e->word[k], e->bytes[k])] = '\0';
    return (const char *)e->bytes[k];
}

/* Numbers between commas; returns how many. */
static int numbers_of(const char *word, int64_t *numbers)
{
    int count = 0;
    for (char *end; *word && strcmp(word, "()") != 0 && strcmp(word, "-") != 0; word = end) {
        numbers[count++] = strtoll(word, &end, 10);
        end += *end == ',';
    }
    return count;
}

static ga_dtype dtype_of(const char *name)
{
    for (int dtype = 1; dtype < GA_DTYPE_COUNT; dtype++)
        if (strcmp(ga_dtype_name((ga_dtype)dtype), name) == 0)
            return (ga_dtype)dtype;
    fail_msg("there is no %s", name);
    return GA_NO_DTYPE;
}

/* An array of the words SHAPE and BYTES. */
static gpuarray *array_of(entry *e, ga_dtype dtype, int shape)
{
    int64_t lengths[8];
    const int ndim = numbers_of(e->word[shape], lengths);
    const char *bytes = text_of(e, shape + 1);
    return ga_from_host(bytes ? bytes : "", dtype, ndim, lengths);
}

/* Whether dtype, shape and all bits are the same, also of NaN and -0. */
static bool same_bits(const gpuarray *a, const gpuarray *b)
{
    static char bytes[2][1 << 14];
    assert_true(ga_nbytes(a) <= sizeof bytes[0]);
    return a && b && ga_dtype_of(a) == ga_dtype_of(b) && ga_ndim(a) == ga_ndim(b) &&
           memcmp(ga_shape(a), ga_shape(b), sizeof(int64_t) * (size_t)ga_ndim(a)) == 0 &&
           ga_to_host(a, bytes[0], ga_nbytes(a)) == GA_OK &&
           ga_to_host(b, bytes[1], ga_nbytes(b)) == GA_OK &&
           memcmp(bytes[0], bytes[1], ga_nbytes(a)) == 0;
}

static void check_load(entry *e)
{
    int64_t columns[8];
    int usecols[8];
    ga_loadtxt_args args = {.dtype = dtype_of(e->word[1]),
                            .delimiter = text_of(e, 2),
                            .comments = text_of(e, 3),
                            .skiprows = atoll(e->word[4]),
                            .max_rows = atoll(e->word[5]),
                            .nusecols = numbers_of(e->word[6], columns),
                            .usecols = usecols,
                            .ndmin = atoi(e->word[7]),
                            .unpack = atoi(e->word[8]),
                            .quotechar = text_of(e, 9)};
    for (int k = 0; k < args.nusecols; k++)
        usecols[k] = (int)columns[k];
    if (!args.comments)
        args.comments = ""; /* NumPy's None */
    args.path = file_of(text_of(e, 10));
    gpuarray *x = (ga_loadtxt)(sizeof args, &args);
    if (strcmp(e->word[11], "error") == 0) {
        if (x)
            fail_msg("\"%s\" is read as %s", e->bytes[10], e->word[1]);
        assert_error(GA_ERR_FORMAT, "loadtxt: ");
        return;
    }
    if (!x)
        fail_msg("\"%s\": %s", e->bytes[10], ga_error_message());
    gpuarray *wanted = array_of(e, args.dtype, 11);
    if (!same_bits(x, wanted))
        fail_msg("\"%s\" as %s is %s, not %s", e->bytes[10], e->word[1], ga_format(x),
                 ga_format(wanted));
    ga_free(wanted);
    ga_free(x);
}

static void check_save(entry *e)
{
    const ga_dtype dtype = dtype_of(e->word[1]);
    gpuarray *x = array_of(e, dtype, 8);
    const ga_savetxt_args args = {.x = x,
                                  .path = file_of("old"),
                                  .fmt = text_of(e, 2),
                                  .delimiter = text_of(e, 3),
                                  .newline = text_of(e, 4),
                                  .header = text_of(e, 5),
                                  .footer = text_of(e, 6),
                                  .comments = text_of(e, 7)};
    const bool refused = strcmp(e->word[10], "error") == 0;
    const ga_status status = (ga_savetxt)(sizeof args, &args);
    size_t nbytes;
    char *found = read_bytes(in_scratch("t.txt"), &nbytes);
    const char *wanted = refused ? "old" : text_of(e, 10);
    if ((status == GA_OK) == refused)
        fail_msg("\"%s\" of %s: %s", args.fmt, e->word[1],
                 refused ? "no error" : ga_error_message());
    if (strcmp(found, wanted) != 0)
        fail_msg("\"%s\" of %s writes \"%s\", not \"%s\"", args.fmt, e->word[1], found, wanted);
    ga_clear_error();
    free(found);
    ga_free(x);
}

static void texts_are_numpys(void **state)
{
    static entry e;
    size_t nbytes;
    char *text = read_bytes(golden_path("text.txt"), &nbytes), *rest, *line;
    int count = 0;
    (void)state;
    for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), count++) {
        read_entry(&e, line);
        (strcmp(e.word[0], "load") == 0 ? check_load : check_save)(&e);
    }
    free(text);
    assert_true(count > 600);
    assert_int_equal(files_in_scratch(), 1);
}

/* ---- Places and options ---- */

static void errors_name_line_and_column(void **state)
{
    (void)state;
    const char *path = in_scratch("t.txt");
    char wanted[300];
    static const struct {
        const char *text, *where;
    } cases[] = {
        {"1,2\n\n3,four\n", ":3: column 2: expected float64, found \"four\""},
        {"# x\n1,2\n3\n", ":3: 1 columns, expected 2"},
        {"1,2\n3,\n", ":2: column 2: expected float64, found \"\""},
    };
    for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
        assert_null(ga_loadtxt(file_of(cases[k].text), .delimiter = ","));
        snprintf(wanted, sizeof wanted, "loadtxt: %s%s", path, cases[k].where);
        assert_error(GA_ERR_FORMAT, wanted);
    }
    assert_null(ga_loadtxt(file_of("1 2\n3 300\n"), .dtype = GA_UINT8));
    assert_error(GA_ERR_FORMAT, ":2: column 2: expected uint8, found \"300\"");
    write_bytes(path, "1 2\n3 \0004\n", 9);
    assert_null(ga_loadtxt(path));
    assert_error(GA_ERR_FORMAT, ":2: not a text");
    GA_SCOPE {
        assert_numbers(ga_loadtxt(file_of("\xEF\xBB\xBF"
                                          "1 2"),
                                  .dtype = GA_INT32),
                       NUMBERS(1, 2));
    }
    assert_null(ga_loadtxt(file_of("1 2\n3\n"), GA_USECOLS(0, 1)));
    assert_error(GA_ERR_FORMAT, ":2: column 1 is out of range for 1");
}

static void bad_options_are_errors(void **state)
{
    (void)state;
    const char *path = file_of("1 2\n");
    const ga_loadtxt_args none = {.path = path, .nusecols = 2};
    assert_null(ga_loadtxt(NULL));
    assert_error(GA_ERR_INVALID, "loadtxt: the path is NULL");
    assert_null(ga_loadtxt("no/such.txt"));
    assert_error(GA_ERR_IO, "loadtxt: no/such.txt: No such file or directory");
    assert_null(ga_loadtxt(scratch));
    assert_error(GA_ERR_IO, "Is a directory");
    assert_null(ga_loadtxt(path, .delimiter = "::"));
    assert_error(GA_ERR_INVALID, "loadtxt: delimiter \"::\" is not one character");
    assert_null(ga_loadtxt(path, .quotechar = ""));
    assert_error(GA_ERR_INVALID, "loadtxt: quotechar \"\" is not one character");
    assert_null(ga_loadtxt(path, .skiprows = -1));
    assert_error(GA_ERR_INVALID, "loadtxt: skiprows is -1, expected at least 0");
    assert_null(ga_loadtxt(path, .max_rows = -2));
    assert_error(GA_ERR_INVALID, "loadtxt: max_rows is -2, expected at least 0");
    assert_null(ga_loadtxt(path, .ndmin = 3));
    assert_error(GA_ERR_INVALID, "loadtxt: ndmin is 3, expected 0, 1 or 2");
    assert_null((ga_loadtxt)(sizeof none, &none));
    assert_error(GA_ERR_INVALID, "loadtxt: 2 columns, and the list is NULL");
    assert_null(ga_loadtxt(path, .dtype = (ga_dtype)99));
    assert_error(GA_ERR_DTYPE, "loadtxt: ");
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(2, 2)), *z = ga_ones(GA_COMPLEX64, GA_SHAPE(2));
        assert_int_equal(ga_savetxt(NULL, path), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "savetxt: the array is NULL");
        assert_int_equal(ga_savetxt(x, NULL), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "savetxt: the path is NULL");
        assert_int_equal(ga_savetxt(ga_ravel(x), "no/such/x.txt"), GA_ERR_IO);
        assert_error(GA_ERR_IO, "savetxt: no/such/x.txt: No such file or directory");
        assert_int_equal(ga_savetxt(x, path, .fmt = "%d,%d,%d"), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "savetxt: the format has 3 conversions, expected 1 or 2");
        assert_int_equal(ga_savetxt(x, path, .fmt = "%n"), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "savetxt: unknown format \"%n\"");
        assert_int_equal(ga_savetxt(x, path, .fmt = "%*d"), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "savetxt: unknown format \"%*d\"");
        assert_int_equal(ga_savetxt(x, path, .fmt = "%999f"), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "savetxt: unknown format \"%999f\"");
        assert_int_equal(ga_savetxt(x, path, .fmt = "%.3s"), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "savetxt: unknown format \"%.3s\"");
        assert_int_equal(ga_savetxt(z, path, .fmt = "%x"), GA_ERR_DTYPE);
        assert_error(GA_ERR_DTYPE, "savetxt: \"%x\" does not write complex64");
        assert_int_equal(ga_savetxt(ga_multiply(x, NAN), path, .fmt = "%d"), GA_ERR_INVALID);
        assert_error(GA_ERR_INVALID, "savetxt: nan is not an integer of 64 bits");
    }
    size_t nbytes;
    char *text = read_bytes(in_scratch("t.txt"), &nbytes);
    assert_string_equal(text, "1 2\n");
    free(text);
    assert_int_equal(files_in_scratch(), 1);
}

/* ---- Numbers are read back ---- */

static void shortest_digits_are_read_back(void **state)
{
    static const ga_dtype dtypes[] = {GA_BOOL,     GA_INT8,          GA_INT64,     GA_UINT16,
                                      GA_UINT64,   GA_FLOAT16,       GA_FLOAT32,   GA_FLOAT64,
                                      GA_BFLOAT16, GA_FLOAT8_E4M3FN, GA_COMPLEX64, GA_COMPLEX128};
    uint64_t seed = 7;
    (void)state;
    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++)
        GA_SCOPE {
            double numbers[120];
            for (int n = 0; n < 120; n++)
                numbers[n] = ldexp(random_real(&seed), (int)random_below(&seed, 12) - 4);
            if (dtypes[k] != GA_FLOAT8_E4M3FN)
                numbers[1] = INFINITY;
            numbers[2] = -0.0;
            gpuarray *x = ga_astype(ga_from_host(numbers, GA_FLOAT64, GA_SHAPE(40, 3)), dtypes[k]);
            assert_int_equal(ga_savetxt(x, in_scratch("t.txt"), .fmt = "%s", .delimiter = ","),
                             GA_OK);
            gpuarray *read = ga_loadtxt(in_scratch("t.txt"), .dtype = dtypes[k], .delimiter = ",");
            if (!same_bits(read, x))
                fail_msg("%s is read back as %s", ga_format(x), ga_format(read));
            assert_int_equal(ga_savetxt(ga_transpose(x), in_scratch("t.txt"), .fmt = "%s"), GA_OK);
            read = ga_loadtxt(in_scratch("t.txt"), .dtype = dtypes[k], .unpack = true);
            assert_true(same_bits(read, x));
        }
    GA_SCOPE {
        size_t nbytes;
        gpuarray *x = ga_from_host((double[]){3, 0.1, 1e22, -1.5e-7}, GA_FLOAT64, GA_SHAPE(4));
        assert_int_equal(ga_savetxt(x, in_scratch("t.txt"), .fmt = "%8s|"), GA_OK);
        char *text = read_bytes(in_scratch("t.txt"), &nbytes);
        assert_string_equal(text, "       3|\n     0.1|\n   1e+22|\n-1.5e-07|\n");
        free(text);
    }
}

/* More than one buffer, and a line longer than one. */
static void long_files_and_lines(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_INT64, 0, 120000, 1), *wide = ga_reshape(x, GA_SHAPE(2, 60000)),
                 *tall = ga_reshape(x, GA_SHAPE(40000, 3));
        gpuarray *const both[] = {wide, tall};
        for (int k = 0; k < 2; k++) {
            assert_int_equal(ga_savetxt(both[k], in_scratch("t.txt"), .fmt = "%d"), GA_OK);
            assert_true(
                ga_array_equal(ga_loadtxt(in_scratch("t.txt"), .dtype = GA_INT64), both[k]));
        }
    }
}

/* The numbers of a file have a point where the locale has a comma. */
static void locales_change_nothing(void **state)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
    bool found = false;
    (void)state;
    const locale_t before = uselocale((locale_t)0);
    for (size_t k = 0; k < sizeof names / sizeof *names && !found; k++)
        found = setlocale(LC_NUMERIC, names[k]) != NULL;
    GA_SCOPE {
        assert_numbers(ga_astype(ga_loadtxt(file_of("1.5 2.5")), GA_INT32), NUMBERS(1, 2));
        assert_int_equal(
            ga_savetxt(ga_full(GA_FLOAT32, GA_SHAPE(1), 0.5), in_scratch("t.txt"), .fmt = "%g"),
            GA_OK);
        size_t nbytes;
        char *text = read_bytes(in_scratch("t.txt"), &nbytes);
        assert_string_equal(text, "0.5\n");
        free(text);
    }
    setlocale(LC_NUMERIC, "C");
    assert_true(uselocale((locale_t)0) == before);
}

/* ---- Progress ---- */

static bool stop_at_half(int64_t done, int64_t total, void *user)
{
    int64_t *calls = user;
    ++*calls;
    assert_int_equal(total, 8 * 60000);
    return 2 * done < total;
}

static void a_program_may_stop(void **state)
{
    (void)state;
    int64_t calls = 0;
    size_t nbytes;
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT64, 0, 60000, 1);
        const char *path = file_of("old");
        assert_int_equal(ga_savetxt(x, path, .progress = stop_at_half, .user = &calls),
                         GA_ERR_CANCELLED);
        assert_error(GA_ERR_CANCELLED, "savetxt: stopped after ");
    }
    char *text = read_bytes(in_scratch("t.txt"), &nbytes);
    assert_string_equal(text, "old");
    free(text);
    assert_true(calls > 2);
    assert_int_equal(files_in_scratch(), 1);
}

/* ---- Allocations ---- */

static bool work(void)
{
    bool done = false;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_COMPLEX64, GA_SHAPE(60, 40)), *view = x ? ga_transpose(x) : NULL;
        done = view &&
               ga_savetxt(view, in_scratch("t.txt"), .fmt = "%g", .header = "a\nb") == GA_OK &&
               ga_loadtxt(in_scratch("t.txt"), .dtype = GA_COMPLEX64, .unpack = true);
    }
    return done;
}

static void allocations_may_fail(void **state)
{
    (void)state;
    survive_failures_on_host(work);
    assert_int_equal(files_in_scratch(), 1);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_numpys),       cmocka_unit_test(errors_name_line_and_column),
        cmocka_unit_test(bad_options_are_errors), cmocka_unit_test(shortest_digits_are_read_back),
        cmocka_unit_test(long_files_and_lines),   cmocka_unit_test(locales_change_nothing),
        cmocka_unit_test(a_program_may_stop),     cmocka_unit_test(allocations_may_fail),
    };
    return run_named_tests(argc, argv, tests, make_scratch, remove_scratch);
}
