/* Calls whose kernels check indices. */
#include "ops/index/checked.h"

#include "base/error.h"

static ga__operand address_operand(const char *name, uint64_t address)
{
    return (ga__operand){.name = name,
                         .number = ga_value_unsigned(GA_UINT64, address),
                         .type = GA_UINT64,
                         .reads = true};
}

int ga__checked_begin(ga__checked *checked, const char *name, ga__device *device,
                      ga__operand *operands, int n)
{
    const uint64_t fault = ga__fault_begin(device, &checked->fault);
    operands[n] = address_operand("fault", fault);
    operands[n + 1] = address_operand("call", (uint64_t)(uintptr_t)name);
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
