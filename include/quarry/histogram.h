/* Searches in sorted arrays, and histograms. */
#ifndef QUARRY_HISTOGRAM_H
#define QUARRY_HISTOGRAM_H

#include <quarry/each.h>
#include <quarry/error.h>
#include <quarry/value.h>

GA_BEGIN_DECLS

/* Arrays may have any layout. All functions raise GA_ERR_SHAPE for dimensions and lengths that do
 * not match, and GA_ERR_DTYPE for dtypes that a function does not take. Results are new arrays in
 * C order. Counts are int64 and exact. Sums of weights are float64; on one device they have the
 * same bits in every run (docs/histograms.md). */

/* ---- Searches ---- */

/* Arguments of ga_searchsorted(). */
typedef struct ga_searchsorted_args {
    const gpuarray *a;      /* 1-D, ascending; NaN after all numbers */
    ga_value v;             /* an array of any shape, or a number */
    bool side_right;        /* after elements equal to v, not before them */
    const gpuarray *sorter; /* integers: a[sorter] is ascending, as ga_argsort() makes it */
} ga_searchsorted_args;

/* ga_searchsorted(a, v, .side_right = true): for each element of v, the index at which inserting
 * it keeps `a` sorted, as numpy.searchsorted: an int64 array of the shape of v (0-d for a number).
 * Elements are compared in the common dtype, floats of 8 and 16 bits as float32; a number takes
 * part with its own dtype. If `a` is not ascending, the result is unspecified, but within [0,
 * length]. With a sorter the call waits for its bounds. GA_ERR_INDEX if the sorter holds an index
 * outside `a`. */
GA_API gpuarray *ga_searchsorted(size_t size, const ga_searchsorted_args *args);

/* Arguments of ga_digitize(). */
typedef struct ga_digitize_args {
    const gpuarray *x;    /* real */
    const gpuarray *bins; /* 1-D, ascending or descending */
    bool right;           /* intervals include their right ends, not their left ones */
} ga_digitize_args;

/* ga_digitize(x, bins, .right = true): for each element of x, the index of its interval of `bins`,
 * as numpy.digitize: 0 before the first edge, and the number of edges after the last one. Elements
 * are compared as in ga_searchsorted(). The call waits for the order of the bins. GA_ERR_INVALID
 * if the bins neither ascend nor descend. */
GA_API gpuarray *ga_digitize(size_t size, const ga_digitize_args *args);

/* Arguments of ga_interp(). */
typedef struct ga_interp_args {
    ga_value x;           /* real: an array of any shape, or a number */
    const gpuarray *xp;   /* 1-D, ascending unless there is a period; real */
    const gpuarray *fp;   /* of xp's length; real or complex */
    ga_value left, right; /* the result before the first and after the last point, numbers such as
                           * GA_V(0); default: the values at these points */
    double period;        /* of x and xp, its sign is ignored; then `left` and `right` have no
                           * effect. 0: none */
} ga_interp_args;

/* ga_interp(x, xp, fp, .left = GA_V(0), .period = 360): linear interpolation between the points
 * (xp, fp) at each x, as numpy.interp: float64 or complex128, with the shape of x. It computes in
 * float64. NaN stays NaN. If xp does not ascend, the result is unspecified. GA_ERR_INVALID if xp
 * has no elements, or if `left` or `right` is an array. */
GA_API gpuarray *ga_interp(size_t size, const ga_interp_args *args);

/* ---- Counts ---- */

/* Arguments of ga_bincount(). */
typedef struct ga_bincount_args {
    const gpuarray *x;       /* 1-D, integers or bool, none negative */
    const gpuarray *weights; /* real, of x's length; NULL: each element counts 1 */
    int64_t minlength;       /* the least number of elements of the result */
} ga_bincount_args;

/* ga_bincount(x, .weights = w, .minlength = n): how often each integer from 0 to the maximum of x
 * occurs, as int64, or the sums of their weights, as float64; as numpy.bincount. The call waits
 * for the number of bins. GA_ERR_INVALID for a negative element or minlength. */
GA_API gpuarray *ga_bincount(size_t size, const ga_bincount_args *args);

