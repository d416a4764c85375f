/* Selection of a bounded number of elements: nothing is read back, so a graph can record it. */
#include <quarry/select.h>

#include "base/call.h"
#include "base/error.h"
#include "ops/scan/choose.h"
#include "ops/scan/chosen.h"

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
    const ga__choice choice = {.id = GA__FAMILY_ID(GA__FAMILY_BOUNDED, (unsigned)which),
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
    const ga_status status = ga__check_condition(name, condition, values ? x : condition);
    if (status != GA_OK)
        return status;
    if (!count)
        return ga__fail(GA_ERR_INVALID, "%s: the pointer for the count is NULL", name);
    if (maximum < 0)
        return ga__fail(GA_ERR_INVALID, "%s: the maximum %lld is negative", name,
                        (long long)maximum);
    if (values && condition->size != x->size)
        return ga__fail(GA_ERR_SHAPE, "%s: the condition has %lld elements, x has %lld", name,
                        (long long)condition->size, (long long)x->size);
    return GA_OK;
}

ga_status ga_extract_bounded(const gpuarray *condition, const gpuarray *x, int64_t maximum,
                             gpuarray **values, gpuarray **indices, gpuarray **count)
{
    GA__CALL("extract_bounded");
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
