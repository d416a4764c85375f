/* Plans a product: merges the axes of its stack, and chooses tiles. */
#include "kernels/product/product_plan.h"

#include <assert.h>

#include "kernels/request.h"

typedef ga__product_plan plan;
typedef ga__product_operand operand;

/* ---- Operands ---- */

/* The stride of a leading axis that is axis `k` of c's; 0 where the operand repeats. */
static int64_t leading_stride(const gpuarray *x, int ndim, int k)
{
    const int axis = k - (ndim - x->ndim);
    return axis < 0 || x->shape[axis] == 1 ? 0 : x->strides[axis];
}

static void read_matrix(operand *o, const gpuarray *x)
{
    const int64_t size = (int64_t)ga__dtype_size(x->dtype);
    o->array = x;
    o->row = x->strides[x->ndim - 2] / size;
    o->column = x->strides[x->ndim - 1] / size;
}

static void exchange(int64_t *x, int64_t *y)
{
    const int64_t before = *x;
    *x = *y;
    *y = before;
}

void ga__product_turn(plan *p)
{
    const operand a = p->a;
    p->turned = !p->turned;
    p->a = p->b;
    p->b = a;
    exchange(&p->a.row, &p->a.column);
    exchange(&p->b.row, &p->b.column);
    exchange(&p->c.row, &p->c.column);
    exchange(&p->m, &p->n);
}

static int64_t magnitude(int64_t stride)
{
    return stride < 0 ? -stride : stride;
}

/* The axes of the stack as the engine's nests merge them, by c's strides. */
static void read_stack(plan *p)
{
    const gpuarray *c = p->call->c;
    int64_t strides[3][GA_MAX_NDIM];
    operand *const all[] = {&p->c, &p->a, &p->b};
    ga__nest nest = {.ndim = c->ndim - 2, .noperands = 3, .strides = strides};
    for (int axis = 0; axis < nest.ndim; axis++) {
        const int k = nest.ndim - 1 - axis;
        nest.shape[axis] = c->shape[k];
        for (int o = 0; o < 3; o++)
            strides[o][axis] = leading_stride(all[o]->array, c->ndim, k) /
                               (int64_t)ga__dtype_size(all[o]->array->dtype);
    }
    ga__nest_collapse(&nest);
    p->axes = nest.ndim;
    p->places = 1;
    for (int axis = 0; axis < nest.ndim; axis++) {
        p->length[axis] = nest.shape[axis];
        p->places *= nest.shape[axis];
        for (int o = 0; o < 3; o++)
            all[o]->stack[axis] = strides[o][axis];
    }
}

static void drop_axis(plan *p, int axis)
{
    operand *const all[] = {&p->a, &p->b, &p->c};
    p->places /= p->length[axis];
    p->axes--;
    for (int k = axis; k < p->axes; k++) {
        p->length[k] = p->length[k + 1];
        for (int o = 0; o < 3; o++)
            all[o]->stack[k] = all[o]->stack[k + 1];
    }
}

/* An axis along which b repeats, and a and c continue their rows, is one with the rows; likewise
 * with columns. */
static bool fold_axis(plan *p, int axis)
{
    const int64_t a = p->a.stack[axis], b = p->b.stack[axis], c = p->c.stack[axis];
    int64_t *length = NULL;
    if (b == 0 && a == p->m * p->a.row && c == p->m * p->c.row)
        length = &p->m;
    else if (a == 0 && b == p->n * p->b.column && c == p->n * p->c.column)
        length = &p->n;
    if (!length)
        return false;
    *length *= p->length[axis];
    drop_axis(p, axis);
    return true;
}

static void fold_stack(plan *p)
{
    for (int axis = 0; axis < p->axes;)
        axis = fold_axis(p, axis) ? 0 : axis + 1;
}