/* Arguments of ga_histogram(). */
typedef struct ga_histogram_args {
    const gpuarray *x; /* real, of any shape */
    ga_value bins;     /* the number of bins, or a 1-D array of edges that ascend */
    gpuarray **counts; /* receives the histogram, a new array */
    gpuarray **edges;  /* receives the edges, one more than the bins; may be NULL */
    double range[2];   /* the outer edges of equal bins; {0, 0}: the minimum and maximum of x */
    const gpuarray *weights; /* of x's shape */
    bool density;            /* the integral over the range is 1 */
} ga_histogram_args;

/* ga_histogram(x, 10, &counts, &edges, .range = {0, 1}): the number of elements of x in each bin,
 * as numpy.histogram. A bin includes its left edge; the last one includes both edges. Elements
 * outside the bins, and NaN, are not counted. Counts are int64, or have the dtype of the weights;
 * densities are float64. Edges are the given ones, or float64 for integers and bool, and otherwise
 * of the dtype in which x is compared. A range of no width is widened by 0.5 on each side. The
 * call waits for the minimum and maximum of x if it has to find the range, and for given edges.
 * GA_ERR_INVALID if there is less than one bin, if the range is reversed or not finite, if the
 * edges do not ascend, if x without a range has an infinity or NaN, or if the range is too small
 * for that many bins; GA_ERR_DTYPE for a number of bins that is not an integer. Results are set
 * only on success. ga_histogram_bins() finds a number of bins. */
GA_API ga_status ga_histogram(size_t size, const ga_histogram_args *args);

/* Arguments of ga_histogram_bins(). In C: ga_histogram_bins(x, .rule = "fd"). */
typedef struct ga_histogram_bins_args {
    const gpuarray *x; /* real, of any shape */
    const char *rule;  /* "auto" (or NULL), "doane", "fd", "rice", "scott", "sqrt" or "sturges" */
    double range[2];   /* as in ga_histogram(): elements outside do not count */
} ga_histogram_bins_args;

/* The number of equal bins that numpy.histogram(x, bins=rule) makes: ga_histogram(x,
 * ga_histogram_bins(x), &counts, &edges). NumPy's rule "stone" is missing. The call waits for the
 * elements. 0 and the thread's error on failure: GA_ERR_INVALID for another rule, and as of
 * ga_histogram(). */
GA_API int64_t ga_histogram_bins(size_t size, const ga_histogram_bins_args *args);

/* Arguments of ga_histogram2d(). */
typedef struct ga_histogram2d_args {
    const gpuarray *x, *y;       /* 1-D, of one length */
    ga_value xbins, ybins;       /* as in ga_histogram() */
    gpuarray **counts;           /* receives a float64 matrix, a row for each bin of x */
    gpuarray **xedges, **yedges; /* receive the edges; may be NULL */
    double xrange[2], yrange[2]; /* as in ga_histogram() */
    const gpuarray *weights;     /* as in ga_histogram() */
    bool density;
} ga_histogram2d_args;

/* ga_histogram2d(x, y, 10, 20, &counts, &xedges, &yedges, ...): the histogram of points in a
 * plane, as numpy.histogram2d. Counts are float64. Results, waits and errors are those of
 * ga_histogram(). */
GA_API ga_status ga_histogram2d(size_t size, const ga_histogram2d_args *args);

/* Arguments of ga_histogramdd(). */
typedef struct ga_histogramdd_args {
    const gpuarray *sample; /* (points, axes), up to 12 axes; NumPy's limit is 32 */
    int nbins;              /* one for each axis, or 1 for all axes */
    const ga_value *bins;   /* as in ga_histogram() */
    gpuarray **counts;      /* receives a float64 array with a dimension for each axis */
    gpuarray **edges;       /* receives an array for each axis; may be NULL */
    const double *ranges;   /* two numbers for each axis, as in ga_histogram(); NULL: none */
    const gpuarray *weights;
    bool density;
} ga_histogramdd_args;

/* ga_histogramdd(sample, GA_BINS(4, 5, edges), &counts, edges, ...): the histogram of points in
 * several dimensions, as numpy.histogramdd. Counts are float64. Results, waits and errors are those
 * of ga_histogram(); GA_ERR_INVALID also for a wrong number of bins. */
