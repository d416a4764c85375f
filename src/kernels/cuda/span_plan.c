/* Plans vectors of results whose elements the body takes from neighbouring places, on CUDA. */
#include "kernels/elementwise_plan.h"

#define BLOCK 128
#define UNROLL_OF_BYTES 2 /* vectors of a thread; of larger elements one: measured on an H200 */
#define SHORTEST 2048     /* bytes of the rows of results; the ends of shorter ones cost more */

typedef ga__elementwise_plan plan;

/* One of the operands whose elements move, if all have one dtype and other operands only say where
 * the elements are. */
static const ga__operand *moved_operand(const plan *p)
{
    const ga__operand *moved = NULL;
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand *operand = &p->operands[k];
        if (!operand->array || operand->access == GA__COORDINATE || operand->writes)
            continue;
        if (operand->access != GA__PLACED || !operand->high ||
            (moved && moved->array->dtype != operand->array->dtype))
            return NULL;
        moved = operand;
    }
    return moved;
}

/* The one result, if it has no gaps and its vectors are aligned. */
static const ga__operand *dense_result(const plan *p)
{
    const ga__operand *result = NULL;
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand *operand = &p->operands[k];
        if (!operand->writes)
            continue;
        if (result || operand->access != GA__VALUE || operand->reads ||
            (uintptr_t)operand->array->data % GA__VECTOR_BYTES != 0)
            return NULL;
        int64_t stride = 1;
        for (int axis = 0; axis < p->nest.ndim; axis++) {
            if (p->nest.strides[p->place[k]][axis] != stride)
                return NULL;
            stride *= p->nest.shape[axis];
        }
        result = operand;
    }
    return result;
}

bool ga__elementwise_spans(plan *p)
{
    const ga__operand *moved = moved_operand(p), *result = moved ? dense_result(p) : NULL;
    if (!result || p->odd || moved->array->dtype != result->array->dtype)
        return false;
    const int64_t size = (int64_t)ga__dtype_size(result->array->dtype);
    if (size >= GA__VECTOR_BYTES || p->nest.shape[0] * size < SHORTEST)
        return false;
    p->head.spans = true;
    p->head.lanes = (int)(GA__VECTOR_BYTES / size);
    p->head.unroll = size == 1 ? UNROLL_OF_BYTES : 1;
    p->vectors = ga__ceil_div(p->n, p->head.lanes);
    p->grid = ga__ceil_div(p->vectors, (int64_t)BLOCK * p->head.unroll);
    return true;
}
