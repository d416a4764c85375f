/* Chooses how a sort runs, for either kind of device. */
#include "kernels/sort/sort_plan.h"

#include "kernels/request.h"

typedef ga__sort_plan plan;

enum {
    DIGITS = 256,            /* values of a digit */
    HOST_ELEMENTS = 1 << 15, /* that a worker sorts at a time: they are in its cache */
    HOST_LONG = 1 << 16,     /* from this length on, several workers sort a row; */
    HOST_LONGER = 1 << 18,   /* with few workers and vectors that sort it, from this one on */
    FEW_WORKERS = 4,         /* up to here, one worker sorts such a row by vectors */
    MANY_WORKERS = 16,       /* below, one worker counts keys or packs indices in words, */
    MOST_SCRATCH = 1 << 30,  /* if the memory of all workers has at most these bytes */
    COUNTED_ROW = 1 << 15,   /* the shortest row whose keys of 2 bytes are counted sooner than */
    COUNTED_SHORT = 1 << 13, /* vectors, or digits, sort it */
    HOST_CHUNK = 1 << 14,    /* the smallest chunk of a long row */
    MOST_CHUNKS = 4096,      /* whose parts of a bucket are still long runs */
    CHUNKS_PER_WORKER = 4,   /* so that a slow worker does not delay the others */
    WARPS_BLOCK = 256,       /* threads of a block that sorts short rows, */
    MOST_ITEMS = 8,          /* elements of each thread, at most; */
    LEAST_TEAM = 8,          /* threads of a row that has as many elements */
    PASS_BLOCK = 256,        /* threads of a tile, one for each digit: two tiles of up to 128
                              * registers a thread fit a multiprocessor; */
    COUNT_BLOCK = 512,       /* of a block that counts, */
    COUNT_WAVES = 4,         /* whose shares are few, but enough for all multiprocessors */
    STATUS_HEAD = 256,       /* bytes before the tiles' words: the counter of tickets */
    LEAST_SHARED = 48 << 10, /* shared memory that every CUDA device has, in bytes */
    RANKS_WARP = 4 * DIGITS, /* bytes of shared memory for each warp's counts, */
    RANKS_REST = 4 * DIGITS + 64, /* and for those of the block, in ga_ranks of sort_tile.cuda, */
    BASE_BYTES = 8 * DIGITS,      /* and in a pass for the first places of digits */
    MOST_COUNT = 1 << 30          /* a tile's word of 32 bits counts below this */
};

static size_t to_lines(size_t nbytes)
{
    return (nbytes + 255) / 256 * 256;
}

static int64_t at_least_one(int64_t count)
{
    return count > 1 ? count : 1;
}

/* ---- The host ---- */

/* Whether vectors can be divided by a comparison in a few instructions. Elsewhere digits are
 * faster than comparisons. */
static bool divides_vectors(void)
{
#if defined(__x86_64__) && defined(__GNUC__)
    return __builtin_cpu_supports("avx512f");
#else
    return false;
#endif
}

static bool is_plain(const plan *p)
{
    return p->v.values && !p->v.indices && ga__dtype_kind((ga_dtype)p->v.type) != 'c';
}

/* Whether the keys of a row are worth a counter for each. */
static bool counts_keys(const plan *p, size_t size)
{
    const int64_t least = divides_vectors() ? COUNTED_ROW : COUNTED_SHORT;
    return is_plain(p) && (size == 1 || (size == 2 && p->length >= least));
}

/* Bytes of the words that stand for elements where comparisons sort them; 0 where digits or counts
 * do: small keys have few digits, and large ones leave no room for an index. */
static size_t word_bytes(const plan *p, size_t size)
{
    if (!divides_vectors() || p->v.wide || ga__dtype_kind((ga_dtype)p->v.type) == 'c')
        return 0;
    if (is_plain(p))
        return size == 1 || counts_keys(p, size) ? 0 : size == 2 ? 4 : size;
    return size == 4 ? 8 : 0;
}

/* Words are sorted in the result's memory, or have memory of their own; spare ones; room for the
 * elements. */
static size_t word_scratch(const plan *p, size_t size)
{
    const size_t words = ((size_t)p->length * word_bytes(p, size) + 63) / 64 * 64,
                 elements = (size_t)p->length * size;
    return !is_plain(p) ? 2 * words : (word_bytes(p, size) == size ? 1 : 2) * words + elements;
}

static size_t row_scratch(const plan *p, size_t size)
{
    const size_t length = (size_t)p->length, index = p->v.wide ? 8 : 4;
    const size_t side = (length * size + 63) / 64 * 64;
    const size_t nbytes = counts_keys(p, size)      ? (size == 1 ? 4 << 8 : 1 << 16) * index + side
                          : word_bytes(p, size) > 0 ? word_scratch(p, size)
                                                    : (p->v.values ? 1 : 2) * side +
                                                          (p->v.indices ? 2 * index * length : 0);
    return (nbytes + 63) / 64 * 64;
}

/* Whether a word has the index and most bits of the key: elements and places leave room for two
 * sides of words. */
