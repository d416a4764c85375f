/* Tests of ga_eval: NumPy's answers to random expressions, grammar, plans, errors and limits. */
#include <complex.h>
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <math.h>

#include "array_support.h"
#include "base/alloc.h"
#include "base/os/system.h"
#include "expr/plan.h"
#include "expr/text/parse.h"
#include "files.h"
#include "golden.h"
#include "jit/compile.h"
#include "layouts.h"
#include "model/dtype.h"
#include "parallel.h"
#include "random.h"
#include "run.h"
#include "simulated_device.h"

/* ---- Golden expressions ---- */

#define MOST_NAMES 32

static ga_named names[MOST_NAMES];
static int nnames;

static int read_shape(const char *text, int64_t *shape)
{
    int ndim = 0;
    char *end;
    for (; *text >= '0' && *text <= '9'; text = *end == ',' ? end + 1 : end)
        shape[ndim++] = strtoll(text, &end, 10);
    return ndim;
}

static ga_dtype read_dtype(const char *name)
{
    const ga_dtype dtype = ga__dtype_named(name, strlen(name));
    assert_true(dtype != GA_NO_DTYPE);
    return dtype;
}

/* "array NAME DTYPE SHAPE LAYOUT BYTES" or "number NAME DTYPE BYTES" */
static void read_name(char *line)
{
    char *word[6] = {NULL}, *rest = line;
    unsigned char bytes[1024];
    int64_t shape[GA_MAX_NDIM];
    for (int k = 0; k < 6; k++)
        word[k] = strtok_r(NULL, " \n", &rest);
    const ga_dtype dtype = read_dtype(word[2]);
    ga_named *named = &names[nnames++];
    named->name = strdup(word[1]);
    parse_hex(word[word[4] ? 5 : 3], bytes);
    if (!word[4]) {
        named->value = ga__dtype_fetch(dtype, bytes);
        return;
    }
    const int ndim = read_shape(word[3], shape);
    named->value = ga_value_array(layout_array((layout)atoi(word[4]), bytes, dtype, ndim, shape));
}

/* A case of the golden file. */
typedef struct answer {
    const char *expression;
    ga_dtype dtype;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
    unsigned char bytes[1024];
    bool exact;
    float bound[256];
} answer;

static void read_answer(char *line, const char *expression, answer *a)
{
    char *rest = line, *word[5];
    for (int k = 0; k < 5; k++)
        word[k] = strtok_r(NULL, " \n", &rest);
    a->expression = expression;
    a->dtype = read_dtype(word[1]);
    a->ndim = read_shape(word[2], a->shape);
    parse_hex(word[3], a->bytes);
    a->exact = word[4][0] == '-';
    if (!a->exact)
        parse_hex(word[4], (unsigned char *)a->bound);
}

static bool within(ga_dtype dtype, const unsigned char *got, const unsigned char *want, float bound)
{
    const ga_dtype real = ga__dtype_real(dtype);
    for (size_t k = 0; k < ga_dtype_size(dtype); k += ga_dtype_size(real)) {
        const double a = ga__dtype_fetch(real, got + k).as.z[0];
        const double b = ga__dtype_fetch(real, want + k).as.z[0];
        if (!(a - b <= (double)bound && b - a <= (double)bound))
            return false;
    }
    return true;
}

/* Whether each element is within its bound, or has the same bytes if there is no bound; if not, the
 * place. */
static bool same_elements(const answer *a, const gpuarray *r, char *why, size_t why_bytes)
{
    unsigned char got[1024];
    const size_t nbytes = ga_dtype_size(a->dtype);
    if (ga_to_host(r, got, ga_nbytes(r)) != GA_OK) {
        snprintf(why, why_bytes, "%s", ga_error_message());
        return false;
    }
    for (int64_t i = 0; i < ga_size(r); i++) {
        const unsigned char *g = got + (size_t)i * nbytes, *w = a->bytes + (size_t)i * nbytes;
        if (a->exact ? memcmp(g, w, nbytes) == 0 : within(a->dtype, g, w, a->bound[i]))
            continue;
        const int used = golden_difference(why, why_bytes, a->dtype, i, g, w);
        if (!a->exact)
            snprintf(why + used, why_bytes - (size_t)used, " +- %g", (double)a->bound[i]);
        return false;
    }
    return true;
}

static void check_answer(const answer *a, const char *how, const gpuarray *r)
{
    char why[300];
    if (!r)
        fail_later("%s%s: %s", how, a->expression, ga_error_message());
    else if (ga_dtype_of(r) != a->dtype)
        fail_later("%s%s: dtype is %s, wanted %s", how, a->expression,
                   ga_dtype_name(ga_dtype_of(r)), ga_dtype_name(a->dtype));
    else if (!ga__same_shape(ga_ndim(r), ga_shape(r), a->ndim, a->shape))
        fail_later("%s%s: shape is %s, wanted %s", how, a->expression,
                   ga__shape_text(ga_ndim(r), ga_shape(r)), ga__shape_text(a->ndim, a->shape));
    else if (!same_elements(a, r, why, sizeof why))
        fail_later("%s%s: %s", how, a->expression, why);
    ga_clear_error();
}

/* ---- The same in chunks ---- */

static ga_status read_array(void *user, int64_t first, int64_t count, void *elements)
{
    const size_t size = ga_dtype_size(ga_dtype_of(user));
    char *all = malloc(ga_nbytes(user) + 1);
    const ga_status status = all ? ga_to_host(user, all, ga_nbytes(user)) : GA_ERR_MEMORY;
    if (status == GA_OK)
        memcpy(elements, all + (size_t)first * size, (size_t)count * size);
    free(all);
    return status;
}

/* Evaluates in the smallest possible chunks of 2^n bytes. */
static void check_chunked(const answer *a)
{
    ga_named args[MOST_NAMES];
    ga_source *sources[MOST_NAMES] = {NULL};
    gpuarray *r = NULL;
    for (int k = 0; k < nnames; k++) {
        args[k] = names[k];
        if (names[k].value.kind != GA_VALUE_ARRAY)
            continue;
        gpuarray *x = (gpuarray *)(uintptr_t)names[k].value.as.array;
        sources[k] = ga_source_new(ga_dtype_of(x), ga_ndim(x), ga_shape(x), read_array, x);
        args[k].value = ga_value_source(sources[k]);
    }
    for (ga_chunks chunks = {.bytes = 1}; !r && chunks.bytes < 4096; chunks.bytes *= 2) {
        ga_clear_error();
        r = (ga_eval_chunked)(sizeof(ga_chunks), &chunks, a->expression, nnames, args);
        if (!r && ga_error() != GA_ERR_UNSUPPORTED)
            break;
    }
    if (!r && strstr(ga_error_message(), "an array of truths chooses elements"))
        ga_clear_error(); /* how many they are is in the data */
    else
        check_answer(a, "chunked: ", r);
    for (int k = 0; k < nnames; k++)
        ga_source_free(sources[k]);
}

static char (*case_line)[2][4096];
static int ncases;

static void check_one(int item)
{
    answer a;
    read_answer(case_line[item][0], case_line[item][1], &a);
    GA_SCOPE {
        check_answer(&a, "", (ga_eval)(a.expression, nnames, names));
        check_chunked(&a);
    }
}

static const char *expression_text(int item)
{
    return case_line[item][1];
}

static void read_golden(FILE *file)
{
    char line[4096];
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "case", 4) != 0) {
            read_name(line);
            continue;
        }
        case_line = realloc(case_line, (size_t)(ncases + 1) * sizeof *case_line);
        assert_non_null(case_line);
        strcpy(case_line[ncases][0], line);
        assert_non_null(fgets(case_line[ncases][1], sizeof line, file));
        case_line[ncases][1][strcspn(case_line[ncases][1], "\n")] = 0;
        ncases++;
    }
}

