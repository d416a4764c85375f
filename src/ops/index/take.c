/* Takes elements along an axis. */
#include <quarry/indexing.h>

#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/checked.h"
#include "ops/index/gather.h"
#include "ops/index/scatter.h"

/* On a GPU, a launch of its own checks the indices if each serves at least this number of elements
 * of the result, */
#define SHARED_BY 8

/* if the result is large enough, */
#define LARGE_RESULT (1 << 16)

/* and are then of this dtype. */
#define CHECKED_DTYPE GA_INT32

/* Bytes of a vector. */
#define VECTOR 16

/* How elements are found: by mode, from a line of memory or from any layout in C order. */
static const ga__formula formulas[2][3] = {
    {{.id = GA__FORMULA_ID(204),
      .name = "take",
      .body = "r = x[ga::taken(j, length, fault, call, axis, p) * s]"},
     {.id = GA__FORMULA_ID(205), .name = "take", .body = "r = x[ga::wrapped(j, length) * s]"},
     {.id = GA__FORMULA_ID(206), .name = "take", .body = "r = x[ga::clipped(j, length) * s]"}},
    {{.id = GA__FORMULA_ID(207),
      .name = "take",
      .body = "r = x[ga::taken(j, length, fault, call, axis, p) * s]"},
     {.id = GA__FORMULA_ID(208), .name = "take", .body = "r = x[ga::wrapped(j, length) * s]"},
     {.id = GA__FORMULA_ID(209), .name = "take", .body = "r = x[ga::clipped(j, length) * s]"}}};

/* The same in two launches. */
static const ga__formula of_checked = {
    .id = GA__FORMULA_ID(343), .name = "take", .body = "r = x[(long long)j * s]; (void)length"};
static const ga__formula check_formulas[3] = {
    {.id = GA__FORMULA_ID(344),
     .name = "check_indices",
     .body = "r = ga::taken(j, length, fault, call, axis, p)"},
    {.id = GA__FORMULA_ID(345), .name = "check_indices", .body = "r = ga::wrapped(j, length)"},
    {.id = GA__FORMULA_ID(346), .name = "check_indices", .body = "r = ga::clipped(j, length)"}};

/* One call: the indexed axis, its length and the elements between its neighbours; the layouts of x
 * without it and of the indices in the shape of the result. */
typedef struct taking {
    const char *name;
    const gpuarray *x, *indices;
    ga_index_mode mode;
    int axis;       /* for messages */
    bool scattered; /* x is indexed in C order, whatever its layout */
    bool repeats;   /* other axes of the result repeat the indices */
    bool checked;   /* the indices are in range */
    int64_t length, step;
    int before; /* axes of the result before those of the indices */
    int ndim;
    int64_t shape[GA_MAX_NDIM], from[GA_MAX_NDIM], at[GA_MAX_NDIM], position[GA_MAX_NDIM];
} taking;

/* Runs a formula over the indices, the first `n` operands being those of the caller. */
static ga_status run(const taking *t, const ga__formula *formula, ga__operand *operands, int n,
                     ga_dtype type, int ndim, const int64_t *shape, const int64_t *strides,
                     const int64_t *steps)
{
    ga__lens at, position;
    ga__checked checked;
    const bool checks = t->mode == GA_RAISE && !t->checked;
    ga__device *device = t->x->buffer->device;
    ga__lens_set_typed(&at, t->indices, ndim, shape, strides, 0);
    operands[n] = ga__lens_operand("j", &at, GA__VALUE, false);
    operands[n++].type = type;
    operands[n++] = ga__integer_operand("length", t->length);
    if (checks) {
        ga__lens_set(&position, NULL, ndim, shape, steps, 0);
        operands[n++] = ga__lens_operand("p", &position, GA__COORDINATE, false);
        operands[n++] = ga__integer_operand("axis", t->axis);
        n = ga__checked_begin(&checked, t->name, device, operands, n);
        if (n < 0)
            return ga_error();
    }
    const ga_status status = ga__elementwise(formula, device, ndim, shape, n, operands);
    return checks ? ga__checked_end(&checked, status) : status;
}

