/* Chooses how fused rows run on CUDA: threads of a row, what they keep where, and shared memory. */
#include "kernels/fused/fused_cuda.h"

#define MOST_BLOCKS 32    /* of a cluster, if the steps read a row once more, or in double */
#define PART_BYTES 16384  /* of a row's part in a block of a cluster, at least */
#define SHIFTED_VECTORS 8 /* vectors of a row that may begin before it, at least */
#define VECTORS_EACH 8    /* whole vectors need no more, as long as a row has less than a block */
#define SEVERAL 4         /* rows of one element of a thread */
#define MOST_ROOM 16      /* vectors of a thread in registers */

typedef ga__fused_plan plan;

/* ---- Registers ---- */

/* Whether whole vectors of `lanes` elements make up each row of operand k. */
static bool in_vectors(const plan *p, int k, int lanes)
{
    const gpuarray *x = p->call->operands[k].array;
    const uintptr_t data = x ? (uintptr_t)x->data : 0;
    if (data % ((uintptr_t)lanes * ga__fused_size(p, k)))
        return false;
    for (int axis = 0; axis < p->kept.ndim; axis++)
        if (p->kept.strides[k][axis] % lanes)
            return false;
    return true;
}

/* Elements of a vector, of whose operands none takes more than GA__VECTOR_BYTES. */
static int lanes_of(const plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    size_t widest = 1;
    for (int k = 0; k < p->call->noperands; k++)
        if (ga__fused_along_row(p, k))
            widest = ga__fused_size(p, k) > widest ? ga__fused_size(p, k) : widest;
    for (int q = 0; q < f->nkept && !p->v.registers; q++)
        if (ga__dtype_size(f->kept[q].type) > widest)
            widest = ga__dtype_size(f->kept[q].type);
    return (int)(GA__VECTOR_BYTES / widest);
}

static bool whole_vectors(const plan *p, int lanes)
{
    bool whole = p->length % lanes == 0;
    for (int k = 0; k < p->call->noperands; k++)
        whole &= !ga__fused_along_row(p, k) || in_vectors(p, k, lanes);
    return whole;
}

/* Sets the elements of a vector, and whether rows are whole vectors. Rows that are whole vectors of
 * fewer elements need no care for those around them. */
static void choose_lanes(plan *p)
{
    const int lanes = lanes_of(p);
    p->v.lanes = 1;
    p->v.shifted = false;
    if (lanes == 1 || (p->v.registers && lanes > ga__fused_most_each(p)))
        return;
    int whole = lanes;
    while (whole > 1 && !whole_vectors(p, whole))
        whole /= 2;
    if (whole < lanes && p->length < SHIFTED_VECTORS * lanes)
        return;
    const bool pairs = p->call->formula->pairs != GA_NO_DTYPE;
    p->v.shifted = whole == 1 || (whole < lanes && (!p->v.registers || p->v.ahead || pairs));
    p->v.lanes = (uint8_t)(p->v.shifted ? lanes : whole);
}

/* The vectors that a thread has room for: powers of two, so that rows of any length share few
 * kernels, or pairs in rows of a thread. A thread skips those past its row's end. */
static int room_for(const plan *p, int64_t vectors, int team, int most)
{
    if (ga__fused_has_rows_of_pairs(p, team) && vectors < most)
        return (int)(vectors + vectors % 2);
    const int room = ga__fused_power_of_two(vectors, MOST_ROOM);
    return room < most ? room : most;
}

/* The most vectors that a row lies in. */
static int64_t vectors_of_row(const plan *p)
{
    const int lanes = p->v.lanes;
    return (p->length + (p->v.shifted ? 2 * lanes - 2 : 0)) / lanes;
}

/* The team shares the row in registers, which have room for `most` vectors of a thread. */
static void take_team(plan *p, int team, int most)
{
    const int room = room_for(p, ga__ceil_div(vectors_of_row(p), team), team, most);
    p->v.team = (uint16_t)team;
    p->v.each = (uint8_t)(room * p->v.lanes);
    p->v.sure = (uint8_t)ga__fused_sure_of(p, room, p->length / p->v.lanes, team);
}

