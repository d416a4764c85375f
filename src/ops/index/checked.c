/* Calls whose kernels check indices. */
#include "ops/convert.h"
#include "ops/index/checked.h"

#include "base/error.h"

int ga__checked_begin(ga__checked *checked, const char *name, ga__device *device,
                      ga__operand *operands, int n)
{
    const uint64_t fault = ga__fault_begin(device, &checked->fault);
    operands[n] = ga__unsigned_operand("fault", fault);
    operands[n + 1] = ga__unsigned_operand("call", (uint64_t)(uintptr_t)name);
    return fault ? n + GA__CHECKED_OPERANDS : -1;
}

ga_status ga__checked_end(const ga__checked *checked, ga_status status)
{
    return status == GA_OK ? ga__fault_end(&checked->fault) : status;
}

ga_status ga__check_indices(const char *name, const gpuarray *x, const gpuarray *indices)
{
    if (!x || !indices)
        return ga__fail(GA_ERR_INVALID, "%s: %s is NULL", name, x ? "indices" : "the array");
    const char kind = ga__dtype_kind(indices->dtype);
    if (kind != 'i' && kind != 'u')
        return ga__fail(GA_ERR_DTYPE, "%s: the indices are %s, expected integers", name,
                        ga_dtype_name(indices->dtype));
    if (indices->buffer->device != x->buffer->device)
        return ga__fail(GA_ERR_DEVICE, "%s: the array is on %s, the indices on %s", name,
                        x->buffer->device->name, indices->buffer->device->name);
    return GA_OK;
}

ga_status ga__check_mode(const char *name, ga_index_mode mode)
{
    return (int)mode < GA_RAISE || mode > GA_CLIP
               ? ga__fail(GA_ERR_INVALID,
                          "%s: unknown mode %d, expected GA_RAISE, GA_WRAP or GA_CLIP", name,
                          (int)mode)
               : GA_OK;
}
