/* Runs the steps of a plan: computes this call's numbers, binds the operands, and launches. */
#include "expr/run.h"

#include <string.h>

#include "base/error.h"
#include "expr/typing/fold.h"
#include "kernels/scan/scan.h"
#include "ops/scan/scan_op.h"
#include "ops/convert.h"
#include "ops/elementwise_op.h"
#include "ops/products/operands.h"

ga_value ga__number_of(const ga__numbers *numbers, const ga__plan *plan, int k)
{
    const ga__node *node = &plan->graph.nodes[k];
    return node->varies ? numbers->varying[node->slot] : node->number;
}

bool ga__numbers_make(ga__numbers *numbers, const ga__plan *plan, const ga_named *args)
{
    for (int k = 0; k < plan->nvarying; k++) {
        const ga__node *node = &plan->graph.nodes[plan->varying[k]];
        const int *operand = node->key.operand;
        if (node->key.kind == GA__NODE_WEAK_ARGUMENT)
            numbers->varying[k] = args[node->key.row].value;
        else if (ga__weak_apply(
                     node->key.row, ga__number_of(numbers, plan, operand[0]),
                     ga__number_of(numbers, plan, operand[ga__rows[node->key.row].inputs - 1]),
                     &numbers->varying[k]))
            return false;
        if (ga__weak_default(numbers->varying[k]) != node->dtype)
            return false;
    }
    return true;
}

gpuarray *ga__number_array(ga__device *device, ga_value number)
{
    const ga_dtype dtype = ga__weak_default(number);
    uint64_t element[2];
    gpuarray *x = ga__array_new("eval", device, dtype, 0, NULL);
    ga__dtype_store(dtype, number, element);
    if (x && ga__array_set_element(x, element) == GA_OK)
        return x;
    ga_free(x);
    return NULL;
}

/* One view of an array. */
static gpuarray *view_of(const ga__graph *graph, const ga__node_key *key, const gpuarray *x)
{
    switch ((ga__view_kind)key->row) {
    case GA__VIEW_TRANSPOSE: return ga_transpose(x);
    case GA__VIEW_REAL: return ga_real(x);
    case GA__VIEW_IMAG: return ga_imag(x);
    case GA__VIEW_RAVEL: return ga_ravel(x);
    default: return ga_slice_ranges(x, (int)key->bits[1], graph->parts + key->bits[0]);
    }
}

gpuarray *ga__node_view(const ga__graph *graph, int node, const gpuarray *viewed)
{
    const ga__node_key *key = &graph->nodes[node].key;
    const int operand = key->operand[0];
    if (graph->nodes[operand].key.kind != GA__NODE_VIEW)
        return view_of(graph, key, viewed);
    gpuarray *inner = ga__node_view(graph, operand, viewed);
    gpuarray *view = inner ? view_of(graph, key, inner) : NULL;
    ga_free(inner);
    return view;
}

/* Whether each reduction of a step would also run over the common shape of all inputs by itself.
 * The truths of a selection, its part 1, have `rest` axes of length 1 behind their own. */
static bool parts_agree(const ga__step *step, const ga__binding *b, int nparts, int rest)
{
    int64_t wanted[GA_MAX_NDIM], shape[GA_MAX_NDIM];
    memcpy(wanted, b->shape, sizeof(wanted));
    for (int p = 0; p < nparts; p++) {
        int ndim = p == 1 ? rest : 0;
        for (int k = 0; k < ndim; k++)
            shape[k] = wanted[b->ndim - 1 - k] = 1;
        for (int k = 0; k < step->ninputs; k++) {
            const gpuarray *x = b->operands[1 + k].array;
            if (step->reads[p] >> k & 1)
                ga__broadcast_shape(&ndim, shape, x->ndim, x->shape);
        }
        if (!ga__same_shape(ndim, shape, b->ndim, wanted))
            return false;
    }
    return true;
}

/* ---- Elements at indices ---- */

/* Lays out the memory so that the kernel is at index 0 of the indexed axes, whatever the indices'
 * axes: they broadcast. False if the array lacks an axis. */
