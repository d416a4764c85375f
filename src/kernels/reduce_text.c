/* Fills the record of a reduction's kernel from its formula and variant. */
#include "kernels/reduce_text.h"

#include <stdio.h>
#include <string.h>

#include "kernels/request.h"

#define LEAST_ALONG 4      /* lanes that one accumulator takes together */
#define LEVEL_ALIGNMENT 64 /* bytes, of each part's accumulators */

typedef ga__reduce_formula formula;
typedef ga__reduce_variant variant;

/* The first word of each divisor, operand and result, and of the index's strides, in `w`. */
typedef struct layout {
    size_t head; /* words before `w` */
    size_t kept_divisors, reduced_divisors, operand[GA__MAX_OPERANDS], out, index, n;
} layout;

/* ---- The parameters ---- */

bool ga__reduce_needs_scratch(const variant *v)
{
    return v->host && (v->columns ? v->cascade : v->many_runs && v->outputs_per_pass > 1);
}

size_t ga__reduce_level_bytes(const formula *f, const variant *v)
{
    const size_t width = v->columns ? v->strip : v->outputs_per_pass,
                 bytes = width * v->accumulator_bytes + LEVEL_ALIGNMENT * (size_t)f->nparts;
    return bytes / LEVEL_ALIGNMENT * LEVEL_ALIGNMENT;
}

int ga__reduce_room(const variant *v)
{
    const int most = 48 * 1024 - 64, bytes = 96 * v->block < most ? 96 * v->block : most;
    return bytes / v->accumulator_bytes;
}

static size_t head_words(const formula *f, const variant *v)
{
    const size_t nbytes = sizeof(ga__reduce_params) + (v->carried ? sizeof(ga__carry_params) : 0) +
                          (v->ragged ? sizeof(ga__ragged_params) : 0) +
                          (ga__reduce_needs_scratch(v) ? sizeof(ga__scratch_params) : 0);
    return nbytes / sizeof(uint64_t) + (size_t)f->nparts;
}

static layout layout_of(const formula *f, const variant *v)
{
    layout l = {.head = head_words(f, v)};
    l.reduced_divisors = GA__DIVISOR_WORDS * (size_t)(v->kept_ndim - 1);
    l.n = l.reduced_divisors + GA__DIVISOR_WORDS * (size_t)(v->reduced_ndim - 1);
    for (int k = 0; k < v->noperands; k++) {
        const ga__operand_variant *o = &v->operand[k];
        l.operand[k] = l.n;
        if (o->streamed)
            l.n += 1 + (size_t)v->kept_ndim + v->reduced_ndim;
        else if (o->memory == GA_NO_DTYPE)
            l.n += GA__NUMBER_WORDS;
        else
            l.n += 1 + (o->contiguous ? 0 : 2 * (size_t)o->ndim);
    }
    l.out = l.n;
    l.index = l.out + v->kept_ndim + (size_t)f->nresults;
    l.n = l.index + v->reduced_ndim;
    return l;
}

size_t ga__reduce_param_words(const formula *f, const variant *v)
{
    const layout l = layout_of(f, v);
    return l.head + l.n;
}

/* The word of a result's address; the strides follow that of the first one. */
static size_t result_word(const layout *l, const variant *v, int k)
{
    return k == 0 ? l->out : l->out + v->kept_ndim + (size_t)k;
}

/* ---- The record ---- */

/* The elements of CUDA's vectors, along the kept axes with columns, otherwise along the reduced
 * ones. */
static int vector_lanes(const variant *v, bool kept)
{
    return v->host || (bool)v->columns != kept ? 1 : v->lanes;
}

/* The elements of a step along axis 0 of a nest, as text: a vector's, a tile's or a line's. */
static const char *step_elements(const variant *v, bool kept, char (*digits)[4])
{
    if (v->ragged)
        return kept ? "ga_width" : v->ragged == GA__RAGGED_FOLDED ? "(ga_index)ga_args.fold" : "1";
    snprintf(*digits, sizeof *digits, "%d", vector_lanes(v, kept));
    return *digits;
}

/* The steps of an array or of the index along the axes of a nest; along axis 0, of `elements`
 * elements. */
