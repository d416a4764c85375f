/* Selection by one launch. Memory for the result comes first: the number of chosen elements of some
 * tiles, which lie evenly among all, tells how much. */
#include "ops/scan/once.h"

#include <string.h>

#include "base/error.h"
#include "kernels/scan/scan.h"
#include "ops/convert.h"
#include "ops/scan/choose.h"
#include "ops/scan/take_number.h"

/* The most elements of a sample, which has at most a fourth of all; the fewest that one launch
 * takes; the most bytes of one; and the share of all for which there is more room than the sample
 * tells. */
enum { SAMPLED = 1 << 20, LEAST = 4 * SAMPLED, MOST_BYTES = 16, ROOM = 64 };
enum { MORE_OPERANDS = 3 };

bool ga__goes_once(const ga__predicate *where, ga_dtype dtype)
{
    size_t nbytes = 0;
    bool fits = ga__dtype_size(dtype) <= MOST_BYTES;
    for (int k = 0; k < where->noperands; k++) {
        const gpuarray *x = where->operands[k].array;
        nbytes += x ? ga__dtype_size(x->dtype) * (size_t)where->size : 0;
        fits = fits && (!x || ga__dtype_size(x->dtype) <= MOST_BYTES);
    }
    return fits && !ga__on_host(where->device) && where->size >= LEAST &&
           nbytes > where->device->cache_bytes &&
           where->noperands + MORE_OPERANDS <= GA__MAX_OPERANDS;
}

/* Stores the chosen elements, or counts those of a sample. */
static ga_status run(const ga__once *o, gpuarray *y, gpuarray *total, int64_t sampled)
{
    const ga__predicate *where = o->where;
    const ga_dtype number = where->size < INT32_MAX ? GA_INT32 : GA_INT64;
    const ga__scan scan = {.formula = {.base = {.id = o->id, .name = o->name, .body = o->store},
                                       .map = o->value,
                                       .chosen = where->text,
                                       .texts = &ga__truths},
                           .type = number,
                           .pass = GA__CHOICE_ONCE,
                           .sampled = sampled};
    ga__operand operands[GA__MAX_OPERANDS];
    int n = where->noperands;
    memcpy(operands, where->operands, (size_t)n * sizeof *operands);
    operands[n++] = ga__write_operand("y", y);
    operands[n++] = (ga__operand){.name = "m",
                                  .number = ga_value_signed(number, sampled > 0 ? 0 : y->size),
                                  .type = number,
                                  .reads = true};
    operands[n++] = ga__write_operand("ga_total", total);
    return ga__scan_run(&scan, where->device, 1, &where->size, 0, n, operands);
}

/* The same, and reads the number. */
static ga_status count(const ga__once *o, gpuarray *y, int64_t sampled, int64_t *number)
{
    gpuarray *total = ga__array_new(o->name, o->where->device, GA_INT64, 0, NULL);
    const ga_status status = total ? run(o, y, total, sampled) : ga_error();
    if (status == GA_OK)
        return ga__take_number(total, number);
    ga_free(total);
    return status;
}

static int64_t sample_of(int64_t size)
{
    int64_t sampled = SAMPLED;
    while (sampled > 1 && 4 * sampled > size)
        sampled /= 2;
    return sampled;
}

/* Elements of the result if as many are chosen of all as of the sample, and some more. */
static int64_t room_for(int64_t chosen, int64_t sampled, int64_t size)
{
    const double share = (double)chosen / (double)sampled;
    const int64_t room = (int64_t)(share * (double)size) + size / ROOM;
    return room < size ? room : size;
}

ga_status ga__choose_once(const ga__once *o, gpuarray **out)
{
    ga__device *device = o->where->device;
    const int64_t size = o->where->size, sampled = sample_of(size), one = 1;
    int64_t number = 0;
    *out = NULL;
    gpuarray *y = ga__array_new(o->name, device, o->dtype, 1, &one);
    ga_status status = y ? count(o, y, sampled, &number) : ga_error();
    ga_free(y);
    if (status != GA_OK)
        return status;
    const int64_t room = room_for(number, sampled, size);
    y = ga__array_new(o->name, device, o->dtype, 1, &room);
    status = y ? count(o, y, 0, &number) : ga_error();
    if (status == GA_OK && number <= room)
        *out = ga__array_view(y, o->dtype, 1, &number, y->strides, 0);
    ga_free(y);
    return status == GA_OK && number <= room && !*out ? ga_error() : status;
}
