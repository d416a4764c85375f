/* Chooses the tiles of an elementwise call on CUDA, and passes them to its kernel. */
#include "kernels/elementwise_plan.h"

#define BLOCK 256
#define TILES 4  /* for each processor, if the array has them */
#define APART 32 /* bytes from one element to the next below which they share what memory moves */
#define NARROW 2 /* bytes of elements that one access each would move too slowly */
#define SHORTEST 512 /* bytes of the stretches whose ends cost less than vectors save: measured */
#define MOST_AXES 12 /* whose words the parameters of a kernel, 4 KiB, hold */
#define MOST_RINGS 4
#define LEAST_SHARED (48 << 10) /* bytes that a block of every device may have */

typedef ga__elementwise_plan plan;

/* ---- What is staged ---- */

/* The axis of the shortest stride of an operand, if there is one of at least 1. */
static int near_axis(const plan *p, int place)
{
    const int64_t *strides = p->nest.strides[place];
    int near = -1;
    for (int axis = 0; axis < p->nest.ndim; axis++)
        if (strides[axis] > 0 && (near < 0 || strides[axis] < strides[near]))
            near = axis;
    return near;
}

/* Whether operand k is read in another order than the results are written, or narrow elements of it
 * lie apart, so that shared memory saves accesses. */
static bool pays_to_stage(const plan *p, int k)
{
    const int place = p->place[k];
    if (place == GA__NO_PLACE || p->step[place] != STEP_ANY || p->operands[k].writes)
        return false;
    const int64_t size = (int64_t)ga__dtype_size(p->operands[k].array->dtype);
    const int near = near_axis(p, place);
    return near >= 0 && p->nest.strides[place][near] * size < APART && (near > 0 || size <= NARROW);
}

/* The operands that pass through shared memory: all have their neighbours along the same axis. */
static void choose_stages(plan *p)
{
    int near = -1;
    p->tile.nstages = 0;
    for (int k = 0; k < p->noperands && p->tile.nstages < GA__MOST_STAGES; k++) {
        if (!pays_to_stage(p, k))
            continue;
        if (near >= 0 && near_axis(p, p->place[k]) != near)
            continue;
        near = near_axis(p, p->place[k]);
        p->transposed[p->place[k]] = true;
        ga__stage *stage = &p->tile.stage[p->tile.nstages++];
        stage->place = p->place[k];
        stage->size = (int)ga__dtype_size(p->operands[k].array->dtype);
        stage->begin = (uint64_t)(uintptr_t)p->operands[k].array->data;
    }
}

/* ---- Results ---- */

static int count_written(const plan *p)
{
    int written = 0;
    for (int k = 0; k < p->noperands; k++)
        written += p->place[k] != GA__NO_PLACE && p->operands[k].writes;
    return written;
}

/* Whether all results have their neighbours along axis 0. */
static bool results_are_rows(const plan *p, int written)
{
    bool rows = written > 0;
    for (int place = 0; place < written; place++)
        rows = rows && p->step[place] == STEP_ONE;
    return rows;
}

/* ---- How elements move ---- */

/* Whether the operand's elements are neighbours along the run, as the results' are. */
static bool follows(const plan *p, int place, int run)
{
    bool dense = p->step[place] == STEP_ONE;
    for (int axis = 1; axis < run; axis++)
        dense = dense && p->nest.strides[place][axis] ==
                             p->nest.strides[place][axis - 1] * p->nest.shape[axis - 1];
    return dense;
}

/* Whether all rows of operand k are one short row: where most vectors of a warp reach its end,
 * shared memory serves vectors of a row that does not end. */
static bool is_ring(const plan *p, int k)
{
    for (int axis = 1; axis < p->nest.ndim; axis++)
        if (p->nest.strides[p->place[k]][axis] != 0)
            return false;
    const int64_t size = (int64_t)ga__dtype_size(p->operands[k].array->dtype);
    return p->nest.ndim > 1 && p->tile.nstages == 0 && p->nest.shape[0] * size <= GA__RING_BYTES;
}

static ga__move move_of(const plan *p, int k, bool rings)
{
    const int place = p->place[k];
    if (p->transposed[place] || p->head.lanes == 1 || p->step[place] == STEP_ANY)
        return GA__MOVE_SINGLY;
    if (p->step[place] == STEP_ZERO)
        return p->tile.run > 1 ? GA__MOVE_PAIR : GA__MOVE_HELD;
    if (follows(p, place, p->tile.run))
        return GA__MOVE_DENSE;
    if (rings && is_ring(p, k))
        return GA__MOVE_RING;
    return 2 * p->nest.shape[0] >= p->head.lanes ? GA__MOVE_ROW : GA__MOVE_SINGLY;
}

/* ---- The choice ---- */

static const gpuarray *first_result(const plan *p)
{
    int k = 0;
    while (p->place[k] != 0)
        k++;
    return p->operands[k].array;
}

/* The largest element that moves in vectors. */
static int widest(const plan *p)
{
    int widest = 1;
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        if (place == GA__NO_PLACE || p->step[place] != STEP_ONE)
            continue;
        const int size = (int)ga__dtype_size(p->operands[k].array->dtype);
        widest = size > widest ? size : widest;
    }
    return widest;
}

/* Whether unaligned vectors pay where nothing is staged: every operand has some, the elements are
 * narrow, and the stretches of the results are not too short. */
static bool vectors_pay(const plan *p, int written, int widest)
{
    int64_t stretch = widest;
    const int run = ga__tile_run(&p->nest, written);
    for (int axis = 0; axis < run; axis++)
        stretch *= p->nest.shape[axis];
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE && p->step[p->place[k]] == STEP_ANY)
            return false;
    return p->head.lanes == 1 && widest <= NARROW && stretch >= SHORTEST;
}

