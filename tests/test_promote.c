/* Tests of promotion against the tables that NumPy and ml_dtypes made (golden/make_promote.py). */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <quarry.h>

#include "files.h"
#include "model/promote.h"
#include "run.h"

enum { MAX_COLUMNS = 32, LINE_SIZE = 4096 };

typedef struct table {
    char name[32], rule[16], kinds[16]; /* of "JOIN": a dtype */
    char header[LINE_SIZE];
    char *columns[MAX_COLUMNS];
    int ncolumns;
} table;

static int entries_checked, entries_wrong;

/* ---- Reading ---- */

static ga_dtype dtype_named(const char *name)
{
    for (int d = GA_NO_DTYPE + 1; d < GA_DTYPE_COUNT; d++) {
        if (strcmp(ga_dtype_name((ga_dtype)d), name) == 0)
            return (ga_dtype)d;
    }
    return GA_NO_DTYPE;
}

static ga_value weak_number(const char *text)
{
    if (strcmp(text, "True") == 0)
        return ga_value_bool(true);
    if (strcmp(text, "1e18") == 0)
        return ga_value_llong(1000000000000000000);
    if (strcmp(text, "2**63") == 0)
        return ga_value_ullong((unsigned long long)1 << 63);
    if (strcmp(text, "1.5") == 0)
        return ga_value_double(1.5);
    if (strcmp(text, "1j") == 0)
        return ga_value_floating(GA_COMPLEX128, 0.0, 1.0);
    return ga_value_int(atoi(text));
}

static ga__operand_type operand_named(const char *name)
{
    ga__operand_type operand = {dtype_named(name), false, {0}};

    if (strncmp(name, "weak:", 5) == 0) {
        operand.weak = true;
        operand.number = weak_number(name + 5);
        operand.dtype = operand.number.dtype;
    }
    assert_true(ga__dtype_valid(operand.dtype));
    return operand;
}

static int split(char *line, char **words, int room)
{
    int n = 0;
    char *rest = NULL;

    for (char *word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
        assert_true(n < room);
        words[n++] = word;
    }
    return n;
}

static void begin_table(table *t, const char *line)
{
    char *words[MAX_COLUMNS + 4];

    assert_int_equal(sscanf(line, "table %31s %15s %15s", t->name, t->rule, t->kinds), 3);
    snprintf(t->header, sizeof t->header, "%s", line);
    const int n = split(t->header, words, MAX_COLUMNS + 4);
    t->ncolumns = n - 4;
    for (int k = 0; k < t->ncolumns; k++)
        t->columns[k] = words[4 + k];
}

/* ---- Checking one entry ---- */

static void expect(const char *what, const char *row, const char *column, const char *want,
                   const char *got)
{
    entries_checked++;
    if (strcmp(want, got) == 0)
        return;
    entries_wrong++;
    fprintf(stderr, "%s(%s, %s): %s, wanted %s\n", what, row, column, got, want);
}

static ga__rule rule_named(const char *name)
{
    static const char *const names[] = {
        [GA__RULE_SAME] = "SAME",   [GA__RULE_FLOAT] = "FLOAT",     [GA__RULE_DOUBLE] = "DOUBLE",
        [GA__RULE_INT8] = "INT8",   [GA__RULE_COMPARE] = "COMPARE", [GA__RULE_LDEXP] = "LDEXP",
        [GA__RULE_POWER] = "POWER", [GA__RULE_WIDE] = "WIDE",       [GA__RULE_WHERE] = "WHERE",
        [GA__RULE_SUM] = "SUM",     [GA__RULE_MEAN] = "MEAN",
    };

    for (int r = GA__RULE_SAME; r <= GA__RULE_MEAN; r++) {
        if (strcmp(names[r], name) == 0)
            return (ga__rule)r;
    }
    fail_msg("no rule %s", name);
    return GA__RULE_SAME;
}

