/* Chooses the dtypes an operation computes in, by NumPy's NEP 50 and the rules of the op tables. */
#include "model/promote.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/error.h"

/* ---- Pairs of dtypes ---- */

/* The order of kinds in promotion; 0 for none. */
static int kind_rank(ga_dtype dtype)
{
    switch (ga__dtype_kind(dtype)) {
    case 'b': return 1;
    case 'u':
    case 'i': return 2;
    case 'f': return 3;
    case 'c': return 4;
    default: return 0;
    }
}

/* The float an integer becomes by its size alone; other dtypes themselves. */
static ga_dtype float_of(ga_dtype dtype)
{
    return ga__dtype_row_of(dtype)->floating;
}

static ga_dtype promote_integers(ga_dtype a, ga_dtype b)
{
    const size_t size_a = ga__dtype_size(a), size_b = ga__dtype_size(b);

    if (ga__dtype_kind(a) == ga__dtype_kind(b))
        return size_a > size_b ? a : b;
    const size_t size_u = ga__dtype_kind(a) == 'u' ? size_a : size_b;
    const size_t size_i = ga__dtype_kind(a) == 'u' ? size_b : size_a;
    if (size_i > size_u)
        return ga__dtype_integer('i', size_i);
    return size_u < 8 ? ga__dtype_integer('i', 2 * size_u) : GA_FLOAT64;
}

/* Different floats meet in the larger of those they compute in: of two that are only stored, as
 * float16 and bfloat16, neither need hold the other's values. */
static ga_dtype promote_floats(ga_dtype a, ga_dtype b)
{
    const ga_dtype wide_a = ga__dtype_compute(a), wide_b = ga__dtype_compute(b);

    if (a == b)
        return a;
    return ga__dtype_size(wide_a) > ga__dtype_size(wide_b) ? wide_a : wide_b;
}

/* The real float of x beside a float or complex `other`: any float takes integers of 8 bits. */
static ga_dtype float_beside(ga_dtype x, ga_dtype other)
{
    if (ga__is_integral(x) && ga__dtype_size(x) == 1 && kind_rank(other) == 3)
        return other;
    return ga__dtype_real(float_of(x));
}

static ga_dtype promote(ga_dtype a, ga_dtype b)
{
    const int rank_a = kind_rank(a), rank_b = kind_rank(b);

    if (a == b)
        return a;
    if (rank_a == 0 || rank_b == 0) /* a struct */
        return GA_NO_DTYPE;
    if (rank_a == 1 || rank_b == 1)
        return rank_a == 1 ? b : a;
    if (rank_a == 2 && rank_b == 2)
        return promote_integers(a, b);
    const ga_dtype real = promote_floats(float_beside(a, b), float_beside(b, a));
    return rank_a == 4 || rank_b == 4 ? ga__dtype_complex(real) : real;
}

ga_dtype ga_result_type(ga_dtype a, ga_dtype b)
{
    if (ga__dtype_valid(a) && ga__dtype_valid(b)) {
        const ga_dtype common = promote(a, b);
        if (common == GA_NO_DTYPE)
            ga__fail(GA_ERR_DTYPE, "result_type: %s and %s have no common dtype", ga_dtype_name(a),
                     ga_dtype_name(b));
        return common;
    }
    ga__fail(GA_ERR_DTYPE, "result_type: %d is not a dtype", ga__dtype_valid(a) ? (int)b : (int)a);
    return GA_NO_DTYPE;
}

bool ga_can_cast(ga_dtype from, ga_dtype to)
{
    return ga__dtype_valid(from) && ga__dtype_valid(to) && promote(from, to) == to;
}

bool ga__can_cast_same_kind(ga_dtype from, ga_dtype to)
{
    if (!ga__dtype_valid(from) || !ga__dtype_valid(to))
        return false;
    if (ga__dtype_is_struct(from) || ga__dtype_is_struct(to))
        return from == to;
    if (kind_rank(from) == 2 && kind_rank(to) == 2)
        return ga__dtype_kind(from) == 'u' || ga__dtype_kind(to) == 'i';
    return kind_rank(from) <= kind_rank(to);
}

/* ---- Weak numbers ---- */

