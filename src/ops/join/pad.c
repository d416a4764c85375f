/* Pads arrays. Modes that take elements are one launch; those that compute go axis by axis. */
#include <quarry/joining.h>
#include <quarry/rank.h>

#include <stdio.h>
#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "model/promote.h"
#include "ops/convert.h"
#include "ops/index/gather.h"
#include "ops/join/join.h"

/* ---- Modes ---- */

/* How a mode finds elements outside: a function of gather.tmpl from a place to an index. */
typedef struct pad_mode {
    const char *name;
    const char *map;                                   /* NULL: it takes no elements, */
    gpuarray *(*fold)(size_t, const ga_reduce_args *); /* but computes them from an axis */
} pad_mode;

static gpuarray *median_of(size_t size, const ga_reduce_args *args)
{
    const ga_median_args median = {
        .x = args->x, .naxes = args->naxes, .axes = args->axes, .keepdims = args->keepdims};
    (void)size;
    return (ga_median)(sizeof median, &median);
}

static const pad_mode modes[] = {
    {.name = "constant"},
    {.name = "edge", .map = "ga::clipped"},
    {.name = "reflect", .map = "ga::reflected"},
    {.name = "symmetric", .map = "ga::mirrored"},
    {.name = "wrap", .map = "ga::wrapped"},
    {.name = "empty"},
    {.name = "linear_ramp"},
    {.name = "maximum", .fold = ga_max},
    {.name = "minimum", .fold = ga_min},
    {.name = "mean", .fold = ga_mean},
    {.name = "median", .fold = median_of},
};

static const pad_mode *find_mode(const char *name)
{
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
        if (strcmp(modes[k].name, name) == 0)
            return &modes[k];
    return ga__fail_null(GA_ERR_INVALID, "pad: unknown mode \"%s\"", name);
}

static bool is_mode(const pad_mode *mode, const char *name)
{
    return strcmp(mode->name, name) == 0;
}

/* ---- One launch ---- */

/* The axes that a kernel pads; others are whole. */
#define MOST_PADDED 8

/* One call: widths before and after each axis. */
typedef struct padding {
    const gpuarray *x;
    const pad_mode *mode;
    int64_t before[GA_MAX_NDIM], after[GA_MAX_NDIM];
    /* Of each side of each axis: the value, and the elements that are folded; 0: all. */
    ga_value value[2 * GA_MAX_NDIM];
    int64_t folded[2 * GA_MAX_NDIM];
    bool several; /* values */
    bool odd;     /* reflection */
} padding;

static bool pads(const padding *p, int axis)
{
    return p->before[axis] > 0 || p->after[axis] > 0;
}

static int64_t padded_length(const padding *p, int axis)
{
    return ga__add_sizes(ga__add_sizes(p->x->shape[axis], p->before[axis]), p->after[axis]);
}

/* "r = x[map(c0, n0) * s0 + ...]", or with a test of all coordinates for a constant. */
static ga_status pad_text(const padding *p, int padded, ga__strbuf *text)
{
    const char *map = p->mode->map;
    ga__strbuf_add(text, "r = ");
    for (int k = 0; k < padded && !map; k++)
        ga__strbuf_addf(text, "%s(unsigned long long)c%d < (unsigned long long)n%d",
                        k > 0 ? " && " : "", k, k);
    ga__strbuf_add(text, map ? "x[0" : " ? x[0");
    for (int k = 0; k < padded; k++)
        if (map)
            ga__strbuf_addf(text, " + %s(c%d, n%d) * s%d", map, k, k, k);
        else
            ga__strbuf_addf(text, " + c%d * s%d", k, k);
    ga__strbuf_add(text, map ? "]" : "] : v");
    return text->failed ? GA_ERR_MEMORY : GA_OK;
}

