/* Chooses how a call of the engine of bins runs, for either kind of device. */
#include "kernels/histogram/binned_plan.h"

typedef ga__binned_plan plan;

/* ---- The host ---- */

#define HOST_GROUP 64            /* elements mapped together, at most: their searches overlap */
#define VALUE_BYTES 16           /* of the value that an element of an operand becomes, at most */
#define SMALLEST_CHUNK (1 << 14) /* elements of a block: fewer do not pay for its start */
#define BLOCKS_PER_WORKER 4      /* evens out their times */
#define COPIES 8                 /* neighbouring additions to one bin do not wait for each other */
#define COPIED_BYTES (32 << 10)  /* of all copies: what the first cache holds beside the data */
#define FEW_ELEMENTS 2048        /* one row, which is the result, pays more than copies */
#define CLEARED 1 /* bins of all copies for an element: clearing more would take longer */

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void plan_host_rows(plan *p)
{
    const int64_t slot = (int64_t)ga__dtype_size(ga__binned_slot(p));
    p->pitch = ga__add_sizes(p->call->nbins, 1); /* the last slot is of values outside all bins */
    const bool few = p->grid == 1 && p->walk.n <= FEW_ELEMENTS;
    for (p->copies = few ? 1 : COPIES; p->copies > 1; p->copies /= 2)
        if (p->pitch <= COPIED_BYTES / (slot * p->copies) &&
            p->pitch <= CLEARED * least(p->chunk, p->walk.n) / p->copies)
            break;
    p->rows = p->grid * p->copies;
    if (p->rows == 1 && p->call->use == GA__BINNED_COUNT)
        p->head.wide_sums = true; /* the row is the result */
}

/* As many elements as leave the arrays of all operands the bytes that they may take. */
static int host_group(const plan *p)
{
    size_t nbytes = 0;
    for (int k = 0; k < p->walk.noperands; k++)
        if (p->walk.place[k] != GA__NO_PLACE)
            nbytes +=
                ga__dtype_size(p->walk.operands[k].array->dtype) + sizeof(float) + VALUE_BYTES;
    int group = HOST_GROUP;
    while (group > GA__HOST_LEAST_GROUP && (size_t)group * nbytes > GA__HOST_ARRAYS)
        group /= 2;
    return group;
}

/* Blocks whose rows of bins together are no larger than the data, and whose counts fit 32 bits. */
static void plan_host(plan *p)
{
    const int64_t n = p->walk.n, processors = p->walk.device->processors;
    int64_t blocks = processors * BLOCKS_PER_WORKER;
    p->walk.head.wide = true;
    if (!ga__binned_stores(p->call->use))
        blocks = least(
            blocks, most(least(processors, 2 * n / p->call->nbins), n / p->call->nbins / COPIES));
    else
        blocks *= BLOCKS_PER_WORKER;
    p->chunk = most(ga__ceil_div(n, most(blocks, 1)), SMALLEST_CHUNK);
    p->chunk = least(ga__ceil_div(p->chunk, HOST_GROUP) * HOST_GROUP, INT64_C(1) << 31);
    p->grid = ga__ceil_div(n, p->chunk);
    p->head.group = (uint8_t)host_group(p);
    if (!ga__binned_stores(p->call->use))
        plan_host_rows(p);
    else
        p->head.past_cache = p->walk.step[0] == STEP_ONE &&
                             ga__goes_past_cache(p->walk.device, (size_t)n * sizeof(int64_t));
}

/* ---- CUDA ---- */

#define BLOCK 512            /* threads; four such blocks fill a multiprocessor */
#define SEARCHING_BLOCK 1024 /* where a multiprocessor has one, for a large table */
#define WEIGHING_BLOCK 128   /* each warp has sums of its own: fewer leave room for more bins */
#define ELEMENTS 16          /* of a thread at a time: 64 bytes of float32 are in flight */
#define MOST_ELEMENTS 32     /* the same where each element is its bin, */
#define ELEMENTS_BYTES 128   /* and the bytes that are in flight then */
#define SEARCHED 8        /* the same where each element is searched for: eight loads in flight */
#define REGISTERS 65536   /* of a multiprocessor */
#define MORE_REGISTERS 24 /* of a thread, beside those of its elements */
#define WAVES 3           /* of blocks of counts */
#define TURNS 16          /* of such a block, if there are several waves */
#define FULL_BLOCKS 4     /* of a multiprocessor, which has threads for no more */
#define WARP_COPIES 32    /* a lane of a warp has its own bank of shared memory */
#define PLAIN_SHARED ((size_t)32 << 10) /* what every block may have */
#define SYSTEM_SHARED ((size_t)1 << 10) /* what the system takes of each block's */
#define EDGES_PART 4                    /* of a block's share is the most that edges take */

