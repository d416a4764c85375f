/* Reductions of segments: a scan that starts anew at each offset and stores each segment's last
 * accumulator. */
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "kernels/scan/scan.h"
#include "ops/convert.h"
#include "ops/functions/masked.h"
#include "ops/reduction_op.h"
#include "ops/scan/scan_starts.h"
#include "ops/scan/take_number.h"

/* One reduction: x with the axis last, contiguous, as rows of n elements. */
typedef struct call {
    const char *name;
    const ga__row *op;
    const ga_reduce_args *args;
    int axis;
    int64_t n, rows, segments;
    ga_dtype loop, result;
    int64_t shape[GA_MAX_NDIM]; /* of the result, whose axis has the segments */
} call;

static ga_status find_axis(call *c)
{
    const ga_reduce_args *args = c->args;
    const int ndim = args->x->ndim;
    c->axis = 0;
    const ga_status status = ga__one_axis(c->name, args->naxes, args->axes);
    if (status != GA_OK)
        return status;
    if (args->naxes == 0 && ndim > 1)
        return ga__fail(GA_ERR_INVALID, "%s: segments of an array of %d dimensions need an axis",
                        c->name, ndim);
    if (ndim == 0)
        return ga__fail(GA_ERR_INVALID, "%s: a 0-d array has no segments", c->name);
    return args->naxes ? ga__check_axis(c->name, args->axes[0], ndim, &c->axis) : GA_OK;
}

/* Accumulators of several numbers merge one after another along a segment. Doubles keep the error
 * of floats small at any length. */
static ga_dtype merged_in(const ga__part_formula *part, ga_dtype loop)
{
    if (!part->rounds || part->holds != GA__ACCUMULATOR_COUNTED || !ga__dtype_rounds(loop))
        return loop;
    return ga__dtype_kind(loop) == 'c' ? GA_COMPLEX128 : GA_FLOAT64;
}

static ga_status find_dtypes(call *c)
{
    const ga__operand_type type = {.dtype = c->args->x->dtype};
    ga_dtype common;
    ga_status status = ga__resolve(c->name, c->op->kinds, c->op->rule, 1, &type, &c->loop, &common);
    if (status == GA_OK)
        status = ga__reduce_as(c->op, c->args->x->dtype, c->args->dtype, &c->loop);
    c->result = ga__result_dtype(c->op->result, c->loop);
    c->loop = merged_in(&c->op->part, c->loop);
    return status;
}

