/* ga_sort, ga_argsort, ga_sort_by_key and ga_lexsort: checks and results. */
#include <quarry/sort.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "model/promote.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/order/along.h"

/* ---- One array ---- */

/* A call's options, checked. */
typedef struct call {
    const char *name;
    const gpuarray *x; /* with .flat, a 1-D array of the elements */
    gpuarray *flat;    /* the same, to be freed; or NULL */
    int axis;
    bool descending;
    gpuarray *out;
} call;

static ga_status read_axis(call *c, const ga_sort_args *args)
{
    const ga_status status = ga__one_axis(c->name, args->naxes, args->axes);
    if (status != GA_OK)
        return status;
    if (args->flat && args->naxes > 0)
        return ga__fail(GA_ERR_INVALID,
                        "%s: .flat sorts all elements and takes no axis, not axis %d", c->name,
                        args->axes[0]);
    return ga__check_axis(c->name, args->naxes > 0 ? args->axes[0] : -1, c->x->ndim, &c->axis);
}

/* Fills *c; `flattens` takes an array of no dimensions as one of one. On success the caller frees
 * c->flat. */
static ga_status read_call(call *c, const char *name, const ga_sort_args *args, bool flattens,
                           ga_dtype result)
{
    *c = (call){.name = name, .x = args->x, .descending = args->descending, .out = args->out};
    if (!args->x)
        return ga__fail(GA_ERR_INVALID, "%s: the operand is NULL", name);
    if (ga__check_numeric(name, args->x->dtype) != GA_OK)
        return ga_error();
    if (args->flat || (flattens && args->x->ndim == 0)) {
        c->x = c->flat = ga_ravel(args->x);
        if (!c->flat)
            return ga_error();
    }
    ga_status status = read_axis(c, args);
    if (status == GA_OK && c->out)
        status = ga__check_own_out(name, c->out, c->x->buffer->device, c->x->ndim, c->x->shape,
                                   result == GA_NO_DTYPE ? c->x->dtype : result);
    if (status != GA_OK)
        ga_free(c->flat);
    return status;
}

/* Whether the engine can leave a result of this dtype in `out`. */
static bool is_direct(const call *c, ga_dtype dtype)
{
    const gpuarray *x = c->x, *out = c->out;
    if (!out || !out->contiguous || !x->contiguous || out->dtype != dtype || c->axis != x->ndim - 1)
        return false;
    return !ga__arrays_overlap(out, x) || (out->data == x->data && dtype == x->dtype);
}

/* Moves a result to `out`, if the caller has one. Takes the result. */
static gpuarray *deliver(const call *c, gpuarray *result)
{
    if (!result || !c->out)
        return result;
    const ga_status status = ga__assign_bits(c->out, result);
    ga_free(result);
    return status == GA_OK ? c->out : NULL;
}

static gpuarray *sort(const ga_sort_args *args)
{
    call c;
    gpuarray *values = NULL;
    if (read_call(&c, "sort", args, false, GA_NO_DTYPE) != GA_OK)
        return NULL;
    if (is_direct(&c, c.x->dtype))
        values = ga__sort_rows(c.x, c.out, NULL, c.descending) == GA_OK ? c.out : NULL;
    else if (ga__sort_along(c.name, c.x, c.axis, c.descending, &values, NULL) == GA_OK)
        values = deliver(&c, values);
    ga_free(c.flat);
    return values;
}

static gpuarray *argsort(const ga_sort_args *args)
{
    call c;
    gpuarray *indices = NULL;
    if (read_call(&c, "argsort", args, true, GA_INT64) != GA_OK)
        return NULL;
    if (is_direct(&c, GA_INT64) && !ga__arrays_overlap(c.out, c.x))
        indices = ga__sort_rows(c.x, NULL, c.out, c.descending) == GA_OK ? c.out : NULL;
    else if (ga__sort_along(c.name, c.x, c.axis, c.descending, NULL, &indices) == GA_OK)
        indices = deliver(&c, indices);
    ga_free(c.flat);
    return indices;
}

static ga_status read_options(const char *name, ga_sort_args *known, size_t size,
                              const ga_sort_args *args)
{
    return ga__options_read(name, known, sizeof *known, args, size);
}

gpuarray *(ga_sort)(size_t size, const ga_sort_args *args)
{
    GA__CALL("sort");
    ga_sort_args known;
    return read_options("sort", &known, size, args) == GA_OK ? sort(&known) : NULL;
}

gpuarray *(ga_argsort)(size_t size, const ga_sort_args *args)
{
    GA__CALL("argsort");
    ga_sort_args known;
    return read_options("argsort", &known, size, args) == GA_OK ? argsort(&known) : NULL;
}

