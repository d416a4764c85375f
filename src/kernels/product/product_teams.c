/* Plans stacks of little products: a team of threads or warps computes each. */
#include "kernels/product/product_teams.h"

#include "kernels/product/product_costs.h"
#include "kernels/request.h"

typedef ga__product_plan plan;

enum {
    LEAST_SIDE = 4, /* threads along each side of a team, */
    MOST_SIDE = 8,
    LEAST_DEPTH = 8, /* and places of k for which it has room */
    FEW_DEPTH = 32,  /* of several teams in a block: any GPU has the shared memory */
    MOST_DEPTH = 64,
    LONG_DEPTH = 4096,      /* in parts */
    LONG_SUMS = 32 * 32,    /* of elements of the product, at most */
    AHEAD_SIDE = 48,        /* larger products' factors come ahead */
    BLOCK_SHARED = 1 << 10, /* bytes of shared memory that the system takes for each block */
    MOST_BLOCKS = 32        /* that a multiprocessor runs at once */
};

/* Tensor cores multiply along 8 words of k at once. */
enum {
    TENSOR_ARCH = 80, /* of the first GPUs that have TF32 and bfloat16 */
    TENSOR_STEP = 8,
    WARP_COLUMNS = 4 /* how often a warp has these, at most */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- What teams can compute ---- */

/* Columns of a thread, at most: sums are in up to 64 registers. */
static int most_columns(size_t word)
{
    return GA__PRODUCT_LITTLE_LINES * 4 / (int)word;
}

/* Whether tensor cores multiply the factors as they are in memory: floats of 16 bits, and float32
 * if TF32 may replace it. */
static bool suits_tensors(const plan *p)
{
    const ga_dtype type = p->call->type;
    const size_t size = ga__dtype_size(type);
    return p->device->arch >= TENSOR_ARCH && p->a.array->dtype == type &&
           p->b.array->dtype == type && ga__dtype_kind(type) == 'f' &&
           (size == 2 || (size == 4 && p->call->tf32));
}

static bool is_for_threads(const plan *p)
{
    return p->k <= (p->m * p->n <= LONG_SUMS ? LONG_DEPTH : MOST_DEPTH);
}

/* A warp's sums stay in registers, however long k is; those of 16-bit floats are for the library.
 */
static bool is_for_warps(const plan *p)
{
    return p->call->tf32 && suits_tensors(p) && p->k <= LONG_DEPTH;
}

/* Bytes of integers are four to a word. */
bool ga__product_is_for_teams(const plan *p)
{
    const ga_dtype type = p->call->type;
    const size_t size = ga__product_word_bytes(type, false);
    const bool whole_words = ga__dtype_size(type) > 1 || ga__dtype_rounds(type);
    return whole_words && size <= 8 && p->m > 1 && p->n > 1 && p->k > 0 &&
           (is_for_threads(p) || is_for_warps(p)) && p->places >= p->device->processors &&
           p->m <= MOST_SIDE * GA__PRODUCT_LITTLE_LINES && p->n <= MOST_SIDE * most_columns(size);
}

/* ---- Teams ---- */

/* Whether 16 threads are a team. */
static bool takes_few(const plan *p)
{
    const int most = most_columns(ga__product_word_bytes(p->call->type, false));
    return p->m <= LEAST_SIDE * GA__PRODUCT_LITTLE_LINES && p->n <= LEAST_SIDE * most &&
           p->k <= FEW_DEPTH;
}

static void set_depth(plan *p, int first, int64_t k)
{
    int depth = first;
    while (depth < k && depth < MOST_DEPTH)
        depth *= 2;
    for (p->v.depth = 0; ga__product_depth(&p->v) < depth;)
        p->v.depth++;
}

/* Each with as few rows and columns as cover the product. */
static void set_threads(plan *p)
{
    const int side = takes_few(p) ? LEAST_SIDE : MOST_SIDE;
    int columns = 2;
    p->v.side = (uint8_t)side;
    while (columns * ga__product_wide(&p->v) < p->n)
        columns *= 2;
    set_depth(p, LEAST_DEPTH, p->k);
    ga__product_set_tile(p, (int)ga__ceil_div(p->m, side), columns);
}

/* One warp, or two side by side, each with up to 64 x 32 elements of the product: two that have one
 * below the other would convert factors twice. */
static void set_warps(plan *p)
{
    const int64_t rows = ga__ceil_div(p->m, GA__PRODUCT_TENSOR_ROWS),
                  columns = ga__ceil_div(p->n, GA__PRODUCT_TENSOR_COLUMNS);
    const int of_word = 4 / (int)ga__dtype_size(p->call->type);
    int each = 1;
    p->v.side = 1;
    p->v.across = columns > WARP_COLUMNS ? 2 : 1;
    while (each * p->v.across < columns)
        each *= 2;
    set_depth(p, TENSOR_STEP * of_word, p->k);
    ga__product_set_tile(p, (int)rows, each);
}

static void set_teams(plan *p, bool tensor, bool ahead)
{
    p->v.ahead = ahead;
    p->v.tensor = tensor;
    tensor ? set_warps(p) : set_threads(p);
    p->tiles_m = p->tiles_n = 1;
    ga__product_choose_copies(p);
    p->block = ga__product_teams(&p->v) * ga__product_team(&p->v);
    p->shared_bytes = ga__product_shared_bytes(&p->v);
}

/* Blocks that the device runs at once, as shared memory allows. */
static int64_t resident_blocks(const plan *p)
{
    const int64_t each = (int64_t)p->shared_bytes + BLOCK_SHARED;
    const int64_t blocks = least((int64_t)p->device->shared_bytes / each, MOST_BLOCKS);
    return p->device->processors * (blocks > 0 ? blocks : 1);
}

/* Threads that multiply large products wait for factors, which thus come ahead. Tensor cores are
 * soon done. Not all GPUs have room for two stages. */
static void set_stages(plan *p, bool tensor)
{
    const bool ahead = !tensor && least(p->m, p->n) > AHEAD_SIDE && ga__product_copies_ahead(p);
    set_teams(p, tensor, ahead);
    if (ahead && p->shared_bytes > p->device->shared_bytes)
        set_teams(p, tensor, false);
    p->blocks = ga__ceil_div(p->places, ga__product_teams(&p->v));
    p->resident = resident_blocks(p);
    if (p->v.ahead)
        p->blocks = least(p->blocks, p->resident);
}

void ga__product_plan_teams(plan *p)
{
    plan warps = *p;
    set_stages(p, false);
    if (!suits_tensors(p))
        return;
    set_stages(&warps, true);
    if (!is_for_threads(p) || ga__product_cost_of_teams(&warps) < ga__product_cost_of_teams(p))
        *p = warps;
}