static bool lay_out(const ga__node_key *key, const gpuarray *x, ga__lens *lens)
{
    const int to = (int)key->bits[0], axes = (int)key->bits[1];
    const int others = x->ndim - __builtin_popcount(key->axes);
    int64_t shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    if ((uint64_t)key->axes >> x->ndim || others + axes > GA_MAX_NDIM)
        return false;
    for (int k = 0, n = 0; k < x->ndim; k++) {
        if (key->axes >> k & 1)
            continue;
        const int at = n < to ? n : n + axes;
        shape[at] = x->shape[k];
        strides[at] = x->strides[k];
        n++;
    }
    for (int k = 0; k < axes; k++) {
        shape[to + k] = 1;
        strides[to + k] = 0;
    }
    ga__lens_set_typed(lens, x, others + axes, shape, strides, 0);
    return true;
}

/* The place of an element among its indices. */
static void set_position(ga__binding *b, const ga__node_key *key, const gpuarray *x,
                         ga__lens *position)
{
    const int indexed = __builtin_popcount(key->axes), axes = (int)key->bits[1];
    const int span = key->keepdims ? x->ndim : axes;
    const int behind = key->keepdims ? 0 : x->ndim - indexed - (int)key->bits[0];
    const int first = b->ndim - behind - span;
    int64_t strides[GA_MAX_NDIM] = {0};
    ga__contiguous_strides(span, b->shape + first, 1, strides + first);
    ga__lens_set(position, NULL, b->ndim, b->shape, strides, 0);
}

/* Adds what a kernel needs besides its inputs to take elements. False if an axis has none. */
static bool bind_numbers(ga__binding *b, const ga__plan *plan, const ga__step *step,
                         const gpuarray *const *arrays)
{
    int n = 1 + step->ninputs, g = 0;
    for (int k = 0; k < step->ninputs; k++) {
        if (!step->inputs[k].gathers)
            continue;
        const ga__node_key *key = &plan->graph.nodes[step->inputs[k].node].key;
        const gpuarray *x = arrays[k];
        /* Inputs are sorted: a name has the number of its element. */
        const char(*name)[8] = step->gather_name[step->inputs[k].name[1] - '0'];
        set_position(b, key, x, &b->position[g]);
        b->operands[n++] = ga__lens_operand(*name++, &b->position[g++], GA__COORDINATE, false);
        for (int axis = 0; axis < x->ndim; axis++) {
            if (!(key->axes >> axis & 1))
                continue;
            if (x->shape[axis] == 0 && ga__shape_size(b->ndim, b->shape) > 0)
                return false;
            b->operands[n++] = ga__integer_operand(*name++, x->shape[axis]);
            b->operands[n++] =
                ga__integer_operand(*name++, x->strides[axis] / (int64_t)ga__dtype_size(x->dtype));
        }
    }
    return true;
}

/* ---- Binding ---- */

/* Whether the third array is a bias of the others' product, whose shape is bound. */
static bool bias_fits(const ga__binding *b, const gpuarray *const *arrays)
{
    return arrays[0]->ndim >= 2 && arrays[1]->ndim >= 2 && arrays[2]->ndim == 1 &&
           arrays[2]->shape[0] == b->shape[b->ndim - 1];
}

/* Other arguments than the plan's may have shapes that do not match. */
static bool bind_product(ga__binding *b, const ga__step *step, const gpuarray *const *arrays)
{
    for (int k = 0; k < step->ninputs; k++)
        b->operands[1 + k] = (ga__operand){.name = step->inputs[k].name,
                                           .array = arrays[k],
                                           .type = arrays[k]->dtype,
                                           .reads = true};
    const bool had_error = ga__attempt_begin();
    const ga_status status = ga__matmul_shape(arrays[0]->ndim, arrays[0]->shape, arrays[1]->ndim,
                                              arrays[1]->shape, &b->ndim, b->shape);
    if (status != GA_OK)
        ga_clear_error();
    ga__attempt_end(had_error);
    return status == GA_OK && (step->ninputs < 3 || bias_fits(b, arrays));
}