/* Of little products. */
enum {
    LITTLE_SIDE = 12, /* host: of the largest little matrix, */
    LITTLE_STACK = 8, /* and how many are worth lanes */
    LEAST_SIDE = 4,   /* CUDA: threads along each side of a team, */
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

static bool is_little_on_host(const plan *p)
{
    return p->places >= LITTLE_STACK && p->m <= LITTLE_SIDE && p->n <= LITTLE_SIDE &&
           p->k <= LITTLE_SIDE;
}

/* Columns of a thread of a team, at most: sums are in up to 64 registers. */
static int most_columns(size_t word)
{
    return GA__PRODUCT_LITTLE_LINES * 4 / (int)word;
}

/* Bytes of integers are four to a word. */
static bool is_little_on_cuda(const plan *p)
{
    const ga_dtype type = p->call->type;
    const size_t size = ga__product_word_bytes(type, false);
    const bool whole_words = ga__dtype_size(type) > 1 || ga__dtype_rounds(type);
    const int64_t most_k = p->m * p->n <= LONG_SUMS ? LONG_DEPTH : MOST_DEPTH;
    return whole_words && size <= 8 && p->m > 1 && p->n > 1 && p->k > 0 && p->k <= most_k &&
           p->places >= p->device->processors && p->m <= MOST_SIDE * GA__PRODUCT_LITTLE_LINES &&
           p->n <= MOST_SIDE * most_columns(size);
}

bool ga__product_is_little(const plan *p)
{
    return p->device->arch == 0 ? is_little_on_host(p) : is_little_on_cuda(p);
}

/* Columns of complex numbers that the own kernel multiplies faster on the host. */
enum { MANY_COMPLEX = 32 };

bool ga__product_is_rows(const plan *p)
{
    const ga__product *call = p->call;
    const char kind = ga__dtype_kind(call->type);
    return p->m == 1 && p->k > 0 && !ga__product_is_little(p) && p->axes + 2 <= GA_MAX_NDIM &&
           ga__factor_is(ga__product_alpha(call), 1) && ga__factor_is(call->beta, 0) &&
           kind != 'b' && !(kind == 'c' && p->device->arch == 0 && p->n > MANY_COMPLEX);
}

/* Whether the product of the transposed operands is better: of c in columns, and of one column. On
 * CUDA, cuBLASLt is as fast for a column as the reduction engine for a row. */
static bool is_better_turned(const plan *p)
{
    if (p->device->arch == 0 && ga__product_is_rows(p))
        return false;
    return magnitude(p->c.row) < magnitude(p->c.column) || (p->n == 1 && p->m > 1);
}

void ga__product_plan_read(plan *p, const ga__product *call)
{
    const gpuarray *a = call->a, *c = call->c;
    p->call = call;
    p->turned = false;
    p->device = c->buffer->device;
    p->m = c->shape[c->ndim - 2];
    p->n = c->shape[c->ndim - 1];
    p->k = a->shape[a->ndim - 1];
    read_matrix(&p->a, a);
    read_matrix(&p->b, call->b);
    read_matrix(&p->c, c);
    read_stack(p);
    fold_stack(p);
    if (is_better_turned(p))
        ga__product_turn(p);
}

/* ---- Tiles ---- */

enum {
    HOST_ROW_BYTES = 768,     /* of a column of a tile's words, */
    HOST_COLUMN_BYTES = 1024, /* and of a row: the tile and its panels fit the cache of a core */
    HOST_LEAST = 24,          /* rows and columns */
    HOST_BLOCKS = 2,          /* for each worker */
    CUDA_BLOCKS = 1           /* for each multiprocessor */
};

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void count_tiles(plan *p)
{
    p->tiles_m = ga__ceil_div(p->m, p->tile_m);
    p->tiles_n = ga__ceil_div(p->n, p->tile_n);
    p->blocks = p->tiles_m * p->tiles_n * p->places;
}

static int64_t blocks(plan *p)
{
    count_tiles(p);
    return p->blocks;
}

/* The vectors of the elements of a and of b. */
static void plan_little(plan *p)
{
    const size_t parts = ga__dtype_kind((ga_dtype)p->v.type) == 'c' ? 2 : 1;
    p->tile_m = p->m;
    p->tile_n = p->n;
    count_tiles(p);
    p->blocks = ga__ceil_div(p->places, GA__PRODUCT_SHARE);
    p->scratch_bytes = (size_t)(p->m * p->k + p->k * p->n) * parts * GA__PRODUCT_VECTOR;
}

/* Smaller tiles where there are too few for all workers. */
static void plan_host(plan *p)
{
    const int64_t word = (int64_t)ga__product_word_bytes((ga_dtype)p->v.type, true);
    const int64_t wanted = (int64_t)p->device->processors * HOST_BLOCKS;
    p->tile_m = least(p->m, HOST_ROW_BYTES / (word < 4 ? 4 : word));
    p->tile_n = least(p->n, HOST_COLUMN_BYTES / (word < 4 ? 4 : word));
    while (p->device->processors > 1 && blocks(p) < wanted &&
           (p->tile_m > HOST_LEAST || p->tile_n > HOST_LEAST)) {
        int64_t *const longer = p->tile_m > p->tile_n ? &p->tile_m : &p->tile_n;
        *longer = ga__ceil_div(*longer, 2);
    }
    count_tiles(p);
    const int64_t rows = p->tile_m + GA__PRODUCT_MOST_ROWS,
                  columns = p->tile_n + GA__PRODUCT_MOST_COLUMNS;
    const int64_t words = rows * columns + least(p->k, GA__PRODUCT_DEPTH) * (rows + columns);
    p->scratch_bytes = (size_t)((words * word + 63) / 64 * 64);
}

static void set_tile(plan *p, int rows, int columns)
{
    p->v.rows = (uint8_t)rows;
    p->v.columns = (uint8_t)columns;
    p->tile_m = rows * p->v.side;
    p->tile_n = columns * ga__product_wide(&p->v);
}

static bool along_k(int64_t along, int64_t step)
{
    return magnitude(along) < magnitude(step);
}

/* Whether every vector of `count` elements is aligned: a line of them is `step` from the next. */
static bool is_aligned(const plan *p, const operand *o, int64_t along, int64_t step, int count)
{
    const size_t bytes = (size_t)count * ga__dtype_size(o->array->dtype);
    bool aligned =
        (count == 1 || along == 1) && step % count == 0 && (uintptr_t)o->array->data % bytes == 0;
    for (int axis = 0; axis < p->axes; axis++)
        aligned = aligned && o->stack[axis] % count == 0;
    return aligned;
}

/* Whether a thread loads vectors along k or along the lines. Along k, the kernel reads the last
 * elements singly; along the lines, every line is whole vectors. A word of bytes holds four
 * elements along k. */
static bool loads_vectors(const plan *p, const operand *o, bool along_k, int64_t lines)
{
    const int64_t k_step = o == &p->a ? o->column : o->row, step = o == &p->a ? o->row : o->column;
    const int group = ga__product_group((ga_dtype)p->v.type);
    const bool bytes =
        ga__dtype_size((ga_dtype)p->v.type) == 1 && !ga__dtype_rounds((ga_dtype)p->v.type);
    return along_k ? is_aligned(p, o, k_step, step, bytes ? 4 * group : group)
                   : lines % group == 0 && is_aligned(p, o, step, k_step, group);
}

static void choose_vectors(plan *p)
{
    const int group = ga__product_group((ga_dtype)p->v.type);
    const int columns = p->v.columns < group ? p->v.columns : group;
    p->v.a_vectors = loads_vectors(p, &p->a, p->v.a_along_k, p->m);
    p->v.b_vectors = loads_vectors(p, &p->b, p->v.b_along_k, p->n);
    p->v.c_vectors = p->n % columns == 0 && is_aligned(p, &p->c, p->c.column, p->c.row, columns);
}

static void choose_directions(plan *p)
{
    p->v.a_along_k = along_k(p->a.column, p->a.row);
    p->v.b_along_k = along_k(p->b.row, p->b.column);
}

/* Blocks that the device runs at once, as shared memory allows. */
static int64_t resident_blocks(const plan *p)
{
    const int64_t each = (int64_t)p->shared_bytes + BLOCK_SHARED;
    const int64_t blocks = least((int64_t)p->device->shared_bytes / each, MOST_BLOCKS);
    return p->device->processors * (blocks > 0 ? blocks : 1);
}

bool ga__product_copies_ahead(const plan *p)
{
    const ga_dtype type = p->call->type;
    return p->a.array->dtype == type && p->b.array->dtype == type &&
           ga__dtype_compute(type) == type && ga__dtype_size(type) >= 4;
}

/* Whether 16 threads are a team. */
static bool takes_few(const plan *p)
{
    const int most = most_columns(ga__product_word_bytes(p->call->type, false));
    return p->m <= LEAST_SIDE * GA__PRODUCT_LITTLE_LINES && p->n <= LEAST_SIDE * most &&
           p->k <= FEW_DEPTH;
}

/* A team of threads, each with as few rows and columns as cover the product. */
static void set_teams(plan *p, bool ahead)
{
    const int side = takes_few(p) ? LEAST_SIDE : MOST_SIDE;
    int columns = 2, depth = LEAST_DEPTH;
    p->v.ahead = ahead;
    p->v.side = (uint8_t)side;
    while (columns * ga__product_wide(&p->v) < p->n)
        columns *= 2;
    p->v.depth = 1;
    for (; depth < p->k && depth < MOST_DEPTH; depth *= 2)
        p->v.depth++;
    set_tile(p, (int)ga__ceil_div(p->m, side), columns);
    choose_directions(p);
    choose_vectors(p);
    count_tiles(p);
    p->block = ga__product_teams(&p->v) * side * ga__product_wide(&p->v);
    p->shared_bytes = ga__product_shared_bytes(&p->v);
}

/* Not all GPUs have room for two stages. */
static void plan_teams(plan *p)
{
    set_teams(p, least(p->m, p->n) > AHEAD_SIDE && ga__product_copies_ahead(p));
    if (p->v.ahead && p->shared_bytes > p->device->shared_bytes)
        set_teams(p, false);
    p->blocks = ga__ceil_div(p->places, ga__product_teams(&p->v));
    p->resident = resident_blocks(p);
    if (p->v.ahead)
        p->blocks = least(p->blocks, p->resident);
}

static void plan_cuda(plan *p)
{
    const int64_t wanted = (int64_t)p->device->processors * CUDA_BLOCKS;
    const int64_t word = (int64_t)ga__product_word_bytes((ga_dtype)p->v.type, false);
    p->v.side = GA__PRODUCT_SIDE;
    p->block = GA__PRODUCT_SIDE * GA__PRODUCT_SIDE;
    choose_directions(p);
    int rows = word <= 8 ? 8 : 2, columns = word <= 4 ? 8 : word <= 8 ? 4 : 2;
    while (rows > 2 && rows / 2 * GA__PRODUCT_SIDE >= p->m)
        rows /= 2;
    while (columns > 2 && columns / 2 * GA__PRODUCT_SIDE >= p->n)
        columns /= 2;
    set_tile(p, rows, columns);
    while (rows + columns > 4 && blocks(p) < wanted) {
        rows /= rows >= columns ? 2 : 1;
        columns /= columns > rows ? 2 : 1;
        set_tile(p, rows, columns);
    }
    count_tiles(p);
    choose_vectors(p);
}

void ga__product_plan_tiles(plan *p)
{
    const ga__product *call = p->call;
    p->v = (ga__product_variant){.type = (uint8_t)call->type,
                                 .a = (uint8_t)p->a.array->dtype,
                                 .b = (uint8_t)p->b.array->dtype,
                                 .c = (uint8_t)call->c->dtype,
                                 .scales = !ga__factor_is(call->alpha, 0) &&
                                           !ga__factor_is(call->alpha, 1),
                                 .adds = !ga__factor_is(call->beta, 0),
                                 .axes = (uint8_t)p->axes};
    p->v.host = p->device->arch == 0;
    assert(p->m > 0 && p->n > 0);
    p->v.little = ga__product_is_little(p);
    p->block = 0;
    p->shared_bytes = 0;
    if (p->v.little)
        p->v.host ? plan_little(p) : plan_teams(p);
    else if (p->v.host)
        plan_host(p);
    else
        plan_cuda(p);
}

/* ---- The launch ---- */

ga__stream *ga__product_stream(const plan *p)
{
    ga__stream *stream = ga__current_stream(p->device);
    if (!stream || ga__use(stream, p->a.array->buffer, false) != GA_OK ||
        ga__use(stream, p->b.array->buffer, false) != GA_OK ||
        ga__use(stream, p->c.array->buffer, true) != GA_OK)
        return NULL;
    return stream;
}
