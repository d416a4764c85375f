/* QUARRY_CHECK=nan: finds operations that make a NaN or infinity of finite operands. */
#include "ops/check_nan.h"

#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include <quarry/ops.h>

#include "array/scope.h"
#include "base/alloc.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"

static _Thread_local bool checking;

bool ga__may_check(void)
{
    return !checking && !ga__recording();
}

void ga__check_begin(void)
{
    checking = true;
    ga_scope_begin();
}

void ga__check_end(void)
{
    ga_scope_end();
    checking = false;
}

static bool has_floats(const gpuarray *x)
{
    const char kind = ga__dtype_kind(x->dtype);
    return kind == 'f' || kind == 'c';
}

/* The index in C order of the first true element; -1 if there is none, or on failure. */
static int64_t first_true(const gpuarray *mask)
{
    if (!mask || mask->size == 0)
        return -1;
    const gpuarray *any = ga_any(mask);
    if (!any || !ga_item_bool(any))
        return -1;
    const gpuarray *place = ga_argmax(mask);
    return place ? ga_item_int64(place) : -1;
}

/* ---- Messages ---- */

/* Writes the index on each axis of element `at` in C order. */
static void unravel(const gpuarray *x, int64_t at, int64_t *index)
{
    for (int axis = x->ndim - 1; axis >= 0; axis--) {
        index[axis] = at % x->shape[axis];
        at /= x->shape[axis];
    }
}

/* The element of x that broadcasts to this index of an array of ndim axes, as a 0-d view. */
static gpuarray *element_at(const gpuarray *x, int ndim, const int64_t *index)
{
    int64_t offset = 0;
    for (int axis = 0; axis < x->ndim; axis++)
        if (x->shape[axis] > 1)
            offset += index[ndim - x->ndim + axis] * x->strides[axis];
    return ga__array_view(x, x->dtype, 0, NULL, NULL, offset);
}

static void add_element(ga__strbuf *text, const gpuarray *x, int ndim, const int64_t *index)
{
    char *number = ga_format(element_at(x, ndim, index));
    ga__strbuf_add(text, number ? number : "?");
    free(number);
}

static void add_number(ga__strbuf *text, ga_value v)
{
    const char kind = ga__dtype_kind(v.dtype);
    if (kind == 'c')
        ga__strbuf_addf(text, "(%g%+gj)", v.as.z[0], v.as.z[1]);
    else if (kind == 'f')
        ga__strbuf_addf(text, "%g", v.as.z[0]);
    else if (kind == 'u')
        ga__strbuf_addf(text, "%llu", (unsigned long long)v.as.u);
    else
        ga__strbuf_addf(text, "%lld", (long long)v.as.i);
}

/* Raises the message, and shows the first one to users who look at neither errors nor the log. */
static ga_status raise(ga__strbuf *text)
{
    static atomic_flag shown = ATOMIC_FLAG_INIT;
    char *message = ga__strbuf_take(text);
    if (!message)
        return GA_ERR_MEMORY;
    const bool logged = ga__log_wanted(GA_LOG_ERROR);
    const ga_status status = ga__fail(GA_ERR_INVALID, "%s", message);
    if (!logged && !atomic_flag_test_and_set(&shown)) {
        fprintf(stderr, "quarry: QUARRY_CHECK=nan: %s", message);
        if (ga_site_.file)
            fprintf(stderr, " (%s:%d)", ga_site_.file, ga_site_.line);
        fputc('\n', stderr);
    }
    ga__free(message);
    return status;
}

/* "divide: nan at index (2,) of shape (4,)" */
static void begin_message(ga__strbuf *text, const char *name, const gpuarray *result,
                          const int64_t *index)
{
    ga__strbuf_addf(text, "%s: ", name);
    add_element(text, result, result->ndim, index);
    ga__strbuf_addf(text, " at index %s of shape %s", ga__shape_text(result->ndim, index),
                    ga__shape_text(result->ndim, result->shape));
}

/* ---- Elementwise ---- */

static bool is_finite_number(ga_value v)
{
    const char kind = ga__dtype_kind(v.dtype);
    return (kind != 'f' && kind != 'c') || (isfinite(v.as.z[0]) && isfinite(v.as.z[1]));
}

/* Where the result is not finite although all operands are; NULL if nowhere, or on failure. */
static gpuarray *made_here(const gpuarray *result, int count, const ga_value *operands)
{
    for (int k = 0; k < count; k++)
        if (operands[k].kind == GA_VALUE_NUMBER && !is_finite_number(operands[k]))
            return NULL;
    gpuarray *mask = ga_isfinite(result);
    mask = mask ? ga_logical_not(mask) : NULL;
    for (int k = 0; k < count && mask; k++) {
        const gpuarray *x = operands[k].kind == GA_VALUE_ARRAY ? operands[k].as.array : NULL;
        if (x && has_floats(x))
            mask = ga_logical_and(mask, ga_isfinite(x));
    }
    return mask;
}

