/* Checks what a run of a custom kernel is given against the kernel's argument list. */
#ifndef GA_USER_CUSTOM_GIVEN_H
#define GA_USER_CUSTOM_GIVEN_H

#include "user/custom.h"

/* Raises unless there is a value of the declared kind and dtype for each argument, all on one
 * device, *device. */
ga_status ga__custom_check_given(const ga__custom *kernel, int count, const ga_value *args,
                                 ga__device **device);

#endif
