/* Repeats elements: tiles, counts, rolls. */
#include <quarry/joining.h>

#include <stdio.h>
#include <string.h>

#include <quarry/histogram.h>
#include <quarry/indexing.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "ops/convert.h"
#include "ops/index/gather.h"
#include "ops/join/join.h"
#include "ops/scan/take_number.h"

/* ---- Tiles ---- */

/* Copies that one kernel stores. */
#define MOST_TILES 8
#define LEAST_TILE (1 << 16) /* bytes */

/* Stores x into the tiles number `first` to first + count - 1 of `out`. */
static ga_status store_some(const gpuarray *x, const int64_t *outer, gpuarray *out, int64_t first,
                            int count)
{
    char names[MOST_TILES][16];
    ga__lens from, to[MOST_TILES];
    ga__operand operands[MOST_TILES + 1];
    ga__strbuf text = GA__STRBUF_INIT;
    for (int j = 0; j < count; j++) {
        int64_t rest = first + j, offset = 0;
        for (int k = x->ndim - 1; k >= 0; rest /= outer[k--])
            offset += rest % outer[k] * x->shape[k] * out->strides[k];
        snprintf(names[j], sizeof *names, "r%d", j);
        ga__lens_set(&to[j], out, x->ndim, x->shape, out->strides, offset);
        operands[j] = ga__lens_operand(names[j], &to[j], GA__VALUE, true);
        ga__strbuf_addf(&text, "r%d = a; ", j);
    }
    ga__lens_whole(&from, x);
    operands[count] = ga__lens_operand("a", &from, GA__VALUE, false);
    const ga__formula formula = {
        .id = GA__FAMILY_ID(GA__FAMILY_TILE, (unsigned)count), .name = "tile", .body = text.text};
    const ga_status status = text.failed ? GA_ERR_MEMORY
                                         : ga__elementwise(&formula, x->buffer->device, x->ndim,
                                                           x->shape, count + 1, operands);
    ga__strbuf_reset(&text);
    return status;
}

static ga_status store_tiles(const gpuarray *x, const int64_t *outer, gpuarray *out)
{
    const int64_t tiles = out->size / x->size;
    ga_status status = GA_OK;
    for (int64_t k = 0; k < tiles && status == GA_OK; k += MOST_TILES)
        status =
            store_some(x, outer, out, k, (int)(tiles - k < MOST_TILES ? tiles - k : MOST_TILES));
    return status;
}

/* Whether tiles are whole copies of an array that a GPU's cache does not keep from one to the next:
 * then each element is read once for several. */
static bool stores_tiles(const gpuarray *x, const gpuarray *out, const int64_t *inner)
{
    const ga__device *device = x->buffer->device;
    for (int k = 0; k < x->ndim; k++)
        if (inner[k] != 1)
            return false;
    return !ga__on_host(device) && out->size > x->size && ga_nbytes(x) > device->cache_bytes / 2 &&
           ga_nbytes(x) >= LEAST_TILE;
}

/* Copies x to each of its places in `out`: an axis becomes up to three, of repetitions as a whole,
 * elements, and repetitions of an element. */
static ga_status copy_repeated(const char *name, const gpuarray *x, const int64_t *outer,
                               const int64_t *inner, gpuarray *out)
{
    int64_t to[3 * GA_MAX_NDIM], from[3 * GA_MAX_NDIM], lengths[3 * GA_MAX_NDIM];
    int n = 0;
    for (int k = 0; k < x->ndim; k++) {
        const int64_t each[] = {outer[k], x->shape[k], inner[k]};
        for (int j = 0; j < 3; j++) {
            if (each[j] == 1)
                continue;
            lengths[n] = each[j];
            from[n] = j == 1 ? x->strides[k] : 0;
            to[n++] = out->strides[k] * (j == 0 ? x->shape[k] * inner[k] : j == 1 ? inner[k] : 1);
        }
    }
    if (n > GA_MAX_NDIM)
        return ga__fail(GA_ERR_UNSUPPORTED, "%s: %d axes and repetitions together, more than %d",
                        name, n, GA_MAX_NDIM);
    gpuarray *source = ga__array_view(x, x->dtype, n, lengths, from, 0),
             *target = source ? ga__array_view(out, out->dtype, n, lengths, to, 0) : NULL;
    const ga_status status = target ? ga__array_copy_into(target, source) : ga_error();
    ga_free(source);
    ga_free(target);
    return status;
}

