/* Fills the record of an elementwise kernel from its formula and variant. */
#include "kernels/elementwise_text.h"

#include "base/alloc.h"
#include "kernels/fast_path.h"
#include "kernels/request.h"

#define HOST_LINE 64   /* bytes */
#define SMALL_GROUP 64 /* elements that are converted together: their floats stay in registers */

typedef ga__elementwise_variant variant;

/* The first words of axes, operands and the index in `w`. */
typedef struct layout {
    size_t turns, axis[GA_MAX_NDIM], operand[GA__MAX_OPERANDS], index, n;
} layout;

static bool has_tiles(const variant *v)
{
    return v->head.tiled && !v->head.host && v->head.square == 0;
}

/* The first axis that a block has one index of; none, if its threads have their own. */
static int first_outer(const variant *v)
{
    return v->head.lines || v->head.panels ? 1
           : has_tiles(v)                  ? (int)v->head.run
           : v->head.tiled                 ? 2
                                           : GA_MAX_NDIM;
}

/* The first axis of those that split an element's index. */
static int first_axis(const variant *v)
{
    return v->head.lines || v->head.panels ? 1 : v->head.tiled && !has_tiles(v) ? 2 : 0;
}

static size_t count_axes(layout *l, const variant *v)
{
    l->turns = 0; /* tiles: the divisor of a warp's turns */
    size_t n = has_tiles(v) ? GA__DIVISOR_WORDS : 0;
    const size_t words = has_tiles(v) ? GA__TILE_AXIS_WORDS : GA__DIVISOR_WORDS;
    const int ndim = (int)v->head.ndim - !has_tiles(v);
    for (int axis = first_axis(v); axis < ndim; axis++, n += words)
        l->axis[axis] = n;
    return n;
}

/* Whether results come from spans of this operand. */
static bool has_spans(const variant *v, const ga__operand_variant *o)
{
    return v->head.spans && o->placed && o->memory != GA_NO_DTYPE;
}

/* The bounds of an operand's memory, and its stage. */
static size_t count_tile(const variant *v, const ga__operand_variant *o)
{
    if (has_spans(v, o))
        return GA__BOUND_WORDS;
    if (!has_tiles(v))
        return 0;
    const size_t stage = GA__STAGE_WORDS + (size_t)GA__STAGE_AXIS_WORDS * v->head.ndim;
    return GA__BOUND_WORDS + (o->transposed ? stage : 0);
}

/* As add_params() of elementwise.c appends them. */
static layout layout_of(const ga__formula *f, const variant *v)
{
    layout l;
    l.n = count_axes(&l, v);
    for (int k = 0; k < (int)v->head.noperands; k++) {
        const ga__operand_variant *o = &v->operand[k];
        l.operand[k] = l.n;
        if (o->memory == GA_NO_DTYPE && !o->streamed)
            l.n += GA__NUMBER_WORDS;
        else if (o->streamed)
            l.n += 1 + v->head.ndim + count_tile(v, o);
        else
            l.n += 1 + (o->contiguous ? 0 : 2 * (size_t)o->ndim);
    }
    l.index = l.n;
    l.n += f->uses_index ? v->head.ndim : 0;
    return l;
}

/* The offset text of one step along an axis: a literal where the kernel knows it. */
static void set_step(ga__record *record, const char *name, int step, int axis, size_t word)
{
    ga__request_step(record, name, axis > 0 ? STEP_ANY : step, word);
}

/* The step from one vector of axis 0 to the next. Operands of vectors are contiguous along it or
 * broadcast; the index need not be. */
static void set_vector_step(ga__record *record, int step, int lanes, size_t word)
{
    if (step == STEP_ANY)
        ga__record_setf(record, GA__KEY(step), "%d * (ga_index)ga_args.w[%zu]", lanes, word);
    else
        ga__record_set_number(record, GA__KEY(step), step == STEP_ONE ? lanes : 0);
}