ga_dtype ga__weak_default(ga_value number)
{
    switch (ga__dtype_kind(number.dtype)) {
    case 'b': return GA_BOOL;
    case 'i': return GA_INT64;
    case 'u': return number.as.u <= INT64_MAX ? GA_INT64 : GA_UINT64;
    case 'f': return GA_FLOAT64;
    case 'c': return GA_COMPLEX128;
    default: return GA_NO_DTYPE;
    }
}

/* A strong dtype beside a weak number: raised to the number's kind and no further. */
static ga_dtype beside_weak(ga_dtype strong, ga_dtype number)
{
    if (kind_rank(strong) >= kind_rank(number))
        return strong;
    if (kind_rank(number) == 2)
        return GA_INT64;
    if (kind_rank(number) == 3)
        return GA_FLOAT64;
    return ga__dtype_complex(ga__is_integral(strong) ? GA_FLOAT64 : strong);
}

/* Two weak defaults: the higher kind; uint64 when one of two integers needs it. */
static ga_dtype higher_default(ga_dtype a, ga_dtype b)
{
    if (kind_rank(a) != kind_rank(b))
        return kind_rank(a) > kind_rank(b) ? a : b;
    return a == GA_UINT64 ? a : b;
}

/* NumPy's order of dtypes: by kind and size, floats of less than 32 bits last. */
static int order(ga_dtype dtype)
{
    const int size = (int)ga__dtype_size(dtype), rank = kind_rank(dtype);

    if (rank == 3 && size < 4)
        return 500 - size;
    return 100 * rank + 2 * size + (ga__dtype_kind(dtype) == 'u');
}

/* Pairs do not associate: int16 and uint16 meet in int32, which takes float32 to float64. As in
 * NumPy (PyArray_PromoteDTypeSequence), each dtype meets the last one in order, and then the
 * results meet. */
static ga_dtype promote_strong(int n, const ga__operand_type *operands)
{
    ga_dtype last = GA_NO_DTYPE;

    for (int k = 0; k < n; k++)
        if (!operands[k].weak && (!last || order(operands[k].dtype) > order(last)))
            last = operands[k].dtype;
    ga_dtype common = last;
    for (int k = 0; k < n; k++)
        if (!operands[k].weak)
            common = promote(common, promote(last, operands[k].dtype));
    return common;
}

static ga_dtype promote_all(int n, const ga__operand_type *operands)
{
    ga_dtype strong = GA_NO_DTYPE, weak = GA_NO_DTYPE;
    bool mixed = false;

    for (int k = 0; k < n; k++) {
        if (operands[k].weak) {
            weak = higher_default(weak, ga__weak_default(operands[k].number));
            continue;
        }
        mixed |= strong && strong != operands[k].dtype;
        strong = operands[k].dtype;
    }
    if (mixed)
        strong = promote_strong(n, operands);
    if (!weak)
        return strong;
    return strong ? beside_weak(strong, weak) : weak;
}

ga_value ga__clip_bound(const ga__operand_type *operands, bool upper)
{
    const ga__operand_type *number = &operands[upper ? 2 : 1], *other = &operands[upper ? 1 : 2];
    const ga_dtype clipped = operands[0].dtype;
    const bool meets = ga__dtype_valid(other->dtype) && !ga__dtype_is_struct(other->dtype);

    if (operands[0].weak || !number->weak || !ga__is_integral(clipped) ||
        !ga__is_integral(number->dtype) || !meets || !ga__is_at_end(number->number, clipped, upper))
        return number->number;
    const ga_dtype common = promote_all(2, (ga__operand_type[]){operands[0], *other});
    if (!ga__is_integral(common))
        return ga_value_double(upper ? (double)INFINITY : -(double)INFINITY);
    if (upper)
        return ga_value_unsigned(GA_UINT64, ga__greatest(common));
    return ga_value_signed(GA_INT64,
                           ga__dtype_kind(common) == 'i' ? ~(int64_t)ga__greatest(common) : 0);
}

/* ---- Rules ---- */

