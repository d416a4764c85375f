/* x[parts]: reads and writes by ranges, indices, arrays and masks. */
#include <quarry/indexing.h>

#include "base/call.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/packed.h"

/* ---- Reads ---- */

/* "r = x[ga::taken(j0, n0, fault, call, a0, p) * s0 + ...]" */
static ga_status gather_text(int count, ga__strbuf *text)
{
    ga__strbuf_add(text, "r = x[0");
    for (int k = 0; k < count; k++)
        ga__strbuf_addf(text, " + ga::taken(j%d, n%d, fault, call, a%d, p) * s%d", k, k, k, k);
    ga__strbuf_add(text, "]");
    return text->failed ? GA_ERR_MEMORY : GA_OK;
}

static ga_status gather(const ga__indexing *g, gpuarray *out)
{
    ga__index_operands memory[GA__MOST_INDICES];
    ga__lens to, from, position;
    ga__operand operands[3 + GA__INDEX_OPERANDS * GA__MOST_INDICES + GA__CHECKED_OPERANDS];
    ga__checked checked;
    ga__strbuf text = GA__STRBUF_INIT;
    int64_t strides[GA_MAX_NDIM];
    int n = 0;
    ga__lens_whole(&to, out);
    operands[n++] = ga__lens_operand("r", &to, GA__VALUE, true);
    ga__lens_set(&from, g->x, g->ndim, g->shape, g->strides, g->offset);
    operands[n++] = ga__lens_operand("x", &from, GA__PLACED, false);
    ga__indexing_position(g, strides);
    ga__lens_set(&position, NULL, g->ndim, g->shape, strides, 0);
    operands[n++] = ga__lens_operand("p", &position, GA__COORDINATE, false);
    for (int k = 0; k < g->count; k++, n += GA__INDEX_OPERANDS)
        ga__index_operands_set(&memory[k], g, k, 0, g->ndim, operands + n);
    n = ga__checked_begin(&checked, "index", out->buffer->device, operands, n);
    ga_status status = n < 0 ? ga_error() : gather_text(g->count, &text);
    const ga__formula formula = {.id = GA__FAMILY_ID(GA__FAMILY_INDEX, (unsigned)g->count),
                                 .name = "index",
                                 .body = text.text};
    if (status == GA_OK)
        status = ga__elementwise(&formula, out->buffer->device, g->ndim, g->shape, n, operands);
    ga__strbuf_reset(&text);
    return n < 0 ? status : ga__checked_end(&checked, status);
}

/* Whether the parts are one mask of the shape of x. */
static bool is_mask(const gpuarray *x, int n, const ga_part *parts)
{
    return x && n == 1 && parts && parts->is_array && parts->array && x->ndim > 0 &&
           parts->array->dtype == GA_BOOL && parts->array->buffer->device == x->buffer->device &&
           ga__same_shape(x->ndim, x->shape, parts->array->ndim, parts->array->shape);
}

gpuarray *ga_index_parts(const gpuarray *x, int n, const ga_part *parts)
{
    GA__CALL("index");
    ga__indexing g;
    gpuarray *view, *out = NULL;
    if (is_mask(x, n, parts))
        return ga_extract(parts->array, x);
    ga_status status = ga__indexing_init(&g, "index", x, n, parts, &view);
    if (status == GA_OK && !view) {
        out = ga__array_new("index", x->buffer->device, x->dtype, g.ndim, g.shape);
        if (!out)
            status = ga_error();
        else
            status = out->size > 0 ? gather(&g, out) : ga__check_tuples("index", &g);
    }
    ga__indexing_reset(&g);
    if (status == GA_OK)
        return view ? view : out;
    ga_free(out);
    return NULL;
}

/* ---- Writes ---- */

/* x[mask] = value: a number, or an array with one element for each that the mask chooses. */
static ga_status set_masked(gpuarray *x, const gpuarray *mask, ga_value value)
{
    const gpuarray *from = value.kind == GA_VALUE_ARRAY ? value.as.array : NULL;
    if (!from || from->size == 1)
        return ga__putmask("index_set", x, mask, value);
    if (from->ndim > 1)
        return ga__fail(GA_ERR_SHAPE,
                        "index_set: the value has %d dimensions, expected at most 1 for a mask",
                        from->ndim);
    gpuarray *chosen = ga_flatnonzero(mask);
    const int64_t count = chosen ? chosen->size : -1;
    ga_free(chosen);
    if (count < 0)
        return ga_error();
    if (count != from->size)
        return ga__fail(GA_ERR_SHAPE,
                        "index_set: the value has %lld elements, the mask chooses %lld",
                        (long long)from->size, (long long)count);
    return count > 0 ? ga__place("index_set", x, mask, value) : GA_OK;
}

static ga_status set_indexed(ga__indexing *g, const gpuarray *x, ga_value value)
{
    gpuarray *copy = NULL;
    ga_status status = ga__indexing_separate(g);
    if (status == GA_OK)
        status = ga__scattered_value("index_set", x, &value, &copy);
    const gpuarray *from = value.kind == GA_VALUE_ARRAY ? value.as.array : NULL;
    if (status == GA_OK && from && !ga__broadcasts_to(from->ndim, from->shape, g->ndim, g->shape))
        status =
            ga__fail(GA_ERR_SHAPE, "index_set: a value of shape %s does not broadcast to shape %s",
                     ga__shape_text(from->ndim, from->shape), ga__shape_text(g->ndim, g->shape));
    if (status == GA_OK)
        status = ga__write_indexed("index_set", g, GA_RAISE, NULL, value);
    ga_free(copy);
    return status;
}

ga_status ga_index_set_parts(gpuarray *x, ga_value value, int n, const ga_part *parts)
{
    GA__CALL("index_set");
    ga__indexing g;
    gpuarray *view;
    if (x && !ga__array_writable("index_set", x))
        return ga_error();
    if (value.kind == GA_VALUE_ARRAY && !value.as.array)
        return ga__fail(GA_ERR_INVALID, "index_set: the value is NULL");
    if (is_mask(x, n, parts))
        return set_masked(x, parts->array, value);
    ga_status status = ga__indexing_init(&g, "index_set", x, n, parts, &view);
    if (status == GA_OK)
        status = view ? ga__assign("index_set", view, value) : set_indexed(&g, x, value);
    ga_free(view);
    ga__indexing_reset(&g);
    return status;
}
