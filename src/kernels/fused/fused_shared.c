/* Lays out the shared memory of fused rows on CUDA. */
#include "kernels/fused/fused_plan.h"

#include <string.h>

#define SHARED_BYTES ((size_t)48 << 10) /* that every device has, */
#define PART_SHARED_BYTES 2048          /* and those that combining one part's results takes */

typedef ga__fused_plan plan;

bool ga__fused_has_own_rows(const plan *p, int k)
{
    bool own = false;
    for (int axis = 0; axis < p->kept.ndim; axis++)
        own |= p->kept.strides[k][axis] != 0;
    return own || p->rows == 1;
}

static size_t whole_vectors(size_t nbytes)
{
    return (nbytes + GA__VECTOR_BYTES - 1) / GA__VECTOR_BYTES * GA__VECTOR_BYTES;
}

/* Bytes of a stretch that begins anywhere in its first line, as ga::stage_room<0>. */
static size_t room(int64_t elements, size_t size)
{
    return whole_vectors((size_t)elements * size + GA__LINE_BYTES - 1);
}

/* Elements of the block's rows of an operand, and of what lies between them. Threads read groups of
 * short rows whether or not there are as many. */
static int64_t stretch_of(const plan *p, int k)
{
    if (ga__fused_has_whole_rows(&p->v))
        return p->rows_of_block * p->length;
    const int64_t rows = p->rows_of_block < p->rows ? p->rows_of_block : p->rows;
    return rows > 1 ? (rows - 1) * p->kept.strides[k][0] + p->length : p->part;
}

static size_t take(plan *p, size_t nbytes)
{
    const size_t at = p->shared;
    p->shared += nbytes;
    return at;
}

/* A kept value takes the place of an operand of its size that no later pass reads, unless the pass
 * that makes it reads the operand several times. */
static int place_of_kept(const plan *p, int q)
{
    const ga__fused_formula *f = p->call->formula;
    const int s = f->kept[q].stage;
    if (f->stages[s].nparts > 1 || f->stages[s].parts[0]->holds == GA__ACCUMULATOR_COUNTED)
        return GA__OWN_PLACE;
    uint64_t read = 0;
    for (int pass = s + 1; pass <= f->nstages; pass++)
        read |= f->reads[pass];
    for (int k = 1; k < p->call->noperands; k++) {
        bool taken = false;
        for (int other = 0; other < q; other++)
            taken |= p->v.kept_place[other] == k;
        if (!taken && p->v.staged >> k & 1 && !(read >> k & 1) &&
            ga__fused_size(p, k) == ga__dtype_size(f->kept[q].type))
            return k;
    }
    return GA__OWN_PLACE;
}

void ga__fused_place(plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    p->shared = 0;
    for (int k = 1; k < p->call->noperands; k++)
        if (p->v.staged >> k & 1)
            p->place[k] = take(p, room(stretch_of(p, k), ga__fused_size(p, k)));
    const int64_t more = GA__LINE_BYTES / GA__VECTOR_BYTES * p->v.lanes + p->v.lanes;
    for (int k = 1; k < p->call->noperands; k++)
        if (ga__fused_is_staged_once(f, &p->v, k))
            p->place[k] = take(p, room(p->part + more, ga__fused_size(p, k)));
    p->place[0] = 0;
    const int64_t elements = p->rows_of_block * p->part;
    const size_t result = p->v.gathers ? room(elements, ga__fused_size(p, 0)) : 0;
    p->shared = result > p->shared ? result : p->shared;
    for (int q = 0; q < f->nkept && !p->v.registers; q++) {
        p->v.kept_place[q] = (uint8_t)place_of_kept(p, q);
        if (p->v.kept_place[q] == GA__OWN_PLACE)
            p->kept_at[q] = take(p, room(elements, ga__dtype_size(f->kept[q].type)));
    }
}

/* Bytes that the threads of a block's columns exchange at once: one accumulator for each column of
 * each warp. */
static size_t meeting_bytes(const plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    const size_t across = (size_t)p->rows_of_block, block = p->v.block,
                 count = across < GA__WARP ? block / GA__WARP * across : block;
    size_t widest = 0;
    for (int s = 0; s < f->nstages; s++)
        for (int k = 0; k < f->stages[s].nparts; k++) {
            const size_t size = ga__part_bytes(f->stages[s].parts[k], f->stages[s].type[k]);
            widest = size > widest ? size : widest;
        }
    return p->v.team > 1 ? whole_vectors(count * widest) : 0;
}

/* The elements of a thread lie a block apart. */
void ga__fused_place_columns(plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    const size_t elements = (size_t)p->v.block * (size_t)p->part;
    memset(p->v.kept_place, GA__OWN_PLACE, sizeof p->v.kept_place);
    p->meeting = meeting_bytes(p);
    p->shared = 2 * p->meeting;
    for (int k = 1; k < p->call->noperands; k++)
        if (p->v.staged >> k & 1)
            p->place[k] = take(p, whole_vectors(elements * ga__fused_size(p, k)));
    for (int q = 0; q < f->nkept && !p->v.registers; q++) {
        p->v.kept_place[q] = (uint8_t)place_of_kept(p, q);
        if (p->v.kept_place[q] == GA__OWN_PLACE)
            p->kept_at[q] = take(p, whole_vectors(elements * ga__dtype_size(f->kept[q].type)));
    }
}

size_t ga__fused_shared_limit(const plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    const size_t all = p->call->device->shared_bytes,
                 limit = all > SHARED_BYTES ? all : SHARED_BYTES;
    size_t own = 0;
    for (int s = 0; s < f->nstages && p->v.walk != GA__WALK_COLUMNS; s++)
        own += (size_t)f->stages[s].nparts * PART_SHARED_BYTES;
    return limit - own;
}
