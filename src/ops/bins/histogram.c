/* ga_histogram(): how many elements lie in each bin of a range. */
#include <math.h>

#include <quarry/ops.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/bins/bin_calls.h"
#include "ops/bins/density.h"
#include "ops/bins/edges.h"
#include "ops/convert.h"

/* One call: its bins, and the formula that finds them. */
typedef struct call {
    const gpuarray *x;
    const gpuarray *edges; /* as the caller gets them */
    ga__binned binned;
    ga__operand operands[7]; /* the last one is of weights */
} call;

static ga_status check(const ga_histogram_args *args)
{
    if (!args->counts)
        return ga__fail(GA_ERR_INVALID, "histogram: a result pointer is NULL");
    ga_status status = ga__check_operand("histogram", "x", args->x, -1, "biuf");
    if (status != GA_OK || !args->weights)
        return status;
    const gpuarray *x = args->x, *w = args->weights;
    if (ga__same_shape(x->ndim, x->shape, w->ndim, w->shape))
        return ga__check_same_device("histogram", x, w);
    return ga__fail(GA_ERR_SHAPE, "histogram: x has shape %s, the weights have %s",
                    ga__shape_text(x->ndim, x->shape), ga__shape_text(w->ndim, w->shape));
}

static ga__operand number(const char *name, ga_dtype type, double value)
{
    return ga__number_operand(name, type, ga_value_double(value));
}

/* ---- Given edges ---- */

static ga_status plan_edges(call *c, const gpuarray *edges)
{
    static const ga__formula formulas[] = {{.id = GA__BINS_FORMULA_ID(GA__ID_EDGES),
                                            .name = "histogram",
                                            .body = "ga::edge_bins<true>(bin, x, ga_table)"},
                                           {.id = GA__BINS_FORMULA_ID(GA__ID_EDGES + 1),
                                            .name = "histogram",
                                            .body = "ga::few_edge_bins<true>(bin, x, ga_table)"}};
    const ga_dtype common = ga_result_type(c->x->dtype, edges->dtype);
    if (common == GA_NO_DTYPE)
        return ga_error();
    const gpuarray *table = ga__contiguous_as(edges, ga__search_dtype(common));
    c->edges = ga_copy(edges);
    if (!table || !c->edges)
        return ga_error();
    c->binned.formula = &formulas[table->size <= GA__FEW_ELEMENTS];
    c->binned.table = table;
    c->operands[0] = ga__streamed_operand("x", c->x, table->dtype);
    c->operands[1] = ga__indexed_operand("t", table);
    c->operands[2] = ga__number_operand("m", GA_INT64, ga_value_signed(GA_INT64, table->size));
    c->binned.noperands = 3;
    return GA_OK;
}

/* ---- Equal bins ---- */

static double largest_edge(const ga__outer_edges *outer)
{
    return fmax(fabs(outer->first), fabs(outer->last));
}

/* The distance of the dtype's numbers from 1 on. */
static double epsilon_of(ga_dtype dtype)
{
    return ga__dtype_size(dtype) == sizeof(double) ? 0x1p-52 : 0x1p-23;
}

/* Whether each guess at a bin is at most one off, so that the edges make the bin the one that
 * NumPy's own steps find: no guess rounds farther, and no edge is farther from its place. */
static bool guesses_well(const ga__outer_edges *outer, ga_dtype dtype, int64_t nbins)
{
    const bool wide = ga__dtype_size(dtype) == sizeof(double);
    const double epsilon = epsilon_of(dtype), scale = (double)nbins / outer->width;
    return !ga__dtype_is_stored(dtype) && (double)nbins * epsilon < 0x1p-7 &&
           outer->width / (double)nbins > 8 * epsilon * largest_edge(outer) &&
           (wide ? isnormal(scale) && scale < 0x1p1000 : scale > 0x1p-120 && scale < 0x1p120) &&
           (wide || outer->width > 0x1p-120);
}

/* How far, in bins, guesses and edges are from where they belong: a guess is rounded three times,
 * by half an epsilon of the number of bins at most; an edge twice so in the range's dtype, and by
 * half an epsilon of the largest number on its way, as is the first edge of a given range. This is
 * 1.6 times their sum or more. */
static double margin_of(const ga__outer_edges *outer, ga_dtype dtype, int64_t nbins)
{
    return 2 * epsilon_of(dtype) * (double)nbins * (2 + largest_edge(outer) / outer->width);
}

static void use_guesses(call *c, const ga__outer_edges *outer, ga_dtype type)
{
    static const ga__formula formula = {
        .id = GA__BINS_FORMULA_ID(GA__ID_UNIFORM),
        .name = "histogram",
        .body = "ga::uniform_bins(bin, x, first, last, scale, margin, edges, ga_bins)"};
    c->binned.formula = &formula;
    c->operands[3] = number("scale", type, (double)c->binned.nbins / outer->width);
    c->operands[5] = number("margin", type, margin_of(outer, type, c->binned.nbins));
    c->binned.noperands = 6;
}