/* A copy of x in which axis k is repeated outer[k] times as a whole and each of its elements
 * inner[k] times. */
static gpuarray *repeated(const char *name, const gpuarray *x, const int64_t *outer,
                          const int64_t *inner)
{
    int64_t shape[GA_MAX_NDIM];
    for (int k = 0; k < x->ndim; k++)
        if (__builtin_mul_overflow(x->shape[k], outer[k], &shape[k]) ||
            __builtin_mul_overflow(shape[k], inner[k], &shape[k]))
            return ga__fail_null(GA_ERR_SHAPE,
                                 "%s: axis %d of shape %s would be longer than 2^63 - 1", name, k,
                                 ga__shape_text(x->ndim, x->shape));
    gpuarray *out = ga__array_new(name, x->buffer->device, x->dtype, x->ndim, shape);
    if (!out || out->size == 0)
        return out;
    const ga_status status = stores_tiles(x, out, inner)
                                 ? store_tiles(x, outer, out)
                                 : copy_repeated(name, x, outer, inner, out);
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *(ga_tile)(const gpuarray *x, int nreps, const int64_t *reps)
{
    GA__CALL("tile");
    int64_t outer[GA_MAX_NDIM], ones[GA_MAX_NDIM], shape[GA_MAX_NDIM];
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "tile: the array is NULL");
    if (nreps < 0 || nreps > GA_MAX_NDIM || (nreps > 0 && !reps))
        return ga__fail_null(GA_ERR_INVALID, "tile: %d repetitions, expected 0 to %d%s", nreps,
                             GA_MAX_NDIM, reps ? "" : ", and the list is NULL");
    const int ndim = nreps > x->ndim ? nreps : x->ndim;
    for (int k = 0; k < ndim; k++) {
        outer[k] = k < ndim - nreps ? 1 : reps[k - (ndim - nreps)];
        shape[k] = k < ndim - x->ndim ? 1 : x->shape[k - (ndim - x->ndim)];
        ones[k] = 1;
        if (outer[k] < 0)
            return ga__fail_null(GA_ERR_INVALID, "tile: the repetition %lld is negative",
                                 (long long)outer[k]);
    }
    gpuarray *view = ga_reshape(x, ndim, shape),
             *out = view ? repeated("tile", view, outer, ones) : NULL;
    ga_free(view);
    return out;
}

/* ---- Counts ---- */

static gpuarray *repeat_number(const gpuarray *x, int axis, int64_t count)
{
    int64_t ones[GA_MAX_NDIM], inner[GA_MAX_NDIM];
    for (int k = 0; k < x->ndim; k++)
        ones[k] = inner[k] = 1;
    inner[axis] = count;
    return repeated("repeat", x, ones, inner);
}

/* The element that each element of the result repeats: the first one whose count reaches it. */
static gpuarray *repeated_indices(const gpuarray *counts)
{
    int64_t total = 0, least = 0;
    if (counts->size == 0)
        return ga_empty(GA_INT64, GA_SHAPE(0));
    if (ga__take_number(ga_min(counts), &least) != GA_OK)
        return NULL;
    if (least < 0)
        return ga__fail_null(GA_ERR_INVALID, "repeat: the count %lld is negative",
                             (long long)least);
    gpuarray *ends = ga_cumsum(counts, .dtype = GA_INT64), *places = NULL, *indices = NULL;
    if (ends && ga__take_number(ga_max(ends), &total) == GA_OK)
        places = ga_arange(GA_INT64, 0, total, 1);
    if (places)
        indices = ga_searchsorted(ends, places, .side_right = true);
    ga_free(ends);
    ga_free(places);
    return indices;
}

