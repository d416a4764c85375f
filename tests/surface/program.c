/* Every name of the public surface in the spelling of its documentation, as C and as C++. */
#include "program.h"

static gpuarray *x, *y, *z, *m, *k, *s, *idx, *mask, *row;

#include "bounds.h"
#include "loops.h"
#include "order.h"
#include "typed.h"

/* x, y and the others as surface.py makes them. */
static void make(void)
{
    x = ga_reshape(ga_divide(ga_subtract(ga_arange(GA_FLOAT64, 0, 12, 1), 5), 2), GA_SHAPE(3, 4));
    y = ga_reshape(ga_sin(ga_arange(GA_FLOAT64, 1, 13, 1)), GA_SHAPE(3, 4));
    z = ga_reshape(ga_arange(GA_FLOAT32, 0, 24, 1), GA_SHAPE(2, 3, 4));
    m = ga_reshape(ga_remainder(ga_multiply(ga_arange(GA_INT32, 0, 20, 1), 7), 11), GA_SHAPE(4, 5));
    k = ga_reshape(ga_remainder(ga_multiply(ga_arange(GA_INT64, 0, 12, 1), 5), 7), GA_SHAPE(3, 4));
    s = ga_sqrt(ga_arange(GA_FLOAT64, 0, 9, 1));
    idx = ga_astype(ga_remainder(ga_multiply(ga_arange(GA_INT64, 0, 5, 1), 2), 3), GA_INT64);
    mask = ga_greater(x, 0.5);
    row = ga_slice(x, "1");
}

static void creating(void)
{
    const double data[] = {1, 2, 3, 4, 5, 6};
    SHOW("np.zeros((2, 3), np.float32)", ga_zeros(GA_FLOAT32, GA_SHAPE(2, 3)));
    SHOW("np.ones((2, 3), np.int8)", ga_ones(GA_INT8, GA_SHAPE(2, 3)));
    SHOW("np.zeros((), np.float32)", ga_zeros(GA_FLOAT32, GA_SHAPE0));
    SHOW("np.full((2, 2), 7, np.uint8)", ga_full(GA_UINT8, GA_SHAPE(2, 2), 7));
    SHOW("np.full((3, 4), row)", ga_full(GA_FLOAT64, GA_SHAPE(3, 4), row));
    SHOW("np.full_like(m, 3)", ga_full_like(m, 3));
    SHOW("np.zeros_like(z)", ga_zeros_like(z));
    SHOW("np.ones_like(m)", ga_ones_like(m));
    NUMBER("24", ga_size(ga_empty_like(z)));
    NUMBER("6", ga_size(ga_empty(GA_INT16, GA_SHAPE(2, 3))));
    SHOW("np.arange(10, 0, -3, dtype=np.int16)", ga_arange(GA_INT16, 10, 0, -3));
    SHOW("np.linspace(0, 1, 5)", ga_linspace(GA_FLOAT64, 0, 1, 5));
    SHOW("np.eye(3, dtype=np.float32)", ga_eye(GA_FLOAT32, 3));
    SHOW("np.eye(3, 4, 1)", ga_eye_ex(GA_FLOAT64, 3, 4, 1));
    SHOW("np.identity(3)", ga_identity(GA_FLOAT64, 3));
    SHOW("np.array([[1, 2, 3], [4, 5, 6.]])", ga_from_host(data, GA_FLOAT64, GA_SHAPE(2, 3)));
    SHOW("np.float32(2.5)", ga_scalar(GA_FLOAT32, 2.5));
    NUMBER("x[1, 2]", ga_item_double(x, 1, 2));
    NUMBER("k[-1, 0]", ga_item_int64(k, -1, 0));
    NUMBER("k.flat[7]", ga_item_uint64(k, 7));
    NUMBER("mask[2, 3]", ga_item_bool(mask, 2, 3));
    NUMBER("z.nbytes", ga_nbytes(z));
    NUMBER("z.ndim", ga_ndim(z));
    NUMBER("z.shape[1]", ga_shape(z)[1]);
    NUMBER("z.T.strides[0]", ga_strides(ga_transpose(z))[0]);
    NUMBER("z.shape[-1]", ga_length(z, -1));
    NUMBER("True", ga_is_contiguous(z) && ga_data(z) != NULL && ga_dtype_of(z) == GA_FLOAT32);
    SHOW("np.logspace(0, 3, 4)", ga_logspace(GA_FLOAT64, 0, 3, 4));
    SHOW("np.geomspace(1, 1000, 4)", ga_geomspace(GA_FLOAT64, 1, 1000, 4));
    SHOW("np.tri(3, 4, -1)", ga_tri(GA_FLOAT64, 3, 4, -1));
    SHOW("np.vander([1., 2, 3], 4)", ga_vander(ga_arange(GA_FLOAT64, 1, 4, 1), 4, false));
    SHOW("np.indices((2, 3))", ga_indices(GA_SHAPE(2, 3)));
    SHOW("np.bartlett(7)", ga_bartlett(GA_FLOAT64, 7));
    SHOW("np.blackman(7)", ga_blackman(GA_FLOAT64, 7));
    SHOW("np.hamming(7)", ga_hamming(GA_FLOAT64, 7));
    SHOW("np.hanning(7)", ga_hanning(GA_FLOAT64, 7));
    SHOW("np.kaiser(7, 14)", ga_kaiser(GA_FLOAT64, 7, 14));
}

