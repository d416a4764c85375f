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
#include "ops/scan/choose.h"
#include "ops/scan/take_number.h"

/* ---- What is chosen ---- */

/* Large conditions on CUDA are read once, and their marks kept: a bit for each element, and how
 * many chosen ones precede each tile. Others have no marks: a scan of truths stores the results. */
typedef struct chosen {
    const char *name;
    const gpuarray *condition;
    int64_t count;
    gpuarray *marks, *before; /* or NULL */
} chosen;

/* From so many elements on, four launches cost less than the scan's waiting. */
enum { MARKED = 1 << 16 };

/* Runs one of the two passes over the marks. */
static ga_status pass_over(const chosen *c, ga__choice_pass pass, const ga__formula *base,
                           const char *map, int noperands, const ga__operand *operands)
{
    const int64_t n = c->condition->size;
    const ga__scan scan = {.formula = {.base = *base, .map = map, .texts = &ga__truths},
                           .type = n < INT32_MAX ? GA_INT32 : GA_INT64,
                           .pass = pass};
    return ga__scan_run(&scan, c->condition->buffer->device, 1, &n, 0, noperands, operands);
}

/* Marks the elements and counts those of each tile. */
static ga_status mark(const chosen *c, gpuarray *counts)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(45), .name = "marks", .body = ""};
    const ga__operand operands[] = {ga__read_operand("c", c->condition),
                                    ga__write_operand("ga_words", c->marks),
                                    ga__write_operand("ga_tiles", counts)};
    return pass_over(c, GA__CHOICE_MARKS, &formula, "return ga::truth(c[i])", 3, operands);
}

static ga_status count_marked(chosen *c)
{
    ga__device *device = c->condition->buffer->device;
    const int64_t tiles = (c->condition->size + GA__CHOICE_TILE - 1) / GA__CHOICE_TILE,
                  words = tiles * (GA__CHOICE_TILE / 32);
    gpuarray *counts = ga__array_new(c->name, device, GA_INT64, 1, &tiles);
    c->marks = ga__array_new(c->name, device, GA_UINT32, 1, &words);
    ga_status status = counts && c->marks ? mark(c, counts) : ga_error();
    if (status == GA_OK) {
        c->before = ga_cumsum(counts, .exclusive = true);
        status = c->before ? ga__take_number(ga_sum(counts), &c->count) : ga_error();
    }
    ga_free(counts);
    return status;
}

static void forget(chosen *c)
{
    ga_free(c->marks);
    ga_free(c->before);
}

/* Counts the elements that are not 0; waits for the number. The caller forgets what is kept, on
 * failure too. */
static ga_status count_chosen(chosen *c, const char *name, const gpuarray *condition)
{
    *c = (chosen){.name = name, .condition = condition};
    if (!ga__not_recording(name))
        return ga_error();
    if (condition->buffer->device->arch != 0 && condition->size >= MARKED)
        return count_marked(c);
    return ga__take_number(ga_count_nonzero(condition), &c->count);
}

/* The result of a call, which ends: NULL if it failed. */
static gpuarray *finished(chosen *c, gpuarray *out, ga_status status)
{
    forget(c);
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* Runs the statements for each chosen element, over `to`, its index among these, `i`, and `value`,
 * which the map returns. The first operand is the condition, `c`; there is room for two more. */
static ga_status choose(const chosen *c, const char *name, ga__hash128 id, const char *map,
                        const char *statements, int noperands, ga__operand *operands)
{
    if (c->marks) {
        const ga__formula formula = {.id = id, .name = name, .body = statements};
        operands[noperands++] = ga__read_operand("ga_words", c->marks);
        operands[noperands++] = ga__read_operand("ga_tiles", c->before);
        return pass_over(c, GA__CHOICE_MOVES, &formula, map, noperands, operands);
    }
    ga__strbuf store = GA__STRBUF_INIT;
    ga__strbuf_addf(&store, "const auto value = [&]() { %s; }(); %s", map, statements);
    char *const text = ga__strbuf_take(&store);
    if (!text)
        return GA_ERR_MEMORY;
    const ga__choice choice = {
        .id = id, .name = name, .chosen = "ga::truth(c[i])", .store = text, .always = ""};
    const ga_status status =
        ga__choose(&choice, c->condition->buffer->device, c->condition->size, noperands, operands);
    ga__free(text);
    return status;
}

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
static ga_status store_indices(const chosen *c, const char *form, int nresults,
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
        status = choose(c, c->name, id, "return i", statements.text, n, operands);
    ga__strbuf_reset(&statements);
    return status;
}

/* An array of indices for each axis. */
static ga_status store_each(const gpuarray *x, gpuarray **made)
{
    char names[GA_MAX_NDIM][16];
    chosen c;
    ga_status status = count_chosen(&c, "nonzero", x);
    for (int axis = 0; axis < x->ndim && status == GA_OK; axis++) {
        made[axis] = ga__array_new("nonzero", x->buffer->device, GA_INT64, 1, &c.count);
        snprintf(names[axis], sizeof names[axis], "i%d", axis);
        status = made[axis] ? GA_OK : ga_error();
    }
    if (status == GA_OK && c.count > 0)
        status = store_indices(&c, "; i%d[to] = ", x->ndim, made, (const char(*)[16])names);
    forget(&c);
    return status;
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
    static const char names[1][16] = {"w"};
    char form[40];
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "argwhere: x is NULL");
    chosen c;
    ga_status status = count_chosen(&c, "argwhere", x);
    gpuarray *out = NULL;
    if (status == GA_OK)
        out = ga__array_new("argwhere", x->buffer->device, GA_INT64, 2,
                            (int64_t[]){c.count, x->ndim});
    snprintf(form, sizeof form, "; w[(long long)to * %d + %%d] = ", x->ndim);
    if (out && out->size > 0)
        status = store_indices(&c, form, 1, &out, names);
    return finished(&c, out, status);
}

static gpuarray *where_true(const char *name, const gpuarray *x)
{
    const ga__hash128 id = GA__FORMULA_ID(42);
    chosen c;
    ga_status status = count_chosen(&c, name, x);
    gpuarray *out = NULL;
    if (status == GA_OK)
        out = ga__array_new(name, x->buffer->device, GA_INT64, 1, &c.count);
    if (out && c.count > 0) {
        ga__operand operands[4] = {ga__read_operand("c", x), ga__write_operand("w", out)};
        status = choose(&c, "flatnonzero", id, "return i", "w[to] = value", 2, operands);
    }
    return finished(&c, out, status);
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
    chosen c;
    ga_status status = count_chosen(&c, name, condition);
    gpuarray *out = NULL;
    if (status == GA_OK)
        out = ga__array_new(name, x->buffer->device, x->dtype, 1, &c.count);
    if (out && c.count > 0) {
        ga__operand operands[5] = {ga__read_operand("c", condition), ga__read_operand("x", x),
                                   ga__write_operand("y", out)};
        status = choose(&c, "compress", id, "return x[i]", "y[to] = value", 3, operands);
    }
    return finished(&c, out, status);
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
    int64_t count = -1;
    if (rest && ga__not_recording("compress") &&
        ga__take_number(ga_count_nonzero(rest), &count) != GA_OK)
        count = -1;
    ga_free(rest);
    if (count > 0)
        return ga__fail(GA_ERR_INDEX,
                        "compress: the condition has %lld elements and chooses %lld of those past "
                        "the axis, whose length is %lld",
                        (long long)condition->size, (long long)count, (long long)length);
    return count < 0 ? ga_error() : GA_OK;
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
