/* Selection by a scan: stores what a condition chooses, in order, in one pass. */
#include "ops/scan/choose.h"

#include "base/alloc.h"
#include "base/strbuf.h"
#include "kernels/scan/scan.h"

const ga__scan_texts ga__truths = {.accumulator = "T",
                                   .neutral = "T(0)",
                                   .lift = "x",
                                   .combine = "a + b",
                                   .finish = "a",
                                   .values = 1};

/* Where a thread takes elements in order, one that is not chosen is stored too, unless no chosen
 * one follows that replaces it: a condition that is nearly always true costs less than a branch
 * that is hard to predict. */
static char *body_of(const ga__choice *choice)
{
    ga__strbuf body = GA__STRBUF_INIT;
    ga__strbuf_addf(&body, "if (prev_item != ga_end.value) { const auto to = prev_item; %s; } %s",
                    choice->store, choice->always);
    return ga__strbuf_take(&body);
}

static char *map_of(const ga__choice *choice)
{
    ga__strbuf map = GA__STRBUF_INIT;
    ga__strbuf_addf(&map, "return {%s}", choice->chosen);
    return ga__strbuf_take(&map);
}

ga_status ga__choose(const ga__choice *choice, ga__device *device, int64_t n, int noperands,
                     const ga__operand *operands)
{
    char *const body = body_of(choice), *const map = body ? map_of(choice) : NULL;
    const ga__scan scan = {
        .formula = {.base = {.id = choice->id, .name = choice->name, .body = body},
                    .map = map,
                    .texts = &ga__truths},
        .type = n < INT32_MAX ? GA_INT32 : GA_INT64};
    const ga_status status =
        map ? ga__scan_run(&scan, device, 1, &n, 0, noperands, operands) : GA_ERR_MEMORY;
    ga__free(body);
    ga__free(map);
    return status;
}
