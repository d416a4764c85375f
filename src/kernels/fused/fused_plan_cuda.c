/* Chooses how fused rows run on CUDA: threads of a row, what they keep where, and shared memory. */
#include "kernels/fused/fused_plan.h"

#define BLOCK 256        /* threads that several rows share, and the fewest of a long row */
#define LARGEST_TEAM 512 /* threads of a row in registers */
#define LARGEST_BLOCK 1024
#define SHARED_THREADS 1536 /* of a multiprocessor, for rows in shared memory, */
#define WIDE_THREADS 1024   /* and for double, which takes more registers */
#define PROCESSOR_BLOCKS 3  /* that part of them have while others compute; double: */
#define WIDE_BLOCKS 2
#define MOST_BLOCKS 32     /* of a cluster, if the steps read a row once more, or in double */
#define PART_BYTES 16384   /* of a row's part in a block of a cluster, at least */
#define SHIFTED_VECTORS 8  /* vectors of a row that may begin before it, at least */
#define MOST_PER_ROW 32    /* elements of a thread where no results take registers */
#define MOST_EACH 16       /* elements of a thread in registers; */
#define VECTORS_EACH 8     /* whole vectors need no more, as long as a row has less than a block */
#define REGISTER_BYTES 128 /* of a thread's elements */
#define MOST_PAIRED 32     /* elements of a thread in pairs, */
#define PAIRED_OF_WARP 64  /* and where a warp then has the row, without barriers */
#define SEVERAL 4          /* rows of one element of a thread */
#define AHEAD_EACH 32      /* elements of a thread in registers while the next row is copied */
#define MOST_ROOM 16       /* vectors of a thread in registers */
#define WORD 4             /* bytes of a register */
#define SECTOR 32          /* bytes that memory delivers together */

#define FEW_ROWS 4           /* blocks keep a quarter of the multiprocessors busy */
#define SYSTEM_BYTES 1024    /* of shared memory that a block takes besides its own */
#define FIRST_WITH_COPIES 80 /* architecture */
#define PROCESSOR_BYTES 20   /* that a multiprocessor reads or writes in a nanosecond, about */

typedef ga__fused_plan plan;

/* Whether the rows of operand k are not all the same one. */
static bool has_own_rows(const plan *p, int k)
{
    bool own = false;
    for (int axis = 0; axis < p->kept.ndim; axis++)
        own |= p->kept.strides[k][axis] != 0;
    return own || p->rows == 1;
}

/* ---- Registers ---- */

/* Whether a thread has its elements in pairs, of the bits that memory has. */
static bool has_pairs(const plan *p)
{
    return p->call->formula->pairs != GA_NO_DTYPE && p->v.lanes != 1;
}

/* Bytes of registers that an element of operand k takes, and one of a kept value. */
static size_t operand_bytes(const plan *p, int k)
{
    return has_pairs(p) || ga__fused_size(p, k) > WORD ? ga__fused_size(p, k) : WORD;
}
static size_t kept_bytes(const plan *p, int q)
{
    const ga_dtype type = p->call->formula->kept[q].type;
    const size_t size = ga__dtype_size(ga__dtype_compute(type));
    return has_pairs(p) ? ga__dtype_size(type) : size < WORD ? WORD : size;
}

/* Bytes of registers that one element takes. */
static int register_bytes(const plan *p)
{
    size_t nbytes = 0;
    for (int k = 1; k < p->call->noperands; k++)
        if (ga__fused_along_row(p, k))
            nbytes += operand_bytes(p, k);
    for (int q = 0; q < p->call->formula->nkept; q++)
        nbytes += kept_bytes(p, q);
    return (int)nbytes;
}

static int most_paired(const plan *p)
{
    return p->length <= GA__WARP * PAIRED_OF_WARP ? PAIRED_OF_WARP : MOST_PAIRED;
}

static int most_each(const plan *p)
{
    const int bytes = register_bytes(p), most = bytes > 0 ? REGISTER_BYTES / bytes : MOST_EACH,
              limit = has_pairs(p)                ? most_paired(p)
                      : p->call->formula->per_row ? MOST_PER_ROW
                                                  : MOST_EACH;
    return most < 1 ? 1 : most > limit ? limit : most;
}

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
    if (lanes == 1 || (p->v.registers && lanes > most_each(p)))
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

/* Bytes of registers that one element takes before pass s reads it: what no later pass reads has
 * left its place to a kept value. */
