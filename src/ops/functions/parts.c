/* Reductions as passes of parts, and results that keep the reduced axes. */
#include "ops/functions/parts.h"

#include <string.h>

void ga__add_part(ga__reduction *r, const ga__part_formula *part, ga_dtype loop, double ddof)
{
    const int p = r->formula.nparts++;
    r->formula.parts[p] = part;
    r->formula.base.uses_index |= part->uses_index;
    r->type[p] = loop;
    r->ddof[p] = ddof;
}

ga__reduction ga__reduction_of(ga__row_id row, const char *map, ga_dtype loop, double ddof)
{
    const ga__formula *f = &ga__rows[row].formula;
    ga__reduction r = {.formula = {.base = {.id = f->id, .name = f->name, .body = ""},
                                   .map = map,
                                   .nresults = 1,
                                   .results = {"ga_finish0(a)"}}};
    ga__add_part(&r, &ga__rows[row].part, loop, ddof);
    return r;
}

ga_status ga__reduce_keeping(const ga__reduction *reduction, ga__device *device, int ndim,
                             const int64_t *shape, const bool *reduced, int noperands,
                             const ga__operand *operands, gpuarray *const *out)
{
    gpuarray *views[GA__MAX_PARTS];
    int64_t kept_shape[GA_MAX_NDIM], strides[GA_MAX_NDIM];
    int kept = 0;
    for (int axis = 0; axis < ndim; axis++)
        kept += !reduced[axis];
    if (out[0]->ndim == kept)
        return ga__reduce(reduction, device, ndim, shape, reduced, noperands, operands, out);
    kept = 0;
    for (int axis = 0; axis < ndim; axis++)
        if (!reduced[axis]) {
            kept_shape[kept] = out[0]->shape[axis];
            strides[kept++] = out[0]->strides[axis];
        }
    /* Only the address and dtype of the others are used: they have the layout of the first one. */
    memcpy(views, out, sizeof(views[0]) * (size_t)reduction->formula.nresults);
    views[0] = ga__array_view(out[0], out[0]->dtype, kept, kept_shape, strides, 0);
    if (!views[0])
        return ga_error();
    const ga_status status =
        ga__reduce(reduction, device, ndim, shape, reduced, noperands, operands, views);
    ga_free(views[0]);
    return status;
}