static int threads(const plan *p)
{
    return p->call->use == GA__BINNED_WEIGH                     ? WEIGHING_BLOCK
           : p->call->use == GA__BINNED_STORE && p->call->table ? SEARCHING_BLOCK
                                                                : BLOCK;
}

/* Shared memory of a block where `blocks` of them share a multiprocessor. */
static size_t shared_on(const ga__device *device, size_t blocks)
{
    const size_t all = device->shared_bytes;
    const size_t share = all / blocks > SYSTEM_SHARED ? all / blocks - SYSTEM_SHARED : 0;
    return share > PLAIN_SHARED ? share : PLAIN_SHARED;
}

static size_t shared_of(const plan *p, size_t blocks)
{
    return shared_on(p->walk.device, blocks);
}

int64_t ga__binned_fast_counts(const ga__device *device)
{
    return (int64_t)(shared_on(device, FULL_BLOCKS) / (WARP_COPIES * sizeof(uint32_t))) - 1;
}

bool ga__binned_owns(const ga__device *device, int64_t nbins, size_t size)
{
    return !ga__on_host(device) && nbins < (int64_t)(shared_on(device, 1) / size);
}

static size_t whole_vectors(size_t nbytes)
{
    return (nbytes + GA__VECTOR_BYTES - 1) / GA__VECTOR_BYTES * GA__VECTOR_BYTES;
}

/* The table's upper levels: as many elements as fit half of a block's share, and no more than the
 * block searches for. A small table is there whole. */
static void plan_table(plan *p, int64_t searched)
{
    const gpuarray *t = p->call->table;
    p->uppers = 0;
    p->step = 1;
    if (t && t->size > 0) {
        const int64_t size = (int64_t)ga__dtype_size(t->dtype);
        const size_t blocks = p->call->use == GA__BINNED_STORE ? 1 : 3;
        const int64_t room =
            least((int64_t)shared_of(p, blocks) / size * 31 / 32 - 2, most(searched, 32));
        p->step = 1;
        while (t->size / p->step > room)
            p->step *= 2;
        p->uppers = t->size / p->step;
        const int64_t places = p->uppers + p->uppers / 32 + p->uppers / 1024;
        p->room = whole_vectors((size_t)(places * size));
    }
    p->shared = p->room;
}

/* The edges of equal bins: all, if they leave most of a block's share to its bins, and are not more
 * than the elements of a multiprocessor. Sums of weights need that room themselves. */
static void plan_edges(plan *p, int64_t elements)
{
    const gpuarray *edges = p->call->edges;
    if (!edges || p->call->use == GA__BINNED_WEIGH || edges->size > elements ||
        ga_nbytes(edges) > shared_of(p, FULL_BLOCKS) / EDGES_PART)
        return;
    p->head.table = GA__TABLE_EDGES;
    p->shared = p->room = whole_vectors(ga_nbytes(edges));
}

/* The shared memory of a block beside its table, where as many blocks run as registers allow. */
static size_t share_of_counts(const plan *p)
{
    const size_t blocks = p->head.blocks > 0 && p->head.blocks < FULL_BLOCKS ? p->head.blocks
                                                                             : FULL_BLOCKS,
                 share = shared_of(p, blocks);
    return share > p->room ? share - p->room : 0;
}

/* Counts and sums of integers are in shared memory as far as it goes, in copies if these fit the
 * block's share. */
static void plan_counts(plan *p)
{
    const size_t slot = p->call->wide_sums ? sizeof(uint64_t) : sizeof(uint32_t);
    const int64_t bytes = ga__add_sizes(p->call->nbins, 1) * (int64_t)slot;
    const int64_t share = (int64_t)share_of_counts(p),
                  all = (int64_t)(shared_of(p, 1) > p->room ? shared_of(p, 1) - p->room : 0);
    p->rows = p->copies = 1;
    p->pitch = p->range = p->call->nbins;
    p->pitch += p->call->use == GA__BINNED_WITHIN ? 1 : 0; /* the number of bins with elements */
    p->head.own_bins = bytes <= all;
    while (p->head.own_bins && p->copies < WARP_COPIES && 2 * p->copies * bytes <= share)
        p->copies *= 2;
    if (p->head.own_bins)
        p->shared += (size_t)(bytes * p->copies);
}

/* Each warp has sums of its own; what exceeds a block's share is a range of other blocks, which
 * read all elements too. */
