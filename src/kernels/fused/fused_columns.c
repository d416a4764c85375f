/* Chooses how columns run on CUDA: the width of a block's strip, and where its elements wait. */
#include "kernels/fused/fused_cuda.h"

#define WIDEST_STRIP 128 /* bytes of neighbouring columns: a line of memory */
#define MOST_ROOM 64     /* elements of a thread in registers */

/* The longest columns that one kernel takes faster than the steps do, in elements: measured on an
 * H100, section "Fused columns" of bench/results/h100-2026-11-25.md, and on an H200, "Long
 * columns", "Sums of exponentials of 16 and 64 bits" and "Limits of columns" of h200-2026-11-26.md.
 * SMALL elements have 16 bits or less, WIDE ones 64 bits or more. ODD rows end inside sectors,
 * which neighbouring blocks write at different times. Instructions bound the kernel: beside memory
 * that is FAST for each multiprocessor the steps are faster earlier. */
#define LONGEST_SMALL 256       /* even rows, or values are kept */
#define LONGEST_SMALL_ODD 64    /* nothing is kept */
#define LONGEST_SMALL_FAST 128  /* odd rows, and values are kept; 64 if none are */
#define LONGEST_PER_COLUMN 1024 /* one result of each column: odd rows are only read */
#define LONGEST_ONE_STEP 128    /* the same, if the steps are a reduction of 4-byte elements */
#define LONGEST_ONE_STEP_WIDE 8 /* of doubles */
#define LONGEST_ODD 128         /* whether or not values are kept */
#define LONGEST_EVEN 1024       /* likewise */
#define LONGEST_ODD_WIDE 256    /* values are kept, and memory is fast */
#define LONGEST_EVEN_FAST 512
#define LONGEST_EVEN_FAST_WIDE 768
#define FAST_MEMORY 30000 /* bytes of a microsecond for each multiprocessor: H100 25000 */

typedef ga__fused_plan plan;

/* Neighbouring columns of `nbytes`. */
static int columns_in(const plan *p, int nbytes)
{
    const int columns = nbytes / (int)p->widest;
    return columns < 1 ? 1 : columns;
}

static int64_t count_strips(const plan *p)
{
    return ga__ceil_div(p->rows, p->rows_of_block);
}

static void set_block(plan *p, int across, int team)
{
    p->rows_of_block = across;
    p->v.team = (uint16_t)team;
    p->v.block = (uint16_t)(across * team);
}

/* Shares columns among the fewest threads, which have room for at most `limit` elements each, a
 * power of two; short columns make a wider strip. False if a block has more than `largest` threads,
 * or if a thread has no room for an element, because the call has many operands. */
static bool share_columns(plan *p, int across, int limit, int largest)
{
    if (limit < 1)
        return false;
    const int more = ga__fused_power_of_two(limit, MOST_ROOM),
              most = more > limit ? more / 2 : more;
    const int team = ga__fused_power_of_two(ga__ceil_div(p->length, most),
                                            across < largest ? largest / across : 1);
    if (p->length > (int64_t)team * most)
        return false;
    const int64_t many = (int64_t)LARGEST_TEAM * p->call->device->processors;
    const int fewest = team == 1 || p->rows < many ? BLOCK : LARGEST_TEAM;
    set_block(p, across * team < fewest ? fewest / team : across, team);
    p->v.each = (uint8_t)ga__fused_power_of_two(ga__ceil_div(p->length, team), most);
    p->v.sure = (uint8_t)ga__fused_sure_of(p->v.each, p->length, team);
    return true;
}

/* A block has one strip, whose elements its threads keep in registers. */
static bool plan_registers(plan *p, int across)
{
    p->v.registers = true;
    p->v.ahead = GA__NOT_AHEAD;
    p->v.staged = 0;
    if (!share_columns(p, across, ga__fused_most_each(p), LARGEST_TEAM))
        return false;
    p->v.paired = (uint8_t)(p->v.each % 2 == 0 ? p->call->formula->pairs : GA_NO_DTYPE);
    p->grid = count_strips(p);
    ga__fused_place_columns(p);
    return p->shared <= ga__fused_shared_limit(p);
}

/* A block has strip after strip, and operands of strips in shared memory: one at least. */
static bool stage_strips(plan *p)
{
    p->v.paired = GA_NO_DTYPE;
    p->v.staged = p->own;
    p->part = ga__ceil_div(p->length, p->v.team);
    if (p->v.block * p->part > (int64_t)ga__fused_shared_limit(p))
        return false;
    ga__fused_place_columns(p);
    return p->v.staged != 0 && p->shared <= ga__fused_shared_limit(p) &&
           count_strips(p) >= p->call->device->processors / FEW_ROWS;
}

static bool start_strips(plan *p)
{
    p->grid = ga__fused_at_most(count_strips(p), ga__fused_blocks_at_once(p));
    return p->grid > 0;
}

