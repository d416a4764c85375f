/* Draws of the distributions' rows: with numbers by the random engine, with arrays as parameters by
 * the elementwise engine, which makes the same elements one by one. */
#include "ops/random/draw_op.h"

#include <math.h>

#include "base/error.h"
#include "base/call.h"
#include "kernels/draw_text.h"
#include "ops/elementwise_op.h"
#include "ops/random/count_table.h"
#include "ops/random/fill.h"

static bool are_numbers(const ga__draw_row *row, const ga_value *values)
{
    for (int k = 0; k < row->count; k++)
        if (values[k].kind != GA_VALUE_NUMBER)
            return false;
    return true;
}

/* ---- Numbers ---- */

/* Makes the table of a law of counts, which draw->table owns. */
static ga_status plan_table(ga__draw *draw, const char *name, ga__device *device, ga_dtype dtype,
                            ga__count_law law)
{
    static const ga__distribution by_table = {{.id = GA__FORMULA_ID(14),
                                               .name = "count",
                                               .body = "r = ga::count_by_table<ga_v0>(z, a, b, c)"},
                                              "bits",
                                              true};
    ga__count_table table;
    const ga_status status =
        device ? ga__count_table_make(&table, name, device, law, ga_iinfo(dtype).max) : ga_error();
    if (status != GA_OK)
        return status;
    const uint64_t numbers[] = {(uint64_t)(uintptr_t)table.words->data, table.first,
                                (uint64_t)table.shift};
    draw->distribution = &by_table;
    draw->drawn = GA_UINT64;
    draw->table = table.words;
    for (int k = 0; k < 3; k++)
        ga__draw_add(draw, GA_UINT64, ga_value_unsigned(GA_UINT64, numbers[k]));
    return GA_OK;
}

static ga__count_law law_of(ga__draw_id id, const ga_value *values)
{
    const double first = ga__number_double(values[0]);
    return id == GA__DRAW_binomial ? (ga__count_law){first, ga__number_double(values[1])}
                                   : (ga__count_law){INFINITY, first};
}

/* draw->table is the caller's to free; a draw of no elements has none. */
static ga_status plan_numbers(ga__draw *draw, ga__draw_id id, ga__device *device, const ga_rng *rng,
                              ga_dtype dtype, const ga_value *values, bool empty)
{
    const ga__draw_row *row = &ga__distributions[id];
    const char *name = row->distribution.formula.name;
    const bool real = row->kinds[0] == 'f';
    *draw = (ga__draw){.distribution = &row->distribution};
    ga_status status =
        ga__draw_init(draw, name, rng, dtype, row->kinds, real ? "a float" : "an integer");
    if (status == GA_OK && id == GA__DRAW_uniform) /* its bounds are those of the dtype */
        return ga__plan_uniform(draw, name, rng, dtype, ga__number_double(values[0]),
                                ga__number_double(values[1]));
    if (status == GA_OK)
        status = ga__check_parameters(name, row->count, row->parameters, values, dtype);
    if (status != GA_OK)
        return status;
    if (!empty && (id == GA__DRAW_poisson || id == GA__DRAW_binomial) &&
        ga__count_law_has_table(law_of(id, values)))
        return plan_table(draw, name, device, dtype, law_of(id, values));
    const ga_dtype type = real ? ga__dtype_compute(dtype) : GA_FLOAT64;
    draw->drawn = row->words ? GA_NO_DTYPE : type;
    for (int k = 0; k < row->count; k++)
        ga__draw_add(draw, type, ga_value_double(ga__number_double(values[k])));
    return GA_OK;
}

/* ---- Arrays ---- */

/* One call: the parameters, and copies of those that overlap the result. */
typedef struct each_call {
    const ga__draw_row *row;
    const ga_value *values;
    const gpuarray *arrays[GA__MOST_PARAMETERS];
    gpuarray *copies[GA__MOST_PARAMETERS];
    ga__device *device;
    int ndim;
    int64_t shape[GA_MAX_NDIM];
} each_call;

/* Checks the call; sets the device and the shape of the parameters. */
static ga_status prepare(each_call *c, const ga__draw_row *row, const ga_rng *rng, ga_dtype dtype,
                         const ga_value *values)
{
    const char *name = row->distribution.formula.name;
    ga__draw draw;
    *c = (each_call){.row = row, .values = values};
    ga_status status = ga__draw_init(&draw, name, rng, dtype, row->kinds,
                                     row->kinds[0] == 'f' ? "a float" : "an integer");
    if (status == GA_OK)
        status = ga__check_values(name, row->count, values, &c->device);
    for (int k = 0; k < row->count && status == GA_OK; k++) {
        c->arrays[k] = values[k].kind == GA_VALUE_ARRAY ? values[k].as.array : NULL;
        const gpuarray *x = c->arrays[k];
        if (x && !ga__broadcast_shape(&c->ndim, c->shape, x->ndim, x->shape))
            status = ga__fail(GA_ERR_SHAPE, "%s: shapes %s and %s %s", name,
                              ga__shape_text(c->ndim, c->shape), ga__shape_text(x->ndim, x->shape),
                              ga__broadcast_problem(c->ndim, c->shape, x->ndim, x->shape));
    }
    if (status == GA_OK)
        status = ga__check_parameters(name, row->count, row->parameters, values, dtype);
    return status;
}

