/* The elementwise engine: one expression over any operands, as one kernel. */
#ifndef GA_KERNELS_ELEMENTWISE_H
#define GA_KERNELS_ELEMENTWISE_H

#include "array/array.h"
#include "base/strbuf.h"
#include "model/formula.h"
#include "model/promote.h"

/* How a name stands for an operand in the body. */
typedef enum ga__access {
    GA__VALUE,   /* `a` is the element */
    GA__ELEMENT, /* `a[i]` is the element */
    GA__ACCESSOR /* `a[k]` is any element k in C order; the engine neither loads nor stores */
} ga__access;

typedef struct ga__operand {
    const char *name;      /* in the body */
    const gpuarray *array; /* NULL: the number */
    ga_value number;
    ga_dtype
        type; /* the dtype whose compute type the name has (arrays: converted on load and store) */
    ga__access access;
    bool reads, writes;
    bool is_const; /* declared const by the user: never written */
} ga__operand;

/* Describes a formula piece by piece: each piece carries its length, so that no two lists of pieces
 * read the same. NULL is an empty piece. */
void ga__describe(ga__strbuf *description, const char *piece);

/* Writes the id that stands for a description. GA_ERR_MEMORY when a piece was lost. */
ga_status ga__description_id(const ga__strbuf *description, ga__hash128 *id);

/* Runs the formula over `shape` on `device`: arrays of access VALUE and ELEMENT broadcast to it
 * (written ones have exactly it). Writable, overlap and dtype checks are the caller's; see
 * ga__elementwise_into. */
ga_status ga__elementwise(const ga__formula *formula, ga__device *device, int ndim,
                          const int64_t *shape, int noperands, const ga__operand *operands);

#endif
