/* Chooses the squares of an elementwise call on CUDA: operands whose neighbours are along another
 * axis than the results' pass through shared memory, and every array moves whole vectors. */
#include "kernels/elementwise_plan.h"

#define MOST_SHARED (48 << 10)
#define SMALL 32 /* elements a side, of the squares of small blocks */
#define BLOCK 128
#define BIG_BLOCK 512

typedef ga__elementwise_plan plan;

/* The axis of the neighbours of operands that stride on axis 0; 0 when there is none. If they have
 * several, moves_whole_vectors() is false. */
static int transposed_axis(const plan *p)
{
    int transposed = 0;
    for (int k = 0; k < p->noperands && p->nest.ndim > 1; k++) {
        const int place = p->place[k];
        if (place == GA__NO_PLACE || p->step[place] != STEP_ANY)
            continue;
        int axis = 1;
        while (axis < p->nest.ndim && p->nest.strides[place][axis] != 1)
            axis++;
        if (p->operands[k].writes || axis == p->nest.ndim)
            return 0;
        transposed = axis;
    }
    return transposed;
}

/* Of the arrays that move in vectors: the bytes of the widest element, and of those that turn; how
 * many arrays are read. */
typedef struct moved {
    int widest, transposed, reads;
} moved;

static moved count_moved(const plan *p)
{
    moved m = {0};
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        if (place == GA__NO_PLACE || p->step[place] == STEP_ZERO)
            continue;
        const int size = (int)ga__dtype_size(p->operands[k].array->dtype);
        m.widest = size > m.widest ? size : m.widest;
        m.transposed += p->step[place] == STEP_ANY ? size : 0;
        m.reads += p->operands[k].reads;
    }
    return m;
}

/* Squares of 256 bytes a side, of the widest element: measured, on both sides of a transposed copy.
 */
static int side_of(int widest)
{
    return widest <= 2 ? 128 : widest <= 8 ? 64 : SMALL;
}

/* Whether squares beat tiles: measured on an H200, by 2 to 3 % of the bus. Tiles beat squares of
 * narrow elements, and squares that the array does not fill. */
static bool pay(const plan *p, int transposed, const moved *m)
{
    const int side = side_of(m->widest);
    return (m->widest >= 4 || (m->widest == 2 && m->reads > 1)) && p->nest.shape[0] >= side &&
           p->nest.shape[transposed] >= side && m->transposed * side * (side + 1) <= MOST_SHARED;
}

static bool moves_whole_vectors(const plan *p, int transposed, int lanes)
{
    if (p->nest.shape[0] % lanes != 0 || p->nest.shape[transposed] % lanes != 0)
        return false;
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        if (place != GA__NO_PLACE &&
            !ga__elementwise_lanes_fit(p, k, lanes, p->step[place] == STEP_ANY ? transposed : 0))
            return false;
    }
    return true;
}

static void set_squares(plan *p, int transposed, int side)
{
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE)
            p->transposed[p->place[k]] = p->step[p->place[k]] == STEP_ANY;
    ga__nest_swap(&p->nest, 1, transposed);
    p->head.tiled = true;
    p->head.square = side;
    p->head.block = side > SMALL ? BIG_BLOCK : BLOCK;
    p->grid = ga__ceil_div(p->nest.shape[0], side) * ga__ceil_div(p->nest.shape[1], side);
    for (int axis = 2; axis < p->nest.ndim; axis++)
        p->grid *= p->nest.shape[axis];
}

bool ga__elementwise_squares(plan *p)
{
    const int transposed = transposed_axis(p);
    if (transposed == 0)
        return false;
    const moved m = count_moved(p);
    const int lanes = GA__VECTOR_BYTES / m.widest;
    if (!pay(p, transposed, &m) || !moves_whole_vectors(p, transposed, lanes))
        return false;
    p->head.lanes = lanes;
    set_squares(p, transposed, side_of(m.widest));
    return true;
}