static void fill_strides(ga__record *record, const variant *v, int step, size_t first_word)
{
    ga__record_list(record, GA__KEY(stride));
    ga__record_list(record, GA__KEY(outer_stride));
    ga__record_set(record, GA__KEY(strided), "1");
    set_step(record, GA__KEY(inner), step, 0, first_word);
    set_step(record, GA__KEY(near), step, 0, first_word);
    ga__record_set_flag(record, GA__KEY(repeated), step == STEP_ZERO);
    if (v->head.tiled)
        set_step(record, GA__KEY(inner1), step, 1, first_word + 1);
    for (int axis = 0; axis < (int)v->head.ndim; axis++) {
        const bool outer = axis >= first_outer(v);
        ga__record *stride =
            ga__record_append(record, outer ? GA__KEY(outer_stride) : GA__KEY(stride));
        ga__record_set_number(stride, GA__KEY(axis), axis);
        if (axis == 0 && ga__elementwise_counts_vectors(&v->head))
            set_vector_step(stride, step, (int)v->head.lanes, first_word);
        else
            set_step(stride, GA__KEY(step), step, axis, first_word + (size_t)axis);
    }
}

/* The axes of a tile: all, and the run's. */
static void fill_box(ga__record *record, const variant *v, const size_t *word)
{
    const int run = (int)v->head.run, ndim = (int)v->head.ndim;
    ga__record_list(record, GA__KEY(box));
    ga__record_list(record, GA__KEY(walk));
    for (int axis = 0; axis < ndim; axis++) {
        ga__record *box = ga__record_append(record, GA__KEY(box));
        ga__record_set_number(box, GA__KEY(axis), axis);
        ga__record_set_number(box, GA__KEY(word), (int64_t)word[axis]);
        ga__record_set_flag(box, GA__KEY(last), axis == ndim - 1);
        ga__record_set_flag(box, GA__KEY(in_run), axis < run);
        ga__record_set_flag(box, GA__KEY(run_last), axis == run - 1);
        if (axis >= run)
            continue;
        ga__record *walk = ga__record_append(record, GA__KEY(walk));
        ga__record_set_number(walk, GA__KEY(axis), axis);
        ga__record_set_flag(walk, GA__KEY(last), axis == run - 1);
        ga__record_set_flag(walk, GA__KEY(innermost), axis == 0 && run > 1);
    }
    ga__record_set(ga__record_append(record, GA__KEY(whole_vector)), GA__KEY(whole), "1");
    ga__record_set(record, GA__KEY(whole), "");
}

/* What holds unless an operand's record says otherwise. */
static void fill_tiles(ga__record *record, const variant *v, const layout *l)
{
    ga__record_set_number(record, GA__KEY(turns_word), (int64_t)l->turns);
    ga__record_set_number(record, GA__KEY(axis_words), GA__TILE_AXIS_WORDS);
    ga__record_set_number(record, GA__KEY(stage_words), GA__STAGE_WORDS);
    ga__record_set_number(record, GA__KEY(along_words), GA__STAGE_AXIS_WORDS);
    bool shared = false, rings = false;
    for (int k = 0; k < (int)v->head.noperands; k++) {
        shared = shared || v->operand[k].transposed;
        rings = rings || v->operand[k].move == GA__MOVE_RING;
    }
    ga__record_set_flag(record, GA__KEY(shared), shared);
    ga__record_set_flag(record, GA__KEY(rings), rings);
    ga__record_set(record, GA__KEY(ring), "");
    ga__record_set(record, GA__KEY(first), "");
    ga__record_set(record, GA__KEY(vector), "");
    ga__record_set(record, GA__KEY(dense_run), "");
    ga__record_set(record, GA__KEY(row), "");
    ga__record_set(record, GA__KEY(held), "");
    ga__record_set(record, GA__KEY(pair), "");
    ga__record_set(record, GA__KEY(swizzled), "");
    fill_box(record, v, l->axis);
}

