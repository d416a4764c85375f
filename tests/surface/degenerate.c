/* Every kind of public call on arrays with zero-length axes, without axes, and with strides of 0
 * and below: degenerate.py has NumPy's results beside the expressions, and its errors.
 *
 * degenerate FOLDER [SHARE [START]] makes one call of SHARE; START says which. */
#include <quarry.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *folder;
static int array, shown;
static unsigned share = 1, call; /* the next call; each `share`-th one is made */

enum { SECONDS = 60 }; /* that a call may take, with a compiler's time */

/* A result, or an error, for the expression; degenerate.py holds it against NumPy. */
static void show(const char *expression, gpuarray *result, int line)
{
    char path[4096];
    const bool failed = ga_error() != GA_OK || !result;
    if (!failed) {
        snprintf(path, sizeof path, "%s/%d.npy", folder, shown);
        if (ga_save(result, path) != GA_OK)
            exit(3);
    }
    const char *const message = failed ? ga_error_message() : "";
    printf("\t%d\t%s\t%d\t%.*s\n", failed ? -1 : shown++, expression, line,
           (int)strcspn(message, "\n"), message);
    fflush(stdout);
    ga_clear_error();
}

/* Whether the sample, one call of `share`, has the call. The array's number comes before the call:
 * it stands last where a call does not end. */