static void fill_vector_strides(ga__record *record, const char *list, int ndim,
                                const char *elements, size_t word)
{
    ga__record_list(record, list);
    for (int axis = 0; axis < ndim; axis++) {
        ga__record *entry = ga__record_append(record, list);
        ga__record_set_number(entry, GA__KEY(axis), axis);
        ga__record_setf(entry, GA__KEY(step), "%s * (ga_index)ga_args.w[%zu]",
                        axis == 0 ? elements : "1", word + (size_t)axis);
    }
}

/* The same for an operand, whose step along axis 0 may be known: `inner`. */
static void fill_strides(ga__record *record, const char *list, int ndim, int inner,
                         const char *elements, size_t word)
{
    ga__record_list(record, list);
    for (int axis = 0; axis < ndim; axis++) {
        ga__record *entry = ga__record_append(record, list);
        const int step = axis == 0 ? inner : STEP_ANY;
        ga__record_set_number(entry, GA__KEY(axis), axis);
        if (step == STEP_ONE)
            ga__record_set(entry, GA__KEY(step), elements);
        else if (step == STEP_ANY && axis == 0 && strcmp(elements, "1") != 0)
            ga__record_setf(entry, GA__KEY(step), "%s * (ga_index)ga_args.w[%zu]", elements, word);
        else
            ga__request_step(entry, GA__KEY(step), step, word + (size_t)axis);
    }
}

/* Whether small integers are held as ints: CUDA's compiler extends their sign at each use. They
 * wrap when they are finished. */
static bool is_held_wider(const variant *v, ga_dtype type)
{
    const char kind = ga__dtype_kind(type);
    return !v->host && !v->carried && ga__dtype_size(type) < sizeof(int) &&
           (kind == 'i' || kind == 'u');
}

/* T of a part. The host's compilers make no vectors of bool, but of the bytes they are. */
static const char *part_type(const variant *v, const ga__part_formula *part, ga_dtype type)
{
    if (!part->finish)
        return "";
    if (is_held_wider(v, type))
        return ga__dtype_kind(type) == 'i' ? "int" : "unsigned";
    return v->host && type == GA_BOOL ? "unsigned char" : ga__dtype_compute_type(type);
}

/* Whether the one part takes an operand's elements in its own T, without a conversion between. */
static bool has_type_of_part(const formula *f, const variant *v, const ga__operand_variant *o)
{
    const ga_dtype type = (ga_dtype)v->part_type[0];
    return !v->host && f->maps_nothing && o->streamed &&
           (o->memory == type || (v->staged && !is_held_wider(v, type)));
}

static void fill_streamed(ga__record *record, const variant *v, const ga__operand_variant *o,
                          size_t kept)
{
    const int step = o->step;
    const size_t reduced = kept + v->kept_ndim, inner = v->columns ? kept : reduced;
    char digits[4];
    fill_strides(record, GA__KEY(kept_stride), v->kept_ndim, v->columns ? step : STEP_ANY,
                 step_elements(v, true, &digits), kept);
    fill_strides(record, GA__KEY(reduced_stride), v->reduced_ndim, v->columns ? STEP_ANY : step,
                 step_elements(v, false, &digits), reduced);
    ga__request_step(record, GA__KEY(inner), o->deinterleaved ? STEP_ONE : step, inner);
    ga__request_step(record, GA__KEY(near), o->deinterleaved ? STEP_ONE : step, inner);
    ga__record_setf(record, GA__KEY(deinterleave), o->deinterleaved ? "%d" : "", v->deinterleave);
    ga__request_group(record, (int)o->step, ga__variant_is_narrow(o));
    const bool vector = !v->host && v->lanes > 1 && step == STEP_ONE && !o->held;
    ga__record_set_number(record, GA__KEY(width), vector ? v->lanes : 1);
    ga__record_set(record, GA__KEY(lane), vector || o->held ? "ga_l" : "0");
    ga__record_set_flag(record, GA__KEY(held), o->held);
    ga__record_set_flag(record, GA__KEY(vector), vector);
    ga__record_set_flag(record, GA__KEY(loose), o->loose);
    ga__record_set_flag(record, GA__KEY(apart), o->apart);
    ga__record_set_flag(record, GA__KEY(skewed), o->skewed);
    ga__record_set_flag(record, GA__KEY(adjacent), step == STEP_ONE);
    ga__request_step(record, GA__KEY(pitch), STEP_ANY, kept);
}