static void fill_bounds(ga__record *record, size_t word)
{
    ga__record_set_number(record, GA__KEY(low_word), (int64_t)word);
    ga__record_set_number(record, GA__KEY(high_word), (int64_t)(word + 1));
}

/* Where an operand's bounds and stage follow its strides, and how its elements move. */
static void fill_move(ga__record *record, const variant *v, const ga__operand_variant *o,
                      size_t word)
{
    const size_t bounds = word + 1 + v->head.ndim;
    fill_bounds(record, bounds);
    ga__record_set_number(record, GA__KEY(stage), (int64_t)(bounds + GA__BOUND_WORDS));
    ga__record_set_flag(record, GA__KEY(vector),
                        o->move != GA__MOVE_SINGLY && o->move != GA__MOVE_HELD);
    ga__record_set_flag(record, GA__KEY(dense_run), o->move == GA__MOVE_DENSE);
    ga__record_set_flag(record, GA__KEY(row), o->move == GA__MOVE_ROW);
    if (o->move == GA__MOVE_RING)
        ga__record_set_number(record, GA__KEY(ring), GA__RING_BYTES);
    ga__record_set_flag(record, GA__KEY(held), o->move == GA__MOVE_HELD);
    ga__record_set_flag(record, GA__KEY(pair), o->move == GA__MOVE_PAIR);
    ga__record_set_flag(record, GA__KEY(swizzled), o->swizzled);
}

bool ga__elementwise_is_small(const variant *v, const ga__operand_variant *o)
{
    return v->head.host && o->streamed && !o->placed && ga__dtype_is_stored((ga_dtype)o->memory);
}

static int first_written(const ga__declaration *d, const variant *v)
{
    int k = 0;
    while (k < (int)v->head.noperands &&
           (!v->operand[k].streamed || v->operand[k].placed || !d[k].writes))
        k++;
    return k;
}

/* The step from an element to the next where the kernel computes: in panels, all are neighbours. */
static int step_in_place(const variant *v, const ga__operand_variant *o)
{
    return v->head.panels ? STEP_ONE : (int)o->step;
}

/* How an operand's rows come to a panel. */
static void fill_panel(ga__record *record, const ga__operand_variant *o)
{
    ga__record_set_flag(record, GA__KEY(panelled), o->panelled);
    ga__record_set_flag(record, GA__KEY(once), o->once);
    ga__record_set(record, GA__KEY(lie),
                   o->step == STEP_ONE    ? "near"
                   : o->step == STEP_ZERO ? "alike"
                                          : "apart");
}

static void fill_operand(ga__record *record, const ga__declaration *all, const variant *v, int k,
                         size_t word)
{
    const ga__declaration *d = &all[k];
    const ga__operand_variant *o = &v->operand[k];
    const bool streamed = o->streamed;
    ga__request_operand(record, k, d, o);
    ga__record_set_number(record, GA__KEY(word), (int64_t)word);
    ga__record_set_number(record, GA__KEY(word1), (int64_t)(word + 1));
    ga__record_set(record, GA__KEY(transposed), o->transposed ? "1" : "");
    ga__record_set_flag(record, GA__KEY(lined), o->lined);
    ga__record_set(record, GA__KEY(floats), "");
    ga__record_set(record, GA__KEY(strided), "");
    ga__record_set(record, GA__KEY(leads),
                   v->head.past_cache && k == first_written(all, v) ? "1" : "");
    if (o->memory != GA_NO_DTYPE && !streamed)
        ga__request_accessor(record, o, word);
    if (v->head.descends)
        ga__record_set_flag(record, GA__KEY(held), false);
    if (v->head.panels)
        fill_panel(record, o);
    if (!streamed)
        return;
    fill_strides(record, v, step_in_place(v, o), word + 1);
    if (has_tiles(v)) {
        ga__record_set_flag(record, GA__KEY(first), k == first_written(all, v));
        fill_move(record, v, o, word);
    }
    if (v->head.descends) {
        ga__record_set_flag(record, GA__KEY(held), o->held);
        ga__record_set_flag(record, GA__KEY(row), !o->held && o->step == STEP_ZERO);
    }
    ga__record_set_flag(record, GA__KEY(spanned), has_spans(v, o));
    if (has_spans(v, o))
        fill_bounds(record, word + 1 + v->head.ndim);
    const bool vector =
        v->head.lanes > 1 && (o->step == STEP_ONE || (o->transposed && v->head.square));
    ga__record_set_number(record, GA__KEY(width), vector ? (int)v->head.lanes : 1);
    ga__record_set(record, GA__KEY(lane), vector ? "ga_l" : "0");
    if (o->transposed)
        ga__record_set(record, GA__KEY(near), "1");
    ga__request_group(record, step_in_place(v, o),
                      ga__variant_is_narrow(o) || ga__elementwise_is_small(v, o));
}

