/* Selection by scans: the number of chosen elements before each one is where it goes. */
#include <quarry/select.h>

#include <stdio.h>
#include <string.h>

#include <quarry/ops.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "kernels/elementwise.h"
#include "kernels/scan/scan.h"
#include "ops/scan/select.h"
#include "ops/scan/take_number.h"

/* ---- The kernel: a scan of truths, whose body stores the chosen elements ---- */

ga_status ga__for_chosen(const char *name, ga__hash128 id, const char *statements,
                         const gpuarray *condition, int noperands, const ga__operand *operands)
{
    static const ga__scan_texts texts = {.accumulator = "T",
                                         .neutral = "T(0)",
                                         .lift = "x",
                                         .combine = "a + b",
                                         .finish = "a",
                                         .values = 1};
    ga__strbuf body = GA__STRBUF_INIT;
    ga__strbuf_addf(&body, "if (prev_item != ga_end.value) { const auto to = prev_item; %s; }",
                    statements);
    char *const text = ga__strbuf_take(&body);
    if (!text)
        return GA_ERR_MEMORY;
    const ga__scan scan = {.formula = {.base = {.id = id, .name = name, .body = text},
                                       .map = "return {ga::truth(c[i])}",
                                       .texts = &texts},
                           .type = condition->size < INT32_MAX ? GA_INT32 : GA_INT64};
    const int64_t n = condition->size;
    const ga_status status =
        ga__scan_run(&scan, condition->buffer->device, 1, &n, 0, noperands, operands);
    ga__free(text);
    return status;
}

ga__operand ga__chosen_operand(const char *name, const gpuarray *array, bool writes)
{
    return (ga__operand){.name = name,
                         .array = array,
                         .type = array->dtype,
                         .access = GA__ACCESSOR,
                         .reads = !writes,
                         .writes = writes};
}

int64_t ga__count_chosen(const char *name, const gpuarray *x)
{
    int64_t chosen = -1;
    if (ga__not_recording(name) && ga__take_number(ga_count_nonzero(x), &chosen) != GA_OK)
        return -1;
    return chosen;
}

/* ---- Where elements are ---- */

/* The statements that store the coordinates of element i, and their id; the last axis first. */
static ga_status index_statements(ga__strbuf *s, const char *form, int ndim, ga__hash128 *id)
{
    ga__strbuf_add(s, "auto rest = (long long)i");
    for (int axis = ndim - 1; axis > 0; axis--) {
        ga__strbuf_addf(s, form, axis);
        ga__strbuf_addf(s, "rest %% d%d; rest /= d%d", axis, axis);
    }
    ga__strbuf_addf(s, form, 0);
    ga__strbuf_add(s, "rest");
    ga__strbuf description = GA__STRBUF_INIT;
    ga__describe(&description, "nonzero");
    ga__describe(&description, s->failed ? NULL : s->text);
    const ga_status status = s->failed ? GA_ERR_MEMORY : ga__description_id(&description, id);
    ga__strbuf_reset(&description);
    return status;
}

/* Runs the statements for each element of x that is not 0; d0, d1, ... are x's lengths. */
static ga_status store_indices(const char *name, const gpuarray *x, const char *form, int nresults,
                               gpuarray *const *results, const char (*names)[16])
{
    ga__operand operands[1 + 2 * GA_MAX_NDIM];
    char lengths[GA_MAX_NDIM][16];
    int n = 0;
    operands[n++] = ga__chosen_operand("c", x, false);
    for (int k = 0; k < nresults; k++)
        operands[n++] = ga__chosen_operand(names[k], results[k], true);
    for (int axis = 1; axis < x->ndim; axis++) {
        snprintf(lengths[axis], sizeof lengths[axis], "d%d", axis);
        operands[n++] = (ga__operand){.name = lengths[axis],
                                      .number = ga_value_signed(GA_INT64, x->shape[axis]),
                                      .type = GA_INT64,
                                      .reads = true};
    }
    ga__strbuf statements = GA__STRBUF_INIT;
    ga__hash128 id;
    ga_status status = index_statements(&statements, form, x->ndim, &id);
    if (status == GA_OK)
        status = ga__for_chosen(name, id, statements.text, x, n, operands);
    ga__strbuf_reset(&statements);
    return status;
}