/* ---- By keys ---- */

/* Arrays of one shape, on one device; `what` names them. */
static ga_status check_alike(const char *name, const char *what, const gpuarray *a,
                             const gpuarray *b)
{
    if (!ga__same_shape(a->ndim, a->shape, b->ndim, b->shape))
        return ga__fail(GA_ERR_SHAPE, "%s: %s have shapes %s and %s", name, what,
                        ga__shape_text(a->ndim, a->shape), ga__shape_text(b->ndim, b->shape));
    if (a->buffer->device != b->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: %s are on %s and %s", name, what,
                        a->buffer->device->name, b->buffer->device->name);
    return GA_OK;
}

/* Elements of rows of any layout. */
static gpuarray *take(const char *name, const gpuarray *x, const gpuarray *indices)
{
    gpuarray *const copy = x->contiguous ? NULL : ga__copy_bits(x);
    if (!x->contiguous && !copy)
        return NULL;
    gpuarray *const result = ga__take_rows(name, copy ? copy : x, indices);
    ga_free(copy);
    return result;
}

ga_status ga_sort_by_key(const gpuarray *keys, const gpuarray *values, gpuarray **sorted_keys,
                         gpuarray **sorted_values)
{
    GA__CALL("sort_by_key");
    static const char name[] = "sort_by_key";
    gpuarray *k, *order;
    int axis;
    if (!keys || !values || !sorted_keys || !sorted_values)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", name,
                        !keys          ? "the array of keys"
                        : !values      ? "the array of values"
                        : !sorted_keys ? "sorted_keys"
                                       : "sorted_values");
    ga_status status = ga__check_numeric(name, keys->dtype);
    if (status == GA_OK)
        status = ga__check_axis(name, -1, keys->ndim, &axis);
    if (status == GA_OK)
        status = check_alike(name, "keys and values", keys, values);
    if (status == GA_OK)
        status = ga__sort_along(name, keys, axis, false, &k, &order);
    if (status != GA_OK)
        return status;
    gpuarray *const v = take(name, values, order);
    ga_free(order);
    if (!v) {
        ga_free(k);
        return ga_error();
    }
    *sorted_keys = k;
    *sorted_values = v;
    return GA_OK;
}

static ga_status check_keys(int nkeys, const gpuarray *const *keys)
{
    if (nkeys <= 0)
        return ga__fail(GA_ERR_INVALID, "lexsort: %d keys, expected at least 1", nkeys);
    if (!keys)
        return ga__fail(GA_ERR_INVALID, "lexsort: the list of keys is NULL");
    for (int k = 0; k < nkeys; k++) {
        if (!keys[k])
            return ga__fail(GA_ERR_INVALID, "lexsort: key %d is NULL", k);
        ga_status status = ga__check_numeric("lexsort", keys[k]->dtype);
        if (status == GA_OK)
            status = check_alike("lexsort", "keys", keys[0], keys[k]);
        if (status != GA_OK)
            return status;
    }
    return GA_OK;
}

/* Sorts the order so far by one more key, which is more significant. Takes `order`, and returns the
 * new one; NULL on failure. */
static gpuarray *sort_order(gpuarray *order, const gpuarray *key)
{
    gpuarray *indices = NULL;
    gpuarray *const taken = take("lexsort", key, order);
    if (taken && ga__sort_along("lexsort", taken, key->ndim - 1, false, NULL, &indices) == GA_OK) {
        gpuarray *const next = ga__take_rows("lexsort", order, indices);
        ga_free(indices);
        indices = next;
    }
    ga_free(taken);
    ga_free(order);
    return indices;
}

static gpuarray *one_zero(ga__device *device)
{
    gpuarray *const order = ga__array_new("lexsort", device, GA_INT64, 0, NULL);
    if (!order || ga__fill_elements(order, ga_value_int(0)) == GA_OK)
        return order;
    ga_free(order);
    return NULL;
}

gpuarray *ga_lexsort(int nkeys, const gpuarray *const *keys)
{
    GA__CALL("lexsort");
    gpuarray *order = NULL;
    if (check_keys(nkeys, keys) != GA_OK)
        return NULL;
    if (keys[0]->ndim == 0)
        return one_zero(keys[0]->buffer->device);
    if (ga__sort_along("lexsort", keys[0], keys[0]->ndim - 1, false, NULL, &order) != GA_OK)
        return NULL;
    for (int k = 1; k < nkeys && order; k++)
        order = sort_order(order, keys[k]);
    return order;
}
