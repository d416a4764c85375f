/* Joins arrays along an axis: in one launch, or, of many large pieces, with a copy for each. */
#include "ops/join/join.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "kernels/request.h"
#include "model/promote.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/gather.h"

/* The pieces that one kernel joins: each is an operand, and so are the ends of two. */
#define MOST_PIECES 25

/* From this number of bytes on, a copy for each piece takes no longer than one launch for all, if
 * each run of neighbouring bytes fills whole lines of memory. */
#define LARGE_PIECE ((int64_t)1 << 20)
#define LONG_RUN 4096

/* One launch takes no longer for these pieces, if vectors move from each. */
#define MOST_SPANS 8

/* The same on the host, where a launch takes as long as some hundred elements. */
#define LARGE_HOST_PIECE 512
#define LONG_HOST_RUN 32

/* Bytes of the widest word that a kernel stores, and of elements that are stored as fast singly. */
#define MOST_WORD 16
#define WIDE_ELEMENT 8

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

/* "c < end1 ? c < end0 ? *x0 : *x1 : *x2", of the pieces from `first` on: the coordinate says which
 * one has the element. An operand has the ends of two pieces, 32 bits each; of long axes it has
 * one.
 */
static void choice_text(int first, int count, bool wide, ga__strbuf *text)
{
    const int left = count / 2, last = first + left - 1;
    if (count == 1) {
        ga__strbuf_addf(text, "*x%d", first);
        return;
    }
    ga__strbuf_add(text, "(c < ");
    if (wide)
        ga__strbuf_addf(text, "(long long)e%d", last);
    else
        ga__strbuf_addf(text, "(long long)(e%d >> %d & 0xffffffffu)", last / 2, last % 2 * 32);
    ga__strbuf_add(text, " ? ");
    choice_text(first, left, wide, text);
    ga__strbuf_add(text, " : ");
    choice_text(first + left, count - left, wide, text);
    ga__strbuf_add(text, ")");
}

static ga_status join_text(int count, bool wide, ga__strbuf *text)
{
    ga__strbuf_add(text, "r = ");
    choice_text(0, count, wide, text);
    return text->failed ? GA_ERR_MEMORY : GA_OK;
}

/* A piece as it lies in the result: its first element is at coordinate `start`. */
static void place_piece(ga__lens *lens, const gpuarray *piece, const gpuarray *out, int axis,
                        int64_t start)
{
    ga__lens_set(lens, piece, out->ndim, out->shape, piece->strides, -start * piece->strides[axis]);
}

/* Whether ends need more than 32 bits. */
static bool is_wide(const gpuarray *out, int axis)
{
    return out->shape[axis] > UINT32_MAX;
}

/* The ends of the pieces as operands, after the n others; returns how many there are. */
static int add_ends(int count, const int64_t *end, bool wide, char (*names)[16],
                    ga__operand *operands, int n)
{
    const int each = wide ? 1 : 2;
    for (int k = 0; k < count - 1; k += each) {
        const uint64_t second = each == 2 && k + 1 < count - 1 ? (uint64_t)end[k + 1] << 32 : 0;
        snprintf(names[k], sizeof *names, "e%d", k / each);
        operands[n++] =
            (ga__operand){.name = names[k],
                          .number = ga_value_unsigned(GA_UINT64, (uint64_t)end[k] | second),
                          .type = GA_UINT64,
                          .reads = true};
    }
    return n;
}

/* Whether a kernel on CUDA moves vectors: all but those at the ends of rows and of pieces. */
static bool moves_in_spans(int count, const gpuarray *const *pieces, const gpuarray *out)
{
    if (count > MOST_SPANS || ga__on_host(out->buffer->device) || !out->contiguous ||
        (uintptr_t)out->data % GA__VECTOR_BYTES != 0 || !ga__moves_in_spans(out))
        return false;
    for (int k = 0; k < count; k++)
        if (pieces[k]->dtype != out->dtype || !ga__moves_in_spans(pieces[k]))
            return false;
    return ga__dtype_size(out->dtype) < GA__VECTOR_BYTES;
}

/* Joins `count` pieces by one kernel into `out`, which has just their shape. */
static ga_status join_at_once(int count, const gpuarray *const *pieces, int axis, gpuarray *out)
{
    char names[MOST_PIECES][16], ends[MOST_PIECES][16];
    ga__lens result, coordinate, lenses[MOST_PIECES];
    ga__operand operands[2 + 2 * MOST_PIECES];
    ga__strbuf text = GA__STRBUF_INIT;
    const bool wide = is_wide(out, axis), spans = moves_in_spans(count, pieces, out);
    int64_t end[MOST_PIECES], start = 0;
    int n = 0;
    ga_status status = join_text(count, wide, &text);
    ga__lens_whole(&result, out);
    ga__lens_coordinate(&coordinate, out->ndim, out->shape, axis, 0);
    operands[n++] = ga__lens_operand("r", &result, GA__VALUE, true);
    operands[n++] = ga__lens_operand("c", &coordinate, GA__COORDINATE, false);
    for (int k = 0; k < count; k++) {
        snprintf(names[k], sizeof *names, "x%d", k);
        place_piece(&lenses[k], pieces[k], out, axis, start);
        start = end[k] = start + pieces[k]->shape[axis];
        operands[n++] = ga__lens_operand(names[k], &lenses[k], GA__PLACED, false);
        if (spans)
            ga__operand_set_spans(&operands[n - 1], pieces[k]);
    }
    n = add_ends(count, end, wide, ends, operands, n);
    const ga__formula formula = {
        .id = GA__FAMILY_ID(GA__FAMILY_CONCATENATE, (unsigned)count + (wide ? 256u : 0u)),
        .name = "concatenate",
        .body = text.text,
        .moves = spans};
    if (status == GA_OK)
        status = ga__elementwise(&formula, out->buffer->device, out->ndim, out->shape, n, operands);
    ga__strbuf_reset(&text);
    return status;
}