static void viewing(void)
{
    gpuarray *v = ga_copy(x), *out[4] = {NULL, NULL, NULL, NULL};
    const ga_range ranges[] = {GA_ALL, GA_RANGE(1, 3, 1), GA_NEWAXIS};
    const int ndims[] = {2, 1};
    const int64_t one[] = {3, 1}, two[] = {4}, *const shapes[] = {one, two};
    int64_t common[GA_MAX_NDIM];
    int ndim = 0;
    SHOW("x[1:, ::2]", ga_slice(x, "1:, ::%d", 2));
    SHOW("x[:, 1:3, None]", ga_slice_ranges(x, 3, ranges));
    SHOW("z.reshape(4, 6)", ga_reshape(z, GA_SHAPE(4, -1)));
    SHOW("z.ravel()", ga_ravel(z));
    SHOW("z.T", ga_transpose(z));
    SHOW("z.transpose(2, 0, 1)", ga_transpose_axes(z, GA_AXES(2, 0, 1)));
    SHOW("np.permute_dims(z, (2, 0, 1))", ga_permute_dims(z, GA_AXES(2, 0, 1)));
    SHOW("x", ga_squeeze(ga_expand_dims(x, 0)));
    SHOW("x[:, None]", ga_expand_dims(x, 1));
    SHOW("x", ga_squeeze_axes(ga_expand_dims(x, 0), GA_AXES(0)));
    SHOW("np.broadcast_to(row, (2, 4))", ga_broadcast_to(row, GA_SHAPE(2, 4)));
    SHOW("np.flip(z, 1)", ga_flip(z, 1));
    SHOW("np.flip(z, (0, 2))", ga_flip_axes(z, GA_AXES(0, 2)));
    SHOW("np.fliplr(x)", ga_fliplr(x));
    SHOW("np.flipud(x)", ga_flipud(x));
    SHOW("np.rot90(x, 3)", ga_rot90(x, 3));
    SHOW("x.real", ga_real(x));
    SHOW("x.imag", ga_imag(x));
    SHOW("m.view(np.uint8)", ga_view(m, GA_UINT8));
    SHOW("x.astype(np.int16)", ga_astype(x, GA_INT16));
    AFTER("np.where(np.arange(4) < 2, 9, x)", ga_assign(ga_slice(v, ":, :2"), 9), v);
    SHOW("np.swapaxes(z, 0, 2)", ga_swapaxes(z, 0, 2));
    SHOW("np.moveaxis(z, 0, -1)", ga_moveaxis(z, 0, -1));
    SHOW("np.rollaxis(z, 2, 0)", ga_rollaxis(z, 2, 0));
    SHOW("np.atleast_1d(5.)", ga_atleast_1d(ga_scalar(GA_FLOAT64, 5)));
    SHOW("np.atleast_2d(row)", ga_atleast_2d(row));
    SHOW("np.atleast_3d(x)", ga_atleast_3d(x));
    AFTER("np.broadcast_arrays(x, row)[1]", ga_broadcast_arrays(GA_ARRAYS(x, row), out), out[1]);
    NUMBER("12 + 2", ga_broadcast_shapes(2, ndims, shapes, &ndim, common) == GA_OK
                         ? common[0] * common[1] + ndim
                         : 0);
    AFTER("np.meshgrid(row, s)[1]", ga_meshgrid(GA_ARRAYS(row, s), out), out[1]);
#if OPTIONS
    AFTER("np.meshgrid(row, s, indexing='ij')[1]",
          ga_meshgrid(GA_ARRAYS(row, s), out, .indexing = "ij"), out[1]);
    AFTER("np.meshgrid(row, s, sparse=True)[0]",
          ga_meshgrid(GA_ARRAYS(row, s), out, .sparse = true), out[0]);
#endif
    AFTER("np.ix_([0, 2, 1, 0, 2], row.astype(int))[0]",
          ga_ix_(GA_ARRAYS(idx, ga_astype(row, GA_INT64)), out), out[0]);
    SHOW("np.tril(z, -1)", ga_tril(z, -1));
    SHOW("np.triu(z, 1)", ga_triu(z, 1));
    AFTER("np.split(x, 3, 0)[2]", ga_split(x, 3, 0, out), out[2]);
    AFTER("np.array_split(x, 3, 1)[0]", ga_array_split(x, 3, 1, out), out[0]);
    AFTER("np.hsplit(x, 2)[1]", ga_hsplit(x, 2, out), out[1]);
    AFTER("np.vsplit(x, 3)[1]", ga_vsplit(x, 3, out), out[1]);
    AFTER("np.dsplit(z, 2)[1]", ga_dsplit(z, 2, out), out[1]);
    AFTER("np.unstack(z, axis=1)[1]", ga_unstack(z, 1, out), out[1]);
}