static void random_expressions_as_numpy(void **state)
{
    (void)state;
    FILE *file = fopen(golden_path("eval.txt"), "r");
    assert_non_null(file);
    GA_SCOPE {
        read_golden(file);
        rows_in_threads(ncases, expression_text, check_one);
    }
    fclose(file);
    for (int k = 0; k < nnames; k++)
        free((char *)(uintptr_t)names[k].name);
    nnames = 0;
    free(case_line);
    printf("%d expressions\n", ncases);
    assert_int_equal(failures(), 0);
}

/* ---- Grammar ---- */

static const struct {
    const char *text;
    ga_dtype dtype;
    double value;
} numbers[] = {
    {"1 + 2 * 3", GA_INT64, 7},
    {"(1 + 2) * 3", GA_INT64, 9},
    {"2 ** 3 ** 2", GA_INT64, 512},
    {"-2 ** 2", GA_INT64, -4},
    {"2 ** -1", GA_FLOAT64, 0.5},
    {"7 // 2 - -7 // 2", GA_INT64, 7},
    {"7 % -3", GA_INT64, -2},
    {"7.5 % 2", GA_FLOAT64, 1.5},
    {"1 / 4", GA_FLOAT64, 0.25},
    {"0x1F + 0XA", GA_INT64, 41},
    {"1 << 4 >> 1", GA_INT64, 8},
    {"6 & 3 | 8 ^ 1", GA_INT64, 11},
    {"~5", GA_INT64, -6},
    {"- - -3", GA_INT64, -3},
    {"1 < 2 < 3", GA_BOOL, 1},
    {"3 > 2 > 2", GA_BOOL, 0},
    {"not 1 == 2", GA_BOOL, 1},
    {"1 or 0 and 0", GA_BOOL, 1},
    {"True + True", GA_INT64, 2},
    {"True & False", GA_BOOL, 0},
    {"18446744073709551615", GA_UINT64, 18446744073709551615.0},
    {"-9223372036854775808", GA_INT64, -9223372036854775808.0},
    {".5e1", GA_FLOAT64, 5},
    {"1.", GA_FLOAT64, 1},
    {"pi", GA_FLOAT64, 3.14159265358979323846},
    {"2j * 2j", GA_COMPLEX128, -4},
    {"sum(2)", GA_INT64, 2},
    {"float32(0.5)", GA_FLOAT32, 0.5},
    {"max(3, axis=())", GA_INT64, 3},
    {" ( 1\n+\t1 ) ", GA_INT64, 2},
    {"abs(-3)", GA_INT64, 3},
    {"where(2 > 1, 5, 6)", GA_INT64, 5},
};

static void numbers_and_precedence(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
        GA_SCOPE {
            gpuarray *r = ga_eval(numbers[k].text);
            if (!r)
                fail_msg("%s: %s", numbers[k].text, ga_error_message());
            if (ga_dtype_of(r) != numbers[k].dtype || ga_ndim(r) != 0)
                fail_msg("%s: %s of %d axes", numbers[k].text, ga_dtype_name(ga_dtype_of(r)),
                         ga_ndim(r));
            const double value = creal(ga_item_complex(r));
            if (value != numbers[k].value)
                fail_msg("%s: %g", numbers[k].text, value);
        }
}

/* ---- Errors ---- */

