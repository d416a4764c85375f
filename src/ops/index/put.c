/* Writes by index or mask into one array. */
#include <quarry/indexing.h>
#include <quarry/joining.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/packed.h"
#include "ops/scan/choose.h"
#include "ops/scan/take_number.h"

/* ---- put ---- */

/* x, or a copy of its elements in C order if it is not contiguous. */
static gpuarray *line_of(gpuarray *x)
{
    return ga_reshape(x, 1, &x->size);
}

static ga_status check_target(const char *name, const gpuarray *x)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: the array is NULL", name);
    return ga__array_writable(name, x) ? GA_OK : ga_error();
}

/* Copies the elements of the line back to x unless they are x's own. */
static ga_status put_back(gpuarray *x, const gpuarray *line)
{
    if (line->buffer == x->buffer)
        return GA_OK;
    gpuarray *shaped = ga_reshape(line, x->ndim, x->shape);
    const ga_status status = shaped ? ga__array_copy_into(x, shaped) : ga_error();
    ga_free(shaped);
    return status;
}

/* The value as one that has an element for each index: repeated, or cut off. NULL on failure. */
static gpuarray *fitting(const gpuarray *value, int64_t count)
{
    gpuarray *line = ga_ravel(value), *out = NULL;
    const int64_t times = line && line->size > 0 ? (count + line->size - 1) / line->size : 0;
    gpuarray *all = !line ? NULL : times > 1 ? ga_tile(line, 1, &times) : ga_retain(line);
    if (all)
        out = ga__array_view(all, all->dtype, 1, &count, all->strides, 0);
    ga_free(line);
    ga_free(all);
    return out;
}

static ga_status put_line(const ga_put_args *args, gpuarray *line, ga_value value)
{
    const gpuarray *indices = args->indices;
    gpuarray *flat = ga_ravel(indices), *fit = NULL;
    ga_status status = flat ? GA_OK : ga_error();
    if (status == GA_OK && value.kind == GA_VALUE_ARRAY && value.as.array->size > 1) {
        fit = fitting(value.as.array, indices->size);
        value.as.array = fit;
        status = fit ? GA_OK : ga_error();
    }
    if (status == GA_OK) {
        ga__indexing g = {
            .x = line,
            .count = 1,
            .index = {{.array = flat, .length = line->size, .stride = line->strides[0]}},
            .ndim = 1,
            .index_ndim = 1,
            .shape = {indices->size}};
        status = ga__indexing_separate(&g);
        if (status == GA_OK)
            status = ga__write_indexed("put", &g, args->mode, NULL, value);
        ga__indexing_reset(&g);
    }
    ga_free(fit);
    ga_free(flat);
    return status;
}

ga_status(ga_put)(size_t size, const ga_put_args *args)
{
    GA__CALL("put");
    ga_put_args known;
    gpuarray *copy = NULL;
    ga_status status = ga__options_read("put", &known, sizeof known, args, size);
    if (status == GA_OK)
        status = check_target("put", known.x);
    if (status == GA_OK)
        status = ga__check_indices("put", known.x, known.indices);
    if (status != GA_OK)
        return status;
    if (ga__check_mode("put", known.mode) != GA_OK)
        return ga_error();
    ga_value value = known.value;
    status = ga__scattered_value("put", known.x, &value, &copy);
    const bool empty = value.kind == GA_VALUE_ARRAY && status == GA_OK && value.as.array->size == 0;
    if (status == GA_OK && known.indices->size > 0 && !empty) {
        gpuarray *line = NULL;
        if (known.x->size == 0)
            status = ga__fail(GA_ERR_INDEX, "put: the array has no elements");
        else
            line = line_of(known.x);
        if (line)
            status = put_line(&known, line, value);
        else
            status = ga_error();
        if (status == GA_OK)
            status = put_back(known.x, line);
        ga_free(line);
    }
    ga_free(copy);
    return status;
}

/* ---- put_along_axis ---- */