/* An array of indices for each axis. */
static ga_status store_each(const gpuarray *x, gpuarray **made)
{
    char names[GA_MAX_NDIM][16];
    const int64_t count = ga__count_chosen("nonzero", x);
    if (count < 0)
        return ga_error();
    for (int axis = 0; axis < x->ndim; axis++) {
        made[axis] = ga__array_new("nonzero", x->buffer->device, GA_INT64, 1, &count);
        snprintf(names[axis], sizeof names[axis], "i%d", axis);
        if (!made[axis])
            return ga_error();
    }
    return count > 0 ? store_indices("nonzero", x, "; i%d[to] = ", x->ndim, made,
                                     (const char(*)[16])names)
                     : GA_OK;
}

/* The same from the rows of one array: a kernel has no room for so many results. */
static ga_status split_rows(const gpuarray *x, gpuarray **made)
{
    gpuarray *rows = ga_argwhere(x);
    ga_status status = rows ? GA_OK : ga_error();
    for (int axis = 0; axis < x->ndim && status == GA_OK; axis++) {
        gpuarray *column = ga_slice(rows, ":, %d", axis);
        made[axis] = column ? ga_copy(column) : NULL;
        ga_free(column);
        status = made[axis] ? GA_OK : ga_error();
    }
    ga_free(rows);
    return status;
}

ga_status ga_nonzero(const gpuarray *x, gpuarray **indices)
{
    gpuarray *made[GA_MAX_NDIM] = {NULL};
    if (!x || !indices)
        return ga__fail(GA_ERR_INVALID, "nonzero: %s is NULL",
                        x ? "the place of the indices" : "x");
    if (x->ndim == 0)
        return ga__fail(GA_ERR_INVALID, "nonzero: an array of 0 dimensions has no indices");
    const bool fits = 2 * x->ndim < GA__MAX_OPERANDS;
    const ga_status status = fits ? store_each(x, made) : split_rows(x, made);
    for (int axis = 0; axis < x->ndim; axis++)
        if (status == GA_OK)
            indices[axis] = made[axis];
        else
            ga_free(made[axis]);
    return status;
}

