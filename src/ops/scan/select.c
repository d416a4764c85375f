/* Selection by scans: the number of chosen elements before each one is where it goes. */
#include <quarry/select.h>

#include <stdio.h>
#include <string.h>

#include <quarry/ops.h>

#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "kernels/elementwise.h"
#include "ops/scan/choose.h"
#include "ops/scan/take_number.h"

/* ---- The condition ---- */

/* Runs the statements over `to`, the index among the chosen ones, and `i`. The first operand is the
 * condition, `c`. */
static ga_status choose(const char *name, ga__hash128 id, const char *statements,
                        const gpuarray *condition, int noperands, const ga__operand *operands)
{
    const ga__choice choice = {
        .id = id, .name = name, .chosen = "ga::truth(c[i])", .store = statements, .always = ""};
    return ga__choose(&choice, condition->buffer->device, condition->size, noperands, operands);
}

/* How many elements are not 0; waits for the number. -1 and an error on failure. */
static int64_t count_chosen(const char *name, const gpuarray *x)
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
    operands[n++] = ga__read_operand("c", x);
    for (int k = 0; k < nresults; k++)
        operands[n++] = ga__write_operand(names[k], results[k]);
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
        status = choose(name, id, statements.text, x, n, operands);
    ga__strbuf_reset(&statements);
    return status;
}

/* An array of indices for each axis. */
static ga_status store_each(const gpuarray *x, gpuarray **made)
{
    char names[GA_MAX_NDIM][16];
    const int64_t count = count_chosen("nonzero", x);
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
    const int64_t count = count_chosen("argwhere", x), shape[] = {count, x->ndim};
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
    const int64_t count = count_chosen(name, x);
    gpuarray *out = count < 0 ? NULL : ga__array_new(name, x->buffer->device, GA_INT64, 1, &count);
    if (!out || count == 0)
        return out;
    const ga__operand operands[] = {ga__read_operand("c", x), ga__write_operand("w", out)};
    if (choose("flatnonzero", id, "w[to] = i", x, 2, operands) == GA_OK)
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
    const int64_t count = count_chosen(name, condition);
    gpuarray *out = count < 0 ? NULL : ga__array_new(name, x->buffer->device, x->dtype, 1, &count);
    if (!out || count == 0)
        return out;
    const ga__operand operands[] = {ga__read_operand("c", condition), ga__read_operand("x", x),
                                    ga__write_operand("y", out)};
    if (choose("compress", id, "y[to] = x[i]", condition, 3, operands) == GA_OK)
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
    const int64_t chosen = rest ? count_chosen("compress", rest) : -1;
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

/* ---- A bounded number of elements ---- */

/* The results in the making; what is not wanted is NULL. */
typedef struct bounded {
    gpuarray *values, *indices, *count;
} bounded;

static void discard(const bounded *b)
{
    ga_free(b->values);
    ga_free(b->indices);
    ga_free(b->count);
}

/* A new array of zeros; can be recorded. */
static gpuarray *new_zeros(ga__device *device, ga_dtype dtype, int ndim, const int64_t *shape)
{
    gpuarray *out = ga__array_new("extract_bounded", device, dtype, ndim, shape);
    if (!out || out->size == 0)
        return out;
    ga__stream *stream = ga__array_stream(NULL, out);
    if (stream && device->backend->memory.zero(stream, out->data, ga_nbytes(out)) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

static ga_status make_bounded(const gpuarray *condition, const gpuarray *x, int64_t maximum,
                              bool values, bool indices, bounded *b)
{
    ga__device *const device = condition->buffer->device;
    *b = (bounded){NULL, NULL, NULL};
    bool ok = (b->count = new_zeros(device, GA_INT64, 0, NULL)) != NULL;
    if (ok && values)
        ok = (b->values = new_zeros(device, x->dtype, 1, &maximum)) != NULL;
    if (ok && indices)
        ok = (b->indices = new_zeros(device, GA_INT64, 1, &maximum)) != NULL;
    return ok ? GA_OK : ga_error();
}

/* One kernel for each choice of results: an id has a bit for each. */
static ga_status choose_bounded(const gpuarray *condition, const gpuarray *x, int64_t maximum,
                                const bounded *b)
{
    static const char *const stores[] = {"", "if (to < m) y[to] = x[i]", "if (to < m) k[to] = i",
                                         "if (to < m) { y[to] = x[i]; k[to] = i; }"};
    const int which = (b->values ? 1 : 0) | (b->indices ? 2 : 0);
    ga__operand operands[6];
    int n = 0;
    operands[n++] = ga__read_operand("c", condition);
    operands[n++] = ga__write_operand("t", b->count);
    operands[n++] = (ga__operand){
        .name = "m", .number = ga_value_signed(GA_INT64, maximum), .type = GA_INT64, .reads = true};
    if (b->values) {
        operands[n++] = ga__read_operand("x", x);
        operands[n++] = ga__write_operand("y", b->values);
    }
    if (b->indices)
        operands[n++] = ga__write_operand("k", b->indices);
    const ga__choice choice = {.id = GA__FORMULA_ID((UINT64_C(5) << 32) + (unsigned)which),
                               .name = "extract_bounded",
                               .chosen = "ga::truth(c[i])",
                               .store = stores[which],
                               .always = "if (i + 1 == n) t[0] = item"};
    return ga__choose(&choice, condition->buffer->device, condition->size, n, operands);
}

static ga_status check_bounded(const gpuarray *condition, const gpuarray *x, int64_t maximum,
                               gpuarray *const *values, gpuarray *const *count)
{
    static const char name[] = "extract_bounded";
    const ga_status status = check_operands(name, condition, values ? x : condition);
    if (status != GA_OK)
        return status;
    if (!count)
        return ga__fail(GA_ERR_INVALID, "%s: the place of the count is NULL", name);
    if (maximum < 0)
        return ga__fail(GA_ERR_INVALID, "%s: the maximum is %lld", name, (long long)maximum);
    if (values && condition->size != x->size)
        return ga__fail(GA_ERR_SHAPE, "%s: the condition has %lld elements, x has %lld", name,
                        (long long)condition->size, (long long)x->size);
    return GA_OK;
}

ga_status ga_extract_bounded(const gpuarray *condition, const gpuarray *x, int64_t maximum,
                             gpuarray **values, gpuarray **indices, gpuarray **count)
{
    bounded b;
    ga_status status = check_bounded(condition, x, maximum, values, count);
    if (status != GA_OK)
        return status;
    status = make_bounded(condition, x, maximum, values != NULL, indices != NULL, &b);
    if (status == GA_OK && condition->size > 0)
        status = choose_bounded(condition, x, maximum, &b);
    if (status != GA_OK) {
        discard(&b);
        return status;
    }
    if (values)
        *values = b.values;
    if (indices)
        *indices = b.indices;
    *count = b.count;
    return GA_OK;
}
