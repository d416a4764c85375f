/* The elementwise engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/elementwise.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "kernels/program.h"
#include "kernels/quick.h"

#define BLOCK 128
#define TILE 32               /* elements a side: the smallest square */
#define BIG_TILE_BLOCK 512    /* threads of the larger ones */
#define TILE_BYTES (48 << 10) /* shared memory of all squares of a block */
#define QUICK_TURNS 4         /* vectors of a thread by quick functions */
#define HOST_STRIP 256        /* elements that go past the cache together */
#define HOST_BAND 256         /* columns of a square whose rows are turned, */
#define HOST_DOWN_BYTES 256   /* and what of theirs is turned: less leaves the memory half idle */
#define HOST_LINE 64          /* bytes */
#define NO_OPERAND (-1)

/* One call. Operands of the nest are the streamed arrays, written ones first, then the index. */
typedef struct plan {
    const ga__formula *formula;
    ga__device *device;
    int noperands;
    const ga__operand *operands;
    int64_t n;
    ga__nest nest;
    int row[GA__MAX_OPERANDS];  /* nest operand of operand k, NO_OPERAND for others */
    int index_row;              /* nest operand of the index */
    int step[GA__MAX_OPERANDS]; /* by nest operand */
    bool turned[GA__MAX_OPERANDS];
    bool wide, tiled, tail, host;
    bool quick;      /* by quick.tmpl where it can */
    bool past_cache; /* host: results are stored past the cache */
    int lanes, unroll, block, tile;
    int64_t vectors, chunk, grid;
    ga__words words;
    size_t axis_word[GA_MAX_NDIM]; /* a divisor's first word */
    size_t
        data_word[GA__MAX_OPERANDS]; /* by operand: pointer or number; strides follow a pointer */
    size_t index_word;               /* the index's strides */
} plan;

/* ---- The loop nest ---- */

static void number_rows(plan *p)
{
    int rows = 0;
    for (int writes = 1; writes >= 0; writes--)
        for (int k = 0; k < p->noperands; k++) {
            if (!ga__operand_streamed(&p->operands[k]))
                p->row[k] = NO_OPERAND;
            else if (p->operands[k].writes == (bool)writes)
                p->row[k] = rows++;
        }
    p->index_row = p->formula->uses_index ? rows++ : NO_OPERAND;
    p->nest.noperands = rows;
}

/* All arrays contiguous and of the whole shape, or of one element: a single axis, nothing to sort.
 */
static bool plan_dense(plan *p, int ndim, const int64_t *shape)
{
    for (int k = 0; k < p->noperands; k++) {
        const gpuarray *x = p->operands[k].array;
        if (!ga__operand_streamed(&p->operands[k]) || (x->size == 1 && p->n > 1))
            continue;
        if (!x->contiguous || x->size != p->n || !ga__same_shape(x->ndim, x->shape, ndim, shape))
            return false;
    }
    p->nest.ndim = 1;
    p->nest.shape[0] = p->n;
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] != NO_OPERAND) {
            const gpuarray *x = p->operands[k].array;
            p->nest.strides[p->row[k]][0] = x->size > 1 || p->n == 1;
        }
    if (p->index_row != NO_OPERAND)
        p->nest.strides[p->index_row][0] = 1;
    return true;
}

static void set_row(plan *p, int row, int ndim, const int64_t *strides)
{
    for (int axis = 0; axis < ndim; axis++)
        p->nest.strides[row][ndim - 1 - axis] = strides[axis];
}

/* From bytes to elements, which is what kernels count in. */
static void count_elements(plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] != NO_OPERAND) {
            const int64_t size = (int64_t)ga__dtype_size(p->operands[k].array->dtype);
            for (int axis = 0; axis < p->nest.ndim; axis++)
                p->nest.strides[p->row[k]][axis] /= size;
        }
}

