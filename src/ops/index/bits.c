/* Bits of bytes: packs truths, eight to a byte, and unpacks them. */
#include <quarry/shaping.h>

#include <string.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/index/gather.h"

/* One call: x, or its elements in C order, which are bits or bytes along an axis. */
typedef struct packing {
    const char *name;
    gpuarray *x; /* owned */
    int axis;
    bool little; /* the first bit of a byte is its lowest */
} packing;

static ga_status read_bitorder(packing *p, const char *bitorder)
{
    p->little = bitorder && strcmp(bitorder, "little") == 0;
    if (p->little || !bitorder || strcmp(bitorder, "big") == 0)
        return GA_OK;
    return ga__fail(GA_ERR_INVALID, "%s: unknown bitorder \"%.40s\"", p->name, bitorder);
}

/* Reads the options that both functions have. */
static ga_status begin(packing *p, const gpuarray *x, int naxes, const int *axes,
                       const char *bitorder)
{
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: the array is NULL", p->name);
    if (read_bitorder(p, bitorder) != GA_OK || ga__one_axis(p->name, naxes, axes) != GA_OK ||
        (naxes == 1 && ga__check_axis(p->name, axes[0], x->ndim, &p->axis) != GA_OK))
        return ga_error();
    p->x = naxes == 1 ? ga_retain((gpuarray *)x) : ga_ravel(x);
    return p->x ? GA_OK : ga_error();
}

/* Fills a new array of x's shape but for the axis. Neighbours along it are `scale` elements of x
 * apart, and `length` is a number of the formula. */
static gpuarray *run(const packing *p, const ga__formula *formula, int64_t count, int scale,
                     int64_t length)
{
    const gpuarray *x = p->x;
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    ga__lens to, from, place;
    memcpy(shape, x->shape, sizeof(int64_t) * (size_t)x->ndim);
    memcpy(strides, x->strides, sizeof(int64_t) * (size_t)x->ndim);
    shape[p->axis] = count;
    strides[p->axis] *= scale;
    gpuarray *out = ga__array_new(p->name, x->buffer->device, GA_UINT8, x->ndim, shape);
    if (!out || out->size == 0)
        return out;
    ga__lens_whole(&to, out);
    ga__lens_set(&from, x, x->ndim, shape, strides, 0);
    ga__lens_coordinate(&place, x->ndim, shape, p->axis, 0);
    const ga__operand operands[] = {
        ga__lens_operand("r", &to, GA__VALUE, true),
        ga__lens_operand("x", &from, GA__PLACED, false),
        ga__lens_operand("c", &place, GA__COORDINATE, false),
        ga__integer_operand("s", x->strides[p->axis] / (int64_t)ga__dtype_size(x->dtype)),
        ga__integer_operand("length", length),
        ga__integer_operand("turn", p->little ? 0 : 7)};
    const ga_status status = ga__elementwise(formula, out->buffer->device, x->ndim, shape,
                                             (int)(sizeof operands / sizeof *operands), operands);
    return ga__array_if(out, status);
}

/* ---- packbits ---- */

static gpuarray *pack(const packing *p)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(363),
        .name = "packbits",
        .body = "unsigned bits = 0; const long long left = length - c * 8; "
                "for (int k = 0; k < (left < 8 ? (int)left : 8); k++) "
                "if (x[k * s] != 0) bits |= 1u << (k ^ (int)turn); r = (unsigned char)bits"};
    const char kind = ga__dtype_kind(p->x->dtype);
    const int64_t bits = p->x->shape[p->axis];
    if (kind != 'b' && kind != 'i' && kind != 'u')
        return ga__fail_null(GA_ERR_DTYPE, "packbits: the array is %s, expected integers or bool",
                             ga_dtype_name(p->x->dtype));
    return run(p, &formula, bits / 8 + (bits % 8 > 0), 8, bits);
}

gpuarray *(ga_packbits)(size_t size, const ga_packbits_args *args)
{
    GA__CALL("packbits");
    ga_packbits_args known;
    packing p = {.name = "packbits"};
    if (ga__options_read(p.name, &known, sizeof known, args, size) != GA_OK ||
        begin(&p, known.x, known.naxes, known.axes, known.bitorder) != GA_OK)
        return NULL;
    gpuarray *out = pack(&p);
    ga_free(p.x);
    return out;
}

/* ---- unpackbits ---- */

/* The bits that the result has along the axis: all, `count` of them, or all but the last -count. */
static ga_status count_bits(const packing *p, int64_t count, int64_t *bits)
{
    *bits = p->x->shape[p->axis] * 8;
    if (count < -*bits)
        return ga__fail(GA_ERR_INVALID, "unpackbits: count %lld leaves out more than all %lld bits",
                        (long long)count, (long long)*bits);
    if (count != 0)
        *bits = count < 0 ? *bits + count : count;
    return GA_OK;
}

static gpuarray *unpack(const packing *p, int64_t count)
{
    static const ga__formula formula = {
        .id = GA__FORMULA_ID(364),
        .name = "unpackbits",
        .body = "r = c < length ? x[(c >> 3) * s] >> ((c & 7) ^ turn) & 1 : 0"};
    int64_t bits;
    if (p->x->dtype != GA_UINT8)
        return ga__fail_null(GA_ERR_DTYPE, "unpackbits: the array is %s, expected uint8",
                             ga_dtype_name(p->x->dtype));
    return count_bits(p, count, &bits) == GA_OK
               ? run(p, &formula, bits, 0, p->x->shape[p->axis] * 8)
               : NULL;
}

gpuarray *(ga_unpackbits)(size_t size, const ga_unpackbits_args *args)
{
    GA__CALL("unpackbits");
    ga_unpackbits_args known;
    packing p = {.name = "unpackbits"};
    if (ga__options_read(p.name, &known, sizeof known, args, size) != GA_OK ||
        begin(&p, known.x, known.naxes, known.axes, known.bitorder) != GA_OK)
        return NULL;
    gpuarray *out = unpack(&p, known.count);
    ga_free(p.x);
    return out;
}
