/* Fills the record of a kernel of fused rows from its formula and variant. */
#include "kernels/fused/fused_text.h"

#include "kernels/reduce_text.h"

typedef ga__fused_formula formula;
typedef ga__fused_variant variant;

/* The first word of each operand and of the kept values' places, in `w`. */
typedef struct layout {
    size_t head; /* words before `w` */
    size_t operand[GA__MAX_OPERANDS], kept, n;
} layout;

static int part_count(const formula *f)
{
    int count = 0;
    for (int s = 0; s < f->nstages; s++)
        count += f->stages[s].nparts;
    return count;
}

/* Its address, its strides from row to row and its place. */
static size_t words_of_array(const variant *v)
{
    return 2 + (size_t)v->kept_ndim + (v->walk == GA__WALK_COLUMNS);
}

static layout layout_of(const formula *f, const variant *v)
{
    const size_t head = sizeof(ga__fused_params) + (v->host ? sizeof(ga__scratch_params) : 0) +
                        (ga__fused_is_clustered(v) ? sizeof(ga__cluster_params) : 0);
    layout l = {.head = head / sizeof(uint64_t) + (size_t)part_count(f),
                .n = GA__DIVISOR_WORDS * (size_t)(v->kept_ndim - 1)};
    for (int k = 0; k < v->noperands; k++) {
        l.operand[k] = l.n;
        l.n += v->operand[k].streamed ? words_of_array(v) : GA__NUMBER_WORDS;
    }
    l.kept = l.n;
    l.n += (size_t)f->nkept + (f->nkept == 0);
    return l;
}

size_t ga__fused_param_words(const formula *f, const variant *v)
{
    const layout l = layout_of(f, v);
    return l.head + l.n;
}

/* ---- Operands ---- */

/* The operand whose vectors the threads' elements follow: the first one along the row. */
static bool leads(const formula *f, const variant *v, int k)
{
    int first = f->per_row;
    while (first < v->noperands - 1 &&
           !(v->operand[first].streamed && v->operand[first].step == STEP_ONE))
        first++;
    return k == first;
}

/* Whether results take the place of operand k: the first one in shared memory of their size. */
static bool lends_place(const variant *v, int k)
{
    int first = 1;
    while (first < v->noperands && !ga__fused_lends(v, first))
        first++;
    return (ga__fused_has_whole_rows(v) || v->walk == GA__WALK_THREADS) && k == first;
}

static void fill_operand(ga__record *record, const formula *f, const variant *v,
                         const ga__declaration *d, int k, size_t word)
{
    const ga__operand_variant *o = &v->operand[k];
    const bool along = o->streamed && o->step == STEP_ONE, columns = v->walk == GA__WALK_COLUMNS;
    ga__request_operand(record, k, d, o);
    ga__record_set_number(record, GA__KEY(word), (int64_t)word);
    ga__record_set_number(record, GA__KEY(word1), (int64_t)(word + 1));
    ga__record_set_number(record, GA__KEY(place_word), (int64_t)(word + 1 + v->kept_ndim));
    ga__record_set_flag(record, GA__KEY(along_row), along);
    ga__record_set_flag(record, GA__KEY(in_shared), v->staged >> k & 1);
    ga__record_set_flag(record, GA__KEY(late), ga__fused_is_late(f, v, k));
    ga__record_set_flag(record, GA__KEY(staged_once), ga__fused_is_staged_once(f, v, k));
    ga__record_set_flag(record, GA__KEY(made_in), lends_place(v, k));
    ga__record_set_number(record, GA__KEY(near), along);
    ga__record_set_number(record, GA__KEY(width), along ? v->lanes : 1);
    ga__request_step(record, GA__KEY(row_step), STEP_ANY, word + 2 + v->kept_ndim);
    ga__record_set_flag(record, GA__KEY(followed),
                        o->streamed && (d->reads || (columns && !f->per_row)));
    ga__record_list(record, GA__KEY(kept_stride));
    if (!o->streamed)
        return;
    ga__request_group(record, columns ? STEP_ONE : (int)o->step, ga__variant_is_narrow(o));
    for (int axis = 0; axis < v->kept_ndim; axis++) {
        ga__record *entry = ga__record_append(record, GA__KEY(kept_stride));
        ga__record_set_number(entry, GA__KEY(axis), axis);
        ga__request_step(entry, GA__KEY(step), STEP_ANY, word + 1 + (size_t)axis);
    }
}

