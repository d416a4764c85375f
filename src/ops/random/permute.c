/* Random orders: of the numbers below n, of an array along an axis, and of each line by itself. */
#include "ops/convert.h"
#include "ops/random/permute.h"

#include <quarry/indexing.h>

#include "base/call.h"
#include "base/error.h"
#include "device/stream.h"
#include "kernels/elementwise.h"
#include "kernels/rng.h"
#include "ops/order/along.h"

/* ---- Orders ---- */

/* The bits of a Feistel network over 0 .. n - 1: at least 8, so that a small n is a small part of
 * the network's domain. */
static int network_bits(int64_t n)
{
    int bits = 8;
    while (((n - 1) >> bits) > 0)
        bits++;
    return bits;
}

/* The first places of one order of m numbers. */
static ga_status fill_order(gpuarray *out, ga_rng *rng, int64_t m)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(16),
        .name = "permutation",
        .body = "r = (long long)ga::permuted(i, m, (unsigned)a, (unsigned)b, c, d)",
        .uses_index = true};
    static const char *const names[] = {"m", "a", "b", "c", "d"};
    const int bits = network_bits(m);
    const ga_rng_state state = ga__rng_take(rng, 1);
    uint64_t numbers[5] = {(uint64_t)m, (uint64_t)(bits / 2), (uint64_t)(bits - bits / 2)};
    ga__operand operands[6] = {{.name = "r", .array = out, .type = GA_INT64, .writes = true}};
    ga__rng_call_bits(state, numbers + 3);
    for (int k = 0; k < 5; k++)
        operands[1 + k] = ga__unsigned_operand(names[k], numbers[k]);
    const ga_status status =
        ga__elementwise(&formula, out->buffer->device, 1, out->shape, 6, operands);
    if (status != GA_OK)
        ga__rng_give_back(rng, state, 1);
    return status;
}

gpuarray *ga__order_start(const char *name, ga__device *device, ga_rng *rng, int64_t m,
                          int64_t count)
{
    gpuarray *out = ga__array_new(name, device, GA_INT64, 1, &count);
    if (!out || count == 0 || fill_order(out, rng, m) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

/* For each element of x the index along the axis from which it comes: an order for each line. */
static gpuarray *line_orders(ga_rng *rng, const gpuarray *x, int axis)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(15),
        .name = "permuted",
        .body = "r = ga::permuted_line(i, m, inner, (unsigned)a, (unsigned)b, place, key)",
        .uses_index = true};
    static const char *const names[] = {"m", "inner", "a", "b", "place", "key"};
    const int64_t length = x->shape[axis];
    const uint64_t lines = (uint64_t)(x->size / length);
    const int bits = network_bits(length);
    gpuarray *out = ga__array_new("permuted", x->buffer->device, GA_INT64, x->ndim, x->shape);
    if (!out)
        return NULL;
    const ga_rng_state state = ga__rng_take(rng, lines);
    const uint64_t numbers[] = {
        (uint64_t)length,     (uint64_t)ga__shape_size(x->ndim - axis - 1, x->shape + axis + 1),
        (uint64_t)(bits / 2), (uint64_t)(bits - bits / 2),
        state.position,       state.seed};
    ga__operand operands[7] = {{.name = "r", .array = out, .type = GA_INT64, .writes = true}};
    for (int k = 0; k < 6; k++)
        operands[1 + k] = ga__unsigned_operand(names[k], numbers[k]);
    if (ga__elementwise(&formula, out->buffer->device, x->ndim, x->shape, 7, operands) == GA_OK)
        return out;
    ga__rng_give_back(rng, state, lines);
    ga_free(out);
    return NULL;
}

/* ---- Calls ---- */

static ga_status check_array(const char *name, const ga_rng *rng, const gpuarray *x, int axis,
                             int *normal)
{
    if (!rng || !x)
        return ga__fail(GA_ERR_INVALID, "%s: the %s is NULL", name, rng ? "array" : "generator");
    if (!ga__not_recording(name))
        return ga_error();
    return ga__check_axis(name, axis, x->ndim, normal);
}

/* x in a random order along an axis. */
static gpuarray *reordered(const char *name, ga_rng *rng, const gpuarray *x, int axis)
{
    const int64_t length = x->shape[axis];
    const ga_rng_state before = ga__rng_take(rng, 0);
    gpuarray *order = ga__order_start(name, x->buffer->device, rng, length, length);
    gpuarray *made =
        order ? (ga_take)(sizeof(ga_take_args),
                          &(ga_take_args){.x = x, .indices = order, .naxes = 1, .axes = &axis})
              : NULL;
    ga_free(order);
    if (!made)
        ga__rng_give_back(rng, before, 1);
    return made;
}

gpuarray *ga_rng_permutation_along(ga_rng *rng, const gpuarray *x, int axis)
{
    GA__CALL("rng_permutation_along");
    int normal;
    if (check_array("permutation", rng, x, axis, &normal) != GA_OK)
        return NULL;
    return reordered("permutation", rng, x, normal);
}

gpuarray *(ga_rng_permutation)(ga_rng *rng, ga_value x)
{
    GA__CALL("rng_permutation");
    if (x.kind == GA_VALUE_ARRAY)
        return ga_rng_permutation_along(rng, x.as.array, 0);
    const char kind = x.kind == GA_VALUE_NUMBER ? ga__dtype_kind(x.dtype) : '-';
    if (!rng)
        return ga__fail_null(GA_ERR_INVALID, "permutation: the generator is NULL");
    if (kind != 'i' && kind != 'u')
        return ga__fail_null(GA_ERR_INVALID,
                             "permutation: the length is neither an integer nor an array");
    if (x.as.i < 0)
        return ga__fail_null(GA_ERR_INVALID, "permutation: the length %lld is negative",
                             (long long)x.as.i);
    if (!ga__not_recording("permutation"))
        return NULL;
    return ga__order_start("permutation", ga__current_device(), rng, x.as.i, x.as.i);
}

ga_status ga_rng_shuffle(ga_rng *rng, gpuarray *x, int axis)
{
    GA__CALL("rng_shuffle");
    int normal;
    ga_status status = check_array("shuffle", rng, x, axis, &normal);
    if (status != GA_OK || !ga__array_writable("shuffle", x))
        return ga_error();
    const ga_rng_state before = ga__rng_take(rng, 0);
    gpuarray *made = reordered("shuffle", rng, x, normal);
    status = made ? ga__assign_bits(x, made) : ga_error();
    if (made && status != GA_OK)
        ga__rng_give_back(rng, before, 1);
    ga_free(made);
    return status;
}

gpuarray *ga_rng_permuted(ga_rng *rng, const gpuarray *x, int axis)
{
    GA__CALL("rng_permuted");
    int normal;
    if (check_array("permuted", rng, x, axis, &normal) != GA_OK)
        return NULL;
    if (x->size == 0)
        return ga__array_new("permuted", x->buffer->device, x->dtype, x->ndim, x->shape);
    const ga_rng_state before = ga__rng_take(rng, 0);
    gpuarray *orders = line_orders(rng, x, normal);
    gpuarray *made =
        orders ? (ga_take_along_axis)(sizeof(ga_take_args),
                                      &(ga_take_args){
                                          .x = x, .indices = orders, .naxes = 1, .axes = &normal})
               : NULL;
    ga_free(orders);
    if (!made)
        ga__rng_give_back(rng, before, (uint64_t)(x->size / x->shape[normal]));
    return made;
}
