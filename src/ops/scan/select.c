/* Selection by scans: the number of chosen elements before each one is where it goes. */
#include <quarry/select.h>

#include <stdio.h>
#include <string.h>

#include <quarry/ops.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "kernels/elementwise.h"
#include "ops/reduction_op.h"
#include "ops/scan/choose.h"
#include "ops/scan/chosen.h"
#include "ops/scan/take_number.h"

/* ---- Where elements are ---- */

/* The statements that store the coordinates of element i, and their id; the last axis first. */
static ga_status index_statements(ga__strbuf *s, const char *form, int ndim, ga__hash128 *id)
{
    ga__strbuf_add(s, "auto rest = i");
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
static ga_status store_indices(const ga__chosen *c, const char *form, int nresults,
                               gpuarray *const *results, const char (*names)[16])
{
    const gpuarray *x = c->condition;
    const ga_dtype number = x->size < INT32_MAX ? GA_INT32 : GA_INT64;
    ga__operand operands[1 + 2 * GA_MAX_NDIM + 2];
    char lengths[GA_MAX_NDIM][16];
    int n = 0;
    operands[n++] = ga__read_operand("c", x);
    for (int k = 0; k < nresults; k++)
        operands[n++] = ga__write_operand(names[k], results[k]);
    for (int axis = 1; axis < x->ndim; axis++) {
        snprintf(lengths[axis], sizeof lengths[axis], "d%d", axis);
        operands[n++] = (ga__operand){.name = lengths[axis],
                                      .number = ga_value_signed(number, x->shape[axis]),
                                      .type = number,
                                      .reads = true};
    }
    ga__strbuf statements = GA__STRBUF_INIT;
    ga__hash128 id;
    ga_status status = index_statements(&statements, form, x->ndim, &id);
    if (status == GA_OK)
        status = ga__chosen_store(c, c->name, id, "return i", statements.text, n, operands);
    ga__strbuf_reset(&statements);
    return status;
}

/* An array of indices for each axis. */
static ga_status store_each(const gpuarray *x, gpuarray **made)
{
    char names[GA_MAX_NDIM][16];
    ga__chosen c;
    ga_status status = ga__chosen_begin(&c, "nonzero", x);
    for (int axis = 0; axis < x->ndim && status == GA_OK; axis++) {
        made[axis] = ga__array_new("nonzero", x->buffer->device, GA_INT64, 1, &c.count);
        snprintf(names[axis], sizeof names[axis], "i%d", axis);
        status = made[axis] ? GA_OK : ga_error();
    }
    if (status == GA_OK && c.count > 0)
        status = store_indices(&c, "; i%d[to] = ", x->ndim, made, (const char(*)[16])names);
    (void)ga__chosen_end(&c, NULL, GA_OK);
    return status;
}

/* The same from the rows of one array, for more results than a kernel has room for. */
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
    GA__CALL("nonzero");
    gpuarray *made[GA_MAX_NDIM] = {NULL};
    if (!x || !indices)
        return ga__fail(GA_ERR_INVALID, "nonzero: %s is NULL",
                        x ? "the pointer for the indices" : "x");
    if (x->ndim == 0)
        return ga__fail(GA_ERR_INVALID, "nonzero: an array of 0 dimensions has no indices");
    const bool fits = 2 * x->ndim + 2 < GA__MAX_OPERANDS;
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
    GA__CALL("argwhere");
    static const char names[1][16] = {"w"};
    char form[40];
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "argwhere: x is NULL");
    ga__chosen c;
    ga_status status = ga__chosen_begin(&c, "argwhere", x);
    gpuarray *out = NULL;
    if (status == GA_OK)
        out = ga__array_new("argwhere", x->buffer->device, GA_INT64, 2,
                            (int64_t[]){c.count, x->ndim});
    snprintf(form, sizeof form, "; w[(long long)to * %d + %%d] = ", x->ndim);
    if (out && out->size > 0)
        status = store_indices(&c, form, 1, &out, names);
    return ga__chosen_end(&c, out, status);
}

