/* Reductions of the elements that a mask chooses, and with an initial element. */
#include "ops/functions/masked.h"

#include <stdio.h>

#include "base/error.h"
#include "model/promote.h"
#include "ops/elementwise_op.h"
#include "ops/functions/parts.h"

/* What a row computes of the elements `x` where the mask `w` is true: T is the type of `x`. */
typedef struct recipe {
    const char *absent; /* the element in the place of others, without effect; NULL: see `parts` */
    const char *values; /* the values of the parts */
    const char *result; /* over their accumulators */
    const ga__part_formula *parts[2];
} recipe;

#define SUM_PART &ga__rows[GA__ROW_sum].part
#define MOMENTS(FINISH)                                                                            \
    {                                                                                              \
        .accumulator = "ga::number_moments<T, I>", .neutral = "{}", .step = "ga::gather(a, x)",    \
        .combine = "ga::merge(a, b)", .finish = FINISH, .holds = GA__ACCUMULATOR_COUNTED,          \
        .rounds = true                                                                             \
    }
/* NaN leaves an element out, so whether a chosen one was NaN is a part of its own. */
static const ga__part_formula variance = MOMENTS("ga::variance(a.of, a.of.count - ddof)"),
                              deviation =
                                  MOMENTS("ga::sqrt(ga::variance(a.of, a.of.count - ddof))");
#define NUMBER "w ? x : T(ga::nan_or_highest<ga_part0::E>())"
#define UNLESS_NAN "a.part1.value ? ga::not_a_number<ga::real_type<ga_part0::T>>() : ga_finish0(a)"

/* An element no better than one that is left out: then every chosen one is as good. */
#define PLACE_UNLESS(worst)                                                                        \
    "a.part1.index < 0 ? -1LL : "                                                                  \
    "ga::equal(a.part0.value, ga_part0::T(ga::" worst "<ga_part0::E>())) ? "                       \
    "(long long)a.part1.index : (long long)a.part0.index"
