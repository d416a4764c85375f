/* Chooses how a scan runs on CUDA: vectors, tiles, and the blocks of a row. */
#include <assert.h>

#include "kernels/scan/scan_plan.h"

/* Accumulators of a thread, in bytes: with 32 floats a thread has eight vectors in flight, and 64
 * registers leave room for four blocks, 128 KB in flight on a multiprocessor. */
#define THREAD_BYTES 128
#define REGISTER_BYTES 4    /* that an accumulator of rows takes at least */
#define EXCHANGED_BYTES 128 /* of a thread in shared memory: its vectors of results */
#define MOST_UNROLL 16
#define SEGMENT_BYTES 128 /* that neighbouring threads of columns read together */
#define ROW_BLOCKS 4      /* on a multiprocessor: with fewer rows, blocks share them */
#define COLUMN_BLOCKS 2
#define STAGE_BYTES 30720    /* of a tile that waits in shared memory, with what threads exchange */
#define SHARED_BYTES 231000  /* of a multiprocessor, without what the driver takes of each block */
#define STAGED_EXCHANGE 64   /* bytes of a thread in shared memory: its vectors of results */
#define STAGED_BLOCKS 6      /* more leave less than 40 registers to a thread */
#define STAGED_AHEAD 128     /* tiles of all rows: what is farther leaves the cache unread */
#define MANY_TILES 1024      /* of all rows: more pay for totals of tiles further on */
#define MANY_BYTES 47104     /* STAGE_BYTES of these */
#define MANY_BLOCKS 4        /* and blocks of a multiprocessor */
#define AHEAD_SHARE 1 / 3    /* of the second-level cache: what is farther leaves it unread */
#define LEAST_AHEAD 16       /* tiles */
#define MOST_TILES (1 << 25) /* of a row: look_back() has five levels of 32 */
#define ONCE_BLOCKS 4        /* of a multiprocessor, in a selection by one launch */

typedef ga__scan_plan plan;

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t row_step(const plan *p, int place)
{
    return p->v.columns ? p->along[place] : 0;
}

/* Whether each vector of `lanes` elements of the operand is aligned. */
static bool is_aligned(const plan *p, int k, int lanes)
{
    const int place = p->place[k];
    const gpuarray *x = p->operands[k].array;
    const int64_t size = (int64_t)ga__dtype_size(x->dtype);
    const char *first = x->data + p->offset[place] * size;
    const int64_t bytes = smaller(lanes * size, GA__VECTOR_BYTES);
    lanes = (int)(bytes / size);
    if ((uintptr_t)first % (uintptr_t)bytes != 0 || row_step(p, place) % lanes != 0)
        return false;
    for (int axis = p->v.columns ? 1 : 0; axis < p->kept.ndim; axis++)
        if (p->kept.shape[axis] > 1 && p->kept.strides[place][axis] % lanes != 0)
            return false;
    return true;
}

/* Whether the operand moves in vectors of `lanes` elements; one that repeats needs none. */
static bool has_lanes(const plan *p, int k, int lanes, bool rows_follow)
{
    const gpuarray *x = p->operands[k].array;
    const int step = (int)p->v.operand[k].step;
    if (p->place[k] == GA__NO_PLACE || (step == STEP_ZERO && !rows_follow))
        return true;
    if (step != STEP_ONE)
        return false;
    if (rows_follow)
        return (uintptr_t)x->data % (uintptr_t)(lanes * (int)ga__dtype_size(x->dtype)) == 0;
    return is_aligned(p, k, lanes);
}

/* The widest element of the streamed arrays, in bytes. */
static int widest(const plan *p)
{
    size_t most = 1;
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE) {
            const size_t size = ga__vector_size(ga__dtype_size(p->operands[k].array->dtype));
            most = size > most ? size : most;
        }
    return (int)most;
}

/* The widest vectors that operands allow; `bytes` is the size of the elements that fill them. */
static int lanes_of(const plan *p, int bytes, bool rows_follow)
{
    int lanes = p->streamed > 0 ? GA__VECTOR_BYTES / bytes : 1;
    for (int k = 0; k < p->noperands; k++)
        while (lanes > 1 && !has_lanes(p, k, lanes, rows_follow))
            lanes /= 2;
    return lanes;
}

/* Vectors of a thread whose accumulators have THREAD_BYTES together, each `least` or more. */
static int unroll_of(const plan *p, int least)
{
    const int size = p->v.value_bytes > least ? p->v.value_bytes : least;
    const int unroll = THREAD_BYTES / (size * p->v.lanes);
    return unroll < 1 ? 1 : unroll > MOST_UNROLL ? MOST_UNROLL : unroll;
}

/* Whether all rows follow each other in every array. */
static bool rows_follow(const plan *p)
{
    if (p->kept.ndim > 1 || p->streamed == 0)
        return false;
    for (int place = 0; place < p->streamed; place++)
        if (p->along[place] != 1 || p->kept.strides[place][0] != p->length)
            return false;
    return true;
}

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