static ga_status prepare(call *c)
{
    const gpuarray *x = c->args->x, *offsets = c->args->offsets;
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: the operand is NULL", c->name);
    if (c->op->part.uses_index)
        return ga__fail(GA_ERR_UNSUPPORTED, "%s: takes no offsets", c->name);
    if (c->args->where || ga__has_initial(c->args))
        return ga__fail(GA_ERR_UNSUPPORTED, "%s: offsets cannot be combined with where or initial",
                        c->name);
    ga_status status = find_axis(c);
    if (status == GA_OK)
        status = find_dtypes(c);
    if (status != GA_OK)
        return status;
    if (offsets->ndim != 1 || offsets->size == 0)
        return ga__fail(GA_ERR_SHAPE, "%s: offsets: shape %s has no segments", c->name,
                        ga__shape_text(offsets->ndim, offsets->shape));
    memcpy(c->shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    c->n = x->shape[c->axis];
    c->rows = c->n > 0 ? x->size / c->n : 0;
    c->segments = c->shape[c->axis] = offsets->size - 1;
    status = ga__check_starts(c->name, x->buffer->device, offsets);
    return status == GA_OK && c->args->out
               ? ga__check_reduced_out(c->name, x, c->result, x->ndim, c->shape, c->args->out)
               : status;
}

static call call_of(ga__row_id row, const ga_reduce_args *args)
{
    return (call){.name = ga__rows[row].formula.name, .op = &ga__rows[row], .args = args};
}

ga_status ga__check_segments(ga__row_id row, const ga_reduce_args *args)
{
    call c = call_of(row, args);
    return prepare(&c);
}

/* The axis last, or back in its place. */
static gpuarray *with_axis(const gpuarray *x, int from, int to)
{
    int axes[GA_MAX_NDIM], count = 0;
    for (int k = 0; k < x->ndim; k++)
        if (k != from)
            axes[count++] = k;
    memmove(axes + to + 1, axes + to, sizeof(int) * (size_t)(count - to));
    axes[to] = from;
    return ga_transpose_axes(x, x->ndim, axes);
}

/* Every result as of no elements. */
static ga_status fill(const call *c, gpuarray *to)
{
    const bool reduced = true;
    const int64_t none = 0;
    ga__reduction r = ga__reduction_of((ga__row_id)(c->op - ga__rows), "return {x}", c->loop,
                                       c->args->ddof + c->args->correction);
    ga__device *device = to->buffer->device;
    gpuarray *nothing = ga__array_new(c->name, device, c->loop, 1, &none);
    gpuarray *one = nothing ? ga__array_new(c->name, device, c->result, 0, NULL) : NULL;
    const ga__operand operand = {.name = "x", .array = nothing, .type = c->loop, .reads = true};
    r.formula.maps_nothing = true;
    ga_status status =
        one ? ga__reduce(&r, device, 1, &none, &reduced, 1, &operand, &one) : ga_error();
    if (status == GA_OK)
        status = (ga_assign)(to, ga_value_array(one));
    ga_free(one);
    ga_free(nothing);
    return status;
}

/* The step as a lift of one element, and the finish as a store by the last element of a segment:
 * the last offset up to it begins the segment. */
#define LIFT                                                                                       \
    "[&]() -> ga_scan::A { typedef long long I; const ga_scan::A a = %s; (void)sizeof(I); "        \
    "return %s; }()"
#define BODY                                                                                       \
    "const auto k = (long long)i %% m;\n"                                                          \
    "if (k + 1 == m || start[k + 1]) {\n"                                                          \
    "    long long low = -1, high = s;\n"                                                          \
    "    while (high - low > 1) {\n"                                                               \
    "        const long long middle = low + (high - low) / 2;\n"                                   \
    "        (offset[middle] <= k ? low : high) = middle;\n"                                       \
    "    }\n"                                                                                      \
    "    if (low >= 0 && k < offset[s]) {\n"                                                       \
    "        typedef ga_scan::T T;\n"                                                              \
    "        const ga_scan::A &a = item;\n"                                                        \
    "        const long long count = k + 1 - offset[low];\n"                                       \
    "        (void)count; (void)sizeof(T);\n"                                                      \
    "        r[(long long)i / m * s + low] = ga::cast<%s>(%s);\n"                                  \
    "    }\n"                                                                                      \
    "}"

/* The accumulator's type, with a type for I, the type of indices. */
static const char *accumulator_of(const ga__part_formula *part)
{
    static const char *const indexed[][2] = {
        {"ga::moments<T, I>", "ga::moments<T, long long>"},
        {"ga::number_moments<T, I>", "ga::number_moments<T, long long>"}};
    for (size_t k = 0; k < sizeof indexed / sizeof *indexed; k++)
        if (strcmp(part->accumulator, indexed[k][0]) == 0)
            return indexed[k][1];
    return part->accumulator;
}

static ga__operand indexed(const char *name, const gpuarray *array, ga_dtype type, bool writes)
{
    return (ga__operand){.name = name,
                         .array = array,
                         .type = type,
                         .access = GA__ACCESSOR,
                         .reads = !writes,
                         .writes = writes};
}

/* Scans x, rows of n elements in C order, into `to`, rows of segments. */
static ga_status scan(const call *c, const gpuarray *x, const gpuarray *starts, gpuarray *to)
{
    const ga__part_formula *part = &c->op->part;
    const double ddof = c->args->ddof + c->args->correction;
    const int64_t size = c->rows * c->n;
    ga__strbuf lift = GA__STRBUF_INIT, body = GA__STRBUF_INIT;
    ga__strbuf_addf(&lift, LIFT, part->neutral, part->step);
    ga__strbuf_addf(&body, BODY, ga__dtype_compute_type(c->result), part->finish);
    char *const lifts = ga__strbuf_take(&lift), *const stores = ga__strbuf_take(&body);
    const ga__scan_texts texts = {.accumulator = accumulator_of(part),
                                  .neutral = part->neutral,
                                  .lift = lifts,
                                  .combine = part->combine,
                                  .finish = "a",
                                  .values = part->holds == GA__ACCUMULATOR_VALUE     ? 1
                                            : part->holds == GA__ACCUMULATOR_COUNTED ? 4
                                                                                     : 8,
                                  .sums = part->rounds && part->holds == GA__ACCUMULATOR_VALUE};
    const ga__scan described = {
        .formula = {.base = {.id = GA__FAMILY_ID(GA__FAMILY_SEGMENTS, (uint64_t)(c->op - ga__rows)),
                             .name = c->name,
                             .body = stores},
                    .map = "return {x}",
                    .texts = &texts,
                    .starts = "(long long)i % m == 0 || start[(long long)i % m]"},
        .type = c->loop};
    const ga__operand operands[] = {
        indexed("r", to, c->result, true),
        {.name = "x", .array = x, .type = c->loop, .reads = true},
        indexed("start", starts, GA_BOOL, false),
        indexed("offset", c->args->offsets, GA_INT64, false),
        ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, c->n)),
        ga__number_operand("s", GA_INT64, ga_value_signed(GA_INT64, c->segments)),
        ga__number_operand("ddof", GA_FLOAT64, ga_value_double(ddof))};
    const ga_status status =
        lifts && stores ? ga__scan_run(&described, to->buffer->device, 1, &size, 0, 7, operands)
                        : GA_ERR_MEMORY;
    ga__free(lifts);
    ga__free(stores);
    return status;
}