static ga_status fill_each(const each_call *c, gpuarray *out, ga_rng *rng)
{
    const bool real = c->row->kinds[0] == 'f';
    const ga_dtype type = real ? ga__dtype_compute(out->dtype) : GA_FLOAT64;
    ga__operand operands[3 + GA__MOST_PARAMETERS];
    if (out->size == 0)
        return GA_OK;
    const ga_rng_state state = ga__rng_take(rng, (uint64_t)out->size);
    const uint64_t numbers[] = {state.position, state.seed};
    int n = 0;
    operands[n++] = (ga__operand){.name = "r", .array = out, .type = out->dtype, .writes = true};
    for (int k = 0; k < 2; k++)
        operands[n++] = (ga__operand){.name = k == 0 ? "place" : "key",
                                      .number = ga_value_unsigned(GA_UINT64, numbers[k]),
                                      .type = GA_UINT64,
                                      .reads = true};
    for (int k = 0; k < c->row->count; k++)
        operands[n++] = (ga__operand){.name = ga__draw_number_name(k),
                                      .array = c->arrays[k],
                                      .number = c->values[k],
                                      .type = type,
                                      .reads = true};
    const ga_status status =
        ga__elementwise(&c->row->each, out->buffer->device, out->ndim, out->shape, n, operands);
    if (status != GA_OK)
        ga__rng_give_back(rng, state, (uint64_t)out->size);
    return status;
}

static ga_status fail_shape(const each_call *c, int ndim, const int64_t *shape)
{
    return ga__fail(GA_ERR_SHAPE, "%s: parameters of shape %s do not broadcast to %s",
                    c->row->distribution.formula.name, ga__shape_text(c->ndim, c->shape),
                    ga__shape_text(ndim, shape));
}

gpuarray *ga__draw_row_call(const ga__draw_row *row, ga_rng *rng, ga_dtype dtype,
                            const ga_value *values, int ndim, const int64_t *shape)
{
    each_call c;
    if (prepare(&c, row, rng, dtype, values) != GA_OK)
        return NULL;
    if (ndim >= 0 && !ga__broadcasts_to(c.ndim, c.shape, ndim, shape)) {
        fail_shape(&c, ndim, shape);
        return NULL;
    }
    gpuarray *out = ga__array_new(c.row->distribution.formula.name, c.device, dtype,
                                  ndim < 0 ? c.ndim : ndim, ndim < 0 ? c.shape : shape);
    if (!out || fill_each(&c, out, rng) == GA_OK)
        return out;
    ga_free(out);
    return NULL;
}

static ga_status draw_each_into(const ga__draw_row *row, gpuarray *out, ga_rng *rng,
                                const ga_value *values)
{
    const char *name = row->distribution.formula.name;
    each_call c;
    const ga_dtype dtype = ga__draw_dtype(name, out);
    ga_status status = prepare(&c, row, rng, dtype, values);
    if (status != GA_OK)
        return status;
    if (!ga__broadcasts_to(c.ndim, c.shape, out->ndim, out->shape))
        return fail_shape(&c, out->ndim, out->shape);
    if (out->buffer->device != c.device)
        return ga__fail(GA_ERR_DEVICE, "%s: operands on %s, out on %s", name, c.device->name,
                        out->buffer->device->name);
    for (int k = 0; k < c.row->count && status == GA_OK; k++)
        status = ga__separate(out, &c.arrays[k], &c.copies[k]);
    if (status == GA_OK)
        status = fill_each(&c, out, rng);
    for (int k = 0; k < c.row->count; k++)
        ga_free(c.copies[k]);
    return status;
}

/* ---- Calls ---- */

static bool has_no_elements(int ndim, const int64_t *shape)
{
    for (int k = 0; shape && k < ndim; k++)
        if (shape[k] == 0)
            return true;
    return false;
}

gpuarray *ga__draw_call(ga__draw_id id, ga_rng *rng, ga_dtype dtype, const ga_value *values,
                        int ndim, const int64_t *shape)
{
    GA__CALL(ga__distributions[id].call);
    ga__draw draw;
    if (!are_numbers(&ga__distributions[id], values))
        return ga__draw_row_call(&ga__distributions[id], rng, dtype, values, ndim, shape);
    const ga_status planned = plan_numbers(&draw, id, ga__current_device(), rng, dtype, values,
                                           has_no_elements(ndim, shape));
    gpuarray *made = ga__draw_new(&draw, planned, rng, dtype, ndim < 0 ? 0 : ndim, shape);
    ga_free(draw.table);
    return made;
}

ga_status ga__draw_call_into(ga__draw_id id, gpuarray *out, ga_rng *rng, const ga_value *values)
{
    GA__CALL(ga__distributions[id].call);
    ga__draw draw;
    if (!are_numbers(&ga__distributions[id], values))
        return draw_each_into(&ga__distributions[id], out, rng, values);
    const ga_dtype dtype = ga__draw_dtype(ga__distributions[id].distribution.formula.name, out);
    ga__device *device = out ? out->buffer->device : NULL;
    const ga_status planned =
        plan_numbers(&draw, id, device, rng, dtype, values, out && out->size == 0);
    const ga_status status = ga__draw_into(&draw, planned, out, rng);
    ga_free(draw.table);
    return status;
}