static void use_exact_steps(call *c, const ga__outer_edges *outer)
{
    static const ga__formula formula = {
        .id = GA__BINS_FORMULA_ID(GA__ID_EXACT),
        .name = "histogram",
        .body = "ga::exact_bins<ga_s0>(bin, x, first, last, width, count, edges, ga_bins)"};
    c->binned.formula = &formula;
    c->operands[3] = number("width", outer->dtype, outer->width);
    c->operands[5] = number("count", outer->dtype, (double)c->binned.nbins);
    c->binned.noperands = 6;
}

static ga_status plan_uniform(call *c, const double *range)
{
    const int64_t nbins = c->binned.nbins;
    const ga_dtype type = ga__edges_dtype(c->x);
    ga__outer_edges outer;
    bool strict;
    ga_status status = ga__edges_outer("histogram", c->x, range, &outer);
    if (status != GA_OK)
        return status;
    c->edges = ga__edges_uniform("histogram", c->binned.device, &outer, nbins, type, &strict);
    if (!c->edges)
        return ga_error();
    if (!strict)
        return ga__fail(GA_ERR_INVALID,
                        "histogram: %s has too few numbers in [%.9g, %.9g] for %lld bins",
                        ga_dtype_name(type), outer.first, outer.last, (long long)nbins);
    c->operands[0] = ga__streamed_operand("x", c->x, type);
    c->operands[1] = number("first", type, outer.first);
    c->operands[2] = number("last", type, outer.last);
    c->operands[4] = ga__indexed_operand("edges", c->edges);
    c->binned.edges = c->edges;
    if (guesses_well(&outer, type, nbins))
        use_guesses(c, &outer, type);
    else
        use_exact_steps(c, &outer);
    return GA_OK;
}

/* ---- The result ---- */

static ga_status plan(call *c, const ga_histogram_args *args)
{
    const gpuarray *edges;
    c->x = args->x;
    c->binned =
        (ga__binned){.device = c->x->buffer->device, .ndim = c->x->ndim, .shape = c->x->shape};
    const ga_status status =
        ga__edges_wanted("histogram", args->bins, c->x, &edges, &c->binned.nbins);
    if (status != GA_OK)
        return status;
    return edges ? plan_edges(c, edges) : plan_uniform(c, args->range);
}

/* The sums of complex weights are those of their parts. */
static gpuarray *count_complex(const call *c, const gpuarray *weights)
{
    const int64_t nbins = c->binned.nbins;
    gpuarray *sums = ga__array_new("histogram", c->binned.device, weights->dtype, 1, &nbins);
    for (int part = 0; part < 2; part++) {
        call again = *c;
        const gpuarray *w = part == 0 ? ga_real(weights) : ga_imag(weights);
        const gpuarray *made = w ? ga__count_bins(&again.binned, again.operands, w) : NULL;
        gpuarray *to = sums ? (part == 0 ? ga_real(sums) : ga_imag(sums)) : NULL;
        if (!made || !to || (nbins > 0 && ga__copy_elements(to, made) != GA_OK))
            return NULL;
    }
    return sums;
}

static gpuarray *count(call *c, const gpuarray *weights)
{
    if (weights && ga__dtype_kind(weights->dtype) == 'c')
        return count_complex(c, weights);
    gpuarray *counts = ga__count_bins(&c->binned, c->operands, weights);
    return counts && weights ? ga__contiguous_as(counts, weights->dtype) : counts;
}

/* Within a scope that owns all that it makes. */
static ga_status make(const ga_histogram_args *args)
{
    call c;
    const ga_status status = plan(&c, args);
    if (status != GA_OK)
        return status;
    gpuarray *counts = count(&c, args->weights);
    if (counts && args->density)
        counts = ga__density(counts, 1, &c.edges);
    gpuarray *const results[] = {counts, (gpuarray *)(uintptr_t)c.edges};
    if (!counts || ga__keep_all(args->edges ? 2 : 1, results) != GA_OK)
        return ga_error();
    *args->counts = counts;
    if (args->edges)
        *args->edges = results[1];
    return GA_OK;
}

ga_status(ga_histogram)(size_t size, const ga_histogram_args *given)
{
    GA__CALL("histogram");
    ga_histogram_args args;
    ga_status status = ga__options_read("histogram", &args, sizeof args, given, size);
    if (status == GA_OK)
        status = check(&args);
    if (status != GA_OK)
        return status;
    ga_scope_begin();
    status = make(&args);
    ga_scope_end();
    return status;
}