static void indexing(void)
{
    gpuarray *v = ga_copy(x), *out[2] = {NULL, NULL}, *two = ga_arange(GA_INT64, 0, 4, 2);
    SHOW("x[[0, 2, 1, 0, 2]]", ga_index(x, idx));
    SHOW("x[1:, [0, 2]]", ga_index(x, GA_FROM(1, 1), two));
    SHOW("x[:, None, 1]", ga_index(x, GA_ALL, GA_NEWAXIS, 1));
    SHOW("z[..., [0, 2]]", ga_index(z, GA_ELLIPSIS, two));
    SHOW("x[:2, -1]", ga_index(x, GA_UPTO(2, 1), -1));
    SHOW("x[mask]", ga_index(x, mask));
    AFTER("set_(x, (slice(1, 3), [0, 2]), -1)", ga_index_set(v, -1, GA_RANGE(1, 3, 1), two), v);
    AFTER("add_(x, [0, 2, 1, 0, 2], 1.5)", ga_index_add(v = ga_copy(x), 1.5, idx), v);
    AFTER("multiply_(x, [0, 2, 1, 0, 2], 2)", ga_index_multiply(v = ga_copy(x), 2, idx), v);
    AFTER("minimum_(x, [0, 2, 1, 0, 2], 0)", ga_index_minimum(v = ga_copy(x), 0, idx), v);
    AFTER("maximum_(x, [0, 2, 1, 0, 2], 0)", ga_index_maximum(v = ga_copy(x), 0, idx), v);
    SHOW("np.take(x, idx)", ga_take(x, idx));
    AFTER("put_(x, idx, 3)", ga_put(v = ga_copy(x), idx, 3), v);
    SHOW("np.extract(mask, x)", ga_extract(mask, x));
    AFTER("place_(x, mask, row)", ga_place(v = ga_copy(x), mask, row), v);
    AFTER("putmask_(x, mask, y)", ga_putmask(v = ga_copy(x), mask, y), v);
    SHOW("np.choose(k % 2, [x, y])", ga_choose(ga_remainder(k, 2), GA_ARRAYS(x, y)));
    SHOW("np.select([mask, y > 0], [x, y], 4)",
         ga_select(GA_ARRAYS(mask, ga_greater(y, 0)), GA_ARRAYS(x, y), 4));
    SHOW("np.diag(x, 1)", ga_diag(x, 1));
    SHOW("np.diag(row)", ga_diag(row, 0));
    SHOW("np.diagonal(z, 1, 1, 2)", ga_diagonal(z, 1, 1, 2));
    SHOW("np.diagflat(row, -1)", ga_diagflat(row, -1));
    AFTER("fill_diagonal_(x, 8)", ga_fill_diagonal(v = ga_copy(x), 8), v);
    SHOW("np.trace(z, 0, 1, 2)", ga_trace(z, 0, 1, 2));
    AFTER("np.nonzero(mask)[1]", ga_nonzero(mask, out), out[1]);
    SHOW("np.argwhere(mask)", ga_argwhere(mask));
    SHOW("np.flatnonzero(mask)", ga_flatnonzero(mask));
    AFTER("np.diag_indices(3)[1]", ga_diag_indices(3, 2, out), out[1]);
    SHOW("np.lib.stride_tricks.sliding_window_view(x, (2, 3))",
         ga_sliding_window_view(x, GA_SHAPE(2, 3)));
    SHOW("np.packbits(x > 0)", ga_packbits(ga_greater(x, 0)));
    SHOW("np.unpackbits(k.astype(np.uint8))", ga_unpackbits(ga_astype(k, GA_UINT8)));
    AFTER("np.unravel_index(k, (3, 4))[1]", ga_unravel_index(k, GA_SHAPE(3, 4), out), out[1]);
#if OPTIONS
    gpuarray *along = ga_argsort(y);
    AFTER("add_(x, (slice(None), [0, 2]), 2)",
          ga_index_add_with(.x = (v = ga_copy(x)), .value = GA_V(2), GA_PARTS(GA_ALL, two),
                            .relaxed = true),
          v);
    SHOW("np.take(x, idx, axis=0)", ga_take(x, idx, GA_AXIS(0)));
    SHOW("np.take(x, idx + 2, axis=0, mode='wrap')",
         ga_take(x, ga_add(idx, 2), GA_AXIS(0), .mode = GA_WRAP));
    SHOW("np.take(x, idx + 2, axis=0, mode='clip')",
         ga_take(x, ga_add(idx, 2), GA_AXIS(0), .mode = GA_CLIP));
    AFTER("put_(x, idx + 11, 3, mode='wrap')",
          ga_put(v = ga_copy(x), ga_add(idx, 11), 3, .mode = GA_WRAP), v);
    SHOW("np.sort(y, axis=1)", ga_take_along_axis(y, along, GA_AXIS(1)));
    AFTER("put_along_(x, np.argsort(y, axis=1), 1, axis=1)",
          ga_put_along_axis(v = ga_copy(x), along, 1, GA_AXIS(1)), v);
    SHOW("np.compress(mask[:, 3], x, axis=0)",
         ga_compress(ga_index(mask, GA_ALL, 3), x, GA_AXIS(0)));
#endif
}

