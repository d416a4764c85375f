/* The parameters of distributions: checks numbers, and arrays by their extremes. */
#include "ops/random/parameters.h"

#include <math.h>
#include <string.h>

#include "base/error.h"
#include "ops/bins/bin_calls.h"
#include "ops/elementwise_op.h"

/* The numbers of a rule: from `low` to `high`, without the open ends. */
typedef struct range {
    double low, high;
    bool open_low, open_high, whole;
    const char *text;
} range;

static const range ranges[] = {
    [GA__PARAMETER_LIMIT] = {-INFINITY, INFINITY, false, false, false, "a number"},
    [GA__PARAMETER_FINITE] = {-INFINITY, INFINITY, true, true, false, "a finite number"},
    [GA__PARAMETER_NOT_NEGATIVE] = {0, INFINITY, false, true, false, "finite and non-negative"},
    [GA__PARAMETER_POSITIVE] = {0, INFINITY, true, true, false, "finite and positive"},
    [GA__PARAMETER_ABOVE_1] = {1, INFINITY, true, true, false, "finite and above 1"},
    [GA__PARAMETER_MEAN] = {0, INFINITY, false, false, false, "a non-negative number"},
    [GA__PARAMETER_SHARE] = {0, 1, false, false, false, "between 0 and 1"},
    [GA__PARAMETER_SUM] = {0, 1 + 1e-12, false, false, false, "at most 1"},
    [GA__PARAMETER_SHARE_ABOVE_0] = {0, 1, true, false, false, "above 0 and at most 1"},
    [GA__PARAMETER_SHARE_BELOW_1] = {0, 1, false, true, false, "at least 0 and below 1"},
    [GA__PARAMETER_POPULATION] = {0, 1e9, false, false, true, "between 0 and 10^9"},
    [GA__PARAMETER_FITTING] = {0, 0x1p53, false, false, true, "between 0 and 2^53"},
    [GA__PARAMETER_SAMPLE] = {0, 2e9, false, false, true, "between 0 and the sum of the others"},
    [GA__PARAMETER_NOT_BELOW] = {-INFINITY, INFINITY, true, true, false, "a finite number"},
    [GA__PARAMETER_ABOVE] = {-INFINITY, INFINITY, false, false, false, "a number"},
    [GA__PARAMETER_ABOVE_FIRST] = {-INFINITY, INFINITY, true, true, false, "a finite number"},
};

/* The call, for messages, and one of its parameters. */
typedef struct checked {
    const char *name;
    const ga__parameter *parameter;
    ga_dtype dtype;
} checked;

static ga_status check_number(const checked *c, double number)
{
    const range *r = &ranges[c->parameter->rule];
    const bool low = r->open_low ? number > r->low : number >= r->low;
    const bool high = r->open_high ? number < r->high : number <= r->high;
    const bool is_mean = c->parameter->rule == GA__PARAMETER_MEAN;
    const bool fits = is_mean || c->parameter->rule == GA__PARAMETER_FITTING;
    if (!low || !high)
        return ga__fail(GA_ERR_INVALID, "%s: %s is %g, not %s", c->name, c->parameter->name, number,
                        r->text);
    const double most = is_mean ? number + 10 * sqrt(number) : number;
    if (fits && !ga__number_converts(ga_value_double(most), c->dtype))
        return ga__fail(GA_ERR_INVALID, "%s: %s %g is too large for %s", c->name,
                        c->parameter->name, number, ga_dtype_name(c->dtype));
    return GA_OK;
}

static bool holds_of(ga__row_id row, double x, double y)
{
    return row == GA__ROW_less ? x < y : row == GA__ROW_less_equal ? x <= y : x > y;
}

/* Whether any element of row(x, y) holds. */
static ga_status any_holds(const char *name, ga__row_id row, ga_value x, ga_value y, bool *holds)
{
    ga_value least, most;
    if (x.kind == GA_VALUE_NUMBER && y.kind == GA_VALUE_NUMBER) {
        *holds = holds_of(row, ga__number_double(x), ga__number_double(y));
        return GA_OK;
    }
    gpuarray *compared = ga__apply(row, (ga_value[]){x, y});
    *holds = false;
    const ga_status status = !compared            ? ga_error()
                             : compared->size > 0 ? ga__extremes(name, compared, &least, &most)
                                                  : GA_OK;
    if (status == GA_OK && compared->size > 0)
        *holds = ga__number_bool(most);
    ga_free(compared);
    return status;
}

