/* What a kernel computes, as texts. */
#ifndef GA_MODEL_FORMULA_H
#define GA_MODEL_FORMULA_H

#include <stdbool.h>

#include <quarry/error.h>

#include "base/hash.h"
#include "base/strbuf.h"

/* What is computed. All texts are C++ of the templates' language. */
typedef struct ga__formula {
    ga__hash128 id;   /* with the operands' types, all that the texts depend on */
    const char *name; /* for messages and the kernel's name */
    const char *body; /* statements over the operands' names, `i` and `n` */
    const char *preamble, *loop_prep, *after_loop; /* NULL or user text */
    bool uses_index;                               /* the body names `i` other than as [i] */
    bool uses_complex; /* some operand is complex, or the user's text may be */
    bool fast_math;
    bool copies;     /* the body is `r = a` */
    bool moves;      /* it only moves elements, mostly of neighbouring places */
    bool heavy;      /* an element takes long: on the host each is a block of its own */
    bool ordered;    /* on the host one processor takes the elements, along each axis in order */
    bool fast_path;  /* ga__fast_path_pays(body) */
    bool user_text;  /* texts come from a user: mark their lines */
    bool cuda_words; /* they use CUDA's vocabulary */
} ga__formula;

/* What an accumulator holds, and so how many bytes it takes at most; T is the type computed in. */
typedef enum ga__accumulator {
    GA__ACCUMULATOR_VALUE,   /* a T */
    GA__ACCUMULATOR_FLAG,    /* a truth value, which takes no more than a T */
    GA__ACCUMULATOR_COUNT,   /* 8 bytes */
    GA__ACCUMULATOR_COUNTED, /* at most two T and a count */
    GA__ACCUMULATOR_STRUCT   /* a user's struct */
} ga__accumulator;

/* One reduction of a pass over the elements. Texts as in reduce.def. */
typedef struct ga__part_formula {
    const char *accumulator; /* type A */
    const char *neutral;
    const char *step;    /* over `a`, `x` and `i`; a user's: over the operands' names and `i` */
    const char *combine; /* over `a` and `b` */
    const char *finish;  /* over `a`, `count`, `ddof`; NULL for a user's */
    ga__accumulator holds;
    size_t struct_bytes; /* of a user's struct */
    bool short_circuits; /* a few elements may decide the result */
    bool rounds;         /* with floats each step rounds: they are added in short chains */
    bool uses_index;     /* the step depends on `i` */
    bool greatest; /* the result is the greatest element, or with uses_index the first index of it;
                      NaN is greater than all numbers */
    bool least;    /* the same of the least element; NaN is less than all numbers */
} ga__part_formula;

/* The accumulator of a scan. Texts as in scan.def. */
typedef struct ga__scan_texts {
    const char *accumulator; /* type A */
    const char *neutral, *lift, *combine, *finish;
    int values; /* the most T that it holds */
    bool sums;  /* combine adds accumulators, of one T each */
} ga__scan_texts;

/* Formulas written in C whose numbers are computed, or chosen in one folder: the numbers below 2^32
 * of a family are its own. */
typedef enum ga__family {
    GA__SINGLE, /* each number stands in one place: check-style.sh looks */
    GA__FAMILY_ROWS,
    GA__FAMILY_BINS,
    GA__FAMILY_RUNS,
    GA__FAMILY_MODE,
    GA__FAMILY_BOUNDED,
    GA__FAMILY_MASKED,
    GA__FAMILY_SEGMENTS,
    GA__FAMILY_CONCATENATE,
    GA__FAMILY_INTERLEAVE,
    GA__FAMILY_ROLL,
    GA__FAMILY_TILE,
    GA__FAMILY_PAD,
    GA__FAMILY_INDEX,
    GA__FAMILY_CHOOSE,
    GA__FAMILY_SELECT,
    GA__FAMILY_EINSUM,
    GA__FAMILY_DRAW,
    GA__FAMILY_DRAW_EACH
} ga__family;

/* Their ids. No text has an id below 2^64. */
#define GA__FAMILY_ID(family, n)                                                                   \
    {                                                                                              \
        0, ((uint64_t)(family) << 32) + (n)                                                        \
    }
#define GA__FORMULA_ID(n) GA__FAMILY_ID(GA__SINGLE, n)

/* Describes a formula piece by piece: each piece carries its length, so that no two lists of pieces
 * read the same. NULL is an empty piece. */
void ga__describe(ga__strbuf *description, const char *piece);

/* Writes the id that stands for a description. GA_ERR_MEMORY when a piece was lost. */
ga_status ga__description_id(const ga__strbuf *description, ga__hash128 *id);

#endif