static void joining(void)
{
    const int64_t shifts[] = {1, 2};
    const int axes[] = {0, 1};
    const gpuarray *blocks[4];
    blocks[0] = x, blocks[1] = y, blocks[2] = y, blocks[3] = x;
    SHOW("np.concatenate([x, y])", ga_concatenate(GA_ARRAYS(x, y)));
    SHOW("np.concat([x, y])", ga_concat(GA_ARRAYS(x, y)));
    SHOW("np.stack([x, y])", ga_stack(GA_ARRAYS(x, y)));
    SHOW("np.vstack([x, row])", ga_vstack(GA_ARRAYS(x, row)));
    SHOW("np.hstack([x, y])", ga_hstack(GA_ARRAYS(x, y)));
    SHOW("np.dstack([x, y])", ga_dstack(GA_ARRAYS(x, y)));
    SHOW("np.column_stack([row, row])", ga_column_stack(GA_ARRAYS(row, row)));
    SHOW("np.block([[x, y], [y, x]])", ga_block(2, 2, blocks));
    SHOW("np.append(x, row)", ga_append(x, row));
    SHOW("np.insert(s, 2, 7)", ga_insert(s, 2, 7));
    SHOW("np.delete(s, [0, 2, 1, 0, 2])", ga_delete(s, idx));
    SHOW("np.resize(row, (3, 3))", ga_resize(row, GA_SHAPE(3, 3)));
    SHOW("np.tile(row, (2, 2))", ga_tile(row, GA_SHAPE(2, 2)));
    SHOW("np.repeat(x, 2)", ga_repeat(x, 2));
    SHOW("np.roll(x, 3)", ga_roll(x, 3));
    SHOW("np.roll(x, (1, 2), (0, 1))", ga_roll_axes(x, 2, shifts, axes));
    SHOW("np.pad(x, 1)", ga_pad(x, GA_SHAPE(1)));
    SHOW("np.trim_zeros(s)", ga_trim_zeros(s, "fb"));
    SHOW("np.diff(s, 1)", ga_diff(s, 1));
    SHOW("np.ediff1d(s)", ga_ediff1d(s));
    SHOW("np.gradient(s)", ga_gradient(s));
    SHOW("np.unwrap(s * 4)", ga_unwrap(ga_multiply(s, 4)));
    SHOW("np.trapezoid(s)", ga_trapezoid(s));
    SHOW("np.polyval(row, s)", ga_polyval(row, s));
    SHOW("np.convolve(s, row)", ga_convolve(s, row));
    SHOW("np.correlate(s, row)", ga_correlate(s, row));
    SHOW("np.interp(x, np.arange(9), s)", ga_interp(x, ga_arange(GA_FLOAT64, 0, 9, 1), s));
#if OPTIONS
    SHOW("np.concatenate([x, y], axis=1)", ga_concatenate(GA_ARRAYS(x, y), GA_AXIS(1)));
    SHOW("np.concatenate([x, y], axis=None)", ga_concatenate(GA_ARRAYS(x, y), GA_AXIS()));
    SHOW("np.stack([x, y], axis=-1)", ga_stack(GA_ARRAYS(x, y), GA_AXIS(-1)));
    SHOW("np.append(x, y, axis=1)", ga_append(x, y, GA_AXIS(1)));
    SHOW("np.insert(x, 1, row[:3], axis=1)", ga_insert(x, 1, ga_slice(row, ":3"), GA_AXIS(1)));
    SHOW("np.insert(x, slice(0, 2), 9, axis=0)", ga_insert(x, GA_RANGE(0, 2, 1), 9, GA_AXIS(0)));
    SHOW("np.delete(x, [0, 2], axis=1)", ga_delete(x, ga_arange(GA_INT64, 0, 4, 2), GA_AXIS(1)));
    SHOW("np.delete(x, slice(None, None, 2), axis=1)", ga_delete(x, GA_RANGE(0, 4, 2), GA_AXIS(1)));
    SHOW("np.repeat(x, idx[1:4], axis=0)", ga_repeat(x, ga_slice(idx, "1:4"), GA_AXIS(0)));
    SHOW("np.roll(x, -1, axis=1)", ga_roll(x, -1, GA_AXIS(1)));
    SHOW("np.pad(x, (1, 2), constant_values=5)", ga_pad(x, GA_SHAPE(1, 2), .value = GA_V(5)));
    SHOW("np.pad(x, ((1, 1), (2, 0)), mode='reflect')",
         ga_pad(x, GA_SHAPE(1, 1, 2, 0), .mode = "reflect"));
    SHOW("np.diff(x, 2, axis=1)", ga_diff(x, 2, GA_AXIS(1)));
    SHOW("np.diff(x, 1, axis=0, prepend=row[None], append=0)",
         ga_diff(x, 1, GA_AXIS(0), .prepend = ga_slice(x, "1:2"),
                 .append = ga_zeros(GA_FLOAT64, GA_SHAPE0)));
    SHOW("np.gradient(x, axis=0)", ga_gradient(x, GA_AXIS(0)));
    SHOW("np.gradient(x, 0.25, axis=1, edge_order=2)",
         ga_gradient(x, GA_AXIS(1), .spacing = GA_V(0.25), .edge_order = 2));
    SHOW("np.gradient(s, np.arange(9.) ** 2)",
         ga_gradient(s, .spacing = GA_V(ga_square(ga_arange(GA_FLOAT64, 0, 9, 1)))));
    SHOW("np.unwrap(x * 4, axis=0, period=4)",
         ga_unwrap(ga_multiply(x, 4), GA_AXIS(0), .period = 4));
    SHOW("np.trapezoid(x, dx=0.5, axis=0)", ga_trapezoid(x, GA_AXIS(0), .dx = 0.5));
    SHOW("np.convolve(s, row, mode='same')", ga_convolve(s, row, .mode = "same"));
    SHOW("np.correlate(s, row, mode='full')", ga_correlate(s, row, .mode = "full"));
    SHOW("np.squeeze(x[None, :, None], axis=0)",
         ga_squeeze(ga_slice(x, "None, :, None"), GA_AXIS(0)));
    SHOW("np.linspace(0, 1, 4, endpoint=False)",
         ga_linspace(GA_FLOAT64, 0, 1, 4, .endpoint = false));
    SHOW("np.logspace(0, 3, 4, base=2)", ga_logspace(GA_FLOAT64, 0, 3, 4, .base = 2));
#endif
}

