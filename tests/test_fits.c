/* Numbers that a dtype cannot hold are errors wherever a number is taken, as in NumPy. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry.h>

#include "files.h"
#include "golden.h"
#include "model/dtype.h"
#include "model/rows.h"
#include "ops/elementwise_op.h"
#include "run.h"

static void expect_refusal(const char *what, bool refused, const char *number, ga_dtype dtype)
{
    char wanted[96];
    snprintf(wanted, sizeof wanted, "%s does not fit %s", number, ga_dtype_name(dtype));
    if (!refused || ga_error() != GA_ERR_INVALID || !strstr(ga_error_message(), wanted))
        fail_msg("%s: %s: \"%s\", wanted \"%s\"", what, ga_status_name(ga_error()),
                 ga_error_message(), wanted);
    ga_clear_error();
}

static ga_value read_number(const char *text)
{
    return text[0] == '-' ? ga_value_llong(strtoll(text, NULL, 10))
                          : ga_value_ullong(strtoull(text, NULL, 10));
}

/* One line of fits.txt: where NumPy raises OverflowError, so does the function. */
static bool check_line(char *line)
{
    char *rest = line, *word[5];
    ga_value operands[3];
    for (int k = 0; k < 5; k++)
        word[k] = strtok_r(NULL, " \n", &rest);
    if (strcmp(word[4], "overflows") != 0)
        return false;
    const ga__row_id row = ga__row_find(word[0], strlen(word[0]));
    const ga_dtype dtype = ga__dtype_named(word[1], strlen(word[1]));
    assert_true(row < GA__ROW_COUNT && dtype != GA_NO_DTYPE);
    GA_SCOPE {
        for (int k = 0; k < ga__rows[row].inputs; k++)
            operands[k] = GA_V(ga_ones(dtype, GA_SHAPE(3)));
        operands[atoi(word[2])] = read_number(word[3]);
        const bool refused = !ga__apply(row, operands);
        expect_refusal(word[0], refused, word[3], dtype);
        gpuarray *out = ga_zeros(dtype, GA_SHAPE(3));
        expect_refusal("into", ga__apply_into(row, out, operands) != GA_OK, word[3], dtype);
        assert_int_equal(ga_item_int64(out, 0), 0);
    }
    return true;
}

