/* NEP 50: the dtypes an operation computes in and returns. */
#ifndef GA_MODEL_PROMOTE_H
#define GA_MODEL_PROMOTE_H

#include "model/dtype.h"
#include "model/numbers.h"

/* The rules named in the .def tables. */
typedef enum ga__rule {
    GA__RULE_SAME,
    GA__RULE_FLOAT,
    GA__RULE_DOUBLE,
    GA__RULE_WIDE,
    GA__RULE_INT8,
    GA__RULE_POWER,
    GA__RULE_COMPARE,
    GA__RULE_LDEXP,
    GA__RULE_WHERE,
    GA__RULE_SUM,
    GA__RULE_MEAN
} ga__rule;

typedef enum ga__result_kind {
    GA__RESULT_SAME,
    GA__RESULT_BOOL,
    GA__RESULT_REAL,
    GA__RESULT_INDEX,
    GA__RESULT_INT32,
    GA__RESULT_UINT8
} ga__result_kind;

/* How an operation sees one operand: an array's dtype, or a weak number. */
typedef struct ga__operand_type {
    ga_dtype dtype; /* of the array, or the C type of the number */
    bool weak;
    ga_value number; /* when weak */
} ga__operand_type;

/* From n operands of operation `name` to the dtype each is converted to (loop[0..n-1]) and the
 * dtype of the computation (*common). GA_ERR_DTYPE when `kinds` lacks a kind; GA_ERR_INVALID when a
 * weak integer does not fit the dtype it takes ("add: 300 does not fit uint8"), or is a negative
 * exponent of integers. */
ga_status ga__resolve(const char *name, const char *kinds, ga__rule rule, int n,
                      const ga__operand_type *operands, ga_dtype *loop, ga_dtype *common);

/* The result's dtype from the computation's. */
ga_dtype ga__result_dtype(ga__result_kind result, ga_dtype common);

/* A bound of clip(x, lower, upper), the three operands: an integer that is the first or last of the
 * clipped dtype's, or beyond, bounds nothing, as in NumPy. The end of the dtype in which the
 * clipped array and the other bound meet replaces it, an infinity if that is no integer. Other
 * bounds stay as they are. */
ga_value ga__clip_bound(const ga__operand_type *operands, bool upper);

/* numpy.can_cast(from, to, "same_kind"). */
bool ga__can_cast_same_kind(ga_dtype from, ga_dtype to);

/* The dtype a weak number has when nothing stronger meets it: bool, int64 (uint64), float64,
 * complex128. */
ga_dtype ga__weak_default(ga_value number);

/* Raises GA_ERR_DTYPE if elements of one dtype do not become those of the other: a struct becomes
 * only itself. */
ga_status ga__check_converts(const char *name, ga_dtype from, ga_dtype to);

/* Raises GA_ERR_DTYPE if the dtype is a struct, for functions that have no row. */
ga_status ga__check_numeric(const char *name, ga_dtype dtype);

#endif