ga_status ga__check_numeric(const char *name, ga_dtype dtype)
{
    if (!ga__dtype_is_struct(dtype))
        return GA_OK;
    return ga__fail(GA_ERR_DTYPE, "%s: does not take %s", name, ga_dtype_name(dtype));
}

ga_status ga__check_converts(const char *name, ga_dtype from, ga_dtype to)
{
    if (from == to || (!ga__dtype_is_struct(from) && !ga__dtype_is_struct(to)))
        return GA_OK;
    return ga__fail(GA_ERR_DTYPE, "%s: %s does not convert to %s", name, ga_dtype_name(from),
                    ga_dtype_name(to));
}

static ga_status check_kind(const char *name, const char *kinds, ga_dtype dtype)
{
    const char kind = ga__dtype_kind(dtype);

    if (strchr(kinds, kind == 'b' ? '?' : kind))
        return GA_OK;
    return ga__fail(GA_ERR_DTYPE, "%s: does not take %s", name, ga_dtype_name(dtype));
}

/* Structs meet only themselves, where `kinds` takes them at all; no condition is one. */
static ga_status check_structs(const char *name, const char *kinds, ga__rule rule, int n,
                               const ga__operand_type *operands)
{
    const int first = rule == GA__RULE_WHERE;
    ga_dtype met = GA_NO_DTYPE;

    for (int k = n - 1; k >= 0; k--)
        met = ga__dtype_is_struct(operands[k].dtype) ? operands[k].dtype : met;
    if (!strchr(kinds, 'V') || (first && ga__dtype_is_struct(operands[0].dtype)))
        return ga__check_numeric(name, met);
    for (int k = first; k < n; k++)
        if (operands[k].weak || operands[k].dtype != met)
            return ga__fail(GA_ERR_DTYPE, "%s: %s and %s have no common dtype", name,
                            ga_dtype_name(met), ga_dtype_name(operands[k].dtype));
    return GA_OK;
}

static bool has_structs(int n, const ga__operand_type *operands)
{
    unsigned bits = 0; /* those from GA_FIRST_STRUCT on are of structs alone */

    for (int k = 0; k < n; k++)
        bits |= (unsigned)operands[k].dtype;
    return bits >= GA_FIRST_STRUCT;
}

/* Integers each by its own size, as NumPy finds the loop: int8 and uint8 meet in float16. */
static ga_dtype float_common(int n, const ga__operand_type *operands, ga_dtype promoted)
{
    ga_dtype common = GA_NO_DTYPE;

    if (!ga__is_integral(promoted))
        return promoted;
    for (int k = 0; k < n; k++) {
        const ga_dtype one = float_of(operands[k].weak ? promoted : operands[k].dtype);
        common = common ? promote(common, one) : one;
    }
    return common;
}

static ga_dtype sum_dtype(ga_dtype dtype)
{
    if (!ga__is_integral(dtype))
        return dtype;
    return ga__dtype_kind(dtype) == 'u' ? GA_UINT64 : GA_INT64;
}

static ga_dtype apply_rule(ga__rule rule, int n, const ga__operand_type *operands,
                           ga_dtype promoted)
{
    switch (rule) {
    case GA__RULE_FLOAT: return float_common(n, operands, promoted);
    case GA__RULE_DOUBLE:
    case GA__RULE_MEAN: return ga__is_integral(promoted) ? GA_FLOAT64 : promoted;
    case GA__RULE_WIDE: return kind_rank(promoted) == 4 ? GA_COMPLEX128 : GA_FLOAT64;
    case GA__RULE_INT8:
    case GA__RULE_POWER: return promoted == GA_BOOL ? GA_INT8 : promoted;
    case GA__RULE_SUM: return sum_dtype(promoted);
    case GA__RULE_SAME:
    case GA__RULE_COMPARE:
    case GA__RULE_LDEXP:
    case GA__RULE_WHERE: break;
    }
    return promoted;
}

static ga_status check_exponent(const char *name, const ga__operand_type *exponent, ga_dtype dtype)
{
    if (!exponent->weak || !ga__exponent_is_negative(exponent->number, dtype))
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "%s: %s to the power %" PRId64 " is no integer; use a float",
                    name, ga_dtype_name(dtype), exponent->number.as.i);
}

