/* Runs of equal elements among sorted ones, and what sets need of each run. */
#include "ops/sets/runs.h"

#include <stdio.h>

#include <quarry/ops.h>

#include "base/error.h"
#include "base/strbuf.h"
#include "kernels/reduce.h"
#include "ops/bins/bin_calls.h"
#include "ops/convert.h"
#include "ops/order/along.h"
#include "ops/reduction_op.h"
#include "ops/scan/choose.h"
#include "ops/scan/chosen.h"
#include "ops/scan/take_number.h"

/* ---- Formulas: an id has a bit for each part of the texts ---- */

#define FORMULA_ID(n) GA__FAMILY_ID(GA__FAMILY_RUNS, n)
enum {
    DISTINCT_NAN = 1,
    EACH = 2,
    CHOSEN = 4,
    INDICES = 8,
    INVERSE = 16,
    STARTS = 32,
    COUNT = 64,
    MARKED = 128
};
enum { ID_LENGTHS = 256 };

static unsigned parts_of(const ga__runs *runs)
{
    return (runs->distinct_nan ? DISTINCT_NAN : 0) | (runs->each ? EACH : 0) |
           (runs->chosen ? CHOSEN : 0);
}

static const char *differs(unsigned parts)
{
    return parts & DISTINCT_NAN ? "ga::differs<true>" : "ga::differs<false>";
}

/* ---- The number of runs ---- */

/* The array without its first or last elements. */
static gpuarray *part_of(const gpuarray *x, int64_t skipped, int64_t left_out)
{
    const int64_t count = x->size - skipped - left_out;
    return ga__array_view(x, x->dtype, 1, &count, x->strides, skipped * x->strides[0]);
}

/* Counts the chosen elements. */
static ga_status count_each(const ga__runs *runs, gpuarray **count)
{
    *count = ga_count_nonzero(runs->chosen);
    return *count ? GA_OK : ga_error();
}

/* Counts the elements that differ from those before, and the first. */
static ga_status count_firsts(const char *name, const ga__runs *runs, gpuarray **count)
{
    const gpuarray *x = runs->elements, *c = runs->chosen;
    const unsigned parts = parts_of(runs);
    const gpuarray *before = part_of(x, 0, 1), *element = before ? part_of(x, 1, 0) : NULL,
                   *chosen = element && c ? part_of(c, 1, 0) : NULL;
    gpuarray *out = ga__array_new(name, x->buffer->device, GA_INT64, 0, NULL);
    ga__strbuf map = GA__STRBUF_INIT;
    ga__strbuf_addf(&map, "return {%s(y, x)%s}", differs(parts), c ? " && z" : "");
    ga__reduction r = {
        .formula = {.base = {.id = FORMULA_ID(COUNT | parts), .name = "unique", .body = ""},
                    .map = map.text,
                    .nresults = 1,
                    .results = {c ? "ga_finish0(a) + ga::truth(c[0])" : "ga_finish0(a) + 1"}}};
    ga_status status = !out || !element || (c && !chosen) ? ga_error()
                       : map.failed                       ? GA_ERR_MEMORY
                                                          : GA_OK;
    if (status == GA_OK) {
        const ga__operand operands[] = {ga__streamed_operand("x", element, x->dtype),
                                        ga__streamed_operand("y", before, x->dtype),
                                        ga__streamed_operand("z", chosen, GA_BOOL),
                                        ga__read_operand("c", c ? c : x)};
        const bool reduced[] = {true};
        ga__add_part(&r, &ga__rows[GA__ROW_count_nonzero].part, GA_BOOL, 0);
        status = ga__reduce(&r, x->buffer->device, 1, element->shape, reduced, c ? 4 : 2, operands,
                            &out);
    }
    ga__strbuf_reset(&map);
    *count = out;
    return status;
}

/* Waits for the number. */
static ga_status count_runs(const char *name, const ga__runs *runs, int64_t *number)
{
    gpuarray *count;
    *number = runs->elements->size;
    if (*number == 0 || (runs->each && !runs->chosen))
        return GA_OK;
    if (!ga__not_recording(name))
        return ga_error();
    const ga_status status =
        runs->each ? count_each(runs, &count) : count_firsts(name, runs, &count);
    return status == GA_OK ? ga__take_number(count, number) : status;
}