static gpuarray *repeat_array(const gpuarray *x, int axis, const gpuarray *counts)
{
    const char kind = ga__dtype_kind(counts->dtype);
    if (counts->buffer->device != x->buffer->device)
        return ga__fail_null(GA_ERR_DEVICE, "repeat: the array is on %s, the counts on %s",
                             x->buffer->device->name, counts->buffer->device->name);
    if (kind != 'i' && kind != 'u' && kind != 'b')
        return ga__fail_null(GA_ERR_DTYPE, "repeat: the counts are %s, expected integers",
                             ga_dtype_name(counts->dtype));
    if (counts->ndim > 1 || (counts->size != 1 && counts->size != x->shape[axis]))
        return ga__fail_null(
            GA_ERR_SHAPE, "repeat: the counts have shape %s, axis %d has length %lld",
            ga__shape_text(counts->ndim, counts->shape), axis, (long long)x->shape[axis]);
    if (!ga__not_recording("repeat"))
        return NULL;
    gpuarray *all = ga_broadcast_to(counts, 1, &x->shape[axis]),
             *wide = all ? ga_astype(all, GA_INT64) : NULL,
             *indices = wide ? repeated_indices(wide) : NULL, *out = NULL;
    if (indices)
        out = ga_take(x, indices, GA_AXIS(axis));
    ga_free(all);
    ga_free(wide);
    ga_free(indices);
    return out;
}

static gpuarray *repeat(const gpuarray *x, int axis, ga_value counts)
{
    int found;
    if (ga__check_axis("repeat", axis, x->ndim, &found) != GA_OK)
        return NULL;
    if (counts.kind == GA_VALUE_ARRAY)
        return counts.as.array
                   ? repeat_array(x, found, counts.as.array)
                   : ga__fail_null(GA_ERR_INVALID, "repeat: the counts are a NULL array");
    const char kind = counts.kind == GA_VALUE_NUMBER ? ga__dtype_kind(counts.dtype) : '-';
    if (kind != 'i' && kind != 'u' && kind != 'b')
        return ga__fail_null(GA_ERR_DTYPE, "repeat: the count is not an integer");
    const int64_t count = ga__number_int64(counts);
    return count < 0 ? ga__fail_null(GA_ERR_INVALID, "repeat: the count %lld is negative",
                                     (long long)count)
                     : repeat_number(x, found, count);
}