/* Whether a number argument of this call can take the place of the plan's. */
static bool number_fits(const ga__plan *plan, const ga__input *input, ga_value number)
{
    const bool exponent = plan->graph.nodes[input->node].key.bits[0];
    return ga__number_converts(number, input->dtype) &&
           !(exponent && ga__exponent_is_negative(number, input->dtype));
}

bool ga__step_bind(ga__binding *b, const ga__plan *plan, const ga__step *step,
                   const ga__numbers *numbers, const gpuarray *const *arrays)
{
    int gathers = 0;
    b->ndim = 0;
    if (step->product)
        return bind_product(b, step, arrays);
    for (int k = 0; k < step->ninputs; k++) {
        const ga__input *input = &step->inputs[k];
        const bool is_number = input->source == GA__FROM_NUMBER;
        ga__operand *operand = &b->operands[1 + k];
        *operand = (ga__operand){.name = input->name,
                                 .array = is_number ? NULL : arrays[k],
                                 .type = input->dtype,
                                 .reads = true};
        if (input->gathers) {
            ga__lens *lens = &b->gathered[gathers++];
            if (!lay_out(&plan->graph.nodes[input->node].key, arrays[k], lens))
                return false;
            *operand = ga__lens_operand(input->name, lens, GA__PLACED, false);
        }
        if (!is_number) {
            if (!ga__broadcast_shape(&b->ndim, b->shape, operand->array->ndim,
                                     operand->array->shape))
                return false;
            continue;
        }
        operand->number = ga__number_of(numbers, plan, input->index);
        if (plan->graph.nodes[input->index].varies && !number_fits(plan, input, operand->number))
            return false;
    }
    if (step->ngathers > 0 && !bind_numbers(b, plan, step, arrays))
        return false;
    const int nparts = step->selects ? 2 : step->group.nparts;
    return nparts < 2 || parts_agree(step, b, nparts, step->selects ? ga__select_rest(plan) : 0);
}

bool ga__step_shape(const ga__step *step, const ga__binding *b, int *ndim, int64_t *shape)
{
    if (step->scan && step->axes >= (uint64_t)1 << b->ndim)
        return false;
    if (step->scan) {
        *ndim = ga__scan_shape(b->ndim, b->shape, step->axes, shape);
        return true;
    }
    int64_t count = 1;
    *ndim = 0;
    for (int axis = 0; axis < b->ndim; axis++) {
        const bool reduced = step->axes >> axis & 1;
        count *= reduced ? b->shape[axis] : 1;
        if (!reduced || step->keepdims)
            shape[(*ndim)++] = reduced ? 1 : b->shape[axis];
    }
    return count > 0 || !step->empty_is_error;
}

/* Replaces an operand that overlaps `out`, which a reduction is about to write, by a copy. */
static ga_status separate_reduced(const gpuarray *out, const gpuarray **array, gpuarray **copy)
{
    *copy = NULL;
    if (!*array || !ga__arrays_overlap(out, *array))
        return GA_OK;
    *copy = ga_copy(*array);
    *array = *copy;
    return *copy ? GA_OK : ga_error();
}

ga_status ga__step_separate(const gpuarray *out, const ga__step *step, ga__binding *b,
                            gpuarray **copies)
{
    ga_status status = GA_OK;
    for (int k = 0; k < step->ninputs; k++) {
        const gpuarray **array = &b->operands[1 + k].array;
        if (status != GA_OK)
            copies[k] = NULL;
        else if (step->group.nparts == 0)
            status = ga__separate(out, array, &copies[k]);
        else
            status = separate_reduced(out, array, &copies[k]);
    }
    return status;
}

bool ga__shares_gathered(const ga__plan *plan, const ga_named *args, const gpuarray *out)
{
    bool shares = false;
    for (int k = 0; k <= plan->graph.root && out; k++) {
        const ga__node_key *key = &plan->graph.nodes[k].key;
        shares = shares || (key->kind == GA__NODE_ARRAY &&
                            ga__arrays_overlap(out, args[key->row].value.as.array));
    }
    return shares;
}

