/* Chooses how an elementwise call runs, for either kind of device. */
#include "kernels/elementwise_plan.h"

#define BLOCK 128
#define HOST_LINE 64          /* bytes, or the most elements, of a cache line */
#define MOST_VECTORS 4        /* of a thread on the fast path, or of one that reads little */
#define LITTLE 16             /* times less is read than written */
#define SHORTEST 16           /* elements of the axes of the host's tiles */
#define TILE_BYTES (48 << 10) /* of the host's operands in such a tile, */
#define MOST_TILED 8          /* and how many at most: each takes 64 KiB of the stack */

typedef ga__elementwise_plan plan;

/* ---- The loop nest ---- */

/* Whether the elements of some streamed operand are no parts of vectors. */
static bool has_odd(const plan *p)
{
    for (int k = 0; k < p->noperands; k++) {
        if (!ga__operand_streamed(&p->operands[k]))
            continue;
        const size_t size = ga__dtype_size(p->operands[k].array->dtype);
        if (ga__vector_size(size) != size)
            return true;
    }
    return false;
}

static void place_operands(plan *p)
{
    int written = 0;
    unsigned dtypes = 0; /* bits from GA_FIRST_STRUCT on are of structs alone */
    for (int k = 0; k < p->noperands; k++)
        written += p->operands[k].writes && ga__operand_streamed(&p->operands[k]);
    int next[2] = {written, 0}; /* of operands that are only read, of written ones */
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand *operand = &p->operands[k];
        p->place[k] = GA__NO_PLACE;
        if (!ga__operand_streamed(operand))
            continue;
        p->place[k] = next[operand->writes]++;
        p->transposed[p->place[k]] = false;
        dtypes |= (unsigned)operand->array->dtype;
    }
    p->nest.noperands = next[0];
    p->index_place = GA__NO_PLACE;
    if (p->formula->uses_index) {
        p->index_place = p->nest.noperands++;
        p->transposed[p->index_place] = false;
    }
    p->odd = dtypes >= GA_FIRST_STRUCT && has_odd(p);
}

static void set_dense(plan *p, int place, bool whole)
{
    p->nest.strides[place][0] = whole;
    p->step[place] = whole ? STEP_ONE : STEP_ZERO;
}

/* All arrays contiguous and of the whole shape, or of one element: a single axis, nothing to sort.
 */
static bool plan_dense(plan *p, int ndim, const int64_t *shape)
{
    for (int k = 0; k < p->noperands; k++) {
        const gpuarray *x = p->operands[k].array;
        if (p->place[k] == GA__NO_PLACE)
            continue;
        const bool single = x->size == 1 && p->n > 1;
        if (!single &&
            (!x->contiguous || x->size != p->n || !ga__same_shape(x->ndim, x->shape, ndim, shape)))
            return false;
        set_dense(p, p->place[k], !single);
    }
    if (p->index_place != GA__NO_PLACE)
        set_dense(p, p->index_place, true);
    p->nest.ndim = 1;
    p->nest.shape[0] = p->n;
    return true;
}

static void set_strides(plan *p, int place, int ndim, const int64_t *strides)
{
    for (int axis = 0; axis < ndim; axis++)
        p->nest.strides[place][ndim - 1 - axis] = strides[axis];
}

/* From bytes to elements, which is what kernels count in. */
static void count_elements(plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE) {
            const int64_t size = (int64_t)ga__dtype_size(p->operands[k].array->dtype);
            for (int axis = 0; axis < p->nest.ndim; axis++)
                p->nest.strides[p->place[k]][axis] /= size;
        }
}

static void plan_strided(plan *p, int ndim, const int64_t *shape)
{
    int64_t strides[GA_MAX_NDIM];
    p->nest.ndim = ndim;
    for (int axis = 0; axis < ndim; axis++)
        p->nest.shape[ndim - 1 - axis] = shape[axis];
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE) {
            const gpuarray *x = p->operands[k].array;
            ga__broadcast_strides(ndim, shape, x->ndim, x->shape, x->strides, strides);
            set_strides(p, p->place[k], ndim, strides);
        }
    if (p->index_place != GA__NO_PLACE) {
        ga__contiguous_strides(ndim, shape, 1, strides);
        set_strides(p, p->index_place, ndim, strides);
    }
    ga__nest_collapse(&p->nest);
    if (p->nest.ndim == 0) {
        p->nest.ndim = 1;
        p->nest.shape[0] = 1;
        for (int place = 0; place < p->nest.noperands; place++)
            p->nest.strides[place][0] = 0;
    }
    count_elements(p);
}