static int bytes_before(const plan *p, int s)
{
    const ga__fused_formula *f = p->call->formula;
    uint64_t read = 0;
    for (int pass = s; pass <= f->nstages; pass++)
        read |= f->reads[pass];
    size_t nbytes = 0;
    for (int k = 1; k < p->call->noperands; k++)
        if (ga__fused_along_row(p, k) && (s == 0 || read >> k & 1))
            nbytes += operand_bytes(p, k);
    for (int q = 0; q < f->nkept; q++)
        if (f->kept[q].stage < s)
            nbytes += kept_bytes(p, q);
    return (int)nbytes;
}

/* The most elements of a thread that has a row of its block to itself. */
static int most_ahead(const plan *p)
{
    int bytes = 1;
    for (int s = 0; s <= p->call->formula->nstages; s++)
        bytes = bytes_before(p, s) > bytes ? bytes_before(p, s) : bytes;
    return REGISTER_BYTES / bytes < AHEAD_EACH ? REGISTER_BYTES / bytes : AHEAD_EACH;
}

static int power_of_two(int64_t at_least, int most)
{
    int power = 1;
    while (power < at_least && power < most)
        power *= 2;
    return power;
}

/* Whether threads take rows of their own by pairs. */
static bool has_rows_of_pairs(const plan *p, int team)
{
    return team == 1 && p->v.lanes == 1 && p->call->formula->pairs != GA_NO_DTYPE;
}

/* The vectors that a thread has room for: powers of two, so that rows of any length share few
 * kernels, or pairs in rows of a thread. A thread skips those past its row's end. */
static int room_for(const plan *p, int64_t vectors, int team, int most)
{
    if (has_rows_of_pairs(p, team) && vectors < most)
        return (int)(vectors + vectors % 2);
    const int room = power_of_two(vectors, MOST_ROOM);
    return room < most ? room : most;
}

/* How many of a thread's vectors are in every row of the variant: as many as the next smaller
 * room has. */
static int sure_of(const plan *p, int room, int64_t whole_vectors, int team)
{
    if (has_rows_of_pairs(p, team))
        return room > 2 && room - 2 <= whole_vectors ? (room - 1) / 2 * 2 : 0;
    int sure = 0;
    for (int k = 1; k < room && k * (int64_t)team <= whole_vectors; k *= 2)
        sure = k;
    return sure;
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
    p->v.sure = (uint8_t)sure_of(p, room, p->length / p->v.lanes, team);
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
    return has_pairs(p)                ? most_paired(p)
           : p->call->formula->per_row ? MOST_PER_ROW
           : whole                     ? VECTORS_EACH
                                       : MOST_EACH;
}

