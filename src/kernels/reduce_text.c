/* Fills the record of a reduction's template from its plan. */
#include <string.h>

#include "kernels/reduce_plan.h"

typedef ga__reduce_plan plan;

/* The steps of one operand along the axes of a nest; `inner` is the known step of axis 0, in
 * vectors of `lanes`. */
static void fill_strides(ga__record *record, const char *list, int ndim, int inner, int lanes,
                         size_t word)
{
    ga__record_list(record, list);
    for (int axis = 0; axis < ndim; axis++) {
        ga__record *entry = ga__record_append(record, list);
        ga__record_setf(entry, "axis", "%d", axis);
        if (axis == 0 && lanes > 1)
            ga__record_setf(entry, "step", "%d", inner == STEP_ONE ? lanes : 0);
        else
            ga__program_step(entry, "step", axis == 0 ? inner : STEP_ANY, word + (size_t)axis);
    }
}

static void fill_operand(ga__record *record, const plan *p, int k)
{
    const ga__operand *operand = &p->operands[k];
    const int row = p->row[k];
    const size_t word = p->data_word[k];
    const ga__declaration d = ga__declaration_of(operand);
    const ga__operand_variant v =
        ga__operand_variant_of(operand, row == GA__NO_ROW ? 0 : p->step[row], false);
    ga__program_operand(record, k, &d, &v);
    ga__record_set(record, "unzip", "");
    ga__record_setf(record, "word", "%zu", word);
    ga__record_setf(record, "word1", "%zu", word + 1);
    if (operand->array && row == GA__NO_ROW)
        ga__program_accessor(record, &v, word);
    if (row == GA__NO_ROW)
        return;
    const int lanes = p->host ? 1 : p->lanes;
    const size_t kept = word + 1, gone = kept + (size_t)p->kept.ndim;
    fill_strides(record, "kept_stride", p->kept.ndim, p->columns ? p->step[row] : STEP_ANY,
                 p->columns ? lanes : 1, kept);
    fill_strides(record, "reduced_stride", p->reduced.ndim, p->columns ? STEP_ANY : p->step[row],
                 p->columns ? 1 : lanes, gone);
    ga__program_step(record, "inner", p->step[row], p->columns ? kept : gone);
    ga__program_step(record, "near", p->step[row], p->columns ? kept : gone);
    if (ga__reduce_plan_deinterleaves(p, k)) {
        ga__record_setf(record, "unzip", "%d", p->deinterleave);
        ga__record_set(record, "inner", "1");
        ga__record_set(record, "near", "1");
    }
    ga__program_group(record, &d, &v);
    const bool vector = lanes > 1 && p->step[row] == STEP_ONE;
    ga__record_setf(record, "width", "%d", vector ? lanes : 1);
    ga__record_set(record, "lane", vector ? "ga_l" : "0");
}

/* The output's steps, counted in elements; in columns mode its axis 0 advances by whole vectors. */
static void fill_output(ga__record *record, const plan *p)
{
    const int lanes = p->host || !p->columns ? 1 : p->lanes;
    ga__record_setf(record, "out_word", "%zu", p->out_word);
    ga__program_step(record, "out_inner", p->columns ? p->step[p->rows] : STEP_ANY,
                     p->out_word + 1);
    ga__record_list(record, "out_stride");
    for (int axis = 0; axis < p->kept.ndim; axis++) {
        ga__record *entry = ga__record_append(record, "out_stride");
        ga__record_setf(entry, "axis", "%d", axis);
        ga__record_setf(entry, "step", "%d * (ga_index)ga_args.w[%zu]", axis == 0 ? lanes : 1,
                        p->out_word + 1 + (size_t)axis);
    }
}

/* The index's steps along the reduced axes, likewise. */
static void fill_index(ga__record *record, const plan *p)
{
    const int lanes = p->host || p->columns ? 1 : p->lanes;
    ga__record_list(record, "index_stride");
    ga__record_set(record, "index_lane", "0");
    if (!p->reduction->formula.uses_index)
        return;
    if (!p->columns)
        ga__record_setf(record, "index_lane", "(ga_index)ga_args.w[%zu]", p->index_word);
    for (int axis = 0; axis < p->reduced.ndim; axis++) {
        ga__record *entry = ga__record_append(record, "index_stride");
        ga__record_setf(entry, "axis", "%d", axis);
        ga__record_setf(entry, "step", "%d * (ga_index)ga_args.w[%zu]", axis == 0 ? lanes : 1,
                        p->index_word + (size_t)axis);
    }
}