gpuarray *(ga_repeat)(size_t size, const ga_repeat_args *args)
{
    GA__CALL("repeat");
    ga_repeat_args known;
    if (ga__options_read("repeat", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    if (!known.x)
        return ga__fail_null(GA_ERR_INVALID, "repeat: the array is NULL");
    if (ga__one_axis("repeat", known.naxes, known.axes) != GA_OK)
        return NULL;
    if (known.naxes == 1)
        return repeat(known.x, known.axes[0], known.counts);
    gpuarray *flat = ga_ravel(known.x), *out = flat ? repeat(flat, 0, known.counts) : NULL;
    ga_free(flat);
    return out;
}

/* ---- Rolls ---- */

/* "r = x[(c0 < s0 ? a0 : b0) + ...]": per rolled axis, how far an element comes from. */
static ga_status roll_text(int naxes, ga__strbuf *text)
{
    ga__strbuf_add(text, "r = x[0");
    for (int k = 0; k < naxes; k++)
        ga__strbuf_addf(text, " + (c%d < s%d ? a%d : b%d)", k, k, k, k);
    ga__strbuf_add(text, "]");
    return text->failed ? GA_ERR_MEMORY : GA_OK;
}

#define MOST_ROLLED 8

/* Rolls the axes for which shift, from 0 to the length, is not 0: at most MOST_ROLLED. */
static ga_status roll_into(gpuarray *out, const gpuarray *x, const int64_t *shift)
{
    static const char letters[] = "csab";
    char names[4 * MOST_ROLLED][16];
    ga__lens to, from, coordinate[MOST_ROLLED];
    ga__operand operands[2 + 4 * MOST_ROLLED];
    ga__strbuf text = GA__STRBUF_INIT;
    int n = 2, rolled = 0;
    ga__lens_whole(&to, out);
    ga__lens_whole(&from, x);
    operands[0] = ga__lens_operand("r", &to, GA__VALUE, true);
    operands[1] = ga__lens_operand("x", &from, GA__PLACED, false);
    ga__operand_set_spans(&operands[1], x);
    for (int axis = 0; axis < x->ndim; axis++) {
        if (shift[axis] == 0)
            continue;
        char(*name)[16] = &names[4 * rolled];
        const int64_t stride = x->strides[axis] / (int64_t)ga__dtype_size(x->dtype);
        for (int k = 0; k < 4; k++)
            snprintf(name[k], sizeof *name, "%c%d", letters[k], rolled);
        ga__lens_coordinate(&coordinate[rolled], x->ndim, x->shape, axis, 0);
        operands[n++] = ga__lens_operand(name[0], &coordinate[rolled], GA__COORDINATE, false);
        operands[n++] = ga__integer_operand(name[1], shift[axis]);
        operands[n++] = ga__integer_operand(name[2], (x->shape[axis] - shift[axis]) * stride);
        operands[n++] = ga__integer_operand(name[3], -shift[axis] * stride);
        rolled++;
    }
    ga_status status = roll_text(rolled, &text);
    const ga__formula formula = {.id = GA__FAMILY_ID(GA__FAMILY_ROLL, (unsigned)rolled),
                                 .name = "roll",
                                 .body = text.text,
                                 .moves = true};
    if (status == GA_OK)
        status = ga__elementwise(&formula, x->buffer->device, x->ndim, x->shape, n, operands);
    ga__strbuf_reset(&text);
    return status;
}

/* The shifts of at most MOST_ROLLED axes, which leave *shift. */
static int some_shifts(int ndim, int64_t *shift, int64_t *some)
{
    int rolled = 0;
    for (int axis = 0; axis < ndim; axis++) {
        some[axis] = rolled < MOST_ROLLED ? shift[axis] : 0;
        rolled += some[axis] != 0;
        shift[axis] -= some[axis];
    }
    return rolled;
}

static gpuarray *part_of(const gpuarray *x, int axis, int64_t start, int64_t count)
{
    int64_t shape[GA_MAX_NDIM];
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[axis] = count;
    return ga__array_view(x, x->dtype, x->ndim, shape, x->strides, start * x->strides[axis]);
}

/* The end of one axis, and then its beginning: large parts move in whole vectors. */
static gpuarray *roll_one(const gpuarray *x, int axis, int64_t shift)
{
    const int64_t stay = x->shape[axis] - shift;
    gpuarray *end = part_of(x, axis, stay, shift), *begin = end ? part_of(x, axis, 0, stay) : NULL;
    const gpuarray *const parts[] = {end, begin};
    gpuarray *out = begin ? ga__join("roll", 2, parts, axis, GA_NO_DTYPE, NULL) : NULL;
    ga_free(end);
    ga_free(begin);
    return out;
}

/* Bytes of the result from which on copies of its blocks take no longer than one launch. */
#define LARGE_ROLL ((size_t)16 << 20)
#define LARGE_HOST_ROLL ((size_t)4 << 10)

/* Each block of x that moves as a whole, at most 2 along each axis: bit `axis` of `ends` says which
 * of them. */
static ga_status copy_block(gpuarray *out, const gpuarray *x, const int64_t *shift, unsigned ends)
{
    int64_t shape[GA_MAX_NDIM], from = 0, to = 0;
    for (int k = 0; k < x->ndim; k++) {
        const bool end = ends >> k & 1;
        const int64_t stay = x->shape[k] - shift[k];
        shape[k] = end ? shift[k] : stay;
        from += (end ? stay : 0) * x->strides[k];
        to += (end ? 0 : shift[k]) * out->strides[k];
    }
    if (ga__shape_size(x->ndim, shape) == 0)
        return GA_OK;
    gpuarray *source = ga__array_view(x, x->dtype, x->ndim, shape, x->strides, from),
             *target =
                 source ? ga__array_view(out, x->dtype, x->ndim, shape, out->strides, to) : NULL;
    const ga_status status = target ? ga__array_copy_into(target, source) : ga_error();
    ga_free(source);
    ga_free(target);
    return status;
}

/* NULL on failure. */
static gpuarray *roll_blocks(const gpuarray *x, const int64_t *shift)
{
    unsigned rolled = 0;
    for (int k = 0; k < x->ndim; k++)
        rolled |= (unsigned)(shift[k] != 0) << k;
    gpuarray *out = ga__array_new("roll", x->buffer->device, x->dtype, x->ndim, x->shape);
    ga_status status = out ? GA_OK : ga_error();
    for (unsigned ends = rolled;; ends = (ends - 1) & rolled) {
        if (status == GA_OK)
            status = copy_block(out, x, shift, ends);
        if (ends == 0 || status != GA_OK)
            break;
    }
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

static gpuarray *roll(const gpuarray *x, int64_t *shift)
{
    const bool host = ga__on_host(x->buffer->device), spans = !host && ga__moves_in_spans(x);
    int64_t some[GA_MAX_NDIM];
    int rolled = 0, axis = 0;
    for (int k = 0; k < x->ndim; k++)
        if (shift[k] != 0) {
            rolled++;
            axis = k;
        }
    if (x->size > 0 && rolled == 1 && (axis == 0 || !spans))
        return roll_one(x, axis, shift[axis]);
    if (rolled == 2 && !spans && ga_nbytes(x) >= (host ? LARGE_HOST_ROLL : LARGE_ROLL))
        return roll_blocks(x, shift);
    if (x->size == 0 || some_shifts(x->ndim, shift, some) == 0)
        return ga_copy(x);
    gpuarray *out = ga__array_new("roll", x->buffer->device, x->dtype, x->ndim, x->shape);
    if (out && roll_into(out, x, some) != GA_OK) {
        ga_free(out);
        return NULL;
    }
    bool more = false;
    for (int k = 0; k < x->ndim; k++)
        more = more || shift[k] != 0;
    if (!out || !more)
        return out;
    gpuarray *rest = roll(out, shift);
    ga_free(out);
    return rest;
}

gpuarray *ga_roll_axes(const gpuarray *x, int n, const int64_t *shifts, const int *axes)
{
    GA__CALL("roll_axes");
    int64_t shift[GA_MAX_NDIM] = {0};
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "roll: the array is NULL");
    if (n < 0 || (n > 0 && (!shifts || !axes)))
        return ga__fail_null(GA_ERR_INVALID, "roll: %d axes, and a list is NULL", n);
    for (int k = 0; k < n; k++) {
        int axis;
        if (ga__check_axis("roll", axes[k], x->ndim, &axis) != GA_OK)
            return NULL;
        const int64_t length = x->shape[axis];
        if (length > 0)
            shift[axis] = (shift[axis] + (shifts[k] % length + length) % length) % length;
    }
    return roll(x, shift);
}

static gpuarray *roll_flat(const gpuarray *x, int64_t shift)
{
    const int axis = 0;
    gpuarray *flat = ga_ravel(x), *rolled = flat ? ga_roll_axes(flat, 1, &shift, &axis) : NULL,
             *out = rolled ? ga_reshape(rolled, x->ndim, x->shape) : NULL;
    ga_free(flat);
    ga_free(rolled);
    return out;
}

gpuarray *(ga_roll)(size_t size, const ga_roll_args *args)
{
    GA__CALL("roll");
    ga_roll_args known;
    int64_t shifts[GA_MAX_NDIM];
    if (ga__options_read("roll", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    if (!known.x)
        return ga__fail_null(GA_ERR_INVALID, "roll: the array is NULL");
    if (known.naxes == 0)
        return roll_flat(known.x, known.shift);
    if (known.naxes > GA_MAX_NDIM)
        return ga__fail_null(GA_ERR_INVALID, "roll: %d axes, more than %d", known.naxes,
                             GA_MAX_NDIM);
    for (int k = 0; k < known.naxes; k++)
        shifts[k] = known.shift;
    return ga_roll_axes(known.x, known.naxes == GA_NO_AXES ? 0 : known.naxes, shifts, known.axes);
}