/* Whether rows move in vectors: along the last axis, which has no indices, elements are neighbours
 * and whole vectors everywhere. */
static bool takes_vectors(const taking *t, const gpuarray *out)
{
    const int last = t->ndim - 1;
    const int64_t size = (int64_t)ga__dtype_size(out->dtype);
    int64_t bits = (int64_t)(intptr_t)out->data | (int64_t)(intptr_t)t->x->data | t->step * size;
    if (ga__on_host(out->buffer->device) || t->scattered || last < 0 || t->at[last] != 0 ||
        t->position[last] != 0 || t->from[last] != size || out->strides[last] != size ||
        VECTOR % size != 0)
        return false;
    bits |= t->shape[last] * size;
    for (int k = 0; k < last; k++)
        bits |= t->from[k] | out->strides[k];
    return bits % VECTOR == 0;
}

/* Fills `out`, which has the shape of the result and the dtype of x. */
static ga_status take_elements(const taking *t, gpuarray *out)
{
    ga__lens to, from;
    ga__operand operands[7 + GA__CHECKED_OPERANDS];
    int64_t shape[GA_MAX_NDIM];
    const int64_t size = (int64_t)ga__dtype_size(out->dtype);
    const bool vectors = takes_vectors(t, out);
    int n = 0;
    memcpy(shape, t->shape, sizeof shape);
    ga__lens_whole(&to, out);
    if (t->scattered)
        ga__lens_whole(&from, t->x);
    else
        ga__lens_set(&from, t->x, t->ndim, t->shape, t->from, 0);
    if (vectors) {
        ga__lens_widen(&to, VECTOR);
        ga__lens_widen(&from, VECTOR);
        shape[t->ndim - 1] = to.shape[t->ndim - 1];
    }
    operands[n++] = ga__lens_operand("r", &to, GA__VALUE, true);
    operands[n] = ga__lens_operand("x", &from, t->scattered ? GA__ACCESSOR : GA__PLACED, false);
    operands[n++].line = t->step == 1 && !t->scattered ? t->length : 0;
    operands[n++] = ga__integer_operand("s", vectors ? t->step * size / VECTOR : t->step);
    return run(t, t->checked ? &of_checked : &formulas[t->scattered][t->mode], operands, n,
               t->checked ? CHECKED_DTYPE : GA_INT64, t->ndim, shape, t->at, t->position);
}

/* Whether a check of the indices alone saves more than a launch. */
static bool checks_first(const taking *t, const gpuarray *out)
{
    const gpuarray *indices = t->indices;
    return !ga__on_host(out->buffer->device) && !t->scattered && t->repeats &&
           t->length <= INT32_MAX && out->size / SHARED_BY >= indices->size &&
           out->size >= LARGE_RESULT;
}

static ga_status take_into(const taking *t, gpuarray *out)
{
    if (!checks_first(t, out))
        return take_elements(t, out);
    const gpuarray *indices = t->indices;
    taking next = *t;
    int64_t position[GA_MAX_NDIM];
    gpuarray *places =
        ga__array_new(t->name, out->buffer->device, CHECKED_DTYPE, indices->ndim, indices->shape);
    if (!places)
        return ga_error();
    ga__operand operands[5 + GA__CHECKED_OPERANDS] = {
        {.name = "r", .array = places, .type = GA_INT64, .writes = true}};
    ga__contiguous_strides(indices->ndim, indices->shape, 1, position);
    ga_status status = run(t, &check_formulas[t->mode], operands, 1, GA_INT64, indices->ndim,
                           indices->shape, indices->strides, position);
    next.indices = places;
    next.checked = true;
    for (int k = 0; k < indices->ndim; k++)
        next.at[t->before + k] = places->strides[k];
    if (status == GA_OK)
        status = take_elements(&next, out);
    ga_free(places);
    return status;
}

