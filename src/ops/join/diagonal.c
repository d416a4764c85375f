/* Diagonals, triangles, and differences of neighbours. */
#include <quarry/joining.h>

#include <string.h>

#include "array/array.h"
#include "base/call.h"
#include "base/error.h"
#include "model/promote.h"
#include "base/options.h"
#include "ops/convert.h"
#include "ops/index/gather.h"

/* ---- Triangles ---- */

/* Runs a formula over `out`, with `d`, an element's column less its row, and the number k. */
static ga_status by_diagonal(const ga__formula *formula, gpuarray *out, ga__operand result,
                             const ga__operand *element, int64_t k)
{
    int64_t strides[GA_MAX_NDIM] = {0};
    ga__lens difference;
    strides[out->ndim - 1] = 1;
    strides[out->ndim - 2] = -1;
    ga__lens_set(&difference, NULL, out->ndim, out->shape, strides, 0);
    ga__operand operands[] = {result, ga__lens_operand("d", &difference, GA__COORDINATE, false),
                              ga__integer_operand("k", k), element ? *element : result};
    return ga__elementwise(formula, out->buffer->device, out->ndim, out->shape, element ? 4 : 3,
                           operands);
}

/* As in NumPy, a 1-D array counts as rows of a square matrix. By the second formula a GPU reads
 * only the elements of the triangle. */
static gpuarray *triangle(const ga__formula *formulas, const gpuarray *x, int64_t k)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    ga__lens from, to;
    const bool chooses = x && !ga__on_host(x->buffer->device);
    const ga__formula *formula = &formulas[chooses];
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "%s: the array is NULL", formula->name);
    if (x->ndim == 0)
        return ga__fail_null(GA_ERR_SHAPE, "%s: the array has 0 dimensions, expected at least 1",
                             formula->name);
    const int ndim = x->ndim == 1 ? 2 : x->ndim;
    for (int axis = 0; axis < ndim; axis++) {
        shape[axis] = x->shape[x->ndim == 1 ? 0 : axis];
        strides[axis] = x->ndim > 1 ? x->strides[axis] : axis == 1 ? x->strides[0] : 0;
    }
    gpuarray *out = ga__array_new(formula->name, x->buffer->device, x->dtype, ndim, shape);
    if (!out)
        return NULL;
    ga__lens_whole(&to, out);
    ga__lens_set(&from, x, ndim, shape, strides, 0);
    const ga__operand element =
        ga__lens_operand("a", &from, chooses ? GA__PLACED : GA__VALUE, false);
    if (by_diagonal(formula, out, ga__lens_operand("r", &to, GA__VALUE, true), &element, k) ==
        GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *ga_tril(const gpuarray *x, int64_t k)
{
    GA__CALL("tril");
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(96), .name = "tril", .body = "r = d <= k ? a : ga_v0{}"},
        {.id = GA__FORMULA_ID(347), .name = "tril", .body = "r = d <= k ? *a : ga_v0{}"}};
    return triangle(formulas, x, k);
}

gpuarray *ga_triu(const gpuarray *x, int64_t k)
{
    GA__CALL("triu");
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(97), .name = "triu", .body = "r = d >= k ? a : ga_v0{}"},
        {.id = GA__FORMULA_ID(348), .name = "triu", .body = "r = d >= k ? *a : ga_v0{}"}};
    return triangle(formulas, x, k);
}

static gpuarray *truths(const ga__formula *formula, ga_dtype dtype, int64_t n, int64_t m, int64_t k)
{
    const int64_t shape[] = {n, m};
    if (ga__check_numeric(formula->name, dtype) != GA_OK)
        return NULL;
    gpuarray *out = ga__array_new(formula->name, ga__current_device(), dtype, 2, shape);
    const ga__operand result = {.name = "r", .array = out, .type = GA_BOOL, .writes = true};
    if (!out || by_diagonal(formula, out, result, NULL, k) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *ga_eye_ex(ga_dtype dtype, int64_t n, int64_t m, int64_t k)
{
    GA__CALL("eye_ex");
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(98), .name = "eye_ex", .body = "r = d == k"};
    return truths(&formula, dtype, n, m, k);
}

gpuarray *ga_tri(ga_dtype dtype, int64_t n, int64_t m, int64_t k)
{
    GA__CALL("tri");
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(99), .name = "tri", .body = "r = d <= k"};
    return truths(&formula, dtype, n, m, k);
}

/* ---- Diagonals ---- */