static const struct {
    const char *text, *word; /* a part of the message */
    ga_status status;
    int caret; /* the caret's column in the shown line, or -1 */
} mistakes[] = {
    {"", "too early", GA_ERR_INVALID, 0},
    {"x +", "too early", GA_ERR_INVALID, 3},
    {"x y", "operator", GA_ERR_INVALID, 2},
    {"(x", "\")\"", GA_ERR_INVALID, 2},
    {"x)", "parenthesis", GA_ERR_INVALID, 1},
    {"x + $", "unexpected character '$'", GA_ERR_INVALID, 4},
    {"x[i, i]", "axis 1 is out of range for 1 dimension", GA_ERR_INDEX, 1},
    {"m[i, i, i, i, i]", "more than 4 arrays of indices", GA_ERR_INVALID, 14},
    {"m[i, (i[1:])]", "shapes (6,) and (5,)", GA_ERR_SHAPE, 1},
    {"m[i, (i > 0)]", "a mask and arrays of indices do not go together here", GA_ERR_UNSUPPORTED,
     1},
    {"m[(m > 0), 0]", "only a mask of one axis takes other parts beside it", GA_ERR_UNSUPPORTED, 1},
    {"m[(i > 0)]", "a mask of shape (6,) chooses from an array of shape (3, 4)", GA_ERR_SHAPE, 1},
    {"take_along_axis(m, i)", "indices of shape (6,) do not go along axis 1 of shape (3, 4)",
     GA_ERR_SHAPE, 0},
    {"take_along_axis(m, 1)", "indices of shape () do not go along axis 1", GA_ERR_SHAPE, 0},
    {"take(x, i, axis=x)", "an axis must be an integer", GA_ERR_INVALID, 16},
    {"empty[i, ...]", "the axis of the indices has no elements", GA_ERR_INDEX, 5},
    {"x[x]", "the indices are float32, expected integers", GA_ERR_DTYPE, 1},
    {"x[0, None, i]", "slice: too many indices", GA_ERR_INDEX, 1},
    {"x[-i]", "an index is an integer, a slice", GA_ERR_INVALID, 2},
    {"take(x)", "expected \",\"", GA_ERR_INVALID, 6},
    {"take(x, i, axis=1)", "axis 1 is out of range for 1 dimension", GA_ERR_INDEX, 0},
    {"round(x, y)", "the number of decimals must be an integer", GA_ERR_INVALID, 9},
    {"x[0.5]", "an index is an integer, a slice", GA_ERR_INVALID, 2},
    {"x[]", "an index is an integer, a slice", GA_ERR_INVALID, 2},
    {"x[1 2]", "an index is an integer, a slice", GA_ERR_INVALID, 4},
    {"x[-]", "an index is an integer, a slice", GA_ERR_INVALID, 2},
    {"x[1", "expected \"]\" before the end", GA_ERR_INVALID, 3},
    {"x[6]", "slice: index 6 is out of range for axis 0 of length 6", GA_ERR_INDEX, 1},
    {"x[0, 0]", "slice: too many indices: 2 for shape (6,)", GA_ERR_INDEX, 1},
    {"x[::0]", "slice: the step of axis 0 is 0", GA_ERR_INDEX, 1},
    {"(1 + 2)[0]", "a number has no elements", GA_ERR_INVALID, 7},
    {"x.sum()", "only .T, .real and .imag", GA_ERR_INVALID, 1},
    {"np.sin(x)", "functions have no prefix", GA_ERR_INVALID, 2},
    {"x = 1", "the result is missing: write \"; t\" after \"t = x + 1\"", GA_ERR_INVALID, 5},
    {"sort(x)", "expressions have no function sort: call ga_sort()", GA_ERR_INVALID, 0},
    {"float(x)", "write float32(x) or float64(x)", GA_ERR_INVALID, 0},
    {"max(x, y)", "write maximum(x, y) for two operands", GA_ERR_INVALID, 7},
    {"std(x, dof=1)", "ddof= and correction=", GA_ERR_INVALID, 7},
    {"x > 1 & x < 3", "bitwise_and: does not take float32; & and | come before", GA_ERR_DTYPE, 6},
    {"x = 1;", "too early", GA_ERR_INVALID, 6},
    {"True = 1; x", "cannot be a name", GA_ERR_INVALID, 0},
    {"x[0] = 1", "only a name can be assigned", GA_ERR_INVALID, 5},
    {"t = 1; x; t", "operator", GA_ERR_INVALID, 10},
    {"where(x = 1, 1, 2)", "write == to compare", GA_ERR_INVALID, 8},
    {"x && x", "write & or \"and\"", GA_ERR_INVALID, 2},
    {"x || x", "write | or \"or\"", GA_ERR_INVALID, 2},
    {"!x", "write ~ or \"not\"", GA_ERR_INVALID, 0},
    {"x ? 1 : 2", "where(condition, a, b)", GA_ERR_INVALID, 2},
    {"x if x else 1", "where(condition, a, b)", GA_ERR_INVALID, 2},
    {"if(x, 1, 2)", "where(condition, a, b)", GA_ERR_INVALID, 0},
    {"m @ m", "matmul: shapes (3, 4) and (3, 4) do not match", GA_ERR_SHAPE, 2},
    {"2 @ m", "@ takes arrays, not numbers", GA_ERR_INVALID, 2},
    {"x ^ 2", "write a power as x ** y", GA_ERR_DTYPE, 2},
    {"2.0 ^ 3", "write a power as x ** y", GA_ERR_INVALID, 4},
    {"x + nowhere", "nowhere", GA_ERR_INVALID, 4},
    {"emtpy + 1", "no argument is named emtpy (did you mean empty?)", GA_ERR_INVALID, 0},
    {"total = x; totl + 1", "(did you mean total?)", GA_ERR_INVALID, 11},
    {"Sqrt(x)", "no function named Sqrt (did you mean sqrt?)", GA_ERR_INVALID, 0},
    {"flaot32(x)", "(did you mean float32?)", GA_ERR_INVALID, 0},
    {"unheardof(x)", "no function named unheardof", GA_ERR_INVALID, 0},
    {"sine(x)", "no function named sine (did you mean sin?)", GA_ERR_INVALID, 0},
    {"frexp(x)", "two results", GA_ERR_INVALID, 0},
    {"x + sin", "called", GA_ERR_INVALID, 4},
    {"sin()", "argument", GA_ERR_INVALID, 4},
    {"sin(x, x)", "at most 1", GA_ERR_INVALID, 5},
    {"hypot(x)", "takes 2", GA_ERR_INVALID, 0},
    {"x + m", "(6,) and (3, 4)", GA_ERR_SHAPE, 2},
    {"sum(m, axis=2)", "out of range", GA_ERR_INVALID, 12},
    {"sum(m, axis=-3)", "out of range", GA_ERR_INVALID, 12},
    {"sum(m, axis=(0, 0))", "twice", GA_ERR_INVALID, 12},
    {"sum(m, axis=1.5)", "integer", GA_ERR_INVALID, 12},
    {"sum(m, where=x)", "where of shape (6,) does not broadcast to (3, 4)", GA_ERR_SHAPE, 0},
    {"sum(m, where=m, where=m)", "where is given twice", GA_ERR_INVALID, 16},
    {"max(m, where=m > 1)", "max needs initial= where a mask chooses", GA_ERR_INVALID, 0},
    {"argmax(m, where=m)", "argmax takes no where=", GA_ERR_INVALID, 0},
    {"mean(m, initial=1)", "mean takes no initial=", GA_ERR_INVALID, 0},
    {"argmax(m, initial=1)", "argmax takes no initial=", GA_ERR_INVALID, 0},
    {"sum(m, initial=m)", "initial must be a number", GA_ERR_INVALID, 0},
    {"max(i, initial=300)", "300 does not fit int8", GA_ERR_INVALID, 0},
    {"cumsum(m, where=m)", "a scan takes axis= and dtype=", GA_ERR_INVALID, 10},
    {"sum(m, ddof=1)", "only var and std take ddof", GA_ERR_INVALID, 7},
    {"var(m, ddof=x)", "real numbers", GA_ERR_INVALID, 12},
    {"sum(m, 0, axis=1)", "axis is given twice", GA_ERR_INVALID, 10},
    {"sum(m, 0, 1)", "a reduction takes", GA_ERR_INVALID, 10},
    {"sum(m, dtype=real)", "the name of a dtype", GA_ERR_INVALID, 13},
    {"sum(m, keepdims=2)", "True or False", GA_ERR_INVALID, 16},
    {"x & 1", "bitwise_and: does not take float32", GA_ERR_DTYPE, 2},
    {"i // 0", "division", GA_ERR_INVALID, 2},
    {"i % (2 - 2)", "division", GA_ERR_INVALID, 2},
    {"1 / 0", "division", GA_ERR_INVALID, 2},
    {"i + 300", "300 does not fit int8", GA_ERR_INVALID, 2},
    {"99999999999999999999", "64 bits", GA_ERR_INVALID, 0},
    {"2 ** 64", "64 bits", GA_ERR_INVALID, 2},
    {"18446744073709551604 ** 2", "64 bits", GA_ERR_INVALID, 21},
    {"1e999", "float64", GA_ERR_INVALID, 0},
    {"012", "start with 0", GA_ERR_INVALID, 0},
    {"2x", "'x' after the number", GA_ERR_INVALID, 1},
    {"0x", "hexadecimal", GA_ERR_INVALID, 0},
    {"max(empty)", "nothing to reduce", GA_ERR_INVALID, 0},
    {"max(m[:, :0][:0], axis=0)", "nothing to reduce", GA_ERR_INVALID, 0},
    {"i ** -1", "power: int8 to the power -1 is no integer", GA_ERR_INVALID, 2},
    {"x\xc3\xa9", "character", GA_ERR_INVALID, 1},
    {"__import__('os')", "character", GA_ERR_INVALID, 11},
};

static void check_mistake(size_t k, const ga_named *args, int count)
{
    char caret[64];
    gpuarray *r = (ga_eval)(mistakes[k].text, count, args);
    if (r || ga_error() != mistakes[k].status)
        fail_msg("%s: %s: %s", mistakes[k].text, ga_status_name(ga_error()), ga_error_message());
    snprintf(caret, sizeof caret, "\n    %*s^", mistakes[k].caret, "");
    const char *message = ga_error_message(), *line = strrchr(message, '\n');
    if (!strstr(message, mistakes[k].word) || !line || strcmp(line, caret))
        fail_msg("%s: %s", mistakes[k].text, message);
    ga_clear_error();
}