/* ---- Passes ---- */

static void fill_kept(ga__record *record, const formula *f, const variant *v, int q, size_t word)
{
    const ga_dtype type = f->kept[q].type;
    const bool own = v->kept_place[q] == GA__OWN_PLACE;
    ga__record_set_number(record, GA__KEY(q), q);
    ga__record_set(record, GA__KEY(value), ga__dtype_compute_type(type));
    ga__record_set(record, GA__KEY(memory), ga__dtype_memory_type(type));
    ga__record_set_number(record, GA__KEY(word), (int64_t)word);
    ga__record_set_flag(record, GA__KEY(own_place), own);
    ga__record_set_number(record, GA__KEY(k), own ? 0 : v->kept_place[q]);
}

/* Whether the next row takes the places of this one while the last stage reads it. It does so once,
 * and no later pass reads the row. */
static bool leaves(const formula *f, const variant *v)
{
    const ga__fused_stage *last = &f->stages[f->nstages - 1];
    return v->ahead && !v->registers && f->per_row && last->nparts == 1 &&
           last->parts[0]->holds != GA__ACCUMULATOR_COUNTED;
}

static void fill_part(ga__record *record, const variant *v, const ga__fused_stage *stage, int p,
                      bool last)
{
    const ga__part_formula *part = stage->parts[p];
    const ga_dtype type = stage->type[p];
    ga__record_set_number(record, GA__KEY(p), p);
    ga__record_set(record, GA__KEY(own_elements), last ? "ga_left_behind" : "ga_mine");
    ga__record_set(record, GA__KEY(accumulator), part->accumulator);
    ga__record_set(record, GA__KEY(neutral), part->neutral);
    ga__record_set(record, GA__KEY(step), part->step);
    ga__record_set(record, GA__KEY(combine), part->combine);
    ga__record_set(record, GA__KEY(finish), part->finish);
    ga__record_set(record, GA__KEY(type),
                   v->host && type == GA_BOOL ? "unsigned char" : ga__dtype_compute_type(type));
    ga__record_set_flag(record, GA__KEY(rounds), ga__part_rounds(part, type));
    ga__record_setf(record, GA__KEY(sum_of), stage->sum_of[p] < 0 ? "" : "%d", stage->sum_of[p]);
    ga__record_set(record, GA__KEY(extreme),
                   !v->paired || !ga__part_is_extreme(part) ? ""
                   : part->greatest                         ? "true"
                                                            : "false");
}

/* Lists the values of the row that are known after the stages from `first` to `end` - 1, which the
 * host's columns find in arrays. */
static void list_values(ga__record *record, const char *list, const formula *f, const variant *v,
                        int first, int end)
{
    ga__record_list(record, list);
    for (int k = 0; k < f->nvalues && v->host && v->walk == GA__WALK_COLUMNS; k++) {
        if (f->values[k].stage < first || f->values[k].stage >= end)
            continue;
        ga__record *value = ga__record_append(record, list);
        ga__record_set(value, GA__KEY(name), f->values[k].name);
        ga__record_set(value, GA__KEY(value), ga__dtype_compute_type(f->values[k].type));
        ga__record_set_flag(value, GA__KEY(divides), f->values[k].divides);
    }
}

