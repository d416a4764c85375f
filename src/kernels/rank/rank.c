/* The engine of selection: plans one call, finds its kernels by small keys, and launches them. */
#include "kernels/rank/rank.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "device/memory.h"
#include "device/tickets.h"
#include "kernels/rank/rank_host.h"
#include "kernels/rank/rank_text.h"
#include "kernels/reduce_text.h"
#include "kernels/request.h"

#define HOST_STACK (80 << 10) /* bytes: samples and strips of the widest keys (rank_near.host) */
typedef ga__rank_variant variant;

enum {
    LINE = 64,              /* bytes between what different threads write */
    HOST_PARTS = 2,         /* of a row for each processor: some start late */
    SHORT_ROW = 1 << 10,    /* CUDA: rows that a warp selects in */
    SHORT_OF_FEW = 1 << 7,  /* the same where each row has a multiprocessor of its own */
    MIDDLE_ROW = 1 << 13,   /* rows that 256 threads select in; longer ones have 512 */
    SHARED_ROW = 96 << 10,  /* bytes of the longest rows in shared memory: two blocks fit an SM */
    SHARED_SPARE = 8 << 10, /* what a block of rows needs besides its keys */
    SAMPLED_ROW = 1 << 16,  /* CUDA: the shortest row that is sampled before the rounds */
    SAMPLED_EACH = 1 << 15, /* and the fewest elements of all rows for each multiprocessor */
    ROUND_ROWS = 1024,      /* rows whose rounds run together: their tables take 100 MB at most */
    CANDIDATES_LINE = 8,    /* divides their number, so that rows of bytes are aligned */
    CANDIDATES_SHARE = 4,   /* candidates are at most a quarter of a row: a round over them and
                               their storing together cost less than a round over the row */
    MOVE_BLOCKS = 8,        /* CUDA: that move elements, for each multiprocessor */
    WINNER_BYTES = 24,      /* host: key, value and index */
    ROW_BINS = 256,         /* CUDA: counters of rows in shared memory */
};

/* A call under way. Rounds and moves work on `rows` rows from `first` on. */
typedef struct call {
    const ga__ranking *r;
    ga__device *device;
    ga__stream *stream;
    variant v;
    int64_t first, rows;
    ga__buffer *rounds; /* states, bins, tiles and candidates of the rows */
    ga__buffer *runs;   /* topk on CUDA: winners between merges */
    ga__rank_params params;
} call;

static const char *element(const gpuarray *x, int64_t index)
{
    return x->data + (size_t)index * ga__dtype_size(x->dtype);
}

static uint64_t address(const void *memory)
{
    return (uint64_t)(uintptr_t)memory;
}

static size_t lines(size_t nbytes)
{
    return (nbytes + LINE - 1) / LINE * LINE;
}

static size_t key_bytes(const ga__ranking *r)
{
    return ga__dtype_size(r->x->dtype);
}

/* The elements of a row of results. */
static int64_t results_of_row(const ga__ranking *r)
{
    return r->task == GA__RANK_QUANTILES ? 1 : r->task == GA__RANK_TOPK ? r->winners : r->count;
}

/* ---- Launches ---- */

static ga__record *describe(const void *planned)
{
    return ga__rank_text(planned);
}

static const ga__loaded_kernel *find_kernel(const call *c, int block)
{
    const ga__formula *formula = ga__rank_formula(c->r->task);
    const ga__request request = {formula, c->device, "rank.tmpl", describe, &c->v, block};
    return ga__request_find_variant(&request, GA__RANK, &c->v, sizeof c->v);
}

