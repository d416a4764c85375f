/* Plans and runs exact sums of floats by element: clear a table, add to it, round what it holds. */
#include "ops/index/exact.h"

#include "base/error.h"
#include "ops/convert.h"

enum {
    PLACES = 254,           /* places of the lowest bit of a finite float's fraction, from 2^-149 */
    FRACTION = 24,          /* bits of a fraction */
    BIAS = 127,             /* of a float's exponent */
    LEAST_BITS = 8,         /* of a digit: find_sum() of exact.tmpl has room for 32 digits */
    MOST_BITS = 32,         /* of a digit, which is a word of 32 bits */
    TUPLE_BYTES = 24,       /* that a sort needs for each tuple */
    FEW_BYTES = 1 << 24,    /* that a table may always take */
    MORE_BYTES = 1 << 26,   /* that it may take besides if a sort of the tuples would need passes */
    BLOCK_TUPLES = 1 << 14, /* that one block sorts without passes */
    MANY_WORDS = 1 << 15,   /* from here on, atomics hardly wait for each other */
    MANY_TUPLES = 1 << 17,  /* from here on, copies of each word pay */
    MOST_COPIES = 32        /* of a word */
};

/* The places of a dtype's finite numbers join those from *first to *last. */
static void add_places(ga_dtype dtype, int *first, int *last)
{
    const ga__dtype_row *row = ga__dtype_row_of(dtype);
    const bool is_small = row->format.top != 0;
    const int exponent = BIAS - row->format.bias, fraction = row->format.fraction_bits;
    const int low = is_small ? exponent - fraction : 0;
    const int high = is_small ? exponent - 1 + (row->format.top >> fraction) : PLACES - 1;
    *first = low > *first ? *first : low > 0 ? low : 0;
    *last = high < *last ? *last : high < PLACES ? high : PLACES - 1;
}

/* The places of x's numbers and of the value's; returns how many. */
static int count_places(const gpuarray *x, ga_value value, int *first)
{
    int last = 0;
    *first = PLACES - 1;
    add_places(x->dtype, first, &last);
    add_places(value.kind == GA_VALUE_ARRAY ? value.as.array->dtype : GA_FLOAT32, first, &last);
    return last - *first + 1;
}

/* Chooses the bits of a digit: 63 bits hold the sum of all numbers, x's own one, and what other
 * digits carry. */
static bool plan_digits(ga__sums *p, int64_t tuples, int places)
{
    p->bits = 62 - FRACTION - ga__bits_of((uint64_t)tuples);
    if (p->bits < LEAST_BITS)
        return false;
    p->bits = p->bits < MOST_BITS ? p->bits : MOST_BITS;
    p->digits = (places + p->bits - 1) / p->bits;
    return true;
}

bool ga__exact_plan(const ga__indexing *g, ga_value value, ga_dtype loop, ga__sums *plan)
{
    const int64_t tuples = ga__indexing_tuples(g);
    const ga_dtype compute = ga__dtype_compute(loop);
    ga__sums p = {.copies = 1};
    if (ga__on_host(g->x->buffer->device) || g->ndim != g->index_ndim ||
        (compute != GA_FLOAT32 && compute != GA_COMPLEX64) ||
        !plan_digits(&p, tuples, count_places(g->x, value, &p.first)))
        return false;
    const int64_t parts = compute == GA_COMPLEX64 ? 2 : 1;
    const int64_t room = tuples <= BLOCK_TUPLES ? FEW_BYTES : MORE_BYTES + tuples * TUPLE_BYTES;
    const int64_t most = room / (int64_t)sizeof(uint64_t) / (p.digits + 1) / parts;
    p.span = ga__indexing_span(g, &p.low);
    if (p.span > most)
        return false;
    p.elements = p.span * parts;
    while (p.copies < MOST_COPIES && p.copies < tuples / MANY_TUPLES &&
           p.elements * p.copies < MANY_WORDS && p.span * p.copies * 2 < most)
        p.copies *= 2;
    *plan = p;
    return true;
}

/* Rounds the sums into x, whose other elements stay as they are. */
static ga_status finish(const ga__indexing *g, const ga__sums *p)
{
    static const ga__formula formula = {.id = GA__FORMULA_ID(367),
                                        .name = "finish_sums",
                                        .body = "ga::finish_sums(" GA__SUMS_TEXT ", i, x + i)",
                                        .uses_index = true};
    const int64_t none[1] = {0};
    ga__lens to, table;
    ga__operand operands[1 + GA__SUMS_OPERANDS];
    ga__lens_set_typed(&to, g->x, 1, &p->span, none,
                       g->offset + p->low * (int64_t)ga__dtype_size(g->x->dtype));
    operands[0] = ga__lens_operand("x", &to, GA__PLACED, true);
    ga__sums_operands(p, 1, &p->span, &table, operands + 1);
    return ga__elementwise(&formula, g->x->buffer->device, 1, &p->span, 1 + GA__SUMS_OPERANDS,
                           operands);
}

ga_status ga__add_exactly(const char *name, const ga__indexing *g, ga_value value, ga_dtype loop,
                          const ga__sums *plan)
{
    ga__sums p = *plan;
    const int64_t words = p.elements * p.copies * (p.digits + 1);
    p.table = ga__array_new(name, g->x->buffer->device, GA_UINT64, 1, &words);
    ga_status status =
        p.table ? ga__fill_elements(p.table, ga_value_signed(GA_INT64, 0)) : ga_error();
    if (status == GA_OK)
        status = ga__scatter_sum(name, g, value, loop, &p);
    if (status == GA_OK)
        status = finish(g, &p);
    ga_free(p.table);
    return status;
}