/* Products, with what is computed before, between and after them. */
static void products_are_those_of_matmul(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_reshape(ga_arange(GA_FLOAT32, 0, 12, 1), GA_SHAPE(3, 4)),
                 *w = ga_reshape(ga_arange(GA_FLOAT32, 0, 8, 1), GA_SHAPE(4, 2)),
                 *b = ga_ones(GA_FLOAT32, GA_SHAPE(2));
        gpuarray *xw = ga_matmul(x, w);
        assert_true(ga_array_equal(ga_eval("x @ w", GA(x), GA(w)), xw));
        assert_true(ga_array_equal(ga_eval("maximum(x @ w + b, 50)", GA(x), GA(w), GA(b)),
                                   ga_maximum(ga_add(xw, b), 50)));
        assert_true(ga_array_equal(ga_eval("(x + 1) @ (2 * w)", GA(x), GA(w)),
                                   ga_matmul(ga_add(x, 1), ga_multiply(w, 2))));
        assert_true(
            ga_array_equal(ga_eval("x.T @ (x @ w)", GA(x), GA(w)), ga_matmul(ga_transpose(x), xw)));
        assert_true(ga_array_equal(ga_eval("sum(x @ w, axis=0) * mean(x)", GA(x), GA(w)),
                                   ga_multiply(ga_sum(xw, GA_AXIS(0)), 5.5)));
        assert_true(ga_array_equal(ga_eval("x[:, 1] @ (x @ w)[:, 0]", GA(x), GA(w)),
                                   ga_dot(ga_slice(x, ":, 1"), ga_slice(xw, ":, 0"))));
        gpuarray *square = ga_ones(GA_FLOAT32, GA_SHAPE(3, 3));
        assert_int_equal(ga_eval_into(square, "square @ square", GA(square)), GA_OK);
        assert_true(ga_item_bool(ga_all(ga_equal(square, 3))));
        const gpuarray *y =
            ga_slice(x, ":2"); /* the kept plan, other shapes, and none that match */
        assert_true(ga_array_equal(ga_eval("x @ w", GA_NAMED("x", y), GA(w)), ga_matmul(y, w)));
        assert_null(ga_eval("x @ w", GA_NAMED("x", xw), GA(w)));
        assert_int_equal(ga_error(), GA_ERR_SHAPE);
        ga_clear_error();
    }
}

static void mistakes_show_their_place(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(6)), *m = ga_ones(GA_FLOAT64, GA_SHAPE(3, 4));
        gpuarray *i = ga_ones(GA_INT8, GA_SHAPE(6)), *empty = ga_zeros(GA_FLOAT32, GA_SHAPE(0));
        const ga_named args[] = {GA(x), GA(m), GA(i), GA(empty)};
        for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++)
            check_mistake(k, args, 4);
    }
}

static void expect_error(gpuarray *r, ga_status status)
{
    assert_null(r);
    if (ga_error() != status)
        fail_msg("%s: %s", ga_status_name(ga_error()), ga_error_message());
    ga_clear_error();
}

static char *repeated(const char *part, int times, const char *end)
{
    char *text = malloc(strlen(part) * (size_t)times + strlen(end) + 1);
    assert_non_null(text);
    *text = 0;
    for (int k = 0; k < times; k++)
        strcat(text + strlen(part) * (size_t)k, part);
    return strcat(text, end);
}

static void limits_and_bad_arguments(void **state)
{
    (void)state;
    static const char *const deep[] = {"(", "-", "not ", "sin(", "2**", "1+(", "sum("};
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(6));
        for (size_t k = 0; k < sizeof deep / sizeof *deep; k++) {
            char *text = repeated(deep[k], 5000, "x");
            expect_error(ga_eval(text, GA(x)), GA_ERR_INVALID);
            free(text);
        }
        char *text = repeated("1+", 20000, "x");
        expect_error(ga_eval(text, GA(x)), GA_ERR_INVALID);
        free(text);
        text = repeated("          ", 7000, "x");
        expect_error(ga_eval(text, GA(x)), GA_ERR_INVALID);
        free(text);
        text = repeated("(", 190, "x");
        expect_error(ga_eval(text, GA(x)), GA_ERR_INVALID);
        free(text);
        expect_error(ga_eval(NULL, GA(x)), GA_ERR_INVALID);
        expect_error(ga_eval("x", GA(x), GA(x)), GA_ERR_INVALID);
        expect_error(ga_eval("x", GA_NAMED("x y", x)), GA_ERR_INVALID);
        expect_error(ga_eval("x", GA_NAMED("", x)), GA_ERR_INVALID);
        expect_error(ga_eval("x", GA_NAMED("and", x)), GA_ERR_INVALID);
        expect_error(ga_eval("x", GA_NAMED(NULL, x)), GA_ERR_INVALID);
        expect_error(ga_eval("x", GA_NAMED("x", (gpuarray *)NULL)), GA_ERR_INVALID);
        expect_error((ga_eval)("x", -1, NULL), GA_ERR_INVALID);
        expect_error((ga_eval)("x", 1, NULL), GA_ERR_INVALID);
        expect_error((ga_eval_expr)(NULL, 0, NULL), GA_ERR_INVALID);
        assert_null(ga_compile_expr("1 +"));
        ga_clear_error();
        /* The first error of a chain is kept. */
        gpuarray *bad = ga_add(x, ga_ones(GA_FLOAT32, GA_SHAPE(5)));
        assert_null(ga_eval("bad + 1", GA(bad)));
        assert_int_equal(ga_error(), GA_ERR_SHAPE);
        ga_clear_error();
    }
}

/* ---- Plans ---- */

static const struct {
    const char *text;
    int kernels;
} plans[] = {
    {"1 + 2", 0},
    {"x", 1},
    {"sqrt(x*x + y*y)", 1},
    {"sum(x*y)", 1},
    {"mean((x - y)**2)", 1},
    {"max(abs(x))", 1},
    {"sqrt(mean((x - y)**2))", 1},
    {"sqrt(mean(x**2)) * 2 + 1", 1},
    {"exp(x - max(x, axis=1, keepdims=True)) / sum(exp(x - max(x, axis=1, keepdims=True)), "
     "axis=1, keepdims=True)",
     3}, /* CUDA: 2, as the sum joins the maximum */
    {"x - mean(x)", 2},
    {"x / sqrt(sum(x*x))", 2},
    {"sum(x) * y + sum(x)", 2},
    {"sum(x - mean(x))", 2},
    {"float32(sum(int32(x > 0), axis=0))", 1},
    {"where(x > 0, x, 0.5) + clip(y, 0, 1)", 1},
    /* Reductions of data that is read anyway share a kernel, up to four. */
    {"max(x) - min(x)", 1},
    {"mean(x, axis=1) / sqrt(var(x, axis=1) + 1)", 1},
    {"(x - mean(x)) / std(x)", 2},
    {"sum(x*y) / sum(x)", 1},
    {"argmax(x, axis=0) + count_nonzero(x, axis=0)", 1},
    {"max(max(x, axis=1) - min(x, axis=1))", 2},
    {"max(x) + min(x) + sum(x) + prod(x)", 1},
    {"max(x) + min(x) + sum(x) + prod(x) + mean(x)", 3},
    {"max(x)*x + max(x)*min(x)*x + min(x)*x", 2},
    /* Others do not: reductions of two arrays, over other axes, of another level. */
    {"max(x) + max(y)", 3},
    {"sum(x) + sum(x, axis=0)", 3},
    {"sum(x, axis=0) + sum(x, axis=0, keepdims=True)", 3},
    {"sum(x) + sum(x - mean(x))", 3},
};

static int kernels_of(const char *text, const ga_named *args, int count)
{
    int kernels = -1;
    char *plan = (ga_explain)(text, count, args);
    if (!plan)
        fail_msg("%s: %s", text, ga_error_message());
    sscanf(strchr(plan, '\n'), "%d", &kernels);
    free(plan);
    return kernels;
}

static void check_plans(void)
{
    GA_SCOPE {
        /* In an order that fused rows, which would be one kernel, do not take. */
        gpuarray *x = ga_slice(ga_ones(GA_FLOAT32, GA_SHAPE(5, 7)), "::-1, ::-1"),
                 *y = ga_ones(GA_FLOAT32, GA_SHAPE(7));
        const ga_named args[] = {GA(x), GA(y)};
        for (size_t k = 0; k < sizeof plans / sizeof *plans; k++) {
            const bool joins = strstr(plans[k].text, "exp") && strcmp(ga_current_device(), "cpu");
            const int kernels = kernels_of(plans[k].text, args, 2),
                      wanted = plans[k].kernels - joins;
            if (kernels != wanted)
                fail_msg("%s: %d kernels on %s, wanted %d", plans[k].text, kernels,
                         ga_current_device(), wanted);
        }
    }
}

