/* Estimates what little products cost by teams and by cuBLASLt. */
#include "kernels/product/product_costs.h"

#include "kernels/request.h"

typedef ga__product_plan plan;
typedef ga__product_operand operand;

/* Costs on CUDA are cycles of a multiprocessor for one product, as measured on an H200. Teams
 * multiply narrow complex products of a shallow k faster. Real products that are narrow or
 * short need no number for it; longer ones need several rounds. */
enum {
    NARROW = 12, /* rows or columns */
    SHALLOW = 64,
    SHORT = 16, /* rows and columns */
    ROUNDS = 4,
    BYTES = 17,       /* that memory moves in a cycle, for each multiprocessor */
    MULTIPLIED = 400, /* bytes of words that a multiprocessor multiplies in a cycle; */
    OF_TF32 = 450,    /* by tensor cores, numbers, */
    OF_HALVES = 1500,
    BEGIN = 96,          /* cycles of a warp before and after it multiplies */
    LIBRARY_BEGIN = 260, /* of cuBLASLt before and after it multiplies; */
    LIBRARY_SIDE = 32    /* rows and columns of cuBLASLt's tiles, or less */
};

static double longer_of(double x, double y)
{
    return x > y ? x : y;
}

/* Of two works at once, which at times wait for each other. */
static double together(double x, double y)
{
    return longer_of(x, y) + (x + y - longer_of(x, y)) / 2;
}

/* Of one operand; 0 where all places have the same matrix, which stays in the cache. */
static double bytes_of(const plan *p, const operand *o, int64_t rows, int64_t columns)
{
    for (int axis = 0; axis < p->axes; axis++)
        if (o->stack[axis] != 0)
            return (double)(rows * columns) * (double)ga__dtype_size(o->array->dtype);
    return 0;
}

/* Tensor cores multiply whole tiles of a warp's sums. */
static double multiplications(const plan *p)
{
    if (!p->v.tensor)
        return (double)(p->m * p->n * p->k);
    return (double)(16 * p->v.rows) * (8 * p->v.columns * p->v.across) *
           (double)ga__ceil_div(p->k, 16) * 16;
}

static double cost_of_memory(const plan *p)
{
    return (bytes_of(p, &p->a, p->m, p->k) + bytes_of(p, &p->b, p->k, p->n) +
            bytes_of(p, &p->c, p->m, p->n)) /
           BYTES;
}

/* Vectors that are copied in the background cost no more than memory. */
static double cost_of_copies(int64_t elements, bool vectors, bool in_background)
{
    return (double)elements * (!vectors ? 0.68 : in_background ? 0 : 0.25);
}

/* What a multiprocessor multiplies in a cycle, at most. */
static double speed_of(const ga__product_variant *v, double word)
{
    return !v->tensor                               ? MULTIPLIED / word
           : ga__dtype_size((ga_dtype)v->type) == 2 ? OF_HALVES
                                                    : OF_TF32;
}

/* Whether results are stored by less than 8 bytes at once. */
static bool stores_narrow(const ga__product_variant *v)
{
    return v->tensor && ga__product_column_group(v) * (int)ga__dtype_size((ga_dtype)v->c) < 8;
}

static double cost_of_work(const plan *p)
{
    const ga__product_variant *v = &p->v;
    const bool ahead = ga__product_copies_ahead(p) || v->tensor;
    const double word = (double)ga__product_word_bytes(p->call->type, false);
    return multiplications(p) / speed_of(v, word) + (v->tensor ? BEGIN : 0) +
           cost_of_copies(p->m * p->k, v->a_vectors && (v->a_along_k || v->tensor), ahead) +
           cost_of_copies(p->k * p->n, v->b_vectors && (!v->b_along_k || v->tensor), ahead) +
           cost_of_copies(p->m * p->n, v->c_vectors, !stores_narrow(v));
}

double ga__product_cost_of_teams(const plan *p)
{
    return together(cost_of_work(p), cost_of_memory(p));
}

/* Of a tile of cuBLASLt. */
static double cost_of_tile(size_t size, double k)
{
    return size < 4 ? 400 + 4 * k : size == 4 ? 500 + 13 * k : 560 + 25 * k;
}

/* In full float32 cuBLASLt lacks some of memory's speed. By tensor cores it is soon done. */
static double cost_of_library(const plan *p)
{
    const size_t size = ga__dtype_size(p->call->type);
    if (p->v.tensor || (size == 4 && p->call->tf32))
        return cost_of_memory(p) + LIBRARY_BEGIN;
    const int64_t tiles = ga__ceil_div(p->m, LIBRARY_SIDE) * ga__ceil_div(p->n, LIBRARY_SIDE);
    return longer_of((double)tiles * cost_of_tile(size, (double)p->k),
                     cost_of_memory(p) * (size == 4 ? 1.3 : 1));
}

/* Rounds in which the device has blocks for all parts of all products. Little time is lost at the
 * end of the last one if there are several. */
static int64_t rounds_of(const plan *teams)
{
    const int64_t blocks = ga__ceil_div(teams->places, ga__product_teams(&teams->v));
    return blocks / teams->resident * ga__ceil_div(teams->k, ga__product_depth(&teams->v));
}

/* Blocks of one large team that convert are few, and wait for memory. */
static bool waits(const plan *teams)
{
    return !teams->v.tensor && !ga__product_copies_ahead(teams) &&
           ga__product_teams(&teams->v) == 1;
}

/* Threads beside cuBLASLt, whose estimate is low too: without what they wait. */
static double cost_beside_library(const plan *p)
{
    return p->v.tensor ? ga__product_cost_of_teams(p)
                       : longer_of(cost_of_work(p), cost_of_memory(p));
}

bool ga__product_teams_are_faster(const plan *p)
{
    const int64_t longer = p->m > p->n ? p->m : p->n, shorter = p->m + p->n - longer;
    if (ga__dtype_kind(p->call->type) == 'c')
        return shorter <= NARROW && p->k <= SHALLOW;
    return !waits(p) && cost_beside_library(p) < cost_of_library(p) &&
           (shorter <= NARROW || longer <= SHORT || rounds_of(p) >= ROUNDS);
}
