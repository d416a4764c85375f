/* The tables of operations as data: one row each, one numbering. */
#ifndef GA_MODEL_ROWS_H
#define GA_MODEL_ROWS_H

#include "model/formula.h"
#include "model/promote.h"

/* The operations that a name in an expression may mean, then the others. */
typedef enum ga__row_id {
#define GA_UNARY(name, ...) GA__ROW_##name,
#define GA_BINARY(name, ...) GA__ROW_##name,
#define GA_TERNARY(name, ...) GA__ROW_##name,
#define GA_REDUCE(name, ...) GA__ROW_##name,
#define GA_SCAN(name, ...) GA__ROW_##name,
#define GA_SPLIT(name, ...) GA__ROW_##name,
#include <quarry/binary.def>
#include <quarry/reduce.def>
#include <quarry/scan.def>
#include <quarry/ternary.def>
#include <quarry/unary.def>
    GA__ROW_COUNT,
    GA__ROW_BEFORE_SPLIT = GA__ROW_COUNT - 1,
#include <quarry/split.def>
    GA__ROW_divmod,
    GA__ROW_dot,
    GA__ROW_END
#undef GA_UNARY
#undef GA_BINARY
#undef GA_TERNARY
#undef GA_REDUCE
#undef GA_SCAN
#undef GA_SPLIT
} ga__row_id;

/* A row of a .def table. */
typedef struct ga__row {
    ga__formula formula; /* sets `r` (and `s` in split rows) from `a`, `b`, `c`; of a reduction its
                            id and name alone */
    const char *kinds;
    ga__rule rule;
    ga__result_kind result; /* of `r`; of `s` in split rows, whose `r` has the computed dtype */
    int inputs;
    const char *expression; /* over `a`, `b`, `c`; NULL: a reduction or a split row */
    /* Of reductions; `part.accumulator` is NULL for others. */
    bool empty_is_error;
    ga__part_formula part;
    ga__scan_texts scan; /* of scans; `accumulator` is NULL for others */
} ga__row;

extern const ga__row ga__rows[GA__ROW_END];

/* Whether the row is a scan. */
static inline bool ga__row_scans(int row)
{
    return ga__rows[row].scan.accumulator != NULL;
}

/* The row that an expression names so, or by NumPy's other name for it ("abs"); GA__ROW_COUNT:
 * there is none. */
ga__row_id ga__row_find(const char *name, size_t length);

/* The names that ga__row_find() knows, from k = 0 on; NULL after the last. */
const char *ga__row_name(int k);

#endif