static ga_status check_elements(const char *name, const gpuarray *result, int count,
                                const ga_value *operands, const char *const *names)
{
    int64_t index[GA_MAX_NDIM];
    const bool had_error = ga_error() != GA_OK;
    const int64_t at = first_true(made_here(result, count, operands));
    if (at < 0)
        return had_error ? GA_OK : ga_error();
    ga__strbuf text = GA__STRBUF_INIT;
    unravel(result, at, index);
    begin_message(&text, name, result, index);
    ga__strbuf_add(&text, ", from finite operands");
    for (int k = 0; k < count; k++) {
        const char letter[] = {(char)('a' + k), '\0'};
        ga__strbuf_addf(&text, "%s %s = ", k ? "," : "", names ? names[k] : letter);
        if (operands[k].kind == GA_VALUE_ARRAY)
            add_element(&text, operands[k].as.array, result->ndim, index);
        else
            add_number(&text, operands[k]);
    }
    return raise(&text);
}

ga_status ga__check_elements(const char *name, const gpuarray *result, int count,
                             const ga_value *operands, const char *const *names)
{
    if (!has_floats(result) || result->size == 0)
        return GA_OK;
    const bool outer = checking;
    checking = true;
    ga_scope_begin();
    const ga_status status = check_elements(name, result, count, operands, names);
    ga_scope_end();
    checking = outer;
    return status;
}

bool ga__check_finite(const gpuarray *x)
{
    return !has_floats(x) || x->size == 0 || first_true(made_here(x, 0, NULL)) < 0;
}

/* ---- Reductions ---- */

/* "from 100 finite elements between -1 and 7" */
static void add_range(ga__strbuf *text, const gpuarray *x, bool keepdims, int naxes,
                      const int *axes, const int64_t *index)
{
    const gpuarray *low = ga_min(x, .keepdims = keepdims, .naxes = naxes, .axes = axes);
    const gpuarray *high = ga_max(x, .keepdims = keepdims, .naxes = naxes, .axes = axes);
    if (!low || !high)
        return;
    ga__strbuf_addf(text, ", from %lld finite elements between ",
                    (long long)(low->size ? x->size / low->size : 0));
    add_element(text, low, low->ndim, index);
    ga__strbuf_add(text, " and ");
    add_element(text, high, high->ndim, index);
}

static ga_status check_reduced(const char *name, const gpuarray *result, bool keepdims, int naxes,
                               const int *axes, int count, const gpuarray *const *operands)
{
    int64_t index[GA_MAX_NDIM];
    const bool had_error = ga_error() != GA_OK;
    gpuarray *mask = ga_isfinite(result);
    mask = mask ? ga_logical_not(mask) : NULL;
    for (int k = 0; k < count && mask; k++) {
        gpuarray *finite = ga_isfinite(operands[k]);
        finite = finite ? ga_all(finite, .keepdims = keepdims, .naxes = naxes, .axes = axes) : NULL;
        mask = finite ? ga_logical_and(mask, finite) : NULL;
    }
    const int64_t at = first_true(mask);
    if (at < 0)
        return had_error ? GA_OK : ga_error();
    ga__strbuf text = GA__STRBUF_INIT;
    unravel(result, at, index);
    begin_message(&text, name, result, index);
    for (int k = 0; k < count && operands[k]->size > 0; k++)
        add_range(&text, operands[k], keepdims, naxes, axes, index);
    return raise(&text);
}

ga_status ga__check_reduced(const char *name, const gpuarray *result, bool keepdims, int naxes,
                            const int *axes, int count, const gpuarray *const *operands)
{
    if (!has_floats(result) || result->size == 0)
        return GA_OK;
    const bool outer = checking;
    checking = true;
    ga_scope_begin();
    const ga_status status = check_reduced(name, result, keepdims, naxes, axes, count, operands);
    ga_scope_end();
    checking = outer;
    return status;
}

/* ---- Operands that are overwritten ---- */

ga_status ga__check_keep(const gpuarray *written, int count, const ga_value *operands,
                         ga_value *kept)
{
    for (int k = 0; k < count; k++) {
        kept[k] = operands[k];
        if (operands[k].kind != GA_VALUE_ARRAY || !operands[k].as.array ||
            !ga__arrays_overlap(written, operands[k].as.array))
            continue;
        kept[k].as.array = ga_copy(operands[k].as.array);
        if (!kept[k].as.array)
            return ga_error();
    }
    return GA_OK;
}
