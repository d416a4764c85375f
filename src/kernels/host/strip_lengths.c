/* Chooses the lengths of the host's strips and groups: the arrays of all operands fit the stack. */
#include "kernels/elementwise_text.h"

ga__host_lengths ga__host_choose_lengths(const ga__declaration *d, const ga__elementwise_variant *v,
                                         int most_of_group)
{
    size_t grouped = 0, stripped = 0; /* bytes of an element */
    for (int k = 0; k < (int)v->head.noperands; k++) {
        const ga__operand_variant *o = &v->operand[k];
        if (!o->streamed || o->placed)
            continue;
        const size_t size = ga__dtype_size((ga_dtype)o->memory);
        grouped += size + (ga__elementwise_is_small(v, o) ? sizeof(float) : 0);
        stripped += v->head.past_cache && d[k].writes ? size : 0;
    }
    ga__host_lengths l = {GA__HOST_STRIP, most_of_group};
    while (l.strip > GA__HOST_LEAST_GROUP &&
           (size_t)l.strip * stripped + (size_t)l.group * grouped > GA__HOST_ARRAYS) {
        l.strip /= 2;
        l.group = l.group < l.strip ? l.group : l.strip;
    }
    return l;
}