static bool packs_rows(const plan *p, size_t size)
{
    return divides_vectors() && size == 8 && p->v.indices && !p->v.wide &&
           ga__dtype_kind((ga_dtype)p->v.type) != 'c';
}

static void plan_host_rows(plan *p, size_t size)
{
    const int64_t most = at_least_one(p->rows / (p->device->processors * CHUNKS_PER_WORKER));
    const int64_t few = at_least_one(HOST_ELEMENTS / p->length);
    p->share = few < most ? few : most;
    p->way = p->length <= GA__SORT_HOST_NETWORK ? GA__SORT_BY_NETWORK : GA__SORT_BY_ROW;
    if (p->way == GA__SORT_BY_NETWORK)
        return;
    p->v.quick = word_bytes(p, size) > 0;
    p->v.counts = counts_keys(p, size);
    p->v.packs = packs_rows(p, size);
    p->scratch_bytes = row_scratch(p, size);
}

/* In place, chunks would read samples that others have overwritten. */
static bool sorts_by_buckets(const plan *p, size_t size)
{
    const gpuarray *to = p->call->to;
    return word_bytes(p, size) > 0 && size >= 4 && !(to && to->data == p->call->from->data);
}

/* Chunks of a long row: enough for all workers. Those that are divided into buckets also fit a
 * worker's cache. */
static int64_t host_chunks(const plan *p)
{
    const int64_t least = at_least_one(p->length / HOST_CHUNK);
    const int64_t most = (int64_t)p->device->processors * CHUNKS_PER_WORKER;
    const int64_t chunks = least < most ? least : most, cached = p->length / HOST_ELEMENTS;
    if (!p->v.quick || cached <= chunks)
        return chunks;
    return cached < MOST_CHUNKS ? cached : MOST_CHUNKS;
}

static void plan_host_passes(plan *p, size_t size)
{
    p->v.quick = sorts_by_buckets(p, size);
    p->way = p->v.quick ? GA__SORT_BY_BUCKETS : GA__SORT_BY_PASSES;
    p->share = ga__ceil_div(p->length, host_chunks(p));
    p->shares = ga__ceil_div(p->length, p->share);
    const size_t tables = (size_t)(p->digits + 1) * DIGITS, shares = (size_t)p->shares;
    p->state_bytes =
        8 * (size_t)p->rows *
        (p->v.quick ? shares * GA__SORT_BUCKET_TABLE : GA__SORT_HEAD + shares * tables);
}

/* Whether one worker sorts a row sooner than passes or buckets of all workers do. */
static bool one_sorts_sooner(const plan *p, size_t size)
{
    const size_t workers = (size_t)p->device->processors;
    if (packs_rows(p, size) || counts_keys(p, size))
        return workers < MANY_WORKERS && row_scratch(p, size) <= MOST_SCRATCH / workers;
    return is_plain(p) && word_bytes(p, size) > 0 && workers <= FEW_WORKERS &&
           p->length < HOST_LONGER;
}

static void plan_host(plan *p, size_t size)
{
    p->v.wide = p->length > UINT32_MAX;
    if (p->length < HOST_LONG || p->rows >= p->device->processors || one_sorts_sooner(p, size))
        plan_host_rows(p, size);
    else
        plan_host_passes(p, size);
}

/* ---- CUDA ---- */

/* A row a warp or less: a few threads, with as many elements each as registers hold, compare most
 * of them without exchange. Fewer threads would read less than a sector of memory together. */
static bool plan_warps(plan *p)
{
    int team = 2, items = 1;
    if (p->length > GA__WARP * MOST_ITEMS)
        return false;
    while (team < LEAST_TEAM && team < p->length)
        team *= 2;
    while (items < MOST_ITEMS && team * items < p->length)
        items *= 2;
    while (team * items < p->length)
        team *= 2;
    p->way = GA__SORT_BY_NETWORK;
    p->v.block = WARPS_BLOCK;
    p->v.team = (uint8_t)team;
    p->v.items = (uint8_t)items;
    p->share = WARPS_BLOCK / team;
    return true;
}

/* The shared memory of elements in exchange, and of their places after them. */
static size_t exchange_bytes(const plan *p, int64_t elements, size_t size)
{
    const size_t index = !p->v.indices ? 0 : p->v.wide ? 8 : 4;
    return (size_t)elements * (size > index ? size : index);
}

/* Shared memory for elements in exchange, beside the counts of a block. */
static size_t exchange_room(const plan *p, int block)
{
    const size_t most = p->device->shared_bytes > 0 ? p->device->shared_bytes : LEAST_SHARED;
    return most - ((size_t)block / GA__WARP * RANKS_WARP + RANKS_REST);
}

/* A row a block, if its registers and shared memory hold one: up to 16 elements a thread, or 64
 * bytes of them. */
