/* Fills the record of a sort's kernel from its variant. */
#include "kernels/sort/sort_text.h"

#include "kernels/request.h"

typedef ga__sort_variant variant;

bool ga__sort_needs_scratch(const variant *v)
{
    return v->host && v->step == GA__SORT_ROWS;
}

size_t ga__sort_param_words(const variant *v)
{
    const size_t scratch = ga__sort_needs_scratch(v) ? sizeof(ga__sort_scratch) : 0;
    return (sizeof(ga__sort_params) + scratch) / sizeof(uint64_t);
}

/* Of the steps, sort.tmpl includes one way's, and the way's file one. */
static void set_step(ga__record *record, const variant *v)
{
    const ga__sort_step step = (ga__sort_step)v->step;
    ga__record_set_flag(record, GA__KEY(short_rows), step == GA__SORT_SHORT_ROWS);
    ga__record_set_flag(record, GA__KEY(by_row), step == GA__SORT_ROWS);
    ga__record_set_flag(record, GA__KEY(long_rows), step >= GA__SORT_COUNT);
    ga__record_set_flag(record, GA__KEY(count_step), step == GA__SORT_COUNT);
    ga__record_set_flag(record, GA__KEY(plan_step), step == GA__SORT_PLAN);
    ga__record_set_flag(record, GA__KEY(digit_step), step == GA__SORT_DIGIT);
    ga__record_set_flag(record, GA__KEY(pass_step), step == GA__SORT_PASS);
    ga__record_set_flag(record, GA__KEY(gather_step), step == GA__SORT_GATHER);
    ga__record_set_flag(record, GA__KEY(bucket_step), step == GA__SORT_BUCKETS);
    ga__record_set_flag(record, GA__KEY(special_step), step == GA__SORT_SPECIALS);
    ga__record_set_flag(record, GA__KEY(scratch), ga__sort_needs_scratch(v));
}

static void set_boolean(ga__record *record, const char *name, bool value)
{
    ga__record_set(record, name, value ? "true" : "false");
}

ga__record *ga__sort_text(const ga__formula *formula, const variant *v)
{
    static const char *const texts[] = {"", NULL};
    const ga_dtype type = (ga_dtype)v->type;
    const bool complex_type = ga__dtype_kind(type) == 'c';
    ga__record *record = ga__request_record(formula, v->host, 0, complex_type, texts);
    ga__record_set(record, GA__KEY(order_key), "1");
    ga__record_set_number(record, GA__KEY(nparams), (int64_t)ga__sort_param_words(v));
    ga__record_set(record, GA__KEY(memory), ga__dtype_memory_type(type));
    ga__record_set_number(record, GA__KEY(itemsize), (int64_t)ga__dtype_size(type));
    ga__record_set(record, GA__KEY(index_type), v->wide ? "unsigned long long" : "unsigned");
    set_step(record, v);
    set_boolean(record, GA__KEY(descending), v->descending);
    set_boolean(record, GA__KEY(skips), v->skips);
    set_boolean(record, GA__KEY(values), v->values);
    set_boolean(record, GA__KEY(indices), v->indices);
    set_boolean(record, GA__KEY(last_pass), v->last);
    const bool plain = v->values && !v->indices && !complex_type;
    set_boolean(record, GA__KEY(plain), plain);
    ga__record_set_flag(record, GA__KEY(plain_words), plain);
    ga__record_set_flag(record, GA__KEY(same_words), plain && ga__dtype_size(type) >= 4);
    ga__record_set_flag(record, GA__KEY(one_word),
                        plain || (!complex_type && ga__dtype_size(type) <= 4));
    ga__record_set_flag(record, GA__KEY(quick), v->quick);
    ga__record_set_flag(record, GA__KEY(key_counts), v->counts);
    ga__record_set_flag(record, GA__KEY(packed_rows), v->packs);
    ga__record_set_number(record, GA__KEY(block), v->block);
    ga__record_set_number(record, GA__KEY(unroll), v->items);
    ga__record_set_number(record, GA__KEY(team), v->team);
    return record;
}