static void plan_strided(plan *p, int ndim, const int64_t *shape)
{
    int64_t strides[GA_MAX_NDIM];
    p->nest.ndim = ndim;
    for (int axis = 0; axis < ndim; axis++)
        p->nest.shape[ndim - 1 - axis] = shape[axis];
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] != NO_OPERAND) {
            const gpuarray *x = p->operands[k].array;
            ga__broadcast_strides(ndim, shape, x->ndim, x->shape, x->strides, strides);
            set_row(p, p->row[k], ndim, strides);
        }
    if (p->index_row != NO_OPERAND) {
        ga__contiguous_strides(ndim, shape, 1, strides);
        set_row(p, p->index_row, ndim, strides);
    }
    ga__nest_collapse(&p->nest);
    if (p->nest.ndim == 0) {
        p->nest.ndim = 1;
        p->nest.shape[0] = 1;
        for (int row = 0; row < p->nest.noperands; row++)
            p->nest.strides[row][0] = 0;
    }
    count_elements(p);
}

/* The steps of the innermost axis, and whether indices need 64 bits. */
static void measure(plan *p)
{
    int64_t reach = p->n;
    for (int row = 0; row < p->nest.noperands; row++) {
        int64_t extent = 1;
        for (int axis = 0; axis < p->nest.ndim; axis++) {
            const int64_t stride = p->nest.strides[row][axis];
            extent += (p->nest.shape[axis] - 1) * (stride < 0 ? -stride : stride);
        }
        reach = extent > reach ? extent : reach;
        const int64_t inner = p->nest.strides[row][0];
        p->step[row] = inner == 0 ? STEP_ZERO : inner == 1 ? STEP_ONE : STEP_ANY;
    }
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand *operand = &p->operands[k];
        if (operand->array && operand->access == GA__ACCESSOR && operand->array->size > reach)
            reach = operand->array->size;
    }
    p->wide = !ga__fits_32_bits(reach);
}

/* ---- The variant ---- */

/* The axis along which an operand's elements are neighbours, if there is one. */
static int near_axis(const plan *p, int row)
{
    return p->turned[row] ? 1 : 0;
}

/* Of powers of two: a division would take longer than all else here. */
static bool divides(int64_t power, int64_t number)
{
    return (number & (power - 1)) == 0;
}

/* Whether operand k can be moved `lanes` elements at a time: address and other strides in step. */
static bool lanes_fit(const plan *p, int k, int lanes)
{
    const int row = p->row[k], near = near_axis(p, row);
    const gpuarray *x = p->operands[k].array;
    if (p->step[row] == STEP_ZERO)
        return !p->operands[k].writes;
    if (p->step[row] != STEP_ONE && !p->turned[row])
        return false;
    if (!divides(lanes * (int64_t)ga__dtype_size(x->dtype), (int64_t)(intptr_t)x->data))
        return false;
    for (int axis = 0; axis < p->nest.ndim; axis++)
        if (axis != near && !divides(lanes, p->nest.strides[row][axis]))
            return false;
    return true;
}

/* The largest item of the operands that are moved in vectors. */
static size_t widest_item(const plan *p)
{
    size_t widest = 1;
    for (int k = 0; k < p->noperands; k++) {
        const int row = p->row[k];
        if (row == NO_OPERAND || (p->step[row] != STEP_ONE && !p->turned[row]))
            continue;
        const size_t size = ga__dtype_size(p->operands[k].array->dtype);
        widest = size > widest ? size : widest;
    }
    return widest;
}

/* `most`: a limit on the lanes, a power of two. */
static int choose_lanes(const plan *p, int most)
{
    int lanes = (int)(16 / widest_item(p));
    lanes = lanes < most ? lanes : most;
    if (p->nest.shape[0] < lanes || (p->nest.ndim > 1 && !divides(lanes, p->nest.shape[0])) ||
        (p->tiled && !divides(lanes, p->nest.shape[1])))
        return 1;
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] != NO_OPERAND && !lanes_fit(p, k, lanes))
            return 1;
    return lanes;
}

/* The axis along which a read operand that strides on axis 0 is contiguous; 0 when there is none.
 */
static int turned_axis(const plan *p, int row)
{
    if (p->step[row] != STEP_ANY || row == p->index_row)
        return 0;
    for (int axis = 1; axis < p->nest.ndim; axis++)
        if (p->nest.strides[row][axis] == 1)
            return p->nest.shape[axis] >= TILE / 2 ? axis : 0;
    return 0;
}

static void swap_axes(ga__nest *nest, int a, int b)
{
    const int64_t shape = nest->shape[a];
    nest->shape[a] = nest->shape[b];
    nest->shape[b] = shape;
    for (int row = 0; row < nest->noperands; row++) {
        const int64_t stride = nest->strides[row][a];
        nest->strides[row][a] = nest->strides[row][b];
        nest->strides[row][b] = stride;
    }
}

