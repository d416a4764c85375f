/* ga_histogram2d() and ga_histogramdd(): how many points lie in each bin of several axes. */
#include <stdio.h>
#include <string.h>

#include <quarry/ops.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "base/strbuf.h"
#include "ops/bins/bin_calls.h"
#include "ops/bins/density.h"
#include "ops/bins/edges.h"
#include "ops/convert.h"

enum { MOST_AXES = 12, NAME_BYTES = 16 };

/* One call. An axis has three operands: its values, its table and the table's length. */
typedef struct call {
    const char *name;
    int naxes;
    const gpuarray *x[MOST_AXES];
    ga_value bins[MOST_AXES];
    double range[MOST_AXES][2];
    const gpuarray *weights;
    bool density;
    const gpuarray *given[MOST_AXES]; /* the edges among the arguments; NULL: equal bins */
    const gpuarray *edges[MOST_AXES]; /* as the caller gets them */
    int64_t shape[MOST_AXES];         /* of the result */
    ga__binned binned;
    char names[3 * MOST_AXES][NAME_BYTES];
    ga__operand operands[3 * MOST_AXES + 1];
} call;

/* ---- The axes ---- */

/* The result's shape. It is checked before there are edges: those of too many bins fill the memory.
 */
static ga_status find_shape(call *c)
{
    ga_status status = GA_OK;
    for (int axis = 0; axis < c->naxes && status == GA_OK; axis++)
        status =
            ga__edges_wanted(c->name, c->bins[axis], c->x[axis], &c->given[axis], &c->shape[axis]);
    if (status != GA_OK)
        return status;
    return ga__check_shape(c->name, GA_FLOAT64, c->naxes, c->shape, &c->binned.nbins);
}

static ga_status make_edges(call *c, int axis)
{
    ga__outer_edges outer;
    bool strict;
    if (c->given[axis]) {
        c->edges[axis] = ga_copy(c->given[axis]);
    } else {
        const ga_status status = ga__edges_outer(c->name, c->x[axis], c->range[axis], &outer);
        if (status != GA_OK)
            return status;
        c->edges[axis] = ga__edges_uniform(c->name, c->binned.device, &outer, c->shape[axis],
                                           outer.dtype, &strict);
    }
    return c->edges[axis] ? GA_OK : ga_error();
}

static const char *name_of(call *c, char letter, int axis)
{
    char *name = c->names[c->binned.noperands];
    snprintf(name, NAME_BYTES, "%c%d", letter, axis);
    return name;
}

static void add_operand(call *c, ga__operand operand)
{
    c->operands[c->binned.noperands++] = operand;
}

static ga_status add_axis(call *c, int axis)
{
    const ga_status status = make_edges(c, axis);
    if (status != GA_OK)
        return status;
    const ga_dtype common = ga_result_type(c->x[axis]->dtype, c->edges[axis]->dtype);
    if (common == GA_NO_DTYPE)
        return ga_error();
    const gpuarray *table = ga__contiguous_as(c->edges[axis], ga__search_dtype(common));
    if (!table)
        return ga_error();
    add_operand(c, ga__streamed_operand(name_of(c, 'x', axis), c->x[axis], table->dtype));
    add_operand(c, ga__indexed_operand(name_of(c, 't', axis), table));
    add_operand(c, ga__number_operand(name_of(c, 'm', axis), GA_INT64,
                                      ga_value_signed(GA_INT64, table->size)));
    return GA_OK;
}

/* ---- The formula ---- */

/* Finds the bin of an axis, and from the second on nests it in that of the axes before. */
static void describe_axis(ga__strbuf *body, int axis)
{
    char bin[NAME_BYTES] = "bin";
    if (axis > 0)
        snprintf(bin, sizeof bin, "bin%d", axis);
    if (axis > 0)
        ga__strbuf_addf(body, "ga_bin %s[ga_width]; ", bin);
    ga__strbuf_addf(body, "ga::edge_bins<false>(%s, x%d, ga::whole_table(t%d, (ga_bin)m%d)); ", bin,
                    axis, axis, axis);
    if (axis == 0)
        ga__strbuf_addf(body, "ga_bin outer = (ga_bin)m0 - 1; ");
    else
        ga__strbuf_addf(
            body, "ga::nest_bins(bin, bin%d, outer, (ga_bin)m%d - 1); outer *= (ga_bin)m%d - 1; ",
            axis, axis, axis);
}