/* The tuples are all elements of the indices, which name those of x along an axis. */
static ga_status lay_lines(const gpuarray *x, const gpuarray *indices, int axis, ga__indexing *g,
                           int64_t *steps)
{
    const char *const name = "put_along_axis";
    int64_t key = x->shape[axis];
    if (x->ndim != indices->ndim)
        return ga__fail(GA_ERR_SHAPE, "%s: the array has %d dimensions, the indices have %d", name,
                        x->ndim, indices->ndim);
    *g = (ga__indexing){.x = x, .count = 1, .ndim = x->ndim, .index_ndim = x->ndim};
    g->index[0] = (ga__indexed){
        .array = indices, .axis = axis, .length = x->shape[axis], .stride = x->strides[axis]};
    for (int k = x->ndim - 1; k >= 0; k--) {
        const int64_t ours = x->shape[k], theirs = indices->shape[k];
        if (k != axis && ours != theirs && ours != 1 && theirs != 1)
            return ga__fail(GA_ERR_SHAPE, "%s: shapes %s and %s do not broadcast along axis %d",
                            name, ga__shape_text(x->ndim, x->shape),
                            ga__shape_text(indices->ndim, indices->shape), k);
        g->shape[k] = k == axis || ours == 1 ? theirs : ours;
        g->strides[k] = k == axis || ours == 1 ? 0 : x->strides[k];
        steps[k] = k == axis || ours == 1 ? 0 : key;
        key *= k == axis ? 1 : ours;
    }
    if (x->shape[axis] == 0 && ga__shape_size(g->ndim, g->shape) > 0)
        return ga__fail(GA_ERR_INDEX, "%s: axis %d has no elements", name, axis);
    return GA_OK;
}

static ga_status put_along(const ga_put_along_args *args, gpuarray *x, int axis)
{
    ga__indexing g = {.nowned = 0};
    int64_t steps[GA_MAX_NDIM];
    gpuarray *copy;
    ga_value value = args->value;
    ga_status status = ga__scattered_value("put_along_axis", x, &value, &copy);
    const gpuarray *from = value.kind == GA_VALUE_ARRAY ? value.as.array : NULL;
    if (status == GA_OK)
        status = lay_lines(x, args->indices, axis, &g, steps);
    if (status == GA_OK && from && !ga__broadcasts_to(from->ndim, from->shape, g.ndim, g.shape))
        status = ga__fail(GA_ERR_SHAPE,
                          "put_along_axis: a value of shape %s does not broadcast to shape %s",
                          ga__shape_text(from->ndim, from->shape), ga__shape_text(g.ndim, g.shape));
    if (status == GA_OK)
        status = ga__indexing_separate(&g);
    if (status == GA_OK)
        status = ga__write_indexed("put_along_axis", &g, GA_RAISE, steps, value);
    ga__indexing_reset(&g);
    ga_free(copy);
    return status;
}

ga_status(ga_put_along_axis)(size_t size, const ga_put_along_args *args)
{
    GA__CALL("put_along_axis");
    ga_put_along_args known;
    int axis = 0;
    ga_status status = ga__options_read("put_along_axis", &known, sizeof known, args, size);
    if (status == GA_OK)
        status = check_target("put_along_axis", known.x);
    if (status == GA_OK)
        status = ga__check_indices("put_along_axis", known.x, known.indices);
    if (status == GA_OK)
        status = ga__one_axis("put_along_axis", known.naxes, known.axes);
    if (status != GA_OK)
        return status;
    if (known.naxes == 1) {
        status = ga__check_axis("put_along_axis", known.axes[0], known.x->ndim, &axis);
        return status == GA_OK ? put_along(&known, known.x, axis) : status;
    }
    gpuarray *line = line_of(known.x);
    status = line ? put_along(&known, line, 0) : ga_error();
    if (status == GA_OK)
        status = put_back(known.x, line);
    ga_free(line);
    return status;
}

/* ---- Masks ---- */

static ga_status check_mask(const char *name, const gpuarray *x, const gpuarray *mask)
{
    const ga_status status = check_target(name, x);
    if (status != GA_OK)
        return status;
    if (!mask)
        return ga__fail(GA_ERR_INVALID, "%s: the mask is NULL", name);
    if (mask->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the array is on %s, the mask on %s", name,
                        x->buffer->device->name, mask->buffer->device->name);
    if (mask->size != x->size)
        return ga__fail(GA_ERR_SHAPE, "%s: the mask has %lld elements, the array has %lld", name,
                        (long long)mask->size, (long long)x->size);
    return GA_OK;
}

