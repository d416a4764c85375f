/* Fills the record of a scan's kernel from its formula and variant. */
#include "kernels/scan/scan_text.h"

#include "kernels/request.h"

typedef ga__scan_formula formula;
typedef ga__scan_variant variant;

enum { STATE_ALIGNMENT = 16, LINE = 64, WORD = 4 };

/* Blocks of a multiprocessor whose registers the compiler leaves room for. */
static int min_blocks(const variant *v)
{
    return v->staged                                                    ? v->staged
           : (v->segmented && !v->folds) || !(v->columns || v->chained) ? 1
                                                                        : 4;
}

/* The first words of what `w` has. */
typedef struct layout {
    size_t divisors[GA_MAX_NDIM], length, operand[GA__MAX_OPERANDS], n;
} layout;

/* Columns find their row along the first axis themselves. */
static int first_axis(const variant *v)
{
    return v->columns ? 1 : 0;
}

/* As add_params() of scan.c appends them. */
static layout layout_of(const variant *v)
{
    layout l = {.n = v->initial ? GA__NUMBER_WORDS : 0};
    for (int axis = first_axis(v); axis < v->kept_ndim - 1; axis++, l.n += GA__DIVISOR_WORDS)
        l.divisors[axis] = l.n;
    l.length = l.n;
    l.n += v->folds ? GA__DIVISOR_WORDS : 0;
    for (int k = 0; k < v->noperands; k++) {
        const ga__operand_variant *o = &v->operand[k];
        l.operand[k] = l.n;
        if (o->memory == GA_NO_DTYPE)
            l.n += GA__NUMBER_WORDS;
        else if (o->streamed)
            l.n += 2 + (size_t)v->kept_ndim;
        else
            l.n += 1 + (o->contiguous ? 0 : 2 * (size_t)o->ndim);
    }
    return l;
}

size_t ga__scan_param_words(const variant *v)
{
    return sizeof(ga__scan_params) / sizeof(uint64_t) + layout_of(v).n;
}

/* With the marks of segments. */
static size_t bytes_with(const variant *v, size_t value)
{
    return v->segmented ? (value / STATE_ALIGNMENT + 1) * STATE_ALIGNMENT
                        : (value + WORD - 1) / WORD * WORD;
}

size_t ga__scan_state_bytes(const variant *v)
{
    return bytes_with(v, v->value_bytes);
}

size_t ga__scan_carry_bytes(const variant *v)
{
    return bytes_with(v, v->sums ? 2 * (size_t)v->value_bytes : v->value_bytes);
}

int64_t ga__scan_piece(const variant *v)
{
    return v->sums ? 32 : 256;
}

size_t ga__scan_tile_bytes(const variant *v)
{
    const size_t carries = ga__scan_carry_bytes(v) * (v->columns ? GA__SCAN_STRIP : 1);
    return LINE + (carries + LINE - 1) / LINE * LINE;
}

static void fill_strides(ga__record *record, const variant *v, int step, size_t word)
{
    ga__record_list(record, GA__KEY(kept_stride));
    for (int axis = first_axis(v); axis < v->kept_ndim; axis++) {
        ga__record *entry = ga__record_append(record, GA__KEY(kept_stride));
        ga__record_set_number(entry, GA__KEY(axis), axis);
        ga__request_step(entry, GA__KEY(step), STEP_ANY, word + (size_t)axis);
    }
    /* `near` is the step of columns to the next row. */
    ga__request_step(record, GA__KEY(near), v->columns ? step : STEP_ANY, word);
    ga__request_step(record, GA__KEY(inner), v->columns ? STEP_ANY : step,
                     word + (size_t)v->kept_ndim);
}

/* The operand in whose stage the results of operand k wait: its elements have their size. -1: none,
 * threads exchange results before they store. */
static int result_stage(const variant *v, int k)
{
    const size_t size = ga__dtype_size((ga_dtype)v->operand[k].memory);
    for (int o = 0; v->operand[k].memory != GA_NO_DTYPE && o < v->noperands; o++)
        if (v->operand[o].staged && ga__dtype_size((ga_dtype)v->operand[o].memory) == size)
            return o;
    return -1;
}

static void fill_operand(ga__record *record, const variant *v, const ga__declaration *d, int k,
                         size_t word)
{
    const ga__operand_variant *o = &v->operand[k];
    const bool vector = !v->host && v->lanes > 1 && o->step == STEP_ONE;
    ga__request_operand(record, k, d, o);
    ga__record_set_number(record, GA__KEY(word), (int64_t)word);
    ga__record_set_number(record, GA__KEY(word1), (int64_t)(word + 1));
    ga__record_set_number(record, GA__KEY(width), vector ? v->lanes : 1);
    ga__record_set(record, GA__KEY(lane), vector ? "ga_l" : "0");
    ga__record_set_flag(record, GA__KEY(staged), o->staged);
    ga__record_set_flag(record, GA__KEY(exchanged), result_stage(v, k) < 0);
    ga__record_set_number(record, GA__KEY(result_stage), result_stage(v, k));
    if (o->streamed)
        fill_strides(record, v, o->step, word + 1);
    else if (o->memory != GA_NO_DTYPE)
        ga__request_accessor(record, o, word);
}

static bool any_complex(const variant *v)
{
    bool complex_types = ga__dtype_kind((ga_dtype)v->type) == 'c';
    for (int k = 0; k < v->noperands; k++)
        complex_types |= ga__variant_is_complex(&v->operand[k]);
    return complex_types;
}

