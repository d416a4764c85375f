/* The random engine: plans one call, finds its kernel by a small key, and launches it. */
#include "kernels/draw.h"

#include <string.h>

#include "base/error.h"
#include "kernels/request.h"
#include "kernels/draw_plan.h"

typedef ga__random_plan plan;

enum {
    WORD_DATA,
    WORD_COUNTER,
    WORD_TURNS,
    WORD_BEFORE,
    WORD_COUNT,
    WORD_STEPS,
    WORD_BYTES,
    WORD_KEYS,
    WORD_LANES = WORD_KEYS + GA__RNG_ROUNDS
};

static void add_lanes(ga__params *words, uint64_t seed, uint64_t block, int rows)
{
    uint64_t lanes[GA__RNG_LANE_WORDS];
    ga__rng_lanes(seed, block, rows, lanes);
    for (int k = 0; k < GA__RNG_LANE_WORDS; k++)
        ga__params_add(words, lanes[k]);
}

static void add_words(plan *p, uint64_t seed, uint64_t position)
{
    uint64_t keys[GA__RNG_ROUNDS];
    ga__params *words = &p->words;
    const size_t size = ga__dtype_size(p->out->dtype);
    const uint64_t block = (position - (uint64_t)p->before) / (uint64_t)p->rows;
    words->n = 0;
    ga__params_add(words, (uint64_t)(uintptr_t)p->data - (uint64_t)p->before * size);
    ga__params_add(words, block);
    ga__params_add(words, p->host ? (uint64_t)p->turns
                                  : (uint64_t)p->shares | (uint64_t)(p->before > 0) << 32);
    ga__params_add(words, (uint64_t)p->before | (uint64_t)ga__random_plan_whole(p) << 32);
    ga__params_add(words, (uint64_t)p->count);
    ga__params_add(words, (uint64_t)p->grid | (uint64_t)(p->grid * p->share / p->rows / 4) << 32);
    ga__params_add(words, (uint64_t)(p->grid * p->share) * size);
    ga__rng_round_keys(seed, keys); /* these are the same for all threads: made once, here */
    for (int round = 0; round < GA__RNG_ROUNDS; round++)
        ga__params_add(words, keys[round]);
    if (!p->host)
        add_lanes(words, seed, block, p->rows);
    for (int k = 0; k < p->draw->nnumbers; k++)
        p->number_word[k] =
            ga__params_add_number(words, p->draw->numbers[k].type, p->draw->numbers[k].number);
}

static void make_key(const plan *p, ga__key *key)
{
    ga__key_init(key, &p->draw->distribution->formula, p->device, GA__RANDOM);
    ga__key_add(key, (uint64_t)p->out->dtype | (uint64_t)p->draw->drawn << 8 |
                         (uint64_t)p->together << 16 | (uint64_t)p->past_cache << 17);
}

static void fill_numbers(ga__record *record, const plan *p)
{
    ga__record_list(record, "operand");
    for (int k = 0; k < p->draw->nnumbers; k++) {
        ga__record *number = ga__record_append(record, "operand");
        const ga__declaration d = ga__declaration_of(&p->draw->numbers[k]);
        const ga__operand_variant v = ga__operand_variant_of(&p->draw->numbers[k], 0, false);
        ga__program_operand(number, 1 + k, &d, &v);
        ga__record_setf(number, "word", "%zu", p->number_word[k]);
        ga__record_setf(number, "word1", "%zu", p->number_word[k] + 1);
    }
}

static ga__record *describe(const void *planned)
{
    const plan *p = planned;
    const ga__distribution *d = p->draw->distribution;
    const char *texts[] = {d->formula.body, NULL};
    const ga__declaration result = {.writes = true};
    const ga__operand_variant out = {.type = (uint8_t)p->out->dtype,
                                     .memory = (uint8_t)p->out->dtype};
    ga__record *record = ga__program_record(&d->formula, p->host, p->words.n, false, texts);
    ga__record_set(record, "distributions", "1");
    ga__program_operand(record, 0, &result, &out);
    ga__record_set(record, "draw",
                   p->rows == 1 ? "ga::words" : ga__dtype_compute_type(p->draw->drawn));
    ga__record_set(record, "source", d->source);
    ga__record_setf(record, "keys", "%d", WORD_KEYS);
    ga__record_setf(record, "lane_words", "%d", WORD_LANES);
    ga__record_setf(record, "block", "%d", GA__RANDOM_BLOCK);
    ga__record_setf(record, "resident", "%d", GA__RANDOM_RESIDENT);
    ga__record_setf(record, "column", "%d", GA__RANDOM_COLUMN);
    ga__record_setf(record, "lanes", "%d", p->lanes);
    ga__record_set(record, "together", p->together ? "1" : "");
    ga__record_set(record, "past_cache", p->past_cache ? "1" : "");
    fill_numbers(record, p);
    return record;
}

