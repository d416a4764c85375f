/* Chooses how fused rows run on the host: which rows stay in a cache, and rows of a block. */
#include "kernels/fused/fused_plan.h"

#define GROUP 64         /* elements that are computed together */
#define SHORTEST_ROW 64  /* shorter rows leave a group's vectors empty, */
#define SHORTEST_KEPT 16 /* which values that are kept make up for */
#define LANES 32
#define SHORT_LANES 16
#define LONG_RUN 512     /* elements that repay more lanes */
#define ROW_BYTES 524288 /* of a row's operands that a processor's cache keeps */
#define GRAIN 32768      /* elements that are worth a block of their own */
#define BLOCKS_PER_WORKER 4

typedef ga__fused_plan plan;

/* Accumulators of lanes and of the tree in which their results meet, of each part; and of a
 * column's levels. */
#define PART_ARRAYS (4 * LANES + 64)
#define COLUMN_LEVELS 20
#define STRIP 1024 /* elements of a row that are mapped before the parts take them */

/* Bytes of the groups of all operands. */
static size_t group_bytes(const plan *p)
{
    size_t nbytes = 0;
    for (int k = 0; k < p->call->noperands; k++)
        if (p->v.operand[k].streamed)
            nbytes += ga__fused_size(p, k) + sizeof(float);
    return GROUP * nbytes;
}

/* Adds the parts of all passes: of each so many elements and accumulators. */
static size_t part_bytes(const plan *p, size_t elements, size_t accumulators)
{
    const ga__fused_formula *f = p->call->formula;
    size_t nbytes = 0;
    for (int s = 0; s < f->nstages; s++)
        for (int k = 0; k < f->stages[s].nparts; k++)
            nbytes += elements * ga__dtype_size(ga__dtype_compute(f->stages[s].type[k])) +
                      accumulators * ga__part_bytes(f->stages[s].parts[k], f->stages[s].type[k]);
    return nbytes;
}

/* Bytes of the operands and kept values of an element. */
static size_t element_bytes(const plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    size_t nbytes = 0;
    for (int k = 0; k < p->call->noperands; k++)
        if (ga__fused_along_row(p, k))
            nbytes += ga__dtype_size((ga_dtype)p->v.operand[k].memory);
    for (int q = 0; q < f->nkept; q++)
        nbytes += ga__dtype_size(ga__dtype_compute(f->kept[q].type));
    return nbytes;
}

static void place_kept(plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    const size_t padded = (size_t)ga__ceil_div(p->length, GROUP) * GROUP;
    for (int q = 0; q < f->nkept; q++) {
        p->kept_at[q] = p->scratch;
        p->scratch += padded * ga__dtype_size(ga__dtype_compute(f->kept[q].type));
    }
}

/* Whether the results are more than the caches keep, and not computed in place. */
static bool goes_past_cache(const plan *p)
{
    const gpuarray *out = p->call->operands[0].array;
    const size_t nbytes = (size_t)(p->rows * p->length) * ga__fused_size(p, 0);
    for (int k = 1; k < p->call->noperands && out; k++)
        if (p->call->operands[k].array && p->call->operands[k].array->data == out->data)
            return false;
    return !p->call->formula->per_row && p->length >= GROUP &&
           ga__goes_past_cache(p->call->device, nbytes);
}

/* Rows that stay in a processor's cache from pass to pass, and enough of them for all processors.
 */
bool ga__fused_plan_host(plan *p)
{
    const int64_t processors = p->call->device->processors, elements = p->rows * p->length;
    const int shortest = p->call->formula->nkept > 0 ? SHORTEST_KEPT : SHORTEST_ROW;
    if (p->length < shortest || element_bytes(p) * (size_t)p->length > ROW_BYTES ||
        (p->rows < BLOCKS_PER_WORKER * processors && elements > GRAIN))
        return false;
    p->v.group = GROUP;
    p->v.lanes = p->length < LONG_RUN ? SHORT_LANES : LANES;
    p->v.past_cache = goes_past_cache(p);
    p->stack = group_bytes(p) + part_bytes(p, STRIP, PART_ARRAYS) + STRIP * ga__fused_size(p, 0);
    place_kept(p);
    for (int k = 1; k < p->call->noperands; k++)
        p->place[k] = ga__fused_is_dense(p, k);
    const int64_t share = ga__ceil_div(p->rows, processors * BLOCKS_PER_WORKER),
                  grain = ga__ceil_div(GRAIN, p->length);
    p->rows_of_block = share < grain ? grain : share;
    p->grid = ga__ceil_div(p->rows, p->rows_of_block);
    return true;
}

/* ---- Columns ---- */

#define WIDEST_STRIP 64          /* neighbouring columns that are computed together, */
#define LEAST_STRIP 32           /* and the fewest */
#define STRIP_BYTES (1 << 20)    /* of a strip's operands that a processor's cache keeps */
#define LONGEST_COLUMN (1 << 16) /* whose sums take few levels */

/* Gives the copies of the operands and the kept values their places in a thread's memory. */
static void place_strip(plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    const size_t elements = (size_t)p->length * p->v.group;
    p->scratch = 0;
    for (int k = 1; k < p->call->noperands; k++)
        if (p->v.operand[k].streamed) {
            p->place[k] = p->scratch;
            p->scratch +=
                (ga__fused_along_row(p, k) ? elements : p->v.group) * ga__fused_size(p, k);
        }
    for (int q = 0; q < f->nkept; q++) {
        p->kept_at[q] = p->scratch;
        p->scratch += elements * ga__dtype_size(ga__dtype_compute(f->kept[q].type));
    }
}

/* Strips that stay in a processor's cache from pass to pass. */
bool ga__fused_plan_host_columns(plan *p)
{
    const int64_t processors = p->call->device->processors, width = p->kept.shape[0];
    if (p->call->formula->nvalues > GA__MAX_VALUES || p->length > LONGEST_COLUMN)
        return false;
    for (p->v.group = WIDEST_STRIP;; p->v.group /= 2) {
        place_strip(p);
        if (p->scratch <= STRIP_BYTES)
            break;
        if (p->v.group == LEAST_STRIP)
            return false;
    }
    p->stack = group_bytes(p) + part_bytes(p, 8 * GROUP, COLUMN_LEVELS * GROUP) +
               GA__MAX_VALUES * GROUP * 2 * sizeof(double);
    const int64_t strips = ga__ceil_div(width, p->v.group) * (p->rows / width),
                  share = ga__ceil_div(strips, processors * BLOCKS_PER_WORKER),
                  grain = ga__ceil_div(GRAIN, p->length * p->v.group);
    p->rows_of_block = share < grain ? grain : share;
    p->grid = ga__ceil_div(strips, p->rows_of_block);
    /* Values that are kept repay strips that are half empty. */
    const bool full = 3 * p->rows >= 2 * strips * p->v.group;
    return (full || p->call->formula->nkept > 0) &&
           (strips >= processors || p->rows * p->length <= GRAIN);
}