#define PLACE(name, worst, chosen)                                                                 \
    {                                                                                              \
        NULL, chosen " ? x : T(ga::" worst "<ga_part0::E>()), ga_part1::T(" chosen ")",            \
            PLACE_UNLESS(worst),                                                                   \
        {                                                                                          \
            &ga__rows[GA__ROW_##name].part, &ga__rows[GA__ROW_argmax].part                         \
        }                                                                                          \
    }

static const recipe recipes[GA__ROW_END] = {
    [GA__ROW_sum] = {.absent = "T(0)"},
    [GA__ROW_prod] = {.absent = "T(1)"},
    [GA__ROW_min] = {.absent = "T(ga::highest<ga_part0::E>())"},
    [GA__ROW_max] = {.absent = "T(ga::lowest<ga_part0::E>())"},
    [GA__ROW_any] = {.absent = "T(0)"},
    [GA__ROW_all] = {.absent = "T(1)"},
    [GA__ROW_count_nonzero] = {.absent = "T(0)"},
    [GA__ROW_nansum] = {.absent = "T(0)"},
    [GA__ROW_nanprod] = {.absent = "T(1)"},
    [GA__ROW_nanmin] = {.absent = "T(ga::nan_or_highest<ga_part0::E>())"},
    [GA__ROW_nanmax] = {.absent = "T(ga::nan_or_lowest<ga_part0::E>())"},
    [GA__ROW_nanmean] = {.absent = "T(ga::nan_or_highest<ga_part0::E>())"},
    [GA__ROW_nanvar] = {.absent = "T(ga::nan_or_highest<ga_part0::E>())"},
    [GA__ROW_nanstd] = {.absent = "T(ga::nan_or_highest<ga_part0::E>())"},
    [GA__ROW_logsumexp] = {.absent = "T(ga::lowest<ga_part0::E>())"},
    [GA__ROW_mean] = {NULL,
                      "w ? x : T(0), ga_part1::T(w)",
                      "ga::ratio(a.part0, a.part1)",
                      {SUM_PART, &ga__rows[GA__ROW_count_nonzero].part}},
    [GA__ROW_var] = {NULL,
                     NUMBER ", ga_part1::T(w && ga::isnan(x))",
                     UNLESS_NAN,
                     {&variance, &ga__rows[GA__ROW_any].part}},
    [GA__ROW_std] = {NULL,
                     NUMBER ", ga_part1::T(w && ga::isnan(x))",
                     UNLESS_NAN,
                     {&deviation, &ga__rows[GA__ROW_any].part}},
    [GA__ROW_ptp] =
        {NULL,
         "w ? x : T(ga::lowest<ga_part0::E>()), ga_part1::T(w ? x : T(ga::highest<ga_part0::E>()))",
         "ga::distance_of(a.part1, a.part0)",
         {&ga__rows[GA__ROW_max].part, &ga__rows[GA__ROW_min].part}},
    [GA__ROW_argmin] = PLACE(argmin, "highest", "w"),
    [GA__ROW_argmax] = PLACE(argmax, "lowest", "w"),
    [GA__ROW_nanargmin] = PLACE(argmin, "highest", "(w && !ga::isnan(x))"),
    [GA__ROW_nanargmax] = PLACE(argmax, "lowest", "(w && !ga::isnan(x))"),
};

static bool takes_initial(const ga__row *op)
{
    const ga__row_id row = (ga__row_id)(op - ga__rows);
    return op->part.holds == GA__ACCUMULATOR_FLAG ||
           (op->part.holds == GA__ACCUMULATOR_VALUE && row != GA__ROW_mean);
}

/* An extreme has no neutral element, so that nothing chosen would have no answer. */
static bool needs_initial(const ga__row *op)
{
    return op->empty_is_error && op->part.holds == GA__ACCUMULATOR_VALUE;
}

ga_status ga__check_chosen(const ga__row *op, const ga_reduce_args *args, ga_dtype loop)
{
    const char *name = op->formula.name;
    const gpuarray *where = args->where, *x = args->x;
    const bool initial = ga__has_initial(args);
    if (initial && !takes_initial(op))
        return ga__fail(GA_ERR_INVALID, "%s: takes no initial element", name);
    if (initial && !ga__is_number(args->initial))
        return ga__fail(GA_ERR_INVALID, "%s: initial is not a number as GA_INITIAL(0) is", name);
    if (initial && ga__check_number(name, args->initial, loop) != GA_OK)
        return ga_error();
    if (!where)
        return GA_OK;
    if (needs_initial(op) && !initial)
        return ga__fail(GA_ERR_INVALID,
                        "%s: .where requires GA_INITIAL(): an empty reduction has no result", name);
    if (ga__check_numeric(name, where->dtype) != GA_OK)
        return ga_error();
    if (where->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the operand is on %s, where on %s", name,
                        x->buffer->device->name, where->buffer->device->name);
    if (!ga__broadcasts_to(where->ndim, where->shape, x->ndim, x->shape))
        return ga__fail(GA_ERR_SHAPE, "%s: where of shape %s does not broadcast to %s", name,
                        ga__shape_text(where->ndim, where->shape),
                        ga__shape_text(x->ndim, x->shape));
    return GA_OK;
}

/* The parts, and the map in the buffer. */
static ga__reduction reduction_of(ga__row_id row, const ga_reduce_args *args, ga_dtype loop,
                                  char *map, size_t room)
{
    static const char with_initial[] =
        "ga_finish0(ga_accumulator{ga_combine0(a.part0, ga_step0(ga_neutral0, 0, v))})";
    const recipe *r = &recipes[row];
    const double ddof = args->ddof + args->correction;
    const bool initial = ga__has_initial(args);
    ga__reduction made = ga__reduction_of(row, map, loop, ddof);
    const uint64_t option = (args->where != NULL) + 2 * (uint64_t)initial;
    made.formula.base.id =
        (ga__hash128)GA__FAMILY_ID(GA__FAMILY_MASKED, 4 * (uint64_t)row + option);
    if (!args->where)
        snprintf(map, room, "return {x}");
    else if (r->absent)
        snprintf(map, room, "typedef ga_part0::T T;\nreturn {T(w ? x : %s)}", r->absent);
    else
        snprintf(map, room, "typedef ga_part0::T T;\nreturn {%s}", r->values);
    if (initial)
        made.formula.results[0] = with_initial;
    if (!args->where || r->absent)
        return made;
    made.formula.results[0] = r->result;
    made.formula.nparts = 0;
    made.formula.base.uses_index = false;
    ga__add_part(&made, r->parts[0], loop, ddof);
    ga__add_part(&made, r->parts[1], row == GA__ROW_ptp ? loop : GA_BOOL, 0);
    return made;
}

ga_status ga__reduce_chosen(ga__row_id row, const ga_reduce_args *args, const gpuarray *x,
                            ga_dtype loop, const bool *reduced, gpuarray *out)
{
    char map[256];
    const gpuarray *where = args->where;
    gpuarray *copy = NULL;
    ga__operand operands[3];
    int count = 1;
    if (where && ga__arrays_overlap(out, where) && !(where = copy = ga_copy(where)))
        return ga_error();
    const ga__reduction r = reduction_of(row, args, loop, map, sizeof map);
    operands[0] = (ga__operand){.name = "x", .array = x, .type = loop, .reads = true};
    if (where)
        operands[count++] =
            (ga__operand){.name = "w", .array = where, .type = GA_BOOL, .reads = true};
    if (ga__has_initial(args))
        operands[count++] =
            (ga__operand){.name = "v", .number = args->initial, .type = loop, .reads = true};
    const ga_status status = ga__reduce_keeping(&r, x->buffer->device, x->ndim, x->shape, reduced,
                                                count, operands, &out);
    ga_free(copy);
    return status;
}