/* Chooses the threads of a row and their elements; false if the row does not fit them. */
static bool share_row(plan *p)
{
    const int most = vectors_with_room(p, most_each(p)),
              usual = vectors_with_room(p, usual_each(p)), few = usual < most ? usual : most;
    const int64_t vectors = vectors_of_row(p);
    int team = power_of_two(ga__ceil_div(vectors, few), BLOCK);
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

/* Blocks, of rows in shared memory, that a multiprocessor has room for. */
static int64_t blocks_with_room(const plan *p)
{
    const int64_t fit = (int64_t)(ga__fused_shared_limit(p) / (p->shared + SYSTEM_BYTES));
    return fit < 1 ? 1 : fit;
}

/* Bytes of the widest element. */
static size_t widest_of(const plan *p)
{
    size_t widest = 1;
    for (int k = 0; k < p->call->noperands; k++)
        if (ga__fused_along_row(p, k) && ga__fused_size(p, k) > widest)
            widest = ga__fused_size(p, k);
    return widest;
}

/* Threads that a multiprocessor has for rows in shared memory. */
static int threads_at_once(const plan *p)
{
    return p->v.registers || widest_of(p) > WORD ? WIDE_THREADS : SHARED_THREADS;
}

/* The threads of a row in shared memory: as few as keep a multiprocessor's threads busy. */
static int threads_in_shared(const plan *p)
{
    int team = LARGEST_BLOCK;
    while (team > BLOCK && 2 * (threads_at_once(p) / team) <= blocks_with_room(p))
        team /= 2;
    return team;
}

/* Blocks that run at once. */
static int64_t blocks_at_once(const plan *p)
{
    const int64_t fit = blocks_with_room(p), threads = threads_at_once(p) / p->v.team;
    return (fit < threads ? fit : threads) * p->call->device->processors;
}

static int64_t at_most(int64_t limit, int64_t value)
{
    return value < limit ? value : limit;
}

/* The copies of shared memory that a device makes in the background have 4, 8 or 16 bytes. */
static bool copies_ahead(const plan *p)
{
    for (int k = 1; k < p->call->noperands; k++)
        if (p->v.staged >> k & 1 && p->v.lanes * ga__fused_size(p, k) < WORD)
            return false;
    return p->call->device->arch >= FIRST_WITH_COPIES;
}

/* One row of a block at a time comes to shared memory; false if there are few rows or they are too
 * long. */
static bool stage_rows(plan *p)
{
    p->v.staged = 0;
    for (int k = 1; k < p->call->noperands; k++)
        if (ga__fused_along_row(p, k) && has_own_rows(p, k))
            p->v.staged |= (uint64_t)1 << k;
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
    const int most = vectors_with_room(p, most_ahead(p));
    const int64_t vectors = vectors_of_row(p);
    if (vectors > LARGEST_BLOCK * (int64_t)most || !stage_rows(p) || p->v.staged == 0 ||
        !copies_ahead(p))
        return false;
    const int team = power_of_two(ga__ceil_div(vectors, most), LARGEST_BLOCK);
    take_team(p, team, most);
    p->v.block = p->v.team;
    p->grid = at_most(p->rows, blocks_at_once(p));
    return true;
}

/* Half a row's time, in which its multiprocessor reads and writes the rows of all of its blocks.
 * Measured on an H200: 3 to 4 %. */
static void set_wait(plan *p)
{
    size_t nbytes = 0;
    for (int k = p->call->formula->per_row; k < p->call->noperands; k++)
        if (k == 0 || p->v.staged >> k & 1)
            nbytes += ga__fused_size(p, k);
    const int64_t blocks = ga__ceil_div(p->grid, p->call->device->processors);
    if (p->v.ahead && p->rows > 2 * p->grid)
        p->wait = blocks * p->part * (int64_t)nbytes / PROCESSOR_BYTES / 2;
}

/* Rows in the shared memory of a block, or parts of them in that of each of some blocks. */
static bool plan_shared(plan *p, int blocks)
{
    p->v.registers = p->v.gathers = false;
    p->v.ahead = false;
    p->v.clustered = blocks > 1;
    choose_lanes(p);
    p->v.each = p->v.sure = 0;
    p->blocks = blocks;
    p->part = blocks > 1 ? ga__ceil_div(vectors_of_row(p), blocks) * p->v.lanes : p->length;
    if (!stage_rows(p) || (blocks > 1 && (p->v.staged == 0 || !copies_ahead(p))))
        return false;
    p->v.ahead = copies_ahead(p);
    p->v.block = p->v.team = (uint16_t)threads_in_shared(p);
    p->grid = at_most(p->rows, blocks_at_once(p) / blocks) * blocks;
    return p->grid > 0;
}

/* One row per block, in shared memory, with at least `several` blocks per multiprocessor. */
static bool plan_rows(plan *p, int several)
{
    if (!plan_shared(p, 1) || blocks_with_room(p) < several)
        return false;
    set_wait(p);
    return true;
}

/* The most blocks of a cluster. More take longer to meet than the steps take to read again, which
 * read a row once for each stage. Measured on an H100. */
static int64_t most_blocks(const plan *p, int64_t all)
{
    return p->call->formula->nstages > 1 && widest_of(p) <= WORD ? all : at_most(MOST_BLOCKS, all);
}

/* Rows that some blocks share. They are as few as leave room for several blocks of a
 * multiprocessor, or more where blocks would be left over, or rows are few. */
static bool plan_clusters(plan *p, int several)
{
    const int64_t all = (int64_t)several * p->call->device->processors, limit = most_blocks(p, all);
    int64_t blocks = 2;
    if (!p->call->device->meets)
        return false;
    while (blocks <= limit && (!plan_shared(p, (int)blocks) || blocks_with_room(p) < several))
        blocks += ga__ceil_div(blocks, 16);
    if (blocks > limit)
        return false;
    const int64_t clusters = at_most(p->rows, all / blocks),
                  most = p->length * (int64_t)widest_of(p) / PART_BYTES;
    return plan_shared(p, (int)at_most(all / clusters, most > blocks ? most : blocks));
}

/* Whether rows in registers are as fast as in shared memory, where the next row is on its way.
 * Measured on an H100: floats with results gain from the threads that shared memory leaves room
 * for. */
static bool prefers_registers(const plan *p)
{
    return p->call->formula->pairs != GA_NO_DTYPE || p->call->formula->per_row ||
           widest_of(p) > WORD;
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
    const int several = widest_of(p) > WORD ? WIDE_BLOCKS : PROCESSOR_BLOCKS;
    return (prefers_registers(p) && plan_ahead(p)) || plan_rows(p, several) ||
           plan_clusters(p, several) || plan_rows(p, 1);
}

bool ga__fused_plan_cuda(plan *p)
{
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
