/* Looks for NaN in what custom kernels compute: QUARRY_CHECK=nan. */
#ifndef GA_USER_CUSTOM_CHECK_H
#define GA_USER_CUSTOM_CHECK_H

#include "ops/check_nan.h"
#include "user/custom.h"

/* What a check of a run compares: the operands as they were, flat, with their names. */
typedef struct ga__watched {
    int count;
    ga_value operands[GA__MAX_ARGUMENTS];
    const char *names[GA__MAX_ARGUMENTS];
    ga__guard finite; /* every array that is indexed freely */
} ga__watched;

/* Copies what the run reads, before it writes. */
ga_status ga__custom_watch(const ga__custom *kernel, const ga_value *args, ga__watched *w);

/* Raises if the run wrote a NaN that its operands do not explain. */
ga_status ga__custom_check_written(const ga__custom *kernel, const ga_value *args,
                                   const ga__watched *w);

/* The result of a reduction of finite arrays is finite. */
ga_status ga__custom_check_reduction(const ga__custom *kernel, const ga_value *args,
                                     const gpuarray *result);

#endif