static void fill_carry(ga__record *record, const plan *p)
{
    static const char *const names[] = {"levels_word", "outputs_word", "merged_word",
                                        "level_word",  "first_word",   "count_word"};
    ga__record_set(record, "carried", p->reduction->carry ? "1" : "");
    for (size_t k = 0; k < sizeof(names) / sizeof(names[0]); k++)
        ga__record_setf(record, names[k], "%zu", p->carry_word + k);
}

static const char *batch_name(const plan *p, bool rounds)
{
    static const char *const names[] = {"take_batch", "take_apart", "take_pairs"};
    return names[rounds ? p->batch : GA__BATCH_SINGLY];
}

static void fill_cascade(ga__record *record, const plan *p)
{
    ga__record_set(record, "sums", p->sums ? "1" : "");
    ga__record_set(record, "tree", p->sums ? "true" : "false");
    ga__record_set(record, "cascade", p->cascade ? "1" : "");
    ga__record_set(record, "cascaded", p->cascade ? "true" : "false");
    ga__record_set(record, "many_runs", p->many_runs ? "1" : "");
    ga__record_set(record, "in_turn", p->many_runs && p->outputs_per_pass > 1 ? "1" : "");
    ga__record_setf(record, "level_bytes", "%zu", ga__reduce_plan_level_bytes(p));
    ga__record_setf(record, "chains", p->chains ? "%d" : "", p->chains);
    ga__record_setf(record, "turns", "%d, %d", p->turns, GA__CUDA_CHAINS);
    ga__record_set(record, "take_batch", batch_name(p, p->sums));
    ga__record_setf(record, "longest_chain", "%d", GA__HOST_CHAIN);
    ga__record_setf(record, "longest_run", "%d", GA__HOST_RUN);
    ga__record_setf(record, "scratch_word", "%zu", p->scratch_word);
    ga__record_setf(record, "scratch_word1", "%zu", p->scratch_word + 1);
    ga__record_setf(record, "scratch_word2", "%zu", p->scratch_word + 2);
}

/* T of a part. The host's compilers make no vectors of bool, but of the bytes they are. */
static const char *part_type(const plan *p, const ga__reduce_part *part)
{
    if (!part->finish)
        return "";
    return p->host && part->type == GA_BOOL ? "unsigned char" : ga__dtype_compute_type(part->type);
}

static void fill_part(ga__record *record, const plan *p, int k)
{
    const ga__reduce_part *part = &p->reduction->parts[k];
    ga__record_setf(record, "p", "%d", k);
    ga__record_set(record, "accumulator", part->accumulator);
    ga__record_set(record, "neutral", part->neutral);
    ga__record_set(record, "take", part->step);
    ga__record_set(record, "combine", part->combine);
    ga__record_set(record, "conclude", part->finish ? part->finish : "");
    ga__record_setf(record, "ddof_word", "%d", GA__REDUCE_DDOF + k);
    ga__record_set(record, "type", part_type(p, part));
    ga__record_set(record, "rounds", part->rounds ? "1" : "");
    ga__record_set(record, "take_batch", batch_name(p, part->rounds));
}

static void fill_texts(ga__record *record, const plan *p)
{
    const ga__reduction *r = p->reduction;
    ga__record_set(record, "map", r->map);
    ga__record_setf(record, "accumulator_bytes", "%zu", r->accumulator_bytes);
    ga__record_list(record, "part");
    for (int k = 0; k < r->nparts; k++)
        fill_part(ga__record_append(record, "part"), p, k);
    ga__record_set(record, "raw_result", r->results[0].dtype == GA_NO_DTYPE ? "1" : "");
    ga__record_list(record, "result");
    for (int k = 0; k < r->nresults; k++) {
        ga__record *result = ga__record_append(record, "result");
        ga__record_setf(result, "q", "%d", k);
        ga__record_setf(result, "word", "%zu", p->result_word[k]);
        ga__record_set(result, "memory", ga__dtype_memory_type(p->all[k]->dtype));
        ga__record_set(result, "finish", r->results[k].finish);
    }
}