static void fill_stage(ga__record *record, const formula *f, const variant *v, int s)
{
    const ga__fused_stage *stage = &f->stages[s];
    ga__record_set_number(record, GA__KEY(s), s);
    ga__record_set(record, GA__KEY(map), stage->map);
    ga__record_set(record, GA__KEY(row_values), stage->row);
    ga__record_list(record, GA__KEY(part));
    for (int p = 0; p < stage->nparts; p++)
        fill_part(ga__record_append(record, GA__KEY(part)), v, stage, p,
                  s == f->nstages - 1 && leaves(f, v));
    list_values(record, GA__KEY(known), f, v, 0, s);
    list_values(record, GA__KEY(made), f, v, s, s + 1);
    ga__record_list(record, GA__KEY(begun));
    ga__record_list(record, GA__KEY(before));
    for (int q = 0; q < f->nkept; q++) {
        const char *const list = f->kept[q].stage == s  ? GA__KEY(begun)
                                 : f->kept[q].stage < s ? GA__KEY(before)
                                                        : NULL;
        if (list)
            ga__record_set_number(ga__record_append(record, list), GA__KEY(q), q);
    }
}

static bool any_complex(const formula *f, const variant *v)
{
    bool complex_types = false;
    for (int k = 0; k < v->noperands; k++)
        complex_types |= ga__variant_is_complex(&v->operand[k]);
    for (int s = 0; s < f->nstages; s++)
        for (int p = 0; p < f->stages[s].nparts; p++)
            complex_types |= ga__dtype_kind(f->stages[s].type[p]) == 'c';
    return complex_types;
}

static ga__record *new_record(const formula *f, const variant *v, const layout *l)
{
    const char *texts[2 + GA__MAX_STAGES * (2 + 5 * GA__MAX_PARTS)];
    int n = 0;
    texts[n++] = f->base.body;
    for (int s = 0; s < f->nstages; s++) {
        texts[n++] = f->stages[s].map;
        texts[n++] = f->stages[s].row;
        for (int p = 0; p < f->stages[s].nparts; p++) {
            const ga__part_formula *part = f->stages[s].parts[p];
            texts[n++] = part->accumulator;
            texts[n++] = part->neutral;
            texts[n++] = part->step;
            texts[n++] = part->combine;
            texts[n++] = part->finish;
        }
    }
    texts[n] = NULL;
    ga__record *record = ga__request_record(&f->base, v->host, l->n, any_complex(f, v), texts);
    ga__record_set_number(record, GA__KEY(nparams), (int64_t)(l->head + l->n));
    return record;
}

/* Blocks that registers leave room for on a multiprocessor. Small floats take the most instructions
 * for each byte, and double's functions take the longest: they need more warps to choose from. */
static int blocks_at_least(const variant *v)
{
    size_t widest = 1;
    for (int k = 0; k < v->noperands; k++) {
        const size_t size = ga__dtype_size((ga_dtype)v->operand[k].memory);
        widest = v->operand[k].streamed && size > widest ? size : widest;
    }
    const bool wide = widest >= sizeof(double); /* 1536 threads have 40 registers each: spills */
    const int threads = !v->registers                 ? (wide ? 1024 : 1536)
                        : v->ahead                    ? 1024
                        : v->walk == GA__WALK_THREADS ? (v->each > 48   ? 768
                                                         : v->each > 32 ? 896
                                                                        : 1024)
                        : v->walk == GA__WALK_COLUMNS ? (v->each > 8 || wide ? 1024 : 1536)
                        : v->paired                   ? (v->each > 16 ? 1024 : 1536)
                        : widest < sizeof(float)      ? (v->each > 16 ? 1024 : 2048)
                                                      : 1024;
    return v->block > 0 && v->block < threads ? threads / v->block : 1;
}