/* Fills `out`, the part of the result from index start[k] of each axis on. */
static ga_status pad_part(const padding *p, gpuarray *out, const int64_t *start)
{
    static const char letters[] = "cns";
    char names[3 * MOST_PADDED][16];
    const gpuarray *x = p->x;
    int64_t strides[GA_MAX_NDIM];
    ga__lens to, from, coordinate[MOST_PADDED];
    ga__operand operands[3 + 3 * MOST_PADDED];
    ga__strbuf text = GA__STRBUF_INIT;
    int n = 0, padded = 0;
    ga__lens_whole(&to, out);
    operands[n++] = ga__lens_operand("r", &to, GA__VALUE, true);
    for (int axis = 0; axis < x->ndim; axis++) {
        strides[axis] = x->strides[axis];
        if (!pads(p, axis))
            continue;
        char(*name)[16] = &names[3 * padded];
        for (int k = 0; k < 3; k++)
            snprintf(name[k], sizeof *name, "%c%d", letters[k], padded);
        ga__lens_coordinate(&coordinate[padded], out->ndim, out->shape, axis,
                            start[axis] - p->before[axis]);
        operands[n++] = ga__lens_operand(name[0], &coordinate[padded++], GA__COORDINATE, false);
        operands[n++] = ga__integer_operand(name[1], x->shape[axis]);
        operands[n++] =
            ga__integer_operand(name[2], strides[axis] / (int64_t)ga__dtype_size(x->dtype));
        strides[axis] = 0;
    }
    ga__lens_set(&from, x, out->ndim, out->shape, strides, 0);
    operands[n++] = ga__lens_operand("x", &from, GA__PLACED, false);
    ga__operand_set_spans(&operands[n - 1], x);
    if (!p->mode->map)
        operands[n++] = ga__word_operand("v", x->dtype, p->value[0]);
    ga_status status = pad_text(p, padded, &text);
    const uint64_t id = (uint64_t)(p->mode - modes) * GA_MAX_NDIM + (uint64_t)padded;
    const ga__formula formula = {
        .id = GA__FAMILY_ID(GA__FAMILY_PAD, id), .name = "pad", .body = text.text, .moves = true};
    if (status == GA_OK)
        status = ga__elementwise(&formula, out->buffer->device, out->ndim, out->shape, n, operands);
    ga__strbuf_reset(&text);
    return status;
}

/* Where one launch does not move whole vectors: bytes of x from which on its copy and a launch for
 * each side take no longer than one launch, if its rows are so long. */
#define LARGE_PAD ((size_t)16 << 20)
#define LONG_ROW 4096

/* The same on the host, for rows of any length. */
#define LARGE_HOST_PAD ((size_t)32 << 10)

static bool pads_sides(const padding *p, const gpuarray *out)
{
    const int last = out->ndim - 1;
    const bool host = ga__on_host(out->buffer->device);
    return out->ndim > 0 && (host || !ga__moves_in_spans(p->x)) &&
           ga_nbytes(p->x) >= (host ? LARGE_HOST_PAD : LARGE_PAD) &&
           (host || p->x->shape[last] * (int64_t)ga__dtype_size(out->dtype) >= LONG_ROW);
}

/* A part of `out`, whose lengths are `shape`. */
static gpuarray *part_of(const gpuarray *out, const int64_t *start, const int64_t *shape)
{
    int64_t offset = 0;
    for (int k = 0; k < out->ndim; k++)
        offset += start[k] * out->strides[k];
    return ga__array_view(out, out->dtype, out->ndim, shape, out->strides, offset);
}

/* The copy of x in the middle, then both sides of each axis between those of the axes before it. */
static ga_status pad_sides(const padding *p, gpuarray *out)
{
    int64_t start[GA_MAX_NDIM], shape[GA_MAX_NDIM];
    memcpy(start, p->before, sizeof start);
    gpuarray *middle = part_of(out, start, p->x->shape);
    ga_status status = middle ? ga__array_copy_into(middle, p->x) : ga_error();
    ga_free(middle);
    memset(start, 0, sizeof start);
    memcpy(shape, out->shape, sizeof(int64_t) * (size_t)out->ndim);
    for (int axis = 0; axis < out->ndim && status == GA_OK; axis++) {
        for (int side = 0; side < 2 && status == GA_OK; side++) {
            start[axis] = side ? p->before[axis] + p->x->shape[axis] : 0;
            shape[axis] = side ? p->after[axis] : p->before[axis];
            if (shape[axis] == 0)
                continue;
            gpuarray *part = part_of(out, start, shape);
            status = part ? pad_part(p, part, start) : ga_error();
            ga_free(part);
        }
        start[axis] = p->before[axis];
        shape[axis] = p->x->shape[axis];
    }
    return status;
}

static ga_status pad_at_once(const padding *p, gpuarray *out)
{
    static const int64_t start[GA_MAX_NDIM];
    return pads_sides(p, out) ? pad_sides(p, out) : pad_part(p, out, start);
}

