/* What a reduction computes: a map and up to four parts. */
#ifndef GA_KERNELS_REDUCTION_H
#define GA_KERNELS_REDUCTION_H

#include "kernels/operand.h"

/* One launch of a reduction whose elements arrive in several launches, in order. The accumulators
 * of earlier launches wait in levels: a level has one for each output, and holds later elements
 * than the levels above it. */
typedef struct ga__carry {
    ga__buffer *levels;
    uint64_t merged; /* a bit for each level that this launch merges */
    int level;       /* the level that receives the result; GA__CARRY_DONE: it is finished */
    int64_t first;   /* the index of this launch's first element */
    int64_t count;   /* elements of all launches */
} ga__carry;
#define GA__CARRY_DONE (-1)

/* The most reductions that one pass over the operands computes. */
#define GA__MAX_PARTS 4

/* The texts of a reduction; the formula's id stands for all of them. */
typedef struct ga__reduce_formula {
    ga__formula base;  /* id, name, preamble, flags; its body is empty */
    const char *map;   /* from operands to the `x` of each part: ends in "return {x0, x1}" */
    bool maps_libm;    /* ga__calls_libm(map) */
    bool maps_nothing; /* its one part takes the one operand's elements as they are */
    bool maps_small;   /* its one part takes integers of at most two bytes, as wider ones */
    ga_dtype pairs;    /* of the map's values, if CUDA may compute two at a time; GA_NO_DTYPE */
    bool raw_result;   /* the one result is the accumulator's own bytes */
    int nparts, nresults;
    const ga__part_formula *parts[GA__MAX_PARTS];
    const char *results[GA__MAX_PARTS]; /* over `a`, all accumulators; ga_finish0(a) and so on
                                           finish one of them */
} ga__reduce_formula;

/* What is computed. */
typedef struct ga__reduction {
    ga__reduce_formula formula;
    ga_dtype type[GA__MAX_PARTS]; /* T, the type of each part's `x`; GA_NO_DTYPE: a struct's */
    double ddof[GA__MAX_PARTS];
    const ga__carry *carry; /* NULL: all elements are here. Otherwise the one `out` is contiguous */
} ga__reduction;

/* Bytes that the accumulators do not exceed together; the kernels assert it. */
size_t ga__accumulator_bytes(const ga__reduction *reduction);

/* Bytes that the part's accumulator does not exceed. */
size_t ga__part_bytes(const ga__part_formula *part, ga_dtype type);

/* Whether the part's steps round: its elements are added in short chains. */
static inline bool ga__part_rounds(const ga__part_formula *part, ga_dtype type)
{
    return part->rounds && (part->holds == GA__ACCUMULATOR_STRUCT || ga__dtype_rounds(type));
}

/* Whether the result is the greatest or the least element itself; and whether it is the index of
 * one. */
static inline bool ga__part_is_extreme(const ga__part_formula *part)
{
    return (part->greatest || part->least) && !part->uses_index;
}
static inline bool ga__part_is_indexed(const ga__part_formula *part)
{
    return (part->greatest || part->least) && part->uses_index;
}

#endif
