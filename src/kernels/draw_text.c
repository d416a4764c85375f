/* Fills the record of a draw's kernel from its distribution and variant. */
#include "kernels/draw_text.h"

#include "kernels/request.h"

typedef ga__draw_variant variant;

size_t ga__draw_param_words(const variant *v)
{
    return sizeof(ga__draw_params) / sizeof(uint64_t) + (v->host ? 0 : GA__RNG_LANE_WORDS) +
           GA__NUMBER_WORDS * (size_t)v->nnumbers;
}

int ga__draw_lanes(const variant *v)
{
    return ga__dtype_size((ga_dtype)v->type) == 8 ? 2 : 4;
}

int ga__draw_rows(ga_dtype drawn)
{
    return drawn == GA_NO_DTYPE ? 1 : (int)(GA__VECTOR_BYTES / ga__dtype_size(drawn));
}

const char *ga__draw_number_name(int k)
{
    static const char *const names[GA__DRAW_NUMBERS] = {"a", "b", "c", "d"};
    return names[k];
}

static void fill_numbers(ga__record *record, const variant *v)
{
    ga__record_list(record, GA__KEY(operand));
    for (int k = 0; k < v->nnumbers; k++) {
        ga__record *number = ga__record_append(record, GA__KEY(operand));
        const ga__declaration d = {.name = ga__draw_number_name(k), .reads = true};
        const ga__operand_variant o = {.type = v->number_type[k], .memory = GA_NO_DTYPE};
        ga__request_operand(number, 1 + k, &d, &o);
        ga__record_set_number(number, GA__KEY(word), GA__NUMBER_WORDS * k);
        ga__record_set_number(number, GA__KEY(word1), GA__NUMBER_WORDS * k + 1);
    }
}

ga__record *ga__draw_text(const ga__distribution *d, const variant *v)
{
    const char *texts[] = {d->formula.body, NULL};
    const ga__declaration result = {.writes = true};
    const ga__operand_variant out = {.type = v->type, .memory = v->type};
    const ga_dtype drawn = (ga_dtype)v->drawn;
    ga__record *record = ga__request_record(&d->formula, v->host,
                                            GA__NUMBER_WORDS * (size_t)v->nnumbers, false, texts);
    ga__record_set_number(record, GA__KEY(nparams), (int64_t)ga__draw_param_words(v));
    ga__record_set(record, GA__KEY(distributions), "1");
    ga__request_operand(record, 0, &result, &out);
    ga__record_set(record, GA__KEY(draw),
                   drawn == GA_NO_DTYPE ? "ga::words" : ga__dtype_compute_type(drawn));
    ga__record_set(record, GA__KEY(source), d->source);
    ga__record_set_number(record, GA__KEY(round_count), GA__RNG_ROUNDS);
    ga__record_set_number(record, GA__KEY(lane_words), GA__RNG_LANE_WORDS);
    ga__record_set_number(record, GA__KEY(block), GA__RANDOM_BLOCK);
    ga__record_set_number(record, GA__KEY(resident), GA__RANDOM_RESIDENT);
    ga__record_set_number(record, GA__KEY(column), GA__RANDOM_COLUMN);
    ga__record_set_number(record, GA__KEY(lanes), ga__draw_lanes(v));
    ga__record_set(record, GA__KEY(together), v->together ? "1" : "");
    ga__record_set(record, GA__KEY(past_cache), v->past_cache ? "1" : "");
    fill_numbers(record, v);
    return record;
}
