/* Rounding to decimals, and numbers in the place of NaN and the infinities. */
#include <math.h>

#include <quarry/functions.h>

#include "base/call.h"
#include "base/error.h"
#include "base/given.h"
#include "base/options.h"
#include "ops/elementwise_op.h"
#include "ops/functions/round.h"

static const ga__row round_row = {.formula = {.id = GA__FORMULA_ID(100),
                                              .name = "round",
                                              .body = "r = ga::round_to<ga_s0>(a, p, q != 0)"},
                                  .kinds = "iufc",
                                  .rule = GA__RULE_SAME,
                                  .result = GA__RESULT_SAME,
                                  .inputs = 1};

/* As NumPy finds it: exact while it can be. 10 ** 400 is infinite. */
double ga__power_of_ten(int decimals)
{
    const int n = decimals < 0 ? decimals < -400 ? 400 : -decimals : decimals;
    double power = 1;
    if (n > 22)
        return pow(10, n);
    for (int k = 0; k < n; k++)
        power *= 10;
    return power;
}

/* To a number of decimals that is not 0. */
static gpuarray *round_to(gpuarray *out, ga_value a, int decimals)
{
    const double numbers[] = {ga__power_of_ten(decimals), decimals > 0};
    return ga__apply_numbers(&round_row, out, &a, 2, numbers);
}

gpuarray *(ga_round_decimals)(ga_value a, int decimals)
{
    GA__CALL("round_decimals");
    return decimals == 0 ? (ga_round)(a) : round_to(NULL, a, decimals);
}

ga_status(ga_round_decimals_into)(gpuarray *out, ga_value a, int decimals)
{
    GA__CALL("round_decimals_into");
    if (!out)
        return ga__fail(GA_ERR_INVALID, "round: out is NULL");
    if (decimals == 0)
        return (ga_round_into)(out, a);
    return round_to(out, a, decimals) ? GA_OK : ga_error();
}

static const ga__row nan_to_num_row = {.formula = {.id = GA__FORMULA_ID(101),
                                                   .name = "nan_to_num",
                                                   .body = "r = ga::nan_to_num(a, p, q, s)"},
                                       .kinds = "?iufc",
                                       .rule = GA__RULE_SAME,
                                       .result = GA__RESULT_SAME,
                                       .inputs = 1};

/* The largest finite number of the result's dtype; 0 if it is no float. */
static double largest(ga_value a)
{
    const bool is_array = a.kind == GA_VALUE_ARRAY && a.as.array;
    const ga_dtype dtype = is_array ? ga_dtype_of(a.as.array) : ga__weak_default(a);
    const char kind = ga__dtype_kind(dtype);
    return kind == 'f' || kind == 'c' ? ga_finfo(dtype).max : 0;
}

gpuarray *ga_nan_to_num_with(ga_value a, size_t size, const ga_nan_to_num_args *args)
{
    GA__CALL("nan_to_num");
    ga_nan_to_num_args known;
    if (ga__options_read("nan_to_num", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    const double most = largest(a);
    const bool high = ga__option_given(known.given, "posinf") && !isnan(known.posinf),
               low = ga__option_given(known.given, "neginf") && !isnan(known.neginf);
    const double numbers[] = {known.nan, high ? known.posinf : most, low ? known.neginf : -most};
    return ga__apply_numbers(&nan_to_num_row, NULL, &a, 3, numbers);
}
