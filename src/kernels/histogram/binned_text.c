/* Fills the record of a kernel of bins from its formula and variant. */
#include "kernels/histogram/binned_text.h"

#include "kernels/request.h"

ga__record *ga__binned_text(const ga__formula *f, const ga__declaration *d,
                            const ga__binned_variant *v)
{
    const ga__binned_head *head = &v->head;
    size_t walk_words;
    ga__record *record = ga__elementwise_record(f, d, &v->walk, &walk_words);
    ga__record_set_number(record, GA__KEY(nparams),
                          (int64_t)(sizeof(ga__bins_params) / sizeof(uint64_t) + walk_words));
    ga__record_set(record, GA__KEY(bin_type), head->wide ? "long long" : "int");
    ga__record_set_flag(record, GA__KEY(table), head->table == GA__TABLE_SORTED);
    ga__record_set_flag(record, GA__KEY(edges), head->table == GA__TABLE_EDGES);
    ga__record_set_flag(record, GA__KEY(stores), ga__binned_stores(head->use));
    ga__record_set_flag(record, GA__KEY(makes_values), head->use == GA__BINNED_VALUE);
    ga__record_set(record, GA__KEY(result_array), head->use == GA__BINNED_VALUE ? "y" : "bin");
    ga__record_set_flag(record, GA__KEY(weighs), head->use == GA__BINNED_WEIGH);
    ga__record_set_flag(record, GA__KEY(sums_integers), head->use == GA__BINNED_SUM);
    ga__record_set(record, GA__KEY(slot_type),
                   head->use == GA__BINNED_WEIGH ? "double"
                   : head->wide_sums             ? "unsigned long long"
                                                 : "unsigned");
    if (head->blocks > 0)
        ga__record_setf(record, GA__KEY(bounds), "%d, %d", (int)v->walk.head.block,
                        (int)head->blocks);
    else
        ga__record_set_number(record, GA__KEY(bounds), (int)v->walk.head.block);
    ga__record_set_flag(record, GA__KEY(own_bins), head->own_bins);
    ga__record_set_flag(record, GA__KEY(within), head->use == GA__BINNED_WITHIN);
    ga__record_set_flag(record, GA__KEY(shared), head->own_bins || head->table);
    ga__record_set_flag(record, GA__KEY(past_cache), head->past_cache);
    ga__record_set_number(record, GA__KEY(strip), head->group);
    return record;
}