static void fill_operand(ga__record *record, const formula *f, const variant *v,
                         const ga__declaration *d, int k, size_t word)
{
    const ga__operand_variant *o = &v->operand[k];
    ga__request_operand(record, k, d, o);
    ga__record_set_flag(record, GA__KEY(staged), o->staged);
    ga__record_set_flag(record, GA__KEY(vector), false);
    ga__record_set_flag(record, GA__KEY(loose), false);
    ga__record_set_flag(record, GA__KEY(held), false);
    if (has_type_of_part(f, v, o))
        ga__record_set(record, GA__KEY(value),
                       part_type(v, f->parts[0], (ga_dtype)v->part_type[0]));
    ga__record_set(record, GA__KEY(deinterleave), "");
    ga__record_set_number(record, GA__KEY(word), (int64_t)word);
    ga__record_set_number(record, GA__KEY(word1), (int64_t)(word + 1));
    if (o->streamed)
        fill_streamed(record, v, o, word + 1);
    else if (o->memory != GA_NO_DTYPE)
        ga__request_accessor(record, o, word);
}

static void fill_output(ga__record *record, const variant *v, size_t word)
{
    ga__request_step(record, GA__KEY(out_inner), v->columns ? v->output_step : STEP_ANY, word + 1);
    char digits[4];
    fill_vector_strides(record, GA__KEY(out_stride), v->kept_ndim, step_elements(v, true, &digits),
                        word + 1);
}

static void fill_index(ga__record *record, const formula *f, const variant *v, size_t word)
{
    const bool used = f->base.uses_index;
    const bool lanes = used && !v->columns, folded = v->ragged == GA__RAGGED_FOLDED;
    char digits[4];
    ga__request_step(record, GA__KEY(index_lane), lanes ? STEP_ANY : STEP_ZERO, word);
    ga__request_step(record, GA__KEY(index_row), used ? STEP_ANY : STEP_ZERO, word);
    if (folded)
        ga__record_set(record, GA__KEY(lane_index), "ga_rows[ga_l]");
    else
        ga__record_setf(record, GA__KEY(lane_index),
                        lanes ? "ga_l * (ga_index)ga_args.w[%zu]" : "ga_l * 0", word);
    fill_vector_strides(record, GA__KEY(index_stride), used ? v->reduced_ndim : 0,
                        step_elements(v, false, &digits), word);
}

/* Elements that are no part of whole words go in pairs. */
static const char *batch_name(const variant *v, bool rounds)
{
    static const char *const names[] = {"add_batch", "add_apart", "add_pairs"};
    const ga__batch batch = v->batch < GA__BATCH_PAIRS ? (ga__batch)v->batch : GA__BATCH_PAIRS;
    return names[rounds ? batch : GA__BATCH_SINGLY];
}

/* How staged rows of small integers are taken by words. */
static void fill_words(ga__record *record, const formula *f, const variant *v)
{
    const char *const memory = ga__dtype_memory_type((ga_dtype)v->operand[0].memory);
    if (!v->staged || v->host || v->batch < GA__BATCH_NARROW)
        ga__record_set(record, GA__KEY(word_kind), "");
    else if (v->batch == GA__BATCH_NARROW)
        ga__record_setf(record, GA__KEY(word_kind), "word_sum<%s>", memory);
    else if (v->batch == GA__BATCH_TRUTHS)
        ga__record_setf(record, GA__KEY(word_kind), "word_truth<%s, ga_part0::A>", memory);
    else if (v->batch == GA__BATCH_EXTREMES)
        ga__record_setf(record, GA__KEY(word_kind), "word_extreme<%s, %s>", memory,
                        f->parts[0]->greatest ? "true" : "false");
    else
        ga__record_setf(record, GA__KEY(word_kind), "word_place<%s, %s>", memory,
                        f->parts[0]->greatest ? "true" : "false");
}