/* ---- The runs ---- */

/* Room for what a pass over the elements stores; `starts` are the places of the runs' first
 * elements. */
static ga_status make_room(const char *name, const ga__runs *runs, ga__wanted_runs wanted,
                           int64_t count, ga__made_runs *made, gpuarray **starts)
{
    ga__device *const device = runs->elements->buffer->device;
    bool ok =
        (made->values = ga__array_new(name, device, runs->elements->dtype, 1, &count)) != NULL;
    if (ok && wanted.indices)
        ok = (made->indices = ga__array_new(name, device, GA_INT64, 1, &count)) != NULL;
    if (ok && wanted.counts)
        ok = (*starts = ga__array_new(name, device, GA_INT64, 1, &count)) != NULL;
    return ok ? GA_OK : ga_error();
}

/* Whether an element is the first of its run that counts, as a text over `s`, `c` and `i`. */
static void add_condition(ga__strbuf *text, unsigned parts)
{
    if (parts & EACH)
        ga__strbuf_add(text, parts & CHOSEN ? "c[i]" : "true");
    else
        ga__strbuf_addf(text, "(i == 0 || %s(s[i - 1], s[i]))%s", differs(parts),
                        parts & CHOSEN ? " && c[i]" : "");
}

/* The kernel has one name whatever the operation, since all of them share ids. */
static ga_status store_runs(const ga__runs *runs, const ga__made_runs *made, const gpuarray *starts)
{
    const gpuarray *x = runs->elements;
    gpuarray *from = ga__bits_view(x), *to = from ? ga__bits_view(made->values) : NULL;
    unsigned parts = parts_of(runs);
    int n = 0;
    ga__operand operands[8];
    if (!to)
        return ga_error();
    operands[n++] = ga__read_operand("s", x);
    operands[n++] = ga__read_operand("b", from);
    operands[n++] = ga__write_operand("v", to);
    if (runs->chosen)
        operands[n++] = ga__read_operand("c", runs->chosen);
    if (made->indices || made->inverse)
        operands[n++] = ga__read_operand("p", runs->order);
    if (made->indices)
        operands[n++] = ga__write_operand("k", made->indices), parts |= INDICES;
    if (made->inverse)
        operands[n++] = ga__write_operand("r", made->inverse), parts |= INVERSE;
    if (starts)
        operands[n++] = ga__write_operand("f", starts), parts |= STARTS;
    ga__strbuf chosen = GA__STRBUF_INIT, store = GA__STRBUF_INIT;
    add_condition(&chosen, parts);
    ga__strbuf_addf(&store, "v[to] = b[i]%s%s", parts & INDICES ? "; k[to] = p[i]" : "",
                    parts & STARTS ? "; f[to] = i" : "");
    const ga__choice choice = {.id = FORMULA_ID(parts),
                               .name = "unique",
                               .chosen = chosen.text,
                               .store = store.text,
                               .always = parts & INVERSE ? "r[p[i]] = item - 1" : ""};
    const ga_status status = chosen.failed || store.failed
                                 ? GA_ERR_MEMORY
                                 : ga__choose(&choice, x->buffer->device, x->size, n, operands);
    ga__strbuf_reset(&chosen);
    ga__strbuf_reset(&store);
    return status;
}

/* The lengths of runs. The last run ends after `size` elements. */
static gpuarray *lengths_of(const char *name, const gpuarray *starts, int64_t size)
{
    static const ga__formula formula = {.id = FORMULA_ID(ID_LENGTHS),
                                        .name = "unique_counts",
                                        .body = "r = (i + 1 < n ? f[i + 1] : m) - f[i]",
                                        .uses_index = true};
    gpuarray *out = ga__array_new(name, starts->buffer->device, GA_INT64, 1, starts->shape);
    const ga__operand operands[] = {
        ga__read_operand("f", starts),
        ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, size))};
    if (!out || out->size == 0 || ga__fill_by(&formula, out, GA_INT64, 2, operands) == GA_OK)
        return out;
    return NULL;
}