/* One launch. On the host each of its threads has `scratch` bytes. */
static ga_status launch_found(call *c, const ga__loaded_kernel *kernel, int64_t grid, int block,
                              size_t shared, size_t scratch)
{
    uint64_t words[(sizeof(ga__rank_params) + sizeof(ga__scratch_params)) / sizeof(uint64_t)];
    ga__params params = ga__params_in(words, sizeof words / sizeof *words);
    int (*const worker)(void) = c->device->backend->code.worker;
    ga__buffer *memory = NULL;
    memcpy(ga__params_reserve(&params, sizeof c->params), &c->params, sizeof c->params);
    if (c->v.host) {
        ga__scratch_params *own = ga__params_reserve(&params, sizeof *own);
        *own = (ga__scratch_params){.scratch_bytes = scratch};
        memcpy(&own->worker, &worker, sizeof worker);
        if (scratch > 0) {
            memory = ga__buffer_new(c->device, scratch * (size_t)c->device->processors);
            if (!memory)
                return ga_error();
            own->scratch = address(memory->memory);
        }
    }
    assert(ga__params_count(&params) == ga__rank_param_words(&c->v));
    const ga__launch launch = {.grid = grid,
                               .block = block,
                               .shared = shared,
                               .stack = HOST_STACK,
                               .words = words,
                               .nwords = ga__params_count(&params)};
    const ga_status status = ga__request_launch(kernel, c->stream, &launch);
    ga__buffer_release(memory);
    return status;
}

static ga_status launch(call *c, ga__rank_stage stage, int64_t grid, int block, size_t shared,
                        size_t scratch)
{
    c->v.stage = (uint8_t)stage;
    const ga__loaded_kernel *kernel = find_kernel(c, 0);
    if (!kernel)
        return ga_error();
    const ga_status status = launch_found(c, kernel, grid, block, shared, scratch);
    ga__request_leave();
    return status;
}

static uint64_t tickets(const call *c)
{
    return address(ga__stream_tickets(c->stream));
}

/* Sets the rows of the next launches, and where their results go. */
static void set_rows(call *c, int64_t first, int64_t rows)
{
    const ga__ranking *r = c->r;
    const int64_t at = first * results_of_row(r);
    c->first = first;
    c->rows = rows;
    c->params.x = address(element(r->x, first * r->count));
    c->params.rows = (uint64_t)rows;
    c->params.values = r->values ? address(element(r->values, at)) : 0;
    c->params.indices = r->indices ? address(element(r->indices, at)) : 0;
}

/* ---- Quantiles: groups of q ---- */

static void set_q(call *c, int64_t from, int64_t count)
{
    const ga__ranking *r = c->r;
    memcpy(c->params.q, r->q + from, (size_t)count * sizeof *r->q);
    c->params.nq = (uint64_t)count;
    c->params.next_value = (uint64_t)r->rows;
    c->params.values = address(element(r->values, from * r->rows + c->first));
}

/* Does the work for each group of at most `most` numbers q; other tasks have one group. */
static ga_status for_each_group(call *c, int64_t most, ga_status (*work)(call *))
{
    const ga__ranking *r = c->r;
    ga_status status = GA_OK;
    if (r->task != GA__RANK_QUANTILES)
        return work(c);
    for (int64_t from = 0; from < r->nq && status == GA_OK; from += most) {
        set_q(c, from, r->nq - from < most ? r->nq - from : most);
        status = work(c);
    }
    return status;
}

/* ---- Whole rows ---- */

/* How many rows of `elements` elements one call on the host takes. */
static int64_t rows_of_host_block(const call *c, int64_t elements)
{
    const int64_t share = ga__ceil_div(c->rows, (int64_t)c->device->processors * 4),
                  grain = ga__ceil_div(GA__RANK_HOST_GRAIN, elements);
    return share < grain ? share : grain;
}

static ga_status run_host_rows(call *c)
{
    const int64_t group = rows_of_host_block(c, c->r->count);
    c->params.parts = (uint64_t)group;
    return launch(c, GA__RANK_ROWS, ga__ceil_div(c->rows, group), 0, 0,
                  ga__rank_host_scratch(c->r));
}

static ga_status run_cuda_rows(call *c)
{
    const int64_t n = c->r->count,
                  most = c->r->rows <= c->device->processors ? SHORT_OF_FEW : SHORT_ROW;
    c->v.team = n <= most ? GA__WARP : n <= MIDDLE_ROW ? 256 : 512;
    const int block = ga__rank_row_block(&c->v), rows = block / c->v.team;
    const size_t keys =
        ((size_t)n * key_bytes(c->r) + GA__VECTOR_BYTES - 1) / GA__VECTOR_BYTES * GA__VECTOR_BYTES;
    const ga_status status = launch(c, GA__RANK_ROWS, ga__ceil_div(c->rows, rows), block,
                                    (keys + ROW_BINS * sizeof(uint32_t)) * (size_t)rows, 0);
    c->v.team = 0;
    return status;
}