/* Waits: a decreasing offset would make a segment of less than nothing. */
static ga_status check_order(const call *c)
{
    const gpuarray *offsets = c->args->offsets;
    int64_t wrong = 0;
    if (ga__recording() || offsets->size < 2)
        return GA_OK;
    gpuarray *before = ga_slice(offsets, ":-1"), *after = ga_slice(offsets, "1:");
    gpuarray *falls =
        before && after ? (ga_less)(ga_value_array(after), ga_value_array(before)) : NULL;
    const ga_reduce_args all = {.x = falls};
    const ga_status status =
        falls ? ga__take_number((ga_count_nonzero)(sizeof all, &all), &wrong) : ga_error();
    ga_free(falls);
    ga_free(after);
    ga_free(before);
    if (status == GA_OK && wrong > 0)
        return ga__fail(GA_ERR_INVALID, "%s: offsets: %" PRId64 " of them decrease", c->name,
                        wrong);
    return status;
}

/* Into `to`, of the result's dtype, with the axis last and contiguous. */
static ga_status run(const call *c, gpuarray *to)
{
    const gpuarray *x = c->args->x;
    gpuarray *starts =
        ga__scan_starts(c->name, x->buffer->device, c->args->offsets, c->n, false, 0);
    gpuarray *moved = starts ? with_axis(x, c->axis, x->ndim - 1) : NULL;
    gpuarray *rows = moved ? ga_ravel(moved) : NULL;
    ga_status status = rows ? check_order(c) : ga_error();
    if (status == GA_OK && to->size > 0)
        status = fill(c, to);
    if (status == GA_OK && to->size > 0 && rows->size > 0)
        status = scan(c, rows, starts, to);
    ga_free(rows);
    ga_free(moved);
    ga_free(starts);
    return status;
}

gpuarray *ga__reduce_segments(ga__row_id row, const ga_reduce_args *args)
{
    call c = call_of(row, args);
    int64_t shape[GA_MAX_NDIM];
    if (prepare(&c) != GA_OK)
        return NULL;
    const int ndim = args->x->ndim, last = ndim - 1;
    memcpy(shape, c.shape, sizeof shape);
    memmove(shape + c.axis, shape + c.axis + 1, sizeof(int64_t) * (size_t)(last - c.axis));
    shape[last] = c.segments;
    gpuarray *to = ga__array_new(c.name, args->x->buffer->device, c.result, ndim, shape);
    ga_status status = to ? run(&c, to) : ga_error();
    gpuarray *result = status == GA_OK ? with_axis(to, last, c.axis) : NULL;
    ga_free(to);
    if (!result || !args->out) {
        gpuarray *packed = result && !result->contiguous ? ga_copy(result) : ga_retain(result);
        ga_free(result);
        return packed;
    }
    status = (ga_assign)(args->out, ga_value_array(result));
    ga_free(result);
    return status == GA_OK ? args->out : NULL;
}