GA_API ga_status ga_histogramdd(size_t size, const ga_histogramdd_args *args);

GA_END_DECLS

/* clang-format off */
#ifdef __cplusplus
/* Numbers of bins and arrays of edges, as the two arguments "count, bins". */
#define GA_BINS(...) \
    GA_NARGS_(__VA_ARGS__), \
    (std::initializer_list<ga_value>{GA_EACH_(GA_V, __VA_ARGS__)}.begin())
/* The options that follow the positional arguments. In C++20 they have the same spelling as in C;
 * C++17 has no designated initialisers, and takes the structs. */
struct ga_searchsorted_rest_ {
    bool side_right = false;
    const gpuarray *sorter = nullptr;
};
struct ga_digitize_rest_ {
    bool right = false;
};
struct ga_interp_rest_ {
    ga_value left = {}, right = {};
    double period = 0;
};
struct ga_bincount_rest_ {
    const gpuarray *weights = nullptr;
    int64_t minlength = 0;
};
struct ga_histogram_rest_ {
    double range[2] = {0, 0};
    const gpuarray *weights = nullptr;
    bool density = false;
};
struct ga_histogram2d_rest_ {
    double xrange[2] = {0, 0}, yrange[2] = {0, 0};
    const gpuarray *weights = nullptr;
    bool density = false;
};
struct ga_histogramdd_rest_ {
    const double *ranges = nullptr;
    const gpuarray *weights = nullptr;
    bool density = false;
};
inline gpuarray *ga_searchsorted_(const ga_searchsorted_args &args)
{
    return ga_searchsorted(sizeof args, &args);
}
template <class V>
inline gpuarray *ga_searchsorted_(const gpuarray *a, const V &v,
                                  const ga_searchsorted_rest_ &rest = {})
{
    return ga_searchsorted_(ga_searchsorted_args{a, GA_V(v), rest.side_right, rest.sorter});
}
inline gpuarray *ga_digitize_(const ga_digitize_args &args)
{
    return ga_digitize(sizeof args, &args);
}
inline gpuarray *ga_digitize_(const gpuarray *x, const gpuarray *bins,
                              const ga_digitize_rest_ &rest = {})
{
    return ga_digitize_(ga_digitize_args{x, bins, rest.right});
}
inline gpuarray *ga_interp_(const ga_interp_args &args)
{
    return ga_interp(sizeof args, &args);
}
template <class V>
inline gpuarray *ga_interp_(const V &x, const gpuarray *xp, const gpuarray *fp,
                            const ga_interp_rest_ &rest = {})
{
    return ga_interp_(ga_interp_args{GA_V(x), xp, fp, rest.left, rest.right, rest.period});
}
inline gpuarray *ga_bincount_(const ga_bincount_args &args)
{
    return ga_bincount(sizeof args, &args);
}
inline gpuarray *ga_bincount_(const gpuarray *x, const ga_bincount_rest_ &rest = {})
{
    return ga_bincount_(ga_bincount_args{x, rest.weights, rest.minlength});
}
inline ga_status ga_histogram_(const ga_histogram_args &args)
{
    return ga_histogram(sizeof args, &args);
}
template <class V>
inline ga_status ga_histogram_(const gpuarray *x, const V &bins, gpuarray **counts,
                               gpuarray **edges, const ga_histogram_rest_ &rest = {})
{
    return ga_histogram_(ga_histogram_args{x, GA_V(bins), counts, edges,
                                           {rest.range[0], rest.range[1]}, rest.weights,
                                           rest.density});
}
inline ga_status ga_histogram2d_(const ga_histogram2d_args &args)
{
    return ga_histogram2d(sizeof args, &args);
}
template <class V, class W>
inline ga_status ga_histogram2d_(const gpuarray *x, const gpuarray *y, const V &xbins,
                                 const W &ybins, gpuarray **counts, gpuarray **xedges,
                                 gpuarray **yedges, const ga_histogram2d_rest_ &rest = {})
{
    return ga_histogram2d_(ga_histogram2d_args{x, y, GA_V(xbins), GA_V(ybins), counts, xedges,
                                               yedges, {rest.xrange[0], rest.xrange[1]},
                                               {rest.yrange[0], rest.yrange[1]}, rest.weights,
                                               rest.density});
}
inline ga_status ga_histogramdd_(const ga_histogramdd_args &args)
{
    return ga_histogramdd(sizeof args, &args);
}
inline ga_status ga_histogramdd_(const gpuarray *sample, int nbins, const ga_value *bins,
                                 gpuarray **counts, gpuarray **edges,
                                 const ga_histogramdd_rest_ &rest = {})
{
    return ga_histogramdd_(ga_histogramdd_args{sample, nbins, bins, counts, edges, rest.ranges,
                                               rest.weights, rest.density});
}
/* f(positional arguments, {options}), by how many arguments there are. */
#define GA_REST_1_(f, a) f(a)
#define GA_REST_2_(f, a, ...) f(a, {__VA_ARGS__})
#define GA_REST_3_(f, a, b, ...) f(a, b, {__VA_ARGS__})
#define GA_REST_4_(f, a, b, c, ...) f(a, b, c, {__VA_ARGS__})
#define GA_REST_5_(f, a, b, c, d, ...) f(a, b, c, d, {__VA_ARGS__})
#define GA_REST_6_(f, a, b, c, d, e, ...) f(a, b, c, d, e, {__VA_ARGS__})
#define GA_REST_8_(f, a, b, c, d, e, g, h, ...) f(a, b, c, d, e, g, h, {__VA_ARGS__})
#define ga_searchsorted(...) GA_HERE_(GA_JOIN_(GA_SEARCHSORTED_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_SEARCHSORTED_1(args) ga_searchsorted_(args)
#define GA_SEARCHSORTED_2(a, v) ga_searchsorted_(a, v)
#define GA_SEARCHSORTED_3(...) GA_REST_3_(ga_searchsorted_, __VA_ARGS__)
#define GA_SEARCHSORTED_4(...) GA_REST_3_(ga_searchsorted_, __VA_ARGS__)
#define ga_digitize(...) GA_HERE_(GA_JOIN_(GA_DIGITIZE_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_DIGITIZE_1(args) ga_digitize_(args)
#define GA_DIGITIZE_2(x, bins) ga_digitize_(x, bins)
#define GA_DIGITIZE_3(...) GA_REST_3_(ga_digitize_, __VA_ARGS__)
#define ga_interp(...) GA_HERE_(GA_JOIN_(GA_INTERP_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_INTERP_1(args) ga_interp_(args)
#define GA_INTERP_3(x, xp, fp) ga_interp_(x, xp, fp)
#define GA_INTERP_4(...) GA_REST_4_(ga_interp_, __VA_ARGS__)
#define GA_INTERP_5(...) GA_REST_4_(ga_interp_, __VA_ARGS__)
#define GA_INTERP_6(...) GA_REST_4_(ga_interp_, __VA_ARGS__)
#define ga_bincount(...) GA_HERE_(GA_JOIN_(GA_BINCOUNT_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__))
#define GA_BINCOUNT_ONE(x) ga_bincount_(x)
#define GA_BINCOUNT_MANY(...) GA_REST_2_(ga_bincount_, __VA_ARGS__)
struct ga_histogram_bins_rest_ {
    const char *rule = nullptr;
    double range[2] = {0, 0};
};
inline int64_t ga_histogram_bins_(const ga_histogram_bins_args &args)
{
    return ga_histogram_bins(sizeof args, &args);
}
inline int64_t ga_histogram_bins_(const gpuarray *x, const ga_histogram_bins_rest_ &rest = {})
{
    return ga_histogram_bins_(
        ga_histogram_bins_args{x, rest.rule, {rest.range[0], rest.range[1]}});
}
#define ga_histogram_bins(...) \
    GA_HERE_(GA_JOIN_(GA_HISTOGRAM_BINS_, GA_MANY_(__VA_ARGS__))(__VA_ARGS__))
