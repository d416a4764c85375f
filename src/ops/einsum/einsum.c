/* ga_einsum(): sums of products named by subscripts, as numpy.einsum. */
#include <quarry/einsum.h>

#include <string.h>

#include "base/alloc.h"
#include "base/call.h"
#include "base/error.h"
#include "model/promote.h"
#include "base/options.h"
#include "ops/einsum/contraction.h"
#include "ops/einsum/subscripts.h"
#include "ops/elementwise_op.h"
#include "ops/join/join.h"

#define LETTERS 52

/* The labels of a e. Those of an ellipsis are counted from its last axis. */
typedef struct call {
    const ga_einsum_args *args;
    ga__subscripts_parser parser;
    int nlabels;
    int label_of[LETTERS];           /* -1: none yet */
    int ellipsis_label[GA_MAX_NDIM]; /* one for each axis of the ellipsis */
    int times[LETTERS];              /* that a letter occurs */
    int ndim;                        /* of the ellipsis */
    int64_t shape[GA_MAX_NDIM];      /* to which it broadcasts */
    ga__contraction *c;
} call;

/* In the order of the alphabet, capitals first. */
static int letter_index(char letter)
{
    return letter <= 'Z' ? letter - 'A' : 26 + letter - 'a';
}

#define FAIL_AT(place, status, ...)                                                                \
    ga__subscripts_fail(e->args->subscripts, place, status, __VA_ARGS__)

static ga_status new_label(call *e, size_t place, int *label)
{
    if (e->nlabels == GA__MAX_LABELS)
        return FAIL_AT(place, GA_ERR_INVALID, "more than %d axes", GA__MAX_LABELS);
    *label = e->nlabels++;
    return GA_OK;
}

static ga_status label_of_letter(call *e, const ga__subscripts *s, int k, int *label)
{
    int *known = &e->label_of[letter_index(s->letter[k])];
    if (*known < 0 && new_label(e, s->place[k], known) != GA_OK)
        return GA_ERR_INVALID;
    e->times[letter_index(s->letter[k])]++;
    *label = *known;
    return GA_OK;
}

/* ---- Operands ---- */

/* Labels of an operand's ellipsis, whose axes these are. */
static ga_status label_ellipsis(call *e, int operand, const ga__subscripts *s, int ndim,
                                const int64_t *shape, int *labels)
{
    if (!ga__broadcast_shape(&e->ndim, e->shape, ndim, shape))
        return FAIL_AT(s->ellipsis_place, GA_ERR_SHAPE,
                       "the ellipsis of operand %d has shape %s, others %s: they %s", operand + 1,
                       ga__shape_text(ndim, shape), ga__shape_text(e->ndim, e->shape),
                       ga__broadcast_problem(e->ndim, e->shape, ndim, shape));
    for (int k = 0; k < ndim; k++) {
        int *known = &e->ellipsis_label[k];
        if (*known < 0 && new_label(e, s->ellipsis_place, known) != GA_OK)
            return GA_ERR_INVALID;
        labels[ndim - 1 - k] = *known;
    }
    return GA_OK;
}

static ga_status check_ndim(const call *e, int operand, const ga__subscripts *s)
{
    const gpuarray *x = e->args->operands[operand];
    if (s->count == x->ndim || (s->ellipsis >= 0 && s->count < x->ndim))
        return GA_OK;
    const bool few = s->count < x->ndim;
    return FAIL_AT(few ? s->end : s->place[x->ndim], GA_ERR_SHAPE,
                   "operand %d has shape %s: %d axes for %d subscripts", operand + 1,
                   ga__shape_text(x->ndim, x->shape), x->ndim, s->count);
}

static ga_status fail_length(const call *e, int operand, const ga__subscripts *s, int axis)
{
    const gpuarray *x = e->args->operands[operand];
    const int missing = x->ndim - s->count,
              k = s->ellipsis < 0 || axis < s->ellipsis ? axis : axis - missing;
    int64_t other = e->c->length[e->label_of[letter_index(s->letter[k])]];
    for (int before = 0; before < k; before++)
        if (s->letter[before] == s->letter[k])
            other = x->shape[s->ellipsis < 0 || before < s->ellipsis ? before : before + missing];
    return FAIL_AT(s->place[k], GA_ERR_SHAPE,
                   "subscript '%c' has length %lld in operand %d, and %lld before", s->letter[k],
                   (long long)x->shape[axis], operand + 1, (long long)other);
}

static ga_status add_operand(call *e, int operand)
{
    const gpuarray *x = e->args->operands[operand];
    ga__subscripts s;
    int labels[GA_MAX_NDIM], axis = 0;
    ga_status status = ga__subscripts_read(&e->parser, &s);
    if (status == GA_OK)
        status = check_ndim(e, operand, &s);
    for (int k = 0; k <= s.count && status == GA_OK; k++) {
        if (k == s.ellipsis) {
            status =
                label_ellipsis(e, operand, &s, x->ndim - s.count, x->shape + axis, labels + axis);
            axis += x->ndim - s.count;
        }
        if (k < s.count && status == GA_OK)
            status = label_of_letter(e, &s, k, &labels[axis++]);
    }
    if (status != GA_OK)
        return status;
    const int wrong = ga__contraction_add(e->c, x, labels);
    return wrong < 0 ? GA_OK : fail_length(e, operand, &s, wrong);
}

static ga_status add_operands(call *e)
{
    ga__subscripts_parser *p = &e->parser;
    const int count = e->args->count;
    for (int k = 0; k < count; k++) {
        if (add_operand(e, k) != GA_OK)
            return ga_error();
        const bool more = ga__subscripts_accept(p, ",");
        if (more != (k < count - 1))
            return FAIL_AT(more ? p->at - 1 : p->at, GA_ERR_INVALID,
                           "subscripts of %s than %d operand%s", more ? "more" : "fewer", count,
                           count == 1 ? "" : "s");
    }
    return GA_OK;
}