/* Whole vectors among the most elements of a thread that there is room for: one at least. */
static int vectors_with_room(const plan *p, int elements)
{
    const int vectors = elements / p->v.lanes, most = MOST_ROOM;
    return vectors < 1 ? 1 : vectors < most ? vectors : most;
}

static int usual_each(const plan *p)
{
    const bool whole = p->v.lanes > 1 && p->v.lanes == lanes_of(p) && !p->v.shifted;
    return ga__fused_has_pairs(p)      ? ga__fused_most_paired(p)
           : p->call->formula->per_row ? MOST_PER_ROW
           : whole                     ? VECTORS_EACH
                                       : MOST_EACH;
}

/* Chooses the threads of a row and their elements; false if the row does not fit them. */
static bool share_row(plan *p)
{
    const int most = vectors_with_room(p, ga__fused_most_each(p)),
              usual = vectors_with_room(p, usual_each(p)), few = usual < most ? usual : most;
    const int64_t vectors = vectors_of_row(p);
    int team = ga__fused_power_of_two(ga__ceil_div(vectors, few), BLOCK);
    while (team < LARGEST_TEAM && vectors > (int64_t)team * most)
        team *= 2;
    if (vectors > (int64_t)team * most)
        return false;
    take_team(p, team, most);
    p->v.block = (uint16_t)(team > GA__WARP ? team : BLOCK);
    p->rows_of_block = p->v.block / team;
    return true;
}

/* Whether the rows of operand k follow each other closely: reading what lies between them costs
 * next to nothing. */
static bool is_close(const plan *p, int k)
{
    if (!ga__fused_along_row(p, k) || p->kept.ndim != 1)
        return false;
    const int64_t gap = p->kept.strides[k][0] - p->length;
    return p->rows == 1 || (gap >= 0 && gap * (int64_t)ga__fused_size(p, k) <= SECTOR);
}

/* Rows that are no whole vectors pass through shared memory, unless a warp reads whole lines of
 * them anyway. Results leave no gaps. */
static bool passes_through_shared(const plan *p, int k)
{
    return p->v.lanes == 1 && (k > 0 ? is_close(p, k) : ga__fused_is_dense(p, k)) &&
           p->length > 1 && (p->v.team < GA__WARP || ga__fused_size(p, k) < WORD);
}

