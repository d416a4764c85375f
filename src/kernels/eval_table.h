/* The tables of operations as data: what an expression may call, by name. */
#ifndef GA_KERNELS_EVAL_TABLE_H
#define GA_KERNELS_EVAL_TABLE_H

#include "kernels/reduction.h"

typedef enum ga__row_id {
#define GA_UNARY(name, ...) GA__ROW_##name,
#define GA_BINARY(name, ...) GA__ROW_##name,
#define GA_TERNARY(name, ...) GA__ROW_##name,
#define GA_REDUCE(name, ...) GA__ROW_##name,
#include <quarry/binary.def>
#include <quarry/reduce.def>
#include <quarry/ternary.def>
#include <quarry/unary.def>
#undef GA_UNARY
#undef GA_BINARY
#undef GA_TERNARY
#undef GA_REDUCE
    GA__ROW_COUNT
} ga__row_id;

typedef struct ga__row {
    const char *name, *kinds;
    ga__rule rule;
    ga__result_kind result;
    int inputs;
    const char *expression;         /* over `a`, `b`, `c`; NULL: a reduction */
    const ga__reduce_op *reduction; /* of a reduction */
} ga__row;

extern const ga__row ga__rows[GA__ROW_COUNT];

/* The row of that name or of NumPy's other names for it ("abs"); GA__ROW_COUNT: there is none. */
ga__row_id ga__row_find(const char *name, size_t length);

/* The dtype of that name; GA_NO_DTYPE: there is none. */
ga_dtype ga__dtype_named(const char *name, size_t length);

#endif