static ga_status describe(const call *c, ga__strbuf *body, ga__formula *formula)
{
    for (int axis = 0; axis < c->naxes; axis++)
        describe_axis(body, axis);
    *formula = (ga__formula){.name = "histogramdd", .body = body->text};
    return ga__description_id(body, &formula->id);
}

/* ---- The result ---- */

static gpuarray *count(call *c)
{
    ga__strbuf body = {0};
    ga__formula formula;
    gpuarray *counts = NULL;
    if (describe(c, &body, &formula) == GA_OK) {
        c->binned.formula = &formula;
        counts = ga__count_bins(&c->binned, c->operands, c->weights);
    }
    ga__strbuf_reset(&body);
    const gpuarray *wide = counts ? ga__contiguous_as(counts, GA_FLOAT64) : NULL;
    gpuarray *shaped = wide ? ga_reshape(wide, c->naxes, c->shape) : NULL;
    return shaped && c->density ? ga__density(shaped, c->naxes, c->edges) : shaped;
}

static gpuarray *make(call *c)
{
    c->binned = (ga__binned){.device = c->x[0]->buffer->device, .ndim = 1, .shape = c->x[0]->shape};
    if (find_shape(c) != GA_OK)
        return NULL;
    for (int axis = 0; axis < c->naxes; axis++)
        if (add_axis(c, axis) != GA_OK)
            return NULL;
    return count(c);
}

/* Sets the results, which leave the scope. */
static ga_status run(call *c, gpuarray **counts, gpuarray **const *edges)
{
    gpuarray *results[1 + MOST_AXES] = {make(c)};
    int count = 1;
    if (!results[0])
        return ga_error();
    for (int axis = 0; axis < c->naxes; axis++)
        if (edges[axis])
            results[count++] = (gpuarray *)(uintptr_t)c->edges[axis];
    const ga_status status = ga__keep_all(count, results);
    if (status != GA_OK)
        return status;
    *counts = results[0];
    for (int axis = 0; axis < c->naxes; axis++)
        if (edges[axis])
            *edges[axis] = (gpuarray *)(uintptr_t)c->edges[axis];
    return GA_OK;
}

/* ---- Arguments ---- */

static ga_status check_weights(const call *c)
{
    if (!c->weights)
        return GA_OK;
    const ga_status status =
        ga__check_operand(c->name, "the array of weights", c->weights, 1, "biuf");
    if (status != GA_OK)
        return status;
    if (c->weights->size != c->x[0]->size)
        return ga__fail(GA_ERR_SHAPE, "%s: %lld points, but %lld weights", c->name,
                        (long long)c->x[0]->size, (long long)c->weights->size);
    return ga__check_same_device(c->name, c->x[0], c->weights);
}

static ga_status check_pair(const ga_histogram2d_args *args)
{
    if (!args->counts)
        return ga__fail(GA_ERR_INVALID, "histogram2d: a result pointer is NULL");
    ga_status status = ga__check_operand("histogram2d", "x", args->x, 1, "biuf");
    if (status == GA_OK)
        status = ga__check_operand("histogram2d", "y", args->y, 1, "biuf");
    if (status == GA_OK)
        status = ga__check_same_device("histogram2d", args->x, args->y);
    if (status == GA_OK && args->x->size != args->y->size)
        status = ga__fail(GA_ERR_SHAPE, "histogram2d: x has %lld elements, y has %lld",
                          (long long)args->x->size, (long long)args->y->size);
    return status;
}

