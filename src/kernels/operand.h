/* The operands of a kernel, as the engines get them. */
#ifndef GA_KERNELS_OPERAND_H
#define GA_KERNELS_OPERAND_H

#include "array/array.h"
#include "model/formula.h"
#include "model/promote.h"

/* How a name stands for an operand in the body. */
typedef enum ga__access {
    GA__VALUE,     /* `a` is the element */
    GA__ELEMENT,   /* `a[i]` is the element */
    GA__ACCESSOR,  /* `a[k]` is any element k in C order; the engine neither loads nor stores */
    GA__PLACED,    /* `a[k]` is the element k elements away from the one at this place, which the
                    * engine neither loads nor stores; `a` is a pointer */
    GA__COORDINATE /* `a` is the place itself: the sum of coordinates times the strides of `array`,
                    * a layout of bytes without memory */
} ga__access;

typedef struct ga__operand {
    const char *name;      /* in the body */
    const gpuarray *array; /* NULL: the number */
    ga_value number;
    ga_dtype
        type; /* the dtype whose compute type the name has (arrays: converted on load and store) */
    ga__access access;
    int64_t line; /* PLACED: the elements that the body reads from this place on; 0: unknown */
    /* PLACED: the body reads one element of one such operand, or takes a number: from each result
     * to the next along axis 0, it moves on by at most one element, or goes to another operand and
     * takes at least a vector of it. These bytes include all elements that it may read; NULL:
     * unknown. */
    const char *low, *high;
    bool reads, writes;
    bool is_const; /* declared const by the user: never written */
    bool named;    /* of a struct: the text has its name and definition */
} ga__operand;

#endif