static void resolve_text(const table *t, int n, const ga__operand_type *operands, char *text,
                         size_t room)
{
    const ga__rule rule = rule_named(t->rule);
    ga_dtype loop[3] = {GA_NO_DTYPE, GA_NO_DTYPE, GA_NO_DTYPE}, common = GA_NO_DTYPE;
    const ga_status status = ga__resolve(t->name, t->kinds, rule, n, operands, loop, &common);

    if (status != GA_OK) {
        assert_int_equal(status, ga_error());
        assert_non_null(strstr(ga_error_message(), t->name));
        assert_int_equal(common, GA_NO_DTYPE);
        snprintf(text, room, "%s", status == GA_ERR_DTYPE ? "!dtype" : "!invalid");
        ga_clear_error();
        return;
    }
    if (rule == GA__RULE_WHERE) {
        assert_int_equal(loop[0], GA_BOOL);
        loop[0] = loop[1];
        loop[1] = loop[2];
        n = 2;
    }
    if (rule != GA__RULE_COMPARE)
        assert_int_equal(common, loop[0]);
    if (n == 1 || loop[0] == loop[1])
        snprintf(text, room, "%s", ga_dtype_name(loop[0]));
    else
        snprintf(text, room, "%s,%s", ga_dtype_name(loop[0]), ga_dtype_name(loop[1]));
}

/* "int64,int64" as "int64". */
static const char *merged(const char *entry, char *text, size_t room)
{
    const char *comma = strchr(entry, ',');
    const size_t length = comma ? (size_t)(comma - entry) : 0;

    if (!comma || strlen(comma + 1) != length || strncmp(entry, comma + 1, length) != 0)
        return entry;
    snprintf(text, room, "%s", comma + 1);
    return text;
}

static void check_pair(const table *t, const char *row, const char *column, const char *want)
{
    const ga_dtype a = dtype_named(row), b = dtype_named(column);

    if (strcmp(t->name, "result_type") == 0) {
        expect(t->name, row, column, want, ga_dtype_name(ga_result_type(a, b)));
        return;
    }
    const char *got = ga_can_cast(a, b)              ? "safe"
                      : ga__can_cast_same_kind(a, b) ? "same_kind"
                                                     : "no";
    assert_true(!ga_can_cast(a, b) || ga__can_cast_same_kind(a, b));
    expect(t->name, row, column, want, got);
}

/* The dtype of three arrays, one after the other. */
static void check_join(const table *t, const char *row, const char *column, const char *want)
{
    const ga__operand_type three[3] = {operand_named(t->kinds), operand_named(row),
                                       operand_named(column)};
    ga_dtype loop[3], common;

    assert_int_equal(ga__resolve(t->name, "?iufc", GA__RULE_SAME, 3, three, loop, &common), GA_OK);
    expect(t->kinds, row, column, want, ga_dtype_name(common));
}

static void check_entry(const table *t, const char *row, const char *column, const char *want)
{
    ga__operand_type operands[3] = {{GA_FLOAT32, false, {0}}};
    char text[64], plain[64];
    int n = strcmp(t->rule, "WHERE") == 0;

    if (strcmp(t->rule, "-") == 0) {
        check_pair(t, row, column, want);
        return;
    }
    if (strcmp(t->rule, "JOIN") == 0) {
        check_join(t, row, column, want);
        return;
    }
    if (strcmp(row, "-") != 0)
        operands[n++] = operand_named(row);
    operands[n++] = operand_named(column);
    resolve_text(t, n, operands, text, sizeof text);
    expect(t->name, row, column, merged(want, plain, sizeof plain), text);
}

static void tables_are_numpys(void **state)
{
    (void)state;
    const char *path = golden_path("promote.txt");
    char line[LINE_SIZE];
    table t = {.ncolumns = 0};

    FILE *stream = fopen(path, "r");
    if (!stream)
        fail_msg("cannot open %s", path);
    while (fgets(line, sizeof line, stream)) {
        char *words[MAX_COLUMNS + 2];
        if (strncmp(line, "table ", 6) == 0)
            begin_table(&t, line);
        if (strncmp(line, "row ", 4) != 0)
            continue;
        assert_int_equal(split(line, words, MAX_COLUMNS + 2), t.ncolumns + 2);
        for (int k = 0; k < t.ncolumns; k++)
            check_entry(&t, words[1], t.columns[k], words[2 + k]);
    }
    fclose(stream);
    assert_true(entries_checked > 5000);
    assert_int_equal(entries_wrong, 0);
}