/* Turned operands go through tiles of axis 0 and the axis they are contiguous on, moved to axis 1.
 */
static void choose_tiles(plan *p)
{
    int chosen = 0;
    size_t shared = 0;
    for (int row = 0; row < p->nest.noperands; row++)
        p->turned[row] = false;
    if (p->nest.ndim < 2 || p->nest.shape[0] < TILE / 2)
        return;
    for (int k = 0; k < p->noperands; k++) {
        const int row = p->row[k];
        if (row == NO_OPERAND || !p->operands[k].reads || p->operands[k].writes)
            continue;
        const int axis = turned_axis(p, row);
        const size_t bytes = ga__dtype_size(p->operands[k].array->dtype) * TILE * (TILE + 1);
        if (axis == 0 || (chosen && axis != chosen) || shared + bytes > TILE_BYTES)
            continue;
        chosen = axis;
        shared += bytes;
        p->turned[row] = true;
    }
    p->tiled = chosen != 0;
    if (p->tiled)
        swap_axes(&p->nest, 1, chosen);
}

static size_t square_bytes(const plan *p, int tile)
{
    size_t nbytes = 0;
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] != NO_OPERAND && p->turned[p->row[k]])
            nbytes += ga__dtype_size(p->operands[k].array->dtype) * (size_t)(tile * (tile + 1));
    return nbytes;
}

/* Squares of 256 bytes a side, of the largest item: measured, on both sides of a transposed copy.
 * The smallest ones where an axis is short or several large squares do not fit. */
static void choose_squares(plan *p)
{
    const size_t widest = widest_item(p);
    const int big = widest <= 2 ? 128 : widest <= 8 ? 64 : TILE;
    const bool fits =
        p->nest.shape[0] > TILE && p->nest.shape[1] > TILE && square_bytes(p, big) <= TILE_BYTES;
    p->tile = fits ? big : TILE;
    p->block = p->tile > TILE ? BIG_TILE_BLOCK : BLOCK;
    p->lanes = choose_lanes(p, p->tile * p->tile / p->block);
    p->grid = ga__ceil_div(p->nest.shape[0], p->tile) * ga__ceil_div(p->nest.shape[1], p->tile);
    for (int axis = 2; axis < p->nest.ndim; axis++)
        p->grid *= p->nest.shape[axis];
}

/* As many vectors a thread as leave each one that can run at once with some. */
static void choose_turns(plan *p)
{
    const ga__device *device = p->device;
    const int64_t all = ga__ceil_div(p->n, p->lanes);
    const int64_t turns = all / ((int64_t)device->processors * device->threads_per_processor);
    p->chunk = turns < 1 ? 1 : turns < QUICK_TURNS ? turns : QUICK_TURNS;
    p->grid = ga__ceil_div(all, BLOCK * p->chunk);
}

static void choose_cuda_variant(plan *p)
{
    choose_tiles(p);
    if (p->tiled) {
        choose_squares(p);
        return;
    }
    p->lanes = choose_lanes(p, 16);
    p->vectors = p->n / p->lanes;
    p->tail = p->lanes > 1 && p->nest.ndim == 1;
    p->quick = p->tail && p->formula->quick;
    p->unroll = p->lanes > 1 ? 1 : 4; /* measured: one 16-byte access each keeps the bus full */
    if (p->quick)
        choose_turns(p);
    else
        p->grid = ga__ceil_div(p->vectors, (int64_t)BLOCK * p->unroll);
}

/* Whether elements that are not there may be computed beside the others: no text of a user's says
 * where it is, or reaches for other elements. */
static bool can_pad(const plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (p->operands[k].array && p->operands[k].access == GA__ACCESSOR)
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
        if (p->row[k] == NO_OPERAND)
            continue;
        if (p->step[p->row[k]] == STEP_ANY && !p->turned[p->row[k]])
            return false;
        if (!p->operands[k].writes)
            continue;
        if (p->step[p->row[k]] != STEP_ONE || is_read(p, x->data))
            return false;
        nbytes += (size_t)p->n * ga__dtype_size(x->dtype);
    }
    return ga__goes_past_cache(p->device, nbytes) && p->nest.shape[0] >= HOST_STRIP && can_pad(p);
}

