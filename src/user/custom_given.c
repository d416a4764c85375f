/* Checks what a run of a custom kernel is given against the kernel's argument list. */
#include "user/custom_given.h"

#include <stdio.h>

#include "base/error.h"
#include "model/promote.h"
#include "ops/elementwise_op.h"

/* Raises unless the declared type can hold the number. */
__attribute__((noinline)) static ga_status check_number(const ga__custom *kernel, int k,
                                                        ga_value value)
{
    const ga__argument *argument = &kernel->arguments.argument[k];
    char what[128];
    if (ga__dtype_kind(value.dtype) == 'c' && ga__dtype_kind(argument->dtype) != 'c')
        return ga__fail(GA_ERR_INVALID, "%s: argument %d (%s): %g%+gj is complex, expected %s",
                        kernel->base.name, k + 1, argument->name, value.as.z[0], value.as.z[1],
                        ga_dtype_name(argument->dtype));
    if (ga__number_converts(value, argument->dtype))
        return GA_OK;
    snprintf(what, sizeof(what), "%.48s: argument %d (%.48s)", kernel->base.name, k + 1,
             argument->name);
    return ga__check_number(what, value, argument->dtype);
}

__attribute__((noinline, cold)) static ga_status fail_dtype(const ga__custom *kernel, int k,
                                                            const gpuarray *x)
{
    const ga__argument *argument = &kernel->arguments.argument[k];
    return ga__fail(GA_ERR_DTYPE, "%s: argument %d (%s) is declared %s, the array is %s",
                    kernel->base.name, k + 1, argument->name, ga_dtype_name(argument->dtype),
                    ga_dtype_name(x->dtype));
}

__attribute__((noinline)) static ga_status check_struct(const ga__custom *kernel, int k,
                                                        ga_value value)
{
    const ga__argument *argument = &kernel->arguments.argument[k];
    const gpuarray *x = value.kind == GA_VALUE_ARRAY ? value.as.array : NULL;
    if (!x)
        return ga__fail(GA_ERR_INVALID, "%s: argument %d (%s) is a struct, not a number",
                        kernel->base.name, k + 1, argument->name);
    if (x->ndim != 0)
        return ga__fail(GA_ERR_SHAPE, "%s: argument %d (%s) has shape %s, expected ()",
                        kernel->base.name, k + 1, argument->name,
                        ga__shape_text(x->ndim, x->shape));
    return x->dtype == argument->dtype ? GA_OK : fail_dtype(kernel, k, x);
}

static ga_status check_argument(const ga__custom *kernel, int k, ga_value value)
{
    const ga__argument *argument = &kernel->arguments.argument[k];
    if (!argument->array) {
        if (argument->single)
            return check_struct(kernel, k, value);
        if (value.kind == GA_VALUE_ARRAY)
            return ga__fail(GA_ERR_INVALID, "%s: argument %d (%s) is a number, not an array",
                            kernel->base.name, k + 1, argument->name);
        const bool may_fail = argument->integer || ga__dtype_kind(value.dtype) == 'c';
        return may_fail ? check_number(kernel, k, value) : GA_OK;
    }
    if (value.kind == GA_VALUE_NUMBER)
        return ga__fail(GA_ERR_INVALID, "%s: argument %d (%s) is an array, not a number",
                        kernel->base.name, k + 1, argument->name);
    return value.as.array->dtype == argument->dtype ? GA_OK : fail_dtype(kernel, k, value.as.array);
}

ga_status ga__custom_check_given(const ga__custom *kernel, int count, const ga_value *args,
                                 ga__device **device)
{
    ga_status status = ga__kernel_check_list(&kernel->base, kernel->arguments.count, count, args);
    if (status == GA_OK)
        status = ga__check_values(kernel->base.name, count, args, device);
    for (int k = 0; k < count && status == GA_OK; k++)
        status = check_argument(kernel, k, args[k]);
    return status;
}