static void fill_index(ga__record *record, const variant *v, size_t word)
{
    const ga__declaration d = {.name = "ga_share_index"};
    const ga__operand_variant o = {.type = GA_INT64, .memory = GA_NO_DTYPE};
    ga__request_operand(record, (int)v->head.noperands, &d, &o);
    ga__record_set(record, GA__KEY(number), "");
    ga__record_set(record, GA__KEY(transposed), "");
    ga__record_set_flag(record, GA__KEY(lined), false);
    ga__record_set(record, GA__KEY(floats), "");
    ga__record_set(record, GA__KEY(leads), "");
    ga__record_set(record, GA__KEY(index), "1");
    if (v->head.panels)
        fill_panel(record, &o);
    fill_strides(record, v, (int)v->head.index_step, word);
}

static bool any_complex(const variant *v)
{
    for (int k = 0; k < (int)v->head.noperands; k++)
        if (ga__variant_is_complex(&v->operand[k]))
            return true;
    return false;
}

static bool any_small(const variant *v)
{
    for (int k = 0; k < (int)v->head.noperands; k++)
        if (ga__elementwise_is_small(v, &v->operand[k]))
            return true;
    return false;
}

/* Columns of the next band in a tile: a cache line of the results may need them. */
static int extra_columns(const ga__declaration *d, const variant *v)
{
    if (!v->head.past_cache)
        return 0;
    return HOST_LINE / (int)ga__dtype_size((ga_dtype)v->operand[first_written(d, v)].memory);
}

/* The largest element in memory, of all arrays or of the transposed ones. */
static int widest(const variant *v, bool transposed)
{
    size_t most = 1;
    for (int k = 0; k < (int)v->head.noperands; k++) {
        const ga__operand_variant *o = &v->operand[k];
        if (o->memory == GA_NO_DTYPE || (transposed && !o->transposed))
            continue;
        const size_t size = ga__dtype_size((ga_dtype)o->memory);
        most = size > most ? size : most;
    }
    return (int)most;
}

/* The bytes of the panelled operands' elements. */
static int64_t passing_bytes(const variant *v)
{
    size_t nbytes = 0;
    for (int k = 0; k < (int)v->head.noperands; k++)
        if (v->operand[k].panelled)
            nbytes += ga__dtype_size((ga_dtype)v->operand[k].memory);
    return (int64_t)nbytes;
}

/* Rows of a tile on the host: GA__HOST_DOWN_BYTES of the widest transposed operand. */
static int rows_down(const variant *v)
{
    return GA__HOST_DOWN_BYTES / widest(v, true);
}

/* Whether the host computes complex products and quotients by the fast path. A group is computed
 * again where it gives up, so nothing else may be written. */
