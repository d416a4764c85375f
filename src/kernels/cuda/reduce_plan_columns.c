/* Chooses how a reduction over columns runs on CUDA: vectors, blocks, and tiles of columns. */
#include "kernels/reduce_plan.h"

/* Threads of a block; more where a small accumulator leaves registers for them. Measured on an
 * H200. */
#define BLOCK 256
#define LARGE_BLOCK 512
#define SMALL_ACCUMULATOR 8 /* bytes */
#define UNROLL 4
#define WIDEST 32   /* the most vectors of neighbouring columns of a block, */
#define NARROWEST 8 /* and the fewest where narrow tiles save splitting the columns */

typedef ga__reduce_plan plan;

static int choose_lanes(const plan *p)
{
    size_t widest = 1;
    bool contiguous = false;
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE && p->v.operand[k].step == STEP_ONE) {
            const size_t size = ga__dtype_size(p->operands[k].array->dtype);
            widest = size > widest ? size : widest;
            contiguous = true;
        }
    const int lanes = (int)(GA__VECTOR_BYTES / widest);
    if (!contiguous || p->kept.shape[0] % lanes)
        return 1;
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        if (place == GA__NO_PLACE || p->v.operand[k].step == STEP_ZERO)
            continue;
        const gpuarray *x = p->operands[k].array;
        if (p->v.operand[k].step != STEP_ONE ||
            (uintptr_t)x->data % ((uintptr_t)lanes * ga__dtype_size(x->dtype)) ||
            !ga__nest_in_step(&p->kept, place, 1, lanes) ||
            !ga__nest_in_step(&p->reduced, place, 0, lanes))
            return 1;
    }
    return lanes;
}

/* Whether a block has many threads: each keeps little, and there is work for all. */
static bool wants_large_block(const plan *p)
{
    return p->streamed == 1 && p->v.accumulator_bytes <= SMALL_ACCUMULATOR && p->v.lanes <= 4 &&
           p->vectors * p->v.across >= LARGE_BLOCK * UNROLL;
}

/* Narrower tiles make more blocks: nearly two waves, or at least enough that no columns are split.
 * Measured on an H200: 1.3 % faster for 1 GiB in 16384 columns, without partial results. */
static int narrowed(const plan *p, int64_t target)
{
    const int64_t wanted[] = {3 * target / 2, target / 2 + 1};
    if (p->v.lanes == 1)
        return p->v.across;
    for (int k = 0; k < 2; k++)
        for (int across = p->v.across; across >= NARROWEST; across /= 2)
            if (ga__ceil_div(p->kept_vectors, across) >= wanted[k] &&
                p->vectors >= (int64_t)(p->v.block / across) * UNROLL)
                return across;
    return p->v.across;
}

/* Whether the one part adds up small integers as they are, in 64 bits. */
static bool adds_small_integers(const plan *p)
{
    const ga__reduction *r = p->reduction;
    const ga__part_formula *part = r->formula.parts[0];
    if (!r->formula.maps_nothing || !part->rounds || part->holds != GA__ACCUMULATOR_VALUE ||
        ga__dtype_rounds(r->type[0]) || ga__dtype_size(r->type[0]) != sizeof(int64_t))
        return false;
    const ga_dtype memory = p->operands[0].array->dtype;
    return !ga__dtype_rounds(memory) && ga__dtype_size(memory) <= sizeof(int16_t);
}

int64_t ga__reduce_plan_columns(plan *p)
{
    if (adds_small_integers(p))
        p->v.batch = GA__BATCH_NARROW;
    p->v.lanes = (uint8_t)choose_lanes(p);
    p->v.team = 1;
    p->vectors = p->count;
    p->kept_vectors = p->outputs / p->v.lanes;
    p->v.across = (uint8_t)ga__reduce_plan_power(p->kept_vectors, WIDEST);
    p->large = wants_large_block(p);
    p->v.block = p->large ? LARGE_BLOCK : BLOCK;
    const int64_t target = ga__reduce_plan_blocks(p);
    p->v.across = (uint8_t)narrowed(p, target);
    const int down = p->v.block / p->v.across;
    p->tiles = ga__ceil_div(p->kept_vectors, p->v.across);
    p->v.unroll = (uint8_t)ga__reduce_plan_power(ga__ceil_div(p->vectors, down), UNROLL);
    p->width = p->v.across * p->v.lanes;
    ga__reduce_plan_segments(p, target, ga__ceil_div(p->vectors, (int64_t)down * p->v.unroll));
    const int64_t ragged = ga__reduce_plan_ragged(p);
    return ragged ? ragged : down;
}