static void plans_are_the_fewest_kernels(void **state)
{
    (void)state;
    check_plans();
    assert_true(open_simulated_device(132));
    ga__use_device(&simulated_device);
    check_plans();
}

static void a_plan_shows_bytes_and_names(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(5, 7));
        char *plan = ga_explain("sqrt(mean(a*x**2))", GA(x), GA_NAMED("a", 2.0));
        assert_non_null(plan);
        assert_non_null(strstr(plan, "1 kernel on"));
        assert_non_null(strstr(plan, "x, float32 (5, 7), 140 bytes"));
        assert_non_null(strstr(plan, "moves 144 bytes: reads 140, writes 4"));
        free(plan);
        assert_null(ga_explain("nowhere"));
        ga_clear_error();
    }
}

static void a_new_number_or_shape_compiles_nothing(void **state)
{
    (void)state;
    GA_SCOPE {
        for (int k = 1; k < 4; k++) {
            const int64_t before = ga__module_count().compiled + ga__module_count().disk_hits;
            gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(3 + k, 4 + 4 * k), k);
            const double a = k + 0.5;
            gpuarray *r = ga_eval("a*x + (a - 0.5)", GA(a), GA(x));
            assert_int_equal(ga_dtype_of(r), GA_FLOAT32);
            assert_true(ga_item_double(ga_slice(r, "-1, -1")) == a * k + k);
            const int64_t after = ga__module_count().compiled + ga__module_count().disk_hits;
            assert_true(k == 1 || after == before);
        }
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(8), 3);
        ga_eval("2*x + 1", GA(x));
        const int64_t before = ga__module_count().compiled + ga__module_count().disk_hits;
        assert_true(ga_item_double(ga_slice(ga_eval("4*x + 7", GA(x)), "0")) == 19);
        assert_true(ga__module_count().compiled + ga__module_count().disk_hits == before);
    }
}

static void numbers_are_checked_each_time(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *i = ga_ones(GA_INT8, GA_SHAPE(4));
        int n = 100;
        assert_int_equal(ga_item_int64(ga_slice(ga_eval("i + n", GA(i), GA(n)), "0")), 101);
        n = 300;
        expect_error(ga_eval("i + n", GA(i), GA(n)), GA_ERR_INVALID);
        gpuarray *less = ga_eval("i < n", GA(i), GA(n));
        assert_int_equal(ga_item_bool(ga_slice(less, "0")), true);
        n = -300;
        assert_int_equal(ga_item_bool(ga_slice(ga_eval("i < n", GA(i), GA(n)), "0")), false);
        n = 3;
        assert_int_equal(ga_dtype_of(ga_eval("i + 2**n", GA(i), GA(n))), GA_INT8);
        n = -1; /* the power is a float now */
        assert_int_equal(ga_dtype_of(ga_eval("i + 2**n", GA(i), GA(n))), GA_FLOAT64);
        n = 0;
        expect_error(ga_eval("i + 1 // n", GA(i), GA(n)), GA_ERR_INVALID);
        assert_int_equal(ga_item_int64(ga_slice(ga_eval("i // n", GA(i), GA(n)), "0")), 0);
        for (n = 5; n > 0; n -= 2)
            assert_int_equal(ga_item_int64(ga_sum(ga_eval("(i + i) ** n", GA(i), GA(n)))), 4 << n);
        expect_error(ga_eval("(i + i) ** n", GA(i), GA(n)), GA_ERR_INVALID); /* n is -1 */
    }
}

static void parsed_expressions(void **state)
{
    (void)state;
    char text[] = "a*x + y";
    ga_expr *e = ga_compile_expr(text);
    assert_non_null(e);
    memset(text, '?', sizeof text - 1);
    GA_SCOPE {
        gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(3), 4), *y = ga_ones(GA_FLOAT64, GA_SHAPE(2, 1));
        gpuarray *r = ga_eval_expr(e, GA_NAMED("a", 2), GA(x), GA(y));
        assert_int_equal(ga_dtype_of(r), GA_FLOAT64);
        assert_true(ga_item_double(ga_sum(r)) == 6 * 9);
        expect_error(ga_eval_expr(e, GA(x), GA(y)), GA_ERR_INVALID);
        expect_error(ga_eval_expr(e), GA_ERR_INVALID);
    }
    ga_expr_free(e);
    ga_expr_free(NULL);
}

static void small_floats_round_as_arrays_do(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_FLOAT16, GA_BFLOAT16, GA_FLOAT8_E4M3FN, GA_FLOAT8_E5M2};
    for (int k = 0; k < 4; k++)
        GA_SCOPE {
            gpuarray *x = ga_astype(ga_linspace(GA_FLOAT64, 0.1, 9, 50), dtypes[k]);
            gpuarray *eager = ga_sqrt(ga_add(ga_multiply(x, 3), ga_divide(1, x)));
            gpuarray *fused = ga_eval("sqrt(x*3 + 1/x)", GA(x));
            assert_int_equal(ga_dtype_of(fused), dtypes[k]);
            assert_arrays_equal(eager, fused);
        }
}

static void check_same_bits(ga_dtype dtype, double f, const char *fused, const char *eager)
{
    const size_t size = ga_dtype_size(dtype);
    for (int i = 0; i < 1 << 8 * size; i++, fused += size, eager += size) {
        const double a = ga__dtype_fetch(dtype, fused).as.z[0];
        const double b = ga__dtype_fetch(dtype, eager).as.z[0];
        /* e4m3fn has no 1000: of two NaN, either may come out. */
        if (memcmp(fused, eager, size) != 0 && !(size == 1 && isnan(a) && isnan(b)))
            fail_msg("%s of bits %04x times %g: %g, eager %g", ga_dtype_name(dtype), (unsigned)i, f,
                     a, b);
    }
}

/* Every pattern of bits, subnormal, infinite or NaN, times numbers that take it across the range.
 */
static void small_floats_round_to_the_same_bits(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_FLOAT16, GA_BFLOAT16, GA_FLOAT8_E4M3FN, GA_FLOAT8_E5M2};
    static const double factors[] = {1, 1.0009765625, 3, 0x1p-14, 0x1.8p-9, 1000, -0x1p15};
    static char fused[2 * 65536], eager[2 * 65536];
    for (int k = 0; k < 28; k++)
        GA_SCOPE {
            const ga_dtype dtype = dtypes[k % 4];
            const int nbits = 8 * (int)ga_dtype_size(dtype);
            gpuarray *bits = ga_astype(ga_arange(GA_INT32, 0, ldexp(1, nbits), 1),
                                       nbits == 8 ? GA_UINT8 : GA_UINT16);
            gpuarray *x = ga_view(bits, dtype);
            const double f = factors[k / 4];
            gpuarray *r = ga_eval("(x*f + 1) - 1", GA(x), GA(f));
            assert_int_equal(ga_to_host(r, fused, ga_nbytes(r)), GA_OK);
            r = ga_subtract(ga_add(ga_multiply(x, f), 1), 1);
            assert_int_equal(ga_to_host(r, eager, ga_nbytes(r)), GA_OK);
            check_same_bits(dtype, f, fused, eager);
        }
}

