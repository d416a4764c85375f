/* Chooses how fused rows run on CUDA: threads of a row, what they keep where, and shared memory. */
#include "kernels/fused/fused_cuda.h"

#define MOST_BLOCKS 32    /* of a cluster whose rows have one stage, or are doubles; */
#define MOST_OF_STAGES 48 /* of float32 that have several, or of sums of exponentials */
#define FEW_DOUBLES (LARGEST_TEAM * 8)   /* a row that registers for twice as many hold; up to */
#define MANY_DOUBLES (LARGEST_TEAM * 12) /* these, one reduction is faster: on H100 and H200 */
#define PART_BYTES 16384                 /* of a row's part in a block of a cluster, at least */
#define SHIFTED_VECTORS 8                /* vectors of a row that may begin before it, at least */
#define VECTORS_EACH 8   /* whole vectors and those of doubles need no more, in less than a block */
#define MOST_ROOM 16     /* vectors of a thread in registers */
#define LATE_BYTES 8192  /* of a row of doubles, from which on the next one comes ahead, if late */
#define MOST_MEETINGS 2  /* of blocks that have a row's parts in registers; of double, half */
#define MOST_MET 64      /* blocks times meetings: more take longer to meet */
#define SLACK_BYTES 2048 /* of a block's shared memory, besides the elements */

typedef ga__fused_plan plan;

/* ---- Registers ---- */

/* Notes what all forms ask of the operands. Elements of the longest vectors divide the length, the
 * strides and the addresses. */