/* ---- Cases that the tables do not cover ---- */

static void bad_dtypes_are_errors(void **state)
{
    (void)state;
    assert_int_equal(ga_result_type(GA_NO_DTYPE, GA_INT8), GA_NO_DTYPE);
    assert_int_equal(ga_error(), GA_ERR_DTYPE);
    ga_clear_error();
    assert_int_equal(ga_result_type(GA_INT8, (ga_dtype)99), GA_NO_DTYPE);
    assert_string_equal(ga_error_message(), "result_type: 99 is not a dtype");
    ga_clear_error();
    assert_false(ga_can_cast(GA_NO_DTYPE, GA_INT8));
    assert_false(ga_can_cast(GA_INT8, GA_DTYPE_COUNT));
    assert_false(ga__can_cast_same_kind(GA_INT8, GA_NO_DTYPE));
    assert_int_equal(ga_error(), GA_OK);
}

static void promotion_is_symmetric(void **state)
{
    (void)state;
    for (int a = 1; a < GA_DTYPE_COUNT; a++) {
        for (int b = 1; b < GA_DTYPE_COUNT; b++) {
            const ga_dtype both = ga_result_type((ga_dtype)a, (ga_dtype)b);
            assert_int_equal(both, ga_result_type((ga_dtype)b, (ga_dtype)a));
            assert_true(ga_can_cast((ga_dtype)a, both) && ga_can_cast((ga_dtype)b, both));
        }
    }
}

static ga__operand_type weak(ga_value number)
{
    return (ga__operand_type){number.dtype, true, number};
}

static void messages_name_the_dtypes(void **state)
{
    (void)state;
    const ga__operand_type few[2] = {{GA_UINT8, false, {0}}, weak(ga_value_int(300))};
    const ga__operand_type floats[2] = {{GA_FLOAT32, false, {0}}, {GA_INT8, false, {0}}};
    const ga__operand_type big[2] = {{GA_INT64, false, {0}}, weak(ga_value_ullong(UINT64_MAX))};
    ga_dtype loop[2] = {GA_BOOL, GA_BOOL}, common = GA_BOOL;

    assert_int_equal(ga__resolve("add", "?iufc", GA__RULE_SAME, 2, few, loop, &common),
                     GA_ERR_INVALID);
    assert_string_equal(ga_error_message(), "add: 300 does not fit uint8");
    ga_clear_error();
    assert_int_equal(ga__resolve("bitwise_and", "?iu", GA__RULE_SAME, 2, floats, loop, &common),
                     GA_ERR_DTYPE);
    assert_string_equal(ga_error_message(), "bitwise_and: does not take float32");
    ga_clear_error();
    assert_int_equal(ga__resolve("add", "?iufc", GA__RULE_SAME, 2, big, loop, &common),
                     GA_ERR_INVALID);
    assert_string_equal(ga_error_message(), "add: 18446744073709551615 does not fit int64");
    ga_clear_error();
    assert_true(loop[0] == GA_BOOL && loop[1] == GA_BOOL && common == GA_BOOL);
}