gpuarray *ga_argwhere(const gpuarray *x)
{
    static const char names[1][16] = {"w"};
    char form[40];
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "argwhere: x is NULL");
    const int64_t count = ga__count_chosen("argwhere", x), shape[] = {count, x->ndim};
    gpuarray *out =
        count < 0 ? NULL : ga__array_new("argwhere", x->buffer->device, GA_INT64, 2, shape);
    if (!out || out->size == 0)
        return out;
    snprintf(form, sizeof form, "; w[(long long)to * %d + %%d] = ", x->ndim);
    if (store_indices("argwhere", x, form, 1, &out, names) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

static gpuarray *where_true(const char *name, const gpuarray *x)
{
    const ga__hash128 id = GA__FORMULA_ID(42);
    const int64_t count = ga__count_chosen(name, x);
    gpuarray *out = count < 0 ? NULL : ga__array_new(name, x->buffer->device, GA_INT64, 1, &count);
    if (!out || count == 0)
        return out;
    const ga__operand operands[] = {ga__chosen_operand("c", x, false),
                                    ga__chosen_operand("w", out, true)};
    if (ga__for_chosen("flatnonzero", id, "w[to] = i", x, 2, operands) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *ga_flatnonzero(const gpuarray *x)
{
    return x ? where_true("flatnonzero", x)
             : ga__fail_null(GA_ERR_INVALID, "flatnonzero: x is NULL");
}

/* ---- The elements themselves ---- */

/* The elements of x, in C order, where the condition, which is no longer, is not 0. */
static gpuarray *choose_flat(const char *name, const gpuarray *condition, const gpuarray *x)
{
    const ga__hash128 id = GA__FORMULA_ID(43);
    const int64_t count = ga__count_chosen(name, condition);
    gpuarray *out = count < 0 ? NULL : ga__array_new(name, x->buffer->device, x->dtype, 1, &count);
    if (!out || count == 0)
        return out;
    const ga__operand operands[] = {ga__chosen_operand("c", condition, false),
                                    ga__chosen_operand("x", x, false),
                                    ga__chosen_operand("y", out, true)};
    if (ga__for_chosen("compress", id, "y[to] = x[i]", condition, 3, operands) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* The elements along an axis at these indices, which are in range. */
static gpuarray *take_along(const gpuarray *x, int axis, const gpuarray *where)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(44),
                                        .name = "compress",
                                        .body = "r = x[(i / (c * m) * n0 + k) * m + i % m]",
                                        .uses_index = true};
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM] = {0}, column[GA_MAX_NDIM], inner = 1;
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[axis] = where->size;
    for (int k = 0; k < x->ndim; k++)
        column[k] = k == axis ? where->size : 1;
    for (int k = axis + 1; k < x->ndim; k++)
        inner *= x->shape[k];
    strides[axis] = (int64_t)sizeof(int64_t);
    gpuarray *out = ga__array_new("compress", x->buffer->device, x->dtype, x->ndim, shape),
             *index = out ? ga__array_view(where, GA_INT64, x->ndim, column, strides, 0) : NULL;
    const ga__operand operands[] = {
        {.name = "r", .array = out, .type = x->dtype, .writes = true},
        {.name = "k", .array = index, .type = GA_INT64, .reads = true},
        ga__chosen_operand("x", x, false),
        {.name = "c", .number = ga_value_signed(GA_INT64, where->size), .type = GA_INT64},
        {.name = "m", .number = ga_value_signed(GA_INT64, inner), .type = GA_INT64},
        {.name = "n0", .number = ga_value_signed(GA_INT64, x->shape[axis]), .type = GA_INT64}};
    const ga_status status =
        index ? ga__elementwise(&formula, x->buffer->device, x->ndim, shape, 6, operands)
              : ga_error();
    ga_free(index);
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

static ga_status check_operands(const char *name, const gpuarray *condition, const gpuarray *x)
{
    if (!condition || !x)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", name, condition ? "x" : "the condition");
    if (condition->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the condition is on %s, x on %s", name,
                        condition->buffer->device->name, x->buffer->device->name);
    return GA_OK;
}

/* Raises if the condition chooses an element past the axis. */
static ga_status check_length(const gpuarray *condition, int64_t length)
{
    if (condition->size <= length)
        return GA_OK;
    gpuarray *rest = ga_slice(condition, "%lld:", (long long)length);
    const int64_t chosen = rest ? ga__count_chosen("compress", rest) : -1;
    ga_free(rest);
    if (chosen > 0)
        return ga__fail(GA_ERR_INDEX,
                        "compress: the condition has %lld elements and chooses %lld of those past "
                        "the axis, whose length is %lld",
                        (long long)condition->size, (long long)chosen, (long long)length);
    return chosen < 0 ? ga_error() : GA_OK;
}

/* The condition's part along an axis of so many elements. */
static gpuarray *within(const gpuarray *condition, int64_t length)
{
    if (check_length(condition, length) != GA_OK)
        return NULL;
    const int64_t size = condition->size < length ? condition->size : length;
    return ga__array_view(condition, condition->dtype, 1, &size, condition->strides, 0);
}

static gpuarray *compress_along(const gpuarray *condition, const gpuarray *x, int axis)
{
    gpuarray *part = within(condition, x->shape[axis]),
             *where = part ? where_true("compress", part) : NULL,
             *out = where ? take_along(x, axis, where) : NULL;
    ga_free(where);
    ga_free(part);
    return out;
}

gpuarray *(ga_compress)(size_t size, const ga_compress_args *args)
{
    ga_compress_args known;
    int axis = 0;
    if (ga__options_read("compress", &known, sizeof known, args, size) != GA_OK ||
        check_operands("compress", known.condition, known.x) != GA_OK)
        return NULL;
    if (known.condition->ndim != 1)
        return ga__fail_null(GA_ERR_INVALID, "compress: the condition has %d dimensions, not 1",
                             known.condition->ndim);
    if (known.naxes < 0 || known.naxes > 1 || (known.naxes == 1 && !known.axes))
        return ga__fail_null(GA_ERR_INVALID, "compress: takes one axis, not %d at %s", known.naxes,
                             known.axes ? "an address" : "NULL");
    if (known.naxes == 1) {
        if (ga__check_axis("compress", known.axes[0], known.x->ndim, &axis) != GA_OK)
            return NULL;
        return compress_along(known.condition, known.x, axis);
    }
    gpuarray *part = within(known.condition, known.x->size),
             *out = part ? choose_flat("compress", part, known.x) : NULL;
    ga_free(part);
    return out;
}

gpuarray *ga_extract(const gpuarray *condition, const gpuarray *x)
{
    if (check_operands("extract", condition, x) != GA_OK)
        return NULL;
    if (condition->size != x->size)
        return ga__fail_null(GA_ERR_SHAPE, "extract: the condition has %lld elements, x has %lld",
                             (long long)condition->size, (long long)x->size);
    return choose_flat("extract", condition, x);
}