static void note_rows(plan *p)
{
    uint64_t all = (uint64_t)p->length | GA__VECTOR_BYTES;
    p->widest = 1;
    for (int k = 0; k < p->call->noperands; k++) {
        if (!ga__fused_along_row(p, k))
            continue;
        const gpuarray *x = p->call->operands[k].array;
        const uintptr_t data = x ? (uintptr_t)x->data : 0, size = ga__fused_size(p, k);
        all |= data % size ? 1 : data / size;
        for (int axis = 0; axis < p->kept.ndim; axis++)
            all |= (uint64_t)p->kept.strides[k][axis];
        p->widest = size > p->widest ? size : p->widest;
    }
    p->whole = (int)(all & -all);
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

/* Sets the elements of a vector, and whether rows are whole vectors. Rows that are whole vectors of
 * fewer elements need no care for those around them. */
static void choose_lanes(plan *p)
{
    const int lanes = lanes_of(p);
    p->v.lanes = 1;
    p->v.shifted = false;
    if (lanes == 1 || (p->v.registers && lanes > ga__fused_most_each(p)))
        return;
    const int whole = p->whole < lanes ? p->whole : lanes;
    if (whole < lanes && p->length < SHIFTED_VECTORS * lanes)
        return;
    const bool pairs = p->call->formula->pairs != GA_NO_DTYPE;
    p->v.shifted = whole == 1 || (whole < lanes && (!p->v.registers || p->v.ahead || pairs));
    p->v.lanes = (uint8_t)(p->v.shifted ? lanes : whole);
}

/* The vectors that a thread has room for: powers of two, so that rows of any length share few
 * kernels. A thread skips those past its row's end. */
static int room_for(int64_t vectors, int most)
{
    const int room = ga__fused_power_of_two(vectors, MOST_ROOM);
    return room < most ? room : most;
}

/* The most vectors that a row lies in, or a block's part of it; and the fewest whole ones. */
static int64_t vectors_of_row(const plan *p)
{
    const int lanes = p->v.lanes;
    return (p->length + (p->v.shifted ? 2 * lanes - 2 : 0)) / lanes;
}
static int64_t vectors_of_part(const plan *p)
{
    return p->blocks > 1 ? p->part / p->v.lanes : vectors_of_row(p);
}
static int64_t least_vectors(const plan *p)
{
    const int64_t before = p->blocks > 1 ? (p->blocks - 1) * p->part : 0;
    return p->length > before ? (p->length - before) / p->v.lanes : 0;
}

/* The team shares the row, or the part, in registers, which have room for `least` to `most` vectors
 * of a thread. */
static void take_team(plan *p, int team, int most, int least)
{
    const int64_t vectors = ga__ceil_div(vectors_of_part(p), team);
    const int room = room_for(vectors > least ? vectors : least, most);
    p->v.team = (uint16_t)team;
    p->v.each = (uint8_t)(room * p->v.lanes);
    p->v.sure = (uint8_t)ga__fused_sure_of(room, least_vectors(p), team);
}

/* Whole vectors among the most elements of a thread that there is room for: one at least. */
static int vectors_with_room(const plan *p, int elements)
{
    const int vectors = elements / p->v.lanes, most = MOST_ROOM;
    return vectors < 1 ? 1 : vectors < most ? vectors : most;
}

static int usual_each(const plan *p)
{
    const bool vectors = p->v.lanes > 1 && p->v.lanes == lanes_of(p),
               few = vectors && (!p->v.shifted || p->widest > WORD);
    return ga__fused_has_pairs(p)      ? ga__fused_most_paired(p)
           : p->call->formula->per_row ? MOST_PER_ROW
           : few                       ? VECTORS_EACH
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
    take_team(p, team, most, 1);
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

/* The blocks that a row is divided among, and the elements of a part. */
static void divide_row(plan *p, int blocks)
{
    p->v.walk = blocks > 1 ? GA__WALK_CLUSTERS : GA__WALK_ROWS;
    p->blocks = blocks;
    p->part = blocks > 1 ? ga__ceil_div(vectors_of_row(p), blocks) * p->v.lanes : p->length;
}

/* Rows in the registers of a block, or parts of them in those of each of some blocks, while the
 * next ones come to shared memory. */
static bool plan_ahead(plan *p, int blocks, int largest)
{
    p->v.registers = true;
    p->v.ahead = true;
    p->v.gathers = false;
    p->v.staged = ga__fused_stageable(p);
    choose_lanes(p);
    divide_row(p, blocks);
    const int most = vectors_with_room(p, ga__fused_most_ahead(p));
    const int64_t vectors = vectors_of_part(p);
    if (vectors > largest * (int64_t)most || !stage_rows(p) || p->v.staged == 0 ||
        !ga__fused_copies_ahead(p))
        return false;
    const int team =
        blocks > 1 ? largest : ga__fused_power_of_two(ga__ceil_div(vectors, most), largest);
    take_team(p, team, most, blocks > 1 ? most : 1);
    p->v.block = p->v.team;
    p->grid = ga__fused_at_most(p->rows, ga__fused_blocks_at_once(p) / blocks) * blocks;
    return p->grid > 0;
}

/* Rows in the shared memory of a block, or parts of them in that of each of some blocks. */
static bool plan_shared(plan *p, int blocks)
{
    p->v.registers = p->v.gathers = false;
    p->v.ahead = false;
    choose_lanes(p);
    p->v.each = p->v.sure = 0;
    divide_row(p, blocks);
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

/* The most blocks of a cluster. More take longer to meet than the steps take to read a row again.
 * They read small floats once for each stage, but once for a maximum and exponentials that join it,
 * as they read others. A softmax of doubles computes too long between meetings. Measured on an H100
 * and an H200. */
static int64_t most_blocks(const plan *p, int64_t all)
{
    const ga__fused_formula *f = p->call->formula;
    const int64_t few = ga__fused_at_most(MOST_BLOCKS, all);
    if (f->nstages == 1)
        return few;
    if (p->widest > WORD)
        return f->per_row ? few : 0;
    return p->widest == WORD || f->joins ? ga__fused_at_most(MOST_OF_STAGES, all)
           : f->per_row                  ? all
                                         : all - all / 4;
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
        blocks = blocks < limit ? ga__fused_at_most(limit, blocks + ga__ceil_div(blocks, 16))
                                : limit + 1;
    if (blocks > limit)
        return false;
    const int64_t clusters = ga__fused_at_most(p->rows, all / blocks),
                  most = p->length * (int64_t)p->widest / PART_BYTES;
    return plan_shared(p, (int)ga__fused_at_most(all / clusters, most > blocks ? most : blocks));
}

/* How often the blocks of a row meet. */
static int meetings(const plan *p)
{
    const ga__fused_formula *f = p->call->formula;
    int count = 0;
    for (int s = 0; s < f->nstages; s++)
        for (int k = 0; k < f->stages[s].nparts; k++)
            count += f->stages[s].sum_of[k] < 0;
    return count;
}

/* How many blocks of `threads` threads together have room for a row, in registers and in shared
 * memory. */
static int64_t blocks_of_row(const plan *p, int threads)
{
    const int64_t room = threads * (int64_t)vectors_with_room(p, ga__fused_most_ahead(p)),
                  shared = (int64_t)ga__fused_shared_limit(p) * threads / WIDE_THREADS,
                  needed = ga__ceil_div(vectors_of_row(p), room),
                  staged = ga__ceil_div((int64_t)staged_bytes(p), shared - SLACK_BYTES),
                  blocks = needed > staged ? needed : staged;
    return blocks > 2 ? blocks : 2;
}

/* Lets the fewest blocks of `threads` threads share a row that have room for it in registers, or
 * more if blocks would be left over, or rows are few. */
static bool plan_parts(plan *p, int threads)
{
    const int64_t all = (int64_t)(WIDE_THREADS / threads) * p->call->device->processors,
                  blocks = blocks_of_row(p, threads);
    if (blocks > all || blocks * meetings(p) > MOST_MET)
        return false;
    const int64_t clusters = ga__fused_at_most(p->rows, all / blocks),
                  most = p->length * (int64_t)p->widest / PART_BYTES;
    return plan_ahead(p, (int)ga__fused_at_most(all / clusters, most > blocks ? most : blocks),
                      threads);
}

/* Whether parts in registers are faster than in shared memory: if the last pass alone reads some
 * operand; else those of floats, if they have several stages or are few. */
static bool gains_from_registers(const plan *p)
{
    const int threads = ga__fused_has_pairs(p) ? BLOCK : LARGEST_TEAM;
    return ga__fused_has_late(p) || (p->widest <= WORD && (p->call->formula->nstages > 1 ||
                                                           blocks_of_row(p, threads) <= GA__WARP));
}

static void begin_registers(plan *p)
{
    p->v.registers = p->v.ahead = true;
    p->v.staged = ga__fused_stageable(p);
}

/* Parts of rows in registers. While blocks meet, the bus idles once the next parts have come. A
 * multiprocessor holds more rows in shared memory, which hide meetings better: measured on an H200,
 * section "Long rows" of bench/results/h200-2026-11-26.md. Small floats gain from more blocks. */
static bool plan_meeting(plan *p)
{
    const int most = p->widest > WORD ? MOST_MEETINGS / 2 : MOST_MEETINGS;
    if (!p->call->device->meets || p->call->formula->per_row || meetings(p) > most)
        return false;
    begin_registers(p);
    choose_lanes(p);
    if (!gains_from_registers(p))
        return false;
    return (ga__fused_has_pairs(p) && plan_parts(p, BLOCK)) || plan_parts(p, LARGEST_TEAM);
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
    begin_registers(p);
    return ga__fused_has_late(p) && (plan_ahead(p, 1, LARGEST_TEAM) || plan_meeting(p));
}

/* Doubles gain already where registers would have several rows without the next one. */
static bool plan_late_doubles(plan *p)
{
    if (p->widest <= WORD || p->length * (int64_t)p->widest < LATE_BYTES ||
        p->call->formula->per_row)
        return false;
    begin_registers(p);
    return ga__fused_has_late(p) && plan_ahead(p, 1, LARGEST_TEAM);
}

/* Rows that do not fit the registers of a block. */
static bool plan_long(plan *p)
{
    const int several = p->widest > WORD ? WIDE_BLOCKS : PROCESSOR_BLOCKS;
    return (prefers_registers(p) && plan_ahead(p, 1, LARGEST_BLOCK)) || plan_late(p) ||
           plan_rows(p, several) || plan_meeting(p) || plan_clusters(p, several) || plan_rows(p, 1);
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
    p->v.ahead = false;
    p->v.staged = 0;
    if (!plan_registers(p))
        return false;
    p->grid = ga__ceil_div(p->rows, p->rows_of_block);
    return true;
}

bool ga__fused_plan_cuda(plan *p)
{
    note_rows(p);
    if (p->v.walk == GA__WALK_COLUMNS)
        return ga__fused_plan_columns(p);
    if (ga__fused_plan_short(p))
        return true;
    if (p->length == 1)
        return ga__fused_plan_single(p);
    if (ga__fused_plan_threads(p))
        return true;
    if (is_reduced_faster(p) ||
        (!plan_late_doubles(p) && !plan_held(p) && (p->call->formula->one_step || !plan_long(p))))
        return false;
    choose_pairs(p);
    return p->grid <= INT32_MAX;
}