/* The result in `out`, which may have another dtype or share memory with the operands. */
static gpuarray *take_to(const taking *t, gpuarray *out)
{
    if (ga__check_out(t->name, out, t->ndim, t->shape, t->x->dtype) != GA_OK)
        return NULL;
    if (!ga__same_shape(t->ndim, t->shape, out->ndim, out->shape))
        return ga__fail_null(GA_ERR_SHAPE, "%s: the result has shape %s, out has %s", t->name,
                             ga__shape_text(t->ndim, t->shape),
                             ga__shape_text(out->ndim, out->shape));
    if (out->buffer->device != t->x->buffer->device)
        return ga__fail_null(GA_ERR_DEVICE, "%s: the array is on %s, out on %s", t->name,
                             t->x->buffer->device->name, out->buffer->device->name);
    if (out->dtype == t->x->dtype && !ga__arrays_overlap(out, t->x) &&
        !ga__arrays_overlap(out, t->indices))
        return take_into(t, out) == GA_OK ? out : NULL;
    gpuarray *made = ga__array_new(t->name, out->buffer->device, t->x->dtype, t->ndim, t->shape);
    ga_status status = made ? take_into(t, made) : ga_error();
    if (status == GA_OK)
        status = ga__array_copy_into(out, made);
    ga_free(made);
    return status == GA_OK ? out : NULL;
}

/* Checks indices that name no element because another axis has none. As in NumPy, those of take()
 * are checked if no axis before theirs is empty, and those of take_along_axis() are not. */
static ga_status check_empty(const taking *t)
{
    ga__indexing g = {.x = t->x, .count = 1, .index_ndim = t->indices->ndim};
    g.index[0] = (ga__indexed){.array = t->indices, .axis = t->axis, .length = t->length};
    memcpy(g.shape, t->indices->shape, sizeof(int64_t) * (size_t)g.index_ndim);
    if (!t->repeats || t->mode != GA_RAISE || t->indices->size == 0 ||
        ga__shape_size(t->before, t->shape) == 0)
        return GA_OK;
    return t->length > 0 ? ga__check_tuples(t->name, &g)
                         : ga__fail(GA_ERR_INDEX, "%s: axis %d has no elements", t->name, t->axis);
}

static gpuarray *take_from(const taking *t, gpuarray *out)
{
    const bool empty = ga__shape_size(t->ndim, t->shape) == 0;
    if (t->length == 0 && !empty)
        return ga__fail_null(GA_ERR_INDEX, "%s: axis %d has no elements", t->name, t->axis);
    if (empty && check_empty(t) != GA_OK)
        return NULL;
    if (out)
        return take_to(t, out);
    gpuarray *made = ga__array_new(t->name, t->x->buffer->device, t->x->dtype, t->ndim, t->shape);
    if (!made || take_into(t, made) == GA_OK)
        return made;
    ga_free(made);
    return NULL;
}

/* One axis of the result. */
static void add_axis(taking *t, int64_t length, int64_t from, int64_t at, int64_t position)
{
    const int k = t->ndim++;
    t->shape[k] = length;
    t->from[k] = from;
    t->at[k] = at;
    t->position[k] = position;
}

/* The axes of the indices in the place of an axis of x; -1: all of x in C order. */
static void lay_out(taking *t, int axis)
{
    const gpuarray *x = t->x, *indices = t->indices;
    int64_t position[GA_MAX_NDIM];
    ga__contiguous_strides(indices->ndim, indices->shape, 1, position);
    for (int k = 0; k < axis; k++)
        add_axis(t, x->shape[k], x->strides[k], 0, 0);
    for (int k = 0; k < indices->ndim; k++)
        add_axis(t, indices->shape[k], 0, indices->strides[k], position[k]);
    for (int k = axis + 1; axis >= 0 && k < x->ndim; k++)
        add_axis(t, x->shape[k], x->strides[k], 0, 0);
}