static ga_status run_rows(call *c)
{
    return c->v.host ? run_host_rows(c) : run_cuda_rows(c);
}

static bool takes_whole_rows(const call *c)
{
    const ga__ranking *r = c->r;
    if (c->v.host)
        return ga__rank_host_takes_rows(r, c->device);
    const size_t all = c->device->shared_bytes ? c->device->shared_bytes : 48 << 10,
                 nbytes = (size_t)r->count * key_bytes(r);
    const bool pays =
        r->count <= MIDDLE_ROW || (nbytes <= SHARED_ROW && r->rows >= c->device->processors / 2);
    return pays && nbytes <= all - SHARED_SPARE;
}

/* ---- Long rows ---- */

/* Digits of a key. */
static int round_count(const call *c)
{
    return (int)ga__ceil_div(8 * (int64_t)key_bytes(c->r), ga__rank_digit_bits(&c->v));
}

static int64_t tile_count(const call *c)
{
    const int64_t tile = c->v.host ? GA__RANK_HOST_TILE : GA__RANK_MOVE_BLOCK * GA__RANK_MOVE_ITEMS;
    return ga__ceil_div(c->r->count, tile);
}

/* Whether candidates have indices, of 32 bits: topk may find its winners among them. */
static bool keeps_indices(const call *c)
{
    return !c->v.host && c->r->task == GA__RANK_TOPK;
}

/* The most candidates of a row: enough to spare later reads of the row. */
static int64_t candidate_count(const call *c)
{
    const int reads = round_count(c) + keeps_indices(c);
    if (reads <= 2 || (keeps_indices(c) && c->r->count > UINT32_MAX))
        return 0;
    return c->r->count / CANDIDATES_SHARE / CANDIDATES_LINE * CANDIDATES_LINE;
}

/* Where a batch of rows keeps what is known of them; the first `zero` bytes start as zeros. */
typedef struct room {
    size_t bins, tiles, candidates, zero, nbytes;
    int64_t capacity;
} room;

static room plan_room(const call *c, int64_t rows)
{
    room m = {.bins = (size_t)rows * GA__RANK_STATE_BYTES};
    const size_t table = sizeof(uint64_t) << ga__rank_digit_bits(&c->v);
    const bool moves = c->r->task != GA__RANK_QUANTILES;
    m.zero = m.tiles = m.bins + (size_t)rows * c->v.targets * table;
    m.candidates =
        m.tiles + (moves ? (size_t)(rows * (tile_count(c) + 1)) * 2 * sizeof(uint64_t) : 0);
    m.capacity = candidate_count(c);
    m.nbytes = m.candidates + (size_t)(rows * m.capacity) *
                                  (key_bytes(c->r) + (keeps_indices(c) ? sizeof(uint32_t) : 0));
    return m;
}

static void set_room(call *c, const room *m)
{
    const uint64_t base = address(c->rounds->memory);
    c->params.states = base;
    c->params.bins = base + m->bins;
    c->params.tiles = base + m->tiles;
    c->params.candidates = base + m->candidates;
    c->params.capacity = (uint64_t)m->capacity;
}

/* Blocks that share a row: as many as run at once, if each has work. */
static int64_t part_count(const call *c, const ga__loaded_kernel *kernel)
{
    const int64_t grain = c->v.host ? GA__RANK_HOST_GRAIN : GA__RANK_ROUND_BLOCK * GA__VECTOR_BYTES;
    const int64_t most = ga__ceil_div(c->r->count, grain);
    const int64_t wave = c->v.host ? (int64_t)c->device->processors * HOST_PARTS : kernel->resident;
    const int64_t parts = wave / c->rows;
    return parts < 1 ? 1 : parts < most ? parts : most;
}

static ga_status zero_states(call *c, const room *m)
{
    return c->device->backend->memory.zero(c->stream, c->rounds->memory, m->zero);
}

/* Whether a sample says which elements may be winners, so that one read of the rows is enough. For
 * medians, whose candidates are many, two reads measure the same. */
static bool takes_sample(const call *c)
{
    const ga__ranking *r = c->r;
    return keeps_indices(c) && candidate_count(c) > 0 && r->count >= SAMPLED_ROW &&
           r->count * c->rows >= (int64_t)c->device->processors * SAMPLED_EACH;
}