#define GA_HISTOGRAM_BINS_ONE(x) ga_histogram_bins_(x)
#define GA_HISTOGRAM_BINS_MANY(x, ...) ga_histogram_bins_(x, {__VA_ARGS__})
#define ga_histogram(...) GA_HERE_(GA_JOIN_(GA_HISTOGRAM_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_HISTOGRAM_1(args) ga_histogram_(args)
#define GA_HISTOGRAM_4(x, bins, counts, edges) ga_histogram_(x, bins, counts, edges)
#define GA_HISTOGRAM_5(...) GA_REST_5_(ga_histogram_, __VA_ARGS__)
#define GA_HISTOGRAM_6(...) GA_REST_5_(ga_histogram_, __VA_ARGS__)
#define GA_HISTOGRAM_MORE(...) GA_REST_5_(ga_histogram_, __VA_ARGS__)
#define ga_histogram2d(...) GA_HERE_(GA_JOIN_(GA_HISTOGRAM2D_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_HISTOGRAM2D_1(args) ga_histogram2d_(args)
#define GA_HISTOGRAM2D_MORE(x, y, xbins, ybins, counts, xedges, ...) \
    GA_JOIN_(GA_HISTOGRAM2D_REST_, GA_MANY_(__VA_ARGS__)) \
    (x, y, xbins, ybins, counts, xedges, __VA_ARGS__)