static bool has_fast_products(const ga__formula *f, const ga__declaration *d, const variant *v)
{
    int written = 0;
    for (int k = 0; k < (int)v->head.noperands; k++)
        written += d[k].writes;
    return v->head.host && v->head.pads && written == 1 && !f->user_text && !f->uses_index &&
           any_complex(v) && !ga__calls_libm(f->body) &&
           ga__fast_path_pays(GA__FAST_COMPLEX, f->body);
}

/* Whether the host's tiles or panels would only be copied to results in the cache. */
static bool moves_directly(const ga__formula *f, const ga__declaration *d, const variant *v)
{
    const ga__operand_variant *o = v->operand;
    return v->head.host && (v->head.tiled || v->head.panels) && !v->head.past_cache &&
           v->head.noperands == 2 && f->copies && d[0].writes && !d[1].writes &&
           o[0].memory == o[1].memory &&
           (v->head.panels || (o[1].transposed && o[0].step == STEP_ONE));
}

/* The elements that are whole vectors, however the compiler chooses these: it takes as many as of
 * the smallest type, which a text with several functions may have in between. */
static int whole_vectors(const ga__formula *f, const variant *v, bool math)
{
    size_t least = ga__count_calls(f->body) == 1 && !f->user_text ? sizeof(float) : 1;
    for (int k = 0; k < (int)v->head.noperands; k++) {
        const ga_dtype memory = (ga_dtype)v->operand[k].memory;
        if (memory != GA_NO_DTYPE && ga__dtype_size(memory) < least)
            least = ga__dtype_size(memory);
    }
    return HOST_LINE / (int)(math ? least : sizeof(float));
}

/* CUDA's threads. */
static void fill_cuda(ga__record *record, const variant *v)
{
    ga__record_set_flag(record, GA__KEY(tail), v->head.tail);
    ga__record_set_number(record, GA__KEY(lanes), (int)v->head.lanes);
    ga__record_set_number(record, GA__KEY(unroll), (int)v->head.unroll);
    ga__record_set_number(record, GA__KEY(block), (int)v->head.block);
}

static bool moves_results(const ga__declaration *d, const variant *v)
{
    for (int k = 0; k < (int)v->head.noperands; k++)
        if (d[k].writes && v->operand[k].panelled)
            return true;
    return false;
}

static void fill_panels_and_bands(ga__record *record, const ga__declaration *d, const variant *v)
{
    ga__record_set_flag(record, GA__KEY(panels), v->head.panels);
    ga__record_set_flag(record, GA__KEY(moves_results), moves_results(d, v));
    if (v->head.panels)
        ga__record_set_number(record, GA__KEY(panel),
                              ga__host_panel(widest(v, false), passing_bytes(v)));
    if (!v->head.tiled)
        return;
    ga__record_set_number(record, GA__KEY(band), GA__HOST_BAND);
    ga__record_set_number(record, GA__KEY(extra), extra_columns(d, v));
    ga__record_set_number(record, GA__KEY(down), rows_down(v));
}

/* The host's strips: for results that go past the cache, for small floats, for the fast path, and
 * wherever functions of libm may be called, so that all elements have them of vectors. */
static void fill_strips(ga__record *record, const ga__formula *f, const ga__declaration *d,
                        const variant *v, bool fast_products)
{
    const bool math = f->user_text || ga__calls_libm(f->body), small = any_small(v);
    const bool staged =
        v->head.pads && (v->head.past_cache || v->head.tiled || math || small || fast_products);
    ga__record_set(record, GA__KEY(staged), staged ? "1" : "");
    ga__record_set_flag(record, GA__KEY(ordered), f->ordered);
    ga__record_set_flag(record, GA__KEY(vector_math), staged && math);
    ga__record_set_flag(record, GA__KEY(direct), moves_directly(f, d, v));
    ga__record_set(record, GA__KEY(past_cache), v->head.past_cache ? "1" : "");
    ga__record_set(record, GA__KEY(aligned), v->head.past_cache ? "1" : "");
    const int whole = small ? SMALL_GROUP : whole_vectors(f, v, math);
    const ga__host_lengths l = ga__host_choose_lengths(d, v, small ? SMALL_GROUP : GA__HOST_STRIP);
    ga__record_set_number(record, GA__KEY(strip), l.strip);
    ga__record_set_number(record, GA__KEY(group), l.group);
    ga__record_set_number(record, GA__KEY(whole), whole < l.group ? whole : l.group);
    ga__record_set_number(record, GA__KEY(first_written), first_written(d, v));
}

