/* Orders the blocks of an elementwise call on CUDA whose rows all read the same long row. */
#include "kernels/elementwise_plan.h"

typedef ga__elementwise_plan plan;

bool ga__elementwise_reads_again(const plan *p)
{
    const ga__nest *nest = &p->nest;
    size_t row = 0;
    bool again = false;
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        if (place == GA__NO_PLACE || nest->strides[place][0] == 0)
            continue;
        row += (size_t)nest->shape[0] * ga__dtype_size(p->operands[k].array->dtype);
        again |= !p->operands[k].writes && nest->strides[place][1] == 0;
    }
    return again && row > p->device->cache_bytes / 2;
}

void ga__elementwise_take_turns(plan *p)
{
    const int64_t rows = p->n / p->nest.shape[0], chunk = ga__ceil_div(p->grid, rows),
                  vectors = chunk * rows * p->head.block * p->head.unroll;
    if (p->grid <= rows || !ga__elementwise_reads_again(p))
        return;
    if (!p->head.wide && !ga__fits_32_bits(vectors))
        return; /* blocks past the end would count beyond an int */
    p->chunk = chunk;
    p->grid = chunk * rows;
}