/* How columns of 16-bit floats are taken by words. */
static void fill_places(ga__record *record, const formula *f, const variant *v)
{
    if (!v->columns || v->host || v->batch != GA__BATCH_PLACES)
        ga__record_set(record, GA__KEY(place_kind), "");
    else
        ga__record_setf(record, GA__KEY(place_kind), "%s, %s",
                        ga__dtype_memory_type((ga_dtype)v->operand[0].memory),
                        f->parts[0]->greatest ? "true" : "false");
}

static void fill_chains(ga__record *record, const formula *f, const variant *v, bool sums)
{
    ga__record_set_flag(record, GA__KEY(sums), sums);
    ga__record_set(record, GA__KEY(tree), sums ? "true" : "false");
    ga__record_set_flag(record, GA__KEY(cascade), v->cascade);
    ga__record_set(record, GA__KEY(cascaded), v->cascade ? "true" : "false");
    ga__record_set_flag(record, GA__KEY(many_runs), v->many_runs);
    ga__record_set_flag(record, GA__KEY(shared_runs), v->many_runs && v->outputs_per_pass > 1);
    ga__record_set_flag(record, GA__KEY(scratch), ga__reduce_needs_scratch(v));
    ga__record_set_number(record, GA__KEY(level_bytes), (int64_t)ga__reduce_level_bytes(f, v));
    ga__record_setf(record, GA__KEY(chain_levels), v->chain_levels ? "%d" : "", v->chain_levels);
    ga__record_setf(record, GA__KEY(chain_lengths), "%d, %d", v->batches_per_chain,
                    GA__CUDA_CHAINS);
    ga__record_set(record, GA__KEY(add_batch), batch_name(v, sums));
    ga__record_set_flag(record, GA__KEY(narrow), v->batch == GA__BATCH_NARROW);
    ga__record_set_number(record, GA__KEY(longest_chain), GA__HOST_CHAIN);
    ga__record_set_number(record, GA__KEY(longest_run), GA__HOST_RUN);
}

/* Whether a thread's elements have ascending, equally spaced indices, on CUDA, and the part is an
 * extreme of indexed values, which a thread finds in two steps. */
static bool ascends(const variant *v, const ga__part_formula *part)
{
    return ga__part_is_indexed(part) && v->ascending && !v->host && !v->carried &&
           v->reduced_ndim == 1;
}

/* Whether the one part adds up small integers that a map makes, in 64 bits. */
static bool sums_small(const formula *f, const variant *v, const ga__part_formula *part)
{
    const ga_dtype type = (ga_dtype)v->part_type[0];
    return !v->host && f->maps_small && part->rounds && part->holds == GA__ACCUMULATOR_VALUE &&
           !ga__dtype_rounds(type) && ga__dtype_size(type) == sizeof(int64_t);
}

static void fill_part(ga__record *record, const formula *f, const variant *v, int k)
{
    const ga__part_formula *part = f->parts[k];
    const ga_dtype type = (ga_dtype)v->part_type[k];
    const bool rounds = ga__part_rounds(part, type);
    ga__record_set_number(record, GA__KEY(p), k);
    ga__record_set(record, GA__KEY(accumulator), part->accumulator);
    ga__record_set(record, GA__KEY(neutral), part->neutral);
    ga__record_set(record, GA__KEY(step), part->step);
    ga__record_set(record, GA__KEY(combine), part->combine);
    ga__record_set(record, GA__KEY(finish), part->finish ? part->finish : "");
    ga__record_set(record, GA__KEY(type), part_type(v, part, type));
    ga__record_set_flag(record, GA__KEY(ascends), ascends(v, part));
    ga__record_set(record, GA__KEY(declared), part->finish ? ga__dtype_compute_type(type) : "");
    ga__record_set_flag(record, GA__KEY(rounds), rounds);
    ga__record_set(record, GA__KEY(add_batch),
                   sums_small(f, v, part) ? "add_narrow"
                                          : batch_name(v, rounds || (v->staged && part->rounds)));
}

static bool has_held(const variant *v)
{
    bool held = false;
    for (int k = 0; k < v->noperands; k++)
        held |= v->operand[k].held;
    return held;
}

static bool has_loose(const variant *v)
{
    bool loose = false;
    for (int k = 0; k < v->noperands; k++)
        loose |= v->operand[k].loose;
    return loose;
}