/* An integer becomes the other operand's float first, as in an array: 11 is 12 in e5m2. */
static void integers_round_to_small_floats_first(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *i = ga_full(GA_INT8, GA_SHAPE(70), 11),
                 *x = ga_full(GA_FLOAT8_E5M2, GA_SHAPE(70), 2);
        gpuarray *fused = ga_eval("i + x", GA(i), GA(x)), *eager = ga_add(i, x);
        assert_true(ga_item_double(ga_slice(fused, "69")) == 14);
        assert_arrays_equal(eager, fused);
        assert_true(ga_item_bool(ga_all(ga_equal(i, ga_full(GA_FLOAT8_E5M2, GA_SHAPE(70), 12)))));
    }
}

static void many_operands(void **state)
{
    (void)state;
    GA_SCOPE {
        ga_named args[40];
        char text[2000] = "a0", name[40][8];
        double sum = 0;
        for (int k = 0; k < 40; k++) {
            snprintf(name[k], sizeof name[k], "a%d", k);
            args[k] = (ga_named){name[k], GA_V(ga_full(GA_FLOAT32, GA_SHAPE(3), k))};
            sum += k < 30 ? k : 0;
            if (k > 0 && k < 30)
                sprintf(text + strlen(text), " + %d.25 + a%d", k, k);
        }
        gpuarray *r = (ga_eval)(text, 40, args); /* numbers are written out: 59 operands */
        if (!r)
            fail_msg("%s", ga_error_message());
        assert_true(ga_item_double(ga_slice(r, "0")) == sum + sum + 29 * 0.25);
        for (int k = 30; k < 40; k++) {
            sprintf(text + strlen(text), " + a%d", k);
            sum += k;
        }
        r = (ga_eval)(text, 40, args); /* two kernels */
        if (!r)
            fail_msg("%s", ga_error_message());
        assert_true(ga_item_double(r, 0) == sum + 29 * 30 / 2 + 29 * 0.25);
        assert_int_equal(kernels_of(text, args, 40), 2);
    }
}

/* A random tree of sums and products of arguments and of their reductions; returns its value. */
static double write_tree(char *text, uint64_t *seed, int depth)
{
    if (depth == 0) {
        const int k = (int)random_below(seed, 64);
        const bool reduces = random_below(seed, 16) == 0;
        sprintf(text + strlen(text), reduces ? "max(a%d)" : "a%d", k);
        return k - 30;
    }
    const bool multiplies = depth == 1 && random_below(seed, 4) == 0;
    strcat(text, random_below(seed, 8) == 0 ? "+(" : "(");
    const double a = write_tree(text, seed, depth - 1);
    strcat(text, multiplies ? " * " : " + ");
    const double b = write_tree(text, seed, depth - 1);
    strcat(text, ")");
    return multiplies ? a * b : a + b;
}

/* However many operands an expression has, kernels share them. */
static void kernels_with_too_many_operands_are_split(void **state)
{
    (void)state;
    uint64_t seed = 20;
    GA_SCOPE {
        ga_named args[64];
        char name[64][8], text[20000];
        for (int k = 0; k < 64; k++) {
            snprintf(name[k], sizeof name[k], "a%d", k);
            args[k] =
                (ga_named){name[k], GA_V(ga_full(GA_FLOAT64, GA_SHAPE(1 + k % 2 * 2), k - 30))};
        }
        for (int round = 0; round < 6; round++) {
            *text = 0;
            const bool whole = round % 2;
            strcat(text, whole ? "sum(where(a1 < 0, 1, 0) * " : "");
            double want = write_tree(text, &seed, 5 + round / 2);
            strcat(text, whole ? ") + a63 * 0" : " + a63 * 0");
            want *= whole ? 3 : 1;
            gpuarray *r = (ga_eval)(text, 64, args);
            if (!r)
                fail_msg("%s", ga_error_message());
            assert_int_equal(ga_size(r), 3);
            if (ga_item_double(r, 2) != want)
                fail_msg("round %d: %g, wanted %g", round, ga_item_double(r, 2), want);
        }
    }
}

/* The same plan with other lengths, or an index that is no longer in range. */
static void views_are_checked_in_each_call(void **state)
{
    (void)state;
    GA_SCOPE {
        for (int n = 6; n > 3; n--) {
            gpuarray *x = ga_arange(GA_FLOAT32, 0, n, 1),
                     *r = ga_eval("x[4:] + x[3] + x[-1]", GA(x));
            assert_non_null(r);
            assert_int_equal(ga_size(r), n > 4 ? n - 4 : 0);
        }
        gpuarray *x = ga_arange(GA_FLOAT32, 0, 3, 1);
        expect_error(ga_eval("x[4:] + x[3] + x[-1]", GA(x)), GA_ERR_INDEX);
        assert_int_equal(ga_eval_into(x, "x[::-1] * 2", GA(x)), GA_OK);
        assert_true(ga_item_double(x, 0) == 4 && ga_item_double(x, 2) == 0);
    }
}

/* ---- Several reductions in one kernel ---- */

/* Counts up and down, so that every sum is exact and the extremes recur. */
static gpuarray *hills(ga_dtype dtype, int ndim, const int64_t *shape)
{
    int64_t size = 1;
    for (int axis = 0; axis < ndim; axis++)
        size *= shape[axis];
    gpuarray *number = ga_remainder(ga_arange(GA_INT64, 0, (double)size, 1), 13);
    return ga_reshape(ga_astype(ga_subtract(6, number), dtype), ndim, shape);
}

static void check_same(const char *what, const gpuarray *fused, const gpuarray *eager)
{
    if (!fused || !eager)
        fail_msg("%s: %s", what, ga_error_message());
    char why[300];
    if (!equal_arrays(fused, eager, why, sizeof why))
        fail_msg("%s of %s %s: %s", what, ga_dtype_name(ga_dtype_of(fused)),
                 ga__shape_text(ga_ndim(fused), ga_shape(fused)), why);
}

static void check_together(const gpuarray *x)
{
    gpuarray *eager = ga_subtract(ga_max(x), ga_min(x));
    check_same("range", ga_eval("max(x) - min(x)", GA(x)), eager);
    eager = ga_add(ga_multiply(ga_argmax(x), 10), ga_count_nonzero(x));
    check_same("place", ga_eval("argmax(x)*10 + count_nonzero(x)", GA(x)), eager);
    eager = ga_multiply(ga_subtract(x, ga_min(x)), ga_sum(x));
    check_same("two results", ga_eval("(x - min(x)) * sum(x)", GA(x)), eager);
    for (int axis = 0; axis < ga_ndim(x); axis++) {
        char text[128];
        eager = ga_add(ga_max(x, GA_AXIS(axis)), ga_sum(ga_multiply(x, 2), GA_AXIS(axis)));
        snprintf(text, sizeof text, "max(x, axis=%d) + sum(x*2, axis=%d)", axis, axis);
        check_same(text, ga_eval(text, GA(x)), eager);
        gpuarray *most = ga_max(x, GA_AXIS(axis), .keepdims = true),
                 *sum = ga_sum(x, GA_AXIS(axis), .keepdims = true),
                 *first = ga_argmin(x, GA_AXIS(axis), .keepdims = true);
        eager = ga_add(ga_add(ga_multiply(x, most), sum), first);
        snprintf(text, sizeof text,
                 "x*max(x, axis=%d, keepdims=True) + sum(x, axis=%d, keepdims=True)"
                 " + argmin(x, axis=%d, keepdims=True)",
                 axis, axis, axis);
        check_same(text, ga_eval(text, GA(x)), eager);
    }
}