/* Every operand in one dtype. */
static ga_status resolve_together(const char *name, const char *kinds, ga__rule rule, int n,
                                  const ga__operand_type *operands, ga_dtype *loop,
                                  ga_dtype *common)
{
    const ga_dtype promoted = promote_all(n, operands);
    ga_status status = check_kind(name, kinds, promoted);

    if (status != GA_OK)
        return status;
    const ga_dtype chosen = apply_rule(rule, n, operands, promoted);
    for (int k = 0; k < n && status == GA_OK; k++)
        if (operands[k].weak)
            status = ga__check_integer(name, operands[k].number, chosen);
    if (status == GA_OK && rule == GA__RULE_POWER)
        status = check_exponent(name, &operands[n - 1], chosen);
    if (status != GA_OK)
        return status;
    for (int k = 0; k < n; k++)
        loop[k] = chosen;
    *common = chosen;
    return GA_OK;
}

static bool all_integers(int n, const ga__operand_type *operands)
{
    for (int k = 0; k < n; k++) {
        if (!ga__is_integral(operands[k].dtype))
            return false;
    }
    return true;
}

/* Integers are compared each in its own dtype, exactly; a weak one that does not fit the others' in
 * the 64 bits that hold it. */
static ga_status resolve_compare(const char *name, const char *kinds, int n,
                                 const ga__operand_type *operands, ga_dtype *loop, ga_dtype *common)
{
    if (!all_integers(n, operands))
        return resolve_together(name, kinds, GA__RULE_SAME, n, operands, loop, common);
    const ga_dtype promoted = promote_all(n, operands);
    const ga_status status = check_kind(name, kinds, promoted);
    if (status != GA_OK)
        return status;
    for (int k = 0; k < n; k++) {
        const ga_value number = operands[k].number;
        if (!operands[k].weak)
            loop[k] = operands[k].dtype;
        else
            loop[k] = ga__is_integral(promoted) && ga__number_fits(number, promoted)
                          ? promoted
                          : ga__weak_default(number);
    }
    *common = promoted;
    return GA_OK;
}

static ga_status resolve_ldexp(const char *name, const char *kinds,
                               const ga__operand_type *operands, ga_dtype *loop, ga_dtype *common)
{
    ga_dtype first;
    ga_status status = resolve_together(name, kinds, GA__RULE_FLOAT, 1, operands, &first, &first);

    if (status == GA_OK)
        status = check_kind(name, "?iu", operands[1].dtype);
    if (status == GA_OK && operands[1].weak)
        status = ga__check_integer(name, operands[1].number, GA_INT64);
    if (status != GA_OK)
        return status;
    loop[0] = first;
    loop[1] = GA_INT64;
    *common = first;
    return GA_OK;
}

ga_status ga__resolve(const char *name, const char *kinds, ga__rule rule, int n,
                      const ga__operand_type *operands, ga_dtype *loop, ga_dtype *common)
{
    ga_status status = GA_OK;

    assert(n > 0);
    if (has_structs(n, operands))
        status = check_structs(name, kinds, rule, n, operands);
    if (status != GA_OK)
        return status;
    if (rule == GA__RULE_COMPARE)
        return resolve_compare(name, kinds, n, operands, loop, common);
    if (rule == GA__RULE_LDEXP)
        return resolve_ldexp(name, kinds, operands, loop, common);
    if (rule != GA__RULE_WHERE)
        return resolve_together(name, kinds, rule, n, operands, loop, common);
    status = resolve_together(name, kinds, GA__RULE_SAME, n - 1, operands + 1, loop + 1, common);
    if (status == GA_OK)
        loop[0] = GA_BOOL;
    return status;
}

ga_dtype ga__result_dtype(ga__result_kind result, ga_dtype common)
{
    switch (result) {
    case GA__RESULT_BOOL: return GA_BOOL;
    case GA__RESULT_REAL: return ga__dtype_real(common);
    case GA__RESULT_INDEX: return GA_INT64;
    case GA__RESULT_INT32: return GA_INT32;
    case GA__RESULT_UINT8: return GA_UINT8;
    case GA__RESULT_SAME: break;
    }
    return common;
}