/* Bands of axis 0, cut along axis 1 where there are too few for all processors. */
static void choose_bands(plan *p)
{
    const int64_t bands = ga__ceil_div(p->nest.shape[0], HOST_BAND);
    int64_t outer = 1;
    for (int axis = 2; axis < p->nest.ndim; axis++)
        outer *= p->nest.shape[axis];
    const int64_t pieces = ga__ceil_div((int64_t)p->device->processors * 16, bands * outer);
    p->chunk =
        ga__ceil_div(ga__ceil_div(p->nest.shape[1], pieces), HOST_DOWN_BYTES) * HOST_DOWN_BYTES;
    p->grid = bands * outer * ga__ceil_div(p->nest.shape[1], p->chunk);
}

/* Rows of a square: what a turned operand has in HOST_DOWN_BYTES. */
static int rows_down(const plan *p)
{
    size_t widest = 1;
    for (int k = 0; k < p->noperands; k++)
        if (p->row[k] != NO_OPERAND && p->turned[p->row[k]]) {
            const size_t size = ga__dtype_size(p->operands[k].array->dtype);
            widest = size > widest ? size : widest;
        }
    return (int)(HOST_DOWN_BYTES / widest);
}

static void choose_host_variant(plan *p)
{
    const int64_t smallest = 1 << 15;
    p->wide = true;
    if (can_pad(p))
        choose_tiles(p);
    p->past_cache = goes_past_cache(p);
    if (p->tiled) {
        choose_bands(p);
        return;
    }
    const int64_t share = ga__ceil_div(p->n, (int64_t)p->device->processors * 16);
    p->chunk = share < smallest ? smallest : ga__ceil_div(share, 4096) * 4096;
    p->grid = ga__ceil_div(p->n, p->chunk);
}

static void choose_variant(plan *p)
{
    p->host = p->device->arch == 0;
    p->tiled = p->tail = p->quick = p->past_cache = false;
    p->lanes = p->unroll = 1;
    p->block = BLOCK;
    p->tile = 0;
    for (int row = 0; row < p->nest.noperands; row++)
        p->turned[row] = false;
    if (p->host)
        choose_host_variant(p);
    else
        choose_cuda_variant(p);
}

/* ---- The parameter words ---- */

static void add_operand(plan *p, int k)
{
    const ga__operand *operand = &p->operands[k];
    if (!operand->array) {
        p->data_word[k] = ga__words_add_number(&p->words, operand->type, operand->number);
        return;
    }
    p->data_word[k] = ga__words_add(&p->words, (uint64_t)(uintptr_t)operand->array->data);
    if (p->row[k] == NO_OPERAND)
        ga__words_add_accessor(&p->words, operand->array);
    else
        ga__words_add_strides(&p->words, &p->nest, p->row[k]);
}

static void add_words(plan *p)
{
    ga__words *words = &p->words;
    words->n = 0;
    ga__words_add(words, (uint64_t)p->n);
    const int first = p->tiled ? 2 : 0;
    ga__words_add(words, (uint64_t)(p->host || p->tiled ? p->nest.shape[0] : p->vectors));
    ga__words_add(words, (uint64_t)(p->tiled ? p->nest.shape[1] : p->chunk));
    if (p->host && p->tiled)
        ga__words_add(words, (uint64_t)p->chunk);
    for (int axis = first; axis < p->nest.ndim - 1; axis++) {
        const int64_t size = axis == 0 ? p->nest.shape[0] / p->lanes : p->nest.shape[axis];
        p->axis_word[axis] = ga__words_add_divisor(words, size, p->wide);
    }
    for (int k = 0; k < p->noperands; k++)
        add_operand(p, k);
    p->index_word = words->n;
    if (p->index_row != NO_OPERAND)
        ga__words_add_strides(words, &p->nest, p->index_row);
}

/* ---- The kernel ---- */

static uint64_t operand_key(const plan *p, int k)
{
    if (p->row[k] == NO_OPERAND)
        return ga__operand_key(&p->operands[k], 0);
    const uint64_t turned = p->turned[p->row[k]];
    return ga__operand_key(&p->operands[k], p->step[p->row[k]]) | turned << 14;
}