static void functions(void)
{
    gpuarray *a = NULL, *b = NULL, *p = ga_add(ga_absolute(x), 0.25);
    gpuarray *out = ga_empty_like(x);
    SHOW("np.isclose(x, x + 1e-9)", ga_isclose(x, ga_add(x, 1e-9)));
    NUMBER("np.allclose(x, x + 1e-9)", ga_allclose(x, ga_add(x, 1e-9)));
    NUMBER("np.array_equal(x, y)", ga_array_equal(x, y));
    NUMBER("np.array_equiv(x, x[None])", ga_array_equiv(x, ga_expand_dims(x, 0)));
    SHOW("np.nan_to_num(x / 0)", ga_nan_to_num(ga_divide(x, 0.0)));
    SHOW("np.round(y, 2)", ga_round(y, 2));
    SHOW("np.round(x)", ga_round(x));
    SHOW("np.fix(x)", ga_fix(x));
    AFTER("np.divmod(k, 3)[0]", ga_divmod(k, 3, &a, &b), a);
    SHOW("np.divmod(k, 3)[1]", b);
    SHOW("np.float_power(k, 2)", ga_float_power(k, 2));
    SHOW("np.positive(x)", ga_positive(x));
    SHOW("np.sinc(x)", ga_sinc(x));
    SHOW("np.i0(x)", ga_i0(x));
    SHOW("np.bitwise_count(m)", ga_bitwise_count(m));
    SHOW("np.isneginf(x / 0)", ga_isneginf(ga_divide(x, 0.0)));
    SHOW("np.isposinf(x / 0)", ga_isposinf(ga_divide(x, 0.0)));
    SHOW("np.isreal(x)", ga_isreal(x));
    SHOW("np.iscomplex(x)", ga_iscomplex(x));
    SHOW("x + 0.5 * (y - x)", ga_lerp(x, y, 0.5));
    SHOW("1 / np.sqrt(p)", ga_rsqrt(p));
    SHOW("1 / (1 + np.exp(-x))", ga_sigmoid(x));
    SHOW("1 / (1 + np.exp(-x))", ga_expit(x));
    SHOW("y", ga_erf(ga_erfinv(y)));
    SHOW("each(math.lgamma, p)", ga_lgamma(p));
    SHOW("each(math.gamma, p)", ga_gamma(p));
    SHOW("np.array(-0.5772156649015329)", ga_digamma(ga_scalar(GA_FLOAT64, 1)));
    SHOW("np.array(0.7651976865579666)", ga_j0(ga_scalar(GA_FLOAT64, 1)));
    SHOW("np.array(0.44005058574493355)", ga_j1(ga_scalar(GA_FLOAT64, 1)));
    SHOW("np.array(0.08825696421567697)", ga_y0(ga_scalar(GA_FLOAT64, 1)));
    SHOW("np.array(-0.7812128213002887)", ga_y1(ga_scalar(GA_FLOAT64, 1)));
    SHOW("x", ga_logit(ga_sigmoid(x)));
    SHOW("x * np.log(p)", ga_xlogy(x, p));
    AFTER("np.sin(x)", ga_sincos(x, &a, &b), a);
    SHOW("np.cos(x)", b);
    SHOW("np.spacing(x)", ga_spacing(x));
    AFTER("np.frexp(x)[0]", ga_frexp(x, &a, &b), a);
    AFTER("np.modf(x)[1]", ga_modf(x, &a, &b), b);
    SHOW("np.where(mask, x, 3)", ga_where(mask, x, 3));
    SHOW("np.clip(x, -1, row)", ga_clip(x, -1, row));
    SHOW("np.acos(y)", ga_acos(y));
    SHOW("np.pow(k, 2)", ga_pow(k, 2));
    SHOW("np.bitwise_invert(m)", ga_bitwise_invert(m));
    AFTER("np.sin(x)", ga_sin_into(out, x), out);
    AFTER("x + 2", ga_add_into(out, x, 2), out);
    SHOW("np.ptp(x)", ga_ptp(x));
    SHOW("np.average(x)", ga_average(x));
    SHOW("np.cov(x)", ga_cov(x));
    SHOW("np.corrcoef(y)", ga_corrcoef(y));
    SHOW("np.nanprod(y)", ga_nanprod(y));
    SHOW("np.nanvar(y)", ga_nanvar(y));
    SHOW("np.nanstd(y)", ga_nanstd(y));
    SHOW("np.nanargmin(y)", ga_nanargmin(y));
    SHOW("np.nanargmax(y)", ga_nanargmax(y));
    SHOW("np.log(np.sum(np.exp(y)))", ga_logsumexp(y));
    SHOW("x.sum()", ga_sum(x));
    SHOW("np.dot(x, row)", ga_dot(x, row));
    NUMBER("True", ga_result_type(GA_INT32, GA_FLOAT32) == GA_FLOAT64 &&
                       ga_promote_types(GA_INT8, GA_UINT8) == GA_INT16 &&
                       ga_can_cast(GA_INT8, GA_INT16) && ga_isdtype(GA_INT8, "integral") &&
                       ga_iinfo(GA_INT8).max == 127 && ga_finfo(GA_FLOAT32).nmant == 23);
#if OPTIONS
    SHOW("np.isclose(x, y, rtol=0.5, atol=1)", ga_isclose(x, y, .rtol = 0.5, .atol = 1));
    SHOW("np.sum(z, axis=(0, 2), keepdims=True)", ga_sum(z, GA_AXIS(0, 2), .keepdims = true));
    SHOW("np.sum(x, axis=0, where=mask, initial=2)",
         ga_sum(x, GA_AXIS(0), .where = mask, GA_INITIAL(2)));
    SHOW("np.sum(m, axis=1, dtype=np.float32)", ga_sum(m, GA_AXIS(1), .dtype = GA_FLOAT32));
    SHOW("np.var(y, axis=0, correction=1.5)", ga_var(y, GA_AXIS(0), .correction = 1.5));
    SHOW("np.std(y, axis=0, ddof=1)", ga_std(y, GA_AXIS(0), .ddof = 1));
    SHOW("np.add.reduceat(s[:5], [0, 2])",
         ga_sum(s, .offsets = ga_slice(
                       ga_floor_divide(ga_multiply(ga_arange(GA_INT64, 0, 3, 1), 17), 6), ":")));
    SHOW("np.sum(x, axis=())", ga_sum(x, GA_AXIS()));
    SHOW("np.max(x, axis=1)", ga_max(x, GA_AXIS(1), .out = ga_empty(GA_FLOAT64, GA_SHAPE(3))));
    SHOW("np.average(x, axis=0, weights=[1, 2, 0])",
         ga_average(x, GA_AXIS(0), .weights = ga_slice(ga_astype(idx, GA_FLOAT64), "2::-1")));
    SHOW("np.cov(x, bias=True)", ga_cov(x, .bias = true));
#endif
}