/* Without memory for the text the template lacks it, which is an error too. */
static void fill_fast_path(ga__record *record, const ga__formula *f, const variant *v,
                           bool fast_products)
{
    if (!v->head.fast_path && !fast_products)
        return;
    char *text = ga__fast_path_text(fast_products ? GA__FAST_COMPLEX : GA__FAST_REAL, f->body);
    ga__record_set(record, GA__KEY(fast_path), "1");
    if (text)
        ga__record_set(record, GA__KEY(fast_body), text);
    ga__free(text);
}

ga__record *ga__elementwise_record(const ga__formula *f, const ga__declaration *d, const variant *v,
                                   size_t *walk_words)
{
    const char *texts[] = {f->body, f->preamble ? f->preamble : "", NULL};
    const layout l = layout_of(f, v);
    ga__record *record = ga__request_record(f, v->head.host, l.n, any_complex(v), texts);
    *walk_words = l.n;
    ga__record_set(record, GA__KEY(index_type), v->head.wide ? "long long" : "int");
    ga__record_set_flag(record, GA__KEY(tiled), v->head.tiled);
    ga__record_set_flag(record, GA__KEY(transposes), v->head.tiled || v->head.panels);
    if (v->head.square)
        ga__record_set_number(record, GA__KEY(square), (int)v->head.square);
    else
        ga__record_set(record, GA__KEY(square), "");
    ga__record_set_flag(record, GA__KEY(lines), v->head.lines);
    ga__record_set_flag(record, GA__KEY(spans), v->head.spans);
    ga__record_set_flag(record, GA__KEY(descends), v->head.descends);
    if (v->head.spans && v->head.ndim > 1)
        ga__record_setf(record, GA__KEY(row_elements), "(ga_index)ga_args.w[%zu]", l.axis[0]);
    else if (v->head.spans)
        ga__record_set(record, GA__KEY(row_elements), "n");
    const bool fast_products = has_fast_products(f, d, v);
    if (v->head.host) {
        fill_panels_and_bands(record, d, v);
        fill_strips(record, f, d, v, fast_products);
    } else {
        fill_cuda(record, v);
    }
    fill_fast_path(record, f, v, fast_products);
    if (has_tiles(v))
        fill_tiles(record, v, &l);
    else
        ga__request_axes(record, "ga_c", first_axis(v), (int)v->head.ndim, l.axis);
    ga__record_list(record, GA__KEY(operand));
    for (int k = 0; k < (int)v->head.noperands; k++)
        fill_operand(ga__record_append(record, GA__KEY(operand)), d, v, k, l.operand[k]);
    if (f->uses_index)
        fill_index(ga__record_append(record, GA__KEY(operand)), v, l.index);
    return record;
}

ga__record *ga__elementwise_text(const ga__formula *f, const ga__declaration *d, const variant *v)
{
    size_t walk_words;
    ga__record *record = ga__elementwise_record(f, d, v, &walk_words);
    const size_t head = has_tiles(v)     ? sizeof(ga__tile_params)
                        : v->head.tiled  ? sizeof(ga__tiled_params)
                        : v->head.panels ? sizeof(ga__short_params)
                                         : sizeof(ga__elementwise_params);
    ga__record_set_number(record, GA__KEY(nparams),
                          (int64_t)(head / sizeof(uint64_t) + walk_words));
    return record;
}
