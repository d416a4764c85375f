/* x[parts] op= value with every one of equal indices: by atomics, or sums of blocks, where the
 * order does not matter or nobody asks for one, otherwise in the order of the tuples. */
#include <quarry/indexing.h>

#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "model/promote.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/counted.h"
#include "ops/index/exact.h"
#include "ops/index/packed.h"

/* Tuples of one part of a long fold on a GPU: a power of two. */
#define CHUNK 256

/* On the host, a second owner pays from this number of elements on. */
#define MANY_ELEMENTS (1 << 14)

/* One of the four functions. */
typedef struct operation {
    const char *name, *fold;
    ga__row_id row;
    bool extreme;
} operation;

static const operation operations[] = {
    {"index_add", "folded_add", GA__ROW_add, false},
    {"index_multiply", "folded_multiply", GA__ROW_multiply, false},
    {"index_minimum", "folded_minimum", GA__ROW_minimum, true},
    {"index_maximum", "folded_maximum", GA__ROW_maximum, true},
};

/* A fold by order: tuples, with their keys, by the other axes of the result, which x and the value
 * have by themselves. */
typedef struct fold {
    const operation *op;
    const ga__indexing *g;
    ga_value value;
    ga_dtype loop;
    gpuarray *lines; /* the value as (tuples, other axes...); NULL: a number */
    ga__tuple_keys keys;
    ga__packed packed; /* CUDA: instead of keys */
    int64_t tuples;
    int ndim; /* of the other axes */
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
} fold;

/* ---- Operands of both ways ---- */

/* Memory that the operands of a launch point to. */
typedef struct memory {
    ga__lens x, value, part, coordinate;
    ga__operand operand[16];
    int n;
} memory;

static void add(memory *m, ga__operand operand)
{
    m->operand[m->n++] = operand;
}

static void add_number(memory *m, const char *name, int64_t number)
{
    add(m, ga__integer_operand(name, number));
}

/* x and the value over a launch of `ndim` axes, whose axes from `first` on are `axes` of the fold's
 * others. */
static void add_elements(const fold *f, memory *m, int ndim, const int64_t *shape, int first,
                         int axes)
{
    int64_t strides[GA_MAX_NDIM] = {0};
    const int64_t offset = f->g->offset + f->keys.low * (int64_t)ga__dtype_size(f->g->x->dtype);
    memcpy(strides + first, f->strides, sizeof(int64_t) * (size_t)axes);
    ga__lens_set_typed(&m->x, f->g->x, ndim, shape, strides, offset);
    add(m, ga__lens_operand("x", &m->x, GA__PLACED, true));
    if (f->lines) {
        memcpy(strides + first, f->lines->strides + 1, sizeof(int64_t) * (size_t)axes);
        ga__lens_set_typed(&m->value, f->lines, ndim, shape, strides, 0);
        add(m, ga__lens_operand("v", &m->value, GA__PLACED, false));
    } else {
        add(m, ga__number_operand("number", f->loop, f->value));
    }
    add(m, ga__number_operand("z", f->loop, ga_value_bool(false)));
}

/* A step in elements of the value along its axis k; of a number, which has one element, 0. */
static int64_t value_step(const fold *f, int k)
{
    return f->lines ? f->lines->strides[k] / (int64_t)ga__dtype_size(f->lines->dtype) : 0;
}

/* Runs a function of fold.tmpl: `call` is its name, with the operation in "%s", and arguments. */
static ga_status run(const fold *f, const char *call, bool heavy, int ndim, const int64_t *shape,
                     const memory *m)
{
    ga__strbuf text = GA__STRBUF_INIT, description = GA__STRBUF_INIT;
    ga__formula formula = {.name = "fold", .heavy = heavy};
    if (!f->lines)
        ga__strbuf_add(&text, "const auto *const v = &number; ");
    ga__strbuf_addf(&text, call, f->op->fold);
    ga__describe(&description, "fold");
    ga__describe(&description, text.failed ? NULL : text.text);
    ga_status status = text.failed ? GA_ERR_MEMORY : ga__description_id(&description, &formula.id);
    formula.body = text.text;
    if (status == GA_OK)
        status = ga__elementwise(&formula, f->g->x->buffer->device, ndim, shape, m->n, m->operand);
    ga__strbuf_reset(&description);
    ga__strbuf_reset(&text);
    return status;
}

/* ---- On the host: owners of ranges of keys ---- */

/* Every owner meets all tuples in their order and folds those of its keys: the result is NumPy's,
 * bit by bit. */