/* The head's record: of all texts, to find what they need. */
static ga__record *new_record(const formula *f, const variant *v, const layout *l)
{
    const ga__scan_texts *t = f->texts;
    const char *const texts[] = {f->base.preamble ? f->base.preamble : "",
                                 f->base.body,
                                 f->map,
                                 f->starts ? f->starts : "",
                                 f->chosen ? f->chosen : "",
                                 t->accumulator,
                                 t->neutral,
                                 t->lift,
                                 t->combine,
                                 t->finish,
                                 NULL};
    ga__record *record = ga__request_record(&f->base, v->host, l->n, any_complex(v), texts);
    ga__record_set_number(record, GA__KEY(nparams), (int64_t)ga__scan_param_words(v));
    ga__record_set_flag(record, GA__KEY(uses_last), f->uses_last);
    ga__record_set(record, GA__KEY(map), f->map);
    ga__record_set(record, GA__KEY(starts), f->starts ? f->starts : "");
    ga__record_set(record, GA__KEY(chosen), f->chosen ? f->chosen : "");
    ga__record_set(record, GA__KEY(accumulator), t->accumulator);
    ga__record_set(record, GA__KEY(neutral), t->neutral);
    ga__record_set(record, GA__KEY(lift), t->lift);
    ga__record_set(record, GA__KEY(combine), t->combine);
    ga__record_set(record, GA__KEY(finish), t->finish);
    return record;
}

/* Whether the texts may do more than compute with the elements that they get. */
static bool is_guarded(const formula *f, const variant *v)
{
    bool guarded = f->base.user_text || *f->base.body;
    for (int k = 0; k < v->noperands; k++)
        guarded |= !v->operand[k].streamed && v->operand[k].memory != GA_NO_DTYPE;
    return guarded;
}

static void fill_variant(ga__record *record, const variant *v, const layout *l)
{
    const size_t bytes = ga__scan_state_bytes(v);
    ga__record_set(record, GA__KEY(index_type), v->wide ? "long long" : "int");
    ga__record_set(record, GA__KEY(type), ga__dtype_compute_type((ga_dtype)v->type));
    ga__record_set_flag(record, GA__KEY(columns), v->columns);
    ga__record_set_flag(record, GA__KEY(sums), v->sums);
    ga__record_set_flag(record, GA__KEY(exclusive), v->exclusive);
    ga__record_set_flag(record, GA__KEY(initial), v->initial);
    ga__record_set_flag(record, GA__KEY(segmented), v->segmented);
    ga__record_set_flag(record, GA__KEY(chained), v->chained);
    ga__record_set_flag(record, GA__KEY(serial), !v->chained && !v->folds);
    ga__record_set_flag(record, GA__KEY(folds), v->folds);
    ga__record_set_flag(record, GA__KEY(staged), v->staged);
    ga__record_set_flag(record, GA__KEY(adds_ahead), v->ahead);
    ga__record_set_flag(record, GA__KEY(choice), v->choice != GA__CHOICE_NOT);
    ga__record_set_number(record, GA__KEY(choice_tile), GA__CHOICE_TILE);
    ga__record_set_flag(record, GA__KEY(marks), v->choice == GA__CHOICE_MARKS);
    ga__record_set_number(record, GA__KEY(lane_bytes), GA__ONCE_LANE_BYTES);
    ga__record_set_number(record, GA__KEY(slots), GA__ONCE_SLOTS);
    ga__record_set_flag(record, GA__KEY(one_launch), v->choice == GA__CHOICE_ONCE);
    ga__record_set_flag(record, GA__KEY(vectors), v->lanes > 1);
    ga__record_set_flag(record, GA__KEY(rows_follow), v->folds == GA__FOLDS_FOLLOWING);
    ga__record_set_number(record, GA__KEY(first_word), 0);
    ga__record_set_number(record, GA__KEY(first_word1), 1);
    ga__record_set_number(record, GA__KEY(length_word), (int64_t)l->length);
    ga__record_set_number(record, GA__KEY(length_word1), (int64_t)l->length + 1);
    ga__record_set_number(record, GA__KEY(length_word2), (int64_t)l->length + 2);
    ga__record_set_number(record, GA__KEY(lanes), v->lanes);
    ga__record_set_number(record, GA__KEY(unroll), v->unroll);
    ga__record_set_number(record, GA__KEY(across), v->across);
    ga__record_set_number(record, GA__KEY(block), GA__SCAN_BLOCK);
    ga__record_setf(record, GA__KEY(bounds), "%d, %d", GA__SCAN_BLOCK, min_blocks(v));
    ga__record_set_number(record, GA__KEY(chunk), GA__SCAN_CHUNK);
    ga__record_set_number(record, GA__KEY(strip), GA__SCAN_STRIP);
    ga__record_set_number(record, GA__KEY(piece), ga__scan_piece(v));
    ga__record_set_number(record, GA__KEY(accumulator_bytes), v->value_bytes);
    ga__record_set_number(record, GA__KEY(state_words), (int64_t)(bytes / WORD));
    ga__record_set_number(record, GA__KEY(state_bytes), (int64_t)ga__scan_tile_bytes(v));
}

ga__record *ga__scan_text(const formula *f, const ga__declaration *d, const variant *v)
{
    const layout l = layout_of(v);
    ga__record *record = new_record(f, v, &l);
    fill_variant(record, v, &l);
    ga__record_set_flag(record, GA__KEY(guarded), is_guarded(f, v));
    ga__request_axes(ga__record_append(record, GA__KEY(kept_axes)), "ga_k", first_axis(v),
                     v->kept_ndim, l.divisors);
    ga__record_list(record, GA__KEY(operand));
    for (int k = 0; k < v->noperands; k++)
        fill_operand(ga__record_append(record, GA__KEY(operand)), v, &d[k], k, l.operand[k]);
    return record;
}