/* Launches all rounds one after another: those after a row's last one do nothing for it. */
static ga_status run_rounds(call *c)
{
    const room m = plan_room(c, c->rows);
    const int block = c->v.host ? 0 : GA__RANK_ROUND_BLOCK;
    const size_t shared =
        (size_t)ga__rank_tables(&c->v) * (sizeof(uint32_t) << ga__rank_digit_bits(&c->v));
    const bool sampled = takes_sample(c);
    ga_status status = zero_states(c, &m);
    if (status == GA_OK && sampled)
        status = launch(c, GA__RANK_SAMPLE, c->rows, GA__RANK_ROUND_BLOCK, 0, 0);
    c->v.stage = GA__RANK_ROUND;
    const ga__loaded_kernel *kernel = status == GA_OK ? find_kernel(c, block) : NULL;
    if (!kernel)
        return ga_error();
    c->params.parts = (uint64_t)part_count(c, kernel);
    for (int round = 0; round < round_count(c) + sampled && status == GA_OK; round++) {
        c->params.round = (uint64_t)round;
        status = launch_found(c, kernel, c->rows * (int64_t)c->params.parts, block,
                              c->v.host ? 0 : shared, 0);
    }
    ga__request_leave();
    if (status == GA_OK && keeps_indices(c) && c->r->winners <= GA__RANK_RUN)
        status = launch(c, GA__RANK_GATHER, c->rows * (int64_t)c->params.parts, block, 0, 0);
    return status;
}

/* Blocks of the kernels that move elements. On CUDA they take tiles by turns, so that few blocks
 * find that nothing is left to do. */
static int64_t move_grid(const call *c)
{
    const int64_t most = ga__ceil_div(c->device->processors * MOVE_BLOCKS, c->rows);
    return c->rows * (c->v.host || tile_count(c) < most ? tile_count(c) : most);
}

static ga_status run_moves(call *c)
{
    const int block = c->v.host ? 0 : GA__RANK_MOVE_BLOCK;
    c->params.parts = (uint64_t)tile_count(c);
    const int64_t grid = move_grid(c);
    const ga_status status = launch(c, GA__RANK_COUNT, grid, block, 0, 0);
    return status == GA_OK ? launch(c, GA__RANK_MOVE, grid, block, 0, 0) : status;
}

static ga_status run_batch(call *c)
{
    ga_status status = for_each_group(c, GA__RANK_ROUND_Q, run_rounds);
    if (status == GA_OK && c->r->task != GA__RANK_QUANTILES)
        status = run_moves(c);
    return status;
}

static ga_status run_long_rows(call *c)
{
    const ga__ranking *r = c->r;
    const int64_t batch = r->rows < ROUND_ROWS ? r->rows : ROUND_ROWS;
    c->v.targets = (uint8_t)(r->task != GA__RANK_QUANTILES ? 1
                             : r->nq == 1                  ? 2
                                                           : 2 * GA__RANK_ROUND_Q);
    const room most = plan_room(c, batch);
    c->rounds = ga__buffer_new(c->device, most.nbytes);
    c->params.tickets = tickets(c);
    ga_status status = c->rounds && c->params.tickets ? GA_OK : ga_error();
    for (int64_t first = 0; first < r->rows && status == GA_OK; first += batch) {
        const int64_t rows = r->rows - first < batch ? r->rows - first : batch;
        const room m = plan_room(c, rows);
        set_rows(c, first, rows);
        set_room(c, &m);
        status = run_batch(c);
    }
    c->v.targets = 0;
    ga__buffer_release(c->rounds);
    return status;
}

/* ---- The order of winners ---- */

static int merge_count(const ga__ranking *r)
{
    int merges = 0;
    for (int64_t run = GA__RANK_RUN; run < r->winners; run *= 2)
        merges++;
    return merges;
}

static ga_status order_on_host(call *c)
{
    const int64_t group = rows_of_host_block(c, c->r->winners);
    c->params.parts = (uint64_t)group;
    return launch(c, GA__RANK_ORDER, ga__ceil_div(c->r->rows, group), 0, 0,
                  lines(2 * (size_t)c->r->winners * WINNER_BYTES));
}