static void set_tile(plan *p, int lanes)
{
    p->v.lanes = (uint8_t)lanes;
    p->v.unroll = (uint8_t)unroll_of(p, REGISTER_BYTES);
    p->tile = (int64_t)lanes * p->v.unroll * GA__SCAN_BLOCK;
}

/* Gives a tile several whole rows: enough that each tile begins with a whole vector if rows follow
 * each other. */
static bool folds_rows(plan *p)
{
    const bool follow = rows_follow(p);
    const int lanes = follow ? lanes_of(p, widest(p), true) : 1;
    set_tile(p, lanes);
    const int64_t least = lanes / common_divisor(lanes, p->length),
                  fit = p->tile / p->length / least * least;
    if (p->rows == 1 || fit < 1 || (!follow && 2 * p->length > p->tile))
        return false;
    p->v.folds = follow ? GA__FOLDS_FOLLOWING : GA__FOLDS_ANY;
    p->v.segmented = true;
    p->each = fit;
    p->tiles = 1;
    p->grid = ga__ceil_div(p->rows, fit);
    return true;
}

/* Whether blocks share rows: where the rows alone leave multiprocessors idle. */
static void choose_blocks(plan *p, int64_t wanted)
{
    p->tiles = ga__ceil_div(p->length, p->tile);
    p->v.chained =
        p->tiles > 1 && p->tiles <= MOST_TILES && p->groups < wanted * p->device->processors;
    p->grid = p->v.chained ? p->groups * p->tiles : p->groups;
}

static void plan_columns(plan *p)
{
    const int bytes = widest(p);
    int lanes = lanes_of(p, bytes, false), across = 1;
    while (p->width % lanes != 0)
        lanes /= 2;
    p->v.lanes = (uint8_t)lanes;
    p->v.unroll = (uint8_t)unroll_of(p, 1);
    const int64_t columns = smaller(p->width, SEGMENT_BYTES / bytes);
    while (across < GA__WARP && (int64_t)across * lanes < columns)
        across *= 2;
    p->v.across = (uint8_t)across;
    p->tile = (int64_t)p->v.unroll * (GA__SCAN_BLOCK / across);
    p->groups = p->rows / p->width * ga__ceil_div(p->width, (int64_t)across * lanes);
    choose_blocks(p, COLUMN_BLOCKS);
}

/* Bytes of shared memory in which a thread exchanges vectors of results. */
static int exchanged_bytes(const plan *p, int lanes)
{
    int bytes = 0;
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE && p->operands[k].writes) {
            const int vector = lanes * (int)ga__dtype_size(p->operands[k].array->dtype);
            bytes += vector > GA__VECTOR_BYTES ? vector : 0;
        }
    return bytes;
}

/* The elements that are read fill vectors: threads exchange parts of longer vectors of results. */
static int row_lanes(const plan *p)
{
    int read = 0;
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE && p->operands[k].reads) {
            const int size = (int)ga__dtype_size(p->operands[k].array->dtype);
            read = size > read ? size : read;
        }
    int lanes = lanes_of(p, read > 0 ? read : widest(p), false);
    while (lanes > 1 &&
           (lanes * p->v.value_bytes > THREAD_BYTES || exchanged_bytes(p, lanes) > EXCHANGED_BYTES))
        lanes /= 2;
    return lanes;
}

/* Whether an operand suits tiles that wait in shared memory: a number, a repeated element, or
 * neighbours that move in whole vectors of 16 bytes. */
static bool suits_stage(const plan *p, int k)
{
    const ga__operand *o = &p->operands[k];
    if (!o->array)
        return true;
    if (p->place[k] == GA__NO_PLACE || o->reads == o->writes)
        return false;
    const int step = (int)p->v.operand[k].step;
    return (step == STEP_ZERO && o->reads) ||
           (step == STEP_ONE &&
            is_aligned(p, k, GA__VECTOR_BYTES / (int)ga__dtype_size(o->array->dtype)));
}

/* The sizes of the elements that a staged tile copies, together and at most, and of its results. */
typedef struct stage_sizes {
    int all, most, result;
} stage_sizes;

static bool find_sizes(const plan *p, stage_sizes *s)
{
    int results = 0;
    *s = (stage_sizes){0};
    for (int k = 0; k < p->noperands; k++) {
        if (!suits_stage(p, k))
            return false;
        if (!p->operands[k].array)
            continue;
        const int size = (int)ga__dtype_size(p->operands[k].array->dtype);
        if (p->operands[k].writes) {
            results++;
            s->result = size;
        } else if (p->v.operand[k].step == STEP_ONE) {
            s->all += size;
            s->most = size > s->most ? size : s->most;
        }
    }
    return results == 1 && s->result >= s->most && s->most > 0;
}

/* Sets the tile that fits `bytes` with what threads exchange: an odd number of vectors of a thread,
 * or 0 if none fits. Returns the bytes of shared memory. */