static void set_moves(plan *p)
{
    int rings = 0;
    for (int k = 0; k < p->noperands; k++) {
        if (p->place[k] == GA__NO_PLACE)
            continue;
        const ga__move move = move_of(p, k, rings < MOST_RINGS);
        p->move[p->place[k]] = move;
        rings += move == GA__MOVE_RING;
    }
    p->grid = 1;
    for (int axis = 0; axis < p->nest.ndim; axis++)
        p->grid *= p->tile.tiles[axis];
}

bool ga__elementwise_tiles(plan *p)
{
    const int written = count_written(p), lanes = p->head.lanes, most = widest(p);
    if (written == 0 || p->nest.ndim > MOST_AXES)
        return false;
    const bool rows = results_are_rows(p, written), narrow = rows && vectors_pay(p, written, most);
    choose_stages(p);
    if (p->tile.nstages == 0 && !narrow)
        return false;
    const gpuarray *first = first_result(p);
    p->head.lanes = rows ? GA__VECTOR_BYTES / most : 1;
    const ga__tile_request request = {
        .written = written,
        .lanes = p->head.lanes,
        .size = (int)ga__dtype_size(first->dtype),
        .aligned = (uintptr_t)first->data % APART == 0,
        .apart = ga__elementwise_has_long_rows(p) && ga__elementwise_reads_again(p),
        .block = BLOCK,
        .fewest = (int64_t)p->device->processors * TILES,
        .shared = p->device->shared_bytes ? (int64_t)p->device->shared_bytes : LEAST_SHARED};
    p->head.tiled = ga__tile_choose(&p->tile, &p->nest, &request);
    if (p->head.tiled) {
        p->head.block = BLOCK;
        set_moves(p);
        return true;
    }
    for (int k = 0; k < p->tile.nstages; k++)
        p->transposed[p->tile.stage[k].place] = false;
    p->head.lanes = lanes;
    return false;
}

/* ---- Parameters ---- */

void ga__elementwise_tile_head(const plan *p, ga__params *params)
{
    const ga__tile *t = &p->tile;
    const ga__nest *nest = &p->nest;
    *(ga__tile_params *)ga__params_reserve(params, sizeof(ga__tile_params)) =
        (ga__tile_params){.count = (uint64_t)p->n,
                          .total = (uint64_t)t->total,
                          .part = (uint64_t)t->part,
                          .stretches = (uint64_t)t->stretches,
                          .across = (uint64_t)t->across,
                          .ids = (uint64_t)t->ids,
                          .align = (uint64_t)t->align,
                          .ends = (uint64_t)(t->ends ? 2 * t->stretches : 0)};
    ga__params_add_divisor(params, t->turns, false);
    for (int axis = 0; axis < nest->ndim; axis++) {
        ga__tile_axis_words *words = ga__params_reserve(params, sizeof *words);
        const bool in_run = axis < t->run;
        words->length = (uint64_t)nest->shape[axis];
        words->extent = (uint64_t)t->extent[axis];
        words->halo = (uint64_t)t->halo[axis];
        ga__divisor_set(words->tiles, t->tiles[axis], p->head.wide);
        ga__divisor_set(words->blocks, t->before[axis], p->head.wide);
        ga__divisor_set(words->indices, in_run ? nest->shape[axis] : t->extent[axis],
                        in_run && p->head.wide);
    }
}

/* The memory that includes all elements: [low, high), addresses. */
static void add_bounds(const plan *p, int k, ga__params *params)
{
    const gpuarray *x = p->operands[k].array;
    const int64_t size = (int64_t)ga__dtype_size(x->dtype);
    int64_t low = 0, high = size;
    for (int axis = 0; axis < p->nest.ndim; axis++) {
        const int64_t reach = (p->nest.shape[axis] - 1) * p->nest.strides[p->place[k]][axis] * size;
        *(reach < 0 ? &low : &high) += reach;
    }
    ga__params_add_pointer(params, x->data + low);
    ga__params_add_pointer(params, x->data + high);
}

static void add_stage(const plan *p, const ga__stage *s, ga__params *params)
{
    int64_t moves = s->vectors;
    for (int axis = 0; axis < p->nest.ndim; axis++)
        moves *= s->count[axis];
    ga__stage_words *words = ga__params_reserve(params, sizeof *words);
    words->moves = (uint64_t)moves;
    words->offset = (uint64_t)s->offset;
    words->within = (uint64_t)(s->unit - 1);
    words->swizzle = (uint64_t)s->shift;
    words->mask = (uint64_t)s->mask;
    ga__divisor_set(words->vectors, s->vectors, false);
    for (int axis = 0; axis < p->nest.ndim; axis++) {
        ga__stage_axis_words *along = ga__params_reserve(params, sizeof *along);
        const int64_t back = axis ? s->step[axis - 1] * p->nest.shape[axis - 1] : 0;
        along->step = (uint64_t)s->step[axis];
        along->walk = (uint64_t)(s->step[axis] - back);
        along->reach = (uint64_t)s->reach[axis];
        ga__divisor_set(along->stretches, s->count[axis], false);
    }
}

static const ga__stage *stage_of(const plan *p, int place)
{
    for (int s = 0; s < p->tile.nstages; s++)
        if (p->tile.stage[s].place == place)
            return &p->tile.stage[s];
    return NULL;
}

bool ga__elementwise_swizzled(const plan *p, int place)
{
    const ga__stage *stage = stage_of(p, place);
    return stage && stage->mask != 0;
}

void ga__elementwise_tile_operand(const plan *p, int k, ga__params *params)
{
    add_bounds(p, k, params);
    const ga__stage *stage = stage_of(p, p->place[k]);
    if (stage)
        add_stage(p, stage, params);
}