static ga_status fold_by_owners(const fold *f)
{
    memory m = {.n = 0};
    const int outer = f->ndim > 0 ? f->ndim - 1 : 0;
    const int64_t size = (int64_t)ga__dtype_size(f->g->x->dtype);
    const int64_t lines = ga__shape_size(outer, f->shape);
    const int64_t inner = f->ndim > 0 ? f->shape[outer] : 1;
    const int64_t processors = f->g->x->buffer->device->processors;
    const bool alone = lines >= processors || f->tuples * inner < MANY_ELEMENTS;
    const int64_t owners = alone ? 1 : processors;
    const int64_t share = (f->keys.span + owners - 1) / owners;
    int64_t shape[GA_MAX_NDIM + 1] = {0};
    memcpy(shape, f->shape, sizeof(int64_t) * (size_t)outer);
    shape[outer] = owners;
    add_elements(f, &m, outer + 1, shape, 0, outer);
    add(&m, ga__indexed_operand("key", f->keys.keys));
    ga__lens_coordinate(&m.coordinate, outer + 1, shape, outer, 0);
    add(&m, ga__lens_operand("owner", &m.coordinate, GA__COORDINATE, false));
    add_number(&m, "owners", owners);
    add_number(&m, "share", share);
    add_number(&m, "tuples", f->tuples);
    add_number(&m, "vt", value_step(f, 0));
    add_number(&m, "inner", inner);
    add_number(&m, "xi", f->ndim > 0 ? f->strides[outer] / size : 0);
    add_number(&m, "vi", f->ndim > 0 ? value_step(f, 1 + outer) : 0);
    return run(f,
               "ga::fold_share<ga::%s>(x, v, key, owner * share, (owner + 1) * share, owners == 1, "
               "tuples, vt, inner, xi, vi, z)",
               true, outer + 1, shape, &m);
}

static ga_status fold_by_keys(fold *f)
{
    f->keys.keys = ga__array_new(f->op->name, f->g->x->buffer->device, GA_INT64, 1, &f->tuples);
    ga_status status = f->keys.keys ? ga__scatter_keys(f->op->name, f->g, &f->keys) : ga_error();
    if (status == GA_OK)
        status = fold_by_owners(f);
    ga_free(f->keys.keys);
    return status;
}

/* ---- On a GPU: sorted words ---- */

/* A thread folds the tuples of a key. Of many tuples, other threads have folded chunks before. */
static ga_status fold_sorted(const fold *f, const gpuarray *part)
{
    static const char *const calls[2][2] = {
        {"(void)pt; (void)x; ga::fold_chunk<ga::%s>(part, ga::in_place(w, shift, v, vt), "
         "t * chunk, (t + 1) * chunk < tuples ? (t + 1) * chunk : tuples, z)",
         "(void)pt; (void)x; ga::fold_chunk<ga::%s>(part, ga::in_words(w, shift, v, vt), "
         "t * chunk, (t + 1) * chunk < tuples ? (t + 1) * chunk : tuples, z)"},
        {"ga::fold_key<ga::%s>(x, part, ga::in_place(w, shift, v, vt), t, tuples, chunk, pt, z)",
         "ga::fold_key<ga::%s>(x, part, ga::in_words(w, shift, v, vt), t, tuples, chunk, pt, z)"}};
    ga_status status = GA_OK;
    const int64_t chunks = part->shape[0];
    for (int keys = 0; keys <= 1 && status == GA_OK; keys++) {
        memory m = {.n = 0};
        int64_t shape[GA_MAX_NDIM + 1], strides[GA_MAX_NDIM + 1];
        if (!keys && chunks == 1)
            continue;
        shape[0] = keys ? f->tuples : chunks;
        memcpy(shape + 1, f->shape, sizeof(int64_t) * (size_t)f->ndim);
        memcpy(strides, part->strides, sizeof(int64_t) * (size_t)part->ndim);
        strides[0] = keys ? 0 : strides[0];
        add_elements(f, &m, 1 + f->ndim, shape, 1, f->ndim);
        m.operand[0].writes = keys;
        m.operand[0].reads = !keys;
        ga__lens_set_typed(&m.part, part, 1 + f->ndim, shape, strides, 0);
        add(&m, ga__lens_operand("part", &m.part, GA__PLACED, !keys));
        add(&m, ga__indexed_operand("w", f->packed.words));
        ga__lens_coordinate(&m.coordinate, 1 + f->ndim, shape, 0, 0);
        add(&m, ga__lens_operand("t", &m.coordinate, GA__COORDINATE, false));
        add_number(&m, "tuples", f->tuples);
        add_number(&m, "chunk", CHUNK);
        add_number(&m, "shift", f->packed.shift);
        add_number(&m, "vt", value_step(f, 0));
        add_number(&m, "pt", part->strides[0] / (int64_t)ga__dtype_size(part->dtype));
        status = run(f, calls[keys][f->packed.has_values], false, 1 + f->ndim, shape, &m);
    }
    return status;
}

