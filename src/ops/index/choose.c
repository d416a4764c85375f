/* Elements of several arrays: by index, and by the first condition that holds. */
#include <quarry/indexing.h>

#include <stdio.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "model/promote.h"
#include "ops/elementwise_op.h"
#include "ops/index/checked.h"
#include "ops/join/join.h"
#include "ops/reduction_op.h"

/* Arrays that one kernel chooses from. */
#define MOST_CHOICES 16

static ga_status broadcast_all(const char *name, int count, const gpuarray *const *arrays,
                               int *ndim, int64_t *shape)
{
    for (int k = 0; k < count; k++)
        if (!ga__broadcast_shape(ndim, shape, arrays[k]->ndim, arrays[k]->shape))
            return ga__fail(GA_ERR_SHAPE, "%s: shapes %s and %s %s", name,
                            ga__shape_text(*ndim, shape),
                            ga__shape_text(arrays[k]->ndim, arrays[k]->shape),
                            ga__broadcast_problem(*ndim, shape, arrays[k]->ndim, arrays[k]->shape));
    return GA_OK;
}

static ga_status check_list(const char *name, const char *what, int count,
                            const gpuarray *const *arrays, const gpuarray *beside)
{
    if (count < 1 || !arrays)
        return ga__fail(GA_ERR_INVALID, "%s: %d %ss, expected at least 1", name, arrays ? count : 0,
                        what);
    for (int k = 0; k < count; k++) {
        if (!arrays[k])
            return ga__fail(GA_ERR_INVALID, "%s: %s %d is NULL", name, what, k + 1);
        const gpuarray *other = beside ? beside : arrays[0];
        if (arrays[k]->buffer->device != other->buffer->device)
            return ga__fail(GA_ERR_DEVICE, "%s: operands on %s and %s", name,
                            other->buffer->device->name, arrays[k]->buffer->device->name);
    }
    return GA_OK;
}

/* ---- choose ---- */

static ga_status choose_text(int count, ga_index_mode mode, ga__strbuf *text)
{
    static const char *const place[] = {"ga::taken(j, count, fault, call, axis, i)",
                                        "ga::wrapped(j, count)", "ga::clipped(j, count)"};
    ga__strbuf_addf(text, "const long long q = %s; r = ", place[mode]);
    for (int k = 0; k < count - 1; k++)
        ga__strbuf_addf(text, "q == %d ? c%d : ", k, k);
    ga__strbuf_addf(text, "c%d", count - 1);
    return text->failed ? GA_ERR_MEMORY : GA_OK;
}

static ga_status choose_into(gpuarray *out, const gpuarray *indices, int count,
                             const gpuarray *const *choices, ga_index_mode mode)
{
    const bool checks = mode == GA_RAISE;
    char names[MOST_CHOICES][16];
    ga__checked checked;
    ga__operand operands[4 + MOST_CHOICES + GA__CHECKED_OPERANDS];
    ga__strbuf text = GA__STRBUF_INIT;
    int n = 0;
    operands[n++] = (ga__operand){.name = "r", .array = out, .type = out->dtype, .writes = true};
    operands[n++] = (ga__operand){.name = "j", .array = indices, .type = GA_INT64, .reads = true};
    operands[n++] = ga__integer_operand("count", count);
    operands[n++] = ga__integer_operand("axis", 0);
    for (int k = 0; k < count; k++) {
        snprintf(names[k], sizeof *names, "c%d", k);
        operands[n++] =
            (ga__operand){.name = names[k], .array = choices[k], .type = out->dtype, .reads = true};
    }
    if (checks)
        n = ga__checked_begin(&checked, "choose", out->buffer->device, operands, n);
    ga_status status = n < 0 ? ga_error() : choose_text(count, mode, &text);
    const uint64_t id = (uint64_t)mode * (MOST_CHOICES + 1) + (uint64_t)count;
    const ga__formula formula = {.id = GA__FAMILY_ID(GA__FAMILY_CHOOSE, id),
                                 .name = "choose",
                                 .body = text.text,
                                 .uses_index = true};
    if (status == GA_OK)
        status = ga__elementwise(&formula, out->buffer->device, out->ndim, out->shape, n, operands);
    ga__strbuf_reset(&text);
    return n < 0 || !checks ? status : ga__checked_end(&checked, status);
}

gpuarray *ga_choose_with(const gpuarray *indices, int count, const gpuarray *const *choices,
                         size_t size, const ga_choose_args *args)
{
    GA__CALL("choose");
    ga_choose_args known;
    int64_t shape[GA_MAX_NDIM];
    int ndim = 0;
    if (ga__options_read("choose", &known, sizeof known, args, size) != GA_OK ||
        ga__check_mode("choose", known.mode) != GA_OK)
        return NULL;
    if (!indices)
        return ga__fail_null(GA_ERR_INVALID, "choose: indices is NULL");
    if (check_list("choose", "choice", count, choices, indices) != GA_OK ||
        ga__check_indices("choose", indices, indices) != GA_OK)
        return NULL;
    if (count > MOST_CHOICES)
        return ga__fail_null(GA_ERR_UNSUPPORTED, "choose: more than %d choices", MOST_CHOICES);
    const ga_dtype dtype = ga__common_dtype("choose", count, choices);
    if (dtype == GA_NO_DTYPE || broadcast_all("choose", 1, &indices, &ndim, shape) != GA_OK ||
        broadcast_all("choose", count, choices, &ndim, shape) != GA_OK)
        return NULL;
    if (known.out &&
        ga__check_reduced_out("choose", indices, dtype, ndim, shape, known.out) != GA_OK)
        return NULL;
    gpuarray *out = ga__array_new("choose", indices->buffer->device, dtype, ndim, shape);
    if (!out || choose_into(out, indices, count, choices, known.mode) == GA_OK)
        return ga__give_result("choose", out, known.out);
    ga_free(out);
    return NULL;
}