static gpuarray *where_true(const char *name, const gpuarray *x)
{
    const ga__hash128 id = GA__FORMULA_ID(42);
    ga__chosen c;
    ga_status status = ga__chosen_begin(&c, name, x);
    gpuarray *out = NULL;
    if (status == GA_OK)
        out = ga__array_new(name, x->buffer->device, GA_INT64, 1, &c.count);
    if (out && c.count > 0) {
        ga__operand operands[4] = {ga__read_operand("c", x), ga__write_operand("w", out)};
        status = ga__chosen_store(&c, "flatnonzero", id, "return i", "w[to] = value", 2, operands);
    }
    return ga__chosen_end(&c, out, status);
}

gpuarray *ga_flatnonzero(const gpuarray *x)
{
    GA__CALL("flatnonzero");
    return x ? where_true("flatnonzero", x)
             : ga__fail_null(GA_ERR_INVALID, "flatnonzero: x is NULL");
}

/* ---- The elements themselves ---- */

/* The elements of x, in C order, where the condition, which is no longer, is not 0. */
static gpuarray *choose_flat(const char *name, const gpuarray *condition, const gpuarray *x)
{
    const ga__hash128 id = GA__FORMULA_ID(43);
    ga__chosen c;
    ga_status status = ga__chosen_begin(&c, name, condition);
    gpuarray *out = NULL;
    if (status == GA_OK)
        out = ga__array_new(name, x->buffer->device, x->dtype, 1, &c.count);
    if (out && c.count > 0) {
        ga__operand operands[5] = {ga__read_operand("c", condition), ga__read_operand("x", x),
                                   ga__write_operand("y", out)};
        status = ga__chosen_store(&c, "compress", id, "return x[i]", "y[to] = value", 3, operands);
    }
    return ga__chosen_end(&c, out, status);
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
        ga__read_operand("x", x),
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

/* Raises if the condition chooses an element past the axis. */
static ga_status check_length(const gpuarray *condition, int64_t length)
{
    if (condition->size <= length)
        return GA_OK;
    gpuarray *rest = ga_slice(condition, "%lld:", (long long)length);
    int64_t count = -1;
    if (rest && ga__not_recording("compress") &&
        ga__take_number(ga_count_nonzero(rest), &count) != GA_OK)
        count = -1;
    ga_free(rest);
    if (count > 0)
        return ga__fail(GA_ERR_INDEX,
                        "compress: the condition of %lld elements selects %lld past the end of "
                        "the axis of length %lld",
                        (long long)condition->size, (long long)count, (long long)length);
    return count < 0 ? ga_error() : GA_OK;
}

/* The part of the condition that lies within an axis of `length` elements. */
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
    GA__CALL("compress");
    ga_compress_args known;
    int axis = 0;
    if (ga__options_read("compress", &known, sizeof known, args, size) != GA_OK ||
        ga__check_condition("compress", known.condition, known.x) != GA_OK)
        return NULL;
    if (known.condition->ndim != 1)
        return ga__fail_null(GA_ERR_INVALID,
                             "compress: the condition has %d dimensions, expected 1",
                             known.condition->ndim);
    if (ga__one_axis("compress", known.naxes, known.axes) != GA_OK)
        return NULL;
    if (known.naxes == 1) {
        if (ga__check_axis("compress", known.axes[0], known.x->ndim, &axis) != GA_OK)
            return NULL;
        return ga__give_result("compress", compress_along(known.condition, known.x, axis),
                               known.out);
    }
    gpuarray *part = within(known.condition, known.x->size),
             *chosen = part ? choose_flat("compress", part, known.x) : NULL;
    ga_free(part);
    return ga__give_result("compress", chosen, known.out);
}

gpuarray *ga_extract(const gpuarray *condition, const gpuarray *x)
{
    GA__CALL("extract");
    if (ga__check_condition("extract", condition, x) != GA_OK)
        return NULL;
    if (condition->size != x->size)
        return ga__fail_null(GA_ERR_SHAPE, "extract: the condition has %lld elements, x has %lld",
                             (long long)condition->size, (long long)x->size);
    return choose_flat("extract", condition, x);
}
