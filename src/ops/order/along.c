/* Sorts along any axis of any layout, by the engine of rows. */
#include "ops/order/along.h"

#include "base/error.h"
#include "kernels/elementwise.h"
#include "kernels/sort/sort.h"
#include "ops/convert.h"

/* ---- Copies that keep all bits: as integers, which no instruction changes ---- */

/* A view of x as `dtype`, an integer of its size; x's own dtype if there is none. */
static gpuarray *as_dtype(const gpuarray *x, ga_dtype dtype)
{
    const ga_dtype to = dtype == GA_NO_DTYPE ? x->dtype : dtype;
    return ga__array_view(x, to, x->ndim, x->shape, x->strides, 0);
}

gpuarray *ga__bits_view(const gpuarray *x)
{
    return as_dtype(x, ga__dtype_integer('u', ga__dtype_size(x->dtype)));
}

/* Takes `words`, which may be NULL, and returns it as `dtype`. */
static gpuarray *from_words(gpuarray *words, ga_dtype dtype)
{
    gpuarray *const x = words ? as_dtype(words, dtype) : NULL;
    ga_free(words);
    return x;
}

gpuarray *ga__copy_bits(const gpuarray *x)
{
    gpuarray *const words = ga__bits_view(x);
    gpuarray *const copy = words ? ga_copy(words) : NULL;
    ga_free(words);
    return from_words(copy, x->dtype);
}

ga_status ga__assign_bits(gpuarray *to, const gpuarray *from)
{
    if (to->dtype != from->dtype)
        return (ga_assign)(to, ga_value_array(from));
    gpuarray *const target = ga__bits_view(to), *const source = ga__bits_view(from);
    const ga_status status =
        target && source ? (ga_assign)(target, ga_value_array(source)) : ga_error();
    ga_free(target);
    ga_free(source);
    return status;
}

/* ---- Rows ---- */

static bool is_sorted_already(const gpuarray *x)
{
    return x->size == 0 || x->shape[x->ndim - 1] == 1; /* no row has two elements */
}

/* Rows of at most one element, which leave the engine nothing to do: the rows, and index 0 of each.
 */
static ga_status sort_trivial(const ga__sort_call *call)
{
    ga_status status = GA_OK;
    if (call->to && call->to->data != call->from->data)
        status = ga__assign_bits(call->to, call->from);
    if (call->indices && status == GA_OK)
        status = (ga_assign)(call->indices, ga_value_int(0));
    return status;
}

ga_status ga__sort_rows(const gpuarray *from, gpuarray *to, gpuarray *indices, bool descending)
{
    const ga__sort_call call = {
        .from = from, .to = to, .indices = indices, .descending = descending};
    return is_sorted_already(from) ? sort_trivial(&call) : ga__sort(&call);
}

/* ---- Any layout ---- */

/* x with `axis` and the last axis exchanged, which is its own inverse. */
static gpuarray *exchange(const gpuarray *x, int axis)
{
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    for (int k = 0; k < x->ndim; k++) {
        const int from = k == axis ? x->ndim - 1 : k == x->ndim - 1 ? axis : k;
        shape[k] = x->shape[from];
        strides[k] = x->strides[from];
    }
    return ga__array_view(x, x->dtype, x->ndim, shape, strides, 0);
}

/* Replaces *x, an array of exchanged axes, by a contiguous one of the original axes. */
static ga_status restore(gpuarray **x, int axis)
{
    if (!*x)
        return GA_OK;
    gpuarray *const view = exchange(*x, axis);
    gpuarray *const result = view ? ga__copy_bits(view) : NULL;
    ga_free(view);
    if (!result)
        return ga_error();
    ga_free(*x);
    *x = result;
    return GA_OK;
}

/* The results of a sort in the making. */
typedef struct made {
    gpuarray *values, *indices;
} made;

static void discard(made *m)
{
    ga_free(m->values);
    ga_free(m->indices);
}

/* Sorts the rows of x. A copy of rows that are not contiguous becomes the values itself. */
static ga_status make_rows(const char *name, const gpuarray *x, bool descending, bool values,
                           bool indices, made *m)
{
    ga__device *const device = x->buffer->device;
    gpuarray *const copy = x->contiguous ? NULL : ga__copy_bits(x);
    const gpuarray *const from = copy ? copy : x;
    *m = (made){NULL, NULL};
    bool ok = x->contiguous || copy;
    if (ok && values && !copy)
        ok = (m->values = ga__array_new(name, device, x->dtype, x->ndim, x->shape)) != NULL;
    if (ok && indices)
        ok = (m->indices = ga__array_new(name, device, GA_INT64, x->ndim, x->shape)) != NULL;
    if (values && copy)
        m->values = copy;
    ok = ok && ga__sort_rows(from, m->values, m->indices, descending) == GA_OK;
    if (!values)
        ga_free(copy);
    if (!ok)
        discard(m);
    return ok ? GA_OK : ga_error();
}

static ga_status make_columns(const char *name, const gpuarray *x, int axis, bool descending,
                              bool values, bool indices, made *m)
{
    gpuarray *const rows = exchange(x, axis);
    ga_status status = rows ? make_rows(name, rows, descending, values, indices, m) : ga_error();
    ga_free(rows);
    if (status != GA_OK)
        return status;
    status = restore(&m->values, axis);
    if (status == GA_OK)
        status = restore(&m->indices, axis);
    if (status != GA_OK)
        discard(m);
    return status;
}

ga_status ga__sort_along(const char *name, const gpuarray *x, int axis, bool descending,
                         gpuarray **values, gpuarray **indices)
{
    made m;
    const ga_status status =
        axis == x->ndim - 1
            ? make_rows(name, x, descending, values != NULL, indices != NULL, &m)
            : make_columns(name, x, axis, descending, values != NULL, indices != NULL, &m);
    if (status != GA_OK)
        return status;
    if (values)
        *values = m.values;
    if (indices)
        *indices = m.indices;
    return GA_OK;
}

/* ---- Elements at indices ---- */

static gpuarray *take_words(const char *name, const gpuarray *x, const gpuarray *indices)
{
    static const ga__formula of_rows = {.id = GA__FORMULA_ID(65),
                                        .name = "take_rows",
                                        .body = "r = x[i / m * m + p]",
                                        .uses_index = true},
                             of_one = {
                                 .id = GA__FORMULA_ID(66), .name = "take", .body = "r = x[p]"};
    const int64_t length = x->ndim > 0 ? x->shape[x->ndim - 1] : 1;
    const bool one = x->size == length;
    gpuarray *const out =
        ga__array_new(name, x->buffer->device, x->dtype, indices->ndim, indices->shape);
    if (!out || out->size == 0)
        return out;
    const ga__operand operands[] = {
        {.name = "r", .array = out, .type = x->dtype, .writes = true},
        {.name = "x",
         .array = x,
         .type = x->dtype,
         .access = GA__ACCESSOR,
         .reads = true,
         .is_const = true},
        {.name = "p", .array = indices, .type = GA_INT64, .reads = true},
        ga__number_operand("m", GA_INT64, ga_value_llong(length))};
    if (ga__elementwise(one ? &of_one : &of_rows, x->buffer->device, out->ndim, out->shape,
                        one ? 3 : 4, operands) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *ga__take_rows(const char *name, const gpuarray *x, const gpuarray *indices)
{
    gpuarray *const words = ga__bits_view(x);
    gpuarray *const taken = words ? take_words(name, words, indices) : NULL;
    ga_free(words);
    return from_words(taken, x->dtype);
}
