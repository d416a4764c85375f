/* The elementwise engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/elementwise.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "kernels/elementwise_plan.h"
#include "kernels/elementwise_text.h"
#include "kernels/request.h"

typedef ga__elementwise_plan plan;

/* ---- The parameters ---- */

/* Whether the kernel has the tiles of tile_plan.h. */
static bool has_tiles(const plan *p)
{
    return p->head.tiled && !p->head.host && p->head.square == 0;
}

static void add_operand(const plan *p, int k, ga__params *params)
{
    const ga__operand *operand = &p->operands[k];
    if (!operand->array) {
        ga__params_add_number(params, operand->type, operand->number);
        return;
    }
    ga__params_add_pointer(params, operand->array->data);
    if (p->place[k] == GA__NO_PLACE)
        ga__params_add_accessor(params, operand->array);
    else
        ga__params_add_strides(params, &p->nest, p->place[k]);
    if (p->place[k] != GA__NO_PLACE && has_tiles(p))
        ga__elementwise_tile_operand(p, k, params);
    if (p->head.spans && operand->high) {
        ga__params_add_pointer(params, operand->low);
        ga__params_add_pointer(params, operand->high);
    }
}

static void add_head(const plan *p, ga__params *params)
{
    const uint64_t length = (uint64_t)(p->head.host ? p->nest.shape[0] : p->vectors);
    *(ga__elementwise_params *)ga__params_reserve(params, sizeof(ga__elementwise_params)) =
        (ga__elementwise_params){
            .count = (uint64_t)p->n, .length = length, .chunk = (uint64_t)p->chunk};
}

static void add_tiled_head(const plan *p, ga__params *params)
{
    *(ga__tiled_params *)ga__params_reserve(params, sizeof(ga__tiled_params)) =
        (ga__tiled_params){.count = (uint64_t)p->n,
                           .length0 = (uint64_t)p->nest.shape[0],
                           .length1 = (uint64_t)p->nest.shape[1],
                           .chunk = (uint64_t)p->chunk};
}

static void add_short_head(const plan *p, ga__params *params)
{
    *(ga__short_params *)ga__params_reserve(params, sizeof(ga__short_params)) =
        (ga__short_params){.count = (uint64_t)p->n,
                           .length = (uint64_t)p->nest.shape[0],
                           .run = (uint64_t)p->nest.shape[1],
                           .rows = (uint64_t)(p->n / p->nest.shape[0]),
                           .chunk = (uint64_t)p->chunk,
                           .panel = (uint64_t)p->panel};
}

/* As layout_of() of elementwise_text.c counts them. */
void ga__elementwise_add_walk(const plan *p, ga__params *params)
{
    const bool tiles = has_tiles(p);
    const int first = p->line || p->head.panels ? 1 : p->head.tiled ? 2 : 0;
    for (int axis = first; axis < p->nest.ndim - 1 && !tiles; axis++) {
        const bool vectors = axis == 0 && ga__elementwise_counts_vectors(&p->head);
        const int64_t lanes = vectors ? p->head.lanes : 1;
        const int64_t size = p->nest.shape[axis] / lanes;
        ga__params_add_divisor(params, size, p->head.wide);
    }
    for (int k = 0; k < p->noperands; k++)
        add_operand(p, k, params);
    if (p->index_place != GA__NO_PLACE)
        ga__params_add_strides(params, &p->nest, p->index_place);
}

static void add_params(const plan *p, ga__params *params)
{
    if (has_tiles(p))
        ga__elementwise_tile_head(p, params);
    else if (p->head.tiled)
        add_tiled_head(p, params);
    else if (p->head.panels)
        add_short_head(p, params);
    else
        add_head(p, params);
    ga__elementwise_add_walk(p, params);
}

/* ---- The kernel ---- */

static void set_operand(const plan *p, int k, bool tiles, ga__operand_variant *v)
{
    const int place = p->place[k];
    if (place == GA__NO_PLACE) {
        ga__operand_variant_set(v, &p->operands[k], STEP_ZERO, false);
        return;
    }
    ga__operand_variant_set(v, &p->operands[k], p->step[place], p->transposed[place]);
    if (tiles) {
        v->move = (uint8_t)p->move[place];
        v->swizzled = ga__elementwise_swizzled(p, place);
    }
}

static void hold_operands(const plan *p, ga__elementwise_variant *v)
{
    for (int k = 0; k < p->noperands; k++)
        v->operand[k].held = ga__elementwise_is_held(p, k);
}