/* The diagonal as a view that may be written. */
static gpuarray *diagonal(const char *name, const gpuarray *x, int64_t offset, int axis1, int axis2)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int a, b, ndim = 0;
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "%s: the array is NULL", name);
    if (x->ndim < 2)
        return ga__fail_null(GA_ERR_SHAPE, "%s: the array has %d dimensions, expected at least 2",
                             name, x->ndim);
    if (ga__check_axis(name, axis1, x->ndim, &a) != GA_OK ||
        ga__check_axis(name, axis2, x->ndim, &b) != GA_OK)
        return NULL;
    if (a == b)
        return ga__fail_null(GA_ERR_INVALID, "%s: axes %d and %d are the same", name, axis1, axis2);
    for (int k = 0; k < x->ndim; k++) {
        if (k == a || k == b)
            continue;
        shape[ndim] = x->shape[k];
        strides[ndim++] = x->strides[k];
    }
    const int64_t rows = x->shape[a], columns = x->shape[b];
    const int64_t down = offset < 0 ? (offset < -rows ? rows : -offset) : 0,
                  right = offset > 0 ? (offset > columns ? columns : offset) : 0;
    shape[ndim] = rows - down < columns - right ? rows - down : columns - right;
    strides[ndim++] = x->strides[a] + x->strides[b];
    const int64_t first = down * x->strides[a] + right * x->strides[b];
    return ga__array_view(x, x->dtype, ndim, shape, strides,
                          ga__shape_size(ndim, shape) > 0 ? first : 0);
}

gpuarray *ga_diagonal(const gpuarray *x, int64_t offset, int axis1, int axis2)
{
    gpuarray *view = diagonal("diagonal", x, offset, axis1, axis2);
    if (view)
        view->readonly = true;
    return view;
}

