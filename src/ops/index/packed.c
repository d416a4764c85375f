/* Sorts the tuples of a write by element, in words, and writes them in that order. */
#include "ops/index/packed.h"

#include "base/error.h"
#include "kernels/sort/sort.h"
#include "ops/convert.h"
#include "ops/index/latest.h"

/* The bits of a value that a word has room for beside its key. */
#define VALUE_BITS 32

static bool is_array(ga_value value)
{
    return value.kind == GA_VALUE_ARRAY;
}

/* The form of the words of a call. `values`: low bits may be elements of the value. */
static ga__packed form_of(const ga__indexing *g, ga_value value, bool values)
{
    ga__packed p = {.words = NULL};
    p.span = ga__indexing_span(g, &p.low);
    p.has_values = values && is_array(value) && g->ndim == g->index_ndim &&
                   ga__value_bits(value.as.array->dtype) > 0;
    const int key_bits = ga__bits_of((uint64_t)p.span); /* all ones are no key */
    const int low_bits =
        p.has_values ? VALUE_BITS : ga__bits_of((uint64_t)ga__indexing_tuples(g) - 1);
    p.shift = key_bits + low_bits <= 64 ? 64 - key_bits : -1;
    return p;
}

/* The sort of such words: the bytes below the key need none, since positions ascend already. */
static ga__sort_call sort_of(const ga__packed *p, const gpuarray *from, gpuarray *to)
{
    return (ga__sort_call){.from = from, .to = to, .skipped = p->shift / 8};
}

/* Whether a sort of this many words may skip the bits below the key: it keeps the order of equal
 * keys. */
static bool skips(const ga__indexing *g, const ga__packed *p)
{
    const int64_t tuples = ga__indexing_tuples(g);
    ga__lens words;
    const int64_t stride = sizeof(uint64_t);
    ga__lens_set_typed(&words, &(gpuarray){.dtype = GA_UINT64, .buffer = g->x->buffer}, 1, &tuples,
                       &stride, 0);
    const ga__sort_call call = sort_of(p, &words.array, &words.array);
    return ga__sort_skips(&call);
}

/* Whether tuples are single elements, and numerous enough to be sorted by passes over digits. */
static bool packs(const ga__indexing *g, ga_value value)
{
    const ga__packed p = form_of(g, value, true);
    return g->ndim == g->index_ndim && p.shift >= 0 && skips(g, &p);
}

ga_status ga__pack_sorted(const char *name, const ga__indexing *g, ga_index_mode mode,
                          ga_value value, ga__packed *packed)
{
    const int64_t tuples = ga__indexing_tuples(g);
    ga__device *device = g->x->buffer->device;
    ga__packed p = form_of(g, value, true);
    if (p.has_values && !skips(g, &p))
        p = form_of(g, value, false);
    if (p.shift < 0)
        return ga__fail(GA_ERR_UNSUPPORTED, "%s: %lld tuples of indices among %lld elements", name,
                        (long long)tuples, (long long)p.span);
    gpuarray *made = ga__array_new(name, device, GA_UINT64, 1, &tuples);
    p.words = made;
    ga_status status = made ? ga__scatter_pack(name, g, mode, value, &p) : ga_error();
    p.words = status == GA_OK ? ga__array_new(name, device, GA_UINT64, 1, &tuples) : NULL;
    status = p.words ? GA_OK : ga_error();
    if (status == GA_OK) {
        const ga__sort_call call = sort_of(&p, made, p.words);
        status = tuples > 1 ? ga__sort(&call) : ga__array_copy_into(p.words, made);
    }
    ga_free(made);
    if (status == GA_OK)
        *packed = p;
    else
        ga_free(p.words);
    return status;
}

/* The last word of each key writes. */
static ga_status write_words(const ga__indexing *g, ga_value value, const ga__packed *p)
{
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(341),
         .name = "write_packed",
         .body = "ga::write_last(x, w, (long long)i, (long long)n, shift, v, step)",
         .uses_index = true},
        {.id = GA__FORMULA_ID(342),
         .name = "write_packed",
         .body = "ga::write_last(x, w, (long long)i, (long long)n, shift)",
         .uses_index = true}};
    const gpuarray *from = value.as.array;
    const int64_t tuples = p->words->size, none[1] = {0};
    ga__lens to, values;
    ga__operand operands[6];
    int n = 0;
    ga__lens_set(&to, g->x, 1, &tuples, none,
                 g->offset + p->low * (int64_t)ga__dtype_size(g->x->dtype));
    operands[n++] = ga__lens_operand("x", &to, GA__PLACED, true);
    operands[n++] = ga__indexed_operand("w", p->words);
    operands[n++] = ga__integer_operand("shift", p->shift);
    gpuarray *line = NULL;
    if (!p->has_values) {
        gpuarray *whole = ga_broadcast_to(from, g->ndim, g->shape);
        line = whole ? ga_reshape(whole, 1, &tuples) : NULL;
        ga_free(whole);
        if (!line)
            return ga_error();
        ga__lens_set(&values, line, 1, &tuples, none, 0);
        operands[n++] = ga__lens_operand("v", &values, GA__PLACED, false);
        operands[n++] =
            ga__integer_operand("step", line->strides[0] / (int64_t)ga__dtype_size(line->dtype));
    }
    const ga_status status =
        ga__elementwise(&formulas[p->has_values], g->x->buffer->device, 1, &tuples, n, operands);
    ga_free(line);
    return status;
}

static ga_status write_packed(const char *name, const ga__indexing *g, ga_index_mode mode,
                              ga_value value)
{
    ga__packed packed;
    ga_status status = ga__pack_sorted(name, g, mode, value, &packed);
    if (status != GA_OK)
        return status;
    status = write_words(g, value, &packed);
    ga_free(packed.words);
    return status;
}

ga_status ga__write_indexed(const char *name, const ga__indexing *g, ga_index_mode mode,
                            const int64_t *steps, ga_value value)
{
    ga__latest latest;
    if (ga__latest_plan(g, steps, value, &latest))
        return ga__write_latest(name, g, mode, value, &latest);
    const bool sorts = is_array(value) && value.as.array->size != 1 &&
                       ga__shape_size(g->ndim, g->shape) > 0 && ga__claims_are_far(g, steps) &&
                       packs(g, value);
    return sorts ? write_packed(name, g, mode, value) : ga__scatter(name, g, mode, steps, value);
}
