/* Chooses how fused rows run on CUDA: threads of a row, what they keep where, and shared memory. */
#include "kernels/fused/fused_cuda.h"

#define FEW_DOUBLES (LARGEST_TEAM * 8)   /* a row that registers for twice as many hold; up to */
#define MANY_DOUBLES (LARGEST_TEAM * 12) /* these, one reduction is faster: on H100 and H200 */
#define SHIFTED_VECTORS 8                /* vectors of a row that may begin before it, at least */
#define EARLY_VECTORS 32                 /* of a row whose operands all come at once */
#define FEW_VECTORS 16                   /* of a row, */
#define FEW_EACH 8                       /* and elements of a thread that has a part of it */
#define MOST_ROOM 16                     /* vectors of a thread in registers */

typedef ga__fused_plan plan;

/* ---- Registers ---- */

/* Notes what all forms ask of the operands. Elements of the longest vectors divide the length, the
 * strides and the addresses. */
void ga__fused_note_rows(plan *p)
{
    uint64_t all = (uint64_t)p->length | GA__LINE_BYTES;
    p->widest = 1;
    p->along = p->own = 0;
    p->counted = ~UINT64_C(0);
    for (int k = 0; k < p->call->noperands; k++) {
        if (!ga__fused_along_row(p, k))
            continue;
        const gpuarray *x = p->call->operands[k].array;
        const uintptr_t data = x ? (uintptr_t)x->data : 0, size = ga__fused_size(p, k);
        uint64_t strides = 0;
        for (int axis = 0; axis < p->kept.ndim; axis++)
            strides |= (uint64_t)p->kept.strides[k][axis];
        all |= strides | (data % size ? 1 : data / size);
        p->widest = size > p->widest ? size : p->widest;
        p->along |= (uint64_t)(k > 0) << k;
        p->own |= (uint64_t)(k > 0 && (strides != 0 || p->rows == 1)) << k;
    }
    p->whole = (int)(all & -all);
    p->last = p->along & ~p->own;
    for (int s = 0; s < p->call->formula->nstages && p->last; s++)
        p->last &= ~p->call->formula->reads[s];
}

/* Elements of a vector, of whose operands none takes more than GA__VECTOR_BYTES. */
static int lanes_of(const plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    size_t widest = p->widest;
    for (int q = 0; q < f->nkept && !p->v.registers; q++)
        if (ga__dtype_size(f->kept[q].type) > widest)
            widest = ga__dtype_size(f->kept[q].type);
    return (int)(GA__VECTOR_BYTES / widest);
}

/* Elements from which on vectors are counted: the parts of a row are whole lines of memory. */
int ga__fused_line(const plan *p)
{
    return ga__fused_is_clustered(&p->v) ? GA__LINE_BYTES / GA__VECTOR_BYTES * p->v.lanes
                                         : p->v.lanes;
}

/* Sets the elements of a vector, and whether rows are whole vectors, or lines where blocks share
 * them. Rows that are whole vectors of fewer elements need no care for those around them. */
void ga__fused_choose_lanes(plan *p)
{
    const int lanes = lanes_of(p);
    p->v.lanes = 1;
    p->v.shifted = false;
    if (p->last)
        p->v.late = p->v.ahead != GA__NOT_AHEAD;
    if (lanes == 1 || (p->v.registers && lanes > ga__fused_most_ahead(p)))
        return;
    const int whole = p->whole < lanes ? p->whole : lanes;
    if (whole < lanes && p->length < SHIFTED_VECTORS * lanes)
        return;
    const bool pairs = p->call->formula->pairs != GA_NO_DTYPE;
    p->v.shifted = whole == 1 || (whole < lanes && (!p->v.registers || p->v.ahead || pairs));
    p->v.lanes = (uint8_t)(p->v.shifted ? lanes : whole);
    p->v.shifted |= p->whole < ga__fused_line(p);
    if (p->last)
        p->v.late = p->v.ahead || ga__fused_vectors_of_row(p) > EARLY_VECTORS;
}

/* The most vectors that a row lies in, or a block's part of it; and the fewest whole ones. */
int64_t ga__fused_vectors_of_row(const plan *p)
{
    const int lanes = p->v.lanes;
    return (p->length + (p->v.shifted ? ga__fused_line(p) + lanes - 2 : 0)) / lanes;
}
int64_t ga__fused_vectors_of_part(const plan *p)
{
    return p->blocks > 1 ? p->part / p->v.lanes : ga__fused_vectors_of_row(p);
}
static int64_t least_vectors(const plan *p)
{
    const int64_t before = p->blocks > 1 ? (p->blocks - 1) * p->part : 0;
    return p->length > before ? (p->length - before) / p->v.lanes : 0;
}

/* The team shares the row, or the part. Its threads have room for the most vectors that they ever
 * have, and one that has a row for a power of two, so that rows of any length share few kernels. A
 * thread skips vectors past its row's end. */
void ga__fused_take_team(plan *p, int team, int most)
{
    const int power = team > 1 ? most : ga__fused_power_of_two(ga__fused_vectors_of_part(p), most),
              room = power < most ? power : most;
    p->v.team = (uint16_t)team;
    p->v.each = (uint8_t)(room * p->v.lanes);
    p->v.sure = (uint8_t)ga__fused_sure_of(room, least_vectors(p), team);
}

/* Whole vectors among the most elements of a thread that there is room for: one at least. */
int ga__fused_vectors_with_room(const plan *p, int elements)
{
    const int vectors = elements / p->v.lanes, most = MOST_ROOM;
    return vectors < 1 ? 1 : vectors < most ? vectors : most;
}