static ga_status launch_elementwise(const ga__step *step, const ga__plan *plan, ga__device *device,
                                    ga__binding *b, gpuarray *out)
{
    const ga__formula formula = {.id = step->id,
                                 .name = step->formula_name,
                                 .body = step->text,
                                 .fast_math = plan->graph.fast_math,
                                 .fast_path = step->fast_path};
    const ga_dtype type = plan->graph.nodes[step->group.result[0]].dtype;
    b->operands[0] = (ga__operand){.name = "r", .array = out, .type = type, .writes = true};
    if (step->ngathers == 0)
        return ga__elementwise(&formula, device, out->ndim, out->shape, 1 + step->ninputs,
                               b->operands);
    ga__checked checked;
    const int n = ga__checked_begin(&checked, "eval", device, b->operands,
                                    1 + step->ninputs + step->gather_operands);
    if (n < 0)
        return ga_error();
    return ga__checked_end(
        &checked, ga__elementwise(&formula, device, out->ndim, out->shape, n, b->operands));
}

/* The elements of the broadcast operand in C order; copied if no view has them. */
static gpuarray *flat_operand(const gpuarray *x, const ga__binding *b)
{
    if (ga__same_shape(x->ndim, x->shape, b->ndim, b->shape))
        return ga_ravel(x);
    gpuarray *whole = ga_broadcast_to(x, b->ndim, b->shape), *flat = whole ? ga_ravel(whole) : NULL;
    ga_free(whole);
    return flat;
}

static ga_status launch_scan(const ga__step *step, ga__device *device, ga__binding *b,
                             gpuarray *out)
{
    const ga__scan scan = {.formula = {.base = step->reduction.formula.base,
                                       .map = step->text,
                                       .texts = &step->scan->scan},
                           .type = step->reduction.type[0]};
    gpuarray *flat[GA__MAX_OPERANDS];
    ga_status status = GA_OK;
    for (int k = 0; k < step->ninputs; k++) {
        const gpuarray **array = &b->operands[1 + k].array;
        flat[k] = step->axes || !*array || status != GA_OK ? NULL : flat_operand(*array, b);
        if (!step->axes && *array && !flat[k])
            status = ga_error();
        *array = flat[k] ? flat[k] : *array;
    }
    b->operands[0] = (ga__operand){.name = "r", .array = out, .type = scan.type, .writes = true};
    if (status == GA_OK)
        status = ga__scan_run(&scan, device, out->ndim, out->shape,
                              step->axes ? __builtin_ctz(step->axes) : 0, 1 + step->ninputs,
                              b->operands);
    for (int k = 0; k < step->ninputs; k++)
        ga_free(flat[k]);
    return status;
}

static ga_status launch_reduction(const ga__step *step, ga__device *device, ga__binding *b,
                                  gpuarray *const *out, const ga__carry *carry)
{
    bool reduced[GA_MAX_NDIM];
    for (int axis = 0; axis < b->ndim; axis++)
        reduced[axis] = step->axes >> axis & 1;
    if (!carry)
        return ga__reduce_keeping(&step->reduction, device, b->ndim, b->shape, reduced,
                                  step->ninputs, b->operands + 1, out);
    ga__reduction reduction = step->reduction;
    reduction.carry = carry;
    return ga__reduce_keeping(&reduction, device, b->ndim, b->shape, reduced, step->ninputs,
                              b->operands + 1, out);
}

bool ga__plan_takes(const ga__plan *plan, const gpuarray *out)
{
    const ga__node *root = &plan->graph.nodes[plan->graph.root];
    return !out || plan->nsteps == 0 || plan->graph.selects ||
           ga__check_out("eval", out, root->ndim, root->shape, root->dtype) == GA_OK;
}

ga_status ga__step_launch(const ga__step *step, const ga__plan *plan, ga__device *device,
                          ga__binding *b, gpuarray *const *out, const ga__carry *carry)
{
    if (step->product)
        return ga__matmul_into(out[0], b->operands[1].array, b->operands[2].array,
                               step->ninputs > 2 ? b->operands[3].array : NULL, step->relu);
    if (step->scan)
        return launch_scan(step, device, b, out[0]);
    return step->group.nparts > 0 ? launch_reduction(step, device, b, out, carry)
                                  : launch_elementwise(step, plan, device, b, out[0]);
}