static void reductions_together_are_as_alone(void **state)
{
    (void)state;
    static const ga_dtype dtypes[] = {GA_FLOAT32, GA_FLOAT64, GA_INT32, GA_INT8, GA_COMPLEX64};
    static const int64_t shapes[][3] = {{1, 1, 1},    {1, 3, 5},   {2, 40, 33},
                                        {3, 1, 1500}, {2, 700, 3}, {1, 70, 1100}};
    for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            for (int how = 0; how < (d < 2 ? 4 : 1); how++)
                GA_SCOPE {
                    char item[80];
                    snprintf(item, sizeof item, "together %s %zu %d", ga_dtype_name(dtypes[d]), s,
                             how);
                    gpuarray *x = hills(dtypes[d], 3, shapes[s]);
                    if (in_sample(item))
                        check_together(how == 0   ? x
                                       : how == 1 ? ga_transpose(x)
                                       : how == 2 ? ga_slice(x, "::-1, :, ::2")
                                                  : ga_slice(x, "0"));
                }
}

/* A plan made for arrays of one shape, then run with shapes for which its reductions differ. */
static void reductions_that_part_again(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(5, 7)), *y = ga_ones(GA_FLOAT32, GA_SHAPE(5, 7));
        const char *text = "sum(y, axis=0) + 10*sum(x*y, axis=0)";
        assert_true(ga_item_double(ga_slice(ga_eval(text, GA(x), GA(y)), "3")) == 55);
        gpuarray *row = ga_ones(GA_FLOAT32, GA_SHAPE(1, 7));
        gpuarray *r = ga_eval(text, GA(x), GA_NAMED("y", row));
        assert_true(ga_item_double(ga_slice(r, "3")) == 51);
        r = ga_eval(text, GA_NAMED("x", row), GA(y));
        assert_true(ga_item_double(ga_slice(r, "3")) == 55);
    }
}

/* More operands together than a kernel supports: each reduction gets a kernel of its own again. */
static void reductions_with_too_many_operands(void **state)
{
    (void)state;
    GA_SCOPE {
        ga_named args[46];
        char text[1000] = "sum(a0", name[46][8];
        for (int k = 0; k < 46; k++) {
            snprintf(name[k], sizeof name[k], "a%d", k);
            args[k] = (ga_named){name[k], GA_V(ga_full(GA_FLOAT32, GA_SHAPE(3), k))};
            if (k > 0)
                sprintf(text + strlen(text), k == 23 ? ") - sum(a0 + a%d" : " + a%d", k);
        }
        strcat(text, ")");
        gpuarray *r = (ga_eval)(text, 46, args);
        if (!r)
            fail_msg("%s", ga_error_message());
        assert_true(ga_item_double(r) == 3 * (22 * 23 / 2 - (45 * 46 / 2 - 22 * 23 / 2)));
        assert_int_equal(kernels_of(text, args, 46), 3);
    }
}

/* ---- Into ---- */

static void results_go_where_they_are_told(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_arange(GA_FLOAT32, 0, 12, 1), *m = ga_reshape(x, GA_SHAPE(3, 4));
        gpuarray *wide = ga_zeros(GA_FLOAT64, GA_SHAPE(2, 3, 4));
        assert_int_equal(ga_eval_into(wide, "m*2", GA(m)), GA_OK);
        assert_true(ga_item_double(ga_sum(wide)) == 2 * 132);
        assert_int_equal(ga_eval_into(wide, "7"), GA_OK);
        assert_true(ga_item_double(ga_sum(wide)) == 7 * 24);
        gpuarray *rows = ga_zeros(GA_FLOAT32, GA_SHAPE(3, 1));
        assert_int_equal(ga_eval_into(rows, "sqrt(sum(m, axis=1, keepdims=True) - 6)", GA(m)),
                         GA_OK);
        assert_true(ga_item_double(ga_slice(rows, "1, 0")) == 4);
        assert_int_equal(ga_eval_into(wide, "max(m)", GA(m)), GA_OK);
        assert_true(ga_item_double(ga_sum(wide)) == 11 * 24);
        assert_int_equal(ga_eval_into(m, "m + sum(m)", GA(m)), GA_OK);
        assert_true(ga_item_double(ga_slice(x, "0")) == 66);
        gpuarray *head = ga_slice(x, "1:"), *tail = ga_slice(x, ":-1");
        assert_int_equal(ga_eval_into(head, "tail - 66", GA(tail)), GA_OK);
        assert_true(ga_item_double(ga_slice(x, "11")) == 10);
        gpuarray *first = ga_slice(m, "0");
        assert_int_equal(ga_eval_into(first, "sum(m, axis=0)", GA(m)), GA_OK);
        gpuarray *narrow = ga_zeros(GA_INT32, GA_SHAPE(3, 4)),
                 *few = ga_zeros(GA_FLOAT32, GA_SHAPE(4));
        assert_int_equal(ga_eval_into(narrow, "m", GA(m)), GA_ERR_DTYPE);
        ga_clear_error();
        assert_int_equal(ga_eval_into(few, "m", GA(m)), GA_ERR_SHAPE);
        ga_clear_error();
        assert_int_equal(ga_eval_into(NULL, "m", GA(m)), GA_ERR_INVALID);
        ga_clear_error();
        assert_int_equal(ga_eval_into(ga_broadcast_to(few, GA_SHAPE(3, 4)), "m", GA(m)),
                         GA_ERR_INVALID);
        ga_clear_error();
    }
}

/* `expression` changes its sign when its two arguments are swapped; `with_s_first` is the sum of
 * its elements when `s` comes first. */
static void check_exchanged(const char *expression, const gpuarray *s, const gpuarray *v,
                            double with_s_first)
{
    const ga_value values[] = {ga_value_array(s), ga_value_array(v)};
    for (int turn = 0; turn < 4; turn++) {
        gpuarray *r = ga_eval(expression, GA_NAMED("a", values[turn % 2]),
                              GA_NAMED("b", values[1 - turn % 2]));
        gpuarray *first = ga_sum(r);
        const double wanted = turn % 2 ? -with_s_first : with_s_first;
        if (ga_item_double(first) != wanted)
            fail_msg("%s, turn %d: %g instead of %g", expression, turn, ga_item_double(first),
                     wanted);
        ga_free(first);
        ga_free(r);
    }
}

/* The planner orders a kernel's inputs by size, so the same statements occur with the operands in
 * either order. */
static void arguments_of_unlike_shapes_may_change_places(void **state)
{
    (void)state;
    gpuarray *s = ga_full(GA_FLOAT64, GA_SHAPE0, 10), *v = ga_arange(GA_FLOAT64, 0, 5, 1);
    gpuarray *m = ga_ones(GA_FLOAT64, GA_SHAPE(3, 5));
    check_exchanged("a - b", s, v, 40);
    check_exchanged("a - b", v, m, 15);
    check_exchanged("sum(a - b)", v, m, 15);
    check_exchanged("sum(a - b, axis=-1)", s, v, 40);
    check_exchanged("a - b", s, m, 135);
    ga_free(s);
    ga_free(v);
    ga_free(m);
}

static void empty_arrays(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_zeros(GA_FLOAT32, GA_SHAPE(0, 3));
        gpuarray *r = ga_eval("x*2 + 1", GA(x));
        assert_int_equal(ga_size(r), 0);
        assert_true(ga_item_double(ga_eval("sum(x) + 1", GA(x))) == 1);
        assert_int_equal(ga_size(ga_eval("max(x, axis=1)", GA(x))), 0);
        gpuarray *y = ga_ones(GA_FLOAT32, GA_SHAPE(2, 3));
        assert_true(ga_item_double(ga_eval("max(y)", GA(y))) == 1);
        assert_true(ga_item_double(ga_eval("max(x)", GA_NAMED("x", y))) == 1);
        expect_error(ga_eval("max(x)", GA(x)), GA_ERR_INVALID); /* with a plan that fits */
    }
}