#define GA_HISTOGRAM2D_REST_ONE(...) ga_histogram2d_(__VA_ARGS__)
#define GA_HISTOGRAM2D_REST_MANY(...) GA_REST_8_(ga_histogram2d_, __VA_ARGS__)
#define ga_histogramdd(...) GA_HERE_(GA_JOIN_(GA_HISTOGRAMDD_, GA_FEW_(__VA_ARGS__))(__VA_ARGS__))
#define GA_HISTOGRAMDD_1(args) ga_histogramdd_(args)
#define GA_HISTOGRAMDD_4(...) ga_histogramdd_(__VA_ARGS__)
#define GA_HISTOGRAMDD_5(...) ga_histogramdd_(__VA_ARGS__)
#define GA_HISTOGRAMDD_6(...) GA_REST_6_(ga_histogramdd_, __VA_ARGS__)
#define GA_HISTOGRAMDD_MORE(...) GA_REST_6_(ga_histogramdd_, __VA_ARGS__)
#else
#define GA_BINS(...) GA_VALUES_(__VA_ARGS__)
#define GA_ARGS_(f, ...) GA_AT_(f, sizeof(f##_args), &(f##_args){__VA_ARGS__})
#define ga_histogram_bins(...) GA_ARGS_(ga_histogram_bins, .x = __VA_ARGS__)
#define ga_searchsorted(array, ...) \
    GA_JOIN_(GA_SEARCHSORTED_, GA_MANY_(__VA_ARGS__))(array, __VA_ARGS__)
#define GA_SEARCHSORTED_ONE(array, value) GA_ARGS_(ga_searchsorted, .a = array, .v = GA_V(value))
#define GA_SEARCHSORTED_MANY(array, value, ...) \
    GA_ARGS_(ga_searchsorted, .a = array, .v = GA_V(value), __VA_ARGS__)
#define ga_digitize(array, ...) GA_ARGS_(ga_digitize, .x = array, .bins = __VA_ARGS__)
#define ga_interp(value, ...) GA_ARGS_(ga_interp, .x = GA_V(value), .xp = __VA_ARGS__)
#define ga_bincount(...) GA_ARGS_(ga_bincount, .x = __VA_ARGS__)
#define ga_histogram(array, number, to, ...) \
    GA_ARGS_(ga_histogram, .x = array, .bins = GA_V(number), .counts = to, .edges = __VA_ARGS__)
#define ga_histogram2d(array, other, xnumber, ynumber, to, xto, ...) \
    GA_ARGS_(ga_histogram2d, .x = array, .y = other, .xbins = GA_V(xnumber), \
             .ybins = GA_V(ynumber), .counts = to, .xedges = xto, .yedges = __VA_ARGS__)
#define ga_histogramdd(points, ...) GA_ARGS_(ga_histogramdd, .sample = points, __VA_ARGS__)
#endif
/* clang-format on */

#endif