gpuarray *(ga_choose)(const gpuarray *indices, int count, const gpuarray *const *choices)
{
    static const ga_choose_args none;
    return ga_choose_with(indices, count, choices, sizeof none, &none);
}

/* ---- select ---- */

static ga_status select_text(int count, ga__strbuf *text)
{
    ga__strbuf_add(text, "r = ");
    for (int k = 0; k < count; k++)
        ga__strbuf_addf(text, "m%d ? c%d : ", k, k);
    ga__strbuf_add(text, "v");
    return text->failed ? GA_ERR_MEMORY : GA_OK;
}

static ga_status select_into(gpuarray *out, int count, const gpuarray *const *conditions,
                             const gpuarray *const *choices, ga_value value)
{
    char names[2 * MOST_CHOICES][16];
    ga__operand operands[2 + 2 * MOST_CHOICES];
    ga__strbuf text = GA__STRBUF_INIT;
    int n = 0;
    operands[n++] = (ga__operand){.name = "r", .array = out, .type = out->dtype, .writes = true};
    operands[n++] = (ga__operand){.name = "v",
                                  .array = value.kind == GA_VALUE_ARRAY ? value.as.array : NULL,
                                  .number = value,
                                  .type = out->dtype,
                                  .reads = true};
    for (int k = 0; k < count; k++) {
        snprintf(names[2 * k], sizeof *names, "m%d", k);
        snprintf(names[2 * k + 1], sizeof *names, "c%d", k);
        operands[n++] = (ga__operand){
            .name = names[2 * k], .array = conditions[k], .type = GA_BOOL, .reads = true};
        operands[n++] = (ga__operand){
            .name = names[2 * k + 1], .array = choices[k], .type = out->dtype, .reads = true};
    }
    ga_status status = select_text(count, &text);
    const ga__formula formula = {.id = GA__FAMILY_ID(GA__FAMILY_SELECT, (unsigned)count),
                                 .name = "select",
                                 .body = text.text};
    if (status == GA_OK)
        status = ga__elementwise(&formula, out->buffer->device, out->ndim, out->shape, n, operands);
    ga__strbuf_reset(&text);
    return status;
}

/* The dtype of the choices and the value, whose number is weak. */
static ga_dtype select_dtype(int count, const gpuarray *const *choices, ga_value value)
{
    ga_dtype loop[2], common, dtype = ga__common_dtype("select", count, choices);
    const gpuarray *from = value.kind == GA_VALUE_ARRAY ? value.as.array : NULL;
    if (dtype == GA_NO_DTYPE)
        return dtype;
    if (ga__dtype_is_struct(dtype) || (from && ga__dtype_is_struct(from->dtype))) {
        const ga_status status = from ? ga__check_converts("select", from->dtype, dtype)
                                      : ga__check_number("select", value, dtype);
        return status == GA_OK ? dtype : GA_NO_DTYPE;
    }
    const ga__operand_type types[] = {{.dtype = dtype},
                                      {from ? from->dtype : value.dtype, !from, value}};
    return ga__resolve("select", "?iufc", GA__RULE_SAME, 2, types, loop, &common) == GA_OK
               ? common
               : GA_NO_DTYPE;
}

static gpuarray *select_some(int count, const gpuarray *const *conditions,
                             const gpuarray *const *choices, ga_value value)
{
    int64_t shape[GA_MAX_NDIM];
    int ndim = 0;
    const gpuarray *from = value.kind == GA_VALUE_ARRAY ? value.as.array : NULL;
    const ga_dtype dtype = select_dtype(count, choices, value);
    if (dtype == GA_NO_DTYPE || broadcast_all("select", count, conditions, &ndim, shape) != GA_OK ||
        broadcast_all("select", count, choices, &ndim, shape) != GA_OK ||
        (from && broadcast_all("select", 1, &from, &ndim, shape) != GA_OK))
        return NULL;
    gpuarray *out = ga__array_new("select", conditions[0]->buffer->device, dtype, ndim, shape);
    if (!out || select_into(out, count, conditions, choices, value) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *(ga_select)(int nconditions, const gpuarray *const *conditions, int nchoices,
                      const gpuarray *const *choices, ga_value value)
{
    GA__CALL("select");
    ga__device *device;
    if (check_list("select", "condition", nconditions, conditions, NULL) != GA_OK ||
        check_list("select", "choice", nchoices, choices, conditions[0]) != GA_OK ||
        ga__check_values("select", 1, &value, &device) != GA_OK)
        return NULL;
    if (nconditions != nchoices)
        return ga__fail_null(GA_ERR_INVALID, "select: %d conditions, but %d choices", nconditions,
                             nchoices);
    if (value.kind == GA_VALUE_ARRAY && device != conditions[0]->buffer->device)
        return ga__fail_null(GA_ERR_DEVICE, "select: operands on %s and %s",
                             conditions[0]->buffer->device->name, device->name);
    for (int k = 0; k < nconditions; k++)
        if (conditions[k]->dtype != GA_BOOL)
            return ga__fail_null(GA_ERR_DTYPE, "select: condition %d is %s, expected bool", k + 1,
                                 ga_dtype_name(conditions[k]->dtype));
    gpuarray *rest = NULL;
    for (int left = nconditions; left > 0;) {
        const int some = left % MOST_CHOICES ? left % MOST_CHOICES : MOST_CHOICES;
        const int first = left - some;
        gpuarray *next = select_some(some, conditions + first, choices + first,
                                     rest ? ga_value_array(rest) : value);
        ga_free(rest);
        rest = next;
        if (!rest)
            return NULL;
        left = first;
    }
    return rest;
}