static ga_status fold_by_sorting(fold *f)
{
    int64_t shape[GA_MAX_NDIM + 1];
    shape[0] = (f->tuples + CHUNK - 1) / CHUNK;
    memcpy(shape + 1, f->shape, sizeof(int64_t) * (size_t)f->ndim);
    ga_status status = ga__pack_sorted(f->op->name, f->g, GA_RAISE, f->value, &f->packed);
    if (status != GA_OK)
        return status;
    f->keys.low = f->packed.low;
    gpuarray *part = ga__array_new(f->op->name, f->packed.words->buffer->device,
                                   ga__dtype_compute(f->loop), 1 + f->ndim, shape);
    status = part ? fold_sorted(f, part) : ga_error();
    ga_free(part);
    ga_free(f->packed.words);
    return status;
}

/* ---- By order ---- */

/* The axes of the result that tuples do not have, and x's strides along them. */
static void find_others(fold *f)
{
    const ga__indexing *g = f->g;
    f->ndim = 0;
    for (int k = 0; k < g->ndim; k++)
        if (k < g->first || k >= g->first + g->index_ndim) {
            f->shape[f->ndim] = g->shape[k];
            f->strides[f->ndim++] = g->strides[k];
        }
}

/* The value with the tuples' axes as its first one. NULL on failure. */
static gpuarray *lines_of(const fold *f)
{
    const ga__indexing *g = f->g;
    int axes[GA_MAX_NDIM], n = 0;
    int64_t shape[GA_MAX_NDIM + 1];
    for (int k = 0; k < g->index_ndim; k++)
        axes[n++] = g->first + k;
    for (int k = 0; k < g->ndim; k++)
        if (k < g->first || k >= g->first + g->index_ndim)
            axes[n++] = k;
    shape[0] = f->tuples;
    memcpy(shape + 1, f->shape, sizeof(int64_t) * (size_t)f->ndim);
    gpuarray *whole = ga_broadcast_to(f->value.as.array, g->ndim, g->shape);
    gpuarray *moved = whole ? ga_transpose_axes(whole, g->ndim, axes) : NULL;
    gpuarray *lines = moved ? ga_reshape(moved, 1 + f->ndim, shape) : NULL;
    ga_free(moved);
    ga_free(whole);
    return lines;
}

static ga_status fold_by_order(const operation *op, const ga__indexing *g, ga_value value,
                               ga_dtype loop)
{
    fold f = {.op = op, .g = g, .value = value, .loop = loop, .tuples = ga__indexing_tuples(g)};
    ga__device *device = g->x->buffer->device;
    find_others(&f);
    if (f.ndim == GA_MAX_NDIM)
        return ga__fail(GA_ERR_UNSUPPORTED, "%s: %d axes besides those of the indices are too many",
                        op->name, f.ndim);
    if (value.kind == GA_VALUE_ARRAY) {
        f.lines = lines_of(&f);
        if (!f.lines)
            return ga_error();
    }
    const ga_status status = ga__on_host(device) ? fold_by_keys(&f) : fold_by_sorting(&f);
    ga_free(f.lines);
    return status;
}

/* ---- The call ---- */

/* Whether atomics give the same bits in any order: integers wrap, and extremes that compute in the
 * array's own dtype are one number. */
static bool commutes(const operation *op, const gpuarray *x, ga_dtype loop)
{
    const char kind = ga__dtype_kind(x->dtype);
    if (op->extreme)
        return kind != 'c' && ga__dtype_compute(loop) == ga__dtype_compute(x->dtype);
    return kind == 'b' || kind == 'i' || kind == 'u';
}

/* Whether there are atomics for it: for elements of up to 64 bits, and for sums of complex ones. */
static bool has_atomics(const operation *op, const gpuarray *x)
{
    return ga__dtype_size(x->dtype) <= 8 || op->row == GA__ROW_add;
}

/* The value's array, apart from the memory of x. *copy is to be freed after the launch. */
static ga_status separate(const operation *op, const gpuarray *x, ga_value *value, gpuarray **copy)
{
    ga__device *device;
    const ga_status status = ga__check_values(op->name, 1, value, &device);
    if (status != GA_OK || value->kind == GA_VALUE_NUMBER)
        return status;
    if (device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the array is on %s, the value on %s", op->name,
                        x->buffer->device->name, device->name);
    if (!ga__arrays_overlap(x, value->as.array))
        return GA_OK;
    *copy = ga_copy(value->as.array);
    value->as.array = *copy;
    return *copy ? GA_OK : ga_error();
}