static void products(void)
{
    gpuarray *t = ga_transpose(y), *v3 = ga_slice(x, ":, :3");
    SHOW("x @ y.T", ga_matmul(x, t));
    SHOW("np.vdot(x, y)", ga_vdot(x, y));
    SHOW("np.vecdot(x, y)", ga_vecdot(x, y));
    SHOW("np.inner(x, y)", ga_inner(x, y));
    SHOW("np.outer(row, s)", ga_outer(row, s));
    SHOW("np.tensordot(x, y, ([0, 1], [0, 1]))", ga_tensordot(x, y, GA_AXES(0, 1), GA_AXES(0, 1)));
    SHOW("np.einsum('ij,kj->ik', x, y)", ga_einsum("ij,kj->ik", GA_ARRAYS(x, y)));
    SHOW("np.kron(x, y)", ga_kron(x, y));
    SHOW("np.cross(x[:, :3], y[:, :3])", ga_cross(v3, ga_slice(y, ":, :3")));
    SHOW("np.matrix_transpose(z)", ga_matrix_transpose(z));
    SHOW("np.matvec(x, row)", ga_matvec(x, row));
    SHOW("np.vecmat(row, y.T)", ga_vecmat(row, t));
    SHOW("x @ y.T + 1", ga_eval("x @ t + 1", GA(x), GA(t)));
#if OPTIONS
    SHOW("2 * (x @ y.T) + 3",
         ga_matmul(x, t, .out = ga_ones(GA_FLOAT64, GA_SHAPE(3, 3)), .alpha = 2, .beta = 3));
    SHOW("np.dot(z, y.T)", ga_dot(z, t, .out = ga_zeros(GA_FLOAT64, GA_SHAPE(2, 3, 3))));
    SHOW("2 * np.dot(z, np.stack([y.T, x.T])) + 1",
         ga_dot(z, ga_stack(GA_ARRAYS(t, ga_transpose(x))),
                .out = ga_ones(GA_FLOAT64, GA_SHAPE(2, 3, 2, 3)), .alpha = 2, .beta = 1));
    SHOW("np.dot(row, row)", ga_dot(row, row, .out = ga_zeros(GA_FLOAT64, GA_SHAPE0)));
    SHOW("np.dot(x, 3)", ga_dot(x, ga_scalar(GA_FLOAT64, 3), .out = ga_zeros_like(x)));
    SHOW("np.vecdot(x, y, axis=0)", ga_vecdot(x, y, GA_AXIS(0)));
#endif
}