/* Several constants: the sides of the last axis have the corners. */
static ga_status pad_constants(const padding *p, gpuarray *out)
{
    int64_t start[GA_MAX_NDIM], shape[GA_MAX_NDIM];
    memcpy(start, p->before, sizeof start);
    memcpy(shape, p->x->shape, sizeof(int64_t) * (size_t)out->ndim);
    gpuarray *middle = part_of(out, start, shape);
    ga_status status = middle ? ga__array_copy_into(middle, p->x) : ga_error();
    ga_free(middle);
    for (int axis = 0; axis < out->ndim && status == GA_OK; axis++) {
        for (int side = 0; side < 2 && status == GA_OK; side++) {
            start[axis] = side ? p->before[axis] + p->x->shape[axis] : 0;
            shape[axis] = side ? p->after[axis] : p->before[axis];
            gpuarray *part = part_of(out, start, shape);
            status = part ? ga__assign("pad", part, p->value[2 * axis + side]) : ga_error();
            ga_free(part);
        }
        start[axis] = 0;
        shape[axis] = out->shape[axis];
    }
    return status;
}

static gpuarray *pad_with_constants(const padding *p)
{
    int64_t shape[GA_MAX_NDIM];
    for (int axis = 0; axis < p->x->ndim; axis++)
        shape[axis] = padded_length(p, axis);
    gpuarray *out = ga__array_new("pad", p->x->buffer->device, p->x->dtype, p->x->ndim, shape);
    if (!out || pad_constants(p, out) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* ---- Axis by axis ---- */

/* The maximum, minimum, mean or median of an axis, in the dtype of x; of integers it is rounded. */
static gpuarray *fold_axis(const padding *p, const gpuarray *x, int axis)
{
    const ga_reduce_args args = {.x = x, .naxes = 1, .axes = &axis, .keepdims = true};
    gpuarray *folded = p->mode->fold(sizeof args, &args);
    const char kind = ga__dtype_kind(x->dtype);
    if (folded && folded->dtype != x->dtype && (kind == 'i' || kind == 'u')) {
        gpuarray *rounded = ga_rint(folded);
        ga_free(folded);
        folded = rounded;
    }
    if (!folded || folded->dtype == x->dtype)
        return folded;
    gpuarray *converted = ga_astype(folded, x->dtype);
    ga_free(folded);
    return converted;
}

/* The steps of a ramp from the value, at the far end, to the edge, which it does not reach. NumPy's
 * linspace: integers round down. */
static gpuarray *ramp(ga_value end, const gpuarray *edge, int axis, int64_t width, bool descending)
{
    int64_t shape[GA_MAX_NDIM];
    const char kind = ga__dtype_kind(edge->dtype);
    const ga_dtype wide = kind == 'c' ? GA_COMPLEX128 : GA_FLOAT64;
    for (int k = 0; k < edge->ndim; k++)
        shape[k] = k == axis ? width : 1;
    gpuarray *made[8] = {NULL};
    made[0] =
        descending ? ga_arange(GA_FLOAT64, width - 1, -1, -1) : ga_arange(GA_FLOAT64, 0, width, 1);
    made[1] = made[0] ? ga_reshape(made[0], edge->ndim, shape) : NULL;
    made[2] = made[1] ? ga_astype(edge, wide) : NULL;
    made[3] = made[2] ? (ga_subtract)(ga_value_array(made[2]), end) : NULL;
    made[4] = made[3] ? ga_divide(made[3], (double)width) : NULL;
    made[5] = made[4] ? ga_multiply(made[1], made[4]) : NULL;
    made[6] = made[5] ? (ga_add)(ga_value_array(made[5]), end) : NULL;
    if (made[6] && (kind == 'i' || kind == 'u'))
        made[7] = ga_floor(made[6]);
    const gpuarray *last = made[7] ? made[7] : made[6];
    gpuarray *out = last && ga_error() == GA_OK ? ga_astype(last, edge->dtype) : NULL;
    for (int k = 0; k < 8; k++)
        ga_free(made[k]);
    return out;
}

/* What goes before x (`side` 0) or after it along the axis. */
static gpuarray *side_of(const padding *p, const gpuarray *x, int axis, int side, int64_t width)
{
    const bool ramps = is_mode(p->mode, "linear_ramp");
    const int64_t length = x->shape[axis], most = ramps ? 1 : p->folded[2 * axis + side],
                  count = most > 0 && most < length ? most : length;
    gpuarray *part = ga__slice_along(x, axis, side ? length - count : 0, count),
             *base = !part   ? NULL
                     : ramps ? ga_retain(part)
                             : fold_axis(p, part, axis),
             *out = NULL;
    ga_free(part);
    if (base)
        out = ramps ? ramp(p->value[2 * axis + side], base, axis, width, side != 0)
                    : ga__repeat_along(base, axis, width);
    ga_free(base);
    return out;
}

gpuarray *ga__pad_join(const gpuarray *x, int axis, gpuarray *const *side, const int64_t *width)
{
    gpuarray *out = NULL;
    if ((side[0] || width[0] == 0) && (side[1] || width[1] == 0)) {
        const gpuarray *const pieces[] = {side[0], x, side[1]};
        const int first = side[0] ? 0 : 1, last = side[1] ? 2 : 1;
        out = ga__join("pad", last - first + 1, pieces + first, axis, GA_NO_DTYPE, NULL);
    }
    ga_free(side[0]);
    ga_free(side[1]);
    return out;
}

static gpuarray *pad_one(const padding *p, const gpuarray *x, int axis)
{
    const int64_t width[] = {p->before[axis], p->after[axis]};
    if (p->odd)
        return ga__pad_odd(x, axis, is_mode(p->mode, "symmetric"), width);
    gpuarray *side[2] = {width[0] > 0 ? side_of(p, x, axis, 0, width[0]) : NULL, NULL};
    if (width[1] > 0 && (side[0] || width[0] == 0))
        side[1] = side_of(p, x, axis, 1, width[1]);
    return ga__pad_join(x, axis, side, width);
}

static gpuarray *pad_in_turn(const padding *p)
{
    gpuarray *x = ga_copy(p->x);
    for (int axis = 0; x && axis < p->x->ndim; axis++) {
        if (!pads(p, axis))
            continue;
        gpuarray *next = pad_one(p, x, axis);
        ga_free(x);
        x = next;
    }
    return x;
}

/* ---- The call ---- */

static ga_status read_widths(const ga_pad_args *args, padding *p)
{
    const int ndim = args->x->ndim, n = args->nwidths;
    if (n < 0 || (n > 0 && !args->widths))
        return ga__fail(GA_ERR_INVALID, "pad: %d widths%s", n,
                        args->widths ? "" : ", but the list is NULL");
    if (n != 1 && n != 2 && n != 2 * ndim)
        return ga__fail(GA_ERR_SHAPE,
                        "pad: %d widths, expected 1, 2 or two for each of %d dimensions", n, ndim);
    for (int axis = 0; axis < ndim; axis++) {
        p->before[axis] = args->widths[n > 2 ? 2 * axis : 0];
        p->after[axis] = args->widths[n > 2 ? 2 * axis + 1 : n - 1];
        if (p->before[axis] < 0 || p->after[axis] < 0)
            return ga__fail(GA_ERR_INVALID,
                            "pad: the widths of axis %d are %lld and %lld, expected at least 0",
                            axis, (long long)p->before[axis], (long long)p->after[axis]);
    }
    return GA_OK;
}

static ga_status check_count(const char *what, int n, int ndim, const void *list)
{
    if (n < 0 || (n > 0 && !list))
        return ga__fail(GA_ERR_INVALID, "pad: %d %s%s", n, what,
                        list ? "" : ", but the list is NULL");
    if (n > 2 && n != 2 * ndim)
        return ga__fail(GA_ERR_SHAPE, "pad: %d %s, expected 1, 2 or two for each of %d dimensions",
                        n, what, ndim);
    return GA_OK;
}

/* The place in a list of n of what goes to a side of an axis. */
static int place_of(int n, int side)
{
    return n > 2 ? side : n > 1 ? side % 2 : 0;
}

static ga_status check_value(ga_value *value, const gpuarray *x, bool unused)
{
    if (value->kind == GA_VALUE_ARRAY && !value->as.array)
        *value = ga_value_signed(GA_INT8, 0);
    if (!ga__is_number(*value))
        return ga__fail(GA_ERR_INVALID,
                        "pad: the value is not a number as GA_PAD_VALUES(2) and GA_V(2) are");
    if (!unused || !ga__dtype_is_struct(x->dtype))
        return ga__check_number("pad", *value, x->dtype);
    *value = (ga_value){0};
    return GA_OK;
}

/* The values and the numbers of folded elements, for each side of each axis. */
static ga_status read_sides(const ga_pad_args *args, padding *p)
{
    const int ndim = args->x->ndim, nvalues = args->nvalues, nlengths = args->nstat_lengths;
    const bool unused = p->mode->map || is_mode(p->mode, "empty");
    ga_status status = check_count("values", nvalues, ndim, args->values);
    if (status == GA_OK)
        status = check_count("stat_lengths", nlengths, ndim, args->stat_lengths);
    p->several = nvalues > 1 && is_mode(p->mode, "constant");
    for (int k = 0; k < (ndim > 0 ? 2 * ndim : 1) && status == GA_OK; k++) {
        p->value[k] = nvalues > 0 ? args->values[place_of(nvalues, k)] : args->value;
        p->folded[k] = nlengths > 0 ? args->stat_lengths[place_of(nlengths, k)] : args->stat_length;
        status = check_value(&p->value[k], args->x, unused);
        if (status == GA_OK && p->folded[k] < 0)
            status = ga__fail(GA_ERR_INVALID, "pad: stat_length %lld is negative",
                              (long long)p->folded[k]);
    }
    return status;
}

static ga_status read_call(const ga_pad_args *args, padding *p)
{
    if (!args->x)
        return ga__fail(GA_ERR_INVALID, "pad: the array is NULL");
    p->x = args->x;
    p->mode = find_mode(args->mode ? args->mode : "constant");
    if (!p->mode || read_widths(args, p) != GA_OK || read_sides(args, p) != GA_OK ||
        ga__reflect_type(args->reflect_type, &p->odd) != GA_OK)
        return ga_error();
    p->odd = p->odd && (is_mode(p->mode, "reflect") || is_mode(p->mode, "symmetric"));
    for (int axis = 0; axis < p->x->ndim; axis++)
        if (p->x->shape[axis] == 0 && pads(p, axis) && !is_mode(p->mode, "constant") &&
            !is_mode(p->mode, "empty"))
            return ga__fail(GA_ERR_SHAPE, "pad: axis %d has no elements for mode \"%s\"", axis,
                            p->mode->name);
    return GA_OK;
}

/* Pads by the same widths, some axes at a time: a kernel has no room for all. */
static gpuarray *pad(const padding *p, int first)
{
    int64_t shape[GA_MAX_NDIM];
    padding some = *p;
    int padded = 0, axis = 0;
    memset(some.before, 0, sizeof some.before);
    memset(some.after, 0, sizeof some.after);
    for (axis = 0; axis < p->x->ndim; axis++) {
        shape[axis] = p->x->shape[axis];
        if (axis < first || !pads(p, axis) || padded == MOST_PADDED)
            continue;
        padded++;
        first = axis + 1;
        some.before[axis] = p->before[axis];
        some.after[axis] = p->after[axis];
        shape[axis] = padded_length(p, axis);
    }
    if (padded == 0)
        return ga_copy(p->x);
    gpuarray *out = ga__array_new("pad", p->x->buffer->device, p->x->dtype, p->x->ndim, shape);
    if (!out)
        return NULL;
    ga_status status = GA_OK;
    if (p->x->size == 0 && !p->mode->map)
        status = ga__fill_elements(out, p->value[0]);
    else if (out->size > 0)
        status = pad_at_once(&some, out);
    if (status != GA_OK) {
        ga_free(out);
        return NULL;
    }
    if (padded < MOST_PADDED)
        return out;
    some = *p;
    some.x = out;
    gpuarray *rest = pad(&some, first);
    ga_free(out);
    return rest;
}

gpuarray *(ga_pad)(size_t size, const ga_pad_args *args)
{
    GA__CALL("pad");
    ga_pad_args known;
    padding p;
    if (ga__options_read("pad", &known, sizeof known, args, size) != GA_OK ||
        read_call(&known, &p) != GA_OK)
        return NULL;
    if (is_mode(p.mode, "linear_ramp") || p.mode->fold || p.odd)
        return pad_in_turn(&p);
    if (p.several)
        return pad_with_constants(&p);
    if (is_mode(p.mode, "empty")) /* whose elements outside are of any value */
        p.mode = &modes[0];
    return pad(&p, 0);
}
