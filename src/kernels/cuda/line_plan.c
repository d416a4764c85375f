/* Chooses lines of an elementwise call on CUDA: what a line of results takes from anywhere in a
 * line of an operand passes through shared memory. */
#include "kernels/elementwise_plan.h"

#define LEAST_SHARED (48 << 10)
#define LEAST_LINE (2 << 10) /* bytes; a multiprocessor's cache holds shorter lines */
#define SECTOR 32            /* bytes that the memory delivers for an element */
#define EDGES (2 * 128)      /* bytes of a stage before and behind a line (stage.cuda) */
#define BLOCK 512
#define BIG_BLOCK 1024 /* where the lines of two blocks do not fit a multiprocessor */

typedef ga__elementwise_plan plan;

/* The operand that the body reads by lines, if there is one only and its line stays the same along
 * axis 0; else NULL. */
static const ga__operand *find_line(const plan *p)
{
    const ga__operand *found = NULL;
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand *operand = &p->operands[k];
        if (operand->line == 0)
            continue;
        if (found || operand->writes || p->nest.strides[p->place[k]][0] != 0)
            return NULL;
        found = operand;
    }
    return found;
}

bool ga__elementwise_lines(plan *p)
{
    const ga__operand *line = find_line(p);
    if (!line || p->odd)
        return false;
    const int64_t length = p->nest.shape[0], lines = p->n / length;
    const size_t most = p->device->shared_bytes > 0 ? p->device->shared_bytes : LEAST_SHARED;
    const size_t size = ga__dtype_size(line->array->dtype);
    if ((size_t)line->line > (most - EDGES) / size || lines < p->device->processors ||
        lines > INT32_MAX)
        return false;
    const size_t bytes = (size_t)line->line * size;
    if (bytes < LEAST_LINE || length < GA__LINE_LENGTH || (size_t)length < 2 * bytes / SECTOR)
        return false;
    p->line = line;
    p->shared = bytes + EDGES;
    p->head.lanes = 1;
    p->head.unroll = 4;
    p->head.block = 2 * p->shared > most ? BIG_BLOCK : BLOCK;
    p->vectors = length;
    p->chunk = line->line;
    p->grid = lines;
    return true;
}