static int set_staged_tile(plan *p, const stage_sizes *s, int bytes)
{
    int lanes = GA__VECTOR_BYTES / s->most;
    const bool exchanges = s->result > s->most;
    while (exchanges && lanes > 1 && lanes * s->result > STAGED_EXCHANGE)
        lanes /= 2;
    const int exchanged = exchanges ? GA__SCAN_BLOCK * lanes * s->result : 0,
              vector = GA__SCAN_BLOCK * lanes * s->all, odd = (bytes - exchanged) / vector - 1;
    p->v.lanes = (uint8_t)lanes;
    p->v.unroll = (uint8_t)(odd < 0 ? 0 : smaller(odd / 2 * 2 + 1, MOST_UNROLL - 1));
    p->tile = (int64_t)lanes * p->v.unroll * GA__SCAN_BLOCK;
    return p->v.unroll * vector + exchanged;
}

/* Whether blocks add up tiles further on: those are many, and an element costs little. By the shape
 * alone, since bits depend on it. */
static bool adds_ahead(const plan *p)
{
    return p->scan->formula.texts->values == 1 && !p->v.segmented &&
           p->groups * ga__ceil_div(p->length, p->tile) > MANY_TILES;
}

/* Tiles between the one that a block adds up and the one that it scans. */
static int64_t tiles_ahead(const plan *p, const stage_sizes *s)
{
    const int64_t bytes = p->tile * (s->all + s->result),
                  ahead = (int64_t)p->device->cache_bytes * AHEAD_SHARE / bytes;
    return smaller(ahead > LEAST_AHEAD ? ahead : LEAST_AHEAD, p->grid);
}

/* Tiles that wait in shared memory, where blocks share rows and the texts only compute. */
static bool stages_tiles(plan *p)
{
    const ga__formula *f = &p->scan->formula.base;
    stage_sizes s;
    if (f->user_text || *f->body || !find_sizes(p, &s))
        return false;
    int bytes = set_staged_tile(p, &s, STAGE_BYTES);
    if (p->v.unroll == 0)
        return false;
    p->v.ahead = adds_ahead(p);
    if (p->v.ahead && s.result == s.most)
        bytes = set_staged_tile(p, &s, MANY_BYTES);
    choose_blocks(p, ROW_BLOCKS);
    if (!p->v.chained)
        return false;
    const int most = p->v.value_bytes > 8 || p->v.segmented ? 3
                     : p->v.ahead                           ? MANY_BLOCKS
                                                            : STAGED_BLOCKS;
    p->v.staged = (uint8_t)smaller(SHARED_BYTES / (bytes + 1400), most);
    p->each = p->v.ahead ? tiles_ahead(p, &s) : ga__ceil_div(STAGED_AHEAD, p->groups);
    p->grid += p->v.ahead ? p->each : 0;
    for (int k = 0; k < p->noperands; k++)
        p->v.operand[k].staged =
            p->operands[k].array && p->operands[k].reads && p->v.operand[k].step == STEP_ONE;
    return true;
}

static void plan_rows(plan *p)
{
    if (folds_rows(p))
        return;
    p->groups = p->rows;
    if (stages_tiles(p))
        return;
    p->v.ahead = false;
    set_tile(p, row_lanes(p));
    p->groups = p->rows;
    choose_blocks(p, ROW_BLOCKS);
}

/* A condition that is an array, the first operand, is read by vectors of bytes where it consists of
 * these. Before a computed one come the words of the marks. */
static void plan_choice(plan *p)
{
    const gpuarray *x = p->operands[0].array;
    const char kind = ga__dtype_kind(x->dtype);
    const bool bytes = ga__dtype_size(x->dtype) == 1 && (kind == 'b' || kind == 'i' || kind == 'u');
    p->v.lanes = p->scan->pass == GA__CHOICE_MARKS && bytes && x->contiguous &&
                         (uintptr_t)x->data % GA__VECTOR_BYTES == 0
                     ? GA__VECTOR_BYTES
                     : 1;
}

/* Blocks that stay take all tiles. A lane has as many values as fit its bytes. */
static void plan_once(plan *p)
{
    size_t most = 4;
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand *o = &p->operands[k];
        const size_t size = ga__dtype_size(ga__dtype_compute(o->type));
        most = o->array && o->array->ndim > 0 && size > most ? size : most;
    }
    p->v.unroll = (uint8_t)(GA__ONCE_LANE_BYTES / most);
    p->v.chained = true;
    p->shared = (size_t)GA__ONCE_SLOTS * GA__SCAN_BLOCK * p->v.unroll * most;
    p->tile = (int64_t)p->v.unroll * GA__SCAN_BLOCK;
    const int64_t sampled = p->scan->sampled / p->tile;
    p->tiles = sampled > 0 ? sampled : ga__ceil_div(p->length, p->tile);
    p->each = sampled > 1 ? (p->length - p->tile) / (sampled - 1) : p->tile;
    p->grid = smaller(p->tiles, (int64_t)ONCE_BLOCKS * p->device->processors);
}

void ga__scan_plan_cuda(plan *p)
{
    p->groups = p->rows;
    if (p->v.choice == GA__CHOICE_ONCE)
        plan_once(p);
    else if (p->v.choice != GA__CHOICE_NOT)
        plan_choice(p);
    else if (p->v.columns)
        plan_columns(p);
    else
        plan_rows(p);
}