static void pass_operands(const plan *p, ga__elementwise_variant *v)
{
    for (int k = 0; k < p->noperands; k++)
        if (p->place[k] != GA__NO_PLACE) {
            v->operand[k].panelled = p->panelled[p->place[k]];
            v->operand[k].once = p->once[p->place[k]];
        }
}

void ga__elementwise_set_variant(const plan *p, ga__elementwise_variant *v)
{
    const bool tiles = has_tiles(p);
    v->head = p->head;
    v->head.ndim = (uint8_t)p->nest.ndim;
    v->head.noperands = (uint8_t)p->noperands;
    if (p->index_place != GA__NO_PLACE)
        v->head.index_step = (uint8_t)p->step[p->index_place];
    if (tiles)
        v->head.run = (uint8_t)p->tile.run;
    for (int k = 0; k < p->noperands; k++)
        set_operand(p, k, tiles, &v->operand[k]);
    if (p->head.descends)
        hold_operands(p, v);
    if (p->head.panels)
        pass_operands(p, v);
    if (p->line)
        v->head.lines = v->operand[p->line - p->operands].lined = true;
}

/* One call's kernel: what ga__elementwise_text() gets to see of it. */
typedef struct wanted {
    const plan *plan;
    const ga__elementwise_variant *variant; /* in the key */
} wanted;

static ga__record *describe(const void *asked)
{
    const wanted *w = asked;
    ga__declaration declarations[GA__MAX_OPERANDS];
    for (int k = 0; k < w->plan->noperands; k++)
        declarations[k] = ga__declaration_of(&w->plan->operands[k]);
    return ga__elementwise_text(w->plan->formula, declarations, w->variant);
}

static const ga__loaded_kernel *find_kernel(const plan *p)
{
    ga__key key;
    ga__key_init(&key, p->formula, p->device, GA__ELEMENTWISE);
    ga__elementwise_variant *variant = ga__key_rest(&key, sizeof *variant);
    const wanted w = {p, variant};
    ga__elementwise_set_variant(p, variant);
    ga__key_extend(&key, ga__elementwise_variant_bytes(variant));
    const ga__request request = {p->formula, p->device, "elementwise.tmpl", describe, &w, 0};
    return ga__request_find(&key, &request);
}

static inline size_t most_params(size_t axes, int noperands, size_t operands)
{
    const size_t stage = GA__STAGE_WORDS + GA__STAGE_AXIS_WORDS * axes,
                 head = sizeof(ga__tile_params) / sizeof(uint64_t) + GA__DIVISOR_WORDS;
    return head + (GA__TILE_AXIS_WORDS + 1) * axes + operands +
           GA__BOUND_WORDS * (size_t)noperands + GA__MOST_STAGES * stage;
}

static inline size_t words_of_call(int ndim, int noperands, const ga__operand *operands)
{
    if (noperands <= GA__FEW_OPERANDS)
        return most_params(GA_MAX_NDIM + 1, noperands, (size_t)noperands * GA__OPERAND_WORDS);
    return most_params((size_t)ndim + 1, noperands, ga__operands_words(ndim, noperands, operands));
}

size_t ga__elementwise_most_params(int ndim, int noperands, const ga__operand *operands)
{
    return words_of_call(ndim, noperands, operands);
}

ga_status ga__elementwise(const ga__formula *formula, ga__device *device, int ndim,
                          const int64_t *shape, int noperands, const ga__operand *operands)
{
    /* As much as the call's operands and the index need. */
    int64_t strides[noperands + 1][GA_MAX_NDIM];
    const size_t most = words_of_call(ndim, noperands, operands);
    uint64_t words[most];
    ga__params params = ga__params_in(words, most);
    plan p;
    assert(noperands < GA__MAX_OPERANDS);
    p.formula = formula;
    p.device = device;
    p.noperands = noperands;
    p.operands = operands;
    p.nest.strides = strides;
    p.n = ga__shape_size(ndim, shape);
    if (p.n == 0)
        return GA_OK;
    ga__elementwise_plan_make(&p, ndim, shape);
    add_params(&p, &params);
    const ga__loaded_kernel *kernel = find_kernel(&p);
    if (!kernel)
        return ga_error();
    ga__stream *stream = ga__operands_stream(device, noperands, operands);
    const size_t shared = has_tiles(&p) ? (size_t)p.tile.shared : p.shared;
    const ga__launch launch = {.grid = p.grid,
                               .block = p.head.block,
                               .shared = shared,
                               .stack = ga__elementwise_stack(&p),
                               .words = words,
                               .nwords = ga__params_count(&params)};
    const ga_status status = stream ? ga__request_launch(kernel, stream, &launch) : ga_error();
    ga__request_leave();
    return status;
}
