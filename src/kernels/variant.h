/* What the text of a kernel may depend on beside its formula: no address, no size. */
#ifndef GA_KERNELS_VARIANT_H
#define GA_KERNELS_VARIANT_H

#include "kernels/operand.h"

/* How the formula declares an operand; its id stands for all of them. */
typedef struct ga__declaration {
    const char *name;
    ga__access access;
    bool reads, writes, is_const;
} ga__declaration;

/* What one operand of a call adds to the variant. */
typedef struct ga__operand_variant {
    uint32_t type : 8;       /* the dtype whose compute type the name has */
    uint32_t memory : 8;     /* the array's dtype; GA_NO_DTYPE: a number */
    uint32_t step : 2;       /* STEP_ZERO, STEP_ONE or STEP_ANY along its vector axis */
    uint32_t transposed : 1; /* whether it passes through tiles */
    uint32_t contiguous : 1; /* of an accessor, */
    uint32_t ndim : 6;       /* and its axes */
    uint32_t : 6;
} ga__operand_variant;
_Static_assert(sizeof(ga__operand_variant) == 4, "two operands are one word of the key");

/* The kernel of an elementwise call, but its operands. */
typedef struct ga__elementwise_head {
    uint64_t ndim : 6, lanes : 6, unroll : 6, tile : 9, block : 11;
    uint64_t index_step : 2; /* of the element's index, if the formula uses it */
    uint64_t host : 1, wide : 1, tiled : 1, tail : 1, fast_path : 1, past_cache : 1;
    uint64_t pads : 1; /* on the host: elements that are not there may be computed too */
    uint64_t noperands : 6;
    uint64_t : 11;
} ga__elementwise_head;
_Static_assert(sizeof(ga__elementwise_head) == 8, "the head is one word of the key");

/* The kernel of an elementwise call: its words are the key, after the formula's id and the device.
 * With an odd number of operands one more is zero. */
typedef struct ga__elementwise_variant {
    ga__elementwise_head head;
    ga__operand_variant operand[GA__MAX_OPERANDS];
} ga__elementwise_variant;

static inline ga__declaration ga__declaration_of(const ga__operand *operand)
{
    return (ga__declaration){.name = operand->name,
                             .access = operand->access,
                             .reads = operand->reads,
                             .writes = operand->writes,
                             .is_const = operand->is_const};
}

/* Sets what the operand alone decides; `step` and `transposed` are of a streamed array. */
static inline ga__operand_variant ga__operand_variant_of(const ga__operand *operand, int step,
                                                         bool transposed)
{
    const gpuarray *x = operand->array;
    const uint8_t type = (uint8_t)operand->type;
    if (!x)
        return (ga__operand_variant){.type = type, .memory = GA_NO_DTYPE};
    if (operand->access == GA__ACCESSOR)
        return (ga__operand_variant){.type = type,
                                     .memory = (uint8_t)x->dtype,
                                     .contiguous = x->contiguous,
                                     .ndim = (uint32_t)x->ndim & 63};
    return (ga__operand_variant){.type = type,
                                 .memory = (uint8_t)x->dtype,
                                 .step = (uint32_t)step & 3,
                                 .transposed = transposed};
}

/* Whether the engine loads or stores the operand, element by element. */
static inline bool ga__variant_streamed(const ga__declaration *d, const ga__operand_variant *v)
{
    return v->memory != GA_NO_DTYPE && d->access != GA__ACCESSOR;
}

#endif
