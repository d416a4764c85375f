/* What a reduction computes: a map and up to four parts. */
#ifndef GA_KERNELS_REDUCTION_H
#define GA_KERNELS_REDUCTION_H

#include "kernels/operand.h"

/* The part of one launch in a reduction whose elements come in several, one after another. The
 * accumulators of launches before wait in levels: a level has one for each output, and holds later
 * elements than the levels above it. */
typedef struct ga__carry {
    ga__buffer *levels;
    uint64_t merged; /* a bit for each level that this launch takes in */
    int level;       /* where its accumulators go then; GA__CARRY_DONE: they are finished */
    int64_t first;   /* the number, in C order, of this launch's first element */
    int64_t count;   /* elements of all launches */
} ga__carry;
#define GA__CARRY_DONE (-1)

/* How many reductions one pass over the operands makes at most. */
#define GA__MAX_PARTS 4

/* One of the reductions of a pass; texts as in reduce.def. */
typedef struct ga__reduce_part {
    const char *accumulator; /* type A; its size is the template's to know */
    const char *neutral;
    const char *step;    /* over `a`, `x` and `i`; a user's: over the operands' names and `i` */
    const char *combine; /* over `a` and `b` */
    const char *finish;  /* over `a`, `count`, `ddof`; NULL for a user's */
    ga_dtype type;       /* T, the type of `x` */
    bool short_circuits; /* a truth value: a few elements may give the result */
    bool rounds;         /* each step rounds: elements are taken in short chains */
    double ddof;
} ga__reduce_part;

/* An output: dtype GA_NO_DTYPE has the accumulator's own bytes. */
typedef struct ga__reduce_result {
    const char *finish; /* over `a`, all accumulators, which ga_finish0(a) and so on finish */
    ga_dtype dtype;
} ga__reduce_result;

/* What is computed. With several parts or results the formula's id stands for their types too. */
typedef struct ga__reduction {
    ga__formula formula;      /* id, name, preamble, flags; its body is not used */
    const char *map;          /* from operands to the `x` of each part: ends in "return {x0, x1}" */
    bool maps_math;           /* the map calls functions that libm has: ga__program_calls_math() */
    bool maps_nothing;        /* its one part takes the one operand's elements as they are */
    size_t accumulator_bytes; /* at least what the accumulators take together */
    int nparts, nresults;
    ga__reduce_part parts[GA__MAX_PARTS];
    ga__reduce_result results[GA__MAX_PARTS];
    const ga__carry *carry; /* NULL: the elements are all here. Else the one `out` is contiguous */
} ga__reduction;

#endif