/* The most elements of a thread: as many as registers hold, since a multiprocessor then has more
 * rows on their way, and smaller teams meet sooner; few of rows of few vectors, which neighbouring
 * threads read together. Measured on an H200: bench/results/h200-2026-11-29-fused.md. */
static int elements_of_thread(plan *p, int64_t vectors)
{
    const int most = ga__fused_most_held(p);
    const bool few = vectors <= FEW_VECTORS && !ga__fused_has_pairs(p) &&
                     !p->call->formula->per_row && most > FEW_EACH;
    return few ? FEW_EACH : most;
}

/* Chooses the threads of a row and their elements; false if the row does not fit them. */
static bool share_row(plan *p)
{
    const int64_t vectors = ga__fused_vectors_of_row(p);
    const int most = ga__fused_vectors_with_room(p, elements_of_thread(p, vectors));
    const int team = ga__fused_power_of_two(ga__ceil_div(vectors, most), LARGEST_TEAM);
    if (vectors > (int64_t)team * most)
        return false;
    ga__fused_take_team(p, team, most);
    p->v.block = (uint16_t)(team > GA__WARP ? team : BLOCK);
    p->rows_of_block = p->v.block / team;
    return true;
}

/* Rows that are no whole vectors pass through shared memory, unless a warp reads whole lines of
 * them anyway. Results leave no gaps. */
static bool passes_through_shared(const plan *p, int k)
{
    return p->v.lanes == 1 && (k > 0 ? ga__fused_is_close(p, k) : ga__fused_is_dense(p, k)) &&
           p->length > 1 && (p->v.team < GA__WARP || ga__fused_size(p, k) < WORD);
}

static bool plan_registers(plan *p)
{
    p->v.registers = true;
    ga__fused_choose_lanes(p);
    if (!share_row(p)) {
        p->v.lanes = 1;
        p->v.late = false;
        p->v.shifted = false;
        if (!share_row(p))
            return false;
    }
    for (int k = 1; k < p->call->noperands; k++)
        if (passes_through_shared(p, k))
            p->v.staged |= (uint64_t)1 << k;
    p->v.gathers = !p->call->formula->per_row && passes_through_shared(p, 0);
    ga__fused_place(p);
    if (p->shared > ga__fused_shared_limit(p)) {
        p->v.staged = 0;
        p->v.gathers = false;
        ga__fused_place(p);
    }
    return true;
}

/* Passes take two elements at once where a thread has two neighbours of all operands in memory, or
 * takes them from shared memory one by one. */
static void choose_pairs(plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    bool one_by_one = p->v.registers && p->v.each % 2 == 0 && (f->per_row || p->v.gathers);
    for (int k = 1; k < p->call->noperands; k++)
        one_by_one &= !ga__fused_along_row(p, k) || (p->v.staged >> k & 1);
    if (p->v.lanes % 2 == 0 || one_by_one)
        p->v.paired = (uint8_t)f->pairs;
}

/* Whether rows in registers are as fast as in shared memory, where the next row is on its way.
 * Measured on an H100: floats with results gain from the threads that shared memory leaves room
 * for. Doubles of several stages, such as a softmax, compute as long as the bus takes: of two
 * blocks in shared memory one computes while the other reads or writes. */
static bool prefers_registers(const plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    return f->pairs != GA_NO_DTYPE || f->per_row || (p->widest > WORD && f->nstages == 1);
}

/* Rows in registers, if the last pass alone reads some operand: beside rows in shared memory it
 * would wait for each vector. */
static bool plan_late(plan *p)
{
    if (p->widest > WORD)
        return false;
    ga__fused_begin_ahead(p);
    return ga__fused_has_late(p) &&
           (ga__fused_plan_ahead(p, 1, LARGEST_TEAM) || ga__fused_plan_meeting(p));
}

/* Rows that do not fit the registers of a block. */
static bool plan_long(plan *p)
{
    const int several = p->widest > WORD ? WIDE_BLOCKS : PROCESSOR_BLOCKS;
    return ga__fused_plan_distributed(p) ||
           (prefers_registers(p) && ga__fused_plan_ahead(p, 1, LARGEST_BLOCK)) || plan_late(p) ||
           ga__fused_plan_rows(p, several) || ga__fused_plan_meeting(p) ||
           ga__fused_plan_clusters(p, several) || ga__fused_plan_rows(p, 1);
}

/* Whether the steps are one reduction, which is faster than long rows of double in registers that
 * they do not fill: a block that has a multiprocessor for itself waits for its few elements. */
static bool is_reduced_faster(const plan *p)
{
    return p->widest > WORD && p->length > FEW_DOUBLES && p->length <= MANY_DOUBLES &&
           p->call->formula->one_step;
}

/* Rows in registers, without a copy ahead. */
static bool plan_held(plan *p)
{
    p->v.ahead = GA__NOT_AHEAD;
    p->v.gathers = false;
    p->v.staged = 0;
    if (!plan_registers(p))
        return false;
    p->grid = ga__ceil_div(p->rows, p->rows_of_block);
    return true;
}

bool ga__fused_plan_cuda(plan *p)
{
    ga__fused_note_rows(p);
    if (p->v.walk == GA__WALK_COLUMNS)
        return ga__fused_plan_columns(p);
    if (ga__fused_plan_short(p))
        return true;
    if (p->length == 1)
        return ga__fused_plan_single(p);
    if (ga__fused_plan_threads(p))
        return true;
    if (is_reduced_faster(p) || (!plan_held(p) && (p->call->formula->one_step || !plan_long(p))))
        return false;
    choose_pairs(p);
    return p->grid <= INT32_MAX;
}