/* ---- The result ---- */

static ga_status check_room(const call *e, size_t place, int letters)
{
    const int ndim = letters + e->ndim;
    return ndim <= GA_MAX_NDIM ? GA_OK
                               : FAIL_AT(place, GA_ERR_INVALID,
                                         "the result has %d axes, more than %d", ndim, GA_MAX_NDIM);
}

static void keep_ellipsis(call *e)
{
    for (int k = e->ndim - 1; k >= 0; k--)
        ga__contraction_keep(e->c, e->ellipsis_label[k]);
}

/* Without "->": the ellipsis, and the letters that occur once. */
static ga_status keep_single(call *e)
{
    int single = 0;
    for (int k = 0; k < LETTERS; k++)
        single += e->times[k] == 1;
    if (check_room(e, e->parser.at, single) != GA_OK)
        return GA_ERR_INVALID;
    keep_ellipsis(e);
    for (int k = 0; k < LETTERS; k++)
        if (e->times[k] == 1)
            ga__contraction_keep(e->c, e->label_of[k]);
    return GA_OK;
}

static ga_status check_output(const call *e, const ga__subscripts *s)
{
    for (int k = 0; k < s->count; k++) {
        if (e->label_of[letter_index(s->letter[k])] < 0)
            return FAIL_AT(s->place[k], GA_ERR_INVALID, "no operand has the subscript '%c'",
                           s->letter[k]);
        if (memchr(s->letter, s->letter[k], (size_t)k))
            return FAIL_AT(s->place[k], GA_ERR_INVALID, "the result has the subscript '%c' twice",
                           s->letter[k]);
    }
    if (s->ellipsis < 0 && e->ndim > 0)
        return FAIL_AT(s->end, GA_ERR_INVALID, "the result lacks an ellipsis for axes of shape %s",
                       ga__shape_text(e->ndim, e->shape));
    return check_room(e, s->start, s->count);
}

static ga_status keep_named(call *e)
{
    ga__subscripts s;
    const ga_status status = ga__subscripts_read(&e->parser, &s);
    if (status != GA_OK)
        return status;
    if (e->parser.text[e->parser.at] != '\0')
        return FAIL_AT(e->parser.at, GA_ERR_INVALID, "expected the end");
    if (check_output(e, &s) != GA_OK)
        return GA_ERR_INVALID;
    for (int k = 0; k <= s.count; k++) {
        if (k == s.ellipsis)
            keep_ellipsis(e);
        if (k < s.count)
            ga__contraction_keep(e->c, e->label_of[letter_index(s.letter[k])]);
    }
    return GA_OK;
}

static ga_status read_subscripts(call *e)
{
    const ga_status status = add_operands(e);
    if (status != GA_OK)
        return status;
    return ga__subscripts_accept(&e->parser, "->") ? keep_named(e) : keep_single(e);
}

/* ---- The call ---- */

/* Sets the dtype to compute in. */
static ga_status find_dtype(const ga_einsum_args *args, ga_dtype *dtype)
{
    *dtype = ga__common_dtype("einsum", args->count, args->operands);
    if (*dtype == GA_NO_DTYPE)
        return ga_error();
    if (args->dtype == GA_NO_DTYPE)
        return GA_OK;
    if (!ga__dtype_valid(args->dtype))
        return ga__fail(GA_ERR_DTYPE, "einsum: %d is not a dtype", (int)args->dtype);
    if (!ga__can_cast_same_kind(*dtype, args->dtype))
        return ga__fail(GA_ERR_DTYPE, "einsum: %s does not convert to %s", ga_dtype_name(*dtype),
                        ga_dtype_name(args->dtype));
    *dtype = args->dtype;
    return GA_OK;
}

static ga_status check(const ga_einsum_args *args, ga__device **device)
{
    ga_value values[GA__MAX_TERMS];
    if (!args->subscripts)
        return ga__fail(GA_ERR_INVALID, "einsum: the text of subscripts is NULL");
    if (args->count < 1 || args->count > GA__MAX_TERMS)
        return ga__fail(GA_ERR_INVALID, "einsum: %d operands, expected 1 to %d", args->count,
                        GA__MAX_TERMS);
    if (!args->operands)
        return ga__fail(GA_ERR_INVALID, "einsum: the list of operands is NULL");
    for (int k = 0; k < args->count; k++)
        values[k] = ga_value_array(args->operands[k]);
    ga_status status = ga__check_values("einsum", args->count, values, device);
    for (int k = 0; k < args->count && status == GA_OK; k++)
        status = ga__check_numeric("einsum", args->operands[k]->dtype);
    return status;
}

gpuarray *(ga_einsum)(size_t size, const ga_einsum_args *given)
{
    GA__CALL("einsum");
    ga_einsum_args args;
    ga__device *device;
    ga_dtype dtype;
    if (ga__options_read("einsum", &args, sizeof args, given, size) != GA_OK ||
        check(&args, &device) != GA_OK || find_dtype(&args, &dtype) != GA_OK)
        return NULL;
    call e = {.args = &args, .parser = {.text = args.subscripts}};
    memset(e.label_of, -1, sizeof e.label_of);
    memset(e.ellipsis_label, -1, sizeof e.ellipsis_label);
    e.c = ga__contraction_new("einsum", device, dtype, args.count);
    if (!e.c)
        return NULL;
    if (read_subscripts(&e) != GA_OK) {
        ga__free(e.c);
        return NULL;
    }
    return args.out ? ga__contract(e.c, args.out) : ga__contract_or_view(e.c);
}