/* Sorts runs where they are, then merges pairs of them to and fro. */
static ga_status order_on_cuda(call *c, uint64_t values, uint64_t indices)
{
    const ga__ranking *r = c->r;
    const int64_t runs = ga__ceil_div(r->winners, GA__RANK_RUN);
    const size_t shared = GA__RANK_RUN * (key_bytes(r) + sizeof(uint32_t));
    c->params.parts = (uint64_t)runs;
    ga_status status = launch(c, GA__RANK_ORDER, r->rows * runs, GA__RANK_ORDER_BLOCK, shared, 0);
    for (int64_t run = GA__RANK_RUN; run < r->winners && status == GA_OK; run *= 2) {
        c->params.from_values = c->params.values;
        c->params.from_indices = c->params.indices;
        c->params.values = values;
        c->params.indices = indices;
        c->params.round = (uint64_t)run;
        status = launch(c, GA__RANK_MERGE, r->rows * runs, GA__RANK_ORDER_BLOCK, 0, 0);
        values = c->params.from_values;
        indices = c->params.from_indices;
    }
    return status;
}

/* ---- A call ---- */

static ga_status select_rows(call *c)
{
    set_rows(c, 0, c->r->rows);
    if (takes_whole_rows(c))
        return for_each_group(c, GA__RANK_ROW_Q, run_rows);
    return run_long_rows(c);
}

/* The winners of topk go to memory of their own if an odd number of merges follows. */
static ga_status run_topk(call *c)
{
    const ga__ranking *r = c->r;
    ga__ranking first = *r;
    gpuarray values = *r->values, indices = *r->indices;
    const size_t value_bytes = lines(ga_nbytes(r->values)), index_bytes = ga_nbytes(r->indices);
    const int merges = c->v.host ? 0 : merge_count(r);
    if (merges > 0) {
        c->runs = ga__buffer_new(c->device, value_bytes + index_bytes);
        if (!c->runs)
            return ga_error();
        values.data = c->runs->memory;
        indices.data = values.data + value_bytes;
    }
    if (merges % 2 == 1) {
        first.values = &values;
        first.indices = &indices;
    }
    c->r = &first;
    ga_status status = select_rows(c);
    set_rows(c, 0, r->rows);
    if (status == GA_OK && c->v.host)
        status = order_on_host(c);
    else if (status == GA_OK)
        status = order_on_cuda(c, address(merges % 2 ? r->values->data : values.data),
                               address(merges % 2 ? r->indices->data : indices.data));
    c->r = r;
    ga__buffer_release(c->runs);
    return status;
}

static variant variant_of(const ga__ranking *r)
{
    const bool quantiles = r->task == GA__RANK_QUANTILES;
    return (variant){.type = (uint8_t)r->x->dtype,
                     .result = quantiles ? (uint8_t)r->values->dtype : 0,
                     .q_type = quantiles ? (uint8_t)r->q_type : 0,
                     .method = quantiles ? (uint8_t)r->method : 0,
                     .host = ga__on_host(r->x->buffer->device),
                     .weak = quantiles && r->weak,
                     .skips_nan = quantiles && r->skips_nan,
                     .descending = r->descending,
                     .task = (uint8_t)r->task};
}

static ga__stream *choose_stream(const ga__ranking *r, ga__device *device)
{
    ga__stream *stream = ga__current_stream(device);
    if (!stream || ga__use(stream, r->x->buffer, false) != GA_OK ||
        (r->values && ga__use(stream, r->values->buffer, true) != GA_OK) ||
        (r->indices && ga__use(stream, r->indices->buffer, true) != GA_OK))
        return NULL;
    return stream;
}

ga_status ga__rank(const ga__ranking *r)
{
    call c = {.r = r,
              .device = r->x->buffer->device,
              .v = variant_of(r),
              .params = {.count = (uint64_t)r->count,
                         .kth = (uint64_t)(r->task == GA__RANK_TOPK ? r->winners - 1 : r->kth),
                         .winners = (uint64_t)results_of_row(r)}};
    c.stream = choose_stream(r, c.device);
    if (!c.stream)
        return ga_error();
    return r->task == GA__RANK_TOPK ? run_topk(&c) : select_rows(&c);
}