static bool begin(const char *expression)
{
    if (call++ % share != 0)
        return false;
    alarm(SECONDS);
    printf("%d\t%s", array, expression);
    fflush(stdout);
    return true;
}
#define SHOW(expression, ...)                                                                      \
    (begin(#__VA_ARGS__) ? show(expression, __VA_ARGS__, __LINE__) : (void)0)
#define NUMBER(expression, ...)                                                                    \
    SHOW("np.float64(" expression ")", ga_scalar(GA_FLOAT64, (double)(__VA_ARGS__)))

/* One of several results, after a call that returns a status. */
#define AFTER(expression, call, ...)                                                               \
    (begin(#call) ? show(expression, (call) == GA_OK ? (__VA_ARGS__) : NULL, __LINE__) : (void)0)

static gpuarray *x, *y, *i, *truth, *v, *a, *b, *c, *d, *out[8];

/* The copy is v too: what changes it comes before what shows it. */
static gpuarray *copy(void)
{
    return v = ga_copy(x);
}

static void elementwise(void)
{
    SHOW("-x", ga_negative(x));
    SHOW("np.sqrt(abs(x))", ga_sqrt(ga_absolute(x)));
    SHOW("x + y", ga_add(x, y));
    SHOW("x * 2", ga_multiply(x, 2));
    SHOW("x // y", ga_floor_divide(x, y));
    SHOW("x > 1", ga_greater(x, 1));
    SHOW("i ** 2", ga_power(i, 2));
    SHOW("i << 1", ga_left_shift(i, 1));
    SHOW("x.astype(np.float16)", ga_astype(x, GA_FLOAT16));
    SHOW("x.astype(np.complex64)", ga_astype(x, GA_COMPLEX64));
    SHOW("np.where(truth, x, y)", ga_where(truth, x, y));
    SHOW("np.where(truth, x, 3)", ga_where(truth, x, 3));
    SHOW("np.clip(x, 0, y)", ga_clip(x, 0, y));
    SHOW("np.isclose(x, y)", ga_isclose(x, y));
    SHOW("np.nan_to_num(x)", ga_nan_to_num(x));
    SHOW("np.round(x, 1)", ga_round(x, 1));
    SHOW("x.real", ga_real(x));
    SHOW("np.imag(x)", ga_imag(x));
    AFTER("np.divmod(x, y)[0]", ga_divmod(x, y, &a, &b), a);
    AFTER("np.modf(x)[1]", ga_modf(x, &a, &b), b);
    AFTER("np.frexp(x)[1]", ga_frexp(x, &a, &b), b);
    AFTER("np.sin(x)", ga_sincos(x, &a, &b), a);
    AFTER("x + y", ga_add_into(copy(), x, y), v);
    copy();
    AFTER("x + x if x.size else x", ga_add_into(v, v, v), v);
    copy();
    AFTER("x - x[::-1]", ga_subtract_into(v, v, ga_flip(v, 0)), v);
    NUMBER("np.allclose(x, y)", ga_allclose(x, y));
    NUMBER("np.array_equal(x, x)", ga_array_equal(x, x));
    NUMBER("np.array_equiv(x, y)", ga_array_equiv(x, y));
}

#define REDUCTION(name)                                                                            \
    do {                                                                                           \
        SHOW("np." #name "(x)", ga_##name(x));                                                     \
        SHOW("np." #name "(x, axis=0)", ga_##name(x, GA_AXIS(0)));                                 \
        SHOW("np." #name "(x, axis=-1, keepdims=True)",                                            \
             ga_##name(x, GA_AXIS(-1), .keepdims = true));                                         \
    } while (0)

static void reductions(void)
{
    REDUCTION(sum);
    REDUCTION(prod);
    REDUCTION(min);
    REDUCTION(max);
    REDUCTION(mean);
    REDUCTION(var);
    REDUCTION(any);
    REDUCTION(all);
    REDUCTION(argmin);
    REDUCTION(argmax);
    REDUCTION(nansum);
    REDUCTION(nanmax);
    REDUCTION(nanmean);
    REDUCTION(ptp);
    REDUCTION(count_nonzero);
    REDUCTION(median);
    REDUCTION(nanmedian);
    SHOW("np.sum(x, axis=())", ga_sum(x, GA_AXIS()));
    SHOW("np.sum(x, initial=3, where=truth)", ga_sum(x, .initial = GA_V(3), .where = truth));
    SHOW("np.max(x, axis=0, initial=3)", ga_max(x, GA_AXIS(0), .initial = GA_V(3)));
    SHOW("np.quantile(x, 0.3)", ga_quantile(x, 0.3));
    SHOW("np.quantile(x, 0.3, axis=0)", ga_quantile(x, 0.3, GA_AXIS(0)));
    SHOW("np.nanquantile(x, 0.3, axis=-1)", ga_nanquantile(x, 0.3, GA_AXIS(-1)));
    SHOW("np.average(x)", ga_average(x));
    SHOW("np.average(x, weights=abs(y))", ga_average(x, .weights = ga_absolute(y)));
    SHOW("np.average(x, axis=0, weights=abs(y) + 1)",
         ga_average(x, GA_AXIS(0), .weights = ga_add(ga_absolute(y), 1)));
    SHOW("np.log(np.sum(np.exp(x)))", ga_logsumexp(x));
    SHOW("np.trapezoid(x)", ga_trapezoid(x));
    SHOW("np.cov(x)", ga_cov(x));
    SHOW("np.corrcoef(x)", ga_corrcoef(x));
    SHOW("np.cov(x, rowvar=False)", ga_cov(x, .columns = true));
    SHOW("np.cov(x, y)", ga_cov(x, .y = y));
    SHOW("np.cov(x, y, rowvar=False)", ga_cov(x, .y = y, .columns = true));
    SHOW("np.corrcoef(x, y, rowvar=False)", ga_corrcoef(x, .y = y, .columns = true));
    SHOW("np.cov(x[:0], y)", ga_cov(ga_slice(x, ":0"), .y = y));
    SHOW("np.corrcoef(x[:, :0], y[:, :0])",
         ga_corrcoef(ga_slice(x, ":, :0"), .y = ga_slice(y, ":, :0")));
    SHOW("np.trace(x)", ga_trace(x, 0, 0, 1));
}

static void scans(void)
{
    SHOW("np.cumsum(x)", ga_cumsum(x));
    SHOW("np.cumsum(x, axis=0)", ga_cumsum(x, GA_AXIS(0)));
    SHOW("np.cumsum(x, axis=-1)", ga_cumsum(x, GA_AXIS(-1)));
    SHOW("np.cumprod(x, axis=0)", ga_cumprod(x, GA_AXIS(0)));
    SHOW("np.maximum.accumulate(x.ravel())", ga_cummax(x));
    SHOW("np.maximum.accumulate(x, axis=-1)", ga_cummax(x, GA_AXIS(-1)));
    SHOW("np.cumulative_sum(x, axis=0, include_initial=True)",
         ga_cumulative_sum(x, GA_AXIS(0), .include_initial = true));
    SHOW("np.diff(x)", ga_diff(x, 1));
    SHOW("np.diff(x, 7)", ga_diff(x, 7));
    SHOW("np.diff(x, 0, axis=0)", ga_diff(x, 0, GA_AXIS(0)));
    SHOW("np.diff(x, axis=0, prepend=1)",
         ga_diff(x, 1, GA_AXIS(0), .prepend = ga_scalar(GA_FLOAT64, 1)));
    SHOW("np.ediff1d(x)", ga_ediff1d(x));
    SHOW("np.gradient(x, axis=0)", ga_gradient(x, GA_AXIS(0)));
    SHOW("np.unwrap(x)", ga_unwrap(x));
}

static void orders(void)
{
    SHOW("np.sort(x)", ga_sort(x));
    SHOW("np.sort(x, axis=0)", ga_sort(x, GA_AXIS(0)));
    SHOW("np.sort(x, axis=None)", ga_sort(x, .flat = true));
    SHOW("np.argsort(x, kind='stable')", ga_argsort(x));
    SHOW("np.argsort(x, axis=0, kind='stable')", ga_argsort(x, GA_AXIS(0)));
    SHOW("np.lexsort([x, y])", ga_lexsort(GA_ARRAYS(x, y)));
    SHOW("np.sort(np.partition(x, 0))[..., :1]", ga_slice(ga_partition(x, 0), "..., :1"));
    SHOW("np.sort(np.partition(x, 2, axis=0), axis=0)",
         ga_sort(ga_partition(x, 2, GA_AXIS(0)), GA_AXIS(0)));
    AFTER("-np.sort(-x)[..., :1] if x.shape[-1] else raises()", ga_topk(x, 1, &a, &b), a);
    AFTER("np.sort(x)[..., :0]", ga_topk(x, 0, &a, &b, .smallest = true), a);
    SHOW("np.searchsorted(np.sort(x, axis=None), y)", ga_searchsorted(ga_sort(x, .flat = true), y));
    SHOW("np.searchsorted([1., 2], x)", ga_searchsorted(ga_arange(GA_FLOAT64, 1, 3, 1), x));
    SHOW("np.digitize(x, [1., 2])", ga_digitize(x, ga_arange(GA_FLOAT64, 1, 3, 1)));
    SHOW("np.digitize(2, x)", ga_digitize(ga_scalar(GA_FLOAT64, 2), x));
    SHOW("np.unique(x)", ga_unique(x));
    SHOW("np.unique(x, axis=0)", ga_unique(x, GA_AXIS(0)));
    AFTER("np.unique_all(x).indices", ga_unique_all(x, &a, &b, &c, &d), b);
    AFTER("np.unique_inverse(x).inverse_indices", ga_unique_inverse(x, &a, &b), b);
    AFTER("np.unique_counts(x).counts", ga_unique_counts(x, &a, &b), b);
    SHOW("np.isin(x, y)", ga_isin(x, y));
    SHOW("np.isin([1., 2], x)", ga_isin(ga_arange(GA_FLOAT64, 1, 3, 1), x));
    SHOW("np.union1d(x, y)", ga_union1d(x, y));
    SHOW("np.intersect1d(x, x)", ga_intersect1d(x, x));
    SHOW("np.setdiff1d(x, y)", ga_setdiff1d(x, y));
    SHOW("np.setxor1d(x, [1., 2])", ga_setxor1d(x, ga_arange(GA_FLOAT64, 1, 3, 1)));
    AFTER("np.histogram(x, 4)[0]", ga_histogram(x, 4, &a, &b), a);
    AFTER("np.histogram(x, 4)[1]", ga_histogram(x, 4, &a, &b), b);
    AFTER("np.histogram(x, 3, (0, 1), density=True, weights=y)[0]",
          ga_histogram(x, 3, &a, &b, .range = {0, 1}, .density = true, .weights = y), a);
    AFTER("np.histogram2d(x, y, [2, 3])[0]", ga_histogram2d(x, y, 2, 3, &a, &b, &c), a);
    SHOW("np.bincount(i)", ga_bincount(i));
    SHOW("np.bincount(i, weights=x, minlength=3)", ga_bincount(i, .weights = x, .minlength = 3));
    SHOW("np.interp(x, [0., 1], [5., 6])",
         ga_interp(x, ga_arange(GA_FLOAT64, 0, 2, 1), ga_arange(GA_FLOAT64, 5, 7, 1)));
}

static void shapes(void)
{
    SHOW("x.ravel()", ga_ravel(x));
    SHOW("x.reshape(x.shape + (1,))", ga_expand_dims(x, -1));
    SHOW("x.reshape(-1)", ga_reshape(x, GA_SHAPE(-1)));
    SHOW("x.reshape(0, -1)", ga_reshape(x, GA_SHAPE(0, -1)));
    SHOW("x.reshape(-1, 3)", ga_reshape(x, GA_SHAPE(-1, 3)));
    SHOW("x.reshape(3, 0)", ga_reshape(x, GA_SHAPE(3, 0)));
    SHOW("x.squeeze()", ga_squeeze(x));
    SHOW("x.T", ga_transpose(x));
    SHOW("np.flip(x, 0)", ga_flip(x, 0));
    SHOW("np.rot90(x)", ga_rot90(x, 1));
    SHOW("x.view(np.int16)", ga_view(x, GA_INT16));
    SHOW("i.view(np.float64)", ga_view(i, GA_FLOAT64));
    SHOW("np.broadcast_to(x, (2,) + x.shape)[1:]", ga_slice(ga_stack(GA_ARRAYS(x, x)), "1:"));
    SHOW("x[::-1]", ga_slice(x, "::-1"));
    SHOW("x[5:2:-1]", ga_slice(x, "5:2:-1"));
    SHOW("x[..., ::2]", ga_slice(x, "..., ::2"));
    SHOW("x[0]", ga_slice(x, "0"));
    SHOW("x[..., -1]", ga_slice(x, "..., -1"));
    SHOW("np.atleast_3d(x)", ga_atleast_3d(x));
    SHOW("np.tril(x)", ga_tril(x, 0));
    SHOW("np.triu(x, 1)", ga_triu(x, 1));
    SHOW("np.diag(x)", ga_diag(x, 0));
    SHOW("np.diag(x, 7)", ga_diag(x, 7));
    SHOW("np.diagonal(x)", ga_diagonal(x, 0, 0, 1));
    SHOW("np.diagonal(x, -2)", ga_diagonal(x, -2, 0, 1));
    SHOW("np.diagflat(x, 1)", ga_diagflat(x, 1));
    AFTER("fill_diagonal_(x, 8)", ga_fill_diagonal(copy(), 8), v);
    SHOW("np.concatenate([x, y])", ga_concatenate(GA_ARRAYS(x, y)));
    SHOW("np.concatenate([x, y], axis=-1)", ga_concatenate(GA_ARRAYS(x, y), GA_AXIS(-1)));
    SHOW("np.concatenate([x, y], axis=None)", ga_concatenate(GA_ARRAYS(x, y), GA_AXIS()));
    SHOW("np.stack([x, y], axis=-1)", ga_stack(GA_ARRAYS(x, y), GA_AXIS(-1)));
    SHOW("np.vstack([x, y])", ga_vstack(GA_ARRAYS(x, y)));
    SHOW("np.hstack([x, y])", ga_hstack(GA_ARRAYS(x, y)));
    SHOW("np.dstack([x, y])", ga_dstack(GA_ARRAYS(x, y)));
    SHOW("np.column_stack([x, y])", ga_column_stack(GA_ARRAYS(x, y)));
    SHOW("np.append(x, y)", ga_append(x, y));
    SHOW("np.resize(x, (2, 3))", ga_resize(x, GA_SHAPE(2, 3)));
    SHOW("np.resize(x, (0, 3))", ga_resize(x, GA_SHAPE(0, 3)));
    SHOW("np.tile(x, (2, 1))", ga_tile(x, GA_SHAPE(2, 1)));
    SHOW("np.tile(x, (0,))", ga_tile(x, GA_SHAPE(0)));
    SHOW("np.repeat(x, 0)", ga_repeat(x, 0));
    SHOW("np.repeat(x, 2)", ga_repeat(x, 2));
    SHOW("np.repeat(x, 2, axis=0)", ga_repeat(x, 2, GA_AXIS(0)));
    SHOW("np.roll(x, 3)", ga_roll(x, 3));
    SHOW("np.roll(x, -4, axis=0)", ga_roll(x, -4, GA_AXIS(0)));
    SHOW("np.pad(x, 1)", ga_pad(x, GA_SHAPE(1)));
    SHOW("np.pad(x, 0, mode='reflect')", ga_pad(x, GA_SHAPE(0), .mode = "reflect"));
    SHOW("np.pad(x, 2, mode='wrap')", ga_pad(x, GA_SHAPE(2), .mode = "wrap"));
    SHOW("np.pad(x, 2, mode='reflect')", ga_pad(x, GA_SHAPE(2), .mode = "reflect"));
    SHOW("np.pad(x, 2, mode='symmetric')", ga_pad(x, GA_SHAPE(2), .mode = "symmetric"));
    SHOW("np.pad(x, 2, mode='edge')", ga_pad(x, GA_SHAPE(2), .mode = "edge"));
    SHOW("np.pad(x, 2, mode='mean')", ga_pad(x, GA_SHAPE(2), .mode = "mean"));
    SHOW("np.pad(x, 2, mode='linear_ramp')", ga_pad(x, GA_SHAPE(2), .mode = "linear_ramp"));
    SHOW("np.trim_zeros(x)", ga_trim_zeros(x, "fb"));
    AFTER("np.array_split(x, 3)[2]", ga_array_split(x, 3, 0, out), out[2]);
    AFTER("np.split(x, 1)[0]", ga_split(x, 1, 0, out), out[0]);
    AFTER("np.meshgrid(x, y)[1] if x.ndim <= 1 else raises()", ga_meshgrid(GA_ARRAYS(x, y), out),
          out[1]);
}

static void places(void)
{
    gpuarray *const first = ga_zeros(GA_INT64, GA_SHAPE(2)), *const none =
                                                                 ga_zeros(GA_INT64, GA_SHAPE(0));
    SHOW("x[none]", ga_index(x, none));
    SHOW("x[first]", ga_index(x, first));
    SHOW("x[..., none]", ga_index(x, GA_ELLIPSIS, none));
    SHOW("x[truth]", ga_index(x, truth));
    SHOW("x[x > 100]", ga_index(x, ga_greater(x, 100)));
    SHOW("x[first, none]", ga_index(x, first, none));
    AFTER("set_(x, truth, 5)", ga_index_set(copy(), 5, truth), v);
    AFTER("set_(x, none, 5)", ga_index_set(copy(), 5, none), v);
    AFTER("set_(x, first, 5)", ga_index_set(copy(), 5, first), v);
    AFTER("add_(x, first, 5)", ga_index_add(copy(), 5, first), v);
    AFTER("add_(x, none, 5)", ga_index_add(copy(), 5, none), v);
    SHOW("np.take(x, none)", ga_take(x, none));
    SHOW("np.take(x, first)", ga_take(x, first));
    SHOW("np.take(x, none, axis=0)", ga_take(x, none, GA_AXIS(0)));
    SHOW("np.take(x, first, axis=-1)", ga_take(x, first, GA_AXIS(-1)));
    SHOW("np.take(x, first, mode='wrap')", ga_take(x, first, .mode = GA_WRAP));
    SHOW("np.take(x, first, axis=0, mode='clip')", ga_take(x, first, GA_AXIS(0), .mode = GA_CLIP));
    SHOW("np.take_along_axis(x, np.zeros(x.shape, int), 0)",
         ga_take_along_axis(x, ga_multiply(i, 0), GA_AXIS(0)));
    AFTER("put_(x, none, 3)", ga_put(copy(), none, 3), v);
    AFTER("put_(x, first, 3)", ga_put(copy(), first, 3), v);
    AFTER("place_(x, truth, y)", ga_place(copy(), truth, y), v);
    AFTER("place_(x, truth, [])", ga_place(copy(), truth, ga_zeros(GA_FLOAT64, GA_SHAPE(0))), v);
    AFTER("putmask_(x, truth, y)", ga_putmask(copy(), truth, y), v);
    AFTER("putmask_(x, truth, [])", ga_putmask(copy(), truth, ga_zeros(GA_FLOAT64, GA_SHAPE(0))),
          v);
    SHOW("np.choose(truth.astype(int), [x, y])",
         ga_choose(ga_astype(truth, GA_INT64), GA_ARRAYS(x, y)));
    SHOW("np.extract(truth, x)", ga_extract(truth, x));
    SHOW("np.compress([True], x, axis=0)",
         ga_compress(ga_ones(GA_BOOL, GA_SHAPE(1)), x, GA_AXIS(0)));
    SHOW("np.compress([], x, axis=-1)", ga_compress(ga_ones(GA_BOOL, GA_SHAPE(0)), x, GA_AXIS(-1)));
    AFTER("np.nonzero(truth)[0]", ga_nonzero(truth, out), out[0]);
    SHOW("np.argwhere(truth)", ga_argwhere(truth));
    SHOW("np.flatnonzero(truth)", ga_flatnonzero(truth));
    AFTER("np.unravel_index(i, (30, 2))[1]", ga_unravel_index(i, GA_SHAPE(30, 2), out), out[1]);
    AFTER("np.unravel_index(i, (0, 2))[1]", ga_unravel_index(i, GA_SHAPE(0, 2), out), out[1]);
    SHOW("np.insert(x, 0, 7)", ga_insert(x, 0, 7));
    SHOW("np.insert(x, 0, 7, axis=0)", ga_insert(x, 0, 7, GA_AXIS(0)));
    SHOW("np.insert(x, none, 7, axis=-1)", ga_insert(x, none, 7, GA_AXIS(-1)));
    SHOW("np.delete(x, none)", ga_delete(x, none));
    SHOW("np.delete(x, first, axis=0)", ga_delete(x, first, GA_AXIS(0)));
    SHOW("np.delete(x, slice(0, 9, 2), axis=0)", ga_delete(x, GA_RANGE(0, 9, 2), GA_AXIS(0)));
}

static void products(void)
{
    SHOW("np.matmul(x, x.T) if x.ndim < 3 else raises()", ga_matmul(x, ga_transpose(x)));
    SHOW("np.matmul(x, y)", ga_matmul(x, y));
    SHOW("np.dot(x, y)", ga_dot(x, y));
    SHOW("np.dot(x, x.T)", ga_dot(x, ga_transpose(x)));
    SHOW("np.vdot(x, y)", ga_vdot(x, y));
    SHOW("np.vecdot(x, y)", ga_vecdot(x, y));
    SHOW("np.inner(x, y)", ga_inner(x, y));
    SHOW("np.outer(x, y)", ga_outer(x, y));
    SHOW("np.kron(x, y)", ga_kron(x, y));
    SHOW("np.tensordot(x, y, 0)", ga_tensordot(x, y, 0, NULL, 0, NULL));
    SHOW("np.tensordot(x, y, ([0], [0]))", ga_tensordot(x, y, GA_AXES(0), GA_AXES(0)));
    SHOW("np.einsum('...,...->...', x, y)", ga_einsum("...,...->...", GA_ARRAYS(x, y)));
    SHOW("np.einsum('i...->...', x)", ga_einsum("i...->...", GA_ARRAYS(x)));
    SHOW("np.einsum('ij,kj->ik', x, y)", ga_einsum("ij,kj->ik", GA_ARRAYS(x, y)));
    SHOW("np.convolve(x, y)", ga_convolve(x, y));
    SHOW("np.correlate(x, y, 'same')", ga_correlate(x, y, .mode = "same"));
    SHOW("np.polyval(x, 2.)", ga_polyval(x, ga_scalar(GA_FLOAT64, 2)));
    SHOW("np.polyval([1., 2], x)", ga_polyval(ga_arange(GA_FLOAT64, 1, 3, 1), x));
    SHOW("np.cross(x, y)", ga_cross(x, y));
    SHOW("np.vander(x, 3)", ga_vander(x, 3, false));
    SHOW("np.vander(x, 0)", ga_vander(x, 0, true));
}

static void formulas(void)
{
    SHOW("x * 2 + y", ga_eval("x * 2 + y", GA(x), GA(y)));
    SHOW("np.sum(x * y)", ga_eval("sum(x * y)", GA(x), GA(y)));
    SHOW("np.max(x * y)", ga_eval("max(x * y)", GA(x), GA(y)));
    SHOW("np.mean(x, axis=0) + 1", ga_eval("mean(x, axis=0) + 1", GA(x)));
    SHOW("x - np.mean(x, axis=-1, keepdims=True)",
         ga_eval("x - mean(x, axis=-1, keepdims=True)", GA(x)));
    SHOW("np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)",
         ga_eval("t = exp(x); t / sum(t, axis=-1, keepdims=True)", GA(x)));
    SHOW("np.cumsum(x * 2, axis=0)", ga_eval("cumsum(x * 2, axis=0)", GA(x)));
    SHOW("x[x > 0]", ga_eval("x[x > 0]", GA(x)));
    SHOW("x[::-1]", ga_eval("x[::-1]", GA(x)));
    SHOW("x.T @ x", ga_eval("x.T @ x", GA(x)));
}

/* The arrays that degenerate.py makes too. */
static gpuarray *make(int which)
{
    static const int64_t empty[][3] = {{0}, {0, 3}, {3, 0}, {2, 0, 3}, {0, 0}, {0, 2, 3}};
    static const int ndims[] = {1, 2, 2, 3, 2, 3};
    enum { EMPTY = sizeof ndims / sizeof *ndims };
    if (which < EMPTY)
        return ga_zeros(GA_FLOAT64, ndims[which], empty[which]);
    gpuarray *const line = ga_arange(GA_FLOAT64, 0, 4, 1), *const matrix = ga_reshape(
                                                               ga_arange(GA_FLOAT64, 0, 12, 1),
                                                               GA_SHAPE(3, 4));
    switch (which - EMPTY) {
    case 0: return ga_scalar(GA_FLOAT64, 2.5);
    case 1: return ga_broadcast_to(line, GA_SHAPE(3, 4));
    case 2: return ga_broadcast_to(ga_scalar(GA_FLOAT64, 1.5), GA_SHAPE(2, 3));
    case 3: return ga_slice(matrix, "::-1, ::-2");
    case 4: return ga_ones(GA_FLOAT64, GA_SHAPE(1, 1));
    case 5: return ga_transpose(matrix);
    case 6: return ga_slice(line, "::-1");
    case 7: return ga_broadcast_to(ga_scalar(GA_FLOAT64, 1.5), GA_SHAPE(5));
    case 8: return ga_broadcast_to(ga_expand_dims(line, 1), GA_SHAPE(4, 4));
    case 9: return ga_broadcast_to(ga_ones(GA_FLOAT64, GA_SHAPE(0)), GA_SHAPE(2, 0));
    default: return NULL;
    }
}

int main(int argc, char **argv)
{
    folder = argc > 1 ? argv[1] : ".";
    share = argc > 2 ? (unsigned)atoi(argv[2]) : 1;
    call = argc > 3 ? (unsigned)atoi(argv[3]) : 0;
    for (bool more = true; more; array++)
        GA_SCOPE {
            x = make(array);
            more = x != NULL;
            if (!more)
                break; /* out of the scope */
            y = ga_add(ga_multiply(ga_flip(ga_ravel(x), 0), 0.5), 1);
            y = ga_reshape(y, ga_ndim(x), ga_shape(x));
            i = ga_astype(x, GA_INT64);
            truth = ga_greater(x, 1);
            elementwise();
            reductions();
            scans();
            orders();
            shapes();
            places();
            products();
            formulas();
        }
    return ga_error() != GA_OK;
}