/* No compiler runs: nothing is computed. */
static void functions_refuse_what_numpy_refuses(void **state)
{
    (void)state;
    char line[200];
    int count = 0;
    FILE *file = fopen(golden_path("fits.txt"), "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file))
        count += check_line(line);
    fclose(file);
    printf("%d refusals\n", count);
    assert_true(count > 500);
}

/* The numbers around the ends of each integer dtype, as C numbers and as texts. */
typedef struct end {
    ga_dtype dtype;
    ga_value number;
    bool fits;
    char text[32];
} end;

static int make_ends(end *ends)
{
    int n = 0;
    for (int d = 0; d < GA_DTYPE_COUNT; d++) {
        const char kind = d == GA_NO_DTYPE ? 0 : ga__dtype_kind((ga_dtype)d);
        if (kind != 'i' && kind != 'u')
            continue;
        const int bits = 8 * (int)ga_dtype_size((ga_dtype)d) - (kind == 'i');
        const uint64_t most = UINT64_MAX >> (64 - bits);
        const int64_t least = kind == 'i' ? -(int64_t)most - 1 : 0;
        ends[n++] = (end){(ga_dtype)d, ga_value_ullong(most), true, ""};
        ends[n++] = (end){(ga_dtype)d, ga_value_llong(least), true, ""};
        if (most < UINT64_MAX)
            ends[n++] = (end){(ga_dtype)d, ga_value_ullong(most + 1), false, ""};
        if (least > INT64_MIN)
            ends[n++] = (end){(ga_dtype)d, ga_value_llong(least - 1), false, ""};
        ends[n++] = (end){(ga_dtype)d, ga_value_double(1e30), false, "1.0000000000000000199e+30"};
    }
    for (int k = 0; k < n; k++)
        if (ends[k].number.dtype == GA_UINT64)
            sprintf(ends[k].text, "%llu", (unsigned long long)ends[k].number.as.u);
        else if (ends[k].number.dtype == GA_INT64)
            sprintf(ends[k].text, "%lld", (long long)ends[k].number.as.i);
        else
            strcpy(ends[k].text, "1.0000000000000000199e+30");
    return n;
}

static void check_entry(const end *e, const char *what, bool done)
{
    char number[32];
    if (e->fits && (!done || ga_error() != GA_OK))
        fail_msg("%s of %s in %s: %s", what, e->text, ga_dtype_name(e->dtype), ga_error_message());
    if (e->number.dtype == GA_FLOAT64)
        snprintf(number, sizeof number, "%.17g", e->number.as.z[0]);
    else
        strcpy(number, e->text);
    if (!e->fits)
        expect_refusal(what, !done, number, e->dtype);
}

static void check_kernel(const end *e)
{
    char arguments[64];
    snprintf(arguments, sizeof arguments, "%s a, int64 *x", ga_dtype_name(e->dtype));
    gpuarray *x = ga_zeros(GA_INT64, GA_SHAPE(2));
    ga_kernel *kernel = ga_elementwise_kernel(arguments, "x[i] = (long long)a", "store");
    check_entry(e, "ga_run", ga_run(kernel, e->number, x) == GA_OK);
    ga_kernel_free(kernel);
    snprintf(arguments, sizeof arguments, "const int64 *x, %s a", ga_dtype_name(e->dtype));
    kernel = ga_reduction_kernel(GA_INT64, "0", "a+b", "x[i]", arguments, "total");
    check_entry(e, "ga_reduce", ga_reduce(kernel, x, e->number) != NULL);
    ga_kernel_free(kernel);
}

/* One rule for every function that stores a number. */
static void every_entry_takes_the_same_numbers(void **state)
{
    (void)state;
    end ends[64];
    const int n = make_ends(ends);
    for (int k = 0; k < n; k++)
        GA_SCOPE {
            const end *e = &ends[k];
            gpuarray *x = ga_ones(e->dtype, GA_SHAPE(2));
            char cast[64];
            check_entry(e, "ga_full", ga_full(e->dtype, GA_SHAPE(2), e->number) != NULL);
            check_entry(e, "ga_full_like", ga_full_like(x, e->number) != NULL);
            check_entry(e, "ga_scalar", ga_scalar(e->dtype, e->number) != NULL);
            check_entry(e, "ga_assign", ga_assign(x, e->number) == GA_OK);
            check_entry(e, "ga_assign", ga_assign(ga_slice(x, "0"), e->number) == GA_OK);
            snprintf(cast, sizeof cast, "%s(v)", ga_dtype_name(e->dtype));
            check_entry(e, "ga_eval", ga_eval(cast, GA_NAMED("v", e->number)) != NULL);
            snprintf(cast, sizeof cast, "%s(%s)", ga_dtype_name(e->dtype), e->text);
            check_entry(e, "ga_eval", ga_eval(cast) != NULL);
            check_kernel(e);
        }
}

/* A plan that is kept for other numbers. */
static void a_kept_plan_checks_each_number(void **state)
{
    (void)state;
    GA_SCOPE {
        gpuarray *x = ga_ones(GA_INT8, GA_SHAPE(2));
        for (int k = 126; k < 129; k++) {
            gpuarray *r = ga_eval("x + int8(k)", GA(x), GA(k));
            if (k < 128)
                assert_non_null(r);
            else
                expect_refusal("eval", !r, "128", GA_INT8);
        }
        for (double k = 127.5; k < 129; k++) {
            gpuarray *r = ga_eval("x * int8(k)", GA(x), GA(k));
            if (k < 128)
                assert_int_equal(ga_item_int64(r, 0), 127);
            else
                expect_refusal("eval", !r, "128.5", GA_INT8);
        }
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_refuse_what_numpy_refuses),
        cmocka_unit_test(every_entry_takes_the_same_numbers),
        cmocka_unit_test(a_kept_plan_checks_each_number),
    };
    return run_named_tests(argc, argv, tests, NULL, NULL);
}
