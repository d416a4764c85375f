/* Joins arrays along an axis: in one launch, or, of large pieces, with a copy for each. */
#include "ops/join/join.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "model/promote.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/gather.h"

/* The pieces that one kernel joins: each is an operand, and so is its end. */
#define MOST_PIECES 18

/* From so many bytes on, a copy for each piece takes no longer than one launch for all, if the
 * bytes that follow each other are enough for whole lines of memory. */
#define LARGE_PIECE ((int64_t)1 << 20)
#define LONG_RUN 4096

ga_dtype ga__common_dtype(const char *name, int count, const gpuarray *const *arrays)
{
    ga__operand_type types[GA_DTYPE_COUNT];
    ga_dtype loop[GA_DTYPE_COUNT], common;
    bool met[GA_DTYPE_COUNT] = {false};
    int n = 0;
    for (int k = 0; k < count; k++)
        if (ga__dtype_is_struct(arrays[k]->dtype) || ga__dtype_is_struct(arrays[0]->dtype)) {
            if (ga__check_converts(name, arrays[k]->dtype, arrays[0]->dtype) != GA_OK)
                return GA_NO_DTYPE;
        } else if (!met[arrays[k]->dtype]) {
            met[arrays[k]->dtype] = true;
            types[n++] = (ga__operand_type){.dtype = arrays[k]->dtype};
        }
    if (n <= 1)
        return arrays[0]->dtype;
    return ga__resolve(name, "?iufc", GA__RULE_SAME, n, types, loop, &common) == GA_OK
               ? common
               : GA_NO_DTYPE;
}

/* The part of `out` from `start` on that a piece takes. */
static gpuarray *part_for(const gpuarray *out, const gpuarray *piece, int axis, int64_t start)
{
    return ga__array_view(out, out->dtype, out->ndim, piece->shape, out->strides,
                          piece->size > 0 ? start * out->strides[axis] : 0);
}

static ga_status copy_each(int count, const gpuarray *const *pieces, int axis, gpuarray *out)
{
    ga_status status = GA_OK;
    int64_t start = 0;
    for (int k = 0; k < count && status == GA_OK; k++) {
        gpuarray *part = part_for(out, pieces[k], axis, start);
        status = part ? ga__array_copy_into(part, pieces[k]) : ga_error();
        start += pieces[k]->shape[axis];
        ga_free(part);
    }
    return status;
}

/* "r = c < e0 ? *x0 : c < e1 ? *x1 : *x2": the coordinate says which piece has the element. */
static ga_status join_text(int count, ga__strbuf *text)
{
    ga__strbuf_add(text, "r = ");
    for (int k = 0; k < count - 1; k++)
        ga__strbuf_addf(text, "c < e%d ? *x%d : ", k, k);
    ga__strbuf_addf(text, "*x%d", count - 1);
    return text->failed ? GA_ERR_MEMORY : GA_OK;
}

/* A piece as it lies in the result: its first element is at coordinate `start`. */
static void place_piece(ga__lens *lens, const gpuarray *piece, const gpuarray *out, int axis,
                        int64_t start)
{
    ga__lens_set(lens, piece, out->ndim, out->shape, piece->strides, -start * piece->strides[axis]);
}

/* Joins `count` pieces by one kernel into `out`, which has just their shape. */
static ga_status join_at_once(int count, const gpuarray *const *pieces, int axis, gpuarray *out)
{
    char names[2 * MOST_PIECES][16];
    ga__lens result, coordinate, lenses[MOST_PIECES];
    ga__operand operands[2 + 2 * MOST_PIECES];
    ga__strbuf text = GA__STRBUF_INIT;
    int n = 0;
    int64_t start = 0;
    ga_status status = join_text(count, &text);
    ga__lens_whole(&result, out);
    ga__lens_coordinate(&coordinate, out->ndim, out->shape, axis, 0);
    operands[n++] = ga__lens_operand("r", &result, GA__VALUE, true);
    operands[n++] = ga__lens_operand("c", &coordinate, GA__COORDINATE, false);
    for (int k = 0; k < count; k++) {
        snprintf(names[2 * k], sizeof *names, "x%d", k);
        snprintf(names[2 * k + 1], sizeof *names, "e%d", k);
        place_piece(&lenses[k], pieces[k], out, axis, start);
        start += pieces[k]->shape[axis];
        operands[n++] = ga__lens_operand(names[2 * k], &lenses[k], GA__PLACED, false);
        operands[n++] = ga__integer_operand(names[2 * k + 1], start);
    }
    const ga__formula formula = {.id = GA__FAMILY_ID(GA__FAMILY_CONCATENATE, (unsigned)count),
                                 .name = "concatenate",
                                 .body = text.text};
    if (status == GA_OK)
        status = ga__elementwise(&formula, out->buffer->device, out->ndim, out->shape, n, operands);
    ga__strbuf_reset(&text);
    return status;
}