static ga_status check_pair(const checked *c, ga__row_id row, ga_value other, const char *text,
                            const char *whose, ga_value value)
{
    bool holds = false;
    const ga_status status = any_holds(c->name, row, value, other, &holds);
    if (status != GA_OK || !holds)
        return status;
    return ga__fail(GA_ERR_INVALID, "%s: an element of %s is %s %s", c->name, c->parameter->name,
                    text, whose);
}

/* The sample is at most all of the population. */
static ga_status check_sample(const checked *c, const ga_value *before, ga_value value)
{
    static const char *const whose = "the sum of the others";
    if (before[0].kind == GA_VALUE_NUMBER && before[1].kind == GA_VALUE_NUMBER) {
        const double sum = ga__number_double(before[0]) + ga__number_double(before[1]);
        return check_pair(c, GA__ROW_greater, ga_value_double(sum), "above", whose, value);
    }
    gpuarray *wide = ga__apply(GA__ROW_add, (ga_value[]){before[0], ga_value_double(0)});
    gpuarray *sum =
        wide ? ga__apply(GA__ROW_add, (ga_value[]){ga_value_array(wide), before[1]}) : NULL;
    const ga_status status =
        sum ? check_pair(c, GA__ROW_greater, ga_value_array(sum), "above", whose, value)
            : ga_error();
    ga_free(sum);
    ga_free(wide);
    return status;
}

static ga_status check_order(const checked *c, int k, const ga__parameter *parameters,
                             const ga_value *values)
{
    const ga_value before = k > 0 ? values[k - 1] : values[0];
    const char *last = k > 0 ? parameters[k - 1].name : NULL;
    ga_status status = GA_OK;
    switch (parameters[k].rule) {
    case GA__PARAMETER_NOT_BELOW:
        return check_pair(c, GA__ROW_less, before, "below", last, values[k]);
    case GA__PARAMETER_ABOVE:
        return check_pair(c, GA__ROW_less_equal, before, "not above", last, values[k]);
    case GA__PARAMETER_ABOVE_FIRST:
        status = check_pair(c, GA__ROW_less, before, "below", last, values[k]);
        if (status != GA_OK)
            return status;
        return check_pair(c, GA__ROW_less_equal, values[0], "not above", parameters[0].name,
                          values[k]);
    case GA__PARAMETER_SAMPLE: return check_sample(c, values + k - 2, values[k]);
    default: return GA_OK;
    }
}

static ga_status check_extremes(const checked *c, const gpuarray *x)
{
    ga_value least, most;
    ga_status status = x->size > 0 ? ga__extremes(c->name, x, &least, &most) : GA_OK;
    if (status == GA_OK && x->size > 0)
        status = check_number(c, ga__number_double(least));
    if (status == GA_OK && x->size > 0)
        status = check_number(c, ga__number_double(most));
    return status;
}

static ga_status check_one(const checked *c, ga_value value)
{
    const bool is_array = value.kind == GA_VALUE_ARRAY;
    const ga_dtype dtype = is_array ? value.as.array->dtype : value.dtype;
    const char *kinds = ranges[c->parameter->rule].whole ? "biu" : "biuf";
    if (!strchr(kinds, ga__dtype_kind(dtype)))
        return ga__fail(GA_ERR_DTYPE, "%s: %s is %s, not %s", c->name, c->parameter->name,
                        ga_dtype_name(dtype), kinds[3] ? "a real number" : "an integer");
    return is_array ? check_extremes(c, value.as.array) : check_number(c, ga__number_double(value));
}

ga_status ga__check_parameters(const char *name, int count, const ga__parameter *parameters,
                               const ga_value *values, ga_dtype dtype)
{
    ga_status status = GA_OK;
    for (int k = 0; k < count && status == GA_OK; k++) {
        const checked c = {name, &parameters[k], dtype};
        status = check_one(&c, values[k]);
        if (status == GA_OK)
            status = check_order(&c, k, parameters, values);
    }
    return status;
}
