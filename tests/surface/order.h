/* Scans, order, sets and histograms: a part of program.c, over its arrays. */
#ifndef SURFACE_ORDER_H
#define SURFACE_ORDER_H

static void scans(void)
{
    SHOW("np.cumsum(x)", ga_cumsum(x));
    SHOW("np.cumprod(x)", ga_cumprod(x));
    SHOW("np.maximum.accumulate(y.ravel())", ga_cummax(y));
    SHOW("np.minimum.accumulate(y.ravel())", ga_cummin(y));
    SHOW("np.logaddexp.accumulate(y.ravel())", ga_cumulative_logsumexp(y));
    SHOW("np.nancumsum(x)", ga_nancumsum(x));
    SHOW("np.nancumprod(x)", ga_nancumprod(x));
    SHOW("np.cumulative_sum(s)", ga_cumulative_sum(s));
    SHOW("np.cumulative_prod(s)", ga_cumulative_prod(s));
#if OPTIONS
    SHOW("np.cumsum(x, axis=1)", ga_cumsum(x, GA_AXIS(1)));
    SHOW("np.cumsum(x, axis=0) - x + 3",
         ga_cumsum(x, GA_AXIS(0), .exclusive = true, GA_INITIAL(3)));
    SHOW("np.cumsum(x[::-1], axis=0)[::-1]", ga_cumsum(x, GA_AXIS(0), .reverse = true));
    SHOW("np.cumulative_sum(x, axis=1, include_initial=True)",
         ga_cumulative_sum(x, GA_AXIS(1), .include_initial = true));
#endif
}

static void order(void)
{
    gpuarray *a = NULL, *b = NULL, *c = NULL, *d = NULL, *edges[2] = {NULL, NULL};
    SHOW("np.sort(m)", ga_sort(m));
    SHOW("np.argsort(m, kind='stable')", ga_argsort(m));
    AFTER("np.sort(y)", ga_sort_by_key(y, x, &a, &b), a);
    SHOW("np.take_along_axis(x, np.argsort(y), 1)", b);
    SHOW("np.lexsort([m[1], m[0]])", ga_lexsort(GA_ARRAYS(ga_slice(m, "1"), ga_slice(m, "0"))));
    SHOW("np.sort(y)[..., 2]", ga_slice(ga_partition(y, 2), "..., 2"));
    SHOW("np.argsort(y)[..., 2]", ga_slice(ga_argpartition(y, 2), "..., 2"));
    AFTER("-np.sort(-y)[:, :2]", ga_topk(y, 2, &a, &b), a);
    SHOW("np.argsort(-y)[:, :2]", b);
    SHOW("np.argmin(y)", ga_argmin(y));
    SHOW("np.searchsorted(s, x)", ga_searchsorted(s, x));
    SHOW("np.searchsorted(s, 1.5)", ga_searchsorted(s, 1.5));
    SHOW("np.digitize(x, s)", ga_digitize(x, s));
    SHOW("np.unique(m)", ga_unique(m));
    AFTER("np.unique_all(k).inverse_indices", ga_unique_all(k, &a, &b, &c, &d), c);
    SHOW("np.unique_all(k).counts", d);
    AFTER("np.unique_counts(k).counts", ga_unique_counts(k, &a, &b), b);
    AFTER("np.unique_inverse(k).inverse_indices", ga_unique_inverse(k, &a, &b), b);
    SHOW("np.isin(m, k)", ga_isin(m, k));
    SHOW("np.isin(m, k).ravel()", ga_in1d(m, k));
    SHOW("np.union1d(m, k)", ga_union1d(m, k));
    SHOW("np.intersect1d(m, k)", ga_intersect1d(m, k));
    SHOW("np.setdiff1d(m, k)", ga_setdiff1d(m, k));
    SHOW("np.setxor1d(m, k)", ga_setxor1d(m, k));
    SHOW("np.median(y)", ga_median(y));
    SHOW("np.quantile(y, 0.3)", ga_quantile(y, 0.3));
    SHOW("np.percentile(y, 30)", ga_percentile(y, 30));
    SHOW("np.nanmedian(y)", ga_nanmedian(y));
    SHOW("np.nanquantile(y, 0.3)", ga_nanquantile(y, 0.3));
    SHOW("np.nanpercentile(y, 30)", ga_nanpercentile(y, 30));
    AFTER("np.histogram(y, 4)[0]", ga_histogram(y, 4, &a, &b), a);
    SHOW("np.histogram(y, 4)[1]", b);
    AFTER("np.histogram(y, np.linspace(-1, 1, 5))[0]",
          ga_histogram(y, ga_linspace(GA_FLOAT64, -1, 1, 5), &a, &b), a);
    AFTER("np.histogram2d(x.ravel(), y.ravel(), [2, 3])[0]",
          ga_histogram2d(ga_ravel(x), ga_ravel(y), 2, 3, &a, &b, &c), a);
    AFTER("np.histogramdd(x[:, :2], (2, 3))[0]",
          ga_histogramdd(ga_slice(x, ":, :2"), GA_BINS(2, 3), &a, edges), a);
    SHOW("np.bincount(k.ravel())", ga_bincount(ga_ravel(k)));
    AFTER("np.array(1)", ga_mode(ga_slice(ga_remainder(k, 2), "0, :3"), &a, &b), a);
#if OPTIONS
    SHOW("-np.sort(-m, axis=0)", ga_sort(m, GA_AXIS(0), .descending = true));
    SHOW("np.sort(m, axis=None)", ga_sort(m, .flat = true));
    AFTER("np.sort(y, axis=0)[:2]", ga_topk(y, 2, &a, &b, GA_AXIS(0), .smallest = true), a);
    SHOW("np.searchsorted(s, x, side='right')", ga_searchsorted(s, x, .side_right = true));
    SHOW("np.quantile(y, [0.1, 0.9], axis=1, method='hazen', keepdims=True)",
         ga_quantile(y, ga_slice(ga_linspace(GA_FLOAT64, 0.1, 0.9, 9), "::8"), GA_AXIS(1),
                     .method = "hazen", .keepdims = true));
    AFTER("np.histogram(y, 3, range=(-2, 2), weights=x, density=True)[0]",
          ga_histogram(y, 3, &a, &b, .range = {-2, 2}, .weights = x, .density = true), a);
    SHOW("np.bincount(k.ravel(), weights=y.ravel(), minlength=9)",
         ga_bincount(ga_ravel(k), .weights = ga_ravel(y), .minlength = 9));
    AFTER("np.unique(k, return_counts=True)[1]",
          ga_unique(k, .counts = &b) ? GA_OK : GA_ERR_INVALID, b);
#endif
}

#endif