static void fill_reduction(ga__record *record, const formula *f, const variant *v, const layout *l)
{
    bool sums = false;
    ga__record_set_flag(record, GA__KEY(short_circuit), true);
    ga__record_set_flag(record, GA__KEY(reduces), true);
    ga__record_set_flag(record, GA__KEY(transposes), v->deinterleave > 1);
    ga__record_set(record, GA__KEY(map), f->map);
    ga__record_set_number(record, GA__KEY(accumulator_bytes), v->accumulator_bytes);
    ga__record_list(record, GA__KEY(part));
    for (int k = 0; k < f->nparts; k++) {
        fill_part(ga__record_append(record, GA__KEY(part)), f, v, k);
        sums |= ga__part_rounds(f->parts[k], (ga_dtype)v->part_type[k]);
    }
    ga__record_set_flag(record, GA__KEY(raw_result), f->raw_result);
    ga__record_list(record, GA__KEY(result));
    for (int k = 0; k < f->nresults; k++) {
        ga__record *result = ga__record_append(record, GA__KEY(result));
        ga__record_set_number(result, GA__KEY(q), k);
        ga__record_set_number(result, GA__KEY(word), (int64_t)result_word(l, v, k));
        ga__record_set(result, GA__KEY(memory), ga__dtype_memory_type((ga_dtype)v->result_type[k]));
        ga__record_set(result, GA__KEY(finish), f->results[k]);
    }
    const bool words = v->batch == GA__BATCH_NARROW || v->batch == GA__BATCH_TRUTHS,
               along = f->nparts == 1 && !v->columns && v->lanes >= LEAST_ALONG &&
                       (ascends(v, f->parts[0]) || words);
    ga__record_set_flag(record, GA__KEY(along), along);
    ga__record_set_flag(record, GA__KEY(truths), along && v->batch == GA__BATCH_TRUTHS);
    fill_chains(record, f, v, sums);
    fill_words(record, f, v);
    fill_places(record, f, v);
    ga__record_set_flag(record, GA__KEY(vector_result),
                        !v->host && v->columns && !v->ragged && !v->carried && !f->raw_result &&
                            f->nresults == 1 && v->lanes > 1 && v->output_step == STEP_ONE &&
                            !has_loose(v));
}

static bool any_complex(const formula *f, const variant *v)
{
    bool complex_types = false;
    for (int k = 0; k < f->nparts; k++)
        complex_types |= ga__dtype_kind((ga_dtype)v->part_type[k]) == 'c';
    for (int k = 0; k < f->nresults; k++)
        complex_types |= ga__dtype_kind((ga_dtype)v->result_type[k]) == 'c';
    for (int k = 0; k < v->noperands; k++)
        complex_types |= ga__variant_is_complex(&v->operand[k]);
    return complex_types;
}

/* The head's record: of all texts, to find what they need. */
static ga__record *new_record(const formula *f, const variant *v, const layout *l)
{
    const char *texts[3 + 6 * GA__MAX_PARTS];
    int n = 0;
    texts[n++] = f->base.preamble ? f->base.preamble : "";
    texts[n++] = f->map;
    for (int k = 0; k < f->nparts; k++) {
        const ga__part_formula *part = f->parts[k];
        texts[n++] = part->accumulator;
        texts[n++] = part->neutral;
        texts[n++] = part->step;
        texts[n++] = part->combine;
        texts[n++] = part->finish ? part->finish : "";
    }
    for (int k = 0; k < f->nresults; k++)
        texts[n++] = f->results[k];
    texts[n] = NULL;
    ga__record *record = ga__request_record(&f->base, v->host, l->n, any_complex(f, v), texts);
    ga__record_set_number(record, GA__KEY(nparams), (int64_t)(l->head + l->n));
    return record;
}