static void kernels(void)
{
    gpuarray *w = ga_ones_like(x), *seen = NULL;
    ga_kernel *lin = ga_elementwise_kernel("float64 a, const float64 *x, float64 *w",
                                           "w[i] = a * x[i] + w[i]", "lin");
    ga_kernel *sum = ga_reduction_kernel(GA_FLOAT64, "0", "a+b", "x[i]*y[i]",
                                         "const double *x, const double *y", "sum");
    ga_kernel *scan = ga_scan_kernel(GA_FLOAT64, "const double *x, double *w", "x[i]", "a+b", "0",
                                     "w[i] = item", "scan");
    ga_module *mod = ga_module_compile("extern \"C\" __global__ void twice(double *w, int n) { int "
                                       "i = threadIdx.x; if (i < n) w[i] *= 2; }");
    ga_expr *e = ga_compile_expr("a*x + y");
    AFTER("5 * x + 1", ga_run(lin, 5, x, w), w);
    SHOW("np.array(np.sum(x * y))", ga_reduce(sum, x, y));
    AFTER("np.cumsum(x).reshape(3, 4)", ga_scan(scan, x, w), w);
    AFTER("2 * np.cumsum(x).reshape(3, 4)",
          ga_launch(ga_module_kernel(mod, "twice"), GA_DIM(1), GA_DIM(32), w,
                    GA_CAST_(int, ga_size(w))),
          w);
    SHOW("3 * x + y", ga_eval_expr(e, GA_NAMED("a", 3), GA(x), GA(y)));
    AFTER("x * y", ga_eval_into(w, "x * y", GA(x), GA(y)), w);
    SHOW("(x - x.mean()) / x.std()", ga_eval("t = x - mean(x); t / std(t)", GA(x)));
    SHOW("x[1:, None].T", ga_eval("x[1:, None].T", GA(x)));
    free(ga_explain("x + y", GA(x), GA(y)));
    ga_expr_free(e);
    ga_module_free(mod);
    ga_kernel_free(lin);
    ga_kernel_free(sum);
    ga_kernel_free(scan);
    {
        ga_rng *rng = ga_rng_new(7);
        SHOW("np.ones((2, 3), bool)", ga_less(ga_rng_random(rng, GA_FLOAT32, GA_SHAPE(2, 3)), 1));
        seen = ga_rng_integers(rng, GA_INT16, 3, 5, GA_SHAPE(50));
        SHOW("np.array([3, 4], np.int16)", ga_unique(seen));
        SHOW("np.ones(4, bool)",
             ga_greater_equal(ga_rng_uniform(rng, GA_FLOAT64, 2, 3, GA_SHAPE(4)), 2));
        NUMBER("5", ga_size(ga_rng_standard_normal(rng, GA_FLOAT32, GA_SHAPE(5))));
        ga_rng_free(rng);
    }
    {
        ga_stream *stream = ga_stream_new();
        ga_set_stream(stream);
        SHOW("x + 1", ga_add(x, 1));
        ga_stream_synchronize(stream);
        ga_set_stream(NULL);
        ga_stream_free(stream);
        SHOW("x", ga_to_device(x, ga_device_of(x)));
        NUMBER("True", ga_device_count() >= 0 && ga_synchronize() == GA_OK && ga_version() &&
                           *ga_status_name(GA_OK));
    }
}

