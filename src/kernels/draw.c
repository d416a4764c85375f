/* The random engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/draw.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"
#include "kernels/request.h"
#include "kernels/draw_plan.h"

typedef ga__draw_plan plan;

#define MOST_PARAMS                                                                                \
    (sizeof(ga__draw_params) / sizeof(uint64_t) + GA__RNG_LANE_WORDS +                             \
     GA__NUMBER_WORDS * GA__DRAW_NUMBERS)

/* ---- The parameters ---- */

static void add_head(ga__params *params, const plan *p, uint64_t seed, uint64_t block)
{
    ga__draw_params *head = ga__params_reserve(params, sizeof *head);
    const uint64_t size = ga__dtype_size(p->out->dtype);
    *head = (ga__draw_params){.address = (uint64_t)(uintptr_t)p->data - (uint64_t)p->before * size,
                              .counter = block,
                              .shares = p->v.host
                                            ? (uint64_t)p->tiles_per_block
                                            : (uint64_t)p->shares | (uint64_t)(p->before > 0) << 32,
                              .before = (uint32_t)p->before,
                              .whole = (uint32_t)ga__draw_plan_whole(p),
                              .count = (uint64_t)p->count,
                              .next_share = (uint32_t)p->grid,
                              .next_second = (uint32_t)(p->grid * p->share / p->rows / 4),
                              .next_byte = (uint64_t)(p->grid * p->share) * size};
    ga__rng_round_keys(seed, head->round_keys); /* all threads have the same */
}

static void add_params(ga__params *params, const plan *p, uint64_t seed, uint64_t position)
{
    const uint64_t block = (position - (uint64_t)p->before) / (uint64_t)p->rows;
    add_head(params, p, seed, block);
    if (!p->v.host)
        ga__rng_lanes(seed, block, p->rows,
                      ga__params_reserve(params, GA__RNG_LANE_WORDS * sizeof(uint64_t)));
    for (int k = 0; k < p->draw->nnumbers; k++)
        ga__params_add_number(params, p->draw->type[k], p->draw->number[k]);
    assert(ga__params_count(params) == ga__draw_param_words(&p->v));
}

/* ---- The kernel ---- */

static ga__record *describe(const void *planned)
{
    const plan *p = planned;
    return ga__draw_text(p->draw->distribution, &p->v);
}

static const ga__loaded_kernel *find_kernel(const plan *p)
{
    const ga__formula *formula = &p->draw->distribution->formula;
    const ga__request request = {formula, p->device, "random.tmpl", describe, p, 0};
    return ga__request_find_variant(&request, GA__RANDOM, &p->v, sizeof p->v);
}

static ga_status launch(plan *p, uint64_t seed, uint64_t position)
{
    uint64_t words[MOST_PARAMS];
    ga__params params = ga__params_in(words, MOST_PARAMS);
    ga__draw_plan_make(p, position);
    add_params(&params, p, seed, position);
    const ga__loaded_kernel *kernel = find_kernel(p);
    if (!kernel)
        return ga_error();
    ga__stream *stream = ga__current_stream(p->device);
    ga_status status = stream ? ga__use(stream, p->out->buffer, true) : ga_error();
    const ga__launch launch = {.grid = p->grid,
                               .block = GA__RANDOM_BLOCK,
                               .words = words,
                               .nwords = ga__params_count(&params)};
    if (status == GA_OK && p->draw->table)
        status = ga__use(stream, p->draw->table->buffer, false);
    if (status == GA_OK)
        status = ga__request_launch(kernel, stream, &launch);
    ga__request_leave();
    return status;
}

/* One launch, or two if the words that all threads share change within the elements. */
ga_status ga__draw_run(const ga__draw *draw, gpuarray *out, ga_rng_state state)
{
    assert(out->contiguous);
    plan p;
    p.draw = draw;
    p.device = out->buffer->device;
    p.out = out;
    p.rows = ga__draw_rows(draw->drawn);
    const uint64_t run = GA__RNG_RUN * (uint64_t)p.rows;
    ga_status status = GA_OK;
    for (int64_t done = 0; done < out->size && status == GA_OK; done += p.count) {
        const uint64_t position = state.position + (uint64_t)done, left = run - position % run;
        const uint64_t count = (uint64_t)(out->size - done);
        p.data = (char *)out->data + (size_t)done * ga__dtype_size(out->dtype);
        p.count = (int64_t)(count < left ? count : left);
        status = launch(&p, state.seed, position);
    }
    return status;
}

ga_status ga__draw_init(ga__draw *draw, const char *name, const ga_rng *rng, ga_dtype dtype,
                        const char *kinds, const char *wanted)
{
    if (!rng)
        return ga__fail(GA_ERR_INVALID, "%s: the generator is NULL", name);
    if (dtype == GA_NO_DTYPE && ga_error() != GA_OK)
        return ga_error(); /* of the call that should have had a dtype */
    if (!strchr(kinds, ga__dtype_kind(dtype)))
        return ga__fail(GA_ERR_DTYPE, "%s: the dtype must be %s, not %s", name, wanted,
                        ga_dtype_name(dtype));
    if (!ga__not_recording(name)) /* every replay would draw the same numbers */
        return ga_error();
    draw->nnumbers = 0;
    draw->table = NULL;
    return GA_OK;
}

void ga__draw_add(ga__draw *draw, ga_dtype type, ga_value number)
{
    const int k = draw->nnumbers++;
    draw->number[k] = number;
    draw->type[k] = type;
}

ga_dtype ga__draw_dtype(const char *name, const gpuarray *out)
{
    if (out)
        return ga__array_writable(name, out) ? out->dtype : GA_NO_DTYPE;
    ga__fail(GA_ERR_INVALID, "%s: out is NULL", name);
    return GA_NO_DTYPE;
}