/* ---- Failing requests and mutated texts ---- */

static void evaluate_all(void)
{
    gpuarray *x = ga_full(GA_FLOAT32, GA_SHAPE(3, 4), 2),
             *out = ga_zeros(GA_FLOAT32, GA_SHAPE(3, 4));
    static int unique;
    char text[96];
    /* A new text each time, so that every step runs. */
    snprintf(text, sizeof text, "x / sum(x + %d, axis=1, keepdims=True)", unique++ % 1000);
    ga_eval(text, GA(x));
    gpuarray *m = ga_ones(GA_FLOAT32, GA_SHAPE(3, 100)); /* as fused rows, which keep a value */
    snprintf(text, sizeof text, "exp(m - %d) / sum(exp(m - %d), axis=1, keepdims=True)", unique,
             unique);
    ga_eval(text, GA(m));
    snprintf(text, sizeof text, "exp(m - %d) / sum(exp(m - %d), axis=0)", unique, unique);
    ga_eval(text, GA(m)); /* as fused columns */
    ga_eval_into(out, "x / sum(x)", GA(x));
    ga_eval_into(ga_slice(out, "1:"), "y + 1", GA_NAMED("y", ga_slice(out, ":-1")));
    free(ga_explain("sqrt(x)", GA(x)));
    ga_expr *e = ga_compile_expr("x + (");
    ga_clear_error();
    ga_expr_free(e);
    e = ga_compile_expr("x + 1");
    ga_eval_expr(e, GA(x));
    ga_expr_free(e);
}

static void every_request_may_fail(void **state)
{
    (void)state;
    for (int warm = 0; warm < 2; warm++)
        GA_SCOPE {
            evaluate_all();
        }
    if (ga_error() != GA_OK)
        fail_msg("%s", ga_error_message());
    int quiet = 0;
    for (int n = 1; quiet < 25; n++) {
        assert_true(n < 2000);
        GA_SCOPE {
            gpuarray *check = ga_ones(GA_FLOAT32, GA_SHAPE(2));
            ga__alloc_fail_at(n);
            evaluate_all();
            ga__alloc_fail_at(0);
            quiet = ga_error() != GA_OK ? 0 : quiet + 1;
            ga_clear_error();
            assert_true(ga_item_double(ga_eval("sum(check)", GA(check))) == 2);
        }
    }
}

/* Without an open scope: a failing evaluation leaves no arrays, a successful one leaves one. */
static void nothing_is_left_behind(void **state)
{
    (void)state;
    static const char softmax[] = "exp(x - max(x, axis=1, keepdims=True)) / "
                                  "sum(exp(x - max(x, axis=1, keepdims=True)), axis=1, "
                                  "keepdims=True)";
    gpuarray *x = ga_ones(GA_FLOAT32, GA_SHAPE(3, 4)), *out = ga_zeros(GA_FLOAT32, GA_SHAPE(2, 4));
    ga_free(ga_eval(softmax, GA(x)));
    assert_int_equal(ga_eval_into(out, "sum(x, axis=0)", GA(x)), GA_OK);
    const int64_t live = ga__alloc_live();
    int quiet = 0, failed = 0;
    for (int n = 1; quiet < 5; n++) {
        ga__alloc_fail_at(n);
        ga_free(ga_eval(softmax, GA(x)));
        ga_eval_into(out, "sum(x, axis=0)", GA(x));
        ga__alloc_fail_at(0);
        quiet = ga_error() != GA_OK ? 0 : quiet + 1;
        failed += ga_error() != GA_OK;
        ga_clear_error();
        assert_true(ga__alloc_live() <= live);
    }
    assert_true(failed > 0);
    ga_free(x);
    ga_free(out);
}

/* Parses and types, but runs nothing. */
static void digest(const char *text)
{
    ga__ast ast;
    ga__graph graph;
    if (ga__ast_parse(&ast, text) == GA_OK) {
        const ga_named args[] = {GA_NAMED("x", 2.5), GA_NAMED("n", 3)};
        if (ga__graph_make(&graph, &ast, 2, args) == GA_OK)
            ga__plan_free(ga__plan_new(&graph, GA__MAX_PARTS));
        ga__ast_reset(&ast);
    }
    ga_clear_error();
}

/* The fuzzer's corpus, and its findings. */
static void texts_of_the_corpus_do_no_harm(void **state)
{
    (void)state;
    const char *path = golden_path("../corpus/eval");
    int files = 0;
    DIR *corpus = opendir(path);
    assert_non_null(corpus);
    for (struct dirent *entry = readdir(corpus); entry; entry = readdir(corpus)) {
        char name[4400];
        size_t nbytes;
        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        char *text = ga__read_file(name, &nbytes);
        assert_non_null(text);
        digest(text);
        ga__free(text);
        files++;
    }
    closedir(corpus);
    assert_true(files > 0);
}

static void mutated_texts_do_no_harm(void **state)
{
    (void)state;
    static const char *const seeds[] = {
        "sqrt(x*x + n**2) % 7 // 2", "sum(x, axis=(0, -1), keepdims=True) / std(n, ddof=1)",
        "where(x < 0x1f and not n >= 1e3, float32(x), 2j) ^ ~n << 3", "((((x))))-+-1.5e-7"};
    static const char marks[] = "()*/+-<>=!&|^~%,.0123456789abcdefjxn \t$\x80";
    uint64_t seed = 1;
    const int64_t live = ga__alloc_live();
    for (int k = 0; k < 20000; k++) {
        char text[128];
        snprintf(text, sizeof text, "%s", seeds[k % 4]);
        for (int edits = 1 + (int)(next_random(&seed) % 6); edits > 0; edits--) {
            const size_t at = next_random(&seed) % strlen(text);
            text[at] = marks[next_random(&seed) % (sizeof marks - 1)];
        }
        digest(text);
    }
    /* Texts of kernels keep their ids. */
    assert_true(ga__alloc_live() >= live);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_and_precedence),
        cmocka_unit_test(products_are_those_of_matmul),
        cmocka_unit_test(mistakes_show_their_place),
        cmocka_unit_test(limits_and_bad_arguments),
        simulating_test(plans_are_the_fewest_kernels),
        cmocka_unit_test(a_plan_shows_bytes_and_names),
        cmocka_unit_test(a_new_number_or_shape_compiles_nothing),
        cmocka_unit_test(numbers_are_checked_each_time),
        cmocka_unit_test(parsed_expressions),
        slow_test(small_floats_round_as_arrays_do),
        cmocka_unit_test(small_floats_round_to_the_same_bits),
        cmocka_unit_test(integers_round_to_small_floats_first),
        cmocka_unit_test(many_operands),
        cmocka_unit_test(kernels_with_too_many_operands_are_split),
        cmocka_unit_test(views_are_checked_in_each_call),
        slow_test(reductions_together_are_as_alone),
        cmocka_unit_test(reductions_that_part_again),
        cmocka_unit_test(reductions_with_too_many_operands),
        cmocka_unit_test(results_go_where_they_are_told),
        cmocka_unit_test(arguments_of_unlike_shapes_may_change_places),
        cmocka_unit_test(empty_arrays),
        cmocka_unit_test(texts_of_the_corpus_do_no_harm),
        cmocka_unit_test(mutated_texts_do_no_harm),
        cmocka_unit_test(every_request_may_fail),
        cmocka_unit_test(nothing_is_left_behind),
        table_test(random_expressions_as_numpy),
    };
    sample_on_gpu(8);
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