static void make_key(const plan *p, ga__key *key)
{
    ga__key_init(key, p->formula, p->device, GA__ELEMENTWISE);
    const int index_step = p->index_row == NO_OPERAND ? 0 : p->step[p->index_row];
    ga__key_add(key, (uint64_t)p->nest.ndim | (uint64_t)p->lanes << 8 | (uint64_t)p->wide << 16 |
                         (uint64_t)p->tiled << 17 | (uint64_t)p->tail << 18 |
                         (uint64_t)index_step << 19 | (uint64_t)p->past_cache << 21 |
                         (uint64_t)p->unroll << 24 | (uint64_t)p->tile << 32);
    for (int k = 0; k < p->noperands; k += 2) {
        const uint64_t second = k + 1 < p->noperands ? operand_key(p, k + 1) : 0;
        ga__key_add(key, operand_key(p, k) | second << 32);
    }
}

/* The offset text of one step along an axis: a literal where the kernel knows it. */
static void set_step(ga__record *record, const char *name, const plan *p, int row, int axis,
                     size_t word)
{
    ga__program_step(record, name, axis > 0 ? STEP_ANY : p->step[row], word);
}

static void fill_strides(ga__record *record, const plan *p, int row, size_t first_word)
{
    ga__record_list(record, "stride");
    ga__record_list(record, "outer_stride");
    ga__record_set(record, "strided", "1");
    set_step(record, "inner", p, row, 0, first_word);
    set_step(record, "near", p, row, 0, first_word);
    if (p->tiled)
        set_step(record, "inner1", p, row, 1, first_word + 1);
    for (int axis = 0; axis < p->nest.ndim; axis++) {
        const bool outer = p->tiled && axis > 1;
        ga__record *stride = ga__record_append(record, outer ? "outer_stride" : "stride");
        ga__record_setf(stride, "axis", "%d", axis);
        if (axis == 0 && p->lanes > 1 && !p->tiled)
            ga__record_setf(stride, "step", "%d", p->step[row] == STEP_ONE ? p->lanes : 0);
        else
            set_step(stride, "step", p, row, axis, first_word + (size_t)axis);
    }
}

static int first_written(const plan *p)
{
    int k = 0;
    while (k < p->noperands && (p->row[k] == NO_OPERAND || !p->operands[k].writes))
        k++;
    return k;
}

static void fill_operand(ga__record *record, const plan *p, int k)
{
    const ga__operand *operand = &p->operands[k];
    const int row = p->row[k];
    ga__program_operand(record, k, operand);
    ga__record_setf(record, "word", "%zu", p->data_word[k]);
    ga__record_setf(record, "word1", "%zu", p->data_word[k] + 1);
    ga__record_set(record, "turned", row != NO_OPERAND && p->turned[row] ? "1" : "");
    ga__record_set(record, "floats", "");
    ga__record_set(record, "strided", "");
    ga__record_set(record, "leads", p->past_cache && k == first_written(p) ? "1" : "");
    if (operand->array && row == NO_OPERAND)
        ga__program_accessor(record, operand->array, p->data_word[k]);
    if (row == NO_OPERAND)
        return;
    fill_strides(record, p, row, p->data_word[k] + 1);
    const bool vector = p->lanes > 1 && (p->step[row] == STEP_ONE || p->turned[row]);
    ga__record_setf(record, "width", "%d", vector ? p->lanes : 1);
    ga__record_set(record, "lane", vector ? "ga_l" : "0");
    if (p->turned[row])
        ga__record_set(record, "near", "1");
    ga__program_group(record, operand, p->step[row]);
}

static void fill_index(ga__record *record, const plan *p)
{
    const ga__operand number = {.name = "ga_number", .type = GA_INT64};
    ga__program_operand(record, p->noperands, &number);
    ga__record_set(record, "number", "");
    ga__record_set(record, "turned", "");
    ga__record_set(record, "floats", "");
    ga__record_set(record, "leads", "");
    ga__record_set(record, "index", "1");
    fill_strides(record, p, p->index_row, p->index_word);
}

static bool any_complex(const plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (ga__operand_is_complex(&p->operands[k]))
            return true;
    return false;
}

static bool any_narrow(const plan *p)
{
    for (int k = 0; k < p->noperands; k++)
        if (ga__operand_is_narrow(&p->operands[k]))
            return true;
    return false;
}