/* Whether each piece has one element of each stretch of `out`, and together these are a word. */
static bool interleaves(int count, const gpuarray *const *pieces, int axis, const gpuarray *out)
{
    const int64_t size = (int64_t)ga__dtype_size(out->dtype), word = count * size;
    if (axis != out->ndim - 1 || out->shape[axis] != count || out->strides[axis] != size ||
        size >= WIDE_ELEMENT || word > MOST_WORD || (word & (word - 1)) != 0)
        return false;
    int64_t place = (int64_t)(uintptr_t)out->data;
    for (int k = 0; k < axis; k++)
        place |= out->strides[k];
    for (int k = 0; k < count; k++)
        if (pieces[k]->shape[axis] != 1)
            return false;
    return (place & (word - 1)) == 0;
}

/* "w[0] |= x0 << 0 ...": the elements as the bits of a word. */
static ga_status interleave_text(int count, size_t size, ga__strbuf *text)
{
    ga__strbuf_add(text, "unsigned long long w[2] = {0, 0}; ");
    for (size_t k = 0; k < (size_t)count; k++)
        ga__strbuf_addf(text, "w[%zu] |= (unsigned long long)x%zu << %zu; ",
                        k * size / sizeof(uint64_t), k, 8 * (k * size % sizeof(uint64_t)));
    ga__strbuf_add(text, (size_t)count * size > sizeof(uint64_t) ? "GA_MEMCPY(&r, w, sizeof(r))"
                                                                 : "r = w[0]");
    return text->failed ? GA_ERR_MEMORY : GA_OK;
}

/* Each result is a word of an element of each piece. */
static ga_status interleave(int count, const gpuarray *const *pieces, gpuarray *out)
{
    char names[MOST_WORD][16];
    ga__lens result, lenses[MOST_WORD];
    ga__operand operands[1 + MOST_WORD];
    ga__strbuf text = GA__STRBUF_INIT;
    const size_t size = ga__dtype_size(out->dtype);
    ga_status status = interleave_text(count, size, &text);
    ga__lens_whole(&result, out);
    ga__lens_widen(&result, count * (int64_t)size);
    operands[0] = ga__lens_operand("r", &result, GA__VALUE, true);
    for (int k = 0; k < count; k++) {
        snprintf(names[k], sizeof *names, "x%d", k);
        ga__lens_whole(&lenses[k], pieces[k]);
        operands[1 + k] = ga__lens_operand(names[k], &lenses[k], GA__VALUE, false);
    }
    const ga__formula formula = {.id = GA__FAMILY_ID(GA__FAMILY_INTERLEAVE, (unsigned)count),
                                 .name = "interleave",
                                 .body = text.text};
    if (status == GA_OK)
        status = ga__elementwise(&formula, out->buffer->device, out->ndim, pieces[0]->shape,
                                 1 + count, operands);
    ga__strbuf_reset(&text);
    return status;
}

/* Joins as many pieces at a time as one kernel takes. */
static ga_status join_in_runs(int count, const gpuarray *const *pieces, int axis, gpuarray *out)
{
    ga_status status = GA_OK;
    const int most = is_wide(out, axis) ? MOST_PIECES / 2 : MOST_PIECES;
    int64_t shape[GA_MAX_NDIM], start = 0;
    memcpy(shape, out->shape, sizeof(int64_t) * (size_t)out->ndim);
    for (int k = 0; k < count && status == GA_OK; k += most) {
        const int some = count - k < most ? count - k : most;
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
    if (moves_in_spans(count, pieces, out))
        return true;
    for (int k = axis; k < out->ndim; k++)
        run *= out->shape[k];
    const int64_t piece = (int64_t)ga_nbytes(out) / count;
    if (ga__on_host(out->buffer->device))
        return piece < LARGE_HOST_PIECE || run / count < LONG_HOST_RUN;
    return piece < LARGE_PIECE || run / count < LONG_RUN;
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
    if (!joins_at_once(count, pieces, axis, out))
        return copy_each(count, pieces, axis, out);
    return interleaves(count, pieces, axis, out) ? interleave(count, pieces, out)
                                                 : join_in_runs(count, pieces, axis, out);
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

/* The dtype of the result: `given`, to which all arrays cast, or the common one. */
static ga_dtype result_dtype(const char *name, int count, const gpuarray *const *arrays,
                             ga_dtype given)
{
    if (given == GA_NO_DTYPE)
        return ga__common_dtype(name, count, arrays);
    if (!ga__dtype_valid(given)) {
        ga__fail(GA_ERR_DTYPE, "%s: %d is not a dtype", name, (int)given);
        return GA_NO_DTYPE;
    }
    for (int k = 0; k < count; k++)
        if (!ga__can_cast_same_kind(arrays[k]->dtype, given)) {
            ga__fail(GA_ERR_DTYPE, "%s: array %d is %s and does not cast to %s", name, k + 1,
                     ga_dtype_name(arrays[k]->dtype), ga_dtype_name(given));
            return GA_NO_DTYPE;
        }
    return given;
}

gpuarray *ga__join(const char *name, int count, const gpuarray *const *arrays, int axis,
                   ga_dtype given, gpuarray *out)
{
    const gpuarray *first = arrays[0];
    int64_t shape[GA_MAX_NDIM];
    if (given != GA_NO_DTYPE && out)
        return ga__fail_null(GA_ERR_INVALID, "%s: both .dtype and .out are given", name);
    const ga_dtype dtype = result_dtype(name, count, arrays, given);
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
