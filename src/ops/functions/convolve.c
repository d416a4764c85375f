/* ga_convolve() and ga_correlate(). */
#include <string.h>

#include <quarry/ops.h>
#include <quarry/series.h>

#include "base/call.h"
#include "base/error.h"
#include "base/options.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/index/gather.h"

/* Elements of the whole convolution of a and v from `first` on. */
typedef struct convolution {
    const gpuarray *a, *v;
    gpuarray *out;
    bool correlates;
    int64_t first;
} convolution;

/* Which elements of the whole convolution a mode takes. false for an unknown one. */
static bool find_extent(const char *mode, bool correlates, int64_t n, int64_t m, int64_t *first,
                        int64_t *count)
{
    const int64_t less = n < m ? n : m, more = n < m ? m : n;
    const bool same = strcmp(mode, "same") == 0, valid = strcmp(mode, "valid") == 0;
    *first = valid ? less - 1 : !same ? 0 : correlates && n < m ? less / 2 : less - 1 - less / 2;
    *count = valid ? more - less + 1 : same ? more : more + less - 1;
    return same || valid || strcmp(mode, "full") == 0;
}

/* One element at a time. */
static ga_status convolve_elements(const convolution *c)
{
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(225),
         .name = "convolve",
         .body = "r = ga::convolved<ga_v0, false>(a, na, v, nv, (long long)i + first)",
         .uses_index = true},
        {.id = GA__FORMULA_ID(226),
         .name = "correlate",
         .body = "r = ga::convolved<ga_v0, true>(a, na, v, nv, (long long)i + first)",
         .uses_index = true}};
    const ga__operand operands[] = {
        {.name = "r", .array = c->out, .type = c->out->dtype, .writes = true},
        ga__indexed_operand("a", c->a),
        ga__integer_operand("na", c->a->size),
        ga__indexed_operand("v", c->v),
        ga__integer_operand("nv", c->v->size),
        ga__integer_operand("first", c->first)};
    return ga__elementwise(&formulas[c->correlates], c->out->buffer->device, 1, c->out->shape, 6,
                           operands);
}

/* ---- On the host: runs of elements ---- */

enum {
    RUN = 64,                   /* elements, as in convolve.host */
    PRODUCTS_TO_SHARE = 1 << 18 /* from here on, other processors help */
};

/* Every run reads from the start of x, or from its end if it is turned. */
static void set_lens(ga__lens *lens, const gpuarray *x, bool turned, int64_t runs)
{
    const int64_t stay = 0;
    ga__lens_set_typed(lens, x, 1, &runs, &stay, turned ? (x->size - 1) * x->strides[0] : 0);
}

static ga__operand stride_operand(const char *name, const gpuarray *x, bool turned)
{
    const int64_t stride = x->strides[0] / (int64_t)ga__dtype_size(x->dtype);
    return ga__integer_operand(name, turned ? -stride : stride);
}

/* The elements of the shorter array are factors of stretches of the longer one, the line, in the
 * order of v. */
static ga_status convolve_runs(const convolution *c)
{
#define BODY                                                                                       \
    "const ga::convolution<ga_v0, ga_m1, ga_m2> c = {{few, fs, conjugate == 1}, "                  \
    "{line, ls, conjugate == 2}, nf, nl, step < 0 ? 0 : 1 - nf, (int)step}; "                      \
    "ga::convolved_run(r, c, i * 64 + start, size + start)"
    static const ga__formula formulas[] = {
        {.id = GA__FORMULA_ID(380), .name = "convolve", .body = BODY, .uses_index = true},
        {.id = GA__FORMULA_ID(381),
         .name = "convolve",
         .body = BODY,
         .uses_index = true,
         .heavy = true}};
    const bool swapped = c->v->size > c->a->size, turned = c->correlates && swapped;
    const gpuarray *few = swapped ? c->a : c->v, *line = swapped ? c->v : c->a;
    const int64_t size = c->out->size, runs = (size + RUN - 1) / RUN,
                  next = RUN * (int64_t)ga__dtype_size(c->out->dtype);
    ga__lens r, f, l;
    ga__lens_set_typed(&r, c->out, 1, &runs, &next, 0);
    set_lens(&f, few, c->correlates || swapped, runs);
    set_lens(&l, line, turned, runs);
    const ga__operand operands[] = {ga__lens_operand("r", &r, GA__PLACED, true),
                                    ga__lens_operand("few", &f, GA__PLACED, false),
                                    ga__lens_operand("line", &l, GA__PLACED, false),
                                    stride_operand("fs", few, c->correlates || swapped),
                                    stride_operand("ls", line, turned),
                                    ga__integer_operand("nf", few->size),
                                    ga__integer_operand("nl", line->size),
                                    ga__integer_operand("step", swapped ? 1 : -1),
                                    ga__integer_operand("conjugate", !c->correlates ? 0
                                                                     : swapped      ? 2
                                                                                    : 1),
                                    ga__integer_operand("start", c->first),
                                    ga__integer_operand("size", size)};
    const bool heavy = size > PRODUCTS_TO_SHARE / few->size;
    return ga__elementwise(&formulas[heavy], c->out->buffer->device, 1, &runs, 11, operands);
}

static gpuarray *convolve(const char *name, bool correlates, size_t size,
                          const ga_convolve_args *args)
{
    ga_convolve_args known;
    ga__device *device;
    int64_t first, count;
    if (ga__options_read(name, &known, sizeof known, args, size) != GA_OK)
        return NULL;
    const gpuarray *a = known.a, *v = known.v;
    const ga_value values[] = {ga_value_array(a), ga_value_array(v)};
    if (ga__check_values(name, 2, values, &device) != GA_OK ||
        ga__check_numeric(name, a->dtype) != GA_OK || ga__check_numeric(name, v->dtype) != GA_OK)
        return NULL;
    if (a->ndim != 1 || v->ndim != 1 || a->size == 0 || v->size == 0)
        return ga__fail_null(GA_ERR_SHAPE,
                             "%s: shapes %s and %s, expected two 1-D arrays with elements", name,
                             ga__shape_text(a->ndim, a->shape), ga__shape_text(v->ndim, v->shape));
    const char *mode = known.mode ? known.mode : correlates ? "valid" : "full";
    if (!find_extent(mode, correlates, a->size, v->size, &first, &count))
        return ga__fail_null(GA_ERR_INVALID,
                             "%s: unknown mode \"%s\", expected \"full\", \"same\" or \"valid\"",
                             name, mode);
    const ga_dtype dtype = ga_result_type(a->dtype, v->dtype);
    gpuarray *out = ga__array_new(name, device, dtype, 1, &count);
    if (!out)
        return NULL;
    const convolution c = {a, v, out, correlates, first};
    if ((ga__on_host(device) ? convolve_runs(&c) : convolve_elements(&c)) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

gpuarray *(ga_convolve)(size_t size, const ga_convolve_args *args)
{
    GA__CALL("convolve");
    return convolve("convolve", false, size, args);
}

gpuarray *(ga_correlate)(size_t size, const ga_convolve_args *args)
{
    GA__CALL("correlate");
    return convolve("correlate", true, size, args);
}
