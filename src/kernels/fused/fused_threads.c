/* Plans short fused rows on CUDA: threads have whole ones. */
#include "kernels/fused/fused_cuda.h"

#define SEVERAL 4             /* rows of one element of a thread */
#define LONGEST_SHORT 16      /* elements of rows whose length alone has a kernel, */
#define LONGEST_BYTES 48      /* less than these, for few kernels; */
#define SHORT_BYTES 64        /* bytes of a thread's groups of such rows, about: fewer in a row */
#define SHORT_BLOCK 128       /* threads that have rows of their own */
#define SHORTEST_OF_THREAD 17 /* elements of a thread's row, or of two threads', if kernels */
#define LONGEST_OF_THREAD 128 /* serve several lengths */
#define THREAD_BYTES 192      /* of a thread's rows, if each multiprocessor has many blocks */
#define MANY_BLOCKS 8         /* on a multiprocessor */
#define MOST_OF_THREAD 4      /* rows */

typedef ga__fused_plan plan;

bool ga__fused_is_close(const plan *p, int k)
{
    if (!ga__fused_along_row(p, k) || p->kept.ndim != 1)
        return false;
    const int64_t gap = p->kept.strides[k][0] - p->length;
    return p->rows == 1 || (gap >= 0 && gap * (int64_t)ga__fused_size(p, k) <= SECTOR);
}

/* Rows of one element. */
bool ga__fused_plan_single(plan *p)
{
    p->v.registers = true;
    p->v.lanes = p->v.each = p->v.team = 1;
    p->v.several = SEVERAL;
    p->v.block = BLOCK;
    p->rows_of_block = BLOCK * SEVERAL;
    p->grid = ga__ceil_div(p->rows, p->rows_of_block);
    return p->grid <= INT32_MAX;
}

/* ---- Rows of one length ---- */

/* The fewest rows of operand k that are whole words of 4 bytes, or a vector. */
static int rows_of_words(const plan *p, int k)
{
    const int row = (int)p->length * (int)ga__fused_size(p, k), whole = row % WORD == 0 ? 1
                                                                        : row % 2 == 0  ? 2
                                                                                        : 4;
    return GA__VECTOR_BYTES % (row * whole) == 0 ? GA__VECTOR_BYTES / row : whole;
}

/* Whether the rows of operand k are one stretch of whole vectors, or all the same. */
static bool is_one_stretch(const plan *p, int k)
{
    const gpuarray *x = p->call->operands[k].array;
    const uintptr_t data = x ? (uintptr_t)x->data : 0;
    return !ga__fused_along_row(p, k) || !ga__fused_has_own_rows(p, k) ||
           (ga__fused_is_dense(p, k) && data % GA__VECTOR_BYTES == 0);
}

/* Whether the groups of short rows suit their operands; sets the operands in shared memory, one of
 * which has a place for results, the rows of a group, and its bytes. Results of rows alone come
 * sooner from whole vectors. */
static bool has_groups(plan *p, int *together, int *nbytes)
{
    const bool per_row = p->call->formula->per_row;
    bool fits = p->length <= LONGEST_SHORT, lends = per_row;
    p->v.staged = p->own;
    *together = 1;
    *nbytes = 0;
    for (int k = 0; k < p->call->noperands && fits; k++) {
        const int row = (int)p->length * (int)ga__fused_size(p, k);
        fits = is_one_stretch(p, k);
        if (!(p->v.staged >> k & 1))
            continue;
        const int rows = rows_of_words(p, k);
        *together = rows > *together ? rows : *together;
        *nbytes += row;
        lends |= ga__fused_lends(&p->v, k);
        fits &= !per_row || row % GA__VECTOR_BYTES != 0;
    }
    fits &= *nbytes < LONGEST_BYTES;
    *nbytes *= *together;
    return fits && lends && p->v.staged != 0;
}

/* Rows of one element have no axis of their own, and no step. With one they are a stretch like
 * those of several, and what all rows share is read once. */
static void set_steps(plan *p, int step)
{
    if (p->length > 1)
        return;
    for (int k = p->call->formula->per_row; k < p->call->noperands; k++)
        if (p->v.operand[k].streamed)
            p->v.operand[k].step = (uint8_t)(step & 3);
    ga__fused_note_rows(p);
}

