/* Checks a kernel's kind; the message names the function that runs it. */
#include "user/kernel.h"

#include "base/error.h"

ga_status ga__kernel_check(const char *caller, const ga_kernel *kernel, ga__kernel_kind kind)
{
    static const char *const runs[] = {
        [GA__ELEMENTWISE_KERNEL] = "this is an elementwise kernel: run it with ga_run",
        [GA__REDUCTION_KERNEL] = "this is a reduction kernel: run it with ga_reduce",
        [GA__SCAN_KERNEL] = "this is a scan kernel: run it with ga_scan",
        [GA__MODULE_KERNEL] = "this is a module's kernel: run it with ga_launch",
    };
    if (!kernel)
        return ga__fail(GA_ERR_INVALID, "%s: the kernel is NULL", caller);
    if (kernel->kind != kind)
        return ga__fail(GA_ERR_INVALID, "%s: %s", kernel->name, runs[kernel->kind]);
    return GA_OK;
}

ga_status ga__kernel_check_list(const ga_kernel *kernel, int wanted, int count,
                                const ga_value *args)
{
    if (count != wanted)
        return ga__fail(GA_ERR_INVALID, "%s: takes %d arguments, not %d", kernel->name, wanted,
                        count);
    if (count > 0 && !args)
        return ga__fail(GA_ERR_INVALID, "%s: %d arguments, but the list is NULL", kernel->name,
                        count);
    return GA_OK;
}