static bool any_complex(const plan *p)
{
    bool complex_types = false;
    for (int k = 0; k < p->reduction->nparts; k++)
        complex_types |= ga__dtype_kind(p->reduction->parts[k].type) == 'c';
    for (int k = 0; k < p->reduction->nresults; k++)
        complex_types |= ga__dtype_kind(p->all[k]->dtype) == 'c';
    for (int k = 0; k < p->noperands; k++) {
        const ga__operand_variant v = ga__operand_variant_of(&p->operands[k], 0, false);
        complex_types |= ga__variant_is_complex(&v);
    }
    return complex_types;
}

/* The head's record: of all texts, to find what they need. */
static ga__record *new_record(const plan *p)
{
    const ga__reduction *r = p->reduction;
    const char *texts[3 + 6 * GA__MAX_PARTS];
    int n = 0;
    texts[n++] = r->formula.preamble ? r->formula.preamble : "";
    texts[n++] = r->map;
    for (int k = 0; k < r->nparts; k++) {
        const ga__reduce_part *part = &r->parts[k];
        texts[n++] = part->accumulator;
        texts[n++] = part->neutral;
        texts[n++] = part->step;
        texts[n++] = part->combine;
        texts[n++] = part->finish ? part->finish : "";
    }
    for (int k = 0; k < r->nresults; k++)
        texts[n++] = r->results[k].finish;
    texts[n] = NULL;
    return ga__program_record(&r->formula, p->host, p->words.n, any_complex(p), texts);
}

ga__record *ga__reduce_describe(const void *planned)
{
    const plan *p = planned;
    ga__record *record = new_record(p);
    fill_texts(record, p);
    ga__record_set(record, "staged", p->staged ? "1" : "");
    ga__record_set(record, "vector_math", p->staged ? "1" : "");
    ga__record_set(record, "plain", p->plain ? "1" : "");
    ga__record_set(record, "index_type", p->wide ? "long long" : "int");
    ga__record_set(record, "columns", p->columns ? "1" : "");
    ga__record_set(record, "short_row", "");
    if (p->short_rows)
        ga__record_setf(record, "short_row", "%d", p->deinterleave);
    ga__record_setf(record, "abreast", p->rows_per_pass > 1 ? "%d" : "", p->rows_per_pass);
    ga__record_set(record, "tail", p->tail ? "1" : "");
    ga__record_set(record, "split", p->split ? "1" : "");
    ga__record_set(record, "thin", p->thin ? "1" : "");
    ga__record_set(record, "posted", p->posted ? "1" : "");
    ga__record_set(record, "ascending", p->ascending ? "true" : "false");
    ga__record_setf(record, "lanes", "%d", p->lanes);
    ga__record_setf(record, "unroll", "%d", p->unroll);
    ga__record_setf(record, "block", "%d", p->block);
    const int hold = ga__reduce_plan_min_blocks(p);
    ga__record_setf(record, "bounds", hold ? "%d, %d" : "%d", p->block, hold);
    ga__record_setf(record, "team", "%d", p->team);
    ga__record_setf(record, "across", "%d", p->across);
    ga__record_set(record, "together", p->columns ? "ga_down" : "ga_team");
    ga__record_setf(record, "outputs_together", "%d", p->outputs_per_pass);
    ga__record_setf(record, "strip", "%d", p->strip);
    ga__program_axes(ga__record_append(record, "kept_axes"), "ga_k", 0, p->kept.ndim, p->kept_word);
    ga__program_axes(ga__record_append(record, "reduced_axes"), "ga_c", 0, p->reduced.ndim,
                     p->reduced_word);
    ga__record_list(record, "operand");
    for (int k = 0; k < p->noperands; k++)
        fill_operand(ga__record_append(record, "operand"), p, k);
    fill_output(record, p);
    fill_index(record, p);
    fill_carry(record, p);
    fill_cascade(record, p);
    return record;
}