/* Short rows: a thread has groups of them. */
bool ga__fused_plan_short(plan *p)
{
    const ga_dtype pairs = p->length > 1 ? p->call->formula->pairs : GA_NO_DTYPE;
    int together, nbytes;
    set_steps(p, STEP_ONE);
    if (!has_groups(p, &together, &nbytes)) {
        set_steps(p, STEP_ZERO);
        p->v.staged = 0;
        return false;
    }
    p->v.registers = true;
    p->v.lanes = p->v.team = 1;
    p->v.paired = (uint8_t)pairs;
    p->v.sure = (uint8_t)p->length;
    p->v.each = (uint8_t)(p->length + (pairs != GA_NO_DTYPE && p->length % 2));
    p->v.several = (uint8_t)(nbytes < SHORT_BYTES ? SHORT_BYTES / nbytes : 1);
    p->v.block = SHORT_BLOCK;
    p->rows_of_block = (int64_t)SHORT_BLOCK * p->v.several * together;
    p->grid = ga__ceil_div(p->rows, p->rows_of_block);
    ga__fused_place(p);
    return p->grid <= INT32_MAX;
}

/* ---- Rows of a thread ---- */

/* Whether all operands suit threads that have a row each. */
static bool suits_threads(const plan *p)
{
    bool suits = p->v.staged != 0;
    for (int k = 0; k < p->call->noperands && suits; k++)
        suits = !ga__fused_along_row(p, k) ||
                (ga__fused_size(p, k) <= WORD &&
                 (!ga__fused_has_own_rows(p, k) || ga__fused_is_close(p, k)));
    return suits;
}

/* Whether the results of several rows of a thread take the place of an operand, row by row: the
 * rows are whole words together. */
static bool replaces(const plan *p, int several)
{
    bool lends = p->call->formula->per_row, whole = true;
    for (int k = 0; k < p->call->noperands; k++) {
        whole &= is_one_stretch(p, k) &&
                 (!ga__fused_along_row(p, k) || several * (int)ga__fused_size(p, k) >= WORD);
        lends |= k > 0 && ga__fused_lends(&p->v, k);
    }
    return whole && lends;
}

/* Several rows if there are many: a block's first instructions then serve more of them. Sets how
 * many they may be, on which the kernel depends. */
static int rows_of_thread(plan *p)
{
    const int64_t at_once = SHORT_BLOCK / p->v.team * MANY_BLOCKS * p->call->device->processors,
                  blocks = p->rows / at_once;
    int nbytes = 0, several = MOST_OF_THREAD;
    for (int k = 1; k < p->call->noperands; k++)
        if (p->v.staged >> k & 1)
            nbytes += p->v.each * (int)ga__fused_size(p, k);
    while (several > 1 && several * nbytes > THREAD_BYTES)
        several /= 2;
    p->v.several = (uint8_t)several;
    while (several > 1 && several > blocks)
        several /= 2;
    return replaces(p, several) ? several : 1;
}

/* Sets the threads of a row and the room for their elements. Rows of a kernel differ in length by a
 * quarter or eighth, so that rows of all lengths share few kernels. Two threads meet at a word, for
 * which bytes would need more room. False if registers have less. */
static bool take_rooms(plan *p)
{
    const int most = ga__fused_most_ahead(p),
              step = ga__fused_power_of_two(p->length, LONGEST_OF_THREAD) / 4,
              room = (int)ga__ceil_div(p->length, step) * step, least = room - step + 1;
    const bool halves = !p->call->formula->per_row && ga__fused_size(p, 0) > 1 && room > most;
    const int team = halves ? 2 : 1, share = (int)ga__ceil_div(least, team * WORD) * WORD;
    p->v.team = (uint16_t)team;
    p->v.each = (uint8_t)(room / team);
    p->v.sure = (uint8_t)(team > 1 ? (least - share) / 2 * 2 : room - step);
    return room <= team * most;
}

/* A thread has one row, or several, of any length that its registers have room for. Rows that are
 * whole vectors are left to teams. */
bool ga__fused_plan_threads(plan *p)
{
    if (p->length < SHORTEST_OF_THREAD || p->length > LONGEST_OF_THREAD)
        return false;
    p->v.registers = true;
    p->v.staged = p->own;
    p->v.walk = GA__WALK_THREADS;
    p->v.team = p->v.lanes = 1;
    if (p->whole * p->widest < GA__VECTOR_BYTES && suits_threads(p) && take_rooms(p)) {
        p->v.paired = (uint8_t)p->call->formula->pairs;
        p->v.gathers = !p->call->formula->per_row;
        p->v.block = SHORT_BLOCK;
        p->rows_of_block = (int64_t)(SHORT_BLOCK / p->v.team) * rows_of_thread(p);
        p->grid = ga__ceil_div(p->rows, p->rows_of_block);
        ga__fused_place(p);
        if (p->shared <= ga__fused_shared_limit(p) && p->grid <= INT32_MAX)
            return true;
    }
    p->v.staged = 0;
    p->v.sure = p->v.paired = p->v.several = 0;
    p->v.gathers = false;
    p->v.walk = GA__WALK_ROWS;
    return false;
}