gpuarray *ga_trace_with(const gpuarray *x, int64_t offset, int axis1, int axis2, size_t size,
                        const ga_trace_args *args)
{
    GA__CALL("trace");
    ga_trace_args known;
    if (ga__options_read("trace", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    gpuarray *view = diagonal("trace", x, offset, axis1, axis2),
             *sum = view ? ga_sum(view, GA_AXIS(-1), .dtype = known.dtype, .out = known.out) : NULL;
    ga_free(view);
    return sum;
}

gpuarray *(ga_trace)(const gpuarray *x, int64_t offset, int axis1, int axis2)
{
    static const ga_trace_args none;
    return ga_trace_with(x, offset, axis1, axis2, sizeof none, &none);
}

/* A matrix of zeros but for its k-th diagonal, the 1-D array. */
static gpuarray *matrix_of(const char *name, const gpuarray *x, int64_t k)
{
    int64_t side;
    if (__builtin_add_overflow(x->size, k < 0 ? (k == INT64_MIN ? INT64_MAX : -k) : k, &side))
        return ga__fail_null(GA_ERR_SHAPE,
                             "%s: diagonal %lld of %lld elements makes the matrix too large", name,
                             (long long)k, (long long)x->size);
    const int64_t shape[] = {side, side};
    gpuarray *out = ga__array_new(name, x->buffer->device, x->dtype, 2, shape), *line;
    if (!out)
        return NULL;
    ga_status status = ga__fill_elements(out, ga_value_signed(GA_INT8, 0));
    line = status == GA_OK ? diagonal(name, out, k, 0, 1) : NULL;
    status = line ? ga__array_copy_into(line, x) : ga_error();
    ga_free(line);
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *ga_diag(const gpuarray *x, int64_t k)
{
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "diag: the array is NULL");
    if (x->ndim == 1)
        return matrix_of("diag", x, k);
    if (x->ndim != 2)
        return ga__fail_null(GA_ERR_SHAPE, "diag: the array has %d dimensions, expected 1 or 2",
                             x->ndim);
    return ga_diagonal(x, k, 0, 1);
}

gpuarray *ga_diagflat(const gpuarray *x, int64_t k)
{
    GA__CALL("diagflat");
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "diagflat: the array is NULL");
    gpuarray *line = ga_ravel(x), *out = line ? matrix_of("diagflat", line, k) : NULL;
    ga_free(line);
    return out;
}

/* ---- Differences ---- */

static gpuarray *part_along(const gpuarray *x, int axis, int64_t start)
{
    int64_t shape[GA_MAX_NDIM];
    for (int k = 0; k < x->ndim; k++)
        shape[k] = k != axis ? x->shape[k] : x->shape[k] > 0 ? x->shape[k] - 1 : 0;
    return ga__array_view(x, x->dtype, x->ndim, shape, x->strides,
                          ga__shape_size(x->ndim, shape) > 0 ? start * x->strides[axis] : 0);
}

static gpuarray *difference(const gpuarray *x, int axis)
{
    gpuarray *left = part_along(x, axis, 0), *right = left ? part_along(x, axis, 1) : NULL,
             *out = NULL;
    if (right)
        out = x->dtype == GA_BOOL ? ga_not_equal(right, left) : ga_subtract(right, left);
    ga_free(right);
    ga_free(left);
    return out;
}

/* An end of x along the axis: an array of no dimensions is one element of each line. */
static gpuarray *end_of(const gpuarray *x, int axis, const gpuarray *end)
{
    int64_t shape[GA_MAX_NDIM];
    if (end->ndim > 0)
        return ga_retain((gpuarray *)end);
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    shape[axis] = 1;
    return ga_broadcast_to(end, x->ndim, shape);
}

/* x with what the call puts before and behind it. */
static gpuarray *extended(const ga_diff_args *args, int axis)
{
    const gpuarray *x = args->x, *parts[3];
    gpuarray *before = args->prepend ? end_of(x, axis, args->prepend) : NULL,
             *behind = args->append ? end_of(x, axis, args->append) : NULL, *out = NULL;
    int n = 0;
    if (!args->prepend && !args->append)
        return ga_reshape(x, x->ndim, x->shape);
    if (before)
        parts[n++] = before;
    parts[n++] = x;
    if (behind)
        parts[n++] = behind;
    if ((before || !args->prepend) && (behind || !args->append))
        out = ga_concatenate(n, parts, GA_AXIS(axis));
    ga_free(behind);
    ga_free(before);
    return out;
}

gpuarray *(ga_diff)(size_t size, const ga_diff_args *args)
{
    GA__CALL("diff");
    ga_diff_args known;
    int axis;
    if (ga__options_read("diff", &known, sizeof known, args, size) != GA_OK)
        return NULL;
    if (!known.x)
        return ga__fail_null(GA_ERR_INVALID, "diff: the array is NULL");
    if (known.n < 0)
        return ga__fail_null(GA_ERR_INVALID, "diff: n is %d, expected at least 0", known.n);
    if (ga__one_axis("diff", known.naxes, known.axes) != GA_OK)
        return NULL;
    if (ga__check_axis("diff", known.naxes ? known.axes[0] : -1, known.x->ndim, &axis) != GA_OK)
        return NULL;
    gpuarray *x = extended(&known, axis);
    for (int k = 0; x && k < known.n && (k == 0 || x->shape[axis] > 0); k++) {
        gpuarray *next = difference(x, axis);
        ga_free(x);
        x = next;
    }
    return x;
}

/* The elements of one end as a line in the dtype of x; NULL on failure. */
static gpuarray *end_line(const gpuarray *x, const gpuarray *end)
{
    if (ga__check_converts("ediff1d", end->dtype, x->dtype) != GA_OK)
        return NULL;
    if (!ga__can_cast_same_kind(end->dtype, x->dtype))
        return ga__fail_null(GA_ERR_DTYPE, "ediff1d: %s does not cast to %s of the array",
                             ga_dtype_name(end->dtype), ga_dtype_name(x->dtype));
    gpuarray *line = ga_ravel(end), *out = line ? ga_astype(line, x->dtype) : NULL;
    ga_free(line);
    return out;
}

gpuarray *ga_ediff1d_between(const gpuarray *x, const gpuarray *begin, const gpuarray *end)
{
    GA__CALL("ediff1d_between");
    const gpuarray *parts[3], *const ends[] = {begin, end};
    gpuarray *made[4] = {NULL}, *out = NULL;
    int n = 0;
    if (!x)
        return ga__fail_null(GA_ERR_INVALID, "ediff1d: the array is NULL");
    made[0] = ga_ravel(x);
    made[1] = made[0] ? difference(made[0], 0) : NULL;
    if (!made[1] || (!begin && !end)) {
        ga_free(made[0]);
        return made[1];
    }
    bool ok = true;
    for (int k = 0; k < 3 && ok; k++) {
        const gpuarray *part = k == 1 ? made[1] : ends[k / 2];
        if (k != 1 && part) {
            made[2 + k / 2] = end_line(x, part);
            part = made[2 + k / 2];
            ok = part != NULL;
        }
        if (part)
            parts[n++] = part;
    }
    if (ok)
        out = ga_concatenate(n, parts);
    for (int k = 0; k < 4; k++)
        ga_free(made[k]);
    return out;
}

gpuarray *ga_ediff1d(const gpuarray *x)
{
    GA__CALL("ediff1d");
    return ga_ediff1d_between(x, NULL, NULL);
}