static bool plan_blocks(plan *p, size_t size)
{
    static const struct {
        uint16_t block, items;
    } shapes[] = {{256, 2}, {256, 4}, {256, 8}, {512, 8}, {512, 16}, {1024, 16}};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) {
        const int64_t elements = shapes[k].block * shapes[k].items;
        if (elements < p->length || (size > 8 && shapes[k].items > 8))
            continue;
        p->shared = exchange_bytes(p, elements, size);
        if (p->shared > exchange_room(p, shapes[k].block))
            return false;
        p->way = GA__SORT_BY_ROW;
        p->v.block = shapes[k].block;
        p->v.items = (uint8_t)shapes[k].items;
        return true;
    }
    return false;
}

/* Elements of a thread of a tile, at most: as many as its 128 registers allow, which also hold each
 * element's place and, with indices, its digit. The longer a tile, the longer the runs of a digit
 * that it writes, and the fewer counts. */
static int most_items(size_t size, bool indices)
{
    if (size <= 2)
        return indices ? 32 : 48;
    if (size == 4)
        return indices ? 32 : 44;
    return size == 8 ? 28 : 14;
}

static int64_t tiles_of(const plan *p, int items)
{
    return p->rows * ga__ceil_div(p->length, (int64_t)PASS_BLOCK * items);
}

/* Fewer elements, where the tiles would be too few for the device. */
static int pass_items(const plan *p, size_t size)
{
    const int most = most_items(size, p->v.indices), processors = p->device->processors;
    return tiles_of(p, most) >= 2 * processors       ? most
           : 2 * tiles_of(p, most / 2) >= processors ? most / 2
                                                     : most / 6;
}

static void plan_passes(plan *p, size_t size)
{
    const int64_t waves = (int64_t)p->device->processors * COUNT_WAVES;
    p->way = GA__SORT_BY_PASSES;
    p->v.wide = p->length >= MOST_COUNT;
    p->v.block = PASS_BLOCK;
    p->v.items = (uint8_t)pass_items(p, size);
    while (exchange_bytes(p, PASS_BLOCK * p->v.items, size) + BASE_BYTES >
           exchange_room(p, PASS_BLOCK))
        p->v.items--;
    p->share = (int64_t)p->v.block * p->v.items;
    p->shares = ga__ceil_div(p->length, p->share);
    p->shared = exchange_bytes(p, p->share, size);
    p->count_share =
        COUNT_BLOCK * ga__ceil_div(p->length, COUNT_BLOCK * at_least_one(waves / p->rows));
    p->count_shares = ga__ceil_div(p->length, p->count_share);
    p->state_bytes = 8 * (size_t)p->rows * (GA__SORT_HEAD + (size_t)p->digits * DIGITS);
    p->status_bytes = STATUS_HEAD + (size_t)(p->rows * p->shares) * DIGITS * (p->v.wide ? 8 : 4);
}

static void plan_cuda(plan *p, size_t size)
{
    if (!plan_warps(p) && !plan_blocks(p, size))
        plan_passes(p, size);
}

/* ---- Either ---- */

/* The memory of passes and buckets: a result's own is one side, for every other pass or for words.
 */
static void plan_memory(plan *p, size_t size)
{
    const size_t elements = (size_t)(p->rows * p->length);
    p->state_bytes = to_lines(p->state_bytes);
    if (p->way == GA__SORT_BY_BUCKETS) {
        p->spare_bytes = to_lines(elements * word_bytes(p, size));
        return;
    }
    p->spare_bytes = to_lines(elements * size);
    p->to_bytes = p->v.values ? 0 : p->spare_bytes;
    p->spare_index_bytes = p->v.indices ? to_lines(elements * (p->v.wide ? 8 : 4)) : 0;
}

void ga__sort_plan_make(plan *p, const ga__sort_call *call)
{
    const gpuarray *x = call->from;
    const size_t size = ga__dtype_size(x->dtype);
    *p = (plan){.call = call, .device = x->buffer->device, .length = x->shape[x->ndim - 1]};
    p->rows = x->size / p->length;
    p->digits = (int)size;
    p->v = (ga__sort_variant){.type = (uint8_t)x->dtype,
                              .host = ga__on_host(p->device),
                              .descending = call->descending,
                              .values = call->to != NULL,
                              .indices = call->indices != NULL,
                              .skips = !ga__on_host(p->device) && call->skipped > 0};
    if (p->v.host)
        plan_host(p, size);
    else
        plan_cuda(p, size);
    if (p->way == GA__SORT_BY_PASSES || p->way == GA__SORT_BY_BUCKETS)
        plan_memory(p, size);
}

int64_t ga__sort_plan_grid(const plan *p, ga__sort_step step)
{
    switch (step) {
    case GA__SORT_SHORT_ROWS: return ga__ceil_div(p->rows, p->share);
    case GA__SORT_ROWS: return p->v.host ? ga__ceil_div(p->rows, p->share) : p->rows;
    case GA__SORT_PLAN: return p->rows;
    case GA__SORT_COUNT: return p->rows * (p->v.host ? p->shares : p->count_shares);
    case GA__SORT_GATHER:
    case GA__SORT_BUCKETS: return p->rows * GA__SORT_BUCKETS_ROW;
    default: return p->rows * p->shares;
    }
}
