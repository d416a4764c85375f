/* Reads the number of a result that has served its purpose. */
#include "ops/scan/take_number.h"

#include "base/error.h"

/* The status of the read, whatever error stood before it. */
static ga_status end_read(gpuarray *result, ga__saved_error before)
{
    const ga_status status = ga_error();
    ga__error_settle(before);
    ga_free(result);
    return status;
}

ga_status ga__take_number(gpuarray *result, int64_t *number)
{
    if (!result)
        return ga_error();
    const ga__saved_error before = ga__error_save();
    const int64_t found = ga_item_int64(result);
    const ga_status status = end_read(result, before);
    if (status == GA_OK)
        *number = found;
    return status;
}

ga_status ga__take_double(gpuarray *result, double *number)
{
    if (!result)
        return ga_error();
    const ga__saved_error before = ga__error_save();
    const double found = ga_item_double(result);
    const ga_status status = end_read(result, before);
    if (status == GA_OK)
        *number = found;
    return status;
}