/* Whether the body itself loads or stores elements of some operand that the nest follows. */
static bool has_placed(const plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (ga__operand_placed(&p->operands[k]))
            return true;
    return false;
}

/* Sets the steps along the innermost axis; how far the farthest operand reaches, in elements. */
static int64_t measure(plan *p)
{
    int64_t reach = p->n;
    for (int place = 0; place < p->nest.noperands; place++) {
        int64_t extent = 1;
        for (int axis = 0; axis < p->nest.ndim; axis++) {
            const int64_t stride = p->nest.strides[place][axis];
            extent += (p->nest.shape[axis] - 1) * (stride < 0 ? -stride : stride);
        }
        reach = extent > reach ? extent : reach;
        const int64_t inner = p->nest.strides[place][0];
        p->step[place] = inner == 0                              ? STEP_ZERO
                         : inner == 1                            ? STEP_ONE
                         : inner == -1 && ga__on_host(p->device) ? STEP_BACK
                                                                 : STEP_ANY;
    }
    return reach;
}

/* Whether indices need 64 bits. */
static bool is_wide(const plan *p, int64_t reach)
{
    const int streamed = p->nest.noperands - (p->index_place != GA__NO_PLACE);
    if (streamed == p->noperands)
        return !ga__fits_32_bits(reach);
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand *operand = &p->operands[k];
        if (operand->array && p->place[k] == GA__NO_PLACE && operand->array->size > reach)
            reach = operand->array->size;
    }
    return !ga__fits_32_bits(reach);
}

/* ---- The variant ---- */

/* Of powers of two: a division would take longer than all else here. */
static bool divides(int64_t power, int64_t number)
{
    return (number & (power - 1)) == 0;
}

bool ga__elementwise_lanes_fit(const plan *p, int k, int lanes, int near)
{
    const int place = p->place[k];
    const gpuarray *x = p->operands[k].array;
    if (ga__operand_placed(&p->operands[k]))
        return p->step[place] == STEP_ZERO || p->operands[k].access == GA__COORDINATE;
    if (p->step[place] == STEP_ZERO)
        return !p->operands[k].writes;
    if (p->nest.strides[place][near] != 1)
        return false;
    if (!divides(lanes * (int64_t)ga__dtype_size(x->dtype), (int64_t)(intptr_t)x->data))
        return false;
    for (int axis = 0; axis < p->nest.ndim; axis++)
        if (axis != near && !divides(lanes, p->nest.strides[place][axis]))
            return false;
    return true;
}

/* The lanes of vectors of items of this size, the largest of those that are moved. Where nothing
 * is, the body goes to memory itself, and neighbouring threads have neighbouring elements: one
 * lane. */
static int lanes_of(size_t widest)
{
    return widest == 0 ? 1 : (int)(GA__VECTOR_BYTES / widest);
}

/* The largest item of the operands that are moved in vectors; 0 if there is none. */
static size_t widest_item(const plan *p)
{
    size_t widest = 0;
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        if (place == GA__NO_PLACE || p->step[place] != STEP_ONE ||
            ga__operand_placed(&p->operands[k]))
            continue;
        const size_t size = ga__dtype_size(p->operands[k].array->dtype);
        widest = size > widest ? size : widest;
    }
    return widest;
}

/* ga__elementwise_lanes() for a single axis: every array is contiguous or has one element. */
static int dense_lanes(const plan *p)
{
    unsigned widest = 0;
    uintptr_t address = 0; /* the bits that some address has, in items */
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand *operand = &p->operands[k];
        if (p->place[k] == GA__NO_PLACE)
            continue;
        const int step = p->step[p->place[k]];
        if (operand->access < GA__PLACED && step == STEP_ONE) {
            const unsigned size = (unsigned)ga__dtype_size(operand->array->dtype);
            address |= (uintptr_t)operand->array->data >> __builtin_ctz(size);
            widest = size > widest ? size : widest;
        } else if (operand->access != GA__COORDINATE &&
                   (step != STEP_ZERO || (operand->writes && operand->access != GA__PLACED))) {
            return 1;
        }
    }
    const int lanes = lanes_of(widest);
    return p->nest.shape[0] < lanes || !divides(lanes, (int64_t)address) ? 1 : lanes;
}

int ga__elementwise_lanes(const plan *p)
{
    if (p->odd)
        return 1;
    if (p->nest.ndim == 1)
        return dense_lanes(p);
    const int lanes = lanes_of(widest_item(p));
    if (!divides(lanes, p->nest.shape[0]))
        return 1;
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE && !ga__elementwise_lanes_fit(p, k, lanes, 0))
            return 1;
    return lanes;
}

/* The axis along which a read operand that strides on axis 0 is contiguous; 0 when there is none.
 */
