/* Counts what a condition chooses, and runs statements for each chosen element. */
#include "ops/scan/chosen.h"

#include <string.h>

#include <quarry/ops.h>
#include <quarry/select.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "kernels/scan/scan.h"
#include "ops/scan/choose.h"
#include "ops/scan/take_number.h"

/* From this number of elements on, four launches cost less than the scan's waiting; on the host,
 * less than its loop, which takes one element after another. */
enum { MARKED = 1 << 16, MARKED_ON_HOST = 1 << 11 };

bool ga__chosen_is_marked(const ga__device *device, int64_t size)
{
    return size >= (ga__on_host(device) ? MARKED_ON_HOST : MARKED);
}

ga_status ga__check_condition(const char *name, const gpuarray *condition, const gpuarray *x)
{
    if (!condition || !x)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", name, condition ? "x" : "the condition");
    if (condition->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the condition is on %s, x on %s", name,
                        condition->buffer->device->name, x->buffer->device->name);
    return GA_OK;
}

/* Runs one of the two passes over the marks. */
static ga_status pass_over(const ga__chosen *c, ga__choice_pass pass, const ga__formula *base,
                           const char *map, int noperands, const ga__operand *operands)
{
    const int64_t n = c->where.size;
    const ga__scan scan = {.formula = {.base = *base, .map = map, .texts = &ga__truths},
                           .type = n < INT32_MAX ? GA_INT32 : GA_INT64,
                           .pass = pass};
    return ga__scan_run(&scan, c->where.device, 1, &n, 0, noperands, operands);
}

/* Marks the elements and counts those of each tile. An array of truths is the first operand. */
static ga_status mark(const ga__chosen *c, gpuarray *counts)
{
    const ga__formula formula = {.id = c->where.id, .name = "marks", .body = ""};
    ga__operand operands[GA__MAX_OPERANDS];
    int n = 0;
    if (c->condition)
        operands[n++] = ga__read_operand("c", c->condition);
    operands[n++] = ga__write_operand("ga_words", c->marks);
    operands[n++] = ga__write_operand("ga_tiles", counts);
    for (int k = 0; k < c->where.noperands && !c->condition; k++)
        operands[n++] = c->where.operands[k];
    return pass_over(c, GA__CHOICE_MARKS, &formula, c->where.text, n, operands);
}

static ga_status count_marked(ga__chosen *c)
{
    ga__device *device = c->where.device;
    const int64_t tiles = (c->where.size + GA__CHOICE_TILE - 1) / GA__CHOICE_TILE,
                  words = tiles * (GA__CHOICE_TILE / 32);
    gpuarray *counts = ga__array_new(c->name, device, GA_INT64, 1, &tiles);
    c->marks = ga__array_new(c->name, device, GA_UINT32, 1, &words);
    ga_status status = counts && c->marks ? mark(c, counts) : ga_error();
    if (status == GA_OK) {
        c->before = ga_cumsum(counts, .exclusive = true);
        status = c->before ? ga__take_number(ga_sum(counts), &c->count) : ga_error();
    }
    ga_free(counts);
    return status;
}

/* The condition as an expression. */
static char *truth_of(const ga__chosen *c)
{
    ga__strbuf chosen = GA__STRBUF_INIT;
    ga__strbuf_addf(&chosen, "[&]() -> bool { %s; }()", c->where.text);
    return ga__strbuf_take(&chosen);
}

/* Counts by a scan that stores its last number alone. */
static ga_status count_computed(ga__chosen *c)
{
    ga__operand operands[GA__MAX_OPERANDS];
    const int n = c->where.noperands;
    gpuarray *count = ga__array_new(c->name, c->where.device, GA_INT64, 0, NULL);
    char *const chosen = count ? truth_of(c) : NULL;
    const ga__choice choice = {.id = c->where.id,
                               .name = "count",
                               .chosen = chosen,
                               .store = "",
                               .always = "if (i + 1 == n) t[0] = item"};
    ga_status status = count ? GA_ERR_MEMORY : ga_error();
    if (chosen) {
        memcpy(operands, c->where.operands, (size_t)n * sizeof *operands);
        operands[n] = ga__write_operand("t", count);
        status = ga__choose(&choice, c->where.device, c->where.size, n + 1, operands);
    }
    ga__free(chosen);
    if (status == GA_OK)
        return ga__take_number(count, &c->count);
    ga_free(count);
    return status;
}

ga_status ga__chosen_begin_where(ga__chosen *c, const char *name, const ga__predicate *where)
{
    *c = (ga__chosen){.name = name, .where = *where};
    if (!ga__not_recording(name))
        return ga_error();
    if (ga__chosen_is_marked(where->device, where->size))
        return count_marked(c);
    return where->size > 0 ? count_computed(c) : GA_OK;
}

ga_status ga__chosen_begin(ga__chosen *c, const char *name, const gpuarray *condition)
{
    *c = (ga__chosen){.name = name,
                      .condition = condition,
                      .where = {.id = GA__FORMULA_ID(45),
                                .text = "return ga::truth(c[i])",
                                .device = condition->buffer->device,
                                .size = condition->size}};
    if (!ga__not_recording(name))
        return ga_error();
    if (ga__chosen_is_marked(c->where.device, condition->size))
        return count_marked(c);
    return ga__take_number(ga_count_nonzero(condition), &c->count);
}

gpuarray *ga__chosen_end(ga__chosen *c, gpuarray *out, ga_status status)
{
    ga_free(c->marks);
    ga_free(c->before);
    if (status == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

ga_status ga__chosen_store(const ga__chosen *c, const char *name, ga__hash128 id, const char *map,
                           const char *statements, int noperands, ga__operand *operands)
{
    if (c->marks) {
        const ga__formula formula = {.id = id, .name = name, .body = statements};
        operands[noperands++] = ga__read_operand("ga_words", c->marks);
        operands[noperands++] = ga__read_operand("ga_tiles", c->before);
        return pass_over(c, GA__CHOICE_MOVES, &formula, map, noperands, operands);
    }
    ga__strbuf store = GA__STRBUF_INIT;
    ga__strbuf_addf(&store, "const auto value = [&]() { %s; }(); %s", map, statements);
    char *const text = ga__strbuf_take(&store), *const chosen = text ? truth_of(c) : NULL;
    const ga__choice choice = {
        .id = id, .name = name, .chosen = chosen, .store = text, .always = ""};
    const ga_status status =
        chosen ? ga__choose(&choice, c->where.device, c->where.size, noperands, operands)
               : GA_ERR_MEMORY;
    ga__free(text);
    ga__free(chosen);
    return status;
}