static void plan_sums(plan *p)
{
    const size_t slot = sizeof(double) * (WEIGHING_BLOCK / GA__WARP);
    const size_t share =
        shared_of(p, FULL_BLOCKS) > p->room ? shared_of(p, FULL_BLOCKS) - p->room : 0;
    p->copies = 1;
    p->pitch = p->call->nbins;
    p->range = least(p->call->nbins, most((int64_t)(share / slot), GA__WARP));
    p->head.own_bins = true;
    p->shared += (size_t)p->range * slot;
}

/* Elements that a thread takes at a time. */
static int elements_of(const plan *p)
{
    const ga__operand *x = p->call->operands;
    if (p->call->table)
        return SEARCHED;
    if (p->call->use != GA__BINNED_WITHIN)
        return ELEMENTS;
    return (int)least(MOST_ELEMENTS, ELEMENTS_BYTES / (int64_t)ga__dtype_size(x->type));
}

/* Blocks of counts for which the compiler leaves registers on a multiprocessor: a thread needs
 * those of its elements and some more. */
static int blocks_by_registers(const plan *p)
{
    int words = 0;
    for (int k = 0; k < p->call->noperands; k++)
        if (p->call->operands[k].array && ga__operand_streamed(&p->call->operands[k]))
            words += elements_of(p) *
                     (int)most((int64_t)ga__dtype_size(p->call->operands[k].type), 4) / 4;
    return (int)most(REGISTERS / (BLOCK * (words + MORE_REGISTERS)), 1);
}

/* Blocks that run at once, by their threads, registers and shared memory. */
static int64_t resident(const plan *p)
{
    const ga__device *device = p->walk.device;
    const int64_t by_threads = device->threads_per_processor / threads(p);
    const size_t all = device->shared_bytes > PLAIN_SHARED ? device->shared_bytes : PLAIN_SHARED;
    const int64_t by_shared = (int64_t)((all + SYSTEM_SHARED) / (p->shared + SYSTEM_SHARED));
    const int64_t blocks = least(by_threads, by_shared);
    return most(p->head.blocks > 0 ? least(blocks, p->head.blocks) : blocks, 1) *
           device->processors;
}

/* Some multiprocessors read faster than others: in several waves they take more blocks. A block has
 * turns that pay for its bins. */
static int64_t waves(const plan *p)
{
    return p->head.blocks > 0 ? most(least(WAVES, p->chunk / (resident(p) * TURNS)), 1) : 1;
}

/* Blocks of a range: as many as run at once or a multiple, but none without a turn, and none whose
 * counts exceed 32 bits. */
static void plan_grid(plan *p)
{
    const int64_t ranges =
        p->call->use == GA__BINNED_WEIGH ? ga__ceil_div(p->call->nbins, p->range) : 1;
    int64_t segments = most(resident(p) * waves(p) / ranges, 1);
    segments = most(segments, p->walk.n >> 31);
    p->segments = least(segments, p->chunk);
    p->grid = p->segments * ranges;
    if (p->call->use == GA__BINNED_WEIGH)
        p->rows = p->segments;
}

static void plan_cuda(plan *p)
{
    ga__elementwise_plan *walk = &p->walk;
    const int elements = elements_of(p);
    walk->head.lanes = ga__elementwise_lanes(walk);
    walk->head.unroll = walk->head.lanes < elements ? elements / walk->head.lanes : 1;
    walk->head.block = threads(p);
    walk->vectors = walk->n / walk->head.lanes;
    walk->head.tail = walk->n % walk->head.lanes > 0;
    const int64_t stretch = (int64_t)walk->head.block * walk->head.unroll;
    p->chunk = ga__ceil_div(walk->vectors, stretch) + walk->head.tail;
    const int64_t searched = ga__ceil_div(walk->n, walk->device->processors);
    plan_table(p, searched);
    plan_edges(p, searched);
    if (ga__binned_counts(p->call->use) && !p->call->table)
        p->head.blocks = (uint8_t)blocks_by_registers(p);
    if (ga__binned_counts(p->call->use) || p->call->use == GA__BINNED_SUM)
        plan_counts(p);
    else if (p->call->use == GA__BINNED_WEIGH)
        plan_sums(p);
    plan_grid(p);
}

void ga__binned_plan_make(plan *p)
{
    const ga__binned *call = p->call;
    ga__elementwise_plan_walk(&p->walk, call->ndim, call->shape);
    p->head = (ga__binned_head){.use = (uint8_t)call->use,
                                .table = call->table ? GA__TABLE_SORTED : GA__TABLE_NONE,
                                .wide_sums = call->wide_sums,
                                .wide = !ga__fits_32_bits(call->nbins)};
    p->segments = p->grid = p->rows = p->copies = p->pitch = 0;
    p->range = p->uppers = p->step = 0;
    p->room = p->shared = 0;
    if (p->walk.head.host)
        plan_host(p);
    else
        plan_cuda(p);
}
