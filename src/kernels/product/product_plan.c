/* Plans a product: merges the axes of its stack, and chooses tiles. */
#include "kernels/product/product_plan.h"

#include <assert.h>

#include "kernels/product/product_teams.h"
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
    p->tiled = false;
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

/* Host: of the largest little matrix, and how many are worth lanes. */
enum { LITTLE_SIDE = 12, LITTLE_STACK = 8 };

static bool is_little_on_host(const plan *p)
{
    return p->places >= LITTLE_STACK && p->m <= LITTLE_SIDE && p->n <= LITTLE_SIDE &&
           p->k <= LITTLE_SIDE;
}

bool ga__product_is_little(const plan *p)
{
    return ga__on_host(p->device) ? is_little_on_host(p) : ga__product_is_for_teams(p);
}

/* Whether alpha is 1 and beta 0. */
static bool is_bare(const plan *p)
{
    return ga__factor_is(ga__product_alpha(p->call), 1) && ga__factor_is(p->call->beta, 0);
}

bool ga__product_is_outer(const plan *p)
{
    return p->k == 1 && is_bare(p) && !(ga__on_host(p->device) && is_little_on_host(p));
}

/* Columns of complex numbers that the own kernel multiplies faster on the host. */
enum { MANY_COMPLEX = 32 };

bool ga__product_is_rows(const plan *p)
{
    const char kind = ga__dtype_kind(p->call->type);
    return p->m == 1 && p->k > 0 && !ga__product_is_little(p) && p->axes + 2 <= GA_MAX_NDIM &&
           is_bare(p) && kind != 'b' &&
           !(kind == 'c' && ga__on_host(p->device) && p->n > MANY_COMPLEX);
}

/* Whether the product of the transposed operands is better: of c in columns, and of one column. On
 * CUDA, cuBLASLt is as fast for a column as the reduction engine for a row. */
static bool is_better_turned(const plan *p)
{
    if (ga__on_host(p->device) && ga__product_is_rows(p))
        return false;
    return magnitude(p->c.row) < magnitude(p->c.column) || (p->n == 1 && p->m > 1);
}

void ga__product_plan_read(plan *p, const ga__product *call)
{
    const gpuarray *a = call->a, *c = call->c;
    p->call = call;
    p->turned = p->tiled = false;
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

static void plan_cuda(plan *p)
{
    const int64_t wanted = (int64_t)p->device->processors * CUDA_BLOCKS;
    const int64_t word = (int64_t)ga__product_word_bytes((ga_dtype)p->v.type, false);
    p->v.side = GA__PRODUCT_SIDE;
    p->block = GA__PRODUCT_SIDE * GA__PRODUCT_SIDE;
    int rows = word <= 8 ? 8 : 2, columns = word <= 4 ? 8 : word <= 8 ? 4 : 2;
    while (rows > 2 && rows / 2 * GA__PRODUCT_SIDE >= p->m)
        rows /= 2;
    while (columns > 2 && columns / 2 * GA__PRODUCT_SIDE >= p->n)
        columns /= 2;
    ga__product_set_tile(p, rows, columns);
    while (rows + columns > 4 && blocks(p) < wanted) {
        rows /= rows >= columns ? 2 : 1;
        columns /= columns > rows ? 2 : 1;
        ga__product_set_tile(p, rows, columns);
    }
    count_tiles(p);
    ga__product_choose_copies(p);
}

void ga__product_plan_tiles(plan *p)
{
    const ga__product *call = p->call;
    if (p->tiled)
        return;
    p->tiled = true;
    p->v = (ga__product_variant){.type = (uint8_t)call->type,
                                 .a = (uint8_t)p->a.array->dtype,
                                 .b = (uint8_t)p->b.array->dtype,
                                 .c = (uint8_t)call->c->dtype,
                                 .scales = !ga__factor_is(call->alpha, 0) &&
                                           !ga__factor_is(call->alpha, 1),
                                 .adds = !ga__factor_is(call->beta, 0),
                                 .axes = (uint8_t)p->axes};
    p->v.host = ga__on_host(p->device);
    assert(p->m > 0 && p->n > 0);
    p->v.little = ga__product_is_little(p);
    p->block = 0;
    p->shared_bytes = 0;
    if (p->v.little)
        p->v.host ? plan_little(p) : ga__product_plan_teams(p);
    else if (p->v.host)
        plan_host(p);
    else
        plan_cuda(p);
}

/* ---- The launch ---- */

ga__stream *ga__product_stream(const plan *p)
{
    ga__stream *stream = ga__current_stream(p->device);
    const gpuarray *bias = p->call->bias;
    if (!stream || ga__use(stream, p->a.array->buffer, false) != GA_OK ||
        ga__use(stream, p->b.array->buffer, false) != GA_OK ||
        (bias && ga__use(stream, bias->buffer, false) != GA_OK) ||
        ga__use(stream, p->c.array->buffer, true) != GA_OK)
        return NULL;
    return stream;
}