static void shape_of_the_api(void)
{
    gpuarray *n = ga_zeros(GA_FLOAT64, GA_SHAPE(3));
    int rounds = 0;
    for (int i = 0; i < 100; i++) {
        GA_SCOPED;
        ga_replace(&n, ga_keep(ga_add(n, 1)));
        rounds++;
        if (i == 4)
            break;
    }
    SHOW("np.full(3, 5.)", n);
    ga_free(n);
    NUMBER("5", rounds);
    NUMBER("True", QUARRY_VERSION_NUMBER == 10000 * QUARRY_VERSION_MAJOR +
                                                100 * QUARRY_VERSION_MINOR + QUARRY_VERSION_PATCH);
    ga_set_error_handler(NULL, NULL);
#if OPTIONS
    ga_set_print_options(.precision = 3, .suppress = true);
#endif
    ga_set_print_options();
}

int main(int count, char **words)
{
    if (count != 2)
        return 2;
    folder = words[1];
    GA_SCOPE {
        make();
        creating();
        viewing();
        indexing();
        joining();
        typed();
        as_text();
        functions();
        scans();
        order();
        products();
        kernels();
        numbers_beyond_the_ends();
        shape_of_the_api();
        loops();
        places_of_errors();
    }
    return ga_error() != GA_OK;
}