/* Strips in registers, while the next one comes to shared memory. */
static bool plan_ahead(plan *p, int across)
{
    p->v.registers = true;
    p->v.ahead = GA__AHEAD_BY_THREADS;
    return share_columns(p, across, ga__fused_most_ahead(p), LARGEST_BLOCK) && stage_strips(p) &&
           ga__fused_copies_ahead(p) && start_strips(p);
}

/* Strips in shared memory, with at least `several` blocks per multiprocessor. */
static bool plan_shared(plan *p, int across, int several)
{
    p->v.registers = false;
    p->v.each = p->v.sure = 0;
    set_block(p, across, LARGEST_TEAM / across);
    if (!stage_strips(p))
        return false;
    if (ga__fused_threads_in_shared(p) > LARGEST_TEAM)
        set_block(p, across, LARGEST_BLOCK / across);
    if (!stage_strips(p) || ga__fused_blocks_with_room(p) < several)
        return false;
    p->v.ahead = ga__fused_copies_ahead(p) ? GA__AHEAD_BY_THREADS : GA__NOT_AHEAD;
    if (!start_strips(p))
        return false;
    ga__fused_set_wait(p);
    return true;
}

/* Whether rows of the operands and of the result are whole sectors. */
static bool has_whole_sectors(const plan *p)
{
    bool whole = true;
    for (int k = 0; k < p->call->noperands; k++) {
        const gpuarray *x = p->call->operands[k].array;
        const int64_t size = (int64_t)ga__fused_size(p, k);
        if (!ga__fused_along_row(p, k) || !ga__fused_has_own_rows(p, k))
            continue;
        whole &= p->row.strides[k][0] * size % SECTOR == 0;
        whole &= k == 0 || (uintptr_t)x->data % SECTOR == 0;
        for (int axis = 1; axis < p->kept.ndim; axis++)
            whole &= p->kept.strides[k][axis] * size % SECTOR == 0;
    }
    return whole;
}

static bool plan_strip(plan *p, int nbytes)
{
    const int across = columns_in(p, nbytes),
              several = p->widest > WORD ? WIDE_BLOCKS : PROCESSOR_BLOCKS;
    return plan_registers(p, across) || plan_shared(p, across, several) || plan_ahead(p, across) ||
           plan_shared(p, across, 1);
}

/* Whether a strip so wide leaves some multiprocessors without one. */
static bool has_few_strips(const plan *p, int nbytes)
{
    return p->rows < (int64_t)columns_in(p, nbytes) * p->call->device->processors;
}

static bool has_fast_memory(const ga__device *device)
{
    return device->memory_rate / device->processors >= FAST_MEMORY;
}

/* The elements of the longest columns that one kernel takes beside fast memory, if it writes
 * columns of elements. */
static int64_t longest_beside_fast(bool even, bool kept, int64_t size)
{
    if (size < WORD)
        return !kept ? LONGEST_SMALL_ODD : even ? LONGEST_SMALL : LONGEST_SMALL_FAST;
    if (even)
        return size > WORD ? LONGEST_EVEN_FAST_WIDE : LONGEST_EVEN_FAST;
    return kept && size > WORD ? LONGEST_ODD_WIDE : LONGEST_ODD;
}

/* The elements of the longest columns that one kernel takes; `even`: has_whole_sectors(). */
static int64_t longest(const plan *p, bool even)
{
    const ga__fused_formula *f = p->call->formula;
    const int64_t size = (int64_t)p->widest;
    const bool kept = f->nkept > 0;
    if (f->one_step)
        return size < WORD ? 0 : size == WORD ? LONGEST_ONE_STEP : LONGEST_ONE_STEP_WIDE;
    if (f->per_row && size >= WORD)
        return LONGEST_PER_COLUMN;
    if (has_fast_memory(p->call->device) && !f->per_row)
        return longest_beside_fast(even, kept, size);
    if (size < WORD)
        return even || kept ? LONGEST_SMALL : LONGEST_SMALL_ODD;
    return even ? LONGEST_EVEN : LONGEST_ODD;
}

/* Strips that are written as whole lines, if columns are short enough and there are many, or half
 * of them. Measured on an H100: sectors alone are written so slowly that only values that the steps
 * would compute twice repay them. */
bool ga__fused_plan_columns(plan *p)
{
    const bool even = has_whole_sectors(p);
    p->v.lanes = 1;
    return p->length <= longest(p, even) &&
           ((!has_few_strips(p, WIDEST_STRIP) && plan_strip(p, WIDEST_STRIP)) ||
            plan_strip(p, WIDEST_STRIP / 2) ||
            (p->call->formula->nkept > 0 && even && plan_ahead(p, columns_in(p, SECTOR)))) &&
           p->grid <= INT32_MAX;
}