/* Stores what is chosen, of the marked elements. */
static ga_status store_marked(const ga__runs *runs, const ga__chosen *c, const ga__made_runs *made,
                              const gpuarray *starts)
{
    gpuarray *from = ga__bits_view(runs->elements), *to = from ? ga__bits_view(made->values) : NULL;
    unsigned parts = parts_of(runs) | MARKED;
    ga__operand operands[8];
    char statements[60];
    int n = 0;
    if (!to)
        return ga_error();
    operands[n++] = ga__read_operand("b", from);
    operands[n++] = ga__write_operand("v", to);
    if (made->indices) {
        operands[n++] = ga__read_operand("p", runs->order);
        operands[n++] = ga__write_operand("k", made->indices), parts |= INDICES;
    }
    if (starts)
        operands[n++] = ga__write_operand("f", starts), parts |= STARTS;
    snprintf(statements, sizeof statements, "v[to] = value%s%s",
             parts & INDICES ? "; k[to] = p[i]" : "", parts & STARTS ? "; f[to] = i" : "");
    const ga__hash128 id = FORMULA_ID(parts);
    return ga__chosen_store(c, "unique", id, "return b[i]", statements, n, operands);
}

/* The runs of many elements are marked, not scanned. */
static ga_status find_marked(const char *name, const ga__runs *runs, ga__wanted_runs wanted,
                             ga__made_runs *made, gpuarray **starts)
{
    const gpuarray *x = runs->elements;
    const unsigned parts = parts_of(runs);
    const ga__operand operands[] = {ga__read_operand("s", x),
                                    ga__read_operand("c", runs->chosen ? runs->chosen : x)};
    ga__strbuf text = GA__STRBUF_INIT;
    ga__strbuf_add(&text, "return ");
    add_condition(&text, parts);
    const ga__predicate where = {.id = FORMULA_ID(parts | MARKED | COUNT),
                                 .text = text.text,
                                 .device = x->buffer->device,
                                 .size = x->size,
                                 .noperands = runs->chosen ? 2 : 1,
                                 .operands = operands};
    ga__chosen c;
    ga_status status = GA_ERR_MEMORY;
    if (!text.failed) {
        status = ga__chosen_begin_where(&c, name, &where);
        if (status == GA_OK)
            status = make_room(name, runs, wanted, c.count, made, starts);
        if (status == GA_OK && c.count > 0)
            status = store_marked(runs, &c, made, *starts);
        ga__chosen_end(&c, NULL, status);
    }
    ga__strbuf_reset(&text);
    return status;
}

/* The scan knows the run of every element, which the inverse needs. */
static ga_status find_scanned(const char *name, const ga__runs *runs, ga__wanted_runs wanted,
                              int ndim, const int64_t *shape, ga__made_runs *made,
                              gpuarray **starts)
{
    int64_t count;
    ga_status status = count_runs(name, runs, &count);
    if (status == GA_OK)
        status = make_room(name, runs, wanted, count, made, starts);
    if (status != GA_OK)
        return status;
    if (wanted.inverse && !(made->inverse = ga__array_new(name, runs->elements->buffer->device,
                                                          GA_INT64, ndim, shape)))
        return ga_error();
    return count > 0 ? store_runs(runs, made, *starts) : GA_OK;
}

ga_status ga__find_runs(const char *name, const ga__runs *runs, ga__wanted_runs wanted, int ndim,
                        const int64_t *shape, ga__made_runs *made)
{
    const gpuarray *x = runs->elements;
    const bool marks = !wanted.inverse && ga__chosen_is_marked(x->buffer->device, x->size) &&
                       (!runs->each || runs->chosen);
    gpuarray *starts = NULL;
    *made = (ga__made_runs){NULL, NULL, NULL, NULL};
    ga_status status = marks ? find_marked(name, runs, wanted, made, &starts)
                             : find_scanned(name, runs, wanted, ndim, shape, made, &starts);
    if (status == GA_OK && wanted.counts &&
        !(made->counts = lengths_of(name, starts, runs->elements->size)))
        status = ga_error();
    return status;
}