static bool plan_registers(plan *p)
{
    p->v.registers = true;
    choose_lanes(p);
    if (!share_row(p)) {
        p->v.lanes = 1;
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

/* One row of a block at a time comes to shared memory; false if there are few rows or they are too
 * long. */
static bool stage_rows(plan *p)
{
    p->v.staged = ga__fused_stageable(p);
    p->rows_of_block = 1;
    if (p->part > (int64_t)ga__fused_shared_limit(p))
        return false;
    ga__fused_place(p);
    return p->shared <= ga__fused_shared_limit(p) &&
           p->rows * p->blocks >= p->call->device->processors / FEW_ROWS;
}

/* Rows in registers, while the next one comes to shared memory. */
static bool plan_ahead(plan *p)
{
    p->v.registers = true;
    p->v.ahead = true;
    p->v.gathers = false;
    choose_lanes(p);
    const int most = vectors_with_room(p, ga__fused_most_ahead(p));
    const int64_t vectors = vectors_of_row(p);
    if (vectors > LARGEST_BLOCK * (int64_t)most || !stage_rows(p) || p->v.staged == 0 ||
        !ga__fused_copies_ahead(p))
        return false;
    const int team = ga__fused_power_of_two(ga__ceil_div(vectors, most), LARGEST_BLOCK);
    take_team(p, team, most);
    p->v.block = p->v.team;
    p->grid = ga__fused_at_most(p->rows, ga__fused_blocks_at_once(p));
    return true;
}

/* Rows in the shared memory of a block, or parts of them in that of each of some blocks. */
static bool plan_shared(plan *p, int blocks)
{
    p->v.registers = p->v.gathers = false;
    p->v.ahead = false;
    p->v.walk = blocks > 1 ? GA__WALK_CLUSTERS : GA__WALK_ROWS;
    choose_lanes(p);
    p->v.each = p->v.sure = 0;
    p->blocks = blocks;
    p->part = blocks > 1 ? ga__ceil_div(vectors_of_row(p), blocks) * p->v.lanes : p->length;
    if (!stage_rows(p) || (blocks > 1 && (p->v.staged == 0 || !ga__fused_copies_ahead(p))))
        return false;
    p->v.ahead = ga__fused_copies_ahead(p);
    p->v.block = p->v.team = (uint16_t)ga__fused_threads_in_shared(p);
    p->grid = ga__fused_at_most(p->rows, ga__fused_blocks_at_once(p) / blocks) * blocks;
    return p->grid > 0;
}

/* One row per block, in shared memory, with at least `several` blocks per multiprocessor. */
static bool plan_rows(plan *p, int several)
{
    if (!plan_shared(p, 1) || ga__fused_blocks_with_room(p) < several)
        return false;
    ga__fused_set_wait(p);
    return true;
}

/* The most blocks of a cluster. More take longer to meet than the steps take to read again, which
 * read a row once for each stage. Measured on an H100. */
static int64_t most_blocks(const plan *p, int64_t all)
{
    return p->call->formula->nstages > 1 && ga__fused_widest(p) <= WORD
               ? all
               : ga__fused_at_most(MOST_BLOCKS, all);
}

/* Bytes of a row's elements that come to shared memory. */
static size_t staged_bytes(const plan *p)
{
    const uint64_t staged = ga__fused_stageable(p);
    size_t nbytes = 0;
    for (int k = 1; k < p->call->noperands; k++)
        if (staged >> k & 1)
            nbytes += (size_t)p->length * ga__fused_size(p, k);
    return nbytes;
}

/* Rows that some blocks share. They are as few as leave room for several blocks of a
 * multiprocessor, or more where blocks would be left over, or rows are few. Most numbers are too
 * small by the elements of a part alone: only the others are planned. */
static bool plan_clusters(plan *p, int several)
{
    const int64_t all = (int64_t)several * p->call->device->processors, limit = most_blocks(p, all);
    const size_t needed = (size_t)several * staged_bytes(p), room = ga__fused_shared_limit(p);
    int64_t blocks = 2;
    if (!p->call->device->meets)
        return false;
    while (blocks <= limit && ((size_t)blocks * room < needed || !plan_shared(p, (int)blocks) ||
                               ga__fused_blocks_with_room(p) < several))
        blocks += ga__ceil_div(blocks, 16);
    if (blocks > limit)
        return false;
    const int64_t clusters = ga__fused_at_most(p->rows, all / blocks),
                  most = p->length * (int64_t)ga__fused_widest(p) / PART_BYTES;
    return plan_shared(p, (int)ga__fused_at_most(all / clusters, most > blocks ? most : blocks));
}

/* Whether rows in registers are as fast as in shared memory, where the next row is on its way.
 * Measured on an H100: floats with results gain from the threads that shared memory leaves room
 * for. */
static bool prefers_registers(const plan *p)
{
    return p->call->formula->pairs != GA_NO_DTYPE || p->call->formula->per_row ||
           ga__fused_widest(p) > WORD;
}

/* Rows of one element. */
static bool plan_single(plan *p)
{
    p->v.registers = true;
    p->v.lanes = p->v.each = p->v.team = 1;
    p->v.several = SEVERAL;
    p->v.block = BLOCK;
    p->rows_of_block = BLOCK * SEVERAL;
    p->grid = ga__ceil_div(p->rows, p->rows_of_block);
    return p->grid <= INT32_MAX;
}

/* Rows that do not fit the registers of a block. */
static bool plan_long(plan *p)
{
    const int several = ga__fused_widest(p) > WORD ? WIDE_BLOCKS : PROCESSOR_BLOCKS;
    return (prefers_registers(p) && plan_ahead(p)) || plan_rows(p, several) ||
           plan_clusters(p, several) || plan_rows(p, 1);
}

bool ga__fused_plan_cuda(plan *p)
{
    if (p->v.walk == GA__WALK_COLUMNS)
        return ga__fused_plan_columns(p);
    if (p->length == 1)
        return plan_single(p);
    const bool held = plan_registers(p);
    if (!held && !plan_long(p))
        return false;
    choose_pairs(p);
    if (held)
        p->grid = ga__ceil_div(p->rows, p->rows_of_block);
    return p->grid <= INT32_MAX;
}