static void fill_variant(ga__record *record, const formula *f, const variant *v)
{
    ga__record_set_flag(record, GA__KEY(short_circuit), true);
    ga__record_set_flag(record, GA__KEY(reduces), true);
    ga__record_set_flag(record, GA__KEY(vector_math), v->host);
    ga__record_set_flag(record, GA__KEY(per_row), f->per_row);
    ga__record_set_flag(record, GA__KEY(in_registers), v->registers);
    ga__record_set_flag(record, GA__KEY(gathers), v->gathers);
    ga__record_set_flag(record, GA__KEY(staged), v->staged != 0);
    ga__record_set_flag(record, GA__KEY(ahead), v->ahead);
    ga__record_set_flag(record, GA__KEY(shifted), v->shifted);
    ga__record_set_flag(record, GA__KEY(clustered), ga__fused_is_clustered(v));
    ga__record_set_flag(record, GA__KEY(distributed), v->walk == GA__WALK_DISTRIBUTED);
    ga__record_set_number(record, GA__KEY(most_blocks), GA__CLUSTER_BLOCKS);
    ga__record_set_number(record, GA__KEY(line_vectors), GA__LINE_BYTES / GA__VECTOR_BYTES);
    ga__record_set_flag(record, GA__KEY(bulk), v->ahead == GA__AHEAD_IN_BULK);
    ga__record_set_flag(record, GA__KEY(columns), v->walk == GA__WALK_COLUMNS);
    ga__record_set_number(record, GA__KEY(result_words), GA__RESULT_WORDS);
    ga__record_set_flag(record, GA__KEY(leaving), leaves(f, v));
    ga__record_set_flag(record, GA__KEY(whole_rows), ga__fused_has_whole_rows(v));
    ga__record_set_flag(record, GA__KEY(alone),
                        v->several > 0 && v->each == 1 && v->walk == GA__WALK_ROWS);
    ga__record_set_flag(record, GA__KEY(row_of_thread), v->walk == GA__WALK_THREADS);
    ga__record_setf(record, GA__KEY(several), v->several ? "%d" : "", v->several);
    ga__record_set_flag(record, GA__KEY(paired), v->paired);
    ga__record_set(record, GA__KEY(small),
                   v->paired ? ga__dtype_memory_type((ga_dtype)v->paired) : "");
    ga__record_set_flag(record, GA__KEY(one_axis), v->kept_ndim == 1);
    ga__record_set_flag(record, GA__KEY(past_cache), v->past_cache);
    ga__record_set(record, GA__KEY(index_type), v->wide ? "long long" : "int");
    ga__record_set_number(record, GA__KEY(lanes), v->lanes);
    ga__record_set_number(record, GA__KEY(block), v->block);
    ga__record_set_number(record, GA__KEY(team), v->team);
    ga__record_set_number(record, GA__KEY(blocks), blocks_at_least(v));
    ga__record_set_number(record, GA__KEY(each_thread), v->each);
    ga__record_set_number(record, GA__KEY(sure_each), v->sure * v->lanes);
    ga__record_set_number(record, GA__KEY(group), v->group);
}

static void fill_axes(ga__record *record, int ndim)
{
    size_t word[GA_MAX_NDIM];
    for (int axis = 0; axis < ndim; axis++)
        word[axis] = GA__DIVISOR_WORDS * (size_t)axis;
    ga__request_axes(record, "ga_k", 0, ndim, word);
}

ga__record *ga__fused_text(const formula *f, const ga__declaration *d, const variant *v)
{
    const layout l = layout_of(f, v);
    ga__record *record = new_record(f, v, &l);
    fill_variant(record, f, v);
    fill_axes(ga__record_append(record, GA__KEY(kept_axes)), v->kept_ndim);
    ga__record_list(record, GA__KEY(operand));
    for (int k = 0; k < v->noperands; k++) {
        ga__record *operand = ga__record_append(record, GA__KEY(operand));
        fill_operand(operand, f, v, &d[k], k, l.operand[k]);
        ga__record_set_flag(operand, GA__KEY(leads), leads(f, v, k));
    }
    ga__record_list(record, GA__KEY(kept));
    for (int q = 0; q < f->nkept; q++)
        fill_kept(ga__record_append(record, GA__KEY(kept)), f, v, q, l.kept + (size_t)q);
    list_values(record, GA__KEY(row_value), f, v, 0, f->nstages);
    ga__record_list(record, GA__KEY(stage));
    for (int s = 0; s < f->nstages; s++)
        fill_stage(ga__record_append(record, GA__KEY(stage)), f, v, s);
    return record;
}