/* A mask with the shape of x. */
static gpuarray *shaped_mask(const gpuarray *x, const gpuarray *mask)
{
    return ga_reshape(mask, x->ndim, x->shape);
}

static ga_status mask_number(gpuarray *x, const gpuarray *mask, ga_value value)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(212), .name = "putmask", .body = "if (ga::truth(c)) r = v"};
    ga__lens to;
    ga__lens_whole(&to, x);
    ga__operand operands[] = {ga__lens_operand("r", &to, GA__VALUE, true),
                              {.name = "c", .array = mask, .type = mask->dtype, .reads = true},
                              ga__word_operand("v", x->dtype, value)};
    operands[0].reads = true;
    return ga__elementwise(&formula, x->buffer->device, x->ndim, x->shape, 3, operands);
}

/* The values by the index of the element, from the first one again after the last. */
static ga_status mask_array(gpuarray *x, const gpuarray *mask, const gpuarray *values)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(213),
                                        .name = "putmask",
                                        .body = "if (ga::truth(c)) r = v[(long long)i % m]",
                                        .uses_index = true};
    ga__lens to, from;
    ga__lens_whole(&to, x);
    ga__lens_whole(&from, values);
    ga__operand operands[] = {ga__lens_operand("r", &to, GA__VALUE, true),
                              {.name = "c", .array = mask, .type = mask->dtype, .reads = true},
                              ga__lens_operand("v", &from, GA__ACCESSOR, false),
                              ga__integer_operand("m", values->size)};
    operands[0].reads = true;
    return ga__elementwise(&formula, x->buffer->device, x->ndim, x->shape, 4, operands);
}

ga_status ga__putmask(const char *name, gpuarray *x, const gpuarray *mask, ga_value value)
{
    gpuarray *copy = NULL, *shaped = NULL, *apart = NULL;
    ga_status status = check_mask(name, x, mask);
    if (status == GA_OK)
        status = ga__scattered_value(name, x, &value, &copy);
    if (status != GA_OK)
        return status;
    const gpuarray *from = value.kind == GA_VALUE_ARRAY ? value.as.array : NULL;
    if (x->size > 0 && (!from || from->size > 0)) {
        shaped = shaped_mask(x, mask);
        const gpuarray *read = shaped;
        status = shaped ? ga__separate(x, &read, &apart) : ga_error();
        if (status == GA_OK)
            status = from ? mask_array(x, read, from) : mask_number(x, read, value);
    }
    ga_free(apart);
    ga_free(shaped);
    ga_free(copy);
    return status;
}

ga_status(ga_putmask)(gpuarray *x, const gpuarray *mask, ga_value value)
{
    GA__CALL("putmask");
    return ga__putmask("putmask", x, mask, value);
}

static ga_status place(gpuarray *x, const gpuarray *mask, const gpuarray *values)
{
    ga__lens to, from;
    ga__lens_whole(&to, x);
    ga__lens_whole(&from, values);
    const ga__operand operands[] = {
        ga__read_operand("c", mask), ga__lens_operand("x", &to, GA__ACCESSOR, true),
        ga__lens_operand("v", &from, GA__ACCESSOR, false), ga__integer_operand("m", values->size)};
    const ga__choice choice = {.id = GA__FORMULA_ID(214),
                               .name = "place",
                               .chosen = "ga::truth(c[i])",
                               .store = "if (ga::truth(c[i])) x[i] = v[to % m]",
                               .always = ""};
    return ga__choose(&choice, mask->buffer->device, mask->size, 4, operands);
}

/* Raises if the mask chooses an element: there are no values. */
static ga_status check_chooses_nothing(const char *name, const gpuarray *mask)
{
    int64_t chosen = 0;
    const ga_status status = ga__take_number(ga_any(mask), &chosen);
    return status == GA_OK && chosen
               ? ga__fail(GA_ERR_SHAPE, "%s: the array of values has no elements", name)
               : status;
}

