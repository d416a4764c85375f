/* What searches and histograms share: their operands, tables, extremes and sums of rows. */
#ifndef GA_OPS_BINS_BIN_CALLS_H
#define GA_OPS_BINS_BIN_CALLS_H

#include <quarry/histogram.h>

#include "kernels/histogram/binned.h"
#include "ops/convert.h"

/* Ids of the formulas of this folder. */
#define GA__BINS_FORMULA_ID(n) GA__FAMILY_ID(GA__FAMILY_BINS, n)
enum {
    GA__ID_EXTREMES,
    GA__ID_ORDER,
    GA__ID_TAKE,
    GA__ID_WHOLE,
    GA__ID_WHOLE_OR_OUTSIDE,
    GA__ID_UNIFORM,
    GA__ID_EXACT,
    GA__ID_EDGES = 8,    /* four */
    GA__ID_SEARCH = 16,  /* eight */
    GA__ID_MEMBERS = 24, /* four */
    GA__ID_INTERP = 28,  /* six */
};

/* Tables of at most this number of elements are counted, not searched. */
#define GA__FEW_ELEMENTS 32

/* What a search in elements of the dtype compares: small numbers as numbers of 4 bytes, which
 * vector loads gather. */
ga_dtype ga__search_dtype(ga_dtype common);

/* The elements in C order in this dtype: a view of x, or a new array. */
gpuarray *ga__contiguous_as(const gpuarray *x, ga_dtype dtype);

/* A number as a new 0-d array of its own dtype. */
gpuarray *ga__full_number(const char *name, ga__device *device, ga_value number);

/* An operand that the engine reads element by element in `type`. */
ga__operand ga__streamed_operand(const char *name, const gpuarray *x, ga_dtype type);

/* Stores what the formula makes of each x, `r`, from its place in the table `t` of `m` elements. x
 * is read in `type`. */
ga_status ga__search_into(const ga__formula *formula, gpuarray *out, const gpuarray *x,
                          ga_dtype type, const gpuarray *table);

/* Raises unless x is an array of `ndim` dimensions (-1: of any) whose kind is one of `kinds`. */
ga_status ga__check_operand(const char *name, const char *what, const gpuarray *x, int ndim,
                            const char *kinds);

/* Raises unless the arrays are on one device; `other` may be NULL. */
ga_status ga__check_same_device(const char *name, const gpuarray *x, const gpuarray *other);

/* The smallest and the largest element in one pass; NaN if there is one. x has elements. The
 * host reads them, which no graph can record. */
ga_status ga__extremes(const char *name, const gpuarray *x, ga_value *low, ga_value *high);

/* Counts the elements in each of call->nbins bins: an int64 array. With weights (of call->shape)
 * their sums: float64. The call's operands leave room for one more. */
gpuarray *ga__count_bins(ga__binned *call, ga__operand *operands, const gpuarray *weights);

/* Moves the results out of the innermost scope. On failure it frees all of them. */
ga_status ga__keep_all(int count, gpuarray *const *results);

#endif