static void fill_variant(ga__record *record, const variant *v)
{
    ga__record_set_flag(record, GA__KEY(loose), has_loose(v));
    ga__record_set_flag(record, GA__KEY(held), has_held(v));
    ga__record_set_flag(record, GA__KEY(carried), v->carried);
    ga__record_set_flag(record, GA__KEY(staged), v->staged);
    ga__record_set_flag(record, GA__KEY(vector_math), v->host && v->staged);
    ga__record_set_number(record, GA__KEY(ahead), v->ahead);
    if (v->staged && !v->host)
        ga__record_set_number(record, GA__KEY(carveout), GA__STAGE_CARVEOUT);
    ga__record_set_number(record, GA__KEY(slack), GA__STAGE_SLACK);
    ga__record_set_number(record, GA__KEY(packed), v->packed);
    ga__record_set_number(record, GA__KEY(row_length), v->row_length);
    ga__record_set_flag(record, GA__KEY(known_length), v->row_length > 0);
    ga__record_set_flag(record, GA__KEY(plain), v->plain);
    ga__record_set_flag(record, GA__KEY(paired), v->paired);
    ga__record_set(record, GA__KEY(small),
                   v->paired ? ga__dtype_memory_type((ga_dtype)v->part_type[0]) : "");
    ga__record_set(record, GA__KEY(index_type), v->wide ? "long long" : "int");
    ga__record_set_flag(record, GA__KEY(columns), v->columns);
    ga__record_setf(record, GA__KEY(short_rows), v->short_rows ? "%d" : "", v->deinterleave);
    ga__record_setf(record, GA__KEY(rows_per_pass), v->rows_per_pass > 1 ? "%d" : "",
                    v->rows_per_pass);
    ga__record_set_flag(record, GA__KEY(tail), v->tail);
    ga__record_set_flag(record, GA__KEY(peeled), v->peeled);
    ga__record_set_flag(record, GA__KEY(split), v->split);
    ga__record_set_flag(record, GA__KEY(posted), v->posted);
    ga__record_set(record, GA__KEY(ascending), v->ascending ? "true" : "false");
    ga__record_set_number(record, GA__KEY(lanes), v->lanes);
    ga__record_set_number(record, GA__KEY(unroll), v->unroll);
    ga__record_set_number(record, GA__KEY(block), v->block);
    ga__record_setf(record, GA__KEY(bounds), v->min_blocks ? "%d, %d" : "%d", v->block,
                    v->min_blocks);
    ga__record_set_number(record, GA__KEY(team), v->team);
    ga__record_set_number(record, GA__KEY(across), v->across);
    ga__record_set_flag(record, GA__KEY(ragged), v->ragged);
    ga__record_set_flag(record, GA__KEY(folded), v->ragged == GA__RAGGED_FOLDED);
    ga__record_set_number(record, GA__KEY(room), ga__reduce_room(v));
    ga__record_set(record, GA__KEY(spare), v->ragged ? "ga_own_row" : "ga_vectors - 1");
    ga__record_set(record, GA__KEY(together),
                   v->ragged    ? "ga_apart"
                   : v->columns ? "ga_down"
                                : "ga_team");
    ga__record_set_number(record, GA__KEY(outputs_per_pass), v->outputs_per_pass);
    ga__record_set_number(record, GA__KEY(strip), v->strip);
}

static void fill_axes(ga__record *record, const char *coordinate, int ndim, size_t first_word)
{
    size_t word[GA_MAX_NDIM];
    for (int axis = 0; axis < ndim; axis++)
        word[axis] = first_word + GA__DIVISOR_WORDS * (size_t)axis;
    ga__request_axes(record, coordinate, 0, ndim, word);
}

ga__record *ga__reduce_text(const formula *f, const ga__declaration *d, const variant *v)
{
    const layout l = layout_of(f, v);
    ga__record *record = new_record(f, v, &l);
    fill_reduction(record, f, v, &l);
    fill_variant(record, v);
    fill_axes(ga__record_append(record, GA__KEY(kept_axes)), "ga_k", v->kept_ndim, l.kept_divisors);
    fill_axes(ga__record_append(record, GA__KEY(reduced_axes)), "ga_c", v->reduced_ndim,
              l.reduced_divisors);
    ga__record_list(record, GA__KEY(operand));
    for (int k = 0; k < v->noperands; k++)
        fill_operand(ga__record_append(record, GA__KEY(operand)), f, v, &d[k], k, l.operand[k]);
    fill_output(record, v, l.out);
    fill_index(record, f, v, l.index);
    return record;
}