static const ga__loaded_program *find_program(const plan *p)
{
    ga__key key;
    make_key(p, &key);
    const ga__program program = {
        &p->draw->distribution->formula, p->device, "random.tmpl", describe, p, 0};
    return ga__program_find(&key, &program);
}

static ga_status launch(plan *p, uint64_t seed, uint64_t position)
{
    ga__random_plan_make(p, position);
    add_words(p, seed, position);
    const ga__loaded_program *program = find_program(p);
    if (!program)
        return ga_error();
    ga__stream *stream = ga__current_stream(p->device);
    ga_status status = stream ? ga__use(stream, p->out->buffer, true) : ga_error();
    const ga__launch launch = {p->grid, GA__RANDOM_BLOCK, 0, p->words.word, p->words.n};
    if (status == GA_OK)
        status = ga__program_launch(program, stream, &launch);
    ga__program_leave();
    return status;
}

/* One launch, or two where the words that a launch has in common change within the elements. */
static ga_status fill_by_tiles(const ga__draw *draw, gpuarray *out, ga_rng_state state)
{
    plan p;
    p.draw = draw;
    p.device = out->buffer->device;
    p.out = out;
    p.rows = draw->drawn == GA_NO_DTYPE ? 1 : (int)(16 / ga__dtype_size(draw->drawn));
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

/* By way of a contiguous array, for a tile is a run of elements. */
static ga_status fill_view(const ga__draw *draw, gpuarray *out, ga_rng_state state)
{
    gpuarray *made = ga_empty_like(out);
    if (!made)
        return ga_error();
    ga_status status = fill_by_tiles(draw, made, state);
    if (status == GA_OK)
        status = (ga_assign)(out, ga_value_array(made));
    ga_free(made);
    return status;
}

static ga_status fill(const ga__draw *draw, gpuarray *out, ga_rng *rng)
{
    if (out->size == 0)
        return GA_OK;
    const ga_rng_state state = ga__rng_take(rng, (uint64_t)out->size);
    const ga_status status =
        out->contiguous ? fill_by_tiles(draw, out, state) : fill_view(draw, out, state);
    if (status != GA_OK)
        ga__rng_give_back(rng, state, (uint64_t)out->size);
    return status;
}

ga_status ga__draw_init(ga__draw *draw, const char *name, const ga_rng *rng, ga_dtype dtype,
                        const char *kinds, const char *wanted)
{
    if (!rng)
        return ga__fail(GA_ERR_INVALID, "%s: the generator is NULL", name);
    if (dtype == GA_NO_DTYPE && ga_error() != GA_OK)
        return ga_error(); /* of what should have had one */
    if (!strchr(kinds, ga__dtype_kind(dtype)))
        return ga__fail(GA_ERR_DTYPE, "%s: %s is no %s dtype", name, ga_dtype_name(dtype), wanted);
    if (!ga__not_recording(name)) /* each replay would have the same numbers */
        return ga_error();
    draw->nnumbers = 0;
    return GA_OK;
}

void ga__draw_add(ga__draw *draw, ga_dtype type, ga_value number)
{
    static const char *const names[GA__MAX_NUMBERS] = {"a", "b", "c"};
    const int k = draw->nnumbers++;
    draw->numbers[k] =
        (ga__operand){.name = names[k], .number = number, .type = type, .reads = true};
}

ga_dtype ga__draw_dtype(const char *name, const gpuarray *out)
{
    if (out)
        return ga__array_writable(name, out) ? out->dtype : GA_NO_DTYPE;
    ga__fail(GA_ERR_INVALID, "%s: out is NULL", name);
    return GA_NO_DTYPE;
}

gpuarray *ga__draw_new(const ga__draw *draw, ga_status planned, ga_rng *rng, ga_dtype dtype,
                       int ndim, const int64_t *shape)
{
    gpuarray *out = planned == GA_OK ? ga_empty(dtype, ndim, shape) : NULL;
    if (!out || fill(draw, out, rng) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

ga_status ga__draw_into(const ga__draw *draw, ga_status planned, gpuarray *out, ga_rng *rng)
{
    return planned == GA_OK ? fill(draw, out, rng) : planned;
}