/* Columns that a square has of the next band, for what a line of the results may lack. */
static int extra_columns(const plan *p)
{
    if (!p->past_cache)
        return 0;
    return HOST_LINE / (int)ga__dtype_size(p->operands[first_written(p)].array->dtype);
}

/* The host's strips: for results that go past the cache, for 16-bit floats, and wherever functions
 * of libm may be called, so that all elements have them of vectors. */
static void fill_strips(ga__record *record, const plan *p)
{
    const ga__formula *f = p->formula;
    const bool math = f->user_text || ga__program_calls_math(f->body);
    const bool staged =
        p->host && can_pad(p) && (p->past_cache || p->tiled || math || any_narrow(p));
    ga__record_set(record, "staged", staged ? "1" : "");
    ga__record_set(record, "vector_math", staged ? "1" : "");
    ga__record_set(record, "past_cache", p->past_cache ? "1" : "");
    ga__record_set(record, "aligned", p->past_cache ? "1" : "");
    ga__record_setf(record, "strip", "%d", HOST_STRIP);
    ga__record_setf(record, "band", "%d", HOST_BAND);
    ga__record_setf(record, "extra", "%d", extra_columns(p));
    ga__record_setf(record, "down", "%d", rows_down(p));
    ga__record_setf(record, "first_written", "%d", first_written(p));
}

/* Without memory for the text the template lacks it, which is an error too. */
static void fill_quick(ga__record *record, const plan *p)
{
    if (!p->quick)
        return;
    char *text = ga__quick_text(p->formula->body);
    ga__record_set(record, "quick", "1");
    if (text)
        ga__record_set(record, "quick_body", text);
    ga__free(text);
}

static ga__record *describe(const void *planned)
{
    const plan *p = planned;
    const ga__formula *f = p->formula;
    const char *texts[] = {f->body, f->preamble ? f->preamble : "", NULL};
    ga__record *record = ga__program_record(f, p->device, p->words.n, any_complex(p), texts);
    ga__record_set(record, "index_type", p->wide ? "long long" : "int");
    ga__record_set(record, "tiled", p->tiled ? "1" : "");
    ga__record_set(record, "tail", p->tail ? "1" : "");
    ga__record_setf(record, "lanes", "%d", p->lanes);
    ga__record_setf(record, "unroll", "%d", p->unroll);
    ga__record_setf(record, "block", "%d", p->block);
    ga__record_setf(record, "tile", "%d", p->tile);
    fill_strips(record, p);
    fill_quick(record, p);
    ga__program_axes(record, p->tiled ? "outer_axis" : "axis", p->tiled ? 2 : 0, p->nest.ndim,
                     p->axis_word);
    ga__record_list(record, "operand");
    for (int k = 0; k < p->noperands; k++)
        fill_operand(ga__record_append(record, "operand"), p, k);
    if (p->index_row != NO_OPERAND)
        fill_index(ga__record_append(record, "operand"), p);
    return record;
}

static const ga__loaded_program *find_program(const plan *p)
{
    ga__key key;
    make_key(p, &key);
    const ga__program program = {p->formula, p->device, "elementwise.tmpl", describe, p, 0};
    return ga__program_find(&key, &program);
}

ga_status ga__elementwise(const ga__formula *formula, ga__device *device, int ndim,
                          const int64_t *shape, int noperands, const ga__operand *operands)
{
    plan p;
    assert(noperands < GA__MAX_OPERANDS);
    p.formula = formula;
    p.device = device;
    p.noperands = noperands;
    p.operands = operands;
    p.n = ga__shape_size(ndim, shape);
    p.vectors = p.chunk = 0;
    if (p.n == 0)
        return GA_OK;
    number_rows(&p);
    if (!plan_dense(&p, ndim, shape))
        plan_strided(&p, ndim, shape);
    measure(&p);
    choose_variant(&p);
    add_words(&p);
    const ga__loaded_program *program = find_program(&p);
    if (!program)
        return ga_error();
    ga__stream *stream = ga__operands_stream(device, noperands, operands);
    const ga__launch launch = {p.grid, p.block, 0, p.words.word, p.words.n};
    const ga_status status = stream ? ga__program_launch(program, stream, &launch) : ga_error();
    ga__program_leave();
    return status;
}