/* Both in their common dtype, as NumPy joins them; within a scope that owns all that it makes. */
static ga_status run_pair(call *c, const ga_histogram2d_args *args)
{
    gpuarray **const edges[] = {args->xedges, args->yedges};
    const ga_dtype common = ga_result_type(args->x->dtype, args->y->dtype);
    c->x[0] = common ? ga__contiguous_as(args->x, common) : NULL;
    c->x[1] = c->x[0] ? ga__contiguous_as(args->y, common) : NULL;
    const ga_status status = c->x[1] ? check_weights(c) : ga_error();
    return status == GA_OK ? run(c, args->counts, edges) : status;
}

ga_status(ga_histogram2d)(size_t size, const ga_histogram2d_args *given)
{
    GA__CALL("histogram2d");
    ga_histogram2d_args args;
    ga_status status = ga__options_read("histogram2d", &args, sizeof args, given, size);
    if (status == GA_OK)
        status = check_pair(&args);
    if (status != GA_OK)
        return status;
    call c = {.name = "histogram2d",
              .naxes = 2,
              .bins = {args.xbins, args.ybins},
              .range = {{args.xrange[0], args.xrange[1]}, {args.yrange[0], args.yrange[1]}},
              .weights = args.weights,
              .density = args.density};
    ga_scope_begin();
    status = run_pair(&c, &args);
    ga_scope_end();
    return status;
}

static ga_status check_sample(const ga_histogramdd_args *args)
{
    if (!args->counts)
        return ga__fail(GA_ERR_INVALID, "histogramdd: a result pointer is NULL");
    const ga_status status =
        ga__check_operand("histogramdd", "the sample", args->sample, 2, "biuf");
    if (status != GA_OK)
        return status;
    const int64_t naxes = args->sample->shape[1];
    if (naxes < 1 || naxes > MOST_AXES)
        return ga__fail(GA_ERR_SHAPE, "histogramdd: %lld axes, expected 1 to %d", (long long)naxes,
                        MOST_AXES);
    if (!args->bins)
        return ga__fail(GA_ERR_INVALID, "histogramdd: the list of bins is NULL");
    if (args->nbins != 1 && args->nbins != naxes)
        return ga__fail(GA_ERR_INVALID, "histogramdd: bins for %d axes, the sample has %lld",
                        args->nbins, (long long)naxes);
    return GA_OK;
}

static void set_axes(call *c, const ga_histogramdd_args *args)
{
    const gpuarray *sample = args->sample;
    for (int axis = 0; axis < c->naxes; axis++) {
        c->x[axis] = ga__array_view(sample, sample->dtype, 1, sample->shape, sample->strides,
                                    axis * sample->strides[1]);
        c->bins[axis] = args->bins[args->nbins == 1 ? 0 : axis];
        if (args->ranges)
            memcpy(c->range[axis], args->ranges + 2 * (size_t)axis, sizeof c->range[axis]);
    }
}

/* Within a scope that owns all that it makes. */
static ga_status run_sample(call *c, const ga_histogramdd_args *args)
{
    gpuarray **edges[MOST_AXES];
    set_axes(c, args);
    for (int axis = 0; axis < c->naxes; axis++) {
        edges[axis] = args->edges ? &args->edges[axis] : NULL;
        if (!c->x[axis])
            return ga_error();
    }
    const ga_status status = check_weights(c);
    return status == GA_OK ? run(c, args->counts, edges) : status;
}

ga_status(ga_histogramdd)(size_t size, const ga_histogramdd_args *given)
{
    GA__CALL("histogramdd");
    ga_histogramdd_args args;
    ga_status status = ga__options_read("histogramdd", &args, sizeof args, given, size);
    if (status == GA_OK)
        status = check_sample(&args);
    if (status != GA_OK)
        return status;
    call c = {.name = "histogramdd",
              .naxes = (int)args.sample->shape[1],
              .weights = args.weights,
              .density = args.density};
    ga_scope_begin();
    status = run_sample(&c, &args);
    ga_scope_end();
    return status;
}