static int transposed_axis(const plan *p, int place)
{
    if (p->step[place] != STEP_ANY || place == p->index_place)
        return 0;
    for (int axis = 1; axis < p->nest.ndim; axis++)
        if (p->nest.strides[place][axis] == 1)
            return p->nest.shape[axis] >= SHORTEST ? axis : 0;
    return 0;
}

/* Turned operands go through tiles of axis 0 and the axis they are contiguous on, moved to axis 1.
 */
static void choose_host_tiles(plan *p)
{
    int chosen = 0, tiled = 0;
    size_t bytes = 0;
    if (p->nest.ndim < 2 || p->nest.shape[0] < SHORTEST)
        return;
    for (int k = 0; k < p->noperands; k++) {
        const int place = p->place[k];
        if (place == GA__NO_PLACE || !p->operands[k].reads || p->operands[k].writes)
            continue;
        const int axis = transposed_axis(p, place);
        const size_t more = ga__dtype_size(p->operands[k].array->dtype) << 10;
        if (axis == 0 || (chosen && axis != chosen) || bytes + more > TILE_BYTES ||
            tiled == MOST_TILED)
            continue;
        chosen = axis;
        tiled++;
        bytes += more;
        p->transposed[place] = true;
    }
    p->head.tiled = chosen != 0;
    if (p->head.tiled)
        ga__nest_swap(&p->nest, 1, chosen);
}

/* As many vectors a thread as leave each one that can run at once with some. */
static void choose_vectors_per_thread(plan *p)
{
    const ga__device *device = p->device;
    const int64_t all = ga__ceil_div(p->n, p->head.lanes);
    const int64_t turns = all / ((int64_t)device->processors * device->threads_per_processor);
    p->chunk = turns < 1 ? 1 : turns < MOST_VECTORS ? turns : MOST_VECTORS;
    p->grid = ga__ceil_div(all, BLOCK * p->chunk);
}

/* Whether what is read is little beside what is written, and there is enough for every thread: a
 * thread that stores one vector then waits for its loads longer than the bus takes for the store.
 */
static bool reads_little(const plan *p)
{
    const ga__device *device = p->device;
    int64_t read = 0, written = 0;
    if (p->vectors < (int64_t)MOST_VECTORS * device->processors * device->threads_per_processor)
        return false;
    for (int k = 0; k < p->noperands; k++) {
        if (p->place[k] == GA__NO_PLACE)
            continue;
        int64_t nbytes = (int64_t)ga__dtype_size(p->operands[k].array->dtype);
        for (int axis = 0; axis < p->nest.ndim; axis++)
            nbytes *= p->nest.strides[p->place[k]][axis] ? p->nest.shape[axis] : 1;
        *(p->operands[k].writes ? &written : &read) += nbytes;
    }
    return read > 0 && read <= written / LITTLE;
}

static void choose_cuda_variant(plan *p)
{
    if (p->n >= (int64_t)GA__LINE_LENGTH * p->device->processors && ga__elementwise_lines(p))
        return; /* short calls do not pay for the look */
    if (p->formula->moves && ga__elementwise_spans(p))
        return;
    p->head.lanes = ga__elementwise_lanes(p);
    /* Nothing is better than vectors of every array. */
    if (p->head.lanes == 1 && !p->odd && !has_placed(p) &&
        (ga__elementwise_descends(p) || ga__elementwise_squares(p) || ga__elementwise_tiles(p)))
        return;
    p->vectors = p->n / p->head.lanes;
    p->head.tail = p->head.lanes > 1 && p->nest.ndim == 1;
    p->head.fast_path = p->head.tail && p->formula->fast_path;
    /* Measured: one 16-byte access each keeps the bus full. */
    p->head.unroll =
        p->head.lanes > 1 && (p->head.fast_path || !reads_little(p)) ? 1 : MOST_VECTORS;
    if (p->head.fast_path)
        choose_vectors_per_thread(p);
    else
        p->grid = ga__ceil_div(p->vectors, (int64_t)BLOCK * p->head.unroll);
    if (ga__elementwise_has_long_rows(p))
        ga__elementwise_take_turns(p);
}

/* Whether elements that are not there may be computed beside the others: no text of a user's says
 * where it is, or reaches for other elements. */
static bool may_pad(const plan *p)
{
    if (p->odd)
        return false;
    for (int k = 0; k < p->noperands; k++)
        if ((p->operands[k].array && p->operands[k].access == GA__ACCESSOR) ||
            ga__operand_placed(&p->operands[k]))
            return false;
    return !p->formula->user_text || !p->formula->uses_index;
}