ga_status ga__place(const char *name, gpuarray *x, const gpuarray *mask, ga_value value)
{
    gpuarray *copy = NULL, *apart = NULL;
    ga_status status = check_mask(name, x, mask);
    if (status == GA_OK)
        status = ga__scattered_value(name, x, &value, &copy);
    if (status == GA_OK && value.kind == GA_VALUE_NUMBER)
        return ga__putmask(name, x, mask, value);
    if (status == GA_OK && value.as.array->size == 0) {
        status = check_chooses_nothing(name, mask);
    } else if (status == GA_OK && x->size > 0) {
        const gpuarray *read = mask;
        status = ga__separate(x, &read, &apart);
        if (status == GA_OK)
            status = place(x, read, value.as.array);
    }
    ga_free(apart);
    ga_free(copy);
    return status;
}

ga_status(ga_place)(gpuarray *x, const gpuarray *mask, ga_value value)
{
    GA__CALL("place");
    return ga__place("place", x, mask, value);
}

/* ---- The diagonal ---- */

/* `count` elements of x from the element at `offset` on, `stride` bytes apart, become the values
 * from number `first` on, again and again. */
static ga_status fill_line(gpuarray *x, int64_t count, int64_t stride, int64_t offset,
                           ga_value value, int64_t first)
{
    gpuarray *line = ga__array_view(x, x->dtype, 1, &count, &stride, offset), *fit = NULL;
    ga_status status = line ? GA_OK : ga_error();
    if (status == GA_OK && value.kind == GA_VALUE_ARRAY && value.as.array->size != 1) {
        gpuarray *all = fitting(value.as.array, first + count);
        fit = all ? ga__array_view(all, all->dtype, 1, &count, all->strides,
                                   count > 0 ? first * all->strides[0] : 0)
                  : NULL;
        ga_free(all);
        value.as.array = fit;
        status = fit ? GA_OK : ga_error();
    }
    if (status == GA_OK)
        status = ga__assign("fill_diagonal", line, value);
    ga_free(fit);
    ga_free(line);
    return status;
}

static ga_status fill_diagonal(gpuarray *x, ga_value value, bool wrapped)
{
    gpuarray *copy = NULL;
    ga_status status = check_target("fill_diagonal", x);
    if (status == GA_OK)
        status = ga__scattered_value("fill_diagonal", x, &value, &copy);
    if (status != GA_OK)
        return status;
    if (x->ndim < 2)
        status =
            ga__fail(GA_ERR_SHAPE,
                     "fill_diagonal: the array has %d dimensions, expected at least 2", x->ndim);
    else if (value.kind == GA_VALUE_ARRAY && value.as.array->size == 0)
        status = ga__fail(GA_ERR_SHAPE, "fill_diagonal: there are no values");
    int64_t length = x->ndim < 2 ? 0 : x->shape[0], stride = 0;
    for (int k = 0; k < x->ndim && status == GA_OK; k++) {
        if (x->ndim > 2 && x->shape[k] != length)
            status = ga__fail(GA_ERR_SHAPE, "fill_diagonal: the lengths of shape %s differ",
                              ga__shape_text(x->ndim, x->shape));
        length = x->shape[k] < length ? x->shape[k] : length;
        stride += x->strides[k];
    }
    const bool again = wrapped && x->ndim == 2 && length > 0;
    const int64_t rows = again ? x->shape[0] : length > 0, step = again ? x->shape[1] + 1 : 1;
    for (int64_t row = 0, first = 0; status == GA_OK && row < rows; row += step, first += length) {
        const int64_t left = x->shape[0] - row;
        status =
            fill_line(x, left < length ? left : length, stride, row * x->strides[0], value, first);
    }
    ga_free(copy);
    return status;
}

ga_status(ga_fill_diagonal)(gpuarray *x, ga_value value)
{
    GA__CALL("fill_diagonal");
    return fill_diagonal(x, value, false);
}

ga_status(ga_fill_diagonal_wrapped)(gpuarray *x, ga_value value)
{
    GA__CALL("fill_diagonal_wrapped");
    return fill_diagonal(x, value, true);
}
