/* Counts what a condition chooses, and runs statements for each chosen element. */
#include "ops/scan/chosen.h"

#include <quarry/ops.h>
#include <quarry/select.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/strbuf.h"
#include "kernels/scan/scan.h"
#include "ops/scan/choose.h"
#include "ops/scan/take_number.h"

ga_status ga__check_condition(const char *name, const gpuarray *condition, const gpuarray *x)
{
    if (!condition || !x)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", name, condition ? "x" : "the condition");
    if (condition->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the condition is on %s, x on %s", name,
                        condition->buffer->device->name, x->buffer->device->name);
    return GA_OK;
}

/* From so many elements on, four launches cost less than the scan's waiting. */
enum { MARKED = 1 << 16 };

/* Runs one of the two passes over the marks. */
static ga_status pass_over(const ga__chosen *c, ga__choice_pass pass, const ga__formula *base,
                           const char *map, int noperands, const ga__operand *operands)
{
    const int64_t n = c->condition->size;
    const ga__scan scan = {.formula = {.base = *base, .map = map, .texts = &ga__truths},
                           .type = n < INT32_MAX ? GA_INT32 : GA_INT64,
                           .pass = pass};
    return ga__scan_run(&scan, c->condition->buffer->device, 1, &n, 0, noperands, operands);
}

/* Marks the elements and counts those of each tile. */
static ga_status mark(const ga__chosen *c, gpuarray *counts)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(45), .name = "marks", .body = ""};
    const ga__operand operands[] = {ga__read_operand("c", c->condition),
                                    ga__write_operand("ga_words", c->marks),
                                    ga__write_operand("ga_tiles", counts)};
    return pass_over(c, GA__CHOICE_MARKS, &formula, "return ga::truth(c[i])", 3, operands);
}

static ga_status count_marked(ga__chosen *c)
{
    ga__device *device = c->condition->buffer->device;
    const int64_t tiles = (c->condition->size + GA__CHOICE_TILE - 1) / GA__CHOICE_TILE,
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

ga_status ga__chosen_begin(ga__chosen *c, const char *name, const gpuarray *condition)
{
    *c = (ga__chosen){.name = name, .condition = condition};
    if (!ga__not_recording(name))
        return ga_error();
    if (condition->buffer->device->arch != 0 && condition->size >= MARKED)
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
    char *const text = ga__strbuf_take(&store);
    if (!text)
        return GA_ERR_MEMORY;
    const ga__choice choice = {
        .id = id, .name = name, .chosen = "ga::truth(c[i])", .store = text, .always = ""};
    const ga_status status =
        ga__choose(&choice, c->condition->buffer->device, c->condition->size, noperands, operands);
    ga__free(text);
    return status;
}
