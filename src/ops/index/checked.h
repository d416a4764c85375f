/* Calls whose kernels check indices. */
#ifndef GA_OPS_INDEX_CHECKED_H
#define GA_OPS_INDEX_CHECKED_H

#include <quarry/indexing.h>

#include "ops/index/gather.h"

/* The report of one launch. */
typedef struct ga__checked {
    ga__fault fault;
} ga__checked;

/* Operands that ga__checked_begin() adds: `fault`, where the kernel reports, and `call`. */
#define GA__CHECKED_OPERANDS 2

/* Adds the operands of a call of this name, a static text, to the n others; returns their number,
 * or -1 and an error. */
int ga__checked_begin(ga__checked *checked, const char *name, ga__device *device,
                      ga__operand *operands, int n);

/* Raises what the kernel reported, where that is known now. Returns `status` if it is an error. */
ga_status ga__checked_end(const ga__checked *checked, ga_status status);

/* Raises unless both are arrays of one device and the indices are integers. */
ga_status ga__check_indices(const char *name, const gpuarray *x, const gpuarray *indices);

/* Raises GA_ERR_INVALID for a mode that there is not. */
ga_status ga__check_mode(const char *name, ga_index_mode mode);

#endif
