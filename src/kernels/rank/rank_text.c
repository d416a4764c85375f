/* Fills the record of a selection's kernel from its variant. */
#include "kernels/rank/rank_text.h"

#include "kernels/reduce_text.h"
#include "kernels/request.h"

typedef ga__rank_variant variant;

static const struct {
    const char *name;
    bool interpolates, whole;
} methods[] = {
#define GA_METHOD(name, interpolates, whole) {#name, interpolates, whole},
#include "rank_methods.def"
#undef GA_METHOD
    {"median", false, false},
};

const char *ga__rank_method_name(ga__rank_method method)
{
    return methods[method].name;
}

bool ga__rank_interpolates(ga__rank_method method)
{
    return methods[method].interpolates;
}

bool ga__rank_whole(ga__rank_method method)
{
    return methods[method].whole;
}

const ga__formula *ga__rank_formula(ga__rank_task task)
{
    static const ga__formula formulas[] = {
        [GA__RANK_QUANTILES] = {.id = GA__FORMULA_ID(46), .name = "quantile", .body = ""},
        [GA__RANK_PARTITION] = {.id = GA__FORMULA_ID(19), .name = "partition", .body = ""},
        [GA__RANK_ARGPARTITION] = {.id = GA__FORMULA_ID(20), .name = "argpartition", .body = ""},
        [GA__RANK_TOPK] = {.id = GA__FORMULA_ID(21), .name = "topk", .body = ""},
    };
    return &formulas[task];
}

size_t ga__rank_param_words(const variant *v)
{
    return (sizeof(ga__rank_params) + (v->host ? sizeof(ga__scratch_params) : 0)) /
           sizeof(uint64_t);
}

static void fill_stage(ga__record *record, const variant *v)
{
    const bool moves = v->stage == GA__RANK_COUNT || v->stage == GA__RANK_MOVE;
    const bool merges = v->stage == GA__RANK_MERGE;
    ga__record_set_flag(record, GA__KEY(by_rows), v->stage == GA__RANK_ROWS);
    ga__record_set_flag(record, GA__KEY(by_rounds),
                        v->stage == GA__RANK_ROUND || v->stage == GA__RANK_GATHER ||
                            v->stage == GA__RANK_SAMPLE);
    ga__record_set_flag(record, GA__KEY(sampling), v->stage == GA__RANK_SAMPLE);
    ga__record_set_number(record, GA__KEY(sample), GA__RANK_SAMPLE_KEYS);
    ga__record_set_flag(record, GA__KEY(gathering), v->stage == GA__RANK_GATHER);
    ga__record_set_flag(record, GA__KEY(moves), moves);
    ga__record_set_flag(record, GA__KEY(counting), v->stage == GA__RANK_COUNT);
    ga__record_set_flag(record, GA__KEY(ordering), v->stage == GA__RANK_ORDER || merges);
    ga__record_set_flag(record, GA__KEY(merging), merges);
    ga__record_set_number(record, GA__KEY(team), v->team);
    ga__record_set_number(record, GA__KEY(targets), v->targets);
    ga__record_set_number(record, GA__KEY(digit_bits), ga__rank_digit_bits(v));
    ga__record_set_number(record, GA__KEY(state_bytes), GA__RANK_STATE_BYTES);
    ga__record_set_number(record, GA__KEY(most_q), GA__RANK_ROW_Q);
    ga__record_set_number(record, GA__KEY(tile),
                          v->host ? (int)GA__RANK_HOST_TILE
                                  : GA__RANK_MOVE_BLOCK * GA__RANK_MOVE_ITEMS);
    ga__record_set_number(record, GA__KEY(tables), ga__rank_tables(v));
    ga__record_set_number(record, GA__KEY(run_length), GA__RANK_RUN);
}

static void fill_task(ga__record *record, const variant *v)
{
    const bool quantiles = v->task == GA__RANK_QUANTILES;
    const bool median = quantiles && v->method == GA__RANK_median;
    const ga_dtype q_type = quantiles ? (ga_dtype)v->q_type : GA_FLOAT64;
    const ga_dtype result = quantiles ? (ga_dtype)v->result : (ga_dtype)v->type;
    ga__record_set_flag(record, GA__KEY(quantiles), quantiles);
    ga__record_set_flag(record, GA__KEY(median), median);
    ga__record_set_flag(record, GA__KEY(topk), v->task == GA__RANK_TOPK);
    ga__record_set_flag(record, GA__KEY(interpolates),
                        quantiles && methods[v->method].interpolates);
    ga__record_set(record, GA__KEY(method), methods[v->method].name);
    ga__record_set(record, GA__KEY(weak), v->weak ? "true" : "false");
    ga__record_set_flag(record, GA__KEY(skips_nan), v->skips_nan);
    ga__record_set_flag(record, GA__KEY(descending), v->descending);
    ga__record_set_flag(record, GA__KEY(stores_values), v->task != GA__RANK_ARGPARTITION);
    ga__record_set_flag(record, GA__KEY(stores_indices),
                        v->task == GA__RANK_ARGPARTITION || v->task == GA__RANK_TOPK);
    ga__record_set(record, GA__KEY(result_memory), ga__dtype_memory_type(result));
    ga__record_set(record, GA__KEY(q_memory), ga__dtype_memory_type(q_type));
}

ga__record *ga__rank_text(const variant *v)
{
    static const char *const texts[] = {"ga::order_key", NULL};
    static const int blocks[] = {
        [GA__RANK_SAMPLE] = GA__RANK_ROUND_BLOCK, [GA__RANK_ROUND] = GA__RANK_ROUND_BLOCK,
        [GA__RANK_GATHER] = GA__RANK_ROUND_BLOCK, [GA__RANK_COUNT] = GA__RANK_MOVE_BLOCK,
        [GA__RANK_MOVE] = GA__RANK_MOVE_BLOCK,    [GA__RANK_ORDER] = GA__RANK_ORDER_BLOCK,
        [GA__RANK_MERGE] = GA__RANK_ORDER_BLOCK};
    const ga_dtype type = (ga_dtype)v->type;
    ga__record *record =
        ga__request_record(ga__rank_formula((ga__rank_task)v->task), v->host, 0, false, texts);
    ga__record_set_number(record, GA__KEY(nparams), (int64_t)ga__rank_param_words(v));
    ga__record_set(record, GA__KEY(memory), ga__dtype_memory_type(type));
    ga__record_set_number(record, GA__KEY(itemsize), (int64_t)ga__dtype_size(type));
    ga__record_set_number(record, GA__KEY(block),
                          v->stage == GA__RANK_ROWS ? ga__rank_row_block(v) : blocks[v->stage]);
    fill_stage(record, v);
    fill_task(record, v);
    return record;
}
