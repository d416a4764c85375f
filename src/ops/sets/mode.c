/* ga_mode(): the most frequent elements. */
#include <quarry/ops.h>
#include <quarry/sets.h>

#include "base/call.h"
#include "base/error.h"
#include "model/promote.h"
#include "base/options.h"
#include "kernels/scan/scan.h"
#include "ops/bins/bin_calls.h"
#include "ops/convert.h"
#include "ops/order/along.h"
#include "ops/rank/rows.h"
#include "ops/reduction_op.h"
#include "ops/scan/choose.h"

#define FORMULA_ID(n) GA__FAMILY_ID(GA__FAMILY_MODE, n)

/* One call: its rows, and the shape of the results. */
typedef struct call {
    const ga_mode_args *args;
    ga__rank_rows rows;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
} call;

static ga_status prepare(call *c)
{
    const gpuarray *x = c->args->x;
    bool reduced[GA_MAX_NDIM];
    ga_status status = ga__read_axes("mode", x, c->args->naxes, c->args->axes, reduced);
    if (status == GA_OK)
        status = ga__rows_over(&c->rows, x, reduced);
    if (status != GA_OK)
        return status;
    if (c->rows.count == 0 && c->rows.rows > 0)
        return ga__fail(GA_ERR_INVALID, "mode: shape %s has no elements along the reduced axes",
                        ga__shape_text(x->ndim, x->shape));
    c->ndim = 0;
    for (int axis = 0; axis < x->ndim; axis++)
        if (!reduced[axis] || c->args->keepdims)
            c->shape[c->ndim++] = reduced[axis] ? 1 : x->shape[axis];
    return GA_OK;
}

/* How many elements of its run each element of sorted rows ends. */
static gpuarray *run_lengths(const gpuarray *sorted, int64_t length)
{
    const ga_dtype type = length < INT32_MAX ? GA_INT32 : GA_INT64;
    const ga__scan scan = {
        .formula = {.base = {.id = FORMULA_ID(0), .name = "mode", .body = ""},
                    .map = "return {1}",
                    .texts = &ga__truths,
                    .starts = "i % m == 0 || ga::differs<false>(s[i - 1], s[i])"},
        .type = type};
    gpuarray *out = ga__array_new("mode", sorted->buffer->device, type, 1, &sorted->size);
    const ga__operand operands[] = {
        {.name = "r", .array = out, .type = type, .writes = true},
        ga__read_operand("s", sorted),
        ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, length))};
    if (!out || ga__scan_run(&scan, out->buffer->device, 1, out->shape, 0, 3, operands) != GA_OK)
        return NULL;
    return out;
}

/* Stores of each row the length of the run that ends at a place, and the first element of the run.
 */
static ga_status take(const gpuarray *sorted, const gpuarray *lengths, const gpuarray *places,
                      int64_t length, gpuarray *values, gpuarray *counts)
{
    static const ga__formula formula = {.id = FORMULA_ID(1),
                                        .name = "mode",
                                        .body = "c = l[i * m + p]; v = s[i * m + p + 1 - c]",
                                        .uses_index = true};
    const gpuarray *from = ga__bits_view(sorted), *to = from ? ga__bits_view(values) : NULL;
    if (!to)
        return ga_error();
    const ga__operand operands[] = {
        {.name = "v", .array = to, .type = to->dtype, .writes = true},
        {.name = "c", .array = counts, .type = GA_INT64, .writes = true},
        ga__read_operand("s", from),
        ga__read_operand("l", lengths),
        ga__streamed_operand("p", places, GA_INT64),
        ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, length))};
    return ga__elementwise(&formula, values->buffer->device, values->ndim, values->shape, 6,
                           operands);
}

/* Fills the results from rows that have elements. */
static ga_status find_modes(const call *c, gpuarray *values, gpuarray *counts)
{
    const int64_t shape[] = {c->rows.rows, c->rows.count};
    gpuarray *matrix = ga_reshape(c->rows.x, 2, shape), *sorted;
    if (!matrix || ga__sort_along("mode", matrix, 1, false, &sorted, NULL) != GA_OK)
        return ga_error();
    gpuarray *lengths = run_lengths(sorted, c->rows.count),
             *rows = lengths ? ga_reshape(lengths, 2, shape) : NULL,
             *places = rows ? ga_argmax(rows, GA_AXIS(1)) : NULL,
             *shaped = places ? ga_reshape(places, c->ndim, c->shape) : NULL;
    return shaped ? take(sorted, lengths, shaped, c->rows.count, values, counts) : ga_error();
}

/* Within a scope that owns all that it makes. */
static ga_status make(const ga_mode_args *args)
{
    call c = {.args = args};
    ga_status status = prepare(&c);
    if (status != GA_OK)
        return status;
    ga__device *const device = args->x->buffer->device;
    gpuarray *values = ga__array_new("mode", device, args->x->dtype, c.ndim, c.shape),
             *counts = values ? ga__array_new("mode", device, GA_INT64, c.ndim, c.shape) : NULL;
    status = counts ? GA_OK : ga_error();
    if (status == GA_OK && values->size > 0)
        status = find_modes(&c, values, counts);
    gpuarray *const wanted[] = {args->values ? values : counts, counts};
    if (status == GA_OK)
        status = ga__keep_all((args->values != NULL) + (args->counts != NULL), wanted);
    if (status == GA_OK && args->values)
        *args->values = values;
    if (status == GA_OK && args->counts)
        *args->counts = counts;
    return status;
}

ga_status(ga_mode)(size_t size, const ga_mode_args *given)
{
    GA__CALL("mode");
    ga_mode_args args;
    ga_status status = ga__options_read("mode", &args, sizeof args, given, size);
    if (status == GA_OK && !args.x)
        status = ga__fail(GA_ERR_INVALID, "mode: x is NULL");
    if (status == GA_OK)
        status = ga__check_numeric("mode", args.x->dtype);
    if (status != GA_OK)
        return status;
    ga_scope_begin();
    status = make(&args);
    ga_scope_end();
    return status;
}