gpuarray *(ga_take)(size_t size, const ga_take_args *args)
{
    GA__CALL("take");
    ga_take_args known;
    taking t = {.name = "take"};
    int axis = -1;
    if (ga__options_read("take", &known, sizeof known, args, size) != GA_OK ||
        ga__check_indices("take", known.x, known.indices) != GA_OK ||
        ga__one_axis("take", known.naxes, known.axes) != GA_OK ||
        ga__check_mode("take", known.mode) != GA_OK)
        return NULL;
    if (known.naxes == 1 && ga__check_axis("take", known.axes[0], known.x->ndim, &axis) != GA_OK)
        return NULL;
    const int others = axis < 0 ? 0 : known.x->ndim - 1;
    if (known.indices->ndim + others > GA_MAX_NDIM)
        return ga__fail_null(GA_ERR_SHAPE, "take: the result has %d dimensions, more than %d",
                             known.indices->ndim + others, GA_MAX_NDIM);
    t.x = known.x;
    t.indices = known.indices;
    t.mode = known.mode;
    t.axis = axis < 0 ? 0 : axis;
    t.scattered = axis < 0 && !t.x->contiguous;
    t.length = axis < 0 ? t.x->size : t.x->shape[axis];
    t.step = axis < 0 ? 1 : t.x->strides[axis] / (int64_t)ga__dtype_size(t.x->dtype);
    t.before = axis < 0 ? 0 : axis;
    t.repeats = true;
    lay_out(&t, axis);
    return take_from(&t, known.out);
}

/* Lines of the indices beside lines of x: their other axes broadcast. */
static ga_status lay_lines(taking *t, int axis)
{
    const gpuarray *x = t->x, *indices = t->indices;
    int64_t position[GA_MAX_NDIM];
    if (x->ndim != indices->ndim)
        return ga__fail(GA_ERR_SHAPE, "%s: the array has %d dimensions, the indices have %d",
                        t->name, x->ndim, indices->ndim);
    ga__contiguous_strides(indices->ndim, indices->shape, 1, position);
    for (int k = 0; k < x->ndim; k++) {
        const int64_t ours = x->shape[k], theirs = indices->shape[k];
        if (k != axis && ours != theirs && ours != 1 && theirs != 1)
            return ga__fail(GA_ERR_SHAPE, "%s: shapes %s and %s do not broadcast along axis %d",
                            t->name, ga__shape_text(x->ndim, x->shape),
                            ga__shape_text(indices->ndim, indices->shape), k);
        add_axis(t, k == axis || ours == 1 ? theirs : ours,
                 k == axis || ours == 1 ? 0 : x->strides[k],
                 theirs == 1 && k != axis ? 0 : indices->strides[k],
                 theirs == 1 && k != axis ? 0 : position[k]);
    }
    return GA_OK;
}

gpuarray *(ga_take_along_axis)(size_t size, const ga_take_args *args)
{
    GA__CALL("take_along_axis");
    ga_take_args known;
    taking t = {.name = "take_along_axis"};
    int axis = 0;
    if (ga__options_read(t.name, &known, sizeof known, args, size) != GA_OK ||
        ga__check_indices(t.name, known.x, known.indices) != GA_OK ||
        ga__one_axis(t.name, known.naxes, known.axes) != GA_OK ||
        ga__check_mode(t.name, known.mode) != GA_OK)
        return NULL;
    t.indices = known.indices;
    t.mode = known.mode;
    t.x = known.x;
    if (ga__check_axis(t.name, known.naxes == 0 ? -1 : known.axes[0], t.x->ndim, &axis) != GA_OK ||
        lay_lines(&t, axis) != GA_OK)
        return NULL;
    t.axis = axis;
    t.length = t.x->shape[axis];
    t.step = t.x->strides[axis] / (int64_t)ga__dtype_size(t.x->dtype);
    return take_from(&t, known.out);
}