/* The dtype in which x op value computes, which casts to that of x. */
static ga_status find_loop(const operation *op, const gpuarray *x, ga_value value, ga_dtype *loop)
{
    const ga__row *row = &ga__rows[op->row];
    const bool number = value.kind == GA_VALUE_NUMBER;
    const ga__operand_type types[] = {
        {.dtype = x->dtype}, {number ? value.dtype : value.as.array->dtype, number, value}};
    ga_dtype loops[2];
    const ga_status status = ga__resolve(op->name, row->kinds, row->rule, 2, types, loops, loop);
    return status == GA_OK ? ga__check_out(op->name, x, 0, NULL, *loop) : status;
}

/* Raises unless x[parts], of this shape, can be combined with the value. */
static ga_status check_fold(const operation *op, const gpuarray *x, int ndim, const int64_t *shape,
                            ga_value value, ga_dtype *loop)
{
    const gpuarray *from = value.kind == GA_VALUE_ARRAY ? value.as.array : NULL;
    const ga_status status = find_loop(op, x, value, loop);
    if (status == GA_OK && from && !ga__broadcasts_to(from->ndim, from->shape, ndim, shape))
        return ga__fail(GA_ERR_SHAPE, "%s: a value of shape %s does not broadcast to shape %s",
                        op->name, ga__shape_text(from->ndim, from->shape),
                        ga__shape_text(ndim, shape));
    return status;
}

static ga_status fold_view(const operation *op, gpuarray *view, ga_value value)
{
    const ga_value inputs[] = {ga_value_array(view), value};
    ga__device *device;
    ga_dtype loop;
    ga_status status = ga__check_values(op->name, 2, inputs, &device);
    if (status == GA_OK)
        status = check_fold(op, view, view->ndim, view->shape, value, &loop);
    return status == GA_OK ? ga__apply_into(op->row, view, inputs) : status;
}

static ga_status fold_indexed(const operation *op, ga__indexing *g, ga_value value, bool relaxed)
{
    gpuarray *copy = NULL;
    ga__sums sums;
    ga_dtype loop;
    ga_status status = separate(op, g->x, &value, &copy);
    if (status == GA_OK)
        status = ga__indexing_separate(g);
    if (status == GA_OK)
        status = check_fold(op, g->x, g->ndim, g->shape, value, &loop);
    if (status == GA_OK && ga__shape_size(g->ndim, g->shape) == 0)
        status = ga__check_tuples(op->name, g);
    else if (status == GA_OK && op->row == GA__ROW_add && ga__counts_in_blocks(g, value))
        status = ga__add_counted(op->name, g, value);
    else if (status == GA_OK && !ga__on_host(g->x->buffer->device) && has_atomics(op, g->x) &&
             (relaxed || commutes(op, g->x, loop)))
        status = ga__scatter_fold(op->name, g, value, op->fold, loop);
    else if (status == GA_OK && op->row == GA__ROW_add && ga__exact_plan(g, value, loop, &sums))
        status = ga__add_exactly(op->name, g, value, loop, &sums);
    else if (status == GA_OK)
        status = fold_by_order(op, g, value, loop);
    ga_free(copy);
    return status;
}

static ga_status fold_parts(const operation *op, size_t size, const ga_index_add_args *args)
{
    ga_index_add_args known;
    ga__indexing g;
    gpuarray *view;
    ga_status status = ga__options_read(op->name, &known, sizeof known, args, size);
    if (status != GA_OK)
        return status;
    if (known.x && !ga__array_writable(op->name, known.x))
        return ga_error();
    if (known.value.kind == GA_VALUE_ARRAY && !known.value.as.array)
        return ga__fail(GA_ERR_INVALID, "%s: the value is NULL", op->name);
    status = ga__indexing_init(&g, op->name, known.x, known.n, known.parts, &view);
    if (status == GA_OK && view)
        status = fold_view(op, view, known.value);
    else if (status == GA_OK)
        status = fold_indexed(op, &g, known.value, known.relaxed);
    ga_free(view);
    ga__indexing_reset(&g);
    return status;
}

ga_status(ga_index_add)(size_t size, const ga_index_add_args *args)
{
    GA__CALL("index_add");
    return fold_parts(&operations[0], size, args);
}

ga_status(ga_index_multiply)(size_t size, const ga_index_add_args *args)
{
    GA__CALL("index_multiply");
    return fold_parts(&operations[1], size, args);
}

ga_status(ga_index_minimum)(size_t size, const ga_index_add_args *args)
{
    GA__CALL("index_minimum");
    return fold_parts(&operations[2], size, args);
}

ga_status(ga_index_maximum)(size_t size, const ga_index_add_args *args)
{
    GA__CALL("index_maximum");
    return fold_parts(&operations[3], size, args);
}