static bool is_read(const plan *p, const void *data)
{
    for (int k = 0; k < p->noperands; k++)
        if (p->operands[k].array && p->operands[k].reads && p->operands[k].array->data == data)
            return true;
    return false;
}

/* Whether the results are contiguous (and nothing strides), not computed in place, and more than
 * the cores' own caches keep. */
static bool goes_past_cache(const plan *p)
{
    size_t nbytes = 0;
    for (int k = 0; k < p->noperands; k++) {
        const gpuarray *x = p->operands[k].array;
        if (p->place[k] == GA__NO_PLACE)
            continue;
        const int step = p->step[p->place[k]];
        if (step != STEP_ONE && step != STEP_ZERO && !p->transposed[p->place[k]] && !p->head.panels)
            return false;
        if (!p->operands[k].writes)
            continue;
        if (step != STEP_ONE || is_read(p, x->data) || (p->head.panels && p->panelled[p->place[k]]))
            return false;
        nbytes += (size_t)p->n * ga__dtype_size(x->dtype);
    }
    return ga__goes_past_cache(p->device, nbytes) &&
           (p->nest.shape[0] >= GA__HOST_STRIP || p->head.panels) && p->head.pads;
}

/* Bands of axis 0, cut along axis 1 where there are too few for all processors. */
static void choose_bands(plan *p)
{
    const int64_t bands = ga__ceil_div(p->nest.shape[0], GA__HOST_BAND);
    int64_t outer = 1;
    for (int axis = 2; axis < p->nest.ndim; axis++)
        outer *= p->nest.shape[axis];
    const int64_t pieces =
        ga__ceil_div((int64_t)p->device->processors * GA__HOST_BLOCKS_PER_WORKER, bands * outer);
    p->chunk = ga__ceil_div(ga__ceil_div(p->nest.shape[1], pieces), GA__HOST_DOWN_BYTES) *
               GA__HOST_DOWN_BYTES;
    p->grid = bands * outer * ga__ceil_div(p->nest.shape[1], p->chunk);
}

static void choose_host_blocks(plan *p)
{
    const int64_t share =
        ga__ceil_div(p->n, (int64_t)p->device->processors * GA__HOST_BLOCKS_PER_WORKER);
    p->chunk = p->formula->heavy        ? 1
               : p->formula->ordered    ? p->n
               : share < GA__HOST_LEAST ? GA__HOST_LEAST
                                        : ga__ceil_div(share, 4096) * 4096;
    p->grid = ga__ceil_div(p->n, p->chunk);
}

static void choose_host_variant(plan *p)
{
    p->head.wide = true;
    p->head.pads = may_pad(p);
    if (p->head.pads)
        choose_host_tiles(p);
    if (!p->head.tiled && !ga__elementwise_panels(p))
        choose_host_blocks(p);
    p->head.past_cache = goes_past_cache(p);
    if (p->head.tiled)
        choose_bands(p);
}

/* The tiles of the transposed operands: no more for each than of the widest one. */
static size_t tile_bytes(const plan *p)
{
    size_t nbytes = 0;
    for (int place = 0; place < p->nest.noperands; place++)
        nbytes += p->transposed[place] ? GA__HOST_DOWN_BYTES * (GA__HOST_BAND + HOST_LINE) : 0;
    return nbytes;
}

/* One element of every operand, and what the body makes of it. */
static size_t element_bytes(const plan *p)
{
    size_t nbytes = 0;
    for (int k = 0; k < p->noperands; k++)
        nbytes += p->operands[k].array ? 4 * ga__dtype_size(p->operands[k].array->dtype) : 0;
    return nbytes;
}

size_t ga__elementwise_rare_stack(const plan *p)
{
    return p->head.pads ? GA__HOST_ARRAYS + tile_bytes(p) : element_bytes(p);
}

static void set_defaults(plan *p)
{
    p->head = (ga__elementwise_head){
        .host = ga__on_host(p->device), .lanes = 1, .unroll = 1, .block = BLOCK};
    p->vectors = p->chunk = 0;
    p->line = NULL;
    p->shared = 0;
}

void ga__elementwise_plan_walk(ga__elementwise_plan *p, int ndim, const int64_t *shape)
{
    place_operands(p);
    int64_t reach = p->n;
    if (!plan_dense(p, ndim, shape)) {
        plan_strided(p, ndim, shape);
        reach = measure(p);
    }
    set_defaults(p);
    p->head.wide = is_wide(p, reach);
}

void ga__elementwise_plan_make(ga__elementwise_plan *p, int ndim, const int64_t *shape)
{
    ga__elementwise_plan_walk(p, ndim, shape);
    if (p->head.host)
        choose_host_variant(p);
    else
        choose_cuda_variant(p);
}
