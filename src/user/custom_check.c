/* Looks for NaN in what custom kernels compute: QUARRY_CHECK=nan. */
#include "user/custom_check.h"

#include "base/error.h"
#include "ops/check_nan.h"

ga_status ga__custom_watch(const ga__custom *kernel, const ga_value *args, ga__watched *w)
{
    w->count = 0;
    w->finite = (ga__guard)GA__GUARD_INIT;
    for (int k = 0; k < kernel->arguments.count; k++) {
        const ga__argument *argument = &kernel->arguments.argument[k];
        if ((argument->array && !argument->reads) || argument->single)
            continue;
        if (argument->array && argument->access == GA__ACCESSOR) {
            ga__guard_add(&w->finite, args[k].as.array);
            continue;
        }
        w->names[w->count] = argument->name;
        w->operands[w->count] = args[k];
        if (argument->array) {
            gpuarray *copy = ga_copy(args[k].as.array);
            w->operands[w->count].as.array = copy ? ga_ravel(copy) : NULL;
            if (!w->operands[w->count].as.array)
                return ga_error();
        }
        w->count++;
    }
    return GA_OK;
}

ga_status ga__custom_check_written(const ga__custom *kernel, const ga_value *args,
                                   const ga__watched *w)
{
    ga_status status = GA_OK;
    for (int k = 0; k < kernel->arguments.count && status == GA_OK; k++) {
        const ga__argument *argument = &kernel->arguments.argument[k];
        if (!argument->array || !argument->writes || argument->access == GA__ACCESSOR)
            continue;
        const gpuarray *written = ga_ravel(args[k].as.array);
        status = written ? ga__check_elements(kernel->base.name, written, &w->finite, w->count,
                                              w->operands, w->names)
                         : ga_error();
    }
    return status;
}

ga_status ga__custom_check_reduction(const ga__custom *kernel, const ga_value *args,
                                     const gpuarray *result)
{
    ga__check_begin();
    ga__guard finite = GA__GUARD_INIT;
    for (int k = 0; k < kernel->arguments.count; k++)
        if (args[k].kind == GA_VALUE_ARRAY)
            ga__guard_add(&finite, args[k].as.array);
    const ga_status status = ga__check_reduced(kernel->base.name, result, &finite, NULL, 0, NULL);
    ga__check_end();
    return status;
}
