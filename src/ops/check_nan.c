/* QUARRY_CHECK=nan: finds operations that make a NaN or infinity of finite operands. */
#include "ops/check_nan.h"

#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <quarry/indexing.h>
#include <quarry/ops.h>

#include "array/scope.h"
#include "base/alloc.h"
#include "base/call.h"
#include "base/error.h"
#include "base/log.h"
#include "base/strbuf.h"
#include "device/graph.h"

static _Thread_local bool checking;

bool ga__may_check(void)
{
    return !checking;
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

/* Around a check: its operations run unchecked in a scope of their own, and see none of the
 * thread's earlier errors. */
typedef struct check {
    bool outer;
    ga__saved_error before;
} check;

static check begin_check(void)
{
    const check c = {checking, ga__error_save()};
    checking = true;
    ga_scope_begin();
    return c;
}

/* An earlier error stays the thread's. */
static ga_status end_check(check c, ga_status status)
{
    ga_scope_end();
    checking = c.outer;
    ga__error_settle(c.before);
    return status;
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
static void index_of(int ndim, const int64_t *shape, int64_t at, int64_t *index)
{
    for (int axis = ndim - 1; axis >= 0; axis--) {
        index[axis] = at % shape[axis];
        at /= shape[axis];
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

/* A piece of a message whose values exist only once the graph has run: words, then the element
 * unless that is NULL. The place of the report stands for its index. */
typedef struct piece {
    char *words;
    gpuarray *element;
} piece;

/* What a graph keeps of a check. Its launches compute these arrays. */
typedef struct report {
    ga_site site;
    int ndim, count, capacity;
    int64_t shape[GA_MAX_NDIM];
    gpuarray *wrong, *place; /* 0-d: whether, and which element in C order */
    piece pieces[];
} report;

/* A message about one element of a result of this shape. */
typedef struct message {
    ga__strbuf text;
    int ndim;
    const int64_t *shape;
    int64_t index[GA_MAX_NDIM]; /* known unless the message is for a graph */
    report *report;             /* or NULL */
} message;

/* The element as a 0-d array that a launch computes. */
static gpuarray *recorded_element(const message *m, const gpuarray *x)
{
    gpuarray *whole = ga_broadcast_to(x, m->ndim, m->shape);
    gpuarray *flat = whole ? ga_ravel(whole) : NULL;
    return flat ? ga_take(flat, m->report->place, .mode = GA_CLIP) : NULL;
}

static void add_piece(message *m, gpuarray *element)
{
    report *r = m->report;
    assert(r->count < r->capacity);
    r->pieces[r->count++] = (piece){ga__strbuf_take(&m->text), element ? ga_retain(element) : NULL};
    m->text = (ga__strbuf)GA__STRBUF_INIT;
}

static void add_format(ga__strbuf *text, const gpuarray *x)
{
    char *number = x ? ga_format(x) : NULL;
    ga__strbuf_add(text, number ? number : "?");
    free(number);
}

static void add_element(message *m, const gpuarray *x)
{
    if (m->report)
        add_piece(m, recorded_element(m, x));
    else
        add_format(&m->text, element_at(x, m->ndim, m->index));
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
    char *words = ga__strbuf_take(text);
    if (!words)
        return GA_ERR_MEMORY;
    const bool logged = ga__log_wanted(GA_LOG_ERROR);
    const ga_status status = ga__fail(GA_ERR_INVALID, "%s", words);
    if (!logged && !atomic_flag_test_and_set(&shown)) {
        fprintf(stderr, "quarry: QUARRY_CHECK=nan: %s", words);
        if (ga_site_.file)
            fprintf(stderr, " (%s:%d)", ga_site_.file, ga_site_.line);
        fputc('\n', stderr);
    }
    ga__free(words);
    return status;
}

static void add_index(ga__strbuf *text, int ndim, const int64_t *shape, const int64_t *index)
{
    ga__strbuf_addf(text, " at index %s of shape %s", ga__shape_text(ndim, index),
                    ga__shape_text(ndim, shape));
}

/* "divide: nan at index (2,) of shape (4,)" */
static void begin_message(message *m, const char *name, const gpuarray *result)
{
    const char *call = ga__call();
    if (call && strcmp(call, name) != 0)
        ga__strbuf_addf(&m->text, "%s: ", call);
    ga__strbuf_addf(&m->text, "%s: ", name);
    add_element(m, result);
    if (m->report)
        add_piece(m, m->report->place);
    else
        add_index(&m->text, m->ndim, m->shape, m->index);
}

/* ---- Which elements are wrong ---- */

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

/* ---- Reports of graphs ---- */

static void drop_report(void *data)
{
    report *r = data;
    for (int k = 0; k < r->count; k++) {
        ga__free(r->pieces[k].words);
        ga_free(r->pieces[k].element);
    }
    ga_free(r->wrong);
    ga_free(r->place);
    ga__free(r);
}

/* After a launch: raises the message if an element is wrong. */
static ga_status tell(const report *r)
{
    int64_t index[GA_MAX_NDIM];
    ga__strbuf text = GA__STRBUF_INIT;
    if (!ga_item_bool(r->wrong))
        return ga_error();
    ga__strbuf_add(&text, "graph_launch: ");
    for (int k = 0; k < r->count; k++) {
        const piece *p = &r->pieces[k];
        ga__strbuf_add(&text, p->words ? p->words : "");
        if (p->element == r->place) {
            index_of(r->ndim, r->shape, ga_item_int64(r->place), index);
            add_index(&text, r->ndim, r->shape, index);
        } else if (p->element) {
            add_format(&text, p->element);
        }
    }
    if (r->site.file)
        ga__strbuf_addf(&text, " (recorded at %s:%d)", r->site.file, r->site.line);
    return raise(&text);
}

static ga_status tell_in_scope(void *data)
{
    const check c = begin_check();
    return end_check(c, tell(data));
}

/* Starts the report of a graph: which element of the mask is true first, while the guard holds.
 * NULL when memory runs out, which is raised. */
static report *new_report(const gpuarray *result, gpuarray *mask, const ga__guard *guard,
                          int capacity)
{
    gpuarray *wrong = ga_any(mask), *place = wrong ? ga_argmax(mask) : NULL;
    if (place && guard && guard->flag)
        wrong = ga_logical_and(wrong, guard->flag);
    report *r =
        place && wrong ? ga__calloc(1, sizeof *r + (size_t)capacity * sizeof *r->pieces) : NULL;
    if (!r)
        return NULL;
    r->site = ga_site_;
    r->ndim = result->ndim;
    memcpy(r->shape, result->shape, (size_t)result->ndim * sizeof *r->shape);
    r->capacity = capacity;
    r->wrong = ga_retain(wrong);
    r->place = ga_retain(place);
    return r;
}

/* Finds the element of the result that the message is about. False if there is none. In a graph
 * there may always be one. `operands`: how many elements the message has besides the result's. */
static bool find_element(message *m, const gpuarray *result, gpuarray *mask, const ga__guard *guard,
                         int operands)
{
    *m = (message){.text = GA__STRBUF_INIT, .ndim = result->ndim, .shape = result->shape};
    if (mask && ga__recording()) {
        m->report = new_report(result, mask, guard, 3 + operands);
        return m->report != NULL;
    }
    const int64_t at = first_true(mask);
    if (at >= 0)
        index_of(result->ndim, result->shape, at, m->index);
    return at >= 0;
}

/* Raises the message now, or after the launches of the graph. */
static ga_status finish_message(message *m)
{
    if (!m->report)
        return raise(&m->text);
    add_piece(m, NULL);
    const ga__after_launch after = {tell_in_scope, drop_report, m->report};
    const ga_status status = ga_error() == GA_OK ? ga__graph_after_launch(&after) : ga_error();
    if (status != GA_OK)
        drop_report(m->report);
    return status;
}

/* ---- Guards ---- */

void ga__guard_add(ga__guard *guard, const gpuarray *x)
{
    if (!guard->holds || !has_floats(x) || x->size == 0)
        return;
    if (!ga__recording()) {
        guard->holds = first_true(made_here(x, 0, NULL)) < 0;
        return;
    }
    gpuarray *finite = ga_isfinite(x);
    finite = finite ? ga_all(finite) : NULL;
    guard->flag = finite && guard->flag ? ga_logical_and(guard->flag, finite) : finite;
    guard->holds = guard->flag != NULL;
}

bool ga__guard_fails(ga__guard *guard, const gpuarray *x)
{
    ga__guard finite = GA__GUARD_INIT;
    ga__guard_add(&finite, x);
    *guard = (ga__guard)GA__GUARD_INIT;
    if (!finite.flag)
        return !finite.holds;
    guard->flag = ga_logical_not(finite.flag);
    guard->holds = guard->flag != NULL;
    return guard->holds;
}

/* ---- Elementwise ---- */

static ga_status check_elements(const char *name, const gpuarray *result, const ga__guard *guard,
                                int count, const ga_value *operands, const char *const *names)
{
    message m;
    if (!find_element(&m, result, made_here(result, count, operands), guard, count))
        return ga_error();
    begin_message(&m, name, result);
    ga__strbuf_add(&m.text, ", from finite operands");
    for (int k = 0; k < count; k++) {
        const char letter[] = {(char)('a' + k), '\0'};
        ga__strbuf_addf(&m.text, "%s %s = ", k ? "," : "", names ? names[k] : letter);
        if (operands[k].kind == GA_VALUE_ARRAY)
            add_element(&m, operands[k].as.array);
        else
            add_number(&m.text, operands[k]);
    }
    return finish_message(&m);
}

ga_status ga__check_elements(const char *name, const gpuarray *result, const ga__guard *guard,
                             int count, const ga_value *operands, const char *const *names)
{
    if ((guard && !guard->holds) || !has_floats(result) || result->size == 0)
        return GA_OK;
    const check c = begin_check();
    return end_check(c, check_elements(name, result, guard, count, operands, names));
}

/* ---- Reductions ---- */

#define OVER(over)                                                                                 \
    .keepdims = (over)->keepdims, .naxes = (over)->naxes, .axes = (over)->axes,                    \
    .offsets = (over)->offsets

/* "from 100 finite elements between -1 and 7" */
static void add_range(message *m, const gpuarray *x, const ga__reduced *over)
{
    if (over->offsets) { /* segments have no one count, and some may have no least element */
        ga__strbuf_add(&m->text, ", from finite elements");
        return;
    }
    const gpuarray *low = ga_min(x, OVER(over));
    const gpuarray *high = ga_max(x, OVER(over));
    if (!low || !high)
        return;
    ga__strbuf_addf(&m->text, ", from %lld finite elements between ",
                    (long long)(low->size ? x->size / low->size : 0));
    add_element(m, low);
    ga__strbuf_add(&m->text, " and ");
    add_element(m, high);
}

static ga_status check_reduced(const char *name, const gpuarray *result, const ga__guard *guard,
                               const ga__reduced *over, int count, const gpuarray *const *operands)
{
    message m;
    gpuarray *mask = ga_isfinite(result);
    mask = mask ? ga_logical_not(mask) : NULL;
    for (int k = 0; k < count && mask; k++) {
        gpuarray *finite = ga_isfinite(operands[k]);
        finite = finite ? ga_all(finite, OVER(over)) : NULL;
        mask = finite ? ga_logical_and(mask, finite) : NULL;
    }
    if (!find_element(&m, result, mask, guard, 2 * count))
        return ga_error();
    begin_message(&m, name, result);
    for (int k = 0; k < count && operands[k]->size > 0; k++)
        add_range(&m, operands[k], over);
    return finish_message(&m);
}

ga_status ga__check_reduced(const char *name, const gpuarray *result, const ga__guard *guard,
                            const ga__reduced *over, int count, const gpuarray *const *operands)
{
    static const ga__reduced all;
    if ((guard && !guard->holds) || !has_floats(result) || result->size == 0)
        return GA_OK;
    const check c = begin_check();
    return end_check(c, check_reduced(name, result, guard, over ? over : &all, count, operands));
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