/* The ends of each integer dtype fit; one beyond does not. */
static void the_ends_of_each_dtype_fit(void **state)
{
    (void)state;
    for (int d = GA_INT8; d <= GA_UINT64; d++) {
        const bool is_signed = ga__dtype_kind((ga_dtype)d) == 'i';
        const int nbits = 8 * (int)ga_dtype_size((ga_dtype)d) - is_signed;
        const uint64_t high = UINT64_MAX >> (64 - nbits);
        const int64_t low = is_signed ? -(int64_t)high - 1 : 0;
        const struct {
            ga_value number;
            bool fits;
        } numbers[] = {
            {ga_value_ullong(high), true},
            {ga_value_llong(low), true},
            {ga_value_ullong(high + 1), high == UINT64_MAX}, /* which wraps to 0 */
            {ga_value_llong(low == INT64_MIN ? low : low - 1), low == INT64_MIN},
        };
        for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++) {
            const ga__operand_type both[2] = {{(ga_dtype)d, false, {0}}, weak(numbers[k].number)};
            ga_dtype loop[2], common;
            const ga_status status =
                ga__resolve("add", "?iufc", GA__RULE_SAME, 2, both, loop, &common);
            assert_int_equal(status, numbers[k].fits ? GA_OK : GA_ERR_INVALID);
            assert_true(status != GA_OK || common == (ga_dtype)d);
            ga_clear_error();
        }
    }
}

static void weak_numbers_have_default_dtypes(void **state)
{
    (void)state;
    const uint64_t big = (uint64_t)1 << 63;
    const ga__operand_type both[2] = {weak(ga_value_ullong(big)), weak(ga_value_int(2))};
    const ga__operand_type mixed[2] = {weak(ga_value_ullong(big)), weak(ga_value_int(-2))};
    ga_dtype loop[2], common;

    assert_int_equal(ga__weak_default(ga_value_bool(true)), GA_BOOL);
    assert_int_equal(ga__weak_default(ga_value_schar(-1)), GA_INT64);
    assert_int_equal(ga__weak_default(ga_value_ullong(big - 1)), GA_INT64);
    assert_int_equal(ga__weak_default(ga_value_ullong(big)), GA_UINT64);
    assert_int_equal(ga__weak_default(ga_value_float(1.0f)), GA_FLOAT64);
    assert_int_equal(ga__weak_default(ga_value_floating(GA_COMPLEX64, 1, 2)), GA_COMPLEX128);
    assert_int_equal(ga__resolve("add", "?iufc", GA__RULE_SAME, 2, both, loop, &common), GA_OK);
    assert_int_equal(common, GA_UINT64);
    assert_int_equal(ga__resolve("add", "?iufc", GA__RULE_SAME, 2, mixed, loop, &common),
                     GA_ERR_INVALID);
    ga_clear_error();
    assert_int_equal(ga__resolve("less", "?iufc", GA__RULE_COMPARE, 2, mixed, loop, &common),
                     GA_OK);
    assert_true(loop[0] == GA_UINT64 && loop[1] == GA_INT64);
}

static void results_follow_from_the_dtype_computed_in(void **state)
{
    (void)state;
    assert_int_equal(ga__result_dtype(GA__RESULT_SAME, GA_COMPLEX64), GA_COMPLEX64);
    assert_int_equal(ga__result_dtype(GA__RESULT_REAL, GA_COMPLEX64), GA_FLOAT32);
    assert_int_equal(ga__result_dtype(GA__RESULT_REAL, GA_INT8), GA_INT8);
    assert_int_equal(ga__result_dtype(GA__RESULT_BOOL, GA_FLOAT64), GA_BOOL);
    assert_int_equal(ga__result_dtype(GA__RESULT_INDEX, GA_FLOAT64), GA_INT64);
    assert_int_equal(ga__result_dtype(GA__RESULT_INT32, GA_FLOAT64), GA_INT32);
    assert_int_equal(ga__result_dtype(GA__RESULT_UINT8, GA_INT64), GA_UINT8);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_numpys),
        cmocka_unit_test(bad_dtypes_are_errors),
        cmocka_unit_test(promotion_is_symmetric),
        cmocka_unit_test(messages_name_the_dtypes),
        cmocka_unit_test(the_ends_of_each_dtype_fit),
        cmocka_unit_test(weak_numbers_have_default_dtypes),
        cmocka_unit_test(results_follow_from_the_dtype_computed_in),
    };

    return run_named_tests(argc, argv, tests, NULL, NULL);
}