/* Joins as many pieces at a time as one kernel takes. */
static ga_status join_in_runs(int count, const gpuarray *const *pieces, int axis, gpuarray *out)
{
    ga_status status = GA_OK;
    int64_t shape[GA_MAX_NDIM], start = 0;
    memcpy(shape, out->shape, sizeof(int64_t) * (size_t)out->ndim);
    for (int k = 0; k < count && status == GA_OK; k += MOST_PIECES) {
        const int some = count - k < MOST_PIECES ? count - k : MOST_PIECES;
        shape[axis] = 0;
        for (int j = k; j < k + some; j++)
            shape[axis] += pieces[j]->shape[axis];
        gpuarray *part = ga__array_view(out, out->dtype, out->ndim, shape, out->strides,
                                        start * out->strides[axis]);
        status = part ? join_at_once(some, pieces + k, axis, part) : ga_error();
        start += shape[axis];
        ga_free(part);
    }
    return status;
}

/* Whether all pieces have the dtype of the result, and a copy for each would take longer. */
static bool joins_at_once(int count, const gpuarray *const *pieces, int axis, const gpuarray *out)
{
    int64_t run = (int64_t)ga__dtype_size(out->dtype);
    for (int k = 0; k < count; k++)
        if (pieces[k]->dtype != out->dtype)
            return false;
    if (count == 1)
        return false;
    for (int k = axis; k < out->ndim; k++)
        run *= out->shape[k];
    return (int64_t)ga_nbytes(out) / count < LARGE_PIECE || run / count < LONG_RUN;
}

/* The pieces that have elements; returns how many. */
static int drop_empty(int count, const gpuarray *const *arrays, const gpuarray **pieces)
{
    int n = 0;
    for (int k = 0; k < count; k++)
        if (arrays[k]->size > 0)
            pieces[n++] = arrays[k];
    return n;
}

/* Fills `out`, which no piece overlaps. */
static ga_status fill(int count, const gpuarray *const *arrays, int axis, gpuarray *out)
{
    const gpuarray *pieces[count];
    count = drop_empty(count, arrays, pieces);
    if (count == 0)
        return GA_OK;
    return joins_at_once(count, pieces, axis, out) ? join_in_runs(count, pieces, axis, out)
                                                   : copy_each(count, pieces, axis, out);
}

/* Through a new array if `out` shares memory with a piece or has a layout that pieces overlap. */
static ga_status fill_out(const char *name, int count, const gpuarray *const *arrays, int axis,
                          gpuarray *out)
{
    bool shares = false;
    for (int k = 0; k < count; k++)
        shares = shares || ga__arrays_overlap(out, arrays[k]);
    if (!shares)
        return fill(count, arrays, axis, out);
    gpuarray *made = ga__array_new(name, out->buffer->device, out->dtype, out->ndim, out->shape);
    ga_status status = made ? fill(count, arrays, axis, made) : ga_error();
    if (status == GA_OK)
        status = ga__array_copy_into(out, made);
    ga_free(made);
    return status;
}

gpuarray *ga__join(const char *name, int count, const gpuarray *const *arrays, int axis,
                   gpuarray *out)
{
    const gpuarray *first = arrays[0];
    const ga_dtype dtype = ga__common_dtype(name, count, arrays);
    int64_t shape[GA_MAX_NDIM];
    if (dtype == GA_NO_DTYPE)
        return NULL;
    memcpy(shape, first->shape, sizeof(int64_t) * (size_t)first->ndim);
    for (int k = 1; k < count; k++)
        shape[axis] = ga__add_sizes(shape[axis], arrays[k]->shape[axis]);
    if (out) {
        if (out->buffer->device != first->buffer->device)
            return ga__fail_null(GA_ERR_DEVICE, "%s: operands on %s, out on %s", name,
                                 first->buffer->device->name, out->buffer->device->name);
        if (!ga__same_shape(first->ndim, shape, out->ndim, out->shape))
            return ga__fail_null(GA_ERR_SHAPE, "%s: the result has shape %s, out has %s", name,
                                 ga__shape_text(first->ndim, shape),
                                 ga__shape_text(out->ndim, out->shape));
        if (ga__check_out(name, out, first->ndim, shape, dtype) != GA_OK)
            return NULL;
        return fill_out(name, count, arrays, axis, out) == GA_OK ? out : NULL;
    }
    gpuarray *made = ga__array_new(name, first->buffer->device, dtype, first->ndim, shape);
    if (!made || fill(count, arrays, axis, made) == GA_OK)
        return made;
    ga_free(made);
    return NULL;
}
